"""The soak finds a fault that was put there, shrinks the program, and says how to repeat it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.oracle import Fact, Predicate, Program, Statement
from tests.oracle.program import subformulas
from tests.programs import generate, to_text
from tests.soak.__main__ import main, outcome, soak
from tests.soak.cases import KINDS, Case, case, names
from tests.soak.checks import Check, keeps_world
from tests.soak.shrinking import candidates, shrunken


def mentions_a_quantifier(program: Program) -> list[str]:
    """A fault that is put there: one kind of formula in a statement, beside a fact."""
    kinds = {part[0] for each in program.statements for part in subformulas(each.formula)}
    return ["a quantifier"] if "exists" in kinds and program.facts else []


def found(checks: Mapping[str, Check], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit status and the text of a soak of one program."""
    programs = (generate(seed, 6, "free").program for seed in range(100))
    program = next(each for each in programs if mentions_a_quantifier(each))
    status = soak([Case("logic:1", program, checks)], shrink=60)
    return status, capsys.readouterr().out


def test_a_fault_is_shown_in_the_least_program(capsys: pytest.CaptureFixture[str]) -> None:
    status, shown = found({"free of quantifiers": mentions_a_quantifier}, capsys)
    assert status == 1
    assert "logic:1 is not 'free of quantifiers':\n  a quantifier" in shown
    program = [line.strip() for line in shown.splitlines() if line.startswith("    ")]
    kinds = [line.split()[0] for line in program]
    assert {*kinds} <= {"logic", "predicate", "fact", "rule"}
    assert (kinds.count("fact"), kinds.count("rule")) == (1, 1)
    assert "exists" in program[-1]
    assert "python -m tests.soak --case logic:1\n" in shown


def test_an_exception_is_a_fault(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(program: Program) -> list[str]:
        raise ZeroDivisionError(f"{len(program.facts)} facts")

    status, shown = found({"sound": fails}, capsys)
    assert status == 1
    assert "ZeroDivisionError: 0 facts" in shown


def test_a_program_that_lnnkit_refuses_is_a_fault() -> None:
    program = Program([], queries=[("atom", "Unheard", (("var", "X"),))])
    kind, wrong = outcome(lambda given: [str(len(given.queries))], program)
    assert (kind, wrong) == ("wrong", ["1"])
    kind, wrong = outcome(case("logic:1").checks["read back"], program)
    assert kind.startswith("refused: [") and "Unheard" in wrong[0]


def test_an_answer_that_excludes_the_world_is_a_fault() -> None:
    """The engine is right, so it is the world that is moved."""
    atom = ("atom", "P", ())
    program = Program([Predicate("P", 0, ())], [Fact("P", (), 0.7, 0.7)], queries=[atom])
    assert keeps_world({("P", ()): 0.7})(program) == []
    assert len(keeps_world({("P", ()): 0.2})(program)) == 1
    contradicted = replace(program, statements=[Statement("axiom", atom, 0.5, 1.0)])
    assert keeps_world({("P", ()): 0.2})(contradicted) == []  # it does not hold in that world


def test_shrinking_stops_although_everything_fails() -> None:
    for seed in range(20):
        assert to_text(shrunken(generate(seed, 5, "fuzzy").program, lambda _: True)) == "logic lukasiewicz\n"


def test_smaller_programs_give_looser_bounds() -> None:
    program = generate(3, 4, "fuzzy").program
    shorter = [each for each in candidates(program) if len(each.statements) < len(program.statements)]
    assert len(shorter) >= len(program.statements)
    assert all({*each.statements} < {*program.statements} for each in shorter)


@pytest.mark.parametrize("kind", KINDS)
def test_a_case_is_a_function_of_its_name(kind: str) -> None:
    assert to_text(case(f"{kind}:4").program) == to_text(case(f"{kind}:4").program)


def test_a_seed_gives_the_same_cases_and_all_kinds() -> None:
    first, again = ([each for each, _ in zip(names(7), range(60), strict=False)] for _ in range(2))
    assert first == again
    assert {name.partition(":")[0] for name in first} == {*KINDS}
    assert first[:5] != [each for each, _ in zip(names(8), range(5), strict=False)]


def test_the_command_runs_the_cases_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--case", "logic:5", "--case", "planted:6"]) == 0
    assert capsys.readouterr().out.startswith("2 programs (1 logic, 1 planted), 0 faults; ")


def test_the_command_stops_when_the_time_is_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--minutes", "0"]) == 0
    assert capsys.readouterr().out.startswith("0 programs ")


@pytest.mark.parametrize("name", ["logic", "logic:", "other:1", "logic:x"])
def test_an_invalid_case_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a case is KIND:SEED"):
        case(name)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_soak_finds_nothing(seed: int) -> None:
    drawn = names(random.Random(seed).randrange(2**32))
    assert soak((case(next(drawn)) for _ in range(12)), shrink=20) == 0
