"""The logic programs of LogicalDeduction and ProntoQA, read by patterns: what they say in Z3 and as programs of lnnkit,
and where they say something else than the sentences behind them.

The programs are a language model's. Nothing here imports lnnkit."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("LNNKIT_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "logiclm"
_ORDINALS = ("", "", "second", "third", "fourth", "fifth", "sixth", "seventh")
# Words for the first place, and for the last; a comparison says which is lower.
_ENDS = (
    (("leftmost", "from the left"), ("rightmost", "from the right")),
    (("oldest",), ("newest",)),
    (("first", "highest"), ("last", "lowest")),
    (("cheapest", "least expensive"), ("most expensive",)),
)
_LOWER = ("to the left of", "older than", "finished above", "less expensive than", "cheaper than")
_HIGHER = ("to the right of", "newer than", "finished below", "more expensive than")
Said = tuple[str, str, str]  # a name, a sign, and a name or a place
_LITERAL = re.compile(r"(\w+)\((\$?\w+), (True|False)\)")


@cache
def examples(name: str) -> list[dict[str, Any]]:
    return json.loads((DATA / f"programs_{name}_dev_gpt-4.json").read_text(encoding="utf-8"))


def _sections(text: str) -> dict[str, list[str]]:
    """The lines under each heading, without the sentences behind them."""
    parts = re.split(r"^([A-Z][a-z]+):\s*$", text, flags=re.MULTILINE)
    return {
        name: [line.split(":::")[0].strip() for line in body.splitlines() if line.strip()]
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


# --- LogicalDeduction -------------------------------------------------------------------------------------------------


def puzzle_program(text: str) -> str:
    """A program of lnnkit over numbers: the domain of each variable as bounds and as a disjunction."""
    of = _sections(text)
    lines = ["sort variable", "number value(variable)"]
    for line in of["Variables"]:
        name, values = _domain(line)
        lines.append(f'fact value("{name}") in [{values[0]}, {values[-1]}]')
        lines.append("axiom " + " | ".join(f'value("{name}") = {value}' for value in values))
    for line in of["Constraints"]:
        names = _different(line)
        pairs = [(one, "!=", other) for place, one in enumerate(names) for other in names[place + 1 :]]
        lines += [f"axiom {_compared(*each)}" for each in pairs or [_three(line)]]
    return "\n".join([*lines, *(f"query {_compared(*_three(line[3:]))}" for line in of["Query"])]) + "\n"


def _domain(line: str) -> tuple[str, list[str]]:
    name, values = re.fullmatch(r"(\S+) \[IN\] \[(.*)\]", line).groups()  # type: ignore[union-attr]
    return name, [each.strip() for each in values.split(",")]


def _different(line: str) -> list[str]:
    found = re.fullmatch(r"AllDifferentConstraint\(\[(.*)\]\)", line)
    return [name.strip() for name in found[1].split(",")] if found else []


def _three(line: str) -> Said:
    one, sign, other = line.split()
    return one, sign, other


def _compared(one: str, sign: str, other: str) -> str:
    right = other if other.isdecimal() else f'value("{other}")'
    return f'value("{one}") {"=" if sign == "==" else sign} {right}'


def solved_directly(text: str) -> list[bool]:
    """Which options follow from the constraints, the variables integers, in Z3."""
    import z3

    def constraint(line: str) -> Any:
        if names := _different(line):
            return z3.Distinct(*map(z3.Int, names))
        left, sign, right = _three(line)
        one, other = z3.Int(left), z3.IntVal(right) if right.isdecimal() else z3.Int(right)
        return {"==": one == other, ">": one > other, "<": one < other, "!=": one != other}[sign]

    of = _sections(text)
    solver = z3.Solver()
    for line in of["Variables"]:
        name, values = _domain(line)
        solver.add(z3.Or(*[z3.Int(name) == int(value) for value in values]))
    solver.add(*map(constraint, of["Constraints"]))
    return [solver.check(z3.Not(constraint(line[3:]))) == z3.unsat for line in of["Query"]]


def wrong_lines(text: str) -> list[str]:
    """The lines of a program of LogicalDeduction that do not say what the sentence behind them does."""
    domain, body = text.split("Variables:")
    low = domain.split("1:")[1].splitlines()[0].strip()
    names = re.findall(r"^(\w+) \[IN\]", body, re.MULTILINE)
    upside_down = any(low in last for _, last in _ENDS)
    found = []
    for line in body.splitlines():
        formula, _, sentence = (part.strip() for part in line.partition(":::"))
        if not sentence or formula.startswith("AllDifferent"):
            continue
        meant = _meant(sentence, names, upside_down=upside_down)
        if meant is not None and tuple(re.sub(r"^[A-G]\) ", "", formula).split()) not in _alike(meant):
            found.append(line.strip())
    return found


def _meant(sentence: str, names: list[str], *, upside_down: bool) -> Said | None:
    text = sentence.lower().rstrip(".")
    place = {name: text.find(name.lower().replace("_", " ")) for name in names}
    met = sorted((name for name in names if place[name] >= 0), key=lambda name: place[name])
    for signs, words in ((("<", ">"), _LOWER), ((">", "<"), _HIGHER)):
        if len(met) == 2 and any(word in text for word in words):
            return met[0], signs[upside_down], met[1]
    return None if len(met) != 1 else _at_place(met[0], text, len(names), upside_down=upside_down)


def _at_place(name: str, text: str, count: int, *, upside_down: bool) -> Said | None:
    ordinal = next((n for n, word in enumerate(_ORDINALS) if word and re.search(rf"\b{word}\b", text)), 0)
    from_low: bool | None = None
    if "finished" in text:
        from_low = "last" not in text
        ordinal = ordinal or 1
    for low, high in _ENDS:
        for words, is_low in ((low, True), (high, False)):
            if from_low is None and any(word in text for word in words):
                from_low, ordinal = is_low, ordinal or 1
    if from_low is None:
        return None
    return name, "==", str(ordinal if from_low != upside_down else count + 1 - ordinal)


def _alike(said: Said) -> Iterator[tuple[str, ...]]:
    one, sign, other = said
    yield said
    if sign != "==":
        yield other, {"<": ">", ">": "<"}[sign], one


# --- ProntoQA ---------------------------------------------------------------------------------------------------------


def chain_program(text: str) -> str:
    """A program of lnnkit about individuals, of which there may be more than are named."""
    of = _sections(text)
    names = dict.fromkeys(name for line in of["Facts"] + of["Rules"] + of["Query"] for name, _, _ in _literals(line))
    lines = ["sort entity open", *(f"predicate {name}(entity)" for name in names)]
    lines += [f"fact {_literal(*each)}" for line in of["Facts"] for each in _literals(line)]
    for line in of["Rules"]:
        before, after = _literals(line)
        lines.append(f"axiom {_literal(*before)} -> {_literal(*after)}")
    return "\n".join([*lines, *(f"query {_literal(*each)}" for line in of["Query"] for each in _literals(line))]) + "\n"


def _literals(line: str) -> list[Said]:
    return _LITERAL.findall(line)


def _literal(name: str, who: str, truth: str) -> str:
    argument = "X" if who.startswith("$") else f'"{who}"'
    return f"{'~' if truth == 'False' else ''}{name}({argument})"


def chained(text: str) -> bool | None:
    """What a program says of its query, by forward chaining over literals."""
    of = _sections(text)
    known = {(name, truth) for line in of["Facts"] for name, _, truth in _literals(line)}
    rules = [[(name, truth) for name, _, truth in _literals(line)] for line in of["Rules"]]
    ((name, _, truth),) = _literals(of["Query"][0])
    while any(before in known and after not in known for before, after in rules):
        known.update(after for before, after in rules if before in known)
    other = "True" if truth == "False" else "False"
    return True if (name, truth) in known else False if (name, other) in known else None


def in_singular(text: str) -> str:
    """A program of ProntoQA with one name for each kind: `Impuses` and `Impus` are one."""
    return re.sub(r"\b(\w+us)es\(", r"\1(", text)


def asks_the_opposite(question: str, text: str) -> bool:
    """Whether the query of a program of ProntoQA is the negation of what the question asks."""
    query = [line for line in text.splitlines() if line.strip()][-1]
    return (" not " in question.split("false?")[1]) != ("False)" in query)
