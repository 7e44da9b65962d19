"""The checked program, on which every later stage works. All names are resolved, all sorts are known."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, cast

from lnnkit.check.walk import nodes, transform
from lnnkit.data.names import whole
from lnnkit.syntax import ast
from lnnkit.syntax.dates import Numeric, date_text
from lnnkit.syntax.diagnostic import Diagnostic, Span

if TYPE_CHECKING:  # a program without data never imports numpy or Arrow
    from lnnkit.data.table import FactTable

ENTITY = "entity"  # the top sort: every entity of the program


@dataclass(frozen=True, slots=True)
class Sort:
    name: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate, or a numeric attribute, which may be a date; ``sorts`` has one entry for each argument, inferred if
    not declared."""

    name: str
    sorts: tuple[str, ...]
    closed: bool = False
    numeric: Numeric = False
    span: Span | None = None

    @property
    def arity(self) -> int:
        return len(self.sorts)


@dataclass(frozen=True, slots=True)
class SameEntity(ast.Node):
    """``X = Y`` between entities; ``X != Y`` is ``Not(SameEntity)``, a chain their ``And``."""

    left: ast.Argument
    right: ast.Argument


CheckedFormula = ast.Expression | SameEntity


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact or a label in the program text: truth bounds, or the bounds of a number. ``trust`` (0 to 1) is its weight
    when repairs are ranked."""

    predicate: str
    arguments: tuple[str, ...]
    lower: float
    upper: float
    span: Span
    trust: float = 1.0

    @property
    def of_axiom(self) -> bool:
        """Whether it is an axiom about one atom."""
        return self.span.text.startswith("axiom")


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a statement states about an unknown function, by its name ``function``: where ``condition`` holds (None:
    everywhere) the function of the ``operands`` equals ``target``. Until its formula is found, ``atom`` replaces it: a
    number without any stated value."""

    function: str
    atom: ast.Atom
    operands: tuple[ast.Expression, ...]
    target: ast.Expression
    condition: ast.Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class Assertion:
    """A rule or axiom, or a law that follows from comparisons. In ``formula`` comparisons of entities are resolved to
    SameEntity; weights, biases and bounds are checked but not evaluated. Its free variables are universally quantified.
    ``learned`` is its text with learned values. ``unknown`` is the unknown function that it was written with."""

    kind: Literal["rule", "axiom", "law"]
    name: str | None
    formula: CheckedFormula
    lower: ast.Value | float
    upper: ast.Value | float
    logic: ast.LogicName
    span: Span
    learned: str | None = None
    unknown: Unknown | None = None

    @property
    def called(self) -> str:
        """Its name, else its line."""
        return self.name or f"line {self.span.line}"

    @property
    def text(self) -> str:
        """The statement as written, on one line."""
        return " ".join((self.learned or self.span.text).split())

    @property
    def place(self) -> str:
        """Its file, and its line."""
        return f"{self.span.source.path}:{self.span.line}"

    def __str__(self) -> str:
        return f"{self.text}   {self.place}"


@dataclass(frozen=True, slots=True)
class Query:
    """A formula, or a numeric term if ``numeric``, which may be a date; ``text`` is what the user wrote."""

    formula: CheckedFormula
    text: str
    logic: ast.LogicName
    span: Span
    numeric: Numeric = False


@dataclass(frozen=True)
class CheckedProgram:
    """All statements of a program in their order, imports included."""

    predicates: Mapping[str, Predicate]
    sorts: Mapping[str, Sort]
    assertions: tuple[Assertion, ...] = ()
    facts: tuple[Fact, ...] = ()
    tables: Sequence[FactTable] = ()
    labels: tuple[Fact, ...] = ()
    label_tables: tuple[FactTable, ...] = ()
    queries: tuple[Query, ...] = ()
    strata: tuple[frozenset[str], ...] = ()  # closed derived predicates, dependencies first
    logic: ast.LogicName = ast.DEFAULT_LOGIC  # the logic of the main file, and of queries that are asked later
    unevaluated: tuple[Diagnostic, ...] = field(default=())  # why it cannot be run, though nothing in it is wrong
    suspects: tuple[Span, ...] = ()  # free variables whose names could be those of entities that are told later
    read_later: Mapping[str, bool] = field(default_factory=dict)  # numbers of rows, and whether some have a fraction

    def is_number(self, name: str) -> bool:
        """Whether a name is that of a number."""
        known = self.predicates.get(name)
        return known is not None and bool(known.numeric)

    @cached_property
    def timed(self) -> frozenset[str]:
        """The numbers that may have a fraction, of a date a time of day: some fact or table has one, or none is about
        the number, and an equation may give it one."""
        timed = {name for name, some in self.read_later.items() if some}
        timed |= set(filter(self.is_number, fractional(self.facts, self.tables)))
        stated = {given.predicate for given in (*self.facts, *self.tables)} | self.read_later.keys()
        every = (node for assertion in self.assertions for node in nodes(cast("ast.Expression", assertion.formula)))
        equations = [[*nodes(node)] for node in every if isinstance(node, ast.Comparison) and "=" in node.operators]
        while True:
            told = [parts for parts in equations if any(may_have_fraction(part, timed) for part in parts)]
            more = {part.name for parts in told for part in parts if isinstance(part, ast.Atom)} - stated - timed
            if not more:
                return frozenset(timed)
            timed |= more

    @cached_property
    def today(self) -> str | None:
        """The date that facts state of `today`."""
        known = self.predicates.get("today")
        if known is None or known.numeric != "date" or known.sorts:
            return None
        stated = {fact.lower for fact in self.facts if fact.predicate == known.name and fact.lower == fact.upper}
        return date_text(stated.pop()) if len(stated) == 1 else None

    @cached_property
    def stated(self) -> frozenset[tuple[str | None, int, str]]:
        """Each entity that facts, labels and statements name, with its predicate (None in a comparison) and argument
        position."""
        facts = (*self.facts, *self.labels)
        named = {(fact.predicate, place, text) for fact in facts for place, text in enumerate(fact.arguments)}
        return frozenset(named.union(*(named_entities(assertion.formula) for assertion in self.assertions)))

    @cached_property
    def texts(self) -> frozenset[str]:
        """The entities of `stated`."""
        return frozenset(text for _, _, text in self.stated)

    def entities(self, prefix: str, most: int) -> list[str]:
        """Up to ``most`` entities of facts and tables whose names start with ``prefix``, sorted by code point; whole
        numbers are left out."""
        texts = (text for fact in self.facts for text in fact.arguments)
        entities = {text for text in texts if text.startswith(prefix) and whole(text) is None}
        for names in {id(table.names): table.names for table in self.tables}.values():
            entities.update(names.starting(prefix, most))
        return sorted(entities)[:most]


def may_have_fraction(node: ast.Expression, timed: Collection[str]) -> bool:
    """Whether a node of a term may have a fraction where its operands have none."""
    match node:
        case ast.Atom(name):
            return name in timed
        case ast.Number(value):
            return value % 1 > 0
        case ast.Arithmetic(sign):
            return sign in ("/", "^")
        case ast.Function(name):
            return name in ("sqrt", "exp", "log", "sin", "cos")
        case ast.Aggregate(name):
            return name == "mean"
    return isinstance(node, ast.Learnable | ast.Unit | ast.UnknownFunction)


def fractional(facts: Sequence[Fact], tables: Sequence[FactTable]) -> set[str]:
    """The names of which some value has a fraction."""
    found = {fact.predicate for fact in facts if fact.lower % 1 > 0 or fact.upper % 1 > 0}
    ends = ((table.predicate, end) for table in tables for end in (table.lower, table.upper))
    return found.union(name for name, end in ends if name not in found and (end.round() != end).any())


def with_entities(formula: CheckedFormula, entities: Mapping[str, str]) -> ast.Expression:
    """A formula as it may be written, with entities in place of its free variables of these names."""
    same: list[ast.Expression] = []

    def side(argument: ast.Argument) -> ast.Expression:
        if isinstance(argument, ast.Variable) and argument.name not in entities:
            return ast.Atom(argument.name, span=argument.span)
        text = entities[argument.name] if isinstance(argument, ast.Variable) else argument.text
        return ast.Entity(text, span=argument.span)

    def bound(node: CheckedFormula) -> ast.Expression:
        if isinstance(node, SameEntity):
            same.append(ast.Comparison((side(node.left), side(node.right)), ("=",), span=node.span))
            return same[-1]
        if isinstance(node, ast.Not) and any(node.operand is equality for equality in same):
            return replace(cast("ast.Comparison", node.operand), operators=("!=",))
        if not isinstance(node, ast.Atom):
            return node
        arguments = tuple(
            ast.Constant(entities[argument.name], span=argument.span)
            if isinstance(argument, ast.Variable) and argument.name in entities
            else argument
            for argument in node.arguments
        )
        return replace(node, arguments=arguments)

    return transform(cast("ast.Expression", formula), bound)


def named_entities(formula: CheckedFormula) -> Iterator[tuple[str | None, int, str]]:
    """Each entity that a formula names, as `CheckedProgram.stated`."""
    for node in nodes(cast("ast.Expression", formula)):
        if isinstance(node, ast.Atom):
            named = [(node.name, place, item) for place, item in enumerate(node.arguments)]
        elif isinstance(node, SameEntity):
            named = [(None, 0, node.left), (None, 0, node.right)]
        else:
            continue
        yield from ((name, place, item.text) for name, place, item in named if isinstance(item, ast.Constant))
