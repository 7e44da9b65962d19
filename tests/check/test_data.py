"""Programs with tables: what files supply, and what is left unsaid while they stay closed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.check import check
from lnnkit.syntax.parse import parse
from tests.check.checking import checked, findings, shown


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "contacts.csv").write_text("a,b\nanna,bob\nbob,New York\nx,y\n", encoding="utf-8")
    (tmp_path / "triples.tsv").write_text("s\tp\to\nanna\tknows\tbob\n", encoding="utf-8")
    return tmp_path


def test_tables_supply_predicates_and_entities(folder: Path) -> None:
    text = 'load Contact from "contacts.csv"\nrule Contact(anna, X) -> Near(X)\nrule Contact(x, X) -> Near(X)\n'
    program = checked(text, folder)
    assert findings(text, folder) == []
    assert program.tables[0].predicate == "Contact"
    assert program.predicates["Contact"].arity == 2


def test_entities_of_tables_are_nets_for_variables(folder: Path) -> None:
    text = 'load Contact from "contacts.csv"\nrule Contact(Bob, X) & Contact(carl, X) & Contact(z, X) -> Near(X)\n'
    found = findings(text, folder)
    assert shown(found) == [
        ("variable-like-entity", "test.lnn", 2, 14),
        ("unknown-entity", "test.lnn", 2, 32),
        ("lower-case-variable", "test.lnn", 2, 51),
    ]
    assert [finding.severity for finding in found] == ["error", "warning", "error"]


def test_arity_of_a_predicate_that_only_a_load_names(folder: Path) -> None:
    text = 'load Knows from "triples.tsv" (s, o) where p = "knows"\nload Contact from "contacts.csv"\n'
    program = checked(text, folder)
    assert {name: each.arity for name, each in program.predicates.items()} == {"Knows": 2, "Contact": 2}


def test_arity_comes_from_the_other_uses(folder: Path) -> None:
    text = 'load Knows from "triples.tsv" (s, o, p)\nquery Knows(X, Y)\n'
    found = findings(text, folder)
    assert found and all(finding.path == str(folder / "triples.tsv") for finding in found)  # `knows` is no truth value


def test_data_errors_are_reported_with_the_rest(folder: Path) -> None:
    text = 'load Contact from "contact.csv"\nquery Contact(X, Y)\nquery Contacts(X, Y)\n'
    found = findings(text, folder)
    assert [finding.code for finding in found] == ["missing-file", "unknown-predicate"]


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ('load Contact from "contacts.csv" where a ~ "x"', "syntax"),
        ('load Contact from "contacts.csv" (a, c)', "unknown-column"),
        ('label Contact from "contacts.csv" where a ~ "x"', "syntax"),
        ('load Contact from "ragged.csv"', "bad-row"),
    ],
)
def test_nothing_is_said_of_entities_that_a_failed_table_may_hold(folder: Path, table: str, code: str) -> None:
    (folder / "ragged.csv").write_text("a,b\nanna\n", encoding="utf-8")
    text = f"fact Contact(zoe, zoe)\nrule Contact(X, anna) & Contact(z, X) -> Near(X)\n{table}\n"
    program, found = parse(text, "test.lnn")
    found += check(program, folder)[1]
    severe = [finding.code for finding in found if finding.severity == "error"]
    assert severe == [code]
    assert "unknown-entity" not in [finding.code for finding in found]


def test_labels_supply_nothing(folder: Path) -> None:
    assert [finding.code for finding in findings('label Ill from "contacts.csv"\n', folder)] == ["unknown-predicate"]


def test_without_reading_no_file_is_missed(folder: Path) -> None:
    text = 'load Contact from "gone.csv"\nrule Contact(carl, X) & Contact(z, X) -> Near(X)\n'
    found = findings(text, folder, read_data=False)
    assert [(finding.code, finding.severity) for finding in found] == [("lower-case-variable", "warning")]
