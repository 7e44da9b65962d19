"""The regressor: scikit-learn's contract, what it says of wrong input, and that its rule predicts the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator  # pyright: ignore[reportMissingImports]

import lnnkit
from lnnkit.sklearn import FormulaRegressor


def planted(rows: int = 120) -> tuple[pd.DataFrame, pd.Series]:
    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.uniform(1, 5, (rows, 3)), columns=["mass", "speed of it", "colour"])
    return table, pd.Series(table["mass"] * table["speed of it"] ** 2 / 2, name="energy")


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_checks_of_scikit_learn() -> None:
    found = check_estimator(FormulaRegressor(seconds=1), on_fail=None)
    assert [each["check_name"] for each in found if each["status"] == "failed"] == []


def test_the_rule_predicts_the_same() -> None:
    table, energy = planted()
    model = FormulaRegressor(random_state=0).fit(table, energy)
    assert model.formula == '0.5 * mass * "speed of it"^2'
    assert model.to_latex() == r"0.5 \, \mathrm{mass} \, {\mathrm{speed of it}}^{2}"
    assert model.pareto_[model.chosen_].formula == model.formula and model.score(table, energy) == pytest.approx(1)
    kb = lnnkit.loads(model.to_lnn())
    for name in ("mass", "speed of it"):
        kb.tell(name, {"row": [f"r{row}" for row in range(9)], "value": table[name][:9].tolist()})
    answers = kb.ask("energy(X)")
    np.testing.assert_allclose(answers.lower, model.predict(table[:9]), rtol=1e-12)
    np.testing.assert_allclose(answers.upper, model.predict(table[:9]), rtol=1e-12)


def test_missing_cells_and_rows_without_a_value() -> None:
    generator = np.random.default_rng(1)
    table = generator.uniform(1, 5, (100, 2))
    model = FormulaRegressor().fit(table, table[:, 0] / table[:, 1])
    found = model.predict(np.array([[np.nan, 2.0], [3.0, 0.0]]))
    assert found[0] == pytest.approx(np.median(table[:, 0]) / 2)
    assert found[1] == pytest.approx(np.median(table[:, 0] / table[:, 1]))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"seconds": 0}, "seconds must be a number above 0; got 0"),
        ({"held_out": 1.0}, "held_out must be above 0 and below 1, such as 0.3; got 1.0"),
        ({"random_state": "x"}, "random_state must be a whole number or None; got 'x'"),
    ],
)
def test_parameters_out_of_range(options: dict[str, object], text: str) -> None:
    table, energy = planted(10)
    with pytest.raises(ValueError, match=text):
        FormulaRegressor(**options).fit(table, energy)  # pyright: ignore[reportArgumentType]  # that is the test


def test_texts_and_infinities_are_refused() -> None:
    table, energy = planted(10)
    with pytest.raises(ValueError, match="'kind' is not; leave out"):
        FormulaRegressor().fit(table.assign(kind="a"), energy)
    table.loc[3, "mass"] = np.inf
    with pytest.raises(ValueError, match="Input X contains infinity"):
        FormulaRegressor().fit(table, energy)


def test_few_rows_are_a_warning() -> None:
    with pytest.warns(UserWarning, match="6 rows are too few to confirm a formula"):
        FormulaRegressor(seconds=1).fit(np.arange(6.0)[:, None], np.arange(6.0))
