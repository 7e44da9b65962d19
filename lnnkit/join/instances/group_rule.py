"""The rule of a formula with quantifiers whose rows are read together: a delta finds the instances that it may change,
and these are assembled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.analysis.needs import Literal, Need, Needs, Range, minimal_needs, variables
from lnnkit.formula.unfolding import Block, Formula
from lnnkit.join.delta_rule import DeltaRule, Matters
from lnnkit.join.instances.assembled import Assembler, Instances
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.join.join_plan import Recorder
from lnnkit.store.layout import Domain
from lnnkit.store.relations import Relation, Relations
from lnnkit.store.row_arrays import Array, Growing, spelled_out


class GroupRule:
    """``finder`` finds the free variables of the instances that a delta may change, by ``needs``. Of the instances that
    have set a bound the entities are kept, and those of the rows through which they did."""

    def __init__(
        self,
        formula: Formula,
        needs: Needs,
        reads: Matters,
        atoms: Relations,
        domain: Domain,
        guard: Callable[[Formula, int], None],
        member: int,
        observers: Mapping[int, str],
        recorder: Recorder | None = None,
    ) -> None:
        self.formula = formula
        self.assembler = Assembler(formula, needs, atoms, domain, guard, observers)
        flat = replace(
            formula,
            neurons=tuple(neuron._replace(block=0) for neuron in formula.neurons),
            blocks=(Block(-1, formula.blocks[0].variables, ()),),
            prenex_of=formula,
        )
        self.needs, within = _finder_needs(formula, needs)
        self.finder = DeltaRule(flat, self.needs, reads, atoms, domain, guard, member, recorder, within)
        self.finder.enumerates = True  # the entities of stored instances are kept
        self.kept = tuple({variable: Growing(np.int32) for variable in block.variables} for block in formula.blocks)
        self.finder.kept = tuple(self.kept[0].values())

    def store(self, shape: RuleShape, member: int, instances: Instances, block: int, places: Array | range) -> Array:
        """Keep the instances with rows of a block at these ``places``, each with the way to its row; returns the rows'
        numbers in the shape."""
        way = [spelled_out(places).astype(np.int64)]
        for inner in reversed(self.formula.path(block)[1:]):
            grouping = instances.groupings[inner]
            assert grouping is not None
            way.append(grouping.group.take(way[-1]))
        numbers, which = np.empty(0, np.int64), np.empty(0, np.int64)
        for number, rows in zip(self.formula.path(block), reversed(way), strict=True):
            if number == 0:  # an instance is kept once for all that it says here
                rows, which = np.unique(rows, return_inverse=True)
            columns = {index: instances.rows[index].take(rows) for index in shape.blocks[number].columns}
            local = len(next(iter(self.kept[number].values()))) if self.kept[number] else 0
            for variable, column in self.kept[number].items():
                column.append(instances.ids[number][variable].take(rows))
            added = shape.append(number, columns, member, local, len(rows), numbers if number else None)
            numbers = np.arange(added.start, added.stop)
            numbers = numbers if number else numbers.take(which)
        return numbers

    def table_of(self, leaf: int) -> Relation:
        """The relation of what has rows."""
        return self.assembler.tables[leaf]

    def entities(self, block: int, local: Array) -> list[Array]:
        """The entities of a block's variables in some of its kept rows."""
        return [column.values.take(local) for column in self.kept[block].values()]

    def assembled(self, local: Array) -> Instances:
        """Some of the kept instances, each with rows of its own."""
        return self.assembler.of(self.entities(0, local), len(local), apart=True)


def _finder_needs(formula: Formula, needs: Needs) -> tuple[Needs, Mapping[int, Sequence[Need]]]:
    """The needs that find instances, whose quantifiers' rows are existential; and for each inner block those by which
    moves within it do: the row that moved differs from its default, or is itself what a need is about. What tells the
    last candidate of a quantifier may be satisfied by several of its rows, so there each literal has variables of its
    own."""
    last = {variable for block in needs.last for variable in formula.blocks[block].bound}
    sorts: list[str] = []
    finder_needs: list[Need] = []
    within: dict[int, list[Need]] = {block: [] for block in range(1, len(formula.blocks))}
    for need in needs.rows:
        apart = last.difference(formula.around(need.block))
        literals: set[Literal | Range] = set()
        renames = False
        for literal in sorted(need.literals, key=repr):
            renamed: dict[int | str, int | str] = {}
            for variable in sorted(apart.intersection(variables(literal.arguments))):
                renamed[variable] = len(formula.sorts) + len(sorts)
                sorts.append(formula.sorts[variable])
            renames |= bool(renamed)
            literals.add(literal.renamed(renamed))
        finder_needs.append(Need(0, frozenset(literals)))
        for block, block_needs in within.items():
            if renames or block in formula.path(need.block):
                block_needs.append(finder_needs[-1])
            else:
                block_needs += (Need(0, finder_needs[-1].literals | family) for family in needs.fills.get(block, ()))
    free = formula.blocks[0].variables
    inner = (sort for variable, sort in enumerate(formula.sorts) if variable not in free)
    moved = {block: minimal_needs(block_needs) for block, block_needs in within.items()}
    return Needs(minimal_needs(finder_needs), {}, existential=tuple(sorts) or tuple(inner)), moved
