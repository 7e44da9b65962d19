"""Training and scoring: which rules learn, the errors where that fails, and learned literals that are always or never
true of the data. Each of these is reported, and removed from its rule if no answer depends on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.budget import TooLarge, allowed, too_large
from lnnkit.check.findings import nearest
from lnnkit.check.learnables import among, settled_value
from lnnkit.check.program import CheckedProgram
from lnnkit.check.walk import nodes, transform
from lnnkit.errors import Error, ProgramError
from lnnkit.kb.asking import answers
from lnnkit.kb.session import Session
from lnnkit.kb.theory import Theory, asked, not_finite
from lnnkit.learn.fitting.fitting_problem import Settings, Unstarted
from lnnkit.learn.fitting.gradient_descent import Listen, OtherRun
from lnnkit.learn.labels import evaluate, label_queries
from lnnkit.learn.learner import Dropped, Learner, TrainedRule, learned_literals, place_of, without
from lnnkit.learn.parameters.constraints import Infeasible
from lnnkit.learn.parameters.rule_parameters import LearnedParameter
from lnnkit.learn.replay.neural_predicates import NotFinite
from lnnkit.output import require_writable
from lnnkit.report.training_page import Fit
from lnnkit.scores import FoundFormula, Scores
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression

if TYPE_CHECKING:
    from lnnkit.answer_table import Answers
import numpy as np

_TEACHES_NOTHING = "axioms and imported rules learn nothing, nor does a `?` that shares its name with one of theirs"
_TOLERANCE = 1e-9


def trained_rules(
    theory: Theory, only: Collection[str] | None, freeze: Collection[str], classical: Collection[str]
) -> frozenset[str]:
    """The names of the rules that learn; one may be a string. Raises `Error` if one is unknown or none is left."""
    only, freeze, classical = None if only is None else rule_names(only), rule_names(freeze), rule_names(classical)
    learner = theory.learning()
    asked = learner.rules if only is None else only
    if not learner.states_equations(asked) and not learner.seeking(asked):
        _require_labels(theory.checked)
    findings: list[Diagnostic] = []
    for name in dict.fromkeys((*(only or ()), *freeze, *classical)):
        if name not in learner.rules:
            near = nearest(name, learner.rules)
            hint = f"did you mean `{near}`?" if near else f"its rules are {', '.join(map(repr, learner.rules))}"
            findings.append(Diagnostic("unknown-rule", f"no rule that learns is named `{name}`", hint))
    if findings:
        raise Error(findings)
    trained = frozenset(learner.rules if only is None else only).difference(freeze)
    learning = {name for parameter in learner.module.parameters_of_program for name in parameter.rules}
    if not trained & learning and not learner.seeking(trained) and not theory.bindings:
        learning |= learner.seeking(learner.rules)
        listed = ", ".join(sorted(learning))
        hint = f"`only` and `freeze` exclude every rule that learns: {listed}" if learning else _TEACHES_NOTHING
        imported = next(filter(None, (assertion.unknown for assertion in theory.checked.assertions)), None)
        if imported is not None and not learning:
            hint = f"`{imported.span.on_one_line}` is in an imported file: train that one, and let it import the data"
        raise Error([Diagnostic("nothing-to-learn", "no rule is left to train", hint)])
    return trained


def rule_names(given: Collection[str]) -> Collection[str]:
    """Rule names as a collection; a single name may be given as a string."""
    return (given,) if isinstance(given, str) else given


def fit(
    session: Session,
    trained: frozenset[str],
    settings: Settings,
    instances: int | None,
    checkpoint: str | Path | None,
    listen: Listen | None,
    seconds: float,
) -> Fit:
    """Fit the rules ``trained`` and the theory's modules, after finding the formulas of unknown functions, each within
    ``seconds``. Raises `BudgetError` for more than ``instances`` instances, and `Error` if the rules cannot learn."""
    theory = session.theory
    learner = theory.learning()
    theory.copy_modules()
    guard = allowed(instances)
    before = learner.texts(theory.checked)
    file = None if checkpoint is None else Path(checkpoint)
    if checkpoint is not None:
        require_writable(checkpoint)
    try:
        functions: tuple[FoundFormula, ...] = ()
        inexact: tuple[Diagnostic, ...] = ()
        if learner.seeking(trained):
            from lnnkit.discovery.formula_search import FormulaSearch
            from lnnkit.kb.finding_functions import find_functions

            search = FormulaSearch(seconds, seed=settings.seed % 2**63)
            functions, inexact = find_functions(session, trained, search, settings.validation, instances)
        fitted = trained if _labelled(theory.checked) or learner.states_equations(trained) else frozenset[str]()
        run, evidence, warnings = learner.fit(theory.checked, fitted, settings, guard, listen, file, theory.bindings)
    except TooLarge as problem:
        raise too_large(problem, session.graph()) from None
    except Infeasible as problem:
        hint = "choose an alpha nearer to 1, give the rule fewer operands, or train it without `classical`"
        raise Error([Diagnostic("not-classical", str(problem), hint)]) from None
    except Unstarted as problem:
        raise ProgramError([_unstarted(problem.parameter)]) from None
    except NotFinite as problem:
        raise not_finite(problem) from None
    except OtherRun:
        message = f'"{checkpoint}" is not a checkpoint of this run'
        hint = "name another file, or remove it if that run is finished"
        raise Error([Diagnostic("other-checkpoint", message, hint)]) from None
    alike = any(warning.code == "alike-labels" for warning in warnings)
    if run.stopped != "interrupted" and not alike:  # with labels that are all equal, any found formula is arbitrary
        warnings = (*warnings, *constant_findings(session, trained, instances))
    after = learner.texts(theory.checked)
    return Fit(
        run.after.train,
        run.after.validation,
        run.losses.total,
        run.losses.terms,
        learner.module.current(),
        run.stopped,
        run.history,
        replace(evidence, rules=[(name, before[name], after[name]) for name in before if name in trained]),
        (*inexact, *warnings),
        functions,
        frozenset(known.name for known in learner.module.parameters_of_program if known.dated),
    )


def scores(session: Session, instances: int | None) -> Scores:
    """See `KnowledgeBase.evaluate`; raises `BudgetError` for more than ``instances`` instances."""
    theory = session.theory
    _require_labels(theory.checked)
    theory.require_evaluated()
    guard = allowed(instances)
    try:
        return evaluate(theory.bound(theory.settled()), guard)
    except TooLarge as problem:
        raise too_large(problem, session.graph()) from None


def _labelled(checked: CheckedProgram) -> bool:
    return bool(checked.labels or checked.label_tables)


def _require_labels(checked: CheckedProgram) -> None:
    if not _labelled(checked):
        hint = 'add some: `label P(a)`, `label ~P(b)`, `label total(a) = 12`, or `label P from "outcomes.csv"`'
        raise Error([Diagnostic("no-labels", "the program has no labels", hint)])


def _unstarted(parameter: LearnedParameter) -> Diagnostic:
    text = parameter.span.text
    if parameter.kind == "relation":
        example = text.replace("<?>", ">=")
        hint = f"label what depends on it, where both numbers are known, or write the relation: `{example}`"
        return Diagnostic("untrained", f"no label determines which relation `{text}` is", hint, parameter.span)
    if parameter.kind == "unit":
        hint = "label what depends on it, where all its operands are known, or give it weights"
        return Diagnostic("untrained", f"no label determines what `{text}` computes", hint, parameter.span)
    start = f"{text}{'' if text == '?' else '='}" + ('date "2026-01-01"' if parameter.dated else "1")
    hint = f"give it an initial value, as in `{start}`: the data do not determine one"
    return Diagnostic("untrained", f"`{text}` has no value to start from", hint, parameter.span)


@dataclass(frozen=True, slots=True)
class _ConstantLiteral:
    """A literal of a rule that has the same ``truth`` for all ``rows`` whose numbers are known."""

    rule: TrainedRule
    literal: ast.Comparison
    text: str
    truth: bool
    rows: int


def constant_findings(session: Session, trained: Collection[str], instances: int | None) -> tuple[Diagnostic, ...]:
    """A ``constant-literal`` warning for each learned literal of the rules ``trained`` that is always or never true.

    A literal is removed from its rule if no answer depends on it: the answers for labelled predicates and for the
    program's queries, with and without it, must agree bit for bit. Literals that need more than ``instances``
    instances, or that cannot be asked for, are skipped.
    """
    try:
        constants = list(_constants(session, trained, instances))
        gone = _drop(session, constants, instances) if constants else []
    except Error:  # too large, or other rules keep the program from being evaluated
        return ()
    return tuple(_finding(constant, dropped=constant in gone) for constant in constants)


def _finding(constant: _ConstantLiteral, *, dropped: bool) -> Diagnostic:
    truth = f"{'always' if constant.truth else 'never'} true ({constant.rows:,} rows)"
    message = f"`{constant.text}` of `{constant.rule.name}` is {truth}: it distinguishes no rows"
    if dropped:
        message += "; it was removed from the rule, and every answer stayed the same"
        hint = "nothing needs to be done; to learn it, add rows or labels that it distinguishes"
    else:
        hint = "take it out of the rule, or add rows or labels that it distinguishes"
    return Diagnostic("constant-literal", message, hint, constant.literal.span, "warning")


def _constants(session: Session, trained: Collection[str], instances: int | None) -> Iterator[_ConstantLiteral]:
    for rule in session.theory.learning().learned(session.theory.checked):
        if rule.name not in trained:
            continue
        written = {place_of(node.span): node for node in nodes(rule.after.formula)}
        for literal in learned_literals(rule.before.formula):
            now = written.get(place_of(literal.span))
            if now is None or any(isinstance(node, ast.Aggregate) for node in nodes(now)):  # known by default
                continue
            text = format_expression(transform(now, lambda node: settled_value(node, {})), as_written=True)
            bounds = _asked(session, text, instances)
            if bounds is None or len(bounds) < 2:
                continue
            if bool((bounds.lower >= 1 - _TOLERANCE).all()):
                yield _ConstantLiteral(rule, literal, text, True, len(bounds))
            elif bool((bounds.upper <= _TOLERANCE).all()):
                yield _ConstantLiteral(rule, literal, text, False, len(bounds))


def _asked(session: Session, text: str, instances: int | None) -> Answers | None:
    """The truth of the literal for all rows whose numbers are known; None if it cannot be asked for by itself."""
    try:
        query, _ = asked(session.theory, text)
    except ProgramError:
        return None
    return answers(_fresh(session, instances), query, 1.0)


def _fresh(session: Session, instances: int | None) -> Session:
    clone = session.about(session.theory)
    clone.most = instances
    return clone


def _drop(session: Session, constants: Sequence[_ConstantLiteral], instances: int | None) -> list[_ConstantLiteral]:
    """Remove from the rules the literals that no answer needs: all at once if possible, else one after another."""
    learner = session.theory.learning()
    asked_for = {value.name for query in session.theory.checked.queries for value in among(nodes(query.formula))}  # pyright: ignore[reportArgumentType]  # a formula
    may = [c for c in constants if not asked_for & {value.name for value in among(nodes(c.literal)) if value.name}]
    kept, gone = learner.dropped, list[_ConstantLiteral]()
    before = _answered(session, instances) if may else None
    for tried in (may, *([constant] for constant in may)):
        dropped = _dropped(learner, [*gone, *tried])
        if before is None or dropped is None or len(gone) == len(may):
            continue
        try:
            learner.dropped = (*kept, *dropped)
            if _same(before, _answered(session, instances)):
                gone = [*gone, *tried]
        finally:  # restore whatever was tried, however the trial ends
            learner.dropped = (*kept, *(_dropped(learner, gone) or ()))
    session.forget()
    return gone


def _dropped(learner: Learner, constants: Sequence[_ConstantLiteral]) -> list[Dropped] | None:
    """What is removed, rule by rule; None if a literal is all that a rule has at that place."""
    truths: dict[int, dict[tuple[int, int], bool]] = {}
    for constant in constants:
        truths.setdefault(constant.rule.place, {})[place_of(constant.literal.span)] = constant.truth
    values, made = learner.module.current(), []
    for rule in {constant.rule.place: constant.rule for constant in constants}.values():
        literals = truths[rule.place]
        if without(rule.after.formula, literals) is None:
            return None
        names = [one.name for one in learner.module.parameters_of_program if rule.name in one.rules]
        made.append(Dropped(rule.place, literals, {name: values[name] for name in names}))
    return made


def _answered(session: Session, instances: int | None) -> tuple[list[Answers], int]:
    """The answers for labelled predicates and to the program's queries, and the number of contradictions."""
    fresh = _fresh(session, instances)
    fresh.forget()
    checked = session.theory.checked
    queries = (*label_queries(checked), *checked.queries)
    fixpoint = fresh.rest(queries)
    return [answers(fresh, query, 1.0) for query in queries], len(fixpoint.outcome.contradictions)


def _same(one: tuple[list[Answers], int], other: tuple[list[Answers], int]) -> bool:
    def alike(before: Answers, after: Answers) -> bool:
        pairs = ((before.lower, after.lower), (before.upper, after.upper), (before.contested, after.contested))
        return all(np.array_equal(*pair) for pair in pairs) and before.columns == after.columns

    return one[1] == other[1] and all(alike(*pair) for pair in zip(one[0], other[0], strict=True))
