"""What the constants of analysis, joins, storage and columns change: ``python -m benchmarks.inference_constants``.

CPU milliseconds to answer the queries of a loaded program, the least of three runs, at several values of each constant,
with a mark where the answers differ from those at the value in the code.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import lnnkit
from lnnkit.analysis import causes, families, upward_supports
from lnnkit.join import join_index, literal_join, triggers
from lnnkit.join.instances import assembled
from lnnkit.store import layout, row_arrays, stated_facts, tuple_set

_HUGE = 1 << 40
CONSTANTS: dict[tuple[ModuleType, str], tuple[str, tuple[Any, ...]]] = {
    (causes, "_EXHAUSTIVE"): ("wide", (3, 6, 10, 14)),
    (families, "_PRODUCT"): ("wide", (16, 64, 256, 1024)),
    (upward_supports, "_FALLS"): ("equal", (1, 3, 6, 9)),
    (literal_join, "CHUNK"): ("triangles", (2**13, 2**15, 2**17, 2**18, 2**19, 2**21)),
    (literal_join, "_TRIED"): ("triangles", (2, 3, 6, 12)),
    (assembled, "_FEWER"): ("hub", (1, 8, 64)),
    (triggers, "_PART"): ("columns", (1, 4, 16)),
    (triggers, "_COMPARED"): ("wide", (0, 8, 32, 128)),
    (join_index, "_DENSE"): ("triangles", (2**10, 2**13, 2**16, 2**19, 2**22)),
    (row_arrays, "_COUNTED"): ("triangles", (0, 2**16, 2**32)),
    (stated_facts, "_BLOCK"): ("triangles", (2**12, 2**14, 2**16, 2**18, 2**20)),
    (tuple_set, "_PART"): ("paths", (2**13, 2**15, 2**17, 2**19, 2**21)),
    (tuple_set, "_WORTHWHILE"): ("paths", ((), ((2**12, 0), (2**20, 2**10), (2**24, 2**14)), ((_HUGE, 0),))),
    (layout, "_PART"): ("triangles", (2**13, 2**15, 2**17, 2**19, 2**21)),
}


def wide(rng: random.Random) -> str:
    """Conjunctions and disjunctions of 6, 14 and 30 literals over two variables, and weighted ones."""
    lines = []
    for width in (6, 14, 30):
        body = [f"P{i}(X)" if i % 3 else f"R{i}(X, Y)" for i in range(width)]
        weighted = [f"{each}@{rng.choice((0.3, 0.5, 1, 1.5))}" for each in body]
        lines += [
            f"rule {' & '.join(body)} -> A{width}(X)",
            f"rule {' | '.join(body[:width])} -> B{width}(X)",
            f"rule ({' & '.join(weighted)}){{bias: 0.9}} -> C{width}(X) in [0.9, 1]",
            f"rule Q{width}(X) & ({' | '.join(weighted)}) & ({' | '.join(body)}) -> D{width}(X)",
        ]
    for i in range(30):
        for _ in range(30):
            one, other = rng.randrange(20), rng.randrange(20)
            lines.append(f"fact P{i}(e{one})" if i % 3 else f"fact R{i}(e{one}, e{other})")
    lines += [f"fact Q{width}(e{n})" for width in (6, 14, 30) for n in range(10)]
    return "\n".join([*lines, *(f"query {name}{width}(X)" for name in "ABCD" for width in (6, 14, 30))])


def equal(rng: random.Random) -> str:
    facts = [f"fact P(e{rng.randrange(30)}, e{rng.randrange(30)})" for _ in range(60)]
    apart = " & ".join(f"{one} != {other}" for i, one in enumerate("WXYZ") for other in "WXYZ"[i + 1 :])
    return "\n".join([*facts, f"rule P(W, X) & P(X, Y) & P(Y, Z) & {apart} -> Far(W, Z)", "query Far(X, Y)"])


def triangles(rng: random.Random) -> str:
    table = Path("edges.csv")
    edges = (f"n{rng.randrange(20_000)},n{rng.randrange(20_000)}\n" for _ in range(200_000))
    table.write_text("a,b\n" + "".join(edges))
    return """load Edge from "edges.csv"
rule Edge(X, Y) & Edge(Y, Z) & Edge(Z, X) -> Triangle(X, Y, Z)
rule Edge(X, Y) & Edge(Y, Z) -> Second(X, Z)
query Triangle(X, Y, Z)
query Second(n1, X)"""


def hub(rng: random.Random) -> str:
    spokes = "".join(f"n{n},centre\ncentre,n{n}\n" for n in range(3_000))
    Path("spokes.csv").write_text("a,b\n" + spokes)
    chosen = "\n".join(f"fact Chosen(n{n})" for n in range(0, 3_000, 10))
    return f"""predicate Link(entity, entity) closed
predicate Chosen(entity) closed
load Link from "spokes.csv"
{chosen}
axiom (exists Y, Z: Link(X, Y) & Link(Y, Z) & Chosen(Z)) <-> Near(X)
query Near(X)"""


def paths(rng: random.Random) -> str:
    table = Path("links.csv")
    table.write_text("a,b\n" + "".join(f"n{rng.randrange(700)},n{rng.randrange(700)}\n" for _ in range(900)))
    return """predicate Link(entity, entity) closed
predicate Path(entity, entity) closed
load Link from "links.csv"
rule Link(X, Y) -> Path(X, Y)
rule Path(X, Y) & Link(Y, Z) -> Path(X, Z)
query Path(X, Y)"""


def columns(rng: random.Random) -> str:
    table = Path("rows.csv")
    degrees = (0.5, 0.8, 1)
    rows = (
        ",".join([f"r{n}", *(str(rng.choice(degrees)) for _ in "abc"), str(rng.randrange(1, 4))])
        for n in range(200_000)
    )
    table.write_text("id,a,b,c,size\n" + "\n".join(rows) + "\n")
    lines = ["number size(entity)", 'load size from "rows.csv" (id, size)']
    lines += [f'load {name.upper()} from "rows.csv" (id, {name})' for name in "abc"]
    lines += ["rule A(X) & B(X) & C(X) -> F(X) in [0.9, 1]", "rule (A(X) | B(X)) & F(X) & size(X) > 1 -> G(X)"]
    for one, other in ("AB", "BC", "CA"):
        lines.append(f"rule {one}(X) & ({other}(X) | ~F(X)) & size(X) > 1 -> H{one}(X) in [0.8, 1]")
        lines.append(f"rule H{one}(X) & G(X) | {other}(X) -> K(X) in [0.9, 1]")
    return "\n".join([*lines, "query K(X)"])


PROGRAMS: dict[str, Callable[[random.Random], str]] = {
    each.__name__: each for each in (wide, equal, triangles, hub, paths, columns)
}


def answered(text: str) -> tuple[float, object]:
    """The least CPU milliseconds of three runs, and the answers."""
    taken, answers = [], None
    for _ in range(3):
        causes._cached.cache_clear()
        kb = lnnkit.loads(text)
        start = time.process_time()
        found = kb.answers()
        taken.append(time.process_time() - start)
        answers = [(list(each.lower), list(each.upper)) for each in found]
    return 1000 * min(taken), answers


def main(only: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        texts = {name: program(random.Random(0)) for name, program in PROGRAMS.items()}
        known = {name: answered(text)[1] for name, text in texts.items() if not only or name in only}
        for (module, name), (program, values) in CONSTANTS.items():
            if program not in known:
                continue
            found = []
            for value in values:
                with mock.patch.object(module, name, value):
                    taken, answers = answered(texts[program])
                found.append(f"{value}: {taken:.0f} ms" + ("" if answers == known[program] else " (other answers)"))
            print(f"{module.__name__}.{name} (now {getattr(module, name)}), {program}:", ", ".join(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
