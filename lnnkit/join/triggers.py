"""Triggers: the atoms whose moves cause a formula's needs to be joined again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from lnnkit.analysis.needs import Literal
from lnnkit.join.bindings import Known, Matched
from lnnkit.join.literal_join import Joins, Path, Step
from lnnkit.join.pattern import Pattern
from lnnkit.store.atoms import Atoms

_COMPARED = (
    32  # needs compared for what they find; 0 and 128 take 328 and 408 ms, noise (benchmarks/inference_constants.py)
)

Literals = tuple[Literal, ...]


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
        atom = (self.pattern.table.name, self.pattern.arguments)
        self.moving, self.moved = Literal(*atom, "lower" if self.side == 0 else "upper"), (atom, self.side)


def find_triggers(joins: Joins, needs: Sequence[Literals], reads: Mapping[tuple[Matched, int], None]) -> list[Trigger]:
    """The triggers of ``needs``: the atoms that are read, with the side that matters. If such an atom binds all
    variables, the instance is known without a join; of needs that find the same instances, one is joined."""
    found: list[Trigger] = []
    for atom, side in sorted(reads, key=lambda read: read[0][0]) if needs else ():
        own, pattern = Literal(*atom, "lower" if side == 0 else "upper"), joins.pattern(atom)
        if set(joins.formula.blocks[0].variables) <= pattern.places.keys():
            need = next((number for number, need in enumerate(needs) if own in need), None)
            found.append(Trigger(need or 0, pattern, side, (), None if need is None else own))
            continue
        for number, literals in enumerate(needs):
            if not found_anyway(joins.atoms, needs, number, own):
                rest = tuple(each for each in literals if each != own)
                found.append(Trigger(number, pattern, side, rest, own if own in literals else None))
    places = {(each.need, each.pattern, each.side): each for each in found}
    for each in found:
        other = places.get((each.need, each.pattern, 1 - each.side))
        if other is not None and each.literal is None:
            each.twin = other.literal is not None or each.side == 1
    return found


def found_anyway(atoms: Atoms, needs: Sequence[Literals], number: int, *trigger: Literal) -> bool:
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


def _imply(atoms: Atoms, some: Collection[Literal], others: Collection[Literal]) -> bool:
    """Whether ``others`` are satisfied wherever ``some`` are."""
    return all(each in some or any(_implies(atoms, one, each) for one in some) for each in others)


def _implies(atoms: Atoms, one: Literal, other: Literal) -> bool:
    """Whether every row of ``one`` is a row of ``other``, at any time."""
    if (one.table, one.arguments) != (other.table, other.arguments):
        return False
    if other.column == "either":
        return one.column in ("lower", "upper")
    if one.column not in ("listed", "given") or other.column not in ("lower", "upper"):
        return (one.column, other.column) == ("given", "listed")
    table = atoms.tables[one.table]
    some, others = (atoms.listing(table, each.column) for each in (one, other))
    if len(others) < len(some) or len(others) == len(table.tuples):
        return len(others) >= len(some)
    return bool(atoms.flags(other.column).take(table.row(some.values)).all())
