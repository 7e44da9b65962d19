"""Questions in both readings: verdicts, cores, worlds, numbers, closed and open predicates, and what is refused."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lnnkit
from lnnkit import time_limit
from lnnkit.cli import main
from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding
from lnnkit.prove.encoding.graded_encoding import GradedEncoding
from lnnkit.prove.verdict import Reading

pytest.importorskip("z3", reason="z3-solver is not installed")

CASES = """\
axiom A | B
axiom A -> C
axiom B -> C
"""


def verdict(text: str, question: str, **settings: object) -> str:
    return lnnkit.loads(text).prove(question, **settings).verdict  # type: ignore[arg-type]


def lines_of(text: str, question: str) -> list[int]:
    """The lines of the core, of which nothing can be left out."""
    proved = lnnkit.loads(text).prove(question)
    assert proved.minimal
    return sorted(member.line for member in proved.core)


# --- the classical reading --------------------------------------------------------------------------------------------


def test_cases() -> None:
    kb = lnnkit.loads(CASES)
    (told,) = kb.ask("C")
    assert told.state == "unknown"
    proved = kb.prove("C")
    assert (proved.verdict, proved.reading) == ("entailed", "classical")
    assert [member.line for member in proved.core] == [1, 2, 3]


def test_a_core_leaves_out_what_is_not_needed() -> None:
    text = "fact P(anna)\nfact P(bob)\naxiom P(X) -> Q(X)\naxiom Q(X) -> R(X)\naxiom P(X) & R(X) -> S(X)\n"
    assert lines_of(text, "S(anna)") == [1, 3, 4, 5]


def test_a_core_names_the_row_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("who\nanna\nbob\n")
    kb = lnnkit.loads('load P from "p.csv"\naxiom P(X) -> Q(X) | R\naxiom ~Q(bob)\n', tmp_path)
    proved = kb.prove("R")
    places = {(Path(each.file).name, each.line) for each in proved.core}
    assert places == {("p.csv", 3), ("<string>", 2), ("<string>", 3)}


def test_worlds_show_first_what_differs() -> None:
    text = "axiom A | B\naxiom A -> C\naxiom B -> C\naxiom C -> D\naxiom ~(A & B)\n"
    proved = lnnkit.loads(text).prove("(D | A) & (C -> A)", reading="classical")
    assert proved.verdict == "neither"
    holds, fails = ([name for name, _ in model.atoms] for model in proved.models)
    assert holds == fails
    assert {*holds[:2]} == {"A", "B"}
    assert {*holds[2:]} == {"C", "D"}


def test_worlds_of_degrees_show_first_what_differs() -> None:
    text = "fact C = 0.4\naxiom C | A in [0.9, 1]\naxiom A <-> B\n"
    proved = lnnkit.loads(text).prove("(C | ~C) & B", reading="exact")
    assert (proved.lower, proved.upper) == (0.5, 1.0)
    for model in proved.models:
        names = [name for name, _ in model.atoms]
        assert names.index("B") < names.index("C")


def test_a_world_with_an_unnamed_individual_is_one_in_which_the_question_holds() -> None:
    text = "sort thing open\npredicate Cat(thing)\naxiom Cat(X) -> Mammal(X)\naxiom Mammal(X) -> ~Reptile(X)\n"
    text += "axiom Mammal(X) -> exists Y: Parent(Y, X) & Mammal(Y)\nfact Cat(tom)\n"
    proved = lnnkit.loads(text).prove("exists X: Reptile(X)")
    assert proved.verdict == "neither"
    assert [model.truth for model in proved.models] == [1.0, 0.0]


def test_neither_comes_with_two_worlds() -> None:
    proved = lnnkit.loads(CASES).prove("A")
    assert proved.verdict == "neither"
    for world in proved.models:
        atoms = dict(world.atoms)
        assert atoms["A"] == world.truth
        assert atoms["A"] or atoms["B"]
        assert atoms["C"]
    assert [world.truth for world in proved.models] == [1, 0]


def test_a_program_that_contradicts_itself() -> None:
    text = CASES + "axiom ~C\nfact D\n"
    proved = lnnkit.loads(text).prove("D")
    assert proved.verdict == "inconsistent"
    assert sorted(member.line for member in proved.core) == [1, 2, 3, 4]


def test_a_contradiction_that_inference_meets() -> None:
    proved = lnnkit.loads("fact A\nfact ~A\nfact B\n").prove("B")
    assert proved.verdict == "inconsistent"
    assert [member.line for member in proved.core] == [1, 2]


def test_closed_predicates() -> None:
    text = "predicate Edge(node, node) closed\nfact Edge(a, b)\nfact Edge(b, c)\n"
    assert verdict(text, "Edge(a, c)") == "refuted"
    assert verdict(text, "exists X: Edge(X, X)") == "refuted"
    text += (
        "predicate Path(node, node) closed\nrule Edge(X, Y) -> Path(X, Y)\nrule Path(X, Y) & Edge(Y, Z) -> Path(X, Z)\n"
    )
    assert verdict(text, "Path(a, c) & ~Path(c, a)") == "entailed"


def test_completed_atoms_do_not_support_themselves() -> None:
    """Of an open edge, `Path` may hold or not; two paths that support only each other may not."""
    text = """
        predicate Path(node, node) closed
        fact Edge(a, b) in [0, 1]
        fact ~Edge(b, a)
        fact ~Edge(a, a)
        fact ~Edge(b, b)
        rule Edge(X, Y) -> Path(X, Y)
        rule Path(X, Y) -> Path(Y, X)
        """
    assert verdict(text, "Path(a, b)") == "neither"
    assert verdict(text, "Path(a, b) <-> Edge(a, b)") == "entailed"


def test_a_completed_atom_may_be_true_beside_those_that_support_themselves() -> None:
    """By one side of a disjunction, the other of which is the atom itself."""
    text = "predicate A(x)\npredicate E(x) closed\npredicate N(x)\nfact N(ann)\nfact N(bo)\nrule A(X) | E(X) -> E(X)\n"
    assert [verdict(text, each) for each in ("E(ann)", "E(ann) & E(bo)")] == ["neither", "neither"]
    assert verdict(text, "exists X: E(X) & ~A(X)") == "refuted"


@pytest.mark.parametrize("names", [("D1", "D2", "E"), ("E", "A", "D"), ("Z", "Q", "K"), ("K", "Z", "A")])
def test_completed_atoms_do_not_support_themselves_beside_what_they_negate(names: tuple[str, str, str]) -> None:
    """Where B makes the second true, the first and the third support only each other."""
    one, negated, other = names
    text = "".join(f"predicate {name} closed\n" for name in names) + f"predicate B\nrule B -> {negated}\n"
    text += f"rule {one} -> {other}\nrule {other} -> {one}\nrule ~{negated} -> {one}\n"
    assert verdict(text, f"{one} & B") == "refuted"
    assert verdict(text, f"{other} <-> ~B") == "entailed"


def test_rules_complete_predicates_of_unnamed_individuals_and_by_them() -> None:
    """Somebody unnamed may know bo, and be known."""
    text = "sort a open\npredicate Knows(a, a)\npredicate Known(a) closed\npredicate Shy(a) closed\n"
    text += "fact ~Knows(bo, bo)\nfact Shy(bo)\nrule Knows(X, Y) -> Known(Y)\nrule Known(X) & Shy(X) -> Famous(X)\n"
    text += "predicate Famous(a) closed\n"
    wanted = {
        "Known(bo)": "neither",
        "exists X: Known(X)": "neither",
        "exists X: Knows(X, X)": "neither",
        "exists X: Famous(X) & ~Shy(X)": "refuted",
        "forall Y: Known(Y) -> (exists X: Knows(X, Y))": "entailed",
        "forall X, Y: Knows(X, Y) -> Known(Y)": "entailed",
    }
    assert {question: verdict(text, question) for question in wanted} == wanted
    assert lnnkit.loads(text).prove("Known(bo)", reading="exact").upper == 1.0


def test_an_open_sort_may_hold_others() -> None:
    text = "sort person open\npredicate P(person)\npredicate Q(person)\nfact P(anna)\nfact P(bob)\n"
    assert verdict(text, "forall X: P(X)") == "neither"
    assert verdict(text.replace(" open", ""), "forall X: P(X)") == "entailed"


def test_unnamed_individuals_are_compared_with_entities() -> None:
    text = "sort person open\npredicate Knows(person, person)\nfact Knows(anna, bob)\naxiom Knows(X, X)\n"
    assert verdict(text, "exists X: exists Y: (Knows(X, Y) & X != Y)") == "entailed"
    assert verdict(text, "forall X: (forall Y: (Knows(X, Y) -> X = Y))") == "refuted"
    assert verdict(text, "forall X: (Knows(X, X) -> X = anna | X = bob)") == "neither"
    assert verdict(text, "exists X: (X != anna & Knows(X, X))") == "entailed"


def test_integers() -> None:
    text = "number place(entity)\nfact Known(anna)\naxiom place(anna) > 1\naxiom place(anna) < {}\n"
    assert verdict(text.format(3), "place(anna) = 2") == "entailed"
    assert verdict(text.format(2.5), "place(anna) = 2") == "neither"


def test_a_puzzle_of_places() -> None:
    text = "number place(book)\n" + "".join(f"axiom 1 <= place({book}) <= 3\n" for book in ("red", "blue", "green"))
    text += "axiom place(X) = place(Y) -> X = Y\naxiom place(red) < place(blue)\naxiom place(green) != 3\n"
    assert verdict(text, "place(blue) = 3") == "entailed"
    assert verdict(text, "place(red) = 1") == "neither"


def test_alpha_chooses_what_holds() -> None:
    text = "axiom A in [0.8, 1]\naxiom A -> B in [0.9, 1]\n"
    assert verdict(text, "B", alpha=0.8, reading="classical") == "entailed"
    proved = lnnkit.loads(text).prove("B", 0.85, reading="classical")
    assert proved.verdict == "neither"


def test_statements_below_alpha_are_counted() -> None:
    proved = lnnkit.loads("rule A -> B in [0.6, 1]\nfact A\n").prove("B", 0.9, reading="classical")
    assert proved.verdict == "neither"
    assert proved.notes == ("1 statements hold to less than 0.9 and are left out",)


# --- the exact reading ------------------------------------------------------------------------------------------------


def test_exact_by_cases() -> None:
    """A + C >= 0.9 and D >= max(A, C) - 0.2: D is least where A and C are alike."""
    text = "fact A in [0.2, 0.6]\naxiom A | C in [0.9, 1]\naxiom C -> D in [0.8, 1]\naxiom A -> D in [0.8, 1]\n"
    kb = lnnkit.loads(text)
    proved = kb.prove("D")
    assert (proved.reading, proved.verdict, proved.lower, proved.upper) == ("exact", "neither", 0.25, 1.0)
    assert [world.truth for world in proved.models] == [1, 0.25]
    (answer,) = kb.ask("D", exact=True)
    assert (answer.lower, answer.upper) == (0.25, 1.0)
    assert kb.tighten(["D", "C"])["C"].lower == pytest.approx(0.3)


@pytest.mark.parametrize(("logic", "lower"), [("lukasiewicz", 0.5), ("godel", 1.0), ("product", 1.0)])
def test_both_sides_of_a_disjunction_lead_to_the_same(logic: str, lower: float) -> None:
    """In Lukasiewicz logic A = B = C = 0.5 is a world of the three axioms; in the others one of A and B is 1."""
    kb = lnnkit.loads(f"logic {logic}\naxiom A | B\naxiom A -> C\naxiom B -> C\n")
    assert next(iter(kb.ask("C"))).lower == 0
    assert next(iter(kb.ask("C", exact=True))).lower == pytest.approx(lower, abs=1e-6)
    assert kb.prove("C", reading="classical").verdict == "entailed"


def test_exact_by_a_threshold() -> None:
    proved = lnnkit.loads("fact A = 0.9\naxiom A -> B in [0.95, 1]\naxiom ~C\n").prove("B", 0.85)
    assert (proved.verdict, proved.lower) == ("entailed", 0.85)
    assert [member.line for member in proved.core] == [1, 2]


def test_decimals_are_read_as_they_are_written() -> None:
    """0.1 + 0.2 is 0.3, which it is not in doubles."""
    text = "fact A = 0.1\nfact B = 0.2\naxiom A | B in [0.3, 0.3]\naxiom C | D in [0.5, 1]\n"
    proved = lnnkit.loads(text).prove("A | B")
    assert (proved.verdict, proved.lower, proved.upper) == ("neither", pytest.approx(0.3), pytest.approx(0.3))


def test_product_logic() -> None:
    """A (1 - A) is at most 1/4."""
    proved = lnnkit.loads("logic product\nfact A in [0, 1]\nfact B = 0.5\n").prove("A & ~A", timeout=20)
    assert proved.lower == 0
    assert proved.upper is not None and 0.25 <= proved.upper <= 0.250001


def test_numbers_are_reals() -> None:
    text = "number age(entity)\nfact age(anna) in [20, 40]\naxiom age(anna) > 30 -> Old(anna) in [0.7, 1]\n"
    proved = lnnkit.loads(text + "axiom age(anna) <= 30 -> Old(anna) in [0.4, 1]\n").prove("Old(anna)")
    assert (proved.lower, proved.upper) == (0.4, 1.0)


# --- what is asked ----------------------------------------------------------------------------------------------------


def test_what_cannot_be_asked() -> None:
    kb = lnnkit.loads("number age(entity)\nfact age(anna) = 3\nfact P(anna)\n")
    with pytest.raises(lnnkit.ProgramError, match="free variables"):
        kb.prove("P(X)")
    with pytest.raises(lnnkit.ProgramError, match="neither true nor false"):
        kb.prove("age(anna)")
    with pytest.raises(lnnkit.ProgramError, match="nothing supplies"):
        kb.prove("Q(anna)")
    with pytest.raises(ValueError, match="alpha"):
        kb.prove("P(anna)", 0.4)


def test_an_empty_program() -> None:
    assert list(lnnkit.loads("").prove_queries()) == []


def test_without_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = lnnkit.loads(CASES)
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(lnnkit.Error, match=r"pip install 'lnnkit\[prove\]'"):
        kb.prove("C")


class _Elapsing:
    """A clock that goes on a hundredth of a second for each statement that is translated."""

    def __init__(self) -> None:
        self.translated = 0

    def monotonic(self) -> float:
        return 0.01 * self.translated

    def held(self, encoding: GradedEncoding, item: Any, held: Callable[[GradedEncoding, Any], Any]) -> Any:
        self.translated += 1
        return held(encoding, item)


def test_time_runs_out_while_statements_are_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "predicate C(node, node)\n" + "".join(f"fact N(n{n}) in [0.2, 1]\n" for n in range(6))
    text += "axiom C(X, Y) & C(Y, Z) -> C(X, Z) in [0.9, 1]\naxiom N(X) & N(Y) -> C(X, Y) in [0.7, 1]\n"
    kb = lnnkit.loads(text)
    settled = kb.prove("C(n1, n2)", reading="exact").translated
    assert settled > 192
    clock, held = _Elapsing(), GradedEncoding.held
    monkeypatch.setattr(GradedEncoding, "held", lambda self, item: clock.held(self, item, held))
    monkeypatch.setattr(time_limit, "time", clock)
    proved = kb.prove("C(n1, n2)", reading="exact", timeout=1)
    (told,) = kb.ask("C(n1, n2)")
    assert (proved.verdict, proved.lower, proved.upper) == ("timeout", told.lower, told.upper)
    assert 90 <= clock.translated <= 100  # of the second, a share is kept for the answer
    assert "time ran out" in proved.notes[0]


def test_a_timeout_leaves_what_inference_has_found() -> None:
    holes = range(9)
    text = "".join(f"axiom {' | '.join(f'In(p{p}, h{h})' for h in holes)}\n" for p in range(10))
    for h in holes:
        text += "".join(f"axiom ~(In(p{p}, h{h}) & In(p{q}, h{h})) | Full\n" for p in range(10) for q in range(p))
    kb = lnnkit.loads(text)
    kb.infer()
    kb.prove("Full", timeout=0.05)  # imports
    start = time.process_time()
    proved = kb.prove("Full", timeout=0.5)
    assert proved.verdict == "timeout"
    assert proved.notes
    assert time.process_time() - start < 2


# --- the command line -------------------------------------------------------------------------------------------------


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text(CASES + "query C\nquery A\n")
    assert main(["prove", str(path), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    first, second = json.loads(out)["results"]
    core = [{"text": text, "file": str(path), "line": n} for n, text in enumerate(CASES.splitlines(), 1)]
    assert first["core"] == core
    assert {key: first[key] for key in ("formula", "reading", "verdict", "lower", "upper", "models")} == {
        "formula": "C",
        "reading": "classical",
        "verdict": "entailed",
        "lower": None,
        "upper": None,
        "models": [],
    }
    assert [model["truth"] for model in second["models"]] == [1.0, 0.0]


def test_text_and_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text("predicate P(entity)\nfact P(anna)\naxiom P(X) -> Q(X)\nquery Q(X)\n")
    assert main(["prove", str(path)]) == 0
    assert capsys.readouterr().out.startswith("Q(anna)   entailed (classical)\n  it follows from\n    fact P(anna)")
    assert main(["prove", str(path), "Q(anna)", "--format", "html", "--exact"]) == 0
    assert "<p>Q(anna): entailed [1, 1] (exact)</p>" in capsys.readouterr().out


def test_no_axiom_is_said_to_derive_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text("predicate R\naxiom ~R -> Q\naxiom R -> Q\nquery Q\n")
    assert any(each.code == "never-false" for each in lnnkit.load(path).warnings)
    assert main(["prove", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Q   entailed")
    assert "derives nothing" not in captured.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--classical", "--exact"], 2),
        (["--alpha", "0.3"], 2),
        (["--timeout", "-1"], 2),
        (["Nobody(knows)"], 1),
        (["Q("], 1),
    ],
)
def test_exit_codes(arguments: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.lnn"
    path.write_text(CASES)
    assert main(["prove", str(path), *arguments]) == code
    assert capsys.readouterr().out == ""


def test_a_comparison_of_unknown_numbers() -> None:
    text = "number a(day)\nnumber b(day)\nfact P(d)\nrule a(X) = b(X)\nrule P(X) & a(X) > 3 -> Hot(X)\n"
    assert verdict(text, "Hot(d)") == "neither"


@pytest.mark.parametrize("law", ["y(X) = 0.5 * a(X) * b(X)", "y(X) = a(X) / 3 - b(X)"])
def test_a_number_that_inference_rounds_contradicts_nothing(law: str) -> None:
    """Half of the product of the two has more digits than a float: what inference knows of it is near it, not it."""
    text = "number a(day)\nnumber b(day)\nnumber y(day)\nfact a(d) = 3279.46748834566\nfact b(d) = 0.00281317\n"
    kb = lnnkit.loads(f"{text}rule {law}\nrule y(X) > 4 -> Hot(X)\n")
    assert kb.prove("Hot(d)").verdict == "entailed"
    assert kb.prove("y(d) < 4").verdict == "refuted"


@pytest.mark.parametrize(("reading", "encoding"), [("classical", ClassicalEncoding), ("exact", GradedEncoding)])
def test_a_translation_ends_with_its_time(
    monkeypatch: pytest.MonkeyPatch, reading: Reading, encoding: type[ClassicalEncoding | GradedEncoding]
) -> None:
    kb = lnnkit.loads("".join(f"axiom A{n} | A{n + 1}\n" for n in range(400)))
    translate = encoding.held
    counted: list[object] = []

    def slowly(self: Any, item: Any) -> Any:
        counted.append(item)
        time.sleep(0.005)
        return translate(self, item)

    monkeypatch.setattr(encoding, "held", slowly)  # the clock: a translation of 2 seconds
    assert kb.prove("A7", timeout=0.1, reading=reading).verdict == "timeout"
    assert len(counted) < 200
