"""A classical theory without numbers -> TPTP's `fof`: axioms, and a conjecture for each question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

from lnnkit.errors import ProgramError
from lnnkit.interchange import first_order as fol
from lnnkit.interchange.writing.classical_reading import ClassicalTheory
from lnnkit.interchange.writing.symbol_names import SymbolNames
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.printer import one_line

_WORD = re.compile(r"[a-z][A-Za-z0-9_]*")


def as_tptp(theory: ClassicalTheory) -> str:
    """The text. Raises `ProgramError` where the theory is about numbers, which `fof` has not."""
    if theory.numbers:
        name = next(iter(theory.numbers))
        hint = "write SMT-LIB: `--format smt2`"
        raise ProgramError([Diagnostic("no-numbers", f"`{name}` is a number, and TPTP's fof has none", hint)])
    return "\n".join(_Writer().lines(theory)) + "\n"


class _Writer:
    def __init__(self) -> None:
        self.names = SymbolNames(_spelled)

    def lines(self, theory: ClassicalTheory) -> Iterator[str]:
        yield "% the classical reading of a program"
        entities = [self.names("entity", name) for name in theory.entities]
        apart = [f"{one} != {other}" for one, other in combinations(entities, 2)]
        if apart:
            yield "% different names are of different individuals"
            yield f"fof(distinct, axiom, {' & '.join(apart)})."
        for number, stated in enumerate(theory.axioms, 1):
            yield f"% {one_line(stated.shown)}"
            yield f"fof(axiom_{number}, axiom, {self.formula(stated.formula)})."
        for number, stated in enumerate(theory.questions, 1):
            yield f"% {one_line(stated.shown)}"
            yield f"fof(question_{number}, conjecture, {self.formula(stated.formula)})."

    def formula(self, formula: fol.Formula) -> str:
        match formula:
            case fol.Constant(value):
                return "$true" if value else "$false"
            case fol.Atom(predicate, arguments):
                name = self.names("predicate", predicate)
                return f"{name}({', '.join(map(self.term, arguments))})" if arguments else name
            case fol.Equal(left, right):
                return f"{self.term(left)} = {self.term(right)}"
            case fol.Not(fol.Equal(left, right)):
                return f"{self.term(left)} != {self.term(right)}"
            case fol.Not(operand):
                return f"~ {self.unit(operand)}"
            case fol.Quantified(universal, variable, body):
                return f"{'!' if universal else '?'} [{variable}] : {self.unit(body)}"
            case fol.And(operands):
                return " & ".join([self.unit(each) for each in operands])
            case fol.Or(operands):
                return " | ".join([self.unit(each) for each in operands])
            case fol.Implies(left, right):
                return f"{self.unit(left)} => {self.unit(right)}"
            case fol.Iff(left, right):
                return f"{self.unit(left)} <=> {self.unit(right)}"
            case fol.Xor(left, right):
                return f"{self.unit(left)} <~> {self.unit(right)}"
        raise AssertionError(formula)

    def unit(self, formula: fol.Formula) -> str:
        text = self.formula(formula)
        plain = isinstance(formula, fol.Atom | fol.Constant | fol.Quantified)
        return text if plain else f"({text})"

    def term(self, term: fol.Term) -> str:
        match term:
            case fol.Variable(name=name):
                return name
            case fol.Application(name=name):
                return self.names("entity", name)
        raise AssertionError(term)


def _spelled(name: str) -> str:
    if _WORD.fullmatch(name):
        return name
    plain = " ".join(name.split()).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{plain}'"
