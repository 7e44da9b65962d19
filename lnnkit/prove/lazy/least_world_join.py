"""The instances of statements that the least world violates, by joins over whole columns.

In the least world every atom is as false as its inferred bounds allow. For each way to fail, the rows are joined from
its true atoms, and the statement is evaluated for all rows at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lnnkit.explain.checker.ground_form import Free
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.ground_reading import Instance
from lnnkit.prove.ground.known_values import KnownValues
from lnnkit.prove.ground.parts import Part, Stated
from lnnkit.prove.lazy.violation_ways import Way, ways

Columns = dict[str, np.ndarray]  # ids of entities, by variable name
_MOST_ROWS = 5_000_000  # greatest number of rows of a join


class LeastWorldJoin:
    """Joins over the least world of ``known``. Raises `TooWide` if a join has too many rows."""

    def __init__(self, known: KnownValues) -> None:
        self._known = known

    def suspects(self, stated: Stated, most: int) -> Iterator[Instance]:
        """A superset of the instances that fail in the least world. Raises `TooWide` if more than ``most`` fail in one
        way."""
        met: set[tuple[str, ...]] = set()
        names = [name for name, _ in stated.variables]
        for way in ways(stated):
            columns, length = self._joined(way)
            if not length:
                continue
            kept = self._failing(stated, columns, length)
            if (count := int(kept.sum())) > most:
                raise TooWide(f"{count:,} instances of `{stated.origin.text}` would have to be translated")
            rows = [self._known.names_of(columns[name][kept]) for name in names]
            for row in zip(*rows, strict=True) if names else ([()] if kept.any() else []):
                if row not in met:
                    met.add(row)
                    yield Instance(stated, dict(zip(names, row, strict=True)))

    # --- joins ------------------------------------------------------------------------------------------------------

    def _joined(self, way: Way) -> tuple[Columns, int]:
        """All rows of a way's variables for which its atoms are true."""
        columns: Columns = {}
        length = 1
        waiting: list[Columns] = []
        for atom in way.atoms:
            if not self._known.least_by_default(atom.name):
                continue
            rows = self._true_rows(atom)
            if rows is None:
                return {}, 0
            if rows:
                waiting.append(rows)
        while waiting:
            place = min(
                range(len(waiting)), key=lambda n: (not waiting[n].keys() & columns.keys(), _length(waiting[n]))
            )
            columns, length = self._join(columns, length, waiting.pop(place))
            if not length:
                return {}, 0
        for name, sort in way.variables:
            if name not in columns:
                columns, length = self._join(columns, length, {name: self._known.ids(sort)})
            else:
                kept = self._known.are(sort, columns[name])
                if not kept.all():
                    columns = {each: column[kept] for each, column in columns.items()}
                    length = int(kept.sum())
        return columns, length

    def _true_rows(self, atom: Part) -> Columns | None:
        """The true rows of an atom, by its variables; None if there are none."""
        columns = self._known.true_ids(atom.name)
        length = len(columns[0]) if columns else 0
        if not columns:
            return {} if self._known.box((atom.name, ()))[0] > 0 else None
        kept = np.ones(length, bool)
        found: Columns = {}
        for term, column in zip(atom.terms, columns, strict=True):
            if not isinstance(term, Free):
                kept &= column == self._known.id_of(term)
            elif term.name in found:
                kept &= column == found[term.name]
            else:
                found[term.name] = column
        if not kept.any():
            return None
        return {name: column[kept] for name, column in found.items()}

    def _join(self, one: Columns, length: int, other: Columns) -> tuple[Columns, int]:
        shared = sorted(one.keys() & other.keys())
        if not shared:
            count = _length(other)
            _checked(length * count)
            found = {name: np.repeat(column, count) for name, column in one.items()}
            return found | {name: np.tile(column, length) for name, column in other.items()}, length * count
        left, right = _codes([one[name] for name in shared], [other[name] for name in shared])
        order = np.argsort(right, kind="stable")
        ordered = right[order]
        low, high = np.searchsorted(ordered, left), np.searchsorted(ordered, left, "right")
        counts = high - low
        total = int(counts.sum())
        _checked(total)
        places = np.repeat(np.arange(length), counts)
        within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        picked = order[np.repeat(low, counts) + within]
        found = {name: column[places] for name, column in one.items()}
        return found | {name: column[picked] for name, column in other.items() if name not in found}, total

    # --- truth ------------------------------------------------------------------------------------------------------

    def _failing(self, stated: Stated, columns: Columns, length: int) -> np.ndarray:
        low, high = self._box(stated.part, columns, length)
        return ~((low >= stated.lower) & (high <= stated.upper))

    def _box(self, part: Part, columns: Mapping[str, np.ndarray], length: int) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of a formula in the least world, for each row. Quantifiers and comparisons are left unknown."""
        match part.kind:
            case "true" | "false":
                made = np.full(length, float(part.kind == "true"))
                return made, made
            case "atom":
                made = self._truths(part, columns, length)
                return made, made
            case "same":
                one, other = (self._column(term, columns, length) for term in part.terms)
                made = (one == other).astype(float)
                return made, made
            case "compare" | "forall" | "exists":
                return np.zeros(length), np.ones(length)
            case "not":
                low, high = self._box(part.operands[0], columns, length)
                return 1 - high, 1 - low
        boxes = [self._box(operand, columns, length) for operand in part.operands]
        return _connective(part.kind, boxes)

    def _truths(self, atom: Part, columns: Mapping[str, np.ndarray], length: int) -> np.ndarray:
        own = [self._column(term, columns, length) for term in atom.terms]
        if not own:
            return np.full(length, self._known.box((atom.name, ()))[0])
        return self._known.truths(atom.name, own, length)

    def _column(self, term: object, columns: Mapping[str, np.ndarray], length: int) -> np.ndarray:
        if isinstance(term, Free):
            return columns[term.name]
        return np.full(length, self._known.id_of(str(term)), np.int32)


def _connective(kind: str, x: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of a connective at truths of 0 and 1, over columns."""
    lows, highs = [low for low, _ in x], [high for _, high in x]
    match kind:
        case "and":
            return np.minimum.reduce(lows), np.minimum.reduce(highs)
        case "or":
            return np.maximum.reduce(lows), np.maximum.reduce(highs)
        case "implies":
            return np.maximum(1 - highs[0], lows[1]), np.maximum(1 - lows[0], highs[1])
    known = (lows[0] == highs[0]) & (lows[1] == highs[1])
    equal = ((lows[0] == lows[1]) == (kind == "iff")).astype(float)
    return np.where(known, equal, 0.0), np.where(known, equal, 1.0)


def _codes(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """An integer for each row, equal for rows with equal entities."""
    if len(left) == 1:
        return left[0], right[0]
    stacked = np.concatenate([np.stack(left, 1), np.stack(right, 1)])
    _, codes = np.unique(stacked, axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    return codes[: len(left[0])], codes[len(left[0]) :]


def _length(columns: Columns) -> int:
    return len(next(iter(columns.values())))


def _checked(rows: int) -> None:
    if rows > _MOST_ROWS:
        raise TooWide(f"a statement has {rows:,} instances to examine; at most {_MOST_ROWS:,} are examined")
