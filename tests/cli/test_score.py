"""``lnnkit score`` writes over nothing that is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.cli import main

PROGRAM = """sort loan
predicate Late(loan)
predicate Bad(region) closed
predicate LivesIn(loan, region) closed
load Late from "loans.csv" (id, late)
load LivesIn from "loans.csv" (id, region)
load Bad from "regions.csv"
rule LivesIn(X, R) & Bad(R) & Late(X) -> Review(X)
query Review(X)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.lnn").write_text(PROGRAM)
    (tmp_path / "regions.csv").write_text("region\nnorth\n")
    (tmp_path / "loans.csv").write_text("id,late,region\nl1,0.5,north\nl2,1,south\n")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.csv").write_text("id,late,region\nl1,0.5,north\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("stream", "output", "bad"),
    [
        ("loans.csv", "loans.csv", None),
        ("loans.csv", "regions.csv", None),
        ("loans.csv", "out.csv", "loans.csv"),
        ("loans.csv", "out.csv", "regions.csv"),
        ("loans.csv", "out.csv", "p.lnn"),
        ("loans.csv", "out.csv", "out.csv"),
        ("parts", "parts/out.csv", None),
        ("parts", "out.csv", "parts/bad.csv"),
    ],
)
def test_nothing_that_is_read_is_written_over(
    folder: Path, capsys: pytest.CaptureFixture[str], stream: str, output: str, bad: str | None
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    rest = [] if bad is None else ["--bad-rows", bad]
    assert main(["score", "p.lnn", "--rows", f"loan={stream}", "-o", output, *rest]) != 0
    assert "error[overwritten-source]" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_an_output_beside_the_stream(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "p.lnn", "--rows", "loan=parts", "-o", "out.csv", "--bad-rows", "bad.csv"]) == 0
    assert (folder / "out.csv").read_text().splitlines()[1] == '"l1",0.5,1,"likely_true"'
    capsys.readouterr()
