"""One sweep over a batch of kept instances: those whose atoms moved are evaluated upward, met with given bounds, and
evaluated downward."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.relevance import ALL, LISTED
from lnnkit.arrays import all_set, any_set, where_set
from lnnkit.engine.bounds_state import State
from lnnkit.engine.merge import Inbox, Proposals
from lnnkit.engine.response.respond import Read, Response, Target, constant
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import UNKNOWN, Atoms
from lnnkit.store.columns.growing import Growing
from lnnkit.store.columns.row_arrays import Array


class Dirty:
    """Flags of the atom rows whose lower and upper ends moved in the last round. Marking clears the previous marks."""

    def __init__(self) -> None:
        self.flags = (Growing(np.bool_), Growing(np.bool_))
        self._marked = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))

    def extend(self, length: int) -> None:
        """Have a flag for each of ``length`` rows."""
        for flags in self.flags:
            flags.append(np.zeros(length - len(flags), dtype=bool))

    def mark(self, lower: Array, upper: Array) -> None:
        for flags, old, new in zip(self.flags, self._marked, (lower, upper), strict=True):
            flags.values[old] = False
            flags.values[new] = True
        self._marked = (lower, upper)


class View(NamedTuple):
    """The rows of a batch that are evaluated: ``rows[b]`` numbers those of block b (None: all of them)."""

    batch: RuleShape
    rows: tuple[Array | None, ...]
    groupings: tuple[Grouping | None, ...]

    def column(self, index: int) -> Array:
        """The atom rows of a leaf, constant or observed neuron."""
        block = 0 if index == AUXILIARY else self.batch.formula.neurons[index].block
        column = self.batch.blocks[block].columns[index].values
        rows = self.rows[block]
        return column if rows is None else column.take(rows)

    def length(self, block: int) -> int:
        rows = self.rows[block]
        return len(self.batch.blocks[block]) if rows is None else len(rows)


def whole(batch: RuleShape) -> View:
    """Every row that is alive."""
    groupings, rows = batch.groupings()
    return View(batch, tuple(rows), tuple(groupings))


def moved(batch: RuleShape, dirty: Dirty) -> View | None:
    """The instances that are new or read an atom that moved, or with such rows inside; None if there are none."""
    hit = np.zeros(len(batch.blocks[0]), dtype=bool)
    for number, block in enumerate(batch.blocks):
        flags = np.zeros(len(block), dtype=bool)
        flags[batch.swept[number] :] = True
        batch.swept[number] = len(block)
        for index, column in block.columns.items():
            for moves in _moves(batch, index, column.values, dirty):
                flags |= moves
        if any_set(flags):
            hit |= batch.above(number, flags)
    if not any_set(hit):
        return None
    if all_set(hit):
        return whole(batch)
    groupings, rows = batch.groupings(where_set(hit))
    return View(batch, tuple(rows), tuple(groupings))


def _moves(batch: RuleShape, index: int, column: Array, dirty: Dirty) -> Iterator[Array]:
    """For the sides of a leaf that matter: which rows have an atom that moved there."""
    for matters, flags in zip(batch.reads.get(index, (False, False)), dirty.flags, strict=True):
        if matters and len(column):
            yield flags.values.take(column)


def reader(view: View, state: State, atoms: Atoms) -> Read:
    """Reads the leaves of a view as they are kept; of a head that a defining statement defines only what is given."""
    formula = view.batch.formula

    def read(index: int) -> Bounds:
        if index != AUXILIARY and formula.neurons[index].fixed:
            return constant(view.batch, index, view.length(formula.neurons[index].block), state.dtype)
        rows = view.column(index)
        if index in formula.heads:
            rows = np.where(atoms.flags("given").take(rows), rows, UNKNOWN)
        return state.read(rows)

    return read


class LeafProposals(NamedTuple):
    """The bounds proposed to atoms through a leaf, ``value`` for ``row``, from the rows of its block at ``places``."""

    places: Array
    row: Array
    value: Array


def silent(view: View) -> Array:
    """Flags of the evaluated rows of block 0 that are arrested."""
    arrested, numbers = view.batch.arrested, view.rows[0]
    return arrested if numbers is None else arrested.take(numbers)


def leaf_proposals(view: View, found: Response, target: Target, state: State, atoms: Atoms) -> LeafProposals | None:
    """The proposals through a leaf that tighten its atoms' bounds, on sides that are kept."""
    batch, (leaf, side) = view.batch, target
    news, value = found.proposed[target]
    still = silent(view)
    if leaf not in batch.observed or leaf != batch.formula.head[0]:
        still = found.bad | still
    for block in batch.formula.path(batch.formula.block_of(leaf))[1:]:
        grouping = view.groupings[block]
        assert grouping is not None
        still = still.take(grouping.group) | grouping.virtual
    places = where_set(news & ~still)
    if not len(places):
        return None
    row = view.column(leaf).take(places)
    hears = ~state.frozen.take(row)
    if (ALL if leaf in batch.observed else batch.modes[leaf][side]) == LISTED:
        hears &= atoms.flags("listed").take(row)
    if not all_set(hears):
        places, row = places[hears], row[hears]
    return LeafProposals(places, row, value.take(places)) if len(places) else None


def propose(number: int, view: View, found: Response, state: State, atoms: Atoms, inbox: Inbox) -> tuple[Array, Bounds]:
    """Queue the proposals that tighten bounds on sides that are kept. Returns the rows of block 0 that are newly
    arrested, with the bounds of their roots."""
    batch, numbers = view.batch, view.rows[0]
    for leaf, side in found.proposed:
        own = leaf_proposals(view, found, (leaf, side), state, atoms)
        if own is None:
            continue
        rows = view.rows[batch.formula.block_of(leaf)]
        instance = own.places if rows is None else rows.take(own.places)
        inbox.sides[side].append(Proposals(own.row, own.value, instance, number, leaf))
    fresh = where_set(found.bad & ~silent(view))
    roots = Bounds(found.root.lower.take(fresh), found.root.upper.take(fresh))
    return fresh if numbers is None else numbers.take(fresh), roots
