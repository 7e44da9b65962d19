"""First-order formulas with equality, functions and real numbers: the common representation of all notations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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


Formula = Constant | Atom | Equal | Compare | Connective | Quantified


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
        if isinstance(node, Atom | Equal | Compare):
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


def leaves(formula: Formula) -> Iterator[Atom | Equal | Compare]:
    """The atoms, equations and comparisons, from left to right."""
    if isinstance(formula, Atom | Equal | Compare):
        yield formula
    for part in parts(formula):
        yield from leaves(part)


def terms_of(leaf: Atom | Equal | Compare) -> tuple[Term, ...]:
    """The arguments of a leaf."""
    return leaf.arguments if isinstance(leaf, Atom) else (leaf.left, leaf.right)


def with_terms(leaf: Atom | Equal | Compare, terms: tuple[Term, ...]) -> Formula:
    """The leaf with other arguments."""
    if isinstance(leaf, Atom):
        return replace(leaf, arguments=terms)
    return replace(leaf, left=terms[0], right=terms[1])


def subterms(term: Term) -> Iterator[Term]:
    """The term itself and its subterms, outermost first."""
    yield term
    if isinstance(term, Application | Attribute):
        for argument in term.arguments:
            yield from subterms(argument)
    elif isinstance(term, Sum):
        yield from subterms(term.left)
        yield from subterms(term.right)


def free_variables(formula: Formula, bound: frozenset[str] = frozenset()) -> dict[str, Variable]:
    """The free variables, in order of occurrence."""
    found: dict[str, Variable] = {}
    if isinstance(formula, Atom | Equal | Compare):
        for term in terms_of(formula):
            for each in subterms(term):
                if isinstance(each, Variable) and each.name not in bound:
                    found.setdefault(each.name, each)
        return found
    if isinstance(formula, Quantified):
        bound |= {formula.variable}
    for part in parts(formula):
        for name, variable in free_variables(part, bound).items():
            found.setdefault(name, variable)
    return found


def substituted(formula: Formula, terms: Mapping[str, Term]) -> Formula:
    """The formula with terms substituted for free variables; the caller ensures that no quantifier captures them."""
    if isinstance(formula, Atom | Equal | Compare):
        return with_terms(formula, tuple([within(term, terms) for term in terms_of(formula)]))
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
