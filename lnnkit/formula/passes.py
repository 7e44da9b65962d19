"""One pass over the rows of a formula: upward from its leaves, downward from its root. Independent of the logic."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, as_numpy, matching, replaced, set_at, take, where_set
from lnnkit.formula.quantified_rows import Descent, Grouping, without_candidate
from lnnkit.formula.unfolding import LEAF, Formula, Neuron
from lnnkit.logic.bounds import Bounds, Inverse, asks, complement, informative
from lnnkit.logic.quantifier import exists, forall
from lnnkit.numeric import Comparison, Interval, point
from lnnkit.numeric.aggregates import with_value


def neuron_upward(neuron: Neuron, operands: Sequence[Bounds]) -> Bounds:
    """The bounds of a connective, a negation, a comparison or a term, from those of its operands."""
    if isinstance(neuron.arithmetic, Comparison):
        return Bounds(*neuron.arithmetic.truth(_intervals(operands)))
    if neuron.arithmetic is not None:
        return Bounds(*neuron.arithmetic.hull(_intervals(operands))[0])
    logic = neuron.logic
    if logic is None:
        return complement(operands[0])
    if neuron.kind == "xor":
        return complement(logic.up("iff", operands, neuron.weights, neuron.bias))
    return logic.up(neuron.kind, operands, neuron.weights, neuron.bias)


def neuron_downward(
    neuron: Neuron, node: Bounds, operands: Sequence[Bounds], wanted: Sequence[bool] | None = None
) -> Inverse:
    """The bounds of the operands, narrowed by the bounds of a connective; rows without information stay unchanged.
    Operands that are not ``wanted`` may stay unchanged."""
    lower, upper = asks(node)
    asking = where_set(lower | upper)
    count = len(asking)
    if not count:
        return Inverse(tuple(operands), lower)
    if 2 * count > len(lower):
        return _inverse(neuron, node, operands, wanted)
    asked = [Bounds(*(take(end, asking) for end in box)) for box in (node, *operands)]
    inverse = _inverse(neuron, asked[0], asked[1:], wanted)
    boxes = tuple(
        Bounds(*(replaced(old, asking, new) for old, new in zip(box, hull, strict=True)))
        for box, hull in zip(operands, inverse.operands, strict=True)
    )
    return Inverse(boxes, set_at(len(lower), asking[inverse.empty]))


def _intervals(operands: Sequence[Bounds]) -> list[Interval]:
    """Convert numbers to intervals; if every row is a point, both ends are one array, which marks them as points."""
    return [
        point(lower) if len(lower) and (lower is upper or arrays.equal(lower, upper)) else Interval(lower, upper)
        for lower, upper in operands
    ]


def _inverse(neuron: Neuron, node: Bounds, operands: Sequence[Bounds], wanted: Sequence[bool] | None) -> Inverse:
    logic = neuron.logic
    assert logic is not None
    kind, target = ("iff", complement(node)) if neuron.kind == "xor" else (neuron.kind, node)
    return logic.down(kind, target, operands, neuron.weights, neuron.bias, wanted)


def upward(
    formula: Formula, read: Callable[[int], Bounds], groupings: Sequence[Grouping | None], stop: int | None = None
) -> list[Bounds]:
    """The bounds of each neuron before ``stop``, from those of its operands; ``read`` returns those of leaves and
    constants."""
    values: list[Bounds] = []
    for index, neuron in enumerate(formula.neurons[:stop]):
        operands = [values[operand] for operand in neuron.operands]
        if neuron.quantifies and neuron.inner < 0:  # over one row
            values.append(operands[0])
        elif neuron.quantifies:
            rows = groupings[neuron.inner]
            assert rows is not None
            fold = forall if neuron.least else exists
            values.append(rows.around(fold(rows.optional(operands[0], least=neuron.least), rows.group, rows.groups)))
        elif neuron.aggregates:
            rows = groupings[neuron.inner]
            assert rows is not None
            values.append(rows.around(rows.together(formula, neuron, values)))
        elif operands:
            made = neuron_upward(neuron, operands)
            doubt = doubtful(formula, neuron, values) if isinstance(neuron.arithmetic, Comparison) else None
            if doubt is not None:  # unknown where a number may have no value
                made = _unless(doubt, Bounds(doubt * 0.0, doubt * 0.0 + 1.0), made)
            values.append(made)
        else:
            values.append(read(index))
    return values


def _unless(doubt: Array, old: Bounds, new: Bounds) -> Bounds:
    return Bounds(*(arrays.where(doubt, *ends) for ends in zip(old, new, strict=True)))


class Downward(NamedTuple):
    """The hull of each neuron's values, one row for each row of its block; ``empty`` marks rows of block 0 without a
    consistent value."""

    boxes: list[Bounds]
    empty: Array


def downward(
    formula: Formula,
    values: Sequence[Bounds],
    root: Bounds,
    groupings: Sequence[Grouping | None],
    *,
    only: int | None = None,
    wanted: Collection[int] | None = None,
) -> Downward:
    """The hull of each neuron's values that are consistent with ``root``, and which rows of block 0 have none. No block
    is grouped. If ``only`` one leaf is wanted, quantifiers above other leaves are skipped; truths of leaves that are
    not ``wanted`` may be too. An end that a neuron's own operands already imply (``values``) is not propagated."""
    boxes = list(values)
    boxes[formula.top] = root
    descent = Descent(formula, groupings, boxes)
    passed = frozenset(range(len(formula.blocks))) if only is None else formula.path(formula.block_of(only))
    for index in range(formula.top, -1, -1):
        neuron, node = formula.neurons[index], boxes[index]
        if not neuron.operands or neuron.block not in passed:
            continue
        if neuron.aggregates:
            if neuron.inner in passed:
                descent.enter_aggregate(index, node, values[index])
            continue
        if neuron.inner >= 0:
            if neuron.inner in passed:
                descent.enter(index, informative(node, values[index]))
            continue
        operands = [boxes[operand] for operand in neuron.operands]
        if neuron.kind == "not" or neuron.quantifies:
            boxes[neuron.operands[0]] = complement(node) if neuron.kind == "not" else node
            continue
        if isinstance(neuron.arithmetic, Comparison):
            narrowed = neuron.arithmetic.narrow(_intervals(operands), Interval(*values[index]), Interval(*node))
            inverse = Inverse(tuple(Bounds(*box) for box in narrowed.inputs), narrowed.empty)
            if (doubt := doubtful(formula, neuron, boxes)) is not None:
                kept = (_unless(doubt, *pair) for pair in zip(operands, inverse.operands, strict=True))
                inverse = Inverse(tuple(kept), inverse.empty & ~doubt)
        elif neuron.arithmetic is not None:
            contracted = neuron.arithmetic.contract(_intervals(operands), Interval(*node))
            inverse = Inverse(tuple(Bounds(*box) for box in contracted.inputs), contracted.empty)
        else:
            need = None if wanted is None else [o in wanted or formula.neurons[o].kind != LEAF for o in neuron.operands]
            inverse = neuron_downward(neuron, informative(node, values[index]), operands, need)
        for operand, box in zip(neuron.operands, inverse.operands, strict=True):
            boxes[operand] = box
        descent.miss(neuron.block, inverse.empty)
    return Downward(boxes, matching(descent.emptied(), root.lower))


_NOTHING = Bounds(np.empty(0), np.empty(0))


def candidates(formula: Formula, read: Callable[[int], Bounds], groupings: Sequence[Grouping | None]) -> Bounds:
    """For a statement that derives a number: what each instance gives the two ends of its candidate, infinite where
    there may be none. A candidate counts if its condition is above 0 and it has a value, for the better end surely. No
    gradient passes through it."""
    above, place = formula.neurons[formula.top].operands
    comparison = formula.neurons[place]
    head, *leaves = comparison.operands
    certain = formula.neurons[above].kind == "true"  # then it is not read
    unread = {head, above} if certain else {head}
    values = upward(formula, lambda index: _NOTHING if index in unread else read(index), groupings, place)
    length = len(values[leaves[0] if leaves else above].lower)
    like, every = values[leaves[0] if leaves else above].lower, point(np.ones(length))
    inputs = [point(np.zeros(length)), *_intervals([Bounds(*map(as_numpy, values[leaf])) for leaf in leaves])]
    assert isinstance(comparison.arithmetic, Comparison)
    term = comparison.arithmetic.right
    copies, ends, doubt = with_value(every, term, inputs), term.hull(inputs)[0], doubtful(formula, comparison, values)
    if copies is every and certain and (doubt is None or not any_set(doubt)):
        return Bounds(*(matching(end, like) for end in ends))
    least, truth = formula.neurons[head].derived == "min", every if certain else Interval(*map(as_numpy, values[above]))
    possible, sure = (truth.upper > 0) & (copies.upper > 0), (truth.lower > 0) & (copies.lower > 0)
    sure = sure if doubt is None else sure & ~as_numpy(doubt)
    counts, worst = (possible, sure) if least else (sure, possible), math.inf if least else -math.inf
    return Bounds(*(matching(np.where(c, end, worst), like) for c, end in zip(counts, ends, strict=True)))


def doubtful(formula: Formula, neuron: Neuron, values: Sequence[Bounds]) -> Array | None:
    """Where some derived number that a neuron reads may have no value. None if it reads no such number."""
    derived = [leaf for leaf in neuron.operands if formula.neurons[leaf].derived and leaf not in formula.heads]
    doubts = [without_candidate(formula.neurons[leaf], values[leaf]) for leaf in derived]
    return reduce(or_, doubts) if doubts else None


def least_heads(formula: Formula, antecedent: Array, values: Sequence[Bounds], impossible: float) -> dict[int, Array]:
    """For a defining statement whose antecedent is exactly ``antecedent`` (rows,): the least truth of each head for
    which the statement can reach its lower bound, with the atoms of the consequent unknown; parts without atoms keep
    their upward ``values``. ``impossible`` where no truth of the heads is enough."""
    implication = formula.neurons[formula.top]
    unknown = Bounds(arrays.zeros_like(antecedent), arrays.ones_like(antecedent))
    boxes: dict[int, Bounds] = {}
    order: list[int] = []
    stack = [implication.operands[1]]
    while stack:
        index = stack.pop()
        order.append(index)
        if formula.neurons[index].kind == "and":
            stack.extend(formula.neurons[index].operands)
    for index in reversed(order):
        neuron = formula.neurons[index]
        if neuron.kind == "and":
            boxes[index] = neuron_upward(neuron, [boxes[operand] for operand in neuron.operands])
        elif _holds_no_atom(formula, index):
            boxes[index] = values[index]
        else:
            boxes[index] = _reach(formula, index, values, unknown)
    # Gradients pass through here.
    node = Bounds(arrays.zeros_like(antecedent) + formula.lower, arrays.ones_like(antecedent))
    body, head = Bounds(antecedent, antecedent), implication.operands[1]
    inverse = _inverse(implication, node, [body, boxes[head]], None)
    boxes[head] = inverse.operands[1]
    empty = inverse.empty
    for index in order:
        neuron = formula.neurons[index]
        if neuron.kind == "and" and neuron.logic is not None:
            inverse = _inverse(neuron, boxes[index], [boxes[o] for o in neuron.operands], None)
            boxes.update(zip(neuron.operands, inverse.operands, strict=True))
            empty = empty | inverse.empty
    return {head: arrays.where(empty, impossible, boxes[head].lower) for head in formula.heads}


def _reach(formula: Formula, index: int, values: Sequence[Bounds], unknown: Bounds) -> Bounds:
    """The bounds of a part of a consequent with its atoms, equalities and quantifiers ``unknown``."""
    neuron = formula.neurons[index]
    if neuron.kind in ("true", "false"):
        return values[index]
    if not neuron.operands or neuron.arithmetic is not None or neuron.inner >= 0 or neuron.quantifies:
        return unknown
    return neuron_upward(neuron, [_reach(formula, operand, values, unknown) for operand in neuron.operands])


def _holds_no_atom(formula: Formula, top: int) -> bool:
    stack = [top]
    while stack:
        neuron = formula.neurons[stack.pop()]
        if neuron.kind == LEAF:
            return False
        stack.extend(neuron.operands)
    return True
