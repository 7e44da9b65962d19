"""A fixpoint, with everything that answers and explanations read from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from lnnkit.analysis.analyses import Known
from lnnkit.answers.contradictions import contradictions
from lnnkit.answers.creeping_rules import creeping
from lnnkit.budget import too_large, too_many_entities
from lnnkit.check.program import CheckedProgram
from lnnkit.computing import Computing
from lnnkit.data.names import Names
from lnnkit.engine.inference import Budget, Fixpoint, TooLarge, infer
from lnnkit.errors import Error
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.kb.theory import Theory
from lnnkit.outcome import Contradiction, Outcome
from lnnkit.store.layout import asked_constants, constants
from lnnkit.store.stated_facts import Gathering, unnamed
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.engine.stop.watch import Watch
    from lnnkit.explain.explainer import Explainer
    from lnnkit.join.join_plan import Recorder


class Rested:
    """A ``fixpoint``, the ``names`` of its entities, the ``program`` that it belongs to, and its ``outcome``: how it
    ended."""

    def __init__(
        self, fixpoint: Fixpoint, names: Names, program: CheckedProgram, found: Sequence[Contradiction]
    ) -> None:
        self.fixpoint = fixpoint
        self.names = names
        self.program = program
        self.outcome = _outcome(fixpoint, found)

    @property
    def narrow(self) -> bool:
        """Whether it knows some predicates only as far as its queries need them."""
        return bool(self.fixpoint.prepared.demands)

    @cached_property
    def explainer(self) -> Explainer:
        """The explainer of this fixpoint. Raises `Error` if nothing was recorded."""
        from lnnkit.explain.explainer import Explainer

        history = self.fixpoint.prepared.state.trail
        if history is None:
            message = "inference ran without recording, so its bounds cannot be explained"
            raise Error([Diagnostic("not-recorded", message, "infer again, without `record=False`")])
        return Explainer(self.fixpoint, history, self.names, self.program)


def inferred(
    theory: Theory,
    lifted: LiftedGraph,
    computing: Computing,
    *,
    budget: Budget,
    round_limit: int,
    watch: Watch | None,
    recorder: Recorder | None,
    known: Known,
    gathering: Gathering,
    record: bool,
    assumable: frozenset[str],
    narrow: bool,
) -> Rested:
    """The fixpoint of a theory and its facts, as `lnnkit.engine.inference.infer` makes it. Raises `BudgetError`."""
    stated = {text for texts in constants(lifted).values() for text in texts}
    try:
        program = theory.bound(theory.checked)
        asked = unnamed(program, asked_constants(lifted, lifted.queries) - stated)
        index, given, labelled = gathering.facts(program, stated | asked)
    except OverflowError as problem:
        raise too_many_entities(problem) from None
    try:
        fixpoint = infer(
            lifted,
            index,
            given,
            budget=budget,
            round_limit=round_limit,
            dtype=computing.dtype,
            device=computing.device,
            watch=watch,
            recorder=recorder,
            known=known,
            record=record,
            assumable=assumable,
            labelled=labelled,
            unnamed=asked,
            narrow=narrow,
        )
    except TooLarge as problem:
        raise too_large(problem, lifted) from None
    found = contradictions(fixpoint, index.names)
    said = replace(program, assertions=lifted.program.assertions)  # with the numbers that have been learned
    return Rested(fixpoint, index.names, said, found)


def _outcome(fixpoint: Fixpoint, found: Sequence[Contradiction]) -> Outcome:
    progress, prepared = fixpoint.progress, fixpoint.prepared
    return Outcome(
        progress.status.value,
        progress.rounds,
        found,
        creeping(fixpoint),
        atoms=len(prepared.grounding.atoms),
        unfinished=tuple(sorted(prepared.unfinished)),
    )
