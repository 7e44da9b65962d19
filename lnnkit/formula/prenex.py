"""Quantifiers moved to the front of a statement: ``(exists X: P(X, Y)) -> Q(Y)`` says what ``P(X, Y) -> Q(Y)`` says of
every X.

Conjunctions, disjunctions and implications are monotone, so they commute with the least and the greatest of a group. A
statement that reads of each ``exists`` only how true it is at least, and of each ``forall`` only how true it is at
most, proposes through the rows of its quantifiers one by one: the strictest proposal is the one that it would make for
all of them together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lnnkit.formula.unfolding import Block, Formula


def prenexed(formula: Formula, signs: Mapping[int, int]) -> Formula | None:
    """The formula with a row of its quantifiers for each instance; None if that may say something else. ``signs`` are
    its neurons' polarities. Each quantifier stays in its place, over one row, and so do the leaves.

    A formula with heads also completes them by both ends of its antecedent, so only an ``exists`` there will do. A
    shared quantifier is raised by each row (a ``forall`` lowered), and gives its upper end (its lower end) to each.
    """
    chain = all(block.parent == number for number, block in enumerate(formula.blocks[1:]))
    if len(formula.blocks) == 1 or not chain or any(neuron.aggregates for neuron in formula.neurons):
        return None
    least, most = _read(formula)
    quantifiers = [(neuron, signs.get(place, 0)) for place, neuron in enumerate(formula.neurons) if neuron.inner >= 0]
    if least == most or any(
        sign != (1 if neuron.least == least else -1) or (formula.heads and sign > 0) for neuron, sign in quantifiers
    ):
        return None
    neurons = tuple(neuron._replace(block=0, inner=-1) for neuron in formula.neurons)
    variables = formula.around(len(formula.blocks) - 1)
    return replace(formula, neurons=neurons, blocks=(Block(-1, variables, ()),), prenex_of=formula)


def _read(formula: Formula) -> tuple[bool, bool]:
    """Whether it reads how true it is at least, and at most."""
    if formula.auxiliary is not None:
        return replace(formula, prenex_of=formula).reads_own
    learned = (None, None) if formula.root is None else formula.root.learned
    return formula.lower > 0.0 or learned[0] is not None, formula.upper < 1.0 or learned[1] is not None
