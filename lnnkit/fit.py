"""What fitting came to, as a value that draws itself as a page."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.report.training_page import fragment, page
from lnnkit.scores import Fitted


@dataclass(frozen=True, slots=True)
class Fit(Fitted):
    """The outcome of `KnowledgeBase.fit`: scores, loss and values (see `lnnkit.scores.Fitted`), and their page."""

    def to_html(self, title: str = "Training") -> str:
        """A page that needs nothing beside it: the rules before and after, the scores, and losses, parameters,
        thresholds and calibration as charts. Needs ``lnnkit[report]``: `Error` without."""
        return page(self, title)

    def _repr_html_(self) -> str:
        return str(fragment(self))
