"""Predicates: unknown names, wrong numbers of arguments, names that differ only in case.

A predicate is known if it is declared, or if a fact, a table or a rule head supplies it. A *rule head* is any atom that
the statement can derive when it is read forwards:

* of a ``rule`` that is an implication, every atom of its consequent, negated or within ``|`` too, but not what stands
  left of a further ``->``; of any other ``rule`` (``A | B``, ``A <-> B``), every atom;
* of an ``axiom``, every atom. An axiom relates its atoms and infers in every direction, so a knowledge base may consist
  of nothing but axioms, as first-order theories do.

So a name that occurs only in rule bodies, queries or labels is an error. In an axiom, a name that occurs just once in
the program and resembles a known one is a warning.

Declarations that are repeated or contradict each other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Set
from dataclasses import replace

from lnnkit.check.findings import (
    SEARCHES,
    OneEdit,
    did_you_mean,
    error,
    find,
    nearest,
    place,
    repeated,
    signature,
    text_function,
    warning,
    without_numbers,
)
from lnnkit.check.program import ENTITY
from lnnkit.check.symbols import Formula, Symbols, SymbolUse
from lnnkit.check.walk import nodes, strip_foralls, unweighted
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import is_text_function
from lnnkit.syntax.printer import format_expression, format_predicate, format_statement

_VARIABLE = re.compile(r"[A-Z]\d?")


def declarations(symbols: Symbols) -> list[Diagnostic]:
    return [*_repeated(symbols), *_sorts(symbols), *_variables(symbols)]


def _repeated(symbols: Symbols) -> Iterator[Diagnostic]:
    """Errors for a name, a sort, or the logic of a file, that is declared differently, and warnings where one file
    declares it twice."""
    kinds = (ast.PredicateStatement, ast.NumberStatement, ast.SortStatement, ast.LogicStatement)
    for before, statement in repeated(symbols.statements(*kinds), _declared):
        span, hint = statement.span, "keep one of the two"
        if isinstance(statement, ast.Declaration):
            span = find(span, statement.name, len("number"))
        where, shown = place(before.span, span), format_statement(statement)
        if before != statement:
            code, message = "conflicting-declaration", f"`{shown}` here, but `{format_statement(before)}` on {where}"
            if isinstance(statement, ast.LogicStatement):
                code = "conflicting-logic"
                hint += f"; a single group may differ: `(A & B){{logic: {statement.logic}}}`"
            yield error(code, span, message, hint)
        elif before.span.source.path == span.source.path:
            yield warning("duplicate-declaration", span, f"`{shown}` stands on {where} too", "take this line out")


def _declared(statement: ast.Declaration | ast.SortStatement | ast.LogicStatement) -> tuple[object, ...]:
    """What a statement declares: each file has a logic of its own."""
    if isinstance(statement, ast.LogicStatement):
        return ast.LogicStatement, statement.span.source.path
    return isinstance(statement, ast.SortStatement), statement.name


def _sorts(symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings for a sort that is named once, or is declared and in no use, and resembles another; sorts need no
    declaration."""
    first = {statement.name: statement for statement in reversed([*symbols.statements(ast.SortStatement)])}
    used: defaultdict[str, list[ast.Declaration]] = defaultdict(list)
    for statement in symbols.declarations():
        for sort in statement.sorts:
            used[sort].append(statement)
    known = set(first) | {ENTITY} | {sort for sort, places in used.items() if len(places) > 1}
    idle = {sort: find(statement.span, sort, len("sort")) for sort, statement in first.items() if sort not in used}
    once = {  # the name of a sort follows the keyword, "number" being the shortest, and the name
        sort: find(places[0].span, sort, len("number") + len(places[0].name))
        for sort, places in used.items()
        if sort not in known
    }
    for sort, span in (once | idle).items():
        if near := nearest(sort, known if sort in once else known & used.keys(), cutoff=0.8):
            what = f"add `sort {sort}`" if sort in once else "take this line out"
            message = f"sort `{sort}` is named only here; `{near}` is named elsewhere"
            yield warning("near-miss-sort", span, message, f"if `{near}` is meant, correct it; else {what}")


def _variables(symbols: Symbols) -> Iterator[Diagnostic]:
    """`predicate Likes(X, Y)` would declare two sorts, named X and Y, so that the one who likes and the one who is
    liked could never be the same."""
    stated = {statement.name for statement in symbols.statements(ast.SortStatement)}
    for statement in symbols.declarations():
        letters = [sort for sort in statement.sorts if _VARIABLE.fullmatch(sort) and sort not in stated]
        if letters:
            one, span = letters[0], find(statement.span, letters[0], len("number") + 1 + len(statement.name))
            meant = replace(statement, sorts=tuple(ENTITY if sort in letters else sort for sort in statement.sorts))
            message = f"`{one}` is a sort here, and looks like a variable: a declaration names sorts of arguments"
            instead = f"write `{format_statement(meant)}`, or a kind of thing such as `person`"
            yield warning("variable-like-sort", span, message, f"{instead}; if the sort is meant, add `sort {one}`")


def predicates(symbols: Symbols) -> list[Diagnostic]:
    return [*_unsupplied(symbols), *_arities(symbols), *_case(symbols)]


def heads(formula: ast.Expression) -> Iterator[ast.Atom]:
    """The atoms that a rule can derive (see above)."""
    root = unweighted(strip_foralls(formula))
    todo = [root.consequent if isinstance(root, ast.Implies) else root]
    while todo:
        for node in nodes(todo.pop(), lambda node: not isinstance(node, ast.Implies | ast.Comparison)):
            if isinstance(node, ast.Atom):
                yield node
            elif isinstance(node, ast.Implies):
                todo.append(node.consequent)


def supplied(symbols: Symbols) -> tuple[set[str], set[str]]:
    """The names that something supplies, and those among them that only axioms supply."""
    sure = set(symbols.declared)
    sure |= {name for name, uses in symbols.uses.items() if any(use.how in ("fact", "load") for use in uses)}
    axioms: set[str] = set()
    for formula in symbols.formulas:
        if formula.kind == "rule":
            sure.update(atom.name for atom in heads(formula.root))
        elif formula.kind == "axiom":
            axioms |= _truths(formula)
    axioms &= symbols.uses.keys()  # a free variable used as a formula is not a predicate
    return sure | axioms, axioms - sure


def _truths(formula: Formula) -> set[str]:
    """The names that are used as formulas, without variables used as formulas by mistake."""
    atoms = ((visit.node, visit.scope) for visit in formula.visits if visit.role == "formula")
    return {
        atom.name for atom, scope in atoms if isinstance(atom, ast.Atom) and (atom.arguments or atom.name not in scope)
    }


def _unsupplied(symbols: Symbols) -> Iterator[Diagnostic]:
    """Predicates that nothing supplies, and those that occur once, in an axiom, with a name much like another one."""
    known, by_axioms = supplied(symbols)
    once = {name for name in by_axioms if len(symbols.uses[name]) == 1}
    doubtful = {
        name: truths
        for name, uses in symbols.uses.items()
        if (name not in known or name in once) and not symbols.doubtful(name)
        if (truths := [use for use in uses if use.how != "term"])
    }
    mentioned_with = _mentioned_with(symbols, once)
    order = {name: index for index, name in enumerate(symbols.uses)}
    alike = OneEdit(known) if once else None
    arities = {name: arity_of(symbols, name) for name in known if name not in symbols.numbers}
    forms = {name: without_numbers(name) for name in known} if once else {}
    for searches, (name, truths) in enumerate(doubtful.items(), 1):
        use = min(truths, key=lambda use: (use.span.source.path, use.span.start))
        similar = known if searches <= SEARCHES else alike.of(name) if alike is not None and name in known else set()
        fitting = (None, use.arity)
        candidates = {other for other in similar & arities.keys() if use.arity is None or arities[other] in fitting}
        declare = f"`predicate {signature(name, use.arity)}`"
        if name in known:
            # Names that differ only in case are reported separately, those that differ only in a number not at all.
            different = {other for other in candidates if forms[other] != forms[name]} - mentioned_with.get(name, set())
            near = nearest(name, different, 0.85)
            if near and (near not in mentioned_with or order[near] < order[name]):  # of two that occur once, the later
                message = f"`{name}` occurs only here; `{near}` occurs elsewhere"
                hint = f"if `{format_predicate(near)}` is meant, correct it; else declare {declare}"
                yield warning("near-miss-predicate", use.span, message, hint)
            continue
        near = nearest(name, candidates | {number for number in symbols.numbers if number.lower() == name.lower()})
        if near is None and is_text_function(name):
            yield text_function(name, use.span, declare)
            continue
        more = f" ({len(truths)} places)" if len(truths) > 1 else ""
        message = f"nothing supplies `{name}`{more}: it has no fact, table or rule, and is not declared"
        hint = did_you_mean(near and format_predicate(near), f"declare it, if it is intended: {declare}")
        yield error("unknown-predicate", use.span, message, hint)


def _mentioned_with(symbols: Symbols, names: Set[str]) -> dict[str, set[str]]:
    """For each name, the predicates of the statements that mention it: two names in one statement are meant to be
    different."""
    mentioned = [_truths(formula) for formula in symbols.formulas] if names else []
    return {name: others for others in mentioned for name in others & names}


def _reference(symbols: Symbols, name: str) -> tuple[int | None, SymbolUse | None]:
    """The number of arguments that ``name`` takes, and the use that determines it (None: the declaration does)."""
    if name in symbols.declared:
        return symbols.declared[name].arity, None
    uses = [use for use in symbols.uses.get(name, ()) if use.arity is not None]
    if not uses:
        return None, None
    counts = Counter(use.arity for use in uses)
    firm = next((use for use in uses if use.how == "fact"), None) or max(uses, key=lambda use: counts[use.arity])
    return firm.arity, next(use for use in uses if use.arity == firm.arity)


def arity_of(symbols: Symbols, name: str) -> int | None:
    """The number of arguments of a predicate: as declared, else as in its facts, else as in most of its uses."""
    return _reference(symbols, name)[0]


def _arities(symbols: Symbols) -> Iterator[Diagnostic]:
    for name, uses in symbols.uses.items():
        arity, reference = _reference(symbols, name)
        for use in uses:
            if arity is None or use.arity is None or use.arity == arity:
                continue
            span = reference.span if reference else symbols.declared[name].span
            where = f" ({'as' if reference else 'declared'} on {place(span, use.span)})" if span else ""
            message = f"`{name}` takes {_arguments(arity)}{where}, but has {use.arity or 'none'} here"
            shape = _arguments(arity)
            if use.how not in ("fact", "label"):
                variables = (ast.Variable("XYZUVW"[i] if i < 6 else f"X{i}") for i in range(arity))
                shape = f"`{format_expression(ast.Atom(name, tuple(variables)))}`"
            hint = f"write {shape}, or give the other relation a name of its own"
            if reference is None and arity == 0:
                word = "number" if name in symbols.numbers else "predicate"
                hint = f"declare `{word} {signature(name, use.arity)}`, or {hint}"
            yield error("wrong-arity", use.span, message, hint)


def _arguments(count: int) -> str:
    return "no arguments" if count == 0 else "1 argument" if count == 1 else f"{count} arguments"


def _case(symbols: Symbols) -> Iterator[Diagnostic]:
    """Warnings for known names that differ only in case: legal, but rarely intended."""
    known, _ = supplied(symbols)
    used = (name for name in symbols.uses if name in known)
    for other, name in repeated(used, str.casefold):
        span = symbols.uses[name][0].span
        message = f"`{name}` and `{other}` ({place(symbols.uses[other][0].span, span)}) differ only in case"
        yield warning("near-miss-case", span, message, "if they are the same predicate, spell it one way")
