"""The values from which descent starts, and simpler values that serve as well as those with which it ends.

The start is the candidate for which inference has the least loss. Integer weights come first; from there
Levenberg-Marquardt continues without rounding, and its result is taken if they are worse than chance explains.

In the end, rules that no label depends on start again, weights of units and all other values are rounded. The weights
of units are rounded if the loss does not rise. If labels of truths are all true or false, the accuracy of each
predicate may fall by one standard error of the error rate of the unrounded weights: the one-standard-error rule
(Breiman et al. 1984, section 3.4.3). The mean square error of a number may rise by what noise explains (`by_chance`).
If the unrounded weights make no error, none is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from lnnkit.arrays import all_set, any_set, where_set
from lnnkit.learn.comparisons.candidates import ComparisonCandidates, ThresholdRows, offers, thresholds
from lnnkit.learn.comparisons.comparison_examples import ComparisonData
from lnnkit.learn.comparisons.learned_comparisons import LearnedComparison
from lnnkit.learn.comparisons.least_squares import Candidate, by_chance, fitted_to_labels, grid
from lnnkit.learn.fitting.fitting_problem import Fitting, Inferred, Unstarted
from lnnkit.learn.fitting.loss import UNLABELLED
from lnnkit.learn.parameters.rule_parameters import OF_LOGIC, LearnedParameter
from lnnkit.scores import Scores

_SAME = 1e-12  # tolerance of a loss
_NOTHING = 1e-9  # rounding of a loss or an accuracy
_DIGITS = (0, 1, 2, 3, 4, 6, 9)
_FEW = 8  # up to this many thresholds are rounded one by one
_DEARER, _MORE = 1e-3, 1e-5  # rounding may raise the loss by this share of it, plus this much


def simplified(fitting: Fitting, values: Tensor, start: Tensor) -> tuple[Tensor, Inferred, Tensor]:
    """The values, as simple as costs nothing, inference there, and a mask of those that no label depends on."""
    idle = _unreached(fitting, values)
    values = _restored(fitting, values, start, idle)
    inferred = fitting.infer(values)
    for _, comparison in sorted(inferred.trace.comparisons.items()):
        for whole in _whole_weights(values, start, fitting.parameters, comparison):
            tried = fitting.infer(whole) if fitting.constraints.holds(whole) else None
            if tried is not None and no_worse(fitting, tried, inferred):
                values, inferred = whole, tried
                break
    return *_rounded(fitting, values, inferred, idle), idle


def _rounded(fitting: Fitting, values: Tensor, inferred: Inferred, idle: Tensor) -> tuple[Tensor, Inferred]:
    """The values, except ``idle`` ones, with as few digits as cost nothing, and inference there. Thresholds are rounded
    first, one by one if they are few."""

    def measures(inferred: Inferred) -> list[float]:
        losses = [inferred.losses.total, inferred.losses.validation]
        wrong = [1 - right for right in map(inferred.bounds.accuracy, fitting.split) if right is not None]
        return [*(loss for loss in losses if loss is not None), *wrong]

    exact, places = measures(inferred), where_set(~idle).tolist()
    thresholds = [place for place in places if fitting.parameters[place].kind == "value"]
    others = [place for place in places if place not in thresholds]
    groups = [[place] for place in thresholds] if len(thresholds) <= _FEW else [thresholds]
    for group in [*groups, others] if others else groups:
        for digits in _DIGITS:
            step = 10.0**-digits * 10.0 ** torch.floor(torch.log10(fitting.units[group]))
            fewer = values.clone()
            fewer[group] = torch.round(torch.round(values[group] / step) * step, decimals=12)
            if not fitting.constraints.holds(fewer):
                continue
            tried = fitting.infer(fewer)
            pairs = zip(measures(tried), exact, strict=True)
            if all(now <= before * (1 + _DEARER) + _MORE for now, before in pairs):
                values, inferred = fewer, tried
                break
    return values, inferred


def _unreached(fitting: Fitting, values: Tensor) -> Tensor:
    """(k,) a mask of the numbers of rules that have ``OF_LOGIC`` ones only and on which no label depends."""
    reached = {
        rule for parameter in fitting.parameters if parameter.kind not in OF_LOGIC for rule in parameter.rules
    }  # these start from the data
    if all(not reached.isdisjoint(parameter.rules) for parameter in fitting.parameters):
        return torch.zeros(len(values), dtype=torch.bool)
    inferred = fitting.infer(values, softness=1.0)
    open_values, depends = values.clone().requires_grad_(), torch.zeros(len(values), dtype=torch.bool)
    for batch in fitting.batches(inferred, torch.Generator().manual_seed(fitting.settings.seed)):
        ends, crossed = batch.bounds(open_values)
        # Separately, lest the gradients of two ends cancel
        apart = torch.linspace(1.0, 2.0, len(ends), dtype=ends.dtype)
        total = torch.dot(ends.nan_to_num(), apart) + crossed
        if total.requires_grad:
            (slope,) = torch.autograd.grad(total, open_values, allow_unused=True)
            if slope is not None:
                depends |= slope != 0
    reached |= {rule for place in where_set(depends).tolist() for rule in fitting.parameters[place].rules}
    return torch.tensor([reached.isdisjoint(parameter.rules) for parameter in fitting.parameters], dtype=torch.bool)


def _restored(fitting: Fitting, values: Tensor, start: Tensor, which: Tensor) -> Tensor:
    """The values with the marked ones at their ``start``, if that does not increase the loss of the labels."""
    before = torch.where(which, start, values)
    if not any_set(which) or not fitting.constraints.holds(before):
        return values
    now, then = (fitting.infer(point).losses for point in (values, before))
    totals = [sum(value for name, value in losses.terms.items() if name not in UNLABELLED) for losses in (now, then)]
    same = totals[1] <= totals[0] + _SAME and (then.validation or 0.0) <= (now.validation or 0.0) + _SAME
    return before if same else values


def _whole_weights(
    values: Tensor, start: Tensor, parameters: Sequence[LearnedParameter], comparison: LearnedComparison
) -> list[Tensor]:
    """The values with the weights of a comparison's units rounded, and, if that is integral, those at its start."""
    place = {parameter.name: number for number, parameter in enumerate(parameters)}
    weights = grid(comparison.units, [name for name in comparison.names if name in place])
    rounded, of = values.clone(), [place[name] for name in comparison.names]
    for name, points in zip(weights.names, weights.values, strict=True):
        rounded[place[name]] = min(points, key=lambda point: abs(point - float(values[place[name]])))
    if torch.equal(rounded, values):
        return []
    pairs = zip(weights.names, weights.values, strict=True)
    started = all(float(start[place[name]]) in points for name, points in pairs)
    return [rounded, values.index_copy(0, torch.tensor(of), start[of])] if started else [rounded]


def no_worse(fitting: Fitting, hard: Inferred, soft: Inferred) -> bool:
    """Whether rounded values may replace others, by the results of inference with each."""
    losses = (hard.losses.total, soft.losses.total), (hard.losses.validation or 0.0, soft.losses.validation or 0.0)
    if all(mine <= other + _NOTHING for mine, other in losses):
        return True
    if not all_set(fitting.labels.crisp | fitting.labels.numeric):
        return False
    standings = (fitting.standing(one) for one in (hard, soft))
    mine, others = ([scores for scores in (of.train, of.validation) if scores is not None] for of in standings)
    if mine[0].contradictions > others[0].contradictions:
        return False
    truths = {name for scores in others for name in scores.predicates}
    values, unknowns = {name for scores in others for name in scores.numbers}, len(fitting.parameters)
    right = all(_as_right(name, mine, others) for name in truths)
    return right and all(_as_near(name, mine, others, unknowns) for name in values)


def _as_right(name: str, hard: Sequence[Scores], soft: Sequence[Scores]) -> bool:
    """Whether the accuracy of a predicate falls by at most one standard error."""
    named = [[part.predicates[name] for part in scores if name in part.predicates] for scores in (hard, soft)]
    count = sum(score.n for score in named[1])
    mine, other = (sum(score.accuracy * score.n for score in scores) / count for scores in named)
    return mine >= other - math.sqrt(max(0.0, other * (1 - other)) / count) - _NOTHING


def _as_near(name: str, hard: Sequence[Scores], soft: Sequence[Scores], unknowns: int) -> bool:
    """Whether the mean square error of a number rises by no more than noise, with no fewer values."""
    named = [[part.numbers[name] for part in scores if name in part.numbers] for scores in (hard, soft)]
    known, count = (sum(score.n * score.coverage for score in scores) for scores in named)
    mine, other = (sum((score.rmse or 0.0) ** 2 * score.n * score.coverage for score in scores) for scores in named)
    if known < count - _NOTHING:
        return False
    most = other * by_chance(round(count), unknowns)
    return mine <= most + _NOTHING * (1 + most)


_PASSES = 3  # passes over the comparisons; stops earlier when a pass changes nothing
_GAIN = 1e-9  # least relative gain of the loss, above rounding

ParameterValues = Mapping[str, float]  # a value for each parameter, in their order


def chosen(
    start: ParameterValues, offered: Sequence[Sequence[Candidate]], judge: Callable[[ParameterValues], float]
) -> tuple[ParameterValues, list[Candidate]]:
    """``start`` with one candidate for each comparison, chosen by coordinate descent, and the chosen candidates;
    ``judge`` tells the loss."""
    now, best = start, [proposals[0] for proposals in offered]
    for proposal in best:
        now = {**now, **proposal.values}
    several = any(len(proposals) > 1 for proposals in offered)
    least = judge(now) if several else 0.0
    for _ in range(_PASSES if several else 0):
        before = list(best)
        for number, proposal in ((number, proposal) for number, some in enumerate(offered) for proposal in some):
            tried = {**now, **proposal.values}
            loss = judge(tried)
            if loss < least - _GAIN:
                least, now, best[number] = loss, tried, proposal
        if before == best or len(offered) == 1:
            break
    return now, best


_FAR = 1e15  # a constant beyond all data
_ORDERS = frozenset({">", ">=", "<", "<="})


def chosen_start(fitting: Fitting) -> Tensor:
    """The initial values of the parameters: the candidates of least loss, then values without rounding where they are
    significantly better. Raises `Unstarted` if there are none."""
    known = {parameter.name: parameter.start for parameter in fitting.parameters if parameter.start is not None}
    start: ParameterValues = {parameter.name: known.get(parameter.name, 0.0) for parameter in fitting.parameters}
    if len(known) == len(start) and all(parameter.kind != "value" for parameter in fitting.parameters):
        return _as_tensor(start)
    data = ComparisonData(fitting.program, fitting.parameters, fitting.labels, fitting.split.train, fitting.mentioned)
    fitting.thresholds = thresholds(data, known.keys())
    offered = offers(data, known, fitting.settings.seed)
    reached = {name for offer in offered for name in offer.proposals[0].values} | known.keys()
    for parameter in fitting.parameters:
        if parameter.name not in reached:
            raise Unstarted(parameter)
    losses: dict[tuple[float, ...], float] = {}

    def judge(point: ParameterValues) -> float:
        values = tuple(point.values())
        if values not in losses:
            losses[values] = fitting.infer(_as_tensor(point)).losses.total
        return losses[values]

    start, best = chosen(start, [offer.proposals for offer in offered], judge)
    for proposal in best:
        for name, spread in proposal.spreads.items():
            fitting.thresholds.setdefault(name, ThresholdRows(spread))  # gradients move it in shares of the spread
    for offer in offered:
        sought = [name for name in offer.names if name not in known and name not in offer.comparison.constants]
        if sought and not _matters(offer, start, judge):
            raise Unstarted(next(parameter for parameter in fitting.parameters if parameter.name == sought[0]))
    now = _as_tensor(start)
    for values in _fits(fitting, offered, start):
        rounded, free = fitting.infer(now), fitting.constraints.project(_as_tensor({**start, **values}), now)
        unrounded = fitting.infer(free)
        if unrounded.losses.total < rounded.losses.total and not no_worse(fitting, rounded, unrounded):
            now, start = free, fitting.named(free)
    return now


def _as_tensor(point: ParameterValues) -> Tensor:
    return torch.tensor([*point.values()], dtype=torch.float64)


def _matters(offer: ComparisonCandidates, start: ParameterValues, judge: Callable[[ParameterValues], float]) -> bool:
    """Whether the loss depends on the candidate, on whether the comparison always holds, or on its units' values."""
    tried = [proposal.values for proposal in offer.proposals]
    constants = [name for name in offer.proposals[0].values if name in offer.comparison.constants]
    if constants and offer.comparison.sign not in ("=", "!="):
        tried += [dict.fromkeys(constants[:1], end) for end in (-_FAR, _FAR)]
    least, only = judge(start), len(tried) == 1
    if offer.comparison.units:
        tried.append(dict.fromkeys(offer.proposals[0].values, 0.0))
    return any(abs(judge({**start, **values}) - least) > _SAME for values in tried) or only


def _fits(fitting: Fitting, offered: list[ComparisonCandidates], start: ParameterValues) -> Iterator[ParameterValues]:
    """For each comparison with units that is an order: its values, fitted to the labels without rounding."""
    truth = fitting.labels.truth
    for offer in offered:
        comparison = offer.comparison
        names = [name for name in offer.proposals[0].values if name in comparison.names]
        if comparison.sign not in _ORDERS or not comparison.units:
            continue
        for shown in offer.shown:
            if shown.labelled:
                wanted = truth[shown.labels]
                values = {name: torch.tensor([start[name]], dtype=torch.float64) for name in comparison.names}
                above = shown.difference(values)[0] > 0
                if any_set(above) and not all_set(above):
                    rising = bool(wanted[above].mean() >= wanted[~above].mean())
                    yield fitted_to_labels(shown, wanted, names, start, rising=rising)
