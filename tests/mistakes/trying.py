"""A text as a user gives it: its findings, and the answers of what is right."""

from __future__ import annotations

from pathlib import Path

import lnnkit
from lnnkit.check import check
from lnnkit.check.checker import ordered
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse

PATH = "first.lnn"


def findings(text: str, base: Path) -> list[Diagnostic]:
    """What `lnnkit check` says."""
    program, found = parse(text, PATH)
    return ordered([*found, *check(program, base)[1]], [PATH])


def answers(text: str, base: Path) -> list[list[tuple[tuple[str, ...], float, float]]]:
    """The answers of each query, as the values of its variables and the bounds."""
    kb = lnnkit.loads(text, base)
    found: list[list[tuple[tuple[str, ...], float, float]]] = []
    for query in kb.answers():
        found.append([(tuple(each.bindings.values()), each.lower, each.upper) for each in query])
    return found
