"""The dependency cone: the instances on which a question can depend, followed from atom to atom; and unfounded sets:
completed atoms that only support each other, which a least fixpoint excludes.

A model of the completion may contain such a set, as in ``reach(X, Y) <- reach(Y, X)``. For each one that a model shows,
its loop formula is added: an atom of the set needs a rule whose antecedent holds without them (Lin and Zhao 2004,
"ASSAT").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lnnkit.prove.ground.ground_reading import SLACK, GroundAtom, GroundReading
from lnnkit.prove.ground.parts import Assignment, Instance, Part, StatementIndex
from lnnkit.prove.rational_terms import Box
from lnnkit.time_limit import check_time

_TOLD = 1000  # progress is reported each time after this many instances


@dataclass(slots=True, eq=False)
class Definition:
    """The definition of a completed atom: instances of its ``rules``."""

    key: GroundAtom
    rules: list[Instance]


class TooWide(Exception):
    """The cone has more instances than allowed."""


@dataclass
class Cone:
    """``instances``, and the unsettled ``atoms`` and numbers that they and the question read: so many of these are
    ``near`` the question. ``definitions`` are those of completed atoms. ``seen`` instances include satisfied ones."""

    reading: GroundReading
    index: StatementIndex
    limit: int
    tell: Callable[[int, int], None] | None = None  # is told how many instances and atoms there are
    most_atoms: int | None = None
    instances: list[Instance] = field(default_factory=list)
    definitions: dict[GroundAtom, Definition] = field(default_factory=dict)
    atoms: dict[GroundAtom, None] = field(default_factory=dict)
    near: int = 0
    seen: set[Instance] = field(default_factory=set)
    _waiting: list[GroundAtom] = field(default_factory=list)

    @property
    def items(self) -> list[Instance | Definition]:
        """The instances and definitions."""
        return [*self.instances, *self.definitions.values()]

    def grow(self, part: Part, *, whole: bool = False) -> None:
        """Add all on which a formula depends, if ``whole`` all of the program. Raises `TooWide`."""
        self._wait(part, {})
        self._finish()
        self.near = len(self.atoms)
        for stated in self.index.every() if whole else ():
            for instance in self.reading.instances(stated, {}):
                self.add(instance)
        self._finish()

    def _finish(self) -> None:
        while self._waiting:
            key = self._waiting.pop()
            for instance in self.reading.touching(key, self.index.mentioning(key[0])):
                self.add(instance)
                if self.tell is not None and len(self.seen) % _TOLD == 0:
                    self.tell(len(self.instances), len(self.atoms))

    def add(self, instance: Instance) -> None:
        """Add an instance, unless it is present already or satisfied at known bounds."""
        if instance in self.seen:
            return
        self._count(instance)
        check_time()
        for head in self.index.defined(instance.stated):  # its antecedent determines it, even if it is settled
            key = self.reading.key(head, instance.bindings)
            if key is not None and key not in self.definitions and self.reading.completed(key):
                low, high = self.reading.truth(instance.antecedent, instance.bindings)
                if high - low > SLACK:
                    self._define(key)
        if not self.reading.satisfied(instance):
            self.instances.append(instance)
            self._wait(instance.stated.part, instance.bindings)

    def take(self, instance: Instance) -> None:
        """Add an instance without what depends on it. Raises `TooWide`."""
        self._count(instance)
        self.instances.append(instance)

    def _count(self, instance: Instance) -> None:
        self.seen.add(instance)
        if len(self.seen) > self.limit:
            raise TooWide

    def _wait(self, part: Part, bindings: Assignment) -> None:
        """Follow the unsettled atoms and numbers of a formula on which its truth can depend."""
        for key in self.reading.atoms(part, bindings, unsettled=True):
            if key in self.atoms:
                continue
            self.atoms[key] = None
            if self.most_atoms is not None and len(self.atoms) > self.most_atoms:
                raise TooWide
            self._waiting.append(key)
            if self.reading.completed(key):
                self._define(key)

    def _define(self, key: GroundAtom) -> None:
        self.definitions[key] = definition = definition_of(key, self.index, self.reading)
        for instance in definition.rules:
            self._wait(instance.stated.part, instance.bindings)


def definition_of(key: GroundAtom, index: StatementIndex, reading: GroundReading) -> Definition:
    """The definition of a completed atom: the rules that may make it true."""
    rules = dict.fromkeys(
        instance
        for stated, head in index.defining(key[0])
        for instance in reading.touching(key, [stated])
        if reading.key(head, instance.bindings) == key
    )
    return Definition(key, [*rules])


@dataclass(frozen=True, slots=True)
class Loop:
    """Completed ``atoms`` that are false unless one of their ``rules`` holds where all of them are false."""

    atoms: frozenset[GroundAtom]
    rules: tuple[Instance, ...]


def unfounded(
    definitions: Mapping[GroundAtom, Definition], reading: GroundReading, world: Callable[[GroundAtom], Box]
) -> Loop:
    """The loop formula of completed atoms that are true in a ``world`` without well-founded support from rules, in the
    first stratum that has any: its rules may negate atoms of the strata before."""
    loose: set[GroundAtom] = set()

    def read(key: GroundAtom) -> Box:
        return (0.0, 0.0) if key in loose else world(key)

    def founded(key: GroundAtom) -> bool:
        return any(reading.truth(rule.antecedent, rule.bindings, read)[0] >= 1 for rule in definitions[key].rules)

    for stratum in reading.program.strata:
        loose |= {key for key in definitions if key[0] in stratum and world(key)[0] > 0}
        while supported := {key for key in loose if founded(key)}:
            loose -= supported
        if loose:
            break
    rules = (rule for key in sorted(loose) for rule in definitions[key].rules)
    return Loop(frozenset(loose), tuple(dict.fromkeys(rules)))
