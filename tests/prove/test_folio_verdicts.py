"""The stories of FOLIO: verdicts are those of a direct translation to Z3, in which all individuals are of one sort.

The data has no formula of a conclusion, so atoms about individuals that a story names are asked, and inclusions.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import lnnkit
from lnnkit.check.walk import nodes
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression, format_program
from tests.interchange.judging import Meaning, of_program

pytest.importorskip("z3", reason="z3-solver is not installed")

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
FILE = DATA / "folio" / "folio-train.jsonl"
SECONDS = 5.0

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason=f"no FOLIO data at {FILE}")


@cache
def stories() -> dict[int, str]:
    """The programs of the stories that can be imported."""
    found: dict[int, str] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["story_id"] not in found:
            try:
                lines = [" ".join(each.split()) for each in row["premises-FOL"]]
                found[row["story_id"]] = lnnkit.from_fol("\n".join(lines)).text
            except lnnkit.ProgramError:
                continue
    return found


def direct(program: ast.Program, question: ast.Expression) -> str:
    """The verdict of a translation that knows nothing of grounding."""
    meaning = Meaning()
    asked = ast.AxiomStatement(None, question, span=question.span)
    statements = [*program.statements, asked]
    *premises, goal = of_program(ast.Program(tuple(statements), span=program.span), meaning)[0]
    import z3

    premises.append(meaning.distinct())
    ways = [meaning.entails(premises, each) for each in (goal, z3.Not(goal))]
    return {
        (True, True): "inconsistent",
        (True, False): "entailed",
        (False, True): "refuted",
        (False, False): "neither",
    }.get((ways[0], ways[1]), "unknown")  # type: ignore[arg-type]


def asked_of(number: int) -> tuple[ast.Program, list[ast.Expression]]:
    """A story, and what is asked of it: some atoms about individuals that it names, and what all individuals are."""
    program = lnnkit.parse(stories()[number])
    atoms = [node for each in program.statements for node in _atoms(each)]
    named = list(dict.fromkeys(each for atom in atoms for each in atom.arguments if isinstance(each, ast.Constant)))
    unary = list(dict.fromkeys(atom.name for atom in atoms if len(atom.arguments) == 1))
    rng = random.Random(f"questions of story {number}")
    questions: list[ast.Expression] = []
    for name in rng.sample(unary, min(len(unary), 3)):
        for who in rng.sample(named, min(len(named), 1)):
            questions.append(ast.Atom(name, (who,), span=program.span))
    for _ in range(2 if len(unary) > 1 else 0):
        one, other = (ast.Atom(each, (_variable(program),), span=program.span) for each in rng.sample(unary, 2))
        body = ast.Implies(one, other, span=program.span)
        questions.append(ast.Forall((_variable(program),), body, span=program.span))
    return program, questions


def _variable(program: ast.Program) -> ast.Variable:
    return ast.Variable("X", span=program.span)


def _atoms(statement: ast.Statement) -> list[ast.Atom]:
    if isinstance(statement, ast.FactStatement):
        return [statement.atom] if statement.bounds is None else []
    if not isinstance(statement, ast.AxiomStatement | ast.RuleStatement):
        return []
    return [node for node in nodes(statement.formula) if isinstance(node, ast.Atom)]


def compare(numbers: Iterable[int]) -> tuple[Counter[str], list[object]]:
    fates: Counter[str] = Counter()
    wrong: list[object] = []
    for number in numbers:
        program, questions = asked_of(number)
        kb = lnnkit.loads(format_program(program))
        kb.infer()
        for question in questions:
            expected = direct(program, question)
            closed = format_expression(question)
            found = kb.prove(closed, reading="classical", timeout=SECONDS)
            fates[f"{expected}, found {found.verdict}"] += 1
            if expected not in (found.verdict, "unknown") and found.verdict != "timeout":
                wrong.append((number, closed, expected, found.verdict))
    return fates, wrong


@pytest.mark.parametrize("share", [pytest.param(6, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.long)])
def test_verdicts_are_those_of_a_direct_translation(share: int) -> None:
    fates, wrong = compare(list(stories())[::share])
    assert wrong == []
    assert fates["entailed, found entailed"] > 0, fates
