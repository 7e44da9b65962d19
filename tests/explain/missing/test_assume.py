"""What if: the copy answers as a program with those facts does."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch

import lnnkit
from lnnkit.engine.planning.compiling import Plans
from tests.blocks import at_length, in_blocks
from tests.oracle import Fact
from tests.programs import MODES, generate, to_text

SPREAD = """
fact Infected(anna)
fact Contact(anna, bob)
fact Contact(bob, cleo)
fact Fever(dora) in [0.2, 0.7]
rule Infected(X) & Contact(X, Y) -> Infected(Y) in [0.8, 1]
rule Fever(X) -> Infected(X) in [0.9, 1]
query Infected(X)
"""


def answers_of(kb: lnnkit.KnowledgeBase) -> dict[tuple[str, frozenset[tuple[str, str]]], tuple[float, float, bool]]:
    return {
        (answers.query, frozenset(answer.bindings.items())): (answer.lower, answer.upper, answer.contested)
        for answers in kb.answers()
        for answer in answers
    }


def lower(kb: lnnkit.KnowledgeBase, atom: str) -> float:
    (answer,) = kb.ask(atom)
    return answer.lower


def test_tighter_assumptions_continue_from_the_fixpoint() -> None:
    kb = lnnkit.loads(SPREAD)
    kb.infer()
    with mock.patch.object(Plans, "plan", side_effect=AssertionError("inferred anew")):
        supposed = kb.assume({"Infected(bob)": 1.0, "Fever(dora)": (0.5, 0.6)})
        assert lower(supposed, "Infected(cleo)") == pytest.approx(0.8)
        assert lower(supposed, "Infected(dora)") == pytest.approx(0.4)
    assert lower(kb, "Infected(cleo)") == pytest.approx(0.6)
    assert lower(kb, "Infected(dora)") == pytest.approx(0.1)


def test_other_knowledge_replaces_facts() -> None:
    kb = lnnkit.loads(SPREAD)
    supposed = kb.assume({"Infected(anna)": (0.0, 1.0), "Contact(cleo, erik)": 1.0})
    assert lower(supposed, "Infected(cleo)") == 0.0
    assert lower(kb.assume({"Fever(dora)": 1.0}), "Infected(dora)") == pytest.approx(0.9)
    assert lower(kb, "Infected(cleo)") == pytest.approx(0.6)


def test_tables_lose_their_rows_in_the_copy_only() -> None:
    kb = lnnkit.loads("predicate P(entity)\nrule P(X) -> Q(X)\nquery Q(X)\n")
    kb.tell("P", [["a"], ["b"], ["c"]])
    supposed = kb.assume({"P(b)": 0.0})
    assert [answer.bindings["X"] for answer in supposed.ask("Q(X)")] == ["a", "c"]
    assert len(kb.ask("Q(X)")) == 3


def test_closed_worlds_are_completed_anew() -> None:
    kb = lnnkit.loads(
        "predicate E(n, n) closed\npredicate R(n) closed\nfact E(a, b)\nfact E(c, c)\n"
        "rule E(a, X) -> R(X)\nrule R(X) & E(X, Y) -> R(Y)\nquery R(X)\n"
    )
    supposed = kb.assume({"E(b, c)": 1.0})
    assert {answer.bindings["X"] for answer in supposed.ask("R(X)")} == {"b", "c"}
    assert 'E("b", "c") >= 1   fact, <assumed>:1' in supposed.explain("R(c)").text()
    assert supposed.explain("R(c)").verify() == []


@pytest.mark.parametrize("seed", at_length(range(60, 90), plain=2))
def test_random_programs(seed: int) -> None:
    """A fact in place of another, or a new one: as the program that says so."""
    program = generate(seed, 1 + seed % 4, MODES[seed % 3]).program
    draw = random.Random(seed)
    if not program.facts:
        return
    old = draw.choice(program.facts)
    low = draw.choice([0.0, 0.25, old.lower, 1.0])
    new = Fact(old.predicate, old.arguments, low, draw.choice([end for end in (low, old.upper, 1.0) if end >= low]))
    others = [fact for fact in program.facts if (fact.predicate, fact.arguments) != (old.predicate, old.arguments)]
    atom = f"{old.predicate}({', '.join(old.arguments)})" if old.arguments else old.predicate
    kb = lnnkit.loads(to_text(program))
    kb.infer()
    expected = answers_of(lnnkit.loads(to_text(replace(program, facts=[*others, new]))))
    got = answers_of(kb.assume({atom: (new.lower, new.upper)}))
    assert got.keys() == expected.keys()
    for key, (one, other, contested) in expected.items():
        assert got[key] == (pytest.approx(one, abs=1e-9), pytest.approx(other, abs=1e-9), contested)


@pytest.mark.parametrize("bad", [1.5, (0.6, 0.4), (-0.1, 1.0), float("nan")])
def test_bounds_are_checked(bad: float | tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="truth bounds"):
        lnnkit.loads(SPREAD).assume({"Infected(bob)": bad})


@pytest.mark.parametrize("bad", ["x", (0, 1, 1), (0.5, "x"), (None, 1)])
def test_bounds_are_numbers(bad: object) -> None:
    with pytest.raises(ValueError, match="one number, or two"):
        lnnkit.loads(SPREAD).assume({"Infected(bob)": bad})  # type: ignore[dict-item]  # that is the point


@pytest.mark.parametrize("key", ["Infected(X)", "~Infected(bob)", "Infected(bob) & Infected(anna)"])
def test_keys_are_atoms(key: str) -> None:
    with pytest.raises(lnnkit.ProgramError, match="not an atom"):
        lnnkit.loads(SPREAD).assume({key: 1.0})


def test_a_copy_is_saved_with_what_it_assumes(tmp_path: Path) -> None:
    copy = lnnkit.loads(SPREAD).assume({"Infected(bob)": 1.0})
    copy.save(tmp_path / "copy.lnn")
    again = lnnkit.load(tmp_path / "copy.lnn")
    assert again.ask("Infected(X)").as_dict() == copy.ask("Infected(X)").as_dict()


SCORED = """
number age(person)
fact age(anna) = 10
fact age(bob) = 31
fact Known(anna)
label ~Old(anna)
label Old(bob)
rule age(X) >= ?limit=5 -> Old(X)
query Old(X)
query Known(X)
"""


def test_a_copy_that_learns_goes_on_from_nothing_that_it_knew_before() -> None:
    kb = lnnkit.loads(SCORED)
    assert lower(kb, "Old(anna)") == 1
    copy = kb.assume({"Known(bob)": 1.0})
    copy.fit(epochs=100)
    assert (lower(copy, "Old(anna)"), lower(copy, "Old(bob)"), lower(copy, "Known(bob)")) == (0, 1, 1)


def test_what_is_bound_to_a_copy_is_bound_to_it_alone() -> None:
    kb = lnnkit.loads("predicate P(e)\npredicate Q(e)\nfact Q(a)\nfact Q(b) in [0, 1]\nquery P(X)\nquery Q(X)\n")
    copy = kb.assume({"Q(b)": 1.0})
    copy.bind("P", torch.nn.Sequential(torch.nn.Flatten(0), torch.nn.Sigmoid()), {"a": torch.ones(1)})
    assert lower(copy, "P(a)") == pytest.approx(0.7310585786)
    assert lower(copy, "Q(b)") == 1
    assert lower(kb, "P(a)") == 0


# --- what going on may not miss -------------------------------------------------------------------------------------

EXISTS = """
fact B(a) in [0.2, 1]
fact B(b)
fact B(c)
fact S(c, c)
rule S(X, Y) -> R(X, Y)
rule (exists Y: R(X, Y) & B(Y)) -> C(X)
query C(X)
"""


def test_bodies_with_quantifiers_meet_new_atoms() -> None:
    kb = lnnkit.loads(EXISTS)
    kb.infer()
    with mock.patch.object(Plans, "plan", side_effect=AssertionError("inferred anew")):
        assert lower(kb.assume({"S(a, b)": 1.0}), "C(a)") == 1
    assert lower(kb, "C(a)") == 0


NARROW = """
sort person
predicate Q(entity, person)
predicate P(entity)
fact Q(anna, anna)
fact P(bob)
rule P(X) -> Q(X, X)
query Q(X, X)
"""


def test_an_atom_may_make_an_entity_a_member_of_a_sort() -> None:
    supposed = lnnkit.loads(NARROW).assume({"Q(bob, bob)": 0.5})
    expected = lnnkit.loads(NARROW + "fact Q(bob, bob) = 0.5\n")
    assert answers_of(supposed) == answers_of(expected)
    assert len(supposed.ask("Q(X, X)")) == 2


LAST = """
predicate P(e, e)
predicate R(e)
fact P(a, a) = 0.75
fact P(a, b)
fact R(b) in [0, 0.92]
axiom forall X: ((~R(X)@2 & P(X, X)@0.3){bias: 1.2} -> false) in [0, 0]
query R(X)
"""


def test_an_atom_may_rule_a_candidate_out() -> None:
    """Instances that are kept had read the default in its place."""
    kb = lnnkit.loads(LAST)
    kb.infer()
    (answer,) = kb.assume({"P(b, b)": 0.0}).ask("R(a)")
    (expected,) = lnnkit.loads(LAST + "fact ~P(b, b)\n").ask("R(a)")
    assert answer.upper == pytest.approx(expected.upper) and expected.upper < 0.1


def test_a_slider_infers_anew_but_once() -> None:
    kb = lnnkit.loads(SPREAD)
    kb.infer()
    for value in (0.9, 0.4):  # less than is known
        assert lower(kb.assume({"Infected(anna)": value}), "Infected(bob)") == pytest.approx(value - 0.2)
    with mock.patch.object(Plans, "plan", side_effect=AssertionError("inferred anew")):
        for value in (0.3, 1.0, 0.0, 0.7):
            supposed = kb.assume({"Infected(anna)": value})
            assert lower(supposed, "Infected(cleo)") == pytest.approx(max(0.0, value - 0.4))
            assert supposed.explain("Infected(cleo)").verify() == []
    kb.tell("Contact", [["anna", "cleo"]])
    assert lower(kb.assume({"Infected(anna)": 0.7}), "Infected(cleo)") == pytest.approx(0.5)


def test_a_copy_is_unaffected_by_facts_told_to_its_source() -> None:
    kb = lnnkit.loads(SPREAD)
    supposed = kb.assume({"Infected(bob)": 1.0})
    kb.tell("Infected", [["dora"]])
    assert lower(supposed, "Infected(dora)") == pytest.approx(0.1)
    assert lower(supposed, "Infected(cleo)") == pytest.approx(0.8)
    assert lower(kb, "Infected(dora)") == 1


def test_numbers_may_be_assumed() -> None:
    kb = lnnkit.loads("number age(p)\nfact age(anna) = 10\nrule age(X) >= 18 -> Adult(X)\nquery Adult(X)\n")
    assert lower(kb, "Adult(anna)") == 0
    for _ in range(3):
        assert lower(kb.assume({"age(anna)": 18}), "Adult(anna)") == 1
        assert lower(kb.assume({"age(anna)": (10, 30)}), "Adult(anna)") == 0
    explanation = kb.assume({"age(anna)": 18}).explain("Adult(anna)")
    assert "age(anna) >= 18   fact, <assumed>:1" in explanation.text() and explanation.verify() == []
    with pytest.raises(ValueError, match="ends of a number"):
        kb.assume({"age(anna)": (2, 1)})


def test_a_copy_learns_independently_of_its_source() -> None:
    kb = lnnkit.loads(SCORED)
    kb.module()  # it has a learner already
    before = kb.text
    supposed = kb.assume({"Known(bob)": 1.0})
    supposed.fit(epochs=100)
    assert kb.text == before and supposed.module() is not kb.module()
    assert (lower(kb, "Old(anna)"), lower(supposed, "Old(anna)")) == (1, 0)
    with torch.no_grad():
        kb.module().values["limit"].fill_(20.0)  # type: ignore[operator]  # a ParameterDict
    assert lower(kb, "Old(anna)") == 0
    assert lower(kb.assume({"Known(bob)": 1.0}), "Old(anna)") == 0


class Constant(torch.nn.Module):
    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = torch.nn.Parameter(torch.tensor(value))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.value.expand(len(rows))


BOUND = "predicate P(e)\nrule a: P(X) -> Q(X)\nlabel ~Q(a)\nquery Q(X)\npredicate Q(e) closed\n"


def test_a_copy_trains_copies_of_bound_modules() -> None:
    kb, module = lnnkit.loads(BOUND), Constant(0.9)
    kb.bind("P", module, {"a": torch.ones(1), "b": torch.ones(1)})
    supposed = kb.assume({'P("b")': 0.3})
    assert lower(supposed, 'Q("b")') == pytest.approx(0.3)
    assert lower(supposed, "Q(a)") == pytest.approx(0.9)
    supposed.fit(epochs=30, module_rate=0.05, freeze=["a"])
    assert float(module.value.detach()) == pytest.approx(0.9)
    assert lower(supposed, "Q(a)") < 0.5
    assert lower(kb, "Q(a)") == pytest.approx(0.9)


@pytest.mark.parametrize("seed", at_length(range(90, 200), plain=2))
def test_random_sliders(seed: int) -> None:
    """The same atom again and again, as each program that says so."""
    program = generate(seed, 1 + seed % 4, MODES[seed % 3]).program
    draw = random.Random(seed)
    if not program.facts:
        return
    kb = lnnkit.loads(to_text(program))
    kb.infer()
    predicate, arity = draw.choice([(fact.predicate, len(fact.arguments)) for fact in program.facts])
    arguments = tuple(draw.choice(["anna", "bob"]) for _ in range(arity))
    if {*arguments} - {text for fact in program.facts for text in fact.arguments}:
        return
    atom = f"{predicate}({', '.join(arguments)})" if arguments else predicate
    others = [fact for fact in program.facts if (fact.predicate, fact.arguments) != (predicate, arguments)]
    for _ in range(4):
        low, high = sorted(draw.choices([0.0, 0.25, 0.5, 1.0], k=2))
        expected = answers_of(
            lnnkit.loads(to_text(replace(program, facts=[*others, Fact(predicate, arguments, low, high)])))
        )
        got = answers_of(kb.assume({atom: (low, high)}))
        assert got.keys() == expected.keys()
        for key, (one, other, contested) in expected.items():
            assert got[key] == (pytest.approx(one, abs=1e-9), pytest.approx(other, abs=1e-9), contested)


@pytest.mark.parametrize("value", [np.int64(2), np.float32(2), (np.float64(2), 2)])
def test_numbers_of_numpy_are_numbers(value: object) -> None:
    kb = lnnkit.loads("number a(e)\nfact a(x) in [0, 9]\n")
    (answer,) = kb.assume({"a(x)": value}).ask("a(x)")  # pyright: ignore[reportArgumentType]: numpy's are no floats
    assert (answer.lower, answer.upper) == (2, 2)


def test_a_number_beyond_all_floats_is_refused() -> None:
    kb = lnnkit.loads("number a(e)\nfact a(x) in [0, 9]\n")
    with pytest.raises(ValueError, match="needs one number, or two"):
        kb.assume({"a(x)": 10**400})


def test_whole_numbers_are_explained_in_full() -> None:
    kb = lnnkit.loads("number n(t)\nfact n(i) = 12345678901\nfact n(j) = 9007199254740991\n")
    assert ">= 12345678901 " in str(kb.explain("n(i)"))
    assert "<= 9007199254740991 " in str(kb.explain("n(j)"))


@pytest.mark.parametrize("bounds", [(0.85, 1.0), (0.75, 0.9), (0.0, 0.95)], ids=str)
def test_what_is_assumed_of_a_derived_atom_is_in_its_proof(bounds: tuple[float, float]) -> None:
    """Whether inference goes on from an earlier fixpoint or begins anew."""
    text = "axiom (A@0.5 | B){bias: 1.2}\naxiom A -> C\naxiom B -> C\nrule C -> D in [0.9, 1]\n"
    asked = lnnkit.loads(text)
    asked.ask("C")
    asked.ask("D")
    for atom in ("C", "D"):
        later = asked.assume({"C": bounds}).explain(atom)
        anew = lnnkit.loads(text).assume({"C": bounds}).explain(atom)
        assert later.verify() == [] == anew.verify()
        assert (later.lower, later.upper) == (anew.lower, anew.upper)
        assert str(later) == str(anew)


def test_a_rule_with_two_comparisons_that_are_true_already() -> None:
    """They are compared once the assumption makes the rule need them, before the first round."""
    text = "number sugar(p)\nnumber filter(p)\nfact ~Acidosis(p2)\nfact sugar(p4) = 8\nfact filter(p4) in [50, 70]\n"
    text += "rule sugar(X) >= 6.5 & filter(X) >= 45 & ~Acidosis(X) -> Metformin(X)\n"
    assert lnnkit.loads(text + "fact ~Acidosis(p4)\n").ask("Metformin(p4)")[0].lower == 1.0
    assert lnnkit.loads(text).assume({"Acidosis(p4)": (0.0, 0.0)}).ask("Metformin(p4)")[0].lower == 1.0


def compared(rng: random.Random) -> tuple[str, str]:
    """A program whose rules compare numbers of people about whom little is known, and an atom that no fact states."""
    people = ("p1", "p2", "p3")
    text = "number s(p)\nnumber f(p)\npredicate L(p, p)\npredicate A(p)\npredicate B(p)\npredicate M(p)\n"
    unstated = [f"{name}({person})" for name in "AB" for person in people]
    for number, person in ((number, person) for number in "sf" for person in people if rng.random() < 0.8):
        low = rng.randint(0, 9)
        text += f"fact {number}({person}) in [{low}, {low + rng.choice([0, 0, 2])}]\n"
    for atom in [each for each in unstated if rng.random() < 0.3]:
        unstated.remove(atom)
        text += f"fact {rng.choice(['', '~'])}{atom}\n"
    text += "".join(f"fact L({one}, {two})\n" for one in people for two in people if rng.random() < 0.4)
    for _ in range(rng.choice([1, 1, 2])):
        two = rng.random() < 0.4
        variables = ["X", "Y"] if two else ["X"]
        literals = [f"{rng.choice(['', '~'])}{rng.choice('AB')}(X)", *(["L(X, Y)"] if two else [])]
        for _ in range(rng.choice([1, 2, 2, 3])):
            right = rng.choice([str(rng.randint(1, 8)), f"s({rng.choice(variables)})"])
            literals.append(f"{rng.choice('sf')}({rng.choice(variables)}) {rng.choice(['>=', '<', '>'])} {right}")
        rng.shuffle(literals)
        text += f"rule {' & '.join(literals)} -> {rng.choice('MMB')}({rng.choice(variables)})\n"
    return text + "query M(X)\nquery B(X)\nquery s(X)\n", rng.choice(unstated or ["M(p1)"])


@pytest.mark.parametrize("block", in_blocks(range(1500), 150, 8))
def test_comparisons_that_an_assumption_makes_a_rule_need(block: range) -> None:
    for seed in block:
        rng = random.Random(seed)
        text, atom = compared(rng)
        low, high = rng.choice([(1.0, 1.0), (0.0, 0.0), (0.0, 0.0), (0.8, 1.0)])
        kb = lnnkit.loads(text)
        kb.infer()
        fresh = lnnkit.loads(f"{text}fact {atom} in [{low}, {high}]\n")
        found, wanted = answers_of(kb.assume({atom: (low, high)})), answers_of(fresh)
        assert found.keys() == wanted.keys(), (seed, text, atom)
        assert all(found[key] == pytest.approx(wanted[key]) for key in wanted), (seed, text, atom)
