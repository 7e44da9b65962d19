from __future__ import annotations

import numpy as np

from lnnkit.numeric.interval import Pieces
from lnnkit.numeric.rounded_off import Errors
from lnnkit.numeric.soft import Fixed, let_out


def test_only_ends_whose_error_matters_are_let_out() -> None:
    """0 makes an equality true, so that an error there counts however small it is; beside 2 it is nothing."""
    error = np.array([1e-15])
    found = let_out(
        Fixed("=", 1.0), Pieces(np.array([[0.0]]), np.array([[2.0]])), error, lambda rows: Errors(error, error)
    )
    assert (found.lower.item(), found.upper.item()) == (-1e-15, 2.0)
