"""One sweep over a batch: instances whose atoms moved go up, meet what they are given, and go down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.batch import Batch
from lnnkit.ground.evaluate import Grouping, downward, upward
from lnnkit.ground.formula import AUXILIARY
from lnnkit.ground.relevance import ALL, LISTED
from lnnkit.infer.classes import Classes
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.state import Messages, State
from lnnkit.logic.bounds import Bounds, enter, ordered, tolerance


@dataclass(frozen=True, slots=True)
class Swept:
    """What a batch sends, and the rows of block 0 that it had to arrest, with the bounds their roots had."""

    lower: list[Messages]
    upper: list[Messages]
    arrested: Tensor
    roots: Bounds


@dataclass(frozen=True, slots=True)
class View:
    """The rows of a batch that are looked at: ``rows[b]`` numbers those of block b (None: all of them)."""

    batch: Batch
    rows: tuple[Tensor | None, ...]
    groupings: tuple[Grouping | None, ...]

    def column(self, index: int) -> Tensor:
        """The atom rows of a leaf, constant or observed neuron."""
        block = 0 if index == AUXILIARY else self.batch.formula.neurons[index].block
        column = self.batch.blocks[block].columns[index].values
        rows = self.rows[block]
        return column if rows is None else column.index_select(0, rows)

    def length(self, block: int) -> int:
        rows = self.rows[block]
        return len(self.batch.blocks[block]) if rows is None else len(rows)


def whole(batch: Batch) -> View:
    """Every row that is alive."""
    groupings, rows = batch.groupings()
    return View(batch, tuple(rows), tuple(groupings))


def moved(batch: Batch, dirty: Dirty) -> View | None:
    """The rows that are new or have an atom that moved on a side they read; None where there is none. A batch with
    inner blocks is looked at as a whole."""
    root, *inner = batch.blocks
    if inner:
        touched = batch.touched or batch.swept < len(root)
        for block in batch.blocks:
            for index, column in block.columns.items():
                if not touched:
                    touched = any(bool(flags.any()) for flags in _moves(batch, index, column.values, dirty))
        batch.touched, batch.swept = False, len(root)
        return whole(batch) if touched else None
    length, swept = len(root), batch.swept
    if not length:
        return None
    hit = torch.zeros(swept, dtype=torch.bool)
    for index, column in root.columns.items():
        for flags in _moves(batch, index, column.values[:swept], dirty):
            hit |= flags
    batch.swept = length
    rows = (hit & ~batch.arrested.values[:swept]).nonzero().squeeze(1)
    if swept < length:
        new = torch.arange(swept, length)
        rows = torch.cat([rows, new]) if len(rows) else new
    return View(batch, (rows,), (None,)) if len(rows) else None


def _moves(batch: Batch, index: int, column: Tensor, dirty: Dirty) -> Iterator[Tensor]:
    """For the sides of a leaf that matter: which rows have an atom that moved there."""
    for matters, flags in zip(batch.reads.get(index, (False, False)), dirty.flags, strict=True):
        if matters and len(column):
            yield flags.values.index_select(0, column)


def reader(view: View, state: State, atoms: Atoms) -> Callable[[int], Bounds]:
    """Reads the leaves of a view: bounds on entry, and a head that a defining statement may not read as unknown."""
    formula = view.batch.formula

    def read(index: int) -> Bounds:
        neuron = formula.neurons[index]
        if neuron.kind in ("true", "false"):
            value = torch.full((view.length(neuron.block),), float(neuron.kind == "true"), dtype=state.dtype)
            return Bounds(value, value)
        rows = view.column(index)
        bounds = enter(state.read(rows))
        if index in formula.heads:
            given = atoms.flags["given"].values.index_select(0, rows)
            return Bounds(torch.where(given, bounds.lower, 0.0), torch.where(given, bounds.upper, 1.0))
        return bounds

    return read


def sweep(number: int, view: View, state: State, atoms: Atoms, classes: Classes) -> Swept:
    """Up, meet, down. Nothing is written: messages are returned, for the round to meet them all at once."""
    batch, formula = view.batch, view.batch.formula
    looked, alike = _condensed(view, classes)
    values = upward(formula, reader(looked, state, atoms), looked.groupings)
    up = values[formula.top]
    if formula.auxiliary is None:
        given = Bounds(torch.full_like(up.lower, formula.lower), torch.full_like(up.upper, formula.upper))
    else:
        given = enter(state.read(looked.column(AUXILIARY)))
    lower, upper = torch.maximum(up.lower, given.lower), torch.minimum(up.upper, given.upper)
    crossed = lower > upper + tolerance(state.dtype)
    root = ordered(lower, upper)
    safe = Bounds(torch.where(crossed, up.lower, root.lower), torch.where(crossed, up.upper, root.upper))
    boxes, empty = downward(formula, values, safe, looked.groupings)
    bad = crossed | empty
    numbers = view.rows[0]
    before = batch.arrested.values if numbers is None else batch.arrested.values.index_select(0, numbers)
    told = _told(bad, alike)
    fresh = (told & ~before).nonzero().squeeze(1)
    at = fresh if alike is None else alike.index_select(0, fresh)
    outcome = Swept(
        [],
        [],
        fresh if numbers is None else numbers.index_select(0, fresh),
        Bounds(lower.index_select(0, at), upper.index_select(0, at)),
    )
    silent = told | before
    for leaf in batch.targets:
        box = safe if leaf == AUXILIARY else boxes[leaf]
        _send(number, outcome, (view, looked, alike), state, atoms, leaf, box, silent, batch.modes[leaf])
    for neuron in batch.observed:  # what is said of it from above, beyond what its operands make it
        low, high = boxes[neuron].lower, boxes[neuron].upper
        said = Bounds(
            torch.where(low > values[neuron].lower + state.noise, low, 0.0),
            torch.where(high < values[neuron].upper - state.noise, high, 1.0),
        )
        _send(number, outcome, (view, looked, alike), state, atoms, neuron, said, silent, (ALL, ALL))
    return outcome


def _condensed(view: View, classes: Classes) -> tuple[View, Tensor | None]:
    """A view of representatives, and each row's representative; or the view itself."""
    batch = view.batch
    root, *inner = batch.blocks
    if inner or batch.formula.heads or batch.observed:
        return view, None
    found = classes.condense([view.column(index) for index in root.columns])
    if found is None:
        return view, None
    representatives, alike = found
    rows = view.rows[0]
    picked = representatives if rows is None else rows.index_select(0, representatives)
    return View(batch, (picked,), (None,)), alike


def _told(flags: Tensor, alike: Tensor | None) -> Tensor:
    """Flags of representatives, for all rows."""
    return flags if alike is None else flags.index_select(0, alike)


def _send(
    number: int,
    outcome: Swept,
    views: tuple[View, View, Tensor | None],
    state: State,
    atoms: Atoms,
    leaf: int,
    box: Bounds,
    silent: Tensor,
    modes: tuple[int, int],
) -> None:
    """Queue what ``box`` has that the atoms behind ``leaf`` do not know yet, on the sides that are kept."""
    view, looked, alike = views
    block = 0 if leaf == AUXILIARY else view.batch.formula.neurons[leaf].block
    own = state.read(looked.column(leaf))
    rows = view.column(leaf)
    grouping = view.groupings[block]
    deaf = silent if grouping is None else grouping.virtual | silent.index_select(0, grouping.outermost)
    for mode, news, value, queue in (
        (modes[0], box.lower > own.lower + state.noise, box.lower, outcome.lower),
        (modes[1], box.upper < own.upper - state.noise, box.upper, outcome.upper),
    ):
        if not mode or not bool(news.any()):
            continue
        picked = (_told(news, alike) & ~deaf).nonzero().squeeze(1)
        row = rows.index_select(0, picked)
        hears = ~state.frozen.values.index_select(0, row)
        if mode == LISTED:
            hears = hears & atoms.flags["listed"].values.index_select(0, row)
        if not bool(hears.all()):
            picked, row = picked[hears], row[hears]
        if len(picked):
            at = picked if alike is None else alike.index_select(0, picked)
            own_rows = view.rows[block]
            instance = picked if own_rows is None else own_rows.index_select(0, picked)
            queue.append(Messages(row, value.index_select(0, at), instance, number, leaf))
