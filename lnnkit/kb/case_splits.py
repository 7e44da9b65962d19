"""Case splits relevant to a question: exhaustive sets of assumptions, at least one of which holds in every world.

A disjunction that is at least ``v`` has an operand that is at least ``t``: the least ``t`` with ``or(t, ..., t) >=
v``, since ``or`` rises with each operand. For n operands that is ``v / n`` in Lukasiewicz logic, ``v`` in Goedel
logic and ``1 - (1 - v)^(1/n)`` in product logic; a comparison of numbers has no truth between 0 and 1, so there it
is 1. Any atom with bounds ``l`` and ``u`` is at most, or at least, a value between; in the classical reading it is
0 or 1.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lnnkit.check.program import Assertion, CheckedProgram, Fact, LogicName, Query, SameEntity
from lnnkit.check.walk import children, nodes, transform
from lnnkit.explain.missing.hypothetical_facts import ASSUMED, assumption
from lnnkit.kb.rested import Rested
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression
from lnnkit.syntax.span import Source, Span

OPEN = 1e-9  # bounds that are no further apart are equal
# Limits of work: with more, more splits can be found. On a small rule base 8 to 32, 16 to 256, 2 to 16 and 25 to 1,600
# cost and find the same (`python -m benchmarks.question_constants cases`)
_EXPANDED = 16  # entities tried for a variable
_DISJUNCTIONS, _WIDE = 64, 8  # disjunctions evaluated
_PATTERNS = 400  # patterns of atoms to which a question is followed
_NOWHERE = Span(Source(ASSUMED, ""), 0, 0)

Pattern = tuple[str, tuple[str | None, ...]]  # a predicate, and entities, or None for any
Binding = Mapping[str, str]


@dataclass(frozen=True)
class Assumed:
    """The assumption of one case: a ground formula is within ``lower`` and ``upper``. ``facts`` express it for an atom
    or a number; otherwise the formula itself is asserted."""

    formula: ast.Expression
    lower: float
    upper: float
    logic: LogicName
    facts: tuple[Fact, ...] = ()

    @property
    def span(self) -> Span:
        """The span that proofs show: nowhere in the program."""
        text = f"axiom {self.text}"
        return Span(Source(ASSUMED, text), 0, len(text))

    @property
    def text(self) -> str:
        shown = format_expression(self.formula)
        if self.upper == 1.0 and self.lower == 1.0:
            return shown
        if self.upper == 0.0:
            return f"~({shown})" if not isinstance(self.formula, ast.Atom) else f"~{shown}"
        return f"{shown} >= {self.lower:.6g}" if self.upper == 1.0 else f"{shown} <= {self.upper:.6g}"


@dataclass(frozen=True)
class Split:
    """Exhaustive cases; ``ground`` is the disjunction that makes them so, if there is one. ``key`` identifies what is
    split: a disjunction, an atom or a comparison."""

    text: str
    key: str
    cases: tuple[Assumed, ...]
    ground: Query | None = None


class Splits:
    """The splits that matter to a ground ``query`` about a ``program``."""

    def __init__(self, program: CheckedProgram, query: Query, classical: bool) -> None:
        self.program = program
        self.query = query
        self.classical = classical

    @property
    def disjunctions(self) -> tuple[Query, ...]:
        """Disjunctions of statements that the question can depend on, about named entities; nearest first."""
        return tuple([query for query in self._disjunctions if _is_ground(query.formula)])[:_DISJUNCTIONS]

    @property
    def wide_disjunctions(self) -> tuple[Query, ...]:
        """The disjunctions in which a variable may be any entity."""
        return tuple([query for query in self._disjunctions if not _is_ground(query.formula)])[:_WIDE]

    @cached_property
    def _disjunctions(self) -> list[Query]:
        found: dict[tuple[str, LogicName], Query] = {}
        for assertion, binding in self._followed[1]:
            for node in nodes(assertion.formula):  # type: ignore[arg-type]  # a SameEntity is a leaf
                if isinstance(node, ast.Or) and _plain(node):
                    known = {name: entity for name, entity in binding.items() if entity is not None}
                    formula = grounded(node, known)
                    text = format_expression(formula)
                    found.setdefault((text, assertion.logic), Query(formula, text, assertion.logic, _NOWHERE))
        return list(found.values())

    @property
    def reached(self) -> Mapping[Pattern, int]:
        """The atoms on which the question can depend, with their distance in statements."""
        return self._followed[0]

    @property
    def _statements(self) -> Sequence[Assertion]:
        """The statements on which the question can depend, nearest first."""
        return list({id(assertion): assertion for assertion, _ in self._followed[1]}.values())

    @cached_property
    def _followed(self) -> tuple[dict[Pattern, int], list[tuple[Assertion, Mapping[str, str | None]]]]:
        """The atoms on which the question can depend, and the statements in between, with the bindings of their
        variables."""
        by_name: defaultdict[str, list[Assertion]] = defaultdict(list)
        for assertion in self.program.assertions:
            for name in dict.fromkeys(name for name, _ in _patterns(assertion.formula, {})):
                by_name[name].append(assertion)
        found: dict[Pattern, int] = {}
        statements: list[tuple[Assertion, Mapping[str, str | None]]] = []
        waiting = deque([(each, 0) for each in _patterns(self.query.formula, {})])
        while waiting and len(found) < _PATTERNS:
            pattern, distance = waiting.popleft()
            if pattern in found:
                continue
            found[pattern] = distance
            for assertion in by_name[pattern[0]]:
                for binding in _meetings(assertion.formula, pattern):
                    statements.append((assertion, binding))
                    waiting.extend((each, distance + 1) for each in _patterns(assertion.formula, binding))
        return found, statements

    def at(self, rested: Rested, rows: Sequence[tuple[Query, Binding, float]], done: frozenset[str]) -> Iterator[Split]:
        """The splits that may derive something from the bounds of a fixpoint; ``rows`` are the instances of the
        disjunctions, each with its lower bound. Disjunctions come first, the question itself last, near atoms before
        far ones. Splits in ``done``, on the path, are not repeated."""
        near: list[tuple[tuple[int, int, int], Split]] = []
        for disjunction, binding, lower in rows:
            split = self._by_operand(rested, disjunction, binding, lower)
            if split is not None:
                near.append(((0, len(split.cases), self._distance(split)), split))
        for pattern, distance in self.reached.items():
            for atom in self._expanded(rested, pattern):
                split = self._by_truth(rested, atom)
                if split is not None:
                    near.append(((1 if distance else 3, 2, distance), split))
        near += [((2, 2, 0), self._by_comparison(comparison)) for comparison in self._comparisons]
        seen: set[tuple[Assumed, ...]] = set()
        for _, split in sorted(near, key=lambda each: each[0]):
            if split.cases not in seen and split.key not in done:
                seen.add(split.cases)
                yield split

    def _distance(self, split: Split) -> int:
        found = [self.reached.get(pattern) for case in split.cases for pattern in _patterns(case.formula, {})]
        exact = [each for each in found if each is not None]
        return min(exact, default=2)

    # --- kinds of splits ----------------------------------------------------------------------------------------

    def _by_operand(self, rested: Rested, query: Query, binding: Binding, lower: float) -> Split | None:
        formula = grounded(query.formula, binding)
        assert isinstance(formula, ast.Or)
        least = threshold(query.logic, lower, len(formula.operands))
        cases: list[Assumed] = []
        for operand in formula.operands:
            sharp = _two_valued(operand) or (self.classical and crisp(operand))
            needed = 1.0 if sharp and least > OPEN else least
            known = _literal_bounds(rested, operand)
            if known is not None and known[0] >= needed - OPEN:
                return None  # it is true already
            if known is None or known[1] >= needed - OPEN:
                cases.append(self._assumed(operand, needed, 1.0, query.logic))
        if least <= OPEN or len(cases) < 2 or not self._all_sayable(rested, cases):
            return None
        ground = Query(formula, format_expression(formula), query.logic, _NOWHERE)
        return Split(f"{ground.text} >= {lower:.6g}", ground.text, tuple(cases), ground)

    def _by_truth(self, rested: Rested, atom: ast.Atom) -> Split | None:
        bounds = rested.explainer.bounds(atom)
        if bounds is None or bounds[1] - bounds[0] <= OPEN:
            return None
        low, high = bounds
        middle = (low + high) / 2
        ends = ((1.0, 1.0), (0.0, 0.0)) if self.classical else ((middle, 1.0), (0.0, middle))
        cases = tuple([self._assumed(atom, *each, self.program.logic) for each in ends])
        shown = format_expression(atom)
        text = f"{shown}, which is 0 or 1" if self.classical else f"{shown}, below and above {middle:.6g}"
        return Split(text, shown, cases)

    def _by_comparison(self, comparison: ast.Comparison) -> Split:
        cases = [self._assumed(comparison, end, end, self.program.logic) for end in (1.0, 0.0)]
        shown = format_expression(comparison)
        return Split(f"{shown}, which holds or not", shown, tuple(cases))

    @cached_property
    def _comparisons(self) -> tuple[ast.Comparison, ...]:
        """Comparisons of numbers with constants, in statements without variables for them."""
        found: dict[str, ast.Comparison] = {}
        for assertion in self._statements:
            for node in nodes(assertion.formula):  # type: ignore[arg-type]  # a SameEntity is a leaf
                if isinstance(node, ast.Comparison) and _two_valued(node) and _is_ground(node):
                    found.setdefault(format_expression(node), node)
        return tuple(found.values())

    # --- assumptions --------------------------------------------------------------------------------------------

    def _assumed(self, formula: ast.Expression, lower: float, upper: float, logic: LogicName) -> Assumed:
        while isinstance(formula, ast.Not):
            formula, lower, upper = formula.operand, 1 - upper, 1 - lower
        made = Assumed(formula, lower, upper, logic)
        facts: tuple[Fact, ...] = ()
        if isinstance(formula, ast.Atom):
            facts = (assumption(formula.name, _entities(formula), lower, upper, numeric=False),)
        elif isinstance(formula, ast.Comparison) and (ends := _ends_of(formula, true=lower > 0)) is not None:
            number, low, high = ends
            facts = (assumption(number.name, _entities(number), low, high, numeric=True),)
        return replace(made, facts=facts)

    def _all_sayable(self, rested: Rested, cases: Sequence[Assumed]) -> bool:
        """Whether no case mentions an entity that is new to a sort, or an atom of a predicate whose facts are
        complete."""
        return all(
            self._sayable(rested, node) for case in cases for node in nodes(case.formula) if isinstance(node, ast.Atom)
        )

    def _sayable(self, rested: Rested, atom: ast.Atom) -> bool:
        predicate = self.program.predicates.get(atom.name)
        if predicate is None or predicate.closed or len(predicate.sorts) != len(atom.arguments):
            return False
        domain = rested.fixpoint.prepared.grounding.domain
        entities = _entities(atom)
        return len(entities) == len(atom.arguments) and all(
            sort in domain.sorts and each in domain.index and domain.has(sort, each)
            for sort, each in zip(predicate.sorts, entities, strict=True)
        )

    def _expanded(self, rested: Rested, pattern: Pattern) -> Iterator[ast.Atom]:
        """The atoms that match a pattern, if they are few."""
        name, arguments = pattern
        predicate = self.program.predicates.get(name)
        if predicate is None or predicate.closed or predicate.numeric:
            return
        domain = rested.fixpoint.prepared.grounding.domain
        choices: list[Sequence[str]] = []
        for sort, each in zip(predicate.sorts, arguments, strict=True):
            if each is not None:
                choices.append([each])
            elif sort in domain.sorts and len(domain.sorts[sort]) <= _EXPANDED:
                choices.append([rested.names[number] for number in domain.sorts[sort].tolist()])
            else:
                return
        if math.prod(map(len, choices)) > _EXPANDED:
            return
        for row in itertools.product(*choices):
            atom = ast.Atom(name, tuple([ast.Constant(each, span=_NOWHERE) for each in row]), span=_NOWHERE)
            if self._sayable(rested, atom):
                yield atom


def threshold(logic: LogicName, lower: float, count: int) -> float:
    """The least value of the greatest of ``count`` operands of a disjunction that is at least ``lower``."""
    if lower <= 0:
        return 0.0
    if lower >= 1.0:
        return 1.0 / count if logic == "lukasiewicz" else 1.0
    if logic == "lukasiewicz":
        return lower / count
    return lower if logic == "godel" else -math.expm1(math.log1p(-lower) / count)


# --- formulas ---------------------------------------------------------------------------------------------------------


def _plain(node: ast.Or) -> bool:
    """Whether it has neither weights nor attributes, and no quantifier below it."""
    if node.attributes:
        return False
    below = [each for each in nodes(node) if each is not node]
    return not any(isinstance(each, ast.Weighted | ast.Forall | ast.Exists | SameEntity) for each in below)


def crisp(formula: ast.Expression | SameEntity) -> bool:
    """Whether it is 0 or 1 whenever all its atoms are."""
    if isinstance(formula, SameEntity):
        return True
    if isinstance(formula, ast.Comparison):
        return _two_valued(formula)
    if isinstance(formula, ast.Weighted) or getattr(formula, "attributes", ()):
        return False
    return isinstance(formula, ast.Atom) or all(crisp(each) for each in children(formula))


def _two_valued(node: ast.Expression) -> bool:
    """Whether it is a crisp comparison of linear arithmetic."""
    if not isinstance(node, ast.Comparison) or node.attributes or "<?>" in node.operators:
        return False
    plain = (ast.Comparison, ast.Atom, ast.Number, ast.Negate)
    return all(isinstance(each, plain) or _is_sum(each) for each in nodes(node))


def _is_sum(node: ast.Expression) -> bool:
    return isinstance(node, ast.Arithmetic) and node.operator in "+-*"


def _ends_of(comparison: ast.Comparison, *, true: bool) -> tuple[ast.Atom, float, float] | None:
    """The bounds of a number implied by a comparison with a constant, or by its negation."""
    if len(comparison.operators) != 1 or not isinstance(comparison.operands[0], ast.Atom):
        return None
    number, constant = comparison.operands
    if not isinstance(constant, ast.Number) or not isinstance(number, ast.Atom):
        return None
    value, operator = float(constant.value), comparison.operators[0]
    if (operator == "=" and true) or (operator == "!=" and not true):
        return number, value, value
    if (operator in ("<", "<=") and true) or (operator in (">", ">=") and not true):
        return number, -math.inf, value
    if (operator in (">", ">=") and true) or (operator in ("<", "<=") and not true):
        return number, value, math.inf
    return None


def _literal_bounds(rested: Rested, formula: ast.Expression) -> tuple[float, float] | None:
    """The bounds of a literal; None for another formula."""
    if isinstance(formula, ast.Not):
        inner = _literal_bounds(rested, formula.operand)
        return None if inner is None else (1 - inner[1], 1 - inner[0])
    if isinstance(formula, ast.Comparison) and (ends := _ends_of(formula, true=True)) is not None:
        number, low, high = ends
        known = rested.explainer.bounds(number)
        apart = known is not None and (known[0] > high or known[1] < low)
        return (0.0, 0.0) if apart and _two_valued(formula) else None
    return rested.explainer.bounds(formula) if isinstance(formula, ast.Atom) else None


def _entities(atom: ast.Atom) -> tuple[str, ...]:
    return tuple(each.text for each in atom.arguments if isinstance(each, ast.Constant))


def _is_ground(formula: ast.Expression | SameEntity) -> bool:
    atoms = [node for node in nodes(formula) if isinstance(node, ast.Atom)]  # type: ignore[arg-type]  # as above
    return all(isinstance(each, ast.Constant) for atom in atoms for each in atom.arguments)


def grounded(formula: ast.Expression | SameEntity, binding: Binding) -> ast.Expression:
    """The formula with entities for its free variables."""

    def bound(node: Any) -> Any:  # also a SameEntity, which the checker inserts among expressions
        if isinstance(node, ast.Atom):
            return replace(node, arguments=tuple([_entity(each, binding) for each in node.arguments]))
        if isinstance(node, SameEntity):
            return replace(node, left=_entity(node.left, binding), right=_entity(node.right, binding))
        return node

    return transform(formula, bound)  # type: ignore[arg-type]  # a SameEntity is a leaf


def _entity(argument: ast.Argument, binding: Binding) -> ast.Argument:
    if isinstance(argument, ast.Variable) and argument.name in binding:
        return ast.Constant(binding[argument.name], span=argument.span)
    return argument


def _patterns(formula: ast.Expression | SameEntity, binding: Mapping[str, str | None]) -> Iterator[Pattern]:
    """The atoms of a formula under a binding, with None for unbound variables."""
    for node in nodes(formula):  # type: ignore[arg-type]  # a SameEntity is a leaf
        if isinstance(node, ast.Atom):
            yield node.name, tuple([_bound(each, binding) for each in node.arguments])


def _bound(argument: ast.Argument, binding: Mapping[str, str | None]) -> str | None:
    return argument.text if isinstance(argument, ast.Constant) else binding.get(argument.name)


def _meetings(formula: ast.Expression | SameEntity, pattern: Pattern) -> Iterator[dict[str, str | None]]:
    """The bindings under which an atom of the formula matches the pattern."""
    name, arguments = pattern
    for node in nodes(formula):  # type: ignore[arg-type]  # a SameEntity is a leaf
        if isinstance(node, ast.Atom) and node.name == name and len(node.arguments) == len(arguments):
            binding: dict[str, str | None] = {}
            for own, other in zip(node.arguments, arguments, strict=True):
                if isinstance(own, ast.Constant):
                    if other is not None and own.text != other:
                        break
                elif binding.get(own.name) is None:
                    binding[own.name] = other
                elif other is not None and binding[own.name] != other:
                    break
            else:
                yield binding
