"""Stated comparisons that no numbers satisfy, whatever they are about: ``axiom age(X) > 5`` beside ``age(X) < 3``.

Instances that propose nothing new are not evaluated, so an entity whose numbers are never mentioned has no
contradiction of its own. Contradictions that hold for every such entity are reported here once, and change no answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from lnnkit.arrays import any_set
from lnnkit.check.walk import nodes
from lnnkit.engine.inference_run import Run
from lnnkit.formula.unfolding import Formula, Neuron
from lnnkit.graph.laws import Law, violated
from lnnkit.numeric import NO_VALUE, Comparison, Interval, same
from lnnkit.syntax import ast

_ROUNDS = 20  # numbers may narrow each other without end

Box = tuple[float, float]


class Everywhere(NamedTuple):
    """A contradiction for every entity: a number, the definition of a comparison, or a law."""

    what: str | Formula | Law
    bounds: Box

    @property
    def numbers(self) -> set[str]:
        """The numbers in it."""
        if isinstance(self.what, str):
            return {self.what}
        return _numbers([self.what]) if isinstance(self.what, Formula) else _named(self.what)


def everywhere(run: Run) -> list[Everywhere]:
    """The contradictions that hold for every entity, without those that some entity's own contradiction already
    reports."""
    stated = [formula for formula in run.plan.shared.formulas if _is_stated(run, formula)]
    if not stated:
        return []
    crossed = {table.name for table in run.state.crossed}
    laws = violated(run.plan.lifted.program.assertions)
    contradictions: list[Everywhere] = []
    for part in _parts(sorted(stated, key=lambda formula: formula.key)):
        tables = _tables(part)
        if tables & crossed or not _meets_unknown_numbers(run, part):
            continue
        crossing = _crossing(run, part)
        numbers = _numbers(part)
        broken = (Everywhere(law, (1.0, 0.0)) for law in laws if _named(law) & numbers)
        first = crossing or next(broken, None)
        if first is not None:
            contradictions.append(first)
    return contradictions


def _parts(formulas: Sequence[Formula]) -> list[list[Formula]]:
    """The connected components of comparisons that share numbers. A contradiction in one does not affect the others."""
    parts: list[list[Formula]] = []
    for formula in formulas:
        joined = [part for part in parts if _numbers(part) & _numbers([formula])]
        parts = [part for part in parts if part not in joined]
        parts.append([*(other for part in joined for other in part), formula])
    return [sorted(part, key=lambda formula: formula.key) for part in parts]


def _meets_unknown_numbers(run: Run, formulas: Sequence[Formula]) -> bool:
    """Whether a statement about numbers at their defaults holds for any entity. Known numbers may leave a term
    undefined, and then its comparison implies nothing, as it does of closed numbers without a value; aggregates are
    known by default."""
    comparisons = [formula.neurons[formula.top].arithmetic for formula in formulas]
    atoms, sizes = run.grounding.atoms, run.grounding.domain.sorts
    tables = [atoms.tables[name] for name in _numbers(formulas)]
    total = all(isinstance(comparison, Comparison) and comparison.total for comparison in comparisons)
    if total and all(table.default == table.unknown for table in tables):
        return True
    if any(table.default == NO_VALUE for table in tables):
        return False
    every = (math.prod(len(sizes[sort]) for sort in table.sorts) for table in tables)
    return all(len(table.listing("either")) < count for table, count in zip(tables, every, strict=True))


def _named(law: Law) -> set[str]:
    """The numbers in a law."""
    return {node.name for node in nodes(cast("ast.Expression", law.formula)) if isinstance(node, ast.Atom)}


def _is_stated(run: Run, formula: Formula) -> bool:
    """Whether statements give a comparison its truth for all entities, and there are any."""
    domain = run.grounding.domain.sorts
    given = (formula.lower, formula.upper) != (0.0, 1.0)
    return formula.compares and given and all(len(domain[sort]) for sort in formula.sorts)


def _tables(formulas: list[Formula]) -> set[str]:
    """The comparisons, and the numbers in them."""
    return {str(formula.auxiliary) for formula in formulas} | _numbers(formulas)


def _numbers(formulas: Sequence[Formula]) -> set[str]:
    return {neuron.source for formula in formulas for neuron in formula.neurons if neuron.numeric}


def _crossing(run: Run, formulas: list[Formula]) -> Everywhere | None:
    """The first contradiction when all numbers start as unknown and comparisons as stated: in rounds, as for an entity
    whose numbers are never mentioned."""
    tables = run.grounding.atoms.tables
    numbers = {neuron.source: tables[neuron.source].default for f in formulas for neuron in f.neurons if neuron.numeric}
    for _ in range(_ROUNDS):
        before = dict(numbers)
        for formula in formulas:
            comparison = formula.neurons[formula.top].arithmetic
            assert isinstance(comparison, Comparison)
            leaves = [formula.neurons[place] for place in formula.neurons[formula.top].operands]
            boxes = [_interval(before[leaf.source]) for leaf in leaves]
            response = comparison.respond(boxes, _interval((formula.lower, formula.upper)))
            if any_set(response.crossed) or any_set(response.empty):
                return Everywhere(formula, (1.0, 0.0))
            for leaf, (lower, upper) in zip(leaves, response.inputs, strict=True):
                if _is_of_all(leaf):
                    low, high = numbers[leaf.source]
                    numbers[leaf.source] = max(low, lower.item()), min(high, upper.item())
        for name, (low, high) in sorted(numbers.items()):
            if low > high and not bool(same(np.array(low), np.array(high))):
                return Everywhere(name, (low, high))
            numbers[name] = min(low, high), max(low, high)
        if numbers == before:
            return None
    return None


def _is_of_all(leaf: Neuron) -> bool:
    """Whether a number term stands for the number of every entity: its arguments are distinct variables."""
    return len({argument for argument in leaf.arguments if isinstance(argument, int)}) == len(leaf.arguments)


def _interval(box: Box) -> Interval:
    return Interval(*(np.array([end], dtype=np.float64) for end in box))
