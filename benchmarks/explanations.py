"""What explanations cost: recording while inferring, explaining and checking afterwards, and asking what if.

    python -m benchmarks.explanations [recording] [explaining] [assuming] [--repeat N] [--data DIR] [--format json]

Seconds are of the CPU. Recording is measured in one process, inferences with and without it taking turns. Explaining
takes every atom of which anything is known, explains it after inference, and has the checker work its proof out again;
an atom is derived if it is not as the facts give it. Exit code 1 says that a proof does not hold.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import lubm
from benchmarks.relational.data import random_digraph, smokers

if TYPE_CHECKING:
    import numpy as np

    from lnnkit import KnowledgeBase
    from lnnkit.explain.proof.explanation import Explanation
    from lnnkit.explain.proof.proof import Step

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("LNNKIT_DATA", ROOT.parent / "shared" / "data"))
_UNDERIVED = ("fact", "open", "closed")
LIMIT = 0.05  # seconds that an explanation may take

KINSHIP = """\
rule inverse-wife:  wife(X, Y) -> husband(Y, X)
rule inverse-man:   husband(X, Y) -> wife(Y, X)
rule fathers:       father(X, Y) -> parent(X, Y)
rule mothers:       mother(X, Y) -> parent(X, Y)
rule brothers:      brother(X, Y) -> sibling(X, Y)
rule sisters:       sister(X, Y) -> sibling(X, Y)
rule siblings:      sibling(X, Y) & sibling(Y, Z) & X != Z -> sibling(X, Z) in [0.9, 1]
rule uncles:        brother(X, Y) & parent(Y, Z) -> uncle(X, Z) in [0.9, 1]
rule aunts:         sister(X, Y) & parent(Y, Z) -> aunt(X, Z) in [0.9, 1]
rule grandparents:  parent(X, Y) & parent(Y, Z) -> grandparent(X, Z)
rule not-uncle:     sister(X, Y) -> ~uncle(X, Y) in [0.6, 1]
"""


# --- programs --------------------------------------------------------------------------------------------------------


def ontology(data: Path) -> KnowledgeBase:
    import lnnkit

    folder = (data / "lubm").resolve()
    return lnnkit.loads(lubm.program(lubm.read(folder / "tbox.tsv")), folder)


def family(data: Path) -> KnowledgeBase:
    import lnnkit

    folder = (data / "kg" / "neurallp_family").resolve()
    relations = (folder / "relations.txt").read_text(encoding="utf-8").split()
    loads = [f'load {name} from "facts.txt" (1, 3) where 2 = "{name}" no header' for name in relations]
    known = [*relations, "parent", "sibling", "grandparent"]
    queries = [f"query {name}(X, Y)" for name in known]
    declared = [f"predicate {name}(person, person)" for name in known]
    return lnnkit.loads("\n".join([*declared, KINSHIP, *loads, *queries]), folder)


def closure(nodes: int) -> KnowledgeBase:
    import lnnkit

    kb = lnnkit.loads("predicate E(n, n)\nrule E(X, Y) -> R(X, Y)\nrule R(X, Y) & E(Y, Z) -> R(X, Z)\nquery R(X, Y)\n")
    kb.tell("E", _text(random_digraph(nodes)["edge"].T))
    return kb


def smoking(people: int) -> KnowledgeBase:
    import lnnkit

    kb = lnnkit.loads(
        "predicate Friends(p, p) closed\npredicate Smokes(p)\n"
        "rule Smokes(X) & Friends(X, Y) -> Smokes(Y) in [0.9, 1]\nquery Smokes(X)\n"
    )
    columns = smokers(people)
    kb.tell("Friends", _text(columns["friends"].T))
    kb.tell("Smokes", _text(columns["smokers"][None]))
    return kb


def examples() -> Iterator[tuple[str, KnowledgeBase]]:
    import lnnkit

    for path in sorted((ROOT / "kb_examples").glob("*/*.lnn")):
        yield f"{path.parent.name}/{path.name}", lnnkit.load(path)


def _text(columns: np.ndarray) -> dict[str, list[str]]:
    return {str(place): column.astype(str).tolist() for place, column in enumerate(columns)}


# --- recording --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recording:
    """CPU seconds of inference with and without recording (medians), the share that recording adds (the median over
    the pairs that followed one another), the events, and the bytes that each takes."""

    program: str
    recorded: float
    plain: float
    added: float
    events: int
    bytes_an_event: float


def recording(name: str, kb: KnowledgeBase, repeat: int) -> Recording:
    kb.infer()
    seconds: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(2 * repeat):
        record = (turn + turn // 2) % 2 == 0  # with, without, without, with: neither comes first more often
        gc.collect()
        start = time.process_time()
        kb.infer(record=record)
        seconds[record].append(time.process_time() - start)
    kb.infer()
    history = kb._session.program_fixpoint().run.state.trail
    assert history is not None
    added = [one / other - 1 for one, other in zip(seconds[True], seconds[False], strict=True)]
    recorded, plain = (statistics.median(seconds[record]) for record in (True, False))
    size = history.nbytes / max(1, len(history))
    return Recording(name, recorded, plain, statistics.median(added), len(history), size)


# --- explaining -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explaining:
    """How many atoms were explained, and how many of them are derived; the seconds of the first, which reads the
    history, and of the others: the median, the worst with its atom, and how many took more than `LIMIT`. ``steps`` is
    the longest proof. ``wrong`` are proofs that do not hold."""

    program: str
    atoms: int
    derived: int
    first: float
    median: float
    worst: float
    worst_atom: str
    slow: int
    steps: int
    wrong: list[str]


def explaining(name: str, kb: KnowledgeBase) -> Explaining:
    atoms = list(_known(kb))
    kb.infer()
    gc.collect()
    gc.freeze()  # a full collection of garbage, of all that the process holds, may fall into any call
    seconds: list[float] = []
    derived, steps, wrong = 0, 0, []
    for atom in atoms:
        start = time.process_time()
        explanation = kb.explain(atom)
        seconds.append(time.process_time() - start)
        derived += any(step.reason not in _UNDERIVED for step in _tops(explanation))
        steps = max(steps, len(explanation.steps))
        wrong += explanation.verify()
    first, *others = seconds or [0.0]
    worst = max(range(1, len(seconds)), key=lambda place: seconds[place], default=0)
    return Explaining(
        name,
        len(atoms),
        derived,
        first,
        statistics.median(others or [first]),
        seconds[worst] if seconds else 0.0,
        atoms[worst] if atoms else "",
        sum(each > LIMIT for each in others),
        steps,
        wrong[:10],
    )


def _tops(explanation: Explanation) -> Iterator[Step]:
    proof = explanation.proof
    yield from (proof.steps[number] for number in (proof.lower, proof.upper))


def _known(kb: KnowledgeBase) -> Iterator[str]:
    """The atoms of which anything is known, once every predicate has been asked for."""
    from lnnkit.explain.proof.proof import ground_atom
    from lnnkit.syntax.printer import format_expression

    patterns: list[tuple[str, list[str], str]] = []
    for name, predicate in kb._checked.predicates.items():
        variables = [f"V{place}" for place in range(predicate.arity)]
        head = format_expression(ground_atom(name, []))
        patterns.append((name, variables, f"{head}({', '.join(variables)})" if variables else head))
    kb.replace_queries([pattern for _, _, pattern in patterns])
    for (name, variables, _), answers in zip(patterns, kb.answers(), strict=True):
        for answer in answers:
            yield format_expression(ground_atom(name, [answer.bindings[each] for each in variables]))


# --- assuming ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assuming:
    """CPU seconds of a question asked of a copy in which one atom is known better, or a fact is given another truth for
    the third time, the copy included (medians), beside those of inference."""

    program: str
    inferred: float
    better: float
    other: float


def assuming(name: str, kb: KnowledgeBase, better: str, other: str, question: str, repeat: int) -> Assuming:
    start = time.process_time()
    kb.infer()
    inferred = time.process_time() - start

    def asked(atom: str, truth: float) -> float:
        start = time.process_time()
        kb.assume({atom: truth}).ask(question)
        return time.process_time() - start

    for truth in (0.2, 0.3):
        asked(other, truth)
    tightened = statistics.median(asked(better, 1.0) for _ in range(repeat))
    return Assuming(name, inferred, tightened, statistics.median(asked(other, n / repeat) for n in range(repeat)))


# --- running it -------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explanations", description="What explanations cost.")
    parser.add_argument("parts", nargs="*", choices=("recording", "explaining", "assuming", []), help="default: all")
    parser.add_argument("--repeat", type=int, default=9, help="pairs of inferences (default: 9)")
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds lubm and kg")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    options = parser.parse_args(arguments)

    import torch

    torch.set_num_threads(1)
    parts = options.parts or ["recording", "explaining", "assuming"]
    data = options.data if (options.data / "lubm" / "tbox.tsv").is_file() else None
    if data is None:
        print(f"no lubm/tbox.tsv in {options.data}: LUBM and family are left out", file=sys.stderr)
    found: list[Recording | Explaining | Assuming] = []
    if "recording" in parts:
        programs: list[tuple[str, Callable[[], KnowledgeBase]]] = [
            ("closure of 1,000 nodes", lambda: closure(1000)),
            ("closure of 2,000 nodes", lambda: closure(2000)),
            ("100,000 smokers", lambda: smoking(100_000)),
        ]
        if data is not None:
            programs.insert(0, ("LUBM", lambda: ontology(data)))
        found += [recording(name, make(), options.repeat) for name, make in programs]
    if "explaining" in parts:
        dict(examples())["smokers/smokers.lnn"].explain("Smokes(anna)")  # imports what it takes
        if data is not None:
            found += [explaining("LUBM", ontology(data)), explaining("family", family(data))]
        found += [explaining(name, kb) for name, kb in examples()]
    if "assuming" in parts:
        if data is not None:
            person = '"http://www.Department0.University0.edu/GraduateStudent0"'
            atoms = f"Publication({person})", f"GraduateStudent({person})"
            found.append(assuming("LUBM", ontology(data), *atoms, "Person(X)", options.repeat))
        tracing = dict(examples())["contact_tracing/contact_tracing.lnn"]
        questions = "Fever(bob)", "LossOfSmell(gina)", "Infected(X)"
        found.append(assuming("contact_tracing", tracing, *questions, options.repeat))
    if options.format == "json":
        print(json.dumps([{"measured": type(each).__name__.lower(), **asdict(each)} for each in found]))
    else:
        for each in found:
            print(_line(each), flush=True)
    return 1 if any(isinstance(each, Explaining) and each.wrong for each in found) else 0


def _line(found: Recording | Explaining | Assuming) -> str:
    if isinstance(found, Recording):
        return (
            f"{found.program:<26} recorded {found.recorded:.3f} s, not {found.plain:.3f}: {found.added:+.0%}; "
            f"{found.events:,} events of {found.bytes_an_event:.1f} bytes"
        )
    if isinstance(found, Assuming):
        return (
            f"{found.program:<26} inferred {found.inferred:.3f} s; assumed better {found.better:.3f}, other "
            f"{found.other:.3f}"
        )
    said = "\n  ".join(["", *found.wrong]) if found.wrong else ""
    return (
        f"{found.program:<34} {found.atoms:>6,} atoms ({found.derived:,} derived): first {1000 * found.first:.0f} ms, "
        f"median {1000 * found.median:.1f}, worst {1000 * found.worst:.0f} ({found.worst_atom}), {found.slow} over "
        f"{1000 * LIMIT:.0f}; up to {found.steps} steps; {len(found.wrong)} wrong{said}"
    )


if __name__ == "__main__":
    sys.exit(main())
