"""Texts such as ``?`` and ``NA`` that mark a missing cell."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from lnnkit.data.arrow import one, strings
from lnnkit.data.grid import Grid

if TYPE_CHECKING:
    import pyarrow as pa


def without_marks(grid: Grid, marks: Sequence[str]) -> Grid:
    """The grid with null in each cell that equals one of the ``marks``: as text or, in a column of numbers or days, by
    the value that the mark spells."""
    if not marks:
        return grid
    changed = {}
    for position, column in grid.columns.items():
        if isinstance(column, list):
            continue
        cleared = _cleared(column, marks)
        if cleared is not None:
            changed[position] = cleared
    if not changed:
        return grid
    texts = {position: texts for position, texts in grid.texts.items() if position not in changed}
    return replace(grid, columns={**grid.columns, **changed}, texts=texts)


def _cleared(column: pa.Array | pa.ChunkedArray, marks: Sequence[str]) -> pa.Array | None:
    """The column without its marks; None if it has none."""
    import pyarrow as pa

    array = one(column)
    if pa.types.is_dictionary(array.type):
        coded = cast("pa.DictionaryArray", array)
        values = _cleared(coded.dictionary, marks)
        return None if values is None else pa.DictionaryArray.from_arrays(coded.indices, values)
    wanted = _as_values(array.type, marks)
    if wanted is None:
        return None
    from pyarrow.compute import SetLookupOptions, call_function

    found = call_function("is_in", [array], SetLookupOptions(wanted, skip_nulls=True))
    if not found.true_count:
        return None
    return call_function("if_else", [found, pa.scalar(None, array.type), array])


def _as_values(kind: pa.DataType, marks: Sequence[str]) -> pa.Array | None:
    """The marks as values of a type; None if none of them is one."""
    import pyarrow as pa

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
