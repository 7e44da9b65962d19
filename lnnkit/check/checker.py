"""Checks a syntax tree, pass by pass. Every finding is collected; none ends the check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lnnkit.check.assembly import assemble
from lnnkit.check.declarations import declarations
from lnnkit.check.entity_names import entities
from lnnkit.check.gather import gather
from lnnkit.check.imports import logic_of, merge
from lnnkit.check.kinds import kinds
from lnnkit.check.learnables import learnables, untrained
from lnnkit.check.nearest import nearest
from lnnkit.check.negations import negations
from lnnkit.check.predicates import predicates
from lnnkit.check.program import ENTITY, CheckedProgram, Predicate
from lnnkit.check.query_entities import asked
from lnnkit.check.sorts import resolve_predicates, sorts
from lnnkit.check.strata import strata
from lnnkit.check.symbols import Symbols
from lnnkit.check.tables import READING, read_tables, unread
from lnnkit.check.units import units
from lnnkit.check.unjoined import unjoined
from lnnkit.check.unknown_functions import unknown_functions
from lnnkit.check.values import terms, values
from lnnkit.check.variables import rules, variables
from lnnkit.check.weights import weights
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

Pass = Callable[[Symbols], list[Diagnostic]]

PASSES: tuple[Pass, ...] = (
    declarations,
    predicates,
    sorts,
    variables,
    entities,
    unjoined,
    asked,
    kinds,
    values,
    weights,
    units,
    terms,
    learnables,
    unknown_functions,
    untrained,
    rules,
    negations,
    strata,
)


def check(
    program: ast.Program,
    base: Path,
    *,
    read_data: bool = True,
    told: Sequence[FactTable] = (),
    streamed: str | None = None,
) -> tuple[CheckedProgram | None, list[Diagnostic]]:
    """Check a parsed program whose paths are relative to ``base``.

    ``told`` are tables that the program does not name (``kb.tell``); they supply their predicates and come after the
    program's own. The checked program is None if there is an error. Findings are ordered by file and position.
    Statements that did not parse are not in ``program``, but its source still has them: names that they mention are not
    reported as unknown. Without ``read_data`` no data file is opened, and what depends on its contents (entities, the
    arity of a predicate that only a ``load`` mentions) is not checked. Nor are the tables of predicates with an
    argument of the sort that is ``streamed``: their rows come later.
    """
    merged = merge(program, base)
    symbols = gather(merged.entries, told=told)
    complete = not merged.left_out.intersection(READING)
    symbols = replace(symbols, left_out=frozenset(merged.left_out), whole=merged.whole, complete=complete)
    if streamed is not None and not _of_sort(symbols, streamed):
        symbols, problems = unread(symbols), [unknown_sort(streamed, resolve_predicates(unread(symbols)))]
    elif read_data:
        symbols, problems = read_tables(symbols, _of_sort(symbols, streamed))
    else:
        symbols, problems = unread(symbols), []
    symbols = replace(symbols, resolved=resolve_predicates(symbols))
    found = [*merged.diagnostics, *problems, *run(PASSES, symbols)]
    found = ordered(found, [program.span.source.path, *(each.span.source.path for each in symbols.statements())])
    failed = any(finding.severity == "error" for finding in found)
    return None if failed else assemble(symbols, logic_of(program.statements)), found


def _of_sort(symbols: Symbols, sort: str | None) -> frozenset[str]:
    """The predicates and numbers with an argument of a sort."""
    if sort is None:
        return frozenset()
    resolved = resolve_predicates(unread(symbols))
    return frozenset(name for name, predicate in resolved.items() if sort in predicate.sorts)


def unknown_sort(name: str, predicates: Mapping[str, Predicate]) -> Diagnostic:
    """The error for a sort that no predicate has."""
    known = {sort for predicate in predicates.values() for sort in predicate.sorts}
    near = nearest(name, known)
    listed = ", ".join(sorted(known - {ENTITY})) or "none is declared, as in `predicate P(loan)`"
    hint = f"did you mean `{near}`?" if near else f"the sorts of the program: {listed}"
    return Diagnostic("unknown-sort", f"no predicate has an argument of the sort `{name}`", hint)


def run(passes: Sequence[Pass], symbols: Symbols) -> list[Diagnostic]:
    return unmasked([finding for each in passes for finding in each(symbols)])


def ordered(findings: Sequence[Diagnostic], paths: Iterable[str]) -> list[Diagnostic]:
    """Findings sorted by file, in the order of ``paths``, and by position."""
    files = {path: index for index, path in enumerate(dict.fromkeys(paths))}
    for finding in findings:
        if finding.span is not None:
            files.setdefault(finding.span.source.path, len(files))

    def key(finding: Diagnostic) -> tuple[int, int, int]:
        if finding.span is None:
            return len(files), 0, finding.row or 0
        # The findings about a table's rows stay in their groups
        return files[finding.span.source.path], finding.span.start, 0

    return sorted(findings, key=key)


def unmasked(findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Findings without the warnings that start where an error starts: they are about the same slip."""
    errors = {_begin(finding) for finding in findings if finding.severity == "error" and finding.span is not None}
    return [finding for finding in findings if finding.severity == "error" or _begin(finding) not in errors]


def _begin(finding: Diagnostic) -> tuple[str, int] | None:
    return (finding.span.source.path, finding.span.start) if finding.span is not None else None
