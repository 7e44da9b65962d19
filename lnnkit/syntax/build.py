"""Converts parse trees to abstract syntax: the only module that knows both."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from lark import Token, Tree

from lnnkit.syntax import ast
from lnnkit.syntax.dates import DATE, NO_DATE, date_as_number, date_hint, days_of
from lnnkit.syntax.diagnostic import Diagnostic, Source, Span
from lnnkit.syntax.identifiers import (
    AGGREGATE_HINT,
    AGGREGATES,
    FUNCTIONS,
    NAMEABLE,
    SHOUTED,
    UNITS,
    is_name,
    normalise,
    starts_upper,
    unglued,
)
from lnnkit.syntax.rewrite import aggregate_message

MAX_DEPTH = 150  # greatest depth of nested nodes: later passes may recurse, and Python allows a thousand frames

ParseNode = Any  # a tree of Lark, or a token: which children a tree has is known from its rule alone
BoundNames = frozenset[str]

_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_LEARNABLE = re.compile(
    r"\?\s*(?:(?!date\s*\")([^\W\d_][\w-]*)(?:\s*=\s*(date\s*\".*|\S+))?|(date\s*\".*|\S+))?", re.DOTALL
)
_BINARY = {"implies": ast.Implies, "iff": ast.Iff, "xor": ast.Xor}
_RELATIONS = {"≤": "<=", "≥": ">=", "≠": "!="}
_TRUTHS = {"true": True, "⊤": True, "false": False, "⊥": False}
_UNIVERSAL = ("∀", "forall")


class Rejected(Exception):
    """A statement that the grammar accepts and the language does not."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class AstBuilder:
    """Converts the parse tree of one slice of a source to nodes; raises `Rejected` at the first fault.

    Token positions are relative to the start of the slice, ``offset``.
    """

    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.offset = offset

    # --- statements ---------------------------------------------------------------------------------------------

    def statement(self, tree: ParseNode) -> ast.Statement:
        """The node of any statement except the version."""
        children, span = tree.children, self.span(tree)
        match tree.data:
            case "fact_statement":
                trusted = self._is(children[-1], "trust")
                trust = self._trust(children[-1]) if trusted else None
                return ast.FactStatement(*self._literal(children[: len(children) - trusted]), trust, span=span)
            case "label_statement":
                return ast.LabelStatement(*self._literal(children), span=span)
            case "rule_statement":
                return ast.RuleStatement(*self._ruling(children), span=span)
            case "axiom_statement":
                return ast.AxiomStatement(*self._ruling(children), span=span)
            case "query_statement":
                return ast.QueryStatement(self.expression(children[1]), span=span)
            case "predicate_statement":
                return ast.PredicateStatement(*self._declared(children), self._is(children[-1], "CLOSED"), span=span)
            case "number_statement" | "date_statement":
                closed, dated = self._is(children[-1], "CLOSED"), tree.data == "date_statement"
                return ast.NumberStatement(*self._declared(children), closed, dated, span=span)
            case "sort_statement":
                return ast.SortStatement(self._name(children[1]), open=len(children) > 2, span=span)
            case "load_statement":
                return ast.LoadStatement(*self._reading(children), span=span)
            case "label_table_statement":
                read = self._reading(children)
                for clause in children[-1].find_data("trust"):
                    message = "labels cannot have a trust, which ranks facts for repairs"
                    raise self._fault("bad-trust", message, clause, "take it out")
                return ast.LabelTableStatement(*read, span=span)
            case "import_statement":
                return ast.ImportStatement(self._path(children[1]), span=span)
            case "logic_statement":
                logic = self.text(children[1])
                if logic not in ast.LOGICS:
                    message = f"there is no logic `{logic}`"
                    raise self._fault("unknown-logic", message, children[1], f"choose one of {', '.join(ast.LOGICS)}")
                return ast.LogicStatement(cast(Any, logic), span=span)
        raise AssertionError(f"no statement: {tree.data}")

    def version(self, tree: Tree[Token]) -> int:
        """The language version in the first line of a file."""
        if self.text(tree.children[1]) != "1":
            message = f"this lnnkit reads version 1 of the language, not {self.text(tree.children[1])}"
            raise self._fault("unsupported-version", message, tree.children[1], "write `lnnkit 1`")
        return 1

    def _literal(self, children: list[ParseNode]) -> tuple[ast.Atom, bool, ast.Bounds | None]:
        negated = isinstance(children[1], Token)
        atom, *rest = children[1 + negated :]
        bounds = self._bounds(rest)
        return self._atom(atom, frozenset()), negated, bounds

    def _ruling(self, children: list[ParseNode]) -> tuple[str | None, ast.Expression, ast.Bounds | None]:
        named = len(children) > 2 and self._is(children[2], "COLON")
        formula, *bounds = children[3 if named else 1 :]
        return self._name(children[1]) if named else None, self.expression(formula), self._bounds(bounds)

    def _declared(self, children: list[ParseNode]) -> tuple[str, tuple[str, ...]]:
        signature = children[2].children[1:-1:2] if len(children) > 2 and self._is(children[2], "signature") else ()
        return self._free_name(children[1]), tuple([self._name(child) for child in signature])

    def _bounds(self, branches: list[ParseNode]) -> ast.Bounds | None:
        """The bounds of a statement, which may have none."""
        if not branches:
            return None
        (branch,) = branches
        if len(branch.children) == 2:
            value = self._value(branch.children[1])
            return ast.Bounds(value, value, exact=True, span=self.span(branch))
        _, _, lower, _, upper, _ = branch.children
        return ast.Bounds(self._value(lower), self._value(upper), span=self.span(branch))

    def _reading(self, children: list[ParseNode]) -> tuple[str, ast.Table, bool]:
        *_, name, _, table = children
        return self._free_name(name), self._table(table), len(children) > 4

    def _table(self, branch: ParseNode) -> ast.Table:
        rows, *clauses = branch.children
        words = rows.children
        queried = words[0].type == "QUERY"
        texts = [self._string(word) if queried else self._path(word) for word in words if word.type == "STRING"]
        by_kind: dict[str, ParseNode] = {}
        for clause in clauses:
            kind = str(clause.data) if isinstance(clause, Tree) else "trim" if clause.type == "TRIM" else "header"
            if kind in by_kind:
                message = f"the statement has `{self.text(self._first(clause))}` twice"
                hint = "join conditions by `and`" if kind == "where" else "keep one of the two"
                raise self._fault("repeated-clause", message, clause, hint)
            by_kind[kind] = clause
        clauses = {
            "columns": self._columns,
            "where": lambda clause: tuple([self._condition(condition) for condition in clause.children[1::2]]),
            "missing": lambda clause: tuple([self._mark(mark) for mark in clause.children if isinstance(mark, Tree)]),
            **dict.fromkeys(("delimiter", "decimal", "encoding"), self._layout),
            "trust": self._trust,
        }
        table = ast.Table(
            span=self.span(branch),
            path="" if queried else texts[0],
            query=texts[0] if queried else None,
            relation=texts[1] if len(texts) > 1 else None,
            trim="trim" in by_kind,
            **{kind: read(by_kind[kind]) for kind, read in clauses.items() if kind in by_kind},
        )
        header = self._is(by_kind["header"], "HEADER") if "header" in by_kind else not table.numbered
        return replace(table, header=header)

    def _columns(self, branch: ParseNode) -> tuple[ast.ColumnReference | None, ...]:
        words = branch.children[1::2]
        columns = tuple([None if self.text(word) == "_" else self._column(word) for word in words])
        if all(column is None for column in columns):
            message = "every listed column is `_`, which skips a column"
            raise self._fault("bad-column", message, branch, "name the columns to read")
        return columns

    def _column(self, token: Token) -> ast.ColumnReference:
        text = self.text(token)
        if token.type == "SKIP":
            message = f"`{text}` stands for a column that is not read"
            raise self._fault("bad-column", message, token, f'name the column; quote a column of that name: "{token}"')
        if token.type != "NUMBER":
            return self._name(token)
        number = self._number(token).value
        if not isinstance(number, int) or number < 1:
            message = f"a column's position is a whole number from 1, not `{text}`"
            raise self._fault("bad-column", message, token, f'quote a column of that name: "{text}"')
        return number

    def _condition(self, branch: ParseNode) -> ast.Where:
        column, relation, *rest = branch.children
        word, span = self.text(relation), self.span(branch)
        operator = _RELATIONS.get(word, word)
        if operator == "is":
            operator = "is null" if len(rest) == 1 else "is not null"
        if operator == "<?>":
            raise self._fault("bad-condition", "`<?>` is a relation to be learned", relation, "write one of = != < >")
        cells, other = [child for child in rest if isinstance(child, Tree)], None
        if cells and self._is(cells[0], "named_column"):
            other = ast.NamedColumn(self._name(cells[0]), span=self.span(cells.pop()))
            if other.name.lower() == "null":
                place = Span(self.source, self.span(relation).start, other.span.end)
                hint = f"write `{'is null' if operator == '=' else 'is not null'}`"
                raise Rejected(Diagnostic("bad-condition", "no comparison with a missing cell holds", hint, place))
        values = tuple([self._cell(cell) for cell in cells])
        if operator in ("<", "<=", ">", ">=") and values and isinstance(values[0], bool):
            message = f"`{self.text(cells[0])}` is a truth value, and `{word}` compares numbers or texts"
            raise self._fault("bad-condition", message, relation, f"write `= {self.text(cells[0])}`")
        return ast.Where(self._column(column), values, cast(Any, operator), other, span=span)

    def _cell(self, branch: ParseNode) -> ast.Cell:
        *minus, token = branch.children
        if token.type == "STRING":
            return self._string(token)
        if token.type == "TRUTH":
            return _TRUTHS[self.text(token)]
        value = self._number(token).value
        return -value if minus else value

    def _mark(self, branch: ParseNode) -> str:
        """A text that stands for a missing cell; a number counts as the text that is written."""
        token = branch.children[-1]
        return self._string(token) if token.type == "STRING" else self.text(branch).replace("−", "-")

    def _layout(self, branch: ParseNode) -> str:
        """The text of a clause that says how a file is written."""
        token, text = branch.children[1], self._string(branch.children[1])
        if branch.data == "delimiter" and (len(text) != 1 or not text.isascii() or text in '"\n\r'):
            hint = 'write a tab as "\\t"' if text.strip().lower() in ("tab", "tabs", "\\t") else 'such as ";" or "\\t"'
            message = "a delimiter must be one ASCII character other than a quote or line break; got"
        elif branch.data == "decimal" and text not in (",", "."):
            message, hint = "numbers have a decimal comma or point; got", 'write `decimal ","`'
        elif branch.data == "encoding" and not _is_encoding(text):
            message, hint = "no encoding is called", 'such as `encoding "latin-1"` or "utf-16"'
        else:
            return text
        raise self._fault(f"bad-{branch.data}", f"{message} {self.text(token)}", token, hint)

    def _trust(self, branch: ParseNode) -> float | int:
        value = self._value(branch.children[1])
        if isinstance(value, ast.Learnable):
            hint = "write a number from 0 to 1, such as `trust 0.8`"
            raise self._fault("bad-trust", "trust cannot be learned", branch, hint)
        if not 0 <= value.value <= 1:
            shown = value.value
            hint = f"write `trust {shown / 100:g}`" if 10 <= shown <= 100 else "1 is full trust, and the default"
            raise self._fault("bad-trust", f"trust must be a number from 0 to 1; got {value.span.text}", branch, hint)
        return value.value

    # --- expressions --------------------------------------------------------------------------------------------

    def expression(self, branch: ParseNode, scope: BoundNames = frozenset(), depth: int = 0) -> ast.Expression:
        """The node of a formula or term; ``scope`` holds the names that enclosing quantifiers bind."""
        while isinstance(branch, Tree) and branch.data == "group" and len(branch.children) == 3:
            branch = branch.children[1]  # in a loop: parentheses nest deeper than Python's stack
        if depth > MAX_DEPTH:
            message = f"this expression nests more than {MAX_DEPTH} operators"
            hint = "split it into several rules, or give a part of it a predicate of its own"
            raise self._fault("too-deep", message, self._first(branch), hint)
        if not isinstance(branch, Token):
            return self._node(branch, scope, depth + 1)
        if branch.type == "STRING":
            return ast.Entity(self._string(branch), span=self.span(branch))
        if branch.type == "TRUTH":
            return ast.Truth(_TRUTHS[self.text(branch)], span=self.span(branch))
        return self._value(branch)

    def _node(self, tree: ParseNode, scope: BoundNames, depth: int) -> ast.Expression:
        children = tree.children
        match tree.data:
            case "atom":
                return self._atom(tree, scope)
            case "quantified":
                return self._quantified(tree, scope, depth)
            case "aggregate":
                return self._aggregate(tree, scope, depth)
            case "group":
                return self._attributed(tree, self.expression(children[1], scope, depth - 1))
            case "unknown_function":
                return self._unknown_function(tree, scope, depth)
            case "date" | "days":
                return self._value(tree)
        span = self.span(tree)
        match tree.data:
            case "not":
                return ast.Not(self.expression(children[1], scope, depth), span=span)
            case "weighted":
                return ast.Weighted(self.expression(children[0], scope, depth), self._weight(children[2]), span=span)
            case "negate":
                operand = self.expression(children[1], scope, depth)
                if isinstance(operand, ast.Number) and operand.unit != "date":
                    return ast.Number(-operand.value, operand.unit, span=span)
                self._alone(children[1], children[0])
                return ast.Negate(operand, span=span)
            case "function":
                if len(children) == 4 and self.text(children[0]) in AGGREGATES:
                    raise self._called_aggregate(children[0])
                operands = tuple([self.expression(child, scope, depth) for child in children[2:-1:2]])
                return ast.Function(cast(Any, self.text(children[0])), operands, span=span)
            case "unit":
                given = self._is(children[-1], "attributes")
                attributes = self._attributes(children[-1]) if given else ()
                operands = tuple([self.expression(child, scope, depth) for child in children[2 : -1 - given : 2]])
                return ast.Unit(cast(Any, self.text(children[0])), operands, attributes, span=span)
        operands = tuple([self.expression(child, scope, depth) for child in children[::2]])
        match tree.data:
            case "and" | "or":
                return (ast.And if tree.data == "and" else ast.Or)(operands, span=span)
            case "implies" | "iff" | "xor":
                return _BINARY[tree.data](*operands, span=span)
            case "comparison":
                relations = tuple([_RELATIONS.get(text := self.text(child), text) for child in children[1::2]])
                return ast.Comparison(operands, cast(Any, relations), span=span)
        assert tree.data == "arithmetic", tree.data
        self._alone(children[0], children[1])
        self._alone(children[2], children[1])
        self._no_date(children[2])
        operator = self.text(children[1]).replace("−", "-")
        return ast.Arithmetic(cast(Any, operator), *operands, span=span)

    def _atom(self, tree: ParseNode, scope: BoundNames) -> ast.Atom:
        name, arguments = self._name(tree.children[0]), ()
        if len(tree.children) > 1:
            self._check_called(tree)
            arguments = tuple([self._argument(child, scope) for child in tree.children[2:-1:2]])
        return ast.Atom(name, arguments, span=self.span(tree))

    def _check_called(self, tree: ParseNode) -> None:
        """Rejects what would otherwise be an atom: `IF(a, b, c)`, `count(T)` as in `count(T) > 3`, which the checker
        rejects as it does `sum(amount(T)) > 3`, other names with a meaning, and the reserved name in `Parent(X, _)`."""
        called, arguments = tree.children[0], tree.children[2:-1:2]
        name = self.text(called)
        if name == "IF":
            raise self._fault("if-then", "`IF` is not a function", called, "write `P -> Q` for if P then Q")
        if name in AGGREGATES:
            raise self._called_aggregate(called)
        self._free_name(called)
        places = [child for child in arguments if self.text(child) == "_"]
        if places:
            names = iter(["Any"] if len(places) == 1 else [f"Any{number + 1}" for number in range(len(places))])
            shown = [next(names) if child in places else self.text(child) for child in arguments]
            bound = ", ".join([text for text, child in zip(shown, arguments, strict=True) if child in places])
            atom = f"{name}({', '.join(shown)})"
            hint = f"write `(exists {bound}: {atom})`, of a number around its comparison"
            if re.match(r"\s*(fact|label)\b", self.source.text[self.offset :]):
                hint = f"a fact names its entities; that there is one is written `axiom exists {bound}: {atom}`"
            raise self._fault("reserved-underscore", "`_` is reserved and cannot be an argument", places[0], hint)

    def _called_aggregate(self, called: ParseNode) -> Rejected:
        name = self.text(called)
        hint = f'{AGGREGATE_HINT}; a predicate of that name: `"{name}"`'
        return self._fault("aggregate", aggregate_message(name), called, hint)

    def _argument(self, token: Token, scope: BoundNames) -> ast.Argument:
        span = self.span(token)
        if token.type == "STRING":
            return ast.Constant(self._string(token), quoted=True, span=span)
        text = normalise(self.text(token))
        if text in scope:
            return ast.Variable(text, span=span)
        if text.startswith("_"):
            hint = "name the variable, or write `exists`"
            raise self._fault("reserved-underscore", f"`{text}` is not a name: `_` is reserved", token, hint)
        if not starts_upper(text):
            return ast.Constant(text, span=span)
        if not is_name(text) or re.search(r"-\d+$", text):
            message = f"`{text}` starts like a variable but reads like an entity"
            hint = f'an entity is quoted: "{text}"; arguments cannot be terms'
            raise self._fault("doubtful-argument", message, token, hint)
        return ast.Variable(text, span=span)

    def _quantified(self, tree: ParseNode, scope: BoundNames, depth: int) -> ast.Expression:
        quantifier, names, *_, body = tree.children
        variables, inner = self._bound(names, scope)
        self._check_glued(self.text(quantifier), names.children[-1], body)
        made = ast.Forall if self.text(quantifier) in _UNIVERSAL else ast.Exists
        return made(variables, self.expression(body, inner, depth), span=self.span(tree))

    def _bound(self, names: ParseNode, scope: BoundNames) -> tuple[tuple[ast.Variable, ...], BoundNames]:
        """The variables that a quantifier or an aggregate binds, and the names bound within it."""
        variables = [ast.Variable(normalise(self.text(name)), span=self.span(name)) for name in names.children[::2]]
        return tuple(variables), scope | {variable.name for variable in variables}

    def _aggregate(self, tree: ParseNode, scope: BoundNames, depth: int) -> ast.Aggregate:
        word, names, _, *operands = tree.children
        variables, inner = self._bound(names, scope)
        made = tuple([self.expression(operand, inner, depth) for operand in operands[::2]])
        name = self.text(word)
        if name == "count" and len(made) == 2:
            hint = f"write `count {self.text(names)}: {' & '.join(map(self.text, operands[::2]))}`"
            raise self._fault("aggregate", "a `count` is of what is true, and of no number", word, hint)
        if name != "count" and len(made) == 1:
            made += (ast.Truth(True, span=self.span(tree)),)
        return ast.Aggregate(cast(Any, name), variables, made, span=self.span(tree))

    def _check_glued(self, quantifier: str, name: Token, scope: ParseNode) -> None:
        """Rejects `∀xP(x)`, which would otherwise be `∀xP (x)`: a variable `xP` and the formula `x`."""
        if not self._is(scope, "group") or self._first(scope).start_pos != name.end_pos:
            return
        inner, variable = self.text(scope.children[1]), self.text(name)
        parts = unglued(variable, [inner]) if is_name(inner) and variable != inner else None
        if parts:
            hint = f"put a space after the variable: `{quantifier}{parts[0]} {parts[1]}({inner})`"
            raise self._fault("glued-quantifier", f"`{variable}` is read as one variable", name, hint)

    def _attributed(self, tree: ParseNode, node: ast.Expression) -> ast.Expression:
        """The node of a group with the attributes that follow it."""
        _, inner, _, attributes = tree.children
        values = self._attributes(attributes)
        connective = isinstance(node, ast.Connective | ast.Comparison)
        if connective and not self._is(inner, "group"):
            return replace(node, span=self.span(tree), attributes=values)
        message = "attributes follow the parentheses of a connective or comparison, or a unit"
        hint = "write them as in `(A & B){bias: 1}`"
        raise self._fault("misplaced-attributes", message, self._first(attributes), hint)

    def _attributes(self, branch: ParseNode) -> tuple[ast.Attribute, ...]:
        attributes = []
        for child in branch.children[1::2]:
            key, _, value = child.children
            node = self._name(value) if self._is(value, "name") else self._item(value)
            attributes.append(ast.Attribute(normalise(self.text(key)), node, span=self.span(child)))
        return tuple(attributes)

    def _item(self, branch: ParseNode, depth: int = 0) -> ast.Value | ast.ValueList:
        if not self._is(branch, "list"):
            return self._value(branch)
        if depth > 2:
            raise self._fault("too-deep", "lists nest at most three deep", self._first(branch))
        items = tuple([self._item(child, depth + 1) for child in branch.children[1::2]])
        return ast.ValueList(items, span=self.span(branch))

    def _unknown_function(self, tree: ParseNode, scope: BoundNames, depth: int) -> ast.UnknownFunction:
        function, _, *operands, _ = tree.children
        learnable, text = self._learnable(function), self.text(function)
        if learnable.initial is not None:
            message = f"`{text}` is a number to start from, and an unknown function starts from none"
            raise self._fault("unknown-function", message, function, "write `?` or `?f` before its terms")
        if not operands:
            message = f"the unknown function `{text}` has no terms"
            hint = f"name the numbers that it depends on, `{text}(age(X), income(X))`; a constant is `{text}` alone"
            raise self._fault("unknown-function", message, tree, hint)
        terms = tuple([self.expression(child, scope, depth) for child in operands[::2]])
        return ast.UnknownFunction(learnable.name, terms, span=self.span(tree))

    # --- leaves -------------------------------------------------------------------------------------------------

    def _value(self, branch: ParseNode) -> ast.Value:
        if isinstance(branch, Token):
            if branch.type == "ISO":
                return ast.Number(self._date(branch), "date", span=self.span(branch))
            return self._number(branch) if branch.type == "NUMBER" else self._learnable(branch)
        if branch.data == "date":
            return ast.Number(self._date(branch.children[1]), "date", span=self.span(branch))
        if branch.data == "days":
            *minus, token, _ = branch.children
            days = self._number(token).value
            return ast.Number(-days if minus else days, "days", span=self.span(branch))
        *minus, token = branch.children
        return ast.Number(-self._number(token).value, span=self.span(branch)) if minus else self._value(token)

    def _weight(self, branch: ParseNode) -> ast.Value:
        value = self._value(branch)
        if value.start is not None and value.start < 0:
            message = f"a weight must not be negative: `{self.text(branch)}`"
            raise self._fault("negative-weight", message, branch, "use `~` for the negation")
        return value

    def _number(self, token: Token) -> ast.Number:
        return ast.Number(self._literal_number(self.text(token), token), span=self.span(token))

    def _learnable(self, token: Token) -> ast.Learnable:
        match = cast("re.Match[str]", _LEARNABLE.fullmatch(token))
        name, initial = None, match[2] or match[3]
        if match[1] is not None:
            name = normalise(self.text(token)[match.start(1) : match.end(1)])
        if initial is not None and initial.startswith("date"):
            text = self.text(token)
            return ast.Learnable(name, self._day(text[text.index('"') + 1 : -1], token), "date", span=self.span(token))
        value = None if initial is None else self._literal_number(initial, token)
        return ast.Learnable(name, value, span=self.span(token))

    def _date(self, token: Token) -> float | int:
        return self._day(self._string(token), token)

    def _day(self, text: str, token: Token) -> float | int:
        """The days from 1970-01-01 to a date that is written out."""
        days = days_of(text)
        if days is None:
            raise self._fault("bad-date", f'"{text}" is not a date', token, date_hint(text, NO_DATE))
        return days

    def _literal_number(self, text: str, token: Token) -> float | int:
        """The value of a literal; a whole number without a decimal point is an ``int``."""
        text = text.replace("−", "-")
        if len(text) < 300 and text.removeprefix("-").isdecimal():
            return int(text)
        value = float(text)
        if abs(value) == float("inf") and not text.endswith("inf"):
            message = f"`{text[:20]}` is too large for float64"
            raise self._fault("number-too-large", message, token, "the largest number is 1.8e308; use larger units")
        return value

    def _string(self, token: Token) -> str:
        raw = self.text(token)[1:-1]
        if "\\" not in raw:
            return normalise(raw)
        for match in _ESCAPE.finditer(raw):
            if match[1] not in _ESCAPES:
                at = self.span(token).start + 1 + match.start()
                message = f"`{match[0]}` is not an escape in a string"
                hint = r"write `\\` for a backslash, or `/` in a path; the others are `\"`, `\n` and `\t`"
                raise Rejected(Diagnostic("bad-escape", message, hint, Span(self.source, at, at + 2)))
        return normalise(_ESCAPE.sub(lambda match: _ESCAPES[match[1]], raw))

    def _path(self, token: Token) -> str:
        path = self._string(token)
        if "\0" in path:
            raise self._fault("missing-file", "no path holds a null character", token, "write the path again")
        return path

    def _name(self, branch: ParseNode) -> str:
        token = self._first(branch)
        return self._string(token) if token.type == "STRING" else normalise(self.text(token))

    def _free_name(self, branch: ParseNode) -> str:
        """The name of a predicate, unless it means something else in formulas without quotes."""
        text = self.text(branch)
        if text in SHOUTED:
            message = f"`{text}` in capitals is a name here, not an operator"
            hint = f'write `{text.lower()}`, or "{text}" in quotes for a predicate of that name'
            raise self._fault("capital-operator", message, branch, hint)
        if text in AGGREGATES:
            hint = f'quote a predicate of that name: "{text}"; {AGGREGATE_HINT}'
            raise self._fault("reserved-name", f"`{text}` is reserved for aggregates", branch, hint)
        if text in FUNCTIONS.keys() - NAMEABLE or text in UNITS:
            hint = f'choose another name, or quote it: "{text}"'
            raise self._fault("reserved-name", f"`{text}` is a function of the language", branch, hint)
        return self._name(branch)

    def _alone(self, branch: ParseNode, operator: ParseNode) -> None:
        """Rejects `?a=5 * 2`, which is ambiguous without parentheses."""
        if self._is(branch, "LEARNABLE") and "=" in branch:
            if date := DATE.match(self.source.text, self.span(branch).end - 4):
                raise Rejected(date_as_number(date[0], Span(self.source, *date.span())))
            text = self.text(branch)
            message = f"`{text}` beside `{self.text(operator)}` is ambiguous"
            raise self._fault("learnable-beside-arithmetic", message, branch, f"write `({text})`")

    def _no_date(self, subtracted: ParseNode) -> None:
        """Rejects `2020-01-01` without blanks, which would otherwise be a subtraction."""
        if self._is(subtracted, "NUMBER"):
            end = self.span(subtracted).end
            for date in DATE.finditer(self.source.text, max(0, end - 10), end + 40):
                if date.start("day") < end == date.end("day"):
                    raise Rejected(date_as_number(date[0], Span(self.source, *date.span())))

    # --- places -------------------------------------------------------------------------------------------------

    def span(self, branch: ParseNode) -> Span:
        """The range from the first to the last token of a branch."""
        start, end = self._first(branch).start_pos or 0, self._last(branch).end_pos or 0
        return Span(self.source, self.offset + start, self.offset + end)

    def text(self, branch: ParseNode) -> str:
        """The text of a branch as the user wrote it."""
        span = self.span(branch)
        return self.source.text[span.start : span.end]

    def _is(self, branch: ParseNode, kind: str) -> bool:
        """Whether a branch is a tree of a rule, or a token of a terminal, of this name."""
        return (branch.data if isinstance(branch, Tree) else branch.type) == kind

    def _first(self, branch: ParseNode) -> Token:
        while isinstance(branch, Tree):
            branch = branch.children[0]
        return branch

    def _last(self, branch: ParseNode) -> Token:
        while isinstance(branch, Tree):
            branch = branch.children[-1]
        return branch

    def _fault(self, code: str, message: str, at: ParseNode, hint: str = "") -> Rejected:
        return Rejected(Diagnostic(code, message, hint, self.span(at)))


def _is_encoding(name: str) -> bool:
    try:
        "".encode(name)
    except (LookupError, ValueError):
        return False
    return True
