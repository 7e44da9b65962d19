"""``load P from query "..."`` and ``from database "..." table "..."``: the rows that DuckDB reads, and its limits."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import duckdb
import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_program, format_string
from tests.check.checking import findings

TRANSFERS = "day;source;target;amount\n03.04.2024;a1;a2;1200,50\n04.04.2024;a1;a2;9,99\n05.05.2024;a2;a3;15000,00\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the program; beside it another one, in which the process works, with files of the same names."""
    program, other = tmp_path / "a 'program'", tmp_path / "other"
    for each in (program, program / "parts", other):
        each.mkdir()
    (program / "t.csv").write_text(TRANSFERS, encoding="utf-8")
    (other / "t.csv").write_text("day;source;target;amount\n01.01.2020;wrong;wrong;1\n", encoding="utf-8")
    (other / "secret.csv").write_text("s\nsecret\n", encoding="utf-8")
    (program / "o'clock.jsonl").write_text('{"a": "é", "n": 1}\n{"a": "b", "n": null}\n', encoding="utf-8")
    for number in (1, 2):
        (program / "parts" / f"{number}.csv").write_text(f"a,b\nx{number},y\n", encoding="utf-8")
    monkeypatch.chdir(other)
    return program


def rows(folder: Path, query: str, arity: int, clauses: str = "") -> list[tuple[str, ...]]:
    names = ", ".join("XYZ"[:arity])
    text = f"load P from query {format_string(query)} {clauses}\nquery P({names})\n"
    kb = lnnkit.loads(text, base=folder)
    return [tuple(answer.bindings.values()) for answer in kb.answers()[0]]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("select source, target from 't.csv' where amount > '2'", [("a1", "a2")]),
        ("select distinct t.target from 't.csv' t order by 1", [("a2",), ("a3",)]),
        ('select t.source from "t.csv" as t', [("a1",), ("a2",)]),
        ("select source from t.csv", [("a1",), ("a2",)]),
        ("from 't.csv' select source, target where target = 't.csv'", []),  # no path: a text
        ("select target from read_csv('t.csv', decimal_separator = ',') where amount > 9999", [("a3",)]),
        ("select 'é', a from 'o''clock.jsonl' where n = 1", [("é", "é")]),
        ("select a, b from read_csv('parts/*.csv')", [("x1", "y"), ("x2", "y")]),
        ("select a, n from read_csv(['parts/1.csv', 'parts/2.csv']) join (values ('x2', 7)) v(a, n) using (a)",
         [("x2", "7")]),
        ("with s as (select source, sum(replace(amount, ',', '.')::decimal(9, 2)) n from 't.csv' group by all) "
         "select source from s where n > 1210", [("a1",), ("a2",)]),
        ("select source, target from (select *, row_number() over (partition by source order by day) r from 't.csv') "
         "where r = 1 and source in (select source from read_csv('t.csv') where target = 'a3')", [("a2", "a3")]),
        ("select 1 as a union all select 2", [("1",), ("2",)]),
        ("with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select n from r",
         [("1",), ("2",), ("3",)]),
        ("select '2020-01-01 10:00:00+02'::timestamptz at time zone 'Europe/Rome' = timestamp '2020-01-01 09:00:00'",
         [("true",)]),
    ],
)  # fmt: skip
def test_the_rows_of_a_query(query: str, wanted: list[tuple[str, ...]], folder: Path) -> None:
    assert rows(folder, query, len(wanted[0]) if wanted else 2) == wanted


def test_columns_conditions_and_marks_follow_a_query(folder: Path) -> None:
    query = "select * from read_csv('t.csv', all_varchar = true)"
    assert rows(folder, query, 2, '(target, source) where target is not null and amount != "9,99" missing "a3"') == [
        ("a2", "a1")
    ]
    found = findings(f'load P from query "{query}" (target, nothing)\n', folder)
    assert [(each.code, each.line) for each in found] == [("unknown-column", 1)]


def test_a_query_that_several_statements_read_runs_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lnnkit.data import load

    ran: list[str] = []
    opened = load.open_query
    monkeypatch.setattr(load, "open_query", lambda sql, *rest: ran.append(sql) or opened(sql, *rest))
    text = "load {} from query \"select source, target from 't.csv'\" {}\n"
    kb = lnnkit.loads(text.format("P", "(source)") + text.format("Q", "") + text.format("R", "(2) header"), base=folder)
    assert len(kb.ask("P(X)")) == len(kb.ask("Q(X, Y)")) == len(kb.ask("R(X)")) == 2
    assert len(ran) == 1


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select 1; select 2", "a query is one `select`"),
        ("copy (select 1) to 'w.csv'", "a query is one `select`"),
        ("with x as (copy (select 1) to 'w.csv') select * from x", "a query is one `select`"),
        ("with x as (insert into t values (1) returning *) select * from x", "a query is one `select`"),
        ("select * from query('select 1')", "a query is one `select`"),
        ("select * from Json_Execute_Serialized_Sql('{}')", "a query is one `select`"),
        ("attach 'w.duckdb'", "a query is one `select`"),
        ("install httpfs", "a query is one `select`"),
        ("set threads = 4", "a query is one `select`"),
        ("", "a query is one `select`"),
        ("select s from '../other/secret.csv'", "Cannot access file"),
        ("select s from 'parts/../../other/secret.csv'", "Cannot access file"),
        ("select s from '{other}/secret.csv'", "Cannot access file"),
        ("select s from 'link.csv'", "Cannot access file"),
        ("select content from read_text('/etc/passwd')", "Cannot access file"),
        ("select file from glob('../other/*')", "Cannot access file"),
        ("select * from 'https://example.com/x.csv'", "Cannot access file"),
        ("select * from kept", "Table with name kept does not exist"),  # a variable of this test
        ("select nope from 't.csv'", '"nope" not found'),
        ("select * from 'none.csv'", 'No files found that match the pattern "none.csv"'),
        ("selct 1", 'syntax error at or near "selct"'),
        ("select " + "(" * 3000 + "1" + ")" * 3000, "expression depth"),
    ],
)
def test_what_a_query_may_not_do(query: str, said: str, folder: Path) -> None:
    kept = [1]
    (folder / "link.csv").symlink_to(folder.parent / "other" / "secret.csv")
    query = query.format(other=folder.parent / "other") if "{other}" in query else query
    before = sorted(map(str, folder.parent.rglob("*")))
    (found,) = findings(f"load P from query {format_string(query)}\n", folder)
    assert (found.code, found.line, found.severity) == ("bad-query", 1, "error")
    assert said in found.message and str(folder) not in found.message and found.hint
    assert sorted(map(str, folder.parent.rglob("*"))) == before and kept == [1]


def test_nothing_is_written_where_the_process_works_in_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    serialized = duckdb.execute(
        "select json_serialize_sql(?::varchar)", [f"with x as (copy (select 1) to '{_quoted(folder)}/w.csv') from x"]
    ).fetchall()[0][0]
    for query in (
        "with x as (copy (select 1) to 'w.csv') select * from x",
        f"with x as (copy (select 1) to '{_quoted(folder)}/w.csv') select * from x",
        f"select * from json_execute_serialized_sql('{serialized.replace(chr(39), chr(39) * 2)}'::json)",
    ):
        assert [each.code for each in findings(f"load P from query {format_string(query)}\n", folder)] == ["bad-query"]
    assert not (folder / "w.csv").exists()


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


# --- databases --------------------------------------------------------------------------------------------------------


@pytest.fixture
def database(folder: Path) -> Path:
    path = folder / "crm.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table transfers as select * from (values ('a1', 'a2', 0.5), ('a2', 'a3', 1)) t(s, t, p)"
        )
        connection.execute('create schema sales; create view sales."odd ""name" as select t from transfers')
        connection.execute(f"create view outside as select * from '{_quoted(folder)}/../other/secret.csv'")
    return path


def test_tables_and_views_of_a_database(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = database.parent / "p.lnn"
    text = 'load P from database "crm.duckdb" table "transfers" (s, t, p) where p < 1\n'
    text += 'load Q from database "crm.duckdb"\n  table "sales.odd \\"name"\nquery P(X, Y)\nquery Q(X)\n'
    program.write_text(text, encoding="utf-8")
    before = database.read_bytes()
    kb = lnnkit.load(program)
    assert [(each.bindings, each.lower) for each in kb.answers()[0]] == [({"X": "a1", "Y": "a2"}, 0.5)]
    assert [each.bindings["X"] for each in kb.answers()[1]] == ["a2", "a3"]
    assert database.read_bytes() == before and sorted(each.name for each in database.parent.glob("crm*")) == [
        "crm.duckdb"
    ]
    assert main(["explain", str(program), "P(a1, a2)"]) == 0
    assert f'fact, {database} table "transfers":1' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ('"crm.duckdb" table "transfer"', "bad-query", 'Did you mean "transfers"?'),
        ('"crm.duckdb" table "outside"', "bad-query", "Cannot access file"),
        ('"crmm.duckdb" table "transfers"', "missing-file", 'did you mean "crm.duckdb"?'),
        ('"t.txt" table "transfers"', "unreadable-file", "cannot be opened"),
        ('"crm.duckdb" table "transfers" delimiter ";"', "bad-delimiter", "has no delimiter"),
    ],
)
def test_what_a_database_lacks(source: str, code: str, said: str, database: Path) -> None:
    (database.parent / "t.txt").write_text(TRANSFERS * 99, encoding="utf-8")
    (found,) = findings(f"load P from database {source}\n", database.parent)
    assert found.code == code and said in f"{found.message} {found.hint}"


# --- around them ------------------------------------------------------------------------------------------------------

QUERY = (
    'load P from query "select source, target from \'t.csv\' where target != \\"source\\"" '
    'where source = "a1" trust 0.5'
)


def test_it_prints_as_it_parses() -> None:
    for text in (QUERY, 'load ~P from database "a/crm.duckdb" table "s.t" (a, _) no header', f"label {QUERY[5:-10]}"):
        program, found = parse(f"{text}\n")
        assert program is not None and not found
        assert format_program(program) == f"{text}\n"


def test_facts_of_a_query_are_explained(folder: Path) -> None:
    kb = lnnkit.loads(f"{QUERY}\nlabel P from query \"select 'a1', 'a2', 1\"\n", base=folder)
    shown = str(kb.explain("P(a1, a2)"))
    assert 'fact, query "select source, target from \'t.csv\' where target != "source"":1' in shown


def test_the_message_without_duckdb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    for source in ('query "select 1"', 'database "crm.duckdb" table "t"'):
        (found,) = findings(f"load P from {source}\n", folder)
        assert (found.code, found.hint) == ("missing-extra", "install it with `pip install 'lnnkit[sql]'`")


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("select source from 't.csv'", 'a query is written with the word: `from query "select ..."`'),
        ("with x as (from 'parts/1.csv') from x", "`from query"),
        ("crm.duckdb", 'write `database "crm.duckdb" table "NAME"`'),
    ],
)
def test_a_query_or_a_database_in_place_of_a_path(path: str, hint: str, database: Path) -> None:
    (found,) = findings(f"load P from {format_string(path)}\n", database.parent)
    assert hint in found.hint


def test_a_program_with_queries_stays_in_its_folder(folder: Path) -> None:
    program = folder / "p.lnn"
    program.write_text(f"{QUERY}\n", encoding="utf-8")
    kb = lnnkit.load(program)
    assert folder / "t.csv" in kb.files
    kb.save(folder / "copy.lnn")
    assert len(lnnkit.load(folder / "copy.lnn").ask("P(X, Y)")) == 1
    with pytest.raises(lnnkit.Error, match="moved-query") as raised:
        kb.save(folder.parent / "copy.lnn")
    assert os.path.join(folder, "copy.lnn") in raised.value.diagnostics[0].hint
    assert not (folder.parent / "copy.lnn").exists()


def test_a_program_with_a_database_moves(database: Path) -> None:
    kb = lnnkit.loads('load P from database "crm.duckdb" table "transfers" (s, t)\n', base=database.parent)
    kb.save(database.parent.parent / "copy.lnn")
    assert len(lnnkit.load(database.parent.parent / "copy.lnn").ask("P(X, Y)")) == 2


def test_an_imported_query_reads_in_its_own_folder(folder: Path) -> None:
    (folder / "parts" / "p.lnn").write_text("load Q from query \"select a from '1.csv'\"\n", encoding="utf-8")
    assert len(lnnkit.loads(f'{QUERY}\nimport "parts/p.lnn"\n', base=folder).ask("Q(X)")) == 1


def test_a_relation_is_told() -> None:
    kb = lnnkit.loads("number total(account)\npredicate P(account)")
    with duckdb.connect() as connection:
        connection.execute(
            "create table t as select * from (values ('a1', 40), ('a2', 10), ('a1', 25)) t(account, amount)"
        )
        kb.tell("total", connection.sql("select account, sum(amount) from t group by account"))
        kb.tell("P", connection.table("t").project("account"))
    assert {each.bindings["X"]: each.lower for each in kb.ask("total(X)")} == {"a1": 65, "a2": 10}
    assert len(kb.ask("P(X)")) == 2
