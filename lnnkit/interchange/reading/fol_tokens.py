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
_LETTERS = {
    "NAME": "N", "LPAR": "(", "RPAR": ")", "NUMBER": "9", "STRING": "S", "TRUTH": "T", "QUANTIFIER": "Q", "COMMA": ",",
    "NOT": "~", "MINUS": "-",
}  # fmt: skip
_BETWEEN = re.compile(r"(?<=\))N(?=[N(~Q])")
_WRAPPED = re.compile(r"\(QN(?:,?N)*\)|Q\(N(?:,?N)*\)|Q\(N,")
_UNARY = re.compile(r"(?<![N)9ST])-9?")  # where an operand is due
_WORDS = re.compile(r"(?<=Q)[N9]|[N9]{2,}")


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


def _rewritten(words: Words, pattern: re.Pattern[str], change: Callable[[Words], Words]) -> Words:
    """The tokens with those changed whose kinds, a letter each, match a pattern."""
    found, done = list[Word](), 0
    for match in pattern.finditer("".join(_LETTERS.get(word.kind, "_") for word in words)):
        found += [*words[done : match.start()], *change(words[match.start() : match.end()])]
        done = match.end()
    return found + words[done:]


def with_or(words: Words, liberties: Liberties) -> Words:
    """A lone letter v between two formulas is the connective."""

    def change(part: Words) -> Words:
        (word,) = part
        if word.text != "v":
            return part
        liberties.note("letter-as-or", "`v` is read as `∨`", "", word.start, word.end)
        return [replace(word, kind="OR")]

    return _rewritten(words, _BETWEEN, change)


def without_wrapped_quantifiers(words: Words, liberties: Liberties) -> Words:
    """``(∀x)`` and ``∀(x)`` are ``∀x``; ``forall(x, ...)`` is ``(∀x: ...)``."""

    def change(part: Words) -> Words:
        if part[0].kind == "LPAR":
            return part[1:-1]
        if part[-1].kind == "RPAR":
            return [part[0], *part[2:-1]]
        quantifier, bracket, name, comma = part
        return [bracket, quantifier, name, replace(comma, kind="COLON")]

    return _rewritten(words, _WRAPPED, change)


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

    def change(part: Words) -> Words:
        if len(part) == 1:
            return [replace(part[0], kind="NOT")]
        return [replace(part[1], text="-" + part[1].text, start=part[0].start)]

    return _rewritten(words, _UNARY, change)


def with_whole_names(words: Words, liberties: Liberties) -> Words:
    """Names of several words are one token."""

    def change(part: Words) -> Words:
        if len(part) == 1:  # the variable of a quantifier
            return part
        text, start, end = " ".join(word.text for word in part), part[0].start, part[-1].end
        message = f"`{text}` is read as one name"
        liberties.note("name-of-words", message, "put it in quotes, or write it as one word", start, end)
        return [Word("NAME", text, start, end)]

    return _rewritten(words, _WORDS, change)


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
