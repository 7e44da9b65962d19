"""Ontologies: LUBM's published closure, and small ones of other shapes whose closure was worked out by hand."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import lnnkit
from benchmarks import lubm

Atom = tuple[str, ...]
Bounds = tuple[float, float]

TRUE, FALSE, UNKNOWN = (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)


def holds(kb: lnnkit.KnowledgeBase, query: str) -> set[tuple[str, ...]]:
    """The bindings for which the query is true, and not contested."""
    return {tuple(a.bindings.values()) for a in kb.ask(query) if a.state == "true" and not a.contested}


def fails(kb: lnnkit.KnowledgeBase, query: str) -> set[tuple[str, ...]]:
    return {tuple(a.bindings.values()) for a in kb.ask(query) if a.state == "false" and not a.contested}


def bounds(kb: lnnkit.KnowledgeBase, query: str) -> Bounds:
    (answer,) = kb.ask(query)
    return answer.lower, answer.upper


# --- LUBM -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def department() -> lnnkit.KnowledgeBase:
    if not (lubm.DATA / "tbox.tsv").is_file():
        pytest.skip(f"no LUBM data in {lubm.DATA}; set LNNKIT_DATA")
    return lnnkit.loads(lubm.program(lubm.read(lubm.DATA / "tbox.tsv")), lubm.DATA)


def test_the_closure_of_lubm_is_exact(department: lnnkit.KnowledgeBase) -> None:
    start = time.process_time()
    outcome = department.infer()
    seconds = time.process_time() - start
    derived = lubm.true_atoms(department) - set(lubm.read(lubm.DATA / "abox.tsv"))
    gold = set(lubm.read(lubm.DATA / "gold_entailed.tsv"))
    assert len(gold) == 3265
    assert sorted(gold - derived) == []
    assert sorted(derived - gold) == []
    assert (outcome.status, outcome.contradictions) == ("converged", ())
    assert seconds < 10  # 0.16 on an idle core: a bound against a join gone wrong, not a measurement


def test_the_ontology_reads_back(department: lnnkit.KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "lubm.lnn"
    path.write_text(lubm.program(lubm.read(lubm.DATA / "tbox.tsv"), str(lubm.DATA / "abox.tsv")), encoding="utf-8")
    again = lnnkit.load(path)
    assert again.program == lnnkit.parse(path.read_text(encoding="utf-8"))
    assert again.queries == department.queries
    # `advisor(X, Y) -> Person(X)`, and classes that nobody is listed in
    assert {warning.code for warning in again.warnings} == {"single-variable", "no-rows"}


# --- the translator, by hand ------------------------------------------------------------------------------------------

MUSIC = """
subClassOf	Cellist	Musician
subClassOf	Musician	Person
definedAnd	Soloist	Musician
definedSome	Soloist	plays Concerto
definedSome	Composer	wrote Piece
subClassOfSome	Pupil	taughtBy Teacher
subPropertyOf	wrote	created
inverseOf	taughtBy	teaches
inverseOf	teaches	taughtBy
transitive	influenced
domain	influenced	Person
range	wrote	Piece
range	teaches	Pupil
"""
LISTED = """
casals	type	Cellist
casals	plays	opus 85
opus 85	type	Concerto
anna	plays	opus 85
elgar	wrote	enigma
casals	taughtBy	garcia
bach	influenced	mozart
mozart	influenced	chopin
chopin	influenced	bach
"""


@pytest.fixture
def music(tmp_path: Path) -> lnnkit.KnowledgeBase:
    (tmp_path / "tbox.tsv").write_text(MUSIC.lstrip("\n"), encoding="utf-8")
    (tmp_path / "abox.tsv").write_text(LISTED.lstrip("\n"), encoding="utf-8")
    return lnnkit.loads(lubm.program(lubm.read(tmp_path / "tbox.tsv")), tmp_path)


def test_a_small_ontology_entails_what_it_should(music: lnnkit.KnowledgeBase, tmp_path: Path) -> None:
    composers = ("bach", "mozart", "chopin")
    expected = {
        ("casals", "type", "Musician"),
        ("casals", "type", "Person"),
        ("casals", "type", "Soloist"),  # a musician who plays a concerto; anna plays it but is no known musician
        ("enigma", "type", "Piece"),  # the range of `wrote`
        ("elgar", "type", "Composer"),  # defined by `some wrote Piece` alone, and enigma is a piece by the range
        ("elgar", "created", "enigma"),
        ("garcia", "teaches", "casals"),
        ("casals", "type", "Pupil"),  # the range of the inverse; his teacher is not thereby named
        *((one, "influenced", other) for one in composers for other in composers),  # a cycle: everyone, themselves too
        *((one, "type", "Person") for one in composers),
    } - set(lubm.read(tmp_path / "abox.tsv"))
    assert lubm.true_atoms(music) - set(lubm.read(tmp_path / "abox.tsv")) == expected


def test_the_axioms_work_backwards(music: lnnkit.KnowledgeBase) -> None:
    """Contrapositives, and the necessary side of a definition."""
    music.tell("Person", [("stone", 0.0, 0.0)])
    music.tell("Soloist", [("anna", 0.0, 0.0), ("dupre", 1.0, 1.0)])
    music.tell("taughtBy", [("garcia", "casals", 0.0, 0.0)])
    assert bounds(music, 'Musician("stone")') == FALSE
    assert bounds(music, 'Cellist("stone")') == FALSE
    assert bounds(music, 'influenced("stone", "bach")') == FALSE  # its subjects are persons
    assert bounds(music, 'influenced("bach", "stone")') == UNKNOWN
    assert bounds(music, 'Musician("dupre")') == TRUE
    assert ("dupre",) in holds(music, "exists Y: plays(X, Y) & Concerto(Y)")
    assert bounds(music, 'exists Y: plays("dupre", Y) & Concerto(Y)') == TRUE
    assert bounds(music, 'plays("dupre", "opus 85")') == UNKNOWN  # she may play another
    assert bounds(music, 'Musician("anna")') == FALSE  # she plays a concerto and is no soloist
    assert bounds(music, 'teaches("casals", "garcia")') == FALSE
    assert music.infer().contradictions == ()


def test_an_unknown_kind_of_axiom_is_refused() -> None:
    with pytest.raises(ValueError, match="sameAs"):
        lubm.ontology([("sameAs", "a", "b")])


# --- other shapes, by hand --------------------------------------------------------------------------------------------

FAMILY = """
axiom symmetric: spouse(X, Y) -> spouse(Y, X)
axiom chain: parent(X, Y) & brother(Y, Z) -> uncle(X, Z)
axiom disjoint: ~(Man(X) & Woman(X))
axiom covering: Person(X) -> Man(X) | Woman(X)
axiom irreflexive: ~parent(X, X)
axiom asymmetric: parent(X, Y) -> ~parent(Y, X)
axiom functional: mother(X, Y) & mother(X, Z) & Y != Z -> false
axiom same: colleague(X, Y) -> X = Y | knows(X, Y)
axiom vegan: Vegan(X) -> forall Y: eats(X, Y) -> Plant(Y)

fact spouse(ann, bob)
fact parent(kim, ann)
fact brother(ann, joe)
fact brother(joe, jim)
fact Man(bob)
fact Person(kim)
fact ~Man(kim)
fact Person(pat)
fact mother(kim, ann)
fact mother(sue, sue)
fact colleague(ann, ann)
fact colleague(ann, bob)
fact Vegan(ada)
fact eats(ada, kale)
fact ~Plant(beef)
fact eats(bob, beef)
"""


@pytest.fixture(scope="module")
def family() -> lnnkit.KnowledgeBase:
    return lnnkit.loads(FAMILY)


def test_a_symmetric_property(family: lnnkit.KnowledgeBase) -> None:
    assert holds(family, "spouse(X, Y)") == {("ann", "bob"), ("bob", "ann")}


def test_a_chain_of_properties(family: lnnkit.KnowledgeBase) -> None:
    assert holds(family, "uncle(X, Y)") == {("kim", "joe")}  # `brother` was not said to be transitive


def test_disjoint_classes_and_a_covering(family: lnnkit.KnowledgeBase) -> None:
    assert fails(family, "Woman(X)") == {("bob",)}
    assert holds(family, "Woman(X)") == {("kim",)}
    assert bounds(family, "Man(pat)") == UNKNOWN
    assert holds(family, "Man(X) | Woman(X)") == {("bob",), ("kim",), ("pat",)}
    assert bounds(family, "Man(pat) | Woman(pat)") == TRUE  # one of them, nobody knows which


def test_an_asymmetric_property_is_false_backwards_and_on_the_diagonal(family: lnnkit.KnowledgeBase) -> None:
    everyone = {"ada", "ann", "beef", "bob", "jim", "joe", "kale", "kim", "pat", "sue"}
    assert fails(family, "parent(X, Y)") == {("ann", "kim")} | {(one, one) for one in everyone}


def test_a_functional_property_denies_all_other_values(family: lnnkit.KnowledgeBase) -> None:
    everyone = {"ada", "ann", "beef", "bob", "jim", "joe", "kale", "kim", "pat", "sue"}
    expected = {("kim", one) for one in everyone - {"ann"}} | {("sue", one) for one in everyone - {"sue"}}
    assert fails(family, "mother(X, Y)") == expected
    assert holds(family, "mother(X, Y)") == {("kim", "ann"), ("sue", "sue")}


def test_equality_in_a_consequent(family: lnnkit.KnowledgeBase) -> None:
    assert holds(family, "knows(X, Y)") == {("ann", "bob")}
    assert fails(family, "colleague(X, Y)") == set()


def test_a_universal_restriction_works_both_ways(family: lnnkit.KnowledgeBase) -> None:
    assert holds(family, "Plant(X)") == {("kale",)}
    assert fails(family, "eats(X, Y)") == {("ada", "beef")}  # ada is a vegan, beef no plant
    assert fails(family, "Vegan(X)") == {("bob",)}  # he eats it


def test_the_family_has_no_contradiction(family: lnnkit.KnowledgeBase) -> None:
    assert family.infer().contradictions == ()


def test_a_broken_disjointness_stays_where_it_is() -> None:
    """tom is both; only the axiom's own instance is arrested, and everyone else reasons on."""
    kb = lnnkit.loads(FAMILY + "fact Man(tom)\nfact Woman(tom)\nfact spouse(tom, eva)\n")
    (contradiction,) = kb.infer().contradictions
    assert (contradiction.kind, contradiction.rule) == ("axiom", "disjoint")
    assert "tom" in contradiction.atom
    assert bounds(kb, "Man(tom)") == bounds(kb, "Woman(tom)") == TRUE
    assert ("eva", "tom") in holds(kb, "spouse(X, Y)")
    assert fails(kb, "Woman(X)") == {("bob",)}


def test_two_values_of_a_functional_property_are_a_contradiction() -> None:
    kb = lnnkit.loads(FAMILY + "fact mother(kim, eva)\n")
    found = kb.infer().contradictions
    assert found
    assert {contradiction.rule for contradiction in found} == {"functional"}
    assert holds(kb, "Woman(X)") == {("kim",)}
