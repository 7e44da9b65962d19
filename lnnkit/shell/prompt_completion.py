"""Completions at the prompt: commands, keywords, predicates, numbers and entities."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lnnkit.kb import KnowledgeBase
from lnnkit.shell.requests import COMMANDS
from lnnkit.syntax.identifiers import FUNCTIONS, KEYWORDS, UNITS, WORDS, is_bare_entity, starts_upper
from lnnkit.syntax.printer import format_predicate, format_string

MOST = 50  # entities
_WORD = re.compile(r'"(?:[^"\\]|\\.)*$|[^\W_][\w.:-]*$')
_MASK = "\0"  # for each character of a string
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_STATEMENTS = tuple(word for word in KEYWORDS if word != "lnnkit")
_EXPRESSIONS = (*sorted(WORDS), *sorted(FUNCTIONS), *sorted(UNITS))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """``text`` replaces the last ``typed`` characters; ``kind`` says what it is."""

    text: str
    typed: int
    kind: str


def suggestions(kb: KnowledgeBase, text: str) -> list[Suggestion]:
    """What may follow ``text``, which ends at the cursor; inside the arguments of an atom, entities."""
    masked = _STRING.sub(lambda string: _MASK * len(string[0]), text)
    found = _WORD.search(masked)
    typed = text[found.start() :] if found else ""
    before = masked[: len(text) - len(typed)]
    if _in_arguments(before):
        return [Suggestion(each, len(typed), "entity") for each in _entities(kb, typed)]
    if typed.startswith('"'):
        return []
    named = [
        (format_predicate(name), "number" if each.numeric else "predicate") for name, each in kb.predicates.items()
    ]
    known = [*sorted(named), *((word, "keyword") for word in _EXPRESSIONS)]
    if not before.strip():
        known = [*((word, "command") for word in COMMANDS), *((word, "keyword") for word in _STATEMENTS), *known]
    unique = dict(reversed(known))  # a word of several kinds is of the first
    return [Suggestion(word, len(typed), unique[word]) for word in dict(known) if word.startswith(typed)]


def _in_arguments(before: str) -> bool:
    """Whether a parenthesis after a name is still open, as in `P(a, `; strings are masked."""
    depth = 0
    for place in range(len(before) - 1, -1, -1):
        depth += (before[place] == ")") - (before[place] == "(")
        if depth < 0:
            return place > 0 and (before[place - 1].isalnum() or before[place - 1] in ("_", _MASK))
    return False


def _entities(kb: KnowledgeBase, typed: str) -> list[str]:
    prefix = typed.removeprefix('"')
    found = (
        each if _bare(each) and not typed.startswith('"') else format_string(each) for each in kb.entities(prefix, MOST)
    )
    return list(found)


def _bare(entity: str) -> bool:
    return is_bare_entity(entity) and not starts_upper(entity)
