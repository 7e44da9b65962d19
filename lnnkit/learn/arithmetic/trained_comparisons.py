"""Selects the comparisons of a grounding that are replayed with gradients: those with parameters, or with numbers from
modules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

from lnnkit.formula.unfolding import Formula
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.join.instances.grounding import Grounding
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison, learned_comparison
from lnnkit.trail.events import Trail


def opened_comparisons(
    lifted: LiftedGraph, grounding: Grounding, history: Trail, among: Collection[str], supplied: Collection[str]
) -> dict[int, LearnedComparison]:
    """By batch, the comparisons with parameters ``among``, and the comparisons of numbers that modules supply or that
    the history derives from such numbers."""
    formulas = {
        number: batch.formula for number, batch in enumerate(grounding.batches) if batch.formula.auxiliary is not None
    }
    formulas = {number: formula for number, formula in formulas.items() if formula.compares}
    moved = _resting(formulas, history.tellers, supplied) if supplied else frozenset[str]()
    found: dict[int, LearnedComparison] = {}
    for number, formula in formulas.items():
        assert formula.auxiliary is not None
        own = learned_comparison(lifted.graph, formula.auxiliary, among, moved=not moved.isdisjoint(_numbers(formula)))
        if own is not None:
            found[number] = own
    return found


def _numbers(formula: Formula) -> set[str]:
    """The numbers that a comparison compares."""
    return {formula.neurons[operand].source for operand in formula.neurons[formula.top].operands}


def _resting(
    formulas: Mapping[int, Formula], tellers: Set[tuple[int, int]], supplied: Collection[str]
) -> frozenset[str]:
    """The numbers ``supplied``, and those derived from them by comparisons."""
    told = {
        number: {formula.neurons[leaf].source for batch, leaf in tellers if batch == number and leaf >= 0}
        for number, formula in formulas.items()
    }
    found = set(supplied)
    while True:
        more = {name for number in formulas if _numbers(formulas[number]) & found for name in told[number]} - found
        if not more:
            return frozenset(found)
        found |= more
