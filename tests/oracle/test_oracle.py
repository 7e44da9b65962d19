"""The oracle against hand-computed examples, dense sampling, and hidden worlds that it must not exclude."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import given, settings

from tests.blocks import at_length
from tests.oracle import Fact, Formula, Predicate, Program, ProgramError, Result, Statement, robust, run
from tests.oracle.network import Network
from tests.oracle.neurons import Empty, downward, upward
from tests.oracle.program import Box, bind_apart, free_variables
from tests.programs import LOGICS, MODES, Generated, Truth, generate, programs, to_text, value_of, values_of

EVERYONE = ("anna", "bob")


# --- writing programs down --------------------------------------------------------------------------------------------


def atom(name: str, *arguments: str) -> Formula:
    return "atom", name, tuple(("var" if a[0].isupper() else "const", a) for a in arguments)


def both(*parts: Formula, logic: str | None = None) -> Formula:
    return "and", tuple((1.0, part) for part in parts), 1.0, logic


def either(*parts: Formula, logic: str | None = None) -> Formula:
    return "or", tuple((1.0, part) for part in parts), 1.0, logic


def implies(x: Formula, y: Formula, logic: str | None = None) -> Formula:
    return "implies", (1.0, x), (1.0, y), 1.0, logic


def negate(part: Formula) -> Formula:
    return "not", part


def forall(name: str, part: Formula) -> Formula:
    return "forall", (name,), part


def exists(name: str, part: Formula) -> Formula:
    return "exists", (name,), part


P, Q, R, S = (atom(name, "X") for name in ("P", "Q", "R", "S"))


def _statement(given: Formula | tuple[Formula, float, float]) -> Statement:
    if isinstance(given[0], tuple):
        formula, lower, upper = given
        return Statement("rule", formula, lower, upper)  # pyright: ignore[reportArgumentType] - formulas are tuples too
    return Statement("rule", given, 1.0, 1.0)


def program(
    statements: list[Formula | tuple[Formula, float, float]],
    facts: Sequence[tuple[str, str, float, float]],
    queries: list[Formula] | None = None,
    logic: str = "lukasiewicz",
    closed: str = "",
    is_open: bool = False,
) -> Program:
    """Unary predicates P, Q, R, S over persons; everyone is known by a fact of K."""
    return Program(
        [Predicate(name, 1, ("person",), name in closed) for name in "PQRSK"],
        [Fact("K", (who,), 1.0, 1.0) for who in EVERYONE] + [Fact(p, (who,), lo, up) for p, who, lo, up in facts],
        [_statement(s) for s in statements],
        queries or [],
        {"person": is_open},
        logic,
    )


def of(result: Result, name: str, who: str) -> Box:
    return result.atoms[name, (who,)]


def close(box: Box, lower: float, upper: float) -> bool:
    return math.isclose(box[0], lower, abs_tol=1e-9) and math.isclose(box[1], upper, abs_tol=1e-9)


# --- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("logic", "forward", "backward"),
    [
        # P = .8, P -> Q at least .9.           Q = .3, P -> Q at least .9.
        ("lukasiewicz", 0.7, 0.4),  # 1 - .8 + y >= .9               1 - x + .3 >= .9
        ("product", 0.72, 1 / 3),  # y / .8 >= .9                    .3 / x >= .9
        ("godel", 0.8, 0.3),  # y >= .8 gives 1                      .3 < .9, so x <= .3
    ],
)
def test_modus_ponens_and_contrapositive(logic: str, forward: float, backward: float) -> None:
    result = run(program([(implies(P, Q), 0.9, 1.0)], [("P", "anna", 0.8, 0.8), ("Q", "bob", 0.3, 0.3)], logic=logic))
    assert close(of(result, "Q", "anna"), forward, 1.0)
    assert close(of(result, "P", "bob"), 0.0, backward)
    assert result.status == "converged"


def test_weighted_and_downward() -> None:
    # 1 - .5 (1 - p) - (1 - q) >= .9: with q = 1, 1 - p <= .2; with p = 1, q >= .9
    formula = ("and", ((0.5, P), (1.0, Q)), 1.0, None)
    result = run(program([(formula, 0.9, 1.0)], []))
    assert close(of(result, "P", "anna"), 0.8, 1.0)
    assert close(of(result, "Q", "anna"), 0.9, 1.0)


@pytest.mark.parametrize(
    ("logic", "lower"),
    [
        ("lukasiewicz", 0.25),  # 2 p + .4 >= .9
        ("product", 1 - math.sqrt(0.1 / 0.6)),  # 1 - (1 - p)^2 .6 >= .9
        ("godel", 0.45),  # max(2 p, .4) >= .9
    ],
)
def test_weighted_or_downward(logic: str, lower: float) -> None:
    formula = ("or", ((2.0, P), (1.0, Q)), 1.0, logic)
    result = run(program([(formula, 0.9, 1.0)], [("Q", "anna", 0.4, 0.4)]))
    assert close(of(result, "P", "anna"), lower, 1.0)


def test_bias_shifts_the_threshold() -> None:
    # clamp(1.2 - (1 - p) - (1 - q)) with p = q = .8 is .8; (p -> q){bias: 1.2} true needs -.2 + 1 - .3 + q >= 1
    facts = [("P", "anna", 0.8, 0.8), ("Q", "anna", 0.8, 0.8), ("P", "bob", 0.3, 0.3)]
    formula = ("and", ((1.0, P), (1.0, Q)), 1.2, None)
    result = run(program([("implies", (1.0, P), (1.0, R), 1.2, None)], facts, [formula]))
    assert close((result.answers[0]["anna",].lower, result.answers[0]["anna",].upper), 0.8, 0.8)
    assert close(of(result, "R", "bob"), 0.5, 1.0)


def test_a_shared_subformula_carries_what_its_operands_cannot() -> None:
    # P -> (Q | R) makes Q | R true though neither is known; (Q | R) -> S is the same neuron over other variables.
    renamed = either(atom("Q", "Y"), atom("R", "Y"))
    shared = run(program([implies(P, either(Q, R)), implies(renamed, atom("S", "Y"))], [("P", "anna", 1, 1)]))
    assert of(shared, "S", "anna") == (1.0, 1.0)
    assert of(shared, "Q", "anna") == (0.0, 1.0)
    assert of(shared, "S", "bob") == (0.0, 1.0)
    apart = run(program([implies(P, either(Q, R)), implies(either(R, Q), S)], [("P", "anna", 1, 1)]))
    assert of(apart, "S", "anna") == (0.0, 1.0)  # another operand order is another neuron


def test_a_query_observes_a_neuron_without_state() -> None:
    # As above, but Q | R occurs once: it holds no state, yet in its instance it was true.
    result = run(program([implies(P, either(Q, R))], [("P", "anna", 1, 1)], [either(Q, R), negate(either(Q, R))]))
    assert (result.answers[0]["anna",].lower, result.answers[0]["anna",].upper) == (1.0, 1.0)
    assert (result.answers[1]["anna",].lower, result.answers[1]["anna",].upper) == (0.0, 0.0)
    assert (result.answers[0]["bob",].lower, result.answers[0]["bob",].upper) == (0.0, 1.0)


def test_forall_downward() -> None:
    result = run(program([implies(atom("P", "anna"), forall("X", Q))], [("P", "anna", 0.9, 1.0)]))
    assert all(close(of(result, "Q", who), 0.9, 1.0) for who in EVERYONE)  # 1 - .9 + y >= 1


def test_the_last_candidate_of_exists() -> None:
    result = run(program([exists("X", Q)], [("Q", "anna", 0, 0.2)]))
    assert of(result, "Q", "bob") == (1.0, 1.0)
    assert close(of(result, "Q", "anna"), 0.0, 0.2)


def test_an_open_sort_blocks_the_last_candidate() -> None:
    result = run(program([exists("X", Q)], [("Q", "anna", 0, 0)], is_open=True))
    assert of(result, "Q", "bob") == (0.0, 1.0)


def test_an_open_sort_bounds_quantifiers_by_enumeration() -> None:
    facts = [("P", who, 1, 1) for who in EVERYONE] + [("Q", who, 0, 0) for who in EVERYONE]
    queries = [forall("X", P), exists("X", Q), exists("X", P), forall("X", Q), forall("X", negate(R))]
    answers = run(program([], facts, queries, is_open=True, closed="R")).answers
    # There may be more persons: not all need be P, some may be Q; but R is closed, so none of them is R.
    assert [(a[()].lower, a[()].upper) for a in answers] == [(0, 1), (0, 1), (1, 1), (0, 0), (1, 1)]


def test_another_entity_may_be_absent() -> None:
    # R is closed: another person would not be R. But there need be none, so `exists X: ~R(X)` is not true by that.
    answers = run(
        program(
            [],
            [("R", who, 1, 1) for who in EVERYONE],
            [exists("X", negate(R))],
            "lukasiewicz",
            closed="R",
            is_open=True,
        )
    ).answers
    assert (answers[0][()].lower, answers[0][()].upper) == (0.0, 1.0)


def test_an_empty_domain() -> None:
    empty = Program([Predicate("P", 1, ("ghost",))], [], [], [forall("X", P), exists("X", P)], {"ghost": False})
    answers = run(empty).answers
    assert [(a[()].lower, a[()].upper) for a in answers] == [(1, 1), (0, 0)]


def test_a_closed_predicate() -> None:
    result = run(program([implies(negate(P), Q)], [("P", "anna", 1, 1)], closed="P"))
    assert of(result, "P", "bob") == (0.0, 0.0)
    assert of(result, "Q", "bob") == (1.0, 1.0)
    assert of(result, "Q", "anna") == (0.0, 1.0)


def test_completion_is_an_interval() -> None:
    # edge(bob, cleo) in [.5, .9], edge -> reach at .8: least y with 1 - x + y >= .8 is x - .2, so reach = [.3, .7];
    # apart = ~reach then, by the stratum above, is [.3, .7] too, and anything else is not reached.
    edge, reach, apart = (atom(name, "X", "Y") for name in ("Edge", "Reach", "Apart"))
    step = implies(both(atom("Edge", "X", "Z"), atom("Reach", "Z", "Y")), reach)
    p = Program(
        [Predicate(name, 2, ("entity", "entity"), True) for name in ("Edge", "Reach", "Apart")],
        [Fact("Edge", ("bob", "cleo"), 0.5, 0.9), Fact("Edge", ("anna", "bob"), 1.0, 1.0)],
        [
            Statement("rule", implies(edge, reach), 0.8, 1.0),
            Statement("rule", step),
            Statement("rule", implies(negate(reach), apart)),
        ],
    )
    result = run(p)
    assert close(result.atoms["Reach", ("bob", "cleo")], 0.3, 0.7)
    assert close(result.atoms["Apart", ("bob", "cleo")], 0.3, 0.7)
    assert close(result.atoms["Reach", ("anna", "bob")], 0.8, 0.8)
    # anna to cleo by way of bob: 1 + reach(bob, cleo) - 1
    assert close(result.atoms["Reach", ("anna", "cleo")], 0.3, 0.7)
    assert result.atoms["Apart", ("cleo", "anna")] == (1.0, 1.0)
    assert result.contradictions == []


def test_completed_atoms_send_nothing_into_bodies() -> None:
    # Q is closed and not derived for bob; the contrapositive would make the open P(bob) false.
    result = run(program([implies(P, Q)], [("P", "anna", 1, 1)], closed="Q"))
    assert of(result, "Q", "anna") == (1.0, 1.0)
    assert of(result, "Q", "bob") == (0.0, 1.0)  # P(bob) may be true
    assert of(result, "P", "bob") == (0.0, 1.0)


def test_a_listed_atom_of_a_derived_predicate_keeps_its_bounds() -> None:
    result = run(program([implies(P, Q)], [("P", "anna", 1, 1), ("Q", "anna", 0, 0)], closed="PQ"))
    assert of(result, "Q", "anna") == (0.0, 0.0)
    assert [(c.kind, c.what) for c in result.contradictions] == [("instance", (0, ("anna",)))]


def test_an_antecedent_that_cannot_be_satisfied_rules_nothing_out() -> None:
    # (P -> Q){bias: 1.2} asks q >= p + .2. With P in [0, 1], p = 1 cannot be; p = .8 asks q = 1: Q is in [.2, 1].
    result = run(program([("implies", (1.0, P), (1.0, Q), 1.2, None)], [("P", "bob", 0, 0)], closed="Q"))
    assert close(of(result, "Q", "anna"), 0.2, 1.0)
    assert close(of(result, "Q", "bob"), 0.2, 0.2)


def test_a_cycle_through_negation_is_an_error() -> None:
    with pytest.raises(ProgramError, match="negation"):
        run(program([implies(negate(P), Q), implies(negate(Q), P)], [], closed="PQ"))


def test_a_later_stratum_may_tighten_an_open_input() -> None:
    # Q completes to [0, 1] while P is unknown; S -> P then makes P(anna) true, so completion runs again.
    result = run(program([implies(P, Q), implies(S, P)], [("S", "anna", 1, 1)], closed="Q"))
    assert of(result, "Q", "anna") == (1.0, 1.0)
    assert of(result, "Q", "bob") == (0.0, 1.0)


def test_a_contradiction_stays_local() -> None:
    # Anna's instance of P -> Q is arrested; its atoms stay clean, and bob's goes on.
    facts = [("P", "anna", 1, 1), ("Q", "anna", 0, 0), ("P", "bob", 1, 1)]
    result = run(program([forall("X", implies(P, Q)), implies(Q, R)], facts))
    assert [(c.kind, c.what) for c in result.contradictions] == [("instance", (0, ("anna",)))]
    assert of(result, "P", "anna") == (1, 1) and of(result, "Q", "anna") == (0, 0)
    assert of(result, "R", "anna") == (0.0, 1.0)
    assert of(result, "R", "bob") == (1.0, 1.0)


def test_an_atom_whose_messages_cross_is_read_as_unknown() -> None:
    # Both messages arrive in round 1: Q(anna) = [1, 0] is arrested, and R(anna) stays unknown.
    result = run(program([implies(P, Q), implies(P, negate(Q)), implies(Q, R)], [("P", "anna", 1, 1)], [Q]))
    assert of(result, "Q", "anna") == (1.0, 0.0)
    assert result.answers[0]["anna",].contradiction
    assert of(result, "R", "anna") == (0.0, 1.0)
    assert [(c.kind, c.what) for c in result.contradictions] == [("atom", ("Q", ("anna",)))]


def test_the_nearer_rule_wins() -> None:
    # penguin -> bird, bird -> flies, penguin -> ~flies. Round 1: bird and ~flies. Round 2: bird -> flies is arrested.
    penguin, bird, flies = P, Q, R
    rules = [implies(penguin, bird), implies(bird, flies), implies(penguin, negate(flies))]
    result = run(program(rules, [("P", "anna", 1, 1), ("Q", "bob", 1, 1)]))
    assert of(result, "Q", "anna") == (1.0, 1.0) and of(result, "R", "anna") == (0.0, 0.0)
    assert of(result, "R", "bob") == (1.0, 1.0)
    assert [(c.kind, c.what) for c in result.contradictions] == [("instance", (1, ("anna",)))]


def test_facts_that_cross_arrest_their_atom_from_the_start() -> None:
    result = run(program([implies(P, Q)], [("P", "anna", 0.8, 1.0), ("P", "anna", 0.0, 0.3)]))
    assert of(result, "P", "anna") == (0.8, 0.3)
    assert of(result, "Q", "anna") == (0.0, 1.0)
    assert result.rounds == 0


def test_a_forall_of_bounded_truth_is_one_neuron() -> None:
    # With an upper truth under 1 nothing is stripped: min(P(anna), P(bob)) <= .3, and bob is the last candidate.
    result = run(program([(forall("X", P), 0.0, 0.3)], [("P", "anna", 0.9, 1.0)]))
    assert close(of(result, "P", "bob"), 0.0, 0.3)


def test_sorts_of_undeclared_predicates() -> None:
    # T shares a variable with P, whose position is a person: dora is an entity, but no person.
    t = atom("T", "X")
    p = program([implies(P, t)], [], [t, atom("E", "Y")])
    p.predicates += [Predicate("T", 1), Predicate("E", 1)]
    p.facts.append(Fact("E", ("dora",), 1.0, 1.0))
    answers = run(p).answers
    assert set(answers[0]) == {("anna",), ("bob",)}
    assert set(answers[1]) == {("anna",), ("bob",), ("dora",)}


# --- neurons ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("logic", LOGICS)
@pytest.mark.parametrize("kind", ["and", "or", "implies", "iff", "xor"])
def test_kleene(logic: str, kind: str) -> None:
    """With plain weights and values 0, 1 and unknown, every logic is Kleene's."""
    tables = {
        "and": min, "or": max, "implies": lambda x, y: max(1 - x, y), "iff": lambda x, y: float(x == y),
        "xor": lambda x, y: float(x != y),
    }  # fmt: skip
    for x, y in itertools.product([(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)], repeat=2):
        values = [tables[kind](a, b) for a in set(x) for b in set(y)]
        assert upward(kind, logic, (1.0, 1.0), 1.0, [x, y]) == (min(values), max(values))


def _neurons(seed: int, count: int) -> Iterator[tuple[str, str, tuple[float, ...], float, list[Box]]]:
    """Random neurons over random boxes, with many ends that coincide."""
    rng = random.Random(seed)
    for _ in range(count):
        kind, logic = rng.choice(["and", "or", "implies", "implies", "iff", "xor"]), rng.choice(LOGICS)
        arity = rng.choice([1, 2, 2, 3]) if kind in ("and", "or") else 2
        weights = tuple(rng.choice([0.0, 0.3, 0.5, 1.0, 1.0, 1.0, 2.0, rng.random() * 2]) for _ in range(arity))
        bias = rng.choice([1.0, 1.0, 0.5, 0.8, 1.2, 1.5, rng.random() * 2])
        if kind in ("iff", "xor") and logic != "lukasiewicz":
            bias = 1.0
        boxes = []
        for _ in range(arity):
            ends = [rng.choice([0.0, 1.0, rng.randrange(11) / 10, rng.random()]) for _ in range(2)]
            boxes.append((min(ends), max(ends)) if rng.random() < 0.8 else (ends[0], ends[0]))
        yield kind, logic, weights, bias, boxes


def _points(kind: str, logic: str, weights: tuple[float, ...], boxes: list[Box], steps: int) -> Iterator[list[float]]:
    """A grid over the box with its corners, and for two operands the curve on which both sides are equal."""
    grids = [[*(min(hi, lo + (hi - lo) * k / steps) for k in range(steps)), hi] for lo, hi in boxes]
    for point in itertools.product(*grids):
        yield list(point)
    if kind in ("implies", "iff", "xor") and min(weights) > 0:
        for i, x in [(0, x) for x in grids[0]] + [(1, x) for x in grids[1]]:
            w, v = weights[i], weights[1 - i]
            other = x ** (w / v) if logic == "product" else 1 - w * (1 - x) / v
            if boxes[1 - i][0] <= other <= boxes[1 - i][1]:
                yield [x, other] if i == 0 else [other, x]


@pytest.mark.parametrize("count", at_length([60, 1500], plain=1))
def test_upward_is_the_hull_of_the_image(count: int) -> None:
    for kind, logic, weights, bias, boxes in _neurons(1, count):
        low, high = upward(kind, logic, weights, bias, boxes)
        steps = 24 if len(boxes) < 3 else 6
        points = _points(kind, logic, weights, boxes, steps)
        values = [value for x in points for value in values_of(kind, logic, weights, bias, x)]
        case = kind, logic, weights, bias, boxes, (low, high)
        assert min(values) >= low - 1e-9 and max(values) <= high + 1e-9, case
        # The lower ends and, but for iff, the upper ends are at corners. Within a cell the value moves this far:
        cell = 1e-9 if kind in ("and", "or", "implies") else 0.2
        assert min(values) <= low + cell and max(values) >= high - cell, case


@pytest.mark.parametrize("count", at_length([60, 2500], plain=1))
def test_downward_is_the_hull_of_the_preimage(count: int) -> None:
    rng = random.Random(2)
    for kind, logic, weights, bias, boxes in _neurons(3, count):
        point = [rng.choice([lo, hi, rng.uniform(lo, hi)]) for lo, hi in boxes]
        inside = value_of(kind, logic, weights, bias, point)
        ends = sorted(rng.choice([inside, inside, extreme, rng.random()]) for extreme in (0.0, 1.0))
        node, case = (ends[0], ends[1]), (kind, logic, weights, bias, boxes, ends)
        steps = 24 if len(boxes) < 3 else 6
        points = [point, *_points(kind, logic, weights, boxes, steps)]
        meeting = [x for x in points if any(node[0] <= v <= node[1] for v in values_of(kind, logic, weights, bias, x))]
        try:
            hulls = downward(kind, logic, weights, bias, node, boxes)
        except Empty:
            assert not meeting, case
            continue
        for x in meeting:
            assert all(lo - 1e-7 <= a <= hi + 1e-7 for a, (lo, hi) in zip(x, hulls, strict=True)), (case, hulls, x)
        for i, (box, hull) in enumerate(zip(boxes, hulls, strict=True)):
            assert box[0] - 1e-9 <= hull[0] <= hull[1] <= box[1] + 1e-9, (case, hulls)
            for end, inward in ((hull[0], 1), (hull[1], -1)):
                assert _possible(kind, logic, weights, bias, node, boxes, i, end, inward), (case, hulls, i, end)


def _possible(
    kind: str, logic: str, weights: tuple[float, ...], bias: float, node: Box, boxes: list[Box], i: int, end: float,
    inward: int,
) -> bool:  # fmt: skip
    """Whether operand ``i`` can be at ``end``, or just inside of it, with the node within its bounds.

    Along a fine path of the other operands the value moves in small steps, so its neighbours bracket what it crosses.
    A jump (Goedel; product at 0) may cross without meeting, but then a wrong end is caught on other boxes.
    """
    for nudge in (0.0, 1e-7, 1e-4):
        x = min(max(end + inward * nudge, boxes[i][0]), boxes[i][1])
        fixed = [box if j != i else (x, x) for j, box in enumerate(boxes)]
        along = sorted([k / 200 for k in range(201)] + [(k / 80) ** 12 for k in range(1, 80)])  # powers are steep at 0
        path = [[min(hi, lo + (hi - lo) * t) for lo, hi in fixed] for t in along]
        values = [value_of(kind, logic, weights, bias, p) for p in path]
        slack = 2e-4
        for p in [*path, *_points(kind, logic, weights, fixed, 1)]:
            if any(node[0] - slack <= v <= node[1] + slack for v in values_of(kind, logic, weights, bias, p)):
                return True
        if any(min(u, v) <= node[1] and max(u, v) >= node[0] for u, v in itertools.pairwise(values)):
            return True
    return False


# --- hidden worlds ----------------------------------------------------------------------------------------------------


def check_world(generated: Generated, result: Result) -> str | None:
    """What the result says that is false in the hidden world; None if nothing."""
    p, world = generated.program, generated.world
    assert world is not None
    network = Network(p)
    truths = [Truth(p.logic, Extended(p, world, other), network.sorts.domains) for other in (0.0, 0.5, 1.0)]
    if result.contradictions:
        return f"a contradiction in a satisfiable program: {result.contradictions[0]}"
    for place, box in result.atoms.items():
        if not box[0] - 1e-7 <= world[place] <= box[1] + 1e-7:
            return f"{place} is {world[place]}, not in {box}"
    for query, sorts, answers in zip(p.queries, network.sorts.query_variables, result.answers, strict=True):
        formula = bind_apart(query)
        for row, answer in answers.items():
            for truth in truths:
                value = truth(formula, dict(zip(free_variables(formula), row, strict=True)), sorts)
                if not answer.lower - 1e-7 <= value <= answer.upper + 1e-7:
                    return f"{query} at {row} is {value}, not in {answer}"
    return None


class Extended(dict[tuple[str, tuple[str, ...]], float]):
    """A world in which what only queries name has one truth; closed predicates do not hold of it."""

    def __init__(self, p: Program, world: Mapping[tuple[str, tuple[str, ...]], float], truth: float) -> None:
        super().__init__(world)
        self._closed = {predicate.name for predicate in p.predicates if predicate.closed}
        self._truth = truth

    def __missing__(self, place: tuple[str, tuple[str, ...]]) -> float:
        return 0.0 if place[0] in self._closed else self._truth


def soundness(seeds: range, mode: str) -> None:
    """Fragile programs (cycles that amplify rounding) may fail, but they are few."""
    fragile = 0
    for seed in seeds:
        generated = generate(seed, 3 + seed % 8, mode)
        result = run(generated.program)
        wrong = check_world(generated, result)
        if wrong is not None:
            assert not robust(generated.program, result), f"seed {seed}, {wrong}\n{to_text(generated.program)}"
            fragile += 1
    assert fragile <= 1 + len(seeds) // 100


@pytest.mark.parametrize("mode", ["crisp", "fuzzy"])
def test_no_answer_excludes_the_hidden_world(mode: str) -> None:
    soundness(range(5), mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["crisp", "fuzzy"])
def test_no_answer_excludes_the_hidden_world_in_many_programs(mode: str) -> None:
    soundness(range(5, 120), mode)
    soundness(range(10_000, 11_000), mode)


# --- the generator, and what holds of all programs --------------------------------------------------------------------


@pytest.mark.slow
def test_the_generated_programs_say_something() -> None:
    """Most converge; most answers are not [0, 1]; much of what was unknown gets known; some take several rounds."""
    seen: Counter[str] = Counter()
    for seed, mode in itertools.product(range(150), MODES):
        result = run(generate(seed, 3 + seed % 8, mode).program)
        seen["programs"] += 1
        seen["converged"] += result.status == "converged"
        seen["deep"] += result.rounds >= 2
        seen[f"{mode} contradictory"] += bool(result.contradictions)
        answers = [a for answers in result.answers for a in answers.values()]
        seen["answers"] += len(answers)
        seen["telling"] += sum((a.lower, a.upper) != (0.0, 1.0) for a in answers)
        unknown = [place for place, box in result.initial.items() if box == (0.0, 1.0)]
        seen["unknown"] += len(unknown)
        seen["found"] += sum(result.atoms[place] != (0.0, 1.0) for place in unknown)
    assert seen["converged"] >= 0.98 * seen["programs"], seen
    assert seen["deep"] >= 0.25 * seen["programs"], seen
    assert seen["telling"] >= 0.6 * seen["answers"], seen
    assert seen["found"] >= 0.2 * seen["unknown"], seen
    assert seen["free contradictory"] >= 40, seen


@settings(max_examples=10, deadline=None)
@given(programs())
def test_order_does_not_matter(generated: Generated) -> None:
    """Statements and facts in another order: the same bounds, bitwise, and the same arrests."""
    p = generated.program
    other = Program(p.predicates, p.facts[::-1], p.statements[::-1], p.queries[::-1], p.sorts, p.logic)
    first, second = run(p), run(other)
    assert first.atoms == second.atoms
    assert first.answers == second.answers[::-1]
    assert (first.rounds, len(first.contradictions)) == (second.rounds, len(second.contradictions))


@settings(max_examples=10, deadline=None)
@given(programs())
def test_asking_changes_nothing(generated: Generated) -> None:
    """Unless a query brings in an entity."""
    p = generated.program
    silent = Program(p.predicates, p.facts, p.statements, [], p.sorts, p.logic)
    if Network(silent).sorts.domains == Network(p).sorts.domains:
        before, after = run(silent).atoms, run(p).atoms
        assert before.keys() == after.keys()
        for (
            place,
            box,
        ) in before.items():  # a gain below 1e-12 is rounding and is not recorded: which comes first may differ
            assert box == pytest.approx(after[place], abs=1e-12), place


@settings(max_examples=10, deadline=None)
@given(programs())
def test_bounds_only_tighten(generated: Generated) -> None:
    result = run(generated.program)
    for place, (low, high) in result.atoms.items():
        assert low >= result.initial[place][0] - 1e-12 and high <= result.initial[place][1] + 1e-12


def test_the_generator_is_a_function_of_its_seed() -> None:
    assert to_text(generate(7, 5, "fuzzy").program) == to_text(generate(7, 5, "fuzzy").program)
