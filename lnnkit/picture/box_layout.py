"""The layout of a picture: boxes and curves of arrows, by Graphviz where its ``dot`` is installed, else by networkx."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

_GAP_X, _GAP_Y, _MARGIN = 22.0, 46.0, 12.0  # pixels
_SWEEPS = 8  # passes over the layers; after these, the order of boxes no longer changes in any example
_PASSED = 5_000  # layers that all arrows together may pass through, about a second; with more, arrows are straight
_PATIENCE = 20  # seconds that Graphviz may take
_LIMITS = ("-Gnslimit=2", "-Gnslimit1=2")  # of its simplex: 200 boxes on cycles take 0.25 s instead of 4, as compact

Point = tuple[float, float]
Sizes = Mapping[str, Point]  # the width and height of each box, by its name
BoxPair = tuple[str, str]  # the boxes that an arrow leads from and to
Paths = Mapping[BoxPair, Sequence[Hashable]]
"""The nodes that an arrow passes through, from the lower of its boxes to the upper one: these, and a node in each layer
between them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The centres of the boxes by name; of each arrow the 3 n + 1 points of a chain of cubic Bézier curves."""

    centres: Mapping[str, Point]
    arrows: Sequence[Sequence[Point]]
    width: float
    height: float


def layout(sizes: Sizes, arrows: Sequence[BoxPair], graph: Callable[[], str]) -> Layout:
    """Positions of boxes that do not overlap, between (0, 0) and (width, height), and curves of the ``arrows`` between
    them. The ``graph`` is the same in DOT: boxes ``n0, n1, ...`` and arrows ``e0, e1, ...`` in order."""
    if sizes and (graphviz := shutil.which("dot")) is not None:
        try:
            return _by_graphviz(sizes, len(arrows), graph(), graphviz)
        except (OSError, subprocess.SubprocessError, ValueError, LookupError):
            pass  # it is broken or too slow
    return by_networkx(sizes, arrows)


def _within(sizes: Sizes, centres: Mapping[Hashable, Point], arrows: Sequence[Sequence[Point]]) -> Layout:
    """The layout, shifted so that it starts at a margin from (0, 0); a curve stays within the hull of its points."""
    reached = [point for points in arrows for point in points]
    for name, (width, height) in sizes.items():
        x, y = centres[name]
        reached += [(x - width / 2, y - height / 2), (x + width / 2, y + height / 2)]
    xs, ys = zip(*reached, strict=True) if reached else ((0.0,), (0.0,))
    left, top = min(xs) - _MARGIN, min(ys) - _MARGIN

    def shifted(point: Point) -> Point:
        return point[0] - left, point[1] - top

    placed = {name: shifted(centres[name]) for name in sizes}
    curves = [list(map(shifted, points)) for points in arrows]
    return Layout(placed, curves, max(xs) - left + _MARGIN, max(ys) - top + _MARGIN)


# --- Graphviz ---------------------------------------------------------------------------------------------------------


def _by_graphviz(sizes: Sizes, arrows: int, graph: str, graphviz: str) -> Layout:
    command = [graphviz, "-Tjson", *_LIMITS]
    done = subprocess.run(command, input=graph, capture_output=True, encoding="utf-8", timeout=_PATIENCE, check=True)
    made = json.loads(done.stdout)
    placed = {node["name"]: _point(node["pos"]) for node in made["objects"]}
    splines = {edge["id"]: list(map(_point, edge["pos"].split())) for edge in made.get("edges", ())}
    centres: dict[Hashable, Point] = {name: placed[f"n{number}"] for number, name in enumerate(sizes)}
    return _within(sizes, centres, [splines[f"e{number}"] for number in range(arrows)])


def _point(text: str) -> Point:
    """Graphviz counts upwards from the bottom."""
    x, y = map(float, text.split(","))
    return x, -y


# --- networkx ---------------------------------------------------------------------------------------------------------


def by_networkx(sizes: Sizes, arrows: Sequence[BoxPair]) -> Layout:
    """A layered layout: each box is below the boxes that depend on it. Arrows that would close a cycle lead down;
    arrows that cross several layers take a position in each, unless there are too many."""
    graph = nx.DiGraph()
    graph.add_nodes_from(sizes)
    graph.add_edges_from((source, target) for source, target in arrows if source != target)
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
    return _within(sizes, centres, [_curve(ends, paths, centres, sizes) for ends in arrows])


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


def _packed(rows: Sequence[Sequence[Hashable]], sizes: Sizes) -> dict[Hashable, Point]:
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


def _curve(ends: BoxPair, paths: Paths, centres: Mapping[Hashable, Point], sizes: Sizes) -> list[Point]:
    """From the top of the lower box to the bottom of the upper one, or back; from a box to itself at its right."""
    source, target = ends
    if source == target:
        x, y = centres[source]
        x += sizes[source][0] / 2
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
