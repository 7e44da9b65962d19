"""Facts in canonical order: what the rows say, and nothing of where they stood."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import lnnkit
from lnnkit.check.program import CheckedProgram
from lnnkit.store.layout import Given
from lnnkit.store.stated_facts import Order, given_facts, merged
from tests.data.in_bulk import reading
from tests.data.reading import in_order

DECLARED = "predicate P(entity, entity)\npredicate Q(entity)\npredicate Z()\n"


def checked(kb: lnnkit.KnowledgeBase) -> CheckedProgram:
    return kb._checked  # pyright: ignore[reportPrivateUsage]


def rows(given: Given) -> list[tuple[float, ...]]:
    columns = [column.tolist() for column in (*given.columns, given.lower, given.upper)]
    return list(zip(*columns, strict=True))


@pytest.fixture(params=[False, True], ids=["small", "bulk"])
def in_bulk(request: pytest.FixtureRequest) -> Iterator[None]:
    with reading(request.param):
        yield


@pytest.mark.usefixtures("in_bulk")
@pytest.mark.parametrize("seed", range(6))
def test_order_of_rows_files_and_tables_does_not_matter(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    names = ["a", "10", "aa", "é", "日本", "zz", "7", "07", "-3"][: rng.randint(2, 9)]
    facts = [
        (rng.choice(names), rng.choice(names), *sorted(rng.choices([0.0, 0.25, 1.0], k=2)))
        for _ in range(rng.randint(1, 30))
    ]
    if seed % 3 == 0:
        facts = [(left, right, 1.0, 1.0) for left, right, *_ in facts]
    index = {name: place for place, name in enumerate(in_order({*names, "extra"}))}
    expected = sorted((index[left], index[right], lower, upper) for left, right, lower, upper in facts)
    for _ in range(3):
        rng.shuffle(facts)
        cut = rng.randint(0, len(facts))
        body = "".join(f"{left},{right},{lower},{upper}\n" for left, right, lower, upper in facts[:cut])
        (tmp_path / "f.csv").write_text("s,o,l,u\n" + body, encoding="utf-8")
        load = 'load P from "f.csv"\n' if cut else ""
        said = [f'fact P("{a}", "{b}") in [{low}, {high}]\n' for a, b, low, high in facts[cut : cut + 5]]
        kb = lnnkit.loads(DECLARED + load + "".join(said) + "fact Z()\nfact ~Q(extra)\n", base=tmp_path)
        kb.tell("P", facts[cut + 5 :])
        found, (p, q, z), _ = given_facts(checked(kb), names)
        assert list(found.names) == list(index)
        assert {name: found[name] for name in index} == index
        assert [each.predicate for each in (p, q, z)] == ["P", "Q", "Z"]
        assert rows(p) == expected
        assert (rows(q), rows(z)) == ([(index["extra"], 0.0, 0.0)], [(1.0, 1.0)])
        assert all(column.dtype == np.int32 for column in p.columns)
        assert p.lower.dtype == p.upper.dtype == np.float64


def test_a_told_table_keeps_its_values() -> None:
    """Whoever changes his arrays, or infers again, changes no fact."""
    count = 30_000  # a large table is read another way
    for size in (3, count):
        kb = lnnkit.loads("predicate Q(thing)\npredicate R(thing)\nrule Q(X) -> R(X)\nquery Q(X)\nquery R(X)\n")
        names, truth = np.arange(size), np.full(size, 0.75)
        kb.tell("Q", {"thing": names, "truth": truth})
        kb.tell("R", {"thing": names, "lower": np.zeros(size), "upper": np.full(size, 0.9)})
        truth[:] = 0.0
        names[:] = 0
        for _ in range(2):
            kb.infer()
            found = [(set(each.lower.tolist()), set(each.upper.tolist()), len(each)) for each in kb.answers()]
            assert found == [({0.75}, {0.75}, size), ({0.75}, {0.9}, size)]


@pytest.mark.parametrize("entities_", [2, 5, 2**20, 2**31 - 1])
@pytest.mark.parametrize("width", range(5))
def test_keys_of_any_width(width: int, entities_: int) -> None:
    rng = np.random.default_rng(width)
    for crisp in (False, True):
        parts = []
        for size in (0, 1, 30):
            ids = [rng.integers(0, min(entities_, 3), size).astype(np.int32) for _ in range(width)]
            if width:
                ids[-1][:1] = entities_ - 1
            bounds = np.ones((2, size)) if crisp else rng.choice([0.0, 0.5, 1.0], (2, size))
            parts.append((*ids, *bounds))
        expected = sorted(row for part in parts for row in zip(*(column.tolist() for column in part), strict=True))
        got = merged(parts, entities_, Order())
        assert list(zip(*(column.tolist() for column in got), strict=True)) == expected
        again = merged([got], entities_, Order())
        assert all((one == two).all() for one, two in zip(got, again, strict=True))
