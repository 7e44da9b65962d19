"""Formulas to be found again: those of the Feynman lectures in the data folder, and random ones of the same kinds."""

from __future__ import annotations

import ast
import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_BEYOND = ("sin", "cos", "tan", "exp", "ln", "log")
"""Functions that are no arithmetic: formulas with one of them are left out."""


@dataclass(frozen=True)
class Law:
    """``text`` is Python arithmetic with ``sqrt``, ``abs``, ``pi`` and ``A if L > R else B`` over ``names``; each is
    drawn uniformly from its range."""

    name: str
    text: str
    names: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]

    def draw(self, rows: int, generator: np.random.Generator, *, wider: float = 0.0) -> np.ndarray:
        """``[rows, names]``; the upper ends of the ranges are raised by a multiple of their width."""
        return np.stack([generator.uniform(low, high + wider * (high - low), rows) for low, high in self.ranges], 1)

    def value(self, table: np.ndarray) -> np.ndarray:
        """``[rows, names or more] -> [rows]``; nan where the law has no value."""
        columns = {name: table[:, place] for place, name in enumerate(self.names)}
        with np.errstate(all="ignore"):
            found = np.asarray(_value(ast.parse(self.text, mode="eval").body, columns), dtype=float)
        return np.where(np.isfinite(found), found, np.nan)

    @property
    def is_monomial(self) -> bool:
        return not any(isinstance(each, ast.Add | ast.Sub) for each in ast.walk(ast.parse(self.text, mode="eval")))


def _value(node: ast.expr, columns: dict[str, np.ndarray]) -> np.ndarray | float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.Name(id="pi"):
            return np.pi
        case ast.Name(id=name):
            return columns[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, columns)
        case ast.Call(func=ast.Name(id="sqrt"), args=[operand]):
            return np.sqrt(_value(operand, columns))
        case ast.Call(func=ast.Name(id="abs"), args=[operand]):
            return np.abs(_value(operand, columns))
        case ast.IfExp(test=ast.Compare(left=one, ops=[ast.Gt()], comparators=[other]), body=above, orelse=below):
            return np.where(
                _value(one, columns) > _value(other, columns), _value(above, columns), _value(below, columns)
            )
        case ast.BinOp(left=one, op=operator, right=other):
            left, right = _value(one, columns), _value(other, columns)
            match operator:
                case ast.Add():
                    return left + right
                case ast.Sub():
                    return left - right
                case ast.Mult():
                    return left * right
                case ast.Div():
                    return left / right
                case ast.Pow():
                    return left**right
    raise ValueError(f"{ast.dump(node)} is no arithmetic")


def feynman(folder: Path | None = None) -> list[Law]:
    """The formulas without sine, exponential and logarithm; none where the data folder is absent."""
    root = folder or Path(os.environ.get("LNNKIT_DATA", Path(__file__).parents[3] / "shared" / "data"))
    path = root / "feynman" / "equations.csv"
    if not path.is_file():
        return []
    found: list[Law] = []
    with path.open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            text = line["Formula"]
            if any(f"{each}(" in text for each in _BEYOND):
                continue
            places = [place for place in range(1, 11) if line[f"v{place}_name"]]
            names = tuple(line[f"v{place}_name"] for place in places)
            ranges = tuple((float(line[f"v{place}_low"]), float(line[f"v{place}_high"])) for place in places)
            found.append(Law(line["Filename"], text, names, ranges))
    return found


KINDS = ("monomial", "sum", "quotient", "root", "shared root", "difference", "cases")


def random_law(kind: str, seed: int) -> Law:
    """A formula of one of the ``KINDS`` with two to five columns and simple constants, drawn until it is finite and
    varies over its ranges."""
    generator = np.random.default_rng([KINDS.index(kind), seed])
    while True:
        width = int(generator.integers(2, 6))
        names = tuple("abcde"[:width])
        ranges = tuple(_range(generator) for _ in names)
        text = _cases(names, ranges, generator) if kind == "cases" else "*".join(_drawn(kind, names, generator))
        law = Law(f"{kind} {seed}", text, names, ranges)
        values = law.value(law.draw(2000, np.random.default_rng(seed), wider=0.5))
        inside = law.value(law.draw(2000, np.random.default_rng(seed)))
        used = all(f"{name}" in text for name in names)
        if used and np.isfinite(values).all() and inside.std() > 1e-9 and np.abs(inside).max() < 200 * inside.std():
            return law


def _range(generator: np.random.Generator) -> tuple[float, float]:
    low = float(generator.choice([0.5, 1.0, 2.0]))
    return low, low + float(generator.choice([1.0, 2.0, 4.0]))


def _drawn(kind: str, names: Sequence[str], generator: np.random.Generator) -> Iterator[str]:
    coefficients = ["1", "1", "2", "3", "1/2", "3/2", "1/3", "pi", "4*pi", "1/(2*pi)", "0.7", "1.25"]
    yield f"({generator.choice(coefficients)})"
    order = [names[int(place)] for place in generator.permutation(len(names))]
    cut = int(generator.integers(1, len(order))) if len(order) > 1 else 1
    front, back = order[:cut], order[cut:]
    if kind == "monomial":
        yield _monomial(order, generator)
    elif kind == "sum":
        yield f"({_sum(order, generator, int(generator.integers(2, 4)))})"
    elif kind == "quotient":
        yield f"({_sum(order, generator, 2)})/({_sum(order[-2:], generator, 2, plus=True)})"
    elif kind == "root":
        yield f"{_monomial(front, generator)}*sqrt({_sum(back, generator, 2, plus=True)})"
    elif kind == "shared root":
        yield f"{_monomial(order, generator)}/sqrt({_sum(order[-2:], generator, 2, plus=True)})"
    else:
        yield f"{_monomial(front, generator)}*(1/{order[-1]} - {generator.choice(['1', '2'])}/{order[0]}**2)"


def _cases(names: Sequence[str], ranges: Sequence[tuple[float, float]], generator: np.random.Generator) -> str:
    """Two formulas of other kinds, by a threshold in the middle half of a column or by two columns."""
    place = int(generator.integers(len(names)))
    low, high = ranges[place]
    condition = f"{names[place]} > {low + (high - low) * generator.uniform(0.25, 0.75):.2g}"
    if generator.random() < 0.4:
        condition = f"{names[place]} > {names[place - 1]}"
    sides: list[str] = []
    for _ in range(2):
        kind = str(generator.choice(["monomial", "sum", "quotient"]))
        own = [names[int(each)] for each in generator.permutation(len(names))[: int(generator.integers(2, 4))]]
        sides.append("*".join(_drawn(kind, own, generator)))
    return f"{sides[0]} if {condition} else {sides[1]}"


def _sum(names: Sequence[str], generator: np.random.Generator, count: int, *, plus: bool = False) -> str:
    """Terms that share out the names."""
    terms: list[str] = []
    parts = [list(names[place::count]) for place in range(count)]
    for part in parts:
        sign = "" if not terms else " + " if plus or generator.random() < 0.6 else " - "
        factor = str(generator.choice(["", "", "", "2*", "3*"]))
        terms.append(f"{sign}{factor}{_monomial(part, generator, small=True) if part else '1'}")
    return "".join(terms)


def _monomial(names: Sequence[str], generator: np.random.Generator, *, small: bool = False) -> str:
    powers = ["", "", "**2", "**2"] if small else ["", "", "**2", "**3", "**-1", "**-2", "**0.5"]
    return "*".join(f"{name}{generator.choice(powers)}" for name in names)
