"""Work against size: lnnkit's seconds beside the number of instances that any engine would have to look at."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from benchmarks.relational.race import Result
from benchmarks.relational.report import seconds
from benchmarks.relational.workloads import WORKLOADS


@dataclass(frozen=True)
class Point:
    """``instances`` of rules with every operand known, as the numpy engine counts them; else the answers."""

    workload: str
    size: int
    instances: int
    answers: int
    cpu: float

    @property
    def rate(self) -> float:
        """Seconds for a million instances."""
        return 1e6 * self.cpu / max(self.instances, 1)


def points(results: Sequence[Result]) -> list[Point]:
    """One for each size that lnnkit finished."""
    found: list[Point] = []
    counted = {(r.workload, r.size): r.checks.get("instances") for r in results if r.engine == "numpy"}
    for result in results:
        if result.engine == "lnnkit" and result.state == "done":
            answers = result.checks.get("answers", result.checks.get("rows", 0))
            instances = counted.get((result.workload, result.size)) or answers
            found.append(Point(result.workload, result.size, int(instances), int(answers), result.cpu))
    return found


def slope(one: Point, two: Point) -> float:
    """The power of the instances by which seconds grow from one point to the other; 1 is linear."""
    instances = math.log(two.instances / one.instances) if one.instances != two.instances else math.nan
    return math.log(two.cpu / one.cpu) / instances


def text(found: Sequence[Point]) -> Iterator[str]:
    """A table for each workload, and the power by which it grew over its last step."""
    for key, group in groupby(found, key=lambda point: point.workload):
        same = list(group)
        workload = WORKLOADS[key]
        yield f"\n{workload.group} {workload.title} ({workload.unit}) [{key}]"
        yield f"  {'size':>10}  {'instances':>12}  {'answers':>12}  {'CPU s':>8}  {'s per million':>13}  {'power':>5}"
        for before, point in zip([None, *same], same, strict=False):
            power = f"{slope(before, point):.2f}" if before else ""
            yield (
                f"  {point.size:>10,}  {point.instances:>12,}  {point.answers:>12,}  {seconds(point.cpu):>8}"
                f"  {point.rate:>13.2f}  {power:>5}"
            )


def as_object(found: Sequence[Point]) -> list[dict[str, object]]:
    return [{**vars(point), "seconds_per_million": point.rate} for point in found]
