"""Z3, imported on first use, with deadlines that are enforced."""

from __future__ import annotations

import threading
from fractions import Fraction
from typing import Any, Literal

from lnnkit.time_limit import Deadline, TimedOut

Z3 = Any  # the module, its solvers and its expressions: they have no types
SolverStatus = Literal["sat", "unsat", "unknown"]


class NoSolver(Exception):
    """The package z3-solver is not installed."""


class Interrupted(Exception):
    """Ctrl-C while the solver worked."""


def solver_module() -> Z3:
    """The module ``z3``. Raises `NoSolver`."""
    try:
        import z3
    except ImportError:
        raise NoSolver from None
    return z3


def checked(z3: Z3, solver: Z3, deadline: Deadline, *assumptions: Z3) -> SolverStatus:
    """Whether the solver's assertions are satisfiable under the assumptions; unknown if it cannot decide in time.
    Raises `Interrupted`, and `TimedOut` if the solver ignored its limit and had to be stopped."""
    left = deadline.left
    if left == 0.0:
        return "unknown"
    if left is None:
        return _asked(z3, solver, deadline, assumptions)
    solver.set("timeout", max(1, int(900 * left)))  # it stops a little late
    stopped = threading.Event()

    def stop() -> None:
        stopped.set()
        solver.ctx.interrupt()

    timer = threading.Timer(left + 0.02, stop)
    timer.daemon = True
    timer.start()
    try:
        status = _asked(z3, solver, deadline, assumptions)
    finally:
        timer.cancel()
        timer.join()
    if stopped.is_set():
        raise TimedOut
    return status


def _asked(z3: Z3, solver: Z3, deadline: Deadline, assumptions: tuple[Z3, ...]) -> SolverStatus:
    try:
        status = solver.check(*assumptions)
    except z3.Z3Exception as problem:
        if "interrupted" not in str(problem) and "canceled" not in str(problem):
            raise
        return _stopped(deadline)
    if status == z3.unknown and "interrupted" in solver.reason_unknown():
        return _stopped(deadline)
    return str(status)  # pyright: ignore[reportReturnType]  # one of the three


def _stopped(deadline: Deadline) -> SolverStatus:
    left = deadline.left
    if left is None or left > 0.0:
        raise Interrupted
    return "unknown"


def fraction(value: Z3) -> Fraction:
    """A Z3 number as a fraction; an algebraic one is rounded to 20 digits."""
    if hasattr(value, "as_fraction"):
        return Fraction(value.as_fraction())
    if hasattr(value, "approx"):
        return Fraction(value.approx(20).as_fraction())
    return Fraction(str(value))
