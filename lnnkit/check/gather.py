"""Builds the index of what statements mention, in one walk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from lnnkit.check.findings import find, name_span
from lnnkit.check.program import Predicate
from lnnkit.check.symbols import Entry, Formula, Mention, Symbols, Use, bare_kind
from lnnkit.check.walk import Role, Scope, Visit, free_variables, proposition, unweighted, visits
from lnnkit.syntax import ast

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

_KINDS: Mapping[type, Literal["rule", "axiom", "query"]] = {
    ast.RuleStatement: "rule",
    ast.AxiomStatement: "axiom",
    ast.QueryStatement: "query",
}


def gather(
    entries: Sequence[Entry], declared: Mapping[str, Predicate] | None = None, told: Sequence[FactTable] = ()
) -> Symbols:
    """Index a program; ``declared`` holds what is already known (the program that a query is about)."""
    declared = dict(declared or {})
    uses: dict[str, list[Use]] = {}
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
                _add(uses, Use(atom.name, len(atom.arguments), name_span(atom), how))
            case ast.LoadStatement() | ast.LabelTableStatement():
                how = "load" if isinstance(statement, ast.LoadStatement) else "labels"
                _add(uses, Use(statement.name, None, find(statement.span, statement.name, len("load")), how))
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
                _add(uses, use)
    formulas = [replace(each, mentions=tuple(_mentions(each.visits, declared, propositions))) for each in formulas]
    return Symbols(
        entries=tuple(entries),
        declared=declared,
        formulas=tuple(formulas),
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
    declared: Mapping[str, Predicate], uses: Mapping[str, Sequence[Use]], formulas: Sequence[Formula]
) -> frozenset[str]:
    """Names that are certainly truth values without arguments, because they occur outside of comparisons."""
    found = {name for name, predicate in declared.items() if not predicate.numeric and not predicate.sorts}
    found |= {name for name, places in uses.items() if any(use.arity == 0 for use in places)}
    for formula in formulas:
        for visit in formula.visits:
            atom = proposition(visit)
            if atom is not None and visit.role == "formula" and atom.name not in visit.scope:
                found.add(atom.name)
    return frozenset(found - {name for name, predicate in declared.items() if predicate.numeric})


def _use(
    atom: ast.Atom, role: Role, scope: Scope, declared: Mapping[str, Predicate], propositions: frozenset[str]
) -> Use | None:
    """The use that an atom makes of its name; None if a bare name is a variable or an entity."""
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

    A program that consists of axioms only has no other place to name its entities, so there every axiom introduces its
    own. A single letter never becomes an entity this way: it is more likely a variable in lower case.
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
    """Whether a formula is a literal, or a conjunction of literals, about named entities."""
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
