"""The scores of answers against labels (see `lnnkit.scores`)."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lnnkit.arrays import any_set
from lnnkit.learn.labels import LabelledBounds, Labels
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.logic.bounds import tolerance
from lnnkit.scores import NumberScore, Score, Scores

_BINS = 10  # bins of the expected calibration error, as is usual (Guo et al. 2017 take 15)
_LEAST = 1e-15  # truths are clipped for the logarithm


def scores(inference: RecordedInference, labels: Labels, bounds: LabelledBounds, which: Tensor) -> Scores:
    """The scores of a fixpoint for the labels with the indices ``which``."""
    predicates: dict[str, Score] = {}
    numbers: dict[str, NumberScore] = {}
    for name, mine in _by_name(labels, which):
        ends, wanted = _bounds(bounds, mine), _bounds(labels, mine)
        if any_set(labels.numeric.index_select(0, mine)):
            numbers[name] = number_score(ends, wanted)
        else:
            predicates[name] = score(ends, wanted, truth_of(inference, name, *ends), truth_of(inference, name, *wanted))
    progress, state = inference.fixpoint.progress, inference.fixpoint.state
    return Scores(predicates, state.crossings + sum(len(arrested.rows) for arrested in progress.arrested), numbers)


def accuracy(inference: RecordedInference, labels: Labels, bounds: LabelledBounds, which: Tensor) -> float | None:
    """The accuracy that `scores` have for the labels with the indices ``which``; None if all are of numbers."""
    right, total = 0.0, 0
    for name, mine in _by_name(labels, which):
        if not any_set(labels.numeric.index_select(0, mine)):
            true, wanted = (truth_of(inference, name, *_bounds(of, mine)) > 0.5 for of in (bounds, labels))
            right += float((true == wanted).double().mean()) * len(mine)
            total += len(mine)
    return right / total if total else None


def _by_name(labels: Labels, which: Tensor) -> Iterator[tuple[str, Tensor]]:
    """The predicates and numbers that have labels, with the indices of these."""
    chosen = torch.zeros(len(labels), dtype=torch.bool).index_fill(0, which, True)
    for name, mine, _ in labels.by_name():
        mine = mine[chosen.index_select(0, mine)]
        if len(mine):
            yield name, mine


def _bounds(of: Labels | LabelledBounds, which: Tensor) -> tuple[Tensor, Tensor]:
    return of.lower.index_select(0, which), of.upper.index_select(0, which)


def truths(inference: RecordedInference, labels: Labels, bounds: LabelledBounds) -> Tensor:
    """(n,) the truth of each label's atom as a single number, from its bounds."""
    truth = torch.zeros(len(labels), dtype=torch.float64)
    for name, mine, _ in labels.by_name():
        truth[mine] = truth_of(inference, name, bounds.lower[mine], bounds.upper[mine])
    return truth


def truth_of(inference: RecordedInference, name: str, lower: Tensor, upper: Tensor) -> Tensor:
    """The truth of a predicate's atoms as single numbers, from their bounds."""
    relevance, table = inference.fixpoint.plan.relevance, inference.fixpoint.grounding.atoms.tables[name]
    produced = tuple((name, side) in relevance.produced for side in ("lower", "upper"))
    if table.default == (0.0, 1.0) and produced[0] != produced[1]:
        return (lower if produced[0] else upper).clamp(0.0, 1.0)
    return ((lower + upper) / 2).clamp(0.0, 1.0)


def score(bounds: tuple[Tensor, Tensor], label: tuple[Tensor, Tensor], truth: Tensor, wanted: Tensor) -> Score:
    """The score of ``n`` atoms, given their bounds, those of their labels, and both truths as single numbers."""
    lower, upper = bounds
    positive = wanted > 0.5
    sure = truth.clamp(_LEAST, 1 - _LEAST)
    entropy = -(wanted * sure.log() + (1 - wanted) * (1 - sure).log())
    place = (truth * _BINS).long().clamp(max=_BINS - 1)
    gap = torch.zeros(_BINS, dtype=truth.dtype).index_add_(0, place, wanted - truth)
    return Score(
        n=len(truth),
        positives=int(positive.sum()),
        accuracy=float(((truth > 0.5) == positive).double().mean()),
        auroc=area_under_roc(truth, positive),
        aupr=average_precision(truth, positive),
        log_loss=float(entropy.mean()),
        brier=float(((truth - wanted) ** 2).mean()),
        calibration=float(gap.abs().sum() / len(truth)),
        coverage=float(((lower > 0.5) | (upper < 0.5)).double().mean()),
        distance=float(((lower - label[0]).abs() + (upper - label[1]).abs()).mean() / 2),
        contradictions=int((lower > upper + tolerance(torch.float64)).sum()),
    )


def number_score(bounds: tuple[Tensor, Tensor], label: tuple[Tensor, Tensor]) -> NumberScore:
    """The score of ``n`` numbers, given their intervals and those of their labels."""
    middle, wanted = (bounds[0] + bounds[1]) / 2, (label[0] + label[1]) / 2
    known = middle.isfinite() & wanted.isfinite()
    error, values = (middle - wanted)[known], wanted[known]
    total = float((values - values.mean()).square().sum()) if len(values) else 0.0
    return NumberScore(
        n=len(middle),
        rmse=float(error.square().mean().sqrt()) if len(error) else None,
        mae=float(error.abs().mean()) if len(error) else None,
        r2=1 - float(error.square().sum()) / total if total > 0 else None,
        coverage=float(known.double().mean()),
    )


def area_under_roc(truth: Tensor, positive: Tensor) -> float | None:
    """The probability that a true atom has more truth than a false one, ties counting half; None for one class."""
    true, false = int(positive.sum()), int((~positive).sum())
    if not true or not false:
        return None
    _, place, counts = torch.unique(truth, return_inverse=True, return_counts=True)
    before = counts.cumsum(0) - counts
    rank = before.double() + (counts.double() + 1) / 2  # the mean rank of tied values
    total = float(rank[place[positive]].sum())
    return (total - true * (true + 1) / 2) / (true * false)


def average_precision(truth: Tensor, positive: Tensor) -> float | None:
    """The area under the precision-recall steps, at each distinct truth; None unless both classes occur."""
    true = int(positive.sum())
    if not true or true == len(positive):
        return None
    values, place = torch.unique(truth, return_inverse=True)
    hits = torch.bincount(place[positive], minlength=len(values)).flip(0).cumsum(0).double()
    taken = torch.bincount(place, minlength=len(values)).flip(0).cumsum(0).double()
    recall = hits / true
    return float((recall.diff(prepend=recall.new_zeros(1)) * hits / taken).sum())
