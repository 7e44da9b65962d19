"""Streams into files: in any form, by any number of workers, killed and run again."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import stat
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

import lnnkit
from lnnkit.rows.scorer import RowScorer
from lnnkit.scoring import workers as worker_processes
from lnnkit.scoring.output_files import OutputParts
from lnnkit.scoring.row_streams import RowStream, sheets
from lnnkit.scoring.scoring_run import Scored, score
from tests.blocks import at_length
from tests.full_disk import full_disk
from tests.scoring.loans import LOANS

TEXT = f"{LOANS}query Grant(X) | Risky(X)\n"
ROWS = 1000


def table(rows: int = ROWS) -> pa.Table:
    rng = random.Random(0)
    return pa.table(
        {
            "id": [f"l{row}" for row in range(rows)],
            "risk": [rng.choice([0.0, 1.0, rng.random()]) for _ in range(rows)],
            "income": [rng.choice([None, float(rng.randint(0, 2000))]) for _ in range(rows)],
            "other": ["x"] * rows,
        }
    )


@pytest.fixture(scope="module")
def scorer() -> RowScorer:
    return lnnkit.loads(TEXT, streamed="loan").scorer("loan")


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    path = tmp_path / "loans.parquet"
    pq.write_table(table(), path, row_group_size=100)
    return path


def expected(scorer: RowScorer) -> pa.Table:
    found = scorer(table())
    return found.cast(pa.schema([pa.field(each.name, _plain(each.type)) for each in found.schema]))


def _plain(kind: pa.DataType) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(kind) else kind


def read(path: Path) -> pa.Table:
    found = pq.read_table(path)
    return found.cast(pa.schema([pa.field(each.name, _plain(each.type)) for each in found.schema]))


def test_a_parquet_file_row_by_row_in_order(scorer: RowScorer, loans: Path, tmp_path: Path) -> None:
    found = score(scorer, RowStream(loans, batch=100), tmp_path / "out.parquet")
    assert found.rows == ROWS
    assert sum(found.states["Grant"].values()) == ROWS
    assert read(tmp_path / "out.parquet").equals(expected(scorer))
    assert sorted(each.name for each in tmp_path.iterdir()) == ["loans.parquet", "out.parquet"]


def test_a_folder_and_csv_and_a_packed_csv(scorer: RowScorer, tmp_path: Path) -> None:
    folder = tmp_path / "loans"
    folder.mkdir()
    whole = table()
    pv.write_csv(whole.slice(0, 300), folder / "a.csv")
    pq.write_table(whole.slice(300, 300), folder / "b.parquet")
    with pa.CompressedOutputStream(str(folder / "c.csv.gz"), "gzip") as sink:
        pv.write_csv(whole.slice(600), sink)
    score(scorer, RowStream(folder), tmp_path / "out.parquet")
    assert read(tmp_path / "out.parquet").equals(expected(scorer))


def test_csv_in_blocks_numbers_its_lines(scorer: RowScorer, tmp_path: Path) -> None:
    lines = ["id,risk,income,other", *(f'"l\n{row}",0.5,7,"a, ""b"""' for row in range(50)), "last,2,7,x"]
    (tmp_path / "loans.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(lnnkit.DataError) as problem:
        score(scorer, RowStream(tmp_path / "loans.csv", block=60), tmp_path / "out.csv")
    (finding,) = problem.value.diagnostics
    assert (finding.line, finding.code) == (102, "bad-truth")
    left = tmp_path / "left.csv"
    found = score(scorer, RowStream(tmp_path / "loans.csv", block=60), tmp_path / "out.csv", bad_rows=left)
    assert (found.rows, found.left_out) == (50, 1)
    assert "102" in left.read_text(encoding="utf-8")
    assert pv.read_csv(tmp_path / "out.csv", parse_options=pv.ParseOptions(newlines_in_values=True)).num_rows == 50


@pytest.mark.parametrize("kind", ["stream", "file"])
def test_arrow_on_standard_input(scorer: RowScorer, tmp_path: Path, kind: str) -> None:
    sink = io.BytesIO()
    with (
        pa.ipc.new_stream(sink, table().schema) if kind == "stream" else pa.ipc.new_file(sink, table().schema) as writer
    ):
        writer.write_table(table(), max_chunksize=50)
    stream = RowStream(Path("-"), standard_input=io.BufferedReader(io.BytesIO(sink.getvalue())), batch=64)
    score(scorer, stream, tmp_path / "out.parquet")
    assert read(tmp_path / "out.parquet").equals(expected(scorer))


@pytest.mark.slow
def test_workers_write_the_same_file(scorer: RowScorer, loans: Path, tmp_path: Path) -> None:
    score(scorer, RowStream(loans, batch=100), tmp_path / "one.parquet")
    score(scorer, RowStream(loans, batch=100), tmp_path / "two.parquet", workers=2)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


@pytest.mark.slow
def test_a_worker_that_dies_is_one_clear_error(scorer: RowScorer, loans: Path, tmp_path: Path) -> None:
    def told(found: object) -> None:
        for each in multiprocessing.active_children():
            each.kill()

    with pytest.raises(lnnkit.Error, match="a worker ended before its rows were decided") as problem:
        score(scorer, RowStream(loans, batch=100), tmp_path / "out.parquet", workers=2, listen=told)
    assert [each.code for each in problem.value.diagnostics] == ["lost-worker"]
    found = score(scorer, RowStream(loans, batch=100), tmp_path / "out.parquet")
    assert found.resumed >= 1
    assert read(tmp_path / "out.parquet").equals(expected(scorer))


def killed_until_done(scorer: RowScorer, stream: Path, output: Path, kills: int) -> int:
    """Run in a child that is killed at random moments so often, and then let finish; how often it was killed midway."""
    rng = random.Random(0)
    met = 0
    for number in range(kills + 1):
        child = os.fork()
        if not child:
            try:  # nothing may return into this child's copy of pytest
                run(scorer, stream, output)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        if number < kills:
            time.sleep(rng.random() * 0.08)
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        met += os.WIFSIGNALED(status)
        assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
        if not os.WIFSIGNALED(status) and number < kills:
            shutil.copy(output, output.with_suffix(".done"))
    return met


def run(scorer: RowScorer, stream: Path, output: Path) -> None:
    score(scorer, RowStream(stream, batch=100), output, bad_rows=output.with_suffix(".bad.csv"))


@pytest.mark.parametrize(
    ("suffix", "kills"),
    [
        (".parquet", 4),
        *(pytest.param(suffix, 100, marks=pytest.mark.slow) for suffix in (".parquet", ".csv", ".arrow")),
    ],
)
def test_a_killed_run_goes_on_to_the_same_file(scorer: RowScorer, tmp_path: Path, suffix: str, kills: int) -> None:
    loans = tmp_path / "loans.parquet"
    risks = [7.0 if row % 90 == 5 else risk for row, risk in enumerate(table()["risk"].to_pylist())]
    pq.write_table(table().set_column(1, "risk", pa.array(risks)), loans, row_group_size=100)
    whole, output = tmp_path / f"whole{suffix}", tmp_path / f"out{suffix}"
    run(scorer, loans, whole)
    killed_until_done(scorer, loans, output, kills)
    assert output.read_bytes() == whole.read_bytes()
    bad = output.with_suffix(".bad.csv").read_bytes()
    assert bad == whole.with_suffix(".bad.csv").read_bytes()
    assert bad.count(b"\n") == 1 + len(range(5, ROWS, 90))
    assert [each.name for each in tmp_path.glob(".out*")] == []


def test_parts_of_an_earlier_run_are_used_and_those_of_another_are_not(
    scorer: RowScorer, loans: Path, tmp_path: Path
) -> None:
    done: list[int] = []

    class Enough(Exception):
        pass

    def told(found: object) -> None:
        done.append(1)
        if len(done) == 4:
            raise Enough

    with pytest.raises(Enough):
        score(scorer, RowStream(loans, batch=100), tmp_path / "out.parquet", listen=told)
    assert not (tmp_path / "out.parquet").exists()
    other = RowScorer(scorer.model, 0.9)
    assert score(scorer, RowStream(loans, batch=100), tmp_path / "out.parquet").resumed == 4
    with pytest.raises(Enough):
        score(
            scorer,
            RowStream(loans, batch=100),
            tmp_path / "out.parquet",
            listen=lambda _: told(done.clear() or done.extend([1] * 3)),
        )
    assert score(other, RowStream(loans, batch=100), tmp_path / "out.parquet").resumed == 0


@pytest.mark.parametrize("suffix", [".part", ".json"])
def test_a_part_without_its_summary_or_the_other_way_around_is_made_again(
    scorer: RowScorer, loans: Path, tmp_path: Path, suffix: str
) -> None:
    """As a kill while parts are removed may leave them."""
    output = tmp_path / "out.parquet"

    def told(scored: Scored) -> None:
        if scored.rows == ROWS:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score(scorer, RowStream(loans, batch=100), output, listen=told)
    left = sorted(OutputParts(output).folder.rglob(f"*{suffix}"))
    for each in left[::2]:
        each.unlink()
    assert score(scorer, RowStream(loans, batch=100), output).resumed == len(left) // 2
    assert read(output).equals(expected(scorer))


def test_a_full_disk_leaves_what_was_written(scorer: RowScorer, loans: Path, tmp_path: Path) -> None:
    with contextlib.ExitStack() as later:

        def told(scored: Scored) -> None:
            if scored.rows == 300:
                later.enter_context(full_disk())

        with pytest.raises(lnnkit.Error, match="File too large") as problem:
            score(scorer, RowStream(loans, batch=100), tmp_path / "out.parquet", listen=told)
    assert [each.code for each in problem.value.diagnostics] == ["unwritable-file"]
    assert score(scorer, RowStream(loans, batch=100), tmp_path / "out.parquet").resumed == 3


@pytest.mark.parametrize("name", ["missing.parquet", "empty.csv", "text.parquet", "none.parquet"])
def test_a_stream_that_cannot_be_read(scorer: RowScorer, tmp_path: Path, name: str) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "text.parquet").write_text("no parquet")
    pq.write_table(table(0), tmp_path / "none.parquet")
    with pytest.raises(lnnkit.DataError):
        score(scorer, RowStream(tmp_path / name), tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
    assert not OutputParts(tmp_path / "out.parquet").folder.exists()


def test_a_column_that_is_not_there(scorer: RowScorer, tmp_path: Path) -> None:
    pq.write_table(table().drop_columns(["risk"]), tmp_path / "loans.parquet")
    with pytest.raises(lnnkit.DataError, match='no column "risk"'):
        score(scorer, RowStream(tmp_path / "loans.parquet"), tmp_path / "out.parquet")


KEYS = {
    "view": pa.array([f"k{place:03}" for place in range(100)], pa.string_view()),
    "bytes": pa.array([b"k%03d" % place for place in range(100)], pa.large_binary()),
    "dictionary": pa.array(range(100)).dictionary_encode(),
    "unsigned": pa.array([2**63 + place for place in range(100)], pa.uint64()),
    "decimal": pa.array(range(100)).cast(pa.decimal128(20, 0)),
}


@pytest.mark.parametrize("suffix", at_length([".parquet", ".csv", ".arrow"], plain=1))
@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_any_type_are_written_and_known_to_rise(
    scorer: RowScorer, tmp_path: Path, kind: str, suffix: str
) -> None:
    rows, sink, output = table(100).set_column(0, "id", KEYS[kind]), io.BytesIO(), tmp_path / f"out{suffix}"
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=30)
    stream = RowStream(Path("-"), standard_input=io.BufferedReader(io.BytesIO(sink.getvalue())), batch=30)
    assert not score(scorer, stream, output).scattered
    if suffix == ".csv":
        names = [line.split(",")[0].strip('"') for line in output.read_text().splitlines()[1:]]
    else:
        found = pq.read_table(output) if suffix == ".parquet" else pa.ipc.open_file(output).read_all()
        names = found["id"].cast(pa.string()).to_pylist()
    assert names == KEYS[kind].cast(pa.string()).to_pylist()


@pytest.mark.parametrize("order", ["near", "across parts", "across batches", "apart"])
def test_a_repeated_key(scorer: RowScorer, tmp_path: Path, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    across = [*range(100), 99, 100]
    places = {"near": [0, 1, 2, 1], "apart": [*range(100), 100, 5]}.get(order, across)
    rows = table().take(places)
    keys = pa.array([f"k{place:04}" for place in places])
    pq.write_table(rows.set_column(0, "id", keys), tmp_path / "loans.parquet", row_group_size=100)
    stream, output = RowStream(tmp_path / "loans.parquet", batch=100), tmp_path / "out.parquet"
    if order == "across batches":
        stream = replace(stream, batch=1000)
        monkeypatch.setattr("lnnkit.scoring.row_streams.BATCH", 100)
    if order == "apart":  # what no bounded memory finds is said
        assert score(scorer, stream, output).scattered
        return
    with pytest.raises(lnnkit.DataError, match="k0001" if order == "near" else "k0099") as problem:
        score(scorer, stream, output)
    assert [each.code for each in problem.value.diagnostics] == ["bad-row"]
    assert problem.value.diagnostics[0].row == (4 if order == "near" else 101)
    found = score(scorer, stream, output, bad_rows=tmp_path / "bad.csv")
    assert (found.rows, found.left_out, found.scattered) == (len(places) - 1, 1, False)
    assert read(output)["id"].to_pylist() == [f"k{place:04}" for place in sorted({*places})]
    assert ("k0001" if order == "near" else "k0099") in (tmp_path / "bad.csv").read_text()


def test_a_row_without_a_key_repeats_none(scorer: RowScorer, tmp_path: Path) -> None:
    keys = pa.array([None, "k3", None, "k2", "k2"])
    pq.write_table(table(5).set_column(0, "id", keys), tmp_path / "loans.parquet")
    found = score(scorer, RowStream(tmp_path / "loans.parquet"), tmp_path / "out.csv", bad_rows=tmp_path / "bad.csv")
    assert (found.rows, found.left_out) == (2, 3)
    told = (tmp_path / "bad.csv").read_text().splitlines()
    assert [line.split(",")[1] for line in told[1:]] == ["1", "3", "5"]


@pytest.mark.parametrize("suffix", [".csv", ".arrow"])
def test_parts_of_other_formats_are_joined(scorer: RowScorer, loans: Path, tmp_path: Path, suffix: str) -> None:
    output = tmp_path / f"out{suffix}"
    score(scorer, RowStream(loans, batch=100), output)
    if suffix == ".csv":
        found = pv.read_csv(output)
    else:
        with pa.ipc.open_file(output) as reader:
            found = reader.read_all()
    assert found.cast(expected(scorer).schema).equals(expected(scorer))  # 0 and 1 read as whole numbers from a CSV


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
@pytest.mark.parametrize("first", ["texts", "numbers"])
def test_keys_of_two_types(scorer: RowScorer, tmp_path: Path, suffix: str, first: str) -> None:
    """A CSV has both; elsewhere numbers follow texts as texts, and texts do not follow numbers."""
    folder, output = tmp_path / "loans", tmp_path / f"out{suffix}"
    folder.mkdir()
    texts, numbers = table(2), table(2).set_column(0, "id", pa.array([7, 8]))
    pq.write_table(texts, folder / ("a.parquet" if first == "texts" else "c.parquet"))
    pq.write_table(numbers, folder / "b.parquet")
    if first == "numbers" and suffix != ".csv":
        with pytest.raises(lnnkit.DataError, match="names the rows has two types"):
            score(scorer, RowStream(folder), output)
        assert not output.exists()
        return
    score(scorer, RowStream(folder), output)
    if suffix == ".csv":
        found = [line.split(",")[0] for line in output.read_text(encoding="utf-8").splitlines()]
        assert sorted(found) == ['"id"', '"l0"', '"l1"', "7", "8"]
    else:
        rows = read(output) if suffix == ".parquet" else pa.ipc.open_file(output).read_all()
        assert rows["id"].to_pylist() == ["l0", "l1", "7", "8"]


@pytest.mark.parametrize("how", ["cut short", "gone", "replaced", "longer"])
@pytest.mark.parametrize("suffix", at_length([".parquet", ".csv"], plain=1))
def test_a_stream_that_changes_meanwhile_is_an_error_and_nothing_is_written(
    scorer: RowScorer, tmp_path: Path, how: str, suffix: str
) -> None:
    path, other, output = tmp_path / f"loans{suffix}", tmp_path / f"other{suffix}", tmp_path / "out.parquet"
    for place, rows in ((path, table()), (other, table().slice(500))):
        if suffix == ".csv":
            pv.write_csv(rows, place)
        else:
            pq.write_table(rows, place, row_group_size=100)
    whole = path.read_bytes()

    def told(found: object) -> None:
        match how:
            case "cut short":
                os.truncate(path, len(whole) // 2)
            case "gone":
                path.unlink(missing_ok=True)
            case "replaced" if other.exists():
                other.rename(path)
            case "longer":
                with path.open("ab") as file:
                    file.write(b"more,0.5,7,x\n")

    with pytest.raises(lnnkit.DataError) as problem:
        score(scorer, RowStream(path, batch=100, block=1000), output, listen=told)
    (finding,) = problem.value.diagnostics
    assert finding.code == ("missing-file" if how == "gone" else "changed-stream")
    assert path.name in finding.message
    assert not output.exists()
    path.write_bytes(whole)
    score(scorer, RowStream(path, batch=100, block=1000), output)
    assert read(output).num_rows == ROWS


def test_small_row_groups_are_read_together(scorer: RowScorer, tmp_path: Path) -> None:
    path = tmp_path / "loans.parquet"
    with pq.ParquetWriter(path, table().schema) as writer:
        for start, rows in ((0, 1), (1, 0), (1, 1), (2, 997), (999, 0), (999, 1)):
            writer.write_table(table().slice(start, rows), row_group_size=max(rows, 1))
    stream = RowStream(path, batch=10)
    assert len(list(stream.units())) == 2
    score(scorer, stream, tmp_path / "out.parquet")
    assert read(tmp_path / "out.parquet").equals(expected(scorer))


def test_one_large_batch_of_an_arrow_stream_is_decided_in_pieces() -> None:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table().schema) as writer:
        writer.write_table(table())
    stream = RowStream(Path("-"), standard_input=io.BufferedReader(io.BytesIO(sink.getvalue())), batch=64)
    units = list(stream.units())
    assert len(units) == -(-ROWS // 64)
    sent = pickle.dumps(units[1])
    assert len(sent) < len(sink.getvalue()) / 2  # the slice, not the batch that it shares
    ((held, _),), ((got, _),) = sheets(units[1]), sheets(pickle.loads(sent))
    places = range(len(held.names))
    assert held.names == got.names
    assert got.read(places).rows.tolist() == held.read(places).rows.tolist()
    assert all([*got.read(places).columns[each]] == [*held.read(places).columns[each]] for each in places)


def test_what_a_worker_of_a_killed_run_writes_late_is_not_taken(scorer: RowScorer, loans: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    late, _ = OutputParts(output).prepared("another")
    wrong = scorer(table()).slice(0, 1).to_batches()[0]

    def told(found: object) -> None:
        with contextlib.suppress(OSError):
            late.write(5, [(wrong, [])])

    score(scorer, RowStream(loans, batch=100), output, listen=told)
    assert read(output).equals(expected(scorer))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("suffix", at_length([".csv", ".parquet", ".arrow"], plain=1))
def test_a_disk_that_is_full_is_one_error(scorer: RowScorer, loans: Path, tmp_path: Path, suffix: str) -> None:
    import resource

    output, bad = tmp_path / f"out{suffix}", tmp_path / "bad.csv"
    score(scorer, RowStream(loans, batch=100), output)
    whole = output.read_bytes()
    output.unlink()
    for limit in (0, 100, 4000, len(whole) - 1):
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                score(scorer, RowStream(loans, batch=100), output, bad_rows=bad)
            except lnnkit.Error as problem:
                os._exit(7 if [each.code for each in problem.diagnostics] == ["unwritable-file"] else 8)
            except BaseException:
                os._exit(9)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 7, limit
        assert not output.exists()
    score(scorer, RowStream(loans, batch=100), output, bad_rows=bad)
    assert output.read_bytes() == whole


def test_a_table_in_one_row_group_is_read_in_pieces(tmp_path: Path) -> None:
    rows = 1_500_000
    values = np.random.default_rng(0).random(rows)  # no encoding makes them smaller
    path = tmp_path / "loans.parquet"
    pq.write_table(pa.table({"id": pa.array(range(rows)), "risk": pa.array(values)}), path, row_group_size=rows)
    (unit,) = RowStream(path).units()
    before = pa.total_allocated_bytes()
    for held, _ in sheets(unit, ("id", "risk")):
        held.read((0, 1))
        assert pa.total_allocated_bytes() - before < 12_000_000  # of 24 million bytes


@pytest.mark.parametrize("about", ["region", "loan"])
def test_parts_of_a_run_with_another_table_beside_the_stream_are_not_used(tmp_path: Path, about: str) -> None:
    """Of a table of many rows too, all of whose facts count."""
    text = f"""sort loan
predicate In(loan, region) closed
predicate Risky({about}) closed
load In from "loans.csv" (id, region)
load Risky from "other.csv"
rule {"In(X, R) & Risky(R)" if about == "region" else "Risky(X)"} -> Review(X)
query Review(X)
"""
    names = [f"n{row}" for row in range(3000)]
    (tmp_path / "loans.csv").write_text("id,region\n" + "".join(f"{name},{name}\n" for name in names))

    def run(truth: str, told: Callable[[object], None] = lambda _: None) -> None:
        other = "".join(f"{name},{truth if row == 1500 else 0.25}\n" for row, name in enumerate(names))
        (tmp_path / "other.csv").write_text("name,risk\n" + other)
        own = lnnkit.loads(text, tmp_path, streamed="loan").scorer("loan", stream=tmp_path / "loans.csv")
        score(own, RowStream(tmp_path / "loans.csv", block=20_000), tmp_path / "out.parquet", listen=told)

    def stopped(_: object) -> None:
        if len(list(tmp_path.glob(".out.parquet.parts/*/*.part"))) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run("0.5", stopped)
    run("0.75")
    assert read(tmp_path / "out.parquet")["Review_lower"].to_pylist()[1500] == 0.75


@pytest.mark.skipif(os.name == "nt", reason="needs flock")
def test_a_second_run_of_an_output_waits_and_then_says_so(
    scorer: RowScorer, loans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_processes, "PATIENCE", 0.1)
    output, met = tmp_path / "out.parquet", list[str]()

    def told(_: object) -> None:
        if not met:
            with pytest.raises(lnnkit.Error) as problem:
                score(scorer, RowStream(loans, batch=100), output)
            met.extend(each.code for each in problem.value.diagnostics)

    score(scorer, RowStream(loans, batch=100), output, listen=told)
    assert met == ["output-in-use"]
    assert read(output).equals(expected(scorer))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_is_no_regular_file_is_not_replaced(scorer: RowScorer, loans: Path, tmp_path: Path) -> None:
    pipe, output, held = tmp_path / "pipe.csv", tmp_path / "out.csv", tmp_path / "held.csv"
    os.mkfifo(pipe)
    with pytest.raises(lnnkit.DataError, match="regular"):
        score(scorer, RowStream(loans), pipe)
    held.touch(0o640)
    output.symlink_to(held)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    score(scorer, RowStream(loans), output, bad_rows=pipe)
    assert os.read(reader, 100) == b"file,row,code,message\r\n"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert output.is_symlink()
    assert (held.stat().st_mode & 0o777, len(held.read_bytes().splitlines())) == (0o640, ROWS + 1)
