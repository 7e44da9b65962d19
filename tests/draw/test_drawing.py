"""What pictures of programs and atoms show."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import lnnkit
from lnnkit.cli import main
from lnnkit.picture.picture import Picture

EXAMPLES = sorted((Path(__file__).parents[2] / "kb_examples").glob("*/*.lnn"))
TRACING = next(path for path in EXAMPLES if path.stem == "contact_tracing")


def arrows(picture: Picture) -> set[tuple[str, str, bool, bool]]:
    """With the first lines of the boxes at their ends."""
    named = {box.name: box.lines[0].partition("(")[0] for box in picture.boxes}
    return {(named[each.source], named[each.target], each.negative, each.both) for each in picture.arrows}


# --- predicates and rules ---------------------------------------------------------------------------------------------


def test_rules_are_drawn_between_body_and_head() -> None:
    picture = lnnkit.load(TRACING).draw()
    assert {line for box in picture.boxes if box.kind == "statement" for line in box.lines} == {
        "rule spread", "rule sensitivity", "rule precision", "rule symptoms", "axiom urgent",
    }  # fmt: skip
    found = arrows(picture)
    assert {("Infected", "rule spread", False, False), ("Contact", "rule spread", False, False)} <= found
    assert ("rule spread", "Infected", False, False) in found
    assert {target for source, target, _, both in found if both} == {
        "Infected",
        "Vulnerable",
        "Urgent",
    }  # an equivalence
    said = {box.lines for box in picture.boxes}
    assert ("Contact(person, person)", "closed, 4 facts") in said
    assert ("Infected(person)",) in said


def test_negations_are_arrows_of_the_other_kind() -> None:
    program = "fact A\nfact B\nrule r: A & ~B -> ~C\naxiom n: ~(A & D)\nrule t: (B -> D) -> (A -> ~~E)\n"
    found = arrows(lnnkit.loads(program).draw())
    assert {each for each in found if "rule r" in each} == {
        ("A", "rule r", False, False), ("B", "rule r", True, False), ("rule r", "C", True, False),
    }  # fmt: skip
    assert {each for each in found if "axiom n" in each} == {
        ("axiom n", "A", True, True), ("axiom n", "D", True, True),
    }  # fmt: skip
    assert {each for each in found if "rule t" in each} == {
        ("B", "rule t", True, False), ("D", "rule t", False, False), ("A", "rule t", False, False),
        ("rule t", "E", False, False),
    }  # fmt: skip


def test_random_rules_have_an_arrow_for_each_literal() -> None:
    for seed in range(60):
        draw = random.Random(seed)
        rules: dict[str, tuple[list[tuple[str, bool]], tuple[str, bool]]] = {}
        lines: list[str] = []
        for number in range(draw.randint(1, 8)):
            picked = draw.sample("ABCDEFGH", draw.randint(2, 5))
            *body, head = [(name, draw.random() < 0.3) for name in picked]
            rules[f"r{number}"] = body, head
            texts = [f"{'~' * negative}{name}(X)" for name, negative in (*body, head)]
            lines.append(f"rule r{number}: {' & '.join(texts[:-1])} -> {texts[-1]}")
        expected = {
            (name, f"rule {rule}", negative, False) for rule, (body, _) in rules.items() for name, negative in body
        }
        expected |= {(f"rule {rule}", name, negative, False) for rule, (_, (name, negative)) in rules.items()}
        facts = [f"fact {name}(x)" for name in "ABCDEFGH"]
        assert arrows(lnnkit.loads("\n".join([*facts, *lines])).draw()) == expected


def test_numbers_and_comparisons_count_as_premises() -> None:
    program = (
        "number age(p)\nfact age(a) = 3\nrule old: age(X) > 2 & (exists Y: Knows(X, Y)) -> Old(X)\nfact Knows(a, a)\n"
    )
    picture = lnnkit.loads(program).draw()
    assert ("age", "rule old", False, False) in arrows(picture)
    assert next(box for box in picture.boxes if box.name == "age").state == "number"


def test_a_predicates_name_draws_what_is_around_it() -> None:
    kb = lnnkit.loads("fact Hub(a)\n" + "\n".join(f"axiom Hub(X) -> P{n}(X)" for n in range(200)))
    picture = kb.draw()
    assert len(picture.boxes) == 60 and picture.left_out == 401 - 60
    assert "Hub" in {box.name for box in picture.boxes}
    assert len(kb.draw(most=1000).boxes) == 401
    assert {box.name for box in kb.draw("P7", most=3).boxes} >= {"P7", "Hub"}


@pytest.mark.slow
def test_boxes_come_in_the_order_of_the_program_in_every_process() -> None:
    """Few of many boxes are drawn; hashes of names differ from process to process."""
    program = "fact Hub(a)\n" + "\n".join(f"axiom Hub(X) -> P{n}(X)" for n in range(30))
    script = f"import lnnkit; print(*(box.lines[0] for box in lnnkit.loads({program!r}).draw('Hub', most=9).boxes))"
    shown = [
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert shown[0] == shown[1]
    assert shown[0].startswith("Hub(entity) axiom line 2 axiom line 3")


def test_programs_in_parts_are_drawn_whole() -> None:
    assert {
        box.name for box in lnnkit.loads("fact A(x)\nfact B(x)\nfact C(x)\nrule C(X) -> D(X)\n").draw().boxes
    } >= set("ABCD")
    many = lnnkit.loads("\n".join(f"fact A{n}(x)\nrule r{n}: A{n}(X) -> B{n}(X)" for n in range(40))).draw(most=30)
    assert len(many.boxes) == 30 and many.left_out == 90


def test_no_predicates_name_is_taken_for_a_rules() -> None:
    kb = lnnkit.loads('fact "statement 0"(x)\nfact "0"(x)\nrule "statement 0"(X) & "0"(X) -> Q(X)\n')
    for picture in (kb.draw(), kb.draw(formulas=True)):
        assert sum(box.kind == "predicate" for box in picture.boxes) == 3
        assert sum(box.kind == "statement" for box in picture.boxes) == 1


def test_a_deep_formula_is_drawn() -> None:
    picture = lnnkit.loads(f"fact A\naxiom {'~' * 145}(A | B)\n").draw()
    assert [(each.negative, each.both) for each in picture.arrows] == [(True, True)] * 2


# --- formulas ---------------------------------------------------------------------------------------------------------


def test_formulas_have_a_box_each() -> None:
    kb = lnnkit.loads("fact A\nfact B\nrule grow: A@0.7 & ~B -> C in [0.9, 1]\n")
    picture = kb.draw(formulas=True)
    assert sorted(box.lines[0] for box in picture.boxes) == ["A", "B", "C", "rule grow", "¬", "→", "∧"]
    assert {arrow.weight for arrow in picture.arrows} == {0.7, 1.0}
    assert sum(arrow.negative for arrow in picture.arrows) == 2  # into the negation, and the antecedent
    assert {box.name for box in kb.draw("A", formulas=True, most=2).boxes} > {"A"}


def test_formulas_of_an_atom_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(lnnkit.Error, match="not-a-predicate"):
        lnnkit.load(TRACING).draw("Infected(cleo)", formulas=True)
    assert main(["draw", str(TRACING), "Infected(cleo)", "--formulas"]) == 1
    assert "`Infected(cleo)` is not one" in capsys.readouterr().err


# --- what an atom rests on --------------------------------------------------------------------------------------------


LONG = ("borders", "claims", "fraud_ring")  # their proofs take a second or more


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] if path.stem in LONG else []) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_the_neighbourhoods_of_atoms(path: Path) -> None:
    kb = lnnkit.load(path)
    for answers in kb.answers():
        if re.fullmatch(r"\w+\([A-Z]\w*\)", answers.query):
            for answer in list(answers)[:3]:
                (entity,) = answer.bindings.values()
                atom = f'{answers.query.partition("(")[0]}("{entity}")'
                picture = kb.draw(atom, depth=1000, most=10_000)
                shown = next(box for box in picture.boxes if box.name == picture.title)
                assert shown.state == answer.state
                met = {box.name for box in picture.boxes if box.kind in ("atom", "fact")}
                expected = set(telling(kb.explain(atom).as_dict(), path.read_text(encoding="utf-8")))
                assert met - {picture.title} == expected - {picture.title}


def telling(proof: Mapping[str, Any], program: str) -> Iterator[str]:
    """The atoms of a proof's JSON that are reached by bounds above 0 or below 1, or by finite ones of numbers."""
    numbers = re.findall(r"^number (\w+)", program, re.MULTILINE)
    nodes: dict[object, dict[str, Any]] = {}
    stack: list[dict[str, Any]] = [proof["lower"], proof["upper"], *proof.get("more", ())]
    while stack:
        node = stack.pop()
        if "id" in node:
            nodes[node["id"]] = node
        stack += node.get("premises", ())
    met: set[int] = set()
    stack = [proof["lower"], proof["upper"]]
    while stack:
        node = nodes.get(stack[-1].get("ref"), stack[-1])
        stack.pop()
        numeric = re.match(r"\w*", node["atom"]).group() in numbers  # pyright: ignore[reportOptionalMemberAccess]
        silent = node["bound"] is None or (not numeric and node["bound"] == (0 if node["side"] == "lower" else 1))
        if not silent and id(node) not in met:
            met.add(id(node))
            yield node["atom"]
            stack += node.get("premises", ())


def test_an_uninformative_side_is_left_out() -> None:
    picture = lnnkit.load(TRACING).draw("Infected(cleo)")
    assert {box.lines[0] for box in picture.boxes if box.kind != "statement"} == {
        "Infected(cleo)", "Infected(bob)", "Infected(anna)", "Positive(anna)",
        "Contact(bob, cleo)", "Contact(anna, bob)",
    }  # fmt: skip
    assert len(lnnkit.loads("predicate A(e)\nfact B(x)\n").draw("A(x)").boxes) == 1  # nothing is known


def test_conclusions_about_all_other_entities_are_marked() -> None:
    program = "predicate R(e, e) closed\npredicate Bad(e) closed\nfact R(a1, a2)\nfact Bad(a3)\n"
    kb = lnnkit.loads(f"{program}rule g: (forall Y: R(X, Y) -> ~Bad(Y)) -> Good(X)\n")
    boxes = {box.name: box.lines for box in kb.draw("Good(a1)").boxes}
    assert "for any other Y" in boxes["Bad(Y)"]
    assert all("any other" not in line for line in boxes["Good(a1)"])


def test_depth_and_what_is_left_out() -> None:
    steps = "\n".join(f"axiom P{n} -> P{n + 1}" for n in range(20))
    kb = lnnkit.loads(f"fact P0\n{steps}\n")
    near = kb.draw("P20", depth=2)
    assert {box.name for box in near.boxes if box.state} == {"P20", "P19", "P18"}
    assert near.left_out == 1
    assert len(kb.draw("P20", depth=30, most=100).boxes) == 41


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_writes_each_format(tmp_path: Path) -> None:
    for ending, start in (("svg", "<svg"), ("dot", "digraph"), ("html", "<!doctype html>")):
        out = tmp_path / f"picture.{ending}"
        assert main(["draw", str(TRACING), "Infected(cleo)", "-o", str(out)]) == 0
        text = out.read_text(encoding="utf-8")
        assert text.startswith(start)
        assert "Infected(cleo)" in text


def test_the_command_writes_png(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    pytest.importorskip("resvg_py")
    out = tmp_path / "picture.png"
    assert main(["draw", str(TRACING), "-o", str(out)]) == 0
    assert main(["draw", str(TRACING), "--format", "png"]) == 0
    assert capfdbinary.readouterr().out == out.read_bytes()


def test_the_command_reports_early_that_png_needs_an_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    assert main(["draw", "no such file.lnn", "--format", "png"]) == 1
    err = capsys.readouterr().err
    assert "error[missing-extra] PNG needs resvg_py, which is not installed" in err and "lnnkit[report]" in err
    assert "no such file" not in err


def test_a_misspelt_predicate_is_corrected(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", str(TRACING), "Infectedd"]) == 1
    assert "no predicate is named `Infectedd`\n  hint: did you mean `Infected`?\n" in capsys.readouterr().err
    assert main(["draw", str(TRACING), "Zebra"]) == 1
    assert "declare it, if it is intended: `predicate Zebra`" in capsys.readouterr().err


def test_other_formats_are_not_written_under_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "picture.pdf"
    assert main(["draw", str(TRACING), "-o", str(out)]) == 2
    assert "svg, png, dot, html" in capsys.readouterr().err
    assert not out.exists()
    assert main(["draw", str(TRACING), "-o", str(out), "--format", "svg"]) == 0


def test_a_format_is_not_written_under_the_ending_of_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, form, code in (
        ("a.svg", "dot", 2),
        ("a.png", "svg", 2),
        ("a.htm", "svg", 2),
        ("a.gv", "dot", 0),
        ("a.txt", "dot", 0),
        ("a", "dot", 0),
    ):
        out = tmp_path / name
        assert main(["draw", str(TRACING), "-o", str(out), "--format", form]) == code
        assert out.exists() == (code == 0)
    assert "a.svg has the ending of svg, but --format is dot" in capsys.readouterr().err


def test_candidates_for_a_number_are_drawn_as_its_premises() -> None:
    kb = lnnkit.loads(
        "predicate E(n, n) closed\nnumber w(n, n) closed\nnumber d(n) closed\nfact d(ann) = 0\nfact E(ann, bob)\n"
        "fact w(ann, bob) = 2\nrule far: d(Y) = (min X: d(X) + w(X, Y) where E(X, Y))\n"
    )
    dot = kb.draw().to_dot()
    assert "dir=both" not in dot
    assert "no candidate is better" in kb.draw("d(bob)").to_dot()
