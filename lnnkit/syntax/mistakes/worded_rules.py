"""Rules in words: what stands in the place of a connective, and before or behind an atom."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.mistakes.phrasing import ATOM, FORMULAS, RULES, SHARE, VALUE, covered, phrasing

_NOT_A_WORD = "this is not a word of the language"
_THEN = (
    r"implies\s+that|therefore|hence|thus|means(?:\s+that)?|causes|leads\s+to|results\s+in|yields|entails"
    r"|so\s+that|so|must(?:\s+be)?|can\s+be|may\s+be|is\s+also|only\s+if|then"
)
_PART = rf"(?:{ATOM}\s*[<>=!]+\s*{VALUE}|{ATOM})"


def _neither(found: dict[str, str]) -> str:
    return f"write `~{found['one']} & ~{found['other']}`"


def _values(found: dict[str, str]) -> str:
    values = re.findall(VALUE, found["first"] + " " + found["more"])
    return "write `(" + " | ".join(f"{found['number']} = {value}" for value in values) + ")`"


_WORDINGS = (
    phrasing(
        RULES,
        rf"(?P<one>{_PART})\s+(?P<at>if\s+and\s+only\s+if|exactly\s+(?:if|when)|iff\s+and\s+only\s+iff)\s+{_PART}",
        "worded-connective",
        _NOT_A_WORD,
        "write `<->`",
    ),
    phrasing(
        RULES,
        rf"{_PART}(?:\s*(?:&|and|,)\s*{_PART})*\s*,?\s+(?P<at>(?i:{_THEN}))\s+[~¬]?{ATOM}.*",
        "worded-connective",
        _NOT_A_WORD,
        "write `->`",
    ),
    phrasing(
        RULES,
        rf"{_PART}(?:\s*(?:&|and)\s*{_PART})*(?P<at>\s*:)\s+{ATOM}",
        "worded-connective",
        "a colon follows the name of a rule",
        "write ` ->`",
    ),
    phrasing(
        RULES,
        rf"(?P<at>either)\s+(?P<one>{_PART})\s+or\s+(?P<other>{_PART})\s*->.*",
        "worded-connective",
        _NOT_A_WORD,
        "write `{one} | {other}`, or `xor` where not both hold",
    ),
    phrasing(
        RULES,
        rf"(?P<at>neither)\s+(?P<one>{_PART})\s+nor\s+(?P<other>{_PART})\s*->.*",
        "worded-connective",
        _NOT_A_WORD,
        _neither,
    ),
    phrasing(
        RULES,
        rf"(?P<at>both)\s+(?P<one>{_PART})\s+and\s+(?P<other>{_PART})\s*->.*",
        "worded-connective",
        _NOT_A_WORD,
        "write `{one} & {other}`",
    ),
    phrasing(
        FORMULAS,
        rf"{_PART}\s+(?P<at>but(?!\s+not)|also|as\s+well\s+as|plus|whose|who\s+has|while|and\s+also|and\s+then)\s+{_PART}.*",
        "worded-connective",
        _NOT_A_WORD,
        "write `&`",
    ),
    phrasing(
        RULES,
        rf"(?P<at>(?i:each|a|an|the|any))\s+(?P<rest>{ATOM}.*->.*)",
        "worded-connective",
        "the variables of a rule stand for every entity",
        "write `{rest}`",
    ),
    phrasing(
        RULES,
        rf".*->\s*(?P<at>maybe|usually|probably|possibly|often|sometimes|likely|mostly)\s+(?P<head>{ATOM})",
        "wrong-bounds",
        "the truth of a rule is written at its end",
        "write `{head} in [0.8, 1]`",
    ),
    phrasing(
        RULES,
        rf"(?P<body>[^\n]*?)->\s*(?P<head>{ATOM})\s+(?P<at>(?:because|since|if|when|whenever|where|provided|as\s+long\s+as)\s+"
        rf"(?P<more>{_PART}))",
        "worded-connective",
        "all conditions stand before `->`",
        lambda found: f"write `{found['body'].strip()} & {found['more']} -> {found['head']}`",
    ),
    phrasing(
        RULES,
        rf".*->\s*{ATOM}\s*(?P<at>otherwise)\s+{ATOM}",
        "if-then",
        _NOT_A_WORD,
        "end the statement before it, and write a second one: `~P -> Q`",
    ),
    phrasing(
        FORMULAS,
        rf"(?:.*?[\s(&|])?(?P<at>(?P<number>{ATOM})\s*(?:=|is)\s*(?P<first>{VALUE})(?P<more>(?:\s*(?:or|\||,)\s*{VALUE}"
        r"(?![\d.])(?!\s*[<>=*/+]|\s*-(?!>)))+))\s*(?:&.*|->.*)?",
        "number-choice",
        "a number is compared with one number at a time",
        _values,
    ),
    phrasing(
        RULES,
        rf".*(?P<at>-\s*\[?\s*(?P<low>{SHARE})\s*\]?\s*->)\s*(?P<head>{ATOM})",
        "wrong-bounds",
        "the truth of a rule is written at its end",
        "write `-> {head} in [{low}, 1]`",
    ),
    phrasing(
        RULES,
        rf".*(?P<at>->\s*\[\s*(?P<low>{SHARE})\s*,\s*(?P<high>{SHARE})\s*\])\s*(?P<head>{ATOM})",
        "wrong-bounds",
        "the truth of a rule is written at its end",
        "write `-> {head} in [{low}, {high}]`",
    ),
    phrasing(
        RULES,
        rf".*->\s*{ATOM}\s*(?P<at>[<{{|,]\s*(?P<low>{SHARE})\s*[>}}]?)",
        "wrong-bounds",
        "the truth of a rule is written at its end",
        "write `in [{low}, 1]`",
    ),
    phrasing(
        RULES,
        rf".*->\s*{ATOM}\s*(?P<at>in\s*\[\s*(?P<low>{SHARE})\s*\])",
        "wrong-bounds",
        "bounds are written `in [l, u]`",
        "write `in [{low}, 1]`",
    ),
    phrasing(
        RULES,
        rf".*->\s*{ATOM}\s*(?P<at>=\s*\[\s*(?P<low>{SHARE})\s*,\s*(?P<high>{SHARE})\s*\])",
        "wrong-bounds",
        "bounds are written `in [l, u]`",
        "write `in [{low}, {high}]`",
    ),
    phrasing(RULES, r".*?(?P<at>\|>|\.->|-\.->|~~>).*", "broken-arrow", "this is not an operator", "write `->`"),
)


def worded_rule(fault: Fault) -> Diagnostic | None:
    """The first of these that covers the statement."""
    return covered(fault, _WORDINGS)
