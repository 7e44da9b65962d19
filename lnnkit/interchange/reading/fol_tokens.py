"""A line of first-order logic -> tokens that its grammar parses: what people leave out or write otherwise is settled
here, a note for each liberty.

Each pass takes a list of tokens and gives another; `PASSES` is their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

from lark import Lark

from lnnkit.interchange.first_order import Liberties
from lnnkit.syntax.grammar import grammar_file
from lnnkit.syntax.identifiers import shadow, unglued
from lnnkit.syntax.span import Source

_VARIABLE = re.compile(r"[^\W\d_]\d*[’']?")
_OPERAND_ENDS = ("NAME", "RPAR", "NUMBER", "STRING", "TRUTH")


@dataclass(frozen=True, slots=True)
class Word:
    """A token: its kind, its text, and where it stands in the source."""

    kind: str
    text: str
    start: int
    end: int


Words = list[Word]


@cache
def fol_parser() -> Lark:
    """The parser of `grammar/fol.lark`; ``lex`` cuts a line into tokens, the rest is fed to it."""
    text = grammar_file("fol.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", start=["start", "used_up"], maybe_placeholders=False)


def words_of(source: Source, start: int, end: int) -> Words:
    """The tokens of a stretch of the source, as they stand."""
    line = source.text[start:end]
    found = fol_parser().lex(shadow(line))
    words = []
    for token in found:
        begin, stop = token.start_pos or 0, token.end_pos or 0
        words.append(Word(token.type, line[begin:stop], start + begin, start + stop))
    return words


def settled(words: Words, liberties: Liberties) -> Words:
    """The tokens after all passes."""
    for each in PASSES:
        words = each(words, liberties)
    return words


def without_end(words: Words, liberties: Liberties) -> Words:
    """Without the full stop or semicolon of a sentence, and without ``if``."""
    while words and (words[-1].kind in ("DOT", "COMMA") or words[-1].text == ";"):
        words = words[:-1]
    return [word for word in words if word.kind != "IF"]


def with_or(words: Words, liberties: Liberties) -> Words:
    """A lone letter v between two formulas is the connective."""
    found = []
    for index, word in enumerate(words):
        after = words[index + 1].kind if index + 1 < len(words) else ""
        between = index > 0 and words[index - 1].kind == "RPAR" and after in ("NAME", "LPAR", "NOT", "QUANTIFIER")
        if word.text == "v" and between:
            liberties.note("letter-as-or", "`v` is read as `∨`", "", word.start, word.end)
            word = replace(word, kind="OR")
        found.append(word)
    return found


def without_wrapped_quantifiers(words: Words, liberties: Liberties) -> Words:
    """``(∀x)`` and ``∀(x)`` are ``∀x``; ``forall(x, ...)`` is ``(∀x: ...)``."""
    found: Words = []
    index = 0
    while index < len(words):
        kinds = [word.kind for word in words[index : index + 4]]
        if kinds[:2] == ["LPAR", "QUANTIFIER"] and (end := _names_end(words, index + 2)) and _is(words, end, "RPAR"):
            found += words[index + 1 : end]
            index = end + 1
        elif kinds == ["QUANTIFIER", "LPAR", "NAME", "COMMA"] and not _is(words, _names_end(words, index + 2), "RPAR"):
            quantifier, bracket, name, comma = words[index : index + 4]
            found += [bracket, quantifier, name, replace(comma, kind="COLON")]
            index += 4
        elif kinds[:2] == ["QUANTIFIER", "LPAR"] and (end := _names_end(words, index + 2)) and _is(words, end, "RPAR"):
            found += [words[index], *words[index + 2 : end]]
            index = end + 1
        else:
            found.append(words[index])
            index += 1
    return found


def _names_end(words: Words, index: int) -> int:
    """Where a list of one-letter variables ends, 0 if none begins at ``index``."""
    if not _is(words, index, "NAME"):
        return 0
    while _is(words, index, "NAME") or (_is(words, index, "COMMA") and _is(words, index + 1, "NAME")):
        index += 1
    return index


def _is(words: Words, index: int, kind: str) -> bool:
    return 0 <= index < len(words) and words[index].kind == kind


def balanced(words: Words, liberties: Liberties) -> Words:
    """A closing bracket that nothing opens is dropped; what is left open is closed at the end."""
    found: Words = []
    open_at: Words = []
    for word in words:
        if word.kind == "LPAR":
            open_at.append(word)
        elif word.kind == "RPAR":
            if not open_at:
                message = "nothing opens this bracket: it is left out"
                liberties.note("bracket-dropped", message, "check whether a group was meant", word.start, word.end)
                continue
            open_at.pop()
        found.append(word)
    for word in reversed(open_at):
        end = found[-1].end
        message = "nothing closes this bracket: it is closed at the end of the line"
        liberties.note("bracket-added", message, "check whether the group should end earlier", word.start, word.end)
        found.append(Word("RPAR", ")", end, end))
    return found


def with_single_variables(words: Words, liberties: Liberties) -> Words:
    """Each quantifier has one variable, and a colon where its scope reaches to the end of its group."""
    found: Words = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word.kind != "QUANTIFIER":
            found.append(word)
            continue
        variables, rest, index = _variables(words, index, liberties)
        if not variables:
            found.append(word)
        for variable in variables:
            found += [word, variable]
        if index < len(words) and words[index].kind in ("DOT", "COLON"):
            found.append(replace(words[index], kind="COLON"))
            index += 1
        found += rest
    return found


def _variables(words: Words, index: int, liberties: Liberties) -> tuple[Words, Words, int]:
    """The variables after a quantifier, the rest of a name that the last one was run together with, and the index to
    continue at."""
    variables: Words = []
    while _is(words, index, "NAME"):
        word = words[index]
        if variables and not _further_variable(words, index):
            break
        if "." in word.text:  # `x.P`
            head, _, tail = word.text.partition(".")
            middle = word.start + len(head)
            variables.append(replace(word, text=head, end=middle))
            rest = [Word("COLON", ".", middle, middle + 1), Word("NAME", tail, middle + 1, word.end)]
            return variables, rest, index + 1
        if _is(words, index + 1, "LPAR") and (apart := _run_together(words, index)):
            middle = word.start + len(apart[0])
            message = f"`{word.text}` is read as the variable `{apart[0]}` and the predicate `{apart[1]}`"
            liberties.note("run-together", message, "put a space between them", word.start, word.end)
            variables.append(replace(word, text=apart[0], end=middle))
            return variables, [Word("NAME", apart[1], middle, word.end)], index + 1
        variables.append(word)
        index += 1
        if _is(words, index, "COMMA") and _is(words, index + 1, "NAME"):
            index += 1
            if not _further_variable(words, index):  # `∀x, P(x)`: the comma ends the list
                return variables, [replace(words[index - 1], kind="COLON")], index
    if variables and _is(words, index, "COMMA"):
        return variables, [replace(words[index], kind="COLON")], index + 1
    return variables, [], index


def _further_variable(words: Words, index: int) -> bool:
    """Whether a name after a variable is one too, rather than a predicate."""
    if not _is(words, index + 1, "LPAR"):
        return _VARIABLE.fullmatch(words[index].text) is not None or words[index - 1].kind == "COMMA"
    if _VARIABLE.fullmatch(words[index].text) is None or words[index].end == words[index + 1].start:
        return False
    inner = words[index + 2 : group_end(words, index + 2)]
    return any(word.kind not in ("NAME", "COMMA", "NUMBER", "STRING") for word in inner)


def _run_together(words: Words, index: int) -> tuple[str, str] | None:
    inner = [word.text for word in words[index + 2 : group_end(words, index + 2)] if word.kind == "NAME"]
    return None if words[index].end != words[index + 1].start else unglued(words[index].text, inner)


def group_end(words: Words, start: int, *, at_comma: bool = False) -> int:
    """Where the group around ``start`` is closed, or where a comma in it stands; the end if nothing closes it."""
    depth = 0
    for place in range(start, len(words)):
        depth += {"LPAR": 1, "RPAR": -1}.get(words[place].kind, 0)
        if depth < 0 or (at_comma and depth == 0 and words[place].kind == "COMMA"):
            return place
    return len(words)


def with_negations(words: Words, liberties: Liberties) -> Words:
    """A minus where an operand is due negates; before a number it is its sign."""
    found: Words = []
    for index, word in enumerate(words):
        if word.kind == "NUMBER" and found and found[-1].kind == "SIGN":
            sign = found.pop()
            word = replace(word, text="-" + word.text, start=sign.start)
        elif word.kind == "MINUS" and (not found or found[-1].kind not in _OPERAND_ENDS):
            word = replace(word, kind="SIGN" if _is(words, index + 1, "NUMBER") else "NOT")
        found.append(word)
    return found


def with_whole_names(words: Words, liberties: Liberties) -> Words:
    """Names of several words are one token."""
    found: Words = []
    joined = False
    for index, word in enumerate(words):
        plain = word.kind in ("NAME", "NUMBER")
        if plain and found and found[-1].kind in ("NAME", "NUMBER") and not _bound_here(found):
            whole = found.pop()
            word = Word("NAME", f"{whole.text} {word.text}", whole.start, word.end)
            joined = True
        elif joined and not plain:
            _note_words(found[-1], liberties)
            joined = False
        found.append(word)
        if joined and index == len(words) - 1:
            _note_words(word, liberties)
    return found


def _bound_here(words: Words) -> bool:
    """Whether the last name is the variable of a quantifier."""
    return len(words) > 1 and words[-2].kind == "QUANTIFIER"


def _note_words(word: Word, liberties: Liberties) -> None:
    message = f"`{word.text}` is read as one name"
    liberties.note("name-of-words", message, "put it in quotes, or write it as one word", word.start, word.end)


def with_scopes(words: Words, liberties: Liberties) -> Words:
    """A colon after a variable becomes brackets that reach to the end of the group."""
    while True:
        index = next((i for i, word in enumerate(words) if word.kind == "COLON"), None)
        if index is None:
            return words
        if index < 2 or words[index - 2].kind != "QUANTIFIER":
            return words
        words = bracketed(words, index, index + 1)


def bracketed(words: Words, index: int, after: int) -> Words:
    """What stands from ``after`` to the end of its group put in brackets, in place of the words ``index:after``."""
    end = group_end(words, after, at_comma=True)
    begin = words[after].start if after < len(words) else words[-1].end
    stop = words[end - 1].end
    opened, closed = Word("LPAR", "(", begin, begin), Word("RPAR", ")", stop, stop)
    return [*words[:index], opened, *words[after:end], closed, *words[end:]]


Pass = Callable[[Words, Liberties], Words]
PASSES: tuple[Pass, ...] = (
    without_end,
    with_or,
    without_wrapped_quantifiers,
    balanced,
    with_single_variables,
    with_negations,
    with_whole_names,
    with_scopes,
)
