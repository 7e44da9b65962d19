"""What the data show of one comparison: rows of its numbers, and labels about the same entities."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import torch
from torch import Tensor

from lnnkit.flags import any_set, where_set
from lnnkit.formula.number_terms import comparison
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.labels import Labels
from lnnkit.learn.starting.known_rows import joined, known_rows
from lnnkit.numeric import Interval, same
from lnnkit.store.layout import Given

_MOST = 2000  # rows that are looked at


@dataclass(frozen=True, slots=True)
class Examples:
    """``numbers`` (rows,) are the values of each number of ``comparison``, all known (the middles of intervals where no
    row is known exactly); ``labels`` (rows,) the label that each row has an example of, -1 for none: rows are of one
    predicate, if they have labels at all."""

    comparison: LearnedComparison
    numbers: tuple[Tensor, ...]
    labels: Tensor

    def difference(self, candidates: Mapping[str, Tensor]) -> Tensor:
        """``left - right``, ``[candidates, rows]``, 0 where they count as equal, not a number where one is not defined;
        each parameter is ``[candidates]``."""
        count, rows = len(next(iter(candidates.values()), torch.zeros(1))), len(self.labels)
        spread = {name: candidates[name][:, None].expand(count, rows) for name in self.comparison.names}
        left, right = self.sides(spread, count)
        return torch.where(same(left, right), 0.0, left - right)

    def sides(self, values: Mapping[str, Tensor], count: int) -> tuple[Tensor, Tensor]:
        """Both terms, ``[count, rows]``, as each parameter is: no number where one of them is not defined."""
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
    graph: nx.MultiDiGraph,
    node: str,
    own: LearnedComparison,
    facts: Mapping[str, Given],
    index: Mapping[str, int],
    labels: Labels,
    told: Collection[str],
) -> list[Examples]:
    """The examples for a comparison, by those of the predicates ``told`` with labels of as many arguments, and all rows
    without labels. Of many rows some, evenly."""
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
    for number, (name, ids) in enumerate(zip(labels.names, labels.columns, strict=True)):
        if name in told and len(ids) == len(columns) and not any_set(labels.numeric[labels.predicate == number]):
            mine = where_set(labels.predicate == number)
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
