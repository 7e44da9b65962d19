"""Functions -> relations: ``f(x) = y`` becomes ``f(x, y)``, with axioms that each ``x`` has one such ``y``.

Every model of the one is a model of the other: where ``f`` has exactly one value, ``P(f(x))`` is both ``exists y:
f(x, y) & P(y)`` and ``forall y: f(x, y) -> P(y)``. Which is written depends on the polarity, so that rules stay rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

from lnnkit.interchange import first_order as fol
from lnnkit.syntax.span import Span

Relations = dict[tuple[str, int], tuple[str, Span | None]]
"""The relation of each function, by its name and arity, and the span of the function's first use."""


def relations_for(stated: Sequence[fol.Stated]) -> tuple[list[fol.Stated], Relations]:
    """The formulas with functions replaced by relations, and these relations."""
    leaves = [leaf for each in stated for leaf in fol.leaves(each.formula)]
    taken = {leaf.predicate for leaf in leaves if isinstance(leaf, fol.Atom)}
    relations: Relations = {}
    for term in (part for leaf in leaves for whole in fol.terms_of(leaf) for part in fol.subterms(whole)):
        if _is_function(term) and (term.name, len(term.arguments)) not in relations:
            relation = _relation(term.name, taken)
            relations[term.name, len(term.arguments)] = relation, term.span
            taken.add(relation)
    if not relations:
        return list(stated), relations
    rewritten = [_Rewriting(relations, each.formula).stated(each) for each in stated]
    return [*_laws(relations), *rewritten], relations


def _relation(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    return next(found for n in itertools.count(1) if (found := f"{name}_value{n if n > 1 else ''}") not in taken)


def _laws(relations: Relations) -> Iterator[fol.Stated]:
    for (name, arity), (relation, _) in relations.items():
        given = [fol.Variable(f"x{i + 1}") for i in range(arity)]
        one, two = fol.Variable("y"), fol.Variable("z")
        some = fol.quantified(False, "y", fol.Atom(relation, (*given, one)))
        both = fol.joined("and", fol.Atom(relation, (*given, one)), fol.Atom(relation, (*given, two)))
        same = fol.quantified(True, "yz", fol.joined("implies", both, fol.Equal(one, two)))
        for law, told in ((some, "a value"), (same, "one value at most")):
            law = fol.quantified(True, [variable.name for variable in given], law)
            yield fol.Stated(law, gloss=f"`{name}` has {told}")


class _Rewriting:
    """One formula on its way."""

    def __init__(self, relations: Relations, formula: fol.Formula) -> None:
        self.relations = relations
        self.taken = {*fol.free_variables(formula), *fol.bound_variables(formula)}

    def stated(self, stated: fol.Stated) -> fol.Stated:
        return replace(stated, formula=self.formula(stated.formula, stated.role == "axiom"))

    def formula(self, formula: fol.Formula, positive: bool) -> fol.Formula:
        match formula:
            case fol.Atom() | fol.Equal() | fol.Compare():
                return self._leaf(formula, positive)
            case fol.Connective("not" | "implies" as sign, (first, *rest)):
                return fol.joined(
                    sign, self.formula(first, not positive), *[self.formula(each, positive) for each in rest]
                )
        return fol.rebuilt(formula, tuple([self.formula(part, positive) for part in fol.parts(formula)]))

    def _leaf(self, leaf: fol.Leaf, positive: bool) -> fol.Formula:
        if isinstance(leaf, fol.Equal):
            left, right = leaf.left, leaf.right
            if not _is_function(left):
                left, right = right, left
            if _is_function(left):
                given: list[tuple[fol.Variable, fol.Atom]] = []
                arguments = [self._term(each, given) for each in (*left.arguments, right)]
                return self._wrapped(fol.Atom(self._name(left), tuple(arguments), leaf.span), given, positive)
            return leaf
        given = []
        return self._wrapped(fol.with_terms(leaf, lambda term: self._term(term, given)), given, positive)

    def _wrapped(self, formula: fol.Formula, given: list[tuple[fol.Variable, fol.Atom]], positive: bool) -> fol.Formula:
        for variable, atom in reversed(given):
            inner = fol.joined("implies" if positive else "and", atom, formula)
            formula = fol.Quantified(positive, variable.name, inner)
        return formula

    def _term(self, term: fol.Term, given: list[tuple[fol.Variable, fol.Atom]]) -> fol.Term:
        """The term with variables in place of its functions. Their definitions are added to ``given``, inner ones
        first."""
        term = fol.with_subterms(term, lambda each: self._term(each, given))
        if not _is_function(term):
            return term
        variable = fol.Variable(next(n for i in itertools.count(1) if (n := f"v{i}") not in self.taken))
        self.taken.add(variable.name)
        given.append((variable, fol.Atom(self._name(term), (*term.arguments, variable), term.span)))
        return variable

    def _name(self, term: fol.Application) -> str:
        return self.relations[term.name, len(term.arguments)][0]


def _is_function(term: fol.Term) -> TypeGuard[fol.Application]:
    return isinstance(term, fol.Application) and bool(term.arguments) and not term.quoted
