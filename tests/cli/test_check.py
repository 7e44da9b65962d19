"""``lnnkit check``, ``lnnkit fmt``, and what all commands share."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from pathlib import Path

import pytest

from lnnkit import __version__
from lnnkit.cli import main
from tests.full_disk import full_disk

WARNS = "fact A(anna)\nrule A(X) & B(X, Y) -> A(X)\nrule A(X) -> B(X, X)\n"
WRONG = "fact A(anna\nquery B(X)\n"
UNTIDY = "# kept\nrule A(X)and B(X)=>C(X)   # this too\n"
TIDY = "# kept\nrule A(X) & B(X) -> C(X)  # this too\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"warns": WARNS, "wrong": WRONG, "untidy": UNTIDY, "tidy": TIDY, "empty": ""}.items():
        (tmp_path / f"{name}.lnn").write_text(text)
    (tmp_path / "binary.lnn").write_bytes(b"\x00\xff\x80")
    (tmp_path / "folder.lnn").mkdir()
    return tmp_path


def test_check_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "warns.lnn"]) == 0
    out, err = capsys.readouterr()
    assert out == "warns.lnn: 1 warning\n"
    assert err.startswith("warns.lnn:2:18: warning[single-variable]")
    assert main(["check", "wrong.lnn"]) == 1
    out, err = capsys.readouterr()
    assert out == "wrong.lnn: 2 errors\n"
    assert err.index("error[unclosed-group]") < err.index("error[unknown-predicate]")
    assert main(["check", "empty.lnn"]) == 0
    assert capsys.readouterr() == ("empty.lnn: no problems\n", "")


def test_check_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "wrong.lnn", "--format", "json"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    found = json.loads(out)["diagnostics"]
    assert list(found[0]) == ["code", "severity", "file", "line", "column", "message", "hint"]
    assert [(each["code"], each["line"], each["column"]) for each in found] == [
        ("unclosed-group", 1, 7),
        ("unknown-predicate", 2, 7),
    ]
    assert main(["check", "empty.lnn", "--format", "json"]) == 0
    assert capsys.readouterr().out == '{"diagnostics": []}\n'
    assert main(["check", "nope.lnn", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["code"] == "missing-file"


def test_check_reads_data(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "p.csv").write_text("a,b\nx,2\n")
    (folder / "data.lnn").write_text('predicate P(thing)\nload P from "p.csv"\n')
    assert main(["check", "data.lnn", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"][0]
    assert (found["file"], found["line"], found["severity"]) == ("p.csv", 2, "error")


def test_what_needs_training_is_a_warning_here(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "n.lnn").write_text("number age(person)\nfact age(anna) = 3\nrule age(X) > ? -> P(X)\n")
    assert main(["check", "n.lnn"]) == 0
    assert "warning[untrained]" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "check", "fmt"])
@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("nope.lnn", 'nope.lnn: error[missing-file] no file "nope.lnn"'),
        ("nodir/x.lnn", 'there is no folder "nodir"'),
        ("folder.lnn", "is a folder, not a file"),
        ("binary.lnn", "binary.lnn:1: error[not-utf8]"),
        ("nul\0.lnn", "error[missing-file]"),
        ("\udcff.lnn", "\\udcff.lnn: error[missing-file]"),
        ("", "error["),
    ],
)
def test_files_that_cannot_be_read(command: str, file: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, file]) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["rnu", "x.lnn"], ["run"], ["x.lnn"], ["check", "a.lnn", "b.lnn"], ["--x"], ["run", "--why-not"]]
)
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: lnnkit")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["explain", "FILE", "--format", "json", "A(anna)"], '"atom": "A(anna)"'),
        (["explain", "--depth", "2", "FILE", "A(anna)"], "A(anna) >= 1"),
        (["explain", "FILE", "--why-not", "B(anna)"], "B(anna) is >= 0; why not 1?"),
        (["explain", "--why-not", "FILE", "B(anna)"], "B(anna) is >= 0; why not 1?"),
        (["explain", "FILE", "--why-not", "false", "B(anna)"], "B(anna) is <= 1; why not 0?"),
        (["explain", "FILE", "B(anna)", "--why-not"], "B(anna) is >= 0; why not 1?"),
        (["explain", "--why-not", "--", "FILE", "B(anna)"], "B(anna) is >= 0; why not 1?"),
        (["draw", "FILE", "--format", "dot", "A(anna)"], "digraph"),
    ],
)
def test_options_between_the_file_and_the_atom(
    arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "atom.lnn").write_text("fact A(anna)\nfact C(bert)\nrule C(X) -> B(X)\n")
    assert main([each.replace("FILE", "atom.lnn") for each in arguments]) == 0
    out, err = capsys.readouterr()
    assert said in out
    assert err == ""


def test_a_file_after_two_hyphens_may_start_with_one(folder: Path) -> None:
    (folder / "-x.lnn").write_text("")
    assert main(["check", "--", "-x.lnn"]) == 0


def test_forgotten_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tidy.lnn"]) == 2
    assert "as in `lnnkit run tidy.lnn`" in capsys.readouterr().err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"lnnkit {__version__}\n"
    for arguments in (["-h"], ["run", "-h"], ["check", "--help"], ["fmt", "-h"]):
        assert main(arguments) == 0
        assert "example:\n  lnnkit " in capsys.readouterr().out


# --- fmt ------------------------------------------------------------------------------------------------------------


def test_fmt_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "untidy.lnn"]) == 0
    assert capsys.readouterr() == (TIDY, "")
    assert Path("untidy.lnn").read_text() == UNTIDY


def test_fmt_writes_what_changes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "untidy.lnn", "--write"]) == 0
    assert Path("untidy.lnn").read_text() == TIDY
    before = os.stat("tidy.lnn")
    assert main(["fmt", "--write", "tidy.lnn"]) == 0
    after = os.stat("tidy.lnn")
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    assert capsys.readouterr() == ("", "untidy.lnn: tidied\ntidy.lnn: tidy already, not written\n")


def test_fmt_leaves_wrong_programs_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fmt", "wrong.lnn", "--write"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[unclosed-group]" in err
    assert Path("wrong.lnn").read_text() == WRONG


def test_fmt_cannot_write(capsys: pytest.CaptureFixture[str]) -> None:
    with full_disk():
        assert main(["fmt", "untidy.lnn", "--write"]) == 1
    assert 'error[unwritable-file] "untidy.lnn" cannot be written: File too large' in capsys.readouterr().err


def test_fmt_keeps_the_mode() -> None:
    os.chmod("untidy.lnn", 0o640)
    assert main(["fmt", "untidy.lnn", "--write"]) == 0
    assert stat.S_IMODE(os.stat("untidy.lnn").st_mode) == 0o640


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    given(b"\xef\xbb\xbf" + UNTIDY.encode())
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == TIDY
    given(b"query P(X)")
    assert main(["check", "-"]) == 1
    assert "<stdin>:1:7: error[unknown-predicate]" in capsys.readouterr().err
    given(b"\xff")
    assert main(["check", "-"]) == 1
    assert "standard input is not UTF-8" in capsys.readouterr().err
    assert main(["fmt", "-", "--write"]) == 2
