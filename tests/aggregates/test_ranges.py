"""Aggregates and rules over rows that comparisons of numbers limit, beside the sum over all pairs."""

import itertools
import math
import operator
import random

import pytest

import lnnkit
from tests.blocks import in_blocks

SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq}
TERMS = {  # of the number of an element, or of that of its group: how they are written, and their values
    "day({})": lambda x: x,
    "day({}) - 3": lambda x: x - 3,
    "2 - day({})": lambda x: 2 - x,
    "2 * day({})": lambda x: 2 * x,
}
CONSTANT = "3"


def interval(term, bounds):
    if term == CONSTANT:
        return 3.0, 3.0
    ends = [TERMS[term](end) for end in bounds]
    return min(ends), max(ends)


def truth(sign, left, right):
    """The least and the greatest truth of a comparison of two intervals."""
    if sign == "=":
        sure = left == right and left[0] == left[1] and math.isfinite(left[0])
        return float(sure), float(left[0] <= right[1] and right[0] <= left[1])
    (low, high), (least, most) = (left, right) if sign in "<=" else (right, left)
    holds = SIGNS[sign.replace(">", "<")]
    return float(holds(high, least)), float(holds(low, most))


def program(rng):
    persons, claims = ["p", "q", "r"][: rng.randint(1, 3)], [f"c{number}" for number in range(rng.randint(1, 9))]
    member = {pair: rng.choice([(1, 1)] * 4 + [(0.25, 0.75)]) for pair in itertools.product(claims, persons)}
    member = {pair: bounds for pair, bounds in member.items() if rng.random() < 0.6}
    day = {}
    for claim in claims:
        low, width = rng.randint(-4, 8), rng.choice([0, 0, 0, 1, 4])
        if rng.random() < 0.85:
            day[claim] = (float(low), float(low + width))
    tests = [
        (rng.choice(list(TERMS)), "C", rng.choice(list(SIGNS)), rng.choice([*TERMS, CONSTANT]), "D")
        for _ in range(rng.randint(1, 3))
    ]
    shared = rng.random() < 0.6  # whether elements are of the person of their group
    condition = " & ".join(
        ["Claim(C, P)", *(f"{left.format(a)} {sign} {right.format(b)}" for left, a, sign, right, b in tests)]
    )
    bound = "C" if shared else "C, P"
    lines = ["predicate Claim(claim, person) closed", f"number day(claim){rng.choice(['', ' closed'])}"]
    lines += ["predicate Known(claim) closed"]
    lines += [f"fact Claim({c}, {p}) in [{low}, {high}]" for (c, p), (low, high) in member.items()]
    lines += [f"fact day({c}) in [{low}, {high}]" for c, (low, high) in day.items()]
    lines += [f"fact Known({c})" for c in claims]
    lines += [f"rule (count {bound}: {condition}) > 1 & Claim(D, {'P' if shared else 'Q'}) -> Many(D)"]
    return "\n".join(lines), f"count {bound}: {condition}", (persons, claims, member, day, tests, shared)


def expected(case, claim, person):
    persons, claims, member, day, tests, shared = case
    lower, upper = 0.0, 0.0
    unknown = (-math.inf, math.inf)
    for other, owner in itertools.product(claims, [person] if shared else persons):
        if (other, owner) not in member:
            continue
        low, high = 1.0, 1.0
        for left, a, sign, right, b in tests:
            of = {"C": other, "D": claim}
            sides = [interval(term, day.get(of[variable], unknown)) for term, variable in ((left, a), (right, b))]
            made = truth(sign, *sides)  # the two numbers are taken as two, also where they are one
            low, high = min(low, made[0]), min(high, made[1])
        least, most = member[other, owner]
        lower, upper = lower + least * low, upper + most * high
    return lower, upper


@pytest.mark.parametrize("block", in_blocks(range(1000), 50, plain=10))
def test_counts_within_ranges_are_sums_over_all_pairs(block):
    for seed in block:
        rng = random.Random(seed)
        text, query, case = program(rng)
        persons, claims, _, _, _, shared = case
        answers = lnnkit.loads(text).ask(query)
        found = {tuple(answer.bindings.values()): (answer.lower, answer.upper) for answer in answers}
        for claim, person in itertools.product(claims, persons if shared else persons[:1]):
            names = answers.variables
            key = tuple({"D": claim, "P": person}[name] for name in names)
            assert found.get(key, (0.0, 0.0)) == pytest.approx(expected(case, claim, person)), (seed, text, query, key)


def rule(rng):
    """A rule of two atoms that only comparisons link; and whether it completes its head."""
    visits = [f"v{number}" for number in range(rng.randint(1, 7))]
    day = {}
    for visit in visits:
        low, width = rng.randint(-4, 8), rng.choice([0, 0, 0, 1, 4])
        if rng.random() < 0.85:
            day[visit] = (float(low), float(low + width))
    tests = [
        (rng.choice(list(TERMS)), "TS"[swap], rng.choice(list(SIGNS)), rng.choice(list(TERMS)), "ST"[swap])
        for swap in (rng.randint(0, 1) for _ in range(rng.randint(1, 3)))
    ]
    here, there = ([visit for visit in visits if rng.random() < 0.8] for _ in range(2))
    completes = rng.random() < 0.5
    body = " & ".join(
        ["In(T)", "Out(S)", *(f"{left.format(a)} {sign} {right.format(b)}" for left, a, sign, right, b in tests)]
    )
    lines = [f"predicate {name}(visit) closed" for name in ("In", "Out")]
    lines += [f"predicate Near(visit, visit){' closed' * completes}", f"number day(visit){rng.choice(['', ' closed'])}"]
    lines += [f"fact In({visit})" for visit in here] + [f"fact Out({visit})" for visit in there]
    lines += [f"fact day({visit}) in [{low}, {high}]" for visit, (low, high) in day.items()]
    return "\n".join([*lines, f"rule {body} -> Near(T, S)"]), (here, there, day, tests, completes)


@pytest.mark.parametrize("block", in_blocks(range(1000), 50, plain=8))
def test_rules_whose_atoms_ranges_link_find_what_all_pairs_do(block):
    for seed in block:
        text, (here, there, day, tests, completes) = rule(random.Random(seed))
        answers = lnnkit.loads(text).ask("Near(T, S)")
        found = {tuple(answer.bindings.values()): (answer.lower, answer.upper) for answer in answers}
        for pair in itertools.product(here, there):
            of, low, high = dict(zip("TS", pair, strict=True)), 1.0, 1.0
            for left, a, sign, right, b in tests:
                sides = [interval(term, day.get(of[v], (-math.inf, math.inf))) for term, v in ((left, a), (right, b))]
                made = truth(sign, *sides)
                low, high = min(low, made[0]), min(high, made[1])
            default = (0.0, 0.0) if completes else (0.0, 1.0)
            assert found.get(pair, default) == (low, high if completes else 1.0), (seed, text, pair)


VISITS = """predicate Visit(person, visit) closed
number time(visit)
rule Visit(X, T) & Visit(Y, S) & time(T) <= time(S) & time(S) < time(T) + 1 -> Met(X, Y)
"""


@pytest.mark.parametrize("number", ["number time(visit)", "number time(visit) closed"])
@pytest.mark.parametrize("closed", ["", "predicate Met(person, person) closed\n"])
def test_a_rule_of_two_times_builds_as_many_pairs_as_meet(closed, number):
    facts = "\n".join(f"fact Visit(p{number}, v{number})\nfact time(v{number}) = {number / 2}" for number in range(60))
    plan = lnnkit.loads(closed + VISITS.replace("number time(visit)", number) + facts + "\nquery Met(X, Y)").plan()
    steps = [step for statement in plan.statements for join in statement.joins for step in join.steps]
    assert "range: time(X1) other than the default, by time(X1), time(X0)" in {step.reads for step in steps}
    assert max(step.out or 0 for step in steps) <= 3 * 60


def test_the_plan_shows_the_joins_of_aggregates():
    claims = "\n".join(f"fact Claim(c{day}, p)\nfact day(c{day}) = {day}" for day in range(9))
    head = "predicate Claim(claim, person) closed\nnumber day(claim) closed\n"
    rule = "rule (count C: Claim(C, P) & day(D) - 3 < day(C) <= day(D)) > 2 & Claim(D, P) -> Many(D)\nquery Many(D)\n"
    knowledge = lnnkit.loads(head + rule + claims)
    first, *_ = (statement for statement in knowledge.plan().statements if statement.purpose == "first bounds")
    steps = [step for join in first.joins for step in join.steps]
    assert ("range: Claim(X2, X0) upper above 0, by day(X1), day(X2)", 9, 30) in [
        (s.reads, s.rows, s.out) for s in steps
    ]
    assert first.instances == 9
    assert "neuron, first bounds: count X2" in str(knowledge.profile())


def test_a_number_of_the_outer_variable_alone_limits_nothing_within() -> None:
    """Whatever w(a) is, one atom of H is counted at most; a fact told later is counted too."""
    kb = lnnkit.loads("""\
predicate H(q) closed
number w(p)
rule A(P) -> M
rule F(P, Q1) & (count Q: H(Q) & M & w(P) < 1) <= 1 -> K(P)
fact A(a)
fact F(a, c)
fact H(b)
query K(X)
""")
    assert [(answer.bindings["X"], answer.lower) for answer in kb.answers()[0]] == [("a", 1)]
    with kb.transaction():
        kb.tell("H", ["c"])
        kb.tell("w", [("a", 0)])
    assert kb.ask("K(a)")[0].lower == 0
    kb.replace("w", [("a", 1)])
    assert kb.ask("K(a)")[0].lower == 1
