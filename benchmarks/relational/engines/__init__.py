"""The engines: for each a module with ``RUNS``, which prepares a workload of a given key and data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol, cast

from benchmarks.relational.data import Data
from benchmarks.relational.workloads import Checks


class Run(Protocol):
    """One workload, its data loaded."""

    def infer(self) -> None:
        """The part that is timed: to the answers, materialised but not read."""
        ...

    def read(self) -> Checks:
        """What the answers amount to: their number and the sums of their bounds."""
        ...


Prepare = Callable[[Data], Run]


@dataclass(frozen=True)
class Engine:
    """``said`` is what its figures must be read with; ``off`` the relative difference that its
    optimiser or its precision may make.

    An engine that is ``astray`` is known to answer otherwise: that is shown and is no failure. ``asked`` ones run only
    where they are named, ``slow`` ones are left out of a quick race.
    """

    name: str
    distribution: str
    workloads: frozenset[str]
    said: str = ""
    off: float = 0.0
    astray: bool = False
    asked: bool = False
    slow: bool = False
    module: str = ""  # whose runs are its own, where another's are

    def version(self) -> str | None:
        """None where it is not installed."""
        if self.name == "before":
            return "of the checkout that --against names"
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "of this checkout" if self.name == "lnnkit" else None

    def runs(self) -> Mapping[str, Prepare]:
        module = import_module(f"benchmarks.relational.engines.{self.module or self.name}_engine")
        return cast("Mapping[str, Prepare]", module.RUNS)

    def covers(self, workload: str) -> bool:
        return workload in self.workloads


_CLOSURES = frozenset({"closure", "chain", "generation"})
_IBM = frozenset({"ibm-smokers", "ibm-chain", "ibm-table"})
_AGGREGATES = frozenset({"watch", "windows"})

_OWN = frozenset(
    {*_CLOSURES, "closure-closed", "chain-closed", "smokers", "smokers-open", "table", "eligible", "held", "ontology"}
    | {"csv", "csv5m", "paths", *_IBM, *_AGGREGATES}
)

_ALL = (
    Engine("lnnkit", "lnnkit", _OWN),
    Engine(
        "before", "lnnkit", _OWN, "an earlier lnnkit, through the same public interface", asked=True, module="lnnkit"
    ),
    Engine(
        "duckdb",
        "duckdb",
        frozenset({*_CLOSURES, *_AGGREGATES, "smokers", "table", "ontology", "csv", "csv5m"}),
        "table: upward only",
    ),
    Engine(
        "numpy",
        "numpy",
        frozenset({*_CLOSURES, "smokers", "smokers-open", "table", "eligible", "held", "paths", *_IBM}),
        "written for each workload, dense bitmaps: a floor, not an engine; table, eligible: upward only",
    ),
    Engine("pyarrow", "pyarrow", frozenset({"csv"}), "read_csv and dictionary_encode"),
    Engine("clingo", "clingo", frozenset({*_CLOSURES, "smokers"}), "smokers: crisp, who is reached"),
    Engine(
        "psl",
        "pslpython",
        frozenset({*_CLOSURES, "smokers", "table"}),
        "the state of least truth under hard rules, to its optimiser's tolerance; table: lower ends only",
        off=1e-2,
        slow=True,
    ),
    Engine(
        "ltn",
        "LTNtorch",
        frozenset({"smokers", "table"}),
        "table: the formula evaluated on either end; smokers: another task, 100 epochs of Adam",
        off=1e-3,
        slow=True,
    ),
    Engine("pyreason", "pyreason", _CLOSURES, "leaves out (x, x)", astray=True, asked=True, slow=True),
)

ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in _ALL}


def selected(names: str | None, *, quick: bool = False) -> list[Engine]:
    """The engines of the comma-separated names; for None, those that need not be asked for. Raises `ValueError`."""
    if names is None:
        return [engine for engine in _ALL if not engine.asked and not (quick and engine.slow)]
    wanted = [name.strip().lower() for name in names.split(",")]
    unknown = set(wanted) - set(ENGINES)
    if unknown:
        raise ValueError(f"no engine {', '.join(sorted(unknown))}; choose from {', '.join(ENGINES)}")
    return [engine for engine in _ALL if engine.name in wanted]
