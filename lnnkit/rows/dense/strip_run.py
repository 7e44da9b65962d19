"""One strip of rows on its way to the fixpoint: rows that nothing tells apart are decided once, if they are many."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from lnnkit.rows.dense.dense_program import DenseProgram, DenseQuery
from lnnkit.rows.dense.dense_rounds import DenseRun, Unsettled
from lnnkit.rows.dense.dense_state import Strip
from lnnkit.rows.dense.distinct_rows import distinct_rows

LENGTH = 2**16
"""Rows of a strip, what one statement needs of which fits the cache. Of ten degrees in a million rows, 2^14 cost two
fifths more, 2^15 a tenth; 2^17 cost up to a third more."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A ``run`` at rest. If there are ``places``, int32 (n,), its rows are combinations, and that of each row of the
    strip is at its place. ``begun`` has all rows, and what no statement moves."""

    run: DenseRun
    begun: DenseRun
    places: Tensor | None = None

    def of(self, query: DenseQuery) -> tuple[DenseRun, Tensor | None]:
        """The run in which a query is answered, and the places of rows there, if not their own."""
        return (self.begun, None) if self.run.program.is_untouched(query) else (self.run, self.places)


def settled(program: DenseProgram, strip: Strip, *, why: bool = False, consistent: bool = False) -> Settled:
    """The strip at its fixpoint. Combinations of which one contradicts itself will not do if all rows are to be
    ``consistent``: it may be one that no row has. Raises `Unsettled`."""
    run = DenseRun(program, strip, why=why)
    run.begin()
    distinct = distinct_rows(strip, program.read_later)
    if distinct is not None:
        one = DenseRun(program, distinct.strip, why=why)
        try:
            one.settle()
            if not (consistent and one.contradicts):
                return Settled(one, run, distinct.places)
        except Unsettled:  # it may be of a combination that no row has
            pass
    run.settle()
    return Settled(run, run)
