"""Programs with aggregates over few unknown atoms, and their verdicts by trying all worlds. Knows nothing of lnnkit.

In the worlds of ``prove`` a comparison of which a term has no value is false (``loose``); inference may have concluded
that it has one (``strict``), so a verdict lies between those of the two. Where numbers are unknown, some values of each
are tried: such worlds may only show that a verdict is wrong.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tests.aggregates.aggregate_worlds import (
    ITEMS,
    NUMBERS,
    PEOPLE,
    PLACES,
    Formula,
    NoValue,
    Planter,
    Truth,
    World,
    free,
    grounded,
    text,
)

Key = tuple[str, tuple[str, ...]]
_UNKNOWN = 7  # atoms at most
NEAR = Fraction(1, 10**6)


class LooseWorld(World):
    """A world in which a comparison without a value is false."""

    def truth(self, formula: Formula, env: Mapping[str, str]) -> Truth:
        try:
            return super().truth(formula, env)
        except NoValue:
            if formula[0] != "compare":
                raise
            return Fraction(0)


def written(key: Key) -> str:
    return f"{key[0]}({', '.join(key[1])})"


@dataclass
class Case:
    """``known`` values, ``unknown`` atoms, and ``numbers`` with the values that are tried; each of the ``statements``
    is true, or false, of all people."""

    people: tuple[str, ...]
    items: tuple[str, ...]
    declared: list[str]
    known: dict[Key, Fraction] = field(default_factory=dict)
    unknown: list[Key] = field(default_factory=list)
    numbers: dict[Key, list[Fraction]] = field(default_factory=dict)
    statements: list[tuple[Formula, bool]] = field(default_factory=list)
    completed: Formula | None = None
    questions: list[Formula] = field(default_factory=list)

    @property
    def text(self) -> str:
        lines = list(self.declared)
        for (name, row), value in self.known.items():
            if name in NUMBERS or value or f"{name}(" not in " ".join(x for x in self.declared if "closed" in x):
                lines.append(f"fact {written((name, row))} = {float(value)!r}")
        lines += [f"fact {written(key)} in [0, 1]" for key in self.unknown]
        lines += [f"axiom {text(formula)}" if held else f"axiom ~{text(formula)}" for formula, held in self.statements]
        if self.completed is not None:
            lines += ["predicate Done(person) closed", f"rule {text(self.completed)} -> Done(X)"]
        return "\n".join(lines) + "\n"

    def world(self, values: Mapping[Key, Fraction], kind: type[World] = LooseWorld) -> World:
        """The world of these values: what is completed is worked out."""
        made = kind({**self.known, **values}, self.people, self.items)
        if self.completed is not None:
            for who in self.people:
                made.values["Done", (who,)] = made.truth(self.completed, {"X": who})
        return made

    def holds(self, world: World, near: Fraction = Fraction(0)) -> bool:
        """Whether all statements hold."""
        rows = [{"X": who} for who in self.people]
        truths = ((world.truth(f, env), held) for f, held in self.statements for env in rows)
        return all(truth >= 1 - near if held else truth <= near for truth, held in truths)

    def worlds(self, kind: type[World]) -> Iterator[World]:
        """Those worlds that hold, of all atoms and of some values of numbers."""
        atoms = itertools.product((Fraction(0), Fraction(1)), repeat=len(self.unknown))
        numbers = [*itertools.product(*self.numbers.values())]
        for truths, values in itertools.product(atoms, numbers):
            try:
                world = self.world(dict(zip([*self.unknown, *self.numbers], [*truths, *values], strict=True)), kind)
                if self.holds(world):
                    yield world
            except NoValue:
                continue

    def truths(self, question: Formula, kind: type[World]) -> set[Truth]:
        """The truths of a question in these worlds."""
        truths: set[Truth] = set()
        for world in self.worlds(kind):
            try:
                truths.add(world.truth(question, {}))
            except NoValue:
                continue
        return truths


VERDICTS = {(): "inconsistent", (0,): "refuted", (1,): "entailed", (0, 1): "neither"}


def verdict(truths: set[Truth]) -> str:
    return VERDICTS[tuple(sorted(map(int, truths)))]


def drawn(seed: int) -> Case:
    """A function of the seed. Of each second case all numbers are known, so that all its worlds are tried."""
    for attempt in range(100):
        try:
            return _Drawer(random.Random(f"proved aggregates {seed} {attempt}"), open_numbers=bool(seed % 2)).case()
        except NoValue:
            continue
    raise AssertionError(f"no program for seed {seed}")


class _Drawer(Planter):
    def __init__(self, rng: random.Random, *, open_numbers: bool) -> None:
        super().__init__(rng)
        self._open_numbers = open_numbers

    def case(self) -> Case:
        rng = self.rng
        people, items = PEOPLE[: rng.choice([1, 2])], ITEMS[: rng.choice([1, 2, 3])]
        closed = {name for name in ("Has", "Bad") if rng.random() < 0.6}
        self.crisp = True
        self.world = World({}, people, items)
        made = Case(people, items, [f"sort {sort}" for sort in ("person", "item")])
        made.declared += ["predicate Person(person)", "predicate Item(item)"]
        made.known |= {("Person", (who,)): Fraction(1) for who in people}
        made.known |= {("Item", (what,)): Fraction(1) for what in items}
        for name, sorts in (PLACES | NUMBERS).items():
            shape = f"{name}({', '.join('person' if sort is PEOPLE else 'item' for sort in sorts)})"
            word = "number" if name in NUMBERS else "predicate"
            made.declared.append(f"{word} {shape}{' closed' if name in closed else ''}")
            for row in itertools.product(*(people if sort is PEOPLE else items for sort in sorts)):
                value = self._number() if name in NUMBERS else self._truth()
                self.world.values[name, row] = value
                if name in NUMBERS and self._open_numbers and rng.random() < 0.3 and len(made.numbers) < 2:
                    near = [value, value + 1, value - Fraction(1, 2), Fraction(0), Fraction(12)]
                    made.numbers[name, row] = [*dict.fromkeys(near)]
                elif name in PLACES and rng.random() < 0.5 and len(made.unknown) < _UNKNOWN:
                    made.unknown.append((name, row))
                else:
                    made.known[name, row] = value
        self.world.values |= {("Person", (who,)): Fraction(1) for who in people}
        for _ in range(rng.choice([1, 2, 2, 3])):
            formula = self._formula()
            truths = {*self._instances(formula, ("X",))}
            if len(truths) == 1 or rng.random() < 0.05:  # seldom one that may contradict the others
                made.statements.append((formula, truths == {1}))
        questions = [self._formula(), self._comparison("X")]
        if rng.random() < 0.4:
            made.completed = ("and", self._comparison("X"), ("atom", "Person", ("X",)))
            questions.append(("atom", "Done", ("X",)))
        for formula in questions:
            made.questions.append(grounded(formula, {v: rng.choice(people) for v in free(formula)}))
        return made
