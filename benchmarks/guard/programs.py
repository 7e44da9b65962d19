"""The programs of the guard. Each imports lnnkit when it runs, and measures it through its public interface.

What is known of the answers by other means is checked here; all other checks are compared between the two trees.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.guard.measured import Measured, Program, Programs, command, now
from benchmarks.guard.row_programs import ROW_PROGRAMS

SHORT, MOST = 0.5, 20  # a short program is measured again until so many CPU seconds, so often
ROOT = Path(__file__).resolve().parents[2]


def _expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise RuntimeError(f"wrong answers: {found} instead of {wanted}")


# --- the workloads of `benchmarks.relational` -------------------------------------------------------------------------


def relational(key: str) -> Program:
    """Tables told, inference, answers, after a small run."""

    def make(size: int, folder: Path) -> None:
        from benchmarks.relational import workloads

        workload = workloads.WORKLOADS[key]
        workloads.write(workload, workload.warm, folder / "warm")
        workloads.write(workload, size, folder / "data")

    def run(size: int, folder: Path) -> Measured:
        import gc

        from benchmarks.relational.data import Data
        from benchmarks.relational.engines.lnnkit_engine import RUNS

        measured = Measured()
        warm = RUNS[key](Data(folder / "warm"))
        warm.infer()
        warm.read()
        started, times, found = now(), 0, dict[str, float]()
        while times < MOST and (now() - started).both < SHORT:
            data = Data(folder / "data")
            gc.collect()
            with measured.part("whole"):
                with measured.part("tell"):
                    inference = RUNS[key](data)
                with measured.part("infer"):
                    inference.infer()
                with measured.part("answers"):
                    found = dict(inference.read())
            del data, inference
            times += 1
        measured.notes = {"rounds": found.pop("rounds", 0.0)}
        measured.checks = found
        return measured

    return Program(run, make)


def _copy_lubm(size: int, folder: Path) -> None:
    import shutil

    from benchmarks import lubm

    for name in ("tbox.tsv", "abox.tsv"):
        if not (lubm.DATA / name).is_file():
            raise FileNotFoundError(f"no {name} in {lubm.DATA}: set LNNKIT_DATA")
        shutil.copy(lubm.DATA / name, folder / name)
    (folder / "lubm.lnn").write_text(lubm.program(lubm.read(folder / "tbox.tsv")), encoding="utf-8")


def lubm(size: int, folder: Path) -> Measured:
    """One department: loaded, inferred, answered."""
    import lnnkit

    measured = Measured()
    lnnkit.loads("fact P(a)\nrule P(X) -> Q(X)\nquery Q(X)\n").infer()
    for _ in range(3):
        with measured.part("whole"):
            with measured.part("load"):
                kb = lnnkit.load(folder / "lubm.lnn")
            with measured.part("infer"):
                kb.infer()
            answers = kb.answers()
        measured.checks["true"] = sum(int((each.lower >= 1 - 1e-9).sum()) for each in answers)
    return measured


# --- reading, learning, explaining ------------------------------------------------------------------------------------


def csv_first(size: int, folder: Path) -> Measured:
    """Edges from a CSV, from the start of the process to the answers."""
    import lnnkit
    from benchmarks.relational.engines.lnnkit_engine import EDGES

    kb = lnnkit.loads(EDGES, folder / "data")
    kb.infer()
    after, edges = kb.answers()
    return Measured({"first": now()}, {"distinct": len(edges), "next": len(after)})


def csv_duckdb(size: int, folder: Path) -> Measured:
    """The same file into a table of DuckDB, which is started before."""
    import duckdb

    connection = duckdb.connect(config={"threads": 1})
    measured = Measured()
    with measured.part("create"):
        connection.execute("create table edge as select * from read_csv($1)", [str(folder / "data" / "edges.csv")])
    return measured


def epoch(size: int, folder: Path) -> Measured:
    """An epoch of learning a conjunction of ten weighted operands over all rows."""
    from benchmarks.learning_speed import conjunction, generated

    kb = conjunction(*generated(size))
    epochs, moments = 30, []
    kb.fit(
        epochs=epochs,
        rate=0.05,
        validation=0.0,
        patience=None,
        decay=0.0,
        listen=lambda _: moments.append(now()),
    )
    return Measured({"epochs": moments[-1] - moments[0]}, notes={"epochs": epochs})


def explanations(size: int, folder: Path) -> Measured:
    """Atoms of a closure explained after inference, and every proof checked."""
    import lnnkit
    from benchmarks.relational.data import random_digraph

    kb = lnnkit.loads("predicate E(n, n)\nrule E(X, Y) -> R(X, Y)\nrule R(X, Y) & E(Y, Z) -> R(X, Z)\nquery R(X, Y)\n")
    edges = random_digraph(size)["edge"]
    kb.tell("E", {"a": edges[:, 0], "b": edges[:, 1]})
    kb.infer()
    rows = [
        (each.bindings["X"], each.bindings["Y"]) for each in kb.answers()[0][:: max(1, len(kb.answers()[0]) // 200)]
    ]
    str(kb.explain(f"E({edges[0, 0]}, {edges[0, 1]})"))
    measured = Measured()
    with measured.part("explained"):
        found = [kb.explain(f"R({a}, {b})") for a, b in rows]
    with measured.part("checked"):
        wrong = [each for explanation in found for each in explanation.verify()]
    _expect(wrong, [])
    measured.checks = {"explained": len(found)}
    return measured


# --- many statements, first uses --------------------------------------------------------------------------------------


def propositions(size: int, folder: Path) -> Measured:
    """A chain of so many rules over propositions: loaded, inferred; as many ground queries answered."""
    import lnnkit

    lnnkit.loads("fact P(a)\nrule P(X) -> Q(X)\nquery Q(X)\n").answers()
    rules = "".join(f"rule P{n} & P{n + 1} -> P{n + 2}\n" for n in range(size))
    text = f"fact P0\nfact P1\n{rules}" + "".join(f"query P{n + 2}\n" for n in range(size))
    measured = Measured()
    for _ in range(2):
        with measured.part("loaded, inferred"):
            kb = lnnkit.loads(text)
            kb.infer()
        with measured.part("answered"):
            answers = kb.answers()
        _expect([each.lower[0] for each in answers], [1.0] * size)
    return measured


def first_inference(size: int, folder: Path) -> Measured:
    """A small program inferred, and another one of its kind after it."""
    import lnnkit

    measured = Measured()
    for name in ("first", "second"):
        kb = lnnkit.loads(f"fact P(a{size})\nrule P(X) & ~R(X) -> Q(X)\nfact ~R(a{size})\nquery Q(X)\n")
        with measured.part(name):
            kb.infer()
    measured.notes = {"torch": float("torch" in sys.modules)}
    return measured


def _copy_smokers(size: int, folder: Path) -> None:
    import shutil

    shutil.copytree(ROOT / "kb_examples" / "smokers", folder / "smokers")


def run_smokers(size: int, folder: Path) -> Measured:
    """``lnnkit run`` of an example, a process of its own."""
    program = str(folder / "smokers" / "smokers.lnn")
    return _process(["-m", "lnnkit", "run", program], folder)


def imports(size: int, folder: Path) -> Measured:
    """A process that imports what inference could do with."""
    return _process(["-c", "import numpy, pyarrow, lark"], folder)


def _process(arguments: Sequence[str], folder: Path) -> Measured:
    runs = [command([sys.executable, "-P", *arguments], folder) for _ in range(3)]
    seconds, peak = min(runs, key=lambda each: each[0].both)
    return Measured({"run": seconds}, peak=peak)


# --- quantifiers ------------------------------------------------------------------------------------------------------

CHAIN = {
    "plain": "rule Reach(X) & Edge(X, Y) -> Reach(Y)\n",
    "exists": "rule (exists X: Reach(X) & Edge(X, Y)) -> Reach(Y)\n",
}


def chain(kind: str) -> Program:
    """The nodes that a chain of edges reaches, by a plain rule or under a quantifier."""

    def run(size: int, folder: Path) -> Measured:
        import lnnkit

        measured = Measured()
        for links in (20, size):
            edges = "".join(f"fact Edge(n{n:06}, n{n + 1:06})\n" for n in range(links))
            text = f"predicate Edge(node, node) closed\n{edges}fact Reach(n000000)\n{CHAIN[kind]}query Reach(X)\n"
            kb, measured = lnnkit.loads(text), Measured()
            with measured.part("infer"):
                kb.infer()
            _expect(len(kb.answers()[0]), links + 1)
        return measured

    return Program(run)


NODES = """
predicate edge(node, node) closed
predicate node(node) closed
predicate leaf(node) closed
predicate root(node) closed
predicate inner(node) closed
rule edge(X, Y) -> node(X) & node(Y)
rule node(X) & ~(exists Y: edge(X, Y)) -> leaf(X)
rule node(X) & ~(exists Y: edge(Y, X)) -> root(X)
rule node(X) & (exists Y: edge(X, Y)) & (exists Y: edge(Y, X)) -> inner(X)
query leaf(X)
query root(X)
query inner(X)
"""


def nodes(size: int, folder: Path) -> Measured:
    """Leaves, roots and inner nodes of so many edges, by quantifiers under negation."""
    import lnnkit

    rng = random.Random(0)
    edges = [(rng.randrange(size // 2), rng.randrange(size // 2)) for _ in range(size)]
    from_, to = {a for a, _ in edges}, {b for _, b in edges}
    kb = lnnkit.loads(NODES)
    kb.tell("edge", {"a": [a for a, _ in edges], "b": [b for _, b in edges]})
    measured = Measured()
    with measured.part("infer"):
        kb.infer()
    _expect([len(each) for each in kb.answers()], [len(to - from_), len(from_ - to), len(from_ & to)])
    return measured


def one_exists_twice(size: int, folder: Path) -> Measured:
    """Two rules with the same quantifier over so many facts."""
    import lnnkit

    kb = lnnkit.loads(
        "predicate E(node, node) closed\nrule (exists Y: E(X, Y)) -> C(X)\nrule (exists Y: E(X, Y)) -> D(X)\n"
        "query C(X)\nquery D(X)\n"
    )
    kb.tell("E", {"a": list(range(size)), "b": [n * 7919 % size for n in range(size)]})
    measured = Measured()
    with measured.part("infer"):
        kb.infer()
    _expect([len(each) for each in kb.answers()], [size, size])
    return measured


_RELATIONAL = ("closure", "chain", "closure-closed", "chain-closed", "smokers", "smokers-open", "generation", "held")
_RELATIONAL += ("table", "eligible", "csv5m")
PROGRAMS: Programs = {
    **{key: relational(key) for key in _RELATIONAL},
    "lubm": Program(lubm, _copy_lubm),
    "csv-first": Program(csv_first, relational("csv5m").make),
    "csv-duckdb": Program(csv_duckdb, relational("csv5m").make),
    "epoch": Program(epoch),
    "explanations": Program(explanations),
    "propositions": Program(propositions),
    "first-inference": Program(first_inference),
    "run-smokers": Program(run_smokers, _copy_smokers),
    "imports": Program(imports),
    "chain-plain": chain("plain"),
    "chain-exists": chain("exists"),
    "nodes": Program(nodes),
    "one-exists-twice": Program(one_exists_twice),
    **ROW_PROGRAMS,
}
