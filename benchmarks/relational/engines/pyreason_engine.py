"""PyReason, closures only: it leaves out what a rule infers about (x, x). Edges of a networkx graph; its first import
takes minutes, and every process that imports it ten seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

import networkx as nx
import numpy as np

from benchmarks.relational.data import Data
from benchmarks.relational.workloads import Checks

pyreason = import_module("pyreason")

CLOSURE = ("path(X, Y) <-0 edge(X, Y)", "path(X, Z) <-0 path(X, Y), edge(Y, Z)")
GENERATION = ("sg(X, Y) <-0 parent(X, P), parent(Y, P)", "sg(X, Y) <-0 parent(X, P), sg(P, Q), parent(Y, Q)")


class Reasoning:
    """Rules that infer edges, to convergence within one time step."""

    def __init__(self, rules: tuple[str, ...], relation: str, rows: np.ndarray, head: str) -> None:
        pyreason.reset()
        pyreason.reset_rules()
        pyreason.settings.verbose = False
        pyreason.settings.atom_trace = False
        graph = nx.DiGraph()
        graph.add_edges_from([(f"n{a}", f"n{b}", {relation: 1}) for a, b in rows.tolist()])
        pyreason.load_graph(graph)
        for number, rule in enumerate(rules):
            pyreason.add_rule(pyreason.Rule(rule, f"rule{number}", infer_edges=True))
        self.head = head

    def infer(self) -> None:
        self.found = pyreason.reason(timesteps=0)

    def read(self) -> Checks:
        frames = pyreason.filter_and_sort_edges(self.found, [self.head])
        return {"answers": len(frames[-1])}


def _closure(data: Data) -> Reasoning:
    return Reasoning(CLOSURE, "edge", data.ids("edge"), "path")


def _generation(data: Data) -> Reasoning:
    return Reasoning(GENERATION, "parent", data.ids("parent"), "sg")


RUNS: Mapping[str, Callable[[Data], Reasoning]] = {"closure": _closure, "chain": _closure, "generation": _generation}
