"""Exact bounds of a random program's questions beside the world that it was drawn from, the bounds of inference and, in
Lukasiewicz logic, those of mixed-integer programming."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lnnkit
from lnnkit.check import check as check_program
from lnnkit.prove.verdict import Proved
from tests.oracle import Formula
from tests.programs import formula_text, to_text
from tests.prove.graded_worlds import Case, draw
from tests.prove.mixed_integer import supports_itself, tightest

TOLERANCE, SAME = 1e-9, 1e-6


@dataclass(frozen=True)
class Compared:
    """A question with the widths that inference and proving leave it; ``settled`` if both ends were settled in time,
    ``checked`` if mixed-integer programming was asked; ``faults`` is what is wrong."""

    question: str
    told: float
    proved: float
    settled: bool
    checked: bool
    faults: tuple[str, ...]


def drawn(seed: int, logic: str) -> Case | None:
    """A random case; None where its program is none: a completed predicate depends on its own negation."""
    case = draw(seed, logic)
    _, findings = check_program(lnnkit.parse(to_text(case.program)), Path())
    codes = {finding.code for finding in findings if finding.severity == "error"}
    return None if codes == {"negative-cycle"} else case


def compared(case: Case, seconds: float) -> Iterator[Compared]:
    """The questions of a case, each once; each has so many ``seconds``."""
    kb = lnnkit.loads(to_text(case.program))
    linear = case.program.logic == "lukasiewicz" and not supports_itself(case)
    for question in dict.fromkeys(case.program.queries):
        text = formula_text(question)
        proved = kb.prove(text, reading="exact", timeout=seconds)
        assert proved.lower is not None and proved.upper is not None
        (told,) = kb.ask(text)
        stopped = any("inference took all the time" in note for note in proved.notes)
        settled = proved.settled
        faults = list(_unsound(case, question, proved))
        if not stopped and (proved.lower < told.lower or proved.upper > told.upper):
            faults.append(f"is looser than {told}")
        if linear and settled:
            best = tightest(case, question)
            if best is None or max(abs(best[0] - proved.lower), abs(best[1] - proved.upper)) > SAME:
                faults.append(f"is not {best}")
        said = tuple(f"{text}: {proved} {fault}" for fault in faults)
        widths = told.upper - told.lower, proved.upper - proved.lower
        yield Compared(text, *widths, settled, linear and settled, said)


def _unsound(case: Case, question: Formula, proved: Proved) -> Iterator[str]:
    truth = float(case.truth(question))
    assert proved.lower is not None and proved.upper is not None
    if proved.verdict == "inconsistent" or not proved.lower - TOLERANCE <= truth <= proved.upper + TOLERANCE:
        yield f"excludes {truth}"
