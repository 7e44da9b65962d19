"""A picture: boxes and arrows, laid out by Graphviz where its ``dot`` is installed, else in layers by networkx, and
drawn as SVG, PNG, DOT or a page. PNG is made by resvg, with the font that matplotlib brings: both are in the extra
``lnnkit[report]``."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
from rich.cells import cell_len

from lnnkit.markup.optional_libraries import require
from lnnkit.markup.pages import document, rendered
from lnnkit.picture.boxes import CELL, FONT_SIZE, LINE, Arrow, Box, Drawing, dot, legend

if TYPE_CHECKING:
    from markupsafe import Markup

_LEAST = 340.0  # least width in pixels, so that a legend has room
_LEGEND = 500.0  # greatest width in pixels, to fit a phone without scrolling
_ROW, _SWATCH = 19.0, 40.0  # pixels: the height of a row of the legend, and the width of a sample without its words
_ZOOM = 2.0  # pixels per point, as on displays of phones and laptops
_MOST = 4e7  # pixels, which take 160 MB; larger pictures get fewer per point
_GAP_X, _GAP_Y, _MARGIN = 22.0, 46.0, 12.0
_SWEEPS = 8  # passes over the layers; after these, the order of boxes no longer changes in any example
_PASSED = 5_000  # layers that all arrows together may pass through, about a second; with more, arrows are straight
_PATIENCE = 20  # seconds that Graphviz may take
_LIMITS = ("-Gnslimit=2", "-Gnslimit1=2")  # of its simplex: 200 boxes on cycles take 0.25 s instead of 4, as compact

Point = tuple[float, float]
Paths = Mapping[tuple[str, str], Sequence[Hashable]]
"""The nodes that an arrow passes through, from the lower of its boxes to the upper one: these, and a node in each layer
between them."""


@dataclass(frozen=True)
class Picture(Drawing):
    """A drawing, with its forms."""

    def to_dot(self) -> str:
        """The picture in the DOT language."""
        return dot(self)

    def to_svg(self) -> str:
        """Laid out by Graphviz, or by networkx. Its colours follow the reader's scheme, light or dark."""
        return str(svg(self)) + "\n"

    def to_png(self) -> bytes:
        """The same as pixels, two to a point, in light colours. Needs ``lnnkit[report]``: `Error` without."""
        return png(self.to_svg())

    def to_html(self) -> str:
        """A page that needs nothing beside it."""
        return document(self.title, rendered("picture.html", picture=self, svg=svg(self), titled=True))

    def __repr__(self) -> str:
        more = f", {self.left_out:,} left out" if self.left_out else ""
        return f"Picture({self.title}: {len(self.boxes)} boxes, {len(self.arrows)} arrows{more})"

    def _repr_html_(self) -> str:
        return str(rendered("picture.html", picture=self, svg=svg(self), titled=False))

    def _repr_svg_(self) -> str:
        return self.to_svg()


def require_png() -> None:
    """Raises `Error` where the extra is not installed."""
    require("PNG", "resvg_py", "matplotlib")


def png(svg: str) -> bytes:
    """The picture ``svg`` in light colours. Raises `Error` where the extra is not installed."""
    require_png()
    import matplotlib
    import resvg_py

    frame = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert frame is not None
    zoom = min(_ZOOM, (_MOST / (int(frame[1]) * int(frame[2]))) ** 0.5)
    fonts = str(Path(matplotlib.get_data_path()) / "fonts" / "ttf")  # else no text is drawn on a system without fonts
    return resvg_py.svg_to_bytes(svg_string=svg, zoom=zoom, font_dirs=[fonts], monospace_family="DejaVu Sans Mono")


def svg(drawing: Drawing) -> Markup:
    """The ``<svg>`` element, in light colours, with a style that has those of the dark scheme; nothing is loaded."""
    places = layout(drawing)
    middles = [_middle(points) for points in places.arrows]
    labels = zip(middles, drawing.arrows, strict=True)
    right = max((x + CELL * len(arrow.label) for (x, _), arrow in labels if arrow.label), default=0.0) + _MARGIN
    samples = [(_SWATCH + CELL * cell_len(words), words, sample) for words, sample in legend(drawing)]
    width = max([places.width, right, _LEAST, *(taken + 2 * _MARGIN for taken, *_ in samples)])
    shown: list[tuple[float, float, str, Box | Arrow]] = []  # the legend, folded: each sample with its place
    left, top, most = _MARGIN, places.height, min(width, _LEGEND) - _MARGIN
    for taken, words, sample in samples:
        if shown and left + taken > most:
            left, top = _MARGIN, top + _ROW
        shown.append((left, top, words, sample))
        left += taken
    return rendered(
        "picture.svg",
        drawing=drawing,
        width=width,
        height=(top + _ROW if shown else places.height if drawing.boxes else 40.0) + _MARGIN,
        shift=(width - max(places.width, right)) / 2,
        font_size=FONT_SIZE,
        line_height=LINE,
        places=places,
        arrows=list(zip(drawing.arrows, map(_path, places.arrows), middles, strict=True)),
        legend=shown,
    )


def _path(points: Sequence[Point]) -> str:
    """The ``d`` of a chain of cubic curves."""
    pairs = [f"{x:.1f},{y:.1f}" for x, y in points]
    return f"M{pairs[0]} C{' '.join(pairs[1:])}"


def _middle(points: Sequence[Point]) -> Point:
    """The position of a label beside the middle of an arrow's first curve."""
    x, y = ((a + 3 * b + 3 * c + d) / 8 for a, b, c, d in zip(*points[:4], strict=True))
    return x + 5, y + 4


# --- layout -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """The centres of the boxes by name; of each arrow the 3 n + 1 points of a chain of cubic Bézier curves."""

    centres: Mapping[str, Point]
    arrows: Sequence[Sequence[Point]]
    width: float
    height: float


def layout(drawing: Drawing) -> Layout:
    """Positions of boxes that do not overlap, between (0, 0) and (width, height)."""
    graphviz = shutil.which("dot")
    if graphviz is not None and drawing.boxes:
        try:
            return _by_graphviz(drawing, graphviz)
        except (OSError, subprocess.SubprocessError, ValueError, LookupError):
            pass  # it is broken or too slow
    return by_networkx(drawing)


def _within(drawing: Drawing, centres: Mapping[Hashable, Point], arrows: Sequence[Sequence[Point]]) -> Layout:
    """The layout, shifted so that it starts at a margin from (0, 0); a curve stays within the hull of its points."""
    reached = [point for points in arrows for point in points]
    for box in drawing.boxes:
        (x, y), (width, height) = centres[box.name], box.size
        reached += [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)]
    xs, ys = zip(*reached, strict=True) if reached else ((0.0,), (0.0,))
    left, top = min(xs) - _MARGIN, min(ys) - _MARGIN

    def shifted(point: Point) -> Point:
        return point[0] - left, point[1] - top

    return Layout(
        {box.name: shifted(centres[box.name]) for box in drawing.boxes},
        [list(map(shifted, points)) for points in arrows],
        max(xs) - left + _MARGIN,
        max(ys) - top + _MARGIN,
    )


# --- Graphviz ---------------------------------------------------------------------------------------------------------


def _by_graphviz(drawing: Drawing, graphviz: str) -> Layout:
    finished = subprocess.run(
        [graphviz, "-Tjson", *_LIMITS],
        input=dot(drawing, sized=True),
        capture_output=True,
        encoding="utf-8",
        timeout=_PATIENCE,
        check=True,
    )
    graph = json.loads(finished.stdout)
    placed = {node["name"]: _point(node["pos"]) for node in graph["objects"]}
    splines = {edge["id"]: list(map(_point, edge["pos"].split())) for edge in graph.get("edges", ())}
    centres: dict[Hashable, Point] = {box.name: placed[f"n{number}"] for number, box in enumerate(drawing.boxes)}
    return _within(drawing, centres, [splines[f"e{number}"] for number in range(len(drawing.arrows))])


def _point(text: str) -> Point:
    """Graphviz counts upwards from the bottom."""
    x, y = map(float, text.split(","))
    return x, -y


# --- networkx ---------------------------------------------------------------------------------------------------------


def by_networkx(drawing: Drawing) -> Layout:
    """A layered layout: each box is below the boxes that depend on it. Arrows that would close a cycle lead down;
    arrows that cross several layers take a position in each, unless there are too many."""
    sizes = {box.name: box.size for box in drawing.boxes}
    graph = nx.DiGraph()
    graph.add_nodes_from(sizes)
    graph.add_edges_from((arrow.source, arrow.target) for arrow in drawing.arrows if arrow.source != arrow.target)
    left = {node: place for place, node in enumerate(nx.dfs_postorder_nodes(graph))}
    upward = nx.create_empty_copy(graph)
    upward.add_edges_from((one, two) if left[one] > left[two] else (two, one) for one, two in graph.edges)
    levels = _levels(upward)
    passed = sum(levels[two] - levels[one] - 1 for one, two in upward.edges)
    paths = {
        (one, two): [one, *((one, two, n) for n in range(levels[one] + 1, levels[two]) if passed <= _PASSED), two]
        for one, two in upward.edges
    }
    centres = _packed(_rows(paths, levels), sizes)
    return _within(drawing, centres, [_curve(arrow, paths, centres, sizes) for arrow in drawing.arrows])


def _levels(upward: nx.DiGraph) -> dict[str, int]:
    """The layer of each box, from 0 at the bottom: the lowest, then moved up to just below what depends on it."""
    generations = list(nx.topological_generations(upward))
    levels = dict.fromkeys(upward, 0)  # in the order of the boxes, which decides where nothing else does
    levels |= {node: level for level, generation in enumerate(generations) for node in generation}
    for node in itertools.chain.from_iterable(reversed(generations)):
        levels[node] = min((levels[after] - 1 for after in upward.successors(node)), default=levels[node])
    return levels


def _rows(paths: Paths, levels: Mapping[str, int]) -> list[list[Hashable]]:
    """The layers, topmost first, each sorted by the mean position of a node's neighbours in the previous layer."""
    chains = nx.Graph()
    chains.add_nodes_from(levels)
    for path in paths.values():
        nx.add_path(chains, path)
    rows: list[list[Hashable]] = [[] for _ in range(max(levels.values(), default=-1) + 1)]
    for node in chains:
        rows[-1 - (levels[node] if node in levels else node[2])].append(node)
    for sweep in range(_SWEEPS):
        ordered = rows if sweep % 2 == 0 else rows[::-1]
        for before, row in itertools.pairwise(ordered):
            places = {node: (place + 0.5) / len(before) for place, node in enumerate(before)}
            means: dict[Hashable, float] = {}
            for place, node in enumerate(row):
                near = [places[other] for other in chains[node] if other in places]
                means[node] = sum(near) / len(near) if near else (place + 0.5) / len(row)
            row.sort(key=means.__getitem__)
    return rows


def _packed(rows: Sequence[Sequence[Hashable]], sizes: Mapping[str, Point]) -> dict[Hashable, Point]:
    """The centres: the layers are beneath each other, each centred."""
    centres: dict[Hashable, Point] = {}
    top = 0.0
    for row in rows:
        taken = [sizes[node] if isinstance(node, str) else (8.0, 0.0) for node in row]
        height = max(high for _, high in taken)
        x = -(sum(width for width, _ in taken) + _GAP_X * (len(row) - 1)) / 2
        for node, (width, _) in zip(row, taken, strict=True):
            centres[node] = x + width / 2, top + height / 2
            x += width + _GAP_X
        top += height + _GAP_Y
    return centres


def _curve(arrow: Arrow, paths: Paths, centres: Mapping[Hashable, Point], sizes: Mapping[str, Point]) -> list[Point]:
    """From the top of the lower box to the bottom of the upper one, or back; from a box to itself at its right."""
    ends = arrow.source, arrow.target
    if arrow.source == arrow.target:
        x, y = centres[arrow.source]
        x += sizes[arrow.source][0] / 2
        return [(x, y - 5), (x + 18, y - 12), (x + 18, y + 12), (x, y + 5)]
    back = ends not in paths
    low, high = ends[::-1] if back else ends
    stops = [centres[node] for node in paths[low, high]]
    stops[0] = stops[0][0], stops[0][1] - sizes[low][1] / 2
    stops[-1] = stops[-1][0], stops[-1][1] + sizes[high][1] / 2
    points = stops[:1]
    for (x0, y0), (x1, y1) in itertools.pairwise(stops):
        points += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)]
    return points[::-1] if back else points
