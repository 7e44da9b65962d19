"""Completions at the prompt: commands, keywords, predicates, numbers and entities."""

from __future__ import annotations

from dataclasses import dataclass

from lnnkit.editor.typed_words import as_entities, in_arguments, last_word
from lnnkit.kb import KnowledgeBase
from lnnkit.shell.requests import COMMANDS
from lnnkit.syntax.identifiers import FUNCTIONS, KEYWORDS, UNITS, WORDS
from lnnkit.syntax.printer import format_predicate

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
    before, typed = last_word(text)
    if in_arguments(before):
        return [Suggestion(each, len(typed), "entity") for each in as_entities(typed, kb.entities)]
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
