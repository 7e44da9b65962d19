"""Look-up of reference tables for the entities that rows name: from facts or, where statements derive more about an
entity, inferred by the engine once for each entity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from lnnkit.arrays import DOUBLE
from lnnkit.check.program import CheckedProgram, Fact
from lnnkit.data.names import Names
from lnnkit.data.table import FactTable
from lnnkit.logic.bounds import tolerance
from lnnkit.numeric import same
from lnnkit.rows.dense.dense_program import DenseTable
from lnnkit.rows.dense.dense_state import Coded, Column, Numbers, at_default
from lnnkit.rows.dense.row_lookups import AtomColumn, Named, NamedEntity

_KEPT = 1 << 20  # entities whose inferred bounds are cached
_CODES = 256

Infer = Callable[[str, Sequence[str]], tuple[np.ndarray, np.ndarray]]
"""Returns the bounds of a predicate of one argument for some entities."""


@dataclass(frozen=True, slots=True)
class Referents:
    """The entity that each row's fact about a predicate names: ``codes`` (n,) index ``names``, -1 for none."""

    codes: np.ndarray
    names: Names


@dataclass(slots=True)
class _Known:
    """Bounds by key; the last ones are the default."""

    places: dict[tuple[str, ...], int]
    lower: np.ndarray
    upper: np.ndarray
    infer: Callable[[Sequence[str]], tuple[np.ndarray, np.ndarray]] | None = None

    def of(self, keys: Sequence[tuple[str, ...]]) -> np.ndarray:
        """The index of each key's bounds."""
        if self.infer is not None:
            self._learn({key for key in keys if key not in self.places})
        absent = len(self.lower) - 1
        return np.array([self.places.get(key, absent) for key in keys] + [absent], np.int64)

    def _learn(self, keys: Iterable[tuple[str, ...]]) -> None:
        new = sorted(keys)
        if not new:
            return
        assert self.infer is not None
        if len(self.places) + len(new) > _KEPT:
            self.places, self.lower, self.upper = {}, self.lower[-1:], self.upper[-1:]
        lower, upper = self.infer([key[0] for key in new])
        self.places |= {key: place for place, key in enumerate(new, len(self.lower) - 1)}
        self.lower = np.concatenate([self.lower[:-1], lower, self.lower[-1:]])
        self.upper = np.concatenate([self.upper[:-1], upper, self.upper[-1:]])


@dataclass(frozen=True)
class ReferenceTables:
    """The tables that rows look up; bounds of ``derived`` ones are inferred."""

    program: CheckedProgram
    tables: Mapping[str, DenseTable]
    derived: frozenset[str]
    infer: Infer
    _known: dict[str, _Known] = field(default_factory=dict)

    def column(
        self,
        name: str,
        atoms: AtomColumn,
        links: Mapping[str, Referents],
        columns: Mapping[str, Column],
        length: int,
    ) -> Column:
        """The column of some atoms; rows that have none have the default."""
        table = self.tables[name]
        if atoms.of_row:
            return self._row_fact(table, atoms, links, columns[atoms.table])
        codes, keys = _keys(atoms.places, links, length)
        known = self._of(atoms.table, table)
        places = known.of(keys)
        return _gathered(table, np.where(codes < 0, len(keys), codes), known.lower[places], known.upper[places])

    def _row_fact(self, table: DenseTable, atoms: AtomColumn, links: Mapping[str, Referents], column: Column) -> Column:
        """The row's own fact, if it names the entity at the place."""
        referents, place = links[atoms.table], atoms.places[0]
        if isinstance(place, Named):
            other = links[place.predicate]
            known = {text: code for code, text in enumerate(referents.names)}
            theirs = np.array([known.get(text, -2) for text in other.names] + [-2], np.int64).take(other.codes)
        else:
            code = referents.names.find(place)
            theirs = np.int64(-2 if code is None else code)
        here = (referents.codes == theirs) & (referents.codes >= 0)
        if not here.any():
            return at_default(table, len(here))
        low, high = table.default
        return Column(table, np.where(here, column.lower, low), np.where(here, column.upper, high), here)

    def _of(self, name: str, table: DenseTable) -> _Known:
        if name not in self._known:
            lower, upper = (np.array([end]) for end in table.default)
            inferred = _Known({}, lower, upper, partial(self.infer, name))
            self._known[name] = inferred if name in self.derived else _stated(self.program, name, table)
        return self._known[name]


def _keys(
    places: Sequence[NamedEntity], links: Mapping[str, Referents], length: int
) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """The key of each row's atom as an index (n,) into the distinct keys, -1 if one of its entities is missing."""
    named = [links[place.predicate] for place in places if isinstance(place, Named)]
    if not named:
        return np.zeros(length, np.int64), [tuple(str(place) for place in places)]
    if len(named) == 1:
        codes, texts = named[0].codes.astype(np.int64), [(text,) for text in named[0].names]
    else:
        every = np.stack([link.codes for link in named])
        distinct, codes = np.unique(every, axis=1, return_inverse=True)
        codes = np.where((every < 0).any(axis=0), -1, codes.reshape(-1))
        texts = [
            tuple(link.names[code] if code >= 0 else "" for link, code in zip(named, codes, strict=True))
            for codes in distinct.T.tolist()
        ]
    keys: list[tuple[str, ...]] = []
    for entities in texts:
        rest = iter(entities)
        keys.append(tuple(next(rest) if isinstance(place, Named) else place for place in places))
    return codes, keys


def _gathered(table: DenseTable, codes: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> Column:
    """The bounds at the indices of the rows, (k,)."""
    given = np.ones(len(codes), dtype=bool)
    single = lower == upper
    if table.numeric and bool((single | (np.isinf(lower) & np.isinf(upper))).all()):
        values = np.where(single, lower, 1.0).take(codes)
        if bool(single.all()):
            return Column(table, values, values, given)
        return Column.of(table, Numbers(values, (~single).take(codes)), given)
    if not table.numeric and len(lower) <= _CODES:
        return Column.of(table, Coded(codes.astype(np.uint8), lower, upper), given)
    return Column(table, lower.take(codes), upper.take(codes), given)


def _stated(program: CheckedProgram, name: str, table: DenseTable) -> _Known:
    """The bounds of facts, met per atom; contradictory ones are unknown."""
    met = facts_met(name, program.facts, program.tables)
    ends = np.array([*met.values(), table.default], np.float64).reshape(-1, 2)
    lower, upper = ends[:, 0].copy(), ends[:, 1].copy()
    crossed = lower > upper
    if table.numeric:
        crossed &= ~same(lower, upper)
    else:
        crossed = lower > upper + tolerance(DOUBLE)
    lower[crossed], upper[crossed] = (-np.inf, np.inf) if table.numeric else (0.0, 1.0)
    return _Known({key: place for place, key in enumerate(met)}, lower, upper)


def facts_met(
    predicate: str, stated: Iterable[Fact], tables: Iterable[FactTable]
) -> dict[tuple[str, ...], tuple[float, float]]:
    """The bounds that facts give to each atom of a predicate, by its arguments."""
    met: dict[tuple[str, ...], tuple[float, float]] = {}
    facts = [(fact.arguments, fact.lower, fact.upper) for fact in stated if fact.predicate == predicate]
    for table in tables:
        if table.predicate == predicate:
            keys = zip(*table.columns, strict=True)
            facts += zip(keys, table.lower.tolist(), table.upper.tolist(), strict=True)
    for key, lower, upper in facts:
        low, high = met.get(key, (lower, upper))
        met[key] = max(low, lower), min(high, upper)
    return met
