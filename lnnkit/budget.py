"""How many instances of one rule may be grounded, and the error for more."""

from __future__ import annotations

import os

from lnnkit.errors import BudgetError
from lnnkit.infer.inference import TooLarge
from lnnkit.syntax.diagnostic import Diagnostic

_BYTES = 200  # what one instance takes while it is joined, kept and swept, about
_UNKNOWN = 50_000_000


def default_budget() -> int:
    """Half of the free memory, in instances."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return _UNKNOWN
    return max(1_000_000, free // 2 // _BYTES)


def too_many_entities(problem: OverflowError) -> BudgetError:
    return BudgetError([Diagnostic("too-many-entities", str(problem), "take out tables that no rule needs")])


def too_large(problem: TooLarge) -> BudgetError:
    """The error that names the statement, its variables and the number of instances."""
    root = problem.formula.root
    assert root is not None
    origin = root.origin
    name = getattr(origin, "name", None)
    statement = f"{getattr(origin, 'kind', 'query')}{f' `{name}`' if name else ''}"
    over = ", ".join(root.variables)
    return BudgetError(
        [
            Diagnostic(
                "too-many-groundings",
                f"the {statement} over {over} would take {problem.count:,} instances; the budget is {problem.budget:,}",
                "bind its variables by another literal, close a predicate, or raise --max-groundings",
                origin.span,
            )
        ]
    )
