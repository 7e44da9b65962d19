"""Why bounds are what they are, why they are no tighter, and which facts and statements cause contradictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lnnkit.check.program import CheckedProgram, Query
from lnnkit.explain.conflict.conflict import Conflict, ContradictionKind, RepairSet, fitting, kind_of, repair_set
from lnnkit.explain.conflict.program_variants import ConflictMember, alone
from lnnkit.explain.missing.why_not import WhyNot
from lnnkit.kb.asking import covering_widely
from lnnkit.kb.assuming import adding
from lnnkit.kb.session import Session
from lnnkit.kb.theory import check_bound, neither_true_nor_false, no_atom
from lnnkit.markup.pages import Listing

_COUNTED = 100_000  # contradictions whose kinds are looked for
_AT_ONCE = 20  # conflicts of a kind that a set meets before inference shows what is left

if TYPE_CHECKING:
    from lnnkit.engine.termination import Watch
    from lnnkit.kb.rested import Rested


def why_not(session: Session, query: Query, text: str, *, upper: bool, goal: float | None) -> WhyNot:
    """What keeps one side of an atom's bounds from ``goal`` (None: from true or false). Raises `ProgramError` for
    a query that is not an atom, and `Error` if inference was told not to record. ``text`` is the query as the user
    wrote it."""
    before = covering_widely(session, query)
    lifted, root = before.explainer.root(query)
    check_bound(root, session.theory.checked)
    reference = root.reference
    if lifted.graph.nodes[reference.node]["kind"] != "predicate":
        raise neither_true_nor_false(text, query) if query.numeric else no_atom(text, query)
    wanted = (0.0 if upper else 1.0) if goal is None else goal
    return before.explainer.why_not(
        reference.node,
        list(map(str, reference.arguments)),
        int(upper),
        wanted,
        adding(session, query, before, int(upper)),
    )


def conflicts(
    session: Session,
    most: int,
    rested: Rested | None = None,
    watch: Watch | None = None,
    kind: ContradictionKind | None = None,
) -> Listing[Conflict]:
    """The first ``most`` contradictions of a fixpoint (default: that for the program's own queries), or those of a
    kind, each with the facts and statements behind it. ``watch`` is called after each round of inference from some of
    them."""
    rested = rested or session.program_fixpoint()
    most_rounds = 4 * rested.outcome.rounds + 64  # slow convergence could take arbitrarily long

    def inconsistent(members: Sequence[ConflictMember], *, thoroughly: bool = False) -> bool:
        part = session.about(session.theory.about(alone(rested.program, members)))
        part.watch = watch
        return bool(part.rest((), 8 * most_rounds if thoroughly else most_rounds).outcome.contradictions)

    prover, world = rested.explainer.prover, rested.explainer.world
    listed = fitting(prover, world, inconsistent, most, lambda crossed: kind is None or kind_of(crossed) == kind)
    return Listing(listed, ["contradiction", "facts and rules"], Conflict.cells)


def repairs(session: Session) -> Listing[RepairSet]:
    """One smallest set of facts and statements for all contradictions of each kind."""
    outcome = session.program_fixpoint().outcome
    counts = Counter(map(kind_of, outcome.contradictions[:_COUNTED]))

    def find(program: CheckedProgram, kind: ContradictionKind) -> Listing[Conflict]:
        part = session if program is whole else session.about(session.theory.about(program))
        return conflicts(part, _AT_ONCE, kind=kind)

    whole = session.theory.bound(session.theory.settled())
    sets = [repair_set(whole, kind, count, find) for kind, count in counts.items()]
    return Listing(sets, ["contradictions of", "count", "cost", "leave out"], RepairSet.cells)
