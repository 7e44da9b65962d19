"""The dependency cone: the instances on which a question can depend, followed from atom to atom; and unfounded sets:
completed atoms that only support each other, which a least fixpoint excludes.

A model of the completion may contain such a set, as in ``reach(X, Y) <- reach(Y, X)``. For each one that a model shows,
its loop formula is added: an atom of the set needs a rule whose antecedent holds without them (Lin and Zhao 2004,
"ASSAT").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lnnkit.prove.ground.ground_reading import SLACK, GroundAtom, GroundReading, Instance
from lnnkit.prove.ground.parts import Assignment, Part, StatementIndex
from lnnkit.prove.ground.point_arithmetic import Box

_TOLD = 1000  # progress is reported each time after this many instances


@dataclass(slots=True, eq=False)
class Definition:
    """The definition of a completed atom: instances of its ``rules``, each with the position of the atom in it."""

    key: GroundAtom
    rules: list[tuple[Instance, Part]]


class TooWide(Exception):
    """The cone has more instances than allowed, or takes more time."""


@dataclass
class Cone:
    """``instances``, and the unsettled ``atoms`` and numbers that they and the question read: so many of these are
    ``near`` the question. ``definitions`` are those of completed atoms."""

    reading: GroundReading
    index: StatementIndex
    limit: int
    pause: Callable[[], None]  # raises `TooWide`, `Interrupted` where time ran out or Ctrl-C was pressed
    tell: Callable[[int, int], None] | None = None  # is told how many instances and atoms there are
    most_atoms: int | None = None
    instances: list[Instance] = field(default_factory=list)
    definitions: dict[GroundAtom, Definition] = field(default_factory=dict)
    atoms: dict[GroundAtom, None] = field(default_factory=dict)
    near: int = 0
    _seen: set[object] = field(default_factory=set)
    _waiting: list[GroundAtom] = field(default_factory=list)

    @property
    def items(self) -> list[Instance | Definition]:
        """The instances and definitions."""
        return [*self.instances, *self.definitions.values()]

    def too_wide(self, *, late: bool) -> str:
        """The note for an answer whose cone was given up, or whose time ran out."""
        which = "time ran out: it" if late else "it"
        return f"{which} depends on at least {len(self._seen):,} instances of statements; its bounds are from inference"

    def grow(self, part: Part, *, whole: bool = False) -> None:
        """Add all on which a formula depends, if ``whole`` all of the program. Raises `TooWide`, `Interrupted`."""
        self._wait(self.unsettled(part, {}))
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
                if self.tell is not None and len(self._seen) % _TOLD == 0:
                    self.tell(len(self.instances), len(self.atoms))

    def add(self, instance: Instance) -> None:
        """Add an instance, unless it is present already or satisfied at known bounds."""
        if instance.key in self._seen:
            return
        self._count(instance)
        self.pause()
        self._define_heads(instance)
        if self.reading.satisfied(instance):
            return
        self.instances.append(instance)
        self._wait(self.unsettled(instance.stated.part, instance.bindings))

    def take(self, instance: Instance) -> None:
        """Add an instance without what depends on it. Raises `TooWide`."""
        self._count(instance)
        self.instances.append(instance)

    def _count(self, instance: Instance) -> None:
        self._seen.add(instance.key)
        if len(self._seen) > self.limit:
            raise TooWide

    def unsettled(self, part: Part, bindings: Assignment) -> Iterable[GroundAtom]:
        """The unsettled atoms and numbers of a formula on which its truth can depend."""
        key = self.reading.key(part, bindings) if part.kind == "atom" else None
        if key is not None and not self.reading.known.settled(key):
            yield key
        for row in self.reading.rows(part, bindings) if part.bound else [bindings]:
            if part.bound:
                self.pause()
            for operand in part.operands:
                low, high = self.reading.box(operand, row) if operand.operands else (0.0, 1.0)
                if high > low:
                    yield from self.unsettled(operand, row)

    def _wait(self, keys: Iterable[GroundAtom]) -> None:
        for key in keys:
            if key in self.atoms:
                continue
            self.atoms[key] = None
            if self.most_atoms is not None and len(self.atoms) > self.most_atoms:
                raise TooWide
            self._waiting.append(key)
            if self.reading.known.completed(key):
                self._define(key)

    def _define_heads(self, instance: Instance) -> None:
        """Define the completed heads of a rule, which its antecedent determines even if they are settled."""
        for head in self.index.defined(instance.stated):
            key = self.reading.key(head, instance.bindings)
            if key is not None and key not in self.definitions and self.reading.known.completed(key):
                low, high = self.reading.box(instance.antecedent, instance.bindings)
                if high - low > SLACK:
                    self._define(key)

    def _define(self, key: GroundAtom) -> None:
        self.definitions[key] = definition = definition_of(key, self.index, self.reading)
        for instance, _ in definition.rules:
            self._wait(self.unsettled(instance.stated.part, instance.bindings))


def definition_of(key: GroundAtom, index: StatementIndex, reading: GroundReading) -> Definition:
    """The definition of a completed atom: the rules that may make it true."""
    rules = (
        (instance, head)
        for stated, head in index.defining(key[0])
        for instance in reading.touching(key, [stated])
        if reading.key(head, instance.bindings) == key
    )
    return Definition(key, list({(instance.key, id(head)): (instance, head) for instance, head in rules}.values()))


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
        rules = definitions[key].rules
        return any(reading.box(rule.antecedent, rule.bindings, read)[0] >= 1 for rule, _ in rules)

    for stratum in reading.known.program.strata:
        loose |= {key for key in definitions if key[0] in stratum and world(key)[0] > 0}
        while supported := {key for key in loose if founded(key)}:
            loose -= supported
        if loose:
            break
    rules = (rule for key in sorted(loose) for rule, _ in definitions[key].rules)
    return Loop(frozenset(loose), tuple(dict.fromkeys(rules)))
