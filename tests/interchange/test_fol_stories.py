"""The stories of FOLIO: what the importer makes of a story means what the story says, by Z3."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import lnnkit
from lnnkit.check.checker import check
from tests.interchange.judging import Meaning, NotStrict, of_program, strict

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
FILE = DATA / "folio" / "folio-train.jsonl"

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason=f"no FOLIO data at {FILE}")


@cache
def stories() -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["story_id"], [" ".join(each.split()) for each in row["premises-FOL"]])
    return found


def judged(numbers: Iterable[int]) -> tuple[Counter[str], list[object]]:
    """How many stories the judge finds equivalent, cannot read, or cannot decide; and those that differ."""
    fates: Counter[str] = Counter()
    wrong: list[object] = []
    for number in numbers:
        lines = stories()[number]
        meaning = Meaning()
        try:
            source = [strict(line, meaning) for line in lines if line]
        except NotStrict:
            fates["not plain"] += 1
            continue
        imported = lnnkit.from_fol("\n".join(lines))
        renamed = any(note.code == "kept-apart" for note in imported.notes)
        stated, _ = of_program(lnnkit.parse(imported.text), meaning)
        same = None if renamed else meaning.equivalent(meaning.all_of(source), meaning.all_of(stated))
        fates[{True: "same", False: "different", None: "undecided"}[same]] += 1
        if same is False:
            wrong.append((number, imported.text))
    return fates, wrong


def test_some_stories_mean_the_same() -> None:
    fates, wrong = judged(list(stories())[::30])
    assert wrong == []
    assert fates["same"] >= 10


@pytest.mark.slow
def test_all_stories_mean_the_same() -> None:
    fates, wrong = judged(stories())
    assert wrong == []
    assert fates["same"] >= 300, fates


@pytest.mark.slow
def test_what_comes_out_passes_the_checker() -> None:
    """One story has a formula without a connective between two atoms; every other becomes a program."""
    refused = []
    for number, lines in stories().items():
        try:
            imported = lnnkit.from_fol("\n".join(lines))
        except lnnkit.ProgramError as problem:
            refused.append((number, [each.code for each in problem.diagnostics]))
            continue
        _, findings = check(lnnkit.parse(imported.text), Path("."))
        assert [each for each in findings if each.severity == "error"] == [], number
    assert refused == [(10, ["syntax"])]
