"""Which instance set each bound last: the record behind explanations, and behind what rests on a contradiction."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.grounding import Grounding
from lnnkit.ground.supports import AUXILIARY
from lnnkit.ground.tuples import Growing
from lnnkit.infer.state import Messages, State

_NONE = -1


class Derivations:
    """For each atom row and side, the batch, the leaf and the instance row that set it last (-1: given, or default).

    Ties go to the least (formula, instance) in a canonical order, never to the order of rules or rows.
    """

    def __init__(self, grounding: Grounding) -> None:
        self._grounding = grounding
        self._sides = tuple(tuple(Growing(torch.int64) for _ in range(3)) for _ in range(2))

    def winner(self, side: int, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(batch, leaf, instance) of the last setter of each row's lower (0) or upper (1) side."""
        self._extend()
        batch, leaf, instance = (column.values.index_select(0, rows) for column in self._sides[side])
        return batch, leaf, instance

    def _extend(self) -> None:
        for side in self._sides:
            for column in side:
                column.append(torch.full((len(self._grounding.atoms) - len(column),), _NONE))

    def record(
        self,
        state: State,
        lower: Sequence[Messages],
        upper: Sequence[Messages],
        round_: int,
        *,
        rising: bool = False,
    ) -> None:
        """Note the winners among a round's messages, after they have met: the greatest lower and the least upper
        bound, or, while a completion is ``rising``, the greatest of both."""
        self._extend()
        for side, messages in enumerate((lower, upper)):
            if not messages:
                continue
            row = torch.cat([m.row for m in messages])
            value = torch.cat([m.value for m in messages])
            instance = torch.cat([m.instance for m in messages])
            batch = torch.cat([torch.full((len(m.row),), m.batch) for m in messages])
            leaf = torch.cat([torch.full((len(m.row),), m.leaf) for m in messages])
            best = torch.full((len(self._grounding.atoms),), -torch.inf, dtype=state.dtype)
            signed = value if side == 0 or rising else -value
            best.scatter_reduce_(0, row, signed, "amax")
            picked = (signed == best.index_select(0, row)).nonzero().squeeze(1)
            row, batch, leaf, instance = (t.index_select(0, picked) for t in (row, batch, leaf, instance))
            if len(torch.unique(row)) < len(row):
                order = self._canonical(row, batch, leaf, instance)
                row, batch, leaf, instance = (t.index_select(0, order) for t in (row, batch, leaf, instance))
                first = torch.ones(len(row), dtype=torch.bool)
                first[1:] = row[1:] != row[:-1]
                row, batch, leaf, instance = (t[first] for t in (row, batch, leaf, instance))
            for column, values in zip(self._sides[side], (batch, leaf, instance), strict=True):
                column.values[row] = values

    def _canonical(self, row: Tensor, batch: Tensor, leaf: Tensor, instance: Tensor) -> Tensor:
        """An order by row, then formula, then leaf, then instance, that no order of input can change."""
        rank = torch.empty_like(row)
        place = torch.empty_like(row)
        for number in torch.unique(batch).tolist():
            mine = (batch == number).nonzero().squeeze(1)
            for index in torch.unique(leaf[mine]).tolist():
                some = mine[leaf[mine] == index]
                rank[some], place[some] = self._grounding.canonical(number, index, instance[some])
        order = torch.argsort(place, stable=True)
        for key in (leaf, rank, row):
            order = order[torch.argsort(key[order], stable=True)]
        return order

    def contested(self, state: State, arrested: Sequence[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """Two flags a row, for its lower and its upper side: whether its chain of winners holds an arrested atom or
        one of the ``arrested`` instances (batch, row of block 0)."""
        self._extend()
        count = len(self._grounding.atoms)
        flags = (torch.zeros(count, dtype=torch.bool), torch.zeros(count, dtype=torch.bool))
        if not state.crossed and not arrested:
            return flags
        crossed = torch.tensor(sorted(state.crossed), dtype=torch.int64)
        for flag in flags:
            flag[crossed] = True
        bad: dict[int, Tensor] = {}
        for number, row in arrested:
            if number not in bad:
                bad[number] = torch.zeros(len(self._grounding.batches[number].blocks[0]), dtype=torch.bool)
            bad[number][row] = True
        events = []
        for side in (0, 1):
            batch, leaf, instance = (column.values for column in self._sides[side])
            set_ = (batch >= 0).nonzero().squeeze(1)
            for number in torch.unique(batch[set_]).tolist():
                mine = set_[batch[set_] == number]
                for index in torch.unique(leaf[mine]).tolist():
                    rows = mine[leaf[mine] == index]
                    events.append((side, rows, number, index, instance[rows]))
        changed = True
        while changed:
            changed = False
            for side, rows, number, index, instance in events:
                hit = self._rests_on(number, index, side, instance, flags, bad.get(number))
                hit &= ~flags[side][rows]
                if bool(hit.any()):
                    flags[side][rows[hit]] = True
                    changed = True
        return flags

    def _rests_on(
        self, number: int, leaf: int, side: int, instance: Tensor, flags: tuple[Tensor, Tensor], bad: Tensor | None
    ) -> Tensor:
        batch = self._grounding.batches[number]
        block = 0 if leaf == AUXILIARY else batch.formula.neurons[leaf].block
        top = instance if block == 0 else batch.blocks[block].outermost.values.index_select(0, instance)
        hit = bad.index_select(0, top) if bad is not None else torch.zeros(len(top), dtype=torch.bool)
        tops = torch.zeros(len(batch.blocks[0]), dtype=torch.bool)
        for other, ends in self._grounding.reads(number, leaf, side):
            inner = 0 if other == AUXILIARY else batch.formula.neurons[other].block
            column = batch.blocks[inner].columns[other].values
            tainted = torch.zeros(len(column), dtype=torch.bool)
            for end in ends:
                tainted |= flags[end].index_select(0, column)
            if inner == 0:
                hit |= tainted.index_select(0, top)
            else:
                tops[batch.blocks[inner].outermost.values[tainted]] = True
        return hit | tops.index_select(0, top)
