"""What tests read off an SVG: where its shapes are, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from lnnkit.picture.box_layout import Layout
from lnnkit.picture.picture import Picture

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
LETTER = 0.61  # of the font's size: no letter of a monospaced font is wider, but for two-column ones


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def texts(root: ElementTree.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def reaches(root: ElementTree.Element) -> Iterator[tuple[float, float]]:
    """The points that the drawing reaches, in its own coordinates."""
    size = float(root.attrib["font-size"])

    def within(element: ElementTree.Element, shift: float) -> Iterator[tuple[float, float]]:
        if moved := element.get("transform"):
            shift += float(NUMBER.findall(moved)[0])
        tag, get = element.tag.removeprefix(SVG), lambda name: float(element.get(name, 0))
        if tag == "rect":
            yield get("x") + shift, get("y")
            yield get("x") + get("width") + shift, get("y") + get("height")
        elif tag == "text":
            width = size * LETTER * len(element.text or "")
            left = get("x") + shift - (width / 2 if element.get("text-anchor") == "middle" else 0)
            yield left, get("y") - size
            yield left + width, get("y") + size / 3
        elif tag == "path" and " l" not in element.attrib["d"]:
            found = list(map(float, NUMBER.findall(element.attrib["d"])))
            yield from zip((x + shift for x in found[::2]), found[1::2], strict=True)
        elif tag == "marker":
            return
        for child in element:
            yield from within(child, shift)

    return within(root, 0.0)


def assert_drawn_soundly(text: str) -> None:
    """Well formed, within its frame, and it loads nothing."""
    root = parsed(text)
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top) == (0, 0)
    assert all(-1 <= x <= width + 1 and -1 <= y <= height + 1 for x, y in reaches(root))
    assert not re.search(r"https?://", text.replace('xmlns="http://www.w3.org/2000/svg"', ""))
    assert set(re.findall(r"url\((.)", text)) <= {"#"}
    assert "color-scheme: light dark" in text and "light-dark(#" in text


def assert_laid_out_soundly(drawing: Picture, places: Layout) -> None:
    """Boxes lie apart and inside; arrows start and end at their boxes."""
    sizes = {box.name: box.size for box in drawing.boxes}
    assert set(places.centres) == set(sizes)
    names = list(places.centres)
    for place, name in enumerate(names):
        (x, y), (width, height) = places.centres[name], sizes[name]
        assert width / 2 <= x <= places.width - width / 2
        assert height / 2 <= y <= places.height - height / 2
        for other in names[:place]:
            across, down = abs(x - places.centres[other][0]), abs(y - places.centres[other][1])
            assert across >= (width + sizes[other][0]) / 2 or down >= (height + sizes[other][1]) / 2
    for arrow, points in zip(drawing.arrows, places.arrows, strict=True):
        assert len(points) % 3 == 1
        for end, (x, y) in ((arrow.source, points[0]), (arrow.target, points[-1])):
            (left, top), (width, height) = places.centres[end], sizes[end]
            assert abs(x - left) <= width / 2 + 2 and abs(y - top) <= height / 2 + 2
