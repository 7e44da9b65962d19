"""Parquet files joined as they are, read by other readers."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lnnkit.scoring.parquet_joining import JoinedParquet


def part(rng: random.Random, rows: int) -> pa.Table:
    codes = pa.array([rng.randint(0, 2) for _ in range(rows)], pa.int32())
    return pa.table(
        {
            "id": pa.array([str(rng.random()) for _ in range(rows)], pa.string()),
            "x": pa.array([rng.choice([None, rng.random()]) for _ in range(rows)], pa.float64()),
            "state": pa.DictionaryArray.from_arrays(codes, pa.array(["true", "false", "unknown"])),
        }
    )


@pytest.mark.parametrize("seed", range(4))
def test_joined_files_hold_all_rows_in_order(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    tables = [part(rng, rng.choice([0, 1, 50, 400])) for _ in range(rng.choice([1, 3, 20]))]
    output = tmp_path / "all.parquet"
    with output.open("wb") as sink:
        joined = JoinedParquet(sink)
        for place, table in enumerate(tables):
            path = tmp_path / f"{place}.parquet"
            pq.write_table(
                table,
                path,
                row_group_size=100,
                write_statistics=rng.random() < 0.5,
                write_page_index=rng.random() < 0.5,
                compression=rng.choice(["snappy", "none", "zstd"]),
            )
            joined.append(path)
        joined.close()
    names = ["id", "x", "state"]
    whole = pa.concat_tables([table.cast(pq.read_schema(tmp_path / "0.parquet")) for table in tables])
    expected = [tuple(row[name] for name in names) for row in whole.to_pylist()]
    assert [tuple(row[name] for name in names) for row in pq.read_table(output).to_pylist()] == expected
    assert duckdb.execute(f"select * from '{output}'").fetchall() == expected
