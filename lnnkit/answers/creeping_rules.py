"""The statements whose instances still set bounds when inference gave up, in the user's terms."""

from __future__ import annotations

from lnnkit.check.program import Assertion
from lnnkit.engine.inference import Fixpoint
from lnnkit.outcome import Creeping


def creeping(fixpoint: Fixpoint) -> tuple[Creeping, ...]:
    """The statements on slowly converging cycles, in the order of their positions."""
    found = [
        Creeping(each.kind, each.name, each.span.line, each.span.source.path, _text(each))
        for each in _statements(fixpoint)
        if each.kind != "law"
    ]
    return tuple(sorted(found, key=lambda each: (each.file, each.line)))


def _text(statement: Assertion) -> str:
    """The statement on one line, without its keyword."""
    return statement.text.removeprefix(f"{statement.kind} ")


def _statements(fixpoint: Fixpoint) -> list[Assertion]:
    """The statements of the slowly converging members; if these are shared neurons only, the statements that contain
    them."""
    prepared = fixpoint.prepared
    graph = prepared.lifted.graph
    roots = {id(root.origin): root for root in prepared.lifted.statements}
    formulas = [prepared.grounding.members[member].formula for member in fixpoint.progress.creeping]
    neurons = {formula.auxiliary for formula in formulas if formula.auxiliary is not None}
    named = {id(formula.root.origin) for formula in formulas if formula.auxiliary is None and formula.root is not None}
    named |= {key for key, root in roots.items() if root.reference.node in neurons}
    if not named:
        named = {key for key, root in roots.items() if not neurons.isdisjoint(graph.below(root.reference.node))}
    return [root.origin for key, root in roots.items() if key in named and isinstance(root.origin, Assertion)]
