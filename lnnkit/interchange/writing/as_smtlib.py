"""A classical theory -> SMT-LIB 2.6: one uninterpreted sort, predicates on it, numbers as reals. Each question is
asserted negated, so `unsat` means that it follows."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.writing.classical_reading import ClassicalTheory
from lnnkit.syntax.printer import one_line

_UNIVERSE = "Entity"
_SIGNS = {"implies": "=>", "iff": "="}
_SIMPLE = re.compile(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*")
_RESERVED = frozenset(
    "and or not xor true false => = < <= > >= + - * / ite distinct let forall exists match par as _ ! Bool Real Int "
    "Array String abs div mod select store assert declare-fun declare-sort declare-const check-sat push pop exit "
    f"is_int to_real to_int BINARY DECIMAL HEXADECIMAL NUMERAL STRING set-logic define-fun {_UNIVERSE}".split()
)


def as_smtlib(theory: ClassicalTheory) -> str:
    """The text: declarations, axioms, and for each question a check of its negation."""
    return "\n".join(_Writer().lines(theory)) + "\n"


class _Writer:
    def __init__(self) -> None:
        self._taken: set[str] = set(_RESERVED)
        self._known: dict[tuple[str, str], str] = {}

    def names(self, kind: str, name: str) -> str:
        """The symbol of a (kind, name), as near as can be to the name."""
        if (kind, name) not in self._known:
            tries = itertools.chain((name, f"{name} {kind}"), (f"{name} {kind} {n}" for n in itertools.count(2)))
            found = next(text for text in map(_spelled, tries) if text not in self._taken)
            self._taken.add(found)
            self._known[kind, name] = found
        return self._known[kind, name]

    def lines(self, theory: ClassicalTheory) -> Iterator[str]:
        yield "; the classical reading of a program; unsat: the question follows"
        yield "(set-logic ALL)"
        yield f"(declare-sort {_UNIVERSE} 0)"
        for kind, symbols, result in (("predicate", theory.predicates, "Bool"), ("number", theory.numbers, "Real")):
            for name, arity in symbols.items():
                yield f"(declare-fun {self.names(kind, name)} ({' '.join([_UNIVERSE] * arity)}) {result})"
        entities = [self.names("entity", name) for name in theory.entities]
        yield from (f"(declare-fun {each} () {_UNIVERSE})" for each in entities)
        if len(entities) > 1:
            yield f"(assert (distinct {' '.join(entities)}))"
        for stated in theory.axioms:
            yield f"; {one_line(stated.shown)}"
            yield f"(assert {self.formula(stated.formula)})"
        if not theory.questions:
            yield "(check-sat)"
        for stated in theory.questions:
            several = len(theory.questions) > 1
            yield f"; does it follow? {one_line(stated.shown)}"
            if several:
                yield "(push 1)"
            yield f"(assert (not {self.formula(stated.formula)}))"
            yield "(check-sat)"
            if several:
                yield "(pop 1)"

    def formula(self, formula: fol.Formula) -> str:
        match formula:
            case fol.Constant(value):
                return "true" if value else "false"
            case fol.Atom(predicate, arguments):
                return self._applied(self.names("predicate", predicate), arguments)
            case fol.Equal(left, right):
                return f"(= {self.term(left)} {self.term(right)})"
            case fol.Compare(operator, left, right):
                return f"({operator} {self.term(left)} {self.term(right)})"
            case fol.Quantified(universal, variable, body):
                word = "forall" if universal else "exists"
                return f"({word} (({self.names('variable', variable)} {_UNIVERSE})) {self.formula(body)})"
            case fol.Connective(sign, operands):
                return f"({_SIGNS.get(sign, sign)} {' '.join(map(self.formula, operands))})"

    def term(self, term: fol.Term) -> str:
        match term:
            case fol.Variable(name=name):
                return self.names("variable", name)
            case fol.Application(name=name, arguments=arguments):
                return self._applied(self.names("entity", name), arguments)
            case fol.Attribute(name=name, arguments=arguments):
                return self._applied(self.names("number", name), arguments)
            case fol.Number(value=value):
                return _real(value)
            case fol.Sum(operator=operator, left=left, right=right):
                return f"({operator} {self.term(left)} {self.term(right)})"

    def _applied(self, symbol: str, arguments: tuple[fol.Term, ...]) -> str:
        return f"({symbol} {' '.join(map(self.term, arguments))})" if arguments else symbol


def _spelled(name: str) -> str:
    if _SIMPLE.fullmatch(name):
        return name
    plain = "".join(c if c.isascii() and c.isprintable() and c not in "|\\" else f"u{ord(c):x}_" for c in name)
    return f"|{plain}|"


def _real(value: float) -> str:
    text = format(Decimal(repr(abs(value))), "f")
    text = text if "." in text else f"{text}.0"
    return f"(- {text})" if value < 0 else text
