"""The labels of a program as atoms of its fixpoint: their bounds, and their targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lnnkit.arrays import all_set, where_set
from lnnkit.check.program import CheckedProgram
from lnnkit.learn.replay.recorded_inference import Trace
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import Atoms
from lnnkit.store.layout import Given
from lnnkit.store.stated_facts import given_labels

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

    def of_arity(self, count: int) -> frozenset[str]:
        """The predicates and numbers with ``count`` arguments."""
        return frozenset(name for name, ids in zip(self.names, self.columns, strict=True) if len(ids) == count)

    def some(self, which: Tensor) -> Labels:
        """The labels with these indices, sorted."""
        columns: list[tuple[Tensor, ...]] = []
        for number, ids in enumerate(self.columns):
            mine = where_set(self.predicate == number)
            kept = torch.isin(mine, which)
            columns.append(tuple(each[kept] for each in ids))
        return replace(
            self,
            predicate=self.predicate[which],
            columns=tuple(columns),
            lower=self.lower[which],
            upper=self.upper[which],
            spread=self.spread[which],
        )

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

    def rows(self, atoms: Atoms) -> Tensor:
        """(n,) the atom rows; a table's default row for an atom that is not materialised."""
        found = [
            torch.from_numpy(
                atoms.find(atoms.tables[name], [each.numpy() for each in ids], int((self.predicate == number).sum()))
            )
            for number, (name, ids) in enumerate(zip(self.names, self.columns, strict=True))
        ]
        return torch.cat(found) if found else torch.zeros(0, dtype=torch.int32)


def labels(program: CheckedProgram, mentioned: Iterable[str]) -> Labels:
    """The labels of a program, with the entity ids that inference assigns for the same ``mentioned`` entities."""
    given = given_labels(program, mentioned)
    count = [torch.full((len(each),), number) for number, each in enumerate(given)]
    return Labels(
        tuple(each.predicate for each in given),
        torch.cat(count) if count else torch.zeros(0, dtype=torch.int64),
        tuple(tuple(map(torch.tensor, each.columns)) for each in given),
        torch.cat([torch.tensor(each.lower) for each in given]) if given else torch.zeros(0, dtype=torch.float64),
        torch.cat([torch.tensor(each.upper) for each in given]) if given else torch.zeros(0, dtype=torch.float64),
        torch.cat([_spread(each, program) for each in given]) if given else torch.zeros(0, dtype=torch.float64),
    )


def _spread(given: Given, program: CheckedProgram) -> Tensor:
    if not program.predicates[given.predicate].numeric:
        return torch.zeros(len(given), dtype=torch.float64)
    middle = (given.lower + given.upper) / 2
    middle = middle[np.isfinite(middle)]
    found = float(middle.std(ddof=1)) if len(middle) > 1 else 0.0
    return torch.full((len(given),), found if found > 0 else 1.0, dtype=torch.float64)


@dataclass(frozen=True, slots=True)
class Told:
    """The bounds of labelled atoms at a fixpoint (crossed if arrested), their keys, and what set them (-1: nothing)."""

    lower: Tensor
    upper: Tensor
    keys: tuple[Tensor, Tensor]
    events: tuple[Tensor, Tensor]


def told_of(found: Trace, own: Labels) -> Told:
    """The bounds of the labelled atoms at the fixpoint of a trace."""
    prepared = found.fixpoint.prepared
    rows = own.rows(prepared.grounding.atoms).long()
    prepared.state.extend(prepared.grounding.atoms)
    bounds = Bounds(*map(torch.from_numpy, prepared.state.bounds(rows.numpy())))
    return Told(bounds.lower.double(), bounds.upper.double(), *last_events(found, rows))


def last_events(found: Trace, rows: Tensor) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """The keys of both bounds of atom rows, and their last events, before an arrest if there was one."""
    events = found.replayer.events
    state = found.fixpoint.prepared.state
    crossed = torch.from_numpy(state.crossed.flags(len(found.fixpoint.prepared.grounding.atoms)))
    keys = rows * 2, rows * 2 + 1
    ends: list[Tensor] = []
    for key in keys:
        last = events.last(key)
        ended = where_set(crossed.index_select(0, rows) & (last >= 0))
        if len(ended):
            last[ended] = events.previous(last[ended])
        ends.append(last)
    return keys, (ends[0], ends[1])


@dataclass(frozen=True, slots=True)
class Split:
    """Indices of labels, sorted."""

    train: Tensor
    validation: Tensor


def split(own: Labels, share: float, seed: int) -> Split:
    """Hold out a ``share`` of the labels, stratified by class for each predicate that has enough of them."""
    generator = torch.Generator().manual_seed(seed)
    stratum = own.predicate * 2 + own.true
    held = torch.zeros(len(own), dtype=torch.bool)
    for each in torch.unique(stratum).tolist() if share > 0 else []:
        mine = where_set(stratum == each)
        if len(mine) >= _LEAST:
            picked = torch.randperm(len(mine), generator=generator)[: min(round(share * len(mine)), len(mine) - 1)]
            held[mine[picked]] = True
    return Split(where_set(~held), where_set(held))
