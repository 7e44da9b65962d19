"""Selects and weighs the terms of a weighted rule: as few terms as lose almost nothing on held-out rows.

Three sets of terms are tried: one broad soft threshold for each number; all thresholds; conjunctions too. In each, a
regularised reference model uses all terms, and a few terms are chosen to reproduce its predictions, which are less
noisy than the labels (Piironen and Vehtari, "Comparison of Bayesian predictive methods for model selection", 2017)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeRegressor

from lnnkit.learn.induction.induced_rule import GRID, Induced
from lnnkit.learn.induction.sparse_regression import (
    PENALTIES,
    ReferenceModel,
    WeightedSum,
    forward,
    log_losses,
    sampled,
    sigmoid,
    without_idle,
)
from lnnkit.learn.induction.table_literals import UNIT, Conjunction, LabelledTable, TableLiteral, truths

# Measured on crx, german and pima, three folds each: accuracy 0.775 with 11.8 terms a rule, standard error 0.008. No
# value below changes it beyond chance; what they set is the length of rules.
_CRISP = 10.0  # factor of the penalty for a crisp threshold of a graded number; 1: 13.1 terms, 100: 11.7 terms
_SKETCH = 8192  # rows of which trees are grown
_PATHS = 40  # number of boosted trees; 0 and 80 the same, 20: 0.777 with 13.2 terms
_TERMS = 40  # the same with 80; 20: 0.771 with 10.9 terms
_FEW = 10  # terms that are quick to read, if each is of a separate column; 1: 0.774, 20: 0.778 with 13.3 terms
_UNSAID = 0.003  # share of the best rule's gain on held-out rows that a shorter one may lose; 0.001: 0.776, 0.01: 0.775
_SURE = 2.0  # standard errors by which a rule without weights must be better
_ERRORS = 0.5  # standard errors by which a simpler way may be worse; 0: 0.776 with 12.8 terms, 1: 0.777 with 12.3
TreePath = tuple[tuple[int, bool], ...]  # places of literals and their signs
RowSplit = tuple[np.ndarray, np.ndarray]  # training rows, held-out rows


def weighed(
    literals: Sequence[TableLiteral],
    table: LabelledTable,
    parts: Sequence[RowSplit],
    rng: np.random.Generator,
    begins: Callable[[str], bool],
    most: int | None = None,
    longest: int | None = None,
    rival: np.ndarray | None = None,
) -> Induced | None:
    """The weighted rule over literals, of at most ``most`` terms of at most ``longest`` literals. ``parts`` are the
    held-out rows of each fold. ``begins`` is told of each step, and says whether there is time for it. None if a rule
    that is wrong in the held-out rows ``rival`` is right more often."""
    known, positive, weight = truths(literals, table.columns), table.positive, table.weight
    crisp = [number for number, literal in enumerate(literals) if literal.scale is None]
    graded = {literal.column for literal in literals if literal.scale is not None}
    steps = [literal.scale is None and literal.other is None and literal.column in graded for literal in literals]
    costs = [_CRISP if step else 1.0 for step in steps]
    whole = np.arange(len(positive))
    terms: list[TreePath] = [((number, True),) for number in range(len(literals))]
    broad, every = np.array(_broad(literals), np.int64), np.arange(len(literals))

    def paths(rows: np.ndarray) -> np.ndarray:
        """The places of the conjunctions of trees over some rows, which become terms."""
        nonlocal known
        some = np.sort(rng.permutation(len(rows))[:_SKETCH])
        grown = tree_paths(known[rows[some]][:, crisp], positive[rows[some]], weight[rows[some]], rng)
        grown = [path for path in grown if longest is None or len(path) <= longest][:_PATHS]
        named = [tuple((crisp[number], wanted) for number, wanted in path) for path in grown]
        first = len(terms)
        terms.extend(named)
        costs.extend([1.0] * len(named))
        known = np.concatenate([known, *(_products(path, known)[:, None] for path in named)], axis=1)
        return np.arange(first, len(terms))

    held = weight[np.concatenate([out for _, out in parts])]
    way, count, tried = 0, 0, list[_Tried]()
    chosen: list[list[np.ndarray]] = []
    for way, what in enumerate(("broad thresholds", "thresholds", "conjunctions")):
        if not begins(f"weighing {what}") and tried:
            break
        sets = [broad if way == 0 else every] * (len(parts) + 1)
        if way == 2:
            sets = [np.concatenate([every, paths(rows)]) for rows in (*(inside for inside, _ in parts), whole)]
        chosen.append(sets)
        trial = _tried(known, sets[:-1], np.array(costs), table, parts)
        tried.append(trial if most is None else trial._replace(losses=trial.losses[: most + 1]))
        way, count = _simplest(tried, held)
        if rival is not None:
            wrong = tried[way].losses[: count + 1][-1] > np.log(2)
            if not no_worse(wrong.astype(float), rival.astype(float), held, _SURE):
                return None
    count = count if most is None else min(count, most)
    begins("fitting weights")
    reference = ReferenceModel(known, chosen[way][-1], np.array(costs), table, whole)
    truth = sigmoid(reference.score(tried[way].penalty, whole))
    some, share = sampled(whole, weight)
    *_, last = forward(known[np.ix_(some, chosen[way][-1])], chosen[way][-1], truth[some], share, count)
    last = without_idle(last, known, truth, weight)
    kept = [tuple((literals[number], wanted) for number, wanted in terms[place]) for place in last.columns]
    return _rounded(kept, last, known[:, list(last.columns)], truth, weight)


def _rounded(
    conjunctions: Sequence[Conjunction], chosen: WeightedSum, rows: np.ndarray, truth: np.ndarray, weight: np.ndarray
) -> Induced:
    """The rule with its weights rounded to the grid, and its start set so that it is true as often as the reference."""
    weights, start = np.round(chosen.weights * UNIT / GRID) * GRID, chosen.start
    score = rows @ (weights / UNIT)
    for _ in range(20):
        true = sigmoid(start + score)
        step = float(weight @ (truth - true) / max(weight @ (true * (1 - true)), 1e-9))
        start += float(np.clip(step, -1.0, 1.0))
    kept = [place for place in range(len(weights)) if weights[place]]
    start = float(np.round(start / GRID) * GRID)
    return Induced(tuple(conjunctions[place] for place in kept), weights[kept], start, plain=False)


def _products(path: TreePath, known: np.ndarray) -> np.ndarray:
    """(n,) the truth of a conjunction in units."""
    product = np.ones(len(known))
    for number, wanted in path:
        product *= (known[:, number] if wanted else UNIT - known[:, number]) / UNIT
    return np.round(product * UNIT).astype(np.uint8)


def _broad(literals: Sequence[TableLiteral]) -> list[int]:
    """The literals without crisp or narrow thresholds of graded numbers."""
    scales = sorted((literal.scale, literal.column) for literal in literals if literal.scale is not None)
    broadest = {column: scale for scale, column in scales}  # the last one of each
    return [at for at, one in enumerate(literals) if one.scale == broadest.get(one.column, one.scale)]


class _Tried(NamedTuple):
    """The best penalty's index, the held-out rows that it misclassifies (n,); the losses (sizes, n) of rules by
    size."""

    penalty: int
    wrong: np.ndarray
    losses: np.ndarray


def _tried(
    known: np.ndarray, sets: Sequence[np.ndarray], costs: np.ndarray, table: LabelledTable, parts: Sequence[RowSplit]
) -> _Tried:
    positive, weight = table.positive, table.weight
    references = [
        ReferenceModel(known, columns, costs, table, inside) for columns, (inside, _) in zip(sets, parts, strict=True)
    ]
    lost = np.zeros(len(PENALTIES))
    for reference, (_, out) in zip(references, parts, strict=True):
        for penalty in range(len(PENALTIES)):
            lost[penalty] += log_losses(reference.score(penalty, out), positive[out]) @ weight[out]
    penalty = int(lost.argmin())
    wrong: list[np.ndarray] = []
    curves: list[np.ndarray] = []
    for columns, reference, (inside, out) in zip(sets, references, parts, strict=True):
        wrong.append((reference.score(penalty, out) > 0) != positive[out])
        some, share = sampled(inside, weight)
        truth = sigmoid(reference.score(penalty, some))
        sums = list(forward(known[np.ix_(some, columns)], columns, truth, share, _TERMS))
        losses = [log_losses(weighted.score(known[out]), positive[out]) for weighted in sums]
        curves.append(np.stack(losses + losses[-1:] * (_TERMS + 1 - len(sums))))
    return _Tried(penalty, np.concatenate(wrong), np.concatenate(curves, axis=1))


def _simplest(tried: Sequence[_Tried], weight: np.ndarray) -> tuple[int, int]:
    """The first set of terms that is no worse than the best one, and the fewest terms with nearly its gain. To be
    better, a set needs both a lower loss and fewer misclassified rows, since either alone may be chance; for a rule
    with fewer terms the loss alone counts."""
    way, least = 0, [trial.losses[int((trial.losses @ weight).argmin())] for trial in tried]  # at the best size
    for richer, trial in enumerate(tried[1:], 1):
        pairs = ((tried[way].wrong.astype(float), trial.wrong.astype(float)), (least[way], least[richer]))
        if not any(no_worse(*pair, weight) for pair in pairs):
            way = richer
    lost = tried[way].losses @ weight
    size = int((lost <= lost.min() + _UNSAID * (lost[0] - lost.min())).argmax())
    return way, max(size, _FEW) if way == 0 else size


def no_worse(losses: np.ndarray, others: np.ndarray, weight: np.ndarray, errors: float = _ERRORS) -> bool:
    """Whether the losses exceed the others by no more than chance: so many standard errors of the mean difference."""
    more = losses - others
    mean = float(weight @ more / weight.sum())
    return mean <= errors * float(np.sqrt((weight**2) @ (more - mean) ** 2)) / float(weight.sum())


def tree_paths(known: np.ndarray, positive: np.ndarray, weight: np.ndarray, rng: np.random.Generator) -> list[TreePath]:
    """The paths, longer than one literal, of boosted shallow trees over the truths (n, m) of literals, by decreasing
    gain (Friedman and Popescu, "Predictive learning via rule ensembles", 2008). Empty without literals, or with a
    single class."""
    if not known.shape[1] or positive.all() or not positive.any():
        return []
    worth: dict[TreePath, float] = {}
    model = GradientBoostingClassifier(
        n_estimators=40, learning_rate=0.3, subsample=0.7, min_samples_split=8, random_state=int(rng.integers(2**31))
    )
    for tree in model.fit(known, positive, weight).estimators_[:, 0]:
        for path, gain in _paths(tree):
            worth[path] = worth.get(path, 0.0) + gain
    return sorted(worth, key=lambda path: (-worth[path], path))


def _paths(tree: DecisionTreeRegressor) -> Iterator[tuple[TreePath, float]]:
    """The paths of one tree with at least two literals, each with the gain of its last split."""
    nodes = tree.tree_
    loss = nodes.impurity * nodes.weighted_n_node_samples
    waiting: list[tuple[int, TreePath]] = [(0, ())]
    while waiting:
        node, path = waiting.pop()
        left, right = int(nodes.children_left[node]), int(nodes.children_right[node])
        if left < 0:
            continue
        for child, wanted in ((left, False), (right, True)):
            longer = tuple(sorted((*path, (int(nodes.feature[node]), wanted))))
            if len(longer) > 1:
                yield longer, float(loss[node] - loss[left] - loss[right])
            waiting.append((child, longer))
