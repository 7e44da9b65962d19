"""The shape of a formula: formulas of equal shape are evaluated together, row by row."""

from __future__ import annotations

from collections.abc import Mapping

from lnnkit.formula.unfolding import Formula

Modes = Mapping[int, tuple[int, int]]  # for each leaf, how its lower and its upper end are kept


def shape(formula: Formula, modes: Modes, observed: tuple[int, ...]) -> object:
    """A key that is equal for formulas which can be evaluated together."""
    return (
        tuple(
            (n.kind, n.operands, n.block, n.weights, n.bias, n.logic.name if n.logic else None, n.inner, n.arithmetic)
            for n in formula.neurons
        ),
        tuple((b.parent, len(b.bound), b.grouped) for b in formula.blocks),
        tuple(n.arguments[0] == n.arguments[1] for n in formula.neurons if n.kind == "same"),
        (formula.lower, formula.upper) if formula.auxiliary is None else None,
        formula.heads,
        tuple(sorted(modes.items())),
        observed,
    )
