"""Checks an exact step: whether its bound follows from its premises together, by the solver. Forms become Z3's by the
truth function of each connective, as in the manual's semantics. Independent of `lnnkit.prove`. Arithmetic that it does
not support, and a connective of a logic that it does not know, become unknown truths: then the step is not verified."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

from lnnkit.check.program import Assertion
from lnnkit.explain.checker.ground_form import Form, bound_sorts, filled
from lnnkit.explain.checker.proof_world import Box, InvalidStep, ProofWorld, demand
from lnnkit.explain.proof.proof import Step
from lnnkit.numeric import NO_VALUE, Comparison, Constant, Fixed, Input, Term
from lnnkit.syntax.identifiers import COMPARISONS

Z3 = Any  # z3 has no type hints
FormBounds = Callable[[Form], Box]
_DECIMALS, _NEAR = 9, 1e-13  # A bound this near to a decimal number of this many digits is that number;
_ROUNDED = 1e-12  # other bounds are widened by this much, since inference may have rounded them.
_ROWS = 100_000  # rows of a quantifier
_POWER = 16  # the greatest exponent
_EPS = 1e-9  # tolerance of a truth
_MILLISECONDS = 20_000


@dataclass(frozen=True)
class CompletedAtom:
    """A completed ``atom``: the least truth for which its rules' ``instances``, each with its lower truth, hold."""

    atom: Form
    statements: Sequence[Assertion]
    instances: Sequence[tuple[Form, float]]


class _Encoding:
    """Truths as real expressions; ``said`` are the constraints on their variables so far. Atoms lie in the bounds that
    are ``read`` of them."""

    def __init__(self, z3: Z3, world: ProofWorld, read: FormBounds) -> None:
        self.z3, self.context = z3, z3.Context()
        self.said: list[Z3] = []
        self._world = world
        self._read = read
        self._variables: dict[Form, Z3] = {}
        self._names = itertools.count(1)

    def number(self, value: float | Fraction) -> Z3:
        """A constant: the decimal number that the float prints as."""
        exact = value if isinstance(value, Fraction) else _exact(value)
        return self.z3.RealVal(f"{exact.numerator}/{exact.denominator}", self.context)

    def truth(self, form: Form) -> Z3:
        """The truth of a formula without free variables. Raises `InvalidStep` for a quantifier over too many rows."""
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

    def unknown(self) -> Z3:
        """A new unconstrained truth."""
        return self._truth(f"?{next(self._names)}")

    def _truth(self, name: str) -> Z3:
        made = self.z3.Real(name, self.context)
        self.said += [made >= 0, made <= 1]
        return made

    def _atom(self, form: Form) -> Z3:
        if form not in self._variables:
            name = f"{form.name}({', '.join(map(str, form.terms))})"
            numeric = self._world.program.predicates[form.name].numeric
            made = self._variables[form] = self.z3.Real(name, self.context) if numeric else self._truth(name)
            self.said += self.within(made, self._read(form))
        return self._variables[form]

    def _comparison(self, form: Form) -> Z3:
        arithmetic = form.arithmetic
        assert isinstance(arithmetic, Comparison)
        if not isinstance(arithmetic.relation, Fixed) or arithmetic.relation.scale:
            return self.unknown()
        there: list[Z3] = []  # what both terms need to have a value
        numbers = [self._number(operand, there) for operand in form.operands]
        left, right = (self._term(side, numbers, there) for side in (arithmetic.left, arithmetic.right))
        if left is None or right is None:
            return self.unknown()
        holds = COMPARISONS[arithmetic.relation.sign](left, right)
        return self.z3.If(self.z3.And(*there, holds), self.number(1.0), self.number(0.0))

    def _number(self, form: Form, there: list[Z3]) -> Z3 | None:
        """A number, a term or an aggregate; None if it is not supported."""
        if isinstance(form.arithmetic, Term):
            return self._term(form.arithmetic, [self._number(operand, there) for operand in form.operands], there)
        if self._is_unlisted(form):
            return None
        return self._aggregate(form, there) if form.count else self._atom(form)

    def _is_unlisted(self, form: Form) -> bool:
        """Whether it is a closed number without a value."""
        return form.kind == "atom" and self._read(form) == NO_VALUE

    def _aggregate(self, form: Form, there: list[Z3]) -> Z3 | None:
        """An aggregate; None where unnamed individuals are possible. An element without a value is left out."""
        condition, *term = form.operands
        if self._open(form):
            return None
        total = weight = best = self.number(0.0)
        some = self.z3.BoolVal(False, self.context)
        for row in self._named_rows(form):
            needs: list[Z3] = []
            numbers = [filled(part, row) for part in (term[0].operands if term[0].arithmetic else term)] if term else []
            if any(map(self._is_unlisted, numbers)):
                continue
            value = self._number(filled(term[0], row), needs) if term else self.number(1.0)
            if value is None:
                return None
            truth = self.truth(filled(condition, row))
            truth = self.z3.If(self.z3.And(needs), truth, self.number(0.0)) if needs else truth
            total, weight = total + truth * value, weight + truth
            beyond = value > best if form.kind == "max" else value < best
            best = self.z3.If(self.z3.And(truth > 0, self.z3.Or(self.z3.Not(some), beyond)), value, best)
            some = self.z3.Or(some, truth > 0)
        if form.kind in ("count", "sum"):
            return weight if form.kind == "count" else total
        there.append(some)
        return total / weight if form.kind == "mean" else best

    def _term(self, term: Term, numbers: Sequence[Z3 | None], there: list[Z3]) -> Z3 | None:
        built: list[Z3 | None] = []
        constants: dict[int, float] = {}
        for place, step in enumerate(term.steps):
            if isinstance(step, Input):
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
            case "subtract" | "negate":
                return x[0] - x[1] if operation == "subtract" else -x[0]
            case "multiply":
                return self.z3.Product(list(x))
            case "abs":
                return self.z3.If(x[0] >= 0, x[0], -x[0])
            case "floor" | "ceil":
                return self._floor(x[0]) if operation == "floor" else -self._floor(-x[0])
            case "round":
                half = self.number(0.5)
                return self.z3.If(x[0] >= 0, self._floor(x[0] + half), -self._floor(half - x[0]))
            case "least" | "greatest":
                before = operator.le if operation == "least" else operator.ge
                return reduce(lambda one, other: self.z3.If(before(one, other), one, other), x)
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

    def _floor(self, value: Z3) -> Z3:
        return self.z3.ToReal(self.z3.ToInt(value))

    def _named_rows(self, form: Form) -> Iterator[tuple[str, ...]]:
        """The entities of the variables that a quantifier or an aggregate binds."""
        members = [self._world.sorts[sort] for sort in bound_sorts(form, self._world.program.predicates)]
        demand(math.prod(map(len, members)) <= _ROWS, "a quantifier has too many rows to try")
        return itertools.product(*members)

    def _open(self, form: Form) -> bool:
        """Whether they may be unnamed individuals."""
        return any(self._world.unnamed(sort, "") for sort in bound_sorts(form, self._world.program.predicates))

    def _quantifier(self, form: Form) -> Z3:
        rows = [self.truth(filled(form.operands[0], row)) for row in self._named_rows(form)]
        truth = self.least(rows) if form.kind == "forall" else self.greatest(rows)
        if not self._open(form):
            return truth
        others = self.unknown()  # Unnamed individuals are possible.
        self.said.append(others <= truth if form.kind == "forall" else others >= truth)
        return others

    def _connective(self, kind: str, logic: str, w: list[Fraction], b: Fraction, x: list[Z3]) -> Z3:
        match kind:
            case "or":
                return 1 - self._connective("and", logic, w, b, [1 - truth for truth in x])
            case "iff":
                return self.least([self._connective("implies", logic, w[::s], b, x[::s]) for s in (1, -1)])
        weights = list(map(self.number, w))
        match logic, kind:
            case "lukasiewicz", "and":
                lost = [v * (1 - truth) for v, truth in zip(weights, x, strict=True)]
                return self.clamp(self.number(b) - self.z3.Sum(lost))
            case "lukasiewicz", _:
                return self.clamp(self.number(1 - b) + weights[0] * (1 - x[0]) + weights[1] * x[1])
            case "godel", "and":
                bounded = [self.number(b) - v * (1 - truth) for v, truth in zip(weights, x, strict=True)]
                return self.clamp(self.least([self.number(b), *bounded]))
            case "godel", _:
                low = self.clamp(self.number(b) - weights[0] * (1 - x[0]))
                high = self.clamp(1 - weights[1] * (1 - x[1]))
                return self.z3.If(low <= high, self.number(1.0), self.clamp(high + self.number(1 - b)))
            case "product", _ if b == 1 and all(v.denominator == 1 and 0 <= v <= _POWER for v in w):
                one = self.number(1.0)
                powers = [self.z3.Product([truth] * int(v)) if v else one for v, truth in zip(w, x, strict=True)]
                if kind == "and":
                    return self.z3.Product(powers) if len(powers) > 1 else powers[0]
                bottom, top = powers
                quotient = self.unknown()
                self.said.append(self.z3.If(top >= bottom, quotient == 1, quotient * bottom == top))
                return quotient
        return self.unknown()

    def completion(self, completed: CompletedAtom) -> list[Z3]:
        """The constraint that an atom is the least truth for which its rules hold, where this is supported."""
        needs = [self._need(rule, lower) for rule, lower in completed.instances]
        return [] if any(need is None for need in needs) else [self.truth(completed.atom) == self.greatest(needs)]

    def _need(self, rule: Form, lower: float) -> Z3 | None:
        """The truth that an instance of a rule needs of its head."""
        (w, v), (body, head) = rule.weights, rule.operands
        plain = (w, v, rule.bias) == (1, 1, 1) and _plain(head)
        weighted = rule.name == "lukasiewicz" and head.kind == "atom" and w > 0 and v > 0
        if not plain and not weighted:
            return None
        if lower <= 0:
            return self.number(0.0)
        x, least = self.truth(body), self.number(lower)
        match rule.name:
            case "lukasiewicz":  # 1 - bias + w (1 - x) + v head >= lower
                short = least - 1 + self.number(rule.bias) - self.number(w) * (1 - x)
                return self.clamp(short / self.number(v))
            case "godel":
                return self.least([x, least])
            case "product":
                return least * x
        return None


def _plain(head: Form) -> bool:
    """Whether a consequent is an atom, or an unweighted conjunction of atoms."""
    same = head.kind == "and" and head.bias == 1 and all(weight == 1 for weight in head.weights)
    return head.kind == "atom" or (same and all(map(_plain, head.operands)))


def _exact(value: float) -> Fraction:
    return Fraction(repr(float(value)))


def _widened(bound: float, sign: int) -> Fraction:
    near = round(bound, _DECIMALS)
    return _exact(near) if abs(near - bound) <= _NEAR else _exact(bound) + sign * _exact(_ROUNDED)


def check_exact(
    step: Step, world: ProofWorld, read: FormBounds, stated: Mapping[Form, Box], completed: Sequence[CompletedAtom]
) -> None:
    """Raises `InvalidStep` unless the bound of a step follows from what is ``read`` of atoms, bounds ``stated`` for
    formulas, and ``completed`` atoms."""
    try:
        import z3 as module
    except ImportError:
        raise InvalidStep("it can be checked with the package z3-solver alone, which is not installed") from None
    z3: Z3 = module
    encoding = _Encoding(z3, world, read)
    goal = encoding.truth(world.form(step.conclusion))
    for form, box in stated.items():
        encoding.said += encoding.within(encoding.truth(form), box)
    for atom in completed:
        encoding.said += encoding.completion(atom)
    solver = z3.Solver(ctx=encoding.context)
    solver.set("timeout", _MILLISECONDS)
    solver.add(encoding.said)
    limit, slack = encoding.number(step.bound), encoding.number(_EPS)
    solver.add(goal < limit - slack if step.side == "lower" else goal > limit + slack)
    status = str(solver.check())
    demand(status != "sat", "a world of its premises has another truth")
    demand(status == "unsat", "the solver could not tell in time")
