"""Spans of findings, and texts for the positions that they refer to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_predicate
from lnnkit.syntax.span import Span

T = TypeVar("T")


def error(code: str, span: Span, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(code, message, hint, span)


def warning(code: str, span: Span, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(code, message, hint, span, "warning")


def repeated(items: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[tuple[T, T]]:
    """Each item with the key of an earlier one, behind the first of these."""
    first: dict[Hashable, T] = {}
    for item in items:
        before = first.setdefault(key(item), item)
        if before is not item:
            yield before, item


def place(span: Span, other: Span) -> str:
    """``line 3``, or ``people.lnn line 3`` when the two places are in different files."""
    return f"line {span.line}" if span.source.path == other.source.path else f"{span.source.path} line {span.line}"


def find(span: Span, text: str, after: int = 0) -> Span:
    """The first whole word ``text`` in ``span``, at least ``after`` code points from its start; ``span`` itself if
    there is none."""
    source = span.source.text
    start = source.find(text, span.start + after, span.end) if text else -1
    while start >= 0:
        end = start + len(text)
        if not (_wordlike(source, start - 1) or _wordlike(source, end)):
            return Span(span.source, start, end)
        start = source.find(text, end, span.end)
    return span


def _wordlike(text: str, index: int) -> bool:
    return 0 <= index < len(text) and (text[index].isalnum() or text[index] == "_")


def name_span(atom: ast.Atom) -> Span:
    """The name of an atom, without its arguments."""
    if not atom.arguments:
        return atom.span
    text = atom.span.text
    end = text.find('"', 1) + 1 if text.startswith('"') else text.find("(")
    width = len(text[:end].rstrip()) if end > 0 else len(text)
    return Span(atom.span.source, atom.span.start, atom.span.start + width)


def signature(name: str, arity: int | None) -> str:
    """The signature of a predicate or number with this many arguments, without its keyword."""
    return f"{format_predicate(name)}({', '.join(['entity'] * arity)})" if arity else format_predicate(name)
