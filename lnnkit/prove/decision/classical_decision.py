"""Whether a question follows in the classical reading."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from lnnkit.prove.decision.question import Ground, Question
from lnnkit.prove.decision.shown_worlds import checked_world, world_of
from lnnkit.prove.encoding.arithmetic_encoding import ArithmeticEncoding
from lnnkit.prove.encoding.classical_encoding import ClassicalEncoding, Truth
from lnnkit.prove.ground.dependency_cone import Cone, Definition, TooWide
from lnnkit.prove.ground.ground_reading import Instance
from lnnkit.prove.ground.parts import Blanket, Stated
from lnnkit.prove.ground.unfounded import Loop, loop_of, unfounded
from lnnkit.prove.solving import Z3, Status, checked, solver_module, verdict_of
from lnnkit.prove.verdict.verdicts import ShownWorld, Verdict
from lnnkit.time_limit import Deadline

Item = Instance | Definition | Loop | Blanket
_LOOKED = 64  # after this many instances the clock is read
_SHOWN = 30  # atoms of unnamed individuals shown
_PATTERNS = 2000  # formulas about unnamed individuals beside named ones


class ClassicalDecision:
    """The cone of a question in a solver. ``decide`` gives the verdict and sets ``used``, the items on which it
    depends."""

    def __init__(self, ground: Ground, question: Question, deadline: Deadline, cone: Cone) -> None:
        self.z3 = solver_module()
        self.context = self.z3.Context()
        self.used: list[Item] = []
        self.models: list[ShownWorld] = []
        self.left_open = False  # whether a world was found that may break what could not be encoded
        self._question = question
        self._ground = ground
        self._deadline = deadline
        self.cone = cone
        self.cone.grow(question.part, question.bindings)
        self._near = len(self.cone.atoms)
        if ground.small:
            self.cone.grow_whole()
        arithmetic = ArithmeticEncoding(self.z3, self.context, ground.known, ground.whole, folded=True)
        self.encoding = ClassicalEncoding(self.z3, self.context, ground.reading, arithmetic, folded=True)
        self._solver = self.z3.Solver(ctx=self.context)
        self._goals = 0
        self._marks: list[Z3] = []
        self._items: dict[str, Item] = {}
        if cone.most_atoms is not None and self._patterns() > _PATTERNS:
            raise TooWide
        self._goal = self.encoding.truth(question.part, question.bindings)
        self._translate()

    @property
    def count(self) -> int:
        """The number of instances given to the solver."""
        return len(self.cone.instances)

    def replayed(self) -> ClassicalEncoding:
        """An encoding in which bounds known from inference are not constants."""
        context = self.z3.Context()
        arithmetic = ArithmeticEncoding(self.z3, context, self._ground.known, self._ground.whole, folded=False)
        return ClassicalEncoding(self.z3, context, self._ground.reading, arithmetic, folded=False)

    def limit(self, deadline: Deadline) -> None:
        """Set the deadline."""
        self._deadline = deadline

    def decide(self) -> Verdict:
        """Ask whether the question can be false, and whether it can be true. Raises `Interrupted`."""
        return verdict_of(lambda: self._can(0.0), lambda: self._can(1.0))

    # --- the solver -------------------------------------------------------------------------------------------------

    def _translate(self) -> None:
        encoding = self.encoding
        for count, item in enumerate((*self.cone.instances, *self.cone.definitions.values())):
            if count % _LOOKED == 0:
                self.cone.pause()
            self._mark(item, encoding.held(item))
        if encoding.unnamed is not None:
            for stated in self._mentioned():
                self._mark(Blanket(stated), encoding.held(Blanket(stated)))
        for key in self.cone.atoms:
            box = self._ground.known.box(key)
            if box[0] > box[1]:  # arrested by its own facts
                self._assert(False)
        for each in encoding.arithmetic.asides:
            self._assert(each)

    def _mentioned(self) -> list[Stated]:
        """The statements that may be relevant to the question, for any entities."""
        index = self._ground.index
        if self._ground.small:
            return index.every()
        found: dict[Stated, None] = {}
        names = {leaf.name for leaf in self._question.part.leaves}
        waiting = list(names)
        while waiting:
            for stated in index.mentioning(waiting.pop()):
                found[stated] = None
                more = {leaf.name for leaf in stated.part.leaves} - names
                names |= more
                waiting += more
        return list(found)

    def _patterns(self) -> int:
        """The number of formulas that instantiate statements for unnamed individuals beside named ones."""
        known, total = self._ground.known, 0
        for stated in self._mentioned():
            counts = [(known.count(sort), known.is_open(sort)) for _, sort in stated.variables]
            total += math.prod(count + is_open for count, is_open in counts) - math.prod(count for count, _ in counts)
        return total

    def _mark(self, item: Item, said: Truth) -> None:
        if said is True:
            return
        mark = self.z3.Bool(f"?mark {len(self._marks)}", self.context)
        self._marks.append(mark)
        self._items[mark.decl().name()] = item
        self._solver.add(self.z3.Implies(mark, self._lifted(said)))

    def _assert(self, said: Truth) -> None:
        self._solver.add(self._lifted(said))

    def _lifted(self, truth: Truth) -> Z3:
        return self.z3.BoolVal(truth, self.context) if isinstance(truth, bool) else truth

    def _can(self, truth: float) -> Status:
        """Whether the question can be false (0) or true (1), with a model or an unsatisfiable core."""
        goal = self._goal if truth else self.encoding.negated(self._goal)
        self._goals += 1
        assumption = self.z3.Bool(f"?goal {self._goals}", self.context)
        self._solver.add(self.z3.Implies(assumption, self._lifted(goal)))
        while True:
            found = checked(self.z3, self._solver, self._deadline, assumption, *self._marks)
            if found != "sat" or not self._founded(self._solver.model()):
                break
        if found == "sat":
            return self._shown(self._solver.model(), truth)
        if found == "unsat":
            names = [mark.decl().name() for mark in self._solver.unsat_core()]
            items = [self._items[name] for name in names if name in self._items]
            self.used += [item for item in items if item not in self.used]
        return found

    def _founded(self, model: Z3) -> bool:
        """Whether a loop formula had to be added, because the model contains atoms that support only each other."""
        definitions, reading = self.cone.definitions, self._ground.reading
        if not definitions:
            return False
        loose = unfounded(definitions, reading, world_of(self.z3, model, self._ground.known, self.encoding))
        loop = loop_of(loose, definitions, reading)
        if not loose or loop in self._items.values():  # an antecedent may be unknown in the world
            return False
        self._mark(loop, self.encoding.held(loop))
        return True

    def _shown(self, model: Z3, truth: float) -> Status:
        """Check and keep a world. Its truth is the one that was asked for, since Z3 may leave quantifiers over unnamed
        individuals unevaluated in a model."""
        near = list(itertools.islice(self.cone.atoms, self._near))
        shown = checked_world(
            self.z3, model, truth, self._ground, self._question, self.encoding, near, self.cone.instances
        )
        if shown is None:
            self.left_open = True
            return "unknown"
        others = tuple(self.encoding.true_of_unnamed(model, _SHOWN))
        self.models.append(replace(shown, atoms=(*shown.atoms, *others)))
        return "sat"
