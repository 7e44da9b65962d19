"""An index of the statements of a program by the predicates that they mention, built on first use."""

from __future__ import annotations

from functools import cached_property

from lnnkit.check.program import Assertion
from lnnkit.explain.checker.ground_form import truth_of
from lnnkit.explain.checker.proof_checker import World
from lnnkit.graph.lifted import LiftedGraph
from lnnkit.prove.ground.parts import Part, Stated, part_of, sorted_variables
from lnnkit.time_limit import check_time


class StatementIndex:
    """The statements of a ``lifted`` graph, for the program of a ``world``."""

    def __init__(self, lifted: LiftedGraph, world: World) -> None:
        self._graph = lifted.graph
        self._roots = lifted.statements
        self._world = world
        self._ready: dict[int, Stated] = {}
        self._mentioning: dict[str, list[Stated]] = {}
        self._defining: dict[str, list[tuple[Stated, Part]]] = {}

    def mentioning(self, name: str) -> list[Stated]:
        """The statements with a predicate or number, in their order."""
        if name not in self._mentioning:
            self._mentioning[name] = [self._stated(place) for place in self._by_name.get(name, ())]
        return self._mentioning[name]

    def every(self) -> list[Stated]:
        """All statements."""
        return [self._stated(place) for place in self._places]

    @property
    def count(self) -> int:
        """How many statements there are."""
        return len(self._places)

    def defining(self, name: str) -> list[tuple[Stated, Part]]:
        """The statements that complete a closed predicate, each with an atom of it in its consequent conjunction."""
        if name not in self._defining:
            self._defining[name] = [
                (stated, head) for stated in self.mentioning(name) for head in self.defined(stated) if head.name == name
            ]
        return self._defining[name]

    def defined(self, stated: Stated) -> list[Part]:
        """The atoms of closed predicates that a statement completes."""
        defines = self._defines[id(stated.origin)]
        return [head for head in _heads(stated.part) if head.name in defines] if defines else []

    @cached_property
    def _places(self) -> list[int]:
        roots = enumerate(self._roots)
        return [place for place, root in roots if isinstance(root.origin, Assertion) and root.origin.kind != "law"]

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place in self._places:
            for node in self._graph.below(self._roots[place].reference.node):
                found.setdefault(node, []).append(place)
        return found

    @cached_property
    def _defines(self) -> dict[int, frozenset[str]]:
        return {id(root.origin): root.defines for root in self._roots}

    def _stated(self, place: int) -> Stated:
        if place not in self._ready:
            check_time()
            origin = self._roots[place].origin
            assert isinstance(origin, Assertion)
            form, predicates = self._world.instance(origin, {}), self._world.program.predicates
            part, truth = part_of(form, predicates), truth_of(origin, self._world.starts)
            self._ready[place] = Stated(part, *truth, sorted_variables(form, predicates), origin)
        return self._ready[place]


def _heads(part: Part) -> list[Part]:
    """The atoms of the consequent conjunction of an implication."""
    if part.kind != "implies":
        return []
    found: list[Part] = []
    stack = [part.operands[1]]
    while stack:
        each = stack.pop()
        if each.kind == "atom":
            found.append(each)
        elif each.kind == "and":
            stack.extend(each.operands)
    return found
