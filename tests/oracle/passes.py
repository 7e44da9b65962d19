"""Up and down through one ground instance, and the meet of bounds."""

from __future__ import annotations

from collections.abc import Callable

from .comparison import contract, truth, values
from .network import Ground
from .neurons import TOL, Empty, beyond, complement, downward, enter, quantify, quantify_down, upward
from .program import QUANTIFIERS, Box, Formula
from .reals import Reals, between, hull, intersect


def go_up(node: Ground, read: Callable[[Ground], Box]) -> Box:
    """The upward pass; every node keeps its box for the way down."""
    if node.kind == "leaf":
        node.box = enter(read(node))
    elif node.kind == "not":
        node.box = complement(go_up(node.operands[0], read))
    elif node.kind in QUANTIFIERS:
        rows = [go_up(row, read) for row in node.operands]
        node.box = quantify(node.kind, rows, [go_up(row, read) for row in node.unnamed])
    elif node.kind == "compare":
        assert node.term is not None
        _, operator, left, right, scale, weight = node.term
        sets = {part.place: between(*read(part)) for part in node.operands}
        node.read = lambda number: sets[number[1], number[2]]
        zero = between(0.0, 0.0)
        sides = [zero if node.alike else values(side, node.read, node.closed) for side in (left, right)]
        node.box = truth(operator, scale, weight, sides[0], sides[1])
    elif node.kind != "fixed":
        boxes = [go_up(part, read) for part in node.operands]
        node.box = upward(node.kind, node.logic, node.weights, node.bias, boxes)
    return node.box


def go_down(node: Ground, box: Box, send: Callable[[Ground, Box], None]) -> None:
    """The downward pass: ``send`` gets each leaf's and each neuron's hull. Raises :class:`Empty`."""
    send(node, box)
    if node.kind == "compare":
        for part, left in zip(node.operands, _contracted(node, box), strict=True):
            send(part, left)
        return
    boxes = [part.box for part in node.operands]
    if node.kind in ("leaf", "fixed"):
        return
    if node.kind != "not":
        box = beyond(box, node.box)
    if node.kind == "not":
        parts = [complement(box)]
    elif node.kind in QUANTIFIERS:
        parts = quantify_down(node.kind, box, boxes, [row.box for row in node.unnamed])
    else:
        parts = downward(node.kind, node.logic, node.weights, node.bias, box, boxes)
    for part, wanted in zip(node.operands, parts, strict=True):
        go_down(part, wanted, send)


def _contracted(node: Ground, box: Box) -> list[Box]:
    """What is left of each number of a comparison that has just gone up: the hull of what its occurrences have in
    common. Raises :class:`Empty`."""
    assert node.term is not None
    _, operator, left, right, scale, weight = node.term
    kept = {part.place: node.read(("number", *part.place)) for part in node.operands if part.place}

    def send(number: Formula, found: Reals) -> None:
        place = number[1], number[2]
        kept[place] = intersect(kept[place], found)

    contract(operator, scale, weight, left, right, box, node.read, send, node.closed)
    if not all(kept.values()):
        raise Empty
    return [hull(kept[part.place]) for part in node.operands if part.place]


def meet(first: Box, second: Box) -> Box:
    return max(first[0], second[0]), min(first[1], second[1])


def crosses(box: Box) -> bool:
    return box[0] > box[1] + TOL


def uncrossed(box: Box) -> Box:
    """Rounding taken out of bounds that do not cross beyond the tolerance."""
    return box if box[0] <= box[1] else (box[1], box[0])
