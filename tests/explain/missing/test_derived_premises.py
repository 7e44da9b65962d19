"""Why-not follows the rules of derived closed predicates: what it names in the end is what only a fact can change."""

from __future__ import annotations

import random

import pytest

import lnnkit
from lnnkit.explain.missing.why_not import WhyNot
from tests.blocks import at_length

PACKAGES = """predicate Dep(package, package) closed
predicate Affects(cve, package) closed
predicate Patched(package) closed
predicate Exposed(package, cve) closed
predicate AtRisk(package) closed
number cvss(cve)
fact Dep(app, lib)
fact Dep(lib, core)
fact Affects(c1, core)
fact Affects(c2, other)
fact Patched(core)
fact cvss(c1) = 9
fact cvss(c2) = 8
rule direct: Affects(V, P) & ~Patched(P) -> Exposed(P, V)
rule via: Dep(P, Q) & Exposed(Q, V) -> Exposed(P, V)
rule risk: Exposed(P, V) & cvss(V) >= 7 -> AtRisk(P)
"""
ORDERS = """predicate Order(order) closed
predicate Hold(order) closed
predicate Blocked(order) closed
predicate Ready(order) closed
predicate Ship(order) closed
fact Order(o1)
fact Order(o2)
fact Hold(o1)
rule hold: Hold(O) -> Blocked(O)
rule ready: Order(O) & ~Blocked(O) -> Ready(O)
rule ship: Ready(O) & Paid(O) -> Ship(O)
predicate Paid(order)
fact Paid(o1)
"""


def lacking(found: WhyNot) -> list[list[str]]:
    return [sorted(each.atom for each in way.lacking) for way in found.ways]


def test_the_literal_that_blocks_is_named_once() -> None:
    found = lnnkit.loads(PACKAGES).why_not("AtRisk(core)")
    assert lacking(found)[:2] == [["Patched(core)"], ["Dep(core, other)"]]
    assert [way.blocked for way in found.ways[:2]] == [True, False]
    text = str(found)
    assert "- Exposed(core, c1) >= 1, by rule direct, <string>:14 (P = core, V = c1)\n    - Patched(core) <= 0" in text
    assert text.count("Patched(core)") == 1


def test_a_literal_that_blocks_several_instances_is_named_once() -> None:
    more = "".join(f"fact Affects(c{n}, core)\nfact cvss(c{n}) = 8\n" for n in range(3, 9))
    kb = lnnkit.loads(PACKAGES + more)
    for atom in ("AtRisk(core)", "AtRisk(app)"):
        text = str(kb.why_not(atom))
        assert text.count("Patched(core)") == 1
        assert text.index("Patched(core)") < text.index("would give")


def test_rules_are_followed_through_rules() -> None:
    way = lnnkit.loads(PACKAGES).why_not("AtRisk(app)").ways[0]
    steps, premise = [way.statement.name], way.missing[0]
    while premise.through is not None:
        steps.append(premise.through.statement.name)
        premise = premise.through.missing[0]
    assert (steps, premise.atom) == (["risk", "via", "via", "direct"], "Patched(core)")
    shown = way.as_dict()["missing"][0]  # type: ignore[index]
    assert (shown["atom"], shown["through"]["rule"]) == ("Exposed(app, c1)", "via")


def test_what_rules_make_true_is_said_to_come_from_facts() -> None:
    """No fact lists `Blocked(o1)`, and none can make it false: it follows from `Hold(o1)`."""
    text = str(lnnkit.loads(ORDERS).why_not("Ship(o1)"))
    assert "    - Blocked(o1) <= 0, now 1, lacks 1; but it is >= 1, from Hold(o1)" in text
    assert "no fact lists" not in text


def test_a_derivation_is_shown_once() -> None:
    text = str(lnnkit.loads(ORDERS + "rule gift: Ready(O) & Paid(O) -> Ship(O)\n").why_not("Ship(o1)"))
    assert text.count("Hold(o1)") == 1
    assert text.count("Ready(o1) >= 1, as above") == 1


def test_a_premise_that_only_the_question_derives_takes_a_fact() -> None:
    text = "predicate G(e) closed\npredicate B(e) closed\nfact A(x)\nrule A(X) & B(X) -> G(X)\nrule G(X) -> B(X)\n"
    (way,) = lnnkit.loads(text).why_not("G(x)").ways
    assert [(each.atom, each.through) for each in way.missing] == [('B("x")', None)]
    assert "no fact lists it, and no rule derives it" in str(way.missing[0])


def test_facts_named_as_some_entity_need_not_exist() -> None:
    """Numbers of an entity that is yet to be found are not known."""
    text = "number n(s)\nnumber m(s, s)\nfact Q(b, b) = 0.75\n"
    text += "axiom (n(b) - n(X) <= m(X, X) & Q(X, X)) -> (m(X, Y) <= n(Y) -> P)\n"
    assert [way.free for way in lnnkit.loads(text).why_not("P").ways] == [("Y",)]


def program(seed: int) -> str:
    """Three layers of closed predicates, each derived from the one below by rules with negation and recursion."""
    draw = random.Random(seed)
    lines = [f"predicate {name}(e) closed" for name in ("A", "B", "C", "D", "E", "Known")] + [
        "predicate R(e, e) closed"
    ]
    lines += [f"fact Known({each})" for each in "xyz"]
    lines += [f"fact {name}({draw.choice('xyz')})" for name in "ABCAB"]
    lines += [f"fact R({draw.choice('xyz')}, {draw.choice('xyz')})" for _ in range(3)]
    bodies = ("A(X) & ~B(X)", "A(X) & B(X)", "B(Y) & R(X, Y)", "C(X) & ~A(X)", "~C(X) & B(X)")
    lines += [f"rule {draw.choice(bodies)} -> D(X)" for _ in range(2)]
    lines += ["rule D(Y) & R(X, Y) -> D(X)"] * draw.choice((0, 1))
    tops = ("D(X)", "D(X) & A(X)", "D(Y) & R(Y, X)", "~D(X) & C(X)", "(exists Y: D(Y) & R(X, Y))")
    return "\n".join([*lines, *(f"rule {draw.choice(tops)} -> E(X)" for _ in range(2))]) + "\n"


@pytest.mark.parametrize("seed", at_length(range(40), plain=3))
def test_what_is_lacking_in_the_end_is_enough(seed: int) -> None:
    text = program(seed)
    kb = lnnkit.loads(text)
    for atom in ("E(x)", "E(y)"):
        for way in kb.why_not(atom).ways:
            if way.blocked or way.unbound:
                continue
            facts = "".join(f"fact {'' if each.side == 'lower' else '~'}{each.atom}\n" for each in way.lacking)
            (answer,) = lnnkit.loads(text + facts).ask(atom)
            assert answer.lower == 1, text + facts


ALLOWED = """
predicate In(user, group) closed
predicate Denied(user) closed
predicate Access(user) closed
fact In(anna, dev)
fact In(anna, ops)
fact Deny(test)
rule deny: In(U, G) & Deny(G) -> Denied(U)
rule allow: User(U) & ~Denied(U) -> Access(U)
fact User(anna)
query Access(U)
"""


def test_what_would_keep_rules_from_a_completed_atom() -> None:
    """Each instance that may make it true has to be kept from that: `Deny` is open."""
    kb = lnnkit.loads(ALLOWED)
    (way,) = kb.why_not("Denied(anna)", side="upper").ways
    assert {(premise.atom, premise.side) for premise in way.missing} == {("Deny(dev)", "upper"), ("Deny(ops)", "upper")}
    assert (way.gives, way.bindings, way.blocked) == (0.0, {"U": "anna"}, False)
    text = str(kb.why_not("Access(anna)"))
    assert "Denied(anna) <= 0, by rule deny" in text and "declare it `closed`" in text
    told = lnnkit.loads(ALLOWED + "fact ~Deny(dev)\nfact ~Deny(ops)\n")
    assert (told.holds("Denied(anna)"), told.holds("Access(anna)")) == (False, True)
    assert lnnkit.loads(ALLOWED + "fact ~Deny(dev)\n").holds("Denied(anna)") is None


@pytest.mark.parametrize("same", ["X != Y", "~(X = Y)", "~(Y = X)"])
@pytest.mark.parametrize("listed", ["", "predicate Asked(user, case) closed\npredicate Approved(user, case) closed\n"])
def test_another_person_is_a_way(same: str, listed: str) -> None:
    facts = "fact Asked(anna, c1)\nfact Asked(bob, c2)\n"
    facts += "fact Approved(bob, c2)\n" if listed else "predicate Approved(user, case)\n"
    kb = lnnkit.loads(f"{listed}{facts}rule Asked(X, A) & Approved(Y, A) & {same} -> Done(A)\nquery Done(A)\n")
    way = kb.why_not("Done(c1)").ways[0]
    assert [premise.atom for premise in way.missing] == ["Approved(Y, c1)"]
    assert (way.free, way.blocked) == (("Y",), False)
