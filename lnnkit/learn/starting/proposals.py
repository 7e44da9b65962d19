"""Where the relation of a comparison, the weights of its units and its constants may start: what examples tell.

The fast mode of learning arithmetic in formulas. Units are tried with whole weights
(`lnnkit.learn.arithmetic.unit_grid`), a constant at the best cut for each of them, a ``<?>`` as each of the six
relations. What tells most of the labels is proposed; inference then judges the proposals
(`lnnkit.learn.starting.choosing`), since only that knows what the rest of the formula makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor

from lnnkit.learn.arithmetic.equations import equation_proposals
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.arithmetic.unit_grid import Grid, grid
from lnnkit.learn.starting.examples import Examples
from lnnkit.learn.starting.label_cells import signs, told_by_cells, told_by_cut, told_by_value
from lnnkit.learn.starting.proposal import Proposal
from lnnkit.numeric.nac import SATURATED
from lnnkit.numeric.nsr import READOUTS, RELATIONS, RelationName

_BEST = 12  # candidates for weights that are proposed
_BEST_RELATED = 3  # the same where each is proposed with six relations
_UNTOLD = 64  # the same where no example tells any from the others
_SOFT = 2.0  # times the readout of a relation
_CHUNK = 500_000  # differences at once

Cut = Literal["order", "value", "none"]


def proposals(
    own: LearnedComparison,
    shown: Sequence[Examples],
    truth: Tensor,
    started: Mapping[str, float],
    generator: torch.Generator,
) -> list[Proposal]:
    """For the parameters of a comparison that are not among those ``started``, the most telling first. ``truth`` has
    what each label says. There are none where nothing tells where a constant may start."""
    unstarted = [name for name in (*own.names, *own.relation) if name not in started]
    weights = grid(own.units, unstarted)
    constants = [name for name in own.constants if name in unstarted]
    relations: tuple[RelationName | None, ...] = RELATIONS if set(own.relation) & set(unstarted) else (None,)
    found: list[Proposal] = []
    for each in shown:
        if own.sign == "=" and (weights.names or constants):
            found += equation_proposals(each, truth, started, weights, constants, generator)
        for cut in _cuts(own, constants, relations) if each.labelled else ():
            found += _Proposing(each, truth[each.labels], started, weights, constants, cut, relations).found(generator)
    if not found and not constants:
        most = _UNTOLD if relations == (None,) else _UNTOLD // len(RELATIONS)
        best, _ = weights.best(lambda candidates: torch.zeros(len(candidates)), most, generator)
        for row in best.tolist():
            found += [
                Proposal(dict(zip(weights.names, row, strict=True)) | _readout(own, name), 0.0) for name in relations
            ]
    return sorted(found, key=lambda each: -round(each.gain, 9))


def _cuts(own: LearnedComparison, constants: Sequence[str], relations: Sequence[RelationName | None]) -> Sequence[Cut]:
    if not constants:
        return ("none",)
    if relations != (None,):
        return ("order", "value")
    return ("value",) if own.sign in ("=", "!=") else ("order",)


def _readout(own: LearnedComparison, name: RelationName | None) -> dict[str, float]:
    """Large enough for truths of 0 and 1, or, where a scale makes them soft, such that they can be learned further."""
    if name is None:
        return {}
    size = SATURATED if own.crisp else _SOFT
    return {key: size * value for key, value in zip(own.relation, READOUTS[name], strict=True)}


class _Proposing:
    """The proposals of one comparison by examples of one predicate, its first unstarted constant at some ``cut``; other
    constants are 0."""

    def __init__(
        self,
        shown: Examples,
        truth: Tensor,
        started: Mapping[str, float],
        weights: Grid,
        constants: Sequence[str],
        cut: Cut,
        relations: Sequence[RelationName | None],
    ) -> None:
        self._shown = shown
        self._truth = truth
        self._fixed = {**dict.fromkeys(constants, 0.0), **started}
        self._weights = weights
        self._constant = constants[0] if constants else None
        self._cut = cut
        self._relations = relations

    def found(self, generator: torch.Generator) -> list[Proposal]:
        most = _BEST if self._relations == (None,) else _BEST_RELATED
        best, gains = self._weights.best(lambda candidates: self._told(candidates)[0], most, generator)
        own, made = self._shown.comparison, []
        for row, gain in zip(best, gains.tolist(), strict=True):
            values, spreads = dict(zip(self._weights.names, row.tolist(), strict=True)), {}
            if self._constant is not None:
                crossings = self._crossings(row[None])[0]
                known = crossings[crossings.isfinite()]
                if not len(known):
                    continue
                values[self._constant] = float(self._told(row[None])[1])
                spreads[self._constant] = float(known.std()) if len(known) > 1 else 1.0
            made += [Proposal(values | _readout(own, name), gain, spreads) for name in self._possible()]
        return made

    def _possible(self) -> Sequence[RelationName | None]:
        """The relations that differ at the cut: halfway between values nothing is equal."""
        if self._relations == (None,) or self._cut == "none":
            return self._relations
        return (">", "<") if self._cut == "order" else ("=", "!=", ">=", "<=", ">", "<")

    def _told(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """What candidates tell, and where the constant is best for each."""
        rows = max(1, len(self._truth))
        parts = [self._told_by(part) for part in candidates.split(max(1, _CHUNK // rows))]
        return torch.cat([gain for gain, _ in parts]), torch.cat([cut for _, cut in parts])

    def _told_by(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        if self._cut == "order":
            return told_by_cut(self._crossings(candidates), self._truth)
        if self._cut == "value":
            return told_by_value(self._crossings(candidates), self._truth)
        cells = signs(self._difference(candidates))
        sign = self._shown.comparison.sign
        if sign != "<?>":  # two cells
            merged = {">": (0, 0, 1), "<=": (0, 0, 1), "<": (0, 1, 1), ">=": (0, 1, 1), "=": (0, 1, 0), "!=": (0, 1, 0)}
            cells = torch.where(cells < 0, -1, torch.tensor(merged[sign])[cells.clamp(min=0)])
        return told_by_cells(cells, self._truth), torch.zeros(len(candidates), dtype=torch.float64)

    def _difference(self, candidates: Tensor, constant: float = 0.0) -> Tensor:
        count = len(candidates)
        values = {
            name: torch.full((count,), value, dtype=torch.float64)
            for name, value in self._fixed.items()
            if name in self._shown.comparison.names
        }
        values |= dict(zip(self._weights.names, candidates.unbind(1), strict=True))
        if self._constant is not None:
            values[self._constant] = torch.full((count,), constant, dtype=torch.float64)
        return self._shown.difference(values)

    def _crossings(self, candidates: Tensor) -> Tensor:
        """The constant at which the difference is 0, where it is linear in it."""
        zero, one, two = (self._difference(candidates, value) for value in (0.0, 1.0, 2.0))
        slope = one - zero
        linear = ((two - one) - slope).abs() <= 1e-9 * (1 + slope.abs() + zero.abs())
        return torch.where(linear & (slope != 0), -zero / slope, torch.nan)
