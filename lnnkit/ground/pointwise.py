"""Needs whose literals all have the formula's variables for arguments: found together, without a join.

An assignment is a tuple that the tables have, so those are compared in one order: that of the tables, where all have
the same tuples, or that of the entities, for one variable. A table's list is a column of flags there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from lnnkit.ground import joining
from lnnkit.ground.bindings import Bindings
from lnnkit.ground.joining import Joins, Path, true
from lnnkit.ground.needs import Literal
from lnnkit.ground.pattern import Pattern
from lnnkit.ground.triggers import Literals


def at_once(joins: Joins, needs: Sequence[Literals]) -> Iterator[Bindings] | None:
    """What all needs find, each assignment once; None where they must be joined one by one."""
    literals = list(dict.fromkeys(each for need in needs for each in need))
    variables = joins.formula.blocks[0].variables
    if not variables and needs:
        return iter([Bindings(1, {}, {})])
    if len(literals) < 2 or not all(needs):
        return None
    if any(each.arguments != literals[0].arguments or set(each.arguments) != set(variables) for each in literals):
        return None
    own = [joins.pattern((each.table, each.arguments)) for each in literals]
    if not all(pattern.plain for pattern in own):
        return None
    columns = own[0].table.tuples.columns
    if all(
        len(pattern.table.tuples) == len(own[0].table.tuples)
        and all(map(torch.equal, pattern.table.tuples.columns, columns))
        for pattern in own
    ):
        return _aligned(joins, needs, own[0], literals)
    return _of_one_variable(joins, needs, literals) if len(variables) == 1 else None


def _of_one_variable(joins: Joins, needs: Sequence[Literals], literals: Sequence[Literal]) -> Iterator[Bindings]:
    """The entities that all literals of any need list."""
    flags: dict[Literal, Tensor] = {}
    for each in literals:
        (ids,) = joins.atoms.tables[each.table].tuples.columns
        there = torch.zeros(joins.radix, dtype=torch.bool)
        flags[each] = there.index_fill_(0, ids.index_select(0, joins.listing(each)).long(), True)
    ids = true(_any_need(joins, needs, flags)).int()
    joins.counted(Path(0), ids.numel())
    (variable,) = joins.formula.blocks[0].variables
    for start in range(0, ids.numel(), joining.CHUNK):
        part = ids[start : start + joining.CHUNK]
        yield Bindings(part.numel(), {variable: part}, {})


def _any_need(joins: Joins, needs: Sequence[Literals], flags: Mapping[Literal, Tensor]) -> Tensor:
    """Where all literals of any need are there."""
    found = torch.zeros_like(next(iter(flags.values())))
    for number, need in enumerate(needs):
        every = flags[need[0]].clone()
        if joins.recorder is not None:
            joins.recorder.begin(joins.member, number, {})
            joins.recorder.stepped(need[:1], joins.size(need[0]), int(every.sum()))
        for place, each in enumerate(need[1:], 2):
            every &= flags[each]
            if joins.recorder is not None:
                joins.recorder.stepped(need[:place], joins.size(each), int(every.sum()))
        found |= every
    return found


def _aligned(joins: Joins, needs: Sequence[Literals], own: Pattern, literals: Sequence[Literal]) -> Iterator[Bindings]:
    flags = {
        each: joins.atoms.flags(each.column).index_select(0, joins.atoms.tables[each.table].rows) for each in literals
    }
    rows = true(_any_need(joins, needs, flags)).int()
    joins.counted(Path(0), rows.numel())
    atoms = {(each.table, each.arguments) for each in literals}
    listed = frozenset(a for a in atoms if all(a in {(e.table, e.arguments) for e in need} for need in needs))
    for start in range(0, rows.numel(), joining.CHUNK):
        part = rows[start : start + joining.CHUNK]
        under = joins.matched(own, part)
        columns = {v: under.column(v) for v in own.places}
        yield Bindings(part.numel(), columns, dict.fromkeys(atoms, part), listed=listed)
