"""Compiles needed statements to a dense program: each atom of a row is a pair of columns, each statement a tree of
neurons over them. Requires that statements have no quantifier and, beside the row, only variables that a row's own
facts bind to one entity (`lnnkit.rows.dense.row_lookups`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from lnnkit.analysis.relevance import SIDES
from lnnkit.arrays import DOUBLE
from lnnkit.check.program import CheckedProgram
from lnnkit.engine.planning.asked import comparing, subsuming_neurons
from lnnkit.engine.response.clause import Clause, clause
from lnnkit.engine.response.respond import constant
from lnnkit.formula.passes import upward
from lnnkit.formula.unfolding import AUXILIARY, Formula, unfold
from lnnkit.graph.lifted import Root
from lnnkit.graph.match import Related, below_negations
from lnnkit.join.instances.grounding import leaf_modes
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import Bounds, complement
from lnnkit.numeric import Comparison, informing
from lnnkit.rows.dense.row_lookups import AtomColumn, LeafColumns, Lookups, NamedEntity
from lnnkit.rows.needed_statements import Needed, sends

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class DenseTable:
    """A predicate, a number or a shared neuron of the rows."""

    name: str
    default: Pair
    numeric: bool


@dataclass(frozen=True, slots=True)
class DenseRule:
    """A statement, or the definition of a shared neuron. ``tables`` has the table of each leaf, including AUXILIARY;
    ``reads`` the tables and sides whose moves matter, empty if its proposals depend on nothing that moves; ``clause``
    its form while its consequent is unknown. For a comparison, ``informing`` are the sets of leaves one of which must
    be known before its numbers imply anything about its truth."""

    shape: RuleShape
    tables: dict[int, str]
    reads: tuple[tuple[str, int], ...]
    clause: Clause | None = None
    informing: tuple[frozenset[int], ...] = ()

    @property
    def formula(self) -> Formula:
        return self.shape.formula

    @property
    def comparison(self) -> Comparison | None:
        """The comparison that it defines."""
        arithmetic = self.formula.neurons[self.formula.top].arithmetic if self.formula.compares else None
        return arithmetic if isinstance(arithmetic, Comparison) else None


@dataclass(frozen=True, slots=True)
class DenseQuery:
    """A query of one variable. ``shape`` has its formula without leading negations, ``columns`` the column of each of
    its leaves, ``subsuming`` the shared neurons of which it is an instance, ``related`` the comparisons of its terms;
    ``default`` is its value with every atom at its default, negations included."""

    shape: RuleShape
    columns: Mapping[int, str]
    negated: bool
    subsuming: tuple[str, ...]
    related: Related
    default: Pair
    numeric: bool

    @property
    def formula(self) -> Formula:
        return self.shape.formula

    @property
    def atom(self) -> str | None:
        """The column that it asks for, if it is atomic."""
        return self.columns.get(0) if len(self.formula.neurons) == 1 else None


@dataclass(frozen=True)
class DenseProgram:
    """A compiled program. ``comparisons`` and ``shared`` (operands first) get their first bounds from their operands;
    ``rules`` respond in rounds; ``strata`` are completed, dependencies first; ``lookups`` are the columns that rows
    look up in other tables."""

    tables: dict[str, DenseTable]
    comparisons: tuple[DenseRule, ...]
    shared: tuple[DenseRule, ...]
    rules: tuple[DenseRule, ...]
    strata: tuple[tuple[frozenset[str], tuple[DenseRule, ...]], ...]
    queries: tuple[DenseQuery, ...]
    lookups: Mapping[str, AtomColumn] = field(default_factory=dict)

    @property
    def statements(self) -> tuple[Formula, ...]:
        """The formulas that may set a bound: of rules, and of completions."""
        return tuple(rule.formula for rule in (*self.rules, *(rule for _, stratum in self.strata for rule in stratum)))

    @cached_property
    def moved(self) -> frozenset[str]:
        """The tables for which statements may propose bounds."""
        rules = (*self.comparisons, *self.shared, *self.rules)
        moved = {
            rule.tables[leaf] for rule in rules for leaf in (*rule.shape.targets, AUXILIARY) if leaf in rule.tables
        }
        return frozenset(moved.union(*(names for names, _ in self.strata)))

    def is_untouched(self, query: DenseQuery) -> bool:
        """Whether a query asks for facts alone."""
        return query.atom is not None and query.atom not in self.moved and not any(_bounding(query))

    @cached_property
    def read_later(self) -> tuple[str, ...]:
        """The tables that are read after comparisons have their first truth, except by untouched queries."""
        rules = (*self.shared, *self.rules, *(rule for _, stratum in self.strata for rule in stratum))
        read = {name for rule in rules for name in rule.tables.values()}
        read |= {name for names, _ in self.strata for name in names}
        for query in self.queries:
            if self.is_untouched(query):
                continue
            read |= {*query.columns.values(), *_bounding(query)}
        return tuple(sorted(read))


class _LinksRows(Exception):
    """Some instance is not about one row and the entities that it names."""


PlacedFormula = tuple[Formula, LeafColumns]  # a formula with the columns of its leaves


def dense_program(needs: Needed, program: CheckedProgram, lookups: Lookups) -> DenseProgram | None:
    """The dense form of a row-local program, whose statements may read reference tables through entities that rows
    name; None if it has none."""
    try:
        return None if needs.observers else _compiled(needs, program, lookups)
    except _LinksRows:
        return None


def _compiled(needs: Needed, program: CheckedProgram, lookups: Lookups) -> DenseProgram:
    def placed(formula: Formula, variables: Mapping[int, NamedEntity] | None = None) -> PlacedFormula:
        columns = lookups.columns(needs, formula, variables)
        if columns is None:
            raise _LinksRows
        return formula, columns

    def is_about_rows(formula: Formula) -> bool:
        return lookups.is_about_rows(needs, formula)

    asked = [_positive(needs, root) for root in needs.lifted.queries]
    asking = [placed(unfold(needs.lifted, root, world=needs.world), {}) for root, _ in asked]
    readings = [reading.formula for reading in needs.readings if is_about_rows(reading.formula)]
    statements = {id(formula): [placed(formula)] for formula in readings if formula.auxiliary is None}
    strata = [
        (names, list(map(placed, formulas))) for names, formulas in needs.strata if any(map(is_about_rows, formulas))
    ]
    every = [*asking, *(pair for pairs in (*statements.values(), *(pairs for _, pairs in strata)) for pair in pairs)]
    alone = {str(formula.auxiliary) for formula in readings if len(formula.sorts) == 1} | needs.bounding
    statements |= _definitions(needs, placed, [*map(AtomColumn, sorted(alone)), *_atoms(every)])
    if not {id(formula) for formula in readings} <= statements.keys():
        raise _LinksRows
    defined = [pair for formula in needs.shared.formulas for pair in statements.get(id(formula), ())]
    every += defined
    in_rounds = [pair for formula in readings for pair in statements[id(formula)]]
    # Bounds that a row proposes for others would have to be kept
    if any(_bounds_others(needs, *pair, lookups.exact) for pair in in_rounds):
        raise _LinksRows
    if any(formula.neurons[leaf].source in needs.shared.impossible for formula, _ in every for leaf in formula.leaves):
        raise _LinksRows
    queries = tuple(
        _query(needs, root, *pair, negated=negated, numeric=query.numeric)
        for (root, negated), pair, query in zip(asked, asking, program.queries, strict=True)
    )
    if any(_reads_elsewhere(query, columns) for query, (_, columns) in zip(queries, asking, strict=True)):
        raise _LinksRows
    defining = [_rule(needs, *pair) for pair in defined]
    rules = [_rule(needs, *pair) for pair in in_rounds]
    held = {atoms.name: atoms for atoms in _atoms(every)}
    behind = {name: atoms.table for name, atoms in held.items()}
    behind |= {atoms.table: atoms.table for atoms in held.values() if atoms.of_row}
    behind |= {name: name for query in queries for name in _bounding(query)}
    behind |= {name: name for names, _ in strata for name in names}
    tables = {name: _table(needs, name, behind[name]) for name in sorted(behind)}
    return DenseProgram(
        tables,
        tuple(rule for rule in defining if rule.formula.compares),
        tuple(rule for rule in defining if not rule.formula.compares),
        _once(rules, tables, needs),
        tuple((names, tuple(_completing(needs, *pair) for pair in pairs)) for names, pairs in strata),
        queries,
        {name: atoms for name, atoms in held.items() if atoms.is_looked_up(needs.shared.unstated)},
    )


def _atoms(formulas: Iterable[PlacedFormula]) -> Iterator[AtomColumn]:
    for _, columns in formulas:
        yield from columns.atoms.values()


def _definitions(
    needs: Needed, placed: Callable[..., PlacedFormula], wanted: list[AtomColumn]
) -> dict[int, list[PlacedFormula]]:
    """The definitions of the shared neurons that are wanted, and of those that they read, by the formula's id: one for
    each of their columns."""
    shared = {str(formula.auxiliary): formula for formula in needs.shared.formulas}
    by_formula: dict[int, dict[str, PlacedFormula]] = {}
    while wanted:
        atoms = wanted.pop()
        if atoms.table not in shared:
            continue
        by_places = by_formula.setdefault(id(shared[atoms.table]), {})
        if str(atoms.places) not in by_places:
            pair = by_places[str(atoms.places)] = placed(shared[atoms.table], dict(enumerate(atoms.places, 1)))
            wanted += _atoms([pair])
    return {formula: [by_places[places] for places in sorted(by_places)] for formula, by_places in by_formula.items()}


def _table(needs: Needed, name: str, behind: str) -> DenseTable:
    table = needs.schemas[behind]
    return DenseTable(name, (float(table.default[0]), float(table.default[1])), table.numeric)


def _bounds_others(needs: Needed, formula: Formula, columns: LeafColumns, exact: Set[str]) -> bool:
    """Whether an instance may propose bounds for something that rows look up. For an instance of a neuron that the row
    shares with such entities: whether it may propose bounds for the row."""
    reading = next(reading for reading in needs.readings if reading.formula is formula)
    of_pair = formula.auxiliary is not None and columns.atoms[AUXILIARY].places
    return any(
        leaf != AUXILIARY
        and (of_pair or atoms.places)
        and atoms.table not in exact
        and sends(reading, needs.relevance, leaf)
        for leaf, atoms in columns.atoms.items()
    )


def _positive(needs: Needed, root: Root) -> tuple[Root, bool]:
    reference, negated = below_negations(needs.lifted.graph, root.reference)
    return replace(root, reference=reference), negated


def _rule(needs: Needed, formula: Formula, columns: LeafColumns) -> DenseRule:
    modes = leaf_modes(formula, needs.relevance.mode)
    looked_up = [leaf for leaf, atoms in columns.atoms.items() if atoms.places and leaf != AUXILIARY]
    modes = {**modes, **dict.fromkeys(looked_up, (0, 0))}  # nothing bounds them
    shape = RuleShape(formula, needs.analyses.of(formula), modes, (), completes=False)
    return DenseRule(shape, columns.names, _reads(shape, columns), clause(shape), _informing(formula))


def _once(rules: Sequence[DenseRule], tables: Mapping[str, DenseTable], needs: Needed) -> tuple[DenseRule, ...]:
    """The rules that may propose something in rounds. A rule without ``reads`` evaluates each row once, since
    everything it reads is fixed."""
    moved = {rule.tables[leaf] for rule in rules for leaf in rule.shape.targets}
    moved |= {name for names, _ in needs.strata for name in names}
    kept: list[DenseRule] = []
    for rule in rules:
        if _proposes_at_once(rule, moved, tables):
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
        kept.append(replace(rule, reads=()) if still else rule)
    return tuple(kept)


def _proposes_at_once(rule: DenseRule, moved: Set[str], tables: Mapping[str, DenseTable]) -> bool:
    """Whether a comparison has made all its proposals before the first round, because no rule, itself included, moves
    its numbers."""
    if not rule.formula.compares or {*rule.shape.targets} - {AUXILIARY}:
        return False
    numbers = {rule.tables[leaf] for leaf in rule.formula.leaves}
    return not numbers & moved and tables[rule.tables[AUXILIARY]].default == (0.0, 1.0)


def _completing(needs: Needed, formula: Formula, columns: LeafColumns) -> DenseRule:
    modes = leaf_modes(formula, lambda _name, _side: 0)
    shape = RuleShape(formula, needs.analyses.of(formula), modes, (), completes=True)
    return DenseRule(shape, columns.names, _reads(shape, columns))


def _reads(shape: RuleShape, columns: LeafColumns) -> tuple[tuple[str, int], ...]:
    sources = columns.names
    reads = {
        (sources[leaf], side)
        for leaf, sides in shape.reads.items()
        for side, matters in enumerate(sides)
        if matters and leaf in sources
    }
    return tuple(sorted(reads))


def _informing(formula: Formula) -> tuple[frozenset[int], ...]:
    if not formula.compares:
        return ()
    top = formula.neurons[formula.top]
    assert isinstance(top.arithmetic, Comparison)
    sets = informing(top.arithmetic, len(top.operands))
    return tuple(frozenset(top.operands[place] for place in places) for places in sets)


def _reads_elsewhere(query: DenseQuery, columns: LeafColumns) -> bool:
    """Whether a query about what a row names is an instance of shared neurons, or has comparisons beside it: their
    columns are those of the row alone."""
    return any(atoms.places for atoms in columns.atoms.values()) and any(_bounding(query))


def _query(
    needs: Needed, root: Root, formula: Formula, columns: LeafColumns, *, negated: bool, numeric: bool
) -> DenseQuery:
    neurons = subsuming_neurons(needs.lifted, needs.world, root.reference)
    subsuming = tuple(neuron.node for neuron in neurons if needs.lifted.graph.nodes[neuron.node]["shared"])
    related = comparing(needs.lifted, needs.world, root.reference)
    shape = _upward_alone(needs, formula)
    default = _default(needs, shape, negated=negated)
    return DenseQuery(shape, columns.names, negated, subsuming, related, default, numeric)


def query_default(needs: Needed, root: Root) -> Pair | None:
    """The value of a query with every atom at its default; None for one with quantifiers."""
    positive, negated = _positive(needs, root)
    formula = unfold(needs.lifted, positive, world=needs.world)
    if len(formula.blocks) > 1 or any(neuron.kind == "same" for neuron in formula.neurons):
        return None
    return _default(needs, _upward_alone(needs, formula), negated=negated)


def _upward_alone(needs: Needed, formula: Formula) -> RuleShape:
    modes = leaf_modes(formula, lambda _name, _side: 0)
    return RuleShape(formula, needs.analyses.of(formula), modes, (), completes=False)


def _default(needs: Needed, shape: RuleShape, *, negated: bool) -> Pair:
    """The value with every atom at its default."""
    formula = shape.formula

    def read(index: int) -> Bounds:
        neuron = formula.neurons[index]
        if neuron.fixed:
            return constant(shape.formula, index, 1, DOUBLE)
        low, high = needs.shared.unstated.get(neuron.source, needs.schemas[neuron.source].default)
        return Bounds(np.full((1,), low, dtype=np.float64), np.full((1,), high, dtype=np.float64))

    value = upward(formula, read, (None,))[formula.top]
    value = complement(value) if negated else value
    return value.lower.item(), value.upper.item()


def _bounding(query: DenseQuery) -> Iterator[str]:
    yield from query.subsuming
    yield from (comparison.reference.node for comparison in query.related.comparisons)
