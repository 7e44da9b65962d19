"""Completion with exact inputs: if both ends of every atom that the rules read are equal, so are both ends of every
result. Then only upper ends are computed, and every proposal is for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lnnkit.arrays import any_set
from lnnkit.engine.bounds_state import State
from lnnkit.engine.response.group_response import GroupResponse
from lnnkit.engine.response.respond import Read, Response, completing, on_device
from lnnkit.engine.response.response_table import ResponseTable
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.engine.workspace import Workspace
from lnnkit.formula.quantified_rows import Grouping
from lnnkit.join.instances.grounding import sources
from lnnkit.join.instances.rule_shape import RuleShape
from lnnkit.logic.bounds import noise
from lnnkit.store.atoms import AtomTable
from lnnkit.store.columns.row_arrays import Array


class Inexact(Exception):
    """The two ends of a proposal differ, though those of its inputs do not."""


def exact_inputs(space: Workspace, members: Sequence[int]) -> bool:
    """Whether all atoms that the members read are exact, and each instance has one row."""
    atoms, responses = space.grounding.atoms, space.responding(members)
    if any(isinstance(each, GroupResponse) for each in responses.values()):
        return False
    names = {name for each in responses.values() for name in sources(each.rule.formula)}
    return all(_exact(atoms.tables[name], space.state) for name in sorted(names))


def _exact(table: AtomTable, state: State) -> bool:
    if table.numeric or table.default[0] != table.default[1]:
        return False
    run = table.run
    lower, upper = state.read(table.rows) if run is None else state.read_run(run.start, run.stop)
    return np.array_equal(lower, upper)


def respond_by(responses: Iterable[RuleResponse | GroupResponse], state: State, *, exact: bool) -> None:
    """Make rules respond with both ends of their heads or, if ``exact``, with the upper ends alone; they then raise
    `Inexact` if the lower ends would differ."""
    tables: dict[int, ResponseTable] = {}
    for each in responses:
        if isinstance(each, RuleResponse) and each.exact != exact:
            if each.number not in tables:
                say = _completing if exact else completing
                say = on_device(say, state.device)
                tables[each.number] = ResponseTable(each.batch, each.table.leaves, say, state.dtype)
            each.respond_by(tables[each.number], exact=exact)


def _completing(batch: RuleShape, read: Read, groupings: Sequence[Grouping | None]) -> Response:
    found = completing(batch, read, groupings)
    for (head, side), (_, upper) in found.proposed.items():
        if side == 1 and _differ(found.proposed[head, 0][1], upper):
            raise Inexact
    return Response(
        found.bad, found.root, {target: proposed for target, proposed in found.proposed.items() if target[1] == 1}
    )


def _differ(lower: Array, upper: Array) -> bool:
    return any_set(abs(lower - upper) > noise(upper.dtype))
