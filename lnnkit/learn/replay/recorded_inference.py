"""Infers a parametrised program and records what a replay needs, and tells whether one replay serves two inferences."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np
from torch import Tensor

from lnnkit.analysis.supports import Known
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.data.entities import Entities
from lnnkit.engine.inference import infer
from lnnkit.engine.inference_run import Run
from lnnkit.formula.unfolding import LEAF, Formula
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import Guard
from lnnkit.join.instances.group_rule import GroupRule
from lnnkit.learn.arithmetic.learned_comparisons import Softness
from lnnkit.learn.parameters.rule_parameters import at
from lnnkit.learn.replay.replayer import Replayer
from lnnkit.store.layout import asked_constants, constants
from lnnkit.store.stated_facts import Gathering, unnamed
from lnnkit.syntax import ast
from lnnkit.syntax.span import Source, Span
from lnnkit.trail.events import Trace as Traced


@dataclass(frozen=True, slots=True)
class RecordedInference:
    """A fixpoint, its replayer, and the ids of its entities."""

    fixpoint: Run
    entities: Entities
    replayer: Replayer


def trace(
    program: CheckedProgram,
    values: Mapping[str, float],
    queries: Sequence[Query],
    *,
    guard: Guard,
    round_limit: int,
    known: Known | None = None,
    gathering: Gathering | None = None,
    through: bool = False,
    softness: Softness | None = None,
    supplied: Collection[str] = (),
    listed: Sequence[tuple[str, Sequence[Tensor]]] = (),
) -> RecordedInference:
    """Infer a parametrised program at some values of its parameters, by name, and keep the history.

    ``through`` lets gradients pass the clamps of rules. ``softness`` softens crisp comparisons, including those of the
    numbers ``supplied`` by modules. The atoms ``listed``, by predicate and the columns of their entities, are
    materialised even if nothing is known of them. Raises `TooLarge`."""
    lifted = build(replace(at(program, values), queries=tuple(queries)))
    stated = {text for texts in constants(lifted).values() for text in texts}
    asked = unnamed(lifted.program, asked_constants(lifted, lifted.queries) - stated)
    index, given, labelled = (gathering or Gathering()).facts(program, stated | asked)
    fixpoint = infer(
        lifted,
        index,
        given,
        guard=guard,
        round_limit=round_limit,
        known=known,
        trace=Traced(),
        labelled=labelled,
        unnamed=asked,
    )
    history = fixpoint.state.trail
    grounding = fixpoint.grounding
    for name, columns in listed:
        ids = [column.numpy() for column in columns]
        grounding.atoms.materialise(grounding.atoms.tables[name], ids, len(ids[0]) if ids else 1)
    replayer = Replayer(lifted, grounding, history, values, through=through, softness=softness, supplied=supplied)
    return RecordedInference(fixpoint, index, replayer)


def label_queries(program: CheckedProgram) -> tuple[Query, ...]:
    """A query for all atoms of every labelled predicate and number, so that inference derives them."""
    spans = {label.predicate: label.span for label in program.labels}
    for table in program.label_tables:
        if table.span is not None:
            spans.setdefault(table.predicate, table.span)
    queries: list[Query] = []
    for name in sorted({*spans, *(table.predicate for table in program.label_tables)}):
        predicate = program.predicates[name]
        span = spans.get(name) or Span(Source("", ""), 0, 0)
        variables = tuple(ast.Variable(f"X{place}", span=span) for place in range(predicate.arity))
        queries.append(Query(ast.Atom(name, variables, span=span), name, program.logic, span, predicate.numeric))
    return tuple(queries)


def mentioned(program: CheckedProgram, queries: Sequence[Query]) -> set[str]:
    """The entities that formulas mention."""
    lifted = build(replace(program, queries=tuple(queries)))
    return {text for texts in constants(lifted).values() for text in texts}


def same_derivations(earlier: RecordedInference, later: RecordedInference) -> bool:
    """Whether one replay serves both. False if comparisons have parameters, since their softening changes."""
    if earlier.replayer.comparisons or later.replayer.comparisons:
        return False
    return all(
        one == other if isinstance(one, tuple) and isinstance(other, tuple) else np.array_equal(one, other)  # pyright: ignore[reportArgumentType]  # arrays
        for one, other in zip_longest(_derivation(earlier), _derivation(later))
    )


def _derivation(inference: RecordedInference) -> Iterator[object]:
    """All that a replay depends on, apart from learned numbers: tuples, and arrays."""
    events, numbers, run = inference.replayer.events, inference.replayer.numbers, inference.fixpoint
    atoms = numbers.atoms
    yield events.groups, events.entered
    yield numbers.starts
    yield tuple((name, table.default) for name, table in atoms.tables.items())
    yield from (events.crossings, events.key, events.group, events.instance, events.tick, events.source)
    yield events.value[events.group < 0]
    yield from (numbers.crossed, *(end for pair in inference.replayer.start for end in pair), numbers.flags("given"))
    for member in run.grounding.members:
        for kept in member.kept if isinstance(member, GroupRule) else ():
            yield from (kept[variable].values for variable in kept)
    for number in sorted({number for number, _, _ in events.groups}):
        shape = inference.replayer.shape(number)
        yield shape.completes, _shape(shape.formula), tuple((len(block), *block.columns) for block in shape.blocks)
        for block in shape.blocks:
            yield from (column.values for column in (*block.columns.values(), block.group))


def _shape(formula: Formula) -> tuple[object, ...]:
    """The formula's structure, apart from learned numbers."""
    parts: list[object] = [formula.blocks, formula.auxiliary, formula.heads, formula.learned]
    for neuron in formula.neurons:
        numbers = zip((*neuron.weights, neuron.bias), neuron.learned or (None,), strict=False)
        fixed = [number if name is None else None for number, name in numbers]
        source = neuron.source if neuron.kind == LEAF else ""
        parts.append((neuron.kind, neuron.operands, neuron.block, source, neuron.arguments, neuron.inner, fixed))
    return tuple(parts)
