"""The charts of a report of training: matplotlib figures as SVG in a page's colours, with tooltips."""

from __future__ import annotations

import io
import itertools
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lnnkit.markup.pages import PALETTE, shortened, visible
from lnnkit.scores import Epoch, Predictions, Threshold

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PIXELS = 72  # per inch, so that a point of the figure is a pixel of the page
_TAG = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)
_CLUTTER = re.compile(r' id="[A-Za-z.]+_\d+"| xmlns(:\w+)?="[^"]*"')
_FONT = re.compile(r"(font: (?:\d+ )?[\d.]+px)[^;\"]*")
_ROLES = {shade.light: role for role, shade in PALETTE.items()}
NAMED = 8  # curves of a chart that have their own name, colour and dashes
_DASHES = ("-", "--", "-.", ":")
_LETTERS = 60  # greatest length of a name
_DECADES = 2.0  # decades that positive values span before their axis becomes logarithmic
_MOST_BARS = 40
_FAR_OUT = 0.01  # share of the data on either side that a histogram may leave out, if it would take most of the width
_BINS = 10

Curve = tuple[str, Sequence[float]]  # a name, and a number for each entry of the history, nan if there is none


def colour(role: str) -> str:
    """The light colour of a role; the page replaces it by the dark one."""
    return PALETTE[role].light


@dataclass(slots=True)
class Chart:
    """A figure that is being drawn, its ``axes`` from top to bottom, the tooltips (``tips``) of its parts, and the
    ``legend`` beneath the axes: what the colours mean."""

    figure: Figure
    axes: Sequence[Axes]
    tips: list[str] = field(default_factory=list)
    legend: dict[Artist, str] = field(default_factory=dict)

    def tip(self, artist: Artist, words: str) -> None:
        """Show ``words`` as the artist's tooltip."""
        artist.set_gid(f"tip-{len(self.tips)}-")
        self.tips.append(visible(words))

    def svg(self, label: str, columns: int = 1) -> Markup:
        """The ``<svg>`` element; ``label`` describes it for screen readers. The legend has so many ``columns``."""
        from markupsafe import Markup, escape

        if self.legend:  # matplotlib hides labels that start with an underscore
            names = [re.sub("^_", " _", visible(name)) for name in self.legend.values()]
            self.figure.legend(list(self.legend), names, loc="outside lower left", ncols=columns)
        made = io.StringIO()
        self.figure.savefig(made, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        text = _TAG.sub(lambda tag: _restyled(tag.group()), made.getvalue().partition("<svg")[2])
        for number, words in enumerate(self.tips):
            text = text.replace(f'<g id="tip-{number}-">', f"<g><title>{escape(words)}</title>", 1)
        width, height = (round(inches * _PIXELS) for inches in self.figure.get_size_inches())
        root = f'<svg role="img" aria-label="{escape(visible(label))}" viewBox="0 0 {width} {height}" width="{width}"'
        return Markup(f'{root} style="max-width: 100%; height: auto"{text[text.index(">") :]}')


def _restyled(tag: str) -> str:
    """A tag with the page's fonts and colours, without attributes that only a separate file needs."""
    if tag.startswith("<style"):
        return ""
    tag = _FONT.sub(r"\1 system-ui, sans-serif", _CLUTTER.sub("", tag).replace("xlink:href", "href"))
    return re.sub("#[0-9a-f]{6}", lambda match: f"var(--lnn-{_ROLES[match.group()]})", tag)


@contextmanager
def chart(width: float, height: float, *, heights: Sequence[float] = (1,)) -> Iterator[Chart]:
    """A chart of a size in pixels, its axes below each other. matplotlib's settings are restored."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    soft = colour("soft")
    style: dict[Any, Any] = {
        "font.family": "DejaVu Sans", "font.size": 10, "svg.fonttype": "none", "svg.hashsalt": "lnnkit",
        "text.parse_math": False, "figure.facecolor": "none", "axes.facecolor": "none", "axes.spines.top": False,
        "axes.spines.right": False, "axes.edgecolor": soft, "axes.labelcolor": soft, "xtick.color": soft,
        "ytick.color": soft, "axes.grid": True, "axes.grid.axis": "y", "grid.color": colour("rule"),
        "grid.linewidth": 0.8, "axes.axisbelow": True, "legend.frameon": False, "legend.labelcolor": colour("ink"),
    }  # fmt: skip
    with mpl.rc_context(style), warnings.catch_warnings():
        # the text is drawn by the browser, in its own fonts
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure = Figure((width / _PIXELS, height / _PIXELS), dpi=_PIXELS, layout="constrained")
        axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        yield Chart(figure, list(axes))


def curves(
    history: Sequence[Epoch], drawn: Sequence[Curve], kept: int | None, label: str, axis: str = "", width: float = 380.0
) -> Markup:
    """Curves over the epochs, restarts after one another; a line marks the entry ``kept``. Of more than `NAMED`, the
    others are grey. The ``axis`` of "positive" values is logarithmic where they span decades, a "share" ends at 1."""
    from matplotlib.ticker import MaxNLocator

    restarts = [list(run) for _, run in itertools.groupby(range(len(history)), lambda entry: history[entry].restart)]
    places: list[float] = []
    with chart(width, 200.0 + 16 * (min(len(drawn), NAMED) if len(drawn) > 1 else 0)) as made:
        (axes,) = made.axes
        for run in restarts:
            begin = places[-1] if places else 0.0
            places += [begin + history[entry].epoch for entry in run]
            if run[0]:
                axes.axvline(begin, color=colour("faint"), linewidth=0.8, linestyle=":")
        for _, values in drawn[NAMED:]:
            _line(axes, restarts, places, values, color=colour("faint"), linewidth=0.8)
        for number, (name, values) in enumerate(drawn[:NAMED]):
            style = {"color": colour(f"series-{number + 1}"), "linestyle": _DASHES[number % len(_DASHES)]}
            line = _line(axes, restarts, places, values, linewidth=1.8, **style)
            made.legend |= {line: shortened(name, _LETTERS)} if len(drawn) > 1 else {}
        if kept is not None and kept < len(places):
            axes.axvline(places[kept], color=colour("ink"), linewidth=1.0, linestyle="--")
            axes.annotate(
                "kept", (places[kept], 1), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", ha="center", color=colour("ink"),
            )  # fmt: skip
        axes.set_xlabel("epoch" if len(restarts) < 2 else "epoch, of all restarts")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        values = [value for _, curve in drawn for value in curve if math.isfinite(value)]
        if axis == "share":
            low = math.floor(min([0.9, *values]) * 10 + 1e-9) / 10
            axes.set_ylim(low, 1.0 + (1.0 - low) / 50)  # so that a line at 1 is not cut in half
        elif axis == "positive":
            _positive(axes, values)
        return made.svg(f"{label} by epoch: {', '.join(name for name, _ in drawn[:NAMED])}")


def _line(
    axes: Axes, restarts: Sequence[Sequence[int]], places: Sequence[float], values: Sequence[float], **style: Any
) -> Artist:
    """A line for each restart, with gaps between them; a single point is drawn as a dot."""
    pieces = [[entry for entry in run if math.isfinite(values[entry])] for run in restarts]
    x = [at for piece in pieces for at in (*(places[entry] for entry in piece), math.nan)]
    y = [at for piece in pieces for at in (*(values[entry] for entry in piece), math.nan)]
    marker = "o" if any(len(piece) == 1 for piece in pieces) else ""
    (line,) = axes.plot(x, y, marker=marker, markersize=4, **style)
    return line


def _positive(axes: Axes, values: Sequence[float]) -> None:
    above = [value for value in values if value > 0] or [1.0]
    if math.log10(max(above) / min(above)) > _DECADES:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(max(min(above), max(above) * 1e-6) / 2, max(above) * 2)
    else:
        axes.set_ylim(0.0, 1.05 * max([*values, 1e-9]))


# --- thresholds -------------------------------------------------------------------------------------------------------


def histogram(threshold: Threshold, before: float | None, after: float) -> Markup:
    """The values that a threshold is compared with, by label; ``before`` (None: it had none) and ``after`` are its."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    finite = np.isfinite(threshold.turns)
    values, truths = threshold.turns[finite], threshold.truths[finite]
    before = before if before is not None and math.isfinite(before) else None
    edges = _edges(values, [after] if before is None else [before, after])
    shown = np.clip(values, edges[0], edges[-1])
    with chart(460.0, 260.0) as made:
        (axes,), foot = made.axes, np.zeros(len(edges) - 1)
        for kind, mask in (("true", truths > 0.5), ("false", truths <= 0.5), ("none", np.isnan(truths))):
            count, shade = np.histogram(shown[mask], edges)[0], colour(f"tone-{kind}")
            words = "without label" if kind == "none" else f"label {kind}"
            bars = axes.bar(edges[:-1], count, np.diff(edges), foot, align="edge", color=shade)
            for bar, rows, low, high in zip(bars, count, edges[:-1], edges[1:], strict=True):
                if rows:
                    made.tip(bar, f"{low:.6g} to {high:.6g}: {rows:,} {words}")
                else:
                    bar.remove()
            made.legend |= {Patch(color=shade): words} if count.any() else {}
            foot += count
        same = before is not None and math.isclose(before, after, rel_tol=1e-6, abs_tol=1e-12)
        if before is not None and not same:
            dashed = axes.axvline(before, color=colour("soft"), linewidth=1.5, linestyle="--")
            made.legend[dashed] = f"before {before:.6g}"
        whole = axes.axvline(after, color=colour("ink"), linewidth=2.0)
        made.legend[whole] = f"{'unmoved' if same else 'after'} {after:.6g}"
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set(ylim=(0, max(1.0, 1.05 * float(foot.max(initial=0)))), ylabel="rows")
        beyond = int(((values < edges[0]) | (values > edges[-1])).sum())
        note = f"; {beyond:,} beyond the edges, in the outermost bars" if beyond else ""
        name = "the constant" if "/" in threshold.name else f"?{shortened(threshold.name, 24)}"
        axes.set_xlabel(f"value of {name} at which a row's comparison changes\n({len(values):,} rows{note})")
        return made.svg(f"histogram of {len(values)} values that {threshold.name} is compared with", columns=3)


def _edges(values: np.ndarray, marks: Sequence[float]) -> np.ndarray:
    """The edges of the bars, whole for whole numbers: they cover the marks, and all data but a few far-out values."""
    low, high = min(marks), max(marks)
    if len(values):
        inner = [float(end) for end in np.quantile(values, [_FAR_OUT, 1 - _FAR_OUT])]
        margin = inner[1] - inner[0]
        near = values[(values >= inner[0] - margin) & (values <= inner[1] + margin)] if margin > 0 else values
        low, high = min(float(near.min()), low), max(float(near.max()), high)
        if high - low < 2**31 and np.array_equal(values, np.round(values)):
            step = math.ceil((high - low + 1) / _MOST_BARS)
            count = math.ceil((math.ceil(high) - math.floor(low) + 1) / step)
            return math.floor(low) - 0.5 + step * np.arange(count + 1)
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        half = max(abs(low) / 2, 0.5)
        low, high = low - half, high + half
    count = int(np.clip(math.sqrt(len(values)) * 2, 8, _MOST_BARS))
    return np.linspace(low, high, count + 1)


# --- calibration ------------------------------------------------------------------------------------------------------


def calibration(predictions: Predictions) -> Markup:
    """Labels against answers in ten bins, before (squares) and after fitting (dots): a mark for each non-empty bin at
    the means, its size by the number of answers. Below, a histogram of the answers."""
    with chart(380.0, 360.0, heights=(4, 1)) as made:
        axes, counts = made.axes
        (diagonal,) = axes.plot([0, 1], [0, 1], color=colour("faint"), linewidth=1.0, linestyle="--")
        for name, answers, role, marker, shift in (
            ("before", predictions.before, "series-2", "s", 0.01),
            ("after", predictions.after, "series-1", "o", 0.05),
        ):
            bins = list(_bins(answers, predictions.wanted))
            (line,) = axes.plot(
                [mean for *_, mean, _ in bins], [truth for *_, truth in bins], color=colour(role), linewidth=1.2,
                marker=marker, markersize=5,
            )  # fmt: skip
            made.legend[line] = name
            for place, many, mean, truth in bins:
                size = 3.0 + 6.0 * (many / len(answers)) ** 0.5
                (mark,) = axes.plot([mean], [truth], marker, color=colour(role), markersize=2 * size)
                made.tip(mark, f"{name}: {many:,} answers of {mean:.3f} on average, labels {truth:.3f}")
                (bar,) = counts.bar([place / _BINS + shift], [many], 0.04, align="edge", color=colour(role))
                made.tip(bar, f"{name}: {many:,} answers")
        made.legend[diagonal] = "right on average"
        axes.set(xlim=(-0.06, 1.06), ylim=(-0.06, 1.06), ylabel="mean of labels")
        counts.set(xlabel="mean of answers", ylabel="answers")
        return made.svg(f"calibration of {predictions.predicate} over {len(predictions.wanted)} labels", columns=3)


def _bins(answers: np.ndarray, wanted: np.ndarray) -> Iterator[tuple[int, int, float, float]]:
    """The place of each bin that is not empty, how many answers it has, and the means of these and of their labels."""
    places = np.clip((answers * _BINS).astype(np.int64), 0, _BINS - 1)
    for place in np.unique(places).tolist():
        mask = places == place
        yield place, int(mask.sum()), float(answers[mask].mean()), float(wanted[mask].mean())
