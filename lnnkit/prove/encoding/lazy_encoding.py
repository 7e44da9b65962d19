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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding, subsets
from lnnkit.prove.encoding.graded_encoding import Constraint, TruthValue
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading, Instance
from lnnkit.prove.ground.least_world import WorldValues
from lnnkit.prove.ground.parts import Assignment, Part
from lnnkit.prove.solving import Z3

EncodedRow = dict[str, object]
QuantifierPlace = tuple[int, tuple[object, ...]]
_GROWTH = 8  # of the number of rows that are added, each time; first one is


@dataclass(eq=False)
class Rows:
    """A quantifier's rows: those ``added`` by the encoding, ``single`` ones that a model showed, and ``waiting`` ones,
    which ``anyone`` represents."""

    part: Part
    bindings: EncodedRow
    waiting: Iterator[EncodedRow]
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
        self,
        reading: GroundReading,
        whole: Collection[str],
        world: WorldValues,
        pause: Callable[[], None],
        expanded: ExpandedRows | None = None,
    ) -> None:
        super().__init__(reading, whole, folded=expanded is None)
        self._pause = pause
        self.expanded: ExpandedRows = {} if expanded is None else expanded
        self.quantified: dict[QuantifierPlace, Quantified] = {}
        self._world = world
        self._lower_world = GroundReading(WorldValues(reading.known))  # in the world of all lower ends
        self._people: dict[Part, EncodedRow] = {}
        self.existing: dict[str, Z3] = {}
        self.of_anyone: dict[GroundAtom, Z3] = {}  # atoms of which nothing is known

    def held(self, item: Constraint) -> Z3 | bool:
        constraint = super().held(item)
        if isinstance(item, Instance):
            return self._greatest([self.negated(self._there(item.bindings.values())), constraint])
        return constraint

    def exists(self, person: str) -> Z3:
        """The proposition that an unnamed individual exists."""
        return self.existing.setdefault(person, self.z3.Bool(f"there is {person}", self.context))

    def _quantifier(self, part: Part, bindings: Assignment) -> TruthValue:
        place = id(part), tuple(bindings[name] for name in sorted(part.variables))
        if place not in self.expanded:
            self.expanded[place] = self._rows(part, dict(bindings))
        rows = self.expanded[place]
        if rows.decided and self._folded:
            return not part.least
        if place not in self.quantified:
            some = self.z3.Bool(self._fresh_name("some"), self.context)
            quantified = self.quantified[place] = Quantified(rows, some, some)
            if self._folded:
                self.expand(quantified)
            elif rows.added or rows.complete:
                self._encode(quantified, rows.added)
            for row in () if self._folded else rows.single:
                self._row(quantified, row)
        some = self.quantified[place].some
        return self.z3.Not(some) if part.least else some

    def _rows(self, part: Part, bindings: EncodedRow) -> Rows:
        """The rows of a quantifier: a settled one that decides it, or those waiting; none in a replay."""
        for row in self._lower_world.rows(part, bindings):
            self._pause()
            low, high = self._reading.box(part.operands[0], row)
            if high <= 0 if part.least else low >= 1:
                return Rows(part, bindings, iter(()), decided=True, single=[row])
        return Rows(part, bindings, self._candidates(part, bindings) if self._folded else iter(()))

    def atom(self, key: GroundAtom) -> TruthValue:
        if self._world.anyones.isdisjoint(key[1]):
            return super().atom(key)
        return self.of_anyone.setdefault(key, self.z3.Bool(f"{key[0]}({', '.join(key[1])})", self.context))

    def _same(self, one: object, other: object) -> TruthValue:
        """Whether two arguments may be equal: *anyone* may equal any entity."""
        sides = sorted(map(str, (one, other)))
        if one == other or self._world.anyones.isdisjoint(sides):
            return super()._same(one, other)
        return self.z3.Bool(f"?same {sides!r}", self.context)

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
        if rows.anyone is None:
            anyone = {name: self._world.person(sort, anyone=True) for name, sort in rows.part.bound}
            rows.anyone = {**rows.bindings, **anyone}
        if not self.z3.is_false(quantified.rest):
            row = self._row(quantified, rows.anyone)
            self.arithmetic.asides.append(self.z3.Implies(quantified.rest, row))

    def lack(self, quantified: Quantified) -> Z3:
        """The proposition that a row which has not been added decides the quantifier."""
        anyone = quantified.rows.anyone
        return quantified.rest if anyone is None else self.exists(str(anyone[quantified.rows.part.bound[0][0]]))

    def _encode(self, quantified: Quantified, added: Sequence[EncodedRow]) -> None:
        rows, before = quantified.rows, quantified.rest
        truths = [self._row(quantified, row) for row in added]
        if rows.complete:
            quantified.rest = self.z3.BoolVal(False, self.context)
            self._note_closed(rows.part)
        else:
            quantified.rest = self.z3.Bool(self._fresh_name("rest"), self.context)
        self.arithmetic.asides.append(self.z3.Implies(before, self._greatest([*truths, quantified.rest])))
        if rows.anyone is not None:
            self.generalise(quantified)

    def _row(self, quantified: Quantified, row: EncodedRow) -> TruthValue:
        part, outer = quantified.rows.part, quantified.rows.bindings
        truth = self.truth(part.operands[0], row)
        if part.least:
            truth = self.negated(truth)
        truth = self._least([self._there(row[name] for name, _ in part.bound if name not in outer), truth])
        self.arithmetic.asides.append(self._greatest([self.negated(truth), quantified.some]))
        return truth

    def _there(self, entities: Iterable[object]) -> TruthValue:
        people = [name for name in dict.fromkeys(entities) if isinstance(name, str) and name in self._world.sort_of]
        return self._least(map(self.exists, people))

    def _candidates(self, part: Part, bindings: EncodedRow) -> Iterator[EncodedRow]:
        """The rows that may decide a quantifier, each once."""
        met: set[tuple[object, ...]] = set()
        for row in self._ordered(part, bindings):
            values = tuple(row[name] for name, _ in part.bound)
            if values not in met:
                met.add(values)
                yield row

    def _ordered(self, part: Part, bindings: EncodedRow) -> Iterator[EncodedRow]:
        """Rows of the world, of shared individuals, of its own ones, of entities with known atoms, of all entities."""
        world, opens = GroundReading(self._world), {n: sort for n, sort in part.bound if self._known.is_open(sort)}

        def people(names: Iterable[str]) -> EncodedRow:
            return {name: self._world.person(opens[name]) for name in names}

        for row in world.rows(part, bindings):
            self._pause()
            low, high = world.box(part.operands[0], row)
            if (1 - high if part.least else low) > 0:
                yield row
        if opens and part not in self._people:
            self._people[part] = people(opens)
        if len(opens) == len(part.bound):
            yield {**bindings, **self._people[part]}
            yield {**bindings, **people(opens)}
        named = {name: text for name, text in bindings.items() if isinstance(text, str)}
        for guard in part.row_guards:
            if guard.kind == "atom" and guard.variables & {name for name, _ in part.bound}:
                for assignment in self._lower_world.assignments(part.bound, named, [guard]):
                    yield {**bindings, **assignment}
        yield from self._reading.rows(part, bindings)
        for unnamed in subsets([*opens]):
            if len(unnamed) < len(part.bound):
                yield from self._named_rows(part, {**bindings, **people(unnamed)})
