"""Closed derived predicates, completed stratum by stratum: what no rule can make true is false.

The lower ends are the least fixpoint of the rules read at their inputs' lower ends, the upper ends that of the upper
ends. With crisp closed inputs this is negation as failure. Where the rounds creep, lower ends that stop early are
sound, but upper ends rise from below: those that have not come to rest become 1, until all rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.ground.batch import Batch
from lnnkit.ground.evaluate import least_heads, upward
from lnnkit.infer.creeping import Creep, Leaps, Pace
from lnnkit.infer.derivations import Derivations
from lnnkit.infer.dirty import Dirty
from lnnkit.infer.prepare import Prepared
from lnnkit.infer.state import NOISE, Messages, distinct
from lnnkit.infer.sweep import View, moved, reader

_WIDENINGS = 20  # so often only what still moves becomes 1, then all that the rounds have raised;
_SETTLING = 100  # after so many rounds each


@dataclass(frozen=True, slots=True)
class Completed:
    """The rows whose bounds ``changed``, and the members whose instances were ``creeping``."""

    changed: Tensor
    creeping: set[int]


def complete(prepared: Prepared, derivations: Derivations, leaps: Leaps, *, first: bool) -> Completed:
    """Complete every stratum, dependencies first."""
    state = prepared.state
    moved_rows: list[Tensor] = []
    creeping: set[int] = set()
    for predicates, members in prepared.strata:
        before = _completed(prepared, predicates)
        old = state.read(before)
        state.lower.values[before] = 0.0
        state.upper.values[before] = 0.0
        creeping |= _least_fixpoint(prepared, members, derivations, leaps)
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
    return Completed(torch.cat(moved_rows) if moved_rows else torch.empty(0, dtype=torch.int64), creeping)


def _completed(prepared: Prepared, predicates: frozenset[str]) -> Tensor:
    """The rows of a stratum's atoms that no fact lists and no contradiction has arrested."""
    atoms = prepared.grounding.atoms
    prepared.state.extend(atoms)
    rows = torch.cat([atoms.tables[name].rows.values for name in sorted(predicates)])
    fixed = atoms.flags["given"].values | prepared.state.frozen.values
    return rows[~fixed.index_select(0, rows)]


def _least_fixpoint(prepared: Prepared, members: Sequence[int], derivations: Derivations, leaps: Leaps) -> set[int]:
    """Rounds to the least fixpoint, or until they creep: then upper ends are raised until those rest. Returns the
    members that crept."""
    grounding, state = prepared.grounding, prepared.state
    batches = grounding.batches_of(members)
    for number in batches:
        grounding.batches[number].swept = 0
        grounding.batches[number].touched = True
    dirty, pace = Dirty(), Pace()
    creep = Creep(grounding, state, derivations, batches, completes=True)
    creeping: set[int] = set()
    widened, since = 0, 0
    while True:
        known = len(grounding.atoms)
        grounding.extend(members)
        state.extend(grounding.atoms)
        dirty.extend(len(grounding.atoms))
        lower: list[Messages] = []
        upper: list[Messages] = []
        for number in batches:
            view = moved(grounding.batches[number], dirty)
            if view is not None:
                _raise_heads(number, view, prepared, lower, upper)
        if widened:
            lower = []
        gain = 0.0
        for queue, end in ((lower, state.lower), (upper, state.upper)):
            for message in queue:
                gain = max(gain, float((message.value - end.values.index_select(0, message.row)).max()))
                end.values.scatter_reduce_(0, message.row, message.value, "amax")
        derivations.record(state, lower, upper)
        raised = [distinct([m.row for m in queue], len(grounding.atoms)) for queue in (lower, upper)]
        changed = distinct(raised, len(grounding.atoms))
        if not len(changed):
            leaps.rested()
            return creeping
        pace.note(gain, steady=known == len(grounding.atoms))
        if pace.due and not widened:
            ahead = creep.leap(leaps, raised[0], raised[1])
            pace.tried(leapt=ahead is not None)
            changed = changed if ahead is None else distinct([changed, *ahead], len(grounding.atoms))
        since += 1
        if since >= _SETTLING if widened else pace.creeps:
            creeping |= creep.members(raised[0], raised[1])
            widened += 1
            since = 0
            rising = raised[1]
            if widened > _WIDENINGS:
                own = torch.cat([head for number in batches for head in _heads(grounding.batches[number])]).unique()
                rising = own[(state.upper.values.index_select(0, own) > 0) & _hears(prepared, own)]
            state.upper.values[rising] = 1.0
            changed = distinct([changed, rising], len(grounding.atoms))
        grounding.atoms.deviate(changed, *state.read(changed))
        dirty.mark(changed, changed)


def _heads(batch: Batch) -> list[Tensor]:
    """The rows of all heads."""
    return [batch.blocks[0].columns[head].values for head in batch.formula.heads]


def _hears(prepared: Prepared, rows: Tensor) -> Tensor:
    """Which rows are completed: neither given by a fact nor arrested."""
    atoms, state = prepared.grounding.atoms, prepared.state
    return ~(state.frozen.values.index_select(0, rows) | atoms.flags["given"].values.index_select(0, rows))


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
