"""Reports of training: what is recorded is what happened, and the page shows all of it and needs nothing beside it."""

from __future__ import annotations

import html
import math
import random
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.markup.pages import PALETTE
from lnnkit.report import charts
from lnnkit.report.training_page import Fit
from lnnkit.scores import Epoch, Threshold
from tests.blocks import at_length

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


def drawings(page: str) -> list[ElementTree.Element]:
    """Each of them, read as XML: nothing stands in it unescaped."""
    return [ElementTree.fromstring(text) for text in DRAWING.findall(page)]


def words(drawing: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in drawing.iter("text")]


# --- what is recorded -------------------------------------------------------------------------------------------------


def test_values_are_recorded_from_the_start_to_what_was_kept(fit: Fit) -> None:
    history, evidence = fit.history, fit.evidence
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
    evidence = fit.evidence
    (own,) = evidence.predictions
    assert evidence.before[0].predicates["Risky"] == untrained
    assert fit.train.predicates["Risky"] == kb.evaluate().predicates["Risky"]
    assert not own.held.any() and len(own.wanted) == 120
    unlisted = 120 - len(before), 120 - len(after)
    assert sorted(own.before) == pytest.approx(sorted([*before.values(), *[0.0] * unlisted[0]]))
    assert sorted(own.after) == pytest.approx(sorted([*after.values(), *[0.0] * unlisted[1]]))


def test_thresholds_have_their_data_with_the_labels_of_the_same_entities(fit: Fit) -> None:
    rows = [line.split(",") for line in (LENDING.parent / "loans.csv").read_text().splitlines()[1:]]
    ratio = next(each for each in fit.evidence.thresholds if each.name == "ratio")
    expected = sorted((float(debt) / float(income), float(risk)) for _, income, debt, _, _, risk in rows)
    assert ratio.comparison == "debt(X) / income(X) > ?ratio=0.3" and ratio.predicate == "Risky"
    np.testing.assert_allclose(sorted(zip(ratio.turns, ratio.truths, strict=True)), expected, rtol=1e-9)


def test_the_names_of_rules_and_operands_are_those_of_the_text(fit: Fit) -> None:
    learned = {each.name: each for each in fit.evidence.parameters}
    assert learned["score/weight2"].of == "late(X) >= ?times=1"
    assert learned["score/bias1"].of.startswith("(debt(X)")
    ((name, before, after),) = fit.evidence.rules
    assert name == "score" and "?ratio=0.3@" in before
    assert f"?ratio={fit.values['ratio']:.6g}@" in after.replace("\n", " ")


@pytest.mark.slow
def test_a_run_that_went_on_compares_with_its_start(tmp_path: Path) -> None:
    file = tmp_path / "run.safetensors"
    whole = lnnkit.loads(FEW).fit(epochs=20)
    kb = lnnkit.loads(FEW)
    kb.fit(epochs=20, checkpoint=file, listen=lambda epoch: epoch.epoch < 5)
    resumed = lnnkit.loads(FEW).fit(epochs=20, checkpoint=file)
    assert resumed.history[0].epoch > 0
    one, other = whole.evidence, resumed.evidence
    assert one.before == other.before
    np.testing.assert_array_equal(one.predictions[0].before, other.predictions[0].before)
    assert drawings(resumed.to_html())


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lending_page(fit: Fit) -> str:
    return fit.to_html("lending.lnn")


def test_the_page_needs_nothing_beside_it(lending_page: str) -> None:
    assert "<script" not in lending_page and "http" not in lending_page and "@import" not in lending_page
    assert set(re.findall(r"url\((.)", lending_page)) == {"#"}
    assert not set(re.findall(r"<(link|img|iframe|object)\b", lending_page))
    colours = set(re.findall(r"#[0-9a-f]{6}\b", DRAWING.sub("", lending_page)))
    assert colours <= {shade for each in PALETTE.values() for shade in (each.light, each.dark)}


def test_charts_take_all_their_colours_from_the_scheme(lending_page: str) -> None:
    for text in DRAWING.findall(lending_page):
        painted = re.findall(r"(?:fill|stroke): ([^;\"]+)", text)
        assert painted and all(each == "none" or re.fullmatch(r"var\(--lnn-[\w-]+\)", each) for each in painted)
        assert {each[10:-1] for each in painted if each != "none"} <= set(PALETTE)


def test_the_page_leads_with_the_rules_before_and_after(fit: Fit, lending_page: str) -> None:
    heads = re.findall(r"<h2>(.*?)</h2>", lending_page)
    assert heads == [
        "Rules before and after", "Scores", "Losses", "Weights, biases and truths", "Thresholds", "Calibration",
    ]  # fmt: skip
    before, after = re.findall(r"<pre>(.*?)</pre>", lending_page)
    assert "ratio=<mark>0.3</mark>" in before and "<mark>0.3</mark>" not in after
    ((_, old, new),) = fit.evidence.rules
    for shown, text in ((before, old), (after, new)):
        assert html.unescape(re.sub("<.*?>", "", shown)) == text


def test_every_loss_term_has_an_axis_of_its_own(fit: Fit, lending_page: str) -> None:
    terms = {name for entry in fit.history for name, value in entry.terms.items() if value}
    assert terms == {"labels", "decay"}
    labels = [each.attrib["aria-label"] for each in drawings(lending_page)]
    assert labels[:4] == [
        "loss by epoch: training labels, all terms, validation labels",
        "labels by epoch: labels",
        "decay by epoch: decay",
        "accuracy by epoch: on validation labels",
    ]
    assert len(labels) == 4 + 1 + 3 + 1  # and one rule, three thresholds, one predicate


def test_charts_name_what_they_draw(lending_page: str) -> None:
    found = drawings(lending_page)
    assert {"training labels, all terms", "validation labels", "kept", "epoch, of all restarts"} <= set(words(found[0]))
    assert {"before", "after", "right on average"} <= set(words(found[-1]))
    for drawing in found:
        numbers = [value for each in drawing.iter() for value in each.attrib.values()]
        assert not any(re.search(r"\b(nan|inf)\b", value) for value in numbers)


def test_texts_of_charts_are_within_them(lending_page: str) -> None:
    """By their anchors; what is behind them is measured with a wider font than pages have."""
    for drawing in drawings(lending_page):
        _, _, width, height = map(float, drawing.attrib["viewBox"].split())
        for each in drawing.iter("text"):
            x, y = each.get("x"), each.get("y")
            if x is None or y is None:
                x, y = re.findall(r"-?[\d.]+", each.attrib["transform"])[:2]
            assert 0 <= float(x) <= width and 0 <= float(y) <= height


def test_odd_names_are_escaped_and_omissions_are_reported() -> None:
    fit = lnnkit.loads(FEW).fit(epochs=10)
    page = fit.to_html('<i>"odd"</i> $x^2$ 日本')
    assert "<i>" not in page and "<b>y" not in page
    assert "No labels were held back" in page and "validation labels" not in page
    assert all(words(drawing) for drawing in drawings(page))
    assert '<div class="lnn lnn-report">' in page


ODD = ("_hidden", "\x1b[31m", "$x^2_$", "日本", "<b>&</b>", "a" * 300, "#1d2433", '" id="x_1"', "\\alpha")


@pytest.mark.parametrize("name", at_length(ODD, plain=4))
def test_names_in_charts_are_text(name: str) -> None:
    history = [Epoch(1, epoch, 1.0, {}, None, None) for epoch in range(3)]
    drawn = charts.curves(history, [(name, [1.0, 2.0, 3.0]), ("other", [1.0, math.nan, 2.0])], 2, name)
    drawing = ElementTree.fromstring(str(drawn))
    shown = "\\x1b[31m" if name == "\x1b[31m" else name if len(name) <= 60 else f"{'a' * 59}…"
    assert shown in [text.strip() for text in words(drawing)]


def test_numbers_have_scores_of_their_own() -> None:
    program = "number a(e)\nnumber b(e)\nfact a(x) = 1\nfact a(y) = 2\nfact a(z) = 4\nrule w: b(X) = (?w=1) * a(X)\n"
    fit = lnnkit.loads(program + "label b(x) = 3\nlabel b(y) = 6\nlabel b(z) = 12\n").fit(epochs=5, validation=0.0)
    cells = r"<th>RMSE</th><th>MAE</th>.*?<td[^>]*>b, training</td><td[^>]*>3</td>"
    assert re.search(cells, fit._repr_html_(), re.DOTALL)


def test_without_matplotlib_there_are_tables_and_a_word(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fit = lnnkit.loads(FEW).fit(epochs=3)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = fit._repr_html_()
    assert "Rules before and after" in shown and "pip install 'lnnkit[report]'" in shown
    assert "<svg" not in shown
    with pytest.raises(lnnkit.Error, match="missing-extra"):
        fit.to_html()
    (tmp_path / "p.lnn").write_text(FEW, encoding="utf-8")
    arguments = ["train", str(tmp_path / "p.lnn"), "-o", str(tmp_path / "t.lnn"), "--report", str(tmp_path / "r.html")]
    assert main(arguments) == 1
    assert not (tmp_path / "t.lnn").exists()  # it says so before it trains


@pytest.mark.slow
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
        for each in fit.evidence.parameters
    }
    most = sorted(fit.evidence.parameters, key=lambda each: -moved[each.name])[:8]
    assert len(named) == 8
    assert {each.of for each in most if each.kind == "weight"} == {text for text in named if text.startswith("F")}
    lines = [each for each in drawing.iter("path") if each.get("clip-path")]
    drawn = [each for each in lines if re.search(r"stroke: var\(--lnn-(series-\d|faint)\)", each.attrib["style"])]
    assert len(drawn) == len(moved) == 22


def test_a_histogram_has_a_bar_part_for_each_row() -> None:
    generator = np.random.default_rng(0)
    turns = np.concatenate([generator.normal(size=300), [1e6]])  # one far out, which would take all the width
    truths = generator.choice([0.0, 1.0, math.nan], size=301)
    own = Threshold("t", "a(X) > ?t", turns, "P", truths)
    drawing = ElementTree.fromstring(str(charts.histogram(own, 0.0, 0.5)))
    tips = [each.text or "" for each in drawing.iter("title")]
    for kind, count in (("label true", truths == 1), ("label false", truths == 0), ("without label", np.isnan(truths))):
        said = [re.search(rf": ([\d,]+) {kind}$", tip) for tip in tips]
        assert sum(int(each.group(1).replace(",", "")) for each in said if each) == count.sum()
    assert any("1 beyond the edges" in text for text in words(drawing))
    assert {"before 0", "after 0.5"} <= set(words(drawing))


@pytest.mark.parametrize(
    "turns", at_length([[], [math.inf, 1.0], [-1e300, 1e300], [3.0], [2.0, 2.0], [1e-300, 2e-300]], plain=3)
)
def test_histograms_of_odd_data(turns: list[float]) -> None:
    own = Threshold("t", "a(X) > ?t", np.array(turns), None, np.full(len(turns), math.nan))
    for before in (1.0, math.nan):
        text = str(charts.histogram(own, before, 2.0))
        assert not re.search(r"\b(nan|inf)\b", text) and ElementTree.fromstring(text) is not None


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
