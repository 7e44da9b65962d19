"""A formula as a program: declarations of the numbers that it reads, and a rule that states it."""

from __future__ import annotations

from collections.abc import Sequence

from lnnkit.discovery.exact_constants import ONE
from lnnkit.discovery.expression import Absolute, Base, Choice, Product, Sum, columns, constant, power, product, total
from lnnkit.discovery.formula_text import formula_text
from lnnkit.syntax.printer import format_predicate

_PI = "3.141592653589793"


def program_text(formula: Product, names: Sequence[str], target: str) -> str:
    """Declarations of ``target`` and of the columns that the formula reads, as numbers of a ``row``, and the rules."""
    read = [names[place] for place in sorted(columns(formula))]
    declared = "".join(f"number {format_predicate(name)}(row)\n" for name in [*read, target])
    return declared + rule_text(formula, names, target)


def rule_text(formula: Product, names: Sequence[str], target: str) -> str:
    """The rule ``target(X) = ...``. A formula with a choice becomes one rule for each case, under the case's
    condition."""
    terms = [f"{format_predicate(name)}(X)" for name in names]
    head = f"{format_predicate(target)}(X)"
    found = ""
    for condition, case in cases(formula):
        text = formula_text(case, terms, pi=_PI)
        if condition is None:
            found += f"rule {head} = {text}\n"
        else:
            left, relation, right = condition
            sides = [formula_text(side, terms, pi=_PI) for side in (left, right)]
            found += f"rule {sides[0]} {relation} {sides[1]} -> {head} = {text}\n"
    return found


def cases(formula: Product) -> list[tuple[tuple[Product, str, Product] | None, Product]]:
    """The choice-free formula of each case, with the condition of the case; the formula itself if it has no choice."""
    picked = _first_choice(formula)
    if picked is None:
        return [(None, formula)]
    above, below = (_with(formula, picked, case) for case in (picked.above, picked.below))
    return [((picked.left, ">", picked.right), above), ((picked.left, "<=", picked.right), below)]


def _first_choice(formula: Product) -> Choice | None:
    for base, _ in formula.factors:
        if isinstance(base, Choice):
            return base
        inner = base.terms if isinstance(base, Sum) else (base.operand,) if isinstance(base, Absolute) else ()
        for each in inner:
            found = _first_choice(each)
            if found is not None:
                return found
    return None


def _with(formula: Product, picked: Choice, case: Product) -> Product:
    def put(base: Base) -> Product:
        if base == picked:
            return case
        if isinstance(base, Sum):
            return total(*(_with(each, picked, case) for each in base.terms))
        if isinstance(base, Absolute):
            return Product(ONE, ((Absolute(_with(base.operand, picked, case)), 1.0),))
        return Product(ONE, ((base, 1.0),))

    return product(constant(formula.coefficient), *(power(put(base), exponent) for base, exponent in formula.factors))
