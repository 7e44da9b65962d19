"""The atoms of a knowledge base, explained and replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import lnnkit
from lnnkit.explain.proof.proof import ground_atom
from lnnkit.syntax.printer import format_expression

Atom = tuple[str, float, float]  # its text and its bounds


def known_atoms(kb: lnnkit.KnowledgeBase, most: int = 1000) -> Iterator[Atom]:
    """Atoms of which anything is known, by the answers to ``P(X, Y)``; of each predicate so many at most."""
    for name, predicate in kb._checked.predicates.items():
        variables = [f"V{place}" for place in range(predicate.arity)]
        pattern = format_expression(ground_atom(name, [])) + (f"({', '.join(variables)})" if variables else "")
        answers = kb.ask(pattern)
        for answer in list(answers)[:: len(answers) // most + 1]:
            atom = format_expression(ground_atom(name, [answer.bindings[v] for v in variables]))
            yield atom, answer.lower, answer.upper


def replay(kb: lnnkit.KnowledgeBase, atoms: Iterable[Atom]) -> tuple[Counter[str], list[str]]:
    """How often each reason was given, and what does not hold."""
    reasons: Counter[str] = Counter()
    wrong: list[str] = []
    for atom, lower, upper in atoms:
        explanation = kb.explain(atom)
        if (explanation.lower, explanation.upper) != (lower, upper):
            wrong.append(f"{atom} is [{lower}, {upper}], not as explained: {explanation}")
        wrong += [f"{problem}\n{explanation}" for problem in explanation.verify()]
        reasons.update(step.reason for step in explanation.steps)
    return reasons, wrong
