"""The context in which a proof is checked: the program, its entities and facts, and the rules that conclude atoms. And
one pass upward and downward over an instance, which shares nothing with the engine but the logics' kernels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from lnnkit.check.derived_numbers import derivation
from lnnkit.check.program import Assertion, CheckedProgram
from lnnkit.check.walk import strip_foralls
from lnnkit.explain.checker.ground_form import Form, Free, consequents, form_of, free_sorts, stated_formula, truth_of
from lnnkit.explain.proof.proof import FactSources
from lnnkit.logic import Bounds, Inverse, complement, enter, exists, exists_inverse, forall, forall_inverse, logic_named
from lnnkit.logic.bounds import informative, ordered, tolerance
from lnnkit.numeric import NO_VALUE, Comparison, Interval, Term
from lnnkit.numeric.aggregates import Grouped, aggregate, narrowed, with_value
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import AGGREGATES

Box = tuple[float, float]
_Values = Sequence[Bounds] | dict[int, Bounds]
OTHER = "\0"  # prefix of the reserved names for all other entities; those of a sort end with it
_MOST = 100_000  # assignments of one rule's variables: a proof that would need more is reported as not verified


class InvalidStep(Exception):
    """A step does not hold."""


def demand(holds: bool, otherwise: str) -> None:
    """Raise `InvalidStep` unless this holds."""
    if not holds:
        raise InvalidStep(otherwise)


@dataclass(frozen=True, slots=True)
class RuleConjunct:
    """A ``statement`` as a ``whole`` of at least the truth ``lower``, with a ``conjunct`` of its consequent."""

    statement: Assertion
    whole: Form
    conjunct: Form
    lower: float

    def unified(self, form: Form, world: ProofWorld, *, of_unnamed: bool = False) -> Iterator[dict[str, str]]:
        """The assignments of its free variables that unify its conjunct with an atom. Unnamed individuals are beside
        it, and if ``of_unnamed`` in it too."""
        bound: dict[str, str] = {}
        for pattern, term in zip(self.conjunct.terms, form.terms, strict=True):
            if isinstance(pattern, Free) and isinstance(term, str) and bound.setdefault(pattern.name, term) != term:
                return
        sorts = free_sorts(self.whole, world.program.predicates)
        if any(entity not in world.sorts[sorts[name]] for name, entity in bound.items()):
            return
        free = sorted(name for name in sorts if name not in bound)
        named = () if of_unnamed else {term.name for term in self.conjunct.terms if isinstance(term, Free)}
        others = {name: () if name in named else world.unnamed(sorts[name], name) for name in free}
        members = [[*world.sorts[sorts[name]], *others[name]] for name in free]
        for count, row in enumerate(itertools.product(*members)):
            demand(count < _MOST, "too many instances to try")
            yield bound | dict(zip(free, row, strict=True))


@dataclass(frozen=True)
class ProofWorld:
    """The program, each sort's entities, the facts by atom, the values of learnable names, the bounds' precision."""

    program: CheckedProgram
    sorts: Mapping[str, Sequence[str]]
    origins: FactSources
    starts: Mapping[str, float]
    dtype: np.dtype[Any]

    @property
    def tolerance(self) -> float:
        """The distance up to which two truths count as equal, also in proofs that were written and read again."""
        return tolerance(self.dtype)

    def form(self, formula: ast.Expression) -> Form:
        """The form of a formula in a step."""
        return form_of(formula, {}, self.program.logic, self.program)

    def instance(self, statement: Assertion, bindings: Mapping[str, str]) -> Form:
        """The instance of a statement; where it derives a number, of what it says of a candidate."""
        formula = stated_formula(statement, self.starts)
        derived = derivation(formula, self.program.predicates) if statement.kind == "rule" else None
        formula = formula if derived is None else derived.candidate
        return form_of(formula, bindings, statement.logic, self.program)

    @cached_property
    def numbers(self) -> Mapping[str, str]:
        """The closed numbers that rules derive, each with `min` or `max`."""
        rules = (rule.formula for rule in self.program.assertions if rule.kind == "rule")
        derived = (derivation(strip_foralls(cast("ast.Expression", rule)), self.program.predicates) for rule in rules)
        return {one.head.name: one.aggregate.name for one in derived if one is not None}

    def unnamed(self, sort: str, place: str) -> list[str]:
        """An unnamed individual at some place, if there may be any in the sort."""
        declared = self.program.sorts.get(sort)
        return [f"{OTHER}?{place}"] if declared is not None and declared.open else []

    def states(self, statement: Assertion) -> bool:
        """Whether a statement is one of the program's; laws of comparisons hold in any program."""
        stated = self.program.assertions
        return statement.kind == "law" or any(statement is known for known in stated) or statement in stated

    @cached_property
    def rules(self) -> Mapping[str, Sequence[RuleConjunct]]:
        """The statements that conclude atoms of each predicate, once for each conjunct."""
        rules: dict[str, list[RuleConjunct]] = {}
        for statement in self.program.assertions:
            whole, (lower, _) = self.instance(statement, {}), truth_of(statement, self.starts)
            for conjunct in consequents(whole):
                if conjunct.operands and conjunct.operands[0].name in self.numbers and conjunct.kind == "compare":
                    conjunct = conjunct.operands[0]
                if conjunct.kind == "atom":
                    rules.setdefault(conjunct.name, []).append(RuleConjunct(statement, whole, conjunct, lower))
        return rules

    def derived(self, predicate: str) -> bool:
        """Whether rules complete a closed predicate."""
        return any(predicate in stratum for stratum in self.program.strata)

    def lacks(self, atom: Form) -> bool:
        """Whether an atom has an entity outside the sort of its position: no rule applies to it."""
        pairs = zip(atom.terms, self.program.predicates[atom.name].sorts, strict=True)
        return any(isinstance(term, str) and term not in self.sorts.get(sort, ()) for term, sort in pairs)


# --- an instance ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InstanceNode:
    """A node of an instance, with quantifiers and aggregates expanded into rows. ``form`` is its formula; rows for all
    other entities use reserved names. ``copies`` are how many entities each row stands for at least and at most. A node
    that is ``read`` has bounds beside those of its operands."""

    form: Form
    operands: tuple[int, ...]
    copies: tuple[tuple[float, float], ...] = ()
    read: bool = False

    @property
    def aggregates(self) -> bool:
        """Whether it takes the rows of its operands together to a number."""
        return self.form.kind in AGGREGATES


@dataclass(frozen=True, slots=True)
class Tree:
    """Nodes, operands first, evaluated in the precision of the bounds that are checked. Nodes at the places ``unknown``
    are treated as unknown, whatever the bounds of them or of their operands. ``derived`` are the numbers of rules, each
    with `min` or `max`: one whose better end is infinite may have no value."""

    nodes: Sequence[InstanceNode]
    dtype: np.dtype[Any]
    unknown: Set[int] = frozenset()
    derived: Mapping[str, str] = field(default_factory=dict)

    @property
    def top(self) -> int:
        return len(self.nodes) - 1

    @property
    def numbers(self) -> set[int]:
        """The places of numbers and terms."""
        terms = {place for place, node in enumerate(self.nodes) if node.form.kind == "term" or node.aggregates}
        terms = terms.union(*(n.operands[1::2] for n in self.nodes if n.aggregates and n.form.kind != "count"))
        return terms.union(*(node.operands for node in self.nodes if node.form.arithmetic is not None))

    def upward(self, read: Callable[[Form], Box]) -> list[Bounds]:
        """The bounds of all nodes: the bounds read of each, met with those of its operands."""
        values: list[Bounds] = []
        numbers = self.numbers
        for place, node in enumerate(self.nodes):
            if place in self.unknown:
                values.append(self._box(0.0, 1.0))
                continue
            known = self._box(*read(node.form))
            known = known if place in numbers else enter(known)
            calculated = node.form.arithmetic is not None and (place == self.top or not node.form.operands)
            made_of = node.operands or node.form.count or node.form.kind in ("true", "false", "same")
            if calculated or (made_of and not node.read):
                made = self._made(node, values)
                known = ordered(np.maximum(known.lower, made.lower), np.minimum(known.upper, made.upper))
            values.append(known)
        return values

    def downward(self, values: Sequence[Bounds], truth: Box) -> tuple[list[Bounds], bool]:
        """The bounds of all nodes by the root's ``truth``, not by their upward bounds, and whether they are empty."""
        boxes = list(values)
        if self.top in self.numbers and not self.nodes[self.top].aggregates:
            return boxes, False
        root, given, numbers = values[self.top], enter(self._box(*truth)), self.numbers
        if self.top in numbers:
            given = self._box(-math.inf, math.inf)
        lower, upper = np.maximum(root.lower, given.lower), np.minimum(root.upper, given.upper)
        boxes[self.top] = ordered(lower, upper)
        empty = bool(lower > upper + tolerance(self.dtype))
        for index in range(self.top, -1, -1):
            node = self.nodes[index]
            if not node.operands or index in self.unknown:
                continue
            box = boxes[index]
            if index not in numbers and node.form.kind not in ("not", "compare"):
                box = informative(box, self._made(node, values))
            inverse = self._left(node, box, boxes)
            empty = empty or bool(inverse.empty)
            for operand, bounds in zip(node.operands, inverse.operands, strict=True):
                boxes[operand] = bounds
        return boxes, empty

    def candidate(self, values: Sequence[Bounds]) -> Box:
        """The candidate that an instance is for a derived number; infinite at an end where there may be none."""
        above, place = self.nodes[self.top].operands
        arithmetic = self.nodes[place].form.arithmetic
        assert isinstance(arithmetic, Comparison)
        operands = self.nodes[place].operands
        least = self.derived[self.nodes[operands[0]].form.name] == "min"
        read = [operands[index] for _, index in arithmetic.right.numbers]
        ends, defined = arithmetic.right.hull([Interval(*values[operand]) for operand in operands])
        boxes = [(values[operand].lower.item(), values[operand].upper.item()) for operand in read]
        deciding = (values[operands[place]] for place in arithmetic.right.deciding)
        certain = all(bounds.lower == bounds.upper for bounds in deciding)
        some = bool(defined.all()) and NO_VALUE not in boxes
        possible = some and values[above].upper.item() > 0
        sure = some and certain and (-math.inf, math.inf) not in boxes and values[above].lower.item() > 0
        sure = sure and not any(self._doubtful(operand, values) for operand in read)
        counts = (possible, sure) if least else (sure, possible)
        worst = math.inf if least else -math.inf
        lower, upper = (end.item() if counted else worst for end, counted in zip(ends, counts, strict=True))
        return lower, upper

    def _doubtful(self, place: int, values: _Values) -> bool:
        """Whether a number may have no value."""
        kind = self.derived.get(self.nodes[place].form.name) if self.nodes[place].form.kind == "atom" else None
        lower, upper = values[place]
        return kind is not None and bool((upper == math.inf).all() if kind == "min" else (lower == -math.inf).all())

    def least_conjunct(self, values: Sequence[Bounds], truth: float, head: int) -> float:
        """For an implication with a fully true antecedent: the least truth of the conjunct ``head`` of its consequent
        for which the implication can be as true as ``truth``; 1 if none suffices."""
        top, antecedent, consequent = self.nodes[self.top], *self.nodes[self.top].operands
        boxes = {antecedent: Bounds(values[antecedent].upper, values[antecedent].upper)}
        order = self._below(consequent, conjuncts=True)
        for index in reversed(order):
            node = self.nodes[index]
            if node.form.kind == "and":
                boxes[index] = self._made(node, boxes)
            else:
                concluded = any(self.nodes[part].form.kind == "atom" for part in self._below(index))
                boxes[index] = self._reach(index) if concluded else values[index]
        inverses = [self._left(top, self._box(truth, 1.0), boxes)]
        boxes[consequent] = inverses[0].operands[1]
        for index in order:
            node = self.nodes[index]
            if node.form.kind == "and":
                inverses.append(self._left(node, boxes[index], boxes))
                boxes.update(zip(node.operands, inverses[-1].operands, strict=True))
        return 1.0 if any(map(bool, (inverse.empty for inverse in inverses))) else boxes[head].lower.item()

    def heads(self) -> list[int]:
        """The atoms of the consequent conjunction of an implication."""
        top = self.nodes[self.top]
        order = self._below(top.operands[1], conjuncts=True) if top.form.kind == "implies" else []
        return [index for index in order if self.nodes[index].form.kind == "atom"]

    def parts(self, kept: int) -> Iterator[Set[int]]:
        """The parts that may be treated as unknown in an instance whose parts contradict each other, except the node
        ``kept`` and its ancestors: the atoms that it concludes, and each of its formulas."""
        top = self.nodes[self.top]
        around = {index for index in range(len(self.nodes)) if kept in self._below(index)}
        if top.form.kind == "implies":
            yield {index for index in self._below(top.operands[1]) if self.nodes[index].form.kind == "atom"} - around
        yield from ({index} for index, node in enumerate(self.nodes) if node.operands and index not in around)

    def _below(self, start: int, *, conjuncts: bool = False) -> list[int]:
        """A node and all nodes below it, or its ``conjuncts`` and theirs."""
        below, stack = [], [start]
        while stack:
            below.append(stack.pop())
            node = self.nodes[below[-1]]
            stack += node.operands if not conjuncts or node.form.kind == "and" else ()
        return below

    def _reach(self, index: int) -> Bounds:
        """The bounds of a part of a consequent with its atoms, equalities and quantifiers unknown."""
        node = self.nodes[index]
        constant = node.form.kind in ("true", "false")
        if not constant and (not node.operands or node.form.count or node.form.kind == "compare"):
            return self._box(0.0, 1.0)
        return self._made(node, {operand: self._reach(operand) for operand in node.operands})

    def _box(self, lower: float, upper: float) -> Bounds:
        return Bounds(np.array([lower], self.dtype), np.array([upper], self.dtype))

    def _made(self, node: InstanceNode, values: _Values) -> Bounds:
        """The bounds of a node from those of its operands."""
        form, operands = node.form, [values[operand] for operand in node.operands]
        match form.kind:
            case "true" | "false":
                truth = float(form.kind == "true")
                return self._box(truth, truth)
            case "same":
                return self._box(*_same(form))
            case "compare" | "term":
                inputs = [Interval(*operand) for operand in operands]
                if isinstance(form.arithmetic, Comparison):
                    if any(self._doubtful(operand, values) for operand in node.operands):
                        return self._box(0.0, 1.0)
                    return Bounds(*form.arithmetic.truth(inputs))
                assert form.arithmetic is not None
                return Bounds(*form.arithmetic.hull(inputs)[0])
            case "not":
                return complement(operands[0])
            case "forall" | "exists":
                return (forall if form.kind == "forall" else exists)(*self._rows(node, operands), 1)
            case _ if node.aggregates:
                return Bounds(*aggregate(form.kind, *self._elements(node, values)))
        return logic_named(form.name).up(form.kind, operands, form.weights, form.bias)

    def _left(self, node: InstanceNode, box: Bounds, values: _Values) -> Inverse:
        """The bounds of a node's operands, given its own."""
        form, operands = node.form, [values[operand] for operand in node.operands]
        match form.kind:
            case "not":
                return Inverse((complement(box),), np.array(False))
            case "compare" | "term":
                assert form.arithmetic is not None
                inputs = [Interval(*operand) for operand in operands]
                if any(self._doubtful(operand, values) for operand in node.operands):
                    return Inverse(tuple(operands), np.array(False))
                if isinstance(form.arithmetic, Comparison):
                    left = form.arithmetic.narrow(inputs, form.arithmetic.truth(inputs), Interval(*box))
                else:
                    left = form.arithmetic.contract(inputs, Interval(*box))
                return Inverse(tuple(Bounds(*interval) for interval in left.inputs), left.empty)
            case "forall" | "exists":
                inverse = forall_inverse if form.kind == "forall" else exists_inverse
                left = inverse(box, *self._rows(node, operands), 1)
                lower, upper = left.operands[0]
                boxes = (Bounds(lower[place, None], upper[place, None]) for place in range(len(operands)))
                return Inverse(tuple(boxes), left.empty)
            case _ if node.aggregates:
                narrow = narrowed(form.kind, Interval(*box), *self._elements(node, values))
                parts = [narrow.truths] if narrow.values is None else [narrow.truths, narrow.values]
                rows = range(len(node.copies))
                boxes = (Bounds(*(end[row, None] for end in part)) for row in rows for part in parts)
                return Inverse(tuple(boxes), narrow.empty)
        return logic_named(form.name).down(form.kind, box, operands, form.weights, form.bias)

    def _elements(self, node: InstanceNode, boxes: _Values) -> tuple[Interval, Interval | None, Grouped]:
        """The truths and the values of an aggregate's rows."""
        operands = [boxes[operand] for operand in node.operands]
        step = 1 if node.form.kind == "count" else 2
        none = np.empty(0)
        ends = [[np.concatenate([none, *(o[end] for o in operands[k::step])]) for end in (0, 1)] for k in range(step)]
        truths, *values = (Interval(*pair) for pair in ends)
        least, most = np.array(node.copies, np.float64).reshape(-1, 2).T
        for row, place in enumerate(node.operands[1::2] if values else ()):
            term = self.nodes[place]
            made = term.form.arithmetic if isinstance(term.form.arithmetic, Term) else None
            read = [Interval(*boxes[operand]) for operand in (term.operands if made else (place,))]
            if any(self._doubtful(operand, boxes) for operand in (term.operands if made else (place,))):
                least[row] = 0.0
            if read:
                least[row, None], most[row, None] = with_value(Interval(least[row, None], most[row, None]), made, read)
        rows = Grouped(np.zeros(len(node.copies), np.int64), 1, Interval(least, most))
        return truths, values[0] if values else None, rows

    def _rows(self, node: InstanceNode, operands: Sequence[Bounds]) -> tuple[Bounds, np.ndarray]:
        """The rows of a quantifier; an optional row may be missing."""
        none = np.empty(0, self.dtype)
        lower, upper = (np.concatenate([none, *(operand[end] for operand in operands)]) for end in (0, 1))
        may = np.array([least == 0 for least, _ in node.copies], dtype=bool)
        every = node.form.kind == "forall"
        (upper if every else lower)[may] = float(every)
        return Bounds(lower, upper), np.zeros(len(operands), dtype=np.int64)


def _same(form: Form) -> Box:
    one, other = form.terms
    if one == other:
        return 1.0, 1.0
    named = any(isinstance(t, str) and not t.startswith(OTHER) for t in form.terms)
    first, second = (str(term).split(" ", 2) for term in form.terms)
    apart = len(first) == 3 and first[2:] == second[2:]  # others of one sort
    return (0.0, 0.0) if named or apart else (0.0, 1.0)
