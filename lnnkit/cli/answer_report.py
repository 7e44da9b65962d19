"""Answers and outcome as text: which answers, in what order; a table for people, JSON and CSV for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.answer_table import STATES, finite, formatter, state_in_words
from lnnkit.cli.streams import Paint, UsageError, plain, printable
from lnnkit.data.names import whole
from lnnkit.markup.pages import aligned, counted, padded, visible, width

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.answer_table import Answers
    from lnnkit.data.table import EntityColumn
    from lnnkit.outcome import Contradiction, Outcome

BOUNDS = ("lower", "upper")
_BLOCK = 1 << 13  # rows
_NUMBERED = re.compile(r"([^0-9]*)([0-9]*)")


@dataclass(frozen=True, slots=True)
class Shown:
    """The ``answers`` that are shown; ``more`` is how many of the same states the limit hides, ``total`` how many there
    are of any state, ``false`` how many are left out because the query is a comparison that they fail."""

    answers: Answers
    more: int
    total: int
    false: int = 0


def chosen(
    answers: Answers,
    limit: int = 0,
    *,
    only: Collection[str] = (),
    sort: str | None = None,
    reverse: bool = False,
    filters: bool = False,
) -> Shown:
    """The answers to show: of the states ``only`` (empty: all), ``limit`` rows at most (0: all). ``sort`` is lower or
    upper, from the greatest down, or a variable, names ascending; equal answers keep their order. With ``filters``, a
    crisp comparison shows what it keeps: false answers are counted."""
    import numpy as np

    total, false = len(answers), 0
    if filters and not only and answers.variables and _is_filter(answers.query):
        kept = np.flatnonzero(answers.states != STATES.index("false"))
        answers, false = answers.at(kept), total - len(kept)
    elif only:
        wanted = [STATES.index(state) for state in STATES if state in only]
        answers = answers.at(np.isin(answers.states, wanted))
    order = _order(answers, sort)
    if order is not None:
        answers = answers.at(np.argsort(-order if reverse else order, kind="stable"))
    elif reverse:
        answers = answers[::-1]
    shown = answers[: limit or len(answers)]
    return Shown(shown, len(answers) - len(shown), total, false)


def require_sortable(sort: str, queries: Iterable[str]) -> None:
    """Raises `UsageError` if ``--sort`` does not fit these queries."""
    from lnnkit.check.walk import free_variables, visits
    from lnnkit.syntax.parse import parse_expression

    if sort in BOUNDS:
        return
    written = [root for root, _ in map(parse_expression, queries) if root is not None]
    known = list(dict.fromkeys(name for root in written for name in free_variables(visits(root))))
    if sort not in known:
        said = f"no query has that variable; sort by {', '.join((*BOUNDS, *known))}"
        raise UsageError(f"--sort {sort}: {said if known else 'no query has a variable; sort by lower or upper'}")


def _is_filter(query: str) -> bool:
    """Whether a query is made of crisp comparisons alone, as `18 <= age(X) < 65` or `~(age(X) < 18)`."""
    from lnnkit.check.walk import nodes
    from lnnkit.syntax import ast
    from lnnkit.syntax.parse import parse_expression

    def filters(node: ast.Expression) -> bool:
        match node:
            case ast.And(_, ()) | ast.Or(_, ()) | ast.Not():
                return True
            case ast.Comparison(_, operators, ()):
                return "<?>" not in operators
            case _:
                return False

    written, _ = parse_expression(query)
    return written is not None and all(map(filters, nodes(written, lambda node: not isinstance(node, ast.Comparison))))


def _order(answers: Answers, sort: str | None) -> np.ndarray | None:
    """A sort key for each row: of entities whole numbers by value, then texts, in which numbers compare by value too.
    None to keep the order."""
    import numpy as np

    if sort in BOUNDS:
        return -(answers.lower if sort == "lower" else answers.upper)
    if sort not in answers.variables:
        return None
    names, codes = answers.columns[answers.variables.index(sort)].distinct()
    numbers = sum(whole(name) is not None for name in names)  # they come first, in order
    texts = sorted(range(numbers, len(names)), key=lambda place: _natural(names[place]))
    ranks = np.empty(len(names), np.int64)
    ranks[[*range(numbers), *texts]] = np.arange(len(names))
    return ranks[codes]


def _natural(name: str) -> tuple[list[tuple[str, int, str]], str]:
    """A sort key with ``c2`` before ``c10``: the texts between numbers, each number by its length and digits."""
    parts = [(text, digits.lstrip("0")) for text, digits in _NUMBERED.findall(name)]
    return [(text, len(number), number) for text, number in parts], name


def as_json(answers: Sequence[Answers], outcome: Outcome) -> Iterator[str]:
    """The single object of ``--format json``, in pieces of some thousand answers."""
    yield '{"queries": ['
    for position, table in enumerate(answers):
        yield ", " if position else ""
        yield f'{{"query": {_dump(table.query)}, "answers": ['
        members = ", ".join(f"{_dump(name)}: ".replace("%", "%%") + "%s" for name in table.variables)
        template = f'{{"bindings": {{{members}}}, "lower": %s, "upper": %s, "state": %s}}'
        states = _states(table, lambda state, contested: f'"{state}", "contested": {_dump(contested)}')
        for number, block in enumerate(_blocks([*_columns(table, _dump, _dump), states])):
            yield ", " if number else ""
            yield ", ".join(map(template.__mod__, block))
        yield "]}"
    yield "]"
    for key, value in outcome.as_dict().items():
        yield f', "{key}": {_dump(value)}'
    yield "}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def as_csv(answers: Answers) -> Iterator[str]:
    """A header with the query's variables, and one line for each answer; an unbounded end is an empty field."""
    yield ",".join([*map(_field, answers.variables), "lower", "upper", "state"]) + "\n"
    ends = _columns(answers, _field, lambda end: "" if end is None else end if isinstance(end, str) else repr(end))
    for block in _blocks([*ends, _states(answers, lambda state, _: state)]):
        yield "".join(f"{','.join(row)}\n" for row in block)


def _field(text: str) -> str:
    """A text as a CSV field: quoted where necessary."""
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text


def table(answers: Sequence[Shown], outcome: Outcome, paint: Paint = plain) -> Iterator[str]:
    """Each query as a heading over its answers; then the contradictions, and how inference ended."""
    for shown in answers:
        yield paint(printable(shown.answers.query), "query") + "\n"
        yield from answer_rows(shown, paint)
        yield "\n"
    yield from ending(outcome, paint)


def answer_rows(
    shown: Shown, paint: Paint = plain, more: str = "--limit 0 shows all", false: str = "--only false shows them"
) -> Iterator[str]:
    """The answers as indented rows; ``more`` says how to show those that the limit leaves out, ``false`` those that are
    left out because they are false."""
    if len(shown.answers):
        yield from _rows(shown.answers, paint)
    elif shown.total and not shown.false:
        yield f"  none of {counted(shown.total, 'answer')} has such a state\n"
    elif not shown.total:
        yield "  no answers: every binding has its default bounds\n"
    if shown.more:
        yield paint(f"  and {shown.more:,} more; {more}", "note") + "\n"
    if shown.false:
        lead = "and" if len(shown.answers) else "all"
        yield paint(f"  {lead} {shown.false:,} false; {false}", "note") + "\n"


def _rows(answers: Answers, paint: Paint) -> Iterator[str]:
    columns = [
        *(_entities(column, visible) for column in answers.columns),
        _bounds(answers, formatter(answers.numeric)),
        _states(answers, lambda state, contested: paint(state_in_words(state, contested), state)),
    ]
    heads = (*answers.variables, "bounds", "state") if answers.variables else ("",) * len(columns)
    widths = [max(map(width, (head, *column.texts))) for head, column in zip(heads, columns, strict=True)]
    widths[-1] = 0  # the last column: nothing follows it
    pairs = zip(columns, widths, strict=True)
    filled = [_TextColumn([padded(text, most) for text in column.texts], column.codes) for column, most in pairs]
    if answers.variables:
        yield paint("  " + "  ".join(map(padded, heads, widths)), "heads") + "\n"
    template = "  " + "  ".join(["%s"] * len(columns)) + "\n"
    for block in _blocks(filled):
        yield "".join(map(template.__mod__, block))


def ending(outcome: Outcome, paint: Paint = plain) -> Iterator[str]:
    """The contradictions, the status, and the statements whose bounds creep."""
    if outcome.contradictions:
        yield paint(counted(len(outcome.contradictions), "contradiction"), "contradiction") + "\n"
        yield from _indented(list(map(_contradiction, outcome.contradictions)))
        yield "\n"
    yield f"{outcome.summary}\n"
    creeping = [(slow.kind, slow.rule or slow.text, f"{slow.file}:{slow.line}") for slow in outcome.creeping]
    yield from _indented(creeping)


def _contradiction(clash: Contradiction) -> tuple[str, ...]:
    place = "" if clash.line is None else f"line {clash.line}" if not clash.file else f"{clash.file}:{clash.line}"
    named = f"{clash.kind} {clash.rule}" if clash.rule else clash.kind
    return named, clash.bounds, clash.atom, place


def _indented(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    return (f"  {line}\n" for line in aligned([list(map(visible, row)) for row in rows]))


@dataclass(frozen=True, slots=True)
class _TextColumn:
    """A column of text: ``codes`` index ``texts``."""

    texts: list[str]
    codes: np.ndarray

    def at(self, rows: slice) -> list[str]:
        texts = self.texts
        return [texts[code] for code in self.codes[rows].tolist()]


def _entities(column: EntityColumn, show: Callable[[str], str]) -> _TextColumn:
    names, codes = column.distinct()
    return _TextColumn(list(map(show, names)), codes)


def _columns(
    answers: Answers, show: Callable[[str], str], show_end: Callable[[float | str | None], str]
) -> Iterator[_TextColumn]:
    """The entities of each variable, and the two ends, None where one is unbounded."""
    yield from (_entities(column, show) for column in answers.columns)
    for ends in (answers.lower, answers.upper):
        distinct, codes = _distinct(ends)
        yield _TextColumn([show_end(finite(end, answers.numeric)) for end in distinct.tolist()], codes)


def _bounds(answers: Answers, show: Callable[[float, float], str]) -> _TextColumn:
    """Both bounds in one cell."""
    import numpy as np

    (lower, low), (upper, high) = _distinct(answers.lower), _distinct(answers.upper)
    pairs, codes = np.unique(low.astype(np.int64) * len(upper) + high, return_inverse=True)
    lowest, highest = lower.tolist(), upper.tolist()
    return _TextColumn([show(lowest[pair // len(upper)], highest[pair % len(upper)]) for pair in pairs.tolist()], codes)


def _states(answers: Answers, show: Callable[[str, bool], str]) -> _TextColumn:
    """The state, and whether it depends on a contradiction."""
    texts = [show(state, contested) for state in STATES for contested in (False, True)]
    return _TextColumn(texts, answers.states * 2 + answers.contested)


def _blocks(cells: Sequence[_TextColumn]) -> Iterator[Iterator[tuple[str, ...]]]:
    """The rows of some columns, block by block."""
    for start in range(0, len(cells[0].codes), _BLOCK):
        yield zip(*(column.at(slice(start, start + _BLOCK)) for column in cells), strict=True)


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, and the index of each row's value among them; values are compared by their bits."""
    import numpy as np

    held = np.ascontiguousarray(values, np.float64)
    if len(held) and (held == held[0]).all() and held[0] != 0:
        return held[:1], np.zeros(len(held), np.int64)
    distinct, codes = np.unique(held.view(np.int64), return_inverse=True)
    return distinct.view(np.float64), codes
