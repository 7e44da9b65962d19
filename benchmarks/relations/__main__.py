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
HEAD = ("task", "setting", "measure", "lnnkit", "against", "", "CPU s", "")


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
    found = list(_outcomes(options.task or TASKS, options.seed))
    if options.format == "json":
        print(json.dumps([vars(each) for each in found], indent=2))
        return 0
    print(_table(found))
    if options.programs:
        print("\n".join(f"\n# {each.task}, {each.setting}\n{each.program}" for each in found if each.program))
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


def _table(found: Sequence[Outcome]) -> str:
    lines = [HEAD, *(_cells(each) for each in found)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def _cells(each: Outcome) -> tuple[str, ...]:
    return (
        each.task,
        each.setting,
        each.measure,
        f"{each.figure:.4f}",
        f"{each.other:.4f}",
        each.against,
        f"{each.seconds:.1f}",
        "reached" if each.reached else "NOT REACHED",
    )


if __name__ == "__main__":
    sys.exit(main())
