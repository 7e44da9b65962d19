"""Recursion and joins on published graphs and on seeded random ones, against counts from other engines and joins in
plain Python and DuckDB."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

import lnnkit

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
Pairs = set[tuple[str, str]]


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if not (DATA / name).exists()]
    return pytest.mark.skipif(bool(missing), reason=f"no {', '.join(missing)} in {DATA}; set LNNKIT_DATA")


def true_pairs(kb: lnnkit.KnowledgeBase, query: str) -> Pairs:
    answers = kb.ask(query)
    assert not answers.contested.any()
    rows = zip(*answers.columns, strict=True)
    return {row for row, lower in zip(rows, answers.lower.tolist(), strict=True) if lower >= 1 - 1e-9}  # type: ignore[misc]


def triples(*files: str) -> dict[str, Pairs]:
    """Relation -> pairs."""
    found: dict[str, Pairs] = {}
    for file in files:
        for line in (DATA / file).read_text(encoding="utf-8").splitlines():
            subject, relation, object_ = line.split("\t")
            found.setdefault(relation, set()).add((subject, object_))
    return found


def compose(first: Pairs, second: Pairs) -> Pairs:
    """{(x, z)} with first(x, y) and second(y, z)."""
    after: dict[str, list[str]] = {}
    for y, z in second:
        after.setdefault(y, []).append(z)
    return {(x, z) for x, y in first for z in after.get(y, ())}


def closure(edges: Pairs) -> Pairs:
    reached = set(edges)
    new = reached
    while new:
        new = compose(new, edges) - reached
        reached |= new
    return reached


def duck(sql: str, **tables: Iterable[tuple[str, str]]) -> Pairs:
    """The pairs that DuckDB answers over tables of (x, y)."""
    duckdb = pytest.importorskip("duckdb")
    import pyarrow as pa

    connection = duckdb.connect()
    for name, pairs in tables.items():
        xs, ys = zip(*pairs, strict=True)
        connection.register(name, pa.table({"x": list(xs), "y": list(ys)}))
    return set(connection.execute(sql).fetchall())


def loads(file: str, *relations: str) -> str:
    return "\n".join(f'load {r.lstrip("_")} from "{file}" (1, 3) where 2 = "{r}" no header' for r in relations)


# --- random graphs (anchors/relational.md, section 1: four other engines agree on these counts) -----------------------


def random_edges(count: int) -> Pairs:
    drawn = np.random.default_rng(0).integers(0, count, (2 * count, 2))
    return {(f"n{a}", f"n{b}") for a, b in np.unique(drawn, axis=0).tolist()}


PATH = "predicate edge(node, node)\nrule edge(X, Y) -> path(X, Y)\nquery path(X, Y)\n"
STEPS = {
    "right": "rule path(X, Y) & edge(Y, Z) -> path(X, Z)",
    "left": "rule edge(X, Y) & path(Y, Z) -> path(X, Z)",
    "both": "rule path(X, Y) & path(Y, Z) -> path(X, Z)",
}


@pytest.mark.parametrize(("count", "pairs"), [(10, 59), (20, 242), (30, 628), (50, 1296), (100, 7086)])
@pytest.mark.parametrize("step", STEPS)
def test_transitive_closure(step: str, count: int, pairs: int) -> None:
    """Self pairs included, which PyReason drops."""
    edges = random_edges(count)
    kb = lnnkit.loads(PATH + STEPS[step])
    kb.tell("edge", sorted(edges))
    assert kb.infer().status == "converged"
    found = true_pairs(kb, "path(X, Y)")
    assert len(found) == pairs
    assert found == closure(edges)
    assert len(kb.ask("path(X, Y)")) == pairs  # and nothing is half known


@pytest.mark.parametrize("count", [20, 100])
def test_transitive_closure_agrees_with_duckdb(count: int) -> None:
    edges = random_edges(count)
    sql = "WITH RECURSIVE p AS (SELECT x, y FROM e UNION SELECT p.x, e.y FROM p JOIN e ON p.y = e.x) SELECT * FROM p"
    kb = lnnkit.loads(PATH + STEPS["right"])
    kb.tell("edge", sorted(edges))
    assert true_pairs(kb, "path(X, Y)") == duck(sql, e=edges)


def test_closed_paths_are_false_where_there_is_none() -> None:
    """Negation as failure over a recursion, in a rule of the next stratum."""
    edges = random_edges(20)
    kb = lnnkit.loads(
        "predicate path(node, node) closed\npredicate edge(node, node) closed\n"
        f"rule edge(X, Y) -> path(X, Y)\n{STEPS['both']}\n"
        "rule edge(X, U) & edge(V, Y) & ~path(X, Y) -> apart(X, Y)\nquery path(X, Y)\nquery apart(X, Y)"
    )
    kb.tell("edge", sorted(edges))
    assert kb.infer().contradictions == ()
    paths = closure(edges)
    assert true_pairs(kb, "path(X, Y)") == paths
    sources, targets = {x for x, _ in edges}, {y for _, y in edges}
    assert true_pairs(kb, "apart(X, Y)") == {(x, y) for x in sources for y in targets} - paths
    # Unlisted pairs are the default of `~path`, so its answers are the pairs that are not.
    assert {tuple(a.bindings.values()) for a in kb.ask("~path(X, Y)") if a.state == "false"} == paths
    x, y = min({(x, y) for x in sources for y in targets} - paths)
    assert [answer.state for answer in kb.ask(f"~path({x}, {y})")] == ["true"]


def test_same_generation() -> None:
    """Three random trees from one generator; a pair is of one generation by a common parent, or by parents who are."""
    rng = np.random.default_rng(0)
    for count, pairs in ((20, 133), (50, 421), (100, 1411)):
        parent = {f"n{i}": f"n{int(rng.integers(0, i))}" for i in range(1, count)}
        kb = lnnkit.loads(
            "predicate parent(node, node)\n"
            "rule parent(X, P) & parent(Y, P) -> same(X, Y)\n"
            "rule parent(X, P) & parent(Y, Q) & same(P, Q) -> same(X, Y)\nquery same(X, Y)"
        )
        kb.tell("parent", sorted(parent.items()))
        found = true_pairs(kb, "same(X, Y)")
        assert len(found) == pairs
        depth = {"n0": 0}
        for child in parent:
            depth[child] = depth[parent[child]] + 1
        assert found == {(a, b) for a in parent for b in parent if depth[a] == depth[b]}


# --- friends and smokers ----------------------------------------------------------------------------------------------


def test_smokers_by_degrees() -> None:
    """998 of 1,000 are reached; each step costs .1: L(y) >= L(x) - .1 over the nearest smoker. PyReason gives 908.2."""
    rng = np.random.default_rng(0)
    drawn = np.unique(rng.integers(0, 1000, (5000, 2)), axis=0)
    friends = [(a, b) for a, b in drawn.tolist() if a != b]
    smokers = rng.choice(1000, 100, replace=False).tolist()
    kb = lnnkit.loads(
        "predicate Friends(person, person)\npredicate Smokes(person)\n"
        "rule Smokes(X) & Friends(X, Y) -> Smokes(Y) in [0.9, 1]\nquery Smokes(X)"
    )
    kb.tell("Friends", [(f"p{a}", f"p{b}") for a, b in friends])
    kb.tell("Smokes", [(f"p{a}",) for a in smokers])
    assert kb.infer().status == "converged"
    answers = kb.ask("Smokes(X)")
    assert int((answers.lower > 1e-9).sum()) == 998
    assert float(answers.lower.sum()) == pytest.approx(849.2, abs=1e-6)

    best = {f"p{a}": 1.0 for a in smokers}
    for _ in range(12):  # Bellman and Ford
        for a, b in friends:
            step = best.get(f"p{a}", 0.0) - 0.1
            if step > best.get(f"p{b}", 0.0) + 1e-12:
                best[f"p{b}"] = step
    expected = {name: value for name, value in best.items() if value > 1e-9}
    assert {a.bindings["X"]: a.lower for a in answers if a.lower > 1e-9} == pytest.approx(expected)


PROBLOG = "smokers/problog_8_smokers_network.pl"


@needs(PROBLOG)
def test_problog_smokers_are_within_the_bounds() -> None:
    """The file states exact probabilities given smokes(2). Lukasiewicz conjunction is Frechet's lower bound, so what is
    inferred from its two conditional rules bounds them from below; along one certain chain, exactly."""
    text = (DATA / PROBLOG).read_text(encoding="utf-8")
    friends = re.findall(r"^friend\((\d), ?(\d)\)\.", text, re.MULTILINE)
    expected = {(name, who): float(p) for name, who, p in re.findall(r"^% (\w+)\((\d)\) ([\d.]+)", text, re.MULTILINE)}
    assert len(expected) == 8
    kb = lnnkit.loads(
        'fact smokes("2")\n'
        "rule friend(X, Y) & smokes(Y) -> smokes(X) in [0.2, 1]\n"
        "rule smokes(X) -> asthma(X) in [0.4, 1]\npredicate friend(person, person)\nquery asthma(X)"
    )
    kb.tell("friend", friends)
    found = {name: {a.bindings["X"]: a.lower for a in kb.ask(f"{name}(X)")} for name in ("smokes", "asthma")}
    assert found["smokes"] == pytest.approx({"1": 0.2, "2": 1.0, "3": 0.2, "4": 0.2})
    assert found["asthma"] == pytest.approx({"2": 0.4})
    for (name, who), probability in expected.items():
        assert found[name].get(who, 0.0) <= probability + 1e-9
    assert expected["asthma", "2"] == pytest.approx(found["asthma"]["2"])


# --- knowledge graphs -------------------------------------------------------------------------------------------------


@needs("kg/countries_S1")
def test_countries_are_where_their_neighbourhood_is() -> None:
    """S1: a country lies in the region of its subregion; the test triples follow by the one rule."""
    files = ("kg/countries_S1/train.txt",)
    kb = lnnkit.loads(
        loads(files[0], "locatedin", "neighbor")
        + "\nrule locatedin(X, Y) & locatedin(Y, Z) -> locatedin(X, Z)\nquery locatedin(X, Y)",
        DATA,
    )
    found = true_pairs(kb, "locatedin(X, Y)")
    assert found == closure(triples(*files)["locatedin"])
    assert triples("kg/countries_S1/test.txt")["locatedin"] <= found
    assert len(triples("kg/countries_S1/test.txt")["locatedin"] - triples(*files)["locatedin"]) == 24


FAMILY = "kg/neurallp_family/facts.txt"
COMPOSED = {  # head: bodies of length 2
    "uncle": [("brother", "mother"), ("brother", "father")],
    "aunt": [("sister", "mother"), ("sister", "father")],
    "grandfather": [("father", "father"), ("father", "mother")],
    "nephew": [("son", "brother"), ("son", "sister")],
}


@needs("kg/neurallp_family")
def test_family_rules_of_length_two() -> None:
    facts = triples(FAMILY)
    rules = [f"rule {a}(X, Y) & {b}(Y, Z) -> {head}(X, Z)" for head, bodies in COMPOSED.items() for a, b in bodies]
    queries = [f"query {head}(X, Y)" for head in COMPOSED]
    kb = lnnkit.loads("\n".join([loads(FAMILY, *sorted(facts)), *rules, *queries]), DATA)
    assert kb.infer().contradictions == ()
    for head, bodies in COMPOSED.items():
        joined = set().union(*(compose(facts[a], facts[b]) for a, b in bodies))
        assert true_pairs(kb, f"{head}(X, Y)") == facts.get(head, set()) | joined, head
        assert len(joined) > 900


@needs("kg/neurallp_family")
def test_family_rules_agree_with_duckdb() -> None:
    """Recursive, with two relations and an inequality: siblings of siblings, and not oneself."""
    facts = triples(FAMILY)
    kb = lnnkit.loads(
        loads(FAMILY, "brother", "sister")
        + "\nrule brother(X, Y) | sister(X, Y) -> sibling(X, Y)"
        + "\nrule sibling(X, Y) & sibling(Y, Z) & X != Z -> sibling(X, Z)\nquery sibling(X, Y)",
        DATA,
    )
    sql = """WITH RECURSIVE s AS (SELECT x, y FROM e
        UNION SELECT a.x, b.y FROM s a JOIN s b ON a.y = b.x WHERE a.x <> b.y) SELECT * FROM s"""
    edges = facts["brother"] | facts["sister"]
    expected = set(edges)
    while more := {(x, z) for x, z in compose(expected, expected) if x != z} - expected:
        expected |= more
    found = true_pairs(kb, "sibling(X, Y)")
    assert found == expected
    assert found >= duck(sql, e=edges)  # where a CTE refers to itself twice it joins new rows with new ones only


@needs("kg/wn18rr")
def test_wn18rr_loads_whole() -> None:
    facts = triples("kg/wn18rr/train.txt")
    kb = lnnkit.loads(loads("kg/wn18rr/train.txt", *sorted(facts)) + "\nquery similar_to(X, Y)", DATA)
    assert sum(map(len, facts.values())) == 86_835
    assert true_pairs(kb, "similar_to(X, Y)") == facts["_similar_to"]
    for relation, pairs in facts.items():
        assert len(kb.ask(f"{relation.lstrip('_')}(X, Y)")) == len(pairs), relation


@pytest.mark.slow
@needs("kg/wn18rr")
def test_wn18rr_hypernyms_are_closed_as_duckdb_closes_them() -> None:
    edges = triples("kg/wn18rr/train.txt")["_hypernym"]
    sql = "WITH RECURSIVE p AS (SELECT x, y FROM e UNION SELECT p.x, e.y FROM p JOIN e ON p.y = e.x) SELECT * FROM p"
    kb = lnnkit.loads(
        loads("kg/wn18rr/train.txt", "_hypernym")
        + "\nrule hypernym(X, Y) -> is(X, Y)\nrule is(X, Y) & hypernym(Y, Z) -> is(X, Z)\nquery is(X, Y)",
        DATA,
    )
    found = true_pairs(kb, "is(X, Y)")
    assert len(found) > 100_000
    assert found == duck(sql, e=edges)
