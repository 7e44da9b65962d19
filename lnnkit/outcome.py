"""The outcome of inference: its status, its rounds, and its contradictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import TYPE_CHECKING, Literal, overload

from lnnkit.answer_table import finite, format_bounds, formatter
from lnnkit.syntax.dates import Numeric, shown_number

if TYPE_CHECKING:
    from lnnkit.markup.pages import Table

_LISTED = 10
_ENDS = {
    "converged": "converged after {}",
    "creeping": "creeping after {}: the bounds hold, but a cycle gains ever less, so they may be loose",
    "drifting": "drifting after {}: the bounds hold, but some numbers narrow without end and were left as they are",
    "round_limit": "round limit reached after {}: the bounds hold, but more rounds may tighten them",
    "interrupted": "interrupted after {}: the bounds hold, but more rounds may tighten them",
}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An atom whose bounds crossed, or an instance of a statement or shared neuron that cannot be satisfied.

    ``atom`` shows it with its entities; ``rule`` and ``line`` name the statement, for all kinds but ``atom``. The
    bounds of a ``numeric`` atom are the ends of a number, or of a date.
    """

    kind: Literal["atom", "rule", "axiom", "neuron"]
    atom: str
    rule: str | None
    line: int | None
    lower: float
    upper: float
    file: str | None = None
    numeric: Numeric = False

    @property
    def bounds(self) -> str:
        """The bounds that crossed, in words where they are those of a number."""
        if self.numeric:
            lower, upper = (shown_number(end, self.numeric) for end in (self.lower, self.upper))
            return f"at least {lower}, at most {upper}"
        return format_bounds(self.lower, self.upper)

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit run --format json`` prints."""
        fields: dict[str, object] = {name: getattr(self, name) for name in ("kind", "atom", "rule", "line")}
        return fields | {"lower": finite(self.lower, self.numeric), "upper": finite(self.upper, self.numeric)}

    @property
    def place(self) -> str:
        """The statement and its line; empty for an atom."""
        return "" if self.line is None else f"{self.kind} {self.rule or ''}".rstrip() + f", line {self.line}"

    def __str__(self) -> str:
        return f"{self.atom} {self.bounds}{f' ({self.place})' if self.place else ''}"


class Contradictions(Sequence[Contradiction]):
    """A sequence of contradictions, formatted on access; equal to any other sequence of the same."""

    __slots__ = ("_count", "_entry")

    def __init__(self, count: int, entry: Callable[[int], Contradiction]) -> None:
        self._count = count
        self._entry = entry

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Contradiction: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Contradiction, ...]: ...

    def __getitem__(self, index: int | slice) -> Contradiction | tuple[Contradiction, ...]:
        if isinstance(index, slice):
            return tuple(self._entry(position) for position in range(*index.indices(self._count)))
        position = index + self._count if index < 0 else index
        if not 0 <= position < self._count:
            raise IndexError(f"no contradiction {index}: there are {self._count}")
        return self._entry(position)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # pyright: ignore[reportAssignmentType]  # equal to sequences that have none

    def __repr__(self) -> str:
        count = len(self)
        lines = [f"{count:,} contradiction{'' if count == 1 else 's'}{':' if count else ''}"]
        lines += [f"  {contradiction}" for contradiction in self[:_LISTED]]
        return "\n".join([*lines, f"  … and {count - _LISTED:,} more"] if count > _LISTED else lines)

    def table(self) -> Table:
        """What notebooks show."""
        from lnnkit.markup.pages import Table

        rows = ([contradiction.atom, contradiction.bounds, contradiction.place] for contradiction in self)
        return Table("contradictions", ["of", "bounds", "by"], rows, len(self))

    def _repr_html_(self) -> str:
        from lnnkit.markup.pages import tables

        return tables(self.table())


@dataclass(frozen=True, slots=True)
class Creeping:
    """A statement on a slowly converging cycle when inference stopped. ``rule`` is its name, if it has one, ``text``
    its text in the file."""

    kind: Literal["rule", "axiom"]
    rule: str | None
    line: int
    file: str
    text: str

    def as_dict(self) -> dict[str, object]:
        """The object that ``lnnkit run --format json`` prints."""
        return {"kind": self.kind, "rule": self.rule, "line": self.line, "file": self.file}

    def __str__(self) -> str:
        return f"{self.kind} {self.rule or self.text} ({self.file}:{self.line})"


@dataclass(frozen=True, slots=True)
class Change:
    """An answer of a query that facts have changed: the query with its variables bound, and its bounds before and
    after, each None where it has free variables left and no row. ``because`` are the facts that one of both rests on
    and that were added or taken back, as text."""

    answer: str
    before: tuple[float, float] | None
    after: tuple[float, float] | None
    numeric: Numeric = False
    _because: Callable[[], tuple[str, ...]] = field(default=tuple, repr=False, compare=False)

    @property
    def because(self) -> tuple[str, ...]:
        return self._because()

    def cells(self) -> tuple[str, str, str, str]:
        shown = formatter(self.numeric)
        before, after = ("-" if ends is None else shown(*ends) for ends in (self.before, self.after))
        return self.answer, before, after, "; ".join(self.because)

    def __str__(self) -> str:
        answer, before, after, because = self.cells()
        return f"{answer}  {after}, was {before}" + (f"   {because}" if because else "")


@dataclass(frozen=True, slots=True)
class Outcome:
    """``status`` is converged, creeping, drifting, round_limit or interrupted; ``rounds`` counts those that changed
    something, ``atoms`` what had been reached by the end. Bounds are sound whatever the status.

    ``creeping`` names the statements on the cycles for which it stopped, if it is creeping or drifting. ``unfinished``
    are closed predicates whose completion did not finish: their atoms read as unknown instead of false unless they are
    known to be true. ``today`` is the date that facts state of `today`, in ISO 8601.
    """

    status: str
    rounds: int
    contradictions: Contradictions = field(default_factory=lambda: Contradictions(0, ().__getitem__))
    creeping: tuple[Creeping, ...] = field(default=())
    atoms: int | None = None
    unfinished: tuple[str, ...] = ()
    today: str | None = None
    _changes: Callable[[], Sequence[Change]] = field(default=tuple, repr=False, compare=False)

    @property
    def changes(self) -> Sequence[Change]:
        """The answers to the program's queries that differ from those before its facts last changed, each with the
        facts that it changed by. Worked out when it is read: the earlier answers are inferred again."""
        return self._changes()

    @property
    def summary(self) -> str:
        """How inference ended, in words: ``converged after 3 rounds``."""
        atoms = ""
        if self.atoms is not None:
            atoms = f", with {self.atoms:,} atom{'' if self.atoms == 1 else 's'} reached"
        if self.unfinished:
            names = ", ".join(f"`{name}`" for name in self.unfinished)
            ended = self.status.replace("_limit", " limit reached")
            which = "it" if len(self.unfinished) == 1 else "them"
            held = f"the bounds hold, but what is not known to be true of {which} reads as unknown"
            return f"{ended} while closed {names} {'was' if which == 'it' else 'were'} completed{atoms}: {held}"
        rounds = f"{self.rounds:,} round{'' if self.rounds == 1 else 's'}"
        if self.status == "interrupted":
            rounds += atoms
        if self.today is not None:
            rounds += f" (today is {self.today})"
        return _ENDS.get(self.status, f"{self.status} after {{}}").format(rounds)

    def as_dict(self) -> dict[str, object]:
        """The fields that ``lnnkit run --format json`` prints after the queries."""
        fields: dict[str, object] = {
            "contradictions": [contradiction.as_dict() for contradiction in self.contradictions],
            "status": self.status,
            "rounds": self.rounds,
        }
        if self.today is not None:
            fields["today"] = self.today
        return fields | {"creeping": [statement.as_dict() for statement in self.creeping]} if self.creeping else fields

    def __repr__(self) -> str:
        lines = [self.summary]
        if self.contradictions:
            lines.append(repr(self.contradictions))
        lines += [f"  {statement}" for statement in self.creeping[:_LISTED]]
        if len(self.creeping) > _LISTED:
            lines.append(f"  … and {len(self.creeping) - _LISTED:,} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from lnnkit.markup.pages import Table, tables

        lost = [[str(statement)] for statement in self.creeping]
        shown = [self.contradictions.table()] if self.contradictions else []
        shown += [Table(self.status, [], lost, len(lost))] if lost else []
        return tables(*shown, text=self.summary)
