"""The exceptions that lnnkit raises; each has diagnostics."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.syntax.diagnostic import Diagnostic

_SHOWN = 40  # findings in the text of an exception, which a notebook shows whole


class Error(Exception):
    """An error in lnnkit's input. ``diagnostics`` holds every finding, in order; its text shows the first."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        shown = [diagnostic.render() for diagnostic in self.diagnostics[:_SHOWN]]
        more = len(self.diagnostics) - len(shown)
        super().__init__("\n".join([*shown, *([f"and {more:,} more, in `diagnostics`"] if more else [])]))


class ProgramError(Error):
    """The program text is wrong."""


class DataError(Error):
    """A data file or a told table is wrong."""


class BudgetError(Error):
    """Grounding would exceed the budget; names the rule, its variables and the number of instances."""
