"""Commands on tables: ``init`` drafts a program for them, ``discover`` finds formulas for a column."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, positive, require_output, seed
from lnnkit.data.files import Unreadable
from lnnkit.errors import Error
from lnnkit.markup.pages import aligned, counted, listed
from lnnkit.output import write_text
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_predicate
from lnnkit.syntax.relocate import relative

if TYPE_CHECKING:
    from lnnkit.discovery.formula_search import Discovered
    from lnnkit.draft.survey import Survey, SurveyedColumn

_NO_ROWS = "# No column names the rows: state their numbers as facts, or add ids by `lnnkit init --ids`.\n"


def add_init(parent: CommandParser) -> None:
    text = """\
draft a program for CSV, TSV, Parquet or JSON lines files

Reads tables and writes a program that loads them: sorts, numbers, predicates for truths and categories,
`load` statements with what stands for a missing cell and what separates columns, and a query or two. Columns
of several files that name the same entities get one sort. What is left out stands there as a comment.

  lnnkit init people.csv
  lnnkit init people.csv visits.parquet -o visits.lnn
  lnnkit init measurements.csv --ids -o measurements.lnn
"""
    parser = parent.command("init", _init, text, file="")
    said = "a table: .csv, .tsv, .txt, .parquet or .jsonl, compressed or not"
    parser.add_argument("files", metavar="FILE", nargs="+", help=said)
    parser.output()
    parser.flag("--ids", "give each row an id where no column does: writes a copy beside OUT, as data.ids.csv")


def _init(arguments: argparse.Namespace) -> int:
    from lnnkit.draft.drafting import draft, keys_of, stem_of

    output = arguments.output
    if arguments.ids and output is None:
        raise streams.UsageError("--ids writes files, and needs -o OUT")
    files = list(dict.fromkeys(Path(file) for file in arguments.files))
    require_output(arguments, files)
    base = Path(output).resolve().parent if output is not None else Path.cwd()
    tables = surveyed(files)
    if arguments.ids:
        tables = [table if keys_of(table) else _copied(table, base, arguments.force) for table in tables]
    keyless = [table.path for table in tables if not keys_of(table)]
    said = "no column identifies the rows: none has mostly distinct values"
    hint = "give each row an id: `lnnkit init {} --ids -o {}.lnn`"
    lost = [Diagnostic("no-key", said, hint.format(path, stem_of(path)), file=str(path)) for path in keyless]
    _report(lost, tables[len(keyless) :])
    streams.findings(_lost(table) for table in tables if table.lost)
    text = draft(tables, [relative(table.path.resolve(), base) for table in tables])
    streams.deliver(text, output, f"lnnkit run {output}")
    return 0


def surveyed(files: Sequence[Path]) -> list[Survey]:
    """What the files hold; a warning for each that cannot be read or has no rows. Raises `Error` where none can be."""
    from lnnkit.draft.survey import survey

    tables: list[Survey] = []
    problems: list[Diagnostic] = []
    for file in files:
        try:
            table = survey(file)
            if not table.rows:
                hint = "name a file with a header and rows below it"
                raise Unreadable("no-rows", "there is no row that can be read", hint)
            tables.append(table)
        except Unreadable as problem:
            fault = problem.fault
            hint = fault.hint.replace("paths are relative to the .lnn file", "paths are relative to the working folder")
            problems.append(Diagnostic(fault.code, fault.message, hint, file=str(file)))
    _report(problems, tables)
    return tables


def _report(problems: Sequence[Diagnostic], others: Sequence[object]) -> None:
    """Raise `Error` for tables that cannot be drafted; if there are ``others``, warn of them."""
    if problems and not others:
        raise Error(problems)
    streams.findings(replace(problem, severity="warning") for problem in problems)


def _copied(table: Survey, base: Path, force: bool) -> Survey:
    """The survey of a copy with ids, which is written beside the program."""
    from lnnkit.draft.drafting import copy_name, with_ids
    from lnnkit.draft.survey import survey

    target = base / copy_name(table.path)
    if target.exists() and not force:
        message = f'"{target}" exists already'
        raise Error([Diagnostic("file-exists", message, "take it away, or replace it with --force")])
    try:
        write_text(target, with_ids(table))
        streams.note(f"{target}: written, {table.path.name} with a column of ids")
        return survey(target)
    except Unreadable as problem:
        raise Error([Diagnostic(problem.fault.code, problem.fault.message, file=str(table.path))]) from None


def _lost(table: Survey) -> Diagnostic:
    message = f"{counted(len(table.lost), 'row')} cannot be read: {listed(table.lost)}"
    hint = "`lnnkit check` says what is wrong with each"
    return Diagnostic("bad-row", message, hint, severity="warning", file=str(table.path), row=min(table.lost))


def add_discover(parent: CommandParser) -> None:
    text = """\
find formulas for a column of numbers

Finds arithmetic of a table's other columns (+ - * / ^ sqrt abs, constants, and cases by comparisons) that
gives the target. Prints the formulas that no smaller one beats, with their size and their error on rows held
back: 0 is exact, 1 is as good as the best constant. The star marks the choice: the smallest whose errors chance
cannot tell from the least. With -o writes it as a rule.

  lnnkit discover orbits.csv --target period
  lnnkit discover orbits.csv --target period --columns axis,mass -o period.lnn
"""
    parser = parent.command("discover", _discover, text, file="")
    parser.add_argument("table", metavar="FILE", help="a table: .csv, .tsv, .txt or .parquet, packed or not")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="the column that a formula is wanted for")
    parser.value("--columns", str, "A,B", "use these columns only (default: all of numbers)")
    parser.output("write the chosen formula as a rule to this .lnn file")
    parser.choice("--format", ("table", "json"), "how to print the list")
    parser.value("--seconds", positive, "S", "CPU seconds to search at most (default: 30)", 30.0)
    parser.value("--seed", seed, "N", "seed of all random draws (default: 0)", 0)


def _discover(arguments: argparse.Namespace) -> int:
    import numpy as np

    from lnnkit.discovery.formula_search import FormulaSearch, discover
    from lnnkit.discovery.formula_text import formula_text

    output = arguments.output
    require_output(arguments, [arguments.table])
    (table,) = surveyed([Path(arguments.table)])
    target, inputs = _chosen(table, arguments.target, arguments.columns)
    wanted = target.numbers
    if np.isnan(wanted).all():
        message = f'no row has a number in the column "{target.title}"'
        raise Error([Diagnostic("no-rows", message, "name another target", file=str(table.path))])
    cells = np.column_stack([np.zeros((table.rows, 0)), *(column.numbers for column in inputs)])
    discovered = discover(cells, wanted, FormulaSearch(arguments.seconds, seed=arguments.seed % 2**63))
    next_step = f"try `lnnkit run {output}`"
    if output is not None:
        program = _program(discovered, table, target, inputs, Path(output).resolve().parent)
        write_text(output, program)
        if _NO_ROWS in program:
            next_step = "it answers nothing before it has rows: state their numbers as facts, or load a table with ids"
    shown = [format_predicate(column.title) for column in inputs]
    formulas = [(scored.size, scored.error, formula_text(scored.formula, shown)) for scored in discovered.pareto]
    if arguments.format == "json":
        listing = [{"size": size, "error": error, "formula": text} for size, error, text in formulas]
        whole = {"target": target.title, "chosen": discovered.chosen, "formulas": listing}
        whole |= {"far": discovered.far, "doubt": discovered.doubt}
        streams.write_utf8(f"{json.dumps(whole, indent=2, ensure_ascii=False)}\n")
    else:
        lines = [("", "size", "error", format_predicate(target.title))]
        for place, (size, error, text) in enumerate(formulas):
            mark = "*" if place == discovered.chosen else ""
            lines.append((mark, str(size), "0" if error < 1e-9 else f"{error:.3g}", text))
        streams.write_utf8("".join(f"{line}\n" for line in aligned(lines, right={1})))
        left_out = "" if arguments.columns is not None else _left_out(table)
        far = _far(discovered.far, int(np.isfinite(wanted).sum())) if discovered.far else ""
        for text in filter(None, (left_out, far, discovered.doubt)):
            streams.note(text)
    if output is not None:
        streams.note(f"{output}: written; {next_step}")
    return 0


def _chosen(table: Survey, target: str, wanted: str | None) -> tuple[SurveyedColumn, list[SurveyedColumn]]:
    """The columns of the target and of the inputs. Raises `Error` for a name that is not a column of numbers."""
    known: dict[str, SurveyedColumn] = {}
    for column in table.columns:
        if len(column.numbers):
            known.setdefault(column.title, column)
    titles = list(known) if wanted is None else [part.strip() for part in wanted.split(",")]
    problems = [_missing(table, name, list(known)) for name in dict.fromkeys([target, *titles]) if name not in known]
    if problems:
        raise Error(problems)
    return known[target], [known[title] for title in dict.fromkeys(titles) if title != target]


def _missing(table: Survey, name: str, numbers: Sequence[str]) -> Diagnostic:
    hint = f"its columns of numbers: {', '.join(numbers)}" if numbers else "it has no column of numbers"
    for column in table.columns:
        if column.title == name:
            message, why = f'the column "{name}" holds no numbers', column.reason or hint
            return Diagnostic("bad-column", message, why, file=str(table.path))
    return Diagnostic("unknown-column", f'there is no column "{name}"', hint, file=str(table.path))


def _far(rows: Sequence[int], count: int) -> str:
    """``2 of 40 rows are far from the chosen formula (data rows 3, 17): see whether they are errors``"""
    from lnnkit.discovery.formula_errors import MOST

    word, verb, fault = ("row", "is", "it is an error") if len(rows) == 1 else ("rows", "are", "they are errors")
    numbers = listed([row + 1 for row in rows])
    named = f"{len(rows)} of {count} rows {verb} far from the chosen formula (data {word} {numbers})"
    more = "it does not hold for them, or holds nearly" if len(rows) > MOST * count else f"see whether {fault}"
    return f"{named}: {more}"


def _left_out(table: Survey) -> str:
    """``left out, without numbers: kind, "day of week"``; empty where no columns but keys are."""
    from lnnkit.draft.drafting import keys_of

    keys = {column.title for column in keys_of(table)}
    others = [column for column in table.columns if not len(column.numbers) and column.title not in keys]
    names = [format_predicate(column.title) + (f" ({column.reason})" if column.reason else "") for column in others]
    return f"left out, without numbers: {listed(names)}" if names else ""


def _program(
    discovered: Discovered, table: Survey, target: SurveyedColumn, inputs: Sequence[SurveyedColumn], base: Path
) -> str:
    """Declarations, loads of the columns that the formula reads (none if no column names the rows), and the rule."""
    from lnnkit.discovery.expression import columns as columns_of
    from lnnkit.discovery.formula_text import program_text
    from lnnkit.draft.drafting import keys_of, load_text

    formula = discovered.formula
    read = [inputs[place] for place in sorted(columns_of(formula))]
    keys = tuple(column for column in keys_of(table) if column is not target and column not in read)
    head = f"# `{format_predicate(target.title)}` by `lnnkit discover` from {table.path.name}.\n"
    text = program_text(formula, [column.title for column in inputs], target.title)
    path = relative(table.path.resolve(), base)
    if len(keys) == 1:
        loads = "".join(load_text(column.title, table, path, keys, (column,), numeric=True) + "\n" for column in read)
    else:
        loads = _NO_ROWS
    return f"{head}{text}{loads}query {format_predicate(target.title)}(X)\n"
