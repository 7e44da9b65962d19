"""What the constants of `lnnkit.discovery.formula_errors` change: ``python -m benchmarks.outlier_constants``.

Tables of random formulas of each kind, 20 to 400 rows of up to five columns and as many that do not matter, of four
sorts:

- ``outliers``: 5, 15 or 25 % of the rows are wrong, by thousands or by a factor of two to six. The share of the wrong
  rows that are left out, and of the right ones.
- ``curves``: nothing is wrong, but for noise of 1 % in half of the tables. The share of tables with rows left out.
- ``regions``: a region of 6 to 24 % of the rows follows another formula: above a threshold, or in a corner of two
  columns. The share of tables with rows left out, before a formula is known and by one of the other rows.
- ``formulas``: the residuals of the formula itself, of noise of three sorts, among outliers. The share of wrong rows
  that are named, and of right ones.

Each constant is tried at several values; CPU seconds are those of all tables together.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.arithmetic.laws import KINDS, random_law
from lnnkit.discovery import formula_errors
from lnnkit.discovery.formula_errors import far_rows, unexplained_rows, usual_rows

CONSTANTS: dict[str, tuple[Any, ...]] = {
    "_HUBER": (0.5, 1.0, 1.5, 3.0),
    "_FAR": (4.0, 6.0, 8.0, 12.0, 20.0),
    "_FARTHER": (5.0, 7.0, 10.0, 15.0, 25.0),
    "_ROUNDING": (0.0, 1e-9, 1e-6, 1e-4),
    "_SHARE": (0.0, 0.02, 0.05, 0.1, 0.2),
    "MOST": (0.2, 0.25, 0.3, 0.4),
    "_ROUNDS": (5, 20, 60, 200),
    "_FEWEST": (6, 12, 24),
    "_TERMS": (6, 15, 28, 45),
    "_REGION": (0.05, 0.1, 0.15, 0.25, 0.4),
    "_CORNER": (0.1, 0.2, 0.3, 0.4, 0.6),
}
SEEDS = range(700, 703)
ROWS = (20, 60, 150, 400)


@dataclass(frozen=True)
class Table:
    """A table ``[rows, columns]``, its target, what that is without noise and errors, and which rows are wrong."""

    rows: np.ndarray
    target: np.ndarray
    clean: np.ndarray
    wrong: np.ndarray


def drawn(sort: str) -> Iterator[Table]:
    for number, (kind, seed, count) in enumerate((k, s, n) for k in KINDS for s in SEEDS for n in ROWS):
        generator = np.random.default_rng([number, len(sort)])
        law = random_law(kind, seed)
        own = law.draw(count, generator)
        rows = np.concatenate([own, generator.uniform(1, 5, (count, int(generator.integers(0, own.shape[1] + 1))))], 1)
        clean = law.value(own)
        target, wrong = clean.copy(), np.zeros(count, dtype=bool)
        if sort == "regions":
            share, corner = generator.uniform(0.06, 0.24), number % 2 and own.shape[1] > 1
            first = own[:, 0] > np.quantile(own[:, 0], 1 - (share**0.5 if corner else share))
            wrong = first & (own[:, 1] > np.quantile(own[:, 1], 1 - share**0.5)) if corner else first
            target[wrong] = generator.choice([3.0, 30.0]) * np.median(np.abs(clean)) * own[wrong, 0]
        elif sort in ("outliers", "formulas"):
            wrong[generator.choice(count, round(generator.choice([0.05, 0.15, 0.25]) * count), replace=False)] = True
        size = float(np.sqrt(np.mean(clean**2)))
        scatter = 0.01 * (number // 2 % 2) * generator.standard_normal(count) * size
        if sort == "formulas":
            scatter *= generator.choice([1.0, 3.0]) * (np.abs(clean) / size) ** (number % 3)
        target = target + scatter
        if sort in ("outliers", "formulas") and number % 2:
            target[wrong] = 1e4 * generator.standard_normal(wrong.sum())
        elif sort in ("outliers", "formulas"):
            target[wrong] *= generator.uniform(2, 6, wrong.sum())
        yield Table(rows, target, clean, wrong)


def shares(tables: list[Table], left_out: list[np.ndarray]) -> str:
    """The shares of the wrong and of the right rows that were left out."""
    wrong = np.concatenate([each.wrong for each in tables])
    gone = np.concatenate(left_out)
    return f"{gone[wrong].mean():.1%} and {gone[~wrong].mean():.2%}"


def measured(tables: dict[str, list[Table]]) -> str:
    start = time.process_time()
    gone = {sort: [~usual_rows(each.rows, each.target) for each in own] for sort, own in tables.items()}
    later = {sort: [of_several(each) for each in own] for sort, own in tables.items()}
    near = [named(each) for each in tables["formulas"]]
    taken = time.process_time() - start
    curves, regions, again = (
        np.mean([each.any() for each in found[sort]])
        for found, sort in ((gone, "curves"), (gone, "regions"), (later, "regions"))
    )
    return (
        f"outliers {shares(tables['outliers'], gone['outliers'])}, curves {curves:.1%}, regions {regions:.1%} and "
        f"{again:.1%}, formulas {shares(tables['formulas'], near)}, "
        f"of several {shares(tables['formulas'], later['formulas'])}, {taken:.1f} s"
    )


def of_several(table: Table) -> np.ndarray:
    """The rows that neither the formula nor a constant comes near."""
    rest = [np.abs(table.target - each) for each in (table.clean, np.median(table.target))]
    return unexplained_rows(rest, table.rows, 0.0)


def named(table: Table) -> np.ndarray:
    """The rows that are far from the formula."""
    found = np.zeros(len(table.target), dtype=bool)
    found[far_rows(np.abs(table.target - table.clean), table.target)] = True
    return found


def main(only: list[str]) -> None:
    tables = {sort: list(drawn(sort)) for sort in ("outliers", "curves", "regions", "formulas")}
    for name, values in CONSTANTS.items():
        if only and name not in only:
            continue
        print(f"{name} (now {getattr(formula_errors, name)})", flush=True)
        for value in values:
            with mock.patch.object(formula_errors, name, value):
                print(f"  {value}: {measured(tables)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
