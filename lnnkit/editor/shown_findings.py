"""Findings as shown in one text. A finding about another file is shown where this text names that file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lnnkit.editor.program_files import Library, ProgramFile, resolved
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Severity

MOST = 200  # findings of one text; editors slow down with thousands


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding at ``start:end``; its message ends with the hint."""

    start: int
    end: int
    severity: Severity
    code: str
    message: str


def shown_findings(found: Sequence[Diagnostic], file: ProgramFile, library: Library) -> list[ShownFinding]:
    """At most `MOST` findings; the last one says how many more there are."""
    kept = found if len(found) <= MOST else found[: MOST - 1]
    shown = list(dict.fromkeys(_shown(each, file, library) for each in kept))
    if len(kept) < len(found):
        more = f"and {len(found) - len(kept):,} more findings; `lnnkit check` lists all"
        shown.append(ShownFinding(0, 0, "warning", "more-findings", more))
    return shown


def _shown(finding: Diagnostic, file: ProgramFile, library: Library) -> ShownFinding:
    message = f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
    span = finding.span
    own = span is not None and resolved(Path(span.source.path)) == file.path
    if finding.file is None and span is not None and own:
        return ShownFinding(span.start, span.end, finding.severity, finding.code, message)
    place = ":".join(str(part) for part in (finding.path, finding.line, finding.column) if part is not None)
    start, end = (span.start, span.end) if span is not None and own else _anchor(finding, file, library)
    return ShownFinding(start, end, finding.severity, finding.code, f"{place}: {message}" if place else message)


def _anchor(finding: Diagnostic, file: ProgramFile, library: Library) -> tuple[int, int]:
    """The statement that leads to the file of a finding; if there is none, the first line."""
    for path in (finding.file, finding.span.source.path if finding.span else None):
        if path is None:
            continue
        wanted = resolved(Path(path))
        for statement, targets in _named(file, library):
            if wanted in targets:
                return statement.span.start, statement.span.end
    return 0, len(file.text.partition("\n")[0])


def _named(file: ProgramFile, library: Library) -> Iterator[tuple[ast.Statement, frozenset[Path]]]:
    """The statements that name files, with the files that they lead to."""
    for statement in file.program.statements:
        if isinstance(statement, ast.LoadStatement | ast.LabelTableStatement):
            yield statement, frozenset([resolved(file.path.parent / statement.table.path)])
    for statement, path in file.imports():
        linked = library.linked(path)
        reached = {path}
        for each in linked.files if linked else ():
            reached.add(each.path)
            for other in each.program.statements:
                if isinstance(other, ast.LoadStatement | ast.LabelTableStatement):
                    reached.add(resolved(each.path.parent / other.table.path))
        yield statement, frozenset(reached)
