"""Whether a question follows in the classical reading: what the ways to decide have in common."""

from __future__ import annotations

from lnnkit.prove.decision.question import Asked
from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding
from lnnkit.prove.encoding.graded_encoding import Constraint
from lnnkit.prove.encoding.marked_solver import MarkedSolver
from lnnkit.prove.solving import Z3, SolverStatus
from lnnkit.prove.verdict import ShownWorld, Verdict
from lnnkit.time_limit import TimedOut

# The verdict, given whether the question can be false and whether it can be true
_VERDICTS: dict[tuple[SolverStatus, SolverStatus], Verdict] = {
    ("sat", "sat"): "neither",
    ("sat", "unsat"): "refuted",
    ("unsat", "sat"): "entailed",
    ("unsat", "unsat"): "inconsistent",
}


class ClassicalDecision:
    """``decide`` gives the verdict and sets ``used``, the items on which it depends, or the two ``models``. It is
    ``left_open`` if a world was found that may break what could not be encoded. ``count`` is the number of items given
    to the solver."""

    def __init__(self, asked: Asked) -> None:
        self.used: dict[Constraint, None] = {}
        self.models: list[ShownWorld] = []
        self.left_open = False
        self.count = 0
        self.deadline = asked.deadline
        self._asked, self._ground, self._question = asked, asked.ground, asked.question
        self.encoding = self._encoding()
        self._solver = MarkedSolver[Constraint](self.encoding)
        self._goal = self.encoding.truth(asked.question.part, {})

    def replayed(self) -> ClassicalEncoding:
        """An encoding in which bounds known from inference are not constants."""
        return ClassicalEncoding(self._ground.reading, self._ground.whole, folded=False)

    def decide(self) -> Verdict:
        """Ask whether the question can be false, and whether it can be true. Raises `TooWide`, `Interrupted`."""
        try:
            ways = self._can(truth=False), self._can(truth=True)
        except TimedOut:
            return "timeout"
        return _VERDICTS.get(ways, "timeout")

    def _encoding(self) -> ClassicalEncoding:
        return ClassicalEncoding(self._ground.reading, self._ground.whole, folded=True)

    def _can(self, *, truth: bool) -> SolverStatus:
        """Whether the question can have a truth, with a model or an unsatisfiable core."""
        goal = self._solver.mark(self._goal if truth else self.encoding.negated(self._goal))
        while (status := self._checked(goal)) == "sat":
            if not self._extended(self._solver.model()):
                return self._kept(self._solver.model(), float(truth))
        return status

    def _kept(self, model: Z3, truth: float) -> SolverStatus:
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

    def _checked(self, goal: Z3) -> SolverStatus:
        """Whether a model of all items has the goal; if not, the items that refute it are used."""
        status = self._solver.check(self.deadline, [goal, *self._solver.marks.values()])
        if status == "unsat":
            self.used |= dict.fromkeys(self._solver.core()[1])
        return status

    def _extended(self, model: Z3) -> bool:
        """Whether something had to be added, because the model violates it."""
        raise NotImplementedError

    def _shown(self, model: Z3, truth: float) -> ShownWorld | None:
        """The world of a model; None if it may break something."""
        raise NotImplementedError
