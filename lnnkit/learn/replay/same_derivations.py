"""Whether two inferences had the same derivations, so that one replay serves both: they differ in parameters only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.learn.replay.recorded_inference import Trace


def same_derivations(earlier: Trace, later: Trace) -> bool:
    """Whether one replay serves both. False if comparisons have parameters, since their softening changes."""
    if earlier.replayer.comparisons or later.replayer.comparisons:
        return False
    return all(
        one == other if isinstance(one, tuple) and isinstance(other, tuple) else np.array_equal(one, other)  # pyright: ignore[reportArgumentType]  # arrays
        for one, other in zip_longest(_derivation(earlier), _derivation(later))
    )


def _derivation(found: Trace) -> Iterator[object]:
    """All that a replay depends on, apart from learned numbers: tuples, and arrays."""
    events, atoms, prepared = found.replayer.events, found.replayer.atoms, found.fixpoint.prepared
    yield events.groups, events.entered, len(atoms), atoms.added(0)
    yield tuple((name, table.default) for name, table in atoms.tables.items())
    yield from (events.crossings, events.key, events.group, events.instance, events.tick, events.source)
    yield events.value[events.group < 0]
    yield from (prepared.state.crossed.rows.values, *found.replayer.start, atoms.flags("given")[: len(atoms)])
    for member in prepared.grounding.members:
        for kept in member.kept if isinstance(member, GroupRule) else ():
            yield from (kept[variable].values for variable in kept)
    for number in sorted({number for number, _, _ in events.groups}):
        batch = found.replayer.batch(number)
        yield batch.completes, _shape(batch.formula), tuple((len(each), *each.columns) for each in batch.blocks)
        for block in batch.blocks:
            yield from (column.values for column in (*block.columns.values(), block.group))


def _shape(formula: Formula) -> tuple[object, ...]:
    """The formula's structure, apart from learned numbers."""
    found: list[object] = [formula.blocks, formula.auxiliary, formula.heads, formula.learned]
    for neuron in formula.neurons:
        numbers = zip((*neuron.weights, neuron.bias), neuron.learned or (None,), strict=False)
        fixed = [number if name is None else None for number, name in numbers]
        source = neuron.source if neuron.kind == LEAF else ""
        found.append((neuron.kind, neuron.operands, neuron.block, source, neuron.arguments, neuron.inner, fixed))
    return tuple(found)
