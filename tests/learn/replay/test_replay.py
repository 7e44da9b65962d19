"""Derivations replayed: the same bounds as inference, and gradients as finite differences of the whole fixpoint."""

from __future__ import annotations

import math
import random

import pytest
import torch

from lnnkit.learn.replay.event_values import clamp_through
from tests.blocks import at_length
from tests.learn.replaying import Learning, bounds, learning, replayed
from tests.programs import MODES, generate, to_text

EPS = 1e-6


def off_kinks(program: Learning, rng: random.Random) -> dict[str, float]:
    """The parameters a little away from where they start, where many bounds have corners."""
    found: dict[str, float] = {}
    for each in program.parameters:
        start = program.starts[each.name]
        if each.kind in ("lower", "upper"):
            found[each.name] = min(max(start + rng.uniform(-0.08, 0.08), 0.02), 0.98)
        else:
            found[each.name] = max(0.05, start + rng.uniform(-0.1, 0.1))
    for name in found:
        twin = name.replace("/upper", "/lower")
        if twin != name and twin in found and found[twin] > found[name]:
            found[twin], found[name] = found[name], found[twin]
    return found


def disagreements(program: Learning, values: dict[str, float], some: int, rng: random.Random) -> tuple[int, list[str]]:
    """How many smooth derivatives were compared, and which of them differ."""
    found = program.infer(values)
    base = bounds(found)
    theta = program.vector(values).requires_grad_()
    wanted = list(base)
    if not wanted or found.fixpoint.progress.status.value != "converged":
        return 0, []
    value = replayed(found, wanted, theta)
    wrong = [f"{b}: {v} for {base[b]}" for b, v in zip(wanted, value.tolist(), strict=True) if abs(v - base[b]) > 1e-9]
    places = rng.sample(range(len(program.parameters)), min(some, len(program.parameters)))
    gradients = [torch.autograd.grad(end, theta, retain_graph=True)[0] for end in value]
    compared = 0
    for place in places:
        name = program.parameters[place].name
        sides = [bounds(program.infer({**values, name: values[name] + step})) for step in (EPS, -EPS)]
        for bound, gradient in zip(wanted, gradients, strict=True):
            if math.isinf(base[bound]) or not all(bound in side for side in sides):
                continue
            up, down = (sides[0][bound] - base[bound]) / EPS, (base[bound] - sides[1][bound]) / EPS
            if abs(up - down) > 1e-4 * (1 + abs(up)):
                continue  # a corner
            compared += 1
            if abs(up - float(gradient[place])) > 1e-4 * (1 + abs(up)):
                wrong.append(f"{bound} after {name}: {float(gradient[place])} for {up}")
    return compared, wrong


def compare(seeds: range, some: int, *, equivalences: bool) -> int:
    rng, total = random.Random(seeds.start), 0
    for seed in seeds:
        text = to_text(generate(seed, 1 + seed % 6, MODES[seed % 3]).program)
        if (" xor " in text or "<->" in text) == equivalences:
            program = learning(text)
            if program.parameters:
                compared, wrong = disagreements(program, off_kinks(program, rng), some, rng)
                total += compared
                assert not wrong, (seed, text, wrong)
    return total


@pytest.mark.parametrize("count", at_length([4, 8], plain=1))
def test_random_programs(count: int) -> None:
    assert compare(range(count), 2, equivalences=False) > 5 * count


@pytest.mark.parametrize("first", at_length(range(1000, 1250, 25), plain=0))
def test_many_random_programs(first: int) -> None:
    """Of each program thirteen derivatives, more or less."""
    assert compare(range(first, first + 25), 4, equivalences=False) > 250


@pytest.mark.parametrize("first", at_length(range(1000, 1060, 20), plain=0))
def test_many_random_programs_with_equivalences(first: int) -> None:
    assert compare(range(first, first + 20), 2, equivalences=True) > 20


def test_random_programs_are_replayed_to_their_bounds() -> None:
    count = 0
    for seed in range(100, 108):
        program = learning(to_text(generate(seed, 1 + seed % 6, MODES[seed % 3]).program))
        found = program.infer(program.starts)
        expected = bounds(found)
        value = replayed(found, list(expected), program.vector(program.starts))
        assert value.tolist() == pytest.approx(list(expected.values()), abs=1e-9)
        count += len(expected)
    assert count > 25


LOGICS = ("lukasiewicz", "product", "godel")

PROGRAMS = {
    "upward through a shared neuron, then modus ponens": """
        fact A(x) in [0.9, 0.95]
        fact B(x) in [0.85, 0.9]
        rule one: (A(X)@0.9 & B(X)@0.8){bias: 1.05} -> C(X) in [0.95, 1]
        axiom (C(X) | A(X)) -> D(X) in [0.97, 1]
        axiom (C(X) | A(X)) -> E(X) in [0.9, 1]
        query D(X)
        query E(X)
    """,
    "downward: modus tollens": """
        predicate B(thing)
        fact A(x) in [0.9, 0.95]
        fact C(x) in [0.05, 0.15]
        rule one: A(X)@0.9 & B(X)@0.95 -> C(X) in [0.95, 1]
        query B(X)
    """,
    "recursion": """
        fact Start(a) in [0.98, 1]
        fact Edge(a, b) in [0.97, 1]
        fact Edge(b, c) in [0.96, 1]
        fact Edge(c, d) in [0.98, 1]
        rule base: Start(X) -> Reach(X) in [0.99, 1]
        rule step: (Reach(X)@0.9 & Edge(X, Y)@0.95) -> Reach(Y) in [0.98, 1]
        query Reach(X)
    """,
    "completion of a closed predicate": """
        predicate Start(thing) closed
        predicate Edge(thing, thing) closed
        predicate Reach(thing) closed
        fact Start(a) in [0.9, 0.97]
        fact Edge(a, b) in [0.88, 0.95]
        fact Edge(b, c) in [0.86, 0.93]
        rule base: Start(X) -> Reach(X) in [0.97, 1]
        rule step: (Reach(X)@0.9 & Edge(X, Y)@0.95) -> Reach(Y) in [0.98, 1]
        axiom ~Reach(X) -> Alone(X) in [0.96, 1]
        query Reach(X)
        query Alone(X)
    """,
    "quantifiers, up and down": """
        predicate Edge(node, node)
        fact Edge(a, b) in [0.9, 0.95]
        fact Edge(a, a) in [0.8, 0.9]
        fact Edge(b, a) in [0.7, 0.85]
        fact Edge(b, b) in [0.1, 0.2]
        fact All(c) in [0.93, 1]
        predicate All(node)
        predicate Likes(node, node)
        rule some: (exists Y: (Edge(X, Y)@0.9 & Edge(Y, X)@0.95)) -> Linked(X) in [0.97, 1]
        rule every: All(X) -> (forall Y: (Likes(X, Y)@0.9 | Linked(Y)@0.5)) in [0.98, 1]
        query Linked(X)
        query Likes(X, Y)
    """,
    "an equivalence": """
        fact A(x) in [0.8, 0.85]
        rule one: A(X)@0.9 <-> B(X) in [0.85, 1]
        query B(X)
    """,
    "marked values, one of them shared": """
        fact A(x) in [0.9, 0.95]
        fact B(y) in [0.9, 0.95]
        rule one: A(X)@?w=0.9 & B(Y) -> C(X, Y) in [?t=0.9, 1]
        rule two: B(X)@?w & B(Y)@? -> D(X, Y) in [?t, 1]
        query C(X, Y)
        query D(X, Y)
    """,
}


@pytest.mark.parametrize("logic", at_length(LOGICS, plain=1))
@pytest.mark.parametrize("case", at_length([*PROGRAMS], plain=4))
def test_gradients_of(case: str, logic: str) -> None:
    program = learning(f"logic {logic}\n" + "\n".join(line.strip() for line in PROGRAMS[case].splitlines()))
    rng = random.Random(1)
    values = {name: value + rng.uniform(-0.004, 0.004) for name, value in program.starts.items()}
    values = {name: min(value, 0.995) if "/lower" in name else value for name, value in values.items()}
    compared, wrong = disagreements(program, values, 4, rng)
    assert compared and not wrong, wrong
    base = program.infer(values)
    theta = program.vector(values).requires_grad_()
    replayed(base, list(bounds(base)), theta).sum().backward()
    assert theta.grad is not None and int((theta.grad != 0).sum()) > 0


def test_rules_of_the_same_atoms_are_replayed_by_themselves() -> None:
    """One completes a closed predicate, the other tells an open one: both read the same numbers."""
    program = learning(
        "predicate Q(row) closed\npredicate C(row)\nfact A(a) = 0.9\nfact B(a) = 0.95\n"
        "rule one: A(X)@?a=0.7 & B(X)@?b=0.3 -> Q(X)\nrule other: A(X)@?c=0.7 | B(X)@?d=1 -> C(X)\nask Q(X)\nask C(X)\n"
    )
    found = program.infer(program.starts)
    known = bounds(found)
    assert known["C", (0,), 0] == pytest.approx(1.0) and known["Q", (0,), 0] == pytest.approx(0.915)
    wanted = sorted(known)
    assert replayed(found, wanted, program.vector(program.starts)).tolist() == [known[key] for key in wanted]


@pytest.mark.parametrize("shift", [0.0, 0.3, -2.0, 2.0])
def test_a_cut_value_hears_only_what_draws_it_back(shift: float) -> None:
    rng = random.Random(0)
    values = [rng.uniform(0, 1) + rng.choice([0, shift]) for _ in range(50)] + [0.0, 1.0]
    slopes = [rng.uniform(-1, 1) for _ in values]
    given = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    found = clamp_through(given)
    assert found.tolist() == [min(max(value, 0.0), 1.0) for value in values]
    found.backward(torch.tensor(slopes, dtype=torch.float64))
    assert given.grad is not None
    wanted = [0.0 if (value > 1 and slope < 0) or (value < 0 and slope > 0) else slope
              for value, slope in zip(values, slopes, strict=True)]  # fmt: skip
    assert given.grad.tolist() == wanted
