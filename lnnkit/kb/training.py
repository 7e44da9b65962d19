"""Training and scoring of a theory: which rules learn, and the errors where that fails."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from lnnkit.budget import allowed, too_large
from lnnkit.check.findings import nearest
from lnnkit.check.program import CheckedProgram
from lnnkit.engine.inference import TooLarge
from lnnkit.errors import Error, ProgramError
from lnnkit.fit import Fit
from lnnkit.kb.constant_findings import constant_findings
from lnnkit.kb.session import ROUND_LIMIT, Session
from lnnkit.kb.theory import Theory, not_finite
from lnnkit.learn.fitting.checkpoint import OtherRun
from lnnkit.learn.fitting.fitting_problem import Settings, Unstarted
from lnnkit.learn.fitting.gradient_descent import Listen
from lnnkit.learn.learner import Learner, evaluate
from lnnkit.learn.parameters.constraints import Infeasible
from lnnkit.learn.parameters.rule_parameters import LearnedParameter
from lnnkit.learn.replay.neural_predicates import NotFinite
from lnnkit.output import require_writable
from lnnkit.scores import FoundFormula, Scores
from lnnkit.syntax.diagnostic import Diagnostic

_TEACHES_NOTHING = "axioms and imported rules learn nothing, nor does a `?` that shares its name with one of theirs"


def trained_rules(
    theory: Theory, only: Collection[str] | None, freeze: Collection[str], classical: Collection[str]
) -> frozenset[str]:
    """The names of the rules that learn. Raises `Error` if a name is unknown or no rule is left. A single name may be
    given as a string."""
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
    learning = {name for each in learner.module.parameters_of_program for name in each.rules}
    if not trained & learning and not learner.seeking(trained) and not theory.bindings:
        learning |= learner.seeking(learner.rules)
        listed = ", ".join(sorted(learning))
        hint = f"`only` and `freeze` exclude every rule that learns: {listed}" if learning else _TEACHES_NOTHING
        imported = next((each.unknown for each in theory.checked.assertions if each.unknown is not None), None)
        if imported is not None and not learning:
            text = " ".join(imported.span.text.split())
            hint = f"`{text}` is in an imported file: train that one, and let it import the data"
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
    """Fit the parameters of the rules ``trained``, and the modules of the theory, after finding the formulas of unknown
    functions, each within ``seconds``. Raises `BudgetError` for more than ``instances`` instances, and `Error` if the
    rules cannot learn."""
    theory = session.theory
    learner = theory.learning()
    theory.own_modules()
    budget = allowed(instances)
    before = learner.texts(theory.checked)
    file = None if checkpoint is None else Path(checkpoint)
    if checkpoint is not None:
        require_writable(checkpoint)
    try:
        functions, inexact = _functions(session, learner, trained, settings, seconds, instances)
        fitted = trained if _labelled(theory.checked) or learner.states_equations(trained) else frozenset[str]()
        found, evidence, warnings = learner.fit(theory.checked, fitted, settings, budget, listen, file, theory.bindings)
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
    alike = any(each.code == "alike-labels" for each in warnings)
    if found.stopped != "interrupted" and not alike:  # with labels that are all equal, any found formula is arbitrary
        warnings = (*warnings, *constant_findings(session, trained, instances))
    after = learner.texts(theory.checked)
    return Fit(
        found.after.train,
        found.after.validation,
        found.losses.total,
        found.losses.terms,
        learner.module.current(),
        found.stopped,
        found.history,
        replace(evidence, rules=[(name, before[name], after[name]) for name in before if name in trained]),
        (*inexact, *warnings),
        functions,
    )


def _functions(
    session: Session,
    learner: Learner,
    trained: frozenset[str],
    settings: Settings,
    seconds: float,
    instances: int | None,
) -> tuple[tuple[FoundFormula, ...], tuple[Diagnostic, ...]]:
    """The formulas of the unknown functions of the rules ``trained``, and warnings about them."""
    if not learner.seeking(trained):
        return (), ()
    from lnnkit.discovery.formula_search import FormulaSearch
    from lnnkit.kb.finding_functions import find_functions

    search = FormulaSearch(seconds, seed=settings.seed % 2**63)
    return find_functions(session, learner, trained, search, settings.validation, instances)


def scores(session: Session, instances: int | None) -> Scores:
    """How well the answers for labelled atoms agree with their labels. Raises `Error` if there is no label,
    `BudgetError` for more than ``instances`` instances."""
    theory = session.theory
    _require_labels(theory.checked)
    theory.require_evaluated()
    budget = allowed(instances)
    try:
        return evaluate(theory.bound(theory.settled()), budget, ROUND_LIMIT)
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
    hint = f"give it an initial value, as in `{text}{'' if text == '?' else '='}1`: the data do not determine one"
    return Diagnostic("untrained", f"`{text}` has no value to start from", hint, parameter.span)
