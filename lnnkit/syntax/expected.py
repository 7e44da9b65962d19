"""The message of a plain syntax error: what was found and what could have stood there, in words."""

from __future__ import annotations

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import END, Fault

_FORMULA = frozenset(("QUANTIFIER", "NAME", "LPAR"))
_CONNECTIVES = frozenset(("AND", "OR", "XOR", "IMPLIES", "IFF"))
# Terminals summarised in one word when a formula or a connective is expected.
_IN_TERM = frozenset(["NAME", "LPAR", "NUMBER", "FUNCTION", "UNIT", "LEARNABLE", "STRING", "MINUS", "TRUTH"])
_IN_FORMULA = _IN_TERM | {"NOT", "QUANTIFIER"}
_AFTER_OPERAND = _CONNECTIVES | {"AT", "COMPARE", "EQUALS", "PLUS", "MINUS", "TIMES", "DIVIDE", "POWER", "LBRACE"}

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


def plain(fault: Fault) -> Diagnostic:
    """The diagnostic for a fault that no named mistake explains."""
    wanted = _listed(_expected(_possible(fault)))
    after = f" after `{fault.previous.text}`" if fault.previous and fault.previous.text not in (")", "]", "}") else ""
    message = "the statement is unfinished" if fault.token == END else f"unexpected `{fault.shown}`"
    if wanted:
        begun = "the statement ends too early" if fault.token == END else message
        message = f"{begun}{after}: expected {wanted}"
    return fault.report("syntax", message, "")


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
