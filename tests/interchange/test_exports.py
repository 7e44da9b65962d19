"""Exports: Z3 accepts the SMT-LIB and decides as a direct translation does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import z3

import lnnkit
from tests.interchange.judging import Meaning, of_program
from tests.interchange.random_formulas import Source, Spelling, Tree


def verdicts(text: str) -> list[bool | None]:
    """Which questions of an SMT-LIB text follow: its checks, made one by one."""
    found: list[bool | None] = []
    for part in text.split("(reset)\n"):
        context = z3.Context()
        solver = z3.Solver(ctx=context)
        solver.set("timeout", 5000)
        solver.add(z3.parse_smt2_string(part, ctx=context))
        answer = solver.check()
        found.append(None if answer == z3.unknown else answer == z3.unsat)
    return found


# --- open worlds ------------------------------------------------------------------------------------------------------


def open_program(seed: int) -> str:
    """A program over the open sort, with two questions."""
    source = Source(seed, equations=bool(seed & 1), numbers=bool(seed & 2))
    spelling = Spelling(seed)
    lines = [spelling.text(source.formula(2)) for _ in range(3)]
    asked = [spelling.text(source.formula(1)) for _ in range(2)]
    return lnnkit.from_fol("\n".join([*lines, "Conclusion:", *asked])).text


def compared(seed: int) -> str:
    text = open_program(seed)
    program = lnnkit.parse(text)
    meaning = Meaning()
    stated, asked = of_program(program, meaning)
    direct = [meaning.entails([meaning.distinct(), *stated], each) for each in asked]
    kb = lnnkit.loads(text)
    exported = verdicts(kb.export())
    for one, other in zip(direct, exported, strict=True):
        if None not in (one, other) and one != other:
            return "different"
    return "undecided" if None in (*direct, *exported) else "same"


def test_some_open_worlds() -> None:
    assert Counter(map(compared, range(4)))["different"] == 0


@pytest.mark.slow
def test_many_open_worlds() -> None:
    fates = Counter(map(compared, range(100, 120)))
    assert fates["different"] == 0
    assert fates["same"] >= 17, fates


# --- closed worlds, by expansion --------------------------------------------------------------------------------------

NAMES = ("anna", "bob", "cleo")
PLACES = {"P": 1, "Q": 1, "Loves": 2, "Rain": 0, "is-Big": 1}


def expanded(tree: Tree, bound: Mapping[str, str]) -> Any:
    """A formula over three entities, propositional."""
    kind, *rest = tree
    match kind:
        case "atom":
            row = [bound[name] if form == "variable" else NAMES[sum(map(ord, name)) % 3] for form, name in rest[1]]
            return z3.Bool(f"{rest[0]}({','.join(row)})")
        case "forall" | "exists":
            parts = [expanded(rest[1], {**bound, rest[0]: name}) for name in NAMES]
            return (z3.And if kind == "forall" else z3.Or)(*parts)
    inner = [expanded(each, bound) for each in rest]
    match kind:
        case "not":
            return z3.Not(*inner)
        case "and":
            return z3.And(*inner)
        case "or":
            return z3.Or(*inner)
        case "implies":
            return z3.Implies(*inner)
        case "iff":
            return inner[0] == inner[1]
    return z3.Xor(*inner)


def written(tree: Tree) -> str:
    """The same in the language, its constants those of the three."""
    kind, *rest = tree
    match kind:
        case "atom":
            row = [f"V{name}" if form == "variable" else NAMES[sum(map(ord, name)) % 3] for form, name in rest[1]]
            return f"{rest[0]}({', '.join(row)})" if row else rest[0]
        case "forall" | "exists":
            return f"({kind} V{rest[0]}: {written(rest[1])})"
        case "not":
            return f"~({written(rest[0])})"
    symbol = {"and": "&", "or": "|", "implies": "->", "iff": "<->", "xor": "xor"}[kind]
    return "(" + f" {symbol} ".join(map(written, rest)) + ")"


def closed_program(seed: int) -> tuple[str, list[Any], list[Any]]:
    """A program over three entities, one predicate of which is closed; what it says and asks."""
    source = Source(seed)
    listed = [name for name in NAMES if source.random.random() < 0.5]
    stated = [source.formula(2) for _ in range(3)]
    asked = [source.formula(1) for _ in range(2)]
    sorts = {name: f"({', '.join(['thing'] * arity)})" if arity else "" for name, arity in PLACES.items()}
    lines = [f"predicate {name}{text}" for name, text in sorts.items()]
    lines[1] += " closed"
    lines += ["sort thing", "predicate Known(thing)", *(f"fact Known({name})" for name in NAMES)]
    lines += [f"fact Q({name})" for name in listed]
    # A plain implication would define a closed predicate, and a literal would be one of its facts.
    lines += [f"axiom ({written(each)}) | false" for each in stated]
    lines += [f"query {written(each)}" for each in asked]
    facts = [z3.Bool(f"Q({name})") if name in listed else z3.Not(z3.Bool(f"Q({name})")) for name in NAMES]
    said = [*facts, *(expanded(each, {}) for each in stated)]
    return "\n".join(lines) + "\n", said, [expanded(each, {}) for each in asked]


def closed_faults(seeds: Sequence[int]) -> list[str]:
    found = []
    for seed in seeds:
        text, stated, asked = closed_program(seed)
        solver = z3.Solver()
        solver.add(*stated)
        direct = [solver.check(z3.Not(each)) == z3.unsat for each in asked]
        kb = lnnkit.loads(text)
        if verdicts(kb.export()) != direct:
            found.append(text)
    return found


def test_some_closed_worlds() -> None:
    assert closed_faults(range(5)) == []


@pytest.mark.slow
def test_many_closed_worlds() -> None:
    assert closed_faults(range(100, 160)) == []


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_truths_at_alpha() -> None:
    text = "fact P(a) in [0.9, 1]\nfact Q(a) in [0, 0.1]\nrule P(X) -> R(X) in [0.8, 1]\nfact S(a) in [0.3, 0.6]\n"
    kb = lnnkit.loads(text + "query R(a)\nquery ~Q(a)\nquery S(a)\n")
    assert verdicts(kb.export(alpha=0.8)) == [True, True, False]
    assert verdicts(kb.export(alpha=0.85)) == [False, True, False]
    assert verdicts(kb.export()) == [False, False, False]


def test_numbers_are_reals() -> None:
    text = "number age(person)\nfact age(anna) in [18, 30]\nfact age(bob) = 1e-3\nquery 2 * age(anna)^2 > 700\n"
    kb = lnnkit.loads(text + "query age(anna) >= 18 & age(bob) < 0.5\n")
    assert verdicts(kb.export()) == [False, True]


def test_an_open_sort_may_have_more() -> None:
    text = "fact P(a)\nfact P(b)\npredicate P(thing)\nquery forall X: P(X)\nquery exists X: P(X)\n"
    assert verdicts(lnnkit.loads(text).export()) == [True, True]
    assert verdicts(lnnkit.loads("sort thing open\n" + text).export()) == [False, True]


def test_entities_of_questions_join_no_sort() -> None:
    kb = lnnkit.loads("fact P(a)\nfact Q(b)\nquery forall X: P(X) | Q(X)\n")
    assert verdicts(kb.export()) == [True]


@pytest.mark.parametrize("name", ["and", "let", "a|b", "x y", "Ω", "P", "Real", "1999", "a\\b", "it's"])
def test_names_that_other_notations_take_or_refuse(name: str) -> None:
    quoted = name.replace("\\", "\\\\")
    kb = lnnkit.loads(f'predicate "{quoted}"(entity)\nfact "{quoted}"("{quoted}")\nquery "{quoted}"("{quoted}")\n')
    assert verdicts(kb.export()) == [True]


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ("predicate P(e) closed\nfact Q(a)\nfact R(b)\nrule Q(X) -> P(X)\nquery P(a)\nquery ~P(b)\n", [True, True]),
        ("predicate P(e)\npredicate Q(e)\nfact P(a)\nfact Q(b)\nquery P(X)\n", [True, False]),
        ("number n(e)\nfact n(a) = 4\nquery sqrt(n(a)) > 1\n", [True]),
        ("rule (P@0.5 & Q) -> R\nfact P\nfact Q\nquery R\n", [True]),
    ],
)
def test_what_proving_reads(text: str, follows: list[bool]) -> None:
    assert verdicts(lnnkit.loads(text).export()) == follows


def test_rules_that_support_each_other_alone() -> None:
    text = (
        "predicate Reach(e, e) closed\npredicate Edge(e, e) closed\nfact Edge(a, b)\nfact Node(c)\npredicate Node(e)\n"
    )
    text += "fact Lit(a) in [0, 1]\nrule Edge(X, Y) & Lit(X) -> Reach(X, Y)\nrule Reach(Y, X) -> Reach(X, Y)\n"
    kb = lnnkit.loads(text + "query Reach(a, b) -> Lit(a)\nquery ~Reach(a, c)\nquery Reach(a, b)\n")
    assert verdicts(kb.export()) == [True, True, False]


def test_inference_is_not_taken_for_granted() -> None:
    text = lnnkit.loads("fact P(a)\nrule P(X) -> Q(X)\nrule Q(X) -> R(X)\nquery R(a)\n").export()
    assert all(f"(declare-fun |{name}(a)| () Bool)" in text for name in "PQR") and text.count("(assert") == 4


@pytest.mark.parametrize(
    ("text", "code"), [("number n(e)\nfact n(a) = 4\nquery n(a)\n", "no-formula"), ("fact P(a)\n", "no-query")]
)
def test_what_is_no_question(text: str, code: str) -> None:
    with pytest.raises(lnnkit.ProgramError) as problem:
        lnnkit.loads(text).export()
    assert [each.code for each in problem.value.diagnostics] == [code]


def test_what_is_left_out_is_said() -> None:
    text, notes = lnnkit.loads("rule P -> R in [0.5, 1]\nfact P\nquery R\n").exported()
    assert verdicts(text) == [False]
    assert [each.code for each in notes] == ["left-out"]
