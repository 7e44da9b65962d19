"""Spans of findings, texts for the positions that they refer to, and the name that a user probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.identifiers import TEXTS_UNSEARCHED
from lnnkit.syntax.printer import format_predicate, format_sorts

T = TypeVar("T")


def error(code: str, span: Span, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(code, message, hint, span)


def warning(code: str, span: Span, message: str, hint: str = "") -> Diagnostic:
    return Diagnostic(code, message, hint, span, "warning")


def text_function(name: str, span: Span, declare: str) -> Diagnostic:
    """The error for a function of texts, as other languages have."""
    hint = f"{TEXTS_UNSEARCHED}; else declare it: {declare}"
    return error("text-function", span, f"`{name}` is not a function of the language", hint)


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
    word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)").search(span.source.text, span.start + after)
    return Span(span.source, *word.span()) if word and text and word.end() <= span.end else span


def name_span(atom: ast.Atom) -> Span:
    """The name of an atom, without its arguments."""
    if not atom.arguments:
        return atom.span
    text = atom.span.text
    end = text.find('"', 1) + 1 if text.startswith('"') else text.find("(")
    width = len(text[:end].rstrip()) if end > 0 else len(text)
    return Span(atom.span.source, atom.span.start, atom.span.start + width)


def short(node: ast.Node) -> str:
    """The text of a node, shortened for a message."""
    text = node.span.on_one_line
    return text if len(text) <= 40 else text[:37] + "..."


def signature(name: str, arity: int | None) -> str:
    """The signature of a predicate or number with this many arguments, without its keyword."""
    return format_predicate(name) + format_sorts(["entity"] * (arity or 0))


CUTOFF = 0.7  # difflib's ratio: one wrong letter in four
_DIGITS = re.compile(r"\d+")
SEARCHES = 40  # findings whose name is compared with all names; later ones at most with names one edit away
MOST = 2_000  # names that are compared letter by letter; beyond, only those that begin alike


def nearest(name: str, candidates: Iterable[str], cutoff: float = CUTOFF) -> str | None:
    """The candidate that equals ``name`` except for case or for two swapped letters; otherwise the most similar one, or
    None."""
    folded = name.casefold()
    others = sorted({candidate for candidate in candidates if candidate != name})
    for alike in (str.__eq__, _swapped):
        for candidate in others:
            if alike(folded, candidate.casefold()):
                return candidate
    if len(others) > MOST:
        others = [other for other in others if other[:2].casefold() == folded[:2]][:MOST]
    by_folded = {other.casefold(): other for other in reversed(others)}
    close = difflib.get_close_matches(folded, by_folded, n=1, cutoff=cutoff)
    return by_folded[close[0]] if close else None


def without_numbers(name: str) -> str:
    """A case-folded name with each number replaced by 0. Names that differ only in a number, such as `P1` and `P10`,
    are different on purpose."""
    return _DIGITS.sub("0", name.casefold())


class OneEdit:
    """Names that differ in one letter, one more, one less, or two swapped ones; built in time linear in their
    number."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: dict[str, list[str]] = {}
        for name in names:
            for key in _shortened(name):
                self._names.setdefault(key, []).append(name)

    def of(self, name: str) -> set[str]:
        """The names one edit away, and some that are two edits away."""
        return {other for key in _shortened(name) for other in self._names.get(key, ()) if other != name}


def _shortened(name: str) -> set[str]:
    """A name, and what is left of it without one of its letters."""
    folded = name.casefold()
    return {folded, *(folded[:place] + folded[place + 1 :] for place in range(len(folded)))}


def _swapped(one: str, other: str) -> bool:
    """Whether two neighbouring letters are swapped and nothing else differs; for short names the similarity ratio
    misses this."""
    if len(one) != len(other) or len(one) < 3:
        return False
    first = next((place for place, letter in enumerate(one) if letter != other[place]), len(one))
    return first < len(one) and other == one[:first] + one[first : first + 2][::-1] + one[first + 2 :]


def did_you_mean(name: str | None, otherwise: str) -> str:
    """A hint: the similar name if there is one, and what to do otherwise."""
    return f"did you mean `{name}`? Otherwise {otherwise}" if name else otherwise
