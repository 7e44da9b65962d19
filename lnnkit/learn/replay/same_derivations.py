"""Whether two inferences had the same derivations: the same instances set the same bounds, in the same order.

If so, one replay serves both, since they differ in parameters only.
"""

from __future__ import annotations

import numpy as np

from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.learn.replay.recorded_inference import Trace
from lnnkit.learn.replay.replay_events import EventIndex
from lnnkit.store.atoms import Atoms


def same_derivations(earlier: Trace, later: Trace) -> bool:
    """Whether one replay serves both. False if comparisons have parameters, since their softening changes."""
    one, other = earlier.replayer, later.replayer
    if one.comparisons or other.comparisons or not _same_events(one.events, other.events):
        return False
    before, after = (each.fixpoint.prepared.state.crossed.rows.values for each in (earlier, later))
    if not np.array_equal(before, after):
        return False
    if not all(np.array_equal(*pair) for pair in zip(one.start, other.start, strict=True)):
        return False
    if not _same_layout(one.atoms, other.atoms):
        return False
    members = zip(*(each.fixpoint.prepared.grounding.members for each in (earlier, later)), strict=True)
    if not all(_same_entities(*pair) for pair in members):
        return False
    numbers = {number for number, _, _ in one.events.groups}
    return all(_same_batches(one.batch(number), other.batch(number)) for number in numbers)


def _same_entities(one: GroupRule | DeltaRule, other: GroupRule | DeltaRule) -> bool:
    """Whether rules whose instances are assembled have kept the same ones."""
    if not isinstance(one, GroupRule) or not isinstance(other, GroupRule):
        return True
    pairs = zip(one.kept, other.kept, strict=True)
    return all(np.array_equal(mine[v].values, twin[v].values) for mine, twin in pairs for v in mine)


def _same_layout(one: Atoms, other: Atoms) -> bool:
    """Whether rows belong to the same tables, and facts cover the same ones."""
    count = len(one)
    return (
        count == len(other)
        and one.added(0) == other.added(0)
        and all(table.default == other.tables[name].default for name, table in one.tables.items())
        and np.array_equal(one.flags("given")[:count], other.flags("given")[:count])
    )


def _same_events(one: EventIndex, other: EventIndex) -> bool:
    if one.groups != other.groups or one.entered != other.entered or len(one) != len(other):
        return False
    if not np.array_equal(one.crossings, other.crossings):
        return False
    columns = ((one.key, other.key), (one.group, other.group), (one.instance, other.instance), (one.tick, other.tick))
    if not all(np.array_equal(*pair) for pair in columns):
        return False
    given = one.group < 0
    return np.array_equal(one.source, other.source) and np.array_equal(one.value[given], other.value[given])


def _same_batches(one: RuleShape, other: RuleShape) -> bool:
    if one is other:
        return True
    if one.completes != other.completes or _shape(one.formula) != _shape(other.formula):
        return False
    for block, twin in zip(one.blocks, other.blocks, strict=True):
        if len(block) != len(twin) or block.columns.keys() != twin.columns.keys():
            return False
        pairs = [(block.columns[leaf].values, twin.columns[leaf].values) for leaf in block.columns]
        pairs.append((block.group.values, twin.group.values))
        if not all(np.array_equal(*pair) for pair in pairs):
            return False
    return True


def _shape(formula: Formula) -> tuple[object, ...]:
    """The formula's structure, apart from learned numbers."""
    found: list[object] = [formula.blocks, formula.auxiliary, formula.heads, formula.learned]
    for neuron in formula.neurons:
        numbers = zip((*neuron.weights, neuron.bias), neuron.learned or (None,), strict=False)
        fixed = [number if name is None else None for number, name in numbers]
        source = neuron.source if neuron.kind == LEAF else ""
        found.append((neuron.kind, neuron.operands, neuron.block, source, neuron.arguments, neuron.inner, fixed))
    return tuple(found)
