"""A logic that lnnkit does not have works by its own file: inference, explanations, proofs, training.

`nilpotent` is that file. The oracle here is slow and knows no lnnkit: it tries every world with truths in tenths.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np
import pytest

import lnnkit
import lnnkit.logic
from lnnkit.analysis.families import ALWAYS
from lnnkit.analysis.supports import Analysis
from lnnkit.formula.unfolding import LEAF, Block, Formula, Neuron
from lnnkit.logic import Bounds, truth_at
from lnnkit.logic.logic import Numbers
from lnnkit.syntax import ast
from tests.blocks import at_length
from tests.logic.nilpotent import NilpotentMinimum

LOGIC = NilpotentMinimum()
KINDS = ("and", "or", "implies", "iff", "xor")
TENTHS = tuple(Fraction(n, 10) for n in range(11))
EPS = 1e-9
NUDGE = Fraction(1, 10**6)


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """The two tables that name logics, with one more while a test runs."""
    monkeypatch.setattr(ast, "LOGICS", (*ast.LOGICS, LOGIC.name))
    monkeypatch.setattr(lnnkit.logic, "LOGICS", (*lnnkit.logic.LOGICS, LOGIC))


def test_both_tables_have_the_same_logics() -> None:
    assert tuple(logic.name for logic in lnnkit.logic.LOGICS) == ast.LOGICS


# --- the oracle -------------------------------------------------------------------------------------------------------


def connective(kind: str, x: Sequence[Fraction]) -> Fraction:
    match kind:
        case "not":
            return 1 - x[0]
        case "and":
            least = sorted(x)[:2]  # every pair must exceed 1 together
            return min(x) if len(least) < 2 or sum(least) > 1 else Fraction(0)
        case "or":
            return 1 - connective("and", [1 - each for each in x])
        case "implies":
            return Fraction(1) if x[0] <= x[1] else max(1 - x[0], x[1])
        case "iff":
            return min(connective("implies", x), connective("implies", x[::-1]))
    return 1 - connective("iff", x)


Tree = str | tuple[str, tuple["Tree", ...]]  # an atom, or a connective and its operands
Stated = tuple[Tree, Fraction, Fraction]
SIGNS = {"and": " & ", "or": " | ", "implies": " -> ", "iff": " <-> ", "xor": " xor "}


def truth(tree: Tree, world: Mapping[str, Fraction]) -> Fraction:
    if isinstance(tree, str):
        return world[tree]
    return connective(tree[0], [truth(part, world) for part in tree[1]])


def text(tree: Tree) -> str:
    if isinstance(tree, str):
        return tree
    kind, parts = tree
    return f"~{text(parts[0])}" if kind == "not" else f"({SIGNS[kind].join(map(text, parts))})"


def worlds(atoms: Sequence[str], stated: Sequence[Stated]) -> Iterator[dict[str, Fraction]]:
    for truths in itertools.product(TENTHS, repeat=len(atoms)):
        world = dict(zip(atoms, truths, strict=True))
        if all(low <= truth(tree, world) <= high for tree, low, high in stated):
            yield world


def program(stated: Sequence[Stated]) -> str:
    lines = [f"axiom {text(tree)} in [{float(low)}, {float(high)}]" for tree, low, high in stated]
    return "\n".join([f"logic {LOGIC.name}", *lines, ""])


def drawn(seed: int) -> tuple[list[str], list[Stated]]:
    """Four statements about four atoms that a world fulfils."""
    rng = random.Random(f"nilpotent {seed}")
    atoms = ["P", "Q", "R", "S"]
    hidden = {atom: rng.choice(TENTHS) for atom in atoms}

    def tree(depth: int) -> Tree:
        if not depth or rng.random() < 0.3:
            atom = rng.choice(atoms)
            return ("not", (atom,)) if rng.random() < 0.3 else atom
        kind = rng.choice(KINDS)
        count = rng.choice((2, 2, 3)) if kind in ("and", "or") else 2
        return kind, tuple(tree(depth - 1) for _ in range(count))

    stated: list[Stated] = []
    for depth in (2, 2, 1, 0):
        made = tree(depth)
        value = truth(made, hidden)
        low, high = rng.choice([(value, Fraction(1)), (Fraction(0), value), (value, value)])
        stated.append((made, low, high))
    return atoms, stated


def bounds(lower: float | Fraction, upper: float | Fraction) -> Bounds:
    return Bounds(np.array([float(lower)]), np.array([float(upper)]))


# --- the file itself --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_exact(kind: str) -> None:
    for x in itertools.product(TENTHS, repeat=3 if kind in ("and", "or") else 2):
        assert truth_at(LOGIC, Numbers(), kind, [1] * len(x), 1, list(x)) == connective(kind, x)


def near(kind: str, point: Sequence[Fraction]) -> list[Fraction]:
    """The truths around a point: beside a jump, both."""
    moves = itertools.product((-NUDGE, 0, NUDGE), repeat=len(point))
    moved = ([min(max(x + by, Fraction(0)), Fraction(1)) for x, by in zip(point, move, strict=True)] for move in moves)
    return [connective(kind, each) for each in moved]


@pytest.mark.parametrize("kind", KINDS[:4])
def test_kernels_enclose_what_points_give(kind: str) -> None:
    """Of boxes with ends in tenths, all that points of a finer grid show, and no more than a step of it around them."""
    rng = np.random.default_rng(5)
    finer, step = [Fraction(n, 20) for n in range(21)], 0.05 + EPS
    for _ in range(10):
        ends = np.sort(rng.integers(0, 11, (3, 2)), axis=1)
        *sides, (low, high) = [(Fraction(int(one), 10), Fraction(int(other), 10)) for one, other in ends]
        points = list(itertools.product(*([x for x in finer if lower <= x <= upper] for lower, upper in sides)))
        boxes = [bounds(lower, upper) for lower, upper in sides]
        truths = [connective(kind, point) for point in points]
        image = LOGIC.up(kind, boxes, (1.0, 1.0), 1.0)
        assert image.lower[0] <= min(truths) + EPS and image.upper[0] >= max(truths) - EPS
        found = LOGIC.down(kind, bounds(low, high), boxes, (1.0, 1.0), 1.0)
        left = [point for point, value in zip(points, truths, strict=True) if low <= value <= high]
        around = [p for p in points if any(low - NUDGE <= value <= high + NUDGE for value in near(kind, p))]
        assert not (left and found.empty[0])
        for place, box in enumerate(found.operands if left else ()):
            values, most = [point[place] for point in left], [point[place] for point in around]
            assert box.lower[0] <= min(values) + EPS and box.upper[0] >= max(values) - EPS
            if kind != "iff":
                assert box.lower[0] >= min(most) - step and box.upper[0] <= max(most) + step


def test_analysis_reckons_with_both_ends_of_a_conjunction_that_jumps() -> None:
    """``x & y & z`` of at least 0.5, 0.6 and 0.2 can be 0, and can be 0.5: neither end of [0.1, 0.3] excludes a value
    of ``x``. Both together do: ``z`` is the truth, 0.3 at most, and ``x`` exceeds 1 - 0.3."""
    defaults = {"A": (0.5, 1.0), "B": (0.6, 1.0), "C": (0.2, 1.0)}
    leaves = [Neuron(LEAF, (), 0, name, (0,)) for name in defaults]
    node = Neuron("and", (0, 1, 2), 0, "", (), (1.0,) * 3, 1.0, LOGIC)
    formula = Formula((*leaves, node), (Block(-1, (0,), ()),), ("thing",), 0.1, 0.3)
    found = Analysis(formula, defaults, {}, {}, {})
    (box, *_), empty = LOGIC.down(
        "and", bounds(0.1, 0.3), [bounds(*box) for box in defaults.values()], node.weights, node.bias
    )
    assert (box.lower[0], empty[0]) == (pytest.approx(0.7), False)
    assert ((0, "lower"), ALWAYS) in [((send.leaf, send.side), send.supports) for send in found.sends]


# --- a program in it --------------------------------------------------------------------------------------------------

RULES = """
logic nilpotent
fact Fever(anna) = 0.8
fact Cough(anna) = 0.7
fact Fever(bob) = 0.4
fact Cough(bob) = 0.5
fact Contact(anna, cleo)
rule flu: Fever(X) & Cough(X) -> Flu(X)
rule spread: Flu(X) & Contact(X, Y) -> Flu(Y) in [0.9, 1]
rule weak: Flu(X) -> Sick(X) in [0.2, 1]
query Flu(X)
query Sick(X)
"""


@pytest.mark.usefixtures("added")
def test_rules_chain() -> None:
    """By hand: 0.8 and 0.7 exceed 1 together, 0.4 and 0.5 do not; 0.9 and 0.7 give 0.7; 0.2 and 0.7 nothing."""
    kb = lnnkit.loads(RULES)
    flu = {each.bindings["X"]: each.lower for each in kb.ask("Flu(X)")}
    assert flu == pytest.approx({"anna": 0.7, "cleo": 0.7})
    assert kb.ask("Flu(bob)")[0].lower == kb.ask("Sick(anna)")[0].lower == 0.0


@pytest.mark.usefixtures("added")
def test_an_explanation_verifies() -> None:
    explanation = lnnkit.loads(RULES).explain("Flu(cleo)")
    assert "0.7" in str(explanation)
    assert explanation.verify() == []


@pytest.mark.usefixtures("added")
def test_rows_of_a_conjunction_that_jumps_are_all_found() -> None:
    """``x & y`` in [0.1, 0.3] with ``x`` of at least 0.4: either ``y`` is the truth and ``x >= 1 - y``, so 0.7; what is
    stated of both ends together excludes 0.4 to 0.7, though neither end alone does."""
    facts = "fact A(n1) in [0.4, 1]\nfact A(n2) in [0, 0.2]\nfact A(n3)\n"
    kb = lnnkit.loads(f"logic nilpotent\n{facts}axiom A(X) & B(X) in [0.1, 0.3]\nquery A(X)\nquery B(X)\n")
    a, b = ({each.bindings["X"]: (each.lower, each.upper) for each in kb.ask(f"{name}(X)")} for name in "AB")
    assert a == {"n1": pytest.approx((0.7, 1.0)), "n2": pytest.approx((0.1, 0.2)), "n3": (1.0, 1.0)}
    assert b == {"n1": pytest.approx((0.1, 0.3)), "n2": pytest.approx((0.8, 1.0)), "n3": pytest.approx((0.1, 0.3))}


@pytest.mark.usefixtures("added")
@pytest.mark.parametrize("seed", at_length(range(40), plain=2))
def test_inference_and_proofs_hold_in_all_worlds(seed: int) -> None:
    atoms, stated = drawn(seed)
    kb = lnnkit.loads(program(stated))
    known = list(worlds(atoms, stated))
    assert known
    for atom in sorted({atom for atom in atoms if any(atom in text(tree) for tree, _, _ in stated)}):
        least, most = min(world[atom] for world in known), max(world[atom] for world in known)
        (answer,) = kb.ask(atom)
        proved = kb.prove(atom, reading="exact")
        assert proved.settled and proved.lower is not None and proved.upper is not None
        assert answer.lower <= proved.lower + EPS and proved.upper <= answer.upper + EPS
        assert proved.lower <= least + EPS and most <= proved.upper + EPS
        assert kb.explain(atom).verify() == []


@pytest.mark.usefixtures("added")
def test_exact_bounds_are_those_of_this_logic() -> None:
    """Either atom is at least 0.6, so both conclusions follow: ``x | y`` of 0.6 is false below 1 - 0.6."""
    kb = lnnkit.loads("logic nilpotent\naxiom A | B in [0.6, 1]\naxiom A -> C\naxiom B -> C\nquery C\n")
    proved = kb.prove("C")
    least = min(world["C"] for world in worlds("ABC", [(("or", ("A", "B")), Fraction(6, 10), Fraction(1)), *_into_c()]))
    assert (proved.lower, proved.upper) == (pytest.approx(0.5), 1.0)
    assert least == Fraction(5, 10)  # A and B of 0.5: together they do not stay below 1


def _into_c() -> list[Stated]:
    return [(("implies", (atom, "C")), Fraction(1), Fraction(1)) for atom in "AB"]


@pytest.mark.usefixtures("added")
def test_the_checker_does_not_verify_truth_functions_that_it_does_not_know() -> None:
    kb = lnnkit.loads("logic nilpotent\naxiom A | B in [0.6, 1]\naxiom A -> C\naxiom B -> C\nquery C\n")
    (warning,) = kb.explain("C", exact=True).warnings
    assert warning.code == "no-proof"


@pytest.mark.usefixtures("added")
def test_no_neuron_is_known_to_be_classical() -> None:
    kb = lnnkit.loads("logic nilpotent\nfact A(a)\nfact B(a)\nrule r: A(X) & B(X) -> C(X)\n")
    assert [each.classical for each in kb.classical()] == [False, False]


@pytest.mark.usefixtures("added")
def test_gradients_pass_through_it() -> None:
    """0.9 and 0.8 make 0.8, which with the rule's truth makes the lesser of the two: 0.65 at first."""
    facts = "fact A(a) = 0.9\nfact B(a) = 0.8\nlabel C(a) in [0.75, 1]\n"
    kb = lnnkit.loads(f"logic nilpotent\n{facts}rule A(X) & B(X) -> C(X) in [?t=0.65, 1]\n")
    found = kb.fit(epochs=40, validation=0.0)
    assert found.values["t"] >= 0.75 and found.loss < found.history[0].loss
