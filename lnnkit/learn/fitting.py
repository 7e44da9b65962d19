"""Fitting: inference finds the winners, epochs replay their derivations, and now and then inference looks again.

Between two inferences nothing is grounded: an epoch evaluates the derivations of the labelled atoms and of the
contradictions, and steps down the gradient. That is exact as long as the same instances win; whether they do is seen at
the next inference, whose loss is compared with the replay's. While the two agree, the epochs between inferences double,
and where they do not, they halve. The values that are kept are those with the least loss of an inference, never of a
replay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor

from lnnkit.check.program import CheckedProgram
from lnnkit.ground.analyses import Known
from lnnkit.infer.inference import Budget
from lnnkit.learn.checkpoint import Checkpoint
from lnnkit.learn.constraints import Constraints, LearnedNeuron, learned_neurons
from lnnkit.learn.labels import Labels, Told, labels, last_events, told_of
from lnnkit.learn.metrics import scores
from lnnkit.learn.objective import Objective, class_weights, crossing, decay, label_distance, uncertainty
from lnnkit.learn.parameters import Parameter, rule_names
from lnnkit.learn.replay import Replay
from lnnkit.learn.split import Split, split
from lnnkit.learn.tracing import Trace, label_queries, mentioned, trace
from lnnkit.scores import Epoch, Scores

_AGREE = 1e-6  # a replay's loss that differs from that of inference by no more is exact
_RARE = 64  # epochs between two inferences at most
_DIGITS = (2, 3, 4, 6, 9)
_COSTS_NOTHING = 1e-3


@dataclass(frozen=True, slots=True)
class Settings:
    """How to fit. ``batch`` labels make a step (None: all); ``patience`` is in epochs (None: no early stopping);
    ``spread`` is the standard deviation by which restarts after the first move the weights that they start from."""

    epochs: int = 200
    rate: float = 0.05
    batch: int | None = None
    validation: float = 0.2
    patience: int | None = 50
    restarts: int = 1
    spread: float = 0.3
    seed: int = 0
    balanced: bool = False
    classical: frozenset[str] = frozenset()
    alpha: float = 1.0
    slack: float | None = None
    objective: Objective = field(default_factory=Objective)
    max_rounds: int = 100_000


@dataclass(frozen=True, slots=True)
class Losses:
    """The loss of the training labels and its terms, and that of the validation labels (None: there are none)."""

    total: float
    terms: dict[str, float]
    validation: float | None

    @property
    def measure(self) -> float:
        """What is to become small."""
        return self.total if self.validation is None else self.validation


@dataclass(frozen=True, slots=True)
class Fitted:
    """The values with the least loss, in the order of the parameters, and the scores there."""

    values: Tensor
    losses: Losses
    train: Scores
    validation: Scores | None
    history: tuple[Epoch, ...]
    stopped: Literal["epochs", "patience", "interrupted"]


Listen = Callable[[Epoch], bool | None]
"""Told of every inference; fitting ends where it returns False."""


class Fitting:
    """One program, its labels, and how to fit it."""

    def __init__(
        self,
        program: CheckedProgram,
        parameters: Sequence[Parameter],
        settings: Settings,
        budget: Budget,
        rules: Collection[int],
    ) -> None:
        self.program = program
        self.parameters = tuple(parameters)
        self.settings = settings
        self._budget = budget
        self._known = Known()
        self._queries = label_queries(program)
        self.labels: Labels = labels(program, mentioned(program, self._queries))
        self.split: Split = split(self.labels, settings.validation, settings.seed)
        names = rule_names(program)
        self._rules = {place: names[place] for place in rules}
        self._names = tuple(each.name for each in self.parameters)
        self._decays = torch.tensor([each.kind in ("weight", "bias") for each in self.parameters], dtype=torch.bool)
        own = self.labels
        self._weights = {
            "train": self._label_weights(self.split.train),
            "validation": self._label_weights(self.split.validation),
        }
        self._wanted = own.lower.double(), own.upper.double()

    def infer(self, values: Tensor) -> Trace:
        """The fixpoint at some values."""
        now = dict(zip(self._names, values.tolist(), strict=True))
        return trace(
            self.program,
            now,
            self._queries,
            budget=self._budget,
            round_limit=self.settings.max_rounds,
            known=self._known,
            through=True,
        )

    def neurons(self, found: Trace) -> list[LearnedNeuron]:
        return learned_neurons(found.fixpoint.prepared.lifted, self._rules)

    def run(self, start: Tensor, listen: Listen | None, checkpoint: Checkpoint | None) -> Fitted:
        """Fit from these values on. Raises `lnnkit.learn.constraints.Infeasible` and `TooLarge`."""
        settings = self.settings
        found = self.infer(start)
        constraints = Constraints(
            self.parameters,
            self.neurons(found),
            settings.classical,
            settings.alpha,
            slack=settings.slack is not None,
            statements=found.fixpoint.prepared.lifted.statements,
        )
        run = _Run(self, constraints, listen, checkpoint)
        return run.fitted(constraints.start(start))

    def losses(self, found: Trace, told: Told, values: Tensor, constraints: Constraints) -> Losses:
        """The loss of inference itself."""
        terms = self._terms(
            told.lower[self.split.train],
            told.upper[self.split.train],
            self.split.train,
            self._weights["train"],
            _crossings(found),
            values,
            constraints,
        )
        validation = None
        if len(self.split.validation):
            own = self.split.validation
            wanted = self._wanted[0][own], self._wanted[1][own]
            weight, distance = self._weights["validation"], self.settings.objective.distance
            validation = float(label_distance(told.lower[own], told.upper[own], wanted, weight, distance))
        numbers = {name: float(term) for name, term in terms.items()}
        return Losses(sum(numbers.values()), numbers, validation)

    def terms(self, batch: LabelBatch, values: Tensor, constraints: Constraints) -> dict[str, Tensor]:
        """The terms of the loss of some labels, by their replay; gradients pass."""
        bounds = batch.replay.bounds(values)
        count, atoms = len(batch.labels), batch.crossed
        lower, upper = bounds[:count], bounds[count : 2 * count]
        low, high = bounds[2 * count : 2 * count + atoms], bounds[2 * count + atoms : 2 * (count + atoms)]
        crossed = crossing(low, high) + bounds[2 * (count + atoms) :].clamp(min=0.0).sum()
        return self._terms(lower, upper, batch.labels, batch.weight, crossed, values, constraints)

    def _terms(
        self,
        lower: Tensor,
        upper: Tensor,
        which: Tensor,
        weight: Tensor,
        crossed: Tensor,
        values: Tensor,
        constraints: Constraints,
    ) -> dict[str, Tensor]:
        objective = self.settings.objective
        wanted = self._wanted[0][which], self._wanted[1][which]
        terms = {"labels": label_distance(lower, upper, wanted, weight, objective.distance)}
        if objective.contradictions:
            terms["contradictions"] = objective.contradictions * crossed
        if objective.uncertainty:
            terms["uncertainty"] = objective.uncertainty * uncertainty(lower, upper, wanted, weight)
        if objective.decay:
            terms["decay"] = objective.decay * decay(values, self._decays)
        if self.settings.slack:
            terms["slack"] = self.settings.slack * constraints.slackness(values)
        return terms

    def batches(self, found: Trace, told: Told, generator: torch.Generator) -> list[LabelBatch]:
        """The training labels in batches, with what is to be replayed for each."""
        train, size = self.split.train, self.settings.batch
        parts: Sequence[Tensor] = [torch.arange(len(train))]
        if size is not None and size < len(train):
            parts = torch.randperm(len(train), generator=generator).split(size)
        crossed, arrested = _contradictory(found)
        return [self._batch(found, told, train[part], part, crossed, arrested) for part in parts]

    def _batch(
        self,
        found: Trace,
        told: Told,
        which: Tensor,
        part: Tensor,
        crossed: tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]],
        arrested: Tensor,
    ) -> LabelBatch:
        events = [told.events[0][which], told.events[1][which], *crossed[1], arrested]
        keys = [told.keys[0][which], told.keys[1][which], *crossed[0], torch.full_like(arrested, -1)]
        replay = found.replayer.replay(torch.cat(events), torch.cat(keys))
        weight = self._weights["train"][part]
        return LabelBatch(which, weight / weight.sum(), replay, len(crossed[0][0]))

    def _label_weights(self, which: Tensor) -> Tensor:
        own = self.labels
        return class_weights(own.lower[which], own.upper[which], own.predicate[which], balanced=self.settings.balanced)

    def rounded(self, values: Tensor, constraints: Constraints) -> Tensor:
        """The values with as few digits as cost nothing: the constraints hold, and neither loss grows by more than
        `_COSTS_NOTHING` of itself, nor is an atom less taken right."""
        exact = self._measures(values, constraints)
        for digits in _DIGITS:
            fewer = torch.round(values, decimals=digits)
            if constraints.holds(fewer) and all(
                now <= before * (1 + _COSTS_NOTHING) + 1e-9
                for now, before in zip(self._measures(fewer, constraints), exact, strict=True)
            ):
                return fewer
        return values

    def _measures(self, values: Tensor, constraints: Constraints) -> list[float]:
        found = self.infer(values)
        told = told_of(found, self.labels)
        losses = self.losses(found, told, values, constraints)
        wrong = [1 - each.accuracy for each in self.scores(found, told) if each is not None]
        return [losses.total, *([] if losses.validation is None else [losses.validation]), *wrong]

    def scores(self, found: Trace, told: Told) -> tuple[Scores, Scores | None]:
        """On the training and on the validation labels."""
        validation = scores(found, self.labels, told, self.split.validation) if len(self.split.validation) else None
        return scores(found, self.labels, told, self.split.train), validation


@dataclass(frozen=True, slots=True)
class LabelBatch:
    """Some labels with their weights, which sum to 1, and a replay of their lower ends, their upper ends, the lower and
    the upper ends of ``crossed`` atoms, and how far arrested instances cross."""

    labels: Tensor
    weight: Tensor
    replay: Replay
    crossed: int


def _contradictory(
    found: Trace,
) -> tuple[tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]], Tensor]:
    """The keys and events of the bounds of arrested atoms, and the events of arrested instances."""
    rows = found.fixpoint.prepared.state.crossed.rows.values.long()
    return last_events(found, rows), found.replayer.events.crossings


def _crossings(found: Trace) -> Tensor:
    """By how much bounds are crossed, in all."""
    crossed = found.fixpoint.prepared.state.crossed
    total = crossing(crossed.lower.values.double(), crossed.upper.values.double())
    for each in found.fixpoint.progress.arrested:
        total = total + crossing(each.roots.lower.double(), each.roots.upper.double())
    return total


class _Run:
    """What one call of ``fit`` goes through. ``best`` is the least loss so far, with its values."""

    def __init__(
        self, fitting: Fitting, constraints: Constraints, listen: Listen | None, checkpoint: Checkpoint | None
    ) -> None:
        self._fitting = fitting
        self._constraints = constraints
        self._listen = listen
        self._checkpoint = checkpoint
        self._history: list[Epoch] = []
        self._best: tuple[float, Tensor] | None = None
        self._stopped: Literal["epochs", "patience", "interrupted"] = "epochs"

    def fitted(self, start: Tensor) -> Fitted:
        saved = self._checkpoint.read(self._fitting.parameters) if self._checkpoint is not None else None
        if saved is not None and saved.best is not None:
            self._best = (saved.best_measure, saved.best)
        for restart in range(0 if saved is None else saved.restart, self._fitting.settings.restarts):
            resumed = saved if saved is not None and restart == saved.restart else None
            self._restart(restart, start, resumed)
            if self._stopped == "interrupted":
                break
        assert self._best is not None
        values = self._fitting.rounded(self._best[1], self._constraints)
        found = self._fitting.infer(values)
        told = told_of(found, self._fitting.labels)
        losses = self._fitting.losses(found, told, values, self._constraints)
        train, validation = self._fitting.scores(found, told)
        return Fitted(values, losses, train, validation, tuple(self._history), self._stopped)

    def _restart(self, restart: int, start: Tensor, resumed: object) -> None:
        settings = self._fitting.settings
        values = start
        if restart:
            generator = torch.Generator().manual_seed(_mixed(settings.seed, restart, -1))
            noise = torch.randn(len(start), generator=generator, dtype=start.dtype) * settings.spread
            moved = torch.tensor([p.kind != "value" for p in self._fitting.parameters], dtype=torch.bool)
            values = self._constraints.project(torch.where(moved, start + noise, start), start)
        theta = values.clone().requires_grad_()
        optimizer = torch.optim.Adam([theta], lr=settings.rate)
        epoch, gap, since = 0, 1, 0
        if resumed is not None:
            assert self._checkpoint is not None
            epoch, gap, since = self._checkpoint.restore(theta, optimizer)
        expected: float | None = None
        while True:
            found = self._fitting.infer(theta.detach())
            told = told_of(found, self._fitting.labels)
            losses = self._fitting.losses(found, told, theta.detach(), self._constraints)
            if self._best is None or losses.measure < self._best[0] - 1e-9:
                self._best, since = (losses.measure, theta.detach().clone()), 0
            if not self._tell(restart, epoch, losses, found, told):
                self._stopped = "interrupted"
                return
            if epoch >= settings.epochs:
                return
            if settings.patience is not None and since >= settings.patience:
                self._stopped = "patience"
                return
            if expected is not None:  # not so at the start, nor where it goes on after a kill
                exact = abs(expected - losses.total) <= _AGREE * max(1.0, abs(losses.total))
                gap = min(_RARE, 2 * gap) if exact else max(1, gap // 2)
            if self._checkpoint is not None:
                self._checkpoint.write(restart, (epoch, gap, since), theta, optimizer, (self._best[0], self._best[1]))
            now = min(gap, settings.epochs - epoch)
            expected = self._epochs(theta, optimizer, found, told, (restart, epoch, now))
            epoch, since = epoch + now, since + now

    def _epochs(
        self, theta: Tensor, optimizer: torch.optim.Adam, found: Trace, told: Told, where: tuple[int, int, int]
    ) -> float:
        """Some epochs without inference; returns the loss that the replays come to."""
        restart, epoch, gap = where
        fitting, constraints = self._fitting, self._constraints
        generator = torch.Generator().manual_seed(_mixed(fitting.settings.seed, restart, epoch))
        batches = fitting.batches(found, told, generator)
        for _ in range(gap):
            for number in torch.randperm(len(batches), generator=generator).tolist():
                before = theta.detach().clone()
                optimizer.zero_grad()
                terms = fitting.terms(batches[number], theta, constraints)
                total = torch.stack(list(terms.values())).sum()
                if total.requires_grad:
                    total.backward()
                    optimizer.step()
                    with torch.no_grad():
                        theta.copy_(constraints.project(theta.detach(), before))
        with torch.no_grad():
            return self._replayed(batches, theta)

    def _replayed(self, batches: Sequence[LabelBatch], theta: Tensor) -> float:
        total, terms = 0.0, {}
        count = sum(len(each.labels) for each in batches)
        for each in batches:
            terms = self._fitting.terms(each, theta, self._constraints)
            total += float(terms["labels"]) * len(each.labels) / max(1, count)
        return total + sum(float(term) for name, term in terms.items() if name != "labels")

    def _tell(self, restart: int, epoch: int, losses: Losses, found: Trace, told: Told) -> bool:
        fitting = self._fitting
        which = fitting.split.validation if len(fitting.split.validation) else fitting.split.train
        accuracy = scores(found, fitting.labels, told, which).accuracy
        self._history.append(Epoch(restart + 1, epoch, losses.total, losses.terms, losses.validation, accuracy))
        return self._listen is None or self._listen(self._history[-1]) is not False


def _mixed(seed: int, restart: int, epoch: int) -> int:
    """A seed of its own for each place of a run."""
    return (seed * 1_000_003 + restart * 7_919 + epoch + 2) % (2**63)
