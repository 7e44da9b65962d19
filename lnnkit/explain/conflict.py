"""A contradiction with the facts and the statements that meet in it, and how it could be repaired."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from lnnkit.check.program import Assertion
from lnnkit.explain.as_text import format_bound
from lnnkit.explain.explanation import Explanation, one_line
from lnnkit.explain.necessary import minimal
from lnnkit.explain.proof import Given
from lnnkit.outcome import Contradiction


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact of a conflict: its atom, and where it stands."""

    predicate: str
    arguments: tuple[str, ...]
    given: Given

    def __str__(self) -> str:
        return f"{self.given.text}   {self.given.file}:{self.given.row}"


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule or axiom of a conflict."""

    statement: Assertion

    def __str__(self) -> str:
        span = self.statement.span
        return f"{one_line(span.text)}   {span.source.path}:{span.line}"


Member = StatedFact | StatedRule
Inconsistent = Callable[[Sequence[Member], "Loosened | None"], bool]  # of a program of these members alone


@dataclass(frozen=True, slots=True)
class Loosened:
    """A member whose bounds are let out: by ``amount`` of the way from 0 (as it stands) to 1 (it says nothing)."""

    member: Member
    amount: float


@dataclass(frozen=True, slots=True)
class Repair:
    """``member`` let out to ``lower`` and ``upper``: then the conflict is none. ``cost`` is how far its truth moves;
    axioms cost more than rules, and rules more than facts."""

    member: Member
    lower: float
    upper: float
    cost: float

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --minimal --format json`` prints."""
        return {"member": str(self.member), "lower": self.lower, "upper": self.upper, "cost": self.cost}

    def __str__(self) -> str:
        whole = (self.lower, self.upper) == (0.0, 1.0)
        bounds = "leave it out" if whole else f"in [{format_bound(self.lower)}, {format_bound(self.upper)}]"
        return f"{bounds}, at a cost of {format_bound(self.cost)}: {self.member}"


@dataclass(frozen=True)
class Conflict:
    """``members`` are what the derivations on both sides of a ``contradiction`` rest on; what is closed is named by the
    explanation only. ``minimal`` leaves out what is not needed; ``repairs`` ranks what could be let out."""

    contradiction: Contradiction
    explanation: Explanation
    members: tuple[Member, ...]
    _inconsistent: Inconsistent = field(repr=False)
    is_minimal: bool = False

    @property
    def facts(self) -> tuple[StatedFact, ...]:
        return tuple(member for member in self.members if isinstance(member, StatedFact))

    @property
    def rules(self) -> tuple[Assertion, ...]:
        return tuple(member.statement for member in self.members if isinstance(member, StatedRule))

    def minimal(self) -> Conflict:
        """The same with as few members as still contradict each other: one is left out, and inferred again."""
        if self.is_minimal or not self._inconsistent(self.members, None):
            return self
        kept = minimal(self.members, lambda some: self._inconsistent(some, None))
        return Conflict(self.contradiction, self.explanation, tuple(kept), self._inconsistent, is_minimal=True)

    def repairs(self) -> list[Repair]:
        """For each member of the minimal conflict the least by which it must be let out, cheapest first."""
        least = self.minimal()
        if not least.is_minimal:
            return []
        found = [_repair(least.members, member, self._inconsistent) for member in least.members]
        return sorted(found, key=lambda repair: repair.cost)

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --format json`` prints for a contradiction."""
        return {
            "contradiction": self.contradiction.as_dict(),
            "minimal": self.is_minimal,
            "facts": [{"fact": f.given.text, "file": f.given.file, "row": f.given.row} for f in self.facts],
            "rules": [
                {"rule": r.name, "text": one_line(r.span.text), "file": r.span.source.path, "line": r.span.line}
                for r in self.rules
            ],
        }

    def lines(self) -> Iterator[str]:
        yield str(self.contradiction)
        yield from (f"  {member}" for member in self.members)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


_DEARER = {"fact": 1.0, "rule": 2.0, "axiom": 4.0}
_NEARLY = 1 - 2**-13


def _repair(members: Sequence[Member], member: Member, inconsistent: Inconsistent) -> Repair:
    low, high = 0.0, 1.0  # let out wholly it resolves the conflict, which is minimal
    if inconsistent(members, Loosened(member, _NEARLY)):
        low = high
    while high - low > 1 - _NEARLY:
        middle = (low + high) / 2
        if inconsistent(members, Loosened(member, middle)):
            low = middle
        else:
            high = middle
    lower, upper = bounds_of(member)
    amount = high
    plain = round(loosened(lower, upper, high)[0], 3)  # a plain number, if it is enough
    if lower > plain and not inconsistent(members, Loosened(member, 1 - plain / lower)):
        amount = 1 - plain / lower
    kind = "fact" if isinstance(member, StatedFact) else member.statement.kind
    let_out = loosened(lower, upper, amount)
    moved = max(lower - let_out[0], let_out[1] - upper)
    return Repair(member, *let_out, _DEARER[kind] * moved)


def bounds_of(member: Member) -> tuple[float, float]:
    """What a member says."""
    if isinstance(member, StatedFact):
        return member.given.lower, member.given.upper
    from lnnkit.explain.ground_form import truth_of

    return truth_of(member.statement, {})


def loosened(lower: float, upper: float, amount: float) -> tuple[float, float]:
    """Bounds let out by so much of the way to ``[0, 1]``."""
    return round(lower * (1 - amount), 6), round(upper + (1 - upper) * amount, 6)
