"""The facts of a checked program as columns of ids, with one numbering of entities, in a canonical order that does not
depend on their source: by ids, then by bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.check.program import ENTITY, CheckedProgram, Fact
from lnnkit.data.names import Entities
from lnnkit.data.table import intern
from lnnkit.store.layout import Given
from lnnkit.store.row_arrays import BITS, Array, alike, in_order, one_value, packed

FactColumns = tuple[np.ndarray, ...]
"""Columns of one length: entity ids (int32), then lower and upper bounds (float64)."""

_BLOCK = 2**16  # keys decoded at a time, a limit of memory; 2 ** 12 to 2 ** 20 differ by noise (inference_constants.py)


class Order:
    """Caches the last columns of ids that were sorted: tables about the same entities often share them."""

    def __init__(self) -> None:
        self._ids: Sequence[np.ndarray] = ()
        self._sorted = _Sorted((), None, np.empty(0, np.int64))

    def of(self, ids: Sequence[np.ndarray], bits: int) -> _Sorted:
        """The columns of ids, each of ``bits`` bits, sorted."""
        if len(ids) != len(self._ids) or not all(map(alike, ids, self._ids)):
            self._ids, self._sorted = ids, _in_order(ids, bits)
        return self._sorted


class _Sorted(NamedTuple):
    """Columns of ``ids`` in ascending order, and the permutation ``order`` of their rows (None: the identity). ``tied``
    are the positions of repeated rows."""

    ids: Sequence[np.ndarray]
    order: np.ndarray | None
    tied: np.ndarray


def merged(parts: Sequence[FactColumns], entities: int, before: Order) -> FactColumns:
    """The rows of all parts, sorted by their columns from the left. Ids are below ``entities``."""
    columns = parts[0] if len(parts) == 1 else tuple(map(np.concatenate, zip(*parts, strict=True)))
    *ids, lower, upper = columns
    if not len(lower):
        return columns
    bits = max(entities - 1, 1).bit_length()
    if not ids or bits * len(ids) > BITS:
        order = np.lexsort((upper, lower, *reversed(ids)))
        return tuple(column.take(order) for column in columns)
    return _by_key(ids, lower, upper, bits, before)


def _by_key(ids: Sequence[np.ndarray], lower: np.ndarray, upper: np.ndarray, bits: int, before: Order) -> FactColumns:
    """The rows, sorted with the ids of a row packed into one integer."""
    if one_value(lower) is not None and one_value(upper) is not None:  # crisp facts: rows with equal ids are equal
        key = packed(ids, [bits] * len(ids))
        if not (key[1:] >= key[:-1]).all():
            key = key.copy() if len(ids) == 1 else key  # packed into an array of its own, or the column itself
            key.sort()
            ids = _unpacked(key, len(ids), bits)
        return (*ids, lower, upper)
    ordered = before.of(ids, bits)
    if ordered.order is not None:
        lower, upper = lower.take(ordered.order), upper.take(ordered.order)
    rows = ordered.tied
    if len(rows):
        if ordered.order is None:
            lower, upper = lower.copy(), upper.copy()
        group = packed([column.take(rows) for column in ordered.ids], [bits] * len(ids))
        resorted = rows.take(np.lexsort((upper.take(rows), lower.take(rows), group)))
        lower[rows], upper[rows] = lower.take(resorted), upper.take(resorted)
    return (*ordered.ids, lower, upper)


def _in_order(ids: Sequence[np.ndarray], bits: int) -> _Sorted:
    key, order = packed(ids, [bits] * len(ids)), None
    if not (key[1:] >= key[:-1]).all():
        order, key = in_order(key, 1 << bits * len(ids))
        ids = _unpacked(key, len(ids), bits)
    same = key[1:] == key[:-1]
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same)) if same.any() else np.empty(0, np.int64)
    return _Sorted(ids, order, tied)


def _unpacked(key: np.ndarray, width: int, bits: int) -> list[np.ndarray]:
    mask = (1 << bits) - 1
    columns = [np.empty(len(key), np.int32) for _ in range(width)]
    for start in range(0, len(key), _BLOCK):
        block = slice(start, start + _BLOCK)
        for place, column in enumerate(columns):
            column[block] = key[block] >> bits * (width - 1 - place) & mask
    return columns


class Gathered(NamedTuple):
    """A program's entities (text to id), the facts of each predicate and number, and the columns of label tables in
    positions of a declared sort."""

    entities: Entities
    given: list[Given]
    labelled: dict[str, list[Array]]


def given_facts(program: CheckedProgram, mentioned: Iterable[str]) -> Gathered:
    """All facts of a program, from its text and its tables. ``mentioned`` are entities that formulas name.

    The result does not depend on the order of rows, statements or files: ids number the sorted names, predicates
    come in the order of their names, and rows are in canonical order, sorted by columns, then by lower and upper
    bounds. A fact may be repeated.
    """
    entities, given, labelled = _interned(program, mentioned)
    return Gathered(entities, _gathered(given, entities), _by_sort(program, labelled))


def unnamed(program: CheckedProgram, texts: Iterable[str]) -> frozenset[str]:
    """The ``texts`` that are not entities of the program's facts, labels or tables."""
    unknown = set(texts)
    for stated in (*program.facts, *program.labels) if unknown else ():
        unknown.difference_update(stated.arguments)
    for table in (*program.tables, *program.label_tables) if unknown else ():
        unknown = {text for text in unknown if table.names.find(text) is None}
    return frozenset(unknown)


class Gathering:
    """Gathers the facts of programs and caches those of the last one: inference that is repeated often has the same
    facts."""

    def __init__(self) -> None:
        self._last: tuple[CheckedProgram, frozenset[str]] | None = None
        self._facts: Gathered | None = None

    def facts(self, program: CheckedProgram, mentioned: Iterable[str]) -> Gathered:
        """As ``given_facts``; the result must not be written to."""
        names = frozenset(mentioned)
        last = self._last
        if self._facts is None or last is None or last[0] is not program or last[1] != names:
            self._facts = None  # Release these before the others are made: both would take much memory.
            self._facts = given_facts(program, names)
            self._last = program, names
        return self._facts


def given_labels(program: CheckedProgram, mentioned: Iterable[str]) -> list[Given]:
    """As ``given_facts``, for labels, with the same ids."""
    entities, _, labelled = _interned(program, mentioned)
    return _gathered(labelled, entities)


_Parts = dict[str, list[FactColumns]]  # by predicate


def _interned(program: CheckedProgram, mentioned: Iterable[str]) -> tuple[Entities, _Parts, _Parts]:
    """The entities, and the facts and labels of each predicate and number."""
    texts = set(mentioned)
    for stated in (*program.facts, *program.labels):
        texts.update(stated.arguments)
    entities, columns = intern([*program.tables, *program.label_tables], texts)
    both: tuple[_Parts, _Parts] = {}, {}
    for place, (table, ids) in enumerate(zip((*program.tables, *program.label_tables), columns, strict=True)):
        parts = both[place >= len(program.tables)]
        parts.setdefault(table.predicate, []).append((*ids, table.lower, table.upper))
    for parts, statements in zip(both, (program.facts, program.labels), strict=True):
        listed: dict[str, list[Fact]] = {}
        for stated in statements:
            listed.setdefault(stated.predicate, []).append(stated)
        for predicate, facts in listed.items():
            parts.setdefault(predicate, []).append(_part(facts, entities))
    return entities, *both


def _by_sort(program: CheckedProgram, labelled: _Parts) -> dict[str, list[Array]]:
    by_sort: dict[str, list[Array]] = {}
    for predicate, parts in labelled.items():
        for place, sort in enumerate(program.predicates[predicate].sorts):
            if sort != ENTITY:
                by_sort.setdefault(sort, []).extend(np.array(part[place]) for part in parts)
    return by_sort


def _gathered(parts: _Parts, entities: Entities) -> list[Given]:
    before = Order()
    return [_given(predicate, parts[predicate], len(entities), before) for predicate in sorted(parts)]


def _part(facts: Sequence[Fact], entities: Entities) -> FactColumns:
    ids = {text: entities[text] for text in {text for fact in facts for text in fact.arguments}}
    columns = zip(*([ids[text] for text in fact.arguments] for fact in facts), strict=True)
    return (
        *(np.array(column, np.int32) for column in columns),
        np.array([fact.lower for fact in facts], np.float64),
        np.array([fact.upper for fact in facts], np.float64),
    )


def _given(predicate: str, parts: Sequence[FactColumns], entities: int, before: Order) -> Given:
    *columns, lower, upper = merged(parts, entities, before)
    return Given(predicate, tuple(columns), lower, upper)
