"""The state of a session: the program of its file, the statements that were added, and the assumptions; and all of it
as a program. An input as a request: a command, statements, or a formula to ask. Findings are placed in the input."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from lnnkit.check.program import Fact
from lnnkit.errors import Error, ProgramError
from lnnkit.explain.conflict.program_variants import ASSUMED
from lnnkit.explain.proof.proof import ground_key
from lnnkit.kb import KnowledgeBase, load, loads, saving
from lnnkit.kb.session import GroundAtom
from lnnkit.output import require_apart
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import QUERY, Diagnostic, Source, Span
from lnnkit.syntax.identifiers import shadow
from lnnkit.syntax.parse import parse
from lnnkit.syntax.split import comment_start, split

_Looking = Literal["ask", "why", "whynot", "rules", "facts", "help", "nothing"]
RequestKind = Literal[
    _Looking, "state", "assume", "retract", "replace", "changes", "undo", "reload", "save", "limit", "quit"
]  # `state`: statements
COMMANDS = (
    "why", "whynot", "assume", "retract", "replace", "changes", "undo", "rules", "facts", "reload", "save", "limit",
    "help", "quit", "exit", "explain",
)  # fmt: skip
_OTHER_NAMES = {"exit": "quit", "explain": "why"}
INFERRING = frozenset(("ask", "state", "why", "whynot", "assume", "retract", "replace", "changes"))
_INK = re.compile(r"[^\n]")

# A word that an operator follows is a proposition: `save & Rain`.
_COMMAND = re.compile(rf"\s*({'|'.join(COMMANDS)})(?:\s*$|\s+(?![&|@<>=∧∨⊕→↔⇒⇔]|->|(?:and|or|xor|implies|iff)\b))")
# As a statement, `?- P(X)` has a message of its own.
_QUERY_ELSEWHERE = re.compile(r"\s*(?:\?-|select\s.*\sfrom\s)", re.IGNORECASE)
UNNAMED = "<shell>"  # in place of the path of a file


@dataclass(frozen=True)
class Typed:
    """An input of one or more lines; its first line is line ``line`` of ``path``. ``kind`` is what it asks for."""

    text: str
    path: str = "<shell>"
    line: int = 1

    @cached_property
    def _command(self) -> re.Match[str] | None:
        return _COMMAND.match(self.text)

    @cached_property
    def kind(self) -> RequestKind:
        if self._command:
            word = self._command[1]
            return _OTHER_NAMES.get(word, word)  # pyright: ignore[reportReturnType]  # a word of COMMANDS
        pieces = split(shadow(self.text))
        if not pieces:
            return "nothing"
        if self.text.strip() == "?":
            return "help"
        return "state" if pieces[0].keyword is not None or _QUERY_ELSEWHERE.match(self.text) else "ask"

    @property
    def rest(self) -> int:
        """The offset at which a command's argument starts; it equals `end` if there is none."""
        return self._command.end() if self._command else 0

    @property
    def end(self) -> int:
        """Where the argument ends: before white space and a comment."""
        last = self.text.rpartition("\n")[2]
        return max(self.rest, len(self.text[: len(self.text) - len(last) + comment_start(last)].rstrip()))

    @property
    def argument(self) -> str:
        return self.text[self.rest : self.end]

    @property
    def source(self) -> Source:
        """The input as a source, preceded by as many empty lines as came before it."""
        return Source(self.path, "\n" * (self.line - 1) + self.text)

    def only(self, start: int, end: int | None = None) -> str:
        """The text of ``source`` with all outside a range of the input blanked, so that findings keep their places."""
        text = self.source.text
        before = self.line - 1 + start
        return _INK.sub(" ", text[:before]) + text[before : None if end is None else self.line - 1 + end]

    def placed(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Findings about a query or an assumption of the input, moved to their places in it."""
        return tuple(map(self._placed, findings))

    def _placed(self, finding: Diagnostic) -> Diagnostic:
        span = finding.span
        if span is None or span.source.path not in (QUERY, ASSUMED):
            return finding
        blank = len(span.text) - len(span.text.lstrip())  # the span of a whole query includes what was blanked
        end = max(span.start + len(span.text.rstrip()), span.start + blank)
        return replace(finding, span=Span(self.source, span.start + blank, end))


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
    taken: frozenset[GroundAtom] = frozenset()
    before: ShellState | None = None
    change: str = ""
    limit: int = 0
    status: str = ""


def opened(kb: KnowledgeBase | None, limit: int = 0) -> ShellState:
    """The state for the knowledge base of a file, or for an empty program, with paths from the working folder."""
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


def without_facts(state: ShellState, atoms: Collection[GroundAtom], text: str) -> ShellState:
    """The state in which nothing is stated about these atoms. Raises `Error`."""
    stated = state.stated.copied()
    for name, arguments in atoms:
        stated.retract(name, [arguments])
    added = tuple(statement for statement in state.added if _about(statement) not in atoms)
    assumed = {key: f for key, f in state.assumed.items() if (f.predicate, f.arguments) not in atoms}
    changed = replace(state, stated=stated, added=added, assumed=assumed, taken=state.taken.union(atoms))
    return _assuming(replace(changed, before=_kept(state), change=text))


def _about(statement: ast.Statement) -> GroundAtom | None:
    """The atom that a fact states something of."""
    return ground_key(statement.atom) if isinstance(statement, ast.FactStatement) else None


def with_assumption(state: ShellState, fact: Fact, atom: str, text: str) -> ShellState:
    """The state with a fact assumed; it replaces an earlier assumption about its atom."""
    others = {other: assumption for other, assumption in state.assumed.items() if other != atom}
    return _assuming(replace(state, assumed=others | {atom: fact}, before=state, change=text))


def reloaded(state: ShellState, path: str) -> tuple[ShellState, list[Diagnostic]]:
    """The state on the file as it is now, with what was stated and assumed, and the file's warnings. Raises `Error`."""
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
    """Facts about known predicates join the checked program; any other statement has the whole checked again."""
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
