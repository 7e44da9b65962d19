"""The program of a session as text, and as a file."""

from __future__ import annotations

from pathlib import Path

from lnnkit.errors import Error, ProgramError
from lnnkit.kb import saving
from lnnkit.output import require_apart
from lnnkit.shell.shell_state import State
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse


def save(state: State, path: Path) -> None:
    """Write the program of the session to a file, with paths that lead from there to the same files. Raises `Error`,
    and writes nothing, if the session cannot be written as a program or the file cannot be written."""
    if path.suffix != ".lnn":
        raise Error([Diagnostic("no-program", f'"{path}" does not end in .lnn', f"name it {path.with_suffix('.lnn')}")])
    require_apart(path, state.stated.files)
    text = program_text(state)
    program, findings = parse(text, str(path))
    if findings:
        raise ProgramError(findings)
    saving.save(program, state.base.resolve(), {}, path)


def program_text(state: State) -> str:
    """The text of the file, then what was added, then the assumptions as facts. Raises `Error` if an assumption is
    looser than the facts or disagrees with them: no statement can take a fact back."""
    _require_said(state)
    parts = [state.origin.span.source.text.rstrip("\n")]
    if state.added:
        parts.append("\n".join(statement.span.text for statement in state.added))
    if state.assumed:
        parts.append("\n".join(["# assumed", *(each.fact.span.text for each in state.assumed)]))
    return "\n\n".join(filter(None, parts)) + "\n"


def _require_said(state: State) -> None:
    findings = []
    for each in state.assumed:
        others = state.stated.overruled(each.fact)
        if others:
            message = f"the assumption about `{each.atom}` replaces {', '.join(others)}, and a program cannot say that"
            hint = "`undo` it, or change that fact, before you save"
            findings.append(Diagnostic("assumed-otherwise", message, hint))
    if findings:
        raise Error(findings)
