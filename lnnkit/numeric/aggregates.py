"""Aggregates: what the rows of a group make together, where truths and values are intervals.

A row belongs to its group to the degree of its truth. ``count`` is the sum of truths, ``sum`` that of truth times
value, ``mean`` the sum over the count; an element belongs to ``min`` and ``max`` if its truth is above 0. An empty
``mean``, ``min`` or ``max`` has no value. Results are the closed hulls of the images, if each atom occurs once, and of
the preimages, but for what a mean tells elements that may be absent; they do not depend on the order of the rows.

Truths and values are arrays ``[n]``; ``group`` ``[n]`` is the group of each row. ``copies`` are how many elements a row
stands for at least and at most: none that has no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.arrays import Array, quietly
from lnnkit.numeric.interval import GREATEST, Interval, point, same
from lnnkit.numeric.term import Term, apply, number

_EXACT = 2.0**53  # sums of integers are exact below


class Grouped(NamedTuple):
    """The rows of ``groups`` groups."""

    group: Array
    groups: int
    copies: Interval


def aggregate(kind: str, truths: Interval, values: Interval | None, rows: Grouped) -> Interval:
    """``[groups]`` the values of an aggregate."""
    truths, values, rows = _possible(truths, values, rows)
    if values is None:
        assert kind == "count"
        return _sums(_times(truths, rows.copies), rows)
    match kind:
        case "sum":
            return _sums(_products(_times(truths, rows.copies), values), rows)
        case "mean":
            return _mean(_times(truths, rows.copies), values, rows)
        case "max":
            return _negated(_least(truths, _negated(values), rows))
        case _:
            return _least(truths, values, rows)


def with_value(copies: Interval, term: Term | None, inputs: Sequence[Interval]) -> Interval:
    """The copies of rows that have a value: a ``term`` of ``inputs``, or these alone. Numbers without a value are
    ``[inf, -inf]``."""
    none = [lower == math.inf for lower, _ in inputs if lower.max(initial=0.0) == math.inf]
    none += [upper == -math.inf for _, upper in inputs if upper.min(initial=0.0) == -math.inf]
    doubtful: list[Array] = []
    if term is not None and not term.total:
        none.append(~term.hull(inputs)[1])
        doubtful = [inputs[place].lower != inputs[place].upper for place in sorted(term.deciding)]
    if not none and not doubtful:
        return copies
    least = np.where(np.logical_or.reduce([*none, *doubtful]), 0.0, copies.lower)
    return Interval(least, np.where(np.logical_or.reduce(none), 0.0, copies.upper) if none else copies.upper)


def _possible(truths: Interval, values: Interval | None, rows: Grouped) -> tuple[Interval, Interval | None, Grouped]:
    """Without the rows that are not in their groups; where all are points, both ends are one array."""
    truths, copies, group = _points(truths), _points(rows.copies), rows.group
    at = np.flatnonzero((truths.upper > 0) & (copies.upper > 0))
    if len(at) < len(group):
        at = slice(len(at)) if len(at) and at[-1] == len(at) - 1 else at  # those that are not come last
        truths, copies = (part.mapped(lambda end: end[at]) for part in (truths, copies))
        group = group[at]
        values = None if values is None else values.mapped(lambda end: end[at])
    return truths, None if values is None else _points(values), Grouped(group, rows.groups, copies)


def _negated(ends: Interval) -> Interval:
    return Interval(-ends.upper, -ends.lower)


def _points(ends: Interval) -> Interval:
    return point(ends.lower) if ends.lower is ends.upper or np.array_equal(*ends) else ends


def _times(truths: Interval, copies: Interval) -> Interval:
    """The truth of all elements that each row stands for."""
    if copies.lower is copies.upper and (copies.lower == 1).all():
        return truths
    return _each_end(_product, truths, copies)


def _each_end(of: Callable[[Array, Array], Array], one: Interval, other: Interval) -> Interval:
    """A function of both lower ends and of both upper ends; once, where all are points."""
    lower = of(one.lower, other.lower)
    both = one.lower is one.upper and other.lower is other.upper
    return Interval(lower, lower if both else of(one.upper, other.upper))


def _product(left: Array, right: Array) -> Array:
    """Products, where 0 times anything is 0."""
    with np.errstate(invalid="ignore"):
        product = left * right
    none = np.isnan(product)
    return np.where(none, 0.0, product) if none.any() else product


def _products(truths: Interval, values: Interval) -> Interval:
    """Truth times value; truths are not negative."""
    if truths.lower is truths.upper:
        return _each_end(_product, truths, values)
    lower = np.where(values.lower < 0, truths.upper, truths.lower)
    upper = np.where(values.upper < 0, truths.lower, truths.upper)
    return Interval(_product(lower, values.lower), _product(upper, values.upper))


def _sums(terms: Interval, rows: Grouped) -> Interval:
    lower = _sum(terms.lower, rows)
    if terms.lower is terms.upper:
        return Interval(lower, lower)
    return Interval(np.minimum(lower, GREATEST), np.maximum(_sum(terms.upper, rows), -GREATEST))


def _sum(terms: Array, rows: Grouped) -> Array:
    """The correctly rounded sum of each group, so that the order of its rows does not matter."""
    sums = np.bincount(rows.group, terms, minlength=rows.groups).astype(np.float64, copy=False)  # of no rows: integers
    if _in_any_order(terms):
        return sums
    order = np.argsort(rows.group, kind="stable")
    ends = np.flatnonzero(np.diff(rows.group.take(order))) + 1
    for part in np.split(order, ends):
        if len(part) > 1 and math.isfinite(sums[rows.group[part[0]]]):
            sums[rows.group[part[0]]] = math.fsum(terms.take(part).tolist())
    return sums


def _in_any_order(terms: Array) -> bool:
    """Whether their sums are exact."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool((np.rint(terms) == terms).all() and np.abs(terms).sum() < _EXACT)


def _mean(weights: Interval, values: Interval, rows: Grouped) -> Interval:
    lower, upper = _least_mean(weights, values.lower, rows), -_least_mean(weights, -values.upper, rows)
    none = np.isnan(lower)
    return Interval(np.where(none, -math.inf, lower), np.where(none, math.inf, upper))


def _least_mean(weights: Interval, values: Array, rows: Grouped) -> Array:
    """The least mean of each group, ``nan`` where no weight is above 0: with ascending values, each has all the weight
    that it may have up to some place, and as little as it must from there on."""
    with np.errstate(invalid="ignore"):
        means = _sum(_product(weights.upper, values), rows) / _sum(weights.upper, rows)
    open_ = np.zeros(rows.groups, bool)
    open_[rows.group[weights.lower != weights.upper]] = True
    at = np.flatnonzero(open_.take(rows.group) & (weights.upper > 0))
    at = at.take(np.lexsort((values.take(at), rows.group.take(at))))
    ends = np.flatnonzero(np.diff(rows.group.take(at))) + 1
    for part in np.split(at, ends) if len(at) else ():
        group = rows.group[part[0]]
        means[group] = _least_of(values.take(part), weights.lower.take(part), weights.upper.take(part))
    return means


def _least_of(values: Array, least: Array, most: Array) -> float:
    """The least mean of ascending values with weights between ``least`` and ``most``."""
    if values[0] == -math.inf or np.isinf(most).any():
        return float(values[0])
    weight = np.cumsum(most) + np.append(np.cumsum(least[:0:-1])[::-1], 0.0)
    total = np.cumsum(most * values) + np.append(np.cumsum((least * values)[:0:-1])[::-1], 0.0)
    return float((total / weight).min())


def _least(truths: Interval, values: Interval, rows: Grouped) -> Interval:
    possible, sure = truths.upper > 0, (truths.lower > 0) & (rows.copies.lower > 0)
    lower, upper = np.full(rows.groups, math.inf), np.full(rows.groups, math.inf)
    np.minimum.at(lower, rows.group[possible], values.lower[possible])
    np.minimum.at(upper, rows.group[sure], values.upper[sure])
    most = np.full(rows.groups, -math.inf)  # where none is there for sure, any may be the only one
    np.maximum.at(most, rows.group[possible], values.upper[possible])
    some, certain = np.zeros(rows.groups, bool), np.zeros(rows.groups, bool)
    some[rows.group[possible]] = True
    certain[rows.group[sure]] = True
    upper = np.where(certain, upper, most)
    return Interval(np.where(some, lower, -math.inf), np.where(some, upper, math.inf))


class Narrowed(NamedTuple):
    """The hulls of truths and values for which an aggregate has a value in its interval; ``empty`` ``[groups]`` has no
    such. Rows that stand for several elements, or maybe for none, are unchanged."""

    truths: Interval
    values: Interval | None
    empty: Array


@quietly
def narrowed(kind: str, node: Interval, truths: Interval, values: Interval | None, rows: Grouped) -> Narrowed:
    """The truths and values of ``rows`` for which the aggregate of each group is in ``node`` ``[groups]``."""
    made = aggregate(kind, truths, values, rows)
    empty = (made.lower > node.upper) & ~same(made.lower, node.upper)
    empty |= (made.upper < node.lower) & ~same(made.upper, node.lower)
    goal = Interval(node.lower.take(rows.group), node.upper.take(rows.group))
    if values is None:
        rest = _rest(_times(truths, rows.copies), rows)
        hull, left = Interval(goal.lower - rest.upper, goal.upper - rest.lower), values
        missed = np.zeros(len(rows.group), bool)
    elif kind == "sum":
        rest = _rest(_products(_times(truths, rows.copies), values), rows)
        (hull, left), missed = _OF_BOTH.contract(
            (truths, values), Interval(goal.lower - rest.upper, goal.upper - rest.lower)
        )
    elif kind == "mean":
        hull, left, missed = _narrowed_mean(goal, truths, values, rows)
    elif kind == "max":
        hull, left, missed = _narrowed_least(_negated(goal), truths, _negated(values), rows)
        left = _negated(left)
    else:
        hull, left, missed = _narrowed_least(goal, truths, values, rows)
    single = (rows.copies.lower == 1) & (rows.copies.upper == 1)
    empty[rows.group[missed & single]] = True
    stays = ~single | empty.take(rows.group)
    return Narrowed(_meet(truths, hull, stays), None if left is None else _meet(values or left, left, stays), empty)


_OF_BOTH = apply("multiply", number(0), number(1))  # truth times value


def _meet(box: Interval, hull: Interval, stays: Array) -> Interval:
    """The part of each row's interval within its hull; the interval itself in rows that stay, or where the two miss
    each other by a rounding error."""
    lower, upper = np.maximum(box.lower, hull.lower), np.minimum(box.upper, hull.upper)
    stays = stays | (lower > upper)
    return Interval(np.where(stays, box.lower, lower), np.where(stays, box.upper, upper))


def _rest(terms: Interval, rows: Grouped) -> Interval:
    """For each row the sum of the other rows of its group."""
    return Interval(*(_others(end, rows) for end in terms))


def _others(terms: Array, rows: Grouped) -> Array:
    """The sums of the other rows."""
    endless = np.isinf(terms)
    finite = np.where(endless, 0.0, terms)
    sums = _sum(finite, rows).take(rows.group) - finite
    if endless.any():
        many = np.bincount(rows.group, endless, minlength=rows.groups).take(rows.group) > endless
        sums = np.where(many, math.copysign(math.inf, terms[endless][0]), sums)
    return sums


def _narrowed_mean(
    goal: Interval, truths: Interval, values: Interval, rows: Grouped
) -> tuple[Interval, Interval, Array]:
    """The mean is at most its upper end where the sum of truth times what exceeds that end is at most 0, and at least
    its lower end where the other sum is at least 0."""
    hull, left, missed = truths, values, np.zeros(len(rows.group), bool)
    for end, sign in ((goal.upper, 1.0), (goal.lower, -1.0)):
        known = np.isfinite(end)
        shifted = Interval(*(np.where(known, value - np.where(known, end, 0.0), value) for value in left))
        excess = shifted if sign > 0 else _negated(shifted)
        rest = _others(_products(_times(hull, rows.copies), excess).lower, rows)
        limit = np.where(known, -rest, math.inf)
        (hull, excess), empty = _OF_BOTH.contract((hull, excess), Interval(np.full_like(limit, -math.inf), limit))
        back = excess if sign > 0 else _negated(excess)
        left = Interval(*(np.where(known, value + np.where(known, end, 0.0), value) for value in back))
        missed = missed | empty
    alone = _only(truths.upper > 0, rows)  # the mean is its value
    left = Interval(*(np.where(alone, *ends) for ends in zip(_meet(left, goal, ~alone), left, strict=True)))
    return hull, left, missed


def _only(flagged: Array, rows: Grouped) -> Array:
    """The rows that are the only flagged ones of their groups."""
    return flagged & (np.bincount(rows.group, flagged, minlength=rows.groups).take(rows.group) == 1)


def _narrowed_least(
    goal: Interval, truths: Interval, values: Interval, rows: Grouped
) -> tuple[Interval, Interval, Array]:
    """An element below the least value is not there, and one that is there is not below; the only one that can be the
    least is not above."""
    possible = truths.upper > 0
    below = possible & (values.upper < goal.lower) & ~same(values.upper, goal.lower)
    hull = Interval(truths.lower, np.where(below, 0.0, truths.upper))
    sure = (truths.lower > 0) & (rows.copies.lower > 0)
    can = possible & ((values.lower <= goal.upper) | same(values.lower, goal.upper)) & ~below
    last = _only(can, rows)
    left = Interval(np.where(sure, goal.lower, -math.inf), np.where(last, goal.upper, math.inf))
    left = Interval(np.where(last, goal.lower, left.lower), left.upper)
    return hull, left, sure & below
