"""Facts whose value or arguments are written in another way."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.mistakes.phrasing import ATOM, FACTS, SHARE, VALUE, covered, phrasing

_BOUNDS = "bounds are written `in [l, u]`"
_ENTITY = r"(?:\"[^\"\n]*\"|[a-z0-9][\w-]*)"
_NUMBER = r"\d+(?:\.\d+)?|\.\d+"


def _one_each(found: dict[str, str]) -> str:
    every = [each.strip() for each in found["list"].split(",")]
    return "give each its own line: " + ", ".join(f"`{found['keyword']} {found['name']}({each})`" for each in every)


def _each_atom(found: dict[str, str]) -> str:
    every = re.findall(ATOM, found["list"])
    return f"give each its own line and its own `{found['keyword']}`: " + ", ".join(
        f"`{found['keyword']} {each}`" for each in every
    )


_VALUES = (
    phrasing(
        FACTS,
        rf"(?P<list>{ATOM}\s*(?P<at>&|,|and)\s*{ATOM}(?:\s*(?:&|,|and)\s*{ATOM})*)",
        "fact-formula",
        "a fact is one atom or its negation, not several",
        _each_atom,
    ),
    phrasing(
        FACTS,
        r"(?P<name>[A-Z][\w-]*)\s*(?P<at>[=:]\s*[\[{]\s*(?P<list>[\w\"-]+(?:\s*,\s*[\w\"-]+)*)\s*[\]}])",
        "several-facts",
        "a fact is one atom",
        _one_each,
    ),
    phrasing(
        FACTS,
        rf"(?P<name>[A-Z][\w-]*)\s*(?P<at>:\s*(?P<list>{_ENTITY}(?:\s*,\s*{_ENTITY})*))",
        "fact-arguments",
        "the arguments of an atom stand in parentheses",
        "write `{keyword} {name}({list})`",
    ),
    phrasing(
        FACTS,
        rf"(?P<name>[A-Z][\w-]*)\s*(?P<at>=\s*(?P<list>(?!\d)(?!(?i:true|false|yes|no|unknown|none|null)\b){_ENTITY}))",
        "fact-arguments",
        "the arguments of an atom stand in parentheses",
        "write `{keyword} {name}({list})`",
    ),
    phrasing(
        FACTS,
        rf"(?P<at>(?P<who>{_ENTITY})\s*:)\s*(?P<name>[A-Z][\w-]*)",
        "fact-arguments",
        "the predicate comes before what it is about",
        "write `{keyword} {name}({who})`",
    ),
    phrasing(
        FACTS,
        rf"(?P<name>[A-Z][\w-]*)\((?P<who>[^()]*)\)\s*(?P<at>=\s*(?P<value>(?!\d)(?!(?i:true|false|yes|no|unknown|certain|"
        rf"sure|always|never|impossible|none|null|nan|na|n)\b){_ENTITY}))",
        "entity-as-value",
        "an entity is an argument, not a value",
        "write `{keyword} {name}({who}, {value})`",
    ),
    phrasing(
        FACTS,
        rf"(?P<name>[^\W\d][\w-]*)\((?P<one>{_ENTITY})\s*(?P<at>->|=>|→|to)\s*(?P<other>{_ENTITY})\)",
        "argument-formula",
        "a comma separates two arguments",
        "write `{keyword} {name}({one}, {other})`",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>(?:(?::=|:|<-)\s*(?:Fact\.)?|=\s*Fact\.)(?:TRUE|True|true))",
        "truth-as-value",
        "a value is a number, and what is stated is true",
        "write `= 1`, or leave it out",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>(?:(?::=|:|<-)\s*(?:Fact\.)?|=\s*Fact\.)(?:FALSE|False|false))",
        "truth-as-value",
        "a value is a number",
        "write `= 0`, or `~` before the atom",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>(?:(?::\s*)?[\[(]|=\s*\()\s*(?P<low>{VALUE})\s*,\s*(?P<high>{VALUE})\s*[\])])",
        "wrong-bounds",
        _BOUNDS,
        "write `in [{low}, {high}]`",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>=?\s*(?P<low>{_NUMBER})\s*(?:\.\.+|-|–|to)\s*(?P<high>{_NUMBER}))",
        "wrong-bounds",
        _BOUNDS,
        "write `in [{low}, {high}]`",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>in\s*\[\s*(?P<value>{VALUE})\s*\])",
        "wrong-bounds",
        _BOUNDS,
        "write `= {value}`",
    ),
    phrasing(
        FACTS,
        rf"{ATOM}\s*(?P<at>(?:,|->|=>)\s*(?P<value>{SHARE}))",
        "missing-equals",
        "a value follows `=`",
        "write `= {value}`",
    ),
    phrasing(
        FACTS,
        r"(?P<name>[A-Z][\w-]*)\s*(?P<at>=\s*\{.*\})",
        "several-facts",
        "a fact is one atom",
        "give each its own line: `{keyword} {name}(anna) = 0.7`",
    ),
)


def stated_value(fault: Fault) -> Diagnostic | None:
    """The first of these that covers the statement."""
    return covered(fault, _VALUES)
