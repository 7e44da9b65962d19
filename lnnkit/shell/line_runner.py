"""Runs inputs one after another, and prints the replies; also those of a script."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType

from lnnkit.cli import streams
from lnnkit.cli.streams import ProgressLine, paint_for
from lnnkit.shell.performing import Reply, perform
from lnnkit.shell.shell_state import INFERRING, ShellState, Typed, renewed
from lnnkit.syntax.split import unfinished


class LineRunner:
    """Holds the ``state`` between inputs. ``at_prompt`` Ctrl-C ends an inference instead of the process; elsewhere each
    query is printed above its answers. ``failed`` says whether any input was wrong."""

    def __init__(self, state: ShellState, *, at_prompt: bool) -> None:
        self.state = state
        self.failed = False
        self._at_prompt = at_prompt

    def run(self, typed: Typed) -> bool:
        """Perform an input and print the reply. Returns whether to go on."""
        reply: Reply | None = None

        def performed() -> int:
            nonlocal reply
            with ctrl_c(signal.default_int_handler) if self._at_prompt else nullcontext():
                with ProgressLine("inferring", shown=typed.kind in INFERRING) as line, self.state.kb.watched(line):
                    self.state, reply = perform(self.state, typed, paint_for(sys.stdout), headed=not self._at_prompt)
                streams.findings(reply.findings)
                streams.write([reply.text])
                streams.flush()
            return streams.WRONG if reply.failed else streams.DONE

        self.failed |= streams.guarded(performed) == streams.WRONG
        if reply is None:  # it was interrupted, or failed: its results are not kept, and the session goes on
            self.state = renewed(self.state)
        return reply is None or not reply.ended


def whole_input(next_line: Callable[[bool], str], pending: str | None = None) -> tuple[str, str | None]:
    """A complete input, and the line read beyond it, if any: the ``pending`` line of the next. An input goes on in the
    next line if it cannot end where it does (after an operator, say); ``next_line`` receives whether it goes on."""
    text = next_line(False) if pending is None else pending
    while unfinished(text):
        try:
            more = next_line(True)
        except EOFError:
            break
        if Typed(more).kind not in ("ask", "nothing"):  # a command, or the start of a statement
            return text, more
        if not more.strip():
            break
        text += "\n" + more
    return text, None


@contextmanager
def ctrl_c(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """A context in which ``handler`` is called on Ctrl-C."""
    before = signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def run_lines(state: ShellState) -> bool:
    """Run standard input line by line, to its end or to `quit`. Returns whether no line was wrong."""
    runner = LineRunner(state, at_prompt=False)
    read = 0

    def next_line(_goes_on: bool) -> str:
        nonlocal read
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        read += 1
        return line.rstrip("\r\n")

    pending, going = None, True
    while going:
        first = read + (pending is None)
        try:
            text, pending = whole_input(next_line, pending)
        except EOFError:
            break
        going = runner.run(Typed(text, "<stdin>", first))
    return not runner.failed
