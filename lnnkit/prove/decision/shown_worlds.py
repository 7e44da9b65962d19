"""Models of the solver as tables of atoms and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from lnnkit.explain.provenance.fact_sources import ground_atom
from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.encoding.arithmetic_encoding import ArithmeticEncoding
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.known_values import Key
from lnnkit.prove.ground.parts import Assignment, Part
from lnnkit.prove.solving import Z3, fraction
from lnnkit.prove.verdict.verdicts import ShownWorld
from lnnkit.syntax.printer import format_expression

_EQUAL = 1e-9  # values closer than this, relative to them, are shown alike
_OF_QUESTION = 200  # settled atoms of the question that are shown


class _Encoding(Protocol):
    atoms: dict[Key, Z3]
    arithmetic: ArithmeticEncoding


def shown_world(
    z3: Z3,
    model: Z3,
    truth: float,
    ground: Ground,
    question: Question,
    encoding: _Encoding,
    near: Sequence[Key],
) -> ShownWorld:
    """The truths of the question and of the atoms ``near`` it; likewise the numbers."""
    asked: dict[Key, None] = {}
    with suppress(TooWide):  # the time is over: those of them
        for key in _keys(question.part, question.bindings, ground):
            asked[key] = None
    atoms: dict[Key, float] = {}
    numbers: dict[Key, float] = {}
    for key in [*asked, *near]:
        if ground.program.predicates[key[0]].numeric:
            low, high = ground.known.box(key)
            made = encoding.arithmetic.numbers.get(key)
            if made is not None:
                numbers[key] = float(fraction(model.eval(made, model_completion=True)))
            elif low == high:
                numbers[key] = low
        elif key not in atoms:
            made = encoding.atoms.get(key)
            atoms[key] = ground.known.box(key)[0] if made is None else _truth(z3, model, made)
    return ShownWorld(truth, _texts(atoms), _texts(numbers))


def contrasted(worlds: Sequence[ShownWorld]) -> list[ShownWorld]:
    """Worlds from the one in which the question is truest, each with what differs between them first. An atom that only
    one of them shows is about unnamed individuals, and false in the others."""
    ordered = sorted(worlds, key=lambda world: -world.truth)
    atoms = _differing([dict(world.atoms) for world in ordered])
    numbers = _differing([dict(world.numbers) for world in ordered])
    return [ShownWorld(world.truth, _first(atoms, world.atoms), _first(numbers, world.numbers)) for world in ordered]


def _differing(tables: Sequence[Mapping[str, float]]) -> set[str]:
    """The keys whose values are not the same in all tables."""
    return {
        text
        for table in tables
        for text, value in table.items()
        if any(_apart(value, other.get(text, 0.0)) for other in tables)
    }


def _apart(one: float, other: float) -> bool:
    return abs(one - other) > _EQUAL * max(1.0, abs(one), abs(other))


def _first(chosen: set[str], rows: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """The rows, those of the chosen keys before the others."""
    return tuple(sorted(rows, key=lambda row: row[0] not in chosen))


def key_text(key: Key) -> str:
    """The text of an atom or a number in the language's syntax."""
    return format_expression(ground_atom(*key))


def _texts(values: Mapping[Key, float]) -> tuple[tuple[str, float], ...]:
    return tuple((key_text(key), value) for key, value in values.items())


def _truth(z3: Z3, model: Z3, made: Z3) -> float:
    found = model.eval(made, model_completion=True)
    return float(bool(z3.is_true(found))) if z3.is_bool(made) else float(fraction(found))


def _keys(part: Part, bindings: Assignment, ground: Ground) -> Iterator[Key]:
    """The atoms of a question, up to a limit."""
    stack: list[tuple[Part, Assignment]] = [(part, bindings)]
    count = 0
    while stack and count < _OF_QUESTION:
        each, bound = stack.pop()
        if each.kind == "atom":
            key = ground.reading.key(each, bound)
            if key is not None:
                count += 1
                yield key
        elif each.kind in ("forall", "exists"):
            for row in ground.reading.rows(each, bound):
                stack.append((each.operands[0], row))
                if len(stack) > _OF_QUESTION:
                    break
        else:
            stack.extend((operand, bound) for operand in reversed(each.operands))
