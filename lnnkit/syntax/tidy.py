"""Formats programs for `lnnkit fmt`: statements in canonical form, comments and blank lines kept."""

from __future__ import annotations

from itertools import groupby

from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, as_source
from lnnkit.syntax.fault import lexemes
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.parse import parse_parts
from lnnkit.syntax.printer import format_statement
from lnnkit.syntax.split import Slice, comment_start

WIDTH = 100  # greatest width of a line before a formula is broken
ALIGNED = 72  # code longer than this does not push the comments of its neighbours to the right

_BREAKS = {"<->": 0, "->": 1, "xor": 2, "|": 3, "&": 4}

TidiedLine = tuple[str, str]  # its code, and its comment


def tidy(text: str, path: str = "<string>") -> tuple[str, list[Diagnostic]]:
    """The formatted program; if it has syntax errors, those and the unchanged ``text``.

    The program stays the same, including the quotes around entities. Every comment stays with its statement,
    consecutive blank lines become one, and long formulas are broken at their outermost connectives. Formatting twice
    gives the same text as formatting once.
    """
    source = as_source(path, text)
    parts, diagnostics = parse_parts(source)
    if diagnostics:
        return text, diagnostics
    lines: list[TidiedLine] = []
    done = 0
    for piece, node in parts:
        lines += _between(source.text[done : piece.start])
        end = source.text.find("\n", piece.end)
        end = len(source.text) if end < 0 else end
        lines += _statement(source.text, piece, node, source.text[piece.end : end].strip())
        done = end + 1
    lines += _between(source.text[done:])
    return _joined(lines), []


def _between(text: str) -> list[TidiedLine]:
    """The blank lines and comments between statements."""
    *lines, last = text.split("\n")
    if last.strip():
        lines.append(last)
    return [("", line.strip()) for line in lines]


def _statement(text: str, piece: Slice, node: ast.Statement | int, comment: str) -> list[TidiedLine]:
    source = text[piece.start : piece.end].split("\n")
    if any(comment_start(line) < len(line) or not line.strip() for line in source):
        return _as_it_was(text, piece, source, comment)
    code = f"lnnkit {node}" if isinstance(node, int) else format_statement(node, as_written=True)
    *lines, last = _wrapped(code)
    return [*((line, "") for line in lines), (last, comment)]


def _as_it_was(text: str, piece: Slice, source: list[str], comment: str) -> list[TidiedLine]:
    """A statement with comments inside: only its indentation and trailing blanks change."""
    indent = piece.start - (text.rfind("\n", 0, piece.start) + 1)
    shifts = [0, *(min(indent, len(line) - len(line.lstrip())) for line in source[1:])]
    lines = [line[shift:].rstrip() for line, shift in zip(source, shifts, strict=True)]
    lines[-1] = f"{lines[-1]}  {comment}" if comment else lines[-1]
    return [(line, "") for line in lines]


def _wrapped(line: str) -> list[str]:
    """``line``, broken before the outermost connectives that make it fit the width; unchanged if none do."""
    lines = []
    while len(line) > WIDTH:
        place = _break(line)
        if place is None:
            break
        lines.append(line[:place].rstrip())
        line = "    " + line[place:]
    return [*lines, line]


def _break(line: str) -> int | None:
    best: tuple[int, int, int] | None = None
    depth = 0
    code = lexemes(line, shadow(line), 0, min(len(line), WIDTH))
    first = code[1].start if len(code) > 1 else 0  # breaking before the first operand would gain nothing
    for lexeme in code:
        if lexeme.text == '"':
            break  # a text longer than the width: its continuation is indented
        if lexeme.kind == "symbol" and lexeme.text in "([{":
            depth += 1
        elif lexeme.kind == "symbol" and lexeme.text in ")]}":
            depth -= 1
        elif lexeme.text in _BREAKS and lexeme.start > first:
            place = (depth, _BREAKS[lexeme.text], lexeme.start)
            best = place if best is None or place[:2] <= best[:2] else best
    return best[2] if best else None


def _joined(lines: list[TidiedLine]) -> str:
    """The text of the lines: repeated blank lines removed, trailing comments of neighbouring lines aligned."""
    texts: list[str] = []
    for _, neighbours in groupby(lines, lambda line: bool(line[0])):
        block = list(neighbours)
        width = max((len(code) for code, comment in block if comment and len(code) <= ALIGNED), default=0)
        texts += [f"{code:<{width}}  {comment}" if comment and code else code or comment for code, comment in block]
    folded = [text for index, text in enumerate(texts) if text or (index > 0 and texts[index - 1])]
    return "\n".join(folded).strip("\n") + "\n" if any(folded) else ""
