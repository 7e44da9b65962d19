"""Programs inferred with a history, and the bounds of their atoms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lnnkit.budget import Budget
from lnnkit.check import check
from lnnkit.check.program import CheckedProgram
from lnnkit.learn.parameters.rule_parameters import LearnedParameter, parametrised, trainable
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.syntax.parse import parse

Bound = tuple[str, tuple[int, ...], int]  # table, entity ids, side


@dataclass(frozen=True)
class Learning:
    """A program whose rules all learn."""

    checked: CheckedProgram
    parameters: tuple[LearnedParameter, ...]

    @property
    def starts(self) -> dict[str, float]:
        return {each.name: 1.0 if each.start is None else each.start for each in self.parameters}

    def infer(self, values: Mapping[str, float]) -> RecordedInference:
        queries = self.checked.queries
        return RecordedInference(self.checked, values, queries, guard=Budget(instances=100_000), round_limit=150)

    def vector(self, values: Mapping[str, float]) -> Tensor:
        return torch.tensor([values[each.name] for each in self.parameters], dtype=torch.float64)


def learning(text: str) -> Learning:
    file, _ = parse(text, "test.lnn")
    checked, findings = check(file, Path("."))
    assert checked is not None, findings
    return Learning(*parametrised(checked, file, trainable(checked, file)))


def bounds(found: RecordedInference) -> dict[Bound, float]:
    """Every bound of every atom of a predicate, as it is read."""
    run = found.fixpoint
    result: dict[Bound, float] = {}
    for name, table in run.grounding.atoms.tables.items():
        if "#" not in name:
            columns = [column.tolist() for column in table.tuples.columns]
            ends = table.bounds
            for place in range(len(table)):
                for side in (0, 1):
                    result[name, tuple(column[place] for column in columns), side] = float(ends[side][place])
    return result


def replayed(found: RecordedInference, wanted: list[Bound], values: Tensor) -> Tensor:
    """Those bounds, by their derivations."""
    numbers = found.numbers
    keys = torch.empty(len(wanted), dtype=torch.int64)
    rows = {
        (name, ids): int(row)
        for name, table in numbers.atoms.tables.items()
        for row, ids in zip(
            numbers.of(table, np.arange(len(table))), _tuples(table.tuples.columns, len(table)), strict=True
        )
    }
    for place, (name, ids, side) in enumerate(wanted):
        keys[place] = 2 * rows[name, ids] + side
    events = found.events.last(keys)
    return found.replay(events, keys).bounds(values)


def _tuples(columns: tuple[np.ndarray, ...], count: int) -> list[tuple[int, ...]]:
    lists = [column.tolist() for column in columns]
    return [tuple(each[place] for each in lists) for place in range(count)]
