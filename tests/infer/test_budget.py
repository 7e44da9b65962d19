"""What a default budget comes from, and that it is met before memory is."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lnnkit
from lnnkit import budget
from lnnkit.infer.inference import Budget
from lnnkit.syntax.diagnostic import Diagnostic

PRODUCT = "predicate Q(x, x)\nrule all: P(X) & P(Y) -> Q(X, Y)\nquery Q(X, Y)\n"


def kb(count: int, text: str = PRODUCT, names: str = "P") -> lnnkit.KnowledgeBase:
    found = lnnkit.loads("".join(f"predicate {name}(x)\n" for name in names) + text)
    for name in names:
        found.tell(name, [(f"e{i}",) for i in range(count)])
    return found


def test_memory_is_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule has 5 neurons, 3 of them leaves: 100 + 5 * 20 + 3 * 150 = 650 bytes an instance."""
    monkeypatch.setattr(budget, "free_memory", lambda: 2 * 650 * 1_000_000)
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
    """Its rule has 13 neurons, 7 of them leaves: 100 + 260 + 1050 = 1410 bytes."""
    text = PRODUCT.replace("P(X) & P(Y)", "P(X) & P(Y) & (A(X) | ~B(Y)) & (C(X) | ~D(Y))")
    monkeypatch.setattr(budget, "default_budget", lambda: Budget(memory=1410 * 10_000))
    with pytest.raises(lnnkit.BudgetError, match="10,201 instances; the budget is 10,000, what"):
        kb(101, text, "PABCD").infer()


def test_an_answer_has_the_budget_too(monkeypatch: pytest.MonkeyPatch) -> None:
    program = kb(100, "query P(X)\n")
    assert len(program.ask("P(X) & P(Y)")) == 10_000
    monkeypatch.setattr(budget, "default_budget", lambda: Budget(memory=10**6))
    with pytest.raises(lnnkit.BudgetError, match="query over X, Y would take 10,000 instances"):
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
def peak():  # of this process alone: ru_maxrss starts at the parent's
    with open("/proc/self/status") as file:
        return int(next(line for line in file if line.startswith("VmHWM")).split()[1])
torch.set_num_threads(1)
kb = lnnkit.loads({text!r})
for name in {names!r}:
    kb.tell(name, [(f"e{{i}}", 0.9 + 1e-5 * i, 1.0) for i in range({count})])
before = peak()
kb.infer()
after = peak()
from lnnkit.infer.inference import footprint
(rested,) = kb._fixpoints.values()
(member,) = rested.fixpoint.prepared.grounding.members
assert len(member) == {count} ** 2
print((after - before) * 1024 / {count} ** 2, footprint(member.formula))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("body", ["A(X) & B(Y)", "A(X) & B(Y) & (C(X) | ~D(Y)) & (F(X) | ~G(Y))"])
def test_an_instance_takes_what_it_is_counted_as(body: str) -> None:
    """Measured when this was written: 626 bytes for 5 neurons, 1172 for 13, with 10^6 instances."""
    names = [name for name in "ABCDFG" if name in body]
    declared = "predicate Q(x, x)\n" + "".join(f"predicate {name}(x)\n" for name in names)
    code = PEAK.format(text=f"{declared}rule r: {body} -> Q(X, Y)\nquery Q(X, Y)", names=names, count=600)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    measured, counted = map(float, done.stdout.split())
    assert 0.4 * counted < measured < 1.3 * counted
