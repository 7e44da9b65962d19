"""Partial results of a join: how atoms bind the variables of a formula, the entities bound, and the atoms matched.
Columns are materialised on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.check.program import ENTITY
from lnnkit.formula.unfolding import Formula
from lnnkit.store.layout import Domain
from lnnkit.store.relations import Relation
from lnnkit.store.row_arrays import Array, spelled_out, taken


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The arguments of an atom over ``table``. ``places`` gives each variable the column that binds it; ``constants``
    are (column, entity id), ``repeats`` (column, column) that must be equal, ``narrowed`` (column, the variable's sort,
    to which not all of the column belong)."""

    table: Relation
    arguments: tuple[int | str, ...]
    places: Mapping[int, int]
    constants: tuple[tuple[int, int], ...]
    repeats: tuple[tuple[int, int], ...]
    narrowed: tuple[tuple[int, str], ...]
    domain: Domain
    plain: bool = field(init=False)  # whether every row of the table matches
    atom: tuple[str, tuple[int | str, ...]] = field(init=False)  # the table's name and the arguments

    def __post_init__(self) -> None:
        object.__setattr__(self, "plain", not (self.constants or self.repeats or self.narrowed))
        object.__setattr__(self, "atom", (self.table.name, self.arguments))

    @property
    def members(self) -> list[Array]:
        """For each narrowed column the flags of the ids that the variable's sort has; others once it changes."""
        return [self.domain.member_flags(sort) for _, sort in self.narrowed]

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
        for (place, _), inside in zip(self.narrowed, self.members, strict=True):
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


def pattern(table: Relation, arguments: tuple[int | str, ...], formula: Formula, domain: Domain) -> Pattern:
    """The pattern of an atom of ``formula``. A variable of a narrower sort than its position binds only ids of that
    sort."""
    places: dict[int, int] = {}
    constants: list[tuple[int, int]] = []
    repeats: list[tuple[int, int]] = []
    narrowed: list[tuple[int, str]] = []
    for place, (argument, sort) in enumerate(zip(arguments, table.sorts, strict=True)):
        if isinstance(argument, str):
            constants.append((place, domain.index[argument]))
            continue
        if argument in places:
            repeats.append((places[argument], place))
        else:
            places[argument] = place
        if formula.sorts[argument] not in (sort, ENTITY):
            narrowed.append((place, formula.sorts[argument]))
    return Pattern(table, arguments, places, tuple(constants), tuple(repeats), tuple(narrowed), domain)


Matched = tuple[str, tuple[int | str, ...]]  # a table's name and an atom's arguments


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The variables bound and the atoms ``matched`` after a step of a join; equal for all its results. ``listed`` are
    the matched atoms that were found in a list of their table."""

    variables: frozenset[int] = frozenset()
    matched: frozenset[Matched] = frozenset()
    listed: frozenset[Matched] = frozenset()

    def bind(self, variables: frozenset[int]) -> Known:
        """With these variables bound too."""
        return Known(self.variables | variables, self.matched, self.listed)

    def match(self, atom: Matched, variables: frozenset[int]) -> Known:
        """With an atom from a list matched, and its variables bound."""
        return Known(self.variables | variables, self.matched | {atom}, self.listed | {atom})


NOTHING = Known()
NOWHERE: Mapping[int, int] = {}


class Bindings:
    """``length`` assignments. Each layer holds the variables that were bound last; ``under`` is the layer beneath, with
    the others, and ``via`` maps the assignments of this layer, in order, to those of that one.

    A layer has ``columns`` of entity ids, or reads variables from the atoms ``matched`` last: ``rows`` are these atoms'
    rows in their table, whose columns are ``sources``, and ``places`` has the column of each variable. ``column(v)``
    gives (length,) entity ids of a variable, ``local(m)`` the rows of a matched atom in its table.
    """

    __slots__ = (
        "_at",
        "_columns",
        "_places",
        "_rows",
        "_sources",
        "_under",
        "_via",
        "distinct",
        "known",
        "length",
        "moved",
    )

    def __init__(
        self,
        length: int,
        known: Known,
        columns: dict[int, Array] | None = None,
        places: Mapping[int, int] = NOWHERE,
        sources: Sequence[Array] = (),
        rows: Array | range | None = None,
        matched: Iterable[Matched] = (),
        under: Bindings | None = None,
        via: Array | range | None = None,
    ) -> None:
        self.length = length
        self.known = known
        self.moved: tuple[Matched, int] | None = None  # an atom all of whose rows moved on a side in the last round
        self.distinct = False  # whether no two assignments are equal, as far as is known
        self._columns: dict[int, Array] = {} if columns is None else columns
        self._places = places
        self._sources = sources
        self._at = rows
        self._rows: dict[Matched, Array | range] = {} if rows is None else dict.fromkeys(matched, rows)
        self._under = under
        self._via = via  # None: the assignments are the same

    def column(self, variable: int) -> Array:
        """The ids of a bound variable."""
        ids = self._columns.get(variable)
        if ids is None:
            place = self._places.get(variable)
            if place is not None:
                source, at = self._sources[place], self._at
                assert at is not None
                ids = source[at.start : at.stop] if isinstance(at, range) else source.take(at)
            else:
                assert self._under is not None
                ids = taken(self._under.column(variable), self._via)
            self._columns[variable] = ids
        return ids

    def local(self, matched: Matched) -> Array:
        """The rows of a matched atom in its table."""
        return spelled_out(self._local(matched))

    def rows(self, matched: Matched, positions: Array | range | None = None) -> Array | range:
        """The rows of a matched atom in its table, at some positions (None: all)."""
        rows = self._rows.get(matched)
        if rows is not None:
            return taken(rows, positions)
        assert self._under is not None
        if self._via is not None:
            positions = self._via if positions is None else taken(self._via, positions)
        return self._under.rows(matched, positions)

    def _local(self, matched: Matched) -> Array | range:
        rows = self._rows.get(matched)
        if rows is None:
            assert self._under is not None
            rows = self._rows[matched] = taken(self._under._local(matched), self._via)
        return rows

    def once(self, matched: Matched) -> tuple[Array | range, Array | None]:
        """The rows of a matched atom in its table with fewer repetitions than in ``local``, and the positions among
        them that make it (None: all of them)."""
        under = self._under
        if (
            matched in self._rows
            or under is None
            or under.length >= self.length
            or not isinstance(self._via, np.ndarray)
        ):
            return self._local(matched), None
        return under._local(matched), self._via

    def at(self, positions: Array) -> Bindings:
        """The assignments at these positions."""
        return Bindings(len(positions), self.known, under=self, via=positions)

    def slice(self, start: int, stop: int) -> Bindings:
        """The assignments from ``start`` to ``stop``."""
        if (start, stop) == (0, self.length):
            return self
        return Bindings(stop - start, self.known, under=self, via=range(start, stop))
