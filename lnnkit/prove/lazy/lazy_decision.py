"""Whether a question follows in the classical reading, by lazy instantiation: statements are instantiated where models
violate them.

The solver starts with the question alone. Its model is laid over the least world (`WorldValues`), and the instances
that this world violates are added. When it violates none, it is a world of the program. If some instances are
unsatisfiable, so are all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from lnnkit.prove.decision.classical_decision import ClassicalDecision
from lnnkit.prove.decision.question import Asked
from lnnkit.prove.decision.shown_worlds import checked_world
from lnnkit.prove.ground.dependency_cone import Definition, TooWide, antecedent, definition_of
from lnnkit.prove.ground.ground_reading import Instance
from lnnkit.prove.ground.known_values import GroundAtom
from lnnkit.prove.lazy.lazy_encoding import LazyEncoding, Quantified
from lnnkit.prove.lazy.least_world import TouchedInstances, suspects
from lnnkit.prove.solving import Z3, SolverStatus
from lnnkit.prove.verdict import ShownWorld

_SHOWN = 60  # greatest number of atoms shown of a world
# Turns of the search for a refutation of *anyone*. Questions about open sorts take 2.1 s with none, 2.2 s with 100,
# 2.4 s with 1,000, and have the same verdicts (`python -m benchmarks.question_constants unnamed`)
_TURNS = 100


class LazyDecision(ClassicalDecision):
    """A decision by lazy instantiation."""

    encoding: LazyEncoding

    def __init__(self, asked: Asked) -> None:
        self._touched = TouchedInstances(asked.ground.known)
        self._world, self._reading = self._touched.world, self._touched.reading
        self._added: set[object] = set()
        self._people: set[str] = set()
        self._looked = False  # for what the least world violates
        super().__init__(asked)
        self._solver.prefer_false()  # as in the least world

    def replayed(self) -> LazyEncoding:
        """An encoding with the same rows of quantifiers, in which settled bounds are not constants."""
        return LazyEncoding(self._ground, self._world, self._pause, dict(self.encoding.expanded))

    def _encoding(self) -> LazyEncoding:
        return LazyEncoding(self._ground, self._world, self._pause)

    # --- the solver -------------------------------------------------------------------------------------------------

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
        some = [one for one in self.encoding.quantified.values() if not one.rows.complete and one not in allowed]
        lacks = {quantified: self.encoding.lack(quantified) for quantified in some}
        nots = map(self.encoding.negated, lacks.values())
        status = self._solver.check(self.deadline, [goal, *self._solver.marks.values(), *nots])
        if status != "unsat":
            return status, []
        names, items = self._solver.core()
        missing = [quantified for quantified, lack in lacks.items() if lack.decl().name() in names]
        if not missing:
            self.used |= dict.fromkeys(items)
        return status, missing

    def _refuted(self, goal: Z3, missing: Sequence[Quantified]) -> bool:
        """Whether no individual at all can fill the missing rows of these quantifiers; each is tested once."""
        allowed: dict[Quantified, None] = {}
        wanted = [quantified for quantified in missing if quantified.rows.anyone is None]
        for _ in range(_TURNS if wanted else 0):
            allowed |= dict.fromkeys([*wanted, *missing])
            for quantified in wanted:
                self.encoding.generalise(quantified)
            status, missing = self._with_rows(goal, allowed)
            wanted = [quantified for quantified in missing if quantified.rows.anyone is None]
            if status == "unsat" and not missing:
                return True
            if status == "unknown" or (status == "sat" and not self._extended(self._solver.model())):
                return False
        return False

    # --- what a model violates --------------------------------------------------------------------------------------

    def _extended(self, model: Z3) -> bool:
        """Lay a model over the world and add the instances that it violates; returns whether there are any."""
        self._pause()
        before = len(self._added), len(self.encoding.arithmetic.asides)
        changed = self._laid(model)
        for instance in self._candidates(changed):
            if instance.key not in self._added and not self._reading.satisfied(instance):
                self._add(instance)
        for key in self._unsupported(changed):
            self._add(definition_of(key, self._ground.index, self._ground.reading))
        self._complete_rows(model)
        return before != (len(self._added), len(self.encoding.arithmetic.asides))

    def _laid(self, model: Z3) -> list[GroundAtom]:
        existing = {name for name, made in self.encoding.existing.items() if self._true(model, made)}
        truths = {
            key: float(self._true(model, made))
            for key, made in (self.encoding.atoms | self.encoding.of_anyone).items()
            if all(entity in existing or entity not in self._world.sort_of for entity in key[1])
        }
        return self._world.say(truths, existing)

    def _true(self, model: Z3, made: Z3) -> bool:
        return bool(self.encoding.z3.is_true(model.eval(made, model_completion=True)))

    def _candidates(self, changed: Sequence[GroundAtom]) -> Iterator[Instance]:
        if not self._looked:
            self._looked = True
            for stated in self._asked.statements:
                self._pause()
                yield from suspects(self._ground.known, stated, self._ground.limit)
        for key in changed:
            yield from self._touched.of(key, self._asked.mentioning(key[0]))
        for person in self._world.people():
            if person not in self._people:
                yield from self._touched.about(person, self._world.sort_of[person], self._asked.statements)
        self._people = set(self._world.people())

    def _pause(self) -> None:
        self._ground.pause(self.deadline, f"time ran out after {len(self._added):,} instances of statements")

    def _add(self, item: Instance | Definition) -> None:
        self._added.add(item.key)
        self.count = len(self._added)
        if len(self._added) > self._ground.limit:
            raise TooWide(f"it depends on more than {self._ground.limit:,} instances of statements")
        self._pause()
        self._mark(item)
        if self._ground.tell is not None:
            self._ground.tell(self.count, len(self.encoding.atoms))

    def _complete_rows(self, model: Z3) -> None:
        """Add rows that decide a quantifier in the world but not in the model."""
        for quantified in list(self.encoding.quantified.values()):
            if self._true(model, quantified.some):
                continue
            part, exists = quantified.rows.part, not quantified.rows.part.least
            for row in self._reading.rows(part, quantified.rows.bindings):
                low, _ = self._reading.box(part.operands[0], row)
                if (low if exists else 1 - low) > 0:
                    self.encoding.add(quantified, row)
                    break

    # --- completed atoms --------------------------------------------------------------------------------------------

    def _unsupported(self, changed: Sequence[GroundAtom]) -> Iterator[GroundAtom]:
        """The completed atoms among the ``changed`` ones that are true without a rule that makes them so."""
        known = self._ground.known
        heads = dict.fromkeys(key for key in self.encoding.atoms if known.completed(key))
        for key in changed:
            for stated in self._asked.mentioning(key[0]):
                defined = self._ground.index.defined(stated)
                for instance in self._touched.of(key, [stated]) if defined else ():
                    atoms = (self._reading.key(head, instance.bindings) for head in defined)
                    heads |= dict.fromkeys(atom for atom in atoms if atom is not None and known.completed(atom))
        for key in heads:
            if key not in self._added and self._world.box(key)[0] > 0 and not self._supported(key):
                yield key

    def _supported(self, key: GroundAtom) -> bool:
        rules = [
            rule for rule, _ in definition_of(key, self._ground.index, self._reading).rules if rule.stated.lower > 0
        ]
        return any(self._reading.box(antecedent(rule), rule.bindings)[0] > 0 for rule in rules)

    # --- worlds -----------------------------------------------------------------------------------------------------

    def _is_there(self, instance: Instance) -> bool:
        """Whether all individuals of an instance exist in the world; *anyone* stands for one that need not."""
        entities = ((instance.bindings[name], sort) for name, sort in instance.stated.variables)
        return all(self._world.has(sort, entity) and entity not in self._world.anyones for entity, sort in entities)

    def _shown(self, model: Z3, truth: float) -> ShownWorld | None:
        known, encoding = self._ground.known, self.encoding
        moved = (key for key in encoding.atoms if self._world.box(key)[0] != known.box(key)[0])
        added = (item for item in self._solver.marks if isinstance(item, Instance) and self._is_there(item))
        near = islice(moved, _SHOWN)
        return checked_world(model, truth, self._ground, self._question, encoding, near, added, self._reading)
