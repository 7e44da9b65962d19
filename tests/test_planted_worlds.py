"""No answer may exclude the world that a program was planted in, and a satisfiable program contradicts nothing."""

from __future__ import annotations

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.planted import exclusions, plant
from tests.programs import to_text

PLAIN, ALL, BLOCK = 3, 1000, 40


@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_planted_worlds(block: range) -> None:
    for seed in block:
        case = plant(seed)
        found = exclusions(case)
        assert not found, f"seed {seed}:\n{to_text(case.program)}\n" + "\n".join(found)


# --- what was once wrong, shrunken ------------------------------------------------------------------------------------


def bounds(text: str, query: str) -> tuple[float, float]:
    kb = lnnkit.loads(text)
    assert not kb.infer().contradictions
    (answer,) = [*kb.ask(query)] or [None]
    return (0.0, 1.0) if answer is None else (answer.lower, answer.upper)


def sources(count: int, truth: str) -> str:
    return "".join(f"fact S{i} {truth}\n" for i in range(count))


def any_of(count: int) -> str:
    return " | ".join(f"S{i}" for i in range(count))


def test_a_disjunction_of_near_truths_does_not_bound_its_last_operand() -> None:
    """The product of the complements is 1e-17: one less it is 1 as a float, which no operand makes it."""
    text = f"logic product\n{sources(5, 'in [0.9995, 0.9999]')}fact S5 in [0.2, 1]\n"
    text += f"rule Known -> ({any_of(6)}) in [0.9, 1]\nfact Known\n"
    assert bounds(text, "S5") == (0.2, 1.0)
    assert 1 - 1e-9 <= bounds(text, any_of(5))[0] < 1


def test_a_disjunction_with_a_great_weight() -> None:
    text = "logic product\nfact A in [0.9, 1]\naxiom (A@20 | B) in [0.5, 1]\n"
    assert bounds(text, "A") == (0.9, 1.0) and bounds(text, "B") == (0.0, 1.0)
    text += "fact B in [0, 0.3]\n"
    assert bounds(text, "A") == (0.9, 1.0) and bounds(text, "B") == (0.0, 0.3)


def test_thirteen_sources() -> None:
    text = f"logic product\n{sources(13, '= 0.95')}fact S13 in [0.2, 1]\nfact Known\n"
    assert bounds(text + f"rule Known -> ({any_of(14)}) in [0.9, 1]\n", "S13") == (0.2, 1.0)
    assert bounds(text + f"axiom ({any_of(14)}) in [0.9, 1]\n", "S13") == (0.2, 1.0)


def test_stated_bounds_still_reach_an_operand() -> None:
    """The complements of the sources leave 0.0025: one less it is less than is stated, and S2 makes up for it."""
    text = f"logic product\n{sources(2, '= 0.95')}fact S2 in [0.2, 1]\naxiom ({any_of(3)}) in [0.999, 1]\n"
    assert bounds(text, "S2") == (pytest.approx(0.6, abs=1e-9), 1.0)
    crisp = f"logic product\n{sources(2, '= 0.95')}axiom {any_of(3)}\n"
    assert bounds(crisp, "S2") == (1.0, 1.0)  # only an operand that is 1 makes it 1


def test_a_goedel_implication_at_a_tie() -> None:
    """``A`` of 0.75 leaves 0.25, which is the level that ``~B`` needs: there it may just fall."""
    text = "fact A in [0.25, 0.75]\naxiom (A -> ~B){bias: 0.5, logic: godel} in [0.75, 0.75]\n"
    assert bounds(text, "A") == (pytest.approx(0.75, abs=1e-9), 0.75)
    assert bounds(text, "B") == (pytest.approx(0.75, abs=1e-9), pytest.approx(0.75, abs=1e-9))


def test_a_rounded_sum_makes_no_product_zero() -> None:
    """The conjunction is 2e-18. Added to 0.2 that is lost, and the rule leaves 0 for it: but 0 would say that Q is
    false, which 2e-18 does not."""
    text = "fact P = 3e-9\nfact R = 3e-9\nfact Q in [0.2, 0.9]\nfact Known\n"
    text += "rule (Known -> (P & Q & R){logic: product}){bias: 0.8} in [0.19999999999999996, 0.19999999999999996]\n"
    assert bounds(text, "Q") == (0.2, 0.9)


def test_a_rounded_quotient_makes_no_disjunction_true() -> None:
    """0.21 by 0.7 by 0.3 is 1, or next to it: of a disjunction that is 1 an operand would have to be."""
    text = "logic product\nfact P = 0.7\nfact R = 0.3\nfact Q in [3e-9, 0.0001]\n"
    lower, upper = bounds(text + "axiom ((Q | ~Q | ~Q | Q) & P & R) in [0.21, 1]\n", "Q")
    assert lower == 3e-9 and 1e-8 < upper <= 0.0001


def test_a_contradiction_beyond_the_tolerance_is_reported() -> None:
    text = "fact A in [0.25, 0.749]\naxiom (A -> ~B){bias: 0.5, logic: godel} in [0.75, 0.75]\n"
    assert lnnkit.loads(text).infer().contradictions


@pytest.mark.parametrize(
    ("formula", "lower"),
    [("A -> B", 0.3), ("B -> A", 0.3), ("A <-> B", 0.3), ("A -> C", 1.0), ("C -> A", 0.3), ("A <-> C", 0.3)],
)
def test_a_tie_holds_both_sides(formula: str, lower: float) -> None:
    text = "logic godel\nfact A = 0.3\nfact B = 0.3\nfact C = 0.300001\n"
    assert bounds(text, formula) == (lower, 0.3 if lower < 1 and "C" in formula else 1.0)


@pytest.mark.parametrize("logic", ["lukasiewicz", "product", "godel"])
@pytest.mark.parametrize(
    ("formula", "truth"),
    [
        ("F -> F", 1), ("T -> T", 1), ("F -> T", 1), ("T -> F", 0), ("F <-> F", 1), ("T <-> T", 1), ("F xor F", 0),
        ("(T@0.3 & T@0.3)", 1), ("(T@0.3 & T@0.3) -> T", 1), ("(F | F@0.3) -> F", 1), ("(T & F) -> F", 1),
        ("~(T | F) -> F", 1), ("((T & F){logic: lukasiewicz} -> F)", 1), ("((T & F){logic: product} -> F)", 1),
    ],
)  # fmt: skip
def test_crisp_truths_stay_crisp(logic: str, formula: str, truth: int) -> None:
    assert bounds(f"logic {logic}\nfact T\nfact ~F\n", formula) == (truth, truth)


def test_rounding_makes_no_antecedent_false() -> None:
    """0.1 and 0.9 are a little more than 1 as floats: their Lukasiewicz conjunction is 3e-17, and Goedel's implication
    from that to 0 is 0."""
    text = "logic godel\nfact A = 0.1\nfact B = 0.9\nfact ~C\n"
    assert bounds(text, "(A & B){logic: lukasiewicz} -> C") == (0.0, 1.0)
    text = f"logic product\n{sources(5, 'in [0.9995, 0.9999]')}fact ~C\n"
    assert bounds(text, f"~({any_of(5)}) -> C")[0] == 0.0
