"""The join: relations over variables -> the assignments that satisfy all of them. Counted before it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows over distinct ``variables``, one int column each; duplicates are allowed."""

    variables: tuple[int, ...]
    columns: tuple[Tensor, ...]
    length: int


Guard = Callable[[int], None]  # raises when so many rows would exceed the budget


def join(relations: Sequence[Relation], guard: Guard) -> Relation:
    """The natural join, greedily: the smallest relation first, then always the one that adds the fewest rows.

    Relations that share no variable are multiplied only when nothing else is left.
    """
    if not relations:
        return Relation((), (), 1)
    rest = list(relations)
    result = rest.pop(min(range(len(rest)), key=lambda i: rest[i].length))
    while rest and result.length:
        bound = set(result.variables)
        best = max(range(len(rest)), key=lambda i: (bool(bound & set(rest[i].variables)), -rest[i].length))
        result = pair(result, rest.pop(best), guard)
    if rest:  # nothing satisfies what was joined so far: an empty relation over every variable
        names = tuple(dict.fromkeys(v for relation in (result, *rest) for v in relation.variables))
        return Relation(names, tuple(torch.empty(0, dtype=torch.int32) for _ in names), 0)
    return result


def pair(left: Relation, right: Relation, guard: Guard) -> Relation:
    """The natural join of two relations. The smaller one is sorted."""
    if left.length < right.length:
        left, right = right, left
    shared = [v for v in right.variables if v in left.variables]
    if not shared:
        guard(left.length * right.length)
        left_rows = torch.arange(left.length).repeat_interleave(right.length)
        right_rows = torch.arange(right.length).repeat(left.length)
    else:
        left_key, right_key, size = _dense_keys(
            [left.columns[left.variables.index(v)] for v in shared],
            [right.columns[right.variables.index(v)] for v in shared],
        )
        counts = torch.bincount(right_key, minlength=size)
        order = torch.argsort(right_key.int(), stable=True)
        starts = counts.cumsum(0) - counts
        matches = counts.index_select(0, left_key)
        total = int(matches.sum())
        guard(total)
        left_rows = torch.arange(left.length).repeat_interleave(matches, output_size=total)
        within = torch.arange(total) - (matches.cumsum(0) - matches).index_select(0, left_rows)
        right_rows = order.index_select(0, starts.index_select(0, left_key).index_select(0, left_rows) + within)
    added = [i for i, v in enumerate(right.variables) if v not in left.variables]
    return Relation(
        left.variables + tuple(right.variables[i] for i in added),
        tuple(column.index_select(0, left_rows) for column in left.columns)
        + tuple(right.columns[i].index_select(0, right_rows) for i in added),
        len(left_rows),
    )


def _dense_keys(left: Sequence[Tensor], right: Sequence[Tensor]) -> tuple[Tensor, Tensor, int]:
    """One small int key for the shared columns of both sides, and a bound on it."""
    if len(left) == 1:
        size = 1 + max((int(column.max()) for column in (left[0], right[0]) if len(column)), default=0)
        if size <= 4 * (len(left[0]) + len(right[0])) + 65536:
            return left[0].long(), right[0].long(), size
    both = [torch.cat([a, b]).long() for a, b in zip(left, right, strict=True)]
    key = both[0]
    for column in both[1:]:
        key = torch.unique(key, return_inverse=True)[1]
        key = key * (int(column.max()) + 1 if len(column) else 1) + column
    inverse = torch.unique(key, return_inverse=True)[1]
    return inverse[: len(left[0])], inverse[len(left[0]) :], int(inverse.max()) + 1 if len(inverse) else 1
