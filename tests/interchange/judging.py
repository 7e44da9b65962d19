"""What a text of logic means, in Z3: the judge of imports and exports. Nothing here is lnnkit's but the syntax tree.

`Meaning` makes the symbols; `of_program` translates a parsed program; `strict` reads the Unicode notation of FOLIO by
recursive descent; `equivalent` asks the solver.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import z3

from lnnkit.syntax import ast

Environment = Mapping[str, Any]


class Meaning:
    """The symbols of one comparison: one universe, a function for each predicate, function and number."""

    def __init__(self) -> None:
        self.context = z3.Context()
        self.universe = z3.DeclareSort("U", self.context)
        self.constants: dict[str, Any] = {}
        self.variables = 0

    def constant(self, name: str) -> Any:
        return self.constants.setdefault(name, z3.Const(f"c_{name}", self.universe))

    def predicate(self, name: str, arguments: Sequence[Any]) -> Any:
        return self._applied(f"p_{name}/{len(arguments)}", arguments, z3.BoolSort(self.context))

    def function(self, name: str, arguments: Sequence[Any]) -> Any:
        return self._applied(f"f_{name}/{len(arguments)}", arguments, self.universe)

    def number(self, name: str, arguments: Sequence[Any]) -> Any:
        return self._applied(f"n_{name}/{len(arguments)}", arguments, z3.RealSort(self.context))

    def _applied(self, name: str, arguments: Sequence[Any], result: Any) -> Any:
        if not arguments:
            return z3.Const(name, result)
        return z3.Function(name, *[self.universe] * len(arguments), result)(*arguments)

    def fresh(self) -> Any:
        self.variables += 1
        return z3.Const(f"x!{self.variables}", self.universe)

    def truth(self, value: bool) -> Any:
        return z3.BoolVal(value, self.context)

    def all_of(self, parts: Iterable[Any]) -> Any:
        found = list(parts)
        return z3.And(*found) if found else self.truth(True)

    def distinct(self) -> Any:
        """Different names are of different individuals."""
        several = list(self.constants.values())
        return z3.Distinct(*several) if len(several) > 1 else self.truth(True)

    def entails(self, premises: Iterable[Any], conclusion: Any, timeout: int = 5000) -> bool | None:
        solver = z3.Solver(ctx=self.context)
        solver.set("timeout", timeout)
        solver.add(*premises, z3.Not(conclusion))
        answer = solver.check()
        return None if answer == z3.unknown else answer == z3.unsat

    def equivalent(self, one: Any, other: Any, given: Iterable[Any] = (), *, distinct: bool = True) -> bool | None:
        known = [*([self.distinct()] if distinct else []), *given]
        ways = [self.entails([*known, one], other), self.entails([*known, other], one)]
        return None if None in ways and False not in ways else all(ways)


# --- programs ---------------------------------------------------------------------------------------------------------


def of_program(program: ast.Program, meaning: Meaning) -> tuple[list[Any], list[Any]]:
    """What the statements of a program say of an open world, and its queries."""
    numbers = {each.name for each in program.statements if isinstance(each, ast.NumberStatement)}
    reader = _Formulas(meaning, numbers)
    stated, asked = [], []
    for each in program.statements:
        match each:
            case ast.FactStatement(atom=atom, negated=negated, bounds=None):
                found = reader.formula(atom, {})
                stated.append(z3.Not(found) if negated else found)
            case ast.FactStatement(atom=atom, bounds=bounds) if bounds is not None and atom.name in numbers:
                value = reader.term(atom, {})
                assert isinstance(bounds.lower, ast.Number) and isinstance(bounds.upper, ast.Number)
                if bounds.lower.value > -float("inf"):
                    stated.append(value >= z3.RealVal(bounds.lower.value, meaning.context))
                if bounds.upper.value < float("inf"):
                    stated.append(value <= z3.RealVal(bounds.upper.value, meaning.context))
            case ast.AxiomStatement(formula=formula, bounds=None) | ast.RuleStatement(formula=formula, bounds=None):
                stated.append(reader.closed(formula))
            case ast.QueryStatement(formula=formula):
                asked.append(reader.closed(formula))
            case ast.SortStatement() | ast.PredicateStatement(closed=False) | ast.NumberStatement():
                pass
            case _:
                raise TypeError(each)
    return stated, asked


class _Formulas:
    def __init__(self, meaning: Meaning, numbers: set[str]) -> None:
        self.meaning = meaning
        self.numbers = numbers

    def closed(self, formula: ast.Expression) -> Any:
        names = sorted(_free(formula, frozenset()))
        variables = {name: self.meaning.fresh() for name in names}
        body = self.formula(formula, variables)
        return z3.ForAll(list(variables.values()), body) if variables else body

    def formula(self, node: ast.Expression, names: Environment) -> Any:
        match node:
            case ast.Atom(name=name, arguments=arguments):
                return self.meaning.predicate(name, [self.argument(each, names) for each in arguments])
            case ast.Truth(value=value):
                return self.meaning.truth(value)
            case ast.Not(operand=operand):
                return z3.Not(self.formula(operand, names))
            case ast.And(operands=operands):
                return z3.And(*[self.formula(each, names) for each in operands])
            case ast.Or(operands=operands):
                return z3.Or(*[self.formula(each, names) for each in operands])
            case ast.Implies(antecedent=left, consequent=right):
                return z3.Implies(self.formula(left, names), self.formula(right, names))
            case ast.Iff(left=left, right=right):
                return self.formula(left, names) == self.formula(right, names)
            case ast.Xor(left=left, right=right):
                return z3.Xor(self.formula(left, names), self.formula(right, names))
            case ast.Forall(variables=variables, body=body) | ast.Exists(variables=variables, body=body):
                own = {each.name: self.meaning.fresh() for each in variables}
                made = z3.ForAll if isinstance(node, ast.Forall) else z3.Exists
                return made(list(own.values()), self.formula(body, {**names, **own}))
            case ast.Comparison():
                return self.comparison(node, names)
        raise TypeError(node)

    def comparison(self, node: ast.Comparison, names: Environment) -> Any:
        individual = all(self.is_individual(each, names) for each in node.operands)
        terms = [self.individual(each, names) if individual else self.term(each, names) for each in node.operands]
        parts = [_RELATIONS[op](terms[i], terms[i + 1]) for i, op in enumerate(node.operators)]
        return self.meaning.all_of(parts)

    def is_individual(self, node: ast.Expression, names: Environment) -> bool:
        return isinstance(node, ast.Entity) or (isinstance(node, ast.Atom) and node.name in names)

    def individual(self, node: ast.Expression, names: Environment) -> Any:
        if isinstance(node, ast.Entity):
            return self.meaning.constant(node.text)
        assert isinstance(node, ast.Atom)
        return names[node.name]

    def term(self, node: ast.Expression, names: Environment) -> Any:
        match node:
            case ast.Number(value=value):
                return z3.RealVal(value, self.meaning.context)
            case ast.Atom(name=name, arguments=arguments):
                return self.meaning.number(name, [self.argument(each, names) for each in arguments])
            case ast.Arithmetic(operator=operator, left=left, right=right):
                return _ARITHMETIC[operator](self.term(left, names), self.term(right, names))
        raise TypeError(node)

    def argument(self, node: ast.Argument, names: Environment) -> Any:
        return names[node.name] if isinstance(node, ast.Variable) else self.meaning.constant(node.text)


_RELATIONS = {
    "=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
_ARITHMETIC = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
}  # fmt: skip


def _free(node: ast.Expression, bound: frozenset[str]) -> set[str]:
    match node:
        case ast.Atom(arguments=arguments):
            return {each.name for each in arguments if isinstance(each, ast.Variable)} - bound
        case ast.Comparison(operands=operands):
            lone = {each.name for each in operands if isinstance(each, ast.Atom) and not each.arguments}
            return {name for name in lone if name[0].isupper()} - bound | set().union(
                *(_free(each, bound) for each in operands if isinstance(each, ast.Arithmetic) or _has_arguments(each))
            )
        case ast.And(operands=operands) | ast.Or(operands=operands):
            return set().union(*(_free(each, bound) for each in operands))
        case ast.Not(operand=operand):
            return _free(operand, bound)
        case ast.Implies(antecedent=left, consequent=right) | ast.Iff(left=left, right=right):
            return _free(left, bound) | _free(right, bound)
        case ast.Xor(left=left, right=right) | ast.Arithmetic(left=left, right=right):
            return _free(left, bound) | _free(right, bound)
        case ast.Forall(variables=variables, body=body) | ast.Exists(variables=variables, body=body):
            return _free(body, bound | {each.name for each in variables})
    return set()


def _has_arguments(node: ast.Expression) -> bool:
    return isinstance(node, ast.Atom) and bool(node.arguments)


# --- the notation of FOLIO --------------------------------------------------------------------------------------------


class NotStrict(Exception):
    """A line that is not in the plain notation."""


def strict(text: str, meaning: Meaning) -> Any:
    """A formula in the plain Unicode notation: quantifiers before brackets, an atom or a negation; `¬ ∧ ∨ ⊕ → ↔`
    from the tightest on, `→` to the right. Raises `NotStrict` for all else, free variables among it."""
    tokens = re.findall(r"[∀∃¬∧∨⊕→↔(),]|[\w.+-]+", text)
    if "".join(tokens) != re.sub(r"\s+", "", text):
        raise NotStrict(text)
    reader = _Strict(tokens, meaning)
    found = reader.level(0, {})
    if reader.tokens:
        raise NotStrict(text)
    return found


_LEVELS = ("↔", "→", "⊕", "∨", "∧")


class _Strict:
    def __init__(self, tokens: list[str], meaning: Meaning) -> None:
        self.tokens = tokens[::-1]
        self.meaning = meaning

    def take(self, *wanted: str) -> str:
        if not self.tokens or (wanted and self.tokens[-1] not in wanted):
            raise NotStrict("".join(self.tokens[::-1]))
        return self.tokens.pop()

    def level(self, number: int, names: Environment) -> Any:
        if number == len(_LEVELS):
            return self.unary(names)
        symbol, operands = _LEVELS[number], [self.level(number + 1, names)]
        while self.tokens and self.tokens[-1] == symbol:
            self.take()
            operands.append(self.level(number + 1, names))
        if len(operands) == 1:
            return operands[0]
        if symbol == "→":
            found = operands[-1]
            for each in operands[-2::-1]:
                found = z3.Implies(each, found)
            return found
        if symbol in "∧∨":
            return (z3.And if symbol == "∧" else z3.Or)(*operands)
        found = operands[0]
        for each in operands[1:]:
            found = found == each if symbol == "↔" else z3.Xor(found, each)
        return found

    def unary(self, names: Environment) -> Any:
        token = self.take()
        if token == "¬":
            return z3.Not(self.unary(names))
        if token in "∀∃":
            name = self.take()
            if name in names:
                raise NotStrict(name)
            variable = self.meaning.fresh()
            body = self.unary({**names, name: variable})
            return (z3.ForAll if token == "∀" else z3.Exists)([variable], body)
        if token == "(":
            found = self.level(0, names)
            self.take(")")
            return found
        if not re.fullmatch(r"[^\W\d][\w.+-]*", token):
            raise NotStrict(token)
        return self.meaning.predicate(token, self.arguments(names))

    def arguments(self, names: Environment) -> list[Any]:
        if not self.tokens or self.tokens[-1] != "(":
            return []
        self.take()
        found = []
        while True:
            token = self.take()
            if token in names:
                found.append(names[token])
            elif re.fullmatch(r"[u-z]\d?", token) or not re.fullmatch(r"[\w.+-]+", token):
                raise NotStrict(token)
            else:
                found.append(self.meaning.constant(token))
            if self.take(",", ")") == ")":
                return found
