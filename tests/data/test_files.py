"""Outputs whole or not at all; program texts with the place of what is no text."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from lnnkit.data.files import nearest_file, read_program, write_whole
from lnnkit.output import require_writable
from tests.full_disk import full_disk


def test_write_new_and_replace(tmp_path: Path) -> None:
    path = tmp_path / "out.lnn"
    write_whole(path, "caf\u00e9\r\n")
    assert path.read_bytes() == b"caf\xc3\xa9\r\n"
    assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
    path.chmod(0o640)
    write_whole(str(path), b"\x00")
    assert path.read_bytes() == b"\x00"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.lnn"]


def test_links_stay(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    target, link = tmp_path / "deep" / "target", tmp_path / "link"
    link.symlink_to(target)
    write_whole(link, "one")
    assert link.is_symlink()
    assert target.read_text() == "one"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.lnn"
    path.write_text("old")
    with full_disk(room=2), pytest.raises(OSError, match="File too large"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.lnn"]
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"


def test_missing_folder_and_devices(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "out", "x")
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, "x")
    write_whole("/dev/null", "x")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_a_pipe_that_dev_names(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    link = tmp_path / "link"  # as /dev/stdout is one
    link.symlink_to(f"/dev/fd/{writer}")
    require_writable(link)
    write_whole(link, "x")
    assert os.read(reader, 2) == b"x"
    os.close(reader)
    os.close(writer)


def test_program_texts(tmp_path: Path) -> None:
    path = tmp_path / "p.lnn"
    path.write_bytes(b"\xef\xbb\xbffact P(\xc3\xa9)\r\n")
    assert read_program(path) == ("fact P(\u00e9)\r\n", [])
    path.write_bytes(b"fact P(a)\nfact \xc3\xa9 \xe9")
    text, (only,) = read_program(path)
    assert text is None
    assert (only.code, only.file, only.row) == ("not-utf8", str(path), 2)
    assert "column 8" in only.message
    path.write_bytes("fact P(a)".encode("utf-16"))
    assert "UTF-16" in read_program(path)[1][0].message


@pytest.mark.parametrize("name", ["pat.csv", "PAT.CSV", "pat.tsv.gz", "pat.parquet", "pat.csv.bz2"])
def test_a_table_is_no_program(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"id,age\n1,20\n2,30\n")
    text, (only,) = read_program(tmp_path / name)
    assert (text, only.code, only.file) == (None, "table-as-program", str(tmp_path / name))
    assert f'`load P from "{name}"`' in only.hint


@pytest.mark.parametrize("name", ["p.lnn", "p.csv.lnn", "p.txt", "p", "csv"])
def test_a_program_with_commas_is_no_table(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("fact P(a, b, c)\n")
    assert read_program(tmp_path / name) == ("fact P(a, b, c)\n", [])


def test_lines_may_end_as_on_old_machines(tmp_path: Path) -> None:
    path = tmp_path / "p.lnn"
    path.write_bytes(b"fact P(a)\rfact P(b)\r\n\rquery P(X)\n")
    assert read_program(path) == ("fact P(a)\nfact P(b)\r\n\nquery P(X)\n", [])


def test_nothing_is_fetched() -> None:
    assert "not fetched" in nearest_file(Path("rules/https:/example.org/people.csv"))


def test_missing_programs(tmp_path: Path) -> None:
    (tmp_path / "people.lnn").write_text("")
    _, (only,) = read_program(tmp_path / "peple.lnn")
    assert (only.code, only.path) == ("missing-file", str(tmp_path / "peple.lnn"))
    assert "people.lnn" in only.hint
    assert read_program(tmp_path)[1][0].code == "unreadable-file"


def test_a_missing_program_is_distinguished_from_a_missing_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hint(path: str | Path) -> str:
        return read_program(Path(path))[1][0].hint

    monkeypatch.chdir(tmp_path)
    working = f'; the path is relative to the working folder, "{tmp_path}"'
    assert hint("x.lnn") == f'the folder "." holds no .lnn file{working}'
    (tmp_path / "people.lnn").write_text("")
    (tmp_path / "people.csv").write_text("")
    assert hint("x.lnn") == f'the folder "." holds people.lnn{working}'
    assert hint("peple.lnn") == 'did you mean "people.lnn"?'
    (tmp_path / "peoples.csv").write_text("")
    assert hint("people.csvs") == 'did you mean "people.csv"?'
    assert hint("ape.lnn").startswith('the folder "." holds')  # the ending alone makes no name alike
    assert hint("sub/people.lnn") == f'there is no folder "sub"{working}'
    assert hint(tmp_path / "x.lnn") == f'the folder "{tmp_path}" holds people.lnn'
    assert hint(tmp_path / "sub" / "x.lnn") == f'there is no folder "{tmp_path / "sub"}"'
