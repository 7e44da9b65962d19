"""Standard output and standard error: everything that the command line writes goes through here. Colours are used on a
terminal that shows them, unless ``NO_COLOR`` is set."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable
from typing import NoReturn, TextIO

from lnnkit.errors import Error
from lnnkit.markup.pages import visible
from lnnkit.syntax.diagnostic import Diagnostic

DONE, WRONG, USAGE, INTERRUPTED = 0, 1, 2, 130  # the exit codes
Paint = Callable[[str, str], str]  # a text and what it is -> the text, with its colour

_CODES = {
    "query": "1", "heads": "2", "note": "2", "lower": "32", "upper": "31", "error": "1;31", "warning": "1;33",
    "true": "32", "likely_true": "2;32", "unknown": "2", "likely_false": "2;31", "false": "31",
    "contradiction": "1;35",
}  # fmt: skip
"""SGR parameters; what is not listed is printed as it is."""


class UsageError(Exception):
    """Options that do not go together, or with the program: one line on standard error, and exit code 2."""


def prepare() -> None:
    """Make characters that the encoding cannot hold (a stray byte in an argument) print as escapes instead of
    failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(pieces: Iterable[str]) -> None:
    """Write to standard output."""
    if sys.stdout is not None:
        sys.stdout.writelines(pieces)


def write_bytes(data: bytes) -> None:
    """Write binary data to standard output."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)


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


def write_utf8(text: str) -> None:
    """Write what another program reads to standard output, whatever the terminal's encoding."""
    in_utf8()
    write([text])


def deliver(text: str, output: str | None, then: str = "") -> None:
    """Write a result to the file ``output`` and name the command to run ``then``; without a file, write it to standard
    output."""
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
    """The exit code of a command; what it raises is reported, but an `OSError` of the output and, with
    ``LNNKIT_TRACEBACK``, a defect."""
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
        _defect(problem)
        return WRONG


def _defect(problem: Exception) -> None:
    """Report the exception on standard error: out of memory, or a defect of lnnkit."""
    if isinstance(problem, MemoryError) or "allocate memory" in str(problem):
        note("error[out-of-memory] there is not enough memory for this program and its data")
        note("  hint: bind the variables of its widest rules by further literals, or set --max-groundings")
    else:
        first = next(iter(str(problem).splitlines()), "")
        note(f"error[internal] lnnkit failed: {type(problem).__name__}: {first}")
        note("  hint: this is a defect of lnnkit; LNNKIT_TRACEBACK=1 shows where, for a report")


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
    """The paint function that suits a stream: with colours if it is a terminal that shows them and ``NO_COLOR`` is not
    set (https://no-color.org)."""
    shows = redraws(stream)
    if sys.platform == "win32":  # older consoles print the codes
        shows = stream is not None and stream.isatty() and "WT_SESSION" in os.environ
    return coloured if shows and not os.environ.get("NO_COLOR") else plain


def redraws(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal that can redraw a line."""
    return stream is not None and stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
