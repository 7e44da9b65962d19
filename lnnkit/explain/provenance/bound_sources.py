"""The event, fact or default on which an atom's bound rested at a tick of a fixpoint's history; and rows as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import numpy as np

from lnnkit.check.program import Assertion
from lnnkit.check.walk import nodes
from lnnkit.engine.inference_run import Run
from lnnkit.engine.planning.compiling import neuron_root
from lnnkit.explain.proof.proof import FactSources, GivenFact
from lnnkit.formula.as_syntax import as_expression, bound_names
from lnnkit.formula.unfolding import Formula, unfold
from lnnkit.graph.lifted import Root
from lnnkit.graph.lifting import stripped
from lnnkit.logic.bounds import tolerance
from lnnkit.store.relations import RowNumbers
from lnnkit.syntax import ast
from lnnkit.trail.events import Completion, Kind, Trail

END = 2**31 - 1  # a tick after all others
EntityOrVariable = str | ast.Variable
Named = Mapping[int, EntityOrVariable]  # by variable


@dataclass(frozen=True, slots=True)
class Event:
    """A ``side`` of ``row`` got ``value``, by ``instance`` of ``shape`` through ``leaf`` and bounds before ``tick``."""

    number: int
    kind: Kind
    row: int
    side: int
    value: float
    tick: int
    shape: int
    leaf: int
    instance: int


class BoundHistory:
    """Events by row and side."""

    def __init__(self, trail: Trail, numbers: RowNumbers) -> None:
        self.completions: Sequence[Completion] = tuple(trail.completions)
        self._events = events = trail.events(numbers)
        self._revised = bool((events.kind == Kind.RESET).any())
        self._ends = np.append(events.start, len(events.row))
        sides, order = events.side.repeat(np.diff(self._ends)), np.argsort(events.row, kind="stable")
        by_side = [order[sides[order] == side] for side in (0, 1)]
        self._sorted = [(events.row[places], places) for places in by_side]

    def at(self, row: int, side: int, tick: int = END) -> Event | None:
        """The last event before ``tick``; of a bound that was reset since, the last of all: had it changed by that,
        what read it would have been reset too."""
        event = self._last(row, side, self._first(tick))
        last = later = self._last(row, side, self._first(END)) if self._revised else None
        while later is not None and (event is None or later.number > event.number):
            if later.kind is Kind.RESET:
                return last
            later = self.previous(later)
        return event

    def previous(self, event: Event) -> Event | None:
        """The event before ``event`` of the same bound."""
        return self._last(event.row, event.side, event.number)

    def restored(self, event: Event | None) -> Event | None:
        """The event whose bound a completion restored: the last before it began; None if there is none."""
        while event is not None and event.kind is Kind.RESTORED:
            while event is not None and event.kind is not Kind.RESTARTED:
                event = self.previous(event)
            event = None if event is None else self.previous(event)
        return event

    def rising(self, completion: Completion, least: float) -> np.ndarray:
        """The rows whose upper end rose above ``least`` in a completion."""
        rows, numbers = self._sorted[1]
        within = (numbers >= self._first(completion.start)) & (numbers < self._first(completion.last))
        return np.unique(rows[within & (self._events.value.take(numbers) > least)])

    def _first(self, tick: int) -> int:
        """The number of the first event at a tick or later."""
        return int(self._ends[self._events.tick.searchsorted(tick)])

    def _last(self, row: int, side: int, limit: int) -> Event | None:
        """The last event of a bound with a number below ``limit``."""
        events, (rows, numbers) = self._events, self._sorted[side]
        # Another type would copy the whole array
        low, high = np.searchsorted(rows, np.array((row, row + 1), rows.dtype))
        place = int(low + numbers[low:high].searchsorted(limit))
        if place == low:
            return None
        number = int(numbers[place - 1])
        chunk = int(events.start.searchsorted(number, side="right")) - 1
        tick, kind, shape, leaf = (int(c[chunk]) for c in (events.tick, events.kind, events.shape, events.leaf))
        value, instance = float(events.value[number]), int(events.instance[number])
        return Event(number, Kind(kind), row, side, value, tick, shape, leaf, instance)


@dataclass(frozen=True, slots=True)
class Listed:
    """The source is a fact."""

    row: int
    side: int


@dataclass(frozen=True, slots=True)
class Unlisted:
    """The source is the default of a table, for these arguments; of ``unnamed`` individuals what is stated of all."""

    table: str
    arguments: tuple[EntityOrVariable, ...]
    side: int
    unnamed: bool = False


@dataclass(frozen=True, slots=True)
class Completed:
    """The source is the completion numbered ``completion``: no rule gives more for an atom of a closed predicate. With
    variables among the arguments this holds for any atom without a row."""

    table: str
    arguments: tuple[EntityOrVariable, ...]
    completion: int
    value: float


BoundSource = Event | Listed | Unlisted | Completed


@dataclass(frozen=True, slots=True)
class SourcedBound:
    """A bound and its source; None if it is uninformative, or needs no reason."""

    value: float
    source: BoundSource | None


class GroundText:
    """Atoms, shared formulas and instances as syntax, by the ``names`` of entities and the ``numbers`` of rows."""

    def __init__(self, run: Run, names: Sequence[str]) -> None:
        self.names = names
        self._lifted = run.plan.lifted
        self._whole: dict[object, tuple[Formula, Mapping[int, str]]] = {}
        self.numbers = RowNumbers(run.grounding.atoms)

    def about(self, row: int) -> tuple[str, tuple[str, ...]]:
        """The predicate or shared formula of a row, by its number among all, and its entities."""
        table, local = self.numbers.behind(row)
        return table.name, tuple(self.names[int(column[local])] for column in table.tuples.columns)

    def is_predicate(self, table: str) -> bool:
        """Whether a table holds atoms of a predicate or number, rather than a shared formula."""
        node = table.removeprefix("?")  # observed neurons have table names of their own
        return self._lifted.graph.nodes[node]["kind"] in ("predicate", "number")

    def conclusion(self, table: str, arguments: Sequence[EntityOrVariable]) -> ast.Expression:
        """An atom, or a shared formula, with these arguments; unnamed ones become variables."""
        if self.is_predicate(table):
            return ast.Atom(table, tuple(ast.Constant(a) if isinstance(a, str) else a for a in arguments))
        node = table.removeprefix("?")
        whole, _ = self._unfolded(neuron_root(self._lifted, node), node)
        bindings = {place: a for place, a in enumerate(arguments) if isinstance(a, str)}
        names = {place: a.name for place, a in enumerate(arguments) if isinstance(a, ast.Variable)}
        return as_expression(whole, bindings, names, logic=self._lifted.program.logic)

    def instance(self, formula: Formula, bindings: Mapping[int, int]) -> ast.Expression:
        """A formula with its free variables bound, every connective with its logic."""
        assert formula.root is not None
        whole, names = self._unfolded(formula.root, formula.auxiliary)
        entities = {variable: self.names[bindings[variable]] for variable in range(len(formula.root.variables))}
        return as_expression(whole, entities, names, logic=self._lifted.program.logic)

    def pattern(self, formula: Formula, leaf: int, known: Named) -> tuple[EntityOrVariable, ...]:
        """The arguments of a leaf or of the formula's own neuron; variables that are not ``known`` stay variables."""
        named = variable_names(formula)
        terms = formula.arguments(leaf)
        return tuple(t if isinstance(t, str) else known.get(t) or ast.Variable(named.get(t, f"X{t}")) for t in terms)

    def _unfolded(self, root: Root, neuron: str | None) -> tuple[Formula, Mapping[int, str]]:
        """A statement or a shared ``neuron``, with all shared neurons unfolded; and the names of a statement."""
        key = neuron or id(root)
        if key not in self._whole:
            whole = unfold(self._lifted, root, through_shared=True)
            self._whole[key] = whole, variable_names(whole) if neuron is None else {}
        return self._whole[key]


def variable_names(formula: Formula) -> Mapping[int, str]:
    """The names of a formula's variables, those of quantified ones as in its own statement where possible."""
    assert formula.root is not None
    origin, free = formula.root.origin, dict(enumerate(formula.root.variables))
    bound = [variable for block in formula.blocks[1:] for variable in block.bound]
    if not bound:
        return free
    whole = cast("ast.Expression", stripped(origin) if isinstance(origin, Assertion) else origin.formula)
    quantifiers = (node for node in nodes(whole) if isinstance(node, ast.Quantifier))
    written = [variable.name for quantifier in quantifiers for variable in quantifier.variables]
    if formula.auxiliary is None and len(written) == len(bound):
        return free | dict(zip(bound, written, strict=True))
    return bound_names(formula, free)


class BoundSources:
    """Looks bounds up by row, or by arguments for an atom without a row."""

    def __init__(self, run: Run, origins: FactSources, names: Sequence[str]) -> None:
        self.run, self.origins = run, origins
        self.wording = GroundText(run, names)
        self.history = BoundHistory(run.state.trail, self.wording.numbers)
        self.eps = tolerance(run.state.dtype)
        self._given_facts = cache(lambda row: origins.of(*self.wording.about(row)))
        self._given = self.wording.numbers.flags("given")
        self._exceptions: dict[tuple[str, int], list[np.ndarray]] = {}

    def find(self, table: str, about: Sequence[EntityOrVariable]) -> int:
        """The row of an atom in its table; -1 where it has none of its own."""
        relation, index = self.run.grounding.atoms.tables[table], self.run.grounding.domain.index
        if not all(isinstance(argument, str) and argument in index for argument in about):
            return -1
        return int(relation.tuples.find([np.array([index[str(argument)]], np.int32) for argument in about], 1)[0])

    def reading(
        self, table: str, arguments: Sequence[EntityOrVariable], side: int, *, crossed: bool = True
    ) -> SourcedBound:
        """One bound of an atom or of a shared formula; where its bounds have ``crossed``, the one that did."""
        local, numbers = self.find(table, arguments), self.wording.numbers
        if local < 0:
            return self.unlisted(table, arguments, side)
        row = int(numbers.of(self.run.grounding.atoms.tables[table], np.array([local]))[0])
        return self.of(row, side, crossed=crossed and bool((numbers.crossed == row).any()))

    def of(self, row: int, side: int, tick: int = END, *, crossed: bool = False) -> SourcedBound:
        """The bound of a row as read at ``tick``; or that of an arrested row which ``crossed`` its other bound."""
        event = self.history.at(row, side, tick)
        while crossed and event is not None and event.kind is Kind.OPENED:
            event = self.history.previous(event)
        event = self.history.restored(event)
        event = None if event is not None and event.kind is Kind.RESET else event
        table, arguments = self.wording.about(row)
        relation, _ = self.wording.numbers.behind(row)
        if relation.derived and side != relation.completed_side and (event is None or event.kind is Kind.RESTARTED):
            other, event = self.history.at(row, relation.completed_side, tick), None
            if other is not None and other.kind is not Kind.RESTARTED:
                return SourcedBound(relation.unknown[side], None)  # a number that may have no value
        if event is not None:
            value, source = event.value, self._source(event)
        elif self._given[row]:
            value, source = self.fact(row, side).end(side), Listed(row, side)
        else:
            return self.unlisted(table, arguments, side, 0 if crossed else tick)
        return SourcedBound(value, source) if crossed else self._read(value, side, source, table)

    def unlisted(
        self, table: str, arguments: Sequence[EntityOrVariable], side: int, tick: int = END, *, unnamed: bool = False
    ) -> SourcedBound:
        """The bound of an atom that is not materialised, or of an atom with variables, which may be ``unnamed``."""
        atoms = self.run.grounding.atoms.tables[table]
        if unnamed and atoms.unnamed[side] != atoms.default[side]:
            return self._read(atoms.unnamed[side], side, Unlisted(table, tuple(arguments), side, unnamed=True), table)
        value, completes = atoms.default[side], side == atoms.completed_side or atoms.derived
        said = atoms.default[atoms.completed_side]  # a derived number has no value at either end then
        completes = completes and table in self.run.plan.lifted.closed_derived
        if completes and not (arguments and self.run.grounding.domain.lacks(atoms.sorts, arguments)):
            for number, completion in reversed([*enumerate(self.history.completions)]):
                if table in completion.predicates and completion.stop <= tick:
                    return self._read(value, side, Completed(table, tuple(arguments), number, said), table)
        return self._read(value, side, Unlisted(table, tuple(arguments), side), table)

    def exceptions(self, source: Completed) -> list[np.ndarray]:
        """The atoms, as columns of ids, that a completion's conclusion about all leaves out: those of facts and those
        above 0; of derived numbers those with a value."""
        key = source.table, source.completion
        if key not in self._exceptions:
            relation = self.run.grounding.atoms.tables[source.table]
            rows = np.arange(len(relation))
            rising = self.history.rising(self.history.completions[source.completion], self.eps)
            kept = np.isin(self.wording.numbers.of(relation, rows), rising) | relation.flags("given").take(rows)
            if relation.derived:
                kept = relation.end(0) <= relation.end(1)
            self._exceptions[key] = [column[kept] for column in relation.tuples.columns]
        return self._exceptions[key]

    def _source(self, event: Event) -> BoundSource:
        """An event, or a fact, or, for the upper end of a completed atom, its completion: no single instance lowers it.
        Of a number it is that to which candidates do not fall or rise, as facts do not."""
        completes = event.shape >= 0 and self.run.grounding.shapes[event.shape].completes
        table, _ = self.wording.numbers.behind(event.row)
        completes |= event.kind is Kind.RESTARTED or bool(table.derived)
        if event.kind is not Kind.OPENED and event.side == table.completed_side and completes:
            for number, completion in enumerate(self.history.completions):
                if table.name in completion.predicates and completion.start <= event.tick < completion.last:
                    return Completed(*self.wording.about(event.row), number, event.value)
        return Listed(event.row, event.side) if event.kind is Kind.STATED else event

    def fact(self, row: int, side: int) -> GivenFact:
        """The fact that gives a row its bound; the most trusted one, and of those the first."""
        return max(self._given_facts(row), key=lambda fact: (-fact.upper if side else fact.lower, fact.trust))

    def _read(self, value: float, side: int, source: BoundSource, table: str) -> SourcedBound:
        """A reading; bounds that neurons read as unknown need no source."""
        relation = self.run.grounding.atoms.tables[table]
        if relation.numeric:
            return SourcedBound(value, None if value == relation.unknown[side] else source)
        silent = value >= 1 - self.eps if side else value <= self.eps
        return SourcedBound(value, None if silent else source)
