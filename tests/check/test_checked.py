"""What comes out: predicates with sorts, rows of facts, resolved comparisons, strata."""

from __future__ import annotations

from pathlib import Path

import pytest

from lnnkit.check import check
from lnnkit.check.program import ENTITY, SameEntity
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse
from tests.check.checking import checked


def test_sorts_are_inferred_through_shared_variables() -> None:
    program = checked(
        """
predicate Contact(person, city)
rule Contact(X, Y) -> A(X)
fact B(anna, bob)
rule A(X) & B(X, Z) -> C(Z, X)
rule C(X, Y) & X != W & E(W) -> D(Y)
fact E(rome)
"""
    )
    sorts = {name: predicate.sorts for name, predicate in program.predicates.items()}
    assert sorts == {
        "Contact": ("person", "city"),
        "A": ("person",),
        "B": ("person", ENTITY),
        "C": (ENTITY, "person"),
        "D": ("person",),
        "E": (ENTITY,),  # the comparison of X and W says nothing
    }
    assert set(program.sorts) == {ENTITY, "person", "city"}


def test_a_predicate_of_things_of_two_sorts_is_about_entities() -> None:
    program = checked("predicate P(person)\npredicate C(city)\nrule P(X) -> Named(X)\nrule C(X) -> Named(X)\n")
    assert program.predicates["Named"].sorts == (ENTITY,)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("fact P(anna)", (1, 1)),
        ("fact ~P(anna)", (0, 0)),
        ("fact P(anna) = 0.25", (0.25, 0.25)),
        ("fact P(anna) in [0.25, 0.5]", (0.25, 0.5)),
        ("fact ~P(anna) in [0.25, 0.5]", (0.5, 0.75)),
        ("fact not P(anna) = 0.25", (0.75, 0.75)),
        ("number P(entity)\nfact P(anna) in [-3, inf]", (-3, float("inf"))),
    ],
)
def test_facts(text: str, bounds: tuple[float, float]) -> None:
    (fact,) = checked(text).facts
    assert (fact.predicate, fact.arguments, fact.lower, fact.upper) == ("P", ("anna",), *bounds)
    assert isinstance(fact.lower, float) and isinstance(fact.upper, float)
    declared = "" if "number" in text else "predicate P(entity)\n"
    (label,) = checked(declared + text.replace("fact", "label")).labels
    assert (label.lower, label.upper) == bounds


def test_comparisons_of_entities_are_resolved() -> None:
    program = checked('fact P(anna)\nrule P(X) & P(Y) & X != Y & X = "anna" -> Q(X, Y)\n')
    formula = program.assertions[0].formula
    assert isinstance(formula, ast.Implies) and isinstance(formula.antecedent, ast.And)
    unequal, equal = formula.antecedent.operands[2:]
    assert isinstance(unequal, ast.Not) and isinstance(unequal.operand, SameEntity)
    assert isinstance(equal, SameEntity) and isinstance(equal.right, ast.Constant) and equal.right.text == "anna"


def test_what_a_quantifier_binds_is_no_number() -> None:
    program = checked("number limit\nfact P(anna)\naxiom exists limit: P(limit) & limit = anna\n")
    formula = program.assertions[0].formula
    assert isinstance(formula, ast.Exists) and isinstance(formula.body, ast.And)
    assert isinstance(formula.body.operands[1], SameEntity)


def test_a_chain_of_equalities_is_a_conjunction() -> None:
    program = checked("fact P(anna)\nrule P(X) & P(Y) & anna = X != Y -> Q(X, Y)\n")
    formula = program.assertions[0].formula
    assert isinstance(formula, ast.Implies) and isinstance(formula.antecedent, ast.And)
    chain = formula.antecedent.operands[2]
    assert isinstance(chain, ast.And) and [type(part) for part in chain.operands] == [SameEntity, ast.Not]


def test_assertions_keep_their_kind_name_and_bounds() -> None:
    rule, axiom = checked("fact P(anna)\nrule r: P(X) -> Q(X) in [?l=0.5, 1]\naxiom Q(X) -> P(X)\n").assertions
    assert (rule.kind, rule.name, rule.upper) == ("rule", "r", 1.0)
    assert isinstance(rule.lower, ast.Learnable)
    assert (axiom.kind, axiom.name, axiom.lower, axiom.upper) == ("axiom", None, 1.0, 1.0)


def test_queries_are_kept_as_they_were_written() -> None:
    text = "fact P(anna)\nquery   exists X:  (P(X)  and ¬P( anna ))  # really\nquery ∃x P(x)\n"
    assert [query.text for query in checked(text).queries] == ["exists X:  (P(X)  and ¬P( anna ))", "∃x P(x)"]


def test_what_has_no_start_is_not_evaluated() -> None:
    text = "fact P(anna)\nrule P(X)@? & Q(X)@?w -> Q(X)@?w=0.5 in [?, 1]\n"
    assert checked(text).unevaluated == ()
    text = "fact P(anna)\nnumber age(person)\nrule P(X) & age(X) > ? & age(X) <?> 3 -> Q(X)\n"
    assert [each.code for each in checked(text).unevaluated if each.line == 3] == ["untrained"]


def test_chains_are_conjunctions_of_their_links() -> None:
    text = "number n(entity)\nfact P(anna)\nrule P(X) & (1 < (n(X) + 1) <= ?t){scale: ?5} -> Q(X)\n"
    formula = checked(text).assertions[0].formula
    assert isinstance(formula, ast.Implies) and isinstance(formula.antecedent, ast.And)
    chain = formula.antecedent.operands[1]
    assert isinstance(chain, ast.And) and not chain.attributes
    first, second = chain.operands
    assert isinstance(first, ast.Comparison) and isinstance(second, ast.Comparison)
    assert (first.operators, second.operators) == (("<",), ("<=",))
    assert first.operands[1] is second.operands[0]
    assert first.attributes == second.attributes != ()
    assert second.span.text == "(1 < (n(X) + 1) <= ?t){scale: ?5}"  # the parentheses are no part of an operand's span


def test_comparisons_of_constants_are_true_or_false() -> None:
    text = "number n(entity)\nfact P(anna)\nrule .1 + .2 <= .3 & 3 < ?t <= n(X) & 2 != 2 & 9.5 = ?t & P(X) -> Q(X)\n"
    formula = checked(text + "rule n(X) > ?t=9.5 & P(X) -> Q(X)\n").assertions[0].formula
    assert isinstance(formula, ast.Implies) and isinstance(formula.antecedent, ast.And)
    rounded, chain, unequal, learned, _ = formula.antecedent.operands
    assert isinstance(chain, ast.And) and isinstance(chain.operands[1], ast.Comparison)
    truths = [rounded, chain.operands[0], unequal, learned]
    assert [truth.value for truth in truths if isinstance(truth, ast.Truth)] == [True, True, False, True]


def test_strata_come_dependencies_first() -> None:
    program = checked(
        """
predicate E(n, n) closed
predicate Top(n) closed
predicate Odd(n) closed
predicate Even(n) closed
predicate Free(n) closed
rule E(X, Y) & ~Even(X) & ~Odd(Y) -> Top(X)
rule E(X, Y) & Odd(Y) -> Even(X)
rule E(X, Y) & Even(Y) -> Odd(X) & Seen(X)
axiom forall X: E(X, X) -> Free(X)
rule Free(X) in [0.5, 1]
"""
    )
    assert program.strata == (frozenset({"Odd", "Even"}), frozenset({"Top"}), frozenset({"Free"}))


@pytest.mark.parametrize(
    "text",
    [
        "fact A(anna)\nrule A(X) & -> B(X)\nquery B(X)\n",
        "fact Parent(anna, bob)\nrule Parent(X, Y), Parent(Y, Z) -> Grand(X, Z)\nquery Parent(anna, X)\n",
        "fact A(anna)\nrule A(X) & -> B(X)\nrule A(X) & f(X) = g(X) -> C(X)\nrule f(X) & -> g(X)\n",
    ],
)
def test_a_name_of_a_broken_statement_is_no_number(text: str) -> None:
    program, problems = parse(text, "test.lnn")
    assert problems
    assert check(program, Path())[1] == []


def test_a_name_of_a_broken_statement_may_be_a_number() -> None:
    program, problems = parse(
        "number f(entity) &\nfact A(anna)\nrule A(X) & (f(X) > 3){scale: 2} -> B(X)\n", "test.lnn"
    )
    assert problems
    assert [finding.code for finding in check(program, Path())[1]] == []
