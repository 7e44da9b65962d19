"""README.md: its files are written, its programs checked, its sessions and commands run, in the order of the page.

What the page says of semantics has moved to docs/reference/semantics.md, which the last test holds to its word.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import lnnkit
from tests.pages import ROOT, blocks, run_page

README = ROOT / "README.md"


def test_set_up_is_two_commands() -> None:
    shown = [block.text for block in blocks(README) if block.kind == "sh"]
    assert len(shown) == 2
    assert all(text.count("\n") == 1 for text in shown)


def test_every_kind_of_block_is_known() -> None:
    assert {block.kind for block in blocks(README)} <= {"sh", "lnn", "csv", "console", "pycon", "text"}
    assert all(block.file for block in blocks(README) if block.kind in ("lnn", "csv"))


def test_the_page_is_short() -> None:
    assert README.read_text(encoding="utf-8").count("\n") <= 250


def test_the_tour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(README, tmp_path, monkeypatch)


BIRDS = """
predicate Bird(animal)
predicate Flies(animal)
fact Bird(tweety)
axiom forall X: Bird(X) -> Flies(X)
"""
EITHER = """
predicate B(entity)
fact A(anna) in [0.3, 0.6]
axiom A(X) | B(X)
rule A(Y) | B(Y) -> C(Y)
rule B(Y) | A(Y) -> D(Y)
"""
BUSES = """
predicate Bus(stop, stop) closed
predicate Reach(stop, stop) closed
predicate Cut(stop, stop) closed
predicate Safe(stop)
fact Bus(zoo, centre)
fact Bus(centre, zoo) in [0.4, 0.9]
rule Bus(X, Y) -> Reach(X, Y)
rule ~Reach(X, Y) -> Cut(X, Y)
rule Bus(X, X) & Safe(X) -> Reach(X, X)
"""


@pytest.mark.parametrize(
    ("program", "query", "listed"),
    [
        (BIRDS + "sort animal open", "forall X: Bird(X) -> Flies(X)", [(1, 1)]),  # stated of all, unnamed ones too
        (BIRDS + "sort animal open", "forall X: Flies(X) -> Bird(X)", [(0, 1)]),
        (BIRDS + "sort animal open", "Bird(X) -> Flies(X)", [(1, 1)]),
        (BIRDS, "forall X: Bird(X) -> Flies(X)", [(1, 1)]),
        (BIRDS + "fact Bird(rex)\nfact ~Flies(rex)", "Flies(X)", [(0, 0), (1, 1)]),  # rex, tweety
        (EITHER, "C(anna)", [(1, 1)]),
        (EITHER, "D(anna)", [(0.7, 1)]),
        (EITHER, "A(anna) | B(anna)", [(1, 1)]),
        (EITHER, "B(anna) | A(anna)", [(0.7, 1)]),
        (BUSES, "~Reach(zoo, X)", [(0, 0)]),  # centre
        (BUSES, "~Reach(centre, X)", [(0.1, 0.6)]),  # zoo
        (BUSES, "Cut(zoo, X)", [(1, 1)]),  # zoo
        (BUSES, "Cut(centre, X)", [(1, 1), (0.1, 0.6)]),  # centre, zoo
        (BUSES, "Safe(X)", []),
        ("fact A(a)\nfact ~B(a)\nfact A(b)\nrule A(X) -> B(X)", "B(X)", [(0, 0), (1, 1)]),  # a, b
    ],
)
def test_the_semantics_section(program: str, query: str, listed: list[tuple[float, float]]) -> None:
    kb = lnnkit.loads(program)
    found = [(answer.lower, answer.upper) for answer in kb.ask(query)]
    assert [end for bounds in found for end in bounds] == pytest.approx([end for bounds in listed for end in bounds])
