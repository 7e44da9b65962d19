"""Boxes, arrows and their labels: the input of every renderer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lnnkit.answer_table import TruthState
from lnnkit.syntax.diagnostic import Diagnostic

Kind = Literal["atom", "connective", "statement", "fact", "predicate"]


@dataclass(frozen=True, slots=True)
class Box:
    """A box with a few ``lines`` of text; ``state`` colours it, if it has bounds."""

    name: str
    kind: Kind
    lines: tuple[str, ...]
    state: TruthState | None = None
    note: str = ""  # shown when the pointer is over the box


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a premise to its conclusion, or from an operand to its connective; ``weight`` sets its width. A ``negative``
    one lowers its target when its source rises; one that leads ``both`` ways has two heads."""

    source: str
    target: str
    weight: float = 1.0
    negative: bool = False
    both: bool = False

    @property
    def width(self) -> float:
        """The width of its line, in pixels; an operand of weight 0 has a faint line."""
        return 0.4 + 1.4 * min(self.weight, 3.0)

    @property
    def role(self) -> str:
        """The role of its colour."""
        return "against" if self.negative else "for"


@dataclass(frozen=True)
class Drawing:
    """``boxes`` and the ``arrows`` between them. ``left_out`` counts the boxes that are not drawn; ``warnings`` are
    those about the request."""

    title: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    left_out: int = 0
    warnings: tuple[Diagnostic, ...] = ()
