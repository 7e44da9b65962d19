"""Reports of training: what is recorded is what happened, and the page shows all of it and needs nothing beside it."""

from __future__ import annotations

import math
import random
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lnnkit
from lnnkit.cli import main
from lnnkit.fit import Fit
from lnnkit.report.histogram import histogram
from lnnkit.report.scale import Scale, linear, number, positive, share, snug
from lnnkit.scores import Evidence, Threshold

LENDING = Path(__file__).parents[2] / "kb_examples" / "lending" / "lending.lnn"
FEW = """
fact A(x) = 0.9
fact A("<b>y & z</b>") = 0.4
rule "r < 1": A(X) -> B(X) in [?, 1]
label B(x) in [0.7, 1]
label B("<b>y & z</b>") in [0.2, 1]
"""
DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)


@pytest.fixture(scope="module")
def fit() -> Fit:
    return lnnkit.load(LENDING).fit(epochs=30, restarts=2)


def evidence_of(fit: Fit) -> Evidence:
    assert fit.evidence is not None
    return fit.evidence


def drawings(page: str) -> list[ElementTree.Element]:
    """Each of them, read as XML: nothing stands in it unescaped."""
    return [ElementTree.fromstring(text) for text in DRAWING.findall(page)]


def words(drawing: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in drawing.iter("text")]


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_values_are_recorded_from_the_start_to_what_was_kept(fit: Fit) -> None:
    history, evidence = fit.history, evidence_of(fit)
    assert history[0].values == {
        "ratio": 0.3, "times": 1.0, "settled": 5.0, "score/weight1": 1.0, "score/weight2": 1.0, "score/weight3": 1.0,
        "score/bias1": 1.0,
    }  # fmt: skip
    assert evidence.kept is not None
    kept = history[evidence.kept]
    assert kept.validation == min(entry.validation for entry in history if entry.validation is not None)
    for name, value in fit.values.items():  # what was kept has fewer digits since
        assert value == pytest.approx(kept.values[name], rel=0.1, abs=0.05)


def test_before_and_after_are_what_the_answers_were_and_are() -> None:
    kb = lnnkit.load(LENDING)
    untrained = kb.evaluate().predicates["Risky"]
    asked = "Risky(X)"
    before = {answer.bindings["X"]: answer.lower for answer in kb.ask(asked)}
    fit = kb.fit(epochs=20, validation=0.0)
    after = {answer.bindings["X"]: answer.lower for answer in kb.ask(asked)}
    evidence = evidence_of(fit)
    (own,) = evidence.predictions
    assert evidence.before[0].predicates["Risky"] == untrained
    assert fit.train.predicates["Risky"] == kb.evaluate().predicates["Risky"]
    assert not own.held.any() and len(own.wanted) == 120
    unlisted = 120 - len(before), 120 - len(after)
    assert sorted(own.before) == pytest.approx(sorted([*before.values(), *[0.0] * unlisted[0]]))
    assert sorted(own.after) == pytest.approx(sorted([*after.values(), *[0.0] * unlisted[1]]))


def test_thresholds_have_their_data_with_the_labels_of_the_same_entities(fit: Fit) -> None:
    rows = [line.split(",") for line in (LENDING.parent / "loans.csv").read_text().splitlines()[1:]]
    ratio = next(each for each in evidence_of(fit).thresholds if each.name == "ratio")
    expected = sorted((float(debt) / float(income), float(risk)) for _, income, debt, _, _, risk in rows)
    assert ratio.comparison == "debt(X) / income(X) > ?ratio=0.3" and ratio.predicate == "Risky"
    np.testing.assert_allclose(sorted(zip(ratio.turns, ratio.truths, strict=True)), expected, rtol=1e-9)


def test_the_names_of_rules_and_operands_are_those_of_the_text(fit: Fit) -> None:
    learned = {each.name: each for each in evidence_of(fit).parameters}
    assert learned["score/weight2"].of == "late(X) >= ?times=1"
    assert learned["score/bias1"].of.startswith("(debt(X)")
    ((name, before, after),) = evidence_of(fit).rules
    assert name == "score" and "?ratio=0.3@" in before
    assert f"?ratio={fit.values['ratio']:.6g}@" in after.replace("\n", " ")


def test_a_run_that_went_on_compares_with_its_start(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    whole = lnnkit.loads(FEW).fit(epochs=20)
    kb = lnnkit.loads(FEW)
    kb.fit(epochs=20, checkpoint=file, listen=lambda epoch: epoch.epoch < 5)
    resumed = lnnkit.loads(FEW).fit(epochs=20, checkpoint=file)
    assert resumed.history[0].epoch > 0
    one, other = evidence_of(whole), evidence_of(resumed)
    assert one.before == other.before
    np.testing.assert_array_equal(one.predictions[0].before, other.predictions[0].before)
    assert drawings(resumed.to_html())


# --- the page ---------------------------------------------------------------------------------------------------------


def test_the_page_needs_nothing_beside_it(fit: Fit) -> None:
    page = fit.to_html("lending.lnn")
    assert "<script" not in page and "http" not in page and "url(" not in page and "@import" not in page
    found = drawings(page)
    assert len(found) == 2 + 1 + 3 + 1  # losses and accuracy, one rule, three thresholds, one predicate
    said = " ".join(words(found[0]))
    assert "validation labels" in said and "training, all terms" in said and "decay" in said
    assert "epoch, of all restarts" in said
    for drawing in found:
        numbers = [value for each in drawing.iter() for value in each.attrib.values()]
        assert not any("nan" in value or "inf" in value for value in numbers)


def test_odd_names_are_escaped_and_nothing_held_back_is_said() -> None:
    fit = lnnkit.loads(FEW).fit(epochs=10)
    page = fit.to_html('<i>"odd"</i>')
    assert "<i>" not in page and "<b>" not in page
    assert "No labels were held back" in page and "validation labels" not in page
    assert all(words(drawing) for drawing in drawings(page))
    assert fit._repr_html_().startswith('<div class="lnn-report">')


def test_of_many_parameters_those_that_moved_most_are_named() -> None:
    draw = random.Random(3)
    people = [f"p{number}" for number in range(6)]
    lines = [f"fact F{number}({who}) = {draw.random():.3f}" for number in range(20) for who in people]
    lines += [f"label G({who}) = {draw.random():.3f}" for who in people]
    lines.append("rule all: " + " | ".join(f"F{number}(X)@0.2" for number in range(20)) + " -> G(X)")
    fit = lnnkit.loads("\n".join(lines)).fit(epochs=15)
    drawing = next(each for each in drawings(fit.to_html()) if "value by epoch" in each.attrib["aria-label"])
    named = [text for text in words(drawing) if text.startswith(("F", "bias of", "truth"))]
    moved = {
        each.name: max(entry.values[each.name] for entry in fit.history)
        - min(entry.values[each.name] for entry in fit.history)
        for each in evidence_of(fit).parameters
    }
    most = sorted(evidence_of(fit).parameters, key=lambda each: -moved[each.name])[:8]
    assert len(named) == 8
    assert {each.of for each in most if each.kind == "weight"} == {text for text in named if text.startswith("F")}
    assert len(list(drawing.iter("polyline"))) == len(moved) == 22


def test_a_histogram_has_a_bar_part_for_each_row() -> None:
    generator = np.random.default_rng(0)
    turns = np.concatenate([generator.normal(size=300), [1e6]])  # one far out, which would take all the width
    truths = generator.choice([0.0, 1.0, math.nan], size=301)
    own = Threshold("t", "a(X) > ?t", turns, "P", truths)
    drawing = ElementTree.fromstring(histogram(own, 0.0, 0.5))
    tips = [each.text or "" for each in drawing.iter("title")]
    for kind, count in (("true", truths == 1), ("false", truths == 0), ("without label", np.isnan(truths))):
        said = [re.search(rf": ([\d,]+) {kind}$", tip) for tip in tips]
        assert sum(int(each.group(1).replace(",", "")) for each in said if each) == count.sum()
    assert any("1 beyond the edges" in text for text in words(drawing))
    assert {"before 0", "after 0.5"} <= set(words(drawing))


@pytest.mark.parametrize("turns", [[], [3.0], [2.0, 2.0], [math.inf, 1.0], [1e-300, 2e-300], [-1e300, 1e300]])
def test_histograms_of_odd_data(turns: list[float]) -> None:
    own = Threshold("t", "a(X) > ?t", np.array(turns), None, np.full(len(turns), math.nan))
    for before in (None, 1.0, math.nan):
        text = histogram(own, before, 2.0)
        assert "nan" not in text and ElementTree.fromstring(text) is not None


# --- scales -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=8), st.sampled_from([linear, snug, positive, share]))
def test_scales_show_all_values_in_order(values: list[float], make: object) -> None:
    assert callable(make)
    if make is not linear and make is not snug:
        values = [abs(value) / 1e12 for value in values]
    scale = make(values, 10.0, 110.0)
    assert isinstance(scale, Scale) and scale.low < scale.high
    slack = 1e-6 * max(abs(scale.low), abs(scale.high))
    if not scale.logarithmic:
        assert scale.low - slack <= min(values) and max(values) <= scale.high + slack
    places = [scale(value) for value in sorted(values)]
    assert places == sorted(places) and places[0] >= 10.0 and places[-1] <= 110.0 + 1e-9
    ticks = scale.ticks()
    assert len(ticks) <= 9 and all(scale.low - slack <= tick <= scale.high + slack for tick in ticks)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-1.5, "−1.5"), (1e-7, "1e−7"), (0.25, "0.25"), (1.5e6, "1.5e6"), (100.0, "100")]
)
def test_ticks_are_short(value: float, text: str) -> None:
    assert number(value) == text


# --- the command ------------------------------------------------------------------------------------------------------


def test_train_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, out, report = tmp_path / "p.lnn", tmp_path / "t.lnn", tmp_path / "r.html"
    program.write_text(FEW, encoding="utf-8")
    assert main(["train", str(program), "-o", str(out), "--epochs", "8", "--report", str(report)]) == 0
    text = report.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "<h1>p.lnn</h1>" in text
    capsys.readouterr()
    gone = str(tmp_path / "no" / "r.html")
    assert main(["train", str(program), "-o", str(out), "--epochs", "2", "--report", gone]) == 1
    assert "unwritable-file" in capsys.readouterr().err
