"""Abstract syntax to canonical text, such that ``parse(format_program(p))`` gives ``p`` again.

Connectives are printed as symbols, quantifiers as words with a colon, parentheses only where the grammar needs them,
and entities in quotes unless they are safe without (the language page has the details).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from lnnkit.syntax import ast
from lnnkit.syntax.dates import date_text
from lnnkit.syntax.identifiers import AGGREGATES, FUNCTIONS, SHOUTED, UNITS, is_bare_entity, is_name, starts_upper

# Binding strength of a node: one value for each level of the grammar, loosest first.
(_IFF, _IMPLIES, _XOR, _OR, _AND, _WEIGHTED, _NOT, _COMPARISON, _SUM, _PRODUCT, _NEGATE, _POWER, _PRIMARY) = range(13)
_ARITHMETIC = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "^": _POWER}
_LEVELS: Mapping[type, int] = {
    ast.Iff: _IFF, ast.Implies: _IMPLIES, ast.Xor: _XOR, ast.Or: _OR, ast.And: _AND, ast.Weighted: _WEIGHTED,
    ast.Not: _NOT, ast.Forall: _NOT, ast.Exists: _NOT, ast.Comparison: _COMPARISON, ast.Negate: _NEGATE,
}  # fmt: skip
_CONNECTIVES: Mapping[type, tuple[str, int, int]] = {  # with the least strength of its operands, and of the last one
    ast.And: ("&", _WEIGHTED, _WEIGHTED),
    ast.Or: ("|", _AND, _AND),
    ast.Xor: ("xor", _OR, _OR),
    ast.Implies: ("->", _XOR, _IMPLIES),
    ast.Iff: ("<->", _IMPLIES, _IMPLIES),
}

_TAKEN = AGGREGATES | FUNCTIONS.keys() | UNITS | SHOUTED | {"query"}  # a lone query may start with its keyword
_LEARNABLE_END = re.compile(r"\?(?:[^\W\d_][\w-]*)?$")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"})


def format_program(program: ast.Program) -> str:
    """The program's text, one statement a line."""
    head = [] if program.version is None else [f"lnnkit {program.version}"]
    lines = head + [format_statement(statement) for statement in program.statements]
    return "".join(f"{line}\n" for line in lines)


def format_statement(statement: ast.Statement, *, as_written: bool = False) -> str:
    """One statement on one line; ``as_written`` keeps the author's quotes around entities."""
    return _Printer(as_written).statement(statement)


def format_expression(expression: ast.Expression, *, as_written: bool = False) -> str:
    """A formula or term on one line."""
    return _Printer(as_written).expression(expression)


def one_line(text: str) -> str:
    """The text with each run of white space as one blank."""
    return " ".join(text.split())


def format_string(text: str) -> str:
    """``text`` in quotes, escaped."""
    return f'"{text.translate(_ESCAPES)}"'


def format_predicate(name: str) -> str:
    """A predicate's name before parentheses or in a declaration: quoted if it means something else in formulas."""
    return format_string(name) if name in _TAKEN else _name(name)


def format_number(value: float) -> str:
    """A literal that parses to ``value``; floats by ``repr``."""
    return repr(value)


def format_literal(value: float, unit: ast.NumberUnit | None) -> str:
    """A literal with its unit: ``date "2026-11-23"``, ``1 day``, ``30 days``."""
    if unit == "date":
        return f'date "{date_text(value)}"'
    return format_number(value) + ("" if unit is None else " day" if value == 1 else " days")


def format_learnable(learnable: ast.Learnable) -> str:
    """``?``, ``?50``, ``?name`` or ``?name=50``."""
    parts = (learnable.name, None if learnable.initial is None else format_literal(learnable.initial, learnable.unit))
    return "?" + "=".join(part for part in parts if part is not None)


class _Printer:
    def __init__(self, as_written: bool) -> None:
        self.as_written = as_written

    # --- statements ---------------------------------------------------------------------------------------------

    def statement(self, statement: ast.Statement) -> str:
        match statement:
            case ast.LogicStatement(logic=logic):
                return f"logic {logic}"
            case ast.SortStatement(name=name, open=is_open):
                return f"sort {_name(name)}{' open' if is_open else ''}"
            case ast.PredicateStatement(name, sorts, closed) | ast.NumberStatement(name, sorts, closed):
                dated = isinstance(statement, ast.NumberStatement) and statement.date
                word = "predicate" if isinstance(statement, ast.PredicateStatement) else "date" if dated else "number"
                return f"{word} {format_predicate(name)}{format_sorts(sorts)}{' closed' if closed else ''}"
            case ast.ImportStatement(path=path):
                return f"import {format_string(path)}"
            case ast.LoadStatement(name, table, negated) | ast.LabelTableStatement(name, table, negated):
                word = "load" if isinstance(statement, ast.LoadStatement) else "label"
                return f"{word} {'~' * negated}{format_predicate(name)} from {_table(table)}"
            case ast.FactStatement() | ast.LabelStatement():
                word, trust = ("fact", statement.trust) if isinstance(statement, ast.FactStatement) else ("label", None)
                stated = self.atom(statement.atom, frozenset()) + _bounds(statement.bounds)
                return f"{word} {'~' * statement.negated}{stated}{_trust(trust)}"
            case ast.RuleStatement(name=name, formula=formula) | ast.AxiomStatement(name=name, formula=formula):
                word = "rule" if isinstance(statement, ast.RuleStatement) else "axiom"
                title = "" if name is None else f"{_name(name)}: "
                return f"{word} {title}{self.expression(formula)}{_bounds(statement.bounds)}"
            case ast.QueryStatement(formula=formula):
                return f"query {self.expression(formula)}"

    # --- expressions --------------------------------------------------------------------------------------------

    def expression(
        self, node: ast.Expression, level: int = _IFF, last: bool = True, scope: frozenset[str] = frozenset()
    ) -> str:
        """The text of ``node`` in a place where the grammar expects precedence ``level`` or higher; ``last`` if nothing
        follows in its group.

        A quantifier extends to the end of its group, so it needs no parentheses in the last place.
        """
        quantified = isinstance(node, ast.Quantifier)
        grouped = (level > _NOT or not last) if quantified else _level(node) < level
        if isinstance(node, ast.Aggregate):
            grouped = not (last and level == _IFF)
        text = self._bare(node, last or grouped, scope)
        return f"({text})" if grouped else text

    def _bare(self, node: ast.Expression, last: bool, scope: frozenset[str]) -> str:
        match node:
            case ast.Atom():
                return self.atom(node, scope)
            case ast.Entity(text=text):
                return format_string(text)
            case ast.Truth(value=value):
                return "true" if value else "false"
            case ast.Number() | ast.Learnable():
                return _value(node)
            case ast.Not(operand=operand):
                return "~" + self.expression(operand, _NOT, last, scope)
            case ast.Weighted(operand=operand, weight=weight):
                return f"{self.expression(operand, _NOT, False, scope)}@{_value(weight)}"
            case ast.Forall(variables=variables, body=body) | ast.Exists(variables=variables, body=body):
                names = [variable.name for variable in variables]
                word = "forall" if isinstance(node, ast.Forall) else "exists"
                return f"{word} {', '.join(names)}: {self.expression(body, _IFF, True, scope.union(names))}"
            case ast.Aggregate(name, variables, operands):
                names = [variable.name for variable in variables]
                said = operands[:1] if isinstance(operands[-1], ast.Truth) and operands[-1].value else operands
                least = [_IFF] if name == "count" else [_SUM, _IFF]  # a term, and a condition
                parts = zip(said, least, strict=False)
                texts = [self.expression(part, level, True, scope.union(names)) for part, level in parts]
                return f"{name} {', '.join(names)}: {' where '.join(texts)}"
            case ast.Negate(operand=operand):
                return "-" + self._term(operand, _NEGATE, scope)
            case ast.Arithmetic():
                return self._arithmetic(node, scope)
            case ast.Function(name=name, operands=(ast.Aggregate() as operand,)):
                return f"{name}({self.expression(operand, _IFF, True, scope)})"
            case ast.Function(name=name, operands=operands):
                return f"{name}({self._terms(operands, scope)})"
            case ast.Unit(name=name, operands=operands, attributes=attributes):
                return f"{name}({self._terms(operands, scope)}){_attributes(attributes)}"
            case ast.UnknownFunction(name=name, operands=operands):
                return f"?{name or ''}({self._terms(operands, scope)})"
            case ast.Comparison(operands=operands, operators=operators):
                text = _chain([self.expression(operand, _SUM, False, scope) for operand in operands], operators)
            case _:
                text = self._connective(node, last or bool(node.attributes), scope)
        return f"({text}){_attributes(node.attributes)}" if node.attributes else text

    def _terms(self, operands: Sequence[ast.Expression], scope: frozenset[str]) -> str:
        return ", ".join([self.expression(operand, _SUM, True, scope) for operand in operands])

    def _arithmetic(self, node: ast.Arithmetic, scope: frozenset[str]) -> str:
        """Sums and products, without recursion to the left: units expand to hundreds of operands."""
        if node.operator == "^":
            return f"{self._term(node.left, _PRIMARY, scope)}^{self._term(node.right, _NEGATE, scope)}"
        level, first = _ARITHMETIC[node.operator], node.left
        rest = [(node.operator, node.right)]
        while isinstance(first, ast.Arithmetic) and _ARITHMETIC[first.operator] == level:
            rest.append((first.operator, first.right))
            first = first.left
        terms = [f" {operator} {self._term(operand, level + 1, scope)}" for operator, operand in reversed(rest)]
        return self._term(first, level, scope) + "".join(terms)

    def _connective(self, node: ast.Connective, last: bool, scope: frozenset[str]) -> str:
        match node:
            case ast.And(operands) | ast.Or(operands):
                *first, final = operands
            case ast.Implies(left, final) | ast.Iff(left, final) | ast.Xor(left, final):
                first = [left]
        sign, level, last_level = _CONNECTIVES[type(node)]
        texts = [self.expression(operand, level, False, scope) for operand in first]
        return f" {sign} ".join([*texts, self.expression(final, last_level, last, scope)])

    def _term(self, node: ast.Expression, level: int, scope: frozenset[str]) -> str:
        """An operand of arithmetic; `?a=5` is put in parentheses there, since it would be ambiguous."""
        text = self.expression(node, level, False, scope)
        return f"({text})" if isinstance(node, ast.Learnable) and "=" in text else text

    # --- atoms --------------------------------------------------------------------------------------------------

    def atom(self, atom: ast.Atom, scope: frozenset[str]) -> str:
        if not atom.arguments:
            return atom.name if is_name(atom.name) and atom.name != "query" else f"{format_string(atom.name)}()"
        arguments = ", ".join([self._argument(argument, scope) for argument in atom.arguments])
        return f"{format_predicate(atom.name)}({arguments})"

    def _argument(self, argument: ast.Argument, scope: frozenset[str]) -> str:
        if isinstance(argument, ast.Variable):
            return argument.name
        text = argument.text
        bare = is_bare_entity(text) and text not in scope and not starts_upper(text)
        bare = bare and (not argument.quoted if self.as_written else len(text) > 1 or not text.isalpha())
        return text if bare else format_string(text)


def _level(node: ast.Expression) -> int:
    match node:
        case ast.Arithmetic(operator=operator):
            return _ARITHMETIC[operator]
        case ast.Number(value=value, unit=unit):
            return _NEGATE if format_literal(value, unit).startswith("-") else _PRIMARY
    return _PRIMARY if getattr(node, "attributes", ()) else _LEVELS.get(type(node), _PRIMARY)


def _chain(operands: list[str], operators: Sequence[str]) -> str:
    """A comparison; `?a` before `= 5` is put in parentheses, since it would parse as its initial value."""
    texts = list(operands)
    for place, operator in enumerate(operators):
        if operator == "=" and texts[place + 1][0] in "-.0123456789" and _LEARNABLE_END.search(texts[place]):
            texts[place] = f"({texts[place]})"
    return texts[0] + "".join(f" {operator} {text}" for operator, text in zip(operators, texts[1:], strict=True))


def _name(name: str) -> str:
    return name if is_name(name) else format_string(name)


def format_sorts(sorts: Sequence[str]) -> str:
    """The sorts of a predicate's arguments, in parentheses."""
    return f"({', '.join(map(_name, sorts))})" if sorts else ""


def _value(value: ast.Value | ast.ValueList) -> str:
    if isinstance(value, ast.ValueList):
        return f"[{', '.join(map(_value, value.items))}]"
    return format_learnable(value) if isinstance(value, ast.Learnable) else format_literal(value.value, value.unit)


def _attributes(attributes: tuple[ast.Attribute, ...]) -> str:
    values = [_name(item.value) if isinstance(item.value, str) else _value(item.value) for item in attributes]
    shown = ", ".join(f"{item.key}: {value}" for item, value in zip(attributes, values, strict=True))
    return f"{{{shown}}}" if shown else ""


def _bounds(bounds: ast.Bounds | None) -> str:
    if bounds is None:
        return ""
    return f" = {_value(bounds.lower)}" if bounds.exact else f" in [{_value(bounds.lower)}, {_value(bounds.upper)}]"


def _trust(trust: float | int | None) -> str:
    return "" if trust is None else f" trust {format_number(trust)}"


def _table(table: ast.Table) -> str:
    text = format_string(table.path) if table.query is None else f"query {format_string(table.query)}"
    if table.relation is not None:
        text = f"database {text} table {format_string(table.relation)}"
    if table.columns is not None:
        text += f" ({', '.join(['_' if column is None else format_column(column) for column in table.columns])})"
    if table.where:
        text += f" where {' and '.join([format_condition(where) for where in table.where])}"
    if table.missing:
        text += f" missing {', '.join(map(format_string, table.missing))}"
    texts = {"delimiter": table.delimiter, "decimal": table.decimal, "encoding": table.encoding}
    given = {word: value for word, value in texts.items() if value is not None and (word, value) != ("decimal", ".")}
    text += "".join(f" {word} {format_string(value)}" for word, value in given.items())
    text += " trim" if table.trim else ""
    text += " no header" if not table.header else " header" if table.numbered else ""
    return text + _trust(table.trust)


def format_condition(where: ast.Where, title: str = "") -> str:
    """One condition of a ``where``; ``title`` replaces the name of its column, if given."""
    column, cells = title or format_column(where.column), [format_cell(cell) for cell in where.values]
    if where.operator == "in":
        return f"{column} in ({', '.join(cells)})"
    if where.other is not None:
        cells = [where.other.name]
    return " ".join([column, where.operator, *cells])


def format_cell(cell: ast.Cell) -> str:
    """The value that a cell is compared with: a quoted text, a truth value, or a number."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return format_string(cell) if isinstance(cell, str) else format_number(cell)


def format_column(column: ast.ColumnReference) -> str:
    """A column's name or position."""
    return str(column) if isinstance(column, int) else _name(column)
