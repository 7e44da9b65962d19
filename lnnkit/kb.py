"""The knowledge base: load, tell, infer, ask, explain, save. This page states the pipeline.

    text -> parse -> check (reads the data) -> lifted graph -> grounding and rounds -> answers, and their proofs

torch and networkx are imported where a method first needs them: a program with errors is refused without them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lnnkit.answers import Answers
from lnnkit.check import check, check_query
from lnnkit.check.checker import ordered
from lnnkit.check.program import CheckedProgram, Fact, Query
from lnnkit.check.untrained import UNEVALUATED
from lnnkit.computing import Computing, computing
from lnnkit.errors import BudgetError, DataError, Error, ProgramError
from lnnkit.interrupt import Interruption, is_pythons_own
from lnnkit.outcome import Contradiction, Outcome
from lnnkit.scores import Classical, Epoch, Fit, Scores
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_expression

if TYPE_CHECKING:
    import networkx as nx
    import torch

    from lnnkit.data.names import Names
    from lnnkit.data.table import FactTable
    from lnnkit.explain.conflict import Conflict, Loosened, Member
    from lnnkit.explain.explainer import Explainer
    from lnnkit.explain.explanation import Explanation
    from lnnkit.explain.origins import Origins
    from lnnkit.explain.why_not import WhyNot
    from lnnkit.graph.lifted import LiftedGraph, Root
    from lnnkit.ground.analyses import Known
    from lnnkit.ground.plan import Recorder
    from lnnkit.infer.inference import Budget, Fixpoint
    from lnnkit.infer.watch import Watch
    from lnnkit.learn.binding import Binding
    from lnnkit.learn.learner import Learner
    from lnnkit.learn.parameters import Parameter
    from lnnkit.picture.picture import Picture
    from lnnkit.plan import Plan

ROUND_LIMIT = 100_000
_OPENED = 8  # sets of atoms that may be assumed again and again

Atom = tuple[str, tuple[str, ...]]  # a predicate, and entities


def load(path: str | Path) -> KnowledgeBase:
    """The knowledge base of a ``.lnn`` file, or of a model file (``.safetensors``), whose numbers it takes exactly.
    Raises `ProgramError` with every finding if it has errors."""
    from lnnkit.data.files import read_program
    from lnnkit.data.model_file import is_model, read_values

    path = Path(path)
    text, findings = read_program(path)
    if text is None:
        raise ProgramError(findings)
    kb = _knowledge_base(text, str(path), path.parent)
    if is_model(path):
        kb._take(read_values(path))
    return kb


def loads(text: str, base: str | Path = ".", path: str = "<string>") -> KnowledgeBase:
    """The knowledge base of a program text; its paths are relative to ``base``, findings show it under ``path``."""
    return _knowledge_base(text, path, Path(base))


def _knowledge_base(text: str, path: str, base: Path) -> KnowledgeBase:
    program, findings = parse(text, path)
    return KnowledgeBase(program, base, findings)


class KnowledgeBase:
    """Rules, axioms and facts, and what follows from them.

    Facts are told, never taken back; bounds only tighten. Files are read once, here. Inference runs when it is asked
    for, or when an answer needs it; ``warnings`` holds what the check found short of an error.
    """

    def __init__(self, program: ast.Program, base: Path, findings: Sequence[Diagnostic] = ()) -> None:
        self.program = program
        self.base = base
        self._home = base.resolve()
        self._told: list[FactTable] = []
        self._fixpoints: dict[tuple[str, ...], _Rested] = {}
        checked, more = check(program, base)
        findings = ordered([*findings, *more], [program.span.source.path])
        if checked is None or any(finding.severity == "error" for finding in findings):
            errors = [finding for finding in findings if finding.severity == "error"]
            in_data = all(finding.file is not None for finding in errors)
            raise (DataError if in_data else ProgramError)(errors)
        self.warnings: tuple[Diagnostic, ...] = tuple(f for f in findings if f not in checked.unevaluated)
        self._checked: CheckedProgram = checked
        self._computing = Computing()
        self._most: int | None = None  # instances of one rule
        self._recording = True
        self._lifted: LiftedGraph | None = None
        self._assumed: tuple[Fact, ...] = ()
        self._source: _Source | None = None  # what a copy may go on from
        self._opened: dict[
            frozenset[Atom], KnowledgeBase | None
        ] = {}  # copies in which the facts of some atoms are not
        self._assumable: frozenset[str] = frozenset()  # predicates of which copies will say more
        self._facts: tuple[CheckedProgram, Origins] | None = None  # where the facts of a program are from
        self._borrowed: frozenset[str] = frozenset()  # predicates whose modules are bound to what this is a copy of
        self._known: Known | None = None
        self._learner: Learner | None = None
        self._bindings: list[Binding] = []
        self._learned: tuple[object, ...] = ()  # what the graph and the fixpoints were made with

    # --- what it holds ----------------------------------------------------------------------------------------------

    @property
    def graph(self) -> nx.MultiDiGraph:
        """The lifted graph of neurons, to read; see `lnnkit.graph.lifted` for what its nodes and edges carry."""
        return self._graph().graph.copy(as_view=True)

    @property
    def queries(self) -> tuple[str, ...]:
        """The program's queries, as they were written."""
        return tuple(query.text for query in self._checked.queries)

    def tell(self, name: str, table: object) -> None:
        """Add facts about the predicate ``name``; they meet what is there.

        ``table`` is anything Arrow-capable (a pandas or polars frame, an Arrow table, ...), a mapping of columns, or
        rows; its columns are the arguments, then a truth value or a lower and an upper bound if there are more.
        Raises `DataError` with every bad row, and then tells nothing. No file is read again.
        """
        from lnnkit.check.told import add_told

        told = self._table(name, table)
        checked, clashes = add_told(self._checked, told)
        if clashes:
            raise DataError(clashes)
        self._told = [*self._told, told]
        self._checked = checked
        self._forget()

    def label(self, name: str, table: object) -> None:
        """Add labels of the predicate ``name``, to train and to score by; ``table`` as in `tell`."""
        told = self._table(name, table)
        self._checked = replace(self._checked, label_tables=(*self._checked.label_tables, told))

    def _table(self, name: str, table: object) -> FactTable:
        from lnnkit.data.tell import told_table

        predicate = self._checked.predicates.get(name)
        if predicate is None:
            from lnnkit.check.nearest import nearest

            near = nearest(name, self._checked.predicates)
            hint = f"did you mean `{near}`?" if near else "declare it in the program: `predicate NAME(sort, ...)`"
            raise DataError([Diagnostic("unknown-predicate", f"no predicate is named `{name}`", hint)])
        told, findings = told_table(name, predicate.arity, predicate.numeric, table)
        if told is None or any(finding.severity == "error" for finding in findings):
            raise DataError([finding for finding in findings if finding.severity == "error"])
        self.warnings += tuple(findings)
        return told

    def assume(self, bounds: Mapping[str, float | tuple[float, float]]) -> KnowledgeBase:
        """What if: a copy in which some atoms have other ``bounds`` (one truth, or two; numbers, one or two ends) than
        their facts give them.

        Where they are known better than here, the copy goes on from what has been inferred here, from those atoms
        only; else it infers anew, unless they have been assumed before. Raises `ProgramError` for a key that is no
        atom, ``ValueError`` for bounds that are none.
        """
        from lnnkit.explain.hypothetical import assumption, tightens
        from lnnkit.explain.origins import Origins

        facts = []
        for text, value in bounds.items():
            found, _ = self._query(text)
            formula = found.formula
            if not isinstance(formula, ast.Atom) or any(isinstance(each, ast.Variable) for each in formula.arguments):
                raise _no_atom(text, found)
            arguments = [each.text for each in formula.arguments if isinstance(each, ast.Constant)]
            ends = value if isinstance(value, tuple) else (value, value)
            if len(ends) != 2 or not all(isinstance(end, (int, float)) for end in ends):
                raise ValueError(f"{value!r} are no bounds of `{text}`: give one number, or two as a tuple")
            facts.append(assumption(formula.name, arguments, *ends, numeric=found.numeric))
        program = self._bound(self._checked)
        if self._facts is None or self._facts[0] is not program:
            self._facts = program, Origins(program)
        origins = self._facts[1]
        clone = self._copy_with(facts, origins)
        if all(tightens(origins, fact) for fact in facts):
            clone._source = _Source(self, self._checked, facts)
        else:
            clone._source = self._source_without(facts, origins)
        return clone

    def _copy_with(self, facts: Sequence[Fact], origins: Origins) -> KnowledgeBase:
        """A copy that says this of some atoms, and nothing else."""
        from lnnkit.explain.hypothetical import with_facts

        clone = copy(self)
        clone._checked = with_facts(self._checked, origins, facts)
        clone._lifted = self._graph()
        clone._learner = None if self._learner is None else self._learner.copied()
        clone._borrowed = frozenset(each.predicate for each in self._bindings)
        clone._assumed = (*self._assumed, *facts)
        clone._assumable = frozenset()
        clone._fixpoints, clone._opened, clone._source = {}, {}, None
        return clone

    def _source_without(self, facts: Sequence[Fact], origins: Origins) -> _Source | None:
        """A copy in which nothing is said of these atoms, so that whatever is assumed of them tightens it. It is made
        when they are assumed for the second time: whoever moves a slider asks again and again."""
        atoms = frozenset((fact.predicate, fact.arguments) for fact in facts)
        if atoms not in self._opened:
            self._opened[atoms] = None
            if len(self._opened) > _OPENED:
                del self._opened[next(iter(self._opened))]
            return None
        opened = self._opened[atoms]
        if opened is None:
            numeric = [self._checked.predicates[fact.predicate].numeric for fact in facts]
            ends = [(-math.inf, math.inf) if each else (0.0, 1.0) for each in numeric]
            bare = [replace(fact, lower=low, upper=high) for fact, (low, high) in zip(facts, ends, strict=True)]
            opened = self._opened[atoms] = self._copy_with(bare, origins)
            opened._assumable = frozenset(fact.predicate for fact in facts)
        return _Source(opened, opened._checked, facts)

    # --- inference --------------------------------------------------------------------------------------------------

    def infer(
        self,
        *,
        max_groundings: int | None = None,
        max_rounds: int = ROUND_LIMIT,
        precision: str = "double",
        device: str = "cpu",
        watch: Watch | None = None,
        record: bool = True,
    ) -> Outcome:
        """Run to the fixpoint. Raises `BudgetError` before more than ``max_groundings`` instances of one rule or query
        are made (default: what half of the free memory can hold).

        ``precision`` is double or single (half the memory; bounds to 1e-5; not for programs with numbers, which are
        double), ``device`` cpu, cuda or cuda:N; answers are computed in the same way until the next call.
        ``watch.after_round`` is told of every round, and ends inference by returning False. So does a first Ctrl-C,
        where that would raise ``KeyboardInterrupt``: the outcome is then interrupted, and what answers say holds,
        though it may be loose. A second one raises. Without ``record`` nothing is kept that explanations could be read
        from, until the next call.
        """
        self._recording = record
        return self._infer(max_groundings, max_rounds, computing(precision, device), watch).outcome

    def plan(
        self,
        *,
        max_groundings: int | None = None,
        max_rounds: int = ROUND_LIMIT,
        precision: str = "double",
        device: str = "cpu",
        watch: Watch | None = None,
    ) -> Plan:
        """Infer, as `infer` does, and return the plan of it: what each statement joined, in which order, with the rows
        that went in and came out, and which sides of which predicates were computed. Print it."""
        from lnnkit.ground.plan import Recorder
        from lnnkit.infer.plan import statement_plans, table_plans
        from lnnkit.plan import Plan

        recorder = Recorder()
        rested = self._infer(max_groundings, max_rounds, computing(precision, device), watch, recorder)
        fixpoint = rested.fixpoint
        return Plan(statement_plans(fixpoint, recorder), table_plans(fixpoint), rested.outcome)

    def ask(self, query: str, *, alpha: float = 1.0) -> Answers:
        """The answers to a query; infers first when facts or queries have changed what must be known.

        With variables: the bindings whose bounds differ from the query's value with every atom at its default, sorted;
        without: one answer. ``alpha`` is the threshold from which a bound counts as true, above 0.5 and at most 1.
        """
        _checked_alpha(alpha)
        found, findings = self._query(query)
        answers = self._answer(found, alpha)
        return replace(answers, warnings=(*findings, *answers.warnings))

    def explain(self, query: str, *, alpha: float = 1.0) -> Explanation:
        """Why an atom, or a formula without free variables, has its bounds: the proof of each, down to facts.

        Infers first when stale. Raises `ProgramError` for a query that has variables, and `Error` where inference was
        told not to record.
        """
        _checked_alpha(alpha)
        found, _ = self._query(query)
        explainer = self._explainer(self._rested_widely(found))
        lifted, root = explainer.root(found)
        _checked_bound(root)
        return explainer.explain(lifted, root, alpha)

    def why_not(self, atom: str, *, side: Literal["lower", "upper"] = "lower", goal: float | None = None) -> WhyNot:
        """What keeps an atom from being true (``side`` upper: from being false), or from reaching ``goal``: the
        statements that could change it, the premises that hold each back, and how much they lack.

        Raises `ProgramError` for anything but an atom without variables.
        """
        found, _ = self._query(atom)
        explainer = self._explainer(self._rested_widely(found))
        lifted, root = explainer.root(found)
        _checked_bound(root)
        if lifted.graph.nodes[root.reference.node]["kind"] != "predicate":
            raise _no_atom(atom, found)
        upper = side == "upper"
        wanted = (0.0 if upper else 1.0) if goal is None else goal
        return explainer.why_not(root.reference.node, list(map(str, root.reference.arguments)), int(upper), wanted)

    def draw(self, atom: str | None = None, *, depth: int = 3, most: int = 60, alpha: float = 1.0) -> Picture:
        """A picture: of the graph of the program's formulas, or of what an ``atom`` rests on up to ``depth`` instances
        away, with the bounds of all. A predicate's name draws the formulas around it. Of more than ``most`` boxes,
        those nearest to the middle are drawn."""
        from lnnkit.picture.lifted import lifted_picture
        from lnnkit.picture.neighbourhood import neighbourhood

        title = self.program.span.source.path
        predicate = None if atom is None else self._checked.predicates.get(atom)
        if atom is None or (predicate is not None and predicate.sorts):
            return lifted_picture(self._graph(), title if atom is None else f"{atom} in {title}", atom, most)
        _checked_alpha(alpha)
        found, _ = self._query(atom)
        explainer = self._explainer(self._rested_widely(found))
        lifted, root = explainer.root(found)
        _checked_bound(root)
        explanation = explainer.explain(lifted, root, alpha)
        numbers = {name for name, predicate in self._checked.predicates.items() if predicate.numeric}
        return neighbourhood(explanation.proof, explainer.bounds, numbers, depth, most, alpha)

    @property
    def contradictions(self) -> Sequence[Contradiction]:
        """All contradictions; infers first when stale."""
        return self._rest(self._checked.queries).outcome.contradictions

    def conflicts(self, most: int = 20) -> list[Conflict]:
        """The contradictions, each with the facts and the statements that meet in it; the first ``most``. Infers first
        when stale."""
        from lnnkit.explain.conflicts import alone

        rested = self._rest(self._checked.queries)

        def inconsistent(members: Sequence[Member], loose: Loosened | None) -> bool:
            clone = copy(self)
            clone._checked, clone._bindings = alone(rested.program, members, loose), []
            clone._lifted, clone._fixpoints, clone._opened, clone._source = None, {}, {}, None
            return bool(clone._rest(()).outcome.contradictions)

        return self._explainer(rested).conflicts(inconsistent, most)

    def answers(self, *, alpha: float = 1.0) -> list[Answers]:
        """The answers to the program's own queries, in the order of the file."""
        _checked_alpha(alpha)
        if self._refused():
            raise ProgramError(self._refused())
        return [self._answer(query, alpha) for query in self._checked.queries]

    def replace_queries(self, queries: Sequence[str]) -> None:
        """Ask these instead of the program's own queries. Raises `ProgramError` with the findings of all; what they
        have short of an error joins ``warnings``."""
        checked, findings = [], []
        for text in queries:
            query, found = check_query(text, self._checked)
            findings += found
            if query is not None:
                checked.append(query)
        if any(finding.severity == "error" for finding in findings):
            raise ProgramError([finding for finding in findings if finding.severity == "error"])
        unevaluated = (*self._checked.unevaluated, *(f for f in findings if f.code in UNEVALUATED))
        self.warnings += tuple(finding for finding in findings if finding.code not in UNEVALUATED)
        self._checked = replace(self._checked, queries=tuple(checked), unevaluated=unevaluated)
        self._forget()

    def _query(self, text: str) -> tuple[Query, list[Diagnostic]]:
        """The query that a text writes, and what is to be said of it. Raises `ProgramError`."""
        found, findings = check_query(text, self._checked)
        errors = [finding for finding in findings if finding.severity == "error"]
        if found is None or errors:
            raise ProgramError(errors or findings)
        if self._refused() or any(f.code in UNEVALUATED for f in findings):
            raise ProgramError([*self._refused(), *(f for f in findings if f.code in UNEVALUATED)])
        return found, findings

    def _explainer(self, rested: _Rested) -> Explainer:
        from lnnkit.explain.explainer import Explainer

        if rested.explainer is None:
            history = rested.fixpoint.prepared.state.history
            if history is None:
                message = "inference was told not to record what explains its bounds"
                raise Error([Diagnostic("not-recorded", message, "infer again, without `record=False`")])
            rested.explainer = Explainer(rested.fixpoint, history, rested.names, rested.program)
        return rested.explainer

    def _infer(
        self,
        max_groundings: int | None,
        max_rounds: int,
        computing: Computing,
        watch: Watch | None,
        recorder: Recorder | None = None,
    ) -> _Rested:
        self._fixpoints.clear()
        self._opened.clear()
        self._source = None
        self._computing = replace(computing, precision="double") if self._numeric else computing
        self._most = max_groundings
        with Interruption(watch) if is_pythons_own() else nullcontext(watch) as watching:
            try:
                return self._rest(self._checked.queries, max_rounds, watching, recorder)
            except BudgetError:
                self._most = None
                raise

    def _answer(self, query: Query, alpha: float) -> Answers:
        from lnnkit.budget import too_large
        from lnnkit.data.column import EntityColumn
        from lnnkit.graph.build import add_queries
        from lnnkit.infer.answers import answer
        from lnnkit.infer.inference import TooLarge

        rested = self._rested(query)
        lifted = rested.fixpoint.prepared.lifted
        root = next((root for root in lifted.queries if root.origin == query), None)
        if root is None:
            lifted = add_queries(lifted, [query])
            root = lifted.queries[0]
        try:
            with self._computing.scope():
                found = answer(rested.fixpoint, lifted, root, budget=self._budget(self._most))
        except TooLarge as problem:
            raise too_large(problem, lifted) from None
        return Answers(
            query.text,
            found.variables,
            tuple(EntityColumn(column.int().cpu().numpy(), rested.names) for column in found.columns),
            self._computing.numbers(found.lower),
            self._computing.numbers(found.upper),
            found.contested.cpu().numpy(),
            alpha,
            _cut_short(rested.outcome),
            self._computing.tolerance,
            query.numeric,
        )

    def _rested(self, query: Query) -> _Rested:
        """A fixpoint that knows all that the query needs: the program's own, or one of the query's."""
        own = self._checked.queries
        rested = self._rest(own)
        return rested if query in own or _covers(rested, query) else self._rest((*own, query))

    def _rested_widely(self, query: Query) -> _Rested:
        """The same, or one that knows all atoms of the query's predicate: whoever asks why asks about others next."""
        own = self._checked.queries
        rested = self._rest(own)
        if query in own or _covers(rested, query) or not isinstance(query.formula, ast.Atom):
            return self._rested(query)
        variables = ", ".join(f"V{place}" for place in range(len(query.formula.arguments)))
        name = format_expression(ast.Atom(query.formula.name, span=query.span))
        every, _ = check_query(f"{name}({variables})", self._checked)
        if not variables or every is None:
            return self._rested(query)
        rested = self._rest((*own, every))
        return rested if _covers(rested, query) else self._rest((*own, every, query))

    def _rest(
        self,
        queries: tuple[Query, ...],
        max_rounds: int = ROUND_LIMIT,
        watch: Watch | None = None,
        recorder: Recorder | None = None,
    ) -> _Rested:
        from lnnkit.budget import too_large, too_many_entities
        from lnnkit.graph.build import add_queries
        from lnnkit.ground.analyses import Known
        from lnnkit.ground.given import given_facts
        from lnnkit.ground.layout import constants
        from lnnkit.infer.contradictions import contradictions
        from lnnkit.infer.inference import TooLarge, infer

        self._known = self._known or Known()
        self._follow_learning()
        key = tuple(query.text for query in queries)
        if key not in self._fixpoints and self._source is not None:
            self._go_on(key, queries, self._source)
        if key not in self._fixpoints:
            if self._refused():
                raise ProgramError(self._refused())
            lifted = add_queries(self._graph(), queries)
            mentioned = {text for texts in constants(lifted).values() for text in texts}
            budget = self._budget(self._most)
            dtype = self._computing.dtype
            with self._computing.scope():
                try:
                    program = self._bound(self._checked)
                    entities, index, given = given_facts(program, mentioned)
                except OverflowError as problem:
                    raise too_many_entities(problem) from None
                try:
                    fixpoint = infer(
                        lifted,
                        index,
                        given,
                        budget=budget,
                        round_limit=max_rounds,
                        dtype=dtype,
                        watch=watch,
                        recorder=recorder,
                        known=self._known,
                        record=self._recording,
                        assumable=self._assumable,
                    )
                except TooLarge as problem:
                    raise too_large(problem, lifted) from None
                found = contradictions(fixpoint, entities.names)
            self._fixpoints[key] = _Rested(fixpoint, entities.names, program, _outcome(fixpoint, found))
        return self._fixpoints[key]

    @property
    def _numeric(self) -> bool:
        return any(predicate.numeric for predicate in self._checked.predicates.values())

    def _go_on(self, key: tuple[str, ...], queries: tuple[Query, ...], source: _Source) -> None:
        """Go on from the fixpoint of the knowledge base that this is a copy of, if that is possible."""
        from lnnkit.infer.assuming import Assumption, assumed
        from lnnkit.infer.contradictions import contradictions

        facts, origin = source.facts, source.origin
        if any(self._checked.predicates[fact.predicate].closed for fact in facts):
            return
        origin._follow_learning()
        same = origin._checked is source.checked and origin._learned == self._learned
        if not same or origin._computing != self._computing or origin._recording != self._recording:
            return  # it has been told or taught something since
        rested = origin._rest(queries)
        index = rested.fixpoint.prepared.grounding.domain.index
        if any(entity not in index for fact in facts for entity in fact.arguments):
            return
        changes = [
            Assumption(fact.predicate, tuple(index[entity] for entity in fact.arguments), fact.lower, fact.upper)
            for fact in facts
        ]
        with self._computing.scope():
            fixpoint = assumed(rested.fixpoint, changes, ROUND_LIMIT)
            if fixpoint is not None:
                found = contradictions(fixpoint, rested.names)
                program = self._bound(self._checked)
                self._fixpoints[key] = _Rested(fixpoint, rested.names, program, _outcome(fixpoint, found))

    def _forget(self) -> None:
        """Whatever was inferred, here or in what this is a copy of, was inferred of something else."""
        self._lifted = None
        self._fixpoints.clear()
        self._opened.clear()
        self._source = None

    @staticmethod
    def _budget(most: int | None) -> Budget:
        """So many instances of one rule or query; by default what half of the free memory can hold."""
        from lnnkit.budget import default_budget
        from lnnkit.infer.inference import Budget

        return default_budget() if most is None else Budget(instances=most)

    def _graph(self) -> LiftedGraph:
        if self._refused():
            raise ProgramError(self._refused())
        if self._lifted is None:
            from lnnkit.graph.build import build

            self._lifted = build(replace(self._current(), queries=()))
        return self._lifted

    def _refused(self) -> list[Diagnostic]:
        """What keeps the program from being evaluated: but for values that it has learned since."""
        learner = self._learner
        return [
            replace(finding, severity="error")
            for finding in self._checked.unevaluated
            if learner is None or not learner.tells(finding)
        ]

    # --- learning ---------------------------------------------------------------------------------------------------

    def module(self) -> torch.nn.Module:
        """The parameters of the program's rules as a torch module: ``module.values`` has a scalar for each, by name.
        Answers follow their values."""
        return self._learning().module

    def fit(
        self,
        *,
        epochs: int = 200,
        rate: float = 0.05,
        module_rate: float = 1e-3,
        batch: int | None = None,
        validation: float = 0.2,
        patience: int | None = 50,
        restarts: int = 1,
        seed: int = 0,
        only: Collection[str] | None = None,
        freeze: Collection[str] = (),
        loss: Literal["squared", "log"] = "squared",
        contradictions: float = 1.0,
        uncertainty: float = 0.0,
        decay: float = 1e-4,
        balanced: bool = False,
        soft: bool = False,
        classical: Collection[str] = (),
        alpha: float = 1.0,
        slack: float | None = None,
        checkpoint: str | Path | None = None,
        max_groundings: int | None = None,
        listen: Callable[[Epoch], bool | None] | None = None,
    ) -> Fit:
        """Fit the numbers of the rules to the labels (see `lnnkit.learn.parameters` for which are learned, and
        `lnnkit.learn.objective` for the loss). The values that are kept are those with the least loss on the share of
        the labels held back for ``validation`` (where there are too few: on all), with as few digits as cost nothing.

        ``rate`` is Adam's, ``module_rate`` that of bound modules; ``batch`` labels make a step (default: all); after
        ``patience`` epochs without gain it stops. ``restarts`` after the first start from other weights. ``only`` and
        ``freeze`` name rules (an unnamed one is ``line 7``). ``contradictions``, ``uncertainty`` and ``decay`` (of
        weights toward 1) weigh terms of the loss; ``balanced`` counts true and false labels alike; with ``soft``, all
        instances that support a labelled atom learn, not the one that wins alone. Neurons of the rules in ``classical``
        that learn anything stay classical at ``alpha``, but that operands may be left out at the price ``slack``. A
        killed run goes on from ``checkpoint``, to the same result. ``listen`` is told of every inference on the way,
        and ends fitting by returning False.

        Raises `Error` where there is nothing to learn, no label, or no classical neuron; `BudgetError` as `infer` does.
        """
        from lnnkit.budget import too_large
        from lnnkit.infer.inference import TooLarge
        from lnnkit.learn.checkpoint import OtherRun
        from lnnkit.learn.constraints import Infeasible
        from lnnkit.learn.fitting import Settings, Unstarted
        from lnnkit.learn.objective import Objective

        learner = self._learning()
        trained = self._trained(learner, only, freeze, classical)
        self._own_modules()
        objective = Objective(loss, contradictions, uncertainty, decay, slack)
        settings = Settings(
            epochs=epochs,
            rate=rate,
            module_rate=module_rate,
            batch=batch,
            validation=validation,
            patience=patience,
            restarts=restarts,
            seed=seed,
            balanced=balanced,
            soft=soft,
            classical=frozenset(classical),
            alpha=alpha,
            objective=objective,
            max_rounds=ROUND_LIMIT,
        )
        budget = self._budget(max_groundings)
        before = learner.texts(self._checked)
        try:
            found, evidence = learner.fit(
                self._checked,
                trained,
                settings,
                budget,
                listen,
                None if checkpoint is None else Path(checkpoint),
                self._bindings,
            )
        except TooLarge as problem:
            raise too_large(problem, self._graph()) from None
        except Infeasible as problem:
            hint = "take a threshold nearer to 1, give the rule fewer operands, or train it without"
            raise Error([Diagnostic("not-classical", str(problem), hint)]) from None
        except Unstarted as problem:
            raise ProgramError([_unstarted(problem.parameter)]) from None
        except OtherRun:
            message = f'"{checkpoint}" is the checkpoint of another run'
            raise Error([Diagnostic("other-checkpoint", message, "remove it, or name another file")]) from None
        after = learner.texts(self._checked)
        return Fit(
            found.after.train,
            found.after.validation,
            found.losses.total,
            found.losses.terms,
            learner.module.current(),
            found.stopped,
            found.history,
            replace(evidence, rules=[(name, before[name], after[name]) for name in before if name in trained]),
        )

    def evaluate(self, *, max_groundings: int | None = None) -> Scores:
        """How well the answers for labelled atoms agree with their labels. Raises `Error` where there is no label."""
        from lnnkit.budget import too_large
        from lnnkit.infer.inference import TooLarge
        from lnnkit.learn.learner import evaluate

        self._labelled()
        if self._refused():
            raise ProgramError(self._refused())
        budget = self._budget(max_groundings)
        try:
            return evaluate(self._bound(self._current()), budget, ROUND_LIMIT)
        except TooLarge as problem:
            raise too_large(problem, self._graph()) from None

    def classical(self, alpha: float = 1.0) -> list[Classical]:
        """Which connectives of the rules are classical at ``alpha``: true operands make a conjunction true and a false
        one makes it false, and so on (see `lnnkit.learn.classical`)."""
        _checked_alpha(alpha)
        learner = self._learning()
        return [
            Classical(each.rule, each.text, each.kind, each.classical({}, alpha))
            for each in learner.neurons(self._checked)
        ]

    def bind(
        self, name: str, module: torch.nn.Module, inputs: Mapping[str, torch.Tensor], classes: Sequence[str] = ()
    ) -> None:
        """Let a torch module supply a predicate: ``inputs`` maps entities to the tensors that the module is given, one
        stack for all. Of ``name(entity)`` the module gives one truth a row; of ``name(entity, class)`` one for each of
        the ``classes`` (by default ``0``, ``1``, ...). `fit` trains it jointly with the rules. Facts of the predicate
        stand besides."""
        import torch

        from lnnkit.learn.binding import Binding

        predicate = self._checked.predicates.get(name)
        arity = 0 if predicate is None else predicate.arity
        if predicate is None or predicate.numeric or arity not in (1, 2) or not inputs:
            message = f"no module can be bound to `{name}`"
            hint = "bind a declared predicate of one argument, or of two, an entity and a class, with some inputs"
            raise Error([Diagnostic("unbound", message, hint)])
        stacked = torch.stack([torch.as_tensor(each) for each in inputs.values()])
        with torch.no_grad():
            shape = module(stacked[:1]).reshape(1, -1).shape[1]
        names = tuple(classes) or tuple(map(str, range(shape)))
        if shape != (1 if arity == 1 else len(names)):
            message = (
                f"the module gives {shape} numbers a row for `{name}`, which takes {1 if arity == 1 else len(names)}"
            )
            raise Error([Diagnostic("unbound", message, "let its last layer be that wide")])
        own = Binding(name, module, stacked, tuple(inputs), names if arity == 2 else ())
        self._borrowed -= {name}
        self._bindings = [*self._bindings, own]  # copies of this knowledge base keep theirs
        self._forget()

    def _own_modules(self) -> None:
        """Train copies of the modules that are bound to what this is a copy of."""
        self._bindings = [
            replace(each, module=deepcopy(each.module)) if each.predicate in self._borrowed else each
            for each in self._bindings
        ]
        self._borrowed = frozenset()

    def _learning(self) -> Learner:
        from lnnkit.learn.learner import Learner

        if self._learner is None:
            self._learner = Learner(self._checked, self.program)
        return self._learner

    def _labelled(self) -> None:
        if not self._checked.labels and not self._checked.label_tables:
            hint = 'add some: `label P(a)`, `label ~P(b)`, `label total(a) = 12`, or `label P from "outcomes.csv"`'
            raise Error([Diagnostic("no-labels", "the program has no labels", hint)])

    def _trained(
        self, learner: Learner, only: Collection[str] | None, freeze: Collection[str], classical: Collection[str]
    ) -> frozenset[str]:
        """The rules that learn; an `Error` where a name is none of them, or nothing is left."""
        from lnnkit.check.nearest import nearest

        if not learner.states_equations(learner.rules if only is None else only):
            self._labelled()
        findings: list[Diagnostic] = []
        for name in dict.fromkeys((*(only or ()), *freeze, *classical)):
            if name not in learner.rules:
                near = nearest(name, learner.rules)
                hint = f"did you mean `{near}`?" if near else f"its rules are {', '.join(map(repr, learner.rules))}"
                findings.append(Diagnostic("unknown-rule", f"no rule that learns is named `{name}`", hint))
        if findings:
            raise Error(findings)
        trained = frozenset(learner.rules if only is None else only).difference(freeze)
        learns = any(trained.intersection(each.rules) for each in learner.module.parameters_of_program)
        if not learns and not self._bindings:
            raise Error([Diagnostic("nothing-to-learn", "no rule is left that learns", "an axiom learns nothing")])
        return trained

    def _bound(self, program: CheckedProgram) -> CheckedProgram:
        """The program with what modules supply now, but of atoms of which something else is assumed."""
        if not self._bindings:
            return program
        from lnnkit.explain.hypothetical import with_facts
        from lnnkit.explain.origins import Origins
        from lnnkit.learn.binding import bound

        found = bound(program, self._bindings)
        return with_facts(found, Origins(found), self._assumed) if self._assumed else found

    def _current(self) -> CheckedProgram:
        """The program with the numbers that it has learned."""
        return self._checked if self._learner is None else self._learner.settled(self._checked)

    def _follow_learning(self) -> None:
        """Forget what was inferred with other numbers."""
        values = () if self._learner is None else tuple(self._learner.module.current().items())
        learned = (*values, *(each.version for each in self._bindings))
        if learned != self._learned:
            self._learned = learned
            self._forget()

    # --- writing itself ---------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the program to ``path``, whole or not at all, its paths rewritten to lead from there to the same files;
        with the numbers that its rules have learned, if they have. A path that ends in ``.safetensors`` becomes a model
        file: the program's text, and the exact numbers.

        Imports stay imports. Raises `Error`, and writes nothing, when facts were told, since no file holds them.
        """
        from lnnkit.data.model_file import is_model, model_bytes
        from lnnkit.output import write_text
        from lnnkit.syntax.relocate import relocate

        if self._told or self._assumed:
            counts: dict[str, int] = {}
            for table in self._told:
                counts[table.predicate] = counts.get(table.predicate, 0) + len(table)
            for fact in self._assumed:
                counts[fact.predicate] = counts.get(fact.predicate, 0) + 1
            listed = ", ".join(f"{count:,} of `{name}`" for name, count in counts.items())
            message = f"facts were told that the file would lose: {listed}"
            raise Error([Diagnostic("told-facts", message, "write them to a table, and `load` it in the program")])
        text = relocate(self._written(), self._home, Path(path).parent)
        if is_model(Path(path)):
            values = {} if self._learner is None else self._learner.module.current()
            write_text(path, model_bytes(text, values))
        else:
            write_text(path, text)

    def _take(self, values: Mapping[str, float]) -> None:
        """Give the parameters values that they have had before; those that are not of the program are left out."""
        if values:
            learner = self._learning()
            learner.module.load({name: value for name, value in values.items() if name in learner.module.names})

    @property
    def text(self) -> str:
        """The text of the main file, with the numbers that it has learned."""
        return self._written().span.source.text

    def _written(self) -> ast.Program:
        """The main file, with the numbers that it has learned."""
        if self._learner is None:
            return self.program
        from lnnkit.learn.written import with_values

        return with_values(self.program, self._checked, self._learner.module.current())

    # --- showing itself ---------------------------------------------------------------------------------------------

    def _counts(self) -> list[tuple[str, int]]:
        checked = self._checked
        facts = len(checked.facts) + sum(map(len, checked.tables))
        kinds = [assertion.kind for assertion in checked.assertions]
        return [
            ("predicates", len(checked.predicates)),
            ("facts", facts),
            ("rules", kinds.count("rule")),
            ("axioms", kinds.count("axiom")),
            ("queries", len(checked.queries)),
        ]

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self._counts())
        return f"KnowledgeBase({self.program.span.source.path}: {counts})"

    def _repr_html_(self) -> str:
        cells = "".join(f"<tr><th>{name}</th><td>{count:,}</td></tr>" for name, count in self._counts())
        return f"<table><caption>{html.escape(self.program.span.source.path)}</caption>{cells}</table>"


@dataclass(frozen=True, slots=True)
class _Source:
    """What a copy may go on from, with ``facts`` besides: the ``origin``, as long as its program is ``checked``."""

    origin: KnowledgeBase
    checked: CheckedProgram
    facts: Sequence[Fact]


class _Rested:
    """A fixpoint, the names of its entities, the program that it is of, how it ended, and what explains it once that
    has been asked."""

    __slots__ = ("explainer", "fixpoint", "names", "outcome", "program")

    def __init__(self, fixpoint: Fixpoint, names: Names, program: CheckedProgram, outcome: Outcome) -> None:
        self.fixpoint = fixpoint
        self.names = names
        self.program = program
        self.outcome = outcome
        self.explainer: Explainer | None = None


def _cut_short(outcome: Outcome) -> tuple[Diagnostic, ...]:
    """What is to be said with answers that inference was not let finish."""
    if outcome.status != "interrupted":
        return ()
    return (Diagnostic("interrupted", outcome.summary, "infer again to let it finish", severity="warning"),)


def _outcome(fixpoint: Fixpoint, found: Sequence[Contradiction]) -> Outcome:
    from lnnkit.infer.creepers import creeping

    progress, prepared = fixpoint.progress, fixpoint.prepared
    return Outcome(
        progress.status.value,
        progress.rounds,
        found,
        creeping(fixpoint),
        atoms=len(prepared.grounding.atoms),
        unfinished=tuple(sorted(prepared.unfinished)),
    )


def _no_atom(text: str, query: Query) -> ProgramError:
    message = f"`{text}` is no atom about named entities"
    return ProgramError([Diagnostic("no-atom", message, "name one atom at a time, as in `P(anna)`", query.span)])


def _covers(rested: _Rested, query: Query) -> bool:
    """Whether a fixpoint knows all that a query needs."""
    from lnnkit.graph.build import add_queries
    from lnnkit.infer.answers import covers

    lifted = add_queries(rested.fixpoint.prepared.lifted, [query])
    return covers(rested.fixpoint, lifted, lifted.queries[0])


def _unstarted(parameter: Parameter) -> Diagnostic:
    text = parameter.span.text
    if parameter.kind == "relation":
        example = text.replace("<?>", ">=")
        hint = f"label what depends on it, where both numbers are known, or write the relation: `{example}`"
        return Diagnostic("untrained", f"no label tells which relation `{text}` is", hint, parameter.span)
    if parameter.kind == "unit" and text.startswith(("nalu", "inalu")):
        unit = text.partition("(")[0]
        hint = (
            f"write `nau`, `nmu` or `npu`: between its operations `{unit}` is no arithmetic that rules could infer by"
        )
        return Diagnostic("untrained", f"`{unit}` is not learned within rules", hint, parameter.span)
    if parameter.kind == "unit":
        hint = "label what depends on it, where all its operands are known, or give it weights"
        return Diagnostic("untrained", f"no label tells what `{text}` computes", hint, parameter.span)
    hint = f"give it a start, as in `{text}{'' if text == '?' else '='}1`: no data say where it could"
    return Diagnostic("untrained", f"`{text}` has no value to start from", hint, parameter.span)


def _checked_bound(root: Root) -> None:
    """Raises `ProgramError` for a query with free variables."""
    if root.variables:
        names = " and ".join(f"`{name}`" for name in root.variables)
        message = f"one atom is explained at a time, and {names} may be any"
        hint = "name an entity in place of each variable, or bind it with a quantifier"
        raise ProgramError([Diagnostic("free-variable", message, hint, root.origin.span)])


def _checked_alpha(alpha: float) -> None:
    if not 0.5 < alpha <= 1:
        raise ValueError(f"alpha is {alpha}; it is above 0.5 and at most 1")
