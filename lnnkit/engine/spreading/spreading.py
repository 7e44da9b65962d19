"""Rounds that only spread: all they do is to make new atoms, few at a time, and tell each the same.

A chain of a thousand links takes a thousand such rounds. They are run apart from the plain ones, on numbers of entities
alone, and what they have made is entered at their end: the same atoms, bounds, winners and changes, in the same order.
Whatever else there may be to do in a round ends them before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lnnkit.analysis.relevance import SIDES
from lnnkit.engine.delta import Delta
from lnnkit.engine.spreading.flow import MOST, Flow, flow
from lnnkit.engine.spreading.spread import Head, Piece, enter
from lnnkit.engine.stop.watch import RoundReport, Watch
from lnnkit.engine.worklist import Worklist
from lnnkit.engine.workspace import Status, Workspace
from lnnkit.join.few_joins import FewBindings, Unfit
from lnnkit.join.instances.grounding import sources
from lnnkit.store.columns.arrays import Array, spelled_out

_WORTH = 4  # rounds that pay for entering them apart

Where = tuple[str, int]  # a table, and the side on which it moves


@dataclass(slots=True, eq=False)
class _Delta:
    """Rows of a table that moved, all of one class, by their columns."""

    own_class: int
    columns: list[Array]
    local: Array


class Spreading:
    """Looks out for such rounds among those over ``members``."""

    def __init__(self, space: Workspace, members: Sequence[int], worklist: Worklist) -> None:
        self._space = space
        self._agenda = worklist
        self._watched = _watched(space, members)
        self._wait = 0
        self._price = 1
        mixed = bool(space.comparisons) and bool(space.grounding.kept(members))  # what is asked for is found by both
        self._possible = not mixed

    def run(self, delta: Delta, limit: int, watch: Watch | None) -> Delta | None:
        """Rounds from what has moved, until there is more to do, or nothing; the last one's moves. None without any.
        The status is that of a stop, if ``watch`` wanted one."""
        if self._wait:
            self._wait -= 1
            return None
        if not self._possible or self._agenda.fresh:
            return None
        deltas = self._begun(delta)
        if deltas is None:
            return None
        run = _Run(self._space, self._agenda, self._watched, deltas)
        while self._space.progress.rounds < limit and run.round():
            self._space.progress.rounds += 1
            if watch is not None and not watch.after_round(run.report()):
                self._space.progress.status = Status.INTERRUPTED
                break
        self._price = 1 if run.rounds >= _WORTH else 2 * self._price
        self._wait = self._price
        return run.enter() if run.rounds else None

    def _begun(self, delta: Delta) -> dict[Where, _Delta] | None:
        """What has moved, if there is little, and each table's is of one class."""
        deltas: dict[Where, _Delta] = {}
        encoded, tables = self._space.encoded, self._space.grounding.atoms.tables
        for name, side in delta.where:
            rows, table = delta.rows(name, side), tables[name]
            assert rows is not None
            rows = spelled_out(rows)
            if not len(rows):
                continue
            if table.numeric or len(rows) > MOST or name in self._watched:
                return None
            own_class = encoded.common(table.row(rows))
            if own_class is None:
                return None
            columns = [column.take(rows) for column in table.tuples.columns]
            deltas[name, side] = _Delta(own_class, columns, rows)
        return deltas or None


@dataclass
class _Run:
    """Rounds that follow one another. ``watched`` tables are read by others than flows."""

    space: Workspace
    worklist: Worklist
    watched: frozenset[str]
    deltas: dict[Where, _Delta]
    rounds: int = 0
    _heads: dict[str, Head] = field(default_factory=dict)
    _fixed: set[str] = field(default_factory=set)  # tables that flows have read, and that must not grow
    _flows: dict[tuple[Where, int], list[tuple[int, int, Flow]]] = field(default_factory=dict)
    _due: dict[tuple[tuple[Where, int], ...], list[tuple[Flow, Where]]] = field(default_factory=dict)
    _pieces: list[Piece] = field(default_factory=list)
    _made: int = 0

    def report(self) -> RoundReport:
        """How far inference has come."""
        progress = self.space.progress
        return RoundReport(
            "inference", progress.rounds, len(self.space.grounding.atoms) + self._made, progress.instances
        )

    def round(self) -> bool:
        """One more round, if it is such a one and makes anything; else nothing has changed."""
        try:
            flows = self._flows_due()
        except Unfit:
            return False
        before = [(each, each.response.rule.assignment_count, each.trigger.seen) for each, _ in flows]
        made = [(each, dict(each.joins.joins.made)) for each, _ in flows]
        try:
            found = self._found(flows)
        except Unfit:
            found = []
        fresh = self._add(found)
        if not fresh:
            for each, count, seen in before:
                each.response.rule.assignment_count, each.trigger.seen = count, seen
            for each, counts in made:
                each.joins.joins.made.clear()
                each.joins.joins.made.update(counts)
            return False
        self.rounds += 1
        self.space.progress.instances += sum(each.length for _, each, _, _ in found)
        self.deltas = {}
        for head in self._heads.values():
            new = head.length - head.entered
            if new:
                columns = [np.concatenate(part) for part in zip(*fresh[head.table.name], strict=True)]
                local = np.arange(head.entered, head.length)
                self.deltas[head.table.name, head.side] = _Delta(head.number, columns, local)
                head.entered = head.length
        return True

    def enter(self) -> Delta:
        """Enter what the rounds have made; returns what the last one has moved."""
        enter(self._pieces, self.space, self.rounds)
        delta = Delta()
        for (name, side), own in self.deltas.items():
            delta.add(self.space.grounding.atoms.tables[name], side, own.local.astype(np.int32))
        return delta

    def _found(self, flows: list[tuple[Flow, Where]]) -> list[tuple[Flow, FewBindings, list[Array], Array]]:
        """What the flows find, with the tuples of their heads and the keys of those. Raises `Unfit` where any of it is
        not told as new atoms are, or is too much."""
        found: list[tuple[Flow, FewBindings, list[Array], Array]] = []
        counts: dict[str, int] = {}
        for each, where in flows:
            delta = self.deltas[where]
            source = self._heads.get(where[0])
            grown = 0 if source is None else source.entered - source.begun
            head = self._heads[each.table.name]
            radix = head.table.tuples.radix
            for some in each.found(delta.columns, delta.local, grown):
                columns = each.columns(some)
                key = columns[0].astype(np.int64)
                for column in columns[1:]:
                    key = key * radix + column
                if not head.quiet:
                    self._check(each, head, key)
                counts[each.table.name] = counts.get(each.table.name, 0) + some.length
                found.append((each, some, columns, key))
        if any(not self._heads[name].few.room(self._heads[name].length + count) for name, count in counts.items()):
            raise Unfit
        return found

    def _check(self, flow: Flow, head: Head, key: Array) -> None:
        """Atoms that were there before must hear nothing new."""
        known = head.few.find(key)
        known = known[known < head.begun]
        if len(known):
            codes = self.space.encoded.codes.values.take(head.table.row(known))
            if not flow.silent.issuperset(np.unique(codes).tolist()):
                raise Unfit

    def _add(self, found: list[tuple[Flow, FewBindings, list[Array], Array]]) -> dict[str, list[list[Array]]]:
        """Make the atoms that are not there; returns the new tuples by table."""
        new: dict[str, list[list[Array]]] = {}
        for each, some, columns, key in found:
            head = self._heads[each.table.name]
            count, fresh = head.few.add(key, head.length)
            if not count:
                continue
            head.length += count
            self._made += count
            own = columns if fresh is None else [column.take(fresh) for column in columns]
            head.parts.append(own)
            new.setdefault(head.table.name, []).append(own)
            local = {atom: some.local(atom, fresh) for atom in each.leaves.values()}
            self._pieces.append(Piece(each, head, self.rounds + 1, count, local))
        return new

    def _flows_due(self) -> list[tuple[Flow, Where]]:
        """The flows of what has moved, in the order in which their members look. Raises `Unfit` where anything else is
        to be done, or they get in each other's way."""
        key = tuple((where, delta.own_class) for where, delta in self.deltas.items())
        if key not in self._due:
            flows = [(*entry, where) for where, number in key for entry in self._flows_of(where, number)]
            flows.sort(key=lambda entry: entry[:2])
            self._due[key] = [(each, where) for _, _, each, where in flows]
        return self._due[key]

    def _flows_of(self, where: Where, number: int) -> list[tuple[int, int, Flow]]:
        """Those of one table, with their members and their places there."""
        if (where, number) in self._flows:
            return self._flows[where, number]
        flows: list[tuple[int, int, Flow]] = []
        for response in self.worklist.listening(*where):
            for place, trigger in enumerate(response.rule.found_triggers()):
                if (trigger.pattern.table.name, trigger.side) == where:
                    each = flow(response, trigger, number, self.space.encoded)
                    self._fixed.update(literal.table for literal in trigger.rest)
                    self._take_up(each)
                    flows.append((response.member, place, each))
        if self._fixed & self._heads.keys() or len({head.side for head in self._heads.values()}) > 1:
            raise Unfit
        self._flows[where, number] = flows
        return flows

    def _take_up(self, flow: Flow) -> None:
        """A flow's head is to grow."""
        name, table, encoded = flow.table.name, flow.table, self.space.encoded
        if name in self.watched:
            raise Unfit
        known = encoded.known(table.number)[1:]
        listed = len(table.deviating[SIDES[flow.side]])
        head = self._heads.get(name)
        length = len(table.tuples) if head is None else head.begun
        quiet = flow.silent.issuperset(known) and encoded.settled(table.number) and listed == length
        if head is None:
            low, high = table.default
            pair = (low, flow.value) if flow.side else (flow.value, high)
            numbers = [number for number in known if encoded.pairs[number] == pair]
            few = table.tuples.few()
            if few is None or not numbers or pair[0] > pair[1]:
                raise Unfit
            head = Head(table, few, flow.side, flow.value, pair, numbers[0], quiet, length, length, length)
            self._heads[name] = head
        same = (head.side, head.told) == (flow.side, flow.value)
        if not same or head.number not in flow.silent or (head.quiet and not quiet):
            raise Unfit


def _watched(space: Workspace, members: Sequence[int]) -> frozenset[str]:
    """The tables that are read otherwise than by joins from what has moved: by kept instances, and where comparisons
    come to be of use."""
    found = space.grounding.read_by_kept(members)
    for response in space.comparisons:
        found |= sources(response.rule.formula) | response.rule.demanding
    return frozenset(found)
