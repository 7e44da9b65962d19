"""NALU, iNALU, and NPU with gates or imaginary parts, learned within rules: planted laws are found."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable

import pytest
import torch

import lnnkit
from lnnkit.numeric import Interval, number
from lnnkit.numeric.term import apply, frozen
from lnnkit.numeric.units.gated_units import OpenedUnit
from tests.blocks import at_length

Law = Callable[[float, float], float]
LAWS: dict[str, Law] = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
ROWS = 30


def facts() -> tuple[str, list[tuple[float, float]]]:
    rng = random.Random(0)
    rows = [(round(rng.uniform(0.5, 4.5), 3), round(rng.uniform(0.5, 4.5), 3)) for _ in range(ROWS)]
    lines = [f"fact a(i{place}) = {a}\nfact b(i{place}) = {b}\n" for place, (a, b) in enumerate(rows)]
    return "number a(item)\nnumber b(item)\nnumber c(item)\npredicate P(item)\n" + "".join(lines), rows


@pytest.mark.parametrize("law", at_length(list(LAWS), plain=1))
@pytest.mark.parametrize("unit", at_length(["inalu(a(X), b(X))", "nalu(a(X), b(X))"], plain=1))
def test_a_law_is_found_from_numbers(unit: str, law: str) -> None:
    text, rows = facts()
    labels = "".join(f"label c(i{place}) = {LAWS[law](a, b)!r}\n" for place, (a, b) in enumerate(rows))
    kb = lnnkit.loads(f"{text}rule r: c(X) = {unit}\n{labels}")
    found = kb.fit(validation=0.0, epochs=20).train.numbers["c"]
    assert found.rmse is not None
    assert found.rmse < 1e-2
    again = lnnkit.loads(kb.text).evaluate().numbers["c"]  # what was written says the same
    assert again.rmse == pytest.approx(found.rmse, abs=1e-3)


@pytest.mark.parametrize("law", at_length(list(LAWS), plain=0))
@pytest.mark.parametrize("unit", at_length(["nalu(a(X), b(X))", "inalu(a(X), b(X))"], plain=1))
def test_a_law_is_found_from_what_exceeds_a_threshold(unit: str, law: str) -> None:
    text, rows = facts()
    values = [LAWS[law](a, b) for a, b in rows]
    middle = sorted(values)[ROWS // 2]
    labels = "".join(f"label {'' if value > middle else '~'}P(i{place})\n" for place, value in enumerate(values))
    kb = lnnkit.loads(f"{text}rule r: {unit} > ? -> P(X)\n{labels}")
    assert kb.fit(validation=0.0, epochs=20).train.predicates["P"].accuracy == 1.0


@pytest.mark.parametrize(
    ("attributes", "law"),
    at_length(
        [
            ("power: [?, ?], gate: [?, ?]", lambda a, b: a / b),
            ("power: [?, ?], imaginary: [?, ?]", lambda a, b: a * b),
            ("gate: [?, ?]", lambda a, b: a * b),
            ("power: [1, 2], gate: [?, ?]", lambda a, b: b * b),
        ],
        plain=2,
        several=True,
    ),
)
def test_gates_and_imaginary_parts_of_an_npu(attributes: str, law: Law) -> None:
    text, rows = facts()
    labels = "".join(f"label c(i{place}) = {law(a, b)!r}\n" for place, (a, b) in enumerate(rows))
    kb = lnnkit.loads(f"{text}rule r: c(X) = npu(a(X), b(X)){{{attributes}}}\n{labels}")
    found = kb.fit(validation=0.0, epochs=20).train.numbers["c"]
    assert found.rmse is not None
    assert found.rmse < 1e-4


KEYS = {
    "nalu": {"weight": (2, -1.0, 1.0), "gate": (2, -2.0, 2.0)},
    "inalu": {"add": (2, -1.0, 1.0), "multiply": (2, -1.0, 1.0), "gate": (1, 0.0, 1.0)},
    "npu": {"power": (2, -2.0, 2.0), "imaginary": (2, -0.5, 0.5), "gate": (2, 0.0, 1.0)},
    "realnpu": {"power": (2, -2.0, 2.0), "gate": (2, 0.0, 1.0)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", at_length([*KEYS], plain=2))
def test_over_its_weights_a_unit_is_what_it_is_with_them(name: str) -> None:
    """Of points and of intervals, against the unit whose weights are fixed."""
    rng = random.Random(3)
    for case in range(60):
        given = {key: [rng.uniform(low, high) for _ in range(n)] for key, (n, low, high) in KEYS[name].items()}
        flat = [value for values in given.values() for value in values]
        ends = [[sorted(rng.uniform(-3, 3) for _ in range(2)) for _ in range(5)] for _ in range(2)]
        boxes = [
            Interval(
                *(torch.tensor([row[0 if case % 2 else end] for row in rows], dtype=torch.float64) for end in (0, 1))
            )
            for rows in ends
        ]
        weights = [torch.full((5,), value, dtype=torch.float64) for value in flat]
        unit = OpenedUnit(name, tuple(given), 2)  # pyright: ignore[reportArgumentType]  # one of the names
        opened = apply(unit, *(number(place) for place in range(2 + len(flat))))
        found, defined = opened.hull([*boxes, *(Interval(each, each) for each in weights)])
        wanted, known = frozen(name, given, [number(0), number(1)]).hull(boxes)
        assert torch.equal(defined, known)
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
