"""The contents of a knowledge base: its statements and facts, learned values, and the modules that supply predicates;
and queries to it: parsed and checked, with the errors of those that cannot be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING

from lnnkit.check import check_query
from lnnkit.check.learnables import UNEVALUATED
from lnnkit.check.program import CheckedProgram, Fact, Query
from lnnkit.errors import Error, ProgramError
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Severity
from lnnkit.syntax.printer import format_string

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable
    from lnnkit.explain.proof.proof import FactSources
    from lnnkit.graph.lifted import Root
    from lnnkit.learn.learner import Learner
    from lnnkit.learn.replay.neural_predicates import Binding, NotFinite


class Theory:
    """A ``checked`` program; its main ``file`` has the rules that learn. ``learner`` is None until it is first needed.
    ``bindings`` are its modules. The facts in ``assumed`` replace everything else that is stated about their atoms."""

    def __init__(self, checked: CheckedProgram, file: ast.Program) -> None:
        self.checked = checked
        self.file = file
        self.learner: Learner | None = None
        self.bindings: tuple[Binding, ...] = ()
        self.assumed: tuple[Fact, ...] = ()
        # Predicates whose modules are shared with the original of this copy
        self._borrowed: frozenset[str] = frozenset()
        # Caches for one version of the program and its modules
        self._origins: tuple[CheckedProgram, object, FactSources] | None = None

    def learning(self) -> Learner:
        """The learner of its rules."""
        from lnnkit.learn.learner import Learner

        if self.learner is None:
            self.learner = Learner(self.checked, self.file)
        return self.learner

    # --- what it says -----------------------------------------------------------------------------------------------

    @property
    def refused(self) -> list[Diagnostic]:
        """The findings that keep the program from being evaluated, without those that learned values have settled."""
        return [
            replace(finding, severity="error")
            for finding in self.checked.unevaluated
            if self.learner is None or not self.learner.settles(finding)
        ]

    def settles(self, finding: Diagnostic) -> bool:
        """Whether a finding is that an unknown function is not trained, whose formula was found since."""
        if finding.code != "untrained-function" or self.learner is None:
            return False
        unknowns = (assertion.unknown for assertion in self.checked.assertions)
        functions = self.learner.functions
        return any(unknown.span == finding.span and unknown.function in functions for unknown in unknowns if unknown)

    def require_evaluated(self) -> None:
        """Raises `ProgramError` if anything is `refused`."""
        refused = self.refused
        if refused:
            raise ProgramError(refused)

    @property
    def numeric(self) -> bool:
        """Whether the program has numbers."""
        return any(predicate.numeric for predicate in self.checked.predicates.values())

    @property
    def values(self) -> Mapping[str, float]:
        """The values that its rules have learned, by name."""
        return {} if self.learner is None else self.learner.module.current()

    @property
    def exact_values(self) -> Mapping[str, float]:
        """As `values`, for a model file next to the text that is `written`. Empty if literals were dropped from that
        text: it lacks their parameters, and has all other values in full."""
        return {} if self.learner is not None and self.learner.going_without else self.values

    @property
    def version(self) -> tuple[object, ...]:
        """A value that changes whenever the learned values change."""
        functions = () if self.learner is None else tuple(self.learner.functions.items())
        return (*self.values.items(), *functions, *(binding.version for binding in self.bindings))

    def settled(self) -> CheckedProgram:
        """The program with its learned values in place."""
        return self.checked if self.learner is None else self.learner.settled(self.checked)

    def bound(self, program: CheckedProgram) -> CheckedProgram:
        """The program with the facts that modules supply now, except for atoms that are assumed."""
        if not self.bindings:
            return program
        from lnnkit.kb.telling import with_facts
        from lnnkit.learn.replay.neural_predicates import NotFinite, bound

        try:
            supplied = bound(program, self.bindings)
        except NotFinite as problem:
            raise not_finite(problem) from None
        return with_facts(supplied, self.assumed) if self.assumed else supplied

    @property
    def named(self) -> CheckedProgram:
        """The program that queries are checked against: its entities include those that modules supply facts about."""
        if not self.bindings:
            return self.checked
        from lnnkit.learn.replay.neural_predicates import bound

        return bound(self.checked, self.bindings, placeholder=True)

    def origins(self) -> FactSources:
        """Where each fact about an atom comes from."""
        from lnnkit.explain.proof.proof import FactSources

        version = tuple(binding.version for binding in self.bindings)
        if self._origins is None or self._origins[0] is not self.checked or self._origins[1] != version:
            self._origins = self.checked, version, FactSources(self.bound(self.checked))
        return self._origins[2]

    def written(self) -> ast.Program:
        """The main file, with its learned values."""
        return self.file if self.learner is None else self.learner.written(self.checked)

    # --- what else it may say ---------------------------------------------------------------------------------------

    def assuming(self, facts: Sequence[Fact]) -> Theory:
        """A copy in which these facts replace all that is stated about their atoms. It learns independently."""
        from lnnkit.kb.telling import with_facts

        clone = copy(self)
        clone.checked = with_facts(self.checked, facts)
        clone.assumed = (*self.assumed, *facts)
        clone.learner = None if self.learner is None else self.learner.copied()
        clone._borrowed = frozenset(binding.predicate for binding in self.bindings)
        return clone

    def retract(self, keys: FactTable) -> None:
        """Take back the facts about some atoms, also those that are assumed."""
        from lnnkit.kb.telling import without

        assumed = without(replace(self.checked, facts=self.assumed, tables=()), keys).facts
        self.checked, self.assumed = without(self.checked, keys), assumed

    def copied(self) -> Theory:
        """An independent copy, with its own learner and its own modules: facts told to it do not reach this one."""
        clone = copy(self)
        clone.learner = None if self.learner is None else self.learner.copied()
        clone.bindings = tuple(replace(binding, module=deepcopy(binding.module)) for binding in self.bindings)
        clone._borrowed = frozenset()
        return clone

    def about(self, program: CheckedProgram) -> Theory:
        """A theory of another program that learns nothing: its values are fixed, and modules' facts are its own."""
        clone = copy(self)
        clone.checked, clone.bindings, clone.learner = replace(program, unevaluated=()), (), None
        return clone

    def bind(self, binding: Binding) -> None:
        """Let a module supply a predicate, in this theory and not in the one that it is a copy of."""
        self._borrowed -= {binding.predicate}
        self.bindings = (*self.bindings, binding)

    def copy_modules(self) -> None:
        """Replace modules shared with the original of this copy by copies, so that they can be trained here."""
        self.bindings = tuple(
            replace(binding, module=deepcopy(binding.module)) if binding.predicate in self._borrowed else binding
            for binding in self.bindings
        )
        self._borrowed = frozenset()


def not_finite(problem: NotFinite) -> Error:
    """The error for a module whose output is not finite."""
    hint = "give it finite inputs and weights; if training made them infinite, use a smaller `module_rate`"
    return Error([Diagnostic("not-finite", str(problem), hint)])


def asked(theory: Theory, text: str, *, strangers: Severity | None = "error") -> tuple[Query, list[Diagnostic]]:
    """The query that a text spells, and the findings about it. Raises `ProgramError`, also if a value that it needs is
    not trained. ``strangers`` as in `check_query`."""
    query, findings = _checked(text, theory, strangers)
    errors = [finding for finding in findings if finding.severity == "error"]
    if query is None or errors:
        raise ProgramError(errors or findings)
    refused = [*theory.refused, *(finding for finding in findings if finding.code in UNEVALUATED)]
    if refused:
        raise ProgramError(refused)
    return query, findings


def with_queries(theory: Theory, texts: Sequence[str], strangers: Severity) -> tuple[CheckedProgram, list[Diagnostic]]:
    """The program with these queries instead of its own, and the findings. Raises `ProgramError` with them all."""
    checked = theory.checked
    queries: list[Query] = []
    findings: list[Diagnostic] = []
    for text in texts:
        query, more = _checked(text, theory, strangers)
        findings += more
        if query is not None:
            queries.append(query)
    if any(finding.severity == "error" for finding in findings):
        raise ProgramError([finding for finding in findings if finding.severity == "error"])
    unevaluated = (*checked.unevaluated, *(finding for finding in findings if finding.code in UNEVALUATED))
    others = [finding for finding in findings if finding.code not in UNEVALUATED]
    return replace(checked, queries=tuple(queries), unevaluated=unevaluated), others


def _checked(text: str, theory: Theory, strangers: Severity | None) -> tuple[Query | None, list[Diagnostic]]:
    """The query and the findings about it, given the values that were learned."""
    query, findings = check_query(text, theory.named, strangers=strangers)
    if theory.learner is not None and any(finding.code in UNEVALUATED for finding in findings):
        return check_query(text, theory.settled(), strangers=strangers)
    return query, findings


def check_alpha(alpha: float) -> None:
    """Raises ``ValueError`` unless the threshold is above 0.5 and at most 1."""
    if not isinstance(alpha, Real) or not 0.5 < float(alpha) <= 1:
        raise ValueError(f"alpha must be above 0.5 and at most 1; got {alpha!r}")


def check_limits(**limits: int | None) -> None:
    """Raises ``ValueError`` for limits that are not positive whole numbers."""
    for name, limit in limits.items():
        if limit is not None and not (isinstance(limit, int) and limit >= 0):
            raise ValueError(f"{name} must be a whole number of at least 0; got {limit!r}")


def check_bound(root: Root, program: CheckedProgram) -> None:
    """Raises `ProgramError` for a query with free variables, some of which may be spelt like entities."""
    if root.variables:
        names = " and ".join(f"`{name}`" for name in root.variables)
        message = f"only a formula without free variables can be explained, and {names} is free"
        hint = "name an entity in place of each variable, or bind it with a quantifier"
        lists = [*(fact.arguments for fact in program.facts), *(table.names for table in program.tables)]
        quoted = [format_string(name) for name in root.variables if any(name in entities for entities in lists)]
        if quoted:
            hint = f"a name that starts upper-case is a variable; the entity is written {' and '.join(quoted)}"
        raise ProgramError([Diagnostic("free-variable", message, hint, root.origin.span)])


def no_atom(text: str, query: Query) -> ProgramError:
    """The error for a query that must be an atom and is not."""
    message = f"`{text.strip()}` is not an atom about named entities"
    return ProgramError([Diagnostic("no-atom", message, "name one atom at a time, as in `P(anna)`", query.span)])


def neither_true_nor_false(text: str, query: Query) -> ProgramError:
    """The error for a query about a number where a truth value is needed."""
    message = f"`{text.strip()}` is a number, which is neither true nor false"
    hint = "`explain` shows what each of its bounds depends on"
    return ProgramError([Diagnostic("no-atom", message, hint, query.span)])


def free_variables(query: Query) -> Diagnostic:
    """The error for a query that must have no free variables and has some."""
    message = f"`{query.text}` has free variables"
    hint = "name entities in their place, or bind them with `exists` or `forall`"
    return Diagnostic("free-variable", message, hint, query.span)


def no_formula(query: Query) -> Diagnostic:
    """The error for a number where a formula is needed."""
    message = f"`{query.text}` is a number, which is neither true nor false"
    text = f"({query.text})" if isinstance(query.formula, ast.Aggregate) else query.text
    threshold = 'date "2024-01-15"' if query.numeric == "date" else "0"
    return Diagnostic("no-formula", message, f"ask a comparison, as in `{text} > {threshold}`", query.span)
