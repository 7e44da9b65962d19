"""A proof as a value: the steps that give an atom its bounds, down to facts. It knows no engine and no tensor.

Steps refer to each other by number, so that what several steps rest on stands there once. They run in no circle;
only upper bounds of completed predicates may rest on each other.
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
    "fact",  # a fact of the program or of a table says so
    "closed",  # no fact says more, and the predicate is closed
    "open",  # nothing is said: 0 and 1 bound everything
    "stated",  # a statement gives the whole formula this truth
    "statement",  # an instance of a rule or axiom says so
    "neuron",  # a formula and its operands bound each other
    "completed",  # no rule makes more of a closed predicate
    "exact",  # all its premises together leave no other truth: the solver's, by `lnnkit.prove`
    "contradiction",  # of an instance: no truth of its atoms can satisfy it
]


@dataclass(frozen=True, slots=True)
class Given:
    """A fact: its bounds, the file and row that it stands in (for a file of the language, the line), and how far it is
    trusted, from 0 to 1."""

    lower: float
    upper: float
    file: str
    row: int
    text: str
    trust: float = 1.0


@dataclass(frozen=True, slots=True)
class Premise:
    """What a step reads: the number of the step that it rests on, and the weight of the operand that it bounds."""

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
        """The conclusion as a person would write it."""
        return format_expression(self.conclusion)


@dataclass(frozen=True, slots=True)
class Proof:
    """``steps`` that prove the ``lower`` and the ``upper`` bound of ``atom``: numbers of steps."""

    atom: str
    steps: Sequence[Step]
    lower: int
    upper: int
