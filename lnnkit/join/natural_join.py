"""The natural join of relations over variables. Its size is counted before it is made."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.columns.sorting import first_places, in_order


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows over distinct ``variables``, one int column each; duplicates are allowed."""

    variables: tuple[int, ...]
    columns: tuple[Array, ...]
    length: int
    origin: tuple[int, ...] = ()  # for the plan: the places of the relations that it was joined from


Made = Callable[[Relation, Relation, int], None]  # for the plan: receives two relations and the size of their join
Guard = Callable[[int], None]  # raises if this many rows would exceed the budget

# Of up to this many relations any two may be joined first; of more, the smallest is one of them. 2 to 12 take 31 to 32
# ms (`python -m benchmarks.inference_constants quantified`).
_TRIED = 6
_LIMIT = 2**62  # keys stay below this


def join(
    relations: Sequence[Relation],
    guard: Guard,
    made: Made | None = None,
    wanted: Sequence[int] | None = None,
) -> Relation:
    """The natural join, in a greedy order: from the smallest relation on, always the one with the fewest results.

    Where every join of the smallest gives more rows than all relations have, any two may be first. Relations that share
    no variable are multiplied only when nothing else is left. Of variables other than those ``wanted`` (None: all of
    them) it is only found whether there is a value: they are left out as soon as nothing else is joined by them.
    """
    if not relations:
        return Relation((), (), 1)
    if wanted is not None:
        relations = [narrowed(each, wanted, relations) for each in relations]
    if len(relations) == 2:
        return pair(relations[0], relations[1], guard, made)
    rest = list(relations)
    parts: list[Relation] = []
    while rest and all(part.length for part in (*parts, *rest)):
        parts.append(_connected(rest, guard, made, wanted))
    parts += rest
    if not all(part.length for part in parts):  # The result is empty.
        names = tuple(dict.fromkeys(v for part in parts for v in part.variables))
        return Relation(names, tuple(np.empty(0, np.int32) for _ in names), 0)
    if len(parts) > 2:
        guard(math.prod(part.length for part in parts))  # check the whole size before the first product
    result, *others = sorted(parts, key=lambda part: part.length)
    for other in others:
        result = pair(result, other, guard, made)
    return result


def pair(left: Relation, right: Relation, guard: Guard, made: Made | None = None) -> Relation:
    """The natural join of two relations. The smaller one is sorted."""
    return _made(_match(left, right), guard, made)


def _connected(rest: list[Relation], guard: Guard, made: Made | None, wanted: Sequence[int] | None) -> Relation:
    """Remove from ``rest`` the smallest relation and all that are connected with it, and join them."""
    count = len(rest)
    start = min(range(count), key=lambda i: rest[i].length)
    best = _least(rest, ((start, i) for i in range(count) if i != start))
    if best is None:
        return rest.pop(start)
    if 2 < count <= _TRIED and best[0].total > sum(part.length for part in rest):
        best = _least(rest, itertools.combinations(range(count), 2))
    while best is not None:
        match, places = best
        for place in sorted(places, reverse=True):
            del rest[place]
        found = _made(match, guard, made)
        rest.append(found if wanted is None else narrowed(found, wanted, rest))
        if not rest[-1].length:
            break
        last = len(rest) - 1
        best = _least(rest, ((last, i) for i in range(last)))
    return rest.pop()


def narrowed(relation: Relation, wanted: Sequence[int], others: Sequence[Relation]) -> Relation:
    """Project away the variables that are neither wanted nor shared with others; rows become distinct."""
    needed = {*wanted, *(v for other in others if other is not relation for v in other.variables)}
    kept = [place for place, variable in enumerate(relation.variables) if variable in needed]
    if len(kept) == len(relation.variables):
        return relation
    variables = tuple(relation.variables[place] for place in kept)
    columns = [relation.columns[place] for place in kept]
    if not columns:
        return Relation((), (), min(relation.length, 1), relation.origin)
    rows = first_places(*_keys(columns))
    if rows is not None:
        columns = [column.take(rows) for column in columns]
    return Relation(variables, tuple(columns), len(columns[0]), relation.origin)


class _Match(NamedTuple):
    """Two relations, ``left`` the longer one, and the size of their join. Rows with equal keys are matched."""

    left: Relation
    right: Relation
    total: int
    left_key: Array | None = None  # None where no variable is shared
    right_key: Array | None = None
    counts: Array | None = None  # the number of rows on the right, by key


def _least(rest: Sequence[Relation], places: Iterable[tuple[int, int]]) -> tuple[_Match, tuple[int, int]] | None:
    """The two of ``rest``, among those that share a variable, with the smallest join."""
    best: tuple[_Match, tuple[int, int]] | None = None
    for place in places:
        left, right = rest[place[0]], rest[place[1]]
        if set(left.variables).isdisjoint(right.variables):
            continue
        match = _match(left, right)
        if best is None or match.total < best[0].total:
            best = match, place
    return best


def _match(left: Relation, right: Relation) -> _Match:
    if left.length < right.length:
        left, right = right, left
    shared = [v for v in right.variables if v in left.variables]
    if not shared:
        return _Match(left, right, left.length * right.length)
    sides = [[each.columns[each.variables.index(v)] for v in shared] for each in (left, right)]
    key, size = _keys([np.concatenate(both) for both in zip(*sides, strict=True)])
    if size > 4 * len(key) + 2**16:
        key = np.unique(key, return_inverse=True)[1]
        size = len(key)
    left_key, right_key = key[: left.length], key[left.length :]
    counts = np.bincount(right_key, minlength=size)
    return _Match(left, right, int(counts.take(left_key).sum()), left_key, right_key, counts)


def _made(match: _Match, guard: Guard, made: Made | None) -> Relation:
    left, right, total = match.left, match.right, match.total
    guard(total)
    if made is not None:
        made(left, right, total)
    if match.left_key is None or match.right_key is None or match.counts is None:
        left_rows = np.arange(left.length).repeat(right.length)
        right_rows = np.tile(np.arange(right.length), left.length)
    else:
        order = in_order(match.right_key, len(match.counts))[0]
        starts = match.counts.cumsum() - match.counts
        matches = match.counts.take(match.left_key)
        left_rows = np.arange(left.length).repeat(matches)
        within = np.arange(total) - (matches.cumsum() - matches).take(left_rows)
        right_rows = order.take(starts.take(match.left_key).take(left_rows) + within)
    added = [i for i, v in enumerate(right.variables) if v not in left.variables]
    return Relation(
        left.variables + tuple(right.variables[i] for i in added),
        tuple(column.take(left_rows) for column in left.columns)
        + tuple(right.columns[i].take(right_rows) for i in added),
        len(left_rows),
        left.origin + right.origin,
    )


def _keys(columns: Sequence[Array]) -> tuple[Array, int]:
    """A key for each row's combination of values, and a number above all keys."""
    key, size = columns[0].astype(np.int64), _above(columns[0])
    for column in columns[1:]:
        radix = _above(column)
        if size * radix > _LIMIT:
            key = np.unique(key, return_inverse=True)[1]
            size = len(key)
        key, size = key * radix + column, size * radix
    return key, size


def _above(column: Array) -> int:
    """A number above all of a column's values, which are not negative."""
    return int(column.max()) + 1 if len(column) else 1
