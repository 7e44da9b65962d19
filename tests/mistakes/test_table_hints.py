"""Hints about tables and texts, followed to the letter, give what was meant."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from lnnkit.data.files import Unreadable, format_of
from tests.mistakes.trying import answers, findings


def literal(hint: str) -> list[str]:
    return re.findall(r"`([^`]*)`", hint)


@pytest.mark.parametrize(
    ("program", "rows"),
    [
        ("number age(p)\nload age from", [(("anna",), 34.0, 34.0), (("bob",), 40.0, 40.0)]),
        ("predicate age(p, entity)\nload age from", [(("anna", "34"), 1.0, 1.0), (("bob", "40"), 1.0, 1.0)]),
    ],
)
def test_an_index_is_left_out(program: str, rows: list[object], tmp_path: Path) -> None:
    pd.DataFrame({"name": ["anna", "bob"], "age": [34, 40]}).to_csv(tmp_path / "idx.csv")
    query = "query age(X)" if "number" in program else "query age(X, Y)"
    (found,) = findings(f'{program} "idx.csv"\n{query}\n', tmp_path)
    assert found.code == "wrong-columns"
    columns = literal(found.hint)[0]
    assert answers(f'{program} "idx.csv" {columns}\n{query}\n', tmp_path) == [rows]


def test_the_index_may_be_the_key(tmp_path: Path) -> None:
    pd.DataFrame({"age": [34]}, index=["anna"]).to_csv(tmp_path / "idx.csv")
    program = "number age(p)\nload age from"
    assert answers(f'{program} "idx.csv"\nquery age(X)\n', tmp_path) == [[(("anna",), 34.0, 34.0)]]


@pytest.mark.parametrize("clauses", ['(name, age) delimiter ";"', "(name, age)", ""])
def test_a_line_for_spreadsheets(clauses: str, tmp_path: Path) -> None:
    rows = "name;age\nanna;34\n"
    (tmp_path / "sep.csv").write_text(f"sep=;\n{rows}")
    load = f'number age(p)\nload age from "sep.csv" {clauses}'
    (found,) = findings(f"{load}\nquery age(X)\n", tmp_path)
    assert "take that line out" in found.hint
    (tmp_path / "sep.csv").write_text(rows)
    for added in literal(found.hint):
        load += f" {added}"
    assert answers(f"{load}\nquery age(X)\n", tmp_path) == [[(("anna",), 34.0, 34.0)]]


def test_a_column_more_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "staff.csv").write_text("name,dept,salary\nanna,it,3000\nbob,hr,2000\n")
    load = 'number salary(p)\nload salary from "staff.csv"'
    for found in findings(f"{load}\nquery salary(X)\n", tmp_path):
        columns = found.hint.rpartition("to read: ")[2]
        assert answers(f"{load} {columns}\nquery salary(X)\n", tmp_path) == [
            [(("anna",), 3000.0, 3000.0), (("bob",), 2000.0, 2000.0)]
        ]


STAMPS = [
    (["2024-01-15T12:30:00+02:00", "2024-01-15 10:30:00Z"], 19737.4375),
    (["15.01.2024", "15.01.2024"], 19737.0),
    (["01/15/2024 10:30", "01/15/2024 10:30"], 19737.4375),
    (["2024-01-15", "2024-01-15"], 19737.0),
]


@pytest.mark.parametrize(("cells", "days"), STAMPS)
def test_a_column_of_stamps_as_dates(cells: list[str], days: float, tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["anna", "bob"], "at": cells})
    frame.to_csv(tmp_path / "tz.csv", index=False)
    program = 'number at(p)\nload at from "tz.csv"\nquery at(X)\n'
    found = findings(program, tmp_path)[0]
    assert "declare it with `date` instead of `number`" in found.hint
    program = program.replace("number", "date")
    for code in (each for each in literal(found.hint) if "column" in each):
        frame["at"] = eval(code, {"pd": pd, "column": frame["at"]})
        frame.to_csv(tmp_path / "tz.csv", index=False)
    assert answers(program, tmp_path) == [[(("anna",), days, days), (("bob",), days, days)]]


def test_mixed_units_are_converted_first(tmp_path: Path) -> None:
    (tmp_path / "unit.csv").write_text("name,w\nanna,12 kg\nbob,500 g\ncleo,800 g\n")
    found = findings('number w(p)\nload w from "unit.csv"\n', tmp_path)
    assert "kg and g: convert them to one" in found[0].hint
    assert not any("write 500" in each.hint for each in found)
    (tmp_path / "unit.csv").write_text("name,w\nanna,12 kg\nbob,13 kg\n")
    found = findings('number w(p)\nload w from "unit.csv"\n', tmp_path)
    assert "write 12" in found[0].hint


@pytest.mark.parametrize("name", ["a.xlsx", "a.xls", "a.ods", "a.json", "a.feather", "a.xml", "a.ttl", "a.nt", "a.owl"])
def test_files_of_others_have_a_line_that_converts_them(name: str) -> None:
    with pytest.raises(Unreadable) as problem:
        format_of(Path(name))
    (line,) = literal(problem.value.fault.hint)
    assert f'("{name}")' in line and line.endswith('.to_csv("a.csv", index=False)')
    compile(line, "hint", "eval")


def test_a_converted_file_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["anna"], "age": [34]})
    frame.to_json(tmp_path / "a.json")
    (found,) = findings('number age(p)\nload age from "a.json"\n', tmp_path)
    (line,) = literal(found.hint)
    eval(line.replace('"a.', f'"{tmp_path}/a.'), {"pd": pd})
    assert answers('number age(p)\nload age from "a.csv"\nquery age(X)\n', tmp_path) == [[(("anna",), 34.0, 34.0)]]


TEXTS = [
    'like(P, "/admin%")',
    'startswith(P, "/admin")',
    'starts_with(P, "/admin")',
    'startsWith(P, "/admin")',
    'contains(P, "admin")',
    'matches(P, "a.*")',
    'regex(P, "a.*")',
    'lower(P) = "/admin"',
    'substr(P, 1, 6) = "/admin"',
    "length(P) > 5",
    'concat(P, "x") = "y"',
    'P like "/admin%"',
    'P starts with "/admin"',
    'P matches "a.*"',
    'P.startswith("/admin")',
    'P.lower() = "/admin"',
]


@pytest.mark.parametrize("condition", TEXTS)
def test_texts_are_not_searched(condition: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"name": ["/admin/users", "/home"], "id": ["r1", "r2"]})
    frame.to_csv(tmp_path / "d.csv", index=False)
    head = 'predicate Path(p, path) closed\nload Path from "d.csv" (id, name)\n'
    found = findings(f"{head}rule Path(X, P) & {condition} -> Admin(X)\nquery Admin(X)\n", tmp_path)
    (error,) = [each for each in found if each.severity == "error"]
    assert error.code in ("text-function", "text-method", "equals-word")
    code, load = [each for each in literal(error.hint) if "matching" in each]
    eval(code.replace('"x"', '"/admin"').replace('"matching', f'"{tmp_path}/matching'), {"df": frame})
    program = f"{head}{load}\nrule Path(X, P) & Matching(P) -> Admin(X)\nquery Admin(X)\n"
    assert answers(program, tmp_path) == [[(("r1",), 1.0, 1.0)]]


def test_predicates_with_such_names_are_kept(tmp_path: Path) -> None:
    assert answers("fact contains(box, pen)\nquery contains(box, X)\n", tmp_path) == [[(("pen",), 1.0, 1.0)]]
    found = findings("fact Likes(ann, bob)\nrule like(X, Y) -> P(X)\nquery P(X)\nquery Likes(X, Y)\n", tmp_path)
    assert any("did you mean `Likes`" in each.hint for each in found)
    (found,) = [
        each
        for each in findings('fact P(a)\nrule P(X) & contains(X, "b") -> Q(X)\n', tmp_path)
        if each.severity == "error"
    ]
    declared = literal(found.hint)[-1]
    assert not [
        each
        for each in findings(f'{declared}\nfact P(a)\nrule P(X) & contains(X, "b") -> Q(X)\n', tmp_path)
        if each.severity == "error"
    ]
