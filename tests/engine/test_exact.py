"""Completions from exact inputs come to what both ends come to when each is worked out by itself."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import lnnkit
from lnnkit.engine import completion
from tests.agreement import disagreements
from tests.blocks import in_blocks
from tests.oracle.program import ProgramError
from tests.programs import MODES, generate, to_text

REACH = """
predicate edge(node, node) closed
predicate path(node, node) closed
predicate apart(node, node) closed
axiom edge(X, Y) -> path(X, Y)
axiom path(X, Y) & edge(Y, Z) -> path(X, Z)
axiom edge(X, Z) & edge(Y, Z) & ~path(X, Y) -> apart(X, Y)
query path(X, Y)
query apart(X, Y)
"""
SHAPES = (
    "e(X, Y) -> p(X, Y)",
    "p(X, Y) & e(Y, Z) -> p(X, Z)",
    "p(X, Y) & p(Y, Z) -> p(X, Z)",
    "e(X, Y) & f(Y, X) -> p(Y, X)",
    "f(X, Y) -> p(X, Y) & p(Y, Y)",
    "p(X, n0) & f(X, Y) -> p(Y, n0)",
    "mark(X) & p(X, Y) -> mark2(Y)",
    "mark2(X) & e(X, Y) & ~f(X, Y) -> mark2(Y)",
    "~p(X, Y) & e(Y, X) -> q(X, Y)",
    "q(X, Y) & ~mark2(X) -> q(Y, X)",
    "p(X, Y) | q(Y, X) -> s(Y)",
    "(exists Y: q(X, Y)) -> s(X)",
    "(mark(X)@2 & ~mark2(X)){bias: 1.2} -> s(X)@0.7",
)


def drawn(seed: int) -> str:
    """Closed predicates in four strata over a sparse graph, crisp or in degrees; some programs have an input that is
    not exact, or facts about what is completed."""
    draw = random.Random(seed)
    names = [f"n{i}" for i in range(draw.choice([4, 8, 30]))]
    lines = [f"logic {draw.choice(['lukasiewicz', 'godel', 'product'])}"]
    lines += [f"predicate {name}(node, node) closed" for name in "efpq"]
    lines += [f"predicate {name}(node) closed" for name in ("mark", "mark2", "s")]
    degrees = [1.0] if draw.random() < 0.5 else [1.0, 0.9, 0.75, 0.6]
    for _ in range(2 * len(names)):
        lines.append(f"fact {draw.choice('ef')}({draw.choice(names)}, {draw.choice(names)}) = {draw.choice(degrees)}")
    lines += [f"fact mark({name}) = {draw.choice(degrees)}" for name in names if draw.random() < 0.5]
    if draw.random() < 0.3:
        lines.append(f"fact p({draw.choice(names)}, {draw.choice(names)}) = {draw.choice([0.0, 0.5, 1.0])}")
    if draw.random() < 0.2:
        lines.append(f"fact mark({draw.choice(names)}) in [0.2, 0.7]")
    for shape in draw.sample(SHAPES, draw.choice([4, 6, 9])):
        lines.append(draw.choice([f"axiom {shape}", f"rule {shape} in [0.8, 1]"]))
    lines += ["query p(X, Y)", "query q(X, Y)", "query s(X)", "query mark2(X)", "query ~p(X, Y) & e(Y, X)"]
    return "\n".join(lines) + "\n"


def answered(text: str) -> list[dict[tuple[str, ...], tuple[float, float]]]:
    kb = lnnkit.loads(text)
    kb.infer()
    return [{tuple(each.bindings.values()): (each.lower, each.upper) for each in own} for own in kb.answers()]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each stratum that is completed from now on, whether its inputs were exact."""
    found: list[bool] = []
    asked = completion.exact_inputs

    def counting(*arguments: object) -> bool:
        found.append(asked(*arguments))  # pyright: ignore[reportArgumentType]: passed on as it came
        return found[-1]

    monkeypatch.setattr(completion, "exact_inputs", counting)  # that the case occurs at all, which no answer shows
    return found


@pytest.mark.parametrize("block", in_blocks(range(300), 25, plain=2))
def test_as_if_both_ends_were_computed(block: range, counted: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in block:
        text = drawn(seed)
        one = answered(text)
        with monkeypatch.context() as patch:
            # The general way, which such programs do not take
            patch.setattr(completion, "exact_inputs", lambda *_: False)
            other = answered(text)
        assert [each.keys() for each in one] == [each.keys() for each in other], text
        for mine, theirs in zip(one, other, strict=True):
            for binding, bounds in mine.items():
                assert bounds == pytest.approx(theirs[binding], abs=1e-9), (text, binding)
    assert sum(counted) > len(block)


@pytest.mark.parametrize("block", in_blocks(range(300), 50, plain=3))
def test_oracle(block: range, counted: list[bool]) -> None:
    compared = 0
    for seed in block:
        draw = random.Random(seed)
        program = generate(seed, 1 + seed % 6, MODES[seed % 3]).program
        closed = [
            each if each.numeric else replace(each, sorts=each.sorts or ("entity",) * each.arity, closed=True)
            for each in program.predicates
        ]
        facts = []
        for fact in program.facts:
            value = draw.choice([fact.lower, fact.upper, 1.0])
            facts.append(fact._replace(lower=value, upper=value))
        program = replace(program, predicates=closed, facts=facts)
        try:
            lnnkit.loads(to_text(program))
            found = disagreements(program)
        except (lnnkit.ProgramError, ProgramError):  # negation through recursion
            continue
        if found is not None:
            compared += 1
            assert not found, f"seed {seed}:\n{to_text(program)}\n" + "\n".join(found)
    assert compared > len(block) // 2
    assert sum(counted) > len(block) // 5


def test_heads_that_no_truth_satisfies() -> None:
    """Then the lower end says nothing, and the upper one that anything may be."""
    text = """
predicate A(person) closed
predicate B(person) closed
predicate C(person) closed
fact A(anna)
axiom A(X) -> B(X) & C(bob) & false
query B(X)
query C(X)
"""
    (b,), (c,) = answered(text)[0].values(), answered(text)[1].values()
    assert b == c == (0.0, 1.0)


def test_proofs_of_either_end() -> None:
    kb = lnnkit.loads(REACH + "".join(f"fact edge(n{i}, n{i + 1})\n" for i in range(12)) + "fact edge(n3, n9)\n")
    kb.infer()
    for atom in ("path(n0, n12)", "path(n12, n0)", "apart(n8, n3)", "apart(n3, n8)"):
        proof = kb.explain(atom)
        assert proof.verify() == []
    assert kb.ask("path(n0, n12)")[0].lower == kb.ask("path(n0, n12)")[0].upper == 1
    assert kb.ask("path(n12, n0)")[0].upper == 0
