"""A proof as a value: the steps that give an atom its bounds, down to facts. Independent of the engine and of
arrays.

Steps refer to each other by number, so that shared premises are stored once. The references are acyclic, except
that upper bounds of completed predicates may rest on each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lnnkit.check.program import Assertion
from lnnkit.syntax import ast
from lnnkit.syntax.printer import format_expression

Side = Literal["lower", "upper"]
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
class Given:
    """A fact: its bounds, its file and row (for a program file, the line), and the trust in it, from 0 to 1."""

    lower: float
    upper: float
    file: str
    row: int
    text: str
    trust: float = 1.0


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
    side: Side
    bound: float
    reason: Reason
    statement: Assertion | None = None
    formula: ast.Expression | None = None
    truth: tuple[float, float] = (0.0, 1.0)
    bindings: Mapping[str, str] = field(default_factory=dict)
    premises: Sequence[Premise] = ()
    given: Given | None = None
    excepted: frozenset[tuple[str, ...]] | None = None
    all_seen: bool = True
    completes: Sequence[ast.Expression] = ()
    rules: Sequence[Assertion] = ()
    crisp: bool = False

    @property
    def atom(self) -> str:
        """The conclusion as text in the language."""
        return format_expression(self.conclusion)


@dataclass(frozen=True, slots=True)
class Proof:
    """``steps`` that prove the ``lower`` and the ``upper`` bound of ``atom``: numbers of steps."""

    atom: str
    steps: Sequence[Step]
    lower: int
    upper: int

    def facts(self, top: int) -> tuple[str, ...]:
        """The facts that a step rests on through statements; none if it is a fact."""
        found: dict[str, None] = {}
        met, waiting = {top}, [top]
        while waiting:
            number = waiting.pop()
            step = self.steps[number]
            if step.given is not None and number != top:
                found[step.given.text.removeprefix("fact ")] = None
            below = [each.step for each in step.premises if each.step not in met]
            met.update(below)
            waiting += reversed(below)
        return tuple(found)
