"""Builds a fact table from a grid and a choice of its columns, and lists the rows that are wrong; with warnings about
tables that can be read, but probably contain a slip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
import pyarrow as pa

from lnnkit.data.cells.conditions import ComparedCells, ConditionResult, DoubtfulRows, verdict
from lnnkit.data.cells.numbers import Reals, cells_of
from lnnkit.data.cells.texts import Texts, are_floats, outer_blanks, reunited, texts_together, without_fractions
from lnnkit.data.files import Unreadable
from lnnkit.data.grid import ColumnChoice, Gaps, Grid, Load, Sheet, meant_cells
from lnnkit.data.numerals import NUMERAL, UNSAID, meant, several_units
from lnnkit.data.table import EntityColumn, FactTable, in_use
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_condition, format_string

_PAIRS = (
    ("l", "u"), ("low", "high"), ("lower", "upper"), ("lo", "hi"), ("min", "max"), ("from", "to"), ("start", "end"),
)  # fmt: skip


def _are_ends(lower: str, upper: str) -> bool:
    """Whether the names of two columns differ as those of a lower and an upper end do."""
    one, other = lower.casefold(), upper.casefold()
    return any(low in one and one.replace(low, high) == other for low, high in _PAIRS)


def warnings(
    table: FactTable, sheet: Sheet, choice: ColumnChoice, grid: Grid, keys: Sequence[Texts], reals: Sequence[Reals],
    keep: np.ndarray, *, chosen: bool,
) -> Iterator[Diagnostic]:  # fmt: skip
    """Warnings about a valid ``table`` that probably contains a slip, read from ``keys`` and ``reals`` in the rows to
    ``keep``; ``chosen`` says whether a condition keeps any row, as far as that is known."""

    def warning(code: str, message: str, hint: str, row: int | None = None) -> Diagnostic:
        return Diagnostic(code, message, hint, table.span, "warning", table.source, row)

    as_text, no_row = bool(sheet.delimiter), not len(grid.rows) and not grid.lost
    if no_row and as_text and sheet.named:
        hint = 'end the statement with "no header" if it is a row'
        yield warning("no-rows", "there is a header and no row below it", hint)
    elif no_row and sheet.format and not sheet.format.encoded:
        yield warning("no-rows", "there are columns and no row", "")
    elif len(grid.rows) and choice.where and not len(table) and not chosen:
        filters = " and ".join(format_condition(test.where, sheet.title(test.positions[0])) for test in choice.where)
        yield warning("no-rows", f"no row has {filters}", "")
    if as_text and sheet.named and _header_is_row(sheet, choice, keys):
        first = ", ".join(sheet.names[position] for position in (*choice.keys, *choice.values))
        message = f"the header looks like a row: {first}"
        yield warning("doubtful-header", message, 'end the statement with "no header"', 1)
    if as_text and not sheet.named and len(keep) and _row_is_header(keys, keep):
        first = ", ".join(texts.names[int(texts.codes[0])] for texts in keys)
        message = f"the first row looks like a header: {first}"
        yield warning("doubtful-header", message, 'end the statement with "header"', 1)
    ends = [sheet.names[position] for position in choice.values] if sheet.named and not choice.listed else []
    if len(ends) == 2 and len(table) and not _are_ends(*ends):
        first = (*choice.keys, choice.values[0])
        both = " and ".join(map(format_string, ends))
        message = f"the columns {both} are read as the lower and the upper end of one value"
        hint = f"take one of them: `[[{', '.join(format_string(sheet.names[place]) for place in first)}]]` of a frame"
        if sheet.format:
            hint = f"list the columns: `{sheet.listed(first)}`, or all of them if they are two ends"
        yield warning("unlisted-ends", message, hint)
    blank = outer_blanks(table.names)
    for column, position in zip(table.columns, choice.keys, strict=True):
        rows = np.flatnonzero(np.isin(column.codes, blank)) if len(blank) else blank
        if len(rows):
            shown = f"as {column[int(rows[0])]!r} ({len(rows):,} in all)"
            message = f"{sheet.title(position)} has values that begin or end in a blank, {shown}"
            hint = "blanks are part of an entity's name" + ("; `trim` leaves them out" if sheet.format else "")
            yield warning("outer-blanks", message, hint, int(table.rows[rows[0]]))
    for real, position in zip(reals, choice.values, strict=True):
        rows = np.flatnonzero(real.inexact & keep).tolist() if real.inexact.any() else []
        if rows:
            row = rows[0]
            message = f"{sheet.title(position)} is {real.shown(row)}, read as {real.values[row]:.0f}"
            hint = "numbers are float64: whole numbers are exact up to 2^53"
            yield warning("inexact-number", message, hint, int(grid.rows[row]))


def _header_is_row(sheet: Sheet, choice: ColumnChoice, keys: Sequence[Texts]) -> bool:
    """Whether every column name looks like a value of its column, and no column was chosen by name: the file may have
    no header."""
    if choice.named:
        return False
    if any(NUMERAL.fullmatch(sheet.names[position]) for position in choice.values):
        return True
    if any(sheet.names[test.positions[0]] in test.where.values for test in choice.where):
        return True
    places = [texts.names.find(sheet.names[position]) for texts, position in zip(keys, choice.keys, strict=True)]
    if not keys or None in places:
        return False
    return all(bool((texts.codes == place).any()) for texts, place in zip(keys, places, strict=True))


_TITLES = frozenset(
    ("id", "key", "name", "from", "to", "source", "target", "src", "dst", "entity", "label", "value", "subject")
) | {"predicate", "object", "head", "relation", "tail"}


def _row_is_header(texts: Sequence[Texts], keep: np.ndarray) -> bool:
    """Whether the first row of a file that is read without a header looks like column names: it stands above numbers,
    or each of its cells is a usual title that does not recur in its column."""
    if not keep[0] or len(keep) < 2:
        return False
    columns = [(column.names, int(column.codes[0]), column.codes[1:]) for column in texts]
    if any(first >= len(names.numbers) and (rest < len(names.numbers)).all() for names, first, rest in columns):
        return True
    titles = [names[first].casefold() in _TITLES and not (rest == first).any() for names, first, rest in columns]
    return bool(titles) and all(titles)


_SAMPLE = 100  # cells in which several units are looked for
SHOWN = 5
"""The number of rows with one kind of fault in one column that are reported before the rest is counted."""
_GAPS = frozenset(("na", "nan", "null", "none", "nil", "unknown", "missing"))
"""Words for a missing cell; others beside truths stand for truths, as `ja`."""
_FLOAT_KEYS = "holds floats that are all whole: they are read as whole numbers, 7.0 as 7"
_AS_WHOLE = 'write whole numbers; in pandas, `column.astype("Int64")` keeps the gaps'
_BELOW_ONE = 1 - 2.0**-53  # the greatest truth below 1
UNKNOWN = "leave the row out where nothing is known, or give two bounds, 0 and 1"


def facts(
    load: Load, sheet: Sheet, choice: ColumnChoice, grid: Grid, source: str, shown: int = SHOWN
) -> tuple[FactTable, list[Diagnostic]]:
    """The valid rows as facts, and the faults of the others by column and kind: the first ``shown`` rows, then a count.

    An empty cell of a number is unknown. Rows excluded by a ``where`` are not checked. Raises ``Unreadable`` if the
    type of a column fits no row at all.
    """
    numeric, span, total = load.numeric, load.span, len(grid.rows)
    grid = meant_cells(grid, load.table, choice)
    try:
        missing = [position for position in dict.fromkeys(choice.keys) if position not in grid.texts]
        if missing:  # each column is encoded once
            read = texts_together([(grid.columns[place], sheet.title(place)) for place in missing], grid.known)
            grid.texts.update(zip(missing, read, strict=True))
        written = [grid.texts[position] for position in choice.keys]
        keys = [without_fractions(texts) for texts in written] if sheet.delimiter else written
        whole = [texts is not raw for texts, raw in zip(keys, written, strict=True)]
        keys = reunited(keys)
        cells = ((ComparedCells(grid.columns[at], sheet.title(at)) for at in test.positions) for test in choice.where)
        verdicts = [verdict(test.where, *of) for test, of in zip(choice.where, cells, strict=True)]
        given = [cells_of(grid.columns[position], sheet.title(position)) for position in choice.values]
        reals = [cells.days() if numeric == "date" else cells.reals(not numeric) for cells in given]
    except pa.ArrowException as error:
        raise Unreadable("unreadable-file", f"{sheet.source} cannot be read: {error}") from None
    values = [_ValueColumn(*pair, sheet, numeric, load.gaps) for pair in zip(reals, choice.values, strict=True)]
    lower, upper, doubts = _bounds(values, total)
    for texts, position in zip(keys, choice.keys, strict=True):
        title, fault = sheet.title(position), _key_fault(texts, sheet, position)
        doubts.append(DoubtfulRows(texts.codes < 0, fault, f"where {title} is empty"))
        doubts.append(DoubtfulRows(texts.codes >= len(texts.names), fault, f"where {title} is not an entity"))
    doubts = [doubt for doubt in doubts if doubt.wrong.any()]
    keep = np.broadcast_to(np.True_, total)  # takes no memory
    if doubts or verdicts or grid.spoiled:
        doubts, keep = _kept(doubts, verdicts, grid)
    if load.gaps == "skipped":
        least, most = (-np.inf, np.inf) if numeric else (0.0, 1.0)
        keep = keep & ((lower > least) | (upper < most))
    codes, rows, every = [texts.codes for texts in keys], grid.rows, bool(keep.all())
    if not every:
        lower, upper, rows, *codes = (column[keep] for column in (lower, upper, rows, *codes))
    if every and keys and len({*map(id, codes)}) == keys[0].sharing:  # they are known to use all names
        columns = tuple(EntityColumn(column, keys[0].names) for column in codes)
    else:
        columns = in_use(codes, keys[0].names) if keys else ()
    trust = 1.0 if load.table.trust is None else float(load.table.trust)
    table = FactTable(load.predicate, columns, lower, upper, rows, source, span, trust)
    diagnostics = _listed(grid, doubts, source, span, shown)
    sound = [value.position for value in values if not value.real.wrong.any()]
    if not choice.listed and sheet.format and (len(values) > len(sound) > 0 if numeric else values):
        listed = sheet.listed((*choice.keys, *(sound if numeric else ())))
        more, codes = f"; to leave columns out, list those to read: {listed}", ("bad-truth", "bad-number", "bad-date")
        diagnostics = [replace(d, hint=d.hint + more) if d.code in codes else d for d in diagnostics]
    chosen = bool(diagnostics) or bool(keep.any())
    diagnostics += [
        Diagnostic("float-keys", f"{sheet.title(position)} {_FLOAT_KEYS}", _AS_WHOLE, span, "warning", source)
        for position, spelled in zip(choice.keys, whole, strict=True)
        if spelled or (total and are_floats(grid.columns[position]))
    ]
    diagnostics += warnings(table, sheet, choice, grid, keys, reals, keep, chosen=chosen)
    return (_denied(table) if load.negated and not numeric else table), diagnostics


def _denied(table: FactTable) -> FactTable:
    """The facts of the negation: ``[1 - U, 1 - L]``; as for ``fact ~P``, a lower end is 1 only if ``U`` is 0."""
    lower = np.where(table.upper == 0, 1.0, np.minimum(1 - table.upper, _BELOW_ONE))
    return replace(table, lower=lower, upper=1 - table.lower)


def _kept(
    doubts: Sequence[DoubtfulRows], verdicts: Sequence[ConditionResult], grid: Grid
) -> tuple[list[DoubtfulRows], np.ndarray]:
    """The doubts about rows that no condition leaves out, and which rows are facts."""
    spoiled = np.zeros(len(grid.rows), bool)
    spoiled[list(grid.spoiled)] = True
    live, possible = ~spoiled, ~spoiled  # whether all conditions hold, and whether none excludes the row
    for outcome in verdicts:
        live &= outcome.holds
        possible &= outcome.holds | outcome.wrong
    kept = [replace(doubt, wrong=doubt.wrong & live) for doubt in doubts]
    kept += [replace(outcome, wrong=outcome.wrong & possible) for outcome in verdicts]
    return kept, live & ~np.any([doubt.wrong for doubt in kept], axis=0)


@dataclass(frozen=True, slots=True)
class _ValueColumn:
    """A column of truths or, if ``numeric``, of numbers: as it is read, and as messages name it."""

    real: Reals
    position: int
    sheet: Sheet
    numeric: Numeric
    gaps: Gaps

    @property
    def title(self) -> str:
        return self.sheet.title(self.position)

    @property
    def code(self) -> str:
        return "bad-date" if self.numeric == "date" else "bad-number" if self.numeric else "bad-truth"

    def doubts(self, values: np.ndarray, unreached: float | None) -> Iterator[DoubtfulRows]:
        """The rows with a wrong value: an end of a number may not be ``unreached``, and a single number (None) not be
        infinite."""
        real, title, sheet = self.real, self.title, self.sheet
        kind = "a date" if self.numeric == "date" else "a number" if self.numeric else "a truth value"
        yield DoubtfulRows(real.wrong, self.fault, f"where {title} is not {kind}")
        if self.numeric:
            infinite, what = values == unreached, "no number is beyond it"
            hint = "an unknown lower end is -inf or empty, an unknown upper end inf or empty"
            if unreached is None:
                infinite, what = np.isinf(values), "no number is infinite"
                hint = "leave the cell empty where the value is unknown, or load a lower and an upper column"
            yield DoubtfulRows(
                infinite & ~(real.missing | real.wrong),
                lambda row: Diagnostic("bad-number", f"{title} is {real.shown(row)}, and {what}", hint),
                f"where {title} is infinite",
            )
            return
        if self.gaps == "refused":
            where = f"known: `where {sheet.column(self.position)} is not null`," if sheet.format else "known,"
            empty = Diagnostic("bad-truth", f"{title} is empty", UNKNOWN.replace("known,", where))
            yield DoubtfulRows(real.missing, lambda _: empty, f"where {title} is empty")
        hint = "a truth value is a number from 0 to 1"
        yield DoubtfulRows(
            ~real.wrong & ((values < 0) | (values > 1)),
            lambda row: Diagnostic("bad-truth", f"{title} is {real.shown(row)}, outside [0, 1]", hint),
            f"where {title} is outside [0, 1]",
        )

    def fault(self, row: int) -> Diagnostic:
        """What is wrong with a value that is none."""
        real, sheet, shown = self.real, self.sheet, self.real.shown(row)
        message = f"{self.title} is {shown}, not a {'number' if self.numeric else 'truth value'}"
        if row == 0 and sheet.format and not sheet.named and shown.strip("'\"")[:1].isalpha() and len(real.wrong) > 1:
            return Diagnostic(self.code, message, 'if this row is the header, end the statement with "header"')
        if real.fault is not None:
            return real.fault(row)
        plain = bool(sheet.format) and shown[0] in "'\"" and "\\" not in shown  # an escape is not what the file has
        word = shown[1:-1]
        mark = f", or add `missing {format_string(word)}`" if plain else ""
        if self.numeric:
            hint = several_units(map(real.shown, np.flatnonzero(real.wrong)[:_SAMPLE].tolist())) or meant(shown)
            return Diagnostic(self.code, message, hint + (mark if hint == UNSAID else ""))
        rest = UNKNOWN if self.gaps == "refused" else UNSAID + mark
        if plain and word.isalpha() and word.lower() not in _GAPS:  # as `ja`
            true = f"`where {sheet.column(self.position)} = {format_string(word)}`"
            rest = f"or take the column out of the list, and say of which rows it is true, as {true}"
        return Diagnostic(self.code, message, f"write a number from 0 to 1, or true or false; {rest}")


def _bounds(columns: Sequence[_ValueColumn], total: int) -> tuple[np.ndarray, np.ndarray, list[DoubtfulRows]]:
    """Lower and upper bounds, and the rows whose values are wrong. Without a value column facts are true."""
    if not columns:
        ones = np.broadcast_to(1.0, total)  # takes no memory
        return ones, ones, []
    unknown = (-np.inf, np.inf) if columns[0].numeric else (0.0, 1.0)
    ends, doubts = list[np.ndarray](), list[DoubtfulRows]()
    for end, column in enumerate(columns):
        values = column.real.values + 0.0  # without negative zeros, in memory that is not shared
        values[column.real.missing] = unknown[end]
        doubts += column.doubts(values, -unknown[end] if len(columns) == 2 else None)
        ends.append(values)
    first, last = columns[0], columns[-1]
    if first is last:
        gaps = first.real.missing
        return ends[0], np.where(gaps, unknown[1], ends[0]) if gaps.any() else ends[0], doubts
    lower, upper = ends
    crossing = lower > upper
    if crossing.any():
        wrong = np.any([doubt.wrong for doubt in doubts], axis=0) if doubts else np.False_

        def crossed(row: int) -> Diagnostic:
            return Diagnostic(first.code, f"lower {first.real.shown(row)} exceeds upper {last.real.shown(row)}")

        doubts.append(DoubtfulRows(crossing & ~wrong, crossed, f"where {first.title} exceeds {last.title}"))
    return lower, upper, doubts


def _key_fault(texts: Texts, sheet: Sheet, position: int) -> Callable[[int], Diagnostic]:
    leave_out = f", or leave such rows out: `where {sheet.column(position)} is not null`" if sheet.format else ""
    encoded = 'save the file as UTF-8, or add its encoding: `encoding "latin-1"`'
    encoded = encoded if sheet.delimiter else ""

    def fault(row: int) -> Diagnostic:
        hint = f"without it the row states no fact: fill it in{leave_out}" if texts.codes[row] < 0 else encoded
        reason = texts.faults.get(int(texts.codes[row]), "is empty")
        return Diagnostic("bad-row", f"{sheet.title(position)} {reason}", hint)

    return fault


def _listed(grid: Grid, doubts: Sequence[DoubtfulRows], source: str, span: Span | None, shown: int) -> list[Diagnostic]:
    """The faults grouped by column and kind, in the order of each group's first row."""
    kinds: dict[tuple[str, str], list[tuple[int, Diagnostic]]] = {}
    unread = (*grid.lost, *((int(grid.rows[index]), fault) for index, fault in grid.spoiled.items()))
    for number, fault in sorted(unread, key=itemgetter(0)):  # not divided into columns, or not read
        kinds.setdefault((fault.code, fault.hint), []).append((number, fault))
    groups = [(rows[:shown], len(rows), " like these") for rows in kinds.values()]  # first rows, how many, and which
    for doubt in doubts:
        rows = np.flatnonzero(doubt.wrong)
        named = [(int(grid.rows[row]), doubt.fault(row)) for row in rows[:shown].tolist()]
        groups += [(named, len(rows), f" {doubt.others}" if doubt.others else "")] if named else []
    diagnostics: list[Diagnostic] = []
    for rows, count, others in sorted(groups, key=lambda group: group[0][0][0]):
        hints: set[str] = set()  # each is reported once
        for number, fault in rows:
            hint = "" if fault.hint in hints else fault.hint
            hints.add(fault.hint)
            diagnostics.append(Diagnostic(fault.code, fault.message, hint, span, file=source, row=number))
        if more := count - len(rows):
            message = f"and {more:,} more row{'' if more == 1 else 's'}{others}"
            diagnostics.append(Diagnostic("too-many-bad-rows", message, "", span, file=source))
    return diagnostics
