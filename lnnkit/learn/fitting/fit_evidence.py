"""The data of a fitting report, without tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor

from lnnkit.arrays import any_set, where_set
from lnnkit.check.program import CheckedProgram
from lnnkit.check.walk import nodes
from lnnkit.learn.fitting.fitting_problem import Fitting
from lnnkit.learn.fitting.gradient_descent import Fitted
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters.rule_parameters import Parameter
from lnnkit.learn.starting.comparison_examples import joined
from lnnkit.learn.starting.threshold_starts import Start
from lnnkit.scores import Evidence, Learned, Predictions, Threshold
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span


def evidence(program: CheckedProgram, fitting: Fitting, fitted: Fitted) -> Evidence:
    """The evidence of a fit of ``program``, without the texts of its rules."""
    truths = (fitting.labels.lower + fitting.labels.upper).double() / 2
    comparisons = _comparisons(program)
    thresholds = [
        _threshold(name, comparisons.get(name, f"?{name}"), start, fitting.labels, truths)
        for name, start in fitting.starts.items()
        if len(start.turns)
    ]
    held = torch.zeros(len(truths), dtype=torch.bool)
    held[fitting.split.validation] = True
    predictions = []
    for number, name in enumerate(fitting.labels.names):
        mine = fitting.labels.predicate == number
        columns = (truths, fitted.before.truths, fitted.after.truths, held)
        if any_set(mine):
            predictions.append(Predictions(name, *(column[mine].numpy() for column in columns)))
    before = fitted.before.train, fitted.before.validation
    operands = _operands(program)
    learned = [Learned(each.name, each.kind, each.rules, _of(each, operands)) for each in fitting.parameters]
    return Evidence(learned, thresholds, predictions, before, fitted.kept)


def _threshold(name: str, comparison: str, start: Start, labels: Labels, truths: Tensor) -> Threshold:
    """The data of a threshold, with the labels of the predicate that covers most of them."""
    found, about = None, torch.full((len(start.turns),), torch.nan, dtype=torch.float64)
    for number, ids in enumerate(labels.columns):
        if len(ids) != len(start.columns):
            continue
        place = joined(start.columns, ids)
        there = where_set(place >= 0)
        if len(there) > int(about.isfinite().sum()):
            found = labels.names[number]
            about = torch.full_like(about, torch.nan)
            about[place[there]] = truths[labels.predicate == number][there]
    return Threshold(name, comparison, start.turns.numpy(), found, about.numpy())


def _comparisons(program: CheckedProgram) -> dict[str, str]:
    """By learned constant, the text of the first comparison that contains it."""
    found: dict[str, str] = {}
    for assertion in program.assertions:
        for node in nodes(cast(ast.Expression, assertion.formula)):
            if isinstance(node, ast.Comparison):
                for each in nodes(node):
                    if isinstance(each, ast.Learnable) and each.name is not None:
                        found.setdefault(each.name, _line(node.span))
    return found


def _of(parameter: Parameter, operands: Mapping[Span, str]) -> str:
    """The text of the operand or connective of a weight or a bias."""
    if parameter.kind in ("weight", "bias"):
        return operands.get(parameter.span) or _line(parameter.span)
    return parameter.name


def _operands(program: CheckedProgram) -> dict[Span, str]:
    """The text of each weighted operand, by the position of its weight, and of each connective, by that of its bias."""
    found: dict[Span, str] = {}
    for assertion in program.assertions:
        for node in nodes(cast(ast.Expression, assertion.formula)):
            if isinstance(node, ast.Weighted):
                found[node.weight.span] = _line(node.operand.span)
            elif isinstance(node, (ast.And, ast.Or, ast.Implies)):
                for each in node.attributes:
                    if each.key == "bias" and isinstance(each.value, (ast.Number, ast.Learnable)):
                        found[each.value.span] = _line(node.span)
    return found


def _line(span: Span) -> str:
    return " ".join(span.text.split())
