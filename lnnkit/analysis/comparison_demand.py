"""Demand for comparisons: the entities for which another formula could use a comparison's truth.

``Contact(X, Y) & age(X) > age(Y) -> Elder(X, Y)`` reads pairs in contact, so no other pair of ages is compared.
Whatever finds an instance of a formula that reads the comparison is joined with what informs its numbers, as far as
that are atoms over the comparison's own variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from lnnkit.analysis.needs import Literal, Need, Needs, minimal_needs
from lnnkit.formula.unfolding import Formula

Demand = frozenset[Literal]


def demands(table: str, readers: Iterable[tuple[Formula, Needs]], tables: Set[str]) -> tuple[Demand, ...] | None:
    """The sets of literals, over the parameters of a comparison's ``table``, one of which must be satisfied before a
    reader can use it. None if a reader can use it without any; only literals of some ``tables`` count."""
    found: list[Demand] = []
    for formula, needs in readers:
        for leaf in formula.leaves:
            neuron = formula.neurons[leaf]
            if neuron.source != table:
                continue
            if neuron.block or any(need.block for need in needs.rows):
                return None
            parameters = {argument: place for place, argument in enumerate(neuron.arguments)}
            for need in needs.rows:
                known = [_seen(each, parameters) for each in need.literals if each.table in tables]
                demand = frozenset(each for each in known if each is not None)
                if not demand:
                    return None
                found.append(demand)
    return tuple(dict.fromkeys(found))


def restricted(needs: Needs, formula: Formula, wanted: Sequence[Demand]) -> Needs:
    """The needs of a comparison, restricted to tuples that are ``wanted`` or listed; bounds given to the comparison are
    propagated in any case."""
    own = str(formula.auxiliary)
    listed = frozenset({Literal(own, tuple(formula.blocks[0].variables), "listed")})
    rows: list[Need] = []
    for need in needs.rows:
        if any(each.table == formula.auxiliary for each in need.literals):
            rows.append(need)
        else:
            rows += [Need(need.block, need.literals | demand) for demand in (*wanted, listed)]
    return replace(needs, rows=minimal_needs(rows))


def _seen(literal: Literal, parameters: dict[int | str, int]) -> Literal | None:
    """A reader's literal over the comparison's parameters; None if it has other variables."""
    arguments: list[int | str] = []
    for argument in literal.arguments:
        if isinstance(argument, str):
            arguments.append(argument)
        elif argument in parameters:
            arguments.append(parameters[argument])
        else:
            return None
    return Literal(literal.table, tuple(arguments), literal.column)
