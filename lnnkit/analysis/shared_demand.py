"""Demand for shared neurons: the entities for which another formula could use a neuron's truth.

``Contact(X, Y) & age(X) > age(Y) -> Elder(X, Y)`` reads pairs in contact, so no other pair of ages is compared; and of
``In(X, G) & In(Y, G) & age(X) > age(Y)`` only pairs within a group. The literals that find an instance of such a
formula are joined with those that inform the neuron's operands. Variables that the neuron lacks, such as ``G``, become
existential.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from lnnkit.analysis.needs import Literal, Need, Needs, minimal_needs, variables
from lnnkit.formula.unfolding import Formula

Demand = frozenset[Literal]


class Wanted(NamedTuple):
    """The ``demands``, one of which must be satisfied before a reader can use a neuron. Their existential variables are
    numbered after the neuron's parameters, with these ``sorts``."""

    demands: tuple[Demand, ...]
    sorts: tuple[str, ...] = ()


def wanted(shared: Formula, readers: Iterable[tuple[Formula, Needs]], tables: Set[str]) -> Wanted | None:
    """What the readers of a shared neuron need before they can use it. None if a reader can use it without any literal;
    only literals of some ``tables`` count."""
    existential = _Existential(len(shared.sorts))
    demands: list[Demand] = []
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
                if not _connected(chosen, parameters) and _connected(seen, parameters):
                    chosen = _reached(seen, parameters)
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


def _row_literals(formula: Formula, needs: Needs, block: int) -> Iterator[Demand]:
    """The sets of literals that find the rows of a block; those of an aggregate only in groups that are found."""
    for need in needs.rows:
        if block in formula.path(need.block):
            yield need.literals
    around = [need.literals for need in needs.rows if not need.block] if formula.measures else [frozenset[Literal]()]
    for fill in needs.fills.get(block, ()):
        yield from (fill | literals for literals in around)


def _over(literals: Iterable[Literal], parameters: Mapping[int | str, int]) -> list[Literal]:
    """The literals over the neuron's parameters alone."""
    return [literal for literal in literals if all(isinstance(a, str) or a in parameters for a in literal.arguments)]


def _connected(literals: Collection[Literal], parameters: Collection[int | str]) -> bool:
    """Whether a join of the literals links all variables among the parameters to one another."""
    linked = variables(parameters)
    return len(linked) < 2 or linked <= _reach(literals, {min(linked)})


def _reached(literals: Collection[Literal], parameters: Collection[int | str]) -> list[Literal]:
    """The literals that a join reaches from the parameters."""
    reach = _reach(literals, variables(parameters))
    return [literal for literal in literals if not reach.isdisjoint(literal.arguments)]


def _reach(literals: Collection[Literal], start: set[int]) -> set[int]:
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

    def renamed(self, literals: Iterable[Literal], parameters: Mapping[int | str, int], sorts: Sequence[str]) -> Demand:
        """The literals over the parameters and existential variables."""
        known: dict[int | str, int] = dict(parameters)
        counts: Counter[str] = Counter()
        renamed: list[Literal] = []
        for literal in sorted(literals, key=repr):
            arguments: list[int | str] = []
            for argument in literal.arguments:
                if isinstance(argument, int) and argument not in known:
                    sort = sorts[argument]
                    key = sort, counts[sort]
                    counts[sort] += 1
                    known[argument] = self._numbers.setdefault(key, self._first + len(self._numbers))
                arguments.append(known[argument] if isinstance(argument, int) else argument)
            renamed.append(Literal(literal.table, tuple(arguments), literal.column))
        return frozenset(renamed)
