"""Examples for a comparison: rows whose numbers are all given by facts, with the labels about the same entities, of
predicates in the comparison's own rules, or else in the nearest rules that share a predicate with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import Array, any_set, set_at
from lnnkit.check.program import CheckedProgram
from lnnkit.engine.inference import infer
from lnnkit.engine.planning.compiling import Plans
from lnnkit.formula.number_terms import comparison
from lnnkit.graph.lifted import COMPARISON, LEAST, TERMS, LiftedGraph, NeuronGraph
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import unlimited
from lnnkit.learn.comparisons.learned_comparisons import LearnedComparison, learned_comparison
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters.rule_parameters import LearnedParameter, at
from lnnkit.numeric import Interval, same
from lnnkit.store.layout import Given
from lnnkit.store.stated_facts import given_facts
from lnnkit.store.tuple_set import TupleSet
from lnnkit.syntax.identifiers import AGGREGATES

_MOST = 2000  # greatest number of rows used


class ComparisonData:
    """The comparisons of a program, with the facts and ``labels`` about their numbers, of which ``train`` are for
    training. ``values`` are the starts of its parameters, 0 where there is none."""

    def __init__(
        self,
        program: CheckedProgram,
        parameters: Sequence[LearnedParameter],
        labels: Labels,
        train: Tensor,
        mentioned: set[str],
    ) -> None:
        self.values = {parameter.name: parameter.start or 0.0 for parameter in parameters}
        self.lifted = build(at(program, self.values))
        self.labels = labels
        self._program, self._mentioned, self._train = program, mentioned, train

    @cached_property
    def _facts(self) -> tuple[Mapping[str, int], dict[str, Given]]:
        """The entities, and what facts tell of each predicate, number, aggregate and derived number."""
        index, given, _ = given_facts(self._program, self._mentioned)
        facts = {table.predicate: table for table in given}
        nodes = self.lifted.graph.nodes.items()
        derived = {name for name, data in nodes if data["kind"] in AGGREGATES or "derived" in data}
        if derived:
            run = infer(Plans(self.lifted), index, given, guard=unlimited, round_limit=0, record=False)
            tables = run.grounding.atoms.tables
            for name in sorted(derived & tables.keys()):  # those of queries have none
                facts[name] = Given(name, tables[name].tuples.columns, *tables[name].bounds)
        return index, facts

    @cached_property
    def _facts_and_labels(self) -> dict[str, Given]:
        """The same facts, and the training labels of numbers."""
        facts, labels = dict(self._facts[1]), self.labels.some(self._train)
        for name, mine, ids in labels.by_name():
            if any_set(labels.numeric[mine]):
                labelled = (*ids, labels.lower[mine].numpy(), labels.upper[mine].numpy())
                known = (*facts[name].columns, facts[name].lower, facts[name].upper) if name in facts else ()
                *columns, lower, upper = map(np.concatenate, zip(known, labelled, strict=True)) if known else labelled
                facts[name] = Given(name, tuple(columns), lower, upper)
        return facts

    def learned(self) -> Iterator[tuple[str, LearnedComparison]]:
        """The comparisons with parameters, by node."""
        for node, data in self.lifted.graph.nodes.items():
            comparison = learned_comparison(self.lifted.graph, node, self.values) if data["kind"] == "compare" else None
            if comparison is not None:
                yield node, comparison

    def known_rows(self, node: str, *, labels: bool = False) -> tuple[tuple[Array, ...], list[Interval]] | None:
        """The tuples of entities for which all numbers of a comparison are known by facts, or also by ``labels``, and
        these; None if they are about different tuples."""
        (index, facts), graph = self._facts, self.lifted.graph
        facts = self._facts_and_labels if labels else facts
        _, atoms = comparison(graph, node, tuple(range(len(graph.nodes[node]["sorts"]))))
        shapes = {arguments: name for name, arguments in atoms if any(isinstance(term, int) for term in arguments)}
        if len(shapes) != 1 or any(name not in facts for name, _ in atoms):
            return None
        ((shape, name),) = shapes.items()
        if len(set(shape)) != len(shape):
            return None
        columns = tuple(np.unique(np.stack(facts[name].columns), axis=1))
        places: list[Array] = []
        for name, arguments in atoms:
            ids = columns if arguments == shape else tuple(np.array([index[str(term)]], np.int32) for term in arguments)
            places.append(np.broadcast_to(joined(facts[name].columns, ids), len(columns[0])))
        known = np.min(places, axis=0) >= 0
        pairs = [(facts[name], place[known]) for (name, _), place in zip(atoms, places, strict=True)]
        ends = ((table.lower[place], table.upper[place]) for table, place in pairs)
        numbers = [Interval(*(torch.from_numpy(end).double() for end in pair)) for pair in ends]
        return tuple(column[known] for column in columns), numbers

    def examples(self, node: str, comparison: LearnedComparison, *, every: bool) -> list[Examples]:
        """The examples of a comparison: for each of the nearest predicates of as many arguments, and all without
        labels. With the training labels of truths, and exact rows if there are any; or with ``every`` label and
        row."""
        rows, labels = self.known_rows(node, labels=not every), self.labels
        if rows is None:
            return []
        lower, upper = (torch.stack(ends) for ends in zip(*rows[1], strict=True))
        values = (lower + upper) / 2
        known = values.isfinite().all(0)
        exact = known & (lower == upper).all(0)
        known = exact if any_set(exact) and not every else known
        if not any_set(known):
            return []
        columns, values = tuple(column[known.numpy()] for column in rows[0]), values[:, known]
        arity = len(self.lifted.graph.nodes[node]["sorts"])
        near = nearest(self.lifted, (node,), {name for name, _, ids in labels.by_name() if len(ids) == arity})
        used = set_at(len(labels), self._train) & ~labels.numeric | every
        made: list[Examples] = []
        for name, mine, ids in labels.by_name():
            if name in near and len(ids) == len(columns):
                place = torch.from_numpy(joined(columns, ids))
                about = (place >= 0) & used[mine]
                if any_set(about):  # these rows are all labelled
                    made.append(_some(comparison, values[:, place[about]], mine[about], near[name]))
        return [*made, _some(comparison, values, torch.full((len(columns[0]),), -1))]


def joined(columns: tuple[Array, ...], ids: tuple[Array, ...]) -> Array:
    """For each tuple of ``ids`` its row among the tuples ``columns``, the first one; -1 if it is absent."""
    radix = 1 + max((int(column.max()) for column in (*columns, *ids) if len(column)), default=0)
    known, (rows, wanted) = TupleSet(len(columns), radix), (len(of[0]) if of else 1 for of in (columns, ids))
    _, first = known.add(columns, rows)
    numbers = known.find(ids, wanted)
    return np.where(numbers >= 0, first[numbers], -1).astype(np.int64)


def nearest(lifted: LiftedGraph, nodes: Iterable[str], labelled: Collection[str]) -> dict[str, int]:
    """The ``labelled`` predicates in statements that contain any of the ``nodes``; if there are none, those in
    statements that share a predicate or a comparison with these, and so on. All of them if none is reached. Each with 1
    if its truth increases with that of the nodes, -1 if it decreases, 0 if both or if no statement tells."""
    graph = lifted.graph
    tops = [root.reference.node for root in lifted.statements]  # without the numbers in comparisons:
    held = [{node for node in graph.below(top) if graph.nodes[node]["kind"] not in TERMS} for top in tops]
    sides = [_sides(graph, top) for top in tops]
    reached = {*nodes}
    directions = dict.fromkeys(reached, 1)
    while True:
        wider = reached.union(*(statement for statement in held if statement & reached))
        signs: dict[str, int] = {}
        for parts, relation in sides:
            # One side of an implication has signs by those of the other
            for mine, theirs in permutations(parts, 2):
                for start in mine.keys() & directions.keys():
                    for name, sign in theirs.items():
                        sign *= relation * mine[start] * directions[start]
                        signs[name] = sign if signs.get(name, sign) == sign else 0
        directions = signs | directions
        near = wider.intersection(labelled)
        if near or wider == reached:
            return {name: directions.get(name, 0) for name in near or labelled}
        reached = wider


_Signs = Mapping[str, int]


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


@dataclass(frozen=True, slots=True)
class Examples:
    """``numbers`` (rows,) has the values of each number of ``comparison``, or midpoints of intervals. ``labels``
    (rows,) is the label of each row, -1 for none: either all rows are about one predicate, or none has a label.
    ``direction`` is 1 where the label's truth increases with the comparison's, -1 where it decreases."""

    comparison: LearnedComparison
    numbers: tuple[Tensor, ...]
    labels: Tensor
    direction: int = 0

    def difference(self, candidates: Mapping[str, Tensor]) -> Tensor:
        """``left - right``, ``[candidates, rows]``: 0 where the sides count as equal, NaN where one is undefined."""
        count = len(next(iter(candidates.values()), torch.zeros(1)))
        left, right = self.sides({name: values[:, None] for name, values in candidates.items()}, count)
        return torch.where(same(left, right), 0.0, left - right)

    def turns(self, candidates: Mapping[str, Tensor], constant: str) -> tuple[Tensor, Tensor]:
        """``[candidates, rows]``: the values of a constant at which `difference` is 0 (nan where it is not linear in
        that), and the slopes."""
        count = len(candidates[constant])
        tried = (torch.full((count,), value, dtype=torch.float64) for value in (0.0, 1.0, 2.0))
        zero, one, two = (self.difference({**candidates, constant: value}) for value in tried)
        slope = one - zero
        linear = ((two - one) - slope).abs() <= 1e-9 * (1 + slope.abs() + zero.abs())
        return torch.where(linear & (slope != 0), -zero / slope, torch.nan), slope

    def sides(self, values: Mapping[str, Tensor], count: int) -> tuple[Tensor, Tensor]:
        """Both terms, ``[count, rows]``, for parameters that expand to that shape; nan where one is undefined."""
        shape = count, len(self.labels)
        parameters = {name: values[name].expand(shape).reshape(-1) for name in self.comparison.names}
        numbers = [Interval(column, column) for column in (number.repeat(count) for number in self.numbers)]
        left, right = (side.lower for side in self.comparison.sides(numbers, parameters))
        known = left.isfinite() & right.isfinite()
        return torch.where(known, left, torch.nan).reshape(shape), torch.where(known, right, torch.nan).reshape(shape)

    @property
    def labelled(self) -> bool:
        return any_set(self.labels >= 0)

    def at(self, rows: Tensor) -> Examples:
        return replace(self, numbers=tuple(number[rows] for number in self.numbers), labels=self.labels[rows])


def _some(comparison: LearnedComparison, values: Tensor, labels: Tensor, direction: int = 0) -> Examples:
    rows = torch.linspace(0, len(labels) - 1, min(len(labels), _MOST), dtype=torch.float64).round().long()
    return Examples(comparison, values.double().unbind(), labels, direction).at(rows)
