"""The learnable values of a program as named parameters, each with one initial value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from lnnkit.check.learnables import in_assertion
from lnnkit.check.program import Assertion
from lnnkit.syntax import ast
from lnnkit.syntax.span import Span

Numbers = float | tuple["Numbers", ...]
"""A number, or the rows of a unit's attribute."""

Names = str | None | tuple["Names", ...]
"""The parameter that stands in each place of ``Numbers``; None where the number is fixed."""


class Parameter(NamedTuple):
    """A learnable value. ``initial`` is None if no occurrence gives one; ``span`` is its first occurrence."""

    name: str
    initial: float | None
    span: Span


@dataclass(slots=True)
class Parameters:
    """The parameters found so far. All occurrences of ``?name`` are one parameter; each ``?`` is a parameter of its
    own: ``#1`` ...

    ``starts`` has the initial values of the names for which an occurrence gives one.
    """

    starts: Mapping[str, float]
    met: dict[str, Parameter] = field(default_factory=dict)
    anonymous: dict[tuple[str, int], str] = field(default_factory=dict)  # by path and offset: the position of each `?`

    def read(self, value: ast.Value | float, default: float | None = None) -> tuple[float, str | None]:
        """The current number of a value, and the name of its parameter if it is learnable. ``default`` is what the
        language assumes if nothing is written; a parameter with neither starts at ``nan``."""
        if isinstance(value, (int, float)):
            return float(value), None
        if isinstance(value, ast.Number):
            return float(value.value), None
        name = value.name or self.anonymous.setdefault(
            (value.span.source.path, value.span.start), f"#{len(self.anonymous) + 1}"
        )
        known = self.met.get(name)
        initial = value.initial if value.initial is not None else self.starts.get(name, default)
        if known is None or (known.initial is None and initial is not None):
            span = value.span if known is None else known.span
            self.met[name] = known = Parameter(name, None if initial is None else float(initial), span)
        return math.nan if known.initial is None else known.initial, name

    def read_list(self, value: ast.Value | ast.ValueList) -> tuple[Numbers, Names]:
        """The numbers of a unit's attribute and the parameters among them, in the same shape."""
        if not isinstance(value, ast.ValueList):
            return self.read(value)
        pairs = [self.read_list(item) for item in value.items]
        return tuple(numbers for numbers, _ in pairs), tuple(names for _, names in pairs)


def starts(assertions: Iterable[Assertion]) -> dict[str, float]:
    """The initial value of each name for which an occurrence gives one; the checker has made sure that they agree."""
    return {
        item.name: float(item.initial)
        for assertion in assertions
        for item in in_assertion(assertion)
        if item.name is not None and item.initial is not None
    }
