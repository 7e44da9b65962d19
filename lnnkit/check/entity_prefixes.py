"""The entity names that a program knows, by prefix."""

from __future__ import annotations

from lnnkit.check.program import CheckedProgram
from lnnkit.data.whole import whole


def entities(checked: CheckedProgram, prefix: str, most: int) -> list[str]:
    """Up to ``most`` entities of facts and tables whose names start with ``prefix``, sorted by code point; whole
    numbers are left out."""
    found = {
        text for fact in checked.facts for text in fact.arguments if text.startswith(prefix) and whole(text) is None
    }
    for names in {id(table.names): table.names for table in checked.tables}.values():
        found.update(names.starting(prefix, most))
    return sorted(found)[:most]
