"""Z3, imported on first use, with deadlines that are enforced, and with marks on constraints."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import count
from typing import Any, Generic, Literal, TypeVar

from lnnkit.time_limit import Deadline, TimedOut

Z3 = Any  # the module, its solvers and its expressions: they have no types
SolverStatus = Literal["sat", "unsat", "unknown"]
T = TypeVar("T")


class Interrupted(Exception):
    """Ctrl-C while the solver worked."""


def solver_module() -> Z3:
    """The module ``z3``. Raises ``ImportError`` if the package z3-solver is not installed."""
    import z3

    return z3


def checked(solver: Z3, deadline: Deadline, *assumptions: Z3) -> SolverStatus:
    """Whether the solver's assertions are satisfiable under the assumptions; unknown if it cannot decide in time.
    Raises `Interrupted`, and `TimedOut` if the solver ignored its limit and had to be stopped."""
    z3, left, stopped = solver_module(), deadline.left, threading.Event()
    if left == 0.0:
        return "unknown"

    def stop() -> None:
        stopped.set()
        solver.ctx.interrupt()

    timer = threading.Timer((left or 0.0) + 0.02, stop)
    timer.daemon = True
    if left is not None:
        solver.set("timeout", max(1, int(900 * left)))  # it stops a little late
        timer.start()
    try:
        status = solver.check(*assumptions)
        interrupted = status == z3.unknown and "interrupted" in solver.reason_unknown()
    except z3.Z3Exception as problem:
        status, interrupted = z3.unknown, True
        if "interrupted" not in str(problem) and "canceled" not in str(problem):
            raise
    finally:
        if left is not None:
            timer.cancel()
            timer.join()
    if interrupted and deadline.left != 0.0:
        raise Interrupted
    if stopped.is_set():
        raise TimedOut
    return str(status)  # pyright: ignore[reportReturnType]  # one of the three


class MarkedSolver(Generic[T]):
    """A solver for constraints, each of which holds where its mark is assumed: items' ``marks``. Before each check it
    gets the ``further`` ones, which always hold."""

    def __init__(self, context: Z3, further: Callable[[], list[Z3]], *, false_first: bool = False) -> None:
        self.marks: dict[T, Z3] = {}
        self._items: dict[str, T] = {}
        self._numbers = count(1)
        self._z3, self._context, self._further = solver_module(), context, further
        self._solver = self._z3.Solver(ctx=context)
        if false_first:  # for every proposition
            self._solver.set("phase_selection", 0)

    def mark(self, said: Z3 | bool, item: T | None = None) -> Z3:
        """The mark of a constraint, which may be that of an item."""
        name = f"?mark {next(self._numbers)}"
        mark = self._z3.Bool(name, self._context)
        if item is not None:
            self.marks[item], self._items[name] = mark, item
        self._solver.add(self._z3.Implies(mark, said))
        return mark

    def check(self, deadline: Deadline, assumed: Iterable[Z3]) -> SolverStatus:
        """Whether the marked constraints that are ``assumed`` can hold together. Raises as `checked` does."""
        self._solver.add(self._further())
        return checked(self._solver, deadline, *assumed)

    def model(self) -> Z3:
        """The model that the last check found."""
        return self._solver.model()

    def core(self) -> tuple[set[str], list[T]]:
        """The names of the propositions on which the last check failed, and the items among them."""
        core = [literal.arg(0) if self._z3.is_not(literal) else literal for literal in self._solver.unsat_core()]
        names = dict.fromkeys(literal.decl().name() for literal in core)
        return {*names}, [self._items[name] for name in names if name in self._items]


def fraction(value: Z3) -> Fraction:
    """A Z3 number as a fraction; an algebraic one is rounded to 20 digits."""
    value = value.approx(20) if hasattr(value, "approx") else value
    return Fraction(value.as_string())
