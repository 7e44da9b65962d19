"""``python -m tests.soak --minutes 10 --seed N``: random programs against all checks, until the time is up.

Whatever is wrong is printed with the least program that still shows it and the command that repeats it; the exit
status is 1 then.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import lnnkit
from tests.oracle import Program
from tests.programs import to_text
from tests.soak.cases import KINDS, Case, case, names
from tests.soak.checks import Check
from tests.soak.shrinking import shrunken

LIMIT = 120  # CPU seconds for one check, beyond which the program counts as a fault itself


class _TooLong(Exception):
    pass


def main(arguments: list[str] | None = None) -> int:
    """The command: 1 where a fault was found, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Random programs against all checks.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long, 10 unless given")
    parser.add_argument("--seed", type=int, default=0, help="which programs, 0 unless given")
    parser.add_argument("--case", action="append", help=f"this case alone, KIND:SEED of {', '.join(KINDS)}")
    parser.add_argument("--shrink", type=float, default=120.0, help="seconds to look for a smaller program, 120")
    given = parser.parse_args(arguments)
    warnings.simplefilter("error")
    end = time.monotonic() + 60 * given.minutes
    cases = map(case, given.case) if given.case else _until(end, map(case, names(given.seed)))
    return soak(cases, given.shrink)


def _until(end: float, cases: Iterable[Case]) -> Iterator[Case]:
    for each in cases:
        if time.monotonic() > end:
            return
        yield each


def soak(cases: Iterable[Case], shrink: float) -> int:
    """Runs all checks of all cases and prints what they find, and at the end what was run."""
    ran: Counter[str] = Counter()
    faults, slowest = 0, (0.0, "")
    for each in cases:
        start = time.process_time()
        for name, check in each.checks.items():
            kind, wrong = outcome(check, each.program)
            if kind:
                faults += 1
                _report(each, name, kind, wrong, shrink)
        slowest = max(slowest, (time.process_time() - start, each.name))
        ran[each.name.partition(":")[0]] += 1
    shown = ", ".join(f"{count} {kind}" for kind, count in sorted(ran.items()))
    print(f"{sum(ran.values())} programs ({shown}), {faults} faults; {slowest[1]} took longest, {slowest[0]:.1f} CPU s")
    return int(faults > 0)


def outcome(check: Check, program: Program) -> tuple[str, list[str]]:
    """The kind of a fault and what is wrong, in words; the kind is empty where nothing is.

    Faults of one kind are taken for the same when a program shrinks: the check finds something, lnnkit refuses the
    program (with the codes of its findings), something raises (with its type), or it takes too long.
    """
    try:
        with _limited(LIMIT):
            wrong = check(program)
    except lnnkit.Error as error:
        return f"refused: {[finding.code for finding in error.diagnostics]}", [str(error)]
    except _TooLong:
        return "too long", [f"it takes more than {LIMIT} CPU seconds"]
    except Exception as error:
        return type(error).__name__, [f"{type(error).__name__}: {error}"]
    return ("wrong" if wrong else ""), wrong


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _report(found: Case, name: str, kind: str, wrong: list[str], shrink: float) -> None:
    check = found.checks[name]

    def fails(program: Program) -> bool:
        return outcome(check, program)[0] == kind

    least = shrunken(found.program, fails, shrink)
    print(f"{found.name} is not {name!r}:\n  " + "\n  ".join(wrong[:5]))
    if least is not found.program:
        print("the least program:\n  " + "\n  ".join(outcome(check, least)[1][:5]))
    print("".join(f"    {line}\n" for line in to_text(least).splitlines()), end="")
    print(f"to repeat it: python -m tests.soak --case {found.name}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main())
