"""Formulas with truth degrees for Z3: linear real arithmetic in Lukasiewicz and Goedel logic, nonlinear in product
logic.

A truth is a rational constant or a real expression in [0, 1]; connectives are those of ``lnnkit.logic`` at a point. The
truth of a connective that is not algebraic (a product with a bias, a root of high degree) and of a soft comparison is
an unknown within its bounds, which is sound but weaker.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from itertools import count

from lnnkit.explain.proof.sufficient_premises import minimal
from lnnkit.logic import logic_named, truth_at
from lnnkit.logic.logic import TruthValue
from lnnkit.numeric import Comparison, Term
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading
from lnnkit.prove.ground.parts import Assignment, BoundedStatement, Instance, Part
from lnnkit.prove.ground.relevant_instances import Definition, Loop
from lnnkit.prove.rational_terms import ONE, ZERO, ArithmeticEncoding, Box, NotListed, NotRational, NoValue, rational
from lnnkit.prove.solving import Z3, fraction

Constraint = Instance | Definition | Loop | BoundedStatement  # a statement about unnamed individuals alone
_GRID = 9  # a bound within rounding of a number with this many decimals is read as that number
_ROUNDED = 1e-13
_WIDER = 1e-12  # other bounds are widened by this, since they were rounded
_ROOT = 4  # the greatest denominator of an exponent
# Rows of a quantifier up to which a core says why a rule derives none of the others. Two forall over pairs with a
# recursive guard take .14 and 1.3 CPU s for 81 rows; .03 and .04 where its rules and declaration are named alone
_ROWS = 16


class GradedEncoding(ArithmeticEncoding):
    """Encodes formulas. ``folded``: settled bounds become constants; otherwise only
    closed-world defaults do. Every constraint is widened by ``slack``, so that a program that is contradictory only by
    rounding stays satisfiable. Numbers with ``whole`` names are integers. ``loose``: whether anything was left open."""

    zero: TruthValue = ZERO
    one: TruthValue = ONE

    def __init__(
        self, reading: GroundReading, whole: Collection[str] = (), *, folded: bool, slack: Fraction = ZERO
    ) -> None:
        super().__init__(reading.box, whole, folded=folded)
        self.atoms: dict[GroundAtom, Z3] = {}
        self.closed: set[str] = set()  # closed predicates for which it was used that unlisted atoms are false
        self.loose = False
        self._known = reading
        self._slack = slack
        self._fresh = count(1)

    def held(self, item: Constraint) -> Z3 | bool:
        """The constraint that an item holds."""
        match item:
            case Instance():
                return self._within(item.stated, item.bindings)
            case Definition():
                needs = [self._needed(rule) for rule in item.rules]
                if all(need is not None for need in needs):
                    return self._equal(self.atom(item.key), self._greatest(needs))
                self.loose = True
        return True

    def said(self, key: GroundAtom, end: int, value: float) -> Z3 | bool:
        """The constraint that the lower (0) or upper (1) end of an atom or number is at least as tight as ``value``."""
        if self._known.program.predicates[key[0]].numeric:
            self.number(key)
            return self.at_end(key, end, value)
        return self._limited(self.atom(key), end, value)

    def beyond(self, truth: TruthValue, end: int, limit: Fraction) -> Z3 | bool:
        """The constraint that a truth is at most (0) or at least (1) the limit."""
        return self.at_least(truth, limit) if end else self.at_least(limit, truth)

    def _within(self, stated: BoundedStatement, bindings: Assignment) -> Z3 | bool:
        """The constraint that the truth of a statement is within its bounds."""
        truth = self._unclamped(stated.part, bindings)
        least, most = rational(stated.lower) - self._slack, rational(stated.upper) + self._slack
        said = [least <= 0 or self.at_least(truth, least), most >= 1 or self.at_least(most, truth)]
        if any(constraint is False for constraint in said):
            return False
        open_ones = [constraint for constraint in said if constraint is not True]
        return self.z3.And(open_ones) if open_ones else True

    def truth(self, part: Part, bindings: Assignment) -> TruthValue:
        """The truth of a formula."""
        if part.bound:
            return self._quantifier(part, bindings)
        match part.kind:
            case "true" | "false":
                return self.one if part.kind == "true" else self.zero
            case "same":
                return self._same(*part.arguments(bindings))
            case "atom":
                key = self._known.key(part, bindings)
                return self._applied(part, bindings) if key is None else self.atom(key)
            case "compare":
                return self._comparison(part, bindings)
            case "not":
                return self.negated(self.truth(part.operands[0], bindings))
        return self._compound(part, bindings)

    def atom(self, key: GroundAtom) -> TruthValue:
        """An atom about named entities."""
        if not self._folded and self._known.false_by_closure(key):
            self.closed.add(key[0])
            return self.zero
        settled = self._settled(key) if self._folded else None
        if settled is None and key not in self.atoms:
            box = self._known.box(key) if self._folded else None
            self.atoms[key] = self._variable(f"{key[0]}({', '.join(key[1])})", box)
        return self.atoms[key] if settled is None else settled

    def negated(self, truth: TruthValue) -> TruthValue:
        """The truth of the negation."""
        return ONE - truth

    def _settled(self, key: GroundAtom) -> TruthValue | None:
        """The truth of an atom as a constant, if inference has settled it."""
        return _on_grid(self._known.box(key)[0]) if self._known.settled(key) else None

    def _variable(self, name: str, box: Box | None = None) -> Z3:
        """A truth that is not known, or known to be within ``box``."""
        made = self.z3.Real(name, self.context)
        self.asides += [made >= 0, made <= 1]
        self.asides += [self._limited(made, end, value) for end, value in enumerate(box or ())]
        return made

    def _same(self, one: object, other: object) -> TruthValue:
        return self._crisp(one == other if isinstance(one, str) == isinstance(other, str) else False)

    def _comparison(self, part: Part, bindings: Assignment) -> TruthValue:
        if part.concluded and not part.total and self._known.compared(part, bindings) is None:
            return self.one
        there: list[Z3] = []
        self._bound = False
        assert isinstance(part.arithmetic, Comparison)
        try:
            values = [self._value(operand, bindings, there) for operand in part.operands]
            return self._crisp(self.comparison(part.arithmetic, values, there))
        except NotRational:
            return self._enclosed(part, bindings)
        except NotListed:
            return self._unknown(part, bindings)
        except NoValue:
            return self.zero

    def _value(self, part: Part, bindings: Assignment, there: list[Z3]) -> Fraction | Z3:
        """A number, a term or an aggregate, where all of ``there`` holds, to which this adds. Raises `NoValue`,
        `NotRational`."""
        if part.bound:
            return self._aggregate(part, bindings, there)
        if isinstance(part.arithmetic, Term):
            return self.term(
                part.arithmetic, [self._value(operand, bindings, there) for operand in part.operands], there
            )
        key = self._known.key(part, bindings)
        if self._known.without_value(part.name, key):
            self.closed.add(part.name)
            raise NotListed
        self._bound |= key is None
        return self._applied(part, bindings) if key is None else self.number(key)

    def _aggregate(self, part: Part, bindings: Assignment, there: list[Z3]) -> Fraction | Z3:
        """The aggregate of the elements that have a value. Raises as `_value`."""
        condition, term = part.operands
        elements: list[tuple[TruthValue, Fraction | Z3]] = []
        for row in self._rows(part, bindings):
            needs: list[Z3] = []
            with suppress(NoValue):
                value, truth = self._value(term, row, needs), self.truth(condition, row)
                elements.append((self._if(self.z3.And(needs), truth, self.zero) if needs else truth, value))
        if part.kind in ("min", "max"):
            return self._end_of(elements, part.kind == "max", there)
        total = self._weighted_sum(elements)
        if part.kind != "mean":
            return total
        return self._mean(total, self._weighted_sum([(truth, ONE) for truth, _ in elements]), len(elements), there)

    def _weighted_sum(self, elements: Iterable[tuple[TruthValue, Fraction | Z3]]) -> Fraction | Z3:
        return self.sum(ZERO, ((ONE, self.weighed(truth, value), False) for truth, value in elements))

    def weighed(self, truth: TruthValue, value: Fraction | Z3) -> Fraction | Z3:
        """The product of a truth and a value."""
        if isinstance(truth, Fraction) or isinstance(value, Fraction):
            return self.times(truth, value)
        self.multiplied = True
        return truth * value

    def _mean(self, total: Fraction | Z3, weight: Fraction | Z3, _count: int, there: list[Z3]) -> Fraction | Z3:
        self.nonlinear |= not isinstance(weight, Fraction)
        return self._divided(total, weight, there)

    def _end_of(
        self, elements: Sequence[tuple[TruthValue, Fraction | Z3]], greatest: bool, there: list[Z3]
    ) -> Fraction | Z3:
        """The least or the greatest value of the elements whose truth is above 0. Raises `NoValue`."""
        best, some = self.lifted(ZERO), self.lifted(False)
        for truth, value in elements:
            held, one = self.z3.Not(self.lifted(self.beyond(truth, 0, ZERO))), self.lifted(value)
            better = one > best if greatest else one < best
            best = self.z3.If(self.z3.And(held, self.z3.Or(self.z3.Not(some), better)), one, best)
            some = self.z3.Or(some, held)
        some, best = self.z3.simplify(some), self.z3.simplify(best)
        if self.z3.is_false(some):
            raise NoValue
        there += [] if self.z3.is_true(some) else [some]
        return fraction(best) if self.z3.is_rational_value(best) else best

    def _crisp(self, holds: Z3 | bool) -> TruthValue:
        """The truth of what holds or not."""
        return self._if(holds, ONE, ZERO)

    def _applied(self, part: Part, bindings: Assignment) -> Z3:
        """An atom or a number about individuals, unnamed ones among them."""
        raise NotImplementedError

    def _quantifier(self, part: Part, bindings: Assignment) -> TruthValue:
        """The minimum or the maximum of the rows; with those of unnamed individuals, if there may be any."""
        decides, rows = self.zero if part.least else self.one, list[TruthValue]()
        for row in self._rows(part, bindings):
            rows.append(self.truth(part.operands[0], row))
            if rows[-1] is decides:
                return decides
        rows += self._unnamed_rows(part, bindings)
        return self._least(rows) if part.least else self._greatest(rows)

    def _rows(self, part: Part, bindings: Assignment) -> Iterator[Assignment]:
        """The rows of a quantifier or an aggregate about named entities."""
        by_rules = self._folded or math.prod(self._known.count(sort) for _, sort in part.bound) > _ROWS
        yield from self._known.rows(part, bindings, by_rules=by_rules)
        self._note_closed(part, by_rules)

    def _unnamed_rows(self, part: Part, _bindings: Assignment) -> list[TruthValue]:
        """The rows of a quantifier about unnamed individuals: one of unknown truth, if there may be any."""
        if not any(self._known.is_open(sort) for _, sort in part.bound):
            return []
        self.loose = True
        return [self._fresh_truth()]

    def _note_closed(self, part: Part, by_rules: bool = True) -> None:
        """Note that rows which a closed predicate does not list, or ``by_rules`` not derive, are left out."""
        guards = {guard.name for guard in part.row_guards if guard.kind == "atom"}
        guards = guards if by_rules else guards - self._known.derived
        self.closed |= {name for name in guards if self._known.program.predicates[name].closed}

    def _compound(self, part: Part, bindings: Assignment) -> TruthValue:
        """The truth of a connective: clamped to [0, 1], on the sides where its weights make that necessary."""
        value = self._unclamped(part, bindings)
        if not logic_named(part.name).sums:
            return value
        if isinstance(value, Fraction):
            return min(ONE, max(ZERO, value))
        z3, weights, bias = self.z3, sum(map(rational, part.weights)), rational(part.bias)
        clamped = named = self.z3.Real(self._fresh_name("sum"), self.context)  # so that a clamp mentions the sum once
        self.asides.append(named == value)
        lowest = {"and": bias - weights, "or": 1 - bias, "implies": 1 - bias}.get(part.kind, Fraction(-1))
        highest = {"and": bias, "or": 1 - bias + weights, "implies": 1 - bias + weights}.get(part.kind, Fraction(2))
        if highest > 1:
            clamped = z3.If(named > 1, self.lifted(ONE), clamped)
        return z3.If(named < 0, self.lifted(ZERO), clamped) if lowest < 0 else clamped

    def _unclamped(self, part: Part, bindings: Assignment) -> TruthValue:
        """The truth of a formula before clamping: enough for bounds within (0, 1)."""
        if part.kind not in ("and", "or", "implies", "iff"):
            return self.truth(part, bindings)
        weights, bias = [rational(weight) for weight in part.weights], rational(part.bias)
        roots = any(weight.denominator > _ROOT or weight > 2 * _ROOT for weight in weights)
        logic = logic_named(part.name)
        if logic.powers and (bias != 1 or roots):
            return self._enclosed(part, bindings)
        x = [self.truth(operand, bindings) for operand in part.operands]
        return truth_at(logic, self, part.kind, weights, bias, x)

    def _needed(self, rule: Instance) -> TruthValue | None:
        """The least truth of the head for which a rule holds; None if it has no closed form here."""
        part, lower = rule.stated.part, rational(rule.stated.lower)
        logic, one = logic_named(part.name), part.operands[1]
        weighted = logic.sums and one.kind == "atom" and min(part.weights) > 0
        if not (_plain(part) and _plain_conjunction(one)) and not weighted:
            return None
        if lower <= 0:
            return ZERO
        x = self.truth(rule.antecedent, rule.bindings)
        if logic.sums:  # 1 - bias + w (1 - x) + v head >= lower
            w, v = map(rational, part.weights)
            return self._greater(self.sum((lower - 1 + rational(part.bias)) / v, [(-w / v, x, True)]), ZERO)
        return logic.value(self, "and", [ONE, ONE], ONE, [x, lower])  # of which the implication is the residuum

    def _enclosed(self, part: Part, bindings: Assignment) -> TruthValue:
        """A truth that has no expression here. It lies in its known bounds where those of what it reads hold."""
        known, box = self._known, self._known.truth(part, bindings)
        if self._folded and part.arithmetic is not None and box[0] == box[1]:
            return self.one if box[0] else self.zero
        self.loose, made = True, self._unknown(part, bindings)
        limits = [limit for end in (0, 1) if (limit := self._limited(made, end, box[end])) is not True]

        def enough(some: Sequence[tuple[GroundAtom, int]]) -> bool:
            def read(key: GroundAtom) -> Box:
                low, high = ((known.box(key) if (key, end) in some else known.unknown(key[0]))[end] for end in (0, 1))
                return low, high

            return known.truth(part, bindings, read) == box

        ends = [(key, end) for key in known.atoms(part, bindings) for end in (0, 1)] if not self._folded else []
        said = [self.lifted(self.said(key, end, known.box(key)[end])) for key, end in minimal(ends, enough)]
        self.asides += [self.z3.Implies(self.z3.And(said), limit) for limit in limits] if said else limits
        return made

    def _unknown(self, _part: Part, _bindings: Assignment) -> TruthValue:
        return self._fresh_truth()

    def _limited(self, truth: TruthValue, end: int, value: float) -> Z3 | bool:
        """The constraint that a truth is at least (0) or at most (1) ``value``."""
        return self.beyond(truth, 1 - end, self.end(value, end))

    def end(self, value: float, end: int) -> Fraction:
        """A lower (0) or upper (1) bound as the decimal number that the float stands for, or a little wider."""
        exact, wider = _on_grid(value), self._slack
        if exact is None:
            exact, wider = rational(value), wider + rational(_WIDER)
        return min(ONE, exact + wider) if end else max(ZERO, exact - wider)

    def _fresh_name(self, kind: str) -> str:
        return f"?{kind} {next(self._fresh)}"

    def _fresh_truth(self) -> Z3:
        return self._variable(self._fresh_name("truth"))

    def _equal(self, one: TruthValue, other: TruthValue) -> Z3 | bool:
        """Equality up to the slack."""
        if isinstance(one, Fraction) and isinstance(other, Fraction):
            return abs(one - other) <= max(self._slack, rational(_WIDER))
        gap, slack = one - other, self.lifted(self._slack)
        return self.z3.And(gap <= slack, -gap <= slack) if self._slack else gap == 0

    def _least(self, values: Iterable[TruthValue]) -> TruthValue:
        return reduce(self.smaller, values, self.one)

    def _greatest(self, values: Iterable[TruthValue]) -> TruthValue:
        return reduce(self._greater, values, self.zero)

    def power(self, base: TruthValue, exponent: Fraction) -> TruthValue:
        raised = reduce(self.times, [base] * exponent.numerator, ONE)
        if exponent.denominator == 1:
            return raised
        self.nonlinear = True
        root = self._fresh_truth()  # root ^ denominator = base ^ numerator
        power = reduce(self.times, [root] * exponent.denominator, ONE)
        self.asides.append(power == self.lifted(raised))
        return root

    def quotient(self, dividend: TruthValue, divisor: TruthValue) -> TruthValue:
        """``1`` where the dividend is no less than the divisor, else their quotient."""
        if isinstance(divisor, Fraction):
            return self.smaller(ONE, self.times(1 / divisor, dividend)) if divisor else ONE
        self.nonlinear = True
        made = self._fresh_truth()
        reached = self.at_least(dividend, divisor)
        self.asides.append(self.z3.If(reached, made == 1, made * divisor == self.lifted(dividend)))
        return made


def _on_grid(value: float) -> Fraction | None:
    """The decimal number with few digits that a bound is up to rounding; None if there is none."""
    near = round(value, _GRID)
    return rational(near) if abs(near - value) <= _ROUNDED else None


def _plain(part: Part) -> bool:
    """Whether a connective has no weights and no bias."""
    return part.bias == 1 and all(weight == 1 for weight in part.weights)


def _plain_conjunction(part: Part) -> bool:
    """Whether a consequent is an atom, or a conjunction of atoms without weights."""
    plain = part.kind == "and" and _plain(part)
    return part.kind == "atom" or (plain and all(map(_plain_conjunction, part.operands)))
