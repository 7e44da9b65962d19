"""Encodes bounds that take few values: each row has the number of its pair of bounds, its *class*. Rows with the same
class read alike. Numeric attributes take many values and have no class."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lnnkit.store.relations import RESERVED, Relation, Relations
from lnnkit.store.row_arrays import Array, Growing, one_value

OTHER = 0  # the class of all rows that have none
_CLASSES = 64  # a table with more distinct bounds has none
_SAMPLE = 256

Pair = tuple[float, float]


class EncodedBounds:
    """``pairs`` has the pairs of bounds by number."""

    def __init__(self, atoms: Relations) -> None:
        few = (1 + _CLASSES) * len(atoms.numbered) < 2**15 - 4
        self._dtype = np.int16 if few else np.int32  # looked up here and there: the fewer bytes the better
        self.pairs: list[Pair] = [(0.0, 1.0)]  # OTHER's pair is never read
        self._codes: dict[int, Growing] = {}
        self._numbers: dict[Pair, int] = {}  # the place of each in ``pairs``
        self._known: dict[int, list[int]] = {}  # by table: its classes, the default's first
        self._varied: set[int] = set()
        self._unsettled: set[int] = set()
        self._new: dict[tuple[int, Pair], int] = {}  # by table and pair, the classes of new rows
        self.renew(atoms.numbered)

    def codes(self, table: Relation) -> Growing:
        """The class of each row. Rows that have no class yet are at their defaults."""
        codes = self._codes.get(table.number)
        if codes is None:
            pairs = (end.tolist() for end in table.read(np.arange(-RESERVED, 0)))
            reserved = [OTHER if table.numeric else self._number(pair) for pair in zip(*pairs, strict=True)]
            codes = self._codes[table.number] = Growing(self._dtype, reserved)
        if len(codes) < len(table):
            codes.fill(len(codes), len(table), OTHER if table.numeric else self.known(table)[0])
        return codes

    def renew(self, tables: Iterable[Relation]) -> None:
        """Classify all rows of some tables."""
        for table in tables:
            if len(table) and not self._alike(table):
                self.refresh(table, np.arange(len(table), dtype=np.int32))

    def sole(self, table: Relation) -> int | None:
        """The class of every row that deviates from the default, if they all have the same one."""
        known = self._known.get(table.number)
        if known is None or len(known) != 2 or not self.settled(table):
            return None
        return known[1]

    def known(self, table: Relation) -> list[int]:
        """The classes that atoms of a table have had, the default's first; those of others are OTHER."""
        known = self._known.get(table.number)
        if known is None:
            known = self._known[table.number] = [self._number(table.default)]
        return known

    def settled(self, table: Relation) -> bool:
        """Whether every row in a list of deviating rows has a class other than the default's."""
        return table.number not in self._varied and table.number not in self._unsettled

    def varied(self, table: Relation) -> bool:
        """Whether atoms of a table have more distinct bounds than there are classes for."""
        return table.number in self._varied

    def common(self, table: Relation, rows: Array) -> int | None:
        """The class of all rows; None where they have several, or there is none."""
        if not len(rows):
            return None
        codes = self.codes(table).take(rows)
        first = int(codes[0])
        return first if first != OTHER and (codes == first).all() else None

    def update(self, table: Relation, rows: Array, lower: Array, upper: Array) -> None:
        """Classify rows of one table that now have these bounds."""
        if table.numeric:
            return
        codes, known, varied = self.codes(table), self.known(table), self._varied
        if len(rows) > _CLASSES and table.number not in varied:
            low, high = one_value(lower), one_value(upper)
            if low is not None and high is not None:
                self._uniform(table, rows, (low, high))
                return
            if _varied(lower) or _varied(upper):
                varied.add(table.number)
        while table.number not in varied:
            for number in reversed(known):
                low, high = self.pairs[number]
                alike = (lower == low) & (upper == high)
                count = int(np.count_nonzero(alike))
                if not count:
                    continue
                if number == known[0]:
                    self._unsettled.add(table.number)
                if count == len(rows):
                    codes.put(rows, number)
                    return
                codes.put(rows[alike], number)
                rest = np.flatnonzero(~alike)
                rows, lower, upper = (column.take(rest) for column in (rows, lower, upper))
            self._enter(table, (float(lower[0]), float(upper[0])))
        codes.put(rows, OTHER)

    def classify_new(self, table: Relation, rows: range, pair: Pair) -> int | None:
        """Classify new rows of one table that all have one pair of bounds; returns their class, if they have one."""
        number = OTHER if table.number in self._varied else self._new.get((table.number, pair))
        if number is None:
            number = OTHER if table.numeric else self._enter(table, pair)
            self._new[table.number, pair] = number
        self.codes(table).set(rows.start, rows.stop, number)
        return None if number == OTHER else number

    def refresh(self, table: Relation, rows: Array) -> None:
        """Classify rows whose bounds have changed."""
        if table.numeric or not len(rows):
            return
        lower, upper = table.read(rows)
        differ = (lower != table.default[0]) | (upper != table.default[1])
        if differ.all():
            self.update(table, rows, lower, upper)
            return
        plain = rows[~differ]
        self.codes(table).put(plain, self.known(table)[0])
        if table.flags("either").take(plain).any():
            self._unsettled.add(table.number)
        if differ.any():
            self.update(table, *(column[differ] for column in (rows, lower, upper)))

    def _alike(self, table: Relation) -> bool:
        """Classify all rows of a table, if all differ from the default in one way, or in too many."""
        if table.numeric:
            return True
        lower, upper = table.bounds
        step = max(1, len(lower) // _SAMPLE)
        differ = (lower[::step] != table.default[0]) | (upper[::step] != table.default[1])
        if differ.all() and (_varied(lower) or _varied(upper)):
            self.codes(table).set(0, len(table), OTHER)
            self._varied.add(table.number)
            return True
        low, high = one_value(lower), one_value(upper)
        if low is None or high is None or (low, high) == table.default:
            return False
        self.classify_new(table, range(len(table)), (low, high))
        return True

    def _uniform(self, table: Relation, rows: Array, pair: Pair) -> None:
        """All of these rows have one pair of bounds."""
        number = self._enter(table, pair)
        if number == self.known(table)[0]:
            self._unsettled.add(table.number)
        self.codes(table).put(rows, number)

    def _enter(self, table: Relation, pair: Pair) -> int:
        """The class of a pair in a table; OTHER if it has too many."""
        number, known = self._number(pair), self.known(table)
        if number in known:
            return number
        if len(known) == _CLASSES:
            self._varied.add(table.number)
            return OTHER
        known.append(number)
        return number

    def _number(self, pair: Pair) -> int:
        if pair not in self._numbers:
            self._numbers[pair] = len(self.pairs)
            self.pairs.append(pair)
        return self._numbers[pair]


def _varied(ends: Array) -> bool:
    """Whether a sample of ends has too many values, or so many of them once that others have to be expected."""
    step = max(1, len(ends) // _SAMPLE)
    _, counts = np.unique(ends[::step], return_counts=True)
    return len(counts) > _CLASSES or (step > 1 and int((counts == 1).sum()) > _SAMPLE // 16)
