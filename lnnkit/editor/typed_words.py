"""The word that a text ends with, and the entities that it may become."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from lnnkit.syntax.identifiers import FUNCTIONS, UNITS, WORDS, is_bare_entity, starts_upper
from lnnkit.syntax.printer import format_string

MOST = 50  # entities
_WORD = re.compile(r'"(?:[^"\\]|\\.)*$|[^\W_][\w.:-]*$')
_MASK = "\0"  # for each character of a string
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_CALLED = re.compile(rf"([^\W\d][\w-]*|{_MASK}+)$")


def last_word(text: str) -> tuple[str, str]:
    """What stands before the last word, with strings masked, and the word, which begins with the quote of an unclosed
    string."""
    masked = _STRING.sub(lambda string: _MASK * len(string[0]), text)
    found = _WORD.search(masked)
    typed = text[found.start() :] if found else ""
    return masked[: len(text) - len(typed)], typed


def in_arguments(before: str) -> bool:
    """Whether the parenthesis of an atom is still open, as in `P(a, `; strings are masked."""
    depth = 0
    for place in range(len(before) - 1, -1, -1):
        depth += (before[place] == ")") - (before[place] == "(")
        if depth < 0:
            called = _CALLED.search(before[:place])
            return called is not None and called[1] not in {*FUNCTIONS, *UNITS, *WORDS}
    return False


def as_entities(typed: str, starting: Callable[[str, int], Iterable[str]]) -> list[str]:
    """The entities that a word may become, as they are written; ``starting`` gives those with a prefix, up to a
    number."""
    quoted = typed.startswith('"')
    found = starting(typed.removeprefix('"'), MOST)
    return [
        each if not quoted and is_bare_entity(each) and not starts_upper(each) else format_string(each)
        for each in found
    ]
