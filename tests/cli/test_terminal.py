"""What ``lnnkit run`` does on a terminal: progress, and Ctrl-C, on a real pseudo-terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from lnnkit.cli import main
from lnnkit.cli.streams import PATIENCE, STOPPING, ProgressLine
from lnnkit.engine.inference_run import RoundReport

ROOT = Path(__file__).parents[2]
SMALL = "fact A(anna)\nquery A(X)\n"
CHAIN = (
    "predicate E(n, n) closed\n"
    + "".join(
        f"predicate Reach{i}(n) closed\nrule Start{i}(X) -> Reach{i}(X)\nrule Reach{i}(X) & E(X, Y) -> Reach{i}(Y)\n"
        f"rule Reach{i}(X) -> Seen(X)\nfact Start{i}(n0)\n"
        for i in range(40)
    )
    + "query Reach0(X)\nquery Seen(X)\n"
)  # many short rounds, and few atoms
DRAWN = b"\x1b[?25l"  # the cursor is hidden while a line is drawn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")


@pytest.fixture
def long(tmp_path: Path) -> str:
    """A program that takes far longer than any test waits."""
    (tmp_path / "e.csv").write_text("a,b\n" + "".join(f"n{i},n{i + 1}\n" for i in range(40000)))
    (tmp_path / "long.lnn").write_text(CHAIN + 'load E from "e.csv"\n')
    return str(tmp_path / "long.lnn")


@pytest.fixture
def small(tmp_path: Path) -> str:
    (tmp_path / "small.lnn").write_text(SMALL)
    return str(tmp_path / "small.lnn")


@dataclass
class Ended:
    code: int
    terminal: bytes
    piped: bytes


class Terminal:
    """``lnnkit`` with standard error, and its control, on a pseudo-terminal; standard output is a pipe."""

    def __init__(self, *arguments: str, settings: Mapping[str, str] | None = None, patience: float = PATIENCE) -> None:
        import pty

        self._master, slave = pty.openpty()
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "150", **(settings or {})}
        self._process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, str(patience), *arguments],
            env=environment,
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = b""

    def read(self, seconds: float = 0.1) -> bool:
        """Take in what is there; False at the end."""
        if not select.select([self._master], [], [], seconds)[0]:
            return self._process.poll() is None
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says so at the end
            return False
        self.seen += data
        return bool(data)

    def until(self, text: bytes, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert self.read(), self.seen
            assert time.monotonic() < end, self.seen

    def press(self) -> None:
        """Ctrl-C, as a key: the terminal makes a signal of it."""
        os.write(self._master, b"\x03")

    def ended(self) -> Ended:
        assert self._process.stdout is not None
        piped = b""
        out = self._process.stdout.fileno()
        os.set_blocking(out, False)
        going = True
        while going:
            going = self.read()
            piped += self._process.stdout.read() or b""
        code = self._process.wait(timeout=60)
        piped += self._process.stdout.read() or b""
        self._process.stdout.close()
        os.close(self._master)
        return Ended(code, self.seen, piped)


# the new session's terminal is its standard error, so that its keys reach it
OWN_TERMINAL = """
import fcntl, runpy, sys, termios
import lnnkit.cli.streams
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
lnnkit.cli.streams.PATIENCE = float(sys.argv[1])
sys.argv = ["lnnkit", *sys.argv[2:]]
runpy.run_module("lnnkit", run_name="__main__")
"""


def test_long_work_shows_where_it_is(long: str) -> None:
    terminal = Terminal("run", long)
    terminal.until(b"completing, round ")
    terminal.press()
    ended = terminal.ended()
    assert ended.code == 130
    assert b" atoms \xc2\xb7 " in ended.terminal
    assert b" instances/s \xc2\xb7 " in ended.terminal
    assert ended.terminal.endswith(b"\x1b[2K")  # the line is gone
    assert ended.terminal.count(DRAWN) == ended.terminal.count(b"\x1b[?25h")
    assert b"Traceback" not in ended.terminal
    text = ended.piped.decode()
    assert text.splitlines()[2].split() == ["n0", "[1,", "1]", "true"]
    assert text.splitlines()[-1].startswith("interrupted while closed `Reach")


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once(long: str) -> None:
    terminal = Terminal("run", long)
    terminal.until(b"completing, round ")
    terminal.press()
    terminal.press()
    began = time.monotonic()
    ended = terminal.ended()
    assert time.monotonic() - began < 20
    assert ended.code == 130
    assert b"Traceback" not in ended.terminal
    if b"interrupted\r\n" in ended.terminal:  # else both presses were one to the kernel
        assert ended.terminal.endswith(b"\x1b[?25hinterrupted\r\n")


@pytest.mark.parametrize(
    ("options", "settings", "drawn", "coloured"),
    [
        ([], {}, True, True),
        pytest.param([], {"NO_COLOR": "1"}, True, False, marks=pytest.mark.slow),
        pytest.param(["--quiet"], {}, False, False, marks=pytest.mark.slow),
        pytest.param([], {"TERM": "dumb"}, False, False, marks=pytest.mark.slow),
    ],
    ids=["usually", "no colour", "quiet", "a dumb terminal"],
)
def test_a_line_is_drawn_where_one_is_wanted(
    small: str, options: list[str], settings: dict[str, str], drawn: bool, coloured: bool
) -> None:
    """Without patience, however short the work."""
    ended = Terminal("run", small, *options, settings=settings, patience=0).ended()
    assert ended.code == 0
    assert (DRAWN in ended.terminal, b"\x1b[36m" in ended.terminal) == (drawn, coloured)
    assert drawn or ended.terminal == b""


@pytest.mark.slow
@pytest.mark.parametrize(("options", "settings"), [(["--quiet"], {}), ([], {"TERM": "dumb"})])
def test_ctrl_c_where_no_line_is_wanted(long: str, options: list[str], settings: dict[str, str]) -> None:
    terminal = Terminal("run", long, *options, settings=settings)
    time.sleep(4)
    terminal.press()
    ended = terminal.ended()
    assert ended.code == 130
    assert DRAWN not in ended.terminal
    assert ended.terminal.replace(b"^C", b"").decode().splitlines() in (
        [STOPPING],
        ["interrupted"],  # still loading
    )


@pytest.mark.slow
def test_no_colour_in_long_work(long: str) -> None:
    terminal = Terminal("run", long, settings={"NO_COLOR": "1"})
    terminal.until(b"completing, round ")
    terminal.press()
    assert b"\x1b[36m" not in terminal.ended().terminal


@pytest.mark.slow
def test_short_work_shows_nothing(small: str) -> None:
    """Nor is rich imported for it."""
    terminal = Terminal("run", small, patience=30)  # on a busy machine, half a second is short
    ended = terminal.ended()
    assert (ended.code, ended.terminal) == (0, b"")
    code = "import sys, lnnkit.cli\nassert lnnkit.cli.main(['run', sys.argv[1]]) == 0\nassert 'rich' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, small], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


@pytest.mark.slow
def test_pipes_see_no_progress(long: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "lnnkit", "run", long, "--format", "json"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "FORCE_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.decode().splitlines()[0] in (STOPPING, "interrupted")
    assert (b'"status": "interrupted", "rounds": 0}' in out) == (err.decode().splitlines()[0] == STOPPING)


def test_the_text_of_the_progress_line(monkeypatch: pytest.MonkeyPatch) -> None:
    line = ProgressLine("grounding", shown=False)
    assert line.text(0.6) == "grounding · 0 s"
    assert line.after_round(RoundReport("completion", 3, 1_200, 34_000))
    assert line.text(2.0) == "completing, round 3 · 1,200 atoms · 34,000 instances · 17 k instances/s · 2 s"
    assert line.after_round(RoundReport("inference", 1, 1_200, 5_000_000))
    assert line.text(185) == "round 1 · 1,200 atoms · 5,000,000 instances · 27 k instances/s · 3:05 min"
    assert not line.stop()
    assert line.text(3723).startswith(f"{STOPPING} · round 1 · ")
    assert line.text(3723).endswith(" · 1:02:03 h")


def test_explain_reports_its_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the queries that it asks for itself too."""
    rounds: list[int] = []
    # The line is drawn for terminals only, by a clock
    monkeypatch.setattr(ProgressLine, "after_round", lambda _, report: rounds.append(report.rounds) or True)
    links = "".join(f"fact E(a{i}, a{i + 1})\n" for i in range(3))
    (tmp_path / "p.lnn").write_text(f"fact R(a0)\n{links}rule R(X) & E(X, Y) -> R(Y)\n")
    assert main(["explain", str(tmp_path / "p.lnn"), "R(a3)"]) == 0
    assert max(rounds) >= 3
