"""The tightest bounds of a question: its least and greatest truth in the worlds that the program allows.

`LazyBounds` starts with the question alone. The optimiser's model is laid over the least world (`WorldReading`), and
the instances that this world violates are added. Bounds only get tighter by that, so they hold at any moment; where an
extreme model violates nothing it is a world of the program, and the bound is the tightest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Self

from lnnkit.prove.decision.minimal_core import CoreItem, core_of, sufficient_items
from lnnkit.prove.decision.question import TOLERANCE, Asked, Decision, contrasted, verdict_at
from lnnkit.prove.encoding.graded_encoding import Constraint, GradedEncoding
from lnnkit.prove.ground.relevant_instances import TooWide, WorldReading
from lnnkit.prove.rational_terms import ONE, ZERO, rational
from lnnkit.prove.solving import Z3, SolverStatus, checked, fraction
from lnnkit.prove.verdict import Proved
from lnnkit.time_limit import TimedOut, check_time

SLACK = Fraction(1, 10**9)  # greatest effect of rounding on constraints
_LEAST = Fraction(1, 10**30)  # less than any rounding of truths
_GUESSES = 100  # models whose numbers are tried before an end is sought by bisection
_NEAR = Fraction(1, 10**7)  # precision of an end that is no linear optimum,
_LAST_SECONDS = 1.0  # and time to find that it is the truth of a world
_SHOWN = 60  # atoms of a world that was found lazily
# Models after which all is added that the question depends on. `A0 | B0`, 400 links each from A0 and B0 and `A400 |
# B400 -> Goal` are decided in 1.7 s with 10 or 30, 2.2 s with 100, and not in 60 s without a limit: each model shows
# one link more. A random graph over 300 nodes of a closed sort takes 12 models; with 10 it takes 9.7 s in place of
# 1.3
_TURNS = 100


class GradedDecision(Decision):
    """The cone of a question in an optimiser, with every constraint widened by ``slack``. `decide` finds whether any
    world exists (``consistent``, None if unknown), and the ``ends`` that were settled, lower (0) and upper (1), with
    ``worlds`` of the least and the greatest truth; it is ``broken`` if the solver had to be stopped. Raises `TimedOut`
    if the time runs out during translation."""

    def __init__(self, asked: Asked, slack: Fraction, ends: Sequence[int] = (0, 1)) -> None:
        self._slack = slack
        super().__init__(asked)
        self.consistent: bool | None = None
        self.broken = False
        self.ends: dict[int, Fraction | None] = {}
        self._end_deadline = asked.deadline
        self._wanted = ends
        self._constraints: list[Z3] = []
        self._passed = 0  # constraints that the linear solver has
        self._translate()

    def encoded(self, *, folded: bool) -> GradedEncoding:
        return GradedEncoding(self._ground.known, folded=folded, slack=self._slack)

    def decide(self) -> Self:
        """Whether any world exists, and the least and the greatest truth. Raises `Interrupted`."""
        try:
            self._solver = self._new_solver()
            self.consistent = {"sat": True, "unsat": False}.get(self._checked(self._solver))
            if self.consistent and isinstance(self._goal, Fraction):
                self.ends = {0: self._goal, 1: self._goal}
            elif self.consistent:
                seen = self._solver.model()
                for end in self._wanted:
                    self._end_deadline = self.deadline.share(2 - end)
                    self.ends[end], model = self._extreme(end, seen)
                    truth = ZERO if model is None else min(ONE, max(ZERO, self._value(model)))
                    world = None if model is None else self._world(model, float(truth))
                    self.worlds += [] if world is None else [world]
        except TimedOut:
            self.broken = True
        return self

    def _translate(self) -> None:
        for item in self.cone.items:
            check_time()
            self._say(item)
        for low, high in map(self._ground.known.box, self.cone.atoms):
            if low > high + float(SLACK) * max(1.0, abs(low), abs(high)):  # arrested by its own facts
                self._constraints.append(self.encoding.lifted(False))
        self._constraints += self.encoding.drained()

    def _say(self, item: Constraint) -> None:
        said = self.encoding.held(item)
        if said is not True:
            self._constraints.append(self.encoding.lifted(said))

    def _violated(self, _model: Z3) -> list[Z3]:
        """What has not been said yet and a model violates; says it."""
        return []

    def _checked(self, solver: Z3) -> SolverStatus:
        """Whether there is a model that violates nothing."""
        while True:
            status = checked(solver, self._end_deadline)
            more = self._violated(solver.model()) if status == "sat" else []
            if not more:
                return status
            solver.add(more)

    def _new_solver(self) -> Z3:
        z3, context = self.encoding.z3, self.encoding.context
        return self._filled(z3.SolverFor("QF_NRA", ctx=context) if self._nonlinear else z3.Solver(ctx=context))

    def _filled(self, solver: Z3, values: Sequence[tuple[Z3, Z3]] = ()) -> Z3:
        """A solver with all that is said, where numbers have these ``values``. Raises `TimedOut`."""
        for said in self._constraints:
            if self.deadline.passed:
                raise TimedOut
            solver.add(self.encoding.z3.substitute(said, *values) if values else said)
        solver.add([number == value for number, value in values])
        return solver

    @property
    def _nonlinear(self) -> bool:
        return self.encoding.nonlinear or self.encoding.multiplied

    def _value(self, model: Z3, truth: Z3 | None = None) -> Fraction:
        """The value of a ``truth`` (default: that of the question) in a model."""
        return fraction(model.eval(self._goal if truth is None else truth, model_completion=True))

    def _extreme(self, end: int, seen: Z3) -> tuple[Fraction | None, Z3]:
        """The least (0) or greatest (1) truth, None if not settled, and a model near it. ``seen`` is any model."""
        limit = self.encoding.end(self._ground.known.truth(self._question.part, {})[end], end)
        status, model = self._beyond(end, limit)
        if status == "sat":  # some world attains what inference found
            return limit, model
        if not self._nonlinear:
            return self._optimum(end)
        if not self.encoding.nonlinear:
            return self._among_numbers(end, limit, seen)
        return self._approached(end, limit, self._value(seen))

    def _beyond(self, end: int, limit: Fraction, *, strictly: bool = False) -> tuple[SolverStatus, Z3]:
        """Whether the truth can be at ``limit`` or beyond it, or ``strictly`` beyond it."""
        number = self.encoding.real(limit)
        solver = self._new_solver() if self._nonlinear else self._solver
        if not self._nonlinear:  # the other procedure cannot continue from an earlier result
            solver.add(self._constraints[self._passed :])
            self._passed = len(self._constraints)
            solver.push()
        solver.add(self._goal >= number if end else self._goal <= number)
        if strictly:
            solver.add(self._goal != number)
        status = self._checked(solver)
        model = solver.model() if status == "sat" else None
        if not self._nonlinear:
            solver.pop()
        return status, model

    def _among_numbers(self, end: int, limit: Fraction, model: Z3) -> tuple[Fraction | None, Z3]:
        """The end where truths are linear once numbers are known: the optimum for those of ever better models."""
        numbers = [*self.encoding.numbers.values(), *self.encoding.roots.values()]
        for _ in range(_GUESSES):
            reached, at = self._value(model), model
            values = [(number, model.eval(number, model_completion=True)) for number in numbers]
            if all(self.encoding.z3.is_rational_value(value) for _, value in values):
                reached, at = self._optimum(end, values)
            if reached is None:
                return None, None
            status, model = self._beyond(end, reached, strictly=True)
            if status != "sat":
                return (reached, at) if status == "unsat" else (None, None)
        return self._approached(end, limit, self._value(model))

    def _optimum(self, end: int, values: Sequence[tuple[Z3, Z3]] = ()) -> tuple[Fraction | None, Z3]:
        """The end by linear optimisation, where numbers have these ``values``; or an infimum that none attains."""
        optimiser = self._filled(self.encoding.z3.Optimize(ctx=self.encoding.context), values)
        handle = optimiser.maximize(self._goal) if end else optimiser.minimize(self._goal)
        if self._checked(optimiser) != "sat":
            return None, None
        infinite, value, _ = (optimiser.upper_values if end else optimiser.lower_values)(handle)
        if fraction(infinite) != 0:
            return None, None
        return fraction(value), optimiser.model()

    def _approached(self, end: int, proved: Fraction, shown: Fraction) -> tuple[Fraction | None, Z3]:
        """The end by bisection between what is ``proved`` and the truths of worlds that were ``shown``: that of the
        last one, if no other is beyond it, else a bound near it."""
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
        self._end_deadline = self._end_deadline.capped(_LAST_SECONDS)
        with suppress(TimedOut):  # then the bound stands
            status, _ = self._beyond(end, shown, strictly=True)
            proved = shown if status == "unsat" else proved
        return proved, model


class LazyBounds(GradedDecision):
    """As `GradedDecision`, with a cone that starts empty and gets the instances that are added."""

    _reading: WorldReading

    def _translate(self) -> None:
        self.cone = self.asked.cone = self.asked.new_cone()
        self.cone.near = _SHOWN
        asked, ground = self.asked, self._ground
        self._reading = WorldReading(ground.known, asked.statements, asked.mentioning, ground.limit)
        self._turns = 0
        self._drain()

    def _violated(self, model: Z3) -> list[Z3]:
        before = len(self._constraints)
        truths = {
            key: float(min(ONE, max(ZERO, self._value(model, made)))) for key, made in self.encoding.atoms.items()
        }
        for instance in self._reading.violated(truths):
            self.cone.take(instance)
            self._say(instance)
        self._turns += 1
        if self._turns == _TURNS and len(self._constraints) > before:
            self._add_all()
        self._drain()
        if self._ground.tell is not None:
            self._ground.tell(len(self.cone.instances), len(self.encoding.atoms))
        return self._constraints[before:]

    def _add_all(self) -> None:
        """Add all that the question depends on, unless that is too much."""
        whole = self.asked.new_cone()
        try:
            whole.grow(self._question.part)
        except TooWide:
            return
        for instance in whole.instances:
            check_time()
            self._reading.added.add(instance)
            self.cone.take(instance)
            self._say(instance)

    def _drain(self) -> None:
        self._constraints += self.encoding.drained()
        self.cone.atoms |= dict.fromkeys(self.encoding.atoms)


def _between(one: Fraction, other: Fraction) -> Fraction:
    """A number with few digits between two numbers."""
    middle = (one + other) / 2
    rounded = (round(middle, digits) for digits in range(1, 20))
    return next((near for near in rounded if abs(near - middle) < abs(one - other) / 4), middle)


def outward(value: Fraction, end: int) -> float:
    """A lower (0) or upper (1) end, rounded outward unless the decimal text of the nearest float equals it."""
    near = float(value)
    beyond = Fraction(near) >= value if end else Fraction(near) <= value
    if beyond or Fraction(repr(near)) == value:
        return near
    return math.nextafter(near, math.inf if end else -math.inf)


# --- the answer -------------------------------------------------------------------------------------------------------


def exact_ends(asked: Asked, items: dict[int, Sequence[CoreItem]]) -> Proved:
    """The bounds of a question. Adds the ``items`` from which each end (0 lower, 1 upper) follows that is tighter than
    the inferred one."""
    settled = _settled(asked)
    if settled.consistent is False or asked.ground.conflict is not None:
        return _inconsistent(asked, settled)
    proved, short = _bounded(asked, settled), rational(TOLERANCE / 2)
    assert proved.lower is not None and proved.upper is not None
    for end, bound in enumerate((proved.lower, proved.upper)):
        if abs(bound - asked.question.inferred[end]) > TOLERANCE:
            items[end] = sufficient_items(settled, (end, rational(bound) + short if end else rational(bound) - short))
    return proved


def prove_exactly(asked: Asked) -> Proved:
    """The tightest bounds of a question, and whether they make it true or false."""
    ground, settled = asked.ground, _settled(asked)
    unsure = settled.consistent is None or settled.encoding.loose or not ground.small
    if settled.consistent is False or (ground.conflict is not None and unsure):
        return _inconsistent(asked, settled)
    proved, short = _bounded(asked, settled), rational(2 * TOLERANCE)
    if proved.verdict not in ("entailed", "refuted"):
        return replace(proved, models=contrasted(settled.worlds))
    end, alpha = int(proved.verdict == "refuted"), rational(asked.alpha)
    return core_of(settled, (end, 1 - alpha + short if end else alpha - short)).shown_by(proved)


def _inconsistent(asked: Asked, settled: GradedDecision) -> Proved:
    conflict, question, count = asked.ground.conflict, asked.question, len(asked.cone.instances)
    core = core_of(settled) if conflict is None else conflict()
    return core.shown_by(Proved(question.text, "exact", "inconsistent", *question.inferred, translated=count))


def _settled(asked: Asked) -> GradedDecision:
    """The decision with its bounds. Contradictions that are due to rounding are resolved by widening constraints by a
    tolerance. Those that even `_LEAST` resolves are none of rounding: a truth function jumps there."""
    decision = partial(GradedDecision, asked)
    try:
        asked.cone.grow(asked.question.part, whole=asked.ground.small)
    except TooWide:
        asked.cone = asked.new_cone()
        if asked.without_completion and not asked.aggregates:
            decision = partial(LazyBounds, asked)
        else:
            asked.cone.grow(asked.question.part, whole=asked.ground.small)
    slack, settled, cone = ZERO, decision(ZERO).decide(), asked.cone
    if settled.consistent is False:
        wider = decision(SLACK).decide()
        if wider.consistent and decision(_LEAST, ()).decide().consistent:
            asked.cone = cone
            return settled
        slack, settled = SLACK, wider
    if settled.broken and settled.consistent and settled.ends.get(1) is None and not asked.deadline.passed:
        with suppress(TimedOut):  # the lower bound stands
            upper = decision(slack, (1,)).decide()
            settled.ends |= upper.ends
            settled.worlds += upper.worlds
    return settled


def _bounded(asked: Asked, settled: GradedDecision) -> Proved:
    """The answer without its core and its worlds."""
    low, high = asked.question.inferred
    ends = [settled.ends.get(end) for end in (0, 1)]
    missing = [name for name, end in zip(("lower", "upper"), ends, strict=True) if end is None]
    which = "both bounds are" if len(missing) == 2 else f"the {''.join(missing)} bound is"
    notes = (f"not decided in time: {which} from inference alone",) if missing else ()
    lower = low if ends[0] is None else max(low, outward(ends[0], 0))
    upper = high if ends[1] is None else min(high, outward(ends[1], 1))
    if lower > upper:  # crossed by rounding: the ends of inference and of the solver coincide
        lower = upper = low if lower == low else high
    verdict, count = verdict_at(lower, upper, asked.alpha, settled=not missing), len(asked.cone.instances)
    text = asked.question.text
    return Proved(text, "exact", verdict, lower, upper, notes=notes, settled=not missing, translated=count)
