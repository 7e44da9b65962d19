"""Which instances of a formula to look at in a round: those that its needs find among the atoms that have moved.

Nothing is kept of an instance: it is joined again when an atom that it reads has moved. Each need (the literals without
which nothing can be said) is joined from each atom that matters (a *trigger*), unless another need finds the same
instances anyway.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from lnnkit.ground.atoms import Atoms
from lnnkit.ground.bindings import Bindings, Matched
from lnnkit.ground.domain import Domain
from lnnkit.ground.formula import AUXILIARY, LEAF, Formula
from lnnkit.ground.growing import Growing
from lnnkit.ground.index import Hits, JoinIndex
from lnnkit.ground.needs import Literal, Need
from lnnkit.ground.pattern import Pattern, pattern
from lnnkit.ground.plan import Reads, Recorder

CHUNK = 2**17  # so many assignments are made at once
_COMPARED = 32  # of so many needs it is found out which find the same
_BARE = ("listed", "given")  # literals that an atom at its default may satisfy
_TRIED = 6  # among so many literals any may come first; among more, the shortest

Matters = Mapping[int, tuple[bool, bool]]  # of a leaf: whether its lower and its upper side do


class Moved(Protocol):
    """The rows of tables that moved in the last round."""

    def rows(self, table: str, side: int) -> Tensor | None:
        """The rows of a table, numbered in it, whose lower (0) or upper (1) side has moved; None if none has."""
        ...


@dataclass(slots=True)
class _Trigger:
    """For a need, join ``rest`` onto the rows of ``pattern`` that moved on ``side``. ``literal`` is the need's own that
    they satisfy, if it has such a one: ``seen`` so many rows did. ``twin``: from the other side it finds as much."""

    need: int
    pattern: Pattern
    side: int
    rest: tuple[Literal, ...]
    literal: Literal | None
    seen: int = 0
    twin: bool = False


@dataclass(frozen=True, slots=True)
class _Path:
    """A join for a need: what it has read so far is kept only for a recorder."""

    need: int
    reads: tuple[Reads, ...] = ()
    share: float = 1.0  # of what it finds that was not found before


class Visitor:
    """Finds the instances of one formula without inner blocks; ``triggers`` are the (table, side) it listens to."""

    def __init__(
        self,
        formula: Formula,
        needs: Sequence[Need],
        reads: Matters,
        atoms: Atoms,
        domain: Domain,
        guard: Callable[[Formula, int], None],
        member: int,
        recorder: Recorder | None = None,
    ) -> None:
        self.formula = formula
        self.visited = 0  # assignments found, some of them again
        self._made = [0.0 for _ in needs]  # those that a need has found for the first time
        self._sizes: dict[Literal, tuple[int, int]] = {}  # how much of a list was read, and how many rows fit there
        self._member = member
        self._recorder = recorder
        self._atoms = atoms
        self._domain = domain
        self._guard = guard
        self._indexes: dict[tuple[Literal, tuple[int, ...]], JoinIndex] = {}
        self._patterns: dict[Matched, Pattern] = {}
        self._reach = JoinIndex.reach(domain.stranger + 1)
        self._needs = [tuple(sorted(need.literals, key=repr)) for need in needs]
        self._reads = reads
        self._bare = {(each.table, each.arguments) for need in needs for each in need.literals if each.column in _BARE}
        variables = formula.blocks[0].variables
        self.enumerates = any(not _bound(need).issuperset(variables) for need in needs)
        self.kept = tuple(Growing(torch.int32) for _ in variables)  # where domains are enumerated, of stored instances
        self._triggers: list[_Trigger] | None = None
        self.started = False

    @property
    def triggers(self) -> set[tuple[str, int]]:
        """The tables and sides whose moves matter."""
        return {
            (self.table(leaf), side)
            for leaf, sides in self._reads.items()
            for side, matters in enumerate(sides)
            if matters
        }

    @property
    def radix(self) -> int:
        """All entity ids are below it."""
        return self._domain.stranger + 1

    def entity(self, name: str) -> int:
        """The id of a constant."""
        return self._domain.index[name]

    def differs(self, leaf: int, found: Bindings) -> bool:
        """Whether the atoms behind a leaf are known to stand in a list of those that differ from their default."""
        if leaf in self.formula.heads or (leaf != AUXILIARY and self.formula.neurons[leaf].kind != LEAF):
            return False
        atom = self.atom(leaf)
        return atom in found.listed and atom not in self._bare

    def restart(self) -> None:
        """Find everything again."""
        self.started = False
        self._made = [0.0 for _ in self._needs]

    def visits(self, moved: Moved) -> Iterator[Bindings]:
        """Assignments of all variables, up to `CHUNK` or so at a time; some may come twice."""
        for need, share, found in self._found(moved):
            self.visited += found.length
            self._made[need] += share * found.length
            yield found

    def _found(self, moved: Moved) -> Iterator[tuple[int, float, Bindings]]:
        """With the need that finds assignments, and the share of them that it could not find before."""
        if not self.started:
            self.started = True
            at_once = self._at_once()
            if at_once is not None:
                yield from ((0, 1.0, found) for found in at_once)
            else:
                for number, literals in enumerate(self._needs):
                    yield from ((number, 1.0, found) for found in self._whole(literals, _Path(number)))
            for trigger in self._found_triggers():
                self._new(trigger)
            return
        for trigger in self._found_triggers():
            rows = moved.rows(trigger.pattern.table.name, trigger.side)
            if rows is None:
                continue
            other = moved.rows(trigger.pattern.table.name, 1 - trigger.side) if trigger.twin else None
            if other is not None and torch.equal(rows, other):
                continue
            rows = trigger.pattern.fitting(rows)
            if len(rows):
                own = trigger.pattern
                literal = Literal(own.table.name, own.arguments, "lower" if trigger.side == 0 else "upper")
                share = min(1.0, self._new(trigger) / len(rows))
                path = self._begun(_Path(trigger.need, share=share), literal, len(rows), trigger.rest)
                for found in self._joined(self._matched(own, rows), trigger.rest, path):
                    yield trigger.need, share, found

    def table(self, leaf: int) -> str:
        """The table that holds a leaf's bounds."""
        if leaf == AUXILIARY:
            assert self.formula.auxiliary is not None
            return self.formula.auxiliary
        return self.formula.neurons[leaf].source

    def atom(self, leaf: int) -> Matched:
        """A leaf's table and arguments."""
        if leaf == AUXILIARY:
            return self.table(leaf), self.formula.blocks[0].variables
        return self.table(leaf), self.formula.neurons[leaf].arguments

    def pattern(self, matched: Matched) -> Pattern:
        """How an atom binds the formula's variables."""
        if matched not in self._patterns:
            table, arguments = matched
            self._patterns[matched] = pattern(self._atoms.tables[table], arguments, self.formula, self._domain)
        return self._patterns[matched]

    # --- triggers ---------------------------------------------------------------------------------------------------

    def _found_triggers(self) -> list[_Trigger]:
        if self._triggers is None:
            self._triggers = self._find_triggers()
        return self._triggers

    def _new(self, trigger: _Trigger) -> int:
        """How many rows have come to satisfy a trigger's literal since this was last asked; 0 where it has none."""
        if trigger.literal is None:
            return 0
        before, trigger.seen = trigger.seen, len(self._listing(trigger.literal))
        return trigger.seen - before

    def _find_triggers(self) -> list[_Trigger]:
        found: list[_Trigger] = []
        starts = {
            (self.atom(leaf), side): None
            for leaf, sides in sorted(self._reads.items())
            for side, matters in enumerate(sides)
            if matters and self._needs
        }
        for atom, side in sorted(starts, key=lambda start: start[0][0]):
            own, pattern = Literal(*atom, "lower" if side == 0 else "upper"), self.pattern(atom)
            if set(self.formula.blocks[0].variables) <= pattern.places.keys():  # the instance is known already
                need = next((number for number, need in enumerate(self._needs) if own in need), None)
                found.append(_Trigger(need or 0, pattern, side, (), None if need is None else own))
                continue
            for number, literals in enumerate(self._needs):
                if len(self._needs) > _COMPARED or not self._found_anyway(number, own, frozenset((*literals, own))):
                    rest = tuple(each for each in literals if each != own)
                    found.append(_Trigger(number, pattern, side, rest, own if own in literals else None))
        places = {(each.need, each.pattern, each.side): each for each in found}
        for each in found:
            other = places.get((each.need, each.pattern, 1 - each.side))
            if other is not None and each.literal is None:
                each.twin = other.literal is not None or each.side == 1
        return found

    def _found_anyway(self, number: int, trigger: Literal, literals: frozenset[Literal]) -> bool:
        """Whether another need, joined from the same trigger, finds all that need ``number`` does."""
        for other, others in enumerate(self._needs):
            wider = {*others, trigger}
            if other != number and self._imply(literals, wider):
                narrower = self._imply(wider, literals)
                if not narrower or other < number:
                    return True
        return False

    def _imply(self, some: Collection[Literal], others: Collection[Literal]) -> bool:
        """Whether the atoms that ``some`` find are found by ``others``."""
        return all(each in some or any(self._implies(one, each) for one in some) for each in others)

    def _implies(self, one: Literal, other: Literal) -> bool:
        """Whether every row of ``one`` is a row of ``other``, now and for ever."""
        if (one.table, one.arguments) != (other.table, other.arguments):
            return False
        if other.column == "either":
            return one.column in ("lower", "upper")
        if one.column not in ("listed", "given") or other.column not in ("lower", "upper"):
            return (one.column, other.column) == ("given", "listed")
        table = self._atoms.tables[one.table]
        rows = table.rows.index_select(0, self._atoms.listing(table, one.column).values)
        return bool(self._atoms.flags(other.column).index_select(0, rows).all())

    # --- joining ----------------------------------------------------------------------------------------------------

    def _matched(self, pattern: Pattern, rows: Tensor) -> Bindings:
        columns = pattern.table.tuples.columns
        makers = {
            variable: (lambda place=place: columns[place].index_select(0, rows))
            for variable, place in pattern.places.items()
        }
        return Bindings(len(rows), makers, {(pattern.table.name, pattern.arguments): rows})

    def _begun(self, path: _Path, first: Literal, rows: int, rest: Sequence[Literal]) -> _Path:
        """A join starts with rows of one literal; the ``rest`` is to follow."""
        if self._recorder is not None:
            self._recorder.begin(self._member, path.need, {each: self._size(each) for each in rest})
        return self._stepped(path, first, rows, rows)

    def _stepped(self, path: _Path, reads: Literal | int, out: int, rows: int = -1) -> _Path:
        """Tell the recorder of a step of a join, which gives ``out``. It reads all rows of a literal unless said."""
        if self._recorder is None:
            return path
        path = _Path(path.need, (*path.reads, reads), path.share)
        self._recorder.stepped(path.reads, self._size(reads) if isinstance(reads, Literal) and rows < 0 else rows, out)
        return path

    def _size(self, literal: Literal) -> int:
        """How many rows a literal has."""
        own, listing = self.pattern((literal.table, literal.arguments)), self._listing(literal)
        if own.plain:
            return len(listing)
        read, count = self._sizes.get(literal, (0, 0))
        if read < len(listing):
            count += len(own.fitting(listing[read:]))
            self._sizes[literal] = len(listing), count
        return count

    def _counted(self, path: _Path, out: int, *, last: bool = True) -> None:
        """Before a join gives so many assignments: refuse them if they are too many, together with those found before
        if they are instances at ``last``."""
        self._guard(self.formula, round((self._made[path.need] if last else 0) + path.share * out))

    def _whole(self, literals: tuple[Literal, ...], path: _Path) -> Iterator[Bindings]:
        """Join a need as a whole, from the literal with which the first step gives the fewest rows."""
        if not literals:
            if self._recorder is not None:
                self._recorder.begin(self._member, path.need, {})
            yield from self._enumerated(Bindings(1, {}, {}), path)
            return
        if not all(len(self._listing(each)) for each in literals):
            return
        first = min(literals, key=self._size)
        if 2 < len(literals) <= _TRIED:
            first = self._least_start(literals, first)
        start = self._start(first)
        rest = tuple(each for each in literals if each != first)
        yield from self._joined(start, rest, self._begun(path, first, start.length, rest))

    def _at_once(self) -> Iterator[Bindings] | None:
        """All needs together, where their literals say something of the same tuples, which their tables have in the
        same order: then a row is found where all literals of any need list it."""
        literals = list(dict.fromkeys(each for need in self._needs for each in need))
        variables = self.formula.blocks[0].variables
        if not variables and self._needs:
            return iter([Bindings(1, {}, {})])
        if len(literals) < 2 or not all(self._needs):
            return None
        if any(each.arguments != literals[0].arguments or set(each.arguments) != set(variables) for each in literals):
            return None
        own = [self.pattern((each.table, each.arguments)) for each in literals]
        if not all(pattern.plain for pattern in own):
            return None
        columns = own[0].table.tuples.columns
        if all(
            len(pattern.table.tuples) == len(own[0].table.tuples)
            and all(map(torch.equal, pattern.table.tuples.columns, columns))
            for pattern in own
        ):
            return self._aligned(own[0], literals)
        return self._of_one_variable(literals) if len(variables) == 1 else None

    def _of_one_variable(self, literals: Sequence[Literal]) -> Iterator[Bindings]:
        """The entities that all literals of any need list."""
        flags: dict[Literal, Tensor] = {}
        for each in literals:
            (ids,) = self._atoms.tables[each.table].tuples.columns
            there = torch.zeros(self.radix, dtype=torch.bool)
            flags[each] = there.index_fill_(0, ids.index_select(0, self._listing(each)).long(), True)
        ids = _true(self._any_need(flags)).int()
        self._counted(_Path(0), ids.numel())
        (variable,) = self.formula.blocks[0].variables
        for start in range(0, ids.numel(), CHUNK):
            part = ids[start : start + CHUNK]
            yield Bindings(part.numel(), {variable: part}, {})

    def _any_need(self, flags: Mapping[Literal, Tensor]) -> Tensor:
        """Where all literals of any need are there."""
        found = torch.zeros_like(next(iter(flags.values())))
        for number, need in enumerate(self._needs):
            every = flags[need[0]].clone()
            if self._recorder is not None:
                self._recorder.begin(self._member, number, {})
                self._recorder.stepped(need[:1], self._size(need[0]), int(every.sum()))
            for place, each in enumerate(need[1:], 2):
                every &= flags[each]
                if self._recorder is not None:
                    self._recorder.stepped(need[:place], self._size(each), int(every.sum()))
            found |= every
        return found

    def _aligned(self, own: Pattern, literals: Sequence[Literal]) -> Iterator[Bindings]:
        flags = {
            each: self._atoms.flags(each.column).index_select(0, self._atoms.tables[each.table].rows)
            for each in literals
        }
        rows = _true(self._any_need(flags)).int()
        self._counted(_Path(0), rows.numel())
        atoms = {(each.table, each.arguments) for each in literals}
        listed = frozenset(a for a in atoms if all(a in {(e.table, e.arguments) for e in need} for need in self._needs))
        for start in range(0, rows.numel(), CHUNK):
            part = rows[start : start + CHUNK]
            under = self._matched(own, part)
            columns = {v: under.column(v) for v in own.places}
            yield Bindings(part.numel(), columns, dict.fromkeys(atoms, part), listed=listed)

    def _start(self, literal: Literal) -> Bindings:
        own = self.pattern((literal.table, literal.arguments))
        return self._matched(own, own.fitting(self._listing(literal)))

    def _least_start(self, literals: tuple[Literal, ...], shortest: Literal) -> Literal:
        """The shortest literal, unless its every join gives more rows than all literals have: then any may be first."""

        def least(first: Literal) -> float:
            found = self._start(first)
            counts = [self._count(found, each) for each in literals if each != first and self._shared(found, each)]
            return min(counts, default=math.inf)

        if least(shortest) <= sum(len(self._listing(each)) for each in literals):
            return shortest
        return min(literals, key=least)

    def _listing(self, literal: Literal) -> Tensor:
        return self._atoms.listing(self._atoms.tables[literal.table], literal.column).values

    def _joined(self, found: Bindings, rest: tuple[Literal, ...], path: _Path) -> Iterator[Bindings]:
        """Join the rest onto what is found, always the literal next with which the fewest rows come out."""
        found, rest, path = self._filtered(found, rest, path)
        if not found.length:
            return
        if not rest:
            self._counted(path, found.length)
            yield from self._enumerated(found, path)
            return
        linked = [each for each in rest if self._shared(found, each)]
        if not linked:
            yield from self._multiplied(found, rest, path)
            return
        hits = {each: self._hits(found, each) for each in linked}
        best = min(linked, key=lambda each: sum(hit.total for hit in hits[each]))
        others = tuple(each for each in rest if each != best)
        total = sum(hit.total for hit in hits[best])
        self._counted(path, total, last=not others)
        path = self._stepped(path, best, total)
        own = self.pattern((best.table, best.arguments))
        for hit in hits[best]:
            for part in _parts(hit):
                yield from self._joined(self._expanded(found, own, *part), others, path)

    def _filtered(
        self, found: Bindings, rest: tuple[Literal, ...], path: _Path
    ) -> tuple[Bindings, tuple[Literal, ...], _Path]:
        """Apply the literals whose variables are all bound."""
        left: list[Literal] = []
        for each in rest:
            variables = {a for a in each.arguments if isinstance(a, int)}
            if not variables <= found.variables:
                left.append(each)
            elif found.length:
                found = self._with(found, each)
                path = self._stepped(path, each, found.length)
        return found, tuple(left), path

    def _with(self, found: Bindings, literal: Literal) -> Bindings:
        """Those assignments for which a literal, all bound, is there."""
        atom = (literal.table, literal.arguments)
        own = self.pattern(atom)
        table = own.table
        flags = self._atoms.flags(literal.column)
        if atom in found.matched:
            there = flags.index_select(0, table.rows.index_select(0, found.local(atom)))
            return found if bool(there.all()) else found.at(_true(there))
        columns = own.tuples({v: found.column(v) for v in own.places}, found.length)
        number = table.tuples.find(columns, found.length)
        kept = _true(number >= 0)
        number = number.index_select(0, kept)
        picked = _true(flags.index_select(0, table.rows.index_select(0, number)))
        return Bindings(len(picked), {}, {atom: number.index_select(0, picked)}, found, kept.index_select(0, picked))

    def _shared(self, found: Bindings, literal: Literal) -> list[int]:
        """The variables that a literal shares with what is found."""
        return [v for v in self.pattern((literal.table, literal.arguments)).places if v in found.variables]

    def _hits(self, found: Bindings, literal: Literal) -> list[Hits]:
        own = self.pattern((literal.table, literal.arguments))
        keyed = tuple(self._shared(found, literal)[: self._reach])
        places = tuple(own.places[v] for v in keyed)
        index = self._indexes.get((literal, places))
        if index is None:
            listing = own.table.deviating[literal.column]
            index = self._indexes[literal, places] = JoinIndex(own, listing, places, self._domain.stranger + 1)
        return index.find([found.column(v) for v in keyed])

    def _count(self, found: Bindings, literal: Literal) -> int:
        return sum(hit.total for hit in self._hits(found, literal))

    def _expanded(self, found: Bindings, own: Pattern, left: Tensor, rows: Tensor) -> Bindings:
        columns = own.table.tuples.columns
        makers = {
            v: (lambda place=place: columns[place].index_select(0, rows))
            for v, place in own.places.items()
            if v not in found.variables
        }
        result = Bindings(len(rows), makers, {(own.table.name, own.arguments): rows}, found, left)
        unkeyed = [v for v in own.places if v in found.variables][self._reach :]
        for variable in unkeyed:
            same = result.column(variable) == columns[own.places[variable]].index_select(0, rows)
            result = result if bool(same.all()) else result.at(_true(same))
        return result

    def _multiplied(self, found: Bindings, rest: tuple[Literal, ...], path: _Path) -> Iterator[Bindings]:
        """Multiply by the shortest literal: none shares a variable."""
        best = min(rest, key=lambda each: len(self._listing(each)))
        others = tuple(each for each in rest if each != best)
        own = self.pattern((best.table, best.arguments))
        rows = own.fitting(self._listing(best))
        if all(set(one.arguments).isdisjoint(two.arguments) for one, two in itertools.combinations(rest, 2)):
            self._counted(path, found.length * math.prod(self._size(each) for each in rest))
        self._counted(path, found.length * len(rows), last=not others)
        path = self._stepped(path, best, found.length * len(rows))
        for left, right in _product(found.length, len(rows)):
            yield from self._joined(self._expanded(found, own, left, rows.index_select(0, right)), others, path)

    def _enumerated(self, found: Bindings, path: _Path) -> Iterator[Bindings]:
        """Multiply by the domain of each variable that nothing binds; cut into chunks."""
        free = [v for v in self.formula.blocks[0].variables if v not in found.variables]
        if not free:
            for start in range(0, found.length, 2 * CHUNK):
                yield found.slice(start, min(start + 2 * CHUNK, found.length))
            return
        ids = self._domain.sorts[self.formula.sorts[free[0]]]
        self._counted(path, found.length * math.prod(len(self._domain.sorts[self.formula.sorts[v]]) for v in free))
        path = self._stepped(path, free[0], found.length * len(ids), len(ids))
        for left, right in _product(found.length, len(ids)):
            one = Bindings(len(left), {free[0]: ids.index_select(0, right)}, {}, found, left)
            yield from self._enumerated(one, path)


def _bound(need: Need) -> set[int | str]:
    """The variables that a need's literals bind (and their constants)."""
    return {argument for literal in need.literals for argument in literal.arguments}


def _true(flags: Tensor) -> Tensor:
    """The positions of true flags."""
    return flags.nonzero().squeeze(1)


def _parts(hits: Hits) -> Iterator[tuple[Tensor, Tensor]]:
    """The (key position, row) pairs of hits, about `CHUNK` at a time."""
    if hits.total <= 2 * CHUNK:
        yield hits.expand()
        return
    ends = hits.counts.cumsum(0)
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(torch.searchsorted(ends, done + CHUNK, right=True)))
        counts = hits.counts[start:stop]
        left, rows = Hits(counts, hits.starts[start:stop], hits.rows, int(ends[stop - 1]) - done).expand()
        yield left + start if start else left, rows
        start = stop


def _product(left: int, right: int) -> Iterator[tuple[Tensor, Tensor]]:
    """All pairs of positions, about `CHUNK` at a time."""
    step = max(1, CHUNK // max(right, 1))
    for start in range(0, left, step):
        some = torch.arange(start, min(start + step, left), dtype=torch.int32)
        yield some.repeat_interleave(right), torch.arange(right, dtype=torch.int32).repeat(len(some))
