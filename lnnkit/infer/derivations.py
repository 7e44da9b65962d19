"""Which instance set each bound last: the record behind explanations, and behind what rests on a contradiction (see
`lnnkit.infer.contested`)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lnnkit.ground.grounding import Grounding
from lnnkit.ground.tuples import Growing
from lnnkit.infer.state import Messages, State

_NONE = -1
_LAST = torch.iinfo(torch.int64).max


class Derivations:
    """For each atom row and side, the batch, the leaf and the instance row that set it last (-1: given, or default).

    Ties go to the least (formula, instance) in a canonical order, never to the order of rules or rows.
    """

    def __init__(self, grounding: Grounding) -> None:
        self._grounding = grounding
        self._slots = Growing(torch.int64)  # scratch, a place for each row
        self._sides = tuple(tuple(Growing(torch.int64) for _ in range(3)) for _ in range(2))

    def winner(self, side: int, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(batch, leaf, instance) of the last setter of each row's lower (0) or upper (1) side."""
        self._extend()
        batch, leaf, instance = (column.values.index_select(0, rows) for column in self._sides[side])
        return batch, leaf, instance

    def setters(self, side: int) -> list[tuple[Tensor, int, int, Tensor]]:
        """All that set a lower (0) or upper (1) side last: (rows, batch, leaf, instances), one for each leaf."""
        self._extend()
        batch, leaf, instance = (column.values for column in self._sides[side])
        known = (batch != _NONE).nonzero().squeeze(1)
        found: list[tuple[Tensor, int, int, Tensor]] = []
        for number in torch.unique(batch[known]).tolist():
            mine = known[batch[known] == number]
            for index in torch.unique(leaf[mine]).tolist():
                rows = mine[leaf[mine] == index]
                found.append((rows, number, index, instance[rows]))
        return found

    def _extend(self) -> None:
        for side in self._sides:
            for column in side:
                column.append(torch.full((len(self._grounding.atoms) - len(column),), _NONE))

    def record(
        self,
        state: State,
        lower: Sequence[Messages],
        upper: Sequence[Messages],
    ) -> None:
        """Note the winners among a round's messages, after they have met."""
        self._extend()
        for side, messages in enumerate((lower, upper)):
            if not messages:
                continue
            row = torch.cat([m.row for m in messages])
            value = torch.cat([m.value for m in messages])
            instance = torch.cat([m.instance for m in messages])
            batch = torch.cat([torch.full((len(m.row),), m.batch) for m in messages])
            leaf = torch.cat([torch.full((len(m.row),), m.leaf) for m in messages])
            met = (state.lower if side == 0 else state.upper).values.index_select(0, row)
            crossed = state.frozen.values.index_select(0, row)  # an arrested atom no longer shows what it met
            picked = ((value == met) | crossed).nonzero().squeeze(1)
            row, batch, leaf, instance = (t.index_select(0, picked) for t in (row, batch, leaf, instance))
            row, batch, leaf, instance = self._first(row, batch, leaf, instance)
            for column, values in zip(self._sides[side], (batch, leaf, instance), strict=True):
                column.values[row] = values

    def _first(self, *messages: Tensor) -> tuple[Tensor, ...]:
        """One of the (row, batch, leaf, instance) messages for each row: the first by formula, then leaf, then
        instance, an order that no order of input can change."""
        slots = self._slots
        slots.append(torch.full((len(self._grounding.atoms) - len(slots),), _LAST))
        row = messages[0]
        slots.values[row] = torch.arange(len(row))
        winner = slots.values.index_select(0, row)
        slots.values[row] = _LAST
        beaten = (winner != torch.arange(len(row))).nonzero().squeeze(1)
        if not len(beaten):
            return messages
        flags = torch.zeros(len(slots), dtype=torch.bool)
        flags[row.index_select(0, beaten)] = True
        tied = flags.index_select(0, row)
        alone = tuple(part[~tied] for part in messages)
        rest = tuple(part[tied] for part in messages)
        rank, place = self._canonical(*rest[1:])
        rest = (*rest, rank, place)
        for column in (4, 2, 5):  # by formula, then leaf, then instance
            key = rest[column]
            if int(key.min()) == int(key.max()):
                continue
            slots.values.scatter_reduce_(0, rest[0], key, "amin")
            least = slots.values.index_select(0, rest[0]) == key
            slots.values[rest[0]] = _LAST
            rest = tuple(part[least] for part in rest)
        return tuple(torch.cat(parts) for parts in zip(alone, rest[:4], strict=True))

    def _canonical(self, batch: Tensor, leaf: Tensor, instance: Tensor) -> tuple[Tensor, Tensor]:
        """Each message's rank of its formula, and of its instance within the formula."""
        rank = torch.empty_like(batch)
        place = torch.empty_like(batch)
        for number in torch.unique(batch).tolist():
            mine = (batch == number).nonzero().squeeze(1)
            for index in torch.unique(leaf[mine]).tolist():
                some = mine[leaf[mine] == index]
                rank[some], place[some] = self._grounding.canonical(number, index, instance[some])
        return rank, place
