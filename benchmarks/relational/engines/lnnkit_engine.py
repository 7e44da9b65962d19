"""lnnkit, through its public interface: facts told as columns, then `infer`. Its threads are those that the environment
allows: whoever starts the process says one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import lnnkit
from benchmarks import lubm
from benchmarks.relational.data import BODY, Data
from benchmarks.relational.workloads import Checks

CLOSURE = """
predicate edge(node, node) closed
predicate path(node, node)
axiom edge(X, Y) -> path(X, Y)
axiom path(X, Y) & edge(Y, Z) -> path(X, Z)
query path(X, Y)
"""
CLOSED_CLOSURE = CLOSURE.replace("path(node, node)", "path(node, node) closed")
OPEN_CLOSURE = CLOSURE.replace(" closed", "")
SMOKERS = """
predicate friends(person, person) closed
predicate smokes(person)
rule smokes(X) & friends(X, Y) -> smokes(Y) in [0.9, 1]
query smokes(X)
"""
OPEN_SMOKERS = SMOKERS.replace(" closed", "")
TABLE = f"""
{"".join(f"predicate p{i}(row){chr(10)}" for i in range(BODY))}
predicate q(row)
axiom {" & ".join(f"p{i}(X)" for i in range(BODY))} -> q(X)
query q(X)
query p0(X)
"""
ELIGIBLE = """
number income(person)
number debt(person)
number household(person)
number age(person)
axiom (income(X) - debt(X)) / household(X) > 500 & age(X) >= 18 -> Eligible(X)
query Eligible(X)
query age(X)
"""
HELD = """
predicate alarm(thing)
predicate item(thing)
predicate hold(thing)
axiom (exists Y: alarm(Y)) & item(X) -> hold(X)
query hold(X)
"""
WATCH = """
predicate Transfer(account, transfer) closed
number amount(transfer)
rule (sum T: amount(T) where Transfer(A, T)) > 30000 -> Watch(A)
query Watch(A)
"""
PATHS = """
number w(node, node) closed
number d(node) closed
rule d(Y) = (min X: d(X) + w(X, Y))
query d(X)
"""
WINDOWS = """
predicate Claim(claim, person) closed
number day(claim)
rule (count C: Claim(C, P) & day(D) - 30 < day(C) <= day(D)) > 3 & Claim(D, P) -> Frequent(D)
query Frequent(D)
"""
GENERATION = """
predicate parent(node, node) closed
predicate sg(node, node)
axiom parent(X, P) & parent(Y, P) -> sg(X, Y)
axiom parent(X, P) & parent(Y, Q) & sg(P, Q) -> sg(X, Y)
query sg(X, Y)
"""
READING = 'predicate friends(person, person)\nload friends from "friends.csv"\n'

EDGES = """
predicate edge(node, node) closed
predicate start(node)
load edge from "edges.csv"
fact start(0)
axiom start(X) & edge(X, Y) -> next(Y)
query next(X)
query edge(X, Y)
"""

Table = Mapping[str, np.ndarray]


class Inference:
    """A program over told tables, or over the files of the data's folder."""

    def __init__(self, text: str, tables: Mapping[str, Table], data: Data) -> None:
        self.kb = lnnkit.loads(text, data.folder)
        for name, table in tables.items():
            self.kb.tell(name, table)

    def infer(self) -> None:
        self.outcome = self.kb.infer()

    def read(self) -> Checks:
        answers = self.kb.answers()[0]
        checks = {"answers": len(answers), "lower": float(answers.lower.sum())}
        return {**checks, "contradictions": len(self.outcome.contradictions), "rounds": self.outcome.rounds}


class OpenSmokers(Inference):
    """Both bounds of Smokes are compared, of everyone of whom something is known."""

    def read(self) -> Checks:
        return {**super().read(), "upper": float(self.kb.answers()[0].upper.sum())}


class TableRun(Inference):
    """The head's lower bounds come up, the first operand's upper bounds go down."""

    def read(self) -> Checks:
        head, operand = self.kb.answers()
        found = head.lower > 0
        return {
            "rows": int(found.sum()),
            "lower": float(head.lower.sum()),
            "operand upper": float(operand.upper.sum()),
            "contradictions": len(self.outcome.contradictions),
        }


class Ontology(Inference):
    """All triples that the axioms speak of, those that are true counted."""

    def read(self) -> Checks:
        true = sum(int((answers.lower >= 1 - 1e-9).sum()) for answers in self.kb.answers())
        return {"answers": true, "contradictions": len(self.outcome.contradictions), "rounds": self.outcome.rounds}


class Reading:
    """The file becomes a knowledge base: syntax check, columns, entities, nothing inferred."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def infer(self) -> None:
        self.kb = lnnkit.loads(READING, self.data.folder)

    def read(self) -> Checks:
        return {"distinct": len(self.kb.ask("friends(X, Y)"))}


class Edges:
    """The file becomes a relation in order, with its index by the first column, through which one node is looked up."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def infer(self) -> None:
        self.kb = lnnkit.loads(EDGES, self.data.folder)
        self.kb.infer()

    def read(self) -> Checks:
        after, edges = self.kb.answers()
        return {"distinct": len(edges), "next": len(after)}


def pairs(edges: np.ndarray) -> Table:
    return {"a": edges[:, 0], "b": edges[:, 1]}


def _closure(text: str) -> Callable[[Data], Inference]:
    return lambda data: Inference(text, {"edge": pairs(data.ids("edge"))}, data)


def _smokers(data: Data) -> Inference:
    known = {"a": data.ids("smokers")}
    return Inference(SMOKERS, {"friends": pairs(data.ids("friends")), "smokes": known}, data)


def _open_smokers(data: Data) -> Inference:
    smokers, others = data.ids("smokers"), data.ids("non_smokers")
    truth = np.concatenate([np.ones(len(smokers)), np.zeros(len(others))])
    known = {"a": np.concatenate([smokers, others]), "truth": truth}
    return OpenSmokers(OPEN_SMOKERS, {"friends": pairs(data.ids("friends")), "smokes": known}, data)


def _table(data: Data) -> Inference:
    rows = np.arange(data.size)
    tables: dict[str, Table] = {
        name: {"row": rows, "lower": data.values(f"{name}_lower"), "upper": data.values(f"{name}_upper")}
        for name in (f"p{i}" for i in range(BODY))
    }
    capped = data.ids("q_row")
    tables["q"] = {"row": capped, "lower": np.zeros(len(capped)), "upper": data.values("q_upper")}
    return TableRun(TABLE, tables, data)


def _eligible(data: Data) -> Inference:
    people = np.arange(data.size)
    names = ("income", "debt", "household", "age")
    return Inference(ELIGIBLE, {name: {"person": people, "value": data.values(name)} for name in names}, data)


def _held(data: Data) -> Inference:
    alarms = {"thing": np.arange(data.size), "truth": data.values("alarm")}
    return Inference(
        HELD, {"alarm": alarms, "item": {"thing": data.size + np.arange(data.size), "truth": data.values("item")}}, data
    )


def _watch(data: Data) -> Inference:
    transfer = np.arange(data.size)
    sent = {"account": data.size + data.ids("account"), "transfer": transfer}
    return Inference(WATCH, {"Transfer": sent, "amount": {"transfer": transfer, "value": data.values("amount")}}, data)


def _windows(data: Data) -> Inference:
    claim = np.arange(data.size)
    of = {"claim": claim, "person": data.size + data.ids("person")}
    return Inference(WINDOWS, {"Claim": of, "day": {"claim": claim, "value": data.values("day")}}, data)


def _paths(data: Data) -> Inference:
    weights = {"x": data.ids("source"), "y": data.ids("target"), "value": data.values("weight")}
    return Inference(PATHS, {"w": weights, "d": {"node": np.zeros(1, np.int64), "value": np.zeros(1)}}, data)


def _generation(data: Data) -> Inference:
    return Inference(GENERATION, {"parent": pairs(data.ids("parent"))}, data)


def _ontology(data: Data) -> Inference:
    return Ontology(lubm.program(lubm.read(data.folder / "tbox.tsv")), {}, data)


RUNS: Mapping[str, Callable[[Data], Inference | Reading | Edges]] = {
    "closure": _closure(CLOSURE),
    "chain": _closure(CLOSURE),
    "closure-closed": _closure(CLOSED_CLOSURE),
    "chain-closed": _closure(CLOSED_CLOSURE),
    "smokers": _smokers,
    "smokers-open": _open_smokers,
    "table": _table,
    "eligible": _eligible,
    "held": _held,
    "watch": _watch,
    "windows": _windows,
    "paths": _paths,
    "generation": _generation,
    "ontology": _ontology,
    "csv": Reading,
    "csv5m": Edges,
    "ibm-smokers": _open_smokers,
    "ibm-chain": _closure(OPEN_CLOSURE),
    "ibm-table": _table,
}
