"""Other derivations of an atom's bounds than those of its proof: by each instance that gives one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lnnkit.engine.inference_run import Run
from lnnkit.engine.response.respond import leaf_bound
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.explain.proof.proof import Proof, Step
from lnnkit.explain.proof.prover import Prover, Steps
from lnnkit.explain.provenance.bound_sources import END, Event
from lnnkit.explain.provenance.instance_view import InstanceView
from lnnkit.join.bindings import Bindings
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.logic.bounds import Bounds, tolerance
from lnnkit.store.columns.row_arrays import Array
from lnnkit.syntax.printer import format_expression
from lnnkit.trail.events import Kind


def others(prover: Prover, proof: Proof, predicate: str, arguments: Sequence[str]) -> Iterator[Proof]:
    """Proofs of the same atom in which another instance gives its lower, or its upper bound. None rests on the bound
    that it proves. What follows from the absence of rules has no others."""
    local, table = prover.sources.find(predicate, arguments), prover.run.grounding.atoms.tables[predicate]
    if local < 0:
        return
    row = int(prover.wording.numbers.of(table, np.array([local]))[0])
    steps = Steps()  # shared, so that each premise is proved once
    usual = [prover.end(steps, predicate, arguments, side) for side in (0, 1)]
    for side, end in enumerate((proof.lower, proof.upper)):
        reading, known = prover.reading(predicate, arguments, side), {_shown(proof.steps[end])}
        instances = _instances(prover, predicate, arguments, side, reading.value) if reading.source else ()
        for number, leaf, view in instances:
            event = Event(-1, Kind.SENT, row, side, reading.value, END, number, leaf, -1)
            for place in np.flatnonzero(view.rows[leaf] == local).tolist():
                step = prover.by_instance(steps, event, view, place)
                if step is None or _shown(step) in known:
                    continue
                known.add(_shown(step))
                ends = [*usual]
                ends[side] = steps.add(step)
                every = prover.finished(steps, proof.atom, *ends)
                if not _circular(every, ends[side]):
                    yield _alone(every)


def _instances(
    prover: Prover, predicate: str, arguments: Sequence[str], side: int, value: float
) -> Iterator[tuple[int, int, InstanceView]]:
    """The instances that may give one side of an atom a value, with their shapes and the leaf that stands for it."""
    grounding = prover.run.grounding
    entities = [grounding.domain.index[argument] for argument in arguments]
    for member, rule in enumerate(grounding.members):
        finder, number = rule if isinstance(rule, DeltaRule) else rule.finder, grounding.number(member)
        formula, completes = finder.formula.original, grounding.shapes[number].completes
        if (completes and side) or any(block.unnamed for block in formula.blocks):
            continue
        for leaf in formula.heads if completes else formula.leaves:
            about = None
            if formula.neurons[leaf].source == predicate:
                about = prover.views.unified(formula, leaf, entities)
            for ids in () if about is None else _bindings(prover.run, member, finder, about, (leaf, side, value)):
                view = prover.views.whole(formula, dict(zip(formula.blocks[0].variables, ids, strict=True)))
                yield number, leaf, replace(view, completes=completes)


def _bindings(
    run: Run, member: int, finder: DeltaRule, about: Mapping[int, int], wanted: tuple[int, int, float]
) -> Iterator[tuple[int, ...]]:
    """The entities of the free variables in instances in which some variables have these, without those that do not
    give a leaf and a side of it the value ``wanted``."""
    free, met = finder.formula.original.blocks[0].variables, set[tuple[int, ...]]()
    inside = {v: entity for v, entity in about.items() if v in finder.formula.blocks[0].variables}
    for part in finder.extending(inside):
        if isinstance(run.grounding.members[member], DeltaRule):
            part = part.at(np.flatnonzero(_gives(run, member, finder, part, *wanted)))
        columns = [part.column(variable).tolist() for variable in free]
        for ids in zip(*columns, strict=True) if columns else [()] * min(part.length, 1):
            if ids not in met:
                met.add(ids)
                yield ids


def _gives(run: Run, member: int, rule: DeltaRule, part: Bindings, leaf: int, side: int, value: float) -> Array:
    """(n,) which instances without inner blocks give the side of a leaf the value, or more, by all that they read."""
    shape = run.grounding.shapes[run.grounding.number(member)]
    instances = RuleInstances(shape, member, rule, part, run.grounding.atoms, run.encoded)
    read = instances.reader(range(part.length), run.state.dtype)

    def reader(index: int) -> Bounds:
        bounds, (low, high) = read(index), rule.table_of(leaf).unknown
        return bounds if index != leaf else Bounds(np.full_like(bounds.lower, low), np.full_like(bounds.upper, high))

    given = leaf_bound(shape.formula, reader, (None,), leaf, side, completes=shape.completes)
    slack = tolerance(run.state.dtype) * max(1.0, abs(value))
    return given <= value + slack if side else given >= value - slack


def _shown(step: Step) -> object:
    """What tells one derivation from another."""
    formula = "" if step.formula is None else format_expression(step.formula)
    return formula, step.reason, id(step.statement), tuple(sorted(step.bindings.items()))


def _circular(proof: Proof, end: int) -> bool:
    """Whether a step rests on another one with its conclusion."""
    about = proof.steps[end].atom, proof.steps[end].side
    return any((proof.steps[n].atom, proof.steps[n].side) == about for n in proof.reachable(end) if n != end)


def _alone(proof: Proof) -> Proof:
    """The proof without steps on which its ends do not rest."""
    numbers = {number: place for place, number in enumerate(proof.reachable(proof.lower, proof.upper))}
    steps = [
        replace(step, premises=[replace(p, step=numbers[p.step]) for p in step.premises])
        for step in map(proof.steps.__getitem__, numbers)
    ]
    return Proof(proof.atom, steps, numbers[proof.lower], numbers[proof.upper])
