"""Terms as programs in post-order, evaluated upward to values and downward to the values that remain; inputs are
contracted by both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import or_

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, all_set, any_set, quietly
from lnnkit.numeric import arithmetic, interval
from lnnkit.numeric.arithmetic import negate, others, sum_of
from lnnkit.numeric.functions import FUNCTIONS
from lnnkit.numeric.interval import Contraction, Interval, Pieces, closed, empty, entered, finite, hull, intersection
from lnnkit.numeric.power import base_of, exponent_of, power, raise_to, root
from lnnkit.numeric.rounded_off import errors, let_out
from lnnkit.numeric.step import Apply, Constant, Input, Step

_SUMS = ("add", "subtract")
_WHOLE = {*_SUMS, "multiply", *(name for name, function in FUNCTIONS.items() if function.whole)}
"""Operations that are exact on integers, up to 2^53."""
_Narrowing = Callable[[], Pieces]


@quietly
def folded(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The same program with operations on constants evaluated, if they have a value. Indices of steps stay the same."""
    evaluated: list[Step] = []
    for step in steps:
        if isinstance(step, Apply) and all(isinstance(evaluated[place], Constant) for place in step.operands):
            operands = [evaluated[place] for place in step.operands]
            program = (*operands, Apply(step.operation, tuple(range(len(operands)))))
            values = upward(program, ())
            value = values[-1]
            if not any_set(empty(value)) and all_set(value.lower == value.upper):
                rounded = any_set(errors(program, values, len(operands)).lower > 0)
                step = Constant(value.lower.item(), rounded)
        evaluated.append(step)
    return tuple(evaluated)


def upward(steps: Sequence[Step], inputs: Sequence[Pieces]) -> list[Pieces]:
    """The values that each step can take."""
    values: list[Pieces] = []
    like = inputs[0].lower if inputs else np.empty(0)
    for step in steps:
        match step:
            case Input():
                values.append(inputs[step.index])
            case Constant():
                values.append(interval.single(step.value, step.value, like))
            case Apply():
                values.append(_applied(step, steps, values, like))
                values[-1] = let_out(steps, values)
    return values


def downward(steps: Sequence[Step], values: list[Pieces]) -> None:
    """Narrow the values of each step to those that its parent's narrowed values allow."""
    for place in range(len(steps) - 1, -1, -1):
        step = steps[place]
        if not isinstance(step, Apply):
            continue
        if step.operation == "divide":
            values[step.operands[1]] = interval.without_zero(values[step.operands[1]])
        operands = [values[operand] for operand in step.operands]
        narrowings = _narrowings(step, steps, values, values[place], operands)
        for operand, old, narrowing in zip(step.operands, operands, narrowings, strict=True):
            if narrowing is not None and not old.point:
                values[operand] = intersection(old, narrowing(), values[place], *operands)
                if step.operation in _SUMS:
                    values[operand] = interval.unless_noise(old, values[operand], values[place], *operands)


def constant_at(steps: Sequence[Step], place: int) -> float | None:
    """The value of a step that is a constant."""
    step = steps[place]
    return step.value if isinstance(step, Constant) else None


def _applied(step: Apply, steps: Sequence[Step], values: Sequence[Pieces], like: Array) -> Pieces:
    operands = [values[place] for place in step.operands]
    fixed = [constant_at(steps, place) for place in step.operands]
    match step.operation:
        case "add":
            return reduce(arithmetic.add, operands)
        case "subtract":
            return arithmetic.subtract(*operands)
        case "multiply":  # constant factors last: they only scale
            rest = [operand for operand, value in zip(operands, fixed, strict=True) if value is None]
            if not rest:
                return reduce(arithmetic.multiply, operands)
            factors = [value for value in fixed if value is not None]
            return reduce(arithmetic.scale, factors, reduce(arithmetic.multiply, rest))
        case "divide":
            return arithmetic.divide(*operands)
        case "power":
            base, exponent = fixed
            return power(*operands) if exponent is None or base is not None else raise_to(operands[0], exponent)
        case "unknown":
            return interval.single(-math.inf, math.inf, like)
        case name:
            unit = FUNCTIONS[name] if isinstance(name, str) else name
            return unit.image(operands)


def _narrowings(
    step: Apply, steps: Sequence[Step], values: Sequence[Pieces], node: Pieces, operands: Sequence[Pieces]
) -> Sequence[_Narrowing | None]:
    """For each operand of a step, what computes the values that the step's narrowed values leave; None for any."""
    match step.operation:
        case "add" | "multiply" if len(operands) == 1:
            return [lambda: node]
        case "add":
            made_of = [_made_of(steps, values, operand) for operand in step.operands]
            rests = others(operands, partial(sum_of, made_of=_together(made_of)))
            rest = [_together([*made_of[:place], *made_of[place + 1 :]]) for place in range(len(rests))]
            return [partial(sum_of, node, negate(other), below) for other, below in zip(rests, rest, strict=True)]
        case "subtract":
            one, other = operands
            first, second = (_made_of(steps, values, operand) for operand in step.operands)
            return [lambda: sum_of(node, other, second), lambda: sum_of(one, negate(node), first)]
        case "multiply":
            return [partial(arithmetic.factor, node, other) for other in others(operands, arithmetic.multiply)]
        case "divide":
            one, other = operands
            return [lambda: arithmetic.multiply(node, other), lambda: arithmetic.factor(one, node)]
        case "power":
            base, exponent = operands
            value = constant_at(steps, step.operands[1])
            if value is not None:
                return [lambda: root(node, value), None]
            return [lambda: base_of(node, exponent, base), lambda: exponent_of(node, base, exponent)]
        case "unknown":
            return [None] * len(operands)
        case name:
            unit = FUNCTIONS[name] if isinstance(name, str) else name
            return [partial(Pieces, *left) for left in unit.left(node, operands)]


def _made_of(steps: Sequence[Step], values: Sequence[Pieces], top: int) -> Sequence[Pieces] | None:
    """The values of the steps below one; None if integers there would not make the result exact."""
    step = steps[top]
    if not isinstance(step, Apply):
        return None if isinstance(step, Constant) and step.rounded else ()
    if step.operation not in _WHOLE:
        return None
    return _together([_together([(values[place],), _made_of(steps, values, place)]) for place in step.operands])


def _together(parts: Sequence[Sequence[Pieces] | None]) -> Sequence[Pieces] | None:
    present = [part for part in parts if part is not None]
    return [union for part in present for union in part] if len(present) == len(parts) else None


# --- contraction ------------------------------------------------------------------------------------------------------

SWEEPS = 4  # the greatest number of passes, while something changes

Require = Callable[[Sequence[Pieces]], Sequence[Pieces]]


def contracted(programs: Sequence[Sequence[Step]], inputs: Sequence[Interval], require: Require) -> Contraction:
    """Contract the inputs by ``require``, which narrows the values of all terms at once. Where a term has no value at
    all, nothing changes.

    HC4-revise (Benhamou et al. 1999, "Revising hull and box consistency"): upward through each term to the values of
    its steps, which are then narrowed from the last step down. Exact if each number occurs once; in an unbounded box it
    is repeated, since not every operation keeps ends that are only approached. If a number occurs more than once, each
    occurrence is narrowed independently, once; calling again may narrow further.
    """
    boxes = list(map(entered, inputs))
    undefined: Array | None = None
    voids: list[Array] = []
    bounded = all(finite(end) for box in boxes for end in box[:2])
    read = [[(place, step.index) for place, step in enumerate(steps) if isinstance(step, Input)] for steps in programs]
    numbers = [index for inner in read for _, index in inner]
    for _ in range(1 if bounded or len(numbers) > len(set(numbers)) else SWEEPS):
        values = [upward(steps, boxes) for steps in programs]
        tops = [unions[-1] for unions in values]
        undefined = reduce(or_, map(_void, tops)) if undefined is None else undefined
        left = require(tops)
        voids.extend(map(_void, left))
        narrowed = list(boxes)
        for steps, unions, top, inner in zip(programs, values, left, read, strict=True):
            unions[-1] = top
            downward(steps, unions)
            for place, index in inner:
                if not boxes[index].point:
                    narrowed[index] = _hulled(intersection(narrowed[index], unions[place]))
        if all(arrays.equal(a[end], b[end]) for a, b in zip(boxes, narrowed, strict=True) for end in (0, 1)):
            break
        boxes = narrowed
    assert undefined is not None
    return _kept(inputs, boxes, undefined, reduce(or_, map(_void, boxes), reduce(or_, voids)))


def _kept(inputs: Sequence[Interval], boxes: Sequence[Pieces], undefined: Array, void: Array) -> Contraction:
    """The contracted boxes; in rows without any, the inputs unchanged."""
    rows = len(inputs[0].lower) if inputs else len(void & undefined)
    back, intervals = undefined | void, []
    for old, box in zip(inputs, boxes, strict=True):
        new = old if box.point else Interval(box.lower[0], box.upper[0])
        if any_set(back) and not box.point:
            new = Interval(*(arrays.where(back, old[end], new[end]) for end in (0, 1)))
        intervals.append(new)
    return Contraction(tuple(intervals), arrays.broadcast_to(void & ~undefined, (rows,)))


def _hulled(union: Pieces) -> Pieces:
    if union.point:
        return union
    lower, upper = closed(hull(union))
    return Pieces(lower[None], upper[None], union.whole or all_set(lower <= upper))


def _void(union: Pieces) -> Array:
    """The rows that have no value, ``[n]`` or ``[1]``."""
    return empty(Pieces(*(end[:, :1] for end in union[:2])) if union.whole else union).all(0)
