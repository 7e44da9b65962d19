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
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from lnnkit.check.findings import find, name_span
from lnnkit.check.program import CheckedProgram, Fact, Predicate
from lnnkit.check.walk import Scope, Visit, free_variables, nodes, proposition, strip_foralls, transform, visits
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Span
from lnnkit.syntax.identifiers import NAMEABLE, starts_upper

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement, with the folder and the logic of its file."""

    statement: ast.Statement
    base: Path
    logic: ast.LogicName


@dataclass(frozen=True, slots=True)
class SymbolUse:
    """One occurrence of a predicate or number. ``arity`` is None if no arguments are written (``load P from``)."""

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
    """A rule, an axiom or a query with its mentions; ``logic`` is that of its file."""

    kind: Literal["rule", "axiom", "query"]
    statement: ast.FormulaStatement
    logic: ast.LogicName
    visits: tuple[Visit, ...]
    mentions: tuple[Mention, ...] = ()

    @property
    def root(self) -> ast.Expression:
        return self.statement.formula

    @property
    def matrix(self) -> ast.Expression:
        """The formula without its leading ``forall``s."""
        return strip_foralls(self.statement.formula)

    @property
    def bounds(self) -> ast.Bounds | None:
        """What is written after it; a query has none."""
        return None if isinstance(self.statement, ast.QueryStatement) else self.statement.bounds

    def nodes(self, *kinds: type[T]) -> Iterator[T]:
        """Its nodes of these kinds, outer before inner."""
        return (visit.node for visit in self.visits if isinstance(visit.node, kinds))


@dataclass(frozen=True)
class Symbols:
    """The index of a program. ``declared`` holds the first declaration of each name."""

    entries: tuple[Entry, ...]
    declared: Mapping[str, Predicate]
    formulas: tuple[Formula, ...]
    uses: Mapping[str, Sequence[SymbolUse]]
    propositions: frozenset[str]
    texts: frozenset[str] = frozenset()  # the entities that the program text itself makes known
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

    @cached_property
    def dates(self) -> frozenset[str]:
        return frozenset(name for name, predicate in self.declared.items() if predicate.numeric == "date")

    def statements(self, *kinds: type[T]) -> Iterator[T]:
        """The statements of these kinds."""
        return (entry.statement for entry in self.entries if isinstance(entry.statement, kinds))

    def declarations(self) -> Iterator[ast.Declaration]:
        return self.statements(ast.PredicateStatement, ast.NumberStatement)

    def stated(self) -> Iterator[tuple[Literal["fact", "label"], ast.AtomStatement]]:
        """The facts and labels of the text."""
        for statement in self.statements(ast.FactStatement, ast.LabelStatement):
            yield "fact" if isinstance(statement, ast.FactStatement) else "label", statement

    def visits(self) -> Iterator[tuple[Formula, Visit]]:
        """Every node of its formulas."""
        return ((formula, visit) for formula in self.formulas for visit in formula.visits)

    def doubtful(self, name: str) -> bool:
        """Whether a name may be supplied by something that could not be read, so that its absence is not reported."""
        return not self.whole or name in self.left_out

    def bare_kind(self, atom: ast.Atom, scope: Scope) -> Literal["number", "truth", "variable", "constant"]:
        """The kind of a name without arguments that is an operand of a comparison."""
        if atom.name in scope:
            return "variable"
        if atom.name in self.numbers:
            return "number"
        if atom.name in self.propositions:
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
    return _of(literal, negated, formula.bounds, formula.statement.span)


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


def gather(entries: Sequence[Entry], declared: Mapping[str, Predicate] | None = None, **known: Any) -> Symbols:
    """Index a program; ``declared`` holds what is already known (the program that a query is about), ``known`` other
    fields of the index."""
    declared = dict(declared or {})
    uses: defaultdict[str, list[SymbolUse]] = defaultdict(list)
    formulas: list[Formula] = []
    for entry in entries:
        match entry.statement:
            case ast.PredicateStatement(name, sorts, closed) as statement:
                declared.setdefault(name, Predicate(name, sorts, closed, span=statement.span))
            case ast.NumberStatement(name, sorts, closed, dated) as statement:
                numeric = "date" if dated else True
                declared.setdefault(name, Predicate(name, sorts, closed, numeric=numeric, span=statement.span))
            case ast.RuleStatement() | ast.AxiomStatement() as statement:
                kind = "rule" if isinstance(statement, ast.RuleStatement) else "axiom"
                formulas.append(Formula(kind, statement, entry.logic, tuple(visits(statement.formula))))
            case ast.QueryStatement() as statement:
                formulas.append(Formula("query", statement, entry.logic, tuple(visits(statement.formula, "query"))))
            case ast.FactStatement(atom) | ast.LabelStatement(atom) as statement:
                how = "fact" if isinstance(statement, ast.FactStatement) else "label"
                uses[atom.name].append(SymbolUse(len(atom.arguments), name_span(atom), how))
            case ast.LoadStatement(name) | ast.LabelTableStatement(name) as statement:
                how = "load" if isinstance(statement, ast.LoadStatement) else "labels"
                uses[name].append(SymbolUse(None, find(statement.span, name, len("load")), how))
    formulas = _with_named(formulas, declared, uses)
    propositions = _propositions(declared, uses, formulas)
    symbols = Symbols(tuple(entries), declared, tuple(formulas), uses, propositions, **known)
    for formula in formulas:
        free = set(free_variables(formula.visits))
        for atom, visit in ((visit.node, visit) for visit in formula.visits if isinstance(visit.node, ast.Atom)):
            bound = not atom.arguments and atom.name in free
            if not bound and (use := _use(atom, visit, symbols)) is not None:
                uses[atom.name].append(use)
    mentioned = tuple([replace(formula, mentions=tuple(_mentions(formula, symbols))) for formula in formulas])
    return replace(symbols, uses=dict(uses), formulas=mentioned, texts=frozenset(_texts(entries, mentioned)))


def _with_named(
    formulas: Sequence[Formula], declared: Mapping[str, Predicate], uses: Mapping[str, Sequence[SymbolUse]]
) -> list[Formula]:
    """The formulas with ``log(X)`` as an atom where a truth is asked for, where the program has a number ``log``, and
    in a query where it has any ``log``."""
    calls = [
        (number, visit.node, visit)
        for number, formula in enumerate(formulas)
        for visit in formula.visits
        if isinstance(visit.node, ast.Function) and visit.node.name in NAMEABLE
    ]
    numbers = {name for name, predicate in declared.items() if predicate.numeric}
    known = {*declared, *uses} | {node.name for _, node, visit in calls if visit.role == "formula"}
    changed, atoms = [*formulas], dict[int, ast.Expression]()
    for number, node, visit in calls:
        arguments = [item for operand in node.operands if (item := as_argument(operand, visit.scope)) is not None]
        named = visit.role == "formula" or node.name in (known if visit.role == "query" else numbers)
        if named and len(arguments) == len(node.operands):  # all are names or texts
            atoms[id(node)] = ast.Atom(node.name, tuple(arguments), span=node.span)
            formula = formulas[number]
            root = transform(formula.root, lambda node: atoms.get(id(node), node))
            role, statement = formula.visits[0].role, replace(formula.statement, formula=root)
            changed[number] = replace(formula, statement=statement, visits=tuple(visits(root, role)))
    return changed


def as_argument(operand: ast.Expression, scope: Scope) -> ast.Argument | None:
    """The argument that is written like an operand; None for a term or a formula."""
    match operand:
        case ast.Entity(text):
            return ast.Constant(text, quoted=True, span=operand.span)
        case ast.Number():
            return ast.Constant(operand.span.text, span=operand.span)
        case ast.Atom(name, ()):
            return (ast.Variable if name in scope or starts_upper(name) else ast.Constant)(name, span=operand.span)
    return None


def _propositions(
    declared: Mapping[str, Predicate], uses: Mapping[str, Sequence[SymbolUse]], formulas: Sequence[Formula]
) -> frozenset[str]:
    """Names that are certainly truth values without arguments, because they occur outside of comparisons."""
    names = {name for name, predicate in declared.items() if not predicate.sorts}
    names |= {name for name, places in uses.items() if any(use.arity == 0 for use in places)}
    seen = (visit for formula in formulas for visit in formula.visits if visit.role == "formula")
    names |= {atom.name for visit in seen if (atom := proposition(visit)) and atom.name not in visit.scope}
    return frozenset(name for name in names if name not in declared or not declared[name].numeric)


def _use(atom: ast.Atom, visit: Visit, symbols: Symbols) -> SymbolUse | None:
    """The use that an atom makes of its name; None if a bare name is a variable or an entity."""
    numeric, role = atom.name in symbols.numbers, visit.role
    if not atom.arguments:
        entity = role == "comparand" and symbols.bare_kind(atom, visit.scope) in ("variable", "constant")
        unknown = role == "term" and not numeric and atom.name not in symbols.propositions
        if atom.name in visit.scope or entity or unknown:
            return None
    how = "term" if numeric or role in ("term", "comparand") else "formula"
    return SymbolUse(len(atom.arguments), name_span(atom), how)


def _mentions(formula: Formula, symbols: Symbols) -> Iterator[Mention]:
    for visit in formula.visits:
        node, scope = visit.node, visit.scope
        if isinstance(node, ast.Atom):
            for position, argument in enumerate(node.arguments):
                if isinstance(argument, ast.Variable):
                    binder = scope.get(argument.name)
                    yield Mention(argument.name, argument.span, True, False, binder, node, position)
                else:
                    yield Mention(argument.text, argument.span, False, argument.quoted, None, node, position)
            if not node.arguments and visit.role == "comparand":
                kind = symbols.bare_kind(node, scope)
                if kind in ("variable", "constant"):
                    yield Mention(node.name, node.span, kind == "variable", False, scope.get(node.name))
        elif isinstance(node, ast.Entity) and visit.role == "comparand":
            yield Mention(node.text, node.span, False, True)


def _texts(entries: Sequence[Entry], formulas: Sequence[Formula]) -> Iterator[str]:
    """Entities come from facts, labels and tables, and from what a rule or axiom states outright (``axiom P(anna)``). A
    program that consists of axioms only has no other place to name its entities, so there every axiom introduces its
    own. A single letter never becomes an entity this way: it is more likely a variable in lower case."""
    bare = True
    for entry in entries:
        if isinstance(entry.statement, ast.AtomStatement | ast.TableStatement):
            bare = False
        if isinstance(entry.statement, ast.AtomStatement):
            yield from (item.text for item in entry.statement.atom.arguments if isinstance(item, ast.Constant))
    for formula in formulas:
        if formula.kind != "query" and ((bare and formula.kind == "axiom") or _outright(formula)):
            yield from (item.name for item in formula.mentions if not item.variable and len(item.name) > 1)


def _outright(formula: Formula) -> bool:
    """Whether a formula is a literal, or a conjunction of literals, about named entities."""
    if any(item.variable for item in formula.mentions):
        return False
    return all(isinstance(node, ast.Atom | ast.And | ast.Not | ast.Weighted) for node in nodes(formula.root))
