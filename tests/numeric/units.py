"""What the tests of units share: all of them, with a random start."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lnnkit.numeric.units.clipped_units import NAU, NMU, NPU, RealNPU
from lnnkit.numeric.units.gated_units import INALU, NAC, NALU
from lnnkit.numeric.units.nsr import NSR
from lnnkit.numeric.units.unit import Unit

UNITS: tuple[type[Unit], ...] = (NAC, NALU, INALU, NAU, NMU, NPU, RealNPU, NSR)


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def rows(seed: int, *shape: int) -> Tensor:
    """Numbers of either sign, in float64."""
    return torch.randn(*shape, dtype=torch.float64, generator=generator(seed))


def shaken(kind: type[Unit], seed: int, *, seeds: int | None = None) -> Unit:
    """A unit of four operands and two outputs, off its start, so that no part of it is 0."""
    drawn = generator(seed)
    unit = kind(4, 2, seeds=seeds, generator=drawn)
    with torch.no_grad():
        for values in unit.parameters():
            values += 0.2 * torch.randn(values.shape, dtype=values.dtype, generator=drawn)
    unit.project()
    return unit


def by_hand(unit: Unit, x: Tensor, formula: Callable[..., float], shared: tuple[str, ...] = ()) -> list[list[float]]:
    """``formula`` for each row of ``x`` and each output of a unit without seeds; ``shared`` attributes are of all."""
    given = {key: values.tolist() for key, values in unit.attributes().items()}
    return [
        [
            formula(row, **{key: value if key in shared else value[place] for key, value in given.items()})
            for place in range(unit.out_features)
        ]
        for row in x.tolist()
    ]
