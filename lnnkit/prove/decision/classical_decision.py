"""Whether a question follows in the classical reading: by all that it depends on if that is little, else by lazy
instantiation. The answer has a core or two worlds.

`LazyDecision` starts with the question alone. The solver's model is laid over the least world (`WorldReading`), and the
instances that this world violates are added. When it violates none, it is a world of the program. If some instances are
unsatisfiable, so are all of them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace

from lnnkit.prove.decision.minimal_core import CoreSearch, core_of
from lnnkit.prove.decision.question import Asked, Decision, Ground, Question, contrasted, world_of
from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding, LazyEncoding, Quantified
from lnnkit.prove.encoding.graded_encoding import Constraint
from lnnkit.prove.ground.ground_reading import GroundAtom, GroundReading
from lnnkit.prove.ground.parts import Instance
from lnnkit.prove.ground.relevant_instances import Definition, TooWide, WorldReading, unfounded
from lnnkit.prove.rational_terms import ZERO
from lnnkit.prove.solving import Z3, MarkedSolver, SolverStatus
from lnnkit.prove.verdict import Proved, ShownWorld, Verdict
from lnnkit.time_limit import Deadline, TimedOut, check_time

# The verdict, given whether the question can be false and whether it can be true
_VERDICTS: dict[tuple[SolverStatus, SolverStatus], Verdict] = {
    ("sat", "sat"): "neither",
    ("sat", "unsat"): "refuted",
    ("unsat", "sat"): "entailed",
    ("unsat", "unsat"): "inconsistent",
}
_OF_UNNAMED = 30  # atoms of unnamed individuals shown
_PATTERNS = 2000  # formulas about unnamed individuals beside named ones
_SHOWN = 60  # greatest number of atoms shown of a world that was found lazily
# Turns of the search for a refutation of *anyone*. Questions about open sorts take 2.1 s with none, 2.2 s with 100,
# 2.4 s with 1,000, and have the same verdicts (`python -m benchmarks.question_constants unnamed`)
_TURNS = 100
_FIRST_SECONDS = 1.0  # time limit for quantifiers over unnamed individuals, and for the statements near a question
_MERGING_SECONDS = 5.0  # for worlds in which unnamed individuals are distinct, where statements compare them
_MANY = 200  # statements; of fewer, those near the question are not tried first
_LATE = "time ran out before it was decided"
_OPEN = (
    "it depends on arithmetic that the solver cannot be given: a unit, `years` or `months` of unknown dates, an "
    "unknown exponent, a power above 16, or the exp, log, sin or cos of a number that is not known"
)


class ClassicalDecision(Decision):
    """``decide`` gives the verdict and sets the items on which it depends, or two ``worlds``, or the ``note`` that says
    why there is none. ``count`` is that of the items given to the solver."""

    _stopped = _LATE  # the note if time runs out before the solver gives up

    def __init__(self, asked: Asked, reading: GroundReading | None = None) -> None:
        super().__init__(asked, reading)
        self._used: dict[Constraint, None] = {}
        self.note = _LATE
        self.count = 0
        context, least = self.encoding.context, reading is not None  # false first, as in the least world
        self._solver = MarkedSolver[Constraint](context, self.encoding.drained, false_first=least)

    def encoded(self, *, folded: bool) -> ClassicalEncoding:
        return ClassicalEncoding(self._ground.known, self._ground.whole, folded=folded)

    def depends(self) -> Iterable[Constraint]:
        return self._used

    def decide(self) -> Verdict:
        """Ask whether the question can be false, and whether it can be true. Raises `TooWide`, `Interrupted`."""
        with self._ground.limited(self.deadline), suppress(TimedOut):
            false = self.can(truth=False)
            return "timeout" if false == "unknown" else _VERDICTS.get((false, self.can(truth=True)), "timeout")
        self.note = self._stopped.format(self.count)
        return "timeout"

    def can(self, *, truth: bool) -> SolverStatus:
        """Whether the question can have a truth, with a model or an unsatisfiable core."""
        goal = self._solver.mark(self._goal if truth else self.encoding.negated(self._goal))
        while (status := self._checked(goal)) == "sat":
            model = self._solver.model()
            if self._extended(model):
                continue
            # The truth that was asked for: Z3 may leave quantifiers over unnamed individuals unevaluated in a model
            shown = self._world(model, float(truth))
            if shown is None:
                self.note = _OPEN  # it may break what could not be encoded
                return "unknown"
            self.worlds.append(shown)
            return "sat"
        return status

    def _mark(self, item: Constraint) -> None:
        said = self.encoding.held(item)
        if said is not True:
            self._solver.mark(said, item)

    def _checked(self, goal: Z3) -> SolverStatus:
        """Whether a model of all items has the goal; if not, the items that refute it are used."""
        status = self._solver.check(self.deadline, [goal, *self._solver.marks.values()])
        if status == "unsat":
            self._used |= dict.fromkeys(self._solver.core()[1])
        return status

    def _extended(self, model: Z3) -> bool:
        """Whether something had to be added, because the model violates it."""
        raise NotImplementedError


class ConeDecision(ClassicalDecision):
    """A decision by the whole cone of a question. Raises `TooWide` if the cone is wider than its limit, or has too many
    formulas about unnamed individuals for a narrow one."""

    def __init__(self, asked: Asked) -> None:
        ground, question, cone = asked.ground, asked.question, asked.cone
        cone.grow(question.part, whole=ground.small)
        patterns = 0  # formulas that instantiate statements for unnamed individuals beside named ones
        for stated in asked.statements if cone.most_atoms is not None else ():
            counts = [(ground.known.count(sort), ground.known.is_open(sort)) for _, sort in stated.variables]
            patterns += math.prod(count + more for count, more in counts) - math.prod(count for count, _ in counts)
        if patterns > _PATTERNS:
            raise TooWide
        super().__init__(asked)
        self.count = len(cone.instances)
        for item in cone.items:
            check_time()
            self._mark(item)
        if self.encoding.unnamed is not None:
            for stated in (*asked.statements, *map(ground.index.completion, asked.of_unnamed)):
                self._mark(stated)
        if any(low > high for low, high in map(ground.known.box, cone.atoms)):  # arrested by its own facts
            self.encoding.asides.append(False)

    def _extended(self, model: Z3) -> bool:
        """Whether a loop formula had to be added, because the model contains atoms that support only each other."""
        world = world_of(model, self._ground.known, self.encoding)
        loop = unfounded(self.cone.definitions, self._ground.known, world)
        if not loop.atoms or loop in self._solver.marks:  # an antecedent may be unknown in the world
            return False
        self._mark(loop)
        return True

    def _world(self, model: Z3, truth: float) -> ShownWorld | None:
        shown = super()._world(model, truth)
        others = tuple(self.encoding.true_of_unnamed(model, _OF_UNNAMED))
        return shown and replace(shown, atoms=(*shown.atoms, *others))


class LazyDecision(ClassicalDecision):
    """A decision by lazy instantiation."""

    encoding: LazyEncoding
    _reading: WorldReading
    _stopped = "time ran out after {:,} instances of statements; these are the bounds of inference"

    def __init__(self, asked: Asked) -> None:
        known, most = asked.ground.known, asked.ground.limit
        super().__init__(asked, WorldReading(known, asked.statements, asked.mentioning, most))
        self._merging: set[Constraint] = set()
        self._defined: set[GroundAtom] = set()
        self.cone = asked.new_cone()

    def encoded(self, *, folded: bool) -> LazyEncoding:
        """An encoding; if not ``folded``, with the rows of quantifiers that were added."""
        replayed = None if folded else self.encoding.quantified
        return LazyEncoding(self._ground.known, self._ground.whole, self._reading, replayed)

    def _checked(self, goal: Z3) -> SolverStatus:
        while True:
            status, missing = self._with_rows(goal, ())
            if not missing or self._refuted(goal, missing):
                return status
            for quantified in missing:
                self.encoding.expand(quantified)

    def _with_rows(self, goal: Z3, allowed: Collection[Quantified]) -> tuple[SolverStatus, list[Quantified]]:
        """Whether there is a model in which only the ``allowed`` quantifiers use rows that have not been added; if not,
        the other quantifiers whose missing rows it would need."""
        every = self.encoding.quantified.values()
        some = [one for one in every if not (one.complete or one.decided or one in allowed)]
        lacks = {quantified: self.encoding.lack(quantified) for quantified in some}
        nots, plain = [*map(self.encoding.negated, lacks.values())], False
        while True:
            marks = [mark for item, mark in self._solver.marks.items() if not (plain and item in self._merging)]
            status = self._solver.check(self.deadline, [goal, *marks, *nots])
            if status != "unsat":
                return "unknown" if plain else status, []
            names, items = self._solver.core()
            missing = [quantified for quantified, lack in lacks.items() if lack.decl().name() in names]
            if missing or self._merging.isdisjoint(items):
                break
            plain = True  # individuals may be equal in a world, so these instances refute nothing
        if not missing:
            self._used |= dict.fromkeys(items)
        return status, missing

    def _refuted(self, goal: Z3, missing: Sequence[Quantified]) -> bool:
        """Whether the goal is refuted for *anyone* (see the encoding), so that no missing row of these quantifiers is
        needed; each is generalised once."""
        allowed: dict[Quantified, None] = {}
        wanted = [quantified for quantified in missing if quantified.anyone is None]
        for _ in range(_TURNS if wanted else 0):
            allowed |= dict.fromkeys([*wanted, *missing])
            for quantified in wanted:
                self.encoding.generalise(quantified)
            status, missing = self._with_rows(goal, allowed)
            wanted = [quantified for quantified in missing if quantified.anyone is None]
            if status == "unsat" and not missing:
                return True
            if status == "unknown" or (status == "sat" and not self._extended(self._solver.model(), anyone=True)):
                return False
        return False

    def _extended(self, model: Z3, *, anyone: bool = False) -> bool:
        """Lay a model over the world, with *anyone* in it or not, and add the instances that it violates; returns
        whether there are any."""
        check_time()
        before = self.count, len(self.encoding.asides)
        people = {name for name, made in self.encoding.existing.items() if self._true(model, made)}
        existing = people if anyone else people - self._reading.anyones
        truths = {
            key: float(self._true(model, made))
            for key, made in (self.encoding.atoms | self.encoding.of_anyone).items()
            if all(entity in existing or entity not in self._reading.sort_of for entity in key[1])
        }
        for instance in self._reading.violated(truths, existing):
            self._add(instance)
        for key in self._unsupported():
            self._defined.add(key)
            self._add(Definition(key, self._ground.index, self._ground.known))
        self._complete_rows(model, self._reading.anyones - existing)
        return before != (self.count, len(self.encoding.asides))

    def _true(self, model: Z3, made: Z3) -> bool:
        return bool(self.encoding.z3.is_true(model.eval(made, model_completion=True)))

    def _add(self, item: Instance | Definition) -> None:
        self.count += 1
        if self.count > self._ground.limit:
            raise TooWide(f"it depends on more than {self._ground.limit:,} instances of statements")
        check_time()
        self._mark(item)
        if isinstance(item, Instance) and item.stated in self.asked.merging:
            self._merging.add(item)
        if self._ground.tell is not None:
            self._ground.tell(self.count, len(self.encoding.atoms))

    def _complete_rows(self, model: Z3, absent: Set[str]) -> None:
        """Add rows that decide a quantifier in the world but not in the model, of those not about who is ``absent``."""
        for quantified in list(self.encoding.quantified.values()):
            outside = not absent.isdisjoint(map(str, quantified.bindings.values()))
            if outside or quantified.decided or self._true(model, quantified.some):
                continue
            part, exists = quantified.part, not quantified.part.least
            for row in self._reading.rows(part, quantified.bindings):
                low, _ = self._reading.truth(part.operands[0], row)
                if (low if exists else 1 - low) > 0:
                    self.encoding.add(quantified, row)
                    break

    def _unsupported(self) -> Iterator[GroundAtom]:
        """The completed atoms among those that have changed which are true without a rule that makes them so."""
        known = self._ground.known
        heads = dict.fromkeys(key for key in self.encoding.atoms if known.completed(key))
        for key in self._reading.changed:
            for stated in self.asked.mentioning(key[0]):
                defined = self._ground.index.defined(stated)
                for instance in self._reading.affected(key, [stated]) if defined else ():
                    atoms = (self._reading.key(head, instance.bindings) for head in defined)
                    heads |= dict.fromkeys(atom for atom in atoms if atom is not None and known.completed(atom))
        for key in heads:
            if key not in self._defined and self._reading.box(key)[0] > 0:
                rules = Definition(key, self._ground.index, self._reading).rules
                certain = (rule for rule in rules if rule.stated.lower > 0)
                if not any(self._reading.truth(rule.antecedent, rule.bindings)[0] > 0 for rule in certain):
                    yield key

    def _world(self, model: Z3, truth: float) -> ShownWorld | None:
        known, world = self._ground.known, self._reading

        def exists(instance: Instance) -> bool:  # anyone stands for an individual that need not
            entities = ((instance.bindings[name], sort) for name, sort in instance.stated.variables)
            return all(world.has(sort, entity) and entity not in world.anyones for entity, sort in entities)

        moved = (key for key in self.encoding.atoms if world.box(key)[0] != known.box(key)[0])
        added = (item for item in self._solver.marks if isinstance(item, Instance) and exists(item))
        self.cone.atoms, self.cone.near, self.cone.instances = dict.fromkeys(moved), _SHOWN, [*added]
        return super()._world(model, truth)


# --- the answer -------------------------------------------------------------------------------------------------------


def classical_smtlib(ground: Ground, question: Question) -> str:
    """The classical reading of a question, as the solver prints it: `unsat` if the question follows. Raises
    `TooWide`."""
    asked = Asked(ground, question, "classical", 1.0, Deadline(None))
    asked.cone = asked.new_cone()
    decision = ConeDecision(asked)
    if asked.cone.definitions:  # adds loop formulas
        decision.decide()
    return CoreSearch(decision, asked.deadline).smtlib(decision._solver.marks)


def prove_classically(asked: Asked) -> Proved:
    """Whether a question is true in all worlds of the classical reading, or false in all."""
    question, conflict = asked.question, asked.ground.conflict
    if conflict is not None:
        return conflict().shown_by(Proved(question.text, "classical", "inconsistent"))
    decision, verdict = _decided(asked)
    if verdict == "timeout":
        return asked.propagated(decision.note)
    proved = Proved(question.text, "classical", verdict, translated=decision.count)
    if verdict == "neither":
        return replace(proved, models=contrasted(decision.worlds))
    return core_of(decision, None if verdict == "inconsistent" else (int(verdict == "refuted"), ZERO)).shown_by(proved)


def _decided(asked: Asked) -> tuple[ClassicalDecision, Verdict]:
    """Quantifiers over unnamed individuals may keep the solver busy for ever, so where lazy instantiation applies, the
    whole cone gets only a share of the time."""
    with suppress(TooWide):
        decision = ConeDecision(asked)
        for_good = decision.encoding.unnamed is None or not asked.lazily
        decision.deadline = asked.deadline if for_good else asked.deadline.share(3).capped(_FIRST_SECONDS)
        verdict = decision.decide()
        if for_good or verdict != "timeout" or asked.deadline.passed:
            return decision, verdict
    if asked.lazily:
        near = _from_near(asked) if len(asked.statements) > _MANY else None
        decision = LazyDecision(asked)
        if near is not None or not asked.merging:
            return near or (decision, decision.decide())
        decision.deadline = asked.deadline.share(3).capped(_MERGING_SECONDS)
        with suppress(TooWide):
            verdict = decision.decide()
            if verdict != "timeout":
                return decision, verdict
    asked.cone = asked.new_cone()
    decision = ConeDecision(asked)
    return decision, decision.decide()


def _from_near(asked: Asked) -> tuple[ClassicalDecision, Verdict] | None:
    """The verdict that the statements near the question suffice for; None if they do not."""
    for steps in (1, 2):
        near, whole = LazyDecision(replace(asked, steps=steps)), LazyDecision(asked)
        near.deadline = whole.deadline = asked.deadline.share(4).capped(_FIRST_SECONDS)
        with asked.ground.limited(whole.deadline), suppress(TooWide, TimedOut):
            verdict = near.decide()
            if verdict in ("entailed", "refuted") and whole.can(truth=verdict == "entailed") == "sat":
                return near, verdict
    return None
