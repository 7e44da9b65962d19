"""``lnnkit shell`` as a command: by lines, and once in a real pseudo-terminal."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

import lnnkit.cli.run
import lnnkit.kb
from lnnkit.cli import main
from lnnkit.shell.terminal_prompt import state_folder

ROOT = Path(__file__).parents[2]


def piped(text: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return main(["shell", *arguments])


def test_lines_of_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.lnn").write_text("fact A(anna)\n")
    script = "A(X)\nrule A(X) ->\n  B(X)\n\nB(anna)\nquit\nnot read"
    assert piped(script, monkeypatch, str(tmp_path / "p.lnn")) == 0
    out, err = capsys.readouterr()
    assert out == "A(X)\n  X     bounds  state\n  anna  [1, 1]  true\n\nB(anna)\n  [1, 1]  true\n\n"
    assert err == ""


def test_errors_of_a_script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert piped("fact A(anna)\nA(\nC(X)\nA(anna)", monkeypatch) == 1
    out, err = capsys.readouterr()
    assert out.startswith("A(anna)\n  [1, 1]  true\n")
    assert err.startswith("<stdin>:3:1: error[")  # `A(` goes on there
    assert err.count("error") == 1


def test_a_wrong_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.lnn").write_text("fact A(\n")
    assert piped("", monkeypatch, str(tmp_path / "p.lnn")) == 1
    assert f"{tmp_path / 'p.lnn'}:1:7: error[unclosed-group]" in capsys.readouterr().err
    assert piped("", monkeypatch, "-") == 2


def test_without_prompt_toolkit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """At a terminal it is said what to install; a script needs nothing."""
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    assert piped("fact A(a)\n", monkeypatch) == 0
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    assert main(["shell"]) == 1
    assert (
        capsys.readouterr().err == "lnnkit shell: error: the prompt needs prompt_toolkit: pip install 'lnnkit[shell]'\n"
    )


def test_where_history_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")  # the machine
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "lnnkit"
    monkeypatch.setenv("XDG_STATE_HOME", "relative")  # which the specification has ignored
    assert state_folder() == Path.home() / ".local" / "state" / "lnnkit"


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_a_session_at_a_terminal(tmp_path: Path) -> None:
    import pexpect

    (tmp_path / "e.csv").write_text("a,b\n" + "".join(f"n{i},n{i + 1}\n" for i in range(6000)))
    rules = "rule E(X, Y) -> Reach(X, Y)\nrule Reach(X, Y) & E(Y, Z) -> Reach(X, Z)\n"
    (tmp_path / "long.lnn").write_text(f'predicate E(n, n) closed\nload E from "e.csv"\n{rules}')
    (tmp_path / "small.lnn").write_text("fact Small(anna)\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    environment.pop("NO_COLOR", None)
    shell = pexpect.spawn(
        sys.executable,
        ["-m", "lnnkit", "shell", "small.lnn"],
        cwd=str(tmp_path),
        env=environment,
        timeout=30,
        encoding="utf-8",
        dimensions=(40, 120),
    )
    shell.expect("lnnkit>")
    shell.send("Sma\t")
    shell.expect("ll")  # completed
    shell.send("(an\t")
    shell.expect("na")
    shell.send(")\r")
    shell.expect(r"\[1, 1\]  .*true")
    shell.send('import "long.lnn"\r')
    shell.send("Reach(X, Y)\r")
    shell.expect(" round ")
    shell.sendintr()
    shell.sendintr()  # as people do
    shell.expect("interrupted\r\n")
    shell.expect("lnnkit>")
    shell.send("Nope(X)\r")
    shell.expect("<shell>:4:1: ")
    shell.expect("lnnkit>")
    shell.send("undo\r")
    shell.expect("undone: import")
    shell.expect("lnnkit>")
    shell.send("fact Sm")
    shell.expect("fact Sm")
    shell.sendintr()  # drops what was typed
    shell.expect("lnnkit>")
    shell.send("Small(X)\r")
    shell.expect("anna .*true")
    shell.expect("lnnkit>")
    shell.sendeof()
    shell.expect(pexpect.EOF)
    shell.close()
    assert shell.exitstatus == 0
    assert "+Small(anna)\n" in (tmp_path / "state" / "lnnkit" / "history").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.csv", "long.lnn", "small.lnn", "state"]


def test_a_defect_does_not_end_the_session(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(lnnkit.kb.KnowledgeBase, "explain", fail)  # a defect
    monkeypatch.delenv("LNNKIT_TRACEBACK", raising=False)
    assert piped("fact A(anna)\nwhy A(anna)\nA(X)\n", monkeypatch) == 1
    out, err = capsys.readouterr()
    assert err.startswith("error[internal] lnnkit failed: RuntimeError: boom\n")
    assert "  anna  [1, 1]  true\n" in out
