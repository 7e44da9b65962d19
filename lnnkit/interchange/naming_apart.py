"""What the names of a text denote: of two names for one individual the first is kept, and names that are used in
several ways are kept apart."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import Expression, Liberties
from lnnkit.syntax.identifiers import normalise
from lnnkit.syntax.span import Span

Symbol = tuple[str, str, int]  # "atom" or "attribute", the name, and the arity


def with_one_name(stated: Sequence[fol.Stated], liberties: Liberties) -> list[fol.Stated]:
    """Eliminate equations between two names: the first name replaces the other."""
    name_of: dict[str, str] = {}

    def renamed(node: Expression) -> Expression:
        if not node.constant:
            return fol.changed(node, renamed)
        name = node.name
        while name in name_of:
            name = name_of[name]
        return replace(node, name=name)

    kept = []
    for line in stated:
        formula = line.formula
        if line.role != "axiom" or formula.kind != "equal" or not all(term.constant for term in formula.parts):
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
        fresh = fol.fresh(itertools.chain((stem,), fol.numbered(f"{stem}_", 2)), taken)
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
