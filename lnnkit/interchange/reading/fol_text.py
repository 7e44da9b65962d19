"""A text with first-order logic -> its lines, classified as headings, comments, glosses and conclusions, without
numbering."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lnnkit.errors import ProgramError
from lnnkit.interchange.first_order import Liberties, Stated
from lnnkit.interchange.reading.fol_reading import LINKS, read_line
from lnnkit.interchange.reading.fol_tokens import words_of
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Source, Span

_HEADING = re.compile(r"(?:#+\s*|\*\*)?([A-Za-z][A-Za-z \-]*?)(?:\*\*)?\s*(:?)(?:\*\*)?")
_INLINE_HEADING = re.compile(
    r"(?:\*\*)?(premises?|conclusions?|query|queries|goal|claims?|hypothesis)(?:\s*\d+)?(?:\*\*)?\s*:(?:\*\*)?\s*",
    re.IGNORECASE,
)
_IGNORED = "ignored"
_SECTIONS = {
    "axiom": ("premise", "premises", "facts", "rules", "axioms", "assumptions", "knowledge", "policy", "background"),
    "query": (
        "conclusion", "conclusions", "query", "queries", "question", "questions", "goal", "goals", "claim", "claims",
        "hypothesis",
    ),
    "predicate": ("predicates", "predicate definitions", "predicate", "symbols", "vocabulary"),
    _IGNORED: ("constants", "variables", "explanation", "reasoning", "first-order-logic premises", "fol"),
}  # fmt: skip
_COMMENT = re.compile(r"(?:#|//|%|--\s)")
_NUMBERING = re.compile(r"(?:\(?\d{1,3}[.):]\s+|\(\d{1,3}\)\s*|[•*·‣]\s+)")
_DASH = re.compile(r"[-–—]\s+")
_TITLE = re.compile(r"([^\W\d_][\w-]*(?: \d+)?):(?![-:=])\s+(?=\S)")
_ASKED = re.compile(r"(?:⊢|⊨|\\(?:vdash|models|therefore)\b|\|-|\|=|∴|\?-|\?|therefore,?\s|query\s)\s*", re.I)
_GLOSS = re.compile(r"\s*(?::::*|#|//)\s*")


def read_fol(source: Source, liberties: Liberties) -> tuple[list[Stated], dict[str, str], list[Diagnostic]]:
    """The formulas of a text, one a line; what `Predicates:` says of predicates; and an error for each line that cannot
    be read."""
    lines: list[Stated] = []
    for line in _lines(source, liberties):
        if lines and not line.name and _goes_on(lines[-1], line):
            before = lines.pop()
            gloss = " ".join(filter(None, (before.gloss, line.gloss)))
            line = replace(before, span=replace(before.span, end=line.span.end), gloss=gloss)
        lines.append(line)
    stated: list[Stated] = []
    errors: list[Diagnostic] = []
    glosses: dict[str, str] = {}
    for line in lines:
        if line.role == "predicate":
            if name := line.span.text.partition("(")[0].strip():
                glosses[name] = line.gloss or line.span.text.strip()
            continue
        try:
            stated.append(read_line(line, liberties))
        except ProgramError as problem:
            errors += problem.diagnostics
        except RecursionError:
            message, hint = "this formula is nested too deeply", "split it into several formulas"
            errors.append(Diagnostic("too-deep", message, hint, line.span))
    return stated, glosses, errors


def _lines(source: Source, liberties: Liberties) -> Iterator[Stated]:
    """The lines with formulas, what stands around these cut off."""
    role, begin = "axiom", 0
    for text in source.text.splitlines(keepends=True):
        start, begin = begin + len(text) - len(text.lstrip()), begin + len(text)
        stripped = text.strip()
        if not stripped or stripped.startswith("```"):
            continue
        heading = _HEADING.fullmatch(stripped)
        named = _section(heading[1]) if heading and (heading[2] or stripped[0] in "#*") else None
        if named is not None:
            role = named
        elif not _COMMENT.match(stripped) and role != _IGNORED:
            yield _cut(Span(source, start, start + len(stripped)), role, liberties)


def _section(heading: str) -> str | None:
    words = heading.strip().lower()
    for role, names in _SECTIONS.items():
        if words in names or (role != _IGNORED and words.split()[-1] in names):
            return role
    return None


def _cut(span: Span, role: str, liberties: Liberties) -> Stated:
    """The line that a stretch of text holds, after its numbering, its heading, and its name."""
    text, start, end = span.source.text, span.start, span.end
    name, gloss = None, ""
    if match := _NUMBERING.match(text, start, end):
        start = match.end()
    elif match := _DASH.match(text, start, end):
        message = "a dash and a space at the head of a line are read as a bullet"
        if all(note.code != "dash-as-bullet" for note in liberties.findings):
            liberties.note("dash-as-bullet", message, "write `¬` for a negation", replace(span, end=match.end()))
        start = match.end()
    if match := _INLINE_HEADING.match(text, start, end):
        role, start = _section(match[1]) or role, match.end()
    if match := _ASKED.match(text, start, end):
        role, start = "query", match.end()
    if role != "predicate" and (match := _TITLE.match(text, start, end)):
        name, start = match[1], match.end()
    if match := _GLOSS.search(text, start, end):
        gloss, end = text[match.end() : end].strip(), match.start()
    return Stated(Span(span.source, start, end), role, name, gloss)


def _goes_on(before: Stated, line: Stated) -> bool:
    """Whether a line continues the formula of the one before it: that ends with a connective, or this begins with
    one."""
    between = line.span.source.text[before.span.end : line.span.start]
    if before.role != line.role or before.role == "predicate" or "\n" not in between or between.strip():
        return False
    last, first = words_of(before.span)[-1:], words_of(line.span)[:1]
    return any(word.type in (*LINKS, "_COMMA") for word in last) or any(word.type in LINKS for word in first)
