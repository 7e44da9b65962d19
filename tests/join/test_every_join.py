"""Every join of an inference against nested loops over all entities."""

from __future__ import annotations

import random

import pytest

import lnnkit
from lnnkit.join import join_index, literal_join
from tests.join.every_join import watched
from tests.linked_comparisons import generate as compared
from tests.programs import MODES, generate, to_text

ARITIES = {"E": 2, "F": 2, "G": 3, "U": 1, "V": 1, "P": 2, "Q": 1, "R": 3, "S": 2}
FACTS = "EFGUV"  # the other predicates are derived
SORTS = {"E": "(a, a)", "F": "(a, entity)", "G": "(a, a, a)", "U": "(a)", "V": "(entity)"}


def recursive(seed: int) -> str:
    """Rules of up to five literals that feed each other; variables may stand several times, beside constants."""
    rng = random.Random(seed)
    names = [f"n{i}" for i in range(5)]
    lines = [f"predicate {name}{sorts}{rng.choice(['', ' closed'])}" for name, sorts in SORTS.items()]
    lines += [
        f"predicate {name}({', '.join(['entity'] * ARITIES[name])}){rng.choice(['', '', ' closed'])}" for name in "PQRS"
    ]
    for name in FACTS:
        for _ in range(rng.choice([3, 8, 12, 16])):
            arguments = ", ".join(rng.choice(names) for _ in range(ARITIES[name]))
            lines.append(f"fact {name}({arguments}){rng.choice(['', '', '', ' = 0.75', ' in [0, 1]'])}")
    lines += [f"fact U({name})" for name in names[:2]] + ["fact V(m)"]

    def atom(name: str, variables: str) -> str:
        terms = [rng.choice(variables) if rng.random() < 0.93 else rng.choice(names) for _ in range(ARITIES[name])]
        return f"{name}({', '.join(terms)})"

    closed = {line.split("(")[0].split()[1] for line in lines if line.endswith(" closed")}
    for layer, head in enumerate("PQRSPQRS"[: rng.choice([3, 4, 6])]):
        if layer and rng.random() < 0.2 and head not in closed:
            lines.append(f"rule {atom(head, 'XY')} -> {atom(rng.choice('QS'), 'XY')}")
        variables = rng.choice(["XY", "XYZ", "XYZ", "XYZW"])
        body = [
            atom(rng.choice(FACTS + FACTS + "PQRS"[: 1 + "PQRS".index(head)]), variables)
            for _ in range(rng.choice([1, 2, 2, 3, 3, 4]))
        ]
        used = sorted({term for term in variables if any(term in part for part in body)}) or ["n0"]
        negated = [f"~{part}" if part[0] in FACTS and rng.random() < 0.1 else part for part in body]
        arguments = [rng.choice(used) for _ in range(ARITIES[head])]
        inner = [term for term in used if term not in arguments and term in variables]
        text = " & ".join(negated)
        if inner and rng.random() < 0.6:
            text = f"(exists {', '.join(inner)}: {text})"
        lines.append(f"rule {text} -> {head}({', '.join(arguments)})")
    lines += [f"query {name}({', '.join('XYZ'[: ARITIES[name]])})" for name in "PQRS"]
    return "\n".join(dict.fromkeys(lines)) + "\n"


def cut(patch: pytest.MonkeyPatch, rng: random.Random) -> None:
    """Work small programs out as large ones: in parts, and by keys that are searched, of few columns."""
    patch.setattr(literal_join, "CHUNK", rng.choice([1, 3, 100, 100]))
    patch.setattr(literal_join, "_TRIED", rng.choice([1, 6]))
    patch.setattr(join_index, "_DENSE", rng.choice([0, 2**16]))
    patch.setattr(join_index, "_BITS", rng.choice([5, 10, 62, 62]))


@pytest.mark.parametrize("block", range(12))
def test_rules_that_feed_each_other(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched() as watching:
        for seed in range(5 * block, 5 * block + 5):
            cut(monkeypatch, random.Random(seed))
            lnnkit.loads(recursive(seed)).plan()
    assert watching.compared > 0


def test_formulas_of_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched() as watching:
        for seed in range(10):
            cut(monkeypatch, random.Random(seed))
            drawn = generate(seed, 2 + seed % 5, MODES[seed % 3], equal=0.1 * (seed % 2), linked=0.5 * (seed % 2))
            lnnkit.loads(to_text(drawn.program)).plan()
    assert watching.compared > 60


def test_comparisons_that_limit_joins(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched() as watching:
        for seed in range(10):
            cut(monkeypatch, random.Random(seed))
            lnnkit.loads(to_text(compared(seed))).plan()
    assert watching.compared > 100


@pytest.mark.parametrize("seed", range(3))
def test_keys_of_fewer_columns_than_are_bound(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of two entities fits into a key; the other one is compared."""
    monkeypatch.setattr(join_index, "_BITS", 5)
    rng = random.Random(seed)
    lines = [f"fact G(n{rng.randrange(5)}, n{rng.randrange(5)}, n{rng.randrange(5)})" for _ in range(40)]
    lines += [f"fact E(n{rng.randrange(5)}, n{rng.randrange(5)})" for _ in range(8)]
    lines += ["rule E(X, Y) & G(X, Y, Z) -> P(X, Z)", "rule P(X, Y) & G(X, Z, Y) -> E(Y, Z)", "query P(X, Y)"]
    with watched() as watching:
        lnnkit.loads("\n".join(dict.fromkeys(lines)) + "\n").plan()
    assert watching.compared > 5
