"""Runs one strip of rows to its fixpoint, with equal rows deduplicated if there are many."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.logic.bounds import Bounds
from lnnkit.rows.dense.dense_answers import answer_rows
from lnnkit.rows.dense.dense_program import DenseProgram, DenseQuery
from lnnkit.rows.dense.dense_rounds import DenseRun, Unsettled
from lnnkit.rows.dense.dense_state import Strip
from lnnkit.rows.dense.distinct_rows import distinct_rows
from lnnkit.store.columns.row_arrays import Array

LENGTH = 2**17
"""Rows of a strip: enough that a call costs less than its work, few enough that what one statement needs fits the
cache. Of ten degrees in a million rows, and of four numbers, 2^15 cost two fifths more and 2^16 an eighth; 2^18 cost a
twentieth less."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A ``run`` at its fixpoint. If there are ``places``, int32 (n,), its rows are combinations, and ``places`` has the
    index of each row's combination. ``begun`` has all rows, with the columns that no statement moves."""

    run: DenseRun
    begun: DenseRun
    places: Array | None = None

    def answers(self, query: DenseQuery) -> Bounds:
        """The bounds of a query, row by row."""
        if self.run.program.is_untouched(query):
            return answer_rows(query, self.begun.strip)
        return Bounds(*map(self.spread, answer_rows(query, self.run.strip)))

    def spread(self, values: Array) -> Array:
        """What the rows of the run have, for all rows."""
        return values if self.places is None else values.take(self.places)


def settled(program: DenseProgram, strip: Strip, *, why: bool = False, consistent: bool = False) -> Settled:
    """The strip at its fixpoint. Raises `Unsettled`.

    If all rows must be ``consistent``, a contradictory combination of bounds forces a run of all rows, since no row may
    have this combination.
    """
    run = DenseRun(program, strip, why=why)
    run.begin()
    distinct = distinct_rows(strip, program.read_later)
    if distinct is not None:
        one = DenseRun(program, distinct.strip, why=why)
        try:
            one.settle()
            if not consistent or one.contradicted is None:
                return Settled(one, run, distinct.places)
        except Unsettled:  # the contradiction may be in a combination that no row has
            pass
    run.settle()
    return Settled(run, run)
