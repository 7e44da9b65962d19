"""Bounds by cases: assume each side of a split, infer, and keep the bounds that all sides share.

Sound in every logic: each world belongs to at least one case, so what holds in all cases holds. If the program is
consistent, a case that leads to a contradiction has no world and is dropped; the remaining cases then hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

from lnnkit.answers.query_rows import answer
from lnnkit.budget import allowed
from lnnkit.check.program import Assertion, Query
from lnnkit.engine.inference import Budget, TooLarge
from lnnkit.errors import BudgetError
from lnnkit.explain.case_tree import Case, CaseNode, CaseSplit, as_crisp
from lnnkit.explain.proof.explanation import Explanation
from lnnkit.kb.case_splits import OPEN, Assumed, Binding, Split, Splits, crisp
from lnnkit.kb.explaining import conflicts
from lnnkit.kb.rested import Rested
from lnnkit.kb.session import Session

# Splits at one node. On a small rule base 4, 16 and 64 take 0.7, 1.1 and 6.5 s and find the same; a bound that only the
# last of many disjunctions gives needs them all (`python -m benchmarks.question_constants cases`)
TRIED = 64
FOLLOWED = 6  # of these, the splits into which further ones are nested
INFERENCES = 4000  # inferences for one question
_ROWS = 200  # instances of one disjunction that are split
_INSTANCES = 2000  # disjunctions evaluated
_UNLIMITED = Budget(instances=2**62)


@dataclass
class Effort:
    """The remaining number of fixpoints for a question."""

    left: int = INFERENCES

    @property
    def spent(self) -> bool:
        return self.left <= 0


@dataclass(frozen=True)
class _Place:
    """A node of the search: a fixpoint under assumptions, and its bounds of the question. ``done`` are the splits on
    the path to it."""

    session: Session
    rested: Rested
    lower: float
    upper: float
    done: frozenset[str] = frozenset()

    @property
    def contradictory(self) -> bool:
        return bool(len(self.rested.outcome.contradictions)) or self.lower > self.upper + OPEN

    def proof(self, query: Query, alpha: float) -> Callable[[], Explanation]:
        """The proof of the question's bounds at this node, made on demand."""

        def made() -> Explanation:
            explainer = self.rested.explainer
            return explainer.explain(*explainer.root(query), alpha)

        return made

    def conflict(self) -> str:
        """The conflict at a contradictory node."""
        found = conflicts(self.session, 1)
        return str(found[0]) if found else "the bounds of the query cross"


class Deciding:
    """The decision of one ground question by cases; ``classical`` if every atom is taken to be true or false, ``alpha``
    is the threshold of truth in proofs."""

    def __init__(self, session: Session, query: Query, alpha: float, *, classical: bool, effort: Effort) -> None:
        self.query = query
        self.alpha = alpha
        self.effort = effort
        theory = copy(session.theory)
        theory.checked = replace(theory.checked, queries=())
        self.splits = Splits(theory.bound(theory.settled()), query, classical)
        self._rounds_to_crisp = classical and not query.numeric and crisp(query.formula)
        start = session.about(theory, session.graph())
        start.recording = True
        self.disjunctions = self.splits.disjunctions
        try:
            self.start = self._place(start, frozenset())
        except BudgetError:  # these have too many instances to evaluate
            self.disjunctions = ()
            self.start = self._place(start, frozenset())
        self._widen(start)
        self.consistent = not self.start.contradictory

    def decided(self, depth: int) -> CaseNode | None:
        """The result of case splits nested up to ``depth``; None if no case is consistent: the program has no world,
        though inference alone finds no contradiction."""
        return self._node(self.start, depth)

    def _widen(self, session: Session) -> None:
        """Add disjunctions with variables, if these have few possible entities."""
        domain = self.start.rested.fixpoint.prepared.grounding.domain
        few: list[Query] = []
        for query in self.splits.wide_disjunctions:
            _, root = self.start.rested.explainer.root(query)
            if math.prod(len(domain.sorts[sort]) for sort in root.sorts) <= _INSTANCES:
                few.append(query)
        if few:
            self.disjunctions = (*self.disjunctions, *few)
            self.start = self._place(session, frozenset())

    # --- search -------------------------------------------------------------------------------------------------

    def _node(self, place: _Place, depth: int) -> CaseNode | None:
        best = self._leaf(place)
        if depth == 0 or _settled(best):
            return best
        waiting: list[tuple[float, Split, list[_Place]]] = []
        for split in self._candidates(place):
            if self.effort.spent:
                break
            places = [self._assuming(place, split, case) for case in split.cases]
            left = [each for each in places if not self._dropped(each)]
            if len(left) < 2:  # a single remaining case holds, at no cost in depth
                inner = [None if self._dropped(each) else self._node(each, depth) for each in places]
                return self._met(place, best, split, places, inner)
            inner = [None if self._dropped(each) else self._leaf(each) for each in places]
            met = self._met(place, best, split, places, inner)
            if met is None or _settled(met):
                return met
            best = met
            if depth > 1:
                waiting = sorted([*waiting, (_gain(place, left), split, places)], key=lambda each: -each[0])[:FOLLOWED]
        for _, split, places in waiting:
            if self.effort.spent:
                break
            inner = [None if self._dropped(each) else self._node(each, depth - 1) for each in places]
            met = self._met(place, best, split, places, inner)
            if met is None or _settled(met):
                return met
            best = met
        return best

    def _met(
        self, place: _Place, best: CaseNode, split: Split, places: Sequence[_Place], found: Sequence[CaseNode | None]
    ) -> CaseNode | None:
        """The bounds met with what the cases have in common, if that is tighter; None if no case is consistent."""
        left = [each for each in found if each is not None]
        if not left:
            return None
        lower, upper = min(each.lower for each in left), max(each.upper for each in left)
        raised, lowered = lower > best.lower + OPEN, upper < best.upper - OPEN
        if not raised and not lowered:
            return best
        cases = [
            Case(assumed.text, node, None if node is not None else each.conflict)
            for assumed, each, node in zip(split.cases, places, found, strict=True)
        ]
        ground = None if split.ground is None else place.proof(split.ground, self.alpha)
        made = CaseSplit(split.text, tuple(cases), ground)
        kept = () if raised and lowered else best.splits  # the other end still rests on these splits
        return replace(best, lower=max(best.lower, lower), upper=min(best.upper, upper), splits=(*kept, made))

    def _leaf(self, place: _Place) -> CaseNode:
        lower, upper = place.lower, place.upper
        if self._rounds_to_crisp and not place.contradictory:
            lower, upper = as_crisp(lower, upper)
        return CaseNode(lower, upper, place.proof(self.query, self.alpha))

    def _dropped(self, place: _Place) -> bool:
        return self.consistent and place.contradictory

    def _candidates(self, place: _Place) -> Iterator[Split]:
        for count, split in enumerate(self.splits.at(place.rested, list(self._rows(place)), place.done)):
            if count == TRIED:
                return
            yield split

    def _rows(self, place: _Place) -> Iterator[tuple[Query, Binding, float]]:
        """The instances of disjunctions with a positive lower bound."""
        names = place.rested.names
        for query in self.disjunctions:
            lifted, root = place.rested.explainer.root(query)
            try:
                found = answer(place.rested.fixpoint, lifted, root, budget=allowed(place.session.most))
            except TooLarge:
                continue
            for row in range(min(_ROWS, len(found.lower))):
                if float(found.lower[row]) > OPEN:
                    entities = [names[int(column[row])] for column in found.columns]
                    yield query, dict(zip(found.variables, entities, strict=True)), float(found.lower[row])

    # --- inference ----------------------------------------------------------------------------------------------

    def _place(self, session: Session, done: frozenset[str]) -> _Place:
        self.effort.left -= 1
        rested = session.rest((self.query, *(each for each in self.disjunctions if each != self.query)))
        lifted, root = rested.explainer.root(self.query)
        found = answer(rested.fixpoint, lifted, root, budget=_UNLIMITED)
        return _Place(session, rested, float(found.lower[0]), float(found.upper[0]), done)

    def _assuming(self, place: _Place, split: Split, case: Assumed) -> _Place:
        session, theory = place.session, place.session.theory
        done = place.done | {split.key}
        if case.facts:
            said = copy(theory)
            said.checked = replace(theory.checked, facts=(*theory.checked.facts, *case.facts))
            # Inferred from scratch: a continuation has no proof of the assumptions
            found = session.about(said, session.graph())
        else:
            program = theory.bound(theory.settled())
            axiom = Assertion("axiom", None, case.formula, case.lower, case.upper, case.logic, case.span)
            found = session.about(theory.about(replace(program, assertions=(*program.assertions, axiom))))
        return self._place(found, done)


def _settled(node: CaseNode) -> bool:
    return node.upper - node.lower <= OPEN


def _gain(place: _Place, left: Sequence[_Place]) -> float:
    """The total narrowing of the cases."""
    gained = sum((place.upper - place.lower) - (each.upper - each.lower) for each in left)
    return gained if math.isfinite(gained) else 0.0
