from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("coverage")
pytest.importorskip("mutmut")

from tests.mutation.__main__ import outcome
from tests.mutation.mutants import mutants
from tests.mutation.reached import reached

LEAST = """
def least(one, other):
    return one if one < other else other
"""
TESTS = """
from least import least

def test_two():
    assert least(3, 2) == 2

def test_order():
    assert least(2, 3) == 2

def test_nothing():
    pass
"""


@pytest.mark.slow
def test_a_mutant_lives_where_no_test_fails(tmp_path: Path) -> None:
    (tmp_path / "least.py").write_text(LEAST)
    (tmp_path / "test_least.py").write_text(TESTS)
    found = mutants(Path("least.py"), tmp_path)
    changes = {mutant.text().splitlines()[2].strip(): mutant for mutant in found}
    assert list(changes) == [
        "return one if (one < other) and False else other",
        "return one if (one < other) or True else other",
        "return one if one <= other else other",
    ]
    first, always, _ = changes.values()
    measured = reached(tmp_path, tmp_path / "reached", ["."], ["test_least.py"])
    tests = measured.tests(first, "least", 60)
    assert sorted(tests) == ["test_least.py::test_order", "test_least.py::test_two"]
    assert outcome(tmp_path, first, tests, 60) == "killed"
    assert outcome(tmp_path, first, ["test_least.py::test_two"], 60) == "survived"
    assert outcome(tmp_path, always, [], 60) == "survived"
    assert (tmp_path / "least.py").read_text() == LEAST
