"""`lnnkit import` and `lnnkit export` as commands, and the options of cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.cli import main


def test_import_check_run_export(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story, program, exported = tmp_path / "s.txt", tmp_path / "s.lnn", tmp_path / "s.smt2"
    story.write_text("∀x (P(x) → Q(x)\nP(anna)\nConclusion:\nQ(anna)\n", encoding="utf-8")
    assert main(["import", str(story), "-o", str(program)]) == 0
    assert "warning[bracket-added]" in capsys.readouterr().err
    assert main(["check", str(program)]) == 0
    assert main(["run", str(program), "--quiet"]) == 0
    assert "[1, 1]  true" in capsys.readouterr().out
    assert main(["export", str(program), "--format", "smt2", "-o", str(exported)]) == 0
    assert "(check-sat)" in exported.read_text(encoding="utf-8")


def test_nothing_is_replaced_or_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story, program = tmp_path / "s.txt", tmp_path / "s.lnn"
    story.write_text("P(anna)\n", encoding="utf-8")
    program.write_text("fact Kept\n", encoding="utf-8")
    assert main(["import", str(story), "-o", str(program)]) == 1
    assert main(["import", str(story), "-o", str(story), "--force"]) == 1
    assert main(["export", str(program), "--format", "smt2", "-o", str(program), "--force"]) == 1
    assert program.read_text(encoding="utf-8") == "fact Kept\n"
    assert main(["import", str(story), "-o", str(program), "--force"]) == 0
    assert "fact P(anna)" in program.read_text(encoding="utf-8")
    capsys.readouterr()


def test_errors_leave_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    story, program = tmp_path / "s.txt", tmp_path / "s.lnn"
    story.write_text("P(anna) P(bob)\n", encoding="utf-8")
    assert main(["import", str(story), "-o", str(program)]) == 1
    assert "error[syntax]" in capsys.readouterr().err and not program.exists()
    assert main(["import", str(story), "-o", str(program), "--skip-errors"]) == 0
    assert main(["import", str(tmp_path / "none.txt")]) == 1
    assert "none.txt" in capsys.readouterr().err
