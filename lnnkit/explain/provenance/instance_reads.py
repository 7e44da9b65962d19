"""What an instance reads, bound by bound: each once, wherever it stands among the rows of a quantifier."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lnnkit.explain.provenance.bound_sources import Reading, Readings
from lnnkit.explain.provenance.ground_text import Argument
from lnnkit.explain.provenance.instance_view import Sight
from lnnkit.formula.unfolding import AUXILIARY
from lnnkit.join.instances.grounding import Grounding
from lnnkit.logic.bounds import Bounds
from lnnkit.store.atoms import TRUE, UNKNOWN


@dataclass(frozen=True, slots=True)
class Read:
    """One end of a bound that an instance reads, at some ``places`` among the rows behind a ``leaf``."""

    leaf: int
    places: tuple[int, ...]
    side: int
    reading: Reading


def leaf_reads(
    grounding: Grounding,
    readings: Readings,
    sight: Sight,
    leaf: int,
    side: int,
    tick: int,
    arguments: Callable[[int], tuple[Argument, ...]],
) -> list[Read]:
    """What is read of a leaf and says anything. ``arguments`` are those at a place where the atom has no row."""
    found: list[Read] = []
    if not len(sight.rows[leaf]):  # of a quantifier over a sort that nobody is in
        return found
    table = sight.table(leaf)
    default_row = grounding.atoms.tables[table].default_row
    rows, inverse = np.unique(sight.rows[leaf], return_inverse=True)
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


def values_of(sight: Sight, ways: Sequence[Sequence[Read]]) -> dict[int, Bounds]:
    """What the leaves read, for each of several ways: bounds that are not among them say nothing."""
    found: dict[int, Bounds] = {}
    for leaf, rows in sight.rows.items():
        shape = (len(ways), len(rows))
        numeric = leaf != AUXILIARY and sight.formula.neurons[leaf].numeric
        silent = (-math.inf, math.inf) if numeric else (0.0, 1.0)
        lower, upper = (torch.full(shape, end, dtype=torch.float64) for end in silent)
        if leaf != AUXILIARY and sight.formula.neurons[leaf].kind == "same":
            fixed = torch.from_numpy(rows)
            lower[:] = (fixed == TRUE).double()
            upper[:] = ((fixed == TRUE) | (fixed == UNKNOWN)).double()
        found[leaf] = Bounds(lower, upper)
    for number, way in enumerate(ways):
        for read in way:
            found[read.leaf][read.side][number, list(read.places)] = read.reading.value
    return found
