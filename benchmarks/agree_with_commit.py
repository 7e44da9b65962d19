"""The working tree beside an earlier commit on random programs: answers, contradictions with their texts, how inference
ended, and its rounds.

    python -m benchmarks.agree_with_commit [COMMIT] --programs 500 --seed 1
    python -m benchmarks.agree_with_commit 9d20b502 --no-rounds --tighter

Programs are those of the laws (`tests.laws.drawing`): all logics, quantifiers, closed predicates, numbers,
contradictions. The first program that differs is made smaller as long as it does, and printed with what both trees say.
``--tighter`` lets answers of the working tree lie within those of the commit where neither contradicts itself. Exit
code 1 says that a program differs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.guard.measured import ONE_THREAD
from benchmarks.guard.trees import ROOT, environment, tree
from tests.laws.drawing import drawn
from tests.oracle import Program
from tests.programs import to_text
from tests.soak.shrinking import shrunken

NEAR = 1e-9
_READER = Path(__file__).with_name("program_reader.py")
Reading = Mapping[str, object]


class Tree:
    """A process that reads programs under one tree, one after another."""

    def __init__(self, python: Path) -> None:
        environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(python), "-P", str(_READER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def read(self, text: str) -> Reading:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def differences(before: Reading, now: Reading, rounds: bool, tighter: bool) -> dict[str, list[str]]:
    """What differs, by kind, in words. A program that both refuse alike does not."""
    if "refused" in before or "refused" in now:
        one, other = (str(each.get("refused", "answered")) for each in (before, now))
        return {} if one == other else {"refusals": [f"{one}, now {other}"]}
    found: dict[str, list[str]] = {}
    crossed = [Counter(map(tuple, each["contradictions"])) for each in (before, now)]  # pyright: ignore
    answers = _answers(before["answers"], now["answers"], tighter and not any(crossed))  # pyright: ignore
    if answers:
        found["answers"] = answers
    if crossed[0] != crossed[1] and _uneven(crossed[0], crossed[1]):
        one, other = crossed[0] - crossed[1], crossed[1] - crossed[0]
        found["contradictions"] = [f"gone {sorted(one)}", f"new {sorted(other)}"]
    if before["status"] != now["status"]:
        found["status"] = [f"{before['status']}, now {now['status']}"]
    if rounds and before["rounds"] != now["rounds"]:
        found["rounds"] = [f"{before['rounds']}, now {now['rounds']}"]
    return found


def _answers(before: Mapping[str, list[float]], now: Mapping[str, list[float]], tighter: bool) -> list[str]:
    found = []
    for key in sorted(before.keys() | now.keys()):
        one, other = before.get(key), now.get(key)
        if one is None or other is None:
            alike = tighter and one is None
        elif tighter:
            alike = other[0] >= one[0] - NEAR * _size(one[0]) and other[1] <= one[1] + NEAR * _size(one[1])
        else:
            alike = all(a == b or abs(a - b) <= NEAR * _size(a) for a, b in zip(one, other, strict=True))
        if not alike:
            found.append(f"{key}: {one}, now {other}")
    return found


def _uneven(one: Counter[tuple], other: Counter[tuple]) -> bool:
    """Whether contradictions differ in more than the last digits of their bounds."""

    def rounded(crossed: Counter[tuple]) -> Counter[tuple]:
        found: Counter[tuple] = Counter()
        for (*names, low, high), count in crossed.items():
            found[*names, round(low, 7), round(high, 7)] += count
        return found

    return rounded(one) != rounded(other)


def _size(value: float) -> float:
    return max(1.0, abs(value)) if math.isfinite(value) else 1.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.agree_with_commit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("commit", nargs="?", default="9d20b502")
    parser.add_argument("--programs", type=int, default=200, help="how many (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the first (default: 0)")
    parser.add_argument("--no-rounds", action="store_true", help="leave numbers of rounds out")
    parser.add_argument(
        "--tighter", action="store_true", help="let answers be tighter where nothing contradicts itself"
    )
    parser.add_argument("--all", action="store_true", help="name every program that differs, and shrink none")
    options = parser.parse_args(arguments)
    try:
        earlier = tree(options.commit)
    except ValueError as problem:
        parser.error(str(problem))
    with tempfile.TemporaryDirectory(prefix="lnnkit-agree-") as held:
        trees = [Tree(environment(each, Path(held) / name)) for each, name in ((earlier, "earlier"), (ROOT, "now"))]

        def compared(program: Program) -> dict[str, list[str]]:
            text = to_text(program)
            return differences(trees[0].read(text), trees[1].read(text), not options.no_rounds, options.tighter)

        ran, kinds = 0, Counter[str]()
        for seed in range(options.seed, options.seed + options.programs):
            program, ran = drawn(seed), ran + 1
            found = compared(program)
            kinds.update(found.keys())
            if found:
                print(f"seed {seed}: {', '.join(found)}", flush=True)
            if found and not options.all:
                _print_least(program, found, compared)
                break
        for each in trees:
            each.close()
    print(
        f"{ran} programs compared with {options.commit}: "
        + (", ".join(f"{n} differ in {k}" for k, n in kinds.items()) or "all alike")
    )
    return int(bool(kinds))


def _print_least(
    program: Program, found: Mapping[str, list[str]], compared: Callable[[Program], dict[str, list[str]]]
) -> None:
    least = shrunken(program, lambda smaller: bool(found.keys() & compared(smaller).keys()))
    print(to_text(least))
    for kind, said in compared(least).items():
        print(f"{kind}:\n  " + "\n  ".join(said[:10]))


if __name__ == "__main__":
    sys.exit(main())
