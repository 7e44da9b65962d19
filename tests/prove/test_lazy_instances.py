"""Statements instantiated as models violate them: the same verdicts as by truth tables and by the whole translation."""

from __future__ import annotations

import os
import random
from functools import partial
from pathlib import Path

import pytest

import lnnkit
from lnnkit.kb import proving
from lnnkit.prove.decision.question import Ground
from tests.blocks import in_blocks
from tests.programs import formula_text, to_text
from tests.prove.truth_table_agreement import agree
from tests.prove.truth_tables import draw

pytest.importorskip("z3", reason="z3-solver is not installed")
ALL, PLAIN, BLOCK = 1000, 3, 50
DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "lubm"


@pytest.fixture
def lazily(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little a question depends on."""
    # So that small questions, which truth tables can check, are not translated at once
    monkeypatch.setattr(proving, "Ground", partial(Ground, eager=-1))


@pytest.mark.usefixtures("lazily")
@pytest.mark.parametrize("block", in_blocks(range(ALL), BLOCK, PLAIN))
def test_verdicts_are_those_of_truth_tables(block: range) -> None:
    agree(block)


@pytest.mark.parametrize("block", in_blocks(range(150), 25, 1))
def test_open_sorts_are_read_as_in_the_whole_translation(block: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """There, individuals that nothing names are a sort of Z3, with its own quantifiers."""
    for seed in block:
        case = draw(seed)
        try:
            kb = lnnkit.loads("sort entity open\n" + to_text(case.program))
        except lnnkit.ProgramError:
            continue
        for question in map(formula_text, case.program.queries):
            with monkeypatch.context() as patch:
                whole = kb.prove(question, reading="classical", timeout=5).verdict
                patch.setattr(proving, "Ground", partial(Ground, eager=-1))
                found = kb.prove(question, reading="classical")
            assert whole in (found.verdict, "timeout"), f"seed {seed}\n{to_text(case.program)}\n{question}: {found}"


KINDS = ("{0} & {1} -> {2}", "{0} -> {1} | {2}", "~({0} & {1} & {2})", "{0} -> exists Z: S(X, Z)")


def _holds(kind: str, atoms: tuple[str, ...], row: tuple[str, str], truths: dict[str, bool], people: list[str]) -> bool:
    """Whether a statement of one of the kinds holds of X and Y."""
    one, two, three = (truths[each.replace("X", row[0]).replace("Y", row[1])] for each in atoms)
    match KINDS.index(kind):
        case 0:
            return not (one and two) or three
        case 1:
            return not one or two or three
        case 2:
            return not (one and two and three)
    return not one or any(truths[f"S({row[0]}, {z})"] for z in people)


def planted(seed: int) -> tuple[str, dict[str, bool]]:
    """A program over some twenty entities that holds in a world drawn first, and questions with their truths there."""
    rng = random.Random(f"planted world {seed}")
    people = [f"e{n}" for n in range(rng.choice([12, 20]))]
    unary, binary = ("A", "B", "C"), ("R", "S")
    truths = {f"{name}({one})": rng.random() < 0.4 for name in unary for one in people}
    truths |= {f"{name}({one}, {two})": rng.random() < 0.1 for name in binary for one in people for two in people}
    lines = ["predicate R(entity, entity) closed"] if rng.random() < 0.4 else []
    listed = [atom for atom in truths if rng.random() < 0.2 or (lines and atom[0] == "R" and truths[atom])]
    lines += [f"fact {'' if truths[atom] else '~'}{atom}" for atom in listed]
    lines += [f"fact Known({one})" for one in people]
    if lines[0].endswith("closed"):
        truths |= {atom: False for atom in truths if atom[0] == "R" and atom not in listed}

    literals = [f"{name}({one})" for name in unary for one in "XY"] + [f"{name}(X, Y)" for name in binary]
    made = 0
    while made < 4:
        one, two, three = rng.sample(literals, 3)
        kind = rng.choice(KINDS)
        text = kind.format(one, two, three)
        rows = [(x, y) for x in people for y in people]
        wrong = [row for row in rows if not _holds(kind, (one, two, three), row, truths, people)]
        if len(wrong) > 30:
            continue
        free = sorted({each for each in "XY" if each in text.replace("exists", "")})
        but = sorted({" & ".join(f"{each} = {row['XY'.index(each)]}" for each in free) for row in wrong})
        lines.append(f"axiom ({text})" + "".join(f" | ({each})" for each in but))
        made += 1
    questions = dict(rng.sample(sorted(truths.items()), 3))
    who = rng.choice(people)
    questions[f"exists Z: S({who}, Z) & A(Z)"] = any(truths[f"S({who}, {z})"] and truths[f"A({z})"] for z in people)
    questions["forall Z: B(Z) -> C(Z)"] = all(not truths[f"B({z})"] or truths[f"C({z})"] for z in people)
    return "\n".join(lines), questions


@pytest.mark.parametrize("block", in_blocks(range(120), 10, 1))
def test_no_verdict_excludes_a_planted_world(block: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in block:
        text, questions = planted(seed)
        kb = lnnkit.loads(text)
        for question, truth in questions.items():
            with monkeypatch.context() as patch:
                patch.setattr(proving, "Ground", partial(Ground, eager=-1))
                found = kb.prove(question, reading="classical")
            assert found.verdict in ("neither", "entailed" if truth else "refuted"), f"seed {seed}\n{text}\n{found}"


def test_anyone_represents_all_rows() -> None:
    """What holds of everyone is shown of one individual, not of a thousand."""
    people = "".join(f"fact Known(p{n})\n" for n in range(1000))
    text = people + "axiom A(X) -> B(X) | C(X)\naxiom B(X) -> D(X)\naxiom C(X) -> D(X)\n"
    proved = lnnkit.loads(text).prove("forall X: A(X) -> D(X)")
    assert proved.verdict == "entailed"
    assert [member.line for member in proved.core] == [1001, 1002, 1003]
    assert proved.translated < 20
    assert lnnkit.loads(text).prove("forall X: D(X) -> A(X)").verdict == "neither"


def test_what_inference_gives_of_closed_predicates_is_kept() -> None:
    """Anyone may be an entity that a closed predicate lists, so it is not false of anyone."""
    people = "".join(f"fact Known(p{n})\n" for n in range(700))
    text = people + "predicate Edge(entity, entity) closed\nfact Edge(p1, p2)\naxiom Edge(X, Y) -> A(X) | A(Y)\n"
    kb = lnnkit.loads(text)
    assert kb.prove("exists X: A(X)").verdict == "entailed"
    assert kb.prove("forall X: A(X)").verdict == "neither"


@pytest.mark.usefixtures("lazily")
@pytest.mark.parametrize("sort", ["person", "person open"])
def test_what_facts_list_is_not_all_that_anyone_has(sort: str) -> None:
    """A quantifier within a row of anyone has rows that no fact about anyone lists."""
    facts = "".join(f"fact Has(a{n}, i)\nfact Has(b{n}, i) in [0, 1]\n" for n in range(40))
    text = f"sort {sort}\npredicate Has(person, item) closed\npredicate A(person)\npredicate B(person)\n{facts}"
    said = "(exists X: A(X) & (exists Y: Has(X, Y)) & ~B(X))"
    assert lnnkit.loads(text).prove(said).verdict == "neither"
    assert lnnkit.loads(f"{text}axiom {said}\n").prove("B(a1)").verdict == "neither"
    never = "axiom A(X) -> ~(exists Y: Has(X, Y))\naxiom A(X) -> (forall Y: ~Has(X, Y))\n"
    assert lnnkit.loads(text + never).prove(said).verdict == "refuted"
    assert lnnkit.loads(f"{text}axiom exists X: A(X) & (forall Y: Has(X, Y))\n").prove("A(a1)").verdict == "neither"


def functional_text(count: int) -> str:
    """An ontology in which each class needs a member of another by one functional property."""
    declared = [f"predicate C{place}(thing)" for place in range(count)]
    needs = [f"axiom C{place}(X) -> (exists Y: R(X, Y) & C{(7 * place + 1) % count}(Y))" for place in range(count)]
    others = ("axiom R(X, Y) & R(X, Z) -> Y = Z", "axiom Has(X) <-> (exists Y: R(X, Y) & C1(Y))")
    first = ("sort thing open", "predicate R(thing, thing)", "predicate Has(thing)")
    return "\n".join((*first, *declared, *needs, *others))


def test_statements_near_the_question_suffice_in_an_ontology_with_a_functional_property() -> None:
    proved = lnnkit.loads(functional_text(150)).prove("forall X: C0(X) -> Has(X)", timeout=30)
    assert (proved.verdict, len(proved.core), proved.minimal) == ("entailed", 2, True)


@pytest.mark.usefixtures("lazily")
def test_an_individual_that_exists_no_more_may_have_been_the_only_row_of_a_quantifier() -> None:
    needs = "axiom exists X: A(X)\naxiom A(X) -> (exists Y: R(X, Y) & A(Y))\naxiom R(X, Y) & A(X) -> B(Y)\n"
    kb = lnnkit.loads(f"sort thing open\npredicate A(thing)\npredicate R(thing, thing)\n{needs}axiom B(X) -> false\n")
    assert kb.prove("forall X: A(X) -> B(X)").verdict == "inconsistent"


@pytest.mark.usefixtures("lazily")
def test_individuals_may_be_equal_where_a_property_is_functional() -> None:
    needs = "\n".join(f"axiom P(X) -> (exists Y: R(X, Y) & {name}(Y))" for name in "QS")
    text = f"sort thing open\npredicate R(thing, thing)\n{needs}\naxiom R(X, Y) & R(X, Z) -> Y = Z\n"
    kb = lnnkit.loads(f"{text}axiom Q(X) & S(X) -> T(X)\nfact P(anna)\n")
    assert kb.prove("exists Y: R(anna, Y) & T(Y)").verdict == "entailed"
    assert kb.prove("exists Y: R(anna, Y) & P(Y)").verdict == "neither"


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no LUBM data at {DATA}")
@pytest.mark.slow
def test_questions_about_an_entity_of_lubm() -> None:
    from benchmarks.lubm import program, read

    kb = lnnkit.loads(program(read(DATA / "tbox.tsv")), DATA)
    kb.infer()
    who = '"http://www.Department0.University0.edu/Lecturer0"'
    kb.prove(f"Person({who})")  # imports
    expected = {
        f"Employee({who})": "entailed",
        f"Chair({who})": "neither",
        f"Organization({who})": "neither",
        f"Chair({who}) -> exists Y: headOf({who}, Y) & Department(Y)": "entailed",
        f"forall Y: worksFor({who}, Y) -> Organization(Y)": "entailed",
        f"exists Y: headOf({who}, Y) & College(Y)": "neither",
    }
    for question, verdict in expected.items():
        proved = kb.prove(question)
        assert (proved.verdict, proved.translated < 300) == (verdict, True), question  # of millions of instances
