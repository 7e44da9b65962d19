"""The grounding of a program: its atoms, and the instances of its formulas, in batches of one shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Literal, Protocol

import numpy as np

from lnnkit.analysis.needs import EQUAL, Needs
from lnnkit.analysis.relevance import SIDES, sides
from lnnkit.analysis.supports import Analysis
from lnnkit.check.program import ENTITY
from lnnkit.formula.shape import Modes, shape
from lnnkit.formula.unfolding import AUXILIARY, Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.kept_instances import KeptInstances
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.join_plan import Recorder
from lnnkit.store.atoms import Atoms
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.domain import Domain
from lnnkit.time_limit import check_time

Use = Literal["joined", "kept", "evaluated"]  # how instances are evaluated and stored: determines their memory


class Guard(Protocol):
    """Raises if a formula has more instances than the budget allows."""

    def __call__(self, formula: Formula, count: int, use: Use = "evaluated") -> None: ...


class Grounding:
    """The grounding, which grows as atoms leave their defaults; ``members`` are the formulas' instances, in
    ``batches``."""

    def __init__(self, atoms: Atoms, domain: Domain, guard: Guard, recorder: Recorder | None = None) -> None:
        self.atoms = atoms
        self.domain = domain
        self.batches: list[RuleShape] = []
        self.members: list[KeptInstances | DeltaRule] = []
        self.guard = guard
        self._recorder = recorder
        self._shapes: dict[object, int] = {}
        self._watching: dict[tuple[str, str], set[int]] = {}  # lists of deviating rows -> members that join them
        self._numbers: list[int] = []  # the batch of each member
        self._read = len(atoms.growth)  # how much of the atoms' growth was processed
        self._stale: set[int] = set()  # members with rows to add

    def add(
        self,
        formula: Formula,
        analysis: Analysis,
        needs: Needs,
        modes: Modes,
        kept: Mapping[str, bool],
        observers: Mapping[int, str],
        stage: object = None,
        joined: bool = False,
    ) -> int:
        """Enter a formula; formulas of one shape, ``stage`` and parameters share a batch. If ``joined``, instances are
        not stored unless the formula requires it; otherwise they are only evaluated. Returns the batch's number."""
        check_time()
        if any(literal.table == EQUAL for literal in needs.literals):
            _add_equality(self.atoms, self.domain)
        key = (stage, formula.learned, shape(formula, modes, tuple(sorted(observers))))
        if key not in self._shapes:
            self._shapes[key] = len(self.batches)
            self.batches.append(
                RuleShape(formula, analysis, modes, tuple(sorted(observers)), completes=stage is not None)
            )
        number = self._shapes[key]
        batch = self.batches[number]
        member = len(self.members)
        self._numbers.append(number)
        batch.members.append(member)
        again = joined and len(formula.blocks) == 1 and not observers
        needs = needs if again else needs.own(len(formula.sorts))
        if self._recorder is not None:
            self._recorder.enter(formula, needs, completes=stage is not None)
        if again:
            guard = partial(self.guard, use="joined")
            self.members.append(
                DeltaRule(formula, needs, batch.reads, self.atoms, self.domain, guard, member, self._recorder)
            )
            return number
        guard = partial(self.guard, use="kept" if joined else "evaluated")
        self.members.append(
            KeptInstances(
                formula, needs, self.atoms, self.domain, batch, member, kept, observers, guard, self._recorder
            )
        )
        self._stale.add(member)
        for literal in needs.literals:
            for column in ("lower", "upper", "either") if literal.column == "either" else (literal.column,):
                self._watching.setdefault((literal.table, column), set()).add(member)
        return number

    def extend(self, members: Sequence[int]) -> None:
        """Add the instances of ``members`` that can now propose something."""
        for grown in set(self.atoms.growth[self._read :]):
            self._stale |= self._watching.get(grown, set())
        self._read = len(self.atoms.growth)
        for member in sorted(self._stale.intersection(members)):
            self._stale.discard(member)
            own = self.members[member]
            assert isinstance(own, KeptInstances)
            own.extend()

    def kept(self, members: Sequence[int]) -> list[int]:
        """The numbers of the batches that hold the kept instances of ``members``."""
        found = {self.number(member) for member in members if isinstance(self.members[member], KeptInstances)}
        return sorted(found)

    def number(self, member: int) -> int:
        """The number of a member's batch."""
        return self._numbers[member]

    def assignments(self, number: int, rows: Array) -> list[tuple[Formula, Array, Callable[[], list[Array]]]]:
        """For rows of a batch's block 0: the formulas that they instantiate, each with the positions of its rows and
        what finds the entity ids of its free variables there, now or later."""
        own = self.batches[number].blocks[0]
        members = own.member.take(rows)
        found = []
        for one in np.unique(members).tolist():
            mine = np.flatnonzero(members == one)
            member, some = self.members[self.batches[number].members[one]], rows.take(mine)
            if isinstance(member, DeltaRule):
                found.append((member.formula.original, mine, partial(self.variables, number, member, some)))
            else:
                local = own.local.take(some)
                ids = [column.take(local) for column in member.variables(0)]
                found.append((member.formula, mine, partial(list[Array], ids)))
        return found

    def variables(self, number: int, rule: DeltaRule, rows: Array) -> list[Array]:
        """The entity ids of the free variables for rows of the batch of a formula that is joined again."""
        own = self.batches[number].blocks[0]
        free = rule.formula.original.blocks[0].variables
        if rule.enumerates:
            local = own.local.take(rows)
            return [column.values.take(local) for column in rule.kept[: len(free)]]
        found: dict[int, Array] = {}
        for leaf in (*rule.formula.leaves, *((AUXILIARY,) if rule.formula.auxiliary is not None else ())):
            local = self.atoms.local(own.columns[leaf].values.take(rows))
            there = local >= 0
            pattern = rule.pattern(rule.atom(leaf))
            for variable, place in pattern.places.items():
                ids = pattern.table.tuples.columns[place]
                if len(ids):
                    some = ids.take(np.maximum(local, 0))
                    found[variable] = np.where(there, some, found[variable]) if variable in found else some
        return [found[variable] for variable in free]

    def reads(self, number: int, leaf: int, side: int) -> Sequence[tuple[int, tuple[int, ...]]]:
        """The bounds that an instance reads to set one side of one leaf: other leaves, with the sides read (0, 1)."""
        analysis = self.batches[number].analysis
        read = analysis.polarity.reads(leaf, SIDES[side]) if leaf in analysis.defaults else []
        found: dict[int, set[int]] = {}
        for element in read:
            found.setdefault(element.leaf, set()).update(SIDES.index(s) for s in sides(element.end))
        if not found:  # an observed neuron, or the upper end of a completed head: everything that the instance reads
            found = {other: {0, 1} for other in analysis.formula.leaves if other != leaf}
        return [(other, tuple(sorted(ends))) for other, ends in found.items()]


def _add_equality(atoms: Atoms, domain: Domain) -> None:
    """Add equality of entities as a table of pairs (e, e), unless it exists: joins treat ``X = Z`` as any literal. Its
    bounds are never read; its rows are listed as deviating on the lower end."""
    if EQUAL in atoms.tables:
        return
    table = atoms.add_table(EQUAL, (ENTITY, ENTITY), (0.0, 0.0))
    entities = domain.sorts[ENTITY]
    rows = atoms.add_new(table, (entities, entities), len(entities))
    atoms.deviate_new(table, "lower", rows.start, range(len(entities)))


def sources(formula: Formula) -> set[str]:
    """The tables that a formula's instances read."""
    own = set() if formula.auxiliary is None else {formula.auxiliary}
    return own | {formula.neurons[leaf].source for leaf in formula.leaves}


def leaf_modes(formula: Formula, mode: Callable[[str, str], int]) -> Modes:
    """How each leaf's two sides are kept."""
    names = {leaf: formula.neurons[leaf].source for leaf in formula.leaves}
    if formula.auxiliary is not None:
        names[AUXILIARY] = formula.auxiliary
    found = {leaf: (mode(name, "lower"), mode(name, "upper")) for leaf, name in names.items()}
    if formula.prenex_of is not None and AUXILIARY in found:  # a row gives its group the end that it does not read
        least, most = formula.reads_own
        found[AUXILIARY] = (found[AUXILIARY][0] * most, found[AUXILIARY][1] * least)
    return found
