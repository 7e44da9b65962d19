"""``lnnkit run``: which answers are shown, in which order, and in which colours."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from pathlib import Path

import pytest

from lnnkit.cli import main

RANKED = """\
fact P("10") = 0.2
fact P("2") = 0.9
fact P(c10)
fact P(c2) in [0.5, 0.9]
fact ~P(zoe)
query P(X)
"""


@pytest.fixture
def ranked(tmp_path: Path) -> str:
    (tmp_path / "p.lnn").write_text(RANKED)
    return str(tmp_path / "p.lnn")


def pass_for_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output, as `capsys` holds it during the test, passes for a terminal with colours."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


def shown(path: str, *options: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The entities of the first query's answers."""
    assert main(["run", path, "--format", "json", *options]) == 0
    return [each["bindings"]["X"] for each in json.loads(capsys.readouterr().out)["queries"][0]["answers"]]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ([], ["2", "10", "c10", "c2", "zoe"]),
        (["--sort", "X"], ["2", "10", "c2", "c10", "zoe"]),
        (["--sort", "X", "--reverse"], ["zoe", "c10", "c2", "10", "2"]),
        (["--reverse"], ["zoe", "c2", "c10", "10", "2"]),
        (["--sort", "lower"], ["c10", "2", "c2", "10", "zoe"]),
        (["--sort", "lower", "--reverse"], ["zoe", "10", "c2", "2", "c10"]),
        (["--sort", "upper"], ["c10", "2", "c2", "10", "zoe"]),  # 2 and c2 are equal, and keep their order
        (["--limit", "2"], ["2", "10"]),
        (["--limit", "0"], ["2", "10", "c10", "c2", "zoe"]),
        (["--only", "true,likely_true", "--sort", "upper", "--limit", "2"], ["c10", "2"]),
        (["--only", "Likely True", "--only", "false"], ["zoe"]),  # the last counts
        (["--only", "unknown"], []),
        (["--only", "true", "--alpha", "0.9"], ["2", "c10"]),
    ],
)
def test_chosen(options: list[str], wanted: list[str], ranked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(ranked, *options, capsys=capsys) == wanted


def test_csv_has_no_decoration(ranked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ranked, "--format", "csv", "--limit", "1", "--sort", "lower"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[1:] == [["c10", "1.0", "1.0", "true"]]


def test_the_table_counts_omitted_rows(ranked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ranked, "--limit", "1", "-q", "P(X)", "-q", "P(c2)", "--only", "likely_true,true"]) == 0
    out = capsys.readouterr().out
    assert "  2  [0.9, 0.9]  likely true\n  and 2 more; --limit 0 shows all\n\n" in out
    assert out.count("more") == 1
    assert main(["run", ranked, "--only", "unknown"]) == 0
    assert "P(X)\n  none of 5 answers has such a state\n" in capsys.readouterr().out


def test_more_with_thousands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "many.csv").write_text("a\n" + "".join(f"e{i}\n" for i in range(1304)))
    (tmp_path / "p.lnn").write_text('load P from "many.csv"\nquery P(X)\n')
    path = str(tmp_path / "p.lnn")
    assert main(["run", path]) == 0  # all where nobody reads it on a terminal
    assert capsys.readouterr().out.count("true") == 1304
    assert main(["run", path, "--limit", "100"]) == 0
    assert "\n  and 1,204 more; --limit 0 shows all\n" in capsys.readouterr().out


def test_a_variable_that_some_queries_have(ranked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ranked, "-q", "P(X)", "-q", "P(Row) & forall Y: P(Y)", "--sort", "Row"]) == 0
    capsys.readouterr()
    assert main(["run", ranked, "-q", "P(Row) | exists Y: P(Y)", "--sort", "Y"]) == 2
    err = capsys.readouterr().err
    assert err == "lnnkit run: error: --sort Y: no query has that variable; sort by lower, upper, Row\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--limit", "-1"], "must be a whole number of at least 0 (0 shows all); got '-1'"),
        (["--limit", "all"], "0 shows all"),
        (["--only", "tru"], "the states are contradiction, true, false, unknown, likely_true, likely_false, number"),
        (["--only", ""], "unknown state"),
        (["--sort"], "expected one argument"),
    ],
)
def test_wrong_options(options: list[str], said: str, ranked: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", ranked, *options]) == 2
    assert said in capsys.readouterr().err


def test_a_terminal_has_colours_and_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pass_for_terminal(monkeypatch)
    (tmp_path / "p.lnn").write_text("".join(f"fact P(e{i})\n" for i in range(120)) + "query P(X)\n")
    assert main(["run", str(tmp_path / "p.lnn")]) == 0
    out = capsys.readouterr().out
    assert out.count("\x1b[32mtrue\x1b[0m") == 100
    assert "and 20 more" in out
    bare = re.sub(r"\x1b\[[0-9;]*m", "", out)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["run", str(tmp_path / "p.lnn")]) == 0
    assert capsys.readouterr().out == bare


def test_explanations_without_colours(
    ranked: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pass_for_terminal(monkeypatch)
    assert main(["explain", ranked, "P(c10)"]) == 0
    assert "\x1b" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["explain", ranked, "P(c10)"]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([option]) == 0
    assert re.fullmatch(r"lnnkit \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)
