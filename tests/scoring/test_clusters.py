"""The blocks of docs/howto/scale.md for engines of tables, run against real ones where they are installed."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

import lnnkit

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "scale.md").read_text(encoding="utf-8")
ENGINES = ("duckdb", "polars", "ray", "dask", "spark")
MODULES = {"spark": "pyspark"}


def block(title: str) -> str:
    found = re.search(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', PAGE, re.DOTALL)
    assert found is not None, title
    return found[1]


def test_the_page_has_a_block_of_ten_lines_or_so_for_each() -> None:
    for engine in ENGINES:
        assert len([line for line in block(engine).splitlines() if line.strip()]) <= 11


def test_the_page_has_the_codes_of_scoring() -> None:
    """Those that are raised there; `load` has its own."""
    package = Path(lnnkit.__file__).parent
    sources = [
        path.read_text(encoding="utf-8") for name in ("scoring", "rows") for path in (package / name).glob("*.py")
    ]
    codes = re.findall(r'(?:Unreadable|Diagnostic)\(\s*"([a-z-]+)"', "\n".join(sources))
    listed = re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\| (`[a-z-]+`.*?) \|", PAGE, re.MULTILINE)))
    assert {"changed-stream", "lost-worker", "output-in-use", "linked-rows"} <= set(codes)
    assert set(codes) - {"empty-file"} <= set(listed)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # those of the engines are theirs
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_decides_as_the_scorer_does(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec(MODULES.get(engine, engine)) is None:
        pytest.skip(f"{engine} is not installed: pip install lnnkit[{engine}]")
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java: apt install default-jre-headless")
    for name in ("loans.csv", "regions.csv", "loans.lnn"):
        (tmp_path / name).write_text(block(name), encoding="utf-8")
    pq.write_table(pv.read_csv(tmp_path / "loans.csv"), tmp_path / "loans.parquet")
    monkeypatch.chdir(tmp_path)
    exec(compile(block(engine), f"{engine} block", "exec"), {"__name__": engine})
    scorer = lnnkit.load("loans.lnn", streamed="loan").scorer("loan")
    expected = scorer(pq.read_table("loans.parquet"))
    found = pq.read_table("decisions.parquet")
    assert sorted(found.to_pylist(), key=lambda row: row["id"]) == sorted(
        expected.to_pylist(), key=lambda row: row["id"]
    )
