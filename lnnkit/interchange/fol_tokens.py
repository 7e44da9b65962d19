"""A line of first-order logic -> tokens that its grammar parses: what people leave out or write otherwise is settled
here, a note for each liberty.

Each pass takes a list of tokens and gives another; `settled` has their order.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from functools import cache, partial

from lark import Lark, Token

from lnnkit.interchange.first_order import Liberties
from lnnkit.syntax.diagnostic import Span
from lnnkit.syntax.grammar import grammar_file
from lnnkit.syntax.identifiers import shadow, unglued

_VARIABLE = re.compile(r"[^\W\d_]\d*[’']?")
_LETTERS = {
    "NAME": "N", "_LPAR": "(", "_RPAR": ")", "_COMMA": ",", "_NOT": "~", "MINUS": "-", "NUMBER": "9", "STRING": "S",
    "TRUTH": "T", "QUANTIFIER": "Q",
}  # fmt: skip
_BETWEEN = re.compile(r"(?<=\))N(?=[N(~Q])")
_WRAPPED = re.compile(r"\(QN(?:,?N)*\)|Q\(N(?:,?N)*\)|Q\(N,")
_UNARY = re.compile(r"(?<![N)9ST])-9?")  # where an operand is due
_WORDS = re.compile(r"(?<=Q)[N9]|[N9]{2,}")

Words = list[Token]


@cache
def fol_parser(*, parser: str | None = "lalr") -> Lark:
    """The parser of `grammar/fol.lark`, which is fed with tokens; without a ``parser`` what cuts a line into tokens."""
    text = grammar_file("fol.lark").read_text(encoding="utf-8")
    start, options = ["start", "used_up"], {"maybe_placeholders": False, "propagate_positions": True}
    return Lark(text, parser=parser, lexer="basic", start=start, **options)


def words_of(span: Span) -> Words:
    """The tokens of a stretch of a source, as they stand."""
    line, words = span.text, []
    for token in fol_parser(parser=None).lex(shadow(line)):
        start, end = token.start_pos or 0, token.end_pos or 0
        words.append(Token(token.type, line[start:end], span.start + start, end_pos=span.start + end))
    return words


def settled(words: Words, liberties: Liberties) -> Words:
    """The tokens after all passes."""
    while words and (words[-1].type in ("DOT", "_COMMA") or words[-1] == ";"):
        words = words[:-1]
    words = [token for token in words if token.type != "IF"]
    words = _rewritten(words, _BETWEEN, partial(_connective, liberties=liberties))
    words = _rewritten(words, _WRAPPED, _unwrapped)
    words = _with_single_variables(_balanced(words, liberties), liberties)
    words = _rewritten(words, _UNARY, _negation)
    return _rewritten(words, _WORDS, partial(_whole_name, liberties=liberties))


def _rewritten(words: Words, pattern: re.Pattern[str], change: Callable[[Words], Words]) -> Words:
    """The tokens with those changed whose kinds, a letter each, match a pattern."""
    rewritten, done = Words(), 0
    for match in pattern.finditer("".join(_LETTERS.get(token.type, "_") for token in words)):
        rewritten += [*words[done : match.start()], *change(words[match.start() : match.end()])]
        done = match.end()
    return rewritten + words[done:]


def _connective(part: Words, liberties: Liberties) -> Words:
    """A lone letter v between two formulas is the connective."""
    if part != ["v"]:
        return part
    liberties.note("letter-as-or", "`v` is read as `∨`", "", liberties.span(*part))
    return [part[0].update("_OR")]


def _unwrapped(part: Words) -> Words:
    """``(∀x)`` and ``∀(x)`` are ``∀x``; ``forall(x, ...)`` is ``(∀x: ...)``."""
    if part[0].type == "_LPAR":
        return part[1:-1]
    if part[-1].type == "_RPAR":
        return [part[0], *part[2:-1]]
    quantifier, bracket, name, comma = part
    return [bracket, quantifier, name, comma.update("COLON")]


def _negation(part: Words) -> Words:
    """A minus where an operand is due negates; before a number it is its sign."""
    minus, *rest = part
    number = [Token(token.type, f"-{token}", minus.start_pos, end_pos=token.end_pos) for token in rest]
    return number or [minus.update("_NOT")]


def _whole_name(part: Words, liberties: Liberties) -> Words:
    """Names of several words are one token."""
    if len(part) == 1:  # the variable of a quantifier
        return part
    text, span = " ".join(part), liberties.span(*part)
    message = f"`{text}` is read as one name"
    liberties.note("name-of-words", message, "put it in quotes, or write it as one word", span)
    return [Token("NAME", text, span.start, end_pos=span.end)]


def _balanced(words: Words, liberties: Liberties) -> Words:
    """A closing bracket that nothing opens is dropped; what is left open is closed at the end."""
    balanced: Words = []
    open_at: Words = []
    for token in words:
        if token.type == "_LPAR":
            open_at.append(token)
        elif token.type == "_RPAR" and open_at:
            open_at.pop()
        elif token.type == "_RPAR":
            message = "nothing opens this bracket: it is left out"
            liberties.note("bracket-dropped", message, "check whether a group was meant", liberties.span(token))
            continue
        balanced.append(token)
    for token in reversed(open_at):
        message = "nothing closes this bracket: it is closed at the end of the line"
        hint = "check whether the group should end earlier"
        liberties.note("bracket-added", message, hint, liberties.span(token))
        balanced.append(Token("_RPAR", ")", balanced[-1].end_pos, end_pos=balanced[-1].end_pos))
    return balanced


# --- quantifiers ------------------------------------------------------------------------------------------------------


def _with_single_variables(words: Words, liberties: Liberties) -> Words:
    """Each quantifier has one variable, and a colon where its scope reaches to the end of its group."""
    separated: Words = []
    index = 0
    while index < len(words):
        quantifier, index = words[index], index + 1
        separated.append(quantifier)
        first, rest = index, Words()
        while quantifier.type == "QUANTIFIER" and _is(words, index, "NAME") and not rest:
            if index > first:
                if not _further_variable(words, index):
                    break
                separated.append(quantifier)
            variable, *rest = _apart(words, index, liberties)
            separated.append(variable)
            index += 1
            if not rest and _is(words, index, "_COMMA"):
                index += 1
                if not (_is(words, index, "NAME") and _further_variable(words, index)):
                    rest = [words[index - 1].update("COLON")]  # `∀x, P(x)`: the comma ends the list
        if quantifier.type == "QUANTIFIER" and (_is(words, index, "DOT") or _is(words, index, "COLON")):
            separated.append(words[index].update("COLON"))
            index += 1
        separated += rest
    return separated


def _apart(words: Words, index: int, liberties: Liberties) -> Words:
    """The variable that a name after a quantifier begins with, and the rest of the name."""
    name, parts = words[index], tuple[str, ...]()
    if "." in name:  # `x.P`
        parts = name.partition(".")
    elif _is(words, index + 1, "_LPAR") and name.end_pos == words[index + 1].start_pos:
        inner = [str(token) for token in words[index + 2 : group_end(words, index + 2)] if token.type == "NAME"]
        parts = unglued(str(name), inner) or ()
        if parts:
            message = f"`{name}` is read as the variable `{parts[0]}` and the predicate `{parts[1]}`"
            liberties.note("run-together", message, "put a space between them", liberties.span(name))
    places = itertools.pairwise(itertools.accumulate(map(len, parts), initial=name.start_pos or 0))
    kinds = ["COLON" if part == "." else "NAME" for part in parts]
    apart = zip(kinds, parts, places, strict=True)
    return [Token(kind, part, start, end_pos=end) for kind, part, (start, end) in apart] or [name]


def _further_variable(words: Words, index: int) -> bool:
    """Whether a name after a variable is one too, rather than a predicate."""
    like_one = _VARIABLE.fullmatch(words[index]) is not None
    if not _is(words, index + 1, "_LPAR"):
        return like_one or words[index - 1].type == "_COMMA"
    inner = words[index + 2 : group_end(words, index + 2)]
    apart = words[index].end_pos != words[index + 1].start_pos
    return like_one and apart and any(token.type not in ("NAME", "_COMMA", "NUMBER", "STRING") for token in inner)


def _is(words: Words, index: int, kind: str) -> bool:
    return 0 <= index < len(words) and words[index].type == kind


def group_end(words: Words, start: int) -> int:
    """Where the group around ``start`` is closed; the end if nothing closes it."""
    depth = 0
    for place in range(start, len(words)):
        depth += {"_LPAR": 1, "_RPAR": -1}.get(words[place].type, 0)
        if depth < 0:
            return place
    return len(words)
