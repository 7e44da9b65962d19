"""clingo: facts as text, then grounding and solving; atoms are counted from its symbols. Smokers is crisp."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

import numpy as np

from benchmarks.relational.data import Data
from benchmarks.relational.workloads import Checks

clingo = import_module("clingo")

CLOSURE = "path(X, Y) :- edge(X, Y). path(X, Z) :- path(X, Y), edge(Y, Z). #show path/2."
GENERATION = """
sg(X, Y) :- parent(X, P), parent(Y, P). sg(X, Y) :- sg(P, Q), parent(X, P), parent(Y, Q). #show sg/2.
"""
SMOKERS = "smokes(Y) :- smokes(X), friends(X, Y). #show smokes/1."


class Grounding:
    """A program of one answer set."""

    def __init__(self, program: str, facts: str, head: tuple[str, int]) -> None:
        self.control = clingo.Control()
        self.control.add("base", [], program + facts)
        self.head = head

    def infer(self) -> None:
        self.control.ground([("base", [])])
        self.control.solve()

    def read(self) -> Checks:
        return {"answers": sum(1 for _ in self.control.symbolic_atoms.by_signature(*self.head))}


def _pairs(name: str, rows: np.ndarray) -> str:
    return "".join(f"{name}({a},{b})." for a, b in rows.tolist())


def _closure(data: Data) -> Grounding:
    return Grounding(CLOSURE, _pairs("edge", data.ids("edge")), ("path", 2))


def _generation(data: Data) -> Grounding:
    return Grounding(GENERATION, _pairs("parent", data.ids("parent")), ("sg", 2))


def _smokers(data: Data) -> Grounding:
    known = "".join(f"smokes({person})." for person in data.ids("smokers").tolist())
    return Grounding(SMOKERS, _pairs("friends", data.ids("friends")) + known, ("smokes", 1))


RUNS: Mapping[str, Callable[[Data], Grounding]] = {
    "closure": _closure,
    "chain": _closure,
    "smokers": _smokers,
    "generation": _generation,
}
