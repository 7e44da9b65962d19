"""The session at a terminal: a prompt with history and completion, using prompt_toolkit (the extra `shell`)."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from lnnkit.cli import streams
from lnnkit.shell.line_runner import LineRunner, whole_input
from lnnkit.shell.prompt_completion import suggestions
from lnnkit.shell.requests import Typed
from lnnkit.shell.shell_state import State

PROMPT, GOES_ON = "lnnkit> ", "   ...> "


def run_prompt(state: State) -> None:
    """Read inputs at the prompt until Ctrl-D or `quit`. Ctrl-C discards the current input, or ends an inference;
    otherwise it does nothing, so that pressing it twice leads back to the prompt."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        _read_inputs(state)
    finally:
        signal.signal(signal.SIGINT, before)


def _read_inputs(state: State) -> None:
    runner = LineRunner(state, headed=False, interruptible=True)
    session: PromptSession[str] = PromptSession(
        history=_history(), completer=_Completer(runner), complete_while_typing=False
    )
    count = 0
    pending: str | None = None
    going = True
    while going:
        try:
            text, pending = whole_input(lambda goes_on: session.prompt(GOES_ON if goes_on else PROMPT), pending)
        except KeyboardInterrupt:
            pending = None
            continue
        except EOFError:
            return
        count += bool(text.strip())
        going = runner.run(Typed(text, "<shell>", max(count, 1)))


class _Completer(Completer):
    def __init__(self, runner: LineRunner) -> None:
        self._runner = runner

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        for each in suggestions(self._runner.state.kb, document.text_before_cursor):
            yield Completion(each.text, -each.typed, display_meta=each.kind)


def _history() -> History:
    """Inputs of earlier sessions, stored in the user's state folder; only those of this session if that folder cannot
    be written."""
    path = state_folder() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600))
    except OSError as problem:
        streams.note(f"hint: no history is kept: {path} cannot be written ({problem.strerror})")
        return InMemoryHistory()
    return FileHistory(path)


def state_folder() -> Path:
    """The folder for persistent state: by the XDG base directory specification, or the Windows equivalent."""
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA")
        return Path(folder) / "lnnkit" if folder else Path.home() / "AppData" / "Local" / "lnnkit"
    folder = os.environ.get("XDG_STATE_HOME", "")
    return (Path(folder) if os.path.isabs(folder) else Path.home() / ".local" / "state") / "lnnkit"
