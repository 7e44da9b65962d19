"""Outcomes on disk, a line for each batch of seeds, so that a run can be interrupted and taken up again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.arithmetic.outcome import Cell, Outcome


class Store:
    """``folder`` holds ``outcomes.jsonl``, which only grows, and the states of batches that are being trained; without
    a folder outcomes are kept in memory. Outcomes of different limits of ``steps`` are kept apart.

    It does not know of changes to the programs: after one, begin with a new folder.
    """

    def __init__(self, folder: Path | None, steps: int | None = None) -> None:
        self._folder = folder
        self._steps = steps
        self._known: dict[tuple[str, int, int], list[Outcome]] = {}
        if folder is not None and (folder / "outcomes.jsonl").is_file():
            for line in (folder / "outcomes.jsonl").read_text(encoding="utf-8").splitlines():
                self._read(line)

    def get(self, cell: Cell, first: int, count: int) -> list[Outcome] | None:
        """The outcomes of these seeds, if they were run as one batch."""
        return self._known.get((self._name(cell), first, count))

    def put(self, cell: Cell, first: int, outcomes: list[Outcome]) -> None:
        self._known[self._name(cell), first, len(outcomes)] = outcomes
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        entry = {"cell": self._name(cell), "first": first, "outcomes": [asdict(each) for each in outcomes]}
        with (self._folder / "outcomes.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        state = self.state(cell, first, len(outcomes))
        if state is not None:
            state.unlink(missing_ok=True)

    def state(self, cell: Cell, first: int, count: int) -> Path | None:
        """Where the state of this batch is kept until it is done."""
        if self._folder is None:
            return None
        name = "".join(letter if letter.isalnum() else "-" for letter in self._name(cell))
        return self._folder / f"{name}-{first}-{count}.npz"

    def _read(self, line: str) -> None:
        """A line that was cut off when a run was killed is passed over: its seeds run again."""
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            return
        outcomes = [Outcome(**each) for each in entry["outcomes"]]
        self._known[entry["cell"], entry["first"], len(outcomes)] = outcomes

    def _name(self, cell: Cell) -> str:
        return cell.key if self._steps is None else f"{cell.key}/{self._steps} steps"
