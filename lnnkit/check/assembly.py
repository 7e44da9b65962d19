"""Builds the checked program from statements without errors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import cast

from lnnkit.check.entity_names import suspects
from lnnkit.check.kinds import compares_numbers, is_numeric
from lnnkit.check.learnables import UNEVALUATED, starting_values, untrained
from lnnkit.check.negations import stratify
from lnnkit.check.program import ENTITY, Assertion, CheckedProgram, Predicate, Query, SameEntity, Sort
from lnnkit.check.symbols import Formula, Symbols, ends, fact, stated_fact
from lnnkit.check.unknown_functions import among, stated, substituted
from lnnkit.check.values import truth_of
from lnnkit.check.variables import variable_sorts
from lnnkit.check.walk import Scope, nodes, transform
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression
from lnnkit.syntax.rewrite import balanced
from lnnkit.syntax.span import Span


def assemble(symbols: Symbols, logic: ast.LogicName) -> CheckedProgram:
    predicates = dict(symbols.resolved)
    facts = [fact(statement) for kind, statement in symbols.stated() if kind == "fact"]
    labels = [fact(statement) for kind, statement in symbols.stated() if kind == "label"]
    assertions: list[Assertion] = []
    starts = starting_values(symbols)
    for formula in symbols.formulas:
        if formula.kind != "query":
            stated = stated_fact(formula)
            if stated is None:
                assertions.append(_assertion(formula, symbols, starts, predicates))
            else:
                facts.append(stated)
    return CheckedProgram(
        predicates=predicates,
        sorts=_sorts(symbols, predicates),
        assertions=tuple(assertions),
        facts=tuple(facts),
        tables=(*symbols.tables, *symbols.told),
        labels=tuple(labels),
        label_tables=symbols.label_tables,
        queries=tuple(query(formula, symbols, starts) for formula in symbols.formulas if formula.kind == "query"),
        strata=stratify(symbols)[0],
        logic=logic,
        unevaluated=tuple(each for each in untrained(symbols) if each.code in UNEVALUATED),
        suspects=suspects(symbols.formulas),
    )


def _sorts(symbols: Symbols, predicates: Mapping[str, Predicate]) -> dict[str, Sort]:
    stated = (each for each in symbols.statements() if isinstance(each, ast.SortStatement))
    found = {ENTITY: Sort(ENTITY)} | {each.name: Sort(each.name, each.open) for each in stated}
    used = dict.fromkeys(sort for predicate in predicates.values() for sort in predicate.sorts)
    return found | {sort: Sort(sort) for sort in used if sort not in found}


def _assertion(
    formula: Formula, symbols: Symbols, starts: Mapping[str, float], predicates: dict[str, Predicate]
) -> Assertion:
    """The statement; the number that stands for its unknown function is entered among the ``predicates``."""
    statement = formula.statement
    assert formula.kind != "query" and not isinstance(statement, ast.QueryStatement)
    lower, upper = ends(statement.bounds)
    resolved = _resolved(formula, symbols, starts)
    unknown = None
    if functions := among(formula):
        standing = _standing(formula, functions[0], symbols, predicates)
        unknown = stated(resolved, functions[0], standing, functions[0].name or f"?{functions[0].span.start}")
        resolved = substituted(resolved, functions[0], standing)
    logic = formula.entry.logic
    return Assertion(formula.kind, statement.name, resolved, lower, upper, logic, statement.span, unknown=unknown)


def _standing(
    formula: Formula, function: ast.UnknownFunction, symbols: Symbols, predicates: dict[str, Predicate]
) -> ast.Atom:
    """A number with a new name, over the variables in a function's terms. Each statement has its own, so that values of
    the function in one statement do not trigger another."""
    named = {node.name for operand in function.operands for node in _variables(operand)}
    sorts: dict[str, str] = {}
    for (name, _), sort in variable_sorts(formula, symbols.resolved).items():
        if name in named:
            sorts.setdefault(name, sort)
    shown = format_expression(function)
    name, number = shown, 1
    while name in predicates:
        number += 1
        name = f"{shown} ({number})"
    predicates[name] = Predicate(name, tuple(sorts.values()), numeric=True, span=function.span)
    return ast.Atom(name, tuple(ast.Variable(each, span=function.span) for each in sorts), span=function.span)


def _variables(term: ast.Expression) -> Iterator[ast.Variable]:
    for node in nodes(term):
        if isinstance(node, ast.Atom):
            yield from (each for each in node.arguments if isinstance(each, ast.Variable))


def query(formula: Formula, symbols: Symbols, starts: Mapping[str, float]) -> Query:
    """The checked query; ``starts`` are the initial values of learnable ones."""
    span = formula.statement.span
    numeric = is_numeric(formula.root, symbols, {})
    text = re.sub(r"^\s*query\s+", "", span.text).strip()
    return Query(_resolved(formula, symbols, starts), text, formula.entry.logic, span, numeric)


def _resolved(formula: Formula, symbols: Symbols, starts: Mapping[str, float]) -> ast.Expression:
    """The formula with comparisons of entities separated from those of numbers, and chains as conjunctions."""
    scopes = {
        id(visit.node): None if compares_numbers(visit, symbols) else visit.scope
        for visit in formula.visits
        if isinstance(visit.node, ast.Comparison)
    }
    if not scopes:
        return formula.root

    def change(node: ast.Expression) -> ast.Expression:
        if not isinstance(node, ast.Comparison):
            return node
        scope = scopes[id(node)]
        if scope is None:
            return _links(node, starts)
        arguments = [_argument(operand, scope, symbols) for operand in node.operands]
        parts = [
            _same(left, right, operator == "=", node.span)
            for operator, (left, right) in zip(node.operators, pairwise(arguments), strict=True)
        ]
        return parts[0] if len(parts) == 1 else ast.And(tuple(parts), span=node.span)

    return transform(formula.root, change)


def _links(chain: ast.Comparison, starts: Mapping[str, float]) -> ast.Expression:
    """A chain of number comparisons as the conjunction of its links, each with the attributes of the chain. A link
    between constants is replaced by true or false."""
    links: list[ast.Expression] = []
    for operator, (left, right) in zip(chain.operators, pairwise(chain.operands), strict=True):
        span = Span(chain.span.source, left.span.start, right.span.end)
        if len(chain.operators) == 1 or not balanced(span.text):  # a span leaves out an operand's own parentheses
            span = chain.span
        link = replace(chain, operands=(left, right), operators=(operator,), span=span)
        truth = truth_of(link, starts)
        links.append(link if truth is None else ast.Truth(truth, span=span))
    return links[0] if len(links) == 1 else ast.And(tuple(links), span=chain.span)


def _argument(operand: ast.Expression, scope: Scope, symbols: Symbols) -> ast.Argument:
    if isinstance(operand, ast.Entity):
        return ast.Constant(operand.text, True, span=operand.span)
    assert isinstance(operand, ast.Atom)
    if symbols.bare_kind(operand, scope) == "variable":
        return ast.Variable(operand.name, span=operand.span)
    return ast.Constant(operand.name, span=operand.span)


def _same(left: ast.Argument, right: ast.Argument, positive: bool, span: Span) -> ast.Expression:
    same = cast("ast.Expression", SameEntity(left, right, span=span))  # stands wherever a formula does
    return same if positive else ast.Not(same, span=span)
