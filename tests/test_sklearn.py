"""Rules as a scikit-learn classifier."""

from __future__ import annotations

import re
import tracemalloc
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is an extra")

import pandas as pd
import pyarrow as pa
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import lnnkit
from lnnkit.sklearn import RuleClassifier
from tests.blocks import at_length


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_it_is_an_estimator() -> None:
    found = check_estimator(RuleClassifier(), on_fail=None)
    assert [each["check_name"] for each in found if each["status"] == "failed"] == []


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.05])
def test_a_weighted_rule_takes_four_times_the_memory_of_the_table_at_most(missing: float) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(100_000, 20))
    likely = 1 / (1 + np.exp(-table[:, :5] @ [1, 0.8, -0.6, 0.4, 0.2]))
    good = rng.random(len(table)) < likely
    table[rng.random(table.shape) < missing] = np.nan
    RuleClassifier(random_state=0).fit(table[:500], good[:500])  # imports
    tracemalloc.start()
    rule = RuleClassifier(random_state=0).fit(table, good)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not rule.rules_[0].plain
    assert most <= 4 * table.nbytes


def frame(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    age, purpose = rng.uniform(18, 80, rows).round(0), rng.choice(["car", "house"], rows)
    good = np.where((age >= 45) & (purpose == "car"), "good", "bad")
    return pd.DataFrame({"age": age, "purpose": purpose}), good


def test_given_rules_are_trained() -> None:
    table, good = frame(150)
    rules = 'predicate Good(row) closed\nrule age(X) >= ?cut & purpose(X, "car") -> Good(X)'
    found = RuleClassifier(rules, "Good", epochs=30).fit(table, good)
    assert (found.predict(table) == good).mean() > 0.97
    assert "?cut=4" in found.program_
    table.loc[:20, "age"] = np.nan
    assert np.isfinite(found.predict_proba(table)).all()


def test_rules_are_induced_from_a_frame_with_missing_cells() -> None:
    table, good = frame(300)
    table.loc[::17, "purpose"] = None
    found = RuleClassifier().fit(table, good)
    assert (found.predict(table) == good).mean() > 0.9
    assert "-> good(X)" in found.program_


LABELS = np.tile([0, 1, 1, 0, 1, 0], 10)
SIGN = LABELS + np.random.default_rng(0).normal(0, 0.3, 60)
ODD = {
    "a missing column": pd.DataFrame({"a": SIGN, "m": np.nan}),
    "nothing but missing": pd.DataFrame({"m": [None] * 60}),
    "a constant": pd.DataFrame({"k": [1.0] * 60}),
    "truth values": pd.DataFrame({"b": SIGN > 0.5}),
    "nullable": pd.DataFrame({"i": pd.array([None, 1, 2] * 20, dtype="Int64"), "b": pd.array(SIGN > 0.5, "boolean")}),
    "texts": pd.DataFrame({"t": np.where(LABELS > 0, 'he said "x"', "a\nb\\")}),
    "categories": pd.DataFrame({"c": pd.Categorical(np.where(LABELS > 0, "up", "down"))}),
    "names that are taken": pd.DataFrame({"Target": SIGN, "rule": SIGN, "X": SIGN, "a b": SIGN}),
    "no name": pd.DataFrame({"": SIGN}),
    "numbers and texts": pd.DataFrame({"a": [1, "x", 2.5, None] * 15, "b": SIGN}),
    "far apart": pd.DataFrame({"a": SIGN * 1e300, "b": SIGN * 1e-300}),
    "objects without a frame": np.c_[SIGN.astype(object), np.where(LABELS > 0, "up", "down").astype(object)],
}


@pytest.mark.filterwarnings("ignore:the rules are no better")  # of what says nothing of the classes
@pytest.mark.parametrize("name", at_length(ODD, plain=3))
def test_odd_tables_give_a_program_that_loads(name: str) -> None:
    found = RuleClassifier(random_state=0).fit(ODD[name], LABELS)
    assert np.isfinite(found.predict_proba(ODD[name])).all()
    lnnkit.loads(found.program_)


def test_unseen_categories() -> None:
    found = RuleClassifier(random_state=0).fit(ODD["categories"], LABELS)
    new = pd.DataFrame({"c": pd.Categorical(["up", "sideways", None])})
    assert found.predict(new)[0] == 1 and np.isfinite(found.predict_proba(new)).all()


def test_one_row_of_each_class() -> None:
    few = pd.DataFrame({"a": [1.0, 2.0]})
    assert (RuleClassifier().fit(few, ["no", "yes"]).predict(few) == ["no", "yes"]).all()


@pytest.mark.slow
def test_five_classes() -> None:
    ages = pd.DataFrame({"age": np.arange(100.0)})
    decade = np.array(["lo", "mid", "hi!", "é", "5"])[np.arange(100) // 20]
    assert (RuleClassifier(random_state=0).fit(ages, decade).predict(ages) == decade).mean() > 0.8


@pytest.mark.slow
def test_a_small_table_with_noise_is_weighed_not_covered() -> None:
    table, kinds = load_breast_cancer(return_X_y=True)
    accuracy = cross_val_score(RuleClassifier(random_state=0), table, kinds, cv=3).mean()
    assert accuracy > 0.95  # a plain disjunction, right on nine rows of ten held back, had 0.937


def test_categories_can_accompany_flags() -> None:
    frame = pd.DataFrame({"city": pd.Categorical(["rome", "oslo"] * 20), "member": [True, False, False, True] * 10})
    assert RuleClassifier().fit(frame, [1, 0] * 20).score(frame, [1, 0] * 20) == 1.0


# --- which class the target stands for ------------------------------------------------------------------------------

BAD = 'predicate Bad(row) closed\nrule age(X) < ?cut & purpose(X, "car") -> Bad(X)'
PEOPLE = pd.DataFrame({"age": np.tile(np.arange(20.0, 60.0, 4.0), 12), "purpose": "car"})
KINDS = np.where(PEOPLE["age"] < 40, "bad", "good")


def test_rules_for_the_first_class_warn_and_suggest_positive() -> None:
    with (
        pytest.warns(UserWarning, match="Bad` is named like the class 'bad', .* give positive='bad'"),
        pytest.warns(UserWarning, match="no better than the commoner class"),
    ):
        RuleClassifier(BAD, "Bad", epochs=2).fit(PEOPLE, KINDS)
    found = RuleClassifier(BAD, "Bad", positive="bad", epochs=2).fit(PEOPLE, KINDS)
    assert (found.predict(PEOPLE) == KINDS).all() and found.positive_ == "bad"
    assert list(found.classes_) == ["bad", "good"]
    assert found.predict_proba(PEOPLE)[0].tolist() == [1.0, 0.0]


def test_rules_that_are_true_of_the_other_class_warn_whatever_their_name() -> None:
    rules = "predicate Flag(row) closed\nrule age(X) < ?cut=40 -> Flag(X)"
    ages, young = PEOPLE[["age"]], KINDS == "bad"
    with (
        pytest.warns(UserWarning, match="Flag` is true more often of the class 0, .* give positive=0"),
        pytest.warns(UserWarning, match="no better"),
    ):
        RuleClassifier(rules, "Flag", epochs=1).fit(ages, (~young).astype(int))
    assert RuleClassifier(rules, "Flag", epochs=1).fit(ages, young).score(ages, young) == 1


def test_an_induced_rule_is_about_the_positive_class() -> None:
    found = RuleClassifier(positive="bad", random_state=0).fit(PEOPLE, KINDS)
    assert found.program_.splitlines()[-1] == "rule age(X) < 40 -> bad(X)"
    assert found.score(PEOPLE, KINDS) == 1.0 and found.predict_proba(PEOPLE)[0, 0] == 1.0


@pytest.mark.parametrize(
    ("classes", "target"),
    [
        (("no", "yes"), "yes"),
        ((0, 1), "Class1"),
        ((False, True), "ClassTrue"),
        (("a", "age"), "age_"),
        (("x", "+"), "x"),
    ],
)
def test_heads_have_the_names_of_classes(classes: tuple[object, object], target: str) -> None:
    kinds = np.array(classes)[(KINDS == "good").astype(int)]
    found = RuleClassifier(random_state=0).fit(PEOPLE, kinds)
    assert found.targets_ == [target]
    assert len(found.knowledge_base(PEOPLE).ask(f"{target}(X)")) == 60


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "Bad"}, "no rules are given"),
        ({"positive": "worse"}, "positive='worse' is not a class of y; the classes are 'bad', 'good'"),
        ({"rules": BAD}, "needs target="),
        ({"rules": BAD, "target": "Bad", "max_rules": 2}, "rules are given"),
        ({"max_rules": 0}, "max_rules must be a whole number"),
        ({"max_literals": 1.5}, "max_literals must be a whole number"),
    ],
)
def test_parameters_that_do_not_go_together(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        RuleClassifier(**options).fit(PEOPLE, KINDS)  # pyright: ignore[reportArgumentType]


def test_a_positive_class_of_three_is_refused() -> None:
    with pytest.raises(ValueError, match="one of two classes; y has 3: 0, 1, 2"):
        RuleClassifier(positive=1).fit(PEOPLE, np.arange(120) % 3)


# --- columns --------------------------------------------------------------------------------------------------------


def mixed(rows: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    since = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, rows), unit="D")
    table = pd.DataFrame({"since": since, "member": rng.random(rows) < 0.6, "age": rng.integers(18, 80, rows)})
    return table, np.where((since >= pd.Timestamp("2021-03-01")) & table["member"], "in", "out")


def test_dates_and_truth_values_in_given_rules() -> None:
    table, kinds = mixed()
    rules = "predicate In(row) closed\nrule member(X) & since(X) >= ?from -> In(X)"
    found = RuleClassifier(rules, "In", positive="in", epochs=2).fit(table, kinds)
    assert found.score(table, kinds) == 1.0
    assert "number since(row)" in found.program_ and "predicate member(row) closed" in found.program_
    assert "age" not in found.program_  # no rule reads it
    assert found.export_text().startswith("rule member(X) & since(X) >= ?from=")


def test_dates_and_truth_values_in_induced_rules() -> None:
    table, kinds = mixed()
    found = RuleClassifier(random_state=0, positive="in").fit(table, kinds)
    assert found.score(table, kinds) > 0.95
    assert "member(X)" in found.program_.splitlines()[-1]
    assert found.export_text() == "in if\n  member and since >= 2021-03-29\nelse out\n"  # a day without rows before it
    shown = found.predict(table)
    for change in (lambda each: each.dt.tz_localize("UTC"), lambda each: each.dt.date):
        assert (found.predict(table.assign(since=change(table["since"]))) == shown).all()
    with pytest.raises(ValueError, match="column 'since' held dates in fit, and holds texts here"):
        found.predict(table.assign(since="soon"))
    gone = table.assign(since=pd.NaT, member=None)
    assert np.isfinite(found.predict_proba(gone)).all()


def test_infinite_numbers_are_refused() -> None:
    table = PEOPLE.assign(age=PEOPLE["age"].replace(24.0, np.inf))
    with pytest.raises(ValueError, match=r"column 'age' holds infinity \(row 1\); give a finite number, or leave"):
        RuleClassifier().fit(table, KINDS)


@pytest.mark.slow
def test_limits_are_kept() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 4)).round(2), columns=list("abcd"))
    score = table["a"] + table["b"] * (table["c"] > 0) - table["d"]
    kinds = rng.random(300) < 1 / (1 + np.exp(-2 * score))
    free = RuleClassifier(random_state=0).fit(table, kinds)
    short = RuleClassifier(random_state=0, max_rules=2).fit(table, kinds)
    assert len(free.rules_[0].conjunctions) > 2 >= len(short.rules_[0].conjunctions)
    assert short.score(table, kinds) > 0.6
    xor = (table["a"] > 0) != (table["b"] > 0)
    pairs = RuleClassifier(random_state=0).fit(table, xor)
    assert max(map(len, pairs.rules_[0].conjunctions)) >= 2 and pairs.score(table, xor) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no literal alone tells anything
        single = RuleClassifier(random_state=0, max_literals=1).fit(table, xor)
    assert max(map(len, single.rules_[0].conjunctions), default=0) <= 1


def test_a_rule_no_better_than_the_commoner_class_warns() -> None:
    with pytest.warns(UserWarning, match="no better than the commoner class for every row: 75.0% .* against 75.0%"):
        RuleClassifier().fit(pd.DataFrame({"k": [1.0] * 40}), [0, 1, 1, 1] * 10)


# --- what predict_proba is ------------------------------------------------------------------------------------------


def asked(found: RuleClassifier, table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The bounds that the engine gives the target of each row."""
    low, high = np.zeros(len(table)), np.zeros(len(table))
    for answer in found.knowledge_base(table).ask(f"{found.targets_[0]}(X)"):
        row = int(answer.bindings["X"].removeprefix("row"))
        low[row], high[row] = answer.lower, answer.upper
    return low, high


@pytest.mark.parametrize("positive", at_length(["no", "yes"], plain=1))
def test_predict_proba_is_the_truth_that_the_program_gives(positive: str) -> None:
    rng = np.random.default_rng(0)
    table, _ = mixed(200)
    kinds = np.where(rng.random(200) < 1 / (1 + np.exp(-(table["age"] - 50) / 8 - table["member"])), "yes", "no")
    gaps = table.assign(age=table["age"].where(rng.random(200) > 0.2), member=table["member"].astype("boolean"))
    gaps.loc[::9, "member"] = pd.NA
    found = RuleClassifier(random_state=0, positive=positive).fit(gaps, kinds)
    assert not found.rules_[0].plain
    truth = found.predict_proba(table)[:, list(found.classes_).index(positive)]
    low, high = asked(found, table)
    assert low == pytest.approx(truth, abs=1e-9) and high == pytest.approx(truth, abs=1e-9)
    assert ((found.decision_function(table) > 0) == (found.predict(table) == "yes")).all()
    truth = found.predict_proba(gaps)[:, list(found.classes_).index(positive)]
    low, high = asked(found, gaps)
    assert (low <= truth + 1e-9).all() and (truth <= high + 1e-9).all() and (low < high).any()


def test_that_of_given_rules_is_the_middle_of_the_bounds() -> None:
    table = PEOPLE.assign(age=PEOPLE["age"].where(PEOPLE["age"] != 24))
    found = RuleClassifier(BAD, "Bad", positive="bad", epochs=1).fit(table, KINDS)
    low, high = asked(found, table)
    assert (low[1], high[1]) == (0.0, 1.0)  # an unknown age
    assert found.predict_proba(table)[:, 0] == pytest.approx((low + high) / 2, abs=1e-12)


def test_features_are_named_and_rules_exported() -> None:
    found = RuleClassifier(random_state=0).fit(PEOPLE, KINDS)
    assert list(found.feature_names_in_) == ["age", "purpose"]  # pyright: ignore[reportAttributeAccessIssue]  # of a mixin
    assert found.export_text() == "good if\n  age >= 40\nelse bad\n"


@pytest.mark.parametrize("positive", ["good", "bad"])
def test_one_rule_of_one_literal_is_a_threshold(positive: str) -> None:
    """What a tree of depth 1 says, as a rule without weights."""
    draw = np.random.default_rng(3)
    table = pd.DataFrame({"age": draw.integers(18, 80, 300), "size": draw.normal(170, 10, 300)})
    kinds = np.where((table.age >= 41) ^ (draw.random(300) < 0.1), "good", "bad")
    model = RuleClassifier(positive=positive, max_rules=1, max_literals=1, random_state=0).fit(table, kinds)
    stump = DecisionTreeClassifier(max_depth=1).fit(table, kinds)
    assert model.score(table, kinds) >= stump.score(table, kinds)
    sign = ">=" if positive == "good" else "<"
    assert re.fullmatch(rf"{positive} if\n  age {sign} (?:39|4[0123])[.\d]*\nelse (good|bad)\n", model.export_text())
    assert f" -> {positive}(X)" in model.program_ and "@" not in model.program_
    answers = model.knowledge_base(table.iloc[:20]).ask(f"{positive}(X)")
    named = {each.bindings["X"] for each in answers if each.lower == 1}
    assert named == {f"row{place}" for place in range(20) if model.predict(table.iloc[[place]])[0] == positive}


def test_one_rule_each_of_three_classes_is_weighed() -> None:
    """Crisp rules would leave rows to no class, or to two."""
    table = pd.DataFrame({"size": np.arange(90.0)})
    kinds = np.repeat(["a", "b", "c"], 30)
    model = RuleClassifier(max_rules=1, random_state=0).fit(table, kinds)
    assert model.score(table, kinds) > 0.6


def test_a_value_that_no_row_has_is_an_error() -> None:
    table = pd.DataFrame({"town": ["rome", "oslo"] * 20})
    kinds = np.where(table.town == "rome", "good", "bad")
    with pytest.raises(
        ValueError, match=r"no row has 'romee' in the column 'town'; its values are 'oslo', 'rome'; did "
    ):
        RuleClassifier("rule town(X, romee) -> Good(X)", "Good", positive="good").fit(table, kinds)
    RuleClassifier("rule town(X, rome) -> Good(X)", "Good", positive="good", epochs=1).fit(table, kinds)


# --- frames of other libraries --------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["polars", "arrow"])
def test_other_frames_fit_as_pandas_do(library: str) -> None:
    table, kinds = mixed()
    table = table.assign(age=table["age"].where(table["age"] > 25), town=pd.Categorical(["a", "b", None] * 40))
    whole = pa.Table.from_pandas(table)
    other = whole if library == "arrow" else pytest.importorskip("polars").from_arrow(whole)
    one, two = (RuleClassifier(random_state=0, positive="in").fit(each, kinds) for each in (table, other))
    assert one.program_ == two.program_
    assert list(two.feature_names_in_) == ["since", "member", "age", "town"]  # pyright: ignore[reportAttributeAccessIssue]  # of a mixin
    assert (two.predict(other) == one.predict(table)).all()
    with pytest.raises(ValueError, match="feature names"):
        two.predict(other.select(["since", "member", "age"]))


def test_a_value_of_one_letter_needs_no_quotes() -> None:
    table = pd.DataFrame({"kind": ["a", "b"] * 20})
    found = RuleClassifier("rule kind(X, a) -> Good(X)", "Good", epochs=1).fit(table, [1, 0] * 20)
    assert found.score(table, [1, 0] * 20) == 1.0


def test_two_columns_are_compared_where_that_tells_the_classes_apart() -> None:
    draw = np.random.default_rng(0)
    table = pd.DataFrame(draw.normal(3000, 900, (400, 3)).round(0), columns=["debt", "income", "rent"])
    table.loc[::50, "rent"] = np.nan
    model = RuleClassifier(random_state=0).fit(table, table.debt >= table.income)
    assert model.program_.splitlines()[-1] == "rule debt(X) >= income(X) -> ClassTrue(X)"
    assert model.export_text() == "True if\n  debt >= income\nelse False\n"
    kinds = np.where(table.debt > 3000, "high", "low")
    assert "income" not in RuleClassifier(random_state=0).fit(table, kinds).program_


@pytest.mark.slow
def test_a_planted_rule_is_found_among_noise() -> None:
    draw = np.random.default_rng(0)
    table = pd.DataFrame(draw.normal(size=(2500, 5)), columns=list("abcde"))
    planted = (table.a >= 0.3) & (table.b < 0.5) | (table.c >= 1.2)
    model = RuleClassifier(random_state=0).fit(table[:1500], (planted ^ (draw.random(2500) < 0.03))[:1500])
    assert (model.predict(table[1500:]) == planted[1500:]).mean() > 0.98
    assert len(model.rules_[0].conjunctions) == 2


def test_a_time_limit_leaves_out_richer_rules() -> None:
    table, kinds = mixed()
    assert RuleClassifier(max_seconds=1e-9, random_state=0).fit(table, kinds).score(table, kinds) > 0.8
    with pytest.raises(ValueError, match="max_seconds must be a number above 0"):
        RuleClassifier(max_seconds=0).fit(table, kinds)
