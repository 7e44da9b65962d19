"""Whether a question follows in the classical reading."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.decision.shown_worlds import checked_world, world_of
from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding
from lnnkit.prove.encoding.graded_encoding import Constraint
from lnnkit.prove.encoding.marked_solver import MarkedSolver
from lnnkit.prove.ground.dependency_cone import Cone, TooWide
from lnnkit.prove.ground.parts import Blanket
from lnnkit.prove.ground.unfounded import loop_of, unfounded
from lnnkit.prove.solving import Z3, Status
from lnnkit.prove.verdict import ShownWorld, Verdict
from lnnkit.time_limit import Deadline, TimedOut

# The verdict, given whether the question can be false and whether it can be true
_VERDICTS: dict[tuple[Status, Status], Verdict] = {
    ("sat", "sat"): "neither",
    ("sat", "unsat"): "refuted",
    ("unsat", "sat"): "entailed",
    ("unsat", "unsat"): "inconsistent",
}
_LOOKED = 64  # after this many instances the clock is read
_SHOWN = 30  # atoms of unnamed individuals shown
_PATTERNS = 2000  # formulas about unnamed individuals beside named ones


class ClassicalDecision:
    """``decide`` gives the verdict and sets ``used``, the items on which it depends, or the two ``models``. It is
    ``left_open`` if a world was found that may break what could not be encoded. ``count`` is the number of items given
    to the solver."""

    def __init__(self, ground: Ground, question: Question, deadline: Deadline) -> None:
        self.used: dict[Constraint, None] = {}
        self.models: list[ShownWorld] = []
        self.left_open = False
        self.count = 0
        self.deadline = deadline
        self._ground = ground
        self._question = question
        self.encoding = self._encoding(folded=True)
        self._solver = MarkedSolver[Constraint](self.encoding)
        self._goal = self.encoding.truth(question.part, {})

    def replayed(self) -> ClassicalEncoding:
        """An encoding in which bounds known from inference are not constants."""
        return self._encoding(folded=False)

    def decide(self) -> Verdict:
        """Ask whether the question can be false, and whether it can be true. Raises `TooWide`, `Interrupted`."""
        try:
            ways = self._can(truth=False), self._can(truth=True)
        except TimedOut:
            return "timeout"
        return _VERDICTS.get(ways, "timeout")

    def _encoding(self, *, folded: bool) -> ClassicalEncoding:
        return ClassicalEncoding(self._ground.reading, self._ground.whole, folded=folded)

    def _can(self, *, truth: bool) -> Status:
        """Whether the question can have a truth, with a model or an unsatisfiable core."""
        goal = self._solver.mark(self._goal if truth else self.encoding.negated(self._goal))
        while (found := self._asked(goal)) == "sat":
            if not self._extended(self._solver.model()):
                return self._kept(self._solver.model(), float(truth))
        return found

    def _kept(self, model: Z3, truth: float) -> Status:
        """Keep a world, unless it may break something. Its truth is the one that was asked for, since Z3 may leave
        quantifiers over unnamed individuals unevaluated in a model."""
        shown = self._shown(model, truth)
        if shown is None:
            self.left_open = True
            return "unknown"
        self.models.append(shown)
        return "sat"

    def _mark(self, item: Constraint) -> None:
        said = self.encoding.held(item)
        if said is not True:
            self._solver.mark(said, item)

    def _asked(self, goal: Z3) -> Status:
        """Whether a model of all items has the goal; if not, the items that refute it are used."""
        found = self._solver.check(self.deadline, [goal, *self._solver.marks.values()])
        if found == "unsat":
            self.used |= dict.fromkeys(self._solver.core()[1])
        return found

    def _extended(self, model: Z3) -> bool:
        """Whether something had to be added, because the model violates it."""
        raise NotImplementedError

    def _shown(self, model: Z3, truth: float) -> ShownWorld | None:
        """The world of a model; None if it may break something."""
        raise NotImplementedError


class ConeDecision(ClassicalDecision):
    """A decision by the whole cone of a question. Raises `TooWide` if the cone is wider than its limit, or has too many
    formulas about unnamed individuals for a narrow one."""

    def __init__(self, ground: Ground, question: Question, deadline: Deadline, cone: Cone) -> None:
        self._cone = cone
        self._near = cone.grow(question.part, whole=ground.small)
        if cone.most_atoms is not None and _patterns(ground, question) > _PATTERNS:
            raise TooWide
        super().__init__(ground, question, deadline)
        self.count = len(cone.instances)
        for count, item in enumerate(cone.items):
            if count % _LOOKED == 0:
                cone.pause()
            self._mark(item)
        if self.encoding.unnamed is not None:
            for stated in ground.related(question):
                self._mark(Blanket(stated))
        if any(low > high for low, high in map(ground.known.box, cone.atoms)):  # arrested by its own facts
            self.encoding.arithmetic.asides.append(self.encoding.lifted(False))

    def _extended(self, model: Z3) -> bool:
        """Whether a loop formula had to be added, because the model contains atoms that support only each other."""
        definitions, reading = self._cone.definitions, self._ground.reading
        if not definitions:
            return False
        loose = unfounded(definitions, reading, world_of(model, self._ground.known, self.encoding))
        loop = loop_of(loose, definitions, reading)
        if not loose or loop in self._solver.marks:  # an antecedent may be unknown in the world
            return False
        self._mark(loop)
        return True

    def _shown(self, model: Z3, truth: float) -> ShownWorld | None:
        near = itertools.islice(self._cone.atoms, self._near)
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
