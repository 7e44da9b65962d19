"""Declarations that are repeated or contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lnnkit.check.findings import error, find, place, repeated, warning
from lnnkit.check.nearest import nearest
from lnnkit.check.program import ENTITY
from lnnkit.check.symbols import Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_statement
from lnnkit.syntax.span import Span

_KEEP = "keep one of the two"
_VARIABLE = re.compile(r"[A-Z]\d?")
Declaration = ast.PredicateStatement | ast.NumberStatement


def declarations(symbols: Symbols) -> list[Diagnostic]:
    return [*_names(symbols), *_logics(symbols), *_sorts(symbols), *_variables(symbols)]


def _names(symbols: Symbols) -> Iterator[Diagnostic]:
    declared = (each for each in symbols.statements() if isinstance(each, Declaration))
    for before, statement in repeated(declared, lambda each: each.name):
        name, span = statement.name, find(statement.span, statement.name, len("number"))
        if before != statement:
            where = f"on {place(before.span, span)}: {_shown(before)}, here {_shown(statement)}"
            yield error("conflicting-declaration", span, f"`{name}` is declared differently {where}", _KEEP)
        else:
            yield from _again(before, span, f"`{name}` is already declared")


def _shown(statement: Declaration) -> str:
    return f"`{format_statement(statement)}`"


def _logics(symbols: Symbols) -> Iterator[Diagnostic]:
    logics = (each for each in symbols.statements() if isinstance(each, ast.LogicStatement))
    for before, statement in repeated(logics, lambda each: each.span.source.path):
        if before.logic != statement.logic:
            since = f"this file's logic is {before.logic} since line {before.span.line}"
            hint = f"keep one; a single group may differ: `(A & B){{logic: {statement.logic}}}`"
            yield error("conflicting-logic", statement.span, f"{since}, and {statement.logic} here", hint)
        else:
            yield from _again(before, statement.span, "the logic is already stated")


def _again(before: ast.Statement, span: Span, said: str) -> Iterator[Diagnostic]:
    """A warning where one file says the same twice."""
    if before.span.source.path == span.source.path:
        yield warning("duplicate-declaration", span, f"{said} on {place(before.span, span)}", "take this line out")


def _sorts(symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings for sorts that are named once and resemble another; sorts need no declaration."""
    stated = [each for each in symbols.statements() if isinstance(each, ast.SortStatement)]
    for before, statement in repeated(stated, lambda each: each.name):
        sort = f"sort `{statement.name}`"
        if before.open != statement.open:
            where = f"{_openness(before)} on {place(before.span, statement.span)} and {_openness(statement)} here"
            yield error("conflicting-declaration", statement.span, f"{sort} is {where}", _KEEP)
        else:
            yield from _again(before, statement.span, f"{sort} is already declared")
    first = {each.name: each for each in reversed(stated)}
    used: dict[str, list[Declaration]] = {}
    for statement in symbols.statements():
        if isinstance(statement, Declaration):
            for sort in statement.sorts:
                used.setdefault(sort, []).append(statement)
    known = set(first) | {ENTITY} | {sort for sort, places in used.items() if len(places) > 1}
    for sort, places in used.items():
        if sort not in known and (near := nearest(sort, known, cutoff=0.8)):
            span = find(places[0].span, sort, len("number") + len(places[0].name))
            message = f"sort `{sort}` is named only here; `{near}` is named elsewhere"
            yield warning("near-miss-sort", span, message, f"if `{near}` is meant, correct it; else add `sort {sort}`")
    for sort, statement in reversed(first.items()):
        if sort not in used and (near := nearest(sort, known & used.keys(), cutoff=0.8)):
            message = f"no predicate or number has the sort `{sort}`; some have the sort `{near}`"
            span = find(statement.span, sort, len("sort"))
            yield warning("near-miss-sort", span, message, f"if `{near}` is meant, correct it; else take this line out")


def _variables(symbols: Symbols) -> Iterator[Diagnostic]:
    """`predicate Likes(X, Y)` would declare two sorts, named X and Y, so that the one who likes and the one who is
    liked could never be the same."""
    stated = {each.name for each in symbols.statements() if isinstance(each, ast.SortStatement)}
    for statement in symbols.statements():
        if not isinstance(statement, Declaration):
            continue
        letters = [sort for sort in statement.sorts if _VARIABLE.fullmatch(sort) and sort not in stated]
        if letters:
            span = find(statement.span, letters[0], len("number") + 1 + len(statement.name))
            sorts = tuple(ENTITY if sort in letters else sort for sort in statement.sorts)
            meant = format_statement(replace(statement, sorts=sorts))
            message = (
                f"`{letters[0]}` is a sort here, and looks like a variable: a declaration names sorts of arguments"
            )
            hint = (
                f"write `{meant}`, or a kind of thing such as `person`; if the sort is meant, add `sort {letters[0]}`"
            )
            yield warning("variable-like-sort", span, message, hint)


def _openness(statement: ast.SortStatement) -> str:
    return "open" if statement.open else "not open"
