"""The smallest set of facts and statements to leave out, so that no contradiction of a kind is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from lnnkit.check.program import CheckedProgram
from lnnkit.explain.conflict.conflict import Conflict
from lnnkit.explain.conflict.program_variants import without
from lnnkit.explain.conflict.repairs import DEARER, ConflictMember, StatedFact, StatedRule
from lnnkit.explain.proof.proof_text import format_bound
from lnnkit.outcome import Contradiction

_TRIED = 20_000  # sets looked at, a limit of work: beyond it a set is small, and may not be the smallest
_ROUNDS = 50  # inferences for one kind

ContradictionKind = tuple[str, ...]
Find = Callable[
    [CheckedProgram, ContradictionKind], Sequence[Conflict]
]  # the first contradictions of a kind in a program


@dataclass(frozen=True, slots=True)
class RepairSet:
    """The facts and statements, as few and as little trusted as will do, without which there is none of the ``count``
    contradictions of a kind: of the statement, or the predicate, that ``about`` names. ``left`` is how many remain
    where the search ended early."""

    about: str
    count: int
    members: tuple[ConflictMember, ...]
    cost: float
    left: int = 0

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --minimal --format json`` prints."""
        members = [dict(zip(("text", "place"), member.parts, strict=True)) for member in self.members]
        return {"about": self.about, "count": self.count, "members": members, "cost": self.cost, "left": self.left}

    def cells(self) -> list[str]:
        """The columns of a table."""
        return [self.about, f"{self.count:,}", format_bound(self.cost), "\n".join(map(str, self.members))]

    def __str__(self) -> str:
        many = f"{self.count:,} contradictions" if self.count > 1 else "1 contradiction"
        rest = f"; {self.left:,} are left" if self.left else ""
        head = f"{many} of {self.about}: leave out, at a cost of {format_bound(self.cost)}{rest}"
        return "\n".join([head, *(f"  {member}" for member in self.members)])


def kind_of(contradiction: Contradiction) -> ContradictionKind:
    """What contradictions of one kind have in common: the statement, or the predicate."""
    if contradiction.line is not None:
        return contradiction.kind, contradiction.rule or "", f"{contradiction.file}:{contradiction.line}"
    return contradiction.kind, contradiction.atom.partition("(")[0] if contradiction.kind == "atom" else ""


def repair_set(program: CheckedProgram, kind: ContradictionKind, count: int, find: Find) -> RepairSet:
    """The cheapest set that meets every conflict of a kind. Conflicts are looked for where the set so far is left out,
    until there are none."""
    met: list[Sequence[ConflictMember]] = []
    chosen: tuple[ConflictMember, ...] = ()
    left: Sequence[Conflict] = find(program, kind)
    for _ in range(_ROUNDS):
        met += [conflict.minimal().members for conflict in left]
        chosen = smallest(met)
        left = find(without(program, chosen), kind)
        if not left:
            break
    about = " ".join(part for part in kind[:2] if part and part != "atom") + (f", {kind[2]}" if kind[2:] else "")
    return RepairSet(about, count, chosen, sum(map(cost, chosen)), len(left))


def cost(member: ConflictMember) -> float:
    """What it costs to leave a member out."""
    if isinstance(member, StatedFact):
        return DEARER["fact"] * member.given.trust
    return DEARER[member.statement.kind]


def smallest(sets: Sequence[Collection[ConflictMember]]) -> tuple[ConflictMember, ...]:
    """The cheapest members of which each set has one; at equal cost those with the fewest rules, then the fewest, then
    the first. Sets that share no member are looked at apart."""
    every = {_place(member): member for some in sets for member in some}
    members = sorted(every.values(), key=lambda member: (cost(member), _place(member)))
    number = {_place(member): n for n, member in enumerate(members)}
    apart: list[list[frozenset[int]]] = []
    for some in sets:
        numbers = frozenset(number[_place(member)] for member in some)
        linked = [group for group in apart if any(numbers & other for other in group)]
        apart = [group for group in apart if group not in linked] + [[numbers, *(s for group in linked for s in group)]]
    rules = [isinstance(member, StatedRule) for member in members]
    costs = [cost(member) for member in members]
    chosen = [members[n] for group in apart for n in _Search(group, costs, rules).best]
    return tuple(sorted(chosen, key=_place))


class _Search:
    """Branch and bound over sets that are linked, of numbers of members: cheap ones first, facts before rules."""

    def __init__(self, sets: Sequence[frozenset[int]], costs: Sequence[float], rules: Sequence[bool]) -> None:
        self._costs, self._rules = costs, rules
        self._tried = 0
        self.best = tuple(self._greedy(sets))
        self._branch(sets, ())

    def _branch(self, sets: Sequence[frozenset[int]], chosen: tuple[int, ...]) -> None:
        self._tried += 1
        if not sets:
            self.best = min(self.best, chosen, key=self._rank)
        bound = sum(self._costs[n] for n in chosen) + sum(self._costs[min(some)] for some in _disjoint(sets))
        if not all(sets) or self._tried > _TRIED or bound > self._rank(self.best)[0] + 1e-9:
            return
        some = min(sets, key=len, default=frozenset[int]())
        for n in sorted(some):
            earlier = {other for other in some if other < n}  # those are tried without it
            self._branch([rest - earlier for rest in sets if n not in rest], (*chosen, n))

    def _greedy(self, sets: Sequence[frozenset[int]]) -> Iterator[int]:
        while sets:
            uses = Counter(n for some in sets for n in some)
            best = min(uses, key=lambda n: (self._costs[n] / uses[n], n))
            yield best
            sets = [some for some in sets if best not in some]

    def _rank(self, chosen: Sequence[int]) -> tuple[float, int, int, Sequence[int]]:
        total = round(sum(self._costs[n] for n in chosen), 9)
        return total, sum(self._rules[n] for n in chosen), len(chosen), sorted(chosen)


def _disjoint(sets: Sequence[frozenset[int]]) -> Iterator[frozenset[int]]:
    """Some of the sets that share no member: all of them must be met."""
    taken: set[int] = set()
    for some in sorted(sets, key=len):
        if some and not taken & some:
            taken |= some
            yield some


def _place(member: ConflictMember) -> tuple[object, ...]:
    """Facts first, by file and row."""
    if isinstance(member, StatedFact):
        return 0, member.given.file, member.given.row, member.predicate, member.arguments, member.given.text
    return 1, member.statement.span.source.path, member.statement.span.start
