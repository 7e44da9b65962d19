"""Examples for a comparison: rows whose numbers are all given by facts, with the labels about the same entities, of
predicates in the comparison's own rules, or else in the nearest rules that share a predicate with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import any_set
from lnnkit.formula.number_terms import comparison
from lnnkit.graph.lifted import TERMS, LiftedGraph, NeuronGraph
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.labels import Labels
from lnnkit.numeric import Interval, same
from lnnkit.store.layout import Given


def known_rows(
    atoms: Sequence[tuple[str, tuple[int | str, ...]]], facts: Mapping[str, NumberFacts], index: Mapping[str, int]
) -> tuple[tuple[Tensor, ...], list[Interval]] | None:
    """The tuples of entities for which all numbers are known, and these; None if they are about different tuples."""
    shapes = {arguments: name for name, arguments in atoms if any(isinstance(each, int) for each in arguments)}
    if len(shapes) != 1 or any(name not in facts for name, _ in atoms):
        return None
    ((shape, name),) = shapes.items()
    if len(set(shape)) != len(shape) or max(len(index), 1) ** len(shape) >= 2**62:
        return None
    first = np.unique(_keys(facts[name].columns, len(index)).numpy(), return_index=True)[1]
    columns = tuple(column[torch.from_numpy(first)] for column in facts[name].columns)
    places = [
        joined(
            facts[name].columns,
            columns if arguments == shape else tuple(torch.tensor([index[str(each)]]) for each in arguments),
        ).expand(len(first))
        for name, arguments in atoms
    ]
    known = torch.stack(places).min(0).values >= 0
    pairs = [(facts[name], place[known]) for (name, _), place in zip(atoms, places, strict=True)]
    numbers = [Interval(own.lower[place].double(), own.upper[place].double()) for own, place in pairs]
    return tuple(column[known] for column in columns), numbers


def _keys(columns: Sequence[Tensor], radix: int) -> Tensor:
    """One number for each tuple, in their order."""
    found = torch.zeros(len(columns[0]) if columns else 1, dtype=torch.int64)
    for column in columns:
        found = found * radix + column.long()
    return found


def joined(columns: tuple[Tensor, ...], ids: tuple[Tensor, ...]) -> Tensor:
    """For each tuple of ``ids`` its row among the tuples ``columns``; -1 if it is absent."""
    radix = 1 + max((int(column.max()) for column in (*columns, *ids) if len(column)), default=0)
    keys, wanted = _keys(columns, radix), _keys(ids, radix)
    if not len(keys):
        return torch.full_like(wanted, -1)
    order = keys.argsort()
    place = torch.searchsorted(keys[order], wanted).clamp(max=len(keys) - 1)
    return torch.where(keys[order][place] == wanted, order[place], -1)


class NumberFacts(NamedTuple):
    """What is known of a predicate or number: entities by argument, and the bounds of each tuple of them."""

    columns: tuple[Tensor, ...]
    lower: Tensor
    upper: Tensor


def in_tensors(facts: Sequence[Given]) -> dict[str, NumberFacts]:
    """Facts by predicate, their columns and bounds copied to tensors."""
    return {
        own.predicate: NumberFacts(
            tuple(map(torch.tensor, own.columns)), torch.tensor(own.lower), torch.tensor(own.upper)
        )
        for own in facts
    }


def with_labels(facts: Mapping[str, NumberFacts], labels: Labels) -> dict[str, NumberFacts]:
    """The facts, with labels of numbers added as facts."""
    found = dict(facts)
    for name, mine, ids in labels.by_name():
        if any_set(labels.numeric[mine]):
            own = NumberFacts(ids, labels.lower[mine], labels.upper[mine])
            known = found.get(name, NumberFacts(tuple(each[:0] for each in ids), own.lower[:0], own.upper[:0]))
            columns = tuple(map(torch.cat, zip(known.columns, own.columns, strict=True)))
            found[name] = NumberFacts(columns, torch.cat([known.lower, own.lower]), torch.cat([known.upper, own.upper]))
    return found


def nearest(lifted: LiftedGraph, nodes: Iterable[str], labelled: Collection[str]) -> frozenset[str]:
    """The ``labelled`` predicates in statements that contain any of the ``nodes``; if there are none, those in
    statements that share a predicate or a comparison with these, and so on. All of them if none is reached."""
    graph = lifted.graph
    tops = [root.reference.node for root in lifted.statements]  # without the numbers in comparisons:
    held = [{each for each in graph.below(top) if graph.nodes[each]["kind"] not in TERMS} for top in tops]
    reached = {*nodes}
    while True:
        wider = reached.union(*(each for each in held if each & reached))
        found = wider.intersection(labelled)
        if found or wider == reached:
            return frozenset(found or labelled)
        reached = wider


def crossings(difference: Callable[[float], Tensor]) -> tuple[Tensor, Tensor]:
    """For each row the value of a constant at which a difference is 0 (nan where it is not linear in the constant), and
    the slope. ``difference`` gives that of each row for a constant."""
    zero, one, two = map(difference, (0.0, 1.0, 2.0))
    slope = one - zero
    linear = ((two - one) - slope).abs() <= 1e-9 * (1 + slope.abs() + zero.abs())
    return torch.where(linear & (slope != 0), -zero / slope, torch.nan), slope


_MOST = 2000  # greatest number of rows used


@dataclass(frozen=True, slots=True)
class Examples:
    """``numbers`` (rows,) has the values of each number of ``comparison`` (midpoints of intervals if no row is exact).
    ``labels`` (rows,) is the label of each row, -1 for none: either all rows are about one predicate, or none has a
    label."""

    comparison: LearnedComparison
    numbers: tuple[Tensor, ...]
    labels: Tensor

    def difference(self, candidates: Mapping[str, Tensor]) -> Tensor:
        """``left - right``, ``[candidates, rows]``: 0 where the sides count as equal, NaN where one is undefined."""
        count, rows = len(next(iter(candidates.values()), torch.zeros(1))), len(self.labels)
        spread = {name: candidates[name][:, None].expand(count, rows) for name in self.comparison.names}
        left, right = self.sides(spread, count)
        return torch.where(same(left, right), 0.0, left - right)

    def sides(self, values: Mapping[str, Tensor], count: int) -> tuple[Tensor, Tensor]:
        """Both terms, ``[count, rows]``, for parameters of shape ``[count]``; nan where one is undefined."""
        own = {name: values[name].reshape(-1) for name in self.comparison.names}
        numbers = [Interval(each, each) for each in (number.repeat(count) for number in self.numbers)]
        left, right = (side.lower for side in self.comparison.sides(numbers, own))
        known = left.isfinite() & right.isfinite()
        shape = count, len(self.labels)
        return torch.where(known, left, torch.nan).reshape(shape), torch.where(known, right, torch.nan).reshape(shape)

    @property
    def labelled(self) -> bool:
        """Whether rows have labels."""
        return any_set(self.labels >= 0)

    def at(self, rows: Tensor) -> Examples:
        """Some rows."""
        return Examples(self.comparison, tuple(each[rows] for each in self.numbers), self.labels[rows])


def examples(
    graph: NeuronGraph,
    node: str,
    own: LearnedComparison,
    facts: Mapping[str, NumberFacts],
    index: Mapping[str, int],
    labels: Labels,
    told: Collection[str],
) -> list[Examples]:
    """The examples of a comparison: for each predicate ``told`` of as many arguments, and all without labels."""
    _, atoms = comparison(graph, node, tuple(range(len(graph.nodes[node]["sorts"]))))
    found = known_rows(atoms, facts, index)
    if found is None:
        return []
    columns, numbers = found
    values = [(low + high) / 2 for low, high in numbers]
    known, exact = (torch.ones(len(columns[0]), dtype=torch.bool) for _ in range(2))
    for (low, high), middle in zip(numbers, values, strict=True):
        known &= middle.isfinite()
        exact &= low == high
    if any_set(known & exact):
        known &= exact
    if not any_set(known):
        return []
    columns, values = tuple(each[known] for each in columns), [each[known] for each in values]
    made: list[Examples] = []
    for name, mine, ids in labels.by_name():
        if name in told and len(ids) == len(columns) and not any_set(labels.numeric[mine]):
            rows = joined(columns, ids)
            about = rows >= 0
            if any_set(about):  # these rows are all labelled
                made.append(_some(own, [each[rows[about]] for each in values], mine[about]))
    return [*made, _some(own, values, torch.full((len(columns[0]),), -1))]


def _some(own: LearnedComparison, values: Sequence[Tensor], labels: Tensor) -> Examples:
    count = len(labels)
    chosen = torch.arange(count)
    if count > _MOST:
        chosen = torch.linspace(0, count - 1, _MOST, dtype=torch.float64).round().long()
    return Examples(own, tuple(each[chosen].double() for each in values), labels[chosen])
