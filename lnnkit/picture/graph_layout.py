"""Lays out boxes and arrows: by Graphviz where its ``dot`` is installed, else in layers by networkx."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from lnnkit.picture.boxes import Arrow, Drawing, dot

_GAP_X, _GAP_Y, MARGIN = 22.0, 46.0, 12.0
_SWEEPS = 8  # passes over the layers; after these, the order of boxes no longer changes in any example
_PASSED = 5_000  # layers that all arrows together may pass through, about a second; with more, arrows are straight
_PATIENCE = 20  # seconds that Graphviz may take
_LIMITS = ("-Gnslimit=2", "-Gnslimit1=2")  # of its simplex: 200 boxes on cycles take 0.25 s instead of 4, as compact

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a box is: its centre and size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Layout:
    """The boxes by name; for each arrow the points of a chain of cubic Bézier curves (3 n + 1 of them)."""

    boxes: Mapping[str, Placed]
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


# --- Graphviz ---------------------------------------------------------------------------------------------------------


def _by_graphviz(drawing: Drawing, graphviz: str) -> Layout:
    source = dot(drawing, sized=True)
    done = subprocess.run(
        [graphviz, "-Tjson", *_LIMITS],
        input=source,
        capture_output=True,
        encoding="utf-8",
        timeout=_PATIENCE,
        check=True,
    )
    found = json.loads(done.stdout)
    centres = {each["name"]: _point(each["pos"]) for each in found["objects"]}
    boxes = {box.name: Placed(*centres[f"n{number}"], *box.size) for number, box in enumerate(drawing.boxes)}
    splines = {each["id"]: _spline(each["pos"]) for each in found.get("edges", ())}
    return _within(boxes, [splines[f"e{number}"] for number in range(len(drawing.arrows))])


def _point(text: str) -> Point:
    """Graphviz counts upwards from the bottom."""
    x, y = map(float, text.split(",")[:2])
    return x, -y


def _spline(text: str) -> list[Point]:
    """``s,x,y e,x,y x,y ...``: where arrow heads end, and the points of the curve; the heads become straight pieces."""
    ends = {part[0]: _point(part[2:]) for part in text.split() if part[0] in "se"}
    points = [_point(part) for part in text.split() if part[0] not in "se"]
    if "s" in ends:
        points = [ends["s"], ends["s"], points[0], *points]
    if "e" in ends:
        points = [*points, points[-1], ends["e"], ends["e"]]
    return points


# --- networkx ---------------------------------------------------------------------------------------------------------


def by_networkx(drawing: Drawing) -> Layout:
    """A layered layout: each box is below the boxes that depend on it. Arrows that would close a cycle lead down;
    arrows that cross several layers take a position in each, unless there are too many."""
    graph = nx.DiGraph()
    graph.add_nodes_from(box.name for box in drawing.boxes)
    graph.add_edges_from((arrow.source, arrow.target) for arrow in drawing.arrows if arrow.source != arrow.target)
    left = {node: place for place, node in enumerate(nx.dfs_postorder_nodes(graph))}
    upward = nx.DiGraph()
    upward.add_nodes_from(graph)
    upward.add_edges_from((one, two) if left[one] > left[two] else (two, one) for one, two in graph.edges)
    levels = _levels(upward)
    passed = sum(levels[two] - levels[one] - 1 for one, two in upward.edges)
    paths = {
        (one, two): [one, *((one, two, n) for n in range(levels[one] + 1, levels[two]) if passed <= _PASSED), two]
        for one, two in upward.edges
    }
    chains = nx.Graph()
    chains.add_nodes_from(graph)
    for path in paths.values():
        nx.add_path(chains, path)
    rows = _rows(chains, levels)
    sizes = {box.name: box.size for box in drawing.boxes}
    placed = _packed(rows, sizes)
    boxes = {box.name: placed[box.name] for box in drawing.boxes}
    return _within(boxes, [_curve(arrow, paths, placed) for arrow in drawing.arrows])


def _levels(upward: nx.DiGraph) -> dict[Hashable, int]:
    """The layer of each box, from 0 at the bottom: the lowest possible, then moved up to just below the boxes that
    depend on it."""
    generations = list(nx.topological_generations(upward))
    levels = {node: level for level, generation in enumerate(generations) for node in generation}
    for node in itertools.chain.from_iterable(reversed(generations)):
        levels[node] = min((levels[after] - 1 for after in upward.successors(node)), default=levels[node])
    return levels


def _rows(chains: nx.Graph, levels: Mapping[Hashable, int]) -> list[list[Hashable]]:
    """The layers, topmost first, each sorted by the mean position of a box's neighbours in the previous layer."""
    rows: list[list[Hashable]] = [[] for _ in range(max(levels.values(), default=-1) + 1)]
    for node in chains:
        rows[len(rows) - 1 - (levels[node] if node in levels else node[2])].append(node)
    for sweep in range(_SWEEPS):
        ordered = rows if sweep % 2 == 0 else rows[::-1]
        for before, row in itertools.pairwise(ordered):
            places = {node: (place + 0.5) / len(before) for place, node in enumerate(before)}
            own = {node: (place + 0.5) / len(row) for place, node in enumerate(row)}
            means: dict[Hashable, float] = {}
            for node in row:
                near = [places[other] for other in chains[node] if other in places]
                means[node] = sum(near) / len(near) if near else own[node]
            row.sort(key=means.__getitem__)
    return rows


def _packed(rows: Sequence[Sequence[Hashable]], sizes: Mapping[str, tuple[float, float]]) -> dict[Hashable, Placed]:
    """The layers beneath each other, each centred."""
    placed: dict[Hashable, Placed] = {}
    top = 0.0
    for row in rows:
        own = [sizes[node] if isinstance(node, str) else (8.0, 0.0) for node in row]
        height = max(each[1] for each in own)
        x = -(sum(each[0] for each in own) + _GAP_X * (len(own) - 1)) / 2
        for node, (width, high) in zip(row, own, strict=True):
            placed[node] = Placed(x + width / 2, top + height / 2, width, high)
            x += width + _GAP_X
        top += height + _GAP_Y
    return placed


def _curve(
    arrow: Arrow, paths: Mapping[tuple[str, str], Sequence[Hashable]], placed: Mapping[Hashable, Placed]
) -> list[Point]:
    """From the top of the lower box to the bottom of the upper one, or back; from a box to itself at its right."""
    source, target = placed[arrow.source], placed[arrow.target]
    if arrow.source == arrow.target:
        x, y = source.x + source.width / 2, source.y
        return [(x, y - 5), (x + 18, y - 12), (x + 18, y + 12), (x, y + 5)]
    back = (arrow.source, arrow.target) not in paths
    path = [placed[node] for node in paths[(arrow.target, arrow.source) if back else (arrow.source, arrow.target)]]
    low, high = (target, source) if back else (source, target)
    stops = [
        (low.x, low.y - low.height / 2),
        *((each.x, each.y) for each in path[1:-1]),
        (high.x, high.y + high.height / 2),
    ]
    points = stops[:1]
    for (x0, y0), (x1, y1) in itertools.pairwise(stops):
        points += [(x0, (y0 + y1) / 2), (x1, (y0 + y1) / 2), (x1, y1)]
    return points[::-1] if back else points


def _within(boxes: Mapping[str, Placed], arrows: Sequence[Sequence[Point]]) -> Layout:
    """The same layout, shifted so that it starts at a margin from (0, 0); a curve stays within the hull of its
    points."""
    xs = [box.x + sign * box.width / 2 for box in boxes.values() for sign in (-1, 1)]
    ys = [box.y + sign * box.height / 2 for box in boxes.values() for sign in (-1, 1)]
    xs += [x for points in arrows for x, _ in points]
    ys += [y for points in arrows for _, y in points]
    left, top = min(xs, default=0.0) - MARGIN, min(ys, default=0.0) - MARGIN
    return Layout(
        {name: Placed(box.x - left, box.y - top, box.width, box.height) for name, box in boxes.items()},
        [[(x - left, y - top) for x, y in points] for points in arrows],
        max(xs, default=0.0) - left + MARGIN,
        max(ys, default=0.0) - top + MARGIN,
    )
