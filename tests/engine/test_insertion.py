"""Atoms that are made before they are looked up leave everything as lookups do: bounds, winners, changes, budgets."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.inference_run import RoundReport, Run
from lnnkit.join.delta_rule import DeltaRule
from lnnkit.store.relations import LISTS, RowNumbers
from tests.blocks import at_length, in_blocks
from tests.programs import MODES, generate, to_text

CHAIN = """
predicate edge(node, node) closed
predicate path(node, node)
axiom edge(X, Y) -> path(X, Y)
axiom path(X, Y) & edge(Y, Z) -> path(X, Z)
query path(X, Y)
"""


def chain(length: int) -> str:
    return CHAIN + "".join(f"fact edge(n{i}, n{i + 1})\n" for i in range(length))


def recursive(seed: int) -> str:
    """A program of rules that feed one another, over a long sparse graph: relations, sorts, bounds and what else reads
    them are drawn."""
    draw = random.Random(seed)
    tame = draw.random() < 0.5
    names = [f"n{i}" for i in range(draw.choice([6, 12, 30, 60]))]
    lines = [f"predicate {e}(node, node) closed" for e in ("e", "f")]
    lines += ["predicate mark(node) closed"]
    lines += ["predicate p(node, node)", "predicate q(node, node)"]
    lines += ["predicate r(node)", "predicate s(node)"]
    truth = "" if tame else draw.choice(["", "", " in [0.9, 1]", " = 0.7"])
    for edge in ("e", "f"):
        for one, two in itertools.pairwise(names):
            if draw.random() < 0.95:
                lines.append(f"fact {edge}({one}, {two}){truth}")
        for _ in range(draw.choice([0, 0, 2, 6])):
            lines.append(f"fact {edge}({draw.choice(names)}, {draw.choice(names)}){truth}")
    lines += [f"fact mark({name})" for name in names if draw.random() < 0.7]
    lines += [f"fact r({draw.choice(names)})" for _ in range(draw.choice([0, 1, 2]))]
    lines += [
        f"fact ~{draw.choice('rs')}({draw.choice(names)})" for _ in range(draw.choice([0] if tame else [0, 0, 1]))
    ]
    if not tame and draw.random() < 0.2:
        lines.append(f"fact ~p({draw.choice(names)}, {draw.choice(names)})")
    shapes = [
        "e(X, Y) -> p(X, Y)",
        "p(X, Y) & e(Y, Z) -> p(X, Z)",
        "p(X, Y) & f(Y, Z) -> q(X, Z)",
        "q(X, Y) & e(Y, Z) -> p(X, Z)",
        "q(X, Y) & f(Y, Z) -> q(X, Z)",
        "f(X, Y) -> q(Y, X)",
        "p(X, Y) & e(Y, Z) & f(Z, W) -> p(X, W)",
        "p(X, Y) & e(X, Z) & e(Y, W) -> p(Z, W)",
        "p(X, Y) & e(Y, Z) & mark(Z) -> p(X, Z)",
        "p(X, Y) & mark(X) -> q(X, Y)",
        "q(X, Y) -> p(X, Y)",
        f"p(X, {names[0]}) & e(X, Y) -> p(Y, {names[0]})",
        "p(X, Y) & p(Y, Z) -> q(X, Z)",
        "p(X, X) -> r(X)",
        f"p({names[0]}, Y) -> r(Y)",
        "r(X) & e(X, Y) -> r(Y)",
        "r(X) & e(X, Y) & f(X, Z) -> s(Y)",
        "s(X) & f(X, Y) -> r(Y)",
        "r(X) -> s(X)",
        "s(X) & r(Y) -> q(X, Y)",
        "q(X, Y) & ~r(Y) -> s(X)",
        "p(X, Y) | q(Y, X) -> s(Y)",
        "~p(X, Y) -> ~q(X, Y)",
        "~r(Y) & e(X, Y) -> ~r(X)",
        "(exists Y: q(X, Y)) -> s(X)",
        "(forall Y: p(X, Y)) -> r(X)",
    ]
    picked = draw.sample(shapes[:10], draw.choice([2, 3])) + draw.sample(shapes, 1 if tame else draw.choice([1, 2, 4]))
    for rule in dict.fromkeys(picked):
        kind = "axiom" if tame else draw.choice(["axiom", "axiom", "rule"])
        lines.append(f"{kind} {rule}{draw.choice(['', ' in [0.9, 1]']) if kind == 'rule' else ''}")
    lines.append("query p(X, Y)")
    lines += draw.sample(["query q(X, Y)", "query r(X)", "query s(X)", f"query p({names[0]}, {names[-1]})"], 2)
    return "\n".join(lines) + "\n"


def fixpoint(kb: lnnkit.KnowledgeBase) -> Run:
    return kb._session.program_fixpoint().run


def left(kb: lnnkit.KnowledgeBase) -> dict[str, Any]:
    """All that an inference leaves."""
    rested = fixpoint(kb)
    run, atoms, state = rested, rested.grounding.atoms, rested.state
    found: dict[str, Any] = {
        "rounds": run.progress.rounds,
        "status": run.progress.status,
        "visited": run.progress.instances,
    }
    numbers = RowNumbers(atoms)
    for side in (0, 1):
        setters = state.trail.setters(side, numbers)
        for name, column in zip(setters._fields, setters, strict=True):
            found[f"{name} {side}"] = column
    for name, table in atoms.tables.items():
        found[f"{name} lower"], found[f"{name} upper"] = table.bounds
        found[f"{name} classes"] = run.encoded.codes(table).values
        found[f"{name} crossed"] = table.crossed.rows.values
        for place, column in enumerate(table.tuples.columns):
            found[f"{name} column {place}"] = column
        for end in LISTS:
            found[f"{name} {end}"] = table.listing(end).values
        where = table.tuples.find(table.tuples.columns, len(table.tuples))
        assert np.array_equal(where, np.arange(len(where)))
    for number, shape in enumerate(run.grounding.shapes):
        for place, block in enumerate(shape.blocks):
            found[f"shape {number} {place} members"] = block.member
            for leaf, column in block.columns.items():
                found[f"shape {number} {place} {leaf}"] = column.values
    for number, member in enumerate(run.grounding.members):
        if isinstance(member, DeltaRule):
            found[f"member {number}"] = member.assignment_count, member.joins.made
            found[f"triggers {number}"] = [trigger.seen for trigger in member.ordered_triggers]
    trail = state.trail
    assert trail is not None
    events = trail.events(numbers)
    lengths = np.concatenate([events.start[1:], [len(events.row)]]) - events.start
    found |= {"row": events.row, "value": events.value, "told by": events.instance}
    for name in ("tick", "kind", "side", "shape", "leaf"):
        found[f"event {name}"] = getattr(events, name).repeat(lengths)
    return found


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    def same(first: Any, second: Any) -> bool:
        return np.array_equal(first, second) if isinstance(first, np.ndarray) else first == second

    assert one.keys() == other.keys()
    return [name for name in one if not same(one[name], other[name])]


def _plainly(patch: pytest.MonkeyPatch) -> None:
    """No atoms are made before they are looked up."""
    patch.setattr(EncodedBounds, "settled", lambda *_: False)


def both(text: str, **options: Any) -> tuple[lnnkit.KnowledgeBase, lnnkit.KnowledgeBase]:
    """A program inferred by lookups alone, and as ever."""
    with pytest.MonkeyPatch.context() as patch:
        _plainly(patch)
        without = lnnkit.loads(text)
        without.infer(**options)
    within = lnnkit.loads(text)
    within.infer(**options)
    return without, within


def closed(text: str) -> str:
    """The same program, its recursive predicates closed."""
    return text.replace(" p(node, node)", " p(node, node) closed").replace(" q(node, node)", " q(node, node) closed")


@pytest.mark.parametrize("block", at_length(range(4), plain=1))
def test_random_recursive_programs(block: int) -> None:
    for seed in range(15 * block, 15 * block + 15):
        without, within = both(recursive(seed))
        assert differences(left(without), left(within)) == [], seed


@pytest.mark.parametrize("block", at_length(range(10), plain=0))
def test_more_random_recursive_programs(block: int) -> None:
    for seed in range(1000 + 25 * block, 1025 + 25 * block):
        text = closed(recursive(seed)) if seed % 3 == 0 else recursive(seed)
        without, within = both(text, precision=random.Random(seed).choice(["single", "double"]))
        assert differences(left(without), left(within)) == [], seed


@pytest.mark.parametrize("block", in_blocks(range(80), 40, plain=3))
def test_random_programs(block: range) -> None:
    for seed in block:
        without, within = both(to_text(generate(seed, 1 + seed % 5, MODES[seed % 3]).program))
        assert differences(left(without), left(within)) == [], seed


@pytest.mark.parametrize("truth", ["", " in [0.9, 1]"])
@pytest.mark.parametrize("kind", ["", " closed"])
def test_a_chain(truth: str, kind: str) -> None:
    """Each node reaches every later one, as true as the rule that begins a path is."""
    text = chain(12).replace("path(node, node)", f"path(node, node){kind}")
    if truth:
        text = text.replace("axiom edge(X, Y) -> path(X, Y)", f"rule edge(X, Y) -> path(X, Y){truth}")
    without, within = both(text)
    assert differences(left(without), left(within)) == []
    for one, two in itertools.combinations(range(13), 2):
        (answer,) = within.ask(f"path(n{one}, n{two})")
        assert answer.lower == pytest.approx(0.9 if truth else 1.0)
    assert str(within.explain("path(n0, n12)")) == str(without.explain("path(n0, n12)"))


def test_rounds_that_bound_either_end_in_turn() -> None:
    """The paths of odd length are true, those of even length false."""
    text = chain(12).replace("predicate path", "predicate even(node, node)\npredicate path")
    text = text.replace("& edge(Y, Z) -> path", "& edge(Y, Z) -> ~even")
    without, within = both(text + "axiom ~even(X, Y) & edge(Y, Z) -> path(X, Z)\nquery even(X, Y)\n")
    assert differences(left(without), left(within)) == []
    for one, two in itertools.combinations(range(13), 2):
        odd = (two - one) % 2 == 1
        (path,), (even,) = within.ask(f"path(n{one}, n{two})"), within.ask(f"even(n{one}, n{two})")
        assert (path.lower, path.upper) == ((1.0, 1.0) if odd else (0.0, 1.0))
        assert (even.lower, even.upper) == ((0.0, 1.0) if odd else (0.0, 0.0))


@pytest.mark.parametrize("block", in_blocks(range(20), 20, plain=3))
def test_where_keys_are_hashed(block: range) -> None:
    """With so many nodes beside, a table of two arguments is too sparse for direct addressing."""
    beside = "predicate beside(node)\n" + "".join(f"fact beside(x{i})\n" for i in range(70))
    for text in (*(beside + recursive(seed) for seed in block), beside + chain(40)):
        without, within = both(text)
        assert differences(left(without), left(within)) == [], text


def test_the_round_limit_and_the_budget() -> None:
    for limit in (1, 2, 7, 20, 29, 30, 31):
        without, within = both(chain(30), max_rounds=limit)
        assert differences(left(without), left(within)) == []
    told: list[str] = []
    for most in (100, 300, 434):
        plain, apart = (_refusal(chain(30), most, plain=plain) for plain in (True, False))
        assert plain == apart
        told.append(plain)
    assert len(set(told)) == 3


def _refusal(text: str, most: int, *, plain: bool) -> str:
    with pytest.MonkeyPatch.context() as patch:
        if plain:
            _plainly(patch)
        kb = lnnkit.loads(text)
        with pytest.raises(lnnkit.BudgetError) as refused:
            kb.infer(max_groundings=most)
    return str(refused.value)


class Stopping:
    """Takes notes, and stops after so many rounds."""

    def __init__(self, rounds: int) -> None:
        self.reports: list[RoundReport] = []
        self.rounds = rounds

    def after_round(self, report: RoundReport, /) -> bool:
        self.reports.append(report)
        return len(self.reports) < self.rounds


def test_watches_see_the_same_reports_and_stop_at_the_same_state() -> None:
    for rounds in (1, 3, 10, 24, 100):
        watches: list[Stopping] = []

        class Noting(Stopping):
            def __init__(self) -> None:
                super().__init__(rounds)  # noqa: B023
                watches.append(self)  # noqa: B023

        found = []
        for plain in (True, False):
            with pytest.MonkeyPatch.context() as patch:
                if plain:
                    _plainly(patch)
                kb = lnnkit.loads(chain(25))
                kb.infer(watch=Noting())
                found.append(left(kb))
        assert differences(*found) == []
        assert watches[0].reports == watches[1].reports
        assert len(watches[0].reports) == min(rounds, 25)
