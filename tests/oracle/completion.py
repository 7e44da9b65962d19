"""Completion of closed derived predicates, stratum by stratum, as an interval."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .network import GENERIC, Ground, Network, Node, Place, Rule, is_leaf
from .neurons import TOL, Empty, downward, upward
from .passes import go_up
from .program import ENTITY, QUANTIFIERS, UNKNOWN, Box, Formula, leaf_arguments, weights

STEP = 1e-12  # what counts as a change
CAP = 10_000


@dataclass
class Clause:
    """An instance of a defining statement, every neuron in it without state."""

    root: Ground
    truth: float  # the statement's lower truth
    unnamed: bool = False  # whether it is about unnamed individuals too, whom there need not be

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
        before = None
        while before != network.of_unnamed:
            before = set(network.of_unnamed)
            network.of_unnamed |= {
                head[1] for rule in network.rules for head in rule.heads if self._reaches(rule, head)
            }
        self.clauses = [clause for rule in network.rules if rule.heads for clause in self._clauses(rule)]

    def _clauses(self, rule: Rule) -> Iterator[Clause]:
        """The instances of a defining statement, with unnamed individuals too: for variables that are not in a head, as
        if ``exists`` over them stood before the antecedent."""
        network, root = self.network, rule.root
        members = [
            [*network.sorts.domains[sort], *[GENERIC] * (sort in network.sorts.open)] for sort in self._sorts(rule)
        ]
        for row in itertools.product(*members):
            env = dict(zip(rule.free, row, strict=True))
            named = {name: "" if text == GENERIC else text for name, text in env.items()}
            whole = network.ground(root, named, sharing=False)
            whole.operands[0] = network.ground(root.operands[0], env, sharing=False, top=False)
            clause = Clause(whole, rule.truth[0], GENERIC in row)
            clause.heads = [place for place in clause.heads if "" not in place[1]]
            yield clause

    def _sorts(self, rule: Rule) -> list[str]:
        return [rule.root.sorts[name] for name in rule.free]

    def _reaches(self, rule: Rule, head: Formula) -> bool:
        """Whether a defining statement may make a head true to some degree of an unnamed individual, whatever is known
        of others. Whether ``entity`` has the unnamed individuals of other sorts is not said."""
        network = self.network
        clause = Clause(network.ground(rule.root, {name: name for name in rule.free}, sharing=False), rule.truth[0])
        for kind, name in head[2]:
            sort = rule.root.sorts[name] if kind == "var" else ""
            if sort in network.sorts.open or (sort == ENTITY and network.sorts.open):
                values = clause.head_values(self._about(rule.root.operands[0], frozenset({name}))[1])
                if values is None or values[head[1], tuple(text for _, text in head[2])] > TOL:
                    return True
        return False

    def _about(self, node: Node, unnamed: frozenset[str]) -> Box:
        """The bounds of a formula about unnamed individuals: all that is about others alone is unknown."""
        formula, sorts = node.formula, self.network.sorts
        if is_leaf(formula):
            if node.kind != "atom" or not unnamed & {text for _, text in leaf_arguments(formula)}:
                return UNKNOWN
            env = {text: GENERIC if text in unnamed else text for _, text in leaf_arguments(formula)}
            return self.network.ground(node, env).box
        if node.kind in ("true", "false"):
            return (1.0, 1.0) if node.kind == "true" else (0.0, 0.0)
        if node.kind in QUANTIFIERS:
            empty = {name for name in formula[1] if not sorts.domains[node.sorts[name]]}
            low, high = self._about(node.operands[0], unnamed | empty)
            if not empty:
                return low, high
            vacuous = 1.0 if node.kind == "forall" else 0.0
            there = all(node.sorts[name] in sorts.open for name in empty)
            return (min(low, vacuous), max(high, vacuous)) if there else (vacuous, vacuous)
        parts = [self._about(part, unnamed) for part in node.operands]
        if node.kind == "not":
            return 1 - parts[0][1], 1 - parts[0][0]
        return upward(node.kind, formula[-1] or self.network.program.logic, weights(formula), formula[-2], parts)

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
                        low = lows[place] if lows is not None and not clause.unnamed else 0.0
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
