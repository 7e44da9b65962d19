"""Pictures: what is in them, that nothing lies on anything else, and that they are well formed."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.picture.as_svg import drawn
from lnnkit.picture.boxes import Arrow, Box
from lnnkit.picture.layers import Placed, layout
from lnnkit.picture.picture import Picture
from tests.blocks import at_length

EXAMPLES = sorted((Path(__file__).parents[2] / "kb_examples").glob("*/*.lnn"))
TRACING = next(path for path in EXAMPLES if path.stem == "contact_tracing")


def overlap(one: Placed, other: Placed) -> bool:
    return (
        abs(one.x - other.x) < (one.width + other.width) / 2 and abs(one.y - other.y) < (one.height + other.height) / 2
    )


def assert_sound(picture: Picture) -> None:
    """Boxes lie apart and inside, every arrow has two ends that are boxes, the SVG is well formed and names them."""
    places = layout(picture)
    assert len({box.name for box in picture.boxes}) == len(picture.boxes)
    for one, other in itertools.combinations(places.boxes.values(), 2):
        assert not overlap(one, other)
    for box in places.boxes.values():
        assert box.x - box.width / 2 >= 0 and box.x + box.width / 2 <= places.width
        assert box.y - box.height / 2 >= 0 and box.y + box.height / 2 <= places.height
    names = {box.name for box in picture.boxes}
    assert {end for arrow in picture.arrows for end in (arrow.source, arrow.target)} <= names
    root = ElementTree.fromstring(drawn(picture))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(line in texts for box in picture.boxes for line in box.lines)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_formulas_of_examples(path: Path) -> None:
    picture = lnnkit.load(path).draw()
    assert 3 <= len(picture.boxes) <= 60
    assert_sound(picture)


@pytest.mark.parametrize("path", at_length(EXAMPLES, plain=4))
def test_the_neighbourhoods_of_atoms(path: Path) -> None:
    kb = lnnkit.load(path)
    for answers in kb.answers():
        if re.fullmatch(r"\w+\([A-Z]\w*\)", answers.query):
            for answer in list(answers)[:3]:
                (entity,) = answer.bindings.values()
                picture = kb.draw(f'{answers.query.partition("(")[0]}("{entity}")')
                assert_sound(picture)
                shown = next(box for box in picture.boxes if box.name == picture.title)
                assert shown.state == answer.state


def test_a_small_program_has_a_box_each() -> None:
    kb = lnnkit.loads("fact A\nfact B\nrule grow: A@0.7 & ~B -> C in [0.9, 1]\n")
    picture = kb.draw()
    assert sorted(box.lines[0] for box in picture.boxes) == ["A", "B", "C", "rule grow", "¬", "→", "∧"]
    weights = {arrow.weight for arrow in picture.arrows}
    assert weights == {0.7, 1.0}
    assert sum(arrow.negative for arrow in picture.arrows) == 2  # into the negation, and the antecedent


def test_a_large_graph_shows_the_neighbourhood_of_its_middle() -> None:
    rules = "\n".join(f"axiom Hub(X) -> P{n}(X)" for n in range(200))
    kb = lnnkit.loads(f"fact Hub(a)\n{rules}\n")
    picture = kb.draw()
    assert len(picture.boxes) == 60
    assert picture.left_out == 601 - 60
    assert "Hub" in {box.name for box in picture.boxes}
    assert len(kb.draw(most=1000).boxes) == 601
    assert {box.name for box in kb.draw("P7", most=4).boxes} >= {"P7", "Hub"}


def test_depth_and_what_is_left_out() -> None:
    steps = "\n".join(f"axiom P{n} -> P{n + 1}" for n in range(20))
    kb = lnnkit.loads(f"fact P0\n{steps}\n")
    near = kb.draw("P20", depth=2)
    assert {box.name for box in near.boxes if box.state} == {"P20", "P19", "P18"}
    assert near.left_out == 1
    assert len(kb.draw("P20", depth=30, most=100).boxes) == 41


def test_cycles_are_drawn() -> None:
    boxes = [Box(name, "atom", (name,)) for name in "abcd"]
    ring = [Arrow(one, other) for one, other in itertools.pairwise("abcda")]
    assert_sound(Picture("ring", boxes, [*ring, Arrow("a", "a"), Arrow("a", "c", 0.3)]))


def test_the_command_writes_each_format(tmp_path: Path) -> None:
    for ending, start in (("svg", "<svg"), ("dot", "digraph"), ("html", "<!doctype html>")):
        out = tmp_path / f"picture.{ending}"
        assert main(["draw", str(TRACING), "Infected(cleo)", "-o", str(out)]) == 0
        text = out.read_text(encoding="utf-8")
        assert text.startswith(start)
        assert "Infected(cleo)" in text
        assert "http" not in text.replace("http://www.w3.org", "").replace("https://www.w3.org", "")


def test_a_misspelt_predicate_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", str(TRACING), "Infectedd"]) == 1
    assert "no predicate is named `Infectedd`\n  hint: did you mean `Infected`?\n" in capsys.readouterr().err
    assert main(["draw", str(TRACING), "Zebra"]) == 1
    assert "declare it, if it is intended: `predicate Zebra`" in capsys.readouterr().err


def test_other_formats_are_not_written_under_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "picture.png"
    assert main(["draw", str(TRACING), "-o", str(out)]) == 2
    assert "svg, dot, html" in capsys.readouterr().err
    assert not out.exists()
    assert main(["draw", str(TRACING), "-o", str(out), "--format", "svg"]) == 0


def test_a_format_is_not_written_under_the_ending_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, form, code in (
        ("a.svg", "dot", 2),
        ("a.htm", "svg", 2),
        ("a.gv", "dot", 0),
        ("a.txt", "dot", 0),
        ("a", "dot", 0),
    ):
        out = tmp_path / name
        assert main(["draw", str(TRACING), "-o", str(out), "--format", form]) == code
        assert out.exists() == (code == 0)
    assert "a.svg has the ending of svg, but --format is dot" in capsys.readouterr().err


def test_graphviz_is_asked_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = lnnkit.loads("fact A\naxiom A -> B\n").draw()
    stand_in = tmp_path / "dot"
    stand_in.write_text("#!/bin/sh\ncat > \"$0.in\"\necho '<?xml?><svg>by dot</svg>'\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert picture.to_svg() == "<svg>by dot</svg>\n"
    assert (tmp_path / "dot.in").read_text() == picture.to_dot()
    stand_in.write_text("#!/bin/sh\nexit 1\n")
    assert picture.to_svg().startswith("<svg xmlns")


def test_notebooks_show_them() -> None:
    kb = lnnkit.loads("fact A\naxiom A -> B\n")
    assert kb.draw()._repr_svg_().startswith("<svg")
    for shown in (kb, kb.ask("B"), kb.explain("B"), kb.why_not("B", side="upper")):
        assert "<" in shown._repr_html_()
