"""Separate-and-conquer rule learning: a disjunction of conjunctions.

A conjunction is grown by beam search, to cover true rows that no earlier one covers (Fuernkranz, "Separate-and-conquer
rule learning", 1999); then each is grown again beside the others, as long as that helps (the optimisation of Cohen,
"Fast effective rule induction", 1995). A false row costs ``price`` true ones: at a high price conjunctions are pure, at
1 the disjunction is right most often, which suits noise. A conjunction covers the rows in which all its literals hold
and rejects those in which one fails; other rows, with missing cells, count as neither right nor wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.learn.induction.table_literals import LabelledTable, TableLiteral, certain

# Measured by `python -m benchmarks.induction_constants` on 800 rows of each table.
LONGEST = 6  # greatest length of a conjunction: 3 and 12 change no accuracy
_MOST = 4 * LONGEST  # greatest number of conjunctions
_BEAM = 20  # beam width: 5 and 80 change no accuracy
PURE = 100.0  # the price of a false row for a disjunction that is to be right everywhere
_CHANCE = 3.0  # standard errors by which a conjunction must be better than nothing, where there is noise
_IDLE = 2.0  # those by which a literal must help
_AGAIN = 2  # times that each conjunction is grown again
_DECIDED = 0.25  # share of rows that a rule must cover
_LEVELS = 255  # weights are told apart to one part in this of the greatest


@dataclass(frozen=True, slots=True)
class PackedLiterals:
    """Packed masks of the rows where each of ``count`` literals holds, then of those where each fails."""

    held: np.ndarray
    count: int
    true: WeighedRows
    false: WeighedRows

    def covered(self, chosen: Sequence[int]) -> np.ndarray:
        """The rows where all of these literals hold, packed."""
        return np.bitwise_and.reduce(self.held[list(chosen)], axis=0)

    def possible(self, chosen: Sequence[int]) -> np.ndarray:
        """The rows where none of these literals fails, packed."""
        opposite = [(place + self.count) % (2 * self.count) for place in chosen]
        return ~np.bitwise_or.reduce(self.held[opposite], axis=0)


def literals_of(literals: Sequence[TableLiteral], table: LabelledTable) -> PackedLiterals:
    """The masks of crisp literals over the rows of a table."""
    held = [packed(certain(literal, wanted, table.columns)) for wanted in (True, False) for literal in literals]
    masks = np.array(held, np.uint64).reshape(2 * len(literals), len(packed(table.positive)))
    return PackedLiterals(
        masks, len(literals), *(weighed_rows(of, table.weight) for of in (table.positive, ~table.positive))
    )


def cover(rows: PackedLiterals, price: float, most: int | None = None, longest: int | None = None) -> list[list[int]]:
    """Conjunctions, as rows of ``held``, that together cover the true rows: at most ``most``, each at most so long."""
    most = _MOST if most is None else min(most, _MOST)
    longest = LONGEST if longest is None else min(longest, LONGEST)
    nothing = np.zeros(rows.held.shape[1], np.uint64)
    conjunctions: list[list[int]] = []
    done = nothing
    while rows.count and len(conjunctions) < most:
        grown, worth = grow(rows, done, longest, price)
        if not grown or worth <= 0 or not _significant(rows, grown, done, worth, price):
            break
        conjunctions.append(grown)
        done = done | rows.possible(grown)
    for _ in range(_AGAIN if price < PURE else 0):
        before = [list(chosen) for chosen in conjunctions]
        for place in range(len(conjunctions)):
            others = [rows.covered(chosen) for at, chosen in enumerate(conjunctions) if at != place and chosen]
            rest = np.bitwise_or.reduce(others, axis=0) if others else nothing
            grown, worth = grow(rows, rest, longest, price)
            old = _worth(rows, rows.covered(conjunctions[place]), rest, price) if conjunctions[place] else 0.0
            if worth > old and _significant(rows, grown, rest, worth, price):
                conjunctions[place] = grown
            elif old <= 0:
                conjunctions[place] = []
        if conjunctions == before:
            break
    return [sorted(chosen) for chosen in conjunctions if chosen]


def _significant(rows: PackedLiterals, chosen: Sequence[int], done: np.ndarray, worth: float, price: float) -> bool:
    """Whether a conjunction is worth more than chance gives the best of many."""
    mask = rows.covered(chosen) & ~done
    return price >= PURE or worth > _CHANCE * float(rows.true.of(mask) + rows.false.of(mask)) ** 0.5


def _worth(rows: PackedLiterals, mask: np.ndarray, done: np.ndarray, price: float) -> float:
    return float(rows.true.of(mask & ~done) - price * rows.false.of(mask & ~done))


def grow(rows: PackedLiterals, done: np.ndarray, longest: int, price: float) -> tuple[list[int], float]:
    """The conjunction that is worth most beside the rows that are ``done``, and its worth: the true rows that it adds,
    less ``price`` times the false ones. The most informative prefixes are extended."""
    true, false = rows.true.within(~done), rows.false.within(~done) if price < PURE else rows.false
    beam: list[tuple[list[int], np.ndarray]] = [([], ~np.zeros(rows.held.shape[1], np.uint64))]
    best: tuple[float, list[int]] = (0.0, [])
    for _ in range(longest):
        longer: dict[tuple[int, ...], float] = {}
        for chosen, inside in beam:
            p, n = float(true.of(inside)), float(false.of(inside))
            if p <= 0 or n <= 0:
                continue
            narrowed = rows.held & inside
            ps, ns = true.of(narrowed), false.of(narrowed)
            ps[chosen] = 0.0
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = np.where(ps > 0, ps * (np.log2(ps / (ps + ns)) - np.log2(p / (p + n))), -np.inf)
            worth = ps - price * ns
            for place in np.argsort(-gain, kind="stable")[:_BEAM].tolist():
                if gain[place] > 1e-9:
                    longer.setdefault(tuple(sorted((*chosen, place))), float(gain[place]))
            place = int(np.argmax(np.where(ps > 0, worth, -np.inf)))
            if worth[place] > best[0] + 1e-9:
                best = float(worth[place]), [*chosen, place]
        if not longer or (price >= PURE and best[1]):
            break
        ordered = sorted(longer, key=lambda chosen: (-longer[chosen], chosen))[:_BEAM]
        beam = [(list(chosen), rows.covered(chosen)) for chosen in ordered]
    return _spared(best, rows, true, false, price)


def _spared(
    best: tuple[float, list[int]], rows: PackedLiterals, true: WeighedRows, false: WeighedRows, price: float
) -> tuple[list[int], float]:
    """The conjunction without the literals that can be dropped at no loss, or at one that may be chance."""
    worth, chosen = best
    chance = 0.0 if price >= PURE else _IDLE
    for place in list(chosen):
        fewer = [other for other in chosen if other != place]
        if fewer:
            mask = rows.covered(fewer)
            less = float(true.of(mask) - price * false.of(mask))
            more = mask & ~rows.covered(chosen)
            if less >= worth - chance * float(true.of(more) + false.of(more)) ** 0.5:
                chosen, worth = fewer, less
    return chosen, worth


def accuracy(conjunctions: Sequence[Sequence[int]], rows: PackedLiterals) -> tuple[float, float]:
    """The accuracy of the disjunction on the rows where it is known, and their weight; 0 if they are too few."""
    covered = possible = np.zeros(rows.held.shape[1], np.uint64)
    for chosen in conjunctions:
        covered = covered | rows.covered(chosen)
        possible = possible | rows.possible(chosen)
    true, false = rows.true.within(covered | ~possible), rows.false.within(covered | ~possible)
    whole = ~np.zeros_like(covered)
    decided, every = (float(a.of(whole) + b.of(whole)) for a, b in ((true, false), (rows.true, rows.false)))
    if decided < _DECIDED * every or decided <= 0:
        return 0.0, decided
    return float(true.of(covered) + false.of(~covered)) / decided, decided


def packed(masks: np.ndarray) -> np.ndarray:
    """(..., words) masks (..., n) as words of 64 bits; bits past the last row are 0."""
    short = np.packbits(masks, axis=-1)
    whole = np.zeros((*short.shape[:-1], -(-short.shape[-1] // 8) * 8), np.uint8)
    whole[..., : short.shape[-1]] = short
    return whole.view(np.uint64)


@dataclass(frozen=True, slots=True)
class WeighedRows:
    """Rows with weights, as the bits of the weights in binary: the weight of a set is a sum of counts."""

    planes: np.ndarray
    amounts: tuple[float, ...]

    def within(self, mask: np.ndarray) -> WeighedRows:
        """Those rows that are in a packed ``mask`` too."""
        return WeighedRows(self.planes & mask, self.amounts)

    def of(self, masks: np.ndarray) -> np.ndarray:
        """(...) the weight of the rows of packed masks (..., words)."""
        total = np.zeros(masks.shape[:-1])
        for plane, amount in zip(self.planes, self.amounts, strict=True):
            total += amount * np.bitwise_count(masks & plane).sum(axis=-1, dtype=np.int64)
        return total


def weighed_rows(mask: np.ndarray, weight: np.ndarray) -> WeighedRows:
    """The rows of ``mask`` (n,) with weights (n,). Equal weights are exact, others to 1 / 255 of the greatest."""
    greatest = float(weight.max(initial=1e-300))
    if (weight == greatest).all():
        return WeighedRows(packed(mask)[None], (greatest,))
    levels = np.round(weight / greatest * _LEVELS).astype(np.uint8) * mask
    bits = np.flatnonzero([(levels >> place & 1).any() for place in range(8)]).tolist()
    planes = packed(np.array([levels >> place & 1 for place in bits], bool).reshape(len(bits), len(mask)))
    return WeighedRows(planes, tuple(2.0**place * greatest / _LEVELS for place in bits))
