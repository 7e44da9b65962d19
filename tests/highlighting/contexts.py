"""What is coloured how, and where: contexts of patterns, made from the terminals of the grammar.

A statement is a context that holds the terminals which the grammar allows in it; the arguments of an atom and the
attributes in braces are contexts within. What is written here is only the role that names play in each. Editors colour
line by line, so one thing is simpler than in the parser: a line that begins with a keyword always starts a statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lark.lexer import TerminalDef

from lnnkit.editor.suggestions import words
from tests.highlighting.terminals import comment, expression, keyword, reachable, statements, terminals

STYLES = {
    "comment": "comment.line.number-sign",
    "string": "string.quoted.double",
    "number": "constant.numeric",
    "keyword": "keyword.other",
    "word": "keyword.operator.word",  # an operator that is written as a word
    "operator": "keyword.operator",
    "constant": "constant.language",
    "function": "support.function",
    "learnable": "variable.other.readwrite",
    "predicate": "entity.name.function",
    "argument": "constant.other.entity",  # a variable or an entity, as its first letter says
    "variable": "variable.parameter",
    "sort": "entity.name.type",
    "label": "entity.name.label",
    "attribute": "entity.other.attribute-name",
    "name": "variable.other",
    "punctuation": "punctuation",
}
"""What is coloured, and its TextMate scope."""

_STYLES = {
    "STRING": "string",
    "ISO": "string",
    "NUMBER": "number",
    "LEARNABLE": "learnable",
    "NAME": "name",
    "ENTITY": "argument",
    "TRUTH": "constant",
    "QUANTIFIER": "keyword",
    "AGGREGATE": "keyword",
    "FUNCTION": "function",
    "UNIT": "function",
}
_PUNCTUATION = frozenset("()[]{},:")


@dataclass(frozen=True, slots=True)
class Pattern:
    """An expression and the styles of its groups, which together are the whole match. ``enters`` names the context that
    begins behind it."""

    regex: str
    styles: tuple[str | None, ...]
    enters: str | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """A context of the lexer, which ``closing`` ends. The start of a statement ends every context."""

    name: str
    patterns: tuple[Pattern, ...]
    closing: str | None = None


@dataclass(frozen=True, slots=True)
class Highlighting:
    """``start`` matches, at the beginning of a line, what starts a statement; ``beginnings`` are the patterns behind
    the white space there, the first that matches holds. ``outside`` is for text that stands in no statement."""

    start: str
    beginnings: tuple[Pattern, ...]
    contexts: tuple[Context, ...]
    outside: tuple[Pattern, ...]


def highlighting() -> Highlighting:
    """The patterns of the grammar."""
    known = terminals()
    kinds = statements()
    # `label P from` before `label P(a)`: the longer beginning is the more special one
    beginnings = sorted((_beginning(kind, known[first], known) for kind, first in kinds.items()), key=_specificity)
    contexts = [Context(kind, tuple(_within(kind, known))) for kind in kinds]
    contexts += [
        Context("arguments", (_comment(), *_tokens(("STRING", "ENTITY", "COMMA"), known)), expression(known["RPAR"])),
        Context("attributes", (_comment(), *_attributes(known)), expression(known["RBRACE"])),
    ]
    starts = "|".join(dict.fromkeys(keyword(known[first]) for first in kinds.values()))
    return Highlighting(f"(?:{starts})", tuple(beginnings), tuple(contexts), tuple(_within("query_statement", known)))


def _specificity(pattern: Pattern) -> int:
    return -pattern.regex.count("(?=")


def _beginning(kind: str, first: TerminalDef, known: dict[str, TerminalDef]) -> Pattern:
    """The keyword of a statement, and the name right behind it where that has a role of its own."""
    name, word = f"({expression(known['NAME'])}|{expression(known['STRING'])})", f"({keyword(first)})"
    denied = rf"(?:({expression(known['NOT'])})(\s*))?"
    match kind:
        case "predicate_statement" | "number_statement" | "date_statement":
            return Pattern(rf"{word}(?:(\s+){name})?", ("keyword", None, "predicate"), kind)
        case "load_statement":
            return Pattern(rf"{word}(?:(\s+){denied}{name})?", ("keyword", None, "operator", None, "predicate"), kind)
        case "label_table_statement":
            regex = rf"{word}(\s+){denied}{name}(?=\s+{expression(known['FROM'])})"
            return Pattern(regex, ("keyword", None, "operator", None, "predicate"), kind)
        case "rule_statement" | "axiom_statement":
            title = rf"(?:(\s+){name}(\s*)({expression(known['COLON'])}))?"
            return Pattern(word + title, ("keyword", None, "label", None, "punctuation"), kind)
        case _:
            return Pattern(word, ("keyword",), kind)


_NAMES = {
    "logic_statement": "constant",
    "sort_statement": "sort",
    "predicate_statement": "sort",
    "number_statement": "sort",
    "date_statement": "sort",
    "fact_statement": "predicate",
    "label_statement": "predicate",
}
"""What a name is that stands alone in a statement; elsewhere it is but a name."""


def _within(kind: str, known: dict[str, TerminalDef]) -> Iterable[Pattern]:
    held = reachable(kind) - {statements()[kind]}
    yield _comment()
    name, string = expression(known["NAME"]), expression(known["STRING"])
    if "QUANTIFIER" in held:
        listed = rf"{name}(?:\s*,\s*{name})*"
        yield Pattern(rf"({expression(known['QUANTIFIER'])})(\s*)({listed})", ("keyword", None, "variable"))
    ordered = [each for each in known if each in held and each not in ("NAME", "ENTITY")]
    first = [each for each in ordered if known[each].priority > 0]  # such as functions, before names
    yield from _tokens(first, known)
    if "ENTITY" in held:
        opening = expression(known["LPAR"])
        yield Pattern(rf"({name}|{string})(\s*)({opening})", ("predicate", None, "punctuation"), "arguments")
    if "LBRACE" in held:
        yield Pattern(f"({expression(known['LBRACE'])})", ("punctuation",), "attributes")
    yield from _tokens([each for each in ordered if each not in first and each != "LBRACE"], known)
    if "NAME" in held:
        yield Pattern(f"({name})", (_NAMES.get(kind, "name"),))


def _attributes(known: dict[str, TerminalDef]) -> Iterable[Pattern]:
    held = reachable("attributes") - {"LBRACE", "RBRACE", "NAME"}
    name = expression(known["NAME"])
    yield Pattern(rf"({name})(\s*)({expression(known['COLON'])})", ("attribute", None, "punctuation"))
    yield from _tokens([each for each in known if each in held], known)
    yield Pattern(f"({name})", ("constant",))


def _comment() -> Pattern:
    return Pattern(f"({comment()})", ("comment",))


def _tokens(names: Sequence[str], known: dict[str, TerminalDef]) -> Iterable[Pattern]:
    """The terminals on their own. What is spelled with words and with symbols comes twice: the words first."""
    for name in names:
        regex, spelled = expression(known[name]), words(known[name])
        if name in _STYLES:
            yield Pattern(f"({regex})", (_STYLES[name],))
            continue
        symbols = not regex[0].isalpha()
        if spelled:
            yield Pattern(rf"((?=[^\W\d_])(?:{regex}))", ("word" if symbols else "keyword",))
        if symbols:
            punctuation = known[name].pattern.value.split("(?")[0] in _PUNCTUATION
            yield Pattern(f"({regex})", ("punctuation" if punctuation else "operator",))
