"""Continues from a fixpoint after the bounds of some atoms were tightened: `lnnkit.engine.continuation`, with atoms
given by name."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.check.program import Fact
from lnnkit.computing import Computing
from lnnkit.engine.continuation import Assumption, assumed
from lnnkit.kb.rested import Rested, rested
from lnnkit.kb.theory import Theory


def gone_on(
    theory: Theory, earlier: Rested, facts: Sequence[Fact], computing: Computing, *, round_limit: int
) -> Rested | None:
    """The fixpoint of a theory that states what the theory of ``earlier`` stated, and these facts in addition. None if
    it cannot be reached from ``earlier``."""
    index = earlier.fixpoint.prepared.grounding.domain.index
    if any(entity not in index for fact in facts for entity in fact.arguments):
        return None
    changes = [
        Assumption(fact.predicate, tuple(index[entity] for entity in fact.arguments), fact.lower, fact.upper)
        for fact in facts
    ]
    fixpoint = assumed(earlier.fixpoint, changes, round_limit)
    if fixpoint is None:
        return None
    return rested(fixpoint, earlier.names, theory.bound(theory.checked))
