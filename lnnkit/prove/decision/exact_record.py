"""Exact bounds as steps of a proof: each cites the statements, completed atoms and atom bounds from which it follows.

The premises are inferred bounds with their own proofs, so the checker verifies every part separately and needs the
solver for the exact step only.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lnnkit.check.program import Assertion
from lnnkit.explain.checker.ground_form import Form, bound_sorts, filled, stated_formula, truth_of
from lnnkit.explain.checker.proof_checker import defined, fault
from lnnkit.explain.checker.proof_world import InvalidStep, ProofWorld
from lnnkit.explain.proof.proof import SIDES, Premise, Proof, Step, ground_atom
from lnnkit.explain.proof.quickxplain import minimal
from lnnkit.prove.decision.minimal_core import CoreItem, KnownEnd
from lnnkit.prove.decision.question import Ground, bound_formula
from lnnkit.prove.ground.dependency_cone import Definition
from lnnkit.prove.ground.ground_reading import GroundAtom, Instance
from lnnkit.syntax import ast

_MOST = 20_000  # atoms examined at most
_MINIMISED = 40  # greatest number of premises that are tested for removal


class NoRecord(Exception):
    """A bound has no proof that the checker accepts."""


def recorded(ground: Ground, proof: Proof, end: int, bound: float, items: Sequence[CoreItem]) -> Proof:
    """A ``proof`` with an exact step for a tighter end. Raises `NoRecord` if the checker does not accept the step."""
    record = _Record(ground, proof.steps)
    try:
        number = record.exact(proof.steps[proof.upper if end else proof.lower].conclusion, end, bound, items)
    except InvalidStep as problem:
        raise NoRecord(str(problem)) from None
    tighter = replace(proof, steps=record.steps, **{SIDES[end]: number})
    step = record.steps[number]
    problem = fault(step, tighter, ground.world)
    if problem is not None:
        raise NoRecord(problem)
    record.steps[number] = _least(step, tighter, ground.world)
    return _used(tighter)


def _least(step: Step, proof: Proof, world: ProofWorld) -> Step:
    """The step with a minimal set of premises; a statement may occur with both ends."""
    if len(step.premises) > _MINIMISED:
        return step
    for atom in step.completes:
        fewer = replace(step, completes=[other for other in step.completes if other is not atom])
        step = fewer if fault(fewer, proof, world) is None else step
    if not step.completes:
        step = replace(step, rules=())

    def enough(premises: Sequence[Premise]) -> bool:
        return fault(replace(step, premises=premises), proof, world) is None

    return replace(step, premises=minimal(step.premises, enough))


def _used(proof: Proof) -> Proof:
    """The proof without unused steps."""
    kept = sorted(proof.reachable(*proof.ends))
    places = {number: place for place, number in enumerate(kept)}
    steps = [_renumbered(proof.steps[number], places) for number in kept]
    return replace(proof, steps=steps, lower=places[proof.lower], upper=places[proof.upper])


def _renumbered(step: Step, places: Mapping[int, int]) -> Step:
    return replace(step, premises=[Premise(places[premise.step], premise.weight) for premise in step.premises])


class _Record:
    """A growing list of ``steps``: the premises of an exact step, and that step."""

    def __init__(self, ground: Ground, steps: Sequence[Step]) -> None:
        self.steps = [*steps]
        self._ground = ground
        self._world = ground.world
        self._placed: dict[GroundAtom, tuple[Proof, dict[int, int]]] = {}
        self._closed: dict[str, int] = {}

    def exact(self, conclusion: ast.Expression, end: int, bound: float, items: Sequence[CoreItem]) -> int:
        """Adds the step by which an end follows from items; returns its number."""
        world = self._world
        premises: dict[int, None] = {}
        completes: list[ast.Expression] = []
        rules: list[Assertion] = []
        forms = [world.form(conclusion)]
        for item in items:
            match item:
                case Instance():
                    # Not those of a `forall` that was instantiated
                    bindings = {name: text for name, text in item.bindings.items() if not name.startswith("#")}
                    premises |= dict.fromkeys(self._stated(item.stated.origin, bindings))
                    forms.append(world.instance(item.stated.origin, bindings))
                case Definition():
                    completes.append(ground_atom(*item.key))
                    completed = defined(world.form(completes[-1]), world)
                    rules += [statement for statement in completed.statements if statement not in rules]
                    forms += [rule for rule, _ in completed.instances]
                case KnownEnd():
                    premises[self._known(item.key, item.end)] = None
                case _:  # items of the classical reading, which say nothing about degrees
                    pass
        atoms = dict.fromkeys(itertools.chain.from_iterable(map(self._closed_atoms, forms)))
        premises |= {self._false(key): None for key in atoms if self._ground.known.box(key)[1] <= 0}
        rests = [Premise(number, 1.0) for number in premises]
        return self._add(Step(conclusion, SIDES[end], bound, "exact", premises=rests, completes=completes, rules=rules))

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _stated(self, statement: Assertion, bindings: Mapping[str, str]) -> Iterator[int]:
        """The steps for an instance of a statement, one for each end that it gives."""
        starts = self._world.starts
        logic = None if statement.logic == self._world.program.logic else statement.logic
        said = bound_formula(stated_formula(statement, starts), bindings, logic)
        for side, truth, nothing in zip(SIDES, truth_of(statement, starts), (0.0, 1.0), strict=True):
            if truth != nothing:
                yield self._add(Step(said, side, truth, "stated", statement, bindings=dict(bindings)))

    def _known(self, key: GroundAtom, end: int) -> int:
        """The bound of an atom or a number from inference, with its proof."""
        if key not in self._placed:
            self._placed[key] = self._ground.explain(key[0], list(key[1])), {}
        proof, places = self._placed[key]
        top = proof.upper if end else proof.lower
        fresh = [number for number in proof.reachable(top) if number not in places]
        places |= {number: len(self.steps) + place for place, number in enumerate(fresh)}
        self.steps += [_renumbered(proof.steps[number], places) for number in fresh]
        return places[top]

    def _false(self, key: GroundAtom) -> int:
        """The step which states that an atom of a closed predicate is false."""
        name = key[0]
        if self._world.derived(name) or self._world.origins.of(*key):
            return self._known(key, 1)
        if name not in self._closed:
            variables = tuple(ast.Variable(f"X{place}") for place in range(1, len(key[1]) + 1))
            self._closed[name] = self._add(Step(ast.Atom(name, variables), "upper", 0.0, "closed"))
        return self._closed[name]

    def _closed_atoms(self, form: Form) -> Iterator[GroundAtom]:
        """The atoms of closed predicates in a formula and all its rows. Raises `NoRecord` if there are too many."""
        predicates, stack, count = self._world.program.predicates, [form], 0
        while stack:
            inner = stack.pop()
            rows = [self._world.sorts[sort] for sort in bound_sorts(inner, predicates)] if inner.count else []
            count += 1
            if count > _MOST or math.prod(map(len, rows)) > _MOST:
                raise NoRecord("its quantifiers have too many rows")
            if inner.count:
                stack += [filled(inner.operands[0], row) for row in itertools.product(*rows)]
            elif inner.kind != "atom":
                stack += inner.operands
            elif predicates[inner.name].closed and not predicates[inner.name].numeric:
                yield inner.name, tuple(map(str, inner.terms))
