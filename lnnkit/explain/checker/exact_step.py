"""Checks an exact step: whether its bound follows from its premises together, by the solver.

Forms become Z3's by the truth function of each connective, as in the manual's semantics. Independent of `lnnkit.prove`.
Arithmetic that it does not support, and a connective of a logic that it does not know, become unknown truths: then the
step is not verified.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.explain.checker.ground_form import Form, bound_sorts, filled
from lnnkit.numeric import Comparison, Constant, Fixed, Number, Term

Z3 = Any  # z3 has no type hints
Box = tuple[float, float]
_DECIMALS, _NEAR = 9, 1e-13  # A bound this near to a decimal number of this many digits is that number;
_ROUNDED = 1e-12  # other bounds are widened by this much, since inference may have rounded them.
_ROWS = 100_000  # rows of a quantifier
_POWER = 16  # the greatest exponent
_EPS = 1e-9  # tolerance of a truth
_MILLISECONDS = 20_000


@dataclass(frozen=True)
class CompletedAtom:
    """A completed ``atom``: it is the least truth for which the ``instances`` of its rules hold, each with its lower
    truth."""

    atom: Form
    statements: Sequence[Assertion]
    instances: Sequence[tuple[Form, float]]


class TooMany(Exception):
    """A quantifier has too many rows."""


class SolverEncoding:
    """Truths as real expressions; ``said`` are the constraints on their variables so far. Atoms lie in the bounds that
    are ``read`` of them, and are 0 or 1 if the reading is ``crisp``. ``z3`` is None where it is not installed."""

    def __init__(
        self,
        program: CheckedProgram,
        entities: Mapping[str, Sequence[str]],
        read: Callable[[Form], Box],
        *,
        crisp: bool,
    ) -> None:
        try:
            import z3
        except ImportError:
            z3 = None
        self.z3: Z3 = z3
        self.context: Z3 = z3 and z3.Context()
        self.said: list[Z3] = []
        self._program = program
        self._entities = entities
        self._read = read
        self._crisp = crisp
        self._variables: dict[Form, Z3] = {}
        self._fresh = 0

    def number(self, value: float | Fraction) -> Z3:
        """A constant: the decimal number that the float prints as."""
        exact = value if isinstance(value, Fraction) else Fraction(repr(float(value)))
        return self.z3.RealVal(f"{exact.numerator}/{exact.denominator}", self.context)

    def truth(self, form: Form) -> Z3:
        """The truth of a formula without free variables. Raises `TooMany`."""
        match form.kind:
            case "true" | "false":
                return self.number(float(form.kind == "true"))
            case "same":
                return self.number(float(form.terms[0] == form.terms[1]))
            case "atom":
                return self._atom(form)
            case "compare":
                return self._comparison(form)
            case "not":
                return 1 - self.truth(form.operands[0])
            case "forall" | "exists":
                return self._quantifier(form)
        x = [self.truth(operand) for operand in form.operands]
        return self._connective(form.kind, form.name, list(map(_exact, form.weights)), _exact(form.bias), x)

    def within(self, value: Z3, box: Box) -> list[Z3]:
        """The constraint that a truth or a number lies in ``box``."""
        low, high = box
        said = [value >= self.number(_widened(low, -1))] if math.isfinite(low) else []
        return said + ([value <= self.number(_widened(high, 1))] if math.isfinite(high) else [])

    def least(self, values: Sequence[Z3]) -> Z3:
        """The minimum of some truths; 1 of none."""
        return reduce(lambda least, value: self.z3.If(value < least, value, least), values, self.number(1.0))

    def greatest(self, values: Sequence[Z3]) -> Z3:
        """The maximum of some truths; 0 of none."""
        return reduce(lambda greatest, value: self.z3.If(value > greatest, value, greatest), values, self.number(0.0))

    def clamp(self, value: Z3) -> Z3:
        """A value clamped to [0, 1]."""
        return self.least([self.greatest([value])])

    # --- leaves -----------------------------------------------------------------------------------------------------

    def _atom(self, form: Form) -> Z3:
        if form not in self._variables:
            made = self._variables[form] = self.z3.Real(f"{form.name}({', '.join(map(str, form.terms))})", self.context)
            self.said += self.within(made, self._read(form))
            if not self._program.predicates[form.name].numeric:
                self.said += [made >= 0, made <= 1]
                if self._crisp:
                    self.said.append(self.z3.Or(made == 0, made == 1))
        return self._variables[form]

    def unknown(self) -> Z3:
        """A new unconstrained truth."""
        self._fresh += 1
        made = self.z3.Real(f"?{self._fresh}", self.context)
        self.said += [made >= 0, made <= 1]
        return made

    def _comparison(self, form: Form) -> Z3:
        arithmetic = form.arithmetic
        assert isinstance(arithmetic, Comparison)
        if not isinstance(arithmetic.relation, Fixed) or arithmetic.relation.scale:
            return self.unknown()
        numbers = [self._atom(operand) for operand in form.operands]
        there: list[Z3] = []  # what both terms need to have a value
        left, right = (self._term(side, numbers, there) for side in (arithmetic.left, arithmetic.right))
        if left is None or right is None:
            return self.unknown()
        holds = {
            ">": left > right,
            ">=": left >= right,
            "<": left < right,
            "<=": left <= right,
            "=": left == right,
            "!=": left != right,
        }[arithmetic.relation.sign]
        return self.z3.If(self.z3.And(*there, holds), self.number(1.0), self.number(0.0))

    def _term(self, term: Term, numbers: Sequence[Z3], there: list[Z3]) -> Z3 | None:
        built: list[Z3 | None] = []
        constants: dict[int, float] = {}
        for place, step in enumerate(term.steps):
            if isinstance(step, Number):
                built.append(numbers[step.index])
            elif isinstance(step, Constant):
                constants[place] = step.value
                built.append(self.number(step.value))
            else:
                second = constants.get(step.operands[1]) if len(step.operands) == 2 else None
                operands = [built[operand] for operand in step.operands]
                built.append(None if None in operands else self._applied(step.operation, operands, second, there))
        return built[-1]

    def _applied(self, operation: object, x: Sequence[Z3], constant: float | None, there: list[Z3]) -> Z3 | None:
        """An operation; its second operand may be a ``constant``."""
        match operation:
            case "add":
                return self.z3.Sum(list(x))
            case "subtract":
                return x[0] - x[1]
            case "negate":
                return -x[0]
            case "multiply":
                return self.z3.Product(list(x))
            case "abs":
                return self.z3.If(x[0] >= 0, x[0], -x[0])
            case "divide":
                there.append(x[1] != 0)
                return x[0] / x[1]
            case "sqrt":
                root = self.z3.FreshReal("root", self.context)
                self.said.append(self.z3.Implies(x[0] >= 0, self.z3.And(root >= 0, root * root == x[0])))
                there.append(x[0] >= 0)
                return root
            case "power" if constant is not None and constant.is_integer() and 1 <= constant <= _POWER:
                return self.z3.Product([x[0]] * int(constant))
        return None

    # --- connectives ------------------------------------------------------------------------------------------------

    def _quantifier(self, form: Form) -> Z3:
        sorts = bound_sorts(form, self._program.predicates)
        members = [self._entities[sort] for sort in sorts]
        if math.prod(map(len, members)) > _ROWS:
            raise TooMany
        rows = [self.truth(filled(form.operands[0], row)) for row in itertools.product(*members)]
        truth = self.least(rows) if form.kind == "forall" else self.greatest(rows)
        if not any(sort in self._program.sorts and self._program.sorts[sort].open for sort in sorts):
            return truth
        others = self.unknown()  # Unnamed individuals are possible.
        self.said.append(others <= truth if form.kind == "forall" else others >= truth)
        return others

    def _connective(self, kind: str, logic: str, w: list[Fraction], b: Fraction, x: list[Z3]) -> Z3:
        match kind:
            case "or":
                return 1 - self._connective("and", logic, w, b, [1 - truth for truth in x])
            case "iff":
                ways = [self._connective("implies", logic, w[::s], b, x[::s]) for s in (1, -1)]
                return self.least(ways)
            case "xor":
                return 1 - self._connective("iff", logic, w, b, x)
        match logic:
            case "lukasiewicz":
                return self._lukasiewicz(kind, w, b, x)
            case "godel":
                return self._godel(kind, w, b, x)
            case "product":
                return self._product(kind, w, b, x)
        return self.unknown()

    def _lukasiewicz(self, kind: str, w: list[Fraction], b: Fraction, x: list[Z3]) -> Z3:
        if kind == "and":
            lost = [self.number(v) * (1 - truth) for v, truth in zip(w, x, strict=True)]
            return self.clamp(self.number(b) - self.z3.Sum(lost))
        return self.clamp(self.number(1 - b) + self.number(w[0]) * (1 - x[0]) + self.number(w[1]) * x[1])

    def _godel(self, kind: str, w: list[Fraction], b: Fraction, x: list[Z3]) -> Z3:
        if kind == "and":
            weighted = [self.number(b) - self.number(v) * (1 - truth) for v, truth in zip(w, x, strict=True)]
            return self.clamp(self.least([self.number(b), *weighted]))
        low = self.clamp(self.number(b) - self.number(w[0]) * (1 - x[0]))
        high = self.clamp(1 - self.number(w[1]) * (1 - x[1]))
        return self.z3.If(low <= high, self.number(1.0), self.clamp(high + self.number(1 - b)))

    def _product(self, kind: str, w: list[Fraction], b: Fraction, x: list[Z3]) -> Z3:
        if b != 1 or any(v.denominator != 1 or not 0 <= v <= _POWER for v in w):
            return self.unknown()
        powers = [self._power(truth, int(v)) for v, truth in zip(w, x, strict=True)]
        if kind == "and":
            return self.z3.Product(powers) if len(powers) > 1 else powers[0]
        bottom, top = powers
        quotient = self.unknown()
        self.said.append(self.z3.If(top >= bottom, quotient == 1, quotient * bottom == top))
        return quotient

    def _power(self, base: Z3, exponent: int) -> Z3:
        return self.z3.Product([base] * exponent) if exponent else self.number(1.0)


def _exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


def _widened(bound: float, sign: int) -> Fraction:
    near = round(bound, _DECIMALS)
    return _exact(near) if abs(near - bound) <= _NEAR else _exact(bound) + sign * _exact(_ROUNDED)


def objection(
    target: Form,
    side: str,
    bound: float,
    encoding: SolverEncoding,
    stated: Mapping[Form, Box],
    completed: Sequence[CompletedAtom],
) -> str | None:
    """Why the bound does not follow from what is read by the ``encoding``, bounds ``stated`` for formulas, and
    ``completed`` atoms together; None if it does."""
    if encoding.z3 is None:
        return "it can be checked with the package z3-solver alone, which is not installed"
    try:
        goal = encoding.truth(target)
        for form, box in stated.items():
            encoding.said += encoding.within(encoding.truth(form), box)
        for definition in completed:  # the least truth for which its rules hold, where this is supported
            needs = [_need(encoding, rule, lower) for rule, lower in definition.instances]
            known = not any(need is None for need in needs)
            encoding.said += [encoding.truth(definition.atom) == encoding.greatest(needs)] if known else []
    except TooMany:
        return "a quantifier has too many rows to try"
    solver: Z3 = encoding.z3.Solver(ctx=encoding.context)
    solver.set("timeout", _MILLISECONDS)
    solver.add(encoding.said)
    limit, slack = encoding.number(bound), encoding.number(_EPS)
    solver.add(goal < limit - slack if side == "lower" else goal > limit + slack)
    status = str(solver.check())
    if status == "unsat":
        return None
    return "a world of its premises has another truth" if status == "sat" else "the solver could not tell in time"


def _need(encoding: SolverEncoding, rule: Form, lower: float) -> Z3 | None:
    (w, v), (body, head) = rule.weights, rule.operands
    plain = (w, v, rule.bias) == (1, 1, 1) and _plain(head)
    weighted = rule.name == "lukasiewicz" and head.kind == "atom" and w > 0 and v > 0
    if not plain and not weighted:
        return None
    if lower <= 0:
        return encoding.number(0.0)
    x, least = encoding.truth(body), encoding.number(lower)
    match rule.name:
        case "lukasiewicz":  # 1 - bias + w (1 - x) + v head >= lower
            short = least - 1 + encoding.number(rule.bias) - encoding.number(w) * (1 - x)
            return encoding.clamp(short / encoding.number(v))
        case "godel":
            return encoding.least([x, least])
        case "product":
            return least * x
    return None


def _plain(head: Form) -> bool:
    """Whether a consequent is an atom, or an unweighted conjunction of atoms."""
    if head.kind == "atom":
        return True
    same = head.kind == "and" and head.bias == 1 and all(weight == 1 for weight in head.weights)
    return same and all(map(_plain, head.operands))
