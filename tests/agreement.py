"""The engine against the oracle: one generated program, asked of both."""

from __future__ import annotations

import lnnkit
from tests.oracle import run
from tests.programs import Generated, to_text

TOLERANCE = 1e-9


def disagreements(generated: Generated, text: str | None = None) -> list[str] | None:
    """Where the engine's answers differ from the oracle's; None where the oracle did not converge."""
    result = run(generated.program)
    if result.status != "converged":
        return None
    kb = lnnkit.loads(text if text is not None else to_text(generated.program))
    found = []
    outcome = kb.infer()
    if outcome.status != "converged":
        found.append(f"status: {outcome.status}")
    for number, (answers, variables, expected) in enumerate(
        zip(kb.answers(), result.variables, result.answers, strict=True)
    ):
        got = {tuple(a.bindings[v] for v in variables): (a.lower, a.upper) for a in answers}
        for entities, value in expected.items():
            if entities in got:
                lower, upper = got.pop(entities)
                if abs(lower - value.lower) > TOLERANCE or abs(upper - value.upper) > TOLERANCE:
                    found.append(
                        f"query {number} {answers.query} {entities}: [{lower}, {upper}], the oracle says {value}"
                    )
            elif not _default(kb, answers.query, variables, entities, value):
                found.append(f"query {number} {answers.query} {entities}: no answer, the oracle says {value}")
        found += [f"query {number} {answers.query} {entities}: answered beyond the domain" for entities in got]
    return found


def _default(kb: lnnkit.KnowledgeBase, query: str, variables: tuple[str, ...], entities: tuple[str, ...], value) -> bool:
    """Whether an answer left out is the query's value with every atom at its default."""
    from lnnkit.graph.build import add_queries
    from lnnkit.infer.answers import default_value

    rested = kb._fixpoints[kb.queries]
    lifted = rested.fixpoint.prepared.lifted
    root = next(root for root in lifted.queries if root.origin.text == query)
    assert add_queries is not None
    lower, upper = default_value(rested.fixpoint, lifted, root, dict(zip(variables, entities, strict=True)))
    return abs(lower - value.lower) <= TOLERANCE and abs(upper - value.upper) <= TOLERANCE
