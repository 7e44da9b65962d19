"""Needs: for each formula, the sets of literals one of which must be satisfied before an instance can propose
anything."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import NamedTuple

import numpy as np

from lnnkit.analysis.families import Element, Family
from lnnkit.analysis.relevance import LISTED, AnalysedFormula, Relevance
from lnnkit.analysis.supports import Analysis, Send
from lnnkit.analysis.upward_supports import Upward
from lnnkit.arrays import any_set
from lnnkit.formula.passes import neuron_upward
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.logic.bounds import Bounds
from lnnkit.numeric import Comparison
from lnnkit.time_limit import check_time

_FALSE, _UNKNOWN = (Bounds(np.zeros(1), np.array([upper])) for upper in (0.0, 1.0))

EQUAL = "="  # the table of the literal that two entities are equal

RowList = OneOf["lower", "upper", "either", "listed", "given"]


class Literal(NamedTuple):
    """The rows of ``table`` that deviate on ``column`` (or are listed, or given) and match a pattern of arguments."""

    table: str
    arguments: tuple[int | str, ...]
    column: RowList

    @property
    def atom(self) -> tuple[str, tuple[int | str, ...]]:
        return self.table, self.arguments

    def renamed(self, names: Mapping[int | str, int | str]) -> Literal:
        """With other arguments in place of some."""
        return self._replace(arguments=_renamed(self.arguments, names))

    def __deepcopy__(self, memo: dict[int, object]) -> Literal:
        return self  # its rows never change


class Range(NamedTuple):
    """A crisp comparison of the ``numbers`` of atoms, whose bounds no inference changes, that must not be false. It
    stands among literals, but lists no rows: it limits those of others. What is found may be more, unless ``exact``:
    where a shared comparison is false, its truth is not worked out."""

    comparison: Comparison
    numbers: tuple[tuple[str, tuple[int | str, ...]], ...]
    exact: bool = False

    @property
    def table(self) -> str:
        return ""

    @property
    def column(self) -> str:
        return "range"

    @property
    def arguments(self) -> tuple[int | str, ...]:
        return tuple(argument for _, arguments in self.numbers for argument in arguments)

    @property
    def atom(self) -> tuple[str, tuple[int | str, ...]]:
        return "", self.arguments

    def renamed(self, names: Mapping[int | str, int | str]) -> Range:
        """With other arguments in place of some."""
        return self._replace(numbers=tuple((table, _renamed(arguments, names)) for table, arguments in self.numbers))

    def __deepcopy__(self, memo: dict[int, object]) -> Range:
        return self


def _renamed(arguments: Iterable[int | str], names: Mapping[int | str, int | str]) -> tuple[int | str, ...]:
    return tuple(names.get(argument, argument) for argument in arguments)


def range_of(formula: Formula, index: int, moving: Set[str] | None) -> Range | None:
    """A comparison as a range: None unless it is crisp, has no parameters, and is of numbers that inference, which
    changes the ``moving`` tables (None: any), leaves as they are."""
    neuron = formula.neurons[index]
    comparison, leaves = neuron.arithmetic, [formula.neurons[operand] for operand in neuron.operands]
    if not isinstance(comparison, Comparison) or comparison.soft or not comparison.total or any(neuron.learned):
        return None
    if moving is None or not leaves or any(leaf.kind != LEAF or leaf.source in moving for leaf in leaves):
        return None
    return Range(comparison, tuple((leaf.source, leaf.arguments) for leaf in leaves))


def variables(arguments: Iterable[int | str]) -> set[int]:
    """The variables among the arguments of an atom; the others are constants."""
    return {argument for argument in arguments if isinstance(argument, int)}


def in_order(literals: Iterable[Literal | Range]) -> tuple[Literal | Range, ...]:
    """Some literals in the order in which joins are planned."""
    return tuple(sorted(literals, key=repr))


class Need(NamedTuple):
    """Join ``literals``; each result is a row of ``block`` (and of the blocks around it)."""

    block: int
    literals: frozenset[Literal | Range]

    @property
    def bound(self) -> set[int]:
        """The variables that its atoms bind."""
        atoms = (x for x in self.literals if isinstance(x, Literal) and x.table != EQUAL)
        return variables(term for literal in atoms for term in literal.arguments)


@dataclass(frozen=True, slots=True)
class Needs:
    """The joins of a formula. ``rows`` start instances; ``fills`` complete, for each inner block, the rows that differ
    from its virtual row. ``expands`` are blocks within the last candidate of another quantifier, all of whose rows may
    receive a proposal; ``last`` are blocks whose last candidate may receive one. Literals of ``rows`` may have
    ``existential`` variables, given by their sorts and numbered after those of the formula. By default, no element of
    the aggregates of ``absent`` blocks is there."""

    rows: tuple[Need, ...]
    fills: Mapping[int, tuple[frozenset[Literal | Range], ...]]
    expands: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    existential: tuple[str, ...] = ()
    absent: frozenset[int] = frozenset()

    @property
    def literals(self) -> frozenset[Literal | Range]:
        """All literals that are joined for any of them."""
        sets = [*(need.literals for need in self.rows), *itertools.chain(*self.fills.values())]
        return frozenset(itertools.chain(*sets))

    def without_existential(self, count: int) -> Needs:
        """Without the literals of existential variables, those from ``count`` on: they find more instances."""

        def kept(literal: Literal | Range) -> bool:
            return all(isinstance(term, str) or term < count for term in literal.arguments)

        rows = (Need(need.block, frozenset(filter(kept, need.literals))) for need in self.rows)
        return replace(self, rows=minimal_needs(rows), existential=()) if self.existential else self


def minimal_needs(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Drop the needs that another need of the same block with fewer literals subsumes; the order is canonical."""
    distinct = set(needs)
    kept = [
        need for need in distinct if not any(o.block == need.block and o.literals < need.literals for o in distinct)
    ]
    return tuple(sorted(kept, key=lambda need: (need.block, sorted(map(repr, need.literals)))))


class NeedFinder:
    """Derives the needs of one formula from its supports and the program's relevance. ``moving`` are the tables that
    inference changes (None: any); ``ranges`` has the shared comparisons whose truth their numbers alone tell."""

    def __init__(
        self,
        reading: AnalysedFormula,
        relevance: Relevance,
        sizes: Mapping[str, int],
        moving: Set[str] | None,
        ranges: Mapping[str, Range],
    ) -> None:
        self.analysis: Analysis = reading.analysis
        self.formula: Formula = reading.formula
        self.reading = reading
        self.relevance = relevance
        self.sizes = sizes
        self.moving = moving
        self.ranges = ranges
        self._expands: set[int] = set()
        self._last: set[int] = set()
        self._absent: set[int] = set()

    def inference(self) -> Needs:
        """The instances that can tighten a kept side, or contradict one."""
        check_time()
        needs = [Need(0, literals) for literals in self._distinct(self.analysis.contradictions())]
        for send in self.analysis.sends:
            for literals in self._distinct(send.supports):
                needs.extend(self._sends(send, literals))
        for neuron, family in self.reading.observed.items():
            for literals in self._distinct(family):
                needs.extend(self._at(neuron, None, literals))
        return self._needs(self._minimal(needs))

    def _distinct(self, family: Family) -> Iterator[frozenset[Literal]]:
        """The literals of what is available, without the upper ends of atoms that are false by default if their lower
        ends are present: raising the lower end raises both."""
        false = {leaf for leaf, default in self.analysis.defaults.items() if default[1] == 0}
        for support in family:
            if self.relevance.available(self.reading, support):
                raised = {element.leaf for element in support if element.end == "lower"} & false
                yield self._literals(each for each in support if each.end != "upper" or each.leaf not in raised)

    def deviation(self) -> Needs:
        """The instances whose root differs from its value with all leaves at their defaults."""
        upward = self.analysis.upward if self._equalities_alone() else self.analysis.unequal
        rows = [Need(0, literals) for literals in self._deviations([self.formula.top], upward)]
        return self._needs(self._minimal(rows))

    def initial(self) -> Needs:
        """As ``deviation``, and the instances where equalities alone make a difference."""
        if self._equalities_alone():
            return self._needs((Need(0, frozenset()),))
        return self.deviation()

    def _equalities_alone(self) -> bool:
        """Whether equalities make a difference with all leaves at their defaults."""
        return len(self.analysis.upward.default_values(self.formula.top)) > 1

    def completion(self) -> Needs:
        """The instances of a defining statement that can make a head possible."""
        supports = (s for s in self.analysis.completions() if self.relevance.available(self.reading, s))
        ranges = [*self._required(self.formula.neurons[self.formula.top].operands[0])]
        return self._needs(self._minimal(Need(0, _limited(self._literals(s), ranges)) for s in supports))

    def _needs(self, rows: tuple[Need, ...]) -> Needs:
        fills = self._fills()
        return Needs(rows, fills, frozenset(self._expands), frozenset(self._last), (), frozenset(self._absent))

    def _minimal(self, needs: Iterable[Need]) -> tuple[Need, ...]:
        """Without needs that find what another one finds. An atom that is false by default has raised its upper end
        where it has raised its lower one."""
        leaves = (leaf for leaf in self.formula.leaves if leaf not in self.formula.heads)
        false = {self.formula.table(leaf) for leaf in leaves if self.analysis.defaults[leaf] == (0.0, 0.0)}

        def implied(need: Need) -> Need:
            literals = (x for x in need.literals if isinstance(x, Literal))
            raised = (x._replace(column="upper") for x in literals if x.column == "lower" and x.table in false)
            return need._replace(literals=need.literals.union(raised))

        least = minimal_needs(needs)
        implications = map(implied, least)
        return tuple(
            need
            for need, more in zip(least, implications, strict=True)
            if not any(
                other is not need and other.block == need.block and other.literals <= more.literals for other in least
            )
        )

    def _sends(self, send: Send, literals: frozenset[Literal]) -> Iterable[Need]:
        if send.leaf in self.formula.heads:
            yield from self._at(send.leaf, send.side, literals | {self._literal(send.leaf, "given")})
            return
        mode = self.relevance.mode(self.formula.table(send.leaf), send.side)
        if mode == LISTED:
            literals |= {self._literal(send.leaf, "listed")}
        if mode:
            yield from self._at(send.leaf, send.side, literals)

    def _at(self, neuron: int, side: str | None, literals: frozenset[Literal]) -> Iterable[Need]:
        """The need at the block of ``neuron``, or at an outer block if only the last candidate of a quantifier could
        receive the proposal: such rows are completed when all others exist. ``side`` is the end to tighten, for a
        leaf."""
        block = 0 if neuron == AUXILIARY else self.formula.neurons[neuron].block
        needed = block
        passed: set[int] = set()
        while block > 0:
            quantifier = next(i for i, n in enumerate(self.formula.neurons) if n.inner == block)
            parent = self.formula.blocks[block].parent
            if self._raised(quantifier, neuron, side) == (not self.formula.neurons[quantifier].least):
                if not self._last_candidate(block, quantifier):
                    return
                needed = parent
                self._expands |= passed
                self._last.add(block)
            passed.add(block)
            block = parent
        yield Need(needed, literals)

    def _raised(self, quantifier: int, neuron: int, side: str | None) -> bool | None:
        """Whether the quantifier must be raised (or lowered) to tighten that side; None if either may do."""
        within = self.analysis.polarity.signs_beneath(quantifier).get(neuron, 0)
        if side is None or within == 0:
            return None
        return (side == "lower") == (within > 0)

    def _last_candidate(self, block: int, quantifier: int) -> bool:
        count = math.prod(self.sizes[self.formula.sorts[v]] for v in self.formula.blocks[block].bound)
        if count <= 1:
            return True
        body = self.formula.neurons[quantifier].operands[0]
        end = "lower" if self.formula.neurons[quantifier].least else "upper"
        if any(
            (high < 1.0) if end == "upper" else (low > 0.0) for low, high in self.analysis.upward.default_values(body)
        ):
            return True
        return any(self.relevance.available(self.reading, e) for e in self.analysis.upward.improvements(body, end))

    def _fills(self) -> dict[int, tuple[frozenset[Literal | Range], ...]]:
        """What finds the rows of each inner block that differ, and what must not be false in them."""
        read = [self.analysis.unequal]  # and where variables are unnamed individuals
        for upward in read:
            read += [variant for index in upward.doubtful for variant in upward.others(index) if variant not in read]
        fills: dict[int, tuple[frozenset[Literal | Range], ...]] = {}
        for neuron in self.formula.neurons:
            if neuron.inner >= 0:
                condition = neuron.operands[0]
                absent = all(upward.bases[condition] == (0.0, 0.0) for upward in read)  # its term does not matter
                nodes = [condition] if absent else neuron.operands
                ranges = tuple(self._required(condition) if absent and neuron.aggregates else ())
                self._absent |= {neuron.inner} if absent and neuron.aggregates else set()
                free = self.formula.blocks[neuron.inner].free
                fills[neuron.inner] = tuple(_limited(x, ranges, free) for x in self._deviations(nodes, *read))
        return fills

    def _required(self, condition: int) -> Iterator[Range]:
        """The comparisons without which a condition is false."""
        neurons, beneath = self.formula.neurons, {condition}
        for index in range(condition, -1, -1):
            beneath.update(neurons[index].operands if index in beneath and neurons[index].inner < 0 else ())
        for place in sorted(beneath):
            found = self._range(place)
            if found is None:
                continue
            values: dict[int, Bounds] = {}
            for index in sorted(beneath):
                free = not neurons[index].operands or neurons[index].inner >= 0 or neurons[index].numeric
                made = _UNKNOWN if free else neuron_upward(neurons[index], [values[o] for o in neurons[index].operands])
                values[index] = _FALSE if index == place else made
            if not any_set(values[condition].upper > 0):
                yield found

    def _range(self, index: int) -> Range | None:
        """A comparison, whether it is shared or not, as a range of this formula."""
        neuron = self.formula.neurons[index]
        if neuron.source in self.ranges and neuron.kind == LEAF:
            return self.ranges[neuron.source].renamed(dict(enumerate(neuron.arguments)))._replace(exact=True)
        return range_of(self.formula, index, self.moving)

    def _deviations(self, nodes: Sequence[int], *read: Upward) -> tuple[frozenset[Literal | Range], ...]:
        """The minimal sets of literals under which an end of a node can differ from its value at the defaults."""
        sets = {
            self._literals(elements)
            for node in nodes
            for upward in read
            for end in ("lower", "upper")
            for elements in (*upward.improvements(node, end), *upward.loosenings(node, end))
            if self.relevance.available(self.reading, elements)
        }
        return tuple(need.literals for need in self._minimal(Need(0, literals) for literals in sets))

    def _literals(self, elements: Iterable[Element]) -> frozenset[Literal]:
        return frozenset(self._literal(e.leaf, "given" if e.leaf in self.formula.heads else e.end) for e in elements)

    def _literal(self, leaf: int, column: RowList) -> Literal:
        equal = leaf != AUXILIARY and self.formula.neurons[leaf].kind == "same"
        return Literal(EQUAL if equal else self.formula.table(leaf), self.formula.arguments(leaf), column)


def _limited(
    literals: frozenset[Literal | Range], ranges: Iterable[Range], known: Iterable[int] = ()
) -> frozenset[Literal | Range]:
    """Literals with the ranges of what they bind, beside what is known. Shared comparisons within a literal are worked
    out anyway."""
    bound, within = Need(0, literals).bound.union(known), [variables(literal.arguments) for literal in literals]
    read = [(limit, variables(limit.arguments)) for limit in ranges]
    return literals.union(x for x, of in read if of <= bound and not (x.exact and any(of <= one for one in within)))
