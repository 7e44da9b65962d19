"""Units and status registers with known weights as the arithmetic and the relations that they compute."""

from __future__ import annotations

from dataclasses import replace

from lnnkit.check.walk import transform
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse_expression

_PLACE = "operand{}"  # placeholder of an operand in a unit's text


def readable(node: ast.Expression) -> tuple[ast.Expression, float]:
    """The node as plain arithmetic (``debt(X) / income(X)`` for an NPU, ``>`` for a register), and the distance of its
    weights from rounded ones, or of a register's truths from 0 and 1. A node that the language's operators cannot
    express, or that still has learnable values, stays as it is."""
    if isinstance(node, ast.Unit):
        return _unit(node)
    if isinstance(node, ast.Comparison) and node.operators == ("<?>",):
        return _register(node)
    return node, 0.0


def _unit(node: ast.Unit) -> tuple[ast.Expression, float]:
    from lnnkit import numeric
    from lnnkit.numeric.units.readout import readout

    given = {attribute.key: _numbers(attribute.value) for attribute in node.attributes}
    if not given or any(value is None for value in given.values()):
        return node, 0.0
    classes = {
        "nac": numeric.NAC,
        "nalu": numeric.NALU,
        "inalu": numeric.INALU,
        "nau": numeric.NAU,
        "nmu": numeric.NMU,
        "npu": numeric.NPU,
        "realnpu": numeric.RealNPU,
    }
    try:
        unit = classes[node.name].given(**given)
    except TypeError:  # an attribute is missing: it is learned with the others
        return node, 0.0
    (reading,) = readout(unit, [_PLACE.format(place) for place in range(len(node.operands))])
    term, problems = parse_expression(reading.text)
    assert term is not None and not problems, reading.text
    if isinstance(term, ast.Unit):
        return node, reading.residual
    operands = {_PLACE.format(place): operand for place, operand in enumerate(node.operands)}

    def placed(part: ast.Expression) -> ast.Expression:
        return operands[part.name] if isinstance(part, ast.Atom) else part

    return transform(term, placed), reading.residual


def _numbers(value: ast.Value | ast.ValueList | str) -> float | list[float] | None:
    """The numbers of an attribute; None where one of them is learnable."""
    if isinstance(value, ast.ValueList):
        items = [float(item.value) for item in value.items if isinstance(item, ast.Number)]
        return items if len(items) == len(value.items) else None
    return float(value.value) if isinstance(value, ast.Number) else None


def crisp_relation(node: ast.Comparison) -> ast.Comparison:
    """A register without a scale whose truths are exactly 0 and 1, as that relation; others unchanged."""
    import torch

    from lnnkit.numeric.units.nsr import crisp

    given = {attribute.key: _numbers(attribute.value) for attribute in node.attributes}
    if node.operators != ("<?>",) or set(given) != {"weight"} or given["weight"] is None:
        return node
    return _register(node)[0] if bool(crisp(torch.tensor([given["weight"]], dtype=torch.float64))) else node


def _register(node: ast.Comparison) -> tuple[ast.Comparison, float]:
    import torch

    from lnnkit.numeric.units.nsr import RELATIONS, doubt, relation_of

    given = {attribute.key: _numbers(attribute.value) for attribute in node.attributes}
    if set(given) != {"weight"} or given["weight"] is None:
        return node, 0.0
    weights = torch.tensor([given["weight"]], dtype=torch.float64)
    (name,) = relation_of(weights)
    relation = next((sign for sign in RELATIONS if sign == name), None)
    if relation is None:
        return node, 0.0
    return replace(node, operators=(relation,), attributes=()), float(doubt(weights))
