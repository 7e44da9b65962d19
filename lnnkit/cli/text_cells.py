"""The columns of many answers as text. Each distinct value is formatted once, however many rows have it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.answer_table import STATES

if TYPE_CHECKING:
    import numpy as np

    from lnnkit.answer_table import Answers
    from lnnkit.data.column import EntityColumn

_BLOCK = 1 << 13


@dataclass(frozen=True, slots=True)
class Cells:
    """A column of text: ``codes`` index ``texts``."""

    texts: list[str]
    codes: np.ndarray

    def at(self, rows: slice) -> list[str]:
        texts = self.texts
        return [texts[code] for code in self.codes[rows].tolist()]


def entities(column: EntityColumn, show: Callable[[str], str]) -> Cells:
    names, codes = column.distinct()
    return Cells(list(map(show, names)), codes)


def numbers(values: np.ndarray, show: Callable[[float], str]) -> Cells:
    distinct, codes = _distinct(values)
    return Cells(list(map(show, distinct.tolist())), codes)


def bounds(answers: Answers, show: Callable[[float, float], str]) -> Cells:
    """Both bounds in one cell."""
    import numpy as np

    (lower, low), (upper, high) = _distinct(answers.lower), _distinct(answers.upper)
    pairs, codes = np.unique(low.astype(np.int64) * len(upper) + high, return_inverse=True)
    lowest, highest = lower.tolist(), upper.tolist()
    return Cells([show(lowest[pair // len(upper)], highest[pair % len(upper)]) for pair in pairs.tolist()], codes)


def states(answers: Answers, show: Callable[[str, bool], str]) -> Cells:
    """The state, and whether it depends on a contradiction."""
    texts = [show(state, contested) for state in STATES for contested in (False, True)]
    return Cells(texts, answers.states * 2 + answers.contested)


def rows(cells: Sequence[Cells]) -> Iterator[Iterator[tuple[str, ...]]]:
    """The rows of some columns, block by block."""
    for start in range(0, len(cells[0].codes), _BLOCK):
        yield zip(*(each.at(slice(start, start + _BLOCK)) for each in cells), strict=True)


def _distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values, and the index of each row's value among them; values are compared by their bits."""
    import numpy as np

    held = np.ascontiguousarray(values, np.float64)
    if len(held) and (held == held[0]).all() and held[0] != 0:
        return held[:1], np.zeros(len(held), np.int64)
    distinct, codes = np.unique(held.view(np.int64), return_inverse=True)
    return distinct.view(np.float64), codes
