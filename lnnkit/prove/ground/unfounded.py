"""Unfounded sets: completed atoms that only support each other, which a least fixpoint excludes.

A model of the completion may contain such a set, as in ``reach(X, Y) <- reach(Y, X)``. For each one that a model shows,
its loop formula is added: an atom of the set needs a rule whose antecedent contains none of them (Lin and Zhao 2004,
"ASSAT").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lnnkit.prove.ground.dependency_cone import Definition
from lnnkit.prove.ground.ground_reading import GroundReading, Instance
from lnnkit.prove.ground.known_values import Key
from lnnkit.prove.ground.parts import Part
from lnnkit.prove.ground.point_arithmetic import Box


@dataclass(frozen=True, slots=True)
class Loop:
    """Completed ``atoms`` of which one can be true only if the antecedent of one of the ``supports`` is."""

    atoms: frozenset[Key]
    supports: tuple[Instance, ...]


def loop_of(atoms: frozenset[Key], definitions: Mapping[Key, Definition], reading: GroundReading) -> Loop:
    """The loop formula of completed atoms that only support each other."""
    supports = [rule for key in sorted(atoms) for rule in _external(definitions[key], atoms, reading)]
    return Loop(atoms, tuple(dict.fromkeys(supports)))


def unfounded(
    definitions: Mapping[Key, Definition], reading: GroundReading, world: Callable[[Key], Box]
) -> frozenset[Key]:
    """The completed atoms that are true in a ``world`` without well-founded support from rules."""
    suspects = {key for key in definitions if world(key)[0] > 0}
    founded: set[Key] = set()

    def read(key: Key) -> Box:
        return (0.0, 0.0) if key in suspects - founded else world(key)

    grown = True
    while grown and suspects - founded:
        grown = False
        for key in suspects - founded:
            rules = definitions[key].rules
            if any(reading.box(antecedent(each), each.bindings, read)[0] >= 1 for each, _ in rules):
                founded.add(key)
                grown = True
    return frozenset(suspects - founded)


def _external(definition: Definition, within: frozenset[Key], reading: GroundReading) -> Iterable[Instance]:
    """The rules of a completed atom whose antecedents read no atom of the set ``within``."""
    for instance, _ in definition.rules:
        if not any(key in within for key in reading.atoms(antecedent(instance), instance.bindings)):
            yield instance


def antecedent(instance: Instance) -> Part:
    """The antecedent of a rule instance."""
    return instance.stated.part.operands[0]
