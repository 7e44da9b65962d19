"""Starts, from examples, of what the program leaves open in comparisons: of thresholds, by the best split of the labels
as in a regression tree; and candidates where the relation, units or other constants have no initial value.

A comparison that is linear in its threshold changes its truth where this passes a known value of each row. The starts
tried are the midpoints between these values (for an equality, the values). Among those on whose true side the rules
demand it, the split with the greatest variance reduction is taken; the median if no label is about the same entities.

Candidates are units with integral weights, each with the best threshold as constant, and a ``<?>`` as each of the six
relations. Those that explain most of the labels come first. Only inference takes the rest of the formula into account,
so `lnnkit.learn.fitting.chosen_values` makes the choice."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from lnnkit.arrays import any_set, where_set
from lnnkit.check.program import CheckedProgram
from lnnkit.graph.lifted import COMPARISON, LEAST, LiftedGraph, NeuronGraph
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters.rule_parameters import LearnedParameter
from lnnkit.learn.starting.candidate_search import (
    Candidate,
    WeightGrid,
    equation_proposals,
    grid,
    signs,
    split_by_cells,
    split_by_cut,
    split_by_value,
)
from lnnkit.learn.starting.comparison_examples import ComparisonData, Examples, crossings, joined
from lnnkit.numeric import Interval, same
from lnnkit.numeric.units.gated_units import SATURATED
from lnnkit.numeric.units.nsr import READOUTS, RELATIONS, RelationName

_Signs = Mapping[str, int]


def association(lifted: LiftedGraph, node: str, labelled: Collection[str]) -> dict[str, int]:
    """For each ``labelled`` predicate nearest to the node's statements: 1 if it increases with the truth of ``node``,
    -1 if it decreases, 0 if both. Predicates that no statement relates to it are left out."""
    graph, reached = lifted.graph, {node: 1}
    while True:
        signs: dict[str, int] = {}
        for root in lifted.statements:
            sides, relation = _sides(graph, root.reference.node)
            # One side of an implication has signs by those of the other
            for mine, theirs in permutations(sides, 2):
                for start in mine.keys() & reached.keys():
                    for name, sign in theirs.items():
                        sign *= relation * mine[start] * reached[start]
                        signs[name] = sign if signs.get(name, sign) == sign else 0
        related = {name: sign for name, sign in signs.items() if name in labelled}
        wider = {**signs, **reached}
        if related or wider.keys() == reached.keys():
            return related
        reached = wider


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
        if signs.get(node) in (sign, 0):
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
                rising = (slope[good] > 0) == (comparison.sign in (">", ">="))
                waiting[name] = _ThresholdRows(known[good], columns, comparison.sign, rising, near, direction)
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
    """For each row of the data: the threshold at which the comparison changes, its entities, and whether it becomes
    true there as the threshold rises. Labels of the predicates ``labelled`` decide; ``direction`` is 1 where their
    truth increases with the comparison's, -1 where it decreases."""

    values: Tensor
    columns: tuple[Tensor, ...]
    sign: str
    rising: Tensor
    labelled: frozenset[str]
    direction: Mapping[str, int]

    @property
    def exact(self) -> bool:
        return self.sign in ("=", "!=")


def _chosen(waiting: Mapping[str, _ThresholdRows], labels: Labels) -> dict[str, Start]:
    """The starts, chosen greedily: the most informative first, the next on the residual of the labels."""
    chosen: dict[str, Start] = {}
    rest = ((labels.lower + labels.upper) / 2).double()
    while len(chosen) < len(waiting):
        cuts = {name: _best_cut(waiting[name], labels, rest) for name in waiting if name not in chosen}
        name = min(cuts, key=lambda key: (-cuts[key].gain, key))
        best, values = cuts[name], waiting[name].values
        spread = float(values.std()) if len(values) > 1 else 1.0
        chosen[name] = Start(best.value, spread, values, waiting[name].columns)
        for part in filter(len, best.sides):
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
        turns, rising = rows.values[place[there]], rows.rising[place[there]]
        for cut in cuts:
            # For an equality, where the threshold is met
            true = same(turns, torch.tensor(cut, dtype=turns.dtype)) if rows.exact else (turns > cut) != rising
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


_BEST = 12  # candidate weights proposed
_BEST_RELATED = 3  # the same, if each is combined with six relations
_UNTOLD = 64  # the same, if no example distinguishes them
_SOFT = 2.0  # factor of a relation's readout
_CHUNK = 500_000  # differences evaluated at a time

CutKind = Literal["order", "value", "none"]


def _proposals(
    offer: ComparisonCandidates, truth: Tensor, started: Mapping[str, float], generator: torch.Generator
) -> list[Candidate]:
    """Candidates for the parameters of a comparison not in ``started``, by the ``truth`` of each label."""
    comparison = offer.comparison
    unstarted = [name for name in (*comparison.names, *comparison.relation) if name not in started]
    weights = grid(comparison.units, unstarted)
    constants = [name for name in comparison.constants if name in unstarted]
    relations: tuple[RelationName | None, ...] = RELATIONS if set(comparison.relation) & set(unstarted) else (None,)
    several: Sequence[CutKind] = ("order", "value") if relations != (None,) else ()
    cuts = several or (("value",) if comparison.sign in ("=", "!=") else ("order",)) if constants else ("none",)
    proposed: list[Candidate] = []
    for examples in offer.shown:
        if comparison.sign == "=" and (weights.names or constants):
            proposed += equation_proposals(examples, truth, started, weights, constants, generator)
        for cut in cuts if examples.labelled else ():
            proposer = _CandidateProposer(examples, truth[examples.labels], started, weights, constants, cut, relations)
            proposed += proposer.candidates(generator)
    if not proposed and not constants:
        best, _ = weights.best(lambda candidates: torch.zeros(len(candidates)), _UNTOLD // len(relations), generator)
        rows = [dict(zip(weights.names, row, strict=True)) for row in best.tolist()]
        proposed = [Candidate(row | _readout(comparison, name), 0.0) for row in rows for name in relations]
    return proposed


def _readout(comparison: LearnedComparison, name: RelationName | None) -> dict[str, float]:
    """Values of a readout: large for truths of 0 and 1 or, if a scale softens them, small, to stay learnable."""
    if name is None:
        return {}
    size = SATURATED if comparison.crisp else _SOFT
    return {key: size * value for key, value in zip(comparison.relation, READOUTS[name], strict=True)}


@dataclass(frozen=True, slots=True)
class _CandidateProposer:
    """Makes candidates from the examples of one predicate: the first constant at the ``cut``, others at 0."""

    shown: Examples
    truth: Tensor
    started: Mapping[str, float]
    weights: WeightGrid
    constants: Sequence[str]
    cut: CutKind
    relations: Sequence[RelationName | None]

    def candidates(self, generator: torch.Generator) -> list[Candidate]:
        most = _BEST if self.relations == (None,) else _BEST_RELATED
        best, gains = self.weights.best(lambda candidates: self._split(candidates)[0], most, generator)
        possible = self.relations
        if possible != (None,) and self.cut != "none":  # those that differ at the cut; between two values none is equal
            possible = (">", "<") if self.cut == "order" else ("=", "!=", ">=", "<=", ">", "<")
        comparison, made = self.shown.comparison, []
        for row, gain in zip(best, gains.tolist(), strict=True):
            values, spreads = dict(zip(self.weights.names, row.tolist(), strict=True)), {}
            for constant in self.constants[:1]:
                crossings = self._crossings(row[None])[0]
                known = crossings[crossings.isfinite()]
                if len(known):
                    values[constant] = float(self._split(row[None])[1])
                    spreads[constant] = float(known.std()) if len(known) > 1 else 1.0
            if len(spreads) == len(self.constants[:1]):
                made += [Candidate(values | _readout(comparison, name), gain, spreads) for name in possible]
        return made

    def _split(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        """The score of candidates, and the best constant of each."""
        size = max(1, _CHUNK // max(1, len(self.truth)))
        gains, cuts = zip(*map(self._split_by, candidates.split(size)), strict=True)
        return torch.cat(gains), torch.cat(cuts)

    def _split_by(self, candidates: Tensor) -> tuple[Tensor, Tensor]:
        if self.cut != "none":
            split = split_by_cut if self.cut == "order" else split_by_value
            return split(self._crossings(candidates), self.truth)
        cells = signs(self._difference(candidates))
        sign = self.shown.comparison.sign
        if sign != "<?>":  # two cells
            merged = (0, 1, 0) if sign in ("=", "!=") else (0, 0, 1) if sign in (">", "<=") else (0, 1, 1)
            cells = torch.where(cells < 0, -1, torch.tensor(merged)[cells.clamp(min=0)])
        return split_by_cells(cells, self.truth), torch.zeros(len(candidates), dtype=torch.float64)

    def _difference(self, candidates: Tensor, constant: float = 0.0) -> Tensor:
        fixed = {**dict.fromkeys(self.constants, 0.0), **self.started, **dict.fromkeys(self.constants[:1], constant)}
        values = {name: torch.full((len(candidates),), value, dtype=torch.float64) for name, value in fixed.items()}
        return self.shown.difference(values | dict(zip(self.weights.names, candidates.unbind(1), strict=True)))

    def _crossings(self, candidates: Tensor) -> Tensor:
        return crossings(partial(self._difference, candidates))[0]


@dataclass(frozen=True, slots=True)
class ComparisonCandidates:
    """A comparison, its examples, and its candidates."""

    comparison: LearnedComparison
    shown: Sequence[Examples]
    proposals: Sequence[Candidate] = ()


def offers(data: ComparisonData, started: Mapping[str, float], seed: int) -> list[ComparisonCandidates]:
    """The candidates for each comparison with parameters that are not ``started``, the most informative first; later
    ones by what is left of the labels."""
    waiting = [
        ComparisonCandidates(comparison, data.examples(node, comparison))
        for node, comparison in data.learned()
        if not started.keys() >= {*comparison.names, *comparison.relation}
    ]
    rest, known, chosen = data.labels.truth, dict(started), list[ComparisonCandidates]()
    while waiting:
        generator = torch.Generator().manual_seed(seed)
        waiting = [replace(offer, proposals=_proposed(offer, rest, known, generator)) for offer in waiting]
        offer = max(waiting, key=lambda offer: offer.proposals[0].gain if offer.proposals else -1.0)
        waiting = [other for other in waiting if other is not offer]
        if offer.proposals:
            chosen.append(offer)
            known |= offer.proposals[0].values
            rest = _less(offer, known, rest)
    return chosen


def _proposed(
    offer: ComparisonCandidates, truth: Tensor, started: Mapping[str, float], generator: torch.Generator
) -> list[Candidate]:
    """The candidates for one comparison, the most informative first. For an unknown relation, or an equation, given
    starts are tried and others."""
    comparison = offer.comparison
    candidates = _proposals(offer, truth, started, generator)
    elsewhere = {name: value for name, value in started.items() if name not in comparison.constants}
    settled = set(comparison.relation) <= started.keys() and comparison.sign != "="
    if not settled and len(elsewhere) < len(started):
        candidates += _proposals(offer, truth, elsewhere, generator)
    return sorted(candidates, key=lambda candidate: -round(candidate.gain, 9))


def _less(offer: ComparisonCandidates, known: Mapping[str, float], rest: Tensor) -> Tensor:
    """The labels' truth minus what a comparison with these values explains."""
    rest = rest.clone()
    for shown in offer.shown:
        if not offer.comparison.names or not shown.labelled:
            continue
        values = {name: torch.tensor([known.get(name, 0.0)], dtype=torch.float64) for name in offer.comparison.names}
        cells = signs(shown.difference(values))[0]
        for cell in torch.unique(cells).tolist():
            mine = shown.labels[cells == cell]
            rest[mine] -= rest[mine].mean()
    return rest
