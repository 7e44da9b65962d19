"""Pictures: what is in them, that nothing lies on anything else, and that they are well formed in every form."""

from __future__ import annotations

import itertools
import json
import random
import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import lnnkit
from lnnkit.picture import box_layout
from lnnkit.picture.box_layout import Layout
from lnnkit.picture.picture import Arrow, Box, Picture
from tests.blocks import at_length
from tests.picture.drawings import assert_drawn_soundly, assert_laid_out_soundly, parsed, texts

EXAMPLES = sorted((Path(__file__).parents[2] / "kb_examples").glob("*/*.lnn"))
GRAPHVIZ = shutil.which("dot")
NASTY = (
    '<script>alert("1")</script>',
    "a&amp;b",
    "x\ny",
    "\x1b[31m",
    "‮abc",
    "日本語",
    "\\N{}|<f0>",
    "W" * 300,
    "'",
    "$x$",
)


@pytest.fixture
def no_graphviz(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))


def by_networkx(picture: Picture) -> Layout:
    sizes = {box.name: box.size for box in picture.boxes}
    return box_layout.by_networkx(sizes, [(arrow.source, arrow.target) for arrow in picture.arrows])


def random_picture(draw: random.Random, boxes: int) -> Picture:
    kinds = ("atom", "connective", "statement", "fact", "predicate")
    states = (None, "true", "false", "likely_true", "contradiction", "number")
    made: list[Box] = []
    for number in range(boxes):
        lines = tuple("x" * draw.randint(1, 60) for _ in range(draw.randint(1, 3)))
        made.append(Box(f"b{number}", draw.choice(kinds), lines, draw.choice(states)))
    arrows: list[Arrow] = []
    for _ in range(draw.randint(0, 2 * boxes)):
        ends = draw.choice(made).name, draw.choice(made).name
        weight = draw.choice([1.0, 0.0, 0.3, 7.0])
        arrows.append(Arrow(*ends, weight, negative=draw.random() < 0.3, both=draw.random() < 0.2))
    return Picture("random", made, arrows)


def assert_random_pictures(seeds: range, most: int) -> None:
    for seed in seeds:
        draw = random.Random(seed)
        picture = random_picture(draw, draw.randint(0, most))
        assert_laid_out_soundly(picture, by_networkx(picture))
        assert_drawn_soundly(picture.to_svg())


def test_random_pictures_lie_soundly_in_layers(no_graphviz: None) -> None:
    assert_random_pictures(range(40), 20)


@pytest.mark.skipif(GRAPHVIZ is None, reason="Graphviz is not installed")
def test_random_pictures_lie_soundly_by_graphviz() -> None:
    for seed in range(6):
        picture = random_picture(random.Random(seed), 12)
        assert_laid_out_soundly(picture, picture.layout())
        assert_drawn_soundly(picture.to_svg())


@pytest.mark.slow
def test_many_random_pictures_lie_soundly() -> None:
    assert_random_pictures(range(1000, 1150), 40)
    assert_random_pictures(range(3), 200)


@pytest.mark.parametrize("path", at_length(EXAMPLES, plain=6), ids=lambda path: path.stem)
def test_the_predicates_and_formulas_of_examples(path: Path, no_graphviz: None) -> None:
    kb = lnnkit.load(path)
    for picture in (kb.draw(), kb.draw(formulas=True)):
        assert 3 <= len(picture.boxes) <= 60
        assert_laid_out_soundly(picture, picture.layout())
        svg = picture.to_svg()
        assert_drawn_soundly(svg)
        assert {line for box in picture.boxes for line in box.lines if len(line) < 48} <= set(texts(parsed(svg)))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.met: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append(tag)


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text_in_every_form(name: str, no_graphviz: None) -> None:
    picture = Picture(
        name, [Box("one", "atom", (name, name), "true", note=name), Box(name, "fact", (name,))], [Arrow("one", name)]
    )
    root = parsed(picture.to_svg())
    assert_drawn_soundly(picture.to_svg())
    shown = name.encode("unicode_escape").decode() if not name.isprintable() else name
    assert (shown if len(shown) < 48 else f"{'W' * 47}…") in texts(root)
    tags = Tags()
    tags.feed(picture.to_html())
    assert "script" not in tags.met and "alert" not in str(tags.met)
    assert len(picture.to_dot().splitlines()) == 6  # the head, its attributes, two boxes, an arrow, the end
    assert "\x1b" not in picture.to_html() + picture.to_dot()


@pytest.mark.skipif(GRAPHVIZ is None, reason="Graphviz is not installed")
def test_graphviz_reads_every_name() -> None:
    for name in NASTY:
        picture = Picture(
            name, [Box("one", "atom", (name,), note=name), Box(name, "fact", (name,))], [Arrow("one", name)]
        )
        assert picture.layout() != by_networkx(picture)


def test_a_legend_names_what_is_there_and_nothing_else() -> None:
    boxes = [
        Box("a", "atom", ("A",), "true"),
        Box("b", "statement", ("rule b",)),
        Box("c", "atom", ("C",), "likely_false"),
    ]
    said = set(texts(parsed(Picture("t", boxes, [Arrow("a", "b")]).to_svg()))) - {"A", "rule b", "C"}
    assert said == {"true", "likely false", "rule or axiom", "counts for"}
    said = set(
        texts(parsed(Picture("t", boxes, [Arrow("a", "b", 0.5, negative=True), Arrow("b", "c", both=True)]).to_svg()))
    )
    assert {"counts against", "both ways", "thicker: more weight", "0.5"} <= said


def test_negative_arrows_end_otherwise() -> None:
    """Their colour is not the only difference."""
    picture = Picture("t", [Box(n, "atom", (n,)) for n in "abc"], [Arrow("a", "b"), Arrow("a", "c", negative=True)])
    ends = re.findall(r'marker-end="url\(#([\w-]+)\)"', picture.to_svg().split("<g transform")[1].split("</g>")[0])
    assert ends == ["lnn-for", "lnn-against"]
    assert picture.to_dot().count("arrowhead=tee") == 1


def test_nothing_to_draw_is_said() -> None:
    picture = lnnkit.loads("").draw()
    assert texts(parsed(picture.to_svg())) == ["nothing to draw"]
    assert picture.to_dot().startswith("digraph")
    assert_drawn_soundly(picture.to_svg())
    assert_drawn_soundly(lnnkit.loads("").draw(formulas=True).to_svg())


def test_a_page_loads_nothing_and_has_both_schemes(no_graphviz: None) -> None:
    page = lnnkit.loads("fact A\naxiom A -> B\n").draw().to_html()
    assert page.startswith("<!doctype html>") and page.count("color-scheme: light dark") == 3
    assert not re.search(r"https?://", page.replace("http://www.w3.org/2000/svg", ""))
    assert not set(tags_of(page)) & {"script", "link", "img", "iframe", "object"}


def tags_of(page: str) -> list[str]:
    tags = Tags()
    tags.feed(page)
    return tags.met


def stand_in(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in the place of Graphviz's."""
    script = folder / "dot"
    script.write_text(f"#!{sys.executable} -S\n{body}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_graphviz_is_asked_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = Picture("t", [Box("a", "atom", ("A",)), Box("b", "atom", ("B",))], [Arrow("a", "b")])
    boxes = [{"name": "n0", "pos": "50,0"}, {"name": "n1", "pos": "50,200"}]
    answer = json.dumps({"objects": boxes, "edges": [{"id": "e0", "pos": "50,20 50,50 50,90 50,180"}]})
    stand_in(tmp_path, f"import sys; sys.stdin.read(); print('''{answer}''')", monkeypatch)
    places = picture.layout()
    assert places.centres["a"][1] - places.centres["b"][1] == 200  # upwards
    assert_drawn_soundly(picture.to_svg())


@pytest.mark.parametrize("body", ["import sys; sys.exit(1)", "print('{')", "print('{}')", "print('{\"objects\": []}')"])
def test_a_broken_graphviz_is_done_without(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, body, monkeypatch)
    picture = lnnkit.loads("fact A\naxiom A -> B\n").draw()
    assert picture.layout() == by_networkx(picture)


def test_cycles_and_arrows_to_themselves_are_drawn() -> None:
    boxes = [Box(name, "atom", (name,)) for name in "abcd"]
    ring = [Arrow(one, other) for one, other in itertools.pairwise("abcda")]
    picture = Picture("ring", boxes, [*ring, Arrow("a", "a"), Arrow("a", "c", 0.3)])
    assert_laid_out_soundly(picture, by_networkx(picture))


def test_notebooks_show_them() -> None:
    picture = lnnkit.loads("fact A\naxiom A -> B\n").draw()
    assert picture._repr_svg_().startswith("<svg")
    assert picture._repr_html_().startswith('<div class="lnn">') and 'class="scroll"' in picture._repr_html_()


def test_png_is_a_picture_of_twice_the_size() -> None:
    pytest.importorskip("resvg_py")
    picture = lnnkit.loads("fact A\naxiom A -> B\n").draw()
    png = picture.to_png()
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    size = [int.from_bytes(png[place : place + 4], "big") for place in (16, 20)]
    root = parsed(picture.to_svg())
    assert size == [2 * int(root.attrib["width"]), 2 * int(root.attrib["height"])]


@pytest.mark.slow
def test_png_of_a_huge_picture_has_fewer_pixels_to_a_point(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("resvg_py")
    huge = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10000 16000" width="10000" height="16000"></svg>'
    monkeypatch.setattr(Picture, "to_svg", lambda self: huge)
    made = Picture("huge", [], []).to_png()
    assert [int.from_bytes(made[place : place + 4], "big") for place in (16, 20)] == [5000, 8000]


def test_png_names_the_extra_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(lnnkit.Error, match=r"missing-extra.*\n.*lnnkit\[report\]"):
        lnnkit.loads("fact A\n").draw().to_png()
