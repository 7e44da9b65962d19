"""Closed numbers that rules derive, by plain Python: a world gives each listed atom a truth and a number in its bounds,
and the least solution is found by passing over all candidates again and again, as Bellman and Ford do."""

import itertools
import math
import random

INF = math.inf

# the term of a candidate by what it reads, and whether it rises with the weight too; None where it has no value
TERMS = {
    "{d} + w(X, Y)": (lambda d, w: d + w, 1),
    "{d} - w(X, Y)": (lambda d, w: d - w, -1),
    "w(X, Y) + 0.5 * {d}": (lambda d, w: 0.5 * d + w, 1),
    "min({d}, w(X, Y))": (min, 1),
    "max({d}, w(X, Y))": (max, 1),
    "max({d} + 1, w(X, Y))": (lambda d, w: max(d + 1, w), 1),
    "{d} + sqrt(w(X, Y))": (lambda d, w: None if w < 0 else d + math.sqrt(w), 1),
    "{d} * abs(w(X, Y))": (lambda d, w: d * abs(w), None),
    "{d} + 1 / w(X, Y)": (lambda d, w: d + 1 / w if w else None, None),
    "{d} - -2 * w(X, Y)": (lambda d, w: d + 2 * w, 1),
}


class Drawn:
    """A program with one or two numbers that are completed together: its text, and its worlds."""

    def __init__(self, rng: random.Random) -> None:
        self.names = ["a", "b", "c", "d", "e"][: rng.randint(2, 5)]
        self.kind = rng.choice(["min", "max"])
        self.heads = ["p", "q"][: rng.choice([1, 1, 1, 2])]
        pairs = list(itertools.product(self.names, self.names))
        self.bounds: dict[tuple[str, tuple[str, ...]], tuple[float, float]] = {}
        signs = [(0, 4), (0, 4), (1, 6), (-2, 4)]
        least, most = rng.choice(signs)
        crisp = rng.random() < 0.3
        for pair in pairs:
            if rng.random() < 0.5:
                low = rng.choice([0.0, 0.0, 0.2, 1.0])
                self.bounds["E", pair] = (1.0, 1.0) if crisp else (low, max(low, rng.choice([0.0, 0.5, 1.0])))
            if rng.random() < 0.7:
                low = float(rng.randint(least, most))
                self.bounds["w", pair] = low, low if crisp else low + rng.choice([0, 0, 1, 3])
        for head in self.heads:
            for name in self.names:
                if rng.random() < 0.35:
                    low = float(rng.randint(0, 5))
                    self.bounds[head, (name,)] = low, low + rng.choice([0, 0, 2])
        self.rules = [  # the head, what it reads, the term, and whether E is a condition
            (head, rng.choice(self.heads), rng.choice(list(TERMS)), rng.random() < 0.7)
            for head in self.heads
            for _ in range(rng.choice([1, 1, 2]))
        ]
        lines = [
            "predicate E(n, n) closed",
            "number w(n, n) closed",
            *(f"number {head}(n) closed" for head in self.heads),
        ]
        lines += [
            f"fact {what}({', '.join(about)}) in [{low}, {high}]" for (what, about), (low, high) in self.bounds.items()
        ]
        lines += [f"fact Named({name})" for name in self.names]
        for head, read, term, where in self.rules:
            body = f"{self.kind} X: {term.format(d=f'{read}(X)')}{' where E(X, Y)' if where else ''}"
            lines.append(f"rule {head}(Y) = ({body})")
        self.text = "\n".join(lines)

    @property
    def single(self) -> bool:
        """Whether the ends are those of two worlds: every term rises or falls with its weight everywhere, and no weight
        stands in several rules."""
        return len(self.rules) == 1 and TERMS[self.rules[0][2]][1] is not None and "sqrt" not in self.rules[0][2]

    def world(self, rng: random.Random) -> dict[tuple[str, tuple[str, ...]], float]:
        """A random world; ends are likely."""
        return {key: rng.choice([low, high, rng.uniform(low, high)]) for key, (low, high) in self.bounds.items()}

    def extreme(self, better: bool) -> dict[tuple[str, tuple[str, ...]], float]:
        """The world in which all numbers are as good (for a ``min`` as small) as they can be, or as bad."""
        low = better == (self.kind == "min")
        slope = TERMS[self.rules[0][2]][1] or 1
        ends = {}
        for (what, about), (least, most) in self.bounds.items():
            if what == "E":
                ends[what, about] = most if better else least
            elif what == "w":
                ends[what, about] = least if low == (slope > 0) else most
            else:
                ends[what, about] = least if low else most
        return ends

    def solved(self, world: dict[tuple[str, tuple[str, ...]], float]) -> dict[tuple[str, str], float] | None:
        """The least solution; None where passes improve it without end."""
        better = min if self.kind == "min" else max
        found = {(what, about[0]): value for (what, about), value in world.items() if what in self.heads}
        for _ in range(300):
            before = dict(found)
            for (head, read, term, where), x, y in itertools.product(self.rules, self.names, self.names):
                there = not where or world.get(("E", (x, y)), 0.0) > 0
                weight = world.get(("w", (x, y)))
                if there and weight is not None and (read, x) in before:
                    value = TERMS[term][0](before[read, x], weight)
                    if value is not None:
                        known = found.get((head, y))
                        found[head, y] = value if known is None else better(known, value)
            if all(
                key in before and abs(before[key] - value) <= 1e-13 * max(1, abs(value)) for key, value in found.items()
            ):
                return found
        return None
