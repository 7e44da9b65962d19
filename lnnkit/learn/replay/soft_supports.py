"""Soft supports: all instances that support a labelled atom, not only the winner; used in training alone.

The lower end of a labelled atom becomes the noisy-or ``1 - prod (1 - v)`` over the bounds ``v`` of its supports, so
that each of them learns. Supports are rules without quantifiers whose consequent is one atom and whose antecedent is an
atom or a conjunction of informative literals; an atom without any keeps its inferred bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.analysis.needs import Literal, Need, Needs
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.instances.assembled import Assembler
from lnnkit.join.instances.grounding import Grounding, leaf_modes
from lnnkit.learn.replay.recorded_inference import Trace
from lnnkit.learn.replay.replay import Replay
from lnnkit.store.atoms import AtomTable

_LEAST = 1e-9  # keeps log(1 - v) finite


@dataclass(frozen=True, slots=True)
class Supports:
    """The supports of atoms: ``events`` (m,) that bound the lower ends of ``rows`` (m,), sorted by row."""

    events: Tensor
    rows: Tensor

    def of(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The events of some distinct atom rows, and the row that each event supports."""
        start, stop = torch.searchsorted(self.rows, rows), torch.searchsorted(self.rows, rows, right=True)
        counts = stop - start
        owner = torch.repeat_interleave(torch.arange(len(rows)), counts)
        first = counts.cumsum(0) - counts
        within = torch.arange(len(owner)) - first[owner]
        return self.events[start[owner] + within], owner


@dataclass(frozen=True, slots=True)
class SoftEnds:
    """Lower ends at ``places`` of the labels' bounds: noisy-ors of the replayed values that ``owner`` assigns to
    each."""

    replay: Replay
    places: Tensor
    owner: Tensor

    def soften(self, ends: Tensor, values: Tensor) -> Tensor:
        """``ends`` with those places replaced by the noisy-or of their supports; ``values`` are those of the replay."""
        # Keeps a gradient for a support that is fully true
        within = values + (values.clamp(0.0, 1 - _LEAST) - values).detach()
        logs = torch.log1p(-within)
        missed = torch.zeros(len(self.places), dtype=ends.dtype).index_add(0, self.owner, logs)
        return ends.index_copy(0, self.places, 1 - missed.exp())


def supports(found: Trace, rows: Tensor) -> Supports:
    """The supports of the atoms ``rows``, which become listed."""
    prepared = found.fixpoint.prepared
    grounding, atoms = prepared.grounding, prepared.grounding.atoms
    events, told = [torch.zeros(0, dtype=torch.int64)], [torch.zeros(0, dtype=torch.int64)]
    distinct = torch.unique(rows).int().numpy()
    for table, mine in atoms.by_table(distinct):
        some = distinct if mine is None else distinct.take(mine)
        some = some[some != table.default_row]
        atoms.ask(table, some)
        for formula, leaf in _telling(grounding, table):
            literals = {Literal(table.name, formula.neurons[leaf].arguments, "listed")}
            for other in formula.leaves:
                neuron = formula.neurons[other]
                if other != leaf:
                    literals.add(Literal(neuron.source, neuron.arguments, "either"))
            needs = Needs((Need(0, frozenset(literals)),), {})
            every = Assembler(formula, needs, atoms, grounding.domain, grounding.guard, {}).every()
            scratch = Grounding(atoms, grounding.domain, grounding.guard)
            scratch.add(formula, prepared.analyses.of(formula), needs, leaf_modes(formula, lambda _name, _side: 0), {})
            scratch.hold(0, every)
            heads = torch.from_numpy(every.rows[leaf]).long()
            events.append(found.replayer.enter(scratch, leaf, 0))
            told.append(heads)
    order = torch.cat(told).argsort(stable=True)
    return Supports(torch.cat(events)[order], torch.cat(told)[order])


def _telling(grounding: Grounding, table: AtomTable) -> Iterator[tuple[Formula, int]]:
    """The formulas with atoms of a table as head, each with the head's leaf."""
    for number, member in enumerate(grounding.members):
        formula = member.formula
        top = formula.neurons[formula.top]
        if grounding.batches[grounding.number(number)].completes or len(formula.blocks) > 1 or top.kind != "implies":
            continue
        antecedent, leaf = formula.neurons[top.operands[0]], top.operands[1]
        operands = antecedent.operands if antecedent.kind == "and" else (top.operands[0],)
        plain = all(formula.neurons[each].kind == LEAF for each in operands)
        if plain and formula.neurons[leaf].kind == LEAF and formula.neurons[leaf].source == table.name:
            yield formula, leaf
