"""Formulas as first-order logic for Z3.

An atom about named entities is a proposition. The unnamed individuals of open sorts are elements of a Z3 sort of their
own, so they are distinct from all named entities; atoms about them are functions on that sort.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fractions import Fraction

from lnnkit.graph.lifted import LEAST
from lnnkit.numeric import Comparison
from lnnkit.prove.encoding.graded_encoding import Constraint, GradedEncoding, TruthValue
from lnnkit.prove.ground.dependency_cone import Loop
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading, Instance
from lnnkit.prove.ground.parts import Assignment, Blanket, BoundedStatement, Part
from lnnkit.prove.solving import Z3

_MEMBER = "a "  # prefix of predicates for the sort of an individual


class ClassicalEncoding(GradedEncoding):
    """The encoding over two truths: constants are ``False`` and ``True``, other truths propositions. ``unnamed`` is the
    Z3 sort of unnamed individuals; None if there are none."""

    zero = False
    one = True

    def __init__(self, reading: GroundReading, whole: Collection[str] = (), *, folded: bool) -> None:
        super().__init__(reading, whole, folded=folded)
        self.unnamed: Z3 | None = None
        self._absent: frozenset[GroundAtom] = frozenset()  # atoms that are read as false
        self._functions: dict[tuple[str, tuple[str | None, ...]], Z3] = {}

    def held(self, item: Constraint) -> Z3 | bool:
        """The constraint that an item holds."""
        match item:
            case Blanket():
                stated = item.stated  # holds for all unnamed individuals in the sorts of its variables
                body = stated.part if stated.lower > 0 else Part("not", operands=(stated.part,))
                return self._least(self._unnamed_rows(Part(LEAST, operands=(body,), bound=stated.variables), {}))
            case Loop():
                some = self._greatest(self.atom(key) for key in sorted(item.atoms))
                self._absent = item.atoms
                supports = [self.truth(rule.antecedent, rule.bindings) for rule in item.rules]
                self._absent = frozenset()
                return self._greatest([self.negated(some), *supports])
        return super().held(item)

    def said(self, key: GroundAtom, end: int, value: float) -> Z3 | bool:
        """The constraint that an atom is true if its lower end (0) is above 0, or false if the upper (1) is below 1."""
        made = self.atom(key)
        return (made if value > 0 else True) if end == 0 else (self.negated(made) if value < 1 else True)

    def _within(self, stated: BoundedStatement, bindings: Assignment) -> Z3 | bool:
        """The constraint that a statement is true if its lower end is 1, false if its upper end is 0."""
        truth = self.truth(stated.part, bindings)
        return truth if stated.lower > 0 else self.negated(truth)

    def _needed(self, rule: Instance, head: Part) -> TruthValue:
        return self.truth(rule.antecedent, rule.bindings) if rule.stated.lower > 0 else False

    def atom(self, key: GroundAtom) -> TruthValue:
        return False if key in self._absent else super().atom(key)

    def negated(self, truth: TruthValue) -> TruthValue:
        return not truth if isinstance(truth, bool) else self.z3.Not(truth)

    def _settled(self, key: GroundAtom) -> TruthValue | None:
        low, high = self._known.box(key)
        return low > 0 if low == high else None

    def _declare(self, key: GroundAtom, name: str) -> None:
        self.atoms[key] = self.z3.Bool(name, self.context)

    def _same(self, one: object, other: object) -> TruthValue:
        return one == other if isinstance(one, str) == isinstance(other, str) else False

    def _atom(self, part: Part, bindings: Assignment) -> TruthValue:
        key = self._reading.key(part, bindings)
        if key is not None:
            return self.atom(key)
        return False if self._known.false_of_unnamed(part.name) else self._applied(part, bindings)

    def _comparison(self, part: Part, bindings: Assignment) -> TruthValue:
        values = [self._number(operand, bindings) for operand in part.operands]
        arguments = [argument for operand in part.operands for argument in operand.arguments(bindings)]
        unnamed = {str(argument): argument for argument in arguments if not isinstance(argument, str)}
        assert isinstance(part.arithmetic, Comparison)
        truth = self.arithmetic.comparison(part.arithmetic, values, bound=bool(unnamed))
        if truth is not None:
            return truth
        self.loose = True
        return self._function((self._fresh_name("comparison"), (None,) * len(unnamed)))(*unnamed.values())

    def _number(self, part: Part, bindings: Assignment) -> Fraction | Z3:
        key = self._reading.key(part, bindings)
        if key is not None:
            return self.arithmetic.number(key)
        return self._applied(part, bindings, self.arithmetic.sort(part.name))

    def _compound(self, part: Part, bindings: Assignment) -> TruthValue:
        x = [self.truth(operand, bindings) for operand in part.operands]
        match part.kind:
            case "and":
                return self._least(x)
            case "or":
                return self._greatest(x)
            case "implies":
                return self._greatest([self.negated(x[0]), x[1]])
        equal = self._equal(*x)
        return equal if part.kind == "iff" else self.negated(equal)

    def _least(self, values: Iterable[TruthValue]) -> TruthValue:
        return self._joined(values, False, self.z3.And)

    def _greatest(self, values: Iterable[TruthValue]) -> TruthValue:
        return self._joined(values, True, self.z3.Or)

    def _joined(self, values: Iterable[TruthValue], decides: bool, join: Callable[[Sequence[Z3]], Z3]) -> TruthValue:
        x = list(values)
        if any(truth is decides for truth in x):
            return decides
        open_ones = [truth for truth in x if not isinstance(truth, bool)]
        if len(open_ones) < 2:
            return open_ones[0] if open_ones else not decides
        return join(open_ones)

    def _equal(self, one: TruthValue, other: TruthValue) -> TruthValue:
        if isinstance(one, bool):
            one, other = other, one
        if isinstance(other, bool):
            return one if other else self.negated(one)
        return one == other

    def _applied(self, part: Part, bindings: Assignment, result: Z3 | None = None) -> Z3:
        """An atom or a number about individuals, unnamed ones among them."""
        arguments = part.arguments(bindings)
        named = tuple(term if isinstance(term, str) else None for term in arguments)
        return self._function((part.name, named), result)(*(term for term in arguments if not isinstance(term, str)))

    def _unnamed_rows(self, part: Part, bindings: Assignment) -> list[TruthValue]:
        """The rows of a quantifier in which at least one of its variables is an unnamed individual."""
        forall, rows = part.least, []
        for names in subsets([name for name, sort in part.bound if self._known.is_open(sort)]):
            if self.unnamed is None:
                self.unnamed = self.z3.DeclareSort("unnamed", self.context)
            new = {name: self.z3.Const(self._fresh_name("someone"), self.unnamed) for name in names}
            members = [self._function((_MEMBER + sort, (None,)))(new[name]) for name, sort in part.bound if name in new]
            for row in self._named_rows(part, {**bindings, **new}):
                truth = self.truth(part.operands[0], row)
                if forall:
                    joined, quantifier = self._greatest([*map(self.negated, members), truth]), self.z3.ForAll
                else:
                    joined, quantifier = self._least([*members, truth]), self.z3.Exists
                rows.append(quantifier([*new.values()], self.lifted(joined)))
        return rows

    def _named_rows(self, part: Part, bindings: Assignment) -> Iterator[dict[str, object]]:
        """The rows of a quantifier with named entities for the variables that have no value yet."""
        rest = {name: self._known.members(sort) for name, sort in part.bound if name not in bindings}
        for row in itertools.product(*rest.values()):
            yield {**bindings, **dict(zip(rest, row, strict=True))}

    def true_of_unnamed(self, model: Z3, most: int) -> Iterator[tuple[str, float]]:
        """Up to ``most`` atoms about unnamed individuals that a model makes true; the individuals are numbered."""
        if self.unnamed is None:
            return
        numbered = {f"someone {n}": element for n, element in enumerate(model.get_universe(self.unnamed) or (), 1)}
        for (name, pattern), function in self._functions.items():
            if name.startswith((_MEMBER, "?")) or function.range().kind() != self.z3.Z3_BOOL_SORT:
                continue
            for row in itertools.islice(itertools.product(numbered, repeat=pattern.count(None)), most):
                made = function(*(numbered[someone] for someone in row))
                if self.z3.is_true(model.eval(made, model_completion=True)):
                    rest = iter(row)
                    yield f"{name}({', '.join(next(rest) if entity is None else entity for entity in pattern)})", 1.0

    def _function(self, name: tuple[str, tuple[str | None, ...]], result: Z3 | None = None) -> Z3:
        if name not in self._functions:
            text = f"{name[0]}({', '.join(entity or '_' for entity in name[1])})"
            range_ = self.z3.BoolSort(self.context) if result is None else result
            self._functions[name] = self.z3.Function(text, *[self.unnamed] * name[1].count(None), range_)
        return self._functions[name]


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The subsets that are not empty."""
    sizes = range(1, len(names) + 1)
    return itertools.chain.from_iterable(itertools.combinations(names, size) for size in sizes)
