"""Labels of ProntoQA and LogicalDeduction: every one of a program that says what its text does.

The programs are a language model's. Those that say something else are named in ``wrong_programs.json``, with a line, or
the reason; there the verdict is that of the program.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import lnnkit
from tests.blocks import at_length
from tests.prove.puzzle_texts import (
    DATA,
    asks_the_opposite,
    chain_program,
    chained,
    examples,
    in_singular,
    puzzle_program,
    solved_directly,
    wrong_lines,
)

pytest.importorskip("z3", reason="z3-solver is not installed")
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no logic programs at {DATA}")
BLOCK = 50
Example = dict[str, Any]


@cache
def wrong(name: str) -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "wrong_programs.json").read_text(encoding="utf-8"))[name]


def verdicts(program: str) -> list[str]:
    return [proved.verdict for proved in lnnkit.loads(program).prove_queries()]


def judge_puzzles(some: Sequence[Example]) -> None:
    for example in some:
        found = verdicts(puzzle_program(example["raw_logic_programs"][0]))
        options = [chr(ord("A") + place) for place, verdict in enumerate(found) if verdict == "entailed"]
        direct = solved_directly(example["raw_logic_programs"][0])
        fate = wrong("LogicalDeduction").get(example["id"], {"label": "given"})["label"]
        if fate != "not given":
            assert options == [example["answer"]], example["id"]
        elif all(direct):
            assert set(found) == {"inconsistent"}, example["id"]
        else:
            assert [verdict == "entailed" for verdict in found] == direct, example["id"]


def judge_chains(some: Sequence[Example]) -> None:
    for example in some:
        text = example["raw_logic_programs"][0]
        (found,) = verdicts(chain_program(text))
        why = wrong("ProntoQA").get(example["id"], "")
        label = "entailed" if example["answer"] == "A" else "refuted"
        if "two names" in why:
            assert found == "neither", example["id"]
            (found,) = verdicts(chain_program(in_singular(text)))
        elif "contradicts itself" in why:
            assert found == "inconsistent", example["id"]
            continue
        if asks_the_opposite(example["question"], text):
            label = {"entailed": "refuted", "refuted": "entailed"}[label]
        assert found == label, example["id"]


def test_some_labels() -> None:
    judge_puzzles(examples("LogicalDeduction")[::150])
    judge_chains(examples("ProntoQA")[::50])


@pytest.mark.parametrize("first", at_length(range(0, 300, BLOCK), plain=0))
def test_labels_of_puzzles(first: int) -> None:
    judge_puzzles(examples("LogicalDeduction")[first : first + BLOCK])


@pytest.mark.slow
def test_labels_of_chains() -> None:
    judge_chains(examples("ProntoQA"))


@pytest.mark.slow
def test_wrong_programs_are_wrong() -> None:
    """By the texts alone: a puzzle's line is not what its sentence says, or the chain does not lead to the label."""
    for example in examples("LogicalDeduction"):
        lines = wrong_lines(example["raw_logic_programs"][0])
        named = wrong("LogicalDeduction").get(example["id"])
        assert (lines[:1] == [named["line"]]) if named else not lines, example["id"]
        given = solved_directly(example["raw_logic_programs"][0])
        right = [place for place, each in enumerate(given) if each] == [ord(example["answer"]) - ord("A")]
        assert right == (named is None or named["label"] != "not given"), example["id"]
    for example in examples("ProntoQA"):
        text = example["raw_logic_programs"][0]
        right = chained(text) == (example["answer"] == "A") and not asks_the_opposite(example["question"], text)
        assert right == (example["id"] not in wrong("ProntoQA")), example["id"]
