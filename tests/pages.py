"""Pages of Markdown whose code blocks are run: README.md and the site in docs/.

A block that names a file, as ```` ```lnn triage.lnn ```` or ```` ```lnn title="triage.lnn" ````, is that file.
`lnn` blocks are checked and run, `console` blocks show ``lnnkit`` commands and all that they print, `pycon` blocks are
Python sessions, `python` blocks are executed. All blocks of a page share one folder and one set of names, in the
order of the page. A block that cannot run is marked by a comment above it: ``<!-- not run: the reason -->``.

``python -m tests.pages docs/start.md`` writes into a page what its commands print now: read it before you commit it.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lnnkit.check import check
from lnnkit.cli import main
from lnnkit.syntax.parse import parse

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(
    r"(?:^[ ]*<!-- not run: (?P<reason>[^\n]+?) -->\n)?"
    r"^(?P<indent>[ ]*)```(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
WIDTH = "120"  # of the terminal that pages show
_FILES = ("lnn", "csv", "text", "py")
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    kind: str
    file: str
    text: str
    line: int
    reason: str  # why it is not run, if it is not


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        kind, _, rest = match["info"].strip().partition(" ")
        titled = _TITLE.search(rest)
        file = titled[1] if titled else "" if "=" in rest else rest.strip()
        line = text.count("\n", 0, match.start("indent")) + 1
        found.append(Block(kind, file, textwrap.dedent(match["text"]), line, match["reason"] or ""))
    return found


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block and the output that it shows for each."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def printed(command: str) -> str:
    """What an ``lnnkit`` command prints to both streams as they come, in this process. ``> FILE`` writes a file,
    ``< FILE`` reads one."""
    program, *arguments = shlex.split(command)
    assert program == "lnnkit", f"only lnnkit commands are run: {command}"
    target = None
    if ">" in arguments:
        *arguments, _, target = arguments
    typed = ""
    if "<" in arguments:
        *arguments, _, source = arguments
        typed = Path(source).read_text(encoding="utf-8")
    out, note = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(note if target else out), _stdin(typed):
        main(arguments)
    if target is None:
        return out.getvalue()
    Path(target).write_text(out.getvalue(), encoding="utf-8")
    return note.getvalue()


@contextlib.contextmanager
def _stdin(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


class PageRun:
    """A page in the act of being run, in the current folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "page"}
        self.unnamed = 0

    def run(self, block: Block) -> None:
        place = f"{self.page.name}, line {block.line}"
        if block.reason:
            return
        self.write(block)
        match block.kind:
            case "lnn":
                self._program(block, place)
            case "console":
                for command, output in commands(block.text):
                    assert printed(command) == output, f"{place}: {command}"
            case "pycon":
                self._session(block, place)
            case "python":
                exec(compile(block.text, place, "exec"), self.names)
            case kind if block.file and kind in _FILES:
                pass
            case _:
                raise AssertionError(f"{place}: a `{block.kind}` block without `<!-- not run: reason -->`")

    def write(self, block: Block) -> None:
        """The file that a block is, if it is one."""
        if block.file and block.kind in _FILES:
            (self.folder / block.file).write_text(block.text, encoding="utf-8")

    def _program(self, block: Block, place: str) -> None:
        """Checks a program without a finding, and runs it."""
        self.unnamed += 1
        name = block.file or f"block{self.unnamed}.lnn"
        program, findings = parse(block.text, name)
        checked, more = check(program, self.folder)
        untrained = [*(checked.unevaluated if checked else ()), *(e for e in more if e.code == "untrained-function")]
        assert [each.render() for each in [*findings, *more] if each not in untrained] == [], place
        if "\nquery" in f"\n{block.text}":
            path = self.folder / name
            path.write_text(block.text, encoding="utf-8")
            shown = printed(f"lnnkit run {shlex.quote(name)}")
            assert "error[" not in shown, f"{place}: {shown}"

    def _session(self, block: Block, place: str) -> None:
        report: list[str] = []
        session = doctest.DocTestParser().get_doctest(block.text, self.names, place, str(self.page), block.line)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            doctest.DocTestRunner().run(session, out=report.append, clear_globs=False)
        self.names = session.globs
        assert not report, "".join(report)


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the blocks of a page, in order, in ``folder``, where ``kb_examples`` is a copy of the examples."""
    shutil.copytree(ROOT / "kb_examples", folder / "kb_examples")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", WIDTH)
    running = PageRun(page, folder)
    found = blocks(page)
    for block in reversed(found):  # an answer may be shown before the program that it is of
        running.write(block)
    for block in found:
        running.run(block)


def refresh(page: Path) -> None:
    """Write into a page what its commands print now; its other blocks are run, and what fails there is raised."""
    text, found = page.read_text(encoding="utf-8"), blocks(page)
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(ROOT / "kb_examples", folder / "kb_examples")
        os.chdir(folder)
        running = PageRun(page, folder)
        for block in reversed(found):
            running.write(block)
        for block in found:
            if block.kind == "console" and not block.reason:
                new = "".join(f"$ {command}\n{printed(command)}" for command, _ in commands(block.text))
                text = text.replace(block.text, new)
            else:
                running.run(block)
        os.chdir(home)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ["COLUMNS"] = WIDTH
    for name in sys.argv[1:]:
        refresh(Path(name).resolve())
