"""Arithmetic units and learned relations: which attributes each one has, their shapes, and the values that they take.

A unit computes one number, so an attribute is one number for each operand, or a single number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lnnkit.check.findings import error
from lnnkit.check.symbols import Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an attribute: a list of ``count`` numbers (0: one for each operand), or a single number if ``count``
    is None.

    ``needed`` means that the unit has no value without it before training.
    """

    count: int | None = 0
    low: float = -math.inf
    high: float = math.inf
    needed: bool = True


UNIT_ATTRIBUTES: Mapping[str, Mapping[str, Shape]] = {
    "nac": {"weight": Shape(low=-1.0, high=1.0)},
    "nau": {"weight": Shape(low=-1.0, high=1.0)},
    "nmu": {"weight": Shape(low=0.0, high=1.0)},
    "nalu": {"weight": Shape(low=-1.0, high=1.0), "gate": Shape()},
    "inalu": {
        "add": Shape(low=-1.0, high=1.0),
        "multiply": Shape(low=-1.0, high=1.0),
        "gate": Shape(None, 0.0, 1.0),
    },
    "npu": {"power": Shape(), "imaginary": Shape(needed=False), "gate": Shape(low=0.0, high=1.0, needed=False)},
    "realnpu": {"power": Shape(), "gate": Shape(low=0.0, high=1.0, needed=False)},
}

RELATION_ATTRIBUTES: Mapping[str, Shape] = {"weight": Shape(3), "scale": Shape(None)}
"""Of ``<?>``: the weights of the sign bit and of the zero bit, and the bias."""


def units(symbols: Symbols) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for node in (visit.node for formula in symbols.formulas for visit in formula.visits):
        if isinstance(node, ast.Unit | ast.Comparison):
            shapes = shapes_of(node)
            for each in node.attributes:
                if each.key in shapes and not isinstance(each.value, str):
                    found += _attribute(each, each.value, shapes[each.key], node)
    return found


def shapes_of(node: ast.Unit | ast.Comparison) -> Mapping[str, Shape]:
    """The attributes whose shape is checked here, by key."""
    if isinstance(node, ast.Unit):
        return UNIT_ATTRIBUTES[node.name]
    return {"weight": RELATION_ATTRIBUTES["weight"]} if "<?>" in node.operators else {}


def _attribute(
    attribute: ast.Attribute, value: ast.Value | ast.ValueList, shape: Shape, node: ast.Unit | ast.Comparison
) -> Iterator[Diagnostic]:
    key = attribute.key
    if shape.count is None:
        if isinstance(value, ast.ValueList):
            yield error("attribute-shape", attribute.span, f"`{key}` is one number", f"write `{key}: 1`")
        else:
            yield from _in_range(attribute, value, shape)
        return
    count = shape.count or len(node.operands)
    what = "the weights of the sign and of the zero, and the bias" if shape.count else "one for each operand"
    items = value.items if isinstance(value, ast.ValueList) else ()
    numbers = [item for item in items if not isinstance(item, ast.ValueList)]
    if len(numbers) != count or len(items) != count:
        example = ", ".join(["1"] * count)
        message = f"`{key}` is a list of {count} number{'' if count == 1 else 's'}: {what}"
        yield error("attribute-shape", attribute.span, message, f"write `{key}: [{example}]`")
        return
    for number in numbers:
        yield from _in_range(attribute, number, shape)


def _in_range(attribute: ast.Attribute, value: ast.Value, shape: Shape) -> Iterator[Diagnostic]:
    number = value.start
    if number is None:
        return
    key = attribute.key
    if not math.isfinite(number):
        yield error("attribute-value", value.span, f"`{key}` is finite", f"`{key}: 1`")
    elif not shape.low <= number <= shape.high:
        message = f"`{key}` must be in [{shape.low:g}, {shape.high:g}]; got {value.span.text}"
        hint = "scale an operand instead: `2 * debt(X)`"
        if key == "gate":
            hint = "a gate is a share, from 0 (closed) to 1 (open)"
        yield error("attribute-value", value.span, message, hint)
