"""Formats programs for `lnnkit fmt`: statements in canonical form, comments and blank lines kept."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import lexemes
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.parse import parse_parts
from lnnkit.syntax.printer import format_statement
from lnnkit.syntax.span import as_source
from lnnkit.syntax.split import Slice, comment_start

WIDTH = 100  # greatest width of a line before a formula is broken
ALIGNED = 72  # code longer than this does not push the comments of its neighbours to the right

_BREAKS = {"<->": 0, "->": 1, "xor": 2, "|": 3, "&": 4}


@dataclass(frozen=True, slots=True)
class _TidiedLine:
    code: str
    comment: str = ""


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
    lines: list[_TidiedLine] = []
    done = 0
    for piece, node in parts:
        lines += _between(source.text[done : piece.start])
        end = source.text.find("\n", piece.end)
        end = len(source.text) if end < 0 else end
        lines += _statement(source.text, piece, node, source.text[piece.end : end].strip())
        done = end + 1
    lines += _between(source.text[done:])
    return _joined(lines), []


def _between(text: str) -> list[_TidiedLine]:
    """The blank lines and comments between statements."""
    *lines, last = text.split("\n")
    if last.strip():
        lines.append(last)
    return [_TidiedLine("", line.strip()) for line in lines]


def _statement(text: str, piece: Slice, node: ast.Statement | int, comment: str) -> list[_TidiedLine]:
    source = text[piece.start : piece.end].split("\n")
    if any(comment_start(line) < len(line) or not line.strip() for line in source):
        return _as_it_was(text, piece, source, comment)
    if isinstance(node, int):
        return [_TidiedLine(f"lnnkit {node}", comment)]
    *lines, last = _wrapped(format_statement(node, as_written=True))
    return [*map(_TidiedLine, lines), _TidiedLine(last, comment)]


def _as_it_was(text: str, piece: Slice, source: list[str], comment: str) -> list[_TidiedLine]:
    """A statement with comments inside: only its indentation and trailing blanks change."""
    indent = piece.start - (text.rfind("\n", 0, piece.start) + 1)
    lines = []
    for number, line in enumerate(source):
        shift = 0 if number == 0 else min(indent, len(line) - len(line.lstrip()))
        lines.append(line[shift:].rstrip())
    lines[-1] = f"{lines[-1]}  {comment}" if comment else lines[-1]
    return [_TidiedLine(line) for line in lines]


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
        elif (
            lexeme.text in _BREAKS
            and lexeme.start > first
            and (best is None or (depth, _BREAKS[lexeme.text]) <= best[:2])
        ):
            best = (depth, _BREAKS[lexeme.text], lexeme.start)
    return best[2] if best else None


def _joined(lines: list[_TidiedLine]) -> str:
    """The text of the lines: repeated blank lines removed, trailing comments of neighbouring lines aligned."""
    texts: list[str] = []
    for _, neighbours in groupby(lines, lambda line: bool(line.code)):
        block = list(neighbours)
        column = max((len(line.code) for line in block if line.comment and len(line.code) <= ALIGNED), default=0)
        texts += [
            f"{line.code:<{column}}  {line.comment}" if line.comment and line.code else line.code or line.comment
            for line in block
        ]
    folded = [text for index, text in enumerate(texts) if text or (index > 0 and texts[index - 1])]
    return "\n".join(folded).strip("\n") + "\n" if any(folded) else ""
