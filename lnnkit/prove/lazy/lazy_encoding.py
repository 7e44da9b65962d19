"""The classical encoding, with quantifiers whose rows are added one by one.

A quantifier becomes a proposition. A row that decides it (a true row of an ``exists``) implies it; conversely it
implies that one of the added rows decides it, or ``rest``: some row that has not been added. The solver assumes that
``rest`` is false. If this assumption is in its unsatisfiable core, rows are added. A true row that has not been added
becomes visible in the model. Rows over an open sort are about unnamed individuals, one of them the quantifier's own. No
statement compares unnamed individuals, so one can stand for any other.

Before many rows are added, ``rest`` is equated with a row of *anyone*, an individual of which nothing is known. If that
is unsatisfiable, so is every row, and they need not be tested one by one (generalisation on constants).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lnnkit.prove.decision.question import Ground
from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding, subsets
from lnnkit.prove.encoding.graded_encoding import Constraint, TruthValue
from lnnkit.prove.ground.ground_reading import GroundReading, Instance
from lnnkit.prove.ground.known_values import GroundAtom
from lnnkit.prove.ground.parts import Assignment, Part
from lnnkit.prove.lazy.least_world import WorldValues
from lnnkit.prove.solving import Z3

EncodedRow = dict[str, object]
QuantifierPlace = tuple[int, tuple[object, ...]]
_GROWTH = 8  # of the number of rows that are added, each time; first one is


@dataclass(eq=False)
class Rows:
    """A quantifier's rows: those ``added`` by the encoding, ``single`` ones that a model showed, and ``waiting`` ones,
    which ``anyone`` represents."""

    part: Part
    bindings: Assignment
    waiting: Iterator[EncodedRow] = field(default_factory=lambda: iter(()))
    decided: bool = False  # whether known bounds decide it
    added: list[EncodedRow] = field(default_factory=list)
    single: list[EncodedRow] = field(default_factory=list)
    anyone: EncodedRow | None = None
    complete: bool = False


ExpandedRows = dict[QuantifierPlace, Rows]


@dataclass(eq=False)
class Quantified:
    """A quantifier in an encoding. ``some``: a row decides it. ``rest``: a row that has not been added decides it."""

    rows: Rows
    some: Z3
    rest: Z3


class LazyEncoding(ClassicalEncoding):
    """``world`` is the model, ``expanded`` the rows added by another encoding that is replayed: settled bounds are then
    no constants. ``pause`` is called for every row, and raises when time runs out."""

    def __init__(
        self, ground: Ground, world: WorldValues, pause: Callable[[], None], expanded: ExpandedRows | None = None
    ) -> None:
        super().__init__(ground.reading, ground.whole, folded=expanded is None)
        self._pause = pause
        self.expanded: ExpandedRows = {} if expanded is None else expanded
        self.quantified: dict[QuantifierPlace, Quantified] = {}
        self._world = world
        self._lower_world = GroundReading(WorldValues(ground.known))  # in the world of all lower ends
        self._people: dict[Part, list[str]] = {}
        self.existing: dict[str, Z3] = {}
        self.of_anyone: dict[GroundAtom, Z3] = {}  # atoms of which nothing is known

    # --- formulas ---------------------------------------------------------------------------------------------------

    def held(self, item: Constraint) -> Z3 | bool:
        constraint = super().held(item)
        if isinstance(item, Instance):
            return self._greatest([self.negated(self._there(item.bindings.values())), constraint])
        return constraint

    def exists(self, person: str) -> Z3:
        """The proposition that an unnamed individual exists."""
        if person not in self.existing:
            self.existing[person] = self.z3.Bool(f"there is {person}", self.context)
        return self.existing[person]

    def _quantifier(self, part: Part, bindings: Assignment) -> TruthValue:
        place = id(part), tuple(bindings[name] for name in sorted(part.variables))
        rows = self.expanded.get(place)
        if rows is None:
            rows = self._decided(part, bindings)
            rows = rows or Rows(part, dict(bindings), _distinct(self._candidates(part, bindings), part))
            self.expanded[place] = rows
        if rows.decided and self._folded:
            return not part.least
        if place not in self.quantified:
            self._fresh += 1
            some = self.z3.Bool(f"?some {self._fresh}", self.context)
            quantified = self.quantified[place] = Quantified(rows, some, some)
            if self._folded:
                self.expand(quantified)
            elif rows.added or rows.complete:
                self._encode(quantified, rows.added)
            for row in () if self._folded else rows.single:
                self._row(quantified, row)
        some = self.quantified[place].some
        return self.z3.Not(some) if part.least else some

    def _decided(self, part: Part, bindings: Assignment) -> Rows | None:
        """A quantifier decided by a settled row, with that row. Without such a row, no rows if another encoding is
        replayed, else None."""
        (body,) = part.operands
        exists = not part.least
        for row in self._lower_world.rows(part, bindings):
            self._pause()
            low, high = self._reading.box(body, row)
            if low >= 1 if exists else high <= 0:
                return Rows(part, dict(bindings), decided=True, single=[row])
        return None if self._folded else Rows(part, dict(bindings))

    def atom(self, key: GroundAtom) -> TruthValue:
        if self._world.anyones.isdisjoint(key[1]):
            return super().atom(key)
        if key not in self.of_anyone:
            self.of_anyone[key] = self.z3.Bool(f"{key[0]}({', '.join(key[1])})", self.context)
        return self.of_anyone[key]

    def _same(self, one: object, other: object) -> TruthValue:
        """Whether two arguments may be equal: *anyone* may equal any entity."""
        sides = sorted(map(str, (one, other)))
        if one == other or self._world.anyones.isdisjoint(sides):
            return super()._same(one, other)
        return self.z3.Bool(f"?same {sides!r}", self.context)

    # --- rows -------------------------------------------------------------------------------------------------------

    def expand(self, quantified: Quantified) -> None:
        """Add the next rows of a quantifier."""
        rows = quantified.rows
        count = (_GROWTH - 1) * len(rows.added) + 1
        turn = list(itertools.islice(rows.waiting, count))
        rows.complete = len(turn) < count
        rows.added += turn
        self._encode(quantified, turn)

    def add(self, quantified: Quantified, row: EncodedRow) -> None:
        """Add a row that decides the quantifier in a model."""
        quantified.rows.single.append(row)
        self._row(quantified, row)

    def generalise(self, quantified: Quantified) -> None:
        """Assert that the rows that have not been added are instances of *anyone*."""
        rows = quantified.rows
        anyone = {name: self._world.anyone(sort) for name, sort in rows.part.bound}
        rows.anyone = {**rows.bindings, **anyone}
        self._generalised(quantified)

    def lack(self, quantified: Quantified) -> Z3:
        """The proposition that a row which has not been added decides the quantifier."""
        anyone = quantified.rows.anyone
        return quantified.rest if anyone is None else self.exists(str(anyone[quantified.rows.part.bound[0][0]]))

    def _generalised(self, quantified: Quantified) -> None:
        rows = quantified.rows
        if rows.anyone is None or self.z3.is_false(quantified.rest):
            return
        self.arithmetic.asides.append(self.z3.Implies(quantified.rest, self.lifted(self._row(quantified, rows.anyone))))

    def _encode(self, quantified: Quantified, added: Sequence[EncodedRow]) -> None:
        rows, z3 = quantified.rows, self.z3
        truths = [self._row(quantified, row) for row in added]
        before = quantified.rest
        if rows.complete:
            quantified.rest = z3.BoolVal(False, self.context)
            self._note_closed(rows.part)
        else:
            self._fresh += 1
            quantified.rest = z3.Bool(f"?rest {self._fresh}", self.context)
        self.arithmetic.asides.append(z3.Implies(before, self.lifted(self._greatest([*truths, quantified.rest]))))
        self._generalised(quantified)

    def _row(self, quantified: Quantified, row: EncodedRow) -> TruthValue:
        part, outer = quantified.rows.part, quantified.rows.bindings
        truth = self.truth(part.operands[0], row)
        if part.least:
            truth = self.negated(truth)
        truth = self._least([self._there(row[name] for name, _ in part.bound if name not in outer), truth])
        self.arithmetic.asides.append(self.lifted(self._greatest([self.negated(truth), quantified.some])))
        return truth

    def _there(self, entities: Iterable[object]) -> TruthValue:
        people = [name for name in dict.fromkeys(entities) if isinstance(name, str) and name in self._world.sort_of]
        return self._least(map(self.exists, people))

    # --- candidates -------------------------------------------------------------------------------------------------

    def _candidates(self, part: Part, bindings: Assignment) -> Iterator[EncodedRow]:
        """The rows that may decide a quantifier, in this order: rows of the world, of shared individuals, of its own
        individuals, of entities with known atoms, of all entities."""
        bindings = dict(bindings)
        exists = not part.least
        world = GroundReading(self._world)
        for row in world.rows(part, bindings):
            self._pause()
            low, high = world.box(part.operands[0], row)
            if (low if exists else 1 - high) > 0:
                yield row
        opens = [name for name, sort in part.bound if self._known.is_open(sort)]
        if opens and part not in self._people:
            self._people[part] = [self._world.person(sort) for _, sort in part.bound if self._known.is_open(sort)]
        if len(opens) == len(part.bound):
            yield {**bindings, **dict(zip(opens, self._people[part], strict=True))}
            yield {**bindings, **self._own(part, opens)}
        named = {name: text for name, text in bindings.items() if isinstance(text, str)}
        for guard in part.row_guards:
            if guard.kind == "atom" and guard.variables & {name for name, _ in part.bound}:
                for assignment in self._lower_world.assignments(part.bound, named, [guard]):
                    yield {**bindings, **assignment}
        yield from self._reading.rows(part, bindings)
        for unnamed in subsets(opens):
            if len(unnamed) < len(part.bound):
                yield from self._named_rows(part, {**bindings, **self._own(part, unnamed)})

    def _own(self, part: Part, names: Sequence[str]) -> dict[str, str]:
        sorts = dict(part.bound)
        return {name: self._world.person(sorts[name]) for name in names}


def _distinct(rows: Iterator[EncodedRow], part: Part) -> Iterator[EncodedRow]:
    met: set[tuple[object, ...]] = set()
    for row in rows:
        values = tuple(row[name] for name, _ in part.bound)
        if values not in met:
            met.add(values)
            yield row
