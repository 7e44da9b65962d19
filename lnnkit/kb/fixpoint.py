"""A fixpoint, with everything that answers and explanations read from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakSet

from lnnkit.answers.contested_marks import Marks, marked
from lnnkit.answers.contradictions import contradictions, creeping
from lnnkit.budget import TooLarge, too_large, too_many_entities
from lnnkit.check.program import CheckedProgram, Fact
from lnnkit.computing import Computing
from lnnkit.data.names import AnyNames
from lnnkit.data.table import FactTable
from lnnkit.engine.inference import copied, infer
from lnnkit.engine.inference_run import Run, Status
from lnnkit.engine.planning.compiling import Plans
from lnnkit.engine.revision.restated_facts import RestatedAtom
from lnnkit.engine.revision.revise import revise
from lnnkit.errors import Error
from lnnkit.kb.theory import Theory
from lnnkit.outcome import Outcome
from lnnkit.store.layout import asked_constants, constants
from lnnkit.store.stated_facts import Gathered, Gathering, unnamed
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.engine.inference_run import Watch
    from lnnkit.explain.explainer import Explainer
    from lnnkit.join.instances.grounding import Guard
    from lnnkit.join.join_plan import Recorder
    from lnnkit.rows.strip_engine import StripFixpoint


_FEW = 2**20
"""Facts: with this many or fewer, all rows fit the memory together (0.1 KB a fact), and their fixpoint has explanations
too."""

_Pair = tuple[float, float]
# A fixpoint is made anew for more changed facts than `_MANY`, and one for each `_SHARE` rows: to revise 1,000 of 20,000
# takes as long
_SHARE, _MANY = 16, 1000


@dataclass(eq=False)
class Fixpoint:
    """A fixpoint, the ``names`` of its entities, the ``program`` that it belongs to, and its ``outcome``: how it ended.

    If the program's queries were answered by ``strips``, the ``run`` is inferred on first use. It is ``narrow``
    if some predicates are completed only as far as its queries need them, ``consistent`` if it has no contradiction.
    """

    names: AnyNames
    program: CheckedProgram
    outcome: Outcome
    _run: Run | Callable[[], Run]
    strips: StripFixpoint | None = None
    consistent: bool = False
    revised: bool = False  # whether its run was revised, and is another fixpoint now
    readers: WeakSet[object] = field(default_factory=WeakSet)  # views that may read it later: only a copy is revised

    @property
    def narrow(self) -> bool:
        return isinstance(self._run, Run) and bool(self._run.plan.demands)

    @cached_property
    def run(self) -> Run:
        """All bounds and their provenance. Raises `BudgetError` if they are only inferred now."""
        return self._run if isinstance(self._run, Run) else self._run()

    @cached_property
    def marks(self) -> Marks | None:
        """What makes answers contested; None without contradictions."""
        return None if self.consistent else marked(self.run)

    @property
    def cut_short(self) -> bool:
        """Whether inference was stopped before its end."""
        made = vars(self).get("run")
        later = made is not None and made.progress.status is Status.INTERRUPTED
        return self.outcome.status == "interrupted" or later

    @cached_property
    def explainer(self) -> Explainer:
        """The explainer of this fixpoint. Raises `Error` if nothing was recorded."""
        from lnnkit.explain.explainer import Explainer

        if not self.run.state.trail.has_values:
            message = "inference ran without recording, so its bounds cannot be explained"
            raise Error([Diagnostic("not-recorded", message, "infer again, without `record=False`")])
        return Explainer(self.run, self.names, self.program, lambda: self.marks)


def inferred(
    theory: Theory,
    plans: Plans,
    computing: Computing,
    *,
    guard: Guard,
    round_limit: int,
    watch: Watch | None,
    recorder: Recorder | None,
    gathering: Gathering,
    record: bool,
    narrow: bool,
    by_strips: bool,
    later: Callable[[], Watch | None],
) -> Fixpoint:
    """The fixpoint of a theory and its facts, by `lnnkit.engine.inference.infer`; ``by_strips`` if only its queries
    are asked for now; ``later`` gives the watch of a later inference. Raises `BudgetError`."""
    lifted = plans.lifted
    stated = {text for texts in constants(lifted).values() for text in texts}
    try:
        program = theory.bound(theory.checked)
        asked = unnamed(program, asked_constants(lifted, lifted.queries) - stated)
        index, given, labelled = gathering.facts(program, stated | asked)
    except OverflowError as problem:
        raise too_many_entities(problem) from None
    learned = replace(program, assertions=lifted.program.assertions)  # with the learned numbers

    def whole(watching: Watch | None, *, narrow: bool) -> Run:
        try:
            return infer(
                plans,
                index,
                given,
                guard=guard,
                round_limit=round_limit,
                dtype=computing.dtype,
                device=computing.device,
                watch=watching,
                recorder=recorder,
                record=record,
                labelled=labelled,
                unnamed=asked,
                narrow=narrow,
            )
        except TooLarge as problem:
            raise too_large(problem, lifted) from None

    strips = None
    if by_strips and sum(map(len, given)) > _FEW:
        from lnnkit.rows.strip_engine import strip_fixpoint

        strips = strip_fixpoint(plans, Gathered(index, given, labelled), guard, round_limit, watch)
    if strips is not None:
        ended = "interrupted" if strips.interrupted else "converged"
        outcome = Outcome(ended, strips.rounds, today=learned.today)
        return Fixpoint(index.names, learned, outcome, lambda: whole(later(), narrow=False), strips)
    return fixpoint_of(whole(watch, narrow=narrow), index.names, learned)


def fixpoint_of(run: Run, names: AnyNames, program: CheckedProgram) -> Fixpoint:
    """The fixpoint of a run."""
    outcome = Outcome(
        run.progress.status.value,
        run.progress.rounds,
        contradictions(run, names),
        creeping(run),
        atoms=len(run.grounding.atoms),
        unfinished=tuple(sorted(run.unfinished)),
        today=program.today,
    )
    return Fixpoint(names, program, outcome, run, consistent=not (outcome.contradictions or run.state.crossed))


Changed = Sequence[tuple[Fact | FactTable, bool]]
"""Facts that were stated, or retracted (True), in order."""


def revised(theory: Theory, before: Fixpoint, changed: Changed, watch: Watch | None, *, copy: bool) -> Fixpoint | None:
    """A fixpoint brought to the facts of a theory, which differ from its own by those that ``changed``; or a ``copy``
    of it, as where it is still read. None if it has to be made anew."""
    if theory.bindings:
        return None
    copy |= "explainer" in vars(before) or len(before.readers) > 0
    checked, later = theory.checked, dict[str, int]()
    restated = _restated(checked.facts, before.run, changed, later)
    if restated is None:
        return None
    before.revised = not copy
    run = copied(before.run) if copy else before.run
    try:
        done = revise(run, restated, later, watch, labelled=bool(checked.labels or checked.label_tables))
    except TooLarge:
        done = False
    if not done:
        return None
    names = before.names.followed_by(later) if later else before.names
    return fixpoint_of(run, names, replace(checked, assertions=before.program.assertions))


def _restated(facts: Sequence[Fact], run: Run, changed: Changed, later: dict[str, int]) -> list[RestatedAtom] | None:
    """The atoms about which facts ``changed``. After a retraction the axioms among all ``facts`` still hold. The ids of
    new entities are entered in ``later``. None if these are too many changes."""
    count = sum(1 if isinstance(stated, Fact) else len(stated) for stated, _ in changed)
    if count > max(_MANY, len(run.grounding.atoms) // _SHARE):
        return None
    stated, index = [*_atoms(changed)], run.grounding.domain.index
    ids = {text: index[text] for text in {t for _, arguments, _ in stated for t in arguments} if text in index}
    atoms = dict[tuple[str, tuple[int, ...]], tuple[bool, _Pair | None]]()
    axioms: dict[object, list[_Pair]] = {}
    for fact in facts:
        if fact.of_axiom:
            axioms.setdefault((fact.predicate, fact.arguments), []).append((fact.lower, fact.upper))
    for predicate, arguments, bounds in stated:
        new = [text for text in dict.fromkeys(arguments) if text not in ids]
        if new and bounds is None:  # there are no facts about it
            continue
        for text in new:
            ids[text] = later[text] = run.grounding.domain.count + len(later)
        key = predicate, tuple(ids[text] for text in arguments)
        retracted, known = (True, None) if bounds is None else atoms.get(key, (False, None))
        ends = axioms.get((predicate, arguments), []) if bounds is None else [bounds, *([known] if known else [])]
        atoms[key] = retracted, (max(low for low, _ in ends), min(high for _, high in ends)) if ends else None
    return [RestatedAtom(*key, *restated) for key, restated in atoms.items()]


def _atoms(changed: Changed) -> Iterator[tuple[str, tuple[str, ...], tuple[float, float] | None]]:
    """The predicate and the entities of each fact, and its bounds; None if it is retracted."""
    for facts, retracted in changed:
        if isinstance(facts, Fact):
            yield facts.predicate, facts.arguments, None if retracted else (facts.lower, facts.upper)
            continue
        rows = zip(*facts.columns, strict=True) if facts.columns else [()] * len(facts)
        for arguments, low, high in zip(rows, facts.lower.tolist(), facts.upper.tolist(), strict=True):
            yield facts.predicate, arguments, None if retracted else (low, high)
