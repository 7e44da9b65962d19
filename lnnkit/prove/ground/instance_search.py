"""Searches for the assignments under which a formula is not neutral.

A *guard* is an atom without which a formula is neutral: a rule is satisfied, a row of an ``exists`` is false, a row of
a ``forall`` true. So assignments are joined from the rows of guards that have few rows; only variables that no guard
binds range over their sorts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from lnnkit.explain.checker.ground_form import Free
from lnnkit.prove.ground.known_values import KnownValues
from lnnkit.prove.ground.parts import Part
from lnnkit.prove.ground.point_arithmetic import Box, connective_box

Neutral = Callable[[Box], bool]
Rows = Callable[[Part, Mapping[int, str]], Iterable[tuple[str, ...]] | None]
"""The rows of an atom's predicate, some places fixed, outside which the atom is false; None if there is no such set."""


def guards_of(part: Part, neutral: Neutral) -> tuple[Part, ...]:
    """The atoms and equalities of a formula that make it neutral where they are false."""
    found: list[Part] = []
    for leaf in _leaves(part):
        if leaf.variables <= part.variables and leaf.variables and neutral(_without(part, leaf)):
            found.append(leaf)
    return tuple(found)


def assignments(
    variables: Sequence[tuple[str, str]],
    bindings: Mapping[str, str],
    guards: Sequence[Part],
    rows: Rows,
    known: KnownValues,
) -> Iterator[dict[str, str]]:
    """All extensions of ``bindings`` to the other ``variables`` (names and sorts) that satisfy the guards."""
    todo = {name: sort for name, sort in variables if name not in bindings}
    return _search(todo, dict(bindings), tuple(guards), rows, known)


def unified(leaf: Part, entities: Sequence[str], variables: Mapping[str, str]) -> dict[str, str] | None:
    """The substitution of an atom's ``variables`` that gives it these entities; other variables match any entity."""
    found: dict[str, str] = {}
    for term, entity in zip(leaf.terms, entities, strict=True):
        if not isinstance(term, Free):
            if term != entity:
                return None
        elif term.name in variables and found.setdefault(term.name, entity) != entity:
            return None
    return found


def _search(
    todo: dict[str, str], bindings: dict[str, str], guards: tuple[Part, ...], rows: Rows, known: KnownValues
) -> Iterator[dict[str, str]]:
    if not todo:
        yield bindings
        return
    for place in sorted(range(len(guards)), key=lambda place: len(guards[place].variables & todo.keys())):
        guard = guards[place]
        if not guard.variables & todo.keys():
            continue
        found = _equal(guard, bindings) if guard.kind == "same" else rows(guard, _fixed(guard, bindings))
        if found is None:
            continue
        others = (*guards[:place], *guards[place + 1 :])
        for row in found:
            known.tick()
            bound = _bound(guard, row, todo, bindings, known)
            if bound is not None:
                rest = {name: sort for name, sort in todo.items() if name not in bound}
                yield from _search(rest, bound, others, rows, known)
        return
    name = min(todo, key=lambda each: known.count(todo[each]))
    rest = {each: sort for each, sort in todo.items() if each != name}
    for entity in known.members(todo[name]):
        known.tick()
        yield from _search(rest, bindings | {name: entity}, guards, rows, known)


def _bound(
    guard: Part, row: Sequence[str], todo: Mapping[str, str], bindings: Mapping[str, str], known: KnownValues
) -> dict[str, str] | None:
    found = dict(bindings)
    for term, entity in zip(guard.terms, row, strict=True):
        if isinstance(term, Free):
            if term.name in todo and not known.has(todo[term.name], entity):
                return None
            if found.setdefault(term.name, entity) != entity:
                return None
        elif term != entity:
            return None
    return found


def _fixed(guard: Part, bindings: Mapping[str, str]) -> dict[int, str]:
    found: dict[int, str] = {}
    for place, term in enumerate(guard.terms):
        if not isinstance(term, Free):
            found[place] = term
        elif term.name in bindings:
            found[place] = bindings[term.name]
    return found


def _equal(guard: Part, bindings: Mapping[str, str]) -> list[tuple[str, ...]] | None:
    sides = _fixed(guard, bindings)
    return None if not sides else [(next(iter(sides.values())),) * 2]


def _leaves(part: Part) -> Iterator[Part]:
    if part.kind in ("atom", "same"):
        yield part
    elif part.arithmetic is None:
        for operand in part.operands:
            yield from _leaves(operand)


def _without(part: Part, leaf: Part) -> Box:
    """The bounds of a formula in which one atom is false and all others are unknown."""
    if part is leaf:
        return 0.0, 0.0
    if part.kind in ("true", "false"):
        return (1.0, 1.0) if part.kind == "true" else (0.0, 0.0)
    if not part.operands or part.arithmetic is not None:
        return 0.0, 1.0
    boxes = [_without(operand, leaf) for operand in part.operands]
    if part.kind == "forall":
        return boxes[0][0], 1.0
    if part.kind == "exists":
        return 0.0, boxes[0][1]
    return connective_box(part.kind, part.name, part.weights, part.bias, boxes)
