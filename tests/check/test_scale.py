"""Deep, wide and long programs; what the checker loads; real first-order theories."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from lnnkit.check import check
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Source, Span
from lnnkit.syntax.parse import parse
from tests.blocks import at_length
from tests.check.checking import findings

SPAN = Span(Source("test.lnn", "P" * 10), 0, 1)
DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def nested(kind: str, depth: int) -> ast.Expression:
    formula: ast.Expression = ast.Comparison(
        (ast.Atom("x", (), span=SPAN), ast.Entity("anna", span=SPAN)), ("=",), span=SPAN
    )
    atom = ast.Atom("P", (ast.Variable("x", span=SPAN),), span=SPAN)
    for level in range(depth):
        match kind:
            case "not":
                formula = ast.Not(formula, span=SPAN)
            case "implies":
                formula = ast.Implies(atom, formula, span=SPAN)
            case "weighted":
                formula = ast.Or((atom, ast.Weighted(formula, ast.Number(0.5, span=SPAN), span=SPAN)), span=SPAN)
            case _:
                variable = ast.Variable(f"y{level}", span=SPAN)
                used = ast.Atom("Q", (variable,), span=SPAN)
                formula = ast.Exists((variable,), ast.And((used, formula), span=SPAN), span=SPAN)
    return ast.Forall((ast.Variable("x", span=SPAN),), ast.And((formula, atom), span=SPAN), span=SPAN)


@pytest.mark.parametrize("kind", ["not", "implies", "weighted", "exists"])
def test_formulas_nest_beyond_the_stack(kind: str) -> None:
    statement = ast.AxiomStatement(None, nested(kind, 5_000 if kind != "exists" else 1_500), span=SPAN)
    program, found = check(ast.Program((statement,), span=SPAN), Path())
    assert program is not None, found[0].render()


def test_wide() -> None:
    formula = " & ".join(f"P(e{i})" for i in range(5_000))
    assert findings(f"axiom {formula}\n") == []


@pytest.mark.parametrize("count", at_length([500, 3_000], plain=1))
def test_thousands_of_rules(count: int) -> None:
    lines = [f"fact P{i}(a{i})\nrule P{i}(X) & ~P{i + 1}(X) -> Q{i}(X)\nfact P{i + 1}(b)" for i in range(count)]
    program, _ = parse("\n".join(lines), "test.lnn")  # the greater part of the test
    start = time.process_time()
    assert [each.code for each in check(program, Path())[1]] == ["never-false"] * count
    assert time.process_time() - start < 5  # about 0.5 seconds


@pytest.mark.parametrize("count", at_length([500, 3_000], plain=1))
def test_thousands_of_errors(count: int) -> None:
    lines = [f"rule Person{i}(X) -> Happy{i}(X)" for i in range(count)]
    program, _ = parse("\n".join(lines), "test.lnn")
    start = time.process_time()
    assert len(check(program, Path())[1]) == count
    assert time.process_time() - start < 5  # near names are sought for a few of them only


def test_a_program_without_data_loads_nothing_heavy() -> None:
    code = """
import sys
from pathlib import Path
from lnnkit.check import check
from lnnkit.syntax.parse import parse
program, _ = parse("predicate A(e) closed\\nfact A(anna)\\nrule A(X) -> B(X)\\nquery B(X)\\n", "x")
assert check(program, Path())[0] is not None
print([name for name in ("numpy", "pyarrow", "networkx", "torch", "rich") if name in sys.modules])
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- FOLIO: stories of first-order axioms, written by people --------------------------------------------------------


def stories() -> list[tuple[str, ...]]:
    path = DATA / "folio" / "folio-train.jsonl"
    if not path.exists():
        pytest.skip(f"no {path}")
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(tuple(json.loads(line)["premises-FOL"]) for line in lines))


def test_folio_stories_are_refused_only_for_real_faults() -> None:
    errors: Counter[str] = Counter()
    accepted = 0
    told = stories()
    for story in told:
        text = "".join(f"axiom {formula}\n" for formula in story)
        program, _ = parse(text, "story.lnn")  # 44 of the formulas are malformed; these statements are left out
        checked, found = check(program, Path())
        accepted += checked is not None
        errors.update(finding.code for finding in found if finding.severity == "error")
    assert len(told) == 340
    assert accepted >= 329
    # `∀x P(x) → Q(x)`, `∃x ∃x`, a predicate of one and of two arguments, `^` for and, `k` for x
    assert set(errors) <= {
        "bound-and-free",
        "lower-case-variable",
        "shadowed-variable",
        "unused-variable",
        "wrong-arity",
        "truth-as-number",
    }


@pytest.mark.parametrize("count", at_length([1_000, 10_000], plain=1))
def test_a_misspelt_predicate_among_thousands_that_occur_once(count: int) -> None:
    """Names that differ in their numbers are different on purpose; the one that is misspelt is told, wherever it is."""
    lines = [f"axiom Kind{i}(X) -> P{i}(X)" for i in range(count // 2)]
    program, _ = parse("\n".join([*lines, "axiom Knid77(X) -> Other(X)"]))
    started = time.process_time()
    found = check(program, Path())[1]
    assert [(each.code, each.line, each.hint[:28]) for each in found] == [
        ("near-miss-predicate", count // 2 + 1, "if `Kind77` is meant, correc")
    ]
    assert time.process_time() - started < count / 2_000  # 0.14 ms a predicate when it was measured
