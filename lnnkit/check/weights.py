"""Weights, biases and the other attributes: where they are allowed, and their values.

Arithmetic units and learned relations: which attributes each one has, their shapes, and the values that they take.

A unit computes one number, so an attribute is one number for each operand, or a single number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lnnkit.check.findings import did_you_mean, error, nearest, warning
from lnnkit.check.kinds import may_be_numeric
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.check.walk import Visit, children
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an attribute: a list of ``count`` numbers (0: one for each operand), or a single number if ``count``
    is None; ``needed`` means that the unit has no value without it before training."""

    count: int | None = 0
    low: float = -math.inf
    high: float = math.inf
    needed: bool = True


UNIT_ATTRIBUTES: Mapping[str, Mapping[str, Shape]] = {
    "nac": {"weight": Shape(low=-1.0, high=1.0)},
    "nau": {"weight": Shape(low=-1.0, high=1.0)},
    "nmu": {"weight": Shape(low=0.0, high=1.0)},
    "nalu": {"weight": Shape(low=-1.0, high=1.0), "gate": Shape()},
    "inalu": {"add": Shape(low=-1.0, high=1.0), "multiply": Shape(low=-1.0, high=1.0), "gate": Shape(None, 0.0, 1.0)},
    "npu": {"power": Shape(), "imaginary": Shape(needed=False), "gate": Shape(low=0.0, high=1.0, needed=False)},
    "realnpu": {"power": Shape(), "gate": Shape(low=0.0, high=1.0, needed=False)},
}

RELATION_ATTRIBUTES: Mapping[str, Shape] = {"weight": Shape(3), "scale": Shape(None)}
"""Of ``<?>``: the weights of the sign bit and of the zero bit, and the bias."""


def shapes_of(node: ast.Unit | ast.Comparison) -> Mapping[str, Shape]:
    """The attributes whose shape is checked here, by key."""
    if isinstance(node, ast.Unit):
        return UNIT_ATTRIBUTES[node.name]
    return {"weight": RELATION_ATTRIBUTES["weight"]} if "<?>" in node.operators else {}


_KEYS = frozenset({"bias", "logic", *RELATION_ATTRIBUTES}).union(*UNIT_ATTRIBUTES.values())


def weights(symbols: Symbols) -> Iterator[Diagnostic]:
    for formula in symbols.formulas:
        for visit in formula.visits:
            if isinstance(visit.node, ast.Weighted):
                yield from _weight(visit.node, visit.parent)
            elif isinstance(visit.node, Carrier) and visit.node.attributes:
                yield from _attributes(visit, visit.node, formula, symbols)
        yield from _last(formula)


def _last(formula: Formula) -> Iterator[Diagnostic]:
    """`rule P(X) -> Q(X) @ 0.8`, without any other weight, and without bounds: the truth of the rule may be meant."""
    weighed = list(formula.nodes(ast.Weighted))
    if formula.kind == "query" or formula.bounds is not None or len(weighed) != 1:
        return
    weight, operand = weighed[0].weight, weighed[0].operand
    if not isinstance(weight, ast.Number) or not 0 < weight.value < 1 or weight.span.end < formula.statement.span.end:
        return
    if isinstance(formula.matrix, ast.Implies):
        value = weight.span.text
        message = f"`@{value}` weighs `{operand.span.on_one_line}` alone: it does not say how far the rule holds"
        hint = f"for that write `in [{value}, 1]`; if the weight is meant, give another operand one too, if it is `@1`"
        yield warning("weighted-conclusion", weight.span, message, hint)


def _weight(node: ast.Weighted, parent: ast.Expression | None) -> Iterator[Diagnostic]:
    weight = node.weight
    value = weight.start
    if not isinstance(parent, ast.Connective):
        message = f"the weight `@{weight.span.text}` has no operand: it stands in no connective"
        truth = f"in [{weight.span.text}, 1]" if value is not None and 0 < value <= 1 else "in [l, u]"
        hint = f"weigh an operand, `A@0.7 & B`; the truth of a whole statement is written `{truth}` at its end"
        yield error("misplaced-weight", weight.span, message, hint)
    elif isinstance(node.operand, ast.Weighted):
        yield error("repeated-weight", weight.span, "an operand has one weight", "take one of the two out")
    if value is not None and not math.isfinite(value):  # a negative one does not parse
        message = f"the weight {weight.span.text} is not finite"
        hint = "write a finite number; weights are relative to each other"
        yield error("infinite-weight", weight.span, message, hint)


Carrier = ast.Connective | ast.Comparison | ast.Unit


def _attributes(visit: Visit, node: Carrier, formula: Formula, symbols: Symbols) -> Iterator[Diagnostic]:
    allowed, what = _allowed(visit, node, symbols)
    seen: set[str] = set()
    for attribute in node.attributes:
        key = attribute.key
        if key in seen:
            yield error("duplicate-attribute", attribute.span, f"`{key}` is given twice", "keep one of the two")
        elif key not in allowed:
            code = "misplaced-attributes" if key in _KEYS else "unknown-attribute"
            keys = ", ".join(f"`{name}`" for name in sorted(allowed))
            hint = did_you_mean(nearest(key, allowed), f"use {keys}" if keys else "take it out")
            yield error(code, attribute.span, f"`{key}` is not an attribute of {what}", hint)
        else:
            yield from (_logic if key == "logic" else _value)(attribute, node, formula)
        seen.add(key)


def _allowed(visit: Visit, node: Carrier, symbols: Symbols) -> tuple[frozenset[str], str]:
    if isinstance(node, ast.Unit):
        return frozenset(UNIT_ATTRIBUTES[node.name]), f"the unit `{node.name}`"
    if not isinstance(node, ast.Comparison):
        return frozenset({"bias", "logic"}), "a connective"
    if "<?>" in node.operators:
        return frozenset(RELATION_ATTRIBUTES), "`<?>`"
    numeric = any(may_be_numeric(operand, symbols, visit.scope) for operand in node.operands)
    return (frozenset({"scale"}), "a comparison") if numeric else (frozenset(), "a comparison of entities")


def _logic(attribute: ast.Attribute, node: Carrier, formula: Formula) -> Iterator[Diagnostic]:
    value, listed = attribute.value, f"choose one of {', '.join(ast.LOGICS)}"
    if isinstance(value, ast.Learnable):
        message = f"`{value.span.text}` is learnable, but a logic must be given"
        yield error("misplaced-learnable", value.span, message, listed)
    elif value not in ast.LOGICS:
        shown = value if isinstance(value, str) else value.span.text
        hint = did_you_mean(nearest(shown, ast.LOGICS), listed)
        yield error("unknown-logic", attribute.span, f"`{shown}` is not a logic", hint)


def _value(attribute: ast.Attribute, node: Carrier, formula: Formula) -> Iterator[Diagnostic]:
    """Findings about the value of an attribute: numbers of its shape; a bias, and the scale, is one number."""
    key, value = attribute.key, attribute.value
    shape = None if isinstance(node, ast.Connective) else shapes_of(node).get(key)
    if isinstance(value, str):
        what, example = ("a number or a list", "[1, 1]") if shape else ("one number", "1")
        yield error("attribute-value", attribute.span, f"`{key}` is {what}", f"`{key}: {example}`")
        return
    items = value.items if isinstance(value, ast.ValueList) else (value,)
    numbers = [item for item in items if not isinstance(item, ast.ValueList)]
    count = None if shape is None or shape.count is None else shape.count or len(children(node))
    if isinstance(value, ast.ValueList) == (count is None) or not len(numbers) == len(items) == (count or 1):
        what, example = "one number", "1"
        if shape is not None and count is not None:
            weights = "the weights of the sign and of the zero, and the bias" if shape.count else "one for each operand"
            what = f"a list of {count} number{'' if count == 1 else 's'}: {weights}"
            example = f"[{', '.join(['1'] * count)}]"
        code = "attribute-shape" if shape else "attribute-value"
        yield error(code, attribute.span, f"`{key}` is {what}", f"write `{key}: {example}`")
        return
    for number in (number for number in numbers if number.start is not None):
        start, span = number.start or 0, number.span if shape else attribute.span
        if not math.isfinite(start):
            yield error("attribute-value", span, f"`{key}` is finite", f"`{key}: 1`")
        elif key == "scale" and start <= 0:
            hint = "the larger, the softer: `{scale: 2}`"
            yield error("attribute-value", span, f"the scale {number.span.text} is not above 0", hint)
        elif shape is not None and not shape.low <= start <= shape.high:
            message = f"`{key}` must be in [{shape.low:g}, {shape.high:g}]; got {number.span.text}"
            share = "a gate is a share, from 0 (closed) to 1 (open)"
            hint = share if key == "gate" else "scale an operand instead: `2 * debt(X)`"
            yield error("attribute-value", span, message, hint)
    if key == "bias" and isinstance(node, ast.Iff | ast.Xor):
        given = (other.value for other in node.attributes if other.key == "logic")
        logic = next((value for value in given if value in ast.LOGICS), formula.logic)
        if logic not in ast.BIASED_EQUIVALENCES:
            message = f"`{'<->' if isinstance(node, ast.Iff) else 'xor'}` has no bias in {logic} logic"
            hint = "take it out, or write the two implications, or add `logic: lukasiewicz`"
            yield error("bias-on-equivalence", attribute.span, message, hint)
