"""Comparisons of quotients, roots and powers of unknown numbers: verdicts, and worlds that hold point by point."""

from __future__ import annotations

import random

import pytest

import lnnkit
from lnnkit.prove.decision.question import BrokenWorld
from lnnkit.prove.verdict import Proved, Reading
from tests.blocks import in_blocks
from tests.prove.partial_terms import Case, Solved, draw, fits, points, truth, written

z3 = pytest.importorskip("z3", reason="z3-solver is not installed")
ALL, FUNCTIONS, PLAIN, BLOCK = 1000, 400, 2, 100
SECONDS, MILLISECONDS = 6.0, 1500


@pytest.mark.parametrize("reading", ["classical", "exact"])
@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_verdicts_and_worlds(block: range, reading: Reading) -> None:
    for seed in block:
        check(seed, draw(seed), reading)


@pytest.mark.parametrize("reading", ["classical", "exact"])
@pytest.mark.parametrize("block", in_blocks(range(FUNCTIONS), BLOCK, PLAIN))
def test_verdicts_and_worlds_with_functions(block: range, reading: Reading) -> None:
    for seed in block:
        check(seed, draw(seed, functions=True), reading)


def check(seed: int, case: Case, reading: Reading) -> None:
    try:
        kb = lnnkit.loads(case.text())
    except lnnkit.ProgramError:  # it divides by 0, or has the root of a negative number, as written
        return
    loose, strict = (Solved(z3, case, MILLISECONDS, defined=defined) for defined in (False, True))
    seen = points(case, random.Random(seed), 40)
    for question in case.questions:
        try:
            found = kb.prove(written(question), reading=reading, timeout=SECONDS)
        except lnnkit.ProgramError:
            continue
        said = f"seed {seed}\n{case.text()}\n{written(question)}"
        ends = loose.verdict(question), strict.verdict(question)
        assert may_say(found.verdict, reading, *ends), f"{said}: {found.verdict}, {ends}"
        if found.verdict in ("entailed", "refuted") and set(ends) == {found.verdict}:
            assert {truth(question, *point, near=0) for point in seen} <= {found.verdict == "entailed"}, said
        holds_in_its_worlds(found, case, said)


def may_say(verdict: str, reading: Reading, loose: str | None, strict: str | None) -> bool:
    """Inference concludes from some comparisons, those that are certain where they have a value, that they have one. So
    its worlds lie between those in which all comparisons may have none (``loose``) and in which each has (``strict``).
    The solver's atoms are true or false; degrees between are further worlds.
    """
    if verdict == "timeout" or None in (loose, strict):
        return True
    if verdict == "neither":
        return reading == "exact" or loose == "neither"
    return strict in (verdict, "inconsistent")


def holds_in_its_worlds(found: Proved, case: Case, said: str) -> None:
    for world in found.models:
        atoms = dict(world.atoms)
        numbers = {name: value for name, value in world.numbers if not isinstance(value, str)}  # but dates
        assert fits(case, numbers), said
        for statement in case.statements:
            assert truth(statement, atoms, numbers) is not False, f"{said}\n{written(statement)}: {world}"


def verdicts(text: str, **questions: str) -> None:
    """Each question has its verdict in both readings."""
    kb = lnnkit.loads(text)
    for question, expected in questions.items():
        for reading in ("classical", "exact"):
            assert kb.prove(question, reading=reading).verdict == expected, (question, reading)  # type: ignore[arg-type]


def test_a_true_comparison_says_that_its_divisor_is_not_zero() -> None:
    text = "number a\nnumber b\naxiom a / (b - 1) = 4\n"
    verdicts(text, **{"a = 0": "refuted", "b = 1": "refuted", "a = 4 * (b - 1)": "entailed", "b = 2": "neither"})
    text = "number a\nnumber b\naxiom b > 0\naxiom a / b = 4\n"
    verdicts(text, **{"a = 3 & b = 1": "refuted", "a > 0": "entailed"})


@pytest.mark.parametrize(
    ("axiom", "question", "expected"),
    [
        ("b / b = 1", "b != 0", "entailed"),
        ("P", "b / b = 1", "neither"),  # b may be 0
        ("P", "0 / b = 0 | b = 0", "entailed"),
        ("b = 0", "a / b = a / b", "refuted"),
        ("a / (b / c) = 2", "b != 0 & c != 0", "entailed"),
        ("1 / (1 / b) = b", "b != 0", "entailed"),
        ("sqrt(b) = 3", "b = 9", "entailed"),
        ("P", "sqrt(b) >= 0", "neither"),  # b may be negative
        ("abs(b) = 2", "b = 2 | b = -2", "entailed"),
        ("b ^ -1 = 4", "b = 0.25", "entailed"),
        ("b ^ -2 > 0", "b = 0", "refuted"),
        ("b ^ 0.5 = 2", "b = 4", "entailed"),
        ("b ^ 0 = 1", "b = 0", "neither"),  # 0 ^ 0 is 1
        ("b * b = 2 & b > 0", "b > 1.414 & b < 1.415", "entailed"),
        ("~(a / b = 4)", "b = 0", "neither"),
        ("a / b > 1 -> P", "P", "neither"),
    ],
)
def test_terms_that_may_have_no_value(axiom: str, question: str, expected: str) -> None:
    verdicts(f"predicate P\nnumber a\nnumber b\nnumber c\naxiom {axiom}\n", **{question: expected})


def test_under_quantifiers() -> None:
    text = "sort person\nnumber pay(person)\nnumber debt(person)\npredicate Rich(person)\nfact Rich(anna)\n"
    text += "axiom Rich(X) -> pay(X) / debt(X) > 2\naxiom debt(X) >= 0\n"
    verdicts(text, **{"exists X: debt(X) > 0": "entailed", "forall X: pay(X) > 0": "entailed"})


def test_numbers_of_unnamed_individuals_differ() -> None:
    text = "sort person open\npredicate P(person)\nnumber age(person)\naxiom P(X) <-> age(X) > 5\n"
    text += "axiom exists X: P(X)\naxiom exists X: ~P(X)\n"
    assert lnnkit.loads(text).prove("exists X: age(X) > 5").verdict == "entailed"
    assert lnnkit.loads(text).prove("exists X: age(X) > 7").verdict == "neither"
    text = "sort person open\npredicate P(person)\nnumber age(person)\n"
    text += "axiom P(X) -> 10 / age(X) = 2\naxiom exists X: P(X)\n"
    assert lnnkit.loads(text).prove("exists X: age(X) = 5").verdict == "entailed"


def test_a_completed_atom_by_a_quotient() -> None:
    text = "number a\nnumber b\npredicate D closed\nrule a / b > 1 -> D\n"
    verdicts(text, **{"D -> b != 0": "entailed", "D": "neither"})
    verdicts(text + "fact b = 0\n", D="refuted")


@pytest.mark.parametrize(
    ("term", "value"),
    [("sqrt(n(X))", "-4"), ("log(n(X))", "-4"), ("1 / n(X)", "0"), ("sqrt(n(X) + m(X))", "in [-4, -2]")],
)
@pytest.mark.parametrize("condition", ["", "Known(X) -> "])
def test_a_rule_concludes_nothing_of_a_term_without_a_value(term: str, value: str, condition: str) -> None:
    fact = f"fact n(a) {value if 'in' in value else f'= {value}'}\n"
    text = f"number n(t)\nnumber m(t)\nnumber pts(t)\nfact Known(a)\nfact m(a) = 0\n{fact}"
    verdicts(text + f"rule {condition}pts(X) = {term}\n", **{"pts(a) > 1": "neither", "n(a) > 1": "refuted"})
    verdicts(text + f"rule {condition}~(pts(X) != {term})\n", **{"pts(a) > 1": "neither"})


@pytest.mark.parametrize(
    ("question", "expected", "facts"),
    [
        ("log(n(a)) > 1", "entailed", 1),
        ("log(n(b)) > 1", "entailed", 1),
        ("1 / exp(n(b)) < 0.01", "entailed", 1),
        ("sin(n(a)) > 1", "refuted", 0),
        ("years(born(a), seen(a)) > 18", "entailed", 2),
        ("years(born(a), seen(a)) > 40", "refuted", 2),
        ("Adult(a)", "entailed", 2),
    ],
)
def test_intervals_decide_what_the_solver_cannot_be_given(question: str, expected: str, facts: int) -> None:
    """The core names the facts behind them."""
    text = "date born(p)\ndate seen(p)\nnumber n(p)\npredicate Adult(p)\nfact n(a) = 10\nfact n(b) in [5, 20]\n"
    text += 'fact n(c) in [-1, 20]\nfact born(a) in [date "1990-01-01", date "1991-01-01"]\n'
    text += 'fact seen(a) in [date "2020-01-01", date "2021-01-01"]\nrule years(born(X), seen(X)) >= 18 -> Adult(X)\n'
    kb = lnnkit.loads(text)
    for reading in ("classical", "exact"):
        proved = kb.prove(question, reading=reading, timeout=SECONDS)  # type: ignore[arg-type]
        assert proved.verdict == expected and proved.minimal, reading
        assert sum(member.text.startswith("fact") for member in proved.core) == facts
        doubtful = kb.prove("log(n(c)) > -9", reading=reading, timeout=SECONDS)  # type: ignore[arg-type]
        assert doubtful.verdict in ("neither", "timeout"), reading  # it may have no value


def test_product_logic() -> None:
    text = "logic product\nnumber a\nnumber b\nfact A in [0.5, 0.8]\naxiom b > 0\naxiom a / b = 4\n"
    proved = lnnkit.loads(text).prove("A & a > 0", reading="exact")
    assert (proved.lower, proved.upper) == pytest.approx((0.5, 0.8), abs=1e-6)


def test_what_the_solver_cannot_be_given_is_not_decided() -> None:
    """The truth of `2 ^ y > 8` is open in Z3, so its models may break it."""
    proved = lnnkit.loads("number y\naxiom 2 ^ y > 8\n").prove("y > 3", reading="classical")
    assert proved.verdict in ("entailed", "timeout")
    assert not proved.models


def test_a_world_that_breaks_a_statement_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lnnkit.prove.decision.question.world_of", lambda *_: lambda _key: (0.0, 0.0))
    with pytest.raises(BrokenWorld):
        lnnkit.loads("axiom A | B\n").prove("A")
