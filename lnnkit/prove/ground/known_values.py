"""The results of inference for the solver: bounds of atoms and numbers, rows of predicates, entities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from lnnkit.check.program import CheckedProgram
from lnnkit.data.names import Names
from lnnkit.engine.inference_run import Run
from lnnkit.explain.proof.proof import FactSources
from lnnkit.prove.ground.point_arithmetic import Box

_NOISE = 1e-12  # ends closer than this are equal
_ROUNDED = 1e-6  # relative error of a derived number: 1,000 times the tolerance of equality (`lnnkit.numeric.interval`)
_TICKS = 256  # steps of a search between two calls of `pause`
GroundAtom = tuple[str, tuple[str, ...]]  # a predicate or number, and entities


class KnownValues:
    """The bounds of a ``fixpoint``. An arrested atom has the bounds of its own facts, since its derived bounds
    contradict each other or these. In ``classical`` logic what is true to any degree is true."""

    def __init__(
        self, fixpoint: Run, names: Names, program: CheckedProgram, origins: FactSources, *, classical: bool
    ) -> None:
        self.pause: Callable[[], None] | None = None  # raises where a search among rows is to stop
        self._ticks = 0
        self._classical = classical
        self.program = program
        self.origins = origins
        self._names = names
        self.atoms = fixpoint.grounding.atoms
        self._crossed = fixpoint.state.crossed
        self.domain = fixpoint.grounding.domain
        self._open = fixpoint.unfinished
        self.derived = frozenset[str]().union(*program.strata)
        self._boxes: dict[GroundAtom, Box] = {}
        self._members: dict[str, list[str]] = {}
        self._orders: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]] = {}

    def tick(self) -> None:
        """Note one step of a search among rows, which may take long. Raises what ``pause`` raises."""
        self._ticks += 1
        if self._ticks % _TICKS == 0 and self.pause is not None:
            self.pause()

    def box(self, key: GroundAtom) -> Box:
        """The bounds of an atom, or the ends of a number."""
        box = self._boxes.get(key)
        if box is None:
            box = self._read(key)
            if self._classical and not self.program.predicates[key[0]].numeric:
                box = float(box[0] > _NOISE), float(box[1] >= 1 - _NOISE)
            self._boxes[key] = box
        return box

    def completed(self, key: GroundAtom) -> bool:
        """Whether rules complete the atom: rules define its closed predicate, and no fact lists it."""
        name = key[0]
        return name in self.derived and name not in self._open and not self.lacks(key) and not self._given(key)

    def lacks(self, key: GroundAtom) -> bool:
        """Whether an argument is outside the sort of its position, so that no statement applies to the atom."""
        sorts = self.program.predicates[key[0]].sorts
        return any(not self.has(sort, text) for sort, text in zip(sorts, key[1], strict=True))

    def has(self, sort: str, entity: str) -> bool:
        """Whether an entity is of a sort."""
        return entity in self.domain.index and sort in self.domain.sorts and self.domain.has(sort, entity)

    def is_open(self, sort: str) -> bool:
        """Whether a sort may contain unnamed individuals."""
        return sort in self.domain.open_sorts

    def false_of_unnamed(self, name: str) -> bool:
        """Whether a predicate is false of unnamed individuals: it is closed, and no rule may make it true of them."""
        table = self.atoms.tables.get(name)
        closed = self.program.predicates[name].closed
        return closed and (table is None or not table.unnamed_differs)

    def members(self, sort: str) -> list[str]:
        """The entities of a sort."""
        if sort not in self._members:
            ids = self.domain.sorts.get(sort)
            self._members[sort] = [] if ids is None else self._names.at(ids, len(ids))
        return self._members[sort]

    def count(self, sort: str) -> int:
        """The number of entities of a sort."""
        return len(self.domain.sorts.get(sort, ()))

    def false_by_default(self, name: str) -> bool:
        """Whether atoms without a row are false."""
        return self.atoms.tables[name].default == (0.0, 0.0)

    def false_by_closure(self, key: GroundAtom) -> bool:
        """Whether an atom is false by the closed-world assumption: no fact lists it, and no rule makes it true."""
        if not self.program.predicates[key[0]].closed or self.box(key) != (0.0, 0.0):
            return False
        return self.lacks(key) or not self._given(key)

    def rows(self, name: str, fixed: Mapping[int, str], end: int) -> Iterator[tuple[str, ...]]:
        """The entities of atoms with a row whose lower (0) or upper (1) ``end`` is above 0, with some arguments
        ``fixed``; not of a proposition."""
        table = self.atoms.tables[name]
        columns = table.tuples.columns
        index = self.domain.index
        if any(text not in index for text in fixed.values()):
            return
        local = self._matching(name, columns, {place: index[text] for place, text in fixed.items()})
        picked = local[table.take(end, local) > 0]
        yield from zip(*[self.names_of(column.take(picked)) for column in columns], strict=True)

    def settled(self, key: GroundAtom) -> bool:
        """Whether the two ends of a truth are equal."""
        low, high = self.box(key)
        return abs(high - low) <= _NOISE

    # --- columns ----------------------------------------------------------------------------------------------------

    def true_in_all(self, name: str, columns: Sequence[np.ndarray], length: int) -> np.ndarray:
        """(length,) 1 where the atoms about these ids are true to some degree in every world, else 0."""
        if not columns:
            return np.full(length, float(self.box((name, ()))[0] > 0))
        table = self.atoms.tables[name]
        rows = table.tuples.find([column.astype(np.int32, copy=False) for column in columns], length)
        return (table.take(0, rows) > _NOISE).astype(float)

    def is_settled(self, name: str) -> bool:
        """Whether the two ends of all atoms of a predicate, or values of a number, are equal."""
        table = self.atoms.tables.get(name)
        if table is None or table.default[0] != table.default[1] or table.unnamed_differs:
            return False
        if not table.sorts:
            return self.settled((name, ()))
        lower, upper = table.bounds
        return bool((upper - lower <= _NOISE).all())

    def names_of(self, ids: np.ndarray) -> list[str]:
        """The entities with these ids."""
        return self._names.at(ids, len(ids))

    @cached_property
    def arrested(self) -> Mapping[str, frozenset[int]]:
        """By predicate the rows of arrested atoms."""
        return {table.name: frozenset(table.crossed.rows.values.tolist()) for table in self._crossed}

    def _matching(self, name: str, columns: Sequence[np.ndarray], fixed: Mapping[int, int]) -> np.ndarray:
        """The indices of the tuples with these ids at these argument positions."""
        if not fixed:
            return np.arange(len(columns[0]), dtype=np.int32)
        first, *others = fixed
        ordered = self._orders.get((name, first))
        if ordered is None or len(ordered[0]) != len(columns[0]):
            order = np.argsort(columns[first], kind="stable").astype(np.int32)
            ordered = self._orders[name, first] = order, columns[first].take(order)
        low, high = np.searchsorted(ordered[1], np.array((fixed[first], fixed[first] + 1), ordered[1].dtype))
        local = ordered[0][low:high]
        for place in others:
            local = local[columns[place].take(local) == fixed[place]]
        return local

    def _row(self, key: GroundAtom) -> int:
        table = self.atoms.tables[key[0]]
        columns = [np.array([self.domain.index[text]], np.int32) for text in key[1]]
        return int(table.tuples.find(columns, 1)[0])

    def _given(self, key: GroundAtom) -> bool:
        return bool(self.atoms.tables[key[0]].flags("given").take(np.array([self._row(key)]))[0])

    def _read(self, key: GroundAtom) -> Box:
        predicate = self.program.predicates[key[0]]
        if self.lacks(key) or key[0] not in self.atoms.tables:
            if predicate.numeric:
                return -math.inf, math.inf
            return (0.0, 0.0) if predicate.closed else (0.0, 1.0)
        row = self._row(key)
        low, high = (float(end[0]) for end in self.atoms.tables[key[0]].read(np.array([row])))
        arrested = row in self.arrested.get(key[0], ())
        if not arrested and not predicate.numeric:
            return low, high
        facts = self.origins.of(*key)
        least, most = (-math.inf, math.inf) if predicate.numeric else (0.0, 1.0)
        least, most = max([least, *(fact.lower for fact in facts)]), min([most, *(fact.upper for fact in facts)])
        if arrested:
            return least, most
        # Derived ends are widened by their rounding error, because the solver computes exactly; an infinite end stays
        wider = [_ROUNDED * max(1.0, abs(end)) for end in (low, high)]
        return low - wider[0] if low != least else low, high + wider[1] if high != most else high
