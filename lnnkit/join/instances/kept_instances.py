"""The kept instances of one formula: adds the rows that its needs find as atoms leave their defaults."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from lnnkit.analysis.needs import Literal, Needs
from lnnkit.check.program import ENTITY
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.join_plan import PARENTS, Reads, Recorder, Trace
from lnnkit.join.natural_join import Relation, join, narrowed
from lnnkit.join.pattern import pattern
from lnnkit.store.atoms import FALSE, TRUE, UNKNOWN, Atoms, AtomTable
from lnnkit.store.columns.growing import Growing
from lnnkit.store.columns.row_arrays import Array
from lnnkit.store.domain import Domain
from lnnkit.store.tuple_set import TupleSet


class _Listed:
    """The rows of a table that satisfy a literal, joined incrementally: the first ``seen`` are done."""

    def __init__(self, table: AtomTable, literal: Literal) -> None:
        self.reads: Reads = literal  # what it reads, for the recorder of plans
        self.seen = 0
        self._table = table
        self._literal = literal

    def length(self, owner: KeptInstances) -> int:
        return len(owner.atoms.listing(self._table, self._literal.column))

    def read(self, owner: KeptInstances, start: int, stop: int) -> Relation:
        """The rows from ``start`` to below ``stop``."""
        own = pattern(self._table, self._literal.arguments, owner.formula, owner.domain)
        local = own.fitting(self._table.deviating[self._literal.column].values[start:stop])
        columns = [self._table.tuples.columns[place].take(local) for place in own.places.values()]
        return Relation(tuple(own.places), tuple(columns), len(local))


class _Parents:
    """The groups of a block, to which its rows are joined incrementally: the first ``seen`` are done."""

    def __init__(self, block: int) -> None:
        self.reads: Reads = PARENTS
        self.seen = 0
        self._block = block

    def length(self, owner: KeptInstances) -> int:
        return len(owner.groups(self._block))

    def read(self, owner: KeptInstances, start: int, stop: int) -> Relation:
        """The groups from ``start`` to below ``stop``."""
        columns = tuple(column[start:stop] for column in owner.groups(self._block).columns)
        return Relation(owner.formula.blocks[self._block].free, columns, stop - start)


_Source = _Listed | _Parents


class KeptInstances:
    """The instances of one formula in its batch; ``member`` is the formula's number there."""

    def __init__(
        self,
        formula: Formula,
        needs: Needs,
        atoms: Atoms,
        domain: Domain,
        batch: RuleShape,
        member: int,
        kept: Mapping[str, bool],
        observers: Mapping[int, str],
        guard: Callable[[Formula, int], None],
        recorder: Recorder | None = None,
    ) -> None:
        self._recorder = recorder
        self.formula = formula
        self.atoms = atoms
        self.domain = domain
        self.batch = batch
        self.member = member
        self._kept = kept
        self._observers = observers
        self._guard = partial(guard, formula)
        self._tuples = tuple(TupleSet(len(block.variables), domain.generic + 2) for block in formula.blocks)
        self._grouped = {  # the groups of grouped blocks; for other blocks, the rows of the enclosing block
            index: TupleSet(len(block.free), domain.generic + 2)
            for index, block in enumerate(formula.blocks)
            if block.grouped
        }
        self.rows = tuple(Growing(np.int64) for _ in formula.blocks)  # local row -> row of the batch's block
        # Local group -> group of the batch
        self._group_rows = tuple(Growing(np.int64) for _ in formula.blocks)
        # Row of the block enclosing a grouped one -> group
        self._of = tuple(Growing(np.int64) for _ in formula.blocks)
        self._counts = tuple(Growing(np.int64) for _ in formula.blocks)  # real rows of the block, by group
        self._default = tuple(Growing(np.int64) for _ in formula.blocks)  # the group's virtual row, or -1
        # Whether the group has a row for an unnamed individual
        self._strangers = tuple(Growing(np.bool_) for _ in formula.blocks)
        self._expands = needs.expands
        self._group = tuple(Growing(np.int64) for _ in formula.blocks)  # a row's group, numbered locally
        self._needs = [
            (need.block, [self._source(literal) for literal in sorted(need.literals, key=repr)]) for need in needs.rows
        ]
        self._fills = {
            block: [
                [_Parents(block), *(self._source(literal) for literal in sorted(literals, key=repr))]
                for literals in families
            ]
            for block, families in needs.fills.items()
        }
        self._started: set[int] = set()

    def __len__(self) -> int:
        return len(self._tuples[0])

    def count(self, block: int) -> int:
        """The number of rows of a block."""
        return len(self._tuples[block])

    def variables(self, block: int) -> tuple[Array, ...]:
        """The columns of entity ids of a block's rows."""
        return self._tuples[block].columns

    def groups(self, block: int) -> TupleSet:
        """The groups of an inner block, as columns of the variables that are free there."""
        own = self._grouped.get(block)
        return self._tuples[self.formula.blocks[block].parent] if own is None else own

    def extend(self) -> None:
        """Add the rows whose literals were satisfied since the last call."""
        for number, (block, sources) in enumerate(self._needs):
            starts = self._starts(block)
            for found in self._delta(number, sources, [self.formula.blocks[each].variables for each in starts]):
                for each, rows in zip(starts, found, strict=True):
                    self._add(each, rows)
        for block in range(1, len(self.formula.blocks)):
            self._fill(block)

    def _starts(self, block: int) -> list[int]:
        """The blocks on the path to a block, from block 0 on, that must be joined separately: the others' variables are
        all bound in a grouped block within."""
        found = [block]
        for each in reversed(self.formula.path(block)[1:]):
            if self.formula.blocks[each].grouped:
                found.append(self.formula.blocks[each].parent)
        return found[::-1]

    # --- joining ----------------------------------------------------------------------------------------------------

    def _delta(self, number: int, sources: Sequence[_Source], wanted: Sequence[Sequence[int]]) -> list[list[Relation]]:
        """The new results of a join (semi-naive): for each part, the values of several sets of ``wanted`` variables."""
        if not sources:
            fresh = number not in self._started
            self._started.add(number)
            return [[self._joined(number, (), (), each) for each in wanted]] if fresh else []
        lengths, seen = [source.length(self) for source in sources], [source.seen for source in sources]
        parts: list[list[Relation]] = []
        for i, source in enumerate(sources) if all(lengths) else ():
            if seen[i] == lengths[i] or 0 in seen[:i]:  # no result is repeated: its first new literal is the i-th
                continue
            order = source, *sources[:i], *sources[i + 1 :]
            starts = seen[i], *(0 for _ in order[1:])
            stops = lengths[i], *seen[:i], *lengths[i + 1 :]
            relations = [each.read(self, *span) for each, *span in zip(order, starts, stops, strict=True)]
            if relations[0].length:
                reads: list[Reads] = [each.reads for each in order]
                parts.append([self._joined(number, reads, relations, each) for each in wanted])
        for source, length in zip(sources, lengths, strict=True):
            source.seen = length
        return parts

    def _joined(
        self, number: int, reads: Sequence[Reads], relations: Sequence[Relation], wanted: Sequence[int]
    ) -> Relation:
        """Join and complete, reporting to the recorder."""
        if self._recorder is None:
            return self._complete(join(relations, self._guard, None, wanted), wanted)
        trace = Trace()
        placed = [replace(r, origin=trace.place(what, r.length)) for what, r in zip(reads, relations, strict=True)]
        found = self._complete(join(placed, self._guard, trace.made, wanted), wanted, trace)
        self._recorder.joined(self.member, number, trace.finished())
        return found

    def _complete(self, found: Relation, wanted: Sequence[int], trace: Trace | None = None) -> Relation:
        """Multiply by the domain of each wanted variable that no literal binds."""
        parts = [found if set(wanted) <= set(found.variables) else narrowed(found, wanted, ())]
        for variable in wanted:
            if variable not in found.variables:
                ids = self.domain.sorts[self.formula.sorts[variable]]
                origin = () if trace is None else trace.place(variable, len(ids))
                parts.append(Relation((variable,), (ids,), len(ids), origin))
        size = math.prod(part.length for part in parts)
        self._guard(size)
        return join(parts, self._guard, None if trace is None else trace.made)

    def _source(self, literal: Literal) -> _Source:
        return _Listed(self.atoms.tables[literal.table], literal)

    # --- rows -------------------------------------------------------------------------------------------------------

    def _add(self, block: int, found: Relation) -> None:
        """Add rows to ``block``, and the rows that contain them to the enclosing blocks, as far as their variables are
        bound."""
        chain = [block]
        while chain[-1] > 0 and not self.formula.blocks[chain[-1]].grouped:
            chain.append(self.formula.blocks[chain[-1]].parent)
        group = np.zeros(found.length, np.int32)
        for index in reversed(chain):
            own = self.formula.blocks[index]
            columns = [found.columns[found.variables.index(v)] for v in own.variables]
            if own.grouped:  # A group exists before any row requests it; an empty domain has none.
                group = self._grouped[index].find(columns[: len(own.free)], found.length)
                asked = np.flatnonzero(group >= 0)
                if len(asked) < found.length:
                    kept = tuple(column.take(asked) for column in found.columns)
                    found = Relation(found.variables, kept, len(asked))
                    columns = [found.columns[found.variables.index(v)] for v in own.variables]
                    group = group.take(asked)
            numbers, fresh = self._tuples[index].add(columns, found.length)
            self._guard(len(self._tuples[index]))
            if len(fresh):
                new = [column.take(fresh) for column in columns]
                self._append(index, new, group.take(fresh), len(fresh))
            group = numbers

    def _append(self, block: int, columns: Sequence[Array], group: Array, length: int) -> None:
        """Append new rows to ``block``; ``group`` has the group of each, where the block is an inner one."""
        bound = self.formula.blocks[block].bound
        variables = self.formula.blocks[block].variables
        virtual = np.zeros(length, bool)
        stranger = np.zeros(length, bool)
        for variable in bound:
            virtual = virtual | (columns[variables.index(variable)] >= self.domain.generic)
            stranger = stranger | (columns[variables.index(variable)] == self.domain.stranger)
        rows = {
            index: self._rows(index, variables, columns, length, real=not bound)
            for index in self.batch.blocks[block].columns
        }
        if block == 0:
            added = self.batch.append(0, rows, self.member, len(self.rows[0]), length)
        else:
            around = self._group_rows[block] if block in self._grouped else self.rows[self.formula.blocks[block].parent]
            unnamed = np.zeros(length, bool)
            for column in columns:
                unnamed |= column >= self.domain.generic
            ends = around.values.take(group), unnamed, stranger
            added = self.batch.append(block, rows, self.member, len(self.rows[block]), length, *ends)
            self._group[block].append(group)
            self._grow(block)
            np.add.at(self._counts[block].values, group[~virtual], 1)
            self._default[block].values[group[virtual & ~stranger]] = np.flatnonzero(virtual & ~stranger) + added.start
            self._strangers[block].values[group[stranger]] = True
        self.rows[block].append(np.arange(added.start, added.stop))
        for inner in self._grouped:
            if self.formula.blocks[inner].parent == block:
                self._belong(inner, variables, columns, length)

    def _belong(self, block: int, variables: Sequence[int], columns: Sequence[Array], length: int) -> None:
        """Assign groups to new rows of the block that encloses a grouped one."""
        free = [columns[variables.index(v)] for v in self.formula.blocks[block].free]
        numbers, fresh = self._grouped[block].add(free, length)
        if len(fresh):
            added = self.batch.grow(block, len(fresh))
            self._group_rows[block].append(np.arange(added.start, added.stop))
        self._of[block].append(numbers)
        self.batch.belong(block, self._group_rows[block].values.take(numbers))

    def _grow(self, block: int) -> None:
        missing = len(self.groups(block)) - len(self._counts[block])
        for flags, value in ((self._counts, 0), (self._default, -1), (self._strangers, False)):
            flags[block].extend(missing, value)

    def _rows(
        self, index: int, variables: Sequence[int], columns: Sequence[Array], length: int, *, real: bool
    ) -> Array:
        """The atom rows of one leaf, constant or observed neuron for a block's new rows. ``real`` rows contain no
        virtual entity."""
        if index == AUXILIARY:
            assert self.formula.auxiliary is not None
            table, arguments = self.atoms.tables[self.formula.auxiliary], self.formula.blocks[0].variables
        elif index in self._observers:
            table, arguments = self.atoms.tables[self._observers[index]], self.formula.neurons[index].arguments
        else:
            neuron = self.formula.neurons[index]
            arguments = neuron.arguments
            table = self.atoms.tables[neuron.source] if neuron.kind == LEAF else None
        values = [
            np.full(length, self.domain.index[a], np.int32) if isinstance(a, str) else columns[variables.index(a)]
            for a in arguments
        ]
        if real and table is not None:
            return self._look_up(table, index, values, length)
        virtual = np.zeros(length, bool)
        stranger = np.zeros(length, bool)
        for value in values:
            virtual = virtual | (value >= self.domain.generic)
            stranger = stranger | (value == self.domain.stranger)
        if table is None:
            if arguments[0] == arguments[1]:
                return np.full(length, TRUE, np.int32)
            one = values[0] == values[1]
            # A pair of generic entities stands for distinct ones: pairs of equal ones have rows of their own
            rows = np.where(one & (values[0] != self.domain.generic), np.int32(TRUE), np.int32(FALSE))
            rows[one & (values[0] == self.domain.stranger)] = UNKNOWN  # several unnamed individuals are possible
            if self.domain.lacks((ENTITY, ENTITY), arguments):  # one of them may be the entity that a query names
                rows[(values[0] == self.domain.stranger) ^ (values[1] == self.domain.stranger)] = UNKNOWN
            return rows
        rows = np.full(length, table.default_row, np.int32)
        if not table.predictable:
            rows[stranger] = UNKNOWN
        named = np.flatnonzero(~virtual)
        picked = [value.take(named) for value in values]
        rows[named] = self._look_up(table, index, picked, len(named))
        return rows

    def _look_up(self, table: AtomTable, index: int, columns: Sequence[Array], length: int) -> Array:
        """The rows of atoms; in a table that inference may extend, missing atoms are added."""
        make = index in self._observers or self._kept[table.name]
        return (self.atoms.materialise if make else self.atoms.find)(table, columns, length)

    def _fill(self, block: int) -> None:
        """Give every group its rows: those that differ, and one virtual row for the rest, if any."""
        variables = self.formula.blocks[block].variables
        for number, sources in enumerate(self._fills[block]):
            for (found,) in self._delta(-1 - number, sources, [variables]):
                self._add(block, found)
        self._grow(block)
        if not len(self._counts[block]):
            return
        if block in self._expands:
            self._expand(block)
        bound = self.formula.blocks[block].bound
        total = self._total(block)
        counts = self._counts[block].values
        last = np.flatnonzero(counts == total - 1)
        if len(last):
            self._add(block, self._complete(self._group_keys(block, last), variables))
        counts, default = self._counts[block].values, self._default[block].values
        retired = default[(counts == total) & (default >= 0)]
        if len(retired):
            self.batch.blocks[block].group.values[retired] = -1
            default[counts == total] = -1
        self._stand_in(block, np.flatnonzero((default < 0) & (counts < total)), self.domain.generic)
        if any(self.formula.sorts[v] in self.domain.open_sorts for v in bound):
            lacking = np.flatnonzero(~self._strangers[block].values)
            self._stand_in(block, lacking, self.domain.stranger)

    def _expand(self, block: int) -> None:
        """For every row whose siblings are complete, including the last candidate, add all its inner rows."""
        above = self.formula.blocks[block].parent
        variables = self.formula.blocks[above].variables
        virtual = np.zeros(len(self._tuples[above]), bool)
        for variable in self.formula.blocks[above].bound:
            virtual |= self._tuples[above].columns[variables.index(variable)] >= self.domain.generic
        complete = self._counts[above].values == self._total(above)
        rows = np.flatnonzero(~virtual & complete.take(self._group[above].values))
        groups = np.unique(self._of[block].values.take(rows)) if block in self._grouped else rows
        lacking = groups[self._counts[block].values.take(groups) < self._total(block)]
        if len(lacking):
            self._add(block, self._complete(self._group_keys(block, lacking), self.formula.blocks[block].variables))

    def _total(self, block: int) -> int:
        """The greatest number of rows in a group of a block."""
        return math.prod(len(self.domain.sorts[self.formula.sorts[v]]) for v in self.formula.blocks[block].bound)

    def _stand_in(self, block: int, groups: Array, entity: int) -> None:
        """Add a virtual row for ``entity`` to each of these groups."""
        if len(groups):
            rows = self._group_keys(block, groups)
            bound = self.formula.blocks[block].bound
            ids = np.full(rows.length, entity, np.int32)
            self._add(block, Relation(rows.variables + bound, rows.columns + (ids,) * len(bound), rows.length))

    def _group_keys(self, block: int, numbers: Array) -> Relation:
        columns = tuple(column.take(numbers) for column in self.groups(block).columns)
        return Relation(self.formula.blocks[block].free, columns, len(numbers))
