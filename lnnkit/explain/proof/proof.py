"""A proof as a value: the steps that give an atom its bounds, down to facts; and the facts of a program, by atom.
Independent of the engine. Steps refer to each other by number, so that shared premises are stored once. The references
are acyclic, except that upper bounds of completed predicates may rest on each other. Tables keep their row numbers, so
nothing else is stored of facts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from lnnkit.check.program import Assertion, CheckedProgram, Fact
from lnnkit.data.table import FactTable
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric
from lnnkit.syntax.identifiers import in_digits
from lnnkit.syntax.printer import format_expression, format_literal, one_line

BoundSide = Literal["lower", "upper"]
SIDES: tuple[BoundSide, BoundSide] = ("lower", "upper")
Reason = Literal[
    "fact",  # a fact of the program or of a table
    "closed",  # the default of a closed predicate: no fact gives more
    "open",  # nothing is known: bounds 0 and 1
    "stated",  # a statement gives the whole formula this truth
    "statement",  # an instance of a rule or axiom
    "neuron",  # a formula and its operands bound each other
    "completed",  # no rule gives more for a closed predicate
    "candidates",  # no candidate is better for a closed number that rules derive
    "exact",  # all premises together imply it, by the solver (`lnnkit.prove`)
    "contradiction",  # an instance is unsatisfiable: no truth of its atoms satisfies it
]


@dataclass(frozen=True, slots=True)
class GivenFact:
    """A fact about an atom or, if ``numeric``, a number: its bounds, its file and row (for a program file, the line),
    and the trust in it, from 0 to 1."""

    predicate: str
    arguments: tuple[str, ...]
    lower: float
    upper: float
    file: str
    row: int
    text: str
    trust: float = 1.0
    numeric: Numeric = False

    def end(self, side: int) -> float:
        """Its lower (0) or upper (1) bound."""
        return self.upper if side else self.lower

    @property
    def place(self) -> str:
        """Its file and row."""
        return f"{self.file}:{self.row}"

    def __str__(self) -> str:
        return f"{self.text}   {self.place}"


@dataclass(frozen=True, slots=True)
class Premise:
    """A premise of a step: the number of the step that proves it, and the weight of the operand that it bounds."""

    step: int
    weight: float


@dataclass(slots=True, eq=False)
class Step:
    """``conclusion`` (an atom or a formula, its variables bound) is at least (``side`` lower) or at most ``bound``. A
    blanket conclusion has variables: it holds for all entities of which no fact says more, or, where some are
    ``excepted``, for all others. ``formula`` is the instance, every connective with its logic. An exact step rests on
    all its premises together, and on atoms that ``rules`` complete: each is the least truth with which these hold.
    ``all_seen`` is false where too many premises are needed to list. ``numeric`` tells whether it is about a number, or
    a date."""

    conclusion: ast.Expression
    side: BoundSide
    bound: float
    reason: Reason
    statement: Assertion | None = None
    formula: ast.Expression | None = None
    bindings: Mapping[str, str] = field(default_factory=dict)
    premises: Sequence[Premise] = ()
    given: GivenFact | None = None
    excepted: frozenset[tuple[str, ...]] | None = None
    all_seen: bool = True
    completes: Sequence[ast.Expression] = ()
    rules: Sequence[Assertion] = ()
    numeric: Numeric = False

    @property
    def atom(self) -> str:
        """The conclusion as text in the language."""
        return format_expression(self.conclusion)


class ProofVisit(NamedTuple):
    """A step where a walk meets it: its ``level`` below an end, the ``weight`` of the operand that it bounds, whether
    it is the ``last`` premise. If it ``opens``, its premises follow: not if it was met ``again``, or the walk ends."""

    number: int
    level: int
    weight: float
    last: bool
    again: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """``steps`` that prove the ``lower`` and the ``upper`` bound of ``atom``: numbers of steps."""

    atom: str
    steps: Sequence[Step]
    lower: int
    upper: int

    @property
    def ends(self) -> list[int]:
        """The steps of its ends; one where these are one step."""
        return list(dict.fromkeys((self.lower, self.upper)))

    def walk(self, depth: int | None = None) -> Iterator[ProofVisit | None]:
        """The steps from the ends down to ``depth``, the premises of a repeated one once; None after the premises of
        one that opens. Without recursion: an explicit stack holds what remains."""
        met: set[int] = set()
        stack: list[tuple[int, int, float, bool] | None] = [(top, 0, 1.0, True) for top in reversed(self.ends)]
        while stack:
            item = stack.pop()
            if item is None:
                yield None
                continue
            number, level, weight, last = item
            below = self.steps[number].premises
            again = number in met and bool(below)
            opens = bool(below) and not again and (depth is None or level < depth)
            met.add(number)
            yield ProofVisit(number, level, weight, last, again, opens)
            if opens:
                waiting = [(p.step, level + 1, p.weight, place == len(below) - 1) for place, p in enumerate(below)]
                stack += [None, *reversed(waiting)]

    def reachable(self, *tops: int) -> list[int]:
        """The steps on which some depend, and those."""
        met, stack, order = set(tops), list(tops), list[int]()
        while stack:
            order.append(stack.pop())
            below = dict.fromkeys(premise.step for premise in self.steps[order[-1]].premises if premise.step not in met)
            met.update(below)
            stack += reversed(below)
        return order

    def only(self, kept: Sequence[int]) -> Proof:
        """The proof with these steps alone, in this order; none of them rests on others."""
        numbers = {number: place for place, number in enumerate(kept)}
        steps = (self.steps[number] for number in kept)
        renumbered = [replace(s, premises=[replace(p, step=numbers[p.step]) for p in s.premises]) for s in steps]
        return Proof(self.atom, renumbered, numbers[self.lower], numbers[self.upper])

    def repeated(self) -> set[int]:
        """The steps that are used several times, by others or as an end."""
        met: set[int] = set()
        used = [self.lower, self.upper, *(premise.step for step in self.steps for premise in step.premises)]
        return {number for number in used if number in met or met.add(number)}

    def facts(self, top: int) -> tuple[str, ...]:
        """The facts that a step rests on through statements; none if it is a fact."""
        given = (self.steps[number].given for number in self.reachable(top) if number != top)
        return tuple(dict.fromkeys(fact.text.removeprefix("fact ") for fact in given if fact is not None))


class FactSources:
    """The facts of a program by atom. A ``pattern`` has an entity, or None for any, at each place of an atom; an empty
    one matches all atoms."""

    def __init__(self, program: CheckedProgram) -> None:
        self._predicates = program.predicates
        self._stated: dict[str, dict[tuple[str, ...], list[Fact]]] = {}
        for fact in program.facts:
            self._stated.setdefault(fact.predicate, {}).setdefault(fact.arguments, []).append(fact)
        self._every = program.tables
        self._tables: dict[str, list[FactTable]] = {}
        for table in program.tables:
            self._tables.setdefault(table.predicate, []).append(table)

    def of(self, predicate: str, arguments: Sequence[str]) -> list[GivenFact]:
        """All facts about an atom, in the order of `every`."""
        known = self._predicates.get(predicate)
        return [*self.every(predicate, arguments)] if known is not None and len(arguments) == known.arity else []

    def every(self, predicate: str, pattern: Sequence[str | None] = ()) -> Iterator[GivenFact]:
        """The facts about atoms that match: those of the program's text, then those of its tables, in their order."""
        numeric = self._predicates[predicate].numeric if predicate in self._predicates else False
        for about in self._matching(predicate, pattern):
            for fact in self._stated[predicate][about]:
                span = fact.span
                said = span.source.path, span.line, one_line(span.text), fact.trust, numeric
                yield GivenFact(predicate, about, fact.lower, fact.upper, *said)
        for table in self._tables.get(predicate, ()):
            for row in _matching_rows(table, pattern).tolist():
                about, ends = tuple(c[row] for c in table.columns), (float(table.lower[row]), float(table.upper[row]))
                text = fact_text(predicate, about, *ends, table.trust, numeric=numeric)
                said = table.source, int(table.rows[row]), text, table.trust, numeric
                yield GivenFact(predicate, about, *ends, *said)

    def atoms(self, predicate: str, pattern: Sequence[str | None]) -> set[tuple[str, ...]]:
        """The entities of the atoms that match about which there are facts."""
        atoms = {*self._matching(predicate, pattern)}
        for table in self._tables.get(predicate, ()):
            rows = _matching_rows(table, pattern)
            columns = [column.names.at(column.codes[rows], len(rows)) for column in table.columns]
            atoms.update(zip(*columns, strict=True) if columns else [()] * len(rows))
        return atoms

    def _matching(self, predicate: str, pattern: Sequence[str | None]) -> Sequence[tuple[str, ...]]:
        """The entities of the atoms that match about which the program's text has facts."""
        stated = self._stated.get(predicate, {})
        fixed = [(place, text) for place, text in enumerate(pattern) if text is not None]
        if fixed and len(fixed) == len(pattern):
            about = tuple(text for _, text in fixed)
            return [about] if about in stated else []
        return [arguments for arguments in stated if all(arguments[place] == text for place, text in fixed)]

    def rows(self, table: int, predicate: str, arguments: Sequence[str]) -> list[int]:
        """The positions in one of the program's tables of the facts about an atom."""
        facts = self._every[table]
        return _matching_rows(facts, arguments).tolist() if facts.predicate == predicate else []

    def entities(self, predicate: str) -> set[str]:
        """All entities that facts of a predicate mention."""
        entities = {text for arguments in self._matching(predicate, ()) for text in arguments}
        return entities.union(*(table.names for table in self._tables.get(predicate, ())))


def _matching_rows(facts: FactTable, pattern: Sequence[str | None]) -> np.ndarray:
    """The positions of a table's facts about atoms that match. Explanations ask of few, so an index would cost more: of
    a million rows each takes 2 CPU ms, to sort them 90."""
    rows: np.ndarray | None = None  # all
    for column, text in zip(facts.columns, pattern, strict=False):
        if text is not None:
            code = facts.names.find(text)
            codes = column.codes if rows is None else column.codes.take(rows)
            fits = np.flatnonzero(codes == (-1 if code is None else code))
            rows = fits if rows is None else rows.take(fits)
    return np.arange(len(facts)) if rows is None else rows


def ground_atom(predicate: str, arguments: Sequence[str]) -> ast.Atom:
    """The atom of a predicate about these entities."""
    return ast.Atom(predicate, tuple(map(ast.Constant, arguments)))


def ground_key(formula: object) -> tuple[str, tuple[str, ...]] | None:
    """The predicate and the entities of an atom; None of any other formula, and of an atom with variables."""
    if not isinstance(formula, ast.Atom):
        return None
    texts = tuple(argument.text for argument in formula.arguments if isinstance(argument, ast.Constant))
    return (formula.name, texts) if len(texts) == len(formula.arguments) else None


def fact_text(
    predicate: str,
    arguments: Sequence[str],
    lower: float,
    upper: float,
    trust: float = 1.0,
    *,
    numeric: Numeric = False,
    shown: Callable[[float], str] = in_digits,
) -> str:
    """The fact as a statement would put it, with its numbers as they are ``shown``."""
    atom, trusted = format_expression(ground_atom(predicate, arguments)), "" if trust == 1 else f" trust {shown(trust)}"
    if not numeric and (lower, upper) in ((0.0, 0.0), (1.0, 1.0)):
        return f"fact {'' if upper else '~'}{atom}{trusted}"
    dated = numeric == "date"
    low, high = (format_literal(v, "date") if dated and math.isfinite(v) else shown(v) for v in (lower, upper))
    return f"fact {atom} = {low}{trusted}" if lower == upper else f"fact {atom} in [{low}, {high}]{trusted}"
