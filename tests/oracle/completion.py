"""Completion of closed derived predicates, stratum by stratum, as an interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .network import Ground, Network, Place
from .neurons import TOL, Empty, downward, upward
from .passes import go_up
from .program import UNKNOWN, Box

STEP = 1e-12  # what counts as a change
CAP = 10_000


@dataclass
class Clause:
    """An instance of a defining statement, every neuron in it without state."""

    root: Ground
    truth: float  # the statement's lower truth

    def __post_init__(self) -> None:
        self.heads = list(dict.fromkeys(_heads(self.root.operands[1])))

    def head_values(self, antecedent: float) -> dict[Place, float] | None:
        """The least truth of each head with which the statement can hold if its antecedent is exactly this true.

        It is the lower end of the downward message, every leaf of the consequent unknown; None if nothing suffices.
        """
        x, y = (antecedent, antecedent), go_up(self.root.operands[1], _unknown)
        attributes = "implies", self.root.logic, self.root.weights, self.root.bias
        low, high = upward(*attributes, [x, y])
        low = max(low, self.truth)
        if low > high + TOL:
            return None
        try:
            wanted = downward(*attributes, (min(low, high), high), [x, y])[1]
            found: dict[Place, float] = {}
            for place, value in _head_lowers(self.root.operands[1], wanted):
                found[place] = max(found.get(place, 0.0), value)
            return found
        except Empty:
            return None


def _unknown(leaf: Ground) -> Box:
    return UNKNOWN


def _head_lowers(node: Ground, wanted: Box) -> Iterator[tuple[Place, float]]:
    """Downward through the conjunctions of a consequent that has just gone up."""
    if node.head and node.place:
        yield node.place, wanted[0]
    elif node.kind == "and":
        parts = downward("and", node.logic, node.weights, node.bias, wanted, [part.box for part in node.operands])
        for part, box in zip(node.operands, parts, strict=True):
            yield from _head_lowers(part, box)


def _heads(node: Ground) -> Iterator[Place]:
    if node.head and node.place:
        yield node.place
    elif node.kind == "and":
        for part in node.operands:
            yield from _heads(part)


class Completion:
    """The clauses of a network, and their fixpoint over the current bounds."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.clauses = [
            Clause(network.ground(rule.root, dict(zip(rule.free, row, strict=True)), sharing=False), rule.truth[0])
            for rule in network.rules
            if rule.heads
            for row in network.assignments(rule.free, rule.root.sorts)
        ]

    def stratum(self, names: set[str], read: Callable[[Place], Box], arrested: set[Place]) -> dict[Place, Box] | None:
        """Bounds of the unlisted atoms that get any, from ``[0, 0]`` up; None if that does not settle.

        ``L`` is the least fixpoint from the lower ends of the antecedents, ``U`` that from their upper ends.
        """
        found: dict[Place, Box] = {}

        def reading(leaf: Ground) -> Box:
            place = leaf.place
            assert place is not None
            own = place[0] in names and place not in self.network.listed and place not in arrested
            return found.get(place, (0.0, 0.0)) if own else read(place)

        clauses = [clause for clause in self.clauses if names & {place[0] for place in clause.heads}]
        for _ in range(CAP):
            new = dict(found)
            for clause in clauses:
                lower, upper = go_up(clause.root.operands[0], reading)
                lows, highs = clause.head_values(lower), clause.head_values(upper)
                for place in clause.heads:
                    if place[0] in names and place not in self.network.listed:
                        # Where no truth suffices, the lower end sends nothing, and the upper end rules nothing out:
                        # the antecedent may be less true than that.
                        low = lows[place] if lows is not None else 0.0
                        high = highs[place] if highs is not None else 1.0
                        old = new.get(place, (0.0, 0.0))
                        new[place] = max(old[0], low), max(old[1], high)
            settled = all(
                abs(a - b) <= STEP for p, box in new.items() for a, b in zip(box, found.get(p, (0.0, 0.0)), strict=True)
            )
            found = new
            if settled:
                return found
        return None
