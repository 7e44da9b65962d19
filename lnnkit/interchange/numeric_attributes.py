"""Infers which functions of a text are numbers, from arithmetic, orders and literals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lnnkit.errors import ProgramError
from lnnkit.interchange import first_order as fol
from lnnkit.syntax.diagnostic import Diagnostic

_Symbol = tuple[str, int]


def with_attributes(stated: Sequence[fol.Stated]) -> list[fol.Stated]:
    """The formulas with numeric functions as attributes, and equations between numbers as comparisons. Raises
    `ProgramError` if an individual occurs where a number is expected."""
    found: set[_Symbol] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for each in stated:
            for leaf in fol.leaves(each.formula):
                if isinstance(leaf, fol.Compare) or (isinstance(leaf, fol.Equal) and _numeric(leaf, found)):
                    found |= {*_symbols(leaf.left), *_symbols(leaf.right)}

    def rewritten(leaf: fol.Leaf) -> fol.Formula:
        if isinstance(leaf, fol.Equal) and _numeric(leaf, found):
            leaf = fol.Compare("=", leaf.left, leaf.right, leaf.span)
        return fol.with_terms(leaf, lambda term: _number(term, found)) if isinstance(leaf, fol.Compare) else leaf

    return [replace(each, formula=fol.with_leaves(each.formula, rewritten)) for each in stated]


def _numeric(leaf: fol.Equal, found: set[_Symbol]) -> bool:
    """Whether an equation is between numbers: it has a literal beside a function, a sum, or a term that is known to be
    a number."""
    sides = (leaf.left, leaf.right)
    known = [isinstance(side, fol.Application) and _symbol(side) in found for side in sides]
    if any(known) or any(isinstance(side, fol.Sum) for side in sides):
        return True
    literal = any(isinstance(side, fol.Number) for side in sides)
    return literal and any(isinstance(side, fol.Application) and not side.quoted for side in sides)


def _symbols(term: fol.Term) -> set[_Symbol]:
    """The functions that give the numbers of a term."""
    if isinstance(term, fol.Sum):
        return _symbols(term.left) | _symbols(term.right)
    return {_symbol(term)} if isinstance(term, fol.Application) else set()


def _symbol(term: fol.Application) -> _Symbol:
    return term.name, len(term.arguments)


def _number(term: fol.Term, found: set[_Symbol]) -> fol.Term:
    if isinstance(term, fol.Sum):
        return fol.with_subterms(term, lambda each: _number(each, found))
    if isinstance(term, fol.Application) and not term.quoted and _symbol(term) in found:
        return fol.Attribute(term.name, term.arguments, term.span)
    if not isinstance(term, fol.Number):
        message = f"`{term.name}` is an individual, but a number is expected here"
        hint = "name a number that it has, as in `age(x) > 5`"
        raise ProgramError([Diagnostic("individual-as-number", message, hint, term.span)])
    return term
