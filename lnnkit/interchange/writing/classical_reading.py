"""A checked program -> what it says in first-order logic: its classical reading.

A statement of truth ``alpha`` or more holds, one of truth ``1 - alpha`` or less does not, and one between says nothing.
The universe holds all individuals. A sort is a predicate on it: closed, it has those entities that are seen in its
places; open, these at least. A closed predicate without rules holds of the entities that its facts list, at most.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from lnnkit.check.program import ENTITY, Assertion, CheckedProgram, Predicate, Query, SameEntity
from lnnkit.check.walk import children, nodes
from lnnkit.interchange import first_order as fol
from lnnkit.interchange.liberties import Unreadable
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic

_SIGNS: dict[type, fol.Sign] = {
    ast.Not: "not",
    ast.And: "and",
    ast.Or: "or",
    ast.Implies: "implies",
    ast.Iff: "iff",
    ast.Xor: "xor",
}


@dataclass
class ClassicalTheory:
    """Formulas of one universe: ``axioms`` with the text that each is from, the ``entities``, all distinct, and the
    formulas that are asked for. ``notes`` are what was left out of the reading."""

    predicates: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    entities: tuple[str, ...] = ()
    axioms: list[fol.Stated] = field(default_factory=list)
    questions: list[fol.Stated] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)


def classical_reading(
    program: CheckedProgram, questions: Sequence[Query], alpha: float
) -> tuple[ClassicalTheory, list[Diagnostic]]:
    """The reading of a program and of what is asked of it, and what has no place in first-order logic."""
    reader = _Reader(program, alpha)
    return reader.read(questions), reader.errors


class _Reader:
    def __init__(self, program: CheckedProgram, alpha: float) -> None:
        self.program = program
        self.alpha = alpha
        self.theory = ClassicalTheory()
        self.errors: list[Diagnostic] = []
        self.members: defaultdict[str, dict[str, None]] = defaultdict(dict)  # the entities of each sort
        self.guarding: dict[str, None] = {}  # sorts that a quantifier ranges over
        self.variables = count(1)
        self.asked: dict[str, None] = {}  # entities of questions: these join no sort
        self.asking = False

    def read(self, questions: Sequence[Query]) -> ClassicalTheory:
        derived = {name for stratum in self.program.strata for name in stratum}
        for name in sorted(derived):
            message = f"`{name}` is closed and has rules: its completion is not a first-order formula"
            hint = "take `closed` away, or write its definition as an axiom with `<->`"
            span = self.program.predicates[name].span
            self.errors.append(Diagnostic("closed-derived", message, hint, span))
        listed = self._facts()
        for assertion in self.program.assertions:
            if assertion.kind != "law":
                with self._collected():
                    self._assertion(assertion)
        self.asking = True
        for query in questions:
            with self._collected():
                self._question(query)
        self.asking = False
        self._closed(listed, derived)
        self._sorts()
        self.theory.entities = tuple({**self.members[ENTITY], **self.asked})
        return self.theory

    @contextmanager
    def _collected(self) -> Iterator[None]:
        """A statement or question that has no reading is among the errors."""
        try:
            yield
        except Unreadable as problem:
            self.errors.append(problem.diagnostic)

    # --- facts --------------------------------------------------------------------------------------------------

    def _facts(self) -> Mapping[str, dict[tuple[str, ...], None]]:
        """The rows that facts name of each predicate; what they say goes to the axioms."""
        listed: defaultdict[str, dict[tuple[str, ...], None]] = defaultdict(dict)
        for fact in self.program.facts:
            self._fact(fact.predicate, fact.arguments, fact.lower, fact.upper, fact.span.text)
            listed[fact.predicate][fact.arguments] = None
        for table in self.program.tables:
            columns = [list(column) for column in table.columns]
            rows = zip(*columns, strict=True) if columns else iter([()] * len(table))
            ends = zip(table.lower.tolist(), table.upper.tolist(), table.rows.tolist(), strict=True)
            for row, (lower, upper, number) in zip(rows, ends, strict=True):
                self._fact(table.predicate, tuple(row), lower, upper, f"{table.source}:{number}")
                listed[table.predicate][tuple(row)] = None
        for label in self.program.labels:  # they name entities, and say nothing
            self._seen(self.program.predicates[label.predicate], label.arguments)
        for table in self.program.label_tables:
            for row in zip(*[list(column) for column in table.columns], strict=True):
                self._seen(self.program.predicates[table.predicate], row)
        return listed

    def _fact(self, name: str, arguments: Sequence[str], lower: float, upper: float, shown: str) -> None:
        predicate = self.program.predicates[name]
        self._seen(predicate, arguments)
        terms = tuple([fol.Application(each) for each in arguments])
        if predicate.numeric:
            self.theory.numbers[name] = predicate.arity
            number = fol.Attribute(name, terms)
            formulas: list[fol.Formula] = []
            if lower == upper:
                formulas.append(fol.Compare("=", number, fol.Number(lower)))
            else:
                ends = ((">=", lower), ("<=", upper))
                formulas += [fol.Compare(op, number, fol.Number(end)) for op, end in ends if abs(end) < float("inf")]
        else:
            self.theory.predicates[name] = predicate.arity
            formulas = list(self._held(fol.Atom(name, terms), lower, upper))
        for formula in formulas:
            self.theory.axioms.append(fol.Stated(formula, shown=shown))

    def _held(self, formula: fol.Formula, lower: float, upper: float) -> Iterator[fol.Formula]:
        if lower >= self.alpha:
            yield formula
        if upper <= 1 - self.alpha:
            yield fol.joined("not", formula)

    def _seen(self, predicate: Predicate, arguments: Sequence[str]) -> None:
        for sort, each in zip(predicate.sorts, arguments, strict=True):
            self.members[sort][each] = None
            self.members[ENTITY][each] = None

    # --- statements ---------------------------------------------------------------------------------------------

    def _assertion(self, assertion: Assertion) -> None:
        low, high, span = _value(assertion.lower), _value(assertion.upper), assertion.span
        if low is None or high is None:
            message = "this statement has no truth before it is trained"
            raise Unreadable(Diagnostic("untrained", message, "train the program first", span))
        if low < self.alpha and high > 1 - self.alpha:
            message = "this statement is neither true nor false at alpha: it is left out"
            self.theory.notes.append(Diagnostic("left-out", message, "", span, "warning"))
            return
        for each in self._held(self._closed_formula(assertion.formula), low, high):
            self.theory.axioms.append(fol.Stated(each, name=assertion.name, shown=span.on_one_line))

    def _question(self, query: Query) -> None:
        if query.numeric:
            message = "a number is neither true nor false"
            raise Unreadable(Diagnostic("number-as-formula", message, "compare it", query.span))
        if free := _free(query.formula):
            message = f"`{free[0]}` is a free variable, and only formulas without free variables can be exported"
            hint = "name an entity in place of each variable, or bind it with a quantifier"
            raise Unreadable(Diagnostic("free-variable", message, hint, query.span))
        formula = self._closed_formula(query.formula)
        self.theory.questions.append(fol.Stated(formula, "query", shown=query.text))

    def _closed_formula(self, formula: ast.Node) -> fol.Formula:
        """A statement's formula, its free variables bound."""
        free = _free(formula)
        names = {name: f"V{next(self.variables)}" for name in free}
        found = self._formula(formula, names)
        for name in reversed(free):
            found = self._ranging(True, names[name], _sort(formula, name, self.program), found)
        return found

    def _ranging(self, universal: bool, variable: str, sort: str, body: fol.Formula) -> fol.Formula:
        """A quantifier over a sort."""
        if sort == ENTITY and self._is_open(ENTITY):
            return fol.Quantified(universal, variable, body)
        self.guarding[sort] = None
        guard = fol.Atom(_guard(sort), (fol.Variable(variable),))
        return fol.Quantified(universal, variable, fol.joined("implies" if universal else "and", guard, body))

    def _is_open(self, sort: str) -> bool:
        return sort in self.program.sorts and self.program.sorts[sort].open

    def _formula(self, node: ast.Node, names: Mapping[str, str]) -> fol.Formula:
        match node:
            case SameEntity(left=left, right=right):
                return fol.Equal(self._argument(left, names), self._argument(right, names))
            case ast.Truth(value=value):
                return fol.Constant(value)
            case ast.Atom():
                predicate = self.program.predicates[node.name]
                self.theory.predicates[node.name] = predicate.arity
                return fol.Atom(node.name, self._arguments(node, names))
            case ast.Weighted(operand=operand):
                self._drop(node, "weights are left out: first-order logic has none")
                return self._formula(operand, names)
            case ast.Forall(variables=variables, body=body) | ast.Exists(variables=variables, body=body):
                own = {each.name: f"V{next(self.variables)}" for each in variables}
                found = self._formula(body, {**names, **own})
                for each in reversed(variables):
                    sort = _sort(body, each.name, self.program)
                    found = self._ranging(isinstance(node, ast.Forall), own[each.name], sort, found)
                return found
            case ast.Comparison():
                return self._comparison(node, names)
        return self._connective(node, names)

    def _connective(self, node: ast.Node, names: Mapping[str, str]) -> fol.Formula:
        if getattr(node, "attributes", ()):
            self._drop(node, "attributes such as a bias are left out")
        sign = _SIGNS.get(type(node))
        if sign is not None:
            return fol.joined(sign, *[self._formula(each, names) for each in children(node)])  # type: ignore[arg-type]  # one of these types
        raise self._unsayable(node)

    def _drop(self, node: ast.Node, message: str) -> None:
        self.theory.notes.append(Diagnostic("left-out", message, "", node.span, "warning"))

    # --- terms --------------------------------------------------------------------------------------------------

    def _comparison(self, node: ast.Comparison, names: Mapping[str, str]) -> fol.Formula:
        if "<?>" in node.operators:
            raise self._unsayable(node)
        if node.attributes:
            self._drop(node, "a soft comparison is read as a crisp one")
        terms = [self._term(each, names) for each in node.operands]
        links: list[fol.Formula] = []
        for place, operator in enumerate(node.operators):
            compared = fol.Compare("=" if operator == "!=" else operator, terms[place], terms[place + 1])
            links.append(fol.joined("not", compared) if operator == "!=" else compared)
        return fol.combined("and", links)

    def _term(self, node: ast.Expression, names: Mapping[str, str]) -> fol.Term:
        match node:
            case ast.Number(value=value):
                return fol.Number(value)
            case ast.Atom(name=name):
                self.theory.numbers[name] = self.program.predicates[name].arity
                return fol.Attribute(name, self._arguments(node, names))
            case ast.Negate(operand=operand):
                return fol.Sum("-", fol.Number(0), self._term(operand, names))
            case ast.Arithmetic(operator="^", left=left, right=ast.Number(value=power)) if power in (1, 2, 3, 4):
                found = base = self._term(left, names)
                for _ in range(int(power) - 1):
                    found = fol.Sum("*", found, base)
                return found
            case ast.Arithmetic(operator=operator, left=left, right=right) if operator in "+-*/":
                return fol.Sum(operator, self._term(left, names), self._term(right, names))
        raise self._unsayable(node)

    def _arguments(self, atom: ast.Atom, names: Mapping[str, str]) -> tuple[fol.Term, ...]:
        predicate = self.program.predicates[atom.name]
        for sort, each in zip(predicate.sorts, atom.arguments, strict=True):
            if isinstance(each, ast.Constant) and not self.asking:
                self.members[sort][each.text] = None
        return tuple([self._argument(each, names) for each in atom.arguments])

    def _argument(self, argument: ast.Argument, names: Mapping[str, str]) -> fol.Term:
        if isinstance(argument, ast.Variable):
            return fol.Variable(names[argument.name])
        (self.asked if self.asking else self.members[ENTITY])[argument.text] = None
        return fol.Application(argument.text)

    def _unsayable(self, node: ast.Node) -> Unreadable:
        message = f"`{node.span.text}` cannot be written in first-order logic with `+ - * /`"
        return Unreadable(Diagnostic("not-first-order", message, "", node.span))

    # --- what lists and sorts leave out --------------------------------------------------------------------------

    def _closed(self, listed: Mapping[str, dict[tuple[str, ...], None]], derived: set[str]) -> None:
        for name, predicate in self.program.predicates.items():
            if predicate.closed and not predicate.numeric and name not in derived:
                self.theory.predicates[name] = predicate.arity
                variables = [fol.Variable(f"V{next(self.variables)}") for _ in range(predicate.arity)]
                rows = [_is_row(variables, row) for row in listed.get(name, {})]
                atom = fol.Atom(name, tuple(variables))
                body = fol.joined("implies", atom, fol.combined("or", rows)) if rows else fol.joined("not", atom)
                closed = fol.quantified(True, [each.name for each in variables], body)
                self.theory.axioms.append(fol.Stated(closed, shown=f"{name} is closed"))

    def _sorts(self) -> None:
        for sort in self.guarding:
            name, members = _guard(sort), list(self.members[sort])
            self.theory.predicates[name] = 1
            shown = f"the sort {sort}"
            if self._is_open(sort):
                for each in members:
                    self.theory.axioms.append(fol.Stated(fol.Atom(name, (fol.Application(each),)), shown=shown))
                continue
            variable = fol.Variable(f"V{next(self.variables)}")
            same = [fol.Equal(variable, fol.Application(each)) for each in members]
            defined = fol.joined("iff", fol.Atom(name, (variable,)), fol.combined("or", same))
            closed = fol.Quantified(True, variable.name, defined)
            self.theory.axioms.append(fol.Stated(closed, shown=f"{shown}, closed"))


def _guard(sort: str) -> str:
    return f"sort {sort}"


def _is_row(variables: Sequence[fol.Variable], row: Sequence[str]) -> fol.Formula:
    cells = zip(variables, row, strict=True)
    return fol.combined("and", [fol.Equal(variable, fol.Application(each)) for variable, each in cells])


def _value(value: object) -> float | None:
    if isinstance(value, ast.Number):
        return float(value.value)
    return float(value) if isinstance(value, int | float) else None


def _variables(node: object) -> Iterator[tuple[str, str | None, int]]:
    """The variables that a leaf is about, each with the predicate and the place where it stands."""
    if isinstance(node, ast.Atom):
        for place, each in enumerate(node.arguments):
            if isinstance(each, ast.Variable):
                yield each.name, node.name, place
    elif isinstance(node, SameEntity):
        for each in (node.left, node.right):
            if isinstance(each, ast.Variable):
                yield each.name, None, 0


def _free(formula: object) -> list[str]:
    """The free variables, in their order. No variable is both free and bound in one statement."""
    below = list(nodes(formula))  # type: ignore[arg-type]  # a SameEntity is a leaf
    bound = {each.name for node in below if isinstance(node, ast.Forall | ast.Exists) for each in node.variables}
    return list(dict.fromkeys(name for node in below for name, _, _ in _variables(node) if name not in bound))


def _sort(formula: object, variable: str, program: CheckedProgram) -> str:
    """The sort of a variable: that of its places, of which none contradict each other."""
    found = [
        program.predicates[predicate].sorts[place]
        for node in nodes(formula)  # type: ignore[arg-type]  # a SameEntity is a leaf
        for name, predicate, place in _variables(node)
        if name == variable and predicate is not None
    ]
    return min((sort for sort in found if sort != ENTITY), default=ENTITY)
