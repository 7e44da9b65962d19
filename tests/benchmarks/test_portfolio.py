"""Operators found from examples: sums, products, quotients, roots, of either sign, and none where there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from benchmarks.arithmetic.portfolio.search import Found, search
from benchmarks.arithmetic.portfolio.templates import TEMPLATES, Template, TemplateProblem, cleared_start
from lnnkit.learn.comparisons.least_squares import spread_of
from tests.blocks import at_length

FEATURES, PROBLEMS, ROWS = 10, 6, 256
NAMES = [f"x{place}" for place in range(FEATURES)]

OPERATIONS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], str]] = {
    "+": (lambda a, b: a + b, "x0 + x1 + 2 * x2 + x3 + x4"),
    "-": (lambda a, b: a - b, "x0 + x1 - x3 - x4"),
    "*": (lambda a, b: a * b, "(x0 + x1 + x2) * (x2 + x3 + x4)"),
    "/": (lambda a, b: a / b, "(x0 + x1 + x2) / (x2 + x3 + x4)"),
    "^2": (lambda a, b: a * a, "(x0 + x1 + x2)^2"),
    "1/": (lambda a, b: 1 / a, "1 / (x0 + x1 + x2)"),
    "sqrt": (lambda a, b: a.abs().sqrt(), "sqrt(x0 + x1 + x2)"),
}


def examples(low: float, high: float, seed: int = 1) -> Tensor:
    drawn = torch.rand(PROBLEMS, ROWS, FEATURES, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    return low + (high - low) * drawn


def target(operation: str, x: Tensor) -> Tensor:
    return OPERATIONS[operation][0](x[..., :3].sum(-1), x[..., 2:5].sum(-1))


def swapped(text: str) -> str:
    """A product with its factors the other way round."""
    left, _, right = text.partition(" * ")
    return f"{right} * {left}" if right.startswith("(") else text


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(2)


@pytest.mark.parametrize("span", [(1.0, 2.0), (0.1, 0.2), (-2.0, 2.0), (-2.0, -1.0)], ids=str)
@pytest.mark.parametrize("operation", at_length(OPERATIONS, plain=3))
def test_an_operator_is_found(operation: str, span: tuple[float, float]) -> None:
    if operation == "sqrt" and span[0] < 0:
        span = (10.0, 20.0)
    found = search(x := examples(*span), target(operation, x), generator=generator())
    beyond = examples(2 * span[0], 3 * span[1], seed=3)
    for each, inside, outside in zip(found, x, beyond, strict=True):
        assert each.accepted
        assert set(each.rows.abs().unique().tolist()) <= {0, 1, 2}
        assert torch.allclose(each(inside), target(operation, inside), rtol=1e-10)
        assert torch.allclose(each(outside), target(operation, outside), rtol=1e-10)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_text_of_what_was_found(operation: str) -> None:
    found = search(x := examples(1, 2), target(operation, x), generator=generator())
    wanted = OPERATIONS[operation][1]
    assert {each.text(NAMES) for each in found} <= {wanted, swapped(wanted)}


@pytest.mark.parametrize("operation", at_length(OPERATIONS, plain=3))
def test_an_operator_is_found_through_noise(operation: str) -> None:
    clean = target(operation, x := examples(1, 2))
    drawn = torch.randn(clean.shape, dtype=clean.dtype, generator=torch.Generator().manual_seed(4))
    found = search(x, clean + 0.01 * clean.std(-1, keepdim=True) * drawn, generator=generator())
    for each, inside in zip(found, x, strict=True):
        assert each.accepted
        assert torch.allclose(each(inside), target(operation, inside), rtol=1e-10)


@pytest.mark.parametrize(
    "function",
    at_length(
        [
            lambda x: 0.3 * x[..., 0] + 0.71 * x[..., 1],
            lambda x: x[..., 0].sin() * 10,
            lambda x: x[..., :3].sum(-1).exp(),
        ],
        plain=1,
    ),
    ids=["plain weights", "sine", "exponential"],
)
def test_nothing_is_accepted_where_no_template_holds(function: Callable[[Tensor], Tensor]) -> None:
    found = search(x := examples(-2, 2), function(x), generator=generator())
    assert [each.accepted for each in found] == [False] * PROBLEMS


@pytest.mark.slow
def test_noise_alone_is_no_operator() -> None:
    noise = torch.randn(PROBLEMS, ROWS, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    found = search(examples(-2, 2), noise, generator=generator())
    assert [each.accepted for each in found] == [False] * PROBLEMS


@pytest.mark.slow
def test_plain_weights_are_kept_where_rounding_is_refused() -> None:
    x = examples(1, 2)
    found = search(x, 0.3 * x[..., 0] + 0.71 * x[..., 1], generator=generator())
    for each in found:
        assert each.template.name == "sum"
        assert each.rows[0, :2].tolist() == pytest.approx([0.3, 0.71], rel=1e-9)
        assert each.residual < 1e-12


def test_the_same_seed_gives_the_same_answer() -> None:
    first, again = (search(x := examples(1, 2), target("*", x), generator=generator()) for _ in range(2))
    assert [(each.steps, each.starts, each.rows.tolist()) for each in first] == [
        (each.steps, each.starts, each.rows.tolist()) for each in again
    ]


def test_examples_may_be_the_same_for_all() -> None:
    x = examples(1, 2)[0]
    both = torch.stack([target("*", x), target("/", x)])
    assert [each.template.name for each in search(x, both, generator=generator())] == ["product", "quotient"]


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_examples_that_are_no_numbers_are_refused(bad: float) -> None:
    x = examples(1, 2)
    wanted = target("*", x)
    wanted[0, 3] = bad
    with pytest.raises(ValueError, match="finite"):
        search(x, wanted, generator=generator())


# --- templates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_slopes_are_finite_differences(template: Template) -> None:
    sums = torch.randn(20, len(template.powers), dtype=torch.float64, generator=generator())
    sums = (sums.sign() * (sums.abs() + 0.2)).requires_grad_()
    assert gradcheck(template.value, (sums,))
    (wanted,) = torch.autograd.grad(template.value(sums).sum(), sums)
    assert torch.allclose(template.slopes(sums.detach()), wanted, rtol=1e-12)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.name)
def test_the_jacobian_of_a_template_problem(template: Template) -> None:
    x = examples(1, 2)
    problem = TemplateProblem(template, x, target("*", x), spread_of(target("*", x)))
    rows = torch.rand(PROBLEMS, len(template.powers) * FEATURES, dtype=torch.float64, generator=generator())
    found = problem.jacobian(rows)
    for number in range(PROBLEMS):
        one = problem.select(torch.tensor([number]))
        wanted = torch.func.jacrev(one.residuals)(rows[number : number + 1])
        assert torch.allclose(found[number], wanted[0, :, 0], rtol=1e-10)


def test_clearing_the_denominator_solves_exact_quotients_at_once() -> None:
    for operation, template in (("/", Template("quotient", (1, -1))), ("1/", Template("reciprocal", (-1,)))):
        x = examples(-2, 2)
        problem = TemplateProblem(template, x, target(operation, x), spread_of(target(operation, x)))
        start = cleared_start(problem)
        assert start is not None
        assert problem.residuals(start).abs().amax().item() < 1e-5


def test_what_was_found_can_be_evaluated_on_any_batch() -> None:
    rows = torch.tensor([[1.0, 1.0], [0.0, 1.0]], dtype=torch.float64)
    found = Found(Template("quotient", (1, -1)), rows, True, 0.0, 1, 1, 1)
    assert found(torch.tensor([[[2.0, 4.0]]], dtype=torch.float64)).tolist() == [[1.5]]
    assert found.text(["a(X)", "b(X)"]) == "(a(X) + b(X)) / b(X)"
