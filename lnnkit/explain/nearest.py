"""The instances of a statement that come nearest to saying something: those of whose literals all but one, or all, are
met by atoms that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.ground.formula import Formula
from lnnkit.ground.grounding import Grounding
from lnnkit.infer.state import State

_MOST = 200  # partial instances that are followed


@dataclass(frozen=True, slots=True)
class Literal:
    """A leaf of the formula, and the side on which it would have to say something."""

    leaf: int
    side: int


def nearest(
    grounding: Grounding, state: State, formula: Formula, literals: Sequence[Literal], bindings: Mapping[int, int]
) -> list[dict[int, int]]:
    """Bindings of the formula's variables that extend ``bindings``, fullest first, each once. Variables that nothing
    binds are left out."""
    generators = [each for each in literals if not _informs(grounding, formula, each)]
    found: dict[tuple[tuple[int, int], ...], None] = {}
    for left_out in (None, *generators):
        partial: list[dict[int, int]] = [dict(bindings)]
        for literal in generators:
            if literal == left_out:
                continue
            partial = [
                {**one, **more} for one in partial for more in _matching(grounding, state, formula, literal, one)
            ][:_MOST]
        for one in partial:
            found.setdefault(tuple(sorted(one.items())))
    every = [dict(items) for items in found] or [dict(bindings)]
    return sorted(every, key=len, reverse=True)


def _informs(grounding: Grounding, formula: Formula, literal: Literal) -> bool:
    """Whether atoms that are not there meet the literal: those of a closed predicate, negated."""
    low, high = grounding.atoms.tables[formula.neurons[literal.leaf].source].default
    return low > 0 if literal.side == 0 else high < 1


def _matching(
    grounding: Grounding, state: State, formula: Formula, literal: Literal, bindings: Mapping[int, int]
) -> list[dict[int, int]]:
    """What the atoms that meet a literal bind beyond ``bindings``."""
    neuron = formula.neurons[literal.leaf]
    table = grounding.atoms.tables[neuron.source]
    columns = [column.cpu().numpy() for column in table.tuples.columns]
    ends = state.ends(literal.side).values.index_select(0, table.rows).cpu().numpy()
    fits = ends < 1 if literal.side else ends > 0
    fresh: dict[int, np.ndarray] = {}
    for argument, column in zip(neuron.arguments, columns, strict=True):
        if isinstance(argument, str):
            fits &= column == grounding.domain.index[argument]
        elif argument in bindings:
            fits &= column == bindings[argument]
        elif argument in fresh:
            fits &= column == fresh[argument]
        else:
            fresh[argument] = column
    rows = np.flatnonzero(fits)[:_MOST].tolist()
    return [{variable: int(column[row]) for variable, column in fresh.items()} for row in rows]
