"""Converts parse trees to abstract syntax: the only module that knows both."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal, cast

from lark import Token, Tree

from lnnkit.syntax import ast
from lnnkit.syntax.dates import DATE, date_as_number
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import (
    AGGREGATE_HINT,
    AGGREGATES,
    FUNCTIONS,
    SHOUTED,
    UNITS,
    is_name,
    normalise,
    starts_upper,
    unglued,
)
from lnnkit.syntax.rewrite import by_cases
from lnnkit.syntax.span import Source, Span

MAX_DEPTH = 150  # greatest depth of nested nodes: later passes may recurse, and Python allows a thousand frames

ParseNode = Tree[Token] | Token
BoundNames = frozenset[str]

_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_LEARNABLE = re.compile(r"\?\s*(?:([^\W\d_][\w-]*)(?:\s*=\s*(\S+))?|(\S+))?", re.DOTALL)
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

    def statement(self, tree: Tree[Token]) -> ast.Statement:
        """The node of any statement except the version."""
        children, span = tree.children, self.span(tree)
        match tree.data:
            case "fact_statement":
                trust = None
                if isinstance(children[-1], Tree) and children[-1].data == "trust":
                    trust = self._trust(children[-1])
                    children = children[:-1]
                atom, negated, bounds = self._literal(children)
                return ast.FactStatement(span=span, atom=atom, negated=negated, bounds=bounds, trust=trust)
            case "label_statement":
                atom, negated, bounds = self._literal(children)
                return ast.LabelStatement(span=span, atom=atom, negated=negated, bounds=bounds)
            case "rule_statement":
                name, formula, bounds = self._ruling(children)
                return ast.RuleStatement(span=span, name=name, formula=formula, bounds=bounds)
            case "axiom_statement":
                name, formula, bounds = self._ruling(children)
                return ast.AxiomStatement(span=span, name=name, formula=formula, bounds=bounds)
            case "query_statement":
                return ast.QueryStatement(span=span, formula=self.expression(children[1]))
            case "predicate_statement":
                name, sorts = self._declared(children)
                closed = isinstance(children[-1], Token) and children[-1].type == "CLOSED"
                return ast.PredicateStatement(span=span, name=name, sorts=sorts, closed=closed)
            case "number_statement":
                name, sorts = self._declared(children)
                return ast.NumberStatement(span=span, name=name, sorts=sorts)
            case "sort_statement":
                return ast.SortStatement(span=span, name=self._name(children[1]), open=len(children) > 2)
            case "load_statement":
                name, negated, table = self._reading(children)
                return ast.LoadStatement(span=span, name=name, table=table, negated=negated)
            case "label_table_statement":
                name, negated, table = self._reading(children)
                self._without_trust(children[-1])
                return ast.LabelTableStatement(span=span, name=name, table=table, negated=negated)
            case "import_statement":
                return ast.ImportStatement(span=span, path=self._path(children[1]))
            case "logic_statement":
                return self._logic(children[1], span)
        raise AssertionError(f"no statement: {tree.data}")

    def version(self, tree: Tree[Token]) -> int:
        """The language version in the first line of a file."""
        if self.text(tree.children[1]) != "1":
            message = f"this lnnkit reads version 1 of the language, not {self.text(tree.children[1])}"
            raise self._fault("unsupported-version", message, tree.children[1], "write `lnnkit 1`")
        return 1

    def _logic(self, branch: ParseNode, span: Span) -> ast.LogicStatement:
        logic = self.text(branch)
        if logic not in ast.LOGICS:
            message = f"there is no logic `{logic}`"
            raise self._fault("unknown-logic", message, branch, f"choose one of {', '.join(ast.LOGICS)}")
        return ast.LogicStatement(span=span, logic=cast(ast.LogicName, logic))

    def _literal(self, children: list[ParseNode]) -> tuple[ast.Atom, bool, ast.Bounds | None]:
        negated = isinstance(children[1], Token)
        rest = children[2 if negated else 1 :]
        bounds = self._bounds(rest[1]) if len(rest) > 1 else None
        return self._atom(cast("Tree[Token]", rest[0]), frozenset()), negated, bounds

    def _ruling(self, children: list[ParseNode]) -> tuple[str | None, ast.Expression, ast.Bounds | None]:
        name, rest = None, children[1:]
        if len(rest) > 1 and isinstance(rest[1], Token) and rest[1].type == "COLON":
            name, rest = self._name(rest[0]), rest[2:]
        return (name, self.expression(rest[0]), self._bounds(rest[1]) if len(rest) > 1 else None)

    def _declared(self, children: list[ParseNode]) -> tuple[str, tuple[str, ...]]:
        sorts: tuple[str, ...] = ()
        if len(children) > 2 and isinstance(children[2], Tree):
            sorts = tuple(self._name(child) for child in children[2].children if isinstance(child, Tree))
        return self._free_name(children[1]), sorts

    def _bounds(self, branch: ParseNode) -> ast.Bounds:
        children = cast("Tree[Token]", branch).children
        if len(children) == 2:
            value = self._value(children[1])
            return ast.Bounds(span=self.span(branch), lower=value, upper=value, exact=True)
        return ast.Bounds(span=self.span(branch), lower=self._value(children[2]), upper=self._value(children[4]))

    def _reading(self, children: list[ParseNode]) -> tuple[str, bool, ast.Table]:
        return self._free_name(children[-3]), len(children) > 4, self._table(children[-1])

    def _table(self, branch: ParseNode) -> ast.Table:
        rows, *clauses = self._parts(branch)
        words = [cast(Token, each) for each in self._parts(rows)]
        queried = words[0].type == "QUERY"
        read = self._string if queried else self._path
        texts = [read(each) for each in words if each.type == "STRING"]
        found: dict[str, ParseNode] = {}
        for clause in clauses:
            kind = str(clause.data) if isinstance(clause, Tree) else "trim" if clause.type == "TRIM" else "header"
            if kind in found:
                message = f"the statement has `{self.text(self._first(clause))}` twice"
                hint = "join conditions by `and`" if kind == "where" else "keep one of the two"
                raise self._fault("repeated-clause", message, clause, hint)
            found[kind] = clause
        columns = self._parts(found["columns"])[1::2] if "columns" in found else None
        if columns is not None and all(self.text(column) == "_" for column in columns):
            message = "every listed column is `_`, which skips a column"
            raise self._fault("bad-column", message, found["columns"], "name the columns to read")
        where = self._parts(found["where"])[1::2] if "where" in found else []
        missing = self._parts(found["missing"]) if "missing" in found else []
        table = ast.Table(
            span=self.span(branch),
            path="" if queried else texts[0],
            query=texts[0] if queried else None,
            relation=texts[1] if len(texts) > 1 else None,
            columns=None if columns is None else tuple([self._listed(column) for column in columns]),
            where=tuple([self._condition(condition) for condition in where]),
            missing=tuple([self._mark(mark) for mark in missing if isinstance(mark, Tree)]),
            delimiter=self._delimiter(found["delimiter"]) if "delimiter" in found else None,
            decimal=self._decimal(found["decimal"]) if "decimal" in found else ".",
            encoding=self._encoding(found["encoding"]) if "encoding" in found else None,
            trim="trim" in found,
            trust=self._trust(found["trust"]) if "trust" in found else None,
        )
        said = found.get("header")
        header = said.type == "HEADER" if isinstance(said, Token) else not table.numbered
        return replace(table, header=header)

    def _parts(self, branch: ParseNode) -> list[ParseNode]:
        return cast("Tree[Token]", branch).children

    def _listed(self, branch: ParseNode) -> ast.Column | None:
        """A column of the column list; None for ``_``."""
        return None if self.text(branch) == "_" else self._column(branch)

    def _column(self, branch: ParseNode) -> ast.Column:
        token = cast(Token, branch)
        if token.type == "SKIP":
            message = f"`{self.text(token)}` stands for a column that is not read"
            raise self._fault("bad-column", message, token, f'name the column; quote a column of that name: "{token}"')
        if token.type != "NUMBER":
            return self._name(token)
        number = self._number(token).value
        if not isinstance(number, int) or number < 1:
            message = f"a column's position is a whole number from 1, not `{self.text(token)}`"
            raise self._fault("bad-column", message, token, f'quote a column of that name: "{self.text(token)}"')
        return number

    def _condition(self, branch: ParseNode) -> ast.Where:
        column, relation, *rest = self._parts(branch)
        word = self.text(relation)
        operator = _RELATIONS.get(word, word)
        if operator == "is":
            operator = "is null" if len(rest) == 1 else "is not null"
        if operator == "<?>":
            raise self._fault("bad-condition", "`<?>` is a relation to be learned", relation, "write one of = != < >")
        cells = [child for child in rest if isinstance(child, Tree)]
        if cells and cells[0].data == "named_column":
            other = self._other(cells[0], operator, relation)
            return ast.Where(self._column(column), (), cast(ast.Condition, operator), other, span=self.span(branch))
        values = tuple([self._cell(cell) for cell in cells])
        if operator in ("<", "<=", ">", ">=") and isinstance(values[0], bool):
            message = f"`{self.text(cells[0])}` is a truth value, and `{word}` compares numbers or texts"
            raise self._fault("bad-condition", message, relation, f"write `= {self.text(cells[0])}`")
        span = self.span(branch)
        return ast.Where(span=span, column=self._column(column), values=values, operator=cast(ast.Condition, operator))

    def _other(self, branch: ParseNode, operator: str, relation: ParseNode) -> ast.NamedColumn:
        name = self._name(self._parts(branch)[0])
        if name.lower() == "null":
            instead = "is null" if operator == "=" else "is not null"
            span = replace(self.span(branch), start=self.span(relation).start)
            message = "no comparison with a missing cell holds"
            raise Rejected(Diagnostic("bad-condition", message, f"write `{instead}`", span))
        return ast.NamedColumn(name, span=self.span(branch))

    def _cell(self, branch: ParseNode) -> ast.Cell:
        *minus, token = cast("list[Token]", self._parts(branch))
        if token.type == "STRING":
            return self._string(token)
        if token.type == "TRUTH":
            return _TRUTHS[self.text(token)]
        value = self._number(token).value
        return -value if minus else value

    def _mark(self, branch: ParseNode) -> str:
        """A text that stands for a missing cell; a number counts as the text that is written."""
        token = cast(Token, self._parts(branch)[-1])
        return self._string(token) if token.type == "STRING" else self.text(branch).replace("−", "-")

    def _delimiter(self, branch: ParseNode) -> str:
        token = self._parts(branch)[1]
        text = self._string(token)
        if len(text) == 1 and text.isascii() and text not in '"\n\r':
            return text
        hint = 'write a tab as "\\t"' if text.strip().lower() in ("tab", "tabs", "\\t") else 'such as ";" or "\\t"'
        message = f"a delimiter must be one ASCII character other than a quote or line break; got {self.text(token)}"
        raise self._fault("bad-delimiter", message, token, hint)

    def _decimal(self, branch: ParseNode) -> str:
        token = self._parts(branch)[1]
        text = self._string(token)
        if text not in (",", "."):
            message = f"numbers have a decimal comma or point; got {self.text(token)}"
            raise self._fault("bad-decimal", message, token, 'write `decimal ","`')
        return text

    def _encoding(self, branch: ParseNode) -> str:
        token = self._parts(branch)[1]
        text = self._string(token)
        try:
            "".encode(text)
        except (LookupError, ValueError):
            message = f"no encoding is called {self.text(token)}"
            raise self._fault("bad-encoding", message, token, 'such as `encoding "latin-1"` or "utf-16"') from None
        return text

    def _trust(self, branch: ParseNode) -> float | int:
        value = self._value(self._parts(branch)[1])
        if isinstance(value, ast.Learnable):
            message = "trust cannot be learned"
            raise self._fault("bad-trust", message, branch, "write a number from 0 to 1, such as `trust 0.8`")
        if not 0 <= value.value <= 1:
            shown = value.value
            hint = f"write `trust {shown / 100:g}`" if 10 <= shown <= 100 else "1 is full trust, and the default"
            raise self._fault("bad-trust", f"trust must be a number from 0 to 1; got {value.span.text}", branch, hint)
        return value.value

    def _without_trust(self, branch: ParseNode) -> None:
        for clause in self._parts(branch):
            if isinstance(clause, Tree) and clause.data == "trust":
                message = "labels cannot have a trust, which ranks facts for repairs"
                raise self._fault("bad-trust", message, clause, "take it out")

    # --- expressions --------------------------------------------------------------------------------------------

    def expression(self, branch: ParseNode, scope: BoundNames = frozenset(), depth: int = 0) -> ast.Expression:
        """The node of a formula or term; ``scope`` holds the names that enclosing quantifiers bind."""
        while isinstance(branch, Tree) and branch.data == "group" and len(branch.children) == 3:
            branch = branch.children[1]  # in a loop: parentheses nest deeper than Python's stack
        if depth > MAX_DEPTH:
            raise self._fault(
                "too-deep",
                f"this expression nests more than {MAX_DEPTH} operators",
                self._first(branch),
                "split it into several rules, or give a part of it a predicate of its own",
            )
        if isinstance(branch, Token):
            return self._leaf(branch)
        return self._node(branch, scope, depth + 1)

    def _leaf(self, token: Token) -> ast.Expression:
        match token.type:
            case "STRING":
                return ast.Entity(span=self.span(token), text=self._string(token))
            case "TRUTH":
                return ast.Truth(span=self.span(token), value=_TRUTHS[self.text(token)])
            case _:
                return self._value(token)

    def _node(self, tree: Tree[Token], scope: BoundNames, depth: int) -> ast.Expression:
        children = tree.children
        if tree.data == "atom":
            return self._atom(tree, scope)
        if tree.data == "quantified":
            return self._quantified(tree, scope, depth)
        if tree.data == "group":
            return self._attributed(tree, self.expression(children[1], scope, depth - 1))
        span = self.span(tree)
        match tree.data:
            case "not":
                return ast.Not(span=span, operand=self.expression(children[1], scope, depth))
            case "weighted":
                operand = self.expression(children[0], scope, depth)
                return ast.Weighted(span=span, operand=operand, weight=self._weight(children[2]))
            case "negate":
                operand = self.expression(children[1], scope, depth)
                if isinstance(operand, ast.Number):
                    return ast.Number(span=span, value=-operand.value)
                self._alone(children[1], children[0])
                return ast.Negate(span=span, operand=operand)
            case "function":
                name = cast(Literal["abs", "sqrt"], self.text(children[0]))
                return ast.Function(span=span, name=name, operand=self.expression(children[2], scope, depth))
            case "unit":
                return self._unit(tree, scope, depth)
            case "unknown_function":
                return self._unknown_function(tree, scope, depth)
        operands = tuple([self.expression(child, scope, depth) for child in children[::2]])
        match tree.data:
            case "and" | "or":
                return (ast.And if tree.data == "and" else ast.Or)(span=span, operands=operands)
            case "implies" | "iff" | "xor":
                return _BINARY[tree.data](*operands, span=span)
            case "comparison":
                relations = tuple(_RELATIONS.get(text := self.text(child), text) for child in children[1::2])
                relations = cast("tuple[ast.ComparisonOperator, ...]", relations)
                return ast.Comparison(span=span, operands=operands, operators=relations)
            case "arithmetic":
                self._alone(children[0], children[1])
                self._alone(children[2], children[1])
                self._no_date(children[2])
                operator = self.text(children[1]).replace("−", "-")
                operator = cast(Literal["+", "-", "*", "/", "^"], operator)
                return ast.Arithmetic(span=span, operator=operator, left=operands[0], right=operands[1])
        raise AssertionError(f"no expression: {tree.data}")

    def _atom(self, tree: Tree[Token], scope: BoundNames) -> ast.Atom:
        children = tree.children
        name = self._name(children[0])
        if len(children) > 1:
            self._check_called(tree)
            self._check_aggregate(children[0])
            self._check_free(children[0])
            self._check_blanks(tree)
            arguments = tuple([self._argument(cast(Token, child), scope) for child in children[2:-1:2]])
            return ast.Atom(span=self.span(tree), name=name, arguments=arguments)
        return ast.Atom(span=self.span(tree), name=name)

    def _check_called(self, tree: Tree[Token]) -> None:
        """Rejects `IF(a, b, c)`, which would otherwise be an atom with three entities."""
        name = self.text(tree.children[0])
        if name == "IF":
            text = self.text(tree)
            message, hint = "`IF` is not a function", "write `P -> Q` for if P then Q"
            if cases := by_cases(text):
                hint = f"write `{cases}`"
            raise self._fault("if-then", message, tree.children[0], hint)

    def _check_aggregate(self, name: ParseNode) -> None:
        """Rejects `count(T) > 3` with what to write instead, as the checker does `sum(amount(T)) > 3`."""
        text = self.text(name)
        if text in AGGREGATES:
            message = f"`{text}` would aggregate rows, and the language has no aggregates yet"
            raise self._fault("aggregate", message, name, f'{AGGREGATE_HINT}; a predicate of that name: `"{text}"`')

    def _check_blanks(self, tree: Tree[Token]) -> None:
        """Rejects the reserved name in `Parent(X, _)`, and says what to write instead."""
        places = [child for child in tree.children[2:-1:2] if self.text(child) == "_"]
        if not places:
            return
        names = iter(["Any"] if len(places) == 1 else [f"Any{number}" for number in range(1, len(places) + 1)])
        shown = [next(names) if child in places else self.text(child) for child in tree.children[2:-1:2]]
        bound = ", ".join(name for name, child in zip(shown, tree.children[2:-1:2], strict=True) if child in places)
        atom = f"{self.text(tree.children[0])}({', '.join(shown)})"
        hint = f"write `(exists {bound}: {atom})`, of a number around its comparison"
        if re.match(r"\s*(fact|label)\b", self.source.text[self.offset :]):
            hint = f"a fact names its entities; that there is one is written `axiom exists {bound}: {atom}`"
        raise self._fault("reserved-underscore", "`_` is reserved and cannot be an argument", places[0], hint)

    def _argument(self, token: Token, scope: BoundNames) -> ast.Argument:
        span = self.span(token)
        if token.type == "STRING":
            return ast.Constant(span=span, text=self._string(token), quoted=True)
        text = normalise(self.text(token))
        if text in scope:
            return ast.Variable(span=span, name=text)
        if text.startswith("_"):
            raise self._fault("reserved-underscore", f"`{text}` is not a name: `_` is reserved", token, _UNDERSCORE)
        if not starts_upper(text):
            return ast.Constant(span=span, text=text)
        if not is_name(text) or re.search(r"-\d+$", text):
            message = f"`{text}` starts like a variable but reads like an entity"
            raise self._fault(
                "doubtful-argument", message, token, f'an entity is quoted: "{text}"; arguments cannot be terms'
            )
        return ast.Variable(span=span, name=text)

    def _quantified(self, tree: Tree[Token], scope: BoundNames, depth: int) -> ast.Expression:
        names = cast("Tree[Token]", tree.children[1]).children[::2]
        variables = tuple([ast.Variable(span=self.span(name), name=normalise(self.text(name))) for name in names])
        self._check_glued(tree)
        inner = scope | {variable.name for variable in variables}
        body, span = self.expression(tree.children[-1], inner, depth), self.span(tree)
        if self.text(tree.children[0]) in _UNIVERSAL:
            return ast.Forall(span=span, variables=variables, body=body)
        return ast.Exists(span=span, variables=variables, body=body)

    def _check_glued(self, tree: Tree[Token]) -> None:
        """Rejects `∀xP(x)`, which would otherwise be `∀xP (x)`: a variable `xP` and the formula `x`."""
        name, scope = self._last(tree.children[1]), tree.children[-1]
        if not isinstance(scope, Tree) or scope.data != "group" or self._first(scope).start_pos != name.end_pos:
            return
        inner, variable = self.text(scope.children[1]), self.text(name)
        parts = unglued(variable, [inner]) if is_name(inner) and variable != inner else None
        if parts:
            write = f"{self.text(tree.children[0])}{parts[0]} {parts[1]}({inner})"
            message = f"`{variable}` is read as one variable"
            raise self._fault("glued-quantifier", message, name, f"put a space after the variable: `{write}`")

    def _attributed(self, tree: Tree[Token], node: ast.Expression) -> ast.Expression:
        """The node of a group with the attributes that follow it."""
        inner, attributes = tree.children[1], tree.children[3]
        span = self.span(tree)
        values = self._attributes(attributes)
        taken = isinstance(inner, Tree) and inner.data == "group"
        if not taken and isinstance(node, ast.And | ast.Or | ast.Implies | ast.Iff | ast.Xor | ast.Comparison):
            return replace(node, span=span, attributes=values)
        raise self._fault(
            "misplaced-attributes",
            "attributes follow the parentheses of a connective or comparison, or a unit",
            self._first(attributes),
            "write them as in `(A & B){bias: 1}`",
        )

    def _attributes(self, branch: ParseNode) -> tuple[ast.Attribute, ...]:
        found = []
        for child in cast("Tree[Token]", branch).children[1::2]:
            key, _, value = cast("Tree[Token]", child).children
            node = self._name(value) if isinstance(value, Tree) and value.data == "name" else self._item(value)
            found.append(ast.Attribute(span=self.span(child), key=normalise(self.text(key)), value=node))
        return tuple(found)

    def _item(self, branch: ParseNode, depth: int = 0) -> ast.Value | ast.ValueList:
        if isinstance(branch, Tree) and branch.data == "list":
            if depth > 2:
                raise self._fault("too-deep", "lists nest at most three deep", self._first(branch))
            items = tuple([self._item(child, depth + 1) for child in branch.children[1::2]])
            return ast.ValueList(span=self.span(branch), items=items)
        return self._value(branch)

    def _unit(self, tree: Tree[Token], scope: BoundNames, depth: int) -> ast.Unit:
        children, attributes = tree.children, ()
        if isinstance(children[-1], Tree):
            *children, last = children
            attributes = self._attributes(last)
        return ast.Unit(
            span=self.span(tree),
            name=cast(Literal["nac", "nalu", "inalu", "nau", "nmu", "npu", "realnpu"], self.text(children[0])),
            operands=tuple([self.expression(child, scope, depth) for child in children[2:-1:2]]),
            attributes=attributes,
        )

    def _unknown_function(self, tree: Tree[Token], scope: BoundNames, depth: int) -> ast.UnknownFunction:
        learnable, text = self._learnable(cast(Token, tree.children[0])), self.text(tree.children[0])
        if learnable.initial is not None:
            message = f"`{text}` is a number to start from, and an unknown function starts from none"
            raise self._fault("unknown-function", message, tree.children[0], "write `?` or `?f` before its terms")
        if len(tree.children) == 3:
            message = f"the unknown function `{text}` has no terms"
            hint = f"name the numbers that it depends on, `{text}(age(X), income(X))`; a constant is `{text}` alone"
            raise self._fault("unknown-function", message, tree, hint)
        operands = tuple([self.expression(child, scope, depth) for child in tree.children[2:-1:2]])
        return ast.UnknownFunction(span=self.span(tree), name=learnable.name, operands=operands)

    # --- leaves -------------------------------------------------------------------------------------------------

    def _value(self, branch: ParseNode) -> ast.Value:
        if isinstance(branch, Token):
            return self._number(branch) if branch.type == "NUMBER" else self._learnable(branch)
        if len(branch.children) == 1:
            return self._value(branch.children[0])
        number = self._number(cast(Token, branch.children[1]))
        return ast.Number(span=self.span(branch), value=-number.value)

    def _weight(self, branch: ParseNode) -> ast.Value:
        value = self._value(branch)
        amount = value.start
        if amount is not None and amount < 0:
            message = f"a weight must not be negative: `{self.text(branch)}`"
            raise self._fault("negative-weight", message, branch, "use `~` for the negation")
        return value

    def _number(self, token: Token) -> ast.Number:
        return ast.Number(span=self.span(token), value=self._literal_number(self.text(token), token))

    def _learnable(self, token: Token) -> ast.Learnable:
        match = cast("re.Match[str]", _LEARNABLE.fullmatch(token))
        name, initial = None, match[2] or match[3]
        if match[1] is not None:
            name = normalise(self.text(token)[match.start(1) : match.end(1)])
        value = None if initial is None else self._literal_number(initial, token)
        return ast.Learnable(span=self.span(token), name=name, initial=value)

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

    def _string(self, branch: ParseNode) -> str:
        token = cast(Token, branch)
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

    def _path(self, branch: ParseNode) -> str:
        path = self._string(branch)
        if "\0" in path:
            raise self._fault("missing-file", "no path holds a null character", branch, "write the path again")
        return path

    def _name(self, branch: ParseNode) -> str:
        token = self._first(branch)
        return self._string(token) if token.type == "STRING" else normalise(self.text(token))

    def _free_name(self, branch: ParseNode) -> str:
        self._check_free(branch)
        return self._name(branch)

    def _check_free(self, branch: ParseNode) -> None:
        """Rejects an unquoted predicate name that means something else in formulas."""
        token, text = self._first(branch), self.text(branch)
        if text in SHOUTED:
            message = f"`{text}` in capitals is a name here, not an operator"
            hint = f'write `{text.lower()}`, or "{text}" in quotes for a predicate of that name'
            raise self._fault("capital-operator", message, token, hint)
        if text in AGGREGATES or text in FUNCTIONS or text in UNITS:
            kind = "reserved for later" if text in AGGREGATES else "a function of the language"
            hint = f'choose another name, or quote it: "{text}"'
            if text in AGGREGATES:
                hint = f'quote a predicate of that name: "{text}"; {AGGREGATE_HINT}'
            raise self._fault("reserved-name", f"`{text}` is {kind}", token, hint)

    def _alone(self, branch: ParseNode, operator: ParseNode) -> None:
        """Rejects `?a=5 * 2`, which is ambiguous without parentheses."""
        if isinstance(branch, Token) and branch.type == "LEARNABLE" and "=" in branch:
            date = DATE.match(self.source.text, self.span(branch).end - 4)
            if date:
                raise Rejected(date_as_number(date[0], Span(self.source, *date.span())))
            text = self.text(branch)
            message = f"`{text}` beside `{self.text(operator)}` is ambiguous"
            raise self._fault("learnable-beside-arithmetic", message, branch, f"write `({text})`")

    def _no_date(self, subtracted: ParseNode) -> None:
        """Rejects `2020-01-01` without blanks, which would otherwise be a subtraction."""
        if not isinstance(subtracted, Token) or subtracted.type != "NUMBER":
            return
        end = self.span(subtracted).end
        for found in DATE.finditer(self.source.text, max(0, end - 10), end + 40):
            if found.start("day") < end == found.end("day"):
                raise Rejected(date_as_number(found[0], Span(self.source, *found.span())))

    # --- places -------------------------------------------------------------------------------------------------

    def span(self, branch: ParseNode) -> Span:
        """The range from the first to the last token of a branch."""
        start, end = self._first(branch).start_pos or 0, self._last(branch).end_pos or 0
        return Span(self.source, self.offset + start, self.offset + end)

    def text(self, branch: ParseNode) -> str:
        """The text of a branch as the user wrote it."""
        span = self.span(branch)
        return self.source.text[span.start : span.end]

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


_UNDERSCORE = "name the variable, or write `exists`"
