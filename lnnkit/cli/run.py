"""``lnnkit run``: runs inference and prints the answers to the queries; ``lnnkit shell``: ask, state and explain at a
prompt; ``lnnkit score``: decide the rows of a stream one by one, into a file."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lnnkit import __version__
from lnnkit.cli import answer_report as report
from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, count, device, row_limit, states, threads
from lnnkit.cli.streams import STANDARD_INPUT, ProgressLine, UsageError, interruptible, load, paint_for
from lnnkit.computing import use_threads
from lnnkit.data.files import Unreadable, is_table
from lnnkit.errors import Error
from lnnkit.kb.session import ROUND_LIMIT
from lnnkit.markup.pages import counted, installed
from lnnkit.output import require_apart, require_writable, write_text
from lnnkit.plan import Plan, Profile
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from io import BufferedReader

    from lnnkit.cli.answer_report import Shown
    from lnnkit.kb import KnowledgeBase
    from lnnkit.outcome import Outcome
    from lnnkit.scoring.scoring_run import Scored

ON_TERMINAL = 100  # answers of a query
_PAUSE = 0.3  # seconds between two looks at the files
_LONGEST = 60  # characters of a query in a file name
_MANY = 100_000  # rows; from so many on, the rate per second is reported
_ALPHA = "a lower bound from A on counts as true, an upper bound up to 1 - A as false (default: 1)"
_SETTINGS = ("max_groundings", "max_rounds", "precision", "device")  # options that `infer` takes by the same names


def add_run(parent: CommandParser) -> None:
    text = """\
infer, and answer the queries of a program

Infers what follows from a program and its data, and answers its queries: the bindings about which something
is known, each with its truth bounds and their state.

  lnnkit run triage.lnn
  lnnkit run triage.lnn --only true,likely_true --sort lower --limit 10
  lnnkit run triage.lnn --plan
  lnnkit run triage.lnn -q 'AtRisk(X)' -q 'exists X: AtRisk(X) & ~Cough(X)' --format json
"""
    parser = parent.command("run", _run, text)
    parser.queries()
    parser.today()
    said = "how to print the answers: a table to read (default), one JSON object, or CSV"
    parser.choice("--format", ("table", "json", "csv"), said)
    said = "with --format csv: write a file for each query into this folder"
    parser.add_argument("-o", "--output", metavar="FOLDER", help=said)
    parser.alpha(_ALPHA)
    said = f"show N answers of each query at most; 0 shows all (default: {ON_TERMINAL} on a terminal, all elsewhere)"
    parser.value("--limit", row_limit, "N", said)
    said = (
        "lower or upper: the greatest such bound first; or a variable of the query: by its entities, whole numbers by "
        "value (default: by all variables, from the left)"
    )
    parser.value("--sort", str, "BY", said)
    parser.flag("--reverse", "reverse the order")
    said = "show the answers of these states alone, as in --only true,likely_true"
    parser.value("--only", states, "STATES", said, ())
    parser.value("--max-rounds", count, "N", f"stop after N rounds (default: {ROUND_LIMIT:,})", ROUND_LIMIT)
    said = "precision of bounds: double (default), or single: to 1e-5, in half the memory"
    parser.choice("--precision", ("single", "double"), said, "double")
    parser.value("--device", device, "D", "where to compute: cpu (default), cuda, or cuda:N", "cpu")
    said = "print what was joined for each rule, in which order and with how many rows, instead of the answers"
    parser.flag("--plan", said)
    parser.flag("--profile", "print what each rule cost: seconds, rows joined, instances and proposals, instead")
    said = "answer again when a file of the program changes, and print which answers that changes, until Ctrl-C"
    parser.flag("--watch", said)
    parser.work()


def _run(arguments: argparse.Namespace) -> int:
    if arguments.plan and arguments.profile:
        raise streams.UsageError("--plan and --profile print in place of each other: choose one")
    infers = "plan" if arguments.plan else "profile" if arguments.profile else "infer"
    if infers != "infer" and arguments.format == "csv":
        raise streams.UsageError(f"--{infers} does not support csv; use --format table or json")
    shown = not arguments.quiet
    if arguments.watch and (arguments.format != "table" or infers != "infer" or arguments.file == STANDARD_INPUT):
        raise streams.UsageError("--watch reads a file, and prints the answers as a table")
    kb = load(arguments.file, shown=shown, today=arguments.today)
    seen = _stamps(Path(arguments.file), kb)
    if arguments.query is not None:
        kb.replace_queries(arguments.query, complete=True)
    require_fitting(arguments.format, arguments.output, kb.queries)
    if arguments.sort is not None:
        report.require_sortable(arguments.sort, kb.queries)
    output = None if arguments.output is None else targets(Path(arguments.output), kb.queries, kb.files)
    streams.findings(kb.warnings)
    use_threads(arguments.threads)
    with interruptible("grounding", shown=shown) as (_, watch):  # the first Ctrl-C stops it after the current round
        outcome = getattr(kb, infers)(**{name: getattr(arguments, name) for name in _SETTINGS}, watch=watch)
    code = streams.INTERRUPTED if watch.asked else 0
    if isinstance(outcome, Plan | Profile):
        lines = (f"{streams.printable(line, keep='')}\n" for line in outcome.lines())
        streams.write_either(arguments.format, outcome.as_dict, lambda: "".join(lines))
        return code
    with ProgressLine("answering", shown=shown):
        answers = kb.answers(alpha=arguments.alpha)
    if not answers:
        streams.note("hint: the program has no query; ask one with -q, as in -q 'P(X)'")
    read, limit = arguments.format == "table", arguments.limit
    if limit is None:
        limit = ON_TERMINAL if read and sys.stdout is not None and sys.stdout.isatty() else 0
    order = {"only": arguments.only, "sort": arguments.sort, "reverse": arguments.reverse}
    shown_answers = [report.chosen(table, limit, filters=read, **order) for table in answers]
    _print(shown_answers, outcome, arguments.format, output)
    if arguments.watch and not code:
        _watch(kb, seen, arguments)
    return code


def _watch(kb: KnowledgeBase, seen: object, arguments: argparse.Namespace) -> None:
    """Print what changes in the answers when a file of the program does, until Ctrl-C; ``seen`` are their stamps."""
    path = Path(arguments.file)
    with suppress(KeyboardInterrupt):
        while True:
            stamps = _stamps(path, kb)
            time.sleep(_PAUSE)
            if stamps == seen or stamps != _stamps(path, kb):  # nothing is new, or it is still being written
                continue
            seen = stamps
            try:
                fresh = load(arguments.file, shown=False, today=arguments.today)
                seen = _stamps(path, fresh)
                if arguments.query is not None:
                    fresh.replace_queries(arguments.query, complete=True)
                lines = [streams.printable(f"{change}\n") for change in fresh.changes_since(kb)]
            except Error as problem:
                streams.findings(problem.diagnostics)
            else:
                streams.write(lines or ["no answer has changed\n"])
                streams.flush()
                kb = fresh


def _stamps(path: Path, kb: KnowledgeBase) -> dict[Path, tuple[int, int]]:
    """When the files of a program that are there were written, and their sizes."""
    stamps: dict[Path, tuple[int, int]] = {}
    for file in (path, *kb.files):
        with suppress(OSError):
            known = file.stat()
            stamps[file] = known.st_mtime_ns, known.st_size
    return stamps


def _print(shown: Sequence[Shown], outcome: Outcome, form: str, output: Sequence[Path] | None) -> None:
    if form == "table":
        streams.write(report.table(shown, outcome, paint_for(sys.stdout)))
        return
    answers = [query.answers for query in shown]
    streams.in_utf8()
    if form == "json":
        streams.write(report.as_json(answers, outcome))
        if outcome.status == "interrupted":
            streams.note(outcome.summary)
    else:
        for place, table in enumerate(answers):
            if output is None:
                streams.write(report.as_csv(table))
            else:
                write_text(output[place], "".join(report.as_csv(table)))
                streams.note(f"{output[place]}: {counted(len(table), 'row')} of `{table.query}`")
        streams.note("".join(report.ending(outcome)).strip())


def require_fitting(form: str, folder: str | None, queries: Sequence[str]) -> None:
    """Raises `UsageError` if the options do not fit the queries."""
    if folder is None and form == "csv" and len(queries) > 1:
        said = f"--format csv prints one query, of {len(queries)}; -o FOLDER writes a file for each, -q QUERY asks one"
        raise UsageError(said)
    if folder is not None and form != "csv":
        raise UsageError("-o needs --format csv; write `> FILE` for other formats")
    if folder is not None and (Path(folder).suffix == ".csv" or Path(folder).is_file()):
        raise UsageError(f"-o {folder}: name a folder; for one query, `> {folder}`")


def targets(folder: Path, queries: Sequence[str], read: Sequence[Path]) -> list[Path]:
    """The file of each query, in order, named after its words, and numbered where two names would be alike; the folder
    is made if it is missing. Raises `Error` for a file that cannot be written, and for one that the program reads."""
    require_writable(folder / "answers" if folder.is_dir() else folder)
    folder.mkdir(exist_ok=True)
    names: dict[str, Path] = {}  # by what a file system that ignores case makes of them
    for query in queries:
        words = "-".join(re.findall(r"\w+", query))[:_LONGEST]
        numbered = (words if number == 1 else f"{words}-{number}" for number in itertools.count(1))
        name = next(name for name in numbered if name.casefold() not in names)
        names[name.casefold()] = folder / f"{name}.csv"
    for path in names.values():
        require_writable(path)
        require_apart(path, read)
    return list(names.values())


def add_shell(parent: CommandParser) -> None:
    text = """\
ask, state facts and see why, at a prompt

Reads a program, if one is named, and then one input after another: a formula to answer, a fact or any other statement,
or a command (`help` lists them). Where standard input is no terminal, it is read line by line, and the exit code is 1
where any line was wrong. Needs the extra `shell` at a terminal: pip install 'lnnkit[shell]'

  lnnkit shell triage.lnn
  echo 'AtRisk(X)' | lnnkit shell triage.lnn
"""
    parser = parent.command("shell", _shell, text, file="")
    parser.add_argument("file", metavar="FILE", nargs="?", help="a .lnn program (default: an empty one)")


def _shell(arguments: argparse.Namespace) -> int:
    if arguments.file == STANDARD_INPUT:
        raise streams.UsageError("inputs are read from standard input, so FILE cannot be -")
    at_terminal = sys.stdin is not None and sys.stdin.isatty()
    if at_terminal and not installed("prompt_toolkit"):
        streams.note("lnnkit shell: error: the prompt needs prompt_toolkit: pip install 'lnnkit[shell]'")
        return 1
    from lnnkit.shell.shell_state import opened

    kb = None if arguments.file is None else load(arguments.file, shown=True)
    streams.findings(kb.warnings if kb is not None else ())
    state = opened(kb, ON_TERMINAL if at_terminal else 0)
    if not at_terminal:
        from lnnkit.shell.line_runner import run_lines

        return 0 if run_lines(state) else 1
    from lnnkit.shell.terminal_prompt import run_prompt

    streams.write([f"lnnkit {__version__}; `help` lists the commands, Ctrl-D ends\n"])
    run_prompt(state)
    return 0


def add_score(parent: CommandParser) -> None:
    text = """\
decide the rows of a table of any size, one by one

Answers the queries of a program for each row of a stream, in the order of the rows: its key, and for each query the
bounds and the state. The rows stand in for those of the table that the program loads about a sort; tables of other
sorts are read whole. Memory does not grow with the stream. A run that was stopped continues from there when it is
started again. FILE is a program, or a model file that `train` or `save` wrote.

  lnnkit score loans.lnn --rows loan=loans.parquet -o decisions.parquet
  lnnkit score loans.lnn --rows loan=parts/ -o decisions.parquet --workers 8 --bad-rows left_out.csv
  cat loans.arrows | lnnkit score trained.safetensors --rows loan=- -o decisions.csv
"""
    parser = parent.command("score", _score, text)
    said = (
        "the sort whose entities are decided, and the stream: a Parquet, CSV or TSV file, a folder of them, or - for "
        "Arrow IPC on standard input"
    )
    parser.add_argument("--rows", required=True, type=_rows, metavar="SORT=PATH", help=said)
    said = "the file to write: .parquet, .csv or .arrow"
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help=said)
    parser.queries()
    parser.today()
    parser.alpha(_ALPHA)
    said = "add the statement that set each end, by name or line in the program; and whether the row is contradicted"
    parser.flag("--why", said)
    parser.value("--workers", threads, "N", "processes that decide rows (default: 1)", 1)
    said = "leave bad rows out and list them in this CSV, each with what is wrong (default: a bad row is an error)"
    parser.value("--bad-rows", str, "FILE", said)
    parser.quiet()


def _score(arguments: argparse.Namespace) -> int:
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
    for name, counts in scored.states.items():
        shares = ", ".join(f"{number:,} {state.replace('_', ' ')}" for state, number in counts.most_common())
        lines += [f"  {name}: {shares}"] if shares else []
    if scored.left_out:
        lines.append(f"  {counted(scored.left_out, 'bad row')} left out")
    if scored.scattered:
        lines.append("  keys are not sorted: repeated ones were looked for within each batch only")
    return lines
