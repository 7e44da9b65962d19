"""A checked program -> its classical reading in SMT-LIB 2.6. Each question is asserted negated, so `unsat` means that
it follows.

A statement of truth ``alpha`` or more holds, one of truth ``1 - alpha`` or less does not, and one between says nothing.
There is one uninterpreted sort, the universe, which holds all individuals; numbers are reals. A sort of the program is
a predicate on it: closed, it has those entities that are seen in its places; open, these at least. A closed predicate
without rules holds of the entities that its facts list, at most.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from lnnkit.check.program import ENTITY, Assertion, CheckedProgram, Fact, Predicate, Query, SameEntity
from lnnkit.check.walk import children, nodes
from lnnkit.errors import ProgramError
from lnnkit.interchange.first_order import unreadable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import one_line

if TYPE_CHECKING:
    from lnnkit.data.table import FactTable

_UNIVERSE = "Entity"
_SIGNS: Mapping[type, str] = {
    ast.Not: "not", ast.And: "and", ast.Or: "or", ast.Implies: "=>", ast.Iff: "=", ast.Xor: "xor",
}  # fmt: skip
_SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*")
_RESERVED = frozenset(
    "and or not xor true false => = < <= > >= + - * / ite distinct let forall exists match par as _ ! Bool Real Int "
    "Array String abs div mod select store assert declare-fun declare-sort declare-const check-sat push pop exit "
    f"is_int to_real to_int BINARY DECIMAL HEXADECIMAL NUMERAL STRING set-logic define-fun {_UNIVERSE}".split()
)


class _SmtName(NamedTuple):
    """A name of the program: of a predicate, number, entity or variable."""

    kind: str
    name: str


_SExpression: TypeAlias = "str | _SmtName | tuple[_SExpression, ...]"  # an S-expression
_Names: TypeAlias = Mapping[str, _SmtName]  # the bound variables around a place


def smtlib(program: CheckedProgram, questions: Sequence[Query], alpha: float) -> tuple[str, list[Diagnostic]]:
    """The text: declarations, axioms, and for each question a check of its negation; and notes of what was left out.
    Raises `ProgramError` for statements and questions that have no place in first-order logic."""
    reading = _Reading(program, alpha)
    reading.read(questions)
    return "\n".join(reading.lines()) + "\n", reading.notes


class _Reading:
    """A program on its way to S-expressions."""

    def __init__(self, program: CheckedProgram, alpha: float) -> None:
        self.program = program
        self.alpha = alpha
        self.arities: dict[_SmtName, int] = {}  # predicates and numbers
        self.axioms: list[tuple[str, _SExpression]] = []  # with the text that each is from
        self.questions: list[tuple[str, _SExpression]] = []
        self.notes: list[Diagnostic] = []
        self.members: defaultdict[str, dict[str, None]] = defaultdict(dict)  # the entities of each sort
        self.guarding: dict[str, None] = {}  # sorts that a quantifier ranges over
        self.variables = (_SmtName("variable", f"V{number}") for number in itertools.count(1))
        self.asked: defaultdict[str, dict[str, None]] = defaultdict(dict)  # entities of questions: these join no sort
        self.seen = self.members  # where entities are added
        self.spelled: dict[_SmtName, str] = {}

    def read(self, questions: Sequence[Query]) -> None:
        derived = frozenset[str]().union(*self.program.strata)
        errors: list[Diagnostic] = []
        for name in sorted(derived):
            message = f"`{name}` is closed and has rules: its completion is not a first-order formula"
            hint = "take `closed` away, or write its definition as an axiom with `<->`"
            errors.append(Diagnostic("closed-derived", message, hint, self.program.predicates[name].span))
        listed: defaultdict[str, dict[tuple[str, ...], None]] = defaultdict(dict)
        for name, row, lower, upper, shown in _rows(self.program.facts, self.program.tables):
            self._fact(self.program.predicates[name], row, lower, upper, shown)
            listed[name][row] = None
        for name, row, *_ in _rows(self.program.labels, self.program.label_tables):  # they name entities alone
            self._see(self.program.predicates[name], row)
        for statement in (*self.program.assertions, *questions):
            try:
                self._question(statement) if isinstance(statement, Query) else self._assertion(statement)
            except ProgramError as problem:
                errors += problem.diagnostics
        if errors:
            raise ProgramError(errors)
        for name, predicate in self.program.predicates.items():
            if predicate.closed and not predicate.numeric and name not in derived:
                self._close(predicate, list(listed[name]))
        for sort in self.guarding:
            self._define(sort)

    # --- facts --------------------------------------------------------------------------------------------------

    def _fact(self, predicate: Predicate, arguments: Sequence[str], lower: float, upper: float, shown: str) -> None:
        self._see(predicate, arguments)
        atom = self._applied(predicate, [_SmtName("entity", entity) for entity in arguments])
        if not predicate.numeric:
            self._hold(shown, atom, lower, upper)
            return
        ends = [("=", lower)] if lower == upper else [(">=", lower), ("<=", upper)]
        self.axioms += [(shown, (sign, atom, _real(end))) for sign, end in ends if math.isfinite(end)]

    def _hold(self, shown: str, formula: _SExpression, lower: float, upper: float) -> None:
        """What bounds on a truth say of it at alpha."""
        if lower >= self.alpha:
            self.axioms.append((shown, formula))
        if upper <= 1 - self.alpha:
            self.axioms.append((shown, ("not", formula)))

    def _see(self, predicate: Predicate, arguments: Sequence[str]) -> None:
        for sort, entity in zip(predicate.sorts, arguments, strict=True):
            self.members[sort][entity] = self.members[ENTITY][entity] = None

    # --- statements ---------------------------------------------------------------------------------------------

    def _assertion(self, assertion: Assertion) -> None:
        if assertion.kind == "law":
            return
        ends = [end.value if isinstance(end, ast.Number) else end for end in (assertion.lower, assertion.upper)]
        low, high = [float(end) if isinstance(end, int | float) else math.nan for end in ends]
        if math.isnan(low + high):
            message = "this statement has no truth before it is trained"
            raise unreadable("untrained", message, "train the program first", assertion.span)
        if low < self.alpha and high > 1 - self.alpha:
            self._leave_out(assertion, "this statement is neither true nor false at alpha: it is left out")
            return
        self._hold(assertion.span.on_one_line, self._closed(assertion.formula), low, high)

    def _question(self, query: Query) -> None:
        self.seen = self.asked
        if query.numeric:
            raise unreadable("number-as-formula", "a number is neither true nor false", "compare it", query.span)
        if free := self._free(query.formula):
            message = f"`{free[0]}` is a free variable, and only formulas without free variables can be exported"
            hint = "name an entity in place of each variable, or bind it with a quantifier"
            raise unreadable("free-variable", message, hint, query.span)
        self.questions.append((query.text, self._closed(query.formula)))

    def _closed(self, formula: ast.Node) -> _SExpression:
        """A statement's formula, its free variables bound."""
        return self._quantified("forall", self._free(formula), formula, {})

    def _quantified(self, sign: str, names: Sequence[str], body: ast.Node, around: _Names) -> _SExpression:
        """A quantifier for each variable, over its sort."""
        bound = {name: next(self.variables) for name in names}
        formula, places = self._expression(body, {**around, **bound}), [*self._places(body)]
        for name in reversed(names):  # the places of a variable do not contradict each other
            sorts = {sort for place, sort in places if isinstance(place, ast.Variable) and place.name == name}
            sort = min(sorts - {ENTITY}, default=ENTITY)
            if sort != ENTITY or not self._is_open(ENTITY):
                self.guarding[sort] = None
                formula = ("=>" if sign == "forall" else "and", (_guard(sort), bound[name]), formula)
            formula = _over(sign, bound[name], formula)
        return formula

    def _is_open(self, sort: str) -> bool:
        return sort in self.program.sorts and self.program.sorts[sort].open

    def _expression(self, node: ast.Node, names: _Names) -> _SExpression:
        """A formula or a term."""
        if getattr(node, "attributes", ()):
            soft = isinstance(node, ast.Comparison)
            what = "a soft comparison is read as a crisp one" if soft else "attributes such as a bias are left out"
            self._leave_out(node, what)
        match node:
            case SameEntity(left=left, right=right):
                return ("=", *(self._argument(side, ENTITY, names) for side in (left, right)))
            case ast.Truth(value=value):
                return "true" if value else "false"
            case ast.Number(value=value):
                return _real(value)
            case ast.Atom():
                predicate = self.program.predicates[node.name]
                places = zip(node.arguments, predicate.sorts, strict=True)
                return self._applied(predicate, [self._argument(argument, sort, names) for argument, sort in places])
            case ast.Weighted(operand=operand):
                self._leave_out(node, "weights are left out: first-order logic has none")
                return self._expression(operand, names)
            case ast.Forall(variables=variables, body=body) | ast.Exists(variables=variables, body=body):
                sign = "forall" if isinstance(node, ast.Forall) else "exists"
                return self._quantified(sign, [variable.name for variable in variables], body, names)
            case ast.Comparison() if "<?>" not in node.operators:
                sides = itertools.pairwise([self._expression(operand, names) for operand in node.operands])
                links = zip(node.operators, sides, strict=True)
                return _combined("and", [("not", ("=", *pair)) if op == "!=" else (op, *pair) for op, pair in links])
            case ast.Negate(operand=operand):
                return ("-", _real(0), self._expression(operand, names))
            case ast.Arithmetic(operator="^", left=left, right=ast.Number(value=power)) if power in (1, 2, 3, 4):
                base = self._expression(left, names)
                return reduce(lambda product, factor: ("*", product, factor), [base] * int(power))
            case ast.Arithmetic(operator=operator, left=left, right=right) if operator != "^":
                return (operator, self._expression(left, names), self._expression(right, names))
            case ast.Not() | ast.And() | ast.Or() | ast.Implies() | ast.Iff() | ast.Xor():
                return (_SIGNS[type(node)], *[self._expression(child, names) for child in children(node)])
        message = f"`{node.span.text}` cannot be written in first-order logic with `+ - * /`"
        raise unreadable("not-first-order", message, "", node.span)

    def _leave_out(self, node: ast.Node | Assertion, message: str) -> None:
        self.notes.append(Diagnostic("left-out", message, "", node.span, "warning"))

    def _argument(self, argument: ast.Argument, sort: str, names: _Names) -> _SmtName:
        if isinstance(argument, ast.Variable):
            return names[argument.name]
        self.seen[sort][argument.text] = self.seen[ENTITY][argument.text] = None
        return _SmtName("entity", argument.text)

    def _applied(self, predicate: Predicate, arguments: Sequence[_SmtName]) -> _SExpression:
        symbol = _SmtName("number" if predicate.numeric else "predicate", predicate.name)
        self.arities[symbol] = predicate.arity
        return (symbol, *arguments) if arguments else symbol

    def _places(self, formula: ast.Node) -> Iterator[tuple[ast.Argument, str]]:
        """The arguments within a formula, in their order, each with the sort of its place."""
        for node in nodes(formula):  # type: ignore[arg-type]  # a SameEntity is a leaf
            match node:
                case ast.Atom(name=name, arguments=arguments):
                    yield from zip(arguments, self.program.predicates[name].sorts, strict=True)
                case SameEntity(left=left, right=right):
                    yield from ((left, ENTITY), (right, ENTITY))

    def _free(self, formula: ast.Node) -> list[str]:
        """The free variables, in their order. No variable is both free and bound in one statement."""
        quantifiers = (node for node in nodes(formula) if isinstance(node, ast.Quantifier))  # type: ignore[arg-type]  # as above
        bound = {variable.name for node in quantifiers for variable in node.variables}
        names = (argument.name for argument, _ in self._places(formula) if isinstance(argument, ast.Variable))
        return [name for name in dict.fromkeys(names) if name not in bound]

    # --- what lists and sorts leave out --------------------------------------------------------------------------

    def _close(self, predicate: Predicate, rows: Sequence[tuple[str, ...]]) -> None:
        variables = [next(self.variables) for _ in range(predicate.arity)]
        atom = self._applied(predicate, variables)
        pairs = (zip(variables, [_SmtName("entity", entity) for entity in row], strict=True) for row in rows)
        listed = [_combined("and", [("=", variable, entity) for variable, entity in row]) for row in pairs]
        closed: _SExpression = ("=>", atom, _combined("or", listed)) if listed else ("not", atom)
        for variable in reversed(variables):
            closed = _over("forall", variable, closed)
        self.axioms.append((f"{predicate.name} is closed", closed))

    def _define(self, sort: str) -> None:
        """What is known of the members of a sort."""
        guard, members = _guard(sort), [_SmtName("entity", entity) for entity in self.members[sort]]
        self.arities[guard] = 1
        if self._is_open(sort):
            self.axioms += [(f"the sort {sort}", (guard, member)) for member in members]
            return
        variable = next(self.variables)
        same = _combined("or", [("=", variable, member) for member in members])
        closed = _over("forall", variable, ("=", (guard, variable), same))
        self.axioms.append((f"the sort {sort}, closed", closed))

    # --- text ---------------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[str]:
        yield "; the classical reading of a program; unsat: the question follows"
        yield "(set-logic ALL)"
        yield f"(declare-sort {_UNIVERSE} 0)"
        for symbol in sorted(self.arities, key=lambda symbol: symbol.kind == "number"):
            universes, result = [_UNIVERSE] * self.arities[symbol], "Real" if symbol.kind == "number" else "Bool"
            yield f"(declare-fun {self.text(symbol)} ({' '.join(universes)}) {result})"
        entities = [self.text(_SmtName("entity", name)) for name in {**self.members[ENTITY], **self.asked[ENTITY]}]
        yield from (f"(declare-fun {entity} () {_UNIVERSE})" for entity in entities)
        if len(entities) > 1:
            yield f"(assert (distinct {' '.join(entities)}))"
        for shown, formula in self.axioms:
            yield f"; {one_line(shown)}"
            yield f"(assert {self.text(formula)})"
        if not self.questions:
            yield "(check-sat)"
        several = len(self.questions) > 1
        for shown, formula in self.questions:
            yield f"; does it follow? {one_line(shown)}"
            checked = (f"(assert (not {self.text(formula)}))", "(check-sat)")
            yield from ("(push 1)", *checked, "(pop 1)") if several else checked

    def text(self, term: _SExpression) -> str:
        """A term as it is written; each symbol as near as can be to its name."""
        if isinstance(term, str):
            return term
        if not isinstance(term, _SmtName):
            return f"({' '.join(map(self.text, term))})"
        if term not in self.spelled:
            kind, name = term
            tries = itertools.chain((name, f"{name} {kind}"), (f"{name} {kind} {n}" for n in itertools.count(2)))
            taken = _RESERVED.union(self.spelled.values())
            self.spelled[term] = next(text for text in map(_spelled, tries) if text not in taken)
        return self.spelled[term]


def _rows(
    facts: Sequence[Fact], tables: Sequence[FactTable]
) -> Iterator[tuple[str, tuple[str, ...], float, float, str]]:
    """The predicate, the entities and the bounds of each fact, and its text or its place."""
    for fact in facts:
        yield fact.predicate, fact.arguments, fact.lower, fact.upper, fact.span.text
    for table in tables:
        rows = zip(*table.columns, strict=True) if table.columns else iter([()] * len(table))
        for row, *ends, line in zip(rows, table.lower.tolist(), table.upper.tolist(), table.rows, strict=True):
            yield table.predicate, row, *ends, f"{table.source}:{line}"


def _guard(sort: str) -> _SmtName:
    return _SmtName("predicate", f"sort {sort}")


def _over(sign: str, variable: _SmtName, formula: _SExpression) -> _SExpression:
    """A formula under one quantifier."""
    return (sign, ((variable, _UNIVERSE),), formula)


def _combined(sign: str, formulas: Sequence[_SExpression]) -> _SExpression:
    """A conjunction or disjunction of any number of formulas; of none it is true or false."""
    if not formulas:
        return "true" if sign == "and" else "false"
    return formulas[0] if len(formulas) == 1 else (sign, *formulas)


def _spelled(name: str) -> str:
    if _SIMPLE.fullmatch(name):
        return name
    plain = "".join(c if c.isascii() and c.isprintable() and c not in "|\\" else f"u{ord(c):x}_" for c in name)
    return f"|{plain}|"


def _real(value: float) -> str:
    text = format(Decimal(repr(abs(value))), "f")
    text = text if "." in text else f"{text}.0"
    return f"(- {text})" if value < 0 else text
