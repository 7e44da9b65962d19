"""What matters: what queries ask for, what formulas read, and so which sides of which tables are worth deriving."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import torch

from lnnkit.graph.lifted import LiftedGraph
from lnnkit.graph.match import below_negations, instances
from lnnkit.graph.relatives import relatives
from lnnkit.ground.analyses import Analyses
from lnnkit.ground.formula import LEAF, Formula, unfold
from lnnkit.ground.grounding import Grounding
from lnnkit.ground.relevance import SIDES, Reading, Relevance, Side, decide
from lnnkit.infer.state import State


def list_asked(lifted: LiftedGraph, grounding: Grounding, state: State) -> set[str]:
    """List the ground atoms that queries mention; returns the tables of which every atom matters."""
    atoms = grounding.atoms
    asked: set[str] = set()
    for root in lifted.queries:
        formula = unfold(lifted, root)
        for neuron in (formula.neurons[leaf] for leaf in formula.leaves):
            table = atoms.tables[neuron.source]
            if all(isinstance(argument, str) for argument in neuron.arguments):
                ids = [torch.tensor([grounding.domain.index[str(a)]], dtype=torch.int32) for a in neuron.arguments]
                rows = atoms.materialise(table, ids, 1)
                state.extend(atoms)
                atoms.ask(table, rows)
            else:
                asked.add(neuron.source)
        heard = instances(lifted.graph, below_negations(lifted.graph, root.reference)[0])
        asked |= {each.node for each in heard if lifted.graph.nodes[each.node]["shared"]}
        asked |= {
            each.reference.node for each in relatives(lifted.graph, below_negations(lifted.graph, root.reference)[0])
        }
    for root in lifted.statements:  # completion reads all that its antecedents mention
        if root.defines:
            formula = unfold(lifted, root, through_shared=True, through_comparisons=False)
            asked |= {formula.neurons[leaf].source for leaf in formula.leaves if leaf not in formula.heads}
    return asked


def reading(formula: Formula, analyses: Analyses, observers: Mapping[str, str]) -> Reading:
    """The formula as relevance sees it."""
    analysis = analyses.of(formula)
    observed = {
        index: analysis.hears(index)
        for index, neuron in enumerate(formula.neurons)
        if neuron.source in observers and neuron.kind != LEAF
    }
    return Reading(formula, analysis, observed)


def relevance(
    lifted: LiftedGraph,
    grounding: Grounding,
    readings: Sequence[Reading],
    asked: set[str],
    assumable: Collection[str] = (),
) -> Relevance:
    """Decided before the first round, from what is given, listed, asked and stated as a consequent, and what may be
    assumed later."""
    given: set[Side] = {(name, side) for name in (*lifted.closed_derived, *assumable) for side in SIDES}
    listed: set[str] = set()
    for name, table in grounding.atoms.tables.items():
        given |= {(name, side) for side in SIDES if len(table.deviating[side])}
        if len(table.deviating["listed"]):
            listed.add(name)
        if lifted.graph.has_node(name) and lifted.graph.nodes[name]["shared"]:  # listed atoms may loosen its default
            given |= {(name, side) for side, end in zip(SIDES, table.default, strict=True) if end != (side == "upper")}
    heads = {side for each in readings for side in _consequents(each.formula)}
    return decide(readings, given, listed, asked, heads)


def _consequents(formula: Formula) -> set[Side]:
    """The sides that a statement's consequent literals name: ``-> A & ~B`` derives A's lower and B's upper."""
    found: set[Side] = set()
    if formula.auxiliary is not None or formula.neurons[formula.top].kind != "implies":
        return found
    stack = [(formula.neurons[formula.top].operands[1], "lower")]
    while stack:
        index, side = stack.pop()
        neuron = formula.neurons[index]
        if neuron.kind == LEAF:
            found.add((neuron.source, side))
        elif neuron.kind == "and" and side == "lower":
            stack += [(operand, side) for operand in neuron.operands]
        elif neuron.kind == "not":
            stack.append((neuron.operands[0], "upper" if side == "lower" else "lower"))
    return found
