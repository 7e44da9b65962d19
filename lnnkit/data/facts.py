"""Builds a fact table from a grid and a choice of its columns, and lists the rows that are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pyarrow as pa

from lnnkit.data.choose import Choice, Filter
from lnnkit.data.column_pairs import Side, pair_verdict
from lnnkit.data.conditions import Verdict, verdict
from lnnkit.data.encode import are_floats
from lnnkit.data.grid import Grid, Sheet
from lnnkit.data.names import Names
from lnnkit.data.numbers import Reals, reals_of
from lnnkit.data.numerals import UNSAID, meant, several_units
from lnnkit.data.source import Fault, Unreadable
from lnnkit.data.table import FactTable
from lnnkit.data.texts import Texts, compacted, outer_blanks, reunited, texts_together, without_fractions
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_column, format_condition, format_predicate, format_string
from lnnkit.syntax.span import Span

TEXT_FORMATS = ("csv", "tsv")
_SAMPLE = 100  # cells in which several units are looked for
SHOWN = 5
"""The number of rows with one kind of fault in one column that are reported before the rest is counted."""
_GAPS = frozenset(("na", "nan", "null", "none", "nil", "unknown", "missing"))
"""Words for a missing cell; others beside truths stand for truths, as `ja`."""
_FLOAT_KEYS = "holds floats that are all whole: they are read as whole numbers, 7.0 as 7"
_AS_WHOLE = 'write whole numbers; in pandas, `column.astype("Int64")` keeps the gaps'
UNKNOWN = "leave the row out where nothing is known, or give two bounds, 0 and 1"


Gaps = Literal["unknown", "refused", "skipped"]
"""What an empty truth is: unknown, an error (of a closed predicate, where nothing is unknown), or no label."""


@dataclass(frozen=True, slots=True)
class _Doubt:
    """A mask of rows with one kind of fault, the message for one of them, and the message for the rest."""

    rows: np.ndarray
    fault: Callable[[int], Fault]
    others: str = ""


def facts(
    predicate: str,
    numeric: bool,
    sheet: Sheet,
    choice: Choice,
    grid: Grid,
    source: str,
    span: Span | None,
    shown: int = SHOWN,
    known: Names | None = None,
    *,
    gaps: Gaps = "unknown",
) -> tuple[FactTable, list[Diagnostic]]:
    """The valid rows as facts, and the faults of the others by column and kind: the first ``shown`` rows, then a count.

    An empty cell of a number is unknown; ``gaps`` says what one of a truth is. Rows excluded by a ``where`` are not
    checked. The names of entities may be ``known`` from another table. Raises ``Unreadable`` if the type of a column
    fits no row at all.
    """
    total = len(grid.rows)
    try:
        written = _texts(grid, sheet, choice.keys, known)
        keys = [without_fractions(texts) for texts in written] if sheet.format in TEXT_FORMATS else written
        whole = [texts is not own for texts, own in zip(keys, written, strict=True)]
        keys = reunited(keys) if any(whole) else written
        verdicts = [_verdict(grid, sheet, each) for each in choice.where]
        reals = [reals_of(grid.columns[position], sheet.title(position), not numeric) for position in choice.values]
    except pa.ArrowException as error:
        raise Unreadable("unreadable-file", f"{sheet.source} cannot be read: {error}") from None
    lower, upper, doubts = _bounds(reals, choice.values, numeric, total, sheet, gaps)
    for texts, position in zip(keys, choice.keys, strict=True):
        wrong = texts.wrong()
        if not wrong.any():
            continue
        title, empty = sheet.title(position), texts.codes < 0
        doubts.append(_Doubt(empty, _key_fault(texts, sheet, position), f"where {title} is empty"))
        if texts.faults:
            doubts.append(_Doubt(wrong & ~empty, _key_fault(texts, sheet, position), f"where {title} is not an entity"))
    keep = np.broadcast_to(np.True_, total)  # takes no memory
    if doubts or verdicts or grid.spoiled:
        doubts, keep = _kept(doubts, verdicts, grid)
    if gaps == "skipped" and not numeric:
        keep = keep & ((lower > 0) | (upper < 1))
    mask = None if keep.all() else keep
    if mask is not None:
        lower, upper = lower[mask], upper[mask]
    rows = grid.rows if mask is None else grid.rows[mask]
    table = FactTable(predicate, compacted(keys, mask), lower, upper, rows, source, span)
    found = _listed(grid, doubts, source, span, shown)
    if not choice.listed and choice.values and not numeric and sheet.format:
        found = [_unasked(each, sheet, choice) for each in found]
    chosen = bool(found) or bool(keep.any())
    found += [
        Diagnostic("float-keys", f"{sheet.title(position)} {_FLOAT_KEYS}", _AS_WHOLE, span, "warning", source)
        for position, spelled in zip(choice.keys, whole, strict=True)
        if spelled or (total and are_floats(grid.columns[position]))
    ]
    found += _warnings(table, sheet, choice, grid, keys, reals, keep, source, span, chosen=chosen)
    return table, found


def _kept(doubts: Sequence[_Doubt], verdicts: Sequence[Verdict], grid: Grid) -> tuple[list[_Doubt], np.ndarray]:
    """The doubts about rows that no condition leaves out, and which rows are facts."""
    spoiled = np.zeros(len(grid.rows), bool)
    spoiled[list(grid.spoiled)] = True
    live, possible = ~spoiled, ~spoiled  # whether all conditions hold, and whether none excludes the row
    for each in verdicts:
        live &= each.holds
        possible &= each.holds | each.wrong
    found = [_Doubt(doubt.rows & live, doubt.fault, doubt.others) for doubt in doubts]
    found += [_Doubt(each.wrong & possible, each.fault, each.what) for each in verdicts]
    bad = spoiled
    for doubt in found:
        bad = bad | doubt.rows
    return found, live & ~bad


def _verdict(grid: Grid, sheet: Sheet, condition: Filter) -> Verdict:
    position, where = condition.position, condition.where
    if condition.other is not None:
        places = position, condition.other
        sides = [Side(grid.columns[each], sheet.title(each)) for each in places]
        return pair_verdict(where.operator, sides, lambda some: _texts(grid, sheet, [places[each] for each in some]))

    def texts() -> Texts:
        return _texts(grid, sheet, [position])[0]

    return verdict(where, grid.columns[position], texts, sheet.title(position), coded=position in grid.texts)


def _texts(grid: Grid, sheet: Sheet, positions: Sequence[int], known: Names | None = None) -> list[Texts]:
    """The texts of some columns, with shared values; each column is encoded once."""
    missing = [position for position in dict.fromkeys(positions) if position not in grid.texts]
    if missing:
        read = texts_together([(grid.columns[position], sheet.title(position)) for position in missing], known)
        grid.texts.update(zip(missing, read, strict=True))
    return reunited([grid.texts[position] for position in positions])


def _bounds(
    reals: list[Reals], positions: Sequence[int], numeric: bool, total: int, sheet: Sheet, gaps: Gaps
) -> tuple[np.ndarray, np.ndarray, list[_Doubt]]:
    """Lower and upper bounds, and the rows whose values are wrong. Without a value column facts are true."""
    if not reals:
        ones = np.broadcast_to(1.0, total)  # takes no memory
        return ones, ones, []
    doubts = []
    ends = []
    unknown = (-np.inf, np.inf) if numeric else (0.0, 1.0)
    for end, (real, position) in enumerate(zip(reals, positions, strict=True)):
        title = sheet.title(position)
        # Without negative zeros, in memory that is not shared
        values = real.values + 0.0 if real.ends is None else real.values
        if _sound(real, values, numeric):
            ends.append(values)
            continue
        kind = "a number" if numeric else "a truth value"
        fault = _value_fault(real, position, numeric, sheet, gaps)
        doubts.append(_Doubt(real.wrong, fault, f"where {title} is not {kind}"))
        values = np.where(real.missing, unknown[end], values)
        if numeric:
            unreached = np.isinf(values) if len(reals) == 1 else values == -unknown[end]
            unreached &= ~(real.missing | real.wrong)
            fault = _infinite_fault(real, title, len(reals) == 1)
            doubts.append(_Doubt(unreached, fault, f"where {title} is infinite"))
        else:
            outside = ~real.wrong & ((values < 0) | (values > 1))
            if gaps == "refused":
                column = format_column(sheet.names[position] if sheet.named else position + 1)
                where = f"known: `where {column} is not null`," if sheet.format else "known,"
                empty = Fault("bad-truth", f"{title} is empty", UNKNOWN.replace("known,", where))
                doubts.append(_Doubt(real.missing, lambda _, empty=empty: empty, f"where {title} is empty"))
            doubts.append(_Doubt(outside, _outside_fault(real, title), f"where {title} is outside [0, 1]"))
        ends.append(values)
    if len(ends) == 1:
        upper = np.where(reals[0].missing, unknown[1], ends[0]) if reals[0].missing.any() else ends[0]
        return ends[0], upper, doubts
    crossing = ends[0] > ends[1]
    if not crossing.any():
        return ends[0], ends[1], doubts
    wrong = np.zeros(total, bool)
    for doubt in doubts:
        wrong |= doubt.rows
    code = "bad-number" if numeric else "bad-truth"

    def crossed(row: int) -> Fault:
        return Fault(code, f"lower {reals[0].shown(row)} exceeds upper {reals[1].shown(row)}")

    doubts.append(
        _Doubt(crossing & ~wrong, crossed, f"where {sheet.title(positions[0])} exceeds {sheet.title(positions[1])}")
    )
    return ends[0], ends[1], doubts


def _sound(real: Reals, values: np.ndarray, numeric: bool) -> bool:
    """Whether all ``values`` are valid."""
    if not len(values) or real.missing.any() or real.wrong.any():
        return False
    low, high = real.ends or (values.min(), values.max())  # nan if any value is
    return bool(np.isfinite(low) and np.isfinite(high)) if numeric else bool(low >= 0 and high <= 1)


def _value_fault(real: Reals, position: int, numeric: bool, sheet: Sheet, gaps: Gaps) -> Callable[[int], Fault]:
    title = sheet.title(position)

    def fault(row: int) -> Fault:
        if row == 0 and not sheet.named and real.shown(row).strip("'\"")[:1].isalpha() and len(real.wrong) > 1:
            what = "a number" if numeric else "a truth value"
            hint = 'if this row is the header, end the statement with "header"'
            return Fault(f"bad-{'number' if numeric else 'truth'}", f"{title} is {real.shown(row)}, not {what}", hint)
        shown = real.shown(row)
        plain = bool(sheet.format) and shown[0] in "'\"" and "\\" not in shown  # an escape is not what the file has
        word = shown[1:-1]
        mark = f", or add `missing {format_string(word)}`" if plain else ""
        if numeric:
            hint = several_units(map(real.shown, np.flatnonzero(real.wrong)[:_SAMPLE].tolist())) or meant(shown)
            return Fault("bad-number", f"{title} is {shown}, not a number", hint + (mark if hint == UNSAID else ""))
        rest = UNKNOWN if gaps == "refused" else UNSAID + mark
        if plain and word.isalpha() and word.lower() not in _GAPS:  # as `ja`
            column = format_column(sheet.names[position] if sheet.named else position + 1)
            true = f"`where {column} = {format_string(word)}`"
            rest = f"or take the column out of the list, and say of which rows it is true, as {true}"
        hint = f"write a number from 0 to 1, or true or false; {rest}"
        return Fault("bad-truth", f"{title} is {shown}, not a truth value", hint)

    return fault


def _unasked(found: Diagnostic, sheet: Sheet, choice: Choice) -> Diagnostic:
    """The error for a column that is not a truth value and was not listed to be read as one."""
    if found.code != "bad-truth":
        return found
    names = [format_predicate(sheet.names[place]) if sheet.named else str(place + 1) for place in choice.keys]
    return replace(found, hint=f"{found.hint}; to leave columns out, list those to read: ({', '.join(names)})")


def _infinite_fault(real: Reals, title: str, exact: bool) -> Callable[[int], Fault]:
    hint = "leave the cell empty where the value is unknown, or load a lower and an upper column"
    if not exact:
        hint = "an unknown lower end is -inf or empty, an unknown upper end inf or empty"

    def fault(row: int) -> Fault:
        what = "no number is infinite" if exact else "no number is beyond it"
        return Fault("bad-number", f"{title} is {real.shown(row)}, and {what}", hint)

    return fault


def _outside_fault(real: Reals, title: str) -> Callable[[int], Fault]:
    return lambda row: Fault(
        "bad-truth", f"{title} is {real.shown(row)}, outside [0, 1]", "a truth value is a number from 0 to 1"
    )


def _key_fault(texts: Texts, sheet: Sheet, position: int) -> Callable[[int], Fault]:
    column = format_column(sheet.names[position] if sheet.named else position + 1)
    leave_out = f", or leave such rows out: `where {column} is not null`" if sheet.format else ""

    encoded = (
        'save the file as UTF-8, or add its encoding: `encoding "latin-1"`' if sheet.format in TEXT_FORMATS else ""
    )

    def fault(row: int) -> Fault:
        hint = f"without it the row states no fact: fill it in{leave_out}" if texts.codes[row] < 0 else encoded
        return Fault("bad-row", f"{sheet.title(position)} {texts.fault(row)}", hint)

    return fault


def _listed(grid: Grid, doubts: list[_Doubt], source: str, span: Span | None, shown: int) -> list[Diagnostic]:
    """The faults grouped by column and kind, in the order of each group's first row."""
    groups = [*_whole_rows(grid, shown), *(group for doubt in doubts if (group := _group(grid, doubt, shown)))]
    groups.sort(key=lambda group: group.rows[0][0])
    found: list[Diagnostic] = []
    for group in groups:
        hints: set[str] = set()  # each is reported once
        for number, fault in group.rows:
            hint = "" if fault.hint in hints else fault.hint
            hints.add(fault.hint)
            found.append(Diagnostic(fault.code, fault.message, hint, span, file=source, row=number))
        more = group.count - len(group.rows)
        if more:
            others = f" {group.others}" if group.others else ""
            message = f"and {more:,} more row{'' if more == 1 else 's'}{others}"
            found.append(Diagnostic("too-many-bad-rows", message, "", span, file=source))
    return found


@dataclass(frozen=True, slots=True)
class _Group:
    """The first rows with one kind of fault, by number, and the total of such rows."""

    rows: list[tuple[int, Fault]]
    count: int
    others: str


def _group(grid: Grid, doubt: _Doubt, shown: int) -> _Group | None:
    rows = np.flatnonzero(doubt.rows)
    named = [(int(grid.rows[row]), doubt.fault(row)) for row in rows[:shown].tolist()]
    return _Group(named, len(rows), doubt.others) if named else None


def _whole_rows(grid: Grid, shown: int) -> Iterator[_Group]:
    """Rows that could not be split into columns or read, grouped by the advice for them."""
    spoiled: Iterable[tuple[int, Fault]] = ((int(grid.rows[index]), fault) for index, fault in grid.spoiled.items())
    kinds: dict[tuple[str, str], list[tuple[int, Fault]]] = {}
    for number, fault in (*grid.lost, *spoiled):
        kinds.setdefault((fault.code, fault.hint), []).append((number, fault))
    for rows in kinds.values():
        rows.sort(key=lambda row: row[0])
        yield _Group(rows[:shown], len(rows), "like these")


_PAIRS = (
    ("l", "u"),
    ("low", "high"),
    ("lower", "upper"),
    ("lo", "hi"),
    ("min", "max"),
    ("from", "to"),
    ("start", "end"),
)


def _are_ends(lower: str, upper: str) -> bool:
    """Whether the names of two columns differ as those of a lower and an upper end do."""
    one, other = lower.casefold(), upper.casefold()
    return any(low in one and one.replace(low, high) == other for low, high in _PAIRS)


def _warnings(
    table: FactTable,
    sheet: Sheet,
    choice: Choice,
    grid: Grid,
    keys: list[Texts],
    reals: list[Reals],
    keep: np.ndarray,
    source: str,
    span: Span | None,
    *,
    chosen: bool,
) -> list[Diagnostic]:
    """Warnings about valid tables that probably contain a slip; ``chosen`` says whether a condition keeps any row, as
    far as that is known."""
    found: list[Diagnostic] = []

    def warn(code: str, message: str, hint: str, row: int | None = None) -> None:
        found.append(Diagnostic(code, message, hint, span, "warning", source, row))

    if not len(grid.rows) and not grid.lost and sheet.format in TEXT_FORMATS and sheet.named:
        warn("no-rows", "there is a header and no row below it", 'end the statement with "no header" if it is a row')
    elif not len(grid.rows) and not grid.lost and sheet.format == "parquet":
        warn("no-rows", "there are columns and no row", "")
    elif len(grid.rows) and choice.where and not len(table) and not chosen:
        filters = " and ".join(format_condition(each.where, sheet.title(each.position)) for each in choice.where)
        warn("no-rows", f"no row has {filters}", "")
    if sheet.format in TEXT_FORMATS and sheet.named and _header_is_row(sheet, choice, keys):
        first = ", ".join(sheet.names[position] for position in (*choice.keys, *choice.values))
        warn("doubtful-header", f"the header looks like a row: {first}", 'end the statement with "no header"', 1)
    if sheet.format in TEXT_FORMATS and not sheet.named and len(keep) and _row_is_header(keys, keep):
        first = ", ".join(texts.names[int(texts.codes[0])] for texts in keys)
        warn("doubtful-header", f"the first row looks like a header: {first}", 'end the statement with "header"', 1)
    ends = [sheet.names[position] for position in choice.values] if sheet.named and not choice.listed else []
    if len(ends) == 2 and len(table) and not _are_ends(*ends):
        names = [sheet.names[position] for position in (*choice.keys, choice.values[0])]
        columns = [format_string(each) for each in ends]
        message = f"the columns {columns[0]} and {columns[1]} are read as the lower and the upper end of one value"
        hint = f"take one of them: `[[{', '.join(map(format_string, names))}]]` of a frame"
        if sheet.format:
            hint = f"list the columns: `({', '.join(map(format_column, names))})`, or all of them if they are two ends"
        warn("unlisted-ends", message, hint)
    blank = outer_blanks(table.names)
    for column, position in zip(table.columns, choice.keys, strict=True):
        rows = np.flatnonzero(np.isin(column.codes, blank)) if len(blank) else blank
        if len(rows):
            value = column[int(rows[0])]
            message = (
                f"{sheet.title(position)} has values that begin or end in a blank, as {value!r} ({len(rows):,} in all)"
            )
            hint = "blanks are part of an entity's name" + ("; `trim` leaves them out" if sheet.format else "")
            warn("outer-blanks", message, hint, int(table.rows[rows[0]]))
    for real, position in zip(reals, choice.values, strict=True):
        rows = np.flatnonzero(real.inexact & keep) if real.inexact.any() else np.empty(0, np.int64)
        if len(rows):
            row = int(rows[0])
            message = f"{sheet.title(position)} is {real.shown(row)}, read as {real.values[row]:.0f}"
            warn(
                "inexact-number",
                message,
                "numbers are float64: whole numbers are exact up to 2^53",
                int(grid.rows[row]),
            )
    return found


def _header_is_row(sheet: Sheet, choice: Choice, keys: list[Texts]) -> bool:
    """Whether every column name looks like a value of its column, and no column was chosen by name: the file may have
    no header."""
    from lnnkit.data.numerals import NUMERAL

    if choice.named:
        return False
    if any(NUMERAL.fullmatch(sheet.names[position]) for position in choice.values):
        return True
    if any(sheet.names[each.position] in each.where.values for each in choice.where):
        return True
    return bool(keys) and all(
        bool(texts.equal(sheet.names[position]).any()) for texts, position in zip(keys, choice.keys, strict=True)
    )


_TITLES = frozenset(
    ("id", "key", "name", "from", "to", "source", "target", "src", "dst", "entity", "label", "value", "subject")
) | {"predicate", "object", "head", "relation", "tail"}


def _row_is_header(texts: Sequence[Texts], keep: np.ndarray) -> bool:
    """Whether the first row of a file that is read without a header looks like column names: it stands above numbers,
    or each of its cells is a usual title that does not recur in its column."""
    first = [int(each.codes[0]) for each in texts]
    if not keep[0] or len(keep) < 2:
        return False
    if any(
        code >= len(each.names.numbers) and (each.codes[1:] < len(each.names.numbers)).all()
        for code, each in zip(first, texts, strict=True)
    ):
        return True
    return bool(texts) and all(
        each.names[code].casefold() in _TITLES and not (each.codes[1:] == code).any()
        for code, each in zip(first, texts, strict=True)
    )
