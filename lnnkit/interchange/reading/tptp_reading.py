"""TPTP's `fof` and `cnf` -> formulas. Conjectures become queries; so do the negations of negated conjectures.

The syntax is that of the TPTP language (Sutcliffe, https://tptp.org/UserDocs/TPTPLanguage/SyntaxBNF.html).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from lark import Lark, Token, Tree

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.liberties import Liberties, Unreadable
from lnnkit.interchange.reading.token_feeding import Unfit, fed, inside
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.grammar import grammar_file
from lnnkit.syntax.span import Source, Span

_STATED = ("axiom", "hypothesis", "definition", "assumption", "lemma", "theorem", "corollary", "plain")
_NAMES = ("NAME", "QUOTED", "NUMBER")
_TYPED = ("tff", "thf", "tcf", "tpi", "ntf", "txf")


@cache
def tptp_parser() -> Lark:
    """The parser of `grammar/tptp.lark`; ``lex`` cuts a text into tokens, each statement's are fed to it."""
    text = grammar_file("tptp.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", start=["start", "used_up"], maybe_placeholders=False)


def read_tptp(source: Source, liberties: Liberties) -> tuple[list[fol.Stated], list[Diagnostic]]:
    """The formulas of a text, and what cannot be read."""
    stated: list[fol.Stated] = []
    denied: list[fol.Stated] = []
    errors: list[Diagnostic] = []
    statements = list(_statements(source.text))
    names = {_unquoted(str(each)) for tokens in statements for each in tokens if each.type in _NAMES}
    for tokens in statements:
        try:
            found = _statement(source, tokens, liberties, frozenset(names))
        except Unreadable as problem:
            errors.append(problem.diagnostic)
            continue
        (denied if found.role == "denied" else stated).append(found)
    if denied:
        whole = fol.Not(fol.And(tuple([each.formula for each in denied])) if len(denied) > 1 else denied[0].formula)
        count = "a negated conjecture" if len(denied) == 1 else f"{len(denied)} negated conjectures"
        message = (
            f"{count}: the query is the negation of their conjunction"
            if len(denied) > 1
            else f"{count} becomes a query about its negation"
        )
        liberties.note_at("negated-conjecture", message, "", denied[0].span)
        shown = " ".join(each.shown for each in denied)
        stated.append(fol.Stated(whole, "query", denied[0].name, shown, "", denied[0].span))
    return stated, errors


def _statements(text: str) -> Iterator[list[Token]]:
    """The tokens of each statement, its full stop left out."""
    found: list[Token] = []
    for token in tptp_parser().lex(text):
        if token.type == "DOT":
            if found:
                yield found
            found = []
        else:
            found.append(token)
    if found:
        yield found


def _statement(source: Source, tokens: Sequence[Token], liberties: Liberties, names: frozenset[str]) -> fol.Stated:
    span = Span(source, tokens[0].start_pos or 0, tokens[-1].end_pos or 0)
    head = str(tokens[0])
    if head == "include":
        message = "an include is not followed: only the file itself is read"
        raise Unreadable(Diagnostic("include", message, "put the axioms of that file in place of it", span))
    if head in _TYPED:
        message = f"`{head}` is typed or of higher order; `fof` and `cnf` can be read"
        raise Unreadable(Diagnostic("unsupported-language", message, "", span))
    if head not in ("fof", "cnf"):
        message = "a statement begins with `fof(` or `cnf(`"
        raise Unreadable(Diagnostic("syntax", message, "", Span(source, span.start, tokens[0].end_pos or 0)))
    stray = next((each for each in tokens if each.type == "STRAY"), None)
    if stray is not None:
        raise Unreadable(_at(source, stray, "stray-character", f"`{stray}` cannot be part of a formula"))
    children = inside(_parsed(source, tokens), "LPAR", "RPAR", "COMMA")
    name, role, tree = str(children[1]), children[2], children[3]
    assert isinstance(role, Token) and isinstance(tree, Tree)
    formula = _Builder(source, names).formula(tree)
    free = fol.free_variables(formula)
    if free and head == "fof":
        first = next(iter(free.values()))
        message = f"nothing binds `{first.name}`"
        hint = "put the scope of its quantifier in brackets: `! [X] : ( ... )`"
        raise Unreadable(Diagnostic("unbound-variable", message, hint, first.span))
    for variable in reversed(free):
        formula = fol.Quantified(True, variable, formula)
    return fol.Stated(formula, _role(source, role, liberties), _unquoted(name), span.text + ".", "", span)


def _parsed(source: Source, tokens: Sequence[Token]) -> Tree[Token]:
    try:
        return fed(tptp_parser(), tokens, "start")
    except Unfit as problem:
        if problem.index is None:
            last = tokens[-1]
            raise Unreadable(_at(source, last, "syntax", "the statement stops before its end, after")) from None
        token = tokens[problem.index]
        mixed = token.type in ("AND", "OR", "BINARY") and {"AND", "OR", "BINARY"} & {
            each.type for each in tokens[: problem.index]
        }
        hint = "put brackets: connectives do not mix without them" if mixed else ""
        raise Unreadable(_at(source, token, "syntax", f"`{token}` cannot stand here", hint)) from None


def _at(source: Source, token: Token, code: str, message: str, hint: str = "") -> Diagnostic:
    if message.endswith("after"):
        message = f"{message} `{token}`"
    return Diagnostic(code, message, hint, Span(source, token.start_pos or 0, token.end_pos or 0))


def _role(source: Source, role: Token, liberties: Liberties) -> str:
    if role in _STATED:
        if role == "plain":
            span = Span(source, role.start_pos or 0, role.end_pos or 0)
            liberties.note_at("plain-formula", "a formula whose role is plain is taken as an axiom", "", span)
        return "axiom"
    if role == "conjecture":
        return "query"
    if role == "negated_conjecture":
        return "denied"
    roles = f"{', '.join(_STATED)}, conjecture or negated_conjecture"
    raise Unreadable(
        _at(source, role, "unknown-role", f"a formula with the role `{role}` cannot be read", f"write {roles}")
    )


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[:1] in ("'", '"') else text


class _Builder:
    """A statement's tree on its way to a formula. A distinct object such as ``"x"`` keeps its quotes where something of
    the text has the same name."""

    def __init__(self, source: Source, names: frozenset[str]) -> None:
        self.source = source
        self.names = names

    def formula(self, node: Tree[Token] | Token) -> fol.Formula:
        assert isinstance(node, Tree)
        match node.data:
            case "group":
                return self.formula(inside(node, "LPAR", "RPAR")[0])
            case "negation":
                return fol.Not(self.formula(node.children[1]))
            case "conjunction":
                return fol.And(tuple([self.formula(each) for each in inside(node, "AND")]))
            case "disjunction":
                return fol.Or(tuple([self.formula(each) for each in inside(node, "OR")]))
            case "binary":
                left, operator, right = node.children
                return _joined(str(operator), self.formula(left), self.formula(right))
            case "quantified":
                variables = [str(each) for each in node.children if isinstance(each, Token) and each.type == "VARIABLE"]
                found = self.formula(node.children[-1])
                for variable in reversed(variables):
                    universal = isinstance(node.children[0], Token) and node.children[0].type == "ALL"
                    found = fol.Quantified(universal, variable, found)
                return found
            case "equation":
                left, operator, right = node.children
                assert isinstance(operator, Token)
                same = fol.Equal(self.term(left), self.term(right), self._span(operator))
                return same if operator.type == "EQUALS" else fol.Not(same)
        return self._atom(node)

    def _atom(self, node: Tree[Token]) -> fol.Formula:
        head, *rest = inside(node, "LPAR", "RPAR", "COMMA")
        assert isinstance(head, Token)
        if head.type == "DEFINED" and head in ("$true", "$false") and not rest:
            return fol.Constant(head == "$true")
        if head.type not in ("NAME", "QUOTED"):
            raise Unreadable(_at(self.source, head, "no-predicate", f"`{head}` is not a formula"))
        return fol.Atom(_unquoted(str(head)), tuple([self.term(each) for each in rest]), self._span(head))

    def term(self, node: Tree[Token] | Token) -> fol.Term:
        assert isinstance(node, Tree)
        head, *rest = inside(node, "LPAR", "RPAR", "COMMA")
        assert isinstance(head, Token)
        span = self._span(head)
        match head.type:
            case "VARIABLE":
                return fol.Variable(str(head), span)
            case "NUMBER":
                return fol.Application(str(head), (), True, span)
            case "DISTINCT":
                name = _unquoted(str(head))
                return fol.Application(str(head) if name in self.names else name, (), True, span)
            case "DEFINED":
                raise Unreadable(
                    _at(self.source, head, "defined-function", f"`{head}` has no counterpart in a program")
                )
        return fol.Application(_unquoted(str(head)), tuple([self.term(each) for each in rest]), False, span)

    def _span(self, token: Token) -> Span:
        return Span(self.source, token.start_pos or 0, token.end_pos or 0)


def _joined(operator: str, left: fol.Formula, right: fol.Formula) -> fol.Formula:
    match operator:
        case "=>":
            return fol.Implies(left, right)
        case "<=":
            return fol.Implies(right, left)
        case "<=>":
            return fol.Iff(left, right)
        case "<~>":
            return fol.Xor(left, right)
        case "~|":
            return fol.Not(fol.Or((left, right)))
    return fol.Not(fol.And((left, right)))
