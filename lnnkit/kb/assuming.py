"""What-if questions: a session in which some atoms have other facts. It continues from another session's fixpoints
where it can."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real

from lnnkit.check.program import Fact
from lnnkit.explain.conflict.program_variants import assumption, tightens
from lnnkit.explain.provenance.fact_sources import FactSources
from lnnkit.kb.querying import asked, no_atom
from lnnkit.kb.session import Continuation, Session
from lnnkit.kb.theory import Theory
from lnnkit.syntax import ast

_OPENED = 8  # sets of atoms for which a base session is cached


def hypothetical(session: Session, bounds: Mapping[str, float | tuple[float, float]]) -> Session:
    """A session in which the given atoms have these bounds instead of those that their facts give. Raises
    `ProgramError` for a key that is not an atom, ``ValueError`` for invalid bounds."""
    if not isinstance(bounds, Mapping):
        raise TypeError(f"bounds must be a mapping from atoms, not {type(bounds).__name__}")
    facts = [_assumption(session.theory, text, value) for text, value in bounds.items()]
    origins = session.theory.origins()
    found = _saying(session, facts, origins)
    if all(tightens(origins, fact) for fact in facts):
        found.source = Continuation(session, session.theory.checked, facts)
    else:
        found.source = _source_without(session, facts, origins)
    return found


def _assumption(theory: Theory, text: str, value: float | tuple[float, float]) -> Fact:
    found, _ = asked(theory, text, strangers=None)
    formula = found.formula
    if not isinstance(formula, ast.Atom) or any(isinstance(each, ast.Variable) for each in formula.arguments):
        raise no_atom(text, found)
    arguments = [each.text for each in formula.arguments if isinstance(each, ast.Constant)]
    ends = value if isinstance(value, tuple) else (value, value)
    wrong = ValueError(f"`{text}` needs one number, or two as a tuple; got {value!r:.60}")
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends):
        raise wrong
    try:
        lower, upper = map(float, ends)
    except OverflowError:
        raise wrong from None
    return assumption(formula.name, arguments, lower, upper, numeric=found.numeric)


def _saying(
    session: Session, facts: Sequence[Fact], origins: FactSources, assumable: frozenset[str] = frozenset()
) -> Session:
    """A session in which these facts replace all other facts about their atoms."""
    return session.about(session.theory.assuming(facts, origins), session.graph(), assumable)


def _source_without(session: Session, facts: Sequence[Fact], origins: FactSources) -> Continuation | None:
    """A session without any fact about these atoms, so that any assumption about them only tightens it. It is made on
    the second assumption: an interactive slider assumes the same atoms again and again."""
    atoms = frozenset((fact.predicate, fact.arguments) for fact in facts)
    if atoms not in session.opened:
        session.opened[atoms] = None
        if len(session.opened) > _OPENED:
            del session.opened[next(iter(session.opened))]
        return None
    opened = session.opened[atoms]
    if opened is None:
        numeric = [session.theory.checked.predicates[fact.predicate].numeric for fact in facts]
        ends = [(-math.inf, math.inf) if each else (0.0, 1.0) for each in numeric]
        bare = [replace(fact, lower=low, upper=high) for fact, (low, high) in zip(facts, ends, strict=True)]
        opened = _saying(session, bare, origins, frozenset(fact.predicate for fact in facts))
        session.opened[atoms] = opened
    return Continuation(opened, opened.theory.checked, facts)
