"""The session over lines that do not come from a terminal, such as a script."""

from __future__ import annotations

import sys

from lnnkit.shell.line_runner import LineRunner, whole_input
from lnnkit.shell.shell_state import State
from lnnkit.shell.typed import Typed


def run_lines(state: State) -> bool:
    """Run standard input line by line, to its end or to `quit`. Returns whether no line was wrong."""
    runner = LineRunner(state, headed=True, interruptible=False)
    read = 0

    def next_line(_goes_on: bool) -> str:
        nonlocal read
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        read += 1
        return line.rstrip("\r\n")

    pending: str | None = None
    while True:
        first = read + (pending is None)
        try:
            text, pending = whole_input(next_line, pending)
        except EOFError:
            return not runner.failed
        if not runner.run(Typed(text, "<stdin>", first)):
            return not runner.failed
