"""A compiled program about rows: what a scorer evaluates, and the parts from which another process recompiles it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

from lnnkit.check.program import CheckedProgram
from lnnkit.data.table import FactTable
from lnnkit.rows.needed_statements import Needed, needed
from lnnkit.rows.row_bounds import RowBounds, StatementNames
from lnnkit.rows.row_links import RowSort, row_links
from lnnkit.rows.row_loads import RowLoad
from lnnkit.rows.strip_engine import StripEngine
from lnnkit.rows.strip_facts import StripGrid, StripPart, has_names, strip_parts
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Span


@dataclass(frozen=True)
class RowModel:
    """A checked ``program`` with its queries and settled numbers; the ``loads`` that the stream replaces, and the
    tables about rows that are read whole. ``pairs`` are the predicates of several rows that it loads. Holds no file,
    and can be pickled."""

    program: CheckedProgram
    sort: str
    loads: tuple[RowLoad, ...]
    sides: tuple[FactTable, ...]
    pairs: Mapping[str, Span] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, object]:
        """The fields alone: compiled parts are made again where they are needed."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @cached_property
    def supplied(self) -> frozenset[str]:
        """The predicates and numbers that facts may bound."""
        names = {table.predicate for table in (*self.program.tables, *self.sides)}
        names |= {fact.predicate for fact in self.program.facts}
        return frozenset(names | {load.predicate for load in self.loads} | self.pairs.keys())

    @cached_property
    def rows(self) -> RowSort:
        """The sort, with the guarantees of its stream and the other tables."""
        predicates = self.program.predicates
        of_rows = {name for name, predicate in predicates.items() if self.sort in predicate.sorts}
        brings = {sort for name in of_rows & self.supplied for sort in predicates[name].sorts if sort != self.sort}
        others = {fact.predicate for fact in self.program.facts}
        others |= {table.predicate for table in self.program.tables if len(table)}
        named = {sort for name in others - of_rows for sort in predicates[name].sorts}
        exact = frozenset(self._exact()) - of_rows
        return RowSort(self.sort, predicates, exact, frozenset(brings), frozenset(named), self.supplied)

    def _exact(self) -> set[str]:
        """The closed, underived predicates each of whose atoms has a single truth."""
        derived = {name for stratum in self.program.strata for name in stratum}
        exact = {name for name, predicate in self.program.predicates.items() if predicate.closed} - derived
        exact -= {fact.predicate for fact in self.program.facts if fact.lower != fact.upper}
        return exact - {
            table.predicate for table in self.program.tables if not bool((table.lower == table.upper).all())
        }

    @cached_property
    def needs(self) -> Needed:
        return needed(self.program, self.supplied)

    def links(self) -> list[Diagnostic]:
        """The links between rows; empty if rows are independent."""
        links = row_links(self.needs, self.rows)
        read = {neuron.source for formula in self.needs.formulas for neuron in formula.neurons}
        for name in sorted(read & self.pairs.keys()) if not links else ():
            message = f"each row of this table is about two entities of the sort `{self.sort}`"
            hint = "rows are decided one by one: leave out what the queries need of it, or run the program whole"
            links.append(Diagnostic("linked-rows", message, hint, self.pairs[name]))
        return links

    @cached_property
    def compiled(self) -> Compiled:
        return Compiled(self)


class Compiled:
    """Evaluates strips."""

    def __init__(self, model: RowModel) -> None:
        self.setters = StatementNames()
        self._engine = StripEngine(model.program, model.sort, model.sides, model.needs)
        self._last: tuple[StripGrid, Sequence[StripPart]] | None = None  # the facts of a strip that is clean

    def is_clean(self, strip: StripGrid) -> bool:
        """Whether the names of rows, and their values, are valid."""
        if not has_names(strip.key):
            return False
        parts, findings = strip_parts(strip)
        self._last = strip, parts
        return not any(finding.severity == "error" for finding in findings)

    def answers(self, strip: StripGrid, *, why: bool = False) -> list[RowBounds]:
        """The bounds of each query, row by row; the rows must be valid. With ``why``, atoms have setters too: numbers
        of `setters`."""
        last, self._last = self._last, None
        parts = last[1] if last is not None and last[0] is strip else strip_parts(strip)[0]
        return self._engine.answers(strip, parts, self.setters if why else None)
