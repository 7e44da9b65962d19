"""The rows for an unknown function: for each binding of its statement the function's value, and its terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.answer_table import Answers
from lnnkit.check.program import CheckedProgram, Fact, Query, Unknown
from lnnkit.discovery.expression import evaluate
from lnnkit.discovery.formula_search import Discovered, FormulaSearch, discover
from lnnkit.discovery.formula_text import case_texts, formula_text
from lnnkit.errors import ProgramError
from lnnkit.kb.asking import answers
from lnnkit.kb.session import Session
from lnnkit.kb.theory import Theory
from lnnkit.learn.labels import labels, split
from lnnkit.learn.learner import Learner
from lnnkit.learn.parameters.trained_text import FoundFunction
from lnnkit.learn.replay.recorded_inference import label_queries, mentioned
from lnnkit.scores import FoundFormula
from lnnkit.store.stated_facts import given_facts
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import format_expression
from lnnkit.syntax.span import Source, Span

_EXACT = 1e-9  # relative: the greatest width of a known number, and an error within rounding


@dataclass(frozen=True, slots=True)
class Rows:
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
    without = [each.span for each in theory.refused if each.span is not None]
    assertions = tuple(each for each in program.assertions if not any(_within(span, each.span) for span in without))
    facts = _labelled(program, validation, seed) if labelled else []
    return replace(
        program,
        assertions=assertions,
        facts=(*program.facts, *facts),
        labels=(),
        label_tables=(),
        queries=(),
        unevaluated=(),
    )


def rows_of(session: Session, program: CheckedProgram, sought: Mapping[str, Sequence[Unknown]]) -> dict[str, Rows]:
    """The rows of each function in ``sought``, in a program from `taught`; inference runs once for all."""
    asked: list[Query] = []

    def ask(formula: ast.Expression, *, numeric: bool) -> Query:
        asked.append(Query(formula, f"term {len(asked)}", program.logic, formula.span, numeric))
        return asked[-1]

    plans: dict[str, list[tuple[Query, list[Query], Query | None]]] = {}
    for name, own in sought.items():
        for each in own:
            condition = None if each.condition is None else ask(each.condition, numeric=False)
            operands = [ask(operand, numeric=True) for operand in each.operands]
            plans.setdefault(name, []).append((ask(each.target, numeric=True), operands, condition))
    theory = session.theory.about(replace(program, queries=tuple(asked)))
    own_session = session.about(theory)

    def known(query: Query) -> Answers:
        return answers(own_session, query, 1.0)

    found: dict[str, Rows] = {}
    for name, plan in plans.items():
        parts = [
            _rows(known(target), list(map(known, operands)), None if condition is None else known(condition))
            for target, operands, condition in plan
        ]
        found[name] = Rows(np.concatenate([each.table for each in parts]), np.concatenate([e.target for e in parts]))
    return found


def _rows(target: Answers, operands: Sequence[Answers], condition: Answers | None) -> Rows:
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
    return Rows(values[known], _numbers(table["y"])[known])


def _known(found: Answers, name: str) -> pa.Table:
    """The bindings whose number is known, and that number."""
    lower, upper = np.asarray(found.lower, np.float64), np.asarray(found.upper, np.float64)
    with np.errstate(invalid="ignore"):
        kept = np.isfinite(lower) & np.isfinite(upper) & (lower <= upper)
        kept &= upper - lower <= _EXACT * np.maximum(np.abs(lower), np.abs(upper))
    kept &= ~found.contested
    return _bindings(found, kept).append_column(name, pa.array(lower[kept] / 2 + upper[kept] / 2))


def _true(found: Answers) -> pa.Table:
    return _bindings(found, (np.asarray(found.lower) >= 1 - _EXACT) & ~found.contested)


def _bindings(found: Answers, kept: np.ndarray) -> pa.Table:
    columns = {f"?{name}": column.codes[kept] for name, column in zip(found.variables, found.columns, strict=True)}
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


def _labelled(program: CheckedProgram, validation: float, seed: int) -> list[Fact]:
    """The labels of numbers that training learns from."""
    if not any(program.predicates[each.predicate].numeric for each in (*program.labels, *program.label_tables)):
        return []
    texts = mentioned(program, label_queries(program))
    names = given_facts(program, texts).entities.names
    own = labels(program, texts)
    own = own.some(split(own, validation, seed).train)
    nowhere = Span(Source("", ""), 0, 0)
    found: list[Fact] = []
    for number, (name, columns) in enumerate(zip(own.names, own.columns, strict=True)):
        if program.predicates[name].numeric:
            mine = own.predicate == number
            ends = zip(own.lower[mine].tolist(), own.upper[mine].tolist(), strict=True)
            ids = zip(*(column.tolist() for column in columns), strict=True) if columns else [()] * int(mine.sum())
            found += [
                Fact(name, tuple(names[each] for each in atom), low, high, nowhere)
                for atom, (low, high) in zip(ids, ends, strict=True)
            ]
    return found


def _within(inner: Span, outer: Span) -> bool:
    return inner.source.path == outer.source.path and outer.start <= inner.start and inner.end <= outer.end


LEAST = 8
"""So many rows make a formula: of fewer, constants could be fitted to all."""

_PLENTY = 32  # rows without missing terms
_WEAK = 0.5  # relative to the error of the best constant

Sought = Mapping[str, Sequence[Unknown]]  # the statements about each function, by its name


def find_functions(
    session: Session,
    learner: Learner,
    trained: frozenset[str],
    search: FormulaSearch,
    validation: float,
    most: int | None,
) -> tuple[tuple[FoundFormula, ...], tuple[Diagnostic, ...]]:
    """Find the formulas of the unknown functions of the rules ``trained``; the learner takes them. Labels held out for
    ``validation`` are not used. A statement has ``most`` instances (None: as many as fit). Last are warnings:
    ``inexact-formula`` where stated numbers contradict what was found, ``weak-formula`` where it is hardly better than
    a constant. Raises `ProgramError` if a function has too few rows, and then the learner takes none."""
    sought = learner.sought(trained)
    session = session.about(session.theory)
    session.most = most
    before = dict(learner.functions)
    kept = {name: each for name, each in before.items() if name not in sought}
    made: dict[str, tuple[Discovered, Rows]] = {}
    learner.functions = kept
    try:
        while left := {name: own for name, own in sought.items() if name not in made}:
            rows = rows_of(session, taught(session.theory, validation, search.seed), left)
            ready = [name for name in left if rows[name].whole.sum() >= LEAST]
            ready = ready or [name for name in left if len(rows[name]) >= LEAST]
            if not ready:
                raise ProgramError([_too_few(own[0], len(rows[name])) for name, own in left.items()])
            for name in ready:
                made[name] = _discovered(rows[name], search), rows[name]
            learner.functions = kept | {name: _function(*each) for name, each in made.items()}
        found = learner.functions
        learner.functions = kept  # stated rows are computed without the formulas found
        warnings = (*_inexact(session, sought, made), *_weak(sought, made))
        learner.functions = found
    except BaseException:
        learner.functions = before
        raise
    described = tuple(_described(learner, name, own, *made[name]) for name, own in sought.items())
    return described, warnings


def _discovered(rows: Rows, search: FormulaSearch) -> Discovered:
    """A formula from rows without missing terms if most rows are complete; errors are measured on all held-out rows."""
    whole = rows.whole
    if whole.sum() < max(_PLENTY, len(rows) / 2):
        whole[:] = True
    return discover(rows.table[whole], rows.target[whole], search)


def _function(found: Discovered, rows: Rows) -> FoundFunction:
    names = [f"?x{place}" for place in range(rows.table.shape[1])]
    return FoundFunction(tuple((on or None, text) for on, text in case_texts(found.formula, names)))


def _described(learner: Learner, name: str, own: Sequence[Unknown], found: Discovered, rows: Rows) -> FoundFormula:
    terms = [_term(each) for each in own[0].operands]
    pareto = tuple((each.size, each.error, formula_text(each.formula, terms)) for each in found.pareto)
    _, error, text = pareto[found.chosen]
    return FoundFormula(own[0].span.on_one_line, learner.rules_with(name), text, error, len(rows), pareto)


def _inexact(session: Session, sought: Sought, made: Mapping[str, tuple[Discovered, Rows]]) -> Iterator[Diagnostic]:
    """Warnings about stated numbers that contradict the formula found: noisy values should be labels."""
    some = {name: own for name, own in sought.items() if _off(made[name][0], made[name][1])}
    stated = rows_of(session, taught(session.theory, 0.0, 0, labelled=False), some) if some else {}
    for name, own in some.items():
        count = _off(made[name][0], stated[name])
        if count:
            told = own[0].span.on_one_line
            message = f"{count:,} stated rows differ from the formula of `{told}` and will contradict it"
            hint = "give numbers that are measured with an error as labels, or as facts with both ends"
            yield Diagnostic("inexact-formula", message, hint, own[0].span, severity="warning")


def _weak(sought: Sought, made: Mapping[str, tuple[Discovered, Rows]]) -> Iterator[Diagnostic]:
    """Warnings about formulas hardly better than a constant, for a target that is not constant."""
    for name, own in sought.items():
        found, rows = made[name]
        error = found.pareto[found.chosen].error
        if error > _WEAK and _off(found, rows):
            message = f"the formula of `{own[0].span.on_one_line}` has {error:.2g} times the error of a constant"
            hint = "give it the terms that matter, or more rows; none is found if noise exceeds what they explain"
            yield Diagnostic("weak-formula", message, hint, own[0].span, severity="warning")


def _off(found: Discovered, rows: Rows) -> int:
    """The number of rows in which the formula differs from the target."""
    if not len(rows):
        return 0
    told = evaluate(found.formula, rows.table)
    return int((np.abs(told - rows.target) > _EXACT * np.maximum(np.abs(told), np.abs(rows.target))).sum())


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
