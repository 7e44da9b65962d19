"""Outcomes on disk, a line for each batch of seeds, so that a run can be interrupted and taken up again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.arithmetic.outcome import Cell, Outcome


class Store:
    """``path`` is a file of JSON lines that only grows; without one, outcomes are kept in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._known: dict[tuple[str, int], list[Outcome]] = {}
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._read(line)

    def get(self, cell: Cell, limit: int | None, first: int, count: int) -> list[Outcome] | None:
        """The outcomes of these seeds, if they are there."""
        found = self._known.get((_name(cell, limit), first))
        return found[:count] if found is not None and len(found) >= count else None

    def put(self, cell: Cell, limit: int | None, first: int, outcomes: list[Outcome]) -> None:
        self._known[_name(cell, limit), first] = outcomes
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            entry = {"cell": _name(cell, limit), "first": first, "outcomes": [asdict(each) for each in outcomes]}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def _read(self, line: str) -> None:
        """A line that was cut off when a run was killed is passed over: its seeds run again."""
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            return
        self._known[entry["cell"], entry["first"]] = [Outcome(**each) for each in entry["outcomes"]]


def _name(cell: Cell, limit: int | None) -> str:
    return cell.key if limit is None else f"{cell.key}/{limit} steps"
