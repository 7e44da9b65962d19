"""How a rule without inner blocks responds to a delta: its instances are looked up or worked out, their proposals left
in the inbox, and nothing is kept of them but the winners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.relevance import ALL, LISTED, SIDES
from lnnkit.engine.bounds_state import State, no_rows
from lnnkit.engine.merge import Proposals
from lnnkit.engine.response.respond import Target
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_instances import STRIP, Made, RuleInstances
from lnnkit.engine.round import Round
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.bindings import Bindings, Known
from lnnkit.join.delta_rule import DeltaRule, Leaf
from lnnkit.join.instances.arrested_assignments import Arrests
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.store.atoms import UNKNOWN, AtomTable
from lnnkit.store.columns.arrays import Array, Ends, spelled_out
from lnnkit.trail.events import Arrested

_VARIED = 8  # of so many classes it is asked whether each says nothing


class _Proposed(NamedTuple):
    """What some instances propose: for each target the positions of those that have news for it, and the bounds, or
    the one that all have. ``bad`` are the positions of those that cannot be satisfied, with their roots' bounds."""

    targets: Mapping[Target, tuple[Array, Array | float]]
    bad: Array
    roots: Ends


@dataclass(slots=True, eq=False)
class _Plan:
    """Where all ``leaves`` that are read are matched but the ``leaf`` of the ``head``: of all ``stored`` rows are kept.
    ``told`` is what the head is told, by the classes of the leaves and the number of those that it has had."""

    leaf: int
    head: Leaf
    leaves: list[Leaf]
    stored: list[tuple[int, Leaf]]
    told: dict[tuple[int, ...], tuple[int, float] | None] = field(default_factory=dict)


class RuleResponse:
    """Leaves what the instances of one rule propose. ``number`` is that of its shape, ``batch``."""

    def __init__(self, number: int, batch: RuleShape, member: int, rule: DeltaRule, table: ResponseTable) -> None:
        self.rule = rule
        self.number = number
        self.batch = batch
        self.member = member
        self.table = table
        self.exact = False  # whether it completes heads by their upper ends alone
        self.arrests = Arrests(rule)
        self._plans: dict[Known, _Plan | None] = {}  # by what a step of a join has bound

    def respond_by(self, table: ResponseTable, *, exact: bool) -> None:
        """What instances say is worked out by another table. If ``exact``, they complete heads that nobody else tells
        anything, each by one proposal for its upper end."""
        self.table = table
        self.exact = exact
        self._plans.clear()

    def propose(self, found: Bindings, now: Round) -> None:
        """Work out what instances propose, and leave it in the round's inbox."""
        if self.table.useful and self._insert(found, now):
            return
        instances = RuleInstances(self.batch, self.member, self.rule, found, now.atoms, now.encoded, now)
        proposed = self._respond(instances, now)
        if proposed is None:
            return
        if len(proposed.bad):
            self._arrest(instances, proposed, now)
        for (leaf, side), (at, value) in proposed.targets.items():
            if self.arrests.any:
                silent = self.arrests.flags(found.at(at), partial(instances.some_rows, at))
                if silent.any():
                    heard = np.flatnonzero(~silent)
                    at, value = at.take(heard), _picked(value, heard)
            if len(at):
                self._queue(instances, leaf, side, at, value, now)

    def begin(self, found: Bindings, now: Round) -> None:
        """Look at instances of a comparison before the first round: queue the truth that their numbers give them, and
        postpone those that have more to say to that round."""
        instances = RuleInstances(self.batch, self.member, self.rule, found, now.atoms, now.encoded)
        later = np.zeros(found.length, bool)
        given: dict[Target, list[tuple[Array, Array]]] = {}
        for start in range(0, found.length, STRIP):
            stop = min(start + STRIP, found.length)
            strip = self.table.evaluate(instances.reader(start, stop, now.state))
            clash = strip.bad | (strip.root.lower > strip.root.upper + now.state.noise)
            later[start:stop] = clash.numpy()
            for target, told in strip.proposed.items():
                news, value = (each.numpy() for each in told)
                if target[0] != AUXILIARY:
                    later[start:stop] |= news
                    continue
                at = np.flatnonzero(news & ~clash.numpy())
                if len(at):
                    given.setdefault(target, []).append((at + start, value.take(at)))
        for (leaf, side), parts in given.items():
            at, value = (np.concatenate(each) for each in zip(*parts, strict=True))
            self._queue(instances, leaf, side, at, value, now)
        positions = np.flatnonzero(later)
        if len(positions):
            self.rule.postpone(found.at(positions))

    def _respond(self, instances: RuleInstances, now: Round) -> _Proposed | None:
        """What the instances say, by the truth table where their bounds take few values."""
        length = instances.found.length
        if self.table.useful:
            columns = {leaf: instances.column(leaf) for leaf in self.table.leaves}
            code = self.table.codes(columns, now.encoded, length)
            if code is not None:
                at = self.table.states(code, now.encoded)
                if not len(at):
                    return None
                return self._looked_up(code, at)
        strips = [
            self._worked_out(instances, start, min(start + STRIP, length), now.state)
            for start in range(0, length, STRIP)
        ]
        return strips[0] if len(strips) == 1 else _together(strips)

    def _insert(self, found: Bindings, now: Round) -> bool:
        """Tell new atoms what all instances say of theirs, where that is one bound, and none of the atoms that are
        there hears anything new of it: they are made before they are looked up. False where that is not so."""
        if self.rule.enumerates or self.arrests.any:
            return False
        known = found.known
        if known not in self._plans:
            self._plans[known] = self._plan(found)
        plan = self._plans[known]
        if plan is None:
            return False
        encoded, soles, moved = now.encoded, list[int](), found.moved
        for each in plan.leaves:
            sole = encoded.sole(each.table.number)
            if sole is None and moved is not None and moved[0] == each.atom:
                sole = now.class_of_moved(each.table, moved[1])
            if sole is None:
                return False
            soles.append(sole)
        table = plan.head.table
        key = (*soles, len(encoded.known(table.number)))
        if key not in plan.told:
            plan.told[key] = (self._completed if self.exact else self._alone)(plan, soles, now)
        told = plan.told[key]
        if told is None or not self._all_told(table, told, now):
            return False
        atoms, start = now.atoms, now.atoms.length
        fresh = atoms.make(table, plan.head.pattern.tuples(found.column, found.length), found.length)
        stop = atoms.length
        if start == stop:
            return True
        now.made[table.number] = told, now.made[table.number][1] + stop - start
        now.state.extend(atoms)
        encoded.extend()
        columns: dict[int, Array | range] = {plan.leaf: range(start, stop)}
        for leaf, each in plan.stored:
            columns[leaf] = found.rows(each.atom, each.table, fresh)
        made, rows, own = Made(self.batch, self.member, columns), range(start, stop), range(stop - start)
        now.inbox.sides[told[0]].append(Proposals(rows, told[1], own, self.number, plan.leaf, made, distinct=True))
        return True

    def _plan(self, found: Bindings) -> _Plan | None:
        """What stands behind the leaves of what a step of a join finds; None where more than one is not matched."""
        leaves = {leaf: self.rule.leaf(leaf) for leaf in self.batch.blocks[0].columns}
        heads = [*self.batch.formula.heads]
        if not self.exact:
            heads = [k for k, each in leaves.items() if each is not None and each.atom not in found.known.matched]
        if len(heads) != 1 or (not self.exact and heads[0] in self.batch.formula.heads):
            return None
        (head,) = heads
        stored: list[tuple[int, Leaf]] = []
        for leaf, each in leaves.items():
            if each is None or (leaf != head and each.atom not in found.known.matched):
                return None
            if leaf != head:
                stored.append((leaf, each))
        own, read = leaves[head], dict(stored)
        if own is None or any(leaf != head and leaf not in read for leaf in self.table.leaves):
            return None
        every = [read[leaf] for leaf in self.table.leaves if leaf != head]
        if not all(each.plain and each.told_apart and each.atom in found.known.listed for each in every):
            return None
        return _Plan(head, own, every, stored)

    def _alone(self, plan: _Plan, soles: list[int], now: Round) -> tuple[int, float] | None:
        """The side and the bound that the head is told at its default, if it alone is told anything, and nothing in any
        other class that it has had."""
        position = self.table.leaves.index(plan.leaf)
        default, *others = now.encoded.known(plan.head.table.number)
        proposed = self.table.proposed((*soles[:position], default, *soles[position:]), now.encoded)
        if len(proposed) != 1 or len(others) > _VARIED:
            return None
        (((leaf, side), value),) = proposed.items()
        if leaf != plan.leaf or self.batch.modes[leaf][side] != ALL:
            return None
        silent = (self.table.silent((*soles[:position], n, *soles[position:]), now.encoded) for n in others)
        return (side, value) if all(silent) else None

    def _completed(self, plan: _Plan, soles: list[int], now: Round) -> tuple[int, float] | None:
        """As `_alone`, of a head that is completed by its upper end."""
        proposed = self.table.proposed(tuple(soles), now.encoded)
        table = plan.head.table
        if proposed.keys() != {(plan.leaf, 1)} or table.default != (0.0, 0.0):
            return None
        value = proposed[plan.leaf, 1]
        others = (now.encoded.pairs[number][1] for number in now.encoded.known(table.number)[1:])
        return None if any(upper < value - now.state.noise for upper in others) else (1, value)

    def _all_told(self, table: AtomTable, told: tuple[int, float], now: Round) -> bool:
        """Whether each atom of a table that is there has been told, before this round or, the same, in it: from now
        on the others are."""
        known, count = now.made.get(table.number, (told, 0))
        listed = len(table.deviating[SIDES[told[0]]]) + count
        if known != told or len(table.tuples) != listed or not now.encoded.settled(table.number):
            return False
        now.made[table.number] = told, count
        return True

    def _looked_up(self, code: Array, at: Array) -> _Proposed:
        code = code.take(at)
        targets: dict[Target, tuple[Array, Array | float]] = {}
        for target, (news, value) in self.table.targets.items():
            some = np.flatnonzero(news.take(code))
            if len(some) == len(at):
                targets[target] = at, value.take(code)
            elif len(some):
                targets[target] = at.take(some), value.take(code.take(some))
        if self.table.any_bad:
            bad = np.flatnonzero(self.table.bad(code))
            return _Proposed(targets, at.take(bad), self.table.root(code.take(bad)))
        nothing = no_rows()
        return _Proposed(targets, nothing, Ends(nothing, nothing))

    def _worked_out(self, instances: RuleInstances, start: int, stop: int, state: State) -> _Proposed:
        found = self.table.evaluate(instances.reader(start, stop, state))
        good, bad = None, np.flatnonzero(found.bad.numpy())
        if len(bad):
            good = ~found.bad.numpy()
        targets: dict[Target, tuple[Array, Array | float]] = {}
        for target, proposed in found.proposed.items():
            news, value = (each.numpy() for each in proposed)
            at = np.flatnonzero(news if good is None else news & good)
            if len(at):
                targets[target] = at + start if start else at, value.take(at)
        roots = Ends(found.root.lower.numpy().take(bad), found.root.upper.numpy().take(bad))
        return _Proposed(targets, bad + start, roots)

    def _arrest(self, instances: RuleInstances, proposed: _Proposed, now: Round) -> None:
        naming = self.arrests.naming
        default_row = UNKNOWN if naming is None else instances.table(naming).default_row
        some = self.arrests.add(instances.found, proposed.bad, instances.rows, default_row)
        if len(some):
            rows = spelled_out(instances.store(proposed.bad.take(some)))
            self.batch.arrested[rows] = True
            roots = Ends(proposed.roots.lower.take(some), proposed.roots.upper.take(some))
            now.arrested.append(Arrested(self.number, rows, roots))

    def _queue(
        self, instances: RuleInstances, leaf: int, side: int, at: Array, value: Array | float, now: Round
    ) -> None:
        """Queue bounds for those atoms behind a leaf that hear of them."""
        completed = leaf in self.batch.formula.heads
        rows = instances.rows(leaf)
        if len(at) != len(rows):
            rows = rows.take(at)
        hears: Array | None = None
        fresh = False  # whether all rows are new, and so none stands twice
        if not completed and self.batch.modes[leaf][side] == LISTED:
            hears = now.atoms.flags("listed").take(rows)
        else:
            absent = np.flatnonzero(rows == instances.table(leaf).default_row)
            if len(absent):
                known = len(now.atoms)
                rows = instances.materialise(leaf, at, absent)
                fresh = len(now.atoms) - known == len(rows)
                now.state.extend(now.atoms)
                now.encoded.extend()
        if len(now.state.crossed):
            awake = ~now.state.frozen.take(rows)
            if self.batch.formula.compares:
                awake &= ~instances.own_arrested(now.state).take(at)
            hears = awake if hears is None else hears & awake
        if completed and not fresh:
            free = ~now.atoms.flags("given").take(rows)
            free &= value > now.state.ends(side).values.take(rows) + now.state.noise
            hears = free if hears is None else hears & free
        if hears is not None and not hears.all():
            hearing = np.flatnonzero(hears)
            at, rows, value = at.take(hearing), rows.take(hearing), _picked(value, hearing)
        if len(at):
            now.inbox.sides[side].append(Proposals(rows, value, at, self.number, leaf, instances, fresh))


def _picked(value: Array | float, positions: Array) -> Array | float:
    return value.take(positions) if isinstance(value, np.ndarray) else value


def _together(strips: list[_Proposed]) -> _Proposed:
    targets: dict[Target, tuple[Array, Array | float]] = {}
    for target in dict.fromkeys(target for strip in strips for target in strip.targets):
        parts = zip(*(strip.targets[target] for strip in strips if target in strip.targets), strict=True)
        at, value = (np.concatenate(part) for part in parts)
        targets[target] = at, value
    roots = Ends(*(np.concatenate(ends) for ends in zip(*(strip.roots for strip in strips), strict=True)))
    return _Proposed(targets, np.concatenate([strip.bad for strip in strips]), roots)
