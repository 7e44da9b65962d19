"""Which leaves must say something before an instance can: found by running the kernels on abstract bounds.

An *element* is one end of one leaf that differs from its table's default. A constraint "the root is at least l" is
violated only where certain elements stand together: a minimal such set is a *conflict*. An instance can tighten an
element's leaf only where the rest of one of its conflicts is there, so joining those rests finds every instance that
is not silent. Joining more (a smaller set) is always right, only slower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from lnnkit.ground.evaluate import downward, least_heads, upward
from lnnkit.ground.formula import LEAF, Formula
from lnnkit.logic.bounds import Bounds, tolerance

End = Literal["lower", "upper", "either"]
Direction = Literal["least", "most"]  # the root is at least its lower, or at most its upper, bound

AUXILIARY = -1  # stands for the formula's own shared neuron among the leaves

_ENUMERATED = 10  # so many elements are tried in all combinations; more are coarsened to the indispensable ones
_SAMPLES = 96  # random values of leaves under equivalences, beside
_CORNERS = 6  # all corners of so many of them
_ROUND, _POINTS = 0.75, 0.4  # how many values are quarters, how many boxes are points


@dataclass(frozen=True, slots=True, order=True)
class Element:
    leaf: int
    end: End


@dataclass(frozen=True, slots=True)
class Conflict:
    """Elements that can violate the constraint together. Of a ``coarse`` one only indispensable elements are listed,
    and it stands for every element of the direction."""

    elements: frozenset[Element]
    coarse: bool = False


class Analysis:
    """The supports of one formula, given the default bounds of its tables (and of its auxiliary)."""

    def __init__(self, formula: Formula, defaults: Mapping[str, tuple[float, float]]) -> None:
        self.formula = formula
        self.defaults = {
            leaf: defaults[formula.neurons[leaf].source] for leaf in formula.leaves if leaf not in formula.heads
        } | dict.fromkeys(formula.heads, (0.0, 1.0))
        if formula.auxiliary is not None:
            self.defaults[AUXILIARY] = defaults[formula.auxiliary]
        self._same = [i for i, neuron in enumerate(formula.neurons) if neuron.kind == "same"]
        self._memory: dict[object, list[Conflict]] = {}

    @cached_property
    def signs(self) -> dict[int, int]:
        """How each neuron bears on the root: 1 raises it, -1 lowers it, 0 either; absent neurons are left out."""
        return self.signs_beneath(self.formula.top)

    def signs_beneath(self, top: int) -> dict[int, int]:
        """How each neuron bears on ``top``."""
        signs = {top: 1}
        for index in range(top, -1, -1):
            if index not in signs:
                continue
            neuron, sign = self.formula.neurons[index], signs[index]
            for position, operand in enumerate(neuron.operands):
                if neuron.weights and neuron.weights[position] == 0.0 and neuron.logic is not None:
                    continue
                if neuron.kind in ("iff", "xor"):
                    signs[operand] = 0
                elif neuron.kind == "not" or (neuron.kind == "implies" and position == 0):
                    signs[operand] = -sign
                else:
                    signs[operand] = sign
        return signs

    def elements(self, direction: Direction) -> list[Element]:
        """The ends that the constraint reads, whether or not they can deviate."""
        reads = self._reads(self.signs, upper=direction == "least")
        if AUXILIARY in self.defaults:
            reads.append(Element(AUXILIARY, "lower" if direction == "least" else "upper"))
        return reads

    def read_sides(self) -> dict[int, tuple[bool, bool]]:
        """Of which leaves (and of the auxiliary) a change of the lower or the upper side can matter to an instance."""
        found: dict[int, tuple[bool, bool]] = {}
        directions: tuple[Direction, ...] = ("least", "most")
        for direction in directions:
            if not self.conflicts(direction):
                continue
            for element in self.elements(direction):
                low, high = found.get(element.leaf, (False, False))
                both = not self._convex or element.leaf in self.formula.heads
                found[element.leaf] = (low or both or element.end != "upper", high or both or element.end != "lower")
        return found

    def _reads(self, signs: Mapping[int, int], *, upper: bool) -> list[Element]:
        ends: dict[int, tuple[End, ...]] = {
            0: ("lower", "upper"),
            1: ("upper" if upper else "lower",),
            -1: ("lower" if upper else "upper",),
        }
        return [Element(leaf, end) for leaf in self.formula.leaves if leaf in signs for end in ends[signs[leaf]]]

    def _improvable(self, element: Element) -> bool:
        lower, upper = self.defaults[element.leaf]
        return (lower < 1.0) if element.end == "lower" else (upper > 0.0) if element.end == "upper" else True

    def conflicts(self, direction: Direction, observed: int | None = None) -> list[Conflict]:
        """The minimal conflicts of a direction. With ``observed``, of the formula in which that neuron is a leaf
        at the far end of what it could be: the sets that let the instance say something about it."""
        formula = self.formula
        if formula.auxiliary is None and observed is None:
            bound = formula.lower if direction == "least" else formula.upper
            if bound <= tolerance(torch.float64) if direction == "least" else bound >= 1 - tolerance(torch.float64):
                return []
        beneath = self._beneath(observed) if observed is not None else frozenset()
        elements = [e for e in self.elements(direction) if e.leaf not in beneath and self._improvable(e)]
        pin = None
        if observed is not None:
            sign = self.signs.get(observed)
            if sign is None:
                return []
            far = (1.0, 0.0) if sign == 0 else ((0.0,) if (sign > 0) == (direction == "least") else (1.0,))
            pin = (observed, far)
        return self._remember(
            ("conflicts", direction, observed),
            lambda: self._minimal(elements, lambda masks: self._violated(masks, elements, direction, pin)),
        )

    def _remember(self, key: object, find: Callable[[], list[Conflict]]) -> list[Conflict]:
        """Formulas of one shape share an analysis, and so its findings."""
        if key not in self._memory:
            self._memory[key] = find()
        return self._memory[key]

    def _both_ways(self, leaf: int) -> bool:
        """Whether the leaf stands under an equivalence, where intermediate values can say more than extreme ones."""
        return leaf in self._under_equivalence

    @cached_property
    def _under_equivalence(self) -> frozenset[int]:
        found: set[int] = set()
        for index in range(self.formula.top, -1, -1):
            neuron = self.formula.neurons[index]
            if neuron.kind in ("iff", "xor") or index in found:
                found.update(neuron.operands)
        return frozenset(found)

    def _beneath(self, top: int) -> frozenset[int]:
        return frozenset(self.signs_beneath(top)) | frozenset({top})

    def improvements(self, node: int, end: End) -> list[frozenset[Element]]:
        """Minimal sets of elements beneath ``node`` that can take its upward ``end`` past the default."""
        elements = [e for e in self._reads(self.signs_beneath(node), upper=end == "upper") if self._improvable(e)]
        found = self._remember(
            ("improvements", node, end),
            lambda: self._minimal(elements, lambda masks: self._improved(masks, elements, node, end)),
        )
        return [conflict.elements for conflict in found]

    def completions(self) -> list[frozenset[Element]]:
        """For a defining statement: minimal sets of leaves that must have left their closed defaults before its
        antecedent's upper end can make a head possible."""
        antecedent = self.formula.neurons[self.formula.top].operands[0]
        elements = [
            e
            for e in self._reads(self.signs_beneath(antecedent), upper=False)
            if (e.end != "lower" or self.defaults[e.leaf][1] < 1.0)
            and (e.end != "upper" or self.defaults[e.leaf][0] > 0.0)
        ]
        other: dict[End, End] = {"lower": "upper", "upper": "lower"}
        elements = [Element(e.leaf, other[e.end]) for e in elements]

        def possible(masks: Tensor) -> Tensor:
            values, mask = self._values(masks, elements, None, loosened=True)
            heads = least_heads(self.formula, values[antecedent].upper, values, 1.0)
            hit = torch.stack([value > tolerance(torch.float64) for value in heads.values()]).any(0)
            return torch.zeros(len(masks)).index_add_(0, mask, hit.float()) > 0

        return [c.elements for c in self._remember("completions", lambda: self._minimal(elements, possible))]

    def loosenings(self, node: int, end: End) -> list[frozenset[Element]]:
        """Single leaves beneath ``node`` that may take its ``end`` back from an informative default."""
        value = self.default_values(node)
        trivial = all((v[0] if end == "lower" else 1 - v[1]) <= tolerance(torch.float64) for v in value)
        if trivial:
            return []
        found = []
        for element in self._reads(self.signs_beneath(node), upper=end == "upper"):
            lower, upper = self.defaults[element.leaf]
            if (element.end != "upper" and lower > 0.0) or (element.end != "lower" and upper < 1.0):
                found.append(frozenset({Element(element.leaf, "either")}))
        return found

    def default_values(self, node: int) -> list[tuple[float, float]]:
        """The bounds of ``node`` with every leaf at its default, for each way in which equalities may fall."""
        values = self._values(torch.zeros(1, 0, dtype=torch.bool), [], None)[0][node]
        return list(dict.fromkeys(zip(values.lower.tolist(), values.upper.tolist(), strict=True)))

    # --- running the kernels ----------------------------------------------------------------------------------------

    def _values(
        self,
        masks: Tensor,
        elements: Sequence[Element],
        pin: tuple[int, tuple[float, ...]] | None,
        *,
        loosened: bool = False,
    ) -> tuple[list[Bounds], Tensor]:
        """Upward on every mask, in every fall of equalities, with every pin and sample. Also each row's mask.

        Elements that a mask holds say as much as they can, or, ``loosened``, nothing at all."""
        falls = 2 ** min(len(self._same), 4)
        pins = pin[1] if pin else (0.0,)
        at = {(element.leaf, element.end): position for position, element in enumerate(elements)}
        mixed = sorted({e.leaf for e in elements if self._both_ways(e.leaf)})
        corners = 2 ** min(len(mixed), _CORNERS)
        samples = corners + _SAMPLES if mixed and not loosened else 1
        count = len(masks)
        rows = count * falls * len(pins) * samples
        mask = torch.arange(count).repeat(falls * len(pins) * samples)
        fall = torch.arange(falls).repeat_interleave(count).repeat(len(pins) * samples)
        corner = torch.arange(samples).repeat_interleave(count * falls * len(pins))
        pinned = torch.tensor(pins, dtype=torch.float64).repeat_interleave(count * falls).repeat(samples)
        generator = torch.Generator().manual_seed(0)

        def there(index: int, end: End) -> Tensor:
            if (index, end) not in at:
                return torch.zeros(rows, dtype=torch.bool)
            return masks[:, at[index, end]].index_select(0, mask)

        def drawn(index: int) -> tuple[Tensor, Tensor]:
            """Two ends in order: a corner of the unit cube first, then at random."""
            draw = torch.rand(rows, 2, dtype=torch.float64, generator=generator)
            round_ = torch.rand(rows, 1, generator=generator) < _ROUND
            ends = torch.where(round_, (draw * 4).round() / 4, draw)
            low, high = ends.amin(1), ends.amax(1)
            high = torch.where(torch.rand(rows, generator=generator) < _POINTS, low, high)
            bit = ((corner >> mixed.index(index) % _CORNERS) & 1).double()
            return torch.where(corner < corners, bit, low), torch.where(corner < corners, bit, high)

        def read(index: int) -> Bounds:
            neuron = self.formula.neurons[index]
            if neuron.kind in ("true", "false"):
                value = torch.full((rows,), float(neuron.kind == "true"), dtype=torch.float64)
                return Bounds(value, value)
            if neuron.kind == "same":
                value = ((fall >> min(self._same.index(index), 3)) & 1).double()
                return Bounds(value, value)
            low, high = self.defaults[index]
            lower = torch.full((rows,), low, dtype=torch.float64)
            upper = torch.full((rows,), high, dtype=torch.float64)
            below, above = there(index, "lower"), there(index, "upper")
            if loosened:
                return Bounds(torch.where(below | above, 0.0, lower), torch.where(below | above, 1.0, upper))
            if index in mixed:
                first, second = drawn(index)
                lower = torch.where(below, first, torch.minimum(lower, torch.where(above, second, 1.0)))
                upper = torch.where(above, second, torch.maximum(upper, lower))
            else:
                lower, upper = torch.where(above, 0.0, lower), torch.where(below, 1.0, upper)
                lower, upper = torch.where(below, 1.0, lower), torch.where(above, 0.0, upper)
            return Bounds(lower, upper)

        values = upward(self.formula if pin is None else _cut(self.formula, pin[0]), _pinned(read, pin, pinned), None)
        return values, mask

    def _violated(
        self,
        masks: Tensor,
        elements: Sequence[Element],
        direction: Direction,
        pin: tuple[int, tuple[float, ...]] | None,
    ) -> Tensor:
        values, mask = self._values(masks, elements, pin)
        root = values[self.formula.top]
        eps = tolerance(torch.float64)
        lower = torch.full_like(root.lower, self.formula.lower)
        upper = torch.full_like(root.upper, self.formula.upper)
        if self.formula.auxiliary is not None:
            lower, upper = (torch.full_like(root.lower, end) for end in self.defaults[AUXILIARY])
            place = next((i for i, e in enumerate(elements) if e.leaf == AUXILIARY), None)
            if place is not None:
                there = masks[:, place].index_select(0, mask)
                if direction == "least":
                    lower = torch.where(there, 1.0, lower)
                else:
                    upper = torch.where(there, 0.0, upper)
        hit = lower > root.upper + eps if direction == "least" else root.lower > upper + eps
        if not self._convex:  # an image may have gaps that its hull hides
            low, high = torch.maximum(lower, root.lower), torch.minimum(upper, root.upper)
            given = Bounds(
                torch.where(hit | (low > high), root.lower, low), torch.where(hit | (low > high), root.upper, high)
            )
            formula = self.formula if pin is None else _cut(self.formula, pin[0])
            hit = hit | downward(formula, values, given, None)[1]
        return torch.zeros(len(masks)).index_add_(0, mask, hit.float()) > 0

    @cached_property
    def _convex(self) -> bool:
        """Whether every neuron maps boxes onto intervals."""
        return not any(
            neuron.kind in ("iff", "xor")
            or (neuron.kind == "implies" and neuron.logic is not None and neuron.logic.name == "godel")
            for neuron in self.formula.neurons
        )

    def _improved(self, masks: Tensor, elements: Sequence[Element], node: int, end: End) -> Tensor:
        values, mask = self._values(masks, elements, None)
        base, _ = self._values(torch.zeros_like(masks), elements, None)
        eps = tolerance(torch.float64)
        if end == "lower":
            hit = values[node].lower > base[node].lower + eps
        else:
            hit = values[node].upper < base[node].upper - eps
        return torch.zeros(len(masks)).index_add_(0, mask, hit.float()) > 0

    def _minimal(self, elements: Sequence[Element], test: Callable[[Tensor], Tensor]) -> list[Conflict]:
        count = len(elements)
        if count <= _ENUMERATED:
            codes = sorted(range(2**count), key=lambda code: (code.bit_count(), code))
            bits = torch.tensor(codes).unsqueeze(1) >> torch.arange(count).unsqueeze(0) & 1
            kept: list[int] = []
            for code, hit in zip(codes, test(bits.bool()).tolist(), strict=True):
                if hit and not any(code & other == other for other in kept):
                    kept.append(code)
            return [Conflict(frozenset(elements[i] for i in range(count) if code >> i & 1)) for code in kept]
        if not bool(test(torch.ones(1, count, dtype=torch.bool))):
            return []
        kinds = [self._kind(element) for element in elements]
        first = {kind: position for position, kind in reversed(list(enumerate(kinds)))}
        masks = torch.ones(len(first), count, dtype=torch.bool)
        for row, position in enumerate(first.values()):
            masks[row, position] = False
        still = dict(zip(first, test(masks).tolist(), strict=True))
        return [Conflict(frozenset(e for e, kind in zip(elements, kinds, strict=True) if not still[kind]), coarse=True)]

    @cached_property
    def _parents(self) -> dict[int, tuple[int, float]]:
        return {
            operand: (index, neuron.weights[position] if neuron.weights else 1.0)
            for index, neuron in enumerate(self.formula.neurons)
            for position, operand in enumerate(neuron.operands)
        }

    def _kind(self, element: Element) -> object:
        """Operands of one neuron with equal weights and defaults can stand for each other."""
        parent, weight = self._parents.get(element.leaf, (-1, element.leaf))
        if self.formula.neurons[parent].kind not in ("and", "or") if parent >= 0 else True:
            return element
        return (parent, weight, element.end, self.defaults[element.leaf])


def _pinned(
    read: Callable[[int], Bounds], pin: tuple[int, tuple[float, ...]] | None, values: Tensor
) -> Callable[[int], Bounds]:
    if pin is None:
        return read
    return lambda index: Bounds(values, values) if index == pin[0] else read(index)


def _cut(formula: Formula, node: int) -> Formula:
    """The formula with ``node`` as a leaf of its own."""
    neurons = list(formula.neurons)
    neurons[node] = replace(neurons[node], kind=LEAF, operands=(), logic=None)
    return replace(formula, neurons=tuple(neurons))
