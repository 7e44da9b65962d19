"""The terminals of the grammar as a highlighter needs them: expressions, words, and which statement can hold which."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lark.lexer import PatternRE, TerminalDef

from lnnkit.syntax.grammar import parser

NOT_LONGER = r"(?!-?\w)"  # a word ends here; `in-law` and `notable` are names

_CAPTURING = re.compile(r"(?<!\\)\((?!\?)")


def terminals() -> dict[str, TerminalDef]:
    """The terminals that a parse tree can hold, in the order in which Lark tries them."""
    ordered = sorted(
        parser().terminals, key=lambda each: (-each.priority, -each.pattern.max_width, -len(each.pattern.value))
    )
    return {each.name: each for each in ordered if not each.name.startswith("__")}


def comment() -> str:
    """The expression of a comment: what the grammar ignores that is no white space."""
    return next(
        each.pattern.value for each in parser().terminals if each.name.startswith("__") and "#" in each.pattern.value
    )


def expression(terminal: TerminalDef) -> str:
    """A terminal's regular expression, without groups that capture."""
    if isinstance(terminal.pattern, PatternRE):
        return _CAPTURING.sub("(?:", terminal.pattern.value)
    return re.escape(terminal.pattern.value)


def statements() -> dict[str, str]:
    """The terminal that starts each kind of statement, by the name of its rule."""
    kinds = {rule.expansion[0].name for rule in parser().rules if rule.origin.name == "statement"}
    return {rule.origin.name: rule.expansion[0].name for rule in parser().rules if rule.origin.name in kinds}


def keyword(terminal: TerminalDef) -> str:
    """The word of a terminal that starts a statement, where it does: ``load(`` starts an atom, as `load` cannot be
    followed by a parenthesis."""
    word = str(terminal.pattern.value)
    state = parser().parse_interactive(f"{word} ", start="statement")
    state.exhaust_lexer()
    return word + NOT_LONGER + ("" if "LPAR" in state.accepts() else r"(?!\()")


def reachable(rule: str) -> frozenset[str]:
    """The terminals that can stand in what a rule of the grammar derives."""
    expansions = _expansions()
    found, todo = set[str](), [rule]
    while todo:
        for name, is_terminal in expansions.get(todo.pop(), ()):
            if name not in found:
                found.add(name)
                if not is_terminal:
                    todo.append(name)
    return frozenset(name for name in found if name.isupper())


def _expansions() -> Mapping[str, Iterable[tuple[str, bool]]]:
    found: dict[str, list[tuple[str, bool]]] = {}
    for rule in parser().rules:
        found.setdefault(rule.origin.name, []).extend((symbol.name, symbol.is_term) for symbol in rule.expansion)
    return found
