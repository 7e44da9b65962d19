"""The relational engine against its peers: CPU seconds and memory of the same work, answers compared.

    python -m benchmarks.relational [--only W1,table] [--engines lnnkit,duckdb] [--quick] [--growth] [--format json]
    python -m benchmarks.relational --against PATH       # and an earlier checkout of lnnkit, in the same run

Each engine runs in a process of its own, on one thread, to the largest size that it finishes within the limit; what is
timed is inference, without start-up and without loading data. Engines that are not installed are left out; their
versions are in ``benchmarks/relational/requirements.txt``. Exit code 1 says that engines do not agree, or that lnnkit
failed; targets that are not reached do not.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import lubm
from benchmarks.relational import agreement, engines, growth, race, report, targets, workloads
from benchmarks.relational.race import Limits, Result
from benchmarks.relational.workloads import Workload


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        chosen = workloads.selected(options.only)
        names = "lnnkit,numpy" if options.growth and options.engines is None else options.engines
        if options.against is not None:
            if not (options.against / "lnnkit" / "__init__.py").is_file():
                raise ValueError(f"{options.against} is no checkout of lnnkit")
            names = f"{names or 'lnnkit,duckdb,numpy,pyarrow'},before"
        racers = engines.selected(names, quick=options.quick)
        if options.against is None and any(engine.name == "before" for engine in racers):
            raise ValueError("the engine before is that of --against PATH")
        sizes = None if options.sizes is None else tuple(sorted(int(size) for size in options.sizes.split(",")))
    except ValueError as error:
        parser.error(str(error))
    if options.growth:
        chosen = [workload for workload in chosen if workload.growth]
    if not (lubm.DATA / "tbox.tsv").is_file():
        print("W5 is left out: no LUBM data beside the checkout; set LNNKIT_DATA", file=sys.stderr)
        chosen = [workload for workload in chosen if workload.group != "W5"]
    repeat = 1 if options.quick and options.repeat is None else options.repeat
    limits = Limits(options.limit, options.wall, repeat, options.against)
    results: list[Result] = []
    for workload in chosen:
        with tempfile.TemporaryDirectory(prefix="lnnkit-relational-") as folder:
            run = sizes or _sizes(workload, quick=options.quick, growing=options.growth)
            results += race.race(workload, run, racers, limits, Path(folder), _progress(not options.silent))
    differing = list(agreement.differences(results))
    found = growth.points(results) if options.growth else []
    verdicts = [] if options.growth else targets.verdicts(results)
    taking_part = [engine.name for engine in racers]
    if options.format == "json":
        printed = report.as_object(results, differing, verdicts, taking_part)
        print(json.dumps({**printed, "growth": growth.as_object(found)} if options.growth else printed, indent=2))
    else:
        lines = report.text([] if options.growth else results, differing, verdicts, taking_part)
        print("\n".join([*lines, *growth.text(found)]))
    failed = any(result.engine == targets.OWN and result.state == "failed" for result in results)
    return 1 if failed or any(not difference.known for difference in differing) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.relational",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", help="workloads, by group or key: W1,table")
    parser.add_argument("--engines", help=f"of {', '.join(engines.ENGINES)}; pyreason runs only where it is named")
    parser.add_argument("--against", type=Path, metavar="PATH", help="a checkout of an earlier lnnkit to compare with")
    parser.add_argument("--sizes", help="these sizes instead of the workloads' own: 1000,3000")
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--growth", action="store_true", help="lnnkit's seconds against size and instances")
    parser.add_argument("--repeat", type=int, help="processes of which the median counts (default: 3 for short runs)")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds of one inference (default: 60)")
    parser.add_argument("--wall", type=float, default=600, help="wall seconds of one process (default: 600)")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--silent", action="store_true", help="no word of progress on stderr")
    return parser


def _sizes(workload: Workload, *, quick: bool, growing: bool) -> tuple[int, ...]:
    if growing:
        return tuple(size for size in workload.growth if not quick or size <= max(workload.quick))
    return workload.quick if quick else workload.sizes


def _progress(shown: bool) -> Callable[[str], None]:
    def tell(line: str) -> None:
        if shown:
            print(line, file=sys.stderr, flush=True)

    return tell


if __name__ == "__main__":
    sys.exit(main())
