"""Differential equations found from a table of states: ``dx/dt`` as sums (a `NAU`) of products of powers (an `NPU`).

First come sets of products whose powers are simple numbers, from `simple_powers`. Then one product is tried, then two,
then three, and in each every choice of the columns that products read; these starts are from the integrals of the
equation over the smoothed table, where only the powers are not linear (Golub and Pereyra 1973). From there
Levenberg-Marquardt goes on through the solver of the equation, `odeint` of torchdiffeq. In the few that are best by
Schwarz's criterion (1978) weights and powers are held at 0, and powers at halves and whole numbers, those that are
missed least first, as long as the criterion falls.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from scipy.interpolate import CubicSpline, make_smoothing_spline
from torch import Tensor
from torchdiffeq import odeint

from benchmarks.arithmetic import readout
from benchmarks.arithmetic.sequences.simple_powers import Start, Terms, sets, surprise, transfers
from lnnkit.learn.comparisons.least_squares import minimise
from lnnkit.numeric.term import POWERS
from lnnkit.numeric.units.clipped_units import EPSILON, NAU, NPU, RealNPU, nau, npu

LOOKED, SHARE = (5, 8, 30), 3
"""Steps through the solver from every choice of columns, from the best third, and from the best third of those."""
STARTS = 90
"""Sets of simple products that go through the solver."""
PARTS = 16
"""Of the time from one row to the next, for integrals over paths."""
KEPT = 4
"""How many of the best fits are simplified, to choose from what they come to."""
FLOOR = 2e-11
"""The mean square error, in squares of the columns' deviations, that counts as exact: below are the solver's errors."""
NUDGE = 1e-6
"""Of a parameter, for slopes: central differences, of all parameters and problems in one run of the solver."""


@dataclass(frozen=True)
class Table:
    """``states`` (times, columns) at ``times``; those at the first time are taken as right."""

    times: Tensor
    states: Tensor

    @property
    def spread(self) -> Tensor:
        return self.states.std(0)


@dataclass(frozen=True)
class Shape:
    """How parameters are laid out: weights (columns, products), powers (products, columns), and the imaginary parts of
    the powers, if the unit has them."""

    columns: int
    products: int
    imaginary: bool

    @property
    def size(self) -> int:
        return self.columns * self.products * (3 if self.imaginary else 2)

    def split(self, parameters: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """``[problems, size]`` to weights, powers and imaginary parts, ``[problems, ...]`` each."""
        weights, powers, *rest = parameters.split(self.columns * self.products, -1)
        imaginary = rest[0].unflatten(-1, (self.products, self.columns)) if rest else None
        return (
            weights.unflatten(-1, (self.columns, self.products)),
            powers.unflatten(-1, (self.products, self.columns)),
            imaginary,
        )


@dataclass(frozen=True)
class Flow:
    """``dx/dt`` with many parameters at once: ``[problems, columns] -> [problems, columns]``."""

    shape: Shape
    parameters: Tensor

    def __call__(self, time: Tensor, states: Tensor) -> Tensor:
        weights, powers, imaginary = self.shape.split(self.parameters)
        return nau(npu(states[:, None], powers, imaginary, epsilon=EPSILON), weights)[:, 0]


def solved(flow: Flow, table: Table) -> Tensor:
    """The states at all times from the first on, ``[problems, times, columns]``."""
    begun = table.states[:1].expand(len(flow.parameters), -1)
    grid = _grid(table.times)
    with torch.no_grad():
        found = odeint(flow, begun, table.times, method="rk4", options={"grid_constructor": lambda *_: grid})
    assert isinstance(found, Tensor)
    return found.transpose(0, 1)


def _grid(times: Tensor) -> Tensor:
    """All times, no two neighbours further apart than a sixtieth of the whole, nor than a fifth of how far they are
    from the first: states that begin near 0 have steep roots there. Simple equations are solved to 1e-5 of a
    deviation."""
    first, whole = float(times[0]), float(times[-1] - times[0])
    points = [first]
    for end in times[1:].tolist():
        left = end - points[-1]
        while left > 0:
            step = min(whole / 60, max((points[-1] - first) / 5, 1e-4 * whole))
            parts = math.ceil(left / step - 1e-9)
            points.append(end if parts == 1 else points[-1] + (left / 2 if parts == 2 else step))
            left = end - points[-1] if parts > 1 else 0.0
    return torch.tensor(points, dtype=times.dtype)


def _nudged(parameters: Tensor) -> Tensor:
    """``[problems, size] -> [problems, 2 * size, size]``: each parameter a little greater, then a little less."""
    nudges = NUDGE * torch.eye(parameters.shape[-1], dtype=parameters.dtype)
    return parameters[:, None] + torch.cat([nudges, -nudges])


def _slopes(gaps: Tensor, problems: int) -> Tensor:
    """Of the gaps of `_nudged` parameters, ``[problems * 2 * size, rows] -> [problems, rows, size]``."""
    up, down = gaps.unflatten(0, (problems, -1)).chunk(2, 1)
    return ((up - down) / (2 * NUDGE)).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).mT


@dataclass(frozen=True)
class Fit:
    """The gaps between a table and the solutions of a flow, in deviations of the columns. Parameters that are not
    ``free`` are ``held``; ``[problems, size]`` each. Those that ``follow`` another, by its place, are minus that; -1
    where they follow none."""

    shape: Shape
    table: Table
    free: Tensor
    held: Tensor
    follow: Tensor | None = None

    def whole(self, parameters: Tensor) -> Tensor:
        own = torch.where(self.free, parameters, self.held)
        if self.follow is None:
            return own
        return torch.where(self.follow < 0, own, -own.gather(-1, self.follow.clamp(min=0)))

    def residuals(self, parameters: Tensor) -> Tensor:
        return self._gaps(self.whole(parameters))

    def jacobian(self, parameters: Tensor) -> Tensor:
        nudged = _nudged(parameters)
        each = replace(self, free=self.free[:, None], held=self.held[:, None])
        if self.follow is not None:
            each = replace(each, follow=self.follow[:, None].expand_as(nudged))
        return _slopes(self._gaps(each.whole(nudged).flatten(0, 1)), len(parameters)) * self.free[:, None]

    def select(self, problems: Tensor) -> Self:
        follow = None if self.follow is None else self.follow[problems]
        return replace(self, free=self.free[problems], held=self.held[problems], follow=follow)

    def _gaps(self, whole: Tensor) -> Tensor:
        found = solved(Flow(self.shape, whole), self.table)
        gaps = (found - self.table.states) / self.table.spread
        return gaps[:, 1:].flatten(1).nan_to_num(nan=1e100, posinf=1e100, neginf=-1e100).clamp(-1e100, 1e100)


@dataclass(frozen=True)
class Integrals:
    """The integral form: what a column moves by from one time to the next is the sum of the products' integrals over
    the smoothed ``path`` (points, columns) of the table. The weights are those of least squares; the powers,
    ``[problems, products * columns]``, are left; those that are not ``read``, the same shape, are 0. ``moved``
    (times - 1, columns) is in deviations of what the columns move by."""

    path: Tensor
    sums: Tensor  # (times - 1, points): the trapezoids between two times
    moved: Tensor
    read: Tensor

    def _terms(self, powers: Tensor) -> Tensor:
        exponents = powers.unflatten(-1, (-1, self.path.shape[1]))
        return self.sums @ torch.exp((self.path.abs() + EPSILON).log() @ exponents.T)

    def weights(self, powers: Tensor) -> Tensor:
        """(products, columns), of one problem."""
        terms = self._terms(powers)
        gram = terms.T @ terms
        diagonal = gram.diagonal()
        ridge = 1e-10 * torch.maximum(diagonal, 1e-12 * diagonal.amax()) + 1e-300
        return torch.linalg.solve(gram + torch.diag(ridge), terms.T @ self.moved)

    def _gaps(self, powers: Tensor, read: Tensor) -> Tensor:
        own = powers * read
        return (self._terms(own) @ self.weights(own) - self.moved).flatten()

    def residuals(self, parameters: Tensor) -> Tensor:
        return torch.vmap(self._gaps)(parameters, self.read)

    def jacobian(self, parameters: Tensor) -> Tensor:
        nudged = _nudged(parameters)
        read = self.read[:, None].expand_as(nudged)
        return _slopes(torch.vmap(self._gaps)(nudged.flatten(0, 1), read.flatten(0, 1)), len(parameters))

    def select(self, problems: Tensor) -> Self:
        return replace(self, read=self.read[problems])


def readings(columns: int, products: int) -> Tensor:
    """Every choice of the columns that each product reads, ``[choices, products * columns]`` of 0 and 1."""
    single = [row for row in itertools.product((0.0, 1.0), repeat=columns) if any(row)]
    chosen = itertools.combinations_with_replacement(single, products)
    return torch.tensor([sum(rows, ()) for rows in chosen], dtype=torch.float64)


def _fine(times: np.ndarray) -> np.ndarray:
    parts = [np.linspace(low, high, PARTS, endpoint=False) for low, high in itertools.pairwise(times)]
    return np.concatenate([*parts, times[-1:]])


def integrals(table: Table, read: Tensor, *, noisy: bool) -> tuple[Integrals, Tensor]:
    """With the scale of the columns' moves."""
    times, states = table.times.numpy(), table.states.numpy()
    fine = _fine(times)
    curves = [make_smoothing_spline(times, each) if noisy else CubicSpline(times, each) for each in states.T]
    path = np.stack([np.maximum(each(fine), 0.0) for each in curves], 1)
    widths = np.diff(fine)
    sums = np.zeros((len(times) - 1, len(fine)))
    for place, width in enumerate(widths):
        sums[place // PARTS, place : place + 2] += width / 2
    moved = torch.from_numpy(np.diff(np.stack([each(times) for each in curves], 1), axis=0))
    scale = moved.square().mean(0).sqrt()
    return Integrals(torch.from_numpy(path), torch.from_numpy(sums), moved / scale, read), scale


@dataclass(frozen=True)
class Law:
    """A fitted flow: its parameters and which of them are free, the mean square error in squares of deviations, the
    powers before they were held at simple numbers, the steps of Levenberg-Marquardt that it took, and which parameters
    ``follow`` others."""

    shape: Shape
    parameters: Tensor
    free: Tensor
    loss: float
    samples: int
    learned: Tensor
    steps: int
    follow: Tensor | None = None

    @property
    def criterion(self) -> float:
        return _criterion(self.loss, int(self.free.sum()), self.samples)

    @property
    def length(self) -> float:
        """The criterion, and what it takes to say which simple powers the products have."""
        return self.criterion + _surprise(self.shape, self.parameters, self.free)

    @property
    def least(self) -> float:
        """What the criterion would be if all that is free could be held for nothing."""
        return _criterion(self.loss, 0, self.samples)

    def fit(self, table: Table, free: Tensor, held: Tensor) -> Fit:
        """``free`` and ``held`` are ``[problems, size]``."""
        follow = None if self.follow is None else self.follow.expand_as(free)
        return Fit(self.shape, table, free, held.expand_as(free), follow)

    @property
    def free_powers(self) -> Tensor:
        """The places of powers that are not held."""
        size = self.shape.products * self.shape.columns
        places = self.free.nonzero()[:, 0]
        return places[(places >= size) & (places < 2 * size)]

    def units(self) -> tuple[NPU, NAU]:
        weights, powers, imaginary = (
            None if each is None else each[0] for each in self.shape.split(self.parameters[None])
        )
        assert weights is not None and powers is not None
        product = RealNPU.given(powers) if imaginary is None else NPU.given(powers, imaginary)
        return product, NAU.given(weights.clamp(-1.0, 1.0))

    def text(self, names: list[str]) -> list[str]:
        """The right side of each column's equation."""
        product, total = self.units()
        terms = readout.terms(product, readout.operands(len(names)))
        return [readout.text(term, names) for term in readout.terms(total, terms)]


def discover(table: Table, *, imaginary: bool, noisy: bool, generator: torch.Generator, most: int = 3) -> Law:
    """With ``most`` products at most; ``noisy`` smooths the table for the starts. Columns are not negative."""
    columns = table.states.shape[1]
    simple = with_simple_powers(table, Shape(columns, most, imaginary), noisy=noisy)
    laws: list[Law] = []
    for products in range(1, most + 1):
        if min((law.loss for law in (*simple, *laws)), default=math.inf) <= FLOOR:
            break
        laws += _fitted(table, Shape(columns, products, imaginary), noisy, generator)
    best = min(law.length for law in (*simple, *laws))
    kept = [*sorted(simple, key=lambda law: law.length)[:KEPT], *sorted(laws, key=lambda law: law.criterion)[:KEPT]]
    found = [_rounded(table, _sparser(table, law)) for law in kept if law.least <= best]
    law = min(found, key=lambda law: law.length)
    return _trimmed(law if len(law.free_powers) else _released(table, law))


def _trimmed(law: Law) -> Law:
    """Without products that no column reads."""
    used = (law.shape.split(law.parameters[None])[0][0] != 0).any(0)
    if bool(used.all()) or not bool(used.any()):
        return law
    shape = replace(law.shape, products=int(used.sum()))

    def part(values: Tensor) -> Tensor:
        weights, *rest = (each[0] for each in law.shape.split(values[None]) if each is not None)
        return torch.cat([weights[:, used].flatten(), *(each[used].flatten() for each in rest)])

    parameters, free, learned = part(law.parameters), part(law.free), part(law.learned)
    return replace(law, shape=shape, parameters=parameters, free=free, learned=learned, follow=None)


def with_simple_powers(table: Table, shape: Shape, *, noisy: bool) -> list[Law]:
    """The best of the sets of products with simple powers, first over the smoothed table, then over what the best of
    them makes of it, which is nearer to the truth than a spline."""
    own, _ = integrals(table, torch.ones(1, shape.columns), noisy=noisy)
    found = _over(table, shape, own.path, own.sums)
    best = min(found, key=lambda law: law.length)
    times = torch.from_numpy(_fine(table.times.numpy()))
    states = solved(Flow(shape, best.parameters[None]), Table(times, table.states[:1].expand(len(times), -1)))[0]
    if best.loss > FLOOR and bool(states.isfinite().all()):
        found += _over(table, shape, states.clamp(min=0.0), own.sums)
    return found


def _over(table: Table, shape: Shape, path: Tensor, sums: Tensor) -> list[Law]:
    """Sets of products over a path, their weights fitted through the solver; where the columns' total does not change,
    of products that leave one column and enter another too."""
    terms, spread, most = Terms.of(path, sums), table.spread, shape.products
    moved = (table.states[1:] - table.states[:1]) / spread
    starts = [(powers, weights * spread[:, None]) for powers, weights in sets(terms, moved, most, STARTS)]
    free, start = _begun(shape, starts)
    found = _shot(Fit(shape, table, free, start), start)
    if not keeps_total(table):
        return found
    free, start = _begun(shape, transfers(terms, moved, spread, most, STARTS))
    follow = torch.full_like(start, -1, dtype=torch.int64)
    for row, own in enumerate(start):
        for number in range(most):
            places = [at for at in range(number, shape.columns * most, most) if own[at]]
            follow[row, places[1:]] = places[0] if places else -1
            free[row, places[1:]] = False
    return found + _shot(Fit(shape, table, free, start, follow), start)


def _begun(shape: Shape, starts: list[Start]) -> tuple[Tensor, Tensor]:
    """Which parameters are free, weights alone, and where they start, ``[starts, size]`` each."""
    rows = [torch.cat([weights.clamp(-1.0, 1.0).flatten(), powers.flatten()]) for powers, weights in starts]
    start = torch.stack(rows)
    start = torch.cat([start, start.new_zeros(len(start), shape.size - start.shape[1])], 1)
    free = start != 0
    free[:, shape.columns * shape.products :] = False
    return free, start


def keeps_total(table: Table) -> bool:
    """Whether the columns' total varies by no more than the columns do about smooth curves. What is smooth about noise
    is told by second differences, whose variance is six times that of the noise (Gasser, Sroka and Jennen-Steinmetz
    1986)."""
    total = table.states.sum(1)
    rough = table.states.diff(n=2, dim=0).square().mean(0) / 6
    return float(total[1:].sub(total[0]).square().mean()) <= 2 * float(rough.sum()) + 1e-12 * float(
        total.square().mean()
    )


def _released(table: Table, law: Law) -> Law:
    """With what the powers are that the table alone tells, as ``learned``; the law itself where the criterion pays for
    them."""
    powers = torch.zeros_like(law.free)
    powers[law.shape.columns * law.shape.products : 2 * law.shape.columns * law.shape.products] = True
    free = law.free | (powers & (law.parameters != 0))
    problem = law.fit(table, free[None], law.parameters[None])
    done = minimise(problem, law.parameters[None], steps=30, patience=6)
    released = problem.whole(done.parameters)[0]
    law = replace(law, learned=released, steps=law.steps + int(done.steps[0]))
    other = replace(law, parameters=released, free=free, loss=float(done.loss[0]))
    return other if other.criterion < law.criterion else law


def _fitted(table: Table, shape: Shape, noisy: bool, generator: torch.Generator) -> list[Law]:
    """The best of all choices of columns, from the weights and powers of their integrals through the solver."""
    read = readings(shape.columns, shape.products)
    problem, scale = integrals(table, read, noisy=noisy)
    drawn = torch.rand(read.shape, dtype=torch.float64, generator=generator)
    found = minimise(problem, drawn, steps=40, patience=6)
    own = read > 0
    powers = found.parameters * own
    weights = torch.stack([(problem.weights(each) * scale).T.flatten() for each in powers]).clamp(-1.0, 1.0)
    start, free = torch.cat([weights, powers], 1), torch.cat([torch.ones_like(own), own], 1)
    if shape.imaginary:
        drawn = 0.02 * torch.randn(own.shape, dtype=torch.float64, generator=generator)
        start, free = torch.cat([start, drawn * own], 1), torch.cat([free, own], 1)
    return _shot(Fit(shape, table, free, torch.zeros_like(start)), start, int(found.steps.sum()))


def _shot(fit: Fit, start: Tensor, taken: int = 0) -> list[Law]:
    """The best fits through the solver: a few steps from every start, more from those that look well."""
    free, samples = fit.free, _samples(fit.table)
    surprises = torch.tensor([_surprise(fit.shape, *row) for row in zip(fit.whole(start), free, strict=True)])
    left, parameters, losses = torch.arange(len(free)), start, torch.full((len(free),), math.inf)
    for steps in LOOKED:
        done = minimise(fit.select(left), parameters, steps=steps, patience=6, enough=FLOOR / 2)
        taken += int(done.steps.sum())
        each = zip(done.loss.tolist(), free[left].sum(1).tolist(), surprises[left].tolist(), strict=True)
        order = torch.tensor([_criterion(loss, unknowns, samples) + more for loss, unknowns, more in each]).argsort()
        best = order[: max(KEPT, len(order) // SHARE)]
        left, parameters, losses = left[best], done.parameters[best], done.loss[best]
    whole = fit.select(left).whole(parameters)
    return [
        Law(
            fit.shape,
            values,
            free[place],
            loss,
            samples,
            values,
            taken,
            None if fit.follow is None else fit.follow[place],
        )
        for place, values, loss in zip(left[:KEPT].tolist(), whole, losses.tolist(), strict=False)
    ]


def _sparser(table: Table, law: Law) -> Law:
    """With parameters held at 0, as many at once as the criterion allows."""
    while bool(law.free.any()):
        places = law.free.nonzero()[:, 0]
        held = torch.where(law.free, 0.0, law.parameters)
        fewer = _fewer(table, law, places, held)
        if fewer is None:
            return law
        law = replace(fewer, learned=fewer.parameters)
    return law


def _rounded(table: Table, law: Law) -> Law:
    """With powers held at the numbers of the unit's grid that are nearest."""
    grid = torch.tensor(POWERS, dtype=torch.float64)
    while True:
        places = law.free_powers
        if not len(places):
            return law
        held = law.parameters.clone()
        held[places] = grid[(law.parameters[places, None] - grid).abs().argmin(1)]
        fewer = _fewer(table, law, places, held)
        if fewer is None:
            return law
        law = fewer


def _fewer(table: Table, law: Law, places: Tensor, held: Tensor) -> Law | None:
    """What comes of holding some of the parameters at ``places``, fitted again, if the criterion falls: each is held
    alone for a look, and of those that look well all are, or half of them, or half of those, the best first."""
    alone = law.free.repeat(len(places), 1)
    alone[torch.arange(len(places)), places] = False
    start = law.parameters.repeat(len(places), 1)
    fixed = torch.where(law.free, held, law.parameters)
    looked = minimise(law.fit(table, alone, fixed[None]), start, steps=3, enough=FLOOR / 2)
    steps = law.steps + int(looked.steps.sum())
    order = looked.loss.argsort()
    limit, samples = law.criterion, law.samples
    unknowns = int(law.free.sum()) - 1
    count = max(sum(_criterion(loss, unknowns, samples) <= limit for loss in looked.loss.tolist()), 1)
    while True:
        free = law.free.clone()
        free[places[order[:count]]] = False
        problem = law.fit(table, free[None], fixed[None])
        begun = looked.parameters[order[0]] if count == 1 else law.parameters
        done = minimise(problem, begun[None], steps=30, patience=6, enough=FLOOR / 2)
        steps += int(done.steps[0])
        loss = float(done.loss[0])
        if _criterion(loss, int(free.sum()), samples) <= limit:
            parameters = problem.whole(done.parameters)[0]
            return replace(law, parameters=parameters, free=free, loss=loss, steps=steps)
        if count == 1:
            return None
        count //= 2


def _surprise(shape: Shape, parameters: Tensor, free: Tensor) -> float:
    """Of the products that are in use and none of whose powers is free."""
    weights, powers, _ = (None if each is None else each[0] for each in shape.split(parameters[None]))
    freed = shape.split(free[None])[1][0].any(-1)
    assert weights is not None and powers is not None
    held = ~freed & (weights != 0).any(0)
    return sum(surprise(tuple(row)) for row in powers[held].tolist())


def _criterion(loss: float, unknowns: int, samples: int) -> float:
    return samples * math.log(max(loss, FLOOR)) + unknowns * math.log(samples)


def _samples(table: Table) -> int:
    return (len(table.times) - 1) * table.states.shape[1]
