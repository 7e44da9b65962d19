"""Start values of thresholds that the program leaves open: the best split of the labels, as in a regression tree.

A comparison that is linear in its threshold changes its truth where this passes a known value of each row. The
candidates are the midpoints between these values (for an equality, the values). Among those on whose true side the
rules demand it, the split with the greatest variance reduction is taken; the median if no label is about the same
entities."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from lnnkit.arrays import any_set, where_set
from lnnkit.check.program import CheckedProgram
from lnnkit.graph.lifted import COMPARISON, LEAST, LiftedGraph, NeuronGraph
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters.rule_parameters import LearnedParameter
from lnnkit.learn.starting.comparison_examples import ComparisonData, crossings, joined
from lnnkit.numeric import Interval, same

_Signs = Mapping[str, int]


def association(lifted: LiftedGraph, node: str, labelled: Collection[str]) -> dict[str, int]:
    """For each ``labelled`` predicate nearest to the node's statements: 1 if it increases with the truth of ``node``,
    -1 if it decreases, 0 if both. Predicates that no statement relates to it are left out."""
    graph, reached = lifted.graph, {node: 1}
    while True:
        signs: dict[str, int] = {}
        for root in lifted.statements:
            for name, sign in _across(graph, root.reference.node, reached):
                signs[name] = sign if signs.get(name, sign) == sign else 0
        related = {name: sign for name, sign in signs.items() if name in labelled}
        wider = {**signs, **reached}
        if related or wider.keys() == reached.keys():
            return related
        reached = wider


def _across(graph: NeuronGraph, top: str, reached: _Signs) -> list[tuple[str, int]]:
    """The signs that a statement implies for one side of its implication, given the signs on the other."""
    sides, relation = _sides(graph, top)
    return [
        (name, relation * mine[start] * reached[start] * sign)
        for place, mine in enumerate(sides)
        for start in mine.keys() & reached.keys()
        for other, theirs in enumerate(sides)
        if other != place
        for name, sign in theirs.items()
    ]


def _sides(graph: NeuronGraph, top: str) -> tuple[list[_Signs], int]:
    """The two sides of a statement, and whether it makes them equal (1) or opposite (-1)."""
    kind = graph.nodes[top]["kind"]
    below = [operand for operand, _ in graph.operands[top]] if kind != COMPARISON else []
    if kind == LEAST:
        return _sides(graph, below[0])
    if kind == "not" and graph.nodes[below[0]]["kind"] == "and":
        return [_signs(graph, operand) for operand, _ in graph.operands[below[0]]], -1
    alike = {"implies": 1, "iff": 1, "or": -1, "xor": -1}.get(kind)
    return ([], 0) if alike is None else ([_signs(graph, operand) for operand in below], alike)


def _signs(graph: NeuronGraph, top: str) -> _Signs:
    """The polarity of predicates and comparisons below a neuron: 1 raises it, -1 lowers it, 0 either."""
    signs: dict[str, int] = {}
    waiting = [(top, 1)]
    while waiting:
        node, sign = waiting.pop()
        if node in signs and signs[node] in (sign, 0):
            continue
        signs[node] = sign = 0 if node in signs else sign
        kind = graph.nodes[node]["kind"]
        for place, (operand, _) in enumerate(graph.operands[node] if kind != COMPARISON else ()):
            flips = kind == "not" or (kind == "implies" and place == 0)
            waiting.append((operand, 0 if kind in ("iff", "xor") else -sign if flips else sign))
    return signs


_QUANTILES = 64  # candidates for a number with more values: a start is then at most 1/64 of the rows from the best one


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a threshold, and the spread of the compared values. For each row of the data, ``turns`` (n,) is the
    threshold at which the comparison changes, and ``columns`` (n,) are its entities; both are absent if its numbers
    contain a learned unit."""

    value: float
    spread: float
    turns: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.float64))
    columns: tuple[Tensor, ...] = ()


def starts(
    program: CheckedProgram, parameters: Sequence[LearnedParameter], labels: Labels, mentioned: set[str]
) -> dict[str, Start]:
    """For each parameter that is a constant in a comparison of known relation and units: its start from the data."""
    started = {parameter.name for parameter in parameters if parameter.start is not None}
    data = ComparisonData(program, parameters, labels, mentioned)
    waiting: dict[str, _ThresholdRows] = {}
    for node, comparison in data.learned():
        rows = data.known_rows(node) if comparison.constants and comparison.started(started) else None
        if rows is None:
            continue
        for name in comparison.constants:
            known, slope = crossings(partial(_difference, comparison, rows[1], data.values, name))
            good = known.isfinite()
            if name not in waiting and any_set(good):
                columns = tuple(column[good] for column in rows[0])
                near = data.labelled(node, len(columns))
                direction = association(data.lifted, node, near)
                waiting[name] = _ThresholdRows(known[good], columns, comparison.sign, slope[good] > 0, near, direction)
    return _chosen(waiting, labels)


def _difference(
    comparison: LearnedComparison, numbers: Sequence[Interval], values: Mapping[str, float], name: str, value: float
) -> Tensor:
    """(n,) the difference of a comparison at the middles of ``numbers``, with a ``value`` for one parameter."""
    middles = [Interval(middle, middle) for middle in ((low + high) / 2 for low, high in numbers)]
    now = {key: torch.tensor(value if key == name else values[key], dtype=torch.float64) for key in comparison.names}
    return comparison.difference(middles, now).lower


@dataclass(frozen=True, slots=True)
class _ThresholdRows:
    """For each row of the data: the threshold at which the comparison changes, its entities, and whether the difference
    rises with it. Labels of the predicates ``labelled`` decide; ``direction`` is 1 where their truth increases with the
    comparison's, -1 where it decreases."""

    values: Tensor
    columns: tuple[Tensor, ...]
    sign: str
    rising: Tensor
    labelled: frozenset[str]
    direction: Mapping[str, int]

    @property
    def exact(self) -> bool:
        return self.sign in ("=", "!=")

    def true_at(self, threshold: float, place: Tensor) -> Tensor:
        """A mask of rows for which the comparison is true; for an equality, where the threshold is met."""
        turns = self.values[place]
        if self.exact:
            return same(turns, torch.tensor(threshold, dtype=turns.dtype))
        return (turns > threshold) != (self.rising[place] == (self.sign in (">", ">=")))


def _chosen(waiting: Mapping[str, _ThresholdRows], labels: Labels) -> dict[str, Start]:
    """The starts, chosen greedily: the most informative first, the next on the residual of the labels."""
    chosen: dict[str, Start] = {}
    rest = ((labels.lower + labels.upper) / 2).double()
    while len(chosen) < len(waiting):
        cuts = {name: _best_cut(waiting[name], labels, rest) for name in waiting if name not in chosen}
        name = min(cuts, key=lambda key: (-cuts[key].gain, key))
        best, rows = cuts[name], waiting[name]
        spread = float(rows.values.std()) if len(rows.values) > 1 else 1.0
        chosen[name] = Start(best.value, spread, rows.values, rows.columns)
        for part in best.sides:
            if len(part):
                rest[part] -= rest[part].mean()
    return chosen


class _BestCut(NamedTuple):
    """A threshold, its gain, and the labels (by index) for which the comparison is true, and false."""

    value: float
    gain: float = 0.0
    sides: tuple[Tensor, ...] = ()


def _best_cut(rows: _ThresholdRows, labels: Labels, truth: Tensor) -> _BestCut:
    """The candidate with the greatest variance reduction; the median if no label is about these entities."""
    best = _BestCut(float(rows.values.median()))
    cuts = _candidates(rows.values, exact=rows.exact).tolist()
    for name, mine, ids in labels.by_name():
        if len(ids) != len(rows.columns) or name not in rows.labelled:
            continue
        place = joined(rows.columns, ids)
        there = where_set(place >= 0)
        y, direction = truth[mine[there]], rows.direction.get(name, 0)
        if not len(y):
            continue
        before = float(((y - y.mean()) ** 2).sum())
        for cut in cuts:
            true = rows.true_at(cut, place[there])
            after = sum(float(((part - part.mean()) ** 2).sum()) for part in (y[true], y[~true]) if len(part))
            gain, more = before - after, float(y[true].mean() - y[~true].mean())
            if not rows.exact and rows.sign != "<?>" and direction * more < 0:
                continue
            # of two equally informative values, the one at which a crisp rule is right
            if rows.exact and (more > 0) == (rows.sign == "="):
                gain *= 1 + 1e-9
            if gain > best.gain + 1e-12:
                best = _BestCut(cut, gain, (mine[there[true]], mine[there[~true]]))
    return best


def _candidates(values: Tensor, *, exact: bool) -> Tensor:
    """Distinct values (for an equality), or midpoints of neighbours; quantiles if there are many."""
    distinct = torch.unique(values)
    place = torch.arange(len(distinct) if exact else max(len(distinct) - 1, 1))
    if len(distinct) > _QUANTILES:
        shares = torch.arange(1, _QUANTILES).double() / _QUANTILES
        some = values.sort().values[(shares * (len(values) - 1)).long()]
        place = torch.unique(torch.searchsorted(distinct, some))
    after = place if exact else (place + 1).clamp(max=len(distinct) - 1)
    return (distinct[place] + distinct[after]) / 2
