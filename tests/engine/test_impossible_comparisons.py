"""Stated comparisons that no numbers satisfy, of an entity that nothing mentions: they contradict each other as they do
of an entity of which numbers between far ends are known."""

from __future__ import annotations

import random

import pytest

import lnnkit
from tests.blocks import at_length

HEAD = "number a(x)\nnumber b(x)\nnumber c(x)\nnumber d(x, x)\nnumber k(x) closed\npredicate K(x)\nfact K(e)\n"
FAR = "".join(f"fact {number} in [-1000, 1000]\n" for number in ("a(e)", "b(e)", "c(e)", "d(e, e)"))


def statements(rng: random.Random) -> str:
    """Comparisons that link numbers in no cycle: round it, ends would approach each other without end."""
    lefts = [(number, f"{rng.randrange(-3, 4)}") for number in rng.choices(["a(X)", "b(X)", "c(X)"], k=3)]
    for one, two in rng.sample([("a(X)", "b(X)"), ("b(X)", "c(X)")], rng.choice([0, 1, 2])):
        bound = f"{rng.randrange(-3, 4)}"
        lefts.append(rng.choice([(one, two), (f"{one} + {two}", bound), (one, f"{two} + {bound}")]))
    lines = []
    for left, right in lefts:
        comparison, kind = f"{left} {rng.choice(['<', '>', '<=', '>=', '='])} {right}", rng.random()
        soft = f"({comparison}){{scale: 2}} in {rng.choice(['[0.6, 1]', '[0.2, 0.4]', '[0, 0.1]', '[0.5, 0.5]'])}"
        lines.append(f"axiom {soft if kind < 0.2 else f'~({comparison})' if kind < 0.4 else comparison}\n")
    return "".join(dict.fromkeys(lines))


def clashes(text: str) -> set[tuple[str, float, float]]:
    """What contradicts itself, of whatever entity, and its bounds."""
    found = lnnkit.loads(text)
    found.infer()
    return {(str(met.atom or met.rule).replace('"e"', "X"), met.lower, met.upper) for met in found.contradictions}


@pytest.mark.parametrize("block", at_length([*range(4)], plain=1))
def test_of_any_entity_as_of_one(block: int) -> None:
    met = 0
    for seed in range(8 * block, 8 * block + 8):
        rng = random.Random(seed)
        axioms = statements(rng)
        general, own = clashes(HEAD + axioms), clashes(HEAD + axioms + FAR)
        assert bool(general) == bool(own), axioms
        assert {what for what, _, _ in general} <= {what for what, _, _ in own}, axioms
        met += bool(general)
    assert 0 < met < 8
    assert clashes(HEAD + FAR) == clashes(HEAD) == set()


@pytest.mark.parametrize(
    ("axioms", "numbers"),
    [
        ("axiom a(X) > 5\naxiom a(X) < 3", {"a"}),
        ("axiom a(X) > 5\naxiom b(X) < 3\naxiom a(X) < b(X)", {"a", "b"}),
        ("axiom a(X) > 5\naxiom b(X) < 3", set()),
        ("axiom a(X) > 5\naxiom a(X) < 3\naxiom b(X) > 4\naxiom b(X) < 2\naxiom c(X) > 1", {"a", "b"}),
        ("axiom d(X, Y) > 5\naxiom d(X, X) < 3", {"d"}),
        ("axiom d(X, X) > 5\naxiom d(X, Y) < 7", set()),
        ("axiom d(X, Y) > 5\naxiom d(X, Y) < 3", {"d"}),
        ("axiom 1 / a(X) > 5\naxiom a(X) > 3", {"a"}),
        ("axiom a(X) < b(X)\naxiom b(X) < a(X)", {"a", "b"}),
        ("axiom k(X) > 5\naxiom k(X) < 3", set()),  # a closed number has no value where no fact gives one
        ("axiom k(X) > b(X)\naxiom b(X) > 5\naxiom k(X) < 3", set()),
    ],
)
def test_reported_once_for_numbers_that_hang_together(axioms: str, numbers: set[str]) -> None:
    texts = {what for what, _, _ in clashes(HEAD + axioms + "\n")}
    assert {number for number in "abcd" for text in texts if f"{number}(" in text} <= numbers
    assert bool(texts) == bool(numbers)
    parts = 2 if len(numbers) == 2 and "c(X) > 1" in axioms else 1
    assert len(texts) == (parts if numbers else 0)


def test_comparisons_that_are_not_stated_link_no_numbers() -> None:
    """What is contradicted of c says nothing of a, though a rule compares them."""
    rule = "predicate W(x, x)\nrule W(X, Y) & a(X) < c(Y) -> P(X)\nquery P(X)\n"
    crossed = "fact c(e) = 3\nfact c(e) = 4\n"
    assert len(clashes(HEAD + "axiom a(X) > 5\naxiom a(X) < 3\n" + rule + crossed)) == 2
