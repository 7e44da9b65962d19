"""Corrected text for hints: what the user meant, in correct syntax. The functions of the groups of a match and the
fault are hints of the table of mistakes; where one returns None, the mistake is another."""

from __future__ import annotations

import re

from lnnkit.syntax.dates import date_text, days
from lnnkit.syntax.fault import CLOSING, Fault
from lnnkit.syntax.identifiers import is_name, unglued
from lnnkit.syntax.printer import format_string

Groups = dict[str, str]  # named groups of a match and their texts

NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"
ITEM = r"(?:\"(?:[^\"\\\n]|\\.)*\"|[^\W_][\w.:-]*)"
ARROW = re.compile(r"->|→|=>|⇒|(?<!\w)implies(?!\w)")
_ARROW = re.compile(r"->|→|=>|⇒|:-|<-")
_LED = re.compile(
    r"(?P<word>(?:(?:rule|axiom|fact|label)\s+)?)(?P<name>(?:[^\W\d_][\w-]*\s*:\s*)?)(?P<truth>\d*\.?\d+)"
    r"(?:\s*(?P<colon>::?)\s*|\s+)(?P<second>(?:(?:rule|axiom|fact|label)\s+)?)(?P<formula>[~¬∀∃(\w].*?)\.?",
    re.DOTALL,
)
_LITERAL = r"[~¬]?\s*[^\W\d_][\w-]*\s*(?:\([^()]*\))?"
_OPENING = re.compile(r"[~¬]?[\w-]+\([^()]*\)\s*(?:[&|,]|[-=]>|:-|and\b|or\b|implies\b|$)")


def balanced(text: str) -> bool:
    """Whether the brackets in ``text`` match."""
    stack: list[str] = []
    for character in text:
        if character in "([{":
            stack.append(character)
        elif character in ")]}" and (not stack or stack.pop() != CLOSING[character]):
            return False
    return not stack


def aggregate_message(name: str) -> str:
    return f"`{name}` is no function: an aggregate names the variables that it runs over before a colon"


def parts_of_call(text: str) -> list[str]:
    """The arguments of a call, split at the commas outside of brackets; ``text`` starts with its opening
    parenthesis."""
    parts, depth, start = [], 0, 1
    for index, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if (character == "," and depth == 1) or depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
        if depth == 0:
            break
    return parts


# --- rules of other languages -----------------------------------------------------------------------------------------


def forward(groups: Groups, fault: Fault) -> str | None:
    """`h(X) :- a(X), b(X).` as `rule a(X) & b(X) -> h(X)`."""
    if groups["at"] == ":=" and fault.keyword not in ("rule", "axiom", "query", None):
        return None
    if groups["at"] == ":-" and (fault.first_on_line or not fault.before):  # a constraint, which has no head
        return f"`axiom {_conjoined(fault.rest[2:].strip().removesuffix('.'))} -> false`"
    rule = _as_rule(fault)
    return f"`{rule}`" if rule else "write the body first: `rule body -> head`"


def _as_rule(fault: Fault) -> str | None:
    """The rule that is written backward, as a rule; None if that is too long to show."""
    text, words = fault.source.text, fault.before
    if fault.keyword is not None:
        words = words[1:]
    name = ""
    if len(words) > 1 and words[1].text == ":":
        name, words = f"{words[0].text}: ", words[2:]
    if not words:
        return None
    head = text[words[0].start : fault.start].strip()
    body = text[fault.start + 2 : fault.piece.end].strip().removesuffix(".").strip()
    whole = text[fault.piece.start : fault.piece.end]
    if not (head and body and balanced(head) and balanced(body)) or _ARROW.search(head + body):
        return None
    if "\n" in whole or '"' in whole or len(whole) > 100:
        return None
    return f"{'axiom' if fault.keyword == 'axiom' else 'rule'} {name}{_conjoined(body)} -> {head}"


def _conjoined(body: str) -> str:
    """``body`` with the commas outside of brackets replaced by `&`, and the semicolons by `|`."""
    signs, depth, joined = {",": " &", ";": " |"}, 0, ""
    for character in body.replace("\\+", "~"):
        depth += (character in "([{") - (character in ")]}")
        joined += signs.get(character, character) if depth == 0 else character
    return " ".join(re.sub(r"([&|])(?=\S)", r"\1 ", joined).split())


def truth_last(_: Groups, fault: Fault) -> str | None:
    """`0.8: A -> B` as `rule A -> B in [0.8, 1]`, `0.8::p(a)` as `fact p(a) = 0.8`."""
    led = _LED.fullmatch(fault.source.text, fault.piece.start, fault.piece.end)
    if (
        led is None
        or len(led[0]) > 400
        or not (led["colon"] or led["second"] or led["name"] or _OPENING.match(led["formula"]))
    ):
        return None
    truth, formula = led["truth"], " ".join(led["formula"].split())
    keyword = (led["word"] or led["second"]).strip()
    if re.fullmatch(_LITERAL, formula) and keyword not in ("rule", "axiom"):
        return f"`{keyword or 'fact'} {formula} = {truth}`"
    if ":-" in formula:
        head, body = formula.split(":-", 1)
        formula = f"{_conjoined(body)} -> {head.strip()}"
    if not ARROW.search(formula) or " in [" in formula or re.search(r"[&,]\s*\d*\.\d+ ", formula):
        return None
    return f"`{keyword or 'rule'} {led['name']}{formula} in [{truth if float(truth) <= 1 else 'l'}, 1]`"


def bounds(groups: Groups, _: Fault) -> str:
    return f"`in [{groups['low']}, {groups['high'] or 1}]`"


def named(groups: Groups, fault: Fault) -> str | None:
    """What to write for `r1 =`, unless that may be a variable, an entity that the statement mentions, or a number."""
    name = groups["name"]
    numeric = rf"^\s*(?:number\s+{re.escape(name)}\b|import\b)"
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", groups["compared"]) or (
        not name.startswith('"') and re.search(numeric, fault.source.text, re.MULTILINE)
    ):
        return None
    short = re.sub(r"\W+", "-", name.strip('"')).strip("-") or "r1"
    return f"`{short}:`"


def asked(groups: Groups, _: Fault) -> str:
    """A query without the marks and words of other languages around it."""
    text = re.sub(r"\),\s*", ") & ", " ".join(groups["asked"].split()).rstrip(".? "))
    return "`query " + re.sub(r"[?$]([^\W\d_])", lambda mark: mark[1].upper(), text) + "`"


# --- numbers ----------------------------------------------------------------------------------------------------------


def without_separators(groups: Groups, _: Fault) -> str:
    whole, part = re.sub(r"[.,_\s]", "", groups["whole"]), groups.get("part")
    return f"`{whole}.{part}`" if part else f"`{whole}`"


def without_unit(groups: Groups, _: Fault) -> str:
    number, unit = groups["number"].strip(), groups["unit"].lower().removesuffix("s")
    if factor := {"%": 0.01, "k": 1000, "m": 1_000_000}.get(unit):
        return f"`{float(number) * factor:.15g}`"
    if unit in ("day", "week"):
        return f"`{float(number) * (7 if unit == 'week' else 1):.15g} days`"
    if unit in ("month", "year"):
        return f"they differ in length: compare completed ones, `{unit}s(hired(X), today) >= {number}`"
    return f"`{number}`, and put the unit into the name"


def learnable(groups: Groups, _: Fault) -> str:
    return "`" + re.sub(r"[\s=]", "", groups["at"]) + "`"


def calculated(groups: Groups, _: Fault) -> str:
    return f"`{groups['number'].strip()} {groups['minus'] or '*'} {groups['name']}(...)`"


def within(groups: Groups, _: Fault) -> str | None:
    """`18 <= age(X) <= 65` for the two numbers, dates or terms between which ``operand`` is to be."""
    operand, numbers = groups["operand"], groups.get("range", "")
    ends = re.findall(rf"-?{NUMBER}", numbers.replace("..", " ")) or [groups["low"], groups["high"]]
    low, high = (end if (at := days(end)) is None else f'date "{date_text(at)}"' for end in ends)
    below, above = ("<" if end in numbers else "<=" for end in "()")
    listed = f"; with each of a list: `({operand} = {low} | {operand} = {high})`" if below == above == "<" else ""
    return f"`{low} {below} {operand} {above} {high}`{listed}" if operand else None


# --- lists and names --------------------------------------------------------------------------------------------------


def one_of(groups: Groups, _: Fault) -> str | None:
    """`(S = a | S = b)` for `S in (a, b)`, `S != a & S != b` for `S not in (a, b)`."""
    items, held = re.findall(ITEM, groups["list"]), groups["held"]
    if any(re.fullmatch(r"\d[\d.]*(?:[eE]-?\d+)?|inf", item) for item in items):
        return None
    entities = [item if item.startswith('"') or is_name(item) else format_string(item) for item in items]
    if groups["not"]:
        return f"`{' & '.join(f'{held} != {entity}' for entity in entities)}`"
    cases = [f"{held[:-1]}, {entity})" if held.endswith(")") else f"{held} = {entity}" for entity in entities]
    return f"`({' | '.join(cases)})`" if len(cases) > 1 else f"`{cases[0]}`"


def separated(groups: Groups, _: Fault) -> str | None:
    """`∀x P(x)` for `∀xP(x)`."""
    arguments = groups["first"] + groups["others"]
    parts = unglued(groups["glued"], [argument.strip() for argument in arguments.split(",")])
    return parts and f"put a space after the variable: `{groups['binder']}{parts[0]} {parts[1]}({arguments})`"


def with_arity(groups: Groups, _: Fault) -> str:
    return f"`{groups['keyword']} {groups['name']}({', '.join(['entity'] * int(groups['count']))})`"


def as_query(groups: Groups, _: Fault) -> str:
    """A table whose condition calculates, as a query of DuckDB."""
    test = re.sub(r'"([^"]*)"', r"'\1'", " ".join(groups["test"].split()))
    select = f"select {', '.join(groups['columns'].replace(',', ' ').split())} from '{groups['path']}' where {test}"
    return f'`load {groups["name"]} from query "{select}"`, in the SQL of DuckDB'


def operand_before(fault: Fault, start: int) -> str:
    """The text of the atom that ends before an offset, or before the comparison there; empty if there is none."""
    place = sum(lexeme.start < start for lexeme in fault.before)
    if place > 1 and re.search(r"[<>=]$|^in$", fault.before[place - 1].text):
        place -= 1
    depth = 0
    for index in range(place - 1, -1, -1):
        text = fault.before[index].text
        depth += (text == ")") - (text == "(")
        if depth == 0 and fault.before[index].kind == "word":
            return fault.source.text[fault.before[index].start : fault.before[place - 1].end]
        if depth < 0 or (depth == 0 and text != "("):
            break
    return ""
