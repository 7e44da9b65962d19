"""When inference gives up, by constants so small that a few rounds show it: the pace of rounds and the drift of numbers
against lists of all that moved, and programs that converge slowly against those that are let."""

from __future__ import annotations

import random

import numpy as np
import pytest

import lnnkit
from lnnkit.check.program import Assertion
from lnnkit.engine import completion, inference_run, merge
from lnnkit.engine.inference_run import Pace, on_cycles
from lnnkit.engine.merge import Drift, Inbox, Proposals
from lnnkit.logic.bounds import Bounds
from lnnkit.store.relations import Relation, Schema
from lnnkit.store.row_arrays import Array
from tests.blocks import at_length
from tests.engine.every_round import watched

Moved = list[tuple[int, int, list[int]]]  # a relation, a side, the rows


def relations(rows: int, *, numeric: bool) -> list[Relation]:
    found = [Relation(Schema(f"P{n}", ("x",), (0.0, 1.0), numeric=numeric), n, rows, np.dtype(float)) for n in range(2)]
    for table in found:
        table.load([np.arange(rows, dtype=np.int32)], Bounds(np.zeros(rows), np.ones(rows)))
    return found


def drawn(rng: random.Random, rows: int) -> Moved:
    ends = rng.sample([(table, side) for table in (0, 1) for side in (0, 1)], rng.choice([1, 1, 2, 3]))
    return [(*end, sorted(rng.sample(range(rows), rng.choice([1, 2])))) for end in ends]


@pytest.mark.parametrize("seed", at_length([*range(6)], plain=3))
def test_pace(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round is slow if it gains little and moves only what has moved; it is hopeless to go on after so many slow
    rounds, or if gains are small and have not halved in a window."""
    rng, window, patience, small = random.Random(seed), 4, 9, 1e-3
    for name, value in (("_WINDOW", window), ("_PATIENCE", patience), ("_GAIN", small)):
        monkeypatch.setattr(inference_run, name, value)
    tables, pace, ends = relations(3, numeric=False), Pace(), set[tuple[int, int, int]]()
    gains, slow = list[float](), set[tuple[int, int, int]]()
    stops, gain = 0, 0.1
    for _ in range(300):
        moved, settled = drawn(rng, 3), rng.random() < 0.95
        gain = rng.choice([gain, gain, gain / 1.1, gain / 1.5, 0.02, 0.0099, 0.01, 5e-4]) or 0.02
        by_side: tuple[dict[Relation, Array | range], ...] = ({}, {})
        for table, side, rows in moved:
            by_side[side][tables[table]] = (
                range(rows[0], rows[-1] + 1) if rng.random() < 0.3 else np.array(rows, np.int32)
            )
        now = {
            (table.number, side, int(row))
            for side, by_table in enumerate(by_side)
            for table, rows in by_table.items()
            for row in rows
        }
        pace.note(gain, by_side, settled=settled)
        if settled and gain < 1e-2 and now <= ends:
            gains.append(gain)
            slow |= now
        else:
            gains, slow = [], set()
        ends |= now
        steady = len(gains) > window and gains[-1] < small and gains[-1] > gains[-1 - window] / 2
        assert pace.creeps == (steady or len(gains) >= patience)
        assert {(table.number, side, row) for table, side, rows in pace.slow for row in rows.tolist()} == slow
        stops += pace.creeps
    assert 0 < stops < 150


@pytest.mark.parametrize("seed", at_length([*range(6)], plain=3))
def test_drift(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An end of a number that has moved so often is left as it is; a round in which some end came to rest, or in which
    a truth moved, allows every end one more move."""
    most = 6
    monkeypatch.setattr(merge, "MOST", most)
    monkeypatch.setattr(merge, "_TRACED", 1)
    rng, drift, suppressed = random.Random(seed), Drift(), 0
    numbers, truths = relations(5, numeric=True), relations(5, numeric=False)
    moves: list[tuple[int, int, int, int]] = []  # the round, relation, side and row of each
    allowing = 0  # rounds in which a truth moved
    busy = [(0, 0, 0), (0, 0, 1), (1, 1, 3)]
    for turn in range(1, 60):
        inbox, wanted = Inbox(), set(rng.sample(busy, rng.choice([2, 3])))
        if turn == 1:
            wanted.add((0, 0, 4))  # and never again
        if rng.random() < 0.3:
            wanted.add((rng.randrange(2), rng.randrange(2), rng.randrange(4)))
        for number, side, row in sorted(wanted):
            rows, instances = np.array([row], np.int32), np.array([turn], np.int32)
            inbox.add(numbers[number], side, Proposals(rows, np.array([row / 2]), instances, 0, 0))
        if rng.random() < 0.05:
            inbox.add(truths[0], 0, Proposals(np.array([0], np.int32), 1.0, np.array([0], np.int32), 0, 0))
            allowing += 1
        counts = {end: sum(move[1:] == end for move in moves) for end in wanted}
        expected = set[tuple[int, int, int]]()
        for number, side, row in wanted:
            resting = {
                max(move[0] for move in moves if move[1:] == end)
                for end in {move[1:] for move in moves if move[2] == side}
            }
            allowed = most + sum(last < turn - 1 for last in resting) + allowing
            if counts[number, side, row] < allowed:
                expected.add((number, side, row))
        drift.hold(inbox)
        kept = set[tuple[int, int, int]]()
        for table, sides in inbox.by_relation():
            for side, proposals in enumerate(sides):
                for proposal in proposals if table.numeric else ():
                    assert proposal.instance.tolist() == [turn] * len(proposal.row)
                    assert proposal.values.tolist() == (proposal.row / 2).tolist()
                    kept |= {(table.number, side, row) for row in proposal.row.tolist()}
        assert kept == expected
        suppressed += len(wanted) - len(kept)
        assert drift.met == (suppressed > 0)
        for number, side, row in kept:
            drift.note(numbers[number], side, np.array([row], np.int32))
            moves.append((turn, number, side, row))
        drift.note(truths[0], 0, np.array([0], np.int32))
        ends = {move[1:] for move in moves}
        often = {end for end in ends if sum(move[1:] == end for move in moves) >= most - 1}
        assert {(table.number, side, row) for table, side, rows in drift.drifting() for row in rows.tolist()} == often
    assert suppressed > 5


def impatient(patch: pytest.MonkeyPatch, widenings: int = 20) -> None:
    for name, value in (("_WINDOW", 4), ("_PATIENCE", 12), ("_GAIN", 1e-2)):
        patch.setattr(inference_run, name, value)
    patch.setattr(completion, "_SETTLING", 5)
    patch.setattr(completion, "_WIDENINGS", widenings)


@pytest.mark.parametrize("widenings", at_length([1, 0, 20], plain=1))
@pytest.mark.parametrize("start", ["in [0.3, 0.6]", "= 0.3", "= 0.6"])
def test_a_completion_that_creeps(start: str, widenings: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ends of P and Q rise to 0.8: ``p = w p + 1 - w - c`` with ``c = 0.2 (1 - w)``. What rests on T is no truer
    than T, what rests on neither is exact, and what no rule derives is false."""
    impatient(monkeypatch, widenings)
    truth = 1 - 0.2 * 0.01
    names = ("S", "P", "Q", "R", "T", "V")
    kb = lnnkit.loads(
        "".join(f"predicate {name}(x) closed\n" for name in names)
        + f"fact S(a) {start}\nfact T(a) = 0.4\nfact S(b) = 0\nrule S(X) -> P(X)\n"
        f"rule there: (P(X)@0.99 -> Q(X)) in [{truth!r}, 1]\nrule back: (Q(X)@0.99 -> P(X)) in [{truth!r}, 1]\n"
        "rule beside: P(X) & T(X) -> R(X)\nrule T(X) -> V(X)\n"
    )
    with watched() as watching:
        outcome = kb.infer()
    assert watching.merged > 10
    assert (outcome.status, [each.rule for each in outcome.creeping]) == ("creeping", ["there", "back"])
    for query in ("P(a)", "Q(a)", "P(b)", "Q(b)"):
        (answer,) = kb.ask(query)
        assert (0.3 if "a" in query else 0) <= answer.lower <= 0.8 <= answer.upper <= 1
    for query, value in (("V(a)", 0.4), ("V(b)", 0), ("R(b)", 0)):
        (answer,) = kb.ask(query)
        assert (answer.lower, answer.upper) == (value, value)
    (answer,) = kb.ask("R(a)")
    assert answer.lower <= 0.2 <= answer.upper <= 0.4 + 1e-9


@pytest.mark.parametrize(("widenings", "upper"), [(0, 1.0), (20, 0.4)])
def test_after_so_many_widenings_all_are_open(widenings: int, upper: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """``W`` is completed together with ``P`` and ``Q``, has risen to 0.4 at once, and rests since."""
    impatient(monkeypatch, widenings)
    truth = 1 - 0.2 * 0.01
    kb = lnnkit.loads(
        "".join(f"predicate {name}(x) closed\n" for name in "SPQWT")
        + "fact S(a) = 0.3\nfact T(a) = 0.4\nrule S(X) -> P(X)\nrule T(X) -> W(X)\nrule P(X) & S(X) & T(X) -> W(X)\n"
        f"rule (P(X)@0.99 -> Q(X)) in [{truth!r}, 1]\nrule (Q(X)@0.99 -> P(X)) in [{truth!r}, 1]\n"
        "rule W(X) & S(X) & T(X) -> P(X)\n"
    )
    assert kb.infer().status == "creeping"
    (answer,) = kb.ask("W(a)")
    assert (answer.lower, answer.upper) == (0.4, upper)


@pytest.mark.parametrize("start", ["in [0.3, 1]", "= 0.3", "in [0.3, 0.6]"])
def test_what_a_cycle_of_a_completion_leads_to_is_not_named(start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """``W`` moves with ``P``, and is completed together with it. Of [0.3, 1] the lower end alone creeps."""
    impatient(monkeypatch)
    truth = 1 - 0.2 * 0.01
    kb = lnnkit.loads(
        "".join(f"predicate {name}(x) closed\n" for name in "SPQWT")
        + f"fact S(a) {start}\nfact T(a) = 0.1\nrule S(X) -> P(X)\nrule away: P(X) -> W(X)\n"
        f"rule there: (P(X)@0.99 -> Q(X)) in [{truth!r}, 1]\nrule back: (Q(X)@0.99 -> P(X)) in [{truth!r}, 1]\n"
        "rule W(X) & S(X) & T(X) -> P(X)\n"
    )
    outcome = kb.infer()
    assert (outcome.status, [each.rule for each in outcome.creeping]) == ("creeping", ["there", "back"])
    (answer,) = kb.ask("W(a)")
    assert 0.3 < answer.lower < 0.8 < answer.upper


@pytest.mark.parametrize("seed", range(4))
def test_cycles_of_rounds_that_creep(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cycle of ``n`` atoms is named, and what leads to it or away from it is not: the limits are ``1 - s / (1 - w)``
    with the lack ``s`` of each turn."""
    impatient(monkeypatch)
    rng = random.Random(seed)
    length, lack = rng.choice([2, 3, 4]), rng.choice([0, 0.002])
    truth = 1 - lack
    lines = ["fact A0 in [0.2, 1]", "fact Z in [0.7, 1]", "rule Z -> Y", "rule away: A0 & Y -> B", "rule B -> C"]
    lines += [f"rule r{i}: (A{i}@0.99 -> A{(i + 1) % length}) in [{truth!r}, 1]" for i in range(length)]
    rng.shuffle(lines)
    kb = lnnkit.loads("\n".join(lines) + "\n")
    with watched():
        outcome = kb.infer()
    assert outcome.status == "creeping"
    assert sorted(str(each.rule) for each in outcome.creeping) == [f"r{i}" for i in range(length)]
    for i in range(length):
        (answer,) = kb.ask(f"A{i}")
        assert 0.2 <= answer.lower <= 1 - lack / 0.01
        assert answer.upper == 1
    (answer,) = kb.ask("Y")
    assert (answer.lower, answer.upper) == (0.7, 1)


def test_a_rule_that_feeds_itself_is_a_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Round a ring of links; what it leads to, and moves with it, is not named."""
    impatient(monkeypatch)
    kb = lnnkit.loads(
        "predicate Link(x, x) closed\npredicate P(x)\nfact Link(a, b)\nfact Link(b, a)\nfact P(a) in [0.3, 1]\n"
        "rule ring: (Link(X, Y) & P(Y)@0.99 -> P(X)) in [0.998, 1]\nrule away: P(X) -> B(X)\nquery B(X)\n"
    )
    outcome = kb.infer()
    assert (outcome.status, [each.rule for each in outcome.creeping]) == ("creeping", ["ring"])
    for answer in kb.answers()[0]:
        assert 0.3 < answer.lower <= 0.8


def test_completions_and_rounds_that_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """`D` is at least `P`, and `R & P & ~D` at least 1/4: in product logic only 1/2 for `P` and `D`, and 1 for `R`, are
    left, and each turn gains less than the one before."""
    impatient(monkeypatch)
    kb = lnnkit.loads(
        "logic product\npredicate D(entity) closed\nfact P in [0.38, 0.86]\nfact R in [0.74, 1]\nfact Known(anna)\n"
        "rule given: P -> D(X)\nrule some: exists X: (R & P & ~D(X)) in [0.25, 1]\n"
    )
    outcome = kb.infer()
    assert outcome.status == "creeping"
    assert [each.rule for each in outcome.creeping] == ["given", "some"]
    for query, value in (("P", 0.5), ("D(anna)", 0.5), ("R", 1.0)):
        (answer,) = kb.ask(query)
        assert answer.lower <= value <= answer.upper


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        (["P(X) & E(X, Y) -> P(Y)", "P(X) -> R(X)", "P(X) -> S(X)"], {0}),  # on what it sets itself
        (["P(X) & E(X, Y) -> R(Y)", "R(X) -> P(X)", "R(X) -> S(X)"], {0, 1}),
        (["P(X) -> R(X)", "R(X) -> S(X)"], {0, 1}),  # no cycle: all
        (["P(X) -> R(X)", "R(X) & E(X, Y) -> R(Y)", "R(X) -> S(X)"], {1}),
    ],
)
def test_which_rules_are_on_cycles(rules: list[str], named: set[int]) -> None:
    lines = [f"rule {rule}" for rule in rules] + ["fact P(a)", "fact E(a, b)", "fact E(b, c)", "fact E(c, a)"]
    kb = lnnkit.loads("\n".join([*lines, "query R(X)", "query S(X)", "query P(X)"]) + "\n")
    run = kb._session.program_fixpoint().run
    tables = [run.grounding.atoms.tables[name] for name in "PRS" if name in run.grounding.atoms.tables]
    found = on_cycles(run, [(table, 0, np.arange(len(table), dtype=np.int32)) for table in tables])
    roots = [run.grounding.members[member].formula.root for member in found]
    texts = [root.origin.text for root in roots if root is not None and isinstance(root.origin, Assertion)]
    assert {number for number, rule in enumerate(rules) if any(rule in text for text in texts)} == named
