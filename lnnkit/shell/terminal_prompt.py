"""The session at a terminal: a prompt with history and completion, using prompt_toolkit (the extra `shell`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from lnnkit.cli import streams
from lnnkit.editor.suggestions import as_entities, in_arguments, last_word
from lnnkit.kb import KnowledgeBase
from lnnkit.shell.line_runner import LineRunner, ctrl_c, whole_input
from lnnkit.shell.shell_state import COMMANDS, ShellState, Typed
from lnnkit.syntax.identifiers import FUNCTIONS, KEYWORDS, UNITS, WORDS
from lnnkit.syntax.printer import format_predicate

PROMPT, GOES_ON = "lnnkit> ", "   ...> "

_STATEMENTS = tuple(word for word in KEYWORDS if word != "lnnkit")
_EXPRESSIONS = (*sorted(WORDS), *sorted(FUNCTIONS), *sorted(UNITS))


def run_prompt(state: ShellState) -> None:
    """Read inputs at the prompt until Ctrl-D or `quit`. Ctrl-C discards the current input, or ends an inference;
    otherwise it does nothing, so that pressing it twice leads back to the prompt."""
    runner = LineRunner(state, at_prompt=True)
    completer = _Completer(runner)
    session = PromptSession[str](history=_history(), completer=completer, complete_while_typing=False)
    count, pending, going = 0, None, True
    with ctrl_c(lambda _number, _frame: None):
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
        yield from suggestions(self._runner.state.kb, document.text_before_cursor)


def _history() -> History:
    """Inputs of earlier sessions, in the user's state folder; of this session alone if that cannot be written."""
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
    variable, usual = "XDG_STATE_HOME", ".local/state"
    if sys.platform == "win32":
        variable, usual = "LOCALAPPDATA", "AppData/Local"
    folder = os.environ.get(variable, "")
    return (Path(folder) if os.path.isabs(folder) else Path.home() / usual) / "lnnkit"


def suggestions(kb: KnowledgeBase, text: str) -> list[Completion]:
    """What may stand for the last word of ``text``, at the cursor (in arguments: entities); each says what it is."""
    before, typed = last_word(text)
    if in_arguments(before):
        return [Completion(entity, -len(typed), display_meta="entity") for entity in as_entities(typed, kb.entities)]
    if typed.startswith('"'):
        return []
    named = [(format_predicate(n), "number" if known.numeric else "predicate") for n, known in kb.predicates.items()]
    known = [*sorted(named), *((word, "keyword") for word in _EXPRESSIONS)]
    if not before.strip():
        known = [*((word, "command") for word in COMMANDS), *((word, "keyword") for word in _STATEMENTS), *known]
    unique = dict(reversed(known))  # a word of several kinds is of the first
    offered = [word for word in dict(known) if word.startswith(typed)]
    return [Completion(word, -len(typed), display_meta=unique[word]) for word in offered]
