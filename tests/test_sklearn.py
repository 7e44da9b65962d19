"""Rules as a scikit-learn classifier."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is an extra")

import pandas as pd
from sklearn.utils.estimator_checks import check_estimator

from lnnkit.sklearn import RuleClassifier


@pytest.mark.filterwarnings("default")
def test_it_is_an_estimator() -> None:
    found = check_estimator(RuleClassifier(), on_fail=None)
    assert [each["check_name"] for each in found if each["status"] == "failed"] == []


def frame(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    age, purpose = rng.uniform(18, 80, rows).round(0), rng.choice(["car", "house"], rows)
    good = np.where((age >= 45) & (purpose == "car"), "good", "bad")
    return pd.DataFrame({"age": age, "purpose": purpose}), good


def test_given_rules_are_trained() -> None:
    table, good = frame(150)
    rules = 'predicate Good(row) closed\nrule age(X) >= ?cut & purpose(X, "car") -> Good(X)'
    found = RuleClassifier(rules, "Good", epochs=30).fit(table, good)
    assert (found.predict(table) == good).mean() > 0.97
    assert "?cut=4" in found.program_
    table.loc[:20, "age"] = np.nan
    assert np.isfinite(found.predict_proba(table)).all()


def test_rules_are_induced_from_a_frame_with_missing_cells() -> None:
    table, good = frame(300)
    table.loc[::17, "purpose"] = None
    found = RuleClassifier().fit(table, good)
    assert (found.predict(table) == good).mean() > 0.9
    assert "Target(X)" in found.program_
