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
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Apply) and all(isinstance(found[place], Constant) for place in step.operands):
            own = [found[place] for place in step.operands]
            program = (*own, Apply(step.operation, tuple(range(len(own)))))
            values = upward(program, {}, ())
            value = values[-1]
            if not any_set(empty(value)) and all_set(value.lower == value.upper):
                rounded = any_set(errors(program, values, len(own)).lower > 0)
                step = Constant(value.lower.item(), rounded)
        found.append(step)
    return tuple(found)


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
        own = [values[operand] for operand in step.operands]
        made_of = [_made_of(steps, values, operand) for operand in step.operands] if step.operation in _SUMS else []
        for operand, left in zip(step.operands, _left(step, values[place], own, known, made_of), strict=True):
            if left is not None and not values[operand].point:
                found = intersection(values[operand], left, values[place], *own)
                if step.operation in _SUMS:
                    found = unless_noise(values[operand], found, values[place], *own)
                values[operand] = found


def _applied(step: Apply, values: Sequence[Pieces], known: Mapping[int, float], like: Array) -> Pieces:
    own = [values[place] for place in step.operands]
    match step.operation:
        case "add":
            return reduce(arithmetic.add, own)
        case "subtract":
            return arithmetic.subtract(*own)
        case "multiply":
            return _product(own, [known.get(place) for place in step.operands])
        case "divide":
            return arithmetic.divide(*own)
        case "power":
            exponent = known.get(step.operands[1])
            return power(*own) if exponent is None else raise_to(own[0], exponent)
        case "negate":
            return arithmetic.negate(own[0])
        case "abs":
            return arithmetic.absolute(own[0])
        case "sqrt":
            return arithmetic.square_root(own[0])
        case "unknown":
            return single(-math.inf, math.inf, like)
        case unit:
            return unit.image(own)


def _made_of(steps: Sequence[Step], values: Sequence[Pieces], top: int) -> Sequence[Pieces] | None:
    """The values of the steps below one; None if integers there would not make the result exact."""
    step, found = steps[top], list[Pieces]()
    if isinstance(step, Constant):
        return None if step.rounded else ()
    if isinstance(step, Apply):
        if step.operation not in _WHOLE:
            return None
        for operand in step.operands:
            beneath = _made_of(steps, values, operand)
            if beneath is None:
                return None
            found.extend((values[operand], *beneath))
    return found


def _together(parts: Sequence[Sequence[Pieces] | None]) -> Sequence[Pieces] | None:
    found = [part for part in parts if part is not None]
    return [each for part in found for each in part] if len(found) == len(parts) else None


def _left(
    step: Apply,
    node: Pieces,
    own: Sequence[Pieces],
    known: Mapping[int, float],
    made_of: Sequence[Sequence[Pieces] | None],
) -> Sequence[Pieces | None]:
    """The operands of a step, narrowed by the step's narrowed values; None for an operand that is a point anyway."""
    wanted = [not each.point for each in own]
    match step.operation:
        case "add":
            others = _others(own, lambda one, other: arithmetic.sum_of(one, other, _together(made_of)))
            beneath = [_together([*made_of[:place], *made_of[place + 1 :]]) for place in range(len(own))]
            return [
                node if each is None else arithmetic.difference_of(node, each, parts) if want else None
                for each, parts, want in zip(others, beneath, wanted, strict=True)
            ]
        case "multiply":
            others = _others(own, arithmetic.multiply)
            return [
                None if not want else node if each is None else inverses.factor(node, each)
                for each, want in zip(others, wanted, strict=True)
            ]
        case "subtract":
            return (
                arithmetic.sum_of(node, own[1], made_of[1]) if wanted[0] else None,
                arithmetic.difference_of(own[0], node, made_of[0]) if wanted[1] else None,
            )
        case "divide":
            return (
                arithmetic.multiply(node, own[1]) if wanted[0] else None,
                inverses.factor(own[0], node) if wanted[1] else None,
            )
        case "power":
            exponent = known.get(step.operands[1])
            if exponent is not None:
                return root(node, exponent) if wanted[0] else None, None
            return (
                inverses.base(node, own[1], own[0]) if wanted[0] else None,
                inverses.exponent(node, own[0], own[1]) if wanted[1] else None,
            )
        case "negate":
            return (arithmetic.negate(node),)
        case "abs":
            return (inverses.absolute_of(node),)
        case "sqrt":
            return (inverses.square_root_of(node),)
        case "unknown":
            return [None] * len(own)
        case unit:
            left = unit.left(node, own)
            return [each if want else None for each, want in zip(left, wanted, strict=True)]


def _product(own: Sequence[Pieces], factors: Sequence[float | None]) -> Pieces:
    """The product of the factors, with constant factors last: they only scale."""
    rest = [each for each, factor in zip(own, factors, strict=True) if factor is None]
    fixed = [factor for factor in factors if factor is not None]
    if not rest:
        return reduce(arithmetic.multiply, own)
    return reduce(arithmetic.scale, fixed, reduce(arithmetic.multiply, rest))


def _others(own: Sequence[Pieces], combine: Callable[[Pieces, Pieces], Pieces]) -> list[Pieces | None]:
    """For each operand the combination of all others, built from prefixes and suffixes."""
    after: list[Pieces | None] = [None]
    for each in reversed(own[1:]):
        after.append(each if after[-1] is None else combine(each, after[-1]))
    after.reverse()
    before: Pieces | None = None
    found: list[Pieces | None] = []
    for each, rest in zip(own, after, strict=True):
        found.append(rest if before is None else before if rest is None else combine(before, rest))
        before = each if before is None else combine(before, each)
    return found
