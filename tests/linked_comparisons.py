"""Random programs that compare numbers of entities that a third one links, also under quantifiers, in the oracle's
structure."""

from __future__ import annotations

import itertools
import random

from tests.oracle import Fact, Formula, Predicate, Program, Statement
from tests.oracle.program import free_variables

PEOPLE, TEAMS = ("anna", "bob", "cleo", "dora"), ("red", "blue")
SORTS = {"X": "person", "Y": "person", "G": "team", "H": "team"}
LOGICS = ("lukasiewicz", "lukasiewicz", "godel", "product")


def generate(seed: int) -> Program:
    """A program of two to five statements. Facts are drawn freely, so it may contradict itself."""
    rng = random.Random(f"linked {seed}")
    people, teams = PEOPLE[: rng.choice([2, 3, 3, 4])], TEAMS[: rng.choice([1, 2])]
    predicates = [
        Predicate("In", 2, ("person", "team"), closed=rng.random() < 0.5),
        Predicate("Joined", 2, ("person", "team"), closed=rng.random() < 0.3),
        Predicate("Near", 2, ("person", "person"), closed=rng.random() < 0.4),
        Predicate("Beats", 2, ("person", "person")),
        Predicate("Mark", 1, ("person",)),
        Predicate("Picked", 1, ("person",), closed=rng.random() < 0.2),
        Predicate("age", 1, ("person",), numeric=True),
        Predicate("pay", 1, ("person",), numeric=True),
        Predicate("limit", 1, ("team",), numeric=True),
    ]
    domains = {"person": people, "team": teams}
    facts = [each for predicate in predicates for each in _facts(rng, predicate, domains)]
    derives = rng.random() < 0.4
    statements = [_statement(rng) for _ in range(rng.choice([1, 2, 3]))]
    if derives:
        statements.append(Statement("rule", _implies(_atom("Joined", "X", "G"), _atom("In", "X", "G")), 1.0, 1.0))
    logic = rng.choice(LOGICS)
    queries = [_atom("Beats", "X", "Y"), _atom("Mark", "X"), _atom("Near", "X", "Y"), ("number", "age", (_var("X"),))]
    if rng.random() < 0.3:
        queries.append(_and(rng, [_atom("In", "X", "G"), _atom("In", "Y", "G"), _comparison(rng, ["X", "Y"])]))
    return Program(predicates, facts, statements, queries, {"person": False, "team": False}, logic)


def _facts(rng: random.Random, predicate: Predicate, domains: dict[str, tuple[str, ...]]) -> list[Fact]:
    if predicate.name == "Beats":
        return []
    found: list[Fact] = []
    share = rng.choice([0.4, 0.7, 1.0])
    for row in itertools.product(*(domains[sort] for sort in predicate.sorts or ())):
        if rng.random() > share:
            continue
        if predicate.numeric:
            low = float(rng.randint(0, 6))
            found.append(Fact(predicate.name, row, low, low + rng.choice([0, 0, 0, 2])))
        else:
            truth = rng.choice([1.0, 1.0, 0.0, 0.75, 0.25])
            found.append(Fact(predicate.name, row, truth, truth if rng.random() < 0.8 else 1.0))
    return found


def _statement(rng: random.Random) -> Statement:
    body = _linked(rng)
    free = [*free_variables(body)]
    shape = rng.random()
    if shape < 0.45:
        return Statement("rule", _implies(body, _head(rng, free)), *rng.choice([(1.0, 1.0), (0.8, 1.0)]))
    bound = tuple(rng.sample(free, rng.randint(1, len(free))))
    inner: Formula = (rng.choice(["exists", "exists", "forall"]), bound, body)
    left = [each for each in free if each not in bound and SORTS[each] == "person"]
    if shape < 0.65 or not left:
        return Statement("axiom", inner, *rng.choice([(1.0, 1.0), (0.7, 1.0), (0.0, 0.2)]))
    if rng.random() < 0.6:
        inner = _and(rng, [_atom(rng.choice(["Mark", "Picked"]), left[0]), inner])
    return Statement("rule", _implies(inner, _head(rng, left)), 1.0, 1.0)


def _linked(rng: random.Random) -> Formula:
    """Two people, linked or not, whose numbers are compared."""
    links = rng.choice(
        [
            [_atom("In", "X", "G"), _atom("In", "Y", "G")],
            [_atom("In", "X", "G"), _atom("Joined", "Y", "G")],
            [_atom("In", "X", "G"), _atom("Joined", "X", "H"), _atom("In", "Y", "H"), _atom("Joined", "Y", "G")],
            [_atom("Near", "X", "Y")],
            [_atom("In", "X", "G"), _atom("Near", "X", "Y")],
            [_atom("In", "X", "G"), _atom("Picked", "Y")],
        ]
    )
    parts = [*links, _comparison(rng, rng.choice([["X", "Y"], ["Y", "X"], ["X", "Y"], ["X", "G"]]))]
    if rng.random() < 0.25:
        parts[-1] = _or([parts[-1], _atom(rng.choice(["Mark", "Picked"]), rng.choice(["X", "Y"]))])
    if rng.random() < 0.3:
        parts.append(_atom(rng.choice(["Mark", "Picked"]), rng.choice(["X", "Y"])))
    parts = [("not", each) if rng.random() < 0.12 else each for each in parts]
    rng.shuffle(parts)
    if rng.random() < 0.15:
        return _or([_and(rng, parts[:2]), *parts[2:]])
    return _and(rng, parts)


def _comparison(rng: random.Random, variables: list[str]) -> Formula:
    one, two = variables
    names = ["age", "pay"]
    left: Formula = ("number", rng.choice(names), (_var(one),))
    right: Formula = ("number", "limit" if two in ("G", "H") else rng.choice(names), (_var(two),))
    if rng.random() < 0.2:
        right = ("add", right, ("constant", float(rng.randint(-2, 2))))
    scale = rng.choice([None, None, None, 2.0])
    return "compare", rng.choice([">", ">=", "<", "<=", "=", "!="]), left, right, scale, None


def _head(rng: random.Random, free: list[str]) -> Formula:
    people = [each for each in free if SORTS[each] == "person"] or ["X"]
    if len(people) > 1 and rng.random() < 0.5:
        return _atom("Beats", *people[:2])
    if rng.random() < 0.15:
        return _comparison(rng, [people[0], people[-1]])
    head = _atom("Mark", people[0])
    return ("not", head) if rng.random() < 0.15 else head


def _var(name: str) -> tuple[str, str]:
    return "var", name


def _atom(name: str, *variables: str) -> Formula:
    return "atom", name, tuple(map(_var, variables))


def _and(rng: random.Random, parts: list[Formula]) -> Formula:
    return "and", tuple((rng.choice([1.0, 1.0, 1.0, 1.0, 2.0]), each) for each in parts), 1.0, None


def _or(parts: list[Formula]) -> Formula:
    return "or", tuple((1.0, each) for each in parts), 1.0, None


def _implies(body: Formula, head: Formula) -> Formula:
    return "implies", (1.0, body), (1.0, head), 1.0, None
