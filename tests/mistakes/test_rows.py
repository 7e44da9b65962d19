"""Each row of the table of mistakes is met by a text of the tests, so none stands behind another that hides it."""

from __future__ import annotations

import pytest

from lnnkit.syntax import diagnosis
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.mistakes import LINES, MISTAKES, Recogniser, Row
from lnnkit.syntax.parse import parse
from tests.mistakes.eighty import MISTAKES as FIRST_HOUR
from tests.syntax.test_mistakes import MISTAKES as MALFORMED

HELD = [
    *(mistake.wrong for mistake in FIRST_HOUR),
    *(text for _, text, _ in MALFORMED),
    'fact start(ann) = date("2024-01-05")',
    "axiom some X: P(X)",
    "rule today - due(X) > ?30 days -> Late(X)",
    'load P from "t.csv" (id) where age > 2 * 9',
    "fact age(anna) <= 5",
    "rule P(X) & tan(a(X) + 1, 2) > 3 -> Q(X)",
    "lnnkit one",
    "query avg Y: size(Y) where Has(X, Y)",
    "rule count Y: Has(a, Y) > 3 -> R(a)",
    "rule Has(X, X) & count Y: Has(X, Y) > 1 -> R(X)",
]


def test_each_row_is_met(monkeypatch: pytest.MonkeyPatch) -> None:
    met: set[int] = set()
    recognised = diagnosis.recognised

    def noted(row: Row | Recogniser, fault: Fault) -> Diagnostic | None:
        diagnostic = recognised(row, fault)
        if diagnostic is not None:
            met.add(id(row))
        return diagnostic

    monkeypatch.setattr(diagnosis, "recognised", noted)
    for text in HELD:
        parse(text.replace("⟦", "").replace("⟧", ""))
    assert [row for row in (*MISTAKES, *LINES) if id(row) not in met] == []


@pytest.mark.parametrize("text", ["a ", "P(X) & ", "1, ", "x.", '"a ', "not ", "(", "in (a, ", "> 3 & ", "exists x, "])
@pytest.mark.parametrize("start", ["rule ", "fact ", "query ", 'load P from "f" where ', "predicate ", ""])
def test_a_long_statement_has_one_finding(start: str, text: str) -> None:
    (found,) = parse(f"{start}P(X) {text * 500} § {text * 500}")[1]
    assert found.code and found.message and found.hint and found.span is not None
