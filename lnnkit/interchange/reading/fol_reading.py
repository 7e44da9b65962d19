"""Lines of first-order logic, as people and language models write them -> formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from typing import cast

from lark import Token, Tree
from lark.exceptions import UnexpectedToken

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.liberties import Liberties, Unreadable
from lnnkit.interchange.reading.fol_tokens import Word, Words, bracketed, fol_parser, settled, words_of
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Source, Span

_LIKE_VARIABLE = re.compile(r"[u-zU-Z]\d{0,2}[’']?")  # `y1976` names a year
_RELATIONS = {
    "==": "=", "!=": "≠", "!==": "≠", "<>": "≠", "\\ne": "≠", "\\neq": "≠", "=<": "<=", "≤": "<=", "\\le": "<=",
    "\\leq": "<=", "≥": ">=", "\\ge": ">=", "\\geq": ">=",
}  # fmt: skip
_SYMBOLS = {"and": "∧", "or": "∨", "xor": "⊕", "implies": "→", "iff": "↔"}


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds a formula, from ``start`` to ``end`` of the source."""

    start: int
    end: int
    role: str = "axiom"
    name: str | None = None
    gloss: str = ""


def read_line(source: Source, line: Line, liberties: Liberties) -> fol.Stated:
    """The formula of a line, closed. Raises `Unreadable`."""
    try:
        return _read_line(source, line, liberties)
    except RecursionError:
        message = "this formula is nested too deeply"
        hint = "split it into several formulas"
        raise _unreadable("too-deep", message, hint, source, line.start, line.end) from None


def _read_line(source: Source, line: Line, liberties: Liberties) -> fol.Stated:
    found: list[Diagnostic] = []
    words = words_of(source, line.start, line.end)
    _require_formula(source, words, line)
    own = Liberties(source, found)
    words = settled(words, own)
    formula, notes = _read(source, words, own)
    while (extended := _extended(words, formula, own)) is not None:
        words = extended
        formula, notes = _read(source, words, own)
    for each in (*found, *notes):
        liberties.add(each)
    for name, variable in fol.free_variables(formula).items():
        message = f"nothing binds `{name}`: it is read as `for every {name}`"
        liberties.note_at("free-variable", message, f"write `∀{name} (...)`, or name the individual", variable.span)
    formula = fol.quantified(True, fol.free_variables(formula), formula)
    span = Span(source, line.start, line.end)
    return fol.Stated(formula, line.role, line.name, span.on_one_line, line.gloss, span)


def _require_formula(source: Source, words: Words, line: Line) -> None:
    if not words:
        raise _unreadable("no-formula", "a formula is missing", "", source, line.start, line.end)
    for word in words:
        if word.kind == "STRAY" and word.text != ";":
            message = f"`{word.text}` cannot be part of a formula"
            raise _unreadable("stray-character", message, "", source, word.start, word.end)
        if word.kind == "ENTAILS":
            message = f"`{word.text}` cannot stand within a formula"
            hint = "put what follows from the premises on a line of its own, after `Conclusion:`"
            raise _unreadable("entails-within", message, hint, source, word.start, word.end)
    names = sum(word.kind == "NAME" for word in words)
    if names > 1 and all(word.kind in ("NAME", "NUMBER", "DOT", "COMMA", "STRING", "STRAY", "IF") for word in words):
        message = "this is a sentence, not a formula"
        hint = "put `#` before it, or after the formula as `::: gloss`"
        raise _unreadable("no-formula", message, hint, source, line.start, line.end)


def _read(source: Source, words: Words, liberties: Liberties) -> tuple[fol.Formula, list[Diagnostic]]:
    tree = _parsed(source, words)
    builder = _Builder(source, {words[i + 1].text for i, w in enumerate(words[:-1]) if w.kind == "QUANTIFIER"})
    return builder.formula(tree, frozenset()), builder.liberties.found


def _parsed(source: Source, words: Words) -> Tree[Token]:
    state, token = fol_parser().parse_interactive("", start="start"), None
    for word in words:
        token = Token(word.kind, word.text, word.start, end_pos=word.end)
        try:
            state.feed_token(token)
        except UnexpectedToken:
            raise _unexpected(source, word, state.accepts()) from None
    try:
        return state.feed_eof(token)
    except UnexpectedToken:
        end = words[-1].end if words else 0
        message = "the formula stops before its end"
        raise _unreadable("syntax", message, "write what is missing", source, end - 1, end) from None


def _unexpected(source: Source, word: Word, accepted: set[str]) -> Unreadable:
    if {"AND", "OR"} <= accepted and word.kind in ("NAME", "LPAR", "NOT", "QUANTIFIER", "TRUTH", "STRING", "NUMBER"):
        message = f"a connective is missing before `{word.text}`"
        hint = "write `∧`, `∨`, `⊕`, `→` or `↔` there"
    elif word.kind == "COLON":
        message, hint = "`:` cannot stand here", "it follows the variable of a quantifier"
    elif word.kind in ("RELATION",):
        message, hint = f"`{word.text}` has no left side", ""
    elif word.kind == "QUANTIFIER" or "NAME" in accepted:
        message, hint = f"`{word.text}` cannot stand here: a formula or a name is due", ""
    else:
        hint = "put each formula on a line of its own" if word.kind == "COMMA" else ""
        message = f"`{word.text}` cannot stand here"
    return _unreadable("syntax", message, hint, source, word.start, max(word.end, word.start + 1))


def _unreadable(code: str, message: str, hint: str, source: Source, start: int, end: int) -> Unreadable:
    return Unreadable(Diagnostic(code, message, hint, Span(source, start, end)))


# --- scopes -----------------------------------------------------------------------------------------------------------


def _extended(words: Words, formula: fol.Formula, liberties: Liberties) -> Words | None:
    """The tokens with the scope of one quantifier reaching to the end of its group, where its variable is used after
    its scope; None where there is none."""
    for name, variable in fol.free_variables(formula).items():
        if variable.span is None:
            continue
        for index in range(len(words) - 2, -1, -1):
            binds = words[index].kind == "QUANTIFIER" and words[index + 1].text == name
            if not binds or words[index].start > variable.span.start or _closed(words, index, variable.span.start):
                continue
            message = f"`{name}` is used after the scope of its quantifier, so the scope is extended to the end"
            hint = "put the whole scope in brackets"
            liberties.note("scope-extended", message, hint, words[index].start, words[index + 1].end)
            return bracketed(words, index + 2, index + 2)
    return None


def _closed(words: Words, index: int, place: int) -> bool:
    """Whether the group around ``index`` ends before a place of the source."""
    depth = 0
    for word in words[index:]:
        if word.start >= place:
            return False
        depth += {"LPAR": 1, "RPAR": -1}.get(word.kind, 0)
        if depth < 0:
            return True
    return False


# --- tree to formula --------------------------------------------------------------------------------------------------


class _Builder:
    """One line's tree on its way to a formula; ``quantified`` are the variables that it binds somewhere."""

    def __init__(self, source: Source, quantified: set[str]) -> None:
        self.source = source
        self.quantified = quantified
        self.liberties = Liberties(source)

    def formula(self, node: Tree[Token] | Token, bound: frozenset[str]) -> fol.Formula:
        if isinstance(node, Token):
            return self._lone(node)
        children = node.children
        match node.data:
            case "start" | "group":
                return self.formula(_inner(node), bound)
            case "negation":
                self._see_scope(node)
                return fol.joined("not", self.formula(children[1], bound))
            case "quantified":
                return self._quantified(node, bound)
            case "and" | "or" | "xor" | "implies" | "iff":
                return self._connective(node, bound)
            case "comparison":
                return self._comparison(node, bound)
            case "application":
                return self._atom(node, bound)
        raise self.unreadable("number-as-formula", "a number is not a formula", "compare it", node)

    def _lone(self, token: Token) -> fol.Formula:
        if token.type == "TRUTH":
            return fol.Constant(token.lower() in ("true", "⊤", "\\top"))
        raise self.unreadable("number-as-formula", f"`{token}` is not a formula", "", token)

    def _quantified(self, node: Tree[Token], bound: frozenset[str]) -> fol.Formula:
        quantifier, name, scope = node.children
        assert isinstance(quantifier, Token) and isinstance(name, Token)
        variable = str(name)
        body = self.formula(scope, bound | {variable})
        if quantifier == "∃!":
            other = _fresh(variable, body, bound)
            renamed = fol.substituted(body, {variable: fol.Variable(other)})
            same = fol.Equal(fol.Variable(other), fol.Variable(variable), self.span(name))
            body = fol.joined("and", body, fol.Quantified(True, other, fol.joined("implies", renamed, same)))
        elif variable not in fol.free_variables(body):
            message = f"`{variable}` is not used: its quantifier is left out"
            self.liberties.note("unused-variable", message, "", quantifier.start_pos or 0, name.end_pos or 0)
            return body
        return fol.Quantified(_is_universal(quantifier), variable, body)

    def _connective(self, node: Tree[Token], bound: frozenset[str]) -> fol.Formula:
        kind = cast(fol.Sign, str(node.data))
        operands = _inside(node, *_LINKS)
        self._note_precedence(node, kind, operands)
        built = [self.formula(each, bound) for each in operands]
        if kind in ("xor", "iff"):
            return reduce(lambda whole, each: fol.joined(kind, whole, each), built)
        return fol.joined(kind, *built)

    def _note_precedence(self, node: Tree[Token], kind: str, operands: list[Tree[Token] | Token]) -> None:
        """Note a formula that readers parse differently unless it has brackets."""
        symbol = _SYMBOLS[kind]
        inner = [str(each.data) for each in operands if isinstance(each, Tree)]
        if kind in ("xor", "iff") and len(operands) > 2:
            message = f"a chain of `{symbol}` is read from the left: `(A {symbol} B) {symbol} C`"
            hint = "a chain of `⊕` does not mean exactly one of several" if kind == "xor" else "put brackets"
            self._note_at("connective-chain", message, hint, node)
        elif kind == "implies" and inner[1:] == ["implies"]:
            self._note_at("connective-chain", "a chain of `→` is read from the right: `A → (B → C)`", "", node)
        tighter = {"or": ("and",), "xor": ("and", "or"), "iff": ("implies",)}.get(kind, ())
        for each in dict.fromkeys(inner):
            if each in tighter:
                message = f"`{_SYMBOLS[each]}` is taken to bind tighter than `{symbol}`"
                self._note_at("precedence", message, "put brackets around what belongs together", node)
        for each in operands[:-1]:
            self._see_scope(each)

    def _see_scope(self, node: Tree[Token] | Token) -> None:
        """A note where a quantifier without brackets ends before a connective."""
        while isinstance(node, Tree) and node.data in ("negation", "quantified"):
            if node.data == "quantified":
                scope = node.children[2]
                if isinstance(scope, Tree) and scope.data in ("application", "comparison"):
                    message = "the scope of the quantifier is read as the next atom alone"
                    self._note_at("quantifier-scope", message, "put the whole scope in brackets", node)
            node = node.children[-1]

    def _comparison(self, node: Tree[Token], bound: frozenset[str]) -> fol.Formula:
        terms = [self.term(child, bound) for child in node.children[::2]]
        links: list[fol.Formula] = []
        for place, left in enumerate(terms[:-1]):
            relation = node.children[2 * place + 1]
            operator = _RELATIONS.get(str(relation), str(relation))
            right, span = terms[place + 1], self.span(relation)
            if operator in ("=", "≠"):
                same = fol.Equal(left, right, span)
                links.append(same if operator == "=" else fol.joined("not", same))
            else:
                links.append(fol.Compare(operator, left, right, span))
        return fol.combined("and", links)

    def _atom(self, node: Tree[Token], bound: frozenset[str]) -> fol.Formula:
        name, *rest = _inside(node, "LPAR", "RPAR", "COMMA")
        assert isinstance(name, Token)
        arguments = tuple([self._argument(each, bound) for each in rest])
        if str(name) in bound and not arguments:
            raise self.unreadable("variable-as-formula", f"the variable `{name}` is not a formula", "", name)
        return fol.Atom(str(name), arguments, self.span(name))

    # --- terms --------------------------------------------------------------------------------------------------

    def term(self, node: Tree[Token] | Token, bound: frozenset[str]) -> fol.Term:
        if isinstance(node, Token):
            return self._literal(node)
        match node.data:
            case "group":
                return self.term(_inner(node), bound)
            case "application":
                return self._application(node, bound)
            case "sum" | "product":
                whole = self.term(node.children[0], bound)
                for place in range(1, len(node.children), 2):
                    operator = _ARITHMETIC[str(node.children[place])]
                    whole = fol.Sum(operator, whole, self.term(node.children[place + 1], bound))
                return whole
        message = "a formula cannot stand within a term"
        raise self.unreadable("formula-as-term", message, "write an atom for each of its parts", node)

    def _argument(self, node: Tree[Token] | Token, bound: frozenset[str]) -> fol.Term:
        found = self.term(node, bound)
        if isinstance(found, fol.Sum):
            message = "arithmetic cannot stand in the place of an individual"
            raise self.unreadable("arithmetic-argument", message, "name the individual", node)
        return found

    def _literal(self, token: Token) -> fol.Term:
        span = self.span(token)
        if token.type == "NUMBER":
            return fol.Number(_number(str(token)), str(token), span)
        if token.type == "STRING":
            return fol.Application(str(token)[1:-1], (), True, span)
        return fol.Application(str(token), (), True, span)  # `true` as an argument names something

    def _application(self, node: Tree[Token], bound: frozenset[str]) -> fol.Term:
        name, *rest = _inside(node, "LPAR", "RPAR", "COMMA")
        assert isinstance(name, Token)
        arguments = tuple([self._argument(each, bound) for each in rest])
        text = str(name)
        if not arguments and (text in bound or text in self.quantified or _LIKE_VARIABLE.fullmatch(text)):
            return fol.Variable(text, self.span(name))
        return fol.Application(text, arguments, False, self.span(name))

    # --- places -------------------------------------------------------------------------------------------------

    def span(self, node: Tree[Token] | Token) -> Span:
        tokens = list(_tokens(node))
        return Span(self.source, tokens[0].start_pos or 0, tokens[-1].end_pos or 0)

    def unreadable(self, code: str, message: str, hint: str, node: Tree[Token] | Token) -> Unreadable:
        return Unreadable(Diagnostic(code, message, hint, self.span(node)))

    def _note_at(self, code: str, message: str, hint: str, node: Tree[Token]) -> None:
        self.liberties.note_at(code, message, hint, self.span(node))


_LINKS = ("AND", "OR", "XOR", "IMPLIES", "IFF")
_ARITHMETIC = {"+": "+", "-": "-", "−": "-", "–": "-", "*": "*", "×": "*", "·": "*", "/": "/"}


def _inner(node: Tree[Token]) -> Tree[Token] | Token:
    """What a group holds."""
    return _inside(node, "LPAR", "RPAR")[0]


def _tokens(node: Tree[Token] | Token) -> Iterator[Token]:
    if isinstance(node, Token):
        yield node
    else:
        for child in node.children:
            yield from _tokens(child)


def _is_universal(quantifier: str) -> bool:
    return quantifier in ("∀", "\\forall") or quantifier.lower().startswith(("forall", "for", "all"))


def _fresh(name: str, body: fol.Formula, bound: frozenset[str]) -> str:
    taken = {*bound, *fol.free_variables(body), *fol.bound_variables(body)}
    number = 1
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"


def _number(text: str) -> float | int:
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _inside(tree: Tree[Token], *kinds: str) -> list[Tree[Token] | Token]:
    """The children of a tree, without tokens of some kinds."""
    return [each for each in tree.children if isinstance(each, Tree) or each.type not in kinds]
