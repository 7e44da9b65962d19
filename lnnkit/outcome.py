"""How inference ended: its status, its rounds, and the contradictions that it met."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Literal

from lnnkit.answers import format_bounds


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An atom whose bounds crossed, or an instance of a statement or shared neuron that cannot be satisfied.

    ``atom`` shows it with its entities; ``rule`` and ``line`` name the statement, for all kinds but ``atom``.
    """

    kind: Literal["atom", "rule", "axiom", "neuron"]
    atom: str
    rule: str | None
    line: int | None
    lower: float
    upper: float
    file: str | None = None

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit run --format json`` prints."""
        return {
            "kind": self.kind,
            "atom": self.atom,
            "rule": self.rule,
            "line": self.line,
            "lower": self.lower,
            "upper": self.upper,
        }

    def __str__(self) -> str:
        place = f" ({self.kind} {self.rule or ''}".rstrip() + f", line {self.line})" if self.line is not None else ""
        return f"{self.atom} {format_bounds(self.lower, self.upper)}{place}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """``status`` is converged, accelerated, creeping, round_limit or interrupted; ``rounds`` counts those that changed
    something."""

    status: str
    rounds: int
    contradictions: tuple[Contradiction, ...] = field(default=())

    def __repr__(self) -> str:
        lines = [f"{self.status} after {self.rounds} round{'' if self.rounds == 1 else 's'}"]
        if self.contradictions:
            lines.append(f"{len(self.contradictions)} contradictions:")
            lines += [f"  {contradiction}" for contradiction in self.contradictions[:10]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(str(contradiction))}</li>" for contradiction in self.contradictions)
        return f"<p>{self.status} after {self.rounds} rounds</p>" + (f"<ul>{items}</ul>" if items else "")
