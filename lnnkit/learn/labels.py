"""The labels of a program as atoms of its fixpoint: their bounds, and their targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import all_set, where_set
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.engine.bounds_state import shown
from lnnkit.graph.lifting import build
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.store.layout import Given, constants
from lnnkit.store.relations import RowNumbers
from lnnkit.store.stated_facts import given_labels
from lnnkit.syntax import ast
from lnnkit.syntax.span import Source, Span

_LEAST = 20  # fewest labels of a predicate and a class of which a share is held out


@dataclass(frozen=True, slots=True)
class Labels:
    """``n`` labels, grouped by predicate. ``predicate`` (n,) indexes ``names``; ``columns`` has the entities, by
    predicate; ``lower`` and ``upper`` (n,) are the label's bounds. ``spread`` (n,) is 0 for a truth; for a number it is
    the scale of its errors, the standard deviation of all its labels."""

    names: tuple[str, ...]
    predicate: Tensor
    columns: tuple[tuple[Tensor, ...], ...]
    lower: Tensor
    upper: Tensor
    spread: Tensor

    def __len__(self) -> int:
        return len(self.lower)

    def by_name(self) -> Iterator[tuple[str, Tensor, tuple[Tensor, ...]]]:
        """The predicates and numbers, each with the indices of its labels and their entities."""
        for number, (name, ids) in enumerate(zip(self.names, self.columns, strict=True)):
            yield name, where_set(self.predicate == number), ids

    def some(self, which: Tensor) -> Labels:
        """The labels with these indices, sorted."""
        columns = tuple(tuple(column[torch.isin(mine, which)] for column in ids) for _, mine, ids in self.by_name())
        rest = (values[which] for values in (self.lower, self.upper, self.spread))
        return Labels(self.names, self.predicate[which], columns, *rest)

    @property
    def plain(self) -> bool:
        """Whether all labels of truths are 0 or 1."""
        said = (self.lower == self.upper) & ((self.lower == 0) | (self.lower == 1))
        return all_set(said | self.numeric)

    @property
    def numeric(self) -> Tensor:
        """(n,) a mask of labels of numbers."""
        return self.spread > 0

    @property
    def truth(self) -> Tensor:
        """(n,) the middle of each truth's bounds; 0 for numbers."""
        return torch.where(self.numeric, 0.0, (self.lower + self.upper) / 2).double()

    @property
    def true(self) -> Tensor:
        """(n,) a mask of labels of truths with a midpoint above one half."""
        return ~self.numeric & (self.lower + self.upper > 1.0)

    def rows(self, numbers: RowNumbers) -> Tensor:
        """(n,) the rows among all; its relation's default row for an atom that is not materialised."""
        parts = [np.zeros(0, np.int64)]
        for name, mine, ids in self.by_name():
            table = numbers.atoms.tables[name]
            parts.append(numbers.of(table, table.tuples.find([column.numpy() for column in ids], len(mine))))
        return torch.from_numpy(np.concatenate(parts))


def label_queries(program: CheckedProgram) -> tuple[Query, ...]:
    """A query for all atoms of every labelled predicate and number, so that inference derives them."""
    spans = {label.predicate: label.span for label in program.labels}
    for table in program.label_tables:
        if table.span is not None:
            spans.setdefault(table.predicate, table.span)
    queries: list[Query] = []
    for name in sorted({*spans, *(table.predicate for table in program.label_tables)}):
        predicate = program.predicates[name]
        span = spans.get(name) or Span(Source("", ""), 0, 0)
        variables = tuple(ast.Variable(f"X{place}", span=span) for place in range(predicate.arity))
        queries.append(Query(ast.Atom(name, variables, span=span), name, program.logic, span, predicate.numeric))
    return tuple(queries)


def mentioned(program: CheckedProgram, queries: Sequence[Query]) -> set[str]:
    """The entities that formulas mention."""
    lifted = build(replace(program, queries=tuple(queries)))
    return {text for texts in constants(lifted).values() for text in texts}


def labels(program: CheckedProgram, mentioned: Iterable[str]) -> Labels:
    """The labels of a program, with the entity ids that inference assigns for the same ``mentioned`` entities."""
    given = given_labels(program, mentioned)
    none = torch.zeros(0, dtype=torch.float64)
    lengths = torch.tensor([len(group) for group in given], dtype=torch.int64)
    spreads = torch.tensor([_spread(group, program) for group in given], dtype=torch.float64)
    return Labels(
        tuple(group.predicate for group in given),
        torch.arange(len(given)).repeat_interleave(lengths),
        tuple(tuple(map(torch.tensor, group.columns)) for group in given),
        torch.cat([none, *(torch.tensor(group.lower) for group in given)]),
        torch.cat([none, *(torch.tensor(group.upper) for group in given)]),
        spreads.repeat_interleave(lengths),
    )


def _spread(given: Given, program: CheckedProgram) -> float:
    if not program.predicates[given.predicate].numeric:
        return 0.0
    middle = (given.lower + given.upper) / 2
    middle = middle[np.isfinite(middle)]
    return (float(middle.std(ddof=1)) if len(middle) > 1 else 0.0) or 1.0


@dataclass(frozen=True, slots=True)
class LabelledBounds:
    """The bounds of labelled atoms at a fixpoint (crossed if arrested), their keys, and what set them (-1: nothing)."""

    lower: Tensor
    upper: Tensor
    keys: tuple[Tensor, Tensor]
    events: tuple[Tensor, Tensor]


def labelled_bounds(inference: RecordedInference, labels: Labels) -> LabelledBounds:
    """The bounds of the labelled atoms at the fixpoint of a trace."""
    numbers = inference.numbers
    rows = labels.rows(numbers)
    lower, upper = ends = torch.empty(2, len(rows), dtype=torch.float64)
    for table, mine, some in numbers.by_relation(rows.numpy()):
        for end, values in zip(ends, shown(table, some), strict=True):
            end[torch.from_numpy(mine)] = torch.from_numpy(values).double()
    return LabelledBounds(lower, upper, *last_events(inference, rows))


def last_events(inference: RecordedInference, rows: Tensor) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The keys of both bounds of atom rows, and their last events, before an arrest if there was one."""
    events, numbers = inference.events, inference.numbers
    crossed = torch.from_numpy(numbers.marked(numbers.crossed))
    keys = rows * 2, rows * 2 + 1
    lower, upper = (events.last(key) for key in keys)
    for last in (lower, upper):
        ended = where_set(crossed.index_select(0, rows) & (last >= 0))
        if len(ended):
            last[ended] = events.previous(last[ended])
    return keys, (lower, upper)


@dataclass(frozen=True, slots=True)
class Split:
    """Indices of labels, sorted."""

    train: Tensor
    validation: Tensor


def split(labels: Labels, share: float, seed: int) -> Split:
    """Hold out a ``share`` of the labels, stratified by class for each predicate that has enough of them."""
    generator = torch.Generator().manual_seed(seed)
    stratum = labels.predicate * 2 + labels.true
    held = torch.zeros(len(labels), dtype=torch.bool)
    for code in torch.unique(stratum).tolist() if share > 0 else []:
        mine = where_set(stratum == code)
        if len(mine) >= _LEAST:
            picked = torch.randperm(len(mine), generator=generator)[: min(round(share * len(mine)), len(mine) - 1)]
            held[mine[picked]] = True
    return Split(where_set(~held), where_set(held))
