"""A fixpoint that was revised has, of every atom, what a fresh one has: bounds, lists, classes and what facts give; no
instance has more to say, and its events lead to its bounds."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.inference_run import Run
from lnnkit.store.relations import Relation
from tests.blocks import at_length
from tests.engine.every_round import classes, ended, entities_of
from tests.engine.test_stopped_rounds import ends_of, replayed
from tests.kb.test_retracting import Changing
from tests.kb.test_revised_numbers import Readings
from tests.kb.test_revising import Graph, counted, text
from tests.programs import MODES, generate, to_text

Atoms = dict[tuple[str, tuple[int, ...]], tuple[float, float]]


def named(run: Run, atoms: Atoms) -> dict[tuple[str, tuple[str, ...]], tuple[float, float]]:
    """Those that differ from the default, by the names of their entities."""
    texts = {number: name for name, number in run.grounding.domain.index.items()}
    return {
        (name, tuple(texts.get(entity, "") for entity in entities)): pair
        for (name, entities), pair in atoms.items()
        if pair != run.grounding.atoms.tables[name].default
    }


def listed(run: Run, table: Relation, name: str) -> set[tuple[str, ...]]:
    texts, entities = {n: text for text, n in run.grounding.domain.index.items()}, entities_of(table)
    return {tuple(texts.get(e, "") for e in entities[row]) for row in table.listing(name).values.tolist()}


def compared(kb: lnnkit.KnowledgeBase, fresh: lnnkit.KnowledgeBase) -> None:
    run, anew = (one._session.program_fixpoint().run for one in (kb, fresh))
    atoms, others = named(run, ends_of(run)), named(anew, ends_of(anew))
    # what was needed before is still worked out
    assert others.items() <= atoms.items()
    assert {name for name, _ in atoms.keys() - others.keys()} <= run.plan.partly_known
    for name, table in run.grounding.atoms.tables.items():
        other = anew.grounding.atoms.tables[name]
        rows = np.arange(len(table), dtype=np.int32)
        lower, upper = table.bounds
        for list_ in ("given", "listed"):
            assert listed(run, table, list_) == listed(anew, other, list_)
        for list_, differ in (("lower", lower != table.default[0]), ("upper", upper != table.default[1])):
            assert {*rows[differ].tolist()} <= {*table.listing(list_).values.tolist()}
            assert {*table.listing(list_).values.tolist()} <= {*table.listing("either").values.tolist()}
            assert len(table.listing(list_)) == len({*table.listing(list_).values.tolist()})
        texts = {number: text for text, number in run.grounding.domain.index.items()}
        index, known = anew.grounding.domain.index, {row: place for place, row in enumerate(entities_of(other))}
        for row, *pair in zip(entities_of(table), *(end.tolist() for end in table.stated(rows)), strict=True):
            place = known.get(tuple(index.get(texts.get(entity, ""), -1) for entity in row), -1)
            there = other.stated(np.array([place], np.int32)) if place >= 0 else other.default
            assert pair == [np.asarray(end).item() for end in there]
        classes(run, table)
    ended(run)
    replayed(run)


@pytest.mark.parametrize("seed", at_length([*range(3000, 3010)], plain=3))
def test_graphs(seed: int) -> None:
    graph = Graph(seed)
    for _ in range(3):
        with counted() as counts:
            with graph.kb.transaction():
                for _ in range(graph.draw.choice((1, 1, 3))):
                    graph.change()
            graph.kb.infer()
        if counts[True] and graph.kb.outcome.status == "converged" and not graph.kb.contradictions:
            compared(graph.kb, lnnkit.loads(text(graph.program, graph.facts)))


@pytest.mark.parametrize("seed", at_length([*range(3000, 3006)], plain=3))
def test_numbers(seed: int) -> None:
    readings = Readings(seed)
    for _ in range(3):
        readings.change()
        with counted() as counts:
            readings.kb.infer()
        if counts[True] and readings.kb.outcome.status == "converged" and not readings.kb.contradictions:
            compared(readings.kb, lnnkit.loads(readings.text()))


@pytest.mark.parametrize("seed", at_length([*range(3000, 3008)], plain=3))
def test_programs(seed: int) -> None:
    chance = random.Random(seed)
    changing = Changing(generate(seed, chance.randrange(1, 7), chance.choice(MODES)).program, chance)
    changing.kb.infer()
    for _ in range(3):
        changing.change()
        with counted() as counts:
            changing.kb.infer()
        if counts[True] and changing.kb.outcome.status == "converged" and not changing.kb.contradictions:
            compared(changing.kb, lnnkit.loads(to_text(changing.program)))
