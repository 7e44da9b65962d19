"""The programs of kb_examples: their answers are those of expected.json, reasoned by hand (see each "because")."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import lnnkit
from lnnkit.check import check
from lnnkit.cli import main
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_program, format_statement
from lnnkit.syntax.tidy import tidy
from tests.blocks import at_length

FOLDER = Path(__file__).resolve().parents[1] / "kb_examples"
PROGRAMS = sorted(folder / f"{folder.name}.lnn" for folder in FOLDER.iterdir() if folder.is_dir())
TEXTS = sorted(FOLDER.glob("*/*.lnn"))
TOLERANCE = 1e-9

each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
each_text = pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)


def expected(path: Path) -> dict[str, Any]:
    return json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))


def assert_as_expected(path: Path, got: Mapping[str, Any]) -> None:
    want = expected(path)
    assert [found["query"] for found in got["queries"]] == [asked["query"] for asked in want["queries"]]
    for found, asked in zip(got["queries"], want["queries"], strict=True):
        compare(found["answers"], asked["answers"], found["query"])
    compare(got["contradictions"], want["contradictions"], "contradictions")
    assert got["status"] == want["status"]


def compare(got: Sequence[Mapping[str, Any]], want: Sequence[Mapping[str, Any]], where: str) -> None:
    """The same rows in the same order; bounds within the tolerance."""
    bounds = ("lower", "upper")
    rest = [[{key: value for key, value in row.items() if key not in bounds} for row in rows] for rows in (got, want)]
    assert rest[0] == rest[1], where
    for row, wanted in zip(got, want, strict=True):
        for end in bounds:
            value = wanted[end]  # of a date a text
            expected = pytest.approx(value, abs=TOLERANCE, rel=0) if isinstance(value, float) else value
            assert row[end] == expected, (where, row, wanted)


def outcome_of(kb: lnnkit.KnowledgeBase) -> dict[str, Any]:
    outcome = kb.infer()
    return {
        "queries": [answers.as_dict() for answers in kb.answers()],
        "contradictions": [contradiction.as_dict() for contradiction in outcome.contradictions],
        "status": outcome.status,
        "rounds": outcome.rounds,
    }


def test_there_are_examples() -> None:
    assert len(PROGRAMS) >= 7
    suffixes = {path.suffix for path in FOLDER.glob("*/*")}
    assert {".csv", ".tsv", ".parquet"} <= suffixes


@each_program
def test_answers(path: Path) -> None:
    assert_as_expected(path, outcome_of(lnnkit.load(path)))


@each_program
def test_answers_on_the_command_line(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(path), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert_as_expected(path, json.loads(out))


@each_text
def test_no_findings(path: Path) -> None:
    program, findings = parse(path.read_text(encoding="utf-8"), str(path))
    checked, more = check(program, path.parent)
    assert [finding.render() for finding in [*findings, *more]] == []
    assert checked is not None


@each_text
def test_it_is_tidy_and_prints_to_itself(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert tidy(text, str(path)) == (text, [])
    program = lnnkit.parse(text)
    assert lnnkit.parse(format_program(program)) == program


@pytest.mark.parametrize("path", at_length(PROGRAMS, plain=4))
def test_order_does_not_matter(path: Path, tmp_path: Path) -> None:
    """Rows and statements shuffled: the same answers, bitwise, in as many rounds."""
    folder = tmp_path / path.parent.name
    shutil.copytree(path.parent, folder)
    generator = random.Random(path.stem)
    for table in folder.iterdir():
        shuffle_rows(table, generator)
    for text in folder.glob("*.lnn"):
        shuffle_statements(text, generator)
    first, second = outcome_of(lnnkit.load(path)), outcome_of(lnnkit.load(folder / path.name))
    for outcome in (first, second):
        outcome["queries"].sort(key=lambda query: query["query"])
        for contradiction in outcome["contradictions"]:
            contradiction["line"] = None
    assert first == second


def shuffle_rows(table: Path, generator: random.Random) -> None:
    if table.suffix == ".parquet":
        import pyarrow.parquet as pq

        rows = pq.read_table(table)
        order = generator.sample(range(len(rows)), len(rows))
        pq.write_table(rows.take(order), table)
    elif table.suffix in (".csv", ".tsv"):
        header, *rows = table.read_text(encoding="utf-8").splitlines()
        generator.shuffle(rows)
        table.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")


def shuffle_statements(text: Path, generator: random.Random) -> None:
    statements = [format_statement(node) for node in lnnkit.parse(text.read_text(encoding="utf-8")).statements]
    generator.shuffle(statements)
    text.write_text("\n".join(statements) + "\n", encoding="utf-8")
