"""What rests on a contradiction: expected marks by hand, from chains of last setters."""

from __future__ import annotations

import pytest

import lnnkit


def marks(text: str) -> dict[str, bool]:
    """Whether the one answer to each query of a program is contested."""
    kb = lnnkit.loads(text)
    assert kb.infer().status == "converged"
    return {answers.query: answers[0].contested for answers in kb.answers()}


def value(text: str, query: str) -> tuple[float, float]:
    answer = lnnkit.loads(text).ask(query)[0]
    return answer.lower, answer.upper


ARRESTED = """
predicate B(entity)
fact A(a)
fact B(b)
rule one: A(X) -> B(X)
rule two: A(X) -> ~B(X)
rule three: A(X) -> D(X)
"""


def test_an_answer_that_does_not_need_the_contradiction_is_clean() -> None:
    """B(a) is arrested, B(b) and D(a) are not."""
    queries = ("exists X: B(X)", "B(a) | D(a)", "B(a)", "~B(a)", "D(a) & B(b)", "B(a) & D(a)")
    found = marks(ARRESTED + "".join(f"query {query}\n" for query in queries))
    assert found == {
        "exists X: B(X)": False,  # B(b)
        "B(a) | D(a)": False,  # D(a)
        "B(a)": True,
        "~B(a)": True,
        "D(a) & B(b)": False,
        "B(a) & D(a)": False,  # unknown: B(a) tells it nothing
    }
    assert value(ARRESTED, "B(a) | D(a)") == (1.0, 1.0)
    assert value(ARRESTED, "B(a) & D(a)") == (0.0, 1.0)


def test_a_completed_atom_is_clean_where_another_row_gives_as_much() -> None:
    """B(a) is arrested. Q(b) rests on it alone; for Q(c) there is B(b) too; of Q(d) 0.4 is sure, and no more."""
    text = ARRESTED + "predicate R(entity, entity) closed\npredicate Q(entity) closed\nfact B(e) = 0.4\n"
    text += "fact R(b, a)\nfact R(c, a)\nfact R(c, b)\nfact R(d, a)\nfact R(d, e)\nfact R(e, e)\n"
    text += "rule (exists Y: R(X, Y) & B(Y)) -> Q(X)\nquery Q(b)\nquery Q(c)\nquery Q(d)\nquery Q(e)\n"
    assert marks(text) == {"Q(b)": True, "Q(c)": False, "Q(d)": True, "Q(e)": False}
    assert [value(text, f"Q({x})") for x in "bcde"] == [(0.0, 1.0), (1.0, 1.0), (0.4, 1.0), (0.4, 0.4)]


# A is 0.6 at least; round 1 derives from that, and makes A at once 0.9 at least and 0.7 at most. So A is arrested at
# its end, and what round 1 derived from A stands and rests on it.
CROSSED = """
fact A in [0.6, 1]
fact S
fact T
axiom (S -> A) in [0.9, 1]
axiom (S -> ~A) in [0.3, 1]
"""


def test_a_chain_from_an_arrested_atom_is_marked() -> None:
    text = CROSSED + "rule ab: A -> B\nrule bc: B -> C\nrule tt: T -> U\n"
    text += "query A\nquery B\nquery C\nquery ~C\nquery U\nquery B & U\nquery C | U\nquery B & C & T\n"
    assert value(text, "C") == (0.6, 1.0)
    assert marks(text) == {
        "A": True,
        "B": True,
        "C": True,
        "~C": True,
        "U": False,
        "B & U": True,  # 0.6 & 1
        "C | U": False,
        "B & C & T": True,  # 0.6 + 0.6 + 1 - 2 = 0.2
    }


def test_an_instance_that_did_not_need_the_arrested_operand_is_clean() -> None:
    """`A | T -> B` fires through T alone; what follows from B is clean too, `A & T -> E` needs A."""
    text = CROSSED + "rule ab: A | T -> B\nrule bc: B -> C\nrule cd: C & B -> D\nrule ae: A & T -> E\n"
    text += "query B\nquery C\nquery D\nquery E\nquery D & E\n"
    assert marks(text) == {"B": False, "C": False, "D": False, "E": True, "D & E": True}


def test_a_weaker_reason_does_not_clear_a_stronger_bound() -> None:
    """A | T is 0.6 + 0.5, so B and C were set to 1; with T alone to go by they would be 0.5."""
    text = CROSSED.replace("fact T", "fact T in [0.5, 1]") + "rule ab: A | T -> B\nrule bc: B -> C\nrule td: T -> D\n"
    text += "query B\nquery C\nquery D\nquery C | T\nquery D | S\n"
    assert value(text, "C") == (1.0, 1.0)
    assert marks(text) == {"B": True, "C": True, "D": False, "C | T": True, "D | S": False}


def test_two_bounds_cannot_clear_each_other() -> None:
    """B came from A, C from B; that C would give B again makes neither of them clean."""
    text = CROSSED + "logic godel\nrule ab: A | C -> B\nrule bc: B -> C\nquery B\nquery C\n"
    assert value(text, "C") == (0.6, 1.0)
    assert marks(text) == {"B": True, "C": True}


def test_an_arrested_instance_marks_what_it_sent() -> None:
    """`A -> B` sends 0.6 in round 1; then A is 0.9 and B is 0.7 at most, so it is arrested. B's upper bound is
    clean."""
    text = "fact A in [0.6, 1]\nfact S\naxiom (S -> A) in [0.9, 1]\naxiom (S -> ~B) in [0.3, 1]\n"
    text += "rule ab: A -> B\nrule bc: B -> C\nrule cb: ~B -> D\n"
    text += "query A\nquery B\nquery C\nquery D\nquery B | S\n"
    assert [found.kind for found in lnnkit.loads(text).infer().contradictions] == ["rule"]
    assert value(text, "B") == (0.6, 0.7)
    assert value(text, "D")[0] == pytest.approx(0.3, abs=1e-12)
    assert marks(text) == {"A": True, "B": True, "C": True, "D": False, "B | S": False}


def test_marks_among_many_rows() -> None:
    """P(e0), P(e3), P(e6) and P(e9) are arrested, and Q of them rests on P alone, unless R holds there, as for e0."""
    text = "axiom (Out(X) -> P(X)) in [0.9, 1]\naxiom (Out(X) -> ~P(X)) in [0.3, 1]\n"
    text += "rule pq: P(X) | R(X) -> Q(X)\nrule qs: Q(X) -> S(X)\nfact R(e0)\n"
    text += "query Q(X)\nquery S(X)\nquery exists X: S(X)\nquery forall X: S(X)\n"
    text += "".join(f"fact P(e{i}) in [0.6, 1]\n" for i in range(10))
    text += "".join(f"fact Out(e{i})\n" for i in (0, 3, 6, 9))
    asked = lnnkit.loads(text).answers()
    for rows in asked[:2]:
        contested = {row.bindings["X"]: row.contested for row in rows}
        assert contested == {f"e{i}": i in (3, 6, 9) for i in range(10)}
    some, every = (answers[0] for answers in asked[2:])
    assert (some.lower, some.contested) == (1.0, False)  # S(e0) is enough
    assert (every.lower, every.contested) == (0.6, True)


def test_marks_among_so_many_rows_that_bounds_are_kept_as_they_come() -> None:
    """To ask what would hold without the contradiction leaves what holds as it is."""
    kb = lnnkit.loads(CROSSED + "predicate Other(thing)\nrule ab: A -> B\nrule bc: B -> C\nquery C\nquery Other(X)\n")
    kb.tell("Other", {"thing": range(2**18)})
    kb.infer()
    (found,) = kb.answers()[0]
    assert (found.lower, found.upper, found.contested) == (0.6, 1.0, True)


def test_an_existential_that_has_another_witness_is_clean() -> None:
    """`exists Y: E(x, Y)` makes Q(x) true through E(x, good); for y the only witness is arrested."""
    text = "axiom (Out(X, Y) -> E(X, Y)) in [0.9, 1]\naxiom (Out(X, Y) -> ~E(X, Y)) in [0.3, 1]\n"
    text += "rule some: (exists Y: E(X, Y)) -> Q(X)\nquery Q(X)\nfact E(x, good) in [0.6, 1]\n"
    text += "fact E(x, bad) in [0.6, 1]\nfact E(y, bad) in [0.6, 1]\nfact Out(x, bad)\nfact Out(y, bad)\n"
    (rows,) = lnnkit.loads(text).answers()
    assert {row.bindings["X"]: (row.lower, row.contested) for row in rows} == {"x": (0.6, False), "y": (0.6, True)}


def test_completed_atoms_are_evaluated_again() -> None:
    """P is closed and derived. It is completed before the first round, and A is arrested after: P(a) rests on A, P(b)
    and P(c) on T."""
    text = "predicate P(x) closed\npredicate A(x)\npredicate T(x)\npredicate S(x)\nrule ap: A(X) | T(X) -> P(X)\n"
    text += "axiom (S(X) -> A(X)) in [0.9, 1]\naxiom (S(X) -> ~A(X)) in [0.3, 1]\nrule pq: P(X) -> Q(X)\n"
    text += "fact A(a) in [0.6, 1]\nfact A(b) in [0.6, 1]\nfact S(a)\nfact S(b)\nfact T(b)\nfact T(c)\n"
    for rows in lnnkit.loads(text + "query P(X)\nquery Q(X)\n").answers():
        found = {row.bindings["X"]: (row.lower, row.contested) for row in rows}
        assert found == {"a": (0.6, True), "b": (1.0, False), "c": (1.0, False)}


def test_what_a_contradiction_keeps_from_being_false_is_marked() -> None:
    """P is closed and derived; A(a) and A(b) are arrested from the start, so P(a) and P(b) may be true. T(b) says that
    P(b) is, and of c nothing is contradictory. The query's other operand decides where it can."""
    text = "predicate P(x) closed\npredicate T(x) closed\npredicate A(x)\nrule A(X) -> P(X)\nrule T(X) -> P(X)\n"
    text += "fact A(a)\nfact ~A(a)\nfact A(b)\nfact ~A(b)\nfact T(b)\nfact A(c) in [0, 0.4]\nfact S(a)\n"
    text += "query P(X)\nquery P(a) | S(a)\nquery P(a) & S(a)\nquery ~P(b)\n"
    asked, other, both, negated = lnnkit.loads(text).answers()
    found = {row.bindings["X"]: (row.lower, row.upper, row.contested) for row in asked}
    assert found == {"a": (0.0, 1.0, True), "b": (1.0, 1.0, False), "c": (0.0, 0.4, False)}
    assert [answers[0].contested for answers in (other, both, negated)] == [False, True, False]


def test_atoms_supported_by_a_contradiction_are_not_false() -> None:
    """An arrested atom reads as unknown, also for what is completed: nobody can say that no rule makes D(anna) true."""
    kb = lnnkit.loads(
        "predicate Q(e, e) closed\npredicate D(e) closed\nfact Q(anna, bob)\nfact ~Q(anna, bob)\nrule Q(X, Y) -> D(X)\n"
    )
    (answer,) = kb.ask("D(anna)")
    assert (answer.lower, answer.upper) == (0.0, 1.0)
    assert (kb.ask("D(bob)")[0].lower, kb.ask("D(bob)")[0].upper) == (0.0, 0.0)


STATED = """
predicate P(entity)
predicate Q(entity)
fact ~P(a)
fact ~Q(a)
fact Q(b)
axiom P(X) | Q(X)
"""


@pytest.mark.parametrize("rule", ["", "rule (P(X) | Q(X)) -> R(X)\n"])
def test_stated_bounds_are_kept_beside_their_contradiction(rule: str) -> None:
    """Whether a rule reads the stated formula too makes no difference to what is answered of it."""
    kb = lnnkit.loads(STATED + rule)
    for query, binding in (("P(X) | Q(X)", {"X": "a"}), ("P(a) | Q(a)", {}), ("~(P(a) | Q(a))", {})):
        (found,) = (answer for answer in kb.ask(query) if dict(answer.bindings) == binding)
        assert (found.lower, found.upper, found.state, found.contested) == (1.0, 0.0, "contradiction", True)
    clean = kb.ask("P(b) | Q(b)")[0]
    assert (clean.lower, clean.upper, clean.contested) == (1.0, 1.0, False)
    if rule:
        assert kb.ask("R(a)")[0].contested
        assert not kb.ask("R(b)")[0].contested


@pytest.mark.parametrize("rule", ["", "rule P(X) & Q(X) -> R(X)\n", "rule ~(P(X) & Q(X)) -> R(X)\n"])
@pytest.mark.parametrize("negations", ["~", "~~~"])
def test_beneath_a_negation_too(rule: str, negations: str) -> None:
    kb = lnnkit.loads(
        STATED.replace("fact ~", "fact ").replace("axiom P(X) | Q(X)", f"axiom {negations}(P(X) & Q(X)) in [0.8, 1]")
        + rule
    )
    (found,) = kb.ask("P(a) & Q(a)")
    assert (found.lower, found.upper, found.contested) == (1.0, pytest.approx(0.2), True)
    explanation = kb.explain("~(P(a) & Q(a))")
    assert (explanation.lower, explanation.upper) == (pytest.approx(0.8), 0.0)
    assert explanation.contested
    assert explanation.verify() == []
    assert len(kb.contradictions) == 1
    (conflict,) = kb.conflicts()
    assert all(part in str(conflict) for part in ("fact P(a)", "fact Q(a)", f"axiom {negations}(P(X) & Q(X))"))
    if rule.startswith("rule ~"):
        assert kb.ask("R(a)")[0].contested
    elif rule:  # which needs what is arrested
        assert (kb.ask("R(a)")[0].lower, kb.ask("R(a)")[0].upper) == (0.0, 1.0)


@pytest.mark.parametrize("logic", ["lukasiewicz", "product", "godel"])
def test_an_instance_is_arrested_once(logic: str) -> None:
    """Also where the atom that names its variables is made only later, and where it has been there all along."""
    text = f"""logic {logic}
fact ~Q(a)
fact ~Q(b)
fact P(b)
fact R(a)
fact R(b)
rule R(X) -> S(X)
rule S(X) -> T(X)
rule T(X) -> P(X)
axiom P(X) & Q(X)
"""
    kb = lnnkit.loads(text)
    found = kb.infer().contradictions
    assert sorted(each.atom for each in found) == ['P("a") & Q("a")', 'P("b") & Q("b")']
    assert kb.ask("P(a)")[0].lower == 1.0


def test_an_arrested_atom_starts_no_join() -> None:
    """B(a) is arrested as soon as it moves, and reads as unknown: its neighbours, however many, are not visited."""
    visited = set[int]()
    for neighbours in (1, 9):
        text = ARRESTED + "rule next: B(X) & Near(X, Y) -> E(Y)\nquery E(X)\nfact Near(b, c)\n"
        kb = lnnkit.loads(text + "".join(f"fact Near(a, n{number})\n" for number in range(neighbours)))
        kb.infer()
        assert [answer.bindings["X"] for answer in kb.answers()[0]] == ["c"]
        visited.add(kb._session.program_fixpoint().run.progress.instances)
    assert len(visited) == 1


def test_the_upper_end_of_a_completed_atom_is_clean_where_no_row_could_change_it() -> None:
    """B(a) is 0.4 at most by what is arrested. Of Q(f), B(d) says 0.4, and C(a) is no more; Q(g) could be less."""
    text = CROSSED + "logic godel\npredicate R(e, e) closed\npredicate C(e) closed\npredicate Q(e) closed\n"
    text += "rule A -> ~B(a)\nfact C(a) = 0.4\nfact C(d)\nfact B(d) = 0.4\nfact R(f, a)\nfact R(f, d)\nfact R(g, a)\n"
    text += "rule (exists Y: R(X, Y) & B(Y) & C(Y)) -> Q(X)\nquery B(a)\nquery Q(f)\nquery Q(g)\n"
    assert marks(text) == {"B(a)": True, "Q(f)": False, "Q(g)": True}
    assert [value(text, query) for query in ("B(a)", "Q(f)", "Q(g)")] == [(0.0, 0.4), (0.4, 0.4), (0.0, 0.4)]
