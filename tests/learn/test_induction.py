"""Rules from tables: what is planted is found, what is written is what is scored."""

from __future__ import annotations

import numpy as np
import pytest

import lnnkit
from lnnkit.learn.induced import statements
from lnnkit.learn.induction import Induced, induce
from lnnkit.learn.literals import TableColumn, literals, truths


def table(rows: int, seed: int) -> list[TableColumn]:
    rng = np.random.default_rng(seed)
    age, income = rng.uniform(18, 80, rows).round(1), rng.normal(3000, 900, rows).round(0)
    purpose = np.array(["car", "house", "other"], object)[rng.integers(0, 3, rows)]
    return [TableColumn("age", age), TableColumn("income", income), TableColumn("purpose", purpose)]


def told(columns: list[TableColumn], text: str) -> np.ndarray:
    """The truth that the engine gives the target of each row."""
    kb = lnnkit.loads(text)
    rows = [f"row{place}" for place in range(len(columns[0].values))]
    for column in columns:
        if f" {column.name}(" in text:
            kb.tell(column.name, {"row": rows, "value": column.values.tolist()})
    answers = kb.ask("Good(X)")
    found = np.zeros(len(rows))
    for row, lower, upper in zip(answers.columns[0], answers.lower, answers.upper, strict=True):
        found[int(row[3:])] = (lower + upper) / 2
    return found


def test_a_planted_disjunction_is_found_and_says_what_it_scores() -> None:
    columns = table(400, 0)
    age, _, purpose = (column.values for column in columns)
    positive = ((age >= 40) & (purpose == "car")) | (purpose == "house")
    rule = induce(columns, positive, np.ones(len(positive)), seed=1)
    assert rule.plain and len(rule.conjunctions) <= 4
    assert all(len(each) <= 6 for each in rule.conjunctions)
    new = table(300, 5)
    age, _, purpose = (column.values for column in new)
    wanted = ((age >= 40) & (purpose == "car")) | (purpose == "house")
    assert ((rule.score(new) > 0) == wanted).mean() > 0.97
    text = "\n".join(statements(rule, new, "Good"))
    assert ((told(new, text) > 0.5) == (rule.score(new) > 0)).all()


def test_a_weighed_rule_says_what_it_scores() -> None:
    columns = table(60, 2)
    found = literals(columns)[::12]
    single = (((number, True),) for number in range(len(found) - 1))
    conjunctions = (*single, ((0, True), (len(found) - 1, False)))
    weights = np.array([1.5, -0.7, 0.4, -1.1, 0.9, 0.6])[: len(conjunctions)]
    rule = Induced(tuple(found), conjunctions[: len(weights)], weights, 0.3, plain=False)
    text = "\n".join(statements(rule, columns, "Good"))
    expected = np.clip(0.5 + rule.score(columns) / 8, 0, 1)
    assert told(columns, text) == pytest.approx(expected, abs=1e-3)


def test_a_noisy_score_is_learned() -> None:
    columns, rng = table(1500, 3), np.random.default_rng(4)
    age, income, purpose = (column.values for column in columns)
    z = (age - 50) / 10 + (income - 3000) / 900 - 2.0 * (purpose == "car")
    positive = rng.random(len(z)) < 1 / (1 + np.exp(-z))
    rule = induce(columns[:], positive, np.ones(len(z)), seed=0)
    best = ((z > 0) == positive).mean()
    assert not rule.plain and ((rule.score(columns) > 0) == positive).mean() > best - 0.02


def test_unknown_cells_hold_to_the_share() -> None:
    column = TableColumn("age", np.array([10.0, 20.0, 30.0, np.nan]))
    category = TableColumn("kind", np.array(["a", "b", None, "a"], object))
    found = literals([column, category])
    values = truths(found, [column, category])
    assert values[3, 0] == pytest.approx(found[0].share)
    assert all(0.0 < each.share < 1.0 for each in found)
