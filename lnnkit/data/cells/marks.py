"""Cells as a statement means them: without outer blanks, with decimal points, and empty where a text such as ``?`` or
``NA`` marks a missing cell."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import pyarrow as pa

from lnnkit.data.arrow import Column, called, filled, is_text, mask, one, strings, value_type, without
from lnnkit.data.files import Unreadable
from lnnkit.data.grid import ColumnChoice, Grid
from lnnkit.data.numerals import pointed
from lnnkit.syntax import ast


def meant_cells(grid: Grid, table: ast.Table, choice: ColumnChoice) -> Grid:
    """The cells that a statement reads, as its clauses ``trim``, ``missing`` and ``decimal`` say. Raises
    ``Unreadable`` for a number with a point where commas are decimal."""
    if table.trim:
        grid = _changed(grid, {place: trimmed(column) for place, column in grid.columns.items()})
    grid = without_marks(grid, table.missing)
    if table.decimal == ",":
        compared = [test for test in choice.where if len(test.positions) > 1 or _is_number(test.where.values)]
        places = {*choice.values, *(place for test in compared for place in test.positions)}
        grid = _changed(grid, {place: with_points(grid.columns[place], place) for place in sorted(places)})
    return grid


def _is_number(cells: Sequence[ast.Cell]) -> bool:
    return any(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def _changed(grid: Grid, columns: dict[int, Column]) -> Grid:
    changed = {place: column for place, column in columns.items() if column is not grid.columns[place]}
    texts = {place: texts for place, texts in grid.texts.items() if place not in changed}
    return replace(grid, columns={**grid.columns, **changed}, texts=texts) if changed else grid


def trimmed(column: Column) -> Column:
    """A column of texts without outer blanks; any other unchanged."""
    return _mapped(column, lambda texts: [text.strip() for text in texts])


def with_points(column: Column, place: int) -> Column:
    """A column of texts whose numbers have decimal commas, with points; ``place`` is its position. Raises
    ``Unreadable`` for a number with a point."""

    def points(texts: list[str]) -> list[str]:
        numbers = [pointed(text) for text in texts]
        wrong = next((text for text, number in zip(texts, numbers, strict=True) if number is None), None)
        if wrong is not None:
            message = f"column {place + 1} has {wrong!r}, a number with a point, and decimals have a comma here"
            raise Unreadable("bad-number", message, 'write a comma, or take `decimal ","` out')
        return [number or "" for number in numbers]

    return _mapped(column, points)


def _mapped(column: Column, change: Callable[[list[str]], list[str]]) -> Column:
    """A column of texts, changed; each distinct text once. Texts that are not UTF-8 leave the column as it is."""
    if isinstance(column, list) or not is_text(value_type(column)):
        return column
    array = one(column)
    array = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    coded = cast("pa.DictionaryArray", array)
    try:
        texts = cast("list[str]", filled(coded.dictionary.cast(pa.string())).to_pylist())
    except (pa.ArrowException, UnicodeDecodeError):
        return column
    return pa.DictionaryArray.from_arrays(coded.indices, strings(change(texts)))


def without_marks(grid: Grid, marks: Sequence[str]) -> Grid:
    """The grid with null in each cell that equals one of the ``marks``: as text or, in a column of numbers or days, by
    the value that the mark spells."""
    columns = {place: column for place, column in grid.columns.items() if marks and not isinstance(column, list)}
    return _changed(grid, {place: _cleared(column, marks) for place, column in columns.items()})


def _cleared(column: pa.Array | pa.ChunkedArray, marks: Sequence[str]) -> pa.Array | pa.ChunkedArray:
    """The column without its marks; the same one if it has none."""
    array = one(column)
    if pa.types.is_dictionary(array.type):
        coded = cast("pa.DictionaryArray", array)
        values = _cleared(coded.dictionary, marks)
        return column if values is coded.dictionary else pa.DictionaryArray.from_arrays(coded.indices, values)
    wanted = _as_values(array.type, marks)
    if wanted is None:
        return column
    from pyarrow.compute import SetLookupOptions

    marked = called("is_in", array, options=SetLookupOptions(wanted, skip_nulls=True))
    return without(array, mask(marked)) if marked.true_count else column


def _as_values(kind: pa.DataType, marks: Sequence[str]) -> pa.Array | None:
    """The marks as values of a type; None if none of them is one."""
    if pa.types.is_null(kind):
        return None
    if pa.types.is_binary(kind) or pa.types.is_string(kind):  # in NFD too, that is, with combining marks
        forms = dict.fromkeys(form for mark in marks for form in (mark, unicodedata.normalize("NFD", mark)))
        return strings(tuple(forms)).cast(kind)
    spelled = []
    for mark in marks:
        try:
            spelled.append(strings([mark]).cast(kind))
        except (pa.ArrowException, ValueError):
            continue
    return pa.concat_arrays(spelled) if spelled else None
