"""Writes trained units as arithmetic of the language: ``debt(X) / income(X)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from lnnkit.arrays import any_set
from lnnkit.numeric.units.clipped_units import NAU, NMU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.npu import NPU, RealNPU
from lnnkit.numeric.units.nsr import NSR, RELATIONS, crisp, relation_of
from lnnkit.numeric.units.unit import Unit


@dataclass(frozen=True)
class Readout:
    """``text`` is the unit's output as a function of its operands, with the current weights; ``residual`` is the
    largest distance of a weight from the unit's grid: 0 if it is rounded."""

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
    values = {key: value if seed is None else value[seed] for key, value in unit.attributes().items()}
    gaps = {key: value if seed is None else value[seed] for key, value in unit.gaps().items()}
    return [
        Readout(
            _text(unit, list(operands), _row(unit, values, place)),
            max(float(gap.max()) for gap in _row(unit, gaps, place).values()),
        )
        for place in range(unit.out_features)
    ]


UnitValues = Mapping[str, Tensor]


def _row(unit: Unit, values: UnitValues, place: int) -> UnitValues:
    """The attributes of one output; a gate on operands and a scale apply to all outputs."""
    shared = ("scale", "gate") if isinstance(unit, NPU) else ("scale",)
    return {key: value if key in shared else value[place] for key, value in values.items()}


def _text(unit: Unit, operands: list[str], row: UnitValues) -> str:
    match unit:
        case NAU() | NAC():
            return sum_text(operands, row["weight"].tolist())
        case NMU():
            return _product_of_sums(operands, row["weight"].tolist())
        case NPU():
            return _powers(unit, operands, row)
        case INALU() if float(row["gate"]) == 1:
            return sum_text(operands, row["add"].tolist())
        case INALU() if float(row["gate"]) == 0 and _whole(row["multiply"].tolist()):
            return _quotient(operands, row["multiply"].tolist())
        case INALU():
            return _as_unit("inalu", operands, row)
        case NALU():
            return _as_unit("nalu", operands, row)
        case NSR():
            return _comparison(operands, row)
        case _:
            raise TypeError(f"no text is known for {type(unit).__name__}")


# --- texts of units -----------------------------------------------------------------------------------------------


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
    powers = [power * opened for power, opened in zip(row["power"].tolist(), gate, strict=True)]
    return _quotient(operands, powers)


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


# --- numbers and groups -----------------------------------------------------------------------------------------------


def _list(value: float | list[float]) -> str:
    return f"[{', '.join(map(_number, value))}]" if isinstance(value, list) else _number(value)


def _number(value: float) -> str:
    """The shortest literal that parses to ``value``."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def _whole(powers: Sequence[float]) -> bool:
    return all(power == int(power) for power in powers)


def _grouped(operand: str, loose: str) -> str:
    """The operand, in parentheses if an operator of ``loose`` occurs in it outside of brackets and quotes."""
    return f"({operand})" if any(sign in loose for sign in _operators(operand)) else operand


def _operators(term: str) -> set[str]:
    """The operators in a term outside of brackets and quotes; a hyphen between letters is part of a name."""
    depth, quoted, operators = 0, False, set[str]()
    for place, character in enumerate(term):
        if character == '"' and term[place - 1 : place] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and character in "+-*/^" and not _hyphen(term, place):
            operators.add(character)
    return operators


def _hyphen(term: str, place: int) -> bool:
    before, after = term[place - 1 : place], term[place + 1 : place + 2]
    return term[place] == "-" and before.isalnum() and after.isalnum()
