"""Functions of a text -> numeric attributes, and relations: ``f(x) = y`` becomes ``f(x, y)``, with axioms that each
``x`` has one such ``y``.

Every model of the one is a model of the other: where ``f`` has exactly one value, ``P(f(x))`` is both ``exists y:
f(x, y) & P(y)`` and ``forall y: f(x, y) -> P(y)``. Which is written depends on the polarity, so that rules stay rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lnnkit.errors import ProgramError
from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import Expression
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.span import Span

_NameAndArity = tuple[str, int]  # a name and its arity


def _symbol(term: Expression) -> _NameAndArity:
    return term.name, len(term.parts)


# --- numeric attributes -----------------------------------------------------------------------------------------------


def with_attributes(stated: Sequence[fol.Stated]) -> list[fol.Stated]:
    """The formulas with functions as attributes where arithmetic, an order or a literal shows that their values are
    numbers, and equations between numbers as comparisons. Raises `ProgramError` if an individual occurs where a number
    is expected."""
    found: set[_NameAndArity] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for leaf in (node for each in stated for node in fol.nodes(each.formula)):
            if leaf.kind in fol.COMPARISONS or (leaf.kind == "equal" and _numeric(leaf, found)):
                found |= {*_symbols(leaf.parts[0]), *_symbols(leaf.parts[1])}

    def rewritten(node: Expression) -> Expression:
        if node.kind == "equal" and _numeric(node, found):
            node = replace(node, kind="=")
        if node.kind in fol.COMPARISONS:
            return fol.changed(node, lambda term: _number(term, found))
        return fol.changed(node, rewritten)

    return [replace(each, formula=rewritten(each.formula)) for each in stated]


def _numeric(equation: Expression, found: set[_NameAndArity]) -> bool:
    """Whether an equation is between numbers: it has a literal beside a function, a sum, or a term that is known to be
    a number."""
    sides = equation.parts
    if any(side.kind in fol.ARITHMETIC or (side.kind == "function" and _symbol(side) in found) for side in sides):
        return True
    return any(side.kind == "number" for side in sides) and any(
        side.kind == "function" and not side.quoted for side in sides
    )


def _symbols(term: Expression) -> set[_NameAndArity]:
    """The functions that give the numbers of a term."""
    if term.kind in fol.ARITHMETIC:
        return _symbols(term.parts[0]) | _symbols(term.parts[1])
    return {_symbol(term)} if term.kind == "function" else set()


def _number(term: Expression, found: set[_NameAndArity]) -> Expression:
    if term.kind in fol.ARITHMETIC:
        return fol.changed(term, lambda each: _number(each, found))
    if term.kind == "function" and not term.quoted and _symbol(term) in found:
        return replace(term, kind="attribute")
    if term.kind not in ("number", "attribute"):
        message = f"`{term.name}` is an individual, but a number is expected here"
        hint = "name a number that it has, as in `age(x) > 5`"
        raise ProgramError([Diagnostic("individual-as-number", message, hint, term.span)])
    return term


# --- relations --------------------------------------------------------------------------------------------------------

Relations = dict[_NameAndArity, tuple[str, Span | None]]
"""The relation of each function, and the span of the function's first use."""


def relations_for(stated: Sequence[fol.Stated]) -> tuple[list[fol.Stated], Relations]:
    """The formulas with functions replaced by relations, and these relations."""
    nodes = [node for each in stated for node in fol.nodes(each.formula)]
    taken = {node.name for node in nodes if node.kind == "atom"}
    relations: Relations = {}
    for term in filter(_is_function, nodes):
        if _symbol(term) not in relations:
            ends = itertools.chain(("", "_value"), (f"_value{number}" for number in itertools.count(2)))
            relation = next(name for end in ends if (name := term.name + end) not in taken)
            relations[_symbol(term)] = relation, term.span
            taken.add(relation)
    if not relations:
        return list(stated), relations
    rewritten = [replace(each, formula=_Rewriting(relations, each).formula()) for each in stated]
    return [*_laws(relations), *rewritten], relations


def _laws(relations: Relations) -> Iterator[fol.Stated]:
    for (name, arity), (relation, _) in relations.items():
        *given, one, two = (Expression("variable", each) for each in (*(f"x{i + 1}" for i in range(arity)), "y", "z"))
        images = [Expression("atom", relation, (*given, value)) for value in (one, two)]
        some = fol.quantified("exists", "y", images[0])
        same = fol.joined("implies", fol.joined("and", *images), Expression("equal", parts=(one, two)))
        for law, told in ((some, "a value"), (fol.quantified("forall", "yz", same), "one value at most")):
            law = fol.quantified("forall", [variable.name for variable in given], law)
            yield fol.Stated(law, gloss=f"`{name}` has {told}")


class _Rewriting:
    """A formula on its way to one without functions."""

    def __init__(self, relations: Relations, stated: fol.Stated) -> None:
        self.relations = relations
        self.stated = stated
        self.taken = fol.variables(stated.formula)

    def formula(self) -> Expression:
        return self._formula(self.stated.formula, self.stated.role == "axiom")

    def _formula(self, formula: Expression, positive: bool) -> Expression:
        if formula.kind in ("atom", "equal", *fol.COMPARISONS):
            return self._leaf(formula, positive)
        if formula.kind in ("not", "implies"):
            first, *rest = formula.parts
            denied = self._formula(first, not positive)
            return fol.joined(formula.kind, denied, *[self._formula(each, positive) for each in rest])
        return fol.changed(formula, lambda part: self._formula(part, positive))

    def _leaf(self, leaf: Expression, positive: bool) -> Expression:
        """The leaf with variables in place of its functions, under the definitions of these."""
        given: list[tuple[str, Expression]] = []
        function = next(filter(_is_function, leaf.parts), None) if leaf.kind == "equal" else None
        if function is not None:
            left, right = leaf.parts
            arguments = (*function.parts, right if function is left else left)
            leaf = Expression("atom", self.relations[_symbol(function)][0], arguments, leaf.span)
        if function is not None or leaf.kind != "equal":
            leaf = fol.changed(leaf, lambda term: self._term(term, given))
        for variable, atom in reversed(given):
            inner = fol.joined("implies" if positive else "and", atom, leaf)
            leaf = Expression("forall" if positive else "exists", variable, (inner,))
        return leaf

    def _term(self, term: Expression, given: list[tuple[str, Expression]]) -> Expression:
        """The term with variables in place of its functions. Their definitions are added to ``given``, inner ones
        first."""
        term = fol.changed(term, lambda each: self._term(each, given))
        if not _is_function(term):
            return term
        name = next(n for i in itertools.count(1) if (n := f"v{i}") not in self.taken)
        self.taken.add(name)
        variable = Expression("variable", name)
        given.append((name, Expression("atom", self.relations[_symbol(term)][0], (*term.parts, variable), term.span)))
        return variable


def _is_function(term: Expression) -> bool:
    return term.kind == "function" and bool(term.parts) and not term.quoted
