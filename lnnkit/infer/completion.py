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
from lnnkit.infer.prepare import Prepared
from lnnkit.infer.state import NOISE, Messages, distinct
from lnnkit.infer.sweep import View, moved, reader

ROUNDS = 10_000


def complete(prepared: Prepared, derivations: Derivations, *, first: bool) -> Tensor:
    """Complete every stratum, dependencies first. Returns the rows whose bounds changed."""
    state = prepared.state
    moved_rows: list[Tensor] = []
    for predicates, members in prepared.strata:
        before = _completed(prepared, predicates)
        old = state.read(before)
        state.lower.values[before] = 0.0
        state.upper.values[before] = 0.0
        _least_fixpoint(prepared, members, derivations)
        rows = _completed(prepared, predicates)
        if first:
            changed = rows
        else:
            *_, crossed = state.meet([(before, old.lower)], [(before, old.upper)])
            prepared.grounding.atoms.enlist(crossed)
            low, high = state.read(before)
            changed = before[((low - old.lower).abs() > NOISE) | ((high - old.upper).abs() > NOISE)]
        prepared.grounding.atoms.deviate(rows, *state.read(rows))
        moved_rows.append(changed)
    return torch.cat(moved_rows) if moved_rows else torch.empty(0, dtype=torch.int64)


def _completed(prepared: Prepared, predicates: frozenset[str]) -> Tensor:
    """The rows of a stratum's atoms that no fact lists and no contradiction has arrested."""
    atoms = prepared.grounding.atoms
    prepared.state.extend(atoms)
    rows = torch.cat([atoms.tables[name].rows.values for name in sorted(predicates)])
    fixed = atoms.flags["given"].values | prepared.state.frozen.values
    return rows[~fixed.index_select(0, rows)]


def _least_fixpoint(prepared: Prepared, members: Sequence[int], derivations: Derivations) -> None:
    grounding, state = prepared.grounding, prepared.state
    batches = grounding.batches_of(members)
    for number in batches:
        grounding.batches[number].swept = 0
        grounding.batches[number].touched = True
    dirty = Dirty()
    for _ in range(ROUNDS):
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
            return
        grounding.atoms.deviate(changed, *state.read(changed))
        dirty.mark(changed, changed)


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
            news = (value > own.values.index_select(0, rows) + NOISE) & ~deaf
            picked = news.nonzero().squeeze(1)
            if len(picked):
                instance = picked if view.rows[0] is None else view.rows[0].index_select(0, picked)
                queue.append(
                    Messages(rows.index_select(0, picked), value.index_select(0, picked), instance, number, head)
                )
