"""The logic programs of ProntoQA and LogicalDeduction: the imported program gives what the text itself gives in Z3."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import z3

import lnnkit
from lnnkit.interchange.importing import import_text
from lnnkit.syntax import ast

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "logiclm"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no logic programs at {DATA}")


@cache
def examples(name: str) -> list[dict[str, Any]]:
    return json.loads((DATA / f"programs_{name}_dev_gpt-4.json").read_text(encoding="utf-8"))


# --- LogicalDeduction: integers, read by patterns ---------------------------------------------------------------------


def solved_directly(text: str) -> list[bool]:
    """Which options follow from the constraints, the variables integers."""
    sections = re.split(r"^(Domain|Variables|Constraints|Query):\s*$", text, flags=re.MULTILINE)
    of = {
        name: [line.split(":::")[0].strip() for line in body.splitlines() if line.strip()]
        for name, body in zip(sections[1::2], sections[2::2], strict=True)
    }
    solver = z3.Solver()
    for line in of["Variables"]:
        name, values = re.fullmatch(r"(\S+) \[IN\] \[(.*)\]", line).groups()  # type: ignore[union-attr]
        solver.add(z3.Or(*[z3.Int(name) == int(value) for value in values.split(",")]))
    for line in of["Constraints"]:
        solver.add(constraint(line))
    return [solver.check(z3.Not(constraint(line[3:]))) == z3.unsat for line in of["Query"]]


def constraint(line: str) -> Any:
    if line.startswith("AllDifferentConstraint"):
        return z3.Distinct(*[z3.Int(name.strip()) for name in line[line.index("[") + 1 : line.index("]")].split(",")])
    left, operator, right = line.split()
    one, other = z3.Int(left), z3.IntVal(right) if right.isdecimal() else z3.Int(right)
    return {"==": one == other, ">": one > other, "<": one < other, "!=": one != other}[operator]


def solved_as_imported(text: str) -> list[bool]:
    """Which queries of the imported program follow, its numbers reals."""
    program = lnnkit.parse(import_text(text, "puzzle", "logical-deduction").text)
    names = [each.atom.arguments[0] for each in program.statements if isinstance(each, ast.FactStatement)]
    solver = z3.Solver()
    queries = []
    for each in program.statements:
        match each:
            case ast.FactStatement(atom=atom, bounds=bounds):
                assert bounds is not None
                value = numeral(atom, {})
                solver.add(value >= bounds.lower.value, value <= bounds.upper.value)  # type: ignore[union-attr]
            case ast.AxiomStatement(formula=formula):
                for name in names if "X" in str(formula) else names[:1]:
                    solver.add(formula_of(formula, {"X": name}))
            case ast.QueryStatement(formula=formula):
                queries.append(formula_of(formula, {}))
    return [solver.check(z3.Not(query)) == z3.unsat for query in queries]


def formula_of(node: ast.Expression, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Or):
        return z3.Or(*[formula_of(each, names) for each in node.operands])
    assert isinstance(node, ast.Comparison)
    one, other = [numeral(each, names) for each in node.operands]
    relation = node.operators[0]
    return {"=": one == other, ">": one > other, "<": one < other, "!=": one != other}[relation]


def numeral(node: ast.Expression, names: dict[str, Any]) -> Any:
    if isinstance(node, ast.Number):
        return z3.RealVal(node.value)
    assert isinstance(node, ast.Atom)
    (argument,) = node.arguments
    return z3.Real((names[argument.name] if isinstance(argument, ast.Variable) else argument).text)


def compare_puzzles(some: list[dict[str, Any]]) -> Counter[str]:
    fates: Counter[str] = Counter()
    for example in some:
        text = example["raw_logic_programs"][0]
        direct = solved_directly(text)
        assert solved_as_imported(text) == direct, example["id"]
        right = [i for i, each in enumerate(direct) if each] == [ord(example["answer"]) - ord("A")]
        fates["right" if right else "wrong program"] += 1
    return fates


def test_some_puzzles() -> None:
    assert compare_puzzles(examples("LogicalDeduction")[::60])["right"] >= 4


@pytest.mark.slow
def test_all_puzzles() -> None:
    """An eighth of the programs, written by a language model, do not say what their puzzle says."""
    fates = compare_puzzles(examples("LogicalDeduction"))
    assert fates.total() == 299
    assert fates["right"] >= 260, fates


# --- ProntoQA: chains of rules, followed by hand ----------------------------------------------------------------------


def chained(text: str) -> bool | None:
    """What a program of ProntoQA says of its query, by forward chaining over literals."""
    known: set[tuple[str, str]] = set()
    rules, query = [], ("", "")
    section = ""
    for line in text.splitlines():
        line = line.split(":::")[0].strip()
        if line.endswith(":"):
            section = line
        elif line and section != "Predicates:":
            found = re.findall(r"(\w+)\((\$?\w+), (True|False)\)", line)
            literals = [(name, truth) for name, _, truth in found]
            if section == "Facts:":
                known.update(literals)
            elif section == "Rules:":
                rules.append((literals[0], literals[1]))
            else:
                (query,) = literals
    while any(before in known and after not in known for before, after in rules):
        known.update(after for before, after in rules if before in known)
    other = (query[0], "True" if query[1] == "False" else "False")
    return True if query in known else False if other in known else None


def compare_chains(some: list[dict[str, Any]]) -> Counter[bool | None]:
    """The answers, which are those of the text. (Labels are of the question, which queries put in either way.)"""
    fates: Counter[bool | None] = Counter()
    for example in some:
        text = example["raw_logic_programs"][0]
        imported = import_text(text, "example", "prontoqa")
        (answer,) = lnnkit.loads(imported.text).answers()[0]
        found = {"true": True, "false": False}.get(answer.state)
        direct = chained(text)
        assert found == direct, example["id"]
        fates[direct] += 1
    return fates


def test_some_chains() -> None:
    fates = compare_chains(examples("ProntoQA")[::120])
    assert fates[True] and fates[False]


@pytest.mark.slow
def test_all_chains() -> None:
    fates = compare_chains(examples("ProntoQA"))
    assert (fates[True], fates[False], fates[None]) == (314, 157, 29)
