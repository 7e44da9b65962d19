"""First-order formulas with equality, functions and real numbers, as a text states them, and the findings about it;
and the same without functions, in which each symbol has one meaning and each individual one name.

``f(x) = y`` becomes ``f(x, y)``, with axioms that each ``x`` has one such ``y``. Every model of the one is a model of
the other: where ``f`` has exactly one value, ``P(f(x))`` is both ``exists y: f(x, y) & P(y)`` and ``forall y: f(x, y)
-> P(y)``. Which is written depends on the polarity, so that rules stay rules. Functions whose values are numbers become
numeric attributes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lark import Token
from lark.tree import Meta

from lnnkit.errors import ProgramError
from lnnkit.syntax.diagnostic import NOWHERE, Diagnostic, Source, Span

QUANTIFIERS = ("forall", "exists")
COMPARISONS = ("<", "<=", ">", ">=", "=")  # of numbers; `equal` compares individuals
ARITHMETIC = ("+", "-", "*", "/")
DEEPEST = 140  # the operators that a program may nest
INDIVIDUALS = ("function", "constant", "string")
_NameAndArity = tuple[str, int]  # a name and its arity


@dataclass(frozen=True, slots=True)
class FolExpression:
    """A formula or a term.

    | kind | name | parts |
    | --- | --- | --- |
    | ``variable``, ``constant``, ``string`` (a quoted constant), ``true``, ``false`` | its name | |
    | ``number``, a literal, which has a ``value`` | as written | |
    | ``function``, ``attribute`` (a number that individuals have), ``atom`` | its name | its arguments |
    | one of `ARITHMETIC`, `COMPARISONS`, or ``equal`` | | two terms |
    | ``not`` | | a formula |
    | ``and``, ``or``; ``implies``, ``iff``, ``xor`` | | formulas, any number; two formulas |
    | one of `QUANTIFIERS` | its variable | the formula in its scope |
    """

    kind: str
    name: str = ""
    parts: tuple[FolExpression, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    value: float | int = 0


TRUE, FALSE = FolExpression("true"), FolExpression("false")


@dataclass(frozen=True, slots=True)
class Stated:
    """A line with its ``formula``, once it is read; one that is made for a function has no place. ``role`` is axiom,
    query or predicate, ``gloss`` what it says in words."""

    span: Span
    role: str = "axiom"
    name: str | None = None
    gloss: str = ""
    formula: FolExpression = TRUE


def joined(kind: str, *parts: FolExpression) -> FolExpression:
    """A connective of these operands."""
    return FolExpression(kind, parts=parts)


def quantified(kind: str, variables: Iterable[str], body: FolExpression) -> FolExpression:
    """The formula under a quantifier for each variable, the first outermost."""
    for name in reversed(list(variables)):
        body = FolExpression(kind, name, (body,))
    return body


def nodes(expressions: Iterable[FolExpression]) -> Iterator[FolExpression]:
    """The expressions and all within them, outer before inner, left before right."""
    waiting = [*expressions][::-1]
    while waiting:
        yield (node := waiting.pop())
        waiting.extend(reversed(node.parts))


def depth(expression: FolExpression) -> int:
    """The nesting depth of operators, including those of terms."""
    level, row = 0, [expression]
    while row := [part for node in row for part in node.parts]:
        level += 1
    return level


def changed(expression: FolExpression, change: Callable[[FolExpression], FolExpression]) -> FolExpression:
    """The expression with each of its parts changed."""
    return replace(expression, parts=tuple([change(part) for part in expression.parts]))


def free_variables(expression: FolExpression) -> dict[str, list[FolExpression]]:
    """The occurrences of each free variable, in order."""
    if expression.kind == "variable":
        return {expression.name: [expression]}
    free: dict[str, list[FolExpression]] = {}
    for part in expression.parts:
        for name, occurrences in free_variables(part).items():
            free.setdefault(name, []).extend(occurrences)
    if expression.kind in QUANTIFIERS:
        free.pop(expression.name, None)
    return free


def variables(expression: FolExpression) -> set[str]:
    """The variables that occur, free or bound."""
    return {node.name for node in nodes([expression]) if node.kind in ("variable", *QUANTIFIERS)}


def renamed(expression: FolExpression, name: str, other: str) -> FolExpression:
    """The expression with another name, which does not occur in it, for a free variable."""
    if expression.kind == "variable" and expression.name == name:
        return FolExpression("variable", other)
    if expression.kind in QUANTIFIERS and expression.name == name:
        return expression
    return changed(expression, lambda part: renamed(part, name, other))


def fresh(names: Sequence[str], stem: str, first: int, taken: Container[str]) -> str:
    """The first of these names, and then of the stem with each number from the first one on, that is not taken."""
    numbered = (f"{stem}{number}" for number in itertools.count(first))
    return next(name for name in itertools.chain(names, numbered) if name not in taken)


def unreadable(code: str, message: str, hint: str, span: Span | None) -> ProgramError:
    """The error for a line that cannot be read."""
    return ProgramError([Diagnostic(code, message, hint, span)])


def too_deep(span: Span) -> Diagnostic:
    """The error for a formula that nests deeper than the language allows."""
    message = f"this formula nests more than {DEEPEST} operators"
    return Diagnostic("too-deep", message, "split it into several formulas", span)


@dataclass
class Liberties:
    """The findings about one source, in the order in which they were made. A liberty is a finding of severity
    warning: the meaning may not be what the author had in mind."""

    source: Source
    findings: list[Diagnostic] = field(default_factory=list)

    def span(self, *tokens: Token | Meta) -> Span:
        """Where tokens stand, from the first to the last."""
        return Span(self.source, tokens[0].start_pos or 0, tokens[-1].end_pos or 0)

    def note(self, code: str, message: str, hint: str, span: Span | None) -> None:
        """A liberty taken with a stretch of the source, or at the first occurrence of a symbol."""
        self.add(Diagnostic(code, message, hint, span, "warning", None if span else self.source.path))

    def add(self, diagnostic: Diagnostic) -> None:
        """A finding, once."""
        if diagnostic not in self.findings:
            self.findings.append(diagnostic)


def _symbol(term: FolExpression) -> _NameAndArity:
    return term.name, len(term.parts)


# --- numeric attributes -----------------------------------------------------------------------------------------------


def with_attributes(stated: Sequence[Stated]) -> list[Stated]:
    """The formulas with functions as attributes where arithmetic, an order or a literal shows that their values are
    numbers, and equations between numbers as comparisons. Raises `ProgramError` if an individual occurs where a number
    is expected."""
    leaves = [node for node in nodes(line.formula for line in stated) if node.kind in (*COMPARISONS, "equal")]
    numeric: set[_NameAndArity] = set()
    before = -1
    while len(numeric) > before:
        before = len(numeric)
        numeric.update(*(_symbols(leaf) for leaf in leaves if _of_numbers(leaf, numeric)))

    def rewritten(node: FolExpression) -> FolExpression:
        if _of_numbers(node, numeric):
            node = replace(node, kind="=" if node.kind == "equal" else node.kind)
            return changed(node, _number)
        return changed(node, rewritten)

    return [replace(line, formula=rewritten(line.formula)) for line in stated]


def _of_numbers(node: FolExpression, numeric: set[_NameAndArity]) -> bool:
    """Whether numbers are compared: an equation has a literal beside a function, a sum, or a term that is known to be a
    number."""
    if node.kind != "equal":
        return node.kind in COMPARISONS
    kinds = {side.kind for side in node.parts}
    if not kinds.isdisjoint(ARITHMETIC) or ("number" in kinds and not kinds.isdisjoint(("function", "constant"))):
        return True
    return any(side.kind in INDIVIDUALS and _symbol(side) in numeric for side in node.parts)


def _symbols(term: FolExpression) -> Iterator[_NameAndArity]:
    """The functions that give the numbers of a term or a comparison."""
    if term.kind in INDIVIDUALS:
        yield _symbol(term)
    else:
        yield from (symbol for part in term.parts for symbol in _symbols(part))


def _number(term: FolExpression) -> FolExpression:
    if term.kind in ARITHMETIC:
        return changed(term, _number)
    if term.kind in ("function", "constant"):
        return replace(term, kind="attribute")
    if term.kind not in ("number", "attribute"):
        message = f"`{term.name}` is an individual, but a number is expected here"
        hint = "name a number that it has, as in `age(x) > 5`"
        raise unreadable("individual-as-number", message, hint, term.span)
    return term


# --- relations --------------------------------------------------------------------------------------------------------


def with_relations(stated: Sequence[Stated], liberties: Liberties) -> list[Stated]:
    """The formulas with functions replaced by relations, and the axioms of these."""
    every = [*nodes(line.formula for line in stated)]
    taken = {node.name for node in every if node.kind == "atom"}
    relations: dict[_NameAndArity, str] = {}
    laws: list[Stated] = []
    for term in every:
        if term.kind == "function" and _symbol(term) not in relations:
            name, arity = _symbol(term)
            relation = relations[name, arity] = fresh((name, f"{name}_value"), f"{name}_value", 2, taken)
            taken.add(relation)
            laws += _laws(name, relation, arity)
            given = "".join(f"x{i + 1}, " for i in range(arity))
            message = f"the function `{name}` is written as the relation `{relation}({given}y)`: `y` is its value"
            liberties.note("function-as-relation", message, "", term.span)
    return [*laws, *(replace(line, formula=_Rewriting(relations, line).formula) for line in stated)]


def _laws(name: str, relation: str, arity: int) -> Iterator[Stated]:
    given = [f"x{i + 1}" for i in range(arity)]
    *arguments, one, two = (FolExpression("variable", variable) for variable in (*given, "y", "z"))
    images = [FolExpression("atom", relation, (*arguments, value)) for value in (one, two)]
    total = quantified("forall", given, quantified("exists", "y", images[0]))
    yield Stated(NOWHERE, gloss=f"`{name}` has a value", formula=total)
    same = joined("implies", joined("and", *images), FolExpression("equal", parts=(one, two)))
    unique = quantified("forall", [*given, "y", "z"], same)
    yield Stated(NOWHERE, gloss=f"`{name}` has one value at most", formula=unique)


class _Rewriting:
    """A formula on its way to one without functions."""

    def __init__(self, relations: Mapping[_NameAndArity, str], stated: Stated) -> None:
        self.relations = relations
        self.taken = variables(stated.formula)
        self.formula = self._formula(stated.formula, stated.role == "axiom")

    def _formula(self, formula: FolExpression, positive: bool) -> FolExpression:
        if formula.kind in ("atom", "equal", *COMPARISONS):
            return self._leaf(formula, positive)
        if formula.kind in ("not", "implies"):
            first, *rest = formula.parts
            denied = self._formula(first, not positive)
            return joined(formula.kind, denied, *[self._formula(part, positive) for part in rest])
        return changed(formula, lambda part: self._formula(part, positive))

    def _leaf(self, leaf: FolExpression, positive: bool) -> FolExpression:
        """The leaf with variables in place of its functions, under the definitions of these."""
        given: list[FolExpression] = []
        if leaf.kind == "equal" and "function" in [side.kind for side in leaf.parts]:
            function, value = sorted(leaf.parts, key=lambda side: side.kind != "function")
            leaf = self._image(function, value, leaf)
        leaf = changed(leaf, lambda term: self._term(term, given))
        for atom in reversed(given):
            inner = joined("implies" if positive else "and", atom, leaf)
            leaf = FolExpression("forall" if positive else "exists", atom.parts[-1].name, (inner,))
        return leaf

    def _image(self, function: FolExpression, value: FolExpression, place: FolExpression) -> FolExpression:
        """That a function has a value."""
        return FolExpression("atom", self.relations[_symbol(function)], (*function.parts, value), place.span)

    def _term(self, term: FolExpression, given: list[FolExpression]) -> FolExpression:
        """The term with variables in place of its functions. Their definitions are added to ``given``, inner ones
        first."""
        term = changed(term, lambda part: self._term(part, given))
        if term.kind != "function":
            return term
        variable = FolExpression("variable", fresh((), "v", 1, self.taken))
        self.taken.add(variable.name)
        given.append(self._image(term, variable, term))
        return variable
