"""What the constants of proving and explanations change: ``python -m benchmarks.question_constants``.

CPU milliseconds to answer the questions of a workload (the least of two runs, or of one where a run is long) at several
values of each constant, with a mark where the answers differ from those at the value in the code.
``python -m benchmarks.question_constants proofs`` runs one workload.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from types import ModuleType
from typing import Any
from unittest import mock

import lnnkit
from lnnkit.explain.missing import missing_premises, unmet_premises
from lnnkit.explain.proof import sufficient_premises
from lnnkit.kb import asking, explaining, proving
from lnnkit.prove.decision import classical_decision, minimal_core, question

_EVER = 1 << 40
CONSTANTS: dict[tuple[ModuleType, str], tuple[str, tuple[Any, ...]]] = {
    (question, "EAGER"): ("proofs", (0, 50, 200, 500, 2000, 8000, _EVER)),
    (question, "WHOLE"): ("proofs", (0, 100, 500, 2000, 8000)),
    (minimal_core, "_MOST_STEPS"): ("proofs", (500, 5000, 50_000)),
    (classical_decision, "_TURNS"): ("unnamed", (0, 10, 100, 1000)),
    (asking, "_FEW"): ("asked", (0, 2, 8, 32, 128)),
    (missing_premises, "_LOOKED_AT"): ("missing", (2, 5, 10, 20, 40, 80)),
    (missing_premises, "_ALTERNATIVES"): ("missing", (1, 3, 6, 12)),
    (missing_premises, "_NEAREST"): ("missing", (1, 3, 6, 12, 24)),
    (missing_premises, "_MOST"): ("missing", (20, 50, 200, 800)),
    (missing_premises, "_SUBSETS"): ("missing", (20, 100, 300, 1000)),
    (unmet_premises, "_ALONE"): ("missing", (2, 8, 32, 128)),
    (explaining, "_KNOWN"): ("missing", (0, 1, 2, 4, 8)),
    (sufficient_premises, "_ALL"): ("explained", (0, 2, 5, 8)),
    (sufficient_premises, "_MOST"): ("explained", (100, 500, 2000, 8000)),
}


def proofs(rng: random.Random) -> Iterator[str]:
    """Verdicts on programs of some ten to some hundred instances, some of which a question depends on."""
    for size in (10, 40, 120):
        lines = ["predicate R(entity, entity)"]
        for _ in range(size):
            lines.append(f"fact R(e{rng.randrange(size)}, e{rng.randrange(size)})")
            one, other = rng.randrange(size), rng.randrange(size)
            lines.append(rng.choice((f"axiom A(e{one}) | B(e{other})", f"axiom ~(B(e{one}) & C(e{other}))")))
        lines += ["axiom A(X) & R(X, Y) -> C(Y) | A(Y)", "axiom B(X) & R(X, Y) -> B(Y)", "axiom A(X) -> D(X)"]
        lines += ["axiom B(X) -> D(X)", "axiom D(X) & C(X) -> ~A(X) | B(X)"]
        kb = lnnkit.loads("\n".join(lines))
        for _ in range(4):
            entity = f"e{rng.randrange(size)}"
            yield kb.prove(rng.choice((f"D({entity})", f"A({entity}) -> C({entity})", f"B({entity})"))).verdict


def unnamed(rng: random.Random) -> Iterator[str]:
    """Verdicts about quantifiers over open sorts."""
    for size in (10, 40, 160):
        lines = ["sort person open", "predicate P(person)", "predicate Q(person)", "predicate R(person, person)"]
        for _ in range(size):
            lines.append(f"fact R(e{rng.randrange(size)}, e{rng.randrange(size)})")
            lines.append(rng.choice(("fact P(e{})", "fact Q(e{})")).format(rng.randrange(size)))
        lines += ["axiom P(X) -> exists Y: R(X, Y) & Q(Y)", "axiom Q(X) & R(X, Y) -> P(Y)"]
        kb = lnnkit.loads("\n".join(lines))
        for text in ("exists X: Q(X)", "forall X: P(X) -> Q(X)", "exists X: P(X) & ~Q(X)"):
            yield kb.prove(text, timeout=20).verdict


def asked(rng: random.Random) -> Iterator[object]:
    """Forty questions, one after the other, about a closed recursive predicate."""
    lines = ["predicate Link(entity, entity) closed", "predicate Path(entity, entity) closed"]
    lines += [f"fact Link(n{n % 200}, n{rng.randrange(200)})" for n in range(300)]
    lines += ["rule Link(X, Y) -> Path(X, Y)", "rule Path(X, Y) & Link(Y, Z) -> Path(X, Z)"]
    kb = lnnkit.loads("\n".join(lines))
    for n in range(40):
        found = kb.ask(f"Path(n{n}, X)")
        yield list(found.lower), list(found.upper)


def missing(rng: random.Random) -> Iterator[object]:
    """Why atoms are not true, in a rule of five premises over three variables."""
    lines = ["rule R0(X, Y) & R1(Y, Z) & P1(X) & P2(Y) & (exists W: R1(X, W) & P0(W)) -> G(X)"]
    lines += [f"fact P{i}(e{n})" for i in range(3) for n in range(i, 12, 3)]
    lines += [f"fact R{i}(e{n}, e{rng.randrange(12)})" for i in range(2) for n in range(12)]
    kb = lnnkit.loads("\n".join(lines))
    for n in range(2):
        yield str(kb.why_not(f"G(e{n})"))


def explained(rng: random.Random) -> Iterator[object]:
    """Proofs over a table of 30,000 rows, of a closed recursive predicate and of a quantifier."""
    lines = ["predicate Link(entity, entity) closed", "predicate Path(entity, entity) closed", "predicate Big(entity)"]
    lines += ["predicate Wide(entity)", "predicate Next(entity, entity)"]
    rows = [(f"n{n % 300}", f"n{rng.randrange(300)}") for n in range(330)]
    many = [(f"m{n}", f"m{rng.randrange(30_000)}") for n in range(30_000)]
    lines += ["rule Link(X, Y) -> Path(X, Y)", "rule Path(X, Y) & Link(Y, Z) -> Path(X, Z)"]
    lines += ["rule (exists Y: Path(X, Y) & Wide(Y)) -> Big(X)", "rule Next(X, Y) & Next(Y, Z) -> Second(X, Z)"]
    kb = lnnkit.loads("\n".join(lines))
    kb.tell("Link", rows)
    kb.tell("Next", many)
    kb.tell("Wide", [(f"n{n}",) for n in range(0, 300, 7)])
    onward = dict(many)
    seconds = [f"Second({name}, {onward[other]})" for name, other in many[:20]]
    for text in (*(f"Path({one}, {other})" for one, other in rows[:4]), "Path(n0, n1)", "Big(n1)", *seconds):
        yield str(kb.explain(text))


Workload = Callable[[random.Random], Iterator[object]]
WORKLOADS: dict[str, Workload] = {each.__name__: each for each in (proofs, unnamed, asked, missing, explained)}


def answered(workload: Workload) -> tuple[float, list[object]]:
    """The least CPU milliseconds of some runs, and the answers."""
    taken, answers = [], list[object]()
    for _ in range(1 if workload in (proofs, missing) else 2):
        start = time.process_time()
        answers = list(workload(random.Random(0)))
        taken.append(time.process_time() - start)
    return 1000 * min(taken), answers


def changed(module: ModuleType, name: str, value: Any) -> AbstractContextManager[object]:
    """A context in which the constant has the value."""
    if name == "EAGER":  # the default of a field
        return mock.patch.object(proving, "Ground", partial(question.Ground, eager=value))
    return mock.patch.object(module, name, value)


def main(only: list[str]) -> None:
    for workload, run in WORKLOADS.items():
        if only and workload not in only:
            continue
        known = answered(run)[1]
        for (module, name), (own, values) in CONSTANTS.items():
            if own != workload:
                continue
            found = []
            for value in values:
                with changed(module, name, value):
                    taken, answers = answered(run)
                others = sum(one != other for one, other in zip(answers, known, strict=True))
                found.append(f"{value}: {taken:.0f} ms" + (f" ({others} other answers)" if others else ""))
            print(f"{module.__name__}.{name} (now {getattr(module, name)}), {workload}:", ", ".join(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
