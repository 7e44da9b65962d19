"""A text with first-order logic, as people and language models write it -> its lines, classified as headings, comments,
glosses and conclusions -> formulas."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from lark import Token, Tree
from lark.exceptions import UnexpectedToken

from lnnkit.errors import ProgramError
from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import FolExpression, Liberties, Stated, unreadable
from lnnkit.interchange.fol_tokens import Words, fol_parser, group_end, settled, words_of
from lnnkit.syntax.diagnostic import Diagnostic, Source, Span

_HEADING = re.compile(r"(?:#+\s*|\*\*)?([A-Za-z][A-Za-z \-]*?)(?:\*\*)?\s*(:?)(?:\*\*)?")
_IGNORED = "ignored"
_SECTIONS = {
    "axiom": ("premise", "premises", "facts", "rules", "axioms", "assumptions", "knowledge", "policy", "background"),
    "query": (
        "conclusion", "conclusions", "query", "queries", "question", "questions", "goal", "goals", "claim", "claims",
        "hypothesis",
    ),
    "predicate": ("predicates", "predicate definitions", "predicate", "symbols", "vocabulary"),
    _IGNORED: ("constants", "variables", "explanation", "reasoning", "first-order-logic premises", "fol"),
}  # fmt: skip
_COMMENT = re.compile(r"(?:#|//|%|--\s)")
_BEGINNING = re.compile(
    r"""(?:\(?\d{1,3}[.):]\s+ | \(\d{1,3}\)\s* | [•*·‣]\s+ | (?P<dash>[-–—]\s+))?
    (?:(?:\*\*)?(?P<heading>premises?|conclusions?|query|queries|goal|claims?|hypothesis)
        (?:\s*\d+)?(?:\*\*)?\s*:(?:\*\*)?\s*)?
    (?P<asked>(?:⊢|⊨|\\(?:vdash|models|therefore)\b|\|-|\|=|∴|\?-|\?|therefore,?\s|query\s)\s*)?""",
    re.IGNORECASE | re.VERBOSE,
)
_TITLE = re.compile(r"([^\W\d_][\w-]*(?: \d+)?):(?![-:=])\s+(?=\S)")
_GLOSS = re.compile(r"\s*(?::::*|#|//)\s*")
LINKS = ("_AND", "_OR", "_XOR", "_IMPLIES", "_IFF")
_LIKE_VARIABLE = re.compile(r"[u-zU-Z]\d{0,2}[’']?")  # `y1976` names a year
_OPERATORS = {
    "==": "=", "!=": "≠", "!==": "≠", "<>": "≠", "\\ne": "≠", "\\neq": "≠", "=<": "<=", "≤": "<=", "\\le": "<=",
    "\\leq": "<=", "≥": ">=", "\\ge": ">=", "\\geq": ">=", "−": "-", "–": "-", "×": "*", "·": "*",
}  # fmt: skip
_SYMBOLS = {"and": "∧", "or": "∨", "xor": "⊕", "implies": "→", "iff": "↔"}
_TIGHTER = {"or": ("and",), "xor": ("and", "or"), "iff": ("implies",)}  # where readers differ

_Subtree = Tree[Token] | Token


def read_fol(source: Source, liberties: Liberties) -> tuple[list[Stated], dict[str, str], list[Diagnostic]]:
    """The formulas of a text, one a line; what `Predicates:` says of predicates; and an error for each line that cannot
    be read."""
    lines: list[Stated] = []
    for line in _lines(source, liberties):
        if lines and not line.name and _goes_on(lines[-1], line):
            before = lines.pop()
            gloss = " ".join(filter(None, (before.gloss, line.gloss)))
            line = replace(before, span=replace(before.span, end=line.span.end), gloss=gloss)
        lines.append(line)
    stated: list[Stated] = []
    errors: list[Diagnostic] = []
    glosses: dict[str, str] = {}
    for line in lines:
        if line.role == "predicate":
            if name := line.span.text.partition("(")[0].strip():
                glosses[name] = line.gloss or line.span.text.strip()
            continue
        try:
            stated.append(read_line(line, liberties))
        except ProgramError as problem:
            errors += problem.diagnostics
        except RecursionError:
            errors.append(fol.too_deep(line.span))
    return stated, glosses, errors


def _lines(source: Source, liberties: Liberties) -> Iterator[Stated]:
    """The lines with formulas, what stands around these cut off."""
    role, begin = "axiom", 0
    for text in source.text.splitlines(keepends=True):
        start, begin = begin + len(text) - len(text.lstrip()), begin + len(text)
        stripped = text.strip()
        if not stripped or stripped.startswith("```"):
            continue
        heading = _HEADING.fullmatch(stripped)
        named = _section(heading[1]) if heading and (heading[2] or stripped[0] in "#*") else None
        if named is not None:
            role = named
        elif not _COMMENT.match(stripped) and role != _IGNORED:
            yield _cut(Span(source, start, start + len(stripped)), role, liberties)


def _section(heading: str) -> str | None:
    words = heading.strip().lower()
    for role, names in _SECTIONS.items():
        if words in names or (role != _IGNORED and words.split()[-1] in names):
            return role
    return None


def _cut(span: Span, role: str, liberties: Liberties) -> Stated:
    """The line that a stretch of text holds, after its numbering, its heading, and its name."""
    text, end, name, gloss = span.source.text, span.end, None, ""
    beginning = _BEGINNING.match(text, span.start, end)
    assert beginning is not None  # all of its groups are optional
    if beginning["dash"] and all(note.code != "dash-as-bullet" for note in liberties.findings):
        message = "a dash and a space at the head of a line are read as a bullet"
        place = replace(span, end=beginning.end("dash"))
        liberties.note("dash-as-bullet", message, "write `¬` for a negation", place)
    start, heading = beginning.end(), beginning["heading"]
    role = "query" if beginning["asked"] else (heading and _section(heading)) or role
    if role != "predicate" and (match := _TITLE.match(text, start, end)):
        name, start = match[1], match.end()
    if match := _GLOSS.search(text, start, end):
        gloss, end = text[match.end() : end].strip(), match.start()
    return Stated(Span(span.source, start, end), role, name, gloss)


def _goes_on(before: Stated, line: Stated) -> bool:
    """Whether a line continues the formula of the one before it: that ends with a connective, or this begins with
    one."""
    between = line.span.source.text[before.span.end : line.span.start]
    if before.role != line.role or before.role == "predicate" or "\n" not in between or between.strip():
        return False
    last, first = words_of(before.span)[-1:], words_of(line.span)[:1]
    return any(word.type in (*LINKS, "_COMMA") for word in last) or any(word.type in LINKS for word in first)


# --- a line -----------------------------------------------------------------------------------------------------------


def read_line(line: Stated, liberties: Liberties) -> Stated:
    """The line with its formula, closed. Raises `ProgramError`, and ``RecursionError`` if that nests very deeply."""
    words = words_of(line.span)
    _require_formula(words, line, liberties)
    notes = Liberties(liberties.source)
    words = settled(words, notes)
    while True:
        bound = {str(name) for word, name in itertools.pairwise(words) if word.type == "QUANTIFIER"}
        builder = _FormulaBuilder(liberties.source, bound)
        formula = builder.formula(_parsed(words, notes), frozenset())
        extended = _extended(words, formula, notes)
        if extended is None:
            break
        words = extended
    free = fol.free_variables(formula)
    closed = fol.quantified("forall", free, formula)
    if fol.depth(closed) > fol.DEEPEST:
        raise ProgramError([fol.too_deep(line.span)])
    for note in (*notes.findings, *builder.liberties.findings):
        liberties.add(note)
    for name, (variable, *_) in free.items():
        message = f"nothing binds `{name}`: it is read as `for every {name}`"
        liberties.note("free-variable", message, f"write `∀{name} (...)`, or name the individual", variable.span)
    return replace(line, formula=closed)


def _require_formula(words: Words, line: Stated, liberties: Liberties) -> None:
    if not words:
        raise unreadable("no-formula", "a formula is missing", "", line.span)
    for word in words:
        if word.type == "STRAY" and word != ";":
            raise unreadable("stray-character", f"`{word}` cannot be part of a formula", "", liberties.span(word))
        if word.type == "ENTAILS":
            message = f"`{word}` cannot stand within a formula"
            hint = "put what follows from the premises on a line of its own, after `Conclusion:`"
            raise unreadable("entails-within", message, hint, liberties.span(word))
    kinds = [word.type for word in words]
    if kinds.count("NAME") > 1 and {*kinds} <= {"NAME", "NUMBER", "DOT", "_COMMA", "STRING", "STRAY", "IF"}:
        message = "this is a sentence, not a formula"
        raise unreadable("no-formula", message, "put `#` before it, or after the formula as `::: gloss`", line.span)


def _parsed(words: Words, liberties: Liberties) -> Tree[Token]:
    state = fol_parser().parse_interactive("", start="start")
    for word in words:
        try:
            state.feed_token(word)
        except UnexpectedToken:
            raise _unexpected(word, state.accepts(), liberties.span(word)) from None
    try:
        return state.feed_eof(words[-1] if words else None)
    except UnexpectedToken:
        end = liberties.span(words[-1]).end if words else 0
        span = Span(liberties.source, end - 1, end)
        raise unreadable("syntax", "the formula stops before its end", "write what is missing", span) from None


def _unexpected(word: Token, accepted: set[str], span: Span) -> ProgramError:
    message, hint = f"`{word}` cannot stand here", ""
    if {"_AND", "_OR"} <= accepted and word.type in (
        "NAME", "_LPAR", "_NOT", "QUANTIFIER", "TRUTH", "STRING", "NUMBER"
    ):  # fmt: skip
        message = f"a connective is missing before `{word}`"
        hint = "write `∧`, `∨`, `⊕`, `→` or `↔` there"
    elif word.type == "COLON":
        message, hint = "`:` cannot stand here", "it follows the variable of a quantifier"
    elif word.type == "RELATION":
        message = f"`{word}` has no left side"
    elif word.type == "QUANTIFIER" or "NAME" in accepted:
        message += ": a formula or a name is due"
    elif word.type == "_COMMA":
        hint = "put each formula on a line of its own"
    return unreadable("syntax", message, hint, replace(span, end=max(span.end, span.start + 1)))


# --- scopes -----------------------------------------------------------------------------------------------------------


def _extended(words: Words, formula: FolExpression, liberties: Liberties) -> Words | None:
    """The tokens with the scope of one quantifier reaching to the end of its group, where its variable is used after
    its scope; None where there is none."""
    for name, (variable, *_) in fol.free_variables(formula).items():
        assert variable.span is not None
        for index in range(len(words) - 2, -1, -1):
            if words[index].type != "QUANTIFIER" or words[index + 1] != name:
                continue
            span, end = liberties.span(*words[index : index + 2]), group_end(words, index)
            closed = end < len(words) and liberties.span(words[end]).start < variable.span.start
            if closed or span.start > variable.span.start:
                continue
            message = f"`{name}` is used after the scope of its quantifier, so the scope is extended to the end"
            liberties.note("scope-extended", message, "put the whole scope in brackets", span)
            return [*words[: index + 2], words[index + 1].update("COLON", ":"), *words[index + 2 :]]
    return None


# --- tree to formula --------------------------------------------------------------------------------------------------


class _FormulaBuilder:
    """One line's tree on its way to a formula; ``quantified`` are the variables that it binds somewhere."""

    def __init__(self, source: Source, quantified: set[str]) -> None:
        self.quantified = quantified
        self.liberties = Liberties(source)

    def formula(self, node: _Subtree, bound: frozenset[str]) -> FolExpression:
        match node:
            case Token(type="TRUTH"):
                return fol.TRUE if node.lower() in ("true", "⊤", "\\top") else fol.FALSE
            case Token():
                raise unreadable("number-as-formula", f"`{node}` is not a formula", "", self._span(node))
            case Tree(data="start" | "group", children=[inner]):
                return self.formula(inner, bound)
            case Tree(data="negation", children=[operand]):
                self._note_scope(node)
                return fol.joined("not", self.formula(operand, bound))
            case Tree(data="quantified" | "scoped"):
                return self._quantified(node, bound)
            case Tree(data="comparison"):
                return self._comparison(node, bound)
            case Tree(data="application"):
                atom = self._application(node, "atom", bound)
                if atom.name in bound and not atom.parts:
                    message = f"the variable `{atom.name}` is not a formula"
                    raise unreadable("variable-as-formula", message, "", self._span(node.children[0]))
                return atom
            case Tree(data="and" | "or" | "xor" | "implies" | "iff" as kind, children=operands):
                self._note_precedence(node, kind)
                built = [self.formula(operand, bound) for operand in operands]
                if kind in ("xor", "iff"):
                    return reduce(lambda whole, part: fol.joined(kind, whole, part), built)
                return fol.joined(kind, *built)
        raise unreadable("number-as-formula", "a number is not a formula", "compare it", self._span(node))

    def _quantified(self, node: Tree[Token], bound: frozenset[str]) -> FolExpression:
        quantifier, name, *_, scope = node.children
        assert isinstance(quantifier, Token) and isinstance(name, Token)
        variable = str(name)
        body = self.formula(scope, bound | {variable})
        if quantifier == "∃!":
            other = fol.fresh((), variable, 1, bound | fol.variables(body))
            sides = FolExpression("variable", other), FolExpression("variable", variable)
            equal = FolExpression("equal", parts=sides, span=self._span(name))
            only = fol.joined("implies", fol.renamed(body, variable, other), equal)
            body = fol.joined("and", body, FolExpression("forall", other, (only,)))
        elif variable not in fol.free_variables(body):
            message = f"`{variable}` is not used: its quantifier is left out"
            self.liberties.note("unused-variable", message, "", self.liberties.span(quantifier, name))
            return body
        universal = quantifier in ("∀", "\\forall") or quantifier.lower().startswith(("for", "all"))
        return FolExpression("forall" if universal else "exists", variable, (body,))

    def _note_precedence(self, node: Tree[Token], kind: str) -> None:
        """Note a formula that readers parse differently unless it has brackets."""
        symbol = _SYMBOLS[kind]
        inner = [str(child.data) for child in node.children if isinstance(child, Tree)]
        if kind in ("xor", "iff") and len(node.children) > 2:
            message = f"a chain of `{symbol}` is read from the left: `(A {symbol} B) {symbol} C`"
            hint = "a chain of `⊕` does not mean exactly one of several" if kind == "xor" else "put brackets"
            self.liberties.note("connective-chain", message, hint, self._span(node))
        elif kind == "implies" and inner[1:] == ["implies"]:
            message = "a chain of `→` is read from the right: `A → (B → C)`"
            self.liberties.note("connective-chain", message, "", self._span(node))
        for connective in dict.fromkeys(inner):
            if connective in _TIGHTER.get(kind, ()):
                message = f"`{_SYMBOLS[connective]}` is taken to bind tighter than `{symbol}`"
                self.liberties.note(
                    "precedence", message, "put brackets around what belongs together", self._span(node)
                )
        for child in node.children[:-1]:
            self._note_scope(child)

    def _note_scope(self, node: _Subtree) -> None:
        """A note where a quantifier without brackets ends before a connective."""
        while isinstance(node, Tree) and node.data in ("negation", "quantified"):
            scope = node.children[-1]
            if node.data == "quantified" and isinstance(scope, Tree) and scope.data in ("application", "comparison"):
                message = "the scope of the quantifier is read as the next atom alone"
                self.liberties.note("quantifier-scope", message, "put the whole scope in brackets", self._span(node))
            node = scope

    def _comparison(self, node: Tree[Token], bound: frozenset[str]) -> FolExpression:
        terms = [self.term(child, bound) for child in node.children[::2]]
        links: list[FolExpression] = []
        for relation, sides in zip(node.children[1::2], itertools.pairwise(terms), strict=True):
            operator = _OPERATORS.get(str(relation), str(relation))
            kind = "equal" if operator in ("=", "≠") else operator
            link = FolExpression(kind, parts=sides, span=self._span(relation))
            links.append(fol.joined("not", link) if operator == "≠" else link)
        return links[0] if len(links) == 1 else fol.joined("and", *links)

    def term(self, node: _Subtree, bound: frozenset[str]) -> FolExpression:
        match node:
            case Token(type="NUMBER"):
                value = int(node) if node.lstrip("-").isdecimal() else float(node)
                return FolExpression("number", str(node), span=self._span(node), value=value)
            case Token():  # `true` as an argument names something
                text = str(node)[1:-1] if node.type == "STRING" else str(node)
                return FolExpression("string", text, span=self._span(node))
            case Tree(data="group", children=[inner]):
                return self.term(inner, bound)
            case Tree(data="application"):
                term = self._application(node, "function", bound)
                if term.parts:
                    return term
                named = term.name in bound or term.name in self.quantified or _LIKE_VARIABLE.fullmatch(term.name)
                return replace(term, kind="variable" if named else "constant")
            case Tree(data="sum" | "product"):
                whole = self.term(node.children[0], bound)
                for sign, operand in zip(node.children[1::2], node.children[2::2], strict=True):
                    operator = _OPERATORS.get(str(sign), str(sign))
                    whole = FolExpression(operator, parts=(whole, self.term(operand, bound)))
                return whole
        message = "a formula cannot stand within a term"
        raise unreadable("formula-as-term", message, "write an atom for each of its parts", self._span(node))

    def _application(self, node: Tree[Token], kind: str, bound: frozenset[str]) -> FolExpression:
        name, *arguments = node.children
        terms: list[FolExpression] = []
        for argument in arguments:
            terms.append(self.term(argument, bound))
            if terms[-1].kind in fol.ARITHMETIC:
                message = "arithmetic cannot stand in the place of an individual"
                raise unreadable("arithmetic-argument", message, "name the individual", self._span(argument))
        return FolExpression(kind, str(name), tuple(terms), self._span(name))

    def _span(self, node: _Subtree) -> Span:
        return self.liberties.span(node if isinstance(node, Token) else node.meta)
