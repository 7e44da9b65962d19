"""The instances of one formula: finds the rows that its needs ask for, as the atoms they rest on come to differ."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from lnnkit.analysis.needs import Literal, Needs
from lnnkit.check.program import ENTITY
from lnnkit.flags import where_set
from lnnkit.formula.unfolding import AUXILIARY, LEAF, Formula
from lnnkit.join.join_plan import PARENTS, Reads, Recorder, Trace
from lnnkit.join.natural_join import Relation, join
from lnnkit.join.rule_shape import RuleShape
from lnnkit.store.atoms import FALSE, TRUE, UNKNOWN, Atoms, AtomTable
from lnnkit.store.domain import Domain
from lnnkit.store.tensors import GrowingTensor, TensorTuples


class _Listed:
    """The rows of a table that a literal finds, joined as they come: ``seen`` so far. With a ``carrier`` each found row
    carries its atom's row along as a variable of that number."""

    def __init__(self, table: AtomTable, literal: Literal, carrier: int | None) -> None:
        self.reads: Reads = literal  # for a plan
        self.seen = 0
        self._table = table
        self._literal = literal
        self._carrier = carrier

    def length(self, owner: KeptInstances) -> int:
        return len(owner.atoms.listing(self._table, self._literal.column))

    def read(self, owner: KeptInstances, start: int, stop: int) -> Relation:
        """Those from ``start`` to ``stop``."""
        table, formula = self._table, owner.formula
        local = table.deviating[self._literal.column].tensor[start:stop]
        names: list[int] = []
        columns: list[Tensor] = []
        keep: Tensor | None = None
        for argument, column, sort in zip(self._literal.arguments, table.tuples.columns, table.sorts, strict=True):
            ids = torch.from_numpy(column).index_select(0, local)
            if isinstance(argument, int) and formula.sorts[argument] not in (sort, ENTITY):
                inside = torch.from_numpy(owner.domain.members(formula.sorts[argument])).index_select(0, ids)
                keep = inside if keep is None else keep & inside
            if isinstance(argument, str):
                same = ids == owner.domain.index[argument]
            elif argument in names:
                same = ids == columns[names.index(argument)]
            else:
                names.append(argument)
                columns.append(ids)
                continue
            keep = same if keep is None else keep & same
        if self._carrier is not None:
            names.append(self._carrier)
            columns.append(torch.from_numpy(table.row(local.numpy())))
        if keep is not None:
            columns = [column[keep] for column in columns]
        length = int(keep.sum()) if keep is not None else len(local)
        return Relation(tuple(names), tuple(columns), length)


class _Parents:
    """The rows of a block, around which inner rows are joined: ``seen`` so far."""

    def __init__(self, block: int) -> None:
        self.reads: Reads = PARENTS
        self.seen = 0
        self._block = block

    def length(self, owner: KeptInstances) -> int:
        return owner.count(self._block)

    def read(self, owner: KeptInstances, start: int, stop: int) -> Relation:
        """Those from ``start`` to ``stop``."""
        columns = tuple(column[start:stop] for column in owner.variables(self._block))
        return Relation(owner.formula.blocks[self._block].variables, columns, stop - start)


_Source = _Listed | _Parents


class KeptInstances:
    """Rows of one formula within its batch. ``member`` is its number there."""

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
        self._tuples = tuple(TensorTuples(len(block.variables), domain.generic + 2) for block in formula.blocks)
        self.rows = tuple(GrowingTensor(torch.int64) for _ in formula.blocks)  # local row -> row of the batch's block
        self._counts = tuple(
            GrowingTensor(torch.int64) for _ in formula.blocks
        )  # real rows of the block, by parent row
        self._default = tuple(
            GrowingTensor(torch.int64) for _ in formula.blocks
        )  # the parent's virtual row here, or -1
        self._strangers = tuple(GrowingTensor(torch.bool) for _ in formula.blocks)  # whether it has its stranger
        self._distinct = _finds_each_once(formula, needs)
        self._carried: dict[int, int] = {}  # leaf -> the column of a found row that holds its atom's row
        self._expands = needs.expands
        self._above = tuple(
            GrowingTensor(torch.int64) for _ in formula.blocks
        )  # a row's parent row, counted in this formula
        self._needs = [
            (need.block, [self._source(lit, carry) for carry, lit in enumerate(sorted(need.literals, key=repr))])
            for need in needs.rows
        ]
        if self._distinct:
            for carry, literal in enumerate(sorted(needs.rows[0].literals, key=repr)):
                for leaf in formula.leaves:
                    neuron = formula.neurons[leaf]
                    if (neuron.source, neuron.arguments) == (literal.table, literal.arguments):
                        self._carried[leaf] = _carrier(carry)
        self._fills = {
            block: [
                [
                    _Parents(formula.blocks[block].parent),
                    *(self._source(lit) for lit in sorted(literals, key=repr)),
                ]
                for literals in families
            ]
            for block, families in needs.fills.items()
        }
        self._started: set[int] = set()

    def __len__(self) -> int:
        return len(self._tuples[0])

    def count(self, block: int) -> int:
        """How many rows a block has."""
        return len(self._tuples[block])

    def variables(self, block: int) -> tuple[Tensor, ...]:
        """The columns of entity ids of a block's rows."""
        return self._tuples[block].columns

    def extend(self) -> None:
        """Add every row whose literals have come to be there since the last call."""
        for number, (block, sources) in enumerate(self._needs):
            wanted = self.formula.blocks[block].variables
            for found in self._delta(number, sources, wanted):
                if self._distinct:
                    self._guard(len(self) + found.length)
                    columns = [found.columns[found.variables.index(v)] for v in wanted]
                    carried = {leaf: found.columns[found.variables.index(c)] for leaf, c in self._carried.items()}
                    self._tuples[0].append(columns, found.length)
                    self._append(0, columns, None, found.length, carried)
                else:
                    self._add(block, found)
        for block in range(1, len(self.formula.blocks)):
            self._fill(block)

    # --- joining ----------------------------------------------------------------------------------------------------

    def _delta(self, number: int, sources: Sequence[_Source], wanted: Sequence[int]) -> list[Relation]:
        if not sources:
            if number in self._started:
                return []
            self._started.add(number)
            trace = None if self._recorder is None else Trace()
            found = [self._complete(Relation((), (), 1), wanted, trace)]
            if self._recorder is not None and trace is not None:
                self._recorder.joined(self.member, number, trace.finished())
            return found
        lengths = [source.length(self) for source in sources]
        if all(length == source.seen for length, source in zip(lengths, sources, strict=True)):
            return []
        found = []
        if all(lengths):
            for i, source in enumerate(sources):
                # each result once: its first new literal is the i-th
                if source.seen == lengths[i] or any(other.seen == 0 for other in sources[:i]):
                    continue
                new = source.read(self, source.seen, lengths[i])
                if new.length == 0:
                    continue
                old = [other.read(self, 0, other.seen) for other in sources[:i]]
                rest = [other.read(self, 0, lengths[j]) for j, other in enumerate(sources) if j > i]
                relations = [new, *old, *rest]
                if self._recorder is None:
                    found.append(self._complete(join(relations, self._guard, None, self._only(wanted)), wanted))
                else:
                    order = (source, *sources[:i], *sources[i + 1 :])
                    found.append(self._recorded(number, [each.reads for each in order], relations, wanted))
        for source, length in zip(sources, lengths, strict=True):
            source.seen = length
        return found

    def _only(self, wanted: Sequence[int]) -> Sequence[int] | None:
        """The variables that a join has to find values of; None for all, where rows carry those of atoms too."""
        return None if self._distinct else wanted

    def _recorded(
        self, number: int, reads: Sequence[Reads], relations: Sequence[Relation], wanted: Sequence[int]
    ) -> Relation:
        """Join and complete, telling the recorder."""
        assert self._recorder is not None
        trace = Trace()
        placed = [replace(r, origin=trace.place(what, r.length)) for what, r in zip(reads, relations, strict=True)]
        found = self._complete(join(placed, self._guard, trace.made, self._only(wanted)), wanted, trace)
        self._recorder.joined(self.member, number, trace.finished())
        return found

    def _complete(self, found: Relation, wanted: Sequence[int], trace: Trace | None = None) -> Relation:
        """Multiply by the domain of each wanted variable that no literal binds."""
        parts = [found]
        for variable in wanted:
            if variable not in found.variables:
                ids = torch.from_numpy(self.domain.sorts[self.formula.sorts[variable]])
                origin = () if trace is None else trace.place(variable, len(ids))
                parts.append(Relation((variable,), (ids,), len(ids), origin))
        size = math.prod(part.length for part in parts)
        self._guard(size)
        return join(parts, self._guard, None if trace is None else trace.made)

    def _source(self, literal: Literal, carry: int | None = None) -> _Source:
        carrier = _carrier(carry) if self._distinct and carry is not None else None
        return _Listed(self.atoms.tables[literal.table], literal, carrier)

    # --- rows -------------------------------------------------------------------------------------------------------

    def _add(self, block: int, found: Relation) -> None:
        """Add rows to ``block``, and to the blocks around it those they stand in."""
        chain = [block]
        while chain[-1] > 0:
            chain.append(self.formula.blocks[chain[-1]].parent)
        parent = torch.zeros(found.length, dtype=torch.int64)
        for index in reversed(chain):
            variables = self.formula.blocks[index].variables
            columns = [found.columns[found.variables.index(v)] for v in variables]
            numbers, fresh = self._tuples[index].add(columns, found.length)
            self._guard(len(self._tuples[index]))
            if len(fresh):
                new = [column.index_select(0, fresh) for column in columns]
                self._append(index, new, parent.index_select(0, fresh), len(fresh))
            parent = numbers

    def _append(
        self,
        block: int,
        columns: Sequence[Tensor],
        parent: Tensor | None,
        length: int,
        carried: Mapping[int, Tensor] | None = None,
    ) -> None:
        bound = self.formula.blocks[block].bound
        variables = self.formula.blocks[block].variables
        virtual = torch.zeros(length, dtype=torch.bool)
        stranger = torch.zeros(length, dtype=torch.bool)
        for variable in bound:
            virtual = virtual | (columns[variables.index(variable)] >= self.domain.generic)
            stranger = stranger | (columns[variables.index(variable)] == self.domain.stranger)
        own = self.batch.blocks[block].columns
        atoms = {
            index: carried[index]
            if carried and index in carried
            else self._rows(index, variables, columns, length, real=bool(carried) or not bound)
            for index in own
        }
        rows = {index: column.numpy() for index, column in atoms.items()}
        if block == 0:
            added = self.batch.append(0, rows, self.member, len(self.rows[0]), length)
            numbers = torch.arange(added.start, added.stop)
        else:
            assert parent is not None
            above = self.formula.blocks[block].parent
            group = self.rows[above].values.index_select(0, parent)
            ends = [each.numpy() for each in (group, virtual, stranger)]
            added = self.batch.append(block, rows, self.member, len(self.rows[block]), length, *ends)
            numbers = torch.arange(added.start, added.stop)
            self._above[block].append(parent)
            self._grow(block)
            real = parent[~virtual]
            self._counts[block].values.index_add_(0, real, torch.ones(len(real), dtype=torch.int64))
            self._default[block].values[parent[virtual & ~stranger]] = numbers[virtual & ~stranger].long()
            self._strangers[block].values[parent[stranger]] = True
        self.rows[block].append(numbers)

    def _grow(self, block: int) -> None:
        missing = len(self._tuples[self.formula.blocks[block].parent]) - len(self._counts[block])
        self._counts[block].append(torch.zeros(missing, dtype=torch.int64))
        self._default[block].append(torch.full((missing,), -1))
        self._strangers[block].append(torch.zeros(missing, dtype=torch.bool))

    def _rows(
        self, index: int, variables: Sequence[int], columns: Sequence[Tensor], length: int, *, real: bool
    ) -> Tensor:
        """The atom rows of one leaf, constant or observed neuron of a block's new rows. If they are ``real``, no
        virtual entity is among them."""
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
            torch.full((length,), self.domain.index[a], dtype=torch.int32)
            if isinstance(a, str)
            else columns[variables.index(a)]
            for a in arguments
        ]
        if real and table is not None:
            return self._look_up(table, index, values, length)
        virtual = torch.zeros(length, dtype=torch.bool)
        stranger = torch.zeros(length, dtype=torch.bool)
        for value in values:
            virtual = virtual | (value >= self.domain.generic)
            stranger = stranger | (value == self.domain.stranger)
        if table is None:
            if arguments[0] == arguments[1]:
                return torch.full((length,), TRUE, dtype=torch.int32)
            one = values[0] == values[1]
            rows = torch.where(one & (values[0] != self.domain.generic), TRUE, FALSE)  # those that are one stand apart
            rows[one & (values[0] == self.domain.stranger)] = UNKNOWN  # there may be several
            if self.domain.lacks((ENTITY, ENTITY), arguments):  # one of them may be the one that a query names
                rows[(values[0] == self.domain.stranger) ^ (values[1] == self.domain.stranger)] = UNKNOWN
            return rows.int()
        rows = torch.full((length,), table.default_row, dtype=torch.int32)
        if not table.predictable:
            rows[stranger] = UNKNOWN
        named = where_set(~virtual)
        picked = [value.index_select(0, named) for value in values]
        rows[named] = self._look_up(table, index, picked, len(named))
        return rows

    def _look_up(self, table: AtomTable, index: int, columns: Sequence[Tensor], length: int) -> Tensor:
        """The rows of atoms, those of a table that inference may add to being materialised."""
        ids = [column.numpy() for column in columns]
        if index in self._observers or self._kept[table.name]:
            return torch.from_numpy(self.atoms.materialise(table, ids, length))
        return torch.from_numpy(self.atoms.find(table, ids, length))

    def _fill(self, block: int) -> None:
        """Give every parent row its inner rows: those that differ, and a default row for the rest, if any."""
        variables = self.formula.blocks[block].variables
        for number, sources in enumerate(self._fills[block]):
            for found in self._delta(-1 - number, sources, variables):
                self._add(block, found)
        self._grow(block)
        if not len(self._counts[block]):
            return
        if block in self._expands:
            self._expand(block)
        bound = self.formula.blocks[block].bound
        total = self._total(block)
        counts = self._counts[block].values
        last = where_set(counts == total - 1)
        if len(last):
            self._add(block, self._complete(self._parent_rows(block, last), variables))
        counts, default = self._counts[block].values, self._default[block].values
        retired = default[(counts == total) & (default >= 0)]
        if len(retired):
            self.batch.blocks[block].group.tensor[retired] = -1
            default[counts == total] = -1
        self._stand_in(block, where_set((default < 0) & (counts < total)), self.domain.generic)
        if any(self.formula.sorts[v] in self.domain.open_sorts for v in bound):
            lacking = where_set(~self._strangers[block].values)
            self._stand_in(block, lacking, self.domain.stranger)

    def _expand(self, block: int) -> None:
        """Give every row whose siblings are all there, the last candidate among them, all its inner rows."""
        above = self.formula.blocks[block].parent
        variables = self.formula.blocks[above].variables
        virtual = torch.zeros(len(self._tuples[above]), dtype=torch.bool)
        for variable in self.formula.blocks[above].bound:
            virtual |= self._tuples[above].columns[variables.index(variable)] >= self.domain.generic
        complete = self._counts[above].values == self._total(above)
        counts = self._counts[block].values
        wanted = ~virtual & complete.index_select(0, self._above[above].values) & (counts < self._total(block))
        parents = where_set(wanted)
        if len(parents):
            self._add(block, self._complete(self._parent_rows(block, parents), self.formula.blocks[block].variables))

    def _total(self, block: int) -> int:
        """How many rows of a block a row of the block around it can have."""
        return math.prod(len(self.domain.sorts[self.formula.sorts[v]]) for v in self.formula.blocks[block].bound)

    def _stand_in(self, block: int, parents: Tensor, entity: int) -> None:
        """Add a virtual row under each parent row."""
        if len(parents):
            rows = self._parent_rows(block, parents)
            bound = self.formula.blocks[block].bound
            ids = torch.full((rows.length,), entity, dtype=torch.int32)
            self._add(block, Relation(rows.variables + bound, rows.columns + (ids,) * len(bound), rows.length))

    def _parent_rows(self, block: int, numbers: Tensor) -> Relation:
        above = self.formula.blocks[block].parent
        columns = tuple(column.index_select(0, numbers) for column in self._tuples[above].columns)
        return Relation(self.formula.blocks[above].variables, columns, len(numbers))


def _carrier(number: int) -> int:
    """The column in which a found row carries the atom row of a need's literal: no variable has its number."""
    return -1 - number


def _finds_each_once(formula: Formula, needs: Needs) -> bool:
    """Whether a single join binds all variables, so that no instance is found twice."""
    (block, *inner), needed = formula.blocks, needs.rows
    if inner or len(needed) != 1:
        return False
    bound = {a for literal in needed[0].literals for a in literal.arguments if isinstance(a, int)}
    return bound == set(block.variables) and bool(needed[0].literals)
