"""How the requests of quantifiers reach the rows of their blocks.

A row requests the bounds of its quantifier that were computed from above. If its quantifier has its own rows, these
receive them. If many rows share one group of quantifier rows, each of them requests separately, as if the group were
its own: a request is not combined with other requests, nor with the bounds from the operands. So the rows of the group
are visited once for each request.

If every neuron below is monotone and continuous, the two ends of a request act independently, and the tightest end
implies all others. Then the rows of a group are visited at most twice, with the greatest lower end and the least upper
end requested by a consistent row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lnnkit import arrays
from lnnkit.arrays import Array, as_numpy, matching, take, where_set
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.logic.bounds import Bounds, asks, tolerance
from lnnkit.logic.quantifier import exists_inverse, forall_inverse

_SEPARABLE = frozenset((LEAF, "true", "false", "same", "not", "and", "or", "forall", "exists"))


class Grouping(NamedTuple):
    """The mapping from the rows of a block to the rows of the enclosing block.

    ``group`` (n,) is the group of each row, ``groups`` the number of groups, ``of`` (m,) the group of each row of
    the enclosing block (None: these rows are the groups themselves). ``virtual`` (n,) marks rows for entities at
    default bounds, which take part only upward. A ``stranger`` (n,) among them is an unnamed individual that may
    not exist: it can keep a ``forall`` from being true and an ``exists`` from being false, and nothing else.
    """

    group: Array
    groups: int
    of: Array | None
    virtual: Array
    stranger: Array

    def optional(self, rows: Bounds, kind: str) -> Bounds:
        """The bounds of the rows that the quantifier ``kind`` may rely on, given that unnamed individuals may not
        exist."""
        return _optional(rows, self.stranger, kind)

    def around(self, groups: Bounds) -> Bounds:
        """The bounds of each row's group, one row for each row of the enclosing block."""
        return groups if self.of is None else _some(groups, self.of)


@dataclass(slots=True)
class Reached:
    """The rows of a block that receive a request. ``rows`` (n,) are their indices in the block (None: every row once,
    in order), ``parent`` (n,) the indices of the rows that send the requests, among the reached rows of the enclosing
    block; block 0 has none."""

    rows: Array | None
    parent: Array | None
    virtual: Array | None
    request: Array | None = None  # (n,) in a grouped block: the request that each row answers
    # (m,) the request of each reached row of the enclosing block; -1 where it requests nothing
    requests: Array | None = None
    count: int = 0  # the number of requests

    def rows_of(self, places: Array) -> Array:
        """The indices in the block of some reached rows."""
        return places if self.rows is None else self.rows.take(places)


def separable(formula: Formula, block: int) -> bool:
    """Whether a block is grouped or inside a grouped one, and everything below it propagates each end separately."""
    found = False
    for each in formula.path(block)[1:]:
        if formula.blocks[each].grouped and not found:
            inside = {b for b in range(len(formula.blocks)) if each in formula.path(b)}
            found = all(
                neuron.block not in inside
                or (neuron.kind in _SEPARABLE and not neuron.numeric)
                or (neuron.kind == "implies" and neuron.logic is not None and neuron.logic.name == "lukasiewicz")
                for neuron in formula.neurons
            )
    return found


def beyond(node: Bounds, image: Bounds) -> Array:
    """A mask of where a quantifier cannot have the bounds that it is given."""
    lower, upper = asks(node)
    tol = tolerance(node.lower.dtype)
    return (lower & (image.upper < node.lower - tol)) | (upper & (image.lower > node.upper + tol))


class Descent:
    """The state of one downward pass through the blocks of a formula. ``boxes`` are the narrowed bounds of its neurons,
    ``made`` the bounds computed upward; both are restricted to the reached rows when a block is entered."""

    def __init__(
        self, formula: Formula, groupings: Sequence[Grouping | None], boxes: list[Bounds], made: list[Bounds]
    ) -> None:
        self.boxes = boxes
        self.made = made
        self._formula = formula
        self._groupings = groupings
        self._inside = [[i for i, n in enumerate(formula.neurons) if n.block == b] for b in range(len(formula.blocks))]
        nothing = np.empty(0, dtype=np.int64)
        self.reached = [
            Reached(None, None, None)
            if grouping is None
            else Reached(None, grouping.group, grouping.virtual)
            if formula.apart(block)
            else Reached(nothing, nothing, nothing.astype(bool))
            for block, grouping in enumerate(groupings)
        ]
        self._missed: list[Array | None] = [None] * len(formula.blocks)
        self._heard: list[Array | None] | None = None

    def miss(self, block: int, flags: Array) -> None:
        """Record that some reached rows of a block have no values left."""
        if self._heard is None:  # A request that is split into its two ends can always be met.
            known, flags = self._missed[block], as_numpy(flags)
            self._missed[block] = flags if known is None else known | flags

    def enter(self, quantifier: int, node: Bounds) -> None:
        """Narrow the operand of a quantifier by the quantifier's bounds, for each reached row of its block."""
        neuron = self._formula.neurons[quantifier]
        grouping = self._groupings[neuron.inner]
        assert grouping is not None
        outer = self.reached[neuron.block]
        if not self._formula.blocks[neuron.inner].grouped or grouping.of is None:
            groups, group, rows = len(node.lower), grouping.group, None
            if outer.rows is not None:
                group, rows = _members(grouping, outer.rows)
            reached = Reached(rows, group, grouping.virtual if rows is None else grouping.virtual.take(rows))
        else:
            reached, node = self._requests(neuron.block, grouping, node, together=self._heard is not None)
            groups, group, rows = reached.count, reached.request, reached.rows
        self.reached[neuron.inner] = reached
        if self._heard is not None:
            self._heard[neuron.inner] = None  # Silent rows make no request.
        if rows is not None:
            for each in self._inside[neuron.inner]:
                self.made[each] = _some(self.made[each], rows)
                self.boxes[each] = self.made[each]
        stranger = grouping.stranger if rows is None else grouping.stranger.take(rows)
        operand = self.boxes[neuron.operands[0]]
        inverse = forall_inverse if neuron.kind == "forall" else exists_inverse
        assert group is not None and reached.virtual is not None
        found = inverse(node, _optional(operand, stranger, neuron.kind), group, groups)
        (box,) = found.operands
        virtual = matching(reached.virtual, operand.lower)
        self.boxes[neuron.operands[0]] = Bounds(
            arrays.where(virtual, operand.lower, box.lower),
            arrays.where(virtual, operand.upper, box.upper),
        )
        missed = as_numpy(found.empty)
        if reached.requests is not None:
            missed = _at(missed, reached.requests)
        self.miss(neuron.block, missed)

    def emptied(self) -> Array:
        """A mask of the rows of block 0 without values, their own or those of a row inside."""
        for block in range(len(self._missed) - 1, 0, -1):
            missed, own = self._missed[block], self.reached[block]
            if missed is None:
                continue
            assert own.virtual is not None
            missed = missed & ~own.virtual
            around = self._formula.blocks[block].parent
            if own.requests is not None and own.request is not None:
                hit = np.zeros(own.count, dtype=bool)
                hit[own.request[missed]] = True
                self.miss(around, _at(hit, own.requests))
            elif own.parent is not None:
                hit = np.zeros(self._length(around), dtype=bool)
                hit[own.parent[missed]] = True
                self.miss(around, hit)
        found = self._missed[0]
        return np.zeros(self._length(0), dtype=bool) if found is None else found

    def settle(self, silent: Array) -> None:
        """Finish the requests once the ``silent`` rows of block 0 are known: a request made by several rows is sent by
        the first one that is not silent."""
        self._heard = [~as_numpy(silent)]
        for block in range(1, len(self.reached)):
            self._heard.append(self._hearing(block))

    def _hearing(self, block: int) -> Array | None:
        """A mask of the reached rows that receive anything."""
        assert self._heard is not None
        own, around = self.reached[block], self._heard[self._formula.blocks[block].parent]
        if around is None or own.parent is None:
            return None
        if own.requests is not None and own.request is not None:
            asking = where_set(around & (own.requests >= 0))
            first = _firsts(own.count, own.requests.take(asking), asking, len(around))
            heard = (first < len(around)).take(own.request)
            # A request that only silent rows make is not sent.
            own.parent = np.where(heard, first.take(own.request), own.parent)
            return heard
        return around.take(own.parent)

    def _length(self, block: int) -> int:
        return len(self.boxes[self._inside[block][0]].lower)

    def _requests(self, around: int, grouping: Grouping, node: Bounds, *, together: bool) -> tuple[Reached, Bounds]:
        """The rows of the groups that receive a request, once for each request, and the requests."""
        assert grouping.of is not None
        outer = self.reached[around]
        group = grouping.of if outer.rows is None else grouping.of.take(outer.rows)
        sides = as_numpy(asks(node)[0]), as_numpy(asks(node)[1])
        asking = sides[0] | sides[1]
        if outer.virtual is not None:
            asking &= ~outer.virtual
        if together:
            return self._strongest(around, grouping, group, node, sides, asking)
        places = where_set(asking)
        some = _some(node, places)
        keys = np.stack([group.take(places), as_numpy(some.lower), as_numpy(some.upper)], 1, dtype=np.float64)
        found, number = np.unique(keys, axis=0, return_inverse=True)
        requests = np.full((len(group),), -1)
        requests[places] = number
        request, rows = _members(grouping, found[:, 0].astype(np.int64))
        first = _firsts(len(found), number, places, len(group))
        reached = Reached(
            rows,
            first.take(request),
            grouping.virtual.take(rows),
            request,
            requests,
            len(found),
        )
        return reached, Bounds(*(matching(found[:, end].copy(), some.lower) for end in (1, 2)))

    def _strongest(
        self,
        around: int,
        grouping: Grouping,
        group: Array,
        node: Bounds,
        sides: tuple[Array, Array],
        asking: Array,
    ) -> tuple[Reached, Bounds]:
        """For each group the greatest lower and the least upper end requested of it, each as a separate request."""
        assert self._heard is not None
        heard = self._heard[around]
        groups: list[Array] = []
        tellers: list[Array] = []
        lowers: list[Array] = []
        uppers: list[Array] = []
        for side in (0, 1):
            here = sides[side] & asking if heard is None else sides[side] & asking & heard
            places = where_set(here)
            own, value = group.take(places), as_numpy(node[side]).take(places)
            best = np.full((grouping.groups,), float(side), dtype=value.dtype)
            (np.minimum if side else np.maximum).at(best, own, value)
            won = where_set(value == best.take(own))
            first = _firsts(grouping.groups, own.take(won), places.take(won), len(group))
            asked = where_set(first < len(group))
            groups.append(asked)
            tellers.append(first.take(asked))
            ends = best.take(asked)
            lowers.append(np.zeros_like(ends) if side else ends)
            uppers.append(ends if side else np.ones_like(ends))
        request, rows = _members(grouping, np.concatenate(groups))
        parent = np.concatenate(tellers).take(request)
        reached = Reached(rows, parent, grouping.virtual.take(rows), request, None, len(groups[0]) + len(groups[1]))
        return reached, Bounds(*(matching(np.concatenate(ends), node.lower) for ends in (lowers, uppers)))


def path(formula: Formula, reached: Sequence[Reached], block: int, places: Array) -> list[Array]:
    """For some reached rows of a block: their indices in each block on the way, from block 0 on."""
    found: list[Array] = []
    for each in reversed(formula.path(block)):
        own = reached[each]
        found.append(own.rows_of(places))
        if own.parent is not None:
            places = own.parent.take(places)
    return found[::-1]


def _members(grouping: Grouping, groups: Array) -> tuple[Array, Array]:
    """The rows of some groups, which may be listed more than once: pairs of an index into ``groups`` and a row."""
    counts = np.bincount(grouping.group, minlength=grouping.groups)
    order = np.argsort(grouping.group, stable=True)
    lengths = counts.take(groups)
    owner = np.arange(len(groups)).repeat(lengths)
    first = (counts.cumsum(0) - counts).take(groups) - (lengths.cumsum(0) - lengths)
    return owner, order.take(first.take(owner) + np.arange(len(owner)))


def _firsts(count: int, owners: Array, places: Array, without: int) -> Array:
    """(count,) the least place of each owner; ``without`` where it has none."""
    first = np.full(count, without)
    np.minimum.at(first, owners, places)
    return first


def _some(bounds: Bounds, rows: Array) -> Bounds:
    return Bounds(take(bounds.lower, rows), take(bounds.upper, rows))


def _at(flags: Array, places: Array) -> Array:
    """The flags at these indices; False at index -1."""
    if not len(flags):
        return np.zeros(len(places), dtype=bool)
    return flags.take(places.clip(0)) & (places >= 0)


def _optional(rows: Bounds, stranger: Array, kind: str) -> Bounds:
    if kind == "forall":
        return Bounds(rows.lower, arrays.where(matching(stranger, rows.upper), 1.0, rows.upper))
    return Bounds(arrays.where(matching(stranger, rows.lower), 0.0, rows.lower), rows.upper)
