"""Descent: inference finds the winners, epochs replay their derivations, and now and then inference looks again.

Between two inferences nothing is grounded: an epoch evaluates the derivations of the labelled atoms and of the
contradictions, and steps down the gradient. That is exact as long as the same instances win; whether they do is seen at
the next inference, whose loss is compared with the replay's. While the two agree, the epochs between inferences double,
and where they do not, they halve. The values that are kept are those with the least loss of an inference, never of a
replay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lnnkit.learn.batches import LabelBatch
from lnnkit.learn.checkpoint import Checkpoint, Saved
from lnnkit.learn.constraints import Constraints
from lnnkit.learn.fitting import Fitting, Inferred, Losses
from lnnkit.scores import Epoch, Scores

_AGREE = 1e-6  # a replay's loss that differs from that of inference by no more is exact
_RARE = 64  # epochs between two inferences at most
_GAIN = 1e-9  # of the loss
_DIGITS = (2, 3, 4, 6, 9)
_COSTS_NOTHING = 1e-3  # of the loss

Listen = Callable[[Epoch], bool | None]
"""Told of every inference; fitting ends where it returns False."""

Stop = Literal["epochs", "patience", "interrupted"]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The values with the least loss, in the order of the parameters, and the scores there."""

    values: Tensor
    losses: Losses
    train: Scores
    validation: Scores | None
    history: tuple[Epoch, ...]
    stopped: Stop


def descend(fitting: Fitting, start: Tensor, listen: Listen | None, checkpoint: Checkpoint | None) -> Fitted:
    """Fit from these values on. Raises `lnnkit.learn.constraints.Infeasible` and `TooLarge`."""
    constraints = fitting.constraints(fitting.trace(start))
    return _Descent(fitting, constraints, listen, checkpoint).fitted(constraints.start(start))


class _Descent:
    """What one call goes through. The best are the least loss so far and its values."""

    def __init__(
        self, fitting: Fitting, constraints: Constraints, listen: Listen | None, checkpoint: Checkpoint | None
    ) -> None:
        self._fitting = fitting
        self._constraints = constraints
        self._listen = listen
        self._checkpoint = checkpoint
        self._history: list[Epoch] = []
        self._best: tuple[float, Tensor] | None = None
        self._stopped: Stop = "epochs"

    def fitted(self, start: Tensor) -> Fitted:
        saved = None if self._checkpoint is None else self._checkpoint.read()
        if saved is not None:
            self._best = saved.best
        for restart in range(0 if saved is None else saved.restart, self._fitting.settings.restarts):
            self._restart(restart, start, saved if saved is not None and restart == saved.restart else None)
            if self._stopped == "interrupted":
                break
        assert self._best is not None
        values = self._rounded(self._best[1])
        found = self._fitting.infer(values, self._constraints)
        train, validation = self._fitting.scores(found)
        return Fitted(values, found.losses, train, validation, tuple(self._history), self._stopped)

    def _restart(self, restart: int, start: Tensor, saved: Saved | None) -> None:
        fitting, settings = self._fitting, self._fitting.settings
        theta = self._begin(restart, start).requires_grad_()
        optimizer = torch.optim.Adam([theta], lr=settings.rate)
        epoch, gap, since = 0, 1, 0
        if saved is not None:
            epoch, gap, since = saved.restore(theta, optimizer)
        expected: float | None = None
        while True:
            found = fitting.infer(theta.detach(), self._constraints)
            if self._best is None or found.losses.measure < self._best[0] - _GAIN:
                self._best, since = (found.losses.measure, theta.detach().clone()), 0
            if not self._tell(restart, epoch, found):
                self._stopped = "interrupted"
                return
            if epoch >= settings.epochs:
                self._stopped = "epochs"
                return
            if settings.patience is not None and since >= settings.patience:
                self._stopped = "patience"
                return
            if expected is not None:  # not so at the start, nor where it goes on after a kill
                exact = abs(expected - found.losses.total) <= _AGREE * max(1.0, abs(found.losses.total))
                gap = min(_RARE, 2 * gap) if exact else max(1, gap // 2)
            if self._checkpoint is not None:
                self._checkpoint.write(restart, (epoch, gap, since), theta, optimizer, self._best)
            now = min(gap, settings.epochs - epoch)
            expected = self._epochs(theta, optimizer, found, (restart, epoch, now))
            epoch, since = epoch + now, since + now

    def _begin(self, restart: int, start: Tensor) -> Tensor:
        """Where a restart begins: every one but the first at weights, biases and truths of its own."""
        if not restart:
            return start.clone()
        settings = self._fitting.settings
        generator = torch.Generator().manual_seed(_mixed(settings.seed, restart, -1))
        noise = torch.randn(len(start), generator=generator, dtype=start.dtype) * settings.spread
        moved = torch.tensor([each.kind != "value" for each in self._fitting.parameters], dtype=torch.bool)
        return self._constraints.project(torch.where(moved, start + noise, start), start).clone()

    def _epochs(
        self, theta: Tensor, optimizer: torch.optim.Adam, found: Inferred, where: tuple[int, int, int]
    ) -> float:
        """Some epochs without inference; returns the loss that the replays come to."""
        restart, epoch, count = where
        fitting, constraints = self._fitting, self._constraints
        generator = torch.Generator().manual_seed(_mixed(fitting.settings.seed, restart, epoch))
        own = fitting.batches(found, generator)
        for _ in range(count):
            for number in torch.randperm(len(own), generator=generator).tolist():
                before = theta.detach().clone()
                optimizer.zero_grad()
                total = sum(fitting.terms(own[number], theta, constraints).values())
                if isinstance(total, Tensor) and total.requires_grad:
                    total.backward()
                    optimizer.step()
                    with torch.no_grad():
                        theta.copy_(constraints.project(theta.detach(), before))
        with torch.no_grad():
            return self._replayed(own, theta)

    def _replayed(self, own: Sequence[LabelBatch], theta: Tensor) -> float:
        """The loss of all labels, by their replays."""
        total, others = 0.0, 0.0
        count = sum(len(each.targets) for each in own)
        for each in own:
            terms = {name: float(term) for name, term in self._fitting.terms(each, theta, self._constraints).items()}
            total += terms.pop("labels") * len(each.targets) / max(1, count)
            others = sum(terms.values())
        return total + others

    def _tell(self, restart: int, epoch: int, found: Inferred) -> bool:
        train, validation = self._fitting.scores(found)
        losses, accuracy = found.losses, (validation or train).accuracy
        self._history.append(Epoch(restart + 1, epoch, losses.total, losses.terms, losses.validation, accuracy))
        return self._listen is None or self._listen(self._history[-1]) is not False

    def _rounded(self, values: Tensor) -> Tensor:
        """The values with as few digits as cost nothing: the constraints hold, neither loss grows by more than
        `_COSTS_NOTHING` of itself, and no atom less is taken right."""
        exact = self._measures(values)
        for digits in _DIGITS:
            fewer = torch.round(values, decimals=digits)
            if self._constraints.holds(fewer) and all(
                now <= before * (1 + _COSTS_NOTHING) + _GAIN
                for now, before in zip(self._measures(fewer), exact, strict=True)
            ):
                return fewer
        return values

    def _measures(self, values: Tensor) -> list[float]:
        found = self._fitting.infer(values, self._constraints)
        losses = [found.losses.total, found.losses.validation]
        wrong = [1 - each.accuracy for each in self._fitting.scores(found) if each is not None]
        return [*(each for each in losses if each is not None), *wrong]


def _mixed(seed: int, restart: int, epoch: int) -> int:
    """A seed of its own for each place of a run."""
    return (seed * 1_000_003 + restart * 7_919 + epoch + 2) % (2**63)
