"""Plain Datalog programs as ``.lnn``: rules of positive and negated atoms over variables and constants.

path(X, Y) :- edge(X, Z), path(Z, Y).      axiom p_edge(V_X, V_Z) & p_path(V_Z, V_Y) -> p_path(V_X, V_Y)
free(X) :- seat(X), not taken(X, _).       axiom p_seat(V_X) & ~(exists U1: p_taken(V_X, U1)) -> p_free(V_X)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

Row = tuple[object, ...]

_ATOM = re.compile(r"\s*(not\s+)?(\w+)\s*\(([^()]*)\)\s*")
_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_CONSTANT = re.compile(r'-?\d+|"[^"]*"')


class NotStatable(ValueError):
    """A rule of something else: arithmetic in arguments, comparisons, a missing full stop."""


@dataclass(frozen=True)
class Atom:
    """``arguments`` are texts of ``.lnn``; ``negated`` as it stands in the rule."""

    name: str
    arguments: tuple[str, ...]
    negated: bool

    @property
    def variables(self) -> list[str]:
        return [each for each in dict.fromkeys(self.arguments) if not each.startswith('"')]

    def __str__(self) -> str:
        return f"p_{self.name}({', '.join(self.arguments)})" if self.arguments else f"p_{self.name}"


@dataclass(frozen=True)
class Rule:
    head: Atom
    body: tuple[Atom, ...]

    @property
    def text(self) -> str:
        """A variable of one negated atom alone is any: there is none for which the atom holds."""
        bound = {name for atom in (self.head, *self.body) if not atom.negated for name in atom.variables}
        literals = []
        for atom in self.body:
            free = [name for name in atom.variables if name not in bound]
            inner = f"(exists {', '.join(free)}: {atom})" if free else str(atom)
            literals.append(f"~{inner}" if atom.negated else inner)
        return f"axiom {' & '.join(literals)} -> {self.head}"


def rule(text: str) -> Rule:
    """Raises `NotStatable`."""
    head, arrow, body = text.strip().partition(":-")
    if not arrow or not body.strip().endswith("."):
        raise NotStatable(text)
    unnamed = count(1)
    (only,) = _atoms(head, unnamed)
    return Rule(only, tuple(_atoms(body.strip()[:-1], unnamed)))


def _atoms(text: str, unnamed: count[int]) -> list[Atom]:
    found, place = [], 0
    while place < len(text):
        matched = _ATOM.match(text, place)
        if matched is None or text[matched.end() : matched.end() + 1] not in ("", ","):
            raise NotStatable(text)
        arguments = [each.strip() for each in matched[3].split(",")] if matched[3].strip() else []
        found.append(Atom(matched[2], tuple(_argument(each, unnamed) for each in arguments), bool(matched[1])))
        place = matched.end() + 1
    return found


def _argument(text: str, unnamed: count[int]) -> str:
    """A variable starts upper-case; a constant is quoted, whatever it looks like."""
    if text == "_":
        return f"U{next(unnamed)}"
    if _VARIABLE.fullmatch(text):
        return f"V_{text}"
    if _CONSTANT.fullmatch(text):
        return f'"{text.strip(chr(34))}"'
    raise NotStatable(text)


def program(rules: Sequence[Rule], facts: Mapping[str, Sequence[Row]], asked: Sequence[str], closed: bool) -> str:
    """All predicates declared and the asked ones queried; the facts are to be told. Unless ``closed``, what rules
    define is open."""
    arities = {name: len(rows[0]) for name, rows in facts.items() if rows}
    arities |= {atom.name: len(atom.arguments) for each in rules for atom in (each.head, *each.body)}
    heads = {each.head.name for each in rules}
    lines = []
    for name, arity in arities.items():
        sorts = f"({', '.join(['item'] * arity)})" if arity else ""
        lines.append(f"predicate p_{name}{sorts}{' closed' if closed or name not in heads else ''}")
    lines += [each.text for each in rules]
    for name in asked:
        variables = ", ".join(f"V{n}" for n in range(arities[name]))
        lines.append(f"query p_{name}({variables})" if variables else f"query p_{name}")
    return "\n".join(lines) + "\n"
