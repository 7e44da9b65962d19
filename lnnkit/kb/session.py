"""An inference session: the fixpoints of a theory, made when an answer needs them and kept until the theory changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet, ref

from lnnkit.check.program import CheckedProgram, Query
from lnnkit.computing import Computing
from lnnkit.errors import BudgetError
from lnnkit.garbage import collection_paused
from lnnkit.interrupt import Interruption, has_pythons_handler
from lnnkit.kb.theory import Theory

if TYPE_CHECKING:
    from lnnkit.analysis.supports import SupportCache
    from lnnkit.data.table import FactTable
    from lnnkit.engine.inference_run import Watch
    from lnnkit.engine.planning.compiling import Plans
    from lnnkit.graph.lifted import LiftedGraph
    from lnnkit.join.join_plan import Recorder
    from lnnkit.kb.fixpoint import Changed, Fixpoint
    from lnnkit.store.stated_facts import Gathering

ROUND_LIMIT = 100_000
_PARTS = 8  # sessions of parts that are kept

GroundAtom = tuple[str, tuple[str, ...]]  # a predicate, and entities
Key = tuple[bool, tuple[str, ...]]  # whether a fixpoint is narrow, and the texts of its queries
ProgramPart = tuple[tuple[int, ...], frozenset[str]]  # statements by their places, and predicates


class Session:
    """Inference over a ``theory``.

    ``computing`` is the precision and the device, ``most`` the limit of instances of one rule (None: as many as fit
    half of the free memory), ``recording`` whether explanations are kept. ``watch`` is called after rounds that have no
    watch of their own. ``fixpoints`` are keyed by whether they are narrow and by the texts of their queries. A copy may
    continue from ``source``. ``supposed`` has by sets of atoms the last copy in which they were assumed, and what it
    stated; ``parts`` are sessions of some of the statements.
    """

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self.computing = Computing()
        self.most: int | None = None
        self.recording = True
        self.watch: Watch | None = None  # while inferring for an answer
        self.fixpoints: dict[Key, Fixpoint] = {}
        self.source: Continuation | None = None
        self.supposed: dict[frozenset[GroundAtom], tuple[Session, CheckedProgram]] = {}
        self.parts: dict[ProgramPart, Session] = {}
        self.earlier: CheckedProgram | None = None  # of the answers before facts last changed
        # Fixpoints of the facts before some were stated or taken back (True)
        self._outdated: dict[Key, tuple[Fixpoint, Changed]] = {}
        self._lifted: LiftedGraph | None = None
        self._supports: SupportCache | None = None
        self._plans: dict[tuple[str, ...], Plans] = {}  # of the program's queries, by their texts
        self._gathering: Gathering | None = None
        self._views = WeakSet[Session]()  # sessions that share the fixpoints until facts change
        self._version: tuple[object, ...] = ()  # the version of the graph and the fixpoints

    def about(self, theory: Theory, lifted: LiftedGraph | None = None) -> Session:
        """A session for another theory, with the same settings, that has inferred nothing yet. ``lifted`` is the graph
        of its statements, if known."""
        clone = copy(self)
        clone.theory, clone._lifted = theory, lifted
        clone.fixpoints, clone.supposed, clone.parts, clone._outdated, clone._views = {}, {}, {}, {}, WeakSet()
        clone.source, clone._gathering, clone.watch, clone.earlier = None, None, None, None
        clone._plans = self._plans if lifted is not None and lifted is self._lifted else {}
        return clone

    def part(self, part: ProgramPart, theory: Callable[[], Theory]) -> Session:
        """The session for a part of the theory, which ``theory`` makes where no session is kept. Few are."""
        self._follow_learning()
        if part not in self.parts:
            if len(self.parts) >= _PARTS:
                del self.parts[next(iter(self.parts))]
            self.parts[part] = self.about(theory())
            self.parts[part]._supports = None  # of other formulas
        return self.parts[part]

    def copied(self) -> Session:
        """A session for the same theory that shares no intermediate state with this one: safe to use after an exception
        has interrupted inference here."""
        clone = self.about(self.theory.copied())
        clone._supports = None
        return clone

    def graph(self) -> LiftedGraph:
        """The graph of all statements, without the queries. Raises `ProgramError` if the program cannot be
        evaluated."""
        self.theory.require_evaluated()
        if self._lifted is None:
            from lnnkit.graph.lifting import build

            self._lifted = build(replace(self.theory.settled(), queries=()))
        return self._lifted

    def change(self, checked: CheckedProgram, facts: FactTable | None = None, *, taken: bool = False) -> None:
        """Replace the checked program of the theory, and discard all fixpoints, or keep them to be revised where it
        differs by ``facts`` alone, which are stated or ``taken`` back. The graph and its plans remain if facts alone
        differ, unless these may decide whether dates have times."""
        outdated = self._outdated | {key: (fixpoint, []) for key, fixpoint in self.fixpoints.items()}
        for fixpoint in self.fixpoints.values():
            fixpoint.readers.update(self._views)
        if self.fixpoints:
            self.earlier = self.theory.checked
        same = checked.assertions is self.theory.checked.assertions
        same &= all(predicate.numeric != "date" for predicate in checked.predicates.values())
        if checked.queries != self.theory.checked.queries:
            self._plans = {}
        if same:
            self._start_anew()
        else:
            self.forget()
        self.theory.checked = checked  # an exception before it leaves no fixpoint of other facts
        if same and facts is not None and self.most is None:
            self._outdated = {key: (fixpoint, [*known, (facts, taken)]) for key, (fixpoint, known) in outdated.items()}

    def retract(self, keys: FactTable) -> None:
        """Take back the facts about some atoms, also those that are assumed."""
        after = copy(self.theory)
        after.retract(keys)
        with self.restored_on_error():
            self.change(after.checked, keys, taken=True)
            self.theory.assumed = after.assumed

    def of_facts(self, checked: CheckedProgram) -> Session:
        """A session for the same theory with the facts of a program, which later changes do not reach."""
        theory = copy(self.theory)
        theory.checked, theory.learner = checked, None if theory.learner is None else theory.learner.copied()
        clone = self.about(theory, self.graph())
        if checked is self.theory.checked:
            self.made()
            clone.fixpoints, clone._version = self.fixpoints, self._version
            self._views.add(clone)
        return clone

    @contextmanager
    def restored_on_error(self) -> Iterator[None]:
        """A context in which the theory may change; if it is left by an exception, everything is as it was before,
        but the weights of bound modules."""
        theory, values = self.theory, dict(self.theory.values)
        learner = None if theory.learner is None else dict(vars(theory.learner))
        before = [{k: copy(v) if isinstance(v, dict) else v for k, v in vars(part).items()} for part in (self, theory)]
        try:
            yield
        except BaseException:
            for part, state in zip((self, theory), before, strict=True):
                vars(part).update(state)
            self.fixpoints = {key: fixpoint for key, fixpoint in self.fixpoints.items() if not fixpoint.revised}
            self._outdated = {key: entry for key, entry in self._outdated.items() if not entry[0].revised}
            if theory.learner is not None and learner is not None:
                vars(theory.learner).update(learner)
                theory.learner.module.load(values)
            raise

    def forget(self) -> None:
        """Discard all fixpoints, of this session and of the one that it is a copy of: the theory has changed."""
        self._lifted, self._plans = None, {}
        self._start_anew()

    def infer(
        self,
        most: int | None,
        max_rounds: int,
        computing: Computing,
        watch: Watch | None,
        recorder: Recorder | None = None,
    ) -> Fixpoint:
        """Infer again what the program's queries need; later requests use the same settings. Ctrl-C ends it after a
        round. Raises `BudgetError`."""
        self._start_anew(keeping=recorder is None and most is None and max_rounds == ROUND_LIMIT)
        self.computing = replace(computing, precision="double") if self.theory.numeric else computing
        self.most = most
        watch = watch or self.watch
        with Interruption(watch) if has_pythons_handler() else nullcontext(watch) as watching:
            try:
                return self.rest(self.theory.checked.queries, max_rounds, watching, recorder, narrow=True)
            except BudgetError:
                self.most = None
                raise

    @contextmanager
    def watched(self, watch: Watch) -> Iterator[None]:
        """A context in which ``watch`` is called after every round, and may stop inference."""
        before, self.watch = self.watch, watch
        try:
            yield
        finally:
            self.watch = before

    def program_fixpoint(self) -> Fixpoint:
        """The fixpoint of the program's own queries."""
        return self.rest(self.theory.checked.queries, narrow=True)

    def made(self) -> list[Fixpoint]:
        """The fixpoints that exist and are still valid, or can be brought to the facts as they are."""
        self._follow_learning()
        for key in [*self._outdated]:
            self._current(key, self.watch)
        return list(self.fixpoints.values())

    def rest(
        self,
        queries: tuple[Query, ...],
        max_rounds: int = ROUND_LIMIT,
        watch: Watch | None = None,
        recorder: Recorder | None = None,
        *,
        narrow: bool = False,
    ) -> Fixpoint:
        """The fixpoint for these queries, made now if there is none; ``narrow`` allows that only their answers are read
        from it. Raises `BudgetError`, and `ProgramError` if the program cannot be evaluated."""
        with collection_paused():
            from lnnkit.analysis.supports import SupportCache
            from lnnkit.budget import allowed
            from lnnkit.engine.planning.compiling import Plans
            from lnnkit.graph.lifting import add_queries
            from lnnkit.kb.fixpoint import inferred
            from lnnkit.store.stated_facts import Gathering

        self._supports = self._supports or SupportCache()
        self._gathering = self._gathering or Gathering()
        self._follow_learning()
        texts = tuple(query.text for query in queries)
        for key in ((False, texts), (True, texts))[: 1 + narrow]:
            current = self._current(key, watch or self.watch)
            if current is not None:
                return current
        fixpoint = None if self.source is None else self._gone_on(queries, self.source)
        if fixpoint is None:
            self._outdated.clear()  # their memory is wanted
            checked = self.theory.checked
            answers_alone = narrow and not (checked.labels or checked.label_tables)
            whole = queries == checked.queries
            plain = whole and self.most is None and max_rounds == ROUND_LIMIT
            plans = self._plans.get(texts) or Plans(add_queries(self.graph(), queries), self._supports)
            if whole:
                self._plans[texts] = plans
            fixpoint = inferred(
                self.theory,
                plans,
                self.computing,
                guard=allowed(self.most),
                round_limit=max_rounds,
                watch=watch or self.watch,
                recorder=recorder,
                gathering=self._gathering,
                record=self.recording,
                narrow=answers_alone,
                by_strips=answers_alone and recorder is None and plain and self.computing == Computing(),
                later=partial(_watch_of, ref(self)),
            )
        self.fixpoints[fixpoint.narrow, texts] = fixpoint
        return fixpoint

    def _current(self, key: Key, watch: Watch | None) -> Fixpoint | None:
        """A fixpoint by its key, if it exists or can be brought to the facts as they are."""
        if key in self._outdated:
            revised = self._revised(*self._outdated.pop(key), watch)
            if revised is not None:
                self.fixpoints[key] = revised
        return self.fixpoints.get(key)

    def _gone_on(self, queries: tuple[Query, ...], source: Continuation) -> Fixpoint | None:
        """The fixpoint continued from that of the session that this one is a copy of, if that is possible."""
        origin = source.origin
        origin._follow_learning()
        same = origin.theory.checked is source.checked and origin._version == self._version
        if not same or origin.computing != self.computing or origin.recording != self.recording:
            return None  # facts or learned values have changed since
        return self._revised(origin.rest(queries, watch=self.watch), source.changed, self.watch, copy=True)

    def _revised(
        self, before: Fixpoint, changed: Changed, watch: Watch | None, *, copy: bool = False
    ) -> Fixpoint | None:
        """A fixpoint brought to the facts as they are, if that is possible."""
        from lnnkit.kb.fixpoint import revised

        if before.strips is not None:
            return None  # its fixpoint would be inferred now
        state = before.run.state
        same = (state.dtype, state.device) == (self.computing.dtype, self.computing.device)
        same &= state.trail.has_values == self.recording
        return revised(self.theory, before, changed, watch, copy=copy) if same else None

    def _follow_learning(self) -> None:
        """Discard fixpoints that were made with other parameter values."""
        version = self.theory.version
        if version != self._version:
            self._version = version
            self.forget()

    def _start_anew(self, *, keeping: bool = False) -> None:
        self._outdated = self._outdated if keeping else {}
        self.fixpoints, self.supposed, self.parts, self._views = {}, {}, {}, WeakSet()
        self.source = None


def _watch_of(session: ref[Session]) -> Watch | None:
    """The watch of a session, by a weak reference: a cached fixpoint must not keep the session alive."""
    alive = session()
    return None if alive is None else alive.watch


@dataclass(frozen=True, slots=True)
class Continuation:
    """What a copy may continue from: the session ``origin``, as long as its program is still ``checked``; and the facts
    that ``changed``."""

    origin: Session
    checked: CheckedProgram
    changed: Changed
