"""Formulas with truth degrees for Z3: linear real arithmetic in Lukasiewicz and Goedel logic, nonlinear in product
logic.

A truth is a rational constant or a real expression in [0, 1]; connectives are those of ``lnnkit.logic`` at a point. The
truth of a connective that is not algebraic (a product with a bias, a root of high degree) and of a soft comparison is
an unknown within its bounds, which is sound but weaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lnnkit.numeric import Comparison
from lnnkit.prove.encoding.arithmetic_encoding import ArithmeticEncoding
from lnnkit.prove.ground.dependency_cone import Definition
from lnnkit.prove.ground.ground_reading import GroundReading, Instance
from lnnkit.prove.ground.known_values import Key
from lnnkit.prove.ground.parts import Assignment, Blanket, Part
from lnnkit.prove.ground.point_arithmetic import rational
from lnnkit.prove.ground.unfounded import Loop, antecedent
from lnnkit.prove.solving import Z3

Truth = Fraction | Z3
ZERO, ONE = Fraction(0), Fraction(1)
_GRID = 9  # a bound within rounding of a number with this many decimals is read as that number
_ROUNDED = 1e-13
_WIDER = 1e-12  # other bounds are widened by this, since they were rounded
_ROOT = 4  # the greatest denominator of an exponent


class GradedEncoding:
    """``folded``: settled bounds become constants; otherwise only closed-world defaults do. Every constraint is widened
    by ``slack``, so that a program that is contradictory only by rounding stays satisfiable. ``asides`` of the
    arithmetic hold definitions; ``loose`` says whether anything was left open."""

    def __init__(
        self,
        z3: Z3,
        context: Z3,
        reading: GroundReading,
        arithmetic: ArithmeticEncoding,
        *,
        folded: bool,
        slack: Fraction = ZERO,
    ) -> None:
        self.z3 = z3
        self.context = context
        self.atoms: dict[Key, Z3] = {}
        self.closed: set[str] = set()  # closed predicates for which it was used that unlisted atoms are false
        self.arithmetic = arithmetic
        self.nonlinear = False
        self.loose = False
        self._reading = reading
        self._known = reading.known
        self._folded = folded
        self._slack = slack
        self._fresh = 0

    # --- what is asserted -------------------------------------------------------------------------------------------

    def held(self, item: Instance | Definition | Loop | Blanket) -> Z3 | bool:
        """The constraint that an instance of a statement, or the definition of a completed atom, holds."""
        if isinstance(item, Instance):
            return self.within(item.stated.part, item.bindings, item.stated.lower, item.stated.upper)
        if isinstance(item, Loop | Blanket):
            return True
        needs = [self._needed(rule, head) for rule, head in item.rules]
        if any(need is None for need in needs):
            self.loose = True
            return True
        found: Truth = ZERO
        for need in needs:
            found = self._greater(found, need)
        return self._equal(self.atom(item.key), found)

    def within(self, part: Part, bindings: Assignment, lower: float, upper: float) -> Z3 | bool:
        """The constraint that the truth of a statement is in ``[lower, upper]``."""
        said: list[Z3 | bool] = []
        found = self._unclamped(part, bindings)
        least, most = rational(lower) - self._slack, rational(upper) + self._slack
        if least > 0:
            said.append(self.at_least(found, least))
        if most < 1:
            said.append(self.at_most(found, most))
        return self._all(said)

    def said(self, key: Key, end: int, value: float) -> Z3 | bool:
        """The constraint that an atom's end is at least as tight as ``value``."""
        made = self.atom(key)
        return self.at_most(made, self.end(value, 1)) if end else self.at_least(made, self.end(value, 0))

    def ends(self, key: Key) -> list[Z3 | bool]:
        """The known bounds of an atom that is a variable, as constraints."""
        low, high = self._known.box(key)
        return [self.said(key, 0, low), self.said(key, 1, high)]

    # --- formulas ---------------------------------------------------------------------------------------------------

    def truth(self, part: Part, bindings: Assignment) -> Truth:
        """The truth of a formula."""
        match part.kind:
            case "true" | "false":
                return ONE if part.kind == "true" else ZERO
            case "same":
                one, other = part.arguments(bindings)
                return ONE if one == other else ZERO
            case "atom":
                return self._atom(part, bindings)
            case "compare":
                return self._comparison(part, bindings)
            case "forall" | "exists":
                return self._quantifier(part, bindings)
            case "not":
                return self._less(ONE, self.truth(part.operands[0], bindings))
        return self._clamp_of(part, self._unclamped(part, bindings))

    def atom(self, key: Key) -> Truth:
        """An atom about entities with names."""
        if not self._folded and self._known.false_by_closure(key):
            self.closed.add(key[0])
            return ZERO
        if self._folded and self._known.settled(key):
            exact = _on_grid(self._known.box(key)[0])
            if exact is not None:
                return exact
        if key not in self.atoms:
            made = self.z3.Real(f"{key[0]}({', '.join(key[1])})", self.context)
            self.atoms[key] = made
            self.arithmetic.asides += [made >= 0, made <= 1]
            if self._folded:
                self.arithmetic.asides += [each for each in self.ends(key) if each is not True]
        return self.atoms[key]

    # --- connectives ------------------------------------------------------------------------------------------------

    def _unclamped(self, part: Part, bindings: Assignment) -> Truth:
        """The truth of a formula before clamping: enough for bounds within (0, 1)."""
        if part.kind not in ("and", "or", "implies", "iff", "xor"):
            return self.truth(part, bindings)
        x = [self.truth(operand, bindings) for operand in part.operands]
        weights, bias = [rational(weight) for weight in part.weights], rational(part.bias)
        if part.name == "lukasiewicz":
            return self._lukasiewicz(part.kind, weights, bias, x)
        combine = self._godel if part.name == "godel" else self._product
        return combine(part, part.kind, weights, bias, x, bindings)

    def _clamp_of(self, part: Part, value: Truth) -> Truth:
        """The value clamped to [0, 1], on the sides where its weights make that necessary."""
        if part.name != "lukasiewicz":
            return value
        if isinstance(value, Fraction):
            return min(ONE, max(ZERO, value))
        weights, bias = sum(map(rational, part.weights)), rational(part.bias)
        named = self._named(value)
        lowest = {"and": bias - weights, "or": 1 - bias, "implies": 1 - bias}.get(part.kind, Fraction(-1))
        highest = {"and": bias, "or": 1 - bias + weights, "implies": 1 - bias + weights}.get(part.kind, Fraction(2))
        z3, found = self.z3, named
        if highest > 1:
            found = z3.If(named > 1, self._number(ONE), found)
        if lowest < 0:
            found = z3.If(named < 0, self._number(ZERO), found)
        return found

    def _lukasiewicz(self, kind: str, w: Sequence[Fraction], b: Fraction, x: Sequence[Truth]) -> Truth:
        match kind:
            case "and":
                return self._sum(b - sum(w), [(weight, each) for weight, each in zip(w, x, strict=True)])
            case "or":
                return self._sum(1 - b, [(weight, each) for weight, each in zip(w, x, strict=True)])
            case "implies":
                return self._sum(1 - b + w[0], [(-w[0], x[0]), (w[1], x[1])])
        there = self._sum(1 - b + w[0], [(-w[0], x[0]), (w[1], x[1])])
        back = self._sum(1 - b + w[1], [(-w[1], x[1]), (w[0], x[0])])
        least = self._smaller(there, back)
        return least if kind == "iff" else self._less(ONE, least)

    def _godel(
        self, part: Part, kind: str, w: Sequence[Fraction], b: Fraction, x: Sequence[Truth], bindings: Assignment
    ) -> Truth:
        match kind:
            case "and":
                found: Truth = min(b, ONE)
                for weight, each in zip(w, x, strict=True):
                    found = self._smaller(found, self._sum(b - weight, [(weight, each)]))
                return self._positive(found)
            case "or":
                return self._less(ONE, self._godel(part, "and", w, b, [self._less(ONE, each) for each in x], bindings))
            case "implies":
                left = self._cut(self._sum(b - w[0], [(w[0], x[0])]))
                right = self._cut(self._sum(1 - w[1], [(w[1], x[1])]))
                fallen = self._cut(self._sum(1 - b, [(ONE, right)]))
                return self._if(self.at_most(left, right), ONE, fallen)
        there = self._godel(part, "implies", w, b, x, bindings)
        back = self._godel(part, "implies", w[::-1], b, x[::-1], bindings)
        least = self._smaller(there, back)
        return least if kind == "iff" else self._less(ONE, least)

    def _product(
        self, part: Part, kind: str, w: Sequence[Fraction], b: Fraction, x: Sequence[Truth], bindings: Assignment
    ) -> Truth:
        if b != 1 or any(weight.denominator > _ROOT or weight > 2 * _ROOT for weight in w):
            return self._unknown(part, bindings)
        match kind:
            case "and":
                found: Truth = ONE
                for weight, each in zip(w, x, strict=True):
                    found = self._times(found, self._power(each, weight))
                return found
            case "or":
                complements = [self._less(ONE, each) for each in x]
                return self._less(ONE, self._product(part, "and", w, b, complements, bindings))
            case "implies":
                return self._quotient(self._power(x[1], w[1]), self._power(x[0], w[0]))
        there = self._product(part, "implies", w, b, x, bindings)
        back = self._product(part, "implies", w[::-1], b, x[::-1], bindings)
        least = self._smaller(there, back)
        return least if kind == "iff" else self._less(ONE, least)

    # --- other kinds ------------------------------------------------------------------------------------------------

    def _atom(self, part: Part, bindings: Assignment) -> Truth:
        key = self._reading.key(part, bindings)
        assert key is not None
        return self.atom(key)

    def _comparison(self, part: Part, bindings: Assignment) -> Truth:
        keys = [self._reading.key(operand, bindings) for operand in part.operands]
        values = [self.arithmetic.number(key) for key in keys if key is not None]
        assert isinstance(part.arithmetic, Comparison)
        found = self.arithmetic.comparison(part.arithmetic, values)
        if found is None:
            return self._unknown(part, bindings)
        return self._if(found, ONE, ZERO)

    def _quantifier(self, part: Part, bindings: Assignment) -> Truth:
        """The minimum or the maximum of the rows; over an open sort, an unknown bounded by it."""
        (body,) = part.operands
        forall = part.kind == "forall"
        found = ONE if forall else ZERO
        for row in self._reading.rows(part, bindings):
            own = self.truth(body, row)
            found = self._smaller(found, own) if forall else self._greater(found, own)
        guards = {guard.name for guard in part.guards.get("body", ()) if guard.kind == "atom"}
        self.closed |= {name for name in guards if self._known.program.predicates[name].closed}
        if not any(self._known.is_open(sort) for _, sort in part.bound):
            return found
        self.loose = True
        made = self._fresh_truth()
        self.arithmetic.asides.append(self._lifted(self.at_most(made, found) if forall else self.at_least(made, found)))
        return made

    def _needed(self, rule: Instance, head: Part) -> Truth | None:
        """The least truth of the head for which a rule holds; None if it has no closed form here."""
        part, lower = rule.stated.part, rational(rule.stated.lower)
        plain = part.bias == 1 and all(weight == 1 for weight in part.weights)
        weighted = part.name == "lukasiewicz" and part.operands[1].kind == "atom" and min(part.weights) > 0
        if not (plain and _plain_conjunction(part.operands[1])) and not weighted:
            return None
        if lower <= 0:
            return ZERO
        x = self.truth(antecedent(rule), rule.bindings)
        if weighted:  # 1 - bias + w (1 - x) + v head >= lower
            w, v = map(rational, part.weights)
            return self._positive(self._sum((lower - 1 + rational(part.bias) - w) / v, [(w / v, x)]))
        match part.name:
            case "lukasiewicz":
                return self._positive(self._sum(lower - 1, [(ONE, x)]))
            case "godel":
                return self._smaller(x, lower)
        return self._times(lower, x)

    def _unknown(self, part: Part, bindings: Assignment) -> Truth:
        low, high = self._reading.box(part, bindings)
        self.loose = True
        made = self._fresh_truth()
        self.arithmetic.asides += [made >= self._number(self.end(low, 0)), made <= self._number(self.end(high, 1))]
        return made

    # --- arithmetic -------------------------------------------------------------------------------------------------

    def end(self, value: float, end: int) -> Fraction:
        """A lower (0) or upper (1) bound as a rational: the decimal number that the float stands for, or a little
        wider."""
        exact = _on_grid(value)
        wider = self._slack if exact is not None else self._slack + rational(_WIDER)
        exact = rational(value) if exact is None else exact
        return min(ONE, exact + wider) if end else max(ZERO, exact - wider)

    def _number(self, value: Fraction) -> Z3:
        return self.arithmetic.real(value)

    def _expression(self, value: Truth) -> Z3:
        return self._number(value) if isinstance(value, Fraction) else value

    def _lifted(self, value: Z3 | bool) -> Z3:
        return self.z3.BoolVal(value, self.context) if isinstance(value, bool) else value

    def _fresh_truth(self) -> Z3:
        self._fresh += 1
        made = self.z3.Real(f"?truth {self._fresh}", self.context)
        self.arithmetic.asides += [made >= 0, made <= 1]
        return made

    def _named(self, value: Z3) -> Z3:
        """A variable equal to a sum, so that a clamp mentions the sum once."""
        self._fresh += 1
        made = self.z3.Real(f"?sum {self._fresh}", self.context)
        self.arithmetic.asides.append(made == value)
        return made

    def _sum(self, constant: Fraction, terms: Sequence[tuple[Fraction, Truth]]) -> Truth:
        found: list[Z3] = []
        for weight, each in terms:
            if isinstance(each, Fraction):
                constant += weight * each
            elif weight:
                found.append(each if weight == 1 else self._number(weight) * each)
        if not found:
            return constant
        return self.z3.Sum([*found, self._number(constant)] if constant else found)

    def _less(self, one: Fraction, other: Truth) -> Truth:
        return one - other if isinstance(other, Fraction) else self._number(one) - other

    def at_least(self, one: Truth, other: Truth) -> Z3 | bool:
        """``one >= other``."""
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return one >= other
        return self._expression(one) >= self._expression(other)

    def at_most(self, one: Truth, other: Truth) -> Z3 | bool:
        """``one <= other``."""
        return self.at_least(other, one)

    def _equal(self, one: Truth, other: Truth) -> Z3 | bool:
        """Equality up to the slack."""
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return abs(one - other) <= max(self._slack, rational(_WIDER))
        if not self._slack:
            return self._expression(one) == self._expression(other)
        gap, slack = self._expression(one) - self._expression(other), self._number(self._slack)
        return self.z3.And(gap <= slack, -gap <= slack)

    def _smaller(self, one: Truth, other: Truth) -> Truth:
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return min(one, other)
        return self._if(self.at_most(one, other), one, other)

    def _greater(self, one: Truth, other: Truth) -> Truth:
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return max(one, other)
        return self._if(self.at_least(one, other), one, other)

    def _positive(self, value: Truth) -> Truth:
        return self._greater(value, ZERO)

    def _cut(self, value: Truth) -> Truth:
        return self._smaller(ONE, self._positive(value))

    def _if(self, condition: Z3 | bool, one: Truth, other: Truth) -> Truth:
        if isinstance(condition, bool):
            return one if condition else other
        return self.z3.If(condition, self._expression(one), self._expression(other))

    def _all(self, said: Sequence[Z3 | bool]) -> Z3 | bool:
        if any(each is False for each in said):
            return False
        found = [each for each in said if not isinstance(each, bool)]
        return self.z3.And(found) if found else True

    def _times(self, one: Truth, other: Truth) -> Truth:
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return one * other
        for factor, rest in ((one, other), (other, one)):
            if isinstance(factor, Fraction):
                return ZERO if factor == 0 else rest if factor == 1 else self._number(factor) * rest
        self.nonlinear = True
        return one * other

    def _power(self, base: Truth, exponent: Fraction) -> Truth:
        if exponent == 0:
            return ONE
        found: Truth = ONE
        for _ in range(exponent.numerator):
            found = self._times(found, base)
        if exponent.denominator == 1:
            return found
        self.nonlinear = True
        root = self._fresh_truth()  # root ^ denominator = base ^ numerator
        power: Truth = ONE
        for _ in range(exponent.denominator):
            power = self._times(power, root)
        self.arithmetic.asides.append(self._expression(power) == self._expression(found))
        return root

    def _quotient(self, dividend: Truth, divisor: Truth) -> Truth:
        """``1`` where the dividend is no less than the divisor, else their quotient."""
        if isinstance(dividend, Fraction) and isinstance(divisor, Fraction):
            return ONE if dividend >= divisor else dividend / divisor
        if isinstance(divisor, Fraction):
            if divisor == 0:
                return ONE
            return self._smaller(ONE, self._number(1 / divisor) * dividend)
        self.nonlinear = True
        made = self._fresh_truth()
        reached = self._lifted(self.at_least(dividend, divisor))
        quotient = made * divisor == self._expression(dividend)
        self.arithmetic.asides.append(self.z3.If(reached, made == 1, quotient))
        return made


def _on_grid(value: float) -> Fraction | None:
    """The decimal number with few digits that a bound is up to rounding; None if there is none."""
    near = round(value, _GRID)
    return rational(near) if abs(near - value) <= _ROUNDED else None


def _plain_conjunction(part: Part) -> bool:
    """Whether a consequent is an atom, or a conjunction of atoms without weights."""
    if part.kind == "atom":
        return True
    plain = part.kind == "and" and part.bias == 1 and all(weight == 1 for weight in part.weights)
    return plain and all(_plain_conjunction(operand) for operand in part.operands)
