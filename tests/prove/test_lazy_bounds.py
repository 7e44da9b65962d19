"""Exact bounds by instances that models violate: those of the whole translation."""

from __future__ import annotations

from functools import partial

import pytest

import lnnkit
from lnnkit.kb import proving
from lnnkit.prove.decision import graded_decision
from lnnkit.prove.decision.graded_decision import LazyBounds
from lnnkit.prove.decision.question import Ground
from tests.blocks import in_blocks
from tests.programs import formula_text, to_text
from tests.prove.exact_comparison import drawn

pytest.importorskip("z3", reason="z3-solver is not installed")
ALL, PLAIN, BLOCK = 150, 1, 25
SAME = 1e-7


@pytest.mark.parametrize("logic", ["lukasiewicz", "godel", "product"])
@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_bounds_are_those_of_the_whole_translation(block: range, logic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[LazyBounds] = []

    def counted(*args: object) -> LazyBounds:
        made.append(LazyBounds(*args))  # type: ignore[arg-type]
        return made[-1]

    monkeypatch.setattr(graded_decision, "LazyBounds", counted)
    for seed in block:
        case = drawn(seed, logic)
        if case is None or (logic, seed) == ("product", 56):  # creeps
            continue
        text = to_text(case.program)
        kb = lnnkit.loads(text)
        for question in dict.fromkeys(map(formula_text, case.program.queries)):
            with monkeypatch.context() as patch:
                whole = kb.prove(question, reading="exact", timeout=2)
                patch.setattr(proving, "Ground", partial(Ground, eager=-1))
                found = kb.prove(question, reading="exact", timeout=2)
            if not (whole.settled and found.settled):
                continue
            context = f"seed {seed}, {logic}\n{text}\n{question}: {found}, not {whole}"
            assert found.verdict == whole.verdict, context
            assert whole.lower == pytest.approx(found.lower, abs=SAME), context
            assert whole.upper == pytest.approx(found.upper, abs=SAME), context
    assert made


def test_a_settled_completion_bounds_what_its_rules_read(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = lnnkit.loads(
        """
        logic product
        predicate D(entity) closed
        predicate P
        fact Known(anna)
        rule P -> D(X)
        axiom exists X: D(X) in [0, 0.9]
        axiom forall X: D(X) in [0.9, 1]
        """
    )
    monkeypatch.setattr(proving, "Ground", partial(Ground, eager=-1))
    found = kb.prove("P", reading="exact", timeout=20)
    assert (found.lower, found.upper) == pytest.approx((0.9, 0.9), abs=1e-6)


LEAK = """
predicate Tank(tank) closed
predicate C(tank, tank)
predicate V(tank)
{facts}
axiom Tank(X) -> V(X) | P(X) in [0.9, 1]
axiom V(X) -> L(X) in [0.8, 1]
axiom P(X) -> L(X) in [0.8, 1]
axiom forall X: forall Y: forall Z: C(X, Y) & C(Y, Z) -> C(X, Z)
axiom forall X: forall Y: L(X) & C(X, Y) -> L(Y) in [0.9, 1]
"""


@pytest.mark.slow
def test_a_large_closed_sort() -> None:
    """A tank leaks to 0.25 at least: where V and P are 0.45, as both rules leave 0.2 less. The 729,000 instances of the
    first quantifiers are more than are translated."""
    facts = "\n".join(f"fact Tank(t{n})\nfact V(t{n}) in [0.2, 0.6]" for n in range(90))
    proved = lnnkit.loads(LEAK.format(facts=facts)).prove("L(t7)", reading="exact")
    assert (proved.lower, proved.upper) == (0.25, 1.0)
    assert proved.settled
    assert proved.translated < 1000


@pytest.mark.slow
def test_the_proof_names_a_quantified_statement() -> None:
    text = LEAK.replace("axiom Tank(X) ->", "axiom forall X: Tank(X) ->")
    facts = "\n".join(f"fact Tank(t{n})\nfact V(t{n}) in [0.2, 0.6]" for n in range(90))
    explanation = lnnkit.loads(text.format(facts=facts)).explain("L(t7)", exact=True)
    assert (explanation.lower, explanation.warnings) == (0.25, ())
    assert "forall X: Tank(X) -> V(X) | P(X)" in str(explanation)
    assert explanation.verify() == []
    assert "#" not in str([step.bindings for step in explanation.proof.steps])


@pytest.mark.slow
def test_a_long_chain() -> None:
    """Each model shows one link more, so after some the whole chain is translated."""
    text = ["axiom A0 | B0", *(f"axiom {each}{n} -> {each}{n + 1}" for n in range(300) for each in "AB")]
    proved = lnnkit.loads("\n".join([*text, "axiom A300 | B300 -> Goal"])).prove("Goal", reading="exact", timeout=30)
    assert (proved.lower, proved.upper, proved.settled) == (1.0, 1.0, True)
