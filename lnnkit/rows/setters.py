"""Numbers and names for the statements that set bounds."""

from __future__ import annotations

from lnnkit.check.program import Assertion
from lnnkit.formula.unfolding import Formula
from lnnkit.graph.laws import Law
from lnnkit.graph.lifted import LiftedGraph


class Setters:
    """``words`` has a statement's name, or its line, by its number."""

    def __init__(self, lifted: LiftedGraph) -> None:
        self.lifted = lifted
        self.words: list[str] = []

    def number(self, formula: Formula) -> int:
        """The number of the statement that a formula is, or that contains the shared neuron that it defines."""
        word = self._word(formula)
        if word not in self.words:
            self.words.append(word)
        return self.words.index(word)

    def _word(self, formula: Formula) -> str:
        assert formula.root is not None
        origin = formula.root.origin
        if formula.auxiliary is not None:
            holders = [
                root.origin
                for root in self.lifted.statements
                if not isinstance(root.origin, Law)
                and root.reference.node in self.lifted.graph.nodes
                and formula.auxiliary in self.lifted.graph.nodes
                and formula.auxiliary in self.lifted.graph.below(root.reference.node)
            ]
            origin = holders[0] if holders else origin
        if isinstance(origin, Law) or not isinstance(origin, Assertion):
            return "the order of numbers"
        return origin.name or f"line {origin.span.line}"
