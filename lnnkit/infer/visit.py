"""A visit to instances that are not kept: their atoms are found, their bounds looked up or worked out, their messages
queued."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from lnnkit.ground.arrests import Arrests
from lnnkit.ground.atoms import FALSE, TRUE, UNKNOWN, Atoms, AtomTable
from lnnkit.ground.batch import Batch
from lnnkit.ground.bindings import Bindings
from lnnkit.ground.formula import AUXILIARY, LEAF
from lnnkit.ground.relevance import ALL, LISTED, SIDES
from lnnkit.ground.visitor import Visitor
from lnnkit.infer.classes import Classes
from lnnkit.infer.forward import clause
from lnnkit.infer.look import Read, Target, constant
from lnnkit.infer.messages import Apart, Messages, Queue
from lnnkit.infer.moves import Moves
from lnnkit.infer.state import State, no_rows
from lnnkit.infer.truth_table import Column, TruthTable
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Comparison, Interval, point

_STRIP = 2**15
_WIDE = 2**15  # so many truths of points, which need less


@dataclass(frozen=True, slots=True)
class Arrested:
    """Rows of a batch that have been arrested, and the bounds that their roots came to."""

    batch: int
    rows: Tensor
    roots: Bounds


@dataclass(slots=True)
class Round:
    """What the members of a round share: the state that all read, and what they leave for its end."""

    atoms: Atoms
    state: State
    classes: Classes
    moves: Moves | None = None  # of the last round
    queue: Queue = field(default_factory=Queue)
    arrested: list[Arrested] = field(default_factory=list)
    visited: int = 0
    made: dict[int, tuple[tuple[int, float], int]] = field(default_factory=dict)  # by table: the side and bound that so
    # many new atoms are told, at least
    _moved: dict[tuple[str, int], int | None] = field(default_factory=dict)

    def class_of_moved(self, table: AtomTable, side: int) -> int | None:
        """The class of all rows of a table that moved on a side; None where they have several."""
        where = table.name, side
        if where not in self._moved:
            rows = None if self.moves is None else self.moves.rows(*where)
            self._moved[where] = None if rows is None else self.classes.common(table.row(rows))
        return self._moved[where]


@dataclass(frozen=True, slots=True)
class _Said:
    """What some instances say: for each target the positions at which it is news, and the bounds. ``bad`` are the
    positions of those that cannot be satisfied, with the bounds of their roots."""

    targets: Mapping[Target, tuple[Tensor, Tensor]]
    bad: Tensor
    roots: Bounds


class Visits:
    """Sends what the instances of one member say. ``number`` is its batch's."""

    def __init__(self, number: int, batch: Batch, member: int, visitor: Visitor, table: TruthTable) -> None:
        self.visitor = visitor
        self._number = number
        self._batch = batch
        self._member = member
        self._table = table
        self._clause = clause(batch)
        self.arrests = Arrests(visitor)

    @property
    def number(self) -> int:
        return self._number

    @property
    def member(self) -> int:
        return self._member

    @property
    def batch(self) -> Batch:
        return self._batch

    @property
    def table(self) -> TruthTable:
        return self._table

    def send(self, found: Bindings, now: Round) -> None:
        """Look at instances, and queue their messages."""
        visit = _Visit(self._batch, self._member, self.visitor, found, now.atoms, now.classes, now)
        said = self._said(visit, now)
        if said is None:
            return
        if said.bad.numel():
            self._arrest(visit, said, now)
        for (leaf, side), (at, value) in said.targets.items():
            if len(self.arrests):
                silent = self.arrests.flags(found.at(at))
                if bool(silent.any()):
                    at, value = at[~silent], value[~silent]
            if at.numel():
                self._queue(visit, leaf, side, at, value, now)

    def begin(self, found: Bindings, now: Round) -> None:
        """Look at instances of a comparison before the first round: queue the truth that their numbers give them, and
        postpone those that have more to say to that round."""
        visit = _Visit(self._batch, self._member, self.visitor, found, now.atoms, now.classes)
        truth = self._truth_of_points(visit, now.state)
        if truth is not None:
            told = truth.lower > now.state.noise, truth.upper < 1 - now.state.noise
            if all(self._batch.modes[AUXILIARY]) and visit.nobody(AUXILIARY) and bool((told[0] | told[1]).all()):
                visit.make(AUXILIARY, now)  # in the order of their numbers
            for side, news in enumerate(told):
                at = news.nonzero().squeeze(1)
                if self._batch.modes[AUXILIARY][side] and at.numel():
                    self._queue(visit, AUXILIARY, side, at, truth[side].index_select(0, at), now)
            return
        later = torch.zeros(found.length, dtype=torch.bool)
        given: dict[Target, list[tuple[Tensor, Tensor]]] = {}
        for start in range(0, found.length, _STRIP):
            stop = min(start + _STRIP, found.length)
            strip = self._table.evaluate(visit.reader(start, stop, now.state))
            clash = strip.bad | (strip.root.lower > strip.root.upper + now.state.noise)
            later[start:stop] = clash
            for target, (news, value) in strip.said.items():
                if target[0] != AUXILIARY:
                    later[start:stop] |= news
                    continue
                at = (news & ~clash).nonzero().squeeze(1)
                if at.numel():
                    given.setdefault(target, []).append((at + start, value.index_select(0, at)))
        for (leaf, side), parts in given.items():
            at, value = (torch.cat(each) for each in zip(*parts, strict=True))
            self._queue(visit, leaf, side, at, value, now)
        positions = later.nonzero().squeeze(1)
        if positions.numel():
            self.visitor.postpone(found.at(positions))

    def _truth_of_points(self, visit: _Visit, state: State) -> Interval | None:
        """The truth of a comparison of whose own truth nothing is known, where its numbers are single values in rows
        that follow one another: it leaves them as they are. None elsewhere."""
        formula, own = self._batch.formula, visit.table(AUXILIARY)
        comparison = formula.neurons[formula.top].arithmetic
        if not isinstance(comparison, Comparison) or self._batch.observed or own.default != (0.0, 1.0):
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
        visit = _Visit(self._batch, self._member, self.visitor, found, atoms, None)
        silent = self.arrests.flags(found)
        if self._batch.formula.compares and len(state.crossed):
            silent = silent | visit.own_arrested(state)
        bad, said = False, []
        for start in range(0, found.length, _STRIP):
            strip = self._worked_out(visit, start, min(start + _STRIP, found.length), state)
            bad = bad or bool((~silent.index_select(0, strip.bad)).any())
            for (leaf, side), (at, value) in strip.targets.items():
                rows = visit.rows(leaf).index_select(0, at)
                hears = ~silent.index_select(0, at)
                absent = rows == visit.table(leaf).default_row
                if self._batch.modes[leaf][side] == LISTED:
                    hears &= atoms.flags("listed").index_select(0, rows)
                else:
                    hears &= absent | ~state.frozen.index_select(0, rows)
                said.append((side, rows[hears], value[hears]))
        return bad, said

    def _said(self, visit: _Visit, now: Round) -> _Said | None:
        """What the instances say, by the truth table where their bounds take few values."""
        length = visit.found.length
        if self._table.useful:
            told = None if len(self.arrests) else self._foreseen(visit, now)
            if told is not None:
                return told
            columns = {leaf: visit.column(leaf) for leaf in self._table.leaves}
            code = self._table.codes(columns, now.classes, length)
            if code is not None:
                at = self._table.states(code, now.classes)
                if not at.numel():
                    return None
                return self._looked_up(code, at)
        told = self._forward(visit, now) if self._clause is not None else None
        if told is not None:
            return told
        strips = [
            self._worked_out(visit, start, min(start + _STRIP, length), now.state) for start in range(0, length, _STRIP)
        ]
        return strips[0] if len(strips) == 1 else _together(strips)

    def _forward(self, visit: _Visit, now: Round) -> _Said | None:
        """What the instances say where nothing is known of any consequent; None where that is not so."""
        clause, length, nothing = self._clause, visit.found.length, no_rows()
        if clause is None or not visit.nobody(clause.target[0]) or visit.table(clause.target[0]).default != (0.0, 1.0):
            return None
        flags: list[Tensor] = []
        values: list[Tensor] = []
        for start in range(0, length, _STRIP):
            stop = min(start + _STRIP, length)
            found = clause.said(visit.reader(start, stop, now.state), stop - start)
            if found is None:
                return None
            flags.append(found[0])
            values.append(found[1])
        news, value = (each[0] if len(each) == 1 else torch.cat(each) for each in (flags, values))
        if bool(news.all()):
            at = torch.arange(length, dtype=torch.int32)
        else:
            at = news.nonzero().squeeze(1)
            value = value.index_select(0, at)
        return _Said({clause.target: (at, value)}, nothing, Bounds(nothing, nothing))

    def _foreseen(self, visit: _Visit, now: Round) -> _Said | None:
        """What the instances say where all leaves but one are known to read alike, and all have news for the atom
        behind that one if it is at its default: it is made before it is looked up. None where some were there."""
        soles: list[int] = []
        head: int | None = None
        for leaf in self._table.leaves:
            sole = visit.sole(leaf)
            if sole is None:
                if head is not None or not visit.may_make(leaf):
                    return None
                head, sole = leaf, now.classes.default(visit.table(leaf).number)
            soles.append(sole)
        if head is None:
            return None
        said = self._table.said(tuple(soles), now.classes)
        if not any((head, side) in said and self._batch.modes[head][side] == ALL for side in (0, 1)):
            return None
        if self._all_told(visit, head, soles, said, now):
            visit.make_apart(head, now)
        elif visit.make(head, now) < visit.found.length:
            return None
        at, nothing = torch.arange(visit.found.length, dtype=torch.int32), no_rows()
        targets = {target: (at, value.expand(visit.found.length)) for target, value in said.items()}
        return _Said(targets, nothing, Bounds(nothing, nothing))

    def _all_told(self, visit: _Visit, head: int, soles: list[int], said: Mapping[Target, Tensor], now: Round) -> bool:
        """Whether the atoms behind a leaf that are there hear nothing new: each has been told, before this round or in
        it, and if it is told the same."""
        table, position = visit.table(head), self._table.leaves.index(head)
        if len(said) != 1 or not now.classes.settled(table.number):
            return False
        (((_, side), value),) = said.items()
        told = (side, float(value))
        known, count = now.made.get(table.number, (told, 0))
        if known != told or len(table.tuples) != len(table.deviating[SIDES[side]]) + count:
            return False
        for number in now.classes.known(table.number)[1:]:
            if not self._table.silent((*soles[:position], number, *soles[position + 1 :]), now.classes):
                return False
        now.made[table.number] = told, count
        return True

    def _looked_up(self, code: Tensor, at: Tensor) -> _Said:
        code = code.index_select(0, at)
        targets: dict[Target, tuple[Tensor, Tensor]] = {}
        for target, (news, value) in self._table.targets.items():
            some = news.index_select(0, code).nonzero().squeeze(1)
            if some.numel() == at.numel():
                targets[target] = at, value.index_select(0, code)
            elif some.numel():
                targets[target] = at.index_select(0, some), value.index_select(0, code.index_select(0, some))
        if self._table.any_bad:
            bad = self._table.bad(code).nonzero().squeeze(1)
            return _Said(targets, at.index_select(0, bad), self._table.root(code.index_select(0, bad)))
        nothing = no_rows()
        return _Said(targets, nothing, Bounds(nothing, nothing))

    def _worked_out(self, visit: _Visit, start: int, stop: int, state: State) -> _Said:
        found = self._table.evaluate(visit.reader(start, stop, state))
        bad = found.bad.nonzero().squeeze(1)
        targets: dict[Target, tuple[Tensor, Tensor]] = {}
        for target, (news, value) in found.said.items():
            at = (news & ~found.bad if len(bad) else news).nonzero().squeeze(1)
            if len(at):
                targets[target] = at + start if start else at, value.index_select(0, at)
        roots = Bounds(found.root.lower.index_select(0, bad), found.root.upper.index_select(0, bad))
        return _Said(targets, bad + start, roots)

    def _arrest(self, visit: _Visit, said: _Said, now: Round) -> None:
        some = self.arrests.add(visit.found, said.bad)
        if len(some):
            rows = visit.store(said.bad.index_select(0, some))
            self._batch.arrested.index_fill_(0, rows.long(), True)
            roots = Bounds(said.roots.lower.index_select(0, some), said.roots.upper.index_select(0, some))
            now.arrested.append(Arrested(self._number, rows, roots))

    def _queue(self, visit: _Visit, leaf: int, side: int, at: Tensor, value: Tensor, now: Round) -> None:
        """Queue bounds for those atoms behind a leaf that hear of them."""
        completed = leaf in self._batch.formula.heads
        rows = visit.rows(leaf)
        if at.numel() != rows.numel():
            rows = rows.index_select(0, at)
        hears: Tensor | None = None
        fresh = False  # whether all rows are new, and so none stands twice
        if not completed and self._batch.modes[leaf][side] == LISTED:
            hears = now.atoms.flags("listed").index_select(0, rows)
        else:
            made = visit.made.get(leaf)
            if made is not None:  # new atoms are all at their default, and so among those that hear
                fresh = made == rows.numel()
            else:
                absent = (rows == visit.table(leaf).default_row).nonzero().squeeze(1)
                if absent.numel():
                    known = len(now.atoms)
                    rows = visit.materialise(leaf, at, absent)
                    fresh = len(now.atoms) - known == rows.numel()
                    now.state.extend(now.atoms)
                    now.classes.extend()
        if len(now.state.crossed):
            awake = ~now.state.frozen.index_select(0, rows)
            if self._batch.formula.compares:
                awake &= ~visit.own_arrested(now.state).index_select(0, at)
            hears = awake if hears is None else hears & awake
        if completed:
            free = ~now.atoms.flags("given").index_select(0, rows)
            free &= value > now.state.ends(side).values.index_select(0, rows) + now.state.noise
            hears = free if hears is None else hears & free
        if hears is not None and not bool(hears.all()):
            at, rows, value = at[hears], rows[hears], value[hears]
        if at.numel():
            now.queue.sides[side].append(Messages(rows, value, at, self._number, leaf, visit, fresh, visit.apart(leaf)))


class _Visit:
    """Instances with the atom rows of their leaves; they are stored only when asked to be."""

    def __init__(
        self,
        batch: Batch,
        member: int,
        visitor: Visitor,
        found: Bindings,
        atoms: Atoms,
        classes: Classes | None,
        now: Round | None = None,
    ) -> None:
        self.found = found
        self._now = now
        self._batch = batch
        self._member = member
        self._visitor = visitor
        self._atoms = atoms
        self._classes = classes
        self._rows: dict[int, Tensor] = {}
        self._runs: dict[int, int | None] = {}
        self._nobody: dict[int, bool] = {}  # whether none of a leaf's atoms was there at first
        self._held: Mapping[int, Tensor | range] | None = None  # what will be stored, where all else is let go
        self._new: dict[int, range] = {}  # the rows behind leaves whose every atom is new
        self.made: dict[int, int] = {}  # for leaves whose every atom is there now: how many were new

    def table(self, leaf: int) -> AtomTable:
        return self._atoms.tables[self._visitor.table(leaf)]

    def column(self, leaf: int) -> Column:
        """A leaf's rows, or their class if all are known to have the same."""
        sole = self.sole(leaf)
        return Column(self.read_rows(leaf)) if sole is None else Column(None, sole)

    def sole(self, leaf: int) -> int | None:
        """The class that all of a leaf's atoms are known to have."""
        if self._classes is None or not self._visitor.differs(leaf, self.found):
            return None
        sole, moved = self._classes.sole(self.table(leaf).number), self.found.moved
        if sole is None and self._now is not None and moved is not None and moved[0] == self._visitor.atom(leaf):
            return self._now.class_of_moved(self.table(leaf), moved[1])
        return sole

    def may_make(self, leaf: int) -> bool:
        """Whether a leaf stands for atoms that can be made, and may not be there."""
        if leaf in self._batch.formula.heads or leaf in self._rows:
            return False
        if leaf != AUXILIARY and self._batch.formula.neurons[leaf].kind != LEAF:
            return False
        return self._visitor.atom(leaf) not in self.found.matched

    def make(self, leaf: int, now: Round) -> int:
        """Make the atoms behind a leaf that are not there; returns their number."""
        known = len(self._atoms)
        self._rows[leaf] = self._made(leaf, self.found)
        self.made[leaf] = len(self._atoms) - known
        now.state.extend(now.atoms)
        now.classes.extend()
        return self.made[leaf]

    def make_apart(self, leaf: int, now: Round) -> None:
        """Make the atoms behind a leaf that are not there, and leave out the instances that do not make one."""
        start = len(self._atoms)
        own = self._visitor.pattern(self._visitor.atom(leaf))
        fresh: Tensor | None = None
        if self.nobody(leaf):
            self._atoms.add_new(own.table, self._tuples(leaf, self.found), self.found.length)
        else:
            fresh = self._atoms.make(own.table, self._tuples(leaf, self.found), self.found.length)
        count = len(self._atoms) - start
        if fresh is not None:
            self.found = self.found.narrowed(fresh)
            self._rows.clear()
        self._rows[leaf] = torch.arange(start, start + count, dtype=torch.int32)
        self._new[leaf] = range(start, start + count)
        self.made[leaf] = count
        told, before = now.made[own.table.number]
        now.made[own.table.number] = told, before + count
        now.state.extend(now.atoms)
        now.classes.extend()
        if not self._visitor.enumerates and self.found.origin is None:  # what was joined takes more than what is stored
            self._held = {each: self._every_row(each) for each in self._batch.blocks[0].columns}
            self._rows = {leaf: self._rows[leaf]}
            self.found = Bindings(count, {}, {})

    def rows(self, leaf: int) -> Tensor:
        """The atom rows behind a leaf or an equality; the table's default row where an atom is not there."""
        if leaf not in self._rows:
            self._rows[leaf] = self._find(leaf)
        return self._rows[leaf]

    def read_rows(self, leaf: int) -> Tensor:
        """As ``rows``, but of a head only what facts say of it is read."""
        rows = self.rows(leaf)
        if leaf in self._batch.formula.heads:
            given = self._atoms.flags("given").index_select(0, rows)
            return torch.where(given, rows, UNKNOWN).int()
        return rows

    def own_arrested(self, state: State) -> Tensor:
        """(n,) where a comparison's own atom is arrested: it says nothing more to its numbers."""
        own = self.rows(AUXILIARY)
        return state.frozen.index_select(0, own) & (own != self.table(AUXILIARY).default_row)

    def reader(self, start: int, stop: int, state: State) -> Read:
        """Reads the leaves of some of the instances."""

        def read(index: int) -> Bounds:
            if index != AUXILIARY and self._batch.formula.neurons[index].fixed:
                return constant(self._batch, index, stop - start, state.dtype)
            first = self.first(index)
            if first is not None:
                return state.read_run(first + start, first + stop)
            return state.read(self.read_rows(index)[start:stop])

        return read

    def apart(self, leaf: int) -> Apart | None:
        """What tells that each instance has an atom of its own behind a leaf, if that is known."""
        if self.found.origin is None or leaf in self._batch.formula.heads:
            return None
        if leaf != AUXILIARY and self._batch.formula.neurons[leaf].kind != LEAF:
            return None
        table, arguments = self._visitor.atom(leaf)
        every = set(arguments).issuperset(self._batch.formula.blocks[0].variables)
        return Apart(table, leaf, self.found.origin) if every else None

    def nobody(self, leaf: int) -> bool:
        """Whether none of a leaf's atoms, one for each instance, was there before the visit."""
        if leaf not in self._nobody:
            absent = self._visitor.atom(leaf) in self.found.absent or not len(self.table(leaf).tuples)
            self._nobody[leaf] = absent and self.apart(leaf) is not None
        return self._nobody[leaf]

    def first(self, leaf: int) -> int | None:
        """The first of a leaf's rows, where they are known to follow one another: they need not be picked."""
        if leaf in self._batch.formula.heads:
            return None
        if leaf != AUXILIARY and self._batch.formula.neurons[leaf].kind != LEAF:
            return None
        run, found = self.table(leaf).run, self.found.run
        if run is not None and found is not None and self._visitor.atom(leaf) in self.found.matched:
            return run.start + found.start
        if leaf == AUXILIARY or not self._batch.formula.neurons[leaf].numeric:
            return None
        if leaf not in self._runs:
            rows = self.rows(leaf)
            follow = len(rows) > _STRIP and bool((rows[1:] - rows[:-1] == 1).all())
            self._runs[leaf] = int(rows[0]) if follow else None
        return self._runs[leaf]

    def materialise(self, leaf: int, at: Tensor, absent: Tensor) -> Tensor:
        """The atom rows behind a leaf at positions ``at``: those ``absent`` among them are made."""
        every = absent.numel() == at.numel()
        positions = at if every else at.index_select(0, absent)
        whole = positions.numel() == self.found.length
        found = self.found if whole else self.found.at(positions)
        made = self._made(leaf, found)
        if whole:
            self._rows[leaf] = made
        else:
            self._rows[leaf].index_copy_(0, positions, made)
        return made if every else self._rows[leaf].index_select(0, at)

    def _made(self, leaf: int, found: Bindings) -> Tensor:
        own = self._visitor.pattern(self._visitor.atom(leaf))
        if self.nobody(leaf):
            rows = self._atoms.add_new(own.table, self._tuples(leaf, found), found.length)
            return torch.arange(rows.start, rows.stop, dtype=torch.int32)
        return self._atoms.materialise(own.table, self._tuples(leaf, found), found.length)

    def _tuples(self, leaf: int, found: Bindings) -> list[Tensor]:
        own = self._visitor.pattern(self._visitor.atom(leaf))
        return own.tuples({v: found.column(v) for v in own.places}, found.length)

    def store(self, positions: Tensor) -> Tensor:
        """Give instances rows in their batch."""
        every = positions.numel() == self.found.length
        if self._held is not None and every:
            return self._batch.append(0, self._held, self._member, -1, len(positions))
        columns = {
            leaf: self._every_row(leaf) if every else self.rows(leaf).index_select(0, positions)
            for leaf in self._batch.blocks[0].columns
        }
        local = -1
        if self._visitor.enumerates:
            local = len(self._visitor.kept[0]) if self._visitor.kept else 0
            found = self.found.at(positions)
            for variable, kept in zip(self._visitor.formula.blocks[0].variables, self._visitor.kept, strict=True):
                kept.append(found.column(variable))
        return self._batch.append(0, columns, self._member, local, len(positions))

    def _every_row(self, leaf: int) -> Tensor | range:
        if leaf in self._new:
            return self._new[leaf]
        first = self.first(leaf)
        return self.rows(leaf) if first is None else range(first, first + self.found.length)

    def _find(self, leaf: int) -> Tensor:
        if leaf != AUXILIARY and self._batch.formula.neurons[leaf].kind != LEAF:
            return self._compared(leaf)
        atom = self._visitor.atom(leaf)
        own = self._visitor.pattern(atom)
        if atom in self.found.matched:
            return own.table.row(self.found.local(atom))
        if self.nobody(leaf):
            return torch.full((self.found.length,), own.table.default_row, dtype=torch.int32)
        columns = own.tuples({v: self.found.column(v) for v in own.places}, self.found.length)
        return self._atoms.find(own.table, columns, self.found.length)

    def _compared(self, leaf: int) -> Tensor:
        """An equality of entities."""
        one, other = self._visitor.formula.neurons[leaf].arguments  # the batch is shared by formulas of other variables
        if one == other:
            return torch.full((self.found.length,), TRUE, dtype=torch.int32)
        columns = [
            self.found.column(a) if isinstance(a, int) else torch.tensor(self._visitor.entity(a), dtype=torch.int32)
            for a in (one, other)
        ]
        equal = (columns[0] == columns[1]).expand(self.found.length)
        return torch.where(equal, TRUE, FALSE).int()


def _together(strips: list[_Said]) -> _Said:
    targets = {
        target: tuple(torch.cat([s.targets[target][part] for s in strips if target in s.targets]) for part in (0, 1))
        for target in dict.fromkeys(target for strip in strips for target in strip.targets)
    }
    roots = Bounds(torch.cat([s.roots.lower for s in strips]), torch.cat([s.roots.upper for s in strips]))
    return _Said({t: (at, value) for t, (at, value) in targets.items()}, torch.cat([s.bad for s in strips]), roots)
