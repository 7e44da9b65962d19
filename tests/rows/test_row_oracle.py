"""Rows decided one by one, in strips of any size, against `ask` on the whole table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lnnkit
from lnnkit.rows.scorer import RowScorer
from tests.blocks import at_length, in_blocks
from tests.rows.row_programs import RowProgram, generate, write

Bounds = tuple[float, float]


def whole(program: RowProgram, folder: Path) -> tuple[list[dict[str, Bounds]], lnnkit.KnowledgeBase] | None:
    """What the engine answers on the whole table; None where only containment is promised."""
    write(program, folder)
    kb = lnnkit.loads(program.text, folder)
    if kb.infer().status != "converged":
        return None
    return [{each.bindings["X"]: (each.lower, each.upper) for each in answers} for answers in kb.answers()], kb


def row_by_row(scorer: RowScorer, program: RowProgram, size: int) -> list[dict[str, Bounds]]:
    found: list[dict[str, Bounds]] = [{} for _ in scorer.names]
    for start in range(0, program.table.num_rows, size):
        part = scorer(program.table.slice(start, size))
        for own, name in zip(found, scorer.names, strict=True):
            ends = zip(part[f"{name}_lower"].to_pylist(), part[f"{name}_upper"].to_pylist(), strict=True)
            own.update(zip(part["id"].to_pylist(), ends, strict=True))
    return found


def differences(program: RowProgram, folder: Path, sizes: tuple[int, ...]) -> list[str] | None:
    """Where rows decided alone differ from the whole; None where nothing is promised, or rows are linked."""
    known = whole(program, folder)
    if known is None:
        return None
    expected, kb = known
    if kb.row_links("loan"):
        return None
    scorer = kb.scorer("loan")
    found: list[str] = []
    for size in sizes:
        for query, own, got in zip(scorer.names, expected, row_by_row(scorer, program, size), strict=True):
            at_default = {bounds for key, bounds in got.items() if key not in own}
            if len(at_default) > 1:
                found.append(f"{query}: rows without an answer have {at_default}")
            for key, bounds in own.items():
                if got[key] != bounds:
                    found.append(f"{query}({key}) in strips of {size}: {got[key]}, whole {bounds}")
    return found


def marked(program: RowProgram, folder: Path, size: int) -> tuple[set[str], set[str]] | None:
    """The rows that the scorer marks as contradicted, and those that contradictions of the whole table name."""
    known = whole(program, folder)
    if known is None or known[1].row_links("loan"):
        return None
    scorer = known[1].scorer("loan", why=True)
    read = scorer.model.needs.read()
    atoms = [atom for each in known[1].contradictions for atom in re.findall(r"(\w+)\((l\d{3})\b", each.atom)]
    expected = {row for name, row in atoms if name in read}
    parts = [scorer(program.table.slice(start, size)) for start in range(0, program.table.num_rows, size)]
    return {
        row
        for part in parts
        for row, mark in zip(part["id"].to_pylist(), part["contradicted"].to_pylist(), strict=True)
        if mark
    }, expected


@pytest.mark.parametrize("block", in_blocks(range(300), 25, plain=1))
def test_rows_that_contradictions_name_are_marked(block: range, tmp_path: Path) -> None:
    compared = 0
    for seed in block:
        program = generate(seed, rows=12, coarse=seed % 2 == 0)
        found = marked(program, tmp_path, 7 if seed % 3 else 1000)
        if found is not None:
            compared += bool(found[1])
            assert found[0] == found[1], f"seed {seed}\n{program.text}"
    assert compared > len(block) // 10


@pytest.mark.parametrize("seed", at_length([0, 2], plain=1))
def test_rows_alone_answer_as_the_whole(seed: int, tmp_path: Path) -> None:
    program = generate(seed, rows=10, reference=False)
    assert differences(program, tmp_path, (1, 7, 1000)) in ([], None)


def test_rows_alone_answer_as_the_whole_beside_other_tables(tmp_path: Path) -> None:
    program = generate(1, rows=12, reference=True)
    assert differences(program, tmp_path, (7,)) in ([], None)


@pytest.mark.parametrize("seed", at_length([306, 308], plain=1))
def test_rows_alone_answer_as_the_whole_to_the_last_bit(seed: int, tmp_path: Path) -> None:
    """torch works out the first 16 rows in vectors, the rest one by one."""
    program = generate(seed, size=2, rows=18, reference=False, curved=True)
    assert differences(program, tmp_path, (1, 7, 1000)) == []


def test_an_arrested_instance_stays_silent_where_most_other_rows_move(tmp_path: Path) -> None:
    program = generate(2015, rows=24, reference=False)
    assert differences(program, tmp_path, (1000,)) == []


@pytest.mark.parametrize("seed", [3, 4])
def test_rows_that_are_alike_answer_as_the_whole(seed: int, tmp_path: Path) -> None:
    program = generate(seed, size=3, rows=200, reference=False, coarse=True)
    assert differences(program, tmp_path, (1000,)) in ([], None)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(3))
def test_many_programs_over_rows_that_are_alike(block: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(2000 + 10 * block, 2010 + 10 * block):
        folder = tmp_path / str(seed)
        folder.mkdir()
        program = generate(seed, size=4, rows=300, reference=False, coarse=True)
        found = differences(program, folder, (300,))
        assert found in ([], None), f"seed {seed}: {found}\n{program.text}"
        compared += found is not None
    assert compared >= 5


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_many_programs(block: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(1000 + 10 * block, 1010 + 10 * block):
        folder = tmp_path / str(seed)
        folder.mkdir()
        program = generate(seed, size=6, rows=24)
        found = differences(program, folder, (5, 1000))
        assert found in ([], None), f"seed {seed}: {found}\n{program.text}"
        compared += found is not None
    assert compared >= 5


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_many_programs_to_the_last_bit(block: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(300 + 10 * block, 310 + 10 * block):
        program = generate(seed, size=2, rows=20, reference=False, curved=True)
        found = differences(program, tmp_path, (1, 7, 1000))
        assert found in ([], None), f"seed {seed}: {found}\n{program.text}"
        compared += found is not None
    assert compared >= 5
