"""What its numbers make a comparison that nothing else needed, and that inference did not look at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lnnkit.engine.start.prepared import Prepared
from lnnkit.formula.number_terms import comparison
from lnnkit.numeric import Interval


def compared(prepared: Prepared, node: str, arguments: Sequence[str]) -> tuple[float, float]:
    """The bounds of the truth of a comparison about these entities."""
    grounding, state = prepared.grounding, prepared.state
    made, numbers = comparison(prepared.lifted.graph, node, tuple(arguments))
    inputs: list[Interval] = []
    for name, entities in numbers:
        ids = [np.array([grounding.domain.index[str(each)]], np.int32) for each in entities]
        bounds = state.view(grounding.atoms.find(grounding.atoms.tables[name], ids, 1))
        inputs.append(Interval(bounds.lower.double(), bounds.upper.double()))
    lower, upper = made.truth(inputs)
    return float(lower), float(upper)
