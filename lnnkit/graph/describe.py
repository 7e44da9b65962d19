"""Describes a neuron or term apart from its operands: its kind, its attributes, and which of these are learnable.
Learnable values are named parameters, each with one initial value. And what a statement asserts about each instance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lnnkit.check.date_terms import operation_of
from lnnkit.check.derived_numbers import Derivation, derivation
from lnnkit.check.learnables import in_assertion
from lnnkit.check.program import Assertion, CheckedFormula, CheckedProgram, Predicate, SameEntity
from lnnkit.check.walk import asserted
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Span
from lnnkit.time_limit import check_time


def stripped(assertion: Assertion) -> CheckedFormula:
    """The statement's formula without its leading universal quantifiers, whose variables become free.

    Only if the upper truth is 1: ``forall X: F in [l, 1]`` says exactly that each instance is at least ``l``.
    """
    formula = assertion.formula
    while isinstance(formula, ast.Forall) and assertion.upper == 1.0:
        formula = formula.body
    return formula


def derived_by(assertion: Assertion, predicates: Mapping[str, Predicate]) -> Derivation | None:
    """The closed number that a rule derives, with its candidates."""
    return derivation(stripped(assertion), predicates) if assertion.kind == "rule" and assertion.lower == 1.0 else None


def defined_predicates(assertion: Assertion, predicates: Mapping[str, Predicate]) -> frozenset[str]:
    """The closed predicates whose atoms are asserted by the conjunction that is the statement's consequent, or the
    closed number that it derives."""
    formula = stripped(assertion)
    derived = derived_by(assertion, predicates)
    if derived is not None:
        return frozenset({derived.head.name})
    if not isinstance(formula, ast.Implies):
        return frozenset()
    return frozenset(atom.name for atom in asserted(formula.consequent) if predicates[atom.name].closed)


NumberTree = float | tuple["NumberTree", ...]
"""A number, or the rows of a unit's attribute."""

NameTree = str | None | tuple["NameTree", ...]
"""The parameter that stands in each place of ``NumberTree``; None where the number is fixed."""


class Parameter(NamedTuple):
    """A learnable value. ``initial`` is None if no occurrence gives one; ``span`` is its first occurrence."""

    name: str
    initial: float | None
    span: Span


@dataclass(slots=True)
class Parameters:
    """The parameters found so far. All occurrences of ``?name`` are one parameter; each ``?`` is a parameter of its
    own: ``#1`` ...

    ``starts`` has the initial values of the names for which an occurrence gives one.
    """

    starts: Mapping[str, float]
    met: dict[str, Parameter] = field(default_factory=dict)
    anonymous: dict[tuple[str, int], str] = field(default_factory=dict)  # by path and offset: the position of each `?`

    def read(self, value: ast.Value | float, default: float | None = None) -> tuple[float, str | None]:
        """The current number of a value, and the name of its parameter if it is learnable. ``default`` is what the
        language assumes if nothing is written; a parameter with neither starts at ``nan``."""
        if isinstance(value, (int, float)):
            return float(value), None
        if isinstance(value, ast.Number):
            return float(value.value), None
        name = value.name or self.anonymous.setdefault(
            (value.span.source.path, value.span.start), f"#{len(self.anonymous) + 1}"
        )
        known = self.met.get(name)
        initial = value.initial if value.initial is not None else self.starts.get(name, default)
        if known is None or (known.initial is None and initial is not None):
            span = value.span if known is None else known.span
            self.met[name] = known = Parameter(name, None if initial is None else float(initial), span)
        return math.nan if known.initial is None else known.initial, name

    def read_list(self, value: ast.Value | ast.ValueList) -> tuple[NumberTree, NameTree]:
        """The numbers of a unit's attribute and the parameters among them, in the same shape."""
        if not isinstance(value, ast.ValueList):
            return self.read(value)
        pairs = [self.read_list(item) for item in value.items]
        return tuple(numbers for numbers, _ in pairs), tuple(names for _, names in pairs)


def starts(assertions: Iterable[Assertion]) -> dict[str, float]:
    """The initial value of each name for which an occurrence gives one; the checker has made sure that they agree."""
    initial = dict[str, float]()
    for assertion in assertions:
        check_time()
        for item in in_assertion(assertion):
            if item.name is not None and item.initial is not None:
                initial[item.name] = float(item.initial)
    return initial


ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power"}


@dataclass(frozen=True, slots=True)
class Description:
    """A neuron or term without its operands. ``learned`` has the attributes with parameters, each in the shape of the
    attribute's value."""

    kind: str
    attributes: Mapping[str, object] = field(default_factory=dict)
    learned: Mapping[str, NameTree] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for descriptions of the same function, whatever its operands."""
        return self.kind, *sorted(self.attributes.items(), key=_first), *sorted(self.learned.items(), key=_first)


def describe(formula: CheckedFormula, logic: str, parameters: Parameters, program: CheckedProgram) -> Description:
    """The description of a node of a checked formula; ``logic`` is its logic unless an attribute overrides it."""
    match formula:
        case SameEntity():
            return Description("same")
        case ast.Truth():
            return Description("true" if formula.value else "false")
        case ast.Number() | ast.Learnable():
            return _described("constant", {"value": parameters.read(formula)}, {"unit": formula.unit or ""})
        case ast.Arithmetic():
            return Description(ARITHMETIC[formula.operator])
        case ast.Function():
            return Description(operation_of(formula, program))
        case ast.Unit():
            return _described(formula.name, _attributes(formula, parameters))
        case ast.Aggregate():
            return Description(formula.name)
        case ast.Comparison():
            given = _attributes(formula, parameters)
            fixed = {"operator": formula.operators[0], "scale": None, "weight": None}
            return _described("compare", given, fixed)
        case ast.And() | ast.Or() | ast.Implies() | ast.Iff() | ast.Xor():
            attributes = {attribute.key: attribute.value for attribute in formula.attributes}
            bias = attributes.get("bias", 1.0)
            assert not isinstance(bias, (str, ast.ValueList))
            fixed = {"logic": attributes.get("logic", logic)}
            return _described(type(formula).__name__.lower(), {"bias": parameters.read(bias, 1.0)}, fixed)
    return Description(type(formula).__name__.lower())


def _attributes(node: ast.Unit | ast.Comparison, parameters: Parameters) -> dict[str, tuple[NumberTree, NameTree]]:
    values = {attribute.key: attribute.value for attribute in node.attributes}
    return {key: parameters.read_list(value) for key, value in values.items() if not isinstance(value, str)}


def _described(
    kind: str, given: Mapping[str, tuple[NumberTree, NameTree]], fixed: Mapping[str, object] | None = None
) -> Description:
    attributes = {**(fixed or {}), **{key: numbers for key, (numbers, _) in given.items()}}
    learned = {key: names for key, (_, names) in given.items() if holds_parameter(names)}
    return Description(kind, attributes, learned)


def holds_parameter(names: NameTree) -> bool:
    if isinstance(names, tuple):
        return any(map(holds_parameter, names))
    return names is not None


def _first(item: tuple[str, object]) -> str:
    return item[0]
