"""What a fifth trial as a new user tripped over: a roster, lenses and cameras, tax bands, and claims of plagiarism."""

from __future__ import annotations

import re
from pathlib import Path

import pandas
import pytest

import lnnkit
from tests.mistakes.trying import answers, findings

CLOSED = (
    "predicate Works(nurse, day) closed\npredicate Covered(day) closed\nfact Works(ann, mon)\nfact Works(bob, tue)\n"
)
COVERED = CLOSED + "fact Covered(mon)\n"


def written(hint: str) -> str:
    """The last thing in backquotes."""
    return re.findall(r"`([^`]*)`", hint)[-1]


def test_what_a_closed_predicate_does_not_list(tmp_path: Path) -> None:
    """Asked alone, it answers with what *is* listed; the hint lists the days that are not covered."""
    text = "predicate Next(day, day)\n" + COVERED + "query not Covered(D)\n"
    (found,) = findings(text, tmp_path)
    assert (found.severity, found.code, found.line, found.column) == ("warning", "true-by-default", 7, 7)
    text = text.replace("not Covered(D)", written(found.hint))
    assert findings(text, tmp_path) == []
    assert answers(text, tmp_path) == [[(("tue",), 1.0, 1.0)]]
    text = text.replace("Works(nurse, day) closed", "Works(nurse, weekday)\npredicate Day(day)\nfact Day(tue)")
    (found,) = findings(text.partition("query")[0] + "query ~Covered(D)\n", tmp_path)
    assert written(found.hint) == "Day(D) & ~Covered(D)"


@pytest.mark.parametrize(
    "query", ["~Covered(mon)", "Covered(D)", "Works(N, D) & ~Covered(D)", "exists D: ~Covered(D)", "~Works(ann, wed)"]
)
def test_what_is_asked_otherwise_is_not_doubted(query: str, tmp_path: Path) -> None:
    found = findings(COVERED + f"query {query}\n", tmp_path)
    assert [each.code for each in found if each.code != "unknown-entity"] == []


def test_two_variables_without_a_list_of_one(tmp_path: Path) -> None:
    (found,) = findings(COVERED + "query ~Works(N, D)\n", tmp_path)
    assert found.hint == "join what lists each `N`, `D`"


@pytest.mark.parametrize(
    ("wrong", "right", "bounds"),
    [
        ("Ill(X) = yes", "Ill(X)", (1.0, 1.0)),
        ("Ill(X) = no", "~Ill(X)", (0.0, 0.0)),
        ("Ill(X) != no", "Ill(X)", (1.0, 1.0)),
        ('Ill(X) = "True"', "Ill(X)", (1.0, 1.0)),
    ],
)
def test_a_truth_in_words(wrong: str, right: str, bounds: tuple[float, float], tmp_path: Path) -> None:
    found = findings(f"fact Ill(ann)\nquery {wrong}\n", tmp_path)
    told = next(each for each in found if each.code == "truth-as-number")
    assert written(told.hint) == right
    assert answers(f"fact Ill(ann)\nquery {right}\n", tmp_path) == [[(("ann",), *bounds)]]


def test_the_truth_of_a_rule_about_a_predicate_that_others_supply(tmp_path: Path) -> None:
    text = "fact Lens(a)\nrule Lens(X) -> Fits(X)\nrule Fits(X) -> Sold(X)\nrule Lens(X) -> Fits(X) = 0.9\n"
    (found,) = findings(text, tmp_path)
    assert (found.code, found.line) == ("truth-of-rule", 4)
    assert found.hint.startswith("write `in [0.9, 1]`")
    assert findings(text.replace("= 0.9", "in [0.9, 1]"), tmp_path) == []


def test_the_value_of_a_number_without_arguments(tmp_path: Path) -> None:
    (found,) = findings("number allowance = 12000\n", tmp_path)
    assert found.message.startswith("unexpected `=` after `allowance`")
    assert "`number age(person)`, and its values as `fact age(anna) = 34`" in found.hint


@pytest.mark.parametrize(
    ("header", "columns"), [("paper,share of words\n", '(paper, "share of words")'), ("", "(1, 2) no header")]
)
def test_an_empty_truth(header: str, columns: str, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text(header + "a,\nb,0.5\n")
    load = f'predicate Copied(entity) closed\nload Copied from "c.csv" {columns}'
    (found,) = findings(f"{load}\n", tmp_path)
    assert found.code == "bad-truth"
    kept = next(each for each in re.findall(r"`([^`]*)`", found.hint) if each.startswith("where"))
    text = f"{load} {kept}\nquery Copied(X)\n"
    assert answers(text, tmp_path) == [[(("b",), 0.5, 0.5)]]


ITEMS = 'number price(item)\nload price from "items.csv"\nquery price(X)\n'


def test_a_third_column_is_no_upper_end(tmp_path: Path) -> None:
    """The stock was the upper end of the price, without a word."""
    (tmp_path / "items.csv").write_text("item,price,stock left\na,5,10\nb,12,30\n")
    (found,) = findings(ITEMS, tmp_path)
    assert (found.severity, found.code) == ("warning", "unlisted-ends")
    assert found.span is not None and found.span.line == 2
    one = ITEMS.replace('csv"', f'csv" {written(found.hint)}')
    assert findings(one, tmp_path) == []
    assert answers(one, tmp_path) == [[(("a",), 5.0, 5.0), (("b",), 12.0, 12.0)]]
    both = ITEMS.replace('csv"', 'csv" (item, price, "stock left")')
    assert findings(both, tmp_path) == []
    assert answers(both, tmp_path) == [[(("a",), 5.0, 10.0), (("b",), 12.0, 30.0)]]


@pytest.mark.parametrize("ends", ["lower,upper", "Price_Min,Price_Max", "l,u", "p3l,p3u", "price from,price to"])
def test_ends_that_are_named_so(ends: str, tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text(f"item,{ends}\na,5,10\n")
    assert findings(ITEMS, tmp_path) == []


def test_a_frame_with_a_column_too_many(tmp_path: Path) -> None:
    kb = lnnkit.loads("number price(item)\n")
    frame = pandas.DataFrame({"item": ["a"], "price": [5.0], "stock": [10.0]})
    kb.tell("price", frame)
    (found,) = kb.warnings
    assert found.code == "unlisted-ends" and written(found.hint) == '[["item", "price"]]'
    again = lnnkit.loads("number price(item)\n")
    again.tell("price", frame[["item", "price"]])
    assert again.warnings == ()
    (answer,) = again.ask("price(X)")
    assert (answer.lower, answer.upper) == (5.0, 5.0)


def test_thousands_in_a_condition(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("id,spend\na,1200\nb,900\n")
    text = 'predicate Vip(customer)\nload Vip from "c.csv" (id) where spend >= 1,000 and id != "z"\nquery Vip(X)\n'
    (found,) = findings(text, tmp_path)
    assert found.code == "thousands-separator"
    assert answers(text.replace("1,000", written(found.hint)), tmp_path) == [[(("a",), 1.0, 1.0)]]
    (found,) = findings(text.replace("1,000 and", "1000, id = 7,"), tmp_path)
    assert found.code == "bad-condition"
