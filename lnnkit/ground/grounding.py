"""The grounding of a program: its atoms, and the instances of its formulas, in batches of one shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.batch import Batch, Modes, shape
from lnnkit.ground.formula import AUXILIARY, Formula
from lnnkit.ground.instances import Domain, Instances
from lnnkit.ground.needs import Needs
from lnnkit.ground.plan import Recorder
from lnnkit.ground.relevance import SIDES, sides
from lnnkit.ground.supports import Analysis

Guard = Callable[[Formula, int], None]


class Grounding:
    """Grows as atoms come to differ from their defaults; ``members`` are its formulas' instances, in ``batches``."""

    def __init__(self, atoms: Atoms, domain: Domain, guard: Guard, recorder: Recorder | None = None) -> None:
        self.atoms = atoms
        self.domain = domain
        self.batches: list[Batch] = []
        self.members: list[Instances] = []
        self.guard = guard
        self._recorder = recorder
        self._shapes: dict[object, int] = {}
        self._ranks: Tensor | None = None
        self._watching: dict[tuple[str, str], set[int]] = {}  # lists of deviating rows -> members that join them
        self._read = 0  # how much of the atoms' growth has been seen
        self._stale: set[int] = set()  # members that have rows to add

    def add(
        self,
        formula: Formula,
        analysis: Analysis,
        needs: Needs,
        modes: Modes,
        kept: Mapping[str, bool],
        observers: Mapping[int, str],
        stage: object = None,
    ) -> int:
        """Enter a formula; formulas of one shape and ``stage`` share a batch. Returns the batch's number."""
        key = (stage, shape(formula, modes, tuple(sorted(observers))))
        if key not in self._shapes:
            self._shapes[key] = len(self.batches)
            self.batches.append(Batch(formula, analysis, modes, tuple(sorted(observers)), completes=stage is not None))
        number = self._shapes[key]
        batch = self.batches[number]
        member = len(self.members)
        self.members.append(
            Instances(
                formula, needs, self.atoms, self.domain, batch, member, kept, observers, self.guard, self._recorder
            )
        )
        if self._recorder is not None:
            self._recorder.enter(formula, needs, completes=stage is not None)
        self._ranks = None
        self._stale.add(member)
        for literals in (*(need.literals for need in needs.rows), *(s for sets in needs.fills.values() for s in sets)):
            for literal in literals:
                self._watching.setdefault((literal.table, literal.column), set()).add(member)
        return number

    def extend(self, members: Sequence[int]) -> None:
        """Add every instance of ``members`` that has come to be able to say something."""
        for grown in set(self.atoms.growth[self._read :]):
            self._stale |= self._watching.get(grown, set())
        self._read = len(self.atoms.growth)
        for member in sorted(self._stale.intersection(members)):
            self._stale.discard(member)
            self.members[member].extend()

    def batches_of(self, members: Sequence[int]) -> list[int]:
        """The numbers of the batches that hold ``members``."""
        numbers = {id(batch): number for number, batch in enumerate(self.batches)}
        return sorted({numbers[id(self.members[member].batch)] for member in members})

    def canonical(self, number: int, leaf: int, instance: Tensor) -> tuple[Tensor, Tensor]:
        """For instance rows: the rank of their formula's text, and of their assignment within the formula."""
        if self._ranks is None:
            order = sorted(range(len(self.members)), key=lambda m: self.members[m].formula.key)
            self._ranks = torch.empty(len(order), dtype=torch.int64)
            self._ranks[torch.tensor(order)] = torch.arange(len(order))
        block = 0 if leaf == AUXILIARY else self.batches[number].formula.neurons[leaf].block
        own = self.batches[number].blocks[block]
        member = own.member.values.index_select(0, instance).long()
        local = own.local.values.index_select(0, instance)
        place = torch.zeros(len(instance), dtype=torch.int64)
        for one in torch.unique(member).tolist():
            mine = (member == one).nonzero().squeeze(1)
            columns = [c.index_select(0, local[mine]) for c in self.members[one].variables(block)]
            if len(columns) * (self.domain.stranger + 1).bit_length() < 63:
                for column in columns:
                    place[mine] = place[mine] * (self.domain.stranger + 1) + column
            else:
                place[mine] = torch.unique(torch.stack(columns, 1), dim=0, return_inverse=True)[1]
        return self._ranks.index_select(0, member), place

    def assignment(self, number: int, row: int) -> tuple[Formula, tuple[int, ...]]:
        """The formula and the entity ids of its free variables behind one row of a batch's block 0."""
        own = self.batches[number].blocks[0]
        member = self.members[int(own.member.values[row])]
        local = int(own.local.values[row])
        return member.formula, tuple(int(column[local]) for column in member.variables(0))

    def reads(self, number: int, leaf: int, side: int) -> Sequence[tuple[int, tuple[int, ...]]]:
        """What an instance reads to set one side of one leaf: other leaves, and which of their sides (0, 1)."""
        analysis = self.batches[number].analysis
        read = analysis.polarity.reads(leaf, SIDES[side]) if leaf in analysis.defaults else []
        found: dict[int, set[int]] = {}
        for element in read:
            found.setdefault(element.leaf, set()).update(SIDES.index(s) for s in sides(element.end))
        if not found:  # an observed neuron, or the upper end of a completed head: whatever the instance reads
            found = {other: {0, 1} for other in analysis.formula.leaves if other != leaf}
        return [(other, tuple(sorted(ends))) for other, ends in found.items()]


def leaf_modes(formula: Formula, mode: Callable[[str, str], int]) -> Modes:
    """How far each leaf's two sides are kept."""
    names = {leaf: formula.neurons[leaf].source for leaf in formula.leaves}
    if formula.auxiliary is not None:
        names[AUXILIARY] = formula.auxiliary
    return {leaf: (mode(name, "lower"), mode(name, "upper")) for leaf, name in names.items()}
