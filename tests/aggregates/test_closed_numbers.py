"""Closed numbers: what is not listed has no value, and is in no aggregate. Worlds are drawn first, and no answer may
exclude them."""

import itertools
import random

import pytest

import lnnkit
from tests.blocks import at_length, in_blocks

TERMS = {  # of the amount and the fee of a pair; None where there is none
    "amount(X, Y)": lambda a, f: a,
    "2 * amount(X, Y) - 1": lambda a, f: None if a is None else 2 * a - 1,
    "amount(X, Y) + fee(X, Y)": lambda a, f: None if a is None or f is None else a + f,
    "amount(X, Y) / fee(X, Y)": lambda a, f: None if a is None or not f else a / f,
    "amount(X, Y) * fee(X, Y)": lambda a, f: None if a is None or f is None else a * f,
}


def folded(kind, elements):
    """An aggregate of (truth, value) pairs; None where it has no value."""
    there = [(truth, value) for truth, value in elements if value is not None]
    match kind:
        case "sum":
            return sum(truth * value for truth, value in there)
        case "mean":
            weight = sum(truth for truth, _ in there)
            return sum(truth * value for truth, value in there) / weight if weight else None
    values = [value for truth, value in there if truth > 0]
    return (min if kind == "min" else max)(values) if values else None


def drawn(rng):
    """A program, and functions that draw its worlds."""
    names = ["a", "b", "c", "d"][: rng.randint(2, 4)]
    pairs = list(itertools.product(names, names))
    lines = ["number amount(item, item) closed", "number fee(item, item) closed", "predicate Has(item, item) closed"]
    bounds = {}
    for what in ("amount", "fee", "Has"):
        for pair in pairs:
            if rng.random() < 0.6:
                low = rng.choice([0.0, 0.25, 1.0]) if what == "Has" else float(rng.randint(-2, 4))
                high = max(low, rng.choice([0.5, 1.0])) if what == "Has" else low + rng.choice([0, 0, 1, 3])
                bounds[what, pair] = low, high
                lines.append(f"fact {what}({pair[0]}, {pair[1]}) in [{low}, {high}]")
    lines += [f"fact Has({name}, {name}) in [0, 0]" for name in names if ("Has", (name, name)) not in bounds]

    def world():
        return {key: rng.choice([low, high, rng.uniform(low, high)]) for key, (low, high) in bounds.items()}

    return "\n".join(lines), names, world


@pytest.mark.parametrize("block", in_blocks(range(1000), 40, plain=6))
def test_no_world_is_excluded(block):
    for seed in block:
        rng = random.Random(seed)
        text, names, world = drawn(rng)
        term, kind = rng.choice(list(TERMS)), rng.choice(["sum", "mean", "min", "max"])
        condition = rng.choice(["", " where Has(X, Y)", " where Has(X, Y) & amount(X, Y) > 0"])
        kb = lnnkit.loads(text)
        query = f"{kind} Y: {term}{condition}"
        asked = {name: query.replace("X", name) for name in names}
        answers = {name: (answer.lower, answer.upper) for name in names for answer in kb.ask(asked[name])}
        for _ in range(60):
            held = world()
            for name in names:
                elements = []
                for other in names:
                    amount, fee = held.get(("amount", (name, other))), held.get(("fee", (name, other)))
                    truth = held.get(("Has", (name, other)), 0.0) if condition else 1.0
                    if "> 0" in condition and amount is not None and amount <= 0:
                        truth = 0.0
                    elements.append((truth, TERMS[term](amount, fee)))
                made = folded(kind, elements)
                if made is None:
                    continue
                low, high = answers[name]
                assert low - 1e-9 <= made <= high + 1e-9, (seed, text, query, name, made)
        assert not kb.explain(asked[rng.choice(names)]).verify(), (seed, text, query)


def test_sums_are_exact():
    kb = lnnkit.loads("""
number amount(account, account) closed
fact amount(a, b) = 5
fact amount(a, c) in [1, 2]
fact amount(b, c) = 7
rule (sum Y: amount(X, Y)) > 5.5 -> Big(X)
""")
    assert {a.bindings["X"]: (a.lower, a.upper) for a in kb.ask("sum Y: amount(X, Y)")} == {"a": (6, 7), "b": (7, 7)}
    assert [a.bindings["X"] for a in kb.ask("Big(X)")] == ["a", "b"]
    (none,) = kb.ask("sum Y: amount(c, Y)")
    assert (none.lower, none.upper) == (0, 0)
    (unlisted,) = kb.ask("amount(c, a) > 3")
    assert (unlisted.lower, unlisted.upper) == (0, 1)
    assert "has no value" in kb.explain("sum Y: amount(a, Y)").text()


def test_a_division_by_what_may_be_nothing_may_leave_an_element_out():
    kb = lnnkit.loads("""
number a(item)
number b(item)
predicate In(item) closed
fact In(x)
fact a(x) = 1
fact b(x) in [0, 2]
""")
    (total,) = kb.ask("sum X: a(X) / b(X) where In(X)")
    assert total.lower == 0


@pytest.mark.parametrize("seed", at_length([*range(20)], plain=5))
def test_proofs_know_that_what_is_not_listed_has_no_value(seed):
    pytest.importorskip("z3")
    rng = random.Random(seed)
    names = ["a", "b", "c"]
    pairs = list(itertools.product(names, names))
    lines = ["number amount(item, item) closed", "number fee(item, item) closed", "predicate Has(item, item) closed"]
    value = {(what, pair): float(rng.randint(-2, 4)) for what in ("amount", "fee") for pair in pairs}
    value = {key: number for key, number in value.items() if rng.random() < 0.6}
    there = {pair for pair in pairs if rng.random() < 0.6}
    lines += [f"fact {what}({x}, {y}) = {number}" for (what, (x, y)), number in value.items()]
    lines += [f"fact Has({x}, {y})" for x, y in there]
    term, kind = rng.choice(list(TERMS)), rng.choice(["sum", "mean", "min", "max"])
    condition, limit, name = rng.choice(["", " where Has(X, Y)"]), rng.randint(-3, 6), rng.choice(names)
    elements = [
        (
            float(not condition or (name, y) in there),
            TERMS[term](*(value.get((w, (name, y))) for w in ("amount", "fee"))),
        )
        for y in names
    ]
    made = folded(kind, elements)
    kb = lnnkit.loads("\n".join([*lines, *(f"fact Named({x})" for x in names)]))
    proved = kb.prove(f"({kind} Y: {term}{condition}) > {limit}".replace("X", name))
    assert proved.verdict == ("entailed" if made is not None and made > limit else "refuted"), (lines, proved)


def test_rules_about_a_number_without_a_value_contradict_nothing():
    pytest.importorskip("z3")
    kb = lnnkit.loads(
        "number sent(i) closed\nnumber due(i)\nfact sent(a) = 3\nfact P(b)\nfact P(a)\nrule due(X) = sent(X) + 30\n"
    )
    assert kb.prove("due(a) = 33").verdict == "entailed"
    assert kb.prove("due(b) = 33").verdict == "neither"
    assert kb.prove("sent(b) > 3").verdict == "neither"


def test_what_a_default_leaves_open_of_named_elements_is_a_premise() -> None:
    """Both `Task` and `n` leave out all but `t1` and `t3`, but `n` has a value of `t3`."""
    kb = lnnkit.loads("""
number n(t) closed
predicate Task(t) closed
predicate Big(t)
fact n(t3) in [20, 25]
fact Task(t1)
fact ~Big(t2)
axiom (sum X: n(X) where Task(X) & Big(X)) <= 0
""")
    for asked in ("(sum X: n(X) where Task(X) & Big(X)) >= 0", "(sum X: n(X) where Task(X) & Big(X)) <= 0"):
        explanation = kb.explain(asked)
        assert explanation.lower == 1 and not explanation.verify()
