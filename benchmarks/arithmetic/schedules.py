"""The weight of the papers' penalties as a function of the optimiser step."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ramp:
    """Rises linearly from 0 at step ``start`` to ``most`` at step ``end``, and stays there: the sparsity penalty of NAU
    and NMU (Madsen and Johansen 2020, arXiv 2001.05016, section 2.3)."""

    most: float
    start: float
    end: float

    def __call__(self, step: int) -> float:
        return self.most * min(max((step - self.start) / (self.end - self.start), 0.0), 1.0)


@dataclass(frozen=True)
class Stairs:
    """Starts at ``first`` and is multiplied by ``growth`` every ``every`` steps, up to ``last``: the L1 penalty of the
    NPU (Heim, Pevny and Smidl 2020, arXiv 2006.01681, appendix)."""

    first: float
    last: float
    growth: float = 10.0
    every: int = 10_000

    def __call__(self, step: int) -> float:
        value = self.first
        for _ in range(step // self.every):
            value *= self.growth
            if value >= self.last:
                return self.last
        return min(value, self.last)


@dataclass(frozen=True)
class Glide:
    """Changes geometrically from ``first`` to ``last`` over ``steps`` steps: the sharpness of a status register, which
    is soft while it searches for its relation and crisp at the end."""

    first: float
    last: float
    steps: int

    def __call__(self, step: int) -> float:
        return self.first * (self.last / self.first) ** min(step / self.steps, 1.0)


NAU_PENALTY = Ramp(0.01, 5e3, 5e4)
"""For additions and subtractions over 5e6 steps of Adam at 1e-3 (the paper's appendix C)."""
NMU_PENALTY = Ramp(10.0, 1e6, 2e6)
"""For multiplications over 5e6 steps of Adam at 1e-3 (the paper's appendix C)."""
SHARPENING = Glide(1.0, 10.0, 600)
"""The sharpness of a status register while a relation between integers is learned; see `NSR.start_undecided`."""
