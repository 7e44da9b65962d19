"""English numerals to numbers (Trask and others 2018, arXiv 1808.00508, section 4.3): "three hundred and forty two" is
342.

Of the numerals from 1 to 999, 169 are learned from: 1 to 19, and others such that every word is among them; 200 are for
validation and 630 for the test. A seed counts as solved where the test's mean error is below the best published one.

`solve` reads a word at a time: each word has two numbers, one that the state is multiplied by and one that is added to
it (an `NMU` and a `NAU`), fitted by Levenberg-Marquardt. As few words multiply as will do: none at first, then the one
that helps most, until the fit is exact or hardly better. The summands that the fit does without are dropped, the rest
made whole where that costs nothing; of equal fits the simplest is taken. `reproduce` trains the paper's models: an LSTM
with a linear layer, a NAC or a NALU on top.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.outcome import Outcome
from benchmarks.arithmetic.regression import seeded
from benchmarks.arithmetic.sequences.networks import LSTM, Dense
from lnnkit.learn.comparisons.least_squares import minimise
from lnnkit.numeric import NAC, NALU, NAU, NMU, Recurrent

ONES = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
LEARNED, VALIDATED = 169, 200
MODELS = ("LSTM", "LSTM + NAC", "LSTM + NALU")
PAPERS = {"LSTM": "29.4", "LSTM + NAC": "114.3", "LSTM + NALU": ".41"}
BOUND = 0.41
PAPER_STEPS, EMBEDDED, HIDDEN = 10_000, 8, 32
MULTIPLYING = 4
"""Words that may multiply, at most."""
FITTED = 1e-16
"""The mean square error up to which a fit counts as exact, of numbers up to a thousand."""


def words(number: int) -> list[str]:
    """Of a number from 1 to 999, the British way."""
    found: list[str] = []
    hundreds, rest = divmod(number, 100)
    if hundreds:
        found += [ONES[hundreds - 1], "hundred", *(["and"] if rest else [])]
    if rest >= 20:
        found.append(TENS[rest // 10 - 2])
        rest %= 10
    if rest:
        found.append(ONES[rest - 1])
    return found


VOCABULARY = ("", *ONES, *TENS, "hundred", "and")
"""The first is what short numerals begin with."""
LENGTH = 5


def encoded(numbers: list[int]) -> Tensor:
    """``[numerals, 5]`` places in the vocabulary."""
    rows = [words(each) for each in numbers]
    return torch.tensor([[VOCABULARY.index(each) for each in [""] * (LENGTH - len(row)) + row] for row in rows])


@dataclass(frozen=True)
class Split:
    """Numbers to learn from, to validate on and to test on."""

    learned: list[int]
    validated: list[int]
    tested: list[int]


def split(generator: torch.Generator) -> Split:
    while True:
        others = (20 + torch.randperm(980, generator=generator)).tolist()
        learned = [*range(1, 20), *others[: LEARNED - 19]]
        if {word for number in learned for word in words(number)} == set(VOCABULARY[1:]):
            return Split(learned, others[LEARNED - 19 : LEARNED - 19 + VALIDATED], others[LEARNED - 19 + VALIDATED :])


class Reader(nn.Module):
    """``h = f h + v`` over the words, with a factor f and a summand v of each: ``[numerals, words] -> [numerals]``."""

    meanings: Tensor

    def __init__(self, meanings: Tensor) -> None:
        super().__init__()
        self.register_buffer("meanings", meanings)  # [words, 2]
        cell = nn.Sequential(NMU.given([[1, 0, 1], [0, 1, 0]]), NAU.given([1, 1]))
        self.network = Recurrent(cell, 1)

    def forward(self, numerals: Tensor) -> Tensor:
        return self.network(self.meanings[numerals])[..., 0]


@dataclass(frozen=True)
class Reading:
    """Factors and summands of all words by least squares, ``[problems, 2 * words]``. Those that are not ``free`` leave
    the state as it is: they are 1 and 0."""

    numerals: Tensor
    target: Tensor
    free: Tensor

    def held(self, parameters: Tensor) -> Tensor:
        return torch.where(self.free, parameters, nothing())

    def residuals(self, parameters: Tensor) -> Tensor:
        factors, summands = self.held(parameters).chunk(2, -1)
        state = torch.zeros(len(parameters), len(self.target), dtype=parameters.dtype)
        for now in self.numerals.T:
            state = factors[:, now] * state + summands[:, now]
        return state - self.target

    def jacobian(self, parameters: Tensor) -> Tensor:
        """By the chain rule: a word's factor counts as much as the state that it meets, its summand once."""
        factors, summands = self.held(parameters).chunk(2, -1)
        state = torch.zeros(len(parameters), len(self.target), dtype=parameters.dtype)
        slopes = state.new_zeros(*state.shape, parameters.shape[-1])
        rows = torch.arange(len(self.target))
        for now in self.numerals.T:
            slopes = factors[:, now, None] * slopes
            slopes[:, rows, now] += state
            slopes[:, rows, len(VOCABULARY) + now] += 1
            state = factors[:, now] * state + summands[:, now]
        return slopes * self.free[:, None]

    def select(self, problems: Tensor) -> Self:
        return replace(self, free=self.free[problems])


def nothing() -> Tensor:
    """Factors and summands of words that leave the state as it is."""
    return torch.tensor([1.0, 0.0], dtype=torch.float64).repeat_interleave(len(VOCABULARY))


@dataclass(frozen=True)
class Learned:
    """Factors and summands of the words, ``[2 * words]``, the mean square error of the numerals that were learned, the
    steps that this took, and whether all of them are whole."""

    parameters: Tensor
    loss: float
    steps: int
    whole: bool

    def text(self) -> str:
        """What the words do that do something."""
        factors, summands = self.parameters.chunk(2)
        found: list[str] = []
        for word, factor, summand in zip(VOCABULARY, factors.tolist(), summands.tolist(), strict=True):
            done = [f"times {factor:.6g}"] * (factor != 1) + [f"plus {summand:.6g}"] * (summand != 0)
            found += [f"{word or 'nothing'}: {', '.join(done)}"] * bool(done)
        return "; ".join(found)


def learn(numbers: list[int], generator: torch.Generator) -> Learned:
    numerals, target = encoded(numbers), torch.tensor(numbers, dtype=torch.float64)
    size = len(VOCABULARY)
    free = torch.arange(2 * size) >= size
    start = torch.cat([nothing()[:size], 10 * torch.rand(size, dtype=torch.float64, generator=generator)])
    found = minimise(Reading(numerals, target, free[None]), start[None])
    best, steps = [(free, found.parameters[0], float(found.loss[0]))], int(found.steps[0])
    for _ in range(MULTIPLYING):
        free, parameters, loss = best[0]
        others = [place for place in range(size) if not free[place]]
        if loss <= FITTED or not others:
            break
        candidates, begun = free.repeat(len(others), 1), parameters.repeat(len(others), 1)
        candidates[range(len(others)), others] = True
        begun[range(len(others)), others] = 2.0
        tried = minimise(Reading(numerals, target, candidates), begun, enough=FITTED / 100)
        steps += int(tried.steps.sum())
        least = float(tried.loss.min())
        if least > 0.5 * loss:
            break
        alike = (tried.loss <= max(least, FITTED)).nonzero()[:, 0].tolist()
        best = [(candidates[place], tried.parameters[place], float(tried.loss[place])) for place in alike]
    answers = [_simplest(Reading(numerals, target, free[None]), parameters, loss) for free, parameters, loss in best]
    chosen = min(answers, key=lambda each: (not each.whole, int((each.parameters != nothing()).sum())))
    return replace(chosen, steps=steps + sum(each.steps for each in answers))


def _simplest(reading: Reading, parameters: Tensor, loss: float) -> Learned:
    """Without the summands that the fit does without, and whole, if it is as good so."""
    parameters, free, steps = _sparser(reading, parameters, loss)
    reading = replace(reading, free=free[None])
    found = reading.held(parameters[None])
    left = float(reading.residuals(found.round()).square().mean())
    whole = left <= max(loss, FITTED)
    return Learned(found.round()[0], left, steps, True) if whole else Learned(found[0], loss, steps, False)


def _sparser(reading: Reading, parameters: Tensor, loss: float) -> tuple[Tensor, Tensor, int]:
    """Without the summands that the fit does without, the smallest first; the parameters, those free, and steps."""
    free, steps = reading.free[0], 0
    for place in parameters[len(VOCABULARY) :].abs().argsort().add(len(VOCABULARY)).tolist():
        fewer = free.clone()
        fewer[place] = False
        tried = minimise(replace(reading, free=fewer[None]), parameters[None], steps=10, enough=FITTED / 100)
        steps += int(tried.steps[0])
        if float(tried.loss[0]) <= max(loss, FITTED):
            free, parameters = fewer, tried.parameters[0]
    return parameters, free, steps


def solve(batch: Batch) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for number in range(batch.count):
        began = time.process_time()
        generator = seeded("numerals", batch.first + number)
        chosen = split(generator)
        learned = learn(chosen.learned, generator)
        reader = Reader(torch.stack(learned.parameters.chunk(2), -1))
        inside, middle, outside = (_error(reader, each) for each in (chosen.learned, chosen.validated, chosen.tested))
        outcomes.append(
            Outcome(
                solved=outside < BOUND,
                error=outside,
                steps=learned.steps,
                samples=learned.steps * LEARNED,
                cpu=time.process_time() - began,
                sparsity=0.0 if learned.whole else None,
                found=learned.text(),
                scores={"learned": inside, "validated": middle},
            )
        )
        batch.watch((number + 1) / batch.count)
    return outcomes


@torch.no_grad()
def _error(reader: nn.Module, numbers: list[int]) -> float:
    """The mean size of errors."""
    return float((reader(encoded(numbers)) - torch.tensor(numbers)).abs().mean())


class Published(nn.Module):
    """Words as vectors, an LSTM, and a layer or unit on top: ``[seeds, numerals, words] -> [seeds, numerals]``."""

    embedding: nn.Parameter

    def __init__(self, model: str, seeds: int, generator: torch.Generator) -> None:
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(seeds, len(VOCABULARY), EMBEDDED, generator=generator))
        self.below = LSTM(EMBEDDED, HIDDEN, seeds, generator)
        match model:
            case "LSTM + NAC":
                self.above = NAC(HIDDEN, 1, seeds=seeds, generator=generator, dtype=torch.float32)
            case "LSTM + NALU":
                self.above = NALU(HIDDEN, 1, seeds=seeds, generator=generator, dtype=torch.float32)
            case _:
                self.above = Dense(HIDDEN, 1, seeds, generator)

    def forward(self, numerals: Tensor) -> Tensor:
        read = torch.stack([table[each] for table, each in zip(self.embedding, numerals, strict=True)])
        return self.above(self.below(read))[..., 0]


def reproduce(model: str, batch: Batch, *, steps: int | None) -> list[Outcome]:
    """Adam on all numerals at once; the weights of the best validation are tested. The linear layer's output is in
    hundreds, or it could not leave the range of its start."""
    began = time.process_time()
    count = batch.count
    splits = [split(seeded("numerals", batch.first + number)) for number in range(count)]
    network = Published(model, count, seeded("numerals", model, batch.first))
    scale = 100.0 if model == "LSTM" else 1.0
    learned, validated, tested = (
        _stacked([getattr(each, name) for each in splits]) for name in ("learned", "validated", "tested")
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=5e-3)
    taken = PAPER_STEPS if steps is None else min(steps, PAPER_STEPS)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, taken, 1e-5)
    best = torch.full((3, count), torch.inf)
    for step in range(taken):
        optimiser.zero_grad()
        gaps = scale * network(learned[0]) - learned[1]
        (gaps / 100).square().mean(-1).sum().backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if step % 100 == 99 or step == taken - 1:
            with torch.no_grad():
                errors = [(scale * network(x) - y).abs().mean(-1) for x, y in (learned, validated, tested)]
            better = errors[1] < best[1]
            best = torch.where(better, torch.stack(errors), best)
            batch.watch(step / taken)
    cpu = (time.process_time() - began) / count
    return [
        Outcome(
            solved=outside < BOUND,
            error=outside,
            steps=taken,
            samples=taken * LEARNED,
            cpu=cpu,
            planned=PAPER_STEPS,
            scores={"learned": inside, "validated": middle},
        )
        for inside, middle, outside in best.T.tolist()
    ]


def _stacked(numbers: list[list[int]]) -> tuple[Tensor, Tensor]:
    """The numerals and the numbers of all seeds."""
    return torch.stack([encoded(each) for each in numbers]), torch.tensor(numbers, dtype=torch.float32)
