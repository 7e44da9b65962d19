"""Terms: arithmetic over the numbers of an instance; among them units with fixed weights, in which an operand with
weight 0 is left out. The modules of units are imported by the first program that has one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, quietly
from lnnkit.numeric.functions import FUNCTIONS
from lnnkit.numeric.interval import Contraction, Interval, Pieces, closed, entered, hull, intersection
from lnnkit.numeric.rounded_off import Errors, at_rows, errors, magnitude
from lnnkit.numeric.step import Apply, Constant, FixedUnit, Input, Operation, Step
from lnnkit.numeric.steps import constant_at, contracted, folded, upward


@dataclass(frozen=True)
class Term:
    """A program in post-order: the last step's value is the term's. Each step is the operand of at most one other.

    ``power`` raises its first operand to its second. A negative base has integral powers only; ``0 ^ 0`` is 1.
    """

    steps: tuple[Step, ...]

    @quietly
    def hull(self, inputs: Sequence[Interval]) -> tuple[Interval, Array]:
        """The closed hull of the term's values where it is defined on the box of ``inputs``, and whether it is defined
        anywhere on it (``[n]``; if not, the hull is ``[-inf, inf]``).

        Sound to 1e-9 relative. Exact if each number occurs once, except for a negative base with an exponent that is
        not constant.
        """
        box = closed(hull(self.upward([entered(interval) for interval in inputs])[-1]))
        lower, upper = box.over(len(inputs[0].lower)) if inputs else box
        defined = lower <= upper
        if lower is not upper and not all_set(defined):
            lower, upper = arrays.where(defined, lower, -math.inf), arrays.where(defined, upper, math.inf)
        return Interval(lower, upper), defined

    @quietly
    def contract(self, inputs: Sequence[Interval], output: Interval) -> Contraction:
        """The closed hull of the inputs for which the term is defined and its value is in ``output``. Exact under the
        same condition as `hull`, otherwise an enclosure. Where the term is not defined anywhere, nothing changes."""
        box = entered(output)
        return contracted((self.folded,), inputs, lambda values: (intersection(values[0], box),))

    @quietly
    def upward(self, inputs: Sequence[Pieces]) -> list[Pieces]:
        """The values that each step can take."""
        return upward(self.folded, inputs)

    @quietly
    def errors(self, values: Sequence[Pieces], rows: Array) -> Errors:
        """How far the ends of the term's values, in some of the rows, may be from those without rounding."""
        return errors(self.folded, at_rows(values, rows), len(self.folded) - 1)

    def magnitude(self, values: Sequence[Pieces]) -> Array:
        """For each row, the magnitude to which `errors` are relative."""
        return magnitude(self.folded, at_rows(values, None), len(self.folded) - 1)

    @property
    def numbers(self) -> tuple[tuple[int, int], ...]:
        """The indices of steps that are inputs, with the index of the input."""
        return tuple((place, step.index) for place, step in enumerate(self.steps) if isinstance(step, Input))

    @cached_property
    def partial(self) -> bool:
        """Whether the term may be undefined on a part of a box that contraction should remove. An integral power is
        defined everywhere except, if negative, at 0, which is never an end that contraction could remove."""
        return any(self._undefined.values())

    @cached_property
    def total(self) -> bool:
        """Whether the term has a value wherever its inputs have one; units count as total."""
        return not self._undefined

    @cached_property
    def deciding(self) -> frozenset[int]:
        """The inputs that decide whether the term has a value."""
        beneath = {*self._undefined}
        for place in range(len(self.folded) - 1, -1, -1):
            step = self.folded[place]
            beneath.update(step.operands if place in beneath and isinstance(step, Apply) else ())
        steps = (self.folded[place] for place in beneath)
        return frozenset(step.index for step in steps if isinstance(step, Input))

    @cached_property
    def _undefined(self) -> dict[int, bool]:
        """The steps that may have no value where their operands have one, and whether that is so beside 0 too."""
        undefined: dict[int, bool] = {}
        for place, step in enumerate(self.folded):
            if isinstance(step, Apply) and isinstance(step.operation, str) and step.operands:
                name, last = step.operation, constant_at(self.folded, step.operands[-1])
                fractional = name == "power" and (last is None or last % 1 != 0)
                if fractional or (name in FUNCTIONS and not FUNCTIONS[name].total):
                    undefined[place] = True
                elif (name == "divide" and not last) or (name == "power" and last is not None and last < 0):
                    undefined[place] = False
        return undefined

    @property
    def plain(self) -> bool:
        """Whether the term contains no unit."""
        return all(isinstance(step.operation, str) for step in self.steps if isinstance(step, Apply))

    @cached_property
    def integral(self) -> bool:
        """Whether it is known that all its values are whole numbers."""
        top = self.folded[-1]
        if isinstance(top, Constant):
            return top.value % 1 == 0
        return isinstance(top, Apply) and top.operation in FUNCTIONS and FUNCTIONS[str(top.operation)].stepwise

    @cached_property
    def value(self) -> float | None:
        """The value of a constant; None for any other term."""
        top = self.folded[-1]
        return top.value if isinstance(top, Constant) else None

    @cached_property
    def difference(self) -> tuple[Term, Term] | None:
        """The two terms whose difference the term is; None if it is not a difference."""
        top = self.steps[-1]
        if not isinstance(top, Apply) or top.operation != "subtract":
            return None
        start = top.operands[0] + 1  # operands stand one after the other
        return Term(self.steps[:start]), Term(tuple(_moved(self.steps[start:-1], -start)))

    @cached_property
    def folded(self) -> tuple[Step, ...]:
        return folded(self.steps)


def number(index: int) -> Term:
    """The term for an input."""
    return Term((Input(index),))


def constant(value: float, unit: str | None = None) -> Term:
    """The term for a fixed finite value."""
    return Term((Constant(value, unit=unit),))


def apply(operation: Operation | FixedUnit, *operands: Term) -> Term:
    """The term for an operation, or a neural unit, on terms."""
    steps: list[Step] = []
    tops: list[int] = []
    for operand in operands:
        steps += _moved(operand.steps, len(steps))
        tops.append(len(steps) - 1)
    return Term((*steps, Apply(operation, tuple(tops))))


def _moved(steps: Sequence[Step], by: int) -> list[Step]:
    """Steps as they are when they stand ``by`` places further on in a program."""
    return [
        Apply(step.operation, tuple(place + by for place in step.operands)) if isinstance(step, Apply) else step
        for step in steps
    ]


def undetermined(*operands: Term) -> Term:
    """A term with unknown value, of which only the numbers that it mentions are known."""
    return apply("unknown", *operands)


# --- units with fixed weights -----------------------------------------------------------------------------------------

_NEEDED = {
    **dict.fromkeys(("nac", "nau", "nmu"), ("weight",)), **dict.fromkeys(("npu", "realnpu"), ("power",)),
    "nalu": ("weight", "gate"), "inalu": ("add", "multiply", "gate"),
}  # fmt: skip
POWERS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
GRIDS: Mapping[str, Mapping[str, tuple[float, ...]]] = {
    **{unit: {"weight": (-1.0, 0.0, 1.0)} for unit in ("nac", "nau", "nalu")},
    "nmu": {"weight": (0.0, 1.0)},
    "inalu": {"add": (-1.0, 0.0, 1.0), "multiply": (-1.0, 0.0, 1.0), "gate": (0.0, 1.0)},
    **{unit: {"power": POWERS, "imaginary": (0.0,), "gate": (0.0, 1.0)} for unit in ("npu", "realnpu")},
}
"""The values to which attributes are rounded, by unit; those without any stay as they are."""


Weight = float | Term  # of a unit: a fixed value, or what has the value of a learned one


def frozen(unit: str, given: Mapping[str, float | Sequence[float]], operands: Sequence[Term]) -> Term:
    """The term for a unit, by its name in the language, and its attributes; without required attributes its value is
    unknown."""
    weights = {key: [value] if isinstance(value, (int, float)) else list(value) for key, value in given.items()}
    finite = all(math.isfinite(value) for values in weights.values() for value in values)
    if not finite or not all(key in weights for key in _NEEDED[unit]):
        return undetermined(*operands)
    match unit:
        case "nau" | "nac":
            return linear(weights["weight"], operands)
        case "nmu":
            return gated_product(weights["weight"], operands)
        case "inalu" if weights["gate"][0] == 1:
            return linear(weights["add"], operands)
        case "nalu" | "inalu":
            return gated_sum(weights, operands)
        case _:
            return power_product(weights["power"], operands, weights.get("imaginary"), weights.get("gate"))


def linear(weights: Sequence[Weight], operands: Sequence[Term]) -> Term:
    """A frozen NAU: ``sum w_i x_i`` (Madsen and Johansen 2020, arXiv 2001.05016)."""
    return _together("add", 0.0, [_scaled(weight, x) for weight, x in _present(weights, operands)])


def gated_product(weights: Sequence[Weight], operands: Sequence[Term]) -> Term:
    """A frozen NMU: ``prod (w_i x_i + 1 - w_i)`` (Madsen and Johansen 2020, arXiv 2001.05016)."""
    factors = [
        x if weight == 1 else apply("add", _scaled(weight, x), _rest(weight))
        for weight, x in _present(weights, operands)
    ]
    return _together("multiply", 1.0, factors)


def power_product(
    powers: Sequence[float],
    operands: Sequence[Term],
    imaginary: Sequence[float] | None = None,
    gates: Sequence[float] | None = None,
) -> Term:
    """A frozen NPU: ``prod x_i ^ w_i`` if powers are integral and gates are 1, otherwise as in `lnnkit.numeric.NPU`
    (Heim et al. 2020, arXiv 2006.01681): the real part of complex powers of partly gated operands."""
    from lnnkit.numeric.fixed_units.fixed_powers import ComplexPower, RealPower

    count = len(operands)
    parts = zip(powers, imaginary or (0.0,) * count, gates or (1.0,) * count, operands, strict=True)
    present = [(w, v, g, x) for w, v, g, x in parts if g and (w or v)]
    if not present:
        return constant(1.0)
    real, twisted, opened, kept = zip(*present, strict=True)
    if any(twisted):
        return apply(ComplexPower(real, twisted, opened), *kept)
    if all(gate == 1 for gate in opened) and all(power == int(power) for power in real):
        factors = [x if power == 1 else apply("power", x, constant(power)) for power, x in zip(real, kept, strict=True)]
        return _together("multiply", 1.0, factors)
    return apply(RealPower(real, opened), *kept)


def gated_sum(weights: Mapping[str, Sequence[float]], operands: Sequence[Term]) -> Term:
    """A frozen NALU (Trask et al. 2018, arXiv 1808.00508) or, where it has weights to ``add``, iNALU (Schlör et al.
    2020, arXiv 2003.07629), as in `lnnkit.numeric.units.gated_units`."""
    from lnnkit.numeric.fixed_units.gated_sum import GatedSum, SignedGatedSum

    if "add" not in weights:
        opened = 0.5  # A half-open gate mixes an empty sum and an empty product.
        first, second = weights["weight"], weights["gate"]
    else:
        opened = weights["gate"][0]
        first, second = weights["add"] if opened else (0.0,) * len(operands), weights["multiply"]
    present = [part for part in zip(first, second, operands, strict=True) if part[0] or part[1]]
    if not present:
        return constant(1 - opened)
    one, other, terms = zip(*present, strict=True)
    return apply(SignedGatedSum(one, other, opened) if "add" in weights else GatedSum(one, other), *terms)


def _present(weights: Sequence[Weight], operands: Sequence[Term]) -> list[tuple[Weight, Term]]:
    return [(weight, x) for weight, x in zip(weights, operands, strict=True) if weight != 0]


def _scaled(weight: Weight, operand: Term) -> Term:
    return operand if weight == 1 else apply("multiply", as_term(weight), operand)


def _rest(weight: Weight) -> Term:
    """``1 - w``."""
    return apply("subtract", constant(1.0), weight) if isinstance(weight, Term) else constant(1 - weight)


def as_term(weight: Weight) -> Term:
    """The weight as a term."""
    return weight if isinstance(weight, Term) else constant(weight)


def _together(operation: Literal["add", "multiply"], nothing: float, parts: Sequence[Term]) -> Term:
    if not parts:
        return constant(nothing)
    return parts[0] if len(parts) == 1 else apply(operation, *parts)
