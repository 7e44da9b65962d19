"""The tightest bounds of a question: its least and greatest truth in the worlds that the program allows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Self

from lnnkit.prove.decision.question import Asked
from lnnkit.prove.decision.shown_worlds import checked_world
from lnnkit.prove.encoding.graded_encoding import ONE, ZERO, Constraint, GradedEncoding
from lnnkit.prove.solving import Z3, SolverStatus, checked, fraction
from lnnkit.prove.verdict import ShownWorld
from lnnkit.time_limit import TimedOut

SLACK = Fraction(1, 10**9)  # greatest effect of rounding on constraints
_LOOKED = 64  # after this many constraints the clock is read
_TURNS = 100  # models whose numbers are tried before an end is sought by bisection
_NEAR = Fraction(1, 10**7)  # precision of an end that is no linear optimum,
_LAST_SECONDS = 1.0  # and time to find that it is the truth of a world


class GradedDecision:
    """The cone of a question in an optimiser, with every constraint widened by ``slack``. `decide` finds whether any
    world exists (``consistent``, None if unknown), and the ``ends`` that were settled, lower (0) and upper (1), with
    ``worlds`` of the least and the greatest truth; it is ``broken`` if the solver had to be stopped. Raises `TooWide`
    if the time runs out during translation."""

    def __init__(self, asked: Asked, slack: Fraction, ends: Sequence[int] = (0, 1)) -> None:
        self.consistent: bool | None = None
        self.broken = False
        self.ends: dict[int, Fraction | None] = {}
        self.worlds: list[ShownWorld] = []
        self.cone = asked.cone
        self._asked, self._ground, self._question = asked, asked.ground, asked.question
        self._deadline = self._until = asked.deadline  # for the question, and for one end
        self._wanted = ends
        self._reading = asked.ground.reading  # has the values that a model lacks
        self.encoding = GradedEncoding(self._reading, folded=True, slack=slack)
        self._said: list[Z3] = []
        self._given = 0  # how much of that the linear solver has
        self._goal = self.encoding.truth(asked.question.part, {})
        self._translate()

    def decide(self) -> Self:
        """Whether any world exists, and the least and the greatest truth. Raises `Interrupted`."""
        try:
            self._seek()
        except TimedOut:
            self.broken = True
        return self

    def _seek(self) -> None:
        self._solver = self._new_solver()
        status = self._checked(self._solver)
        self.consistent = {"sat": True, "unsat": False}.get(status)
        if not self.consistent:
            return
        if isinstance(self._goal, Fraction):
            self.ends = {0: self._goal, 1: self._goal}
            return
        seen = self._solver.model()
        for end in self._wanted:
            self._until = self._deadline.share(2 - end)
            self.ends[end], model = self._extreme(end, seen)
            if model is not None and (world := self._world(model)) is not None:
                self.worlds.append(world)

    # --- the solver -------------------------------------------------------------------------------------------------

    def _translate(self) -> None:
        for item in self.cone.items:
            self.cone.pause()
            self._say(item)
        for low, high in map(self._ground.known.box, self.cone.atoms):
            if low > high + float(SLACK) * max(1.0, abs(low), abs(high)):  # arrested by its own facts
                self._said.append(self.encoding.lifted(False))
        self._said += self.encoding.drained()

    def _say(self, item: Constraint) -> None:
        said = self.encoding.held(item)
        if said is not True:
            self._said.append(self.encoding.lifted(said))

    def _violated(self, _model: Z3) -> list[Z3]:
        """What has not been said yet and a model violates; says it."""
        return []

    def _checked(self, solver: Z3) -> SolverStatus:
        """Whether there is a model that violates nothing."""
        while True:
            status = checked(self.encoding.z3, solver, self._until)
            more = self._violated(solver.model()) if status == "sat" else []
            if not more:
                return status
            solver.add(more)

    def _new_solver(self) -> Z3:
        z3, context = self.encoding.z3, self.encoding.context
        return self._filled(z3.SolverFor("QF_NRA", ctx=context) if self._nonlinear else z3.Solver(ctx=context))

    def _filled(self, solver: Z3, values: Sequence[tuple[Z3, Z3]] = ()) -> Z3:
        """A solver with all that is said, where numbers have these ``values``. Raises `TimedOut`."""
        for start in range(0, len(self._said), _LOOKED):
            if self._deadline.passed:
                raise TimedOut
            said = self._said[start : start + _LOOKED]
            solver.add([self.encoding.z3.substitute(constraint, *values) for constraint in said] if values else said)
        solver.add([number == value for number, value in values])
        return solver

    @property
    def _nonlinear(self) -> bool:
        return self.encoding.nonlinear or self.encoding.arithmetic.nonlinear

    def _value(self, model: Z3) -> Fraction:
        return fraction(model.eval(self._goal, model_completion=True))

    def _world(self, model: Z3) -> ShownWorld | None:
        near, instances = itertools.islice(self.cone.atoms, self.cone.near), self.cone.instances
        truth = float(min(ONE, max(ZERO, self._value(model))))
        return checked_world(model, truth, self._ground, self._question, self.encoding, near, instances, self._reading)

    def _extreme(self, end: int, seen: Z3) -> tuple[Fraction | None, Z3]:
        """The least (0) or the greatest (1) truth, with a model that attains it or nearly so; None if it is not
        settled. ``seen`` is a model."""
        known = self._ground.reading.box(self._question.part, {})[end]
        limit = self.encoding.end(known, end)
        status, model = self._beyond(end, limit)
        if status == "sat":  # some world attains what inference found
            return limit, model
        if not self._nonlinear:
            return self._optimum(end)
        if not self.encoding.nonlinear:
            return self._among_numbers(end, known, seen)
        return self._approached(end, known, self._value(seen))

    def _beyond(self, end: int, limit: Fraction, *, strictly: bool = False) -> tuple[SolverStatus, Z3]:
        """Whether the truth can be at ``limit`` or beyond it, or ``strictly`` beyond it."""
        number = self.encoding.arithmetic.real(limit)
        solver = self._new_solver() if self._nonlinear else self._solver
        if not self._nonlinear:  # the other procedure cannot continue from an earlier result
            solver.add(self._said[self._given :])
            self._given = len(self._said)
            solver.push()
        solver.add(self._goal >= number if end else self._goal <= number)
        if strictly:
            solver.add(self._goal != number)
        status = self._checked(solver)
        model = solver.model() if status == "sat" else None
        if not self._nonlinear:
            solver.pop()
        return status, model

    def _among_numbers(self, end: int, known: float, model: Z3) -> tuple[Fraction | None, Z3]:
        """The end where truths are linear once numbers are known: the optimum for those of a model, if they are
        rational, until no model is beyond it."""
        arithmetic = self.encoding.arithmetic
        numbers = [*arithmetic.numbers.values(), *arithmetic.roots.values()]
        for _ in range(_TURNS):
            reached, at = self._value(model), model
            values = [(number, model.eval(number, model_completion=True)) for number in numbers]
            if all(self.encoding.z3.is_rational_value(value) for _, value in values):
                reached, at = self._optimum(end, values)
            if reached is None:
                return None, None
            status, model = self._beyond(end, reached, strictly=True)
            if status != "sat":
                return (reached, at) if status == "unsat" else (None, None)
        return self._approached(end, known, self._value(model))

    def _optimum(self, end: int, values: Sequence[tuple[Z3, Z3]] = ()) -> tuple[Fraction | None, Z3]:
        """The end by linear optimisation, where numbers have these ``values``; an infimum that no world attains
        counts."""
        optimiser = self._filled(self.encoding.z3.Optimize(ctx=self.encoding.context), values)
        handle = optimiser.maximize(self._goal) if end else optimiser.minimize(self._goal)
        if self._checked(optimiser) != "sat":
            return None, None
        infinite, value, _ = (optimiser.upper_values if end else optimiser.lower_values)(handle)
        if fraction(infinite) != 0:
            return None, None
        return fraction(value), optimiser.model()

    def _approached(self, end: int, known: float, seen: Fraction) -> tuple[Fraction | None, Z3]:
        """The end by bisection between the known bound and the worlds seen: the truth of the last one, if no other is
        beyond it, else a bound near it."""
        proved, shown = self.encoding.end(known, end), seen
        model = None
        while abs(shown - proved) > _NEAR:
            middle = _between(proved, shown)
            status, beyond = self._beyond(end, middle)
            if status == "unknown":
                return None, None
            if status == "unsat":
                proved = middle
            else:
                model, shown = beyond, self._value(beyond)
                shown = max(shown, middle) if end else min(shown, middle)
        self._until = self._until.capped(_LAST_SECONDS)
        with suppress(TimedOut):  # then the bound stands
            status, _ = self._beyond(end, shown, strictly=True)
            proved = shown if status == "unsat" else proved
        return proved, model


def _between(one: Fraction, other: Fraction) -> Fraction:
    """A number with few digits between two numbers."""
    middle = (one + other) / 2
    for digits in range(1, 20):
        near = Fraction(round(middle * 10**digits), 10**digits)
        if abs(near - middle) < abs(one - other) / 4:
            return near
    return middle


def outward(value: Fraction, end: int) -> float:
    """The float for a lower (0) or upper (1) end, rounded outward; not rounded if the decimal text of the nearest float
    equals the end."""
    near = float(value)
    if Fraction(repr(near)) == value:
        return near
    if end == 0:
        return near if Fraction(near) <= value else math.nextafter(near, -math.inf)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
