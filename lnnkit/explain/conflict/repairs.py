"""The facts and statements that meet in a contradiction, and the least weakening of one that resolves it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from lnnkit.answer_table import finite
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.explain.checker.ground_form import truth_of
from lnnkit.explain.proof.proof import GivenFact
from lnnkit.explain.proof.proof_text import format_bound

# An order of preference: facts are weakened before rules, rules before axioms
DEARER = {"fact": 1.0, "rule": 2.0, "axiom": 4.0}
_NEARLY = 1 - 2**-13  # bisection stops at 2 ** -13 of the range, which shows as four digits
_FARTHEST = 2.0**60  # the bound of the search; a number that would have to move farther is removed instead


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact of a conflict: its atom or number, and its source."""

    predicate: str
    arguments: tuple[str, ...]
    given: GivenFact
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


ConflictMember = StatedFact | StatedRule


class Inconsistent(Protocol):
    """Whether a program of these members alone, one of them weakened, is contradictory. Slow convergence to a
    contradiction is followed for a bounded number of rounds; if ``thoroughly``, several times as many."""

    def __call__(
        self, members: Sequence[ConflictMember], loose: Loosened | None, *, thoroughly: bool = False
    ) -> bool: ...


@dataclass(frozen=True, slots=True)
class Loosened:
    """A member whose bounds are weakened to these."""

    member: ConflictMember
    lower: float
    upper: float


def bounds_of(member: ConflictMember) -> tuple[float, float]:
    """The bounds that a member asserts."""
    if isinstance(member, StatedFact):
        return member.given.lower, member.given.upper
    return truth_of(member.statement, {})


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair: with ``member`` weakened to ``lower`` and ``upper``, the conflict disappears."""

    member: ConflictMember
    lower: float
    upper: float
    cost: float
    others: tuple[GivenFact, ...] = ()

    @property
    def trust(self) -> float:
        """The trust in a fact, from 0 to 1; rules and axioms have 1."""
        return self.member.given.trust if isinstance(self.member, StatedFact) else 1.0

    @property
    def leaves_out(self) -> bool:
        """Whether the member is removed altogether."""
        numeric = isinstance(self.member, StatedFact) and self.member.numeric
        return (self.lower, self.upper) == ((-math.inf, math.inf) if numeric else (0.0, 1.0))

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --minimal --format json`` prints; an infinite end is null."""
        fields: dict[str, object] = {
            "member": str(self.member),
            "lower": finite(self.lower),
            "upper": finite(self.upper),
        }
        fields |= {"cost": self.cost, "trust": self.trust}
        return fields | {"others": [f"{fact.file}:{fact.row}" for fact in self.others]} if self.others else fields

    def __str__(self) -> str:
        trust = "" if self.trust == 1 else f" (trust {format_bound(self.trust)})"
        return f"{self._change}, at a cost of {format_bound(self.cost)}{trust}: {self.member}{self._and}"

    def cells(self) -> list[str]:
        """The columns of a table: the repair, its cost, the trust, and what is repaired."""
        text, place = self.member.parts
        return [self._change, format_bound(self.cost), format_bound(self.trust), text, f"{place}{self._and}"]

    @property
    def _change(self) -> str:
        if self.leaves_out:
            return f"leave {'them' if self.others else 'it'} out"
        return f"in [{format_bound(self.lower)}, {format_bound(self.upper)}]"

    @property
    def _and(self) -> str:
        return "".join(f", and {fact.file}:{fact.row}" for fact in self.others)


def with_others(loose: Repair, stated: Callable[[str, Sequence[str]], Sequence[GivenFact]]) -> Repair:
    """A repair of a fact, with the other facts ``stated`` about its atom that have to be weakened too."""
    if not isinstance(loose.member, StatedFact):
        return loose
    given = loose.member.given
    others = tuple(
        other
        for other in stated(loose.member.predicate, loose.member.arguments)
        if other != given and ((given.lower > loose.lower < other.lower) or (given.upper < loose.upper > other.upper))
    )
    return replace(loose, others=others)


def repair(
    members: Sequence[ConflictMember],
    member: ConflictMember,
    inconsistent: Inconsistent,
    range_of: Callable[[str], float],
) -> Repair:
    """The least weakening of one of the members of a minimal conflict. ``range_of`` gives the known range of a
    number."""
    if isinstance(member, StatedFact) and member.numeric:
        return _of_number(members, member, inconsistent, range_of(member.predicate))
    lower, upper = bounds_of(member)

    def contradicts(amount: float) -> bool:
        return inconsistent(members, Loosened(member, *_let_out(lower, upper, amount)))

    # Removing it resolves the conflict, which is minimal
    amount = 1.0 if contradicts(_NEARLY) else _bisected(0.0, 1.0, contradicts, lambda _: 1.0)
    plain = round(_let_out(lower, upper, amount)[0], 3)  # a rounded number, if it suffices
    if lower > plain and not contradicts(1 - plain / lower):
        amount = 1 - plain / lower
    kind = "fact" if isinstance(member, StatedFact) else member.statement.kind
    let_out = _let_out(lower, upper, amount)
    if inconsistent(members, Loosened(member, *let_out), thoroughly=True):
        let_out = 0.0, 1.0
    weakened = Repair(member, *let_out, DEARER[kind] * max(lower - let_out[0], let_out[1] - upper))
    return replace(weakened, cost=weakened.cost * weakened.trust)


def _bisected(low: float, high: float, contradicts: Callable[[float], bool], size: Callable[[float], float]) -> float:
    """The least amount without a contradiction, up to a share of its ``size``; ``low`` has one, ``high`` has none."""
    while high - low > (1 - _NEARLY) * size(high):
        middle = (low + high) / 2
        low, high = (middle, high) if contradicts(middle) else (low, middle)
    return high


def _let_out(lower: float, upper: float, amount: float) -> tuple[float, float]:
    """Bounds of a truth widened by this share of the way to ``[0, 1]``."""
    return round(lower * (1 - amount), 6), round(upper + (1 - upper) * amount, 6)


def _of_number(
    members: Sequence[ConflictMember], member: StatedFact, inconsistent: Inconsistent, known: float
) -> Repair:
    """A number is widened on one side, by the least distance; if neither side suffices, it is removed. To widen it by
    its ``known`` range, or farther, costs as much as to remove it."""
    bounds = bounds_of(member)
    repairs: list[Repair] = []
    for side, sign in ((0, -1.0), (1, 1.0)):
        end = bounds[side]

        def reaching(far: float, side: int = side) -> Loosened:
            return Loosened(member, *((far, bounds[1]) if side == 0 else (bounds[0], far)))

        if not math.isfinite(end) or inconsistent(members, reaching(sign * math.inf)):
            continue
        far = _nearest(end, sign, lambda far: inconsistent(members, reaching(far)))  # called at once
        if far is not None and not inconsistent(members, reaching(far), thoroughly=True):
            let_out = reaching(far)
            # The cost is a distance until it is scaled below
            repairs.append(Repair(member, let_out.lower, let_out.upper, abs(far - end)))
    nearest = min(repairs, key=lambda weakened: weakened.cost, default=Repair(member, -math.inf, math.inf, math.inf))
    return replace(nearest, cost=min(1.0, nearest.cost / known) * nearest.trust)


def _nearest(end: float, sign: float, contradicts: Callable[[float], bool]) -> float | None:
    """The number nearest to ``end``, on one side, for which there is no contradiction; None if it is too far."""
    low, high = 0.0, max(1.0, abs(end)) * 2.0**-10
    while contradicts(end + sign * high):
        low, high = high, 2 * high
        if high > _FARTHEST:
            return None
    high = _bisected(low, high, lambda distance: contradicts(end + sign * distance), lambda distance: distance)
    far = end + sign * high
    digits = 3 - math.floor(math.log10(high))
    for places in range(min(digits, 0), digits + 1):  # a rounded number, if it suffices and is hardly farther
        for plain in (round(far, places), round(far + sign * 0.5 * 10.0**-places, places)):
            if abs(plain - far) <= 2**-9 * high and not contradicts(plain):
                return plain
    return far


def known_range(program: CheckedProgram, number: str) -> float:
    """The width of the hull of all finite ends that facts and tables state of a number. Where they state one value
    alone, its magnitude; 1 where that is 0 too."""
    stated = [end for fact in program.facts if fact.predicate == number for end in (fact.lower, fact.upper)]
    ends = [end for end in stated if math.isfinite(end)]
    for table in program.tables:
        if table.predicate == number:
            for column in (table.lower, table.upper):
                known = column[abs(column) < math.inf]
                ends += [float(known.min()), float(known.max())] if len(known) else []
    if not ends:
        return 1.0
    return max(ends) - min(ends) or abs(ends[0]) or 1.0
