"""The steps of a proof under construction."""

from __future__ import annotations

from lnnkit.explain.proof.proof import Step
from lnnkit.explain.provenance.bound_sources import Source


class Steps:
    """Steps by their sources; ``waiting`` are those without premises yet."""

    def __init__(self) -> None:
        self._numbers: dict[Source, int] = {}
        self._made: list[Step | None] = []
        self.waiting: list[tuple[int, Source]] = []

    def number(self, source: Source) -> int:
        if source not in self._numbers:
            self._numbers[source] = self.add()
            self.waiting.append((self._numbers[source], source))
        return self._numbers[source]

    def add(self, step: Step | None = None) -> int:
        self._made.append(step)
        return len(self._made) - 1

    def set(self, number: int, step: Step) -> None:
        self._made[number] = step

    def done(self) -> list[Step]:
        return [step for step in self._made if step is not None]
