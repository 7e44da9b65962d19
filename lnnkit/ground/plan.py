"""What joins there were, and what came out of them: recorded while they are made, for whoever asks for the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol
from typing import Literal as OneOf

from lnnkit.ground.formula import Formula
from lnnkit.ground.needs import Literal, Needs

PARENTS: Final = "parents"
Reads = Literal | int | OneOf["parents"] | None


@dataclass(frozen=True, slots=True)
class JoinStep:
    """``rows`` of what it ``reads``, joined with what the steps before left, give ``out`` rows (None: not done, since
    nothing was left).

    It reads a literal, the domain of a variable (an int), the rows of the block around an inner one (``PARENTS``), or
    nothing new (None): two joins with no variable in common are multiplied.
    """

    reads: Reads
    rows: int
    out: int | None


@dataclass(slots=True)
class Joined:
    """The same steps, taken so many ``times``; their rows add up."""

    steps: list[JoinStep]
    times: int = 1

    def add(self, steps: Sequence[JoinStep]) -> None:
        self.times += 1
        self.steps = [
            JoinStep(one.reads, one.rows + two.rows, _sum(one.out, two.out))
            for one, two in zip(self.steps, steps, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Entered:
    """A formula that a grounding was given, and what it must join; ``completes`` a stratum, or else is for rounds."""

    formula: Formula
    needs: Needs
    completes: bool


@dataclass(slots=True)
class Recorder:
    """Told of every formula of a grounding, in their order there, and of every join that finds instances of one.

    ``number`` is that of a need of the formula: from 0 on those of ``needs.rows``, below 0 those that fill blocks.
    """

    entered: list[Entered] = field(default_factory=list)
    joins: dict[tuple[int, int], dict[tuple[Reads, ...], Joined]] = field(default_factory=dict)
    paths: dict[tuple[int, int], dict[tuple[Reads, ...], _Step]] = field(default_factory=dict)

    def enter(self, formula: Formula, needs: Needs, *, completes: bool) -> None:
        self.entered.append(Entered(formula, needs, completes))

    def joined(self, member: int, number: int, steps: Sequence[JoinStep]) -> None:
        found = self.joins.setdefault((member, number), {})
        key: tuple[Reads, ...] = tuple(step.reads for step in steps)
        if key in found:
            found[key].add(steps)
        else:
            found[key] = Joined(list(steps))

    def stepped(self, member: int, number: int, path: tuple[Reads, ...], rows: int, out: int) -> None:
        """Told of one step of a join that is made part by part: what was read up to it, the rows read and given."""
        found = self.paths.setdefault((member, number), {})
        step = found.setdefault(path, _Step())
        step.rows += rows
        step.out += out
        step.times += 1

    def made(self, member: int, number: int) -> dict[tuple[Reads, ...], Joined] | None:
        """The joins that were made for a need, by what they read, in order."""
        paths = self.paths.get((member, number))
        if paths is None:
            return self.joins.get((member, number))
        ends = [path for path in paths if not any(o[: len(path)] == path for o in paths if len(o) > len(path))]
        found: dict[tuple[Reads, ...], Joined] = {}
        for path in ends:
            steps = [paths[path[:length]] for length in range(1, len(path) + 1)]
            listed = [JoinStep(reads, step.rows, step.out) for reads, step in zip(path, steps, strict=True)]
            found[path] = Joined(listed, steps[0].times)
        return found


@dataclass(slots=True)
class _Step:
    """What all the times came to that one step was made."""

    rows: int = 0
    out: int = 0
    times: int = 0


class Sized(Protocol):
    """A relation: how many rows it has, and the places of those that it was joined from."""

    @property
    def length(self) -> int: ...
    @property
    def origin(self) -> tuple[int, ...]: ...


@dataclass(slots=True)
class Trace:
    """One join as it is made. ``reads`` says what stands at each place."""

    reads: list[Reads] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    steps: list[JoinStep] = field(default_factory=list)
    _done: set[int] = field(default_factory=set)

    def place(self, reads: Reads, length: int) -> tuple[int, ...]:
        """The origin of a relation that is about to be joined."""
        self.reads.append(reads)
        self.lengths.append(length)
        return (len(self.reads) - 1,)

    def made(self, left: Sized, right: Sized, rows: int) -> None:
        """Two relations were joined to so many rows."""
        fresh = [each for each in (left, right) if len(each.origin) == 1 and each.origin[0] not in self._done]
        fresh.sort(key=lambda each: (each.length, each.origin))
        if len(fresh) == 2:
            self._step(fresh[0], fresh[0].length)
        if fresh:
            self._step(fresh[-1], rows)
        else:
            self.steps.append(JoinStep(None, min(left.length, right.length), rows))

    def _step(self, relation: Sized, out: int) -> None:
        (place,) = relation.origin
        self._done.add(place)
        self.steps.append(JoinStep(self.reads[place], relation.length, out))

    def finished(self) -> list[JoinStep]:
        """All steps, those last that were not needed: nothing was left to join with."""
        left = [place for place in range(len(self.reads)) if place not in self._done]
        out = self.lengths[0] if len(self.reads) == 1 else None  # a single one is all there is
        return [*self.steps, *(JoinStep(self.reads[place], self.lengths[place], out) for place in left)]


def _sum(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return one + other
