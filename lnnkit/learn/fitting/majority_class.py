"""Detects fits that are no better than the majority class: one constant answer for all labelled atoms would be right as
often."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from lnnkit.learn.fitting.fitting_problem import Fitting
from lnnkit.learn.fitting.gradient_descent import Fitted
from lnnkit.syntax.diagnostic import Diagnostic

_CHANCE = 1e-9
_RARE = 0.3  # share of the rarer class below which classes are imbalanced
_LEAST = 10  # fewest labels for which accuracy is meaningful


def majority(fitting: Fitting, fitted: Fitted) -> Iterator[Diagnostic]:
    """A ``majority-class`` warning for each predicate whose labels are all true or false, with both present. If classes
    are ``balanced``, a constant answer is right for half of the weight."""
    own, truths = fitting.labels, fitted.after.truths
    crisp = (own.lower == own.upper) & ((own.lower == 0) | (own.lower == 1)) & ~own.numeric
    for number, name in enumerate(own.names):
        mine = own.predicate == number
        positive = own.true[mine]
        count, true = len(positive), int(positive.sum())
        if count < _LEAST or not bool(crisp[mine].all()) or true in (0, count):
            continue
        right = (truths[mine] > 0.5) == positive
        if fitting.settings.balanced:
            share, least = _balanced(right, positive), 0.5
        else:
            share, least = float(right.double().mean()), max(true, count - true) / count
        if share <= least + _CHANCE:
            yield _finding(fitting, name, (count, true), share, least)


def _balanced(right: Tensor, positive: Tensor) -> float:
    """The balanced accuracy: the mean of both classes' accuracies."""
    return float(torch.stack([right[positive].double().mean(), right[~positive].double().mean()]).mean())


def _finding(fitting: Fitting, name: str, counts: tuple[int, int], share: float, least: float) -> Diagnostic:
    count, true = counts
    answer = "true" if 2 * true >= count else "false"
    measure = "of each class on average" if fitting.settings.balanced else f"of the {count:,} labels"
    message = (
        f"the answers for `{name}` are no better than the majority class: they are right in {share:.1%} {measure}, "
        f"and `{answer}` for all would be right in {least:.1%}"
    )
    return Diagnostic("majority-class", message, _hint(fitting, min(true, count - true) / count), severity="warning")


def _hint(fitting: Fitting, rarer: float) -> str:
    steps: list[str] = []
    if any(each.kind == "value" and each.start is not None for each in fitting.parameters):
        steps.append("thresholds without a start (`?cut` in place of `?cut=5`), which are then set from the data")
    if rarer < _RARE and not fitting.settings.balanced:
        steps.append("`balanced=True` (`--balanced`: both classes count alike)")
    steps.append("a rule over other columns: these may not tell the classes apart")
    return "try " + ", or ".join(steps)
