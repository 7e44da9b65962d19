"""The state of a session: the program of its file, the statements that were added, and the assumptions; and all of it
as a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lnnkit.check.program import Fact
from lnnkit.errors import Error, ProgramError
from lnnkit.kb import KnowledgeBase, load, loads, saving
from lnnkit.output import require_apart
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse

UNNAMED = "<shell>"  # in place of the path of a file


@dataclass(frozen=True, slots=True)
class ShellState:
    """``stated`` is the knowledge base of the ``origin`` (the program of FILE) and the ``added`` statements. ``kb``,
    which answers questions, also has what is ``assumed``: by the text of an atom the fact that replaces everything else
    stated about it. ``before`` is the state that `undo` returns to, ``change`` what it would undo. ``limit`` is the
    number of rows shown of an answer (0: all). ``status`` is how inference ended when the user was last told."""

    origin: ast.Program
    stated: KnowledgeBase
    kb: KnowledgeBase
    added: tuple[ast.Statement, ...] = ()
    assumed: Mapping[str, Fact] = field(default_factory=dict)
    before: ShellState | None = None
    change: str = ""
    limit: int = 0
    status: str = ""


def opened(kb: KnowledgeBase | None, limit: int = 0) -> ShellState:
    """The state for the knowledge base of a file, or for an empty program whose paths are relative to the working
    folder."""
    if kb is None:
        kb = loads("", ".", UNNAMED)
    path = kb.program.span.source.path
    origin = kb.program if kb.text == kb.program.span.source.text else parse(kb.text, path)[0]
    return ShellState(origin, kb, kb, limit=limit)


def with_statements(state: ShellState, statements: Sequence[ast.Statement]) -> tuple[ShellState, list[Diagnostic]]:
    """The state with these statements added, and the warnings that are new. Raises `Error`."""
    stated = _stating(state, statements)
    warnings = [finding for finding in stated.warnings if finding not in state.stated.warnings]
    change = "; ".join(statement.span.on_one_line for statement in statements)
    added = (*state.added, *statements)
    return _assuming(replace(state, stated=stated, added=added, before=_kept(state), change=change)), warnings


def with_assumption(state: ShellState, fact: Fact, atom: str, text: str) -> ShellState:
    """The state with a fact assumed; it replaces an earlier assumption about its atom."""
    others = {other: assumption for other, assumption in state.assumed.items() if other != atom}
    return _assuming(replace(state, assumed=others | {atom: fact}, before=state, change=text))


def reloaded(state: ShellState, path: str) -> tuple[ShellState, list[Diagnostic]]:
    """The state on the file as it is now, with what was stated and assumed, and the warnings of the file. Raises
    `Error`."""
    fresh = opened(load(path), state.limit)
    restated = with_statements(fresh, state.added)[0] if state.added else fresh
    restated = replace(restated, assumed=state.assumed, before=_kept(state), change="reload", status=state.status)
    return _assuming(restated), [finding for finding in fresh.stated.warnings if finding not in state.stated.warnings]


def renewed(state: ShellState) -> ShellState:
    """The same state without any inferred bounds, to continue with after an exception has interrupted inference."""
    return _assuming(replace(state, stated=state.stated.copied()))


def _kept(state: ShellState) -> ShellState:
    """The state to return to, without inferred bounds: memory."""
    return replace(state, stated=state.stated.copied(), kb=state.kb.copied())


def _assuming(state: ShellState) -> ShellState:
    bounds = {atom: (fact.lower, fact.upper) for atom, fact in state.assumed.items()}
    return replace(state, kb=state.stated.assume(bounds) if bounds else state.stated)


def _stating(state: ShellState, statements: Sequence[ast.Statement]) -> KnowledgeBase:
    """Facts about known predicates are added to the checked program; any other statement makes the whole program be
    checked again."""
    known = state.stated.predicates
    facts = [fact for fact in statements if isinstance(fact, ast.FactStatement) and fact.atom.name in known]
    if len(facts) == len(statements):
        return state.stated.with_facts(facts)
    everything = (*state.origin.statements, *state.added, *statements)
    return KnowledgeBase(replace(state.origin, statements=everything), state.stated.base)


def save(state: ShellState, path: Path) -> None:
    """Write the program of the session to a file, with paths that lead from there to the same files. Raises `Error`,
    and writes nothing, if the session cannot be written as a program or the file cannot be written."""
    if path.suffix != ".lnn":
        raise Error([Diagnostic("no-program", f'"{path}" does not end in .lnn', f"name it {path.with_suffix('.lnn')}")])
    require_apart(path, state.stated.files)
    text = program_text(state)
    program, findings = parse(text, str(path))
    if findings:
        raise ProgramError(findings)
    saving.save(program, state.stated.base.resolve(), {}, path)


def program_text(state: ShellState) -> str:
    """The text of the file, then what was added, then the assumptions as facts. Raises `Error` if an assumption is
    looser than the facts or disagrees with them: no statement can take a fact back."""
    overruled = {atom: others for atom, fact in state.assumed.items() if (others := state.stated.overruled(fact))}
    if overruled:
        message = "the assumption about `{}` replaces {}, and a program cannot say that"
        hint = "`undo` it, or change that fact, before you save"
        named = ((atom, ", ".join(others)) for atom, others in overruled.items())
        raise Error([Diagnostic("assumed-otherwise", message.format(atom, facts), hint) for atom, facts in named])
    added = "\n".join(statement.span.text for statement in state.added)
    assumed = "\n".join(["# assumed", *(fact.span.text for fact in state.assumed.values())] if state.assumed else [])
    return "\n\n".join(filter(None, [state.origin.span.source.text.rstrip("\n"), added, assumed])) + "\n"
