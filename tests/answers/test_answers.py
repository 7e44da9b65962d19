"""Answers as columns of ids, and as text, against the plain way: one answer after another."""

from __future__ import annotations

import csv
import io
import json
import random

import numpy as np
import pytest

import lnnkit
from lnnkit.answer_table import STATES, Answers, finite, format_range, shown_bounds, shown_state, truth_state
from lnnkit.cli import answer_report as report
from lnnkit.cli.answer_report import Shown
from lnnkit.data.arrow import strings
from lnnkit.data.names import Names
from lnnkit.data.table import EntityColumn
from lnnkit.outcome import Contradiction, Outcome
from tests.blocks import at_length

TEXTS = sorted(["anna", 'say "hi"', "a,b", "100%", "%s", "é\u0301", "日本", "line\nbreak", "\x1b[31m", "x y", "\\"])
DONE = Outcome("converged", 1)


def some(seed: int, variables: int = 2, many: int = 60, in_arrow: bool = False, numeric: bool = False) -> Answers:
    rng = random.Random(seed)
    ends = [0.0, 1.0, 0.5, 1e-10, 1 - 1e-10, 0.25, 1 / 3, 0.9999999, float("inf"), float("-inf"), -0.0]
    names = Names(strings(TEXTS) if in_arrow else tuple(TEXTS))
    size = many if variables else 1
    ids = [np.array([rng.randrange(len(TEXTS)) for _ in range(size)], np.int32) for _ in range(variables)]
    bounds = np.array([[rng.choice(ends) for _ in range(size)] for _ in range(2)])
    contested = np.array([rng.random() < 0.3 for _ in range(size)])
    return Answers(
        'P(X, "100%, a") & "Q"(Y)',
        ("X", "Größe%")[:variables],
        tuple(EntityColumn(column, names) for column in ids),
        bounds[0],
        bounds[1],
        contested,
        rng.choice([1.0, 0.8]),
        numeric=numeric,
    )


@pytest.mark.parametrize("seed", at_length([*range(20)], plain=5))
def test_states_of_many(seed: int) -> None:
    answers = some(seed)
    each = [
        truth_state(low, high, answers.alpha)
        for low, high in zip(answers.lower.tolist(), answers.upper.tolist(), strict=True)
    ]
    assert [STATES[place] for place in answers.states] == each == [answer.state for answer in answers]
    assert answers.counts() == {state: each.count(state) for state in STATES if state in each}


@pytest.mark.parametrize("in_arrow", [False, True])
def test_columns_are_sequences_of_names(in_arrow: bool) -> None:
    answers = some(1, in_arrow=in_arrow)
    column = answers.columns[0]
    plain = [TEXTS[code] for code in column.codes.tolist()]
    assert list(column) == plain
    assert column == plain
    assert plain == column
    assert column != plain[1:]
    assert column[3:9] == plain[3:9]
    assert column[3:9] == column[3:9]
    assert (column[0], column[-1], column.index(plain[5])) == (plain[0], plain[-1], plain.index(plain[5]))
    names, codes = column.distinct()
    assert names == sorted(set(plain))
    assert [names[code] for code in codes] == plain
    assert [answer.bindings["X"] for answer in answers] == plain
    assert [answers[row].bindings for row in range(len(answers))] == [answer.bindings for answer in answers]
    assert list(zip(*answers.columns, strict=True)) == [tuple(answer.bindings.values()) for answer in answers]
    assert repr(column[:2]) == repr(plain[:2])


def test_numbers_have_no_truth() -> None:
    answers = some(4, numeric=True)
    states = ["contradiction" if answer.lower > answer.upper + 1e-9 else "number" for answer in answers]
    assert {*states} == {"contradiction", "number"}
    assert [answer.state for answer in answers] == states
    assert answers.counts() == {state: states.count(state) for state in ("contradiction", "number")}
    assert [STATES[place] for place in answers.states] == states
    assert answers[3:5].numeric and answers[3].numeric
    assert answers.to_arrow().column("state").to_pylist() == states


@pytest.mark.parametrize(
    ("lower", "upper", "shown"),
    [
        (34.0, 34.0, "34"),
        (30.0, 40.5, "[30, 40.5]"),
        (18.0, float("inf"), "[18, inf]"),
        (float("-inf"), 0.0, "[-inf, 0]"),
        (2.0**53 - 1, 2.0**53, "[9007199254740991, 9007199254740992]"),
        (1 / 3, 1e30, "[0.3333333333, 1e+30]"),
        (-0.0, 1234567.25, "[0, 1234567.25]"),
        (5.0, 3.0, "[5, 3]"),
    ],
)
def test_ranges_as_text(lower: float, upper: float, shown: str) -> None:
    assert format_range(lower, upper) == shown


def test_a_number_that_contradicts_itself_in_words() -> None:
    assert str(Contradiction("atom", "age(anna)", None, None, 40.0, 18.5, numeric=True)) == (
        "age(anna) at least 40, at most 18.5"
    )
    assert str(Contradiction("atom", "Old(anna)", None, None, 1.0, 0.5)) == "Old(anna) [1, 0.5]"


def test_names_are_materialised_on_access() -> None:
    names = Names(strings([f"n{place:05}" for place in range(5000)]))
    column = EntityColumn(np.arange(5000, dtype=np.int32), names)
    assert len(column) == 5000
    assert column[4999] == "n04999"
    assert column.to_arrow().dictionary.equals(names.arrow)
    assert list(column[:3]) == ["n00000", "n00001", "n00002"]
    assert "python" not in vars(names)
    assert list(column)[-1] == "n04999"
    assert names == Names(tuple(column))
    assert names == tuple(column)
    assert names != ("a",)
    assert repr(Names(("a", "b"))) == "Names(2: 'a', 'b')"


def test_as_arrow_and_pandas() -> None:
    pd = pytest.importorskip("pandas")
    answers = some(2)
    table = answers.to_arrow()
    assert [str(field.type) for field in table.schema] == [
        *["dictionary<values=string, indices=int32, ordered=0>"] * 2,
        *["double"] * 2,
        "dictionary<values=string, indices=int32, ordered=0>",
        "bool",
    ]
    expected = [
        {**a.bindings, "lower": a.lower, "upper": a.upper, "state": a.state, "contested": a.contested} for a in answers
    ]
    assert table.to_pylist() == expected
    frame = answers.to_pandas()
    assert frame.to_dict("records") == expected
    assert isinstance(frame, pd.DataFrame)
    assert frame["X"].dtype == frame["state"].dtype == pd.Series(["a"]).dtype


@pytest.mark.parametrize("seed", at_length([*range(20)], plain=5))
def test_printed_as_one_after_another(seed: int) -> None:
    numeric = bool(seed % 2)
    answers = [some(seed, numeric=numeric), some(seed, 0), some(seed, 1, 0), some(seed, 1, 1, numeric=True)]
    if seed == 0:
        answers.append(some(seed, many=20_000))  # printed in several blocks
    said = json.dumps(
        {"queries": [each.as_dict() for each in answers], **DONE.as_dict()}, ensure_ascii=False, allow_nan=False
    )
    assert "".join(report.as_json(answers, DONE)) == said + "\n"

    for each in answers:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow((*each.variables, "lower", "upper", "state"))
        for answer in each:
            writer.writerow((*answer.bindings.values(), finite(answer.lower), finite(answer.upper), answer.state))
        assert "".join(report.as_csv(each)) == buffer.getvalue()

    shown = Shown(answers[0], 0, len(answers[0]))
    for line, answer in zip("".join(report.table([shown], DONE)).splitlines()[2:], answers[0], strict=False):
        assert f"  {shown_bounds(answer)}" in line
        assert line.endswith(f"  {shown_state(answer)}")


def test_atoms_of_one_predicate_and_joins_agree() -> None:
    rng = random.Random(3)
    facts = "".join(f"fact P({rng.choice('abcd')}, {rng.choice('abcd')}) in [0.{i % 5}, 0.9]\n" for i in range(12))
    kb = lnnkit.loads(f"predicate P(e, e)\n{facts}fact P(a, a)\nfact ~P(a, a)\nrule P(X, Y) -> Q(Y, X)\n")
    for name in ("P", "Q"):
        plain = kb.ask(f"{name}(X, Y)")
        joined = kb.ask(f"{name}(X, Y) & {name}(X, Y)")
        assert len(plain) > 5
        assert {tuple(a.bindings.values()) for a in joined} <= {tuple(a.bindings.values()) for a in plain}
        turned = kb.ask(f"{name}(Y, X)")
        assert turned.variables == ("Y", "X")
        assert [tuple(a.bindings.values()) for a in turned] == [tuple(a.bindings.values()) for a in plain]
        for answer in plain:
            left, right = answer.bindings.values()
            (one,) = kb.ask(f"{name}({left}, {right})")
            assert (one.lower, one.upper, one.contested) == (answer.lower, answer.upper, answer.contested)
            (denied,) = [
                each for each in kb.ask(f"~{name}(X, Y)") if (each.bindings["X"], each.bindings["Y"]) == (left, right)
            ]
            assert (denied.lower, denied.upper) == (1 - answer.upper, 1 - answer.lower)
        same = kb.ask(f"{name}(X, X)")
        diagonal = [a for a in plain if a.bindings["X"] == a.bindings["Y"]]
        assert [(a.bindings["X"], a.lower, a.upper) for a in same] == [
            (a.bindings["X"], a.lower, a.upper) for a in diagonal
        ]


STATED = """
predicate Bird(animal)
predicate Flies(animal)
fact Bird(tom) in [0, 0.3]
fact Bird(rex)
axiom forall X: Bird(X) -> Flies(X)
predicate P(thing)
predicate Q(thing)
axiom ~(P(X) & Q(X))
fact P(a)
fact Q(b)
fact P(c) in [0, 0.5]
axiom (P(X) | Q(X)) in [0.2, 1]
"""


@pytest.mark.parametrize(
    ("query", "truth"),
    at_length(
        [
            ("exists X: ~(Bird(X) -> Flies(X))", (0.0, 0.0)),
            ("(Bird(tom) -> Flies(tom)) & Bird(rex)", (1.0, 1.0)),
            ("forall X: ~(P(X) & Q(X))", (1.0, 1.0)),
            ("forall Y: P(Y) | Q(Y)", (0.2, 1.0)),
            ("forall X: Bird(X) -> Flies(X)", (1.0, 1.0)),
            ("exists X: P(X) & Q(X)", (0.0, 0.0)),
            ("(P(c) & Q(c)) | Q(b)", (1.0, 1.0)),
            ("~(P(c) & Q(c)) & P(a)", (1.0, 1.0)),
        ],
        plain=4,
        several=True,
    ),
)
def test_statements_about_parts_of_a_query_count(query: str, truth: tuple[float, float]) -> None:
    """By semantics 9 what is asserted keeps bounds, so other rules that mention it make no difference."""
    rules = ["", "rule Law & (forall X: Bird(X) -> Flies(X)) -> Other\nfact ~Law\n", "rule (P(X) & Q(X)) -> R(X)\n"]
    for rule in rules:
        kb = lnnkit.loads(STATED + rule)
        (answer,) = kb.ask(query)
        assert (answer.lower, answer.upper) == truth, rule
        explanation = kb.explain(query)
        assert (explanation.lower, explanation.upper) == truth, rule
        assert explanation.verify() == []


def test_what_is_true_by_its_form_lists_nothing_and_holds_of_all() -> None:
    """Its default is [1, 1]: docs/reference/semantics.md, "Queries list what is not the default"."""
    kb = lnnkit.loads("number pay(p)\nfact pay(ann) = 3\nfact pay(bob) in [1, 5]\n")
    assert len(kb.ask("pay(Z) <= pay(Z)")) == 0
    for query in ("forall Z: pay(Z) <= pay(Z)", "pay(bob) <= pay(bob)"):
        (answer,) = kb.ask(query)
        assert (answer.lower, answer.upper) == (1.0, 1.0)
