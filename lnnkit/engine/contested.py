"""Contested bounds: those whose derivation, by chains of last setters, contains an arrested atom or instance.

First every bound with such a chain is flagged. Then its setter is evaluated again with all flagged bounds unknown:
if it still gives the bound, the flag is removed. A cleared bound rests on nothing flagged, not even in a circle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.arrays import any_set, where_set
from lnnkit.engine.bounds_state import State
from lnnkit.engine.response.group_response import reader
from lnnkit.engine.response.respond import leaf_bound, respond
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.engine.workspace import Workspace
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.instances.grounding import Grounding
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.store.atoms import Atoms
from lnnkit.store.columns.row_arrays import Array

Flags = tuple[Array, Array]  # one entry for each atom row, for its lower and its upper side


class _Setter(NamedTuple):
    """``instances`` of a batch that set one side of ``rows`` last, through a leaf."""

    side: int
    rows: Array
    batch: int
    leaf: int
    instances: Array


def contested(space: Workspace) -> Flags:
    """Flags of bounds that depend on an arrested atom or on an arrested instance."""
    grounding, state = space.grounding, space.state
    count = len(grounding.atoms)
    suspect = (np.zeros(count, dtype=bool), np.zeros(count, dtype=bool))
    if not len(state.crossed) and not space.progress.arrested:
        return suspect
    for flags in suspect:
        flags |= state.crossed.flags(count)
    for found in space.progress.arrested:
        batch = grounding.batches[found.batch]
        if batch.formula.auxiliary is not None:  # bounds that are stated are kept
            rows = batch.behind(found.rows, AUXILIARY).astype(np.int64)
            for flags in suspect:
                flags[rows] = True
    bad = {found.batch: space.arrested(found.batch) for found in space.progress.arrested}
    setters = [
        _Setter(side, rows, number, leaf, instances)
        for side in (0, 1)
        for rows, number, leaf, instances in state.trail.setters(side, count).groups()
    ]
    _suspect(grounding, setters, bad, suspect)
    _clear(space, setters, bad, suspect)
    return suspect


def doubted(state: State, flags: Flags, lower: Array | None = None, upper: Array | None = None) -> State:
    """The state in which flagged bounds have the values ``lower`` and ``upper``, by row; unknown by default."""
    result = State(state.dtype)
    for side, other in enumerate((lower, upper)):
        result.ends(side).append(state.ends(side).values.copy())  # a copy, since it is written to here
        rows = where_set(flags[side])
        result.put(side, rows, state.unknown(side, rows) if other is None else other.take(rows), None)
    return result


def defaulted(state: State, flags: Flags, atoms: Atoms) -> State:
    """As `doubted`, with the flagged bounds as near to their default as the other bounds allow. A completed atom is
    false by default, so a value that differs between the two states depends on the contradiction."""
    plain = State(state.dtype)
    plain.extend(atoms)
    count = len(flags[0])
    lower, upper = state.lower.values[:count], state.upper.values[:count]
    low, high = (state.unknown(side, np.arange(count)) for side in (0, 1))
    return doubted(
        state,
        flags,
        np.minimum(plain.lower.values[:count], np.where(flags[1], high, upper)),
        np.maximum(plain.upper.values[:count], np.where(flags[0], low, lower)),
    )


def in_doubt(state: State, flags: Flags, rows: Array, default: tuple[float, float]) -> tuple[Bounds, Bounds]:
    """The bounds of rows that all have one default, in the states that `doubted` and `defaulted` give."""
    lower, upper = state.read(rows)
    least, most = (state.unknown(side, rows) for side in (0, 1))
    loose, wide = (each.take(rows) for each in flags)
    low, high = np.where(loose, least, lower), np.where(wide, most, upper)
    near = np.where(loose, high.clip(None, default[0]), lower), np.where(wide, low.clip(default[1]), upper)
    return Bounds(low, high), Bounds(*near)


def _suspect(grounding: Grounding, setters: Sequence[_Setter], bad: dict[int, Array], suspect: Flags) -> None:
    """Flag every bound that was set by an arrested instance, or by one that reads a flagged bound."""
    for setter in setters:
        if setter.batch in bad:
            hit = bad[setter.batch].take(_tops(grounding, setter))
            suspect[setter.side][setter.rows[hit]] = True
    changed = True
    while changed:
        changed = False
        for setter in setters:
            hit = _reads(grounding, setter, suspect) & ~suspect[setter.side].take(setter.rows)
            if any_set(hit):
                suspect[setter.side][setter.rows[hit]] = True
                changed = True


def _clear(space: Workspace, setters: Sequence[_Setter], bad: dict[int, Array], suspect: Flags) -> None:
    """Remove the flags of bounds that their setters give with all flagged bounds unknown, until none changes. The upper
    end of a completed atom must also be the same with all flagged bounds known."""
    grounding, state = space.grounding, space.state
    crossed = state.crossed.flags(len(grounding.atoms))
    eps = tolerance(state.dtype)
    cleared: Flags | None = None
    while cleared is None or any(any_set(flags) for flags in cleared):
        doubt = doubted(state, suspect)
        sharp = doubted(state, suspect, state.upper.values, state.lower.values)
        both = suspect[0] & suspect[1]
        fresh = (np.zeros_like(crossed), np.zeros_like(crossed))
        for setter in setters:
            open_ = suspect[setter.side].take(setter.rows) & ~crossed.take(setter.rows)
            if setter.batch in bad:
                open_ &= ~bad[setter.batch].take(_tops(grounding, setter))
            if cleared is not None:
                open_ &= _reads(grounding, setter, cleared)
            some = where_set(open_)
            if not len(some):
                continue
            rows, instances = setter.rows.take(some), setter.instances.take(some)
            looked = _Setter(setter.side, rows, setter.batch, setter.leaf, instances)
            found = _again(space, looked, doubt)
            if setter.side == 0:
                stands = found >= state.lower.values.take(rows) - eps
            else:
                own = state.upper.values.take(rows)
                stands = found <= own + eps
                if setter.leaf in grounding.batches[setter.batch].formula.heads:  # more information could lower it
                    stands &= _again(space, looked, sharp) >= own - eps
                    stands &= ~_reads(grounding, looked, (both, both))
            fresh[setter.side][rows[stands]] = True
        for flags, fewer in zip(suspect, fresh, strict=True):
            flags &= ~fewer
        cleared = fresh


def _again(space: Workspace, setter: _Setter, doubt: State) -> Array:
    """The bound that each instance of a setter gives its atom where bounds read as in ``doubt``."""
    grounding = space.grounding
    batch = grounding.batches[setter.batch]
    formula = batch.formula
    if formula.prenex_of is not None:
        return _by_any_row(space, setter, doubt)
    block = formula.block_of(setter.leaf)
    view, _, _, own = grounding.rebuilt(setter.batch, block, setter.instances)
    numeric = setter.leaf != AUXILIARY and formula.neurons[setter.leaf].numeric
    unknown = (-math.inf, math.inf)[setter.side] if numeric else float(setter.side)
    given = np.full((view.length(block),), unknown, dtype=doubt.dtype)
    if setter.leaf in formula.heads:  # a completed atom
        read = reader(view, doubt, grounding.atoms)
        given[:] = leaf_bound(formula, read, view.groupings, setter.leaf, setter.side, completes=True)
    else:
        found = respond(batch, reader(view, doubt, grounding.atoms), view.groupings)
        if (setter.leaf, setter.side) in found.proposed:
            news, value = found.proposed[setter.leaf, setter.side]
            bad = found.bad & (setter.leaf not in batch.observed or setter.leaf != formula.head[0])
            told = news & ~view.silenced(block, bad)
            given[told] = value[told]
    return given.take(own)


def _by_any_row(space: Workspace, setter: _Setter, doubt: State) -> Array:
    """The same for a prenex formula, whose instances are rows of quantifiers: what any of their rows gives the atom."""
    batch, atoms = space.grounding.batches[setter.batch], space.grounding.atoms
    falls = setter.side == 1 and not batch.completes
    given, meet = np.full(len(atoms), float(falls), dtype=doubt.dtype), np.minimum if falls else np.maximum
    for member in batch.members:
        response = space.responses[member]
        for found in response.rule.whole():
            instances = RuleInstances(batch, member, response.rule, found, atoms, space.encoded)
            read = instances.reader(0, found.length, doubt)
            silent = response.arrests.flags(found, instances.rows)
            if batch.completes:
                value = leaf_bound(batch.formula, read, (None,), setter.leaf, setter.side, completes=True)
            else:
                said = respond(batch, read, (None,))
                news, value = said.proposed[setter.leaf, setter.side]
                silent = silent | said.bad | ~news
            meet.at(given, instances.rows(setter.leaf)[~silent], value[~silent])
    return given.take(setter.rows)


def _tops(grounding: Grounding, setter: _Setter) -> Array:
    """The rows of block 0 that a setter's instances belong to."""
    batch = grounding.batches[setter.batch]
    return batch.tops(batch.formula.block_of(setter.leaf), setter.instances)


def _reads(grounding: Grounding, setter: _Setter, flags: Flags) -> Array:
    """Which of a setter's instances read a flagged bound."""
    block = grounding.batches[setter.batch].formula.block_of(setter.leaf)
    view, tops, which, _ = grounding.rebuilt(setter.batch, block, setter.instances)
    hit = np.zeros(len(tops), dtype=bool)
    for other, ends in grounding.reads(setter.batch, setter.leaf, setter.side):
        tainted = np.zeros(len(view.rows[other]), dtype=bool)
        for end in ends:
            tainted |= flags[end].take(view.rows[other])
        hit[view.tops(view.formula.block_of(other))[tainted]] = True
    return hit.take(which)
