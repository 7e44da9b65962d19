"""What one seed came to, and rows of the tables: many seeds of one cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Cell:
    """A line of a table: one operation in one setting, learned by one model. ``key`` names it in the store."""

    task: str
    op: str
    setting: str
    model: str
    mode: str
    published: str = ""

    @property
    def key(self) -> str:
        return "/".join((self.task, self.op, self.setting, self.model, self.mode))


@dataclass(frozen=True)
class Outcome:
    """One seed: whether it met the task's criterion, its error where it was tested, and what it took.

    ``planned`` is the number of steps of the paper's recipe, if it has one. ``scores`` are further numbers of the task
    by their names.
    """

    solved: bool
    error: float
    steps: int
    samples: int
    cpu: float
    planned: int = 0
    sparsity: float | None = None
    found: str = ""
    scores: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """Many seeds of a cell: the share that was solved with its Wilson interval, what those took (median and 90th
    percentile) and their largest sparsity error, the median error and scores of all, and whether a recipe was cut
    short before it had solved one."""

    cell: Cell
    seeds: int
    success: float
    interval: tuple[float, float]
    steps: tuple[float | None, float | None]
    samples: tuple[float | None, float | None]
    sparsity: float | None
    error: float | None
    cpu_seconds: float
    cut_short: bool
    scores: dict[str, float | None]

    def as_object(self) -> dict[str, object]:
        return {
            **asdict(self.cell),
            "seeds": self.seeds,
            "success": self.success,
            "success_low": self.interval[0],
            "success_high": self.interval[1],
            "steps_median": self.steps[0],
            "steps_p90": self.steps[1],
            "samples_median": self.samples[0],
            "samples_p90": self.samples[1],
            "sparsity": self.sparsity,
            "error": self.error,
            "cpu_seconds": self.cpu_seconds,
            "cut_short": self.cut_short,
            **self.scores,
        }


def row(cell: Cell, outcomes: Sequence[Outcome]) -> Row:
    solved = [each for each in outcomes if each.solved]
    sparsities = [each.sparsity for each in solved if each.sparsity is not None]
    names = dict.fromkeys(name for each in outcomes for name in each.scores)
    return Row(
        cell,
        len(outcomes),
        len(solved) / len(outcomes),
        wilson(len(solved), len(outcomes)),
        _typical([each.steps for each in solved]),
        _typical([each.samples for each in solved]),
        max(sparsities, default=None),
        quantile([each.error for each in outcomes], 0.5),
        sum(each.cpu for each in outcomes),
        any(each.steps < each.planned and not each.solved for each in outcomes),
        {name: quantile([each.scores[name] for each in outcomes if name in each.scores], 0.5) for name in names},
    )


def _typical(values: Sequence[float]) -> tuple[float | None, float | None]:
    return quantile(values, 0.5), quantile(values, 0.9)


def wilson(successes: int, trials: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval for a rate, 95 % (Wilson 1927)."""
    rate, unit = successes / trials, z * z / trials
    middle = (rate + unit / 2) / (1 + unit)
    half = z / (1 + unit) * math.sqrt(rate * (1 - rate) / trials + unit / (4 * trials))
    return max(0.0, middle - half), min(1.0, middle + half)


def quantile(values: Sequence[float], share: float) -> float | None:
    """The value that ``share`` of them do not exceed, interpolated; nothing of nothing."""
    ordered = sorted(values)
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    if math.isinf(ordered[high]):
        return ordered[high] if place > low else ordered[low]
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
