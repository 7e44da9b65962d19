"""``lnnkit run --format csv``: one query on standard output, or in a file; several in a folder."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from lnnkit.cli import main

PROGRAM = """\
load Sent from "sent.csv"
predicate Name(person, name)
fact Name(p1, "Smith, Ann")
fact Name(p2, "so ""called")
query Sent(X, Y)
query Name(P, N)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sent.csv").write_text("a,b\np1,p2\n", encoding="utf-8")
    path = tmp_path / "p.lnn"
    path.write_text(PROGRAM.replace('""', '\\"'), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_several_queries_need_a_folder(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.lnn", "--format", "csv"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "prints one query, of 2; -o FOLDER writes a file for each, -q QUERY asks one" in err


def test_a_file_for_each_query(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):  # a second run replaces the files
        assert main(["run", "p.lnn", "--format", "csv", "-o", "out"]) == 0
        out, err = capsys.readouterr()
        assert out == "" and "Sent-X-Y.csv: 1 row of `Sent(X, Y)`" in err and "Name-P-N.csv: 2 rows" in err
    assert sorted(each.name for each in Path("out").iterdir()) == ["Name-P-N.csv", "Sent-X-Y.csv"]
    assert rows(Path("out/Sent-X-Y.csv")) == [["X", "Y", "lower", "upper", "state"], ["p1", "p2", "1.0", "1.0", "true"]]
    assert [row[:2] for row in rows(Path("out/Name-P-N.csv"))] == [
        ["P", "N"],
        ["p1", "Smith, Ann"],
        ["p2", 'so "called'],
    ]


def test_one_query_has_a_file_too(program: Path) -> None:
    assert main(["run", "p.lnn", "-q", "Sent(p1, p2)", "--format", "csv", "-o", "out"]) == 0
    assert rows(Path("out/Sent-p1-p2.csv")) == [["lower", "upper", "state"], ["1.0", "1.0", "true"]]


def test_queries_with_like_names_are_numbered(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "exists-X" + "-Sent-X-p1" * 5 + "-S"
    queries = ["Sent(X, Y)", "~Sent(X, Y)", "sent(X, Y)", "exists X: " + " | ".join(["Sent(X, p1)"] * 20)]
    program.write_text(PROGRAM.replace('""', '\\"') + "fact sent(p1, p2)\n", encoding="utf-8")
    options = [word for query in queries for word in ("-q", query)]
    assert main(["run", "p.lnn", *options, "--format", "csv", "-o", "out"]) == 0
    names = {each.name for each in Path("out").iterdir()}
    assert names == {"Sent-X-Y.csv", "Sent-X-Y-2.csv", "sent-X-Y-3.csv", f"{long}.csv"}
    assert len(long) == 60 and rows(Path("out/Sent-X-Y-2.csv"))[1][-1] == "false"


@pytest.mark.parametrize(
    ("output", "options", "code", "said"),
    [
        ("one.csv", ["-q", "Sent(X, Y)", "--format", "csv"], 2, "name a folder; for one query, `> one.csv`"),
        ("no/such/folder", ["--format", "csv"], 1, "there is no such folder"),
        ("p.lnn", ["--format", "csv"], 2, "-o p.lnn: name a folder"),
        ("out", [], 2, "-o needs --format csv"),
    ],
)
def test_outputs_that_are_refused(
    output: str, options: list[str], code: int, said: str, program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "p.lnn", "-o", output, *options]) == code
    assert said in capsys.readouterr().err
    assert program.read_text(encoding="utf-8").startswith("load") and rows(Path("sent.csv"))[0] == ["a", "b"]


def test_no_file_is_written_over_one_that_is_read(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("sent.csv").rename("Sent-X-Y.csv")
    program.write_text('load Sent from "Sent-X-Y.csv"\nquery Sent(X, Y)\n', encoding="utf-8")
    assert main(["run", "p.lnn", "--format", "csv", "-o", "."]) == 1
    assert "is read by the program" in capsys.readouterr().err
    assert rows(Path("Sent-X-Y.csv")) == [["a", "b"], ["p1", "p2"]]


FILTERED = """\
number amount(loan)
load amount from "loans.csv"
fact Loan(l1)
query amount(L) > 30000
"""


@pytest.fixture
def loans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = "".join(f"l{place},{1000 * place}\n" for place in range(1, 41)) + "l41,\n"
    (tmp_path / "loans.csv").write_text(f"loan,amount\n{values}", encoding="utf-8")
    (tmp_path / "f.lnn").write_text(FILTERED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("query", "kept", "false"),
    [
        ("amount(L) > 30000", 10, 30),
        ("20000 < amount(L) <= 30000", 10, 30),
        ("~(amount(L) > 30000)", 30, 10),
        ("amount(L) > 30000 & amount(L) < 33000 | amount(L) = 1000", 3, 37),
        ("amount(L) > 0", 40, 0),
        ("amount(L) + 1 > 2 * amount(L)", 0, 40),
    ],
)
def test_a_comparison_shows_what_it_keeps(
    query: str, kept: int, false: int, loans: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "f.lnn", "-q", query]) == 0
    out = capsys.readouterr().out
    assert out.count("  true\n") == kept and "[0, 0]" not in out
    lead = "and" if kept else "all"
    assert (f"\n  {lead} {false} false; --only false shows them\n" in out) == (false > 0)
    assert main(["run", "f.lnn", "-q", query, "--format", "csv"]) == 0  # all
    assert capsys.readouterr().out.count(",false\n") == false
    assert main(["run", "f.lnn", "-q", query, "--only", "false"]) == 0
    assert capsys.readouterr().out.count("[0, 0]") == false


@pytest.mark.parametrize(
    "query", ["amount(l1) > 30000", "(amount(L) > 30000){scale: 0.1}", "Loan(L) & amount(L) > 30000"]
)
def test_other_queries_show_what_is_false(query: str, loans: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "f.lnn", "-q", query]) == 0
    out = capsys.readouterr().out
    assert "false" in out and "--only" not in out


def test_false_ones_are_left_out_before_the_limit(loans: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "f.lnn", "--limit", "2"]) == 0
    assert "\n  and 8 more; --limit 0 shows all\n  and 30 false; --only false shows them\n" in capsys.readouterr().out
