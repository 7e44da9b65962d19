"""``lnnkit score``: decide the rows of a stream one by one, into a file."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, threads
from lnnkit.cli.streams import STANDARD_INPUT, ProgressLine, load
from lnnkit.computing import use_threads
from lnnkit.data.files import Unreadable, is_table
from lnnkit.errors import Error
from lnnkit.markup.plain_text import counted
from lnnkit.output import require_apart, require_writable
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BufferedReader

    from lnnkit.scoring.scoring_run import Scored

_MANY = 100_000  # from this many rows on, the rate per second is reported

_HELP = """\
decide the rows of a table of any size, one by one

Answers the queries of a program for each row of a stream, in the order of the rows: its key, and for each query the
bounds and the state. The rows stand in for those of the table that the program loads about a sort; tables of other
sorts are read whole. Memory does not grow with the stream. A run that was stopped continues from there when it is
started again. FILE is a program, or a model file that `train` or `save` wrote.

  lnnkit score loans.lnn --rows loan=loans.parquet -o decisions.parquet
  lnnkit score loans.lnn --rows loan=parts/ -o decisions.parquet --workers 8 --bad-rows left_out.csv
  cat loans.arrows | lnnkit score trained.safetensors --rows loan=- -o decisions.csv
"""


def add_score(parent: CommandParser) -> None:
    parser = parent.command("score", _run, _HELP)
    said = (
        "the sort whose entities are decided, and the stream: a Parquet, CSV or TSV file, a folder of them, or - for "
        "Arrow IPC on standard input"
    )
    parser.add_argument("--rows", required=True, type=_rows, metavar="SORT=PATH", help=said)
    said = "the file to write: .parquet, .csv or .arrow"
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=said)
    parser.queries()
    parser.today()
    parser.bounds_alpha()
    said = "add the statement that set each end, by name or line in the program; and whether the row is contradicted"
    parser.flag("--why", said)
    parser.value("--workers", threads, "N", "processes that decide rows (default: 1)", 1)
    said = "leave bad rows out and list them in this CSV, each with what is wrong (default: a bad row is an error)"
    parser.value("--bad-rows", str, "FILE", said)
    parser.quiet()


def _run(arguments: argparse.Namespace) -> int:
    from lnnkit.scoring.workers import prepared

    if arguments.workers > 1:
        prepared()
    from lnnkit.scoring.row_streams import RowStream
    from lnnkit.scoring.scoring_run import score

    sort, place = arguments.rows
    shown, output = not arguments.quiet, Path(arguments.output)
    bad = None if arguments.bad_rows is None else Path(arguments.bad_rows)
    written = [output] if bad is None else [output, bad]
    for path in written:
        require_writable(path)
    kb = load(arguments.file, shown=shown, streamed=sort, today=arguments.today)
    if arguments.query is not None:
        kb.replace_queries(arguments.query)
    streams.findings(kb.warnings)
    given = None if place == STANDARD_INPUT else place
    scorer = kb.scorer(sort, alpha=arguments.alpha, why=arguments.why, stream=given)
    if given is None:
        stream = RowStream(Path("-"), standard_input=cast("BufferedReader", sys.stdin.buffer))
    else:  # laid out as the program's table
        table = scorer.model.loads[0].table
        stream = RowStream(Path(place), table.header, table.delimiter, table.encoding)
    _require_apart(written, [Path(arguments.file), *kb.files], place)
    use_threads(1)
    began = time.monotonic()
    with ProgressLine("deciding rows", shown=shown) as line:
        total = None
        if shown and given is not None:
            with suppress(Unreadable, OSError, ValueError):  # said when it is read
                total = stream.rows  # if they are known without reading

        def listen(scored: Scored) -> None:
            line.say(_progress(scored, total, time.monotonic() - began))

        final = score(scorer, stream, output, workers=arguments.workers, bad_rows=bad, listen=listen)
    for text in _summary(final, time.monotonic() - began):
        streams.note(text)
    return 0


def _require_apart(written: Sequence[Path], read: Sequence[Path], place: str) -> None:
    """Raises `Error` for an output file that is also read, that is in a folder that is read, or that is named twice."""
    stream = None if place == STANDARD_INPUT else Path(place)
    for path in written:
        require_apart(path, filter(None, [*read, stream]))
        if stream is not None and stream.is_dir() and path.resolve().parent == stream.resolve() and is_table(path):
            message = f'"{path}" would be one of the tables of the stream "{place}" when it is read again'
            raise Error([Diagnostic("overwritten-source", message, "nothing was changed; write to another folder")])
    if len({path.resolve() for path in written}) < len(written):
        message = f'"{written[0]}" would be both the output and the list of bad rows'
        raise Error([Diagnostic("overwritten-source", message, "nothing was changed; name another file")])


def _rows(text: str) -> tuple[str, str]:
    sort, mark, place = text.partition("=")
    if not (sort and mark and place):
        raise argparse.ArgumentTypeError(f"{text!r} names no stream: write SORT=PATH, as in loan=loans.parquet")
    return sort, place


def _progress(scored: Scored, total: int | None, seconds: float) -> str:
    pace = scored.rows / seconds if seconds else 0.0
    left = f"{max(total - scored.rows, 0) / pace:,.0f} s left" if total and pace else ""
    return " · ".join(filter(None, (f"{scored.rows:,} rows", f"{pace:,.0f} rows/s", left)))


def _summary(scored: Scored, seconds: float) -> list[str]:
    """A summary of the run, with the number of rows in each state."""
    pace = f", {scored.rows / seconds:,.0f} a second" if scored.rows >= _MANY else ""
    lines = [f"{counted(scored.rows, 'row')} decided{pace}"]
    if scored.resumed:
        lines[0] += f"; went on from {counted(scored.resumed, 'part')} of an earlier run"
    for name, states in scored.states.items():
        shares = ", ".join(f"{count:,} {state.replace('_', ' ')}" for state, count in states.most_common())
        lines += [f"  {name}: {shares}"] if shares else []
    if scored.left_out:
        lines.append(f"  {counted(scored.left_out, 'bad row')} left out")
    if scored.scattered:
        lines.append("  keys are not sorted: repeated ones were looked for within each batch only")
    return lines
