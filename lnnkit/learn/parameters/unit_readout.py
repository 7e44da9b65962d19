"""Units and status registers with known weights as the arithmetic and the relations that they compute."""

from __future__ import annotations

from dataclasses import replace

from lnnkit.check.walk import transform
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse_expression


def readable(node: ast.Expression) -> tuple[ast.Expression, float]:
    """The node as plain arithmetic (``debt(X) / income(X)`` for an NPU, ``>`` for a register), and the distance of its
    weights from rounded ones, or of a register's truths from 0 and 1. A node that the language's operators cannot
    express, or that still has learnable values, stays as it is."""
    if isinstance(node, ast.Unit):
        return _unit(node)
    return _register(node) if isinstance(node, ast.Comparison) else (node, 0.0)


def crisp_relation(node: ast.Comparison) -> ast.Comparison:
    """A register without a scale whose truths are exactly 0 and 1, as that relation; others unchanged."""
    return _register(node, doubtful=False)[0]


def _given(node: ast.Unit | ast.Comparison) -> dict[str, float | list[float]] | None:
    """The numbers of the attributes; None where one of them is learnable."""
    given: dict[str, float | list[float]] = {}
    for key, value in ((attribute.key, attribute.value) for attribute in node.attributes):
        items = value.items if isinstance(value, ast.ValueList) else (value,)
        numbers = [float(item.value) for item in items if isinstance(item, ast.Number)]
        if len(numbers) < len(items):
            return None
        given[key] = numbers if isinstance(value, ast.ValueList) else numbers[0]
    return given


def _unit(node: ast.Unit) -> tuple[ast.Expression, float]:
    """As `readable`, for a unit."""
    from lnnkit import numeric
    from lnnkit.numeric.units.readout import readout

    given = _given(node)
    if not given:
        return node, 0.0
    try:
        unit = getattr(numeric, "RealNPU" if node.name == "realnpu" else node.name.upper()).given(**given)
    except TypeError:  # an attribute is missing: it is learned with the others
        return node, 0.0
    operands = {f"operand{place}": operand for place, operand in enumerate(node.operands)}
    (reading,) = readout(unit, list(operands))
    term, problems = parse_expression(reading.text)
    assert term is not None and not problems, reading.text
    if isinstance(term, ast.Unit):
        return node, reading.residual
    return transform(term, lambda part: operands[part.name] if isinstance(part, ast.Atom) else part), reading.residual


def _register(node: ast.Comparison, *, doubtful: bool = True) -> tuple[ast.Comparison, float]:
    """A register as a relation; unless ``doubtful``, only if its truths are exactly 0 and 1."""
    import torch

    from lnnkit.numeric.units.nsr import RELATIONS, crisp, doubt, relation_of

    given = _given(node) if node.operators == ("<?>",) else None
    if given is None or set(given) != {"weight"}:
        return node, 0.0
    weights = torch.tensor([given["weight"]], dtype=torch.float64)
    (name,) = relation_of(weights)
    relation = next((sign for sign in RELATIONS if sign == name), None)
    if relation is None or not (doubtful or bool(crisp(weights))):
        return node, 0.0
    return replace(node, operators=(relation,), attributes=()), float(doubt(weights))
