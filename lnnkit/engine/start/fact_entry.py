"""Enters facts into the state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import Atoms
from lnnkit.store.columns.row_arrays import Array, alike, spelled_out
from lnnkit.store.layout import Given


def enter_facts(atoms: Atoms, state: State, given: Sequence[Given]) -> None:
    """Materialise the facts: facts about one atom meet; where they cross, the atom is arrested from the start."""
    state.extend(atoms)
    tuples = DistinctTuples(())
    for facts in given:
        if len(facts):
            columns = list(facts.columns)
            tuples = tuples.or_of(columns)
            columns, bounds = tuples.met(facts, state.dtype)
            rows = atoms.load(atoms.tables[facts.predicate], columns, *bounds)
            state.load(atoms, bounds)
            if (bounds.lower > bounds.upper).any():
                atoms.enlist(state.arrest(spelled_out(rows), bounds))


class DistinctTuples:
    """The tuples of facts, equal ones next to each other. Many tables may have the same tuples."""

    def __init__(self, columns: Sequence[Array]) -> None:
        self.columns = columns
        self._first: Array | None = None  # first occurrences; None if all are distinct
        self._new = np.empty(0, dtype=bool)  # flags of first occurrences
        if columns:
            new = np.ones(len(columns[0]), dtype=bool)
            rest = new[1:]
            np.not_equal(columns[0][1:], columns[0][:-1], out=rest)
            for column in columns[1:]:
                rest |= column[1:] != column[:-1]
            if not new.all():
                self._first, self._new = np.flatnonzero(new), new

    def or_of(self, columns: Sequence[Array]) -> DistinctTuples:
        """These, if the tuples of the columns are the same."""
        same = len(columns) == len(self.columns) and all(map(alike, columns, self.columns))
        return self if same else DistinctTuples(columns)

    def met(self, facts: Given, dtype: np.dtype) -> tuple[Sequence[Array], Bounds]:
        """Distinct tuples, each with the meet of its facts."""
        lower, upper = (end.astype(dtype, copy=False) for end in (facts.lower, facts.upper))
        if not self.columns:
            return self.columns, Bounds(lower.max(keepdims=True), upper.min(keepdims=True))
        first = self._first
        if first is None:
            return self.columns, Bounds(lower, upper)
        columns = [column.take(first) for column in self.columns]
        if lower.strides == upper.strides == (0,):  # all facts are equal
            return columns, Bounds(lower[: len(first)], upper[: len(first)])
        group = self._new.cumsum(0) - 1  # the number of each distinct tuple
        least, most = lower.take(first), upper.take(first)
        np.maximum.at(least, group, lower)
        np.minimum.at(most, group, upper)
        return columns, Bounds(least, most)
