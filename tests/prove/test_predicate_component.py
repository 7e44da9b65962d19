"""Questions about a part of a program: answers are those of the whole program, if that is consistent."""

from __future__ import annotations

import re
import time

import pytest

import lnnkit
from lnnkit.graph import lifting
from lnnkit.kb import proving
from lnnkit.kb.asking import answers
from lnnkit.kb.theory import asked
from tests.blocks import in_blocks
from tests.programs import formula_text, to_text
from tests.prove import graded_worlds, truth_tables

pytest.importorskip("z3", reason="z3-solver is not installed")
ALL, PLAIN, BLOCK = 400, 2, 25
NAMES = re.compile(r"\b([A-Z][A-Za-z]*\d*|s\d+)(?=[(:\s&|<>)=@{]|$)")
VARIABLES = re.compile(r"^[XYZ]\d*$")


def renamed(text: str, number: int) -> str:
    """A program or formula about predicates of its own; part 1 is about another entity too."""
    found = NAMES.sub(lambda match: match[0] if VARIABLES.match(match[0]) else f"{match[0]}_{number}", text)
    return found.replace("anna", "zoe") if number == 1 else found


def joined(texts: list[str]) -> str:
    """Independent programs as one."""
    parts = [renamed(text, number) for number, text in enumerate(texts)]
    lines = [line for part in parts for line in part.splitlines() if not line.startswith(("logic", "query"))]
    return "\n".join(sorted(lines, key=lambda line: not line.startswith("predicate"))) + "\n"


def loaded(seed: int, logic: str) -> tuple[str, lnnkit.KnowledgeBase, list[str]] | None:
    """Three random programs as one, with the questions of the first."""
    seeds = [seed, 10_000 + seed, 20_000 + seed]
    if logic == "classical":
        cases = [truth_tables.draw(each) for each in seeds]
    else:
        cases = [graded_worlds.draw(each, logic) for each in seeds]
    head = "" if logic == "classical" else f"logic {logic}\n"
    text = head + joined([to_text(case.program) for case in cases])
    questions = [renamed(formula_text(each), 0) for each in dict.fromkeys(cases[0].program.queries)]
    try:
        return text, lnnkit.loads(text), questions
    except lnnkit.ProgramError as problem:
        if {each.code for each in problem.diagnostics} <= {"unsafe-variable", "negative-cycle"}:
            return None
        raise


@pytest.mark.parametrize("logic", ["classical", "lukasiewicz", "godel"])
@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_inference_finds_the_same_bounds(block: range, logic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "WHOLE", -1)
    parts = 0
    for seed in block:
        found = loaded(seed, logic)
        if found is None:
            continue
        text, kb, questions = found
        whole_ends = kb.infer().status == "converged" and not kb.infer().contradictions
        for question in questions if whole_ends else ():
            query, _ = asked(kb._theory, question)
            part, notes = proving._part(kb._session, [query])
            parts += bool(notes)
            there = [(a.bindings, a.lower, a.upper) for a in answers(part, query, 1.0)]
            here = [(a.bindings, a.lower, a.upper) for a in kb.ask(question)]
            assert there == here, f"seed {seed}\n{text}\n{question}"
    assert parts > len(block) / 2


@pytest.mark.parametrize("logic", ["classical", "lukasiewicz"])
@pytest.mark.parametrize("block", in_blocks(range(200), 20, 1))
def test_verdicts_are_those_of_the_whole_program(block: range, logic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in block:
        found = loaded(seed, logic)
        if found is None:
            continue
        text, kb, questions = found
        reading = "classical" if logic == "classical" else "exact"
        for question in questions[:2]:
            whole = kb.prove(question, reading=reading, timeout=2)  # type: ignore[arg-type]
            with monkeypatch.context() as patch:
                patch.setattr(proving, "WHOLE", -1)
                part = kb.prove(question, reading=reading, timeout=2)  # type: ignore[arg-type]
            if whole.verdict in ("inconsistent", "timeout") or part.verdict == "timeout":
                continue
            same = part.verdict == whole.verdict and whole.lower == pytest.approx(part.lower, abs=1e-7)
            assert same and whole.upper == pytest.approx(part.upper, abs=1e-7), f"{seed}\n{text}\n{part}\n{whole}"


def large(groups: int = 11) -> str:
    """Ten statements a group, of which a question of one group needs no other."""
    lines: list[str] = []
    for group in range(groups):
        lines += [f"rule G{group}_{n}(X) & F{group}_{n}(X) -> G{group}_{n + 1}(X)" for n in range(8)]
        lines += [f"axiom G{group}_8(X) -> L{group}(X) | R{group}(X)"]
        lines += [f"axiom L{group}(X) | R{group}(X) -> D{group}(X)", f"fact G{group}_0(e{group})"]
        lines += [f"fact F{group}_{n}({'e' if group % 2 == 0 or n < 7 else 'x'}{group})" for n in range(8)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of more than 100 statements are cut to a part, as otherwise those of more than 500."""
    monkeypatch.setattr(proving, "WHOLE", 100)


def test_a_large_program_is_read_as_far_as_the_question_reaches() -> None:
    kb = lnnkit.loads(large(51))
    proved = kb.prove("D0(e0)")
    assert proved.verdict == "entailed"
    assert len(proved.core) == 19
    assert "10 of 510 statements share predicates with it" in proved.notes[0]
    assert [kb.prove(f"exists X: D{n}(X)").verdict for n in (1, 2)] == ["neither", "entailed"]


@pytest.mark.usefixtures("cut")
def test_entities_of_other_statements_still_count() -> None:
    """Nobody but `e0` is named beside the first group, yet `forall` is about all."""
    kb = lnnkit.loads(large() + "axiom (D0(X) -> E0(X)) & E0(e0)\n")
    assert kb.prove("forall X: E0(X)").verdict == "neither"
    kb = lnnkit.loads(large() + "axiom (G1_0(only_here) -> G1_1(only_here))\naxiom E0(e0)\n")
    assert kb.prove("E0(only_here)").verdict == "neither"
    assert kb.prove("exists X: X = only_here").verdict == "entailed"


@pytest.mark.usefixtures("cut")
def test_a_contradiction_elsewhere_is_not_looked_at() -> None:
    """Whether the whole has been inferred before changes nothing."""
    text = large() + "axiom ~G1_0(X)\n"
    kb = lnnkit.loads(text)
    first = kb.prove("D0(e0)")
    assert kb.infer().contradictions
    assert kb.prove("D0(e0)") == first
    assert first.verdict == "entailed"
    assert "whether the others contradict each other was not checked" in first.notes[0]
    assert kb.prove("D1(e1)").verdict == "inconsistent"
    assert [member.text for member in kb.prove("D1(e1)").core] == ["fact G1_0(e1)", "axiom ~G1_0(X)"]


@pytest.mark.usefixtures("cut")
def test_closed_predicates_of_plain_facts_link_nothing() -> None:
    guarded = re.sub(r"axiom G(\d+)_8\(X\) ->", r"axiom Person(X) & G\1_8(X) ->", large())
    people = "".join(f"fact Person(e{n})\n" for n in range(11))
    kb = lnnkit.loads("predicate Person(entity) closed\n" + guarded + people)
    assert "10 of 110" in kb.prove("D0(e0)").notes[0]
    assert kb.prove("D0(e0)").verdict == "entailed"
    kb = lnnkit.loads(guarded + people)  # open: whoever is a person is linked
    assert kb.prove("D0(e0)").notes == ()


@pytest.mark.usefixtures("cut")
def test_exact_answers_are_of_the_part_that_the_query_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    kb = lnnkit.loads(large())
    lifted: list[int] = []
    build = lifting.build
    monkeypatch.setattr(lifting, "build", lambda program: lifted.append(len(program.assertions)) or build(program))
    found = kb.ask("D0(X)", exact=True)
    assert lifted == [10]
    assert [(each.bindings, each.lower) for each in found] == [({"X": "e0"}, 1.0)]
    kb.infer()
    assert list(kb.ask("D0(X)", exact=True)) == list(found)
    assert lifted == [10, 110]


@pytest.mark.usefixtures("cut")
def test_questions_without_statements_have_parts_of_their_own() -> None:
    kb = lnnkit.loads(large() + "fact Alone(a)\nfact Other(b)\n")
    assert kb.prove("exists X: Alone(X)").verdict == "entailed"
    assert kb.prove("exists X: Other(X)").verdict == "entailed"
    assert kb.prove("forall X: Other(X)").verdict == "neither"


@pytest.mark.usefixtures("cut")
def test_facts_told_later_are_met() -> None:
    kb = lnnkit.loads(large() + "axiom D0(X) & Told(X) -> End(X)\n")
    assert kb.prove("End(e0)").verdict == "neither"
    kb.tell("Told", [("e0",)])
    assert kb.prove("End(e0)").verdict == "entailed"


def test_inference_ends_in_time() -> None:
    """A chain of many rounds: the time is over before inference is."""
    text = "".join(f"fact Next(n{n}, n{n + 1})\n" for n in range(3000)) + "fact Met(n0)\n"
    kb = lnnkit.loads(text + "rule Met(X) & Next(X, Y) -> Met(Y)\n")
    start = time.monotonic()
    proved = kb.prove("Met(n3000)", timeout=0.05)
    assert time.monotonic() - start < 5
    assert proved.verdict == "timeout"
    assert "inference took all the time" in proved.notes[0]
    assert kb.ask("Met(n3000)")[0].lower == 1.0  # what was cut short is not kept
