"""Contested bounds: those whose derivation, by chains of last setters, contains an arrested atom or instance.

First every bound with such a chain is flagged. Then its setter is evaluated again with all flagged bounds unknown:
if it still gives the bound, the flag is removed. A cleared bound rests on nothing flagged, not even in a circle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lnnkit.arrays import any_set, where_set
from lnnkit.engine.inference_run import Run
from lnnkit.engine.response.respond import Read, constant, leaf_bound, respond
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.instances.assembled import Instances
from lnnkit.join.instances.grounding import Grounding
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.store.relations import UNKNOWN, Relation, RowNumbers
from lnnkit.store.row_arrays import Array


class _Setter(NamedTuple):
    """``instances`` of a shape that set one side of ``rows`` last, through a leaf."""

    side: int
    rows: Array
    shape: int
    leaf: int
    instances: Array


Flags = tuple[Array, Array]  # one entry for each of all rows, for its lower and its upper end


@dataclass(frozen=True)
class Contested:
    """``flags`` of all rows mark the bounds that depend on an arrested atom or on an arrested instance."""

    numbers: RowNumbers
    flags: Flags

    def among(self, table: Relation, rows: Array) -> Flags:
        """The flags of rows of a relation."""
        numbers = self.numbers.of(table, rows)
        return self.flags[0].take(numbers), self.flags[1].take(numbers)

    def marked(self, rows: Iterable[tuple[Relation, Array]]) -> Contested:
        """With some rows of relations flagged too."""
        lower, upper = (flags.copy() for flags in self.flags)
        for table, marked in rows:
            numbers = self.numbers.of(table, marked)
            lower[numbers] = upper[numbers] = True
        return replace(self, flags=(lower, upper))

    def doubted(self) -> Doubted:
        """All bounds, where contested ones are unknown."""
        return Doubted(self, self.numbers.bounds(), self.numbers.ends([table.unknown for table in self.numbers.tables]))


@dataclass(frozen=True)
class Doubted:
    """The ``bounds`` of all rows, where contested ones have the values of ``others``."""

    contested: Contested
    bounds: Bounds
    others: Bounds

    @cached_property
    def given(self) -> Array:
        """Which rows facts give."""
        return self.contested.numbers.flags("given")

    def read(self, table: Relation, rows: Array) -> Bounds:
        """(n,) the bounds of rows of a relation."""
        return self.at(self.contested.numbers.of(table, rows))

    def at(self, rows: Array) -> Bounds:
        """(n,) the bounds of rows among all."""
        sides = zip(self.contested.flags, self.others, self.bounds, strict=True)
        return Bounds(*(np.where(flags.take(rows), other.take(rows), end.take(rows)) for flags, other, end in sides))

    def by_default(self) -> Doubted:
        """The same with contested bounds as near to their default as the others allow. A completed atom is false by
        default, so a value that differs between the two depends on the contradiction."""
        numbers = self.contested.numbers
        low, high = self.at(np.arange(numbers.count))
        default = numbers.ends([table.default for table in numbers.tables])
        return replace(self, others=Bounds(np.minimum(high, default.lower), np.maximum(low, default.upper)))


def contested(run: Run) -> Contested:
    """The bounds that depend on an arrested atom or on an arrested instance."""
    grounding, numbers = run.grounding, RowNumbers(run.grounding.atoms)
    suspect = (np.zeros(numbers.count, dtype=bool), np.zeros(numbers.count, dtype=bool))
    doubtful = Contested(numbers, suspect)
    if not run.state.crossed and not run.progress.arrested:
        return doubtful
    for flags in suspect:
        flags[numbers.crossed] = True
    for arrested in run.progress.arrested:
        shape = grounding.shapes[arrested.shape]
        if shape.formula.auxiliary is not None:  # bounds that are stated are kept
            rows = grounding.among_all(arrested.shape, AUXILIARY, arrested.rows, numbers)
            for flags in suspect:
                flags[rows] = True
    bad = {arrested.shape: run.arrested(arrested.shape) for arrested in run.progress.arrested}
    setters = [
        _Setter(side, rows, number, leaf, instances)
        for side in (0, 1)
        for rows, number, leaf, instances in run.state.trail.setters(side, numbers).groups()
    ]
    _suspect(grounding, setters, bad, doubtful)
    _clear(run, setters, bad, doubtful)
    return doubtful


def _suspect(grounding: Grounding, setters: Sequence[_Setter], bad: dict[int, Array], contested: Contested) -> None:
    """Flag every bound that was set by an arrested instance, or by one that reads a flagged bound."""
    suspect = contested.flags
    for setter in setters:
        if setter.shape in bad:
            hit = bad[setter.shape].take(_tops(grounding, setter))
            suspect[setter.side][setter.rows[hit]] = True
    changed = True
    while changed:
        changed = False
        for setter in setters:
            hit = _reads(grounding, setter, suspect, contested.numbers) & ~suspect[setter.side].take(setter.rows)
            if any_set(hit):
                suspect[setter.side][setter.rows[hit]] = True
                changed = True


def _clear(run: Run, setters: Sequence[_Setter], bad: dict[int, Array], contested: Contested) -> None:
    """Remove the flags of bounds that their setters give with all flagged bounds unknown, until none changes. The upper
    end of a completed atom must also be the same with all flagged bounds known."""
    grounding, suspect, numbers, doubt = run.grounding, contested.flags, contested.numbers, contested.doubted()
    lower, upper = doubt.bounds
    sharp = replace(doubt, others=Bounds(upper, lower))
    crossed = numbers.marked(numbers.crossed)
    eps = tolerance(lower.dtype)
    cleared: Flags | None = None
    while cleared is None or any(any_set(flags) for flags in cleared):
        both = suspect[0] & suspect[1]
        fresh = (np.zeros_like(crossed), np.zeros_like(crossed))
        for setter in setters:
            open_ = suspect[setter.side].take(setter.rows) & ~crossed.take(setter.rows)
            if setter.shape in bad:
                open_ &= ~bad[setter.shape].take(_tops(grounding, setter))
            if cleared is not None:
                open_ &= _reads(grounding, setter, cleared, numbers)
            at = where_set(open_)
            if not len(at):
                continue
            rows, instances = setter.rows.take(at), setter.instances.take(at)
            looked = _Setter(setter.side, rows, setter.shape, setter.leaf, instances)
            derived = _derived(run, looked, doubt)
            if setter.side == 0:
                stands = derived >= lower.take(rows) - eps
            else:
                ends = upper.take(rows)
                stands = derived <= ends + eps
                if setter.leaf in grounding.shapes[setter.shape].formula.heads:  # more information could lower it
                    stands &= _derived(run, looked, sharp) >= ends - eps
                    stands &= ~_reads(grounding, looked, (both, both), numbers)
            fresh[setter.side][rows[stands]] = True
        for flags, fewer in zip(suspect, fresh, strict=True):
            flags &= ~fewer
        cleared = fresh


def _derived(run: Run, setter: _Setter, doubt: Doubted) -> Array:
    """The bound that each instance of a setter derives for its atom from bounds as read in ``doubt``; the unknown bound
    where it derives none."""
    grounding = run.grounding
    shape = grounding.shapes[setter.shape]
    formula = shape.formula
    if formula.prenex_of is not None:
        return _by_any_row(run, setter, doubt)
    block = formula.block_of(setter.leaf)
    view, _, _, places = grounding.rebuilt(setter.shape, block, setter.instances, doubt.contested.numbers)
    numeric = setter.leaf != AUXILIARY and formula.neurons[setter.leaf].numeric
    unknown = (-math.inf, math.inf)[setter.side] if numeric else float(setter.side)
    dtype = doubt.bounds.lower.dtype
    derived, read = np.full((view.length(block),), unknown, dtype), _reader(view, doubt)
    if setter.leaf in formula.heads:  # a completed atom
        derived[:] = leaf_bound(formula, read, view.groupings, setter.leaf, setter.side, completes=True)
    else:
        response = respond(shape, read, view.groupings)
        if (setter.leaf, setter.side) in response.proposed:
            news, value = response.proposed[setter.leaf, setter.side]
            bad = response.bad & (setter.leaf not in shape.observed or setter.leaf != formula.head[0])
            proposing = news & ~view.silenced(block, bad)
            derived[proposing] = value[proposing]
    return derived.take(places)


def _by_any_row(run: Run, setter: _Setter, doubt: Doubted) -> Array:
    """The same for a prenex formula, whose instances are rows of quantifiers: what any of their rows gives the atom."""
    shape, dtype = run.grounding.shapes[setter.shape], doubt.bounds.lower.dtype
    falls = setter.side == 1 and not shape.completes
    given, meet = np.full(doubt.contested.numbers.count, float(falls), dtype), np.minimum if falls else np.maximum
    for member in shape.members:
        response = run.responses[member]
        for bindings in response.rule.whole():
            instances = RuleInstances(shape, member, response.rule, bindings, run.grounding.atoms, run.encoded)
            read = instances.reader(range(bindings.length), dtype, doubt)
            silent = response.arrests.flags(bindings, instances.rows)
            if shape.completes:
                value = leaf_bound(shape.formula, read, (None,), setter.leaf, setter.side, completes=True)
            else:
                evaluated = respond(shape, read, (None,))
                news, value = evaluated.proposed[setter.leaf, setter.side]
                silent = silent | evaluated.bad | ~news
            rows = doubt.contested.numbers.of(instances.table(setter.leaf), instances.rows(setter.leaf))
            meet.at(given, rows[~silent], value[~silent])
    return given.take(setter.rows)


def _reader(instances: Instances, doubt: Doubted) -> Read:
    """Reads the leaves of rebuilt instances, of a head that a defining statement defines only what is given."""
    formula, given = instances.formula, doubt.given
    unknown = doubt.contested.numbers.of(doubt.contested.numbers.atoms.truths, np.array([UNKNOWN]))[0]

    def read(index: int) -> Bounds:
        if index != AUXILIARY and formula.neurons[index].fixed:
            length = instances.length(formula.neurons[index].block)
            return constant(formula, index, length, doubt.bounds.lower.dtype)
        rows = instances.rows[index]
        return doubt.at(np.where(given.take(rows), rows, unknown) if index in formula.heads else rows)

    return read


def _tops(grounding: Grounding, setter: _Setter) -> Array:
    """The rows of block 0 that a setter's instances belong to."""
    shape = grounding.shapes[setter.shape]
    return shape.tops(shape.formula.block_of(setter.leaf), setter.instances)


def _reads(grounding: Grounding, setter: _Setter, flags: Flags, numbers: RowNumbers) -> Array:
    """Which of a setter's instances read a flagged bound."""
    block = grounding.shapes[setter.shape].formula.block_of(setter.leaf)
    view, tops, which, _ = grounding.rebuilt(setter.shape, block, setter.instances, numbers)
    hit = np.zeros(len(tops), dtype=bool)
    for other, ends in grounding.reads(setter.shape, setter.leaf, setter.side):
        tainted = np.zeros(len(view.rows[other]), dtype=bool)
        for end in ends:
            tainted |= flags[end].take(view.rows[other])
        hit[view.tops(view.formula.block_of(other))[tainted]] = True
    return hit.take(which)
