"""The query plan of an inference, as a value: what each statement joined, in which order, and the numbers of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

from lnnkit.markup.pages import aligned, counted
from lnnkit.outcome import Outcome


@dataclass(frozen=True, slots=True)
class PlanStep:
    """``rows`` of what the step ``reads`` are joined with the result of the steps before, which gives ``out`` rows.

    ``out`` is None if the step was never executed, because the result was empty already.
    """

    reads: str
    rows: int
    out: int | None


@dataclass(frozen=True, slots=True)
class PlanJoin:
    """One join order, executed ``times`` times (each time for a delta); its rows are sums over all of these."""

    times: int
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True)
class StatementPlan:
    """A rule, an axiom, or a formula that several of them share (``kind`` neuron, ``name`` those that state it), and
    the joins that find its ``instances``: each counts as often as it was looked at (with a quantifier, once).
    ``purpose`` is inference, or the completion of the closed predicate that it defines. It made so many ``proposals``
    of bounds, and took ``seconds`` of the CPU."""

    kind: str
    name: str | None
    text: str
    file: str | None
    line: int | None
    purpose: str
    instances: int
    joins: tuple[PlanJoin, ...]
    proposals: int = 0
    seconds: float = field(default=0.0, compare=False)

    @property
    def joined(self) -> int:
        """The rows that all steps of its joins gave."""
        return sum(step.out or 0 for join in self.joins if join.times for step in join.steps)

    @property
    def title(self) -> str:
        """Its kind, name and place."""
        called = f" {self.name}" if self.name else ""
        place = "" if self.line is None else f", line {self.line}" if not self.file else f", {self.file}:{self.line}"
        return f"{self.kind}{called}{place}"

    def lines(self) -> Iterator[str]:
        yield f"{self.title}: {counted(self.instances, 'instance')} for {self.purpose}"
        yield f"  {self.text}"
        made = [join for join in self.joins if join.times]
        width = max((len(step.reads) for join in made for step in join.steps), default=0)
        digits = max((len(f"{step.rows:,}") for join in made for step in join.steps), default=0)
        for number, join in enumerate(made, 1):
            yield f"  join {number}, {counted(join.times, 'time')}"
            for position, step in enumerate(join.steps):
                out = "not reached" if step.out is None else f"-> {step.out:,}"
                shown = out if position or step.out != step.rows else ""
                yield f"    {step.reads:<{width}}  {step.rows:>{digits},}  {shown}".rstrip()
        yield from (f"  {line}" for line in self._idle())

    def _idle(self) -> Iterator[str]:
        """The joins that were not executed, and why."""
        idle = Counter(", ".join(step.reads for step in j.steps if not step.rows) for j in self.joins if not j.times)
        for empty, count in idle.items():
            yield f"{counted(count, 'join')} not " + (f"made: no rows of {empty}" if empty else "needed")

    def rows(self) -> Iterator[tuple[str | int, ...]]:
        """The steps as rows of a table; the first one has what all of them share."""
        head: tuple[str | int, ...] = (f"{self.title}\n{self.text}", self.instances, self.purpose)
        for number, join in enumerate((join for join in self.joins if join.times), 1):
            cells: tuple[str | int, ...] = (number, join.times)
            for step in join.steps:
                yield (*head, *cells, step.reads, step.rows, "not reached" if step.out is None else step.out)
                head, cells = ("", "", ""), ("", "")
        for line in self._idle():
            yield (*head, "", "", line, "", "")
            head = ("", "", "")


@dataclass(frozen=True, slots=True)
class SidePlan:
    """One side of the atoms of a predicate (or shared formula): how it is derived, and for how many atoms it differs
    from the default. ``status`` is completed, derived, derived-where-listed, facts, not-needed or default."""

    status: str
    atoms: int

    def __str__(self) -> str:
        return f"{self.status.replace('-', ' ')} ({self.atoms:,})" if self.atoms else self.status.replace("-", " ")


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A predicate, or a formula that statements share, with its two sides."""

    name: str
    lower: SidePlan
    upper: SidePlan


@dataclass(frozen=True, slots=True)
class Plan:
    """What an inference joined for each statement, and which sides of which predicates it computed, in ``seconds``
    of the CPU. It prints as text; ``as_dict`` is for JSON."""

    statements: tuple[StatementPlan, ...]
    tables: tuple[TablePlan, ...]
    outcome: Outcome
    seconds: float = field(default=0.0, compare=False)

    @property
    def profile(self) -> Profile:
        """What each statement cost."""
        costs = sorted(self.statements, key=lambda statement: -statement.seconds)
        return Profile(tuple(costs), self.seconds, self.outcome)

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit run --plan --format json`` prints."""
        names = ("kind", "name", "text", "file", "line", "purpose", "instances")
        return {
            "statements": [
                {name: getattr(statement, name) for name in names}
                | {"joins": [{"times": join.times, "steps": list(map(asdict, join.steps))} for join in statement.joins]}
                for statement in self.statements
            ],
            "sides": list(map(asdict, self.tables)),
            "status": self.outcome.status,
            "rounds": self.outcome.rounds,
        }

    def lines(self) -> Iterator[str]:
        for statement in self.statements:
            yield from statement.lines()
            yield ""
        if self.tables:
            yield "sides, and the atoms on which they differ from the default"
            rows = [("", "lower", "upper"), *((t.name, str(t.lower), str(t.upper)) for t in self.tables)]
            yield from (f"  {line}" for line in aligned(rows))
            yield ""
        yield self.outcome.summary

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from lnnkit.markup.pages import Table, tables

        joins = [row for statement in self.statements for row in statement.rows()]
        heads = ["statement", "instances", "for", "join", "times", "reads", "rows", "left"]
        sides = [[table.name, str(table.lower), str(table.upper)] for table in self.tables]
        shown = [Table("joins", heads, joins, len(joins))] if joins else []
        shown += [Table("sides", ["", "lower", "upper"], sides, len(sides))] if sides else []
        return tables(*shown, text=self.outcome.summary)


_COSTS = ("seconds", "joined", "instances", "proposals", "statement")


@dataclass(frozen=True, slots=True)
class Profile:
    """What each statement cost, the most expensive first, of ``seconds`` of the CPU that inference took. It prints as
    text; ``as_dict`` is for JSON."""

    statements: tuple[StatementPlan, ...]
    seconds: float
    outcome: Outcome

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit run --profile --format json`` prints."""
        names = ("kind", "name", "text", "file", "line", "purpose", "seconds", "joined", "instances", "proposals")
        costs = [{name: getattr(statement, name) for name in names} for statement in self.statements]
        return {
            "statements": costs,
            "seconds": self.seconds,
            "status": self.outcome.status,
            "rounds": self.outcome.rounds,
        }

    def lines(self) -> Iterator[str]:
        yield from aligned([_COSTS, *self._rows()], right=range(4))
        yield ""
        rest = self.seconds - sum(statement.seconds for statement in self.statements)
        yield f"{self.seconds:.3f} CPU seconds, {max(rest, 0.0):.3f} of them for no statement alone (planning, merging)"
        yield self.outcome.summary

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for cost in self.statements:
            numbers = (f"{number:,}" for number in (cost.joined, cost.instances, cost.proposals))
            shown = cost.title if cost.purpose == "inference" else f"{cost.title}, {cost.purpose}"
            yield (f"{cost.seconds:.3f}", *numbers, f"{shown}: {cost.text}")

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from lnnkit.markup.pages import Table, tables

        rows = list(self._rows())
        return tables(Table("costs", list(_COSTS), rows, len(rows)), text=self.outcome.summary)
