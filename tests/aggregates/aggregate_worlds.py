"""Programs with aggregates that hold in a world drawn first. Knows nothing of lnnkit.

A world gives each atom a truth and each number a value. Facts are intervals around them, or a closed predicate lists
all of which it is true; statements are drawn at random, evaluated in the world, and stated with bounds that hold there.
So no answer may exclude the world, and nothing contradicts itself. Formulas are in Lukasiewicz logic.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Formula = tuple[Any, ...]  # ("atom", name, arguments), ("not", f), ("and", f, g), ("compare", sign, term, term) ...
Truth = Fraction
PEOPLE, ITEMS = ("ann", "bob", "cleo"), ("i1", "i2", "i3", "i4")
PLACES = {"Has": (PEOPLE, ITEMS), "Bad": (ITEMS,), "P": (PEOPLE,), "Q": (PEOPLE,)}
NUMBERS = {"price": (ITEMS,), "limit": (PEOPLE,), "paid": (PEOPLE, ITEMS)}
SIGNS = (">", ">=", "<", "<=", "=")
AGGREGATES = ("count", "sum", "mean", "min", "max")


class NoValue(Exception):
    """A term has no value in the world."""


@dataclass
class World:
    """Truths and values by name and arguments."""

    values: dict[tuple[str, tuple[str, ...]], Fraction]
    people: tuple[str, ...]
    items: tuple[str, ...]

    def truth(self, formula: Formula, env: Mapping[str, str]) -> Truth:
        match formula:
            case ("atom", name, arguments):
                return self.values[name, tuple(env.get(a, a) for a in arguments)]
            case ("not", below):
                return 1 - self.truth(below, env)
            case ("and", *parts):
                return max(Fraction(0), 1 - sum((1 - self.truth(part, env) for part in parts), Fraction(0)))
            case ("or", *parts):
                return min(Fraction(1), sum((self.truth(part, env) for part in parts), Fraction(0)))
            case ("implies", one, other):
                return min(Fraction(1), 1 - self.truth(one, env) + self.truth(other, env))
            case ("exists", variable, body):
                return max(self.truth(body, {**env, variable: entity}) for entity in self.of(variable))
            case ("forall", variable, body):
                return min(self.truth(body, {**env, variable: entity}) for entity in self.of(variable))
            case ("compare", sign, left, right):
                one, other = self.value(left, env), self.value(right, env)
                holds = {">": one > other, ">=": one >= other, "<": one < other, "<=": one <= other, "=": one == other}
                return Fraction(holds[sign])
        raise ValueError(formula)

    def value(self, term: Formula, env: Mapping[str, str]) -> Fraction:
        match term:
            case ("constant", value):
                return Fraction(value)
            case ("number", name, arguments):
                return self.values[name, tuple(env.get(a, a) for a in arguments)]
            case ("+", one, other):
                return self.value(one, env) + self.value(other, env)
            case ("*", one, other):
                return self.value(one, env) * self.value(other, env)
            case (kind, variables, inner, condition) if kind in AGGREGATES:
                rows = itertools.product(*(self.of(variable) for variable in variables))
                envs = [{**env, **dict(zip(variables, row, strict=True))} for row in rows]
                truths = [self.truth(condition, inside) for inside in envs]
                if kind == "count":
                    return sum(truths, Fraction(0))
                pairs = [(t, self.value(inner, e)) for t, e in zip(truths, envs, strict=True) if t > 0]
                if kind == "sum":
                    return sum((t * v for t, v in pairs), Fraction(0))
                if not pairs:
                    raise NoValue
                if kind == "mean":
                    total = sum((t * v for t, v in pairs), Fraction(0))
                    return total / sum((t for t, _ in pairs), Fraction(0))
                return (min if kind == "min" else max)(v for _, v in pairs)
        raise ValueError(term)

    def of(self, variable: str) -> tuple[str, ...]:
        """What a variable ranges over, by its first letter."""
        return self.people if variable.startswith("X") else self.items


def text(formula: Formula) -> str:
    """A formula or term of the language, each part in parentheses."""
    match formula:
        case ("constant", value):
            return f"({float(value)!r})"
        case ("atom" | "number", name, arguments):
            return f"{name}({', '.join(arguments)})"
        case ("not", below):
            return f"~{text(below)}"
        case ("and", *parts):
            return f"({' & '.join(map(text, parts))})"
        case ("or", *parts):
            return f"({' | '.join(map(text, parts))})"
        case ("implies", one, other):
            return f"({text(one)} -> {text(other)})"
        case ("exists" | "forall" as kind, variable, body):
            return f"({kind} {variable}: {text(body)})"
        case ("compare", sign, left, right):
            return f"({text(left)} {sign} {text(right)})"
        case ("+" | "*" as sign, one, other):
            return f"({text(one)} {sign} {text(other)})"
        case ("count", variables, None, condition):
            return f"(count {', '.join(variables)}: {text(condition)})"
        case (kind, variables, inner, condition):
            return f"({kind} {', '.join(variables)}: {text(inner)} where {text(condition)})"
    raise ValueError(formula)


def grounded(formula: Any, env: Mapping[str, str]) -> Any:
    """A formula or term with entities for its free variables."""
    match formula:
        case ("atom" | "number" as kind, name, arguments):
            return kind, name, tuple(env.get(a, a) for a in arguments)
        case ("constant", _) | None:
            return formula
        case ("exists" | "forall" as kind, variable, body):
            return kind, variable, grounded(body, env)
        case (kind, variables, inner, condition) if kind in AGGREGATES:
            return kind, variables, grounded(inner, env), grounded(condition, env)
        case ("compare", sign, left, right):
            return "compare", sign, grounded(left, env), grounded(right, env)
        case (kind, *parts):
            return kind, *(grounded(part, env) for part in parts)
    raise ValueError(formula)


def free(formula: Any, bound: frozenset[str] = frozenset()) -> Iterator[str]:
    """The free variables of a formula or term."""
    match formula:
        case ("atom" | "number", _, arguments):
            yield from (a for a in arguments if a[0].isupper() and a not in bound)
        case ("exists" | "forall", variable, body):
            yield from free(body, bound | {variable})
        case (kind, variables, inner, condition) if kind in AGGREGATES:
            for part in (inner, condition):
                yield from free(part, bound | {*variables})
        case (_, *parts):
            for part in parts:
                yield from free(part, bound)


@dataclass
class Planted:
    """The text of a program without queries, its world, and what may be asked, with the variables of each."""

    text: str
    world: World
    asked: list[tuple[Formula, tuple[str, ...]]]


def planted(seed: int) -> Planted:
    """A function of the seed."""
    for attempt in range(100):
        try:
            return Planter(random.Random(f"aggregates {seed} {attempt}")).build()
        except NoValue:
            continue
    raise AssertionError(f"no program for seed {seed}")


@dataclass
class Planter:
    rng: random.Random
    asked: list[tuple[Formula, tuple[str, ...]]] = field(default_factory=list)

    def build(self) -> Planted:
        rng = self.rng
        named = {PEOPLE: PEOPLE[: rng.choice([1, 2, 3])], ITEMS: ITEMS[: rng.choice([1, 2, 3, 4])]}
        opened = {sort for sort in named if rng.random() < 0.15}  # these have an individual without a name
        people, items = (named[s] + (("unnamed",) if s in opened else ()) for s in (PEOPLE, ITEMS))
        self.crisp = rng.random() < 0.5
        closed = {name for name in ("Has", "Bad") if rng.random() < 0.6}
        self.world = World({}, people, items)
        lines = [f"sort person{' open' * (PEOPLE in opened)}", f"sort item{' open' * (ITEMS in opened)}"]
        lines += ["predicate Person(person)", "predicate Item(item)"]
        lines += [f"fact Person({name})" for name in named[PEOPLE]] + [f"fact Item({name})" for name in named[ITEMS]]
        for name, sorts in (PLACES | NUMBERS).items():
            shape = f"{name}({', '.join('person' if sort is PEOPLE else 'item' for sort in sorts)})"
            word = "number" if name in NUMBERS else "predicate"
            lines.append(f"{word} {shape}{' closed' if name in closed else ''}")
            for row in itertools.product(*(people if sort is PEOPLE else items for sort in sorts)):
                value = self._number() if name in NUMBERS else self._truth()
                if "unnamed" in row:
                    self.world.values[name, row] = Fraction(0) if name in closed else value
                    continue
                self.world.values[name, row] = value
                lines += self._facts(name, row, value, name in closed)
        for who in people:
            self.world.values["Person", (who,)] = Fraction(1) if who != "unnamed" else self._truth()
        for _ in range(rng.choice([1, 1, 2, 3])):
            lines += self._statement()
        if rng.random() < 0.5:
            lines += self._completed()
        for name, sorts in (PLACES | NUMBERS).items():
            variables = tuple("X" if sort is PEOPLE else "Y" for sort in sorts)
            self.asked.append((("number" if name in NUMBERS else "atom", name, variables), variables))
        return Planted("\n".join(lines) + "\n", self.world, self.asked)

    def _truth(self) -> Fraction:
        if self.crisp or self.rng.random() < 0.5:
            return Fraction(self.rng.random() < 0.5)
        return Fraction(self.rng.randrange(9), 8)

    def _number(self) -> Fraction:
        return Fraction(self.rng.choice([self.rng.randint(-3, 9), self.rng.randint(-12, 30) / 4]))

    def _facts(self, name: str, row: tuple[str, ...], value: Fraction, closed: bool) -> list[str]:
        """What is told of an atom: exactly, an interval, or nothing."""
        rng, atom, exact = self.rng, f"{name}({', '.join(row)})", float(value)
        chance = rng.random()
        if closed and (chance < 0.7 or value == 0):
            return [f"fact {atom} = {exact!r}"] if value else []
        if chance < 0.4:
            return [f"fact {atom} = {exact!r}"]
        if chance < 0.7:
            low, high = exact - rng.choice([0, 0.25, 1, 4]), exact + rng.choice([0, 0.25, 1, 4])
            if name in PLACES:
                low, high = max(0.0, low), min(1.0, high)
            return [f"fact {atom} in [{low!r}, {high!r}]"]
        return [f"fact {atom} in [0, 1]"] if closed else []

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _statement(self) -> list[str]:
        rng = self.rng
        formula = self._formula()
        variables = tuple(dict.fromkeys(free(formula)))
        truths = list(self._instances(formula, variables))
        low, high = rng.choice([(min(truths), 1), (0, max(truths)), (min(truths), max(truths))])
        self.asked.append((formula, variables))
        word = rng.choice(["rule", "axiom"])
        return [f"{word} {text(formula)} in [{float(low)!r}, {float(high)!r}]"] if (low, high) != (0, 1) else []

    def _completed(self) -> list[str]:
        """A closed predicate that a rule completes: it is as true as the body, and of all others false."""
        body = ("and", self._comparison("X"), ("atom", "Person", ("X",)))
        for who in self.world.people:
            self.world.values["Done", (who,)] = self.world.truth(body, {"X": who})
        self.asked.append((("atom", "Done", ("X",)), ("X",)))
        return ["predicate Done(person) closed", f"rule {text(body)} -> Done(X)"]

    def _instances(self, formula: Formula, variables: tuple[str, ...]) -> Iterator[Truth]:
        for row in itertools.product(*(self.world.of(variable) for variable in variables)):
            yield self.world.truth(formula, dict(zip(variables, row, strict=True)))

    def _formula(self) -> Formula:
        rng, chance = self.rng, self.rng.random()
        if chance < 0.4:
            return self._comparison("X")
        literal = ("atom", rng.choice(["P", "Q"]), ("X",))
        other = ("not", literal) if rng.random() < 0.3 else literal
        body = self._comparison("X")
        if rng.random() < 0.4:
            body = (rng.choice(["and", "or"]), body, ("atom", rng.choice(["P", "Q"]), ("X",)))
        formula = (rng.choice(["implies", "and", "or"]), body, other)
        guard = ("atom", "Person", ("X",))  # facts name all of them, so only their groups are wanted
        return ("implies", ("and", guard, body), other) if rng.random() < 0.4 else formula

    def _comparison(self, variable: str) -> Formula:
        rng = self.rng
        term = self._aggregate(variable)
        if rng.random() < 0.3:
            factor = ("constant", Fraction(rng.choice([2, -1, 0.5])))
            other = rng.choice([factor, ("number", "limit", (variable,))])
            term = (rng.choice(["+", "*"]), term, other)
        near = self.world.value(term, {variable: rng.choice(self.world.people[:1])})
        right: Formula = ("constant", near + rng.choice([0, 0, 1, -1, Fraction(1, 4)]))
        if Fraction(float(right[1])) != right[1]:
            right = ("constant", Fraction(round(near * 8), 8))
        if rng.random() < 0.2:
            right = ("number", "limit", (variable,))
        return ("compare", rng.choice(SIGNS), term, right)

    def _aggregate(self, variable: str, depth: int = 0) -> Formula:
        rng, kind = self.rng, self.rng.choice(AGGREGATES)
        bound = ("Y",) if rng.random() < 0.8 or depth else ("X2", "Y")
        term: Formula = rng.choice([("number", "price", ("Y",)), ("number", "paid", (variable, "Y"))])
        if rng.random() < 0.2:
            term = ("+", term, ("constant", Fraction(1)))
        return (kind, bound, None if kind == "count" else term, self._condition(variable, bound, depth))

    def _condition(self, variable: str, bound: tuple[str, ...], depth: int) -> Formula:
        rng = self.rng
        has: Formula = ("atom", "Has", (bound[0] if len(bound) == 2 else variable, "Y"))
        chance = rng.random()
        if chance < 0.4:
            return has
        if chance < 0.6:
            return ("and", has, ("not", ("atom", "Bad", ("Y",))))
        if chance < 0.75:
            return ("and", has, ("compare", rng.choice(SIGNS), ("number", "price", ("Y",)), ("constant", 3)))
        if chance < 0.85:
            return (rng.choice(["or", "implies"]), has, ("atom", "Bad", ("Y",)))
        if chance < 0.93 and not depth:
            inner = ("count", ("X3",), None, ("atom", "Has", ("X3", "Y")))
            return ("and", has, ("compare", rng.choice(SIGNS), inner, ("constant", rng.choice([1, 2]))))
        return ("and", has, ("exists", "X4", ("and", ("atom", "P", ("X4",)), ("atom", "Has", ("X4", "Y")))))
