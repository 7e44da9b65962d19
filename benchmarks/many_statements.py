"""How load, inference and answers grow with the number of statements, kind by kind.

    python -m benchmarks.many_statements [COUNT ...] [--only KIND,...]

For each kind of statement a program of COUNT of them (500 and 2,000 unless given) over hardly any facts, and 200 tables
told to it. CPU seconds, one thread: four times the statements should take four times as long.
"""

from __future__ import annotations

import argparse
import gc
import re
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch

import lnnkit

COUNTS = (500, 2000)
_TOLD = 200

KINDS: dict[str, Callable[[int], str]] = {
    "rule": lambda n: f"rule P{n}(X) & B(X) -> P{n + 1}(X)",
    "constant": lambda n: f"rule R(X, c{n}) -> P{n % 9}(X)",
    "threshold": lambda n: f"rule n{n % 50}(X) > {n} & B(X) -> P{n}(X)",
    "soft threshold": lambda n: f"rule (n0(X) > {n}){{scale: 2}} & B(X) -> P{n}(X)",
    "two numbers": lambda n: f"rule R(X, Y) & n{n % 3}(X) > n{n % 3}(Y) -> P{n}(X)",
    "number": lambda n: f"rule n{n + 1}(X) = n{n}(X) + {n}",
    "unequal": lambda n: f"rule R(X, Y) & X != Y & P{n}(X) -> P{n + 1}(Y)",
    "equivalence": lambda n: f"rule P{n}(X) <-> B(X) | P{n + 1}(X)",
    "exists": lambda n: f"rule (exists Y: R(X, Y) & P{n}(Y)) -> P{n + 1}(X)",
    "forall": lambda n: f"rule (forall Y: R(X, Y) -> P{n % 7}(Y)) -> Q{n}(X)",
    "stratum": lambda n: f"rule C{n}(X) & ~B(X) -> C{n + 1}(X)",
    "learned weight": lambda n: f"rule P{n}(X)@?w{n}=1 & B(X) -> P{n + 1}(X) in [?t{n}=0.9, 1]",
    "one head": lambda n: f"rule P{n}(X) & P{n + 1}(X) -> B(X)",
    "axiom of entities": lambda n: f"axiom B(e{n}) | B(e{n + 1})",
    "fact": lambda n: f"fact B(e{n})",
    "fact of a number": lambda n: f"fact n0(e{n}) = {n}",
    "query of an atom": lambda n: f"query B(e{n % 7})",
    "query of a formula": lambda n: f"query B(X) & P{n % 5}(X)",
    "query of a comparison": lambda n: f"query n0(X) > {n}",
}


def program(kind: str, count: int) -> str:
    """A program of ``count`` statements of a kind, with the declarations that they need."""
    body = "\n".join(map(KINDS[kind], range(count)))
    numbers = sorted({"n0", *re.findall(r"\bn\d+(?=\()", body)})
    closed = sorted(set(re.findall(r"\bC\d+(?=\()", body)))
    opened = sorted({"B", "P0", *re.findall(r"\b[PQ]\d+(?=\()", body)})
    lines = [f"number {name}(x)" for name in numbers] + [f"predicate {name}(x) closed" for name in closed]
    lines += ["predicate R(x, x)", *(f"predicate {name}(x)" for name in opened)]
    lines += ["fact B(e0)", "fact P0(e0)", "fact R(e0, e1)", *([] if "query" in kind else ["query B(X)"]), body]
    return "\n".join(lines) + "\n"


def seconds(kind: str, count: int) -> list[float]:
    """CPU seconds of loading, telling, inference, and answers."""
    text = program(kind, count)
    gc.collect()
    moments = [time.process_time()]
    kb = lnnkit.loads(text)
    moments.append(time.process_time())
    for place in range(_TOLD):
        kb.tell("B", {"x": [f"e{place}"]})
    moments.append(time.process_time())
    kb.infer()
    moments.append(time.process_time())
    kb.answers()
    moments.append(time.process_time())
    return [end - start for start, end in pairwise(moments)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.many_statements",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("counts", nargs="*", type=int, help=f"default: {', '.join(map(str, COUNTS))}")
    parser.add_argument("--only", help=f"of {', '.join(KINDS)}")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    kinds = [each.strip() for each in options.only.split(",")] if options.only else [*KINDS]
    unknown = [each for each in kinds if each not in KINDS]
    if unknown:
        parser.error(f"no kind {', '.join(unknown)}; choose from {', '.join(KINDS)}")
    seconds("rule", 5)  # imports
    print(f"{'statements':23} {'count':>6}   load   tell  infer  answers")
    for kind in kinds:
        for count in options.counts or COUNTS:
            load, told, infer, answers = seconds(kind, count)
            print(f"{kind:23} {count:6,} {load:6.2f} {told:6.2f} {infer:6.2f} {answers:8.2f}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
