"""The best cut and the best pair against all that there are, tried one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from lnnkit.learn.induction.best_conjunction import BestConjunction, best_conjunctions
from lnnkit.learn.induction.table_literals import LabelledTable, TableColumn
from lnnkit.sklearn import RuleClassifier

Masks = tuple[int, np.ndarray, np.ndarray]  # a literal's column, where it is known to hold, where to fail


def made(seed: int) -> tuple[list[TableColumn], np.ndarray, np.ndarray]:
    """A small table: numbers with and without ties, categories, truth values, constants, gaps; classes of any share."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(2, 26))
    columns: list[TableColumn] = []
    for place in range(int(draw.integers(1, 4))):
        values = (
            draw.normal(size=rows),
            draw.integers(0, int(draw.integers(1, 25)), rows).astype(float),
            draw.choice(np.array(list("abcd"), object), rows),
            (draw.random(rows) < 0.5).astype(float),
            draw.normal(size=rows).round(1),
        )[int(draw.integers(5))]
        if draw.random() < 0.4:
            values[draw.random(rows) < 0.3] = None if values.dtype == object else np.nan
        columns.append(TableColumn(f"c{place}", values))
    weight = draw.choice([1.0, 2.0, 0.5], rows) if draw.random() < 0.3 else np.ones(rows)
    return columns, draw.random(rows) < draw.choice([0.1, 0.5, 0.9]), weight


def literals(columns: list[TableColumn]) -> list[Masks]:
    found: list[Masks] = []
    for place, column in enumerate(columns):
        cells = column.values.tolist()
        known = np.array([cell is not None and cell == cell for cell in cells])
        values = sorted({cell for cell, there in zip(cells, known, strict=True) if there})
        for value in values if not column.numeric else values[1:]:
            same = [cell == value or (column.numeric and cell is not None and cell >= value) for cell in cells]
            holds = np.array(same, bool) & known
            found += [(place, holds, known & ~holds), (place, known & ~holds, holds)]
    return found


def right(chosen: tuple[Masks, ...], positive: np.ndarray, weight: np.ndarray) -> float:
    """The weight of the rows that a conjunction is right about; unknown rows are all true or all false."""
    true = np.logical_and.reduce([holds for _, holds, _ in chosen])
    false = np.logical_or.reduce([fails for _, _, fails in chosen])
    unknown = ~true & ~false
    sides = float(weight[unknown & positive].sum()), float(weight[unknown & ~positive].sum())
    return float(weight[true & positive].sum() + weight[false & ~positive].sum()) + max(sides)


def best_of_all(columns: list[TableColumn], positive: np.ndarray, weight: np.ndarray, longest: int) -> float:
    every = literals(columns)
    tried = [(each,) for each in every]
    if longest == 2:
        # two literals of one column that no row meets are no rule
        tried += [(a, b) for a, b in combinations(every, 2) if a[0] != b[0] or (a[1] & b[1]).any()]
    sides = float(weight[positive].sum()), float(weight[~positive].sum())
    return max([*sides, *(right(each, positive, weight) for each in tried)])


def compared(seeds: range) -> None:
    for seed in seeds:
        columns, positive, weight = made(seed)
        least = float(weight[~positive].sum())
        for longest, found in enumerate(best_conjunctions(LabelledTable(columns, positive, weight), [], 2), 1):
            own = max(found.total + least, float(weight[positive].sum()))
            assert own == pytest.approx(best_of_all(columns, positive, weight, longest)), (seed, longest, found)


def test_no_cut_and_no_pair_is_better() -> None:
    compared(range(30))


@pytest.mark.slow
def test_no_cut_and_no_pair_of_thousands_of_tables_is_better() -> None:
    compared(range(30, 3060))


def test_the_best_pair_of_many_rows_is_found() -> None:
    draw = np.random.default_rng(0)
    table = draw.normal(size=(3000, 3))
    positive = (table[:, 0] >= 0.3) & (table[:, 2] < 0.5)
    columns = [TableColumn(f"x{place}", table[:, place]) for place in range(3)]
    one, two = best_conjunctions(LabelledTable(columns, positive, np.ones(3000)), [], 2)
    assert two.total == positive.sum() > one.total
    assert best_conjunctions(LabelledTable(columns, positive & False, np.ones(3000)), [], 2)[1] == BestConjunction(0.0)


@pytest.mark.parametrize("seed", range(4))
def test_one_literal_is_as_right_as_a_stump(seed: int) -> None:
    draw = np.random.default_rng(seed)
    table = pd.DataFrame({"a": draw.normal(size=150), "b": draw.integers(0, 6, 150), "c": 1.0})
    kinds = (table.a < -0.4 + 0.2 * table.b) ^ (draw.random(150) < 0.1)
    table.loc[::13, "a"] = np.nan
    model = RuleClassifier(max_rules=1, max_literals=1).fit(table, kinds)
    cuts = DecisionTreeClassifier(max_depth=1, criterion="gini").fit(table, kinds)
    assert model.score(table, kinds) >= cuts.score(table, kinds) - 1e-12
    pairs = RuleClassifier(max_rules=1, max_literals=2).fit(table, kinds)
    assert pairs.score(table, kinds) >= model.score(table, kinds)
    asked = pairs.knowledge_base(table).ask(f"{pairs.targets_[0]}(X)")
    sure = {answer.bindings["X"]: answer.lower >= 1 for answer in asked if answer.lower == answer.upper}
    truth = pairs.predict(table)
    assert all(truth[int(row.removeprefix("row"))] == true for row, true in sure.items())


@pytest.mark.parametrize(("rows", "seed"), [(200, 0), (200, 1), (200, 2), (1000, 0)])
def test_a_threshold_is_found_to_the_row(rows: int, seed: int) -> None:
    table = pd.DataFrame({"c": np.random.default_rng(seed).normal(size=rows)})
    kinds = table.c < -0.5
    model = RuleClassifier(max_rules=1, max_literals=1).fit(table, kinds)
    assert model.score(table, kinds) == 1.0
