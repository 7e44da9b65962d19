"""What completion may say of unnamed individuals of open sorts, and what they may make true: someone unnamed may have
``S`` in ``S(X, Y) -> D(Y)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lnnkit.analysis.supports import Analyses
from lnnkit.check.program import ENTITY
from lnnkit.formula.unfolding import Formula, Neuron, unfold
from lnnkit.graph.lifted import COMPARISON, LiftedGraph, Root


def false_of_unnamed(lifted: LiftedGraph, analyses: Analyses) -> set[str]:
    """Note the closed predicates that rules may make true of unnamed individuals; returns the others, which are false
    of these as closed predicates are that only facts list."""
    nodes, false = lifted.graph.nodes, {*lifted.closed_derived} - lifted.derived_numbers
    for name in false:
        del analyses.unnamed[name]
    analyses.defaults.update((node, (0.0, 1.0)) for node, data in nodes.items() if data["kind"] == COMPARISON)
    formulas = [_defining(lifted, root) for root in lifted.statements if root.defines & false and analyses.open_sorts]
    wide = analyses.open_sorts | {ENTITY}  # whether it has the unnamed of other sorts is not said
    while more := {
        formula.neurons[head].source
        for formula in formulas
        for variable in formula.blocks[0].variables
        if formula.sorts[variable] in wide
        for head in analyses.of(formula).reached(variable)
        if variable in formula.neurons[head].arguments and formula.neurons[head].source in false
    }:
        analyses.unnamed.update((name, ((0.0, 1.0), nodes[name]["sorts"])) for name in more)
        false -= more
    return false


def of_strata(lifted: LiftedGraph, analyses: Analyses) -> list[list[Formula]]:
    """The defining statements of each stratum, unfolded as their completion reads them: through shared neurons. One
    that unnamed individuals may make conclude more is there for these too."""
    strata = lifted.program.strata
    places = {name: place for place, stratum in enumerate(strata) for name in stratum}
    formulas: list[list[Formula]] = [[] for _ in strata]
    for root in sorted(lifted.statements, key=lambda root: root.origin.span.text):
        for place in {places[name] for name in root.defines if name in places}:
            formula = _defining(lifted, root)
            heads = frozenset(leaf for leaf in formula.heads if formula.neurons[leaf].source in strata[place])
            formulas[place].append(replace(formula, heads=heads))
            named = formula.derives is not None  # what is closed lists the candidates for a number
            opens = [v for v in formula.blocks[0].variables if formula.sorts[v] in analyses.open_sorts and not named]
            for head in sorted(heads):
                others = [v for v in opens if v not in formula.neurons[head].arguments]
                reached = [v for v in others if head in analyses.of(formula).reached(v)]
                if reached:
                    formulas[place].append(_about(lifted, root, reached, head + 1))  # behind the quantifier
    return formulas


def _defining(lifted: LiftedGraph, root: Root, unnamed: Sequence[int] = ()) -> Formula:
    through = not root.defines.isdisjoint(lifted.derived_numbers)
    formula = unfold(lifted, root, through_shared=True, through_comparisons=through, unnamed=unnamed)
    return replace(formula, key=root.origin.span.text)


def _about(lifted: LiftedGraph, root: Root, unnamed: Sequence[int], head: int) -> Formula:
    """A defining statement about ``unnamed`` individuals, which one of its heads lacks. What else it concludes of these
    may be true: that asks the least of the head."""
    formula = _defining(lifted, root, unnamed)
    neurons = list(formula.neurons)
    stack = [neurons[-1].operands[1]]
    while stack:
        first = index = stack.pop()
        while neurons[first].operands:
            first = neurons[first].operands[0]
        if neurons[index].kind == "and":
            stack += neurons[index].operands
        elif index != head and any({*unnamed} & {*neurons[node].arguments} for node in range(first, index + 1)):
            neurons[first : index + 1] = [Neuron("true", (), 0, "", ())] * (index + 1 - first)
    return replace(formula, neurons=tuple(neurons), heads=frozenset({head}))
