"""What a default budget comes from, and that it is met before memory is."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lnnkit
from lnnkit import budget
from lnnkit.budget import Budget
from lnnkit.syntax.diagnostic import Diagnostic

PRODUCT = "predicate Q(x, x)\nrule all: P(X) & P(Y) -> Q(X, Y)\nquery Q(X, Y)\n"


def kb(count: int, text: str = PRODUCT, names: str = "P") -> lnnkit.KnowledgeBase:
    found = lnnkit.loads("".join(f"predicate {name}(x)\n" for name in names) + text)
    for name in names:
        found.tell(name, [(f"e{i}",) for i in range(count)])
    return found


# The free memory is the machine's, and `free_memory` or `_read` stand for it. A budget that small programs exceed is
# below the least that inference takes for granted, so tests that need one replace `default_budget`.


def test_memory_is_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule has 3 leaves, one of them in its consequent: 90 + 3 * 10 + 150 = 270 bytes an instance."""
    monkeypatch.setattr(budget, "free_memory", lambda: 2 * 270 * 1_000_000)
    with pytest.raises(lnnkit.BudgetError) as raised:
        kb(1001).infer()
    (finding,) = raised.value.diagnostics
    assert finding.message == (
        "the rule `all` over X, Y would take 1,002,001 instances; "
        "the budget is 1,000,000, what half of the free memory can hold"
    )
    with pytest.raises(lnnkit.BudgetError) as raised:
        kb(20).infer(max_groundings=100)
    (finding,) = raised.value.diagnostics
    assert finding.message == "the rule `all` over X, Y would take 400 instances; the budget is 100"


def test_a_formula_that_is_larger_has_a_smaller_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rule has 7 leaves: 90 + 70 + 150 = 310 bytes; two atoms in its consequent make 90 + 80 + 300 = 470."""
    text = PRODUCT.replace("P(X) & P(Y)", "P(X) & P(Y) & (A(X) | ~B(Y)) & (C(X) | ~D(Y))")
    monkeypatch.setattr(budget, "default_budget", lambda: Budget(free=lambda: 310 * 10_000))
    with pytest.raises(lnnkit.BudgetError, match="10,201 instances; the budget is 10,000, what"):
        kb(101, text, "PABCD").infer()
    kb(100, text, "PABCD").infer()
    monkeypatch.setattr(budget, "default_budget", lambda: Budget(free=lambda: 470 * 10_000))
    text = text.replace("-> Q(X, Y)", "-> Q(X, Y) & R(X, Y)")
    with pytest.raises(lnnkit.BudgetError, match="10,201 instances; the budget is 10,000, what"):
        kb(101, text, "PABCD").infer()


def test_rows_that_are_read_together_have_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 7 neurons and an inner block each of the 400 instances takes 90 + 210 + 50 = 350 bytes, and so does each of
    the 800 rows within: the one candidate of each X and Y, and the others."""
    text = PRODUCT.replace("P(X) &", "P(X) & (forall Z: E(X, Y, Z)) &")
    program = kb(20, "predicate E(x, x, x)\n" + text)
    program.tell("E", [(f"e{i}", f"e{j}", f"e{i}") for i in range(20) for j in range(20)])
    monkeypatch.setattr(budget, "default_budget", lambda: Budget(free=lambda: 350 * 799))
    with pytest.raises(lnnkit.BudgetError, match="800 instances; the budget is 799, what"):
        program.infer()
    monkeypatch.setattr(budget, "default_budget", lambda: Budget(free=lambda: 350 * 800))
    program.infer()


def test_an_answer_has_the_budget_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its 3 neurons take 90 + 90 = 180 bytes an instance."""
    program = kb(100, "query P(X)\n")
    assert len(program.ask("P(X) & P(Y)")) == 10_000
    monkeypatch.setattr(budget, "default_budget", lambda: Budget(free=lambda: 180 * 9_999))
    with pytest.raises(lnnkit.BudgetError, match="query over X, Y would take 10,000 instances; the budget is 9,999,"):
        program.ask("P(X) & P(Y)")


def finding_of(program: lnnkit.KnowledgeBase, most: int) -> Diagnostic:
    with pytest.raises(lnnkit.BudgetError) as raised:
        program.infer(max_groundings=most)
    (finding,) = raised.value.diagnostics
    assert finding.code == "too-many-groundings"
    assert "--max-groundings" in finding.hint
    return finding


def test_a_product_of_three_domains() -> None:
    """Counted as a whole before any part of it is made: these would take 24 GB."""
    for body in ("P(X) & P(Y) & P(Z)", "Some"):  # three literals, or three domains
        text = f"predicate Q(x, x, x)\nfact Some\nrule all: {body} -> Q(X, Y, Z)\n"
        finding = finding_of(kb(1000, text), 10**8)
        assert finding.message == (
            "the rule `all` over X, Y, Z would take 1,000,000,000 instances; the budget is 100,000,000"
        )
        assert finding.line == 4


CHAIN = (
    "predicate Edge(n, n) closed\npredicate Path(n, n){kind}\n"
    + "".join(f"fact Edge(n{i}, n{i + 1})\n" for i in range(30))
    + "fact Start(n0)\nrule begin: Start(X) -> Begun(X)\n"
    "rule Edge(X, Y) -> Path(X, Y)\nrule step: Path(X, Y) & Edge(Y, Z) -> Path(X, Z)\n"
    "query Path(X, Y)\nquery Begun(X)\n"
)


@pytest.mark.parametrize("kind", ["", " closed"])
def test_rounds_add_up(kind: str) -> None:
    """Each round finds few instances. Among 31 nodes in a row, Path(X, Y) & Edge(Y, Z) holds for any two of the first
    30: 30 * 29 / 2 = 435. A closed Path is completed twice, since `begin` changes something in between."""
    text = CHAIN.format(kind=kind)
    lnnkit.loads(text).infer(max_groundings=435)
    finding = finding_of(lnnkit.loads(text), 434)
    assert finding.message == "the rule `step` over X, Y, Z would take 435 instances; the budget is 434"


def test_an_instance_counts_once_however_often_it_is_visited() -> None:
    """All five are there at once; the certainty of the first then passes along them."""
    text = "".join(f"fact E(c{i}, c{i + 1})\nfact P(c{i}) in [{1.0 if i == 0 else 0.1}, 1]\n" for i in range(5))
    text = f"fact P(c5) in [0.1, 1]\npredicate E(n, n) closed\n{text}rule r: P(X) & E(X, Y) -> P(Y)\nquery P(X)\n"
    program = lnnkit.loads(text)
    assert program.infer(max_groundings=5).rounds == 5
    (statement,) = program.plan().statements
    assert statement.instances == 9  # five, and one after each round but the last
    assert finding_of(lnnkit.loads(text), 4).message.endswith("would take 5 instances; the budget is 4")


def test_rows_that_do_not_fit_are_not_counted() -> None:
    facts = "".join(f"fact Is(e{i}, {kind})\n" for i in range(9) for kind in ("red", "blue", "green")[i % 3 :])
    text = f"predicate Is(x, k)\n{facts}rule r: Is(X, red) & Is(Y, green) -> Q(X, Y)\nquery Q(X, Y)\n"
    lnnkit.loads(text).infer(max_groundings=27)  # 3 are red, 9 green
    assert "would take 27 instances" in finding_of(lnnkit.loads(text), 26).message


def test_a_completion_has_the_budget_too() -> None:
    text = "predicate Q(x, x) closed\nrule all: P(X) & P(Y) -> Q(X, Y)\n"
    finding = finding_of(kb(100, text.replace("P(X) & P(Y)", "~P(X) & P(Y)")), 5000)
    assert finding.message == "the rule `all` over X, Y would take 10,000 instances; the budget is 5,000"
    assert finding.line == 3


def test_a_shared_formula_is_named() -> None:
    text = "rule one: (P(X) | P(Y)) -> A(X, Y)\nrule two: (P(X) | P(Y)) & C(Y) -> B(X, Y)\n"
    finding = finding_of(kb(60, "predicate C(x)\n" + text), 3000)
    assert finding.message.startswith(
        "the formula `P(X0) | P(X1)`, which the rule `one` shares, over X0, X1 would take "
    )
    assert finding.line == 3


def test_a_quantifier_about_fewer_variables_counts_its_own_rows_alone() -> None:
    """60 rows of P(Z) for all 60 P(X), not for each of them."""
    text = "fact R(e0, e0)\nrule r: (exists Z: P(Z) & R(Z, Z)) & P(X) -> Q(X)\nquery Q(X)\n"
    program = kb(60, "predicate R(x, x)\npredicate P(x)\n" + text)
    program.infer(max_groundings=60)
    assert len(program.ask("Q(X)")) == 60


def test_a_query_has_the_budget_of_inference() -> None:
    program = kb(100, "query P(X)\n")
    program.infer(max_groundings=5000)
    with pytest.raises(lnnkit.BudgetError, match="query over X, Y would take 10,000 instances; the budget is 5,000"):
        program.ask("P(X) & P(Y)")
    program.infer()
    assert len(program.ask("P(X) & P(Y)")) == 10_000


def test_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    5000 kB\n", "/proc/self/statm": "9 10 9\n"}
    monkeypatch.setattr(budget.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": 1}.__getitem__)
    monkeypatch.setattr(budget, "_read", lambda path: files.get(path, ""))
    assert budget.free_memory() == 5000 * 1024
    files["/sys/fs/cgroup/memory.max"] = "max\n"
    assert budget.free_memory() == 5000 * 1024
    files["/sys/fs/cgroup/memory.max"] = "1040960\n"  # 10 pages of it are this process
    assert budget.free_memory() == 1_000_000
    files["/proc/self/cgroup"] = "0::/box/inner\n"  # a group within another: the tightest counts
    files["/sys/fs/cgroup/box/memory.max"] = "900000\n"
    files["/sys/fs/cgroup/box/memory.current"] = "800000\n"
    assert budget.free_memory() == 100_000
    files["/sys/fs/cgroup/box/memory.stat"] = "anon 4\ninactive_file 300000\n"
    assert budget.free_memory() == 400_000
    files["/proc/self/cgroup"] = "5:cpu:/\n4:memory,x:/old\n0::/\n"
    files["/sys/fs/cgroup/memory/old/memory.limit_in_bytes"] = "90960"
    assert budget.free_memory() == 50_000
    files.clear()
    assert budget.free_memory() == 4096


@pytest.mark.skipif(sys.platform == "win32", reason="needs ulimit")
def test_ulimit_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    files = {"/proc/meminfo": "MemAvailable:    5000 kB\n", "/proc/self/statm": "100 10 9\n"}
    monkeypatch.setattr(budget, "_read", lambda path: files.get(path, ""))
    monkeypatch.setattr(budget.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_AVPHYS_PAGES": 1}.__getitem__)
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (100 * 4096 + 77, -1))
    assert budget.free_memory() == 77


PEAK = """
import lnnkit, torch
import lnnkit.budget as budgets
def read(name):  # of this process alone: ru_maxrss starts at the parent's
    with open("/proc/self/status") as file:
        return 1024 * int(next(line for line in file if line.startswith(name)).split()[1])
counted = 0
def guard(budget, formula, count, use="evaluated"):
    global counted
    counted = max(counted, count * budgets.footprint(formula, use))
budgets.Budget.__call__ = guard
torch.set_num_threads(1)
def measured(count):
    kb = lnnkit.loads({text!r})
    for name in "ABCDFG":
        kb.tell(name, [(f"e{{i}}", 0.9 + 1e-5 * i, 1.0) for i in range(count)])
    kb.tell("E", [(f"e{{i}}", f"e{{i}}", 0.9 + 1e-5 * i, 1.0) for i in range(count)])
    if {query!r}:
        kb.infer()
    before = read("VmRSS")
    kb.ask({query!r}) if {query!r} else kb.infer()
    return read("VmHWM") - before
measured(10)  # whatever is loaded when it is first needed
counted = 0
print(measured({count}) / counted)
"""
DECLARED = "predicate E(x, x)\npredicate Q(x, x)\npredicate R(x, x){kind}\n" + "".join(
    f"predicate {name}(x)\n" for name in "ABCDFG"
)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("rule", "query", "kind", "count"),
    [
        pytest.param("A(X) & B(Y) -> Q(X, Y)", "", "", 700, marks=pytest.mark.slow),
        pytest.param("A(X) & B(Y) & (C(X) | ~D(Y)) & (F(X) | ~G(Y)) -> Q(X, Y)", "", "", 700, marks=pytest.mark.slow),
        pytest.param("A(X) & B(Y) -> Q(X, Y) & R(X, Y)", "", "", 600, marks=pytest.mark.slow),
        pytest.param("A(X) & B(Y) -> R(X, Y)", "", " closed", 700, marks=pytest.mark.slow),
        pytest.param("A(X) & B(Y) & (exists Z: E(X, Z)) -> Q(X, Y)", "", "", 400, marks=pytest.mark.slow),
        pytest.param("A(X) -> B(X)", "A(X) & B(Y) & (C(X) | ~D(Y))", "", 900, marks=pytest.mark.slow),
    ],
)
def test_the_memory_of_an_instance_matches_its_estimate(rule: str, query: str, kind: str, count: int) -> None:
    text = f"{DECLARED.format(kind=kind)}rule r: {rule}\nquery Q(X, Y)\nquery R(X, Y)"
    code = PEAK.format(text=text, query=query, count=count)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.3 < float(done.stdout) < 1.3


@pytest.mark.parametrize("closed", ["", " closed"])
@pytest.mark.parametrize("places", [(0,), (6,), (3,)])
def test_wide_rules_join_what_links_their_variables(closed: str, places: tuple[int, ...]) -> None:
    """Wherever the literal that links two variables is written, no cross product is made."""
    body = [f"P{i}(X)" for i in range(3)] + [f"H{i}(Y)" for i in range(3)]
    body.insert(places[0], "Wants(X, Y)")
    text = "".join(f"predicate P{i}(p){closed}\npredicate H{i}(h){closed}\n" for i in range(3))
    text += f"predicate Wants(p, h){closed}\npredicate Offer(p, h){closed}\nrule {' & '.join(body)} -> Offer(X, Y)\n"
    found = lnnkit.loads(text + "query Offer(X, Y)\n")
    people, houses = [f"p{i}" for i in range(200)], [f"h{i}" for i in range(200)]
    for i in range(3):
        found.tell(f"P{i}", [(name,) for name in people])
        found.tell(f"H{i}", [(name,) for name in houses])
    found.tell("Wants", [(people[i], houses[7 * i % 200]) for i in range(200)])
    found.infer(max_groundings=1000)
    assert len(found.answers()[0]) == 200


def test_the_widest_rules_are_with_new_members_what_links_them() -> None:
    literals = [f"L{i}(X)" for i in range(6)] + [f"M{i}(Y)" for i in range(6)] + ["Link(X, Y)"]
    text = "".join(f"predicate L{i}(x)\npredicate M{i}(y)\n" for i in range(6)) + "predicate Link(x, y)\n"
    found = lnnkit.loads(f"{text}rule {' & '.join(literals)} -> P(X, Y)\nquery P(X, Y)\n")
    for i in range(6):
        found.tell(f"L{i}", [(f"x{k}",) for k in range(100)])
        found.tell(f"M{i}", [(f"y{k}",) for k in range(100)])
    found.tell("Link", [(f"x{k}", f"y{7 * k % 100}") for k in range(100)])
    found.infer(max_groundings=1500)
    assert len(found.answers()[0]) == 100
