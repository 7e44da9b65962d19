"""The rows for an unknown function: for each binding of its statement the function's value, and its terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import pyarrow as pa

from lnnkit.answer_table import Answers
from lnnkit.check.program import CheckedProgram, Fact, Query, Unknown
from lnnkit.kb.asking import answers
from lnnkit.kb.session import Session
from lnnkit.kb.theory import Theory
from lnnkit.learn.labels import labels, split
from lnnkit.learn.replay.recorded_inference import label_queries, mentioned
from lnnkit.store.stated_facts import given_facts
from lnnkit.syntax import ast
from lnnkit.syntax.span import Source, Span

_EXACT = 1e-9  # relative: the greatest width of a known number


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
    found: dict[str, Rows] = {}
    for name, plan in plans.items():
        parts = [_rows(*_answered(own_session, *each)) for each in plan]
        found[name] = Rows(np.concatenate([each.table for each in parts]), np.concatenate([e.target for e in parts]))
    return found


def _answered(
    session: Session, target: Query, operands: Sequence[Query], condition: Query | None
) -> tuple[Answers, list[Answers], Answers | None]:
    found = None if condition is None else answers(session, condition, 1.0)
    return answers(session, target, 1.0), [answers(session, each, 1.0) for each in operands], found


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
