"""Warns of two columns of one sort that share no name, though nearly all would be shared but for leading zeros, outer
blanks or the case of letters: ``007`` in one table, ``7`` in the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from lnnkit.check.program import ENTITY
from lnnkit.check.sorts import grouped
from lnnkit.check.symbols import Symbols
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_predicate

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

_MOST = 200_000  # names of a column that are compared: 0.1 CPU seconds
_SAMPLE = 1_000  # names of one column that are looked for in the other
_NEARLY = 0.9
_SPELLINGS: tuple[tuple[str, Callable[[str], str], str], ...] = (
    ("leading zeros", lambda text: text.lstrip("0"), ", in pandas by `column.astype(str).str.lstrip('0')`"),
    ("outer blanks", str.strip, ": end both statements with `trim`"),
    ("the case of letters", str.casefold, ", in pandas by `column.str.lower()`"),
    ("zeros, blanks and the case of letters", lambda text: text.strip().casefold().lstrip("0"), ""),
)


def unjoined(symbols: Symbols) -> list[Diagnostic]:
    found: dict[tuple[str, str], Diagnostic] = {}
    used: dict[int, _Used] = {}
    for pair in _pairs(symbols):
        sources = pair[0][0].source, pair[1][0].source
        if sources in found:
            continue
        for table, place in pair:
            if id(table.columns[place]) not in used:
                used[id(table.columns[place])] = _Used(table, place)
        one, other = (used[id(table.columns[place])] for table, place in pair)
        if not one.shares(other) and (warned := _warning(one, other)):
            found[sources] = warned
    return list(found.values())


def _pairs(symbols: Symbols) -> Iterator[tuple[tuple[FactTable, int], tuple[FactTable, int]]]:
    """Columns of tables with one declared sort, or with a variable of one statement in both."""
    tables: dict[str, list[FactTable]] = {}
    for table in (*symbols.tables, *symbols.told):
        tables.setdefault(table.predicate, []).append(table)
    groups: dict[object, dict[tuple[str, int], None]] = {}
    for name in tables:
        for place, sort in enumerate(symbols.resolved[name].sorts):
            if sort != ENTITY:
                groups.setdefault(sort, {})[name, place] = None
    for number, formula in enumerate(symbols.formulas):
        for variable, mentions in grouped(formula.mentions).items():
            for each in mentions:
                if each.atom is not None and each.atom.name in tables:
                    groups.setdefault((number, variable), {})[each.atom.name, each.position] = None
    for group in groups.values():
        columns = [(table, place) for name, place in group for table in tables[name] if place < len(table.columns)]
        yield from combinations(columns, 2)


class _Used:
    """The names that occur in one column of a table."""

    def __init__(self, table: FactTable, place: int) -> None:
        import numpy as np

        self.table, self.column = table, table.columns[place]
        self.mask = np.zeros(len(self.column.names), bool)
        self.mask[self.column.codes] = True
        self.some = self.names(_SAMPLE)

    def names(self, most: int) -> list[str]:
        """Up to about so many of its names."""
        import numpy as np

        ids = np.flatnonzero(self.mask)
        return self.column.names.at(ids[:: max(1, len(ids) // most)], most)

    def shares(self, other: _Used) -> bool:
        """Whether some names are found in another column too; so is an empty column."""
        if not len(self.column) or not len(other.column):
            return True
        names = other.column.names
        places = (names.find(name) for name in self.some)
        return any(place is not None and other.mask[place] for place in places)


def _warning(one: _Used, other: _Used) -> Diagnostic | None:
    if max(int(one.mask.sum()), int(other.mask.sum())) > _MOST:
        return None
    several = sorted((one.names(_MOST), other.names(_MOST)), key=len)

    def spelled(alike: Callable[[str], str]) -> list[tuple[str, str]]:
        """The names that are the same when spelled alike, if they are nearly all."""
        others = {alike(name): name for name in several[1]}
        both = [(name, others[alike(name)]) for name in several[0] if alike(name) in others]
        return both if len(both) >= _NEARLY * len(several[0]) else []

    for what, alike, hint in _SPELLINGS if spelled(_SPELLINGS[-1][1]) else ():
        if both := spelled(alike):
            about = " and ".join(f"`{format_predicate(each.table.predicate)}`" for each in (one, other))
            message = (
                f"{about} share no name, and would share nearly all but for {what}: {both[0][0]!r}, {both[0][1]!r}"
            )
            return Diagnostic("unjoined-columns", message, f"write both alike{hint}", other.table.span, "warning")
    return None
