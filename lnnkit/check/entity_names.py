"""Entities: warnings about lower-case variables and about names that no fact mentions.

Variables start upper-case, so there are three typical slips: ``Parent(x, y)`` with variables in lower case, ``Friend(X,
Anna)`` with an entity in upper case, and a misspelt entity. Known entities are those of facts, labels and tables, and
those that an axiom states outright (see ``symbols``). One-letter variables never count as misspelt entities: ``Edge(A,
B)`` is fine next to ``fact Edge(a, b)``. Quotes say that an entity may be new, so a quoted one is reported only next to
one that is spelt nearly alike. Unknown entities in queries are reported by ``asked``.

Entities in a query that the program does not have.

A query adds nothing to the domain of a sort. An entity that no fact, table, label or rule names, or that none names in
a place of that sort, has default bounds. A misspelt name looks the same, so each is reported: as a warning in a
program, whose data may be told later, and as an error in a query to a loaded program.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lnnkit.check.findings import MOST, SEARCHES, OneEdit, error, nearest, warning, without_numbers
from lnnkit.check.program import ENTITY, Predicate, named_entities
from lnnkit.check.symbols import Formula, Mention, Symbols
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Severity, Span
from lnnkit.syntax.identifiers import is_name, starts_upper
from lnnkit.syntax.printer import format_string

if TYPE_CHECKING:
    from lnnkit.data.names import Names

_FEW = 8  # names that are looked up one by one: 1 µs a name and table where Arrow's kernel takes 20 a table
_CONVENTIONAL = re.compile(r"\w\d*'*")  # X, X1: a variable by anyone's convention
_LONGER = 6  # letters; shorter words are often near each other: `house`, `horse`


def entities(symbols: Symbols) -> Iterator[Diagnostic]:
    named = {mention.name for formula in symbols.formulas for mention in constants(formula)}
    unknown = {name for name in named - known(symbols, named) if not symbols.doubtful(name)}
    concluded = {mention.name for formula in symbols.formulas for mention in _concluded(formula)}
    yield from clashes(suspects(symbols.formulas), symbols.texts, _named(symbols))
    alike = _but_for_case(unknown - concluded, concluded, ()) | _but_for_case(unknown, symbols.texts, _named(symbols))
    seen: set[str] = set()
    for formula in symbols.formulas:
        letters: set[str] = set()
        for mention in constants(formula):
            name = mention.name
            if name not in unknown:
                continue
            if len(name) == 1 and capitalised(name) is not None and not mention.quoted:
                if name not in letters:
                    letters.add(name)
                    message = f"`{name}` is read as an entity, but no fact or table mentions it"
                    quoted = f"quote an entity of that name: {format_string(name)}"
                    make = error if symbols.complete else warning
                    hint = f"a variable starts upper-case: `{name.upper()}`; {quoted}"
                    yield make("lower-case-variable", mention.span, message, hint)
            elif formula.kind != "query" and symbols.complete and name not in seen:
                seen.add(name)
                others = set() if name in concluded else concluded
                near = alike.get(name) or (near_entity(name, symbols, others) if len(seen) <= SEARCHES else None)
                if near is not None and _slip(name, near):
                    yield _unknown(mention, near, "An entity that is new needs a fact or a row that names it")
                elif not mention.quoted and (near or name not in concluded):
                    yield _unknown(mention, near, f"Quote an entity that is new: {format_string(name)}")


def namesakes(symbols: Symbols, variables: Iterable[str]) -> set[str]:
    """The ``variables`` with which entities of the program share their conventional names; X, Y and Z are variables to
    everyone."""
    return known(symbols, {name for name in variables if _CONVENTIONAL.fullmatch(name) and name not in "XYZ"})


def clashes(suspects: Collection[Span], texts: Collection[str], tables: Sequence[Names]) -> list[Diagnostic]:
    """The errors for those of a program's suspect variables that differ only in case from one of some new entities:
    ``texts``, and the names of ``tables``."""
    alike = _but_for_case((span.text for span in suspects), texts, tables)
    return [variable_like_entity(span, alike[span.text]) for span in suspects if span.text in alike]


def constants(formula: Formula) -> Iterator[Mention]:
    """The constants of a formula, except names that a quantifier elsewhere in the statement binds: those are reported
    as variables."""
    bound = {variable.name for node in formula.nodes(ast.Forall, ast.Exists) for variable in node.variables}
    return (item for item in formula.mentions if not item.variable and (item.quoted or item.name not in bound))


def _concluded(formula: Formula) -> Iterator[Mention]:
    """The entities in a rule's consequent beside variables. `Role(U, editor) -> May(U, write)` names an entity that
    facts need not name, while `person(x) -> mortal(x)` has variables in lower case."""
    root = formula.root
    if formula.kind == "query" or not isinstance(root, ast.Implies):
        return
    start, end = root.consequent.span.start, root.consequent.span.end
    mentions = list(constants(formula))
    given = {mention.name for mention in mentions if not start <= mention.span.start < end}
    joined = {id(mention.atom) for mention in formula.mentions if mention.variable and mention.atom is not None}
    yield from (mention for mention in mentions if mention.name not in given and id(mention.atom) in joined)


def suspects(formulas: Iterable[Formula]) -> tuple[Span, ...]:
    """In each formula, the first mention of each free variable whose name could be that of an entity."""
    spans: list[Span] = []
    for formula in formulas:
        free = (mention for mention in reversed(formula.mentions) if mention.variable and mention.binder is None)
        first = {mention.name: mention.span for mention in free}
        spans += [span for name, span in reversed(first.items()) if not _CONVENTIONAL.fullmatch(name)]
    return tuple(spans)


def variable_like_entity(variable: Span, entity: str, make: Callable[..., Diagnostic] = error) -> Diagnostic:
    """The finding for a variable that may be meant for an entity."""
    message = f"`{variable.text}` is a variable (it starts upper-case), but there is an entity `{entity}`"
    hint = f"write `{written(entity)}` for the entity; else rename the variable"
    return make("variable-like-entity", variable, message, hint)


def _unknown(
    mention: Mention, near: str | None, otherwise: str, make: Callable[..., Diagnostic] = warning
) -> Diagnostic:
    """The finding about a name that no fact has: the entity or the variable that it may be meant for, and what to do
    ``otherwise``."""
    capital = None if mention.quoted else capitalised(mention.name)
    hint = f"did you mean `{written(near)}`? " if near else ""
    hint += f"A variable starts upper-case: `{capital}`. " if capital else ""
    message = f"no fact or table mentions the entity `{mention.name}`"
    return make("unknown-entity", mention.span, message, hint + otherwise)


def near_entity(name: str, symbols: Symbols, others: Collection[str] = ()) -> str | None:
    """The entity of the program, or of ``others``, that a name is probably a misspelling of. Very large tables are left
    out, since the search would be noticeable."""
    lists = [names for names in (symbols.texts, *_named(symbols)) if len(names) <= MOST]
    return nearest(name, {other for names in (*lists, others) for other in names})


def _slip(name: str, near: str) -> bool:
    """Whether two names differ in case, accents, spaces and marks alone, or are longer and differ in one letter."""
    one, other = _letters(name), _letters(near)
    longer = min(len(one), len(other)) >= _LONGER and without_numbers(one) != without_numbers(other)
    return one == other or (longer and other in OneEdit([other]).of(one))


def _letters(name: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", name).casefold() if letter.isalnum())


def capitalised(name: str) -> str | None:
    """The variable that a lower-case name may be meant for. None for digits, letters without case, and names such as
    `c+`."""
    capital = name[:1].upper() + name[1:]
    return capital if capital != name and is_name(capital) and starts_upper(capital) else None


def written(entity: str) -> str:
    """An entity as written in an atom or a comparison: quoted if it would otherwise read as a variable, or as no
    name."""
    return entity if is_name(entity) and not starts_upper(entity) else format_string(entity)


# --- what is known --------------------------------------------------------------------------------------------------


def known(symbols: Symbols, names: Collection[str]) -> set[str]:
    """The ``names`` that are entities of the program's facts or tables."""
    stated = set(names) & symbols.texts
    missing = set(names) - stated
    return stated | set(_matches(_named(symbols), missing)) if missing else stated


def _but_for_case(names: Iterable[str], texts: Collection[str], tables: Sequence[Names]) -> dict[str, str]:
    """For each of ``names`` that differs only in case from an entity of ``texts`` or ``tables``: that entity."""
    names = list(names)
    wanted = {name.lower() for name in names}
    if not wanted:
        return {}
    alike = {text.lower(): text for text in sorted(texts) if text.lower() in wanted}
    for text in _matches(tables, wanted - alike.keys(), lower=True):
        alike.setdefault(text.lower(), text)
    return {name: alike[name.lower()] for name in names if name.lower() in alike}


def _named(symbols: Symbols) -> list[Names]:
    return [table.names for table in (*symbols.tables, *symbols.label_tables)]


def _matches(tables: Sequence[Names], names: Collection[str], lower: bool = False) -> Iterable[str]:
    """The entities of ``tables`` that are among ``names``, compared in lower case if ``lower``."""
    if not names or not tables:
        return
    if not lower and len(names) <= _FEW:
        yield from (name for name in names if any(name in held for held in tables))
        return
    from pyarrow import compute

    from lnnkit.data.arrow import strings
    from lnnkit.data.names import whole

    numbers = [name for name in names if whole(name) is not None]  # they have no case
    wanted = strings(sorted(set(names) - set(numbers)))
    for held in tables:
        yield from (number for number in numbers if number in held)
        texts = held.texts_in_arrow
        folded = compute.call_function("utf8_lower", [texts]) if lower else texts
        mask = compute.call_function("is_in", [folded], compute.SetLookupOptions(wanted))
        yield from texts.filter(mask).to_pylist()


_SortMember = tuple[str, str]  # a sort, and an entity


def asked(symbols: Symbols, severity: Severity = "warning") -> Iterator[Diagnostic]:
    """Findings of this ``severity``; those about the program's own queries are always warnings."""
    formulas = [formula for formula in symbols.formulas if formula.kind == "query" and symbols.complete]
    mentions = [mention for formula in formulas for mention in constants(formula)]
    names = {mention.name for mention in mentions if not symbols.doubtful(mention.name)}
    named = [mention for mention in mentions if mention.name in names]
    wanted = {(sort_of(mention, symbols.resolved) or ENTITY, mention.name) for mention in named}
    members = _members(symbols, {pair for pair in wanted if pair[0] != ENTITY})
    stated = known(symbols, names) | (names & {text for _, _, text in _stated(symbols)}) if names else set()
    seen, searches = set[_SortMember](), 0
    for mention in named:
        sort = sort_of(mention, symbols.resolved) if mention.name in stated else None
        member = sort or ENTITY, mention.name
        if member in seen:
            continue
        seen.add(member)
        if mention.name not in stated:
            near, searches = near_entity(mention.name, symbols) if searches < SEARCHES else None, searches + 1
            # entities of the program's own queries were reported when it was checked
            queries = () if symbols.program is None else symbols.program.queries
            before = {text for query in queries for _, _, text in named_entities(query.formula)}
            strange = severity == "error" and mention.name not in before
            what = "A question is about entities that a fact, table or rule of the program names"
            what = what if strange else "An entity that nothing else names has default bounds"
            yield _unknown(mention, near, what, error if strange else warning)
        elif member[0] != ENTITY and member not in members:
            message = f"no fact, table or rule has `{mention.name}` as an argument of sort `{member[0]}`"
            hint = "so the answer has default bounds; declare the predicates whose arguments have that sort"
            yield warning("entity-of-another-sort", mention.span, message, f"{hint}: `predicate P({member[0]})`")


def sort_of(mention: Mention, predicates: Mapping[str, Predicate]) -> str | None:
    """The sort of an argument's place; None for an operand of a comparison, and where ``predicates`` has no such
    place."""
    sorts = predicates[mention.atom.name].sorts if mention.atom and mention.atom.name in predicates else ()
    return sorts[mention.position] if mention.position < len(sorts) else None


# --- what the program has ---------------------------------------------------------------------------------------------


def _stated(symbols: Symbols) -> Iterator[tuple[str | None, int, str]]:
    """Each entity that facts, labels and statements name, with its predicate (None in a comparison) and argument
    position."""
    if symbols.program is not None:
        yield from symbols.program.stated
        return
    for _, statement in symbols.stated():
        yield from named_entities(statement.atom)
    for item in (mention for formula in symbols.formulas if formula.kind != "query" for mention in formula.mentions):
        if not item.variable:
            yield None if item.atom is None else item.atom.name, item.position, item.name


def _members(symbols: Symbols, wanted: set[_SortMember]) -> set[_SortMember]:
    """The ``wanted`` entities that belong to their sorts."""
    members: set[_SortMember] = set()
    for name, place, text in _stated(symbols) if wanted else ():
        predicate = symbols.resolved.get(name or "")
        members |= wanted & {(sort, text) for sort in (predicate.sorts[place : place + 1] if predicate else ())}
    for table in (*symbols.tables, *symbols.label_tables):
        sorts = symbols.resolved[table.predicate].sorts if table.predicate in symbols.resolved else ()
        for sort, column in zip(sorts, table.columns, strict=False):
            missing = {text for other, text in wanted if other == sort and (sort, text) not in members}
            places = {text: column.names.find(text) for text in missing}
            held = (text for text, id_ in places.items() if id_ is not None and (column.codes == id_).any())
            members.update((sort, text) for text in held)
    return members
