"""What a program mentions and where: the index that every pass reads, built in one walk.

What the text states about single atoms: facts, labels, and axioms that consist of one literal.

``axiom ~P(anna) in [0.2, 1]`` is the same statement as ``fact ~P(anna) in [0.2, 1]``, and is treated as that fact: it
holds before the first round, it lists its atom, and if it contradicts another one, the atom is arrested, whether they
are facts or axioms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from lnnkit.check.findings import find, name_span
from lnnkit.check.program import CheckedProgram, Fact, Predicate
from lnnkit.check.walk import Role, Scope, Visit, free_variables, nodes, proposition, visits
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
class SymbolUse:
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
    def statement(self) -> ast.FormulaStatement:
        assert isinstance(self.entry.statement, ast.FormulaStatement)
        return self.entry.statement


@dataclass(frozen=True)
class Symbols:
    """The index of a program. ``declared`` holds the first declaration of each name."""

    entries: tuple[Entry, ...]
    declared: Mapping[str, Predicate]
    formulas: tuple[Formula, ...]
    uses: Mapping[str, tuple[SymbolUse, ...]]
    propositions: frozenset[str]
    texts: frozenset[str]  # the entities that the program text itself makes known
    extra: tuple[FactTable, ...] = ()  # that the text does not name
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

    def stated(self) -> Iterator[tuple[Literal["fact", "label"], ast.AtomStatement]]:
        """The facts and labels of the text."""
        for statement in self.statements():
            if isinstance(statement, ast.AtomStatement):
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


_BELOW_ONE = 1 - 2.0**-53  # the greatest truth below 1


def fact(statement: ast.AtomStatement) -> Fact:
    """The fact with its bounds on the atom: ``~P(a) in [l, u]`` becomes ``P(a) in [1 - u, 1 - l]``."""
    stated = _of(statement.atom, statement.negated, statement.bounds, statement.span)
    assert stated is not None
    trust = statement.trust if isinstance(statement, ast.FactStatement) else None
    return stated if trust is None else replace(stated, trust=float(trust))


def stated_fact(formula: Formula) -> Fact | None:
    """The fact that an axiom states, if its formula is a literal about named entities; otherwise None. Rules are never
    turned into facts, since they may learn."""
    literal, negated = formula.root, False
    while isinstance(literal, ast.Not):
        literal, negated = literal.operand, not negated
    if formula.kind != "axiom" or not isinstance(literal, ast.Atom):
        return None
    if any(isinstance(argument, ast.Variable) for argument in literal.arguments):
        return None
    return _of(literal, negated, cast(ast.AxiomStatement, formula.statement).bounds, formula.statement.span)


def _of(atom: ast.Atom, negated: bool, bounds: ast.Bounds | None, span: Span) -> Fact | None:
    texts = tuple(argument.text for argument in atom.arguments if isinstance(argument, ast.Constant))
    lower, upper = ends(bounds)
    if not (isinstance(lower, float) and isinstance(upper, float)):
        return None
    if negated:
        lower, upper = negated_ends(lower, upper)
    return Fact(atom.name, texts, lower, upper, span)


def negated_ends(lower: float, upper: float) -> tuple[float, float]:
    """The bounds of a negated atom, ``[1 - U, 1 - L]``; the lower end is 1 only if ``U`` is 0."""
    return 1.0 if upper == 0 else min(1 - upper, _BELOW_ONE), 1 - lower


def ends(bounds: ast.Bounds | None) -> tuple[ast.Learnable | float, ast.Learnable | float]:
    if bounds is None:
        return 1.0, 1.0
    lower, upper = (float(end.value) if isinstance(end, ast.Number) else end for end in (bounds.lower, bounds.upper))
    return lower, upper


_KINDS: Mapping[type, Literal["rule", "axiom", "query"]] = {
    ast.RuleStatement: "rule",
    ast.AxiomStatement: "axiom",
    ast.QueryStatement: "query",
}


def gather(
    entries: Sequence[Entry], declared: Mapping[str, Predicate] | None = None, extra: Sequence[FactTable] = ()
) -> Symbols:
    """Index a program; ``declared`` holds what is already known (the program that a query is about)."""
    declared = dict(declared or {})
    uses: defaultdict[str, list[SymbolUse]] = defaultdict(list)
    formulas: list[Formula] = []
    for entry in entries:
        statement = entry.statement
        match statement:
            case ast.PredicateStatement() | ast.NumberStatement():
                declared.setdefault(statement.name, declaration(statement))
            case ast.RuleStatement() | ast.AxiomStatement() | ast.QueryStatement():
                kind = _KINDS[type(statement)]
                seen = tuple(visits(statement.formula, "query" if kind == "query" else "formula"))
                formulas.append(Formula(kind, statement.formula, entry, seen))
            case ast.FactStatement() | ast.LabelStatement():
                how = "fact" if isinstance(statement, ast.FactStatement) else "label"
                atom = statement.atom
                uses[atom.name].append(SymbolUse(atom.name, len(atom.arguments), name_span(atom), how))
            case ast.LoadStatement() | ast.LabelTableStatement():
                how = "load" if isinstance(statement, ast.LoadStatement) else "labels"
                place = find(statement.span, statement.name, len("load"))
                uses[statement.name].append(SymbolUse(statement.name, None, place, how))
            case _:
                pass
    propositions = _propositions(declared, uses, formulas)
    for formula in formulas:
        free = set(free_variables(formula.visits))
        for visit in formula.visits:
            node = visit.node
            if not isinstance(node, ast.Atom) or (not node.arguments and node.name in free):
                continue
            use = _use(node, visit.role, visit.scope, declared, propositions)
            if use is not None:
                uses[use.name].append(use)
    formulas = [replace(bare, mentions=tuple(_mentions(bare.visits, declared, propositions))) for bare in formulas]
    return Symbols(
        entries=tuple(entries),
        declared=declared,
        formulas=tuple(formulas),
        uses={name: tuple(places) for name, places in uses.items()},
        propositions=propositions,
        texts=frozenset(_texts(entries, formulas, extra)),
        extra=tuple(extra),
    )


def declaration(statement: ast.Declaration) -> Predicate:
    closed = isinstance(statement, ast.PredicateStatement) and statement.closed
    numeric = isinstance(statement, ast.NumberStatement)
    return Predicate(statement.name, statement.sorts, closed, numeric, statement.span)


def _propositions(
    declared: Mapping[str, Predicate], uses: Mapping[str, Sequence[SymbolUse]], formulas: Sequence[Formula]
) -> frozenset[str]:
    """Names that are certainly truth values without arguments, because they occur outside of comparisons."""
    names = {name for name, predicate in declared.items() if not predicate.numeric and not predicate.sorts}
    names |= {name for name, places in uses.items() if any(use.arity == 0 for use in places)}
    for visit in (visit for formula in formulas for visit in formula.visits if visit.role == "formula"):
        atom = proposition(visit)
        if atom is not None and atom.name not in visit.scope:
            names.add(atom.name)
    return frozenset(names - {name for name, predicate in declared.items() if predicate.numeric})


def _use(
    atom: ast.Atom, role: Role, scope: Scope, declared: Mapping[str, Predicate], propositions: frozenset[str]
) -> SymbolUse | None:
    """The use that an atom makes of its name; None if a bare name is a variable or an entity."""
    numeric = atom.name in declared and declared[atom.name].numeric
    if not atom.arguments:
        entity = role == "comparand" and bare_kind(atom, scope, declared, propositions) in ("variable", "constant")
        if atom.name in scope or entity or (role == "term" and not numeric and atom.name not in propositions):
            return None
    how = "term" if numeric or role in ("term", "comparand") else "formula"
    return SymbolUse(atom.name, len(atom.arguments), name_span(atom), how)


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


def _texts(entries: Sequence[Entry], formulas: Sequence[Formula], extra: Sequence[FactTable]) -> Iterator[str]:
    """Entities come from facts, labels and tables, and from what a rule or axiom states outright (``axiom P(anna)``).

    A program that consists of axioms only has no other place to name its entities, so there every axiom introduces its
    own. A single letter never becomes an entity this way: it is more likely a variable in lower case.
    """
    bare = not extra
    for entry in entries:
        if isinstance(entry.statement, ast.AtomStatement):
            bare = False
            yield from (item.text for item in entry.statement.atom.arguments if isinstance(item, ast.Constant))
        elif isinstance(entry.statement, ast.TableStatement):
            bare = False
    for formula in formulas:
        if formula.kind != "query" and ((bare and formula.kind == "axiom") or _outright(formula)):
            yield from (item.name for item in formula.mentions if not item.variable and len(item.name) > 1)


def _outright(formula: Formula) -> bool:
    """Whether a formula is a literal, or a conjunction of literals, about named entities."""
    if any(item.variable for item in formula.mentions):
        return False
    return all(isinstance(node, ast.Atom | ast.And | ast.Not | ast.Weighted) for node in nodes(formula.root))
