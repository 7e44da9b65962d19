"""Describes a neuron or term apart from its operands: its kind, its attributes, and which of these are learnable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lnnkit.check.program import SameEntity
from lnnkit.graph.initial_parameters import Names, Numbers, Parameters
from lnnkit.syntax import ast

_ARITHMETIC = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "^": "power"}


@dataclass(frozen=True, slots=True)
class Description:
    """A neuron or term without its operands. ``learned`` has the attributes with parameters, each in the shape of the
    attribute's value."""

    kind: str
    attributes: Mapping[str, object] = field(default_factory=dict)
    learned: Mapping[str, Names] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for descriptions of the same function, whatever its operands."""
        return self.kind, *sorted(self.attributes.items(), key=_first), *sorted(self.learned.items(), key=_first)


def describe(formula: ast.Expression | SameEntity, logic: str, parameters: Parameters) -> Description:
    """The description of a node of a checked formula; ``logic`` is its logic unless an attribute overrides it."""
    match formula:
        case SameEntity():
            return Description("same")
        case ast.Truth():
            return Description("true" if formula.value else "false")
        case ast.Number() | ast.Learnable():
            return _described("constant", {"value": parameters.read(formula)})
        case ast.Arithmetic():
            return Description(_ARITHMETIC[formula.operator])
        case ast.Function() | ast.Unit():
            return _described(formula.name, _attributes(formula, parameters))
        case ast.Comparison():
            given = _attributes(formula, parameters)
            fixed = {"operator": formula.operators[0], "scale": None, "weight": None}
            return _described("compare", given, fixed)
        case ast.And() | ast.Or() | ast.Implies() | ast.Iff() | ast.Xor():
            own = {attribute.key: attribute.value for attribute in formula.attributes}
            bias = own.get("bias", 1.0)
            assert not isinstance(bias, (str, ast.ValueList))
            fixed = {"logic": own.get("logic", logic)}
            return _described(type(formula).__name__.lower(), {"bias": parameters.read(bias, 1.0)}, fixed)
    return Description(type(formula).__name__.lower())


def _attributes(
    node: ast.Function | ast.Unit | ast.Comparison, parameters: Parameters
) -> dict[str, tuple[Numbers, Names]]:
    attributes = () if isinstance(node, ast.Function) else node.attributes
    return {each.key: parameters.read_list(each.value) for each in attributes if not isinstance(each.value, str)}


def _described(
    kind: str, given: Mapping[str, tuple[Numbers, Names]], fixed: Mapping[str, object] | None = None
) -> Description:
    attributes = {**(fixed or {}), **{key: numbers for key, (numbers, _) in given.items()}}
    learned = {key: names for key, (_, names) in given.items() if holds_parameter(names)}
    return Description(kind, attributes, learned)


def holds_parameter(names: Names) -> bool:
    if isinstance(names, tuple):
        return any(holds_parameter(each) for each in names)
    return names is not None


def _first(item: tuple[str, object]) -> str:
    return item[0]
