"""Neural predicates and numbers: a torch module computes the truth of a predicate's atoms, or a number, from inputs.

A false crisp comparison of such numbers bounds nothing; softened, it has the gradient from which the module learns. It
is requested like a query, and its effect is replayed by all supports (`lnnkit.learn.fitting.loss`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from torch import Tensor, nn

from lnnkit.arrays import all_set, where_set
from lnnkit.check.program import CheckedProgram, Query
from lnnkit.check.walk import nodes
from lnnkit.data.load import told_table
from lnnkit.learn.replay.recorded_inference import RecordedInference
from lnnkit.learn.replay.replay import Replay
from lnnkit.syntax import ast

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

_MOST = 100_000  # tuples of entities for which a comparison is evaluated at most


class NotFinite(Exception):
    """The module that supplies ``predicate`` returned infinity or NaN."""

    def __init__(self, predicate: str) -> None:
        super().__init__(f"the module bound to `{predicate}` returned a value that is not a finite number")


@dataclass(frozen=True, slots=True)
class Binding:
    """``P(entity)`` has the truth ``module(input)``, of shape ``[n]`` or ``[n, 1]``; ``P(entity, class)`` that of the
    class's column of ``[n, k]``. ``inputs`` (n, ...) are those of the ``entities``; ``classes`` are empty for one
    argument. For a ``numeric`` binding the module returns the numbers themselves."""

    predicate: str
    module: nn.Module
    inputs: Tensor
    entities: tuple[str, ...]
    classes: tuple[str, ...]
    numeric: bool = False

    def values(self, rows: Tensor | None = None) -> Tensor:
        """(n, k) in double precision, for all inputs or some: truths within [0, 1], or numbers; differentiable. Raises
        `NotFinite` if the module returns infinity or NaN."""
        output: Tensor = self.module(self.inputs if rows is None else self.inputs[rows])
        output = output.reshape(len(output), -1).double()
        if not all_set(output.isfinite()):
            raise NotFinite(self.predicate)
        return output if self.numeric else output.clamp(0.0, 1.0)

    def table(self, *, placeholder: bool = False) -> FactTable:
        """The facts that it supplies now; their rows are those of the inputs, from 1. Those of a ``placeholder`` have
        the value 0, and the module is not called."""
        with torch.no_grad():
            values = torch.zeros(len(self.entities), self.width) if placeholder else self.values()
        columns: dict[str, object] = {"entity": [name for name in self.entities for _ in range(self.width)]}
        if self.classes:
            columns["class"] = list(self.classes) * len(self.entities)
        columns["value"] = values.reshape(-1).tolist()
        table, _ = told_table(self.predicate, 2 if self.classes else 1, self.numeric, columns)
        assert table is not None
        inputs = np.arange(len(self.entities), dtype=np.int64).repeat(self.width) + 1
        return replace(table, source=f"<module {self.predicate}>", rows=inputs)

    @property
    def width(self) -> int:
        """The number of values for each input."""
        return max(1, len(self.classes))

    @property
    def version(self) -> tuple[int, ...]:
        """Changes when a parameter of the module does."""
        return tuple(tensor._version for tensor in (*self.module.parameters(), *self.module.buffers()))


def bound(program: CheckedProgram, bindings: Sequence[Binding], *, placeholder: bool = False) -> CheckedProgram:
    """The program with the facts that its bindings supply now, or with placeholders, which make their names known."""
    more = tuple(binding.table(placeholder=placeholder) for binding in bindings)
    return replace(program, tables=(*program.tables, *more)) if more else program


def bound_atoms(binding: Binding, inference: RecordedInference) -> Tensor:
    """(rows,) for each of all rows the index of its value in a binding's flattened output; -1 if none."""
    numbers = inference.numbers
    table = numbers.atoms.tables[binding.predicate]
    columns = [np.array([inference.entities[name] for name in binding.entities], np.int32).repeat(binding.width)]
    if binding.classes:
        classes = np.array([inference.entities[name] for name in binding.classes], np.int32)
        columns.append(np.tile(classes, len(binding.entities)))
    rows = torch.from_numpy(numbers.of(table, table.tuples.find(columns, len(columns[0]))))
    which = torch.full((numbers.count,), -1, dtype=torch.int64)
    which[rows] = torch.arange(len(rows))
    return which


def bound_replay(replay: Replay, bindings: Sequence[tuple[Binding, Tensor]]) -> Replay:
    """The replay with the outputs of the ``bindings`` that it reads, each with its `bound_atoms`."""
    outputs: list[tuple[Tensor, Callable[[], Tensor]]] = []
    for binding, which in bindings:
        index = which[replay.sources // 2]
        places = where_set(index >= 0)
        if len(places):
            inputs, rows = torch.unique(index[places] // binding.width, return_inverse=True)
            outputs.append((places, partial(_output, binding, inputs, rows, index[places] % binding.width)))
    return replace(replay, outputs=tuple(outputs))


def _output(binding: Binding, inputs: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    return binding.values(inputs)[rows, columns]


def comparison_queries(program: CheckedProgram, bindings: Sequence[Binding]) -> tuple[Query, ...]:
    """A query for each comparison whose numbers modules may determine. Comparisons that are statements, or of too many
    tuples, learn only from what inference derives."""
    determined = {binding.predicate for binding in bindings if binding.numeric}
    if not determined:
        return ()
    entities = max(len(binding.entities) for binding in bindings if binding.numeric)
    held: list[tuple[Query, set[str], bool]] = []  # with the numbers compared, and whether it may be asked for
    pairs = ((one, node) for one in program.assertions for node in nodes(cast(ast.Expression, one.formula)))
    for assertion, node in pairs:
        if isinstance(node, ast.Comparison):
            atoms = [atom for atom in nodes(node) if isinstance(atom, ast.Atom)]
            variables = {term.name for atom in atoms for term in atom.arguments if isinstance(term, ast.Variable)}
            few = node is not assertion.formula and entities ** len(variables) <= _MOST
            held.append((Query(node, node.span.text, assertion.logic, node.span), {atom.name for atom in atoms}, few))
    while more := {name for _, names, _ in held if names & determined for name in names} - determined:
        determined |= more
    return tuple(query for query, names, few in held if few and names & determined)
