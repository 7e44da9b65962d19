"""What fitting came to, as a value that draws itself as a page."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.report.page import fragment, page
from lnnkit.scores import Fitted


@dataclass(frozen=True, slots=True)
class Fit(Fitted):
    """The outcome of `KnowledgeBase.fit`: scores, loss and values (see `lnnkit.scores.Fitted`), and their page."""

    def to_html(self, title: str = "Training") -> str:
        """A page that needs nothing beside it: losses, parameters, thresholds and calibration as pictures, the scores,
        and the rules before and after."""
        return page(self, title)

    def _repr_html_(self) -> str:
        return fragment(self)
