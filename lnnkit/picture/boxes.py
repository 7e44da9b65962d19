"""Boxes and arrows, and what they say: what every renderer draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lnnkit.answer_table import TruthState
from lnnkit.syntax.diagnostic import Diagnostic

Kind = Literal["atom", "connective", "statement", "fact", "more"]


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
    """From a premise to what rests on it, or from an operand to its connective; ``weight`` is its width."""

    source: str
    target: str
    weight: float = 1.0
    negative: bool = False  # it bears on its target the other way round
    dashed: bool = False


@dataclass(frozen=True)
class Drawing:
    """``boxes`` and the ``arrows`` between them. ``left_out`` says how many boxes there would be besides;
    ``warnings`` are those about what was asked."""

    title: str
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    left_out: int = 0
    warnings: tuple[Diagnostic, ...] = ()
