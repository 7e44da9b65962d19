"""Encodes bounds that take few values: each atom row has the number of its pair of bounds, its *class*. Atoms with the
same class read alike. Numeric attributes take many values and have no class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lnnkit.engine.bounds_state import State, one_value
from lnnkit.store.atoms import FALSE, TRUE, UNKNOWN, Atoms, AtomTable
from lnnkit.store.columns.row_arrays import Array, Growing, wide

OTHER = 0  # the class of all rows that have none
_CLASSES = 64  # a table with more distinct bounds has none
_SAMPLE = 256

Pair = tuple[float, float]


class EncodedBounds:
    """``codes`` numbers the pair of bounds that each atom row reads as (there may be more of them than rows); ``pairs``
    has them by number."""

    def __init__(self, state: State, atoms: Atoms) -> None:
        few = (1 + _CLASSES) * len(atoms.numbered) < 2**15 - 4
        self.codes = Growing(np.int16 if few else np.int32)  # looked up here and there: the fewer bytes the better
        self.pairs: list[Pair] = [(0.0, 1.0)]  # OTHER's pair is never read
        self._state = state
        self._atoms = atoms
        self._numbers: dict[Pair, int] = {}
        self._known: dict[int, list[int]] = {}  # by table: its classes, the default's first
        self._soft: set[int] = set()
        self._loose: set[int] = set()
        self._bare: set[int] = set()  # tables all of whose atoms have been OTHER so far
        self._told: dict[tuple[int, Pair], int] = {}  # by table and pair, the classes of new rows
        self._length = 0
        self._classified = False  # all atoms are OTHER, which takes no memory
        self.renew(atoms.numbered)
        self._classified = True

    def renew(self, tables: Iterable[AtomTable]) -> None:
        """Classify all rows of some tables."""
        self.extend()
        for table in tables:
            if not self._alike(table):
                self._classify(table.number, table.rows)

    def extend(self) -> None:
        """Classify the rows that the grounding has added: those that have no class yet are at their defaults."""
        codes = self.codes
        if self._length == self._atoms.length:
            return
        for start, stop, owner, stands in self._atoms.added(self._length):
            if start == UNKNOWN:
                codes.reach(stop)
                for row, pair in ((FALSE, (0.0, 0.0)), (TRUE, (1.0, 1.0)), (UNKNOWN, (0.0, 1.0))):
                    codes.values[row] = self._number(pair)
            elif owner >= 0 and not self._atoms.numbered[owner].numeric and (self._classified or stands):
                known = self._known.get(owner) or self._classes(owner)
                codes.fill(start, stop, known[0])
                if not stands:
                    self._bare.discard(owner)
        self._length = self._atoms.length
        codes.reach(self._length)

    def refresh(self, rows: Array) -> None:
        """Classify rows whose bounds have changed."""
        for table, mine in self._atoms.by_table(rows):
            self._classify(table.number, rows if mine is None else rows.take(mine))

    def sole(self, table: int) -> int | None:
        """The class of every row that deviates from the default, if they all have the same one."""
        known = self._known.get(table)
        if known is None or len(known) != 2 or table in self._soft or table in self._loose:
            return None
        return known[1]

    def known(self, table: int) -> Sequence[int]:
        """The classes that atoms of a table have had, the default's first; those of others are OTHER."""
        return self._known.get(table) or self._classes(table)

    def settled(self, table: int) -> bool:
        """Whether every row in a list of deviating rows has a class other than the default's."""
        return table not in self._soft and table not in self._loose

    def common(self, rows: Array) -> int | None:
        """The class of all rows; None where they have several, or there is none."""
        if not len(rows):
            return None
        codes = self.codes.values.take(rows)
        first = int(codes[0])
        return first if first != OTHER and (codes == first).all() else None

    def default(self, table: int) -> int:
        """The class of an atom at its default."""
        return self._classes(table)[0]

    def update(self, table: int, rows: Array, lower: Array, upper: Array) -> None:
        """Classify rows of one table that now have these bounds."""
        if self._atoms.numbered[table].numeric or table in self._bare:
            return
        codes, known = self.codes.values, self._classes(table)
        if len(rows) > _CLASSES and table not in self._soft:
            low, high = one_value(lower), one_value(upper)
            if low is not None and high is not None:
                self._uniform(table, rows, (low, high))
                return
            step = max(1, len(rows) // _SAMPLE)
            if max(len(set(end[::step].tolist())) for end in (lower, upper)) > _CLASSES:
                self._soft.add(table)
        while table not in self._soft:
            for number in reversed(known):
                low, high = self.pairs[number]
                alike = (lower == low) & (upper == high)
                count = int(np.count_nonzero(alike))
                if not count:
                    continue
                if number == known[0]:
                    self._loose.add(table)
                if count == len(rows):
                    codes[wide(rows)] = number
                    return
                codes[wide(rows[alike])] = number
                rest = np.flatnonzero(~alike)
                rows, lower, upper = (each.take(rest) for each in (rows, lower, upper))
            self._enter(table, (float(lower[0]), float(upper[0])))
        codes[wide(rows)] = OTHER

    def tell_new(self, table: int, start: int, stop: int, pair: Pair) -> int | None:
        """Classify consecutive new rows of one table that all have one pair of bounds; returns their class, if they
        have one."""
        number = OTHER if table in self._soft else self._told.get((table, pair))
        if number is None:
            number = OTHER if self._atoms.numbered[table].numeric else self._enter(table, pair)
            self._told[table, pair] = number
        self.codes.set(start, stop, number)
        return None if number == OTHER else number

    def _alike(self, table: AtomTable) -> bool:
        """Classify all rows of a table, if they are consecutive and all differ from the default in one way, or in too
        many."""
        run = table.run
        if not run or table.numeric:
            return table.numeric
        lower, upper = self._state.read_run(run.start, run.stop)
        if self._varied(table, lower, upper):
            if self._classified:
                self.codes.set(run.start, run.stop, OTHER)
            else:
                self._bare.add(table.number)
            self._soft.add(table.number)
            return True
        low, high = one_value(lower), one_value(upper)
        if low is None or high is None or (low, high) == table.default:
            return False
        self.tell_new(table.number, run.start, run.stop, (low, high))
        return True

    def _varied(self, table: AtomTable, lower: Array, upper: Array) -> bool:
        """Whether a sample of rows differs from the default in too many ways."""
        step = max(1, lower.size // _SAMPLE)
        low, high = lower[::step], upper[::step]
        if not ((low != table.default[0]) | (high != table.default[1])).all():
            return False
        return max(len(set(end.tolist())) for end in (low, high)) > _CLASSES

    def _uniform(self, table: int, rows: Array, pair: Pair) -> None:
        """All of these rows have one pair of bounds."""
        number = self._enter(table, pair)
        if number == self._classes(table)[0]:
            self._loose.add(table)
        self.codes.values[wide(rows)] = number

    def _enter(self, table: int, pair: Pair) -> int:
        """The class of a pair in a table; OTHER if it has too many."""
        number, known = self._number(pair), self._classes(table)
        if number in known:
            return number
        if len(known) == _CLASSES:
            self._soft.add(table)
            return OTHER
        known.append(number)
        return number

    def _classify(self, table: int, rows: Array) -> None:
        own = self._atoms.numbered[table]
        if own.numeric or not len(rows):
            return
        self._bare.discard(table)
        lower, upper = self._state.read(rows)
        differ = (lower != own.default[0]) | (upper != own.default[1])
        if differ.all():
            self.update(table, rows, lower, upper)
            return
        plain = rows[~differ]
        self.codes.values[wide(plain)] = self._classes(table)[0]
        if self._atoms.flags("either").take(plain).any():
            self._loose.add(table)
        if differ.any():
            self.update(table, *(each[differ] for each in (rows, lower, upper)))

    def _classes(self, table: int) -> list[int]:
        if table not in self._known:
            self._known[table] = [self._number(self._atoms.numbered[table].default)]
        return self._known[table]

    def _number(self, pair: Pair) -> int:
        if pair not in self._numbers:
            self._numbers[pair] = len(self.pairs)
            self.pairs.append(pair)
        return self._numbers[pair]
