"""Numbers of facts that change: answers to the bit those of a fresh inference, most of them without one."""

from __future__ import annotations

import random

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.kb.test_retracting import answered
from tests.kb.test_revising import counted

READINGS = """
number temp(room){closed}
number limit(room){closed}
predicate Near(room, room){closed}
predicate Off(room)
predicate P(room)
rule P(X) & P(Y) & temp(X) < temp(Y) & temp(Y) < temp(X) + 10 -> Within(X, Y)
rule P(X) & Off(Y) & temp(X) = temp(Y) -> Same(X, Y)
rule P(X) & 10 < temp(X) & temp(X) < 20 -> Mid(X)
rule temp(X) > limit(X) -> Over(X) in [0.9, 1]
rule Mid(X) & Near(X, Y) & temp(Y) >= temp(X) - 5 -> Mid(Y)
query Within(X, Y)
query Same(X, Y)
query Mid(X)
query Over(X)
query temp(X)
query limit(X)
query temp(X) + 1 > limit(X)
"""
MORE = (
    "axiom limit(X) > 20",
    "axiom Off(X) <-> temp(X) > 20\nquery Off(X)",
    "rule (forall Y: Near(X, Y) -> temp(Y) < 35) -> Calm(X)\nquery Calm(X)",
    "rule exists Y: Near(X, Y) & temp(Y) > temp(X) -> Higher(X)\nquery Higher(X)",
    "rule temp(X) / limit(X) > 1 -> Ratio(X)\nquery Ratio(X)",
    "rule (temp(X) > limit(X)){scale: 3} -> Alike(X)\nquery Alike(X)",
    "predicate Warm(room) closed\nrule temp(X) > 25 & ~Off(X) -> Warm(X)\nquery ~Warm(X) & P(X)",
    "rule (count Y: P(Y) & temp(Y) > temp(X)) > 1 -> Many(X)\nquery Many(X)\nquery mean Y: temp(Y) where P(Y)",
    "number twice(room)\naxiom twice(X) = temp(X) * 2\nquery twice(X)",
    "number share(room)\naxiom share(X) = temp(X) / limit(X)\nrule share(X) > 1 -> Hot(X)\n"
    "query share(X)\nquery Hot(X)",
    "number a(room)\nnumber b(room)\naxiom a(X) = temp(X) + limit(X)\naxiom b(X) = a(X) - limit(X)\n"
    "query a(X)\nquery b(X)",
    "rule Near(X, Y) -> temp(Y) >= temp(X) - 40\nrule P(X) -> limit(X) <= 45",
    "number third(room)\naxiom third(X) = temp(X) / 3\nrule third(X) > 5 -> Hot(X)\nrule Hot(X) -> limit(X) >= 3\n"
    "query third(X)\nquery Hot(X)",
)


class Readings:
    """A knowledge base of random numbers, and its facts."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.rooms = [f"r{number}" for number in range(draw.choice((4, 7, 12)))]
        closed = draw.choice(("", " closed"))
        self.program = READINGS.replace("{closed}", closed) + draw.choice(MORE) + "\n"
        self.facts: dict[tuple[str, ...], tuple[float, float]] = {}
        for room in self.rooms:
            self.facts["Off", room] = (0, draw.choice((0, 1)))
            for name, share in (("P", 0.6), ("temp", 0.8), ("limit", 0.7)):
                if draw.random() < share:
                    self.facts[name, room] = self.bounds(name)
            self.facts["Near", room, draw.choice(self.rooms)] = (1, 1)
        self.kb = lnnkit.loads(self.text())
        self.kb.infer()

    def bounds(self, name: str) -> tuple[float, float]:
        if name not in ("temp", "limit"):
            return 1, 1
        low = self.draw.randrange(50)
        return low, low + (self.draw.choice((0, 0, 0, 5)) if name == "limit" else 0)

    def text(self) -> str:
        facts = (f"fact {name}({', '.join(of)}) in [{low}, {high}]" for (name, *of), (low, high) in self.facts.items())
        return self.program + "\n".join(facts) + "\n"

    def change(self) -> None:
        name, *of = key = self.draw.choice([*self.facts])
        if name in ("temp", "limit") and self.draw.random() < 0.3:
            self.kb.retract(name, [of])
            del self.facts[key]
        elif name in ("temp", "limit"):
            room = self.draw.choice((*of, *self.rooms[:2]))
            self.facts[name, room] = self.bounds(name)
            self.kb.replace(name, [(room, *self.facts[name, room])])
        elif name == "Near":
            pair = self.draw.choice(self.rooms), self.draw.choice(self.rooms)
            self.kb.tell(name, [pair])
            self.facts[name, *pair] = (1, 1)


@pytest.mark.parametrize("block", in_blocks(range(306), 12, plain=3))
def test_changed_numbers_are_as_inferred_anew(block: range) -> None:
    with counted() as counts:
        for seed in block:
            readings = Readings(seed)
            for _ in range(5):
                readings.change()
                assert answered(readings.kb) == answered(lnnkit.loads(readings.text())), readings.text()
    assert counts[True] > counts[False], counts
