"""The instances of a statement that are nearest to firing: those with the fewest literals that no existing atom
satisfies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.engine.bounds_state import State
from lnnkit.formula.unfolding import Formula
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.natural_join import Relation, join
from lnnkit.store.columns.row_arrays import Array

# Limits of work; what they leave out are instances that lack more literals than those found.
_MOST = 200  # bindings of one subset of literals; 20 to 800 cost and find the same (benchmarks/question_constants.py)
_ROWS = 1_000_000  # rows of a join. Beyond,
_FIRST = (1000, 30, 2)  # it is joined again from this many atoms of each literal: 30 ** 4 and 2 ** 19 stay below _ROWS
_ENOUGH = 20  # greatest number of bindings, as many as are tried for a statement
_SUBSETS = 300  # subsets of literals: 23 literals have 277 with at most two missing


@dataclass(frozen=True, slots=True)
class Literal:
    """A leaf of the formula, and the side on which it would have to be known."""

    leaf: int
    side: int


class _TooMany(Exception):
    pass


def nearest(
    grounding: Grounding, state: State, formula: Formula, literals: Sequence[Literal], bindings: Mapping[int, int]
) -> list[dict[int, int]]:
    """Distinct bindings of the formula's variables that extend ``bindings``: those that satisfy all literals, then all
    but one, and so on until there are enough; fuller ones first, and those that lack one literal and those that lack
    another by turns. Unbound variables are left out."""
    generators = [
        each
        for each in literals
        # The others are satisfied by all bindings or by none
        if not _informs(grounding, formula, each) and _binds(formula, each, bindings)
    ]
    relations = {each: _matching(grounding, state, formula, each, bindings) for each in generators}
    found: dict[tuple[tuple[int, int], ...], None] = {}
    subsets = 0
    for left_out in range(len(generators)):
        if len(found) >= _ENOUGH and left_out > 1:
            break
        held: list[list[tuple[tuple[int, int], ...]]] = []
        for kept in itertools.combinations(generators, len(generators) - left_out):
            subsets += 1
            if subsets > _SUBSETS:
                break
            joined = _joined([relations[each] for each in kept])
            held.append([tuple(sorted({**bindings, **one}.items())) for one in joined])
        turns = [one for turn in itertools.zip_longest(*held) for one in turn if one is not None]
        found |= dict.fromkeys(sorted(turns, key=len, reverse=True))
    return [dict(items) for items in found] or [dict(bindings)]


def _binds(formula: Formula, literal: Literal, bindings: Mapping[int, int]) -> bool:
    """Whether a literal has variables that are not bound."""
    arguments = formula.neurons[literal.leaf].arguments
    return any(not isinstance(argument, str) and argument not in bindings for argument in arguments)


def _informs(grounding: Grounding, formula: Formula, literal: Literal) -> bool:
    """Whether atoms that are not materialised satisfy the literal: those of a closed predicate, negated."""
    low, high = grounding.atoms.tables[formula.neurons[literal.leaf].source].default
    return low > 0 if literal.side == 0 else high < 1


def _joined(relations: Sequence[Relation]) -> list[dict[int, int]]:
    """The first bindings that are in all relations."""

    def guard(count: int) -> None:
        if count > _ROWS:
            raise _TooMany

    if not all(relation.length for relation in relations):
        return []
    found = Relation((), (), 0)
    for most in (_ROWS, *_FIRST):
        try:
            found = join([_first(relation, most) for relation in relations], guard)
            break
        except _TooMany:
            continue
    columns = [column[:_MOST].tolist() for column in found.columns]
    rows = zip(*columns, strict=True) if columns else iter([()] * min(found.length, 1))
    return [dict(zip(found.variables, row, strict=True)) for row in rows]


def _first(relation: Relation, most: int) -> Relation:
    columns = tuple(column[:most] for column in relation.columns)
    return Relation(relation.variables, columns, min(relation.length, most))


def _matching(
    grounding: Grounding, state: State, formula: Formula, literal: Literal, bindings: Mapping[int, int]
) -> Relation:
    """The bindings beyond ``bindings`` of the atoms that satisfy a literal."""
    neuron = formula.neurons[literal.leaf]
    table = grounding.atoms.tables[neuron.source]
    ends = state.ends(literal.side).values.take(table.rows)
    fits = ends < 1 if literal.side else ends > 0
    fresh: dict[int, Array] = {}
    for argument, column in zip(neuron.arguments, table.tuples.columns, strict=True):
        if isinstance(argument, str):
            fits &= column == grounding.domain.index[argument]
        elif argument in bindings:
            fits &= column == bindings[argument]
        elif argument in fresh:
            fits &= column == fresh[argument]
        else:
            fresh[argument] = column
    rows = np.flatnonzero(fits)
    columns = tuple(column.take(rows) for column in fresh.values())
    return Relation(tuple(fresh), columns, len(rows))
