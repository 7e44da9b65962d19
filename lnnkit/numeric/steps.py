"""Terms as programs in post-order, evaluated upward to values and downward to the values that remain."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np

from lnnkit.arrays import Array, all_set, any_set, quietly
from lnnkit.numeric import arithmetic, inverses
from lnnkit.numeric.pieces import Pieces, empty, intersection, single, unless_noise, without_zero
from lnnkit.numeric.power import power, raise_to, root
from lnnkit.numeric.rounded_off import errors, let_out
from lnnkit.numeric.step import Apply, Constant, Number, Step

_SUMS = ("add", "subtract")
_WHOLE = (*_SUMS, "multiply", "negate", "abs")  # operations that are exact on integers, up to 2^53


@quietly
def folded(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same program with operations on constants evaluated, if they have a value. Indices of steps stay the same."""
    evaluated: list[Step] = []
    for step in steps:
        if isinstance(step, Apply) and all(isinstance(evaluated[place], Constant) for place in step.operands):
            operands = [evaluated[place] for place in step.operands]
            program = (*operands, Apply(step.operation, tuple(range(len(operands)))))
            values = upward(program, {}, ())
            value = values[-1]
            if not any_set(empty(value)) and all_set(value.lower == value.upper):
                rounded = any_set(errors(program, values, len(operands)).lower > 0)
                step = Constant(value.lower.item(), rounded)
        evaluated.append(step)
    return tuple(evaluated)


def extracted(steps: Sequence[Step], top: int) -> tuple[Step, ...]:
    """The program that computes one of the steps."""
    places = {top}
    for place in range(top, -1, -1):
        step = steps[place]
        if place in places and isinstance(step, Apply):
            places.update(step.operands)
    order = {place: number for number, place in enumerate(sorted(places))}
    return tuple(
        Apply(step.operation, tuple(order[operand] for operand in step.operands)) if isinstance(step, Apply) else step
        for step in (steps[place] for place in order)
    )


def constants(steps: Sequence[Step]) -> dict[int, float]:
    """The values of those steps that are constants."""
    return {place: step.value for place, step in enumerate(steps) if isinstance(step, Constant)}


def upward(steps: Sequence[Step], known: Mapping[int, float], inputs: Sequence[Pieces]) -> list[Pieces]:
    """The values that each step can take; ``known`` are the `constants`."""
    values: list[Pieces] = []
    like = inputs[0].lower if inputs else np.empty(0)
    for step in steps:
        match step:
            case Number():
                values.append(inputs[step.index])
            case Constant():
                values.append(single(step.value, step.value, like))
            case Apply():
                values.append(_applied(step, values, known, like))
                values[-1] = let_out(steps, values)
    return values


def downward(steps: Sequence[Step], known: Mapping[int, float], values: list[Pieces]) -> None:
    """Narrow the values of each step to those that its parent's narrowed values allow."""
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        if not isinstance(step, Apply):
            continue
        if step.operation == "divide":
            values[step.operands[1]] = without_zero(values[step.operands[1]])
        operands = [values[operand] for operand in step.operands]
        made_of = [_made_of(steps, values, operand) for operand in step.operands] if step.operation in _SUMS else []
        for operand, left in zip(step.operands, _left(step, values[place], operands, known, made_of), strict=True):
            if left is not None and not values[operand].point:
                narrowed = intersection(values[operand], left, values[place], *operands)
                if step.operation in _SUMS:
                    narrowed = unless_noise(values[operand], narrowed, values[place], *operands)
                values[operand] = narrowed


def _applied(step: Apply, values: Sequence[Pieces], known: Mapping[int, float], like: Array) -> Pieces:
    operands = [values[place] for place in step.operands]
    match step.operation:
        case "add":
            return reduce(arithmetic.add, operands)
        case "subtract":
            return arithmetic.subtract(*operands)
        case "multiply":
            return _product(operands, [known.get(place) for place in step.operands])
        case "divide":
            return arithmetic.divide(*operands)
        case "power":
            exponent = known.get(step.operands[1])
            return power(*operands) if exponent is None else raise_to(operands[0], exponent)
        case "negate":
            return arithmetic.negate(operands[0])
        case "abs":
            return arithmetic.absolute(operands[0])
        case "sqrt":
            return arithmetic.square_root(operands[0])
        case "unknown":
            return single(-math.inf, math.inf, like)
        case unit:
            return unit.image(operands)


def _made_of(steps: Sequence[Step], values: Sequence[Pieces], top: int) -> Sequence[Pieces] | None:
    """The values of the steps below one; None if integers there would not make the result exact."""
    step, below = steps[top], list[Pieces]()
    if isinstance(step, Constant):
        return None if step.rounded else ()
    if isinstance(step, Apply):
        if step.operation not in _WHOLE:
            return None
        for operand in step.operands:
            beneath = _made_of(steps, values, operand)
            if beneath is None:
                return None
            below.extend((values[operand], *beneath))
    return below


def _together(parts: Sequence[Sequence[Pieces] | None]) -> Sequence[Pieces] | None:
    present = [part for part in parts if part is not None]
    return [union for part in present for union in part] if len(present) == len(parts) else None


def _left(
    step: Apply,
    node: Pieces,
    operands: Sequence[Pieces],
    known: Mapping[int, float],
    made_of: Sequence[Sequence[Pieces] | None],
) -> Sequence[Pieces | None]:
    """The operands of a step, narrowed by the step's narrowed values; None for an operand that is a point anyway."""
    wanted = [not operand.point for operand in operands]
    match step.operation:
        case "add":
            others = _others(operands, lambda one, other: arithmetic.sum_of(one, other, _together(made_of)))
            beneath = [_together([*made_of[:place], *made_of[place + 1 :]]) for place in range(len(operands))]
            return [
                node if other is None else arithmetic.difference_of(node, other, parts) if want else None
                for other, parts, want in zip(others, beneath, wanted, strict=True)
            ]
        case "multiply":
            others = _others(operands, arithmetic.multiply)
            return [
                None if not want else node if other is None else inverses.factor(node, other)
                for other, want in zip(others, wanted, strict=True)
            ]
        case "subtract":
            return (
                arithmetic.sum_of(node, operands[1], made_of[1]) if wanted[0] else None,
                arithmetic.difference_of(operands[0], node, made_of[0]) if wanted[1] else None,
            )
        case "divide":
            return (
                arithmetic.multiply(node, operands[1]) if wanted[0] else None,
                inverses.factor(operands[0], node) if wanted[1] else None,
            )
        case "power":
            exponent = known.get(step.operands[1])
            if exponent is not None:
                return root(node, exponent) if wanted[0] else None, None
            return (
                inverses.base(node, operands[1], operands[0]) if wanted[0] else None,
                inverses.exponent(node, operands[0], operands[1]) if wanted[1] else None,
            )
        case "negate":
            return (arithmetic.negate(node),)
        case "abs":
            return (inverses.absolute_of(node),)
        case "sqrt":
            return (inverses.square_root_of(node),)
        case "unknown":
            return [None] * len(operands)
        case unit:
            left = unit.left(node, operands)
            return [union if want else None for union, want in zip(left, wanted, strict=True)]


def _product(operands: Sequence[Pieces], factors: Sequence[float | None]) -> Pieces:
    """The product of the factors, with constant factors last: they only scale."""
    rest = [operand for operand, factor in zip(operands, factors, strict=True) if factor is None]
    fixed = [factor for factor in factors if factor is not None]
    if not rest:
        return reduce(arithmetic.multiply, operands)
    return reduce(arithmetic.scale, fixed, reduce(arithmetic.multiply, rest))


def _others(operands: Sequence[Pieces], combine: Callable[[Pieces, Pieces], Pieces]) -> list[Pieces | None]:
    """For each operand the combination of all others, built from prefixes and suffixes."""
    after: list[Pieces | None] = [None]
    for operand in reversed(operands[1:]):
        after.append(operand if after[-1] is None else combine(operand, after[-1]))
    after.reverse()
    before: Pieces | None = None
    others: list[Pieces | None] = []
    for operand, rest in zip(operands, after, strict=True):
        others.append(rest if before is None else before if rest is None else combine(before, rest))
        before = operand if before is None else combine(before, operand)
    return others
