"""lnnkit: rules over tables of facts, truth bounds for answers, a proof with each.

``import lnnkit`` is light: numpy is imported when a knowledge base first infers, torch when one is trained.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lnnkit.errors import BudgetError as BudgetError
from lnnkit.errors import DataError as DataError
from lnnkit.errors import Error as Error
from lnnkit.errors import ProgramError as ProgramError

if TYPE_CHECKING:
    from lnnkit.answer_table import Answer as Answer
    from lnnkit.answer_table import Answers as Answers
    from lnnkit.explain.proof.explanation import Explanation as Explanation
    from lnnkit.interchange.as_program import ImportedProgram as ImportedProgram
    from lnnkit.interchange.as_program import from_fol as from_fol
    from lnnkit.kb import KnowledgeBase as KnowledgeBase
    from lnnkit.kb import load as load
    from lnnkit.kb import loads as loads
    from lnnkit.outcome import Contradiction as Contradiction
    from lnnkit.outcome import Outcome as Outcome
    from lnnkit.plan import Plan as Plan
    from lnnkit.plan import Profile as Profile
    from lnnkit.report.training_page import Fit as Fit
    from lnnkit.scores import Scores as Scores
    from lnnkit.syntax.ast import Program as Program

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Answers",
    "BudgetError",
    "Contradiction",
    "DataError",
    "Error",
    "Explanation",
    "Fit",
    "ImportedProgram",
    "KnowledgeBase",
    "Outcome",
    "Plan",
    "Profile",
    "Program",
    "ProgramError",
    "Scores",
    "__version__",
    "from_fol",
    "load",
    "loads",
    "parse",
]

_HOMES = {
    "Answer": "lnnkit.answer_table",
    "Answers": "lnnkit.answer_table",
    "Explanation": "lnnkit.explain.proof.explanation",
    "ImportedProgram": "lnnkit.interchange.as_program",
    "from_fol": "lnnkit.interchange.as_program",
    "KnowledgeBase": "lnnkit.kb",
    "load": "lnnkit.kb",
    "loads": "lnnkit.kb",
    "Contradiction": "lnnkit.outcome",
    "Outcome": "lnnkit.outcome",
    "Plan": "lnnkit.plan",
    "Profile": "lnnkit.plan",
    "Fit": "lnnkit.report.training_page",
    "Scores": "lnnkit.scores",
    "Program": "lnnkit.syntax.ast",
}


def parse(text: str, path: str = "<string>") -> Program:
    """The program that ``text`` spells: its syntax only, nothing is looked up. Raises `ProgramError` with every
    finding."""
    from lnnkit.syntax.parse import parse as parse_program

    program, findings = parse_program(text, path)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise ProgramError(errors)
    return program


def __getattr__(name: str) -> object:
    if name in _HOMES:
        from importlib import import_module

        from lnnkit.garbage import collection_paused

        with collection_paused():  # a collection takes as long as this import
            return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'lnnkit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
