"""Random theories in first-order logic: what the importer makes of them means the same, by Z3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import z3

import lnnkit
from lnnkit.check.checker import check
from tests.interchange.judging import Meaning, of_program
from tests.interchange.random_formulas import CONSTANTS, Source, Spelling, Tree, meant

FUNCTIONS = {"f": 1, "mother": 1, "g": 2}
MEANT = ("function-as-relation", "unique-names", "nearly-same-names", "another-name")  # what the judge knows of


def bridges(meaning: Meaning, relations: Sequence[tuple[str, int]]) -> list[Any]:
    """A relation stands for each function: its last argument is the value of the others."""
    found = []
    for name, arity in relations:
        given = [meaning.fresh() for _ in range(arity)]
        value = meaning.fresh()
        image = meaning.function(name, given)
        found.append(z3.ForAll([*given, value], meaning.predicate(name, [*given, value]) == (image == value)))
    return found


def same(trees: Sequence[Tree], asked: Tree, text: str, meaning: Meaning, given: Sequence[Any], distinct: bool) -> str:
    program = lnnkit.parse(text)
    _, findings = check(program, Path())
    assert [each for each in findings if each.severity == "error"] == [], text
    stated, queries = of_program(program, meaning)
    source = meaning.all_of([meant(each, meaning) for each in trees])
    (query,) = queries
    answers = [
        meaning.equivalent(source, meaning.all_of(stated), given, distinct=distinct),
        meaning.equivalent(meant(asked, meaning), query, given, distinct=distinct),
    ]
    return "different" if False in answers else "undecided" if None in answers else "same"


def drawn(seed: int, **kinds: bool) -> tuple[list[Tree], Tree]:
    source = Source(seed, **kinds)
    trees = [source.formula(source.random.choice((1, 2, 3))) for _ in range(source.random.choice((1, 2, 3)))]
    return trees, source.formula(2)


def judged_fol(seed: int) -> tuple[str, str]:
    kinds = {name: bool(seed >> bit & 1) for bit, name in enumerate(("functions", "equations", "numbers"))}
    trees, asked = drawn(seed, **kinds)
    spelling = Spelling(seed)
    lines = [*map(spelling.text, trees), "Conclusion:", spelling.text(asked)]
    text = "\n".join(lines)
    imported = lnnkit.from_fol(text)
    others = [note for note in imported.notes if note.code not in (*MEANT, "connective-chain", "precedence")]
    assert others == [], (text, others)
    meaning = Meaning()
    given = bridges(meaning, list(FUNCTIONS.items())) if kinds["functions"] else []
    given += aliases(imported, meaning)
    return same(trees, asked, imported.text, meaning, given, distinct=not aliases(imported, meaning)), text


def aliases(imported: lnnkit.ImportedProgram, meaning: Meaning) -> list[Any]:
    """What the notes say of names that are dropped: the judge is told that they name the same, all others apart."""
    found, dropped = [], set()
    for note in imported.notes:
        if note.code == "another-name":
            other, one = note.message.split("`")[1::2][:2]
            found.append(meaning.constant(other) == meaning.constant(one))
            dropped.add(other)
    kept = [meaning.constant(name) for name in CONSTANTS if name not in dropped]
    return [*found, z3.Distinct(*kept)] if dropped and len(kept) > 1 else found


def tally(found: Sequence[tuple[str, str]]) -> tuple[Counter[str], list[str]]:
    return Counter(fate for fate, _ in found), [text for fate, text in found if fate == "different"]


def test_some_theories_of_first_order_logic() -> None:
    fates, wrong = tally([judged_fol(seed) for seed in range(12)])
    assert wrong == []
    assert fates["same"] >= 11


@pytest.mark.slow
def test_many_theories_of_first_order_logic() -> None:
    fates, wrong = tally([judged_fol(seed) for seed in range(1000, 1060)])
    assert wrong == []
    assert fates["same"] >= 55, fates
