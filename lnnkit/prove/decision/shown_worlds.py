"""Models of the solver as tables of atoms and numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import cast

from lnnkit.explain.proof.proof import ground_atom
from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.encoding.graded_encoding import GradedEncoding
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.ground_reading import GroundReading, Instance
from lnnkit.prove.ground.known_values import GroundAtom, KnownValues
from lnnkit.prove.ground.point_arithmetic import Box
from lnnkit.prove.solving import Z3, fraction
from lnnkit.prove.verdict import ShownWorld
from lnnkit.syntax.printer import format_expression

_EQUAL = 1e-9  # values closer than this, relative to them, are shown alike
_ALGEBRAIC = Fraction(1, 10**18)  # error of an irrational number that is rounded
_DIGITS = 12  # of a truth that is shown
_OF_QUESTION = 200  # atoms of the question that are shown


class BrokenWorld(Exception):
    """A model of the solver breaks a statement: a defect."""


def world_of(model: Z3, known: KnownValues, encoding: GradedEncoding) -> Callable[[GroundAtom], Box]:
    """The world of a model: its truths up to rounding, its numbers in fractions, where it has none the known bounds."""

    @cache
    def read(key: GroundAtom) -> Box:
        numeric = known.program.predicates[key[0]].numeric
        made = (encoding.arithmetic.numbers if numeric else encoding.atoms).get(key)
        if made is None:
            low, high = known.box(key)
            if numeric or low != high:
                return low, high
            return _around(low)
        value = model.eval(made, model_completion=True)
        if encoding.z3.is_bool(value):
            return (1.0, 1.0) if encoding.z3.is_true(value) else (0.0, 0.0)
        near = fraction(value)
        if not numeric:
            return _around(float(near))
        gap = _ALGEBRAIC if encoding.z3.is_algebraic_value(value) else 0
        return cast("Box", (near - gap, near + gap))

    return read


def checked_world(
    model: Z3,
    truth: float,
    ground: Ground,
    question: Question,
    encoding: GradedEncoding,
    near: Iterable[GroundAtom],
    instances: Iterable[Instance],
    reading: GroundReading | None = None,
) -> ShownWorld | None:
    """The truths of the question and of the atoms ``near`` it, likewise the numbers, once the ``instances`` are
    evaluated there, by a ``reading`` that has what the model lacks (default: known bounds). None if one may not hold
    because the encoding left something open. Raises `BrokenWorld`."""
    reading = reading or ground.reading
    read = world_of(model, reading.known, encoding)
    held = ((rule.stated.part, rule.bindings, (rule.stated.lower, rule.stated.upper)) for rule in instances)
    for part, bindings, bounds in ((question.part, {}, (truth, truth)), *held):
        if reading.apart(part, bindings, bounds, read, maybe=encoding.loose):
            if encoding.loose:
                return None
            raise BrokenWorld(f"a world for `{question.text}` breaks a statement")
    keys: dict[GroundAtom, None] = {}
    with suppress(TooWide):  # the time is over: those of them
        for key in itertools.islice(ground.reading.atoms(question.part, {}), _OF_QUESTION):
            keys[key] = None
    atoms: list[tuple[str, float]] = []
    numbers: list[tuple[str, float]] = []
    for key in keys | dict.fromkeys(near):
        text, (low, high) = format_expression(ground_atom(*key)), map(float, read(key))
        if not ground.program.predicates[key[0]].numeric:
            atoms.append((text, round((low + high) / 2, _DIGITS) if high - low < 3 * _EQUAL else low))
        elif low == high:
            numbers.append((text, low))
    return ShownWorld(truth, tuple(atoms), tuple(numbers))


def contrasted(worlds: Sequence[ShownWorld]) -> list[ShownWorld]:
    """Worlds from the one in which the question is truest, each with what differs between them first. An atom that only
    one of them shows is about unnamed individuals, and false in the others."""
    ordered = sorted(worlds, key=lambda world: -world.truth)
    columns = [
        _contrasted(column) for column in ([world.atoms for world in ordered], [world.numbers for world in ordered])
    ]
    return [ShownWorld(world.truth, *rows) for world, *rows in zip(ordered, *columns, strict=True)]


def _contrasted(tables: Sequence[Sequence[tuple[str, float]]]) -> list[tuple[tuple[str, float], ...]]:
    """Each table with the rows first whose values are not the same in all of them."""

    def apart(one: float, other: float) -> bool:
        return abs(one - other) > _EQUAL * max(1.0, abs(one), abs(other))

    values, rows = [*map(dict, tables)], itertools.chain.from_iterable(tables)
    differing = {text for text, value in rows if any(apart(value, other.get(text, 0.0)) for other in values)}
    return [tuple(sorted(table, key=lambda row: row[0] not in differing)) for table in tables]


def _around(truth: float) -> Box:
    """A truth with its rounding: in Goedel logic others jump where it meets one."""
    return (truth, truth) if truth in (0, 1) else (max(0.0, truth - _EQUAL), min(1.0, truth + _EQUAL))
