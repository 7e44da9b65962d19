"""The joins of one formula: assignments of its variables for which literals are there, part by part."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.analysis.needs import Literal
from lnnkit.flags import all_set, where_set
from lnnkit.formula.unfolding import Formula
from lnnkit.join.bindings import Bindings, Matched
from lnnkit.join.join_index import Hits, JoinIndex
from lnnkit.join.join_plan import Reads, Recorder
from lnnkit.join.pattern import Pattern, pattern
from lnnkit.store.atoms import Atoms
from lnnkit.store.domain import Domain

CHUNK = 2**17  # so many assignments are made at once
_TRIED = 6  # among so many literals any may come first; among more, the shortest


@dataclass(frozen=True, slots=True)
class Path:
    """A join for a need: what it has read so far is kept only for a recorder."""

    need: int
    reads: tuple[Reads, ...] = ()
    share: float = 1.0  # of what it finds that was not found before


class Joins:
    """Joins literals over the atoms that are there. ``made`` counts, for each need, the assignments that it has found
    for the first time."""

    def __init__(
        self,
        formula: Formula,
        atoms: Atoms,
        domain: Domain,
        guard: Callable[[Formula, int], None],
        member: int,
        recorder: Recorder | None,
    ) -> None:
        self.formula = formula
        self.atoms = atoms
        self.domain = domain
        self.made: dict[int, float] = {}
        self.recorder = recorder
        self.member = member
        self._guard = guard
        self._sizes: dict[Literal, tuple[int, int]] = {}  # how much of a list was read, and how many rows fit there
        self._indexes: dict[tuple[Literal, tuple[int, ...]], JoinIndex] = {}
        self._patterns: dict[Matched, Pattern] = {}
        self._reach = JoinIndex.reach(self.radix)

    @property
    def radix(self) -> int:
        """All entity ids are below it."""
        return self.domain.stranger + 1

    def pattern(self, matched: Matched) -> Pattern:
        """How an atom binds the formula's variables."""
        if matched not in self._patterns:
            table, arguments = matched
            self._patterns[matched] = pattern(self.atoms.tables[table], arguments, self.formula, self.domain)
        return self._patterns[matched]

    def matched(self, pattern: Pattern, rows: Tensor) -> Bindings:
        columns = pattern.table.tuples.columns
        makers = {
            variable: (lambda place=place: columns[place].index_select(0, rows))
            for variable, place in pattern.places.items()
        }
        return Bindings(rows.numel(), makers, {(pattern.table.name, pattern.arguments): rows})

    def begun(self, path: Path, first: Literal, rows: int, rest: Sequence[Literal]) -> Path:
        """A join starts with rows of one literal; the ``rest`` is to follow."""
        if self.recorder is not None:
            self.recorder.begin(self.member, path.need, {each: self.size(each) for each in rest})
        return self.stepped(path, first, rows, rows)

    def stepped(self, path: Path, reads: Literal | int, out: int, rows: int = -1) -> Path:
        """Tell the recorder of a step of a join, which gives ``out``. It reads all rows of a literal unless said."""
        if self.recorder is None:
            return path
        path = Path(path.need, (*path.reads, reads), path.share)
        self.recorder.stepped(path.reads, self.size(reads) if isinstance(reads, Literal) and rows < 0 else rows, out)
        return path

    def size(self, literal: Literal) -> int:
        """How many rows a literal has."""
        own = self.pattern((literal.table, literal.arguments))
        if own.plain:
            return self.length(literal)
        listing = self.listing(literal)
        read, count = self._sizes.get(literal, (0, 0))
        if read < len(listing):
            count += len(own.fitting(listing[read:]))
            self._sizes[literal] = len(listing), count
        return count

    def counted(self, path: Path, out: int, *, last: bool = True) -> None:
        """Before a join gives so many assignments: refuse them if they are too many, together with those found before
        if they are instances at ``last``."""
        self.guard((self.made.get(path.need, 0.0) if last else 0) + path.share * out)

    def guard(self, count: float) -> None:
        """Refuse so many assignments if they are too many."""
        self._guard(self.formula, round(count))

    def whole(self, literals: tuple[Literal, ...], path: Path) -> Iterator[Bindings]:
        """Join a need as a whole, from the literal with which the first step gives the fewest rows."""
        if not literals:
            if self.recorder is not None:
                self.recorder.begin(self.member, path.need, {})
            yield from self._enumerated(Bindings(1, {}, {}), path)
            return
        if not all(self.length(each) for each in literals):
            return
        first = min(literals, key=self.size)
        if 2 < len(literals) <= _TRIED:
            first = self._least_start(literals, first)
        start = self._start(first)
        rest = tuple(each for each in literals if each != first)
        yield from self.joined(start, rest, self.begun(path, first, start.length, rest))

    def _start(self, literal: Literal) -> Bindings:
        own = self.pattern((literal.table, literal.arguments))
        return self.matched(own, own.fitting(self.listing(literal)))

    def _least_start(self, literals: tuple[Literal, ...], shortest: Literal) -> Literal:
        """The shortest literal, unless its every join gives more rows than all literals have: then any may be first."""

        def least(first: Literal) -> float:
            found = self._start(first)
            counts = [self._count(found, each) for each in literals if each != first and self._shared(found, each)]
            return min(counts, default=math.inf)

        if least(shortest) <= sum(self.length(each) for each in literals):
            return shortest
        return min(literals, key=least)

    def length(self, literal: Literal) -> int:
        """How many rows a literal lists, whether they fit or not."""
        return len(self.atoms.listing(self.atoms.tables[literal.table], literal.column))

    def listing(self, literal: Literal) -> Tensor:
        return self.atoms.listing(self.atoms.tables[literal.table], literal.column).values

    def joined(self, found: Bindings, rest: tuple[Literal, ...], path: Path) -> Iterator[Bindings]:
        """Join the rest onto what is found, always the literal next with which the fewest rows come out."""
        found, rest, path = self._filtered(found, rest, path)
        if not found.length:
            return
        if not rest:
            self.counted(path, found.length)
            yield from self._enumerated(found, path)
            return
        linked = [each for each in rest if any(variable in found.variables for variable in self._places(each))]
        if not linked:
            yield from self._multiplied(found, rest, path)
            return
        hits = [self._hits(found, each) for each in linked]
        totals = [sum(hit.total for hit in each) for each in hits]
        total = min(totals)
        choice = totals.index(total)
        best = linked[choice]
        others = () if len(rest) == 1 else tuple(each for each in rest if each != best)
        self.counted(path, total, last=not others)
        path = self.stepped(path, best, total)
        own = self.pattern((best.table, best.arguments))
        for hit in hits[choice]:
            for part in _parts(hit):
                yield from self.joined(self._expanded(found, own, *part), others, path)

    def _filtered(
        self, found: Bindings, rest: tuple[Literal, ...], path: Path
    ) -> tuple[Bindings, tuple[Literal, ...], Path]:
        """Apply the literals whose variables are all bound."""
        left: list[Literal] = []
        for each in rest:
            if not all(variable in found.variables for variable in self._places(each)):
                left.append(each)
            elif found.length:
                found = self._with(found, each)
                path = self.stepped(path, each, found.length)
        return found, tuple(left), path

    def _with(self, found: Bindings, literal: Literal) -> Bindings:
        """Those assignments for which a literal, all bound, is there."""
        atom = (literal.table, literal.arguments)
        own = self.pattern(atom)
        table = own.table
        flags = self.atoms.flags(literal.column)
        if atom in found.matched:
            there = flags.index_select(0, table.row(found.local(atom)))
            return found if all_set(there) else found.at(true(there))
        columns = own.tuples({v: found.column(v) for v in own.places}, found.length)
        number = table.tuples.find(columns, found.length)
        kept = true(number >= 0)
        number = number.index_select(0, kept)
        picked = true(flags.index_select(0, table.row(number)))
        return Bindings(len(picked), {}, {atom: number.index_select(0, picked)}, found, kept.index_select(0, picked))

    def _places(self, literal: Literal) -> Mapping[int, int]:
        """A literal's variables, with the columns that bind them."""
        return self.pattern((literal.table, literal.arguments)).places

    def _shared(self, found: Bindings, literal: Literal) -> list[int]:
        """The variables that a literal shares with what is found."""
        return [variable for variable in self._places(literal) if variable in found.variables]

    def index(self, bound: Collection[int], literal: Literal) -> tuple[list[int], JoinIndex]:
        """What finds the rows of a literal by the variables that are bound, or the first of them; and those."""
        own = self.pattern((literal.table, literal.arguments))
        keyed = [variable for variable in own.places if variable in bound][: self._reach]
        places = tuple(own.places[v] for v in keyed)
        listing = self.atoms.listing(own.table, literal.column)
        index = self._indexes.get((literal, places))
        if index is None:
            index = self._indexes[literal, places] = JoinIndex(own, listing, places, self.radix)
        return keyed, index

    def _hits(self, found: Bindings, literal: Literal) -> list[Hits]:
        keyed, index = self.index(found.variables, literal)
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
        result = Bindings(rows.numel(), makers, {(own.table.name, own.arguments): rows}, found, left)
        unkeyed = [v for v in own.places if v in found.variables][self._reach :]
        for variable in unkeyed:
            same = result.column(variable) == columns[own.places[variable]].index_select(0, rows)
            result = result if all_set(same) else result.at(true(same))
        return result

    def _multiplied(self, found: Bindings, rest: tuple[Literal, ...], path: Path) -> Iterator[Bindings]:
        """Multiply by the shortest literal: none shares a variable."""
        best = min(rest, key=lambda each: self.length(each))
        others = tuple(each for each in rest if each != best)
        own = self.pattern((best.table, best.arguments))
        rows = own.fitting(self.listing(best))
        if all(set(one.arguments).isdisjoint(two.arguments) for one, two in itertools.combinations(rest, 2)):
            self.counted(path, found.length * math.prod(self.size(each) for each in rest))
        self.counted(path, found.length * len(rows), last=not others)
        path = self.stepped(path, best, found.length * len(rows))
        for left, right in _product(found.length, len(rows)):
            yield from self.joined(self._expanded(found, own, left, rows.index_select(0, right)), others, path)

    def _enumerated(self, found: Bindings, path: Path) -> Iterator[Bindings]:
        """Multiply by the domain of each variable that nothing binds; cut into chunks."""
        free = [v for v in self.formula.blocks[0].variables if v not in found.variables]
        if not free:
            for start in range(0, found.length, 2 * CHUNK):
                yield found.slice(start, min(start + 2 * CHUNK, found.length))
            return
        ids = self.domain.sorts[self.formula.sorts[free[0]]]
        self.counted(path, found.length * math.prod(len(self.domain.sorts[self.formula.sorts[v]]) for v in free))
        path = self.stepped(path, free[0], found.length * len(ids), len(ids))
        for left, right in _product(found.length, len(ids)):
            one = Bindings(len(left), {free[0]: ids.index_select(0, right)}, {}, found, left)
            yield from self._enumerated(one, path)


def true(flags: Tensor) -> Tensor:
    """The positions of true flags."""
    return where_set(flags)


def _parts(hits: Hits) -> Iterator[tuple[Tensor, Tensor]]:
    """The (key position, row) pairs of hits, about `CHUNK` at a time."""
    if hits.total <= 2 * CHUNK:
        yield hits.expand()
        return
    ends = hits.counts.cumsum(0, dtype=torch.int32 if hits.total < 2**31 else torch.int64)
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
