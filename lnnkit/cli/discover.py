"""``lnnkit discover``: formulas for a column of a table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.cli import option_values as values
from lnnkit.cli import streams
from lnnkit.cli.command_parser import CommandParser, require_output
from lnnkit.errors import Error
from lnnkit.markup.plain_text import aligned, listed
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_predicate

if TYPE_CHECKING:
    from lnnkit.discovery.formula_search import Discovered
    from lnnkit.draft.survey import Survey, SurveyedColumn

SUMMARY = "find formulas for a column of numbers"
DESCRIPTION = """\
Finds arithmetic of a table's other columns (+ - * / ^ sqrt abs, constants, and cases by comparisons) that
gives the target. Prints the formulas that no smaller one beats, with their size and their error on rows held
back: 0 is exact, 1 is as good as the best constant. The star marks the choice: the smallest whose errors chance
cannot tell from the least. With -o writes it as a rule."""
EXAMPLE = """\
example:
  lnnkit discover orbits.csv --target period
  lnnkit discover orbits.csv --target period --columns axis,mass -o period.lnn
"""


def options(parser: CommandParser) -> None:
    parser.add_argument("table", metavar="FILE", help="a table: .csv, .tsv, .txt or .parquet, packed or not")
    parser.add_argument("--target", metavar="COLUMN", required=True, help="the column that a formula is wanted for")
    parser.value("--columns", str, "A,B", "use these columns only (default: all of numbers)")
    parser.output("write the chosen formula as a rule to this .lnn file")
    parser.choice("--format", ("table", "json"), "how to print the list")
    parser.value("--seconds", values.positive, "S", "CPU seconds to search at most (default: 30)", 30.0)
    parser.value("--seed", values.seed, "N", "seed of all random draws (default: 0)", 0)


def command(arguments: argparse.Namespace) -> int:
    import numpy as np

    from lnnkit.cli.init import surveyed
    from lnnkit.discovery.formula_search import FormulaSearch, discover
    from lnnkit.output import write_text

    output = arguments.output
    require_output(arguments, [arguments.table])
    (table,) = surveyed([Path(arguments.table)])
    columns = [each for each in table.columns if each.numbers is not None]
    cells = np.column_stack(
        [np.zeros((table.rows, 0)), *(each.numbers for each in columns if each.numbers is not None)]
    )
    target, places = _chosen(table, columns, arguments.target, arguments.columns)
    if (cells[:, target] != cells[:, target]).all():
        message = f'no row has a number in the column "{columns[target].title}"'
        raise Error([Diagnostic("no-rows", message, "name another target", file=str(table.path))])
    next_step = f"try `lnnkit run {output}`"
    found = discover(cells[:, places], cells[:, target], FormulaSearch(arguments.seconds, seed=arguments.seed % 2**63))
    if output is not None:
        inputs = [columns[place] for place in places]
        program = _program(found, table, columns[target], inputs, Path(output).resolve().parent)
        write_text(output, program)
        if _NO_ROWS in program:
            next_step = "it answers nothing before it has rows: state their numbers as facts, or load a table with ids"
    streams.in_utf8()
    shown = [format_predicate(columns[place].title) for place in places]
    title = columns[target].title
    if arguments.format == "json":
        streams.write([_json(found, shown, title)])
    else:
        streams.write([_table(found, shown, title)])
        left_out = "" if arguments.columns is not None else _left_out(table, columns)
        far = _far(found.far, int((cells[:, target] == cells[:, target]).sum())) if found.far else ""
        for text in filter(None, (left_out, far, found.doubt)):
            streams.note(text)
    if output is not None:
        streams.note(f"{output}: written; {next_step}")
    return 0


def _chosen(table: Survey, columns: Sequence[SurveyedColumn], target: str, wanted: str | None) -> tuple[int, list[int]]:
    """The indices of the target and of the input columns. Raises `Error` for a name that is not a column of numbers."""
    names = [column.title for column in columns]
    named = [target] if wanted is None else [target, *(part.strip() for part in wanted.split(","))]
    problems = [_missing(table, name, names) for name in dict.fromkeys(named) if name not in names]
    if problems:
        raise Error(problems)
    place = names.index(target)
    if wanted is None:
        return place, [each for each in range(len(names)) if each != place]
    return place, [names.index(each) for each in dict.fromkeys(named[1:]) if each != target]


def _missing(table: Survey, name: str, numbers: Sequence[str]) -> Diagnostic:
    hint = f"its columns of numbers: {', '.join(numbers)}" if numbers else "it has no column of numbers"
    for column in table.columns:
        if column.title == name:
            message, why = f'the column "{name}" holds no numbers', column.reason or hint
            return Diagnostic("bad-column", message, why, file=str(table.path))
    return Diagnostic("unknown-column", f'there is no column "{name}"', hint, file=str(table.path))


def _table(found: Discovered, names: Sequence[str], target: str) -> str:
    from lnnkit.discovery.formula_text import formula_text

    lines = [("", "size", "error", format_predicate(target))]
    for place, each in enumerate(found.pareto):
        mark, error = "*" if place == found.chosen else "", "0" if each.error < 1e-9 else f"{each.error:.3g}"
        lines.append((mark, str(each.size), error, formula_text(each.formula, names)))
    return "".join(f"{line}\n" for line in aligned(lines, right={1}))


def _far(rows: Sequence[int], count: int) -> str:
    """``2 of 40 rows are far from the chosen formula (data rows 3, 17): see whether they are errors``"""
    from lnnkit.discovery.outlying_rows import MOST

    word, verb, fault = ("row", "is", "it is an error") if len(rows) == 1 else ("rows", "are", "they are errors")
    shown = listed([row + 1 for row in rows])
    named = f"{len(rows)} of {count} rows {verb} far from the chosen formula (data {word} {shown})"
    more = "it does not hold for them, or holds nearly" if len(rows) > MOST * count else f"see whether {fault}"
    return f"{named}: {more}"


def _left_out(table: Survey, columns: Sequence[SurveyedColumn]) -> str:
    """``left out, without numbers: kind, "day of week"``; empty where no columns but keys are."""
    from lnnkit.draft.keys import keys_of

    known = {*(each.title for each in columns), *(each.title for each in keys_of(table))}
    others = [each for each in table.columns if each.title not in known]
    names = [format_predicate(each.title) + (f" ({each.reason})" if each.reason else "") for each in others]
    return f"left out, without numbers: {listed(names)}" if names else ""


def _json(found: Discovered, names: Sequence[str], target: str) -> str:
    from lnnkit.discovery.formula_text import formula_text

    formulas = [
        {"size": each.size, "error": each.error, "formula": formula_text(each.formula, names)} for each in found.pareto
    ]
    whole = {"target": target, "chosen": found.chosen, "formulas": formulas, "far": found.far, "doubt": found.doubt}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


_NO_ROWS = "# No column names the rows: state their numbers as facts, or add ids by `lnnkit init --ids`.\n"


def _program(
    found: Discovered, table: Survey, target: SurveyedColumn, inputs: Sequence[SurveyedColumn], base: Path
) -> str:
    """Declarations, loads of the columns that the formula reads, and the rule. There are no loads if no column names
    the rows."""
    from lnnkit.discovery.expression import columns as columns_of
    from lnnkit.discovery.formula_text import program_text
    from lnnkit.draft.drafting import load_text
    from lnnkit.draft.keys import keys_of
    from lnnkit.syntax.relocate import relative

    formula = found.formula
    read = [inputs[place] for place in sorted(columns_of(formula))]
    keys = [each for each in keys_of(table) if each is not target and each not in read]
    head = f"# `{format_predicate(target.title)}` by `lnnkit discover` from {table.path.name}.\n"
    text = program_text(formula, [each.title for each in inputs], target.title)
    path = relative(table.path.resolve(), base)
    if len(keys) == 1:
        loads = "".join(load_text(each.title, table, path, keys, (each,), numeric=True) + "\n" for each in read)
    else:
        loads = _NO_ROWS
    return f"{head}{text}{loads}query {format_predicate(target.title)}(X)\n"
