"""Names of symbols in another notation: each its own, as near as can be to that of the program."""

from __future__ import annotations

import itertools
from collections.abc import Callable


class SymbolNames:
    """Gives each (kind, name) one spelling. ``spell`` makes a text fit; names in ``reserved`` are taken already."""

    def __init__(self, spell: Callable[[str], str], reserved: frozenset[str] = frozenset()) -> None:
        self._spell = spell
        self._taken = set(reserved)
        self._known: dict[tuple[str, str], str] = {}

    def __call__(self, kind: str, name: str) -> str:
        """The spelling of a symbol."""
        if (kind, name) not in self._known:
            tries = (name, f"{name} {kind}", *(f"{name} {kind} {n}" for n in range(2, 10)))
            endless = (f"{name} {kind} {n}" for n in itertools.count(10))
            found = next(text for text in map(self._spell, itertools.chain(tries, endless)) if text not in self._taken)
            self._taken.add(found)
            self._known[kind, name] = found
        return self._known[kind, name]
