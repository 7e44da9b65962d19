"""Tables handed over as facts, labels, or keys of facts that are taken back: their predicate, and their errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lnnkit.check.entity_names import clashes
from lnnkit.check.findings import nearest
from lnnkit.check.program import CheckedProgram, Fact
from lnnkit.data.fact_tables import FactTables, keys_of
from lnnkit.data.load import told_table
from lnnkit.data.table import TOLD, FactTable
from lnnkit.errors import DataError
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_predicate


def fact_table(
    checked: CheckedProgram, name: str, table: object, trust: float = 1.0, *, labels: bool = False, keys: bool = False
) -> tuple[FactTable, list[Diagnostic]]:
    """The facts, ``labels``, or ``keys`` of facts, of a ``table`` for the predicate ``name``, and the findings. Raises
    `DataError` with every bad row, or if there is no such predicate; ``ValueError`` unless ``trust`` is from 0 to 1."""
    if isinstance(trust, bool) or not isinstance(trust, (int, float)) or not 0 <= trust <= 1:
        raise ValueError(f"trust must be a number from 0 to 1; got {trust!r}")
    if not isinstance(name, str):
        raise TypeError(f"a predicate is named by text, not {type(name).__name__}")
    predicate = checked.predicates.get(name)
    if predicate is None:
        near = nearest(name, checked.predicates)
        hint = f"did you mean `{near}`?" if near else "declare it in the program: `predicate NAME(sort, ...)`"
        raise DataError([Diagnostic("unknown-predicate", f"no predicate is named `{name}`", hint)])
    stated = FactTables.of(checked.tables).stated
    tables = (*stated, *checked.label_tables)
    place = sum(t.predicate == name and t.source.startswith(TOLD) for t in (() if keys else tables))
    like = stated[-1] if stated else None  # tables about the same entities often follow each other
    gaps = "skipped" if labels else "refused" if predicate.closed else "unknown"
    numeric = False if keys else predicate.numeric
    facts, findings = told_table(name, predicate.arity, numeric, table, place, float(trust), like, gaps=gaps, keys=keys)
    if facts is None or any(finding.severity == "error" for finding in findings):
        raise DataError([finding for finding in findings if finding.severity == "error"])
    return facts, findings


def with_table(checked: CheckedProgram, table: FactTable) -> CheckedProgram:
    """The program with one more table, after its own. Raises `DataError` if a variable of the program differs only in
    case from one of the table's entities, just as if the program had named the table."""
    findings = clashes(checked.suspects, (), [table.names])
    if findings:
        raise DataError(findings)
    return replace(checked, tables=FactTables.of(checked.tables).changed(table, taken=False))


def without(checked: CheckedProgram, keys: FactTable) -> CheckedProgram:
    """The program without the facts about the atoms of ``keys``, in its text and in its tables, and without the
    entities that nothing else names. Axioms stay."""
    atoms = set(zip(*keys.columns, strict=True)) if keys.columns else {()} if len(keys) else set()
    facts = [f for f in checked.facts if f.of_axiom or f.predicate != keys.predicate or f.arguments not in atoms]
    return replace(checked, facts=tuple(facts), tables=FactTables.of(checked.tables).changed(keys, taken=True))


def with_facts(checked: CheckedProgram, facts: Sequence[Fact]) -> CheckedProgram:
    """The program with these facts in place of all that is stated about their atoms, by axioms too."""
    atoms = {(fact.predicate, fact.arguments) for fact in facts}
    kept = tuple(fact for fact in checked.facts if (fact.predicate, fact.arguments) not in atoms)
    tables = FactTables.of(checked.tables)
    for predicate, arguments in atoms:
        tables = tables.changed(keys_of(predicate, [arguments]), taken=True)
    return replace(checked, facts=(*kept, *facts), tables=tables)


def without_denials(warnings: Iterable[Diagnostic], name: str) -> tuple[Diagnostic, ...]:
    """The warnings that still hold after ``name`` was told false of something."""
    spelled = (name, format_predicate(name))
    return tuple(w for w in warnings if w.code != "never-false" or w.span is None or w.span.text not in spelled)
