"""An induced rule: a plain or weighted disjunction of conjunctions, its truth in the rows of a table, and the rule as
statements of the language and as text for readers who do not know the language.

Missing cells are filled from several similar rows: hot-deck imputation (Andridge and Little 2010). Rows are compared by
Gower's distance (1971): over the columns known in both, the mean of the difference divided by the column's range, or of
0 or 1 for equal or different categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from lnnkit.check.findings import nearest
from lnnkit.check.walk import nodes
from lnnkit.learn.induction.table_literals import Conjunction, TableColumn, TableLiteral, holds
from lnnkit.syntax import ast
from lnnkit.syntax.identifiers import in_digits
from lnnkit.syntax.parse import parse
from lnnkit.syntax.printer import format_number, format_predicate, format_statement, format_string

SPAN = 8.0  # the span of the score over which the truth goes from 0 to 1
GRID = SPAN / 100  # weights are multiples of this


def sigmoid(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(score, -30, 30)))


@dataclass(frozen=True, slots=True)
class Induced:
    """A rule: ``score = start + sum weight * conjunction``, true where it is above 0. Weights may be negative.
    ``plain`` rules are disjunctions of conjunctions without weights. ``unknown``: the truth of rows for which a plain
    rule is unknown; None: that of similar rows."""

    conjunctions: tuple[Conjunction, ...]
    weights: np.ndarray
    start: float
    plain: bool
    unknown: float | None = None

    @property
    def columns(self) -> list[int]:
        """The places of the columns that the rule reads."""
        return sorted({place for literals in self.conjunctions for literal, _ in literals for place in literal.columns})

    def score(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the score of rows. A conjunction with an unknown literal has its mean truth over the training rows."""
        true = np.zeros(len(columns[0].values) if columns else 0)
        for weight, conjunction in zip(self.weights, self.conjunctions, strict=True):
            if not self.plain:
                true += weight * holds(conjunction, columns)
            elif self.unknown is None:
                true = np.maximum(true, holds(conjunction, columns))
            else:
                fails = np.logical_or.reduce([literal.certain(not wanted, columns) for literal, wanted in conjunction])
                known = np.logical_and.reduce([literal.certain(wanted, columns) for literal, wanted in conjunction])
                true = np.maximum(true, np.select([known, fails], [1.0, 0.0], self.unknown))
        return (true - 0.5) * SPAN if self.plain else true + self.start

    @property
    def span(self) -> float:
        """The span of the score over which the truth of the rule as written goes from 0 to 1."""
        return max(SPAN, 2 * (self.start + float(self.weights[self.weights < 0].sum())))

    def truth(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) the truth of rows under the rule as written (`lnnkit.learn.induction.induced_rule`)."""
        return np.clip(0.5 + self.score(columns) / self.span, 0.0, 1.0)

    def expected_truth(self, columns: Sequence[TableColumn], donors: Donors) -> np.ndarray:
        """(n,) the truth of rows; if a cell that the rule reads is missing, the truth at the expected log-odds
        (`expected`). The mean of truths, which saturate at 0 and 1, was half a point less accurate on heloc."""
        truth, gaps = self.truth(columns), self._gaps(columns)
        likely = self.expected([column.of(column.values[gaps]) for column in columns], donors)
        odds = np.log(likely) - np.log(np.maximum(1 - likely, 1e-300))
        truth[gaps] = np.clip(0.5 + odds / self.span, 0.0, 1.0)
        return truth

    def expected(self, columns: Sequence[TableColumn], donors: Donors) -> np.ndarray:
        """(n,) the probability that rows are true, the sigmoid of the score; for gaps, the mean over the donors that
        fill them."""
        probability = sigmoid(self.score(columns))
        rows = np.flatnonzero(self._gaps(columns)) if self.unknown is None and donors.count else np.zeros(0, int)
        if len(rows):
            part = [column.of(column.values[rows]) for column in columns]
            nearest, shares = donors.alike(part)
            probability[rows] = 0.0
            for chosen, share in zip(nearest.T, shares.T, strict=True):
                probability[rows] += share * sigmoid(self.score(donors.filled(part, chosen)))
        return probability

    def _gaps(self, columns: Sequence[TableColumn]) -> np.ndarray:
        """(n,) a mask of rows with a missing cell that the rule reads."""
        none = np.zeros(len(columns[0].values) if columns else 0, bool)
        return np.logical_or.reduce([none, *(columns[place].missing for place in self.columns)])


NEAREST = 100  # donors for each row
_BEYOND = 1.05  # weights reach 0 at this multiple of the farthest donor's distance
_DONORS = 2000
_CHUNK = 256  # rows compared at a time
_TAILS = (0.05, 0.95)  # quantiles that define a number's range


@dataclass(frozen=True, slots=True)
class Donors:
    """A sample of the training rows. ``ranges`` has the range of each number, and 1 for a category."""

    columns: tuple[TableColumn, ...]
    ranges: tuple[float, ...]

    @property
    def count(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def alike(self, columns: Sequence[TableColumn]) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) the donors nearest to each row, and their weights: the tricube of the relative distance (Cleveland
        1979)."""
        coded = [_coded(donor, other) for donor, other in zip(self.columns, columns, strict=True)]
        rows, nearest = len(columns[0].values), min(NEAREST, self.count)
        chosen, shares = np.empty((rows, nearest), np.int64), np.empty((rows, nearest))
        for start in range(0, rows, _CHUNK):
            distance = self._distance([(donor, other[start : start + _CHUNK]) for donor, other in coded])
            part = np.argpartition(distance, nearest - 1, axis=1)[:, :nearest]
            chosen[start : start + _CHUNK] = part
            apart = np.take_along_axis(distance, part, axis=1).astype(np.float64)
            reach = _BEYOND * np.maximum(apart.max(axis=1, keepdims=True, initial=0.0), 1e-9)
            shares[start : start + _CHUNK] = (1 - (apart / reach) ** 3) ** 3
        return chosen, shares / shares.sum(axis=1, keepdims=True)

    def _distance(self, coded: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Gower's distance of each row to each donor, (rows, donors)."""
        total = np.zeros((len(coded[0][1]), self.count), np.float32)
        known = np.full_like(total, 1e-6)
        for column, width, (donor, other) in zip(self.columns, self.ranges, coded, strict=True):
            apart = (other[:, None] != donor[None]).astype(np.float32)
            if column.numeric:
                apart = np.minimum(np.abs(other[:, None] - donor[None]) / np.float32(width), 1.0)
            both = ~np.isnan(other)[:, None] & ~np.isnan(donor)[None]
            total += np.where(both, apart, 0.0)
            known += both
        return total / known

    def filled(self, columns: Sequence[TableColumn], chosen: np.ndarray) -> list[TableColumn]:
        """The rows with missing cells filled from donors (n,), one a row; unknown where the donor's is missing too."""
        pairs = zip(self.columns, columns, strict=True)
        return [other.of(np.where(other.missing, donor.values[chosen], other.values)) for donor, other in pairs]


def donors(columns: Sequence[TableColumn], rng: np.random.Generator) -> Donors:
    """Donors for rows of such columns."""
    rows = len(columns[0].values) if columns else 0
    some = np.sort(rng.permutation(rows)[:_DONORS])
    kept, ranges = tuple(column.of(column.values[some]) for column in columns), list[float]()
    for column in kept:
        known = column.values[~np.isnan(column.values)] if column.numeric else np.zeros(0)
        low, high = np.quantile(known, _TAILS) if len(known) else (0.0, 0.0)
        ranges.append(float(high - low) or float(np.ptp(known) if len(known) else 0.0) or 1.0)
    return Donors(kept, tuple(ranges))


def _coded(donor: TableColumn, other: TableColumn) -> tuple[np.ndarray, np.ndarray]:
    """The cells of donors and of rows as numbers, NaN where unknown. Categories without a donor share one code."""
    if donor.numeric:
        return donor.values.astype(np.float32), other.values.astype(np.float32)
    numbers = {text: place for place, text in enumerate(sorted({text for text in donor.values if text is not None}))}

    def codes(column: TableColumn) -> np.ndarray:
        return np.array([np.nan if text is None else numbers.get(text, -1) for text in column.values], np.float32)

    return codes(donor), codes(other)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Precision of a weight: those on the grid are whole hundredths for a span of 8, and no rule's span is near 800
_DIGITS = 4
_SHOWN = 10  # values of a column, in a message


def statements(rule: Induced, columns: Sequence[TableColumn], target: str) -> list[str]:
    """The declarations of the columns that a rule reads, and of its closed ``target``; and the rule. The truth of the
    target is one half at score 0 of a weighted rule, and linear in the score."""
    name, body = format_predicate(target), _body(rule, columns)
    lines = [*(declaration(columns[place]) for place in rule.columns), f"predicate {name}(row) closed"]
    program, findings = parse("\n".join([*lines, f"rule {body} -> {name}(X)" if body else ""]))
    assert not findings, findings
    return [format_statement(statement) for statement in program.statements]


def declaration(column: TableColumn) -> str:
    """The declaration of a column: a ``number`` or a predicate of a row, or a predicate of a row and a value."""
    name = format_predicate(column.name)
    if column.kind == "truth":
        return f"predicate {name}(row) closed"
    return f"number {name}(row)" if column.numeric else f"predicate {name}(row, entity) closed"


def _body(rule: Induced, columns: Sequence[TableColumn]) -> str:
    """The antecedent, with more parentheses than it needs; empty for a plain rule without conjunctions."""
    terms: list[str] = []
    start = rule.start
    for weight, conjunction in zip(rule.weights.tolist(), rule.conjunctions, strict=True):
        parts = [_literal(literal, columns, holds=holds == (weight >= 0)) for literal, holds in conjunction]
        terms.append(f"({(' & ' if weight >= 0 else ' | ').join(parts)})")  # a negated conjunction is a disjunction
        start += min(weight, 0.0)
    if rule.plain:
        return " | ".join(terms)
    shares = [round(abs(weight) / rule.span, _DIGITS) for weight in rule.weights.tolist()]
    weighed = [f"{term}@{format_number(share)}" for term, share in zip(terms, shares, strict=True)]
    weighed += ["false"] * (2 - len(weighed))  # a disjunction has at least two operands
    return f"({' | '.join(weighed)}){{bias: {format_number(round(0.5 - start / rule.span, _DIGITS))}}}"


def _literal(literal: TableLiteral, columns: Sequence[TableColumn], *, holds: bool) -> str:
    column, *other = (columns[place] for place in literal.columns)
    name, order, denied = format_predicate(column.name), ">=" if holds else "<", "" if holds else "~"
    if column.kind == "truth":
        return f"{denied}{name}(X)"
    if other:
        return f"{name}(X) {order} {format_predicate(other[0].name)}(X)"
    if literal.threshold is not None:
        scale = "" if literal.scale is None else f"{{scale: {format_number(_plain(literal.scale))}}}"
        return f"({name}(X) {order} {format_number(_plain(literal.threshold))}){scale}"
    assert literal.value is not None
    return f"{denied}{name}(X, {format_string(literal.value)})"


def _plain(value: float) -> float | int:
    return int(value) if value.is_integer() else value


def rule_lines(rule: Induced, columns: Sequence[TableColumn], positive: str, negative: str) -> Iterator[str]:
    """``positive if ...`` with one conjunction on each line. For a weighted rule, the start of the score and the amount
    that each conjunction adds. ``negative`` is the opposite outcome."""
    named = [" and ".join(_literal_text(*part, columns) for part in conjunction) for conjunction in rule.conjunctions]
    if rule.plain:
        yield f"{positive} if" if named else f"{negative}, always"
        yield from (f"  {'or ' if place else ''}{text}" for place, text in enumerate(named))
        yield from (f"else {negative}",) if named else ()
        return
    yield f"truth of {positive}: {0.5 + rule.start / rule.span:.4g}"
    for place in np.argsort(-np.abs(rule.weights), kind="stable").tolist():
        yield f"  {float(rule.weights[place]) / rule.span:+.4g} if {named[place]}"
    yield f"{positive} if above 0.5, else {negative}"


def _literal_text(literal: TableLiteral, holds: bool, columns: Sequence[TableColumn]) -> str:
    column = columns[literal.column]
    if column.kind == "truth":
        return column.name if holds else f"not {column.name}"
    if literal.other is not None:
        return f"{column.name} {'>=' if holds else '<'} {columns[literal.other].name}"
    if literal.threshold is None:
        return f"{column.name} {'=' if holds else '!='} {literal.value}"
    soft = "" if literal.scale is None else f" (by degrees, over {_number_text(literal.scale, column, apart=True)})"
    return f"{column.name} {'>=' if holds else '<'} {_number_text(literal.threshold, column)}{soft}"


def _number_text(value: float, column: TableColumn, *, apart: bool = False) -> str:
    """Format a threshold (as a date in a date column), or a difference if ``apart``."""
    if column.kind == "date" and not apart:
        try:
            moment = _EPOCH + timedelta(days=value)
        except OverflowError:
            return f"{in_digits(value)} days after 1970"
        return f"{moment:%Y-%m-%d}" if value.is_integer() else f"{moment:%Y-%m-%d %H:%M:%S}"
    days = " days" if column.kind in ("date", "duration") else ""
    return f"{in_digits(value)}{days}"


def with_values_quoted(text: str, columns: Sequence[TableColumn]) -> str:
    """The program with the values of columns quoted. Raises ``ValueError`` for a value that no row has."""
    values = {
        column.name: sorted({value for value in column.values.tolist() if value is not None})
        for column in columns
        if not column.numeric
    }
    rules = (statement for statement in parse(text)[0].statements if isinstance(statement, ast.RuleOrAxiom))
    bare: dict[int, ast.Constant] = {}
    for atom in (node for rule in rules for node in nodes(rule.formula) if isinstance(node, ast.Atom)):
        value = atom.arguments[1] if len(atom.arguments) == 2 else None
        known = values.get(atom.name)
        if known is None or not isinstance(value, ast.Constant):
            continue
        if value.text in known and not value.quoted:
            bare[value.span.start] = value
        elif value.text not in known:
            near = nearest(value.text, known)
            shown = ", ".join(map(repr, known[:_SHOWN])) + (", ..." if len(known) > _SHOWN else "")
            meant = f"; did you mean {near!r}?" if near else ""
            raise ValueError(f"no row has {value.text!r} in the column {atom.name!r}; its values are {shown}{meant}")
    for start in sorted(bare, reverse=True):
        text = text[:start] + format_string(bare[start].text) + text[bare[start].span.end :]
    return text
