"""Clauses over whole columns: bitwise the results of `lnnkit.rows.dense.row_clauses`, in fewer passes.

A Lukasiewicz clause (`lnnkit.logic.lukasiewicz`) bounds an unknown consequent from below by ``(L + b - 1 - w_a (1 -
a)) / w_c``, which needs only the lower end of the antecedent ``a``, and one end of each of its operands. The
operations and their order are those of the kernels, so rounding is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lnnkit.arrays import DOUBLE
from lnnkit.formula.unfolding import LEAF, Formula, Neuron
from lnnkit.logic import Lukasiewicz
from lnnkit.logic.bounds import below_one, noise, tolerance
from lnnkit.logic.operands import SMALL_WEIGHT
from lnnkit.rows.dense.row_clauses import Clause
from lnnkit.store.columns.row_arrays import Array

Read = Callable[[int, int], Array]  # a leaf and its side: those ends, as a neuron reads them

_TOLERANCE = tolerance(DOUBLE)
_NOISE = noise(DOUBLE)


@dataclass(frozen=True, slots=True)
class SummedClause:
    """A clause whose connectives are all sums with plain weights, and which bounds nothing in its antecedent."""

    clause: Clause

    @property
    def leaves(self) -> dict[int, int]:
        """The leaves that are read, with the side read."""
        return dict(self.clause.sides)

    def proposed(self, read: Read) -> tuple[Array, Array]:
        """Flags of rows with a proposal for the target, and the bounds. The ends read must not have crossed."""
        formula = self.clause.formula
        top = formula.neurons[formula.top]
        found = _complement(_end(formula, top.operands[0], 0, read))
        found = _times(found, float(top.weights[0]))
        found = _least(formula) - found
        weight = float(top.weights[1])
        if weight != 1:
            found /= weight
        np.clip(found, 0.0, 1.0, out=found)
        if self.clause.target[1]:
            found = 1.0 - found
            return found < 1 - _NOISE, found
        return found > _NOISE, found


def summed(clause: Clause) -> SummedClause | None:
    """The clause as sums, if it has that form."""
    formula = clause.formula
    top = formula.neurons[formula.top]
    inside = [formula.neurons[index] for index in clause.antecedent]
    if not all(_is_sum(neuron) or neuron.kind == "not" for neuron in (top, *inside) if neuron.operands):
        return None
    if any(not neuron.operands and (neuron.kind != LEAF or neuron.fixed) for neuron in inside):
        return None
    if formula.heads & {*clause.antecedent}:
        return None
    weight = float(top.weights[1])
    if not isinstance(formula.lower, float | int) or formula.lower <= _TOLERANCE or weight < SMALL_WEIGHT:
        return None
    return SummedClause(clause) if _least(formula) <= weight else None  # otherwise it could bound its antecedent


def _is_sum(neuron: Neuron) -> bool:
    numbers = (*neuron.weights, neuron.bias)
    return (
        isinstance(neuron.logic, Lukasiewicz)
        and not neuron.logic.strict
        and neuron.kind in ("and", "or", "implies")
        and all(isinstance(number, float | int) for number in numbers)
    )


def _least(formula: Formula) -> float:
    """``L + b - 1``: the least value of the sum."""
    return formula.lower + (float(formula.neurons[formula.top].bias) - 1)


def _end(formula: Formula, index: int, side: int, read: Read) -> Array:
    """One end of a neuron; read-only."""
    neuron = formula.neurons[index]
    if not neuron.operands:
        return read(index, side)
    if neuron.kind == "not":
        own = _end(formula, neuron.operands[0], 1 - side, read)
        found = _complement(own)
        if not side:  # only a false operand makes it true
            saturated = (own > 0) & (found == 1)
            if saturated.any():
                found[saturated] = below_one(DOUBLE)
        return found
    conjunction = neuron.kind == "and"
    flipped = [conjunction, conjunction] if neuron.kind != "implies" else [True, False]
    total: Array | None = None
    for place, (operand, weight) in enumerate(zip(neuron.operands, neuron.weights, strict=True)):
        flip = flipped[min(place, 1)]
        turned = flip and not conjunction  # the other end of the antecedent is read
        end = _end(formula, operand, 1 - side if turned else side, read)
        term = _complement(end) if flip else end
        if total is None:
            total = _times(term, float(weight), fresh=not flip)
        else:
            total += _times(term, float(weight))
    assert total is not None
    start = 1.0 - float(neuron.bias)
    if start:
        total += start
    np.clip(total, 0.0, 1.0, out=total)
    if conjunction:
        np.subtract(1.0, total, out=total)
    return total


def _complement(ends: Array) -> Array:
    return 1.0 - ends


def _times(ends: Array, weight: float, *, fresh: bool = False) -> Array:
    """Bounds times a weight, in an array that may be overwritten."""
    return ends * weight if fresh or weight != 1 else ends
