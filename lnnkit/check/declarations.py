"""Declarations that are repeated or contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lnnkit.check.findings import error, find, place, warning
from lnnkit.check.nearest import nearest
from lnnkit.check.program import ENTITY
from lnnkit.check.symbols import Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_statement

_VARIABLE = re.compile(r"[A-Z]\d?")
Declaration = ast.PredicateStatement | ast.NumberStatement


def declarations(symbols: Symbols) -> list[Diagnostic]:
    return [*_names(symbols), *_logics(symbols), *_sorts(symbols), *_variables(symbols)]


def _names(symbols: Symbols) -> Iterator[Diagnostic]:
    first: dict[str, Declaration] = {}
    for statement in symbols.statements():
        if not isinstance(statement, Declaration):
            continue
        name, span = statement.name, find(statement.span, statement.name, len("number"))
        before = first.setdefault(name, statement)
        if before is statement:
            continue
        where = place(before.span, span)
        if before != statement:
            message = f"`{name}` is declared differently on {where}: {_shown(before)}, here {_shown(statement)}"
            yield error("conflicting-declaration", span, message, "keep one of the two")
        elif before.span.source.path == span.source.path:
            message = f"`{name}` is already declared on {where}"
            yield warning("duplicate-declaration", span, message, "take this line out")


def _shown(statement: Declaration) -> str:
    return f"`{format_statement(statement)}`"


def _logics(symbols: Symbols) -> Iterator[Diagnostic]:
    first: dict[str, ast.LogicStatement] = {}
    for statement in symbols.statements():
        if isinstance(statement, ast.LogicStatement):
            before = first.setdefault(statement.span.source.path, statement)
            if before is statement:
                continue
            line = before.span.line
            if before.logic != statement.logic:
                message = f"this file's logic is {before.logic} since line {line}, and {statement.logic} here"
                hint = f"keep one; a single group may differ: `(A & B){{logic: {statement.logic}}}`"
                yield error("conflicting-logic", statement.span, message, hint)
            else:
                message = f"the logic is already stated on line {line}"
                yield warning("duplicate-declaration", statement.span, message, "take this line out")


def _sorts(symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings for sorts that are named once and resemble another; sorts need no declaration."""
    first: dict[str, ast.SortStatement] = {}
    used: dict[str, list[Declaration]] = {}
    for statement in symbols.statements():
        if isinstance(statement, ast.SortStatement):
            before = first.setdefault(statement.name, statement)
            if before is statement:
                continue
            where = place(before.span, statement.span)
            if before.open != statement.open:
                message = f"sort `{statement.name}` is {_openness(before)} on {where} and {_openness(statement)} here"
                yield error("conflicting-declaration", statement.span, message, "keep one of the two")
            elif before.span.source.path == statement.span.source.path:
                message = f"sort `{statement.name}` is already declared on {where}"
                yield warning("duplicate-declaration", statement.span, message, "take this line out")
        elif isinstance(statement, Declaration):
            for sort in statement.sorts:
                used.setdefault(sort, []).append(statement)
    known = set(first) | {ENTITY} | {sort for sort, places in used.items() if len(places) > 1}
    for sort, places in used.items():
        if sort not in known and (near := nearest(sort, known, cutoff=0.8)):
            span = find(places[0].span, sort, len("number") + len(places[0].name))
            message = f"sort `{sort}` is named only here; `{near}` is named elsewhere"
            yield warning("near-miss-sort", span, message, f"if `{near}` is meant, correct it; else add `sort {sort}`")
    for sort, statement in first.items():
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
