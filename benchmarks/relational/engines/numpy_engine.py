"""Each workload by hand in numpy, specialised to it: what the memory traffic alone costs, and the answers to expect.

Closures are semi-naive over dense bitmaps of all pairs. ``instances`` counts what any engine would have to look at:
rule instances with every operand known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.relational.data import BODY, Data, Ids, Values
from benchmarks.relational.workloads import Checks

TOLERANCE = 1e-9
DENSE = 100  # deltas above one pair in so many are made distinct by a bitmap


class Lists:
    """For each key its values: rows sorted by key, with offsets."""

    def __init__(self, keys: Ids, values: Ids, n: int) -> None:
        self.counts = np.bincount(keys, minlength=n)
        self.starts = np.cumsum(self.counts) - self.counts
        self.values = values[np.argsort(keys, kind="stable")]

    def expand(self, keys: Ids) -> tuple[Ids, Ids]:
        """The position in ``keys`` and the value, for every value of every key."""
        counts = self.counts[keys]
        ends = np.cumsum(counts)
        rows = np.repeat(np.arange(len(keys)), counts)
        return rows, self.values[np.arange(len(rows)) - np.repeat(ends - counts - self.starts[keys], counts)]


class Pairs:
    """The least relation that holds the first pairs and the next ones of each pair that it holds."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.seen = np.zeros(n * n, dtype=np.bool_)
        self.instances = 0

    def close(self, first: Ids, next_of: Callable[[Ids, Ids], Ids]) -> None:
        found = first
        while True:
            self.instances += len(found)
            delta = self.fresh(found)
            if not len(delta):
                return
            found = next_of(*np.divmod(delta, self.n))

    def fresh(self, keys: Ids) -> Ids:
        keys = keys[~self.seen[keys]]
        if len(keys) * DENSE > len(self.seen):
            new = np.zeros(len(self.seen), dtype=np.bool_)
            new[keys] = True
            self.seen |= new
            return np.flatnonzero(new)
        keys = np.unique(keys)
        self.seen[keys] = True
        return keys

    def checks(self) -> Checks:
        pairs = int(self.seen.sum())
        return {"answers": pairs, "lower": float(pairs), "contradictions": 0, "instances": self.instances}


class Closure:
    def __init__(self, data: Data) -> None:
        self.edges, self.n = data.ids("edge"), data.size

    def infer(self) -> None:
        self.pairs = Pairs(self.n)
        edges = Lists(self.edges[:, 0], self.edges[:, 1], self.n)

        def longer(x: Ids, y: Ids) -> Ids:
            rows, z = edges.expand(y)
            return x[rows] * self.n + z

        self.pairs.close(self.edges[:, 0] * self.n + self.edges[:, 1], longer)

    def read(self) -> Checks:
        return self.pairs.checks()


class Generation:
    def __init__(self, data: Data) -> None:
        self.parent, self.n = data.ids("parent"), data.size

    def infer(self) -> None:
        self.pairs = Pairs(self.n)
        children = Lists(self.parent[:, 1], self.parent[:, 0], self.n)

        def below(x: Ids, y: Ids) -> Ids:
            rows, first = children.expand(x)
            pairs, second = children.expand(y[rows])
            return first[pairs] * self.n + second

        everyone = np.arange(self.n)
        self.pairs.close(below(everyone, everyone), below)

    def read(self) -> Checks:
        return self.pairs.checks()


class Smokers:
    """Lower bounds only: the greatest over the friends of a person, edges sorted by head."""

    def __init__(self, data: Data) -> None:
        friends = data.ids("friends")
        self.friends = friends[np.argsort(friends[:, 1], kind="stable")]
        self.known, self.n = data.ids("smokers"), data.size

    def infer(self) -> None:
        source = np.ascontiguousarray(self.friends[:, 0])
        heads, starts = np.unique(self.friends[:, 1], return_index=True)
        self.lower = np.zeros(self.n)
        self.lower[self.known] = 1
        while True:
            reached = np.maximum.reduceat(self.lower[source], starts) - 0.1
            more = reached > self.lower[heads] + TOLERANCE
            if not more.any():
                return
            self.lower[heads[more]] = reached[more]

    def read(self) -> Checks:
        reached = self.lower > TOLERANCE
        sources = int(reached[self.friends[:, 0]].sum())
        total = float(self.lower.sum())
        return {"answers": int(reached.sum()), "lower": total, "contradictions": 0, "instances": sources}


class OpenSmokers:
    """Both bounds, all friendships in each round: lower bounds go along them, upper bounds against them. A friendship
    of a smoker with a non-smoker is arrested, and so is a person whose bounds cross; that one is read as unknown."""

    def __init__(self, data: Data) -> None:
        self.friends, self.n = data.ids("friends"), data.size
        self.smokers, self.others = data.ids("smokers"), data.ids("non_smokers")

    def infer(self) -> None:
        x, y = self.friends[:, 0], self.friends[:, 1]
        self.lower, self.upper = np.zeros(self.n), np.ones(self.n)
        self.lower[self.smokers], self.upper[self.others] = 1, 0
        self.crossed = np.zeros(self.n, dtype=np.bool_)
        self.against = np.zeros(len(x), dtype=np.bool_)
        while True:
            lower, upper = np.where(self.crossed, 0, self.lower), np.where(self.crossed, 1, self.upper)
            against = self.against | (lower[x] - upper[y] > 0.1 + TOLERANCE)
            up, down = lower.copy(), upper.copy()
            np.maximum.at(up, y[~against], lower[x[~against]] - 0.1)
            np.minimum.at(down, x[~against], upper[y[~against]] + 0.1)
            moved = ~self.crossed & ((up > lower + TOLERANCE) | (down < upper - TOLERANCE))
            if not moved.any() and (against == self.against).all():
                return
            self.lower[moved], self.upper[moved] = up[moved], down[moved]
            self.crossed |= moved & (self.lower > self.upper + TOLERANCE)
            self.against = against

    def read(self) -> Checks:
        known = (self.lower > TOLERANCE) | (self.upper < 1 - TOLERANCE)
        return {
            "answers": int(known.sum()),
            "lower": float(self.lower[known].sum()),
            "upper": float(self.upper[known].sum()),
            "contradictions": int(self.crossed.sum() + self.against.sum()),
            "instances": int((known[self.friends[:, 0]] | known[self.friends[:, 1]]).sum()),
        }


class Table:
    """Both ends of the conjunction, column by column in place; the way down is left to `read`."""

    def __init__(self, data: Data) -> None:
        names = [f"p{i}" for i in range(BODY)]
        self.lowers = [data.values(f"{name}_lower") for name in names]
        self.uppers = [data.values(f"{name}_upper") for name in names]
        self.capped, self.cap = data.ids("q_row"), data.values("q_upper")

    def infer(self) -> None:
        self.lower, self.upper = _conjunction(self.lowers), _conjunction(self.uppers)

    def read(self) -> Checks:
        cap = np.ones(len(self.lower))
        cap[self.capped] = self.cap
        others = sum((1 - lower for lower in self.lowers[1:]), np.zeros(len(cap)))
        operand = np.where(cap < 1, np.minimum(self.uppers[0], cap + others), self.uppers[0])
        return {
            "rows": int((self.lower > TOLERANCE).sum()),
            "lower": float(self.lower.sum()),
            "upper": float(self.upper.sum()),
            "operand upper": float(operand.sum()),
            "contradictions": 0,
            "instances": len(cap),
        }


class Eligible:
    """The truth of the rule's body, which is that of its head; every number is known, so nothing goes down."""

    def __init__(self, data: Data) -> None:
        self.income, self.debt = data.values("income"), data.values("debt")
        self.household, self.age = data.values("household"), data.values("age")

    def infer(self) -> None:
        self.eligible = ((self.income - self.debt) / self.household > 500) & (self.age >= 18)

    def read(self) -> Checks:
        count = float(self.eligible.sum())
        return {"answers": count, "lower": count, "contradictions": 0, "instances": len(self.eligible)}


class Held:
    """The greatest alarm once, and each item with it."""

    def __init__(self, data: Data) -> None:
        self.alarm, self.item = data.values("alarm"), data.values("item")

    def infer(self) -> None:
        self.hold = np.maximum(self.item + self.alarm.max() - 1, 0)

    def read(self) -> Checks:
        held = self.hold > TOLERANCE
        total = float(self.hold[held].sum())
        return {"answers": int(held.sum()), "lower": total, "contradictions": 0, "instances": 2 * len(held)}


def _conjunction(columns: list[Values]) -> Values:
    total = columns[0] + columns[1]
    for column in columns[2:]:
        total += column
    total -= len(columns) - 1
    return np.maximum(total, 0, out=total)


class Paths:
    """Bellman and Ford's algorithm: all edges, until nothing is shorter."""

    def __init__(self, data: Data) -> None:
        self.source, self.target, self.weight = data.ids("source"), data.ids("target"), data.values("weight")
        self.nodes = int(data.ids("nodes"))

    def infer(self) -> None:
        self.distance = np.full(self.nodes, np.inf)
        self.distance[0] = 0.0
        while True:
            shorter = self.distance.copy()
            np.minimum.at(shorter, self.target, self.distance[self.source] + self.weight)
            if np.array_equal(shorter, self.distance):
                return
            self.distance = shorter

    def read(self) -> Checks:
        reached = self.distance[np.isfinite(self.distance)]
        return {"answers": len(reached), "lower": float(reached.sum())}


RUNS: Mapping[str, Callable[[Data], Closure | Generation | Smokers | OpenSmokers | Table | Eligible | Held | Paths]] = {
    "closure": Closure,
    "chain": Closure,
    "smokers": Smokers,
    "smokers-open": OpenSmokers,
    "table": Table,
    "eligible": Eligible,
    "held": Held,
    "paths": Paths,
    "generation": Generation,
    "ibm-smokers": OpenSmokers,
    "ibm-chain": Closure,
    "ibm-table": Table,
}
