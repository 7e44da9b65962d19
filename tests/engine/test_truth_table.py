"""Tables of what instances say, by the classes of bounds that their leaves have."""

from __future__ import annotations

import pytest

import lnnkit


def test_a_table_that_cannot_grow_stays_as_it_was() -> None:
    """Three rules of one shape share a table. A2 brings two new classes, but B2 has more bounds than there are classes;
    then A3 and B3 combine classes that are known."""
    facts = ["fact A1(a1)", "fact A1(a2) = 0.3", "fact A1(a3)", "fact B1(a1)", "fact B1(a2)", "fact B1(a3) = 0.6"]
    facts += [f"fact A2(b{i}) = {0.5 if i % 2 else 0.55}" for i in range(70)]
    facts += [f"fact B2(b{i}) = {0.3 + i / 1000:.3f}" for i in range(70)]
    facts += ["fact A3(c1) = 0.3", "fact B3(c1) = 0.6"]
    rules = [f"rule A{k}(X) & B{k}(X) -> C{k}(X)" for k in (1, 2, 3)]
    kb = lnnkit.loads("\n".join(["logic godel", *facts, *rules]))
    (answer,) = kb.ask("C3(X)")
    assert (answer.lower, answer.upper) == (0.3, 1)
    for answer in kb.ask("C2(X)"):
        number = int(answer.bindings["X"][1:])
        assert answer.lower == min(0.5 if number % 2 else 0.55, round(0.3 + number / 1000, 3))


@pytest.mark.slow
def test_wide_formulas_of_one_shape() -> None:
    """The places of classes that 256 leaves have not had before add up to more than 32 bits hold."""
    facts = [f"fact P{i}(a1)\nfact P{i}(a2) = 0.25\nfact Q{i}(b1) = 0.5\nfact Q{i}(b2) = 0.75" for i in range(256)]
    rules = [
        " & ".join(f"{name}{i}(X)" for i in range(256)) + f" -> {head}(X)" for name, head in (("P", "C"), ("Q", "D"))
    ]
    kb = lnnkit.loads("\n".join(["logic godel", *facts, *(f"rule {rule}" for rule in rules)]))
    assert [(a.bindings["X"], a.lower) for a in kb.ask("D(X)")] == [("b1", 0.5), ("b2", 0.75)]
    assert [(a.bindings["X"], a.lower) for a in kb.ask("C(X)")] == [("a1", 1.0), ("a2", 0.25)]
