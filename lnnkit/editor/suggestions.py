"""Completion: the keywords, predicates, numbers and sorts that can be typed next, according to the grammar."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lark.exceptions import UnexpectedInput
from lark.lexer import TerminalDef

from lnnkit.check.program import CheckedProgram
from lnnkit.data.files import is_table
from lnnkit.editor.name_places import places
from lnnkit.editor.program_files import Linked
from lnnkit.syntax import ast
from lnnkit.syntax.grammar import parser
from lnnkit.syntax.identifiers import DECLARING, FUNCTIONS, KEYWORDS, UNITS, WORDS, is_bare_entity, starts_upper
from lnnkit.syntax.printer import format_predicate, format_sorts, format_string
from lnnkit.syntax.split import comment_start, split

_ASKING = ("fact", "rule", "axiom", "query", "label")
_VARIABLE = re.compile(r"(?<=[(,\s])[^\W\d_a-z]\w*(?=\s*[,)])")
_PATH = re.compile(r'(?:\bfrom|^\s*import)\s*"$')
_LOOKAHEAD = re.compile(r"\(\?[=!](?:[^()\\]|\\.)*\)")
_SPELLED = re.compile(r"[a-z]+(?: [a-z]+)*")
MOST = 50  # entities
_WORD = re.compile(r'"(?:[^"\\]|\\.)*$|[^\W_][\w.:-]*$')
_MASK = "\0"  # for each character of a string
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_CALLED = re.compile(rf"([^\W\d][\w-]*|{_MASK}+)$")
_PARTIAL = re.compile(r"[^\W\d_](?:[\w-]*\w)?$")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """``detail`` is the signature of a predicate."""

    text: str
    kind: Literal["keyword", "predicate", "number", "sort", "logic", "entity", "variable", "file"]
    detail: str = ""


def suggestions(linked: Linked, offset: int, checked: CheckedProgram | None = None) -> list[Suggestion]:
    """What may replace the word that ends at an offset of the main file: in the arguments of an atom the variables of
    its statement and the entities of the program as it was ``checked``, in the path of a table or an import the files
    beside the program. Nothing inside comments and other strings."""
    start = word_start(linked, offset)
    before, typed = linked.main.shadow[:start], linked.main.text[start:offset]
    line = before[before.rfind("\n") + 1 :]
    if comment_start(line) < len(line):
        return []
    if _PATH.search(line):
        return list(_paths(linked.main.path.parent, typed, programs=line.lstrip().startswith("import")))
    pieces = split(before)
    if pieces and pieces[-1].keyword in _ASKING and in_arguments(last_word(line)[0]):
        used = dict.fromkeys(_VARIABLE.findall(before[pieces[-1].start :]))
        named = [] if checked is None else as_entities(typed, checked.entities)
        return [*(Suggestion(name, "variable") for name in used), *(Suggestion(name, "entity") for name in named)]
    if typed.startswith('"') or re.sub(r"\\.", "", line).count('"') % 2:  # in a string
        return []
    fresh = not line.strip()
    keywords = [Suggestion(word, "keyword") for word in KEYWORDS] if fresh else []
    if not pieces or pieces[-1].keyword is None:
        return keywords
    prefix = before[pieces[-1].start :]
    accepted = _accepted(prefix)
    if fresh and (accepted is None or "$END" in accepted):
        return keywords
    return [*keywords, *_in_statement(linked, pieces[-1].keyword, prefix, accepted)]


def word_start(linked: Linked, offset: int) -> int:
    """The start of the word that ends at an offset of the main file; the offset itself if no word ends there."""
    line = linked.main.text.rfind("\n", 0, offset) + 1
    before, typed = last_word(linked.main.text[line:offset])
    if typed.startswith('"'):
        return offset - len(typed) + bool(_PATH.search(f'{before}"'))
    if in_arguments(before):
        return offset - len(typed)
    match = _PARTIAL.search(linked.main.shadow[line:offset])
    return line + match.start() if match else offset


def _in_statement(linked: Linked, keyword: str, prefix: str, accepted: frozenset[str] | None) -> Iterable[Suggestion]:
    """What may follow the ``prefix`` of a statement with this keyword: its ``accepted`` terminals, None if not known,
    and names."""
    for terminal in sorted(parser().terminals, key=lambda terminal: terminal.name):
        if terminal.name in (accepted or ()):
            yield from (Suggestion(word, "keyword") for word in words(terminal))
    if accepted is not None and "NAME" not in accepted:
        return
    if keyword == "logic":
        yield from (Suggestion(logic, "logic") for logic in ast.LOGICS)
    elif keyword == "sort" or (keyword in DECLARING and "(" in prefix):
        sorts = {place.name for place in places(linked) if place.kind == "sort"} | {"entity"}
        yield from (Suggestion(sort, "sort") for sort in sorted(sorts))
    elif keyword in ("load", "label") and "from" in prefix.split():
        return  # columns
    elif keyword not in (*DECLARING, "lnnkit", "import"):
        for name, known in sorted(linked.predicates.items()):
            kind = "number" if known.numeric else "predicate"
            yield Suggestion(format_predicate(name), kind, format_sorts(known.sorts))


def _paths(folder: Path, typed: str, *, programs: bool) -> Iterable[Suggestion]:
    """The folders, and the tables or ``programs``, in the folder that a path leads to so far."""
    lead = typed[: typed.rfind("/") + 1]
    try:
        entries = sorted((folder / lead).iterdir())
    except (OSError, ValueError):  # a null character
        return
    for entry in entries:
        wanted = entry.suffix == ".lnn" if programs else is_table(entry)
        if entry.name.startswith(typed[len(lead) :]) and '"' not in entry.name and (wanted or entry.is_dir()):
            yield Suggestion(f"{lead}{entry.name}{'/' if entry.is_dir() else ''}", "file")


def _accepted(prefix: str) -> frozenset[str] | None:
    """The terminals that can follow; None if the text before cannot be parsed."""
    state = parser().parse_interactive(prefix, start="statement")
    try:
        state.exhaust_lexer()
        return frozenset(state.accepts())
    except UnexpectedInput:
        return None


def words(terminal: TerminalDef) -> tuple[str, ...]:
    """The words among a terminal's spellings: ``and`` of `AND`, ``no header`` of `NO_HEADER`, none of `NAME`."""
    if terminal.name == "NAME":  # it holds the words that are no names
        return ()
    bare = _LOOKAHEAD.sub("", terminal.pattern.value.replace(r"\s+", " "))
    return tuple(text for text in re.split(r"[|()]|\?:", bare) if _SPELLED.fullmatch(text))


def last_word(text: str) -> tuple[str, str]:
    """What stands before the last word, with strings masked, and the word, which begins with the quote of an unclosed
    string."""
    masked = _STRING.sub(lambda string: _MASK * len(string[0]), text)
    match = _WORD.search(masked)
    typed = text[match.start() :] if match else ""
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
    entities = starting(typed.removeprefix('"'), MOST)
    return [
        entity if not quoted and is_bare_entity(entity) and not starts_upper(entity) else format_string(entity)
        for entity in entities
    ]
