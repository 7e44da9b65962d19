"""Functions of a text -> numeric attributes, and relations: ``f(x) = y`` becomes ``f(x, y)``, with axioms that each
``x`` has one such ``y``.

Every model of the one is a model of the other: where ``f`` has exactly one value, ``P(f(x))`` is both ``exists y:
f(x, y) & P(y)`` and ``forall y: f(x, y) -> P(y)``. Which is written depends on the polarity, so that rules stay rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import Expression, Liberties, unreadable
from lnnkit.syntax.span import NOWHERE

_NameAndArity = tuple[str, int]  # a name and its arity


def _symbol(term: Expression) -> _NameAndArity:
    return term.name, len(term.parts)


# --- numeric attributes -----------------------------------------------------------------------------------------------


def with_attributes(stated: Sequence[fol.Stated]) -> list[fol.Stated]:
    """The formulas with functions as attributes where arithmetic, an order or a literal shows that their values are
    numbers, and equations between numbers as comparisons. Raises `ProgramError` if an individual occurs where a number
    is expected."""
    leaves = [
        node for node in fol.nodes(*(line.formula for line in stated)) if node.kind in (*fol.COMPARISONS, "equal")
    ]
    numeric: set[_NameAndArity] = set()
    before = -1
    while len(numeric) > before:
        before = len(numeric)
        numeric.update(*(_symbols(leaf) for leaf in leaves if _of_numbers(leaf, numeric)))

    def rewritten(node: Expression) -> Expression:
        if _of_numbers(node, numeric):
            node = replace(node, kind="=" if node.kind == "equal" else node.kind)
            return fol.changed(node, lambda term: _number(term, numeric))
        return fol.changed(node, rewritten)

    return [replace(line, formula=rewritten(line.formula)) for line in stated]


def _of_numbers(node: Expression, numeric: set[_NameAndArity]) -> bool:
    """Whether numbers are compared: an equation has a literal beside a function, a sum, or a term that is known to be a
    number."""
    if node.kind != "equal":
        return node.kind in fol.COMPARISONS
    functions = [side for side in node.parts if side.kind == "function"]
    kinds = {side.kind for side in node.parts}
    if any(_symbol(side) in numeric for side in functions) or not kinds.isdisjoint(fol.ARITHMETIC):
        return True
    return "number" in kinds and any(not side.quoted for side in functions)


def _symbols(term: Expression) -> Iterator[_NameAndArity]:
    """The functions that give the numbers of a term or a comparison."""
    if term.kind == "function":
        yield _symbol(term)
    elif term.kind in (*fol.ARITHMETIC, *fol.COMPARISONS, "equal"):
        yield from (symbol for part in term.parts for symbol in _symbols(part))


def _number(term: Expression, numeric: set[_NameAndArity]) -> Expression:
    if term.kind in fol.ARITHMETIC:
        return fol.changed(term, lambda part: _number(part, numeric))
    if term.kind == "function" and not term.quoted and _symbol(term) in numeric:
        return replace(term, kind="attribute")
    if term.kind not in ("number", "attribute"):
        message = f"`{term.name}` is an individual, but a number is expected here"
        hint = "name a number that it has, as in `age(x) > 5`"
        raise unreadable("individual-as-number", message, hint, term.span)
    return term


# --- relations --------------------------------------------------------------------------------------------------------


def with_relations(stated: Sequence[fol.Stated], liberties: Liberties) -> list[fol.Stated]:
    """The formulas with functions replaced by relations, and the axioms of these."""
    nodes = [*fol.nodes(*(line.formula for line in stated))]
    taken = {node.name for node in nodes if node.kind == "atom"}
    relations: dict[_NameAndArity, str] = {}
    laws: list[fol.Stated] = []
    for term in filter(_is_function, nodes):
        if _symbol(term) not in relations:
            name, arity = _symbol(term)
            tries = itertools.chain((name, f"{name}_value"), fol.numbered(f"{name}_value", 2))
            relation = relations[name, arity] = fol.fresh(tries, taken)
            taken.add(relation)
            laws += _laws(name, relation, arity)
            given = "".join(f"x{i + 1}, " for i in range(arity))
            message = f"the function `{name}` is written as the relation `{relation}({given}y)`: `y` is its value"
            liberties.note("function-as-relation", message, "", term.span)
    if not relations:
        return list(stated)
    return [*laws, *(replace(line, formula=_Rewriting(relations, line).formula) for line in stated)]


def _laws(name: str, relation: str, arity: int) -> Iterator[fol.Stated]:
    given = [f"x{i + 1}" for i in range(arity)]
    *arguments, one, two = (Expression("variable", variable) for variable in (*given, "y", "z"))
    images = [Expression("atom", relation, (*arguments, value)) for value in (one, two)]
    total = fol.quantified("exists", "y", images[0])
    same = fol.joined("implies", fol.joined("and", *images), Expression("equal", parts=(one, two)))
    for law, gloss in ((total, "a value"), (fol.quantified("forall", "yz", same), "one value at most")):
        yield fol.Stated(NOWHERE, gloss=f"`{name}` has {gloss}", formula=fol.quantified("forall", given, law))


class _Rewriting:
    """A formula on its way to one without functions."""

    def __init__(self, relations: Mapping[_NameAndArity, str], stated: fol.Stated) -> None:
        self.relations = relations
        self.taken = fol.variables(stated.formula)
        self.formula = self._formula(stated.formula, stated.role == "axiom")

    def _formula(self, formula: Expression, positive: bool) -> Expression:
        if formula.kind in ("atom", "equal", *fol.COMPARISONS):
            return self._leaf(formula, positive)
        if formula.kind in ("not", "implies"):
            first, *rest = formula.parts
            denied = self._formula(first, not positive)
            return fol.joined(formula.kind, denied, *[self._formula(part, positive) for part in rest])
        return fol.changed(formula, lambda part: self._formula(part, positive))

    def _leaf(self, leaf: Expression, positive: bool) -> Expression:
        """The leaf with variables in place of its functions, under the definitions of these."""
        given: list[Expression] = []
        function = next(filter(_is_function, leaf.parts), None) if leaf.kind == "equal" else None
        if function is not None:
            left, right = leaf.parts
            leaf = self._image(function, right if function is left else left, leaf)
        leaf = fol.changed(leaf, lambda term: self._term(term, given))
        for atom in reversed(given):
            inner = fol.joined("implies" if positive else "and", atom, leaf)
            leaf = Expression("forall" if positive else "exists", atom.parts[-1].name, (inner,))
        return leaf

    def _image(self, function: Expression, value: Expression, place: Expression) -> Expression:
        """That a function has a value."""
        return Expression("atom", self.relations[_symbol(function)], (*function.parts, value), place.span)

    def _term(self, term: Expression, given: list[Expression]) -> Expression:
        """The term with variables in place of its functions. Their definitions are added to ``given``, inner ones
        first."""
        term = fol.changed(term, lambda part: self._term(part, given))
        if not _is_function(term):
            return term
        variable = Expression("variable", fol.fresh(fol.numbered("v"), self.taken))
        self.taken.add(variable.name)
        given.append(self._image(term, variable, term))
        return variable


def _is_function(term: Expression) -> bool:
    return term.kind == "function" and bool(term.parts) and not term.quoted
