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
    """``said`` is what its figures must be read with; ``exact`` the relative difference that its checks may have.

    An engine that is ``astray`` is known to answer otherwise: that is shown and is no failure. ``asked`` ones run only
    where they are named.
    """

    name: str
    distribution: str
    said: str = ""
    exact: float = 1e-6
    astray: bool = False
    asked: bool = False

    def version(self) -> str | None:
        """None where it is not installed."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return None

    def runs(self) -> Mapping[str, Prepare]:
        module = import_module(f"benchmarks.relational.engines.{self.name}_engine")
        return cast("Mapping[str, Prepare]", module.RUNS)

    def covers(self, workload: str) -> bool:
        return workload in _COVERS[self.name]


_ALL = (
    Engine("lnnkit", "lnnkit"),
    Engine("duckdb", "duckdb"),
    Engine("numpy", "numpy", "written for each workload, dense bitmaps: a floor, not an engine; table: upward only"),
    Engine("pyarrow", "pyarrow", "read_csv and dictionary_encode"),
    Engine("clingo", "clingo", "smokers: crisp, who is reached"),
    Engine("psl", "pslpython", "most probable state of a hinge-loss field, answers from 0.5", 1e-2),
    Engine("ltn", "LTNtorch", "table: the formula evaluated on either end; smokers: 100 epochs of Adam", 1e-3),
    Engine("pyreason", "pyreason", "leaves out (x, x)", astray=True, asked=True),
)
_COVERS: Mapping[str, frozenset[str]] = {
    "lnnkit": frozenset(
        "closure chain smokers smokers-open table generation ontology csv ibm-smokers ibm-chain ibm-table".split()
    ),
    "duckdb": frozenset("closure chain smokers table generation ontology csv".split()),
    "numpy": frozenset("closure chain smokers smokers-open table generation ibm-smokers ibm-chain ibm-table".split()),
    "pyarrow": frozenset({"csv"}),
    "clingo": frozenset({"closure", "chain", "smokers", "generation"}),
    "psl": frozenset({"closure", "chain", "smokers", "table", "generation"}),
    "ltn": frozenset({"smokers", "table"}),
    "pyreason": frozenset({"closure", "chain", "generation"}),
}

ENGINES: Mapping[str, Engine] = {engine.name: engine for engine in _ALL}


def selected(names: str | None) -> list[Engine]:
    """The engines of the comma-separated names; those that need not be asked for, for None. Raises `ValueError`."""
    if names is None:
        return [engine for engine in _ALL if not engine.asked]
    wanted = [name.strip().lower() for name in names.split(",")]
    unknown = set(wanted) - set(ENGINES)
    if unknown:
        raise ValueError(f"no engine {', '.join(sorted(unknown))}; choose from {', '.join(ENGINES)}")
    return [engine for engine in _ALL if engine.name in wanted]
