"""Bounds by cases: sound in every logic, and as tight as the examples say."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.oracle.program import free_variables
from tests.planted import plant
from tests.planted import truth as planted_truth
from tests.programs import to_text

LOGICS = ("lukasiewicz", "godel", "product")
ATOMS = ("A", "B", "C", "D", "E")
TOLERANCE = 1e-9
Formula = tuple  # ("A",), ("~", f), ("&", f, g), ("|", f, g, ...), ("->", f, g), ("xor", f, g)


def both(logic: str) -> str:
    return f"logic {logic}\naxiom A | B\naxiom A -> C\naxiom B -> C\n"


def bounds(text: str, query: str, **how: object) -> tuple[float, float]:
    (answer,) = lnnkit.loads(text).ask(query, **how)  # type: ignore[arg-type]
    return answer.lower, answer.upper


# --- what follows in each reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("logic", "lower"), [("lukasiewicz", 0.5), ("godel", 1.0), ("product", 1.0)])
def test_both_sides_of_a_disjunction_lead_to_the_same(logic: str, lower: float) -> None:
    """In Lukasiewicz logic A = B = C = 0.5 is a world of the three axioms; in the others one of A and B is 1."""
    assert bounds(both(logic), "C") == (0.0, 1.0)
    assert bounds(both(logic), "C", cases=1) == (pytest.approx(lower, abs=TOLERANCE), 1.0)
    assert bounds(both(logic), "C", cases=1, classical=True) == (1.0, 1.0)


@pytest.mark.parametrize("logic", LOGICS)
def test_a_disjunction_of_more_than_a_half(logic: str) -> None:
    """Of A | B at least 0.6, one is at least 0.3 (the sum), 0.6 (the greater), 1 - 0.4^(1/2) (one less the product)."""
    text = f"logic {logic}\naxiom (A | B) in [0.6, 1]\naxiom A -> C\naxiom B -> C\n"
    expected = {"lukasiewicz": 0.3, "godel": 0.6, "product": 1 - 0.4**0.5}[logic]
    assert bounds(text, "C", cases=1)[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("logic", LOGICS)
def test_an_atom_and_its_negation(logic: str) -> None:
    text = f"logic {logic}\naxiom A -> C\naxiom ~A -> C\n"
    assert bounds(text, "C", cases=1)[0] == pytest.approx(0.5, abs=TOLERANCE)  # A = C = 0.5 is a world
    assert bounds(text, "C", cases=1, classical=True) == (1.0, 1.0)


def test_with_entities_and_free_variables() -> None:
    text = "axiom P(X) -> A(X) | B(X)\naxiom A(X) -> C(X)\naxiom B(X) -> C(X)\n"
    text += "fact P(anna)\nfact P(bob)\nfact Q(cleo)\n"
    found = lnnkit.loads(text + "query Q(X)\n").ask("C(X)", cases=1, classical=True)
    assert [(answer.bindings["X"], answer.state) for answer in found] == [("anna", "true"), ("bob", "true")]


def test_a_second_level_of_cases() -> None:
    text = "axiom A | B\naxiom A -> D | E\naxiom D -> C\naxiom E -> C\naxiom B -> C\n"
    assert bounds(text, "C", cases=2, classical=True) == (1.0, 1.0)


def test_a_number_that_is_one_of_three() -> None:
    text = "number x(entity)\nfact x(a) in [1, 3]\naxiom x(a) = 1 | x(a) = 2 | x(a) = 3\naxiom x(a) > 1\n"
    text += "axiom x(a) = 2 -> Even(a)\naxiom x(a) = 3 -> Even(a)\nfact Known(a)\n"
    assert bounds(text, 'Even("a")') == (0.0, 1.0)
    assert bounds(text, 'Even("a")', cases=1) == (1.0, 1.0)  # a comparison has no truth between


def test_a_case_that_is_left_alone_is_not_split_again() -> None:
    """`x(a) > 1` holds, so the other case is none; it was split again and again until nothing was left to spend."""
    text = "number x(entity)\nfact x(a) in [1, 3]\naxiom x(a) = 1 | x(a) = 2 | x(a) = 3\naxiom x(a) > 1\nfact P(a)\n"
    found = lnnkit.loads(text).ask("x(a)", cases=1)
    assert [(answer.lower, answer.upper) for answer in found] == [(2.0, 3.0)]
    assert found.warnings == ()


def test_a_program_without_a_world_is_reported() -> None:
    text = "axiom A | B\naxiom A -> C\naxiom B -> C\naxiom A -> D\naxiom B -> D\naxiom C & D -> false\n"
    found = lnnkit.loads(text).ask("A", cases=1, classical=True)
    assert [warning.code for warning in found.warnings] == ["no-case-left"]
    assert "no case" in str(lnnkit.loads(text).explain("A", cases=1, classical=True).warnings)


def test_where_the_program_contradicts_itself_no_case_is_dropped() -> None:
    text = "fact X\nfact ~X\n" + both("godel") + "axiom X -> A\n"
    kb = lnnkit.loads(text)
    (answer,) = kb.ask("C", cases=1)
    assert answer.lower >= next(iter(kb.ask("C"))).lower


def test_closed_predicates_are_not_assumed() -> None:
    text = "predicate P(entity) closed\nfact P(a)\naxiom P(X) -> Q(X)\naxiom ~P(X) -> Q(X)\nfact R(b)\nfact R(a)\n"
    assert bounds(text, "Q(b)", cases=1) == bounds(text, "Q(b)") == (1.0, 1.0)


def test_arguments_that_make_no_sense() -> None:
    kb = lnnkit.loads(both("godel"))
    with pytest.raises(ValueError, match="whole number"):
        kb.ask("C", cases=-1)
    with pytest.raises(ValueError, match="classical needs cases"):
        kb.ask("C", classical=True)
    with pytest.raises(lnnkit.ProgramError, match="free-variable"):
        lnnkit.loads("fact P(a)\n").explain("P(X)", cases=1)


# --- explanations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("logic", LOGICS)
def test_the_cases_are_shown_and_proofs_verified(logic: str) -> None:
    explanation = lnnkit.loads(both(logic)).explain("C", cases=1)
    assert explanation.verify() == []
    text = str(explanation)
    assert "cases of A | B >= 1" in text and "axiom A -> C" in text and "axiom B -> C" in text
    split = explanation.as_dict()["splits"][0]  # type: ignore[index]
    assert len(split["cases"]) == 2 and split["ground"]["atom"] == "A | B"


def test_a_case_that_is_none_shows_its_conflict() -> None:
    text = both("godel") + "axiom ~A\n"
    explanation = lnnkit.loads(text.replace("axiom ~A\n", "axiom B -> ~D\naxiom A -> D & ~D\n")).explain("C", cases=1)
    assert explanation.lower == 1.0
    assert explanation.verify() == []


def test_a_case_is_proved_from_what_it_assumes() -> None:
    """Of C at least 0.85 propagation shows 0.7: the proof of that case is the assumption."""
    explanation = lnnkit.loads("axiom (A@0.5 | B){bias: 1.2}\naxiom A -> C\naxiom B -> C\n").explain("C", cases=1)
    assert explanation.lower == pytest.approx(0.775)  # A = B = C = 0.8 is a world
    assert explanation.verify() == []


def test_bounds_that_say_too_much_are_found() -> None:
    from dataclasses import replace

    explanation = lnnkit.loads(both("lukasiewicz")).explain("C", cases=1)
    wrong = replace(explanation, root=replace(explanation.root, lower=0.9))
    assert any("tighter than the cases allow" in fault for fault in wrong.verify())


# --- planted worlds ---------------------------------------------------------------------------------------------------


def truth(formula: Formula, logic: str, world: Mapping[str, float]) -> float:
    """The truth of a formula without weights, as P2 of the design states it."""
    kind, *rest = formula
    if not rest:
        return world[kind]
    x = [truth(each, logic, world) for each in rest]
    match kind:
        case "~":
            return 1 - x[0]
        case "&":
            if logic == "lukasiewicz":
                return max(0.0, sum(x) - (len(x) - 1))
            return min(x) if logic == "godel" else _product(x)
        case "|":
            if logic == "lukasiewicz":
                return min(1.0, sum(x))
            return max(x) if logic == "godel" else 1 - _product([1 - each for each in x])
        case "->":
            if logic == "lukasiewicz":
                return min(1.0, 1 - x[0] + x[1])
            return 1.0 if x[0] <= x[1] else x[1] if logic == "godel" else x[1] / x[0]
    there, back = (truth(("->", *pair), logic, world) for pair in (rest, rest[::-1]))
    return 1 - min(there, back)


def _product(x: Sequence[float]) -> float:
    found = 1.0
    for each in x:
        found *= each
    return found


def text_of(formula: Formula) -> str:
    kind, *rest = formula
    if not rest:
        return kind
    if kind == "~":
        return f"~({text_of(rest[0])})"
    return "(" + f" {kind} ".join(map(text_of, rest)) + ")"


def drawn(rng: random.Random) -> Formula:
    def literal() -> Formula:
        atom = (rng.choice(ATOMS),)
        return ("~", atom) if rng.random() < 0.3 else atom

    kind = rng.choice(["or", "or", "rule", "rule", "rule", "wide", "spread", "xor"])
    match kind:
        case "or":
            return ("|", *[literal() for _ in range(rng.choice([2, 2, 3]))])
        case "rule":
            return ("->", literal(), literal())
        case "wide":
            return ("->", ("&", literal(), literal()), literal())
        case "spread":
            return ("->", literal(), ("|", literal(), literal()))
    return ("xor", literal(), literal())


def planted(seed: int, values: Sequence[float]) -> tuple[str, list[Formula], list[float], dict[str, float], str]:
    """A program that holds in a world: its logic, statements with the lower truth of each, the world, and its text."""
    rng = random.Random(f"cases {seed}")
    logic = LOGICS[seed % 3]
    world = {atom: rng.choice(values) for atom in ATOMS}
    formulas: list[Formula] = []
    lowers: list[float] = []
    while len(formulas) < 6:
        formula = drawn(rng)
        lower = truth(formula, logic, world)
        if lower > 0.2:
            formulas.append(formula)
            lowers.append(1.0 if lower == 1.0 else lower - 1e-12)
    lines = [
        f"axiom {text_of(formula)}" + ("" if lower == 1.0 else f" in [{lower!r}, 1]")
        for formula, lower in zip(formulas, lowers, strict=True)
    ]
    return logic, formulas, lowers, world, "\n".join([f"logic {logic}", *lines]) + "\n"


def names(formulas: Sequence[Formula]) -> list[str]:
    return [atom for atom in ATOMS if any(atom in text_of(formula) for formula in formulas)]


def faults_of(seed: int, depth: int, most: int = len(ATOMS)) -> tuple[list[str], int]:
    """The answers that exclude a planted world of any truths, and how many are tighter than without cases."""
    _, formulas, _, world, text = planted(seed, (0.0, 0.25, 0.5, 0.75, 1.0))
    kb = lnnkit.loads(text)
    found, tighter = [], 0
    for atom in names(formulas)[:most]:
        (plain,), (answer,) = kb.ask(atom), kb.ask(atom, cases=depth)
        if not answer.lower - TOLERANCE <= world[atom] <= answer.upper + TOLERANCE:
            found.append(f"{seed} {atom} in {answer.lower, answer.upper} excludes {world[atom]}\n{text}")
        if answer.lower < plain.lower - TOLERANCE or answer.upper > plain.upper + TOLERANCE:
            found.append(f"{seed} {atom} is looser than without cases\n{text}")
        tighter += answer.upper - answer.lower < plain.upper - plain.lower - TOLERANCE
    return found, tighter


def crisp_faults(seed: int, depth: int) -> tuple[list[str], int, int]:
    """The answers of the classical reading that a crisp world excludes; how many atoms are entailed, and settled."""
    logic, formulas, lowers, _, text = planted(seed, (0.0, 1.0))
    worlds = list(crisp_worlds(logic, formulas, lowers))
    kb = lnnkit.loads(text)
    found, entailed, settled = [], 0, 0
    for atom in names(formulas):
        (answer,) = kb.ask(atom, cases=depth, classical=True)
        values = {world[atom] for world in worlds}
        entailed += len(values) == 1
        settled += answer.lower == answer.upper
        excluded = [value for value in values if not answer.lower <= value <= answer.upper]
        found += [f"{seed} {atom} in {answer.lower, answer.upper} excludes {value}\n{text}" for value in excluded]
    return found, entailed, settled


def crisp_worlds(logic: str, formulas: Sequence[Formula], lowers: Sequence[float]) -> Iterator[dict[str, float]]:
    for row in itertools.product((0.0, 1.0), repeat=len(ATOMS)):
        world: dict[str, float] = dict(zip(ATOMS, row, strict=True))
        if all(truth(f, logic, world) >= lower for f, lower in zip(formulas, lowers, strict=True)):
            yield world


@pytest.mark.parametrize("block", in_blocks(range(3), 3, plain=1))
def test_some_planted_worlds(block: range) -> None:
    found = [faults_of(seed, 1, most=1) for seed in block]
    assert [each for faults, _ in found for each in faults] == []


@pytest.mark.parametrize("block", in_blocks(range(3), 3, plain=1))
def test_some_crisp_worlds(block: range) -> None:
    found = [crisp_faults(seed, 1) for seed in block]
    assert [each for faults, _, _ in found for each in faults] == []


@pytest.mark.slow
def test_many_planted_worlds() -> None:
    found = [faults_of(seed, 1 + seed % 2) for seed in range(100, 105)]
    assert [each for faults, _ in found for each in faults] == []
    assert sum(tighter for _, tighter in found) >= 2


@pytest.mark.slow
def test_many_crisp_worlds() -> None:
    """Five atoms are few: two levels of cases settle all that is entailed."""
    found = [crisp_faults(seed, 2) for seed in range(100, 105)]
    assert [each for faults, _, _ in found for each in faults] == []
    assert sum(settled for _, _, settled in found) == sum(entailed for _, entailed, _ in found) > 3


@pytest.mark.slow
def test_planted_worlds_of_extreme_values() -> None:
    for seed in range(300, 302):
        case = plant(seed)
        for query, answers in zip(
            case.program.queries, lnnkit.loads(to_text(case.program)).answers(cases=1), strict=True
        ):
            for answer in answers:
                env = {variable: answer.bindings[variable] for variable in free_variables(query)}
                value = float(planted_truth(query, case.program.logic, case.world, case.entities, env).value)
                assert answer.lower - TOLERANCE <= value <= answer.upper + TOLERANCE, (seed, answers.query)
