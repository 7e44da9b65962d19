"""Laws found again from tables of both signs: ``python -m benchmarks.signed_laws [tuned|held-out] [NOISE] [SECONDS]``.

Sizes are drawn log-uniformly from 0.1 to 10, signs by chance, 300 rows and one to three columns that do not matter;
rows without a value are drawn again. Noise is relative to each value. A formula has the law's form if both, squared,
are quotients of the same monomials, with coefficients that agree to ``TOLERANCE`` or, where there is noise, to 5 %.
Even laws were used for tuning, odd ones are held out.
"""

from __future__ import annotations

import ast
import operator
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy

from benchmarks.arithmetic.laws import Law, feynman
from lnnkit.discovery.formula_search import FormulaSearch, discover
from lnnkit.discovery.formula_text import formula_text

ROWS, SECONDS, TOLERANCE, NOISY = 300, 8.0, 1e-6, 0.05
TEXTS = """
a*b*c/d**2
3*a**2*b - c
a*b + c*d
(a - b)/(c + d)
a/(b**2 + c**2)
1/(1/a + 1/b)
2*a**2 + 3*a + 1
a*(b - c)**2
a**3/b + 0.5*c
a*b/(4*pi*c*(d - e))
sqrt(a**2 + b**2 + c**2)
(a*b - c*d)/e
1/2*a*b**2 + 9.81*a*c
a*b*(1 + c*d)
a/(1 + b*c)
a + b*c + 0.5*d*c**2
sqrt(a**2 + 4*b*c)
a*b/sqrt(c**2 + d**2)
0.01*a*b + c**2
a*b**2/(c*d)
(a + b)/(1 + a*b/9)
a*b - 0.02*c*d
a*(b**2 + c**2 + d**2)/e
abs(a)*b/c
a*sqrt(b**2 + c**2)
a/b - c/d
3/(8*pi)*a*b**2/c
a**2*b**2/(6*pi*c*d**3)
a/(b*(c + d))
1/(a - b) + c
a**2*b - 2*c/d
a*b*c*d*e
(a + b)*(c - d)
a**2/(2*b) + c*d
sqrt(a**2 + b**2)/c
a*(1 + 0.1*b + 0.01*b**2)
a*b/(a + b) - c
a/(b**2 - c**2)
4*pi**2*a**3/(b*c)
a*b**3/(12*c)
a + 100*b*c
(a**2 - b**2)/(2*c)
a*b*(1/c**2 - 1/d**2)
a*sqrt(1 + b**2/c**2)
(a*b + c*d)/(a + c)
"""


def laws() -> list[Law]:
    """The formulas of the Feynman lectures where the data folder is, then those above."""
    own = [text for text in TEXTS.split("\n") if text]
    found = [(law.name, law.text, law.names) for law in feynman()]
    found += [(text, text, tuple(each for each in "abcde" if each in text.replace("abs", ""))) for text in own]
    return [Law(name, text, names, ((-1.0, 1.0),) * len(names)) for name, text, names in found]


def table_of(law: Law, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """``[rows, columns]`` and the target."""
    generator = np.random.default_rng([seed, *law.name.encode()])
    width = len(law.names) + int(generator.integers(1, 4))
    drawn = 10 ** generator.uniform(-1, 1, (40 * ROWS, width)) * generator.choice([-1.0, 1.0], (40 * ROWS, width))
    drawn = drawn[np.isfinite(law.value(drawn))][:ROWS]
    target = law.value(drawn)
    return drawn, target * (1 + noise * generator.standard_normal(len(target)))


def same_form(found: str, wanted: str, names: Sequence[str], tolerance: float) -> bool:
    """Whether the squares of two formulas are quotients of the same polynomials, up to a common factor."""
    symbols: dict[str, Any] = {name: sympy.Symbol(name, real=True) for name in names}
    symbols |= {"pi": sympy.pi, "sqrt": sympy.sqrt, "abs": sympy.Abs}
    one, other = (_polynomials(text, symbols) for text in (found, wanted))
    return all(mine.keys() == theirs.keys() for mine, theirs in zip(one, other, strict=True)) and all(
        abs(mine[term] - theirs[term]) <= tolerance * abs(theirs[term])
        for mine, theirs in zip(one, other, strict=True)
        for term in theirs
    )


def _polynomials(text: str, symbols: dict[str, Any]) -> tuple[dict[Any, float], ...]:
    whole = _symbolic(ast.parse(text.replace("^", "**"), mode="eval").body, symbols)
    parts = sympy.fraction(sympy.cancel(sympy.together(sympy.nsimplify(whole**2, rational=True))))
    found = [_without_pi(sympy.expand(each).as_coefficients_dict()) for each in parts]
    first = min(found[1], key=str)
    lead = found[1][first]
    return tuple({term: of / lead for term, of in each.items()} for each in found)


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def _symbolic(node: ast.expr, symbols: dict[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value):
            return sympy.Rational(str(value))
        case ast.Name(id=name):
            return symbols[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_symbolic(operand, symbols)
        case ast.Call(func=ast.Name(id=name), args=[operand]):
            return symbols[name](_symbolic(operand, symbols))
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATORS[type(sign)](_symbolic(left, symbols), _symbolic(right, symbols))
    raise ValueError(f"{ast.dump(node)} is no arithmetic")


def _without_pi(terms: dict[Any, Any]) -> dict[Any, float]:
    """The numbers in each term moved into its coefficient."""
    found: dict[Any, float] = {}
    for term, of in terms.items():
        number, rest = term.as_independent(*term.free_symbols) if term.free_symbols else (term, sympy.Integer(1))
        found[rest] = found.get(rest, 0.0) + float(of) * float(number)
    return found


def main(half: str = "held-out", noise: str = "0", seconds: str = str(SECONDS)) -> None:
    chosen = [law for place, law in enumerate(laws()) if half == "all" or (place % 2 == 0) == (half == "tuned")]
    solved, spent = 0, 0.0
    for law in chosen:
        table, target = table_of(law, float(noise), 1)
        began = time.process_time()
        formula = discover(table, target, FormulaSearch(float(seconds))).formula
        took = time.process_time() - began
        names = [*law.names, *(f"z{place}" for place in range(table.shape[1] - len(law.names)))]
        text = formula_text(formula, names)
        right = same_form(text, law.text, names, NOISY if float(noise) else TOLERANCE)
        solved, spent = solved + right, spent + took
        print(f"{'found ' if right else 'missed'} {took:5.1f} s  {law.name}: {law.text}  {text}", flush=True)
    print(f"{solved} of {len(chosen)} in their true form, {spent:.0f} CPU seconds")


if __name__ == "__main__":
    main(*sys.argv[1:])
