"""Candidates, from examples, for what the program leaves open in comparisons: thresholds, relations, weights of units
and other constants.

A comparison that is linear in its threshold changes its truth where this passes a known value of each row. The
candidates are the midpoints between these values (for an equality, the values); the best one splits the labels best, as
in a regression tree, among those on whose true side the rules demand it. Without labels it is the median.

Other candidates are units with integral weights, each with the best threshold as constant, and a ``<?>`` as each of the
six relations. Those that explain most of the labels come first. Only inference takes the rest of the formula into
account, so `lnnkit.learn.fitting.chosen_values` makes the choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor

from lnnkit.arrays import Array, all_set, any_set
from lnnkit.learn.comparisons.comparison_examples import ComparisonData, Examples
from lnnkit.learn.comparisons.learned_comparisons import LearnedComparison
from lnnkit.learn.comparisons.least_squares import Candidate, WeightGrid, equation_proposals, grid
from lnnkit.numeric import same
from lnnkit.numeric.units.gated_units import SATURATED
from lnnkit.numeric.units.nsr import READOUTS, RELATIONS, RelationName


@dataclass(frozen=True, slots=True)
class ThresholdRows:
    """The values with which a constant is compared, by their ``spread``. For each row of the data, ``turns`` (n,) is
    the constant at which the comparison changes, and ``columns`` (n,) are its entities; both are absent if its numbers
    contain a learned unit."""

    spread: float
    turns: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.float64))
    columns: tuple[Array, ...] = ()


def thresholds(data: ComparisonData, started: Set[str]) -> dict[str, ThresholdRows]:
    """The rows of each constant in a comparison whose relation and units are ``started``."""
    found: dict[str, ThresholdRows] = {}
    for node, comparison in data.learned():
        rows = data.known_rows(node) if comparison.constants and comparison.started(started) else None
        if rows is None:
            continue
        for name in comparison.constants:
            middles = tuple((low + high) / 2 for low, high in rows[1])
            shown = Examples(comparison, middles, torch.full((len(rows[0][0]),), -1))
            values = {key: torch.tensor([data.values[key]], dtype=torch.float64) for key in comparison.names}
            turns = shown.turns(values, name)[0][0]
            known = turns.isfinite()
            if name not in found and any_set(known):
                found[name] = ThresholdRows(
                    _spread(turns), turns[known], tuple(column[known.numpy()] for column in rows[0])
                )
    return found


def _spread(turns: Tensor) -> float:
    known = turns[turns.isfinite()]
    return float(known.std()) if len(known) > 1 else 1.0


def split_by_cut(turns: Tensor, truth: Tensor, rising: Tensor, direction: int) -> tuple[Tensor, Tensor]:
    """For each row of ``turns`` ``[candidates, rows]``, the values at which a comparison's truth changes (NaN: never),
    the score of the best split on ``truth``, and its threshold; as the threshold rises, the comparison becomes true
    where ``rising``. With a ``direction``, the truth must not be less (1), or more (-1), where the comparison holds."""
    known = turns.isfinite()
    ordered, order = torch.where(known, turns, torch.inf).sort(1)
    inside, truths = ordered.isfinite().double(), torch.where(known, truth, 0.0).gather(1, order)
    # The comparison in the first row, or its negation, so that it becomes true there
    sense = torch.where(rising[:, :1], direction, -direction)
    rising = rising == rising[:, :1]
    rising = rising if all_set(rising) else rising.gather(1, order)
    # Where it holds, at a threshold after each row
    count, total = (_held(of, rising) for of in (inside, truths))
    rest, left = inside.sum(1, keepdim=True) - count, truths.sum(1, keepdim=True) - total
    mean, other = total / count.clamp(min=1.0), left / rest.clamp(min=1.0)
    whole = (total + left).square() / (count + rest).clamp(min=1.0)
    gains = (total * mean + left * other - whole)[:, :-1]
    here, following = ordered[:, :-1], ordered[:, 1:]
    wrong = (sense * (mean - other) < 0)[:, :-1]
    gains = torch.where(following.isfinite() & ~same(here, following) & ~wrong, gains, -torch.inf)
    if not gains.shape[1]:
        return torch.zeros(len(turns), dtype=torch.float64), ordered[:, 0]
    gain, place = gains.max(1)
    cut = ((here + following) / 2).gather(1, place[:, None]).squeeze(1)
    none = gain == -torch.inf
    return torch.where(none, 0.0, gain), torch.where(none, here[:, 0], cut)


def _held(values: Tensor, rising: Tensor) -> Tensor:
    """The sums of ``values`` in the rows up to each one that are ``rising``, and in those after it that are not."""
    if all_set(rising):
        return values.cumsum(1)
    signed = torch.where(rising, values, -values)
    return torch.where(rising, 0.0, values).sum(1, keepdim=True) + signed.cumsum(1)


def split_by_value(turns: Tensor, truth: Tensor, direction: int) -> tuple[Tensor, Tensor]:
    """As `split_by_cut`, for splits into one value and all others; of equals, one with truths in the ``direction``."""
    gains, chosen = torch.zeros(2, len(turns), dtype=torch.float64)
    for number, row in enumerate(turns):
        known = row.isfinite()
        distinct, place = torch.unique(row[known], return_inverse=True)
        if not len(distinct):
            continue
        sums = torch.zeros(len(distinct), dtype=torch.float64).index_add_(0, place, truth[known])
        counts = torch.bincount(place).double()
        total, count = sums.sum(), counts.sum()
        rest = (count - counts).clamp(min=1.0)
        scores = sums.square() / counts + (total - sums).square() / rest - total**2 / count
        scores *= 1 + 1e-9 * (direction * (sums / counts - (total - sums) / rest) > 0)
        best = scores.argmax()
        gains[number], chosen[number] = scores[best], distinct[best]
    return gains, chosen


def split_by_cells(cells: Tensor, truth: Tensor) -> Tensor:
    """The score ``[candidates]`` of partitions: cells ``[candidates, rows]``, numbered from 0 (-1: in none)."""
    known = cells >= 0
    inside = torch.where(known, truth, 0.0)
    total, count = inside.sum(1), known.sum(1).double().clamp(min=1.0)
    score = -total.square() / count
    for cell in range(int(cells.max()) + 1 if cells.numel() else 0):
        mine = cells == cell
        size = mine.sum(1).double()
        score = score + torch.where(mine, truth, 0.0).sum(1).square() / size.clamp(min=1.0)
    return score


def signs(difference: Tensor) -> Tensor:
    """0 where a difference is below, 1 where it is at and 2 where it is above 0; -1 where it is NaN."""
    return torch.where(difference.isfinite(), difference.sign().nan_to_num().long() + 1, -1)


_BEST = 12  # candidate weights proposed
_BEST_RELATED = 3  # the same, if each is combined with six relations
_UNTOLD = 64  # the same, if no example distinguishes them
_SOFT = 2.0  # factor of a relation's readout
_CHUNK = 500_000  # differences evaluated at a time
_GAIN = 1e-12  # of a split that the labels tell

CutKind = Literal["order", "value", "none"]


def _proposals(
    offer: ComparisonCandidates, truth: Tensor, started: Mapping[str, float], generator: torch.Generator
) -> list[Candidate]:
    """Candidates for the open parameters that are not in ``started``, by the ``truth`` of each label."""
    comparison = offer.comparison
    unstarted = [name for name in offer.names if name not in started]
    weights = grid(comparison.units, unstarted)
    constants = [name for name in comparison.constants if name in unstarted]
    relations: tuple[RelationName | None, ...] = RELATIONS if set(comparison.relation) & set(unstarted) else (None,)
    several: Sequence[CutKind] = ("order", "value") if relations != (None,) else ()
    cuts = several or (("value",) if comparison.sign in ("=", "!=") else ("order",)) if constants else ("none",)
    proposed: list[Candidate] = []
    for examples in offer.shown:
        if comparison.sign == "=" and (weights.names or constants):
            proposed += equation_proposals(examples, truth, started, weights, constants, generator)
        median = offer.threshold and not examples.labelled and not proposed
        for cut in cuts if examples.labelled or median else ():
            wanted = truth[examples.labels] if examples.labelled else torch.zeros_like(truth[examples.labels])
            proposer = _CandidateProposer(examples, wanted, started, weights, constants, cut, relations)
            made = proposer.candidates(generator)
            proposed += made if median or not offer.threshold else [one for one in made if one.gain > _GAIN]
    if not proposed and not constants:
        best, _ = weights.best(lambda candidates: torch.zeros(len(candidates)), _UNTOLD // len(relations), generator)
        rows = [dict(zip(weights.names, row, strict=True)) for row in best.tolist()]
        proposed = [Candidate(row | _readout(comparison, name), 0.0) for row in rows for name in relations]
    return proposed


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
        """The best weights of units, each with its best constant and with every relation that is possible."""
        most = _BEST if self.relations == (None,) else _BEST_RELATED
        best, gains = self.weights.best(lambda candidates: self._split(candidates)[0], most, generator)
        possible = self.relations
        if possible != (None,) and self.cut != "none":  # those that differ at the cut; between two values none is equal
            possible = (">", "<") if self.cut == "order" else ("=", "!=", ">=", "<=", ">", "<")
        comparison, made = self.shown.comparison, []
        for row, gain in zip(best, gains.tolist(), strict=True):
            values, spreads = dict(zip(self.weights.names, row.tolist(), strict=True)), {}
            for constant in self.constants[:1]:
                turns = self._turns(row[None])[0][0]
                if any_set(turns.isfinite()):
                    values[constant] = float(self._split(row[None])[1] if gain > _GAIN else turns.nanmedian())
                    spreads[constant] = _spread(turns)
            if len(spreads) == len(self.constants[:1]):
                made += [Candidate(values | _readout(comparison, name), gain, spreads) for name in possible]
        return made

    def _split(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """The score of candidates, and the best constant of each."""
        size = max(1, _CHUNK // max(1, len(self.truth)))
        gains, cuts = zip(*map(self._split_by, candidates.split(size)), strict=True)
        return torch.cat(gains), torch.cat(cuts)

    def _split_by(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """As `_split`, for candidates that fit memory at once."""
        sign, direction = self.shown.comparison.sign, self.shown.direction
        if self.cut == "order":
            turns, slopes = self._turns(candidates)
            rising = (slopes > 0) == (sign in (">", ">="))
            return split_by_cut(turns, self.truth, rising, 0 if sign == "<?>" else direction)
        if self.cut == "value":
            told = 1 if sign == "=" else -1 if sign == "!=" else 0
            return split_by_value(self._turns(candidates)[0], self.truth, told)
        cells = signs(self.shown.difference(self._values(candidates)))
        if sign != "<?>":  # two cells
            merged = (0, 1, 0) if sign in ("=", "!=") else (0, 0, 1) if sign in (">", "<=") else (0, 1, 1)
            cells = torch.where(cells < 0, -1, torch.tensor(merged)[cells.clamp(min=0)])
        return split_by_cells(cells, self.truth), torch.zeros(len(candidates), dtype=torch.float64)

    def _values(self, candidates: Tensor) -> dict[str, Tensor]:
        names, count = self.shown.comparison.names, len(candidates)
        fixed = {name: torch.full((count,), self.started.get(name, 0.0), dtype=torch.float64) for name in names}
        return fixed | dict(zip(self.weights.names, candidates.unbind(1), strict=True))

    def _turns(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        return self.shown.turns(self._values(candidates), self.constants[0])


@dataclass(frozen=True, slots=True)
class ComparisonCandidates:
    """A comparison, its examples, its open parameters ``names``, and their candidates. ``threshold``: all else is
    known."""

    comparison: LearnedComparison
    shown: Sequence[Examples]
    names: tuple[str, ...]
    threshold: bool
    proposals: Sequence[Candidate] = ()


def offers(data: ComparisonData, started: Mapping[str, float], seed: int) -> list[ComparisonCandidates]:
    """The candidates for each comparison with parameters that are not ``started``, and for the constants of equations,
    wherever these start. The most informative first; later ones by what is left of the labels."""
    waiting: list[ComparisonCandidates] = []
    taken: set[str] = set()
    for node, comparison in data.learned():
        missing = [name for name in (*comparison.names, *comparison.relation) if name not in started]
        threshold = comparison.sign != "=" and comparison.started(started.keys())
        if threshold:
            groups = [(name,) for name in missing if name not in taken]
        else:
            again = comparison.constants if _again(comparison, started) else ()
            groups = [tuple(dict.fromkeys((*missing, *again)))]
        shown = data.examples(node, comparison, every=threshold) if any(groups) else []
        waiting += (ComparisonCandidates(comparison, shown, names, threshold) for names in groups if shown and names)
        taken.update(name for names in groups for name in names if shown)
    rest = (data.labels.lower + data.labels.upper).double() / 2
    known, chosen = dict(started), list[ComparisonCandidates]()
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


def _again(comparison: LearnedComparison, started: Mapping[str, float]) -> bool:
    """Whether other constants than the given ones are tried too: in an equation, and beside an unknown relation."""
    return comparison.sign == "=" or not set(comparison.relation) <= started.keys()


def _proposed(
    offer: ComparisonCandidates, truth: Tensor, started: Mapping[str, float], generator: torch.Generator
) -> list[Candidate]:
    """The candidates for one comparison, the most informative first."""
    comparison = offer.comparison
    candidates = _proposals(offer, truth, started, generator)
    given = {name: started[name] for name in comparison.constants if name in started}
    if given and _again(comparison, started):
        candidates = [replace(candidate, values={**given, **candidate.values}) for candidate in candidates]
        elsewhere = {name: value for name, value in started.items() if name not in given}
        candidates += _proposals(offer, truth, elsewhere, generator)
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
