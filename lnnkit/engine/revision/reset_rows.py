"""Rows that are reset, and the instances that may bound them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np

from lnnkit.engine.bounds_state import distinct
from lnnkit.engine.inference_run import Run
from lnnkit.engine.response.proposing import GroupResponse
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.revision.changed_sorts import within_sorts
from lnnkit.engine.start.first_bounds import begin, initialise, initialise_rows
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.bindings import Bindings
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, spelled_out
from lnnkit.trail.events import Kind

Response = RuleResponse | GroupResponse
RowsOf = Mapping[Relation, Array]


def reset(run: Run, some: RowsOf) -> None:
    """Give rows what facts and defaults give."""
    for table, rows in some.items():
        stated = table.stated(rows)
        for side, ends in enumerate(stated):
            run.state.put(table, side, rows, ends, Kind.RESET)
        table.deviate(rows, *stated)
        run.encoded.refresh(table, rows)


def reinitialise(run: Run, formulas: Iterable[Formula], rows: RowsOf, definitions: Sequence[Formula] = ()) -> None:
    """Give shared neurons, operands first, the bounds that these give them: for some ``rows`` that were reset, or all
    for those whose ``definitions`` depend on the number of entities."""
    kept, demanded = within_sorts(run, rows), {response.rule.formula.auxiliary: response for response in run.demanded}
    numbers = {table: some for table, some in kept.items() if table.numeric}
    for formula in formulas:
        table = run.grounding.atoms.tables[str(formula.auxiliary)]
        if formula in definitions:
            initialise(run, formula)
            run.encoded.renew([table])
        elif formula.compares and table.default == table.unknown:
            response = demanded[formula.auxiliary]
            due = chain(reaching(run, response, (AUXILIARY, *formula.leaves), kept), limited(response, numbers))
            begin(run, [(response, due)])
        elif table in kept and table.name not in run.plan.partly_known:
            initialise_rows(run, formula, kept[table])
            run.encoded.refresh(table, kept[table])


def reaching(run: Run, response: Response, leaves: Iterable[int], some: RowsOf) -> Iterator[Bindings]:
    """The instances of a rule in which a leaf is one of some rows; some may be repeated."""
    member, rule = run.grounding.members[response.member], response.rule
    for leaf in leaves:
        table = member.table_of(leaf)
        if table in some:
            yield from rule.reaching((table.name, rule.formula.arguments(leaf)), some[table])


def limited(response: Response, numbers: RowsOf) -> Iterator[Bindings]:
    """The instances of a rule that joins find by changed numbers; some may be repeated."""
    for table, rows in numbers.items():
        for atom in response.rule.limits:
            yield from response.rule.reaching(atom, rows) if atom[0] == table.name else ()


def bounds_of(rows: RowsOf) -> dict[Relation, Bounds]:
    """A copy of the bounds that rows have now."""
    return {table: Bounds(*(table.take(side, some).copy() for side in (0, 1))) for table, some in rows.items()}


def moved_since(rows: RowsOf, before: RowsOf, bounds: Mapping[Relation, Bounds], *, tighter: bool) -> RowsOf:
    """Those of some ``rows`` that were not among the ``before`` ones, or no longer have the ``bounds`` that these had;
    with ``tighter`` only if an end is tighter than it was."""
    moved = dict(rows)
    for table in rows.keys() & before.keys():
        place = np.minimum(before[table].searchsorted(rows[table]), len(before[table]) - 1)
        old, now = Bounds(*(end.take(place) for end in bounds[table])), table.read(rows[table])
        still = (now.lower <= old.lower) & (now.upper >= old.upper)
        if not tighter:
            still = (now.lower == old.lower) & (now.upper == old.upper)
        moved[table] = rows[table][(before[table].take(place) != rows[table]) | ~still]
    return {table: some for table, some in moved.items() if len(some)}


def written_rows(run: Run, start: int, *, resets: bool = True) -> RowsOf:
    """The rows about which there are events from chunk ``start`` on, with or without ``resets``."""
    rows: dict[Relation, list[Array]] = {}
    for chunk in run.state.trail.chunks(start):
        if resets or chunk.kind != Kind.RESET:
            rows.setdefault(run.grounding.atoms.numbered[chunk.table], []).append(spelled_out(chunk.rows))
    return {table: distinct(parts) for table, parts in rows.items()}


def union(*parts: Mapping[Relation, Array | range]) -> RowsOf:
    """The rows of all parts, by relation."""
    tables = dict.fromkeys(chain.from_iterable(parts))
    return {table: distinct([spelled_out(rows[table]) for rows in parts if table in rows]) for table in tables}
