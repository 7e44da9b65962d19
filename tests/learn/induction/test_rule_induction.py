"""Rules from tables: what is planted is found, what is written is what is scored."""

from __future__ import annotations

import numpy as np
import pytest

import lnnkit
from lnnkit.learn.induction.induced_rule import GRID, Induced, donors, statements
from lnnkit.learn.induction.rule_induction import induce
from lnnkit.learn.induction.table_literals import (
    UNIT,
    LabelledTable,
    TableColumn,
    TableLiteral,
    literals,
    soft_literals,
    truths,
)
from lnnkit.learn.induction.weighted_rules import WeightedSum, forward, regressions, without_idle


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


def test_a_planted_disjunction_is_found_and_its_text_has_its_score() -> None:
    columns = table(400, 0)
    age, _, purpose = (column.values for column in columns)
    positive = ((age >= 40) & (purpose == "car")) | (purpose == "house")
    rule = induce(LabelledTable(columns, positive, np.ones(len(positive))), seed=1)
    assert rule.plain and len(rule.conjunctions) <= 4
    assert all(len(each) <= 6 for each in rule.conjunctions)
    new = table(300, 5)
    age, _, purpose = (column.values for column in new)
    wanted = ((age >= 40) & (purpose == "car")) | (purpose == "house")
    assert ((rule.score(new) > 0) == wanted).mean() > 0.97
    text = "\n".join(statements(rule, new, "Good"))
    assert ((told(new, text) > 0.5) == (rule.score(new) > 0)).all()


def test_the_text_of_a_weighted_rule_has_its_score() -> None:
    columns = table(60, 2)
    found = literals(LabelledTable(columns, columns[0].values > 50, np.ones(60)))[::12]
    conjunctions = (*(((each, True),) for each in found[:-1]), ((found[0], True), (found[-1], False)))
    weights = np.array([1.5, -0.7, 0.4, -1.1, 0.9, 0.6])[: len(conjunctions)]
    rule = Induced(conjunctions[: len(weights)], weights, 0.3, plain=False)
    text = "\n".join(statements(rule, columns, "Good"))
    expected = np.clip(0.5 + rule.score(columns) / 8, 0, 1)
    assert told(columns, text) == pytest.approx(expected, abs=1e-3)


@pytest.mark.slow
def test_a_noisy_score_is_learned() -> None:
    columns, rng = table(1500, 3), np.random.default_rng(4)
    age, income, purpose = (column.values for column in columns)
    z = (age - 50) / 10 + (income - 3000) / 900 - 2.0 * (purpose == "car")
    positive = rng.random(len(z)) < 1 / (1 + np.exp(-z))
    rule = induce(LabelledTable(columns, positive, np.ones(len(z))), seed=0)
    best = ((z > 0) == positive).mean()
    assert not rule.plain and ((rule.score(columns) > 0) == positive).mean() > best - 0.02


def test_unknown_cells_hold_to_the_share() -> None:
    column = TableColumn("age", np.array([10.0, 20.0, 30.0, np.nan]))
    category = TableColumn("kind", np.array(["a", "b", None, "a"], object))
    found = literals(LabelledTable([column, category], np.array([True, False, True, False]), np.ones(4)))
    values = truths(found, [column, category]) / UNIT
    assert values[3, 0] == pytest.approx(found[0].share, abs=0.5 / UNIT)
    assert all(0.0 < each.share < 1.0 for each in found)


def test_the_text_of_a_soft_threshold_has_its_score() -> None:
    columns = table(60, 2)
    found = [each for each in soft_literals(columns) if each.column == 0][::4]
    weights = np.array([1.6, -0.8, 0.4])[: len(found)]
    rule = Induced(tuple(((each, True),) for each in found[: len(weights)]), weights, -0.4, plain=False)
    text = "\n".join(statements(rule, columns, "Good"))
    assert "{scale:" in text
    assert told(columns, text) == pytest.approx(np.clip(0.5 + rule.score(columns) / 8, 0, 1), abs=1e-3)


@pytest.mark.parametrize("start", [-2.0, 0.4, 6.0])
def test_the_text_of_an_empty_rule_has_its_score(start: float) -> None:
    columns = table(5, 2)
    rule = Induced((), np.zeros(0), start, plain=False)
    text = "\n".join(["number age(row)", *statements(rule, columns, "Good")])
    assert told(columns, text) == pytest.approx(np.full(5, np.clip(0.5 + start / 8, 0, 1)), abs=1e-3)


@pytest.mark.slow
def test_a_noisy_rule_is_short_and_its_weights_are_round() -> None:
    columns, rng = table(800, 3), np.random.default_rng(4)
    age, income, purpose = (column.values for column in columns)
    z = (age - 50) / 10 + (income - 3000) / 900 - 2.0 * (purpose == "car")
    rule = induce(LabelledTable(columns, rng.random(len(z)) < 1 / (1 + np.exp(-z)), np.ones(len(z))), seed=0)
    assert 3 <= len(rule.conjunctions) <= 8
    assert np.abs(rule.weights / GRID - np.round(rule.weights / GRID)).max() < 1e-9


def test_a_missing_cell_is_filled_from_rows_that_are_alike() -> None:
    rng = np.random.default_rng(0)
    cause = rng.uniform(0, 1, 400)
    columns = [TableColumn("cause", cause), TableColumn("sign", cause + rng.normal(0, 0.01, 400))]
    own = donors(columns, rng)
    rule = Induced((((TableLiteral(1, 0.5, None, 0.5), True),),), np.array([8.0]), -4.0, plain=False)
    asked = [TableColumn("cause", np.array([0.1, 0.9])), TableColumn("sign", np.array([np.nan, np.nan]))]
    low, high = rule.expected(asked, own)
    assert low < 0.05 and high > 0.95
    bounds = 1 / (1 + np.exp(4.0)), 1 / (1 + np.exp(-4.0))
    assert bounds[0] - 1e-9 <= low and high <= bounds[1] + 1e-9  # within what the rule says of any value


def test_donors_are_the_nearest_by_gowers_distance() -> None:
    rng = np.random.default_rng(1)
    numbers, texts = rng.normal(size=80), rng.choice(np.array(["a", "b", "c"], object), 80)
    numbers[::9], texts[::7] = np.nan, None
    columns = [TableColumn("n", numbers), TableColumn("t", texts)]
    own = donors(columns, rng)
    width = own.ranges[0]

    def distance(row: int, donor: int) -> float:
        apart: list[float] = []
        for column, other in zip(own.columns, columns, strict=True):
            one, two = column.values[donor], other.values[row]
            if one is None or two is None or one != one or two != two:
                continue
            apart.append(float(one != two) if isinstance(one, str) else min(abs(one - two) / width, 1.0))
        return sum(apart) / len(apart) if apart else 0.0

    for row, chosen in enumerate(own.alike(columns)[0]):
        every = sorted(distance(row, donor) for donor in range(own.count))
        assert sorted(distance(row, donor) for donor in chosen.tolist()) == pytest.approx(
            every[: len(chosen)], abs=1e-5
        )


def test_forward_selection_finds_the_columns_that_matter() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 30))
    target = 1 / (1 + np.exp(-(1.5 * rows[:, 4] - rows[:, 11] + 0.5 * rows[:, 20])))
    *_, found = forward(rows, np.arange(30), target, np.ones(2000), most=3)
    assert found.columns == (4, 11, 20)
    assert found.weights == pytest.approx([1.5, -1.0, 0.5], abs=0.02)
    twice = WeightedSum((4, 11, 20, 7), np.array([1.5, -1.0, 0.5, 1e-4]), found.start)
    assert without_idle(twice, rows, target, np.ones(2000)).columns == (4, 11, 20)


def test_the_regression_is_where_its_gradient_is_nought() -> None:
    rng = np.random.default_rng(0)
    rows, target, weight = rng.normal(size=(200, 4)), rng.random(200), rng.uniform(0.5, 2, 200)
    for penalty, own in zip((10.0, 0.5), regressions(rows, target, weight, (10.0, 0.5)), strict=True):
        true = 1 / (1 + np.exp(-(own[0] + rows @ own[1:])))
        assert rows.T @ (weight * (target - true)) == pytest.approx(penalty * own[1:], abs=0.05)
        assert weight @ (target - true) == pytest.approx(0, abs=0.05)


def test_a_plain_rule_is_found_though_cells_are_missing() -> None:
    rng = np.random.default_rng(7)
    texts = {name: rng.choice(np.array(["a", "b", "c"], object), 300) for name in "pqrst"}
    positive = ((texts["p"] == "a") & (texts["q"] == "b")) | (texts["r"] == "c")
    columns: list[TableColumn] = []
    for name, values in texts.items():
        some = values.copy()
        some[rng.random(len(some)) < 0.2] = None
        columns.append(TableColumn(name, some))
    rule = induce(LabelledTable(columns, positive, np.ones(len(positive))), seed=0)
    assert rule.plain
    whole = [TableColumn(name, values) for name, values in texts.items()]
    assert ((rule.score(whole) > 0) == positive).all()
