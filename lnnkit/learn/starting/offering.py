"""What is proposed for the comparisons of a program whose relation, units or constants have no value to start from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lnnkit.check.program import CheckedProgram
from lnnkit.graph.lifting import build
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison, learned_comparison
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters.parameters import Parameter, at
from lnnkit.learn.starting.examples import Examples, examples
from lnnkit.learn.starting.known_rows import with_labels
from lnnkit.learn.starting.label_cells import signs
from lnnkit.learn.starting.nearest_labels import nearest
from lnnkit.learn.starting.proposal import Proposal
from lnnkit.learn.starting.proposals import proposals
from lnnkit.store.stated_facts import given_facts


@dataclass(frozen=True, slots=True)
class Offer:
    """A comparison, what the data show of it, and what is proposed for it."""

    comparison: LearnedComparison
    shown: Sequence[Examples]
    proposals: Sequence[Proposal] = ()


def offers(
    program: CheckedProgram,
    parameters: Sequence[Parameter],
    started: Mapping[str, float],
    labels: Labels,
    mentioned: set[str],
    seed: int,
) -> list[Offer]:
    """Proposals for each comparison that holds parameters without a value among those ``started``; what tells the
    labels most comes first, and what follows is proposed by what that leaves of them."""
    waiting = list(_waiting(program, parameters, started, labels, mentioned))
    rest = labels.truth
    known, found = dict(started), list[Offer]()
    while waiting:
        generator = torch.Generator().manual_seed(seed)
        offered = [_proposed(each, rest, known, generator) for each in waiting]
        first = max(range(len(waiting)), key=lambda place: offered[place][0].gain if offered[place] else -1.0)
        own, some = waiting.pop(first), offered[first]
        if some:
            found.append(replace(own, proposals=some))
            known |= some[0].values
            rest = _less(own, known, rest)
    return found


def solved_for(program: CheckedProgram, parameters: Sequence[Parameter]) -> frozenset[str]:
    """The parameters that are constants of equations."""
    zeros = {each.name: each.start or 0.0 for each in parameters}
    graph = build(at(program, zeros)).graph
    equations = [node for node, data in graph.nodes(data=True) if data["kind"] == "compare" and data["operator"] == "="]
    learned = (learned_comparison(graph, node, zeros) for node in equations)
    return frozenset(name for each in learned if each is not None for name in each.constants)


def _proposed(offer: Offer, truth: Tensor, started: Mapping[str, float], generator: torch.Generator) -> list[Proposal]:
    """For a comparison; where its relation is to be found, or an equation solved, with its constants where they start,
    and elsewhere: which relation holds at a start tells little of where it holds best."""
    own = offer.comparison
    found = proposals(own, offer.shown, truth, started, generator)
    elsewhere = {name: value for name, value in started.items() if name not in own.constants}
    settled = set(own.relation) <= started.keys() and own.sign != "="
    if settled or len(elsewhere) == len(started):
        return found
    found += proposals(own, offer.shown, truth, elsewhere, generator)
    return sorted(found, key=lambda each: -round(each.gain, 9))


def _waiting(
    program: CheckedProgram,
    parameters: Sequence[Parameter],
    started: Mapping[str, float],
    labels: Labels,
    mentioned: set[str],
) -> Iterator[Offer]:
    zeros = {each.name: started.get(each.name, 0.0) for each in parameters}
    lifted = build(at(program, zeros))
    graph = lifted.graph
    index, given, _ = given_facts(program, mentioned)
    facts = with_labels({each.predicate: each for each in given}, labels)
    for node, data in graph.nodes(data=True):
        own = learned_comparison(graph, node, zeros) if data["kind"] == "compare" else None
        if own is not None and not started.keys() >= {*own.names, *own.relation}:
            told = nearest(lifted, (node,), labels.of_arity(len(graph.nodes[node]["sorts"])))
            yield Offer(own, examples(graph, node, own, facts, index, labels, told))


def _less(own: Offer, known: Mapping[str, float], rest: Tensor) -> Tensor:
    """What a comparison with these values leaves of the labels' truth."""
    rest = rest.clone()
    for shown in own.shown:
        if not own.comparison.names or not shown.labelled:
            continue
        values = {name: torch.tensor([known.get(name, 0.0)], dtype=torch.float64) for name in own.comparison.names}
        cells = signs(shown.difference(values))[0]
        for cell in torch.unique(cells).tolist():
            mine = shown.labels[cells == cell]
            rest[mine] -= rest[mine].mean()
    return rest
