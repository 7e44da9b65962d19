"""Contradictions, each with the facts and statements that cause it, and its repairs; and the smallest set of facts and
statements to leave out, so that no contradiction of a kind is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import islice

from lnnkit.answer_table import format_bound
from lnnkit.answers.contradictions import first_of_each
from lnnkit.arrays import Array
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.engine.inference_run import Run
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.explain.conflict.program_variants import ConflictMember, Repair, cost, without
from lnnkit.explain.proof.explanation import Explanation, statement_fields
from lnnkit.explain.proof.proof import GivenFact, Proof
from lnnkit.explain.proof.prover import Prover
from lnnkit.explain.proof.sufficient_premises import minimal
from lnnkit.formula.unfolding import unfold
from lnnkit.graph.laws import Law
from lnnkit.markup.pages import Listing, Table, tables
from lnnkit.outcome import Contradiction

_TRIED = 20_000  # sets looked at, a limit of work: beyond it a set is small, and may not be the smallest
_ROUNDS = 50  # inferences for one kind

Find = Callable[[CheckedProgram, str], "Sequence[Conflict]"]  # the first contradictions of a kind


@dataclass(frozen=True)
class Conflict:
    """A contradiction. ``members`` are the facts and statements on which the derivations of both sides rest;
    closed-world defaults appear in the explanation only. ``minimal`` drops members that are not needed; ``repairs``
    ranks how members could be weakened, numbers by the share of their known range."""

    contradiction: Contradiction
    explanation: Explanation
    members: tuple[ConflictMember, ...]
    _inconsistent: Callable[..., bool] = field(repr=False)
    _world: ProofWorld = field(repr=False)
    is_minimal: bool = False

    @property
    def facts(self) -> tuple[GivenFact, ...]:
        return tuple(member for member in self.members if isinstance(member, GivenFact))

    @property
    def rules(self) -> tuple[Assertion, ...]:
        return tuple(member for member in self.members if isinstance(member, Assertion))

    def minimal(self) -> Conflict:
        """The conflict with a minimal set of members: each is dropped in turn and the rest inferred again."""
        if self.is_minimal or not self._inconsistent(self.members):
            return self
        return replace(self, members=tuple(minimal(self.members, self._inconsistent)), is_minimal=True)

    def repairs(self) -> Listing[Repair]:
        """For each member of the minimal conflict the least weakening that resolves it, cheapest first."""
        least = self.minimal()
        members = least.members if least.is_minimal else ()
        repairs = (Repair.least(members, member, self._inconsistent, self._world) for member in members)
        ranked = sorted(repairs, key=lambda weakened: weakened.cost)
        return Listing(ranked, ["repair", "cost", "trust", "fact or rule", "at"], Repair.cells)

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --format json`` prints for a contradiction."""
        return {
            "contradiction": self.contradiction.as_dict(),
            "minimal": self.is_minimal,
            "facts": [{"fact": fact.text, "file": fact.file, "row": fact.row} for fact in self.facts],
            "rules": list(map(statement_fields, self.rules)),
        }

    def cells(self) -> list[str]:
        return [str(self.contradiction), "\n".join(map(str, self.members))]

    def __str__(self) -> str:
        return "\n".join([str(self.contradiction), *(f"  {member}" for member in self.members)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        members = [(member.text, member.place) for member in self.members]
        return tables(Table(str(self.contradiction), ["fact or rule", "at"], members, len(members)))


def first_conflicts(
    prover: Prover, world: ProofWorld, inconsistent: Callable[..., bool], most: int, kind: str | None
) -> list[Conflict]:
    """At most ``most`` conflicts, of a kind if one is given: those of arrested atoms and shared formulas, then those of
    instances."""
    proofs = islice((pair for pair in _proofs(prover) if kind in (None, kind_of(pair[0]))), most)
    return [
        Conflict(crossed, Explanation(proof, _world=lambda: world), _members(proof), inconsistent, world)
        for crossed, proof in proofs
    ]


def _proofs(prover: Prover) -> Iterator[tuple[Contradiction, Proof]]:
    fixpoint, wording = prover.run, prover.wording
    observed = set(fixpoint.plan.observers.values())
    for table, arguments in map(wording.about, wording.numbers.crossed.tolist()):
        if table not in observed:
            proof = prover.prove(table, arguments)
            kind = "atom" if wording.is_predicate(table) else "neuron"
            lower, upper = (proof.steps[end].bound for end in (proof.lower, proof.upper))
            yield Contradiction(kind, proof.atom, None, None, lower, upper), proof
    for arrested, tick in zip(fixpoint.progress.arrested, fixpoint.state.trail.arrests, strict=True):
        repeated = _repeated(fixpoint, arrested.shape, arrested.rows)
        rows = zip(arrested.rows.tolist(), *(end.tolist() for end in arrested.roots), strict=True)
        for row, lower, upper in (row for place, row in enumerate(rows) if place not in repeated):
            proof = prover.prove_contradiction(arrested.shape, row, tick)
            statement = proof.steps[proof.lower].statement
            if statement is None or statement.kind == "law":
                yield Contradiction("neuron", proof.atom, None, None, lower, upper), proof
            else:
                span, place = statement.span, (statement.name, statement.span.line)
                yield Contradiction(statement.kind, proof.atom, *place, lower, upper, span.source.path), proof


def _repeated(run: Run, shape: int, rows: Array) -> set[int]:
    """The places of the instances that say the same as an earlier one."""
    repeated = set[int]()
    for formula, places, ids in run.grounding.assignments(shape, rows):
        assert formula.root is not None
        first = first_of_each(unfold(run.plan.lifted, formula.root, through_shared=True), ids)
        repeated |= set() if first is None else {*places.tolist()} - {*places.take(first).tolist()}
    return repeated


def _members(proof: Proof) -> tuple[ConflictMember, ...]:
    """The facts of a proof in the order of files and rows, then its statements; each once."""
    members: dict[object, ConflictMember] = {}
    for step in proof.steps:
        statements = step.statement.given if isinstance(step.statement, Law) else (step.statement,)
        members |= {id(statement): statement for statement in statements if statement is not None}
        members |= {} if step.given is None else {step.given: step.given}
    return tuple(sorted(members.values(), key=_place))


@dataclass(frozen=True, slots=True)
class RepairSet:
    """The facts and statements, as few and as little trusted as will do, without which there is none of ``count``
    contradictions of a kind: of what ``about`` names. ``left`` is how many remain where the search ended early."""

    about: str
    count: int
    members: tuple[ConflictMember, ...]
    cost: float
    left: int = 0

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit explain --minimal --format json`` prints."""
        members = [{"text": member.text, "place": member.place} for member in self.members]
        return {"about": self.about, "count": self.count, "members": members, "cost": self.cost, "left": self.left}

    def cells(self) -> list[str]:
        return [self.about, f"{self.count:,}", format_bound(self.cost), "\n".join(map(str, self.members))]

    def __str__(self) -> str:
        many = f"{self.count:,} contradictions" if self.count > 1 else "1 contradiction"
        rest = f"; {self.left:,} are left" if self.left else ""
        head = f"{many} of {self.about}: leave out, at a cost of {format_bound(self.cost)}{rest}"
        return "\n".join([head, *(f"  {member}" for member in self.members)])


def kind_of(contradiction: Contradiction) -> str:
    """What contradictions of one kind have in common: the statement and its place, or the predicate."""
    if contradiction.line is not None:
        named = f"{contradiction.kind} {contradiction.rule or ''}".rstrip()
        return f"{named}, {contradiction.file}:{contradiction.line}"
    return contradiction.atom.partition("(")[0] if contradiction.kind == "atom" else contradiction.kind


def repair_set(program: CheckedProgram, kind: str, count: int, find: Find) -> RepairSet:
    """The cheapest set that has a member of each conflict of a kind: those that are left without the set are added, a
    limited number of times."""
    met: list[Sequence[ConflictMember]] = []
    chosen: tuple[ConflictMember, ...] = ()
    left: Sequence[Conflict] = find(program, kind)
    for _ in range(_ROUNDS):
        met += [conflict.minimal().members for conflict in left]
        chosen = smallest(met)
        left = find(without(program, chosen), kind)
        if not left:
            break
    return RepairSet(kind, count, chosen, sum(map(cost, chosen)), len(left))


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
    rules = [isinstance(member, Assertion) for member in members]
    costs = list(map(cost, members))
    chosen = [members[n] for group in apart for n in _cheapest(group, costs, rules)]
    return tuple(sorted(chosen, key=_place))


def _cheapest(sets: Sequence[frozenset[int]], costs: Sequence[float], rules: Sequence[bool]) -> Iterable[int]:
    """Of sets that are linked, of numbers of members: cheap ones first, facts before rules. By A*, whose bound is the
    cost of sets that share no member."""

    def rank(chosen: Sequence[int], left: Sequence[frozenset[int]]) -> tuple[float, int, int, Sequence[int]]:
        total = sum(costs[n] for n in chosen) + sum(costs[min(some)] for some in _disjoint(left))
        return round(total, 9), sum(rules[n] for n in chosen), len(chosen), sorted(chosen)

    queue: list[tuple[object, tuple[int, ...], Sequence[frozenset[int]]]] = [(rank((), sets), (), sets)]
    for _ in range(_TRIED):
        _, chosen, left = heappop(queue)
        if not left:
            return chosen
        some = min(left, key=len)
        for n in sorted(some):
            earlier = {other for other in some if other < n}  # those are tried without it
            rest = [other - earlier for other in left if n not in other]
            if all(rest):
                heappush(queue, (rank((*chosen, n), rest), (*chosen, n), rest))
    return _greedy(sets, costs)


def _greedy(sets: Sequence[frozenset[int]], costs: Sequence[float]) -> Iterator[int]:
    while sets:
        uses = Counter(n for some in sets for n in some)
        best = min(uses, key=lambda n: (costs[n] / uses[n], n))
        yield best
        sets = [some for some in sets if best not in some]


def _disjoint(sets: Sequence[frozenset[int]]) -> Iterator[frozenset[int]]:
    """Some of the sets that share no member: all of them must be met."""
    taken: set[int] = set()
    for some in sorted(sets, key=len):
        if some and not taken & some:
            taken |= some
            yield some


def _place(member: ConflictMember) -> tuple[object, ...]:
    """Facts first, by file and row."""
    if isinstance(member, GivenFact):
        return 0, member.file, member.row, member.predicate, member.arguments, member.text
    return 1, member.span.source.path, member.span.start
