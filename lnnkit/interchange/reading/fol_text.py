"""A text with first-order logic -> its lines, classified as headings, comments, glosses and conclusions, without
numbering."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lnnkit.interchange.first_order import Liberties, Stated, UnreadableFormula
from lnnkit.interchange.reading.fol_reading import Line, read_line
from lnnkit.interchange.reading.fol_tokens import words_of
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Source

_HEADING = re.compile(r"(?:#+\s*|\*\*)?([A-Za-z][A-Za-z \-]*?)(?:\*\*)?\s*(:?)(?:\*\*)?")
_INLINE_HEADING = re.compile(
    r"(?:\*\*)?(premises?|conclusions?|query|queries|goal|claims?|hypothesis)(?:\s*\d+)?(?:\*\*)?\s*:(?:\*\*)?\s*",
    re.IGNORECASE,
)
_PREMISES = ("premise", "premises", "facts", "rules", "axioms", "assumptions", "knowledge", "policy", "background")
_CONCLUSIONS = (
    "conclusion", "conclusions", "query", "queries", "question", "questions", "goal", "goals", "claim", "claims",
    "hypothesis",
)  # fmt: skip
_DECLARED = ("predicates", "predicate definitions", "predicate", "symbols", "vocabulary")
_IGNORED = ("constants", "variables", "explanation", "reasoning", "first-order-logic premises", "fol")
_COMMENT = re.compile(r"(?:#|//|%|--\s)")
_NUMBERING = re.compile(r"(?:\(?\d{1,3}[.):]\s+|\(\d{1,3}\)\s*|[•*·‣]\s+)")
_DASH = re.compile(r"[-–—]\s+")
_TITLE = re.compile(r"([^\W\d_][\w-]*(?: \d+)?):(?![-:=])\s+(?=\S)")
_ASKED = re.compile(r"(?:⊢|⊨|\\(?:vdash|models|therefore)\b|\|-|\|=|∴|\?-|\?|therefore,?\s|query\s)\s*", re.I)
_GLOSS = re.compile(r"\s*(?::::*|#|//)\s*")
_JOINED = ("AND", "OR", "XOR", "IMPLIES", "IFF")


def read_fol(source: Source, liberties: Liberties) -> tuple[list[Stated], dict[str, str], list[Diagnostic]]:
    """The formulas of a text, one a line; what `Predicates:` says of predicates; and an error for each line that cannot
    be read."""
    stated: list[Stated] = []
    errors: list[Diagnostic] = []
    glosses: dict[str, str] = {}
    for line in joined(source, lines_of(source, liberties)):
        if line.role == "predicate":
            head = source.text[line.start : line.end].strip()
            name = head.partition("(")[0].strip()
            if name:
                glosses[name] = line.gloss or head
            continue
        try:
            stated.append(read_line(source, line, liberties))
        except UnreadableFormula as problem:
            errors.append(problem.diagnostic)
    return stated, glosses, errors


def lines_of(source: Source, liberties: Liberties) -> list[Line]:
    """The lines with formulas, what stands around these cut off."""
    found: list[Line] = []
    role, begin = "axiom", 0
    for text in source.text.splitlines(keepends=True):
        start, begin = begin, begin + len(text)
        stripped = text.strip()
        if not stripped or stripped.startswith("```"):
            continue
        heading = _HEADING.fullmatch(stripped)
        named = _section(heading[1]) if heading and (heading[2] or stripped[0] in "#*") else None
        if named is not None:
            role = named
        elif not _COMMENT.match(stripped) and role != "ignored":
            start += len(text) - len(text.lstrip())
            found.append(_cut(source, start, start + len(stripped), role, liberties))
    return found


def _section(heading: str) -> str | None:
    words = heading.strip().lower()
    for names, role in ((_PREMISES, "axiom"), (_CONCLUSIONS, "query"), (_DECLARED, "predicate"), (_IGNORED, "ignored")):
        if words in names or (role != "ignored" and words.split()[-1] in names):
            return role
    return None


def _cut(source: Source, start: int, end: int, role: str, liberties: Liberties) -> Line:
    text, name = source.text, None
    if match := _NUMBERING.match(text, start, end):
        start = match.end()
    elif match := _DASH.match(text, start, end):
        message = "a dash and a space at the head of a line are read as a bullet"
        first = all(each.code != "dash-as-bullet" for each in liberties.found)
        if first:
            liberties.note("dash-as-bullet", message, "write `¬` for a negation", start, match.end())
        start = match.end()
    if match := _INLINE_HEADING.match(text, start, end):
        role, start = _section(match[1]) or role, match.end()
    if match := _ASKED.match(text, start, end):
        role, start = "query", match.end()
    if role != "predicate" and (match := _TITLE.match(text, start, end)):
        name, start = match[1], match.end()
    gloss = ""
    if match := _GLOSS.search(text, start, end):
        gloss, end = text[match.end() : end].strip(), match.start()
    return Line(start, end, role, name, gloss)


def joined(source: Source, lines: Sequence[Line]) -> list[Line]:
    """The lines with continuation lines joined: a formula continues if a line ends with a connective or the next one
    begins with one."""
    found: list[Line] = []
    for line in lines:
        before = found[-1] if found else None
        if before and before.role == line.role and not line.name and _goes_on(source, before, line):
            found[-1] = replace(before, end=line.end, gloss=" ".join(filter(None, (before.gloss, line.gloss))))
        else:
            found.append(line)
    return found


def _goes_on(source: Source, before: Line, line: Line) -> bool:
    if before.role == "predicate" or "\n" not in source.text[before.end : line.start]:
        return False
    between = source.text[before.end : line.start]
    if between.strip():
        return False
    last, first = words_of(source, before.start, before.end)[-1:], words_of(source, line.start, line.end)[:1]
    return bool(last and last[0].kind in (*_JOINED, "COMMA")) or bool(first and first[0].kind in _JOINED)
