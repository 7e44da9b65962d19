"""The outcome of fitting, with a report as an HTML page."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.report.training_page import fragment, page
from lnnkit.scores import Fitted


@dataclass(frozen=True, slots=True)
class Fit(Fitted):
    """The outcome of `KnowledgeBase.fit`: scores, loss and values (see `lnnkit.scores.Fitted`), and their page."""

    def to_html(self, title: str = "Training") -> str:
        """A self-contained HTML page: the rules before and after, the scores, and losses, parameters, thresholds and
        calibration as charts. Needs ``lnnkit[report]``; raises `Error` without it."""
        return page(self, title)

    def _repr_html_(self) -> str:
        return str(fragment(self))
