"""Formulas as trees over the columns of a table, and their evaluation.

`product`, `total`, `power` and `absolute` build trees in a normal form. A product has one coefficient and each base
once. A sum inside a product starts with coefficient 1 or -1 and has no common factor and no denominator of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from lnnkit.discovery.exact_constants import MINUS_ONE, ONE, Constant, multiplied, number, raised


@dataclass(frozen=True, slots=True)
class ColumnVariable:
    """The column with an index."""

    place: int
    name: ClassVar[str] = ""
    operands: ClassVar[tuple[Product, ...]] = ()


@dataclass(frozen=True, slots=True)
class Product:
    """``coefficient * base_1 ^ power_1 * ...``. No base is a product itself; without factors it is a constant."""

    coefficient: Constant
    factors: tuple[tuple[Base, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of two or more terms."""

    name: ClassVar[str] = "+"
    operands: tuple[Product, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """The function ``abs``, ``exp``, ``log``, ``sin`` or ``cos`` of one operand; or ``if``: the third operand where the
    first is above the second, else the fourth."""

    name: str
    operands: tuple[Product, ...]


Base = ColumnVariable | Sum | Applied
"""What may stand under a power."""


ZERO = Product(number(0.0))
_PROBES = 20  # rows in which a formula is tried at zeros


def constant(value: Constant | float) -> Product:
    """A formula with a constant value."""
    return Product(value if isinstance(value, Constant) else number(value))


def variable(place: int) -> Product:
    """A column as a formula."""
    return of_base(ColumnVariable(place))


def of_base(base: Base, exponent: float = 1.0) -> Product:
    return Product(ONE, ((base, exponent),))


def scaled(term: Product, by: Constant) -> Product:
    return Product(multiplied(term.coefficient, by), term.factors)


def product(*operands: Product) -> Product:
    """The product of the operands. Exponents of equal bases are added."""
    coefficient, powers = ONE, dict[Base, float]()
    for operand in operands:
        coefficient = multiplied(coefficient, operand.coefficient)
        for base, exponent in operand.factors:
            powers[base] = powers.get(base, 0.0) + exponent
    return Product(coefficient, _ordered(powers)) if coefficient.value else ZERO


def power(operand: Product, exponent: float) -> Product:
    """The operand raised to a power. The root of an even power is an absolute value: ``(x^2)^0.5`` is ``abs(x)``."""
    if exponent == 1:
        return operand
    powers = dict[Base, float]()
    for base, degree in operand.factors:
        raised_to = degree * exponent
        sized = _even(degree) and not _even(raised_to)
        kept = Applied("abs", (of_base(base),)) if sized and base.name != "abs" else base
        powers[kept] = powers.get(kept, 0.0) + raised_to
    if operand.coefficient.value < 0 and exponent != int(exponent):
        return of_base(Sum((operand,)), exponent)
    return Product(raised(operand.coefficient, exponent), _ordered(powers))


def total(*operands: Product) -> Product:
    """The sum of the operands. Equal terms are combined, and common factors are factored out."""
    gathered = dict[tuple[tuple[Base, float], ...], Constant]()
    for operand in operands:
        match operand.factors:
            case ((Sum(terms), 1),):
                parts = [scaled(term, operand.coefficient) for term in terms]
            case _:
                parts = [operand]
        for part in parts:
            known = gathered.get(part.factors)
            gathered[part.factors] = part.coefficient if known is None else _added(known, part.coefficient)
    terms = [Product(coefficient, factors) for factors, coefficient in gathered.items() if coefficient.value != 0]
    return _factored(terms) if len(terms) > 1 else terms[0] if terms else ZERO


def absolute(operand: Product) -> Product:
    """The absolute value of the operand, with its coefficient factored out."""
    size = operand.coefficient if operand.coefficient.value >= 0 else multiplied(operand.coefficient, MINUS_ONE)
    if all(_even(exponent) or base.name == "abs" for base, exponent in operand.factors):
        return Product(size, operand.factors)
    return Product(size, ((Applied("abs", (Product(ONE, operand.factors),)), 1.0),))


def applied(name: str, *operands: Product) -> Product:
    """A function of the operands, see `Applied`."""
    return absolute(*operands) if name == "abs" else of_base(Applied(name, operands))


def _added(left: Constant, right: Constant) -> Constant:
    if all(part.denominator == 1 and part.pi == 0 and not part.root for part in (left, right)):
        return number(float(left.numerator + right.numerator))
    return number(left.value + right.value)


def _factored(terms: list[Product]) -> Product:
    """The terms with their common factors and the first coefficient factored out."""
    shared = dict(terms[0].factors)
    for powers in (dict(term.factors) for term in terms[1:]):
        alike = [(base, exponent) for base, exponent in shared.items() if powers.get(base, 0.0) * exponent > 0]
        shared = {base: min(exponent, powers[base], key=abs) for base, exponent in alike}
    below = dict[Base, float]()
    for base, exponent in (pair for term in terms for pair in term.factors):
        if exponent < 0 and base not in shared and exponent == int(exponent):
            below[base] = min(below.get(base, 0.0), exponent)
    shared |= below
    lead = first = terms[0].coefficient
    if first.exact and abs(first.value) == 1:
        lead = ONE
    elif not first.value > 0:
        lead = multiplied(first, MINUS_ONE)
    if all(term.coefficient.value < 0 for term in terms):
        lead = multiplied(lead, MINUS_ONE)
    return Product(lead, _ordered({**shared, Sum(_divided(terms, shared, lead)): 1.0}))


def _divided(terms: Sequence[Product], by: dict[Base, float], lead: Constant) -> tuple[Product, ...]:
    divided, inverse = list[Product](), raised(lead, -1.0)
    for place, term in enumerate(terms):
        powers = dict(term.factors)
        for base, exponent in by.items():
            powers[base] = powers.get(base, 0.0) - exponent
        coefficient = multiplied(term.coefficient, inverse)
        if place == 0:  # without rounding
            coefficient = ONE if coefficient.value > 0 else MINUS_ONE
        divided.append(Product(coefficient, _ordered(powers)))
    return tuple(divided)


def tidied(formula: Product, table: np.ndarray, positive: frozenset[int] = frozenset()) -> Product:
    """An equivalent formula that may be smaller: sums are divided by one of their terms, if that leaves a value where a
    column of ``table`` is 0, or by a number. They may then start with any coefficient. ``abs`` around products of the
    ``positive`` columns, which are nowhere negative, is left out."""
    few = table[:_PROBES]
    zeroed = [np.where(np.arange(table.shape[1]) == place, 0.0, few) for place in range(table.shape[1])]

    def bare(base: Base) -> Product:
        inner = replaced(base.operands[0], bare) if base.name == "abs" else ZERO
        plain = all(isinstance(column, ColumnVariable) and column.place in positive for column, _ in inner.factors)
        return inner if plain and inner.coefficient.value > 0 else of_base(base)

    plain = replaced(replaced(formula, lambda _: None), bare)
    return _rescaled(_redivided(plain, np.concatenate([few, *zeroed])))


def _redivided(formula: Product, probes: np.ndarray) -> Product:
    known = np.isfinite(evaluate(formula, probes))
    for base, exponent in formula.factors:
        rest = Product(formula.coefficient, tuple(pair for pair in formula.factors if pair[0] is not base))
        for term in base.operands if isinstance(base, Sum) else ():
            divisor = Product(ONE, term.factors)
            terms = _divided(base.operands, dict(divisor.factors), ONE)
            tried = product(rest, power(divisor, exponent), of_base(Sum(terms), exponent))
            if size(tried) < size(formula) and (known <= np.isfinite(evaluate(tried, probes))).all():
                return _redivided(tried, probes)
    return formula


def _rescaled(formula: Product) -> Product:
    for base, exponent in formula.factors:
        rest = tuple(pair for pair in formula.factors if pair[0] is not base)
        terms = base.operands if isinstance(base, Sum) else ()
        for by in (formula.coefficient, *(raised(term.coefficient, -1.0) for term in terms)) if terms else ():
            outer = multiplied(formula.coefficient, raised(by, -exponent))
            if by.value <= 0 or not (by.exact and outer.exact):
                continue
            inner = Sum(tuple(scaled(term, by) for term in terms))
            tried = Product(outer, tuple(sorted((*rest, (inner, exponent)), key=lambda pair: _key(pair[0]))))
            spread_out = outer == ONE != formula.coefficient and len(formula.factors) == 1
            if size(tried) < size(formula) + spread_out:
                return _rescaled(tried)
    return formula


def _ordered(powers: dict[Base, float]) -> tuple[tuple[Base, float], ...]:
    """The factors in order; an even power of a base and one of its absolute value are one factor."""
    for base, exponent in [*powers.items()]:
        factors = base.operands[0].factors if base.name == "abs" else ()
        inner = factors[0][0] if len(factors) == 1 else base
        if inner is not base and _even(powers.get(inner, 0.0)):
            whole = exponent + powers.pop(inner, 0.0)
            powers[base], powers[inner] = (0.0, whole) if _even(whole) else (whole, 0.0)
    left = (pair for pair in powers.items() if abs(pair[1]) > 1e-12)
    return tuple(sorted(left, key=lambda pair: _key(pair[0])))


@lru_cache(maxsize=65536)
def _key(base: Base) -> tuple[int, str]:
    return (0, f"{base.place:06d}") if isinstance(base, ColumnVariable) else (1, repr(base))


def _even(exponent: float) -> bool:
    return exponent == int(exponent) and int(exponent) % 2 == 0


@lru_cache(maxsize=65536)
def size(formula: Product) -> int:
    """The number of constants, columns and operators. A constant with many digits counts as 3."""
    formula, root, divides = rooted(formula)
    bare = formula.coefficient in (ONE, MINUS_ONE) and (formula.factors or root)
    parts = [] if bare else [formula.coefficient.cost]
    for base, exponent in formula.factors:
        parts.append(_base_size(base) + (0 if abs(exponent) == 1 else 2 if 2 * exponent == int(2 * exponent) else 4))
    if root is not None:
        parts.append(1 + sum(_base_size(base) for base, _ in root.factors) + len(root.factors) - 1)
    above = any(exponent > 0 for _, exponent in formula.factors) or (root and not divides)
    return sum(parts) + len(parts) - 1 + bool(bare and not above)


def _base_size(base: Base) -> int:
    operators = len(base.operands) - 1 if isinstance(base, Sum) else 1 if base.name in ("", "abs") else 2
    return sum(map(size, base.operands)) + operators


def columns(formula: Product) -> frozenset[int]:
    """The indices of the columns that the formula reads."""
    read = {base.place for base, _ in formula.factors if isinstance(base, ColumnVariable)}
    return frozenset(read.union(*(columns(operand) for base, _ in formula.factors for operand in base.operands)))


def replaced(formula: Product, change: Callable[[Base], Product | None]) -> Product:
    """The formula with those bases replaced for which ``change`` gives a formula."""
    factors = [constant(formula.coefficient)]
    for base, exponent in formula.factors:
        made = change(base)
        if made is None:
            inner = [replaced(operand, change) for operand in base.operands]
            made = total(*inner) if isinstance(base, Sum) else applied(base.name, *inner) if inner else of_base(base)
        factors.append(power(made, exponent))
    return product(*factors)


def substituted(formula: Product, inputs: Sequence[Product]) -> Product:
    """The formula with a formula substituted for each column."""
    return replaced(formula, lambda base: inputs[base.place] if isinstance(base, ColumnVariable) else None)


def evaluate(formula: Product, table: np.ndarray) -> np.ndarray:
    """``[rows, columns] -> [rows]``; NaN for a division by 0, or a root of a negative number."""
    with np.errstate(all="ignore"):
        values = np.asarray(_value(formula, table), dtype=float)
    values = np.broadcast_to(values, (len(table),))
    return np.where(np.isfinite(values), values, np.nan)


def times_best(formula: Product, table: np.ndarray, target: np.ndarray) -> Iterator[Product]:
    """The formula times the constant with which it fits best where it has a value; nothing where that is 0."""
    values = evaluate(formula, table)
    fine = np.isfinite(values)
    with np.errstate(all="ignore"):
        by = float(values[fine] @ target[fine] / (values[fine] @ values[fine]))
    if by and np.isfinite(by):
        yield scaled(formula, Constant(by))


def rooted(formula: Product) -> tuple[Product, Product | None, bool]:
    """The factor in front of the square root, the radicand (all factors with half-integer exponents), and whether the
    root is a divisor, as a radicand without numerator is."""
    half = [(base, 2 * exponent) for base, exponent in formula.factors if abs(exponent) == 0.5]
    whole = tuple(pair for pair in formula.factors if abs(pair[1]) != 0.5)
    divides = all(exponent < 0 for _, exponent in half)
    root = Product(ONE, tuple((base, abs(exponent) if divides else exponent) for base, exponent in half))
    return Product(formula.coefficient, whole), root if half else None, divides


def _value(formula: Product, table: np.ndarray) -> np.ndarray | float:
    """The value, in the order of the formula's text: numerators from the left, over the product of denominators."""
    formula, root, divides = rooted(formula)
    above: np.ndarray | float = formula.coefficient.value
    below: np.ndarray | float | None = None
    parts = [(_base_value(base, table), exponent) for base, exponent in formula.factors]
    if root is not None:
        parts.append((np.sqrt(_value(root, table)), -1 if divides else 1))
    for values, exponent in parts:
        degree = abs(exponent)
        values = values if degree == 1 else values * values if degree == 2 else values**degree
        if exponent > 0:
            above = above * values
        else:
            below = values if below is None else below * values
    return above if below is None else above / below


def _base_value(base: Base, table: np.ndarray) -> np.ndarray:
    match base:
        case ColumnVariable(place):
            return table[:, place]
        case Sum(terms):
            value = _value(terms[0], table)
            for term in terms[1:]:
                value = value + _value(term, table)
            return np.asarray(value)
        case Applied("if", operands):
            left, right, above, below = (_value(operand, table) for operand in operands)
            return np.where(np.asarray(left) > np.asarray(right), above, below)
        case Applied(name, operands):
            return getattr(np, name)(*(_value(operand, table) for operand in operands))
