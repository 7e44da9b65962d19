"""Aggregates in programs: closed data as DuckDB aggregates them, strata, proofs, what is missing, thresholds."""

from __future__ import annotations

import random
import re

import duckdb
import pytest

import lnnkit
from lnnkit.syntax.parse import parse_expression
from lnnkit.syntax.printer import format_expression
from tests.blocks import at_length

TRANSFERS = """\
predicate Transfer(account, transfer) closed
predicate Reversed(transfer) closed
number amount(transfer)
fact Transfer(ann, t1)
fact Transfer(ann, t2)
fact Transfer(ann, t3)
fact Transfer(bob, t4)
fact Reversed(t3)
fact amount(t1) = 6000
fact amount(t2) = 7000
fact amount(t3) = 9000
fact amount(t4) = 9000
"""
TOTAL = "(sum Y: amount(Y) where Transfer(X, Y) & ~Reversed(Y))"


def bounds(kb: lnnkit.KnowledgeBase, query: str) -> dict[tuple[str, ...], tuple[float, float]]:
    return {tuple(answer.bindings.values()): (answer.lower, answer.upper) for answer in kb.ask(query)}


@pytest.mark.parametrize("seed", at_length(range(200), plain=6))
def test_closed_data_are_aggregated_as_by_duckdb(seed: int) -> None:
    rng = random.Random(seed)
    groups, items = (
        [f"g{n}" for n in range(rng.choice([1, 3, 8]))],
        [f"i{n}" for n in range(rng.choice([2, 6, 20]))],
    )
    pairs = sorted({(rng.choice(groups), rng.choice(items)) for _ in range(rng.choice([1, 5, 30]))})
    values = {item: rng.choice([rng.randint(-9, 9), rng.randint(-90, 90) / 8]) for item in items}
    limit = rng.choice([-100, 0, 1, 4])
    kb = lnnkit.loads(
        "predicate In(group, item) closed\nnumber size(item)\n"
        + "".join(f"fact In({group}, {item})\n" for group, item in pairs)
        + "".join(f"fact size({item}) = {value}\n" for item, value in values.items())
    )
    con = duckdb.connect()
    con.execute("create table pairs (g varchar, i varchar, size double)")
    con.executemany("insert into pairs values (?, ?, ?)", [(g, i, values[i]) for g, i in pairs])
    for kind, sql in (
        ("count", "count(*)"),
        ("sum", "sum(size)"),
        ("mean", "avg(size)"),
        ("min", "min(size)"),
        ("max", "max(size)"),
    ):
        term = "" if kind == "count" else "size(Y) where "
        filtered = f"{kind} Y: {term}In(X, Y) & size(Y) > {limit}"
        rows = con.execute(f"select g, {sql} from pairs where size > {limit} group by g").fetchall()
        found = {group: ends for (group,), ends in bounds(kb, filtered).items()}
        nothing = {group for group, ends in found.items() if group not in dict(rows)}
        assert all(found[group] == (0, 0) for group in nothing)
        for group, value in rows:
            if value or kind not in ("count", "sum"):  # an empty sum is the default, and left out
                assert found[group] == pytest.approx((value, value), rel=1e-12), (kind, group)


def test_a_total_over_a_limit() -> None:
    kb = lnnkit.loads(f"{TRANSFERS}predicate Watch(account) closed\nrule {TOTAL} > 10000 -> Watch(X)\n")
    assert bounds(kb, "Watch(X)") == {("ann",): (1, 1)}
    assert bounds(kb, f"{TOTAL} + 1") == {("ann",): (13001, 13001), ("bob",): (9001, 9001)}
    explanation = kb.explain("Watch(ann)")
    assert explanation.verify() == [] and "Transfer(ann, t1) >= 1" in str(explanation)
    assert "(sum Y: amount(Y) where Transfer(bob, Y) & ~Reversed(Y)) is 9000" in str(kb.why_not("Watch(bob)"))


def test_the_sum_of_no_rows_compares_as_a_number() -> None:
    kb = lnnkit.loads("predicate Has(item) closed\nfact Has(a) in [0, 1]\nnumber size(item)\nfact size(a) = 5\n")
    assert bounds(kb, "(sum Y: size(Y) where Has(Y) & size(Y) = 3) = 0.25") == {(): (0, 0)}


def test_of_three_that_must_be_the_last_is() -> None:
    kb = lnnkit.loads(
        "predicate Has(person, item)\nfact Has(ann, a)\nfact ~Has(ann, b)\nfact Has(bob, c)\n"
        "fact Item(a)\nfact Item(b)\nfact Item(c)\naxiom (count Y: Has(X, Y)) = 2\n"
    )
    assert bounds(kb, "Has(ann, Y)")["c",] == (1, 1)
    assert bounds(kb, "Has(bob, Y)") == {("c",): (1, 1)}
    assert bounds(kb, "count Y: Has(X, Y)") == {("ann",): (2, 2), ("bob",): (2, 2)}


def test_a_sum_that_is_known_bounds_the_amount_that_is_not() -> None:
    kb = lnnkit.loads(
        TRANSFERS.replace("fact amount(t2) = 7000\n", "")
        + 'axiom (sum Y: amount(Y) where Transfer("ann", Y)) <= 20000\n'
    )
    assert bounds(kb, "amount(t2)")[()] == (float("-inf"), 5000)


def test_counts_that_cannot_be_are_contradictions() -> None:
    kb = lnnkit.loads("predicate P(p) closed\nfact P(a)\naxiom (count X: P(X)) >= 2\n")
    (contradiction,) = kb.infer().contradictions
    assert "(count X: P(X)) >= 2" in str(contradiction)
    kb = lnnkit.loads("predicate P(p) closed\nfact Item(a)\npredicate Item(p)\naxiom (count X: P(X)) >= 1\n")
    assert "(count X: P(X)) >= 1" in str(kb.infer().contradictions[0])


def test_a_completed_predicate_is_counted_when_it_is_complete() -> None:
    text = (
        "predicate Edge(n, n) closed\npredicate Reach(n, n) closed\n"
        "predicate Hub(n) closed\npredicate Quiet(n) closed\n"
        "fact Edge(a, b)\nfact Edge(b, c)\nfact Edge(c, d)\n"
        "rule Edge(X, Y) -> Reach(X, Y)\nrule Reach(X, Y) & Edge(Y, Z) -> Reach(X, Z)\n"
        "rule (count Y: Reach(X, Y)) >= 2 -> Hub(X)\nrule (count Z: Hub(Z)) > 1 & Edge(X, Y) & ~Hub(X) -> Quiet(X)\n"
    )
    kb = lnnkit.loads(text)
    assert bounds(kb, "Hub(X)") == {("a",): (1, 1), ("b",): (1, 1)}
    assert bounds(kb, "Quiet(X)") == {("c",): (1, 1)}
    assert all(kb.explain(f"Hub({name})").verify() == [] for name in "abc")


def test_a_cycle_through_an_aggregate_is_an_error() -> None:
    text = "predicate A(p) closed\npredicate B(p) closed\nfact B(b)\nrule (count X: A(X)) > 0 & B(Y) -> A(Y)\n"
    with pytest.raises(lnnkit.ProgramError, match="depends on an aggregate of itself: A -> an aggregate of A"):
        lnnkit.loads(text)


def test_an_unknown_count_over_an_open_sort_has_no_upper_end() -> None:
    kb = lnnkit.loads("sort item open\npredicate Has(person, item)\nfact Has(ann, a)\n")
    assert bounds(kb, "count Y: Has(X, Y)") == {("ann",): (1, float("inf"))}
    kb = lnnkit.loads("sort item open\npredicate Has(person, item) closed\nfact Has(ann, a)\n")
    assert bounds(kb, "count Y: Has(X, Y)") == {("ann",): (1, 1)}


def test_a_threshold_of_a_sum_is_learned() -> None:
    labels = "label Watch(ann)\nlabel ~Watch(bob)\n"
    kb = lnnkit.loads(f"{TRANSFERS}predicate Watch(account)\nrule watch: {TOTAL} > ?limit -> Watch(X)\n{labels}")
    kb.fit()
    assert "?limit=11000" in kb.text


def test_a_threshold_beside_a_count_moves_from_its_start() -> None:
    counts = {name: count for count, name in enumerate("abcdefgh", 1)}
    facts = "".join(f"fact Has({name}, i{item})\n" for name, count in counts.items() for item in range(count))
    labels = "".join(f"label {'~' * (count < 6)}Many({name})\n" for name, count in counts.items())
    rules = "rule (count Y: Has(X, Y)) > ?cut=3 -> Many(X)\nrule (count Y: Has(X, Y)) <= ?cut=3 -> ~Many(X)\n"
    kb = lnnkit.loads(f"predicate Has(p, i) closed\n{facts}{rules}{labels}")
    kb.fit()
    (cut,) = {*re.findall(r"\?cut=([\d.]+)", kb.text)}
    assert 5 <= float(cut) < 6


def test_program_text_with_aggregates_is_printed_as_it_is_read() -> None:
    for text in (
        "(count X, Y: P(X, Y)) > 3 -> Q",
        "P(X) & 2 * (sum Y: size(Y) + 1 where In(X, Y) | ~P(Y)) = abs(min Y: size(Y) where In(X, Y))",
        "(count Y: In(X, Y) & (count Z: In(Z, Y)) > 1) > 2",
    ):
        node, problems = parse_expression(text)
        assert node is not None and not problems and format_expression(node) == text


def test_what_runs_over_an_open_sort_is_proved_where_a_closed_predicate_ends_it() -> None:
    pytest.importorskip("z3")
    text = "sort item open\npredicate Has(p, item)\nfact Has(a, i)\nrule (count Y: Has(X, Y)) > 2 -> Busy(X)\n"
    kb = lnnkit.loads(text)
    for asked in (kb.prove, lambda query: kb.ask(query, exact=True), lambda query: kb.explain(query, exact=True)):
        with pytest.raises(lnnkit.ProgramError, match="`count` runs over `item`, which is open") as raised:
            asked("Busy(a)")
        assert raised.value.diagnostics[0].hint == "declare `sort item` without `open`, or `Has` as `closed`"
    for other in (text.replace(" open", ""), text.replace("Has(p, item)", "Has(p, item) closed")):
        assert lnnkit.loads(other).prove("Busy(a)").verdict in ("neither", "refuted")
    with pytest.raises(lnnkit.ProgramError, match="`max` runs over `item`"):
        lnnkit.loads("sort item open\nfact In(i)\nnumber size(item)\n").prove("(max Y: size(Y) where size(Y) < 3) < 4")


@pytest.mark.slow
def test_exact_steps_about_aggregates_are_checked() -> None:
    pytest.importorskip("z3")
    kb = lnnkit.loads(
        "number size(p)\nfact size(a) = 2\nfact size(b) = 3\nfact size(c) = 10\n"
        "axiom P(a) | P(b)\naxiom ~(P(a) & P(b))\naxiom ~P(c)\n"
    )
    for said in ("(count X: P(X)) = 1", "(sum X: size(X) where P(X)) >= 2", "(mean X: size(X) where P(X)) <= 3"):
        explanation = kb.explain(said, exact=True)
        assert (explanation.lower, explanation.steps[-1].reason) == (1.0, "exact")
        assert explanation.verify() == [] and not explanation.warnings
    for said in ("(max X: size(X) where P(X)) < 5", "(min X: size(X) where P(X)) >= 2"):
        assert kb.explain(said, exact=True).verify() == [] and kb.prove(said).verdict == "entailed"
    assert kb.prove("(min X: size(X) where P(X)) > 2").verdict == "neither"
    assert kb.prove("(max X: size(X) where P(X) & size(X) > 5) > 0").verdict == "refuted"  # it has no value


def test_entities_are_compared_in_conditions() -> None:
    """Statements with them have laws of order of their other comparisons."""
    kb = lnnkit.loads(
        "predicate Has(p, i) closed\nfact Has(a, i)\nfact Has(b, i)\nfact Has(b, j)\n"
        "rule (count Y: Has(X, Y) & Y != i) > 0 -> P(X)\nrule (count Y: Has(X, Y) & Y != i) <= 0 -> Q(X)\n"
    )
    assert bounds(kb, "P(X)") == {("b",): (1, 1)} and bounds(kb, "Q(X)")["a",] == (1, 1)


def test_a_constant_is_summed_over_an_open_sort() -> None:
    kb = lnnkit.loads("sort n open\npredicate H(n, m)\nfact H(a, i) in [0.5, 0.75]\nfact H(b, j)\n")
    assert kb.explain("sum X: 2 where H(X, i)").verify() == []
    assert bounds(kb, "(sum X: 2 where H(X, Y)) > 0.5")["i",] == (1, 1)


def test_a_count_that_grows_for_hundreds_of_rounds_does_not_drift() -> None:
    edges = "".join(f"fact E(x{n}, x{n + 1})\n" for n in range(300))
    kb = lnnkit.loads(
        f"predicate E(n, n) closed\n{edges}fact I(x0)\nrule E(Y, X) & I(Y) -> I(X)\n"
        "rule (count Y: I(Y)) >= 290 -> Q\nnumber size\naxiom size = (count Y: I(Y))\n"
    )
    assert kb.infer().status == "converged"
    assert bounds(kb, "Q") == {(): (1, 1)} and bounds(kb, "size") == {(): (301, 301)}


def test_sums_are_rounded_once() -> None:
    kb = lnnkit.loads(
        "predicate In(i) closed\nnumber v(i)\n"
        + "".join(f"fact In(i{n})\nfact v(i{n}) = {value}\n" for n, value in enumerate((1e17, -1e17, 1.5, 0.25)))
    )
    assert bounds(kb, "sum X: v(X) where In(X)") == {(): (1.75, 1.75)}


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("query count Y: Has(X, Y) > 1", "write `(count Y: Has(X, Y)) > 1`"),
        ("rule (count Y: Has(X, Y) > 1) & Has(X, X) -> R(X)", "write `(count Y: Has(X, Y)) > 1`"),
        ("rule count Y: Has(a, Y) > 3 -> R(a)", "write `rule (count Y: Has(a, Y)) > 3 -> R(a)`"),
        ("rule Has(X, X) & count Y: Has(X, Y) > 1 -> R(X)", "write `(count Y: ...)`"),
        ("query avg Y: size(Y) where Has(X, Y)", "write `mean`"),
        ("query sum Y: Has(X, Y)", "`count Y: Has(X, Y)` of what is true"),
        ("query sum X: max Y: size(Y) where Has(X, Y)", "write `(max Y: ...)`"),
        ("query count Y: Has(X, Y) where size(Y) > 2", "write `count Y: Has(X, Y) & size(Y) > 2`"),
    ],
)
def test_hints(wrong: str, hint: str) -> None:
    with pytest.raises(lnnkit.ProgramError) as caught:
        lnnkit.loads(f"number size(i)\nfact size(a) = 1\nfact Has(a, a)\n{wrong}\n")
    assert [d.code for d in caught.value.diagnostics if d.severity == "error"] == ["aggregate"]
    assert hint in str(caught.value)


def test_a_proof_reads_aggregates_when_they_are_worked_out() -> None:
    kb = lnnkit.loads(
        "predicate H(n, m) closed\npredicate E(n, n)\nfact E(a, a) in [0, 1]\nnumber t\nfact H(a, i)\n"
        "axiom t = (count X: (count Y: E(X, Y) & H(Y, i)) >= 6)\n"
    )
    explanation = kb.explain("t")
    assert '(count Y: E("a", Y) & H(Y, "i")) <= 1' in str(explanation) and explanation.verify() == []


def test_only_pairs_of_one_group_are_compared() -> None:
    """More than three claims of a person within a year: of 1,000 claims no million pairs are compared."""
    rng = random.Random(0)
    claims = [(f"c{n}", f"p{rng.randrange(150)}", rng.randrange(1000)) for n in range(1000)]
    facts = [f"fact Claim({claim}, {person})\nfact day({claim}) = {day}\n" for claim, person, day in claims]
    within = "day(D) - 365 < day(C) & day(C) <= day(D)"
    kb = lnnkit.loads(
        f"predicate Claim(claim, person) closed\nnumber day(claim)\n{''.join(facts)}"
        f"rule Claim(D, P) & (count C: Claim(C, P) & {within}) > 3 -> Flag(D)\n"
    )
    kb.infer(max_groundings=100_000)
    days = {person: sorted(day for _, other, day in claims if other == person) for _, person, _ in claims}
    flagged = {c for c, person, day in claims if sum(day - 365 < other <= day for other in days[person]) > 3}
    assert flagged and bounds(kb, "Flag(D)") == {(claim,): (1, 1) for claim in flagged}


OWNED = """
predicate Owns(person, item) closed
predicate Person(person) closed
predicate Big(item)
number n(item)
fact Person(ann)
fact Person(bob)
fact Owns(ann, i1)
fact Owns(bob, i2)
fact n(i1) = 12
fact n(i2) = 3
fact Big(i1)
"""


def test_groups_without_elements_are_in_no_aggregate() -> None:
    greatest = "sum P: (max I: n(I) where Owns(P, I) & Big(I)) where Person(P)"
    for more, expected in (("", (12, 15)), ("fact ~Big(i2)", (12, 12)), ("fact Big(i2)", (15, 15))):
        kb = lnnkit.loads(OWNED + more)
        assert bounds(kb, greatest) == {(): expected}
        assert not kb.explain(greatest).verify()


@pytest.mark.parametrize(
    "text",
    [
        "sum P: (max I: n(I) where Owns(P, I)) where Person(P)",
        "mean P: (count I: Owns(P, I))",
        "max P: 2 * (sum I: n(I) where Owns(P, I)) where Person(P) & (count I: Owns(P, I)) > 0",
    ],
)
def test_what_is_printed_is_read_again(text: str) -> None:
    formula, findings = parse_expression(text)
    assert formula is not None and not findings and format_expression(formula) == text


def test_a_condition_with_one_number() -> None:
    kb = lnnkit.loads(f"{OWNED}rule (sum I: n(I) where Owns(P, I) & n(I) > 5) > 10 -> Rich(P)\nquery Rich(P)\n")
    assert [answer.bindings["P"] for answer in kb.ask("Rich(P)")] == ["ann"]
