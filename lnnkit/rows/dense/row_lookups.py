"""Statements that join rows with reference tables, evaluated row by row as look-ups.

Example: ``LivesIn(X, R) & Risky(R) -> Review(X)``. Suppose that each row has at most one fact about ``LivesIn``, that
no statement derives more, and that every support of the statement needs a known ``LivesIn`` atom. Then an instance of a
row and a region that the row does not name proposes nothing. So the statement is about the row alone, and ``Risky`` of
its region is one of the row's columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.relevance import SIDES
from lnnkit.analysis.supports import Send
from lnnkit.check.program import ENTITY
from lnnkit.formula.passes import upward
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.logic.bounds import Bounds
from lnnkit.rows.needed_statements import Needed


@dataclass(frozen=True, slots=True)
class Named:
    """The entity named by the row's fact about a ``predicate``."""

    predicate: str


NamedEntity = Named | str  # an entity that a row names, or that the program's text names


@dataclass(frozen=True, slots=True)
class AtomColumn:
    """A column: the atoms of a ``table`` with these ``places`` as arguments; without any, the atom of the row alone.
    With ``of_row``, it is a predicate of the row and one other entity: the bounds of the row's fact if that names
    the entity at the place, the default otherwise."""

    table: str
    places: tuple[NamedEntity, ...] = ()
    of_row: bool = False

    @property
    def name(self) -> str:
        """The column's name; it contains characters that no table name has, so names do not clash."""
        if not self.places:
            return self.table
        shown = ["its " + place.predicate if isinstance(place, Named) else repr(place) for place in self.places]
        return f"{self.table}({', '.join(shown)})"

    def is_looked_up(self, shared: Collection[str]) -> bool:
        """Whether it is filled from other tables or other facts of the row, so that no rule bounds it."""
        return bool(self.places) and self.table not in shared


@dataclass(frozen=True)
class Lookups:
    """What may be looked up. ``links`` are predicates with one fact for each row, each with the position of the row;
    the entities that their facts name are looked up. ``references`` are tables that no row moves. Those of them that
    are ``exact`` have a single truth for each atom: an instance that would narrow it cannot be satisfied, and proposes
    nothing."""

    sort: str
    links: Mapping[str, int] = field(default_factory=dict)
    references: frozenset[str] = frozenset()
    exact: frozenset[str] = frozenset()

    def is_about_rows(self, needs: Needed, formula: Formula) -> bool:
        """Whether a statement, or the definition of a shared neuron, is about rows at all, rather than reference tables
        alone."""
        if self.sort in formula.sorts or ENTITY in formula.sorts:
            return True
        read = {formula.neurons[leaf].source for leaf in formula.leaves}
        return not read or any({self.sort, ENTITY} & {*needs.lifted.graph.nodes[name]["sorts"]} for name in read)

    def columns(
        self, needs: Needed, formula: Formula, variables: Mapping[int, NamedEntity] | None = None
    ) -> LeafColumns | None:
        """The column of each leaf of a statement or a query, or of the definition of a shared neuron, whose
        ``variables`` other than the row are given; None if some instance is not about entities that the row names."""
        if len(formula.blocks) != 1 or any(neuron.kind == "same" for neuron in formula.neurons):
            return None
        rows = [place for place, sort in enumerate(formula.sorts) if sort in (self.sort, ENTITY)]
        if len(rows) != 1 or (ENTITY in formula.sorts and len(formula.sorts) > 1):
            return None
        if variables is None:
            variables = self._linked(needs, formula, rows[0])
        if variables is None or {*variables, rows[0]} != {*range(len(formula.sorts))}:
            return None
        columns: dict[int, AtomColumn] = {}
        for leaf in formula.leaves:
            atoms = self._atoms(needs, formula, leaf, rows[0], variables)
            if atoms is None:
                return None
            columns[leaf] = atoms
        if formula.auxiliary is not None:
            if rows[0] != 0:
                return None
            columns[AUXILIARY] = AtomColumn(formula.auxiliary, tuple(place for _, place in sorted(variables.items())))
        return LeafColumns(columns, rows[0])

    def _atoms(
        self, needs: Needed, formula: Formula, leaf: int, row: int, variables: Mapping[int, NamedEntity]
    ) -> AtomColumn | None:
        neuron = formula.neurons[leaf]
        places = [
            argument if isinstance(argument, str) else None if argument == row else variables[argument]
            for argument in neuron.arguments
        ]
        others = tuple(place for place in places if place is not None)
        row_place = self.links.get(neuron.source)
        if row_place is not None:
            if len(others) != 1 or places[row_place] is not None:
                return None
            return (
                AtomColumn(neuron.source)
                if others[0] == Named(neuron.source)
                else AtomColumn(neuron.source, others, of_row=True)
            )
        if len(others) == len(places):
            return AtomColumn(neuron.source, others) if neuron.source in self.references and others else None
        if others and (neuron.source not in needs.shared.unstated or places[0] is not None):
            return None
        return AtomColumn(neuron.source, others)

    def _linked(self, needs: Needed, formula: Formula, row: int) -> dict[int, NamedEntity] | None:
        """The place of each variable other than the row; None if an instance may propose something for entities that
        the row does not name."""
        linked: dict[int, NamedEntity] = {}
        for variable in range(len(formula.sorts)):
            if variable == row:
                continue
            leaf = next(
                (leaf for leaf in self._linking(formula, row, variable) if _decides(needs, formula, leaf)), None
            )
            if leaf is None:
                return None
            linked[variable] = Named(formula.neurons[leaf].source)
        return linked

    def _linking(self, formula: Formula, row: int, variable: int) -> Iterator[int]:
        for leaf in formula.leaves:
            neuron = formula.neurons[leaf]
            place = self.links.get(neuron.source)
            if place is None or leaf in formula.heads:
                continue
            if (neuron.arguments[place], neuron.arguments[1 - place]) == (row, variable):
                yield leaf


@dataclass(frozen=True, slots=True)
class LeafColumns:
    """The column of each leaf of a formula, including AUXILIARY; ``row`` is the variable of the row."""

    atoms: Mapping[int, AtomColumn]
    row: int

    @property
    def names(self) -> dict[int, str]:
        return {leaf: atoms.name for leaf, atoms in self.atoms.items()}


def _decides(needs: Needed, formula: Formula, leaf: int) -> bool:
    """Whether an instance proposes nothing relevant if a leaf is at its default."""
    if formula.heads and not _defines_nothing(needs, formula, leaf):
        return False
    analysis = needs.analyses.of(formula)
    reading = next((reading for reading in needs.readings if reading.formula is formula), None)
    if reading is None:
        return bool(formula.heads)

    def matters(send: Send) -> bool:
        return send.leaf not in formula.heads and bool(needs.relevance.mode(reading.table(send.leaf), send.side))

    return all(
        any(element.leaf == leaf for element in support)
        for send in analysis.sends
        if matters(send)
        for support in send.supports
        if needs.relevance.available(reading, support)
    )


def _defines_nothing(needs: Needed, formula: Formula, leaf: int) -> bool:
    """Whether a defining statement requires nothing of its heads if a closed leaf is false."""
    default = needs.schemas[formula.neurons[leaf].source].default
    if tuple(default) != (0.0, 0.0):
        return False

    def read(index: int) -> Bounds:
        neuron = formula.neurons[index]
        upper = 0.0 if index == leaf or neuron.kind == "false" else 1.0
        lower = 1.0 if neuron.kind == "true" else 0.0
        return Bounds(np.full((1,), lower, dtype=np.float64), np.full((1,), upper, dtype=np.float64))

    if any(neuron.numeric or neuron.arithmetic is not None for neuron in formula.neurons):
        return False
    values = upward(formula, read, (None,))
    antecedent = values[formula.neurons[formula.top].operands[0]]
    return antecedent.lower.item() == antecedent.upper.item() == 0.0


def lookups(
    needs: Needed, sort: str, sorts: Mapping[str, Sequence[str]], once: Mapping[str, int], exact: Collection[str]
) -> Lookups:
    """What rows of a ``sort`` may look up.

    ``sorts`` has the argument sorts of each predicate and number. ``once`` are predicates of a row and another entity,
    with the position of the row, that have exactly one fact for each row. ``exact`` are closed predicates that nothing
    derives and whose facts all have a single truth.
    """
    moved = _moved(needs) - {*exact}
    links = {
        name: place
        for name, place in once.items()
        if len(sorts[name]) == 2 and sorts[name][1 - place] not in (sort, ENTITY) and name not in moved
    }
    others = [name for name, kinds in sorts.items() if not {sort, ENTITY} & {*kinds} and name in needs.schemas]
    references = {name for name in others if name in exact or _is_still(needs, name)}
    return Lookups(sort, links, frozenset(references), frozenset(references & {*exact}))


def _moved(needs: Needed) -> set[str]:
    """The tables that some statement moves on a side that matters."""
    moved = {name for (name, _), mode in needs.relevance.kept.items() if mode}
    return moved | {name for names, _ in needs.strata for name in names}


def _is_still(needs: Needed, table: str) -> bool:
    """Whether the bounds read of a reference table are those of facts, or final."""
    derived = [side for side in SIDES if (table, side) in needs.relevance.derived]
    modes = [needs.relevance.mode(table, side) for side in derived]
    return table in needs.schemas and (all(modes) or not any(modes))


def is_derived(needs: Needed, table: str) -> bool:
    """Whether some statement moves a table."""
    return table in _moved(needs)
