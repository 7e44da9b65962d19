"""The truth of comparisons that inference did not evaluate because nothing needed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.arrays import Array
from lnnkit.engine.start.prepared import Prepared
from lnnkit.explain.provenance.fact_sources import ground_atom
from lnnkit.explain.render.proof_text import format_bound
from lnnkit.formula.number_terms import comparison
from lnnkit.numeric import Interval
from lnnkit.syntax.printer import format_expression


@dataclass(frozen=True, slots=True)
class Compared:
    """(n,) the bounds of truths, and how far the two sides are apart, as a share of the greater."""

    lower: np.ndarray
    upper: np.ndarray
    gap: np.ndarray


def compared(prepared: Prepared, node: str, columns: Sequence[np.ndarray]) -> Compared:
    """The truth of a comparison for some entities: a column of ids for each argument."""
    grounding, state = prepared.grounding, prepared.state
    places = [f"\0{place}" for place in range(len(columns))]
    made, numbers = comparison(prepared.lifted.graph, node, tuple(places))
    length = len(columns[0]) if columns else 1
    inputs: list[Interval] = []
    for name, entities in numbers:
        ids = [_column(prepared, columns, str(each), length) for each in entities]
        bounds = state.read(grounding.atoms.find(grounding.atoms.tables[name], ids, length))
        inputs.append(Interval(bounds.lower.astype(np.float64), bounds.upper.astype(np.float64)))
    lower, upper = (np.broadcast_to(end, length) for end in made.truth(inputs))
    one, other = (term.hull(inputs)[0] for term in (made.left, made.right))
    apart = np.maximum(other[0] - one[1], one[0] - other[1]).clip(0.0)
    size = np.maximum(_size(one), _size(other))
    gap = np.nan_to_num(apart / size.clip(1e-9), nan=0.0, posinf=0.0)
    return Compared(lower, upper, np.broadcast_to(gap, length))


def known_numbers(prepared: Prepared, node: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The known bounds of each number in a comparison about these entities, as text."""
    grounding, state = prepared.grounding, prepared.state
    _, numbers = comparison(prepared.lifted.graph, node, tuple(arguments))
    found: list[str] = []
    for name, entities in numbers:
        ids = [np.array([grounding.domain.index[str(each)]], np.int32) for each in entities]
        bounds = state.read(grounding.atoms.find(grounding.atoms.tables[name], ids, 1))
        low, high = float(bounds.lower[0]), float(bounds.upper[0])
        atom = format_expression(ground_atom(name, list(map(str, entities))))
        if low == -np.inf and high == np.inf:
            found.append(f"{atom} is unknown")
        elif low == high:
            found.append(f"{atom} is {format_bound(low)}")
        else:
            found.append(f"{atom} is in [{format_bound(low)}, {format_bound(high)}]")
    return tuple(dict.fromkeys(found))


def _column(prepared: Prepared, columns: Sequence[np.ndarray], entity: str, length: int) -> np.ndarray:
    if entity.startswith("\0"):
        return columns[int(entity[1:])].astype(np.int32)
    return np.full(length, prepared.grounding.domain.index[entity], np.int32)


def _size(term: Interval) -> Array:
    """The least magnitude of a term's values, if it is finite."""
    ends = np.stack([np.where(np.isfinite(end), abs(end), 0.0) for end in term])
    return ends.max(0)
