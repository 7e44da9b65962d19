"""Statements and questions as trees in which all variables have distinct names, ready to be instantiated; and an index
of a program's statements by the predicates that they mention.

A *guard* is an atom or an equality without which a formula is neutral: a rule is satisfied, a row of an ``exists`` is
false, a row of a ``forall`` true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, count
from typing import NamedTuple, cast

from lnnkit.check.program import Assertion, Predicate
from lnnkit.check.walk import nodes
from lnnkit.explain.checker.ground_form import Form, Free, Slot, bound_sorts, free_sorts, truth_of
from lnnkit.explain.checker.proof_world import ProofWorld
from lnnkit.graph.lifted import GREATEST, LEAST, LiftedGraph, Root
from lnnkit.numeric import Comparison, constant
from lnnkit.numeric import Term as Arithmetic
from lnnkit.prove.rational_terms import Box, connective_box
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import AGGREGATES
from lnnkit.time_limit import check_time

Assignment = Mapping[str, object]  # by name of a variable: its entity or, in the classical encoding, a term of Z3


class Occurrence(NamedTuple):
    """An atom, an equality or a comparison in a formula, and the ``quantifiers`` around it, the outermost first. The
    ``sign`` is that of the truth which makes the formula truer; 0 for both."""

    leaf: Part
    quantifiers: tuple[Part, ...]
    sign: int


@dataclass(eq=False)
class Part:
    """A formula, or a number in a comparison. ``kind`` is atom, same, true, false, compare, that of a connective,
    quantifier or aggregate, or term; ``name`` a predicate, a number or a logic. ``bound`` has the variables that a
    quantifier or an aggregate binds, with their sorts: none for any other. An aggregate has its condition first, then
    its term; that of a count is 1. A comparison that a rule has ``concluded`` is true where it has no value: it says
    nothing."""

    kind: str
    name: str = ""
    terms: tuple[str | Free, ...] = ()  # entities and variables
    operands: tuple[Part, ...] = ()
    weights: tuple[float, ...] = ()
    bias: float = 1.0
    bound: tuple[tuple[str, str], ...] = ()
    arithmetic: Comparison | Arithmetic | None = None
    concluded: bool = False

    @cached_property
    def variables(self) -> frozenset[str]:
        """The free variables."""
        names = {term.name for term in self.terms if isinstance(term, Free)}
        inner = names.union(*(operand.variables for operand in self.operands))
        return frozenset(inner - {name for name, _ in self.bound})

    @property
    def least(self) -> bool:
        """Of a quantifier, whether it is a ``forall``: the least of its rows, not the greatest."""
        return self.kind == LEAST

    @cached_property
    def below(self) -> tuple[Part, ...]:
        """It and all that is in it, from left to right."""
        return (self, *chain.from_iterable(operand.below for operand in self.operands))

    @cached_property
    def leaves(self) -> tuple[Part, ...]:
        """The atoms and numbers in it."""
        return tuple(part for part in self.below if part.kind == "atom")

    @cached_property
    def occurrences(self) -> tuple[Occurrence, ...]:
        """The atoms, equalities and comparisons in it, from left to right."""
        if self.kind in ("atom", "same") or self.arithmetic is not None:
            return (Occurrence(self, (), 1),)
        around, found = (self,) if self.bound else (), list[Occurrence]()
        for place, operand in enumerate(self.operands):
            turned = self.kind == "not" or (self.kind == "implies" and place == 0)
            turn = 0 if self.kind == "iff" else -1 if turned else 1
            found += [Occurrence(leaf, (*around, *inner), turn * sign) for leaf, inner, sign in operand.occurrences]
        return tuple(found)

    @cached_property
    def names(self) -> frozenset[str]:
        """The predicates and numbers in it."""
        return frozenset(leaf.name for leaf in self.leaves)

    @cached_property
    def aggregates(self) -> tuple[Part, ...]:
        """The aggregates in it."""
        return tuple(part for part in self.below if part.kind in AGGREGATES)

    @property
    def numeric(self) -> bool:
        """Whether it is a term or an aggregate."""
        return self.kind == "term" or self.kind in AGGREGATES

    @cached_property
    def total(self) -> bool:
        """Whether all comparisons in it have a value wherever their numbers have one."""
        totals = (part.arithmetic.total for part in self.below if part.arithmetic is not None)
        return all(totals) and not any(part.kind in ("mean", "min", "max") for part in self.below)

    @cached_property
    def row_guards(self) -> tuple[Part, ...]:
        """The guards of a quantifier's rows, which are true in a ``forall`` or else false without."""
        return _guards(self.operands[0], lambda box: box[0] >= 1 if self.least else box[1] <= 0)

    def arguments(self, bindings: Assignment) -> tuple[object, ...]:
        """The terms, with their variables replaced."""
        return tuple(bindings[term.name] if isinstance(term, Free) else term for term in self.terms)


@dataclass(eq=False)
class BoundedStatement:
    """A statement, or what all say that ``completes`` a predicate: ``part`` lies in ``[lower, upper]`` for all values
    of its ``variables``."""

    part: Part
    lower: float
    upper: float
    variables: tuple[tuple[str, str], ...]  # names and sorts
    root: Root
    origin: Assertion
    completes: str = ""

    @cached_property
    def guards(self) -> tuple[Part, ...]:
        """The guards of an instance: without them it is satisfied."""
        return _guards(self.part, lambda box: box[0] >= self.lower and box[1] <= self.upper)


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of a statement: the statement with an entity for each variable."""

    stated: BoundedStatement
    bindings: Mapping[str, str] = field(compare=False)
    entities: tuple[str, ...] = field(init=False)  # in the order of the variables

    def __post_init__(self) -> None:
        entities = tuple(self.bindings[name] for name, _ in self.stated.variables)
        object.__setattr__(self, "entities", entities)

    @property
    def antecedent(self) -> Part:
        """The antecedent of a rule."""
        return self.stated.part.operands[0]


_ONE = Part("term", arithmetic=constant(1.0))  # the term of a count


def part_of(form: Form, predicates: Mapping[str, Predicate]) -> Part:
    """The tree of a form. Bound variables get a number behind ``#``."""
    numbers = count()

    def part(form: Form, scope: Sequence[Sequence[str]]) -> Part:
        if form.count:
            sorts = bound_sorts(form, predicates)
            names = [f"#{next(numbers)}" for _ in sorts]
            bound = tuple(zip(names, sorts, strict=True))
            operands = [part(operand, (*scope, names)) for operand in form.operands]
            operands += [_ONE] if form.kind == "count" else []
            return Part(form.kind, operands=tuple(operands), bound=bound)
        terms = tuple(Free(scope[-1 - t.between][t.place]) if isinstance(t, Slot) else t for t in form.terms)
        operands = tuple(part(operand, scope) for operand in form.operands)
        name = "" if form.arithmetic is not None else form.name
        return Part(form.kind, name, terms, operands, form.weights, form.bias, arithmetic=form.arithmetic)

    return part(form, ())


def sorted_variables(form: Form, predicates: Mapping[str, Predicate]) -> tuple[tuple[str, str], ...]:
    """The free variables of a form with their sorts, by name."""
    return tuple(sorted(free_sorts(form, predicates).items()))


def _guards(part: Part, neutral: Callable[[Box], bool]) -> tuple[Part, ...]:
    """The atoms and equalities of a formula that make it neutral where they are false."""
    leaves = (leaf for leaf, _, _ in part.occurrences if leaf.variables and leaf.variables <= part.variables)
    return tuple([leaf for leaf in leaves if leaf.arithmetic is None and neutral(_without(part, leaf))])


def _without(part: Part, leaf: Part) -> Box:
    """The bounds of a formula in which one atom is false and all others are unknown."""
    if part is leaf or part.kind in ("true", "false"):
        return (1.0, 1.0) if part.kind == "true" else (0.0, 0.0)
    if not part.operands or part.arithmetic is not None:
        return 0.0, 1.0
    boxes = [_without(operand, leaf) for operand in part.operands]
    if part.bound:
        return (boxes[0][0], 1.0) if part.least else (0.0, boxes[0][1])
    return connective_box(part.kind, part.name, part.weights, part.bias, boxes)


class StatementIndex:
    """The statements of a ``lifted`` graph, for the program of a ``world``."""

    def __init__(self, lifted: LiftedGraph, world: ProofWorld) -> None:
        stated = ((root, root.origin) for root in lifted.statements)
        self._roots = [(root, said) for root, said in stated if isinstance(said, Assertion) and said.kind != "law"]
        self._world = world
        self._by_name: dict[str, list[int]] = {}
        for place, (root, _) in enumerate(self._roots):
            for node in lifted.graph.below(root.reference.node):
                self._by_name.setdefault(node, []).append(place)
        self.count = len(self._roots)  # of statements
        self._stated = cache(self._bounded)
        # By a predicate or number: the statements with it, in their order
        self.mentioning = cache(lambda name: [self._stated(place) for place in self._by_name.get(name, ())])
        self.defining = cache(self._defining)

    def every(self) -> list[BoundedStatement]:
        """All statements."""
        return [self._stated(place) for place in range(self.count)]

    def aggregating(self) -> Iterator[BoundedStatement]:
        """The statements with an aggregate."""
        for place, (_, origin) in enumerate(self._roots):
            if any(isinstance(node, ast.Aggregate) for node in nodes(cast("ast.Expression", origin.formula))):
                yield self._stated(place)

    def _defining(self, name: str) -> list[tuple[BoundedStatement, Part]]:
        """The statements that complete a closed predicate, each with an atom of it in its consequent conjunction."""
        pairs = ((rule, head) for rule in self.mentioning(name) for head in self.defined(rule) if head.name == name)
        return [(self._completing(rule, head), head) for rule, head in pairs]

    def completion(self, name: str) -> BoundedStatement:
        """That an atom about unnamed individuals is true only if one of the rules of its predicate makes it so."""
        sorts = self._world.program.predicates[name].sorts
        variables = tuple((f"?{place}", sort) for place, sort in enumerate(sorts))
        terms, rows, rules = tuple(Free(variable) for variable, _ in variables), list[Part](), self.defining(name)
        for stated, head in rules:
            same = (Part("same", terms=pair) for pair in zip(terms, head.terms, strict=True))
            row = _crisp("and", stated.part.operands[0], *same)
            rows.append(Part(GREATEST, operands=(row,), bound=stated.variables) if stated.variables else row)
        whole = _crisp("implies", Part("atom", name, terms), _crisp("or", *rows))
        return BoundedStatement(whole, 1.0, 1.0, variables, rules[0][0].root, rules[0][0].origin, name)

    def _completing(self, stated: BoundedStatement, head: Part) -> BoundedStatement:
        """A statement as the completion of one of its heads reads it: with an ``exists`` over the variables of open
        sorts that the head lacks. Its other conclusions about these count as true."""
        unlike_head = [pair for pair in stated.variables if pair[0] not in head.variables]
        some = {name: sort for name, sort in unlike_head if self._world.unnamed(sort, name)}
        if not some:
            return stated
        body, consequent = stated.part.operands
        quantified = Part(GREATEST, operands=(body,), bound=tuple(some.items()))
        part = replace(stated.part, operands=(quantified, _conceded(consequent, some.keys())))
        return replace(stated, part=part, variables=tuple(pair for pair in stated.variables if pair[0] not in some))

    def defined(self, stated: BoundedStatement) -> list[Part]:
        """The atoms of closed predicates that a statement completes."""
        defines, heads = stated.root.defines, list[Part]()
        stack = [stated.part.operands[1]] if defines and stated.part.kind == "implies" else []
        while stack:
            inner = stack.pop()
            if inner.kind == "and":
                stack += inner.operands
            elif inner.kind == "atom" and inner.name in defines:
                heads.append(inner)
        return heads

    def _bounded(self, place: int) -> BoundedStatement:
        check_time()
        root, origin = self._roots[place]
        form, predicates = self._world.instance(origin, {}), self._world.program.predicates
        part, truth = part_of(form, predicates), truth_of(origin, self._world.starts)
        part = _concluding(part) if origin.kind == "rule" and truth[1] == 1 else part
        return BoundedStatement(part, *truth, sorted_variables(form, predicates), root, origin)


def _concluding(part: Part) -> Part:
    """A rule, or what it concludes, with its comparisons marked."""
    if part.kind not in ("implies", "and"):
        return replace(part, concluded=part.kind == "compare")
    *rest, last = part.operands
    rest = map(_concluding, rest) if part.kind == "and" else rest
    return replace(part, operands=(*rest, _concluding(last)))


def _crisp(kind: str, *operands: Part) -> Part:
    return Part(kind, "godel", operands=operands, weights=(1.0,) * len(operands))


def _conceded(part: Part, names: Set[str]) -> Part:
    """A conjunction in which parts with some of these variables are true."""
    if not part.variables & names:
        return part
    if part.kind != "and":
        return Part("true")
    return replace(part, operands=tuple(_conceded(operand, names) for operand in part.operands))
