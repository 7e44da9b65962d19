"""PSL: the most probable state of a hinge-loss Markov field. Every atom that it may infer is a target, so closures
have all pairs as targets. The rules are hard and every atom would rather be false: the answers are those of least
truth, to the tolerance of the optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from itertools import product

from benchmarks.relational.data import BODY, Data
from benchmarks.relational.workloads import Checks

Rows = Iterable[Sequence[float]]

OPTIONS = {"log4j.threshold": "OFF", "parallel.numthreads": 1}
JVM = ["-XX:+UseSerialGC", "-Xmx8g"]
CLOSURE = ("Edge(X, Y) -> Path(X, Y) .", "Path(X, Y) & Edge(Y, Z) -> Path(X, Z) .", "1: !Path(X, Y) ^2")
SMOKERS = (
    "Known(X) -> Smokes(X) .",
    "Smokes(X) + Friends(X, Y) - Smokes(Y) <= 1.1 .",
    "1: !Smokes(X) ^2",
)
GENERATION = (
    "Parent(X, P) & Parent(Y, P) -> Sg(X, Y) .",
    "Parent(X, P) & Parent(Y, Q) & Sg(P, Q) -> Sg(X, Y) .",
    "1: !Sg(X, Y) ^2",
)
TABLE = (" & ".join(f"P{i}(X)" for i in range(BODY)) + " -> Q(X) .", "1: !Q(X) ^2")


class Field:
    """A model of one target predicate."""

    def __init__(self, rules: Sequence[str], observed: Mapping[str, Rows], target: str, targets: Rows) -> None:
        model, predicate, rule = (import_module(f"pslpython.{name}") for name in ("model", "predicate", "rule"))
        partition = import_module("pslpython.partition").Partition
        self.model = model.Model("relational")

        def add(name: str, rows: Rows, part: object) -> object:
            listed = [list(row) for row in rows]
            arity = 1 if name.startswith(("P", "Q", "Known", "Smokes")) and name not in ("Path", "Parent") else 2
            added = predicate.Predicate(name, size=arity)
            self.model.add_predicate(added.add_data(part, listed))
            return added

        for name, rows in observed.items():
            add(name, rows, partition.OBSERVATIONS)
        self.target = add(target, targets, partition.TARGETS)
        for text in rules:
            self.model.add_rule(rule.Rule(text))

    def infer(self) -> None:
        found = self.model.infer(psl_options=OPTIONS, jvm_options=JVM)
        self.truth = found[self.target]["truth"].to_numpy()

    def read(self) -> Checks:
        return {"answers": int((self.truth >= 0.5).sum())}


class Smokers(Field):
    """The rule is linear and hard, so that the least state is the lower bounds."""

    def read(self) -> Checks:
        return {"answers": int((self.truth >= 0.05).sum()), "lower": float(self.truth.sum())}


class Table(Field):
    def read(self) -> Checks:
        return {"lower": float(self.truth.sum())}


def _closure(data: Data) -> Field:
    nodes = range(data.size)
    return Field(CLOSURE, {"Edge": data.ids("edge").tolist()}, "Path", product(nodes, nodes))


def _generation(data: Data) -> Field:
    nodes = range(data.size)
    return Field(GENERATION, {"Parent": data.ids("parent").tolist()}, "Sg", product(nodes, nodes))


def _smokers(data: Data) -> Field:
    observed: dict[str, Rows] = {
        "Friends": data.ids("friends").tolist(),
        "Known": data.ids("smokers")[:, None].tolist(),
    }
    return Smokers(SMOKERS, observed, "Smokes", ([person] for person in range(data.size)))


def _table(data: Data) -> Field:
    observed: dict[str, Rows] = {f"P{i}": list(enumerate(data.values(f"p{i}_lower").tolist())) for i in range(BODY)}
    return Table(TABLE, observed, "Q", ([row] for row in range(data.size)))


RUNS: Mapping[str, Callable[[Data], Field]] = {
    "closure": _closure,
    "chain": _closure,
    "smokers": _smokers,
    "table": _table,
    "generation": _generation,
}
