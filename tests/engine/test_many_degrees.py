"""Tables of many different degrees, none of which is looked up by its class."""

from __future__ import annotations

import numpy as np
import pytest

import lnnkit
from lnnkit.engine import encoded_bounds as classes
from lnnkit.engine.response import response_table as truth_table
from tests.agreement import disagreements
from tests.blocks import in_blocks
from tests.programs import MODES, generate, to_text


@pytest.fixture
def soft(monkeypatch: pytest.MonkeyPatch) -> None:
    """No bounds have a class: nothing is looked up in truth tables."""
    monkeypatch.setattr(classes, "_CLASSES", 0)  # so that small programs have more degrees than classes
    monkeypatch.setattr(truth_table, "_SIZE", 0)  # likewise


@pytest.mark.usefixtures("soft")
@pytest.mark.parametrize("block", in_blocks(range(5_000_000, 5_000_030), 30, plain=0))
def test_oracle_where_no_bounds_are_alike(block: range) -> None:
    agree(block)


def agree(seeds: range) -> None:
    for seed in seeds:
        program = generate(seed, 1 + seed % 6, MODES[seed % 3]).program
        found = disagreements(program)
        assert not found, f"seed {seed}:\n{to_text(program)}\n" + "\n".join(found)


@pytest.mark.parametrize("body", ["A(X) -> B(X)", "A(X)@1.3 -> B(X)", "A(X) & B(X)@0.5", "A(X)@2 | B(X)@0.3"])
def test_many_degrees_in_product_logic_give_the_bounds_of_each_alone(body: str) -> None:
    """Its kernels compute some rows again, for which both ends must have an entry a row."""
    text = f"logic product\npredicate A(e)\npredicate B(e)\nrule ({body}) -> D(X)\nquery D(X)"
    degrees = np.random.default_rng(0).random((2, 2, 300))
    together = lnnkit.loads(text)
    for name, ends in zip("AB", np.sort(degrees, axis=1), strict=True):
        together.tell(name, {"e": np.arange(300), "lower": ends[0], "upper": ends[1]})
    found = together.ask("D(X)").lower
    for row in range(0, 300, 60):
        alone = lnnkit.loads(text)
        for name, ends in zip("AB", np.sort(degrees, axis=1), strict=True):
            alone.tell(name, {"e": [row], "lower": ends[0, row : row + 1], "upper": ends[1, row : row + 1]})
        assert alone.ask("D(X)").lower[0] == pytest.approx(found[row], abs=1e-12)


def test_a_rule_that_names_an_empty_table_twice_makes_each_atom_once() -> None:
    """Of H(p, q) the two instances say 0.9 and 0.8; it is one atom, which both of them bound."""
    text = "predicate H(t, t)\nfact G(p, q) = 0.9\nfact G(q, p) in [0.8, 1]\nquery H(X, Y)\n"
    text += "axiom G(X, Y) -> H(X, Y) & H(Y, X)\n"
    found = [(tuple(each.bindings.values()), each.lower, each.upper) for each in lnnkit.loads(text).answers()[0]]
    assert sorted(found) == [(("p", "q"), 0.9, 1.0), (("q", "p"), 0.9, 1.0)]


@pytest.mark.slow
def test_many_rows() -> None:
    count = 300_000
    rng = np.random.default_rng(1)
    low = rng.uniform(0.6, 1, (3, count))
    high = np.minimum(low + rng.uniform(0, 0.1, (3, count)), 1)
    some = np.arange(0, count, 7)
    conjunction = np.maximum(low.sum(0) - 2, 0)
    cap = np.minimum(conjunction[some] + rng.uniform(0, 0.3, len(some)), 1)
    kb = lnnkit.loads(
        """
        predicate A(row)
        predicate B(row)
        predicate C(row)
        predicate Q(row)
        axiom A(X) & B(X) & C(X) -> Q(X)
        query Q(X)
        query A(X)
        """
    )
    rows = np.arange(count)
    for name, lower, upper in zip("ABC", low, high, strict=True):
        kb.tell(name, {"row": rows, "lower": lower, "upper": upper})
    kb.tell("Q", {"row": some, "lower": np.zeros(len(some)), "upper": cap})
    kb.infer()
    head, operand = kb.answers()
    wanted = dict(zip(map(str, rows.tolist()), conjunction.tolist(), strict=True))
    found = {each.bindings["X"]: each.lower for each in head}
    assert {row: value for row, value in wanted.items() if value > 1e-9}.keys() <= found.keys()
    assert np.allclose([found[row] for row in found], [wanted[row] for row in found], rtol=0, atol=1e-9)
    above = high[0].copy()
    above[some] = np.minimum(above[some], np.maximum(cap + 2 - low[1][some] - low[2][some], low[0][some]))
    upper = {each.bindings["X"]: each.upper for each in operand}
    assert np.allclose([upper[str(row)] for row in rows.tolist()], above, rtol=0, atol=1e-9)
    for atom in ("Q(7)", "Q(8)", "A(14)"):
        assert kb.explain(atom).verify() == []


def test_a_consequent_that_names_an_atom_twice() -> None:
    kb = lnnkit.loads(
        """
        predicate A(thing)
        predicate B(thing)
        predicate Q(thing)
        fact A(a)
        fact A(b)
        fact B(a)
        fact B(b)
        rule A(X) & B(X) -> Q(X)@0.9 & Q(X)@0.5
        query Q(X)
        """
    )
    kb.infer()
    assert [(each.bindings["X"], each.lower) for each in kb.answers()[0]] == [("a", 1.0), ("b", 1.0)]
