"""Rules induced from tables, against a tree, a logistic regression and the greater class on the same folds.

    python -m benchmarks.tables [TABLE ...] [--folds 10] [--everywhere] [--programs] [--peers] [--format table|json]

Held-out accuracy, with the standard error of the folds; AUROC; log loss; the accuracy where a fifth of the held-out
cells are removed at random, the same cells for every model (``gaps``; the regression puts means there); with
``--everywhere`` also where such rows are trained on. ``terms`` and ``literals`` are the mean size of the induced rule.
``--programs`` prints the rule of the first fold; ``--peers`` adds EBM (interpret) and FIGS (imodels), installed by
`pip install --no-deps interpret-core imodels mlxtend tqdm` beside the extra `test`.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence

import torch

from benchmarks.tables import report
from benchmarks.tables.crossvalidation import Score, crossvalidated
from benchmarks.tables.data import DATA, TABLES, read
from benchmarks.tables.models import MODELS, OWN, peers


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    torch.set_num_threads(1)
    models = {**MODELS, **(peers() if options.peers else {})}
    for name in ("EBM", "FIGS") if options.peers else ():
        if name not in models:
            print(f"{name} is left out: it is not installed", file=sys.stderr)
    scores: list[Score] = []
    for name in options.table or TABLES:
        if not (DATA / TABLES[name].path).is_file():
            print(f"{name} is left out: no {DATA / TABLES[name].path}; set LNNKIT_DATA", file=sys.stderr)
            continue
        with warnings.catch_warnings():  # the peers' own: levels that training did not have
            warnings.simplefilter("ignore", UserWarning)
            found = crossvalidated(
                name,
                read(TABLES[name]),
                options.folds,
                options.seed,
                share=options.missing,
                everywhere=options.everywhere,
                progress=_silent if options.silent else _tell,
                models=models,
            )
        scores += found
        if options.format == "table":
            print(report.table(found), flush=True)
            if options.programs:
                print("".join(f"\n{score.program}" for score in found if score.model == OWN))
    if options.format == "json":
        print(json.dumps(report.as_object(scores), indent=2))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", nargs="*", choices=TABLES, help=f"of {', '.join(TABLES)}; none: all")
    parser.add_argument("--folds", type=int, default=10, help="default: 10; monks-1 has its published split")
    parser.add_argument("--seed", type=int, default=0, help="of folds, gaps and models")
    parser.add_argument("--missing", type=float, default=0.2, help="share of the cells that are removed (default: 0.2)")
    parser.add_argument("--everywhere", action="store_true", help="also train on rows with cells removed")
    parser.add_argument("--programs", action="store_true", help="print the rule of the first fold")
    parser.add_argument("--peers", action="store_true", help="EBM and FIGS too, where they are installed")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--silent", action="store_true", help="no word of progress on stderr")
    return parser


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _silent(line: str) -> None:
    del line


if __name__ == "__main__":
    sys.exit(main())
