"""Splits a text into one slice for each statement, so that an error does not affect other statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lnnkit.syntax.identifiers import KEYWORDS

_FIRST = re.compile(rf"({'|'.join(KEYWORDS)})(?!-?\w)")
# `date` before the text of a date or an operator starts no declaration.
_NO_DECLARATION = re.compile(r'date\s*(?:"[\d+-]|[^\w\s"])')
# Followed directly by a parenthesis, these are predicates: `fact(X)`.
_CALL = re.compile(r"(?:load|label|number|sort|fact|date)\(")
# Tokens that can stand between two operands but not start one; `-` starts a term and `:` follows a keyword by mistake.
_BINARY = re.compile(r"[&|∧∨⊕→↔⇒⇔@,)+*/^=<>{\]]|->|!=|[≤≥≠]|(?:and|or|xor|implies|iff|in)(?!-?\w)")
# A line that ends like this is incomplete.
_OPEN = re.compile(
    r"(?:[&|∧∨⊕→↔⇒⇔@,(+*/^=<>\[{~¬:−-]|(?<![\w-])(?:and|or|xor|implies|iff|in|not|from|where|header|no"
    r"|missing|delimiter|decimal|encoding|trust|is)"
    r"|(?:[∀∃]|(?<![\w-])(?:forall|exists)(?!\w))\s*(?:\w+(?:\s*,\s*\w+)*)?)\s*$"
)
# A line that starts like this continues the statement before it: an operator, an opening bracket, or a later clause.
_CLAUSE = re.compile(
    r"(?:and|or|xor|implies|iff|in|from|where|database|table|no|header|open|closed|missing|delimiter|decimal|encoding"
    r"|trim|trust)(?!-?\w)"
)
_CODE = re.compile(r'(?:[^"#]|"(?:[^"\\]|\\.)*(?:"|\\?$))*')  # strings, and what stands between them
_OPERAND = re.compile(r"[^\W_]|[~¬∀∃⊤⊥\"?]")


@dataclass(frozen=True, slots=True)
class Slice:
    """The range of a statement; ``keyword`` is None for a line that no keyword starts."""

    start: int
    end: int
    keyword: str | None


@dataclass(frozen=True, slots=True)
class _CodeLine:
    start: int  # the offset of the first character that is not white space
    indent: int
    code: str  # without the comment and the white space around it


def split(text: str) -> list[Slice]:
    """The slices of the statements of ``text``, in order, each without the blank lines and comments after it.

    A statement starts on a line whose first word is a keyword (unless the line before is unfinished and an operator
    follows the word), and extends to the next such line. A line gets its own slice if it is not indented further than
    its statement and can neither start a statement nor continue the one before: its error then does not affect its
    neighbours.
    """
    groups: list[tuple[str | None, list[_CodeLine]]] = []
    for line in _lines(text):
        before = groups[-1][1] if groups else []
        keyword = _keyword(line.code, before[-1].code if before else None)
        if keyword or not before or _stray(line, before[0], before[-1]):
            groups.append((keyword, [line]))
        else:
            before.append(line)
    return [Slice(lines[0].start, lines[-1].start + len(lines[-1].code), keyword) for keyword, lines in groups]


def unfinished(text: str) -> bool:
    """Whether the last line of ``text`` ends where no statement can end: after an operator, an opening bracket or a
    comma."""
    line = text.rpartition("\n")[2]
    return _OPEN.search(line[: comment_start(line)].rstrip()) is not None


def comment_start(line: str) -> int:
    """The offset of the comment in a line; the length of the line if it has none. An unclosed string extends to the end
    of the line."""
    code = _CODE.match(line)
    return code.end() if code else 0


def _lines(text: str) -> Iterator[_CodeLine]:
    start = 0
    for line in text.split("\n"):
        code = line[: comment_start(line)] if "#" in line else line
        bare = code.strip()
        if bare:
            indent = len(code) - len(code.lstrip())
            yield _CodeLine(start + indent, indent, bare)
        start += len(line) + 1


def _keyword(code: str, before: str | None) -> str | None:
    """The keyword with which the line starts a statement; None if it does not."""
    match = _FIRST.match(code)
    if match is None or _CALL.match(code) or _NO_DECLARATION.match(code):
        return None
    rest = code[match.end() :].lstrip()
    if match[1] == "lnnkit" and not rest[:1].isdigit():
        return None
    if before is not None and (not rest or _BINARY.match(rest)) and _OPEN.search(before):
        return None
    return match[1]


def _stray(line: _CodeLine, first: _CodeLine, last: _CodeLine) -> bool:
    """Whether a line gets its own slice: it starts with an operand although the line before has just ended one."""
    if line.indent > first.indent or not _OPERAND.match(line.code) or _CLAUSE.match(line.code):
        return False
    return not _OPEN.search(last.code) and not _FIRST.fullmatch(last.code)
