"""Facts that enter relations, against a dictionary; comparisons of the same terms, against the signs of their
difference; which instances are arrested, against a set; and what a statement concludes."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.arrays import DOUBLE
from lnnkit.engine.bounds_state import State
from lnnkit.engine.planning.inference_plan import consequents, met
from lnnkit.engine.response.proposing import Arrests
from lnnkit.engine.start.first_bounds import enter_facts
from lnnkit.graph.laws import EVERY, SIGNS
from lnnkit.graph.lifted import Reference, Related, SignedComparison
from lnnkit.join.bindings import NOTHING, Bindings
from lnnkit.logic.bounds import Bounds
from lnnkit.store.layout import Given
from lnnkit.store.relations import DEFAULT, Relations, Schema
from lnnkit.store.row_arrays import Array
from lnnkit.trail.events import Trail
from tests.engine.every_round import rows_of


def given(rng: random.Random, name: str, tuples: list[tuple[int, ...]]) -> Given:
    rows = sorted(rng.choices(tuples, k=len(tuples)) if rng.random() < 0.6 else tuples)
    if rng.random() < 0.2:
        pair = (0.75, 1.0)
        lower, upper = (np.broadcast_to(np.array(end), len(rows)) for end in pair)
    else:
        low = [rng.choice([0.0, 0.25, 0.5]) for _ in rows]
        ends = [(end, rng.choice([0.5, 0.75, 1.0, 0.0 if rng.random() < 0.3 else 1.0])) for end in low]
        lower, upper = (np.array(end) for end in zip(*ends, strict=True))
    columns = tuple(np.array(column, np.int32) for column in zip(*rows, strict=True))
    return Given(name, columns, lower, upper)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_facts_about_one_atom_meet(seed: int, single: bool) -> None:
    rng = random.Random(seed)
    dtype = np.dtype(np.float32) if single else DOUBLE
    atoms, state = Relations(100, dtype), State(dtype, Trail(dtype))
    default = rng.choice([(0.0, 1.0), (0.0, 0.0)])
    tables = [atoms.add(Schema(name, ("x", "x"), default)) for name in "PQR"]
    atoms.add(Schema("None", ("x",), (0.0, 1.0)))
    empty = atoms.add(Schema("Z", (), (0.0, 1.0)))
    most = rng.choice([2, 30])
    tuples = [*{(rng.randrange(most), rng.randrange(most)) for _ in range(rng.choice([1, 12]))}]
    same = given(rng, "P", tuples)
    facts = [same, Given("Q", same.columns, same.upper, same.upper), given(rng, "R", tuples)]
    facts += [Given("None", (np.empty(0, np.int32),), np.empty(0), np.empty(0))]
    facts += [Given("Z", (), np.array([0.25, 0.5]), np.array([1.0, 0.75]))]
    enter_facts(atoms, state, facts)
    for table, stated in zip(tables, facts, strict=False):
        expected: dict[tuple[int, ...], tuple[float, float]] = {}
        for *row, low, high in zip(*(c.tolist() for c in (*stated.columns, stated.lower, stated.upper)), strict=True):
            least, most_ = expected.get(tuple(row), (low, high))
            expected[tuple(row)] = max(low, least), min(high, most_)
        assert rows_of(table).keys() == expected.keys()
        crossed: dict[tuple[int, ...], tuple[float, float]] = {}
        for row, place in rows_of(table).items():
            pair = expected[row]
            at = np.array([place], np.int32)
            if pair[0] > pair[1]:
                crossed[row] = pair
                pair = (0.0, 1.0)
            assert tuple(end.item() for end in table.read(at)) == pair
            assert bool(table.held(at)) == (row in crossed)
            for name, differs in (("lower", pair[0] != default[0]), ("upper", pair[1] != default[1])):
                assert bool(table.flags(name).take(at)) >= differs
            assert table.flags("given").take(at) and table.flags("listed").take(at)
        places = [entities for entities, row in rows_of(table).items() if row in table.crossed.rows.values.tolist()]
        assert {*places} == crossed.keys()
        assert (table in state.crossed) == bool(crossed)
    assert [end.tolist() for end in empty.bounds] == [[0.5], [0.75]]


@pytest.mark.parametrize("seed", range(60))
def test_comparisons_of_the_same_terms(seed: int) -> None:
    """One that is known alone implies what follows for every sign that it leaves; several that do not contradict each
    other imply it together."""
    rng, count = random.Random(seed), 20
    signs = rng.choice([*SIGNS.values()])
    relatives = tuple(
        SignedComparison(Reference(f"c{place}", ()), rng.choice([*SIGNS.values()]))
        for place in range(rng.choice([1, 2, 3]))
    )
    pairs = [(0.0, 1.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.3, 1.0), (0.0, 0.6), (0.2, 0.6), (5e-10, 1.0)]
    known = [[rng.choice(pairs) for _ in range(count)] for _ in relatives]
    ends = [Bounds(*(np.array(end) for end in zip(*column, strict=True))) for column in known]
    own = rng.choice([(0.0, 1.0), (0.2, 0.7)])
    found = met(Bounds(np.full(count, own[0]), np.full(count, own[1])), Related(signs, relatives), ends)
    for at in range(count):
        left, alone = set(EVERY), list[frozenset[int]]()
        for relative, column in zip(relatives, known, strict=True):
            low, high = column[at]
            true, false = low > 1e-9, high < 1 - 1e-9
            alone += [relative.signs] * true + [EVERY - relative.signs] * false
            if true != false:
                left &= relative.signs if true else EVERY - relative.signs
        is_true = any(each <= signs for each in [*alone, left])
        is_false = any(each.isdisjoint(signs) for each in [*alone, left])
        assert found.lower[at] == (1.0 if is_true else own[0]), (signs, relatives, [c[at] for c in known])
        assert found.upper[at] == (0.0 if is_false else own[1]), (signs, relatives, [c[at] for c in known])


@pytest.mark.parametrize(
    ("statement", "sides"),
    [
        ("A(X) -> B(X)", {("B", "lower")}),
        ("A(X) -> ~B(X)", {("B", "upper")}),
        ("A(X) -> B(X) & ~C(X)", {("B", "lower"), ("C", "upper")}),
        ("A(X) -> ~(B(X) & C(X))", set()),  # it says nothing of either alone
        ("A(X) -> B(X) | C(X)", set()),
        ("A(X) -> ~~B(X)", {("B", "lower")}),
        ("A(X) -> B(X) & (C(X) & D(X))", {("B", "lower"), ("C", "lower"), ("D", "lower")}),
        ("A(X) & B(X)", set()),
        ("A(X) <-> B(X)", set()),
    ],
)
def test_what_statements_conclude(statement: str, sides: set[tuple[str, str]]) -> None:
    kb = lnnkit.loads("".join(f"predicate {name}(x)\nfact {name}(a)\n" for name in "ABCD") + f"axiom {statement}\n")
    plan = kb._session.program_fixpoint().run.plan
    found = [consequents(rule.formula) for rule in plan.rules if rule.formula.auxiliary is None]
    assert set[tuple[str, str]]().union(*found) == sides


@pytest.mark.parametrize("body", ["P(X) & Q(X, Y)", "P(X) & S(Y)"])
@pytest.mark.parametrize("seed", range(12))
def test_arrested_instances(seed: int, body: str) -> None:
    """By the row of an atom that names all variables, or by their entities."""
    rng = random.Random(seed)
    head = "predicate P(x)\npredicate Q(x, x)\npredicate S(x)\nfact P(a)\nfact S(a)\nfact Q(a, a)\n"
    kb = lnnkit.loads(f"{head}rule {body} -> R(X)\nquery R(X)\n")
    (rule,) = (response.rule for response in kb._session.program_fixpoint().run.responses.values())
    arrests, known = Arrests(rule), set[tuple[int, int]]()
    assert (arrests.naming is None) == ("Q" not in body)
    listed = {(x, y): 3 * x + y for x in range(3) for y in range(3) if rng.random() < 0.7 or arrests.naming is None}
    for _ in range(5):
        pairs = [(rng.randrange(3), rng.randrange(3)) for _ in range(rng.choice([1, 4, 8]))]
        columns = {v: np.array(c, np.int32) for v, c in zip((0, 1), zip(*pairs, strict=True), strict=True)}
        bindings = Bindings(len(pairs), NOTHING.bind(frozenset({0, 1})), columns)
        rows = np.array([listed.get(pair, DEFAULT) for pair in pairs], np.int32)
        at = np.array(sorted(rng.sample(range(len(pairs)), rng.randint(1, len(pairs)))))

        def behind(_leaf: int, rows: Array = rows, at: Array = at) -> Array:
            return rows.take(at)

        new = arrests.add(bindings, at, behind)
        expected, fresh = list[int](), set[tuple[int, int]]()
        for position, place in enumerate(at.tolist()):
            if pairs[place] not in known | fresh:
                expected.append(position)
                fresh.add(pairs[place])
        assert [pairs[int(at[position])] for position in new] == [pairs[int(at[position])] for position in expected]
        known |= fresh
        assert len(arrests) == len(known)
        assert arrests.flags(bindings, lambda _, rows=rows: rows).tolist() == [pair in known for pair in pairs]
