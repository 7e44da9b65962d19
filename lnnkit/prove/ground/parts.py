"""Statements and questions as trees in which all variables have distinct names, ready to be instantiated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from lnnkit.check.program import Assertion, Predicate
from lnnkit.explain.checker.ground_form import Form, Free, Slot, bound_sorts, free_sorts
from lnnkit.numeric import Comparison
from lnnkit.numeric import Term as Arithmetic

Argument = str | Free  # an entity, or a variable
Assignment = Mapping[str, object]  # by name of a variable: its entity or, in the classical encoding, a term of Z3


@dataclass(eq=False)
class Part:
    """A formula. ``kind`` is atom, same, true, false, compare, or that of a connective or quantifier; ``name`` a
    predicate, a number or a logic. ``bound`` has the variables that a quantifier binds, with their sorts."""

    kind: str
    name: str = ""
    terms: tuple[Argument, ...] = ()
    operands: tuple[Part, ...] = ()
    weights: tuple[float, ...] = ()
    bias: float = 1.0
    bound: tuple[tuple[str, str], ...] = ()
    arithmetic: Comparison | Arithmetic | None = None
    guards: dict[str, tuple[Part, ...]] = field(default_factory=dict)  # see `lnnkit.prove.ground.instance_search`

    @cached_property
    def variables(self) -> frozenset[str]:
        """The free variables."""
        own = {term.name for term in self.terms if isinstance(term, Free)}
        inner = own.union(*(operand.variables for operand in self.operands))
        return frozenset(inner - {name for name, _ in self.bound})

    @cached_property
    def leaves(self) -> tuple[Part, ...]:
        """The atoms and numbers in it."""
        if self.kind == "atom":
            return (self,)
        return tuple(leaf for operand in self.operands for leaf in operand.leaves)

    @cached_property
    def total(self) -> bool:
        """Whether all comparisons in it have a value wherever their numbers have one."""
        own = not isinstance(self.arithmetic, Comparison) or self.arithmetic.total
        return own and all(operand.total for operand in self.operands)

    def arguments(self, bindings: Assignment) -> tuple[object, ...]:
        """The terms, with their variables replaced."""
        return tuple(bindings[term.name] if isinstance(term, Free) else term for term in self.terms)


@dataclass(eq=False)
class Stated:
    """A statement: ``part`` lies in ``[lower, upper]`` for all values of its ``variables``, which have their sorts by
    name."""

    part: Part
    lower: float
    upper: float
    variables: tuple[tuple[str, str], ...]  # names and sorts
    origin: Assertion


@dataclass(frozen=True, slots=True)
class Blanket:
    """The constraint that a statement puts on unnamed individuals."""

    stated: Stated


def part_of(form: Form, predicates: Mapping[str, Predicate]) -> Part:
    """The tree of a form. Bound variables get a number behind ``#``."""
    return _part(form, predicates, (), iter(range(1 << 60)))


def sorted_variables(form: Form, predicates: Mapping[str, Predicate]) -> tuple[tuple[str, str], ...]:
    """The free variables of a form with their sorts, by name."""
    return tuple(sorted(free_sorts(form, predicates).items()))


def _part(
    form: Form, predicates: Mapping[str, Predicate], scope: Sequence[Sequence[str]], numbers: Iterator[int]
) -> Part:
    if form.kind in ("forall", "exists"):
        sorts = bound_sorts(form, predicates)
        names = [f"#{next(numbers)}" for _ in sorts]
        body = _part(form.operands[0], predicates, (*scope, names), numbers)
        return Part(form.kind, operands=(body,), bound=tuple(zip(names, sorts, strict=True)))
    terms = tuple(Free(scope[-1 - term.between][term.place]) if isinstance(term, Slot) else term for term in form.terms)
    operands = tuple(_part(operand, predicates, scope, numbers) for operand in form.operands)
    name = "" if form.arithmetic is not None else form.name
    return Part(form.kind, name, terms, operands, form.weights, form.bias, arithmetic=form.arithmetic)
