"""The place where a statement cannot be parsed any further, its context, and what could have stood there, in words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.identifiers import DECLARING, FUNCTIONS, UNITS
from lnnkit.syntax.split import Slice

END = "$END"

_LEXEME = re.compile(
    r"""(?P<skip>\s+|\#[^\n]*) | (?P<string>"(?:[^"\\\n]|\\.)*") | (?P<word>\??[^\W\d_]\w*(?:-\w+)*)
    | (?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?) | (?P<symbol><->|<=>|->|=>|:-|<\?>|[<>!]=|.)""",
    re.VERBOSE,
)
CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A piece of the statement, found without the grammar; ``kind`` is string, word, number or symbol."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True)
class Fault:
    """The token at ``start:end`` that the grammar does not accept.

    ``expected`` holds the terminals that it accepts there. ``token`` is the terminal found, ``END`` at the end of the
    statement, or None if the text is not a token. ``before`` are the lexemes before the fault; ``open`` are the
    unclosed brackets among them, each with its index in ``before``.
    """

    source: Source
    piece: Slice
    start: int
    end: int
    token: str | None = None
    expected: frozenset[str] = frozenset()
    before: tuple[Lexeme, ...] = ()
    open: tuple[int, ...] = ()

    @classmethod
    def of(cls, error: UnexpectedInput, source: Source, shadow: str, piece: Slice) -> Fault:
        """The fault that a Lark error in a slice describes."""
        match error:
            case UnexpectedToken() if error.token.type != END:
                token: Token = error.token
                start, end, kind = token.start_pos or 0, token.end_pos or 0, token.type
                expected = error.accepts or error.expected
            case UnexpectedCharacters():
                start, end, kind, expected = error.pos_in_stream, error.pos_in_stream + 1, None, error.allowed or ()
            case _:
                last = lexemes(shadow, shadow, piece.start, piece.end)
                start = end = last[-1].end - piece.start if last else 0
                kind, expected = END, (error.accepts or error.expected) if isinstance(error, UnexpectedToken) else ()
        start, stop = piece.start + start, piece.start + end  # Lark counts from the slice's start
        before = lexemes(source.text, shadow, piece.start, start)
        return cls(source, piece, start, stop, kind, frozenset(expected), before, _unclosed(before))

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def rest(self) -> str:
        """The statement from the fault on."""
        return self.source.text[self.start : self.piece.end]

    @property
    def previous(self) -> Lexeme | None:
        return self.before[-1] if self.before else None

    @property
    def keyword(self) -> str | None:
        return self.piece.keyword

    @property
    def in_arguments(self) -> bool:
        """Whether the fault is among the arguments of an atom."""
        if not self.open or self.before[self.open[-1]].text != "(" or self.keyword in (*DECLARING, "load"):
            return False
        if self.keyword == "label" and any(lexeme.text == "from" for lexeme in self.before[: self.open[-1]]):
            return False
        head = self.before[self.open[-1] - 1] if self.open[-1] > 0 else None
        if head is None or head.kind not in ("word", "string") or head.text in FUNCTIONS or head.text in UNITS:
            return False
        # `ENTITY` is a terminal of arguments alone; after one, only a comma or a parenthesis can come.
        return "ENTITY" in self.expected or self.expected == {"COMMA", "RPAR"}

    @property
    def in_table(self) -> bool:
        """Whether the fault is after the path of a ``load`` or ``label ... from``."""
        return self.keyword in ("load", "label") and any(
            word.text in ("from", "query", "table") and path.kind == "string"
            for word, path in zip(self.before, self.before[1:], strict=False)
        )

    @property
    def first_on_line(self) -> bool:
        """Whether the fault is the first thing on a line other than the statement's first."""
        line = self.source.text.rfind("\n", 0, self.start) + 1
        return line > self.piece.start and not self.source.text[line : self.start].strip()

    def report(self, code: str, message: str, hint: str, *place: int) -> Diagnostic:
        """A diagnostic at the fault, or at a ``place``, its start and end."""
        return Diagnostic(code, message, hint, Span(self.source, *(place or (self.start, self.end))))

    def report_at(self, lexeme: Lexeme, code: str, message: str, hint: str) -> Diagnostic:
        """A diagnostic at a lexeme before the fault."""
        return self.report(code, message, hint, lexeme.start, lexeme.end)


def visible(text: str) -> str:
    """``text`` for a message: characters that do not print are shown by their code points."""
    return text if text.isprintable() else " ".join(f"U+{ord(character):04X}" for character in text)


def lexemes(text: str, shadow: str, start: int, end: int) -> tuple[Lexeme, ...]:
    """The lexemes of ``text[start:end]``, white space and comments left out."""
    matches = ((match, match.lastgroup or "skip") for match in _LEXEME.finditer(shadow, start, end))
    return tuple(Lexeme(kind, text[slice(*match.span())], match.start()) for match, kind in matches if kind != "skip")


def _unclosed(before: tuple[Lexeme, ...]) -> tuple[int, ...]:
    stack: list[int] = []
    for index, lexeme in enumerate(before):
        if lexeme.kind != "symbol":
            continue
        if lexeme.text in "([{":
            stack.append(index)
        elif stack and CLOSING.get(lexeme.text) == before[stack[-1]].text:
            stack.pop()
    return tuple(stack)


# --- the message of a plain syntax error ------------------------------------------------------------------------------

_FORMULA = frozenset(("QUANTIFIER", "NAME", "LPAR"))
CONNECTIVES = frozenset(("AND", "OR", "XOR", "IMPLIES", "IFF"))
# Terminals summarised in one word when a formula or a connective is expected.
_IN_TERM = frozenset(["NAME", "LPAR", "NUMBER", "FUNCTION", "UNIT", "LEARNABLE", "STRING", "MINUS", "TRUTH"])
_IN_FORMULA = _IN_TERM | {"NOT", "QUANTIFIER"}
_AFTER_OPERAND = CONNECTIVES | {"AT", "COMPARE", "EQUALS", "PLUS", "MINUS", "TIMES", "DIVIDE", "POWER", "LBRACE"}

_OF_TABLES = frozenset(("FROM", "WHERE", "NO_HEADER", "HEADER", "MISSING", "DELIMITER", "DECIMAL", "ENCODING", "TRIM"))
_CLOSERS = {"(": "RPAR", "[": "RSQB", "{": "RBRACE"}

_WORDS = {"NAME": "a name", "ENTITY": "an argument", "STRING": "a text in double quotes", "NUMBER": "a number"}
_TEXTS = {
    "LEARNABLE": "?", "COMMA": ",", "COLON": ":", "LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]", "LBRACE": "{",
    "RBRACE": "}", "EQUALS": "=", "IN": "in [l, u]", "IN_LIST": "in (...)", "IS": "is null", "NOT": "~",
}  # fmt: skip
_ORDER = (
    *_WORDS,
    *("LEARNABLE", "COMMA", "COLON", "LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "EQUALS", "AND", "IN"),
    *("IN_LIST", "FROM", "WHERE", "OPEN", "CLOSED", "NO_HEADER", "HEADER", "MISSING", "DELIMITER", "DECIMAL"),
    *("ENCODING", "TRIM", "TRUST", "IS", "NULL", "NOT", END),
)


FORMS = {
    "logic": "`logic lukasiewicz`",
    "sort": "`sort person`, or `sort person open`",
    "predicate": "`predicate Parent(person, person)`, or `predicate Parent(person, person) closed`",
    "number": "`number age(person)`, and its values as `fact age(anna) = 34`",
    "date": '`date born(person)`, and its values as `fact born(anna) = date "2001-05-31"`',
    "import": '`import "people.lnn"`',
    "load": '`load Parent from "people.csv" (name, child) where age > 18`',
    "fact": "`fact Parent(anna, bob)`, `fact Tall(anna) = 0.7`, `fact Tall(anna) in [0.5, 1]` or `fact age(anna) = 34`",
    "rule": "`rule name: Parent(X, Y) & age(X) > 60 -> Grown(Y) in [0.8, 1]`",
    "axiom": "`axiom name: forall X, Y: Parent(X, Y) -> ~Parent(Y, X)`",
    "query": "`query Parent(X, bob) & age(X) > 60`",
    "label": '`label Tall(anna) = 0.7`, or `label Tall from "people.csv" (name, tall)`',
    "lnnkit": "`lnnkit 1`",
}


def plain(fault: Fault) -> Diagnostic:
    """The diagnostic for a fault that no named mistake explains: what was met, what could stand there, and the form of
    the statement."""
    wanted = _listed(_expected(_possible(fault)))
    after = f" after `{fault.previous.text}`" if fault.previous and fault.previous.text not in (")", "]", "}") else ""
    end = fault.end
    if fault.token is None and (word := re.match(r"\w[\w.-]*", fault.rest)):
        end = fault.start + word.end()  # `2-income`, not its first digit
    message = f"unexpected `{visible(fault.source.text[fault.start : end])}`"
    if fault.token == END:
        message = "the statement ends too early" if wanted else "the statement is unfinished"
    if wanted:
        message += f"{after}: expected {wanted}"
    form = FORMS[fault.keyword or "query"]
    return fault.report("syntax", message, f"such a statement is written {form}", fault.start, end)


def _possible(fault: Fault) -> frozenset[str]:
    """The expected terminals, without those that the merged states of the parse tables add from other brackets and
    statements."""
    bracket = fault.before[fault.open[-1]].text if fault.open else ""
    terminals = fault.expected - {closer for opener, closer in _CLOSERS.items() if opener != bracket}
    if bracket in ("[", "{"):
        terminals -= _AFTER_OPERAND | {"IN"}
    elif "AND" in terminals:
        terminals -= {"COMMA"}
    if bracket or fault.keyword == "query":
        terminals -= {"IN"}
    if "IS" in terminals:
        terminals = terminals - {"IN"} | {"IN_LIST"}
    if fault.keyword not in ("fact", "load"):
        terminals -= {"TRUST"}
    return terminals if fault.keyword in ("load", "label") else terminals - _OF_TABLES


def _expected(terminals: frozenset[str]) -> list[str]:
    """The expected terminals in plain words; those of a formula, and operators, are summarised as one."""
    words, left = [], set(terminals)
    if terminals >= _FORMULA:
        words.append("a formula")
        left -= _IN_FORMULA
    elif "FUNCTION" in terminals:
        words.append("a number or term")
        left -= _IN_TERM
    if terminals >= {"AND", "IMPLIES"}:
        words.append("a connective such as `&` or `->`")
        left -= _AFTER_OPERAND | {"COLON", "LPAR"}
    elif "COMPARE" in terminals or "POWER" in terminals:
        words.append("an operator")
        left -= _AFTER_OPERAND | {"LPAR"}
    if "NUMBER" in left:
        left -= {"MINUS", "LEARNABLE"}
    if left & {"NAME", "ENTITY"}:
        left -= {"STRING"}
    return words + [_worded(terminal) for terminal in _ORDER if terminal in left]


def _worded(terminal: str) -> str:
    """A terminal in words, or as it is written: that of a word has the word's name."""
    if terminal == END:
        return "the end of the statement"
    return _WORDS.get(terminal) or f"`{_TEXTS.get(terminal) or terminal.lower().replace('_', ' ')}`"


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " or " + words[-1] if len(words) > 1 else "".join(words)
