"""Formulas as text: in the syntax of the language, as the rules of a program, and in LaTeX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from lnnkit.discovery.exact_constants import Constant
from lnnkit.discovery.expression import Applied, Base, ColumnVariable, Product, Sum, columns, replaced, rooted
from lnnkit.syntax.printer import format_predicate

_LOOSE, _PRODUCT, _TIGHT = 0, 1, 2  # what stands around: nothing or a sum, a product, a power


def formula_text(formula: Product, names: Sequence[str], *, pi: str = "pi") -> str:
    """The formula in the language's operators, with each column by its name. ``pi`` is the text for that number. A
    choice is written ``if(left > right, above, below)``, which a program states as two rules."""
    return _Plain(names, pi).product(formula)


def formula_latex(formula: Product, names: Sequence[str]) -> str:
    """The formula as LaTeX mathematics, without dollar signs."""
    return _Latex(names).product(formula)


class _Plain:
    FRACTIONS = False  # whether a fraction line encloses what stands above and below it
    ROOT, POWER, AROUND, TIGHT_NAME = "sqrt({})", "{}^{}", "({})", "{}"
    APPLIED = "{name}({})"
    FORMS: ClassVar = {"if": "if({0} > {1}, {2}, {3})"}

    def __init__(self, names: Sequence[str], pi: str) -> None:
        self._names, self._pi = names, repr(math.pi) if pi in names else pi

    def product(self, formula: Product) -> str:
        """The text of a product that stands alone or in a sum."""
        formula, root, divides = rooted(formula)
        negative = formula.coefficient.value < 0
        above, below = self._constant(formula.coefficient, bool(formula.factors or root))
        for base, exponent in formula.factors:
            side = above if exponent > 0 else below
            rivals = [degree for _, degree in formula.factors if degree * exponent > 0 or not self.FRACTIONS]
            alone = len(rivals) == 1 and root is None and not (side if self.FRACTIONS else above + below)
            bare = alone and not negative and (exponent == 1 or (self.FRACTIONS and exponent == -1))
            side.append(self._power(base, abs(exponent), _LOOSE if bare else _PRODUCT))
        if root is not None:
            (below if divides else above).append(self.ROOT.format(self.product(root)))
        return f"{'-' if negative else ''}{self._joined(above, below)}"

    def _joined(self, above: Sequence[str], below: Sequence[str]) -> str:
        over, under = " * ".join(above) or "1", " * ".join(below)
        return f"{over} / {under if len(below) == 1 else f'({under})'}" if below else over

    def _constant(self, value: Constant, more: bool) -> tuple[list[str], list[str]]:
        """The parts of a constant's magnitude above and below the fraction line."""
        size, top, bottom = abs(value.value), abs(value.numerator), value.denominator
        decimal, plain = _digits(size), value.exact and value.pi == 0 and not value.root
        short = len(decimal) <= 6 or size == int(size) or len(decimal) < len(f"{top}{bottom}")
        if not value.exact or (plain and short):
            return ([] if size == 1 and more else [decimal]), []
        above = [str(top)] if top != 1 else []
        below = [str(bottom)] if bottom != 1 else []
        if value.pi:
            text = self._pi if abs(value.pi) == 1 else f"{self._pi}^{abs(value.pi)}"
            (above if value.pi > 0 else below).append(text)
        if value.root:
            return [self.ROOT.format(self._joined(above, below))], []
        return above, below

    def _power(self, base: Base, exponent: float, around: int) -> str:
        if exponent != 1:
            return self.POWER.format(self._power(base, 1, _TIGHT), _digits(exponent))
        match base:
            case ColumnVariable(place):
                return self.TIGHT_NAME.format(self._names[place]) if around == _TIGHT else self._names[place]
            case Applied(name, operands):
                inner = (self.product(operand) for operand in operands)
                return self.FORMS.get(name, self.APPLIED).format(*inner, name=name)
            case Sum(terms):
                text = self._sum(terms)
                return text if around == _LOOSE else self.AROUND.format(text)

    def _sum(self, terms: Sequence[Product]) -> str:
        first = next((place for place, term in enumerate(terms) if term.coefficient.value > 0), 0)
        ordered = [terms[first], *terms[:first], *terms[first + 1 :]]
        text = self.product(ordered[0])
        for term in ordered[1:]:
            shown = self.product(term)
            text += f" - {shown[1:]}" if shown.startswith("-") else f" + {shown}"
        return text


class _Latex(_Plain):
    FRACTIONS = True
    ROOT, POWER, AROUND, TIGHT_NAME = r"\sqrt{{{}}}", "{}^{{{}}}", r"\left({}\right)", "{{{}}}"
    APPLIED = r"\{name}\left({}\right)"
    FORMS: ClassVar = {
        "abs": r"\left|{}\right|",
        "if": r"\begin{{cases}} {2} & \text{{if }} {0} > {1} \\ {3} & \text{{otherwise}} \end{{cases}}",
    }

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__([_latex_name(name) for name in names], r"\pi")

    def _joined(self, above: Sequence[str], below: Sequence[str]) -> str:
        over = (r" \cdot " if any(part[:1].isdigit() for part in above[1:]) else r" \, ").join(above) or "1"
        under = r" \, ".join(below)
        return rf"\frac{{{over}}}{{{under}}}" if below else over

    def _constant(self, value: Constant, more: bool) -> tuple[list[str], list[str]]:
        above, below = super()._constant(value, more)
        if value.root:
            inner = Constant(value.value**2, abs(value.numerator), value.denominator, value.pi)
            above = [self.ROOT.format(self._joined(*super()._constant(inner, False)))]
        return [_latex_number(part) for part in above], below


def _digits(value: float) -> str:
    """The shortest literal that parses to ``value``."""
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def _latex_number(text: str) -> str:
    mantissa, exponent, power = text.partition("e")
    return rf"{mantissa} \cdot 10^{{{int(power)}}}" if exponent and text[:1].isdigit() else text


def _latex_name(name: str) -> str:
    r"""``m_0`` -> ``m_{0}``, ``theta1`` -> ``\mathrm{theta1}``. Special characters of LaTeX are escaped."""
    stem, below, index = name.partition("_")
    if below and stem.isalnum() and index.isalnum():
        return rf"{_latex_name(stem)}_{{{index}}}"
    escaped = "".join(rf"\{char}" if char in "_%&#${}" else " " if char in r"\^~" else char for char in name)
    return name if len(name) == 1 else rf"\mathrm{{{escaped}}}"


def program_text(formula: Product, names: Sequence[str], target: str) -> str:
    """Declarations of ``target`` and of the columns that the formula reads, as numbers of a ``row``, and the rule
    ``target(X) = ...``; one for each case of a choice, under the case's condition."""
    read = [names[place] for place in sorted(columns(formula))]
    lines = [f"number {format_predicate(name)}(row)\n" for name in [*read, target]]
    head = f"{format_predicate(target)}(X)"
    for premise, case in case_texts(formula, [f"{format_predicate(name)}(X)" for name in names]):
        lines.append(f"rule {premise and f'{premise} -> '}{head} = {case}\n")
    return "".join(lines)


def case_texts(formula: Product, names: Sequence[str]) -> list[tuple[str, str]]:
    """The conditions of each case, joined by ``&`` (empty for one case), and its formula, as texts of a program."""
    text = partial(formula_text, names=names, pi=repr(math.pi))
    picked = _first_choice(formula)
    if picked is None:
        return [("", text(formula))]
    left, right, above, below = picked.operands
    cases: list[tuple[str, str]] = []
    for relation, chosen in ((">", above), ("<=", below)):
        part = replaced(formula, lambda base, chosen=chosen: chosen if base == picked else None)
        condition = f"{text(left)} {relation} {text(right)}"
        cases += [(f"{condition} & {more}" if more else condition, case) for more, case in case_texts(part, names)]
    return cases


def _first_choice(formula: Product) -> Base | None:
    for base, _ in formula.factors:
        if choice := base if base.name == "if" else next(filter(None, map(_first_choice, base.operands)), None):
            return choice
    return None
