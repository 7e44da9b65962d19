"""The abstract syntax of the .lnn language: frozen dataclasses, one for each rule of the grammar.

Equality ignores spans and spelling (``->`` and ``implies`` give the same node), so ``parse(print(p)) == p`` can be
stated. One expression grammar serves formulas and terms; the checker tells truth from number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

from lnnkit.syntax.diagnostic import NOWHERE, Span
from lnnkit.syntax.identifiers import AggregateName


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The base class of all nodes. ``span`` is the place of one that was parsed."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


# --- arguments of an atom -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A name that starts upper-case, or that an enclosing quantifier binds."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """An entity, verbatim under NFC. ``quoted`` says how it was written."""

    text: str
    quoted: bool = field(default=False, compare=False)


Argument = Variable | Constant


# --- numbers and what stands in their place -------------------------------------------------------------------------

NumberUnit = Literal["date", "days"]


@dataclass(frozen=True, slots=True)
class Number(Node):
    """A literal; a leading minus is part of it. ``inf`` and ``-inf`` are numbers. With the unit ``date`` it is a day,
    counted from 1970-01-01 (``date "2026-11-23"``); ``30 days`` is the number 30."""

    value: float | int
    unit: NumberUnit | None = None

    @property
    def start(self) -> float | int:
        """What it is before training."""
        return self.value


@dataclass(frozen=True, slots=True)
class Learnable(Node):
    """``?``, ``?50``, ``?name`` or ``?name=50``; equal names are the same parameter. The checker gives the unit
    ``date`` to one that is compared with a date."""

    name: str | None
    initial: float | int | None
    unit: NumberUnit | None = field(default=None, compare=False)

    @property
    def start(self) -> float | int | None:
        """What it is before training; None if nothing says it here."""
        return self.initial


Value = Number | Learnable


@dataclass(frozen=True, slots=True)
class ValueList(Node):
    """``[1, -1, ?]``, the value of a unit's attribute; rows of a matrix are lists within a list."""

    items: tuple[Value | ValueList, ...]


@dataclass(frozen=True, slots=True)
class Attribute(Node):
    """``key: value`` within ``{...}`` after a group, a comparison or a unit."""

    key: str
    value: Value | ValueList | str


# --- expressions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom(Node):
    """``P(X, anna)``; a bare name is an atom without arguments (in a comparison the checker reads it as an entity,
    a variable or a number without arguments)."""

    name: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Entity(Node):
    """A quoted string as the operand of a comparison: ``X = "New York"``."""

    text: str


@dataclass(frozen=True, slots=True)
class Truth(Node):
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not(Node):
    operand: Expression


@dataclass(frozen=True, slots=True)
class Weighted(Node):
    """``A@0.7``: an operand of a connective and its weight."""

    operand: Expression
    weight: Value


@dataclass(frozen=True, slots=True)
class And(Node):
    """An n-ary conjunction with its operands in their written order; ``(A & B) & C`` is not ``A & B & C``."""

    operands: tuple[Expression, ...]
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Or(Node):
    operands: tuple[Expression, ...]
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Implies(Node):
    antecedent: Expression
    consequent: Expression
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Iff(Node):
    left: Expression
    right: Expression
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Xor(Node):
    left: Expression
    right: Expression
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Forall(Node):
    variables: tuple[Variable, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class Exists(Node):
    variables: tuple[Variable, ...]
    body: Expression


ComparisonOperator = Literal[">", "<", ">=", "<=", "=", "!=", "<?>"]


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """A chain ``operands[0] operators[0] operands[1] ...``: ``18 <= age(X) < 65``."""

    operands: tuple[Expression, ...]
    operators: tuple[ComparisonOperator, ...]
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class Negate(Node):
    """Unary minus before anything except a literal."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """``left operator right``; ``+ - * /`` associate to the left, ``^`` to the right."""

    operator: Literal["+", "-", "*", "/", "^"]
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Function(Node):
    """``abs(term)``, or another function of one term; ``min`` and ``max`` take several, ``years`` and ``months`` two
    dates."""

    name: Literal["abs", "sqrt", "exp", "log", "sin", "cos", "floor", "ceil", "round", "min", "max", "years", "months"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Unit(Node):
    """A learnable arithmetic unit over terms, ``npu(debt(X), income(X)){power: [1, -1]}``."""

    name: Literal["nac", "nalu", "inalu", "nau", "nmu", "npu", "realnpu"]
    operands: tuple[Expression, ...]
    attributes: tuple[Attribute, ...] = ()


@dataclass(frozen=True, slots=True)
class UnknownFunction(Node):
    """``?f(debt(X), income(X))``: a function of these terms whose formula training finds. Equal names are the same
    function; one without a name is a function of its own."""

    name: str | None
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """``count Y: condition``, or of the others ``sum Y: term where condition``; ``operands`` are the term, but of a
    count, and the condition."""

    name: AggregateName
    variables: tuple[Variable, ...]
    operands: tuple[Expression, ...]


Connective = And | Or | Implies | Iff | Xor
Quantifier = Forall | Exists
Binder = Quantifier | Aggregate
NumericNode = Number | Learnable | Negate | Arithmetic | Function | Unit | UnknownFunction | Aggregate
Expression = Atom | Entity | Truth | Not | Weighted | Connective | Quantifier | Comparison | NumericNode


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bounds(Node):
    """``in [lower, upper]``; ``= v`` after a fact or label is ``[v, v]`` with ``exact`` set."""

    lower: Value
    upper: Value
    exact: bool = False

    @property
    def written(self) -> tuple[Value, ...]:
        """Its ends, as many as are written."""
        return (self.lower,) if self.exact else (self.lower, self.upper)


LogicName = Literal["lukasiewicz", "product", "godel"]
LOGICS: tuple[str, ...] = get_args(LogicName)
DEFAULT_LOGIC: LogicName = "lukasiewicz"
LATTICE_LOGIC: LogicName = "godel"  # its conjunction is the minimum, its disjunction the maximum
BIASED_EQUIVALENCES = frozenset({"lukasiewicz"})  # the logics whose `<->` and `xor` take a bias


@dataclass(frozen=True, slots=True)
class LogicStatement(Node):
    logic: LogicName


@dataclass(frozen=True, slots=True)
class SortStatement(Node):
    """``sort person`` or ``sort person open``."""

    name: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class PredicateStatement(Node):
    name: str
    sorts: tuple[str, ...] = ()
    closed: bool = False


@dataclass(frozen=True, slots=True)
class NumberStatement(Node):
    """``number age(person)`` or ``date born(person)``."""

    name: str
    sorts: tuple[str, ...] = ()
    closed: bool = False
    date: bool = False


@dataclass(frozen=True, slots=True)
class ImportStatement(Node):
    path: str


ColumnReference = str | int  # a header name, or a position counted from 1
Cell = str | bool | int | float  # what a cell is compared with: a text, a truth, or a number
Condition = Literal["=", "!=", "<", "<=", ">", ">=", "in", "is null", "is not null"]


@dataclass(frozen=True, slots=True)
class NamedColumn(Node):
    """A column that another one is compared with, by its name in the header."""

    name: str


@dataclass(frozen=True, slots=True)
class Where(Node):
    """``where column = "value"``, or ``where column < other``. ``in`` has one or more values, ``is null``, ``is not
    null`` and a comparison with an ``other`` column have none."""

    column: ColumnReference
    values: tuple[Cell, ...]
    operator: Condition = "="
    other: NamedColumn | None = None

    @property
    def columns(self) -> tuple[ColumnReference, ...]:
        """The columns that it reads."""
        return (self.column,) if self.other is None else (self.column, self.other.name)


@dataclass(frozen=True, slots=True)
class Table(Node):
    """``"file.csv" (a, b) where p = "knows" no header``: what follows ``load P from`` or ``label P from``.

    The rows are those of the file at ``path``, of the table ``relation`` in the database there, or of a ``query`` (then
    ``path`` is empty).
    If all columns are given by number, the table has no ``header``. In ``columns`` None stands for ``_``, a column that
    is not read. Cells that read as one of the ``missing`` texts count as empty. ``delimiter`` is one character,
    ``decimal`` a comma or a point, ``encoding`` one that Python knows; with ``trim`` blanks around cells are left out.
    ``trust`` is from 0 to 1.
    """

    path: str
    columns: tuple[ColumnReference | None, ...] | None = None
    where: tuple[Where, ...] = ()
    header: bool = True
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    decimal: str = "."
    encoding: str | None = None
    trim: bool = False
    trust: float | int | None = None
    query: str | None = None
    relation: str | None = None

    @property
    def origin(self) -> str:
        """Where its rows come from, in words: a path, or the query or the table as it is written."""
        if self.query is not None:
            return f'query "{" ".join(self.query.split())}"'
        return self.path if self.relation is None else f'{self.path} table "{self.relation}"'

    @property
    def read(self) -> tuple[ColumnReference, ...] | None:
        """The listed columns that are read."""
        return None if self.columns is None else tuple(column for column in self.columns if column is not None)

    @property
    def numbered(self) -> bool:
        """Whether columns are listed, and all of them by number."""
        picked = [*(self.read or ()), *(column for condition in self.where for column in condition.columns)]
        return bool(picked) and all(isinstance(column, int) for column in picked)


@dataclass(frozen=True, slots=True)
class LoadStatement(Node):
    """``load P from "f.csv"``; ``load ~P from "f.csv"`` states that the atoms of the rows are false."""

    name: str
    table: Table
    negated: bool = False


@dataclass(frozen=True, slots=True)
class FactStatement(Node):
    """``fact P(a)``, ``fact ~P(a)``, ``fact P(a) in [l, u] trust 0.8``, ``fact age(a) = 34``."""

    atom: Atom
    negated: bool = False
    bounds: Bounds | None = None
    trust: float | int | None = None


@dataclass(frozen=True, slots=True)
class RuleStatement(Node):
    name: str | None
    formula: Expression
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class AxiomStatement(Node):
    name: str | None
    formula: Expression
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class QueryStatement(Node):
    formula: Expression


@dataclass(frozen=True, slots=True)
class LabelStatement(Node):
    """``label P(a) = 0.7``."""

    atom: Atom
    negated: bool = False
    bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class LabelTableStatement(Node):
    """``label P from "outcomes.csv"``, ``label ~P from "refused.csv"``."""

    name: str
    table: Table
    negated: bool = False


Declaration = PredicateStatement | NumberStatement
TableStatement = LoadStatement | LabelTableStatement
FileStatement = ImportStatement | TableStatement
AtomStatement = FactStatement | LabelStatement
RuleOrAxiom = RuleStatement | AxiomStatement
FormulaStatement = RuleOrAxiom | QueryStatement
Statement = LogicStatement | SortStatement | Declaration | FileStatement | AtomStatement | FormulaStatement


@dataclass(frozen=True, slots=True)
class Program(Node):
    """A parsed file. ``version`` is the language version given in its first line (``lnnkit 1``), if any."""

    statements: tuple[Statement, ...]
    version: int | None = None
