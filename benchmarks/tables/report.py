"""Scores as a table that a person reads, and as an object."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import mean, stdev

from benchmarks.tables.crossvalidation import Score
from benchmarks.tables.data import TABLES
from benchmarks.tables.models import OWN

HEAD = (
    "table",
    "model",
    "accuracy",
    "",
    "AUROC",
    "log loss",
    "gaps",
    "falls by",
    "trained with gaps",
    "falls by",
    "terms",
    "literals",
    "CPU s a fold",
)
_WITHIN = 0.005  # of the logistic regression


def table(scores: Sequence[Score]) -> str:
    """The scores of one table: one line a model under a head, then what was to be shown."""
    lines = [HEAD, *(_cells(score) for score in scores)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEAD))]
    shown = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines)
    return "\n".join([*shown, *(f"  {line}" for line in verdicts(scores)), ""])


def as_object(scores: Sequence[Score]) -> dict[str, object]:
    groups = [list(own) for _, own in groupby(scores, key=lambda score: score.table)]
    return {"scores": [vars(score) for score in scores], "verdicts": {g[0].table: verdicts(g) for g in groups}}


def verdicts(scores: Sequence[Score]) -> list[str]:
    """What was to be shown on a table, and whether it was."""
    by_model = {score.model: score for score in scores}
    own, other = mean(by_model[OWN].accuracy), mean(by_model["logistic"].accuracy)
    target = TABLES[scores[0].table].tree if scores[0].table in TABLES else None
    found = [] if target is None else [_verdict(own >= target - 5e-4, f"accuracy {own:.4f}, a tree's is {target:.3f}")]
    if target is None:
        found.append(_verdict(own == 1.0, f"accuracy {own:.4f}, to be 1"))
        found.append(_verdict(max(by_model[OWN].longest) <= 6, "conjunctions of six literals at most"))
    found.append(
        _verdict(own >= other - _WITHIN, f"logistic regression within half a point: {100 * (own - other):+.1f}")
    )
    for name, values in (("held-out", "gaps"), ("all", "trained")):
        falls = [_fall(by_model[model], getattr(by_model[model], values)) for model in (OWN, "logistic")]
        if falls[0] is not None and falls[1] is not None:
            said = (
                f"cells of {name} rows removed: falls by {100 * falls[0]:.1f}, the regression by {100 * falls[1]:.1f}"
            )
            if own == 1.0 and by_model[OWN].most:
                said += f"; whoever is right without gaps by {100 * (1 - mean(by_model[OWN].most)):.1f}, chance aside"
            found.append(_verdict(falls[0] <= falls[1], said))
    return found


def _verdict(reached: bool, text: str) -> str:
    return f"{'reached' if reached else 'NOT REACHED'}: {text}"


def _fall(score: Score, values: Sequence[float]) -> float | None:
    return mean(score.accuracy) - mean(values) if values else None


def _cells(score: Score) -> tuple[str, ...]:
    error = stdev(score.accuracy) / len(score.accuracy) ** 0.5 if len(score.accuracy) > 1 else None
    falls = (_fall(score, score.gaps), _fall(score, score.trained))
    return (
        score.table,
        score.model,
        f"{mean(score.accuracy):.4f}",
        "" if error is None else f"± {error:.4f}",
        f"{mean(score.auroc):.4f}",
        f"{mean(score.log_loss):.4f}",
        _number(score.gaps),
        "-" if falls[0] is None else f"{falls[0]:.4f}",
        _number(score.trained),
        "-" if falls[1] is None else f"{falls[1]:.4f}",
        f"{mean(score.terms):.1f}" if score.terms else "-",
        f"{mean(score.literals):.1f}" if score.literals else "-",
        f"{mean(score.seconds):.2f}",
    )


def _number(values: Sequence[float]) -> str:
    return f"{mean(values):.4f}" if values else "-"
