"""The facts and statements that meet in a contradiction, and variants of programs: with other facts, of such members
alone, without some, or with one weakened as little as resolves the contradiction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from lnnkit.answer_table import finite, format_bound, format_bounds
from lnnkit.check.program import Assertion, CheckedFormula, CheckedProgram, Fact
from lnnkit.check.walk import nodes
from lnnkit.data.table import EntityColumn, FactTable
from lnnkit.explain.checker.ground_form import truth_of
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.proof.proof import SIDES, FactSources, GivenFact, fact_text
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.diagnostic import NOWHERE, Source, Span
from lnnkit.time_limit import check_time

ASSUMED = "<assumed>"
# An order of preference: facts, which cost 1 at most, are weakened before rules, rules before axioms
_DEARER = {"rule": 2.0, "axiom": 4.0}
_NEARLY = 1 - 2**-13  # bisection stops at 2 ** -13 of the range, which shows as four digits
_FARTHEST = 2.0**60  # the bound of the search; a number that would have to move farther is removed instead


ConflictMember = GivenFact | Assertion
# (members, thoroughly=False): whether a program of these members alone is contradictory. Slow convergence to a
# contradiction is followed for a bounded number of rounds; if ``thoroughly``, several times as many.
Inconsistent = Callable[..., bool]
# (lower, upper, thoroughly=False): whether a conflict remains where the weakened member has these bounds
_Contradicts = Callable[..., bool]


def _numeric(member: ConflictMember) -> Numeric:
    return isinstance(member, GivenFact) and member.numeric


def assumption(predicate: str, arguments: Sequence[str], lower: float, upper: float, *, numeric: Numeric) -> Fact:
    """The assumed fact about an atom, or a ``numeric`` attribute. Raises ``ValueError`` for invalid bounds."""
    if numeric and not (lower <= upper and lower < math.inf and upper > -math.inf):
        raise ValueError(f"[{lower}, {upper}] are not the ends of a number: lower must be at most upper")
    if not numeric and not 0 <= lower <= upper <= 1:
        raise ValueError(f"[{lower}, {upper}] are not truth bounds: 0 <= lower <= upper <= 1 must hold")
    text = fact_text(predicate, arguments, lower, upper, numeric=numeric)
    return Fact(predicate, tuple(arguments), lower, upper, Span(Source(ASSUMED, text), 0, len(text)))


def _without_rows(table: FactTable, rows: set[int]) -> FactTable:
    """The table without some rows; the entities that they name remain known."""
    if not rows:
        return table
    keep = np.ones(len(table), bool)
    keep[list(rows)] = False
    columns = tuple(EntityColumn(column.codes[keep], column.names) for column in table.columns)
    return replace(table, columns=columns, lower=table.lower[keep], upper=table.upper[keep], rows=table.rows[keep])


def alone(program: CheckedProgram, members: Sequence[ConflictMember]) -> CheckedProgram:
    """The program of these members only. Its other facts are kept without bounds, since they introduce entities."""
    completed = frozenset[str]().union(*program.strata)
    given = [member for member in members if isinstance(member, GivenFact)]
    atoms = {(fact.predicate, fact.arguments) for fact in given}
    silent = completed.union(name for name, predicate in program.predicates.items() if predicate.numeric)
    others = (f for f in program.facts if f.arguments and f.predicate not in silent)
    facts = [_silent(program, fact) for fact in others if (fact.predicate, fact.arguments) not in atoms]
    rules = [member for member in members if isinstance(member, Assertion)]
    stated = [replace(rule, lower=lower, upper=upper) for rule in rules for lower, upper in [truth_of(rule, {})]]
    facts += [Fact(fact.predicate, fact.arguments, fact.lower, fact.upper, NOWHERE) for fact in given]
    named = {fact.predicate for fact in facts}.union(*(names_in(statement.formula) for statement in stated))
    predicates = {name: predicate for name, predicate in program.predicates.items() if name in named}
    strata = tuple(stratum & named for stratum in program.strata if stratum & named)
    labels = tuple(label for label in program.labels if label.predicate in named)
    part = replace(program, predicates=predicates, strata=strata, labels=labels, tables=(), queries=(), label_tables=())
    return replace(part, facts=tuple(facts), assertions=tuple(stated))


def without(program: CheckedProgram, members: Sequence[ConflictMember]) -> CheckedProgram:
    """The program without some facts and statements; the entities that the facts name stay known."""
    facts = [member for member in members if isinstance(member, GivenFact)]
    places = {(fact.predicate, fact.arguments, fact.file, fact.row) for fact in facts}
    rules = {id(member) for member in members if isinstance(member, Assertion)}
    origins = FactSources(program)

    def silent(fact: Fact) -> Fact:
        place = fact.predicate, fact.arguments, fact.span.source.path, fact.span.line
        return _silent(program, fact) if place in places else fact

    def left(number: int, table: FactTable) -> FactTable:
        given = [fact for fact in facts if (fact.predicate, fact.file) == (table.predicate, table.source)]
        places = ((fact, place) for fact in given for place in origins.rows(number, fact.predicate, fact.arguments))
        return _without_rows(table, {place for fact, place in places if int(table.rows[place]) == fact.row})

    tables = tuple(left(number, table) for number, table in enumerate(program.tables))
    statements = tuple(statement for statement in program.assertions if id(statement) not in rules)
    return replace(program, facts=tuple(map(silent, program.facts)), tables=tables, assertions=statements)


def _silent(program: CheckedProgram, fact: Fact) -> Fact:
    """The fact with the bounds of an atom of which nothing is known."""
    predicate = program.predicates[fact.predicate]
    lower, upper = (-math.inf, math.inf) if predicate.numeric else (0.0, 0.0 if predicate.closed else 1.0)
    return replace(fact, lower=lower, upper=upper)


def names_in(formula: CheckedFormula) -> frozenset[str]:
    """The predicates and numbers of a formula."""
    check_time()
    parts = nodes(cast("ast.Expression", formula))  # equalities of entities have no operands
    return frozenset(node.name for node in parts if isinstance(node, ast.Atom))


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair: with ``member``, and the ``others`` about its atom, weakened to these bounds, there is no conflict."""

    member: ConflictMember
    lower: float
    upper: float
    cost: float
    others: tuple[GivenFact, ...] = ()

    @property
    def trust(self) -> float:
        """The trust in what is weakened, from 0 to 1; of rules and axioms there is no doubt."""
        return self.member.trust if isinstance(self.member, GivenFact) else 1.0

    @property
    def leaves_out(self) -> bool:
        """Whether the member is removed altogether."""
        return (self.lower, self.upper) == ((-math.inf, math.inf) if _numeric(self.member) else (0.0, 1.0))

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --minimal --format json`` prints; an infinite end is null."""
        ends = {side: finite(getattr(self, side), _numeric(self.member)) for side in SIDES}
        fields: dict[str, object] = {"member": str(self.member), **ends, "cost": self.cost, "trust": self.trust}
        return fields | {"others": [fact.place for fact in self.others]} if self.others else fields

    def __str__(self) -> str:
        change, cost, trust, *parts = self.cells()
        return f"{change}, at a cost of {cost}{'' if self.trust == 1 else f' (trust {trust})'}: {'   '.join(parts)}"

    def cells(self) -> list[str]:
        change = f"in {format_bounds(self.lower, self.upper, _numeric(self.member))}"
        if self.leaves_out:
            change = f"leave {'them' if self.others else 'it'} out"
        places = ", and ".join(source.place for source in (self.member, *self.others))
        return [change, format_bound(self.cost), format_bound(self.trust), self.member.text, places]

    @staticmethod
    def least(
        members: Sequence[ConflictMember], member: ConflictMember, inconsistent: Inconsistent, world: ProofWorld
    ) -> Repair:
        """The least weakening of a member of a minimal conflict; of a fact, with others about its atom."""

        def contradicts(lower: float, upper: float, *, thoroughly: bool = False) -> bool:
            weakened = [replace(one, lower=lower, upper=upper) if one == member else one for one in members]
            return inconsistent(weakened, thoroughly=thoroughly)

        if isinstance(member, Assertion):
            return _of_truth(member, contradicts)
        known = _known_range(world.program, member.predicate) if member.numeric else 1.0
        loose = _of_number(member, contradicts, known) if member.numeric else _of_truth(member, contradicts)
        given = (fact for fact in world.origins.of(member.predicate, member.arguments) if fact != member)
        needed = (f for f in given if member.lower > loose.lower < f.lower or member.upper < loose.upper > f.upper)
        return replace(loose, others=tuple(needed))


def cost(member: ConflictMember) -> float:
    """What it costs to leave a member out."""
    return member.trust if isinstance(member, GivenFact) else _DEARER[member.kind]


def _of_truth(member: ConflictMember, contradicts: _Contradicts) -> Repair:
    """A truth is widened on both sides, by the least share of the way to ``[0, 1]``."""
    lower, upper = truth_of(member, {}) if isinstance(member, Assertion) else (member.lower, member.upper)

    def let_out(amount: float) -> tuple[float, float]:
        return round(lower * (1 - amount), 6), round(upper + (1 - upper) * amount, 6)

    # Removing it resolves the conflict, which is minimal
    removed = contradicts(*let_out(_NEARLY))
    amount = 1.0 if removed else _bisected(0.0, 1.0, lambda amount: contradicts(*let_out(amount)), lambda _: 1.0)
    plain = round(let_out(amount)[0], 3)  # a rounded number, if it suffices
    if lower > plain and not contradicts(*let_out(1 - plain / lower)):
        amount = 1 - plain / lower
    low, high = let_out(amount)
    if contradicts(low, high, thoroughly=True):
        low, high = 0.0, 1.0
    return Repair(member, low, high, max(lower - low, high - upper) * cost(member))


def _bisected(low: float, high: float, contradicts: Callable[[float], bool], size: Callable[[float], float]) -> float:
    """The least amount without a contradiction, up to a share of its ``size``; ``low`` has one, ``high`` has none."""
    while high - low > (1 - _NEARLY) * size(high):
        middle = (low + high) / 2
        low, high = (middle, high) if contradicts(middle) else (low, middle)
    return high


def _of_number(member: GivenFact, contradicts: _Contradicts, known: float) -> Repair:
    """A number is widened on one side, by the least distance; if neither side suffices, it is removed. To widen it by
    its ``known`` range, or farther, costs as much as to remove it."""
    lower, upper = member.lower, member.upper
    nearest, distance = Repair(member, -math.inf, math.inf, 0.0), math.inf
    for end, sign in ((lower, -1.0), (upper, 1.0)):

        def reaching(far: float, sign: float = sign) -> tuple[float, float]:
            return (far, upper) if sign < 0 else (lower, far)

        if not math.isfinite(end) or contradicts(*reaching(sign * math.inf)):
            continue
        far = _nearest(end, sign, lambda far: contradicts(*reaching(far)))  # called at once
        if far is not None and not contradicts(*reaching(far), thoroughly=True) and abs(far - end) < distance:
            nearest, distance = Repair(member, *reaching(far), 0.0), abs(far - end)
    return replace(nearest, cost=min(1.0, distance / known) * member.trust)


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


def _known_range(program: CheckedProgram, number: str) -> float:
    """The width of the hull of all finite ends that facts and tables state of a number. Where they state one value
    alone, its magnitude; 1 where that is 0 too."""
    facts = [end for fact in program.facts if fact.predicate == number for end in (fact.lower, fact.upper)]
    tables = (table for table in program.tables if table.predicate == number)
    ends = np.concatenate([facts, *(column for table in tables for column in (table.lower, table.upper))])
    ends = ends[np.isfinite(ends)]
    return float(ends.max()) - float(ends.min()) or abs(float(ends[0])) or 1.0 if len(ends) else 1.0
