"""The laws of order: what crisp comparisons of the same two terms imply about each other, whatever the numbers are.

A comparison is the set of signs of ``left - right`` for which it is true, so ``a > b`` excludes ``a <= b`` and ``a =
b``. Intervals cannot express that: they are closed, and give nothing for unknown numbers. A law is a clause (in Goedel
logic, where a comparison that is true to any degree excludes another one entirely) or, if statements fix the truth of
comparisons outright, the resulting truth of another comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import NamedTuple, cast

from lnnkit.check.program import Assertion
from lnnkit.check.walk import nodes, transform
from lnnkit.graph.describe import stripped
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Source, Span
from lnnkit.syntax.printer import format_expression

SIGNS: Mapping[str, frozenset[int]] = {
    ">": frozenset({1}),
    ">=": frozenset({0, 1}),
    "<": frozenset({-1}),
    "<=": frozenset({-1, 0}),
    "=": frozenset({0}),
    "!=": frozenset({-1, 1}),
}
"""The signs of ``left - right`` that make a comparison true."""

EVERY = frozenset({-1, 0, 1})
TOLERANCE = 1e-9  # tolerance for comparing truths
ORIGIN = "<comparisons>"  # the path given in the span of a law
_NOWHERE = Span(Source(ORIGIN, ""), 0, 0)


@dataclass(frozen=True, slots=True)
class Law(Assertion):
    """A law as a statement; it holds if the ``given`` statements do."""

    given: tuple[Assertion, ...] = ()


class _Reading(NamedTuple):
    """A comparison with variables named by their positions in its family, and the signs of the family's ``left -
    right`` for which it is true."""

    text: str
    formula: ast.Comparison
    signs: frozenset[int]


_Member = tuple[_Reading, ...]
"""The readings of a comparison; two if its terms are equal up to variables, as in ``a(X) > a(Y)``."""

_SignedReading = tuple[_Reading, bool]  # a reading, and whether the comparison is not negated


def mirrored(signs: Iterable[int]) -> frozenset[int]:
    """The signs of ``right - left``."""
    return frozenset(-sign for sign in signs)


def laws(assertions: Sequence[Assertion]) -> list[Law]:
    """The laws among the comparisons of statements, by their text. Comparisons that are learned or soft have none, nor
    have those of and in aggregates, and those whose statements contradict each other outright."""
    families, truths = _families(assertions)
    by_text = {law.span.text: law for family in families for law in _of_family(family, truths)}
    return [by_text[text] for text in sorted(by_text)]


def violated(assertions: Sequence[Assertion]) -> list[Law]:
    """The laws that statements contradict outright, by their text."""
    families, truths = _families(assertions)
    by_text: dict[str, Law] = {}
    for family in families:
        known = _known(family, truths)
        for clause in _clauses(family):
            if all((not positive) in known[reading.text] for reading, positive in clause):
                law = _law(clause, tuple(known[reading.text][not positive] for reading, positive in clause))
                by_text[law.span.text] = law
    return [by_text[text] for text in sorted(by_text)]


_Truths = Mapping[str, Mapping[bool, Assertion]]  # by the text of a comparison: the truths that statements give it


def _families(assertions: Sequence[Assertion]) -> tuple[list[list[_Member]], _Truths]:
    """Comparisons grouped by the terms that they compare; each family is sorted by text."""
    families: dict[tuple[str, str], dict[str, _Member]] = {}
    truths: dict[str, dict[bool, Assertion]] = {}
    for assertion in assertions:
        whole = stripped(assertion)
        for node in nodes(cast("ast.Expression", whole), lambda part: not isinstance(part, ast.Aggregate)):
            if isinstance(node, ast.Comparison) and _is_plain(node):
                family, member = _placed(node)
                families.setdefault(family, {}).setdefault(member[0].text, member)
                if node is whole:
                    truths.setdefault(member[0].text, {}).update(dict.fromkeys(_truths(assertion), assertion))
    return [[family[text] for text in sorted(family)] for family in families.values()], truths


def _is_plain(node: ast.Comparison) -> bool:
    other = any(isinstance(part, ast.Learnable | ast.Aggregate) for part in nodes(node))
    return not node.attributes and node.operators[0] in SIGNS and not other


def _truths(assertion: Assertion) -> Iterator[bool]:
    """The truths that the bounds of a statement leave a crisp comparison that is all of it: true if it cannot be false,
    false if it cannot be true."""
    if not isinstance(assertion.lower, ast.Learnable) and _value(assertion.lower) > TOLERANCE:
        yield True
    if not isinstance(assertion.upper, ast.Learnable) and _value(assertion.upper) < 1 - TOLERANCE:
        yield False


def _value(end: ast.Number | float) -> float:
    return float(end.value if isinstance(end, ast.Number) else end)


def _placed(node: ast.Comparison) -> tuple[tuple[str, str], _Member]:
    """The family of a comparison (the texts of its two terms, the lesser first), and the comparison as its member."""
    left, right = _terms(node)
    signs = SIGNS[node.operators[0]]
    there, back = _texts(left, right), _texts(right, left)
    readings: list[_Reading] = []
    if there <= back:
        readings.append(_reading(node, _names(left, right), signs))
    if back <= there:
        readings.append(_reading(node, _names(right, left), mirrored(signs)))
    return min(there, back), tuple(readings)


def _terms(node: ast.Comparison) -> tuple[ast.Expression, ast.Expression]:
    """The two terms that are compared; for a difference compared to 0, the terms of the difference."""
    match node.operands:
        case (ast.Arithmetic(operator="-", left=left, right=right), ast.Number(value=0)):
            return left, right
        case (ast.Number(value=0), ast.Arithmetic(operator="-", left=left, right=right)):
            return right, left
        case (left, right):
            return left, right
    raise ValueError("a comparison has two sides")


def _reading(node: ast.Comparison, names: Mapping[str, str], signs: frozenset[int]) -> _Reading:
    formula = cast("ast.Comparison", transform(node, lambda part: _renamed(part, names)))
    return _Reading(format_expression(formula), formula, signs)


def _texts(first: ast.Expression, second: ast.Expression) -> tuple[str, str]:
    names = _names(first, second)
    one, other = (format_expression(transform(term, lambda node: _renamed(node, names))) for term in (first, second))
    return one, other


def _names(*terms: ast.Expression) -> dict[str, str]:
    """Names for the variables of terms in order of occurrence: X, Y, Z, X3 ..."""
    names: dict[str, str] = {}
    for term in terms:
        for node in nodes(term):
            for argument in node.arguments if isinstance(node, ast.Atom) else ():
                if isinstance(argument, ast.Variable) and argument.name not in names:
                    names[argument.name] = variable_name(len(names))
    return names


def variable_name(place: int) -> str:
    """The name of the variable at a position: X, Y, Z, X3 ..."""
    return "XYZ"[place] if place < 3 else f"X{place}"


def _renamed(node: ast.Expression, names: Mapping[str, str]) -> ast.Expression:
    """A node with its variables renamed, and with whole numbers in one spelling."""
    match node:
        case ast.Atom():
            named = (replace(a, name=names[a.name]) if isinstance(a, ast.Variable) else a for a in node.arguments)
            return replace(node, arguments=tuple(named))
        case ast.Number(value=value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
            return replace(node, value=int(value))
    return node


def _known(members: Sequence[_Member], truths: _Truths) -> _Truths:
    """The truths that statements give each reading."""
    return {reading.text: truths.get(member[0].text, {}) for member in members for reading in member}


def _of_family(members: Sequence[_Member], truths: _Truths) -> Iterator[Law]:
    """The laws of comparisons of the same two terms: the shortest valid clauses of two and three of them, simplified by
    the truths that statements give them."""
    known = _known(members, truths)
    clauses = [*_clauses(members)]
    contradictory = any(all((not positive) in known[r.text] for r, positive in clause) for clause in clauses)
    if contradictory or any(len(stated) > 1 for stated in known.values()):
        return
    for clause in clauses:
        if not any(positive in known[reading.text] for reading, positive in clause):
            left = [(reading, positive) for reading, positive in clause if not known[reading.text]]
            yield _law(left, tuple(given for reading, _ in clause for given in known[reading.text].values()))


def _clauses(members: Sequence[_Member]) -> Iterator[tuple[_SignedReading, ...]]:
    for count in (2, 3):
        for first, *others in combinations_with_replacement(members, count):
            for readings in product(first[:1], *others):
                if len({reading.text for reading in readings}) < count:
                    continue  # A comparison occurs twice in a clause only if it has two readings.
                for positive in product((True, False), repeat=count):
                    true = [r.signs if p else EVERY - r.signs for r, p in zip(readings, positive, strict=True)]
                    if _cover(true) and not any(_cover(true[:out] + true[out + 1 :]) for out in range(count)):
                        yield tuple(zip(readings, positive, strict=True))


def _cover(signs: Sequence[frozenset[int]]) -> bool:
    return frozenset[int]().union(*signs) == EVERY


def among(literals: Sequence[tuple[ast.Expression, bool]]) -> Law:
    """The law that at least one of some literals (comparisons to be true, or to be false) holds."""
    return _clause([comparison if positive else _negated(comparison) for comparison, positive in literals])


def _law(literals: Sequence[_SignedReading], given: tuple[Assertion, ...]) -> Law:
    """A clause as a statement; a clause of one literal is the comparison with its truth."""
    if len(literals) == 1:
        ((reading, positive),) = literals
        return _stating(reading.text if positive else f"~({reading.text})", reading.formula, float(positive), given)
    return _clause([r.formula if positive else _negated(r.formula) for r, positive in literals], given)


def _negated(formula: ast.Expression) -> ast.Expression:
    return ast.Not(formula, span=_NOWHERE)


def _clause(parts: Sequence[ast.Expression], given: tuple[Assertion, ...] = ()) -> Law:
    logic = ast.Attribute("logic", ast.LATTICE_LOGIC, span=_NOWHERE)
    text = format_expression(ast.Or(tuple(parts), span=_NOWHERE))
    return _stating(text, ast.Or(tuple(parts), (logic,), span=_NOWHERE), 1.0, given)


def _stating(text: str, formula: ast.Expression, truth: float, given: tuple[Assertion, ...]) -> Law:
    span = Span(Source(ORIGIN, text), 0, len(text))
    return Law("law", "of order", formula, truth, truth, ast.LATTICE_LOGIC, span, given=given)
