"""Whatever is asked, and however, an atom has one answer; and asking changes nothing."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import pytest

import lnnkit
from tests.agreement import disagreements
from tests.blocks import all_but, at_length, in_blocks
from tests.oracle import Fact, Formula, Program, Statement
from tests.oracle.network import Network
from tests.oracle.program import QUANTIFIERS, Argument, free_variables, operands, replace_operands, subformulas
from tests.programs import MODES, formula_text, generate, to_text

PLAIN, LONG, BLOCK = 1, 180, 30
SHARES = ((0.0, 0.0), (0.0, 0.25), (0.25, 0.0))  # of equalities, and of quantifiers without free variables
UNNAMED = ("yak", "zed")  # entities of no generated program
EPS = 1e-9  # answers as near as this to a query's default are not listed

Bounds = tuple[float, float]
UNKNOWN, TRUE, FALSE = (0.0, 1.0), (1.0, 1.0), (0.0, 0.0)
Place = tuple[str, tuple[str, ...]]


@dataclass
class Asked:
    """The answers to a program's queries: bounds by bindings."""

    converged: bool
    answers: list[dict[frozenset[tuple[str, str]], Bounds]]


def ask(program: Program) -> tuple[lnnkit.KnowledgeBase, Asked]:
    kb = lnnkit.loads(to_text(program))
    outcome = kb.infer()
    return kb, Asked(outcome.status == "converged", [rows(a) for a in kb.answers()])


def rows(answers: lnnkit.Answers) -> dict[frozenset[tuple[str, str]], Bounds]:
    return {frozenset(answer.bindings.items()): (answer.lower, answer.upper) for answer in answers}


def only(answers: lnnkit.Answers) -> Bounds:
    (answer,) = answers
    return answer.lower, answer.upper


# --- one atom ---------------------------------------------------------------------------------------------------------


def atoms(program: Program) -> list[Place]:
    """All atoms over the domain."""
    sorts = Network(program).sorts
    found: list[Place] = []
    for predicate in program.predicates:
        rows: list[tuple[str, ...]] = [()]
        for place in range(predicate.arity):
            rows = [(*row, each) for row in rows for each in sorts.domains[sorts.positions[predicate.name, place]]]
        found += [(predicate.name, row) for row in rows]
    return found


def ground(place: Place) -> Formula:
    return "atom", place[0], tuple(("const", each) for each in place[1])


def lifted(program: Program) -> list[Formula]:
    return [
        ("atom", each.name, tuple(("var", f"X{place}") for place in range(each.arity)))
        for each in program.predicates
        if each.arity
    ]


def stated(program: Program, draw: random.Random) -> Program:
    """The same, with some of the facts as axioms."""
    facts: list[Fact] = []
    axioms: list[Statement] = []
    for fact in program.facts:
        if draw.random() < 0.4:
            facts.append(fact)
            continue
        atom = ground((fact.predicate, fact.arguments))
        if (fact.lower, fact.upper) == (0.0, 0.0) and draw.random() < 0.5:
            axioms.append(Statement("axiom", ("not", atom)))
        else:
            axioms.append(Statement("axiom", atom, fact.lower, fact.upper))
    return replace(program, facts=facts, statements=[*program.statements, *axioms])


def declared(program: Program) -> Program:
    """With a declaration for every predicate, so that it stands whether facts supply it or not."""
    positions = Network(program).sorts.positions
    predicates = [
        replace(each, sorts=tuple(positions[each.name, place] for place in range(each.arity)))
        for each in program.predicates
    ]
    sorts = {sort for each in predicates for sort in each.sorts or ()} - {"entity"}
    return replace(program, predicates=predicates, sorts={**dict.fromkeys(sorted(sorts), False), **program.sorts})


def one_answer(seed: int, size: int, most: int = 1) -> int:
    """Fails where the answers for an atom differ; how many atoms were compared, ``most`` at most."""
    draw = random.Random(seed)
    program = declared(generate(seed, size, MODES[seed % 3], *SHARES[seed % len(SHARES)]).program)
    told = f"seed {seed}, size {size}:\n{to_text(program)}"
    kb, base = ask(program)
    _, everything = ask(replace(program, queries=lifted(program)))
    if not (base.converged and everything.converged):
        return 0
    mixed = stated(program, draw)
    other, _ = ask(mixed)
    places = atoms(program)
    chosen = draw.sample(places, min(most, len(places)))
    for place in chosen:
        query = ground(place)
        text = formula_text(query)
        _, alone = ask(replace(program, queries=[query]))
        found = {"alone": next(iter(alone.answers[0].values())), "asked later": only(kb.ask(text))}
        if place[1]:
            number = [each[1] for each in lifted(program)].index(place[0])
            bindings = frozenset((f"X{index}", each) for index, each in enumerate(place[1]))
            if bindings in everything.answers[number]:
                found["lifted"] = everything.answers[number][bindings]
            else:
                default = (0.0, 0.0) if any(p.name == place[0] and p.closed for p in program.predicates) else (0.0, 1.0)
                assert found["alone"] == pytest.approx(default, abs=EPS), f"{text} has no lifted answer in {told}"
        _, apart = ask(replace(mixed, queries=[query]))
        found |= {"axioms": next(iter(apart.answers[0].values())), "axioms, later": only(other.ask(text))}
        assert len({*found.values()}) == 1, f"{text} is {found} in {told}"
    return len(chosen)


@pytest.mark.parametrize("block", in_blocks(range(BLOCK), BLOCK, PLAIN))
def test_an_atom_has_one_answer(block: range) -> None:
    assert sum(one_answer(seed, 1 + seed % 2) for seed in block) >= all_but(1 / 6, block)


@pytest.mark.parametrize("block", at_length(range(0, LONG, BLOCK), plain=0))
def test_an_atom_has_one_answer_at_length(block: int) -> None:
    assert sum(one_answer(seed, 1 + seed % 6, 4) for seed in range(block, block + BLOCK)) >= 3 * BLOCK


# --- what nothing else names ------------------------------------------------------------------------------------------


def about_unnamed(program: Program, draw: random.Random) -> list[Formula]:
    """Queries about entities that nothing else names: parts of the program in which these stand for others."""
    parts = [part for each in program.statements for part in subformulas(each.formula)] + program.queries
    parts = [part for part in parts if part[0] not in ("true", "false", "eq", "not")]
    found: list[Formula] = []
    while len(found) < 4:
        part = draw.choice(parts)
        while part[0] in QUANTIFIERS and draw.random() < 0.4:
            part = part[2]
        free = free_variables(part)
        named = {name: draw.choice(UNNAMED) for name in free if draw.random() < 0.7 or len(free) > 2}
        query = with_constants(part, named, 0.2, draw)
        kept = [name for name in free if name not in named]
        if kept and draw.random() < 0.3:
            equal = "eq", ("var", kept[0]), ("const", draw.choice(UNNAMED))
            query = "and", ((1.0, query), (1.0, equal if draw.random() < 0.5 else ("not", equal))), 1.0, None
        if all(is_placed(name, query) for name in free_variables(query)):
            found.append(query)
    return found


def is_placed(name: str, formula: Formula) -> bool:
    """Whether an atom says what a variable is."""
    return any(part[0] == "atom" and ("var", name) in part[2] for part in subformulas(formula))


def with_constants(formula: Formula, named: dict[str, str], share: float, draw: random.Random) -> Formula:
    """The formula with entities for some of its free variables, and unnamed ones for a ``share`` of its constants."""

    def changed(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
        return tuple(
            ("const", draw.choice(UNNAMED) if draw.random() < share else text)
            if kind == "const"
            else ("const", named[text])
            if text in named
            else (kind, text)
            for kind, text in arguments
        )

    if formula[0] == "atom":
        return "atom", formula[1], changed(formula[2])
    if formula[0] == "eq":
        return "eq", *changed(formula[1:])
    return replace_operands(formula, [with_constants(part, named, share, draw) for part in operands(formula)])


def asking_changes_nothing(seed: int, size: int) -> bool:
    """Fails where it does, or where the oracle answers otherwise; whether they were compared."""
    draw = random.Random(seed)
    program = generate(seed, size, MODES[seed % 3], *SHARES[seed % len(SHARES)]).program
    more = replace(program, queries=[*program.queries, *about_unnamed(program, draw)])
    told = f"seed {seed}, size {size}:\n{to_text(more)}"
    kb, before = ask(program)
    _, after = ask(more)
    if not (before.converged and after.converged):
        return False
    assert after.answers[: len(program.queries)] == before.answers, told
    for query, answers in zip(more.queries, after.answers, strict=True):
        text = formula_text(query)
        kb.replace_queries([text])  # of an entity that nothing else names, only a program's own queries may ask
        assert rows(kb.ask(text)) == answers, f"{text} in {told}"
    assert not disagreements(more), told
    return True


@pytest.mark.parametrize("block", in_blocks(range(BLOCK), BLOCK, PLAIN))
def test_asking_changes_nothing(block: range) -> None:
    assert sum(asking_changes_nothing(seed, 1 + seed % 3) for seed in block) >= all_but(1 / 6, block)


@pytest.mark.parametrize("block", at_length(range(0, LONG, BLOCK), plain=0))
def test_asking_changes_nothing_at_length(block: int) -> None:
    assert sum(asking_changes_nothing(seed, 1 + seed % 6) for seed in range(block, block + BLOCK)) >= BLOCK - 5


def test_stated_formulas_are_shown_as_stated() -> None:
    """What operands make of it lacks 2e-15 by rounding; who else asks changes nothing."""
    assert asking_changes_nothing(543, 4)


# --- by hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["fact ~P(ua)", "axiom ~P(ua)", "axiom P(ua) in [0, 0]", "axiom A -> ~P(ua)\nfact A"])
@pytest.mark.parametrize("query", ["P(ub)", "P(X)", "~P(ub)", "P(ub) | D(ub)", "forall X: P(X) | D(X)"])
def test_the_last_candidate_is_found_whatever_is_asked(said: str, query: str) -> None:
    """The other candidates are looked at too, though nobody lists them or asks for them."""
    kb = lnnkit.loads(f"predicate P(entity)\nfact D(ua)\nfact D(ub)\n{said}\naxiom exists Z: P(Z)\nquery {query}\n")
    kb.answers()
    assert only(kb.ask("P(ub)")) == (1.0, 1.0)
    if query == "P(ub)":
        assert only(kb.answers()[0]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("said", "bounds"),
    [
        ("fact ~P(ua)", UNKNOWN),  # the axiom about all is arrested before it has said anything,
        ("axiom ~P(ua)", UNKNOWN),
        ("axiom A -> ~P(ua)\nfact A", TRUE),  # or in the round in which both have said what they say
    ],
)
def test_a_forall_is_contradicted_by_rows_outside_the_query(said: str, bounds: Bounds) -> None:
    text = f"predicate P(entity)\nfact D(ua)\nfact D(ub)\nfact B\n{said}\naxiom B -> forall Z: P(Z)\n"
    assert only(lnnkit.loads(text).ask("P(ub)")) == bounds
    assert rows(lnnkit.loads(text).ask("P(X)")).get(frozenset({("X", "ub")}), UNKNOWN) == bounds


@pytest.mark.parametrize("one", ["fact", "axiom"])
@pytest.mark.parametrize("two", ["fact", "axiom"])
def test_bare_axioms_are_facts(one: str, two: str) -> None:
    """Where they cross they arrest their atom, and others read it as unknown; of a closed predicate they list it."""
    kb = lnnkit.loads(
        "predicate C(entity) closed\npredicate D(entity)\nrule ~P(X) -> Q(X)\nrule C(X) -> D(X)\n"
        f"{one} P(ua)\n{two} ~P(ua)\n{one} P(ub) in [0.2, 0.6]\n{two} ~P(ub) in [0.5, 1]\n{one} C(uc)\n{two} ~B\n"
        "axiom ~~A\n"
    )
    wanted = {
        "P(ua)": (1.0, 0.0),
        "Q(ua)": UNKNOWN,
        "P(ub)": (0.2, 0.5),
        "Q(ub)": (0.5, 1.0),
        "C(uc)": TRUE,
        "D(uc)": TRUE,
        "C(ua)": FALSE,
        "A": TRUE,
        "B": FALSE,
    }
    assert {query: only(kb.ask(query)) for query in wanted} == wanted
    assert [(each.kind, each.atom) for each in kb.contradictions] == [("atom", "P(ua)")]
    (conflict,) = kb.conflicts()
    assert [fact.text for fact in conflict.facts] == [f"{one} P(ua)", f"{two} ~P(ua)"]
    assert f"{one}, <string>" in str(kb.explain("C(uc)"))


def test_an_entity_of_a_query_is_not_one_of_forall() -> None:
    text = "fact P(ua)\nfact P(ub)\nquery forall X: P(X)\n"
    for more in ("", "query P(zed)\n", "query P(X) & X != zed\n", "query exists X: P(X) & P(zed)\n"):
        assert only(lnnkit.loads(text + more).answers()[0]) == (1.0, 1.0)
    kb = lnnkit.loads(f"{text}query P(zed)\n")
    assert [warning.code for warning in kb.warnings] == ["unknown-entity"]
    assert [only(kb.ask(query)) for query in ("P(zed)", "forall X: P(X)")] == [(0.0, 1.0), (1.0, 1.0)]
    kb.replace_queries(["P(zed)", "forall X: P(X)"])
    assert [only(each) for each in kb.answers()] == [(0.0, 1.0), (1.0, 1.0)]


PROGRAM = """
sort guest open
predicate C(entity) closed
predicate D(entity) closed
predicate G(guest)
predicate H(guest) closed
predicate P(entity)
number age(entity)
fact P(ua) in [0.5, 1]
fact C(ua)
fact G(ua)
fact age(ua) = 3
axiom P(X) & Q(X)
axiom ~C(X) -> D(X)
axiom ~G(X) -> H(X)
axiom age(X) > 1
axiom P(X) | C(X) in [0.5, 1]
rule (P(X) | C(X)) -> R(X)
"""


@pytest.mark.parametrize(
    ("query", "bounds"),
    [
        ("P(zed)", UNKNOWN),
        ("C(zed)", FALSE),  # closed: unlisted is false
        ("D(zed)", FALSE),  # no rule speaks of it
        ("H(zed)", FALSE),  # though an open sort need not name all that it has
        ("P(zed) & Q(zed)", UNKNOWN),  # the axiom is about the entities of the program
        ("P(zed) | C(zed)", UNKNOWN),
        ("~(P(zed) | C(zed)) -> Q(ua)", TRUE),  # Q(ua) is true
        ("age(zed) > 1", UNKNOWN),
        ("age(zed) > age(ua)", UNKNOWN),
        ("age(ua) > 1 & C(zed)", FALSE),
        ("exists X: P(X) & X = zed", FALSE),  # X ranges over entities of the program
        ("forall X: P(X) & X != zed", TRUE),
        ("exists X: G(X) & X = zed", UNKNOWN),  # it may be a guest
        ("exists X: age(X) > age(zed)", UNKNOWN),
        ("exists X: P(X) & C(zed)", FALSE),
        ("P(ua) & zed = zed & zed != yak", TRUE),
    ],
)
def test_what_is_asked_of_an_entity_that_nothing_else_names(query: str, bounds: Bounds) -> None:
    """Its atoms are at their defaults; all that can be asked of it can be explained and drawn."""
    kb, other = lnnkit.loads(PROGRAM), lnnkit.loads(f"{PROGRAM}query {query}\n")
    assert only(other.answers()[0]) == only(other.ask(query)) == bounds
    assert "unknown-entity" in [warning.code for warning in other.warnings]
    assert "unknown-entity" in [warning.code for warning in other.ask(query).warnings]
    explanation = other.explain(query)
    assert (explanation.lower, explanation.upper) == bounds
    assert explanation.to_html() and explanation.to_dot() and str(explanation)
    assert other.draw(query).to_dot()
    with pytest.raises(lnnkit.ProgramError, match="unknown-entity"):
        kb.ask(query)


def test_no_statement_is_missing_for_an_entity_that_is_none_of_the_domain() -> None:
    assert lnnkit.loads(f"{PROGRAM}query R(zed)\n").why_not("R(zed)").ways == []


def test_a_number_of_an_unnamed_entity() -> None:
    (answer,) = lnnkit.loads(f"{PROGRAM}query age(zed) + 1\n").answers()[0]
    assert (answer.lower, answer.upper, answer.state) == (float("-inf"), float("inf"), "number")


def test_an_entity_of_another_sort_does_not_join() -> None:
    text = "predicate P(person)\npredicate City(city)\nfact P(anna)\nfact City(rome)\naxiom P(X) -> Q(X)\n"
    kb = lnnkit.loads(text + "query P(rome)\nquery forall X: P(X)\n")
    assert [only(each) for each in kb.answers()] == [(0.0, 1.0), (1.0, 1.0)]
    assert [warning.code for warning in kb.warnings] == ["entity-of-another-sort"]
    assert only(kb.ask("P(rome)")) == (0.0, 1.0)


def test_what_is_assumed_of_an_entity_names_it() -> None:
    kb = lnnkit.loads("fact P(ua)\nrule P(X) -> Q(X)\nquery P(zed)\nquery forall X: Q(X)\n")
    assert [only(each) for each in kb.answers()] == [(0.0, 1.0), (1.0, 1.0)]
    assert only(kb.assume({"P(zed)": 1.0}).ask("Q(zed)")) == (1.0, 1.0)
    assert only(kb.assume({"P(zed)": 0.5}).ask("forall X: Q(X)")) == (0.5, 1.0)
    kb.tell("P", [("zed",)])
    assert only(kb.ask("Q(zed)")) == (1.0, 1.0)


def test_entities_of_labels_join() -> None:
    kb = lnnkit.loads("fact P(ua)\nlabel P(zed)\nquery P(zed)\nquery forall X: P(X)\n")
    assert [only(each) for each in kb.answers()] == [(0.0, 1.0), (0.0, 1.0)]
    assert not kb.warnings
