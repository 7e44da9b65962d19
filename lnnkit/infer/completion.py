"""Closed derived predicates, completed stratum by stratum: what no rule can make true is false.

The lower ends are the least fixpoint of the rules read at their inputs' lower ends, the upper ends that of the upper
ends. With crisp closed inputs this is negation as failure.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.evaluate import least_heads, upward
from lnnkit.infer.derivations import Derivations
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.prepare import Prepared, completed
from lnnkit.infer.rounds import Status
from lnnkit.infer.state import Messages, distinct
from lnnkit.infer.sweep import View, moved, reader
from lnnkit.infer.unfinished import Unfinished, open_up, restore
from lnnkit.infer.watch import Watch, goes_on

ROUNDS = 10_000


def complete(prepared: Prepared, derivations: Derivations, *, first: bool, watch: Watch | None = None) -> Tensor:
    """Complete every stratum, dependencies first. Returns the rows whose bounds changed. Raises `Unfinished` where it
    was stopped; what it leaves then holds."""
    state = prepared.state
    moved_rows: list[Tensor] = []
    for position, (predicates, members) in enumerate(prepared.strata):
        before = completed(prepared, predicates)
        old = state.read(before)
        state.lower.values[before] = 0.0
        state.upper.values[before] = 0.0
        stopped = _least_fixpoint(prepared, members, derivations, watch)
        if stopped is not None:
            if first:
                open_up(prepared, (name for names, _ in prepared.strata[position:] for name in names))
            else:
                restore(prepared, predicates, before, old)
            raise Unfinished(stopped)
        rows = completed(prepared, predicates)
        if first:
            changed = rows
        else:
            *_, crossed = state.meet([(before, old.lower)], [(before, old.upper)])
            prepared.grounding.atoms.enlist(crossed)
            low, high = state.read(before)
            changed = before[((low - old.lower).abs() > state.noise) | ((high - old.upper).abs() > state.noise)]
        prepared.grounding.atoms.deviate(rows, *state.read(rows))
        moved_rows.append(changed)
    return torch.cat(moved_rows) if moved_rows else torch.empty(0, dtype=torch.int64)


def _least_fixpoint(
    prepared: Prepared, members: Sequence[int], derivations: Derivations, watch: Watch | None
) -> Status | None:
    """The status with which it was stopped, if it was."""
    grounding, state = prepared.grounding, prepared.state
    batches = grounding.batches_of(members)
    for number in batches:
        grounding.batches[number].swept = 0
        grounding.batches[number].touched = True
    dirty = Dirty()
    for rounds in range(ROUNDS):
        grounding.extend(members)
        state.extend(grounding.atoms)
        dirty.extend(len(grounding.atoms))
        lower: list[Messages] = []
        upper: list[Messages] = []
        for number in batches:
            view = moved(grounding.batches[number], dirty)
            if view is not None:
                _raise_heads(number, view, prepared, lower, upper)
        for queue, end in ((lower, state.lower), (upper, state.upper)):
            for message in queue:
                end.values.scatter_reduce_(0, message.row, message.value, "amax")
        derivations.record(state, lower, upper)
        changed = distinct([m.row for m in (*lower, *upper)], len(grounding.atoms))
        if not len(changed):
            return None
        grounding.atoms.deviate(changed, *state.read(changed))
        dirty.mark(changed, changed)
        if not goes_on(watch, grounding, "completion", rounds + 1):
            return Status.INTERRUPTED
    return Status.ROUND_LIMIT


def _raise_heads(number: int, view: View, prepared: Prepared, lower: list[Messages], upper: list[Messages]) -> None:
    """What the antecedents' two ends ask of the heads."""
    atoms, state = prepared.grounding.atoms, prepared.state
    formula = view.batch.formula
    values = upward(formula, reader(view, state, atoms), view.groupings)
    antecedent = values[formula.neurons[formula.top].operands[0]]
    for ends, queue, own, impossible in (
        (antecedent.lower, lower, state.lower, 0.0),
        (antecedent.upper, upper, state.upper, 1.0),
    ):
        for head, value in least_heads(formula, ends, values, impossible).items():
            rows = view.column(head)
            deaf = state.frozen.values.index_select(0, rows) | atoms.flags["given"].values.index_select(0, rows)
            news = (value > own.values.index_select(0, rows) + state.noise) & ~deaf
            picked = news.nonzero().squeeze(1)
            if len(picked):
                instance = picked if view.rows[0] is None else view.rows[0].index_select(0, picked)
                queue.append(
                    Messages(rows.index_select(0, picked), value.index_select(0, picked), instance, number, head)
                )
