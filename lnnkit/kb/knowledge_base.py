"""The knowledge base: load, tell, infer, ask, explain, save. This page shows the pipeline.

    text -> parse -> check (reads the data) -> lifted graph -> grounding and rounds -> answers, and their proofs

torch is imported when a method first needs it: for training, bound modules and devices.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from lnnkit.answer_table import Answers
from lnnkit.check import check
from lnnkit.check.checker import check_facts, ordered
from lnnkit.check.named_files import merge
from lnnkit.check.program import Assertion, CheckedProgram, Fact, Predicate
from lnnkit.computing import computing
from lnnkit.errors import DataError, ProgramError
from lnnkit.garbage import collection_paused
from lnnkit.kb.saving import Loaded, restated, save, statements
from lnnkit.kb.session import ROUND_LIMIT, Session
from lnnkit.kb.theory import Theory, asked, check_alpha, check_limits, with_queries
from lnnkit.outcome import Change, Contradictions, Outcome
from lnnkit.output import require_apart
from lnnkit.plan import Plan, Profile
from lnnkit.scores import Classical, Epoch, Scores
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.relocate import paths

if TYPE_CHECKING:
    import networkx as nx
    import torch

    from lnnkit.data.table import FactTable
    from lnnkit.engine.inference_run import Watch
    from lnnkit.explain.conflict.conflict import Conflict, RepairSet
    from lnnkit.explain.missing.why_not import WhyNot
    from lnnkit.explain.proof.explanation import Explanation
    from lnnkit.explain.proof.proof import GivenFact
    from lnnkit.kb.explaining import Assumed
    from lnnkit.learn.parameters.rule_parameters import ProgramModule
    from lnnkit.markup.pages import Listing
    from lnnkit.picture.picture import Picture
    from lnnkit.prove.verdict import Proved, Reading
    from lnnkit.report.training_page import Fit
    from lnnkit.rows.scorer import RowScorer

_ONE = {"predicates": "predicate", "facts": "fact", "rules": "rule", "axioms": "axiom", "queries": "query"}


class KnowledgeBase:
    """Rules, axioms and facts, and what follows from them.

    Facts can be added, replaced and taken back; files are read once, when the knowledge base is made. Inference runs on
    request, or when an answer needs it. ``warnings`` holds the findings of the check that are not
    errors.
    """

    def __init__(
        self,
        program: ast.Program,
        base: Path,
        findings: Sequence[Diagnostic] = (),
        *,
        streamed: str | None = None,
        today: str | date | None = None,
    ) -> None:
        self.program = program
        self.base = base
        self._home = base.resolve()
        checked, more = check(program, base, streamed=streamed, today=today)
        findings = ordered([*findings, *more], [program.span.source.path])
        if checked is None or any(finding.severity == "error" for finding in findings):
            errors = [finding for finding in findings if finding.severity == "error"]
            in_data = all(finding.file is not None for finding in errors)
            raise (DataError if in_data else ProgramError)(errors)
        self.warnings: tuple[Diagnostic, ...] = tuple(f for f in findings if f not in checked.unevaluated)
        self._loaded = Loaded(checked)
        self._session = Session(Theory(checked, program))

    # --- what it holds ----------------------------------------------------------------------------------------------

    @property
    def graph(self) -> nx.MultiDiGraph:
        """The lifted graph of neurons, read-only; the attributes of its nodes and edges: see `lnnkit.graph.lifted`."""
        return self._session.graph().graph.networkx()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the program names: its imports and its tables, and those of its imports."""
        files = [self._home / path for path in paths(self.program)]
        for entry in merge(self.program, self._home).entries:
            statement, source = entry.statement, entry.statement.span.source
            if source != self.program.span.source:
                files.append(Path(source.path))
                if isinstance(statement, ast.TableStatement) and statement.table.path:
                    files.append(entry.base / statement.table.path)
        return tuple(dict.fromkeys(files))

    @property
    def queries(self) -> tuple[str, ...]:
        """The program's queries, as they were written."""
        return tuple(query.text for query in self._checked.queries)

    @property
    def predicates(self) -> Mapping[str, Predicate]:
        """All predicates and numbers, by name."""
        checked = self._checked
        unknown = {assertion.unknown.atom.name for assertion in checked.assertions if assertion.unknown is not None}
        return {name: predicate for name, predicate in checked.predicates.items() if name not in unknown}

    def entities(self, prefix: str, most: int) -> list[str]:
        """Up to ``most`` entities of facts and tables that start with ``prefix``, sorted, without whole numbers."""
        return self._checked.entities(prefix, most)

    @property
    def statements(self) -> tuple[Assertion, ...]:
        """The rules and axioms, those of imported files included."""
        return self._checked.assertions

    def facts(self, name: str, arguments: Sequence[str | None] = ()) -> Iterator[GivenFact]:
        """The facts of a predicate or number with their places: those of the program, then the rows of its tables; with
        ``arguments`` those about these entities (None: any)."""
        return self._theory.origins().every(name, arguments)

    def statements_of(self, name: str) -> Iterator[str]:
        """The facts of a predicate or number as statements, with all digits; modules supply none."""
        return statements(self._checked, name)

    def copied(self) -> KnowledgeBase:
        """An independent copy. It has inferred nothing yet, and facts added to it do not reach this one."""
        clone = copy(self)
        clone._session = self._session.copied()
        return clone

    def facts_of(self, statements: Sequence[ast.FactStatement]) -> tuple[tuple[Fact, ...], list[Diagnostic]]:
        """The facts that some statements would add here, and the findings about them. Raises `ProgramError`."""
        facts, findings = check_facts(statements, self._checked)
        if facts is None:
            raise ProgramError([finding for finding in findings if finding.severity == "error"])
        return facts, findings

    def with_facts(self, statements: Sequence[ast.FactStatement]) -> KnowledgeBase:
        """A copy with these facts in addition; their predicates must exist. No file is read again. Raises
        `ProgramError` with every finding."""
        facts, findings = self.facts_of(statements)
        clone = self.copied()
        clone.warnings += tuple(findings)
        clone._session.change(replace(self._checked, facts=(*self._checked.facts, *facts)))
        return clone

    def tell(self, name: str, table: object, *, trust: float = 1.0) -> None:
        """Add facts about the predicate ``name``. An atom that has facts already keeps the intersection of all bounds.

        ``table`` is anything Arrow-capable (a pandas or polars frame, an Arrow table, ...), a mapping of columns, or
        rows; its columns are the arguments, then a truth value or a lower and an upper bound if there are more.
        ``trust`` (0 to 1) changes no bounds: it multiplies the cost of repairing one of these facts. Raises `DataError`
        with every bad row, and then adds nothing. No file is read again.
        """
        from lnnkit.kb.telling import fact_table

        self._add(name, *fact_table(self._checked, name, table, trust))

    def _add(self, name: str, facts: FactTable, findings: Sequence[Diagnostic]) -> None:
        from lnnkit.kb.telling import with_table, without_denials

        fewer = without_denials(self.warnings, name)
        denied = fewer != self.warnings and len(facts) > 0 and float(facts.upper.min()) < 1
        self.warnings = (*(fewer if denied else self.warnings), *findings)
        self._session.change(with_table(self._checked, facts), facts)

    def retract(self, name: str, rows: object) -> None:
        """Take back all facts about some atoms of ``name``: those of the program, rows of its tables, and what was
        told; rules and axioms stay. ``rows`` has the arguments of each atom, as a table that `tell` takes. An entity
        that nothing names any more leaves its sorts. Atoms without facts stay as they are. Raises `DataError`, and then
        takes nothing back."""
        from lnnkit.kb.telling import fact_table

        self._session.retract(fact_table(self._checked, name, rows, keys=True)[0])

    def replace(self, name: str, table: object, *, trust: float = 1.0) -> None:
        """State these facts, as `tell` does, in place of all facts about their atoms."""
        from lnnkit.kb.telling import fact_table

        facts, findings = fact_table(self._checked, name, table, trust)
        with self.transaction():
            self._session.retract(facts)
            self._add(name, facts, findings)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A context for several changes. If it is left by an exception, the knowledge base is as it was before: its
        facts, labels, queries, learned values and answers, but not the weights of modules that were trained in it."""
        before = dict(vars(self))
        try:
            with self._session.restored_on_error():
                yield
        except BaseException:
            vars(self).update(before)
            raise

    def label(self, name: str, table: object) -> None:
        """Add labels of the predicate ``name``, for training and scoring; ``table`` as in `tell`."""
        from lnnkit.kb.telling import fact_table

        labels, findings = fact_table(self._checked, name, table, labels=True)
        self.warnings += tuple(findings)
        self._session.change(replace(self._checked, label_tables=(*self._checked.label_tables, labels)))

    def assume(self, bounds: Mapping[str, Assumed | None]) -> KnowledgeBase:
        """A what-if copy, in which the given atoms have these ``bounds`` (one truth or two; one end or two of numbers
        and dates; None: no facts) instead of those that their facts give.

        Where that is possible the copy goes on from the fixpoint of this knowledge base, or of the last copy in which
        the same atoms were assumed, and works out only what rests on those atoms. Raises `ProgramError` for a key that
        is not an atom, ``ValueError`` for invalid bounds.
        """
        from lnnkit.kb.explaining import hypothetical

        clone = copy(self)
        clone._session = hypothetical(self._session, bounds)
        return clone

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
        """Run inference to the fixpoint. Raises `BudgetError` before more than ``max_groundings`` instances of one rule
        or query are made (default: as many as fit half of the free memory).

        ``precision`` is double or single. Single halves the memory and is accurate to 1e-5; programs with numbers
        always use double. ``device`` (cpu, cuda or cuda:N) is where rules are evaluated. ``watch.after_round`` is
        called after every round, and stops inference by returning False. The first Ctrl-C stops it too, where it would
        otherwise raise ``KeyboardInterrupt``: the outcome is then "interrupted", and bounds are sound but may be loose.
        The second Ctrl-C raises. Without ``record`` nothing is kept for explanations until the next call.
        """
        check_limits(max_groundings=max_groundings, max_rounds=max_rounds)
        self._session.recording = record
        fixpoint = self._session.infer(max_groundings, max_rounds, computing(precision, device), watch)
        return self._noting(fixpoint.outcome)

    def plan(
        self,
        *,
        max_groundings: int | None = None,
        max_rounds: int = ROUND_LIMIT,
        precision: str = "double",
        device: str = "cpu",
        watch: Watch | None = None,
    ) -> Plan:
        """Run inference as `infer` does, and return its plan: what each statement joined, in which order, with the
        numbers of rows in and out, and which sides of which predicates were computed. Print it."""
        from lnnkit.answers.plan_report import statement_plans, table_plans
        from lnnkit.join.join_plan import Recorder

        recorder = Recorder()
        check_limits(max_groundings=max_groundings, max_rounds=max_rounds)
        fixpoint = self._session.infer(max_groundings, max_rounds, computing(precision, device), watch, recorder)
        run = fixpoint.run
        return Plan(statement_plans(run, recorder), table_plans(run), fixpoint.outcome, recorder.elapsed)

    def profile(self, **settings: Any) -> Profile:
        """Run inference as `plan` does, with the same ``settings``, and return what each statement cost: the CPU time
        that it took, the rows that its joins gave, the instances looked at, and the bounds proposed. Print it."""
        return self.plan(**settings).profile

    def watched(self, watch: Watch) -> AbstractContextManager[None]:
        """A context in which ``watch`` is called after each round of an answer or an explanation; it may stop it."""
        return self._session.watched(watch)

    def ask(self, query: str, *, alpha: float = 1.0, exact: bool = False, timeout: float | None = 60.0) -> Answers:
        """The answers to a query; infers first when facts or queries have changed what must be known.

        With variables: the bindings whose bounds differ from the query's value with every atom at its default, sorted;
        without: one answer. ``alpha`` is the threshold from which a bound counts as true, above 0.5 and at most 1.

        ``exact`` gives these answers the tightest bounds that all statements leave together, as `prove` does; an answer
        that takes longer than ``timeout`` seconds keeps its own.
        """
        check_alpha(alpha)
        parsed, findings = asked(self._theory, query)
        if exact:
            from lnnkit.kb.proving import exact_answers

            known = exact_answers(self._session, parsed, alpha, timeout)
        else:
            from lnnkit.kb.asking import answers

            known = answers(self._session, parsed, alpha)
        return replace(known, warnings=(*findings, *known.warnings))

    def holds(self, formula: str, *, alpha: float = 1.0) -> bool | None:
        """Whether a formula without free variables is true: True if its lower bound is at least ``alpha``, False if its
        upper bound is at most 1 - ``alpha``, None otherwise (also where its bounds contradict each other).

        Infers first if needed. Raises `ProgramError` as `ask` does, and for a number or a formula with free variables.
        """
        check_alpha(alpha)
        parsed, _ = asked(self._theory, formula)
        from lnnkit.kb.asking import truth

        return truth(self._session, parsed, alpha)

    def explain(
        self, query: str, *, alpha: float = 1.0, exact: bool = False, timeout: float | None = 60.0
    ) -> Explanation:
        """Why an atom, or a formula without free variables, has its bounds: the proof of each, down to facts.

        With ``exact``, as in `ask`, a bound that only all statements together give has an exact step: what it follows
        from, of which the solver is asked again by `Explanation.verify`.

        Runs inference first if needed. Raises `ProgramError` for a query with free variables, and `Error` if inference
        was told not to record.
        """
        check_alpha(alpha)
        parsed, findings = asked(self._theory, query)
        if exact:
            from lnnkit.kb.proving import exact_explanation

            explanation = exact_explanation(self._session, parsed, alpha, timeout)
        else:
            from lnnkit.kb.asking import explained

            _, explanation = explained(self._session, parsed, alpha)
        return replace(explanation, warnings=(*findings, *explanation.warnings))

    def export(self, formulas: Sequence[str] | None = None, *, alpha: float = 1.0) -> str:
        """The classical reading of questions in SMT-LIB, as Z3 prints what it is given in a proof.

        A question is stated negated, with the instances of statements, of truth ``alpha`` or more, on which it depends,
        so `unsat` means that it follows. ``formulas`` are the questions (default: the program's queries), one check for
        each way to bind their free variables. Needs the extra ``lnnkit[prove]``. Raises `Error` without it,
        `ProgramError` for a number.
        """
        return self.exported(formulas, alpha=alpha)[0]

    def exported(self, formulas: Sequence[str] | None = None, *, alpha: float = 1.0) -> tuple[str, list[Diagnostic]]:
        """The text of `export`, and what was left out of it."""
        check_alpha(alpha)
        from lnnkit.kb.proving import smtlib

        texts = [formulas] if isinstance(formulas, str) else formulas
        checked = [asked(self._theory, text) for text in texts or ()]
        queries = self._checked.queries if texts is None else [query for query, _ in checked]
        text, notes = smtlib(self._session, queries, alpha)
        return text, [*(finding for _, findings in checked for finding in findings), *notes]

    def why_not(self, atom: str, *, side: Literal["lower", "upper"] = "lower", goal: float | None = None) -> WhyNot:
        """What keeps an atom from being true (``side`` upper: from being false), or from reaching ``goal``: the
        statements that could change it, the premises that hold each of them back, and how much these lack.

        Raises `ProgramError` for anything but an atom without variables, ``ValueError`` for another side, and for a
        goal that is not a truth value.
        """
        if side not in ("lower", "upper"):
            raise ValueError(f"side must be 'lower' or 'upper'; got {side!r}")
        if goal is not None and not 0 <= goal <= 1:
            raise ValueError(f"goal must be a truth value from 0 to 1; got {goal}")
        parsed, findings = asked(self._theory, atom)
        from lnnkit.kb.explaining import why_not

        known = why_not(self._session, parsed, atom, upper=side == "upper", goal=goal)
        return replace(known, warnings=tuple(findings))

    @collection_paused()
    def prove(
        self,
        formula: str,
        alpha: float = 1.0,
        timeout: float | None = 60.0,
        *,
        reading: Reading | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> Proved:
        """Whether a formula without free variables follows from everything together: the verdict is entailed, refuted,
        neither, inconsistent (what it depends on contradicts itself), or timeout (after ``timeout`` seconds).

        ``reading`` is classical or exact (see the page *Prove*); by default classical where every statement is crisp.
        ``tell`` is called with the numbers of instances and atoms to be translated, if these are large. Needs the extra
        ``lnnkit[prove]``. Raises `Error` without it, `ProgramError` for a formula that has free variables or is a
        number.
        """
        check_alpha(alpha)
        parsed, _ = asked(self._theory, formula)
        from lnnkit.kb.proving import proved, singles

        return singles([parsed], proved(self._session, [parsed], reading, alpha, timeout, tell))[0]

    @collection_paused()
    def tighten(self, atoms: Sequence[str], *, timeout: float | None = 60.0) -> dict[str, Proved]:
        """The exact bounds of atoms, or formulas without free variables, by their texts; each takes ``timeout`` seconds
        at most. They are read together: inference runs once. Raises as `prove` does."""
        queries = [asked(self._theory, atom)[0] for atom in atoms]
        from lnnkit.kb.proving import proved, singles

        return dict(zip(atoms, singles(queries, proved(self._session, queries, "exact", 1.0, timeout)), strict=True))

    def prove_queries(
        self,
        alpha: float = 1.0,
        timeout: float | None = 60.0,
        *,
        reading: Reading | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> Iterator[Proved]:
        """The same for the program's own queries, in the order of the file; of one with free variables, for each way to
        bind them. Each has ``timeout`` seconds."""
        check_alpha(alpha)
        self._theory.require_evaluated()
        from lnnkit.kb.proving import proved

        return proved(self._session, self._checked.queries, reading, alpha, timeout, tell)

    def draw(
        self, atom: str | None = None, *, formulas: bool = False, depth: int = 3, most: int = 60, alpha: float = 1.0
    ) -> Picture:
        """A picture: of the program's predicates and rules, of those around the predicate that ``atom`` names, or of
        what an ``atom`` rests on up to ``depth`` instances away, with the bounds of all. ``formulas`` draws connectives
        instead of rules. Of more than ``most`` boxes, those nearest to the middle are drawn. Raises `Error` where
        ``formulas`` are asked of an atom."""
        from lnnkit.kb.asking import picture

        return picture(self._session, atom, formulas, depth, most, alpha)

    @property
    def outcome(self) -> Outcome:
        """How inference for the program's own queries ended. Runs inference first if needed."""
        return self._noting(self._session.program_fixpoint().outcome)

    @property
    def contradictions(self) -> Contradictions:
        """All contradictions. Runs inference first if needed."""
        return self.outcome.contradictions

    def conflicts(self, most: int = 20) -> Listing[Conflict]:
        """The first ``most`` contradictions, each with the facts and statements that cause it. Runs inference first if
        needed. Raises ``ValueError`` unless ``most`` is a positive whole number."""
        check_limits(most=most)
        from lnnkit.kb.explaining import conflicts

        return conflicts(self._session, most)

    def repairs(self) -> Listing[RepairSet]:
        """For each kind of contradiction (of one statement, or about one predicate) the smallest set of facts and
        statements without which there is none of that kind: the one that costs least, a fact its trust, a rule 2, an
        axiom 4; at equal cost the one with the fewest rules. Runs inference first if needed."""
        from lnnkit.kb.explaining import repairs

        return repairs(self._session)

    def answers(self, *, alpha: float = 1.0) -> list[Answers]:
        """The answers to the program's own queries, in the order of the file."""
        check_alpha(alpha)
        self._theory.require_evaluated()
        from lnnkit.kb.asking import program_answers

        return program_answers(self._session, alpha)

    def replace_queries(self, queries: Sequence[str], *, complete: bool = False) -> None:
        """Replace the program's own queries. Raises `ProgramError` with the findings of all; those that are not errors
        are added to ``warnings``. With ``complete`` no more data will be told, so an unknown entity is an error."""
        queries = [queries] if isinstance(queries, str) else queries
        checked, findings = with_queries(self._theory, queries, "error" if complete else "warning")
        self.warnings += tuple(findings)
        self._session.change(checked)

    def scorer(
        self, rows: str, *, alpha: float = 1.0, why: bool = False, stream: str | Path | None = None
    ) -> RowScorer:
        """What decides the entities of the sort ``rows`` one by one: a callable from Arrow record batches to record
        batches, which can be pickled, for the program's queries. The rows stand in for those of the table that the
        program loads about the sort (of several tables, the one with the file name of ``stream``), and have its
        columns; what else the program knows goes along. With ``why``, each atom's answer names the statements that set
        its two ends, and ``contradicted`` marks the rows of which what the queries read contradicts itself.

        Raises `ProgramError` where a statement that the queries need links two rows, and for a sort that it does not
        have.
        """
        check_alpha(alpha)
        from lnnkit.kb.row_scoring import row_model
        from lnnkit.rows.scorer import RowScorer

        model = row_model(self._theory, self.program, self.base, rows, None if stream is None else Path(stream))
        if links := model.links():
            raise ProgramError(links)
        return RowScorer(model, float(alpha), why=why)

    def row_links(self, rows: str) -> list[Diagnostic]:
        """What keeps the entities of a sort from being decided one by one: each statement that the queries need and
        that links two of them, with both places. Empty where `scorer` takes them. Raises `ProgramError` for a sort that
        the program does not have."""
        from lnnkit.kb.row_scoring import row_model

        return row_model(self._theory, self.program, self.base, rows, strict=False).links()

    # --- learning ---------------------------------------------------------------------------------------------------

    def module(self) -> ProgramModule:
        """The parameters of the program's rules as a torch module: ``module.values`` has a scalar for each, by name.
        Answers use their current values."""
        return self._theory.learning().module

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
        seconds: float = 30.0,
        checkpoint: str | Path | None = None,
        max_groundings: int | None = None,
        listen: Callable[[Epoch], bool | None] | None = None,
    ) -> Fit:
        """Fit the learnable values of the rules to the labels (see `lnnkit.learn.parameters.rule_parameters` for which
        are learned, and `lnnkit.learn.fitting.loss` for the loss). The values kept are those with the least
        loss on the share of the labels held out for ``validation`` (on all labels if there are too few), with as few
        digits as cost nothing.

        ``rate`` is the learning rate of Adam, ``module_rate`` that of bound modules. A step uses ``batch`` labels
        (default: all). Training stops after ``patience`` epochs without improvement. There are ``restarts`` runs, of
        which all but the first start from other weights. ``only`` and ``freeze`` name rules (an unnamed one is ``line
        7``). ``contradictions``, ``uncertainty`` and ``decay`` (of weights toward 1) are weights of terms of the loss.
        ``balanced`` gives true and false labels the same weight in total. With ``soft`` all instances that support a
        labelled atom learn, not only the one that sets its bound. The learned neurons of the rules named in
        ``classical`` are kept classical at ``alpha``, except that an operand may be left out at the price ``slack``. A
        killed run continues from ``checkpoint``, to the same result. ``listen`` is called for every inference of the
        fit, and stops fitting by returning False.

        The formula of an unknown function, `?f(...)`, is found first, from the rows in which its value is stated or
        labelled (and not held out), within ``seconds`` of CPU time but for the step that is under way.

        Raises `Error` if there is nothing to learn, no label, no classical neuron, or too few rows for a formula;
        `BudgetError` as `infer` does; ``ValueError`` unless ``seconds`` is above 0.
        """
        from lnnkit.kb.training import fit, rule_names, trained_rules
        from lnnkit.learn.fitting.fitting_problem import Settings

        if not seconds > 0:
            raise ValueError(f"seconds must be above 0; got {seconds!r}")
        if checkpoint is not None:
            require_apart(checkpoint, self.files)
        trained = trained_rules(self._theory, only, freeze, classical)
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
            classical=frozenset(rule_names(classical)),
            alpha=alpha,
            distance=loss,
            contradictions=contradictions,
            uncertainty=uncertainty,
            decay=decay,
            slack=slack,
        )
        fitted = fit(self._session, trained, settings, max_groundings, checkpoint, listen, seconds)
        self.warnings = tuple(warning for warning in self.warnings if not self._theory.settles(warning))
        return fitted

    def evaluate(self, *, max_groundings: int | None = None) -> Scores:
        """How well the answers for labelled atoms agree with their labels. Raises `Error` if there is no label."""
        from lnnkit.kb.training import scores

        return scores(self._session, max_groundings)

    def classical(self, alpha: float = 1.0) -> list[Classical]:
        """Which connectives of the rules are classical at ``alpha``: true operands make a conjunction true, a false
        operand makes it false, and so on (see `lnnkit.logic.classical_region`)."""
        check_alpha(alpha)
        return [
            Classical(neuron.rule, neuron.text, neuron.kind, neuron.classical({}, alpha))
            for neuron in self._theory.learning().neurons(self._checked)
        ]

    def bind(
        self, name: str, module: torch.nn.Module, inputs: Mapping[str, torch.Tensor], classes: Sequence[str] = ()
    ) -> None:
        """Let a torch module supply a predicate or a number. ``inputs`` maps each entity to the tensor that the module
        receives; all are stacked. For ``name(entity)`` each row of the output is one truth value, or the number itself;
        for ``name(entity, class)`` it has one truth value for each of the ``classes`` (by default ``0``, ``1``, ...).
        `fit` trains the module jointly with the rules. Facts of the predicate stay valid. Raises `Error` if ``module``
        is not a module or ``inputs`` do not fit."""
        from lnnkit.kb.module_binding import binding
        from lnnkit.kb.telling import without_denials

        self._theory.bind(binding(self._checked, name, module, inputs, classes))
        self.warnings = without_denials(self.warnings, name)  # its output may be below 1
        self._session.forget()

    # --- writing itself ---------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the program to ``path``, completely or not at all. Paths in it are rewritten to lead to the same files
        from there, and learned values are written into the rules. A path that ends in ``.safetensors`` becomes a model
        file: the program's text and the exact values.

        Imports stay imports. Facts that were told are written as statements; those of predicates of which facts were
        taken back, or assumed otherwise, in place of all its facts and tables of them. Labels added by `label` are left
        out, since what was learned from them is kept. Raises `Error`, and writes nothing, if an imported file states
        what was taken back, if the facts are too many for a text, and if ``path`` is one of `files`.
        """
        require_apart(path, self.files)
        program, assumed = self._theory.written(), {(f.predicate, f.arguments) for f in self._theory.assumed}
        changed, told = self._loaded.since(self._checked)
        changed |= {name for name, _ in assumed}
        if changed or told.facts or told.tables:
            names = sorted({part.predicate for part in (*told.facts, *told.tables)} - changed)
            added = (text for name in names for text in statements(told, name))
            taken = {self._checked.predicates[name]: self.statements_of(name) for name in sorted(changed)}
            program = restated(program, self._home, taken, added, assumed)
        save(program, self._home, self._theory.exact_values, path)

    @property
    def text(self) -> str:
        """The text of the main file, with the values that it has learned."""
        return self._theory.written().span.source.text

    # --- copying itself ---------------------------------------------------------------------------------------------

    def __copy__(self) -> KnowledgeBase:
        """The same knowledge base under a second name: facts added to one are added to both."""
        clone = object.__new__(type(self))
        clone.__dict__.update(self.__dict__)
        return clone

    def __deepcopy__(self, memo: dict[int, object]) -> KnowledgeBase:
        """An independent copy: facts, training and bindings after this point are its own."""
        clone = memo[id(self)] = self.copied()
        return clone

    def __reduce__(self) -> NoReturn:
        """Knowledge bases are not pickled: they write themselves as programs."""
        raise TypeError(
            "a KnowledgeBase cannot be pickled: write it with kb.save('kb.lnn') and read it with "
            "lnnkit.load('kb.lnn'); facts that were told go into a table that the program loads"
        )

    # --- showing itself ---------------------------------------------------------------------------------------------

    def _counts(self) -> list[tuple[str, int]]:
        checked = self._checked
        facts = len(checked.facts) + sum(map(len, checked.tables))
        kinds = [assertion.kind for assertion in checked.assertions]
        counts = (len(self.predicates), facts, kinds.count("rule"), kinds.count("axiom"), len(checked.queries))
        return list(zip(_ONE, counts, strict=True))

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name if count != 1 else _ONE[name]}" for name, count in self._counts())
        return f"KnowledgeBase({self.program.span.source.path}: {counts})"

    def _repr_html_(self) -> str:
        from lnnkit.markup.pages import Table, tables

        counts = self._counts()
        return tables(Table(self.program.span.source.path, [], counts, len(counts)))

    def changes_since(self, other: KnowledgeBase) -> Listing[Change]:
        """The answers to the queries here that differ from those of another knowledge base, such as the program before
        its files changed, each with the facts that it changed by."""
        from lnnkit.kb.changing import changes

        return changes(*(kb._session.of_facts(kb._checked) for kb in (other, self)))

    def _noting(self, outcome: Outcome) -> Outcome:
        """The outcome, with what it changes."""
        session, earlier, now = self._session, self._session.earlier, self._checked
        if earlier is None:
            return outcome

        def changed() -> Sequence[Change]:
            from lnnkit.kb.changing import changes

            return changes(session.of_facts(earlier), session.of_facts(now))

        return replace(outcome, _changes=changed)

    # --- its parts --------------------------------------------------------------------------------------------------

    @property
    def _theory(self) -> Theory:
        return self._session.theory

    @property
    def _checked(self) -> CheckedProgram:
        return self._session.theory.checked
