"""Bytes that are not UTF-8 and control characters, in every file that a command reads: findings, never a traceback."""

from __future__ import annotations

import io
import random
import sys
from pathlib import Path

import pytest

from lnnkit.cli import main
from tests.blocks import at_length

PROGRAM = b"""# notes
sort row
predicate P(row)
number hi(row)
load P from "t.csv" (id, truth)
load hi from "n.tsv" (id, hi)
fact P("New York") in [0.2, 0.6]
rule r1: P(X) & hi(X) > ?c=0.4 -> R(X) in [0.8, 1]
query R(X)
label R from "l.csv"
"""
FILES = {
    "a.lnn": PROGRAM,
    "t.csv": b"id,truth,kind\nr0,0.5,x\nr1,1,y\nr2,true,z\n",
    "n.tsv": b"id\thi\nr0\t0.5\nr1\t0.75\nr2\t1e3\n",
    "l.csv": b"id,truth\nr0,1\nr1,0\nr2,1\n",
    "d.csv": b"x,y\n" + b"".join(b"%d,%d\n" % (i, 3 * i + 1) for i in range(1, 15)),
    "s.txt": "Premises:\n∀x (P(x) → Q(x)) ::: All.\nP(anna)\nConclusion:\nQ(anna)\n".encode(),
}
COMMANDS = {
    "run a.lnn": "a.lnn t.csv n.tsv",
    "run a.lnn --format csv": "a.lnn t.csv",
    "check a.lnn": "a.lnn t.csv n.tsv l.csv",
    "fmt a.lnn": "a.lnn",
    "show a.lnn": "a.lnn",
    "draw a.lnn -o o.svg": "a.lnn t.csv",
    "explain a.lnn R(r0) --format html": "a.lnn t.csv n.tsv",
    "explain a.lnn R(r2) --why-not": "a.lnn t.csv",
    "score a.lnn --rows row=t.csv -o o.csv": "a.lnn t.csv n.tsv",
    "score a.lnn --rows row=t.csv -o o.parquet --bad-rows bad.csv": "t.csv",
    "init t.csv": "t.csv",
    "init n.tsv d.csv --ids -o oi.lnn": "n.tsv d.csv",
    "discover d.csv --target y --seconds 0.1": "d.csv",
    "train a.lnn -o o.lnn --epochs 1": "l.csv t.csv",
    "eval a.lnn": "a.lnn l.csv",
    "prove a.lnn R(r0)": "a.lnn t.csv",
    "import s.txt --skip-errors": "s.txt",
    "export a.lnn R(r0) --format smt2": "a.lnn",
    "shell a.lnn": "a.lnn",
}
PARTS = [b"\0", b"\x01", b"\x0b", b"\x0c", b"\x1a", b"\x1b[31m", b"\x1c", b"\x1d", b"\x1e", b"\x1f", b"\x7f", b"\x80"]
PARTS += [b"\xb0", b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbb\xbf"]
PARTS += [b"\xc2\xa0", b"\xe2\x80\x8b", b"\xf4\x90\x80\x80", b"\xff\xfe", b"\r\r\n", b'"', b"\xcc\x81"]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Runs a command in a folder with these files; its exit code, and what it says of faults."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LNNKIT_TRACEBACK", raising=False)

    def run(command: str, **files: bytes) -> tuple[int, str]:
        for name, data in files.items():
            (tmp_path / name).write_bytes(data)
        typed = io.TextIOWrapper(io.BytesIO(files["a.lnn"]), encoding="utf-8", errors="surrogateescape")
        monkeypatch.setattr(sys, "stdin", typed)
        code = main(command.split(" "))
        said = capsys.readouterr().err
        assert "internal" not in said and "Traceback" not in said, (command, files, said)
        return code, said

    return run


def test_a_row_with_too_many_cells_that_is_not_utf8(told) -> None:
    code, said = told(
        "run a.lnn",
        **{"a.lnn": b'load P from "f.csv" (id, truth)\nquery P(X)\n', "f.csv": b"id,truth\nr0,0.5\xb0\x00,3,4\n"},
    )
    assert (code, said.count("error[")) == (1, 1)
    assert 'line 2 of "f.csv" is not UTF-8: byte 0xb0' in said


def test_a_key_of_a_stream_that_is_not_utf8(told) -> None:
    files = {"a.lnn": b'sort row\npredicate P(row)\nload P from "f.csv" (id, truth)\nquery P(X)\n'}
    bad = b"id,truth\nr1,0.1\nr\xb0,0.5\nr1,0.2\n"
    code, said = told("score a.lnn --rows row=f.csv -o o.csv", **files, **{"f.csv": bad[:-7]})
    assert (code, said.count("error[")) == (1, 1)
    assert 'f.csv:3: error[bad-row] column "id" is not UTF-8: byte 0xb0' in said
    code, said = told("score a.lnn --rows row=f.csv -o o.csv --bad-rows bad.csv", **files, **{"f.csv": bad})
    assert (code, Path("o.csv").read_text().count("r1")) == (0, 1)
    assert Path("bad.csv").read_bytes().count(b"\n") == 3  # the header, the key, and the row that repeats one


@pytest.mark.parametrize("mark", ["\x1c", "\x1d", "\x1e", "\x1f"])
def test_a_control_character_before_a_number(told, mark: str) -> None:
    files = {"f.tsv": f"id\thi\nr0\t0.5\nr1\t{mark}.521\nr2\t0.7\n".encode()}
    assert told("init f.tsv", **files, **{"a.lnn": b""})[0] == 0
    code, said = told("run a.lnn", **files | {"a.lnn": b'number hi(row)\nload hi from "f.tsv" (id, hi)\nquery hi(X)\n'})
    assert (code, said.count("error[")) == (1, 1)
    assert "not a number" in said and "missing" not in said.partition("hint")[2]


@pytest.mark.parametrize("command", ["score a.lnn --rows row=t.csv -o o.csv", "run a.lnn", "fmt a.lnn", "check a.lnn"])
def test_a_null_character_in_a_path(told, command: str) -> None:
    text = b'sort row\npredicate P(row)\nload P from "t\0.csv" (id, truth)\nquery P(X)\n'
    code, said = told(command, **{**FILES, "a.lnn": text})
    assert (code, said.count("error[")) == (1, 1)
    assert "null" in said


@pytest.mark.parametrize("seed", at_length(range(40), plain=0))
@pytest.mark.parametrize("command", COMMANDS)
def test_no_byte_anywhere_ends_in_a_traceback(told, command: str, seed: int) -> None:
    rng = random.Random(f"{command} {seed}")
    name = rng.choice(COMMANDS[command].split())
    data, part = FILES[name], rng.choice(PARTS)
    place = rng.choice([rng.randrange(len(data) + 1), max(data.find(b"r1") + 1, 0), data.rfind(b"0") + 1])
    told(command, **{**FILES, name: data[:place] + part + data[place + rng.choice([0, 1]) :]})
