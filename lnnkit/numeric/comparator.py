"""Relations between two numbers: the truth as a function of their difference ``d = left - right``.

=========================  ===========================================================================
crisp ``> >= < <= = !=``   1 where it holds, else 0; equal means `lnnkit.numeric.interval.same`
``>``, ``>=`` with scale   ``sigmoid(d / s)`` for both
``<``, ``<=`` with scale   ``sigmoid(-d / s)`` for both
``=`` with scale           ``1 - tanh(d / s)^2``: the NSR's zero bit ``B0`` moved to ``[0, 1]``; ``!=`` its complement
learned                    ``sigmoid(b + w+ t + w0 (1 - 2 t^2))`` with ``t = tanh(d / s)``, crisp ``t = sign(d)``
=========================  ===========================================================================

(Neural Status Register: Faber and Wattenhofer 2020, arXiv 2004.07085.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

Sign = Literal[">", ">=", "<", "<=", "=", "!="]


class Fixed(NamedTuple):
    """One of the six relations; crisp if ``scale`` is 0."""

    sign: Sign
    scale: float = 0.0


class Learned(NamedTuple):
    """The relation of a Neural Status Register; with hard bits if ``scale`` is 0."""

    weight_plus: float
    weight_zero: float
    bias: float
    scale: float = 0.0


Comparator = Fixed | Learned


def relation(operator: str, weight: Sequence[float] | None, scale: float) -> Comparator | None:
    """The relation of an operator of the language; for ``<?>`` the one with ``weight`` (w+, w0, b), or None without a
    weight."""
    if operator != "<?>":
        return Fixed(cast("Sign", operator), scale)
    if weight is None:
        return None
    plus, zero, bias = weight
    return Learned(plus, zero, bias, scale)
