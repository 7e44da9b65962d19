"""Values that some parameters may start from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Proposal:
    """Values of parameters, what they tell of the labels (the sum of squares that they explain), and the spread of what
    each constant is compared with."""

    values: Mapping[str, float]
    gain: float
    spreads: Mapping[str, float] = field(default_factory=dict)
