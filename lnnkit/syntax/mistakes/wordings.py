"""Words of English or of other languages in place of operators, clauses and variables."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import is_name
from lnnkit.syntax.printer import format_string

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)
_COMPARED = {
    "greater than or equal to": ">=", "less than or equal to": "<=", "greater than": ">", "more than": ">",
    "less than": "<", "fewer than": "<", "at least": ">=", "at most": "<=", "above": ">", "below": "<", "over": ">",
    "under": "<",
}  # fmt: skip
_WORDED = re.compile(rf"(?:is\s+)?({'|'.join(word.replace(' ', chr(92) + 's+') for word in _COMPARED)})\s", re.I)
_ITEM = r"""(?:"(?:[^"\\\n]|\\.)*"|[^\W_][\w.:-]*)"""
_EXCLUDED = re.compile(rf"not\s+in\s*[(\[{{]\s*({_ITEM}(?:\s*,\s*{_ITEM})*)\s*[)\]}}]")


_WRAPPED = re.compile(r"[\[($€£]\s*(-?\d*\.?\d+)\s*[\])]?\s*")


def truth_word(fault: Fault) -> Diagnostic | None:
    """`rule A -> B with 0.8`, `rule A -> B weight 0.8`."""
    found = re.fullmatch(r"(?:with\s+)?([^\W\d]\w*)?\s*[:=]?\s*(0?\.\d+|[01](?:\.0*)?)\s*", fault.rest)
    if fault.keyword not in ("rule", "axiom") or found is None or fault.word is None or fault.open:
        return None
    hint = f"write `in [{found[2]}, 1]`"
    end = fault.start + len(found[0].rstrip())
    return fault.report("wrong-bounds", "bounds are written `in [l, u]`", hint, end=end)


def worded_comparison(fault: Fault) -> Diagnostic | None:
    """`age(X) greater than 18`."""
    found = _WORDED.match(fault.rest)
    if found is None or fault.keyword not in _FORMULA_KEYWORDS or fault.in_arguments:
        return None
    sign = _COMPARED[" ".join(found[1].lower().split())]
    end = fault.start + len(found[0].rstrip())
    return fault.report("worded-comparison", f"`{found[0].rstrip()}` is not an operator", f"write `{sign}`", end=end)


def unless(fault: Fault) -> Diagnostic | None:
    found = re.match(r"(unless|except|but\s+not|without)(?!\w)", fault.rest, re.IGNORECASE)
    if found is None or fault.keyword not in _FORMULA_KEYWORDS or "AND" not in fault.expected:
        return None
    end = fault.start + found.end()
    return fault.report("unless", f"`{found[0]}` is not a word of the language", "write `& ~` in the body", end=end)


def not_in(fault: Fault) -> Diagnostic | None:
    """`X not in [ann, bob]`."""
    found = _EXCLUDED.match(fault.rest)
    previous = fault.previous
    if found is None or previous is None or previous.kind != "word" or fault.keyword not in _FORMULA_KEYWORDS:
        return None
    items = re.findall(_ITEM, found[1])
    entities = [item if item.startswith('"') or is_name(item) else format_string(item) for item in items]
    hint = f"write `{' & '.join(f'{previous.text} != {entity}' for entity in entities)}`"
    end = fault.start + found.end()
    return fault.report("membership", "`in` gives bounds and does not test membership", hint, end=end)


def marked_variable(fault: Fault) -> Diagnostic | None:
    """`P(?x)`, `P($x)`, `P(@x)`."""
    found = re.match(r"[?$@:]([^\W\d_])(\w*)", fault.rest)
    if found is None or not fault.in_arguments or fault.keyword not in _FORMULA_KEYWORDS:
        return None
    if fault.rest.startswith("?") and len(found[2]) > 1:
        return None  # a learnable value by its name
    hint = f"a variable starts upper-case, without a mark: `{found[1].upper()}{found[2]}`"
    end = fault.start + found.end()
    return fault.report("marked-variable", f"`{found[0]}` is not an argument", hint, end=end)


def attribute(fault: Fault) -> Diagnostic | None:
    """`X.age > 18`."""
    found = re.match(r"\.([^\W\d_]\w*)(?!\w*\()", fault.rest)
    previous = fault.previous
    if found is None or previous is None or previous.kind != "word" or not fault.touching or fault.in_arguments:
        return None
    if fault.keyword not in _FORMULA_KEYWORDS or not previous.text[:1].isupper():
        return None
    hint, end = f"write `{found[1]}({previous.text})`", fault.start + found.end()
    message = "an attribute is a number or a predicate of its own"
    return fault.report("dotted-attribute", message, hint, previous.start, end)


def question_mark(fault: Fault) -> Diagnostic | None:
    """`query P(X)?`, `query ? P(X)`."""
    last = fault.rest.strip() == "?" and fault.previous is not None
    if fault.keyword == "query" and not fault.open and last and "AND" in fault.expected:
        return fault.report("query-mark", "a query takes no `?`", "remove the `?`", end=fault.start + 1)
    first = fault.previous is not None and fault.previous.text == "?" and len(fault.before) == 2
    if fault.keyword == "query" and first and fault.previous is not None:
        return fault.report_at(fault.previous, "query-mark", "a query takes no `?`", "remove the `?`")
    if fault.keyword in ("rule", "axiom") and re.match(r"\?\s[^:]+:", fault.rest):
        hint = "write two rules: `P & Q -> R` where P holds, `~P & Q -> S` where it does not"
        return fault.report("if-then", "`? :` is not an operator", hint, end=fault.start + 1)
    return None


def bounds_text(fault: Fault) -> Diagnostic | None:
    """`fact P(a) in 0.2..0.8`, `fact P(a) = [0.8]`, `fact age(a) = $34`."""
    previous = fault.previous
    if fault.keyword not in ("fact", "label") or previous is None or previous.text not in ("in", "="):
        return None
    ends = re.fullmatch(r"\[?(\d*\.?\d+)\s*(?:\.\.+|-|–|to)\s*(\d*\.?\d+)\]?\s*", fault.rest)
    if ends:
        instead = f"in [{ends[1]}, {ends[2]}]"
    elif single := _WRAPPED.fullmatch(fault.rest):
        instead = f"= {single[1]}"
    else:
        return None
    end = fault.start + len(fault.rest.rstrip())
    message = f"`{fault.rest.strip()}` is not a valid value of a {fault.keyword}"
    return fault.report("wrong-bounds", message, f"write `{instead}`", previous.start, end)
