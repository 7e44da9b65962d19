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
    for conditions, case in case_texts(formula, terms):
        premise = f"{conditions} -> " if conditions else ""
        found += f"rule {premise}{head} = {case}\n"
    return found


def case_texts(formula: Product, names: Sequence[str]) -> list[tuple[str, str]]:
    """The conditions of each case, joined by ``&``, and its choice-free formula, as texts of a program; no conditions
    where there is one case."""
    return [
        (" & ".join(relation.join(formula_text(side, names, pi=_PI) for side in sides) for sides, relation in on), text)
        for on, case in _cases(formula)
        for text in (formula_text(case, names, pi=_PI),)
    ]


_Condition = tuple[tuple[Product, Product], str]


def _cases(formula: Product) -> list[tuple[tuple[_Condition, ...], Product]]:
    picked = _first_choice(formula)
    if picked is None:
        return [((), formula)]
    sides = picked.left, picked.right
    return [
        (((sides, relation), *conditions), case)
        for relation, chosen in ((" > ", picked.above), (" <= ", picked.below))
        for conditions, case in _cases(_with(formula, picked, chosen))
    ]


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
