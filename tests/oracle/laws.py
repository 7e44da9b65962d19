"""What crisp comparisons of the same two terms say of one another, whatever the numbers are.

``with_laws`` adds to a program the axioms that hold of its comparisons by the order of numbers: every shortest clause
over two or three of them, in Goedel logic. What its statements make plainly true or false is taken in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations_with_replacement, product

from .neurons import TOL
from .program import Argument, Box, Formula, Program, Statement, map_numbers, subformulas, subterms

TRUE_AT = {">": "+", ">=": "0+", "<": "-", "<=": "-0", "=": "0", "!=": "-+"}
FLIPPED = {"-": "+", "0": "0", "+": "-"}

Reading = tuple[Formula, frozenset[str]]  # a comparison, and the signs of first - second that make it true


def with_laws(program: Program) -> Program:
    """The program with the laws of its comparisons among its axioms."""
    stated: dict[Formula, set[bool]] = {}
    families: dict[tuple[Formula, Formula], dict[Formula, list[Reading]]] = {}
    for statement in program.statements:
        formula = statement.formula
        while formula[0] == "forall" and statement.upper >= 1:
            formula = formula[2]
        for part in subformulas(formula):
            if is_plain(part):
                family, readings = _placed(part)
                name = readings[0][0]
                families.setdefault(family, {})[name] = readings
                if part == formula:
                    said = stated.setdefault(name, set())
                    said |= {True} if statement.lower > TOL else set()
                    said |= {False} if statement.upper < 1 - TOL else set()
    found: list[Statement] = []
    for family in families.values():
        found += _laws(family, stated)
    return replace(program, statements=[*program.statements, *found])


def is_plain(formula: Formula) -> bool:
    """Whether it is a crisp comparison by a fixed relation."""
    return formula[0] == "compare" and formula[1] in TRUE_AT and formula[4] is None


def _laws(family: dict[Formula, list[Reading]], stated: dict[Formula, set[bool]]) -> Iterator[Statement]:
    clauses = list(_clauses(list(family.values())))
    known = {formula: stated.get(name, set()) for name, readings in family.items() for formula, _ in readings}
    if any(len(known[formula]) > 1 for clause in clauses for formula, _ in clause):
        return
    if any(all(known[formula] == {not wanted} for formula, wanted in clause) for clause in clauses):
        return
    for clause in clauses:
        if any(known[formula] == {wanted} for formula, wanted in clause):
            continue
        left = [(formula, wanted) for formula, wanted in clause if not known[formula]]
        if len(left) == 1:
            yield Statement("axiom", left[0][0], float(left[0][1]), float(left[0][1]))
        else:
            parts = tuple((1.0, formula if wanted else ("not", formula)) for formula, wanted in left)
            yield Statement("axiom", ("or", parts, 1.0, "godel"))


def _clauses(members: list[list[Reading]]) -> Iterator[list[tuple[Formula, bool]]]:
    for count in (2, 3):
        for some in combinations_with_replacement(members, count):
            for readings in product(some[0][:1], *some[1:]):
                if len({formula for formula, _ in readings}) < count:
                    continue  # one comparison stands twice only where both orders look alike
                for wanted in product((True, False), repeat=count):
                    holds = [
                        signs if want else frozenset("-0+") - signs
                        for (_, signs), want in zip(readings, wanted, strict=True)
                    ]
                    always = all(any(sign in each for each in holds) for sign in "-0+")
                    short = all(
                        any(all(sign not in each for n, each in enumerate(holds) if n != out) for sign in "-0+")
                        for out in range(count)
                    )
                    if always and short:
                        yield [(formula, want) for (formula, _), want in zip(readings, wanted, strict=True)]


def _placed(formula: Formula) -> tuple[tuple[Formula, Formula], list[Reading]]:
    """The two terms that it compares in a fixed order, variables numbered, and the comparison over those variables;
    twice where both orders look alike."""
    first, second = sides(formula)
    signs = frozenset(TRUE_AT[formula[1]])
    orders = []
    for terms, true in (((first, second), signs), ((second, first), frozenset(FLIPPED[sign] for sign in signs))):
        names: dict[str, str] = {}
        pair = tuple(_numbered(term, names) for term in terms)
        orders.append((repr(pair), pair, (_numbered(formula, names), true)))
    least = min(order[0] for order in orders)
    chosen = [order for order in orders if order[0] == least]
    one, other = chosen[0][1]
    return (one, other), [order[2] for order in chosen]


def compared(formula: Formula | None) -> Formula | None:
    """A crisp comparison, the terms of a difference that is compared to 0 apart; None for all else."""
    if formula is None or not is_plain(formula):
        return None
    return (*formula[:2], *sides(formula), *formula[4:])


def sides(formula: Formula) -> tuple[Formula, Formula]:
    """Left and right; of a difference that is compared to 0 its own two terms."""
    left, right = formula[2:4]
    if right == ("constant", 0.0) and left[0] == "subtract":
        return left[1], left[2]
    if left == ("constant", 0.0) and right[0] == "subtract":
        return right[2], right[1]
    return left, right


def _numbered(formula: Formula, names: dict[str, str]) -> Formula:
    def argument(given: Argument) -> Argument:
        kind, text = given
        return (kind, names.setdefault(text, f"V{len(names)}")) if kind == "var" else given

    return map_numbers(formula, lambda number: ("number", number[1], tuple(argument(a) for a in number[2])))


def alike(formula: Formula) -> bool:
    """Whether a comparison is of a term with itself that has a value wherever its numbers have."""
    left, right = sides(formula)
    return left == right and _total(left)


def _total(term: Formula) -> bool:
    match term[0]:
        case "number" | "constant":
            return True
        case "add" | "subtract" | "multiply" | "negate" | "abs":
            return all(map(_total, subterms(term)))
        case "divide":
            return _total(term[1]) and term[2][0] == "constant" and term[2][1] != 0
        case "power":
            whole = term[2][0] == "constant" and term[2][1] >= 0 and float(term[2][1]).is_integer()
            return _total(term[1]) and whole
    return False


def told(known: list[tuple[str, bool, Box]], operator: str) -> Box:
    """What other comparisons of the same terms say of one: each with its operator, whether its terms stand the other
    way around, and its truth. Each says it by itself, and all between them but those that are told to a degree."""
    mine, together = set(TRUE_AT[operator]), set("-0+")
    low, high = 0.0, 1.0
    for other, mirrored, box in known:
        theirs = {FLIPPED[sign] if mirrored else sign for sign in TRUE_AT[other]}
        said = [theirs] * (box[0] > TOL) + [set("-0+") - theirs] * (box[1] < 1 - TOL)
        for possible in said:
            low = 1.0 if possible <= mine else low
            high = 0.0 if not possible & mine else high
        if len(said) == 1:
            together &= said[0]
    return max(low, float(together <= mine)), min(high, float(bool(together & mine)))
