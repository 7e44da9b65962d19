"""The oracle on whole programs with numbers: by hand, in hidden worlds, and against Z3."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
import z3

from tests.blocks import at_length
from tests.numeric_programs import generate
from tests.oracle import Fact, Formula, Predicate, Program, Result, Statement, run
from tests.oracle.network import Network, ground_term
from tests.oracle.program import Box, operands, subformulas, weights
from tests.oracle.test_oracle import atom, both, implies, negate
from tests.programs import to_text

INF = math.inf
Real = Any  # z3's operators are typed too loosely to say more
PERSON = ("person",)


def number(name: str, *arguments: str) -> Formula:
    return "number", name, tuple(("var" if a[0].isupper() else "const", a) for a in arguments)


def compare(left: Formula | float, operator: str, right: Formula | float, scale: float | None = None) -> Formula:
    sides = (side if isinstance(side, tuple) else ("constant", float(side)) for side in (left, right))
    return "compare", operator, *sides, scale, None


AGE, DEBT, INCOME = (number(name, "X") for name in ("age", "debt", "income"))
ADULT = atom("Adult", "X")


def answered(statements: list[Formula], facts: list[Fact], queries: list[Formula] | None = None) -> Result:
    predicates = [Predicate("Adult", 1, PERSON), Predicate("Poor", 1, PERSON)]
    predicates += [Predicate(name, 1, PERSON, numeric=True) for name in ("age", "debt", "income")]
    stated = [Statement("rule", formula) for formula in statements]
    return run(Program(predicates, facts, stated, queries or [], {"person": False}))


def fact(name: str, lower: float, upper: float | None = None) -> Fact:
    return Fact(name, ("anna",), lower, lower if upper is None else upper)


def box(result: Result, name: str) -> Box:
    return result.atoms[name, ("anna",)]


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_a_true_comparison_tightens_its_number() -> None:
    result = answered([implies(ADULT, compare(AGE, ">=", 18))], [fact("Adult", 1)])
    assert box(result, "age") == (18.0, INF)


def test_a_false_quotient_lowers_its_dividend() -> None:
    """debt / 3000 > 0.4 is false, so debt is at most 1200."""
    poor = compare(("divide", DEBT, INCOME), ">", 0.4)
    result = answered([implies(poor, atom("Poor", "X"))], [fact("Poor", 0), fact("income", 3000)])
    assert box(result, "debt") == (-INF, 1200.0)


def test_numbers_and_logic_take_turns() -> None:
    """An adult is at least 18; whoever is over 10 has debt over twice the income, which is 4 at least."""
    rules = [
        implies(ADULT, compare(AGE, ">=", 18)),
        implies(compare(AGE, ">", 10), compare(DEBT, ">", ("multiply", ("constant", 2.0), INCOME))),
        implies(compare(DEBT, ">", 7), atom("Poor", "X")),
    ]
    result = answered(rules, [fact("Adult", 1), fact("income", 4, 9)])
    assert (box(result, "debt"), box(result, "Poor")) == ((8.0, INF), (1.0, 1.0))


def test_a_known_age_decides_the_rule_backwards() -> None:
    result = answered([implies(ADULT, compare(AGE, ">=", 18))], [fact("age", 10, 17)])
    assert box(result, "Adult") == (0.0, 0.0)


def test_equality_carries_both_ways() -> None:
    total = compare(("add", AGE, DEBT), "=", 10)
    result = answered([total], [fact("age", 2, 5), fact("debt", 0, 7)])
    assert (box(result, "age"), box(result, "debt")) == ((3.0, 5.0), (5.0, 7.0))


def test_a_soft_comparison_at_its_margin() -> None:
    """At a margin of one scale the truth is sigmoid(1); a truth of sigmoid(1) asks for that margin."""
    soft = 1 / (1 + math.exp(-1))
    query = compare(AGE, ">", 20, 5.0)
    result = answered([], [fact("age", 25)], [query])
    ((lower, upper),) = [(a.lower, a.upper) for a in result.answers[0].values()]
    assert lower == pytest.approx(soft) and upper == pytest.approx(soft)
    predicates = [Predicate("age", 1, PERSON, numeric=True), Predicate("Adult", 1, PERSON)]
    stated = [Statement("rule", query, soft, 1.0)]
    back = run(Program(predicates, [fact("Adult", 1)], stated, [], {"person": False}))
    assert box(back, "age")[0] == pytest.approx(25, abs=1e-6)


def test_disjoint_facts_of_a_number_arrest_it() -> None:
    result = answered([implies(compare(AGE, ">", 4), ADULT)], [fact("age", 3), fact("age", 5)])
    assert [(c.kind, c.what[0]) for c in result.contradictions] == [("atom", "age")]
    assert box(result, "age") == (5.0, 3.0)
    assert box(result, "Adult") == (0.0, 1.0)  # an arrested number is read as unknown


def test_facts_that_agree_meet() -> None:
    result = answered([], [fact("age", 3, 8), fact("age", 5, 9), fact("income", 0.1 + 0.2), fact("income", 0.3)])
    assert box(result, "age") == (5.0, 8.0)
    assert not result.contradictions
    assert box(result, "income")[0] == pytest.approx(0.3)


def test_a_rule_against_what_is_known_of_a_number_is_a_contradiction_of_the_rule() -> None:
    result = answered([implies(ADULT, compare(AGE, ">=", 18))], [fact("Adult", 1), fact("age", 10)])
    assert [(c.kind, c.bounds) for c in result.contradictions] == [("instance", (1.0, 0.0))]


def test_a_comparison_that_a_rule_and_its_numbers_pull_apart_is_arrested() -> None:
    """Round 1 makes all four comparisons true, round 2 raises the age to 18 and the debt to 1, and in round 3 their sum
    is found to be 19 at least."""
    over = compare(("add", AGE, DEBT), "<", 15)
    rules = [
        implies(ADULT, compare(AGE, ">=", 18)),
        implies(ADULT, compare(DEBT, ">=", 1)),
        implies(ADULT, both(over, compare(INCOME, ">", 2))),
    ]
    result = answered(rules, [fact("Adult", 1)])
    assert ("neuron", (1.0, 0.0)) in [(c.kind, c.bounds) for c in result.contradictions]
    assert box(result, "income") == (2.0, INF)


def test_what_no_numbers_give_is_a_contradiction_of_the_comparison() -> None:
    """Its bounds leave out both 0 and 1, the only truths that it has."""
    predicates = [Predicate("age", 1, PERSON, numeric=True), Predicate("Adult", 1, PERSON)]
    stated = [Statement("rule", compare(AGE, ">", 3), 0.3, 0.6)]
    result = run(Program(predicates, [fact("Adult", 1)], stated, [], {"person": False}))
    assert [(c.kind, c.bounds) for c in result.contradictions] == [("neuron instance", None)]
    assert box(result, "age") == (-INF, INF)


def test_an_undefined_term_is_unknown() -> None:
    ratio = compare(("divide", DEBT, INCOME), ">", 1)
    result = answered([implies(ratio, ADULT), ratio], [fact("debt", 5), fact("income", 0)], [ratio, DEBT])
    assert box(result, "Adult") == (1.0, 1.0)  # the axiom says so, not the numbers
    assert not result.contradictions


def test_a_known_truth_keeps_what_has_a_value() -> None:
    root = compare(("sqrt", AGE), ">=", 0)
    assert box(answered([root], [fact("age", -4, 9)]), "age") == (0.0, 9.0)


def test_queries_of_terms() -> None:
    queries = [AGE, ("divide", DEBT, INCOME), ("sqrt", AGE), ("multiply", ("constant", 0.0), DEBT)]
    result = answered([], [fact("age", -9, -4), fact("debt", 1, 2), fact("income", 0, 4)], queries)
    found = [next((a.lower, a.upper) for a in answers.values()) for answers in result.answers]
    assert found == [(-9.0, -4.0), (0.25, INF), (-INF, INF), (0.0, 0.0)]


def test_a_chain_is_two_comparisons() -> None:
    chain = both(compare(18, "<=", AGE), compare(AGE, "<", 65))
    result = answered([implies(ADULT, chain)], [fact("Adult", 1)], [chain, negate(chain)])
    assert box(result, "age") == (18.0, 65.0)
    assert [next((a.lower, a.upper) for a in answers.values()) for answers in result.answers] == [(1, 1), (0, 0)]


# --- hidden worlds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", at_length(range(6), plain=1))
def test_the_hidden_world_is_in_every_answer(block: int) -> None:
    tightened = 0
    for seed in range(60 * block, 60 * block + 60):
        generated = generate(seed, 1 + seed % 6, ("crisp", "fuzzy")[seed % 2])
        result = run(generated.program, 60)
        assert generated.world is not None
        assert not result.contradictions, to_text(generated.program)
        for place, (lower, upper) in result.atoms.items():
            value = generated.world[place]
            slack = 1e-7 * max(1.0, abs(value))
            assert lower - slack <= value <= upper + slack, (seed, place, to_text(generated.program))
            tightened += (lower, upper) != result.initial[place]
    assert tightened > 30


# --- Z3 ---------------------------------------------------------------------------------------------------------------


class World:
    """All worlds of a Lukasiewicz program whose comparisons are crisp and rational, as a Z3 problem."""

    def __init__(self, program: Program) -> None:
        self.network = Network(program)
        self.atoms: dict[object, Real] = {}
        self.solver = z3.Solver()
        self.solver.set("timeout", 300)
        numeric = {predicate.name for predicate in program.predicates if predicate.numeric}
        closed = {predicate.name for predicate in program.predicates if predicate.closed}
        told = {(f.predicate, f.arguments) for f in program.facts}
        for predicate in program.predicates:
            domains = [self.network.sorts.domains[self.network.sorts.positions[predicate.name, i]]
                       for i in range(predicate.arity)]  # fmt: skip
            for row in self._rows(domains):
                x = self.atoms[predicate.name, row] = z3.Real(f"{predicate.name}{row}")
                if predicate.name not in numeric:
                    self.solver.add(x >= 0, x <= 1)
                if predicate.name in closed and (predicate.name, row) not in told:
                    self.solver.add(x == 0)
        for f in program.facts:
            self.solver.add(*self.within(self.atoms[f.predicate, f.arguments], f.lower, f.upper))
        for rule in self.network.rules:
            for row in self.network.assignments(rule.free, rule.root.sorts):
                value = self.truth(rule.root.formula, dict(zip(rule.free, row, strict=True)), rule.root.sorts)
                self.solver.add(*self.within(value, *rule.truth))

    def _rows(self, domains: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [()]
        for domain in domains:
            rows = [(*row, name) for row in rows for name in domain]
        return rows

    @staticmethod
    def within(x: Real, lower: float, upper: float, slack: float = 0.0) -> list[Real]:
        found = []
        if lower > -INF:
            found.append(x >= Fraction(lower) - Fraction(slack))
        if upper < INF:
            found.append(x <= Fraction(upper) + Fraction(slack))
        return found

    def truth(self, formula: Formula, env: dict[str, str], sorts: dict[str, str]) -> Real:
        match formula[0]:
            case "atom":
                return self.atoms[formula[1], tuple(env[t] if k == "var" else t for k, t in formula[2])]
            case "not":
                return 1 - self.truth(formula[1], env, sorts)
            case "compare":
                sides = [self.value(side, env) for side in formula[2:4]]
                return z3.If(_relation(formula[1], *sides), z3.RealVal(1), z3.RealVal(0))
            case "forall" | "exists":
                rows = self.network.assignments(formula[1], sorts)
                parts = [self.truth(formula[2], env | dict(zip(formula[1], row, strict=True)), sorts) for row in rows]
                return _extreme(parts, least=formula[0] == "forall")
        parts = [self.truth(part, env, sorts) for part in operands(formula)]
        w, bias = [Fraction(each) for each in weights(formula)], Fraction(formula[-2])
        match formula[0]:
            case "and":
                return _clamp(bias - sum(a * (1 - x) for a, x in zip(w, parts, strict=True)))
            case "or":
                return 1 - _clamp(bias - sum(a * x for a, x in zip(w, parts, strict=True)))
            case "implies":
                return _clamp(1 - bias + w[0] * (1 - parts[0]) + w[1] * parts[1])
        there = _clamp(1 - bias + w[0] * (1 - parts[0]) + w[1] * parts[1])
        back = _clamp(1 - bias + w[1] * (1 - parts[1]) + w[0] * parts[0])
        both_ways = _extreme([there, back], least=True)
        return both_ways if formula[0] == "iff" else 1 - both_ways

    def value(self, term: Formula, env: dict[str, str]) -> Real:
        """The value of a term; the problem gains the condition that it has one."""
        if term[0] == "number":
            return self.atoms[term[1], ground_term(term, env)[2]]
        if term[0] == "constant":
            return z3.RealVal(str(Fraction(term[1])))
        below = [self.value(part, env) for part in term[1:]]
        match term[0]:
            case "add":
                return below[0] + below[1]
            case "subtract":
                return below[0] - below[1]
            case "multiply":
                return below[0] * below[1]
            case "negate":
                return -below[0]
            case "abs":
                return z3.If(below[0] >= 0, below[0], -below[0])
            case "power":
                return math.prod([below[0]] * int(term[2][1]), start=z3.RealVal(1))
        quotient = z3.FreshReal("q")
        self.solver.add(below[1] != 0, quotient * below[1] == below[0])
        return quotient

    def outside(self, value: Real, lower: float, upper: float) -> bool:
        """Whether a world is found where the value is beyond these ends."""
        inner = self.within(value, lower, upper, 1e-6 * max(1.0, *(abs(e) for e in (lower, upper) if abs(e) < INF)))
        self.solver.push()
        self.solver.add(z3.Not(z3.And(*inner)))
        found = self.solver.check() == z3.sat
        self.solver.pop()
        return found


def _relation(operator: str, a: Real, b: Real) -> Real:
    return {">": a > b, ">=": a >= b, "<": a < b, "<=": a <= b, "=": a == b, "!=": a != b}[operator]


def _clamp(x: Real) -> Real:
    return z3.If(x < 0, z3.RealVal(0), z3.If(x > 1, z3.RealVal(1), x))


def _extreme(parts: list[Real], least: bool) -> Real:
    found = parts[0] if parts else z3.RealVal(int(least))
    for part in parts[1:]:
        found = z3.If(part < found if least else part > found, part, found)
    return found


def rational(program: Program) -> bool:
    """Whether Z3 can say it exactly: Lukasiewicz logic, crisp comparisons, whole powers, exact decimals."""
    kinds = {"number", "constant", "add", "subtract", "multiply", "divide", "negate", "abs", "power"}
    leaves = [f for s in program.statements for f in subformulas(s.formula) if f[0] == "compare"]
    terms = [term for leaf in leaves for side in leaf[2:4] for term in every_term(side)]
    return (
        program.logic == "lukasiewicz"
        and all(leaf[4] is None and leaf[1] not in ("<?>", "=", "!=") for leaf in leaves)
        and all(term[0] in kinds for term in terms)
        and all(term[2][1] in (2.0, 3.0) for term in terms if term[0] == "power")
    )


def every_term(term: Formula) -> list[Formula]:
    if term[0] in ("number", "constant"):
        return [term]
    return [term, *(found for part in (term[1:] if term[0] not in ("nau", "nmu", "realnpu") else term[2])
                    for found in every_term(part))]  # fmt: skip


@pytest.mark.parametrize("block", at_length(range(3), plain=1))
def test_z3_finds_no_world_outside(block: int) -> None:
    """Every bound that was derived is implied, where all terms have values."""
    asked = 0
    for seed in range(1000 + 60 * block, 1060 + 60 * block):
        program = generate(seed, 1 + seed % 4, "crisp").program
        if not rational(program):
            continue
        result, world = run(program, 60), World(program)
        for place, bounds in result.atoms.items():
            if bounds != result.initial[place]:
                asked += 1
                assert not world.outside(world.atoms[place], *bounds), (seed, place, bounds, to_text(program))
    assert asked > 5
