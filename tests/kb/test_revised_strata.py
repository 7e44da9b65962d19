"""Closed predicates with rules, completed by strata, when facts change: to the bit as in a fresh inference."""

from __future__ import annotations

import random

import pytest

import lnnkit
from tests.blocks import in_blocks
from tests.kb.drawn_facts import DrawnFacts, Key
from tests.kb.test_revising import counted

RULES = """\
rule E(X, Y) -> R(X, Y)
rule R(X, Y) & E(Y, Z) -> R(X, Z) in [{weight}, 1]
rule B(X) -> C(X)
rule E(X, Y) & C(Y) -> C(X) in [{weight}, 1]
rule S(X) & ~C(X) -> D(X)
rule (exists Y: E(X, Y) & ~C(Y)) -> K(X)
rule (forall Y: E(X, Y) -> C(Y)) -> D(X)
rule R(X, Y) & ~R(Y, X) -> L(X, Y)
rule R(X, X) -> K(X)
rule V(X) > 3 & ~C(X) -> K(X)
rule V(X) > 1 & S(X) -> C(X)
rule V(X) < V(Y) & E(X, Y) -> L(X, Y)
rule S(X) & ~K(X) -> M(X)
rule M(X) & E(X, Y) -> M(Y)
rule L(X, Y) & ~M(Y) -> N(X)
rule X != Y & B(X) & B(Y) -> L(X, Y)
rule (exists Y: R(X, Y) & B(Y)) -> M(X)
rule ~D(X) -> G(X)
rule L(X, Y) -> H(X, Y)
rule C(X) & ~K(X) -> G(X)
rule ~(exists Y: R(X, Y)) -> F(X)
rule (forall Y: M(Y) -> D(Y)) -> Q
rule N(X) | F(X) -> T(X)
axiom A(X) <-> C(X) | K(X)
axiom T(X) -> (exists Y: E(X, Y) & D(Y))
axiom (C(X) & D(X)) <-> U(X)
""".splitlines()
QUERIES = """\
R(X, Y)
C(X)
D(X)
K(X)
L(X, Y)
M(X)
N(X)
G(X)
H(X, Y)
F(X)
A(X)
T(X)
U(X)
Q
exists Z: E(X, Z) & M(Z)
forall Z: E(X, Z) -> ~K(Z)
~C(X) & ~S(X)
""".splitlines()
WIDTHS = {"E": 2, "R": 2, "L": 2, "H": 2, "Q": 0, **dict.fromkeys("BSCDKMNGFATU", 1)}


class Levels(DrawnFacts):
    """A knowledge base in which facts, closed predicates of several strata and open ones rest on one another."""

    rules, queries, drawn, numbers = RULES, QUERIES, "EEEEEEBBBSSSVVRCK", ("",)

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.crisp = draw.random() < 0.7
        lines = [f"logic {draw.choice(('lukasiewicz', 'product', 'godel'))}"]
        for name, width in WIDTHS.items():
            closed = " closed" if name in "RCDKLMN" or (name in "EBS" and draw.random() < 0.8) else ""
            lines.append(f"predicate {name}" + (f"({', '.join(['entity'] * width)})" if width else "") + closed)
        lines += [f"number V(entity){draw.choice(self.numbers)}", *draw.sample(self.rules, draw.randrange(3, 12))]
        lines += [f"query {query}" for query in draw.sample(self.queries, draw.randrange(3, 9))]
        self.program = "\n".join(lines).replace("{weight}", draw.choice(("1", "1", "0.9"))) + "\n"
        self.names = [f"n{number}" for number in range(draw.choice((2, 3, 5, 8)))]
        self.facts = {key: self.bounds(key) for key in (self.key() for _ in range(draw.randrange(20)))}
        self.kb = lnnkit.loads(self.text())
        self.kb.infer()

    def key(self) -> Key:
        name = self.draw.choice(self.drawn)
        return name, tuple(self.draw.choice(self.names) for _ in range(WIDTHS.get(name, 1)))

    def bounds(self, key: Key) -> tuple[float, ...]:
        if key[0] == "V":
            low = self.draw.choice((0, 1, 2, 5, 0.1, 0.2, 1 / 3))
            return (low, low if self.crisp or self.draw.random() < 0.8 else low + 1)
        degrees = ((0.5, 1.0), (0.25, 0.75), (0.0, 1.0), (0.0, 0.0))
        return (1.0, 1.0) if self.crisp or self.draw.random() < 0.5 else self.draw.choice(degrees)


def unlike(kind: type[Levels], seed: int) -> str:
    """What `Levels.unlike` says; nothing of a program with a cycle through a negation."""
    try:
        made = kind(seed)
    except lnnkit.ProgramError:
        return ""
    return made.unlike()


@pytest.mark.parametrize("block", in_blocks(range(1200), 30, plain=8))
def test_strata_are_revised_to_what_a_fresh_inference_completes(block: range) -> None:
    with counted() as counts:
        for seed in block:
            assert not (text := unlike(Levels, seed)), text
    assert counts[True] > counts[False]


EXPOSED = """\
predicate DependsOn(package, package) closed
predicate Patched(package) closed
predicate Exposed(package) closed
number severity(package)
fact DependsOn(shop, web)
fact DependsOn(web, tls)
fact severity(tls) = 9
fact severity(web) = 2
fact severity(shop) = 1
fact Patched(zlib)
rule weak: severity(X) >= 7 & ~Patched(X) -> Exposed(X)
rule through: DependsOn(X, Y) & Exposed(Y) -> Exposed(X)
rule DependsOn(X, Y) & ~Exposed(X) -> Safe(X)
query Exposed(X)
query Safe(X)
"""


def held(kb: lnnkit.KnowledgeBase, query: str) -> list[str]:
    return [answer.bindings["X"] for answer in kb.ask(query) if answer.lower == 1]


def test_a_patch_is_followed_through_strata_and_rules_and_taken_back() -> None:
    kb = lnnkit.loads(EXPOSED)
    assert (held(kb, "Exposed(X)"), held(kb, "Safe(X)")) == (["shop", "tls", "web"], [])
    with counted() as counts:
        kb.tell("Patched", ["tls"])
        assert (held(kb, "Exposed(X)"), held(kb, "Safe(X)")) == ([], ["shop", "web"])
        proof = kb.explain("Safe(shop)")
        assert proof.verify() == [] and "fact Patched(tls)" in [fact.text for fact in proof.facts()]
        kb.retract("Patched", [("tls",)])
        assert (held(kb, "Exposed(X)"), held(kb, "Safe(X)")) == (["shop", "tls", "web"], [])
        kb.replace("severity", [("tls", 3), ("web", 8)])
        assert (held(kb, "Exposed(X)"), held(kb, "Safe(X)")) == (["shop", "web"], [])
        proof = kb.explain("Exposed(tls)")
        assert proof.upper == 0 and proof.verify() == []
    assert counts[False] == 0 and counts[True] >= 3


def test_a_change_writes_what_depends_on_it_and_no_more() -> None:
    """A chain of which the middle is mended, and mended no more: the first half is derived again."""
    kb = lnnkit.loads(EXPOSED)
    kb.tell("DependsOn", [(f"p{place}", f"p{place + 1}") for place in range(400)])
    kb.tell("severity", [("p400", 9), *((f"p{place}", 1) for place in range(400))])
    kb.infer()
    run = kb._session.program_fixpoint().run
    for change in (kb.tell, kb.retract):
        before = len(run.state.trail)
        change("Patched", [("p390",)])
        kb.infer()
        assert kb._session.program_fixpoint().run is run
        # p390 has no weakness of its own, so a patch of it changes nothing but that fact
        assert len(run.state.trail) - before < 40


def test_a_comparison_that_a_new_fact_needs_is_known_before_completion() -> None:
    kb = lnnkit.loads("""\
predicate Here(t) closed
predicate Far(t) closed
number d(t)
fact Here(a)
fact d(a) = 9
fact d(b) = 1
fact Seen(b)
rule Here(X) & d(X) > 5 -> Far(X)
query Far(X)
""")
    kb.infer()
    with counted() as counts:
        kb.tell("Here", ["b"])
        assert [(answer.bindings["X"], answer.lower, answer.upper) for answer in kb.ask("Far(X)")] == [("a", 1, 1)]
        assert kb.explain("Far(b)").upper == 0
    assert counts == {True: 1}
