"""Sorts: undeclared arguments get inferred sorts, and a variable must not have two sorts.

An undeclared argument position takes the sort of the variables in it: positions joined by a variable of one statement
form a class (union-find). A class with exactly one declared sort takes that sort; a class with none, or with several
(``Named(X)`` used for people and for towns), gets the top sort `entity`, which includes all others. Comparisons of
entities join nothing. A single variable in positions of two declared sorts is an error. Queries join nothing, since
asking must not change another answer; their variables are checked against all sorts, including inferred ones.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from lnnkit.check.findings import error, place
from lnnkit.check.predicates import arity_of
from lnnkit.check.program import ENTITY, Predicate
from lnnkit.check.symbols import Formula, Mention, Symbols
from lnnkit.syntax.diagnostic import Diagnostic

Scoped = tuple[str, int]  # a variable's name, and the identity of its binder (0: free)


def sorts(symbols: Symbols) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for formula in symbols.formulas:
        known = symbols.resolved if formula.kind == "query" else symbols.declared
        found.extend(_clashes(formula, known))
    return found


def _clashes(formula: Formula, declared: Mapping[str, Predicate]) -> Iterator[Diagnostic]:
    for mentions in grouped(formula.mentions).values():
        first: tuple[Mention, str] | None = None
        for mention in mentions:
            sort = _declared_sort(mention, declared)
            if sort is None or sort == ENTITY:
                continue
            if first is None:
                first = mention, sort
            elif sort != first[1]:
                where = place(first[0].span, mention.span)
                before = f"{_ordinal(first[0])} on {where}, column {first[0].span.column}"
                message = f"`{mention.name}` is a {sort} as {_ordinal(mention)}, but a {first[1]} as {before}"
                hint = "use two variables, or declare one of the arguments as `entity`, to which every sort belongs"
                yield error("sort-clash", mention.span, message, hint)
                break


def _ordinal(mention: Mention) -> str:
    assert mention.atom is not None
    words = ("first", "second", "third", "fourth", "fifth")
    number = words[mention.position] if mention.position < len(words) else f"{mention.position + 1}th"
    return (
        f"the {number} argument of `{mention.atom.name}`"
        if len(mention.atom.arguments) > 1
        else (f"the argument of `{mention.atom.name}`")
    )


def grouped(mentions: Iterable[Mention]) -> dict[Scoped, list[Mention]]:
    """The mentions of each variable; a name that is bound twice counts as two variables."""
    groups: dict[Scoped, list[Mention]] = {}
    for mention in mentions:
        if mention.variable:
            groups.setdefault((mention.name, id(mention.binder) if mention.binder else 0), []).append(mention)
    return groups


def _declared_sort(mention: Mention, declared: Mapping[str, Predicate]) -> str | None:
    if mention.atom is None or mention.atom.name not in declared:
        return None
    positions = declared[mention.atom.name].sorts
    return positions[mention.position] if mention.position < len(positions) else None


def resolve_predicates(symbols: Symbols) -> dict[str, Predicate]:
    """Every predicate of the program with the sorts of its arguments; declared ones first."""
    classes = _classes([formula for formula in symbols.formulas if formula.kind != "query"], symbols.declared)
    resolved = dict(symbols.declared)
    told = {table.predicate: table for table in (*symbols.told, *symbols.tables)}
    for name in [*symbols.uses, *told]:
        if name in resolved:
            continue
        arity = arity_of(symbols, name)
        if arity is None:
            arity = symbols.arities.get(name, len(told[name].columns) if name in told else 0)
        uses = symbols.uses.get(name, ())
        span = uses[0].span if uses else None
        resolved[name] = Predicate(name, tuple(classes.get((name, i), ENTITY) for i in range(arity)), span=span)
    return resolved


def _classes(formulas: Sequence[Formula], declared: Mapping[str, Predicate]) -> dict[tuple[str, int], str]:
    """The sort of each undeclared (predicate, position)."""
    parent: dict[Hashable, Hashable] = {}

    def root(item: Hashable) -> Hashable:
        parent.setdefault(item, item)
        while parent[item] != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    given: list[tuple[Hashable, str]] = []
    for index, formula in enumerate(formulas):
        for scoped, mentions in grouped(formula.mentions).items():
            for mention in mentions:
                if mention.atom is None:
                    continue
                sort = _declared_sort(mention, declared)
                if sort is not None:
                    given.append(((index, scoped), sort))
                elif mention.atom.name not in declared:
                    parent[root((mention.atom.name, mention.position))] = root((index, scoped))
    met: dict[Hashable, set[str]] = {}
    for item, sort in given:
        if sort != ENTITY:
            met.setdefault(root(item), set()).add(sort)
    positions = [item for item in parent if isinstance(item, tuple) and isinstance(item[0], str)]
    return {item: min(found) for item in positions if len(found := met.get(root(item), set())) == 1}


def variable_sorts(formula: Formula, predicates: Mapping[str, Predicate]) -> dict[Scoped, str]:
    """The sort of each variable of a formula, by (name, binder)."""
    found: dict[Scoped, str] = {}
    for scoped, mentions in grouped(formula.mentions).items():
        sorts = {sort for mention in mentions if (sort := _declared_sort(mention, predicates)) is not None}
        found[scoped] = min(sorts - {ENTITY}, default=ENTITY)
    return found
