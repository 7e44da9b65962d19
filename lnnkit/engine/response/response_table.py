"""A response table for a shape: its responses by combination of the classes of its leaves. Every combination is
evaluated once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.engine.encoded_bounds import OTHER, EncodedBounds
from lnnkit.engine.response.respond import Read, Response, Target, constant
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.row_arrays import Array

_SIZE = 2**13  # greatest number of combinations
_ABSENT = 2**24  # the code of a class that a leaf has not had yet;
_LEAVES = 2**6  # this many of them add up without overflow


class Column(NamedTuple):
    """The classes of a leaf's rows, or the one common to all of them. ``via`` has the place of each instance's row
    among the rows, where these are fewer; ``classes`` are all that the rows may have but `OTHER`."""

    codes: Array | None
    sole: int | None = None
    via: Array | None = None
    classes: Sequence[int] = ()


def one_class(number: int) -> Column:
    """A leaf all of whose atoms have one class."""
    return Column(None, number, classes=(number,))


class ResponseTable:
    """The combinations of one shape. ``leaves`` are the columns that it depends on."""

    def __init__(
        self,
        shape: RuleShape,
        leaves: Sequence[int],
        evaluate: Callable[[RuleShape, Read, Sequence[Grouping | None]], Response],
        dtype: np.dtype,
    ) -> None:
        self.leaves = tuple(leaves)
        self.useful = len(leaves) < _LEAVES and not shape.formula.numeric
        self._shape = shape
        self._evaluate = evaluate
        self._dtype = dtype
        self._seen: list[list[int]] = [[] for _ in leaves]  # a leaf's classes, by place
        self._places: list[Array] = [np.empty(0, np.int32) for _ in leaves]  # a class's place, by stride
        self._strides: list[int] = []
        self._clear()

    def evaluate(self, read: Read) -> Response:
        """Evaluate instances with any bounds."""
        return self._evaluate(self._shape, read, (None,))

    def codes(self, columns: Mapping[int, Column], encoded: EncodedBounds, length: int) -> Array | None:
        """(length,) the combination that each instance has; None where there are too many, or rows without a class."""
        while self.useful:
            code: Array | None = None
            base = 0
            unseen = False
            for position, leaf in enumerate(self.leaves):
                column = columns[leaf]
                places = self._places[position]
                if column.sole is not None:
                    place = int(places[column.sole]) if column.sole < len(places) else _ABSENT
                    unseen |= place >= _ABSENT
                    base += place
                    continue
                assert column.codes is not None
                if len(places) < len(encoded.pairs):
                    unseen = True
                    break
                part = places.take(column.codes)
                part = part if column.via is None else part.take(column.via)
                code = part if code is None else np.add(code, part, out=code)
            if not unseen:
                if code is None:
                    return np.full(length, base, np.int32)
                if base:
                    code += base
                if not length or int(code.max()) < _ABSENT:
                    return code
            if not self._admit(columns, encoded):
                return None
        return None

    def proposed(self, classes: tuple[int, ...], encoded: EncodedBounds) -> Mapping[Target, float]:
        """The response of an instance whose leaves have these classes: the bounds that it tightens. Empty if it is
        unsatisfiable, or there would be too many combinations."""
        if classes not in self._proposed_by:
            code = self._code(classes, encoded)
            if code is None:
                return {}
            self.speaking(code, encoded)  # evaluates it, if it is new
            self._proposed_by[classes] = {
                target: float(value[code[0]]) for target, (news, value) in self._proposed.items() if news[code[0]]
            }
        return self._proposed_by[classes]

    def silent(self, classes: tuple[int, ...], encoded: EncodedBounds) -> bool:
        """Whether an instance whose leaves have these classes proposes nothing and is satisfiable."""
        if classes not in self._quiet:
            code = self._code(classes, encoded)
            if code is None:
                return False
            self._quiet[classes] = not len(self.speaking(code, encoded))
        return self._quiet[classes]

    def _code(self, classes: tuple[int, ...], encoded: EncodedBounds) -> Array | None:
        """(1,) the combination of these classes."""
        return self.codes({leaf: one_class(sole) for leaf, sole in zip(self.leaves, classes, strict=True)}, encoded, 1)

    def speaking(self, code: Array, encoded: EncodedBounds) -> Array:
        """The positions of instances that propose something or are unsatisfiable; new combinations are evaluated
        first."""
        known = self._known.take(code)
        if not known.all():
            self._look(np.flatnonzero(np.bincount(code[~known])), encoded)
        return np.flatnonzero(self._speaks.take(code))

    def bad(self, code: Array) -> Array:
        """Flags of unsatisfiable combinations."""
        return self._bad.take(code)

    def root(self, code: Array) -> Bounds:
        """The bounds of the root, by combination."""
        return Bounds(self._root.lower.take(code), self._root.upper.take(code))

    @property
    def any_bad(self) -> bool:
        return self._any_bad

    @property
    def targets(self) -> Mapping[Target, tuple[Array, Array]]:
        """For each target, by combination: whether it is tightened, and the bound."""
        return self._proposed

    def _admit(self, columns: Mapping[int, Column], encoded: EncodedBounds) -> bool:
        """Make room for the classes that the leaves may have, or do have where those are too many. Returns False, and
        changes nothing, if a row has no class or there would be too many combinations."""
        ready = all(len(places) >= len(encoded.pairs) for places in self._places)
        grown = self._grown([columns[leaf].classes for leaf in self.leaves])
        if grown == self._seen and ready:
            return False
        if math.prod(_room(len(seen)) for seen in grown) > _SIZE:
            present = [_present(columns[leaf], encoded) for leaf in self.leaves]
            if any(OTHER in classes for classes in present):
                return False
            grown = self._grown(present)
        if math.prod(_room(len(seen)) for seen in grown) > _SIZE:
            self.useful = False
            return False
        self._seen = grown
        self._clear()
        stride = 1
        for position, seen in enumerate(self._seen):
            places = np.full(max(len(encoded.pairs), 16) * 2, _ABSENT, np.int32)
            places[seen] = np.arange(len(seen), dtype=np.int32) * stride
            self._places[position] = places
            self._strides.append(stride)
            stride *= _room(len(seen))
        return True

    def _grown(self, more: Sequence[Sequence[int]]) -> list[list[int]]:
        """The classes seen so far, with more of them."""
        return [
            [*seen, *(number for number in classes if number not in seen)]
            for seen, classes in zip(self._seen, more, strict=True)
        ]

    def _clear(self) -> None:
        """Make room for the combinations of the classes seen; `_admit` then sets the strides."""
        size = math.prod(_room(len(seen)) for seen in self._seen)
        self._strides = []
        self._proposed_by: dict[tuple[int, ...], Mapping[Target, float]] = {}
        self._quiet: dict[tuple[int, ...], bool] = {}
        self._known, self._speaks, self._bad = (np.zeros(size, bool) for _ in range(3))
        self._any_bad = False
        self._root = Bounds(np.zeros(size, self._dtype), np.zeros(size, self._dtype))
        self._proposed: dict[Target, tuple[Array, Array]] = {}

    def _look(self, codes: Array, encoded: EncodedBounds) -> None:
        """Evaluate combinations that are new."""
        bounds: dict[int, Bounds] = {}
        for position, leaf in enumerate(self.leaves):
            place = (codes // self._strides[position]) % _room(len(self._seen[position]))
            pairs = np.array([encoded.pairs[number] for number in self._seen[position]], self._dtype)
            bounds[leaf] = Bounds(pairs[:, 0].take(place), pairs[:, 1].take(place))
        size = len(self._known)

        def read(index: int) -> Bounds:
            return bounds[index] if index in bounds else constant(self._shape.formula, index, len(codes), self._dtype)

        response = self.evaluate(read)
        bad = response.bad
        speaks = bad.copy()
        for target, (news, value) in response.proposed.items():
            if target not in self._proposed:
                self._proposed[target] = np.zeros(size, bool), np.zeros(size, self._dtype)
            self._proposed[target][0][codes] = news & ~bad
            self._proposed[target][1][codes] = value
            speaks |= news
        self._any_bad |= bool(bad.any())
        self._known[codes], self._speaks[codes], self._bad[codes] = True, speaks, bad
        self._root.lower[codes] = response.root.lower
        self._root.upper[codes] = response.root.upper


def _present(column: Column, encoded: EncodedBounds) -> Sequence[int]:
    """The classes that the rows have."""
    if column.codes is None:
        return column.classes
    flags = np.zeros(len(encoded.pairs), bool)
    flags[column.codes] = True
    return np.flatnonzero(flags).tolist()


def _room(count: int) -> int:
    """The capacity for this many classes: a power of two, so that a table is seldom rebuilt."""
    return 1 << max(count - 1, 0).bit_length()
