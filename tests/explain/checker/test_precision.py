"""Proofs of bounds in single precision verify to its accuracy, and no wider."""

from __future__ import annotations

from dataclasses import replace

import pytest

import lnnkit
from lnnkit.explain.proof.explanation import Explanation
from tests.blocks import in_blocks
from tests.explain.proving import known_atoms
from tests.laws.drawing import drawn
from tests.programs import to_text

PLAIN, ALL, BLOCK = 1, 240, 12
PROGRAM = """
predicate Derived(person) closed
fact A(anna) = 0.3
fact B(anna) = 0.7
rule (A(X)@0.3 | B(X)@0.9) -> C(X) in [0.77, 1]
rule A(X) & ~C(X) -> Derived(X) in [0.51, 1]
rule ~A(X) & B(X)@0.7 -> Derived(X) in [0.9, 1]
query C(X)
query Derived(X)
query exists X: C(X) & ~A(X)
"""


def single(text: str) -> lnnkit.KnowledgeBase:
    kb = lnnkit.loads(text)
    kb.infer(precision="single")
    return kb


@pytest.mark.parametrize("atom", ["C(anna)", "Derived(anna)", "exists X: C(X) & ~A(X)"])
def test_right_proofs_verify(atom: str) -> None:
    assert single(PROGRAM).explain(atom).verify() == []


@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_random_programs(block: range) -> None:
    for seed in block:
        kb = single(to_text(drawn(seed)))
        for atom, lower, upper in known_atoms(kb):
            told = kb.explain(atom)
            assert not told.verify(), f"seed {seed}\n{told}"
            assert (told.lower, told.upper) == pytest.approx((lower, upper), abs=1e-5)


@pytest.mark.parametrize(("precision", "off", "holds"), [
    ("single", 5e-6, True), ("single", 1e-4, False), ("double", 5e-6, False), ("double", 5e-10, True),
])  # fmt: skip
def test_a_bound_is_off_by_the_tolerance_at_most(precision: str, off: float, holds: bool) -> None:
    kb = lnnkit.loads(PROGRAM)
    kb.infer(precision=precision)
    told = kb.explain("C(anna)")
    steps = list(told.steps)
    steps[told.proof.lower] = replace(steps[told.proof.lower], bound=told.lower + off)
    changed = Explanation(replace(told.proof, steps=steps), _world=told._world)
    assert (changed.verify() == []) is holds


@pytest.mark.parametrize("bound", [0.6, 1 / 3])
def test_exact_steps_verify(bound: float) -> None:
    text = f"fact A(anna) = {bound}\nrule A(X) -> B(X) | C(X)\nrule A(X) -> B(X) | ~C(X)\nquery B(anna)\n"
    assert single(text).explain("B(anna)", exact=True).verify() == []
