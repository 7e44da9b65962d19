"""Random programs about rows, with their table: all logics, numbers, units, soft comparisons, closed predicates,
reference tables; nothing keeps facts and rules from contradicting each other."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

LOGICS = ("lukasiewicz", "product", "godel")
_CURVES = (
    *("({0})^3", "({0})^-1", "({0})^-3", "({0})^0.5", "abs({0})^1.7", "abs({0})^{1}", "({0})^{1}", "sqrt(abs({0}))"),
    "nalu({0}, {1}){{weight: [0.6, -0.4], gate: [0.1, 0.2]}}",
    "inalu({0}, {1}){{add: [1, 0.5], multiply: [0.5, -1], gate: 0.3}}",
    "npu({0}, {1}){{power: [0.7, -0.5], imaginary: [0.1, 0], gate: [1, 0.6]}}",
    "realnpu({0}, {1}){{power: [1.5, -0.5], gate: [1, 0.6]}}",
)
_RELATIONS = ([0.7, 0.2, -0.1], [-1.5, 0, 0.3], [0.2, 1.5, 0.1])
REGIONS = ("rome", "oslo", "bern")


@dataclass
class RowProgram:
    """A program's text, which loads ``loans.parquet``, and that table. ``rounded``: it has weights, soft comparisons,
    mixed logics or product logic, in which a gain may be near what counts as none."""

    text: str
    table: pa.Table
    rounded: bool = True


def generate(
    seed: int,
    size: int = 5,
    rows: int = 40,
    reference: bool | None = None,
    *,
    coarse: bool = False,
    curved: bool = False,
) -> RowProgram:
    """With ``coarse``, columns have few values, so that many rows are alike; ``curved`` adds long conjunctions and
    disjunctions, powers, roots and units."""
    return _Generator(random.Random(f"rows {seed} {size}"), size, rows, reference, coarse, curved).build()


def write(program: RowProgram, folder: Path) -> None:
    pq.write_table(program.table, folder / "loans.parquet")


class _Generator:
    def __init__(
        self, rng: random.Random, size: int, rows: int, reference: bool | None, coarse: bool, curved: bool
    ) -> None:
        self.coarse, self.curved = coarse, curved
        self.rng, self.size, self.rows = rng, size, rows
        self.lines: list[str] = []
        self.columns: dict[str, list[object]] = {"id": [f"l{i:03}" for i in range(rows)]}
        self.reference = rng.random() < 0.25 if reference is None else reference
        self.pool: list[str] = []
        self.comparisons: list[str] = []

    def build(self) -> RowProgram:
        rng = self.rng
        logic = rng.choice(LOGICS)
        self.mixed = rng.random() < 0.15
        self.rounded = logic == "product" or self.mixed
        self.lines.append(f"logic {logic}")
        self.lines += ["predicate Listed(loan)", 'load Listed from "loans.parquet" (id)']  # each row is an entity
        self.base = [self._base(place) for place in range(rng.choice([2, 3, 4]))]
        self.numbers = [self._number(place) for place in range(rng.choice([0, 0, 1, 2, 3]))]
        self.derived = [f"D{place}" for place in range(rng.choice([1, 2, 3]))]
        self.closed = [f"C{place}" for place in range(rng.choice([0, 0, 1, 2]))]
        for name in self.derived:
            self.lines.append(f"predicate {name}(loan)")
        for name in self.closed:
            self.lines.append(f"predicate {name}(loan) closed")
            if rng.random() < 0.3:
                self._load(name, name.lower(), [rng.choice([None, 0.2, 1.0, 0.7]) for _ in range(self.rows)])
        if self.reference:
            self._regions()
        if rng.random() < 0.5:
            self.comparisons += [self._comparison() for _ in range(2) if self.numbers]
        for _ in range(self.size):
            self._statement()
        for place, name in enumerate(self.closed):
            body = self._formula(rng.choice([1, 2]), self.base + self.closed[:place], plain=True)
            self.lines.append(f"rule {body} -> {name}(X){self._truth()}")
        if self.rng.random() < 0.3:
            name = rng.choice(self.derived)
            self.lines.append(f"fact {name}(l003){rng.choice(['', ' = 0.4', ' in [0.1, 0.6]'])}")
        self._queries()
        table = pa.table({name: pa.array(values) for name, values in self.columns.items()})
        return RowProgram("\n".join(self.lines) + "\n", table, self.rounded)

    # --- data ---------------------------------------------------------------------------------------------------------

    def _value(self) -> float:
        rng = self.rng
        if self.coarse:
            return rng.choice([0.0, 1.0, 1.0, 0.5])
        return rng.choice([0.0, 1.0, 1.0, 0.5, round(rng.random(), 2), round(rng.random(), 2), rng.random()])

    def _base(self, place: int) -> str:
        rng, name = self.rng, f"P{place}"
        self.lines.append(f"predicate {name}(loan)" + rng.choice(["", "", " closed"]))
        kind = rng.choice(["truth", "truth", "bounds", "where", "negated", "sparse"])
        if kind == "bounds":
            pairs = [sorted([self._value(), self._value()]) for _ in range(self.rows)]
            self.columns[f"p{place}l"] = [low for low, _ in pairs]
            self.columns[f"p{place}u"] = [high for _, high in pairs]
            self.lines.append(f'load {name} from "loans.parquet" (id, p{place}l, p{place}u)')
        elif kind in ("where", "negated"):
            self.columns[f"p{place}"] = [rng.choice(["yes", "no"]) for _ in range(self.rows)]
            sign = "~" if kind == "negated" else ""
            self.lines.append(f'load {sign}{name} from "loans.parquet" (id) where p{place} = "yes"')
        elif kind == "sparse":
            self._load(name, f"p{place}", [rng.choice([None, self._value()]) for _ in range(self.rows)])
        else:
            self._load(name, f"p{place}", [self._value() for _ in range(self.rows)])
        if rng.random() < 0.15:
            self._load(name, f"q{place}", [rng.choice([None, 0.5, self._value()]) for _ in range(self.rows)])
        return name

    def _load(self, name: str, column: str, values: list[float | None]) -> None:
        self.columns[column] = [*values]
        where = f" where {column} is not null" if any(value is None for value in values) else ""
        self.lines.append(f'load {name} from "loans.parquet" (id, {column}){where}')

    def _number(self, place: int) -> str:
        rng, name = self.rng, f"n{place}"
        self.lines.append(f"number {name}(loan)")
        values = [rng.choice([float(rng.randint(-4, 12)), rng.randint(-30, 90) / 10]) for _ in range(self.rows)]
        missing = rng.choice([0.0, 0.0, 0.3])
        if rng.random() < 0.3:
            self.columns[f"{name}l"] = [None if rng.random() < missing else value for value in values]
            self.columns[f"{name}u"] = [value + rng.choice([0, 0, 1, 2.5]) for value in values]
            self.lines.append(f'load {name} from "loans.parquet" (id, {name}l, {name}u)')
        else:
            self.columns[name] = [None if rng.random() < missing else value for value in values]
            self.lines.append(f'load {name} from "loans.parquet" (id, {name})')
        return name

    def _regions(self) -> None:
        rng = self.rng
        self.lines += [
            "predicate LivesIn(loan, region)" + rng.choice(["", " closed"]),
            "predicate Risky(region) closed",
        ]
        self.columns["region"] = [rng.choice([None, *REGIONS]) for _ in range(self.rows)]
        self.lines.append('load LivesIn from "loans.parquet" (id, region) where region is not null')
        self.lines.append("predicate Near(region, region)")
        for region in REGIONS[:2]:
            self.lines.append(f"fact Risky({region}) = {rng.choice([0.3, 0.8, 1])}")
        self.lines.append("fact Near(rome, oslo)")
        if rng.random() < 0.5:
            self.lines.append("rule Risky(R) & Near(R, T) -> Exposed(T)")
        else:
            self.lines.append("predicate Exposed(region)")
        self.exposed = rng.random() < 0.5

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _statement(self) -> None:
        rng = self.rng
        names = self.base + self.derived + self.closed
        body = self._formula(rng.choice([1, 2, 2]), names)
        if self.reference and rng.random() < 0.5:
            body = f"LivesIn(X, R) & {'Exposed' if self.exposed else 'Risky'}(R) & ({body})"
        head = rng.choice(["", "~"]) + rng.choice(self.derived) + "(X)"
        if rng.random() < 0.15:
            head += f" & {rng.choice(self.derived)}(X)"
        kind = rng.random()
        if kind < 0.75:
            self.lines.append(f"rule {body} -> {head}{self._truth()}")
        elif kind < 0.85:
            self.lines.append(f"axiom {self._formula(1, names)} <-> {head}{self._truth()}")
        else:
            self.lines.append(f"axiom {self._formula(1, names)} | {head}{self._truth()}")

    def _truth(self) -> str:
        rng = self.rng
        return rng.choice(["", "", "", " in [0.8, 1]", " in [0.6, 0.9]"])

    def _formula(self, depth: int, names: list[str], plain: bool = False) -> str:
        rng = self.rng
        if self.pool and rng.random() < 0.2 and not plain:
            return rng.choice(self.pool)
        if depth == 0 or rng.random() < 0.1:
            return self._literal(names, plain)
        kind = rng.choice(["&", "&", "&", "|", "|", "xor", "<->", "->"]) if not plain else rng.choice(["&", "|"])
        count = rng.choice([3, 5, 7] if self.curved and depth == 1 else [2, 2, 3]) if kind in ("&", "|") else 2
        parts = [self._formula(depth - 1, names, plain) for _ in range(count)]
        weighted = rng.random() < 0.25
        if weighted:
            self.rounded = True
            parts = [f"{part}@{rng.choice([0.5, 0.8, 1.3, 0])}" if rng.random() < 0.6 else part for part in parts]
        attributes = []
        if weighted and kind in ("&", "|", "->") and rng.random() < 0.4:
            attributes.append(f"bias: {rng.choice([0.8, 1.2])}")
        if self.mixed and rng.random() < 0.4:
            attributes.append(f"logic: {rng.choice(LOGICS)}")
        text = "(" + f" {kind} ".join(parts) + ")" + ("{" + ", ".join(attributes) + "}" if attributes else "")
        if rng.random() < 0.3 and not plain:
            self.pool.append(text)
        return ("~" if rng.random() < 0.1 and not plain else "") + text

    def _literal(self, names: list[str], plain: bool) -> str:
        rng = self.rng
        if self.numbers and rng.random() < 0.4:
            if self.comparisons and rng.random() < 0.5:
                return f"({rng.choice(self.comparisons)})"
            return f"({self._comparison()})"
        sign = "~" if rng.random() < 0.2 and not plain else ""
        return f"{sign}{rng.choice(names)}(X)"

    def _comparison(self) -> str:
        rng = self.rng
        operator = rng.choice([">", ">=", "<", "<=", "=", "!="])
        soft = ""
        if rng.random() < 0.25:
            soft, self.rounded = f"{{scale: {rng.choice([0.5, 2, 10])}}}", True
        if soft and self.curved and rng.random() < 0.3:
            operator, soft = "<?>", soft.replace("}", f", weight: {rng.choice(_RELATIONS)}}}")
        text = f"{self._term(rng.choice([0, 0, 1, 2]))} {operator} {rng.choice([0, 3, 5, 2.5, self._term(0)])}"
        return f"({text}){soft}" if soft else text

    def _term(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return f"{rng.choice(self.numbers)}(X)"
        kind = rng.choice(["+", "-", "*", "/", "/", "abs", "^", "nau"])
        left = self._term(depth - 1)
        if self.curved and rng.random() < 0.5:
            return rng.choice(_CURVES).format(left, self._term(0))
        if kind == "abs":
            return f"abs({left})"
        if kind == "^":
            return f"({left})^2"
        right = rng.choice([self._term(depth - 1), "2", "3.5"])
        if kind == "nau":
            return f"nau({left}, {self._term(0)}){{weight: [1, -1]}}"
        return f"({left} {kind} {right})"

    def _queries(self) -> None:
        rng = self.rng
        for name in (*self.derived, *self.closed):
            self.lines.append(f"query {name}(X)")
        if rng.random() < 0.5:
            self.lines.append(f"query {self._formula(1, self.derived + self.base)}")
        if rng.random() < 0.3 and self.pool:
            self.lines.append(f"query ~{rng.choice(self.pool)}")
        if self.numbers and rng.random() < 0.5:
            self.lines.append(f"query {rng.choice([self._comparison(), self._term(0), self._term(1)])}")
