"""How many instances of one rule may be grounded, and the error for more."""

from __future__ import annotations

import os
from pathlib import Path

from lnnkit.errors import BudgetError
from lnnkit.infer.inference import Budget, TooLarge
from lnnkit.syntax.diagnostic import Diagnostic

_UNKNOWN = 8 * 2**30  # free memory where nothing says how much there is
_LEAST = 2**28
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container


def default_budget() -> Budget:
    """Half of the free memory."""
    return Budget(memory=max(_LEAST, free_memory()) // 2)


def free_memory() -> int:
    """The bytes that this process can still have: those of the machine, or of the container that it runs in."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        free = os.sysconf("SC_AVPHYS_PAGES") * page
    except (ValueError, OSError, AttributeError):
        return _UNKNOWN
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):  # with what the page cache would give back
            free = int(line.split()[1]) * 1024
    own = _read("/proc/self/statm").split()
    used = int(own[1]) * page if own else 0
    limits = [int(text) - used for text in map(_read, _LIMITS) if text.strip().isdigit()]
    return max(0, min([free, *limits]))


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""


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
    allowed = f"{problem.allowed:,}"
    if problem.budget.instances is None:
        allowed += ", what half of the free memory can hold"
    return BudgetError(
        [
            Diagnostic(
                "too-many-groundings",
                f"the {statement} over {over} would take {problem.count:,} instances; the budget is {allowed}",
                "bind its variables by another literal, close a predicate, or raise --max-groundings",
                origin.span,
            )
        ]
    )
