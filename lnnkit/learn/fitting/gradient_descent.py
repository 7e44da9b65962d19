"""Gradient descent over replayed derivations, with periodic inference.

Between two inferences nothing is grounded: an epoch evaluates the derivations of the labelled atoms and of the
contradictions, and takes a gradient step. That is exact as long as the same instances win, which the next inference
tests by comparing its loss with the replay's. If they agree, the interval grows, faster if the derivations are the
same; otherwise it is halved. The values kept are those with the least loss of an inference, never of a replay."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from torch.optim.adam import adam

from lnnkit.arrays import all_set, as_numpy
from lnnkit.data.files import tensor_bytes, write_whole
from lnnkit.learn.fitting.chosen_values import simplified
from lnnkit.learn.fitting.fitting_problem import Fitting, Inferred, Losses, Standing
from lnnkit.learn.fitting.loss import LabelBatch
from lnnkit.learn.replay.recorded_inference import same_derivations
from lnnkit.scores import Epoch

_AGREE = 1e-6  # a replay is exact if its loss differs from that of inference by no more
# Epochs between two inferences. CPU ms an epoch of ten weights over 100,000 rows, 200 epochs: 1.5 to 1.8 as they are,
# 2.2 with _UNCHANGED 4 or _RAREST 64, 3.0 with _LONGER and _UNCHANGED 2, 1.6 with _UNCHANGED 64 or _RAREST 1024.
_LONGER = 4  # growth of the interval after exact replays
_UNCHANGED = 16  # the same if the derivations did not change either
_RARE = 64  # greatest interval
_RAREST = 256  # greatest interval without early stopping and with unchanged derivations
# Crisp comparisons. Accuracy of two learned thresholds (150 rows, 5 % of the labels wrong, 4 seeds): 0.730 where the
# program starts them far off, 0.953 where the data place them. No other value below changed either by more than 0.005.
_SOFTENED = 8  # epochs between two inferences; 1 takes 2.6 times the time, 32 two thirds
_SETTLED = 0.7  # share of the epochs before which there is no early stopping; 0 and 1 gave the same
_SOFTEST = 0.02  # the scale in the last epoch, relative to the first; 0.2 and 0.002 tried
_GAIN = 1e-9  # least gain of the loss
_SPREAD = 0.3  # standard deviation by which restarts after the first move the weights that they start from

Listen = Callable[[Epoch], bool | None]
"""Called after every inference; fitting stops if it returns False."""

StopReason = Literal["epochs", "patience", "solved", "interrupted"]


@dataclass(frozen=True, slots=True)
class FittedValues:
    """The values with the least loss, in the order of the parameters, and the agreement ``before`` and ``after``.
    ``kept`` is the index of these values in the history; None if they are from a run before an interruption. ``idle``
    marks those in rules that no label depends on."""

    values: Tensor
    losses: Losses
    before: Standing
    after: Standing
    history: tuple[Epoch, ...]
    kept: int | None
    stopped: StopReason
    idle: Tensor


def descend(fitting: Fitting, start: Tensor, listen: Listen | None, checkpoint: Checkpoint | None) -> FittedValues:
    """Fit from these values on. Raises `lnnkit.learn.parameters.constraints.Infeasible` and `TooLarge`."""
    descent = _GradientDescent(fitting, fitting.units, listen, checkpoint)
    return descent.fitted(fitting.constraints.start(start))


def as_it_stands(fitting: Fitting) -> FittedValues:
    """The agreement of a program without parameters with its labels."""
    values = torch.zeros(0, dtype=torch.float64)
    inferred = fitting.infer(values)
    standing = fitting.standing(inferred)
    stopped: StopReason = "solved" if standing.exact else "epochs"
    return FittedValues(values, inferred.losses, standing, standing, (), None, stopped, values.bool())


@dataclass
class _GradientDescent:
    """The state of one descent, with the least loss so far, its values, and the states of its ``modules``."""

    _fitting: Fitting
    _units: Tensor
    _listen: Listen | None
    _checkpoint: Checkpoint | None
    _modules: list[dict[str, Any]] = field(default_factory=list)
    _history: list[Epoch] = field(default_factory=list)
    _best: Best | None = None
    _kept: int | None = None
    _before: Standing | None = None
    _replays: tuple[Inferred, list[LabelBatch]] | None = None

    def fitted(self, start: Tensor) -> FittedValues:
        saved, stopped = None if self._checkpoint is None else self._checkpoint.read(), "epochs"
        if saved is not None:
            self._best = saved[1]
            self._before = self._fitting.standing(self._fitting.infer(start))
        for restart in range(0 if saved is None else saved[0].restart, self._fitting.settings.restarts):
            stopped, saved = self._restart(restart, start, saved), None
            if stopped in ("interrupted", "solved"):
                break
        assert self._best is not None and self._before is not None
        for binding, state in zip(self._fitting.bindings, self._modules, strict=False):  # none where nothing was better
            binding.module.load_state_dict(state)
        values, inferred, idle = simplified(self._fitting, self._best.values, start)
        after, history = self._fitting.standing(inferred), tuple(self._history)
        return FittedValues(values, inferred.losses, self._before, after, history, self._kept, stopped, idle)

    def _restart(self, restart: int, start: Tensor, saved: Saved | None) -> StopReason:
        """One descent: epochs of replays between inferences, which are the rarer the better replays predict them."""
        fitting, settings = self._fitting, self._fitting.settings
        if restart:  # from perturbed weights, biases and truths
            noise = torch.randn(len(start), generator=self._generator(restart, -1), dtype=start.dtype) * _SPREAD
            start = fitting.constraints.project(start + noise * self._units, start)
        point = (start / self._units).requires_grad_()
        weights = [weight for binding in fitting.bindings for weight in binding.module.parameters()]
        optimizer = _Adam([([point], settings.rate), (weights, settings.module_rate)])
        epoch, gap, since = 0, 1, 0
        if saved is not None:
            (_, epoch, gap, since), _, tensors = saved
            point.data.copy_(tensors["values"])
            if "step" in tensors:
                optimizer.state[point] = _Moments(*(tensors[name] for name in _Moments._fields))
        expected: float | None = None
        while True:
            softness = _SOFTEST ** (epoch / max(1, settings.epochs))
            values = point.detach() * self._units
            inferred = fitting.infer(values, softness)
            # Among equal losses, prefer the one that fits these labels better
            measure, total = inferred.losses.measure, inferred.losses.total
            gains = self._best is None or measure < self._best.measure - _GAIN
            if self._best is None or gains or (measure <= self._best.measure and total < self._best.total - _GAIN):
                self._best, since = Best(measure, total, values), 0 if gains else since
                self._kept = len(self._history)
                self._modules = [copy.deepcopy(binding.module.state_dict()) for binding in fitting.bindings]
            if not self._report(restart, epoch, inferred, values):
                return "interrupted"
            if epoch >= settings.epochs:
                return "epochs"
            if self._solved(inferred):
                return "solved"
            crisp = any(comparison.crisp for comparison in inferred.trace.comparisons.values())
            softened = crisp and epoch < _SETTLED * settings.epochs
            if settings.patience is not None and since >= settings.patience and not softened:
                return "patience"
            if expected is not None:  # not at the start, nor after resuming from a checkpoint
                exact = abs(expected - total) <= _AGREE * max(1.0, abs(total))
                if crisp or settings.soft:
                    exact = gap < _SOFTENED  # replays are softened, so the losses cannot agree
                unchanged = exact and self._unchanged(inferred)
                most = _RAREST if unchanged and settings.patience is None else _RARE
                gap = min(most, (_UNCHANGED if unchanged else _LONGER) * gap) if exact else max(1, gap // 2)
            if self._checkpoint is not None:
                self._checkpoint.write(RunPosition(restart, epoch, gap, since), point, optimizer, self._best)
            now = min(gap, settings.epochs - epoch)
            expected = self._epochs(point, optimizer, inferred, (restart, epoch, now))
            epoch, since = epoch + now, since + now

    def _solved(self, inferred: Inferred) -> bool:
        """Whether every label is met exactly and decay has no weight left to draw to 1."""
        fitting = self._fitting
        weighed = fitting.bindings or any(parameter.kind in ("weight", "bias") for parameter in fitting.parameters)
        points = all_set(fitting.labels.lower == fitting.labels.upper)
        return points and not weighed and fitting.standing(inferred).exact

    def _generator(self, restart: int, epoch: int) -> torch.Generator:
        """A generator with a distinct seed for each restart and epoch."""
        seed = self._fitting.settings.seed * 1_000_003 + restart * 7_919 + epoch + 2
        return torch.Generator().manual_seed(seed % 2**63)

    def _epochs(self, point: Tensor, optimizer: _Adam, inferred: Inferred, where: tuple[int, int, int]) -> float:
        """Run epochs without inference; returns the loss of the replays. ``point`` are the values in their units."""
        restart, epoch, count = where
        fitting, constraints, generator = self._fitting, self._fitting.constraints, self._generator(restart, epoch)
        if not self._unchanged(inferred):
            self._replays = inferred, fitting.batches(inferred, generator)
        assert self._replays is not None
        batches = self._replays[1]
        for _ in range(count):
            for number in torch.randperm(len(batches), generator=generator).tolist() if len(batches) > 1 else (0,):
                before = point.detach() * self._units
                optimizer.clear()
                first, *others = fitting.terms(batches[number], point * self._units).values()
                total = sum(others, first)
                if total.requires_grad:
                    total.backward()
                    optimizer.step()
                    with torch.no_grad():
                        point.copy_(constraints.project(point.detach() * self._units, before) / self._units)
        with torch.no_grad():
            return self._replayed(batches, point.detach() * self._units)

    def _unchanged(self, inferred: Inferred) -> bool:
        """Whether the replay of the previous inference serves this one too; if so, it is kept."""
        if self._replays is None or not self._fitting.whole:
            return False
        before, batches = self._replays
        if before is not inferred and not same_derivations(before.trace, inferred.trace):
            return False
        self._replays = inferred, batches
        return True

    def _replayed(self, batches: Sequence[LabelBatch], values: Tensor) -> float:
        """The loss of all labels, by their replays."""
        total, others, count = 0.0, 0.0, sum(len(batch.targets) for batch in batches)
        for batch in batches:
            labels, *rest = map(float, self._fitting.terms(batch, values).values())
            total += labels * len(batch.targets) / max(1, count)
            others = sum(rest)
        return total + others

    def _report(self, restart: int, epoch: int, inferred: Inferred, values: Tensor) -> bool:
        self._before = self._before or self._fitting.standing(inferred)
        losses, split = inferred.losses, self._fitting.split
        accuracy = inferred.bounds.accuracy(split.train if losses.validation is None else split.validation)
        named = self._fitting.named(values)
        self._history.append(Epoch(restart + 1, epoch, losses.total, losses.terms, losses.validation, accuracy, named))
        return self._listen is None or self._listen(self._history[-1]) is not False


class _Moments(NamedTuple):
    """How often Adam moved a tensor, and the means of its gradients and of their squares."""

    step: Tensor
    mean: Tensor
    square: Tensor


class _Adam:
    """Adam (Kingma and Ba 2015, arXiv 1412.6980) over groups of tensors with a rate each, by torch's function: torch's
    optimisers import its compiler, 2.5 CPU seconds."""

    def __init__(self, groups: Sequence[tuple[Sequence[Tensor], float]]) -> None:
        self._groups = groups
        self.state: dict[Tensor, _Moments] = {}

    def clear(self) -> None:
        """Forget the gradients."""
        for tensors, _ in self._groups:
            for tensor in tensors:
                tensor.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the tensors that have a gradient."""
        for tensors, rate in self._groups:
            moved = {tensor: tensor.grad for tensor in tensors if tensor.grad is not None}
            for tensor in moved.keys() - self.state.keys():
                self.state[tensor] = _Moments(torch.tensor(0.0), torch.zeros_like(tensor), torch.zeros_like(tensor))
            steps, means, squares = ([self.state[tensor][place] for tensor in moved] for place in range(3))
            adam(
                list(moved), list(moved.values()), means, squares, [], steps, amsgrad=False, beta1=0.9, beta2=0.999,
                lr=rate, weight_decay=0.0, eps=1e-8, maximize=False,
            )  # fmt: skip


# --- checkpoints: the state in a safetensors file, replaced atomically before each inference --------------------------


class OtherRun(Exception):
    """The file holds the state of another program or of other settings."""


class Best(NamedTuple):
    """The least loss so far: the quantity to minimise, the loss of the training labels, and the values."""

    measure: float
    total: float
    values: Tensor


class RunPosition(NamedTuple):
    """Where a run is: its restart and epoch, the epochs between two inferences, and those since the least loss."""

    restart: int
    epoch: int
    gap: int
    since: int


Saved = tuple[RunPosition, Best, Mapping[str, Tensor]]  # with the values, and the state of the optimiser


class Checkpoint(NamedTuple):
    """The checkpoint at ``path``. ``key`` identifies the run: settings, program and labels."""

    path: Path
    key: str

    @staticmethod
    def of(path: Path, fitting: Fitting, start: Tensor, text: str) -> Checkpoint:
        """The checkpoint of a run from these values, of a program with this text."""
        labels, settings = fitting.labels, fitting.settings
        plain = replace(settings, classical=frozenset())  # sets print in no fixed order
        digest = hashlib.sha256(repr((plain, sorted(settings.classical), labels.names)).encode())
        entities = (ids for columns in labels.columns for ids in columns)
        for array in (*map(as_numpy, (start, labels.predicate, labels.lower, labels.upper)), *entities):
            digest.update(array.tobytes())
        digest.update(text.encode())
        return Checkpoint(path, digest.hexdigest())

    def read(self) -> Saved | None:
        """The saved state, if the file exists. Raises `OtherRun`."""
        if not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                meta = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        except SafetensorError:
            meta, tensors = {}, {}
        if meta.get("key") != self.key:
            raise OtherRun(str(self.path))
        place = json.loads(meta["place"])
        measure, total = map(float.fromhex, place.pop("least"))
        return RunPosition(**place), Best(measure, total, tensors["best"]), tensors

    def write(self, place: RunPosition, theta: Tensor, optimizer: _Adam, best: Best) -> None:
        """Save the state of a run."""
        tensors = {"values": theta.detach(), "best": best.values}
        if theta in optimizer.state:
            tensors |= optimizer.state[theta]._asdict()
        text = json.dumps({**place._asdict(), "least": [best.measure.hex(), best.total.hex()]})
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
        write_whole(self.path, tensor_bytes(arrays, {"key": self.key, "place": text}))
