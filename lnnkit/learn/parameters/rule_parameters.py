"""The parameters of a program: the learned numbers of its rules, each with a name; and rules with learned values.

A rule with a ``?`` learns the marked values only. A unit without weights and a ``<?>`` count as a ``?`` for each
missing weight. A rule without any ``?`` learns the weights and biases of its conjunctions and disjunctions, the weight
of any other antecedent, and its own truth, and also other weights, biases and an upper truth where they are written.
Axioms learn nothing, nor do rules of imported files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import torch
from torch import nn

from lnnkit.check.learnables import among, in_assertion, lacking
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.check.walk import nodes, transform
from lnnkit.check.weights import shapes_of
from lnnkit.graph.describe import derived_by
from lnnkit.learn.parameters.unit_readout import crisp_relation
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Span

ParameterKind = Literal["weight", "bias", "lower", "upper", "value", "unit", "relation"]
"""``unit`` and ``relation`` are weights omitted from a unit or a ``<?>``; a ``?`` is a ``value``."""

Replacement = Callable[[ParameterKind, ast.Value | float, Span], ast.Value | float]
"""Returns the replacement for a number of some kind. It is called for all positions of a rule in a fixed order."""

_SHARPEST = 1e-3  # share of a comparison's initial scale: the least that it learns
_TINY = 1e-6  # the same without an initial scale
_WRITTEN = re.compile(r"\?(?:[^\s<(]|\s*\"[^\"]*\")*")

_Attributed = ast.Connective | ast.Comparison | ast.Unit


def rewritten(
    formula: ast.Expression, number: Replacement, spans: Collection[tuple[int, int]], *, marked: bool
) -> ast.Expression:
    """A formula with ``number`` applied to each number that may be learned. Unless the rule is ``marked``, that
    includes positions where no number is written, so the order does not depend on whether one is. ``spans`` are those
    of chains of comparisons (`chains`), which are conjunctions in a checked formula."""

    def written(operand: ast.Expression) -> ast.Expression:
        """An operand whose weight is learned only where one is written."""
        return _weighed(number, operand) if isinstance(operand, ast.Weighted) else operand

    def change(node: ast.Expression) -> ast.Expression:
        match node:
            case ast.Learnable():
                return _value(number, "value", node, node.span)
            case ast.Weighted():
                return _weighed(number, node) if marked else node  # else the connective handles it, below
            case ast.And() | ast.Or() if (node.span.start, node.span.end) in spans:
                return node
            case ast.And() | ast.Or() if not marked:
                node = replace(node, operands=tuple(_weighed(number, operand) for operand in node.operands))
            case ast.Implies() if not marked:
                body = node.antecedent
                body = body if isinstance(body, (ast.And, ast.Or)) else _weighed(number, body)
                node = replace(node, antecedent=body, consequent=written(node.consequent))
            case ast.Iff() | ast.Xor() if not marked:
                node = replace(node, left=written(node.left), right=written(node.right))
        if isinstance(node, _Attributed) and (node.attributes or isinstance(node, ast.Connective)):
            return replace(node, attributes=_attributes(number, node, marked=marked))
        return node

    return transform(formula, change)


def opened(formula: ast.Expression) -> ast.Expression:
    """A formula with a ``?`` for each required weight that its units and ``<?>`` omit."""

    def change(node: ast.Expression) -> ast.Expression:
        if not isinstance(node, ast.Unit | ast.Comparison):
            return node
        added: list[ast.Attribute] = []
        for key in lacking(node):
            unknown, shape = ast.Learnable(None, None, span=node.span), shapes_of(node)[key]
            several = ast.ValueList((unknown,) * (shape.count or len(node.operands)), span=node.span)
            added.append(ast.Attribute(key, unknown if shape.count is None else several, span=node.span))
        return replace(node, attributes=(*node.attributes, *added)) if added else node

    return transform(formula, change)


def is_opened(value: ast.Value | float) -> bool:
    """Whether the value is an implicit ``?`` that stands for an omitted weight (`opened`)."""
    return isinstance(value, ast.Learnable) and _WRITTEN.fullmatch(value.span.text) is None


def ranges(formula: ast.Expression) -> dict[str, tuple[float, float]]:
    """The least and the greatest value of the named learnable weights and scales, which stay positive."""
    limits: dict[str, tuple[float, float]] = {}
    for node in nodes(formula):
        shapes = shapes_of(node) if isinstance(node, ast.Unit) else {}
        for attribute in node.attributes if isinstance(node, ast.Unit | ast.Comparison) else ():
            shape = shapes.get(attribute.key)
            for learnable in among([attribute.value]):
                if learnable.name is not None and shape is not None:
                    limits[learnable.name] = shape.low, shape.high
                elif learnable.name is not None and attribute.key == "scale":
                    limits[learnable.name] = _SHARPEST * (learnable.initial or _TINY), math.inf
    return limits


def truths(
    lower: ast.Value | float, upper: ast.Value | float, number: Replacement, span: Span, *, marked: bool
) -> tuple[ast.Value | float, ast.Value | float]:
    """The truth of a rule; an uninformative end (lower 0 or upper 1) is learned only if marked."""
    if marked or plain(lower) != 0.0:
        lower = number("lower", lower, span)
    if marked or plain(upper) != 1.0:
        upper = number("upper", upper, span)
    return lower, upper


def plain(value: ast.Value | float) -> float | None:
    """The number; None for a ``?``."""
    if isinstance(value, ast.Number):
        return float(value.value)
    return float(value) if isinstance(value, (int, float)) else None


def chains(file: ast.Program) -> frozenset[tuple[int, int]]:
    """The positions of comparisons of more than two terms in rules."""
    rules = (statement.formula for statement in file.statements if isinstance(statement, ast.RuleStatement))
    compared = (node for rule in rules for node in nodes(rule) if isinstance(node, ast.Comparison))
    return frozenset((node.span.start, node.span.end) for node in compared if len(node.operators) > 1)


def _value(number: Replacement, kind: ParameterKind, given: ast.Value | float, span: Span) -> ast.Value:
    value = number(kind, given, span)
    return value if isinstance(value, (ast.Number, ast.Learnable)) else ast.Number(value, span=span)


def _weighed(number: Replacement, operand: ast.Expression) -> ast.Expression:
    if isinstance(operand, ast.Weighted):
        return replace(operand, weight=_value(number, "weight", operand.weight, operand.weight.span))
    if isinstance(operand, ast.Truth):
        return operand
    return ast.Weighted(operand, _value(number, "weight", 1.0, operand.span), span=operand.span)


def _attributes(number: Replacement, node: _Attributed, *, marked: bool) -> tuple[ast.Attribute, ...]:
    attributes: list[ast.Attribute] = []
    for attribute in node.attributes:
        kind: ParameterKind = "bias" if attribute.key == "bias" and not isinstance(node, ast.Unit) else "value"
        if any(map(is_opened, among([attribute.value]))):
            kind = "unit" if isinstance(node, ast.Unit) else "relation"
        if isinstance(attribute.value, str) or (not marked and kind == "value"):
            attributes.append(attribute)
        else:
            attributes.append(replace(attribute, value=_listed(number, kind, attribute.value)))
    if not marked and isinstance(node, (ast.And, ast.Or)) and all(attribute.key != "bias" for attribute in attributes):
        attributes.append(ast.Attribute("bias", _value(number, "bias", 1.0, node.span), span=node.span))
    return tuple(attributes)


def _listed(number: Replacement, kind: ParameterKind, given: ast.Value | ast.ValueList) -> ast.Value | ast.ValueList:
    if isinstance(given, ast.ValueList):
        return replace(given, items=tuple(_listed(number, kind, item) for item in given.items))
    return _value(number, kind, given, given.span)


OF_LOGIC = frozenset({"weight", "bias", "lower", "upper"})  # kinds of weights and truths, which are not negative


@dataclass(frozen=True, slots=True)
class LearnedParameter:
    """A learned number of ``rules``; ``marked`` ones are written as ``?``, ``dated`` ones are dates. ``start`` is None
    where none is given."""

    name: str
    kind: ParameterKind
    rules: tuple[str, ...]
    start: float | None
    marked: bool
    span: Span
    limits: tuple[float, float] | None = None
    dated: bool = False

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value: those of connectives are not negative, those of truths within [0, 1]."""
        least, most = 0.0 if self.kind in OF_LOGIC else -math.inf, 1.0 if self.kind in ("lower", "upper") else math.inf
        return self.limits or (least, most)


def rule_names(program: CheckedProgram) -> dict[int, str]:
    """A name for each rule and axiom, by its index among the assertions: its own, or its line."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for place, assertion in enumerate(program.assertions):
        name = assertion.called
        names[place] = f"{name} (line {assertion.span.line})" if name in taken else name
        taken.add(names[place])
    return names


def trainable(program: CheckedProgram, file: ast.Program) -> dict[str, int]:
    """The rules that may learn, those of the main ``file`` but for those that derive a closed number: their indices
    among the assertions, by name."""
    pairs = zip(rule_names(program).items(), program.assertions, strict=True)
    path = file.span.source.path
    pairs = ((key, one) for key, one in pairs if one.kind == "rule" and one.span.source.path == path)
    return {name: at for (at, name), one in pairs if derived_by(one, program.predicates) is None}


class ParameterNaming:
    """Names the learned numbers of one rule, in order of occurrence. Names in ``fixed`` are not learned."""

    def __init__(self, rule: str, *, marked: bool, fixed: Collection[str | None] = ()) -> None:
        self._rule = rule
        self.marked = marked
        self._fixed = fixed
        self._counts: dict[ParameterKind, int] = {}

    def name(self, kind: ParameterKind, value: ast.Value | float) -> str | None:
        """The name of the next number; None if it is not learned."""
        named = value.name if isinstance(value, ast.Learnable) else None
        if isinstance(value, ast.Learnable) != self.marked or (named is not None and named in self._fixed):
            return None
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{self._rule}/{kind}{self._counts[kind]}" if named is None else named


def is_marked(assertion: Assertion) -> bool:
    """Whether the rule marks what it learns."""
    return assertion.unknown is not None or any(True for _ in in_assertion(_opened(assertion)))


def _opened(assertion: Assertion) -> Assertion:
    return replace(assertion, formula=opened(cast("ast.Expression", assertion.formula)))


def parametrised(
    program: CheckedProgram, file: ast.Program, trained: Collection[str]
) -> tuple[CheckedProgram, tuple[LearnedParameter, ...]]:
    """The program with each learned number as a ``?`` with its own name, and the parameters. ``trained`` are the names
    (`rule_names`) of the rules that learn; the ``?`` of other rules keep their values everywhere."""
    names, spans = rule_names(program), chains(file)
    untrained = [assertion for place, assertion in enumerate(program.assertions) if names[place] not in trained]
    fixed = {learnable.name for assertion in untrained for learnable in in_assertion(assertion)}
    learned: dict[str, LearnedParameter] = {}
    assertions = list(program.assertions)
    limits: dict[str, tuple[float, float]] = {}
    for place, assertion in enumerate(program.assertions):
        if names[place] in trained:
            marked = is_marked(assertion)
            number = _entering(ParameterNaming(names[place], marked=marked, fixed=fixed), names[place], learned)
            assertions[place] = _rewritten(_opened(assertion), number, spans, marked=marked)
            limits |= ranges(cast("ast.Expression", assertions[place].formula))
    parameters = []
    for parameter in learned.values():
        start = 1.0 if parameter.start is None and parameter.kind in OF_LOGIC else parameter.start
        parameters.append(replace(parameter, start=start, limits=limits.get(parameter.name)))
    return replace(program, assertions=tuple(assertions)), tuple(parameters)


def _entering(naming: ParameterNaming, rule: str, learned: dict[str, LearnedParameter]) -> Replacement:
    """Adds the numbers of a rule to the ``learned`` ones, and names each."""

    def number(kind: ParameterKind, value: ast.Value | float, span: Span) -> ast.Value | float:
        name = naming.name(kind, value)
        if name is None:
            return value
        given = value.initial if isinstance(value, ast.Learnable) else plain(value)
        start = None if given is None else float(given)
        unit, marked = (value.unit, True) if isinstance(value, ast.Learnable) else (None, False)
        known = learned.get(name) or LearnedParameter(name, kind, (), start, marked, span, dated=unit == "date")
        rules = tuple(dict.fromkeys((*known.rules, rule)))
        learned[name] = replace(known, rules=rules, start=start if known.start is None else known.start)
        return ast.Learnable(name, start, unit, span=span)

    return number


def at(
    program: CheckedProgram, values: Mapping[str, float], parameters: Sequence[LearnedParameter] = ()
) -> CheckedProgram:
    """A parametrised program with other initial values; those of ``parameters`` that are not marked become numbers."""
    unmarked = {parameter.name for parameter in parameters if not parameter.marked}

    def number(_kind: ParameterKind, value: ast.Value | float, _span: Span) -> ast.Value | float:
        if not isinstance(value, ast.Learnable) or (now := values.get(value.name or "")) is None:
            return value
        return ast.Number(now, span=value.span) if value.name in unmarked else replace(value, initial=now)

    assertions = (_rewritten(assertion, number, frozenset(), marked=True) for assertion in program.assertions)
    return replace(program, assertions=tuple(assertions))


def _rewritten(
    assertion: Assertion, number: Replacement, spans: Collection[tuple[int, int]], *, marked: bool
) -> Assertion:
    """The assertion with ``number`` applied to each number that may be learned."""
    formula = rewritten(cast(ast.Expression, assertion.formula), number, spans, marked=marked)
    ends = truths(assertion.lower, assertion.upper, number, assertion.span, marked=marked)
    lower, upper = (float(end.value) if isinstance(end, ast.Number) else end for end in ends)
    return replace(assertion, formula=formula, lower=lower, upper=upper)


def with_values(
    statement: ast.RuleStatement, rule: str, assertion: Assertion, values: Mapping[str, float]
) -> ast.RuleStatement:
    """The statement of a ``rule``, which was checked as ``assertion``, with these values. A ``?`` stays one with a new
    start; a value of 1 that did not change is not written."""
    naming = ParameterNaming(rule, marked=is_marked(assertion))

    def number(kind: ParameterKind, value: ast.Value | float, span: Span) -> ast.Value | float:
        name = naming.name(kind, value)
        if name is None or name not in values:
            return value
        now = values[name]
        now = int(now) if now.is_integer() and abs(now) < 2**53 else now
        if isinstance(value, ast.Learnable) and not is_opened(value):
            return replace(value, initial=now)
        return ast.Number(now, span=span)

    marked, bounds, span = naming.marked, statement.bounds, statement.span
    formula = transform(rewritten(opened(statement.formula), number, (), marked=marked), _plainly)
    one = ast.Number(1, span=span)
    given = (one, one) if bounds is None else (bounds.lower, bounds.upper)
    lower, upper = cast("tuple[ast.Value, ast.Value]", truths(*given, number, span, marked=marked))
    if (lower, upper) != given:
        bounds = ast.Bounds(lower, upper, span=span)
    return replace(statement, formula=formula, bounds=bounds)


def _plainly(node: ast.Expression) -> ast.Expression:
    """A register equal to a relation becomes that relation; a register or unit without values stays bare. Other nodes
    lose weights and biases of 1, the defaults, unless only a written weight is learned."""
    if isinstance(node, ast.Comparison | ast.Unit):
        given = tuple(attribute for attribute in node.attributes if not any(map(is_opened, among([attribute.value]))))
        if len(given) != len(node.attributes):
            return replace(node, attributes=given)
        return crisp_relation(node) if isinstance(node, ast.Comparison) else node
    if isinstance(node, (ast.And, ast.Or)):
        node = replace(node, operands=tuple(map(_without_one, node.operands)))
    elif isinstance(node, ast.Implies):
        bare = _without_one(node.antecedent)
        node = node if isinstance(bare, (ast.And, ast.Or)) else replace(node, antecedent=bare)
    else:
        return node
    said = {one: None if isinstance(one.value, str | ast.ValueList) else plain(one.value) for one in node.attributes}
    return replace(node, attributes=tuple(one for one, value in said.items() if one.key != "bias" or value != 1))


def _without_one(operand: ast.Expression) -> ast.Expression:
    return operand.operand if isinstance(operand, ast.Weighted) and plain(operand.weight) == 1 else operand


class ProgramModule(nn.Module):
    """One scalar in double precision for each learned number of a program, by name in ``values`` and in
    ``state_dict()``.

    torch allows no periods in names, so they are written ``%2E``; a name that is already an attribute of modules, such
    as ``to``, is written ``?to``. Inference reads the values when it starts.
    """

    def __init__(self, parameters: Sequence[LearnedParameter]) -> None:
        super().__init__()
        self.parameters_of_program = tuple(parameters)
        self.values = nn.ParameterDict()
        self._keys = {parameter.name: _key(parameter.name) for parameter in parameters}
        for parameter in parameters:
            start = torch.tensor(math.nan if parameter.start is None else parameter.start, dtype=torch.float64)
            self.values[self._keys[parameter.name]] = nn.Parameter(start)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters_of_program)

    def load(self, values: Mapping[str, float]) -> None:
        """Set values by name."""
        with torch.no_grad():
            for name, value in values.items():
                self.values[self._keys[name]].fill_(value)

    def current(self) -> Mapping[str, float]:
        """The values by name, as numbers, without those that are not set yet."""
        values = {name: float(self.values[self._keys[name]].detach()) for name in self.names}
        return {name: value for name, value in values.items() if not math.isnan(value)}

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value:g}" for name, value in self.current().items())


def _key(name: str) -> str:
    key = name.replace("%", "%25").replace(".", "%2E")
    return f"?{key}" if hasattr(nn.ParameterDict(), key) else key
