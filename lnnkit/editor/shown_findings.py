"""Findings as shown in one text, and the changes that their hints name literally, each tried before it is offered. A
finding about another file is shown where this text names that file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from lnnkit.editor.name_places import Edit
from lnnkit.editor.program_files import Library, ProgramFile, line_around, resolved
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Severity
from lnnkit.syntax.identifiers import DECLARING, KEYWORDS

MOST = 200  # findings of one text; editors slow down with thousands
TRIED = 4  # changes that are tried for a finding
_LITERAL = re.compile(r"`([^`]+)`|(\"[^\"\s]+\")")
_REMOVED = re.compile(r"remove (?:it|them|the)\b|leave (?:it|them) out")
_TOKEN = re.compile(r"\w+(?:[.,]\w+)*|\"[^\"]*\"|[<>=!]+|[^\w\s]")
_ATOM = re.compile(r"[^\W\d]\w*\(")
Findings = Callable[[str], Sequence[Diagnostic]]


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding at ``start:end``; its message ends with the hint."""

    start: int
    end: int
    severity: Severity
    code: str
    message: str


def shown_findings(findings: Sequence[Diagnostic], file: ProgramFile, library: Library) -> list[ShownFinding]:
    """At most `MOST` findings; the last one says how many more there are."""
    kept = findings if len(findings) <= MOST else findings[: MOST - 1]
    shown = list(dict.fromkeys(_shown(finding, file, library) for finding in kept))
    if len(kept) < len(findings):
        more = f"and {len(findings) - len(kept):,} more findings; `lnnkit check` lists all"
        shown.append(ShownFinding(0, 0, "warning", "more-findings", more))
    return shown


def _shown(finding: Diagnostic, file: ProgramFile, library: Library) -> ShownFinding:
    message = f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
    span = finding.span
    here = span is not None and resolved(Path(span.source.path)) == file.path
    if finding.file is None and span is not None and here:
        return ShownFinding(span.start, span.end, finding.severity, finding.code, message)
    place = ":".join(str(part) for part in (finding.path, finding.line, finding.column) if part is not None)
    start, end = (span.start, span.end) if span is not None and here else _anchor(finding, file, library)
    return ShownFinding(start, end, finding.severity, finding.code, f"{place}: {message}" if place else message)


def _anchor(finding: Diagnostic, file: ProgramFile, library: Library) -> tuple[int, int]:
    """The statement that leads to the file of a finding; if there is none, the first line."""
    for path in (finding.file, finding.span.source.path if finding.span else None):
        for statement, targets in _targets(file, library) if path else ():
            if resolved(Path(path or "")) in targets:
                return statement.span.start, statement.span.end
    return 0, len(file.text.partition("\n")[0])


def _targets(file: ProgramFile, library: Library) -> Iterator[tuple[ast.Statement, set[Path]]]:
    """The statements that name files, with the files that they lead to."""
    yield from ((statement, {path}) for statement, path in file.tables())
    for statement, path in file.imports():
        linked = library.linked(path)
        files = linked.files if linked else ()
        yield (
            statement,
            {path, *(imported.path for imported in files)}.union(
                table for imported in files for _, table in imported.tables()
            ),
        )


@dataclass(frozen=True, slots=True)
class QuickFix:
    title: str
    edit: Edit


def quick_fixes(text: str, finding: Diagnostic, findings: Findings) -> list[QuickFix]:
    """The changes of ``text`` that the hint of a finding in it names and that end the finding without another: its
    place is replaced, or its line, or a statement is put before that. ``findings`` checks a text."""
    named = list(dict.fromkeys(_offered(text, finding)))[:TRIED]
    before = Counter(map(_key, findings(text))) if named else Counter[tuple[str, str]]()
    fixes: list[QuickFix] = []
    for fix in named:
        after = Counter(map(_key, findings(text[: fix.edit.start] + fix.edit.text + text[fix.edit.end :])))
        if after < before and after[_key(finding)] < before[_key(finding)]:
            fixes.append(fix)
    return fixes


def _key(finding: Diagnostic) -> tuple[str, str]:
    return finding.code, finding.message


def _offered(text: str, finding: Diagnostic) -> Iterator[QuickFix]:
    span = finding.span
    if span is None:
        return
    start, end = line_around(text, span.start, span.end)
    if _REMOVED.match(finding.hint):
        yield QuickFix("Remove it", Edit(span.start, span.end, ""))
    for match in _LITERAL.finditer(finding.hint):
        literal = match[1] or match[2]
        word, _, rest = literal.partition(" ")
        if word not in KEYWORDS or not rest:
            edit = _replacing(text, start, end, span.start, span.end, literal)
            line = text[start : edit.start] + edit.text + text[edit.end : end]
            if not (Counter(_ATOM.findall(line)) - Counter(_ATOM.findall(text[start:end]))) or "(" not in literal:
                yield QuickFix(f"Replace by `{literal}`", edit)  # else the line would say something twice
            continue
        if finding.hint.startswith(f"write `{literal}`") and "below it" not in finding.hint:  # others are examples
            yield QuickFix(f"Replace the line by `{literal}`", Edit(start, end, literal))
        if word in (*DECLARING, "sort"):
            yield QuickFix(f"Insert `{literal}`", Edit(start, start, f"{literal}\n"))


def _replacing(text: str, first: int, last: int, start: int, end: int, literal: str) -> Edit:
    """The replacement of a place by what a hint names, in a line from ``first`` to ``last``. Tokens beside the place
    that this has too are replaced with it: of `age(X) is 34`, ``is`` by `age(X) = 34`."""
    tokens = [(first + match.start(), first + match.end()) for match in _TOKEN.finditer(text[first:last])]
    if text[start:end].partition(" ")[0] in KEYWORDS:  # a whole statement: the word that is nearly named
        near = get_close_matches(literal, [text[a:b] for a, b in tokens] + [f'"{text[a:b]}"' for a, b in tokens], 1)
        start, end = next(
            ((a, b) for a, b in tokens if near and text[a:b].strip('"') == near[0].strip('"')), (start, end)
        )
        literal = literal if text[start] == '"' else literal.strip('"')
    start = min([start, *(a for a, b in tokens if a < start < b)])  # a token that it is a part of
    end = max([end, *(b for a, b in tokens if a < end < b)])
    within = _TOKEN.findall(literal)
    for a, b in reversed([token for token in tokens if token[1] <= start]):
        if text[a:b] not in within:
            break
        start = a
    for a, b in [token for token in tokens if token[0] >= end]:
        if text[a:b] not in within:
            break
        end = b
    if text[start:end].count("(") > text[start:end].count(")") and text[end : end + 1] == ")":
        end += 1
    before, after = text[start - 1 : start], text[end : end + 1]
    apart = before.isalnum() or (after.isspace() and before in (")", "]", "}", '"'))
    return Edit(start, end, f" {literal}" if apart else literal)
