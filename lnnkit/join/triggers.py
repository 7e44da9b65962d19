"""The delta; triggers: the atoms whose moves cause a formula's needs to be joined again; and needs that are evaluated
as set operations when they are joined at first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.needs import Literal
from lnnkit.join import literal_join as joining
from lnnkit.join.bindings import NOTHING, Bindings, Known, Matched, Pattern
from lnnkit.join.literal_join import Joins, Path, Step
from lnnkit.store.relations import Relation, Relations
from lnnkit.store.row_arrays import Array, alike, spelled_out


class Delta:
    """The rows of each table whose lower (0) or upper (1) end moved in the last round."""

    __slots__ = ("_classes", "_rows")

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int], Array | range] = {}
        self._classes: dict[tuple[str, int], int | None] = {}

    def rows(self, table: str, side: int) -> Array | range | None:
        """The moved rows of a table; None if there are none."""
        return self._rows.get((table, side))

    def common_class(self, table: Relation, side: int, common: Callable[[Relation, Array], int | None]) -> int | None:
        """The class that all moved rows of a table have in ``common``; None where they have several."""
        where = table.name, side
        if where not in self._classes and where in self._rows:
            self._classes[where] = common(table, spelled_out(self._rows[where]))
        return self._classes.get(where)

    @property
    def where(self) -> Iterable[tuple[str, int]]:
        """The tables and sides on which anything moved."""
        return self._rows.keys()

    def add(self, table: Relation, side: int, rows: Array | range, common_class: int | None = None) -> None:
        """Add moved rows of one table, all of one class if it is given."""
        self._rows[table.name, side] = rows
        if common_class is not None:
            self._classes[table.name, side] = common_class


# Needs compared for what they find; 0 and 128 take 328 and 408 ms, noise (benchmarks/inference_constants.py)
_COMPARED = 32

Literals = joining.Literals


@dataclass(slots=True, eq=False)
class Trigger:
    """Joins ``rest``, for a need, onto the rows of ``pattern`` that moved on ``side``. ``literal`` is the need's own
    literal that they satisfy, if there is one: ``seen`` rows did so far. ``twin``: the trigger of the other side finds
    the same."""

    need: int
    pattern: Pattern
    side: int
    rest: Literals
    literal: Literal | None
    seen: int = 0
    twin: bool = False
    known: Known | None = None  # what its rows bind, and
    step: Step | None = None  # how to join the rest; both computed on first use
    path: Path | None = None  # the last path
    moving: Literal = field(init=False)  # the literal that lists its rows
    moved: tuple[Matched, int] = field(init=False)

    def __post_init__(self) -> None:
        atom = self.pattern.atom
        self.moving, self.moved = Literal(*atom, "lower" if self.side == 0 else "upper"), (atom, self.side)


def find_triggers(joins: Joins, needs: Sequence[Literals], reads: Mapping[tuple[Matched, int], None]) -> list[Trigger]:
    """The triggers of ``needs``: the atoms that are read, with the side that matters. If such an atom binds all
    variables, the instance is known without a join; of needs that find the same instances, one is joined."""
    triggers: list[Trigger] = []
    for atom, side in sorted(reads, key=lambda read: read[0][0]) if needs else ():
        literal, pattern = Literal(*atom, "lower" if side == 0 else "upper"), joins.pattern(atom)
        if set(joins.formula.blocks[0].variables) <= pattern.places.keys():
            need = next((number for number, need in enumerate(needs) if literal in need), None)
            triggers.append(Trigger(need or 0, pattern, side, (), None if need is None else literal))
            continue
        for number, literals in enumerate(needs):
            if not subsumed(joins.atoms, needs, number, literal):
                rest = tuple(other for other in literals if other != literal)
                triggers.append(Trigger(number, pattern, side, rest, literal if literal in literals else None))
    places = {(trigger.need, trigger.pattern, trigger.side): trigger for trigger in triggers}
    for trigger in triggers:
        other = places.get((trigger.need, trigger.pattern, 1 - trigger.side))
        if other is not None and trigger.literal is None:
            trigger.twin = other.literal is not None or trigger.side == 1
    return triggers


def subsumed(atoms: Relations, needs: Sequence[Literals], number: int, *trigger: Literal) -> bool:
    """Whether another need, joined from the same trigger if there is one, is known to find all instances of need
    ``number``."""
    if len(needs) > _COMPARED:
        return False
    literals = {*needs[number], *trigger}
    for other, others in enumerate(needs):
        wider = {*others, *trigger}
        if other != number and _imply(atoms, literals, wider):
            narrower = _imply(atoms, wider, literals)
            if not narrower or other < number:
                return True
    return False


def _imply(atoms: Relations, literals: Collection[Literal], others: Collection[Literal]) -> bool:
    """Whether ``others`` are satisfied wherever ``literals`` are."""
    return all(other in literals or any(_implies(atoms, one, other) for one in literals) for other in others)


def _implies(atoms: Relations, one: Literal, other: Literal) -> bool:
    """Whether every row of ``one`` is a row of ``other``, at any time."""
    if one[:2] != other[:2]:
        return False
    if other.column == "either":
        return one.column in ("lower", "upper")
    if one.column not in ("listed", "given") or other.column not in ("lower", "upper"):
        return (one.column, other.column) == ("given", "listed")
    table = atoms.tables[one.table]
    rows, others = (table.listing(literal.column) for literal in (one, other))
    if len(others) < len(rows) or len(others) == len(table.tuples):
        return len(others) >= len(rows)
    return bool(table.flags(other.column).take(rows.values).all())


_PART = 4  # chunks: where tables are aligned, assignments take no memory of their own


def at_once(joins: Joins, needs: Sequence[Literals]) -> Iterator[Bindings] | None:
    """The assignments of all needs, without repetition; None where the needs must be joined one by one."""
    listing = [joining.listing(need) for need in needs]
    literals = list(dict.fromkeys(literal for need in listing for literal in need))
    if any(len(one) < len(other) for one, other in zip(listing, needs, strict=True)):
        return None
    variables = joins.formula.blocks[0].variables
    if not variables and needs:
        return iter([Bindings(1, NOTHING)] if any(map(joins.may_hold, needs)) else [])
    if not literals or not all(needs):
        return None
    if len({literal.arguments for literal in literals}) > 1 or set(literals[0].arguments) != set(variables):
        return None
    if not all(joins.pattern(literal.atom).plain for literal in literals):
        return None
    tables = [joins.atoms.tables[literal.table] for literal in literals]
    base = max(tables, key=lambda table: len(table.tuples))
    among = _places(tables, base)
    return None if among is None else _aligned(joins, listing, literals, base, among)


def _places(tables: Sequence[Relation], base: Relation) -> Mapping[str, Array] | None:
    """The positions of the tables' tuples in the largest table, the ``base``; tables with the same tuples have no
    entry. None if a table has tuples that the largest one lacks."""
    among: dict[str, Array] = {}
    for table in tables:
        count = len(table.tuples)
        if table.name in among or (
            count == len(base.tuples) and all(map(alike, table.tuples.columns, base.tuples.columns))
        ):
            continue
        place = base.tuples.find(table.tuples.columns, count)
        if count and int(place.min()) < 0:
            return None
        among[table.name] = place
    return among


def _any_need(joins: Joins, needs: Sequence[tuple[Literal, ...]], flags: Mapping[Literal, Array]) -> Array:
    """Flags of where all literals of some need are satisfied."""
    satisfied = np.zeros_like(next(iter(flags.values())))
    for number, need in enumerate(needs):
        if joins.may_hold(need):
            every, path = flags[need[0]].copy(), joins.begun(Path(number), (), need[0], joins.length(need[0]))
            for literal in need[1:]:
                every &= flags[literal]
                path = joins.stepped(path, literal, int(np.count_nonzero(every)))
            satisfied |= every
    return satisfied


def _aligned(
    joins: Joins,
    needs: Sequence[tuple[Literal, ...]],
    literals: Sequence[Literal],
    base: Relation,
    among: Mapping[str, Array],
) -> Iterator[Bindings]:
    """The tuples of the largest table, the ``base``, that any need lists."""
    satisfied = _any_need(joins, needs, {literal: _flags(joins, literal, base, among) for literal in literals})
    joins.counted(Path(0), int(satisfied.sum()))
    arguments = literals[0].arguments
    atoms: set[Matched] = {(literal.table, arguments) for literal in literals}
    matched = frozenset(atom for atom in atoms if atom[0] not in among)
    listed = frozenset(a for a in matched if all(a in {e.atom for e in need} for need in needs))
    columns = base.tuples.columns
    variables = {int(argument): place for place, argument in enumerate(arguments)}
    known = Known(frozenset(variables), matched, listed)
    for rows in _parts(satisfied):
        part = Bindings(len(rows), known, None, variables, columns, rows, matched)
        part.distinct = True
        yield part


def _flags(joins: Joins, literal: Literal, base: Relation, among: Mapping[str, Array]) -> Array:
    """Flags of the tuples of the base that satisfy a literal."""
    table = joins.atoms.tables[literal.table]
    place = among.get(table.name)
    if place is not None:
        there = np.zeros(len(base.tuples), dtype=bool)
        there[place.take(joins.listing(literal))] = True
        return there
    return table.flags(literal.column).values[: len(table)]


def _parts(flags: Array) -> Iterator[Array | range]:
    """The positions of set flags, a part at a time."""
    part = _PART * joining.CHUNK
    if flags.all():
        count = len(flags)
        yield from (range(start, min(start + part, count)) for start in range(0, count, part))
        return
    rows = np.flatnonzero(flags).astype(np.int32)
    yield from (rows[start : start + part] for start in range(0, len(rows), part))
