"""Selects and weighs the terms of a weighted rule: as few terms as lose almost nothing on held-out rows.

Three sets of terms are tried: one broad soft threshold for each number; all thresholds; conjunctions too. In each, a
regularised reference model, a logistic regression, uses all terms, and a few terms are chosen to reproduce its
predictions, which are less noisy than the labels (Piironen and Vehtari, "Comparison of Bayesian predictive methods for
model selection", 2017). Each term has a penalty of its own.

Forward selection takes next the term with the greatest score statistic: the one whose best weight would lower the loss
most if the others were fixed (Rao 1948); backward elimination drops the one that is missed least (Wald 1943). For both
the loss is taken as a quadratic about the reference, so that products of columns, not rows, decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

from lnnkit.learn.induction.induced_rule import GRID, Induced, sigmoid
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
_COST = 1.0  # penalty of a weight, in units of its column's spread; 0.1: 0.776, 10: 0.773 with 15.0 terms
_NOVEL = 0.1  # share of a column's variance that the chosen ones must leave unexplained; 0.01: 0.775, 0.3: 0.774
# Log loss that a column must save to be added, and to stay; 0.03: 0.779 with 21.6 terms, 3: 0.766 with 4.4
_WORTH = 0.3
_ROWS = 8192
_PENALTIES = (100.0, 30.0, 10.0, 3.0)  # in rows
_WIDE = 400  # number of terms of a reference model
_NEAR = 1e-4  # the slope at which a regression stops
TreePath = tuple[tuple[int, bool], ...]  # places of literals and their signs
RowSplit = tuple[np.ndarray, np.ndarray]  # training rows, held-out rows


def regressions(
    rows: np.ndarray, target: np.ndarray, weight: np.ndarray, penalties: Sequence[float]
) -> list[np.ndarray]:
    """(m + 1,) for each penalty the intercept and the weights w of the columns of ``rows`` (n, m) that minimise ``sum
    weight * log loss + penalty * sum w^2 / 2``. ``target`` (n,) is within [0, 1]: the share in which a row is true.
    Without columns, or if all targets are 0 or all are 1, only the intercept is fitted."""
    if not rows.shape[1] or target.max() == 0 or target.min() == 1:
        rate = np.clip(weight @ target / weight.sum(), 1e-6, 1 - 1e-6)
        return [np.concatenate([[np.log(rate / (1 - rate))], np.zeros(rows.shape[1])])] * len(penalties)
    if (target % 1).any():  # each row is two: a true one, and one that is not
        shares = np.concatenate([weight * target, weight * (1 - target)])
        rows, target, weight = np.tile(rows, (2, 1)), np.repeat([1.0, 0.0], len(target)), shares
    fitted: list[np.ndarray] = []
    model = LogisticRegression(solver="newton-cholesky", tol=_NEAR, max_iter=1000, warm_start=True)
    for penalty in penalties:
        model.set_params(C=1 / penalty).fit(rows, target, weight)
        fitted.append(np.concatenate([model.intercept_, model.coef_[0]]).astype(np.float64))
    return fitted


def log_losses(score: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """(n,) the log loss of each row."""
    return np.logaddexp(0.0, np.where(positive, -score, score))


def moments(rows: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) the means of columns and their spreads, which are positive."""
    share = (weight / weight.sum()).astype(np.float32)
    mean = share @ rows
    return mean, np.sqrt(np.maximum(share @ (rows - mean) ** 2, 1e-4))


class ReferenceModel:
    """Regressions on the most informative of the ``columns`` of terms (n, m), one for each penalty, fitted to the rows
    ``inside`` of a table. ``costs`` (m,) are the terms' shares of the penalty."""

    def __init__(
        self, rows: np.ndarray, columns: np.ndarray, costs: np.ndarray, table: LabelledTable, inside: np.ndarray
    ) -> None:
        self._rows = rows
        target, counts = table.positive[inside].astype(np.float64), table.weight[inside]
        design = rows[np.ix_(inside, columns)]
        mean, spread = moments(design, counts)
        slope = (counts * (target - counts @ target / counts.sum())).astype(np.float32) @ (design - mean)
        some = np.sort(np.argsort(-np.abs(slope) / spread, kind="stable")[:_WIDE])
        self._chosen, self._mean = columns[some], mean[some]
        self._scale = spread[some] * np.sqrt(costs[self._chosen]).astype(np.float32)
        # changed in place, and of an order that scikit-learn does not copy: this takes the most memory of a fit
        design = rows[np.ix_(inside, self._chosen)].astype(np.float32, order="C")
        design -= self._mean
        design /= self._scale
        self._weights = regressions(design, target, counts, _PENALTIES)

    def score(self, penalty: int, rows: np.ndarray) -> np.ndarray:
        """(n,) the log-odds that the regression with that penalty gives rows."""
        intercept, *weights = self._weights[penalty]
        scaled = (weights / self._scale).astype(np.float32)  # the product copies no columns
        return intercept + (self._rows[np.ix_(rows, self._chosen)] - self._mean) @ scaled


def sampled(rows: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As many of the ``rows`` as suffice to choose columns, with weights that sum to those of all."""
    some = rows[:: max(1, -(-len(rows) // _ROWS))]
    return some, weight[some] * (weight[rows].sum() / weight[some].sum())


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """``start + sum weights * columns``, columns by number."""

    columns: tuple[int, ...]
    weights: np.ndarray
    start: float

    def score(self, rows: np.ndarray) -> np.ndarray:
        """(n,) the score of each row of the columns (n, m)."""
        return self.start + rows[:, list(self.columns)] @ self.weights


class _QuadraticLoss:
    """The loss of weights of ``columns`` (m,), of ``rows`` (n, m), as a quadratic about truths ``target`` (n,): the
    ``products`` of ones and the standardised columns, penalty included, and their products with the log-odds."""

    def __init__(self, rows: np.ndarray, columns: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
        self._columns = columns
        self._mean, self._spread = moments(rows, weight)
        self.design = np.ones((len(rows), 1 + len(columns)), np.float32)
        self.design[:, 1:] = rows - self._mean
        self.design[:, 1:] /= self._spread
        curved = self.design * (weight * np.maximum(target * (1 - target), 1e-4)).astype(np.float32)[:, None]
        odds = np.log(np.clip(target, 1e-9, 1) / np.clip(1 - target, 1e-9, 1)).astype(np.float32)
        self.products = (self.design.T @ curved).astype(np.float64)
        self.products[np.diag_indices_from(self.products)] += np.array([1e-3] + [_COST] * len(columns))
        self.wanted = (odds @ curved).astype(np.float64)

    def fitted(self, inside: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """The best weights of the columns ``inside``, the ones included, and their covariance."""
        covariance = np.linalg.inv(self.products[np.ix_(inside, inside)])
        return covariance @ self.wanted[inside], covariance

    def plain(self, inside: list[int], coefs: np.ndarray) -> WeightedSum:
        """The sum with these weights of the columns ``inside``, the ones included."""
        places = np.array(inside[1:], np.int64) - 1
        weights = coefs[1:] / self._spread[places]
        return WeightedSum(
            tuple(self._columns[places].tolist()), weights, float(coefs[0] - weights @ self._mean[places])
        )


def forward(
    rows: np.ndarray, columns: np.ndarray, target: np.ndarray, weight: np.ndarray, most: int
) -> Iterator[WeightedSum]:
    """Sums of 0 to ``most`` columns of ``rows`` (n, m), numbered ``columns`` (m,), fitted to truths ``target`` (n,),
    while that helps."""
    loss, inside = _QuadraticLoss(rows, columns, target, weight), [0]
    left, along = loss.products.copy(), loss.wanted.copy()  # of what the columns inside leave unexplained
    while True:
        yield loss.plain(inside, loss.fitted(inside)[0])
        share = left[inside[-1]] / left[inside[-1], inside[-1]]
        along -= share * along[inside[-1]]
        left -= np.outer(left[:, inside[-1]], share)
        apart = left.diagonal()
        novel = apart - _COST > _NOVEL * (loss.products.diagonal() - _COST)
        novel[inside] = False
        gain = np.where(novel, along**2 / np.maximum(apart, _COST), -1.0)
        if len(inside) > most or gain.max() < 2 * _WORTH:
            return
        inside.append(int(gain.argmax()))


def without_idle(chosen: WeightedSum, rows: np.ndarray, target: np.ndarray, weight: np.ndarray) -> WeightedSum:
    """The sum without redundant columns, those whose removal does not worsen the fit by more than chance; fitted."""
    loss = _QuadraticLoss(rows[:, list(chosen.columns)], np.array(chosen.columns, np.int64), target, weight)
    inside = list(range(1 + len(chosen.columns)))
    while len(inside) > 1:
        coefs, covariance = loss.fitted(inside)
        lost = coefs[1:] ** 2 / covariance.diagonal()[1:] / 2
        if lost.min() > _WORTH:
            break
        del inside[1 + int(lost.argmin())]
    return loss.plain(inside, *regressions(loss.design[:, inside[1:]], target, weight, [_COST]))


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
    """Cross-validation: the best penalty of the reference, its errors, and the losses of its approximations."""
    positive, weight, outside = table.positive, table.weight, np.concatenate([out for _, out in parts])
    references = [
        ReferenceModel(known, columns, costs, table, inside) for columns, (inside, _) in zip(sets, parts, strict=True)
    ]
    pairs = [(reference, out) for reference, (_, out) in zip(references, parts, strict=True)]
    scores = [np.concatenate([model.score(at, out) for model, out in pairs]) for at in range(len(_PENALTIES))]
    penalty = int(np.argmin([log_losses(score, positive[outside]) @ weight[outside] for score in scores]))
    curves: list[np.ndarray] = []
    for columns, reference, (inside, out) in zip(sets, references, parts, strict=True):
        some, share = sampled(inside, weight)
        truth = sigmoid(reference.score(penalty, some))
        sums = list(forward(known[np.ix_(some, columns)], columns, truth, share, _TERMS))
        losses = [log_losses(weighted.score(known[out]), positive[out]) for weighted in sums]
        curves.append(np.stack(losses + losses[-1:] * (_TERMS + 1 - len(sums))))
    return _Tried(penalty, (scores[penalty] > 0) != positive[outside], np.concatenate(curves, axis=1))


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
