"""A knowledge base whose facts change at random, and the text that says the same."""

from __future__ import annotations

import random

import lnnkit
from tests.kb.test_retracting import answered

Key = tuple[str, tuple[str, ...]]


class DrawnFacts:
    """A ``program`` without facts, its ``facts``, and a knowledge base of both. Subclasses draw them, and say which
    atoms and bounds may come."""

    draw: random.Random
    program: str
    facts: dict[Key, tuple[float, ...]]
    kb: lnnkit.KnowledgeBase

    def key(self) -> Key:
        raise NotImplementedError

    def bounds(self, key: Key) -> tuple[float, ...]:
        raise NotImplementedError

    def text(self) -> str:
        lines = [self.program]
        for (name, of), bounds in self.facts.items():
            lines.append(f"fact {name}({', '.join(of)}) in [{bounds[0]}, {bounds[-1]}]\n")
        return "".join(lines)

    def change(self) -> None:
        kind = self.draw.choice(("tell", "retract", "retract", "replace"))
        if kind == "retract" and self.facts:
            key = self.draw.choice(list(self.facts))
            self.kb.retract(key[0], [key[1]])
            del self.facts[key]
        elif kind != "retract":
            key = self.key()
            if kind == "replace" or key not in self.facts:
                self.facts[key] = self.bounds(key)
                getattr(self.kb, kind)(key[0], [[*key[1], *self.facts[key]]])

    def unlike(self) -> str:
        """The program and its facts, if some change leads to other answers or to a proof that does not verify."""
        for _ in range(6):
            with self.kb.transaction():
                for _ in range(self.draw.choice((1, 1, 1, 2, 3))):
                    self.change()
            try:
                fresh = lnnkit.loads(self.text())
            except lnnkit.ProgramError:  # of a fact alone something was known
                return ""
            if answered(self.kb) != answered(fresh):
                return self.text()
        rows = [(table, answer) for table in self.kb.answers() for answer in table if not answer.contested]
        for table, answer in self.draw.sample(rows, min(3, len(rows))):
            asked = table.query
            for variable, entity in answer.bindings.items():
                asked = asked.replace(variable, f'"{entity}"')
            proof = self.kb.explain(asked)
            if proof.verify() or (proof.lower, proof.upper) != (answer.lower, answer.upper):
                return f"{asked}: {proof.verify()}\n{self.text()}"
        return ""
