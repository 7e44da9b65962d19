"""The initial values of fitting: the candidates for which inference has the least loss. Integer weights come first;
from there Levenberg-Marquardt continues without rounding, and its result is taken if they are worse than chance
explains (`no_worse`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import torch
from torch import Tensor

from lnnkit.arrays import all_set, any_set
from lnnkit.learn.fitting.fitting_problem import Fitting, Unstarted
from lnnkit.learn.fitting.simpler_values import no_worse
from lnnkit.learn.parameters.constraints import Constraints
from lnnkit.learn.starting.candidate_search import Candidate
from lnnkit.learn.starting.candidates import ComparisonCandidates, offers
from lnnkit.learn.starting.comparison_examples import ComparisonData
from lnnkit.learn.starting.least_squares_fit import fitted_to_labels
from lnnkit.learn.starting.threshold_starts import Start

_PASSES = 3  # passes over the comparisons; stops earlier when a pass changes nothing
_GAIN = 1e-9  # least relative gain of the loss, above rounding


Judge = Callable[[Tensor], float]
"""Returns the loss at some values."""


def chosen(
    names: Sequence[str], start: Tensor, offered: Sequence[Sequence[Candidate]], judge: Judge
) -> tuple[Tensor, list[Candidate]]:
    """``start`` with one candidate for each comparison, chosen by coordinate descent; and the chosen candidates."""
    now, best = start, [proposals[0] for proposals in offered]
    for proposal in best:
        now = _put(now, names, proposal.values)
    least = judge(now)
    for _ in range(_PASSES):
        before = list(best)
        for number, proposal in ((number, proposal) for number, some in enumerate(offered) for proposal in some):
            tried = _put(now, names, proposal.values)
            loss = judge(tried)
            if loss < least - _GAIN:
                least, now, best[number] = loss, tried, proposal
        if before == best or len(offered) == 1:
            break
    return now, best


def _put(start: Tensor, names: Sequence[str], values: Mapping[str, float]) -> Tensor:
    """``start`` with the values of some parameters replaced; ``names`` are those of all."""
    point = start.clone()
    for name, value in values.items():
        point[names.index(name)] = value
    return point


_FAR = 1e15  # a constant beyond all data
_SAME = 1e-12  # rounding of the loss
_ORDERS = frozenset({">", ">=", "<", "<="})


def fast_start(fitting: Fitting) -> Tensor:
    """The initial values of the parameters. Raises `Unstarted` if there are none."""
    known = {name: start.value for name, start in fitting.starts.items()}
    known |= {parameter.name: parameter.start for parameter in fitting.parameters if parameter.start is not None}
    names = [parameter.name for parameter in fitting.parameters]
    start = torch.tensor([known.get(name, 0.0) for name in names], dtype=torch.float64)
    if len(known) == len(names) and all(parameter.kind != "value" for parameter in fitting.parameters):
        return start
    labels = fitting.labels.some(fitting.split.train)
    data = ComparisonData(fitting.program, fitting.parameters, labels, fitting.mentioned, with_labels=True)
    if len(known) == len(names):
        return _solved(fitting, data, start)
    offered = offers(data, known, fitting.settings.seed)
    reached = {name for offer in offered for name in offer.proposals[0].values} | known.keys()
    for parameter in fitting.parameters:
        if parameter.name not in reached:
            raise Unstarted(parameter)
    constraints = fitting.constraints(start)
    judged = _judge(fitting, constraints)
    start, best = chosen(names, start, [offer.proposals for offer in offered], judged)
    for proposal in best:
        for name, spread in proposal.spreads.items():
            fitting.starts[name] = Start(proposal.values[name], spread)  # its unit is a share of the spread
    for offer in offered:
        if not _matters(offer, start, judged, names):
            raise Unstarted(fitting.parameters[names.index(next(iter(offer.proposals[0].values)))])
    whole, hard = start, fitting.infer(start, constraints)
    for values in _freed(fitting, offered, dict(zip(names, start.tolist(), strict=True))):
        free = constraints.project(_put(whole, names, values), start)
        soft = fitting.infer(free, constraints)
        if soft.losses.total < hard.losses.total and not no_worse(fitting, hard, soft):
            start, hard = free, soft
    return start


def _judge(fitting: Fitting, constraints: Constraints) -> Judge:
    """The loss of inference at some values; cached."""

    @cache
    def judged(values: tuple[float, ...]) -> float:
        return fitting.infer(torch.tensor(values, dtype=torch.float64), constraints).losses.total

    return lambda values: judged(tuple(values.tolist()))


def _solved(fitting: Fitting, data: ComparisonData, start: Tensor) -> Tensor:
    """``start``, or, if better, with constants of equations solved: gradients of products seldom lead there."""
    names = [parameter.name for parameter in fitting.parameters]
    solvable = {name for _, comparison in data.learned() if comparison.sign == "=" for name in comparison.constants}
    elsewhere = {name: value for name, value in zip(names, start.tolist(), strict=True) if name not in solvable}
    some = offers(data, elsewhere, fitting.settings.seed) if solvable else []
    offered = [offer.proposals for offer in some if offer.comparison.sign == "="]
    if not offered:
        return start
    judge = _judge(fitting, fitting.constraints(start))
    solved, _ = chosen(names, start, offered, judge)
    return solved if judge(solved) < judge(start) else start


def _matters(offer: ComparisonCandidates, start: Tensor, judge: Judge, names: list[str]) -> bool:
    """Whether the loss depends on the candidate, on whether the comparison always holds, or on its units' values."""
    tried = [proposal.values for proposal in offer.proposals]
    constants = [name for name in offer.proposals[0].values if name in offer.comparison.constants]
    if constants and offer.comparison.sign not in ("=", "!="):
        tried += [dict.fromkeys(constants[:1], end) for end in (-_FAR, _FAR)]
    least, only = judge(start), len(tried) == 1
    if offer.comparison.units:
        tried.append(dict.fromkeys(offer.proposals[0].values, 0.0))
    return any(abs(judge(_put(start, names, values)) - least) > _SAME for values in tried) or only


def _freed(
    fitting: Fitting, offered: list[ComparisonCandidates], start: Mapping[str, float]
) -> Iterator[dict[str, float]]:
    """For each comparison with units, by order relation: its values, fitted to labels."""
    truth = fitting.labels.truth[fitting.split.train]
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
