"""The state of a session: the program of its file, the statements that were added, and the assumptions; and all of it
as a program."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lnnkit.check.program import Fact
from lnnkit.errors import Error, ProgramError
from lnnkit.explain.proof.proof import ground_key
from lnnkit.kb import KnowledgeBase, load, loads, saving
from lnnkit.kb.session import Atom
from lnnkit.output import require_apart
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse

UNNAMED = "<shell>"  # in place of the path of a file


@dataclass(frozen=True, slots=True)
class ShellState:
    """``stated`` is the knowledge base of the ``origin`` (the program of FILE) and the ``added`` statements, without
    what is stated elsewhere about the atoms ``taken`` back. ``kb``, which answers questions, also has what is
    ``assumed``: by the text of an atom the fact that replaces everything else stated about it. ``before`` is the state
    that `undo` returns to, ``change`` what it would undo. ``limit`` is the number of rows shown of an answer (0: all).
    ``status`` is how inference ended when the user was last told."""

    origin: ast.Program
    stated: KnowledgeBase
    kb: KnowledgeBase
    added: tuple[ast.Statement, ...] = ()
    assumed: Mapping[str, Fact] = field(default_factory=dict)
    taken: frozenset[Atom] = frozenset()
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


def without_facts(state: ShellState, atoms: Collection[Atom], text: str) -> ShellState:
    """The state in which nothing is stated about these atoms. Raises `Error`."""
    stated = state.stated.copied()
    for name, arguments in atoms:
        stated.retract(name, [arguments])
    added = tuple(statement for statement in state.added if _about(statement) not in atoms)
    assumed = {key: f for key, f in state.assumed.items() if (f.predicate, f.arguments) not in atoms}
    changed = replace(state, stated=stated, added=added, assumed=assumed, taken=state.taken.union(atoms))
    return _assuming(replace(changed, before=_kept(state), change=text))


def _about(statement: ast.Statement) -> Atom | None:
    """The atom that a fact states something of."""
    return ground_key(statement.atom) if isinstance(statement, ast.FactStatement) else None


def with_assumption(state: ShellState, fact: Fact, atom: str, text: str) -> ShellState:
    """The state with a fact assumed; it replaces an earlier assumption about its atom."""
    others = {other: assumption for other, assumption in state.assumed.items() if other != atom}
    return _assuming(replace(state, assumed=others | {atom: fact}, before=state, change=text))


def reloaded(state: ShellState, path: str) -> tuple[ShellState, list[Diagnostic]]:
    """The state on the file as it is now, with what was stated and assumed, and the warnings of the file. Raises
    `Error`."""
    fresh = opened(load(path), state.limit)
    restated = replace(fresh, added=state.added, taken=state.taken)
    if state.added or state.taken:
        restated = replace(restated, stated=_rebuilt(restated, state.added))
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
    return _rebuilt(state, (*state.added, *statements))


def _rebuilt(state: ShellState, added: Sequence[ast.Statement]) -> KnowledgeBase:
    """What the file and the ``added`` statements say, without what else is said of the atoms that were taken back."""
    stated = KnowledgeBase(replace(state.origin, statements=(*state.origin.statements, *added)), state.stated.base)
    arities = {name: predicate.arity for name, predicate in stated.predicates.items()}
    for name, arguments in (atom for atom in state.taken if arities.get(atom[0]) == len(atom[1])):
        stated.retract(name, [arguments])
    again = [fact for fact in added if isinstance(fact, ast.FactStatement) and _about(fact) in state.taken]
    return stated.with_facts(again) if again else stated


def save(state: ShellState, path: Path) -> None:
    """Write the program of the session to a file, with paths that lead from there to the same files. Raises `Error`,
    and writes nothing, if the session cannot be written as a program or the file cannot be written."""
    if path.suffix != ".lnn":
        raise Error([Diagnostic("no-program", f'"{path}" does not end in .lnn', f"name it {path.with_suffix('.lnn')}")])
    require_apart(path, state.stated.files)
    added = "\n".join(statement.span.text for statement in state.added)
    text = "\n\n".join(filter(None, [state.origin.span.source.text.rstrip("\n"), added])) + "\n"
    program, findings = parse(text, str(path))
    if findings:
        raise ProgramError(findings)
    assumed = {(fact.predicate, fact.arguments) for fact in state.assumed.values()}
    names = sorted({name for name, _ in (*state.taken, *assumed)})
    if names:
        facts = {state.kb.predicates[name]: state.kb.statements_of(name) for name in names}
        program = saving.restated(program, state.stated.base.resolve(), facts, assumed=assumed)
    saving.save(program, state.stated.base.resolve(), {}, path)
