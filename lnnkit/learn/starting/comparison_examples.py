"""Examples for a comparison: rows whose numbers are all given by facts, with the labels about the same entities, of
predicates in the comparison's own rules, or else in the nearest rules that share a predicate with them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from lnnkit.arrays import any_set
from lnnkit.check.program import CheckedProgram
from lnnkit.engine.inference import infer
from lnnkit.engine.planning.compiling import Plans
from lnnkit.formula.number_terms import comparison
from lnnkit.graph.lifted import TERMS, LiftedGraph
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import unlimited
from lnnkit.learn.arithmetic.learned_comparisons import LearnedComparison, learned_comparison
from lnnkit.learn.labels import Labels
from lnnkit.learn.parameters.rule_parameters import LearnedParameter, at
from lnnkit.numeric import Interval, same
from lnnkit.store.stated_facts import given_facts
from lnnkit.store.tuple_set import TupleSet
from lnnkit.syntax.identifiers import AGGREGATES

_MOST = 2000  # greatest number of rows used


class NumberFacts(NamedTuple):
    """What is known of a predicate or number: entities by argument, and the bounds of each tuple of them."""

    columns: tuple[Tensor, ...]
    lower: Tensor
    upper: Tensor


class ComparisonData:
    """The comparisons of a program, with the facts and ``labels`` about their numbers. ``values`` are the starts of its
    parameters, 0 where there is none."""

    def __init__(
        self,
        program: CheckedProgram,
        parameters: Sequence[LearnedParameter],
        labels: Labels,
        mentioned: set[str],
        *,
        with_labels: bool = False,
    ) -> None:
        """``with_labels``: labels of numbers count as facts."""
        self.values = {parameter.name: parameter.start or 0.0 for parameter in parameters}
        self.lifted = build(at(program, self.values))
        self.labels = labels
        self._program, self._mentioned, self._with_labels = program, mentioned, with_labels

    @cached_property
    def _facts(self) -> tuple[Mapping[str, int], dict[str, NumberFacts]]:
        """The entities, and what facts tell of each predicate, number and aggregate."""
        index, given, _ = given_facts(self._program, self._mentioned)
        facts: dict[str, NumberFacts] = {}
        for table in given:
            columns, ends = tuple(map(torch.tensor, table.columns)), map(torch.tensor, (table.lower, table.upper))
            facts[table.predicate] = NumberFacts(columns, *ends)
        aggregates = [name for name, data in self.lifted.graph.nodes.items() if data["kind"] in AGGREGATES]
        if aggregates:
            run = infer(Plans(self.lifted), index, given, guard=unlimited, round_limit=0, record=False)
            tables = (run.grounding.atoms.tables[name] for name in aggregates)
            for table in tables:
                columns, bounds = map(torch.tensor, table.tuples.columns), map(torch.tensor, table.bounds)
                facts[table.name] = NumberFacts(tuple(columns), *bounds)
        for name, mine, ids in self.labels.by_name() if self._with_labels else ():
            if any_set(self.labels.numeric[mine]):
                lower, upper = self.labels.lower[mine], self.labels.upper[mine]
                known = facts.get(name, NumberFacts(tuple(column[:0] for column in ids), lower[:0], upper[:0]))
                columns = tuple(map(torch.cat, zip(known.columns, ids, strict=True)))
                facts[name] = NumberFacts(columns, torch.cat([known.lower, lower]), torch.cat([known.upper, upper]))
        return index, facts

    def learned(self) -> Iterator[tuple[str, LearnedComparison]]:
        """The comparisons with parameters, by node."""
        for node, data in self.lifted.graph.nodes.items():
            comparison = learned_comparison(self.lifted.graph, node, self.values) if data["kind"] == "compare" else None
            if comparison is not None:
                yield node, comparison

    def known_rows(self, node: str) -> tuple[tuple[Tensor, ...], list[Interval]] | None:
        """The tuples of entities for which all numbers of a comparison are known, and these; None if they are about
        different tuples."""
        (index, facts), graph = self._facts, self.lifted.graph
        _, atoms = comparison(graph, node, tuple(range(len(graph.nodes[node]["sorts"]))))
        shapes = {arguments: name for name, arguments in atoms if any(isinstance(term, int) for term in arguments)}
        if len(shapes) != 1 or any(name not in facts for name, _ in atoms):
            return None
        ((shape, name),) = shapes.items()
        if len(set(shape)) != len(shape):
            return None
        columns = tuple(torch.unique(torch.stack(facts[name].columns), dim=1).unbind())
        places: list[Tensor] = []
        for name, arguments in atoms:
            ids = columns if arguments == shape else tuple(torch.tensor([index[str(term)]]) for term in arguments)
            places.append(joined(facts[name].columns, ids).expand(len(columns[0])))
        known = torch.stack(places).min(0).values >= 0
        pairs = [(facts[name], place[known]) for (name, _), place in zip(atoms, places, strict=True)]
        numbers = [Interval(bounds.lower[place].double(), bounds.upper[place].double()) for bounds, place in pairs]
        return tuple(column[known] for column in columns), numbers

    def labelled(self, node: str, arity: int) -> frozenset[str]:
        """The labelled predicates and numbers of that arity nearest to a comparison."""
        names = (name for name, _, ids in self.labels.by_name() if len(ids) == arity)
        return nearest(self.lifted, (node,), frozenset(names))

    def examples(self, node: str, comparison: LearnedComparison) -> list[Examples]:
        """The examples of a comparison: for each of the nearest predicates of as many arguments, and all without
        labels."""
        rows, labels = self.known_rows(node), self.labels
        if rows is None:
            return []
        lower, upper = (torch.stack(ends) for ends in zip(*rows[1], strict=True))
        values = (lower + upper) / 2
        known = values.isfinite().all(0)
        exact = known & (lower == upper).all(0)
        known = exact if any_set(exact) else known
        if not any_set(known):
            return []
        columns, values = tuple(column[known] for column in rows[0]), values[:, known]
        labelled = self.labelled(node, len(self.lifted.graph.nodes[node]["sorts"]))
        made: list[Examples] = []
        for name, mine, ids in labels.by_name():
            if name in labelled and len(ids) == len(columns) and not any_set(labels.numeric[mine]):
                place = joined(columns, ids)
                about = place >= 0
                if any_set(about):  # these rows are all labelled
                    made.append(_some(comparison, values[:, place[about]], mine[about]))
        return [*made, _some(comparison, values, torch.full_like(columns[0], -1, dtype=torch.int64))]


def joined(columns: tuple[Tensor, ...], ids: tuple[Tensor, ...]) -> Tensor:
    """For each tuple of ``ids`` its row among the tuples ``columns``, the first one; -1 if it is absent."""
    radix = 1 + max((int(column.max()) for column in (*columns, *ids) if len(column)), default=0)
    known, (rows, wanted) = TupleSet(len(columns), radix), (len(of[0]) if of else 1 for of in (columns, ids))
    _, first = known.add([column.numpy() for column in columns], rows)
    numbers = torch.from_numpy(known.find([column.numpy() for column in ids], wanted)).long()
    return torch.where(numbers >= 0, torch.from_numpy(first)[numbers], -1).long()


def nearest(lifted: LiftedGraph, nodes: Iterable[str], labelled: Collection[str]) -> frozenset[str]:
    """The ``labelled`` predicates in statements that contain any of the ``nodes``; if there are none, those in
    statements that share a predicate or a comparison with these, and so on. All of them if none is reached."""
    graph = lifted.graph
    tops = [root.reference.node for root in lifted.statements]  # without the numbers in comparisons:
    held = [{node for node in graph.below(top) if graph.nodes[node]["kind"] not in TERMS} for top in tops]
    reached = {*nodes}
    while True:
        wider = reached.union(*(statement for statement in held if statement & reached))
        near = wider.intersection(labelled)
        if near or wider == reached:
            return frozenset(near or labelled)
        reached = wider


def crossings(difference: Callable[[float], Tensor]) -> tuple[Tensor, Tensor]:
    """For each row the value of a constant at which a difference is 0 (nan where it is not linear in the constant), and
    the slope. ``difference`` gives that of each row for a constant."""
    zero, one, two = map(difference, (0.0, 1.0, 2.0))
    slope = one - zero
    linear = ((two - one) - slope).abs() <= 1e-9 * (1 + slope.abs() + zero.abs())
    return torch.where(linear & (slope != 0), -zero / slope, torch.nan), slope


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
        count = len(next(iter(candidates.values()), torch.zeros(1)))
        left, right = self.sides({name: values[:, None] for name, values in candidates.items()}, count)
        return torch.where(same(left, right), 0.0, left - right)

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
        return Examples(self.comparison, tuple(number[rows] for number in self.numbers), self.labels[rows])


def _some(comparison: LearnedComparison, values: Tensor, labels: Tensor) -> Examples:
    rows = torch.linspace(0, len(labels) - 1, min(len(labels), _MOST), dtype=torch.float64).round().long()
    return Examples(comparison, values.double().unbind(), labels).at(rows)
