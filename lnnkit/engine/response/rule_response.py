"""What the instances of a member that are not kept say: looked up, or worked out, and queued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from lnnkit.analysis.relevance import ALL, LISTED, SIDES
from lnnkit.engine.bounds_state import State, no_rows
from lnnkit.engine.merge import Proposals
from lnnkit.engine.response.forward import clause
from lnnkit.engine.response.respond import Target
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_instances import STRIP, RuleInstances
from lnnkit.engine.round import Round
from lnnkit.flags import all_set, any_set, chosen, where_set
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.arrested_assignments import Arrests
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Comparison, Interval, point
from lnnkit.store.atoms import UNKNOWN, Atoms, AtomTable
from lnnkit.trail.events import Arrested

_VARIED = 8  # of so many classes it is asked whether each says nothing
_WIDE = 2**15  # so many truths of points are worked out at once


@dataclass(frozen=True, slots=True)
class _Said:
    """What some instances say: for each target the positions at which it is news, and the bounds. ``bad`` are the
    positions of those that cannot be satisfied, with the bounds of their roots."""

    targets: Mapping[Target, tuple[Tensor, Tensor]]
    bad: Tensor
    roots: Bounds


class RuleResponse:
    """Sends what the instances of one member say. ``number`` is its batch's."""

    def __init__(self, number: int, batch: RuleShape, member: int, rule: DeltaRule, table: ResponseTable) -> None:
        self.rule = rule
        self.number = number
        self.batch = batch
        self.member = member
        self.table = table
        self.exact = False  # whether it completes heads by their upper ends alone
        self._clause = clause(batch)
        self.arrests = Arrests(rule)

    def tell(self, table: ResponseTable, *, exact: bool) -> None:
        """What instances say is worked out by another table. If ``exact``, they complete heads that nobody else tells
        anything, each by one message for its upper end."""
        self.table = table
        self.exact = exact

    def send(self, found: Bindings, now: Round) -> None:
        """Look at instances, and queue their messages."""
        visit = RuleInstances(self.batch, self.member, self.rule, found, now.atoms, now.encoded, now)
        said = self._said(visit, now)
        if said is None:
            return
        if said.bad.numel():
            self._arrest(visit, said, now)
        for (leaf, side), (at, value) in said.targets.items():
            if len(self.arrests):
                silent = self.arrests.flags(found.at(at), partial(visit.some_rows, at))
                if any_set(silent):
                    heard = where_set(~silent)
                    at, value = at.index_select(0, heard), value.index_select(0, heard)
            if at.numel():
                self._queue(visit, leaf, side, at, value, now)

    def begin(self, found: Bindings, now: Round) -> None:
        """Look at instances of a comparison before the first round: queue the truth that their numbers give them, and
        postpone those that have more to say to that round."""
        visit = RuleInstances(self.batch, self.member, self.rule, found, now.atoms, now.encoded)
        truth = self._truth_of_points(visit, now.state)
        if truth is not None:
            told = truth.lower > now.state.noise, truth.upper < 1 - now.state.noise
            if all(self.batch.modes[AUXILIARY]) and visit.nobody(AUXILIARY) and all_set(told[0] | told[1]):
                visit.make(AUXILIARY, now)  # in the order of their numbers
            for side, news in enumerate(told):
                at = where_set(news)
                if self.batch.modes[AUXILIARY][side] and at.numel():
                    self._queue(visit, AUXILIARY, side, at, truth[side].index_select(0, at), now)
            return
        later = torch.zeros(found.length, dtype=torch.bool)
        given: dict[Target, list[tuple[Tensor, Tensor]]] = {}
        for start in range(0, found.length, STRIP):
            stop = min(start + STRIP, found.length)
            strip = self.table.evaluate(visit.reader(start, stop, now.state))
            clash = strip.bad | (strip.root.lower > strip.root.upper + now.state.noise)
            later[start:stop] = clash
            for target, (news, value) in strip.said.items():
                if target[0] != AUXILIARY:
                    later[start:stop] |= news
                    continue
                at = where_set(news & ~clash)
                if at.numel():
                    given.setdefault(target, []).append((at + start, value.index_select(0, at)))
        for (leaf, side), parts in given.items():
            at, value = (torch.cat(each) for each in zip(*parts, strict=True))
            self._queue(visit, leaf, side, at, value, now)
        positions = where_set(later)
        if positions.numel():
            self.rule.postpone(found.at(positions))

    def _truth_of_points(self, visit: RuleInstances, state: State) -> Interval | None:
        """The truth of a comparison of whose own truth nothing is known, where its numbers are single values in rows
        that follow one another: it leaves them as they are. None elsewhere."""
        formula, own = self.batch.formula, visit.table(AUXILIARY)
        comparison = formula.neurons[formula.top].arithmetic
        if not isinstance(comparison, Comparison) or self.batch.observed or own.default != (0.0, 1.0):
            return None
        if any(len(own.deviating[name]) for name in ("lower", "upper")):
            return None
        length = visit.found.length
        inputs: list[Tensor] = []
        for leaf in formula.neurons[formula.top].operands:
            first = None if formula.neurons[leaf].fixed else visit.first(leaf)
            if first is None:
                return None
            lower, upper = state.read_run(first, first + length)
            if not torch.equal(lower, upper):
                return None
            inputs.append(lower)
        strips = [
            comparison.truth([point(values[start : start + _WIDE]) for values in inputs])
            for start in range(0, length if inputs else 0, _WIDE)
        ]
        return Interval(*(torch.cat(ends) for ends in zip(*strips, strict=True))) if strips else None

    def say(self, found: Bindings, atoms: Atoms, state: State) -> tuple[bool, list[tuple[int, Tensor, Tensor]]]:
        """Whether any of the instances cannot be satisfied, arrested ones apart; and what they would send: sides, atom
        rows and bounds. Nothing changes: an atom that is not there yet stands as its table's default row."""
        visit = RuleInstances(self.batch, self.member, self.rule, found, atoms, None)
        silent = self.arrests.flags(found, visit.rows)
        if self.batch.formula.compares and len(state.crossed):
            silent = silent | visit.own_arrested(state)
        bad, said = False, []
        for start in range(0, found.length, STRIP):
            strip = self._worked_out(visit, start, min(start + STRIP, found.length), state)
            bad = bad or any_set(~silent.index_select(0, strip.bad))
            for (leaf, side), (at, value) in strip.targets.items():
                rows = visit.rows(leaf).index_select(0, at)
                hears = ~silent.index_select(0, at)
                absent = rows == visit.table(leaf).default_row
                if self.batch.modes[leaf][side] == LISTED:
                    hears &= atoms.flags("listed").index_select(0, rows)
                else:
                    hears &= absent | ~state.frozen.index_select(0, rows)
                said.append((side, chosen(hears, rows), chosen(hears, value)))
        return bad, said

    def _said(self, visit: RuleInstances, now: Round) -> _Said | None:
        """What the instances say, by the truth table where their bounds take few values."""
        length = visit.found.length
        if self.table.useful:
            foreseen = self._completed if self.exact else self._foreseen
            told = None if len(self.arrests) else foreseen(visit, now)
            if told is not None:
                return told
            columns = {leaf: visit.column(leaf) for leaf in self.table.leaves}
            code = self.table.codes(columns, now.encoded, length)
            if code is not None:
                at = self.table.states(code, now.encoded)
                if not at.numel():
                    return None
                return self._looked_up(code, at)
        told = self._forward(visit, now) if self._clause is not None else None
        if told is not None:
            return told
        strips = [
            self._worked_out(visit, start, min(start + STRIP, length), now.state) for start in range(0, length, STRIP)
        ]
        return strips[0] if len(strips) == 1 else _together(strips)

    def _forward(self, visit: RuleInstances, now: Round) -> _Said | None:
        """What the instances say where nothing is known of any consequent; None where that is not so."""
        clause, length, nothing = self._clause, visit.found.length, no_rows()
        if clause is None or not visit.nobody(clause.target[0]) or visit.table(clause.target[0]).default != (0.0, 1.0):
            return None
        flags: list[Tensor] = []
        values: list[Tensor] = []
        for start in range(0, length, STRIP):
            stop = min(start + STRIP, length)
            found = clause.said(visit.reader(start, stop, now.state), stop - start)
            if found is None:
                return None
            flags.append(found[0])
            values.append(found[1])
        news, value = (each[0] if len(each) == 1 else torch.cat(each) for each in (flags, values))
        if all_set(news):
            at = torch.arange(length, dtype=torch.int32)
        else:
            at = where_set(news)
            value = value.index_select(0, at)
        return _Said({clause.target: (at, value)}, nothing, Bounds(nothing, nothing))

    def _foreseen(self, visit: RuleInstances, now: Round) -> _Said | None:
        """What the instances say where all leaves but one are known to read alike, and all have news for the atom
        behind that one if it is at its default: it is made before it is looked up. None where some were there."""
        soles: list[int] = []
        head: int | None = None
        for leaf in self.table.leaves:
            sole = visit.sole(leaf)
            if sole is None:
                if head is not None or not visit.may_make(leaf):
                    return None
                head, sole = leaf, now.encoded.default(visit.table(leaf).number)
            soles.append(sole)
        if head is None:
            return None
        said = self.table.said(tuple(soles), now.encoded)
        if not any((head, side) in said and self.batch.modes[head][side] == ALL for side in (0, 1)):
            return None
        if self._silent(visit, head, soles, said, now):
            visit.make_apart(head, now)
        elif visit.make(head, now) < visit.found.length:
            return None
        at, nothing = torch.arange(visit.found.length, dtype=torch.int32), no_rows()
        targets = {target: (at, value.expand(visit.found.length)) for target, value in said.items()}
        return _Said(targets, nothing, Bounds(nothing, nothing))

    def _completed(self, visit: RuleInstances, now: Round) -> _Said | None:
        """What the instances say of their only head where all leaves are known to read alike, and it is no news for
        those that are there: the others are made before they are looked up. None elsewhere."""
        heads = [*self.batch.formula.heads]
        soles = [visit.sole(leaf) for leaf in self.table.leaves]
        if len(heads) != 1 or None in soles:
            return None
        said = self.table.said(tuple(sole for sole in soles if sole is not None), now.encoded)
        table = visit.table(heads[0])
        if set(said) != {(heads[0], 1)} or table.default != (0.0, 0.0):
            return None
        value = said[heads[0], 1]
        least = float(value) - now.state.noise
        if any(now.encoded.pairs[number][1] < least for number in now.encoded.known(table.number)[1:]):
            return None
        if not self._all_told(table, (1, float(value)), now):
            return None
        visit.make_apart(heads[0], now)
        at, nothing = torch.arange(visit.found.length, dtype=torch.int32), no_rows()
        targets = {(heads[0], 1): (at, value.expand(visit.found.length))}
        return _Said(targets, nothing, Bounds(nothing, nothing))

    def _silent(
        self, visit: RuleInstances, head: int, soles: list[int], said: Mapping[Target, Tensor], now: Round
    ) -> bool:
        """Whether the atoms behind a leaf that are there hear nothing new."""
        table, position = visit.table(head), self.table.leaves.index(head)
        others = now.encoded.known(table.number)[1:]
        if len(said) != 1 or len(others) > _VARIED:
            return False
        if not all(
            self.table.silent((*soles[:position], number, *soles[position + 1 :]), now.encoded) for number in others
        ):
            return False
        (((_, side), value),) = said.items()
        return self._all_told(table, (side, float(value)), now)

    def _all_told(self, table: AtomTable, told: tuple[int, float], now: Round) -> bool:
        """Whether each atom of a table that is there has been told, before this round or, the same, in it: from now
        on the others are."""
        known, count = now.made.get(table.number, (told, 0))
        listed = len(table.deviating[SIDES[told[0]]]) + count
        if known != told or len(table.tuples) != listed or not now.encoded.settled(table.number):
            return False
        now.made[table.number] = told, count
        return True

    def _looked_up(self, code: Tensor, at: Tensor) -> _Said:
        code = code.index_select(0, at)
        targets: dict[Target, tuple[Tensor, Tensor]] = {}
        for target, (news, value) in self.table.targets.items():
            some = where_set(news.index_select(0, code))
            if some.numel() == at.numel():
                targets[target] = at, value.index_select(0, code)
            elif some.numel():
                targets[target] = at.index_select(0, some), value.index_select(0, code.index_select(0, some))
        if self.table.any_bad:
            bad = where_set(self.table.bad(code))
            return _Said(targets, at.index_select(0, bad), self.table.root(code.index_select(0, bad)))
        nothing = no_rows()
        return _Said(targets, nothing, Bounds(nothing, nothing))

    def _worked_out(self, visit: RuleInstances, start: int, stop: int, state: State) -> _Said:
        found = self.table.evaluate(visit.reader(start, stop, state))
        bad = where_set(found.bad)
        targets: dict[Target, tuple[Tensor, Tensor]] = {}
        for target, (news, value) in found.said.items():
            at = where_set(news & ~found.bad if len(bad) else news)
            if len(at):
                targets[target] = at + start if start else at, value.index_select(0, at)
        roots = Bounds(found.root.lower.index_select(0, bad), found.root.upper.index_select(0, bad))
        return _Said(targets, bad + start, roots)

    def _arrest(self, visit: RuleInstances, said: _Said, now: Round) -> None:
        naming = self.arrests.naming
        default_row = UNKNOWN if naming is None else visit.table(naming).default_row
        some = self.arrests.add(visit.found, said.bad, visit.rows, default_row)
        if len(some):
            rows = visit.store(said.bad.index_select(0, some))
            self.batch.arrested.index_fill_(0, rows.long(), True)
            roots = Bounds(said.roots.lower.index_select(0, some), said.roots.upper.index_select(0, some))
            now.arrested.append(Arrested(self.number, rows, roots))

    def _queue(self, visit: RuleInstances, leaf: int, side: int, at: Tensor, value: Tensor, now: Round) -> None:
        """Queue bounds for those atoms behind a leaf that hear of them."""
        completed = leaf in self.batch.formula.heads
        rows = visit.rows(leaf)
        if at.numel() != rows.numel():
            rows = rows.index_select(0, at)
        hears: Tensor | None = None
        fresh = False  # whether all rows are new, and so none stands twice
        if not completed and self.batch.modes[leaf][side] == LISTED:
            hears = now.atoms.flags("listed").index_select(0, rows)
        else:
            made = visit.made.get(leaf)
            if made is not None:  # new atoms are all at their default, and so among those that hear
                fresh = made == rows.numel()
            else:
                absent = where_set(rows == visit.table(leaf).default_row)
                if absent.numel():
                    known = len(now.atoms)
                    rows = visit.materialise(leaf, at, absent)
                    fresh = len(now.atoms) - known == rows.numel()
                    now.state.extend(now.atoms)
                    now.encoded.extend()
        if len(now.state.crossed):
            awake = ~now.state.frozen.index_select(0, rows)
            if self.batch.formula.compares:
                awake &= ~visit.own_arrested(now.state).index_select(0, at)
            hears = awake if hears is None else hears & awake
        if completed and not fresh:
            free = ~now.atoms.flags("given").index_select(0, rows)
            free &= value > now.state.ends(side).values.index_select(0, rows) + now.state.noise
            hears = free if hears is None else hears & free
        if hears is not None and not all_set(hears):
            hearing = where_set(hears)
            at, rows, value = (each.index_select(0, hearing) for each in (at, rows, value))
        if at.numel():
            now.inbox.sides[side].append(Proposals(rows, value, at, self.number, leaf, visit, fresh, visit.apart(leaf)))


def _together(strips: list[_Said]) -> _Said:
    targets = {
        target: tuple(torch.cat([s.targets[target][part] for s in strips if target in s.targets]) for part in (0, 1))
        for target in dict.fromkeys(target for strip in strips for target in strip.targets)
    }
    roots = Bounds(torch.cat([s.roots.lower for s in strips]), torch.cat([s.roots.upper for s in strips]))
    return _Said({t: (at, value) for t, (at, value) in targets.items()}, torch.cat([s.bad for s in strips]), roots)
