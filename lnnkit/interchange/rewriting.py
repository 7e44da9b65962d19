"""Formulas of a text -> formulas without functions, in which each symbol has one meaning and each individual one name.

``f(x) = y`` becomes ``f(x, y)``, with axioms that each ``x`` has one such ``y``. Every model of the one is a model of
the other: where ``f`` has exactly one value, ``P(f(x))`` is both ``exists y: f(x, y) & P(y)`` and ``forall y: f(x, y)
-> P(y)``. Which is written depends on the polarity, so that rules stay rules. Functions whose values are numbers become
numeric attributes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import Expression, Liberties, unreadable
from lnnkit.syntax.identifiers import normalise
from lnnkit.syntax.span import NOWHERE, Span

Symbol = tuple[str, str, int]  # "atom" or "attribute", the name, and the arity
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
            relation = relations[name, arity] = fol.fresh((name, f"{name}_value"), f"{name}_value", 2, taken)
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
        variable = Expression("variable", fol.fresh((), "v", 1, self.taken))
        self.taken.add(variable.name)
        given.append(self._image(term, variable, term))
        return variable


def _is_function(term: Expression) -> bool:
    return term.kind == "function" and bool(term.parts) and not term.quoted


def _is_constant(term: Expression) -> bool:
    return term.kind == "function" and not term.parts and not term.quoted


# --- names ------------------------------------------------------------------------------------------------------------


def with_one_name(stated: Sequence[fol.Stated], liberties: Liberties) -> list[fol.Stated]:
    """Eliminate equations between two names: the first name replaces the other."""
    name_of: dict[str, str] = {}

    def renamed(node: Expression) -> Expression:
        if not _is_constant(node):
            return fol.changed(node, renamed)
        name = node.name
        while name in name_of:
            name = name_of[name]
        return replace(node, name=name)

    kept = []
    for line in stated:
        formula = line.formula
        if line.role != "axiom" or formula.kind != "equal" or not all(map(_is_constant, formula.parts)):
            kept.append(line)
            continue
        one, other = (renamed(term).name for term in formula.parts)
        if one != other:
            name_of[other] = one
            message = f"`{other}` is another name of `{one}`, which is written in its place"
            hint = "in a program different names are different entities"
            liberties.note("another-name", message, hint, formula.span)
    return [replace(line, formula=renamed(line.formula)) for line in kept]


def note_unique_names(stated: Sequence[fol.Stated], liberties: Liberties) -> None:
    """Note the unique names assumption where it matters. Without equations it changes nothing: any model has a copy in
    which distinct names denote distinct entities."""
    nodes = [*fol.nodes(*(line.formula for line in stated))]
    equations = [node for node in nodes if node.kind == "equal"]
    if equations and len({node.name for node in nodes if node.kind == "function" and not node.parts}) > 1:
        place = next((node.span for node in equations if node.span is not None), None)
        message = "different names are taken to denote different individuals"
        liberties.note("unique-names", message, "where two may be one, use one name for both", place)


def names_for(stated: Sequence[fol.Stated], liberties: Liberties) -> tuple[dict[Symbol, str], list[str]]:
    """Names for all predicates and numbers, in the order of their first use, and the constants. A symbol keeps its name
    unless a symbol of another kind or arity has the same one."""
    symbols: dict[Symbol, Span | None] = {}
    constants: dict[str, Span | None] = {}
    for node in fol.nodes(*(line.formula for line in stated)):
        name = normalise(node.name)
        if node.kind in ("atom", "attribute"):
            symbols.setdefault((node.kind, name, len(node.parts)), node.span)
        elif node.kind == "function" and not node.parts:
            constants.setdefault(name, node.span)
    names = dict(_apart(symbols, liberties))
    _note_case({name: span for (_, name, _), span in symbols.items()}, "predicate", liberties)
    _note_case(constants, "name", liberties)
    return names, list(constants)


def _apart(symbols: Mapping[Symbol, Span | None], liberties: Liberties) -> Iterator[tuple[Symbol, str]]:
    taken = {name for _, name, _ in symbols}
    used: set[str] = set()
    for symbol, span in symbols.items():
        kind, name, arity = symbol
        if name not in used:
            used.add(name)
            yield symbol, name
            continue
        stem = f"{name}_{arity}" if kind == "atom" else f"{name}_number"
        fresh = fol.fresh((stem,), f"{stem}_", 2, taken)
        taken.add(fresh)
        use = f"with {arity} argument{'' if arity == 1 else 's'}" if kind == "atom" else "as a number"
        message = f"`{name}` is used here {use}, and otherwise before: the two are kept apart, this one as `{fresh}`"
        liberties.note("kept-apart", message, "check whether they are meant to be the same", span)
        yield symbol, fresh


def _note_case(names: Mapping[str, Span | None], kind: str, liberties: Liberties) -> None:
    """A note where names differ in nothing but case, or in spaces and underscores."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike["".join(c for c in name.casefold() if c.isalnum() or c in "+-.")].append(name)
    for group in alike.values():
        if len(group) > 1:
            listed = " and ".join([f"`{name}`" for name in group])
            message = f"{listed} are two {kind}s, though they are spelled nearly the same"
            hint = "spell them alike if they are meant to be one"
            liberties.note("nearly-same-names", message, hint, names[group[1]])
