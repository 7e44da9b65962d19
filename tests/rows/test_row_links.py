"""Which programs are about rows: decided on the graph, with the statement and the two places that link rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import lnnkit
from lnnkit.syntax.diagnostic import Diagnostic

HEAD = """sort loan
predicate Risky(loan)
predicate Near(loan, loan)
predicate LivesIn(loan, region)
predicate Bad(region)
predicate Grant(loan)
number income(loan)
load Risky from "loans.parquet" (id, risk)
load income from "loans.parquet" (id, income)
load LivesIn from "loans.parquet" (id, region)
load Near from "near.parquet"
fact Bad(rome) in [0.5, 1]
"""


def links(text: str, tmp_path: Path) -> list[Diagnostic]:
    return lnnkit.loads(HEAD + text, tmp_path, streamed="loan").row_links("loan")


@pytest.mark.parametrize(
    "text",
    [
        "rule Risky(X) -> ~Grant(X)\nquery Grant(X)\n",
        "rule Risky(X) & income(X) < 5 -> ~Grant(X)\nquery ~Grant(X)\n",
        # what links rows is not needed by the query
        "rule Risky(X) -> ~Grant(X)\nrule Grant(X) & Near(X, Y) -> Odd(Y)\nquery Risky(X)\n",
        # a reference table that no row can move
        "rule LivesIn(X, R) & Bad(R) -> Grant(X)\nquery Grant(X)\n",
        "rule Bad(R) & Next(R, T) -> Bad(T)\nfact Next(rome, oslo)\nrule LivesIn(X, R) & Bad(R) -> Grant(X)\n"
        "query Grant(X)\n",
        "predicate Worse(region)\nrule (forall R: Bad(R) -> Worse(R)) & Risky(X) -> Odd(X)\n"
        "rule Risky(X) -> Grant(X)\nquery Grant(X)\n",
        # an entity of the sort is named alone
        "fact Risky(l7)\nrule Risky(X) -> Grant(X)\nquery Grant(X)\n",
        "rule income(l7) > 5 -> Grant(l7)\nrule Risky(X) -> Grant(X)\nquery Grant(X)\n",
        "rule X = l7 -> Grant(X)\nquery Grant(X)\n",
        # what ranges over things is not about what the query needs, or there is a thing in any case
        'predicate Has(loan, thing)\npredicate Odd(thing)\nload Has from "loans.parquet" (id, thing)\n'
        "rule (forall T: Odd(T)) -> Panic\nrule Risky(X) -> Grant(X)\nquery Grant(X)\n",
        'predicate Has(loan, thing)\npredicate Odd(thing)\nload Has from "loans.parquet" (id, thing)\n'
        "predicate Nice(thing)\nfact Nice(ring)\nrule (forall T: Odd(T)) -> Grant(X)\nquery Grant(X)\n",
        # formulas that two statements share
        "rule Risky(X) & income(X) > 5 -> Grant(X)\nrule Risky(X) & income(X) > 5 -> Odd(X)\n"
        "query Grant(X)\nquery Odd(X)\n",
    ],
)
def test_rows_that_are_decided_alone(text: str, tmp_path: Path) -> None:
    assert links(text, tmp_path) == []


@pytest.mark.parametrize(
    ("text", "line", "met"),
    [
        ("rule Risky(X) & Near(X, Y) -> Risky(Y)\nquery Risky(X)\n", 1, ["`X` in `Risky(X)`", "`Y` in `Near(X, Y)`"]),
        ("rule hot: Risky(X) & Near(X, Y) -> Grant(Y)\nquery Grant(X)\n", 1, ["the rule `hot`", "`Y`"]),
        ("rule income(X) > income(Y) -> Grant(X)\nquery Grant(X)\n", 1, ["`X` in `income(X)`", "`Y` in `income(Y)`"]),
        ("rule Risky(l7) & Risky(X) -> Grant(X)\nquery Grant(X)\n", 1, ["`l7`", "`X`"]),
        ("rule (exists Y: Risky(Y)) & Risky(X) -> Grant(X)\nquery Grant(X)\n", 1, ["exists Y", "ranges over all"]),
        ("query exists X: Risky(X)\n", 1, ["this query", "ranges over all"]),
        (
            "rule Risky(X) -> Panic\nrule Panic & Risky(X) -> Grant(X)\nquery Grant(X)\n",
            1,
            ["one loan may change", "`X` in `Risky(X)`"],
        ),
        (
            "rule Risky(X) & LivesIn(X, R) -> Bad(R)\nrule LivesIn(X, R) & Bad(R) -> Grant(X)\nquery Grant(X)\n",
            1,
            ["`Bad(R)`", "the loan is `X` in `Risky(X)` (line 13, column 12)"],
        ),
        (
            "rule (forall R: Bad(R)) & Risky(X) -> Grant(X)\nquery Grant(X)\n",
            1,
            ["forall R", "each region that any loan"],
        ),
        # what links rows stands in a comparison, or in a formula that two statements share
        (
            "rule income(X) > income(l7) -> Grant(X)\nquery Grant(X)\n",
            1,
            ["`X` in `income(X)`", "`l7` in `income(l7)`"],
        ),
        ("rule income(l7) > 5 & Risky(X) -> Grant(X)\nquery Grant(X)\n", 1, ["`X`", "`l7` in `income(l7)`"]),
        ("rule income(l7) > 5 -> Panic\nrule Panic & Risky(X) -> Grant(X)\nquery Grant(X)\n", 1, ["Panic"]),
        (
            "rule income(l7) > 5 -> Bad(oslo)\nrule LivesIn(X, R) & Bad(R) -> Grant(X)\nquery Grant(X)\n",
            1,
            ["one loan"],
        ),
        ("rule income(l6) > income(l7) -> Grant(l6)\nquery Grant(X)\n", 1, ["`l6`", "`l7` in `income(l7)`"]),
        (
            "rule Risky(X) & Risky(l7) -> Grant(X)\nrule Risky(X) & Risky(l7) -> Odd(X)\n"
            "query Grant(X)\nquery Odd(X)\n",
            1,
            ["`X` in `Risky(X)`", "`l7` in `Risky(l7)`"],
        ),
        (
            "rule a: (exists Y: Risky(Y)) & income(X) > 5 -> Grant(X)\nrule (exists Y: Risky(Y)) & Risky(X) -> Odd(X)\n"
            "query Grant(X)\nquery Odd(X)\n",
            1,
            ["exists Y", "ranges over all"],
        ),
        (
            "predicate Ok(loan) closed\nrule income(X) > income(l7) -> Ok(X)\nquery Ok(X)\n",
            2,
            ["`X` in `income(X)`", "`l7` in `income(l7)`"],
        ),
        # facts about any entity may be about rows, and are not in the stream
        (
            "predicate Known(entity)\nfact Known(l7)\nrule Known(X) & Risky(X) -> Grant(X)\nquery Grant(X)\n",
            3,
            ["`Known(X)` in this rule is about any entity"],
        ),
        ("predicate Known(entity)\nfact Known(l7)\nquery Risky(X) & Known(X)\n", 3, ["in this query is about any"]),
        # a sort of which there is an entity only if a row names one
        (
            'predicate Has(loan, thing)\npredicate Odd(thing)\nload Has from "loans.parquet" (id, thing)\n'
            "rule all: (forall T: Odd(T)) -> Grant(X)\nquery Grant(X)\n",
            4,
            ["the rule `all`", "`forall T` ranges over each thing that any loan names"],
        ),
        (
            'predicate Has(loan, thing) closed\npredicate Odd(thing)\nload Has from "loans.parquet" (id, thing)\n'
            "rule ~(exists T: Odd(T)) -> Panic\nrule Panic & Risky(X) -> Grant(X)\nquery Grant(X)\n",
            4,
            ["exists T"],
        ),
        ("rule Risky(X) -> Grant(X)\nquery LivesIn(X, R)\n", 2, ["an answer for each `R`"]),
        ("rule Risky(X) -> Grant(X)\nquery Bad(R)\n", 2, ["nothing about each loan"]),
    ],
)
def test_what_links_rows_is_named_with_its_places(text: str, line: int, met: list[str], tmp_path: Path) -> None:
    found = links(text, tmp_path)
    assert found
    assert found[0].code in ("linked-rows", "query-without-rows")
    assert found[0].line == HEAD.count("\n") + line
    for part in met:
        assert part in found[0].message


def test_a_scorer_is_refused_for_linked_rows(tmp_path: Path) -> None:
    kb = lnnkit.loads(HEAD + "rule Risky(X) & Near(X, Y) -> Risky(Y)\nquery Risky(X)\n", tmp_path, streamed="loan")
    with pytest.raises(lnnkit.ProgramError) as problem:
        kb.scorer("loan")
    assert [each.code for each in problem.value.diagnostics] == ["linked-rows"]


def test_a_guarded_quantifier_needs_no_other_row(tmp_path: Path) -> None:
    text = HEAD.replace("LivesIn(loan, region)", "LivesIn(loan, region) closed", 1)
    text += "rule (exists R: LivesIn(X, R) & Bad(R)) -> Grant(X)\nquery Grant(X)\n"
    assert lnnkit.loads(text, tmp_path, streamed="loan").row_links("loan") == []


def test_a_sort_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(lnnkit.ProgramError, match="did you mean `loan`"):
        lnnkit.loads(HEAD, tmp_path, streamed="lone")
