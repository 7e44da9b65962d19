"""A solver for the constraints of an encoding, each of which holds where it is assumed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from lnnkit.prove.encoding.graded_encoding import GradedEncoding
from lnnkit.prove.solving import Z3, SolverStatus, checked
from lnnkit.time_limit import Deadline

T = TypeVar("T")


class MarkedSolver(Generic[T]):
    """Constraints of an ``encoding``: a mark implies each of them, and ``marks`` has those of items."""

    def __init__(self, encoding: GradedEncoding) -> None:
        self.marks: dict[T, Z3] = {}
        self._items: dict[str, T] = {}
        self._encoding = encoding
        self._solver = encoding.z3.Solver(ctx=encoding.context)
        self._count = 0

    def prefer_false(self) -> None:
        """Try false first for every proposition."""
        self._solver.set("phase_selection", 0)

    def mark(self, said: Z3 | bool, item: T | None = None) -> Z3:
        """The mark of a constraint, which may be that of an item."""
        z3 = self._encoding.z3
        self._count += 1
        mark = z3.Bool(f"?mark {self._count}", self._encoding.context)
        if item is not None:
            self.marks[item] = mark
            self._items[mark.decl().name()] = item
        self._solver.add(z3.Implies(mark, self._encoding.lifted(said)))
        return mark

    def check(self, deadline: Deadline, assumed: Iterable[Z3]) -> SolverStatus:
        """Whether the marked constraints that are ``assumed`` can hold together. Raises as `checked` does."""
        self._solver.add(self._encoding.drained())
        return checked(self._encoding.z3, self._solver, deadline, *assumed)

    def model(self) -> Z3:
        """The model that the last check found."""
        return self._solver.model()

    def core(self) -> tuple[set[str], list[T]]:
        """The names of the propositions on which the last check failed, and the items among them."""
        z3 = self._encoding.z3
        core = [literal.arg(0) if z3.is_not(literal) else literal for literal in self._solver.unsat_core()]
        names = {literal.decl().name(): None for literal in core}
        return {*names}, [self._items[name] for name in names if name in self._items]
