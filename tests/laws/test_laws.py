"""Every law, over generated programs of all kinds (see `laws` and `drawing`)."""

from __future__ import annotations

from collections import Counter
from itertools import count

import pytest

from tests.blocks import in_blocks
from tests.laws import laws
from tests.laws.drawing import drawn
from tests.laws.laws import LAWS
from tests.laws.reading import Reading
from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.programs import to_text

# The least share of programs of which a law says something, so that none says nothing for long.
SHARES = {"heads apart": 0.05, "logics alike": 0.05, "rule by rule": 0.1, "tightened": 0.25, "told later": 0.2}


@pytest.mark.parametrize("block", in_blocks(range(1200), 60, plain=1))
@pytest.mark.parametrize("law", LAWS)
def test_law(law: str, block: range) -> None:
    said = 0
    for seed in block:
        wrong = LAWS[law](drawn(seed))
        said += wrong is not None
        assert not wrong, f"{law}, seed {seed}:\n{to_text(drawn(seed))}\n" + "\n".join(wrong)
    assert said >= SHARES.get(law, 0.5) * len(block) or len(block) < 10


X, A_OR_B = ("var", "X"), ("or", ((1.0, ("atom", "A", ())), (1.0, ("atom", "B", ()))), 1.0, None)
EXISTS = ("exists", ("Y",), ("atom", "Q", (("var", "Y"),)))


@pytest.mark.parametrize("part", [A_OR_B, EXISTS], ids=["a disjunction", "a quantifier"])
def test_a_part_with_fewer_variables_than_the_formula_around_it(part: Formula) -> None:
    """P(a) makes the part true, and that makes P(b) true, whether another statement repeats the part or not."""
    unary = [Predicate(name, 1, ("entity",)) for name in "PQR"]
    facts = [Fact("P", ("a",), 1.0, 1.0), Fact("R", ("b",), 1.0, 1.0)]
    axiom = Statement("axiom", ("iff", (1.0, ("atom", "P", (X,))), (1.0, part), 1.0, None))
    program = Program([*unary, Predicate("A", 0, ()), Predicate("B", 0, ())], facts, [axiom], [("atom", "P", (X,))])
    assert LAWS["a head of its own"](program) == []


@pytest.mark.parametrize("law", [name for name in LAWS if name != "rule by rule"])
def test_a_law_that_is_broken_says_so(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reading is looser than the one before."""
    turn = count(1)

    def looser(_: Program) -> Reading:
        step = next(turn) / 100
        return Reading({(0, frozenset()): (0.4 - step, 0.6 + step)}, Counter(), "converged", 1)

    monkeypatch.setattr(laws, "read", looser)
    assert any(LAWS[law](drawn(seed)) for seed in range(60))
