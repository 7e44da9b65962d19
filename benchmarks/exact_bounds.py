"""Exact bounds of random programs, checked, and how much narrower they are than those of inference.

    python -m benchmarks.exact_bounds [--logics L ...] [--programs N] [--first SEED] [--seconds S] [--results FILE]

The programs hold in a world drawn first. Every bound must hold the truth there and lie within what inference says; in
Lukasiewicz logic those that are settled must be the ends that mixed-integer programming (HiGHS) finds, within 1e-6.
With ``--results`` each program leaves a line of JSON in the file, and those that are there are not run again. Exit code
1 says that a bound is wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.prove.exact_comparison import compared, drawn

LOGICS = ("lukasiewicz", "godel", "product")
CREEPING = {("product", 56)}  # whose inference goes on for a quarter of an hour
_SAME = 1e-9
COLUMNS = (
    "programs",
    "questions",
    "checked by HiGHS",
    "left open by inference",
    "of these not settled in time",
    "unchanged",
    "narrower by up to half",
    "narrower by more",
    "settled to a point",
    "wrong",
)

Result = dict[str, Any]


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    results = list(_results(options))
    print("| logic | " + " | ".join(COLUMNS) + " |")
    print("| --- |" + " --- |" * len(COLUMNS))
    for logic in options.logics:
        counts = distribution([each for each in results if each["logic"] == logic])
        print(f"| {logic} | " + " | ".join(f"{counts[name]:,}" for name in COLUMNS) + " |")
    wrong = [fault for each in results for question in each["questions"] for fault in question["faults"]]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


def distribution(results: Sequence[Result]) -> Counter[str]:
    """How many questions are of which kind."""
    found = Counter(programs=len(results))
    for question in (question for each in results for question in each["questions"]):
        found["questions"] += 1
        found["checked by HiGHS"] += question["checked"]
        found["wrong"] += bool(question["faults"])
        told, proved = question["told"], question["proved"]
        if told > _SAME:
            found["left open by inference"] += 1
            found["of these not settled in time"] += not question["settled"]
            found[_kind(told, proved)] += 1
    return found


def _kind(told: float, proved: float) -> str:
    if proved <= _SAME:
        return "settled to a point"
    if proved >= told - _SAME:
        return "unchanged"
    return "narrower by up to half" if proved >= told / 2 else "narrower by more"


def _results(options: argparse.Namespace) -> Iterator[Result]:
    path = options.results
    known: dict[tuple[str, int], Result] = {}
    if path is not None and path.is_file():
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        known = {(each["logic"], each["seed"]): each for each in lines}
    for logic in options.logics:
        seed = options.first
        count = 0
        while count < options.programs:
            found = known.get((logic, seed)) or _run(logic, seed, options.seconds)
            if path is not None and (logic, seed) not in known:
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(found) + "\n")
            if found["questions"]:
                count += 1
                yield found
            seed += 1


def _run(logic: str, seed: int, seconds: float) -> Result:
    case = None if (logic, seed) in CREEPING else drawn(seed, logic)
    questions = [] if case is None else [asdict(each) for each in compared(case, seconds)]
    return {"logic": logic, "seed": seed, "questions": questions}


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exact_bounds", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--logics", nargs="+", choices=LOGICS, default=LOGICS)
    parser.add_argument("--programs", type=int, default=1000, help="of each logic (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each question (default: %(default)s)")
    parser.add_argument("--results", type=Path, help="a file of JSON lines, continued if it is there")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
