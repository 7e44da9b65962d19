"""Which tuples are demanded, decided before anything is joined: those of closed derived predicates by bound questions,
those of shared neurons by their readers.

To answer ``Path(anna, X)``, the rule ``Path(X, Y) & Edge(Y, Z) -> Path(X, Z)`` needs only the paths from anna, and
``Edge(X, Y) & Path(Y, Z) -> Path(X, Z)`` those from whoever anna reaches: the question's constants are *passed
sideways* along the body, through literals whose tables are complete (magic sets: Bancilhon et al. 1986, Beeri and
Ramakrishnan 1991). Each predicate has one adornment: the places that are *bound* wherever it is needed; without any it
is completed as a whole.

``Contact(X, Y) & age(X) > age(Y) -> Elder(X, Y)`` reads pairs in contact, so no other pair of ages is compared; and of
``In(X, G) & In(Y, G) & age(X) > age(Y)`` only pairs within a group. The literals that find an instance of such a
formula are joined with those that inform the neuron's operands. Variables that the neuron lacks, such as ``G``, become
existential.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple, TypeVar

from lnnkit.analysis.needs import Literal, Need, Needs, Range, minimal_needs, variables
from lnnkit.formula.unfolding import Formula

ENTERED = "listed"  # the column of the relation of demanded tuples
Adorned = tuple[str, tuple[int | str, ...]]
LiteralSet = frozenset[Literal | Range]
_L = TypeVar("_L", Literal, Range, Literal | Range)
BoundPlaces = dict[str, tuple[int, ...]]  # by predicate: the places that are bound wherever it is needed


class Passing(NamedTuple):
    """A magic rule of ``formula``: if the ``head`` is needed (None: always) and the ``literals`` are satisfied, the
    ``target`` is needed. Both atoms have their arguments in bound places only."""

    formula: Formula
    head: Adorned | None
    literals: tuple[Literal, ...]
    target: Adorned


class Demand(NamedTuple):
    """The demand: for the predicates in ``bound``, only the ``asked`` tuples (in bound places) and what the
    ``passings`` derive from them is completed."""

    bound: BoundPlaces
    asked: tuple[tuple[str, tuple[str, ...]], ...]
    passings: tuple[Passing, ...]


def demand(
    defining: Sequence[tuple[Formula, Needs]], whole: Collection[str], asked: Sequence[Adorned], still: Collection[str]
) -> Demand | None:
    """The demand of the ``asked`` atoms of queries on the predicates that the ``defining`` formulas derive. Predicates
    in ``whole`` are needed completely anyway; tables in ``still`` are complete. None if no question is bound."""
    derived = {formula.neurons[leaf].source for formula, _ in defining for leaf in formula.heads}
    questions = [atom for atom in asked if atom[0] in derived]
    if not any(isinstance(argument, str) for _, arguments in questions for argument in arguments):
        return None
    bodies = [body for formula, needs in defining for body in _bodies(formula, needs)]
    widths: dict[str, int] = {}
    for formula, _ in defining:
        widths.update((formula.neurons[leaf].source, len(formula.neurons[leaf].arguments)) for leaf in formula.leaves)
    every = {name: () if name in whole else tuple(range(widths[name])) for name in sorted(derived)}
    for name, arguments in questions:
        every[name] = tuple(place for place in every[name] if isinstance(arguments[place], str))
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


def bound_atom(atom: Adorned, bound: BoundPlaces) -> Adorned:
    """An atom's arguments in the places that are bound."""
    return atom[0], tuple(atom[1][place] for place in bound[atom[0]])


def _starts(every: BoundPlaces, asked: Collection[str]) -> Iterator[BoundPlaces]:
    """The places that may be bound initially: those bound in all questions or, if there are none, those of one
    question."""
    yield every
    for place in range(max((len(every[name]) for name in asked), default=0)):
        yield {name: places[place : place + 1] if name in asked else places for name, places in every.items()}


def _settled(bodies: Sequence[_Body], bound: BoundPlaces, still: Collection[str]) -> BoundPlaces:
    """The greatest subset of ``bound`` places that are bound wherever a predicate is needed."""
    bound = dict(bound)
    before: BoundPlaces = {}
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
    head: Adorned | None
    literals: LiteralSet
    reads: tuple[Adorned, ...]

    def places(self, target: Adorned, bound: BoundPlaces, still: Collection[str]) -> set[int]:
        """The bound places of an atom that is read."""
        known = variables(self._start(bound)).union(
            *(variables(literal.arguments) for literal in self._passed(target, bound, still))
        )
        return {place for place, term in enumerate(target[1]) if isinstance(term, str) or term in known}

    def passing(self, target: Adorned, bound: BoundPlaces, still: Collection[str]) -> Passing:
        """The magic rule from the head to an atom that is read."""
        literals = self._passed(target, bound, still)
        return Passing(self.formula, self._needed(bound), tuple(literals), bound_atom(target, bound))

    def _needed(self, bound: BoundPlaces) -> Adorned | None:
        """The head, unless it is needed completely."""
        return bound_atom(self.head, bound) if self.head is not None and bound.get(self.head[0]) else None

    def _start(self, bound: BoundPlaces) -> Sequence[int | str]:
        head = self._needed(bound)
        return () if head is None else head[1]

    def _passed(self, target: Adorned, bound: BoundPlaces, still: Collection[str]) -> list[Literal]:
        """The literals that bind variables: those connected with the head's bound variables or, without a head, with
        those of the target."""
        literals = (literal for literal in self.literals if isinstance(literal, Literal))
        complete = sorted((literal for literal in literals if literal.table in still), key=repr)
        return _connected_to(variables(self._start(bound)) or variables(target[1]), complete)


def _bodies(formula: Formula, needs: Needs) -> Iterator[_Body]:
    read = [formula.neurons[leaf] for leaf in formula.leaves if leaf not in formula.heads]
    reads = tuple((neuron.source, neuron.arguments) for neuron in read)
    if len(formula.blocks) > 1:
        yield _Body(formula, None, frozenset(), reads)
        return
    for head in (formula.neurons[leaf] for leaf in sorted(formula.heads)):
        for need in needs.rows:
            yield _Body(formula, (head.source, head.arguments), need.literals, reads)


# --- shared neurons ---------------------------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """The ``demands``, one of which must be satisfied before a reader can use a neuron. Their existential variables are
    numbered after the neuron's parameters, with these ``sorts``."""

    demands: tuple[LiteralSet, ...]
    sorts: tuple[str, ...] = ()


def wanted(
    shared: Formula, readers: Iterable[tuple[Formula, Needs]], tables: Set[str], ranges: Mapping[str, Range]
) -> Wanted | None:
    """What the readers of a shared neuron need before they can use it. None if a reader can use it without any literal;
    only literals of some ``tables`` count, and the ``ranges`` of comparisons that must be true."""
    existential = _Existential(len(shared.sorts))
    demands: list[LiteralSet] = []
    for formula, needs in readers:
        auxiliary = formula.auxiliary
        for leaf in formula.leaves:
            neuron = formula.neurons[leaf]
            if neuron.source != shared.auxiliary:
                continue
            if neuron.block in needs.expands | needs.last:
                return None
            parameters = {argument: place for place, argument in enumerate(neuron.arguments)}
            for literals in _row_literals(formula, needs, neuron.block):
                known = {*tables, auxiliary}
                seen = [x for x in literals if x.table in known or (x.column == "listed" and formula.measures)]
                chosen = _over(seen, parameters)
                if not _connected(chosen, parameters):  # else its pairs are as few as those of a literal
                    limited = [*seen, *_ranges(literals, ranges)]
                    over = _over(limited, parameters)
                    if _connected(over, parameters) and not _connected(seen, parameters):
                        chosen = over
                    elif _connected(limited, parameters):
                        chosen = _connected_to(variables(parameters), limited)
                if not chosen:
                    return None
                demands.append(existential.renamed(chosen, parameters, formula.sorts + needs.existential))
    return Wanted(tuple(dict.fromkeys(demands)), existential.sorts)


def restricted(needs: Needs, formula: Formula, demanded: Wanted) -> Needs:
    """The needs of a shared neuron, restricted to tuples that are wanted or listed; bounds given to the neuron are
    propagated in any case."""
    listed = frozenset({Literal(str(formula.auxiliary), tuple(formula.blocks[0].variables), "listed")})
    rows: list[Need] = []
    for need in needs.rows:
        if any(literal.table == formula.auxiliary for literal in need.literals):
            rows.append(need)
        else:
            rows += [Need(need.block, need.literals | demand) for demand in (*demanded.demands, listed)]
    return replace(needs, rows=minimal_needs(rows), existential=demanded.sorts)


def _ranges(literals: LiteralSet, ranges: Mapping[str, Range]) -> Iterator[Range]:
    """The ranges among literals, and those of comparisons that must be true."""
    for literal in literals:
        if isinstance(literal, Range):
            yield literal._replace(exact=False)
        elif literal.table in ranges and literal.column == "lower":
            yield ranges[literal.table].renamed(dict(enumerate(literal.arguments)))


def _row_literals(formula: Formula, needs: Needs, block: int) -> Iterator[LiteralSet]:
    """The sets of literals that find the rows of a block; those of an aggregate only in groups that are found."""
    for need in needs.rows:
        if block in formula.path(need.block):
            yield need.literals
    around = [need.literals for need in needs.rows if not need.block] if formula.measures else [frozenset[Literal]()]
    for fill in needs.fills.get(block, ()):
        yield from (fill | literals for literals in around)


def _over(literals: Iterable[_L], parameters: Mapping[int | str, int]) -> list[_L]:
    """The literals over the neuron's parameters alone."""
    return [literal for literal in literals if all(isinstance(a, str) or a in parameters for a in literal.arguments)]


def _connected(literals: Collection[Literal | Range], parameters: Collection[int | str]) -> bool:
    """Whether a join of the literals links all variables among the parameters to one another."""
    linked = variables(parameters)
    return len(linked) < 2 or linked <= _reach(literals, {min(linked)})


def _connected_to(start: set[int], literals: Collection[_L]) -> list[_L]:
    """The literals that a join reaches from some variables."""
    reach = _reach(literals, start)
    return [literal for literal in literals if not reach.isdisjoint(literal.arguments)]


def _reach(literals: Collection[Literal | Range], start: set[int]) -> set[int]:
    """The variables that a join of the literals reaches from some of them."""
    reach, before = set(start), set[int]()
    while reach != before:
        before = set(reach)
        reach.update(*(variables(literal.arguments) for literal in literals if not reach.isdisjoint(literal.arguments)))
    return reach


class _Existential:
    """Numbers the existential variables of several demands. Demands share the variables of one sort, since no variable
    occurs in two of them."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._numbers: dict[tuple[str, int], int] = {}

    @property
    def sorts(self) -> tuple[str, ...]:
        return tuple(sort for sort, _ in self._numbers)

    def renamed(
        self, literals: Iterable[Literal | Range], parameters: Mapping[int | str, int], sorts: Sequence[str]
    ) -> LiteralSet:
        """The literals over the parameters and existential variables."""
        known: dict[int | str, int | str] = dict(parameters)
        counts: Counter[str] = Counter()
        ordered = sorted(literals, key=repr)
        for argument in (argument for literal in ordered for argument in literal.arguments):
            if isinstance(argument, int) and argument not in known:
                sort = sorts[argument]
                key = sort, counts[sort]
                counts[sort] += 1
                known[argument] = self._numbers.setdefault(key, self._first + len(self._numbers))
        return frozenset(literal.renamed(known) for literal in ordered)
