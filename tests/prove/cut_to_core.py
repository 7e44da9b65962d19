"""A program cut down to a core: what is left of its text where only the members of the core are kept.

Declarations stay, but a closed predicate that the core does not name is open; so do facts of `Known`, which name the
entities. Rules that define a closed predicate stay with its declaration, which means something else without them.
"""

from __future__ import annotations

from collections.abc import Collection

from lnnkit.check.predicates import heads
from lnnkit.syntax import ast
from lnnkit.syntax.parse import parse


def cut(text: str, lines: Collection[int]) -> str:
    """The text with the statements and facts of these lines only; their numbers stay."""
    closed = {
        line.split()[1].split("(")[0]
        for number, line in enumerate(text.splitlines(), 1)
        if number in lines and line.startswith("predicate ") and line.endswith(" closed")
    }
    rules = [statement for statement in parse(text)[0].statements if isinstance(statement, ast.RuleStatement)]
    defining = {rule.span.line for rule in rules if any(head.name in closed for head in heads(rule.formula))}
    lines = {*lines, *defining}
    kept = (_kept(line, number in lines or _lists(line, closed)) for number, line in enumerate(text.splitlines(), 1))
    return "\n".join(kept) + "\n"


def _lists(line: str, closed: Collection[str]) -> bool:
    """Whether a line is a fact about a predicate whose declaration as closed is kept: that says that what the facts do
    not list is false, so it means something else without them."""
    return line.startswith("fact ") and line[5:].lstrip("~").split("(")[0].split()[0] in closed


def _kept(line: str, in_core: bool) -> str:
    word = line.split(maxsplit=1)[0] if line.strip() else ""
    if in_core or word in ("logic", "sort", "number", "predicate") or line.startswith("fact Known("):
        return line if in_core or word != "predicate" else line.removesuffix(" closed")
    return ""
