"""The contradictions of a fixpoint, in the user's terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lnnkit.check.program import Assertion
from lnnkit.ground.formula import unfold
from lnnkit.ground.read_back import as_text
from lnnkit.infer.auxiliaries import neuron_root
from lnnkit.infer.inference import Fixpoint
from lnnkit.outcome import Contradiction
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression
from lnnkit.syntax.span import Source, Span

_NOWHERE = Span(Source("", ""), 0, 0)


def contradictions(fixpoint: Fixpoint, names: Sequence[str]) -> tuple[Contradiction, ...]:
    """Arrested atoms and shared neurons, then arrested instances of statements; each sorted by their text."""
    return (
        *sorted(_atoms(fixpoint, names), key=lambda found: found.atom),
        *sorted(_instances(fixpoint, names), key=lambda found: (found.file or "", found.line or 0, found.atom)),
    )


def _atoms(fixpoint: Fixpoint, names: Sequence[str]) -> Iterator[Contradiction]:
    prepared = fixpoint.prepared
    atoms = prepared.grounding.atoms
    graph = prepared.lifted.graph
    observed = set(prepared.observers.values())
    crossed = prepared.state.crossed
    for row, lower, upper in zip(
        crossed.rows.values.tolist(), crossed.lower.values.tolist(), crossed.upper.values.tolist(), strict=True
    ):
        table = atoms.numbered[int(atoms.owner.values[row])]
        local = int(atoms.local.values[row])
        entities = [names[int(column[local])] for column in table.tuples.columns]
        if table.name in observed:
            continue
        if graph.nodes[table.name]["kind"] != "predicate":
            formula = unfold(prepared.lifted, neuron_root(prepared.lifted, table.name), through_shared=True)
            text = as_text(formula, dict(enumerate(entities)))
            yield Contradiction("neuron", text, None, None, lower, upper)
        else:
            arguments = tuple(ast.Constant(entity, span=_NOWHERE) for entity in entities)
            text = format_expression(ast.Atom(table.name, arguments, span=_NOWHERE))
            yield Contradiction("atom", text, None, None, lower, upper)


def _instances(fixpoint: Fixpoint, names: Sequence[str]) -> Iterator[Contradiction]:
    prepared = fixpoint.prepared
    for batch, row, lower, upper in _arrested(fixpoint):
        formula, ids = prepared.grounding.assignment(batch, row)
        bindings = {variable: names[entity] for variable, entity in enumerate(ids)}
        assert formula.root is not None
        whole = unfold(prepared.lifted, formula.root, through_shared=True)
        text = as_text(whole, bindings)
        if formula.auxiliary is not None:
            yield Contradiction("neuron", text, None, None, lower, upper)
            continue
        origin = formula.root.origin
        assert isinstance(origin, Assertion)
        yield Contradiction(
            origin.kind,
            text,
            origin.name,
            origin.span.line,
            lower,
            upper,
            origin.span.source.path,
        )


def _arrested(fixpoint: Fixpoint) -> Iterator[tuple[int, int, float, float]]:
    for found in fixpoint.progress.arrested:
        for row, lower, upper in zip(
            found.rows.tolist(), found.roots.lower.tolist(), found.roots.upper.tolist(), strict=True
        ):
            yield found.batch, row, lower, upper
