"""Operators, comments and punctuation of other languages."""

from __future__ import annotations

import re

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.fault import Fault
from lnnkit.syntax.identifiers import KEYWORDS, SHOUTED
from lnnkit.syntax.rewrite import as_rule, by_cases

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)


# Text at the fault -> code, what to write instead. Longest first.
_SYMBOLS = (
    ("==>", "broken-arrow", "->"),
    ("&&", "double-and", "&"),
    ("||", "double-or", "|"),
    ("==", "double-equals", "="),
    ("=<", "reversed-less-equal", "<="),
    ("=>=", "reversed-less-equal", ">="),
    ("<>", "chevron-unequal", "!="),
    ("\\=", "backslash-unequal", "!="),
    ("/\\", "slash-and", "&"),
    ("\\/", "slash-or", "|"),
    ("\\+", "backslash-not", "~"),
    ("**", "double-star", "^"),
    ("≡", "foreign-symbol", "<->"),
    ("⊃", "foreign-symbol", "->"),
    ("×", "foreign-symbol", "*"),
    ("·", "foreign-symbol", "*"),
    ("÷", "foreign-symbol", "/"),
)


_DIRECTIVE = re.compile(
    r":-\s*(dynamic|discontiguous|table|use_module|initialization|set_prolog_flag|module)\b\s*([^\n]*?)\.?\s*(?:\n|$)"
)


def directive(fault: Fault) -> Diagnostic | None:
    """`:- dynamic p/1.`"""
    found = _DIRECTIVE.match(fault.rest)
    if found is None:
        return None
    named = re.fullmatch(r"([^\W\d][\w-]*)\s*/\s*(\d)", found[2])
    hint = "remove the line: nothing has to be imported or switched on"
    if named:
        hint = f"remove the line, or write `predicate {named[1]}({', '.join(['entity'] * int(named[2]))})`"
    message = f"`:- {found[1]}` is a directive of Prolog"
    return fault.report("directive", message, hint, end=fault.start + 2)


def backward_arrow(fault: Fault) -> Diagnostic | None:
    arrow = fault.rest[:2]
    if fault.token is not None or arrow not in (":-", "<-"):
        return None
    negative = re.match(r"<-\s*(\d[\d.]*)", fault.rest)
    if negative:
        return fault.report(
            "backward-arrow", "`<-` is not an operator", f"write `< -{negative[1]}`", end=fault.start + 2
        )
    rule = as_rule(fault)
    hint = f"write `{rule}`" if rule else "write the body first: `rule body -> head`"
    if fault.first_on_line and arrow == ":-":  # a constraint, which has no head
        body = re.sub(r"\),\s*", ") & ", " ".join(fault.rest[2:].split()).removesuffix("."))
        hint = f"write `axiom {body} -> false`"
    return fault.report(
        "backward-arrow", f"`{arrow}` is not an operator: a rule runs forward", hint, end=fault.start + 2
    )


def broken_arrow(fault: Fault) -> Diagnostic | None:
    """`-->`, `- >` and `= >`: the first sign was parsed as an arithmetic operator."""
    previous = fault.previous
    if previous is None or previous.text not in ("-", "=") or fault.token not in ("IMPLIES", "COMPARE"):
        return None
    text = fault.source.text[previous.start : fault.end]
    if not re.fullmatch(r"[-=]\s*[-=]?>", text):
        return None
    return fault.report("broken-arrow", f"`{text}` is not an operator", "write `->`", previous.start)


def foreign_symbol(fault: Fault) -> Diagnostic | None:
    if fault.token is not None:
        return None
    for symbol, code, instead in _SYMBOLS:
        if fault.rest.startswith(symbol):
            end = fault.start + len(symbol)
            return fault.report(code, f"`{symbol}` is not an operator here", f"write `{instead}`", end=end)
    return None


def bang(fault: Fault) -> Diagnostic | None:
    if fault.token is not None:
        return None
    unique = re.match(r"∃!", fault.rest)
    if unique or (fault.text == "!" and fault.previous and fault.previous.text in ("∃", "exists")):
        hint = "write `exists X: P(X)`, and `axiom P(X) & P(Y) -> X = Y` for the uniqueness"
        end = fault.start + (2 if unique else 1)
        return fault.report("unique-exists", "`∃!` is not a quantifier", hint, end=end)
    if re.match(r"!\s*[\w(]", fault.rest):
        return fault.report("bang-negation", "`!` is not the negation", "write `~`")
    return None


def not_equal(fault: Fault) -> Diagnostic | None:
    """`~=`, and `/=`, whose first sign was parsed as a division."""
    previous = fault.previous
    if previous is not None and previous.text == "/" and fault.token in ("EQUALS", "COMPARE") and fault.touching:
        return fault.report("slash-unequal", "`/=` is not an operator", "write `!=`", previous.start)
    match = re.match(r"[~¬]=", fault.rest)
    if fault.token == "NOT" and match:
        return fault.report("tilde-unequal", f"`{match[0]}` is not an operator", "write `!=`", end=fault.start + 2)
    return None


def foreign_comment(fault: Fault) -> Diagnostic | None:
    match = re.match(r"%+|//+|/\*", fault.rest)
    if fault.token is not None and not (match and match[0] == "/*" and fault.token == "DIVIDE"):
        return None
    if not match or (match[0] == "%" and fault.previous and fault.touching and fault.previous.kind == "number"):
        return None
    end = fault.start + match.end()
    return fault.report(
        "foreign-comment", f"`{match[0]}` does not start a comment", "a comment starts with `#`", end=end
    )


def period(fault: Fault) -> Diagnostic | None:
    if fault.token is not None or fault.text != "." or fault.in_arguments:
        return None
    if fault.before and fault.quantified(len(fault.before) - 1):
        return fault.report("quantifier-period", "a quantifier takes a colon, not a period", "write `:`")
    if fault.previous is not None and not fault.open and re.match(r"\.(?:\s|[#%]|//|$)", fault.rest):
        return fault.report("trailing-period", "a statement ends where its line ends, without `.`", "remove the period")
    return None


def semicolon(fault: Fault) -> Diagnostic | None:
    if fault.token is not None or fault.text != ";":
        return None
    if not fault.rest[1:].strip():
        return fault.report("semicolon", "a statement ends where its line ends, without `;`", "remove the `;`")
    after = re.sub(r"^;+\s*", "", fault.rest)
    if re.match(rf"(?:{'|'.join(KEYWORDS)})\s", after):
        return fault.report(
            "semicolon", "a statement ends where its line ends, without `;`", "put the next on its own line"
        )
    words = not fault.open and re.search(r"[(&|~=<>∧∨¬→]|->", after) is None
    if words and (len(after.split()) > 1 or fault.keyword not in _FORMULA_KEYWORDS):
        return fault.report("foreign-comment", "`;` does not start a comment", "a comment starts with `#`")
    return fault.report(
        "semicolon", "`;` is not an operator", "write `|` for or, `#` before a comment; put a statement on its own line"
    )


def shouted(fault: Fault) -> Diagnostic | None:
    for lexeme in (fault.word, fault.previous):
        if lexeme is None or lexeme.kind != "word" or fault.in_arguments:
            continue
        text = lexeme.text
        if fault.keyword in ("fact", "label") and fault.previous is not None and fault.previous.text == "=":
            return None  # a value
        if text.upper() in ("IF", "THEN") and fault.keyword in _FORMULA_KEYWORDS:
            return fault.report_at(
                lexeme, "if-then", f"`{text}` is not a word of the language", "write `P -> Q` for if P then Q"
            )
        if text.upper() == "ELSE" and fault.keyword in _FORMULA_KEYWORDS:
            hint = "end the statement before it, and write a second one: `~P -> Q` for else Q"
            return fault.report_at(lexeme, "if-then", f"`{text}` is not a word of the language", hint)
        if text in SHOUTED:
            return fault.report_at(
                lexeme, "capital-operator", f"`{text}` in capitals is not an operator", f"write `{text.lower()}`"
            )
        if text in ("And", "Or", "Not") and fault.word:
            return fault.report_at(
                lexeme, "capital-operator", f"`{text}` is not an operator", f"write `{text.lower()}`"
            )
    return None


def if_call(fault: Fault) -> Diagnostic | None:
    """`IF(A(X), B(X), C(X))`."""
    for place in fault.open:
        called = fault.before[place - 1] if place else None
        if called is not None and called.text.upper() in ("IF", "IIF", "IFELSE", "IF_ELSE"):
            call = fault.source.text[called.start : fault.piece.end]
            return fault.report_at(called, "if-then", *no_if(called.text, call))
    return None


def no_if(name: str, call: str) -> tuple[str, str]:
    """The message and the hint for a conditional written as a call."""
    cases = by_cases(call)
    hint = f"write `{cases}`" if cases else "write a rule for each case: `P -> Q` for if P then Q, `~P -> R` for else R"
    return f"`{name}` is not a function", hint


def head_shouted(fault: Fault) -> Diagnostic | None:
    """`NOT(P(X))`, which parses as an atom named NOT."""
    if not fault.in_arguments:
        return None
    head = fault.before[fault.open[-1] - 1]
    if head.text in SHOUTED:
        return fault.report_at(
            head, "capital-operator", f"`{head.text}` in capitals is not an operator", f"write `{head.text.lower()}`"
        )
    return None
