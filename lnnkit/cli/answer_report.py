"""Answers and outcome as text: a table for people, JSON and CSV for programs."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lnnkit.answer_table import finite, formatter, state_in_words
from lnnkit.cli import text_cells as cells
from lnnkit.cli.painting import Paint, plain
from lnnkit.cli.streams import printable

if TYPE_CHECKING:
    from lnnkit.answer_table import Answers
    from lnnkit.cli.chosen_answers import Shown
    from lnnkit.outcome import Contradiction, Creeping, Outcome
    from lnnkit.plan import Plan


def as_json(answers: Sequence[Answers], outcome: Outcome) -> Iterator[str]:
    """The single object of ``--format json``, in pieces of some thousand answers."""
    yield '{"queries": ['
    for position, each in enumerate(answers):
        yield ", " if position else ""
        yield f'{{"query": {_dump(each.query)}, "answers": ['
        template = f'{{"bindings": {_bindings(each)}, "lower": %s, "upper": %s, "state": %s}}'
        columns = [
            *(cells.entities(column, _dump) for column in each.columns),
            cells.numbers(each.lower, _number),
            cells.numbers(each.upper, _number),
            cells.states(each, lambda state, contested: f'"{state}", "contested": {_dump(contested)}'),
        ]
        for number, block in enumerate(cells.rows(columns)):
            yield ", " if number else ""
            yield ", ".join(map(template.__mod__, block))
        yield "]}"
    yield "]"
    for key, value in outcome.as_dict().items():
        yield f', "{key}": {_dump(value)}'
    yield "}\n"


def _bindings(answers: Answers) -> str:
    """The JSON object of an answer's bindings, as a template with a gap for each entity."""
    members = ", ".join(f"{_dump(name)}: ".replace("%", "%%") + "%s" for name in answers.variables)
    return f"{{{members}}}"


def _number(value: float) -> str:
    return _dump(finite(value))


def plan(found: Plan, form: str) -> Iterator[str]:
    """The plan of an inference, as text or as one JSON object."""
    if form == "json":
        yield f"{_dump(found.as_dict())}\n"
        return
    for line in found.lines():
        yield f"{printable(line, keep='')}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_csv(answers: Answers) -> Iterator[str]:
    """A header with the query's variables, and one line for each answer; an unbounded end is an empty field."""
    yield ",".join([*map(_field, answers.variables), "lower", "upper", "state"]) + "\n"
    columns = [
        *(cells.entities(column, _field) for column in answers.columns),
        cells.numbers(answers.lower, _csv_number),
        cells.numbers(answers.upper, _csv_number),
        cells.states(answers, lambda state, _: state),
    ]
    for block in cells.rows(columns):
        yield "".join(f"{','.join(row)}\n" for row in block)


def _csv_number(value: float) -> str:
    return repr(value) if finite(value) is not None else ""


def _field(text: str) -> str:
    """A text as a CSV field: quoted where necessary."""
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text


def table(answers: Sequence[Shown], outcome: Outcome, paint: Paint = plain) -> Iterator[str]:
    """Each query as a heading over its answers; then the contradictions, and how inference ended."""
    for each in answers:
        yield paint(printable(each.answers.query), "query") + "\n"
        yield from answer_rows(each, paint)
        yield "\n"
    yield from ending(outcome, paint)


def answer_rows(
    shown: Shown,
    paint: Paint = plain,
    show_all: str = "--limit 0 shows all",
    show_false: str = "--only false shows them",
) -> Iterator[str]:
    """The answers as indented rows; ``show_all`` says how to show those that the limit leaves out, ``show_false`` those
    that are left out because they are false."""
    yield from _rows(shown, paint)
    if shown.more:
        yield paint(f"  and {shown.more:,} more; {show_all}", "note") + "\n"
    if shown.false:
        lead = "and" if len(shown.answers) else "all"
        yield paint(f"  {lead} {shown.false:,} false; {show_false}", "note") + "\n"


def _rows(shown: Shown, paint: Paint) -> Iterator[str]:
    answers = shown.answers
    if not len(answers):
        if shown.false:
            return
        if shown.total:
            yield f"  none of {shown.total:,} answer{'' if shown.total == 1 else 's'} has such a state\n"
        else:
            yield "  no answers: every binding has its default bounds\n"
        return
    columns = [
        *(cells.entities(column, _cell) for column in answers.columns),
        cells.bounds(answers, formatter(answers.numeric)),
        cells.states(answers, lambda state, contested: paint(state_in_words(state, contested), state)),
    ]
    heads = (*answers.variables, "bounds", "state") if answers.variables else ("",) * len(columns)
    widths = [max(map(_width, (head, *each.texts))) for head, each in zip(heads, columns, strict=True)]
    widths[-1] = 0  # the last column: nothing follows it
    padded = [
        cells.Cells([_padded(text, width) for text in each.texts], each.codes)
        for each, width in zip(columns, widths, strict=True)
    ]
    if answers.variables:
        yield paint("  " + "  ".join(map(_padded, heads, widths)), "heads") + "\n"
    template = "  " + "  ".join(["%s"] * len(columns)) + "\n"
    for block in cells.rows(padded):
        yield "".join(map(template.__mod__, block))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _cell(text: str) -> str:
    return printable(text, keep="")


def ending(outcome: Outcome, paint: Paint = plain) -> Iterator[str]:
    """The contradictions, the status, and the statements whose bounds creep."""
    found = outcome.contradictions
    if found:
        yield paint(f"{len(found):,} contradiction{'' if len(found) == 1 else 's'}", "contradiction") + "\n"
        yield from _aligned([_contradiction(each) for each in found])
        yield "\n"
    yield f"{outcome.summary}\n"
    if outcome.creeping:
        yield from _aligned([_creeping(each) for each in outcome.creeping])


def _contradiction(found: Contradiction) -> tuple[str, ...]:
    place = "" if found.line is None else f"line {found.line}" if not found.file else f"{found.file}:{found.line}"
    named = f"{found.kind} {found.rule}" if found.rule else found.kind
    return _cell(named), found.bounds, _cell(found.atom), _cell(place)


def _creeping(found: Creeping) -> tuple[str, ...]:
    return _cell(found.kind), _cell(found.rule or found.text), _cell(f"{found.file}:{found.line}")


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Indented lines with aligned columns."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield f"  {'  '.join(map(_padded, row, widths)).rstrip()}\n"


def _width(text: str) -> int:
    """The display width of ``text`` on a terminal: two columns for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)
