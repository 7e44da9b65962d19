"""Rules with an atomic consequent that is unknown: only it is bounded, and its bound follows from one end of each atom
of the antecedent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.causes import convex
from lnnkit.analysis.relevance import ALL
from lnnkit.arrays import DOUBLE, any_set
from lnnkit.engine.response.respond import Read, Target
from lnnkit.formula.passes import neuron_upward
from lnnkit.formula.unfolding import LEAF, Formula, Neuron
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic import Lukasiewicz, Product
from lnnkit.logic.bounds import Bounds, complement, enter_lower, enter_upper, noise, tolerance
from lnnkit.store.columns.row_arrays import Array

ReadEnd = Callable[[int, int], Array | None]
"""The lower (0) or upper (1) end of a leaf as a neuron reads it; None if rounding made its ends cross."""


class Clause(NamedTuple):
    """A formula that bounds its ``target`` only, while the target is unknown. ``antecedent`` are its neurons, operands
    first; for each of its leaves one of the ``sides`` is read."""

    formula: Formula
    target: Target
    antecedent: tuple[int, ...]
    sides: Mapping[int, int]

    def proposed(self, read: ReadEnd, length: int) -> tuple[Array, Array] | None:
        """Flags of rows with a proposal for the target, and the bounds: bitwise those of ``respond``. None if the full
        pass is needed: an instance bounds its antecedent, or is unsatisfiable, or ``read`` returns None."""
        top = self.formula.neurons[self.formula.top]
        assert top.logic is not None
        values: dict[int, Bounds] = {}
        for index in self.antecedent:
            neuron = self.formula.neurons[index]
            if neuron.operands:
                values[index] = neuron_upward(neuron, [values[operand] for operand in neuron.operands])
                continue
            end = read(index, self.sides[index])
            if end is None:
                return None
            side = self.sides[index]  # the other end is not read: it is unknown, one value for all rows
            values[index] = Bounds(np.zeros(1), end) if side else Bounds(end, np.ones(1))
        end = values[top.operands[0]].lower
        unknown = Bounds(np.zeros(1), np.ones(1))  # a value common to all rows is stored once
        node = Bounds(np.full(1, self.formula.lower), unknown.upper)
        weights = (top.weights[0], top.weights[1])
        found = top.logic.implication_inverse(node, Bounds(end, unknown.upper), unknown, weights, top.bias)
        if any_set(found.empty) or any_set(found.operands[0].upper < 1):
            return None
        box = Bounds(*(np.broadcast_to(each, length) for each in found.operands[1]))
        if self.target[1]:
            upper = complement(box).upper
            return upper < 1 - noise(end.dtype), upper
        return box.lower > noise(end.dtype), box.lower


def clause(batch: RuleShape) -> Clause | None:
    """A batch's formula as a clause, if it has that form."""
    formula = batch.formula
    top = formula.neurons[formula.top]
    if batch.completes or batch.observed or formula.auxiliary is not None or len(formula.blocks) > 1:
        return None
    if top.kind != "implies" or formula.upper < 1 - tolerance(DOUBLE):
        return None
    if not all(convex(neuron) and not neuron.numeric and neuron.arithmetic is None for neuron in formula.neurons):
        return None
    if any(_reads_in_full(neuron) for neuron in formula.neurons):
        return None
    consequent = formula.neurons[top.operands[1]]
    side, leaf = (1, consequent.operands[0]) if consequent.kind == "not" else (0, top.operands[1])
    antecedent = _beneath(formula, top.operands[0])
    leaves = [index for index in antecedent if not formula.neurons[index].operands]
    signs = batch.analysis.polarity.signs
    if leaf in antecedent or any(formula.neurons[index].kind != LEAF for index in (leaf, *leaves)):
        return None
    if batch.modes[leaf][side] != ALL or signs.get(leaf, 0) == 0 or any(signs.get(each, 0) == 0 for each in leaves):
        return None
    return Clause(formula, (leaf, side), antecedent, {each: int(signs[each] > 0) for each in leaves})


def _reads_in_full(neuron: Neuron) -> bool:
    """Whether its kernel indexes both ends by row, so that a common value cannot be stored once."""
    strict = isinstance(neuron.logic, Lukasiewicz) and neuron.logic.strict
    return strict or isinstance(neuron.logic, Product)


def _beneath(formula: Formula, top: int) -> tuple[int, ...]:
    """A neuron and its descendants, operands first."""
    found = {top}
    for index in range(top, -1, -1):
        if index in found:
            found.update(formula.neurons[index].operands)
    return tuple(sorted(found))


def end_reader(read: Read) -> ReadEnd:
    """Reads one end of what ``read`` returns."""

    def entered(index: int, side: int) -> Array | None:
        own = read(index)
        if any_set(own.lower > own.upper):
            return None
        return enter_upper(own.upper) if side else enter_lower(own.lower)

    return entered
