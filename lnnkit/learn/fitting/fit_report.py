"""What a fit reports: its data, without tensors, and warnings: nothing was learned, labels do not determine a value,
answers are no better than one class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import torch
from torch import Tensor

from lnnkit.arrays import any_set, set_at, where_set
from lnnkit.check.program import CheckedProgram
from lnnkit.check.walk import nodes
from lnnkit.graph.lifting import build
from lnnkit.learn.comparisons.candidates import ThresholdRows
from lnnkit.learn.comparisons.comparison_examples import joined, nearest
from lnnkit.learn.fitting.fitting_problem import Fitting, Inferred
from lnnkit.learn.fitting.gradient_descent import FittedValues
from lnnkit.learn.fitting.loss import supports
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters.rule_parameters import LearnedParameter, at, rule_names
from lnnkit.logic import logic_named, truth_at
from lnnkit.logic.logic import Numbers
from lnnkit.scores import Evidence, LearnedNumber, Predictions, Threshold
from lnnkit.syntax import ast
from lnnkit.syntax.dates import date_text
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import one_line

_RARE = 0.3  # share of the rarer class below which classes are imbalanced
_LEAST = 10  # fewest labels for which accuracy is meaningful
_MET = 1e-6  # a loss that counts as 0
_GAIN = 1e-9  # least relative change of the loss that is more than rounding
_NAMED = 3  # atoms or rules that a warning names


def findings(fitting: Fitting, fitted: FittedValues) -> tuple[Diagnostic, ...]:
    """The warnings about a fit: ``alike-labels`` if all labels are equal and a value had to be found from them, else
    ``no-gradient`` if the loss did not depend on any learned value, or ``untold-rule`` for rules that no label depends
    on; and ``majority-class`` if one constant answer would be right as often."""
    others = tuple(_stuck(fitting, fitted)) or tuple(_idle(fitting, fitted))
    return tuple(_alike(fitting, fitted)) or (*others, *majority(fitting, fitted))


def _idle(fitting: Fitting, fitted: FittedValues) -> Iterator[Diagnostic]:
    idle = [parameter for parameter, marked in zip(fitting.parameters, fitted.idle.tolist(), strict=True) if marked]
    rules = list(dict.fromkeys(rule for parameter in idle for rule in parameter.rules))
    if rules and fitted.stopped != "interrupted":
        stays = "it stays" if len(rules) == 1 else "they stay"
        message = f"no label depends on {_listed(rules[:_NAMED], len(rules))}: {stays} as written"
        yield Diagnostic("untold-rule", message, "label what it concludes, if it is to learn", severity="warning")


def _stuck(fitting: Fitting, fitted: FittedValues) -> Iterator[Diagnostic]:
    """A warning if labels are unmet, training gained nothing, and no gradient could have."""
    started = fitted.history[0].loss if fitted.history else fitted.losses.total
    wanting = fitted.losses.terms.get("labels", 0.0) + fitted.losses.terms.get("contradictions", 0.0)
    if fitted.stopped == "interrupted" or wanting <= _MET or fitted.losses.total < started - _GAIN:
        return
    inferred = fitting.infer(fitted.values, softness=1.0)
    if not any_set(_unmet(fitting, inferred)) and not fitted.losses.terms.get("contradictions"):
        return
    values = fitted.values.clone().requires_grad_()
    learned = [values, *(weight for binding in fitting.bindings for weight in binding.module.parameters())]
    for batch in fitting.batches(inferred, torch.Generator().manual_seed(fitting.settings.seed)):
        terms = fitting.terms(batch, values)
        total = terms["labels"] + terms.get("contradictions", 0.0)
        if total.requires_grad:
            slopes = torch.autograd.grad(total, [leaf for leaf in learned if leaf.requires_grad], allow_unused=True)
            if any(any_set(slope != 0) for slope in slopes if slope is not None):
                return
    yield _no_gradient(fitting, fitted, inferred)


def _no_gradient(fitting: Fitting, fitted: FittedValues, inferred: Inferred) -> Diagnostic:
    """The warning, with the reason why most of the unmet labels depend on nothing."""
    silent = where_set(_unmet(fitting, inferred) & (torch.maximum(*inferred.bounds.events) < 0))
    start = torch.tensor([parameter.start or 0.0 for parameter in fitting.parameters]).double()
    facts = fitting.trace(start, listed=True)
    rows = fitting.labels.rows(facts.numbers)[silent]
    reached = torch.isin(rows, supports(facts, rows).rows)  # an instance with all facts present could bound them
    lost, low = silent[~reached], silent[reached]
    moved = [
        f"{parameter.name} = {date_text(value) if parameter.dated else f'{value:.6g}'}"
        for parameter, value in _moved(fitting, fitted)
    ]
    learned = "training changed nothing more" if fitting.bindings and fitted.kept != 0 else "nothing was learned"
    if moved:
        learned = f"the data gave {_listed(moved[:_NAMED], len(moved))}, and training changed nothing more"
    head = f"{learned}: the loss does not depend on anything that is learned"
    if len(lost) > len(low) and any(comparison.crisp for comparison in inferred.trace.comparisons.values()):
        why = f"no rule whose comparisons hold reaches {_atoms(fitting, inferred, lost)}"
        hint = "give the comparisons a scale, as in `(a(X) > 3){scale: 1}`: soft ones learn where false too"
    elif len(lost) > len(low):
        why = f"no rule reaches {_atoms(fitting, inferred, lost)}"
        hint = "add a rule that concludes them, or the facts about them that its body needs"
    elif len(low):
        why = f"every body that could derive {_atoms(fitting, inferred, low)} is 0, as conjunctions of small truths are"
        falls = truth_at(logic_named(fitting.program.logic), Numbers(), "and", (1.0, 1.0), 1.0, (0.25, 0.25)) <= 0
        soft = "`soft=True` (`--soft`: every instance that could derive an atom learns), "
        hint = "" if fitting.settings.soft else soft
        hint += "`logic product` (a conjunction of small truths is not 0), " if falls else ""
        hint = f"try {hint}or other values to start from"
    else:
        why = "the bounds of all labelled atoms depend on fixed parameters only"
        hint = "label atoms that depend on the rules that learn, or let the other rules learn too"
    return Diagnostic("no-gradient", f"{head}; {why}", hint, severity="warning")


def _moved(fitting: Fitting, fitted: FittedValues) -> list[tuple[LearnedParameter, float]]:
    """The parameters that differ from the program's values, or for which it gives none, with their values."""
    pairs = zip(fitting.parameters, fitted.values.tolist(), strict=True)
    return [(one, value) for one, value in pairs if one.start is None or abs(value - one.start) > _MET]


def _unmet(fitting: Fitting, inferred: Inferred) -> Tensor:
    """(n,) the training labels that are not met. If rules can derive only one end, the other is ignored."""
    labels, bounds = fitting.labels, inferred.bounds
    produced = inferred.trace.fixpoint.plan.relevance.produced
    wrong = torch.zeros(len(labels), dtype=torch.bool)
    ends = ("lower", "upper", bounds.lower - labels.lower), ("upper", "lower", bounds.upper - labels.upper)
    for name, mine, _ in labels.by_name():
        for end, other, gap in ends:
            if (name, end) in produced or (name, other) not in produced:
                wrong[mine] |= gap[mine].abs() > _MET
    return wrong & set_at(len(labels), fitting.split.train)


def _atoms(fitting: Fitting, inferred: Inferred, which: Tensor) -> str:
    """The first atoms of some labels, and their number."""
    labels, names = fitting.labels, inferred.trace.entities.names
    named: list[str] = []
    for label in which[:_NAMED].tolist():
        number = int(labels.predicate[label])
        place = int((labels.predicate[:label] == number).sum())
        arguments = [names[int(ids[place])] for ids in labels.columns[number]]
        named.append(f"{labels.names[number]}({', '.join(arguments)})")
    return _listed(named, len(which))


def _listed(named: Sequence[str], count: int) -> str:
    """The first names, and the number of the others."""
    rest = f" and {count - len(named):,} more" if count > len(named) else ""
    return ", ".join(f"`{name}`" for name in named) + rest


def _alike(fitting: Fitting, fitted: FittedValues) -> Iterator[Diagnostic]:
    """The warning that all labels about a value that moved are equal, so that anything that makes them true fits."""
    labels = fitting.labels.some(fitting.split.train.sort().values)
    said = {name: truth for name, mine, _ in labels.by_name() if (truth := _common(labels, mine)) is not None}
    if not said:
        return
    moved = [parameter for parameter, _ in _moved(fitting, fitted)]
    labelled = _labelled_near(fitting, {parameter.rules for parameter in moved})
    for names in dict.fromkeys(labelled[parameter.rules] for parameter in moved):
        if not names or not names <= said.keys():
            continue
        parameters = [parameter for parameter in moved if labelled[parameter.rules] == names]
        what = " and ".join(dict.fromkeys(f"`{one_line(parameter.span.text)}`" for parameter in parameters))
        truths = " and ".join(f"of `{name}` ({said[name][0]:,}) are all {said[name][1]}" for name in sorted(names))
        message = f"the training labels {truths}: they do not determine {what}"
        yield Diagnostic("alike-labels", message, "add labels with another truth", parameters[0].span, "warning")


def _labelled_near(fitting: Fitting, rules: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], frozenset[str]]:
    """For some sets of rules, the labelled predicates and numbers nearest to them."""
    program = fitting.program
    places = {name: place for place, name in rule_names(program).items()}
    lifted = build(at(program, {parameter.name: parameter.start or 0.0 for parameter in fitting.parameters}))
    nodes = {root.origin.span: root.reference.node for root in lifted.statements}
    spans = {names: [program.assertions[places[name]].span for name in names] for names in rules}
    return {
        names: frozenset(nearest(lifted, [nodes[span] for span in among if span in nodes], fitting.labels.names))
        for names, among in spans.items()
    }


def _common(labels: Labels, mine: Tensor) -> tuple[int, str] | None:
    """The number of some labels of a predicate, and the common value of all of them; None if they differ."""
    lower, upper = labels.lower[mine], labels.upper[mine]
    if not len(lower) or any_set(labels.numeric[mine] | (lower != lower[0]) | (upper != upper[0])):
        return None
    ends = float(lower[0]), float(upper[0])
    return len(lower), {(1.0, 1.0): "true", (0.0, 0.0): "false"}.get(ends, f"[{ends[0]:g}, {ends[1]:g}]")


def majority(fitting: Fitting, fitted: FittedValues) -> Iterator[Diagnostic]:
    """A ``majority-class`` warning for each predicate whose labels are all true or false, with both present."""
    labels, truths = fitting.labels, fitted.after.truths
    for name, mine, _ in labels.by_name():
        positive = labels.true[mine]
        count, true = len(positive), int(positive.sum())
        if count < _LEAST or not bool(labels.crisp[mine].all()) or true in (0, count):
            continue
        right = (truths[mine] > 0.5) == positive
        if fitting.settings.balanced:
            share, least = sum(float(right[of].double().mean()) for of in (positive, ~positive)) / 2, 0.5
        else:
            share, least = float(right.double().mean()), max(true, count - true) / count
        if share <= least + _GAIN:
            measure = "of each class on average" if fitting.settings.balanced else f"of the {count:,} labels"
            message = (
                f"the answers for `{name}` are no better than the majority class: they are right in {share:.1%} "
                f"{measure}, and `{'true' if 2 * true >= count else 'false'}` for all would be right in {least:.1%}"
            )
            hint = ""
            if any(parameter.kind == "value" and parameter.start is not None for parameter in fitting.parameters):
                hint = "thresholds without a start (`?cut` in place of `?cut=5`), which are then set from the data, or "
            if min(true, count - true) / count < _RARE and not fitting.settings.balanced:
                hint += "`balanced=True` (`--balanced`: both classes count alike), or "
            hint = f"try {hint}a rule over other columns: these may not tell the classes apart"
            yield Diagnostic("majority-class", message, hint, severity="warning")


def evidence(program: CheckedProgram, fitting: Fitting, fitted: FittedValues) -> Evidence:
    """The evidence of a fit of ``program``, without the texts of its rules."""
    truths = (fitting.labels.lower + fitting.labels.upper).double() / 2
    comparisons, operands = _texts(program)
    thresholds = [
        _threshold(name, comparisons.get(name, f"?{name}"), rows, fitting.labels, truths)
        for name, rows in fitting.thresholds.items()
        if len(rows.turns)
    ]
    columns = (truths, fitted.before.truths, fitted.after.truths, set_at(len(truths), fitting.split.validation))
    named = ((name, mine) for name, mine, _ in fitting.labels.by_name() if len(mine))
    predictions = [Predictions(name, *(column[mine].numpy() for column in columns)) for name, mine in named]
    learned = []
    for parameter in fitting.parameters:
        text = operands.get(parameter.span) or one_line(parameter.span.text)
        named = text if parameter.kind in ("weight", "bias") else parameter.name
        learned.append(LearnedNumber(parameter.name, parameter.kind, parameter.rules, named))
    before = fitted.before.train, fitted.before.validation
    return Evidence(learned, thresholds, predictions, before, fitted.kept)


def _threshold(name: str, comparison: str, rows: ThresholdRows, labels: Labels, truths: Tensor) -> Threshold:
    """The data of a threshold, with the labels of the predicate that covers most of them."""
    predicate, about = None, torch.full((len(rows.turns),), torch.nan, dtype=torch.float64)
    for name_, mine, ids in labels.by_name():
        place = torch.from_numpy(joined(rows.columns, ids)) if len(ids) == len(rows.columns) else torch.zeros(0)
        there = where_set(place >= 0)
        if len(there) > int(about.isfinite().sum()):
            predicate = name_
            about = torch.full_like(about, torch.nan).index_copy(0, place[there], truths[mine][there])
    return Threshold(name, comparison, rows.turns.numpy(), predicate, about.numpy())


def _texts(program: CheckedProgram) -> tuple[dict[str, str], dict[Span, str]]:
    """The texts of the comparisons of learned constants, and of operands and connectives by weight and by bias."""
    constants: dict[str, str] = {}
    operands: dict[Span, str] = {}
    for node in (node for of in program.assertions for node in nodes(cast(ast.Expression, of.formula))):
        if isinstance(node, ast.Comparison):
            for part in nodes(node):
                if isinstance(part, ast.Learnable) and part.name is not None:
                    constants.setdefault(part.name, one_line(node.span.text))
        elif isinstance(node, ast.Weighted):
            operands[node.weight.span] = one_line(node.operand.span.text)
        elif isinstance(node, (ast.And, ast.Or, ast.Implies)):
            for attribute in node.attributes:
                if attribute.key == "bias" and isinstance(attribute.value, (ast.Number, ast.Learnable)):
                    operands[attribute.value.span] = one_line(node.span.text)
    return constants, operands
