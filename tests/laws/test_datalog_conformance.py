"""The suites of `datalog-conformance` (programs of Souffle, Nemo and Crepe with their answers), as far as they can be
stated: each program once, its derived predicates closed, and where nothing is negated open, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import lnnkit
from tests.laws.datalog import NotStatable, Row, Rule, program, rule

yaml = pytest.importorskip("yaml")
datalog_plugin = pytest.importorskip("datalog_conformance.plugin")
schema = pytest.importorskip("datalog_conformance.schema")

LARGE = 60_000  # bytes of a file from which it is read by slow tests alone
# Entities are text, so the number 1 and the text "1" are one; arguments are never expressions.
NOT_STATED = {
    "quoted_string_facts_preserve_scalar_identity",
    "subtraction_chains_are_left_associative",
    "souffle_plus_A",
}


@dataclass
class Case:
    """A program and all that the suites expect of it, by predicate."""

    name: str
    facts: dict[str, list[Row]]
    rules: list[Rule]
    expected: dict[str, list[Row]] = field(default_factory=dict[str, list[Row]])


def cases(path: Path) -> list[Case]:
    """The programs of a file with their answers, those that are given several times once."""
    text = path.read_text(encoding="utf-8")
    raw = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    found: dict[str, Case] = {}
    for each in raw.get("tests", [raw]):
        if "program" not in each or "expect" not in each or "skip" in each or each["name"] in NOT_STATED:
            continue
        case = schema.TestCase.from_dict({"source": "", **each, "tags": []})
        key = repr(
            (sorted((name, len(rows), rows[:3]) for name, rows in case.program.facts.items()), case.program.rules)
        )
        if key not in found:
            found[key] = Case(case.name, case.program.facts, [rule(text) for text in case.program.rules])
        found[key].expected.update(case.expect)
    return list(found.values())


FILES = sorted(path for path in datalog_plugin.get_tests_dir().rglob("*.yaml") if "defeasible" not in path.parts)
SMALL = [path for path in FILES if path.stat().st_size < LARGE]


def answered(case: Case, closed: bool) -> dict[str, set[tuple[str, ...]]]:
    """The rows that are true, by predicate."""
    kb = lnnkit.loads(program(case.rules, case.facts, [*case.expected], closed))
    for name, rows in case.facts.items():
        if rows:
            kb.tell(
                f"p_{name}",
                {str(place): list(map(_text, column)) for place, column in enumerate(zip(*rows, strict=True))},
            )
    outcome = kb.infer()
    assert (outcome.status, len(outcome.contradictions)) == ("converged", 0)
    return {
        name: {
            tuple(answer.bindings[f"V{n}"] for n in range(len(answer.bindings)))
            for answer in answers
            if answer.lower >= 1
        }
        for name, answers in zip(case.expected, kb.answers(), strict=True)
    }


def _text(value: object) -> str:
    return str(value).strip('"')


def expected(rows: Sequence[Row]) -> set[tuple[str, ...]]:
    return {tuple(map(_text, row)) for row in rows}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=() if path in SMALL else pytest.mark.slow) for path in FILES],
)
def test_the_suites_answers(path: Path) -> None:
    for case in cases(path):
        found = answered(case, closed=True)
        assert found == {name: expected(rows) for name, rows in case.expected.items()}, case.name
        if not any(atom.negated for each in case.rules for atom in each.body):
            assert answered(case, closed=False) == found, case.name


def test_most_of_the_suites_are_stated() -> None:
    assert sum(len(case.expected) for path in SMALL for case in cases(path)) >= 60


def test_a_cycle_through_negation_is_refused() -> None:
    with pytest.raises(lnnkit.ProgramError):
        lnnkit.loads("predicate p_Ok closed\naxiom ~p_Ok -> p_Ok\nquery p_Ok\n")


@pytest.mark.parametrize(
    "text", ["Fib(n, x + y) :- Fib(n - 1, x), Fib(n - 2, y), (n <= 25)", "p(X) :- X < 3.", "p(X)."]
)
def test_what_is_not_a_rule_of_atoms_is_not_stated(text: str) -> None:
    with pytest.raises(NotStatable):
        rule(text)
