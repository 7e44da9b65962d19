"""The instances of a statement that are nearest to firing: those with the fewest literals that no existing atom
satisfies."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.analysis.needs import Literal, variables
from lnnkit.formula.unfolding import Block, Formula
from lnnkit.join.bindings import NOTHING, Bindings
from lnnkit.join.instances.grounding import Grounding
from lnnkit.join.literal_join import Joins, Path

# Limits of work; what they leave out are instances that lack more literals than those found.
_MOST = 200  # bindings of one subset of literals; 20 to 800 cost and find the same (benchmarks/question_constants.py)
_ENOUGH = 20  # greatest number of bindings, as many as are tried for a statement
_SUBSETS = 300  # subsets of literals: 23 literals have 277 with at most two missing


def nearest(
    grounding: Grounding, formula: Formula, literals: Sequence[Literal], bindings: Mapping[int, int]
) -> list[dict[int, int]]:
    """Distinct bindings of the formula's variables that extend ``bindings``: those that satisfy all literals, then all
    but one, and so on until there are enough; fuller ones first, and those that lack one literal and those that lack
    another by turns. Unbound variables are left out."""
    # The others are satisfied by all bindings or by none
    generators = [
        atom for atom in literals if not _informs(grounding, atom) and variables(atom.arguments) - {*bindings}
    ]
    extended: dict[tuple[tuple[int, int], ...], None] = {}
    subsets = 0
    for left_out in range(len(generators)):
        if len(extended) >= _ENOUGH and left_out > 1:
            break
        held: list[list[tuple[tuple[int, int], ...]]] = []
        for kept in itertools.combinations(generators, len(generators) - left_out):
            subsets += 1
            if subsets > _SUBSETS:
                break
            joined = _joined(grounding, formula, kept, bindings)
            held.append([tuple(sorted({**bindings, **one}.items())) for one in joined])
        turns = [one for turn in itertools.zip_longest(*held) for one in turn if one is not None]
        extended |= dict.fromkeys(sorted(turns, key=len, reverse=True))
    return [dict(items) for items in extended] or [dict(bindings)]


def _informs(grounding: Grounding, literal: Literal) -> bool:
    """Whether atoms that are not materialised satisfy the literal: those of a closed predicate, negated."""
    low, high = grounding.atoms.tables[literal.table].default
    return low > 0 if literal.column == "lower" else high < 1


def _joined(
    grounding: Grounding, formula: Formula, literals: tuple[Literal, ...], bindings: Mapping[int, int]
) -> list[dict[int, int]]:
    """The first bindings that satisfy all literals, beyond ``bindings``."""
    named = dict.fromkeys(argument for literal in literals for argument in literal.arguments)
    wanted = [argument for argument in named if isinstance(argument, int) and argument not in bindings]
    free = replace(formula, blocks=(Block(-1, tuple(wanted), ()),))
    joins = Joins(free, grounding.atoms, grounding.domain, lambda _formula, _count: None, -1, None)
    ids = {variable: np.array([entity], np.int32) for variable, entity in bindings.items()}
    start = Bindings(1, NOTHING.bind(frozenset(ids)), ids)
    extended: list[dict[int, int]] = []
    for part in joins.joined(start, joins.step(start.known, literals), Path(0)):
        columns = [part.column(variable)[:_MOST].tolist() for variable in wanted]
        extended += [dict(zip(wanted, row, strict=True)) for row in zip(*columns, strict=True)]
        if len(extended) >= _MOST:
            break
    return extended[:_MOST]
