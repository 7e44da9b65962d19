"""Lines of first-order logic, as people and language models write them -> formulas."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace
from functools import reduce

from lark import Token, Tree
from lark.exceptions import UnexpectedToken

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import Expression, Liberties, UnreadableFormula
from lnnkit.interchange.reading.fol_tokens import Word, Words, bracketed, fol_parser, group_end, settled, words_of
from lnnkit.syntax.span import Source, Span

_LIKE_VARIABLE = re.compile(r"[u-zU-Z]\d{0,2}[’']?")  # `y1976` names a year
_RELATIONS = {
    "==": "=", "!=": "≠", "!==": "≠", "<>": "≠", "\\ne": "≠", "\\neq": "≠", "=<": "<=", "≤": "<=", "\\le": "<=",
    "\\leq": "<=", "≥": ">=", "\\ge": ">=", "\\geq": ">=",
}  # fmt: skip
_ARITHMETIC = {"+": "+", "-": "-", "−": "-", "–": "-", "*": "*", "×": "*", "·": "*", "/": "/"}
_LINKS, _BRACKETS = ("AND", "OR", "XOR", "IMPLIES", "IFF"), ("LPAR", "RPAR")
_SYMBOLS = {"and": "∧", "or": "∨", "xor": "⊕", "implies": "→", "iff": "↔"}

_Subtree = Tree[Token] | Token


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds a formula, from ``start`` to ``end`` of the source."""

    start: int
    end: int
    role: str = "axiom"
    name: str | None = None
    gloss: str = ""


def read_line(source: Source, line: Line, liberties: Liberties) -> fol.Stated:
    """The formula of a line, closed. Raises `UnreadableFormula`."""
    try:
        return _read_line(source, line, liberties)
    except RecursionError:
        message = "this formula is nested too deeply"
        hint = "split it into several formulas"
        raise UnreadableFormula("too-deep", message, hint, Span(source, line.start, line.end)) from None


def _read_line(source: Source, line: Line, liberties: Liberties) -> fol.Stated:
    words = words_of(source, line.start, line.end)
    _require_formula(source, words, line)
    notes = Liberties(source)
    words = settled(words, notes)
    while True:
        bound = {name.text for word, name in itertools.pairwise(words) if word.kind == "QUANTIFIER"}
        builder = _FormulaBuilder(source, bound)
        formula = builder.formula(_parsed(source, words), frozenset())
        extended = _extended(words, formula, notes)
        if extended is None:
            break
        words = extended
    for each in (*notes.found, *builder.liberties.found):
        liberties.add(each)
    for name, variable in fol.free_variables(formula).items():
        message = f"nothing binds `{name}`: it is read as `for every {name}`"
        liberties.note_at("free-variable", message, f"write `∀{name} (...)`, or name the individual", variable.span)
    formula = fol.quantified("forall", fol.free_variables(formula), formula)
    span = Span(source, line.start, line.end)
    return fol.Stated(formula, line.role, line.name, span.on_one_line, line.gloss, span)


def _require_formula(source: Source, words: Words, line: Line) -> None:
    if not words:
        raise UnreadableFormula("no-formula", "a formula is missing", "", Span(source, line.start, line.end))
    for word in words:
        if word.kind == "STRAY" and word.text != ";":
            message = f"`{word.text}` cannot be part of a formula"
            raise UnreadableFormula("stray-character", message, "", Span(source, word.start, word.end))
        if word.kind == "ENTAILS":
            message = f"`{word.text}` cannot stand within a formula"
            hint = "put what follows from the premises on a line of its own, after `Conclusion:`"
            raise UnreadableFormula("entails-within", message, hint, Span(source, word.start, word.end))
    names = sum(word.kind == "NAME" for word in words)
    if names > 1 and all(word.kind in ("NAME", "NUMBER", "DOT", "COMMA", "STRING", "STRAY", "IF") for word in words):
        message = "this is a sentence, not a formula"
        hint = "put `#` before it, or after the formula as `::: gloss`"
        raise UnreadableFormula("no-formula", message, hint, Span(source, line.start, line.end))


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
        raise UnreadableFormula("syntax", message, "write what is missing", Span(source, end - 1, end)) from None


def _unexpected(source: Source, word: Word, accepted: set[str]) -> UnreadableFormula:
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
    return UnreadableFormula("syntax", message, hint, Span(source, word.start, max(word.end, word.start + 1)))


# --- scopes -----------------------------------------------------------------------------------------------------------


def _extended(words: Words, formula: Expression, liberties: Liberties) -> Words | None:
    """The tokens with the scope of one quantifier reaching to the end of its group, where its variable is used after
    its scope; None where there is none."""
    for name, variable in fol.free_variables(formula).items():
        if variable.span is None:
            continue
        for index in range(len(words) - 2, -1, -1):
            binds = words[index].kind == "QUANTIFIER" and words[index + 1].text == name
            place, end = variable.span.start, group_end(words, index)
            if not binds or words[index].start > place or (end < len(words) and words[end].start < place):
                continue
            message = f"`{name}` is used after the scope of its quantifier, so the scope is extended to the end"
            hint = "put the whole scope in brackets"
            liberties.note("scope-extended", message, hint, words[index].start, words[index + 1].end)
            return bracketed(words, index + 2, index + 2)
    return None


# --- tree to formula --------------------------------------------------------------------------------------------------


class _FormulaBuilder:
    """One line's tree on its way to a formula; ``quantified`` are the variables that it binds somewhere."""

    def __init__(self, source: Source, quantified: set[str]) -> None:
        self.source = source
        self.quantified = quantified
        self.liberties = Liberties(source)

    def formula(self, node: _Subtree, bound: frozenset[str]) -> Expression:
        match node:
            case Token(type="TRUTH"):
                return fol.TRUE if node.lower() in ("true", "⊤", "\\top") else fol.FALSE
            case Token():
                raise self.unreadable("number-as-formula", f"`{node}` is not a formula", "", node)
            case Tree(data="start" | "group"):
                return self.formula(_inside(node, *_BRACKETS)[0], bound)
            case Tree(data="negation"):
                self._note_scope(node)
                return fol.joined("not", self.formula(node.children[1], bound))
            case Tree(data="quantified"):
                return self._quantified(node, bound)
            case Tree(data="comparison"):
                return self._comparison(node, bound)
            case Tree(data="application"):
                atom = self._application(node, "atom", bound)
                if atom.name in bound and not atom.parts:
                    message = f"the variable `{atom.name}` is not a formula"
                    raise self.unreadable("variable-as-formula", message, "", node.children[0])
                return atom
            case Tree(data="and" | "or" | "xor" | "implies" | "iff" as kind):
                operands = _inside(node, *_LINKS)
                self._note_precedence(node, kind, operands)
                built = [self.formula(each, bound) for each in operands]
                if kind in ("xor", "iff"):
                    return reduce(lambda whole, each: fol.joined(kind, whole, each), built)
                return fol.joined(kind, *built)
        raise self.unreadable("number-as-formula", "a number is not a formula", "compare it", node)

    def _quantified(self, node: Tree[Token], bound: frozenset[str]) -> Expression:
        quantifier, name, scope = node.children
        assert isinstance(quantifier, Token) and isinstance(name, Token)
        variable = str(name)
        body = self.formula(scope, bound | {variable})
        if quantifier == "∃!":
            taken = bound | fol.variables(body)
            other = next(each for n in itertools.count(1) if (each := f"{variable}{n}") not in taken)
            one, same = Expression("variable", variable), Expression("variable", other)
            equal = Expression("equal", parts=(same, one), span=self.span(name))
            only = fol.joined("implies", fol.substituted(body, {variable: same}), equal)
            body = fol.joined("and", body, Expression("forall", other, (only,)))
        elif variable not in fol.free_variables(body):
            message = f"`{variable}` is not used: its quantifier is left out"
            self.liberties.note("unused-variable", message, "", quantifier.start_pos or 0, name.end_pos or 0)
            return body
        universal = quantifier in ("∀", "\\forall") or quantifier.lower().startswith(("for", "all"))
        return Expression("forall" if universal else "exists", variable, (body,))

    def _note_precedence(self, node: Tree[Token], kind: str, operands: list[_Subtree]) -> None:
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
            self._note_scope(each)

    def _note_scope(self, node: _Subtree) -> None:
        """A note where a quantifier without brackets ends before a connective."""
        while isinstance(node, Tree) and node.data in ("negation", "quantified"):
            scope = node.children[-1]
            if node.data == "quantified" and isinstance(scope, Tree) and scope.data in ("application", "comparison"):
                message = "the scope of the quantifier is read as the next atom alone"
                self._note_at("quantifier-scope", message, "put the whole scope in brackets", node)
            node = scope

    def _comparison(self, node: Tree[Token], bound: frozenset[str]) -> Expression:
        terms = [self.term(child, bound) for child in node.children[::2]]
        links: list[Expression] = []
        for relation, sides in zip(node.children[1::2], itertools.pairwise(terms), strict=True):
            operator = _RELATIONS.get(str(relation), str(relation))
            kind = "equal" if operator in ("=", "≠") else operator
            link = Expression(kind, parts=sides, span=self.span(relation))
            links.append(fol.joined("not", link) if operator == "≠" else link)
        return links[0] if len(links) == 1 else fol.joined("and", *links)

    # --- terms --------------------------------------------------------------------------------------------------

    def term(self, node: _Subtree, bound: frozenset[str]) -> Expression:
        match node:
            case Token(type="NUMBER"):
                value = int(node) if node.lstrip("-").isdecimal() else float(node)
                return Expression("number", str(node), span=self.span(node), value=value)
            case Token():  # `true` as an argument names something
                text = str(node)[1:-1] if node.type == "STRING" else str(node)
                return Expression("function", text, span=self.span(node), quoted=True)
            case Tree(data="group"):
                return self.term(_inside(node, *_BRACKETS)[0], bound)
            case Tree(data="application"):
                term = self._application(node, "function", bound)
                named = term.name in bound or term.name in self.quantified or _LIKE_VARIABLE.fullmatch(term.name)
                return replace(term, kind="variable") if named and not term.parts else term
            case Tree(data="sum" | "product"):
                whole = self.term(node.children[0], bound)
                for sign, operand in zip(node.children[1::2], node.children[2::2], strict=True):
                    whole = Expression(_ARITHMETIC[str(sign)], parts=(whole, self.term(operand, bound)))
                return whole
        message = "a formula cannot stand within a term"
        raise self.unreadable("formula-as-term", message, "write an atom for each of its parts", node)

    def _application(self, node: Tree[Token], kind: str, bound: frozenset[str]) -> Expression:
        name, *rest = _inside(node, *_BRACKETS, "COMMA")
        return Expression(kind, str(name), tuple([self._argument(each, bound) for each in rest]), self.span(name))

    def _argument(self, node: _Subtree, bound: frozenset[str]) -> Expression:
        found = self.term(node, bound)
        if found.kind in fol.ARITHMETIC:
            message = "arithmetic cannot stand in the place of an individual"
            raise self.unreadable("arithmetic-argument", message, "name the individual", node)
        return found

    # --- places -------------------------------------------------------------------------------------------------

    def span(self, node: _Subtree) -> Span:
        tokens = [node] if isinstance(node, Token) else list(node.scan_values(lambda _: True))
        return Span(self.source, tokens[0].start_pos or 0, tokens[-1].end_pos or 0)

    def unreadable(self, code: str, message: str, hint: str, node: _Subtree) -> UnreadableFormula:
        return UnreadableFormula(code, message, hint, self.span(node))

    def _note_at(self, code: str, message: str, hint: str, node: Tree[Token]) -> None:
        self.liberties.note_at(code, message, hint, self.span(node))


def _inside(tree: Tree[Token], *kinds: str) -> list[_Subtree]:
    """The children of a tree, without tokens of some kinds."""
    return [each for each in tree.children if isinstance(each, Tree) or each.type not in kinds]
