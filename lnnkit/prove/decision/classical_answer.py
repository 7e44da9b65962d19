"""Answers a question in the classical reading, with a core or two models: by the whole cone if that is small, else by
lazy instantiation."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from lnnkit.prove.decision.classical_decision import ClassicalDecision
from lnnkit.prove.decision.minimal_core import Core, core_of
from lnnkit.prove.decision.question import Asked, Ground, Question
from lnnkit.prove.decision.shown_worlds import checked_world, contrasted, world_of
from lnnkit.prove.ground.dependency_cone import TooWide, loop_of, unfounded
from lnnkit.prove.ground.parts import Blanket
from lnnkit.prove.lazy.lazy_decision import LazyDecision
from lnnkit.prove.solving import Z3
from lnnkit.prove.verdict import Proved, ShownWorld, Verdict
from lnnkit.time_limit import Deadline

_SHOWN = 30  # atoms of unnamed individuals shown
_PATTERNS = 2000  # formulas about unnamed individuals beside named ones
_FIRST_SECONDS = 1.0  # time limit for quantifiers over unnamed individuals
_LATE = "time ran out before it was decided"
_OPEN = "it depends on arithmetic that the solver cannot be given: a unit, an unknown exponent, a power above 16"


class ConeDecision(ClassicalDecision):
    """A decision by the whole cone of a question. Raises `TooWide` if the cone is wider than its limit, or has too many
    formulas about unnamed individuals for a narrow one."""

    def __init__(self, asked: Asked) -> None:
        ground, question, self._cone = asked.ground, asked.question, asked.cone
        cone = self._cone
        cone.grow(question.part, whole=ground.small)
        if cone.most_atoms is not None and _patterns(ground, question) > _PATTERNS:
            raise TooWide
        super().__init__(asked)
        self.count = len(cone.instances)
        for item in cone.items:
            cone.pause()
            self._mark(item)
        if self.encoding.unnamed is not None:
            statements = ground.related(question)
            for blanket in (
                *map(Blanket, statements),
                *map(ground.index.completion, ground.of_unnamed(question, statements)),
            ):
                self._mark(blanket)
        if any(low > high for low, high in map(ground.known.box, cone.atoms)):  # arrested by its own facts
            self.encoding.arithmetic.asides.append(self.encoding.lifted(False))

    def _extended(self, model: Z3) -> bool:
        """Whether a loop formula had to be added, because the model contains atoms that support only each other."""
        definitions, reading = self._cone.definitions, self._ground.reading
        if not definitions:
            return False
        loose = unfounded(definitions, reading, world_of(model, self._ground.known, self.encoding))
        loop = loop_of(loose, definitions)
        if not loose or loop in self._solver.marks:  # an antecedent may be unknown in the world
            return False
        self._mark(loop)
        return True

    def _shown(self, model: Z3, truth: float) -> ShownWorld | None:
        near = itertools.islice(self._cone.atoms, self._cone.near)
        instances = self._cone.instances
        shown = checked_world(model, truth, self._ground, self._question, self.encoding, near, instances)
        others = tuple(self.encoding.true_of_unnamed(model, _SHOWN))
        return shown and replace(shown, atoms=(*shown.atoms, *others))


def _patterns(ground: Ground, question: Question) -> int:
    """The number of formulas that instantiate statements for unnamed individuals beside named ones."""
    known, total = ground.known, 0
    for stated in ground.related(question):
        counts = [(known.count(sort), known.is_open(sort)) for _, sort in stated.variables]
        total += math.prod(count + is_open for count, is_open in counts) - math.prod(count for count, _ in counts)
    return total


def prove_classically(ground: Ground, question: Question, timeout: float | None) -> Proved:
    """Whether a question is true in all worlds of the classical reading, or false in all. Raises `NoSolver`."""
    return Asked(ground, question, "classical", 1.0, Deadline(timeout)).answered(_answer)


def _answer(asked: Asked) -> Proved:
    ground, question = asked.ground, asked.question
    if ground.conflict is not None:
        return Core.of_conflict(*ground.conflict()).shown_by(Proved(question.text, "classical", "inconsistent"))
    decision, verdict = _decided(asked)
    if verdict == "timeout":
        return asked.propagated(_OPEN if decision.left_open else _LATE)
    proved = Proved(question.text, "classical", verdict, translated=decision.count)
    if verdict == "neither":
        return replace(proved, models=contrasted(decision.models))
    encoding = decision.replayed()

    def goal() -> Z3 | bool:
        truth = encoding.truth(question.part, {})
        return encoding.negated(truth) if verdict == "entailed" else truth if verdict == "refuted" else True

    return core_of(ground, encoding, goal, decision.used, asked.deadline).shown_by(proved)


def _decided(asked: Asked) -> tuple[ClassicalDecision, Verdict]:
    """Decide by the whole cone of the question if that is small, else by lazy instantiation. Quantifiers over unnamed
    individuals may keep the solver busy for ever, so the cone then gets only a share of the time."""
    asked.cone = asked.ground.cone(asked.deadline, asked.ground.eager)
    try:
        decision = ConeDecision(asked)
    except TooWide:
        if not asked.lazily:
            asked.cone = asked.ground.cone(asked.deadline)
            decision = ConeDecision(asked)
            return decision, decision.decide()
    else:
        if decision.encoding.unnamed is None or not asked.lazily:
            return decision, decision.decide()
        decision.deadline = asked.deadline.share(3).capped(_FIRST_SECONDS)
        verdict = decision.decide()
        if verdict != "timeout" or asked.deadline.passed:
            return decision, verdict
    decision = LazyDecision(asked)
    return decision, decision.decide()
