"""Writes trained units as arithmetic of the language: ``debt(X) / income(X)``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from lnnkit.arrays import all_set, any_set
from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU, RealNPU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.nsr import NSR, RELATIONS, crisp, relation_of
from lnnkit.numeric.units.unit import Unit

UnitValues = Mapping[str, Tensor]


@dataclass(frozen=True)
class Readout:
    """The unit's output as a function of its operands, with the current weights, and the largest distance of a weight
    from the unit's grid: 0 if it is rounded."""

    text: str
    residual: float


def readout(unit: Unit, operands: Sequence[str], seed: int | None = None) -> list[Readout]:
    """Each output of ``unit`` over the terms ``operands``, one for each input; ``seed`` names one of its seeds.

    If the language's operators cannot express the weights, the text is the unit itself with its attributes,
    ``nalu(a, b){weight: [...], gate: [...]}``. The text differs from the unit in three cases: units take fractional
    powers of magnitudes, where the text has no value for negative operands; products of an iNALU end at
    ``exp(20)``; an NPU that is not rounded adds its small ``epsilon`` to sizes. Raises ValueError if the number of
    operands or the seed does not fit.
    """
    if len(operands) != unit.in_features:
        raise ValueError(f"the unit has {unit.in_features} operands, not {len(operands)}")
    if (seed is None) != (unit.seeds is None):
        raise ValueError("name one seed for a unit with seeds, and none for a unit without")
    shared = ("scale", "gate") if isinstance(unit, NPU) else ("scale",)  # of all outputs

    def row(values: UnitValues, place: int) -> UnitValues:
        of_seed = {key: value if seed is None else value[seed] for key, value in values.items()}
        return {key: value if key in shared else value[place] for key, value in of_seed.items()}

    texts = (_text(unit, operands, row(unit.attributes(), place)) for place in range(unit.out_features))
    gaps = (row(unit.gaps(), place).values() for place in range(unit.out_features))
    return [Readout(text, max(float(gap.max()) for gap in some)) for text, some in zip(texts, gaps, strict=True)]


def _text(unit: Unit, operands: Sequence[str], row: UnitValues) -> str:
    match unit:
        case NAU() | NAC():
            return sum_text(operands, row["weight"].tolist())
        case NMU():
            return _product_of_sums(operands, row["weight"].tolist())
        case NPU():
            return _powers(unit, operands, row)
        case INALU() if float(row["gate"]) == 1:
            return sum_text(operands, row["add"].tolist())
        case INALU() if float(row["gate"]) == 0 and all_set(row["multiply"] == row["multiply"].round()):
            return _quotient(operands, row["multiply"].tolist())
        case INALU() | NALU():
            return _as_unit(type(unit).__name__.lower(), operands, row)
        case NSR():
            return _comparison(operands, row)
        case _:
            raise TypeError(f"no text is known for {type(unit).__name__}")


def sum_text(operands: Sequence[str], weights: Sequence[float]) -> str:
    """``a - b + 0.5 * c``: the sum of the terms times their weights; those of weight 0 are left out."""
    text = ""
    for operand, weight in zip(operands, weights, strict=True):
        if weight == 0:
            continue
        size = abs(weight)
        term = _grouped(operand, "+-") if size == 1 else f"{_number(size)} * {_grouped(operand, '+-*/')}"
        if not text:
            text = term if weight > 0 else f"-{_grouped(operand, '+-*/') if size == 1 else term}"
        else:
            text += f" {'+' if weight > 0 else '-'} {term}"
    return text or "0"


def _product_of_sums(operands: Sequence[str], weights: Sequence[float]) -> str:
    """``a * (0.5 * b + 0.5)``: the factors ``w x + 1 - w``."""
    factors: list[str] = []
    for operand, weight in zip(operands, weights, strict=True):
        if weight == 1:
            factors.append(_grouped(operand, "+-" if not factors else "+-*/"))
        elif weight != 0:
            rest = 1 - weight
            sign = "+" if rest > 0 else "-"
            factors.append(f"({sum_text([operand], [weight])} {sign} {_number(abs(rest))})")
    return " * ".join(factors) or "1"


def _powers(unit: NPU, operands: Sequence[str], row: UnitValues) -> str:
    gate = row["gate"].tolist() if "gate" in row else [1.0] * len(operands)
    twisted = "imaginary" in row and any_set(row["imaginary"] != 0)
    if twisted or any(opened not in (0, 1) for opened in gate):
        return _as_unit("realnpu" if isinstance(unit, RealNPU) else "npu", operands, row)
    return _quotient(operands, [power * opened for power, opened in zip(row["power"].tolist(), gate, strict=True)])


def _quotient(operands: Sequence[str], powers: Sequence[float]) -> str:
    """``a * b^2 / sqrt(c)``; operands of power 0 are left out."""
    if sorted(powers) == [*[0.0] * (len(powers) - 1), 1.0]:
        return operands[powers.index(1.0)]
    above = [_power(operand, power) for operand, power in zip(operands, powers, strict=True) if power > 0]
    below = [_power(operand, -power) for operand, power in zip(operands, powers, strict=True) if power < 0]
    return " / ".join([" * ".join(above) or "1", *below])


def _power(operand: str, power: float) -> str:
    if power == 1:
        return _grouped(operand, "+-*/")
    return f"sqrt({operand})" if power == 0.5 else f"{_grouped(operand, '+-*/^')}^{_number(power)}"


def _comparison(operands: Sequence[str], row: UnitValues) -> str:
    """The text for the heaviest channel, the only one once the register is rounded."""
    heaviest = int((row["sign"].abs() + row["zero"].abs()).argmax())
    left, right = (sum_text(operands, row[key][heaviest].tolist()) for key in ("first", "second"))
    weights = row["sign"].new_tensor([[row["sign"][heaviest], row["zero"][heaviest], row["bias"]]])
    hard = float(row["scale"]) == 0
    if hard and bool(crisp(weights)):
        (name,) = relation_of(weights)
        return f"{left} {name} {right}" if name in RELATIONS else name
    scale = "" if hard else f"scale: {_number(float(row['scale']))}, "
    return f"({left} <?> {right}){{{scale}weight: {_list(weights[0].tolist())}}}"


def _as_unit(name: str, operands: Sequence[str], row: UnitValues) -> str:
    shown = ", ".join(f"{key}: {_list(value.tolist())}" for key, value in row.items())
    return f"{name}({', '.join(operands)}){{{shown}}}"


def _list(value: float | list[float]) -> str:
    return f"[{', '.join(map(_number, value))}]" if isinstance(value, list) else _number(value)


def _number(value: float) -> str:
    """The shortest literal that parses to ``value``."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def _grouped(operand: str, loose: str) -> str:
    """The operand, in parentheses if an operator of ``loose`` occurs in it outside of brackets and quotes; a hyphen
    between letters is part of a name."""
    outside, brackets = re.sub(r'"(?:[^"\\]|\\.)*"', "_", operand), 1
    while brackets:
        outside, brackets = re.subn(r"[(\[{][^()\[\]{}]*[)\]}]", "_", outside)
    outside = re.sub(r"(?<=[^\W_])-(?=[^\W_])", "", outside)
    return f"({operand})" if any(sign in outside for sign in loose) else operand
