"""matplotlib figures as SVG within a page: in the page's light or dark colours, with tooltips."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lnnkit.markup.palette import PALETTE
from lnnkit.markup.templating import visible

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PIXELS = 72  # per inch, so that a point of the figure is a pixel of the page
_TAG = re.compile(r"<style.*?</style>|<[^>]*>", re.DOTALL)
_CLUTTER = re.compile(r' id="[A-Za-z.]+_\d+"| xmlns(:\w+)?="[^"]*"')
_FONT = re.compile(r"(font: (?:\d+ )?[\d.]+px)[^;\"]*")
_ROLES = {each.light: role for role, each in PALETTE.items()}


def colour(role: str) -> str:
    """The light colour of a role; the page replaces it by the dark one."""
    return PALETTE[role].light


@dataclass(slots=True)
class Chart:
    """A figure that is being drawn, its ``axes`` from top to bottom, and the tooltips (``tips``) of its parts."""

    figure: Figure
    axes: Sequence[Axes]
    tips: list[str] = field(default_factory=list)

    def tip(self, artist: Artist, words: str) -> None:
        """Show ``words`` as the artist's tooltip."""
        artist.set_gid(f"tip-{len(self.tips)}-")
        self.tips.append(visible(words))

    def legend(self, entries: Sequence[tuple[Artist, str]], columns: int = 1) -> None:
        """What the colours mean, beneath the axes."""
        names = [visible(name) for _, name in entries]
        # matplotlib hides labels that start with an underscore
        names = [f" {name}" if name.startswith("_") else name for name in names]
        handles = [artist for artist, _ in entries]
        self.figure.legend(
            handles, names, loc="outside lower left", ncols=columns, frameon=False, labelcolor=colour("ink")
        )

    def svg(self, label: str) -> Markup:
        """The ``<svg>`` element; ``label`` describes it for screen readers."""
        from markupsafe import Markup, escape

        made = io.StringIO()
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        self.figure.savefig(made, format="svg", metadata=nothing)
        text = made.getvalue()
        text = _TAG.sub(lambda tag: _restyled(tag.group()), text[text.index("<svg") :])
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
    return re.sub("#[0-9a-f]{6}", lambda found: f"var(--lnn-{_ROLES[found.group()]})", tag)


@contextmanager
def chart(width: float, height: float, *, heights: Sequence[float] = (1,)) -> Iterator[Chart]:
    """A chart of a size in pixels, its axes below each other. matplotlib's settings are restored."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with (
        mpl.rc_context(
            {
                "font.family": "DejaVu Sans",
                "font.size": 10,
                "svg.fonttype": "none",
                "svg.hashsalt": "lnnkit",
                "text.parse_math": False,
            }
        ),
        warnings.catch_warnings(),
    ):
        # the text is drawn by the browser, in its own fonts
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure = Figure((width / _PIXELS, height / _PIXELS), dpi=_PIXELS, layout="constrained", facecolor="none")
        axes = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for each in axes:
            each.set_facecolor("none")
            each.spines[["top", "right"]].set_visible(False)
            each.spines[["left", "bottom"]].set_color(colour("soft"))
            each.tick_params(colors=colour("soft"))
            each.grid(axis="y", color=colour("rule"), linewidth=0.8)
            each.set_axisbelow(True)
            each.xaxis.label.set_color(colour("soft"))
            each.yaxis.label.set_color(colour("soft"))
        yield Chart(figure, list(axes))
