"""What a program mentions and where: gathered once, read by every pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lnnkit.check.program import LogicName, Predicate
from lnnkit.check.report import find, name_span
from lnnkit.check.walk import Role, Scope, Visit, unweighted, visits
from lnnkit.syntax import ast
from lnnkit.syntax.names import starts_upper
from lnnkit.syntax.span import Span

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

BareKind = Literal["number", "truth", "variable", "constant"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement, with what its file lends it."""

    statement: ast.Statement
    base: Path
    logic: LogicName


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a predicate or number is named. ``arity`` is None where none is written (``load P from``)."""

    name: str
    arity: int | None
    span: Span
    how: Literal["formula", "term", "fact", "label", "load", "labels"]


@dataclass(frozen=True, slots=True)
class Mention:
    """A variable or an entity in a formula; ``atom`` is None in a comparison, ``binder`` where the name is free."""

    name: str
    span: Span
    variable: bool
    quoted: bool = False
    binder: ast.Variable | None = None
    atom: ast.Atom | None = None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Formula:
    """A rule, an axiom or a query, read."""

    kind: Literal["rule", "axiom", "query"]
    root: ast.Expression
    entry: Entry
    visits: tuple[Visit, ...]
    mentions: tuple[Mention, ...]

    @property
    def statement(self) -> ast.RuleStatement | ast.AxiomStatement | ast.QueryStatement:
        assert isinstance(self.entry.statement, ast.RuleStatement | ast.AxiomStatement | ast.QueryStatement)
        return self.entry.statement


@dataclass(frozen=True)
class Symbols:
    """The program, indexed. ``declared`` holds the first declaration of each name."""

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
    arities: Mapping[str, int] = field(default_factory=dict)  # of undeclared predicates that only a table names
    learned: frozenset[str] = frozenset()  # the names of learnable values known beforehand (a query's program)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(name for name, predicate in self.declared.items() if predicate.numeric)

    def statements(self) -> Iterator[ast.Statement]:
        return (entry.statement for entry in self.entries)

    def bare_kind(self, atom: ast.Atom, scope: Scope) -> BareKind:
        return bare_kind(atom, scope, self.declared, self.propositions)


def bare_kind(
    atom: ast.Atom, scope: Scope, declared: Mapping[str, Predicate], propositions: frozenset[str]
) -> BareKind:
    """What a name without arguments is, as an operand of a comparison."""
    if atom.name in scope:
        return "variable"
    if atom.name in declared and declared[atom.name].numeric:
        return "number"
    if atom.name in propositions:
        return "truth"
    return "variable" if starts_upper(atom.name) else "constant"


def gather(
    entries: Sequence[Entry], declared: Mapping[str, Predicate] | None = None, told: Sequence[FactTable] = ()
) -> Symbols:
    """Index a program; ``declared`` says what is known beforehand (a query's program)."""
    declared = dict(declared or {})
    uses: dict[str, list[Use]] = {}
    raw: list[tuple[Literal["rule", "axiom", "query"], Entry, ast.Expression, tuple[Visit, ...]]] = []
    for entry in entries:
        statement = entry.statement
        match statement:
            case ast.PredicateStatement() | ast.NumberStatement():
                declared.setdefault(statement.name, declaration(statement))
            case ast.RuleStatement():
                raw.append(("rule", entry, statement.formula, tuple(visits(statement.formula))))
            case ast.AxiomStatement():
                raw.append(("axiom", entry, statement.formula, tuple(visits(statement.formula))))
            case ast.QueryStatement():
                raw.append(("query", entry, statement.formula, tuple(visits(statement.formula, "query"))))
            case ast.FactStatement() | ast.LabelStatement():
                how = "fact" if isinstance(statement, ast.FactStatement) else "label"
                atom = statement.atom
                _add(uses, Use(atom.name, len(atom.arguments), name_span(atom), how))
            case ast.LoadStatement() | ast.LabelTableStatement():
                how = "load" if isinstance(statement, ast.LoadStatement) else "labels"
                _add(uses, Use(statement.name, None, find(statement.span, statement.name, len("load")), how))
            case _:
                pass
    propositions = _propositions(declared, uses, raw)
    for _, _, _, seen in raw:
        for visit in seen:
            node = visit.node
            if isinstance(node, ast.Atom) and (use := _use(node, visit.role, visit.scope, declared, propositions)):
                _add(uses, use)
    formulas = tuple(
        Formula(kind, root, entry, seen, tuple(_mentions(seen, declared, propositions)))
        for kind, entry, root, seen in raw
    )
    return Symbols(
        entries=tuple(entries),
        declared=declared,
        formulas=formulas,
        uses={name: tuple(places) for name, places in uses.items()},
        propositions=propositions,
        texts=frozenset(_texts(entries, formulas, told)),
        told=tuple(told),
    )


def declaration(statement: ast.PredicateStatement | ast.NumberStatement) -> Predicate:
    closed = isinstance(statement, ast.PredicateStatement) and statement.closed
    numeric = isinstance(statement, ast.NumberStatement)
    return Predicate(statement.name, statement.sorts, closed, numeric, statement.span)


def _add(uses: dict[str, list[Use]], use: Use) -> None:
    uses.setdefault(use.name, []).append(use)


def _propositions(
    declared: Mapping[str, Predicate],
    uses: Mapping[str, Sequence[Use]],
    raw: Sequence[tuple[object, Entry, ast.Expression, tuple[Visit, ...]]],
) -> frozenset[str]:
    """The names that stand for truth values without arguments: outside of comparisons there is no doubt."""
    found = {name for name, predicate in declared.items() if not predicate.numeric and not predicate.sorts}
    found |= {name for name, places in uses.items() if any(use.arity == 0 for use in places)}
    for _, _, _, seen in raw:
        for visit in seen:
            node = visit.node
            if isinstance(node, ast.Atom) and not node.arguments and visit.role == "formula":
                if node.name not in visit.scope:
                    found.add(node.name)
    return frozenset(found - {name for name, predicate in declared.items() if predicate.numeric})


def _use(
    atom: ast.Atom, role: Role, scope: Scope, declared: Mapping[str, Predicate], propositions: frozenset[str]
) -> Use | None:
    """The use that an atom makes of its name; None where a bare name is a variable or an entity."""
    numeric = atom.name in declared and declared[atom.name].numeric
    if not atom.arguments:
        if atom.name in scope:
            return None
        if role == "comparand" and bare_kind(atom, scope, declared, propositions) in ("variable", "constant"):
            return None
        if role == "term" and not numeric and atom.name not in propositions:
            return None
    how = "term" if numeric or role in ("term", "comparand") else "formula"
    return Use(atom.name, len(atom.arguments), name_span(atom), how)


def _mentions(
    seen: Sequence[Visit], declared: Mapping[str, Predicate], propositions: frozenset[str]
) -> Iterator[Mention]:
    for visit in seen:
        node, scope = visit.node, visit.scope
        if isinstance(node, ast.Atom):
            for position, argument in enumerate(node.arguments):
                if isinstance(argument, ast.Variable):
                    binder = scope.get(argument.name)
                    yield Mention(argument.name, argument.span, True, False, binder, node, position)
                else:
                    yield Mention(argument.text, argument.span, False, argument.quoted, None, node, position)
            if not node.arguments and visit.role == "comparand":
                kind = bare_kind(node, scope, declared, propositions)
                if kind in ("variable", "constant"):
                    yield Mention(node.name, node.span, kind == "variable", False, scope.get(node.name))
        elif isinstance(node, ast.Entity) and visit.role == "comparand":
            yield Mention(node.text, node.span, False, True)


def _texts(entries: Sequence[Entry], formulas: Sequence[Formula], told: Sequence[FactTable]) -> Iterator[str]:
    """Entities come from facts, labels and tables, and from what a rule or axiom states outright (``axiom P(anna)``).

    A program of axioms alone has nowhere else to name its entities, so there every axiom makes its own known. A single
    letter never becomes known in that way: it is the classic lower-case variable.
    """
    bare = not told
    for entry in entries:
        if isinstance(entry.statement, ast.FactStatement | ast.LabelStatement):
            bare = False
            yield from (item.text for item in entry.statement.atom.arguments if isinstance(item, ast.Constant))
        elif isinstance(entry.statement, ast.LoadStatement | ast.LabelTableStatement):
            bare = False
    for formula in formulas:
        if formula.kind != "query" and ((bare and formula.kind == "axiom") or _outright(formula)):
            yield from (item.name for item in formula.mentions if not item.variable and len(item.name) > 1)


def _outright(formula: Formula) -> bool:
    """A literal, or a conjunction of literals, about named entities."""
    if any(item.variable for item in formula.mentions):
        return False
    stack = [formula.root]
    while stack:
        node = unweighted(stack.pop())
        if isinstance(node, ast.And):
            stack.extend(node.operands)
        elif isinstance(node, ast.Not):
            stack.append(node.operand)
        elif not isinstance(node, ast.Atom):
            return False
    return True
