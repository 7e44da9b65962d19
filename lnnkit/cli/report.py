"""Answers and outcome as text: a table for people, JSON and CSV for programs."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lnnkit.answers import finite, format_bounds, shown_bounds, shown_state
from lnnkit.cli.streams import printable

if TYPE_CHECKING:
    from lnnkit.answers import Answers
    from lnnkit.outcome import Contradiction, Creeping, Outcome


def as_json(answers: Sequence[Answers], outcome: Outcome) -> Iterator[str]:
    """The one object of ``--format json``, a piece a query."""
    yield '{"queries": ['
    for position, each in enumerate(answers):
        yield ", " if position else ""
        yield _dump(each.as_dict())
    yield "]"
    for key, value in outcome.as_dict().items():
        yield f', "{key}": {_dump(value)}'
    yield "}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_csv(answers: Sequence[Answers]) -> Iterator[str]:
    """A header, and a line an answer; an end that is unbounded is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(("query", "bindings", "lower", "upper", "state"))
    for each in answers:
        for answer in each:
            bindings = json.dumps(dict(answer.bindings), ensure_ascii=False)
            writer.writerow((each.query, bindings, finite(answer.lower), finite(answer.upper), answer.state))
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def table(answers: Sequence[Answers], outcome: Outcome) -> Iterator[str]:
    """Each query as a heading over its answers; then the contradictions, and how inference ended."""
    for each in answers:
        yield printable(each.query) + "\n"
        yield from _answers(each)
        yield "\n"
    yield from ending(outcome)


def _answers(answers: Answers) -> Iterator[str]:
    if not len(answers):
        yield "  no answers: of every binding only the defaults are known\n"
        return
    rows = [(*map(_cell, answer.bindings.values()), shown_bounds(answer), shown_state(answer)) for answer in answers]
    if answers.variables:
        rows.insert(0, (*answers.variables, "bounds", "state"))
    yield from _aligned(rows)


def _cell(text: str) -> str:
    return printable(text, keep="")


def ending(outcome: Outcome) -> Iterator[str]:
    """The contradictions, the status, and the statements that creep."""
    found = outcome.contradictions
    if found:
        yield f"{len(found):,} contradiction{'' if len(found) == 1 else 's'}\n"
        yield from _aligned([_contradiction(each) for each in found])
        yield "\n"
    yield f"{outcome.summary}\n"
    if outcome.creeping:
        yield from _aligned([_creeping(each) for each in outcome.creeping])


def _contradiction(found: Contradiction) -> tuple[str, ...]:
    place = "" if found.line is None else f"line {found.line}" if not found.file else f"{found.file}:{found.line}"
    named = f"{found.kind} {found.rule}" if found.rule else found.kind
    bounds = format_bounds(found.lower, found.upper)
    return _cell(named), bounds, _cell(found.atom), _cell(place)


def _creeping(found: Creeping) -> tuple[str, ...]:
    return _cell(found.kind), _cell(found.rule or found.text), _cell(f"{found.file}:{found.line}")


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Indented lines whose columns start one below the other."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True))
        yield f"  {'  '.join(cells).rstrip()}\n"


def _width(text: str) -> int:
    """The columns that a terminal gives to ``text``: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)
