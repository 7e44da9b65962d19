"""Sound bounds after a completion that was stopped.

Lower ends rise from 0 to the least fixpoint, so those reached hold. Upper ends rise from 0 too, and hold only once they
have converged: until then an atom of the stratum, or of one above, is unknown above its lower end.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lnnkit.engine.start.prepare import completed
from lnnkit.engine.start.prepared import Prepared
from lnnkit.engine.start.shared_neurons import SharedNeurons, neuron_root
from lnnkit.engine.workspace import Status
from lnnkit.formula.unfolding import unfold
from lnnkit.logic.bounds import Bounds
from lnnkit.store.columns.row_arrays import Array
from lnnkit.trail.events import Kind


class Unfinished(Exception):
    """Completion stopped before its end; the state is consistent. ``status`` says why."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.value)
        self.status = status


def restore(prepared: Prepared, predicates: frozenset[str], rows: Array, old: Bounds) -> None:
    """Undo a later completion of a stratum: ``rows`` had the bounds ``old``, and all others their default."""
    state = prepared.state
    now = completed(prepared, predicates)
    for side, values in enumerate(old):
        state.put(side, now, 0.0, Kind.RESTARTED)
        state.put(side, rows, values, Kind.RESTORED)


def open_up(prepared: Prepared, predicates: Iterable[str]) -> None:
    """Leave the first completion with ``predicates`` unfinished: atoms that no fact lists are unknown above the lower
    ends reached. No round has been made, so that apart from the strata only shared neurons depend on these atoms; such
    neurons keep only the bounds that their statements give."""
    grounding, state = prepared.grounding, prepared.state
    atoms, lifted = grounding.atoms, prepared.lifted
    names = frozenset(predicates)
    reached = completed(prepared, names)
    state.put(1, reached, 1.0, Kind.OPENED)
    defaults = {name: table.default for name, table in atoms.tables.items()}
    defaults |= dict.fromkeys(names, (0.0, 1.0))
    shared = [node for node, data in lifted.graph.nodes.items() if data["shared"]]
    for node in shared:
        if node not in prepared.shared.impossible:
            data = lifted.graph.nodes[node]
            defaults[node] = (min(data["lower"], data["upper"]), max(data["lower"], data["upper"]))
            rows = atoms.tables[node].rows
            rows = rows[~state.frozen.take(rows)]
            for side, value in enumerate(defaults[node]):
                state.put(side, rows, value, Kind.INITIAL)
    prepared.analyses = prepared.analyses.over(defaults)
    untold = {}
    for node in shared:
        bare = unfold(lifted, neuron_root(lifted, node), through_shared=True)
        plain = prepared.analyses.of(bare).upward.default_values(bare.top)
        untold[node] = (min(low for low, _ in plain), max(high for _, high in plain))
    prepared.shared = SharedNeurons(prepared.shared.formulas, prepared.shared.impossible, untold)
    for name in (*names, *shared):
        table = atoms.tables[name]
        table.default = defaults[name]
        for side, value in enumerate(table.default):
            state.put(side, np.array([table.default_row]), value, None)
        rows = table.rows
        atoms.deviate(rows, *state.read(rows))
    prepared.unfinished = names
