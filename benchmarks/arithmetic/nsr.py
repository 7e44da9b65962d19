"""Faber and Wattenhofer's comparisons (2020, arXiv 2004.07085; ICML 2023): six relations, learned between -10 and 9,
tested at every magnitude up to 10^14 on pairs at distances of up to 5.

For ``=`` and ``!=`` half of the pairs are equal, in learning and in testing. A seed counts as solved where no tested
pair is wrong; ``error`` is the largest share of wrong pairs of a magnitude.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import l1_loss

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.learned_relations import learn_relations
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.readout import readout
from benchmarks.arithmetic.regression import seeded
from lnnkit.numeric.units.nsr import NSR, RelationName

RELATIONS: dict[RelationName, Callable[[Tensor, Tensor], Tensor]] = {
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
EXPONENTS = range(1, 15)
PUBLISHED = {">": "1.00", "<": "1.00", ">=": "1.00", "<=": "1.00", "=": ".93", "!=": ".92"}
PAPER_STEPS, PAPER_RATE = 50_000, 1e-3


def learning_pairs(relation: str, generator: torch.Generator) -> Tensor:
    """``[400, 2]``: all pairs, or as many equal as unequal ones."""
    values = torch.arange(-10, 10)
    pairs = torch.cartesian_prod(values, values)
    if relation in ("=", "!="):
        unequal = pairs[pairs[:, 0] != pairs[:, 1]]
        chosen = unequal[torch.randperm(len(unequal), generator=generator)[:200]]
        pairs = torch.cat([values.repeat(10)[:, None].expand(-1, 2), chosen])
    return pairs.double()


def testing_pairs(relation: str, exponent: int, generator: torch.Generator) -> Tensor:
    """``[n, 2]`` from ``10^exponent`` on: both orders of ``(a, a + d)``, or as many equal as unequal ones."""
    starts = torch.randint(10**exponent, 10 ** (exponent + 1), (100, 1), generator=generator)
    distances = torch.tensor([each for each in range(-5, 6) if each or relation not in ("=", "!=")])
    near = starts + distances
    pairs = torch.stack([starts.expand_as(near), near], -1).flatten(0, 1)
    mirrored = pairs[:, [1, 1]] if relation in ("=", "!=") else pairs.flip(-1)
    return torch.cat([pairs, mirrored]).double()


def solve(relation: RelationName, company: int, batch: Batch) -> list[Outcome]:
    """The fast mode, with ``company`` further operands that do not matter."""
    began = time.process_time()
    count, generator = batch.count, seeded("nsr", relation, company, batch.first)
    pairs = torch.stack([learning_pairs(relation, generator) for _ in range(count)])
    x = torch.cat([pairs, _others((count, pairs.shape[1], company), -10, 10, generator)], -1)
    truth = RELATIONS[relation](x[..., 0], x[..., 1]).double()
    learned = learn_relations(x, truth, generator=generator)
    wrong = _tested(learned.register, relation, company, generator)
    cpu = (time.process_time() - began) / count
    names = [f"x{number}" for number in range(2 + company)]
    return [
        Outcome(
            solved=max(wrong[seed]) == 0,
            error=max(wrong[seed]),
            steps=steps,
            samples=steps * x.shape[1],
            cpu=cpu,
            sparsity=0.0 if accepted else None,
            found=readout(learned.register, names, seed=seed)[0],
            scores={f"1e{exponent}": 1 - share for exponent, share in zip(EXPONENTS, wrong[seed], strict=True)},
        )
        for seed, (steps, accepted) in enumerate(zip(learned.steps.tolist(), learned.accepted.tolist(), strict=True))
    ]


def reproduce(relation: RelationName, company: int, batch: Batch, *, steps: int | None) -> list[Outcome]:
    """The paper's recipe: Xavier starts, sharpness 1, the mean absolute error, Adam, double precision."""
    began = time.process_time()
    count, generator = batch.count, seeded("nsr, paper", relation, company, batch.first)
    register = NSR(2 + company, 1, seeds=count, generator=generator)
    pairs = learning_pairs(relation, generator)
    x = torch.cat([pairs, _others((len(pairs), company), -10, 10, generator)], -1)
    truth = RELATIONS[relation](x[:, 0], x[:, 1]).double().expand(count, -1)
    optimiser = torch.optim.Adam(register.parameters(), lr=PAPER_RATE)
    taken = PAPER_STEPS if steps is None else min(steps, PAPER_STEPS)
    for step in range(taken):
        batch.watch(step / taken)
        optimiser.zero_grad()
        (l1_loss(register(x)[..., 0], truth, reduction="sum") / truth.shape[-1]).backward()
        optimiser.step()
    wrong = _tested(register, relation, company, generator)
    cpu = (time.process_time() - began) / count
    return [
        Outcome(
            solved=max(shares) == 0,
            error=max(shares),
            steps=taken,
            samples=taken * len(x),
            cpu=cpu,
            planned=PAPER_STEPS,
            scores={f"1e{exponent}": 1 - share for exponent, share in zip(EXPONENTS, shares, strict=True)},
        )
        for shares in wrong
    ]


@torch.no_grad()
def _tested(register: NSR, relation: RelationName, company: int, generator: torch.Generator) -> list[list[float]]:
    """For each seed the share of wrong pairs at each magnitude."""
    shares: list[Tensor] = []
    for exponent in EXPONENTS:
        pairs = testing_pairs(relation, exponent, generator)
        x = torch.cat([pairs, _others((len(pairs), company), 10**exponent, 10 ** (exponent + 1), generator)], -1)
        wanted = RELATIONS[relation](x[:, 0], x[:, 1])
        shares.append(((register(x)[..., 0] > 0.5) != wanted).double().mean(-1))
    return torch.stack(shares, -1).tolist()


def _others(shape: tuple[int, ...], low: int, high: int, generator: torch.Generator) -> Tensor:
    return torch.randint(low, high, shape, generator=generator).double()
