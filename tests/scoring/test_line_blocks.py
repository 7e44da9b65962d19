"""A text file in blocks says what the whole file says: rows, their lines, and what is wrong with them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from lnnkit.data.files import RawTable, Unreadable, format_of
from lnnkit.data.grid import Grid
from lnnkit.data.readers.delimited import open_delimited
from lnnkit.scoring.row_streams import RowStream, sheets

CELLS = ("", "a", "7", '"x"', '"a,b"', '"a;b"', '"l\nm"', '"l\r\nm"', '"say ""so"""', '5" pipe', 'a"', '""', '"l\n\nm"')
FAULTS = ('"x"y', "a,b", '"')

Row = tuple[int, tuple[bytes | None, ...]]


def text(rng: random.Random) -> tuple[str, str | None, bool]:
    """A random text of two columns, its delimiter, and whether it has a header."""
    delimiter = rng.choice([None, ";", "\t"])
    mark, header = delimiter or ",", rng.random() < 0.7
    ends = rng.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\n\n", "\r\n"]])
    lines = ["id" + mark + "v"] if header else ["r" + mark + "s"]
    for row in range(rng.randint(0, 12)):
        cell = rng.choice(FAULTS) if rng.random() < 0.04 else rng.choice(CELLS)
        lines.append(f"r{row}{mark}{cell}")
    found = "".join(line + rng.choice(ends) for line in lines)
    return (
        rng.choice(["", "", "\ufeff", "\n"]) + (found if rng.random() < 0.7 else found.rstrip("\r\n")),
        delimiter,
        header,
    )


def rows_of(grid: Grid) -> list[Row]:
    columns = [grid.columns[position] for position in (0, 1)]
    values = [column if isinstance(column, list) else column.to_pylist() for column in columns]
    plain = [[cell.encode() if isinstance(cell, str) else cell for cell in column] for column in values]
    return list(zip(np.asarray(grid.rows).tolist(), zip(*plain, strict=True), strict=True))


def faults_of(grid: Grid) -> list[tuple[int, str]]:
    own = [(int(grid.rows[place]), fault.message) for place, fault in grid.spoiled.items()]
    return sorted([*own, *((line, fault.message) for line, fault in grid.lost)])


def whole(path: Path, delimiter: str | None, header: bool) -> tuple[list[Row], list[tuple[int, str]]] | str:
    try:
        raw = RawTable(path, format_of(path)[0], path.read_bytes())
        grid = open_delimited(raw, header, delimiter).read([0, 1])
    except Unreadable as problem:
        return problem.fault.code
    return rows_of(grid), faults_of(grid)


def in_blocks(
    path: Path, delimiter: str | None, header: bool, size: int
) -> tuple[list[Row], list[tuple[int, str]]] | str:
    rows: list[Row] = []
    faults: list[tuple[int, str]] = []
    try:
        for unit in RowStream(path, header, delimiter, block=size).units():
            for sheet, _ in sheets(unit):
                grid = sheet.read([0, 1])
                rows += rows_of(grid)
                faults += faults_of(grid)
    except Unreadable as problem:
        return problem.fault.code
    return rows, faults


def differs(seed: int, folder: Path) -> str | None:
    rng = random.Random(seed)
    found, delimiter, header = text(rng)
    path = folder / rng.choice(["t.csv", "t.csv", "t.tsv"])
    path.write_bytes(found.encode())
    expected = whole(path, delimiter, header)
    for size in (1, 2, 7, 30, 1000):
        got = in_blocks(path, delimiter, header, size)
        if got != expected:
            return f"seed {seed}, {path.name}, {delimiter!r}, header {header}, {size}: {found!r}\n{got}\n{expected}"
    return None


@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 1500), marks=pytest.mark.slow)])
def test_blocks_say_what_the_whole_says(seeds: range, tmp_path: Path) -> None:
    assert [found for seed in seeds if (found := differs(seed, tmp_path))] == []
