"""Needed statements -> a dense program: each atom of a row is a pair of columns, each statement a tree of neurons over
them. Only programs whose statements have one variable, a row, and no quantifier can be put so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from lnnkit.analysis.relevance import SIDES
from lnnkit.check.program import CheckedProgram
from lnnkit.engine.response.forward import Clause, clause
from lnnkit.engine.response.respond import constant
from lnnkit.engine.start.speaking import comparing, speaking
from lnnkit.formula.passes import upward
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula, unfold
from lnnkit.graph.lifted import Root
from lnnkit.graph.match import below_negations
from lnnkit.graph.relatives import Kin
from lnnkit.join.instances.grounding import leaf_modes
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds, complement
from lnnkit.numeric import Comparison, informing
from lnnkit.rows.dense_clauses import SummedClause, summed
from lnnkit.rows.needed_statements import Needed

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DenseTable:
    """A predicate, a number or a shared neuron of the rows."""

    name: str
    default: Pair
    numeric: bool


@dataclass(frozen=True, slots=True)
class DenseRule:
    """A statement, or the definition of a shared neuron. ``tables`` has the table behind each leaf, AUXILIARY among
    them; ``reads`` the tables and sides whose moves matter, none where what it tells depends on nothing that moves;
    ``clause`` what it tells where nothing is known of its consequent, ``summed`` the same in fewer passes. Of a
    comparison, ``informing`` are the sets of leaves of
    which one must be known before its numbers say anything of its truth."""

    shape: RuleShape
    tables: dict[int, str]
    reads: tuple[tuple[str, int], ...]
    clause: Clause | None = None
    summed: SummedClause | None = None
    informing: tuple[frozenset[int], ...] = ()

    @property
    def formula(self) -> Formula:
        return self.shape.formula

    @property
    def comparison(self) -> Comparison | None:
        """The comparison that it defines."""
        found = self.formula.neurons[self.formula.top].arithmetic if self.formula.compares else None
        return found if isinstance(found, Comparison) else None


@dataclass(frozen=True, slots=True)
class DenseQuery:
    """A query of one variable. The formula of ``shape`` is what stands beneath its negations, ``heard`` the shared
    neurons that it is an instance of, ``kin`` the comparisons of its terms; ``default`` its value with every atom at
    its default."""

    shape: RuleShape
    negated: bool
    heard: tuple[str, ...]
    kin: Kin
    default: Pair
    numeric: bool

    @property
    def formula(self) -> Formula:
        return self.shape.formula

    @property
    def atom(self) -> str | None:
        """The table whose atoms it asks for, if it does."""
        return self.formula.neurons[0].source if len(self.formula.neurons) == 1 else None


@dataclass(frozen=True)
class DenseProgram:
    """``comparisons`` and ``shared`` (operands first) get their first bounds from their operands; ``rules`` respond in
    rounds; ``strata`` are completed, dependencies first."""

    tables: dict[str, DenseTable]
    comparisons: tuple[DenseRule, ...]
    shared: tuple[DenseRule, ...]
    rules: tuple[DenseRule, ...]
    strata: tuple[tuple[frozenset[str], tuple[DenseRule, ...]], ...]
    queries: tuple[DenseQuery, ...]

    @property
    def statements(self) -> tuple[Formula, ...]:
        """The formulas that may set a bound: of rules, and of completions."""
        return tuple(rule.formula for rule in (*self.rules, *(each for _, own in self.strata for each in own)))

    @cached_property
    def responding(self) -> frozenset[str]:
        """The comparisons that have something to say in rounds."""
        return frozenset(rule.tables[AUXILIARY] for rule in self.rules if rule.formula.compares)

    @cached_property
    def moved(self) -> frozenset[str]:
        """The tables of which statements may say something."""
        rules = (*self.comparisons, *self.shared, *self.rules)
        found = {
            rule.tables[leaf] for rule in rules for leaf in (*rule.shape.targets, AUXILIARY) if leaf in rule.tables
        }
        return frozenset(found.union(*(names for names, _ in self.strata)))

    def is_untouched(self, query: DenseQuery) -> bool:
        """Whether a query asks for what facts alone say."""
        return query.atom is not None and query.atom not in self.moved and not query.heard and not query.kin.relatives

    @cached_property
    def read_later(self) -> tuple[str, ...]:
        """The tables that are read once comparisons have their first truth, but for untouched queries."""
        rules = (*self.shared, *self.rules, *(each for _, own in self.strata for each in own))
        found = {name for rule in rules for name in rule.tables.values()}
        found |= {name for names, _ in self.strata for name in names}
        for query in self.queries:
            if self.is_untouched(query):
                continue
            found |= {*_sources(query.formula).values(), *_listened(query)}
        return tuple(sorted(found))

    def first_defining(self, rules: Sequence[DenseRule]) -> int:
        """The place among the ``statements`` of the first of the rules of a stratum."""
        first = len(self.rules)
        for _, own in self.strata:
            if own is rules:
                return first
            first += len(own)
        raise ValueError("no stratum has these rules")


def dense_program(needs: Needed, program: CheckedProgram) -> DenseProgram | None:
    """The dense form of a row-local program; None where it has none."""
    asked = [_positive(needs, root) for root in needs.lifted.queries]
    queried = [unfold(needs.lifted, root, world=needs.world) for root, _ in asked]
    definitions = _definitions(needs, [*needs.formulas, *queried])
    every = [*needs.formulas, *definitions, *queried]
    if needs.observers or not all(map(_is_of_one_row, every)):
        return None
    if {formula.neurons[leaf].source for formula in every for leaf in formula.leaves} & {*needs.shared.impossible}:
        return None
    with torch.no_grad():
        queries = tuple(
            _query(needs, root, formula, negated, program.queries[place].numeric)
            for place, ((root, negated), formula) in enumerate(zip(asked, queried, strict=True))
        )
        defining = tuple(_rule(needs, formula) for formula in definitions)
        return DenseProgram(
            _tables(needs, every, queries),
            tuple(each for each in defining if each.formula.compares),
            tuple(each for each in defining if not each.formula.compares),
            _once(tuple(_rule(needs, reading.formula) for reading in needs.readings), needs),
            tuple((names, tuple(_completing(needs, each) for each in own)) for names, own in needs.strata),
            queries,
        )


def _positive(needs: Needed, root: Root) -> tuple[Root, bool]:
    reference, negated = below_negations(needs.lifted.graph, root.reference)
    return replace(root, reference=reference), negated


def _is_of_one_row(formula: Formula) -> bool:
    if len(formula.blocks) != 1 or len(formula.sorts) != 1:
        return False
    return all(neuron.arguments == (0,) for neuron in formula.neurons if neuron.kind in (LEAF, "same")) and not any(
        neuron.kind == "same" for neuron in formula.neurons
    )


def _definitions(needs: Needed, formulas: Sequence[Formula]) -> list[Formula]:
    """The definitions of the shared neurons that are read, operands first."""
    by_name = {str(formula.auxiliary): formula for formula in needs.shared.formulas}
    wanted: set[str] = {str(formula.auxiliary) for formula in formulas if formula.auxiliary is not None}
    stack = [*formulas]
    for root in needs.lifted.queries:
        reference = below_negations(needs.lifted.graph, root.reference)[0]
        heard = [each.node for each in speaking(needs.lifted, needs.world, reference)]
        heard += [each.reference.node for each in comparing(needs.lifted, needs.world, reference).relatives]
        for name in heard:
            if name in by_name and name not in wanted:
                wanted.add(name)
                stack.append(by_name[name])
    while stack:
        formula = stack.pop()
        for leaf in formula.leaves:
            name = formula.neurons[leaf].source
            if name in by_name and name not in wanted:
                wanted.add(name)
                stack.append(by_name[name])
    return [formula for formula in needs.shared.formulas if formula.auxiliary in wanted]


def _sources(formula: Formula) -> dict[int, str]:
    found = {leaf: formula.neurons[leaf].source for leaf in formula.leaves}
    if formula.auxiliary is not None:
        found[AUXILIARY] = formula.auxiliary
    return found


def _rule(needs: Needed, formula: Formula) -> DenseRule:
    modes = leaf_modes(formula, needs.relevance.mode)
    shape = RuleShape(formula, needs.analyses.of(formula), modes, (), completes=False)
    found = clause(shape)
    sums = None if found is None else summed(found)
    return DenseRule(shape, _sources(formula), _reads(shape), found, sums, _informing(formula))


def _once(rules: Sequence[DenseRule], needs: Needed) -> tuple[DenseRule, ...]:
    """The rules that have something to say in rounds; those without ``reads`` look at rows once: whatever they tell
    rests on what nobody moves."""
    moved = {rule.tables[leaf] for rule in rules for leaf in rule.shape.targets}
    moved |= {name for names, _ in needs.strata for name in names}
    found: list[DenseRule] = []
    for rule in rules:
        if _told_at_once(rule, moved, needs):
            continue
        polarity = rule.shape.analysis.polarity
        read = {
            rule.tables[element.leaf]
            for leaf in rule.shape.targets
            for place, side in enumerate(SIDES)
            if rule.shape.modes[leaf][place]
            for element in polarity.reads(leaf, side)
            if element.leaf in rule.tables
        }
        still = rule.formula.auxiliary is None and not rule.formula.heads and not read & moved
        found.append(replace(rule, reads=()) if still else rule)
    return tuple(found)


def _told_at_once(rule: DenseRule, moved: Set[str], needs: Needed) -> bool:
    """Whether a comparison has said all before the first round: nothing moves its numbers, itself included."""
    if not rule.formula.compares or {*rule.shape.targets} - {AUXILIARY}:
        return False
    numbers = {rule.tables[leaf] for leaf in rule.formula.leaves}
    return not numbers & moved and needs.atoms.tables[rule.tables[AUXILIARY]].default == (0.0, 1.0)


def _completing(needs: Needed, formula: Formula) -> DenseRule:
    modes = leaf_modes(formula, lambda _name, _side: 0)
    shape = RuleShape(formula, needs.analyses.of(formula), modes, (), completes=True)
    return DenseRule(shape, _sources(formula), _reads(shape))


def _reads(shape: RuleShape) -> tuple[tuple[str, int], ...]:
    sources = _sources(shape.formula)
    found = {
        (sources[leaf], side)
        for leaf, sides in shape.reads.items()
        for side, matters in enumerate(sides)
        if matters and leaf in sources
    }
    return tuple(sorted(found))


def _informing(formula: Formula) -> tuple[frozenset[int], ...]:
    if not formula.compares:
        return ()
    top = formula.neurons[formula.top]
    assert isinstance(top.arithmetic, Comparison)
    sets = informing(top.arithmetic, len(top.operands))
    return tuple(frozenset(top.operands[place] for place in each) for each in sets)


def _query(needs: Needed, root: Root, formula: Formula, negated: bool, numeric: bool) -> DenseQuery:
    heard = tuple(
        each.node
        for each in speaking(needs.lifted, needs.world, root.reference)
        if needs.lifted.graph.nodes[each.node]["shared"]
    )
    kin = comparing(needs.lifted, needs.world, root.reference)
    modes = leaf_modes(formula, lambda _name, _side: 0)
    shape = RuleShape(formula, needs.analyses.of(formula), modes, (), completes=False)
    return DenseQuery(shape, negated, heard, kin, _default(needs, shape), numeric)


def query_default(needs: Needed, root: Root) -> Pair | None:
    """The value of a query with every atom at its default; None for one with quantifiers."""
    positive, negated = _positive(needs, root)
    formula = unfold(needs.lifted, positive, world=needs.world)
    if len(formula.blocks) > 1 or any(neuron.kind == "same" for neuron in formula.neurons):
        return None
    modes = leaf_modes(formula, lambda _name, _side: 0)
    shape = RuleShape(formula, needs.analyses.of(formula), modes, (), completes=False)
    with torch.no_grad():
        low, high = _default(needs, shape)
        if not negated:
            return low, high
        turned = complement(Bounds(*(torch.tensor([end], dtype=torch.float64) for end in (low, high))))
        return float(turned.lower), float(turned.upper)


def _default(needs: Needed, shape: RuleShape) -> Pair:
    """The value with every atom at its default."""
    formula = shape.formula

    def read(index: int) -> Bounds:
        neuron = formula.neurons[index]
        if neuron.fixed:
            return constant(shape, index, 1, torch.float64)
        low, high = needs.shared.untold.get(neuron.source, needs.atoms.tables[neuron.source].default)
        return Bounds(torch.full((1,), low, dtype=torch.float64), torch.full((1,), high, dtype=torch.float64))

    found = upward(formula, read, (None,))[formula.top]
    return float(found.lower), float(found.upper)


def _tables(needs: Needed, formulas: Sequence[Formula], queries: Sequence[DenseQuery]) -> dict[str, DenseTable]:
    names = {name for formula in formulas for name in _sources(formula).values()}
    names |= {name for query in queries for name in _listened(query)}
    names |= {name for stratum, _ in needs.strata for name in stratum}
    found: dict[str, DenseTable] = {}
    for name in sorted(names):
        table = needs.atoms.tables[name]
        found[name] = DenseTable(name, (float(table.default[0]), float(table.default[1])), table.numeric)
    return found


def _listened(query: DenseQuery) -> Iterator[str]:
    yield from query.heard
    yield from (each.reference.node for each in query.kin.relatives)
