"""README.md: its files are written, its programs checked, its sessions and commands run, in the order of the page.

A block whose info string names a file (```` ```lnn triage.lnn ````) is that file. `console` blocks show commands and
all that they print, `pycon` blocks a Python session. All of them share one folder.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import lnnkit
from lnnkit.check import check
from lnnkit.syntax.parse import parse

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    kind: str
    file: str
    text: str
    line: int


def blocks() -> list[Block]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        kind, _, file = match[1].partition(" ")
        found.append(Block(kind, file, match[2], text.count("\n", 0, match.start()) + 1))
    return found


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a console block and the output that it shows for each."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def printed(command: str, folder: Path) -> str:
    """What a command prints, to both streams as they come."""
    program, *arguments = shlex.split(command)
    assert program == "lnnkit"
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUTF8": "1", "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-u", "-m", "lnnkit", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.stdout


def test_set_up_is_two_commands() -> None:
    shown = [block.text for block in blocks() if block.kind == "sh"]
    assert len(shown) == 2
    assert all(text.count("\n") == 1 for text in shown)


def test_every_kind_of_block_is_known() -> None:
    assert {block.kind for block in blocks()} == {"sh", "lnn", "csv", "console", "pycon", "text"}
    assert all(block.file for block in blocks() if block.kind in ("lnn", "csv"))


def test_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kb_examples").symlink_to(ROOT / "kb_examples", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner()
    report: list[str] = []
    for block in blocks():
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        if block.kind == "lnn":
            program, findings = parse(block.text, block.file)
            _, more = check(program, tmp_path)
            assert [finding.render() for finding in [*findings, *more]] == []
        elif block.kind == "console":
            for command, output in commands(block):
                assert printed(command, tmp_path) == output, f"README.md, line {block.line}: {command}"
        elif block.kind == "pycon":
            session = doctest.DocTestParser().get_doctest(block.text, names, "README", "README.md", block.line)
            runner.run(session, out=report.append, clear_globs=False)
            names = session.globs
            assert not report, "".join(report)


BIRDS = """
predicate Bird(animal)
predicate Flies(animal)
fact Bird(tweety)
axiom forall X: Bird(X) -> Flies(X)
"""
EITHER = """
predicate B(entity)
fact A(anna) in [0.3, 0.6]
axiom A(X) | B(X)
rule A(Y) | B(Y) -> C(Y)
rule B(Y) | A(Y) -> D(Y)
"""
BUSES = """
predicate Bus(stop, stop) closed
predicate Reach(stop, stop) closed
predicate Cut(stop, stop) closed
predicate Safe(stop)
fact Bus(zoo, centre)
fact Bus(centre, zoo) in [0.4, 0.9]
rule Bus(X, Y) -> Reach(X, Y)
rule ~Reach(X, Y) -> Cut(X, Y)
rule Bus(X, X) & Safe(X) -> Reach(X, X)
"""


@pytest.mark.parametrize(
    ("program", "query", "listed"),
    [
        (BIRDS + "sort animal open", "forall X: Bird(X) -> Flies(X)", [(0, 1)]),
        (BIRDS + "sort animal open", "Bird(X) -> Flies(X)", [(1, 1)]),
        (BIRDS, "forall X: Bird(X) -> Flies(X)", [(1, 1)]),
        (BIRDS + "fact Bird(rex)\nfact ~Flies(rex)", "Flies(X)", [(0, 0), (1, 1)]),  # rex, tweety
        (EITHER, "C(anna)", [(1, 1)]),
        (EITHER, "D(anna)", [(0.7, 1)]),
        (EITHER, "A(anna) | B(anna)", [(1, 1)]),
        (EITHER, "B(anna) | A(anna)", [(0.7, 1)]),
        (BUSES, "~Reach(zoo, X)", [(0, 0)]),  # centre
        (BUSES, "~Reach(centre, X)", [(0.1, 0.6)]),  # zoo
        (BUSES, "Cut(zoo, X)", [(1, 1)]),  # zoo
        (BUSES, "Cut(centre, X)", [(1, 1), (0.1, 0.6)]),  # centre, zoo
        (BUSES, "Safe(X)", []),
        ("fact A(a)\nfact ~B(a)\nfact A(b)\nrule A(X) -> B(X)", "B(X)", [(0, 0), (1, 1)]),  # a, b
    ],
)
def test_the_semantics_section(program: str, query: str, listed: list[tuple[float, float]]) -> None:
    kb = lnnkit.loads(program)
    found = [(answer.lower, answer.upper) for answer in kb.ask(query)]
    assert [end for bounds in found for end in bounds] == pytest.approx([end for bounds in listed for end in bounds])
