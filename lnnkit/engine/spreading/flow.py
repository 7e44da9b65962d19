"""What instances that a trigger finds say, where all say one thing: of an atom that is at its default, one bound.

A *flow* is a trigger of a member with that: its instances' leaves but one are of known classes, and the atom behind the
one left, the head, is told where it is at its default and says nothing where it has been told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from lnnkit.analysis.relevance import ALL
from lnnkit.engine.encoded_bounds import EncodedBounds
from lnnkit.engine.response.rule_response import RuleResponse
from lnnkit.formula.unfolding import AUXILIARY, LEAF
from lnnkit.join.bindings import Matched
from lnnkit.join.few_joins import FewBindings, FewJoins, Unfit
from lnnkit.join.triggers import Trigger
from lnnkit.store.atoms import AtomTable
from lnnkit.store.columns.arrays import Array

MOST = 2**14  # so many assignments are found at once: torch takes more in less time


@dataclass(slots=True, eq=False)
class Flow:
    """The instances of ``response`` that ``trigger`` finds: ``head`` is the leaf that is told ``value`` on ``side``,
    ``arguments`` are its variables, or ids; ``leaves`` are the atoms behind the others. An atom of the head's table
    that is of one of the ``silent`` classes is told nothing new."""

    response: RuleResponse
    trigger: Trigger
    joins: FewJoins
    head: int
    table: AtomTable
    arguments: tuple[tuple[int | None, int], ...]  # a variable, or an id
    side: int
    value: float
    silent: frozenset[int]
    leaves: Mapping[int, Matched]

    def found(self, columns: list[Array], local: Array, grown: int) -> Iterator[FewBindings]:
        """What rows of the trigger's table find, given their columns; it is counted as plain rounds count it. The list
        of the trigger's literal has ``grown`` by so many rows that are not entered yet."""
        rule, trigger = self.response.rule, self.trigger
        under = self.joins.matched(columns, local)
        if not under.length:
            return
        share = min(1.0, rule.fresh_rows(trigger, grown) / under.length)
        made, need = self.joins.joins.made, trigger.need

        def counted(out: int, last: bool) -> None:
            self.joins.joins.guard((made.get(need, 0.0) if last else 0) + share * out)

        for found in self.joins.found(under, counted, MOST):
            rule.assignment_count += found.length
            made[need] = made.get(need, 0.0) + share * found.length
            yield found

    def columns(self, found: FewBindings) -> list[Array]:
        """The tuples of the heads."""
        return [
            np.full(found.length, entity) if variable is None else found.column(variable)
            for variable, entity in self.arguments
        ]


def flow(response: RuleResponse, trigger: Trigger, own_class: int, encoded: EncodedBounds) -> Flow:
    """The flow of a trigger whose rows that moved are of one class. Raises `Unfit` where it is none."""
    rule, table, batch = response.rule, response.table, response.batch
    formula = rule.formula
    joins = rule.joins
    if joins.recorder is not None or not table.useful or rule.enumerates or len(response.arrests):
        raise Unfit
    matched = {(each.table, each.arguments) for each in trigger.rest}
    own = (trigger.pattern.table.name, trigger.pattern.arguments)
    head: int | None = None
    soles: list[int | None] = []
    leaves: dict[int, Matched] = {}
    for leaf in table.leaves:
        if leaf in formula.heads or (leaf != AUXILIARY and formula.neurons[leaf].kind != LEAF):
            raise Unfit
        atom = rule.atom(leaf)
        if atom == own or atom in matched:
            sole = own_class if atom == own else _sole(response, leaf, encoded)
            leaves[leaf] = atom
        elif head is None:
            head, sole = leaf, None
        else:
            raise Unfit
        soles.append(sole)
    if head is None:
        raise Unfit
    source = rule.pattern(rule.atom(head)).table
    if source.numeric:
        raise Unfit

    def combined(number: int) -> tuple[int, ...]:
        return tuple(number if sole is None else sole for sole in soles)

    proposed = table.proposed(combined(encoded.default(source.number)), encoded)
    if len(proposed) != 1:
        raise Unfit
    (((leaf, side), value),) = proposed.items()
    if leaf != head or batch.modes[head][side] != ALL:
        raise Unfit
    silent = frozenset(k for k in encoded.known(source.number)[1:] if table.silent(combined(k), encoded))
    atom = rule.pattern(rule.atom(head))
    constants = dict(atom.constants)
    arguments = tuple(
        (argument, 0) if isinstance(argument, int) else (None, constants[place])
        for place, argument in enumerate(atom.arguments)
    )
    return Flow(response, trigger, FewJoins(joins, trigger), head, source, arguments, side, value, silent, leaves)


def _sole(response: RuleResponse, leaf: int, encoded: EncodedBounds) -> int:
    """The class of all atoms that a literal finds."""
    sole = encoded.sole(response.rule.pattern(response.rule.atom(leaf)).table.number)
    if sole is None or not response.rule.told_apart(leaf):
        raise Unfit
    return sole
