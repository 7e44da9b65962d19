"""Facts of a checked program as columns of ids, with one numbering of entities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.check.program import ENTITY, CheckedProgram, Fact
from lnnkit.data.entities import Entities, intern
from lnnkit.store.canonical_rows import Order, Part, merged
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.layout import Given


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
    found = set(texts)
    for stated in (*program.facts, *program.labels) if found else ():
        found.difference_update(stated.arguments)
    for table in (*program.tables, *program.label_tables) if found else ():
        found = {text for text in found if table.names.find(text) is None}
    return frozenset(found)


class Gathering:
    """Gathers the facts of programs and caches those of the last one: inference that is repeated often has the same
    facts."""

    def __init__(self) -> None:
        self._last: tuple[CheckedProgram, frozenset[str]] | None = None
        self._found: Gathered | None = None

    def facts(self, program: CheckedProgram, mentioned: Iterable[str]) -> Gathered:
        """As ``given_facts``; the result must not be written to."""
        names = frozenset(mentioned)
        last = self._last
        if self._found is None or last is None or last[0] is not program or last[1] != names:
            self._found = None  # Release these before the others are made: both would take much memory.
            self._found = given_facts(program, names)
            self._last = program, names
        return self._found


def given_labels(program: CheckedProgram, mentioned: Iterable[str]) -> list[Given]:
    """As ``given_facts``, for labels, with the same ids."""
    entities, _, labelled = _interned(program, mentioned)
    return _gathered(labelled, entities)


_Parts = dict[str, list[Part]]  # by predicate


def _interned(program: CheckedProgram, mentioned: Iterable[str]) -> tuple[Entities, _Parts, _Parts]:
    """The entities, and the facts and labels of each predicate and number."""
    texts = set(mentioned)
    for stated in (*program.facts, *program.labels):
        texts.update(stated.arguments)
    entities, columns = intern([*program.tables, *program.label_tables], texts)
    found: tuple[_Parts, _Parts] = {}, {}
    for place, (table, ids) in enumerate(zip((*program.tables, *program.label_tables), columns, strict=True)):
        parts = found[place >= len(program.tables)]
        parts.setdefault(table.predicate, []).append((*ids, table.lower, table.upper))
    for parts, statements in zip(found, (program.facts, program.labels), strict=True):
        listed: dict[str, list[Fact]] = {}
        for stated in statements:
            listed.setdefault(stated.predicate, []).append(stated)
        for predicate, own in listed.items():
            parts.setdefault(predicate, []).append(_part(own, entities))
    return entities, *found


def _by_sort(program: CheckedProgram, labelled: _Parts) -> dict[str, list[Array]]:
    found: dict[str, list[Array]] = {}
    for predicate, parts in labelled.items():
        for place, sort in enumerate(program.predicates[predicate].sorts):
            if sort != ENTITY:
                found.setdefault(sort, []).extend(np.array(part[place]) for part in parts)
    return found


def _gathered(parts: _Parts, entities: Entities) -> list[Given]:
    before = Order()
    return [_given(predicate, parts[predicate], len(entities), before) for predicate in sorted(parts)]


def _part(facts: Sequence[Fact], entities: Entities) -> Part:
    ids = {text: entities[text] for text in {text for fact in facts for text in fact.arguments}}
    columns = zip(*([ids[text] for text in fact.arguments] for fact in facts), strict=True)
    return (
        *(np.array(column, np.int32) for column in columns),
        np.array([fact.lower for fact in facts], np.float64),
        np.array([fact.upper for fact in facts], np.float64),
    )


def _given(predicate: str, parts: Sequence[Part], entities: int, before: Order) -> Given:
    *columns, lower, upper = merged(parts, entities, before)
    return Given(predicate, tuple(columns), lower, upper)
