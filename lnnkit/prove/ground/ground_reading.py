"""The results of inference for the solver, and instances of statements: evaluated at these bounds, and searched for
those that are not neutral there.

Assignments are joined from the rows of those guards (see `parts`) that have few rows; only variables that no guard
binds range over their sorts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, cast

import numpy as np

from lnnkit.analysis.supports import Analyses, SupportCache
from lnnkit.check.program import CheckedProgram
from lnnkit.data.names import AnyNames
from lnnkit.engine.inference_run import Run
from lnnkit.explain.checker.ground_form import Free
from lnnkit.explain.proof.proof import FactSources
from lnnkit.numeric import NO_VALUE, Comparison, Term
from lnnkit.prove.ground.parts import Assignment, BoundedStatement, Instance, Part
from lnnkit.prove.rational_terms import (
    Box,
    GroundAtom,
    NotListed,
    NotRational,
    NoValue,
    aggregated,
    applied,
    comparison_box,
    connective_box,
    points,
    term_value,
)
from lnnkit.time_limit import check_time

NOISE = 1e-12  # ends closer than this are equal
_ROUNDED = 1e-6  # relative error of a derived number: 1,000 times the tolerance of equality (`lnnkit.numeric.interval`)
SLACK = 1e-9  # an instance violated by no more than this counts as satisfied,
_APART = 1e-6  # and as broken in a world if violated by more than this


class GroundReading:
    """Reads atoms, and instances of statements, at the bounds of a finished ``run``. An arrested atom has the bounds of
    its own facts, since its derived bounds contradict each other or these. In ``classical`` logic what is true to any
    degree is true."""

    def __init__(
        self, run: Run, names: AnyNames, program: CheckedProgram, origins: FactSources, *, classical: bool
    ) -> None:
        self.classical = classical
        self.program = program
        self.origins = origins
        self._names = names
        self.plan = run.plan
        self.relations = run.grounding.atoms
        crossed = run.state.crossed  # rows of arrested atoms
        self._arrested = {table.name: frozenset(table.crossed.rows.values.tolist()) for table in crossed}
        self.domain = run.grounding.domain
        self._open = run.unfinished
        self.derived = frozenset[str]().union(*program.strata)
        self._boxes: dict[GroundAtom, Box] = {}
        self._members: dict[str, list[str]] = {}

    def box(self, key: GroundAtom) -> Box:
        """The bounds of an atom, or the ends of a number."""
        box = self._boxes.get(key)
        if box is None:
            box = self._read(key)
            if self.classical and not self.program.predicates[key[0]].numeric:
                box = float(box[0] > NOISE), float(box[1] >= 1 - NOISE)
            self._boxes[key] = box
        return box

    def unknown(self, name: str) -> Box:
        """The bounds of an atom or a number of which nothing is known."""
        return (-math.inf, math.inf) if self.program.predicates[name].numeric else (0.0, 1.0)

    def completed(self, key: GroundAtom) -> bool:
        """Whether rules complete the atom: rules define its closed predicate, and no fact lists it."""
        name = key[0]
        return name in self.derived and name not in self._open and not self.lacks(key) and not self._given(key)

    def lacks(self, key: GroundAtom) -> bool:
        """Whether an argument is outside the sort of its position, so that no statement applies to the atom."""
        sorts = self.program.predicates[key[0]].sorts
        return any(not self.has(sort, text) for sort, text in zip(sorts, key[1], strict=True))

    def has(self, sort: str, entity: str) -> bool:
        """Whether an entity is of a sort."""
        return entity in self.domain.index and sort in self.domain.sorts and self.domain.has(sort, entity)

    def is_open(self, sort: str) -> bool:
        """Whether a sort may contain unnamed individuals."""
        return sort in self.domain.open_sorts

    def false_of_unnamed(self, name: str) -> bool:
        """Whether a predicate is false of unnamed individuals: it is closed, and no rule may make it true of them."""
        table = self.relations.tables.get(name)
        return self.program.predicates[name].closed and (table is None or not table.unnamed_differs)

    def members(self, sort: str) -> list[str]:
        """The entities of a sort."""
        if sort not in self._members:
            self._members[sort] = self.names_of(self.domain.sorts.get(sort, np.empty(0, np.int32)))
        return self._members[sort]

    def count(self, sort: str) -> int:
        """The number of entities of a sort."""
        return len(self.domain.sorts.get(sort, ()))

    def false_by_default(self, name: str) -> bool:
        """Whether atoms without a row are false."""
        return self.relations.tables[name].default == (0.0, 0.0)

    def false_by_closure(self, key: GroundAtom) -> bool:
        """Whether an atom is false by the closed-world assumption alone: no fact lists it, and no rule is about it."""
        closed = self.program.predicates[key[0]].closed and self.box(key) == (0.0, 0.0)
        return closed and (self.lacks(key) or not (key[0] in self.derived or self._given(key)))

    def listed(self, name: str, fixed: Mapping[int, str], end: int) -> Iterator[tuple[str, ...]]:
        """The entities of listed atoms, some arguments ``fixed``, whose lower (0) or upper (1) ``end`` is above 0."""
        table, index = self.relations.tables[name], self.domain.index
        columns = table.tuples.columns
        if all(text in index for text in fixed.values()):
            local = np.arange(len(table), dtype=np.int32)
            for place, text in fixed.items():
                local = local[columns[place].take(local) == index[text]]
            picked = local[table.take(end, local) > 0]
            yield from zip(*[self.names_of(column.take(picked)) for column in columns], strict=True)

    def settled(self, key: GroundAtom) -> bool:
        """Whether the two ends of a truth are equal."""
        low, high = self.box(key)
        return abs(high - low) <= NOISE

    @cached_property
    def least(self) -> Analyses:
        """Analyses of formulas in the world of all lower ends."""
        defaults: dict[str, Box] = {}
        for name, table in self.relations.tables.items():
            defaults[name] = table.default if table.numeric else (table.default[0], table.default[0])
        return Analyses(defaults, {}, self.domain.empty, frozenset(), SupportCache())

    def is_settled(self, name: str) -> bool:
        """Whether the two ends of all atoms of a predicate, or values of a number, are equal."""
        table = self.relations.tables.get(name)
        if table is None or table.default[0] != table.default[1] or table.unnamed_differs:
            return False
        lower, upper = table.bounds
        return bool((upper - lower <= NOISE).all()) if table.sorts else self.settled((name, ()))

    def names_of(self, ids: np.ndarray) -> list[str]:
        """The entities with these ids."""
        return self._names.at(ids, len(ids))

    def _row(self, key: GroundAtom) -> int:
        table = self.relations.tables[key[0]]
        columns = [np.array([self.domain.index[text]], np.int32) for text in key[1]]
        return int(table.tuples.find(columns, 1)[0])

    def _given(self, key: GroundAtom) -> bool:
        return bool(self.relations.tables[key[0]].flags("given").take(np.array([self._row(key)]))[0])

    def _read(self, key: GroundAtom) -> Box:
        """The bounds of an atom, as inference knows them; of an arrested one, those that facts give."""
        predicate = self.program.predicates[key[0]]
        least, most = self.unknown(key[0])
        if predicate.closed and predicate.numeric and not self.origins.of(*key):
            return NO_VALUE
        if self.lacks(key) or key[0] not in self.relations.tables:
            return least, 0.0 if predicate.closed and not predicate.numeric else most
        row = self._row(key)
        low, high = (float(end[0]) for end in self.relations.tables[key[0]].read(np.array([row])))
        arrested = row in self._arrested.get(key[0], ())
        if not arrested and not predicate.numeric:
            return low, high
        facts = self.origins.of(*key)
        least, most = max([least, *(fact.lower for fact in facts)]), min([most, *(fact.upper for fact in facts)])
        if arrested:
            return least, most
        # Derived ends are widened by their rounding error, because the solver computes exactly; an infinite end stays
        wider = [_ROUNDED * max(1.0, abs(end)) for end in (low, high)]
        return low - wider[0] if low != least else low, high + wider[1] if high != most else high

    def truth(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None = None) -> Box:
        """The bounds of a formula, from the bounds ``read`` for its atoms (default: the known ones)."""
        if part.bound:
            return self._quantifier(part, bindings, read)
        match part.kind:
            case "true" | "false":
                return (1.0, 1.0) if part.kind == "true" else (0.0, 0.0)
            case "same":
                one, other = part.arguments(bindings)
                named = [isinstance(term, str) for term in (one, other)]
                if one is other or (all(named) and one == other):  # individuals without names are terms of Z3
                    return 1.0, 1.0
                return (0.0, 0.0) if any(named) else (0.0, 1.0)
            case "atom":
                key = self.key(part, bindings)
                if key is None:
                    return (0.0, 0.0) if self.false_of_unnamed(part.name) else (0.0, 1.0)
                return (read or self.box)(key)
            case "compare":
                truth = float(part.concluded)
                return self.compared(part, bindings, read) or (truth, truth)
        operands = [self.truth(operand, bindings, read) for operand in part.operands]
        return connective_box(part.kind, part.name, part.weights, part.bias, operands)

    def compared(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None = None) -> Box | None:
        """The bounds of a comparison; None if a term in it can have no value."""
        assert isinstance(part.arithmetic, Comparison)
        try:
            ranges = tuple([self._value(operand, bindings, read or self.box) for operand in part.operands])
            return comparison_box(part.arithmetic, ranges)
        except (NotRational, NotListed):
            return 0.0, 1.0
        except NoValue:
            return None

    def _value(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box]) -> Box:
        """The ends of a number; a term or an aggregate has a value only where all that is in it has one. Raises
        `NotRational` if it has none, `NoValue` if it can have none."""
        if part.bound:
            (condition, term), elements = part.operands, list[tuple[Box, Box]]()
            for row in self.rows(part, bindings):
                truth = self.truth(condition, row, read)
                with suppress(NoValue):  # an element without a value is left out
                    elements += [(truth, self._value(term, row, read))] if truth[1] > 0 else []
            value: Any = aggregated(part.kind, *(points(element[place] for element in elements) for place in (0, 1)))
            return value, value
        if isinstance(part.arithmetic, Term):
            value = term_value(part.arithmetic, points(self._value(o, bindings, read) for o in part.operands), applied)
            return value, value
        key = self.key(part, bindings)
        if self.without_value(part.name, key):
            raise NotListed
        if key is None:
            raise NotRational
        return read(key)

    def without_value(self, name: str, key: GroundAtom | None) -> bool:
        """Whether no fact gives a closed number, of an unnamed individual where there is no ``key``."""
        return self.program.predicates[name].closed and (key is None or self.box(key) == NO_VALUE)

    def satisfied(self, instance: Instance) -> bool:
        """Whether an instance is satisfied at the known bounds."""
        low, high = self.truth(instance.stated.part, instance.bindings)
        return low >= instance.stated.lower - SLACK and high <= instance.stated.upper + SLACK

    def apart(
        self, part: Part, bindings: Assignment, bounds: Box, read: Callable[[GroundAtom], Box], *, maybe: bool = False
    ) -> bool:
        """Whether a formula is outside of ``bounds`` at the bounds ``read`` for its atoms, or ``maybe`` outside."""
        ends = self.truth(part, bindings, read)
        low, high = ends if maybe else ends[::-1]
        return low < bounds[0] - _APART or high > bounds[1] + _APART

    def key(self, part: Part, bindings: Assignment) -> GroundAtom | None:
        """The atom of a leaf; None if an argument is not a named entity."""
        arguments = part.arguments(bindings)
        for argument in arguments:
            if not isinstance(argument, str):
                return None
        return part.name, cast("tuple[str, ...]", arguments)

    def atoms(self, part: Part, bindings: Assignment, *, unsettled: bool = False) -> Iterator[GroundAtom]:
        """The atoms and numbers of a formula, about named entities; within a quantifier those of its rows. Or those
        that are ``unsettled``, and on which its truth can depend."""
        key = self.key(part, bindings) if part.kind == "atom" else None
        if key is not None and not (self.without_value(part.name, key) or (unsettled and self.settled(key))):
            yield key
        for row in self.rows(part, bindings) if part.bound else [bindings]:
            for operand in part.operands:
                known = unsettled and operand.operands and not operand.numeric
                low, high = self.truth(operand, row) if known else (0.0, 1.0)
                if high > low:
                    yield from self.atoms(operand, row, unsettled=unsettled)

    def rows(self, quantifier: Part, bindings: Assignment, *, by_rules: bool = True) -> Iterator[dict[str, object]]:
        """The rows of a quantifier, over named entities, that may differ from its neutral value: by what facts list
        and, if ``by_rules``, by what the rules of completed predicates do not make true."""
        named = {name: entity for name, entity in bindings.items() if isinstance(entity, str)}
        about = named.keys() | {name for name, _ in quantifier.bound}
        guards = [guard for guard in quantifier.row_guards if by_rules or guard.name not in self.derived]
        guards = [guard for guard in guards if guard.variables <= about]
        for assignment in self.assignments(quantifier.bound, named, guards):
            yield {**bindings, **assignment}

    def touching(self, key: GroundAtom, statements: list[BoundedStatement]) -> Iterator[Instance]:
        """The instances of statements that read an atom and may be violated."""
        for stated in statements:
            sorts = dict(stated.variables)
            for leaf in stated.part.leaves:
                if leaf.name != key[0]:
                    continue
                bound = self.unified(leaf, key[1], sorts)
                if bound is not None:
                    yield from self.instances(stated, bound)

    def instances(self, stated: BoundedStatement, bound: Mapping[str, str]) -> Iterator[Instance]:
        """The instances of a statement, some variables bound, that may be violated."""
        for assignment in self.assignments(stated.variables, bound, stated.guards):
            yield Instance(stated, assignment)

    def assignments(
        self, variables: Sequence[tuple[str, str]], bindings: Mapping[str, str], guards: Sequence[Part]
    ) -> Iterator[dict[str, str]]:
        """All extensions of ``bindings`` to the other ``variables`` (names and sorts) that satisfy the guards."""
        todo = {name: sort for name, sort in variables if name not in bindings}
        return self._search(todo, dict(bindings), tuple(guards))

    def _search(
        self, todo: dict[str, str], bindings: dict[str, str], guards: tuple[Part, ...]
    ) -> Iterator[dict[str, str]]:
        """Bindings of the variables ``todo`` that no guard rules out; the guard with the fewest of them comes first."""
        if not todo:
            yield bindings
            return
        for guard in sorted(guards, key=lambda guard: len(guard.variables & todo.keys())):
            new = guard.variables & todo.keys()
            if not new:
                continue
            given = [bindings.get(term.name) if isinstance(term, Free) else term for term in guard.terms]
            fixed = {place: text for place, text in enumerate(given) if text is not None}
            rows: Iterable[tuple[str, ...]]
            if guard.kind == "same" and fixed:
                rows = [(next(iter(fixed.values())),) * 2]
            elif guard.kind == "atom" and self.false_by_default(guard.name):
                rows = self.listed(guard.name, fixed, 1)
            else:  # every other row may be true too
                continue
            others = tuple([other for other in guards if other is not guard])
            rest = {name: sort for name, sort in todo.items() if name not in new}
            for row in rows:
                check_time()
                bound = self.unified(guard, row, todo, bindings)
                if bound is not None:
                    yield from self._search(rest, bound, others)
            return
        name = min(todo, key=lambda variable: self.count(todo[variable]))
        rest = {variable: sort for variable, sort in todo.items() if variable != name}
        for entity in self.members(todo[name]):
            check_time()
            yield from self._search(rest, bindings | {name: entity}, guards)

    def unified(
        self, leaf: Part, entities: Sequence[str], sorts: Mapping[str, str], bindings: Mapping[str, str] | None = None
    ) -> dict[str, str] | None:
        """The ``bindings`` (default: none) with those of the variables in ``sorts`` that give an atom these entities;
        other variables match any entity. None where it cannot have these, or one is not of the sort."""
        substitution = {} if bindings is None else dict(bindings)
        for term, entity in zip(leaf.terms, entities, strict=True):
            if isinstance(term, Free) and term.name in sorts and term.name not in substitution:
                if not self.has(sorts[term.name], entity):
                    return None
                substitution[term.name] = entity
            elif entity != (substitution.get(term.name, entity) if isinstance(term, Free) else term):
                return None
        return substitution

    def _quantifier(self, part: Part, bindings: Assignment, read: Callable[[GroundAtom], Box] | None) -> Box:
        (body,) = part.operands
        fold, neutral = (min, 1.0) if part.least else (max, 0.0)
        low = high = neutral
        for row in self.rows(part, bindings):
            truth = self.truth(body, row, read)
            low, high = fold(low, truth[0]), fold(high, truth[1])
            if high <= 0 if part.least else low >= 1:
                return low, high
        if any(self.is_open(sort) for _, sort in part.bound):  # there may be more rows
            return (0.0, high) if part.least else (low, 1.0)
        return low, high
