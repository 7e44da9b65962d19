"""Values: truth values and bounds of statements; terms that are undefined for all values of their numbers; literals
that float64 cannot represent; and the value of a term without numbers of entities."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping
from itertools import pairwise

from lnnkit.check.date_terms import GIVEN_TODAY, as_date
from lnnkit.check.findings import error, find, signature, warning
from lnnkit.check.program import Predicate
from lnnkit.check.symbols import Formula, Symbols
from lnnkit.check.walk import children, nodes
from lnnkit.data.names import whole
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import AGGREGATES, CALENDAR, COMPARISONS
from lnnkit.syntax.printer import format_predicate

EXACT = 2**53  # from here on float64 skips whole numbers
_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
_FUNCTIONS = {name: getattr(math, name) for name in ("sqrt", "exp", "log", "sin", "cos")}
_FUNCTIONS |= {"abs": abs, "min": min, "max": max}
RELATIVE = 1e-9  # relative tolerance of equality, unless both numbers are whole


def terms(symbols: Symbols) -> Iterator[Diagnostic]:
    for formula in symbols.formulas:
        yield from _between(formula)
        for visit in formula.visits:
            node = visit.node
            if isinstance(node, ast.Number) and visit.role in ("term", "comparand"):
                if not math.isfinite(node.value):
                    message = f"`{node.span.text}` can only be a bound, not a value"
                    hint = "every number is finite: leave the comparison out, or compare with a number"
                    yield error("infinite-number", node.span, message, hint)
                yield from _inexact(node)
            elif isinstance(node, ast.Arithmetic | ast.Function):
                yield from _operation(node)
            elif isinstance(node, ast.Comparison):
                yield from _constant(node)
    for bounds in (stated.bounds for _, stated in symbols.stated() if stated.bounds is not None):
        for end in bounds.written:
            yield from _inexact(end) if isinstance(end, ast.Number) else ()


def _between(formula: Formula) -> Iterator[Diagnostic]:
    """Findings about crisp comparisons that are stated to be neither true nor false."""
    bounds, root = formula.bounds, formula.matrix
    if bounds is None or not isinstance(root, ast.Comparison) or root.attributes or "<?>" in root.operators:
        return
    lower, upper = bounds.lower.start, bounds.upper.start
    if lower is not None and upper is not None and lower > 0 and upper < 1:
        message = f"this comparison is true or false, never `{bounds.span.text}`"
        hint = "soften it, `(age(X) > 3){scale: 2}`, or leave 0 or 1 within the bounds"
        yield warning("impossible-truth", bounds.span, message, hint)


def _constant(node: ast.Comparison) -> Iterator[Diagnostic]:
    """Findings about comparisons of constants: their truth is fixed, so there is nothing to soften or to learn."""
    for left, right in pairwise(node.operands):
        if not all(isinstance(side, ast.NumericNode) and not mentions_numbers(side) for side in (left, right)):
            continue
        unit = any(isinstance(part, ast.Unit) for side in (left, right) for part in nodes(side))
        if node.attributes or "<?>" in node.operators or unit:
            both = f"`{left.span.on_one_line}` and `{right.span.on_one_line}` are constants"
            message = f"{both}, so there is nothing to soften, to learn or to give to a unit"
            yield error("constant-comparison", node.span, message, "compare a number of an entity: `age(X) > 3`")
            return


def _inexact(node: ast.Number) -> Iterator[Diagnostic]:
    value = node.value
    if isinstance(value, int) and abs(value) > EXACT and int(float(value)) != value:
        message = f"{node.span.text} is read as {float(value):.0f}"
        yield warning("inexact-number", node.span, message, "numbers are float64: whole numbers are exact up to 2^53")


_OF_SEVERAL = {
    "log": "a logarithm to another base is a quotient: `log(a) / log(2)`",
    "round": "two digits are kept by `round(a * 100) / 100`",
}


def _operation(node: ast.Arithmetic | ast.Function) -> Iterator[Diagnostic]:
    """Findings about operations without a value, and about functions with a wrong number of operands."""
    match node, [value_of(operand) for operand in children(node)]:
        case ast.Function(name, operands), [_, _, *_] if name not in AGGREGATES.union(CALENDAR):
            hint = _OF_SEVERAL.get(name, f"write `{name}({operands[0].span.on_one_line})`")
            message = f"`{name}` takes one number, and here are {len(operands)}"
            yield error("operand-count", node.span, message, hint)
        case ast.Function("sqrt"), [float(under)] if under < 0:
            yield _no_root(node, f"`{node.span.text}` is the root of a negative number")
        case ast.Function("log"), [float(under)] if under <= 0:
            message = f"`{node.span.text}` is the logarithm of a number that is not above 0"
            yield error("no-logarithm", node.span, message, "only numbers above 0 have a logarithm; check the sign")
        case ast.Arithmetic("/", right=divisor), [_, 0]:
            which = "" if isinstance(divisor, ast.Number) else ", which is 0"
            message = f"nothing can be divided by `{divisor.span.on_one_line}`{which}"
            yield error("division-by-zero", divisor.span, message, "divide by something else, or compare products")
        case ast.Arithmetic("^"), [0, float(power)] if power < 0:
            yield error("division-by-zero", node.span, f"`{node.span.text}` divides by 0", "0 has no negative powers")
        case ast.Arithmetic("^"), [float(base), float(power)] if base < 0 and power != math.floor(power):
            what = "a power of a negative number with an exponent that is not whole"
            yield _no_root(node, f"`{node.span.text}` is {what}")


def _no_root(node: ast.Expression, message: str) -> Diagnostic:
    return error("negative-root", node.span, message, "a negative number has whole powers only; check the sign")


def mentions_numbers(term: ast.Expression) -> bool:
    """Whether the value depends on the number of an entity."""
    return any(isinstance(node, ast.Atom) for node in nodes(term))


def value_of(term: ast.Expression, starts: Mapping[str, float] | None = None) -> float | None:
    """The finite value of a term, with learnable values at their start; None if it has none or depends on the number of
    an entity."""
    done: dict[int, float | None] = {}
    for node in reversed(list(nodes(term))):  # operands before their parents
        done[id(node)] = _value(node, [done[id(operand)] for operand in children(node)], starts or {})
    return done[id(term)]


def _value(node: ast.Expression, below: list[float | None], starts: Mapping[str, float]) -> float | None:
    values = [value for value in below if value is not None]
    if len(values) < len(below):
        return None
    value: object = None
    try:
        match node:
            case ast.Number(value):
                pass
            case ast.Learnable(name, value):
                value = starts.get(name or "") if value is None else value
            case ast.Negate():
                value = -values[0]
            case ast.Function(name) if name in _FUNCTIONS:
                value = _FUNCTIONS[name](*values)
            case ast.Arithmetic(name):
                value = _OPERATIONS[name](*values)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None
    # the power of a negative number to a fraction is complex
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def truth_of(comparison: ast.Comparison, starts: Mapping[str, float] | None = None) -> bool | None:
    """Whether a single crisp comparison holds; None if a side has no fixed value."""
    left, right = (value_of(operand, starts) for operand in comparison.operands)
    if left is None or right is None:
        return None
    whole = left == math.floor(left) and right == math.floor(right)
    equal = left == right if whole else abs(left - right) <= RELATIVE * max(abs(left), abs(right))
    holds = COMPARISONS.get(comparison.operators[0])  # none of `<?>`
    return None if holds is None else holds(0 if equal else left - right, 0)


def values(symbols: Symbols) -> Iterator[Diagnostic]:
    for kind, statement in symbols.stated():
        name = statement.atom.name
        if statement.span.source.path == GIVEN_TODAY and name not in symbols.declared:
            continue  # reported by `dates`
        if name in symbols.declared or not symbols.doubtful(name):  # it may well be a number
            yield from _fact(kind, statement, symbols.declared.get(name))
    for formula in symbols.formulas:
        yield from () if formula.bounds is None else _truth(formula.bounds, "")
    for statement in symbols.statements(ast.LoadStatement, ast.LabelTableStatement):
        if statement.negated and statement.name in symbols.numbers:
            span = find(statement.span, statement.name, len("load"))
            message = f"`{statement.name}` is a number, which cannot be negated"
            yield error("number-as-formula", span, message, "take the `~` out")


def _fact(kind: str, statement: ast.AtomStatement, declared: Predicate | None) -> Iterator[Diagnostic]:
    bounds, name, arguments = statement.bounds, statement.atom.name, statement.atom.arguments
    dated = declared is not None and declared.numeric == "date"
    value = f"{kind} {statement.atom.span.text} = " + ('date "2024-01-15"' if dated else "0")
    if declared is not None and declared.numeric:
        texts = [argument.span.text for argument in arguments]
        if len(arguments) == declared.arity + 1 and whole(texts[-1]) is not None:  # its value stands among them
            about = f"({', '.join(texts[:-1])})" if declared.arity else ""
            value = f"{kind} {format_predicate(name)}{about} = {texts[-1]}"
        if statement.negated:
            message = f"`{name}` is a number, which cannot be negated"
            yield error("number-as-formula", statement.atom.span, message, f"give its value: `{value}`")
        elif bounds is None:
            message = f"`{name}` is a number, and this {kind} gives it no value"
            yield error("number-without-value", statement.atom.span, message, f"add one: `{value}`")
        else:
            yield from _order(bounds)
            yield from _dated(bounds, declared)
            for end, beyond in zip(bounds.written, (math.inf, -math.inf), strict=False):
                value = end.start
                if value == beyond or (bounds.exact and value == -beyond):
                    message = f"no finite number is {'' if bounds.exact else 'beyond '}{end.span.text}"
                    hint = "an unknown end is `-inf` below and `inf` above: `in [0, inf]`"
                    yield error("value-not-finite", end.span, message, hint)
    elif bounds is not None:
        dated = any(isinstance(end, ast.Number) and end.unit == "date" for end in bounds.written)
        declare = f"{'date' if dated else 'number'} {signature(name, len(statement.atom.arguments))}"
        yield from _truth(bounds, f"; if `{name}` is a number, declare `{declare}`")


def _dated(bounds: ast.Bounds, declared: Predicate) -> Iterator[Diagnostic]:
    """Numbers where a date is declared, and dates where a number is."""
    name, dated = format_predicate(declared.name), declared.numeric == "date"
    for end in bounds.written:
        if isinstance(end, ast.Number) and math.isfinite(end.value) and (end.unit == "date") != dated:
            shown = end.span.text
            message = f"`{name}` is a date, and {shown} is a number" if dated else f"`{name}` is a number, not a date"
            about = f"date {signature(declared.name, declared.arity)}"
            hint = f"write `{as_date(end)}`" if dated else f"declare `{about}`, or give the number of days"
            yield error("date-and-number", end.span, message, hint)


def _truth(bounds: ast.Bounds, otherwise: str) -> Iterator[Diagnostic]:
    outside = False
    for end in bounds.written:
        value = end.start
        if value is not None and not 0 <= value <= 1:
            outside = True
            message = f"the truth value {end.span.text} is not between 0 and 1"
            hint = f"write {value / 100:g} for {value:g} %" if 1 < value <= 100 else "truth runs from 0 to 1"
            yield error("truth-out-of-range", end.span, message, hint + otherwise)
    if not outside:
        yield from _order(bounds)


def _order(bounds: ast.Bounds) -> Iterator[Diagnostic]:
    lower, upper = bounds.lower.start, bounds.upper.start
    if lower is not None and upper is not None and lower > upper:
        low, high = bounds.lower.span.text, bounds.upper.span.text
        message = f"the lower bound {low} is above the upper bound {high}"
        yield error("bounds-reversed", bounds.span, message, f"write `in [{high}, {low}]`")
