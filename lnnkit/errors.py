"""The exceptions that lnnkit raises; each has diagnostics."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.syntax.diagnostic import Diagnostic


class Error(Exception):
    """An error in lnnkit's input. ``diagnostics`` holds every finding, in order."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(diagnostic.render() for diagnostic in self.diagnostics))


class ProgramError(Error):
    """The program text is wrong."""


class DataError(Error):
    """A data file or a told table is wrong."""


class BudgetError(Error):
    """Grounding would exceed the budget; names the rule, its variables and the number of instances."""
