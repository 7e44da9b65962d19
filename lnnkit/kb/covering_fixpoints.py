"""Fixpoints that cover a query: every bound that the query needs was computed."""

from __future__ import annotations

from lnnkit.answers.query_rows import covers
from lnnkit.check import check_query
from lnnkit.check.program import Query
from lnnkit.graph.lifting import add_queries
from lnnkit.kb.rested import Rested
from lnnkit.kb.session import Session
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

# This many questions are answered from fixpoints of their own; then the whole is inferred. On the closure of 900 links
# one question takes 25 ms by itself and 70 ms by the whole, eight take 127 ms and 76 ms. Forty in a row on 300 links
# take 130 ms by the whole at once, 211 ms after 8, 445 ms after 32 (`python -m benchmarks.question_constants asked`)
_FEW = 8


def covering(session: Session, query: Query, *, narrow: bool = False) -> Rested:
    """A fixpoint that covers the query: that of the program's own queries, or one made for this query. If it may be
    ``narrow``, closed derived predicates are completed only as far as the queries need them."""
    own = session.theory.checked.queries
    if query in own:
        return session.rest(own, narrow=narrow)
    made = session.made()
    for rested in made:
        if (narrow or not rested.narrow) and _covers(rested, query):
            return rested
    if narrow and session.source is None and len(made) < _FEW:
        return session.rest((*own, query), narrow=True)
    rested = session.rest(own)
    return rested if _covers(rested, query) else session.rest((*own, query))


def covering_widely(session: Session, query: Query) -> Rested:
    """As `covering`, or a fixpoint that covers all atoms of the query's predicate: a question about one atom is often
    followed by others."""
    checked = session.theory.checked
    own = checked.queries
    rested = session.rest(own)
    if query in own or _covers(rested, query) or not isinstance(query.formula, ast.Atom):
        return covering(session, query)
    variables = ", ".join(f"V{place}" for place in range(len(query.formula.arguments)))
    name = format_expression(ast.Atom(query.formula.name, span=query.span))
    every, _ = check_query(f"{name}({variables})", checked)
    if not variables or every is None:
        return covering(session, query)
    rested = session.rest((*own, every))
    return rested if _covers(rested, query) else session.rest((*own, every, query))


def _covers(rested: Rested, query: Query) -> bool:
    lifted = add_queries(rested.fixpoint.prepared.lifted, [query])
    return covers(rested.fixpoint, lifted, lifted.queries[0])
