"""Trust changes no bounds, and makes the repair of what is trusted less the cheaper one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main

RULE = "axiom ~(Alive(X) & Dead(X))\n"


def repairs(kb: lnnkit.KnowledgeBase) -> list[tuple[str, float]]:
    (conflict,) = kb.conflicts()
    return [(str(repair.member).split("   ")[0], round(repair.cost, 3)) for repair in conflict.repairs()]


def test_a_fact_that_is_trusted_less_is_repaired_first() -> None:
    plain = lnnkit.loads(f"fact Alive(a)\nfact Dead(a)\n{RULE}")
    assert [cost for _, cost in repairs(plain)][:2] == [1, 1]
    kb = lnnkit.loads(f"fact Alive(a)\nfact Dead(a) trust 0.3\n{RULE}")
    assert repairs(kb)[:2] == [("fact Dead(a) trust 0.3", 0.3), ("fact Alive(a)", 1.0)]
    assert [(row.lower, row.upper) for row in kb.ask("Dead(a)")] == [
        (row.lower, row.upper) for row in plain.ask("Dead(a)")
    ]
    assert [each.lower for each in kb.contradictions] == [each.lower for each in plain.contradictions]


def test_a_fact_that_a_trusted_source_states_too_costs_what_that_source_does() -> None:
    kb = lnnkit.loads(f"fact Alive(anna) trust 0.5\nfact Dead(anna) trust 0.1\nfact Dead(anna) trust 0.9\n{RULE}")
    assert repairs(kb)[:2] == [("fact Alive(anna) trust 0.5", 0.5), ("fact Dead(anna) trust 0.9", 0.9)]
    kb.tell("Alive", [("anna",)])
    assert repairs(kb)[:2] == [("fact Dead(anna) trust 0.9", 0.9), ("fact Alive(anna)", 1.0)]
    assert all(conflict.explanation.verify() == [] for conflict in kb.conflicts())


def test_trust_of_tables_and_told_facts(tmp_path: Path) -> None:
    (tmp_path / "alive.csv").write_text("who\nanna\n")
    kb = lnnkit.loads(f'load Alive from "alive.csv" trust 0.5\npredicate Dead(entity)\n{RULE}', base=tmp_path)
    kb.tell("Dead", [("anna",)], trust=0.25)
    assert repairs(kb)[:2] == [("fact Dead(anna) trust 0.25", 0.25), ("fact Alive(anna) trust 0.5", 0.5)]
    for trust in (-0.1, 1.5, float("nan"), "0.5", True):
        with pytest.raises(ValueError, match="from 0 to 1"):
            kb.tell("Dead", [("b",)], trust=trust)  # pyright: ignore[reportArgumentType]


def test_trust_of_numbers() -> None:
    """By the share of what is known: 6 years of ages that are 60 years apart, of births that are 66 apart."""
    kb = lnnkit.loads(
        "number age(p)\nnumber born(p)\nfact age(a) = 30 trust 0.5\nfact born(a) = 2000\n"
        "fact age(b) = 90\nfact born(b) = 1934\naxiom age(X) + born(X) = 2024\n"
    )
    assert repairs(kb)[:2] == [("fact age(a) = 30 trust 0.5", 0.05), ("fact born(a) = 2000", 0.091)]


def test_trust_in_what_explain_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text(f"fact Alive(a) trust 0\nfact Dead(a) trust 0.8\n{RULE}")
    assert main(["explain", str(path), "--minimal"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("  to repair it")
    assert "at a cost of 0 (trust 0)" in lines[start + 1]
    assert "at a cost of 0.8 (trust 0.8)" in lines[start + 2]
    assert main(["explain", str(path), "--minimal", "--format", "json"]) == 0
    (conflict,) = json.loads(capsys.readouterr().out)["conflicts"]
    assert [repair["trust"] for repair in conflict["repairs"]] == [0, 0.8, 1]
