"""The command line: ``lnnkit COMMAND FILE``. Answers go to standard output, diagnostics to standard error.

Whatever happens, a user sees a finding and an exit code, never a traceback (``LNNKIT_TRACEBACK=1`` shows it to whoever
looks for a defect). Exit codes: 0 done, 1 the program, its data or its budget is wrong, 2 usage, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import NoReturn

from lnnkit.cli import streams
from lnnkit.cli.streams import DONE, USAGE, WRONG


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command (by default that of ``sys.argv``) and return its exit code. Sets torch's threads for ``run``."""
    streams.prepare()
    try:
        code = streams.guarded(lambda: _command(argv))
        streams.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as in `lnnkit run f.lnn | head`
        streams.abandon()
        return DONE
    except OSError as problem:
        streams.note(f"error[output] the output cannot be written: {problem.strerror or problem}")
        streams.abandon()
        return WRONG


def script() -> NoReturn:
    """Entry point of the ``lnnkit`` process: exits with the code of `main`.

    Ctrl-C ends the process at once (during inference, the second one does; see `lnnkit.cli.run`). A
    ``KeyboardInterrupt`` could pass through the C++ code that imports torch and abort there. The normal exit is
    immediate as well, since the interpreter takes torch down piece by piece and an interrupt then would change the exit
    code.
    """
    signal.signal(signal.SIGINT, lambda _signal, _frame: streams.end_interrupted())
    os._exit(main())


def _command(argv: Sequence[str] | None) -> int:
    from lnnkit.cli.command_line import parse_arguments  # most of the start-up time: Ctrl-C is handled by now

    try:
        arguments = parse_arguments(argv)
    except SystemExit as end:  # argparse has said why
        return end.code if isinstance(end.code, int) else USAGE
    try:
        return arguments.command(arguments)
    except streams.UsageError as problem:
        streams.note(f"{arguments.prog}: error: {problem}")
        return USAGE
