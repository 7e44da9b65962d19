"""Quantifiers over sorts that may have more individuals than are named, beside others: engine and oracle agree."""

from __future__ import annotations

import itertools
import random

import pytest

import lnnkit
from lnnkit import errors
from tests.agreement import disagreements
from tests.blocks import in_blocks
from tests.engine.unnamed_completion import Completed
from tests.oracle import Formula, Program, ProgramError
from tests.oracle.program import Fact, Predicate, Statement, free_variables

VARIABLES = {"a": ("X", "X2"), "b": ("Y", "Y2"), "c": ("Z",)}
NAMES = tuple(itertools.chain(*VARIABLES.values()))
SHAPES = {"P": "ab", "Q": "b", "R": "a", "S": "aa", "T": "bc", "W": "c"}


class Quantified:
    """A program of three sorts, open or not and of few entities or none, asked with quantifiers over several
    variables."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        sorts = {sort: rng.random() < share for sort, share in (("a", 0.7), ("b", 0.5), ("c", 0.3))}
        pool = {
            sort: [f"{sort}{i}" for i in range(rng.choice([0, 1, most, most]))]
            for sort, most in zip("abc", (2, 2, 1), strict=True)
        }
        self.predicates = [Predicate(name, len(s), tuple(s), closed=rng.random() < 0.5) for name, s in SHAPES.items()]
        facts = []
        for each in self.predicates:
            for row in itertools.product(*(pool[sort] for sort in each.sorts or ())):
                if rng.random() < 0.5:
                    lower = rng.choice([0.0, 0.3, 0.7, 1.0, 1.0])
                    facts.append(Fact(each.name, row, lower, rng.choice([lower, 1.0])))
        self.stated: list[Formula] = []
        statements = []
        derived = rng.choice(["", "ab", "a", "b"])
        if derived:
            self.predicates.append(Predicate("D", len(derived), tuple(derived), closed=True))
            head = ("atom", "D", tuple(("var", VARIABLES[sort][0]) for sort in derived))
            for _ in range(rng.choice([1, 1, 2])):
                statements.append(self.rule(self.formula(("X", "Y"), 1), head))
        for _ in range(rng.choice([0, 0, 1, 2])):
            statements.append(self.rule(self.quantified((), 2), self.literal(NAMES)))
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            every = self.formula(tuple(rng.sample(NAMES, rng.choice([1, 2]))), 1)
            truth = rng.choice([(1.0, 1.0), (0.8, 1.0), (0.0, 0.4)])
            statements.append(Statement("axiom", every, *truth))
            self.stated.append(every)
        queries = [self.quantified(() if rng.random() < 0.7 else (rng.choice("XY"),), 2) for _ in range(3)]
        logic = rng.choice(["lukasiewicz", "lukasiewicz", "godel", "product"])
        self.program = Program(self.predicates, facts, statements, queries, sorts, logic)

    @staticmethod
    def rule(antecedent: Formula, consequent: Formula) -> Statement:
        return Statement("rule", ("implies", (1.0, antecedent), (1.0, consequent), 1.0, ""))

    def literal(self, scope: tuple[str, ...]) -> Formula:
        """An atom over variables in scope, or its negation; seldom an equality."""
        rng, own = self.rng, {sort: [v for v in names if v in scope] for sort, names in VARIABLES.items()}
        pairs = [names for names in own.values() if len(names) == 2]
        if pairs and rng.random() < 0.15:
            return ("eq", *(("var", name) for name in rng.choice(pairs)))
        fitting = [each for each in self.predicates if all(own[sort] for sort in each.sorts or ())]
        if not fitting:
            return ("true",)
        chosen = rng.choice(fitting)
        atom = ("atom", chosen.name, tuple(("var", rng.choice(own[sort])) for sort in chosen.sorts or ()))
        return ("not", atom) if rng.random() < 0.4 else atom

    def formula(self, scope: tuple[str, ...], depth: int) -> Formula:
        fitting = [each for each in self.stated if {*free_variables(each)} <= {*scope}]
        if fitting and self.rng.random() < 0.4:
            return self.rng.choice(fitting)
        if depth and self.rng.random() < 0.3 and len(scope) < len(NAMES):
            return self.quantified(scope, depth - 1)
        if not depth or self.rng.random() < 0.3:
            return self.literal(scope)
        kind = self.rng.choice(["and", "or", "implies", "iff"])
        parts = tuple((1.0, self.formula(scope, depth - 1)) for _ in range(2))
        return (kind, parts, 1.0, "") if kind in ("and", "or") else (kind, *parts, 1.0, "")

    def quantified(self, scope: tuple[str, ...], depth: int) -> Formula:
        """Over one to three new variables that its body uses."""
        new = [name for name in NAMES if name not in scope]
        bound = self.rng.sample(new, min(len(new), self.rng.choice([1, 2, 2, 3])))
        body = self.formula((*scope, *bound), max(depth, 1))
        used = tuple(name for name in free_variables(body) if name in bound)
        return (self.rng.choice(["forall", "exists"]), used, body) if used else body


def compared(kind: type[Quantified | Completed], seeds: range) -> int:
    """How many of the programs could be compared; all of these agree."""
    count = 0
    for seed in seeds:
        program = kind(seed).program
        try:
            found = disagreements(program)
        except (ProgramError, errors.ProgramError):  # no valid program
            continue
        assert not found, f"seed {seed}: {found}"
        count += found is not None
    return count


def test_rows_about_unnamed_individuals() -> None:
    assert compared(Quantified, range(10)) > 2


@pytest.mark.parametrize("block", in_blocks(range(10, 1990), 165, plain=0))
def test_more_rows_about_unnamed_individuals(block: range) -> None:
    assert compared(Quantified, block) > 25


def test_completion_about_unnamed_individuals() -> None:
    assert compared(Completed, range(4)) > 1


@pytest.mark.parametrize("block", in_blocks(range(4, 904), 150, plain=0))
def test_more_completion_about_unnamed_individuals(block: range) -> None:
    assert compared(Completed, block) > 50


def test_an_unnamed_individual_meets_the_named_of_a_closed_sort() -> None:
    """Someone unnamed may lack the hat."""
    text = "sort person open\npredicate Has(person, item)\npredicate Need(item) closed\nfact Need(hat)\n"
    text += "fact Has(ann, hat)\nquery forall X, Y: Need(Y) -> Has(X, Y)\n"
    ((found,),) = lnnkit.loads(text).answers()
    assert (found.lower, found.upper) == (0.0, 1.0)


def test_all_of_an_open_sort_without_names() -> None:
    """Nothing is W, so anybody unnamed is not; whether there is anybody is not known."""
    text = "sort c open\npredicate W(c) closed\nquery forall Z: ~W(Z)\nquery exists Z: ~W(Z)\n"
    everybody, somebody = (found for (found,) in lnnkit.loads(text).answers())
    assert (everybody.lower, everybody.upper) == (1.0, 1.0)
    assert (somebody.lower, somebody.upper) == (0.0, 1.0)


def test_what_is_stated_of_all_holds_of_the_unnamed() -> None:
    """As first-order logic has it, formula by formula; that several statements together say more is not seen."""
    text = """
        sort animal open
        predicate Bird(animal)
        predicate Flies(animal)
        predicate Mortal(animal)
        predicate Stone(animal)
        number age(animal)
        fact Bird(tweety)
        axiom Bird(X) -> Flies(X)
        axiom Mortal(X)
        axiom ~Stone(X) in [0.8, 1]
        axiom age(X) >= 0
    """
    kb = lnnkit.loads(text)
    for query, bounds in {
        "forall X: Bird(X) -> Flies(X)": (1.0, 1.0),
        "forall X: Flies(X) -> Bird(X)": (0.0, 1.0),
        "forall X: Flies(X)": (0.0, 1.0),
        "forall X: Mortal(X)": (1.0, 1.0),
        "exists X: Bird(X) & ~Mortal(X)": (0.0, 0.0),
        "exists X: Stone(X)": (0.0, 0.2),
        "forall X: age(X) >= 0": (1.0, 1.0),
    }.items():
        explanation = kb.explain(query)
        assert (explanation.lower, explanation.upper) == pytest.approx(bounds), query
        assert explanation.verify() == []


def test_what_is_stated_of_a_wider_sort_says_nothing_of_the_unnamed_of_a_narrower_one() -> None:
    """`entity` has all that is named: whether it has the unnamed animals too is not said."""
    text = "sort a open\npredicate P(a)\npredicate E(entity)\nfact P(ann)\nfact E(zoe)\naxiom E(X)\n"
    text += "query forall X: P(X) | E(X)\nquery forall X: P(X) -> E(X)\n"
    assert [(row.lower, row.upper) for (row,) in lnnkit.loads(text).answers()] == [(0.0, 1.0), (0.0, 1.0)]


@pytest.mark.parametrize("count", [3, 12])
def test_many_variables(count: int) -> None:
    """Each set of variables may be unnamed individuals: of many what is stated of all is not looked at, but in the
    time that a few take."""
    names = [f"V{number}" for number in range(count)]
    body = " & ".join(f"(P({name}) -> Q({name}))" for name in names)
    text = "sort a open\npredicate P(a)\npredicate Q(a)\nfact P(k)\nfact Q(k)\naxiom P(X) -> Q(X)\n"
    ((row,),) = lnnkit.loads(f"{text}query forall {', '.join(names)}: {body}\n").answers()
    assert (row.lower, row.upper) == (1.0 if count == 3 else 0.0, 1.0)


def test_an_unnamed_individual_completes_too() -> None:
    """Someone unnamed may have S, as the same rule with an ``exists`` says."""
    text = (
        "sort a open\npredicate S(a, b)\npredicate D(b) closed\nfact ~S(ann, bo)\nrule S(X, Y) -> D(Y)\nquery D(bo)\n"
    )
    ((row,),) = lnnkit.loads(text).answers()
    assert (row.lower, row.upper) == (0.0, 1.0)


def answers_to(text: str) -> list[tuple[float, float]]:
    return [(row.lower, row.upper) for (row,) in lnnkit.loads(text).answers()]


@pytest.mark.parametrize(
    ("rule", "bounds"),
    [
        ("S(X, Y) -> D(Y)", (0.0, 1.0)),
        ("S(X, Y) & T(X) -> D(Y)", (0.0, 0.0)),  # T is false of the unnamed
        ("S(X, Y) & ~T(X) -> D(Y)", (0.0, 1.0)),
        ("S(X, Y) & age(X) > 3 -> D(Y)", (0.0, 1.0)),
        ("S(X, Y) & S(X2, Y) & T(X2) -> D(Y)", (0.0, 0.0)),
        ("S(X, Y) & X2 = X & T(X2) -> D(Y)", (0.0, 0.0)),
        ("S(X, Y) & ~(X = ann) -> D(Y)", (0.0, 1.0)),
        ("(exists X: S(X, Y)) -> D(Y)", (0.0, 1.0)),
        ("S(X, Y) -> D(Y) & E(X)", (0.0, 1.0)),
        ("S(X, Y) -> E(X)", (0.0, 0.0)),
        ("(S(X, Y) -> D(Y)) in [0.6, 1]", (0.0, 0.6)),
    ],
)
def test_an_unnamed_individual_may_be_in_a_rule(rule: str, bounds: tuple[float, float]) -> None:
    """Nobody named has S to bo."""
    text = f"""
        sort a open
        sort b
        predicate S(a, b)
        predicate T(a) closed
        predicate D(b) closed
        predicate E(a) closed
        number age(a)
        fact ~S(ann, bo)
        fact T(ann)
        rule {rule}
        query D(bo)
    """
    kb = lnnkit.loads(text)
    ((row,),) = kb.answers()
    assert (row.lower, row.upper) == bounds
    assert kb.explain("D(bo)").verify() == []


def test_no_unnamed_individual_in_chains_of_closed_predicates() -> None:
    """What rules complete from closed predicates is false of the unnamed too, and so is what is completed from that."""
    text = """
        sort p open
        predicate parent(p, p) closed
        predicate grand(p, p) closed
        predicate great(p, p) closed
        predicate reach(p, p) closed
        fact parent(ann, bo)
        fact parent(bo, cy)
        rule parent(X, Y) & parent(Y, Z) -> grand(X, Z)
        rule grand(X, Y) & grand(Y, Z) -> great(X, Z)
        rule parent(X, Y) -> reach(X, Y)
        rule reach(X, Y) & reach(Y, Z) -> reach(X, Z)
        query exists X, Y: great(X, Y)
        query forall X: ~reach(X, ann)
        query reach(ann, cy)
        query reach(cy, ann)
    """
    assert answers_to(text) == [(0.0, 0.0), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0)]
    for query in ("exists X, Y: great(X, Y)", "forall X: ~reach(X, ann)", "reach(cy, ann)"):
        assert lnnkit.loads(text).explain(query).verify() == []


def test_whether_there_is_anybody_unnamed_is_not_known() -> None:
    """A rule that asks for 0.3 even where nobody is W says nothing for certain: there may be nobody at all."""
    text = "sort c open\npredicate W(c)\npredicate D closed\nrule W(Z)@0.7 -> D\nquery D\n"
    assert answers_to(text) == [(0.0, 1.0)]


def test_somebody_unnamed_may_be_in_the_rest_of_a_consequent() -> None:
    text = "sort a open\npredicate E(a)\npredicate G closed\npredicate R\nfact R\nrule R -> E(X) & G\nquery G\n"
    assert answers_to(text) == [(0.0, 1.0)]
    assert answers_to(text + "fact E(ann)\n") == [(1.0, 1.0)]
