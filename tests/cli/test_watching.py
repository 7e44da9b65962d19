"""`lnnkit run --watch`: the answers that a change of a file changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest

from lnnkit.cli import main

PROGRAM = (
    'predicate P(x) closed\nload P from "p.csv"\nnumber n(x)\nfact n(a) = 3\nrule P(X) & n(X) > 2 -> Q(X)\nquery Q(X)\n'
)


def test_what_a_change_of_a_file_changes_is_printed(tmp_path: Path) -> None:
    (tmp_path / "q.lnn").write_text(PROGRAM)
    (tmp_path / "p.csv").write_text("x\na\n")
    command = [sys.executable, "-u", "-m", "lnnkit", "run", str(tmp_path / "q.lnn"), "--watch", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        stop = Timer(120, process.kill)  # where nothing is printed
        stop.start()
        try:
            while "converged" not in process.stdout.readline():
                pass
            (tmp_path / "p.csv").write_text("x\nbob\n")
            assert process.stdout.readline().startswith('Q("a")  [0, 1], was [1, 1]   taken back: fact P("a") (')
            (tmp_path / "q.lnn").write_text(PROGRAM + "fact n(\n")
            assert "error" in process.stdout.readline()
            while "hint" not in process.stdout.readline():
                pass
            (tmp_path / "q.lnn").write_text(PROGRAM + "fact n(bob) = 7\n")
            assert process.stdout.readline().startswith("Q(bob)  [1, 1], was [0, 1]   fact n(bob) = 7 (")
        finally:
            stop.cancel()
            process.kill()


def test_watching_needs_a_file_and_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "q.lnn").write_text(PROGRAM)
    for wrong in (["-"], [str(tmp_path / "q.lnn"), "--format", "json"], [str(tmp_path / "q.lnn"), "--plan"]):
        assert main(["run", *wrong, "--watch"]) == 2
        assert "--watch" in capsys.readouterr().err
