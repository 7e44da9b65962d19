"""Families of sets of elements, a disjunction of conjunctions: each set is one way in which something can be
derived. And the polarity of neurons: how each affects the others, and so which ends of its leaves a formula reads.

A smaller set is a weaker condition, so a family may always be coarsened: by dropping elements from its sets, or by
omitting sets that contain another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import Literal, NamedTuple, get_args

from lnnkit.analysis.causes import convex
from lnnkit.arrays import DOUBLE
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.logic.bounds import tolerance

End = Literal["lower", "upper", "either"]

_PRODUCT = 256  # sets of a product; 16 and 1024 change no time: 358 to 377 ms, as in analysis/causes.py


class Element(NamedTuple):
    """An end of a leaf that differs from its table's default; or the lower end of an equality that holds."""

    leaf: int
    end: End


Support = frozenset[Element]
Family = tuple[Support, ...]

NEVER: Family = ()
ALWAYS: Family = (frozenset(),)


def minimal(supports: Iterable[Support]) -> Family:
    """The family without sets that contain another, in a canonical order."""
    kept: list[Support] = []
    distinct = set(supports)
    if len(distinct) < 2:
        return tuple(distinct)
    for support in sorted(distinct, key=lambda s: (len(s), sorted((element.leaf, element.end) for element in s))):
        if not any(other <= support for other in kept):
            kept.append(support)
    return tuple(kept)


def union(families: Iterable[Family]) -> Family:
    """The disjunction of families."""
    distinct = {*families} - {NEVER}
    return distinct.pop() if len(distinct) == 1 else minimal(chain.from_iterable(distinct))


def product(families: Sequence[Family]) -> Family:
    """The conjunction of families; if the product is too large, a coarser one from the most selective families only."""
    if NEVER in families:
        return NEVER
    needed = [family for family in families if family != ALWAYS]
    if len(needed) < 2:
        return needed[0] if needed else ALWAYS
    if math.prod(map(len, needed)) > _PRODUCT:
        needed = _fitting(needed)
    products: list[Support] = [frozenset()]
    for family in needed:
        products = [one | other for one in products for other in family]
    return minimal(products)


def _fitting(families: Sequence[Family]) -> list[Family]:
    """As many of the families, fewest sets first, as have a product of bounded size."""
    chosen: list[Family] = []
    size = 1
    for family in sorted(families, key=len):
        if not chosen or size * len(family) <= _PRODUCT:
            chosen.append(family)
            size *= len(family)
    return chosen


Direction = Literal["least", "most"]  # the root is at least its lower bound, or at most its upper bound

_EPS = tolerance(DOUBLE)


class Polarity:
    """The signs of a formula's neurons."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula

    @cached_property
    def signs(self) -> dict[int, int]:
        """The polarity of each neuron with respect to the root: 1 raises it, -1 lowers it, 0 either; neurons without
        effect are left out."""
        return self.signs_beneath(self.formula.top)

    def signs_beneath(self, top: int) -> dict[int, int]:
        """The polarity of each neuron with respect to ``top``."""
        signs = {top: 1}
        for index in range(top, -1, -1):
            if index not in signs:
                continue
            neuron, sign = self.formula.neurons[index], signs[index]
            for position, operand in enumerate(neuron.operands):
                if neuron.logic is not None and neuron.weights[position] == 0.0:
                    continue
                if neuron.kind in ("iff", "xor") or neuron.arithmetic is not None or neuron.aggregates:
                    signs[operand] = 0
                elif neuron.kind == "not" or (neuron.kind == "implies" and position == 0):
                    signs[operand] = -sign
                else:
                    signs[operand] = sign
        return signs

    def reads(self, leaf: int, side: str) -> list[Element]:
        """The ends that an instance reads to propose for one side of a leaf. They include the leaf's own ends under an
        equivalence or a quantifier: there they are read at the quantifier's other rows."""
        reads: list[Element] = []
        for direction in self.directions:
            elements = self.elements(direction)
            ends = [e for e in elements if e.leaf == leaf]
            if any(e.end != side for e in ends):
                others = leaf != AUXILIARY and self.formula.neurons[leaf].block > 0
                reads += [e for e in elements if e.leaf != leaf or others or (len(ends) > 1 and e.end == side)]
        return list(dict.fromkeys(reads))

    def read_sides(self) -> dict[int, tuple[bool, bool]]:
        """For each leaf (and the auxiliary): whether a move of its lower or upper end can matter to an instance."""
        gaps = any(n.logic is not None and not convex(n) for n in self.formula.neurons)
        sides: dict[int, tuple[bool, bool]] = {}
        for direction in self.directions:
            for element in self.elements(direction):
                low, high = sides.get(element.leaf, (False, False))
                both = gaps or element.leaf in self.formula.heads
                sides[element.leaf] = (low or both or element.end == "lower", high or both or element.end == "upper")
        return sides

    @property
    def directions(self) -> tuple[Direction, ...]:
        ends = self.formula.lower > _EPS, self.formula.upper < 1 - _EPS
        if self.formula.auxiliary is not None:
            ends = self.formula.reads_own
        return tuple(compress(get_args(Direction), ends))

    def elements(self, direction: Direction) -> list[Element]:
        """The ends that the constraint reads, whether or not they can deviate."""
        reads = self.ends(self.signs, upper=direction == "least")
        if self.formula.auxiliary is not None:
            reads.append(Element(AUXILIARY, "lower" if direction == "least" else "upper"))
        return reads

    def ends(self, signs: Mapping[int, int], *, upper: bool) -> list[Element]:
        ends: dict[int, tuple[End, ...]] = {
            0: ("lower", "upper"),
            1: ("upper" if upper else "lower",),
            -1: ("lower" if upper else "upper",),
        }
        return [Element(leaf, end) for leaf in self.formula.leaves if leaf in signs for end in ends[signs[leaf]]]
