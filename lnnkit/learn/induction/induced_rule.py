"""An induced rule: a plain or weighted disjunction of conjunctions, and its truth in the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.learn.induction.hot_deck import Donors, expected
from lnnkit.learn.induction.table_literals import Conjunction, TableColumn, certain, holds, missing
from lnnkit.learn.induction.weighing.logistic_regression import sigmoid

SPAN = 8.0  # the span of the score over which the truth goes from 0 to 1
GRID = SPAN / 100  # weights are multiples of this


@dataclass(frozen=True, slots=True)
class Induced:
    """A rule: ``score = start + sum weight * conjunction``, true where it is above 0. Weights may be negative.
    ``plain`` rules are disjunctions of conjunctions without weights. ``unknown``: the truth of rows for which a plain
    rule is unknown; None: that of similar rows."""

    conjunctions: tuple[Conjunction, ...]
    weights: np.ndarray
    start: float
    plain: bool
    unknown: float | None = None

    @property
    def columns(self) -> list[int]:
        """The places of the columns that the rule reads."""
        return sorted({place for each in self.conjunctions for literal, _ in each for place in literal.columns})

    def score(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the score of rows. A conjunction with an unknown literal has its mean truth over the training rows."""
        true = np.zeros(len(columns[0].values) if columns else 0)
        for weight, each in zip(self.weights, self.conjunctions, strict=True):
            if not self.plain:
                true += weight * holds(each, columns)
            elif self.unknown is None:
                true = np.maximum(true, holds(each, columns))
            else:
                fails = np.logical_or.reduce([certain(literal, not wanted, columns) for literal, wanted in each])
                known = np.logical_and.reduce([certain(*part, columns) for part in each])
                true = np.maximum(true, np.where(known, 1.0, np.where(fails, 0.0, self.unknown)))
        return (true - 0.5) * SPAN if self.plain else true + self.start

    @property
    def span(self) -> float:
        """The span of the score over which the truth goes from 0 to 1 in the rule as written, whose bias is not
        negative."""
        return max(SPAN, 2 * (self.start + float(self.weights[self.weights < 0].sum())))

    def truth(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the truth of rows under the rule as written (`lnnkit.learn.induction.rule_statements`)."""
        return np.clip(0.5 + self.score(columns) / self.span, 0.0, 1.0)

    def expected_truth(self, columns: Sequence[TableColumn], donors: Donors) -> np.ndarray:
        """(n,) the truth of rows; if a cell that the rule reads is missing, the truth at the expected log-odds
        (`expected`). The mean of truths, which saturate at 0 and 1, was half a point less accurate on heloc."""
        found, gaps = self.truth(columns), self._gaps(columns)
        if gaps.any():
            likely = self.expected([each.of(each.values[gaps]) for each in columns], donors)
            odds = np.log(likely) - np.log(np.maximum(1 - likely, 1e-300))
            found[gaps] = np.clip(0.5 + odds / self.span, 0.0, 1.0)
        return found

    def expected(self, columns: Sequence[TableColumn], donors: Donors) -> np.ndarray:
        """(n,) the probability that rows are true, the sigmoid of the score. If a cell that the rule reads is missing,
        the mean over the donors that fill it."""
        if self.unknown is not None:
            return sigmoid(self.score(columns))
        return expected(lambda filled: sigmoid(self.score(filled)), columns, self._gaps(columns), donors)

    def _gaps(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) a mask of rows with a missing cell that the rule reads."""
        gaps = np.zeros(len(columns[0].values) if columns else 0, bool)
        for place in self.columns:
            gaps |= missing(columns[place])
        return gaps
