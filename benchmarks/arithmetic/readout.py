"""Trained units as arithmetic of the language: ``debt / income``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lnnkit.learn.parameters.unit_readout import crisp_relation, readable
from lnnkit.numeric.units.clipped_units import NPU
from lnnkit.numeric.units.nsr import NSR
from lnnkit.numeric.units.unit import Unit
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

Weights = Sequence[float] | float


def readout(unit: Unit, names: Sequence[str], seed: int | None = None) -> list[str]:
    """Each output of a unit over operands with these names; ``seed`` is the number of one of its seeds."""
    return [text(term, names) for term in terms(unit, operands(len(names)), seed)]


def operands(count: int) -> list[ast.Expression]:
    """Terms for so many operands, which `text` names."""
    return [ast.Atom(f"operand{place}", ()) for place in range(count)]


def text(term: ast.Expression, names: Sequence[str]) -> str:
    """A term over `operands` with these names."""
    return re.sub(r"operand(\d+)", lambda found: names[int(found[1])], format_expression(term))


def terms(unit: Unit, operands: Sequence[ast.Expression], seed: int | None = None) -> list[ast.Expression]:
    """Each output of a unit over terms."""
    shared = ("scale", "gate") if isinstance(unit, NPU) else ("scale",)  # of all outputs
    values = {key: value if seed is None else value[seed] for key, value in unit.attributes().items()}
    found: list[ast.Expression] = []
    for place in range(unit.out_features):
        row = {key: (value if key in shared else value[place]).tolist() for key, value in values.items()}
        if isinstance(unit, NSR):
            found.append(_relation(operands, row))
        else:
            found.append(weighed(type(unit).__name__.lower(), operands, row))
    return found


def weighed(name: str, operands: Sequence[ast.Expression], weights: Mapping[str, Weights]) -> ast.Expression:
    """A unit of the language, by its ``name``, with these weights."""
    attributes = tuple(ast.Attribute(key, _value(value)) for key, value in weights.items())
    return readable(ast.Unit(name, tuple(operands), attributes))[0]  # pyright: ignore[reportArgumentType]  # a name


def _relation(operands: Sequence[ast.Expression], row: Mapping[str, Any]) -> ast.Expression:
    """The comparison of the heaviest channel, the only one once the register is rounded."""
    channels = range(len(row["sign"]))
    heaviest = max(channels, key=lambda place: abs(row["sign"][place]) + abs(row["zero"][place]))
    sides = tuple(weighed("nau", operands, {"weight": row[key][heaviest]}) for key in ("first", "second"))
    weight = _value([row["sign"][heaviest], row["zero"][heaviest], row["bias"]])
    scale = [ast.Attribute("scale", _value(row["scale"]))] if row["scale"] else []
    return crisp_relation(ast.Comparison(sides, ("<?>",), (*scale, ast.Attribute("weight", weight))))


def _value(given: Weights) -> ast.Number | ast.ValueList:
    if isinstance(given, Sequence):
        return ast.ValueList(tuple(_number(float(value)) for value in given))
    return _number(given)


def _number(value: float) -> ast.Number:
    return ast.Number(int(value) if value.is_integer() and abs(value) < 2**53 else value)
