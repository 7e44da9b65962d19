"""Fitting from program text to program text."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import lnnkit
from lnnkit.scores import Epoch
from tests.blocks import at_length


def scored(weights: tuple[float, float], bias: float, people: int = 40, seed: int = 0) -> list[str]:
    """Facts about A and B, and the risk that weights and a bias make of them."""
    rng = random.Random(seed)
    lines = ["predicate Risk(person) closed"]
    for person in range(people):
        a, b = (round(rng.uniform(0.4, 1.0), 3) for _ in range(2))
        risk = min(1.0, max(0.0, bias - weights[0] * (1 - a) - weights[1] * (1 - b)))
        lines += [f"fact A(p{person}) = {a}", f"fact B(p{person}) = {b}", f"label Risk(p{person}) = {risk:.6f}"]
    return lines


def program(*more: str, weights: tuple[float, float] = (0.7, 0.4), bias: float = 1.0, people: int = 40) -> str:
    return "\n".join([*scored(weights, bias, people), *more]) + "\n"


def test_planted_weights_are_found_and_written(tmp_path: Path) -> None:
    kb = lnnkit.loads(program("rule risk: A(X)@? & B(X)@? -> Risk(X)  # the score"))
    before = kb.evaluate().predicates["Risk"]
    found = kb.fit(epochs=150)
    assert found.values["risk/weight1"] == pytest.approx(0.7, abs=0.02)
    assert found.values["risk/weight2"] == pytest.approx(0.4, abs=0.02)
    after = kb.evaluate().predicates["Risk"]
    assert after.distance < 0.01 < before.distance
    kb.save(tmp_path / "trained.lnn")
    text = (tmp_path / "trained.lnn").read_text(encoding="utf-8")
    assert "rule risk: A(X)@?0." in text and text.endswith("# the score\n")
    again = lnnkit.load(tmp_path / "trained.lnn")
    assert again.evaluate() == kb.evaluate()
    assert [a.lower for a in again.ask("Risk(X)")] == [a.lower for a in kb.ask("Risk(X)")]


def test_a_rule_without_marks_learns_all_its_numbers() -> None:
    kb = lnnkit.loads(program("rule risk: A(X) & B(X) -> Risk(X)", bias=0.9))
    assert set(kb.module().state_dict()) == {
        "values.risk/weight1", "values.risk/weight2", "values.risk/bias1", "values.risk/lower1"
    }  # fmt: skip
    assert kb.fit(epochs=150).train.predicates["Risk"].distance < 0.01


def test_axioms_learn_nothing_and_frozen_rules_stay() -> None:
    text = program("rule risk: A(X) & B(X) -> Risk(X)", "axiom A(X) & B(X) -> Bad(X)", "rule other: B(X) -> Bad(X)")
    kb = lnnkit.loads(text)
    assert not any("axiom" in name or "line" in name for name in kb.module().state_dict())
    kb.fit(epochs=3, freeze=["other"])
    assert kb.module().state_dict()["values.other/weight1"] == 1.0
    assert kb.module().state_dict()["values.risk/weight1"] != 1.0
    with pytest.raises(lnnkit.Error, match="unknown-rule"):
        kb.fit(only=["rusk"])
    with pytest.raises(lnnkit.Error, match="nothing-to-learn"):
        kb.fit(freeze=["risk", "other"])


def test_answers_follow_the_module() -> None:
    kb = lnnkit.loads("fact A(x)\nrule r: A(X) -> B(X) in [0.5, 1]\n")
    assert kb.ask("B(x)").lower[0] == 0.5
    kb.module().load_state_dict(
        {**kb.module().state_dict(), "values.r/lower1": 0.75 * kb.module().state_dict()["values.r/weight1"]}
    )
    assert kb.ask("B(x)").lower[0] == 0.75


def test_no_labels() -> None:
    with pytest.raises(lnnkit.Error, match="no-labels"):
        lnnkit.loads("fact A(x)\nrule A(X) -> B(X)\n").fit()


def test_the_same_seed_gives_the_same_result() -> None:
    results = []
    for _ in range(2):
        kb = lnnkit.loads(program("rule risk: A(X) & B(X) -> Risk(X)"))
        results.append(kb.fit(epochs=12, batch=7, restarts=2, seed=5).values)
    assert results[0] == results[1]


def test_a_killed_run_goes_on_to_the_same_result(tmp_path: Path) -> None:
    text = program("rule risk: A(X) & B(X) -> Risk(X)", people=40)
    whole = lnnkit.loads(text).fit(epochs=12, batch=16, restarts=2, checkpoint=tmp_path / "whole.safetensors")

    class Killed(Exception):
        pass

    for after in (2, 7):
        seen: list[Epoch] = []

        def kill(epoch: Epoch, seen: list[Epoch] = seen, after: int = after) -> None:
            seen.append(epoch)
            if len(seen) > after:
                raise Killed

        path = tmp_path / f"{after}.safetensors"
        with pytest.raises(Killed):
            lnnkit.loads(text).fit(epochs=12, batch=16, restarts=2, checkpoint=path, listen=kill)
        assert lnnkit.loads(text).fit(epochs=12, batch=16, restarts=2, checkpoint=path).values == whole.values
    with pytest.raises(lnnkit.Error, match="other-checkpoint"):
        lnnkit.loads(text).fit(epochs=13, batch=16, restarts=2, checkpoint=tmp_path / "2.safetensors")


def test_contradictions_teach_the_rules_that_cause_them() -> None:
    text = """
        fact A(x) in [0.9, 1]
        fact C(x) in [0, 0.3]
        label B(x) = 0.9
        rule one: A(X) -> B(X) in [0.95, 1]
        rule two: B(X) -> C(X) in [0.9, 1]
    """
    kb = lnnkit.loads("\n".join(line.strip() for line in text.splitlines()))
    assert len(kb.infer().contradictions) == 1
    kb.fit(epochs=80, decay=0.0, freeze=["one"])
    assert not kb.infer().contradictions
    assert kb.module().state_dict()["values.one/lower1"] == 0.95


@pytest.mark.parametrize("logic", at_length(["lukasiewicz", "product", "godel"], plain=1))
def test_declared_neurons_stay_classical(logic: str) -> None:
    kb = lnnkit.loads(f"logic {logic}\n" + program("rule risk: A(X) & B(X) -> Risk(X)"))
    seen: list[bool] = []

    def look(_: Epoch) -> None:
        seen.append(True)

    alpha = 0.9 if logic == "lukasiewicz" else 1.0
    kb.fit(epochs=20, classical="risk", alpha=alpha, listen=look)
    assert seen and [each.classical for each in kb.classical(alpha) if each.kind == "and"] == [True]
    if logic != "product":  # there any weights above 0 will do at 1
        kb.fit(epochs=40)
        assert [each.classical for each in kb.classical(alpha) if each.kind == "and"] == [False]


def test_what_cannot_be_classical_is_refused() -> None:
    kb = lnnkit.loads(program("rule risk: A(X) & B(X) -> Risk(X)"))
    with pytest.raises(ValueError, match="alpha and slack need classical rules"):
        kb.fit(epochs=2, alpha=0.8)
    with pytest.raises(ValueError, match="alpha and slack need classical rules"):
        kb.fit(epochs=2, slack=1.0)
    with pytest.raises(lnnkit.Error, match="not-classical"):
        kb.fit(epochs=2, classical=["risk"], alpha=0.6)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch": 0},
        {"batch": 1.5},
        {"seed": 0.5},
        {"seed": 2**63},
        {"decay": float("nan")},
        {"contradictions": -1.0},
        {"slack": float("inf")},
        {"restarts": 0},
        {"patience": 0},
        {"rate": -1.0},
        {"validation": 2.0},
        {"alpha": 2.0},
        {"loss": "x"},
    ],
)
def test_what_no_fit_can_be_made_with_is_refused(wrong: dict[str, object]) -> None:
    kb = lnnkit.loads("fact A(a)\nrule A(X) -> B(X)\nlabel B(a)\n")
    with pytest.raises(ValueError, match=next(iter(wrong))):
        kb.fit(**wrong)  # pyright: ignore[reportArgumentType]  # wrong on purpose


def test_a_learned_threshold_may_be_asked_for() -> None:
    kb = lnnkit.loads("number n(e)\nfact n(a) = 1\nfact n(b) = 9\nrule n(X) > ?t -> P(X)\nlabel ~P(a)\nlabel P(b)\n")
    with pytest.raises(lnnkit.ProgramError, match="untrained"):
        kb.ask("n(X) > ?t")
    kb.fit(epochs=20)
    assert [(answer.bindings["X"], answer.lower) for answer in kb.ask("n(X) > ?t")] == [("a", 0.0), ("b", 1.0)]


@pytest.mark.parametrize(
    ("rule", "values", "at"),
    at_length(
        [
            ("a(X) < ?t -> P(X)", 10, lambda v: v < 3),
            ("a(X) > ?t -> P(X)", 10, lambda v: v > 3),
            ("P(X) -> ?t <= a(X)", 2, lambda v: v >= 1),
            ("a(X) = ?t <-> P(X)", 3, lambda v: v == 2),
            ("a(X) >= ?t -> P(X)", 10, lambda v: v >= 3),
            ("a(X) <= ?t <-> P(X)", 10, lambda v: v <= 3),
            ("~(a(X) >= ?t) -> P(X)", 10, lambda v: v < 3),
            ("a(X) < ?t -> P(X)", 2, lambda v: v < 1),
            ("a(X) = ?t -> P(X)", 2, lambda v: v == 1),
            ("a(X) != ?t <-> P(X)", 3, lambda v: v != 2),
        ],
        plain=4,
        several=True,
    ),
)
def test_thresholds_of_values_that_many_share(rule: str, values: int, at: Callable[[int], bool]) -> None:
    """A threshold that is one of the data's values would decide by which relation is written."""
    rows = [(f"p{i}", i % values) for i in range(60)]
    kb = lnnkit.loads(f"number a(e)\npredicate P(e)\nrule r: {rule}\n")
    kb.tell("a", rows)
    kb.label("P", [(name, float(at(value))) for name, value in rows])
    fit = kb.fit(epochs=20)
    assert not fit.warnings
    assert kb.evaluate().predicates["P"].accuracy == 1.0


@pytest.mark.parametrize(
    "written",
    at_length(["(a(X) > ?t){scale: ?s=5}", "(a(X) > 42){scale: ?s=5}", "(a(X) > 42){scale: ?2}"], plain=1),
)
def test_a_scale_stays_above_0(written: str) -> None:
    values = [5, 12, 20, 30, 38, 40, 41.9, 42.1, 44, 45, 52, 60, 70, 80, 90]
    kb = lnnkit.loads(f"number a(e)\npredicate P(e)\nrule r: {written} -> P(X)\nquery P(X)\n")
    kb.tell("a", [(f"x{i}", value) for i, value in enumerate(values)])
    kb.label("P", [(f"x{i}", float(value > 42)) for i, value in enumerate(values)])
    fit = kb.fit()
    assert all(value > 0 for value in fit.values.values())
    assert kb.evaluate().predicates["P"].accuracy == 1.0
    again = lnnkit.loads(kb.text)  # a scale of 0, or below, is refused
    again.tell("a", [("low", 5.0), ("high", 90.0)])
    assert [(dict(answer.bindings), answer.lower) for answer in again.ask("P(X)")] == [
        ({"X": "high"}, pytest.approx(1.0))
    ]


def separable(rules: str, told: dict[str, Callable[[int], bool]], values: Sequence[int]) -> lnnkit.KnowledgeBase:
    """Closed predicates of one number, with labels for everybody."""
    text = "number a(e)\n" + "".join(f"predicate {name}(e) closed\n" for name in told) + rules
    text += "".join(f"fact a(x{i}) = {value}\n" for i, value in enumerate(values))
    for i, value in enumerate(values):
        text += "".join(f"label {'' if at(value) else '~'}{name}(x{i})\n" for name, at in told.items())
    return lnnkit.loads(text)


def accuracies(kb: lnnkit.KnowledgeBase) -> dict[str, float]:
    return {name: score.accuracy for name, score in kb.evaluate().predicates.items()}


@pytest.mark.parametrize("seed", at_length([*range(3)], plain=0))
def test_of_values_that_validate_alike_those_are_kept_that_fit_better(seed: int) -> None:
    draw = random.Random(5)
    values = [draw.randint(0, 100) for _ in range(40)]
    rules = "rule p: a(X) < ?t=62 -> P(X)\nrule q: a(X) < ?u=72 -> Q(X)\n"
    kb = separable(rules, {"P": lambda a: a < 73, "Q": lambda a: a < 60}, values)
    found = kb.fit(seed=seed)
    assert found.stopped == "solved"
    assert accuracies(kb) == {"P": 1.0, "Q": 1.0}


@pytest.mark.parametrize("cuts", at_length([(13, 30), (66, 12), (1, 5), (73, 71)], plain=2))
def test_thresholds_start_by_the_labels_of_their_own_rules(cuts: tuple[int, int]) -> None:
    rules = "rule r: a(X) >= ?t -> Big(X)\nrule s: a(X) < ?u -> Small(X)\n"
    kb = separable(rules, {"Big": lambda a: a >= cuts[0], "Small": lambda a: a < cuts[1]}, range(0, 80, 2))
    kb.fit()
    assert accuracies(kb) == {"Big": 1.0, "Small": 1.0}


@pytest.mark.slow
def test_thresholds_further_down_start_by_what_is_labelled() -> None:
    rules = "rule r: a(X) >= ?t -> Old(X)\nrule s: Old(X) & ~Rich(X) -> Poor(X)\nrule u: a(X) < ?u -> Rich(X)\n"
    told = {"Poor": lambda a: a >= 40, "Rich": lambda a: a < 30}
    text = "predicate Old(e) closed\n" + rules
    kb = separable(text, told, range(0, 80, 2))
    kb.fit()
    assert accuracies(kb) == {"Poor": 1.0, "Rich": 1.0}


@pytest.mark.parametrize("path", ["nowhere/run.st", ".", ""])
def test_a_checkpoint_that_cannot_be_written_is_named_first(path: str) -> None:
    kb = separable("rule risk: a(X) < ?t -> P(X)\n", {"P": lambda a: a < 5}, range(10))
    with pytest.raises(lnnkit.Error, match="cannot be written"):
        kb.fit(checkpoint=path)


def test_one_rule_may_be_named_alone() -> None:
    kb = separable("rule risk: a(X) < ?t -> P(X)\n", {"P": lambda a: a < 5}, range(10))
    assert kb.fit(only="risk").values["t"] == 4.5


@pytest.mark.parametrize("name", at_length(["to", "values", "keys", "train", "half", "forward", "pop", "get"], plain=3))
def test_parameters_may_be_called_as_what_torch_has(name: str) -> None:
    ages = "".join(f"fact age(p{age}) = {age}\nlabel {'' if age >= 18 else '~'}Adult(p{age})\n" for age in range(5, 40))
    kb = lnnkit.loads(f"number age(p)\nrule Adult(X) <-> age(X) >= ?{name}\n{ages}")
    assert 17 < kb.fit(epochs=5).values[name] <= 18
    module = kb.module()
    module.load_state_dict(module.state_dict())
    assert kb.evaluate().predicates["Adult"].accuracy == 1.0


def test_rules_may_have_periods_in_their_names() -> None:
    kb = lnnkit.loads(
        'rule "Art. 5%": Late(X)@? & Poor(X) -> Refused(X)\nfact Late(a) = 0.8\nfact Poor(a)\nlabel Refused(a) = 0.6\n'
    )
    assert kb.fit(epochs=20).values["Art. 5%/weight1"] != 1.0
    assert list(kb.module().state_dict()) == ["values.Art%2E 5%25/weight1"]


BANDS = [
    ("", "Adult(X) <-> ?low <= age(X) < ?high"),
    ("closed", "age(X) >= ?low & age(X) < ?high -> Adult(X)"),
    ("closed", "?high > age(X) & ?low <= age(X) -> Adult(X)"),
    ("closed", "~(age(X) < ?low) & ~(age(X) >= ?high) -> Adult(X)"),
    ("closed", "10 * age(X) >= 10 * ?low & -age(X) > -?high -> Adult(X)"),
]


@pytest.mark.parametrize(("closed", "rule"), at_length(BANDS, plain=3, several=True))
@pytest.mark.parametrize("band", at_length([(18, 65), (10, 40), (60, 70), (5, 95)], plain=1))
def test_both_ends_of_a_band_are_found(band: tuple[int, int], closed: str, rule: str) -> None:
    low, high = band
    rng = random.Random(low)
    ages = [rng.uniform(0, 100) for _ in range(60)]
    said = "".join(
        f"fact age(p{i}) = {age}\nlabel {'' if low <= age < high else '~'}Adult(p{i})\n" for i, age in enumerate(ages)
    )
    kb = lnnkit.loads(f"number age(p)\npredicate Adult(p) {closed}\nrule band: {rule}\n{said}")
    values = kb.fit(epochs=30).values
    assert kb.evaluate().predicates["Adult"].accuracy == 1.0
    assert values["low"] < values["high"]


def test_what_lies_outside_a_band_is_found() -> None:
    ages = range(0, 100, 3)
    said = "".join(f"fact age(p{age}) = {age}\nlabel {'~' if 20 <= age < 70 else ''}Cheap(p{age})\n" for age in ages)
    kb = lnnkit.loads(
        f"number age(p)\npredicate Cheap(p) closed\nrule age(X) < ?low | age(X) >= ?high -> Cheap(X)\n{said}"
    )
    kb.fit(epochs=30)
    assert kb.evaluate().predicates["Cheap"].accuracy == 1.0


@pytest.mark.parametrize("rule", ["a(X) <?> ?t=10 -> H(X)", "H(X) <-> a(X) <?> ?t=50"])
def test_a_start_does_not_keep_a_register_from_the_best_threshold(rule: str) -> None:
    said = "".join(f"fact a(p{i}) = {i}\nlabel H(p{i}) = {float(i > 30)}\n" for i in range(1, 61))
    kb = lnnkit.loads(f"number a(p)\npredicate H(p)\n{said}rule {rule}\n")
    found = kb.fit(epochs=20)
    assert kb.evaluate().predicates["H"].accuracy == 1.0
    assert not found.warnings


@pytest.mark.parametrize(
    ("equation", "law", "expected"),
    at_length(
        [
            ("(?m=1) * size(X)^(?e=1)", lambda x: 2.5 * x**1.7, {"m": 2.5, "e": 1.7}),
            ("(?m=2.5) * size(X) + (?b=-7)", lambda x: 2.5 * x - 7, {"m": 2.5, "b": -7.0}),
            ("?m * size(X)^(?e=1)", lambda x: 2.5 * x**1.7, {"m": 2.5, "e": 1.7}),
            ("(?m=1) * size(X) + (?b=0)", lambda x: 2.5 * x - 7, {"m": 2.5, "b": -7.0}),
        ],
        plain=2,
        several=True,
    ),
)
def test_equations_are_solved_wherever_their_constants_start(
    equation: str, law: Callable[[float], float], expected: dict[str, float]
) -> None:
    rng = random.Random(0)
    sizes = {f"i{i}": rng.uniform(1, 9) for i in range(40)}
    said = "".join(f"fact size({name}) = {x}\nlabel total({name}) = {law(x)}\n" for name, x in sizes.items())
    kb = lnnkit.loads(f"number size(item)\nnumber total(item)\nrule eq: total(X) = {equation}\n{said}")
    found = kb.fit()
    assert found.values == pytest.approx(expected)
    assert found.train.numbers["total"].rmse == pytest.approx(0, abs=1e-9)


def test_a_threshold_beside_a_number_without_arguments() -> None:
    kb = lnnkit.loads(
        """
number age(person)
number limit
fact limit = 10
fact age(a) = 10
fact age(b) = 20
fact age(c) = 30
rule old: age(X) - limit >= ?over -> Old(X)
label ~Old(a)
label ~Old(b)
label Old(c)
query Old(X)
"""
    )
    kb.fit(epochs=5, validation=0)
    (over,) = kb.module().parameters()
    assert 10 < over.item() <= 20  # 20 over the limit is old, 10 is not
    assert [answer.bindings for answer in kb.ask("Old(X)")] == [{"X": "c"}]
