"""Constraints on parameters, enforced after every step: ranges, ordered truth bounds, and neurons that stay classical.
Values are projected onto the ranges, then onto half-spaces in turn until all hold (von Neumann's alternating
projections). If that fails, neurons are moved toward feasible values that are known; else the step is rejected."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lnnkit.arrays import all_set
from lnnkit.graph.lifted import LiftedGraph, Root
from lnnkit.learn.parameters.rule_parameters import LearnedParameter
from lnnkit.logic import logic_named
from lnnkit.logic.classical_region import Region

_CLASSICAL = frozenset({"and", "or", "implies"})
_SWEEPS = 100
_SHARES = (1e-6, 1e-4, 1e-2, 0.1, 0.3, 0.6, 1.0)
_TOLERANCE = 1e-12  # rounding
_OVER = 1.3  # over-relaxation of projections: without it a slanted half-space is only approached


@dataclass(frozen=True, slots=True)
class LearnedNeuron:
    """A connective of a rule: its weights, then its bias (``values``), and their parameters, None where fixed."""

    rule: str
    text: str
    kind: str
    logic: str
    values: tuple[float, ...]
    names: tuple[str | None, ...]

    def region(self, alpha: float) -> Region | None:
        return logic_named(self.logic).classical(self.kind, len(self.values) - 1, alpha)

    def classical(self, values: Mapping[str, float], alpha: float) -> bool:
        """Whether it is classical at ``alpha``, to 1e-9."""
        found = self.region(alpha)
        now = [values.get(name or "", value) for name, value in zip(self.names, self.values, strict=True)]
        return found is not None and found.violation(now) <= 1e-9


def learned_neurons(lifted: LiftedGraph, rules: Mapping[int, str]) -> list[LearnedNeuron]:
    """The connectives of rules, except equivalences. ``rules`` names the statements that are rules, by index."""
    found: list[LearnedNeuron] = []
    seen: set[str] = set()
    for place, root in enumerate(lifted.statements):
        if place not in rules:
            continue
        stack = [root.reference.node]
        while stack:
            node = stack.pop()
            data = lifted.graph.nodes[node]
            edges = lifted.graph.operands[node]
            stack.extend(operand for operand, _ in reversed(edges))
            if data["kind"] in _CLASSICAL and node not in seen:
                seen.add(node)
                weights = tuple(edge["weight"] for _, edge in edges)
                named = (*(edge["parameter"] for _, edge in edges), data["learned"].get("bias"))
                text = " ".join(data["span"].text.split())
                found.append(
                    LearnedNeuron(rules[place], text, data["kind"], data["logic"], (*weights, data["bias"]), named)
                )
    return found


@dataclass(frozen=True, slots=True)
class _HalfSpace:
    """``sum coefficient * value <= limit`` over the values at ``places``."""

    places: tuple[int, ...]
    coefficients: tuple[float, ...]
    limit: float

    def excess(self, values: Sequence[float]) -> float:
        return sum(c * values[p] for c, p in zip(self.coefficients, self.places, strict=True)) - self.limit


class Infeasible(Exception):
    """No values satisfy the conditions of ``neuron``."""

    def __init__(self, neuron: LearnedNeuron, alpha: float) -> None:
        super().__init__(f"`{neuron.text}` cannot be classical at {alpha:g}")
        self.neuron = neuron
        self.alpha = alpha


class Constraints:
    """Keeps neurons of rules in ``classical`` so at ``alpha``; ``slack`` lets their operands be omitted, at a cost."""

    def __init__(
        self,
        parameters: Sequence[LearnedParameter],
        neurons: Sequence[LearnedNeuron] = (),
        classical: Collection[str] = (),
        alpha: float = 1.0,
        *,
        slack: bool = False,
        statements: Sequence[Root] = (),
    ) -> None:
        self._place = {each.name: place for place, each in enumerate(parameters)}
        self.least = torch.tensor([each.low for each in parameters], dtype=torch.float64)
        self.most = torch.tensor([each.high for each in parameters], dtype=torch.float64)
        self._half_spaces: list[_HalfSpace] = []
        self._slack: list[_HalfSpace] = []
        self._inside: dict[int, float] = {}  # by index: a value that satisfies its neuron's conditions with the others
        self._alpha = alpha
        self.declared = [
            neuron
            for neuron in neurons
            if neuron.rule in classical and any(name in self._place for name in neuron.names)
        ]
        for neuron in self.declared:
            self._declare(neuron, slack=slack)
        for root in statements:
            if all(name in self._place for name in root.learned) or (
                any(name in self._place for name in root.learned) and (root.lower > 0.0) and (root.upper < 1.0)
            ):
                self._keep_in_order(root)

    def _keep_in_order(self, root: Root) -> None:
        """Keep the lower truth below the upper one."""
        own = self._half_space((1.0, -1.0), root.learned, (root.lower, root.upper), 0.0)
        self._half_spaces.append(own)

    def _half_space(
        self, row: Sequence[float], names: Sequence[str | None], values: Sequence[float], limit: float
    ) -> _HalfSpace:
        """``sum row * value <= limit``, where the values of other ``names`` than parameters are fixed."""
        terms = [(c, self._place.get(name or ""), v) for c, name, v in zip(row, names, values, strict=True) if c]
        free = [(place, c) for c, place, _ in terms if place is not None]
        limit -= sum(c * value for c, place, value in terms if place is None)
        return _HalfSpace(tuple(place for place, _ in free), tuple(c for _, c in free), limit)

    def _declare(self, neuron: LearnedNeuron, *, slack: bool) -> None:
        found = neuron.region(self._alpha)
        if found is None:
            raise Infeasible(neuron, self._alpha)
        for name, value in zip(neuron.names, found.inside, strict=True):
            if name in self._place:
                self._inside.setdefault(self._place[name], value)
        for row, limit, slackable in found.conditions:
            own = self._half_space(row, neuron.names, neuron.values, limit)
            if not own.places and own.limit < -1e-9:
                raise Infeasible(neuron, self._alpha)
            if own.places:
                (self._slack if slack and slackable else self._half_spaces).append(own)

    def start(self, values: Tensor) -> Tensor:
        """Feasible values near these. Raises `Infeasible` if none are found."""
        found = self._projected(values, sweeps=50 * _SWEEPS)
        if found is None:
            raise Infeasible(self.declared[0], self._alpha)
        return found

    def project(self, values: Tensor, before: Tensor) -> Tensor:
        """Feasible values near ``values``; the feasible ``before`` if none are found."""
        found = self._projected(values, sweeps=_SWEEPS)
        return before if found is None else found

    def holds(self, values: Tensor) -> bool:
        """Whether all constraints hold exactly."""
        inside = all_set((values >= self.least) & (values <= self.most))
        now = values.tolist()
        return inside and all(each.excess(now) <= _TOLERANCE for each in self._half_spaces)

    def slackness(self, values: Tensor) -> Tensor:
        """The sum of violations of the conditions that slack permits; differentiable."""
        total = torch.zeros((), dtype=values.dtype)
        for each in self._slack:
            own = torch.tensor(each.coefficients, dtype=values.dtype) * values[list(each.places)]
            total = total + (own.sum() - each.limit).clamp(min=0.0)
        return total

    def _projected(self, values: Tensor, sweeps: int) -> Tensor | None:
        clamped = torch.minimum(torch.maximum(values, self.least), self.most)
        if not self._half_spaces:
            return clamped
        now = clamped.tolist()
        least, most = self.least.tolist(), self.most.tolist()
        for _ in range(sweeps):
            broken = False
            for each in self._half_spaces:
                excess = each.excess(now)
                if excess > _TOLERANCE / 2:
                    broken = True
                    over = 1.0 if excess < 1e-9 else _OVER
                    step = over * excess / sum(c * c for c in each.coefficients)
                    for c, p in zip(each.coefficients, each.places, strict=True):
                        now[p] = min(max(now[p] - step * c, least[p]), most[p])
            if not broken:
                return torch.tensor(now, dtype=values.dtype)
        for share in _SHARES:
            drawn = [value + share * (self._inside.get(place, value) - value) for place, value in enumerate(now)]
            if all(each.excess(drawn) <= _TOLERANCE for each in self._half_spaces):
                return torch.tensor(drawn, dtype=values.dtype)
        return None
