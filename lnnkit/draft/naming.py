"""Names for predicates and sorts, made from the titles of columns and files."""

from __future__ import annotations

import re

from lnnkit.syntax.identifiers import AGGREGATES, FUNCTIONS, KEYWORDS, SHOUTED, UNITS, is_name, normalise

_TAKEN = frozenset((*KEYWORDS, *AGGREGATES, *FUNCTIONS, *UNITS, *SHOUTED))
_ID = re.compile(r"(?:^|[ _-]+)(?:u?ids?|key|code|no|nr|number|name)$", re.IGNORECASE)
_CAMEL_ID = re.compile(r"(?<=[a-z])(?:Ids?|ID|Key|Code|No|Nr|Number|Name)$")


class PredicateNames:
    """Gives each predicate a distinct name."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def predicate(self, title: str, table: str, *, numeric: bool) -> str:
        """A name that needs no quotes: lower-case first for a number, upper-case first for a truth value; prefixed with
        the name of the table if another table has a similar one."""
        name = _cased(bare(title), numeric)
        if name.casefold() in self._used:
            name = _cased(f"{bare(table)}-{bare(title)}", numeric)
        stem, count = name, 2
        while name.casefold() in self._used:
            name, count = f"{stem}-{count}", count + 1
        self._used.add(name.casefold())
        return name


def bare(title: str) -> str:
    """The words of a title, joined by hyphens where necessary: ``Größe (cm)`` gives ``Größe-cm``."""
    name = "-".join(re.findall(r"\w+", normalise(title))).strip("_")
    name = name.lower() if name.isupper() and len(name) > 1 else name
    if not is_name(name) and not is_name(name.lower()):
        name = f"column-{name}" if name else "column"
    if name in _TAKEN or name.lower() in _TAKEN or not is_name(name) or not is_name(name.lower()):
        name = f"{name}-value"
    return name if is_name(name) else "column"


def subject(title: str) -> str:
    """What a column of ids is about: ``customer_id`` gives ``customer``; ``id`` alone gives an empty text."""
    return _CAMEL_ID.sub("", _ID.sub("", title.strip())).strip(" _-")


def singular(stem: str) -> str:
    """The name of one row, made from the name of its table."""
    word = bare(stem).lower()
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def _cased(name: str, numeric: bool) -> str:
    first = name[0].lower() if numeric else name[0].upper()
    return first + name[1:] if len(first) == 1 and is_name(first + name[1:]) else name
