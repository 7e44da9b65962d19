"""The ways that why-not names: nearest first, each statement once before a second way, and all that one promises comes
true when its premises are written beneath the program."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

import lnnkit
from lnnkit.explain.missing.missing_premises import SIDES
from lnnkit.explain.missing.why_not import Missing, WhyNot
from lnnkit.explain.proof.proof import BoundSide
from lnnkit.syntax import ast
from tests.blocks import at_length

DISEASE = """predicate Contact(person, person) closed
predicate Vaccinated(person)
predicate Fever(person)
fact Contact(anna, dora)
fact Contact(dora, emil)
fact Contact(emil, cleo)
fact Infected(anna)
fact Infected(bob) in [0.2, 0.6]
fact Cough(dora)
rule spread: Infected(X) & Contact(X, Y) & ~Vaccinated(Y) -> Infected(Y) in [0.8, 1]
rule cough: Cough(X) & Fever(X) -> Infected(X)
"""
ACCOUNTS = """number total(customer)
predicate Acc(account, customer, kind)
predicate Good(account)
fact total(c1) = 10
fact Acc(x, c1, retail)
fact Acc(z, c2, corp)
rule r: (exists C: Acc(A, C, retail) & total(C) > 100) -> Good(A)
"""


def missing(found: WhyNot) -> list[list[str]]:
    return [sorted(each.atom for each in way.missing) for way in found.ways]


def test_a_way_does_not_need_the_goal() -> None:
    text = (
        "predicate Contact(p, p) closed\nfact Contact(ann, bob)\nfact Infected(dora) in [0.3, 1]\nfact Infected(ann)\n"
    )
    text += "rule spread: Infected(X) & Contact(X, Y) -> Infected(Y)\n"
    found = lnnkit.loads(text).why_not("Infected(dora)")
    assert missing(found)[0] == ["Contact(ann, dora)"]
    assert not any({"Contact(dora, dora)", "Infected(dora)"} & {*atoms} for atoms in missing(found))


def test_recursive_paths() -> None:
    text = "predicate Edge(n, n) closed\nfact Edge(k1, k2)\nfact Edge(k2, k3)\nfact Edge(k4, k5)\n"
    text += "rule base: Edge(X, Y) -> Path(X, Y)\nrule step: Path(X, Y) & Edge(Y, Z) -> Path(X, Z)\n"
    found = lnnkit.loads(text).why_not("Path(k1, k5)")
    assert missing(found)[:2] == [["Path(k1, k4)"], ["Edge(k1, k5)"]]  # unknown is nearer than false
    assert ["Path(k1, k5)"] not in missing(found)
    assert {"Edge(k2, k5)", "Edge(k3, k5)"} <= {atom for atoms in missing(found) for atom in atoms}


def test_every_rule_before_a_second_way_of_one() -> None:
    found = lnnkit.loads(DISEASE).why_not("Infected(cleo)")
    assert [way.statement.name for way in found.ways[:3]] == ["spread", "cough", "spread"]
    assert missing(found)[0] == ["Infected(emil)", "Vaccinated(cleo)"]
    assert [way.gives for way in found.ways[:2]] == [0.8, 1.0]


def test_what_is_known_to_be_otherwise_promises_nothing() -> None:
    found = lnnkit.loads(DISEASE).why_not("Infected(cleo)")
    bob = next(way for way in found.ways if way.bindings.get("X") == "bob")
    assert (bob.blocked, found.ways[0].blocked) == (True, False)
    assert "would need, to give >= 0.8," in str(found)


def test_negated_atoms_that_are_never_false_are_reported() -> None:
    found = lnnkit.loads(DISEASE).why_not("Infected(dora)")
    assert "Vaccinated(dora) <= 0, now 1, lacks 1; nothing makes it false" in str(found)
    assert "nothing makes `Vaccinated` false: if its facts are complete, declare it `closed`" in str(found)
    followed = DISEASE.replace("predicate Vaccinated(person)", "predicate Vaccinated(person) closed")
    assert lnnkit.loads(followed).ask("Infected(dora)")[0].lower == 0.8
    for more in ("fact ~Vaccinated(bob)\n", "rule Allergic(X) -> ~Vaccinated(X)\nfact Allergic(bob)\n"):
        assert "makes" not in str(lnnkit.loads(DISEASE + more).why_not("Infected(dora)"))


def test_the_nearest_candidate_of_an_exists_comes_first() -> None:
    found = lnnkit.loads(ACCOUNTS).why_not("Good(x)")
    assert missing(found) == [["(total(c1) > 100)"], ["(total(c2) > 100)", 'Acc("x", c2, retail)']]
    assert [way.blocked for way in found.ways] == [True, False]
    assert "total(c1) > 100, where total(c1) is 10" in str(found)
    assert "total(c2) > 100, where total(c2) is unknown" in str(found)


def test_numbers_that_come_nearer_come_first() -> None:
    text = "number total(c)\npredicate Owns(a, c) closed\n"
    text += "".join(f"fact total(c{i}) = {n}\nfact Owns(acc, c{i})\n" for i, n in enumerate((10, 99, 50)))
    text += (
        "rule r: (exists C: Owns(A, C) & total(C) > 100) -> Good(A)\nrule s: Owns(A, C) & total(C) > 100 -> Fine(A)\n"
    )
    kb = lnnkit.loads(text)
    for atom in ("Good(acc)", "Fine(acc)"):
        assert missing(kb.why_not(atom)) == [[f"(total(c{i}) > 100)"] for i in (1, 2, 0)]


def test_a_rule_derives_no_more_than_its_truth() -> None:
    text = "fact A(x) = 0.7\npredicate C(t)\nfact C(y)\nrule r2: A(X) | C(X)@0.6 -> G(X) in [0.9, 1]\n"
    (way,) = lnnkit.loads(text).why_not("G(x)").ways
    assert (way.gives, [(each.atom, each.needed) for each in way.missing]) == (0.9, [('C("x")', 0.5)])


def test_variables_that_stay_free() -> None:
    text = "predicate P(p)\nfact P(bob)\nrule carried: Carrier(K) & Near(K, X) -> Ill(X)\n"
    text += "predicate Carrier(p)\npredicate Near(p, p)\n"
    found = lnnkit.loads(text).why_not("Ill(bob)")
    (way,) = found.ways
    assert (way.free, way.bindings) == (("K",), {"X": "bob"})
    assert "(X = bob, some K)" in str(found)
    assert "Near(some K, bob) >= 1" in str(found)
    assert "Carrier(some K) >= 1" in str(found)


def test_a_way_that_undoes_itself_is_blocked() -> None:
    text = (
        "predicate Immune(p) closed\npredicate Cured(p) closed\npredicate Ill(p)\npredicate Known(p)\nfact Known(bob)\n"
    )
    text += "rule Cured(X) -> Immune(X)\nrule lab: Cured(X) & ~Immune(X) -> Ill(X)\n"
    found = lnnkit.loads(text).why_not("Ill(bob)")
    assert missing(found) == [["Cured(bob)"]]
    assert found.ways[0].blocked
    assert "adding that alone is not enough" in str(found)


def test_a_way_into_a_contradiction_names_it() -> None:
    text = (
        "predicate A(p)\npredicate B(p)\npredicate C(p)\nfact C(bob)\naxiom ~(A(X) & B(X))\nrule A(X) & B(X) -> G(X)\n"
    )
    found = lnnkit.loads(text).why_not("G(bob)")
    assert found.ways[0].blocked
    assert found.ways[0].meets is not None
    assert "but that would contradict what is known: " in str(found)


def test_what_is_stated_of_unnamed_individuals_lacks_nothing() -> None:
    text = """
        sort a open
        predicate B(a)
        predicate F(a)
        predicate G(b)
        fact B(x)
        axiom B(X) -> F(X)
        fact G(v) = 0.4
        rule (forall X: B(X) -> F(X)) & G(Y) -> H(Y)
    """
    (way,) = lnnkit.loads(text).why_not("H(v)").ways
    assert [each.atom for each in way.missing] == ['G("v")']


def test_a_premise_about_an_unnamed_individual_comes_true() -> None:
    """Stated of all, it holds of those whom nothing names."""
    text = "sort a open\npredicate F(a)\npredicate G(b)\nfact F(x)\nfact G(v)\nrule (forall X: F(X)) & G(Y) -> H(Y)\n"
    (way,) = lnnkit.loads(text).why_not("H(v)").ways
    assert [(each.atom, each.needed) for each in way.missing] == [("F(X)", 1.0)]
    assert way.gives == 1.0
    assert lnnkit.loads(text + "axiom F(X)\n").ask("H(v)").lower == 1.0


def test_more_than_are_shown_are_counted() -> None:
    people = "".join(f"fact Rich(p{i})\n" for i in range(15))
    text = f"predicate Friend(p, p)\n{people}rule Friend(X, Y) & Rich(X) -> Happy(Y)\nrule Lucky(Y) -> Happy(Y)\n"
    found = lnnkit.loads(text + "predicate Lucky(p)\n").why_not("Happy(p0)")
    assert (len(found.ways), found.more) == (10, 6)
    assert str(found).endswith("\nand 6 more")
    assert found.as_dict()["more"] == 6


# --- what is promised comes true --------------------------------------------------------------------------------------

PEOPLE = ("ann", "bob", "cid")


def literal(draw: random.Random, variables: list[str], *, weighted: bool = True) -> str:
    name, arity = draw.choice([("A", 1), ("B", 1), ("C", 1), ("R", 2), ("Goal", 1)])
    weight = draw.choice(["", "", "@0.5", "@2"]) if weighted else ""
    return draw.choice(["", "", "~"]) + f"{name}({', '.join(draw.choice(variables) for _ in range(arity))}){weight}"


def body(draw: random.Random) -> str:
    variables = draw.choice([["X"], ["X", "Y"], ["X", "Y", "K"]])
    parts = [literal(draw, variables) for _ in range(draw.choice([1, 2, 2]))]
    inner = literal(draw, ["Z"], weighted=False)
    parts.append(
        draw.choice(
            [
                literal(draw, variables),
                f"n({draw.choice(variables)}) {draw.choice(['>', '>=', '<'])} 8",
                f"n(X) - n({draw.choice(variables)}) >= 3",
                f"(exists Z: {inner} & R(X, Z))",
                "(exists Z: R(X, Z) & n(Z) > 8)",
                f"(forall Z: R(X, Z) -> {inner})",
            ]
        )
    )
    return draw.choice([" & ", " & ", " | "]).join(parts)


def program(seed: int) -> str:
    """Open and closed predicates, numbers, recursion, quantifiers, weights, and now and then rules that exclude one
    another."""
    draw = random.Random(seed)
    lines = [f"logic {draw.choice(['lukasiewicz', 'lukasiewicz', 'product', 'godel'])}", "number n(p)"]
    closed = {name for name in "ABR" if draw.random() < 0.35}
    for name, sorts in {"A": "p", "B": "p", "C": "p", "R": "p, p", "Goal": "p", "Any": "p"}.items():
        lines.append(f"predicate {name}({sorts}){' closed' if name in closed else ''}")
    for person in PEOPLE:
        lines.append(f"fact Any({person})")
        for name in "ABC":
            bounds = draw.choice(["", " in [0.2, 1]", " in [0.5, 0.6]", None, None, None])
            if bounds == "" or (bounds and name not in closed):
                lines.append(f"fact {name}({person}){bounds}")
        if draw.random() < 0.4:
            lines.append(f"fact n({person}) = {draw.choice([5, 10, 20])}")
    lines += [f"fact R({draw.choice(PEOPLE)}, {draw.choice(PEOPLE)})" for _ in range(2)]
    for _ in range(draw.choice([2, 3])):
        lines.append(f"rule {body(draw)} -> Goal(X){draw.choice(['', ' in [0.8, 1]'])}")
    lines.append(draw.choice(["", "rule A(X) -> B(X)", "axiom ~(A(X) & C(X))", "rule Goal(X) -> C(X)"]))
    return "\n".join(lines) + "\n"


def written(each: Missing, free: tuple[str, ...], entity: str) -> str | None:
    """The premise as a fact about it, the entity in place of a free variable; None for a comparison."""
    if not isinstance(each.formula, ast.Atom):
        return None
    atom = re.sub(rf"\b({'|'.join(free)})\b(?!\()", entity, each.atom) if free else each.atom
    return f"fact {atom} in " + (f"[{each.needed!r}, 1]" if each.side == "lower" else f"[0, {each.needed!r}]")


def promises(text: str, atom: str, side: BoundSide) -> Iterator[tuple[float, lnnkit.Answer]]:
    """What each way promises of an atom, and the atom in the program with the premises written beneath it. ``some K``
    is an entity of its own; where that will not do (a `forall` ranges over it too), any one that there is, but for
    the atom's own."""
    found = lnnkit.loads(text).why_not(atom, side=side)
    rules = [id(way.statement) for way in found.ways]
    assert len(set(rules[: len(set(rules))])) == len(set(rules))
    for way in found.ways:
        assert atom not in {each.atom for each in way.missing}
        if way.blocked or None in [written(each, way.unbound, "zed") for each in way.lacking]:
            continue
        others = [each for each in PEOPLE if f"({each})" not in atom]
        fresh, *rest = [
            lnnkit.loads(text + "\n".join(str(written(each, way.unbound, entity)) for each in way.lacking) + "\n").ask(
                atom
            )[0]
            for entity in (("zed", *others) if way.unbound else ("",))
        ]
        if side == "lower":
            worst = min(rest, key=lambda each: each.lower, default=fresh)
            yield way.gives, max(fresh, worst, key=lambda each: each.lower)
        else:
            worst = max(rest, key=lambda each: each.upper, default=fresh)
            yield way.gives, min(fresh, worst, key=lambda each: each.upper)


@pytest.mark.parametrize("seed", at_length([*range(24), 54, 81], plain=2))
def test_what_a_way_would_give_it_gives(seed: int) -> None:
    text, side = program(seed), SIDES[seed % 4 == 3]
    for said, answer in promises(text, f"Goal({PEOPLE[seed % 3]})", side):
        assert answer.lower <= answer.upper + 1e-9, text
        assert answer.lower >= said - 1e-6 if side == "lower" else answer.upper <= said + 1e-6, text


def orders(rule: str) -> lnnkit.KnowledgeBase:
    """Carl has seven of 500 orders, of which three are not paid; the others are those of dora."""
    kb = lnnkit.loads(f"predicate Made(order, customer) closed\npredicate Paid(order)\n{rule}\n")
    names = [f"o{number}" for number in range(500)]
    kb.tell("Made", {"order": names, "customer": ["carl" if number % 75 == 1 else "dora" for number in range(500)]})
    kb.tell("Paid", {"order": [name for name in names if name not in ("o1", "o76", "o301", "o2")]})
    return kb


def test_of_many_rows_those_that_keep_a_forall_from_being_true_are_named() -> None:
    found = orders("rule (forall O: Made(O, C) -> Paid(O)) -> Good(C)").why_not("Good(carl)")
    assert missing(found)[0] == ["Paid(o1)", "Paid(o301)", "Paid(o76)"]
    assert sorted(["Made(o1, carl)", "Made(o301, carl)", "Made(o76, carl)"]) in missing(found)


def test_of_rows_within_rows_those_that_matter_are_named() -> None:
    text = "rule (forall O: Made(O, C) -> (exists D: Made(O, D) & Solvent(D))) -> Good(C)\npredicate Solvent(customer)"
    found = orders(text).why_not("Good(carl)")
    assert missing(found)[0] == ["Solvent(carl)"]
