"""The answers of a query as a table: bindings, truth bounds and states."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Literal, NoReturn, overload

from lnnkit.syntax.dates import Numeric, date_text, shown_number
from lnnkit.syntax.identifiers import in_digits

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from lnnkit.data.table import EntityColumn
    from lnnkit.syntax.diagnostic import Diagnostic

TruthState = Literal["true", "false", "unknown", "likely_true", "likely_false", "contradiction", "number", "date"]

_TOLERANCE = 1e-9
_LISTED = 10
_BLOCK = 1 << 12


STATES: tuple[TruthState, ...] = (
    *("contradiction", "true", "false", "unknown", "likely_true", "likely_false", "number", "date"),
)


def truth_state(lower: float, upper: float, alpha: float = 1.0, tolerance: float = _TOLERANCE) -> TruthState:
    """The state of bounds at threshold ``alpha``: true if ``L >= alpha``, false if ``U <= 1 - alpha``, contradiction if
    ``L > U``; otherwise by the midpoint, and unknown if that is one half."""
    if lower > upper + tolerance:
        return "contradiction"
    if lower >= alpha - tolerance:
        return "true"
    if upper <= 1 - alpha + tolerance:
        return "false"
    middle = (lower + upper) / 2
    if abs(middle - 0.5) <= tolerance:
        return "unknown"
    return "likely_true" if middle > 0.5 else "likely_false"


def number_state(lower: float, upper: float, tolerance: float = _TOLERANCE, numeric: Numeric = True) -> TruthState:
    """The state of a number, or a date, with these ends: contradiction if they crossed by more than their rounding."""
    crossed = lower > upper and not math.isclose(lower, upper, rel_tol=tolerance, abs_tol=tolerance)
    return "contradiction" if crossed else "date" if numeric == "date" else "number"


def truth_states(lower: np.ndarray, upper: np.ndarray, alpha: float = 1.0, tolerance: float = _TOLERANCE) -> np.ndarray:
    """As `truth_state`, for arrays: indices (int8) into ``STATES``."""
    import numpy as np

    with np.errstate(invalid="ignore"):  # -inf + inf
        middle = (lower + upper) / 2
    states = np.where(middle > 0.5, np.int8(4), np.int8(5))
    states[np.abs(middle - 0.5) <= tolerance] = 3
    states[upper <= 1 - alpha + tolerance] = 2
    states[lower >= alpha - tolerance] = 1
    states[lower > upper + tolerance] = 0
    return states


def _number_states(lower: np.ndarray, upper: np.ndarray, tolerance: float, numeric: Numeric) -> np.ndarray:
    """As `number_state`, for arrays: indices (int8) into ``STATES``."""
    import numpy as np

    states = np.full(len(lower), STATES.index(number_state(0.0, 0.0, tolerance, numeric)), np.int8)
    for at in np.flatnonzero(lower > upper).tolist():
        states[at] = STATES.index(number_state(lower[at], upper[at], tolerance, numeric))
    return states


@dataclass(frozen=True, slots=True)
class Answer:
    """One binding of a query's variables (empty if it has none) and its truth bounds ``[lower, upper]``, or the
    ends of a ``numeric`` term: of a ``date``, days since 1970-01-01.

    ``contested`` marks an answer that rests on a contradiction, or is about an atom of a reported one.
    """

    bindings: Mapping[str, str]
    lower: float
    upper: float
    contested: bool = False
    alpha: float = field(default=1.0, repr=False)
    tolerance: float = field(default=_TOLERANCE, repr=False)
    numeric: Numeric = field(default=False, repr=False)

    @property
    def state(self) -> TruthState:
        if self.numeric:
            return number_state(self.lower, self.upper, self.tolerance, self.numeric)
        return truth_state(self.lower, self.upper, self.alpha, self.tolerance)

    def __bool__(self) -> NoReturn:
        """Raises ``ValueError``: an object is true in Python, whatever the answer says."""
        raise ValueError("an answer has no truth value: compare its state, as in answer.state == 'true'")

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit run --format json`` prints; an end that is unbounded is null, one of a date ISO
        text."""
        return {
            "bindings": dict(self.bindings),
            "lower": finite(self.lower, self.numeric),
            "upper": finite(self.upper, self.numeric),
            "state": self.state,
            "contested": self.contested,
        }


@dataclass(frozen=True, eq=False)
class Answers:
    """A query's answers as columns, sorted by their bindings: whole numbers by value, then texts by code point.

    ``lower`` and ``upper`` are float64 arrays of shape (n,), ``contested`` bool; ``columns`` has a sequence of n
    entities for each of ``variables``, stored as ids (``codes``) and named on access. ``warnings`` are findings
    about the query that are not errors.
    """

    query: str
    variables: tuple[str, ...]
    columns: tuple[EntityColumn, ...]
    lower: np.ndarray
    upper: np.ndarray
    contested: np.ndarray
    alpha: float = 1.0
    warnings: tuple[Diagnostic, ...] = ()
    tolerance: float = _TOLERANCE  # truth values closer than this are equal
    numeric: Numeric = False  # whether the query is a term, whose bounds are those of a number, or of a date

    def __len__(self) -> int:
        return len(self.lower)

    def __bool__(self) -> NoReturn:
        """Raises ``ValueError``, as arrays and data frames do: a false answer is an answer too."""
        read = (
            "read .lower and .upper of each answer" if self.numeric else "compare each answer's .state, or .lower >= 1"
        )
        decide = "len(answers) > 0" if self.variables or self.numeric else f"kb.holds({self.query!r})"
        raise ValueError(f"the truth value of a table of answers is ambiguous: write {decide}, or {read}")

    @overload
    def __getitem__(self, index: int) -> Answer: ...
    @overload
    def __getitem__(self, index: slice) -> Answers: ...
    def __getitem__(self, index: int | slice) -> Answer | Answers:
        if isinstance(index, slice):
            return self.at(index)
        return Answer(
            {name: column[index] for name, column in zip(self.variables, self.columns, strict=True)},
            float(self.lower[index]),
            float(self.upper[index]),
            bool(self.contested[index]),
            self.alpha,
            self.tolerance,
            self.numeric,
        )

    def at(self, rows: slice | np.ndarray) -> Answers:
        """The answers of a slice, of row numbers or of a mask."""
        from lnnkit.data.table import EntityColumn

        columns = tuple(EntityColumn(column.codes[rows], column.names) for column in self.columns)
        lower, upper, contested = self.lower[rows], self.upper[rows], self.contested[rows]
        return replace(self, columns=columns, lower=lower, upper=upper, contested=contested)

    def __iter__(self) -> Iterator[Answer]:
        for start in range(0, len(self), _BLOCK):
            block = slice(start, start + _BLOCK)
            bounds = zip(
                self.lower[block].tolist(), self.upper[block].tolist(), self.contested[block].tolist(), strict=True
            )
            names = [column.names.at(column.codes[block], len(self)) for column in self.columns]
            entities = zip(*names, strict=True) if names else repeat(())
            for row, (lower, upper, contested) in zip(entities, bounds, strict=False):
                bindings = dict(zip(self.variables, row, strict=True))
                yield Answer(bindings, lower, upper, contested, self.alpha, self.tolerance, self.numeric)

    @property
    def states(self) -> np.ndarray:
        """Each answer's state, as an index (int8) into `STATES`."""
        if self.numeric:
            return _number_states(self.lower, self.upper, self.tolerance, self.numeric)
        return truth_states(self.lower, self.upper, self.alpha, self.tolerance)

    def counts(self) -> dict[TruthState, int]:
        """The number of answers in each state; states without answers are left out."""
        import numpy as np

        counted = np.bincount(self.states, minlength=len(STATES)).tolist()
        return {state: count for state, count in zip(STATES, counted, strict=True) if count}

    def as_dict(self) -> dict[str, object]:
        return {"query": self.query, "answers": [answer.as_dict() for answer in self]}

    def to_arrow(self) -> pa.Table:
        """A table with a column for each variable, then lower, upper, state and contested. Entities and states are
        dictionary-encoded; the ends of dates are timestamps, null where they are unbounded."""
        import numpy as np
        import pyarrow as pa

        from lnnkit.data.arrow import booleans, ends, numbers, strings

        names = [*self.variables, "lower", "upper", "state", "contested"]
        states = pa.DictionaryArray.from_arrays(numbers(self.states, np.int32), strings(STATES))
        columns = [column.to_arrow() for column in self.columns]
        return pa.Table.from_arrays(
            [*columns, *ends((self.lower, self.upper), self.numeric), states, booleans(self.contested)], names=names
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table of `to_arrow` by the Arrow PyCapsule interface, which ``pyarrow.table``, ``polars.DataFrame`` and
        DuckDB read."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """The same as a data frame, with texts for entities and states; needs pandas."""
        import pyarrow as pa

        table = self.to_arrow()
        plain = [
            pa.field(field.name, pa.string()) if pa.types.is_dictionary(field.type) else field for field in table.schema
        ]
        return table.cast(pa.schema(plain)).to_pandas()

    def __repr__(self) -> str:
        lines = [f"{self.query}: {len(self)} answer{'' if len(self) == 1 else 's'}"]
        shown = self[:_LISTED]
        bindings = [", ".join(f"{name} = {value}" for name, value in answer.bindings.items()) for answer in shown]
        width = max(map(len, bindings), default=0)
        for binding, answer in zip(bindings, shown, strict=True):
            lead = f"  {binding:<{width}}" if width else ""
            lines.append(f"{lead}  {shown_bounds(answer):<12}  {shown_state(answer)}")
        if len(self) > _LISTED:
            lines.append(f"  … and {len(self) - _LISTED:,} more")
        lines += [f"  {warning.severity}: {warning.message}" for warning in self.warnings]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from lnnkit.markup.pages import Table, tables

        rows = ([*answer.bindings.values(), shown_bounds(answer), shown_state(answer)] for answer in self)
        caption = f"{self.query}: {len(self):,} answer{'' if len(self) == 1 else 's'}"
        notes = [f"{warning.severity}: {warning.message}" for warning in self.warnings]
        return tables(Table(caption, [*self.variables, "bounds", "state"], rows, len(self), "answers", notes))


def finite(value: float, numeric: Numeric = True) -> float | str | None:
    """The value, or None if JSON has no number for it; a date as ISO text."""
    if not math.isfinite(value):
        return None
    return date_text(value) if numeric == "date" else value + 0.0  # no -0.0


def format_bounds(lower: float, upper: float, numeric: Numeric = False) -> str:
    """``[0.8, 1]``, by `format_bound`."""
    return f"[{format_bound(lower, numeric)}, {format_bound(upper, numeric)}]"


def format_bound(value: float, numeric: Numeric = False) -> str:
    """A bound to six digits, more if it would otherwise print as a 0 or 1 that it is not; one of a date as a date."""
    if numeric == "date":
        return date_text(value)
    text = f"{value:.6g}" if abs(value) <= 1 else in_digits(value)
    if text in ("0", "-0", "1") and abs(value - round(value)) > _TOLERANCE:
        text = f"{value:.10g}"
    return "0" if text == "-0" else text


def format_range(lower: float, upper: float, numeric: Numeric = True) -> str:
    """The ends of a number: ``34``, ``[30, 40]``, ``[18, inf]``, ``[2004-03-01, inf]``; whole numbers in full, others
    to ten digits."""
    low, high = shown_number(lower, numeric), shown_number(upper, numeric)
    return low if lower == upper else f"[{low}, {high}]"


def formatter(numeric: Numeric) -> Callable[[float, float], str]:
    """The function that formats the bounds of a query's answers."""
    return partial(format_range, numeric=numeric) if numeric else format_bounds


def shown_bounds(answer: Answer) -> str:
    return formatter(answer.numeric)(answer.lower, answer.upper)


def shown_state(answer: Answer) -> str:
    return state_in_words(answer.state, answer.contested)


def state_in_words(state: str, contested: bool) -> str:
    """The state, with a mark if the answer rests on a contradiction."""
    return state.replace("_", " ") + (" (contested)" if contested else "")
