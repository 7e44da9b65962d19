"""The infection and recovery terms of epidemics, found from days before, and what they forecast for the next 14.

Of each country the daily numbers, as means over a week, of the susceptible, infected and recovered. From the 60 days
before a day two formulas are found: how many are infected each day, and how many recover. The two are iterated; the
forecast of the infected is compared with the last number (persistence). Seed k starts at day 75 + 17 k.
"""

from __future__ import annotations

import csv
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.arithmetic.batch import Batch
from benchmarks.arithmetic.outcome import Outcome
from lnnkit.discovery.expression import evaluate
from lnnkit.discovery.formula_search import FormulaSearch, discover
from lnnkit.discovery.formula_text import formula_text

WINDOW, AHEAD = 60, 14
FIRST, APART = 75, 17
SECONDS = 5.0
NAMES = ("susceptible", "infected", "recovered")


def countries() -> list[str]:
    return list(_series())


def _series() -> dict[str, np.ndarray]:
    """Of each country ``[days, 3]`` and its population in each row; none where the data folder is absent."""
    root = Path(os.environ.get("LNNKIT_DATA", Path(__file__).parents[3] / "shared" / "data"))
    path = root / "covid" / "sir.csv"
    if not path.is_file():
        return {}
    found: dict[str, list[list[float]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            removed = float(line["recovered"]) + float(line["deaths"])
            row = [float(line["susceptible"]), float(line["infected"]), removed]
            found.setdefault(line["country"], []).append(row)
    return {country: np.array(rows) for country, rows in found.items()}


def weekly(days: np.ndarray) -> np.ndarray:
    """Means over the seven days up to each, ``[days - 6, columns]``."""
    total = np.cumsum(np.concatenate([np.zeros((1, days.shape[1])), days]), axis=0)
    return (total[7:] - total[:-7]) / 7


def forecast(past: np.ndarray, ahead: int, seed: int) -> tuple[np.ndarray, str]:
    """The infected of the next days from ``past``, ``[days, 3]``, and the two terms."""
    state = past[:-1]
    infection, recovery = past[:-1, 0] - past[1:, 0], past[1:, 2] - past[:-1, 2]
    terms = [discover(state, target, FormulaSearch(SECONDS, seed=seed)).formula for target in (infection, recovery)]
    now, whole = past[-1].copy(), float(past[-1].sum())
    found: list[float] = []
    for _ in range(ahead):
        flows = [float(np.nan_to_num(evaluate(term, now[None])[0])) for term in terms]
        infected = min(max(flows[0], 0.0), now[0])
        recovering = min(max(flows[1], 0.0), now[1])
        now = np.clip(now + np.array([-infected, infected - recovering, recovering]), 0.0, whole)
        found.append(now[1])
    return np.array(found), " ; ".join(formula_text(term, NAMES) for term in terms)


def solve(country: str, batch: Batch) -> list[Outcome]:
    """A seed is solved where the forecast's mean error is below that of persistence; ``error`` is the ratio of both."""
    days = weekly(_series()[country])
    outcomes: list[Outcome] = []
    for number in range(batch.count):
        start = FIRST + APART * (batch.first + number)
        if start + AHEAD > len(days):
            start = FIRST + (start - FIRST) % (len(days) - AHEAD - FIRST)
        began = time.process_time()
        found, text = forecast(days[max(0, start - WINDOW) : start], AHEAD, batch.first + number)
        cpu = time.process_time() - began
        wanted, last = days[start : start + AHEAD, 1], days[start - 1, 1]
        mine, theirs = float(np.abs(found - wanted).mean()), float(np.abs(last - wanted).mean())
        ratio = mine / theirs if theirs else float("inf")
        scores = {
            "relative": mine / max(float(wanted.mean()), 1.0),
            "persistence": theirs / max(float(wanted.mean()), 1.0),
        }
        outcomes.append(Outcome(mine < theirs, ratio, 1, WINDOW, cpu, found=text, scores=scores))
        batch.watch((number + 1) / batch.count)
    return outcomes
