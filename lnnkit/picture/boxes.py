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
    """What stands at a place: up to a few ``lines``; ``state`` colours it, if it has bounds."""

    name: str
    kind: Kind
    lines: tuple[str, ...]
    state: TruthState | None = None
    note: str = ""  # shown where one points at it


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a premise to what rests on it, or from an operand to its connective; ``weight`` is its width. A
    ``negative`` one bears on its target the other way round; one that leads ``both`` ways has two heads."""

    source: str
    target: str
    weight: float = 1.0
    negative: bool = False
    both: bool = False

    @property
    def width(self) -> float:
        """Of its line, in pixels: that of an operand without weight is hardly there."""
        return 0.4 + 1.4 * min(self.weight, 3.0)

    @property
    def role(self) -> str:
        """The role of its colour."""
        return "against" if self.negative else "for"


@dataclass(frozen=True)
class Drawing:
    """``boxes`` and the ``arrows`` between them. ``left_out`` says how many boxes there would be besides;
    ``warnings`` are those about what was asked."""

    title: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    left_out: int = 0
    warnings: tuple[Diagnostic, ...] = ()
