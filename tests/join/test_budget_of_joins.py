"""What joins count before they are made: exactly the instances of a rule, those of earlier rounds with them."""

from __future__ import annotations

import pytest

import lnnkit

COUNT = 30


def inferred(text: str, most: int) -> bool:
    """Whether a program is inferred with at most so many instances of a rule."""
    kb = lnnkit.loads(text)
    try:
        kb.infer(max_groundings=most)
    except lnnkit.BudgetError:
        return False
    return True


def facts(*names: str) -> str:
    """One tuple for each entity, of two in Pair and Twin."""
    lines = [
        f"fact {name}(y{i}, z{i})\n" if name in ("Pair", "Twin") else f"fact {name}({name.lower()}{i})\n"
        for name in names
        for i in range(COUNT)
    ]
    return "".join(lines)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("A(X) & B(Y)", COUNT**2),
        ("A(X) & B(Y) & C(Z)", COUNT**3),
        ("A(X) & Pair(Y, Z) & Twin(Y, Z)", COUNT**2),
        ("A(X) & B(Y) & Pair(Z, W)", COUNT**3),
        ("A(X) & Pair(Y, Z) & Twin(Y, W)", COUNT**2),
        ("Pair(X, Y) & Twin(X, Y)", COUNT),
    ],
)
def test_products(body: str, count: int) -> None:
    names = [name for name in ("A", "B", "C", "Pair", "Twin") if f"{name}(" in body]
    free = ", ".join(term for term in "XYZW" if term in body.replace("(", " ").replace("Twin", ""))
    text = f"{facts(*names)}rule {body} -> Head({free})\nquery Head({free})\n"
    assert inferred(text, count)
    assert not inferred(text, count - 1)


def test_rounds_count_together() -> None:
    """All paths of a chain but its edges are instances of one rule."""
    chain = "".join(f"fact Edge(n{i}, n{i + 1})\n" for i in range(COUNT))
    text = f"{chain}rule Edge(X, Y) -> Path(X, Y)\nrule Path(X, Y) & Edge(Y, Z) -> Path(X, Z)\nquery Path(X, Y)\n"
    paths = COUNT * (COUNT - 1) // 2
    assert inferred(text, paths)
    assert not inferred(text, paths - 1)


def test_what_is_multiplied_on_the_way_counts_alone() -> None:
    """Each round finds one more instance, from five products of which one remains."""
    chain = "".join(f"fact Edge(n{i}, n{i + 1})\n" for i in range(COUNT - 1))
    few = "".join(f"fact Few(m{i})\nfact Some(k{i})\n" for i in range(5)) + "fact Some(m0)\n"
    rules = "rule A(X) & Edge(X, Y) -> A(Y)\nrule A(X) & Few(Y) & Some(Y) -> Head(X, Y)\nquery Head(X, Y)\n"
    text = f"{chain}{few}fact A(n0)\n{rules}"
    assert inferred(text, COUNT)
    assert not inferred(text, COUNT - 1)
