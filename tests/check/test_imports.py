"""Imports: once, in place, each file with its own folder and logic."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.check import check
from lnnkit.syntax.parse import parse
from tests.check.checking import checked, findings, shown


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".lnn").write_text(text, encoding="utf-8")


def test_merged_in_place_and_once(tmp_path: Path) -> None:
    write(tmp_path, people="fact P(anna)\nquery P(X)\n", more='import "people.lnn"\nfact P(bob)\n')
    text = 'query Q(X)\nimport "people.lnn"\nimport "more.lnn"\nrule P(X) -> Q(X)\nfact P(cleo)\n'
    program = checked(text, tmp_path)
    assert [fact.arguments for fact in program.facts] == [("anna",), ("bob",), ("cleo",)]
    assert [query.text for query in program.queries] == ["Q(X)", "P(X)"]


def test_logic_and_paths_stay_with_their_file(tmp_path: Path) -> None:
    write(tmp_path, sub__rules='rule A(X) -> B(X)\nload A from "a.csv"\nlogic product\n')
    (tmp_path / "sub" / "a.csv").write_text("who\nanna\n", encoding="utf-8")
    program = checked('logic godel\nimport "sub/rules.lnn"\nrule B(X) -> C(X)\nquery C(X)\n', tmp_path)
    assert [assertion.logic for assertion in program.assertions] == ["product", "godel"]
    assert [query.logic for query in program.queries] == ["godel"]
    assert [len(table) for table in program.tables] == [1]


def test_a_file_may_import_what_two_others_import(tmp_path: Path) -> None:
    write(tmp_path, base="predicate P(person)\n", left='import "base.lnn"\n', right='import "base.lnn"\n')
    assert findings('import "left.lnn"\nimport "right.lnn"\nquery P(X)\n', tmp_path) == []


def test_the_same_declaration_in_two_files_is_fine(tmp_path: Path) -> None:
    write(tmp_path, other="predicate P(person)\nsort person\n")
    assert findings('import "other.lnn"\npredicate P(person)\nsort person\nquery P(X)\n', tmp_path) == []


def test_conflicts_name_the_other_file(tmp_path: Path) -> None:
    write(tmp_path, other="predicate P(person)\nrule r: P(X) -> Q(X)\n")
    found = findings('import "other.lnn"\npredicate P(city)\nrule r: Q(X) -> P(X)\n', tmp_path)
    assert shown(found) == [
        ("conflicting-declaration", "test.lnn", 2, 11),
        ("duplicate-rule-name", "test.lnn", 3, 6),
    ]
    assert all("other.lnn line" in finding.message for finding in found)


def test_cycle_is_named(tmp_path: Path) -> None:
    write(tmp_path, a='import "b.lnn"\n', b='fact P(anna)\nimport "c.lnn"\n', c='import "b.lnn"\n')
    (found,) = findings('import "a.lnn"\n', tmp_path)
    assert found.code == "import-cycle"
    assert "b.lnn -> c.lnn -> b.lnn" in found.message
    assert (found.path, found.line, found.column) == (str(tmp_path / "c.lnn"), 1, 1)


@pytest.mark.parametrize("text", ['import "main.lnn"\n', 'import "./sub/../main.lnn"\n'])
def test_a_file_that_imports_itself(tmp_path: Path, text: str) -> None:
    write(tmp_path, main=text, sub__x="")
    (found,) = findings(text, tmp_path, path=str(tmp_path / "main.lnn"))
    assert found.code == "import-cycle"
    assert "main.lnn -> main.lnn" in found.message


def test_missing_and_unreadable(tmp_path: Path) -> None:
    (tmp_path / "latin.lnn").write_bytes(b"fact P(jos\xe9)\n")
    (tmp_path / "folder.lnn").mkdir()
    text = 'import "gone.lnn"\nimport "latin.lnn"\nimport "folder.lnn"\n'
    assert shown(findings(text, tmp_path)) == [
        ("import-not-found", "test.lnn", 1, 1),
        ("import-unreadable", "test.lnn", 2, 1),
        ("import-unreadable", "test.lnn", 3, 1),
    ]


def test_the_nearest_program_is_offered(tmp_path: Path) -> None:
    write(tmp_path, people="fact P(anna)\n")
    (tmp_path / "people.csv").write_text("id\nanna\n", encoding="utf-8")
    hints = [findings(f'import "{name}"\n', tmp_path)[0].hint for name in ("people", "peple.lnn", "no/people", "zebra")]
    assert hints == [
        'did you mean "people.lnn"?',
        'did you mean "people.lnn"?',
        f'there is no folder "{tmp_path / "no"}"; paths are relative to the .lnn file',
        "paths are relative to the .lnn file",
    ]


def test_a_table_is_loaded_not_imported(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,age\n1,20\n2,30\n", encoding="utf-8")
    (found,) = findings('import "people.csv"\nrule people(X) -> Q(X)\n', tmp_path)
    assert (found.code, found.line) == ("table-as-program", 1)
    assert '`load P from "people.csv"`' in found.hint


def test_errors_of_imported_files_carry_their_path(tmp_path: Path) -> None:
    write(tmp_path, other="fact P(X)\nrule P(X) ->\nfact P(anna)\n")
    found = findings('import "other.lnn"\nfact Q(Y)\n', tmp_path)
    path = str(tmp_path / "other.lnn")
    assert [(finding.path, finding.line) for finding in found] == [("test.lnn", 2), (path, 1), (path, 2)]
    assert [finding.code for finding in found][:2] == ["variable-in-fact", "variable-in-fact"]


def test_a_missing_file_makes_nothing_unknown(tmp_path: Path) -> None:
    text = 'import "gone.lnn"\nrule A(X) & size(X) > 3 -> B(X)\nfact B(anna)\nquery B(bob)\n'
    found = findings(text, tmp_path)
    assert [finding.code for finding in found] == ["import-not-found"]


@pytest.mark.parametrize(
    ("broken", "rest", "codes"),
    [
        ("fact Bird(tweety", "rule Bird(X) -> Flies(X)", []),
        ("fact Bird(tweety", "rule Brid(X) -> Flies(X)", ["unknown-predicate"]),
        ("number age(person", "fact age(anna) = 34\nrule age(X) > 3 -> Old(X)", []),
        ("fact Bird(tweety,)", "fact Bird(polly)\nquery Bird(tweety)", []),
        ("fact Bird(tweety,)", "fact Bird(polly)\nquery Bird(frank)", ["unknown-entity"]),
        ("# Bird", "rule Bird(X) -> Flies(X)", ["unknown-predicate"]),
    ],
)
def test_what_broken_statements_mention_is_not_missing(broken: str, rest: str, codes: list[str]) -> None:
    program, problems = parse(f"{broken}\n{rest}\n", "test.lnn")
    assert bool(problems) == (not broken.startswith("#"))
    assert [finding.code for finding in check(program, Path())[1]] == codes
