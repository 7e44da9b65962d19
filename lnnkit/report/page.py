"""A report of training: a page that needs nothing beside it."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence

from lnnkit.report.calibration import AFTER, BEFORE, calibration
from lnnkit.report.chart import FAINT, LINES
from lnnkit.report.curves import Curve, curves
from lnnkit.report.histogram import FALSE, TRUE, UNLABELLED, histogram
from lnnkit.report.scale import positive, share
from lnnkit.scores import Epoch, Evidence, Fitted, Learned, Score, Scores

_STYLE = """
.lnn-report { font: 14px/1.5 system-ui, sans-serif; color: #1d2433; background: #fff; max-width: 1180px; }
.lnn-report h1 { font-size: 22px; margin: 0 0 .2em; } .lnn-report h2 { font-size: 17px; margin: 1.6em 0 .4em; }
.lnn-report h3 { font-size: 14px; margin: .4em 0 .1em; font-weight: 600; }
.lnn-report p { margin: .3em 0; color: #4a5366; max-width: 75ch; }
.lnn-report svg { max-width: 100%; height: auto; font: 11px system-ui, sans-serif; display: block; }
.lnn-report svg text { paint-order: stroke; stroke: #fff; stroke-width: 3px; stroke-linejoin: round; }
.lnn-report .charts { display: flex; flex-wrap: wrap; gap: 6px 28px; align-items: flex-start; }
.lnn-report figure { margin: 0 0 .6em; max-width: 100%; } .lnn-report figcaption { color: #5b6577; max-width: 62ch; }
.lnn-report code, .lnn-report pre { font: 12.5px/1.5 ui-monospace, Consolas, monospace; }
.lnn-report pre { background: #f5f6f9; padding: .6em .9em; border-radius: 4px; white-space: pre-wrap; margin: .3em 0; }
.lnn-report pre.was { color: #6a7385; }
.lnn-report table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.lnn-report th, .lnn-report td { padding: .2em .7em; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #e4e7ee; font-size: 13px; }
.lnn-report th:first-child, .lnn-report td:first-child { text-align: left; padding-left: 0; }
.lnn-report th { font-weight: 600; color: #4a5366; } .lnn-report .scroll { overflow-x: auto; }
.lnn-report .key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .35em 0 .2em; }
"""
_NAMED = 8  # curves of a chart that have a name and a colour of their own
_CHARTS = 12  # rules, thresholds or predicates that have one
_METRICS = (
    ("accuracy", "accuracy"),
    ("auroc", "AUROC"),
    ("aupr", "AUPR"),
    ("log_loss", "log loss"),
    ("brier", "Brier"),
    ("calibration", "calibration"),
    ("coverage", "decided"),
    ("contradictions", "contradictions"),
)


def page(fit: Fitted, title: str) -> str:
    """A whole document."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width"><style>body { margin: 1.5em; background: #fff; }</style>'
        f"</head>\n<body>{fragment(fit, title)}</body></html>\n"
    )


def fragment(fit: Fitted, title: str = "Training") -> str:
    """The same to be put into a page."""
    parts = [f'<div class="lnn-report"><style>{_STYLE}</style><h1>{html.escape(title)}</h1>', _summary(fit)]
    evidence = fit.evidence
    parts += _findings(fit)
    parts += _scores(fit, evidence)
    parts += _losses(fit, evidence)
    if evidence is not None:
        parts += _parameters(fit.history, evidence)
        parts += _thresholds(fit, evidence)
        parts += _calibrations(evidence)
        parts += _rules(evidence)
    return "".join([*parts, "</div>"])


def _summary(fit: Fitted) -> str:
    epochs = fit.history[-1].epoch if fit.history else 0
    why = {
        "epochs": "all that were allowed",
        "patience": "then stopped, without gain for long",
        "interrupted": "then interrupted",
    }.get(fit.stopped, fit.stopped)
    restarts = len({entry.restart for entry in fit.history})
    again = f" {restarts} starts were made." if restarts > 1 else ""
    made = "1 epoch" if epochs == 1 else f"{epochs:,} epochs"
    return f"<p>{made}, {html.escape(why)}.{again} The final loss is {fit.loss:.4g}.</p>"


def _findings(fit: Fitted) -> Iterator[str]:
    if fit.warnings:
        yield "<h2>Findings</h2>"
        for each in fit.warnings:
            yield f"<p>{html.escape(each.message)}. {html.escape(each.hint)}.</p>"


def _scores(fit: Fitted, evidence: Evidence | None) -> Iterator[str]:
    parts: list[tuple[str, Scores | None, Scores | None]] = [("training", evidence and evidence.before[0], fit.train)]
    if fit.validation is not None:
        parts.append(("validation", evidence and evidence.before[1], fit.validation))
    yield "<h2>Scores</h2>"
    if evidence is not None:
        yield "<p>Each score before training → after it.</p>"
    heads = "".join(f"<th>{name}</th>" for _, name in _METRICS)
    yield f'<div class="scroll"><table><tr><th>labels</th><th>n</th><th>true</th>{heads}</tr>'
    for name, before, after in parts:
        for predicate, score in after.predicates.items() if after is not None else ():
            old = None if before is None else before.predicates.get(predicate)
            cells = "".join(f"<td>{_change(old, score, metric)}</td>" for metric, _ in _METRICS)
            yield (
                f"<tr><td>{html.escape(predicate)}, {name}</td><td>{score.n:,}</td><td>{score.positives:,}</td>"
                f"{cells}</tr>"
            )
    yield "</table></div>"


def _change(before: Score | None, after: Score, metric: str) -> str:
    shown = [_cell(getattr(each, metric)) for each in (before, after) if each is not None]
    return shown[0] if len(set(shown)) == 1 else " → ".join(shown)


def _cell(value: float | int | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _losses(fit: Fitted, evidence: Evidence | None) -> Iterator[str]:
    history = fit.history
    if not history:
        return
    names = dict.fromkeys(name for entry in history for name, value in entry.terms.items() if value)
    drawn = [Curve("training, all terms", [entry.loss for entry in history], LINES[0])]
    drawn += [
        Curve(name, [entry.terms.get(name, math.nan) for entry in history], colour, "2 2")
        for name, colour in zip(names if len(names) > 1 else (), LINES[2:], strict=False)
    ]
    if any(entry.validation is not None for entry in history):
        held = [math.nan if entry.validation is None else entry.validation for entry in history]
        drawn.append(Curve("validation labels", held, LINES[1]))
    kept = None if evidence is None else evidence.kept
    which, said = "validation", "The training loss with its terms, and the loss of the labels held back."
    if fit.validation is None:
        which, said = "training", "The training loss with its terms. No labels were held back to validate."
    accuracy = Curve(
        f"on {which} labels", [math.nan if entry.accuracy is None else entry.accuracy for entry in history], LINES[0]
    )
    losses = curves(history, drawn, kept, title="loss", width=660, height=290, upward=positive)
    accuracies = curves(history, [accuracy], kept, title="accuracy", width=460, height=290, upward=share)
    yield f"<h2>Losses</h2><p>{said}</p>"
    yield f'<div class="charts"><figure>{losses}</figure><figure>{accuracies}</figure></div>'


def _parameters(history: Sequence[Epoch], evidence: Evidence) -> Iterator[str]:
    """Weights, biases and truths, a chart a rule; thresholds have pictures of their own."""
    pictured = {each.name for each in evidence.thresholds}
    rules: dict[str, list[Learned]] = {}
    for each in evidence.parameters:
        if each.name not in pictured:
            rules.setdefault(each.rules[0] if len(each.rules) == 1 else "several rules", []).append(each)
    if not rules or not history:
        return
    moved = {each.name: _moved(history, each.name) for own in rules.values() for each in own}
    order = sorted(rules, key=lambda rule: -max(moved[each.name] for each in rules[rule]))
    yield "<h2>Weights, biases and truths</h2>"
    left = len(order) - _CHARTS
    if left > 0:
        yield f"<p>The {_CHARTS} rules whose parameters moved most, of {len(order)}.</p>"
    yield '<div class="charts">'
    for rule in order[:_CHARTS]:
        own = sorted(rules[rule], key=lambda each: -moved[each.name])
        drawn = [
            Curve(
                _label(each) if place < _NAMED else "",
                [entry.values.get(each.name, math.nan) for entry in history],
                LINES[place] if place < _NAMED else FAINT,
            )
            for place, each in enumerate(own)
        ]
        more = f" ({_NAMED} of {len(own)} named: those that moved most)" if len(own) > _NAMED else ""
        drawing = curves(history, drawn, evidence.kept, title="value")
        yield f"<figure><h3>{html.escape(rule)}{more}</h3>{drawing}</figure>"
    yield "</div>"


def _moved(history: Sequence[Epoch], name: str) -> float:
    values = [entry.values[name] for entry in history if name in entry.values]
    return max(values) - min(values) if values else 0.0


def _label(each: Learned) -> str:
    if each.kind == "bias":
        return f"bias of {each.of}"
    return {"lower": "truth, at least", "upper": "truth, at most"}.get(each.kind, each.of)


def _thresholds(fit: Fitted, evidence: Evidence) -> Iterator[str]:
    if not evidence.thresholds:
        return
    yield "<h2>Thresholds</h2>"
    yield (
        f"<p>{_key(TRUE, 'label true')} {_key(FALSE, 'label false')} {_key(UNLABELLED, 'no label')}"
        " &nbsp; What each threshold is compared with, in the data.</p>"
    )
    left = len(evidence.thresholds) - _CHARTS
    shown = sorted(evidence.thresholds, key=lambda each: -_moved(fit.history, each.name))[:_CHARTS]
    if left > 0:
        yield f"<p>The {_CHARTS} that moved most, of {len(evidence.thresholds)}.</p>"
    yield '<div class="charts">'
    for each in shown:
        before = fit.history[0].values.get(each.name) if fit.history else None
        about = f"labels of {html.escape(each.predicate)}" if each.predicate else "no label is about these entities"
        yield (
            f"<figure><h3><code>{html.escape(each.comparison)}</code></h3>"
            f"{histogram(each, before, fit.values[each.name])}<figcaption>{about}</figcaption></figure>"
        )
    yield "</div>"


def _calibrations(evidence: Evidence) -> Iterator[str]:
    if not evidence.predictions:
        return
    yield "<h2>Calibration</h2>"
    yield (
        f"<p>{_key(BEFORE, 'before')} {_key(AFTER, 'after')} &nbsp; The mean of the labels over that of the answers, "
        "in ten bins; the bars beneath count the answers in each. On the dashed line they are right on the average.</p>"
    )
    yield '<div class="charts">'
    for own in sorted(evidence.predictions, key=lambda each: -len(each.wanted))[:_CHARTS]:
        held = int(own.held.sum())
        said = f"{len(own.wanted):,} labels" + (f", {held:,} of them held back" if held else "")
        yield (
            f"<figure><h3>{html.escape(own.predicate)}</h3>{calibration(own)}<figcaption>{said}</figcaption></figure>"
        )
    yield "</div>"


def _rules(evidence: Evidence) -> Iterator[str]:
    if not evidence.rules:
        return
    yield "<h2>Rules</h2><p>As they were, and as they are now.</p>"
    for _, before, after in evidence.rules:
        if before != after:
            yield f'<pre class="was">{html.escape(before)}</pre>'
        yield f"<pre>{html.escape(after)}</pre>"


def _key(colour: str, words: str) -> str:
    return f'<span class="key" style="background:{colour}"></span>{words}'
