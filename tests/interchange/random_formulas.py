"""Random first-order formulas: as trees, as texts, and as what they mean in Z3.

A formula is ("atom", name, terms), ("equal", term, term), ("less", attribute, term, number), ("not", a), ("and", a,
...), ("or", a, ...), ("implies", a, b), ("iff", a, b), ("xor", a, b), ("forall", x, a) or ("exists", x, a); a term is
("variable", x), ("constant", c) or ("function", f, terms).
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import z3

from tests.interchange.judging import Meaning

Tree = tuple[Any, ...]
PREDICATES = {"P": 1, "Q": 1, "Loves": 2, "Rain": 0, "is-Big": 1}
CONSTANTS = ("anna", "bob", "a", "dc")
NUMBERS = {"age": 1, "gap": 2}


class Source:
    """Draws formulas from one stream of random numbers."""

    def __init__(
        self,
        seed: int,
        *,
        functions: bool = False,
        equations: bool = False,
        numbers: bool = False,
    ) -> None:
        self.random = random.Random(seed)
        self.functions = functions
        self.equations = equations
        self.numbers = numbers

    def formula(self, depth: int, bound: tuple[str, ...] = ()) -> Tree:
        if depth == 0:
            return self.leaf(bound)
        kind = self.random.choice(("atom", "not", "and", "or", "implies", "iff", "xor", "forall", "exists", "forall"))
        if kind == "atom":
            return self.leaf(bound)
        if kind in ("forall", "exists"):
            variable = next(v for v in ("x", "y", "z", "u", "w", "x1", "y1", "z1") if v not in bound)
            body = self.formula(depth - 1, (*bound, variable))
            return (kind, variable, body) if variable in free(body) else body
        if kind == "not":
            return ("not", self.formula(depth - 1, bound))
        count = self.random.choice((2, 2, 3)) if kind in ("and", "or") else 2
        return (kind, *[self.formula(depth - 1, bound) for _ in range(count)])

    def leaf(self, bound: tuple[str, ...]) -> Tree:
        kind = self.random.random()
        if self.equations and kind < 0.25:
            return ("equal", self.term(bound, 1), self.term(bound, 1))
        if self.numbers and kind < 0.5:
            name = self.random.choice(list(NUMBERS))
            arguments = tuple([self.term(bound, 0) for _ in range(NUMBERS[name])])
            return (
                "less",
                self.random.choice(["<", "<=", ">", ">=", "="]),
                name,
                arguments,
                self.random.randrange(-3, 40),
            )
        name = self.random.choice(list(PREDICATES))
        return ("atom", name, tuple([self.term(bound, 1) for _ in range(PREDICATES[name])]))

    def term(self, bound: tuple[str, ...], depth: int) -> Tree:
        if self.functions and depth and self.random.random() < 0.3:
            name, arity = self.random.choice((("f", 1), ("mother", 1), ("g", 2)))
            return ("function", name, tuple([self.term(bound, depth - 1) for _ in range(arity)]))
        if bound and self.random.random() < 0.7:
            return ("variable", self.random.choice(bound))
        return ("constant", self.random.choice(CONSTANTS))


def free(tree: Tree, bound: frozenset[str] = frozenset()) -> set[str]:
    if tree[0] == "variable":
        return {tree[1]} - bound
    if tree[0] in ("forall", "exists"):
        return free(tree[2], bound | {tree[1]})
    found: set[str] = set()
    for part in tree[1:]:
        for each in part if isinstance(part, tuple) and part and isinstance(part[0], tuple) else (part,):
            if isinstance(each, tuple) and each:
                found |= free(each, bound)
    return found


# --- what it means ----------------------------------------------------------------------------------------------------


def meant(tree: Tree, meaning: Meaning, names: Mapping[str, Any] | None = None) -> Any:
    names = names or {}
    kind, *rest = tree
    match kind:
        case "atom":
            return meaning.predicate(rest[0], [term(each, meaning, names) for each in rest[1]])
        case "equal":
            return term(rest[0], meaning, names) == term(rest[1], meaning, names)
        case "less":
            operator, name, arguments, value = rest
            number = meaning.number(name, [term(each, meaning, names) for each in arguments])
            return {
                "<": number < value,
                "<=": number <= value,
                ">": number > value,
                ">=": number >= value,
                "=": number == value,
            }[operator]
        case "forall" | "exists":
            variable = meaning.fresh()
            body = meant(rest[1], meaning, {**names, rest[0]: variable})
            return (z3.ForAll if kind == "forall" else z3.Exists)([variable], body)
    inner = [meant(each, meaning, names) for each in rest]
    match kind:
        case "not":
            return z3.Not(inner[0])
        case "and":
            return z3.And(*inner)
        case "or":
            return z3.Or(*inner)
        case "implies":
            return z3.Implies(*inner)
        case "iff":
            return inner[0] == inner[1]
    return z3.Xor(*inner)


def term(tree: Tree, meaning: Meaning, names: Mapping[str, Any]) -> Any:
    match tree:
        case ("variable", name):
            return names[name]
        case ("constant", name):
            return meaning.constant(name)
        case (_, name, arguments):
            return meaning.function(name, [term(each, meaning, names) for each in arguments])
    raise TypeError(tree)


# --- first-order logic as people write it -----------------------------------------------------------------------------

_SPELLINGS = {
    "not": ("¬", "~", "!", "not ", "\\neg ", "-"),
    "and": (" ∧ ", " & ", " && ", " and ", " \\land ", " AND ", "∧", " /\\ "),
    "or": (" ∨ ", " | ", " || ", " or ", " \\lor ", "∨"),
    "implies": (" → ", " -> ", " => ", " implies ", " \\rightarrow ", "->", " ⇒ "),
    "iff": (" ↔ ", " <-> ", " <=> ", " iff ", " \\leftrightarrow "),
    "xor": (" ⊕ ", " xor ", "⊕", " \\oplus "),
}
_TIGHTNESS = {"iff": 0, "implies": 1, "xor": 2, "or": 3, "and": 4}


class Spelling:
    """Writes a tree as people might: any spelling of a connective, brackets where needed and elsewhere by chance."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self, tree: Tree, level: int = 0) -> str:
        kind, *rest = tree
        if kind in ("atom", "equal", "less"):
            return self.leaf(tree)
        if kind == "not":
            operand = self.text(rest[0], 6)
            spelled = self.random.choice(_SPELLINGS["not"])
            return f"{spelled}({operand})" if rest[0][0] in ("equal", "less") else spelled + operand
        if kind in ("forall", "exists"):
            return self.quantified(kind, rest[0], rest[1], level)
        own = _TIGHTNESS[kind]
        inner = [self.text(each, own + 1) for each in rest]
        if kind == "implies" and self.random.random() < 0.5:
            inner[1] = self.text(rest[1], own)
        found = self.random.choice(_SPELLINGS[kind]).join(inner)
        return self.bracketed(found) if own < level or self.random.random() < 0.3 else found

    def bracketed(self, text: str) -> str:
        opened, closed = self.random.choice(("()", "()", "()", "[]"))
        return f"{opened}{text}{closed}"

    def quantified(self, kind: str, variable: str, body: Tree, level: int) -> str:
        words = ("∀", "forall ", "\\forall ", "∀ ") if kind == "forall" else ("∃", "exists ", "\\exists ", "∃ ")
        head = self.random.choice(words) + variable
        if self.random.random() < 0.2:
            head = f"({head})"
        if level == 0 and self.random.random() < 0.3:
            return f"{head}{self.random.choice((': ', '. ', ' . '))}{self.text(body, 0)}"
        text = self.text(body, 6)
        if body[0] in ("equal", "less"):
            text = f"({text})"
        return f"{head} {text}" if text.startswith(("(", "[", "∀", "∃", "¬")) else f"{head} ({text})"

    def leaf(self, tree: Tree) -> str:
        match tree:
            case ("atom", name, arguments):
                comma = self.random.choice((", ", ","))
                return f"{name}({comma.join(map(self.term, arguments))})" if arguments else name
            case ("equal", left, right):
                return f"{self.term(left)} {self.random.choice(('=', '=='))} {self.term(right)}"
            case (_, operator, name, arguments, value):
                spelled = {"<=": "≤", ">=": "≥"}.get(operator, operator)
                return f"{name}({', '.join(map(self.term, arguments))}) {spelled} {value}"
        raise TypeError(tree)

    def term(self, tree: Tree) -> str:
        if tree[0] in ("variable", "constant"):
            return tree[1]
        return f"{tree[1]}({', '.join(map(self.term, tree[2]))})"
