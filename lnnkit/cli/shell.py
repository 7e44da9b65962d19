"""``lnnkit shell``: ask, state and explain at a prompt."""

from __future__ import annotations

import argparse
import sys

from lnnkit import __version__
from lnnkit.cli import streams
from lnnkit.cli.command_parser import Commands
from lnnkit.cli.program_file import STANDARD_INPUT, load
from lnnkit.cli.run import ON_TERMINAL
from lnnkit.markup.optional_libraries import installed

_HELP = """\
ask, state facts and see why, at a prompt

Reads a program, if one is named, and then one input after another: a formula to answer, a fact or any other statement,
or a command (`help` lists them). Where standard input is no terminal, it is read line by line, and the exit code is 1
where any line was wrong. Needs the extra `shell` at a terminal: pip install 'lnnkit[shell]'

  lnnkit shell triage.lnn
  echo 'AtRisk(X)' | lnnkit shell triage.lnn
"""


def add_shell(commands: Commands) -> None:
    parser = commands.add("shell", _run, _HELP, file="")
    parser.add_argument("file", metavar="FILE", nargs="?", help="a .lnn program (default: an empty one)")


def _run(arguments: argparse.Namespace) -> int:
    if arguments.file == STANDARD_INPUT:
        raise streams.UsageError("inputs are read from standard input, so FILE cannot be -")
    at_terminal = sys.stdin is not None and sys.stdin.isatty()
    if at_terminal and not installed("prompt_toolkit"):
        streams.note("lnnkit shell: error: the prompt needs prompt_toolkit: pip install 'lnnkit[shell]'")
        return 1
    from lnnkit.shell.shell_state import opened

    kb = None if arguments.file is None else load(arguments.file, shown=True)
    streams.findings(kb.warnings if kb is not None else ())
    state = opened(kb, ON_TERMINAL if at_terminal else 0)
    if not at_terminal:
        from lnnkit.shell.line_runner import run_lines

        return 0 if run_lines(state) else 1
    from lnnkit.shell.terminal_prompt import run_prompt

    streams.write([f"lnnkit {__version__}; `help` lists the commands, Ctrl-D ends\n"])
    run_prompt(state)
    return 0
