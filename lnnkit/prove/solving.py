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


def fraction(value: Z3) -> Fraction:
    """A Z3 number as a fraction; an algebraic one is rounded to 20 digits."""
    value = value.approx(20) if hasattr(value, "approx") else value
    return Fraction(value.as_string())
