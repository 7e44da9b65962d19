"""An inference session: the fixpoints of a theory, made where an answer needs them, kept while it says the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lnnkit.check.program import CheckedProgram, Fact, Query
from lnnkit.computing import Computing
from lnnkit.errors import BudgetError
from lnnkit.interrupt import Interruption, is_pythons_own
from lnnkit.kb.theory import Theory

if TYPE_CHECKING:
    from lnnkit.analysis.analyses import Known
    from lnnkit.engine.stop.watch import Watch
    from lnnkit.graph.lifted import LiftedGraph
    from lnnkit.join.join_plan import Recorder
    from lnnkit.kb.rested import Rested
    from lnnkit.store.stated_facts import Gathering

ROUND_LIMIT = 100_000

Atom = tuple[str, tuple[str, ...]]  # a predicate, and entities


class Session:
    """Inference over a ``theory``.

    ``computing`` says in which precision and where, ``most`` how many instances one rule may have (None: what half of
    the free memory can hold), ``recording`` whether explanations are kept; ``watch`` is told of rounds that no other
    watch is told of. ``fixpoints`` are by the texts of the
    queries that they were made for. ``source`` is what a copy may go on from; ``opened`` has sessions in which nothing
    is said of some atoms, or None where these have been assumed but once.
    """

    def __init__(self, theory: Theory) -> None:
        self.theory = theory
        self.computing = Computing()
        self.most: int | None = None
        self.recording = True
        self.watch: Watch | None = None  # of what is inferred for an answer
        self.fixpoints: dict[tuple[str, ...], Rested] = {}
        self.source: Source | None = None
        self.opened: dict[frozenset[Atom], Session | None] = {}
        self._assumable: frozenset[str] = frozenset()  # predicates of which copies will say more
        self._lifted: LiftedGraph | None = None
        self._known: Known | None = None
        self._gathering: Gathering | None = None
        self._version: tuple[object, ...] = ()  # what the graph and the fixpoints were made with

    def about(
        self, theory: Theory, lifted: LiftedGraph | None = None, assumable: frozenset[str] = frozenset()
    ) -> Session:
        """One of another theory, which computes in the same way and has inferred nothing yet. ``lifted`` is the graph
        of its statements, where that is known."""
        found = copy(self)
        found.theory, found._lifted, found._assumable = theory, lifted, assumable
        found.fixpoints, found.opened, found.source, found._gathering, found.watch = {}, {}, None, None, None
        return found

    def copied(self) -> Session:
        """One of the same theory, which shares nothing that was found out on the way to a fixpoint: it may be used when
        an exception has ended inference somewhere here."""
        found = self.about(self.theory.copied())
        found._known = None
        return found

    def graph(self) -> LiftedGraph:
        """The graph of all statements but the queries. Raises `ProgramError` where something keeps the program from
        being evaluated."""
        self.theory.require_evaluated()
        if self._lifted is None:
            from lnnkit.graph.lifting import build

            self._lifted = build(replace(self.theory.settled(), queries=()))
        return self._lifted

    def change(self, checked: CheckedProgram) -> None:
        """The theory says something else from here on."""
        self.theory.checked = checked
        self.forget()

    def forget(self) -> None:
        """Whatever was inferred, here or in what this is a copy of, was inferred of something else."""
        self._lifted = None
        self._start_anew()

    def infer(
        self,
        most: int | None,
        max_rounds: int,
        computing: Computing,
        watch: Watch | None,
        recorder: Recorder | None = None,
    ) -> Rested:
        """Infer anew what the program's queries need, and whatever is asked for later in the same way. Ctrl-C ends it
        after a round. Raises `BudgetError`."""
        self._start_anew()
        self.computing = replace(computing, precision="double") if self.theory.numeric else computing
        self.most = most
        watch = watch or self.watch
        with Interruption(watch) if is_pythons_own() else nullcontext(watch) as watching:
            try:
                return self.rest(self.theory.checked.queries, max_rounds, watching, recorder)
            except BudgetError:
                self.most = None
                raise

    def own(self) -> Rested:
        """The fixpoint of the program's own queries."""
        return self.rest(self.theory.checked.queries)

    def rest(
        self,
        queries: tuple[Query, ...],
        max_rounds: int = ROUND_LIMIT,
        watch: Watch | None = None,
        recorder: Recorder | None = None,
    ) -> Rested:
        """The fixpoint that was made for these queries, or is made now. Raises `BudgetError`, and `ProgramError` where
        something keeps the program from being evaluated."""
        from lnnkit.analysis.analyses import Known
        from lnnkit.store.stated_facts import Gathering

        self._known = self._known or Known()
        self._gathering = self._gathering or Gathering()
        self._follow_learning()
        key = tuple(query.text for query in queries)
        if key not in self.fixpoints:
            found = None if self.source is None else self._gone_on(queries, self.source)
            self.fixpoints[key] = found or self._inferred(
                queries, max_rounds, watch or self.watch, recorder, self._known, self._gathering
            )
        return self.fixpoints[key]

    def _inferred(
        self,
        queries: tuple[Query, ...],
        max_rounds: int,
        watch: Watch | None,
        recorder: Recorder | None,
        known: Known,
        gathering: Gathering,
    ) -> Rested:
        from lnnkit.budget import allowed
        from lnnkit.graph.lifting import add_queries
        from lnnkit.kb.rested import inferred

        return inferred(
            self.theory,
            add_queries(self.graph(), queries),
            self.computing,
            budget=allowed(self.most),
            round_limit=max_rounds,
            watch=watch,
            recorder=recorder,
            known=known,
            gathering=gathering,
            record=self.recording,
            assumable=self._assumable,
            narrow=not (self._assumable or self.theory.checked.labels or self.theory.checked.label_tables),
        )

    def _gone_on(self, queries: tuple[Query, ...], source: Source) -> Rested | None:
        """The fixpoint gone on to from that of the session which this is a copy of, if that is possible."""
        from lnnkit.kb.going_on import gone_on

        predicates = self.theory.checked.predicates
        if any(predicates[fact.predicate].closed for fact in source.facts):
            return None
        origin = source.origin
        origin._follow_learning()
        same = origin.theory.checked is source.checked and origin._version == self._version
        if not same or origin.computing != self.computing or origin.recording != self.recording:
            return None  # it has been told or taught something since
        rested = origin.rest(queries, watch=self.watch)
        if rested.fixpoint.prepared.demands:
            return None  # what it was asked for hangs on the facts
        return gone_on(self.theory, rested, source.facts, self.computing, round_limit=ROUND_LIMIT)

    def _follow_learning(self) -> None:
        """Forget what was inferred with other numbers."""
        version = self.theory.version
        if version != self._version:
            self._version = version
            self.forget()

    def _start_anew(self) -> None:
        self.fixpoints.clear()
        self.opened.clear()
        self.source = None


@dataclass(frozen=True, slots=True)
class Source:
    """What a copy may go on from, with ``facts`` besides: the ``origin``, as long as its program is ``checked``."""

    origin: Session
    checked: CheckedProgram
    facts: Sequence[Fact]
