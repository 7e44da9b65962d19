"""The rows of a formula's blocks, and the downward pass through them: a quantifier's bounds reach the rows of its
group.

Some quantifiers are moved to the front of a statement: ``(exists X: P(X, Y)) -> Q(Y)`` says what ``P(X, Y) -> Q(Y)``
says of every X. Conjunctions, disjunctions and implications are monotone, so they commute with the least and the
greatest of a group. A statement that reads of each ``exists`` only how true it is at least, and of each ``forall`` only
how true it is at most, proposes through the rows of its quantifiers one by one: the strictest proposal is the one that
it would make for all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, any_set, as_numpy, matching, take
from lnnkit.formula.unfolding import Block, Formula, Neuron
from lnnkit.logic.bounds import Bounds
from lnnkit.logic.quantifier import exists_inverse, forall_inverse
from lnnkit.numeric import Interval, Term, rises
from lnnkit.numeric.aggregates import Grouped, aggregate, narrowed, with_value

# Each set of a quantifier's variables may be unnamed individuals, with what is known of them: 6 variables take 23 ms,
# 14 took 9 s. Where more may differ from the default, nothing is known of them.
_MOST_UNNAMED = 6


def too_many_unnamed(formula: Formula, differ: Iterable[int], open_sorts: Set[str]) -> bool:
    """Whether too many variables of one quantifier may be unnamed individuals that matter: those of leaves that
    ``differ`` for them, and of equalities."""
    neurons = formula.neurons
    indices = {*differ, *(index for index, neuron in enumerate(neurons) if neuron.kind == "same")}
    about = {argument for index in indices for argument in neurons[index].arguments}
    opens = ({v for v in block.bound if formula.sorts[v] in open_sorts} for block in formula.blocks)
    return any(len(variables & about) > _MOST_UNNAMED for variables in opens)


def of_their_sorts(
    formula: Formula, arguments: Sequence[int | str], sorts: Sequence[str], open_sorts: Set[str]
) -> bool:
    """Whether the unnamed individuals that the arguments of an atom may be are of the ``sorts`` of its places, and not
    of others that these include: nothing is stated of those."""
    pairs = ((formula.sorts[term], sort) for term, sort in zip(arguments, sorts, strict=True) if isinstance(term, int))
    return all(variable == sort or variable not in open_sorts for variable, sort in pairs)


def without_candidate(neuron: Neuron, ends: Bounds | Interval) -> Array:
    """Where a number that is derived as the best of its candidates may have none, and so no value: the end that falls
    (of a ``max`` rises) with each of them is infinite."""
    return ends.upper == math.inf if neuron.derived == "min" else ends.lower == -math.inf


class Grouping(NamedTuple):
    """The mapping from the rows of a block to the rows of the enclosing block.

    ``group`` (n,) is the group of each row, ``groups`` the number of groups, ``of`` (m,) the group of each row of
    the enclosing block (None: these rows are the groups themselves). ``virtual`` (n,) marks rows for entities at
    default bounds, which take part only upward. A ``stranger`` (n,) among them is an unnamed individual that may
    not exist: it can keep a ``forall`` from being true and an ``exists`` from being false, and nothing else; an
    aggregate has any number of them. ``copies`` (n,) are the entities that a virtual row stands for.
    """

    group: Array
    groups: int
    of: Array | None
    virtual: Array
    stranger: Array
    copies: Array

    def elements(
        self, formula: Formula, neuron: Neuron, boxes: Sequence[Bounds]
    ) -> tuple[Interval, Interval | None, Grouped]:
        """The truths, the values and the rows of an aggregate, from the bounds of its formula's neurons."""
        copies = Interval(self.copies, self.copies)
        if self.stranger.any():
            copies = Interval(*(np.where(self.stranger, end, self.copies) for end in (0.0, math.inf)))
        truths, *values = (Interval(*map(as_numpy, boxes[operand])) for operand in neuron.operands)
        if values:
            term = formula.neurons[neuron.operands[1]]
            read = term.operands if isinstance(term.arithmetic, Term) else neuron.operands[1:]
            inputs = [Interval(*map(as_numpy, boxes[operand])) for operand in read]
            copies = with_value(
                copies, term.arithmetic if isinstance(term.arithmetic, Term) else None, inputs or values
            )
            for leaf, ends in zip(read, inputs, strict=True):
                if formula.neurons[leaf].derived:
                    none = without_candidate(formula.neurons[leaf], ends)
                    copies = Interval(np.where(none, 0.0, copies.lower), copies.upper)
        return truths, values[0] if values else None, Grouped(self.group, self.groups, copies)

    def together(self, formula: Formula, neuron: Neuron, boxes: Sequence[Bounds]) -> Bounds:
        """The value of an aggregate for each group. No gradient passes through it."""
        made = aggregate(neuron.kind, *self.elements(formula, neuron, boxes))
        return Bounds(*(matching(end, boxes[neuron.operands[0]].lower) for end in made))

    def optional(self, rows: Bounds, *, least: bool) -> Bounds:
        """The bounds of the rows that a quantifier may rely on, given that unnamed individuals may not exist."""
        if least:
            return Bounds(rows.lower, arrays.where(matching(self.stranger, rows.upper), 1.0, rows.upper))
        return Bounds(arrays.where(matching(self.stranger, rows.lower), 0.0, rows.lower), rows.upper)

    def around(self, groups: Bounds) -> Bounds:
        """The bounds of each row's group, one row for each row of the enclosing block."""
        return groups if self.of is None else Bounds(take(groups.lower, self.of), take(groups.upper, self.of))


class Descent:
    """The state of one downward pass through the blocks of a formula, none of which is grouped. ``boxes`` are the
    narrowed bounds of its neurons."""

    def __init__(self, formula: Formula, groupings: Sequence[Grouping | None], boxes: list[Bounds]) -> None:
        self.boxes = boxes
        self._formula = formula
        self._groupings = groupings
        self._missed: list[Array | None] = [None] * len(formula.blocks)

    def miss(self, block: int, flags: Array) -> None:
        """Record that some rows of a block have no values left."""
        known, flags = self._missed[block], as_numpy(flags)
        self._missed[block] = flags if known is None else known | flags

    def enter_aggregate(self, index: int, node: Bounds, made: Bounds) -> None:
        """Narrow the operands of an aggregate by its own bounds, where these are tighter than those ``made``."""
        if not (any_set(rises(made.lower, node.lower)) or any_set(rises(-made.upper, -node.upper))):
            return
        neuron = self._formula.neurons[index]
        grouping = self._groupings[neuron.inner]
        assert grouping is not None and grouping.of is None
        elements = grouping.elements(self._formula, neuron, self.boxes)
        left = narrowed(neuron.kind, Interval(*map(as_numpy, node)), *elements)
        for operand, box in zip(neuron.operands, (left.truths, left.values), strict=False):
            if box is not None:
                self.boxes[operand] = Bounds(*(matching(end, self.boxes[operand].lower) for end in box))
        self.miss(neuron.block, left.empty)

    def enter(self, quantifier: int, node: Bounds) -> None:
        """Narrow the operand of a quantifier by the quantifier's bounds, for each row of its block."""
        neuron = self._formula.neurons[quantifier]
        grouping = self._groupings[neuron.inner]
        assert grouping is not None and grouping.of is None
        operand = self.boxes[neuron.operands[0]]
        inverse = forall_inverse if neuron.least else exists_inverse
        narrowed = inverse(node, grouping.optional(operand, least=neuron.least), grouping.group, len(node.lower))
        (box,) = narrowed.operands
        virtual = matching(grouping.virtual, operand.lower)
        self.boxes[neuron.operands[0]] = Bounds(
            arrays.where(virtual, operand.lower, box.lower), arrays.where(virtual, operand.upper, box.upper)
        )
        self.miss(neuron.block, narrowed.empty)

    def emptied(self) -> Array:
        """A mask of the rows of block 0 without values, their own or those of a row inside."""
        for block in range(len(self._missed) - 1, 0, -1):
            missed, grouping = self._missed[block], self._groupings[block]
            if missed is not None and grouping is not None:
                around = self._formula.blocks[block].parent
                hit = np.zeros(self._length(around), dtype=bool)
                hit[grouping.group[missed & ~grouping.virtual]] = True
                self.miss(around, hit)
        empty = self._missed[0]
        return np.zeros(self._length(0), dtype=bool) if empty is None else empty

    def _length(self, block: int) -> int:
        grouping = self._groupings[block]
        return len(self.boxes[self._formula.top].lower if grouping is None else grouping.group)


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
