"""Patterns of whole statements as people word them, each with what to write instead.

A pattern covers a statement after its keyword; its group `at` is what the finding points at. ``hint`` is filled in with
the pattern's groups, in braces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault

LONGEST = 400  # characters of a statement: what people type by hand
ATOM = r"[~¬]?[^\W\d][\w-]*\([^()]*\)"
SHARE = r"(?:0?\.\d+|[01](?:\.0+)?)"
VALUE = r"-?\d+(?:\.\d+)?"
RULES = ("rule", "axiom")
FACTS = ("fact", "label")
FORMULAS = (*RULES, "query")


@dataclass(frozen=True)
class Phrase:
    """``hint`` is a template, or a function of the groups."""

    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    code: str
    message: str
    hint: str | Callable[[dict[str, str]], str]


def phrasing(
    keywords: tuple[str, ...], pattern: str, code: str, message: str, hint: str | Callable[[dict[str, str]], str]
) -> Phrase:
    """A phrase with its pattern compiled; blanks may follow it."""
    return Phrase(keywords, re.compile(rf"(?:{pattern})\s*", re.DOTALL), code, message, hint)


def covered(fault: Fault, phrases: Sequence[Phrase]) -> Diagnostic | None:
    """The first phrase that covers the statement."""
    if fault.keyword is None:
        return None
    text, start = fault.source.text, fault.piece.start
    head = re.match(rf"\s*{fault.keyword}\s+", text[start : fault.piece.end])
    if head is None:
        return None
    start += head.end()
    if fault.piece.end - start > LONGEST:
        return None
    for each in phrases:
        if fault.keyword not in each.keywords:
            continue
        match = each.pattern.fullmatch(text, start, fault.piece.end)
        if match is None:
            continue
        found = {"keyword": fault.keyword, **{name: value or "" for name, value in match.groupdict().items()}}
        hint = each.hint.format(**found) if isinstance(each.hint, str) else each.hint(found)
        return fault.report(each.code, each.message, hint, *match.span("at"))
    return None
