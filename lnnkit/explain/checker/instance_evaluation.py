"""One upward and one downward pass over an instance. It shares nothing with the engine but the logics' kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from lnnkit.explain.checker.ground_form import Form
from lnnkit.logic import Bounds, Inverse, complement, enter, exists, exists_inverse, forall, forall_inverse, logic_named
from lnnkit.logic.bounds import informative, ordered, tolerance
from lnnkit.numeric import Comparison, Interval

Box = tuple[float, float]
OTHER = "\0"  # prefix of the reserved names for all other entities; those of a sort end with it


@dataclass(frozen=True, slots=True)
class InstanceNode:
    """A node of an instance, with quantifiers expanded into rows. ``form`` is its formula; rows for all other entities,
    which may be ``optional``, use reserved names. A node that is ``read`` has bounds beside those of its operands."""

    form: Form
    operands: tuple[int, ...]
    optional: tuple[bool, ...] = ()
    read: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes, operands first, evaluated in the precision of the bounds that are checked. Nodes at the places ``unknown``
    are treated as unknown, whatever the bounds of them or of their operands."""

    nodes: Sequence[InstanceNode]
    dtype: np.dtype[Any]
    unknown: Set[int] = frozenset()

    @property
    def top(self) -> int:
        return len(self.nodes) - 1

    @property
    def numbers(self) -> set[int]:
        """The places of numbers and terms."""
        terms = {place for place, node in enumerate(self.nodes) if node.form.kind == "term"}
        return terms.union(*(node.operands for node in self.nodes if node.form.arithmetic is not None))

    def upward(self, read: Callable[[Form], Box]) -> list[Bounds]:
        """The bounds of all nodes: the bounds read of each, met with those of its operands."""
        values: list[Bounds] = []
        numbers = self.numbers
        for place, node in enumerate(self.nodes):
            if place in self.unknown:
                values.append(self._box(0.0, 1.0))
                continue
            known = self._box(*read(node.form))
            known = known if place in numbers else enter(known)
            calculated = node.form.arithmetic is not None and (place == self.top or not node.form.operands)
            made_of = node.operands or node.form.kind in ("true", "false", "same", "forall", "exists")
            if calculated or (made_of and not node.read):
                made = self._made(node, values)
                known = ordered(np.maximum(known.lower, made.lower), np.minimum(known.upper, made.upper))
            values.append(known)
        return values

    def downward(self, values: Sequence[Bounds], truth: Box) -> tuple[list[Bounds], bool]:
        """The bounds of all nodes by the root's ``truth``, not by their upward bounds, and whether they are empty."""
        boxes = list(values)
        if self.top in self.numbers:
            return boxes, False
        root, given = values[self.top], enter(self._box(*truth))
        lower, upper = np.maximum(root.lower, given.lower), np.minimum(root.upper, given.upper)
        boxes[self.top] = ordered(lower, upper)
        empty = bool(lower > upper + tolerance(self.dtype))
        for index in range(self.top, -1, -1):
            node = self.nodes[index]
            if not node.operands or index in self.unknown:
                continue
            box = boxes[index]
            if node.form.kind not in ("not", "compare"):
                box = informative(box, self._made(node, values))
            inverse = self._left(node, box, boxes)
            empty = empty or bool(inverse.empty)
            for operand, bounds in zip(node.operands, inverse.operands, strict=True):
                boxes[operand] = bounds
        return boxes, empty

    def least_conjunct(self, values: Sequence[Bounds], truth: float, head: int) -> float:
        """For an implication with a fully true antecedent: the least truth of the conjunct ``head`` of its consequent
        for which the implication can be as true as ``truth``; 1 if none suffices."""
        top, antecedent, consequent = self.nodes[self.top], *self.nodes[self.top].operands
        boxes = {antecedent: Bounds(values[antecedent].upper, values[antecedent].upper)}
        order = self._conjuncts(consequent)
        for index in reversed(order):
            node = self.nodes[index]
            if node.form.kind == "and":
                boxes[index] = self._made(node, boxes)
            else:
                concluded = any(self.nodes[part].form.kind == "atom" for part in self._below(index))
                boxes[index] = self._reach(index) if concluded else values[index]
        inverses = [self._left(top, self._box(truth, 1.0), boxes)]
        boxes[consequent] = inverses[0].operands[1]
        for index in order:
            node = self.nodes[index]
            if node.form.kind == "and":
                inverses.append(self._left(node, boxes[index], boxes))
                boxes.update(zip(node.operands, inverses[-1].operands, strict=True))
        return 1.0 if any(map(bool, (inverse.empty for inverse in inverses))) else boxes[head].lower.item()

    def heads(self) -> list[int]:
        """The atoms of the consequent conjunction of an implication."""
        top = self.nodes[self.top]
        order = self._conjuncts(top.operands[1]) if top.form.kind == "implies" else []
        return [index for index in order if self.nodes[index].form.kind == "atom"]

    def parts(self, kept: int) -> Iterator[Set[int]]:
        """The parts that may be treated as unknown in an instance whose parts contradict each other, except the node
        ``kept`` and its ancestors: the atoms that it concludes, and each of its formulas."""
        top = self.nodes[self.top]
        around = {index for index in range(len(self.nodes)) if kept in self._below(index)}
        if top.form.kind == "implies":
            below = self._below(top.operands[1])
            yield {index for index in below if self.nodes[index].form.kind == "atom"} - around
        yield from ({index} for index, node in enumerate(self.nodes) if node.operands and index not in around)

    def _conjuncts(self, start: int) -> list[int]:
        order, stack = [], [start]
        while stack:
            order.append(stack.pop())
            node = self.nodes[order[-1]]
            stack += node.operands if node.form.kind == "and" else ()
        return order

    def _below(self, start: int) -> set[int]:
        """A node and all nodes below it."""
        below, stack = set[int](), [start]
        while stack:
            below.add(index := stack.pop())
            stack += self.nodes[index].operands
        return below

    def _reach(self, index: int) -> Bounds:
        """The bounds of a part of a consequent with its atoms, equalities and quantifiers unknown."""
        node = self.nodes[index]
        constant = node.form.kind in ("true", "false")
        if not constant and (not node.operands or node.form.kind in ("compare", "forall", "exists")):
            return self._box(0.0, 1.0)
        return self._made(node, {operand: self._reach(operand) for operand in node.operands})

    def _box(self, lower: float, upper: float) -> Bounds:
        return Bounds(np.array([lower], self.dtype), np.array([upper], self.dtype))

    def _made(self, node: InstanceNode, values: _Values) -> Bounds:
        """The bounds of a node from those of its operands."""
        form, operands = node.form, [values[operand] for operand in node.operands]
        match form.kind:
            case "true" | "false":
                truth = float(form.kind == "true")
                return self._box(truth, truth)
            case "same":
                return self._box(*_same(form))
            case "compare" | "term":
                inputs = [Interval(*operand) for operand in operands]
                if isinstance(form.arithmetic, Comparison):
                    return Bounds(*form.arithmetic.truth(inputs))
                assert form.arithmetic is not None
                return Bounds(*form.arithmetic.hull(inputs)[0])
            case "not":
                return complement(operands[0])
            case "forall" | "exists":
                return (forall if form.kind == "forall" else exists)(*self._rows(node, operands), 1)
            case "xor":
                return complement(logic_named(form.name).up("iff", operands, form.weights, form.bias))
        return logic_named(form.name).up(form.kind, operands, form.weights, form.bias)

    def _left(self, node: InstanceNode, box: Bounds, values: _Values) -> Inverse:
        """The bounds of a node's operands, given its own."""
        form, operands = node.form, [values[operand] for operand in node.operands]
        match form.kind:
            case "not":
                return Inverse((complement(box),), np.array(False))
            case "compare":
                assert isinstance(form.arithmetic, Comparison)
                inputs = [Interval(*operand) for operand in operands]
                left = form.arithmetic.narrow(inputs, form.arithmetic.truth(inputs), Interval(*box))
                return Inverse(tuple(Bounds(*interval) for interval in left.inputs), left.empty)
            case "forall" | "exists":
                inverse = forall_inverse if form.kind == "forall" else exists_inverse
                left = inverse(box, *self._rows(node, operands), 1)
                lower, upper = left.operands[0]
                boxes = (Bounds(lower[place, None], upper[place, None]) for place in range(len(operands)))
                return Inverse(tuple(boxes), left.empty)
            case "xor":
                return logic_named(form.name).down("iff", complement(box), operands, form.weights, form.bias)
        return logic_named(form.name).down(form.kind, box, operands, form.weights, form.bias)

    def _rows(self, node: InstanceNode, operands: Sequence[Bounds]) -> tuple[Bounds, np.ndarray]:
        """The rows of a quantifier; an optional row may be missing."""
        none = np.empty(0, self.dtype)
        lower, upper = (np.concatenate([none, *(operand[end] for operand in operands)]) for end in (0, 1))
        may = np.array(node.optional, dtype=bool)
        if node.form.kind == "forall":
            upper[may] = 1.0
        else:
            lower[may] = 0.0
        return Bounds(lower, upper), np.zeros(len(operands), dtype=np.int64)


_Values = Sequence[Bounds] | dict[int, Bounds]


def _same(form: Form) -> Box:
    one, other = form.terms
    if one == other:
        return 1.0, 1.0
    named = any(isinstance(t, str) and not t.startswith(OTHER) for t in form.terms)
    first, second = (str(term).split(" ", 2) for term in form.terms)
    apart = len(first) == 3 and first[2:] == second[2:]  # others of one sort
    return (0.0, 0.0) if named or apart else (0.0, 1.0)
