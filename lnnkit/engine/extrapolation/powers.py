"""What many rounds of one linear piece add up to: the powers of a nonnegative matrix, by squaring.

Where a round makes ``G(t) = A t + b`` of ``t``, ``2^k`` rounds move it by ``S_k d`` with ``d = G(t) - t`` and
``S_k = sum of A^j for j < 2^k = product of (I + A^(2^i)) for i < k``. All is nonnegative, so nothing cancels. Once
``A^(2^k)`` vanishes, the spectral radius is below 1 and ``S_k d`` leads to the one fixpoint of the piece.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lnnkit.engine.extrapolation.matrix import Matrix
from lnnkit.flags import all_set

LEVELS = 40
_VANISHED = 1e-18


class Powers:
    """``A^(2^k)`` for k = 0, 1, ... as far as they are worth while.

    ``reach[k]`` (rows,) is ``S_k 1``: by how much ``2^k`` rounds amplify what each of them adds, rounding included.
    ``left[k]`` (rows,) is ``A^(2^k) 1``.
    """

    def __init__(self, matrix: Matrix, limit: float) -> None:
        """Stops where the powers vanish or every row's reach is over ``limit``."""
        ones = torch.ones(matrix.rows, dtype=matrix.value.dtype)
        self._levels = [matrix]
        self.reach = [ones]
        self.left = [matrix.times(ones)]
        while len(self._levels) <= LEVELS:
            last, reach = self._levels[-1], self.reach[-1]
            if all_set((self.left[-1] <= _VANISHED) | (reach > limit)):
                return
            squared = last.squared()
            if squared is None:
                return
            self._levels.append(squared)
            self.reach.append(reach + last.times(reach))
            self.left.append(squared.times(ones))

    def __len__(self) -> int:
        return len(self._levels)

    def vanished(self, level: int) -> Tensor:
        """(rows,) where ``A^(2^level)`` adds nothing more."""
        return self.left[level] <= _VANISHED

    def step(self, level: int, start: Tensor) -> Tensor:
        """``S_level start``."""
        total = start
        for below in self._levels[:level]:
            total = total + below.times(total)
        return total

    def after(self, level: int, start: Tensor) -> Tensor:
        """``A^(2^level) start``."""
        return self._levels[level].times(start)
