"""Scores: the agreement of answers with labels, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from lnnkit.markup.pages import aligned
from lnnkit.syntax.dates import date_text

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.syntax.diagnostic import Diagnostic


_COLUMNS = ("n", "accuracy", "auroc", "aupr", "log_loss", "brier", "calibration", "coverage", "contradictions")
_OF_NUMBERS = ("n", "rmse", "mae", "r2", "coverage")


def _cell(value: str | float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Score:
    """How the answers for ``n`` labelled atoms of one predicate agree with their labels.

    The *score* of an atom is the midpoint of its bounds; if no rule can bound the predicate's upper ends, it is the
    lower end (so that an atom about which nothing is known counts as false), and vice versa. A label's score is taken
    from its bounds in the same way. A score above one half is true. ``auroc`` and ``aupr`` are None where all labels
    are alike. ``calibration`` is the expected calibration error over ten bins of equal width; ``coverage`` the share of
    atoms that are decided: true (lower above one half) or false (upper below one half); ``distance`` the mean absolute
    distance of the bounds from those of the labels; ``contradictions`` counts atoms whose bounds are crossed.
    """

    n: int
    positives: int
    accuracy: float
    auroc: float | None
    aupr: float | None
    log_loss: float
    brier: float
    calibration: float
    coverage: float
    distance: float
    contradictions: int

    def as_dict(self) -> dict[str, float | int | None]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NumberScore:
    """How the answers for ``n`` labelled numbers agree with their labels: root mean square and mean absolute error of
    the middles of their intervals, and the coefficient of determination, over the share of them (``coverage``) whose
    interval has two ends. None where there are none, or all labels are alike."""

    n: int
    rmse: float | None
    mae: float | None
    r2: float | None
    coverage: float

    def as_dict(self) -> dict[str, float | int | None]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores by predicate and by number, and the total number of contradictions. They print as a table."""

    predicates: Mapping[str, Score] = field(default_factory=dict)
    contradictions: int = 0
    numbers: Mapping[str, NumberScore] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit eval --format json`` prints."""
        scores: dict[str, object] = {
            "predicates": {name: score.as_dict() for name, score in self.predicates.items()},
            "contradictions": self.contradictions,
        }
        if self.numbers:
            scores["numbers"] = {name: score.as_dict() for name, score in self.numbers.items()}
        return scores

    def tables(self) -> Iterator[tuple[list[str], list[list[str | float | None]]]]:
        """The heads and the rows of what a person is shown: predicates, then numbers, where there are any."""
        for kind, columns, scores in (("predicate", _COLUMNS, self.predicates), ("number", _OF_NUMBERS, self.numbers)):
            rows = [[name, *(getattr(score, column) for column in columns)] for name, score in scores.items()]
            if rows or (kind == "predicate" and not self.numbers):
                yield [kind, *(column.replace("_", " ") for column in columns)], rows

    def __str__(self) -> str:
        shown = ([list(map(_cell, row)) for row in (heads, *rows)] for heads, rows in self.tables())
        return "\n\n".join("\n".join(aligned(rows, range(1, len(rows[0])))) for rows in shown)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from lnnkit.markup.pages import Table, tables

        return tables(*(Table("", heads, rows, len(rows)) for heads, rows in self.tables()))

    @property
    def exact(self) -> bool:
        """Whether there are labels, all of them are met, to 1e-12, and nothing is contradictory."""
        truths = all(score.brier <= 1e-12 for score in self.predicates.values())
        values = all(score.coverage == 1 and score.r2 is not None and score.r2 >= 1 - 1e-12
                     for score in self.numbers.values())  # fmt: skip
        return bool(self.predicates or self.numbers) and truths and values and not self.contradictions

    @property
    def accuracy(self) -> float:
        """The accuracy over all labels."""
        total = sum(score.n for score in self.predicates.values())
        return sum(score.accuracy * score.n for score in self.predicates.values()) / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Epoch:
    """The state of fitting at one of its inferences: the restart (from 1), the number of epochs so far, the loss of the
    training labels and its terms, that of the validation labels (None: there are none), the accuracy on the labels that
    decide when to stop (None: all are of numbers), and the values by parameter name."""

    restart: int
    epoch: int
    loss: float
    terms: Mapping[str, float]
    validation: float | None
    accuracy: float | None
    values: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        terms = ", ".join(f"{name} {value:.4g}" for name, value in self.terms.items())
        held = "" if self.validation is None else f", validation {self.validation:.4g}"
        right = "" if self.accuracy is None else f", accuracy {self.accuracy:.4f}"
        return f"epoch {self.epoch}: loss {self.loss:.4g} ({terms}){held}{right}"


@dataclass(frozen=True, slots=True)
class LearnedNumber:
    """A number that was learned: its parameter's name, its kind (weight, bias, lower, upper, value), the names of the
    rules that contain it, and the text of the operand or connective that it weights or biases."""

    name: str
    kind: str
    rules: tuple[str, ...]
    of: str


@dataclass(frozen=True, slots=True)
class Threshold:
    """The data of a threshold: for each row the value of the threshold at which ``comparison`` changes (n,), and the
    truth of the label of ``predicate`` about the same entities (n,), nan if there is none."""

    name: str
    comparison: str
    turns: np.ndarray
    predicate: str | None
    truths: np.ndarray


@dataclass(frozen=True, slots=True)
class Predictions:
    """The truth of the labels of one predicate, and of the answers for them, as single numbers, before and after
    fitting; ``held`` flags those that were held out. All are (n,)."""

    predicate: str
    wanted: np.ndarray
    before: np.ndarray
    after: np.ndarray
    held: np.ndarray


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a report of fitting shows beside its scores. ``before`` are the scores on training and validation labels
    before the first step, ``kept`` is the index in the history of the values that were kept (None: they were found
    before the checkpoint from which the run continued), ``rules`` has the name of each rule with its text before and
    after."""

    parameters: Sequence[LearnedNumber]
    thresholds: Sequence[Threshold]
    predictions: Sequence[Predictions]
    before: tuple[Scores, Scores | None]
    kept: int | None
    rules: Sequence[tuple[str, str, str]] = ()


@dataclass(frozen=True, slots=True)
class FoundFormula:
    """The formula of an unknown function, found from this number of ``rows``: its text with the terms of the first of
    its ``rules``, and its ``error`` on held-out rows (mean absolute residual over that of the best constant: 0 is
    exact, 1 no better than a constant). ``pareto`` has the size, error and text of each formula that no smaller one
    beats."""

    function: str
    rules: tuple[str, ...]
    formula: str
    error: float
    rows: int
    pareto: tuple[tuple[int, float, str], ...]

    @property
    def shown_error(self) -> str:
        return "0" if self.error < 1e-9 else f"{self.error:.3g}"

    def as_dict(self) -> dict[str, object]:
        pareto = [{"size": size, "error": error, "formula": text} for size, error, text in self.pareto]
        return asdict(self) | {"rules": list(self.rules), "pareto": pareto}


@dataclass(frozen=True, slots=True)
class Fitted:
    """The result of fitting: the scores on the training labels and on the validation labels (None: there are none), the
    loss and its terms, the values by parameter name, and the history. ``stopped`` is epochs, patience, solved (every
    label is met exactly) or interrupted; ``warnings`` report values that could not be learned or are arbitrary;
    ``functions`` are the formulas that were found for unknown functions, ``dated`` the values that are dates."""

    train: Scores
    validation: Scores | None
    loss: float
    terms: Mapping[str, float]
    values: Mapping[str, float]
    stopped: str
    history: tuple[Epoch, ...]
    evidence: Evidence = field(repr=False)
    warnings: tuple[Diagnostic, ...]
    functions: tuple[FoundFormula, ...]
    dated: frozenset[str]

    def __str__(self) -> str:
        """One line for each scored predicate, and one for the learned values; the rest is in the attributes."""
        scores = self.validation or self.train
        scored = ", ".join(
            f"{name} accuracy {score.accuracy:.4g} (n={score.n})" for name, score in scores.predicates.items()
        )
        by = "labels held back" if self.validation else "the labels learned from"
        shown = {name: date_text(value) for name, value in self.values.items() if name in self.dated}
        values = ", ".join(f"{name} = {shown.get(name) or f'{value:.6g}'}" for name, value in self.values.items())
        head = f"fitted until {self.stopped}, loss {self.loss:.4g}"
        lines = [head, f"{by}: {scored}" if scored else "", f"learned: {values}" if values else "nothing was learned"]
        return "\n".join(filter(None, [*lines, *(warning.render() for warning in self.warnings)]))

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit train --format json`` prints."""
        return {
            "train": self.train.as_dict(),
            "validation": None if self.validation is None else self.validation.as_dict(),
            "loss": self.loss,
            "terms": dict(self.terms),
            "parameters": {n: date_text(v) if n in self.dated else v for n, v in self.values.items()},
            "functions": [function.as_dict() for function in self.functions],
            "epochs": self.history[-1].epoch if self.history else 0,
            "stopped": self.stopped,
            "warnings": [warning.as_dict() for warning in self.warnings],
        }


@dataclass(frozen=True, slots=True)
class Classical:
    """Whether one connective of a rule is classical at the given threshold."""

    rule: str
    formula: str
    kind: str
    classical: bool
