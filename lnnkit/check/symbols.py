"""What a program mentions and where: the index that every pass reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lnnkit.check.program import CheckedProgram, Predicate
from lnnkit.check.walk import Scope, Visit
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import starts_upper
from lnnkit.syntax.span import Span

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

BareKind = Literal["number", "truth", "variable", "constant"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement, with the folder and the logic of its file."""

    statement: ast.Statement
    base: Path
    logic: ast.LogicName


@dataclass(frozen=True, slots=True)
class Use:
    """One occurrence of a predicate or number. ``arity`` is None if no arguments are written (``load P from``)."""

    name: str
    arity: int | None
    span: Span
    how: Literal["formula", "term", "fact", "label", "load", "labels"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A variable or an entity in a formula; ``atom`` is None in a comparison, ``binder`` is None for a free name."""

    name: str
    span: Span
    variable: bool
    quoted: bool = False
    binder: ast.Variable | None = None
    atom: ast.Atom | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Formula:
    """A rule, an axiom or a query with its mentions."""

    kind: Literal["rule", "axiom", "query"]
    root: ast.Expression
    entry: Entry
    visits: tuple[Visit, ...]
    mentions: tuple[Mention, ...] = ()

    @property
    def statement(self) -> ast.RuleStatement | ast.AxiomStatement | ast.QueryStatement:
        assert isinstance(self.entry.statement, ast.RuleStatement | ast.AxiomStatement | ast.QueryStatement)
        return self.entry.statement


@dataclass(frozen=True)
class Symbols:
    """The index of a program. ``declared`` holds the first declaration of each name."""

    entries: tuple[Entry, ...]
    declared: Mapping[str, Predicate]
    formulas: tuple[Formula, ...]
    uses: Mapping[str, tuple[Use, ...]]
    propositions: frozenset[str]
    texts: frozenset[str]  # the entities that the program text itself makes known
    told: tuple[FactTable, ...] = ()
    tables: tuple[FactTable, ...] = ()
    label_tables: tuple[FactTable, ...] = ()
    complete: bool = True  # False where a table was not read, so that entities may be missing
    left_out: frozenset[str] = frozenset()  # the words of statements that did not parse
    whole: bool = True  # False where an imported file could not be read
    resolved: Mapping[str, Predicate] = field(default_factory=dict)  # every predicate, with its sorts
    arities: Mapping[str, int] = field(default_factory=dict)  # arities of undeclared predicates that only a table names
    learned: Mapping[str, float | None] = field(default_factory=dict)  # initial values of learnables, for a query
    program: CheckedProgram | None = None  # the checked program, if this is the index of a later query

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(name for name, predicate in self.declared.items() if predicate.numeric)

    def statements(self) -> Iterator[ast.Statement]:
        return (entry.statement for entry in self.entries)

    def stated(self) -> Iterator[tuple[Literal["fact", "label"], ast.FactStatement | ast.LabelStatement]]:
        """The facts and labels of the text."""
        for statement in self.statements():
            if isinstance(statement, ast.FactStatement | ast.LabelStatement):
                yield "fact" if isinstance(statement, ast.FactStatement) else "label", statement

    def doubtful(self, name: str) -> bool:
        """Whether a name may be supplied by something that could not be read, so that its absence is not reported."""
        return not self.whole or name in self.left_out

    def bare_kind(self, atom: ast.Atom, scope: Scope) -> BareKind:
        return bare_kind(atom, scope, self.declared, self.propositions)


def bare_kind(
    atom: ast.Atom, scope: Scope, declared: Mapping[str, Predicate], propositions: frozenset[str]
) -> BareKind:
    """The kind of a name without arguments that is an operand of a comparison."""
    if atom.name in scope:
        return "variable"
    if atom.name in declared and declared[atom.name].numeric:
        return "number"
    if atom.name in propositions:
        return "truth"
    return "variable" if starts_upper(atom.name) else "constant"
