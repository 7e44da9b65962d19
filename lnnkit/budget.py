"""The budget: the greatest number of instances of one rule, and the errors if it is exceeded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lnnkit.check.program import Assertion, Query
from lnnkit.errors import BudgetError
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.join.instances.grounding import Use
from lnnkit.syntax.diagnostic import Diagnostic, Span

_UNKNOWN = 8 * 2**30  # assumed free memory if the system does not report it
_LEAST = 2**28
_GROUPS = "/sys/fs/cgroup"
_FILES = {  # files of a control group, by the version of its hierarchy: its limit, its use, and its statistics
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"),
    2: ("memory.max", "memory.current", "memory.stat"),
}


@dataclass(frozen=True)
class Budget:
    """A guard of inference: how many instances of one formula may be made, ``instances``, or as many as ``memory``
    bytes hold. The memory is what ``free`` returns when it is first asked, and at least ``least`` bytes."""

    instances: int | None = None
    free: Callable[[], int] = int
    least: int = 0
    # How many instances there is room for in any case, without asking how much memory is free
    _room: dict[tuple[int, Use], tuple[Formula, int]] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def memory(self) -> int:
        return max(self.least, self.free())

    def __call__(self, formula: Formula, count: int, use: Use = "evaluated") -> None:
        """Raises `TooLarge` if a formula has more instances than there is room for."""
        room = self._room.get((id(formula), use))
        if room is None:
            least = self.least // footprint(formula, use) if self.instances is None else self.instances
            room = self._room[id(formula), use] = formula, least
        if count > room[1]:
            allowed = self.memory // footprint(formula, use) if self.instances is None else self.instances
            if count > allowed:
                raise TooLarge(formula, count, allowed, self)


def footprint(formula: Formula, use: Use) -> int:
    """The bytes that one instance takes at the peak of memory. One that is joined takes those of the atoms that it
    bounds and of the record that it set their bounds; one of a query, or with quantifiers whose rows are read together,
    is in memory while all are evaluated. Fitted to the peaks of formulas of 3 to 15 neurons, at 10^6 instances that all
    bound different atoms: 0.9 to 1.5 times the measured peak, and up to 2.5 times for inner rows, which take less."""
    if use == "joined":
        return 90 + 10 * len(formula.leaves) + 150 * _bounded(formula)
    return 90 + 30 * len(formula.neurons) + 50 * (len(formula.blocks) - 1)


def _bounded(formula: Formula) -> int:
    """The number of atoms that an instance is expected to bound: those of its consequent."""
    top = formula.neurons[formula.top]
    stack = [top.operands[1]] if top.kind == "implies" else []
    atoms = set[tuple[str, tuple[int | str, ...]]]()
    while stack:
        neuron = formula.neurons[stack.pop()]
        stack.extend(neuron.operands)
        if neuron.kind == LEAF:
            atoms.add((neuron.source, neuron.arguments))
    return max(1, len(atoms))


class TooLarge(Exception):
    """Grounding ``formula`` would take ``count`` instances, more than ``allowed`` by the budget."""

    def __init__(self, formula: Formula, count: int, allowed: int, budget: Budget) -> None:
        super().__init__(f"{count} instances exceed the budget of {allowed}")
        self.formula = formula
        self.count = count
        self.allowed = allowed
        self.budget = budget


def default_budget() -> Budget:
    """Half of the free memory."""
    return Budget(free=lambda: free_memory() // 2, least=_LEAST // 2)


def allowed(instances: int | None) -> Budget:
    """A budget of ``instances`` for one rule or query; by default what half of the free memory can hold."""
    return default_budget() if instances is None else Budget(instances=instances)


def free_memory() -> int:
    """The bytes that this process can still allocate, in the machine or its container."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        free = os.sysconf("SC_AVPHYS_PAGES") * page
    except (ValueError, OSError, AttributeError):
        return _UNKNOWN
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):  # including what the page cache would release
            free = int(line.split()[1]) * 1024
    pages = _read("/proc/self/statm").split()
    size, used = (int(number) * page for number in pages[:2]) if pages else (0, 0)
    return max(0, min([free, *_of_groups(used), *_of_process(size)]))


def _of_groups(used: int) -> Iterator[int]:
    """The least remaining limit of the control groups of this process, or of its container, which may appear as the
    root. ``used`` is this process's use, for a group that does not report its own."""
    places = {(2, ""), (1, "/memory")}
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        version, root = (1, "/memory") if "memory" in controllers.split(",") else (2, "")
        if version == 2 and controllers:
            continue
        parts = [part for part in path.split("/") if part]
        places |= {(version, "/".join([root, *parts[:count]])) for count in range(len(parts) + 1)}
    for version, place in sorted(places):
        limit, current, statistics = (_read(f"{_GROUPS}{place}/{file}").strip() for file in _FILES[version])
        if not limit.isdigit():
            continue
        taken = int(current) if current.isdigit() else used
        for line in statistics.splitlines():
            if current.isdigit() and line.startswith(("inactive_file ", "total_inactive_file ")):
                taken = min(taken, max(used, int(current) - int(line.split()[1])))  # the page cache is released first
        yield int(limit) - taken


def _of_process(size: int) -> Iterator[int]:
    """What ``ulimit -v`` leaves to a process of this size."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        yield limit - size


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except OSError:
        return ""


def too_many_entities(problem: OverflowError) -> BudgetError:
    return BudgetError([Diagnostic("too-many-entities", str(problem), "take out tables that no rule needs")])


def too_large(problem: TooLarge, lifted: LiftedGraph) -> BudgetError:
    """The error that names the statement, its variables, the number of instances and the budget."""
    formula = problem.formula
    assert formula.root is not None
    what, span = _statement(formula.root.origin)
    if formula.auxiliary is not None:
        what, span = _within(formula, lifted)
    over = f" over {', '.join(formula.root.variables)}" if formula.root.variables else ""
    allowed = f"{problem.allowed:,}"
    if problem.budget.instances is None:
        allowed += ", what half of the free memory can hold"
    return BudgetError(
        [
            Diagnostic(
                "too-many-groundings",
                f"{what}{over} would take {problem.count:,} instances; the budget is {allowed}",
                "bind its variables by another literal, close a predicate, "
                "or raise --max-groundings (in Python: infer(max_groundings=...))",
                span,
            )
        ]
    )


def _statement(origin: Assertion | Query) -> tuple[str, Span]:
    """A statement as text, with its position."""
    name = getattr(origin, "name", None)
    return f"the {getattr(origin, 'kind', 'query')}{f' `{name}`' if name else ''}", origin.span


def _within(formula: Formula, lifted: LiftedGraph) -> tuple[str, Span]:
    """A formula that several statements share, with the position of the first."""
    for root in (*lifted.statements, *lifted.queries):
        if formula.auxiliary in lifted.graph.below(root.reference.node):
            statement, span = _statement(root.origin)
            shared = lifted.graph.nodes[formula.auxiliary]["uses"] > 1
            return f"the formula `{formula.key}`, which {statement} {'shares' if shared else 'holds'},", span
    raise AssertionError(f"no statement holds {formula.auxiliary}")
