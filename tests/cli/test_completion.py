"""``lnnkit --print-completion``: the scripts, and what bash completes by its."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lnnkit.cli import main

COMMANDS = (
    "run",
    "shell",
    "explain",
    "draw",
    "prove",
    "check",
    "fmt",
    "show",
    "train",
    "eval",
    "score",
    "discover",
    "init",
    "import",
    "export",
    "lsp",
    "grammar",
)
COMPLETE = """
complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); _shtab_lnnkit; echo "${COMPREPLY[*]}"; }
complete_line lnnkit ""
complete_line lnnkit run --li
complete_line lnnkit run --format ""
complete_line lnnkit run tri
complete_line lnnkit shell tri
complete_line lnnkit train triage.lnn -o tri
"""


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["--print-completion", shell]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_what_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("triage.lnn", "triage.csv"):
        (tmp_path / name).touch()
    text = script("bash", capsys) + COMPLETE
    done = subprocess.run(["bash", "-c", text], cwd=tmp_path, capture_output=True, text=True, check=True)
    commands, option, formats, program, typed, written = done.stdout.splitlines()
    assert sorted(commands.split()) == sorted(COMMANDS)
    assert option == "--limit"
    assert sorted(formats.split()) == ["csv", "json", "table"]
    assert program == typed == "triage.lnn"
    assert sorted(written.split()) == ["triage.csv", "triage.lnn"]


@pytest.mark.parametrize(
    ("shell", "signs"),
    [
        ("zsh", ("#compdef lnnkit\n", "_files -g '(*.lnn|*.safetensors)'", "--limit", "--print-completion")),
        ("fish", ("complete -c lnnkit", "-l limit", "-l print-completion", "*.lnn")),
    ],
)
def test_other_shells(shell: str, signs: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for sign in (*signs, *COMMANDS):
        assert sign in text


def test_without_shtab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--print-completion", "bash"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "lnnkit: error: --print-completion needs shtab: pip install 'lnnkit[completion]'\n"


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-completion", "ksh"]) == 2
    assert "'bash'" in capsys.readouterr().err
