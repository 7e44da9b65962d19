"""Every round of an inference against its definition."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import lnnkit
from lnnkit.engine import encoded_bounds
from lnnkit.engine.response import response_table, rule_instances, rule_response
from tests.aggregates.candidate_worlds import Drawn
from tests.blocks import at_length
from tests.engine.every_round import ended, watched
from tests.engine.test_insertion import closed
from tests.engine.test_insertion import recursive as closures
from tests.join.test_every_join import recursive as chained
from tests.linked_comparisons import generate as compared
from tests.numeric_programs import generate as measured
from tests.programs import MODES, generate, to_text


def cut(patch: pytest.MonkeyPatch, rng: random.Random) -> None:
    """Work small programs out as large ones: in strips, with few classes of bounds, with tables that are full."""
    strip = rng.choice([2, 2**15])
    patch.setattr(rule_instances, "STRIP", strip)
    patch.setattr(rule_response, "STRIP", strip)
    patch.setattr(encoded_bounds, "_CLASSES", rng.choice([3, 64]))
    patch.setattr(response_table, "_SIZE", rng.choice([8, 2**13]))


def small(seed: int) -> str:
    """A program of any kind."""
    drawn = generate(seed, 2 + seed % 5, MODES[seed % 3], equal=0.1 * (seed % 2), linked=0.5 * (seed % 2))
    return to_text(drawn.program)


def recursive(seed: int) -> str:
    """Relations that are inserted, half of them completed."""
    return closures(seed) if seed % 2 else closed(closures(seed))


def degrees(seed: int) -> str:
    """Weighted clauses over facts of more degrees than there are classes, some of them about what they bound."""
    rng = random.Random(seed)
    entities, names = range(rng.choice([5, 70])), "ABCDE"
    lines = [f"predicate {name}(x)" for name in names]
    for name in names:
        for entity in entities:
            low, high = sorted([round(rng.random(), 3), round(rng.random(), 3)])
            ends = rng.choice([f"= {low}", f"in [{low}, {high}]", f"in [{low}, 1]", f"in [0, {high}]", "in [0, 1]"])
            if rng.random() < (0.9 if name in "AB" else 0.4):
                lines.append(f"fact {name}(e{entity}) {ends}")
    for _ in range(3):
        one, two, head = (f"{rng.choice(['', '~'])}{name}(X)" for name in rng.sample(names, 3))
        body = f"({one}@{rng.choice([1, 1, 0.7])} {rng.choice('&|')} {two})"
        lines.append(f"rule {body} -> {head}{rng.choice(['', ' in [0.8, 1]'])}")
    return "\n".join([*lines, *(f"query {name}(X)" for name in names)]) + "\n"


KINDS: dict[str, Callable[[int], str]] = {
    "small": small,
    "chained": chained,
    "recursive": recursive,
    "compared": lambda seed: to_text(compared(seed)),
    "measured": lambda seed: to_text(measured(seed).program),
    "degrees": degrees,
    "derived": lambda seed: Drawn(random.Random(seed)).text,
}


@pytest.mark.parametrize("seed", at_length([*range(12)], plain=3))
@pytest.mark.parametrize("kind", KINDS)
def test_rounds(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cut(monkeypatch, random.Random(seed))
    kb = lnnkit.loads(KINDS[kind](seed))
    with watched() as watching:
        outcome = kb.infer()
    assert watching.merged > 0
    if outcome.status == "converged":
        ended(kb._session.program_fixpoint().run)


@pytest.mark.parametrize("seed", at_length([*range(3)], plain=1))
@pytest.mark.parametrize("kind", ["small", "degrees", "compared"])
def test_rounds_in_single_precision(kind: str, seed: int) -> None:
    kb = lnnkit.loads(KINDS[kind](seed + 50))
    with watched() as watching:
        kb.infer(precision="single")
    assert watching.merged > 0


@pytest.mark.parametrize("degrees", [(0.5, 0.9, 0.7), (0.9, 0.5, 0.7)])
def test_of_several_rows_that_contradict_the_worst_stands_for_the_instance(degrees: tuple[float, ...]) -> None:
    """Its statement is true, and no truer than 1 - 0.9 + the upper end of its head."""
    lines = [f"fact E({x}, y{place})" for place in range(3) for x in "xz"]
    lines += [f"fact A(y{place}) in [{degree}, 1]" for place, degree in enumerate(degrees)]
    text = "rule (exists Y: E(X, Y) & A(Y)) -> B(X)\nfact B(x) in [0, 0.2]\nfact B(z) in [0, 0.1]\nquery B(X)\n"
    kb = lnnkit.loads(text + "\n".join(lines) + "\n")
    with watched():
        kb.infer()
    found = [(each.lower, pytest.approx(each.upper)) for each in kb.contradictions]
    assert found == [(1, 0.3), (1, 0.2)]
