"""The joins of `lnnkit.join.literal_join` for few rows, in numpy: the same assignments in the same order.

What is joined onto the rows of a trigger must stand still meanwhile: its indexes are read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.needs import Literal
from lnnkit.join.bindings import Matched
from lnnkit.join.join_index import Segment
from lnnkit.join.literal_join import Joins
from lnnkit.join.pattern import Pattern
from lnnkit.join.triggers import Trigger
from lnnkit.store.columns.arrays import Array


class Unfit(Exception):
    """What is at hand cannot be done a few rows at a time."""


class FewBindings:
    """As `lnnkit.join.bindings.Bindings`: layers, whose columns are made when they are asked for."""

    __slots__ = ("_columns", "_made", "_rows", "_under", "_via", "length", "variables")

    def __init__(
        self,
        length: int,
        columns: Mapping[int, Array],
        rows: tuple[Matched, Array],
        under: FewBindings | None,
        via: Array | None,
        variables: frozenset[int],
    ) -> None:
        self.length = length
        self._columns = columns  # of the table of the atom that was matched last, by variable
        self._rows = rows
        self._under = under
        self._via = via  # where the rest stands in the layer beneath; None: as it stands here
        self._made: dict[int, Array] = {}
        self.variables = variables

    def column(self, variable: int) -> Array:
        """The ids that a bound variable has."""
        found = self._made.get(variable)
        if found is None:
            own = self._columns.get(variable)
            if own is not None:
                found = own.take(self._rows[1]) if self._under is not None else own
            else:
                assert self._under is not None
                found = self._under.column(variable)
                found = found if self._via is None else found.take(self._via)
            self._made[variable] = found
        return found

    def local(self, matched: Matched, at: Array | None) -> Array:
        """The rows of a matched atom, at some positions or at all."""
        if self._rows[0] == matched:
            return self._rows[1] if at is None else self._rows[1].take(at)
        assert self._under is not None
        if self._via is not None:
            at = self._via if at is None else self._via.take(at)
        return self._under.local(matched, at)


@dataclass(slots=True, eq=False)
class _Linked:
    """A literal that shares ``keyed`` variables with what is found."""

    literal: Literal
    pattern: Pattern
    keyed: list[int]
    segments: list[Segment]
    columns: Mapping[int, Array]  # of the variables that it binds


@dataclass(slots=True, eq=False)
class _Step:
    """What is to be done with certain variables bound and certain literals left."""

    filters: list[Literal]
    linked: list[_Linked]
    rest: tuple[Literal, ...]


@dataclass
class FewJoins:
    """Joins the rest of a trigger's need onto rows of its table. ``columns`` are a table's."""

    joins: Joins
    trigger: Trigger
    _steps: dict[tuple[frozenset[int], tuple[Literal, ...]], _Step] = field(default_factory=dict)

    def matched(self, columns: Sequence[Array], local: Array) -> FewBindings:
        """The trigger's rows, given their columns, that fit."""
        own = self.trigger.pattern
        keep: Array | None = None
        if not own.plain:
            parts = [columns[place] == entity for place, entity in own.constants]
            parts += [columns[one] == columns[other] for one, other in own.repeats]
            parts += [inside.take(columns[place]) for place, inside in own.sorted_]
            keep = np.flatnonzero(np.logical_and.reduce(parts))
            local = local.take(keep)
        bound = {v: columns[place] if keep is None else columns[place].take(keep) for v, place in own.places.items()}
        atom = (own.table.name, own.arguments)
        return FewBindings(len(local), bound, (atom, local), None, None, frozenset(own.places))

    def found(self, under: FewBindings, counted: Callable[[int, bool], None], most: int) -> Iterator[FewBindings]:
        """All assignments. ``counted`` is told how many there will be, and whether they are instances. Raises `Unfit`
        where there are more than ``most``."""
        return self._joined(under, self.trigger.rest, counted, most)

    def _joined(
        self, found: FewBindings, rest: tuple[Literal, ...], counted: Callable[[int, bool], None], most: int
    ) -> Iterator[FewBindings]:
        step = self._step(found.variables, rest)
        for each in step.filters:
            if found.length:
                found = self._with(found, each)
        if not found.length:
            return
        if not step.rest:
            counted(found.length, True)
            yield found
            return
        hits = []
        totals = []
        for each in step.linked:
            key = self._key([found.column(v) for v in each.keyed])
            own = [segment.find(key) for segment in each.segments]
            hits.append(own)
            totals.append(sum(each.total for each in own))
        total = min(totals)
        choice = totals.index(total)
        best = step.linked[choice]
        others = () if len(step.rest) == 1 else tuple(e for e in step.rest if e != best.literal)
        counted(total, not others)
        if total > most:
            raise Unfit
        atom = (best.literal.table, best.literal.arguments)
        variables = found.variables.union(best.columns)
        for hit in hits[choice]:
            if hit.total:
                left, rows = hit.expand()
                part = FewBindings(hit.total, best.columns, (atom, rows), found, left, variables)
                yield from self._joined(part, others, counted, most)

    def _step(self, bound: frozenset[int], rest: tuple[Literal, ...]) -> _Step:
        step = self._steps.get((bound, rest))
        if step is None:
            patterns = {each: self.joins.pattern((each.table, each.arguments)) for each in rest}
            filters = [each for each in rest if bound >= patterns[each].places.keys()]
            left = tuple(each for each in rest if each not in filters)
            linked = [
                self._linked(each, patterns[each], bound) for each in left if bound & patterns[each].places.keys()
            ]
            if left and not linked:
                raise Unfit
            step = self._steps[bound, rest] = _Step(filters, linked, left)
        return step

    def _linked(self, literal: Literal, own: Pattern, bound: frozenset[int]) -> _Linked:
        keyed, index = self.joins.index(bound, literal)
        if len(keyed) < len(bound & own.places.keys()):
            raise Unfit
        columns = own.table.tuples.columns
        bind = {v: columns[place] for v, place in own.places.items() if v not in bound}
        return _Linked(literal, own, keyed, index.segments(), bind)

    def _key(self, columns: Sequence[Array]) -> Array:
        key = columns[0]
        for column in columns[1:]:
            key = key.astype(np.int64) * max(self.joins.radix, 2) + column
        return key

    def _with(self, found: FewBindings, literal: Literal) -> FewBindings:
        """Those assignments for which a literal, all bound, is there."""
        atom = (literal.table, literal.arguments)
        own = self.joins.pattern(atom)
        columns = own.tuples(found.column, found.length)
        number = own.table.tuples.find(columns, found.length)
        there = np.flatnonzero(number >= 0)
        number = number.take(there)
        flags = self.joins.atoms.flags(literal.column).take(own.table.row(number))
        number, there = number[flags], there[flags]
        via = None if len(there) == found.length else there
        return FewBindings(len(there), {}, (atom, number), found, via, found.variables)
