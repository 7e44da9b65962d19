"""Needs whose literals all have exactly the formula's variables as arguments: evaluated as set operations, without
a join.

Assignments are tuples of the tables, so these are aligned to the order of the largest table, if the others have the
same tuples or a subset. A table's list then is a column of flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.needs import Literal
from lnnkit.join import literal_join as joining
from lnnkit.join.bindings import NOTHING, Bindings, Known, Matched
from lnnkit.join.literal_join import Joins, Path
from lnnkit.join.triggers import Literals
from lnnkit.store.atoms import AtomTable
from lnnkit.store.columns.row_arrays import Array, alike

_PART = 4  # chunks: where tables are aligned, assignments take no memory of their own


def at_once(joins: Joins, needs: Sequence[Literals]) -> Iterator[Bindings] | None:
    """The assignments of all needs, without repetition; None where the needs must be joined one by one."""
    literals = list(dict.fromkeys(each for need in needs for each in need))
    variables = joins.formula.blocks[0].variables
    if not variables and needs:
        return iter([Bindings(1, NOTHING)])
    if not literals or not all(needs):
        return None
    if any(each.arguments != literals[0].arguments or set(each.arguments) != set(variables) for each in literals):
        return None
    if not all(joins.pattern((each.table, each.arguments)).plain for each in literals):
        return None
    places = _places([joins.atoms.tables[each.table] for each in literals])
    return None if places is None else _aligned(joins, needs, literals, places)


class _Places(NamedTuple):
    """The positions of the tables' tuples in the largest table, the ``base``; tables with the same tuples have no
    entry."""

    base: AtomTable
    among: Mapping[str, Array]


def _places(tables: Sequence[AtomTable]) -> _Places | None:
    """None if a table has tuples that the largest one lacks."""
    base = max(tables, key=lambda table: len(table.tuples))
    among: dict[str, Array] = {}
    for table in tables:
        count = len(table.tuples)
        if table.name in among or (
            count == len(base.tuples) and all(map(alike, table.tuples.columns, base.tuples.columns))
        ):
            continue
        place = base.tuples.find(table.tuples.columns, count)
        if count and int(place.min()) < 0:
            return None
        among[table.name] = place
    return _Places(base, among)


def _any_need(joins: Joins, needs: Sequence[Literals], flags: Mapping[Literal, Array]) -> Array:
    """Flags of where all literals of some need are satisfied."""
    found = np.zeros_like(next(iter(flags.values())))
    for number, need in enumerate(needs):
        if not all(joins.size(each) for each in need):
            continue
        every = flags[need[0]].copy()
        if joins.recorder is not None:
            joins.recorder.begin(joins.member, number, {})
            joins.recorder.stepped(need[:1], joins.size(need[0]), int(every.sum()))
        for place, each in enumerate(need[1:], 2):
            every &= flags[each]
            if joins.recorder is not None:
                joins.recorder.stepped(need[:place], joins.size(each), int(every.sum()))
        found |= every
    return found


def _aligned(
    joins: Joins, needs: Sequence[Literals], literals: Sequence[Literal], places: _Places
) -> Iterator[Bindings]:
    """The tuples of the largest table that any need lists."""
    found = _any_need(joins, needs, {each: _flags(joins, each, places) for each in literals})
    joins.counted(Path(0), int(found.sum()))
    arguments = literals[0].arguments
    atoms: set[Matched] = {(each.table, arguments) for each in literals}
    matched = frozenset(atom for atom in atoms if atom[0] not in places.among)
    listed = frozenset(a for a in matched if all(a in {(e.table, e.arguments) for e in need} for need in needs))
    columns = places.base.tuples.columns
    variables = {int(argument): place for place, argument in enumerate(arguments)}
    known = Known(frozenset(variables), matched, listed)
    for rows in _parts(found):
        yield Bindings(len(rows), known, None, variables, columns, rows, matched)


def _flags(joins: Joins, literal: Literal, places: _Places) -> Array:
    """Flags of the tuples of the base that satisfy a literal."""
    table = joins.atoms.tables[literal.table]
    place = places.among.get(table.name)
    if place is not None:
        there = np.zeros(len(places.base.tuples), dtype=bool)
        there[place.take(joins.listing(literal))] = True
        return there
    run, flags = table.run, joins.atoms.flags(literal.column)
    return flags.take(table.rows) if run is None else flags[run.start : run.stop]


def _parts(flags: Array) -> Iterator[Array | range]:
    """The positions of set flags, a part at a time."""
    part = _PART * joining.CHUNK
    if flags.all():
        count = len(flags)
        yield from (range(start, min(start + part, count)) for start in range(0, count, part))
        return
    rows = np.flatnonzero(flags).astype(np.int32)
    yield from (rows[start : start + part] for start in range(0, len(rows), part))
