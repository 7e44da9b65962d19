"""Searches for the formulas of a target column: a Pareto front of size against error."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.random import Generator

from lnnkit.discovery.constant_refinement import ColumnUnits, exact, free_constants, refined, regauged, rounded
from lnnkit.discovery.exact_constants import Constant
from lnnkit.discovery.expression import Product, applied, columns, constant, evaluate, size, tidied, variable
from lnnkit.discovery.formula_errors import ScoredFormula, far_rows, front, is_noise, scattered, usual_rows, weighted
from lnnkit.discovery.formula_families import FormulaFamily
from lnnkit.discovery.relevant_inputs import Reduced, Reductions, distinct_columns, monomial_columns, relevant_columns
from lnnkit.discovery.sparse_sums import Inputs
from lnnkit.discovery.table_splits import best_condition, extremes, settled_threshold

_SAMPLE = 500  # rows that thousands of features are compared on
_EXACT = 1e-9  # relative to the target: a formula with no larger residual is exact
_LARGEST = 60
_LEAST_ROWS = 10  # fewer confirm no formula
_CASES = 2  # how often the rows are split in two
_SHARP = 40  # least number of rows for the ``sharp`` search for a condition
_SMALL, _NARROW = 60, 5  # rows of a small table, and columns of one that may all matter
_USUAL, _SPLIT = 0.6, 0.5  # shares of the time for the rows that are no outliers, and for cases that stand out
_EARLY = 1  # before this many families of formulas were tried, only a monomial ends a noisy search
_SIMPLE = 35  # only a formula up to this size may end the search: a larger one fits what it does not express
_TRIED = 3  # formulas of one size whose constants are fitted
_PROMISING = 6.0  # constants are fitted if the loss is at most this many times the least of all smaller formulas
_NEARLY = 1.1  # constants are made exact if the loss is below this many times the least so far
_FEW, _MANY = 250, 2000  # rows to which constants are fitted at first, and in the end


@dataclass(frozen=True)
class FormulaSearch:
    """The limits of a search: ``seconds`` of CPU time, and ``held_out``, the share of the rows that selects the
    formula."""

    seconds: float = 30.0
    held_out: float = 0.3
    seed: int = 0


@dataclass(frozen=True)
class Discovered:
    """The Pareto front of formulas, from the smallest on, and the index of the chosen one; ``far`` are the indices of
    the rows from which that is far, and by which it was not judged if they look like outliers. ``doubt`` says, where so
    few rows cannot confirm the formula, why."""

    pareto: tuple[ScoredFormula, ...]
    chosen: int
    far: tuple[int, ...] = ()
    doubt: str = ""

    @property
    def formula(self) -> Product:
        """The chosen one."""
        return self.pareto[self.chosen].formula


def discover(table: np.ndarray, target: np.ndarray, search: FormulaSearch = FormulaSearch()) -> Discovered:
    """The formulas for ``target``, ``[rows]``, over the columns of ``table``, ``[rows, columns]``; NaN marks a missing
    cell. Rows without a target are left out; a formula is scored on the rows that have all the cells that it reads.
    Raises ValueError if no row has a target."""
    given = np.isfinite(target)
    table, target = table[given], target[given]
    if not len(target):
        raise ValueError("no row has a target to learn from")
    units = ColumnUnits.of(table, target)
    table, target = table * units.columns, target * units.target
    run = _SearchRun(table, target, units, search, np.random.default_rng(search.seed))
    discovered = run.settled(run.discovered())
    rows = weighted(table, target).measured(discovered.formula)
    rest = np.abs(rows.rest(discovered.formula))
    defined = np.flatnonzero(np.isfinite(rest))
    far = defined[far_rows(rest[defined], (target / rows.errors)[defined])] if len(defined) else defined
    pareto = tuple(replace(scored, formula=units.written(scored.formula)) for scored in discovered.pareto)
    constants = sum(abs(constant.value) != 1 for constant in free_constants(discovered.formula))
    count, doubt = len(target), ""
    if count < _LEAST_ROWS:
        doubt = f"{count} {'row is' if count == 1 else 'rows are'} too few to confirm a formula; try it on other rows"
    elif 10 * constants > count:
        doubt = f"{constants} constants are many for {count} rows, at most one for ten; try the formula on other rows"
    return Discovered(pareto, discovered.chosen, tuple(np.flatnonzero(given)[far].tolist()), doubt)


def medians(table: np.ndarray) -> np.ndarray:
    """Of each column those of the cells that are known; 0 where none is."""
    known = (column[np.isfinite(column)] for column in table.T)
    return np.array([np.median(column) if len(column) else 0.0 for column in known])


class _SearchRun:
    def __init__(
        self, table: np.ndarray, target: np.ndarray, units: ColumnUnits, search: FormulaSearch, generator: Generator
    ) -> None:
        self._generator, self._end = generator, time.process_time() + search.seconds
        self._table, self._target, self._units = table, target, units
        self._filled = np.where(np.isfinite(table), table, medians(table))
        order = generator.permutation(len(target))
        held = max(1, round(search.held_out * len(target))) if len(target) > 3 else 0
        self._train, self._test = np.sort(order[held:]), np.sort(order[: held or None])
        self._apart = distinct_columns(self._filled)
        self._positive = frozenset(np.flatnonzero((self._filled >= 0).all(0)).tolist())
        self._weighted = weighted(self._filled, target)
        self._rounding = (1e-12 * float(np.abs(target / self._weighted.errors).max(initial=0.0))) ** 2
        self._chosen: list[int] = []
        self._met: dict[Product, float] = {}
        self._fitted: dict[Product, tuple[Product, float]] = {}
        self._refined: dict[Product, Product] = {}

    def discovered(self, *, cases: int = _CASES) -> Discovered:
        """The result of the search. ``cases``: how often the rows may be split in two."""
        self._add([constant(Constant(float(middle))) for middle in (self._target.mean(), np.median(self._target))])
        self._settle()
        if np.ptp(self._target) == 0 or not self._table.shape[1]:
            return self._result()
        everything, chosen = self._train, self._relevant(self._train)
        if chosen:
            self._train = everything[usual_rows(self._filled[everything][:, chosen], self._target[everything])]
        outlying = len(self._train) < len(everything)
        if outlying:
            chosen = self._relevant(self._train) or chosen
        if cases and len(self._train) >= _SHARP and self._split(chosen, cases, sharp=True):
            return self._result()
        end, now = self._end, time.process_time()
        if outlying:
            self._end = now + _USUAL * (end - now)
        if self._searched(chosen):
            return self._result()
        self._end = end
        if outlying:
            self._train = everything
            if self._late() or self._searched(chosen):
                return self._result()
        if cases == _CASES and not self._late():
            self._split(chosen, cases)
        return self._result()

    def settled(self, discovered: Discovered) -> Discovered:
        """The result with the constants of its chosen formula from all rows, those that selected it too."""
        pareto, best = list(discovered.pareto), discovered.pareto[discovered.chosen]
        made = self._polished(best.formula, everything := np.arange(len(self._target)))
        if size(made) <= best.size and np.isfinite(self._loss(made, everything)):
            pareto[discovered.chosen] = replace(best, formula=made, size=size(made))
        return replace(discovered, pareto=tuple(pareto))

    def _relevant(self, rows: np.ndarray) -> list[int]:
        if not self._apart:
            return []
        table = self._filled[rows][:, self._apart]
        places = relevant_columns(table, self._target[rows])
        if len(rows) < _SMALL and len(self._apart) <= _NARROW:  # too few to say which columns do not matter
            places += [place for place in range(len(self._apart)) if place not in places]
        elif len(rows) < _SMALL:
            places = monomial_columns(table, self._target[rows]) or places
        return [self._apart[place] for place in places]

    def _searched(self, chosen: list[int]) -> bool:
        """Search over these columns, later over those too that explain what is left; whether a formula is complete."""
        self._chosen = chosen
        train = self._train[np.isfinite(self._table[self._train][:, chosen]).all(1)]
        if len(train) < 4 or not chosen:
            return False
        inputs = Inputs(tuple(variable(place) for place in chosen), self._filled[:, chosen])
        sample = train if len(train) <= _SAMPLE else np.sort(self._generator.choice(train, _SAMPLE, replace=False))
        for tried, formulas in enumerate(self._families(inputs, sample)):
            self._add(formulas)
            if self._settle(early=tried < _EARLY):
                return True
            if self._late():
                break
            if tried == _EARLY and (more := self._overlooked(chosen)):
                return self._searched([*chosen, *more])
        more = [] if self._late() else self._overlooked(chosen)
        return self._searched([*chosen, *more]) if more else self._complete()

    def _overlooked(self, chosen: list[int]) -> list[int]:
        """The columns that explain the residuals of the best formula."""
        table = self._filled[self._train][:, self._apart]
        rest = evaluate(self._result().formula, self._filled[self._train]) - self._target[self._train]
        if len(chosen) == len(self._apart) or not np.isfinite(rest).all() or np.ptp(rest) == 0:
            return []
        places = [self._apart[place] for place in relevant_columns(table, rest, least=0)]
        return [place for place in places if place not in chosen][:4]

    def _split(self, chosen: list[int], cases: int, *, sharp: bool = False) -> bool:
        """Add piecewise formulas of two cases, divided by a condition; whether one of them is exact. ``sharp``: only if
        the condition reduces the residuals much more than others do, and within half of the time."""
        rows = self._train
        table, target = self._filled[rows], self._target[rows]
        condition = best_condition(table, target, chosen, self._generator, sharp=sharp)
        if condition is None:
            return False
        holds = condition.holds(table)
        end = time.process_time() + (self._end - time.process_time()) * (_SPLIT if sharp else 1.0)
        parts: list[Discovered] = []
        for side in (holds, ~holds):
            left = max(0.5, (end - time.process_time()) / (2 - len(parts)))
            search = FormulaSearch(left, 0.3, int(self._generator.integers(2**31)))
            part = _SearchRun(table[side], target[side], self._units, search, self._generator)
            parts.append(part.discovered(cases=cases - 1))
        above, below = (part.formula for part in parts)
        sides = settled_threshold(condition, above, below, table, target).sides
        sizes = [self._plain(formula, table) for formula in (above, below, *extremes(above, below))]
        for made in (applied("if", *sides, above, below), *sizes):
            self._met[made] = self._loss(made, self._train)
            self._refined[made] = rounded(made, weighted(table, target))
        return self._exact(self._result().formula)

    def _families(self, inputs: Inputs, sample: np.ndarray) -> Iterator[Iterable[Product]]:
        family = partial(FormulaFamily, target=self._target, errors=self._weighted.errors, sample=sample)
        whole = family(Reduced(inputs, constant(1.0), np.ones(len(self._target)), 0.0))
        functions, middle = [whole.functions()], (time.process_time() + self._end) / 2
        yield whole.products()
        yield whole.sums((1.0,))
        smaller, larger = np.array_split(self._generator.permutation(sample), [max(4, 2 * len(sample) // 3)])
        if len(larger) < 2:
            return
        levels = [*Reductions(self._target, smaller, larger).levels(inputs)]
        states = [state for level in reversed(levels) for state in level]
        for state in states:
            if len(state.inputs) <= 6 or len(states) <= 4:
                formulas = family(state)
                for made in (formulas.sums((1.0, -1.0, 2.0, -2.0)), formulas.products(), formulas.quotients()):
                    yield made
                    if functions and time.process_time() > middle:
                        yield functions.pop()
        yield from functions
        yield from (family(state).composites() for state in states if len(state.inputs) <= 5)

    def _add(self, formulas: Iterable[Product]) -> None:
        for tried, formula in enumerate(formulas):
            if formula in self._met or size(formula) > _LARGEST:
                continue
            values = np.array([constant.value for constant in free_constants(formula) if not constant.exact])
            whole = (np.abs(values) < 1000) & (np.abs(values - np.rint(values)) <= 1e-9 * np.abs(values))
            if int(np.sum(~whole)) > max(1, len(self._train) // 4):  # fewer than four rows for each constant
                continue
            self._met[formula] = self._loss(formula, self._train)
            if tried % 50 == 49 and self._late():
                return

    def _settle(self, *, early: bool = False) -> bool:
        """Refine the best formulas of each size; returns whether one of them is complete. A few are fitted to some of
        the rows; those that then beat all smaller ones, or nearly so, to all rows, with constants made exact."""
        met = [(size(formula), loss, formula) for formula, loss in self._met.items() if np.isfinite(loss)]
        met.sort(key=lambda entry: entry[:2])
        least = np.inf
        for _, entries in itertools.groupby(met, key=lambda entry: entry[0]):
            ranked = [*itertools.islice(entries, _TRIED)]
            for _, loss, formula in ranked:
                if formula in self._fitted or loss > _PROMISING * least or self._late():
                    continue
                rows = self._weighted.at(self._rows(formula, self._train)[:_FEW])
                fitted = refined(formula, rows, steps=6) if len(rows.target) > 1 else formula
                self._fitted[formula] = fitted, self._loss(fitted, self._train)
            for *_, formula in ranked:
                fitted, loss = self._fitted.get(formula, (formula, np.inf))
                if loss < max(_NEARLY * least, self._rounding) and formula not in self._refined:
                    self._refined[formula] = self._polished(fitted, self._train)
                least = min(least, loss)
        return self._complete(early=early)

    def _polished(self, formula: Product, among: np.ndarray) -> Product:
        rows = self._weighted.at(self._rows(formula, among)[:_MANY])
        if len(rows.target) < 2:
            return formula
        fitted = refined(formula, rows)
        rows = rows.measured(fitted)
        fitted = refined(fitted, rows)
        made = self._plain(exact(fitted, rows), rows.table)
        for other in regauged(fitted) if size(fitted) <= _SIMPLE else ():
            if all(constant.exact for constant in free_constants(made)) or self._late():
                break
            made = min(made, self._plain(exact(other, rows), rows.table), key=size)
        return rounded(made, rows)

    def _plain(self, formula: Product, table: np.ndarray) -> Product:
        return tidied(formula, table, self._positive)

    def _rows(self, formula: Product, among: np.ndarray) -> np.ndarray:
        read = sorted(columns(formula))
        return among[np.isfinite(self._table[among][:, read]).all(1)] if read else among

    def _loss(self, formula: Product, among: np.ndarray) -> float:
        """The mean square of its residuals; infinite for one that has no value, or cannot be written."""
        rows = self._rows(formula, among)[:_SAMPLE]
        if not len(rows) or not self._units.expressible(formula, self._filled[rows]):
            return np.inf
        return self._weighted.at(rows).square(formula) / len(rows)

    def _complete(self, *, early: bool = False) -> bool:
        """Whether the best formula is exact, or its residuals are noise to a polynomial. ``early``: among inexact
        formulas only monomials count, since simpler formulas may follow."""
        formula = self._result().formula
        rows = self._rows(formula, np.arange(len(self._target)))
        rest = self._weighted.at(rows).measured(formula).rest(formula)
        if not np.isfinite(rest).all():
            return False
        if self._exact(formula):
            return True
        small = (
            constant.exact and not constant.root and abs(constant.numerator) * constant.denominator <= 12
            for constant in free_constants(formula)
        )  # noise seldom imitates these
        simple = bool(self._chosen) and all(small) and size(formula) <= _SIMPLE
        simple &= not early or not any(base.operands for base, _ in formula.factors)
        noise = simple and is_noise(rest, self._filled[rows][:, self._chosen])
        return noise and not self._overlooked(self._chosen)

    def _exact(self, formula: Product) -> bool:
        """Whether it leaves nothing but rounding, or that and outliers in a table that could show otherwise."""
        rows = self._rows(formula, np.arange(len(self._target)))
        usual = self._rows(formula, self._train)
        rest = np.abs(evaluate(formula, self._filled[rows]) - self._target[rows])
        if not len(usual) or not np.isfinite(rest).all():
            return False
        far = rest > _EXACT * float(np.sqrt(np.mean(self._target[usual] ** 2)))
        if not far.any():
            return True
        enough = bool((~far).sum() >= max(8, 2 * size(formula)))
        return enough and scattered(far, self._filled[rows][:, self._apart])

    def _result(self) -> Discovered:
        made = list(dict.fromkeys(self._refined.values()))
        used = [formula for formula in made if np.isfinite(self._loss(formula, self._train))]
        pareto, chosen = front(used, self._weighted.at(self._test))
        if not pareto:
            mean = constant(Constant(float(self._target.mean())))
            return Discovered((ScoredFormula(mean, size(mean), 1.0),), 0)
        return Discovered(tuple(pareto), chosen)

    def _late(self) -> bool:
        return time.process_time() > self._end
