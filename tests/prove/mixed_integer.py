"""The tightest Lukasiewicz bounds of a question by mixed-integer programming (HiGHS): an oracle that shares nothing
with Z3 or lnnkit. Every subformula of every ground instance is a variable."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping

import networkx as nx
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from tests.oracle.program import Formula, Statement, free_variables, operands, weights
from tests.prove.graded_worlds import Case

Affine = tuple[float, dict[int, float]]  # a constant, and coefficients of variables
Key = tuple[str, tuple[str, ...]]


def stripped(statement: Statement) -> Formula:
    """What is said of each instance: a truth of 1 at most says nothing of a ``forall`` but of its rows."""
    formula = statement.formula
    while formula[0] == "forall" and statement.upper >= 1:
        formula = formula[2]
    return formula


def defines(statement: Statement, closed: Collection[str]) -> list[Formula]:
    """The atoms of ``closed`` predicates that a statement completes."""
    formula = stripped(statement)
    head = operands(formula)[1] if formula[0] == "implies" else formula
    return [head] if formula[0] == "implies" and head[0] == "atom" and head[1] in closed else []


def supports_itself(case: Case) -> bool:
    """Whether a completed predicate depends on itself: which of its worlds are founded is not worked out here."""
    closed = _closed(case)
    below = nx.DiGraph()
    for statement in case.program.statements:
        for head in defines(statement, closed):
            below.add_edges_from((head[1], name) for name in _names(operands(stripped(statement))[0]))
    return not nx.is_directed_acyclic_graph(below)


def _closed(case: Case) -> set[str]:
    return {predicate.name for predicate in case.program.predicates if predicate.closed}


def _names(formula: Formula) -> set[str]:
    if formula[0] == "atom":
        return {formula[1]}
    return set[str]().union(*map(_names, operands(formula)))


def tightest(case: Case, question: Formula) -> tuple[float, float] | None:
    """The least and the greatest truth; None where nothing satisfies the program."""
    model = _Model(case)
    goal = model.value(question, {})
    found = [model.extreme(goal, sign) for sign in (1.0, -1.0)]
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]


class _Model:
    def __init__(self, case: Case) -> None:
        self.case = case
        self.low: list[float] = []
        self.high: list[float] = []
        self.integral: list[int] = []
        self.rows: list[tuple[float, dict[int, float], float]] = []
        self.atoms: dict[Key, int] = {}
        self.sums: dict[Key, list[int]] = {}
        self._atoms()
        self._statements()

    # --- the program ------------------------------------------------------------------------------------------------

    def _atoms(self) -> None:
        program, entities = self.case.program, self.case.entities
        self.listed = {(fact.predicate, fact.arguments): (fact.lower, fact.upper) for fact in program.facts}
        self.closed = _closed(self.case)
        self.defined = {head[1] for statement in program.statements for head in defines(statement, self.closed)}
        for predicate in program.predicates:
            for row in itertools.product(entities, repeat=predicate.arity):
                key = predicate.name, row
                free = (0.0, 1.0) if not predicate.closed or predicate.name in self.defined else (0.0, 0.0)
                self.atoms[key] = self.variable(*self.listed.get(key, free))

    def _statements(self) -> None:
        needs: dict[Key, list[Affine]] = {key: [] for key in self.atoms if key[0] in self.defined}
        for statement in self.case.program.statements:
            free = free_variables(statement.formula)
            for row in itertools.product(self.case.entities, repeat=len(free)):
                env = dict(zip(free, row, strict=True))
                value = self.value(statement.formula, env)
                self.row(statement.lower, value, statement.upper)
            rule = stripped(statement)
            free = free_variables(rule)
            for head in defines(statement, self.closed):
                for row in itertools.product(self.case.entities, repeat=len(free)):
                    env = dict(zip(free, row, strict=True))
                    key = head[1], tuple(env[t] if k == "var" else t for k, t in head[2])
                    needs[key].append(self.need(rule, statement.lower, env))
        for key in needs.keys() - self.listed.keys():
            rows = needs[key]
            greatest = self.complement(self.least([self.complement(each) for each in [*rows, (0.0, {})]]))
            gap = _plus(greatest, (0.0, {self.atoms[key]: -1.0}))
            self.row(0.0, gap, 0.0)

    def need(self, rule: Formula, lower: float, env: Mapping[str, str]) -> Affine:
        """The least truth of a rule's head with which it is ``lower`` at least."""
        (w, v), bias = weights(rule), rule[-2]
        if v == 0:
            return 0.0, {}
        antecedent = self.value(operands(rule)[0], env)
        return self.clamp(_plus(((lower - 1 + bias - w) / v, {}), _scaled(w / v, antecedent)))

    # --- values -----------------------------------------------------------------------------------------------------

    def value(self, formula: Formula, env: Mapping[str, str]) -> Affine:
        match formula[0]:
            case "atom":
                return 0.0, {self.atoms[formula[1], tuple(env[t] if k == "var" else t for k, t in formula[2])]: 1.0}
            case "not":
                return self.complement(self.value(formula[1], env))
            case "forall" | "exists":
                rows = itertools.product(self.case.entities, repeat=len(formula[1]))
                parts = [self.value(formula[2], {**env, **dict(zip(formula[1], row, strict=True))}) for row in rows]
                if formula[0] == "forall":
                    return self.least(parts)
                return self.complement(self.least([self.complement(part) for part in parts]))
        x = [self.value(part, env) for part in operands(formula)]
        return self.connective(formula[0], weights(formula), formula[-2], x)

    def connective(self, kind: str, w: tuple[float, ...], b: float, x: list[Affine]) -> Affine:
        match kind:
            case "and":
                total: Affine = (b - sum(w), {})
                for v, each in zip(w, x, strict=True):
                    total = _plus(total, _scaled(v, each))
                return self.clamp(total)
            case "or":
                return self.complement(self.connective("and", w, b, [self.complement(each) for each in x]))
            case "implies":
                total = _plus((1 - b + w[0], {}), _plus(_scaled(-w[0], x[0]), _scaled(w[1], x[1])))
                return self.clamp(total)
        there = self.connective("implies", w, b, x)
        both = self.least([there, self.connective("implies", w[::-1], b, x[::-1])])
        return both if kind == "iff" else self.complement(both)

    def complement(self, x: Affine) -> Affine:
        return _plus((1.0, {}), _scaled(-1.0, x))

    def clamp(self, s: Affine) -> Affine:
        """``max(0, min(1, s))``."""
        low, high = self.range(s)
        if low < 0:
            t = 0.0, {self.variable(0.0, max(0.0, high)): 1.0}
            a = self.binary()  # s <= 0
            self.row(0.0, _plus(t, _scaled(-1.0, s)), np.inf)
            self.row(-np.inf, _plus(_plus(t, _scaled(-1.0, s)), (0.0, {a: low})), 0.0)
            self.row(-np.inf, _plus(t, (0.0, {a: max(high, 0.0)})), max(high, 0.0))
            s, low = t, 0.0
        if high > 1:
            v = 0.0, {self.variable(0.0, 1.0): 1.0}
            c = self.binary()  # s >= 1
            self.row(-np.inf, _plus(v, _scaled(-1.0, s)), 0.0)
            self.row(0.0, _plus(_plus(v, _scaled(-1.0, s)), (0.0, {c: high - 1})), np.inf)
            self.row(0.0, _plus(v, (0.0, {c: -1.0})), np.inf)
            return v
        return s

    def least(self, parts: list[Affine]) -> Affine:
        if len(parts) == 1:
            return parts[0]
        v = 0.0, {self.variable(0.0, 1.0): 1.0}
        chosen = [self.binary() for _ in parts]
        for part, b in zip(parts, chosen, strict=True):
            self.row(-np.inf, _plus(v, _scaled(-1.0, part)), 0.0)
            self.row(-1.0, _plus(_plus(v, _scaled(-1.0, part)), (0.0, {b: -1.0})), np.inf)
        self.row(1.0, (0.0, dict.fromkeys(chosen, 1.0)), 1.0)
        return v

    # --- the solver -------------------------------------------------------------------------------------------------

    def variable(self, low: float, high: float) -> int:
        self.low.append(low)
        self.high.append(high)
        self.integral.append(0)
        return len(self.low) - 1

    def binary(self) -> int:
        self.variable(0.0, 1.0)
        self.integral[-1] = 1
        return len(self.low) - 1

    def range(self, s: Affine) -> tuple[float, float]:
        low = high = s[0]
        for place, weight in s[1].items():
            ends = weight * self.low[place], weight * self.high[place]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def row(self, low: float, s: Affine, high: float) -> None:
        self.rows.append((low - s[0], s[1], high - s[0]))

    def extreme(self, goal: Affine, sign: float) -> float | None:
        count = len(self.low)
        cost = np.zeros(count)
        for place, weight in goal[1].items():
            cost[place] += sign * weight
        data = [(r, c, v) for r, (_, terms, _) in enumerate(self.rows) for c, v in terms.items()]
        shape = (len(self.rows), count)
        matrix = csr_matrix(([v for *_, v in data], ([r for r, *_ in data], [c for _, c, _ in data])), shape=shape)
        rows = LinearConstraint(matrix, [low for low, *_ in self.rows], [high for *_, high in self.rows])  # type: ignore[arg-type]
        low, high, integral = np.array(self.low), np.array(self.high), np.array(self.integral)
        found, failed = None, 0
        for presolve in (True, False):  # which has lost the optimum of a program (seed 232): a world found is one
            ends = Bounds(low, high)  # pyright: ignore[reportArgumentType]  # arrays are meant
            first = milp(cost, constraints=rows, integrality=integral, bounds=ends, options={"presolve": presolve})
            if first.status != 0:
                failed += first.status != 2  # HiGHS gives up on some programs one way, not the other (seed 670)
                continue
            # once more with the integers that were found: these are whole to 1e-6 only
            least, most, whole = low.copy(), high.copy(), integral == 1
            least[whole] = most[whole] = np.round(first.x[whole])
            ends = Bounds(least, most)  # pyright: ignore[reportArgumentType]  # arrays are meant
            again = milp(cost, constraints=rows, integrality=integral, bounds=ends)
            value = float((first if again.status == 2 else again).fun)
            found = value if found is None else min(found, value)
        assert failed < 2, "HiGHS has solved it neither way"
        return None if found is None else goal[0] + sign * found


def _plus(one: Affine, other: Affine) -> Affine:
    terms = dict(one[1])
    for place, weight in other[1].items():
        terms[place] = terms.get(place, 0.0) + weight
    return one[0] + other[0], terms


def _scaled(weight: float, x: Affine) -> Affine:
    return weight * x[0], {place: weight * each for place, each in x[1].items()} if weight else {}
