"""One sweep over a batch: instances whose atoms moved go up, meet what they are given, and go down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.batch import Batch
from lnnkit.ground.evaluate import Grouping, downward, upward
from lnnkit.ground.formula import LEAF
from lnnkit.ground.relevance import ALL, LISTED
from lnnkit.ground.supports import AUXILIARY
from lnnkit.infer.state import NOISE, Messages, State
from lnnkit.logic.bounds import Bounds, enter, tolerance


@dataclass(frozen=True, slots=True)
class Swept:
    """What a batch sends, and the rows of block 0 that it had to arrest, with the bounds their roots had."""

    lower: list[Messages]
    upper: list[Messages]
    arrested: Tensor
    roots: Bounds
    count: int


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


def moved(batch: Batch, dirty: Tensor) -> View | None:
    """The rows that are new or have an atom in ``dirty``; None where there is none. A batch with inner blocks is
    looked at as a whole."""
    if len(batch.blocks) > 1:
        touched = batch.touched or batch.swept < len(batch.blocks[0])
        for block in batch.blocks:
            for index, column in block.columns.items():
                if touched:
                    break
                if index not in batch.observed:
                    touched = bool(dirty.index_select(0, column.values).any())
        batch.touched, batch.swept = False, len(batch.blocks[0])
        return whole(batch) if touched else None
    (block,) = batch.blocks
    if not len(block):
        return None
    hit = torch.zeros(len(block), dtype=torch.bool)
    hit[batch.swept :] = True
    for index, column in block.columns.items():
        if index not in batch.observed:
            hit[: batch.swept] |= dirty.index_select(0, column.values[: batch.swept])
    hit &= ~batch.arrested.values
    batch.swept = len(block)
    rows = hit.nonzero().squeeze(1)
    return View(batch, (rows,), (None,)) if len(rows) else None


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


def sweep(number: int, view: View, state: State, atoms: Atoms) -> Swept:
    """Up, meet, down. Nothing is written: messages are returned, for the round to meet them all at once."""
    batch, formula = view.batch, view.batch.formula
    read = reader(view, state, atoms)
    values = upward(formula, read, view.groupings)
    up = values[formula.top]
    if formula.auxiliary is None:
        given = Bounds(torch.full_like(up.lower, formula.lower), torch.full_like(up.upper, formula.upper))
    else:
        given = enter(state.read(view.column(AUXILIARY)))
    eps = tolerance(state.dtype)
    lower, upper = torch.maximum(up.lower, given.lower), torch.minimum(up.upper, given.upper)
    crossed = lower > upper + eps
    root = Bounds(torch.minimum(lower, upper), torch.maximum(lower, upper))
    safe = Bounds(torch.where(crossed, up.lower, root.lower), torch.where(crossed, up.upper, root.upper))
    boxes, empty = downward(formula, values, safe, view.groupings)
    bad = crossed | empty
    numbers = view.rows[0]
    before = batch.arrested.values if numbers is None else batch.arrested.values.index_select(0, numbers)
    silent = bad | before
    fresh = (bad & ~before).nonzero().squeeze(1)
    outcome = Swept(
        [],
        [],
        fresh if numbers is None else numbers.index_select(0, fresh),
        Bounds(lower.index_select(0, fresh), upper.index_select(0, fresh)),
        len(up.lower),
    )
    if AUXILIARY in batch.targets:
        _send(number, outcome, view, state, atoms, AUXILIARY, safe, silent, batch.modes[AUXILIARY])
    for leaf in batch.targets:
        if leaf != AUXILIARY:
            _send(number, outcome, view, state, atoms, leaf, boxes[leaf], silent, batch.modes[leaf])
    for neuron in batch.observed:
        if formula.neurons[neuron].kind != LEAF:
            _send(number, outcome, view, state, atoms, neuron, boxes[neuron], silent, (ALL, ALL))
    return outcome


def _send(
    number: int,
    outcome: Swept,
    view: View,
    state: State,
    atoms: Atoms,
    leaf: int,
    box: Bounds,
    silent: Tensor,
    modes: tuple[int, int],
) -> None:
    """Queue what ``box`` has that the atoms behind ``leaf`` do not know yet, on the sides that are kept."""
    block = 0 if leaf == AUXILIARY else view.batch.formula.neurons[leaf].block
    rows = view.column(leaf)
    own = state.read(rows)
    deaf = state.frozen.values.index_select(0, rows)
    grouping = view.groupings[block]
    if grouping is not None:
        deaf = deaf | grouping.virtual | silent.index_select(0, grouping.outermost)
    else:
        deaf = deaf | silent
    for mode, news, value, queue in (
        (modes[0], box.lower > own.lower + NOISE, box.lower, outcome.lower),
        (modes[1], box.upper < own.upper - NOISE, box.upper, outcome.upper),
    ):
        if not mode:
            continue
        news = news & ~deaf
        if mode == LISTED:
            news = news & atoms.flags["listed"].values.index_select(0, rows)
        picked = news.nonzero().squeeze(1)
        if len(picked):
            row_numbers = view.rows[block]
            instance = picked if row_numbers is None else row_numbers.index_select(0, picked)
            queue.append(Messages(rows.index_select(0, picked), value.index_select(0, picked), instance, number, leaf))
