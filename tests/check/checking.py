"""Helpers: a text to its checked program and findings."""

from __future__ import annotations

from pathlib import Path

from lnnkit.check import check
from lnnkit.check.program import CheckedProgram
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse


def findings(text: str, base: Path = Path(), path: str = "test.lnn", read_data: bool = True) -> list[Diagnostic]:
    program, problems = parse(text, path)
    assert not problems, problems[0].render()
    checked, found = check(program, base, read_data=read_data)
    assert (checked is None) == any(finding.severity == "error" for finding in found)
    return found


def checked(text: str, base: Path = Path(), path: str = "test.lnn", read_data: bool = True) -> CheckedProgram:
    """The checked program of a text without errors."""
    program, problems = parse(text, path)
    result, found = check(program, base, read_data=read_data)
    assert result is not None, "\n".join(finding.render() for finding in (*problems, *found))
    return result


def shown(found: list[Diagnostic]) -> list[tuple[str, str | None, int | None, int | None]]:
    """Each finding as its code, file, line and column."""
    return [(finding.code, finding.path, finding.line, finding.column) for finding in found]
