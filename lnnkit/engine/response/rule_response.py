"""How a rule without inner blocks responds to a delta: its responses are looked up or computed, their proposals go to
the inbox, and only winning instances are stored."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.relevance import LISTED
from lnnkit.engine.bounds_state import State, no_rows
from lnnkit.engine.merge import Proposals
from lnnkit.engine.moves import Round
from lnnkit.engine.response.head_insertion import HeadInsertion
from lnnkit.engine.response.respond import Target
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_instances import STRIP, RuleInstances
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.arrested_assignments import Arrests
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import UNKNOWN
from lnnkit.store.columns.row_arrays import Array, spelled_out
from lnnkit.trail.events import Arrested


class _Proposed(NamedTuple):
    """What some instances propose: for each target the positions of those that tighten it, and their bounds, or the one
    that all propose. ``bad`` are the positions of those that cannot be satisfied, with their roots' bounds."""

    targets: Mapping[Target, tuple[Array, Array | float]]
    bad: Array
    roots: Bounds


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
        self._insertion = HeadInsertion(number, batch, member, rule, table, exact=False)

    def respond_by(self, table: ResponseTable, *, exact: bool) -> None:
        """Compute responses by another table. If ``exact``, the instances complete heads that no other rule bounds,
        each by one proposal for its upper end."""
        self.table = table
        self.exact = exact
        self._insertion = HeadInsertion(self.number, self.batch, self.member, self.rule, table, exact=exact)

    def propose(self, found: Bindings, now: Round) -> None:
        """Work out what instances propose, and leave it in the round's inbox."""
        insertable = self.table.useful and not self.rule.enumerates and not self.arrests.any
        if insertable and self._insertion.insert(found, now):
            return
        now.extend()
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
            later[start:stop] = clash
            for target, told in strip.proposed.items():
                news, value = (each for each in told)
                if target[0] != AUXILIARY:
                    later[start:stop] |= news
                    continue
                at = np.flatnonzero(news & ~clash)
                if len(at):
                    given.setdefault(target, []).append((at + start, value.take(at)))
        for (leaf, side), parts in given.items():
            at, value = (np.concatenate(each) for each in zip(*parts, strict=True))
            self._queue(instances, leaf, side, at, value, now)
        positions = np.flatnonzero(later)
        if len(positions):
            self.rule.postpone(found.at(positions))

    def _respond(self, instances: RuleInstances, now: Round) -> _Proposed | None:
        """What the instances propose, looked up in the response table where their bounds take few values."""
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
        return _Proposed(targets, nothing, Bounds(nothing, nothing))

    def _worked_out(self, instances: RuleInstances, start: int, stop: int, state: State) -> _Proposed:
        found = self.table.evaluate(instances.reader(start, stop, state))
        good, bad = None, np.flatnonzero(found.bad)
        if len(bad):
            good = ~found.bad
        targets: dict[Target, tuple[Array, Array | float]] = {}
        for target, proposed in found.proposed.items():
            news, value = (each for each in proposed)
            at = np.flatnonzero(news if good is None else news & good)
            if len(at):
                targets[target] = at + start if start else at, value.take(at)
        roots = Bounds(found.root.lower.take(bad), found.root.upper.take(bad))
        return _Proposed(targets, bad + start, roots)

    def _arrest(self, instances: RuleInstances, proposed: _Proposed, now: Round) -> None:
        if self.rule.formula.prenex_of is not None:  # the worst row of its quantifiers stands for an instance
            worst = np.argsort(proposed.roots.upper - proposed.roots.lower, kind="stable")
            roots = Bounds(proposed.roots.lower.take(worst), proposed.roots.upper.take(worst))
            proposed = proposed._replace(bad=proposed.bad.take(worst), roots=roots)
        naming = self.arrests.naming
        default_row = UNKNOWN if naming is None else instances.table(naming).default_row
        some = self.arrests.add(instances.found, proposed.bad, partial(instances.some_rows, proposed.bad), default_row)
        if len(some):
            rows = spelled_out(instances.store(proposed.bad.take(some)))
            self.batch.arrested[rows] = True
            roots = Bounds(proposed.roots.lower.take(some), proposed.roots.upper.take(some))
            now.arrested.append(Arrested(self.number, rows, roots))

    def _queue(
        self, instances: RuleInstances, leaf: int, side: int, at: Array, value: Array | float, now: Round
    ) -> None:
        """Queue bounds for the atoms behind a leaf that can take them."""
        completed = leaf in self.batch.formula.heads
        every = len(at) == instances.found.length
        rows = instances.rows(leaf) if every else instances.some_rows(at, leaf)
        hears: Array | None = None
        fresh = False  # whether all rows are new, so that none occurs twice
        if not completed and self.batch.modes[leaf][side] == LISTED:
            hears = now.atoms.flags("listed").take(rows)
        else:
            absent = np.flatnonzero(rows == instances.table(leaf).default_row)
            if len(absent):
                known = len(now.atoms)
                rows = instances.materialise(leaf, at, absent)
                fresh = len(now.atoms) - known == len(rows)
                now.extend()
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
    roots = Bounds(*(np.concatenate(ends) for ends in zip(*(strip.roots for strip in strips), strict=True)))
    return _Proposed(targets, np.concatenate([strip.bad for strip in strips]), roots)
