"""One upward and one downward pass over an instance, node by node, with the kernels of the logics. It shares nothing
with the engine but those kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np

from lnnkit.arrays import Array
from lnnkit.explain.checker.ground_form import Form
from lnnkit.logic import Bounds, Inverse, complement, enter, exists, exists_inverse, forall, forall_inverse, logic_named
from lnnkit.logic.bounds import informative, ordered
from lnnkit.numeric import Comparison, Interval

Box = tuple[float, float]


@dataclass(frozen=True, slots=True)
class InstanceNode:
    """A node of an instance, with quantifiers expanded into rows. ``form`` is its formula; rows for all other entities,
    which may be ``optional``, use reserved names. A node that is ``read`` has bounds of its own beside those of its
    operands."""

    form: Form
    operands: tuple[int, ...]
    optional: tuple[bool, ...] = ()
    read: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes, operands first. Nodes at the places ``unknown`` are treated as unknown, whatever the bounds of them or of
    their operands."""

    nodes: Sequence[InstanceNode]
    unknown: Set[int] = frozenset()

    @property
    def top(self) -> int:
        return len(self.nodes) - 1

    @property
    def numbers(self) -> set[int]:
        """The places of numbers and terms."""
        arithmetic = [(place, node) for place, node in enumerate(self.nodes) if node.form.arithmetic is not None]
        terms = {place for place, node in arithmetic if node.form.kind == "term"}
        return terms.union(*(node.operands for _, node in arithmetic))


def upward(tree: Tree, read: Callable[[Form], Box]) -> list[Bounds]:
    """The bounds of all nodes: the bounds read of each, met with those of its operands."""
    values: list[Bounds] = []
    numbers = tree.numbers
    for place, node in enumerate(tree.nodes):
        if place in tree.unknown:
            values.append(_box(0.0, 1.0))
            continue
        low, high = read(node.form)
        known = _box(low, high) if place in numbers else enter(_box(low, high))
        calculated = node.form.arithmetic is not None and (place == tree.top or not node.form.operands)
        made_of = node.operands or node.form.kind in ("true", "false", "same", "forall", "exists")
        if calculated or (made_of and not node.read):
            made = _made(node, [values[operand] for operand in node.operands])
            known = Bounds(np.maximum(known.lower, made.lower), np.minimum(known.upper, made.upper))
            known = ordered(*known)
        values.append(known)
    return values


def downward(tree: Tree, values: Sequence[Bounds], truth: Box) -> tuple[list[Bounds], bool]:
    """The bounds of all nodes given that the root has ``truth``, and whether these are empty. A node's own upward
    bounds are not used again."""
    boxes = list(values)
    if tree.top in tree.numbers:
        return boxes, False
    root, given = values[tree.top], enter(_box(*truth))
    lower, upper = np.maximum(root.lower, given.lower), np.minimum(root.upper, given.upper)
    boxes[tree.top] = ordered(lower, upper)
    empty = bool(lower > upper + 1e-9)
    for index in range(tree.top, -1, -1):
        node = tree.nodes[index]
        if not node.operands or index in tree.unknown:
            continue
        box = boxes[index]
        if node.form.kind not in ("not", "compare"):
            box = informative(box, _made(node, [values[operand] for operand in node.operands]))
        found = _left(node, box, [boxes[operand] for operand in node.operands])
        empty = empty or bool(found.empty)
        for operand, box in zip(node.operands, found.operands, strict=True):
            boxes[operand] = box
    return boxes, empty


def least_conjunct(tree: Tree, values: Sequence[Bounds], truth: float, head: int) -> float:
    """For an implication with a fully true antecedent: the least truth of the conjunct ``head`` of its consequent for
    which the implication can be as true as ``truth``; 1 if none suffices."""
    top = tree.nodes[tree.top]
    end = values[top.operands[0]].upper
    boxes: dict[int, Bounds] = {}
    order = _conjuncts(tree, top.operands[1])
    for index in reversed(order):
        node = tree.nodes[index]
        if node.form.kind == "and":
            boxes[index] = _made(node, [boxes[operand] for operand in node.operands])
        else:
            boxes[index] = _reach(tree, index) if _holds_atom(tree, index) else values[index]
    found = _left(top, _box(truth, 1.0), [Bounds(end, end), boxes[top.operands[1]]])
    empty = bool(found.empty)
    boxes[top.operands[1]] = found.operands[1]
    for index in order:
        node = tree.nodes[index]
        if node.form.kind == "and":
            below = _left(node, boxes[index], [boxes[operand] for operand in node.operands])
            empty = empty or bool(below.empty)
            boxes.update(zip(node.operands, below.operands, strict=True))
    return 1.0 if empty else boxes[head].lower.item()


def parts(tree: Tree, kept: int) -> Iterator[Set[int]]:
    """The parts that may be treated as unknown in an instance whose parts contradict each other, except the node
    ``kept`` and its ancestors: the atoms that it concludes, and each of its formulas."""
    top = tree.nodes[tree.top]
    around = {index for index in range(len(tree.nodes)) if kept in _below(tree, index)}
    if top.form.kind == "implies":
        yield {index for index in _below(tree, top.operands[1]) if tree.nodes[index].form.kind == "atom"} - around
    yield from ({index} for index, node in enumerate(tree.nodes) if node.operands and index not in around)


def heads(tree: Tree) -> list[int]:
    """The atoms of the consequent conjunction of an implication."""
    top = tree.nodes[tree.top]
    if top.form.kind != "implies":
        return []
    return [index for index in _conjuncts(tree, top.operands[1]) if tree.nodes[index].form.kind == "atom"]


def _conjuncts(tree: Tree, start: int) -> list[int]:
    order, stack = [], [start]
    while stack:
        index = stack.pop()
        order.append(index)
        if tree.nodes[index].form.kind == "and":
            stack.extend(tree.nodes[index].operands)
    return order


def _reach(tree: Tree, index: int) -> Bounds:
    """The bounds of a part of a consequent with its atoms, equalities and quantifiers unknown."""
    node = tree.nodes[index]
    if node.form.kind in ("true", "false"):
        return _made(node, ())
    if not node.operands or node.form.kind in ("compare", "forall", "exists"):
        return _box(0.0, 1.0)
    return _made(node, [_reach(tree, operand) for operand in node.operands])


def _holds_atom(tree: Tree, start: int) -> bool:
    return any(tree.nodes[index].form.kind == "atom" for index in _below(tree, start))


def _below(tree: Tree, start: int) -> set[int]:
    """A node and all nodes below it."""
    found: set[int] = set()
    stack = [start]
    while stack:
        index = stack.pop()
        found.add(index)
        stack.extend(tree.nodes[index].operands)
    return found


def _made(node: InstanceNode, operands: Sequence[Bounds]) -> Bounds:
    form = node.form
    match form.kind:
        case "true" | "false":
            return _box(float(form.kind == "true"), float(form.kind == "true"))
        case "same":
            return _same(form)
        case "compare" | "term":
            return _calculated(form, operands)
        case "not":
            return complement(operands[0])
        case "forall" | "exists":
            rows, group = _rows(node, operands)
            return (forall if form.kind == "forall" else exists)(rows, group, 1)
        case "xor":
            return complement(logic_named(form.name).up("iff", operands, form.weights, form.bias))
    return logic_named(form.name).up(form.kind, operands, form.weights, form.bias)


def _left(node: InstanceNode, box: Bounds, operands: Sequence[Bounds]) -> Inverse:
    form = node.form
    match form.kind:
        case "not":
            return Inverse((complement(box),), np.array(False))
        case "compare":
            assert isinstance(form.arithmetic, Comparison)
            inputs = [Interval(*operand) for operand in operands]
            found = form.arithmetic.narrow(inputs, form.arithmetic.truth(inputs), Interval(*box))
            return Inverse(tuple(Bounds(*each) for each in found.inputs), found.empty)
        case "forall" | "exists":
            rows, group = _rows(node, operands)
            found = (forall_inverse if form.kind == "forall" else exists_inverse)(box, rows, group, 1)
            hull = found.operands[0]
            boxes = [Bounds(hull.lower[place, None], hull.upper[place, None]) for place in range(len(operands))]
            return Inverse(tuple(boxes), found.empty)
        case "xor":
            return logic_named(form.name).down("iff", complement(box), operands, form.weights, form.bias)
    return logic_named(form.name).down(form.kind, box, operands, form.weights, form.bias)


def _rows(node: InstanceNode, operands: Sequence[Bounds]) -> tuple[Bounds, Array]:
    """The rows of a quantifier; an optional row may be missing."""
    lower = np.concatenate([o.lower for o in operands]) if operands else np.empty(0, dtype=np.float64)
    upper = np.concatenate([o.upper for o in operands]) if operands else np.empty(0, dtype=np.float64)
    may = np.array(node.optional, dtype=bool)
    if node.form.kind == "forall":
        upper = np.where(may, 1.0, upper)
    else:
        lower = np.where(may, 0.0, lower)
    return Bounds(lower, upper), np.zeros(len(operands), dtype=np.int64)


def _calculated(form: Form, operands: Sequence[Bounds]) -> Bounds:
    inputs = [Interval(*operand) for operand in operands]
    if isinstance(form.arithmetic, Comparison):
        return Bounds(*form.arithmetic.truth(inputs))
    assert form.arithmetic is not None
    return Bounds(*form.arithmetic.hull(inputs)[0])


def _same(form: Form) -> Bounds:
    one, other = form.terms
    if one == other:
        return _box(1.0, 1.0)
    named = any(isinstance(t, str) and not t.startswith(OTHER) for t in form.terms)
    first, second = (str(term).split(" ", 2) for term in form.terms)
    apart = len(first) == 3 and first[2:] == second[2:]  # others of one sort
    return _box(0.0, 0.0) if named or apart else _box(0.0, 1.0)


OTHER = "\0"  # prefix of the reserved names for all other entities; those of a sort end with it


def _box(lower: float, upper: float) -> Bounds:
    return Bounds(np.array([lower], dtype=np.float64), np.array([upper], dtype=np.float64))
