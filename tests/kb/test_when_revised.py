"""When facts change: a fixpoint is revised, or a revision is tried and given up, or it is not tried at all; as the
docstring of `lnnkit.engine.revision.revise` says. The answers are those of the facts in any case."""

from __future__ import annotations

import numpy as np
import pytest

import lnnkit
from lnnkit.engine.response.rule_instances import RuleInstances
from lnnkit.engine.revision import dependent_rows
from lnnkit.store.row_arrays import Array
from lnnkit.trail.events import Chunk
from tests.engine.test_interrupted import StopAfter
from tests.kb.test_retracting import answered
from tests.kb.test_revising import counted

REVISED, GIVEN_UP, NOT_TRIED = {True: 1}, {False: 1}, dict[bool, int]()

SPREAD = """
predicate C(p, p)
predicate I(p)
predicate M(p)
predicate N(p)
fact C(a, b)
fact C(b, c)
fact C(c, d)
fact I(a)
fact M(d) in [0, 0.5]
rule I(X) & C(X, Y) -> I(Y)
rule M(X) -> L(X)
query I(X)
query L(X)
query N(X)
"""
COMPLETED = """
predicate C(p, p) closed
predicate R(p) closed
predicate S(p)
fact C(a, b)
fact C(b, c)
fact S(a)
rule C(X, Y) -> R(Y)
rule S(X) & C(X, Y) -> T(Y)
rule S(X) -> U(X)
query R(X)
query T(X)
query U(X)
"""
NUMBERS = """
predicate P(r)
number t(r)
number u(r)
fact P(a)
fact P(b)
fact t(a) = 5
fact t(b) = 7
fact u(a) in [0, 9]
fact u(b) in [0, 9]
axiom u(X) > 3
rule P(X) & t(X) > 6 -> Q(X)
query Q(X)
query u(X)
"""
CONTRADICTED = SPREAD + "fact B(a)\nfact B(c) in [0, 0.2]\nrule B(X) -> ~D(X)\nfact D(a) in [0, 1]\n"

Change = tuple[str, str, tuple[object, ...]]  # how, the predicate, and its row


def stated(changes: list[Change], program: str) -> str:
    """The program after changes."""
    lines = program.splitlines()
    for how, name, row in changes:
        texts = [str(term) for term in row if isinstance(term, str)]
        ends = [term for term in row if not isinstance(term, str)]
        atom = f"fact {name}({', '.join(texts)})"
        if how != "tell":
            lines = [line for line in lines if line != atom and not line.startswith(f"{atom} ")]
        if how != "retract":
            lines.append(f"{atom} in [{ends[0]}, {ends[1]}]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("program", "changes", "expected"),
    [
        (SPREAD, [("tell", "C", ("d", "a", 1, 1))], REVISED),
        (SPREAD, [("replace", "C", ("a", "b", 0.5, 1))], REVISED),
        (SPREAD, [("replace", "C", ("a", "b", 1, 1))], REVISED),
        (SPREAD, [("retract", "C", ("b", "c"))], REVISED),
        (SPREAD, [("retract", "C", ("b", "c")), ("tell", "C", ("a", "c", 1, 1))], REVISED),
        (SPREAD, [("retract", "I", ("a",)), ("tell", "I", ("b", 1, 1))], REVISED),
        (SPREAD, [("retract", "I", ("d",))], REVISED),  # no fact is about it
        (SPREAD, [("tell", "C", ("d", "e", 1, 1))], REVISED),  # a new entity
        (SPREAD + 'query I("e")\n', [("tell", "C", ("d", "e", 1, 1))], GIVEN_UP),  # of which a query asks
        (SPREAD, [("retract", "C", ("c", "d")), ("retract", "M", ("d",))], REVISED),  # nothing names d any more
        (SPREAD, [("retract", "C", ("c", "d"))], REVISED),  # M does
        (SPREAD, [("tell", "N", ("a", 1, 1))], GIVEN_UP),  # the plan has been made for no facts about N
        (SPREAD, [("tell", "N", ("a", 0, 1)), ("retract", "N", ("b",))], GIVEN_UP),  # though they say nothing
        (SPREAD, [("replace", "M", ("d", 0.1, 0.5))], GIVEN_UP),  # and for upper ends of M
        (SPREAD, [("replace", "M", ("a", 0, 0.3))], REVISED),
        (SPREAD, [("replace", "M", ("d", 0, 0.3))], REVISED),
        (SPREAD, [("tell", "M", ("d", 0, 0.6))], REVISED),  # says nothing new
        (SPREAD, [("tell", "C", ("a", "b", 0, 0))], GIVEN_UP),  # facts that contradict each other
        (SPREAD, [("tell", "I", ("c", 0, 0))], GIVEN_UP),  # a fact that contradicts a rule
        (CONTRADICTED, [("retract", "C", ("b", "c"))], REVISED),
        (CONTRADICTED + "fact B(c)\n", [("retract", "C", ("b", "c"))], GIVEN_UP),  # there was a contradiction before
        (COMPLETED, [("tell", "C", ("c", "a", 1, 1))], REVISED),  # R is completed from it
        (COMPLETED, [("tell", "S", ("b", 1, 1))], REVISED),
        (COMPLETED, [("retract", "S", ("a",))], REVISED),
        (COMPLETED, [("tell", "R", ("a", 1, 1))], GIVEN_UP),
        (NUMBERS, [("replace", "t", ("a", 7, 7))], REVISED),
        (NUMBERS, [("replace", "P", ("a", 0, 1))], REVISED),
        (NUMBERS, [("replace", "u", ("a", 1, 5))], REVISED),  # inference has narrowed it
        (NUMBERS.replace("axiom u", "rule P(X) -> u"), [("replace", "P", ("b", 0, 1))], REVISED),
    ],
)
def test_changes(program: str, changes: list[Change], expected: dict[bool, int]) -> None:
    kb = lnnkit.loads(program)
    kb.infer()
    kb.infer()  # nothing has changed
    with counted() as counts, kb.transaction():
        for how, name, row in changes:
            getattr(kb, how)(name, [row])
    with counted() as counts:
        assert answered(kb) == answered(lnnkit.loads(stated(changes, program)))
    assert counts == expected


@pytest.mark.parametrize(
    ("queries", "options", "expected"),
    [
        ("query R(X)", {}, REVISED),
        ("query U(X)", {}, REVISED),
        ("query U(X)", {"precision": "single"}, REVISED),
        ("query U(X)", {"record": False}, REVISED),
        ("query U(X)", {"max_groundings": 100}, NOT_TRIED),
        ("query U(X)", {"watch": StopAfter(0)}, GIVEN_UP),
        ("query U(X)", {"watch": StopAfter(99)}, REVISED),
        ("query R(c)", {}, GIVEN_UP),  # R is completed for c alone
        ("query T(X) & U(X)", {}, REVISED),
        ("axiom (S(X) & T(X)) in [0.7, 1]\naxiom (S(X) & T(X)) in [0, 0.2]\nquery U(X)", {}, GIVEN_UP),
    ],
)
def test_what_was_inferred_before(queries: str, options: dict[str, object], expected: dict[bool, int]) -> None:
    """A fixpoint that was not completed, or only for some atoms, or in which some neuron can have no value, is not
    revised; precision and whether it is recorded stay."""
    program = COMPLETED.partition("query")[0].replace("rule C(X, Y) -> R(Y)\n", "") + queries + "\n"
    program = program if "R(" not in queries else COMPLETED.partition("query")[0] + queries + "\n"
    kb = lnnkit.loads(program)
    kb.infer(**options)  # type: ignore[arg-type]  # each of its own type
    change: Change = ("tell", "C", ("c", "b", 1, 1)) if "R(" in queries else ("tell", "S", ("b", 1, 1))
    kb.tell(change[1], [change[2]])
    with counted() as counts:
        assert answered(kb) == answered(lnnkit.loads(stated([change], program)))
    assert counts == expected


@pytest.mark.parametrize(("longer", "expected"), [(15, REVISED), (60, GIVEN_UP)])
def test_many_rounds(longer: int, expected: dict[bool, int]) -> None:
    """What takes more rounds than twenty, and a few for what there is, is inferred anew."""
    chain = "".join(f"fact C(a{place}, a{place + 1})\n" for place in range(longer))
    program = SPREAD.replace("fact I(a)", "fact I(d)") + "fact C(d, a)\n" + chain
    kb = lnnkit.loads(program)
    kb.infer()
    kb.tell("I", [("a0", 1, 1)])
    with counted() as counts:
        assert sum(answer.lower == 1 for answer in kb.answers()[0]) == longer + 5
    assert counts == expected


@pytest.mark.parametrize(
    ("star", "others", "expected"), [(990, 0, REVISED), (1100, 0, GIVEN_UP), (1100, 3000, REVISED)]
)
def test_many_rows(star: int, others: int, expected: dict[bool, int]) -> None:
    """More than a thousand rows are not reset where they are more than a fourth of all."""
    kb = lnnkit.loads("predicate C(p, p)\npredicate I(p)\nrule I(X) & C(X, Y) -> I(Y)\nquery I(X)\nfact I(b)\n")
    kb.tell("C", [("a", f"x{place}") for place in range(star)] + [("b", f"y{place}") for place in range(others)])
    kb.tell("I", ["a"])
    assert len(kb.answers()[0]) == star + others + 2
    kb.retract("I", ["a"])
    with counted() as counts:
        assert len(kb.answers()[0]) == others + 1
    assert counts == expected


@pytest.mark.parametrize(("count", "expected"), [(1000, REVISED), (1001, NOT_TRIED)])
def test_many_changes(count: int, expected: dict[bool, int]) -> None:
    kb = lnnkit.loads("predicate P(n)\npredicate K(n)\nrule P(X) -> Q(X)\nquery Q(X)\nfact P(x0)\n")
    kb.tell("K", [f"x{place}" for place in range(2000)])
    kb.infer()
    kb.tell("P", [f"x{place}" for place in range(count)])
    with counted() as counts:
        assert len(kb.answers()[0]) == count
    assert counts == expected


def test_no_more_is_reset_than_rests_on_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain that is cut: what is behind the cut, and nothing of another chain."""
    kb = lnnkit.loads(
        "predicate C(p, p)\npredicate I(p)\nrule I(X) & C(X, Y) -> I(Y)\nquery I(X)\nfact I(a0)\nfact I(b0)\n"
    )
    kb.tell("C", [(f"{name}{place}", f"{name}{place + 1}") for name in "ab" for place in range(15)])
    kb.infer()
    reset: list[dict[str, int]] = []
    rows = dependent_rows.DependentRows.rows

    def counting(dependent: dependent_rows.DependentRows) -> object:
        reset.append({table.name: len(found) for table, found in rows(dependent).items()})
        return rows(dependent)

    def looking(dependent: dependent_rows.DependentRows, chunk: Chunk) -> Array | None:
        looked_at.append(chunk)
        return by_rows(dependent, chunk)

    looked_at, by_rows = list[Chunk](), dependent_rows.DependentRows._by_rows
    monkeypatch.setattr(dependent_rows.DependentRows, "rows", counting)
    monkeypatch.setattr(dependent_rows.DependentRows, "_by_rows", looking)
    run = kb._session.program_fixpoint().run
    kb.retract("C", [("a10", "a11")])
    assert len(kb.answers()[0]) == 32 - 5
    assert reset == [{"C": 1, "I": 5}]
    assert looked_at
    looked_at.clear()
    assert kb._session.program_fixpoint().run is run
    kb.tell("C", [("a10", "a11")])
    assert len(kb.answers()[0]) == 32
    assert reset[1:] == [{}] and not looked_at  # nothing says less
    assert run.progress.rounds == 5 and run.progress.instances == 5


@pytest.mark.parametrize(("degree", "most"), [(1, 3), (0.9, 200)])
def test_crisp_instances_are_not_read_for_rounding(degree: float, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of crisp atoms each combination of bounds is evaluated once, if at all; no bound can differ by rounding."""
    kb = lnnkit.loads(
        f"predicate C(p, p)\npredicate I(p)\nrule I(X) & C(X, Y) -> I(Y)\nquery I(X)\nfact I(a0) = {degree}\n"
    )
    kb.tell("C", [(f"a{place}", f"a{place + 1}") for place in range(30)])
    kb.infer()
    read: list[int] = []
    reader = RuleInstances.reader

    def reading(instances: RuleInstances, at: range, *args: object, **options: object) -> object:
        read.append(len(at))
        return reader(instances, at, *args, **options)  # type: ignore[arg-type]  # as they are given

    monkeypatch.setattr(RuleInstances, "reader", reading)
    kb.retract("C", [("a20", "a21")])
    with counted() as counts:
        assert len(kb.answers()[0]) == 21
    assert counts == REVISED
    assert sum(read) <= most
    assert degree == 1 or sum(read) >= 10  # those that reach what was reset


def test_copies_are_revised_and_leave_the_fixpoint_that_they_are_of() -> None:
    kb = lnnkit.loads(SPREAD)
    kb.infer()
    run = kb._session.program_fixpoint().run
    before = [np.copy(end) for table in run.grounding.atoms.numbered for end in table.bounds]
    events = len(run.state.trail)
    with counted() as counts:
        what_if = kb.assume({"C(b, c)": None})
        assert answered(what_if) == answered(lnnkit.loads(stated([("retract", "C", ("b", "c"))], SPREAD)))
    assert counts == REVISED
    after = [end for table in run.grounding.atoms.numbered for end in table.bounds]
    assert all(one.tolist() == other.tolist() for one, other in zip(before, after, strict=True))
    assert len(run.state.trail) == events
    assert answered(kb) == answered(lnnkit.loads(SPREAD))
    other = what_if._session.program_fixpoint().run
    assert other is not run and other.plan is run.plan
    assert other.grounding.domain.index.maps[-1] is run.grounding.domain.index.maps[-1]
