"""What it costs to take facts back and to state them again, beside a fresh inference.

    python -m benchmarks.changes [lubm] [smokers] [packages] [--size N] [--repeat N]

LUBM's department (`benchmarks.lubm`), ``N`` smokers with five friendships each (`benchmarks.relational`), and ``N``
packages, exposed by what they depend on: closed predicates with rules, negations, a count and a number. CPU seconds of
each change with the inference after it, medians of ``--repeat``: one fact that rules read is taken back and told again,
``new`` ones about entities that nothing names yet are told and taken back; 500 are taken back and told in one
transaction. ``inferred``: from the start, after a fact was told; ``first``: the first change, which prepares what later
ones use.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

import lnnkit
from benchmarks import lubm
from benchmarks.relational.data import smokers
from benchmarks.relational.engines.lnnkit_engine import OPEN_SMOKERS

PACKAGES = """
predicate DependsOn(package, package) closed
predicate Patched(package) closed
predicate Exposed(package) closed
number severity(package)
number risk(package)
rule severity(X) >= 7 & ~Patched(X) -> Exposed(X)
rule DependsOn(X, Y) & Exposed(Y) -> Exposed(X)
rule DependsOn(X, Y) & ~Exposed(X) -> Safe(X)
rule (count Y: DependsOn(X, Y) & Exposed(Y)) >= 2 -> Urgent(X)
axiom risk(X) = severity(X) / 10
query Safe(X)
query Urgent(X)
query risk(X)
"""
Row = tuple[str, ...]
_TOGETHER = 1000


def seconds(work: Callable[[], object]) -> float:
    """The CPU seconds that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def changed(kb: lnnkit.KnowledgeBase, name: str, rows: Sequence[Row], *, back: bool) -> float:
    """The CPU seconds to take rows back, or to tell them, and to infer."""

    def change() -> None:
        (kb.retract if back else kb.tell)(name, rows)
        kb.infer()

    return seconds(change)


def measure(title: str, kb: lnnkit.KnowledgeBase, name: str, rows: Sequence[Row], repeat: int) -> None:
    """Print a line about changes of the ``rows`` of a predicate."""
    changed(kb, name, [("somebody",) * len(rows[0])], back=False)
    kb.tell(name, [("anybody",) * len(rows[0])])
    fresh = seconds(lambda: kb.infer(max_rounds=10_000))  # another limit of rounds starts anew
    kb.infer()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    first = changed(kb, name, rows[:1], back=True) + changed(kb, name, rows[:1], back=False)
    single = rows[1 : repeat + 1]
    times = [[changed(kb, name, [row], back=back) for row in single] for back in (True, False)]
    newcomers = [(f"newcomer {number}", *row[1:]) for number, row in enumerate(single)]
    times += [[changed(kb, name, [row], back=back) for row in newcomers] for back in (False, True)]
    many = rows[repeat + 1 : repeat + 1 + _TOGETHER // 2]

    def together() -> None:
        with kb.transaction():
            kb.retract(name, many)
            kb.tell(name, many)
        kb.infer()

    back, told, new, gone = map(statistics.median, times)
    more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / memory
    print(
        f"{title:<9} {name:<12} inferred {fresh:.3f}; first {first:.3f}, taken back {back:.4f}, told {told:.4f}, "
        f"new told {new:.4f}, taken back {gone:.4f}, {2 * len(many)} changes {seconds(together):.3f}; "
        f"peak memory {more:.2f} times"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.changes", description="What changes of facts cost.")
    parser.add_argument("programs", nargs="*", choices=("lubm", "smokers", "packages", []), help="default: all")
    parser.add_argument("--size", type=int, default=100_000, help="smokers, packages (default: 100,000)")
    parser.add_argument("--repeat", type=int, default=11, help="facts that are changed one by one (default: 11)")
    options = parser.parse_args()
    if "lubm" in (options.programs or ["lubm"]):
        kb = lnnkit.loads(lubm.program(lubm.read(lubm.DATA / "tbox.tsv")), lubm.DATA)
        listed = lubm.read(lubm.DATA / "abox.tsv")
        taken = [(student, course) for student, relation, course in listed if relation == "takesCourse"]
        measure("LUBM", kb, "takesCourse", taken, options.repeat)
    if "smokers" in (options.programs or ["smokers"]):
        data, kb = smokers(options.size), lnnkit.loads(OPEN_SMOKERS)
        people = np.array([f"p{number}" for number in range(options.size)], object)
        friends = people[np.asarray(data["friends"], int)]
        kb.tell("friends", {"a": friends[:, 0], "b": friends[:, 1]})
        known = people[np.asarray(data["smokers"], int)]
        kb.tell("smokes", {"a": known})
        measure("smokers", kb, "friends", [tuple(map(str, row)) for row in friends[:2000]], options.repeat)
        measure("smokers", kb, "smokes", [(str(person),) for person in known[:2000]], options.repeat)
    if "packages" in (options.programs or ["packages"]):
        draw, kb = random.Random(0), lnnkit.loads(PACKAGES)
        names = [f"p{number}" for number in range(options.size)]
        links = [(name, names[draw.randrange(place)]) for place, name in enumerate(names) if place for _ in range(2)]
        kb.tell("DependsOn", list(dict.fromkeys(links)))
        kb.tell("severity", [(name, draw.randrange(8)) for name in names[options.size // 2 :]])
        patched = [(name,) for name in draw.sample(names[options.size // 2 :], options.size // 10)]
        kb.tell("Patched", patched)
        measure("packages", kb, "Patched", patched, options.repeat)
        measure("packages", kb, "DependsOn", draw.sample(links, 2000), options.repeat)


if __name__ == "__main__":
    main()
