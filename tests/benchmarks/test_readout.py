"""Units as text: what the text says is what the unit computes."""

from __future__ import annotations

import math
import operator

import pytest
import torch

from benchmarks.arithmetic.readout import readout, terms
from lnnkit.learn.parameters.unit_readout import readable
from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU, RealNPU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.nsr import NSR, RELATIONS
from lnnkit.numeric.units.unit import Unit
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_expression
from tests.numeric.units import UNITS, generator, rows, shaken

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
PLAIN = [
    (NAU.given([1.0, -1.0]), "debt(X) - income(X)"),
    (NAU.given([-1.0, 1.0]), "-debt(X) + income(X)"),
    (NAU.given([0.0, 0.0]), "0"),
    (NAU.given([0.5, -0.25]), "0.5 * debt(X) - 0.25 * income(X)"),
    (NAC.given([0.0, 1.0]), "income(X)"),
    (NMU.given([1.0, 1.0]), "debt(X) * income(X)"),
    (NMU.given([0.0, 0.0]), "1"),
    (NMU.given([1.0, 0.25]), "debt(X) * (0.25 * income(X) + 0.75)"),
    (NPU.given([1.0, -1.0]), "debt(X) / income(X)"),
    (NPU.given([-1.0, 0.0]), "1 / debt(X)"),
    (RealNPU.given([2.0, -0.5]), "debt(X)^2 / sqrt(income(X))"),
    (NPU.given([-2.0, -1.0]), "1 / debt(X)^2 / income(X)"),
    (NPU.given([1.0, -1.0], gate=[1.0, 0.0]), "debt(X)"),
    (NPU.given([0.37, 1.0]), "debt(X)^0.37 * income(X)"),
    (INALU.given([1.0, 1.0], [0.3, 0.1], 1.0), "debt(X) + income(X)"),
    (INALU.given([0.2, 0.1], [1.0, -1.0], 0.0), "debt(X) / income(X)"),
    (
        NPU.given([1.0, 0.5], [0.1, 0.0], [1.0, 0.75]),
        "npu(debt(X), income(X)){power: [1, 0.5], imaginary: [0.1, 0], gate: [1, 0.75]}",
    ),
    (RealNPU.given([1.0, 1.0], gate=[0.5, 1.0]), "realnpu(debt(X), income(X)){power: [1, 1], gate: [0.5, 1]}"),
    (NALU.given([1.0, 0.0], [2.5, -1.0]), "nalu(debt(X), income(X)){weight: [1, 0], gate: [2.5, -1]}"),
    (
        INALU.given([1.0, 1.0], [0.0, 0.0], 0.5),
        "inalu(debt(X), income(X)){add: [1, 1], multiply: [0, 0], gate: 0.5}",
    ),
    (NSR.given([1.5, -0.5, 0.25], 2.0), "(debt(X) <?> income(X)){scale: 2, weight: [1.5, -0.5, 0.25]}"),
    *((NSR.relation(name), f"debt(X) {name} income(X)") for name in RELATIONS),
]


@pytest.mark.parametrize(("unit", "text"), PLAIN, ids=[text for _, text in PLAIN])
def test_the_text_of_a_unit(unit: Unit, text: str) -> None:
    assert readout(unit, ["debt(X)", "income(X)"]) == [text]


def test_operands_are_grouped_where_the_grammar_needs_it() -> None:
    operands = [term_of(text) for text in ("a(X) + b(X)", "c(X) * d(X)", "-e(X)")]
    for unit, text in (
        (NAU.given([-1.0, -1.0, -1.0]), "-(a(X) + b(X)) - c(X) * d(X) - -e(X)"),
        (NPU.given([1.0, 1.0, -1.0]), "(a(X) + b(X)) * (c(X) * d(X)) / -e(X)"),
        (NPU.given([0.5, 2.0, -2.0]), "sqrt(a(X) + b(X)) * (c(X) * d(X))^2 / (-e(X))^2"),
        (NMU.given([0.5, 0.0, 1.0]), "(0.5 * (a(X) + b(X)) + 0.5) * -e(X)"),
    ):
        assert format_expression(terms(unit, operands)[0]) == text


@pytest.mark.parametrize("kind", [NAU, NAC, NMU, RealNPU])
def test_the_value_of_the_text_is_the_output(kind: type[Unit]) -> None:
    x = rows(1, 10, 4).abs() + 0.1
    for seed in range(20):
        unit = shaken(kind, seed)
        if isinstance(unit, RealNPU):
            unit.assign({**unit.attributes(), "gate": torch.ones(4)})
        terms = [term_of(text) for text in readout(unit, ["a(X)", "b(X)", "c(X)", "d(X)"])]
        for row, wanted in zip(x.tolist(), unit(x).tolist(), strict=True):
            found = [value(term, dict(zip("abcd", row, strict=True))) for term in terms]
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("kind", UNITS, ids=lambda kind: kind.__name__)
def test_every_text_is_of_the_language(kind: type[Unit]) -> None:
    for seed in range(5):
        unit = shaken(kind, seed)
        for text in readout(unit, [f"{name}(X)" for name in "abcd"]):
            formula_of(text if isinstance(unit, NSR) else f"{text} > 0")


def formula_of(text: str) -> ast.Expression:
    program, findings = parse(f"query {text}", "<string>")
    assert not findings
    (query,) = program.statements
    assert isinstance(query, ast.QueryStatement)
    return query.formula


def term_of(text: str) -> ast.Expression:
    comparison = formula_of(f"{text} > 0")
    assert isinstance(comparison, ast.Comparison)
    return comparison.operands[0]


def value(term: ast.Expression, numbers: dict[str, float]) -> float:
    match term:
        case ast.Atom(name=name):
            return numbers[name]
        case ast.Number(value=number):
            return number
        case ast.Negate(operand=operand):
            return -value(operand, numbers)
        case ast.Function(name="sqrt", operand=operand):
            return math.sqrt(value(operand, numbers))
        case ast.Arithmetic(operator=sign, left=left, right=right):
            return OPERATORS[sign](value(left, numbers), value(right, numbers))
        case _:
            raise TypeError(term)


@pytest.mark.parametrize(
    ("text", "residual"),
    [("nau(a(X), b(X)){weight: [0.9, -1]}", 0.1), ("nmu(a(X), b(X)){weight: [0.7, 1]}", 0.3)],
)
def test_the_residual_is_the_distance_to_the_grid(text: str, residual: float) -> None:
    assert readable(term_of(text))[1] == pytest.approx(residual)


def test_one_seed_is_read() -> None:
    unit = NPU(2, 1, seeds=2, generator=generator(1))
    powers = torch.tensor([[[1.0, -1.0]], [[1.0, 1.0]]])
    unit.assign({"power": powers, "imaginary": torch.zeros(2, 1, 2), "gate": torch.ones(2, 2)})
    assert [readout(unit, ["a", "b"], seed=seed)[0] for seed in (0, 1)] == ["a / b", "a * b"]
