"""The members of a conflict: facts and statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lnnkit.check.program import Assertion
from lnnkit.explain.proof.proof import Given


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact of a conflict: its atom or number, and its source."""

    predicate: str
    arguments: tuple[str, ...]
    given: Given
    numeric: bool = False

    @property
    def parts(self) -> tuple[str, str]:
        """Its text and its place."""
        return self.given.text, f"{self.given.file}:{self.given.row}"

    def __str__(self) -> str:
        return "   ".join(self.parts)


@dataclass(frozen=True, slots=True)
class StatedRule:
    """A rule or axiom of a conflict."""

    statement: Assertion

    @property
    def parts(self) -> tuple[str, str]:
        """Its text and its place."""
        return self.statement.text, f"{self.statement.span.source.path}:{self.statement.span.line}"

    def __str__(self) -> str:
        return "   ".join(self.parts)


Member = StatedFact | StatedRule


class Inconsistent(Protocol):
    """Whether a program of these members alone, one of them weakened, is contradictory. Slow convergence to a
    contradiction is followed for a bounded number of rounds; if ``thoroughly``, several times as many."""

    def __call__(self, members: Sequence[Member], loose: Loosened | None, *, thoroughly: bool = False) -> bool: ...


@dataclass(frozen=True, slots=True)
class Loosened:
    """A member whose bounds are weakened to these."""

    member: Member
    lower: float
    upper: float


def bounds_of(member: Member) -> tuple[float, float]:
    """The bounds that a member asserts."""
    if isinstance(member, StatedFact):
        return member.given.lower, member.given.upper
    from lnnkit.explain.checker.ground_form import truth_of

    return truth_of(member.statement, {})
