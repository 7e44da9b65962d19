"""Makes names distinct: one arity for each, numbers separate from predicates."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.liberties import Liberties
from lnnkit.syntax.identifiers import normalise
from lnnkit.syntax.span import Span

Kind = Literal["predicate", "number"]
Symbol = tuple[Kind, str, int]


def names_for(stated: Sequence[fol.Stated], liberties: Liberties) -> tuple[dict[Symbol, str], list[str]]:
    """Names for all predicates and numbers, in the order of their first use, and the constants. A symbol keeps its name
    unless a symbol of another kind or arity has the same one."""
    first: dict[Symbol, Span | None] = {}
    constants: dict[str, Span | None] = {}
    for each in stated:
        for leaf in fol.leaves(each.formula):
            if isinstance(leaf, fol.Atom):
                first.setdefault(("predicate", normalise(leaf.predicate), len(leaf.arguments)), leaf.span)
            for term in fol.terms_of(leaf):
                for part in fol.subterms(term):
                    if isinstance(part, fol.Attribute):
                        first.setdefault(("number", normalise(part.name), len(part.arguments)), part.span)
                    elif isinstance(part, fol.Application) and not part.arguments:
                        constants.setdefault(normalise(part.name), part.span)
    names = dict(_apart(first, liberties))
    _note_case({symbol[1]: span for symbol, span in first.items()}, "predicate", liberties)
    _note_case(constants, "name", liberties)
    return names, list(constants)


def _apart(first: dict[Symbol, Span | None], liberties: Liberties) -> Iterator[tuple[Symbol, str]]:
    taken = {name for _, name, _ in first}
    used: set[str] = set()
    for symbol, span in first.items():
        kind, name, arity = symbol
        if name not in used:
            used.add(name)
            yield symbol, name
            continue
        stem = f"{name}_{arity}" if kind == "predicate" else f"{name}_number"
        found = next(n for i in itertools.count(1) if (n := stem if i == 1 else f"{stem}_{i}") not in taken)
        taken.add(found)
        count = f"{arity} argument{'' if arity == 1 else 's'}"
        told = f"with {count}" if kind == "predicate" else "as a number"
        message = f"`{name}` is used here {told}, and otherwise before: the two are kept apart, this one as `{found}`"
        liberties.note_at("kept-apart", message, "check whether they are meant to be the same", span)
        yield symbol, found


def _note_case(names: dict[str, Span | None], kind: str, liberties: Liberties) -> None:
    """A note where names differ in nothing but case, or in spaces and underscores."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in names:
        alike["".join(c for c in name.casefold() if c.isalnum() or c in "+-.")].append(name)
    for group in alike.values():
        if len(group) > 1:
            listed = " and ".join([f"`{name}`" for name in group])
            message = f"{listed} are two {kind}s, though they are spelled nearly the same"
            hint = "spell them alike if they are meant to be one"
            liberties.note_at("nearly-same-names", message, hint, names[group[1]])
