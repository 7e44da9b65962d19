"""Pictures of a program's predicates and rules, of its formulas, and of what an atom rests on."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from lnnkit.check.date_terms import numeric_kind
from lnnkit.check.findings import nearest
from lnnkit.draw.drawings import neighbourhood, predicate_graph, syntax_graph
from lnnkit.errors import Error, ProgramError
from lnnkit.kb.session import Session
from lnnkit.kb.theory import asked, check_alpha
from lnnkit.picture.picture import Picture
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import is_name


def picture(session: Session, atom: str | None, formulas: bool, depth: int, most: int, alpha: float) -> Picture:
    """A picture of all predicates and rules, or of those around a predicate (or, if asked, of their ``formulas``), or
    of the derivation of an atom, with its bounds. Raises `Error` if the formulas of an atom are asked for."""
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
    from lnnkit.kb.asking import explained  # this infers, which drawing formulas does not

    rested, explanation = explained(session, query, alpha)
    kind = partial(numeric_kind, predicates=predicates)
    drawn = neighbourhood(explanation.proof, rested.explainer.bounds, kind, alpha, depth, most)
    return replace(drawn, warnings=tuple(findings))
