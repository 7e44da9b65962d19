"""Every figure of the working tree beside an earlier commit, and what it is to reach.

    python -m benchmarks.guard                          # half an hour; --quick: small sizes, minutes
    python -m benchmarks.guard --only closure,held      # figures whose names start so

CPU seconds of one thread, the least of alternating runs, each in a process of its own; user time, or where the title
names a whole process, user and system time. Data are drawn from fixed seeds. Exit code 1 says that a figure is not
reached, a program failed, or the two trees have other answers.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.guard.figures import FIGURES, MEMORY, Figure
from benchmarks.guard.measured import Measured
from benchmarks.guard.race import Ended, Failed, Refused, Side, race
from benchmarks.guard.trees import ROOT, environment, tree

COMMIT = "9d20b502"
Row = dict[str, object]
Both = Mapping[str, Mapping[str, Ended]]  # side, program


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.guard", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="comma-separated starts of names")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--commit", default=COMMIT, help=f"the earlier commit (default: {COMMIT})")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each program under each tree (default: 3)")
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--list", action="store_true", help="name the figures")
    options = parser.parse_args(arguments)
    wanted = tuple((options.only or "").split(","))
    figures = [figure for figure in FIGURES if figure.name.startswith(wanted)]
    if options.list or not figures:
        print("\n".join(f"{each.name:20} {each.title.format(size=each.size)}" for each in FIGURES))
        return 0 if options.list else 2
    try:
        earlier = tree(options.commit)
    except ValueError as problem:
        parser.error(str(problem))
    with tempfile.TemporaryDirectory(prefix="lnnkit-guard-") as held:
        sides = (
            Side(options.commit, earlier, environment(earlier, Path(held) / "earlier")),
            Side("working tree", ROOT, environment(ROOT, Path(held) / "working")),
        )
        rows = list(_rows(figures, sides, options))
    if options.format == "json":
        print(json.dumps(rows, indent=1))
    reached = sum(row["ok"] is True for row in rows)
    print(f"{reached} of {len(rows)} reached", file=sys.stderr)
    return int(reached < len(rows))


def _rows(figures: Sequence[Figure], sides: tuple[Side, Side], options: argparse.Namespace) -> Iterator[Row]:
    known: dict[tuple[str, int], Mapping[str, Ended]] = {}
    if options.format == "table":
        print(f"{'figure':62} {options.commit:>10} {'now':>10}  {'ratio':>6} {'reach':>7}  {'MB':>15}  memory")
    for figure in figures:
        size = figure.quick if options.quick else figure.size
        for program in figure.programs():
            if (program, size) not in known:
                known[program, size] = race(program, size, sides, options.repeat, _tell)
        both = {side.name: {name: known[name, size][side.name] for name in figure.programs()} for side in sides}
        row = row_of(figure, size, both, options.commit, "working tree")
        _tell("")
        if options.format == "table":
            print(_line(row), flush=True)
        yield row


def row_of(figure: Figure, size: int, both: Both, earlier: str, working: str) -> Row:
    before, now = figure.value(both[earlier]), figure.value(both[working])
    memory = [_peak(both[side][figure.program]) for side in (earlier, working)]
    ratio = now / before if now is not None and before else None
    most = figure.most if figure.most is not None else figure.ratio
    reached = now if figure.most is not None else ratio
    ok = reached is not None and most is not None and reached <= most
    kept = figure.megabytes is None or (memory[1] or math.inf) <= figure.megabytes
    grown = memory[1] / memory[0] if memory[0] and memory[1] else None
    problems = _problems(figure, both, earlier, working)
    return {
        "name": figure.name,
        "title": figure.title.format(size=size),
        "unit": "" if figure.over else "s",
        "before": before,
        "now": now,
        "ratio": ratio,
        "reach": most,
        "by": "value" if figure.most is not None else "ratio",
        "memory": memory,
        "memory ratio": grown,
        "problems": problems,
        "ok": ok and kept and (grown is None or grown <= MEMORY) and not any(p[0] == working for p in problems),
    }


def _problems(figure: Figure, both: Both, earlier: str, working: str) -> list[tuple[str, str]]:
    """Refusals and failures with the name of the tree; other answers are the working tree's."""
    found: list[tuple[str, str]] = []
    for side in (earlier, working):
        for name in figure.programs():
            ended = both[side][name]
            if isinstance(ended, Refused | Failed):
                kind = "refused" if isinstance(ended, Refused) else "failed"
                found.append((side, f"{kind}: {ended.message}"))
    for name in figure.programs():
        one, other = both[earlier][name], both[working][name]
        if isinstance(one, Measured) and isinstance(other, Measured) and not _alike(one.checks, other.checks):
            found.append((working, f"other answers: {dict(other.checks)} instead of {dict(one.checks)}"))
    return found


def _alike(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return one.keys() == other.keys() and all(math.isclose(one[key], other[key], rel_tol=1e-9) for key in one)


def _peak(ended: Ended) -> float | None:
    return ended.peak if isinstance(ended, Measured) else None


def _line(row: Row) -> str:
    unit = row["unit"]

    def shown(value: object) -> str:
        if not isinstance(value, float):
            return "-"
        return f"{value:.3f}{unit}" if unit else f"{value:.1f}x"

    def two(value: object) -> str:
        return f"{value:.2f}" if isinstance(value, float) else "-"

    assert isinstance(row["memory"], list)
    memory = " ".join(f"{each:7,.0f}" if isinstance(each, float) else f"{'-':>7}" for each in row["memory"])
    reach = two(row["reach"]) + (("s" if unit else "x") if row["by"] == "value" else "")
    line = f"{row['title']:62} {shown(row['before']):>10} {shown(row['now']):>10}  {two(row['ratio']):>6} {reach:>7}"
    line += f"  {memory}  {two(row['memory ratio']):>6}  {'ok' if row['ok'] else 'SHORT'}"
    assert isinstance(row["problems"], list)
    return "\n".join([line, *(f"    {side} {problem}" for side, problem in row["problems"])])


def _tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{what:79.79}\r", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
