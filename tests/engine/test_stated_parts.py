"""A query that has instances of stated formulas as parts reads what is stated of them, whatever else holds the part."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest

import lnnkit
from tests.agreement import disagreements
from tests.blocks import all_but, in_blocks
from tests.oracle import Formula, Program, Statement
from tests.oracle.network import Network
from tests.oracle.program import QUANTIFIERS, ProgramError, free_variables, rename
from tests.programs import MODES, generate, to_text

BLOCK = 20
Bounds = tuple[float, float]

STATED = """
fact R(a) = 0.9
fact C(c) in [0.8, 1]
fact D(b)
axiom P(X) -> Q(Y) in [0.2, 0.6]
axiom A(X) & B(Y) in [0.2, 0.6]
"""
ATOMS = ("P(b)", "Q(b)", "A(c)", "B(c)", "C(c)", "R(a)")


@pytest.mark.parametrize(
    ("said", "query", "bounds"),
    [
        # Each instance of the body is stated, X and Y being one, and so is the least of them.
        ("rule (forall U: P(U) -> Q(U)) & R(X) -> S(X)", "forall U: P(U) -> Q(U)", (0.2, 0.6)),
        ("rule (forall U: P(U) -> Q(U)) & R(X) -> S(X)", "~(forall U: P(U) -> Q(U))", (0.4, 0.8)),
        # max(0, p + 0.9 - 1) for p in [0.2, 0.6], and for p in [0.4, 0.8].
        ("rule (forall U: P(U) -> Q(U)) & R(X) -> S(X)", "(forall U: P(U) -> Q(U)) & R(a)", (0.1, 0.5)),
        ("rule (P(b) -> Q(b)) & R(X) -> S(X)", "(P(b) -> Q(b)) & R(X)", (0.1, 0.5)),
        ("rule ~(P(b) -> Q(b)) & R(X) -> S(X)", "~(P(b) -> Q(b)) & R(X)", (0.3, 0.7)),
        # Of R something is known of `a` alone, of others nothing: the greatest is 0.1 at least, and 0.6 at most.
        (
            "rule (exists V: R(V) & (forall U: P(U) -> Q(U))) & D(X) -> S(X)",
            "exists V: R(V) & (forall U: P(U) -> Q(U))",
            (0.1, 0.6),
        ),
        # 1 - c + p for c in [0.8, 1] and p in [0.2, 0.6], met with what is stated of the whole.
        ("axiom C(Z) -> (A(Z) & B(Z)) in [0.5, 0.9]", "C(Z) -> (A(Z) & B(Z))", (0.5, 0.8)),
        # The whole is stated, its part is not: min(1, w + p), with nothing known of w.
        ("axiom W | (forall U: W | (P(U) -> Q(U)))", "W | (forall U: W | (P(U) -> Q(U)))", (1.0, 1.0)),
        ("axiom W | (forall U: W | (P(U) -> Q(U)))", "forall U: W | (P(U) -> Q(U))", (0.2, 1.0)),
    ],
)
def test_parts_that_the_program_has_too(said: str, query: str, bounds: Bounds) -> None:
    """The program has the query, or a part of it, as it stands, but reads there nothing of what it states of parts.
    That a query does changes nothing else."""
    text = f"{STATED}{said}\n"
    alone, asked = lnnkit.loads(text), lnnkit.loads(f"{text}query {query}\n")
    before = {each: answer(alone, each) for each in ATOMS}
    for kb in (alone, asked):
        assert answer(kb, query) == pytest.approx(bounds)
        explanation = kb.explain(query.replace("R(X)", "R(a)").replace("(Z)", "(c)"))
        assert (explanation.lower, explanation.upper) == pytest.approx(bounds)
        assert explanation.verify() == []
        assert {each: answer(kb, each) for each in ATOMS} == before
        assert not kb.contradictions


def test_quantifiers_within_quantifiers() -> None:
    """Shrunken from a generated program. The axiom states the part of any two, so of one that is both. A disjunction
    with an operand that is true is true, also where that one weighs 0.3, in product logic."""
    part = "(~Q(V)@0 xor P(V)) xor ~P(V)@0.5"
    whole = f"exists U: (~Q(U)@0 | ~R(U, U)@0 | (exists V: {part})){{logic: lukasiewicz}}"
    text = f"""
logic product
predicate P(entity)
predicate Q(entity)
fact R(a, b) in [0, 1]
axiom (~Q(X)@0 xor P(Y)) xor ~P(X)@0.5
rule R(X, Y) & ({whole}) -> T(X)
"""
    kb = lnnkit.loads(text)
    assert answer(kb, f"exists V: {part}") == (1.0, 1.0)
    assert answer(kb, whole) == (1.0, 1.0)
    assert answer(kb, f"({whole})@0.3 | (exists U: R(U, U))@0") == (1.0, 1.0)


@pytest.mark.parametrize("others", [*itertools.permutations(["(P(X) -> Q(Y)) & D(b)", "(P(X) -> Q(X)) & D(b)"])])
def test_other_queries_change_no_answer(others: tuple[str, ...]) -> None:
    """The part is an instance of both axioms, and reads the first, whether others read the second or not."""
    text = "fact D(b)\naxiom P(X) -> Q(X) in [0, 0.6]\naxiom P(X) -> Q(Y) in [0.2, 1]\n"
    alone = lnnkit.loads(text)
    among = lnnkit.loads(text + "".join(f"query {each}\n" for each in others) + "query (P(b) -> Q(b)) & D(b)\n")
    assert answer(among, "(P(b) -> Q(b)) & D(b)") == answer(alone, "(P(b) -> Q(b)) & D(b)") == (0.0, 0.6)


# --- generated --------------------------------------------------------------------------------------------------------


def holding_a_part(program: Program, draw: random.Random) -> Program | None:
    """The program with an axiom that holds an instance of another of its statements as a part, two of whose variables
    are one, and with queries for what it holds."""
    stated = [each.formula for each in program.statements if each.formula[0] not in ("atom", "not")]
    if not stated:
        return None
    part = draw.choice(stated)
    while part[0] == "forall":
        part = part[2]
    free = free_variables(part)
    if len(free) > 1:
        one, other = draw.sample(free, 2)
        part = rename(part, {one: other})
    part = rename(part, {name: f"{name}f" for name in free_variables(part)})  # what is bound beside it is another
    queries = [part]
    for name in free_variables(part):
        if draw.random() < 0.6 or len(free_variables(queries[-1])) > 2:
            queries.append(bound(name, queries[-1], f"{name}q", draw))
    whole = queries[-1]
    if draw.random() < 0.6:
        beside = draw.choice(stated)
        for name in free_variables(beside):
            beside = bound(name, beside, f"{name}r", draw)
        first = ("not", whole) if draw.random() < 0.5 else whole
        whole = (draw.choice(("and", "or")), ((1.0, first), (draw.choice((1.0, 0.5)), beside)), 1.0, None)
        queries.append(whole)
    axiom = Statement("axiom", whole, draw.choice((0.0, 0.2)), 1.0)
    found = replace(program, statements=[*program.statements, axiom], queries=queries[-2:])
    try:
        Network(found)
    except ProgramError:  # sorts clash where variables are one
        return None
    return found


def bound(name: str, formula: Formula, new: str, draw: random.Random) -> Formula:
    return draw.choice(QUANTIFIERS), (new,), rename(formula, {name: new})


@pytest.mark.parametrize("block", in_blocks(range(450), BLOCK, plain=2))
def test_oracle(block: range) -> None:
    compared = 0
    for seed in block:
        program = generate(seed, 1 + seed % 4, MODES[seed % 3], few=0.3).program
        asked = holding_a_part(program, random.Random(seed))
        found = None if asked is None else disagreements(asked)
        if asked is not None and found is not None:
            compared += 1
            assert not found, f"seed {seed}:\n{to_text(asked)}\n" + "\n".join(found)
    assert compared >= all_but(0.2, block)  # the rest creep, amplify rounding or are no programs


def answer(kb: lnnkit.KnowledgeBase, query: str) -> Bounds:
    """Of X and Z, as far as it asks for them, that of X = a and of Z = c."""
    (found,) = (each for each in kb.ask(query) if each.bindings.items() <= {"X": "a", "Z": "c"}.items())
    return found.lower, found.upper
