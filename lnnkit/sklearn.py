"""Rules as a scikit-learn classifier, and formulas as a regressor (`FormulaRegressor`); needs the extra
``lnnkit[sklearn]``.

``RuleClassifier()`` induces a rule from a table; ``RuleClassifier(rules=..., target=...)`` trains the rules that it is
given. The columns of a data frame are the predicates and numbers of a row:

- numbers: ``age(X) >= 40``; dates are days since 1970-01-01 (in UTC), durations are days;
- truth values: ``member(X)``;
- texts, categories and all else, by their text: ``purpose(X, "car")``.

A missing cell (NaN, None, NaT, ``pd.NA``) is unknown: a number may be any, a truth value or a category either. A
category that did not occur in training differs from all that did. Infinite numbers are refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import BaseEstimator, ClassifierMixin  # pyright: ignore[reportMissingImports]  # an extra
from sklearn.utils.multiclass import check_classification_targets  # pyright: ignore[reportMissingImports]  # an extra
from sklearn.utils.validation import (  # pyright: ignore[reportMissingImports]  # an extra
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)
from threadpoolctl import threadpool_limits  # pyright: ignore[reportMissingImports]  # an extra

from lnnkit.formula_regressor import FormulaRegressor as FormulaRegressor
from lnnkit.kb import KnowledgeBase, loads
from lnnkit.learn.induction.induced_rule import Induced, declaration, donors, rule_lines, statements, with_values_quoted
from lnnkit.learn.induction.rule_induction import Clock, Limits, induce
from lnnkit.learn.induction.table_literals import LabelledTable, TableColumn, columns_of, in_order
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_predicate, format_statement, format_string


class RuleClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose model is a program of rules.

    Parameters
    ----------
    rules: rules of the language about the columns of X, for one predicate of a row, such as
        ``"rule age(X) > ?cut & purpose(X, car) -> Bad(X)"``; None: a rule is induced, of more than two classes one for
        each.
    target: the predicate that the ``rules`` conclude; its truth is that of the class ``positive``.
    positive: the class, one of two, whose truth the target is; None: the one that sorts last.
    max_rules, max_literals: of an induced rule: the greatest number of conjunctions (of a weighted rule: terms), and of
        literals in each; None: as many as improve the score on held-out rows. Of two classes, ``max_rules=1`` gives a
        rule without weights: the conjunction that is right most often.
    max_seconds: the time that inducing rules may take, about; the richer kinds of rules are left out where it is short,
        and results depend on the machine. None: no limit.
    epochs, rate: of the training of ``rules``, as in ``KnowledgeBase.fit``.
    random_state: the seed of all random draws.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_: as in scikit-learn.
    positive_: the class whose truth the target is; None for more than two classes.
    targets_: the predicates that the program concludes: that of ``positive_``, or one for each class. Those of induced
        rules have the names of their classes (``good``; ``Class1`` for the class 1).
    program_: the program text, with what was learned.
    """

    def __init__(
        self,
        rules: str | None = None,
        target: str | None = None,
        *,
        positive: Any = None,
        max_rules: int | None = None,
        max_literals: int | None = None,
        max_seconds: float | None = None,
        epochs: int = 200,
        rate: float = 0.05,
        random_state: int | None = None,
    ) -> None:
        self.rules = rules
        self.target = target
        self.positive = positive
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.max_seconds = max_seconds
        self.epochs = epochs
        self.rate = rate
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> RuleClassifier:
        """Learn from a table X (rows by columns; a data frame, or numbers) and the classes y of its rows. Warns where
        the rule is no better than the commoner class for all rows, and where given rules conclude the other class.

        Raises ``ValueError`` for parameters that do not go together, and for infinite numbers."""
        self._check_parameters()
        if y is None:
            raise ValueError("RuleClassifier requires y to be passed, but the target y is None")
        columns = self._columns_of(X, reset=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("RuleClassifier needs two classes or more; the data holds only one class")
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._positive = self._place_of_positive()
        self.positive_ = None if self._positive is None else self.classes_[self._positive]
        self._columns = [column.without_rows() for column in columns]
        if self.rules is not None:
            self._fit_rules(columns, codes)
        else:
            self._induce(columns, codes, weight)
        self._warn_of_majority(columns, codes, weight)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n, classes) the truth of each class for each row.

        Of two classes: the truth of the target as ``knowledge_base(X).ask(...)`` gives it, the middle of its bounds,
        and its complement. It is a degree of truth, linear in the sum of a rule's terms, not a calibrated probability
        (see `decision_function`); 0.5 is the decision. If a row lacks cells that an induced rule reads, its bounds are
        wide, and the truth is the value within them that similar training rows with those cells suggest. Of more than
        two classes, each with a rule of its own: the probabilities from the rules' log-odds, normalised to sum to 1."""
        check_is_fitted(self)
        columns = self._read(X)
        if self.rules is not None:
            true = self._truths(columns)[:, None]
        elif self._positive is not None:
            true = self.rules_[0].expected_truth(columns, self.donors_)[:, None]
        else:
            true = np.stack([rule.expected(columns, self.donors_) for rule in self.rules_], axis=1)
        if self._positive is None:
            return true / np.maximum(true.sum(axis=1, keepdims=True), 1e-300)
        both = [true, 1 - true] if self._positive == 0 else [1 - true, true]
        return np.concatenate(both, axis=1)

    def decision_function(self, X: Any) -> np.ndarray:
        """(n,) how far the rows are from the decision, above 0 for the class that sorts last; (n, classes) of more than
        two classes. Of induced rules the log-odds of a class, as training fitted them: ``1 / (1 + exp(-d))`` is the
        probability to compare with those of other models. Of given rules the truth, less one half."""
        check_is_fitted(self)
        columns = self._read(X)
        if self.rules is not None:
            decision = self._truths(columns) - 0.5
        else:
            likely = np.stack([rule.expected(columns, self.donors_) for rule in self.rules_], axis=1)
            odds = np.log(likely / np.maximum(1 - likely, 1e-300))
            decision = odds if self._positive is None else odds[:, 0]
        return -decision if self._positive == 0 else decision

    def predict(self, X: Any) -> np.ndarray:
        """(n,) the class with the greatest truth for each row."""
        truest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[truest]

    def export_text(self) -> str:
        """The rules as text: what each term of an induced rule adds, dates as dates; given rules as learned."""
        check_is_fitted(self)
        if self.rules is not None:
            rules = (rule for rule in parse(self.program_)[0].statements if isinstance(rule, ast.RuleOrAxiom))
            return "".join(f"{format_statement(rule, as_written=True)}\n" for rule in rules)
        names = [str(name) for name in self.classes_]
        pairs = [(name, f"another than {name}") for name in names]
        if self._positive is not None:
            pairs = [(names[self._positive], names[1 - self._positive])]
        lines = (rule_lines(rule, self._columns, *pair) for rule, pair in zip(self.rules_, pairs, strict=True))
        return "".join(f"{line}\n" for part in lines for line in part)

    def knowledge_base(self, X: Any) -> KnowledgeBase:
        """The program with the rows of X as facts about ``row0``, ``row1``, ...: for queries and explanations."""
        check_is_fitted(self)
        return self._with_facts(self.program_, self._read(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _check_parameters(self) -> None:
        if self.rules is None and self.target is not None:
            hint = "give rules=..., or leave target out: the heads of induced rules are named after the classes"
            raise ValueError(f"target={self.target!r} names what rules conclude, and no rules are given; {hint}")
        if self.rules is not None and self.target is None:
            raise ValueError("RuleClassifier(rules=...) needs target=, the predicate that the rules conclude")
        for name in ("max_rules", "max_literals"):
            limit = getattr(self, name)
            if limit is not None and self.rules is not None:
                raise ValueError(f"{name} applies to induced rules only, and rules are given; leave out one of the two")
            if limit is not None and (not isinstance(limit, Integral) or isinstance(limit, bool) or int(limit) < 1):
                raise ValueError(f"{name} must be a whole number of at least 1, or None; got {limit!r}")
        limit = self.max_seconds
        positive = isinstance(limit, Real) and not isinstance(limit, bool) and float(limit) > 0
        if limit is not None and (self.rules is not None or not positive):
            raise ValueError(f"max_seconds must be a number above 0, for induced rules, or None; got {limit!r}")

    def _place_of_positive(self) -> int | None:
        """The place of the positive class among two; None for more."""
        listed = ", ".join(repr(label) for label in self.classes_.tolist())
        if len(self.classes_) > 2:
            if self.rules is not None:
                raise ValueError(f"rules tell two classes apart; y has {len(self.classes_)}: {listed}")
            if self.positive is not None:
                raise ValueError(f"positive= names one of two classes; y has {len(self.classes_)}: {listed}")
            return None
        if self.positive is None:
            return 1
        if self.positive not in self.classes_.tolist():
            raise ValueError(f"positive={self.positive!r} is not a class of y; the classes are {listed}")
        return self.classes_.tolist().index(self.positive)

    def _columns_of(self, X: Any, *, reset: bool) -> list[TableColumn]:
        """The columns of X, checked as scikit-learn requires; a frame's are read as they are."""
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            if not len(X):
                raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required")
        else:
            odd = np.asarray(X).dtype.kind in "OUSmMb"
            X = validate_data(self, X, reset=reset, ensure_all_finite="allow-nan", dtype=None if odd else "numeric")
        columns = columns_of(X)
        for column in columns:
            if column.numeric and np.isinf(column.values).any():
                row = int(np.isinf(column.values).argmax())
                hint = "give a finite number, or leave the cell missing (NaN) where the value is unknown"
                raise ValueError(f"column {column.name!r} holds infinity (row {row}); {hint}")
        return columns

    def _read(self, X: Any) -> list[TableColumn]:
        """The columns of rows to be predicted, of the kinds that they had in training."""
        columns = self._columns_of(X, reset=False)
        return [column.as_fitted(trained) for column, trained in zip(columns, self._columns, strict=True)]

    def _induce(self, columns: list[TableColumn], codes: np.ndarray, weight: np.ndarray) -> None:
        columns, codes, weight = in_order(columns, codes, weight)
        self.donors_ = donors(columns, np.random.default_rng(self._seed))
        kinds = range(len(self.classes_)) if self._positive is None else [self._positive]
        two = self._positive is not None  # with more classes, the rule with the greatest score decides
        seed, limits = self._seed, Limits(self.max_rules, self.max_literals, plain=two)
        tables = [LabelledTable(columns, codes == kind, weight) for kind in kinds]
        columns = self._columns  # a table is freed as soon as a sample of it is taken
        seconds = None if self.max_seconds is None else float(self.max_seconds) / len(kinds)
        self.rules_: list[Induced] = []
        # Matrices are small: threads that wait for each other took up to twice the CPU time on a busy machine
        with threadpool_limits(1, "blas"), Console(stderr=True).status("reading the table") as shown:  # on a terminal
            while tables:
                self.rules_.append(induce(tables.pop(0), seed, limits, Clock(seconds, shown.update)))
        self.targets_ = _heads([self.classes_[kind] for kind in kinds], [column.name for column in columns])
        lines: list[str] = []
        for name, rule in zip(self.targets_, self.rules_, strict=True):
            lines += [line for line in statements(rule, columns, name) if line not in lines]
        self.program_ = "\n".join(lines) + "\n"

    @property
    def _seed(self) -> int:
        return 0 if self.random_state is None else int(self.random_state)

    def _warn_of_majority(self, columns: list[TableColumn], codes: np.ndarray, weight: np.ndarray) -> None:
        """Warn where the commoner class for all rows is right as often on the training rows."""
        if self.rules is not None:
            true = self._truths(columns)
            self._warn_of_other_class(true, codes)
            every = (true - 0.5)[:, None]
        else:
            every = np.stack([rule.score(columns) for rule in self.rules_], axis=1)
        place, whole = self._positive, float(weight.sum())
        truest = every.argmax(axis=1) if place is None else np.where(every[:, 0] > 0, place, 1 - place)
        right, least = float(weight @ (truest == codes)) / whole, float(np.bincount(codes, weight).max()) / whole
        if right <= least + 1e-9 and least < 1:
            tried = "start thresholds elsewhere or leave their starts out" if self.rules else "give it other columns"
            message = (
                f"the rules are no better than the commoner class for every row: {right:.1%} of the training rows are "
                f"right, against {least:.1%}; {tried}, or check that the columns tell the classes apart"
            )
            warnings.warn(message, UserWarning, stacklevel=3)

    def _warn_of_other_class(self, true: np.ndarray, codes: np.ndarray) -> None:
        """Warn if the target has the name of the other class, or is more often true of that one."""
        assert self.target is not None and self._positive is not None
        positive, other = (_plain_value(self.classes_[place]) for place in (self._positive, 1 - self._positive))
        named = _folded(self.target) == _folded(other) != _folded(positive)
        wanted = codes == self._positive
        inverted = bool(true[wanted].mean() < true[~wanted].mean())
        if named or (inverted and self.positive is None):
            why = "is named like" if named else "is true more often of"
            default = "" if self.positive is not None else ", as it sorts last"
            message = f"`{self.target}` {why} the class {other!r}, but is trained as the truth of {positive!r}{default}"
            hint = f"if the rules conclude {other!r}, give positive={other!r}"
            warnings.warn(f"{message}; {hint}", UserWarning, stacklevel=4)

    def _fit_rules(self, columns: list[TableColumn], codes: np.ndarray) -> None:
        assert self.target is not None and self.rules is not None
        self.targets_, rules = [self.target], self.rules
        used = [column for column in columns if column.name in rules or format_string(column.name) in rules]
        text = "".join([*(f"{declaration(column)}\n" for column in used), f"{rules}\n"])
        kb = self._with_facts(with_values_quoted(text, used), columns)
        kb.label(self.target, {"row": _ids(len(codes)), "truth": (codes == self._positive).astype(float)})
        kb.fit(epochs=self.epochs, rate=self.rate, seed=self._seed)
        self.program_ = kb.text

    def _with_facts(self, text: str, columns: Sequence[TableColumn]) -> KnowledgeBase:
        """The program with facts for those columns that it declares."""
        kb, declared = loads(text), _declared(text)
        for column, trained in zip(columns, self._columns, strict=True):
            if column.name in declared:
                _tell(kb, column, trained)
        return kb

    def _truths(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the midpoint of the target's bounds."""
        assert self.target is not None
        kb = self._with_facts(self.program_, columns)
        answers = kb.ask(f"{format_predicate(self.target)}(X)")
        closed = getattr(_declared(self.program_).get(self.target), "closed", False)
        truths = np.full(len(columns[0].values) if columns else 0, 0.0 if closed else 0.5)
        rows = [int(text[3:]) for text in answers.columns[0]] if len(answers) else []
        truths[rows] = (np.asarray(answers.lower) + np.asarray(answers.upper)) / 2
        return truths


def _declared(text: str) -> dict[str, ast.NumberStatement | ast.PredicateStatement]:
    """The declarations of a program, by name."""
    kinds = (ast.NumberStatement, ast.PredicateStatement)
    return {statement.name: statement for statement in parse(text)[0].statements if isinstance(statement, kinds)}


def _heads(classes: Sequence[Any], taken: Sequence[str]) -> list[str]:
    """A predicate for each class, named after it (with ``Class`` in front of a number), unlike any column."""
    heads: list[str] = []
    for plain in map(_plain_value, classes):
        whole = isinstance(plain, float) and plain.is_integer()
        name = plain if isinstance(plain, str) and plain else f"Class{int(plain) if whole else plain}"
        while name in taken or name in heads:
            name += "_"
        heads.append(name)
    return heads


def _plain_value(value: Any) -> Any:
    """A class as Python has it."""
    return value.item() if isinstance(value, np.generic) else value


def _folded(value: Any) -> str:
    return "".join(character for character in str(value).casefold() if character.isalnum())


def _tell(kb: KnowledgeBase, column: TableColumn, trained: TableColumn) -> None:
    """The cells of a column as facts; a truth value or a category that is missing may be any that training had."""
    rows, unknown = np.array(_ids(len(column.values)), object), column.missing
    if not unknown.all():
        name = "truth" if column.kind == "truth" else "value"
        kb.tell(column.name, {"row": rows[~unknown].tolist(), name: column.values[~unknown].tolist()})
    levels = [] if column.numeric else sorted({*trained.values.tolist(), *column.values[~unknown].tolist()})
    either: list[tuple[Any, ...]] = [(row, value, 0.0, 1.0) for row in rows[unknown].tolist() for value in levels]
    if column.kind == "truth":
        either = [(row, 0.0, 1.0) for row in rows[unknown].tolist()]
    if either:
        kb.tell(column.name, either)


def _ids(count: int) -> list[str]:
    return [f"row{place}" for place in range(count)]
