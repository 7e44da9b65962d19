"""Checks a syntax tree, pass by pass, and builds the checked program. Every finding is collected; none ends the check.

A query, or facts, are checked against a program that is checked already: on the command line, or through ``kb``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, count, pairwise
from pathlib import Path
from typing import cast

from lnnkit.check.date_terms import dates, numeric_kind, today_fact, with_dated_parameters
from lnnkit.check.entity_names import asked, clashes, entities, suspects
from lnnkit.check.findings import nearest
from lnnkit.check.kinds import compares_numbers, kinds
from lnnkit.check.learnables import UNEVALUATED, learnables, named_values, starting_values, stated, substituted
from lnnkit.check.named_files import READING, logic_of, merge, read_tables, unjoined, unread
from lnnkit.check.negations import negations, strata, stratify
from lnnkit.check.predicates import declarations, predicates
from lnnkit.check.program import ENTITY, Assertion, CheckedProgram, Fact, Predicate, Query, SameEntity, Sort
from lnnkit.check.symbols import Entry, Formula, Symbols, as_argument, ends, fact, gather, stated_fact
from lnnkit.check.values import terms, truth_of, values
from lnnkit.check.variables import resolve_predicates, rules, sorts, variable_sorts, variables
from lnnkit.check.walk import conjunction, free_variables, nodes, transform, visits
from lnnkit.check.weights import weights
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import QUERY, Diagnostic, Severity, Source, Span
from lnnkit.syntax.printer import format_expression
from lnnkit.syntax.rewrite import balanced

CheckPass = Callable[[Symbols], Iterable[Diagnostic]]

PASSES: tuple[CheckPass, ...] = (
    declarations,
    predicates,
    sorts,
    variables,
    entities,
    unjoined,
    asked,
    kinds,
    dates,
    values,
    weights,
    terms,
    learnables,
    rules,
    negations,
    strata,
)


def check(
    program: ast.Program,
    base: Path,
    *,
    read_data: bool = True,
    streamed: str | None = None,
    today: str | date | None = None,
) -> tuple[CheckedProgram | None, list[Diagnostic]]:
    """Check a parsed program whose paths are relative to ``base``. The checked program is None if there is an error.
    Findings are ordered by file and position. Statements that did not parse are not in ``program``, but its source
    still has them: names that they mention are not reported as unknown. Without ``read_data`` no data file is opened,
    and what depends on its contents (entities, the arity of a predicate that only a ``load`` mentions) is not checked.
    Nor are the tables of predicates with an argument of the sort that is ``streamed``: their rows come later. ``today``
    states which date `today` is; raises ``ValueError`` if it is no date."""
    merged = merge(program, base)
    given = [] if today is None else [Entry(today_fact(today), base, logic_of(program.statements))]
    left_out, complete = frozenset(merged.left_out), not merged.left_out.intersection(READING)
    symbols = gather([*merged.entries, *given], left_out=left_out, whole=merged.whole, complete=complete)
    before = {} if streamed is None else resolve_predicates(unread(symbols))
    later = {name for name, predicate in before.items() if streamed in predicate.sorts}
    unknown = [unknown_sort(streamed, before)] if streamed is not None and not later else []
    symbols, problems = read_tables(symbols, later) if read_data and not unknown else (unread(symbols), unknown)
    symbols = replace(symbols, resolved=resolve_predicates(symbols))
    findings = [*merged.diagnostics, *problems, *run(PASSES, symbols)]
    statements = (entry.statement for entry in symbols.entries)
    findings = ordered(findings, [node.span.source.path for node in (program, *statements)])
    failed = any(finding.severity == "error" for finding in findings)
    return None if failed else assemble(symbols, logic_of(program.statements), findings), findings


def unknown_sort(name: str, predicates: Mapping[str, Predicate]) -> Diagnostic:
    """The error for a sort that no predicate has."""
    known = {sort for predicate in predicates.values() for sort in predicate.sorts}
    near = nearest(name, known)
    listed = ", ".join(sorted(known - {ENTITY})) or "none is declared, as in `predicate P(loan)`"
    hint = f"did you mean `{near}`?" if near else f"the sorts of the program: {listed}"
    return Diagnostic("unknown-sort", f"no predicate has an argument of the sort `{name}`", hint)


def run(passes: Sequence[CheckPass], symbols: Symbols) -> list[Diagnostic]:
    return unmasked([finding for check_pass in passes for finding in check_pass(symbols)])


def ordered(findings: Sequence[Diagnostic], paths: Iterable[str]) -> list[Diagnostic]:
    """Findings sorted by file, in the order of ``paths``, and by position."""
    spans = (finding.span for finding in findings if finding.span is not None)
    every = dict.fromkeys([*paths, *(span.source.path for span in spans)])
    files = {path: index for index, path in enumerate(every)}

    def key(finding: Diagnostic) -> tuple[int, int, int]:
        if finding.span is None:
            return len(files), 0, finding.row or 0
        # The findings about a table's rows stay in their groups
        return files[finding.span.source.path], finding.span.start, 0

    return sorted(findings, key=key)


def unmasked(findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Findings without the warnings that start where an error starts: they are about the same slip."""
    errors = {_begin(finding) for finding in findings if finding.severity == "error" and finding.span is not None}
    return [finding for finding in findings if finding.severity == "error" or _begin(finding) not in errors]


def _begin(finding: Diagnostic) -> tuple[str, int] | None:
    return (finding.span.source.path, finding.span.start) if finding.span is not None else None


OF_PROGRAMS: tuple[CheckPass, ...] = (declarations, unjoined, asked, values, strata)
QUERY_PASSES = tuple(check_pass for check_pass in PASSES if check_pass not in OF_PROGRAMS)
FACT_PASSES: tuple[CheckPass, ...] = (predicates, variables, values, learnables)


def check_query(
    text: str, checked: CheckedProgram, *, strangers: Severity | None = "error"
) -> tuple[Query | None, list[Diagnostic]]:
    """The query that ``text`` spells, checked against the names, sorts and entities of ``checked``; None if it has an
    error. Its connectives have the logic of the program's main file. ``strangers`` is the severity of findings about
    entities that the program does not have (None: no findings)."""
    from lnnkit.syntax.parse import parse_expression

    written, findings = parse_expression(text)
    if written is None:
        return None, findings
    span = Span(Source(QUERY, text), 0, len(text))
    entry = Entry(ast.QueryStatement(written, span=span), Path(), checked.logic)
    tables = {"tables": checked.tables, "label_tables": checked.label_tables}
    symbols = gather([entry], checked.predicates, resolved=checked.predicates, program=checked, **tables)
    formula = symbols.formulas[0]
    named = any(not mention.variable or mention.name not in "XYZ" for mention in formula.mentions)
    texts = checked.texts if named else frozenset[str]()
    symbols = replace(symbols, texts=texts, learned=named_values(formula, checked))
    findings = run(QUERY_PASSES, symbols)
    said = set(map(_begin, findings))
    findings += [f for f in (asked(symbols, strangers) if strangers else ()) if _begin(f) not in said]
    findings = ordered(unmasked(findings), [QUERY])
    if any(finding.severity == "error" for finding in findings):
        return None, findings
    return query(formula, symbols, starting_values(symbols)), findings


def check_facts(
    statements: Sequence[ast.FactStatement], checked: CheckedProgram
) -> tuple[tuple[Fact, ...] | None, list[Diagnostic]]:
    """The facts of some statements, checked against the names and entities of ``checked``; None if one has an error.
    Their predicates must exist in ``checked``. Entities may be new. If a new entity differs only in case from a
    variable of the program, the statement with the variable gets an error, as if the program had contained the fact."""
    entries = [Entry(statement, Path(), checked.logic) for statement in statements]
    symbols = gather(entries, checked.predicates, resolved=checked.predicates, program=checked)
    findings = ordered([*run(FACT_PASSES, symbols), *clashes(checked.suspects, symbols.texts, ())], [])
    if any(finding.severity == "error" for finding in findings):
        return None, findings
    return tuple(map(fact, statements)), findings


# --- the checked program ----------------------------------------------------------------------------------------------


def assemble(symbols: Symbols, logic: ast.LogicName, findings: Sequence[Diagnostic]) -> CheckedProgram:
    predicates = dict(symbols.resolved)
    facts = [fact(statement) for statement in symbols.statements(ast.FactStatement)]
    assertions: list[Assertion] = []
    starts = starting_values(symbols)
    for formula in symbols.formulas:
        if (stated := stated_fact(formula)) is not None:
            facts.append(stated)
        elif formula.kind != "query":
            assertions.append(_assertion(formula, symbols, starts, predicates))
    return CheckedProgram(
        predicates=predicates,
        sorts=_sorts(symbols, predicates),
        assertions=tuple(assertions),
        facts=tuple(facts),
        tables=symbols.tables,
        labels=tuple(fact(statement) for statement in symbols.statements(ast.LabelStatement)),
        label_tables=symbols.label_tables,
        queries=tuple(query(formula, symbols, starts) for formula in symbols.formulas if formula.kind == "query"),
        strata=stratify(symbols)[0],
        logic=logic,
        unevaluated=tuple(finding for finding in findings if finding.code in UNEVALUATED),
        suspects=suspects(symbols.formulas),
    )


def _sorts(symbols: Symbols, predicates: Mapping[str, Predicate]) -> dict[str, Sort]:
    stated = {item.name: Sort(item.name, item.open) for item in symbols.statements(ast.SortStatement)}
    used = (sort for predicate in predicates.values() for sort in predicate.sorts)
    return {sort: Sort(sort) for sort in (ENTITY, *stated, *used)} | stated


def _assertion(
    formula: Formula, symbols: Symbols, starts: Mapping[str, float], predicates: dict[str, Predicate]
) -> Assertion:
    """The statement; the number that stands for its unknown function is entered among the ``predicates``."""
    statement = formula.statement
    assert formula.kind != "query" and not isinstance(statement, ast.QueryStatement)
    lower, upper = ends(statement.bounds)
    resolved = _resolved(formula, symbols, starts)
    unknown = None
    if function := next(formula.nodes(ast.UnknownFunction), None):
        standing = _standing(formula, function, symbols, predicates)
        unknown = stated(resolved, function, standing, function.name or f"?{function.span.start}")
        resolved = substituted(resolved, function, standing)
    name, span = statement.name, statement.span
    return Assertion(formula.kind, name, resolved, lower, upper, formula.logic, span, unknown=unknown)


def _standing(
    formula: Formula, function: ast.UnknownFunction, symbols: Symbols, predicates: dict[str, Predicate]
) -> ast.Atom:
    """A number with a new name, over the variables in a function's terms. Each statement has its own, so that values of
    the function in one statement do not trigger another."""
    named = {name for operand in function.operands for name in free_variables(visits(operand))}
    sorts: dict[str, str] = {}
    for (name, _), sort in variable_sorts(formula, symbols.resolved).items():
        if name in named:
            sorts.setdefault(name, sort)
    shown = format_expression(function)
    names = chain([shown], (f"{shown} ({number})" for number in count(2)))
    name = next(name for name in names if name not in predicates)
    predicates[name] = Predicate(name, tuple(sorts.values()), numeric=True, span=function.span)
    return ast.Atom(name, tuple(ast.Variable(variable, span=function.span) for variable in sorts), span=function.span)


def query(formula: Formula, symbols: Symbols, starts: Mapping[str, float]) -> Query:
    """The checked query; ``starts`` are the initial values of learnable ones."""
    span = formula.statement.span
    text = re.sub(r"^\s*query\s+", "", span.text).strip()
    numeric = numeric_kind(formula.root, symbols.declared)
    return Query(_resolved(formula, symbols, starts), text, formula.logic, span, numeric)


def _resolved(formula: Formula, symbols: Symbols, starts: Mapping[str, float]) -> ast.Expression:
    """The formula with comparisons of entities separated from those of numbers, chains as conjunctions, the units of
    learnable values, and no element of an aggregate for a group that has none."""
    entity_scopes = {  # None for comparisons of numbers
        visit.node.span: None if compares_numbers(visit, symbols) else visit.scope
        for visit in formula.visits
        if isinstance(visit.node, ast.Comparison)
    }
    if not entity_scopes and next(formula.nodes(ast.Aggregate), None) is None:
        return formula.root

    def change(node: ast.Expression) -> ast.Expression:
        if isinstance(node, ast.Aggregate) and len(node.operands) > 1:
            return _of_groups(node)
        if not isinstance(node, ast.Comparison):
            return node
        scope = entity_scopes[node.span]
        if scope is None:
            return _links(node, starts)
        parts: list[ast.Expression] = []
        # beside a declaration that does not parse, a number is taken for an entity
        bare = (replace(side, arguments=()) if isinstance(side, ast.Atom) else side for side in node.operands)
        arguments = [cast("ast.Argument", as_argument(side, scope)) for side in bare]
        for operator, (left, right) in zip(node.operators, pairwise(arguments), strict=True):
            same = cast("ast.Expression", SameEntity(left, right, span=node.span))  # stands wherever a formula does
            parts.append(same if operator == "=" else ast.Not(same, span=node.span))
        return conjunction(parts, node.span)

    return transform(with_dated_parameters(formula.root, symbols.dates), change)


def _of_groups(aggregate: ast.Aggregate) -> ast.Aggregate:
    """An aggregate over means, least and greatest values: of groups that have elements, since of others there are
    none."""
    term, condition = aggregate.operands
    span, some = aggregate.span, list[ast.Expression]()
    for inner in nodes(term, lambda part: not isinstance(part, ast.Aggregate)):
        if isinstance(inner, ast.Aggregate) and inner.name in ("mean", "min", "max"):
            count = ast.Aggregate("count", inner.variables, inner.operands[1:], span=inner.span)
            some.append(ast.Comparison((count, ast.Number(0, span=span)), (">",), span=span))
    return replace(aggregate, operands=(term, conjunction([condition, *some], span))) if some else aggregate


def _links(chained: ast.Comparison, starts: Mapping[str, float]) -> ast.Expression:
    """A chain of number comparisons as the conjunction of its links, each with the attributes of the chain. A link
    between constants is replaced by true or false."""
    links: list[ast.Expression] = []
    for operator, (left, right) in zip(chained.operators, pairwise(chained.operands), strict=True):
        span = Span(chained.span.source, left.span.start, right.span.end)
        if len(chained.operators) == 1 or not balanced(span.text):  # a span leaves out an operand's own parentheses
            span = chained.span
        link = replace(chained, operands=(left, right), operators=(operator,), span=span)
        truth = truth_of(link, starts)
        links.append(link if truth is None else ast.Truth(truth, span=span))
    return conjunction(links, chained.span)
