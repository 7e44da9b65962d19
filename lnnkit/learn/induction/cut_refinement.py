"""Moves the thresholds of a disjunction to the best of all cuts: each in turn, the rest as it is, by running sums over
the sorted rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lnnkit.learn.induction.table_literals import Conjunction, Literal, TableColumn, missing, short_cut

_SWEEPS = 4


def refined(
    found: Sequence[Literal],
    conjunctions: Sequence[Conjunction],
    columns: Sequence[TableColumn],
    positive: np.ndarray,
    weight: np.ndarray,
) -> tuple[tuple[Literal, ...], tuple[Conjunction, ...]]:
    """The same disjunction of crisp literals with thresholds by which it is right most often on these rows; each use of
    a literal has its own."""
    signed = np.where(positive, weight, -weight)
    parts = [[(found[number], wanted) for number, wanted in each] for each in conjunctions]
    masks = [[_holds(*each, columns) for each in part] for part in parts]
    ranked: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for _ in range(_SWEEPS):
        moved = False
        for at, part in enumerate(parts):
            others = [np.logical_and.reduce(each) for place, each in enumerate(masks) if place != at]
            rest = ~np.logical_or.reduce(others) if others else np.ones(len(signed), bool)
            for place, (literal, wanted) in enumerate(part):
                if literal.threshold is None or columns[literal.column].kind == "truth":
                    continue
                values, ranks = ranked.setdefault(literal.column, _ranks(columns[literal.column]))
                inside = rest & (ranks >= 0)
                for other in range(len(part)):
                    if other != place:
                        inside &= masks[at][other]
                sums = np.cumsum(np.bincount(ranks[inside], signed[inside], len(values)))
                worth = sums[-1] - sums[:-1] if wanted else sums[:-1]
                now = int(np.searchsorted(values, literal.threshold)) - 1
                if worth.max() <= worth[now] + 1e-9:
                    continue
                best = np.flatnonzero(worth >= worth.max() - 1e-9)
                cut = short_cut(values, int(best[len(best) // 2]) + 1)
                share = float((ranks >= np.searchsorted(values, cut)).sum() / max(1, (ranks >= 0).sum()))
                part[place] = replace(literal, threshold=cut, share=share), wanted
                masks[at][place] = _holds(*part[place], columns)
                moved = True
        if not moved:
            break
    literals: list[Literal] = []
    renamed: list[Conjunction] = []
    for part in parts:
        renamed.append(tuple((len(literals) + place, wanted) for place, (_, wanted) in enumerate(part)))
        literals += [literal for literal, _ in part]
    return tuple(literals), tuple(renamed)


def _holds(literal: Literal, wanted: bool, columns: Sequence[TableColumn]) -> np.ndarray:
    """(n,) where the literal is known to hold, or to fail."""
    unknown = np.logical_or.reduce([missing(columns[place]) for place in literal.columns])
    return ((literal.holds(columns) >= 0.5) == wanted) & ~unknown


def _ranks(column: TableColumn) -> tuple[np.ndarray, np.ndarray]:
    known = ~missing(column)
    ranks = np.full(len(known), -1)
    values, ranks[known] = np.unique(column.values[known], return_inverse=True)
    return values, ranks
