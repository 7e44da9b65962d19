"""Random programs about dates that hold in a planted world: dates near month ends and leap days, stated as intervals or
not at all; comparisons of them, of days, and of completed years and months, each with a predicate that is equivalent.
"""

from __future__ import annotations

import operator
import random
from dataclasses import dataclass, field
from datetime import date

from lnnkit.syntax.dates import date_text
from tests.dates.calendar_oracle import completed

NAMES = ("a", "b")
ENTITIES = ("e0", "e1", "e2")
SIGNS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
ODD = ((1, 31), (2, 28), (2, 29), (3, 1), (4, 30), (5, 31), (12, 31), (1, 1), (8, 31), (11, 30))


@dataclass
class PlantedDates:
    """A program, and what its questions come to."""

    lines: list[str]
    truths: dict[str, bool] = field(default_factory=dict)  # of atoms
    values: dict[str, float] = field(default_factory=dict)  # of terms


@dataclass
class _Draw:
    rng: random.Random
    by: float  # of what the times of dates are multiples, in days
    world: dict[tuple[str, str], float] = field(default_factory=dict)

    def day(self) -> float:
        rng = self.rng
        year, (month, day) = rng.randint(1998, 2009), rng.choice(ODD)
        leap = year % 4 == 0 and year != 1900
        base = (date(year, month, 28 if (month, day) == (2, 29) and not leap else day) - date(1970, 1, 1)).days
        part = rng.choice((0, rng.randint(0, round(1 / self.by))))
        return base + rng.choice((0, 0, 0, -1, 1, rng.randint(-200, 200))) + self.by * part

    def date(self, depth: int = 1) -> tuple[str, dict[str, float]]:
        """A term, and its value for each entity."""
        kind = self.rng.choice(("a", "b", "a", "b", "today", "literal", "plus"))
        if kind in NAMES:
            return f"{kind}(X)", {entity: self.world[kind, entity] for entity in ENTITIES}
        if kind == "today":
            return "today", dict.fromkeys(ENTITIES, self.world["today", ""])
        if kind == "literal" or not depth:
            day = self.day()
            return f'date "{date_text(day)}"', dict.fromkeys(ENTITIES, day)
        text, values = self.date(depth - 1)
        days = self.rng.randint(0, 400)
        return f"({text} + {days} days)", {entity: value + days for entity, value in values.items()}

    def number(self) -> tuple[str, dict[str, float]]:
        (one, first), (other, second) = self.date(), self.date()
        kind = self.rng.choice(("years", "months", "years", "months", "minus"))
        if kind == "minus":
            return f"{other} - {one}", {entity: second[entity] - first[entity] for entity in ENTITIES}
        step = 12 if kind == "years" else 1
        counts = {entity: float(completed(first[entity], second[entity], step)) for entity in ENTITIES}
        return f"{kind}({one}, {other})", counts

    def comparison(self) -> tuple[str, dict[str, bool]]:
        sign = self.rng.choice(list(SIGNS))
        if self.rng.random() < 0.3:
            (left, first), (right, second) = self.date(), self.date()
        else:
            left, first = self.number()
            near = self.rng.choice(list(first.values())) + self.rng.choice((0, 0, 0, 1, -1))
            right, second = f"{near:g}", dict.fromkeys(ENTITIES, near)
        return f"{left} {sign} {right}", {entity: SIGNS[sign](first[entity], second[entity]) for entity in ENTITIES}


def planted(seed: int) -> PlantedDates:
    rng = random.Random(seed)
    draw = _Draw(rng, rng.choice((1.0, 1.0, 0.25)))
    draw.world = {(name, entity): draw.day() for name in NAMES for entity in ENTITIES} | {("today", ""): draw.day()}
    made = PlantedDates(["date a(thing)", "date b(thing)", "date today", *(f"fact Thing({e})" for e in ENTITIES)])
    made.lines.append("predicate Thing(thing) closed")
    for (name, entity), value in draw.world.items():
        atom = f"{name}({entity})" if entity else name
        made.values[atom] = value
        ends = [value - rng.choice((0, 0, 1, 20, 500)), value + rng.choice((0, 0, 1, 20, 500))]
        if draw.by < 1 and not entity:  # else it would be a day
            ends = [ends[0] - 0.125, ends[1] + 0.125]
        shown = [f'date "{date_text(end)}"' for end in ends]
        if (draw.by < 1 and not entity) or rng.random() < 0.75:
            made.lines.append(f"fact {atom} in [{', '.join(shown)}]")
    if draw.by < 1:  # then dates that are not known are no days either
        made.lines += [f'fact {name}(timed) = date "2001-05-05T06:00"' for name in NAMES]
    for place in range(rng.randint(1, 4)):
        text, truths = draw.comparison()
        made.lines.append(f"axiom Thing(X) -> (P{place}(X) <-> {text})")
        for entity, truth in truths.items():
            made.truths[f"P{place}({entity})"] = truth
            if rng.random() < 0.5:
                made.lines.append(f"fact {'' if truth else '~'}P{place}({entity})")
    text, values = draw.number()
    made.values |= {text.replace("X", entity): value for entity, value in values.items()}
    return made
