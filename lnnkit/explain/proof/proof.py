"""A proof as a value: the steps that give an atom its bounds, down to facts. Independent of the engine and of
arrays.

Steps refer to each other by number, so that shared premises are stored once. The references are acyclic, except
that upper bounds of completed predicates may rest on each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from lnnkit.check.program import Assertion
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

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
    "exact",  # all premises together imply it, by the solver (`lnnkit.prove`)
    "contradiction",  # an instance is unsatisfiable: no truth of its atoms satisfies it
]


@dataclass(frozen=True, slots=True)
class GivenFact:
    """A fact: its bounds, its file and row (for a program file, the line), and the trust in it, from 0 to 1."""

    lower: float
    upper: float
    file: str
    row: int
    text: str
    trust: float = 1.0

    def end(self, side: int) -> float:
        """Its lower (0) or upper (1) bound."""
        return self.upper if side else self.lower


@dataclass(frozen=True, slots=True)
class Premise:
    """A premise of a step: the number of the step that proves it, and the weight of the operand that it bounds."""

    step: int
    weight: float


@dataclass(slots=True, eq=False)
class Step:
    """``conclusion`` (an atom or a formula, its variables bound) is at least (``side`` lower) or at most ``bound``.

    A blanket conclusion has variables: it holds for all entities of which no fact says more, or, where there is a list
    of those ``excepted``, for all others. ``formula`` is the instance that was looked at, every connective with its
    logic; ``truth`` is what its statement gives it.
    An exact step rests on all its premises together, and on atoms that ``rules`` complete: each is the least truth with
    which these hold. In a ``crisp`` one every atom is true or false.
    ``all_seen`` is false where the premises are not all that are needed: there would be too many to list.
    """

    conclusion: ast.Expression
    side: BoundSide
    bound: float
    reason: Reason
    statement: Assertion | None = None
    formula: ast.Expression | None = None
    truth: tuple[float, float] = (0.0, 1.0)
    bindings: Mapping[str, str] = field(default_factory=dict)
    premises: Sequence[Premise] = ()
    given: GivenFact | None = None
    excepted: frozenset[tuple[str, ...]] | None = None
    all_seen: bool = True
    completes: Sequence[ast.Expression] = ()
    rules: Sequence[Assertion] = ()
    crisp: bool = False

    @property
    def atom(self) -> str:
        """The conclusion as text in the language."""
        return format_expression(self.conclusion)


class ProofVisit(NamedTuple):
    """A step where a walk through a proof meets it: its ``level`` below an end, the ``weight`` of the operand that it
    bounds, and whether it is the ``last`` premise. Its premises follow if it ``opens``: not where it was met ``again``,
    nor where the walk ends."""

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

    def repeated(self) -> set[int]:
        """The steps that are used several times, by others or as an end."""
        met: set[int] = set()
        used = [self.lower, self.upper, *(premise.step for step in self.steps for premise in step.premises)]
        return {number for number in used if number in met or met.add(number)}

    def facts(self, top: int) -> tuple[str, ...]:
        """The facts that a step rests on through statements; none if it is a fact."""
        given = (self.steps[number].given for number in self.reachable(top) if number != top)
        return tuple(dict.fromkeys(fact.text.removeprefix("fact ") for fact in given if fact is not None))
