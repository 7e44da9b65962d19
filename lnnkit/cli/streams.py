"""Standard input, output and error: all that the command line reads and writes goes through here, and a progress line
that is removed when the work is done. Colours are used on a terminal that shows them, unless ``NO_COLOR`` is set."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

from lnnkit.errors import Error, ProgramError
from lnnkit.interrupt import Interruption, has_pythons_handler
from lnnkit.markup.pages import visible
from lnnkit.syntax.diagnostic import Diagnostic, Source

if TYPE_CHECKING:
    from typing import Self

    from lnnkit.engine.inference_run import RoundReport
    from lnnkit.kb import KnowledgeBase

DONE, WRONG, USAGE, INTERRUPTED = 0, 1, 2, 130  # the exit codes
Paint = Callable[[str, str], str]  # a text and what it is -> the text, with its colour

STANDARD_INPUT = "-"
PATIENCE = 0.5  # seconds before the progress line appears
REFRESHED = 8  # its redraws a second
STOPPING = "stopping after this round; Ctrl-C again ends at once"
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_CODES = {  # SGR parameters; what is not listed is printed as it is
    "query": "1", "heads": "2", "note": "2", "lower": "32", "upper": "31", "error": "1;31", "warning": "1;33",
    "true": "32", "likely_true": "2;32", "unknown": "2", "likely_false": "2;31", "false": "31",
    "contradiction": "1;35",
}  # fmt: skip


class UsageError(Exception):
    """Options that do not go together, or with the program: one line on standard error, and exit code 2."""


def prepare() -> None:
    """Make characters that the encoding cannot hold (a stray byte in an argument) print as escapes, not fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(pieces: Iterable[str]) -> None:
    """Write to standard output."""
    if sys.stdout is not None:
        sys.stdout.writelines(pieces)


def in_utf8() -> None:
    """Switch standard output to UTF-8, whatever the terminal uses: readers of JSON and CSV expect it."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")


def write_json(value: object) -> None:
    """Write a value to standard output as JSON on one line, whatever the terminal's encoding."""
    write_utf8(f"{json.dumps(value, ensure_ascii=False)}\n")


def write_either(form: str, as_dict: Callable[[], object], as_text: Callable[[], str]) -> None:
    """Write a result to standard output: as JSON where ``form`` is ``json``, else as text."""
    if form == "json":
        write_json(as_dict())
    else:
        write([as_text()])


def write_utf8(text: str | bytes) -> None:
    """Write what another program reads to standard output, whatever the terminal's encoding."""
    in_utf8()
    if isinstance(text, str):
        write([text])
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(text)


def deliver(text: str, output: str | None, then: str = "") -> None:
    """Write a result to the file ``output`` and name the command to run ``then``; without it, to standard output."""
    if output is None:
        write_utf8(text)
        return
    from lnnkit.output import write_text

    write_text(output, text)
    note(f"{output}: written" + (f"; try `{then}`" if then else ""))


def note(text: str) -> None:
    """Print one line for the user on standard error."""
    print(printable(text), file=sys.stderr)


def findings(diagnostics: Iterable[Diagnostic]) -> None:
    """Print each finding with its source line and its hint on standard error."""
    paint = paint_for(sys.stderr)
    for diagnostic in diagnostics:
        kind = f"{diagnostic.severity}[{diagnostic.code}]"
        print(printable(diagnostic.render()).replace(kind, paint(kind, diagnostic.severity), 1), file=sys.stderr)


def guarded(command: Callable[[], int]) -> int:
    """The exit code of a command; what it raises is reported, also that memory is short, but an `OSError` of the output
    and, with ``LNNKIT_TRACEBACK``, a defect."""
    try:
        return command()
    except Error as problem:
        findings(problem.diagnostics)
        return WRONG
    except KeyboardInterrupt:
        note("interrupted")
        return INTERRUPTED
    except OSError:
        raise
    except Exception as problem:
        if os.environ.get("LNNKIT_TRACEBACK"):
            raise
        if isinstance(problem, MemoryError) or "allocate memory" in str(problem):
            note("error[out-of-memory] there is not enough memory for this program and its data")
            note("  hint: bind the variables of its widest rules by further literals, or set --max-groundings")
        else:
            first = next(iter(str(problem).splitlines()), "")
            note(f"error[internal] lnnkit failed: {type(problem).__name__}: {first}")
            note("  hint: report this defect to those from whom you have lnnkit, with what LNNKIT_TRACEBACK=1 shows")
        return WRONG


def flush() -> None:
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()


def abandon() -> None:
    """Discard all further output, so that the interpreter's final flush cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or not a real file
            stream.flush()
            continue
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def end_interrupted() -> NoReturn:
    """End the process at once, from any thread, after wiping a progress line."""
    if os.isatty(2) and os.environ.get("TERM", "dumb") not in ("dumb", "unknown"):
        os.write(2, b"\r\x1b[2K\x1b[?25h")  # erases the line and shows the cursor
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def printable(text: str, keep: str = "\n\t") -> str:
    """``text`` with its control characters escaped, so that data cannot steer the terminal."""
    return visible(text, keep)


def plain(text: str, _kind: str) -> str:
    """No colours."""
    return text


def coloured(text: str, kind: str) -> str:
    """The text in the colour of its kind."""
    code = _CODES.get(kind)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def paint_for(stream: TextIO | None) -> Paint:
    """The paint function for a stream: colours on a terminal that has them, unless ``NO_COLOR`` (see no-color.org)."""
    shows = redraws(stream)
    if sys.platform == "win32":  # older consoles print the codes
        shows = stream is not None and stream.isatty() and "WT_SESSION" in os.environ
    return coloured if shows and not os.environ.get("NO_COLOR") else plain


def redraws(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal that can redraw a line."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")


class ProgressLine:
    """A context that shows ``work`` and the round reports on standard error, if that is a terminal.

    Its own thread draws the line, so that it moves during long rounds too. That thread imports rich, when the line is
    first drawn.
    """

    def __init__(self, work: str, *, shown: bool) -> None:
        self._work = work
        self._report: RoundReport | None = None
        self._stopping = False
        self._ended = threading.Event()
        drawn = shown and redraws(sys.stderr)
        self._thread = threading.Thread(target=self._draw, daemon=True) if drawn else None
        self._began = 0.0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def after_round(self, report: RoundReport, /) -> bool:
        self._report = report
        return True

    def say(self, work: str) -> None:
        """Set the text of the line."""
        self._work, self._report = work, None

    def stop(self) -> bool:
        """Announce that the work is about to stop; returns whether anybody can see the line."""
        self._stopping = True
        return self._thread is not None

    def _draw(self) -> None:
        if self._ended.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn
        from rich.table import Column

        spinner = SpinnerColumn(style="cyan", table_column=Column(width=1))
        text = TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True), markup=False)
        line = Progress(
            spinner, text, console=Console(stderr=True), refresh_per_second=REFRESHED, transient=True, expand=True,
            redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        with line:
            task = line.add_task("")
            while not self._ended.is_set():
                line.update(task, description=self.text(time.monotonic() - self._began))
                self._ended.wait(1 / REFRESHED)

    def text(self, seconds: float) -> str:
        """The text of the line after this many seconds of work."""
        parts, report = [self._work], self._report
        if report is not None:
            stage = "completing, round" if report.stage == "completion" else "round"
            pace = f"{_short(report.instances / seconds)} instances/s" if seconds else ""
            parts = [f"{stage} {report.rounds:,}", f"{report.atoms:,} atoms", f"{report.instances:,} instances", pace]
        parts.append(_elapsed(seconds))
        if self._stopping:
            parts.insert(0, STOPPING)
        return " · ".join(filter(None, parts))


@contextlib.contextmanager
def interruptible(work: str, *, shown: bool, stopping: str = STOPPING) -> Iterator[tuple[ProgressLine, Interruption]]:
    """A context of ``work`` that the first Ctrl-C asks to stop, and the second one ends at once with the process. Where
    nobody can see the line, ``stopping`` is printed. Called from Python, the second one raises KeyboardInterrupt."""
    with ProgressLine(work, shown=shown) as line:

        def noted() -> None:
            if not line.stop():
                note(stopping)

        with Interruption(line, noted, None if has_pythons_handler() else end_interrupted) as watch:
            yield line, watch


def _short(number: float) -> str:
    """Two to three digits and a unit: ``1.2 M``."""
    for size, unit in _UNITS:
        if number >= size:
            return f"{number / size:.3g} {unit}" if number < 1000 * size else f"{number / size:,.0f} {unit}"
    return f"{number:.0f}"


def _elapsed(seconds: float) -> str:
    """``12 s``, ``3:05 min``, ``1:02:03 h``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02} h"
    return f"{minutes}:{rest:02} min" if minutes else f"{rest} s"


def read(file: str) -> Source:
    """The text of FILE. Raises `ProgramError` if it cannot be read."""
    if file == STANDARD_INPUT:
        return _standard_input()
    from lnnkit.data.files import read_program

    path = Path(file)
    text, diagnostics = read_program(path)
    if text is None:
        raise ProgramError(diagnostics)
    return Source(str(path), text)


def base_of(source: Source) -> Path:
    """The folder that the paths of a program are relative to; of standard input, the working folder."""
    return Path(source.path).parent


def load(file: str, *, shown: bool = True, streamed: str | None = None, today: str | None = None) -> KnowledgeBase:
    """The knowledge base of FILE, with progress if ``shown``; tables about the sort that is ``streamed`` are not read,
    and ``today`` is the date of `today`. Raises `ProgramError` with every finding."""
    from lnnkit import kb

    with ProgressLine(f"reading {printable(file, keep='')}", shown=shown):
        if file != STANDARD_INPUT:
            return kb.load(file, streamed=streamed, today=today)
        source = _standard_input()
        return kb.loads(source.text, base_of(source), source.path, streamed=streamed, today=today)


def _standard_input() -> Source:
    from lnnkit.data.files import in_lines

    try:
        data = sys.stdin.buffer.read()
        return Source("<stdin>", in_lines(data.removeprefix(b"\xef\xbb\xbf").decode()))
    except UnicodeDecodeError as problem:
        message = f"standard input is not UTF-8 text (byte {problem.start + 1})"
    except (OSError, AttributeError) as problem:  # closed, or a folder
        message = f"standard input cannot be read: {problem}"
    raise ProgramError([Diagnostic("unreadable-file", message, "name a .lnn file instead of -")])
