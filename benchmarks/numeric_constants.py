"""What the constants of interval arithmetic change: ``python -m benchmarks.numeric_constants``.

At several values of each constant: CPU milliseconds of hulls of random boxes and their mean width (geometric), and CPU
milliseconds of contraction to the middle half of each hull with the share of the widths that it leaves.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any
from unittest import mock

import torch

from lnnkit.numeric.interval import Interval
from lnnkit.numeric.term import Term, frozen, number

UNITS: dict[str, tuple[str, dict[str, Any]]] = {
    "nalu": ("nalu", {"weight": [0.9, -0.4, 0.7, 0.3], "gate": [0.2, -0.5, 0.1, 0.4]}),
    "npu": ("npu", {"power": [1.5, -0.5, 0.7, 1.2], "imaginary": [0.4, 0.3, -0.2, 0.1], "gate": [0.9, 0.8, 1.0, 0.7]}),
    "real npu": ("npu", {"power": [1.5, -0.5, 0.7, 1.2], "gate": [0.9, 0.8, 1.0, 0.7]}),
}
Work = tuple[str, int, int]  # a unit, its operands, rows
ONE, TWO, THREE = ("nalu", 1, 2000), ("nalu", 2, 500), ("nalu", 3, 100)
CONSTANTS: dict[tuple[str, str], tuple[tuple[Any, ...], tuple[Work, ...]]] = {
    ("fixed_units.gated_sum", "_CELLS"): (
        ({1: 16, 2: 2, 3: 1}, {1: 32, 2: 4, 3: 2}, {1: 64, 2: 8, 3: 4}, {1: 128, 2: 16, 3: 8}),
        (ONE, TWO, THREE),
    ),
    ("fixed_units.gated_sum", "_COARSE"): (({1: 2, 2: 1}, {1: 4, 2: 1}, {1: 8, 2: 2}, {1: 16, 2: 4}), (ONE, TWO)),
    ("fixed_units.gated_sum", "_BOXES"): ((2**13, 2**15, 2**17, 2**19), (("nalu", 2, 2000),)),
    ("step", "SLICES"): ((4, 8, 16, 32, 64), (ONE, ("npu", 2, 2000))),
    ("step", "NARROW"): ((2**10, 2**14, 2**18, 2**24), (ONE,)),
    ("fixed_units.fixed_powers", "_EDGES"): ((1, 2, 3, 4), (("npu", 2, 500), ("npu", 3, 500), ("npu", 4, 200))),
    ("fixed_units.fixed_powers", "_PHASES"): ((4, 8, 32, 128), (("real npu", 3, 500), ("real npu", 4, 500))),
    ("interval", "MOST"): ((2, 4, 8, 16), (("real npu", 4, 500), ("npu", 3, 200))),
}


def term(unit: str, count: int) -> Term:
    kind, attributes = UNITS[unit]
    return frozen(kind, {key: value[:count] for key, value in attributes.items()}, [number(n) for n in range(count)])


def boxes(count: int, rows: int) -> list[Interval]:
    generator = torch.Generator().manual_seed(0)
    low = torch.rand(count, rows, generator=generator, dtype=torch.float64) * 8 - 4
    high = low + torch.rand(count, rows, generator=generator, dtype=torch.float64) * 2
    return [Interval(*ends) for ends in zip(low, high, strict=True)]


def measured(unit: str, count: int, rows: int) -> str:
    own, inputs = term(unit, count), boxes(count, rows)
    start = time.process_time()
    hull, _ = own.hull(inputs)
    taken = time.process_time() - start
    width = hull.upper - hull.lower
    mean = float(width[width.isfinite()].log().mean().exp())
    middle = (hull.lower + hull.upper) / 2
    half = Interval(*((end + middle)[:200] / 2 for end in hull))
    some = [Interval(*(end[:200] for end in each)) for each in inputs]
    start = time.process_time()
    left, _ = own.contract(some, half)
    contracting = time.process_time() - start
    pairs = zip(left, some, strict=True)
    share = sum(float(((one.upper - one.lower) / (all_.upper - all_.lower)).mean()) for one, all_ in pairs) / count
    return f"{unit} of {count}: {1000 * taken:.0f} ms, width {mean:.3f}; {1000 * contracting:.0f} ms, share {share:.3f}"


def main() -> None:
    for (module, name), (values, works) in CONSTANTS.items():
        own = import_module(f"lnnkit.numeric.{module}")
        for value in values:
            with mock.patch.object(own, name, value):
                print(f"{module}.{name} = {value}:", "; ".join(measured(*work) for work in works), flush=True)


if __name__ == "__main__":
    main()
