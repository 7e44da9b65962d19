"""Pictures of a program's formulas, and of what an atom depends on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lnnkit.check.nearest import nearest
from lnnkit.errors import ProgramError
from lnnkit.kb.querying import asked, check_alpha
from lnnkit.kb.session import Session
from lnnkit.picture.lifted_picture import lifted_picture
from lnnkit.picture.picture import Picture
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import is_name


def picture(session: Session, atom: str | None, depth: int, most: int, alpha: float) -> Picture:
    """A picture of the whole graph, of the formulas around a predicate, or of what an atom depends on, with its
    bounds."""
    theory = session.theory
    title = theory.file.span.source.path
    predicates = theory.checked.predicates
    if atom is None:
        return lifted_picture(session.graph(), title, None, most)
    if atom in predicates and predicates[atom].sorts:
        return lifted_picture(session.graph(), f"{atom} in {title}", atom, most)
    _require_near_none(atom, predicates)
    check_alpha(alpha)
    query, findings = asked(theory, atom)
    from lnnkit.kb.explaining import placed  # infers, which drawing formulas does not
    from lnnkit.picture.neighbourhood import neighbourhood

    explainer, lifted, root = placed(session, query)
    explanation = explainer.explain(lifted, root, alpha)
    numbers = {name for name, predicate in predicates.items() if predicate.numeric}
    found = neighbourhood(explanation.proof, explainer.bounds, numbers, depth, most, alpha)
    return replace(found, warnings=tuple(findings))


def _require_near_none(name: str, predicates: Collection[str]) -> None:
    """Raises `ProgramError` for a name that is not a predicate's but resembles one."""
    if is_name(name) and name not in predicates and (near := nearest(name, predicates)):
        hint = f"did you mean `{near}`?"
        raise ProgramError([Diagnostic("unknown-predicate", f"no predicate is named `{name}`", hint)])
