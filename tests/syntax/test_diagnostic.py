"""What a finding looks like on a terminal: the source line, cut where it is long, and a caret that fits it."""

from __future__ import annotations

import pytest

from lnnkit.syntax.diagnostic import GAP, WIDEST, Diagnostic, Source, Span


def rendered(text: str, start: int, end: int) -> tuple[str, str]:
    """The source line and the caret line."""
    lines = Diagnostic("code", "message", "", Span(Source("f.lnn", text), start, end)).render().split("\n")
    assert len(lines) == 3 and all(line.startswith("    ") for line in lines[1:])
    return lines[1][4:], lines[2][4:]


def marked(line: str, caret: str) -> str:
    return line[len(caret) - len(caret.lstrip()) : len(caret)]


def test_a_short_line_is_shown_whole() -> None:
    assert rendered("rule A\nrule Bcd...\n", 12, 18) == ("rule Bcd...", "     ^^^^^^")
    assert rendered("rule A", 6, 6) == ("rule A", "      ^")
    line = "x" * WIDEST
    assert rendered(line, WIDEST - 1, WIDEST) == (line, " " * (WIDEST - 1) + "^")


@pytest.mark.parametrize("place", [0, 5, 100, 154, 157, 158, 160, 500, 9_840, 9_990, 9_999])
def test_a_long_line_is_cut_around_the_caret(place: int) -> None:
    text = "a" * place + "B" + "c" * (9_999 - place)
    line, caret = rendered(text, place, place + 1)
    assert len(line) <= WIDEST
    assert marked(line, caret) == "B"
    assert line.startswith(GAP) == (place > 156)
    assert line.endswith(GAP) == (place < 9_890)
    assert line.removeprefix(GAP).removesuffix(GAP) in text


@pytest.mark.parametrize("place", [0, 150, 5_000])
def test_a_caret_wider_than_the_line_ends_where_the_line_is_cut(place: int) -> None:
    text = "a" * place + "B" * (10_000 - place)
    line, caret = rendered(text, place, len(text))
    assert set(marked(line, caret)) == {"B"}
    assert len(caret) <= WIDEST - len(GAP)


def test_the_end_of_a_long_line() -> None:
    line, caret = rendered("a" * 1_000, 1_000, 1_000)
    assert line == GAP + "a" * (WIDEST - len(GAP))
    assert caret == " " * WIDEST + "^"


def test_tabs_before_the_caret_are_kept() -> None:
    line, caret = rendered("a" * 990 + "\tB" + "c" * 1_000, 991, 992)
    assert line[caret.index("\t")] == "\t" and marked(line, caret) == "B"
