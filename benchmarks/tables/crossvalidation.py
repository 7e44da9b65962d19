"""Each model on the same folds: held-out accuracy, with all cells and with some removed, and what it cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.tables.data import Rows, with_gaps
from benchmarks.tables.models import MODELS, OWN

DRAWS = 3  # of the cells that are removed


@dataclass
class Score:
    """Lists have one number a fold. ``gaps`` is the accuracy where cells of held-out rows are removed, ``trained`` that
    where those of the training rows are too; ``seconds`` are CPU seconds of training, ``predicting`` those of all
    held-out rows. ``terms`` are conjunctions of a rule, ``literals`` what they hold in all, ``longest`` the most that
    one does. ``most`` is the share of rows with removed cells that any model can take right on average, where all rows
    that there can be are known. ``program`` is that of the first fold."""

    table: str
    model: str
    accuracy: list[float] = field(default_factory=list)
    auroc: list[float] = field(default_factory=list)
    log_loss: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    trained: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    predicting: list[float] = field(default_factory=list)
    terms: list[int] = field(default_factory=list)
    literals: list[int] = field(default_factory=list)
    longest: list[int] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    program: str = ""


def folds(rows: Rows, count: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The published split, or folds with the same share of true rows."""
    if rows.split is not None:
        yield rows.split
    else:
        yield from StratifiedKFold(count, shuffle=True, random_state=seed).split(rows.frame, rows.positive)


def crossvalidated(
    name: str,
    rows: Rows,
    count: int,
    seed: int,
    *,
    share: float,
    everywhere: bool,
    progress: Callable[[str], None],
    models: Mapping[str, Callable[[int], Any]] = MODELS,
) -> list[Score]:
    """The scores of ``models`` on a table. ``share`` of the cells are removed where cells are, the same for every
    model; ``everywhere`` trains on such rows too."""
    scores = {model: Score(name, model) for model in models}
    for place, (train, test) in enumerate(folds(rows, count, seed)):
        frame, held = rows.frame.iloc[train], rows.frame.iloc[test]
        rng = np.random.default_rng([seed, place])
        drawn = [with_gaps(held, share, rng) for _ in range(DRAWS)]
        frame_gaps = with_gaps(frame, share, rng)
        for model, score in scores.items():
            began = time.process_time()
            fitted = models[model](seed).fit(frame, rows.positive[train])
            score.seconds.append(time.process_time() - began)
            began = time.process_time()
            truth = _likely(fitted, held) if model == OWN else fitted.predict_proba(held)[:, 1]
            score.predicting.append(time.process_time() - began)
            score.accuracy.append(float((fitted.predict(held) == rows.positive[test]).mean()))
            score.auroc.append(float(roc_auc_score(rows.positive[test], truth)))
            score.log_loss.append(float(log_loss(rows.positive[test], truth, labels=[False, True])))
            score.gaps.append(_accuracy(fitted, drawn, rows.positive[test]))
            if everywhere:
                again = models[model](seed).fit(frame_gaps, rows.positive[train])
                score.trained.append(_accuracy(again, drawn, rows.positive[test]))
            if rows.complete:
                score.most.append(_most(held, rows.positive[test], drawn))
            if model == OWN:
                _measure(score, fitted)
            progress(f"{name}, fold {place + 1}, {model}: {score.accuracy[-1]:.3f}")
    return list(scores.values())


def _likely(fitted: Any, held: pd.DataFrame) -> np.ndarray:
    """(n,) the probability of the true class: a rule's own is a degree of truth, its decision the log-odds."""
    return 1 / (1 + np.exp(-fitted.decision_function(held)))


def _accuracy(fitted: Any, frames: Sequence[pd.DataFrame], positive: np.ndarray) -> float:
    return float(np.mean([fitted.predict(frame) == positive for frame in frames]))


def _most(every: pd.DataFrame, positive: np.ndarray, frames: Sequence[pd.DataFrame]) -> float:
    """What the likelier class of those of ``every`` row that agree in the known cells comes to on average."""
    cells, found = every.to_numpy(), []
    for row in np.concatenate([frame.to_numpy() for frame in frames]):
        agrees = ((cells == row) | (row != row)).all(axis=1)
        share = positive[agrees].mean()
        found.append(max(share, 1 - share))
    return float(np.mean(found))


def _measure(score: Score, fitted: Any) -> None:
    sizes = [len(each) for rule in fitted.rules_ for each in rule.conjunctions]
    score.terms.append(len(sizes))
    score.literals.append(sum(sizes))
    score.longest.append(max(sizes, default=0))
    score.program = score.program or fitted.program_
