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

_FEW = 8  # so many questions are answered from fixpoints of their own, which may know little else; then comes the whole


def covering(session: Session, query: Query) -> Rested:
    """A fixpoint that covers the query: that of the program's own queries, or one made for this query."""
    own = session.theory.checked.queries
    if query in own:
        return session.own()
    for rested in session.fixpoints.values():
        if _covers(rested, query):
            return rested
    if session.source is None and len(session.fixpoints) < _FEW:
        return session.rest((*own, query))
    rested = session.own()
    return rested if _covers(rested, query) else session.rest((*own, query))


def covering_widely(session: Session, query: Query) -> Rested:
    """The same, or one that knows all atoms of the query's predicate, and of those that are completed only as far as
    questions need them: whoever asks why asks about others next."""
    own = session.theory.checked.queries
    rested = session.own()
    narrowed = [predicate for predicate, _ in rested.fixpoint.prepared.demands.values()]
    if not narrowed and (query in own or _covers(rested, query)):
        return rested
    named = [query.formula.name] if isinstance(query.formula, ast.Atom) else []
    every = [of_all(session, name, query) for name in dict.fromkeys((*named, *narrowed))]
    wider = (*own, *(each for each in every if each is not None))
    if wider == own:
        return covering(session, query)
    rested = session.rest(wider)
    return rested if query in own or _covers(rested, query) else session.rest((*wider, query))


def of_all(session: Session, predicate: str, query: Query) -> Query | None:
    """The question about all atoms of a predicate, if it has arguments."""
    arity = session.theory.checked.predicates[predicate].arity
    variables = ", ".join(f"V{place}" for place in range(arity))
    name = format_expression(ast.Atom(predicate, span=query.span))
    return check_query(f"{name}({variables})", session.theory.checked)[0] if variables else None


def _covers(rested: Rested, query: Query) -> bool:
    lifted = add_queries(rested.fixpoint.prepared.lifted, [query])
    return covers(rested.fixpoint, lifted, lifted.queries[0])
