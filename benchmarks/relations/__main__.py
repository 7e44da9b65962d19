"""Rules over relations, their weights learned from labels.

    python -m benchmarks.relations [smokers] [family] [webkb] [--programs] [--format table|json]

``smokers`` generates its own people; ``family`` and ``webkb`` read ``../shared/data``, or ``LNNKIT_DATA``, and are left
out where that is absent. ``--programs`` prints what was learned.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from benchmarks.relations import family, smokers, webkb
from benchmarks.relations.outcome import Outcome

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
FAMILY, WEBKB = DATA / "kg" / "neurallp_family", DATA / "srlearn" / "webkb" / "webkb"
TASKS = ("smokers", "family", "webkb")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.relations", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", nargs="*", choices=TASKS, help=f"of {', '.join(TASKS)}; none: all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", action="store_true", help="print what was learned")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    found: list[Outcome] = []
    for each in _outcomes(options.task or TASKS, options.seed):
        found.append(each)
        if options.format == "table":
            print(_line(each), flush=True)
            if options.programs and each.program:
                print(f"\n{each.program}")
    if options.format == "json":
        print(json.dumps([vars(each) for each in found], indent=2))
    return 0


def _outcomes(tasks: Sequence[str], seed: int) -> Iterator[Outcome]:
    for task in tasks:
        folder = {"family": FAMILY, "webkb": WEBKB}.get(task)
        if folder is not None and not folder.is_dir():
            print(f"{task} is left out: no {folder}; set LNNKIT_DATA", file=sys.stderr)
        elif task == "smokers":
            yield from smokers.outcomes(seed=seed)
        elif task == "family":
            yield from family.outcomes(FAMILY, seed)
        else:
            yield from webkb.outcomes(WEBKB, seed)


def _line(each: Outcome) -> str:
    reached = "reached" if each.reached else "NOT REACHED"
    figures = f"{each.measure} {each.figure:.4f} ({each.against} {each.other:.4f})"
    return f"{each.task:<8} {each.setting:<36} {figures:<48} {each.seconds:6.1f} CPU s  {reached}"


if __name__ == "__main__":
    sys.exit(main())
