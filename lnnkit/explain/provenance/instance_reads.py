"""The reads of an instance, bound by bound, without repetition over the rows of quantifiers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lnnkit.explain.provenance.bound_sources import BoundSources, Reading
from lnnkit.explain.provenance.ground_text import Argument
from lnnkit.explain.provenance.instance_view import InstanceView
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.instances.grounding import Grounding
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import TRUE, UNKNOWN


@dataclass(frozen=True, slots=True)
class Read:
    """One end of a bound that an instance reads, at some ``places`` among the rows of a ``leaf``."""

    leaf: int
    places: tuple[int, ...]
    side: int
    reading: Reading


def leaf_reads(
    grounding: Grounding,
    readings: BoundSources,
    view: InstanceView,
    leaf: int,
    side: int,
    tick: int,
    arguments: Callable[[int], tuple[Argument, ...]],
) -> list[Read]:
    """The informative reads of a leaf. ``arguments`` are those at a place where the atom has no row."""
    found: list[Read] = []
    if not len(view.rows[leaf]):  # a quantifier over an empty sort
        return found
    table = view.table(leaf)
    default_row = grounding.atoms.tables[table].default_row
    rows, inverse = np.unique(view.rows[leaf], return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    ends = np.cumsum(np.bincount(inverse, minlength=len(rows)))
    for row, places in zip(rows.tolist(), np.split(order, ends[:-1]), strict=True):
        if row != default_row:
            reading = readings.of(row, side, tick)
            if reading.source is not None:
                found.append(Read(leaf, tuple(places.tolist()), side, reading))
        elif readings.unlisted(table, (), side, tick).source is not None:
            alike: dict[tuple[Argument, ...], list[int]] = {}
            for place in places.tolist():
                alike.setdefault(arguments(place), []).append(place)
            for about, mine in alike.items():
                found.append(Read(leaf, tuple(mine), side, readings.unlisted(table, about, side, tick)))
    return found


def values_of(view: InstanceView, ways: Sequence[Sequence[Read]]) -> dict[int, Bounds]:
    """The leaf values for each of several sets of reads: bounds that are not among them are unknown."""
    found: dict[int, Bounds] = {}
    for leaf, rows in view.rows.items():
        shape = (len(ways), len(rows))
        numeric = leaf != AUXILIARY and view.formula.neurons[leaf].numeric
        silent = (-math.inf, math.inf) if numeric else (0.0, 1.0)
        lower, upper = (np.full(shape, end, dtype=np.float64) for end in silent)
        if leaf != AUXILIARY and view.formula.neurons[leaf].kind == "same":
            fixed = rows
            lower[:] = (fixed == TRUE).astype(np.float64)
            upper[:] = ((fixed == TRUE) | (fixed == UNKNOWN)).astype(np.float64)
        found[leaf] = Bounds(lower, upper)
    for number, way in enumerate(ways):
        for read in way:
            found[read.leaf][read.side][number, list(read.places)] = read.reading.value
    return found
