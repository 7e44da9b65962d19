"""Which atoms of closed derived predicates a bound question needs: magic sets, decided before anything is joined.

To answer ``Path(anna, X)``, the rule ``Path(X, Y) & Edge(Y, Z) -> Path(X, Z)`` needs only the paths from anna, and
``Edge(X, Y) & Path(Y, Z) -> Path(X, Z)`` those from whoever anna reaches: the question's constants are *passed
sideways* along the body, through literals whose tables are complete (Bancilhon et al. 1986, Beeri and Ramakrishnan
1991). Each predicate has one adornment: the places that are *bound* wherever it is needed; without any it is
completed as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from lnnkit.analysis.needs import Literal, Needs, variables
from lnnkit.formula.unfolding import Formula

ENTERED = "listed"  # the column of the relation of demanded tuples
Atom = tuple[str, tuple[int | str, ...]]
Bound = dict[str, tuple[int, ...]]  # by predicate: the places that are bound wherever it is needed


class Passing(NamedTuple):
    """A magic rule of ``formula``: if the ``head`` is needed (None: always) and the ``literals`` are satisfied, the
    ``target`` is needed. Both atoms have their arguments in bound places only."""

    formula: Formula
    head: Atom | None
    literals: tuple[Literal, ...]
    target: Atom


class Demand(NamedTuple):
    """The demand: for the predicates in ``bound``, only the ``asked`` tuples (in bound places) and what the
    ``passings`` derive from them is completed."""

    bound: Bound
    asked: tuple[tuple[str, tuple[str, ...]], ...]
    passings: tuple[Passing, ...]


def demand(
    defining: Sequence[tuple[Formula, Needs]], whole: Collection[str], asked: Sequence[Atom], still: Collection[str]
) -> Demand | None:
    """The demand of the ``asked`` atoms of queries on the predicates that the ``defining`` formulas derive. Predicates
    in ``whole`` are needed completely anyway; tables in ``still`` are complete. None if no question is bound."""
    derived = {head for formula, _ in defining for head in _heads(formula)}
    questions = [atom for atom in asked if atom[0] in derived]
    if not any(isinstance(argument, str) for _, arguments in questions for argument in arguments):
        return None
    bodies = [body for formula, needs in defining for body in _bodies(formula, needs)]
    widths: dict[str, int] = {}
    for formula, _ in defining:
        widths.update((formula.neurons[leaf].source, len(formula.neurons[leaf].arguments)) for leaf in formula.leaves)
    every = {name: () if name in whole else tuple(range(widths[name])) for name in sorted(derived)}
    for name, arguments in questions:
        every[name] = tuple(place for place in every[name] if place in _constants(arguments))
    names = {name for name, _ in questions}
    settled = [_settled(bodies, start, still) for start in _starts(every, names)]
    bound = max(settled, key=lambda option: len(names & option.keys()))  # the first of equally good ones
    if not names & bound.keys():
        return None
    passings = [body.passing(atom, bound, still) for body in bodies for atom in body.reads if atom[0] in bound]
    return Demand(
        bound,
        tuple((name, tuple(str(arguments[p]) for p in bound[name])) for name, arguments in questions if name in bound),
        tuple(dict.fromkeys(passings)),
    )


def bound_atom(atom: Atom, bound: Bound) -> Atom:
    """An atom's arguments in the places that are bound."""
    return atom[0], tuple(atom[1][place] for place in bound[atom[0]])


def _starts(every: Bound, asked: Collection[str]) -> Iterator[Bound]:
    """The places that may be bound initially: those bound in all questions or, if there are none, those of one
    question."""
    yield every
    for place in range(max((len(every[name]) for name in asked), default=0)):
        yield {name: places[place : place + 1] if name in asked else places for name, places in every.items()}


def _settled(bodies: Sequence[_Body], bound: Bound, still: Collection[str]) -> Bound:
    """The greatest subset of ``bound`` places that are bound wherever a predicate is needed."""
    bound = dict(bound)
    before: Bound = {}
    while before != bound:
        before = dict(bound)
        for body in bodies:
            for target in (atom for atom in body.reads if atom[0] in bound):
                places = body.places(target, bound, still)
                bound[target[0]] = tuple(place for place in bound[target[0]] if place in places)
    return {name: places for name, places in bound.items() if places}


class _Body(NamedTuple):
    """For one head and one need of a formula, the other atoms that it ``reads``; for a formula with quantifiers neither
    is known."""

    formula: Formula
    head: Atom | None
    literals: frozenset[Literal]
    reads: tuple[Atom, ...]

    def places(self, target: Atom, bound: Bound, still: Collection[str]) -> set[int]:
        """The bound places of an atom that is read."""
        known = variables(self._start(bound)).union(
            *(variables(literal.arguments) for literal in self._passed(target, bound, still))
        )
        return {place for place, term in enumerate(target[1]) if isinstance(term, str) or term in known}

    def passing(self, target: Atom, bound: Bound, still: Collection[str]) -> Passing:
        """The magic rule from the head to an atom that is read."""
        literals = self._passed(target, bound, still)
        return Passing(self.formula, self._needed(bound), tuple(literals), bound_atom(target, bound))

    def _needed(self, bound: Bound) -> Atom | None:
        """The head, unless it is needed completely."""
        return bound_atom(self.head, bound) if self.head is not None and bound.get(self.head[0]) else None

    def _start(self, bound: Bound) -> Sequence[int | str]:
        head = self._needed(bound)
        return () if head is None else head[1]

    def _passed(self, target: Atom, bound: Bound, still: Collection[str]) -> list[Literal]:
        """The literals that bind variables: those connected with the head's bound variables or, without a head, with
        those of the target."""
        known = variables(self._start(bound)) or variables(target[1])
        passed = list[Literal]()
        left = sorted((literal for literal in self.literals if literal.table in still), key=repr)
        while more := [literal for literal in left if not known.isdisjoint(variables(literal.arguments))]:
            passed += more
            left = [literal for literal in left if literal not in more]
            known.update(*(variables(literal.arguments) for literal in more))
        return passed


def _constants(arguments: Sequence[int | str]) -> set[int]:
    """The places of constants."""
    return {place for place, term in enumerate(arguments) if isinstance(term, str)}


def _heads(formula: Formula) -> list[str]:
    return [formula.neurons[leaf].source for leaf in formula.heads]


def _bodies(formula: Formula, needs: Needs) -> Iterator[_Body]:
    read = [formula.neurons[leaf] for leaf in formula.leaves if leaf not in formula.heads]
    reads = tuple((neuron.source, neuron.arguments) for neuron in read)
    if len(formula.blocks) > 1:
        yield _Body(formula, None, frozenset(), reads)
        return
    for head in (formula.neurons[leaf] for leaf in sorted(formula.heads)):
        for need in needs.rows:
            yield _Body(formula, (head.source, head.arguments), need.literals, reads)
