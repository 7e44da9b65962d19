"""The fixtures of this folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lnnkit.data.grid import Load
from lnnkit.data.load import read_table
from lnnkit.syntax import ast
from tests.data.reading import STATEMENT, Read, Reader, statement


@pytest.fixture
def read(tmp_path: Path) -> Reader:
    """Write ``content`` (if any) as ``name`` and read it."""

    def reader(
        content: bytes | str | None,
        columns: tuple[ast.ColumnReference, ...] | None = None,
        *,
        arity: int = 2,
        numeric: bool = False,
        name: str = "f.csv",
        where: dict[ast.ColumnReference, str] | None = None,
        header: bool = True,
    ) -> Read:
        if content is not None:
            (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        table = statement(name, columns, where, header)
        return Read(*read_table(Load("P", arity, numeric, table, tmp_path, STATEMENT)))

    return reader


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data, or a skip with the reason."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("LNNKIT_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set LNNKIT_DATA")
    return folder
