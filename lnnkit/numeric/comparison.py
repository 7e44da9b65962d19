"""Comparisons of two terms: the truth of a relation upward, and from that truth to the numbers downward.

With ``d = left - right``:

=======================  ===============================================================================
crisp ``> >= < <= = !=``  1 where it holds, else 0; equal means `lnnkit.numeric.interval.same`
``>``, ``>=`` soft        ``sigmoid(d / s)``, both alike
``<``, ``<=`` soft        ``sigmoid(-d / s)``, both alike
``=`` soft                ``1 - tanh(d / s)^2``, the NSR's zero bit ``B0`` on ``[0, 1]``; ``!=`` its complement
learned                   ``sigmoid(b + w+ t + w0 (1 - 2 t^2))`` with ``t = tanh(d / s)``, crisp ``t = sign(d)``
=======================  ===============================================================================

(Neural Status Register: Faber and Wattenhofer 2020, arXiv 2004.07085.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from torch import Tensor

from lnnkit.numeric.interval import Contraction, Interval
from lnnkit.numeric.term import Term

Sign = Literal[">", ">=", "<", "<=", "=", "!="]


@dataclass(frozen=True, slots=True)
class Fixed:
    """One of the six relations, crisp where ``scale`` is 0."""

    sign: Sign
    scale: float = 0.0


@dataclass(frozen=True, slots=True)
class Learned:
    """The relation of a Neural Status Register, with hard bits where ``scale`` is 0."""

    weight_plus: float
    weight_zero: float
    bias: float
    scale: float = 0.0


Relation = Fixed | Learned


class Response(NamedTuple):
    """What a comparison says: its truth, and what is left of the inputs. ``crossed`` where its bounds and that truth
    exclude each other, ``empty`` where they do not but no inputs are left: in both the inputs come back as they were.
    """

    truth: Interval
    inputs: tuple[Interval, ...]
    empty: Tensor
    crossed: Tensor


@dataclass(frozen=True)
class Comparison:
    """``left relation right``. Inputs are numbered alike in both terms."""

    left: Term
    right: Term
    relation: Relation

    def truth(self, inputs: Sequence[Interval]) -> Interval:
        """The closed hull of its truth over the values that the terms can take; ``[0, 1]`` where one has none. Exact
        where each number occurs once in both terms together."""
        raise NotImplementedError

    def contract(self, inputs: Sequence[Interval], bounds: Interval) -> Contraction:
        """The closed hull of the inputs that can give a truth in ``bounds``, terms defined; exact as above. Bounds that
        say nothing (``L <= tol``, ``U >= 1 - tol``) change nothing. An end at 0 or 1 that the relation comes near but
        never takes is read as ``tol``, ``1 - tol``."""
        raise NotImplementedError

    def respond(self, inputs: Sequence[Interval], bounds: Interval) -> Response:
        """Both in one: upward, then downward with ``bounds`` met with the truth found."""
        raise NotImplementedError
