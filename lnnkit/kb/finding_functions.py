"""The rows for an unknown function: for each binding of its statement the function's value, and its terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.answer_table import Answers
from lnnkit.check.program import CheckedProgram, Query, Unknown
from lnnkit.data.table import FactTable, in_use
from lnnkit.discovery.expression import evaluate
from lnnkit.discovery.formula_search import Discovered, FormulaSearch, discover
from lnnkit.discovery.formula_text import case_texts, formula_text
from lnnkit.errors import ProgramError
from lnnkit.kb.asking import answers
from lnnkit.kb.session import Session
from lnnkit.kb.theory import Theory
from lnnkit.learn.labels import label_queries, labels, mentioned, split
from lnnkit.learn.learner import FoundFunction, Learner
from lnnkit.scores import FoundFormula
from lnnkit.store.stated_facts import given_facts
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span
from lnnkit.syntax.printer import format_expression

_EXACT = 1e-9  # relative: the greatest width of a known number, and an error within rounding
LEAST = 8  # rows that make a formula: of fewer, constants could be fitted to all
_PLENTY = 32  # rows without missing terms
_WEAK = 0.5  # relative to the error of the best constant

Sought = Mapping[str, Sequence[Unknown]]  # the statements about each function, by its name


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of the terms, ``table`` [rows, terms], nan where unknown, and of the function, ``target`` [rows]."""

    table: np.ndarray
    target: np.ndarray

    def __len__(self) -> int:
        return len(self.target)

    @property
    def whole(self) -> np.ndarray:
        """[rows] in which all terms are known."""
        return np.asarray(np.isfinite(self.table).all(1))


def taught(theory: Theory, validation: float, seed: int, *, labelled: bool = True) -> CheckedProgram:
    """A theory's program with the labels of its numbers as facts, without those held out for ``validation``; statements
    with unset values are left out."""
    program = theory.bound(theory.settled())
    without = [finding.span for finding in theory.refused if finding.span is not None]
    rules = tuple(rule for rule in program.assertions if not any(_within(span, rule.span) for span in without))
    tables = (*program.tables, *(_labelled(program, validation, seed) if labelled else ()))
    return replace(program, assertions=rules, tables=tables, labels=(), label_tables=(), queries=(), unevaluated=())


def rows_of(session: Session, program: CheckedProgram, sought: Mapping[str, Sequence[Unknown]]) -> dict[str, Sample]:
    """The rows of each function in ``sought``, in a program from `taught`; inference runs once for all."""
    asked: list[Query] = []

    def ask(formula: ast.Expression, *, numeric: bool) -> Query:
        asked.append(Query(formula, f"term {len(asked)}", program.logic, formula.span, numeric))
        return asked[-1]

    plans: dict[str, list[tuple[Query, list[Query], Query | None]]] = {}
    for name, unknowns in sought.items():
        for unknown in unknowns:
            condition = None if unknown.condition is None else ask(unknown.condition, numeric=False)
            operands = [ask(operand, numeric=True) for operand in unknown.operands]
            plans.setdefault(name, []).append((ask(unknown.target, numeric=True), operands, condition))
    part = session.about(session.theory.about(replace(program, queries=tuple(asked))))

    def known(query: Query) -> Answers:
        return answers(part, query, 1.0)

    rows: dict[str, Sample] = {}
    for name, plan in plans.items():
        parts = [
            _rows(known(target), list(map(known, operands)), None if condition is None else known(condition))
            for target, operands, condition in plan
        ]
        rows[name] = Sample(np.concatenate([part.table for part in parts]), np.concatenate([e.target for e in parts]))
    return rows


def _rows(target: Answers, operands: Sequence[Answers], condition: Answers | None) -> Sample:
    table = _known(target, "y")
    if condition is not None:
        table = _joined(table, _true(condition), "inner")
    for place, operand in enumerate(operands):
        table = _joined(table, _known(operand, f"x{place}"), "left outer")
    keys = sorted(name for name in table.column_names if name.startswith("?"))
    if keys and len(table) > 1:
        table = table.sort_by([(name, "ascending") for name in keys])
    columns = [_numbers(table[f"x{place}"]) for place in range(len(operands))]
    known = ~np.isnan(columns).all(0) if len(table) else np.zeros(0, bool)
    values = np.stack(columns, 1) if len(table) else np.zeros((0, len(operands)))
    return Sample(values[known], _numbers(table["y"])[known])


def _known(bounds: Answers, name: str) -> pa.Table:
    """The bindings whose number is known, and that number."""
    lower, upper = np.asarray(bounds.lower, np.float64), np.asarray(bounds.upper, np.float64)
    with np.errstate(invalid="ignore"):
        kept = np.isfinite(lower) & np.isfinite(upper) & (lower <= upper)
        kept &= upper - lower <= _EXACT * np.maximum(np.abs(lower), np.abs(upper))
    kept &= ~bounds.contested
    return _bindings(bounds, kept).append_column(name, pa.array(lower[kept] / 2 + upper[kept] / 2))


def _true(bounds: Answers) -> pa.Table:
    return _bindings(bounds, (np.asarray(bounds.lower) >= 1 - _EXACT) & ~bounds.contested)


def _bindings(bounds: Answers, kept: np.ndarray) -> pa.Table:
    columns = {f"?{name}": column.codes[kept] for name, column in zip(bounds.variables, bounds.columns, strict=True)}
    return pa.table({**columns, "all": np.zeros(int(kept.sum()), np.int8)})


def _joined(left: pa.Table, right: pa.Table, how: str) -> pa.Table:
    """Joined by the common variables; without any, the product."""
    shared = [name for name in left.column_names if name in right.column_names and name != "all"]
    wider = any(name.startswith("?") and name not in shared for name in right.column_names)
    kind = "inner" if wider else how
    right = right if not shared else right.drop_columns(["all"])
    return left.join(right, keys=shared or ["all"], join_type=cast("object", kind))  # pyright: ignore[reportArgumentType]  # one of its literals


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return column.cast(pa.float64()).fill_null(float("nan")).to_numpy()


def _labelled(program: CheckedProgram, validation: float, seed: int) -> list[FactTable]:
    """The labels of numbers that training learns from."""
    if not any(program.predicates[label.predicate].numeric for label in (*program.labels, *program.label_tables)):
        return []
    texts = mentioned(program, label_queries(program))
    names = given_facts(program, texts).entities.names
    labelled = labels(program, texts)
    labelled = labelled.some(split(labelled, validation, seed).train)
    tables: list[FactTable] = []
    for name, mine, ids in labelled.by_name():
        if program.predicates[name].numeric:
            columns = in_use(ids, names)
            lower, upper = (ends[mine].numpy() for ends in (labelled.lower, labelled.upper))
            tables.append(FactTable(name, columns, lower, upper, np.zeros(len(mine), np.int64), ""))
    return tables


def _within(inner: Span, outer: Span) -> bool:
    return inner.source.path == outer.source.path and outer.start <= inner.start and inner.end <= outer.end


def find_functions(
    session: Session, trained: frozenset[str], search: FormulaSearch, validation: float, most: int | None
) -> tuple[tuple[FoundFormula, ...], tuple[Diagnostic, ...]]:
    """Find the formulas of the unknown functions of the rules ``trained``; the learner takes them. Labels held out for
    ``validation`` are not used. A statement has ``most`` instances (None: as many as fit). Last are warnings:
    ``inexact-formula`` where stated numbers contradict what was found, ``weak-formula`` where it is hardly better than
    a constant. Raises `ProgramError` if a function has too few rows, and then the learner takes none."""
    learner = session.theory.learning()
    sought = learner.sought(trained)
    session = session.about(session.theory)
    session.most = most
    before = dict(learner.functions)
    kept = {name: function for name, function in before.items() if name not in sought}
    made: dict[str, tuple[Discovered, Sample]] = {}
    learner.functions = kept
    try:
        while left := {name: unknowns for name, unknowns in sought.items() if name not in made}:
            rows = rows_of(session, taught(session.theory, validation, search.seed), left)
            ready = [name for name in left if rows[name].whole.sum() >= LEAST]
            ready = ready or [name for name in left if len(rows[name]) >= LEAST]
            if not ready:
                raise ProgramError([_too_few(unknowns[0], len(rows[name])) for name, unknowns in left.items()])
            made |= {name: (_discovered(rows[name], search), rows[name]) for name in ready}
            learner.functions = kept | {name: _function(*discovered) for name, discovered in made.items()}
        functions = learner.functions
        learner.functions = kept  # stated rows are computed without the formulas found
        warnings = (*_inexact(session, sought, made), *_weak(sought, made))
        learner.functions = functions
    except BaseException:
        learner.functions = before
        raise
    described = tuple(_described(learner, name, unknowns[0], *made[name]) for name, unknowns in sought.items())
    return described, warnings


def _discovered(rows: Sample, search: FormulaSearch) -> Discovered:
    """A formula from rows without missing terms if most rows are complete; errors are measured on all held-out rows."""
    whole = rows.whole
    if whole.sum() < max(_PLENTY, len(rows) / 2):
        whole[:] = True
    return discover(rows.table[whole], rows.target[whole], search)


def _function(discovered: Discovered, rows: Sample) -> FoundFunction:
    names = [f"?x{place}" for place in range(rows.table.shape[1])]
    return FoundFunction(tuple((on or None, text) for on, text in case_texts(discovered.formula, names)))


def _described(learner: Learner, name: str, unknown: Unknown, discovered: Discovered, rows: Sample) -> FoundFormula:
    terms = [_term(operand) for operand in unknown.operands]
    pareto = tuple((point.size, point.error, formula_text(point.formula, terms)) for point in discovered.pareto)
    _, error, text = pareto[discovered.chosen]
    return FoundFormula(unknown.span.on_one_line, learner.rules_with(name), text, error, len(rows), pareto)


def _inexact(session: Session, sought: Sought, made: Mapping[str, tuple[Discovered, Sample]]) -> Iterator[Diagnostic]:
    """Warnings about stated numbers that contradict the formula found: noisy values should be labels."""
    inexact = {name: unknowns for name, unknowns in sought.items() if _rows_off(*made[name])}
    stated = rows_of(session, taught(session.theory, 0.0, 0, labelled=False), inexact) if inexact else {}
    for name, unknowns in inexact.items():
        count = _rows_off(made[name][0], stated[name])
        if count:
            text = unknowns[0].span.on_one_line
            message = f"{count:,} stated rows differ from the formula of `{text}` and will contradict it"
            hint = "give numbers that are measured with an error as labels, or as facts with both ends"
            yield Diagnostic("inexact-formula", message, hint, unknowns[0].span, severity="warning")


def _weak(sought: Sought, made: Mapping[str, tuple[Discovered, Sample]]) -> Iterator[Diagnostic]:
    """Warnings about formulas that are hardly better than a constant, unless they are exact."""
    for name, unknowns in sought.items():
        discovered, rows = made[name]
        error = discovered.pareto[discovered.chosen].error
        if error > _WEAK and _rows_off(discovered, rows):
            message = f"the formula of `{unknowns[0].span.on_one_line}` has {error:.2g} times the error of a constant"
            hint = "give it the terms that matter, or more rows; none is found if noise exceeds what they explain"
            yield Diagnostic("weak-formula", message, hint, unknowns[0].span, severity="warning")


def _rows_off(discovered: Discovered, rows: Sample) -> int:
    """The number of rows in which the formula differs from the target."""
    if not len(rows):
        return 0
    values = evaluate(discovered.formula, rows.table)
    return int((np.abs(values - rows.target) > _EXACT * np.maximum(np.abs(values), np.abs(rows.target))).sum())


def _too_few(unknown: Unknown, rows: int) -> Diagnostic:
    counted = "no row tells" if not rows else f"{rows} row{' tells' if rows == 1 else 's tell'}"
    message = f"{counted} of `{unknown.span.on_one_line}`, and a formula needs {LEAST}"
    hint = (
        "a row counts if the other side is stated or labelled, a term is known and all conditions are true; "
        "labels of truths do not count"
    )
    return Diagnostic("too-few-rows", message, hint, unknown.span)


def _term(operand: ast.Expression) -> str:
    text = format_expression(operand)
    return text if isinstance(operand, ast.Atom) else f"({text})"
