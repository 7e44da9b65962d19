"""The mistakes that people bring along from other languages, each with its own message.

`MISTAKES` is a table of recognisers, tried in order on the place where the grammar stopped. Each answers only where
it is sure: a false explanation is worse than a plain one.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.expected import plain
from lnnkit.syntax.fault import END, Fault, Lexeme
from lnnkit.syntax.names import FUNCTIONS, SHOUTED, UNITS, is_name, unglued
from lnnkit.syntax.rewrite import as_rule, balanced, between

Recogniser = Callable[[Fault], Diagnostic | None]

_FORMULA_KEYWORDS = ("rule", "axiom", "query", None)
_OPERATORS = frozenset(("AND", "OR", "XOR", "IMPLIES", "IFF"))

# What stands at the fault -> code, what to write instead. The longest first.
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


def diagnose(fault: Fault) -> Diagnostic:
    """The named mistake at a fault, or a plain syntax error."""
    for recognise in MISTAKES:
        diagnostic = recognise(fault)
        if diagnostic is not None:
            return diagnostic
    return plain(fault)


# --- strings and brackets -------------------------------------------------------------------------------------------


def _unclosed_string(fault: Fault) -> Diagnostic | None:
    if fault.token is None and fault.text == '"':
        line = fault.rest.split("\n", 1)[0].rstrip()
        return fault.report(
            "unclosed-string", "this text is never closed", 'add a `"` where it ends', end=fault.start + len(line)
        )
    return None


def _single_quotes(fault: Fault) -> Diagnostic | None:
    match = re.match(r"'([^'\n]*)'|[“”„]([^“”\n]*)[“”]", fault.rest)
    if match and fault.token is None:
        text = match[1] if match[1] is not None else match[2]
        hint = f'write "{text}"'
        return fault.report("single-quotes", "a text stands in double quotes", hint, end=fault.start + match.end())
    return None


def _unclosed_group(fault: Fault) -> Diagnostic | None:
    trailing = fault.token == "IN" and re.fullmatch(r"in\s*\[[^\[\]]*\]\s*", fault.rest)
    if not fault.open or not (fault.token == END or trailing):
        return None
    opener = fault.before[fault.open[-1]]
    closer = {"(": ")", "[": "]", "{": "}"}[opener.text]
    return fault.report_at(opener, "unclosed-group", f"this `{opener.text}` is never closed", f"add a `{closer}`")


def _unmatched_bracket(fault: Fault) -> Diagnostic | None:
    if fault.token in ("RPAR", "RSQB", "RBRACE") and not fault.open:
        hint = "remove it, or open the group that it should close"
        return fault.report("unmatched-bracket", f"this `{fault.text}` closes nothing", hint)
    return None


# --- operators of other languages -----------------------------------------------------------------------------------


def _backward_arrow(fault: Fault) -> Diagnostic | None:
    arrow = fault.rest[:2]
    if fault.token is not None or arrow not in (":-", "<-"):
        return None
    negative = re.match(r"<-\s*(\d[\d.]*)", fault.rest)
    if negative:
        return fault.report("backward-arrow", "`<-` is no operator", f"write `< -{negative[1]}`", end=fault.start + 2)
    rule = as_rule(fault)
    hint = f"write `{rule}`" if rule else "write the body first: `rule body -> head`"
    return fault.report("backward-arrow", f"`{arrow}` is no operator: a rule runs forward", hint, end=fault.start + 2)


def _broken_arrow(fault: Fault) -> Diagnostic | None:
    """`-->`, `- >` and `= >`: the first sign was taken for an operator of terms."""
    previous = fault.previous
    if previous is None or previous.text not in ("-", "=") or fault.token not in ("IMPLIES", "COMPARE"):
        return None
    text = fault.source.text[previous.start : fault.end]
    if not re.fullmatch(r"[-=]\s*[-=]?>", text):
        return None
    return fault.report("broken-arrow", f"`{text}` is no operator", "write `->`", previous.start)


def _foreign_symbol(fault: Fault) -> Diagnostic | None:
    if fault.token is not None:
        return None
    for symbol, code, instead in _SYMBOLS:
        if fault.rest.startswith(symbol):
            end = fault.start + len(symbol)
            return fault.report(code, f"`{symbol}` is no operator here", f"write `{instead}`", end=end)
    return None


def _bang(fault: Fault) -> Diagnostic | None:
    if fault.token is not None:
        return None
    unique = re.match(r"∃!", fault.rest)
    if unique or (fault.text == "!" and fault.previous and fault.previous.text in ("∃", "exists")):
        hint = "write `exists X: P(X)`, and `axiom P(X) & P(Y) -> X = Y` for the uniqueness"
        end = fault.start + (2 if unique else 1)
        return fault.report("unique-exists", "`∃!` is no quantifier", hint, end=end)
    if re.match(r"!\s*[\w(]", fault.rest):
        return fault.report("bang-negation", "`!` is no negation", "write `~`")
    return None


def _not_equal(fault: Fault) -> Diagnostic | None:
    match = re.match(r"[~¬]=", fault.rest)
    if fault.token == "NOT" and match:
        return fault.report("tilde-unequal", f"`{match[0]}` is no operator", "write `!=`", end=fault.start + 2)
    return None


def _foreign_comment(fault: Fault) -> Diagnostic | None:
    match = re.match(r"%+|//+|/\*", fault.rest)
    if fault.token is not None and not (match and match[0] == "/*" and fault.token == "DIVIDE"):
        return None
    if not match or (
        match[0] == "%" and fault.previous and _touches(fault.previous, fault) and fault.previous.kind == "number"
    ):
        return None
    end = fault.start + match.end()
    return fault.report("foreign-comment", f"`{match[0]}` starts no comment", "a comment starts with `#`", end=end)


def _period(fault: Fault) -> Diagnostic | None:
    if fault.token is not None or fault.text != "." or fault.in_arguments:
        return None
    if fault.before and fault.quantified(len(fault.before) - 1):
        return fault.report("quantifier-period", "a quantifier takes a colon, not a period", "write `:`")
    if fault.previous is not None and not fault.open and re.match(r"\.(?:\s|[#%]|//|$)", fault.rest):
        return fault.report("trailing-period", "a statement ends with its line, not with `.`", "remove the period")
    return None


def _semicolon(fault: Fault) -> Diagnostic | None:
    if fault.token is not None or fault.text != ";":
        return None
    if not fault.rest[1:].strip():
        return fault.report("semicolon", "a statement ends with its line, not with `;`", "remove the `;`")
    return fault.report(
        "semicolon", "`;` is no operator", "write `|` for or; another statement takes a line of its own"
    )


def _shouted(fault: Fault) -> Diagnostic | None:
    for lexeme in (_met(fault), fault.previous):
        if lexeme is None or lexeme.kind != "word" or fault.in_arguments:
            continue
        text = lexeme.text
        if text.upper() in ("IF", "THEN") and fault.keyword in _FORMULA_KEYWORDS:
            return fault.report_at(
                lexeme, "if-then", f"`{text}` is no word of the language", "write `P -> Q` for if P then Q"
            )
        if text in SHOUTED:
            return fault.report_at(
                lexeme, "capital-operator", f"`{text}` in capitals is no operator", f"write `{text.lower()}`"
            )
        if text in ("And", "Or", "Not") and _met(fault):
            return fault.report_at(lexeme, "capital-operator", f"`{text}` is no operator", f"write `{text.lower()}`")
    return None


def _head_shouted(fault: Fault) -> Diagnostic | None:
    """`NOT(P(X))` reads as an atom that is called NOT."""
    if not fault.in_arguments:
        return None
    head = fault.before[fault.open[-1] - 1]
    if head.text in SHOUTED:
        return fault.report_at(
            head, "capital-operator", f"`{head.text}` in capitals is no operator", f"write `{head.text.lower()}`"
        )
    return None


# --- quantifiers ----------------------------------------------------------------------------------------------------


def _quantifier_sort(fault: Fault) -> Diagnostic | None:
    if not fault.before or not fault.quantified(len(fault.before) - 1):
        return None
    if fault.token == "IN" or (fault.token is None and fault.text in "∈:"):
        name = fault.before[-1].text
        match = re.match(r"(?:in|∈)\s*([^\W\d_][\w-]*)", fault.rest)
        hint = f"write `{match[1]}({name})` in the formula, or give the predicates sorts" if match else "leave it out"
        return fault.report("quantifier-sort", "a quantifier names no sort", hint)
    return None


def _quantifier_list(fault: Fault) -> Diagnostic | None:
    """`forall x y: P(x, y)`: `y` is read as the formula, and the fault shows behind it."""
    count = len(fault.before)
    second: int | None = None
    if fault.token == "COLON" and count > 2:
        second = count - 1
    elif (
        fault.in_arguments
        and fault.open[-1] > 1
        and fault.before[fault.open[-1]].start > fault.before[fault.open[-1] - 1].end
    ):
        second = fault.open[-1] - 1
    elif fault.token in ("NAME", "ENTITY") and count > 2:
        second = count - 1
    if second is None or fault.before[second].kind != "word" or not fault.quantified(second - 1):
        return None
    first, name = fault.before[second - 1], fault.before[second]
    return fault.report_at(
        name,
        "quantifier-comma",
        "variables of a quantifier are separated by commas",
        f"write `{first.text}, {name.text}`",
    )


def _glued_quantifier(fault: Fault) -> Diagnostic | None:
    """`∀xP(x, y)` reads as a variable `xP` before a group."""
    if fault.token != "COMMA" or not fault.open:
        return None
    place = fault.open[-1]
    if place < 2 or place != len(fault.before) - 2 or not fault.quantified(place - 1):
        return None
    glued = fault.before[place - 1]
    arguments = fault.source.text[fault.before[place + 1].start : fault.piece.end].split(")", 1)[0]
    parts = unglued(glued.text, [argument.strip() for argument in arguments.split(",")])
    if fault.before[place].start != glued.end or parts is None:
        return None
    write = f"{fault.before[place - 2].text}{parts[0]} {parts[1]}({arguments})"
    message = f"`{glued.text}` is read as one variable"
    return fault.report_at(glued, "glued-quantifier", message, f"put a space after the variable: `{write}`")


_QUANTIFIER_WORDS = {
    "for": "forall", "all": "forall", "every": "forall", "each": "forall", "foreach": "forall", "forAll": "forall",
    "Forall": "forall", "ForAll": "forall", "exist": "exists", "some": "exists", "there": "exists", "Exists": "exists",
}  # fmt: skip


def _quantifier_word(fault: Fault) -> Diagnostic | None:
    """`for all x: ...`, `exist x: ...`."""
    previous = fault.previous
    if previous is None or _met(fault) is None or fault.in_arguments or previous.kind != "word":
        return None
    instead = _QUANTIFIER_WORDS.get(previous.text)
    if instead is None or not re.match(
        r"(?:all |each |every |exists? |is )?\s*\w+(?:\s*,\s*\w+)*\s*[:(.\w]", fault.rest
    ):
        return None
    return fault.report_at(
        previous, "quantifier-word", f"`{previous.text}` is no quantifier", f"write `{instead} X: ...`"
    )


# --- arguments ------------------------------------------------------------------------------------------------------


def _several_words(fault: Fault) -> Diagnostic | None:
    """`Lives(anna, New York)`: the entity wants quotes, or a comma is missing."""
    previous = fault.previous
    if not fault.in_arguments or fault.token not in ("ENTITY", "NAME", "NUMBER") or previous is None:
        return None
    if previous.kind not in ("word", "number"):
        return None
    start = previous.start
    match = re.match(r"[^\W_][\w.:-]*(?:[ \t]+[^\W_][\w.:-]*)*", fault.rest)
    words = fault.source.text[start : fault.start + (match.end() if match else 0)]
    hint = f'quote an entity of several words: "{words}"; or put a comma between two'
    return fault.report("unquoted-entity", f"`{fault.text}` follows `{previous.text}` with no comma between", hint)


def _argument_expression(fault: Fault) -> Diagnostic | None:
    if not fault.in_arguments or fault.previous is None or fault.token in (END, "RSQB", "RBRACE", "STRING", "COLON"):
        return None
    head = fault.before[fault.open[-1] - 1]
    if fault.token in ("AND", "OR", "XOR", "IMPLIES", "IFF", "NOT", "QUANTIFIER"):
        sign = {"AND": "&", "OR": "|", "XOR": "xor", "IMPLIES": "->", "IFF": "<->"}.get(fault.token or "")
        hint = f"join atoms instead: `{head.text}(...) {sign} {head.text}(...)`" if sign else "put it before the atom"
        return fault.report("argument-formula", f"`{fault.text}` cannot stand in an argument of `{head.text}`", hint)
    if fault.token == "LPAR":
        inner = fault.previous
        message = f"an argument is a variable or an entity, and `{inner.text}(` starts an expression"
        hint = f"give it an atom or comparison of its own, and use a variable in `{head.text}`"
        return fault.report_at(inner, "argument-expression", message, hint)
    if fault.token in ("PLUS", "MINUS", "TIMES", "DIVIDE", "POWER", "COMPARE", "EQUALS"):
        message = f"an argument is a variable or an entity, never an expression: `{fault.text}`"
        hint = f"compute outside of `{head.text}`; an entity with such a character is quoted"
        return fault.report("argument-expression", message, hint)
    if fault.token is None and fault.previous.kind in ("word", "number") and _touches(fault.previous, fault):
        start = max(fault.source.text.rfind(mark, 0, fault.start) for mark in "(,") + 1
        inside = re.match(r"[^,()\n]*", fault.source.text[start : fault.piece.end])
        entity = inside[0].strip() if inside else ""
        message = f"`{fault.text}` cannot stand in an entity without quotes"
        return fault.report("unquoted-entity", message, f'write "{entity}"')
    return None


def _brackets(fault: Fault) -> Diagnostic | None:
    """`P[X]`, `abs age(X)` and `A{bias: 1}`: brackets of the wrong kind, or none."""
    previous = fault.previous
    if previous is None or fault.in_arguments:
        return None
    if fault.token == "LBRACE":
        message = "attributes follow the parentheses of a connective or comparison, or a unit"
        return fault.report("misplaced-attributes", message, "write them as in `(A & B){bias: 1}`")
    if fault.token == "LSQB" and previous.kind == "word" and _touches(previous, fault) and len(fault.before) > 1:
        return fault.report("square-brackets", "arguments stand in parentheses", f"write `{previous.text}(...)`")
    if previous.text in FUNCTIONS | UNITS and _met(fault) and not fault.first_on_line:
        message = f"`{previous.text}` takes parentheses"
        return fault.report_at(previous, "function-parentheses", message, f"write `{previous.text}(...)`")
    return None


def _underscore(fault: Fault) -> Diagnostic | None:
    if fault.text.startswith("_"):
        word = re.match(r"\w+", fault.rest)
        end = fault.start + (word.end() if word else 1)
        return fault.report(
            "reserved-underscore", "`_` is reserved and starts no name", "name it, or write `exists`", end=end
        )
    return None


def _arity(fault: Fault) -> Diagnostic | None:
    match = re.match(r"/\s*(\d)\b", fault.rest)
    if (
        fault.keyword in ("predicate", "number", "load", "label")
        and fault.token == "DIVIDE"
        and match
        and fault.previous
    ):
        sorts = ", ".join(["entity"] * int(match[1]))
        hint = (
            f"write `{fault.keyword} {fault.previous.text}({sorts})`"
            if fault.keyword in ("predicate", "number")
            else "leave it out"
        )
        return fault.report(
            "predicate-arity", f"`{match[0]}` is no way to give the arity", hint, end=fault.start + match.end()
        )
    return None


# --- numbers and bounds ---------------------------------------------------------------------------------------------


def _number_text(fault: Fault) -> Diagnostic | None:
    previous = fault.previous
    separated = re.match(r"[,_](\d{3})(?!\d)", fault.rest)
    if previous and previous.kind == "number" and separated and _touches(previous, fault):
        match = re.match(r"(?:[,_]\d{3})+", fault.rest)
        digits = previous.text + (match[0] if match else "")
        hint = f"write `{digits.replace(',', '').replace('_', '')}`"
        return fault.report("thousands-separator", "a number holds no separators", hint)
    underscored = re.match(r"\d{1,3}(?:_\d{3})+(?!\w)", fault.rest)
    if underscored and not fault.in_arguments:
        hint = f"write `{underscored[0].replace('_', '')}`"
        end = fault.start + underscored.end()
        return fault.report("thousands-separator", "a number holds no separators", hint, end=end)
    glued = re.match(r"(\d+(?:\.\d+)?)([^\W\d_]\w*)", fault.rest)
    if glued and not fault.in_arguments and fault.token in (None, "ENTITY"):
        start = fault.start + glued.end(1)
        return fault.report(
            "number-unit",
            f"a number has no unit: `{glued[2]}`",
            f"write `{glued[1]}`, and say the unit in the name",
            start,
            fault.start + glued.end(),
        )
    if previous and previous.kind == "number" and not fault.in_arguments and not fault.first_on_line:
        if fault.text == "%":
            return fault.report("number-unit", "a number takes no `%`", f"write `{float(previous.text) / 100:g}`")
        if fault.token in ("NAME", "ENTITY") and is_name(fault.text) and fault.text not in SHOUTED:
            hint = f"write `{previous.text}`, and say the unit in the name"
            return fault.report("number-unit", f"a number has no unit: `{fault.text}`", hint)
    return None


def _learnable(fault: Fault) -> Diagnostic | None:
    if fault.previous and fault.previous.text == "?" and fault.token in ("NAME", "ENTITY", "NUMBER"):
        return fault.report("learnable-space", "no space goes between `?` and what follows", f"write `?{fault.text}`")
    match = re.match(r"\?\s*=\s*(-?[\d.]+)", fault.rest)
    if fault.token is None and match:
        return fault.report(
            "learnable-form",
            "a learnable value without a name takes no `=`",
            f"write `?{match[1]}`",
            end=fault.start + match.end(),
        )
    return None


def _open_interval(fault: Fault) -> Diagnostic | None:
    words = [lexeme.text for lexeme in fault.before]
    wrong_start = fault.token == "LPAR" and bool(words) and words[-1] == "in"
    wrong_end = (
        fault.token == "RPAR" and fault.open and fault.before[fault.open[-1]].text == "[" and words[-5:-4] == ["in"]
    )
    if not (wrong_start or wrong_end):
        return None
    match = re.match(r"\(\s*([^,()\[\]]+),\s*([^,()\[\]]+)[\])]", fault.rest) if wrong_start else None
    ends = [match[1].strip(), match[2].strip()] if match else words[-3::2] if wrong_end else ["l", "u"]
    hint = f"write `in [{', '.join(ends)}]`"
    return fault.report("open-interval", "bounds are closed: both ends belong to them", hint)


def _interval_in_body(fault: Fault) -> Diagnostic | None:
    """`age(X) in [18, 65] & ...`: `in [l, u]` bounds a whole statement."""
    if fault.keyword not in _FORMULA_KEYWORDS:
        return None
    if fault.keyword != "query" and not (fault.token == "IN" and fault.open) and fault.token not in _OPERATORS:
        return None
    if fault.token == "IN":
        place, rest = len(fault.before), fault.rest
    else:
        place = next((i for i in range(len(fault.before) - 1, 0, -1) if fault.before[i].text == "in"), 0)
        if not place or fault.previous is None or fault.previous.text != "]":
            return None
        rest = fault.source.text[fault.before[place].start : fault.piece.end]
    match = re.match(r"in\s*\[\s*([^,\[\]]+?)\s*,\s*([^,\[\]]+?)\s*\]", rest)
    start = fault.start if fault.token == "IN" else fault.before[place].start
    if not match:
        return None
    end = start + match.end()
    if fault.keyword == "query" and not fault.open and not fault.source.text[end : fault.piece.end].strip():
        return fault.report("query-bounds", "a query takes no bounds: it asks for them", "remove them", start, end)
    operand = between(fault, place)
    hint = (
        f"write `{match[1]} <= {operand} <= {match[2]}`" if operand and "(" in operand else "write `l <= age(X) <= u`"
    )
    return fault.report("interval-in-body", "`in [l, u]` bounds a whole statement, not a part of it", hint, start, end)


def _rule_bounds(fault: Fault) -> Diagnostic | None:
    """`rule A -> B [0.5, 1]` and `rule A -> B in 0.5, 1`."""
    if fault.keyword not in ("rule", "axiom") or fault.open or fault.previous is None:
        return None
    ends = re.fullmatch(r"\[?\s*([-\d.]+)\s*,\s*([-\d.]+)\s*\]?\s*", fault.rest)
    if ends and (fault.token == "LSQB" or fault.previous.text == "in"):
        return fault.report("wrong-bounds", "bounds are written `in [l, u]`", f"write `in [{ends[1]}, {ends[2]}]`")
    return None


def _fact_value(fault: Fault) -> Diagnostic | None:
    if fault.keyword not in ("fact", "label") or fault.previous is None or fault.open:
        return None
    listed = re.fullmatch(r"(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*", fault.rest)
    if fault.previous.text == "in" and listed:
        return fault.report("wrong-bounds", "bounds stand in square brackets", f"write `in [{listed[1]}, {listed[2]}]`")
    if fault.previous.text in ("=", "in") and fault.token in ("LSQB", "NUMBER", "MINUS", "LEARNABLE"):
        first, second = ("=", "in") if fault.token == "LSQB" else ("in", "=")
        if fault.previous.text == first:
            hint = f"write `{second} {fault.rest.strip()}`" if "\n" not in fault.rest else f"write `{second}`"
            return fault.report_at(fault.previous, "wrong-bounds", f"`{first}` does not go with this value", hint)
    truth = re.fullmatch(r"(true|false|⊤|⊥)\s*", fault.rest, re.IGNORECASE)
    if truth and fault.previous.text == "=":
        hint = (
            "write `= 1`, or leave it out"
            if truth[1].lower() in ("true", "⊤")
            else "write `= 0`, or `~` before the atom"
        )
        return fault.report("truth-as-value", f"a value is a number, not `{truth[1]}`", hint)
    if fault.token in ("NUMBER", "LEARNABLE", "COLON") and fault.previous.text == ")":
        match = re.fullmatch(r":?\s*([-\d.]+)\s*", fault.rest)
        hint = f"write `= {match[1]}`" if match else "write `= v` or `in [l, u]`"
        return fault.report("missing-equals", f"the value of a {fault.keyword} follows `=`", hint)
    return None


def _fact_formula(fault: Fault) -> Diagnostic | None:
    if fault.keyword not in ("fact", "label") or fault.open or fault.previous is None:
        return None
    word = fault.keyword
    if fault.token == "COMMA" or (fault.token == "AND" and balanced(fault.rest)):
        hint = f"give each its own line and its own `{word}`"
        return fault.report("fact-formula", f"a {word} is one atom or its negation, not several", hint)
    compared = re.fullmatch(r"([<>]=?|≤|≥)\s*(-?[\d.]+)\s*", fault.rest)
    if compared:
        bounds = f"-inf, {compared[2]}" if compared[1][0] in "<≤" else f"{compared[2]}, inf"
        return fault.report("fact-formula", f"a {word} gives bounds, not a comparison", f"write `in [{bounds}]`")
    if fault.token in ("OR", "IMPLIES", "IFF", "XOR", "QUANTIFIER", "COMPARE"):
        return fault.report(
            "fact-formula",
            f"a {word} is one atom or its negation, not a formula",
            "a formula takes `rule` or `axiom`",
        )
    return None


# --- connectives ----------------------------------------------------------------------------------------------------


def _comma_conjunction(fault: Fault) -> Diagnostic | None:
    if fault.token != "COMMA" or fault.keyword not in _FORMULA_KEYWORDS or "AND" not in fault.expected:
        return None
    if fault.open and fault.before[fault.open[-1]].text != "(":
        return None
    return fault.report("comma-conjunction", "`,` joins no formulas", "write `&`")


def _chained(fault: Fault) -> Diagnostic | None:
    if fault.token not in ("IFF", "XOR"):
        return None
    same = ("<->", "<=>", "↔", "⇔", "iff") if fault.token == "IFF" else ("xor", "⊕")
    depth = fault.open[-1] if fault.open else 0
    if not any(lexeme.text in same for lexeme in fault.before[depth:]):
        return None
    return fault.report(
        "chained-connective", f"`{fault.text}` does not chain", "say with parentheses which comes first"
    )


def _repeated_weight(fault: Fault) -> Diagnostic | None:
    if (
        fault.token == "AT"
        and len(fault.before) > 1
        and "@" in (fault.before[-2].text, fault.before[-3:-2] and fault.before[-3].text)
    ):
        return fault.report("repeated-weight", "an operand has one weight", "leave one of them")
    return None


def _rule_name(fault: Fault) -> Diagnostic | None:
    """`rule my rule: ...`: a name of several words; `rule: ...`: none."""
    if fault.keyword not in ("rule", "axiom") or not fault.before:
        return None
    words = fault.before[1:]
    if fault.token == "COLON" and not words:
        hint = f"write `{fault.keyword} name: ...`, or leave the colon out"
        return fault.report("rule-name", "there is no name before the colon", hint)
    match = re.match(r"((?:\w+[ \t]+)*\w+)\s*:(?!-)", fault.rest)
    if not match or not words or not all(lexeme.kind == "word" for lexeme in words):
        return None
    name = " ".join([*(lexeme.text for lexeme in words), *match[1].split()])
    hint = f'write `{name.replace(" ", "-")}:` or `"{name}":`'
    return fault.report("rule-name", f"a name of several words: `{name}`", hint)


# --- declarations and tables ----------------------------------------------------------------------------------------


def _unquoted_path(fault: Fault) -> Diagnostic | None:
    previous = fault.previous
    if previous is None or fault.expected != {"STRING"} or not re.match(r"[\w./~\\-]", fault.rest):
        return None
    word = re.split(r"[\s(]", fault.rest, maxsplit=1)[0]
    end = fault.start + len(word)
    if previous.text in ("from", "import"):
        return fault.report("unquoted-path", f"the path `{word}` stands without quotes", f'write "{word}"', end=end)
    if previous.text == "=" and fault.keyword in ("load", "label"):
        return fault.report("unquoted-value", f"the value `{word}` stands without quotes", f'write "{word}"', end=end)
    return None


# --- helpers --------------------------------------------------------------------------------------------------------


def _met(fault: Fault) -> Lexeme | None:
    """The fault itself where it is a word."""
    match = re.match(r"[^\W\d_]\w*", fault.rest)
    return Lexeme("word", match[0], fault.start) if match else None


def _touches(lexeme: Lexeme, fault: Fault) -> bool:
    return lexeme.end == fault.start


# Order matters where one text has two readings: the surer or more telling one comes first.
MISTAKES: tuple[Recogniser, ...] = (
    _unclosed_string,
    _single_quotes,
    _bang,
    _backward_arrow,
    _foreign_symbol,
    _not_equal,
    _broken_arrow,
    _number_text,
    _foreign_comment,
    _period,
    _semicolon,
    _underscore,
    _learnable,
    _shouted,
    _head_shouted,
    _quantifier_word,
    _quantifier_sort,
    _quantifier_list,
    _glued_quantifier,
    _several_words,
    _argument_expression,
    _brackets,
    _arity,
    _open_interval,
    _unclosed_group,
    _interval_in_body,
    _unmatched_bracket,
    _rule_bounds,
    _fact_value,
    _fact_formula,
    _comma_conjunction,
    _chained,
    _repeated_weight,
    _rule_name,
    _unquoted_path,
)
