"""The tightest bounds of a question by lazy instantiation: statements are instantiated where models violate them.

The optimiser starts with the question alone. Its model is laid over the least world (`WorldValues`), and the instances
that this world violates are added. Bounds only get tighter by that, so they hold at any moment; where an extreme model
violates nothing it is a world of the program, and the bound is the tightest. A ``forall`` that is a whole statement is
instantiated as if its variables were those of the statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from lnnkit.prove.decision.graded_decision import GradedDecision
from lnnkit.prove.ground.dependency_cone import TooWide
from lnnkit.prove.ground.ground_reading import Instance
from lnnkit.prove.ground.known_values import GroundAtom
from lnnkit.prove.ground.parts import BoundedStatement
from lnnkit.prove.lazy.least_world import TouchedInstances
from lnnkit.prove.solving import Z3, fraction

_SHOWN = 60  # atoms of a world
# Models after which all is added that the question depends on. `A0 | B0`, 400 links each from A0 and B0 and `A400 |
# B400 -> Goal` are decided in 1.7 s with 10 or 30, 2.2 s with 100, and not in 60 s without a limit: each model shows
# one link more. A random graph over 300 nodes of a closed sort takes 12 models; with 10 it takes 9.7 s in place of
# 1.3
_TURNS = 100


class LazyBounds(GradedDecision):
    """As `GradedDecision`, with a cone that starts empty and gets the instances that are added."""

    def _translate(self) -> None:
        self.cone.near = _SHOWN
        self._touched = TouchedInstances(self._ground.known)
        self._reading = self._touched.reading
        self._statements = [_opened(stated) for stated in self._asked.statements]
        self._mentioning = cache(self._naming)
        self._first = self._statements
        self._turns = 0
        self._added: set[Instance] = set()
        self._drain()

    def _naming(self, name: str) -> list[BoundedStatement]:
        return [stated for stated in self._statements if name in stated.part.names]

    def _violated(self, model: Z3) -> list[Z3]:
        before = len(self._said)
        for instance in self._candidates(self._laid(model)):
            if instance not in self._added and not self._reading.satisfied(instance):
                self._add(instance)
        self._turns += 1
        if self._turns == _TURNS and len(self._said) > before:
            self._add_all()
        self._drain()
        if self._ground.tell is not None:
            self._ground.tell(len(self.cone.instances), len(self.encoding.atoms))
        return self._said[before:]

    def _add(self, instance: Instance) -> None:
        self._added.add(instance)
        self.cone.take(instance)
        self._say(instance)

    def _add_all(self) -> None:
        """Add all that the question depends on, unless that is too much."""
        whole = self._ground.cone(self._deadline)
        try:
            whole.grow(self._question.part)
        except TooWide:
            self.cone.pause()  # not where the time is over
            return
        for instance in whole.instances:
            self.cone.pause()
            self._add(instance)

    def _laid(self, model: Z3) -> list[GroundAtom]:
        """Lay a model over the world; returns the atoms that have changed."""
        truths = {
            key: min(1.0, max(0.0, float(fraction(model.eval(made, model_completion=True)))))
            for key, made in self.encoding.atoms.items()
        }
        return self._touched.world.say(truths, ())

    def _candidates(self, changed: list[GroundAtom]) -> Iterator[Instance]:
        first, self._first = self._first, []
        for stated in first:
            for instance in self._reading.instances(stated, {}):
                self.cone.pause()
                yield instance
        for key in changed:
            self.cone.pause()
            yield from self._touched.of(key, self._mentioning(key[0]))

    def _drain(self) -> None:
        self._said += self.encoding.drained()
        self.cone.atoms |= dict.fromkeys(self.encoding.atoms)


def _opened(stated: BoundedStatement) -> BoundedStatement:
    """A statement without the ``forall`` around it: the least of its rows is as true as the statement has to be."""
    while stated.part.least and stated.upper >= 1:
        (body,) = stated.part.operands
        stated = replace(stated, part=body, variables=(*stated.variables, *stated.part.bound))
    return stated
