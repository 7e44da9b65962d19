"""The labels of a program as atoms of its fixpoint: their bounds and targets, and the scores of answers against them
(see `lnnkit.scores`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import Array, any_set, set_at, where_set
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.engine.bounds_state import shown
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import Guard
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.logic.bounds import tolerance
from lnnkit.scores import NumberScore, Score, Scores
from lnnkit.store.layout import Given, constants
from lnnkit.store.relations import RowNumbers
from lnnkit.store.stated_facts import given_labels
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Source, Span

_LEAST = 20  # fewest labels of a predicate and a class of which a share is held out


@dataclass(frozen=True, slots=True)
class Labels:
    """``n`` labels, grouped by predicate. ``predicate`` (n,) indexes ``names``; ``columns`` has the entities, by
    predicate; ``lower`` and ``upper`` (n,) are the label's bounds. ``spread`` (n,) is 0 for a truth; for a number it is
    the scale of its errors, the standard deviation of all its labels."""

    names: tuple[str, ...]
    predicate: Tensor
    columns: tuple[tuple[Array, ...], ...]
    lower: Tensor
    upper: Tensor
    spread: Tensor

    def __len__(self) -> int:
        return len(self.lower)

    def by_name(self) -> Iterator[tuple[str, Tensor, tuple[Array, ...]]]:
        """The predicates and numbers, each with the indices of its labels and their entities."""
        for number, (name, ids) in enumerate(zip(self.names, self.columns, strict=True)):
            yield name, where_set(self.predicate == number), ids

    def some(self, which: Tensor) -> Labels:
        """The labels with these indices, sorted."""
        columns = tuple(tuple(column[np.isin(mine, which)] for column in ids) for _, mine, ids in self.by_name())
        rest = (values[which] for values in (self.lower, self.upper, self.spread))
        return Labels(self.names, self.predicate[which], columns, *rest)

    @property
    def crisp(self) -> Tensor:
        """(n,) a mask of labels of truths that are 0 or 1."""
        return ~self.numeric & (self.lower == self.upper) & ((self.lower == 0) | (self.lower == 1))

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
            parts.append(numbers.of(table, table.tuples.find(ids, len(mine))))
        return torch.from_numpy(np.concatenate(parts))


def label_queries(program: CheckedProgram) -> tuple[Query, ...]:
    """A query for all atoms of every labelled predicate and number, so that inference derives them."""
    spans = {table.predicate: Span(Source("", ""), 0, 0) for table in program.label_tables}
    spans |= {table.predicate: table.span for table in reversed(program.label_tables) if table.span is not None}
    spans |= {label.predicate: label.span for label in program.labels}
    queries: list[Query] = []
    for name in sorted(spans):
        predicate, span = program.predicates[name], spans[name]
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
        tuple(group.columns for group in given),
        torch.cat([none, *(torch.tensor(group.lower) for group in given)]),
        torch.cat([none, *(torch.tensor(group.upper) for group in given)]),
        spreads.repeat_interleave(lengths),
    )


def _spread(given: Given, program: CheckedProgram) -> float:
    if not program.predicates[given.predicate].numeric:
        return 0.0
    middle = (given.lower + given.upper) / 2
    middle = middle[np.isfinite(middle)]
    return float(middle.std(ddof=1)) or 1.0 if len(middle) > 1 else 1.0


@dataclass(frozen=True, slots=True)
class LabelledBounds:
    """The bounds of labelled atoms at a fixpoint (crossed if arrested), their keys, and what set them (-1: nothing)."""

    inference: RecordedInference
    labels: Labels
    lower: Tensor
    upper: Tensor
    keys: tuple[Tensor, Tensor]
    events: tuple[Tensor, Tensor]

    def scores(self, which: Tensor) -> Scores:
        """The scores of the fixpoint for the labels with the indices ``which``."""
        predicates: dict[str, Score] = {}
        numbers: dict[str, NumberScore] = {}
        for name, mine, numeric in self._by_name(which):
            ends, wanted = _ends(self, mine), _ends(self.labels, mine)
            if numeric:
                numbers[name] = number_score(ends, wanted)
            else:
                predicates[name] = score(ends, wanted, self._truth(name, *ends), self._truth(name, *wanted))
        progress, state = self.inference.fixpoint.progress, self.inference.fixpoint.state
        return Scores(predicates, state.crossings + sum(len(arrested.rows) for arrested in progress.arrested), numbers)

    def accuracy(self, which: Tensor) -> float | None:
        """The accuracy that `scores` have for the labels with the indices ``which``; None if all are of numbers."""
        right, total = 0.0, 0
        for name, mine, numeric in self._by_name(which):
            if not numeric:
                true, wanted = (self._truth(name, *_ends(of, mine)) > 0.5 for of in (self, self.labels))
                right += float((true == wanted).double().mean()) * len(mine)
                total += len(mine)
        return right / total if total else None

    def _by_name(self, which: Tensor) -> Iterator[tuple[str, Tensor, bool]]:
        """The predicates and numbers that have labels, with the indices of these, and whether it is a number."""
        chosen = set_at(len(self.labels), which)
        for name, mine, _ in self.labels.by_name():
            mine = mine[chosen.index_select(0, mine)]
            if len(mine):
                yield name, mine, any_set(self.labels.numeric.index_select(0, mine))

    @property
    def truths(self) -> Tensor:
        """(n,) the truth of each label's atom as a single number, from its bounds."""
        truth = torch.zeros(len(self.labels), dtype=torch.float64)
        for name, mine, _ in self.labels.by_name():
            truth[mine] = self._truth(name, self.lower[mine], self.upper[mine])
        return truth

    def _truth(self, name: str, lower: Tensor, upper: Tensor) -> Tensor:
        """The truth of a predicate's atoms as single numbers, from their bounds."""
        run = self.inference.fixpoint
        low, high = ((name, side) in run.plan.relevance.produced for side in ("lower", "upper"))
        if run.grounding.atoms.tables[name].default == (0.0, 1.0) and low != high:
            return (lower if low else upper).clamp(0.0, 1.0)
        return ((lower + upper) / 2).clamp(0.0, 1.0)


def _ends(of: Labels | LabelledBounds, which: Tensor) -> tuple[Tensor, Tensor]:
    return of.lower.index_select(0, which), of.upper.index_select(0, which)


def labelled_bounds(inference: RecordedInference, labels: Labels) -> LabelledBounds:
    """The bounds of the labelled atoms at the fixpoint of a trace."""
    numbers = inference.numbers
    rows = labels.rows(numbers)
    lower, upper = ends = torch.empty(2, len(rows), dtype=torch.float64)
    for table, mine, some in numbers.by_relation(rows.numpy()):
        for end, values in zip(ends, shown(table, some), strict=True):
            end[torch.from_numpy(mine)] = torch.from_numpy(values).double()
    return LabelledBounds(inference, labels, lower, upper, *last_events(inference, rows))


def evaluate(program: CheckedProgram, guard: Guard) -> Scores:
    """The scores of a program's answers for its labels. Raises `TooLarge`."""
    queries = label_queries(program)
    inference = RecordedInference(program, {}, queries, guard=guard)
    labelled = labels(program, mentioned(program, queries))
    return labelled_bounds(inference, labelled).scores(torch.arange(len(labelled)))


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


class Split(NamedTuple):
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


_BINS = 10  # bins of the expected calibration error, as is usual (Guo et al. 2017 take 15)
_CLIPPED = 1e-15  # truths are clipped for the logarithm


def score(bounds: tuple[Tensor, Tensor], label: tuple[Tensor, Tensor], truth: Tensor, wanted: Tensor) -> Score:
    """The score of ``n`` atoms, given their bounds, those of their labels, and both truths as single numbers."""
    lower, upper = bounds
    positive = wanted > 0.5
    auroc, aupr = areas(truth, positive)
    sure = truth.clamp(_CLIPPED, 1 - _CLIPPED)
    entropy = -(wanted * sure.log() + (1 - wanted) * (1 - sure).log())
    place = (truth * _BINS).long().clamp(max=_BINS - 1)
    gap = torch.zeros(_BINS, dtype=truth.dtype).index_add_(0, place, wanted - truth)
    return Score(
        n=len(truth),
        positives=int(positive.sum()),
        accuracy=float(((truth > 0.5) == positive).double().mean()),
        auroc=auroc,
        aupr=aupr,
        log_loss=float(entropy.mean()),
        brier=float(((truth - wanted) ** 2).mean()),
        calibration=float(gap.abs().sum() / len(truth)),
        coverage=float(((lower > 0.5) | (upper < 0.5)).double().mean()),
        distance=float(((lower - label[0]).abs() + (upper - label[1]).abs()).mean() / 2),
        contradictions=int((lower > upper + tolerance(torch.float64)).sum()),
    )


def number_score(bounds: tuple[Tensor, Tensor], label: tuple[Tensor, Tensor]) -> NumberScore:
    """The score of ``n`` numbers, given their intervals and those of their labels."""
    middle, wanted = (bounds[0] + bounds[1]) / 2, (label[0] + label[1]) / 2
    known = middle.isfinite() & wanted.isfinite()
    error, values = (middle - wanted)[known], wanted[known]
    total = float((values - values.mean()).square().sum()) if len(values) else 0.0
    return NumberScore(
        n=len(middle),
        rmse=float(error.square().mean().sqrt()) if len(error) else None,
        mae=float(error.abs().mean()) if len(error) else None,
        r2=1 - float(error.square().sum()) / total if total > 0 else None,
        coverage=float(known.double().mean()),
    )


def areas(truth: Tensor, positive: Tensor) -> tuple[float | None, float | None]:
    """The area under the ROC curve: the probability that a true atom has more truth than a false one, ties counting
    half; and under the precision-recall steps, at each distinct truth. None unless both classes occur."""
    true, false = int(positive.sum()), int((~positive).sum())
    if not true or not false:
        return None, None
    _, place, counts = torch.unique(truth, return_inverse=True, return_counts=True)
    hits = torch.bincount(place[positive], minlength=len(counts)).double()
    misses = counts - hits
    less = misses.cumsum(0) - misses / 2
    found, taken = (of.flip(0).cumsum(0) for of in (hits, counts.double()))
    recall = found / true
    steps = recall.diff(prepend=recall.new_zeros(1)) * found / taken
    return float(hits @ less) / (true * false), float(steps.sum())
