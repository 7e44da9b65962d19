"""First-order formulas with equality, functions and real numbers: the common representation of all notations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from lnnkit.syntax.span import Span

# --- terms ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Application:
    """``f(t, ...)``; a constant is a function without arguments. ``quoted`` marks a string literal."""

    name: str
    arguments: tuple[Term, ...] = ()
    quoted: bool = field(default=False, compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A literal, with the text that it was written as."""

    value: float | int
    text: str = field(default="", compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Attribute:
    """A number that individuals have, ``age(anna)``."""

    name: str
    arguments: tuple[Term, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sum:
    """``left operator right`` between numbers."""

    operator: str  # + - * / ^
    left: Term
    right: Term


Term = Variable | Application | Number | Attribute | Sum

# --- formulas -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True, slots=True)
class Atom:
    predicate: str
    arguments: tuple[Term, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Equal:
    """An equation between individuals."""

    left: Term
    right: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of numbers; ``operator`` is one of ``< <= > >= =``."""

    operator: str
    left: Term
    right: Term
    span: Span | None = field(default=None, compare=False, repr=False)


Sign = Literal["not", "and", "or", "implies", "iff", "xor"]


@dataclass(frozen=True, slots=True)
class Connective:
    """``not`` has one operand, ``and`` and ``or`` any number, the others two."""

    sign: Sign
    operands: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Quantified:
    """``forall`` where ``universal``, else ``exists``, over one variable."""

    universal: bool
    variable: str
    body: Formula


Leaf = Atom | Equal | Compare
Formula = Constant | Leaf | Connective | Quantified


@dataclass(frozen=True, slots=True)
class Stated:
    """A formula of a text: ``role`` is axiom or query. ``shown`` is how it was written, ``gloss`` what it says in
    words, both for a comment."""

    formula: Formula
    role: str = "axiom"
    name: str | None = None
    shown: str = ""
    gloss: str = ""
    span: Span | None = field(default=None, compare=False, repr=False)


# --- parts ----------------------------------------------------------------------------------------------------------


def joined(sign: Sign, *operands: Formula) -> Connective:
    """A connective of these operands."""
    return Connective(sign, operands)


def combined(sign: Literal["and", "or"], operands: Sequence[Formula]) -> Formula:
    """A conjunction or disjunction of any number of formulas; of none it is true or false."""
    if not operands:
        return Constant(sign == "and")
    return operands[0] if len(operands) == 1 else Connective(sign, tuple(operands))


def quantified(universal: bool, variables: Iterable[str], body: Formula) -> Formula:
    """The formula under a quantifier for each variable, the first outermost."""
    for name in reversed(list(variables)):
        body = Quantified(universal, name, body)
    return body


def negated(formula: Formula) -> Formula | None:
    """What a negation denies; None for any other formula."""
    return formula.operands[0] if isinstance(formula, Connective) and formula.sign == "not" else None


def parts(formula: Formula) -> tuple[Formula, ...]:
    """The operands of a formula."""
    if isinstance(formula, Connective):
        return formula.operands
    return (formula.body,) if isinstance(formula, Quantified) else ()


def depth(formula: Formula) -> int:
    """The nesting depth of operators, including those of terms."""
    deepest, waiting = 0, [(formula, 0)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        if isinstance(node, Leaf):
            terms = [(term, level + 1) for term in terms_of(node)]
            while terms:
                term, below = terms.pop()
                deepest = max(deepest, below)
                if isinstance(term, Application | Attribute):
                    terms += [(each, below + 1) for each in term.arguments]
                elif isinstance(term, Sum):
                    terms += [(term.left, below + 1), (term.right, below + 1)]
        waiting += [(part, level + 1) for part in parts(node)]
    return deepest


def rebuilt(formula: Formula, inner: tuple[Formula, ...]) -> Formula:
    """The formula with other operands."""
    if isinstance(formula, Connective):
        return replace(formula, operands=inner)
    return replace(formula, body=inner[0]) if isinstance(formula, Quantified) else formula


def leaves(formula: Formula) -> Iterator[Leaf]:
    """The atoms, equations and comparisons, from left to right."""
    if isinstance(formula, Leaf):
        yield formula
    for part in parts(formula):
        yield from leaves(part)


def with_leaves(formula: Formula, change: Callable[[Leaf], Formula]) -> Formula:
    """The formula with each of its leaves changed."""
    if isinstance(formula, Leaf):
        return change(formula)
    return rebuilt(formula, tuple([with_leaves(part, change) for part in parts(formula)]))


def terms_of(leaf: Leaf) -> tuple[Term, ...]:
    """The arguments of a leaf."""
    return leaf.arguments if isinstance(leaf, Atom) else (leaf.left, leaf.right)


def with_terms(leaf: Leaf, change: Callable[[Term], Term]) -> Leaf:
    """The leaf with each of its arguments changed."""
    if isinstance(leaf, Atom):
        return replace(leaf, arguments=tuple(map(change, leaf.arguments)))
    return replace(leaf, left=change(leaf.left), right=change(leaf.right))


def subterms(term: Term) -> Iterator[Term]:
    """The term itself and its subterms, outermost first."""
    yield term
    if isinstance(term, Application | Attribute):
        for argument in term.arguments:
            yield from subterms(argument)
    elif isinstance(term, Sum):
        yield from subterms(term.left)
        yield from subterms(term.right)


def free_occurrences(formula: Formula) -> Iterator[Variable]:
    """Each occurrence of a free variable, from left to right."""
    if isinstance(formula, Leaf):
        for term in terms_of(formula):
            yield from (each for each in subterms(term) if isinstance(each, Variable))
    own = formula.variable if isinstance(formula, Quantified) else None
    for part in parts(formula):
        yield from (each for each in free_occurrences(part) if each.name != own)


def free_variables(formula: Formula) -> dict[str, Variable]:
    """The first occurrence of each free variable, in order."""
    found: dict[str, Variable] = {}
    for each in free_occurrences(formula):
        found.setdefault(each.name, each)
    return found


def bound_variables(formula: Formula) -> Iterator[str]:
    """The variables that quantifiers bind."""
    if isinstance(formula, Quantified):
        yield formula.variable
    for part in parts(formula):
        yield from bound_variables(part)


def substituted(formula: Formula, terms: Mapping[str, Term]) -> Formula:
    """The formula with terms substituted for free variables; the caller ensures that no quantifier captures them."""
    if isinstance(formula, Leaf):
        return with_terms(formula, lambda term: within(term, terms))
    if isinstance(formula, Quantified):
        terms = {name: term for name, term in terms.items() if name != formula.variable}
    return rebuilt(formula, tuple([substituted(part, terms) for part in parts(formula)]))


def within(term: Term, terms: Mapping[str, Term]) -> Term:
    """The term with terms substituted for its variables."""
    if isinstance(term, Variable):
        return terms.get(term.name, term)
    return with_subterms(term, lambda each: within(each, terms))


def with_subterms(term: Term, change: Callable[[Term], Term]) -> Term:
    """The term with each of its direct subterms changed."""
    if isinstance(term, Application | Attribute):
        return replace(term, arguments=tuple([change(each) for each in term.arguments]))
    return replace(term, left=change(term.left), right=change(term.right)) if isinstance(term, Sum) else term
