"""The context in which a proof is checked: the program, its entities and facts, and the rules that conclude atoms."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.explain.checker.ground_form import Form, Free, consequents, form_of, free_sorts, stated_formula, truth_of
from lnnkit.explain.checker.instance_evaluation import OTHER
from lnnkit.explain.proof.proof import FactSources
from lnnkit.logic.bounds import tolerance
from lnnkit.syntax import ast

_MOST = 100_000  # assignments of one rule's variables: a proof that would need more is reported as not verified


class InvalidStep(Exception):
    """A step does not hold."""


def demand(holds: bool, otherwise: str) -> None:
    """Raise `InvalidStep` unless this holds."""
    if not holds:
        raise InvalidStep(otherwise)


@dataclass(frozen=True, slots=True)
class RuleConjunct:
    """A ``statement`` as a ``whole`` of at least the truth ``lower``, with a ``conjunct`` of its consequent."""

    statement: Assertion
    whole: Form
    conjunct: Form
    lower: float

    def unified(self, form: Form, world: ProofWorld, *, of_unnamed: bool = False) -> Iterator[dict[str, str]]:
        """The assignments of its free variables that unify its conjunct with an atom. Unnamed individuals are beside
        it, and if ``of_unnamed`` in it too."""
        bound: dict[str, str] = {}
        for pattern, term in zip(self.conjunct.terms, form.terms, strict=True):
            if isinstance(pattern, Free) and isinstance(term, str) and bound.setdefault(pattern.name, term) != term:
                return
        sorts = free_sorts(self.whole, world.program.predicates)
        if any(entity not in world.sorts[sorts[name]] for name, entity in bound.items()):
            return
        free = sorted(name for name in sorts if name not in bound)
        named = () if of_unnamed else {term.name for term in self.conjunct.terms if isinstance(term, Free)}
        others = {name: () if name in named else world.unnamed(sorts[name], name) for name in free}
        members = [[*world.sorts[sorts[name]], *others[name]] for name in free]
        for count, row in enumerate(itertools.product(*members)):
            demand(count < _MOST, "too many instances to try")
            yield bound | dict(zip(free, row, strict=True))


@dataclass(frozen=True)
class ProofWorld:
    """The context of a proof: the program, the entities of each sort, the facts by atom, and the values of learnable
    names. ``dtype`` is the precision of the bounds."""

    program: CheckedProgram
    sorts: Mapping[str, Sequence[str]]
    origins: FactSources
    starts: Mapping[str, float]
    dtype: np.dtype[Any]

    @property
    def tolerance(self) -> float:
        """The distance up to which two truths count as equal, also in proofs that were written and read again."""
        return tolerance(self.dtype)

    @cached_property
    def _numbers(self) -> frozenset[str]:
        return frozenset(name for name, predicate in self.program.predicates.items() if predicate.numeric)

    def form(self, formula: ast.Expression) -> Form:
        """The form of a formula in a step."""
        return form_of(formula, {}, self.program.logic, self._numbers)

    def instance(self, statement: Assertion, bindings: Mapping[str, str]) -> Form:
        """The instance of a statement."""
        return form_of(stated_formula(statement, self.starts), bindings, statement.logic, self._numbers)

    def unnamed(self, sort: str, place: str) -> list[str]:
        """An unnamed individual at some place, if there may be any in the sort."""
        declared = self.program.sorts.get(sort)
        return [f"{OTHER}?{place}"] if declared is not None and declared.open else []

    def states(self, statement: Assertion) -> bool:
        """Whether a statement is one of the program's; laws of comparisons hold in any program."""
        stated = self.program.assertions
        return statement.kind == "law" or any(statement is known for known in stated) or statement in stated

    @cached_property
    def rules(self) -> Mapping[str, Sequence[RuleConjunct]]:
        """The statements that conclude atoms of each predicate, once for each conjunct."""
        rules: dict[str, list[RuleConjunct]] = {}
        for statement in self.program.assertions:
            whole, (lower, _) = self.instance(statement, {}), truth_of(statement, self.starts)
            for conjunct in consequents(whole):
                if conjunct.kind == "atom":
                    rules.setdefault(conjunct.name, []).append(RuleConjunct(statement, whole, conjunct, lower))
        return rules

    def derived(self, predicate: str) -> bool:
        """Whether rules complete a closed predicate."""
        return any(predicate in stratum for stratum in self.program.strata)

    def lacks(self, atom: Form) -> bool:
        """Whether an atom has an entity outside the sort of its position: no rule applies to it."""
        sorts = self.program.predicates[atom.name].sorts
        pairs = zip(atom.terms, sorts, strict=True)
        return any(isinstance(term, str) and term not in self.sorts.get(sort, ()) for term, sort in pairs)
