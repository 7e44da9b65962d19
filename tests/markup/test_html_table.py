"""Tables in notebooks: what they show, where they are cut, and that names stay text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import lnnkit
from lnnkit.markup.pages import ROWS, Listing, Table, tables

TRACING = Path(__file__).parents[2] / "kb_examples" / "contact_tracing" / "contact_tracing.lnn"


class Reader(HTMLParser):
    """The cells of each table, row by row; ``said`` is all text outside of styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.tags: set[str] = set()
        self.said = ""
        self._style = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._style = tag == "style"
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._style = self._style and tag != "style"

    def handle_data(self, data: str) -> None:
        if not self._style:
            self.said += data
            if self.lasttag in ("td", "th"):
                self.tables[-1][-1][-1] += data.strip("\n")


@pytest.mark.parametrize("count", [0, 1, ROWS, ROWS + 1, 1234])
def test_a_table_is_cut_with_a_count(count: int) -> None:
    read = Reader(tables(Table("things", ["name", "n"], ((f"e{n}", n) for n in range(count)), count, "things")))
    (rows,) = read.tables
    assert rows[0] == ["name", "n"]
    shown = rows[1 : 1 + min(count, ROWS)]
    assert shown == [[f"e{n}", f"{n:,}"] for n in range(min(count, ROWS))]
    foot = rows[1 + len(shown) :]
    assert foot == ([[f"the first {ROWS} of {count:,} things"]] if count > ROWS else [])


def test_cells_are_text() -> None:
    name = '<img src=x onerror="alert(1)"> & \x1b[2J ‮'
    read = Reader(tables(Table(name, [name], [[name]], 1, notes=[name]), text=name))
    assert "img" not in read.tags
    assert read.said.count('<img src=x onerror="alert(1)"> & \\x1b[2J \\u202e') == 5


def test_answers_are_a_table() -> None:
    answers = lnnkit.load(TRACING).ask("Infected(X)")
    (rows,) = Reader(answers._repr_html_()).tables
    assert rows[0] == ["X", "bounds", "state"]
    assert [row[0] for row in rows[1:]] == [answer.bindings["X"] for answer in answers]
    assert all(row[2] == answer.state.replace("_", " ") for row, answer in zip(rows[1:], answers, strict=True))


def test_no_answers_are_a_table_of_none() -> None:
    read = Reader(lnnkit.loads("predicate A(e)\n").ask("A(X)")._repr_html_())
    assert read.tables == [[["X", "bounds", "state"]]] and "A(X): 0 answers" in read.said


def test_a_plan_is_two_tables() -> None:
    plan = lnnkit.load(TRACING).plan()
    found = plan.as_dict()
    joins, sides = Reader(plan._repr_html_()).tables
    assert joins[0] == ["statement", "instances", "for", "join", "times", "reads", "rows", "left"]
    steps = [
        (step["reads"], f"{step['rows']:,}", "not reached" if step["out"] is None else f"{step['out']:,}")
        for statement in found["statements"]  # pyright: ignore[reportGeneralTypeIssues]
        for join in statement["joins"]
        if join["times"]
        for step in join["steps"]
    ]
    assert [tuple(row[5:]) for row in joins[1:] if row[6]] == steps
    named = [row[0] for row in joins[1:] if row[0]]
    assert [name.partition("\n")[2] for name in named] == [each.text for each in plan.statements]
    assert [row[0] for row in sides[1:]] == [table.name for table in plan.tables]


def test_contradictions_are_a_table() -> None:
    read = Reader(lnnkit.loads("fact A(xy)\nfact ~A(xy)\nquery A(xy)\n").infer()._repr_html_())
    assert read.tables == [[["of", "bounds", "by"], ["A(xy)", "[1, 0]", ""]]]
    assert "converged after" in read.said


def test_contradictions_alone_are_a_table_and_lines() -> None:
    text = "".join(f"fact A(x{n})\nfact ~A(x{n})\n" for n in range(60))
    found = lnnkit.loads(text + "query A(X)\n").contradictions
    (rows,) = Reader(found._repr_html_()).tables
    assert rows[0] == ["of", "bounds", "by"] and len(rows) == 1 + ROWS + 1
    assert repr(found).splitlines() == [
        "60 contradictions:",
        *(f"  A(x{n}) [1, 0]" for n in (0, 1, 10, 11, 12, 13, 14, 15, 16, 17)),
        "  … and 50 more",
    ]
    none = lnnkit.loads("fact A\n").contradictions
    assert repr(none) == "0 contradictions" and Reader(none._repr_html_()).tables == [[["of", "bounds", "by"]]]


def test_conflicts_and_repairs_are_tables() -> None:
    found = lnnkit.loads("fact A(xy)\nfact ~A(xy)\nquery A(X)\n", path="p.lnn").conflicts()
    assert Reader(found._repr_html_()).tables == [
        [["contradiction", "facts and rules"], ["A(xy) [1, 0]", "fact A(xy)   p.lnn:1\nfact ~A(xy)   p.lnn:2"]]
    ]
    assert Reader(found[0]._repr_html_()).tables == [
        [["fact or rule", "at"], ["fact A(xy)", "p.lnn:1"], ["fact ~A(xy)", "p.lnn:2"]]
    ]
    repairs = found[0].repairs()
    (rows,) = Reader(repairs._repr_html_()).tables
    assert rows[0] == ["repair", "cost", "trust", "fact or rule", "at"]
    assert rows[1:] == [
        ["leave it out", "1", "1", text, f"p.lnn:{n}"] for n, text in ((1, "fact A(xy)"), (2, "fact ~A(xy)"))
    ]
    assert repr(repairs).splitlines() == [str(repair) for repair in repairs]
    assert repr(Listing[int]([], [], lambda each: [each])) == "[]"


def test_scores_are_tables() -> None:
    text = "number n(e)\nfact n(a) = 3\nlabel n(a) = 1\nfact A(a)\nfact ~A(b)\nlabel A(a)\nlabel A(b)\n"
    scores = lnnkit.loads(text).evaluate()
    truths, numbers = Reader(scores._repr_html_()).tables
    assert truths[0][:3] == ["predicate", "n", "accuracy"] and truths[1][:4] == ["A", "2", "0.5000", "–"]
    assert numbers == [["number", "n", "rmse", "mae", "r2", "coverage"], ["n", "1", "2.0000", "2.0000", "–", "1.0000"]]
    assert repr(scores).splitlines()[-1].split() == ["n", "1", "2.0000", "2.0000", "-", "1.0000"]


def test_wide_tables_fold_on_telephones_with_the_head_beside_each_cell() -> None:
    page = tables(Table("", ["a", "b", "c", "d", "<e>"], [["1", "2", 3, None, 0.25]], 1))
    assert '<table class="wide">' in page
    assert '<td class="number" data-head="c">3</td><td class="number" data-head="d">–</td>' in page
    assert '<td class="number" data-head="&lt;e&gt;">0.2500</td>' in page
    assert "data-head=" not in tables(Table("", ["a", "b"], [["1", "2"]], 1))


def test_colours_follow_the_notebooks_theme() -> None:
    page = tables()
    assert '[data-jp-theme-light="false"] .lnn { color-scheme: dark; }' in page
    assert "--lnn-paper: var(--jp-layout-color0, light-dark(#ffffff, #161a22));" in page
    assert "--lnn-true: light-dark(#c9e0f6, #123c63);" in page


def test_an_empty_program_shows_itself() -> None:
    kb = lnnkit.loads("")
    (rows,) = Reader(kb._repr_html_()).tables
    assert [row[0] for row in rows] == ["predicates", "facts", "rules", "axioms", "queries"]
    assert Reader(kb.infer()._repr_html_()).tables == Reader(kb.plan()._repr_html_()).tables == []
