"""Statements of other languages that parse, as something else: comments after `--`, names of rules before `=`."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.span import Source, Span
from lnnkit.syntax.split import Slice

_OPAQUE = r'"(?:[^"\\\n]|\\.)*"|#[^\n]*'
_DASHES = re.compile(rf"{_OPAQUE}|(?<!\S)(?P<at>--+)(?=[ \t]+[^\W\d]|[ \t]*$)", re.MULTILINE)
_NAMED = re.compile(
    r"(?P<keyword>rule|axiom)\s+(?P<at>(?P<name>\"[^\"\n]*\"|[^\W\d][\w-]*)\s*:?=)\s*[~¬(]*[^\W\d][\w-]*\([^()]*\)"
)
_IMPORT = re.compile(r"^\s*import\b", re.MULTILINE)


def misread(source: Source, piece: Slice) -> Diagnostic | None:
    """The mistake in a statement that parses."""
    return _comment(source, piece, piece.end) or _rule_name(source, piece)


def dash_comment(fault: Fault) -> Diagnostic | None:
    """`fact P(a) -- why`, which ends before the comment's words."""
    return _comment(fault.source, fault.piece, fault.start + 1)


def _comment(source: Source, piece: Slice, end: int) -> Diagnostic | None:
    """A comment of SQL or Haskell that starts before ``end``."""
    if source.text.find("--", piece.start, piece.end) < 0:
        return None
    for match in _DASHES.finditer(source.text, piece.start, piece.end):
        if match["at"] and match.start("at") < end:
            span = Span(source, *match.span("at"))
            hint = "a comment starts with `#`; less a negative number is `- -`"
            return Diagnostic("foreign-comment", f"`{match['at']}` does not start a comment", hint, span)
    return None


def _rule_name(source: Source, piece: Slice) -> Diagnostic | None:
    """`rule r1 = P(X) -> Q(X)`, which compares r1, unless that may be a number."""
    match = _NAMED.match(source.text, piece.start, piece.end) if piece.keyword in ("rule", "axiom") else None
    if match is None:
        return None
    name = match["name"]
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source.text[match.end("at") : piece.end]):
        return None  # a variable, or an entity that the statement mentions
    if not name.startswith('"') and (
        re.search(rf"^\s*number\s+{re.escape(name)}\b", source.text, re.MULTILINE) or _IMPORT.search(source.text)
    ):
        return None
    span = Span(source, *match.span("at"))
    short = re.sub(r"\W+", "-", name.strip('"')).strip("-") or "r1"
    return Diagnostic("rule-name", "a rule's name has a colon", f"write `{short}:`", span)


def named_rule(fault: Fault) -> Diagnostic | None:
    """`rule r1 := P(X) -> Q(X)`, which does not parse."""
    return _rule_name(fault.source, fault.piece)
