"""Answers to a query, read from a fixpoint that covers the query; explanations and pictures of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lnnkit.answer_table import Answers
from lnnkit.answers.query_rows import AnswerRows, answer, covers
from lnnkit.budget import TooLarge, allowed, too_large
from lnnkit.check import check_query
from lnnkit.check.findings import nearest
from lnnkit.check.program import Query
from lnnkit.data.names import AnyNames, Names
from lnnkit.data.table import EntityColumn
from lnnkit.errors import Error, ProgramError
from lnnkit.graph.lifting import add_queries
from lnnkit.kb.fixpoint import Fixpoint
from lnnkit.kb.session import Session
from lnnkit.kb.theory import asked, check_alpha, check_bound, free_variables, no_formula
from lnnkit.store.row_arrays import arranged
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import is_name
from lnnkit.syntax.printer import format_expression

if TYPE_CHECKING:
    from lnnkit.explain.proof.explanation import Explanation
    from lnnkit.picture.picture import Picture

# This many questions are answered from fixpoints of their own; then the whole is inferred. On the closure of 900 links
# one question takes 25 ms by itself and 70 ms by the whole, eight take 127 ms and 76 ms. Forty in a row on 300 links
# take 130 ms by the whole at once, 211 ms after 8, 445 ms after 32 (`python -m benchmarks.question_constants asked`)
_FEW = 8


def covering(session: Session, query: Query, *, narrow: bool = False) -> Fixpoint:
    """A fixpoint that covers the query: that of the program's own queries, or one made for this query. If it may be
    ``narrow``, closed derived predicates are completed only as far as the queries need them."""
    queries = session.theory.checked.queries
    if any(known.text == query.text for known in queries):
        return session.rest(queries, narrow=narrow)
    made = session.made()
    for fixpoint in made:
        if (narrow or not fixpoint.narrow) and _covers(fixpoint, query):
            return fixpoint
    if narrow and session.source is None and len(made) < _FEW:
        return session.rest((*queries, query), narrow=True)
    fixpoint = session.rest(queries)
    return fixpoint if _covers(fixpoint, query) else session.rest((*queries, query))


def covering_widely(session: Session, query: Query) -> Fixpoint:
    """As `covering`, or a fixpoint for all atoms of the query's predicate: one question is often followed by others."""
    checked = session.theory.checked
    queries = checked.queries
    fixpoint = session.rest(queries)
    if query in queries or _covers(fixpoint, query) or not isinstance(query.formula, ast.Atom):
        return covering(session, query)
    variables = ", ".join(f"V{place}" for place in range(len(query.formula.arguments)))
    name = format_expression(ast.Atom(query.formula.name, span=query.span))
    every, _ = check_query(f"{name}({variables})", checked)
    if not variables or every is None:
        return covering(session, query)
    fixpoint = session.rest((*queries, every))
    return fixpoint if _covers(fixpoint, query) else session.rest((*queries, every, query))


def _covers(fixpoint: Fixpoint, query: Query) -> bool:
    lifted = add_queries(fixpoint.run.plan.lifted, [query])
    return covers(fixpoint.run, lifted, lifted.queries[0])


def answers(session: Session, query: Query, alpha: float) -> Answers:
    """The answers to a query. Runs inference first if no existing fixpoint covers the query. Raises `BudgetError`."""
    fixpoint = covering(session, query, narrow=True)
    places = {known.text: place for place, known in enumerate(fixpoint.program.queries)}
    return _read(session, fixpoint, query, places.get(query.text), alpha)


def truth(session: Session, query: Query, alpha: float) -> bool | None:
    """See `KnowledgeBase.holds`; raises `BudgetError` too."""
    if query.numeric:
        raise ProgramError([no_formula(query)])
    rows = answers(session, query, alpha)
    if rows.variables:
        raise ProgramError([free_variables(query)])
    return {"true": True, "false": False}.get(rows[0].state)


def program_answers(session: Session, alpha: float) -> list[Answers]:
    """The answers to the program's own queries, in their order; as `answers`."""
    fixpoint = session.program_fixpoint()
    return [_read(session, fixpoint, query, place, alpha) for place, query in enumerate(fixpoint.program.queries)]


def _read(session: Session, fixpoint: Fixpoint, query: Query, place: int | None, alpha: float) -> Answers:
    """The answers at a fixpoint to a query, which is that of this ``place`` among the fixpoint's own if it is one. They
    have a warning if inference stopped before its end."""
    computing, outcome, warnings = session.computing, fixpoint.outcome, list[Diagnostic]()
    if outcome.status == "interrupted":
        warnings.append(Diagnostic("interrupted", outcome.summary, "infer again to let it finish", severity="warning"))
    if fixpoint.strips is not None and place is not None:
        rows = fixpoint.strips.answers[place]
    else:
        lifted = fixpoint.run.plan.lifted
        root = next((root for root in lifted.queries if root.origin is query), None)
        if root is None:
            lifted = add_queries(lifted, [query])
            root = lifted.queries[0]
        try:
            rows = answer(fixpoint.run, fixpoint.marks, lifted, root, guard=allowed(session.most))
        except TooLarge as problem:
            raise too_large(problem, lifted) from None
    rows, names = _in_order(rows, fixpoint.names)
    return Answers(
        query.text,
        rows.variables,
        tuple(EntityColumn(column.astype(np.int32, copy=False), names) for column in rows.columns),
        computing.numbers(rows.lower),
        computing.numbers(rows.upper),
        rows.contested,
        alpha,
        tuple(warnings),
        computing.tolerance,
        query.numeric,
    )


def _in_order(rows: AnswerRows, names: AnyNames) -> tuple[AnswerRows, Names]:
    """Rows whose columns have ranks among names in order, and are sorted by them."""
    if isinstance(names, Names):
        return rows, names
    in_order, ranks = names.in_order
    columns = [ranks.take(column) for column in rows.columns]
    order = arranged(columns)
    every = (*columns, rows.lower, rows.upper, rows.contested)
    *columns, lower, upper, contested = every if order is None else (column.take(order) for column in every)
    return AnswerRows(rows.variables, tuple(columns), lower, upper, contested), in_order


def explained(session: Session, query: Query, alpha: float) -> tuple[Fixpoint, Explanation]:
    """A fixpoint that covers a query, and the explanation of its bounds there. Raises `ProgramError` for a query with
    free variables, and `Error` if inference was told not to record."""
    fixpoint = covering_widely(session, query)
    lifted, root = fixpoint.explainer.root(query)
    check_bound(root, session.theory.checked)
    return fixpoint, fixpoint.explainer.explain(lifted, root, alpha)


def picture(session: Session, atom: str | None, formulas: bool, depth: int, most: int, alpha: float) -> Picture:
    """See `KnowledgeBase.draw`."""
    from lnnkit.draw.drawings import neighbourhood, predicate_graph, syntax_graph

    theory = session.theory
    title = theory.file.span.source.path
    predicates = theory.checked.predicates
    if atom is None or (atom in predicates and (formulas or predicates[atom].sorts)):
        titled = title if atom is None else f"{atom} in {title}"
        if formulas:
            return syntax_graph(session.graph(), titled, atom, most)
        return predicate_graph(theory.settled(), titled, atom, most)
    if is_name(atom) and atom not in predicates and (near := nearest(atom, predicates)):
        hint = f"did you mean `{near}`?"
        raise ProgramError([Diagnostic("unknown-predicate", f"no predicate is named `{atom}`", hint)])
    if formulas:
        message = f"`formulas` needs a predicate's name, and `{atom}` is not one"
        raise Error([Diagnostic("not-a-predicate", message, "name a predicate, or leave `formulas` out")])
    check_alpha(alpha)
    query, findings = asked(theory, atom)
    fixpoint, explanation = explained(session, query, alpha)
    drawn = neighbourhood(explanation.proof, fixpoint.explainer.bounds, alpha, depth, most)
    return replace(drawn, warnings=tuple(findings))
