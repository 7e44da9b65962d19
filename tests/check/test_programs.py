"""Every program of the Markdown files in this folder gives exactly the findings that it states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.check.checking import findings

HERE = Path(__file__).parent
_BLOCK = re.compile(r"^```lnn\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"^#(?:<|(?P<gap> *)(?P<carets>\^+)) (?P<severity>error|warning) (?P<code>[a-z-]+)(?P<pieces>.*)$")


@dataclass(frozen=True)
class Expected:
    severity: str
    code: str
    line: int
    column: int
    width: int | None
    pieces: tuple[str, ...]


def blocks() -> list[tuple[str, str]]:
    found = []
    for path in sorted(HERE.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        for number, match in enumerate(_BLOCK.finditer(text), 1):
            heading = re.findall(r"^# ([A-Z].*)$", text[: match.start()], re.MULTILINE)[-1]
            found.append((f"{path.stem} {number}: {heading}", match[1]))
    return found


def expected(program: str) -> list[Expected]:
    findings, above = [], 0
    for number, line in enumerate(program.splitlines(), 1):
        if mark := _MARK.match(line):
            carets = mark["carets"]
            column = len(mark["gap"]) + 2 if carets else 1
            pieces = tuple(re.findall(r"'([^']*)'", mark["pieces"]))
            width = len(carets) if carets else None
            findings.append(Expected(mark["severity"], mark["code"], above, column, width, pieces))
        else:
            above = number
    return findings


@pytest.mark.parametrize("program", [pytest.param(text, id=name) for name, text in blocks()])
def test_findings(program: str) -> None:
    wanted = expected(program)
    found = findings(program, HERE)
    shown = "\n".join(finding.render() for finding in found)
    places = [(each.severity, each.code, each.line, each.column) for each in wanted]
    # marks of one line may stand in any order, the findings come by place
    assert [(each.severity, each.code, each.line, each.column) for each in found] == sorted(
        places, key=lambda p: p[2:]
    ), shown
    for each in wanted:
        finding = next(f for f in found if (f.code, f.line, f.column) == (each.code, each.line, each.column))
        assert finding.span is not None and finding.hint, shown
        assert each.width in (None, finding.span.end - finding.span.start), shown
        for piece in each.pieces:
            assert piece in finding.message + " " + finding.hint, shown


def test_every_code_is_met() -> None:
    sources = (path.read_text(encoding="utf-8") for path in (HERE.parents[1] / "lnnkit" / "check").glob("*.py"))
    codes = set(re.findall(r'(?:error|warning)\(\s*"([a-z-]+)"', "\n".join(sources)))
    tests = "\n".join(path.read_text(encoding="utf-8") for path in HERE.iterdir() if path.is_file())
    assert len(codes) > 40
    assert {code for code in codes if code not in tests} == set()
