"""Matching of atoms: how the rows of a table bind the variables of a formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from lnnkit.check.program import ENTITY
from lnnkit.formula.unfolding import Formula
from lnnkit.store.atoms import AtomTable
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.domain import Domain


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The arguments of an atom over ``table``. ``places`` gives each variable the column that binds it; ``constants``
    are (column, entity id), ``repeats`` (column, column) that must be equal, ``sorted_`` (column, flags of the ids
    that the variable's sort has)."""

    table: AtomTable
    arguments: tuple[int | str, ...]
    places: Mapping[int, int]
    constants: tuple[tuple[int, int], ...]
    repeats: tuple[tuple[int, int], ...]
    sorted_: tuple[tuple[int, Array], ...]
    plain: bool = field(init=False)  # whether every row of the table matches
    atom: tuple[str, tuple[int | str, ...]] = field(init=False)  # the table's name and the arguments

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", not (self.constants or self.repeats or self.sorted_))
        object.__setattr__(self, "atom", (self.table.name, self.arguments))

    def fitting(self, local: Array) -> Array:
        """The ``local`` rows that match, in order."""
        if self.plain:
            return local
        columns = self.table.tuples.columns
        keep = np.ones(len(local), dtype=bool)
        for place, entity in self.constants:
            keep &= columns[place].take(local) == entity
        for one, other in self.repeats:
            keep &= columns[one].take(local) == columns[other].take(local)
        for place, inside in self.sorted_:
            keep &= inside.take(columns[place].take(local))
        return local[keep]

    def tuples(self, column: Callable[[int], Array], length: int) -> list[Array]:
        """The columns of the table's tuples, from those of the variables."""
        if not self.constants:
            return [column(argument) for argument in self.arguments]  # type: ignore[arg-type]  # no constants: numbers
        entities = dict(self.constants)
        return [
            column(argument) if isinstance(argument, int) else np.full(length, entities[place], np.int32)
            for place, argument in enumerate(self.arguments)
        ]


def pattern(table: AtomTable, arguments: tuple[int | str, ...], formula: Formula, domain: Domain) -> Pattern:
    """The pattern of an atom of ``formula``. A variable of a narrower sort than its position binds only ids of that
    sort."""
    places: dict[int, int] = {}
    constants: list[tuple[int, int]] = []
    repeats: list[tuple[int, int]] = []
    narrowed: list[tuple[int, Array]] = []
    for place, (argument, sort) in enumerate(zip(arguments, table.sorts, strict=True)):
        if isinstance(argument, str):
            constants.append((place, domain.index[argument]))
            continue
        if argument in places:
            repeats.append((places[argument], place))
        else:
            places[argument] = place
        if formula.sorts[argument] not in (sort, ENTITY):
            narrowed.append((place, domain.members(formula.sorts[argument])))
    return Pattern(table, arguments, places, tuple(constants), tuple(repeats), tuple(narrowed))
