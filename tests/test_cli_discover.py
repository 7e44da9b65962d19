"""``lnnkit discover``: the list, the rule that it writes, and what it says of wrong input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lnnkit
from lnnkit.cli import main


@pytest.fixture
def orbits(tmp_path: Path) -> Path:
    generator = np.random.default_rng(3)
    lines = ["body;half axis;mass;label;period"]
    for row in range(60):
        axis, mass = generator.uniform(1, 9), generator.uniform(0.5, 3)
        shown = "?" if row == 7 else repr(float(mass))
        lines.append(f"b{row};{float(axis)!r};{shown};kind {row % 3};{float(3 * axis**1.5 / mass**0.5)!r}")
    path = tmp_path / "orbits.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_rule_is_checked_and_answers_the_table(orbits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = orbits.with_name("period.lnn")
    assert main(["discover", str(orbits), "--target", "period", "-o", str(written)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == ["size", "error", "period"] and shown[-1].startswith("*")
    assert shown[-1].endswith('3 * "half axis"^1.5 / sqrt(mass)')
    assert main(["check", str(written)]) == 0
    answers = lnnkit.load(written).ask("period(X)")
    wanted = {cells[0]: float(cells[4]) for cells in (line.split(";") for line in orbits.read_text().splitlines()[1:])}
    assert len(answers) == 60
    for name, low, high in zip(answers.columns[0], answers.lower, answers.upper, strict=True):
        if name != "b7":  # whose mass is missing
            assert low == pytest.approx(wanted[name], rel=1e-9) and high == pytest.approx(wanted[name], rel=1e-9)


def test_json_and_columns(orbits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--columns", "half axis", "--format", "json", "--seconds", "0.1"]
    assert main(["discover", str(orbits), "--target", "period", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["target"] == "period" and all("mass" not in each["formula"] for each in found["formulas"])
    assert 0 <= found["chosen"] < len(found["formulas"])


def test_a_table_without_ids_gives_a_rule_without_loads(tmp_path: Path) -> None:
    path, written = tmp_path / "plain.csv", tmp_path / "plain.lnn"
    generator = np.random.default_rng(4)
    rows = generator.uniform(1, 3, (40, 2))
    path.write_text("a,b,y\n" + "".join(f"{float(a)!r},{float(b)!r},{float(a * b)!r}\n" for a, b in rows))
    assert main(["discover", str(path), "--target", "y", "-o", str(written)]) == 0
    assert main(["check", str(written)]) == 0
    kb = lnnkit.load(written)
    kb.tell("a", [("r", 2.0)])
    kb.tell("b", [("r", 8.0)])
    assert kb.ask("y(r)").lower[0] == pytest.approx(16)


@pytest.mark.parametrize(
    ("options", "code", "hint"),
    [
        (["--target", "perod"], "unknown-column", "half axis, mass, period"),
        (["--target", "label"], "bad-column", "half axis, mass, period"),
        (["--target", "period", "--columns", "mass,hue"], "unknown-column", "half axis, mass, period"),
    ],
)
def test_columns_that_are_none(
    orbits: Path, capsys: pytest.CaptureFixture[str], options: list[str], code: str, hint: str
) -> None:
    assert main(["discover", str(orbits), *options]) == 1
    said = capsys.readouterr().err
    assert f"[{code}]" in said and hint in said


def test_files_that_are_there_or_are_not(orbits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = orbits.with_name("kept.lnn")
    written.write_text("fact A\n")
    assert main(["discover", str(orbits), "--target", "period", "-o", str(written)]) == 1
    assert "file-exists" in capsys.readouterr().err and written.read_text() == "fact A\n"
    assert main(["discover", str(orbits.with_name("none.csv")), "--target", "period"]) == 1
    assert main(["discover", str(orbits)]) == 2


def test_columns_without_numbers_are_named(orbits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They may be what tells the rows apart; nothing said that they were not looked at."""
    assert main(["discover", str(orbits), "--target", "period", "--seconds", "0.1"]) == 0
    assert "left out, without numbers: label\n" in capsys.readouterr().err


def test_most_rows_are_no_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """127 of 300 rows were said to be far, and to be looked at."""
    path = tmp_path / "bands.csv"
    rows = np.random.default_rng(3).uniform(0, 6, 300)
    path.write_text("a,y\n" + "".join(f"{float(a)!r},{1.0 if a < 3.5 else float(a**a)!r}\n" for a in rows))
    assert main(["discover", str(path), "--target", "y", "--seconds", "0.05"]) == 0
    said = capsys.readouterr().err
    assert "rows are far" in said and "does not hold for them" in said and "errors" not in said


def test_few_rows_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "six.csv"
    path.write_text("id,x,y\n" + "".join(f"r{row},{row},{row + 1}\n" for row in range(1, 7)))
    assert main(["discover", str(path), "--target", "y"]) == 0
    out, said = capsys.readouterr()
    assert "1 + x" in out and "6 rows are too few to confirm a formula" in said
    assert main(["discover", str(path), "--target", "y", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["doubt"].startswith("6 rows")


def test_decimal_commas_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "comma.csv", tmp_path / "out.lnn"
    path.write_text("id;x;y\n" + "".join(f"r{n};{n},5;{2 * n + 1},0\n" for n in range(12)))
    assert main(["discover", str(path), "--target", "y", "--seconds", "1", "-o", str(out)]) == 0
    assert "2 * x" in capsys.readouterr().out
    kb = lnnkit.load(out)
    assert kb.ask("y(r3)")[0].lower == pytest.approx(7)
