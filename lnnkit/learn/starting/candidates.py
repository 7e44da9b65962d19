"""Candidate values, from examples, for comparisons whose relation, units or constants have no initial value.

Units with integral weights are tried, each with the best threshold as constant, and a ``<?>`` as each of the six
relations. Those that explain most of the labels come first. Only inference takes the rest of the formula into account,
so `lnnkit.learn.starting.initial_values` makes the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.starting.candidate_search import (
    Candidate,
    WeightGrid,
    grid,
    signs,
    split_by_cells,
    split_by_cut,
    split_by_value,
)
from lnnkit.learn.starting.comparison_examples import ComparisonData, Examples, crossings
from lnnkit.learn.starting.least_squares_fit import equation_proposals
from lnnkit.numeric.units.gated_units import SATURATED
from lnnkit.numeric.units.nsr import READOUTS, RELATIONS, RelationName

_BEST = 12  # candidate weights proposed
_BEST_RELATED = 3  # the same, if each is combined with six relations
_UNTOLD = 64  # the same, if no example distinguishes them
_SOFT = 2.0  # factor of a relation's readout
_CHUNK = 500_000  # differences evaluated at a time

CutKind = Literal["order", "value", "none"]


def proposals(
    comparison: LearnedComparison,
    shown: Sequence[Examples],
    truth: Tensor,
    started: Mapping[str, float],
    generator: torch.Generator,
) -> list[Candidate]:
    """Candidates for the parameters not in ``started``, the most informative first, by the ``truth`` of each label."""
    unstarted = [name for name in (*comparison.names, *comparison.relation) if name not in started]
    weights = grid(comparison.units, unstarted)
    constants = [name for name in comparison.constants if name in unstarted]
    relations: tuple[RelationName | None, ...] = RELATIONS if set(comparison.relation) & set(unstarted) else (None,)
    proposed: list[Candidate] = []
    for examples in shown:
        if comparison.sign == "=" and (weights.names or constants):
            proposed += equation_proposals(examples, truth, started, weights, constants, generator)
        for cut in _cuts(comparison, constants, relations) if examples.labelled else ():
            proposer = _CandidateProposer(examples, truth[examples.labels], started, weights, constants, cut, relations)
            proposed += proposer.candidates(generator)
    if not proposed and not constants:
        best, _ = weights.best(lambda candidates: torch.zeros(len(candidates)), _UNTOLD // len(relations), generator)
        rows = [dict(zip(weights.names, row, strict=True)) for row in best.tolist()]
        proposed = [Candidate(row | _readout(comparison, name), 0.0) for row in rows for name in relations]
    return sorted(proposed, key=lambda candidate: -round(candidate.gain, 9))


def _cuts(
    comparison: LearnedComparison, constants: Sequence[str], relations: Sequence[RelationName | None]
) -> Sequence[CutKind]:
    several: Sequence[CutKind] = ("order", "value") if relations != (None,) else ()
    return several or (("value",) if comparison.sign in ("=", "!=") else ("order",)) if constants else ("none",)


def _readout(comparison: LearnedComparison, name: RelationName | None) -> dict[str, float]:
    """Values of a readout: large for truths of 0 and 1 or, if a scale softens them, small, to stay learnable."""
    if name is None:
        return {}
    size = SATURATED if comparison.crisp else _SOFT
    return {key: size * value for key, value in zip(comparison.relation, READOUTS[name], strict=True)}


@dataclass(frozen=True, slots=True)
class _CandidateProposer:
    """Makes candidates from the examples of one predicate: the first constant at the ``cut``, others at 0."""

    shown: Examples
    truth: Tensor
    started: Mapping[str, float]
    weights: WeightGrid
    constants: Sequence[str]
    cut: CutKind
    relations: Sequence[RelationName | None]

    def candidates(self, generator: torch.Generator) -> list[Candidate]:
        most = _BEST if self.relations == (None,) else _BEST_RELATED
        best, gains = self.weights.best(lambda candidates: self._split(candidates)[0], most, generator)
        possible = self.relations
        if possible != (None,) and self.cut != "none":  # those that differ at the cut; between two values none is equal
            possible = (">", "<") if self.cut == "order" else ("=", "!=", ">=", "<=", ">", "<")
        comparison, made = self.shown.comparison, []
        for row, gain in zip(best, gains.tolist(), strict=True):
            values, spreads = dict(zip(self.weights.names, row.tolist(), strict=True)), {}
            for constant in self.constants[:1]:
                crossings = self._crossings(row[None])[0]
                known = crossings[crossings.isfinite()]
                if len(known):
                    values[constant] = float(self._split(row[None])[1])
                    spreads[constant] = float(known.std()) if len(known) > 1 else 1.0
            if len(spreads) == len(self.constants[:1]):
                made += [Candidate(values | _readout(comparison, name), gain, spreads) for name in possible]
        return made

    def _split(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """The score of candidates, and the best constant of each."""
        rows = max(1, len(self.truth))
        parts = [self._split_by(part) for part in candidates.split(max(1, _CHUNK // rows))]
        return torch.cat([gain for gain, _ in parts]), torch.cat([cut for _, cut in parts])

    def _split_by(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        if self.cut == "order":
            return split_by_cut(self._crossings(candidates), self.truth)
        if self.cut == "value":
            return split_by_value(self._crossings(candidates), self.truth)
        cells = signs(self._difference(candidates))
        sign = self.shown.comparison.sign
        if sign != "<?>":  # two cells
            merged = {">": (0, 0, 1), "<=": (0, 0, 1), "<": (0, 1, 1), ">=": (0, 1, 1), "=": (0, 1, 0), "!=": (0, 1, 0)}
            cells = torch.where(cells < 0, -1, torch.tensor(merged[sign])[cells.clamp(min=0)])
        return split_by_cells(cells, self.truth), torch.zeros(len(candidates), dtype=torch.float64)

    def _difference(self, candidates: Tensor, constant: float = 0.0) -> Tensor:
        fixed = {**dict.fromkeys(self.constants, 0.0), **self.started, **dict.fromkeys(self.constants[:1], constant)}
        values = {name: torch.full((len(candidates),), value, dtype=torch.float64) for name, value in fixed.items()}
        return self.shown.difference(values | dict(zip(self.weights.names, candidates.unbind(1), strict=True)))

    def _crossings(self, candidates: Tensor) -> Tensor:
        return crossings(partial(self._difference, candidates))[0]


@dataclass(frozen=True, slots=True)
class ComparisonCandidates:
    """A comparison, its examples, and its candidates."""

    comparison: LearnedComparison
    shown: Sequence[Examples]
    proposals: Sequence[Candidate] = ()


def offers(data: ComparisonData, started: Mapping[str, float], seed: int) -> list[ComparisonCandidates]:
    """The candidates for each comparison with parameters that are not ``started``, the most informative first; later
    ones by what is left of the labels."""
    waiting = [
        ComparisonCandidates(comparison, data.examples(node, comparison))
        for node, comparison in data.learned()
        if not started.keys() >= {*comparison.names, *comparison.relation}
    ]
    rest, known, chosen = data.labels.truth, dict(started), list[ComparisonCandidates]()
    while waiting:
        generator = torch.Generator().manual_seed(seed)
        waiting = [replace(offer, proposals=_proposed(offer, rest, known, generator)) for offer in waiting]
        offer = max(waiting, key=lambda offer: offer.proposals[0].gain if offer.proposals else -1.0)
        waiting = [other for other in waiting if other is not offer]
        if offer.proposals:
            chosen.append(offer)
            known |= offer.proposals[0].values
            rest = _less(offer, known, rest)
    return chosen


def _proposed(
    offer: ComparisonCandidates, truth: Tensor, started: Mapping[str, float], generator: torch.Generator
) -> list[Candidate]:
    """The candidates for one comparison. For an unknown relation, or an equation, given starts are tried and others."""
    comparison = offer.comparison
    candidates = proposals(comparison, offer.shown, truth, started, generator)
    elsewhere = {name: value for name, value in started.items() if name not in comparison.constants}
    settled = set(comparison.relation) <= started.keys() and comparison.sign != "="
    if settled or len(elsewhere) == len(started):
        return candidates
    candidates += proposals(comparison, offer.shown, truth, elsewhere, generator)
    return sorted(candidates, key=lambda candidate: -round(candidate.gain, 9))


def _less(offer: ComparisonCandidates, known: Mapping[str, float], rest: Tensor) -> Tensor:
    """The labels' truth minus what a comparison with these values explains."""
    rest = rest.clone()
    for shown in offer.shown:
        if not offer.comparison.names or not shown.labelled:
            continue
        values = {name: torch.tensor([known.get(name, 0.0)], dtype=torch.float64) for name in offer.comparison.names}
        cells = signs(shown.difference(values))[0]
        for cell in torch.unique(cells).tolist():
            mine = shown.labels[cells == cell]
            rest[mine] -= rest[mine].mean()
    return rest
