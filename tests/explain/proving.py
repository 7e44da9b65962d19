"""All atoms of a knowledge base, explained and replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import lnnkit
from lnnkit.explain.origins import ground_atom
from lnnkit.syntax.printer import format_expression


def atom_texts(kb: lnnkit.KnowledgeBase, predicates: dict[str, int] | None = None) -> Iterator[str]:
    """Every atom of which anything is known, by the answers to ``P(X, Y)``."""
    for name, predicate in kb._checked.predicates.items():
        if predicates is not None and name not in predicates:
            continue
        variables = [f"V{place}" for place in range(predicate.arity)]
        pattern = format_expression(ground_atom(name, [])) + (f"({', '.join(variables)})" if variables else "")
        for answer in kb.ask(pattern):
            yield format_expression(ground_atom(name, [answer.bindings[v] for v in variables]))


def replay(kb: lnnkit.KnowledgeBase, atoms: list[str]) -> tuple[Counter[str], list[str]]:
    """How often each reason was given, and what does not hold. Bounds are those of the answers."""
    reasons: Counter[str] = Counter()
    wrong: list[str] = []
    for atom in atoms:
        explanation = kb.explain(atom)
        (answer,) = kb.ask(atom)
        if (explanation.lower, explanation.upper) != (answer.lower, answer.upper):
            wrong.append(f"{atom} is [{answer.lower}, {answer.upper}], not as explained: {explanation}")
        wrong += [f"{problem}\n{explanation}" for problem in explanation.verify()]
        reasons.update(step.reason for step in explanation.steps)
    return reasons, wrong
