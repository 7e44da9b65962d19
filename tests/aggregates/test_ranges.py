"""Aggregates over rows that comparisons of numbers limit, beside the sum over all pairs."""

import itertools
import math
import operator
import random

import pytest

import lnnkit

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


@pytest.mark.parametrize("first", range(0, 150, 50))
def test_counts_within_ranges_are_sums_over_all_pairs(first):
    for seed in range(first, first + 50):
        rng = random.Random(seed)
        text, query, case = program(rng)
        persons, claims, _, _, _, shared = case
        answers = lnnkit.loads(text).ask(query)
        found = {tuple(answer.bindings.values()): (answer.lower, answer.upper) for answer in answers}
        for claim, person in itertools.product(claims, persons if shared else persons[:1]):
            names = answers.variables
            key = tuple({"D": claim, "P": person}[name] for name in names)
            assert found.get(key, (0.0, 0.0)) == pytest.approx(expected(case, claim, person)), (seed, text, query, key)
