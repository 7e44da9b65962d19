"""The 5,239 premises of FOLIO: written by people, in Unicode logic."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.parse import parse

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
FILE = DATA / "folio" / "folio-train.jsonl"

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason=f"no FOLIO data at {FILE}")

# The malformed formulas, each looked at: code and column of the fault in `axiom <formula>`.
MALFORMED = {
    # one parenthesis too many
    "∀x ((RelaySwimmer(x) ∧ ¬ParticipatedIn(x, finalheatfreerelay)) ↔ ¬Recieved(x, medal)))": ("unmatched-bracket", 92),
    "∀x ((Orlando(x) ∨ Miami(x)) ∧ Florida(x)) → WantToGo(x))": ("unmatched-bracket", 62),
    "¬WorkAtPool(mary))": ("unmatched-bracket", 24),
    "(WorkTeams(kat) ∧ Tired(kat)) ∨ ¬WorkTeams(kat) ∧ ¬Tired(kat))": ("unmatched-bracket", 68),
    "Luxury(Jess) ⊕ Miserly(Jess)) →  Luxury(Jess)": ("unmatched-bracket", 35),
    "Code(burger) ∧ Mac(burger))": ("unmatched-bracket", 33),
    # one too few: the group after `∀x` is never closed
    "∀x (Road(x) → (MadeOfConcrete(x) ∨ MadeOfAsphalt(x))": ("unclosed-group", 10),
    # entities of two words
    "∀x (Superhero(x) ∧ American(x) → (ComeFrom(x, dc universe) ⊕ ComeFrom(x, marvel universe)))": (
        "unquoted-entity",
        56,
    ),
    "Superhero(captain america)": ("unquoted-entity", 25),
    "American(captain america)": ("unquoted-entity", 24),
    "¬ComeFrom(captain america, dc universe)": ("unquoted-entity", 25),
    # a connective left out, a period, nothing at all
    "∃x (Country(x) Nearby(medeempire, x) ∧ PlotsToSwallowUp(medeempire, x))": ("syntax", 22),
    "(LanguageModel(bert) ∧ Giant(bert)) → (LanguageModel(gpt-3) ∧ Giant(gpt-3)).": ("trailing-mark", 82),
    "": ("syntax", 6),
}


@cache
def read() -> tuple[int, dict[str, list[Diagnostic]], int]:
    """How many formulas there are, those that fail with their diagnostics, and how many those are."""
    total = failed = 0
    failures: dict[str, list[Diagnostic]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        for formula in json.loads(line)["premises-FOL"]:
            total += 1
            program, diagnostics = parse(f"axiom {formula.strip()}")
            if diagnostics or len(program.statements) != 1:
                failed += 1
                failures[formula.strip()] = diagnostics
    return total, failures, failed


def test_all_but_the_malformed_formulas_parse() -> None:
    total, failures, failed = read()
    assert total == 5239
    assert total - failed >= 5190
    assert set(failures) == set(MALFORMED)


@pytest.mark.parametrize("formula", MALFORMED)
def test_the_diagnostic_points_at_the_fault(formula: str) -> None:
    (diagnostic,) = read()[1][formula]
    assert (diagnostic.code, diagnostic.column) == MALFORMED[formula]


def test_surrounding_white_space_does_not_matter() -> None:
    assert parse("axiom \n ∀x (P(x) → Q(x)) \n")[0] == parse("axiom ∀x (P(x) → Q(x))")[0]
