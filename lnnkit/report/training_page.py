"""The outcome of training, and its report: the rules before and after, the scores, and charts of its course."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lnnkit.markup.pages import counted, document, installed, rendered, require
from lnnkit.report.charts import NAMED, Curve, calibration, curves, histogram
from lnnkit.scores import Epoch, Fitted, LearnedNumber

if TYPE_CHECKING:
    from markupsafe import Markup

_CHARTS = 12  # greatest number of rules, thresholds or predicates with charts
_METRICS = {
    "n": "n", "positives": "true", "accuracy": "accuracy", "auroc": "AUROC", "aupr": "AUPR", "log_loss": "log loss",
    "brier": "Brier", "calibration": "calibration", "coverage": "decided", "contradictions": "contradictions",
}  # fmt: skip
_NUMBER_METRICS = {"n": "n", "rmse": "RMSE", "mae": "MAE", "r2": "R²", "coverage": "decided"}
_ENDS = {
    "epochs": "all that were allowed",
    "patience": "then stopped: no gain in a long while",
    "solved": "then every label was met exactly",
    "interrupted": "then interrupted",
}
_WORDS = re.compile(r"\s+|[\w.]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Fit(Fitted):
    """The outcome of `KnowledgeBase.fit`: scores, loss and values (see `lnnkit.scores.Fitted`), and their page."""

    def to_html(self, title: str = "Training") -> str:
        """A self-contained HTML page: the rules before and after, the scores, and losses, parameters, thresholds and
        calibration as charts. Needs ``lnnkit[report]``; raises `Error` without it."""
        require("a report of training", "matplotlib")
        return document(title, _fragment(self, title))

    def _repr_html_(self) -> str:
        return str(_fragment(self, "Training"))


def _fragment(fit: Fitted, title: str) -> Markup:
    """The report as a fragment of a page; without matplotlib it has a note in place of the charts."""
    drawn = installed("matplotlib")
    changed = [(name, *_changes(before, after)) for name, before, after in fit.evidence.rules if before != after]
    same = [after for _, before, after in fit.evidence.rules if before == after]
    said = {"title": title, "summary": _summary(fit), "warnings": fit.warnings, "scores": list(_scores(fit))}
    parts = (_losses, _parameters, _thresholds, _calibrations) if drawn else ()
    sections = [section for part in parts if (section := part(fit))[2]]
    return rendered("training.html", rules=changed, same=same, sections=sections, drawn=drawn, **said)


def _summary(fit: Fitted) -> str:
    epochs = fit.history[-1].epoch if fit.history else 0
    restarts = len({entry.restart for entry in fit.history})
    starts = f" {restarts} starts were made." if restarts > 1 else ""
    return f"{counted(epochs, 'epoch')}, {_ENDS[fit.stopped]}.{starts} The final loss is {fit.loss:.4g}."


def _changes(before: str, after: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Both texts as pieces, each marked as shared with the other text or not."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    left = [("".join(old[a:b]), kind != "equal") for kind, a, b, _, _ in steps]
    return left, [("".join(new[c:d]), kind != "equal") for kind, _, _, c, d in steps]


def _scores(fit: Fitted) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The heads and rows of the scores of predicates and of numbers, before and after, where there are any."""
    parts = list(zip(("training", "validation"), fit.evidence.before, (fit.train, fit.validation), strict=True))
    for kind, metrics in (("predicates", _METRICS), ("numbers", _NUMBER_METRICS)):
        rows = [
            [f"{name}, {part}", *(_change(getattr(old, kind, {}).get(name), score, metric) for metric in metrics)]
            for part, old, new in parts
            for name, score in getattr(new, kind, {}).items()
        ]
        if rows:
            yield ["labels", *metrics.values()], rows


def _change(before: object | None, after: object, metric: str) -> str:
    values = [getattr(score, metric) for score in (before, after) if score is not None]
    shown = ["–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.3f}" for value in values]
    return shown[0] if len(set(shown)) == 1 else " → ".join(shown)


# --- charts -----------------------------------------------------------------------------------------------------------

Figure = tuple[str, "Markup", str]  # a heading, the chart, and a caption
Section = tuple[str, str, list[Figure]]  # a heading, what it shows, and the charts


def _losses(fit: Fitted) -> Section:
    history, kept = fit.history, fit.evidence.kept

    def curve(name: str, value: Callable[[Epoch], float | None]) -> Curve:
        values = [value(entry) for entry in history]
        return name, [math.nan if number is None else number for number in values]

    losses = [curve("training labels, all terms", lambda entry: entry.loss)]
    if any(entry.validation is not None for entry in history):
        losses.append(curve("validation labels", lambda entry: entry.validation))
    which, note = "validation", "Validation labels are held back: nothing is learned from them."
    if fit.validation is None:
        which, note = "training", "No labels were held back to validate."
    figures = [("loss", curves(history, losses, kept, "loss", "positive"), "")] if history else []
    names = dict.fromkeys(name for entry in history for name, value in entry.terms.items() if value)
    for name in names if len(names) > 1 else ():
        term = curve(name, lambda entry, name=name: entry.terms.get(name))
        figures.append((f"loss term: {name}", curves(history, [term], kept, name, "positive"), ""))
    if any(entry.accuracy is not None for entry in history):
        accuracy = curve(f"on {which} labels", lambda entry: entry.accuracy)
        figures.append((f"accuracy on {which} labels", curves(history, [accuracy], kept, "accuracy", "share"), ""))
    return "Losses", f"The training loss, each of its terms on an axis of its own, and the accuracy. {note}", figures


def _parameters(fit: Fitted) -> Section:
    """Weights, biases and truths, one chart for each rule; thresholds have charts of their own."""
    history, evidence = fit.history, fit.evidence
    pictured = {threshold.name for threshold in evidence.thresholds}
    rules: dict[str, list[LearnedNumber]] = {}
    for number in evidence.parameters if history else ():
        if number.name not in pictured:
            rules.setdefault(number.rules[0] if len(number.rules) == 1 else "several rules", []).append(number)
    moved = {number.name: _moved(history, number.name) for number in evidence.parameters}
    order = sorted(rules, key=lambda rule: -max(moved[number.name] for number in rules[rule]))
    figures: list[Figure] = []
    for rule in order[:_CHARTS]:
        numbers = sorted(rules[rule], key=lambda number: -moved[number.name])
        drawn = [(_label(number), [entry.values.get(number.name, math.nan) for entry in history]) for number in numbers]
        more = f"Of {len(numbers)}, only the {NAMED} that moved most are named." if len(numbers) > NAMED else ""
        only = f": {drawn[0][0]}" if len(drawn) == 1 else ""
        figures.append((f"{rule}{only}", curves(history, drawn, evidence.kept, "value", width=460), more))
    return "Weights, biases and truths", _most("rules whose parameters moved most", len(order)), figures


def _thresholds(fit: Fitted) -> Section:
    thresholds = fit.evidence.thresholds
    shown = sorted(thresholds, key=lambda threshold: -_moved(fit.history, threshold.name))[:_CHARTS]
    figures: list[Figure] = []
    for threshold in shown:
        before = fit.history[0].values.get(threshold.name) if fit.history else None
        about = f"Labels of {threshold.predicate}." if threshold.predicate else "No label is about these entities."
        figures.append((threshold.comparison, histogram(threshold, before, fit.values[threshold.name]), about))
    note = f"What each threshold is compared with, in the data. {_most('that moved most', len(thresholds))}"
    return "Thresholds", note, figures


def _calibrations(fit: Fitted) -> Section:
    figures: list[Figure] = []
    for predictions in sorted(fit.evidence.predictions, key=lambda predictions: -len(predictions.wanted))[:_CHARTS]:
        held = int(predictions.held.sum())
        note = f"{len(predictions.wanted):,} labels{f', {held:,} of them held back' if held else ''}."
        figures.append((predictions.predicate, calibration(predictions), note))
    note = "The mean of the labels over that of the answers, in ten bins; the bars beneath count the answers in each."
    return "Calibration", note, figures


def _most(what: str, many: int) -> str:
    return f"The {_CHARTS} {what}, of {many}." if many > _CHARTS else ""


def _moved(history: Sequence[Epoch], name: str) -> float:
    values = [entry.values[name] for entry in history if name in entry.values]
    return max(values) - min(values) if values else 0.0


def _label(number: LearnedNumber) -> str:
    said = {"bias": f"bias of {number.of}", "lower": "truth, at least", "upper": "truth, at most"}
    return said.get(number.kind, number.of)
