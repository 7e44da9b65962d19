"""Constraints on parameters, enforced after every step: ranges, ordered truth bounds, and neurons that stay classical.
Values are projected onto the ranges, then onto half-spaces in turn until all hold (von Neumann's alternating
projections). If that fails, neurons are moved toward feasible values that are known; else the step is rejected."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

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
        return logic_named(self.logic).classical_region(self.kind, len(self.values) - 1, alpha)

    def classical(self, values: Mapping[str, float], alpha: float) -> bool:
        """Whether it is classical at ``alpha``, to 1e-9."""
        region = self.region(alpha)
        now = [values.get(name or "", value) for name, value in zip(self.names, self.values, strict=True)]
        return region is not None and region.violation(now) <= 1e-9


def learned_neurons(lifted: LiftedGraph, rules: Mapping[int, str]) -> list[LearnedNeuron]:
    """The connectives of rules, except equivalences. ``rules`` names the statements that are rules, by index."""
    neurons: list[LearnedNeuron] = []
    seen: set[str] = set()
    for rule, root in ((rules[place], root) for place, root in enumerate(lifted.statements) if place in rules):
        stack = [root.reference.node]
        while stack:
            node = stack.pop()
            data, edges = lifted.graph.nodes[node], lifted.graph.operands[node]
            stack.extend(operand for operand, _ in reversed(edges))
            if data["kind"] in _CLASSICAL and node not in seen:
                seen.add(node)
                values = (*(edge["weight"] for _, edge in edges), data["bias"])
                named = (*(edge["parameter"] for _, edge in edges), data["learned"].get("bias"))
                text = " ".join(data["span"].text.split())
                neurons.append(LearnedNeuron(rule, text, data["kind"], data["logic"], values, named))
    return neurons


class Infeasible(Exception):
    """No values satisfy the conditions of ``neuron``."""

    def __init__(self, neuron: LearnedNeuron, alpha: float) -> None:
        super().__init__(f"`{neuron.text}` cannot be classical at {alpha:g}")


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
        self._place = {parameter.name: place for place, parameter in enumerate(parameters)}
        ranges = [parameter.range for parameter in parameters]
        self._least, self._most = np.array(ranges, np.float64).reshape(-1, 2).T
        self._half_spaces: list[tuple[np.ndarray, float]] = []  # coefficients of all parameters, and a limit
        self._slack: list[tuple[np.ndarray, float]] = []
        self._inside = np.full(len(parameters), np.nan)  # values that satisfy a neuron's conditions together
        self._alpha = alpha
        declared = (neuron for neuron in neurons if neuron.rule in classical)
        self.declared = [neuron for neuron in declared if not self._place.keys().isdisjoint(neuron.names)]
        for neuron in self.declared:
            region = neuron.region(alpha)
            if region is None:
                raise Infeasible(neuron, alpha)
            for name, value in zip(neuron.names, region.inside, strict=True):
                if name in self._place and np.isnan(self._inside[self._place[name]]):
                    self._inside[self._place[name]] = value
            for row, limit, slackable in region.conditions:
                coefficients, left = self._half_space(row, neuron.names, neuron.values, limit)
                if coefficients.any():
                    (self._slack if slack and slackable else self._half_spaces).append((coefficients, left))
                elif left < -1e-9:
                    raise Infeasible(neuron, alpha)
        for root in statements:
            learned, ends = [name in self._place for name in root.learned], (root.lower, root.upper)
            if all(learned) or (any(learned) and root.lower > 0.0 and root.upper < 1.0):  # lower <= upper
                self._half_spaces.append(self._half_space((1.0, -1.0), root.learned, ends, 0.0))

    def _half_space(
        self, row: Sequence[float], names: Sequence[str | None], values: Sequence[float], limit: float
    ) -> tuple[np.ndarray, float]:
        """``sum row * value <= limit``, where the values of other ``names`` than parameters are fixed."""
        coefficients = np.zeros(len(self._least))
        for coefficient, name, value in zip(row, names, values, strict=True):
            if name in self._place:
                coefficients[self._place[name]] += coefficient
            elif coefficient:
                limit -= coefficient * value
        return coefficients, limit

    def start(self, values: Tensor) -> Tensor:
        """Feasible values near these. Raises `Infeasible` if none are found."""
        feasible = self._projected(values, sweeps=50 * _SWEEPS)
        if feasible is None:
            raise Infeasible(self.declared[0], self._alpha)
        return feasible

    def project(self, values: Tensor, before: Tensor) -> Tensor:
        """Feasible values near ``values``; the feasible ``before`` if none are found."""
        feasible = self._projected(values, sweeps=_SWEEPS)
        return before if feasible is None else feasible

    def holds(self, values: Tensor) -> bool:
        """Whether all constraints hold exactly."""
        now = values.numpy()
        return bool(((now >= self._least) & (now <= self._most)).all()) and self._met(now)

    def slackness(self, values: Tensor) -> Tensor:
        """The sum of violations of the conditions that slack permits; differentiable."""
        excesses = [(torch.from_numpy(row) * values).sum() - limit for row, limit in self._slack]
        return sum((excess.clamp(min=0.0) for excess in excesses), torch.zeros((), dtype=values.dtype))

    def _met(self, now: np.ndarray) -> bool:
        return all(float(row @ now) - limit <= _TOLERANCE for row, limit in self._half_spaces)

    def _projected(self, values: Tensor, sweeps: int) -> Tensor | None:
        now = values.numpy().clip(self._least, self._most)
        if not self._half_spaces:
            return torch.from_numpy(now)
        for _ in range(sweeps):
            before = now
            for row, limit in self._half_spaces:
                excess = float(row @ now) - limit
                if excess > _TOLERANCE / 2:
                    step = (1.0 if excess < 1e-9 else _OVER) * excess / float(row @ row)
                    now = (now - step * row).clip(self._least, self._most)
            if now is before:
                break
        inside = np.where(np.isnan(self._inside), now, self._inside)
        tried = (now + share * (inside - now) for share in (0.0, *_SHARES))
        return next((torch.from_numpy(point) for point in tried if self._met(point)), None)
