"""Rules as a scikit-learn classifier; needs the extra ``lnnkit[sklearn]``.

``RuleClassifier()`` induces a rule from a table; ``RuleClassifier(rules=..., target=...)`` trains the rules that it is
given. Columns of a data frame are numbers, or, where they hold texts or categories, predicates of a row and a value:
``age(X) >= 40``, ``purpose(X, "car")``. Missing cells are unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin  # pyright: ignore[reportMissingImports]  # an extra
from sklearn.utils.multiclass import (  # pyright: ignore[reportMissingImports]  # an extra
    check_classification_targets,
)
from sklearn.utils.validation import (  # pyright: ignore[reportMissingImports]  # an extra
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from lnnkit.kb import KnowledgeBase, loads
from lnnkit.learn.columns import columns_of, declarations, in_order
from lnnkit.learn.donors import donors
from lnnkit.learn.induced import statements
from lnnkit.learn.induction import Induced, induce
from lnnkit.learn.literals import TableColumn, known_texts

_ROW = "row"
_TARGET = "Target"


class RuleClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose model is a program of rules.

    Parameters
    ----------
    rules: rules of the language about the columns of X, for one predicate of a row, such as
        ``"rule age(X) > ?cut & purpose(X, car) -> Bad(X)"``; None: a rule is induced for each class but one of two.
    target: the predicate that the rules conclude, with ``rules``; its truth is that of the class that sorts last.
    epochs, rate: of the training of ``rules``, as in ``KnowledgeBase.fit``.
    random_state: the seed of all that is drawn.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_: as ever.
    program_: the program text, with what was learned.
    """

    def __init__(
        self,
        rules: str | None = None,
        target: str | None = None,
        *,
        epochs: int = 200,
        rate: float = 0.05,
        random_state: int | None = None,
    ) -> None:
        self.rules = rules
        self.target = target
        self.epochs = epochs
        self.rate = rate
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RuleClassifier:
        """Learn from a table X (rows by columns; a data frame, or numbers) and the classes y of its rows."""
        frame = X
        X, y = self._checked(X, y, reset=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("RuleClassifier needs two classes or more; the data holds only one class")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        columns = columns_of(frame if hasattr(frame, "columns") else X)
        self.columns_ = [column.name for column in columns]
        if self.rules is not None:
            self._fit_rules(columns, codes)
            return self
        columns, codes, weight = in_order(columns, codes, weight)
        kinds = range(1, 2) if len(self.classes_) == 2 else range(len(self.classes_))
        seed = 0 if self.random_state is None else int(self.random_state)
        self.donors_ = donors(columns, np.random.default_rng(seed))
        self.rules_: list[Induced] = [induce(columns, codes == kind, weight, seed) for kind in kinds]
        lines: list[str] = []
        stem = _unused(_TARGET, self.columns_)
        for kind, rule in zip(kinds, self.rules_, strict=True):
            name = stem if len(self.classes_) == 2 else f"{stem}{kind}"
            lines += [line for line in statements(rule, columns, name) if line not in lines]
        self.program_ = "\n".join(lines) + "\n"
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, classes) the truth of each class for each row. Where cells are missing, that of an induced rule is the
        mean over training rows that are alike and fill them; it lies within the bounds that the program gives."""
        check_is_fitted(self)
        frame = X
        X, _ = self._checked(X, None, reset=False)
        columns = columns_of(frame if hasattr(frame, "columns") else X)
        if self.rules is not None:
            true = self._truths(columns)[:, None]
        else:
            true = np.stack([rule.expected(columns, self.donors_) for rule in self.rules_], axis=1)
        if true.shape[1] == 1:
            return np.concatenate([1 - true, true], axis=1)
        return true / np.maximum(true.sum(axis=1, keepdims=True), 1e-300)

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the class of each row: the one that is truest."""
        truest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[truest]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
        """X and y as scikit-learn wants them; a data frame keeps its columns of texts."""
        options: dict[str, Any] = {"ensure_all_finite": "allow-nan", "reset": reset}
        if hasattr(X, "columns"):
            _refuse_dates(X)
            X = _plain(X)
            options["dtype"] = None
        elif np.asarray(X).dtype.kind in "OUS":
            options["dtype"] = None
        if y is None and not reset:
            return validate_data(self, X, **options), None
        options["y"] = y
        checked: Any = validate_data(self, X, **options)
        return checked[0], checked[1]

    # --- given rules ------------------------------------------------------------------------------------------------

    def _fit_rules(self, columns: list[TableColumn], codes: np.ndarray) -> None:
        if self.target is None:
            raise ValueError("RuleClassifier(rules=...) needs target=, the predicate that the rules conclude")
        if len(self.classes_) > 2:
            raise ValueError(f"rules tell two classes apart; y has {len(self.classes_)}")
        kb = self._knowledge_base(self._declared(columns) + (self.rules or "") + "\n", columns)
        kb.label(self.target, {"row": _ids(len(codes)), "truth": (codes == 1).astype(float)})
        seed = 0 if self.random_state is None else int(self.random_state)
        kb.fit(epochs=self.epochs, rate=self.rate, seed=seed)
        self.program_ = kb.text

    def _declared(self, columns: list[TableColumn]) -> str:
        return "".join(f"{line}\n" for line in declarations(columns, _ROW))

    def _knowledge_base(self, text: str, columns: list[TableColumn]) -> KnowledgeBase:
        kb = loads(text)
        for column in columns:
            known = ~np.isnan(column.values) if column.numeric else known_texts(column.values)
            rows = np.array(_ids(len(column.values)))
            if known.any():
                kb.tell(column.name, {"row": rows[known].tolist(), "value": column.values[known].tolist()})
            if not column.numeric and not known.all():  # any of the values may be the missing one
                values = sorted(set(column.values[known].tolist()))
                pairs = [(row, value, 0.0, 1.0) for row in rows[~known].tolist() for value in values]
                if pairs:
                    kb.tell(column.name, pairs)
        return kb

    def _truths(self, columns: list[TableColumn]) -> np.ndarray:
        assert self.target is not None
        kb = self._knowledge_base(self.program_, columns)
        count = len(columns[0].values) if columns else 0
        answers = kb.ask(f"{self.target}(X)")
        default = 0.0 if "closed" in self.program_ else 0.5
        found = np.full(count, default)
        rows = np.array([int(text[3:]) for text in answers.columns[0]], dtype=int) if len(answers) else np.zeros(0, int)
        found[rows] = (np.asarray(answers.lower) + np.asarray(answers.upper)) / 2
        return found


def _unused(stem: str, names: Sequence[str]) -> str:
    """The stem, lengthened until no name begins with it."""
    while any(name.startswith(stem) for name in names):
        stem += "_"
    return stem


def _plain(frame: Any) -> Any:
    """Categories as what they stand for: beside flags scikit-learn would take them for numbers."""
    own = [name for name, dtype in getattr(frame, "dtypes", {}).items() if getattr(dtype, "name", "") == "category"]
    return frame.astype(dict.fromkeys(own, object)) if own and hasattr(frame, "iloc") else frame


def _refuse_dates(frame: Any) -> None:
    names = list(frame.columns)
    if len(set(names)) < len(names):
        return  # scikit-learn says so
    for name in names:
        if getattr(getattr(frame[name], "dtype", None), "kind", "") in "mM":
            raise TypeError(f"column {name!r} holds dates or durations; give numbers, such as days, or texts")


def _ids(count: int) -> list[str]:
    return [f"row{place}" for place in range(count)]
