"""Formulas as a scikit-learn regressor; needs the extra ``lnnkit[sklearn]``.

``FormulaRegressor()`` finds arithmetic of the columns, ``+ - * / ^ sqrt abs``, constants, and a comparison of two
cases where that helps, that predicts a number. The columns are numbers; a missing cell is NaN.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin  # pyright: ignore[reportMissingImports]  # an extra
from sklearn.utils.validation import check_is_fitted, validate_data  # pyright: ignore[reportMissingImports]  # an extra

from lnnkit.discovery.expression import evaluate
from lnnkit.discovery.formula_search import FormulaSearch, discover, medians
from lnnkit.discovery.formula_text import formula_latex, formula_text, program_text
from lnnkit.syntax.printer import format_predicate


@dataclass(frozen=True)
class ParetoFormula:
    """A formula on the Pareto front: its ``size`` (columns, numbers and operators), its ``error`` on held-out rows
    (mean absolute residual relative to that of the best constant: 0 exact, 1 no better than a constant), and its
    text."""

    size: int
    error: float
    formula: str


class FormulaRegressor(RegressorMixin, BaseEstimator):
    """A regressor whose model is a formula of the columns.

    Parameters
    ----------
    seconds: the CPU time that the search may take (the current step is completed); it ends early if a formula leaves
        nothing to explain.
    held_out: the share of rows, above 0 and below 1, that take no part in the fit, and by which the formula is chosen.
    random_state: the seed of all random draws.

    Attributes
    ----------
    n_features_in_, feature_names_in_: as in scikit-learn.
    pareto_: the formulas that no smaller one beats, from the smallest on, as ``ParetoFormula``.
    chosen_: the index in ``pareto_`` of the formula that predicts: the smallest one whose errors on the held-out rows
        do not differ significantly from the least.
    far_: (k,) the training rows from which that formula is far: outliers, which were left out of its score, or a case
        that it does not cover.
    target_: the name of the number that is predicted: that of y, or ``y``.
    """

    def __init__(self, *, seconds: float = 30.0, held_out: float = 0.3, random_state: int | None = None) -> None:
        self.seconds = seconds
        self.held_out = held_out
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> FormulaRegressor:
        """Find a formula for y, (n,), in the columns of X, (n, columns). Raises ``ValueError`` for columns that are not
        numeric, infinite numbers, and parameters out of range. Warns where rows are too few to confirm the formula."""
        self._check_parameters()
        name = getattr(y, "name", None)
        _require_numbers(X)
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(X.shape[1])])
        self._names = list(map(str, names))
        self.target_ = name if isinstance(name, str) and name else "y"
        while self.target_ in self._names:
            self.target_ += "_"
        search = FormulaSearch(float(self.seconds), float(self.held_out), int(self.random_state or 0))
        discovered = discover(X, y, search)
        if discovered.doubt:
            warnings.warn(discovered.doubt, UserWarning, stacklevel=2)
        self._formula, self.chosen_ = discovered.formula, discovered.chosen
        self.far_ = np.array(discovered.far, dtype=np.int64)
        shown = [format_predicate(column) for column in self._names]
        points = [(point.size, point.error, formula_text(point.formula, shown)) for point in discovered.pareto]
        self.pareto_ = [ParetoFormula(*point) for point in points]
        self._middle, self._usual = medians(X), float(np.median(y))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the values of the formula. A missing cell is replaced by the median of the training column; where the
        formula is undefined (division by 0, root of a negative number) the median of y is predicted."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        values = evaluate(self._formula, np.where(np.isnan(X), self._middle, X))
        return np.where(np.isfinite(values), values, self._usual)

    @property
    def formula(self) -> str:
        """The formula in the language's operators; columns by their names, ``pi`` by its name."""
        check_is_fitted(self)
        return self.pareto_[self.chosen_].formula

    def to_lnn(self) -> str:
        """A program that declares the columns that the formula reads as numbers of a row, and states it as a rule: for
        ``lnnkit.loads`` or an ``.lnn`` file."""
        check_is_fitted(self)
        return program_text(self._formula, self._names, self.target_)

    def to_latex(self) -> str:
        """The formula in LaTeX's mathematics, without dollars around it."""
        check_is_fitted(self)
        return formula_latex(self._formula, self._names)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        if not isinstance(self.seconds, Real) or isinstance(self.seconds, bool) or not self.seconds > 0:
            raise ValueError(f"seconds must be a number above 0; got {self.seconds!r}")
        if not isinstance(self.held_out, Real) or isinstance(self.held_out, bool) or not 0 < self.held_out < 1:
            raise ValueError(f"held_out must be above 0 and below 1, such as 0.3; got {self.held_out!r}")
        if self.random_state is not None and not isinstance(self.random_state, Integral):
            raise ValueError(f"random_state must be a whole number or None; got {self.random_state!r}")


def _require_numbers(X: Any) -> None:
    """Raise ``ValueError``, with the names, if columns of a data frame are not numeric."""
    named = zip(X.columns, getattr(X, "dtypes", ()), strict=False) if hasattr(X, "columns") else ()
    wrong = [repr(str(name)) for name, kind in named if getattr(kind, "kind", "f") not in "iufb"]
    if wrong:
        said = f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not"
        raise ValueError(f"columns must be numeric; {said}; leave out such columns, or encode them")
