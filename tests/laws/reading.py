"""What a program says, as far as a law may compare it: answers, contradictions, how inference ended."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import lnnkit
from tests.oracle import Box, Program
from tests.programs import to_text

Key = tuple[int, frozenset[tuple[str, str]]]  # the query's number, and its bindings
NEAR = 1e-9


@dataclass(frozen=True)
class Reading:
    """Each contradiction is its kind, its text, and its bounds."""

    answers: dict[Key, Box]
    contradictions: Counter[tuple[str, str, float, float]]
    status: str
    rounds: int

    @property
    def clean(self) -> bool:
        """Whether it converged without contradictions."""
        return self.status == "converged" and not self.contradictions


def read(program: Program) -> Reading:
    return read_kb(lnnkit.loads(to_text(program)))


def read_kb(kb: lnnkit.KnowledgeBase) -> Reading:
    outcome = kb.infer()
    answers = {
        (number, frozenset(answer.bindings.items())): (answer.lower, answer.upper)
        for number, found in enumerate(kb.answers())
        for answer in found
    }
    crossed = Counter((each.kind, each.atom, each.lower, each.upper) for each in outcome.contradictions)
    return Reading(answers, crossed, outcome.status, outcome.rounds)


def differences(one: Reading, other: Reading, within: float = NEAR, queries: int | None = None) -> list[str]:
    """Where the answers to the first so many queries differ."""
    found = []
    for key in sorted(one.answers.keys() | other.answers.keys(), key=repr):
        if queries is not None and key[0] >= queries:
            continue
        a, b = one.answers.get(key), other.answers.get(key)
        if (
            a is None
            or b is None
            or not all(abs(x - y) <= within * max(1.0, abs(x)) or x == y for x, y in zip(a, b, strict=True))
        ):
            found.append(f"query {key[0]} {dict(sorted(key[1]))}: {a}, then {b}")
    return found


def all_differences(one: Reading, other: Reading) -> list[str]:
    """Where two readings differ at all, to the last bit."""
    found = differences(one, other, within=0.0)
    if one.contradictions != other.contradictions:
        gone, new = one.contradictions - other.contradictions, other.contradictions - one.contradictions
        found.append(f"contradictions: {sorted(gone)} gone, {sorted(new)} new")
    if (one.status, one.rounds) != (other.status, other.rounds):
        found.append(f"{one.status} after {one.rounds} rounds, then {other.status} after {other.rounds}")
    return found


def looser(one: Reading, other: Reading) -> list[str]:
    """Where an answer of the second does not lie within that of the first."""
    found = []
    for key, (low, high) in sorted(one.answers.items(), key=repr):
        box = other.answers.get(key)
        if box is None or box[0] < low - NEAR * max(1.0, abs(low)) or box[1] > high + NEAR * max(1.0, abs(high)):
            found.append(f"query {key[0]} {dict(sorted(key[1]))}: {(low, high)}, then {box}")
    return found
