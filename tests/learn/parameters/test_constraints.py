"""Classical neurons: the conditions say what truth tables say, and projections fulfil them."""

from __future__ import annotations

import itertools
import random

import pytest
import torch

from lnnkit.learn.parameters.constraints import Constraints, LearnedNeuron
from lnnkit.learn.parameters.rule_parameters import LearnedParameter
from lnnkit.logic import logic_named
from lnnkit.syntax.diagnostic import Source, Span
from tests.learn.replaying import learning
from tests.programs import value_of

LOGICS = ("lukasiewicz", "product", "godel")
KINDS = ("and", "or", "implies")
ALPHAS = (1.0, 0.95, 0.8)
NOWHERE = Span(Source("", ""), 0, 0)


def classical(kind: str, logic: str, values: list[float], alpha: float) -> bool:
    """By the values that the neuron has at true, false and other operands."""
    *weights, bias = values
    count, slack = len(weights), 1e-9
    true, false = [alpha, (1 + alpha) / 2, 1.0], [0.0, (1 - alpha) / 2, 1 - alpha]
    others = sorted({0.0, 0.3, 0.7, 1.0, alpha, 1 - alpha})

    def value(x: tuple[float, ...]) -> float:
        return value_of(kind, logic, tuple(weights), bias, list(x))

    def one(place: int, of: list[float]) -> itertools.product[tuple[float, ...]]:
        return itertools.product(*(of if at == place else others for at in range(count)))

    if kind == "and":
        whole = all(value(x) >= alpha - slack for x in itertools.product(true, repeat=count))
        return whole and all(value(x) <= 1 - alpha + slack for p in range(count) for x in one(p, false))
    if kind == "or":
        whole = all(value(x) <= 1 - alpha + slack for x in itertools.product(false, repeat=count))
        return whole and all(value(x) >= alpha - slack for p in range(count) for x in one(p, true))
    whole = all(value(x) <= 1 - alpha + slack for x in itertools.product(true, false))
    return whole and all(value(x) >= alpha - slack for p, of in ((0, false), (1, true)) for x in one(p, of))


@pytest.mark.parametrize("logic", LOGICS)
@pytest.mark.parametrize("kind", KINDS)
def test_conditions_are_those_of_truth_tables(kind: str, logic: str) -> None:
    rng = random.Random(f"{kind} {logic}")
    seen = {True: 0, False: 0}
    for alpha, count in itertools.product(ALPHAS, (2,) if kind == "implies" else (1, 2, 3)):
        found = logic_named(logic).classical_region(kind, count, alpha)
        if found is None:
            continue
        for _ in range(24):
            width = rng.choice([0.0, 0.02, 0.1, 0.5])
            values = [max(0.0, value + rng.gauss(0, width)) for value in found.inside]
            said = found.violation(values) <= 1e-12
            truth = classical(kind, logic, values, alpha)
            assert truth or not said, (alpha, values)
            if (kind, logic) != ("implies", "godel"):  # there the conditions ask for more than need be
                assert truth == said, (alpha, values)
            seen[said] += 1
    assert min(seen.values()) > 2


@pytest.mark.parametrize("logic", LOGICS)
@pytest.mark.parametrize("kind", KINDS)
def test_where_there_is_a_region_its_inside_is_classical(kind: str, logic: str) -> None:
    """Down to the least alpha for which there is one."""
    found = 0
    for step, count in itertools.product(range(51, 100), (2,) if kind == "implies" else (1, 2, 3)):
        region = logic_named(logic).classical_region(kind, count, step / 100)
        if region is not None:
            assert region.violation(region.inside) <= 1e-12
            assert classical(kind, logic, list(region.inside), step / 100), (count, step)
            found += 1
    assert found > 20 or (kind, logic) == ("implies", "product")  # which is never classical below an alpha of 1


@pytest.mark.parametrize("alpha", [0.95, 0.8, 0.7])
def test_an_implication_that_is_true_of_the_least_true_and_the_greatest_false_is_not_classical(alpha: float) -> None:
    """Goedel's is 1 where ``1 - (1 - y) >= 1 - w (1 - x)``, so with ``w = a / (1 - a)`` at ``x = a, y = 1 - a``."""
    found = logic_named("godel").classical_region("implies", 2, alpha)
    values = [alpha / (1 - alpha), 1.0, 1.0]
    assert found is not None and not classical("implies", "godel", values, alpha)
    assert found.violation(values) > 0


def parameter(place: int, kind: str) -> LearnedParameter:
    return LearnedParameter(f"rule/{kind}{place}", kind, ("rule",), 1.0, False, NOWHERE)  # type: ignore[arg-type]  # a kind


@pytest.mark.parametrize("logic", LOGICS)
@pytest.mark.parametrize("kind", KINDS)
def test_projections_fulfil_the_conditions(kind: str, logic: str) -> None:
    generator = torch.Generator().manual_seed(3)
    projected = 0
    for alpha, count in itertools.product((1.0, 0.95, 0.9), (2,) if kind == "implies" else (2, 3)):
        parameters = [*(parameter(place, "weight") for place in range(count)), parameter(count, "bias")]
        names = tuple(each.name for each in parameters)
        neuron = LearnedNeuron("rule", "", kind, logic, (1.0,) * (count + 1), names)
        if neuron.region(alpha) is None:
            continue
        constraints = Constraints(parameters, [neuron], ["rule"], alpha)
        now = constraints.start(torch.ones(count + 1, dtype=torch.float64))
        for _ in range(12):
            step = now + torch.randn(count + 1, generator=generator, dtype=torch.float64) * 0.3
            now = constraints.project(step, now)
            assert constraints.holds(now)
            assert classical(kind, logic, now.tolist(), alpha), (alpha, now)
            projected += int(not constraints.holds(step))
    assert projected > 0


def test_weights_are_not_negative_and_truths_are_truths() -> None:
    parameters = [parameter(1, "weight"), parameter(1, "lower"), parameter(1, "value")]
    found = Constraints(parameters).start(torch.tensor([-0.4, 1.9, -3.0], dtype=torch.float64))
    assert found.tolist() == [0.0, 1.0, -3.0]


def test_truth_bounds_stay_in_order() -> None:
    program = learning("fact P(a)\nrule P(X) -> Q(X) in [?l=0.5, ?u=0.6]\nquery Q(X)\n")
    statements = program.infer(program.starts).fixpoint.plan.lifted.statements
    constraints = Constraints(program.parameters, statements=statements)
    lower, upper = constraints.start(torch.tensor([0.9, 0.2], dtype=torch.float64)).tolist()
    assert 0.2 <= lower <= upper + 1e-12 <= 0.9
