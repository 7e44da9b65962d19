"""Who takes part: lnnkit's induced rules, and what is usual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from lnnkit.sklearn import RuleClassifier

OWN = "lnnkit"


def peers() -> Mapping[str, Callable[[int], Any]]:
    """EBM (interpret) and FIGS (imodels) with their own settings, of those that are installed."""
    found: dict[str, Callable[[int], Any]] = {}
    with suppress(ImportError):
        from interpret.glassbox import (  # pyright: ignore[reportMissingImports]  # a peer
            ExplainableBoostingClassifier,
        )

        found["EBM"] = lambda seed: ExplainableBoostingClassifier(random_state=seed, n_jobs=1)
    with suppress(ImportError):
        from imodels import FIGSClassifier  # pyright: ignore[reportMissingImports]  # a peer

        found["FIGS"] = lambda seed: _prepared(FIGSClassifier(random_state=seed), sparse=False)
    return found


def _prepared(model: Any, *, sparse: bool = True) -> Any:
    """Numbers scaled, with the mean in place of missing cells; categories one-hot, missing cells a level of their own,
    which training need not have met."""
    numbers = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    return make_pipeline(
        make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (
                OneHotEncoder(handle_unknown="ignore", sparse_output=sparse),
                make_column_selector(dtype_exclude="number"),
            ),
        ),
        model,
    )


MODELS: Mapping[str, Callable[[int], Any]] = {
    OWN: lambda seed: RuleClassifier(random_state=seed),
    "tree": lambda seed: _prepared(DecisionTreeClassifier(max_depth=5, random_state=seed)),
    "logistic": lambda seed: _prepared(LogisticRegression(max_iter=3000)),
    "majority": lambda seed: _prepared(DummyClassifier()),
}
"""Each by a seed: rules from threshold literals alone, a tree of depth 5, logistic regression, the greater class."""
