"""Answers a program's queries about the entities of one sort strip by strip.

If each statement is about one entity, entities are independent: a strip of them has the bounds that it has among all,
and only its own are in memory. Contradictory programs, and those that do not converge, are inferred whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lnnkit.answers.query_rows import Rows, answer
from lnnkit.engine.inference import infer
from lnnkit.engine.planning.compiling import Plans
from lnnkit.engine.termination import RoundReport, Watch
from lnnkit.formula.unfolding import unfold
from lnnkit.join.instances.grounding import Guard
from lnnkit.rows.strip_engine import LENGTH, EntityNumbers
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.layout import Given, asked_constants, constants, domain
from lnnkit.store.stated_facts import Gathered


@dataclass(frozen=True, slots=True)
class StripFixpoint:
    """The ``answers`` to the program's queries, in order: one row for each entity, ascending. If the ``watch`` stopped
    it, it is ``interrupted``: the remaining entities have the bounds of their facts."""

    answers: Sequence[Rows]
    rounds: int
    interrupted: bool


def strip_fixpoint(
    plans: Plans, gathered: Gathered, guard: Guard, round_limit: int, watch: Watch | None
) -> StripFixpoint | None:
    """The fixpoint of a program whose facts are ``gathered``. None if it must be inferred whole: for statements that
    link entities, contradictions, no convergence, or closed predicates whose completion the ``watch`` stopped. Raises
    `TooLarge`."""
    sort = _sort_of_all(plans, gathered)
    if sort is None:
        return None
    entities, given, _ = gathered
    answers: list[list[Rows]] = []
    rounds, instances, interrupted = 0, 0, False
    for start in range(0, len(entities), LENGTH):
        stop = min(start + LENGTH, len(entities))
        run = infer(
            plans,
            EntityNumbers({}, stop - start),
            _strip(given, start, stop),
            guard=guard,
            round_limit=0 if interrupted else round_limit,
            record=False,
            labelled={sort: [np.arange(stop - start, dtype=np.int32)]},
        )
        if not interrupted:
            if not run.consistent:
                return None
            rounds, instances = max(rounds, run.progress.rounds), instances + run.progress.instances
            if watch is not None:
                report = RoundReport("inference", rounds, len(run.grounding.atoms), instances)
                interrupted = not watch.after_round(report)
                if interrupted and run.strata:  # before completion a closed atom is unknown, not false
                    return None
        strip = [answer(run, None, plans.lifted, root, guard=guard) for root in plans.lifted.queries]
        shifted = (tuple(column + np.int32(start) for column in rows.columns) for rows in strip)
        answers.append([replace(rows, columns=columns) for rows, columns in zip(strip, shifted, strict=True)])
    return StripFixpoint([_joined(parts) for parts in zip(*answers, strict=True)], rounds, interrupted)


def _sort_of_all(plans: Plans, gathered: Gathered) -> str | None:
    """The sort of all entities, if each statement, query and fact is about one of them."""
    lifted = plans.lifted
    if any(constants(lifted).values()) or asked_constants(lifted, lifted.queries):
        return None
    outline = plans.outline(domain(lifted, *gathered))
    formulas = [reading.formula for reading in outline.readings] + [unfold(lifted, root) for root in lifted.queries]
    if any(len(formula.blocks) > 1 for formula in formulas):  # a quantifier is about all entities
        return None
    sorts = [formula.sorts for formula in formulas]
    sorts += [outline.schemas[facts.predicate].sorts for facts in gathered.given]
    return sorts[0][0] if sorts and all(len(one) == 1 and one == sorts[0] for one in sorts) else None


def _strip(given: Sequence[Given], start: int, stop: int) -> list[Given]:
    """The facts about the entities from ``start`` to ``stop``, numbered from 0 on. Tables that share a column of ids
    still do."""
    columns: dict[tuple[int, int, int], Array] = {}
    parts: list[Given] = []
    for facts in given:
        (ids,) = facts.columns
        first, last = ids.searchsorted(np.array([start, stop], ids.dtype)).tolist()  # others would convert all ids
        place, rows = (ids.ctypes.data, first, last), slice(first, last)
        if place not in columns:
            columns[place] = ids[rows] - np.int32(start)
        parts.append(Given(facts.predicate, (columns[place],), facts.lower[rows], facts.upper[rows]))
    return parts


def _joined(parts: Sequence[Rows]) -> Rows:
    """The answers of consecutive strips."""
    columns = tuple(np.concatenate(column) for column in zip(*(part.columns for part in parts), strict=True))
    ends = (np.concatenate([getattr(part, name) for part in parts]) for name in ("lower", "upper", "contested"))
    return Rows(parts[0].variables, columns, *ends)
