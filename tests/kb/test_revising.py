"""Fixpoints that are revised where facts change: to the bit those of a fresh inference, with proofs that verify."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest

import lnnkit
from lnnkit.engine.planning.compiling import Plans
from lnnkit.engine.revision import revise as revision
from lnnkit.kb import fixpoint
from tests.blocks import in_blocks
from tests.kb.test_retracting import answered

REACHED = """
logic {logic}
predicate E(n, n){closed}
predicate B(n)
predicate R(n, n)
predicate S(n)
rule E(X, Y) -> R(X, Y)
rule R(X, Y) & E(Y, Z) -> R(X, Z) in [{weight}, 1]
rule S(X) & E(X, Y) -> S(Y) in [{weight}, 1]
rule (exists Y: E(X, Y) & B(Y)) -> C(X)
rule (forall Y: E(X, Y) -> B(Y)) -> D(X)
axiom A(X) <-> (exists Y: E(Y, X) & S(Y))
rule A(X) & ~B(X) -> F(X)
axiom ~(C(X) & F(X)) in [0.0, 1.0]
query R(X, Y)
query S(X)
query C(X)
query D(X)
query A(X)
query F(X)
query exists Y: E(X, Y) & S(Y)
"""
BACKWARDS = """
logic {logic}
predicate E(n, n){closed}
predicate B(n)
predicate S(n)
axiom E(X, Y) <-> G(Y, X)
axiom B(X) -> exists Y: E(X, Y) & S(Y)
axiom S(X) & G(X, Y) -> P(Y)@2
axiom P(X) -> ~N(X)
rule N(X) & E(X, Y) -> N(Y) in [{weight}, 1]
rule (forall Y: E(X, Y) -> P(Y)) -> Q(X)
rule (S(X) | P(X)) & (exists Y: G(X, Y)) -> T(X)
query G(X, Y)
query P(X)
query N(X)
query Q(X)
query T(X)
query S(X)
query exists Y: E(X, Y) & S(Y)
"""
Key = tuple[str, tuple[str, ...]]
Facts = dict[Key, tuple[float, float]]


def text(program: str, facts: Facts) -> str:
    lines = (f"fact {name}({', '.join(of)}) in [{low}, {high}]\n" for (name, of), (low, high) in facts.items())
    return program + "".join(lines)


@contextmanager
def counted() -> Iterator[Counter[bool]]:
    """Counts the fixpoints that were revised, and those that could not be."""
    counts, real = Counter[bool](), revision.revise

    def revise(*given: object, labelled: bool) -> bool:
        done = real(*given, labelled=labelled)  # type: ignore[arg-type]  # as they are given
        counts[done] += 1
        return done

    with mock.patch.object(fixpoint, "revise", revise):
        yield counts


class Graph:
    """A knowledge base about a random graph, and its facts."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        nodes = draw.choice((4, 6, 9, 14))
        logic, closed = draw.choice(("lukasiewicz", "product", "godel")), draw.choice(("", " closed"))
        program = draw.choice((REACHED, BACKWARDS))
        self.program = program.format(logic=logic, closed=closed, weight=draw.choice((1, 1, 0.9, 0.7)))
        self.crisp = draw.random() < 0.5
        self.nodes = [f"n{number}" for number in range(nodes)]
        self.facts: Facts = {("B", (node,)): (0.0, 1.0) for node in self.nodes}
        self.facts |= {self.atom(): self.bounds() for _ in range(draw.randrange(nodes, 4 * nodes))}
        self.kb = lnnkit.loads(text(self.program, self.facts))
        self.kb.infer()

    def atom(self) -> Key:
        name = self.draw.choice("EEEEBS")
        return name, tuple(self.draw.choice(self.nodes) for _ in range(1 + (name == "E")))

    def bounds(self) -> tuple[float, float]:
        degrees = ((0.5, 1.0), (0.25, 0.75), (0.0, 1.0), (0.9, 1.0), (0.0, 0.0))
        return (1.0, 1.0) if self.crisp or self.draw.random() < 0.4 else self.draw.choice(degrees)

    def change(self) -> None:
        kind = self.draw.choice(("tell", "retract", "retract", "replace"))
        name, of = key = self.atom() if kind == "tell" else self.draw.choice(list(self.facts))
        if kind == "retract":
            if name != "B":  # these name all nodes
                self.kb.retract(name, [of])
                del self.facts[key]
        elif kind == "replace" or key not in self.facts:
            self.facts[key] = self.bounds()
            getattr(self.kb, kind)(name, [[*of, *self.facts[key]]])

    def unlike(self) -> str:
        """How it differs from a fresh inference."""
        stated = text(self.program, self.facts)
        if answered(self.kb) != answered(lnnkit.loads(stated)):
            return stated
        for query in self.kb.queries[:2] if self.draw.random() < 0.3 else ():
            for answer in self.kb.ask(query):
                atom = query
                for variable, entity in answer.bindings.items():
                    atom = atom.replace(variable, entity)
                proof = self.kb.explain(atom)
                if proof.verify() or (proof.lower, proof.upper) != (answer.lower, answer.upper):
                    return f"{atom}: {proof.verify()}\n{stated}"
        return ""


@pytest.mark.parametrize("block", in_blocks(range(2000), 10, plain=2))
def test_changed_graphs_are_as_inferred_anew(block: range) -> None:
    with counted() as counts:
        for seed in block:
            graph = Graph(seed)
            for _ in range(8):
                with graph.kb.transaction():
                    for _ in range(graph.draw.choice((1, 1, 1, 2, 5))):
                        graph.change()
                assert not (wrong := graph.unlike()), f"seed {seed}\n{wrong}"
    assert counts[True] > counts[False]


SPREAD = """
predicate Contact(person, person)
fact Infected(p0)
rule Infected(X) & Contact(X, Y) -> Infected(Y)
query Infected(X)
"""


def infected(kb: lnnkit.KnowledgeBase) -> int:
    return sum(answer.lower == 1 for answer in kb.ask("Infected(X)"))


def test_a_cycle_does_not_support_itself() -> None:
    kb = lnnkit.loads(SPREAD)
    kb.tell("Contact", [["p0", "p1"], ["p1", "p2"], ["p2", "p1"], ["p9", "p0"]])
    assert infected(kb) == 3
    with mock.patch.object(Plans, "plan", side_effect=AssertionError("inferred anew")):
        kb.retract("Contact", [["p0", "p1"]])
        assert infected(kb) == 1
        kb.tell("Contact", [["p9", "p2"], ["p0", "p2"]])
        assert infected(kb) == 3


def test_bounds_that_differ_by_rounding_are_inferred_anew() -> None:
    """The one that comes first wins, or the greatest of those that come in one round."""
    program = "fact P(a) = 0.3\nfact Q(a) = 0.1\nrule P(X) -> H(X)\nrule Q(X) -> H(X)\nrule H(X) -> G(X)\nquery G(X)\n"
    kb = lnnkit.loads(program)
    kb.infer()
    kb.replace("Q", [["a", 0.1 + 0.2]])
    assert answered(kb) == answered(lnnkit.loads(program.replace("0.1", str(0.1 + 0.2))))
    assert kb.ask("G(a)")[0].lower == 0.1 + 0.2


COMPLETED = """
predicate Q(n) closed
predicate E(n)
rule E(X) -> Q(X)
fact E(a) in [0, 1]
fact Q(b)
query Q(X)
query E(X)
"""
LISTED = """
predicate P(n) closed
predicate K(n)
fact K(a)
fact P(a) in [0, 1]
rule (forall U: ~P(U)) -> Q(X)
query Q(X)
"""


def test_a_fact_that_says_no_more_than_the_default_keeps_a_completion_away() -> None:
    kb = lnnkit.loads(COMPLETED)
    kb.infer()
    kb.tell("Q", [["a", 0.0, 0.0]])
    assert answered(kb) == answered(lnnkit.loads(COMPLETED + "fact ~Q(a)\n"))
    kb.retract("Q", [["a"]])
    assert answered(kb) == answered(lnnkit.loads(COMPLETED))


def test_what_a_statement_says_is_heard_where_its_operands_say_less() -> None:
    """A(cleo) implied more of the implication than is stated of it, and implies less without its fact."""
    text = "predicate A(s)\npredicate B(s)\nrule forall X: (B(X) -> ~A(X)) in [0.31, 1]\nquery B(X) -> ~A(X)\n"
    kb = lnnkit.loads(text + "fact A(bob) in [0, 0.77]\nfact A(cleo) = 0.3\n")
    assert [answer.lower for answer in kb.ask("B(X) -> ~A(X)")] == [0.31, 0.7]
    with counted() as counts:
        kb.replace("A", [("cleo", 0, 1)])
        assert [answer.lower for answer in kb.ask("B(X) -> ~A(X)")] == [0.31, 0.31]
    assert counts == {True: 1}


CONTAINED = """
predicate E(n, n) closed
predicate S(n)
predicate K(n)
fact K(b)
fact E(a, c)
rule (forall Y: E(X, Y) -> S(Y)) in [0.3, 1]
query forall Y: E(X, Y) -> S(Y)
query S(X)
"""
EQUAL = """
predicate E(n, n) closed
predicate K(n)
fact K(a)
fact K(b)
fact E(a, b)
axiom (forall Y: (E(Y, X) <-> E(Y, X))) in [0.7, 1]
query E(Y, X) <-> E(Y, X)
query forall Y: (E(Y, X) <-> E(Y, X))
"""


@pytest.mark.parametrize(("program", "fact"), [(CONTAINED, ("a", "b", 1, 1)), (EQUAL, ("b", "b", 0.5, 1))])
def test_neurons_that_were_true_by_default_get_rows(program: str, fact: tuple[str, str, float, float]) -> None:
    """Nobody had listed the atom, so that the implication was true without a row of its own."""
    one, other, low, high = fact
    kb = lnnkit.loads(program)
    kb.infer()
    with counted() as counts:
        kb.replace("E", [fact])
        assert answered(kb) == answered(lnnkit.loads(program + f"fact E({one}, {other}) in [{low}, {high}]\n"))
    assert counts == {True: 1}
    assert not kb.explain(
        f"forall Y: {'E(a, Y) -> S(Y)' if program == CONTAINED else '(E(Y, b) <-> E(Y, b))'}"
    ).verify()


def test_a_fact_of_a_closed_predicate_that_comes_nearer_to_false_is_heard_of() -> None:
    kb = lnnkit.loads(LISTED)
    kb.infer()
    kb.retract("P", [["a"]])
    (answer,) = kb.ask("Q(X)")
    assert (answer.lower, answer.upper) == (1, 1)


def test_a_limit_of_instances_ends_with_the_inference_that_has_it() -> None:
    kb = lnnkit.loads("predicate E(n, n)\nrule E(X, Y) -> R(X, Y)\nrule R(X, Y) & E(Y, Z) -> R(X, Z)\nquery R(X, Y)\n")
    kb.tell("E", [[f"b{place}", f"b{place}"] for place in range(40)])
    kb.infer(max_groundings=80)
    kb.tell("E", [[f"b{place}", f"b{place + 1}"] for place in range(39)])
    assert kb.infer().status == "converged"
    assert len(kb.ask("R(X, Y)")) == 40 * 41 // 2


def test_a_revision_that_is_interrupted_is_made_anew() -> None:
    chain = [[f"p{number}", f"p{number + 1}"] for number in range(400)]
    kb = lnnkit.loads(SPREAD)
    kb.tell("Contact", chain)
    kb.infer()
    for place, step in enumerate(("reset", "_tighten", "catch_up", "_evaluate", "infer_rounds", "_depends_on_order")):
        kb.retract("Contact", [chain[50 * place]])
        with pytest.raises(KeyboardInterrupt), mock.patch.object(revision, step, side_effect=KeyboardInterrupt):
            kb.answers()
        assert infected(kb) == 50 * place + 1
        kb.tell("Contact", [chain[50 * place]])
        assert infected(kb) == 401


def test_a_proof_names_the_fact_that_says_what_was_so_by_default() -> None:
    kb = lnnkit.loads("predicate E(n, n) closed\nfact E(b, a)\naxiom E(X, Y) <-> G(Y, X)\nquery G(X, Y)\n")
    assert kb.ask("G(b, a)")[0].upper == 0
    kb.infer()
    kb.tell("E", [["a", "b", 0.0, 0.0]])
    kb.infer()
    proof = kb.explain("G(b, a)")
    assert proof.upper == 0 and proof.verify() == []
    assert [fact.text for fact in proof.facts()] == ['fact ~E("a", "b")']


def test_a_fixpoint_that_strips_did_without_is_not_made_to_be_revised() -> None:
    kb = lnnkit.loads("predicate P(n)\nrule P(X) -> Q(X)\nquery Q(X)\n")
    with (
        mock.patch.object(fixpoint, "_FEW", 10),
        mock.patch.object(fixpoint, "infer", side_effect=AssertionError("whole")),
    ):
        kb.tell("P", [[f"a{place}"] for place in range(10_000)])
        assert kb.infer().status == "converged"
        kb.tell("P", [["b"]])
        assert kb.infer().status == "converged"
        assert len(kb.answers()[0]) == 10_001
