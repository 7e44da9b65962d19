"""The rows that depend on facts that change: a bound depends on all that the instances read that ever set it. The trail
has these in order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from lnnkit.engine.bounds_state import distinct
from lnnkit.engine.inference_run import Run
from lnnkit.engine.revision.changed_sorts import ChangedSorts
from lnnkit.formula.unfolding import Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.triggers import Delta
from lnnkit.store.relations import DEFAULT, Relation
from lnnkit.store.row_arrays import Array, spelled_out, taken
from lnnkit.store.tuple_set import TupleSet
from lnnkit.trail.events import Chunk, Kind


class DependentRows:
    """The ``loosened`` rows and all rows of ``tables`` that depend on them, or on the entities of ``changed`` sorts:
    these are *marked*. The search ends above ``most`` rows. Events are followed in order: what they read was set before
    them."""

    def __init__(
        self,
        run: Run,
        loosened: Mapping[Relation, Array],
        changed: ChangedSorts,
        most: int,
        tables: Collection[Relation],
    ) -> None:
        self._run = run
        self._changed = changed
        self._flags: dict[Relation, Array] = {}
        self._spans: dict[Relation, tuple[int, int]] = {}  # the first and the last marked row
        self._counts: dict[Relation, int] = {}  # the number of marked rows
        # What `_reading` last returned for a rule, and how many rows were marked then
        self._cached: dict[DeltaRule, tuple[int, TupleSet]] = {}
        self._defining = {response.rule.formula.auxiliary: response.rule for response in run.responses.values()}
        for table, rows in loosened.items():
            self._mark(table, rows)
        aggregates = run.plan.around_aggregates
        for formula in run.plan.shared.formulas:  # operands first
            table = run.grounding.atoms.tables[str(formula.auxiliary)]
            if table.name in self._defining and table in tables:
                self._mark_absent(table, known=table.default != table.unknown or table.name in aggregates)
        reasons: Mapping[int, Sequence[Callable[[Chunk], Array | None]]] = {
            Kind.INITIAL: [self._by_operands],
            Kind.SENT: [self._by_entities, self._by_rows],
        }
        last: Chunk | None = None
        for chunk in run.state.trail.chunks() if loosened or changed else ():
            table = run.grounding.atoms.numbered[chunk.table]
            # an exact completion sets both ends at once: in a closure of 500,000 pairs 0.7 of the time
            known, last = last is not None and _alike(last, chunk), chunk
            for reason in reasons.get(chunk.kind, ()) if table in tables and not known else ():
                dependent = reason(chunk)
                if dependent is not None and dependent.any():
                    self._mark(table, spelled_out(chunk.rows)[dependent])
            if self.count > most:
                break

    @property
    def count(self) -> int:
        return sum(self._counts.values())

    def rows(self) -> Mapping[Relation, Array]:
        """The rows, by relation."""
        return {table: np.flatnonzero(flags).astype(np.int32) for table, flags in self._flags.items()}

    def _mark(self, table: Relation, rows: Array) -> None:
        if table not in self._flags:
            self._flags[table], self._spans[table] = np.zeros(0, bool), (len(table), 0)
            self._counts[table] = 0
        if len(self._flags[table]) < len(table):
            self._flags[table] = np.append(self._flags[table], np.zeros(len(table) - len(self._flags[table]), bool))
        self._counts[table] += len(rows) - int(np.count_nonzero(self._flags[table].take(rows)))
        self._flags[table][rows] = True
        first, last = self._spans[table]
        self._spans[table] = min(first, int(rows.min())), max(last, int(rows.max()))

    def _marked(self, formula: Formula) -> Mapping[Relation, Array]:
        """The flags of the relations that a formula reads and that have marked rows."""
        return {table: flags for table, flags in self._flags.items() if table.name in formula.sources}

    def _rule(self, chunk: Chunk) -> tuple[RuleShape, int, DeltaRule | GroupRule]:
        """The shape and the block of the instances that set events, and the one rule of all."""
        shape = self._run.grounding.shapes[chunk.shape]
        number = shape.formula.block_of(chunk.leaf)
        member = int(shape.blocks[number].member[chunk.instances[0]])
        return shape, number, self._run.grounding.members[shape.members[member]]

    def _by_entities(self, chunk: Chunk) -> Array | None:
        """(n,) which events were set by instances with an entity that leaves its sort, or with a quantifier for which
        one more or less matters; None for none."""
        if not self._changed:
            return None
        shape, number, rule = self._rule(chunk)
        finder = rule.finder if isinstance(rule, GroupRule) else rule
        if finder in self._changed.rules:
            return np.ones(len(chunk.rows), bool)
        if finder.unrestricted_sorts.isdisjoint(self._changed.leaving):
            return None
        tops = shape.tops(number, spelled_out(chunk.instances))
        return self._changed.leaving_instances(finder, self._run.grounding.variables(chunk.shape, finder, tops))

    def _by_rows(self, chunk: Chunk) -> Array | None:
        """(n,) which events were set by instances that read a marked row; None for none."""
        at, (shape, number, rule) = chunk.instances, self._rule(chunk)
        block = shape.blocks[number]
        if not self._marked(rule.formula):
            return None
        if isinstance(rule, GroupRule):
            tops = shape.tops(number, spelled_out(at))
            return self._affected(rule.finder, rule.entities(0, shape.blocks[0].local.take(tops)), len(tops))
        dependent = np.zeros(len(chunk.rows), bool)
        for leaf, column in block.columns.items():
            table = rule.table_of(leaf)
            if table not in self._flags:
                continue
            rows = taken(column.values, at)
            if table.default != table.unknown or shape.completes:  # completed upper ends rise with what is unknown
                rows = self._looked_up(chunk, rule, leaf, rows)
            first, last = self._spans[table]
            near = np.flatnonzero((rows >= first) & (rows <= last))
            dependent[near] |= self._flags[table].take(rows.take(near))
        return dependent

    def _looked_up(self, chunk: Chunk, rule: DeltaRule, leaf: int, rows: Array) -> Array:
        """The ``rows`` of a leaf in instances, also of atoms that were not there and of which they read the default."""
        absent = np.flatnonzero(rows == DEFAULT)
        if len(absent):
            stored = spelled_out(chunk.instances).take(absent)
            columns = self._run.grounding.variables(chunk.shape, rule, stored)
            ids = dict(zip(rule.formula.blocks[0].variables, columns, strict=True))
            pattern, rows = rule.pattern(rule.atom(leaf)), rows.copy()
            rows[absent] = pattern.table.tuples.find(pattern.tuples(ids.__getitem__, len(absent)), len(absent))
        return rows

    def _mark_absent(self, table: Relation, *, known: bool) -> None:
        """Mark the atoms of a shared neuron with marked operands, which have had its default: they get rows, where that
        is ``known`` or aggregates read them at once."""
        instances = self._reading(self._defining[table.name]) if known else None
        if instances is not None and len(instances):
            rows = self._run.grounding.atoms.materialise(table, instances.columns, len(instances))
            self._mark(table, distinct([rows]))

    def _by_operands(self, chunk: Chunk) -> Array | None:
        """(n,) which rows of a shared neuron have first bounds of operands that are marked; None for none."""
        table = self._run.grounding.atoms.numbered[chunk.table]
        entities = (taken(column, chunk.rows) for column in table.tuples.columns)
        return self._affected(self._defining[table.name], entities, len(chunk.rows))

    def _affected(self, rule: DeltaRule, entities: Iterable[Array], length: int) -> Array | None:
        """(n,) whether the instances with these entities for their free variables read a marked row; None for none."""
        instances = self._reading(rule)
        return instances.find(list(entities), length) >= 0 if instances is not None and len(instances) else None

    def _reading(self, rule: DeltaRule) -> TupleSet | None:
        """The instances of a rule that read a marked row, by the entities of its free variables; None if it reads no
        table with marked rows."""
        marked = self._marked(rule.formula)
        if not marked:
            return None
        version = sum(self._counts[table] for table in marked)
        known, instances = self._cached.get(rule, (0, None))
        if instances is None or known != version:
            delta, variables = Delta(), rule.formula.original.blocks[0].variables
            for table, flags in marked.items():
                for side in (0, 1):
                    delta.add(table, side, np.flatnonzero(flags).astype(np.int32))
            instances = TupleSet(len(variables), rule.radix)
            for bindings in rule.assignments(delta):
                instances.add([bindings.column(variable) for variable in variables], bindings.length)
            self._cached[rule] = version, instances
        return instances


def _alike(one: Chunk, other: Chunk) -> bool:
    """Whether the same instances set the same rows, on one side or the other."""
    same = (one.kind, one.shape, one.leaf, one.table) == (other.kind, other.shape, other.leaf, other.table)
    pairs = ((one.rows, other.rows), (one.instances, other.instances))
    return same and all(np.array_equal(spelled_out(a), spelled_out(b)) for a, b in pairs)
