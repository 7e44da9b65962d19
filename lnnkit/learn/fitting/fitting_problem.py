"""The objective of fitting: a program at given parameter values, its labels, and the loss there."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import NamedTuple, get_args

import torch
from torch import Tensor

from lnnkit.analysis.supports import SupportCache
from lnnkit.arrays import where_set
from lnnkit.check.program import CheckedProgram
from lnnkit.graph.lifting import build
from lnnkit.join.instances.grounding import Guard
from lnnkit.learn.comparisons.candidates import ThresholdRows
from lnnkit.learn.fitting.loss import Distance, LabelBatch, SoftEnds, Targets, crossings, supports, targets
from lnnkit.learn.labels import LabelledBounds, label_queries, labelled_bounds, labels, last_events, mentioned, split
from lnnkit.learn.parameters.constraints import Constraints, learned_neurons
from lnnkit.learn.parameters.rule_parameters import LearnedParameter, at, rule_names
from lnnkit.learn.replay.neural_predicates import Binding, bound, bound_atoms, bound_replay, comparison_queries
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.scores import Scores
from lnnkit.store.stated_facts import Gathering

# Of its spread, what a threshold moves while a weight moves by 1. Accuracies as in gradient_descent.py, of thresholds
# that start far off and of placed ones: 0.730 and 0.953; with 0.1, 0.723 and 0.953; with 1.0, 0.810 and 0.945.
_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Settings:
    """How to fit. ``batch`` labels make a step (None: all); ``patience`` is in epochs (None: no early stopping);
    ``soft`` replays all supports of a label, and the last five are the loss (`lnnkit.learn.fitting.loss`): the terms of
    the last four have these weights; ``slack`` None: none is permitted."""

    epochs: int = 200
    rate: float = 0.05
    module_rate: float = 1e-3
    batch: int | None = None
    validation: float = 0.2
    patience: int | None = 50
    restarts: int = 1
    seed: int = 0
    balanced: bool = False
    soft: bool = False
    classical: frozenset[str] = frozenset()
    alpha: float = 1.0
    distance: Distance = "squared"
    contradictions: float = 1.0
    uncertainty: float = 0.0
    decay: float = 0.0
    slack: float | None = None

    def __post_init__(self) -> None:
        """Raises ``ValueError`` for settings outside their ranges."""
        if self.distance not in get_args(Distance):
            raise ValueError(f"loss must be one of {', '.join(map(repr, get_args(Distance)))}; got {self.distance!r}")
        for name in ("contradictions", "uncertainty", "decay", "slack"):
            weight = getattr(self, name)
            if weight is not None and not 0 <= weight < math.inf:
                raise ValueError(f"{name} must be a number of at least 0; got {weight}")
        counts = {"epochs": self.epochs, "restarts": self.restarts, "batch": self.batch, "patience": self.patience}
        for name, count in counts.items():
            if count is not None and not (isinstance(count, Integral) and int(count) >= 1):
                raise ValueError(f"{name} must be a whole number of at least 1; got {count!r}")
        if not (isinstance(self.seed, Integral) and -(2**63) <= int(self.seed) < 2**63):
            raise ValueError(f"seed must be a whole number of 64 bits; got {self.seed!r}")
        for name, rate in (("rate", self.rate), ("module_rate", self.module_rate)):
            if not 0 < rate < math.inf:
                raise ValueError(f"{name} must be above 0; got {rate}")
        if not 0 <= self.validation < 1:
            raise ValueError(f"validation must be a share of the labels, from 0 to below 1; got {self.validation}")
        if not 0.5 < self.alpha <= 1:
            raise ValueError(f"alpha must be above 0.5 and at most 1; got {self.alpha}")
        if not self.classical and (self.alpha != 1 or self.slack is not None):
            raise ValueError("alpha and slack need classical rules: name them with classical=[...]")


class Unstarted(Exception):
    """A ``parameter`` has no initial value."""

    def __init__(self, parameter: LearnedParameter) -> None:
        super().__init__(f"`{parameter.span.text}` has no value to start from")
        self.parameter = parameter


class Losses(NamedTuple):
    """The loss of the training labels and its terms, and that of the validation labels (None: there are none)."""

    total: float
    terms: dict[str, float]
    validation: float | None

    @property
    def measure(self) -> float:
        """The quantity to minimise."""
        return self.total if self.validation is None else self.validation


class Inferred(NamedTuple):
    """A fixpoint, by its bounds for the labels, and the loss."""

    bounds: LabelledBounds
    losses: Losses

    @property
    def trace(self) -> RecordedInference:
        return self.bounds.inference


class Standing(NamedTuple):
    """The scores on the training and on the validation labels, and the answers for all labels, (n,)."""

    train: Scores
    validation: Scores | None
    truths: Tensor

    @property
    def exact(self) -> bool:
        """Whether every label is met exactly."""
        return all(scores is None or scores.exact for scores in (self.train, self.validation))


class Fitting:
    """One program and its labels. ``rules`` are the indices of the learning rules among its assertions."""

    def __init__(
        self,
        program: CheckedProgram,
        parameters: Sequence[LearnedParameter],
        settings: Settings,
        guard: Guard,
        rules: Collection[int],
        bindings: Sequence[Binding] = (),
    ) -> None:
        self.parameters = tuple(parameters)
        self.settings = settings
        self._program = program
        self.bindings = tuple(bindings)
        self._guard = guard
        self._known = SupportCache()
        self._gathering = Gathering()
        self._supplied = [binding.predicate for binding in bindings if binding.numeric]
        self._widely = settings.soft or bool(self._supplied)
        program = bound(program, bindings)
        self._queries = (*label_queries(program), *comparison_queries(program, bindings))
        self.mentioned = mentioned(program, self._queries)
        self.labels = labels(program, self.mentioned)
        self._placed = frozenset(parameter.name for parameter in self.parameters if parameter.start is None)
        self.thresholds: dict[str, ThresholdRows] = {}  # by constant of a comparison
        self.split = split(self.labels, settings.validation, settings.seed)
        self._rules = {place: name for place, name in rule_names(program).items() if place in rules}
        self._decays = where_set(torch.tensor([parameter.kind in ("weight", "bias") for parameter in self.parameters]))
        self._train, self._held = (targets(self.labels, part, balanced=settings.balanced) for part in self.split)

    @property
    def program(self) -> CheckedProgram:
        """The program with the facts that its bindings supply now."""
        return bound(self._program, self.bindings)

    @property
    def units(self) -> Tensor:
        """The scale of each parameter: 1, or a share of the spread of the values with which a threshold is compared."""
        rows = [self.thresholds.get(parameter.name) for parameter in self.parameters]
        units = [1.0 if compared is None else _SHARE * compared.spread or 1.0 for compared in rows]
        return torch.tensor(units, dtype=torch.float64)

    def trace(self, values: Tensor, softness: float = 0.0, *, listed: bool = False) -> RecordedInference:
        """The fixpoint at some values, to be replayed with crisp comparisons softened. If ``listed``, labelled atoms
        are materialised even without bounds, as the replay of all their supports requires."""
        return RecordedInference(
            self.program,
            self.named(values),
            self._queries,
            guard=self._guard,
            known=self._known,
            gathering=self._gathering,
            softness=softness,
            placed=self._placed,
            supplied=self._supplied,
            listed=list(zip(self.labels.names, self.labels.columns, strict=True)) if self._widely or listed else (),
        )

    def named(self, values: Tensor) -> dict[str, float]:
        """The values by the names of the parameters."""
        return {parameter.name: value for parameter, value in zip(self.parameters, values.tolist(), strict=True)}

    @cached_property
    def constraints(self) -> Constraints:
        """The constraints on the parameters. Raises `Infeasible`."""
        program = at(self.program, {parameter.name: parameter.start or 0.0 for parameter in self.parameters})
        lifted = build(replace(program, queries=tuple(self._queries)))
        return Constraints(
            self.parameters,
            learned_neurons(lifted, self._rules),
            self.settings.classical,
            self.settings.alpha,
            slack=self.settings.slack is not None,
            statements=lifted.statements,
        )

    def infer(self, values: Tensor, softness: float = 0.0) -> Inferred:
        """The fixpoint and its loss; the replays of it are softened (see `trace`)."""
        bounds = labelled_bounds(self.trace(values, softness), self.labels)
        train, held = (torch.cat([bounds.lower[which], bounds.upper[which]]) for which in self.split)
        terms = self._terms(self._train, train, crossings(bounds.inference), values)
        validation = float(self._held.distance(held, self.settings.distance)) if len(held) else None
        numbers = {name: float(term) for name, term in terms.items()}
        return Inferred(bounds, Losses(sum(numbers.values()), numbers, validation))

    def terms(self, batch: LabelBatch, values: Tensor) -> dict[str, Tensor]:
        """The terms of the loss of some labels, from their replay; differentiable."""
        ends, crossed = batch.bounds(values)
        return self._terms(batch.targets, ends, crossed, values)

    def _terms(self, wanted: Targets, ends: Tensor, crossed: Tensor, values: Tensor) -> dict[str, Tensor]:
        settings = self.settings
        terms = {"labels": wanted.distance(ends, settings.distance)}
        if settings.contradictions:
            terms["contradictions"] = settings.contradictions * crossed
        if settings.uncertainty:
            terms["uncertainty"] = settings.uncertainty * wanted.uncertainty(ends)
        if settings.decay:
            terms["decay"] = settings.decay * ((values.index_select(0, self._decays) - 1.0) ** 2).sum()
        if settings.slack is not None:
            terms["slack"] = settings.slack * self.constraints.slackness(values)
        return terms

    @property
    def whole(self) -> bool:
        """Whether all training labels form one batch, whose replay serves as long as the derivations stay the same."""
        size, alone = self.settings.batch, not self.bindings and not self.settings.soft
        return alone and (size is None or size >= len(self.split.train))

    def batches(self, inferred: Inferred, generator: torch.Generator) -> list[LabelBatch]:
        """The training labels in batches, each with its replay and all contradictions: over all supports on request, or
        if crisp comparisons of numbers from modules are softened, since false ones must learn too."""
        train, size = self.split.train, self.settings.batch
        moved = any(comparison.moved and comparison.crisp for comparison in inferred.trace.comparisons.values())
        parts = [train]
        if size is not None and size < len(train):
            parts = [train[part] for part in torch.randperm(len(train), generator=generator).split(size)]
        soft = self.settings.soft or moved
        bounds, inference, rows = inferred.bounds, inferred.trace, inferred.bounds.keys[0] // 2
        supported = supports(inference, rows[torch.cat([*parts])]) if soft else None
        crossed = torch.from_numpy(inference.numbers.crossed)
        (low, high), (lowered, raised) = last_events(inference, crossed)
        arrested = inference.events.crossings
        owned = [(binding, bound_atoms(binding, inference)) for binding in self.bindings]
        made: list[LabelBatch] = []
        for which in parts:
            events = [*(event[which] for event in bounds.events), lowered, raised, arrested]
            keys = [*(key[which] for key in bounds.keys), low, high, torch.full_like(arrested, -1)]
            replay = inference.replay(torch.cat(events), torch.cat(keys))
            wanted, ends = targets(self.labels, which, balanced=self.settings.balanced), None
            if supported is not None:
                several, owner = supported.of(rows[which])
                replayed = inference.replay(several, torch.full_like(several, -1))
                ends = SoftEnds(bound_replay(replayed, owned), *torch.unique(owner, return_inverse=True))
            elif torch.equal(*replay.places.tensor_split([len(wanted)])) and (points := wanted.as_points()) is not None:
                # An epoch of 100,000 labels takes 2.2 ms instead of 2.6
                replay, wanted = replace(replay, places=replay.places[: len(wanted)]), points
            made.append(LabelBatch(wanted, bound_replay(replay, owned), len(crossed), ends))
        return made

    def standing(self, inferred: Inferred) -> Standing:
        """How the answers agree with the labels."""
        bounds, (train, held) = inferred.bounds, self.split
        return Standing(bounds.scores(train), bounds.scores(held) if len(held) else None, bounds.truths)
