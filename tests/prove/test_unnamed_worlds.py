"""Worlds with unnamed individuals, from which programs are made: what is inferred and proved holds in them."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest

import lnnkit
from lnnkit import errors
from tests.engine.unnamed_completion import VARIABLES, Completed
from tests.oracle import Formula, Program, ProgramError
from tests.oracle.network import Network
from tests.oracle.program import Fact, Predicate, Statement, free_variables
from tests.programs import to_text

SORT = {variable: sort for sort, own in VARIABLES.items() for variable in own}
Entities = tuple[str, ...]


@dataclass
class World:
    """The entities of each sort, named ones and all, and the atoms that are true."""

    named: Mapping[str, list[str]]
    people: Mapping[str, list[str]]
    true: set[tuple[str, Entities]]

    def rows(self, names: tuple[str, ...], *, named: bool = False) -> Iterator[dict[str, str]]:
        own = self.named if named else self.people
        for row in itertools.product(*(own[SORT[name]] for name in names)):
            yield dict(zip(names, row, strict=True))

    def holds(self, formula: Formula, env: Mapping[str, str]) -> bool:
        match formula[0]:
            case "true":
                return True
            case "atom":
                return (formula[1], tuple(env[text] for _, text in formula[2])) in self.true
            case "not":
                return not self.holds(formula[1], env)
            case "and":
                return all(self.holds(part, env) for _, part in formula[1])
            case "or":
                return any(self.holds(part, env) for _, part in formula[1])
            case "implies":
                return not self.holds(formula[1][1], env) or self.holds(formula[2][1], env)
        fold = all if formula[0] == "forall" else any
        return fold(self.holds(formula[2], {**env, **row}) for row in self.rows(formula[1]))


def crisp(formula: Formula) -> Formula:
    """Without weights; without equalities too, which give variables no sort."""
    match formula[0]:
        case "and" | "or":
            return (formula[0], tuple((1.0, crisp(part)) for _, part in formula[1]), 1.0, "")
        case "not":
            return ("not", crisp(formula[1]))
        case "forall" | "exists":
            body = crisp(formula[2])
            used = tuple(name for name in formula[1] if name in free_variables(body))
            return (formula[0], used, body) if used else body
        case "implies":
            return ("implies", *((1.0, crisp(part)) for _, part in formula[1:3]), 1.0, "")
    return ("true",) if formula[0] == "eq" else formula


def heads(consequent: Formula) -> list[Formula]:
    return [consequent] if consequent[0] == "atom" else [part for _, part in consequent[1]]


def planted(seed: int) -> tuple[Program, World]:
    """A program of `Completed` without truths between, whose facts a world tells. Raises `ProgramError` where a
    predicate rests on its own negation."""
    rng, given = random.Random(seed), Completed(seed).program
    named = {sort: [f"{sort}{i}" for i in range(rng.choice([0, 1, 2, 2]))] for sort in "abc"}
    more = {sort: rng.choice([0, 1, 2]) if given.sorts[sort] else 0 for sort in "abc"}
    people = {sort: [*named[sort], *(f"u{sort}{i}" for i in range(more[sort]))] for sort in "abc"}
    world = World(named, people, set())
    rules = [Statement("rule", crisp(each.formula)) for each in given.statements if each.kind == "rule"]
    derived = {each[1] for rule in rules for each in heads(rule.formula[2][1])}
    listing = [Predicate(f"N{sort}", 1, (sort,), closed=True) for sort in "abc"]
    facts = [Fact(f"N{sort}", (name,), 1.0, 1.0) for sort in "abc" for name in named[sort]]
    share = rng.choice([0.15, 0.4])
    for each in (each for each in given.predicates if each.name not in derived):
        for row in itertools.product(*(people[sort] for sort in each.sorts or ())):
            is_named = not any(text.startswith("u") for text in row)
            true = rng.random() < share and (is_named or not each.closed)
            if true:
                world.true.add((each.name, row))
            if is_named and (true if each.closed else rng.random() < 0.8):
                facts.append(Fact(each.name, row, float(true), float(true)))
    queries = [crisp(each) for each in given.queries]
    program = Program([*given.predicates, *listing], facts, rules, queries, given.sorts, given.logic)
    for names in Network(program).strata:
        size = -1
        while size != len(world.true):
            size = len(world.true)
            for rule in rules:
                own = [each for each in heads(rule.formula[2][1]) if each[1] in names]
                for env in world.rows(free_variables(rule.formula)) if own else ():
                    if world.holds(rule.formula[1][1], env):
                        world.true |= {(each[1], tuple(env[text] for _, text in each[2])) for each in own}
    return program, world


def compared(seeds: range, *, proving: bool) -> int:
    """How many questions were compared with a world; it has all that is said of them."""
    count = 0
    for seed in seeds:
        try:
            program, world = planted(seed)
            kb = lnnkit.loads(to_text(program))
        except (ProgramError, errors.ProgramError):
            continue
        for formula, answers in zip(program.queries, kb.answers(), strict=True):
            for env in world.rows(free_variables(formula), named=True):
                text = re.sub(r"\b[A-Z]2?\b(?!\()", lambda met: env.get(met[0], met[0]), answers.query)  # noqa: B023
                true = world.holds(formula, env)
                (found,) = kb.ask(text)
                assert found.lower <= true <= found.upper, f"seed {seed}: {text} is {true}"
                if proving:
                    verdict = kb.prove(text, timeout=10).verdict
                    assert verdict in ("neither", "timeout", "entailed" if true else "refuted"), f"seed {seed}: {text}"
                count += 1
    return count


def test_what_is_inferred_holds_in_planted_worlds() -> None:
    assert compared(range(15), proving=False) > 30


@pytest.mark.slow
def test_what_is_proved_holds_in_planted_worlds() -> None:
    pytest.importorskip("z3", reason="z3-solver is not installed")
    assert compared(range(200), proving=True) > 400
