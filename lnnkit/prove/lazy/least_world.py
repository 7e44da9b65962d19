"""The instances of statements that the least world violates.

In the least world every atom is as false as its inferred bounds allow. The ways in which a statement can fail are
conjunctions of literals: their positive ones are joined, and the statement is evaluated for all rows at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.needs import Literal
from lnnkit.arrays import Array
from lnnkit.explain.checker.ground_form import Free
from lnnkit.formula.unfolding import Block, Formula
from lnnkit.join.literal_join import Joins, Path
from lnnkit.logic import logic_named
from lnnkit.logic.bounds import Bounds
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.ground_reading import Instance
from lnnkit.prove.ground.known_values import KnownValues
from lnnkit.prove.ground.parts import BoundedStatement, Part
from lnnkit.syntax import ast

_MOST = 64  # ways; a statement with more is searched as a whole
_MOST_ROWS = 5_000_000  # greatest number of rows of a join
VariableColumns = Mapping[str, Array]  # ids of entities, by variable name


class FailingWay(NamedTuple):
    """Atoms that are true if a statement fails in this way. ``variables`` (names and sorts) are those of the statement
    and of the quantifiers that need a row."""

    atoms: tuple[Part, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def ways(stated: BoundedStatement) -> list[FailingWay]:
    """The ways in which a statement can fail in a world where every atom is true or false. A statement that demands an
    intermediate truth fails everywhere."""
    never = stated.lower > 0 and stated.upper < 1
    failing = [FailingWay()] if never else _ways(stated.part, wanted=stated.lower <= 0)
    if len(failing) > _MOST:
        failing = [FailingWay()]
    return [FailingWay(way.atoms, (*stated.variables, *way.variables)) for way in dict.fromkeys(failing)]


def _ways(part: Part, *, wanted: bool) -> list[FailingWay]:
    """The ways in which a formula has the truth ``wanted``; if they are too many, more than `_MOST` of them."""
    if part.bound:
        if wanted == part.least:
            return [FailingWay()]
        inner = _ways(part.operands[0], wanted=wanted)
        return [FailingWay(way.atoms, (*way.variables, *part.bound)) for way in inner]
    match part.kind:
        case "true" | "false":
            return [FailingWay()] if wanted == (part.kind == "true") else []
        case "atom":
            return [FailingWay((part,) if wanted else ())]
        case "same" | "compare":
            return [FailingWay()]
        case "not":
            return _ways(part.operands[0], wanted=not wanted)
        case "and" | "or":
            options = [_ways(operand, wanted=wanted) for operand in part.operands]
            return _first(itertools.chain(*options)) if wanted == (part.kind == "or") else _together(*options)
        case "implies":
            sides = [_ways(operand, wanted=wanted == bool(place)) for place, operand in enumerate(part.operands)]
            return _first(itertools.chain(*sides)) if wanted else _together(*sides)
    one, other = ([_ways(operand, wanted=truth) for truth in (False, True)] for operand in part.operands)
    alike = wanted == (part.kind == "iff")
    return _first([*_together(one[False], other[not alike]), *_together(one[True], other[alike])])


def _together(*options: Sequence[FailingWay]) -> list[FailingWay]:
    """A way of each, in all combinations."""
    chosen = itertools.product(*options)
    return _first(FailingWay(*(tuple(itertools.chain(*part)) for part in zip(*ways, strict=True))) for ways in chosen)


def _first(ways: Iterable[FailingWay]) -> list[FailingWay]:
    return list(itertools.islice(ways, _MOST + 1))


def suspects(known: KnownValues, stated: BoundedStatement, most: int) -> Iterator[Instance]:
    """A superset of the instances that fail in the least world of ``known``. Raises `TooWide` if more than ``most``
    fail in one way, or if a join has too many rows."""
    met: set[tuple[str, ...]] = set()
    names = [name for name, _ in stated.variables]
    for way in ways(stated):
        count = 0
        for columns, length in _joined(known, way, len(names)):
            low, high = _box(known, stated.part, columns, length)
            kept = np.flatnonzero(~((low >= stated.lower) & (high <= stated.upper)))
            count += len(kept)
            if count > most:
                raise TooWide(f"{count:,} instances of `{stated.origin.text}` would have to be translated")
            rows = [known.names_of(columns[name][kept]) for name in names]
            for row in zip(*rows, strict=True) if names else [()] * len(kept):
                if row not in met:
                    met.add(row)
                    yield Instance(stated, dict(zip(names, row, strict=True)))


def _joined(known: KnownValues, way: FailingWay, count: int) -> Iterator[tuple[VariableColumns, int]]:
    """The values of a way's first ``count`` variables, those of its statement, for which its atoms are true."""
    numbers = {name: number for number, (name, _) in enumerate(way.variables)}
    literals: list[Literal] = []
    for atom in way.atoms:
        if known.atoms.tables[atom.name].default[0] > 0:
            continue
        if atom.terms:
            arguments = tuple(numbers[term.name] if isinstance(term, Free) else term for term in atom.terms)
            literals.append(Literal(atom.name, arguments, "lower"))
        elif known.box((atom.name, ()))[0] <= 0:
            return
    wanted = tuple(range(count))
    formula = Formula((), (Block(-1, wanted, ()),), tuple(sort for _, sort in way.variables), 0.0, 1.0)
    joins = Joins(formula, known.atoms, known.domain, _checked, -1, None)
    for part in joins.whole(tuple(dict.fromkeys(literals)), Path(0)):
        yield {name: part.column(number) for name, number in numbers.items() if number < count}, part.length


def _checked(_formula: Formula, rows: int) -> None:
    if rows > _MOST_ROWS:
        raise TooWide(f"a statement has {rows:,} instances to examine; at most {_MOST_ROWS:,} are examined")


def _box(known: KnownValues, part: Part, columns: VariableColumns, length: int) -> Bounds:
    """Bounds of a formula in the least world, for each row. Quantifiers and comparisons are left unknown."""
    match part.kind:
        case "true" | "false":
            truths = np.full(length, float(part.kind == "true"))
        case "atom":
            terms = [_column(known, term, columns, length) for term in part.terms]
            truths = known.true_in_all(part.name, terms, length)
        case "same":
            one, other = (_column(known, term, columns, length) for term in part.terms)
            truths = (one == other).astype(float)
        case _ if part.bound or part.arithmetic is not None:
            return Bounds(np.zeros(length), np.ones(length))
        case kind:
            operands = [_box(known, operand, columns, length) for operand in part.operands]
            negated = {"not": "and", "xor": "iff"}.get(kind)
            low, high = logic_named(ast.LATTICE_LOGIC).up(negated or kind, operands, (1.0,) * len(operands), 1.0)
            return Bounds(1 - high, 1 - low) if negated else Bounds(low, high)
    return Bounds(truths, truths)


def _column(known: KnownValues, term: object, columns: VariableColumns, length: int) -> Array:
    if isinstance(term, Free):
        return columns[term.name]
    return np.full(length, known.domain.index[str(term)], np.int32)
