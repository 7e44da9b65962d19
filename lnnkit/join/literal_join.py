"""Joins the literals of one formula: assignments of its variables that satisfy them, part by part."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.needs import EQUAL, Literal, Range, variables
from lnnkit.formula.unfolding import Formula
from lnnkit.join.bindings import NOTHING, Bindings, Known, Matched, Pattern, pattern
from lnnkit.join.join_index import Hits, JoinIndex, RangeIndex, limits
from lnnkit.join.join_plan import Ranged, Reads, Recorder
from lnnkit.numeric import Interval
from lnnkit.store.layout import Domain
from lnnkit.store.relations import UNKNOWN, Relations
from lnnkit.store.row_arrays import Array, first_rows

# Assignments made at a time, a limit of memory: columns that are looked up here and there stay in the cache. A join of
# 2,000,000 takes 377 CPU ms with 2 ** 17, 471 with 2 ** 13, 293 with 2 ** 21 (`python -m benchmarks.inference_constants
# triangles`); a million smokers with Friends open 468 with 2 ** 17, 438 with 2 ** 18, 418 with 2 ** 19.
CHUNK = 2**18
_TRIED = 6  # up to this many literals any may come first, of more the shortest; 2 to 12 take 334 to 382 ms


Literals = tuple[Literal | Range, ...]


class Path(NamedTuple):
    """The join of a need; the literals read so far are tracked only for a recorder."""

    need: int
    reads: tuple[Reads, ...] = ()
    share: float = 1.0  # the share of its results that was not found before


@dataclass(slots=True, eq=False)
class _Filter:
    """A literal whose variables are all bound: a membership test. ``known`` is what is bound then; its atom may be
    ``matched`` already."""

    literal: Literal
    pattern: Pattern
    matched: bool
    known: Known


@dataclass(slots=True, eq=False)
class _Link:
    """A literal that shares the variables ``keyed`` with the result so far. ``bind`` are those that it binds, with
    their columns; ``unkeyed`` ones are compared after the look-up. ``tests``: all that matters is whether there is a
    row. ``limits`` are comparisons of a number of its rows, with the place of that among theirs; ``reads`` is the
    literal, with these. ``then`` is the next step."""

    literal: Literal
    pattern: Pattern
    keyed: list[int]
    unkeyed: list[int]
    index: JoinIndex
    bind: Mapping[int, int]
    known: Known
    others: Literals
    tests: bool
    limits: Sequence[tuple[Range, int]]
    reads: Reads
    then: Step | None = None


@dataclass(slots=True, eq=False)
class Step:
    """What to do given the bound variables and the remaining literals: first the filters, and the ranges that are
    compared; then one of the linked literals, or one of the ``rest``."""

    filters: list[_Filter]
    compared: list[Range]
    known: Known
    rest: Literals
    links: list[_Link]
    done: bool  # nothing is left to do
    narrow: tuple[int, ...] | None  # the variables that are needed from here on; None: all that are bound


class Joins:
    """Joins literals over the materialised atoms. ``made`` counts, for each need, the assignments found for the first
    time."""

    def __init__(
        self,
        formula: Formula,
        atoms: Relations,
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
        self._indexes: dict[tuple[Literal, tuple[int, ...], Matched | None], JoinIndex] = {}
        self._patterns: dict[Matched, Pattern] = {}
        self._reach = JoinIndex.reach(self.radix)

    @property
    def radix(self) -> int:
        """An upper bound on all entity ids."""
        return self.domain.stranger + 1

    def pattern(self, matched: Matched) -> Pattern:
        """How an atom binds the formula's variables."""
        if matched not in self._patterns:
            table, arguments = matched
            self._patterns[matched] = pattern(self.atoms.tables[table], arguments, self.formula, self.domain)
        return self._patterns[matched]

    def matched(self, pattern: Pattern, rows: Array | range, known: Known | None = None) -> Bindings:
        """Rows of a table as matches of an atom; ``known`` is what it binds, if the caller has it."""
        atom = pattern.atom
        if known is None:
            known = NOTHING.match(atom, frozenset(pattern.places))
        return Bindings(len(rows), known, None, pattern.places, pattern.table.tuples.columns, rows, (atom,))

    def begun(self, path: Path, rest: Iterable[Literal | Range], first: Literal | None = None, rows: int = -1) -> Path:
        """Report the start of a join of the ``rest`` onto the rows of the first literal, if there is one."""
        if self.recorder is not None:
            self.recorder.begin(self.member, path.need, {literal: self.size(literal) for literal in listing(rest)})
        return path if first is None else self.stepped(path, first, rows, rows)

    def stepped(self, path: Path, reads: Reads, out: int, rows: int = -1) -> Path:
        """Report a step of a join with ``out`` results. It reads all rows of a literal unless ``rows`` is given."""
        if self.recorder is None:
            return path
        path = Path(path.need, (*path.reads, reads), path.share)
        literal = reads.literal if isinstance(reads, Ranged) else reads
        rows = self.size(literal) if isinstance(literal, Literal) and rows < 0 else rows
        self.recorder.stepped(path.reads, rows, out)
        return path

    def size(self, literal: Literal) -> int:
        """The number of rows of a literal that match its pattern."""
        pattern = self.pattern(literal.atom)
        return self.length(literal) if pattern.plain else len(pattern.fitting(self.listing(literal)))

    def counted(self, path: Path, out: int, *, last: bool = True) -> None:
        """Check the budget before a join produces this many assignments; at ``last`` they count as instances, together
        with those found before."""
        count = path.share * out
        if last:
            count += self.made.get(path.need, 0.0)
        self._guard(self.formula, round(count))

    def whole(self, need: Literals, path: Path) -> Iterator[Bindings]:
        """Join a need from scratch, starting with the literal whose first step has the fewest results."""
        literals = listing(need)
        if not literals:
            yield from self._enumerated(Bindings(1, NOTHING), self.begun(path, ()))
            return
        if not self.may_hold(literals):
            return
        first = min(literals, key=self.size)
        if 2 < len(literals) <= _TRIED:
            first = self._least_start(literals, first)
        start = self._start(first)
        rest = tuple(literal for literal in need if literal != first)
        yield from self.joined(start, self.step(start.known, rest), self.begun(path, rest, first, start.length))

    def _start(self, literal: Literal) -> Bindings:
        pattern = self.pattern(literal.atom)
        start = self.matched(pattern, pattern.fitting(self.listing(literal)))
        start.distinct = True
        return start

    def _least_start(self, literals: tuple[Literal, ...], shortest: Literal) -> Literal:
        """The shortest literal, unless each of its joins has more rows than all literals together: then any may be
        first."""

        def least(first: Literal) -> float:
            start = self._start(first)
            linked = (literal for literal in literals if literal != first and self._shares(start.known, literal))
            return min((self._count(start, literal) for literal in linked), default=math.inf)

        if least(shortest) <= sum(self.length(literal) for literal in literals):
            return shortest
        return min(literals, key=least)

    def _shares(self, known: Known, literal: Literal) -> bool:
        return not known.variables.isdisjoint(self._places(literal))

    def may_hold(self, literals: Iterable[Literal | Range]) -> bool:
        """Whether each of some literals lists a row."""
        return all(self.length(literal) for literal in listing(literals))

    def length(self, literal: Literal) -> int:
        """The number of rows that a literal lists, whether they match or not."""
        return len(self.atoms.tables[literal.table].listing(literal.column))

    def listing(self, literal: Literal) -> Array:
        """The rows that a literal lists."""
        return self.atoms.tables[literal.table].listing(literal.column).values

    def unrestricted(self, literals: Literals) -> Collection[int]:
        """The formula's variables that are not range-restricted: no literal has them in a position of their sort, so
        their values depend on its members."""
        bound = {
            (argument, sort)
            for literal in listing(literals)
            if literal.table != EQUAL
            for argument, sort in zip(literal.arguments, self.atoms.tables[literal.table].sorts, strict=True)
        }
        return [v for v in self.formula.blocks[0].variables if (v, self.formula.sorts[v]) not in bound]

    def step(self, known: Known, rest: Literals) -> Step:
        """How to join the rest onto results that bind ``known``."""
        filters: list[_Filter] = []
        left: list[Literal] = []
        for literal in listing(rest):
            if self._places(literal).keys() <= known.variables:
                matched = literal.atom in known.matched
                known = known if matched else known.match(literal.atom, frozenset())
                filters.append(_Filter(literal, self.pattern(literal.atom), matched, known))
            else:
                left.append(literal)
        every = [other for other in rest if isinstance(other, Range)]
        ranges = [limit for limit in every if not _read((limit,)) <= known.variables] if left else []
        compared = [limit for limit in every if limit.exact and _read((limit,)) <= known.variables]
        wanted, narrow = self.formula.blocks[0].variables, None
        needed = known.variables.intersection({*wanted, *_read((*left, *ranges))})
        if len(needed) < len(known.variables):
            known, narrow = Known(needed), tuple(sorted(needed))
        links = [link for literal in left if (link := self._link(known, literal, (*left, *ranges), ranges)) is not None]
        done = not (filters or compared or left) and known.variables.issuperset(self.formula.blocks[0].variables)
        return Step(filters, compared, known, (*left, *ranges), links, done, narrow)

    def _link(self, known: Known, literal: Literal, left: Literals, ranges: Sequence[Range]) -> _Link | None:
        """How to join a literal that shares a variable with the result so far, or that ``ranges`` limit; None for
        others."""
        limits = self._limits(known, literal, ranges)
        if not (limits or self._shares(known, literal)):
            return None
        pattern = self.pattern(literal.atom)
        keyed, index = self.index(known.variables, literal, limits[0][0].numbers[limits[0][1]] if limits else None)
        unkeyed = [v for v in pattern.places if v in known.variables][self._reach :]
        bind = {v: place for v, place in pattern.places.items() if v not in known.variables}
        then = known.match(pattern.atom, frozenset(pattern.places))
        others = tuple(other for other in left if other != literal)
        others = tuple(other for other in others if listing(others) or (isinstance(other, Range) and other.exact))
        tests = not unkeyed and {*self.formula.blocks[0].variables, *_read(others)}.isdisjoint(bind)
        reads = Ranged(literal, tuple(limit for limit, _ in limits)) if limits else literal
        then = known if tests else then
        return _Link(literal, pattern, keyed, unkeyed, index, bind, then, others, tests, limits, reads)

    def _limits(self, known: Known, literal: Literal, ranges: Sequence[Range]) -> list[tuple[Range, int]]:
        """The comparisons that limit a number of what a literal binds, the same for all, and its place in each."""
        places, limits = self._places(literal).keys(), list[tuple[Range, int]]()
        for comparison in ranges:
            of = [variables(arguments) for _, arguments in comparison.numbers]
            for place, (number, about) in enumerate(zip(comparison.numbers, of, strict=True)):
                others = known.variables.issuperset(frozenset().union(*of[:place], *of[place + 1 :]))
                binds = len(about) and about <= places and not about <= known.variables
                alike = not limits or limits[0][0].numbers[limits[0][1]] == number
                if binds and others and alike and not any(isinstance(term, str) for term in number[1]):
                    limits.append((comparison, place))
        return limits

    def joined(self, bindings: Bindings, step: Step, path: Path) -> Iterable[Bindings]:
        """Join the rest onto the results so far, at each step the literal with the fewest results."""
        for test in step.filters:
            if bindings.length:
                bindings = self._with(bindings, test)
                path = self.stepped(path, test.literal, bindings.length)
        for limit in step.compared:
            boxes = [self._numbers(bindings, number) for number in limit.numbers]
            bindings = _some(bindings, np.flatnonzero(limit.comparison.truth(boxes).upper > 0))
        if not bindings.length:
            return ()
        if step.narrow is not None:
            bindings = self._narrowed(bindings, step.narrow)
        if not step.rest:
            self.counted(path, bindings.length)
            return self._enumerated(bindings, path)
        if not step.links:
            return self._multiplied(bindings, step.rest, path)
        best, hits, total = self._fewest(bindings, step.links)
        if best.tests:
            there = np.flatnonzero(np.any([hit.counts > 0 for hit in hits], axis=0)) if hits else np.empty(0, np.intp)
            path = self.stepped(path, best.reads, len(there))
            then = best.then = best.then or self.step(best.known, best.others)
            return self.joined(_some(bindings, there), then, path)
        self.counted(path, total, last=not best.others)
        path = self.stepped(path, best.reads, total)
        then = best.then = best.then or self.step(best.known, best.others)
        return self._linked(bindings, best, then, hits, path)

    def _narrowed(self, bindings: Bindings, needed: Sequence[int]) -> Bindings:
        """The assignments of the needed variables, each once: of others it only matters whether there is a value."""
        columns = [bindings.column(variable) for variable in needed]
        first = first_rows(columns, bindings.length)
        if first is not None:
            columns = [column.take(first) for column in columns]
        length = bindings.length if first is None else len(first)
        narrowed = Bindings(length, Known(frozenset(needed)), dict(zip(needed, columns, strict=True)))
        narrowed.distinct = True
        return narrowed

    def _linked(self, bindings: Bindings, link: _Link, then: Step, hits: list[Hits], path: Path) -> Iterator[Bindings]:
        """Join the results so far with the hits of a link, part by part, and continue."""
        for hit in hits:
            if then.done and hit.total <= 2 * CHUNK:
                part = self._within_sorts(self._expanded(bindings, link, *hit.expand()))
                if part.length:
                    yield part
                continue
            for start, stop, left, rows in _parts(hit):
                yield from self.joined(self._expanded(bindings.slice(start, stop), link, left, rows), then, path)

    def _fewest(self, bindings: Bindings, links: list[_Link]) -> tuple[_Link, list[Hits], int]:
        """The link with the fewest results, its hits, and their number."""
        best, least, hits = links[0], -1, list[Hits]()
        for link in links:
            matches = self._matches(bindings, link)
            total = sum(hit.total for hit in matches)
            if least < 0 or total < least:
                best, least, hits = link, total, matches
        return best, hits, least

    def _matches(self, bindings: Bindings, link: _Link) -> list[Hits]:
        columns = [bindings.column(v) for v in link.keyed]
        if not isinstance(link.index, RangeIndex):
            return link.index.find(columns)
        return link.index.between(columns, limits(link.limits, partial(self._numbers, bindings), bindings.length))

    def _numbers(self, bindings: Bindings, number: Matched) -> Interval:
        """The numbers of an atom."""
        table, columns = self.atoms.tables[number[0]], self.pattern(number).tuples(bindings.column, bindings.length)
        rows = table.tuples.find(columns, bindings.length)
        for column in columns:
            rows = np.where(column >= self.domain.generic, UNKNOWN, rows)
        return Interval(*table.read(rows))

    def _with(self, bindings: Bindings, test: _Filter) -> Bindings:
        """The assignments for which a literal, all of whose variables are bound, is satisfied."""
        table = test.pattern.table
        flags = table.flags(test.literal.column)
        if test.matched:
            there = flags.take(bindings.local(test.pattern.atom))
            return _some(bindings, np.flatnonzero(there))
        columns = test.pattern.tuples(bindings.column, bindings.length)
        number = table.tuples.find(columns, bindings.length)
        kept = np.flatnonzero(number >= 0)
        number = number.take(kept)
        picked = np.flatnonzero(flags.take(number))
        rows, via = number.take(picked), kept.take(picked)
        some = Bindings(len(picked), test.known, rows=rows, matched=(test.pattern.atom,), under=bindings, via=via)
        some.distinct = bindings.distinct
        return some

    def _places(self, literal: Literal) -> Mapping[int, int]:
        """A literal's variables, with the columns that bind them."""
        return self.pattern(literal.atom).places

    def index(
        self, bound: Collection[int], literal: Literal, number: Matched | None = None
    ) -> tuple[list[int], JoinIndex]:
        """The index of a literal by the bound variables, as many of them as fit one key, and by a ``number`` of what it
        binds; and those variables."""
        pattern = self.pattern(literal.atom)
        keyed = [variable for variable in pattern.places if variable in bound][: self._reach]
        places = tuple(pattern.places[v] for v in keyed)
        index = self._indexes.get((literal, places, number))
        if index is None:
            index = JoinIndex(pattern, literal.column, places, self.radix)
            if number is not None:
                at = [pattern.places[variable] for variable in number[1] if isinstance(variable, int)]
                index = RangeIndex(pattern, literal.column, places, self.radix, self.atoms.tables[number[0]], at)
            self._indexes[literal, places, number] = index
        return keyed, index

    def _count(self, bindings: Bindings, literal: Literal) -> int:
        keyed, index = self.index(bindings.known.variables, literal)
        return sum(hit.total for hit in index.find([bindings.column(v) for v in keyed]))

    def _expanded(self, bindings: Bindings, link: _Link, left: Array | None, rows: Array) -> Bindings:
        columns, atom = link.pattern.table.tuples.columns, link.pattern.atom
        expanded = Bindings(len(rows), link.known, None, link.bind, columns, rows, (atom,), bindings, left)
        for variable in link.unkeyed:
            same = expanded.column(variable) == columns[link.pattern.places[variable]].take(expanded.local(atom))
            expanded = expanded if same.all() else expanded.at(np.flatnonzero(same))
        return expanded

    def _multiplied(self, bindings: Bindings, rest: Literals, path: Path) -> Iterator[Bindings]:
        """Multiply by the shortest literal; none shares a variable."""
        wanted, literals = {*self.formula.blocks[0].variables}, listing(rest)
        if all(wanted.isdisjoint(self._places(literal)) for literal in literals):
            yield from self._if_any(bindings, rest, path)
            return
        best = min(literals, key=self.length)
        pattern, others = self.pattern(best.atom), tuple(other for other in rest if other != best)
        rows = pattern.fitting(self.listing(best))
        if all(set(one.arguments).isdisjoint(two.arguments) for one, two in itertools.combinations(rest, 2)):
            self.counted(path, bindings.length * math.prod(self.size(literal) for literal in literals))
        self.counted(path, bindings.length * len(rows), last=len(literals) == 1)
        path = self.stepped(path, best, bindings.length * len(rows))
        known, columns = bindings.known.match(best.atom, frozenset(pattern.places)), pattern.table.tuples.columns
        then = self.step(known, others)
        for left, right in _product(bindings.length, len(rows)):
            at = rows.take(right)
            product = Bindings(len(at), known, None, pattern.places, columns, at, (best.atom,), bindings, left)
            yield from self.joined(product, then, path)

    def _if_any(self, bindings: Bindings, rest: Literals, path: Path) -> Iterable[Bindings]:
        """The assignments, if the rest, none of whose variables is wanted, can be satisfied."""
        formula = replace(self.formula, blocks=(replace(self.formula.blocks[0], variables=()),))
        others = Joins(formula, self.atoms, self.domain, self._guard, self.member, None)
        if any(part.length for part in others.whole(rest, path)):
            return self.joined(bindings, self.step(bindings.known, ()), path)
        return ()

    def _enumerated(self, bindings: Bindings, path: Path) -> Iterator[Bindings]:
        """Multiply by the domain of each unbound variable; in chunks."""
        free = [v for v in self.formula.blocks[0].variables if v not in bindings.known.variables]
        if not free:
            bindings = self._within_sorts(bindings)
            for start in range(0, bindings.length, 2 * CHUNK):
                yield bindings.slice(start, min(start + 2 * CHUNK, bindings.length))
            return
        ids = self.domain.sorts[self.formula.sorts[free[0]]]
        self.counted(path, bindings.length * math.prod(len(self.domain.sorts[self.formula.sorts[v]]) for v in free))
        path = self.stepped(path, free[0], bindings.length * len(ids), len(ids))
        known = bindings.known.bind(frozenset(free[:1]))
        for left, right in _product(bindings.length, len(ids)):
            one = Bindings(len(left), known, {free[0]: ids.take(right)}, under=bindings, via=left)
            yield from self._enumerated(one, path)

    def _within_sorts(self, bindings: Bindings) -> Bindings:
        """The assignments none of whose entities has left the sort of its variable."""
        for variable in self.formula.blocks[0].variables:
            departed = self.domain.departed.get(self.formula.sorts[variable])
            if departed is not None:
                bindings = _some(bindings, np.flatnonzero(~departed.take(bindings.column(variable))))
        return bindings


def listing(literals: Iterable[Literal | Range]) -> tuple[Literal, ...]:
    """The literals among what is joined."""
    return tuple(literal for literal in literals if isinstance(literal, Literal))


def _read(left: Literals) -> set[int]:
    """The variables that the remaining literals, and what limits them, read."""
    return variables(argument for literal in left for argument in literal.arguments)


def _some(bindings: Bindings, positions: Array) -> Bindings:
    """The assignments at ascending positions."""
    if len(positions) == bindings.length:
        return bindings
    some = bindings.at(positions)
    some.distinct = bindings.distinct
    return some


def _parts(hits: Hits) -> Iterator[tuple[int, int, Array | None, Array]]:
    """The (key position, row) pairs of hits, about `CHUNK` at a time, for the keys from a first one on to another;
    positions, from the first key on, are None where each key occurs once."""
    if hits.total <= 2 * CHUNK:
        yield 0, len(hits.counts), *hits.expand()
        return
    ends = hits.counts.cumsum(dtype=np.int64)
    start = 0
    while start < len(ends):
        done = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(ends.searchsorted(done + CHUNK, side="right")))
        total = int(ends[stop - 1]) - done
        if total:
            counts, starts = hits.counts[start:stop], hits.starts[start:stop]
            yield start, stop, *Hits(counts, starts, hits.rows, hits.base, total, hits.single).expand()
        start = stop


def _product(left: int, right: int) -> Iterator[tuple[Array, Array]]:
    """All pairs of positions, about `CHUNK` at a time."""
    step = max(1, CHUNK // max(right, 1))
    for start in range(0, left, step):
        at = np.arange(start, min(start + step, left), dtype=np.int32)
        yield at.repeat(right), np.tile(np.arange(right, dtype=np.int32), len(at))
