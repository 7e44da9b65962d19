"""Places for boxes in layers, operands beneath what they are operands of (Sugiyama et al. 1981): arrows that would
close a cycle are turned, long ones pass through the layers between, and each layer is sorted by where its neighbours
are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from lnnkit.picture.boxes import Drawing

LETTER, LINE, PADDING = 6.7, 15.0, 9.0
_GAP_X, _GAP_Y = 22.0, 46.0
_SWEEPS = 24

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
    """The boxes by name, the points that each arrow passes, and the size of all."""

    boxes: Mapping[str, Placed]
    arrows: Sequence[Sequence[Point]]
    width: float
    height: float


def layout(picture: Drawing) -> Layout:
    """Places that do not overlap."""
    graph = nx.DiGraph()
    graph.add_nodes_from(box.name for box in picture.boxes)
    graph.add_edges_from((a.source, a.target) for a in picture.arrows if a.source != a.target)
    turned = _acyclic(graph)
    levels = _levels(graph)
    paths: dict[tuple[str, str], list[str]] = {}
    chained = nx.DiGraph()
    chained.add_nodes_from(graph.nodes)
    for source, target in graph.edges:
        between = [f"\0{source}\0{target}\0{level}" for level in range(levels[source] + 1, levels[target])]
        levels |= {name: levels[source] + 1 + place for place, name in enumerate(between)}
        paths[source, target] = [source, *between, target]
        nx.add_path(chained, paths[source, target])
    sizes = {box.name: _size(box.lines) for box in picture.boxes}
    rows = _sorted(chained, levels)
    placed = _spread(rows, sizes, chained)
    width = max((p.x + p.width / 2 for p in placed.values()), default=0.0) + _GAP_X
    height = max((p.y + p.height / 2 for p in placed.values()), default=0.0) + _GAP_X
    lines: list[list[Point]] = []
    for arrow in picture.arrows:
        back = (arrow.source, arrow.target) in turned
        ends = (arrow.target, arrow.source) if back else (arrow.source, arrow.target)
        names = paths.get(ends, [arrow.source, arrow.target])
        points = _through([placed[name] for name in names])
        lines.append(points[::-1] if back else points)
    return Layout({box.name: placed[box.name] for box in picture.boxes}, lines, width, height)


def _acyclic(graph: nx.DiGraph) -> set[tuple[str, str]]:
    """Turn arrows round until there is no cycle; returns those that were."""
    turned: set[tuple[str, str]] = set()
    state: dict[str, int] = {}
    for start in list(graph.nodes):
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            node, done = stack.pop()
            if done:
                state[node] = 2
                continue
            if node in state:
                continue
            state[node] = 1
            stack.append((node, True))
            for following in list(graph.successors(node)):
                if state.get(following) == 1:
                    graph.remove_edge(node, following)
                    graph.add_edge(following, node)
                    turned.add((node, following))
                elif following not in state:
                    stack.append((following, False))
    return turned


def _levels(graph: nx.DiGraph) -> dict[str, int]:
    """How many arrows lead to a node at most; then every node moves up to just beneath what it leads to."""
    order = list(nx.topological_sort(graph))
    levels: dict[str, int] = {}
    for node in order:
        levels[node] = max((levels[before] + 1 for before in graph.predecessors(node)), default=0)
    for node in reversed(order):
        after = [levels[following] for following in graph.successors(node)]
        if after:
            levels[node] = min(after) - 1
    return levels


def _sorted(graph: nx.DiGraph, levels: Mapping[str, int]) -> list[list[str]]:
    """The nodes of each layer, topmost layer first, so that few arrows cross."""
    top = max(levels.values(), default=0)
    rows: list[list[str]] = [[] for _ in range(top + 1)]
    for node in graph.nodes:
        rows[top - levels[node]].append(node)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        for number in order:
            fixed = {name: place for place, name in enumerate(rows[number - 1 if down else number + 1])}
            near = graph.successors if down else graph.predecessors
            own = {name: place for place, name in enumerate(rows[number])}

            def middle(name: str, fixed: dict[str, int] = fixed, own: dict[str, int] = own, near=near) -> float:
                places = [fixed[other] for other in near(name) if other in fixed]
                return sum(places) / len(places) if places else own[name]

            rows[number].sort(key=middle)
    return rows


def _spread(
    rows: Sequence[Sequence[str]], sizes: Mapping[str, tuple[float, float]], graph: nx.DiGraph
) -> dict[str, Placed]:
    """Centres: a layer after the other, each box near the middle of its neighbours, none on another."""
    x: dict[str, float] = {}
    for row in rows:
        at = 0.0
        for name in row:
            width = sizes.get(name, (4.0, 0.0))[0]
            x[name] = at + width / 2
            at += width + _GAP_X
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = []
            for name in row:
                near = [x[other] for other in (*graph.successors(name), *graph.predecessors(name))]
                wanted.append(sum(near) / len(near) if near else x[name])
            _apart(row, wanted, sizes, x)
    least = min((x[name] - sizes.get(name, (4.0, 0.0))[0] / 2 for name in x), default=0.0)
    placed: dict[str, Placed] = {}
    top = _GAP_X
    for row in rows:
        height = max((sizes[name][1] for name in row if name in sizes), default=LINE)
        for name in row:
            width, own = sizes.get(name, (4.0, 0.0))
            placed[name] = Placed(x[name] - least + _GAP_X, top + height / 2, width, own)
        top += height + _GAP_Y
    return placed


def _apart(
    row: Sequence[str], wanted: Sequence[float], sizes: Mapping[str, tuple[float, float]], x: dict[str, float]
) -> None:
    """Put a layer's boxes as near to where they are wanted as their widths allow: the mean of a pass from the left
    and one from the right."""
    left, right = list(wanted), list(wanted)
    half = [sizes.get(name, (4.0, 0.0))[0] / 2 for name in row]
    for place in range(1, len(row)):
        left[place] = max(left[place], left[place - 1] + half[place - 1] + half[place] + _GAP_X)
    for place in range(len(row) - 2, -1, -1):
        right[place] = min(right[place], right[place + 1] - half[place + 1] - half[place] - _GAP_X)
    for place, name in enumerate(row):
        x[name] = (left[place] + right[place]) / 2


def _through(boxes: Sequence[Placed]) -> list[Point]:
    """From the top of the first to the bottom of the last."""
    first, *between, last = boxes
    ends = ((first.x, first.y - first.height / 2), (last.x, last.y + last.height / 2))
    return [ends[0], *((box.x, box.y) for box in between), ends[1]]


def _size(lines: Sequence[str]) -> tuple[float, float]:
    longest = max((len(line) for line in lines), default=1)
    return longest * LETTER + 2 * PADDING, len(lines) * LINE + 2 * PADDING - 4
