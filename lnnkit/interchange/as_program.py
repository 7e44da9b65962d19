"""A text with first-order logic -> formulas -> the text of a program that means the same, a comment for each liberty
taken.

All individuals are of the sort `entity`, which is open: there may be more than are named. A literal about named
individuals is a fact, every other premise an axiom, whatever is asked a query.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lnnkit.errors import ProgramError
from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import FolExpression, Liberties
from lnnkit.interchange.fol_lines import read_fol
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic, Span, as_source
from lnnkit.syntax.identifiers import is_name, normalise
from lnnkit.syntax.printer import format_statement, one_line

_Symbol = tuple[str, str, int]  # "atom" or "attribute", the name, and the arity
_MADE = {
    "not": ast.Not, "implies": ast.Implies, "iff": ast.Iff, "xor": ast.Xor, "and": ast.And, "or": ast.Or,
    "forall": ast.Forall, "exists": ast.Exists,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImportedProgram:
    """The text of a program, and the ``notes`` of the liberties that were taken with its source, as warnings."""

    text: str
    notes: tuple[Diagnostic, ...]


def from_fol(text: str, path: str = "<string>", *, skip_errors: bool = False) -> ImportedProgram:
    """The program for a text with a formula of first-order logic on each line. Different names denote different
    individuals.

    Lines after a heading `Conclusion:` become queries; ``::: words`` after a formula and lines after `#` are comments.
    The text of the program has a comment for each liberty taken, which ``.notes`` holds as well. Raises `ProgramError`
    with every line that cannot be read; with ``skip_errors`` those are left out, and are among the notes.
    """
    source = as_source(path, text)
    liberties = Liberties(source)
    stated, glosses, errors = read_fol(source, liberties)
    if errors and not skip_errors:
        raise ProgramError(errors)
    for error in errors:
        liberties.add(replace(error, message=f"left out: {error.message}", severity="warning"))
    stated = fol.with_relations(_with_one_name(fol.with_attributes(stated), liberties), liberties)
    deep = [fol.too_deep(line.span) for line in stated if fol.depth(line.formula) > fol.DEEPEST]
    if deep:
        raise ProgramError(deep)
    _note_unique_names(stated, liberties)
    stated = [replace(line, formula=_evaluated(line.formula)) for line in stated]
    stated = [line for line in stated if line.role == "query" or line.formula != fol.TRUE]
    names, constants = _names_for(stated, liberties)
    notes = tuple(liberties.findings)
    writer = _Writer(names, constants, {*_facts_entities(stated)})
    head = [f"# From {path}, first-order logic."]
    if notes:
        several = f"{len(notes)} liberties were taken; each stands as `note` above what it is about."
        head.append(f"# {several}" if len(notes) > 1 else "# One liberty was taken; it stands below as `note`.")
        head += [f"# note: {_shown(note)}" for note in notes if not any(_within(note, line) for line in stated)]
    body = [row for line in stated for row in writer.lines(line, notes)]
    rows = [*head, "", "sort entity open", *_declarations(names, glosses), "", *body]
    return ImportedProgram("\n".join(rows) + "\n", notes)


def _evaluated(formula: FolExpression) -> FolExpression:
    """The formula with equations between constants decided, and truth constants propagated as far as possible."""
    if formula.kind == "equal":
        left, right = formula.parts
        if "variable" not in (left.kind, right.kind):
            return fol.TRUE if _text(left) == _text(right) else fol.FALSE
        return fol.TRUE if left == right else formula
    inner = tuple([_evaluated(part) for part in formula.parts])
    match formula.kind:
        case "not" if inner[0] in (fol.TRUE, fol.FALSE):
            return fol.FALSE if inner[0] == fol.TRUE else fol.TRUE
        case "and":
            inner = tuple([part for part in inner if part != fol.TRUE])
            if len(inner) < 2:
                return inner[0] if inner else fol.TRUE
        case "forall" | "exists" if formula.name not in fol.free_variables(inner[0]):
            return inner[0]
    return replace(formula, parts=inner)


def _text(term: FolExpression) -> str:
    """The text that names an entity; a numeral keeps its spelling."""
    return term.name if term.kind == "number" else normalise(term.name)


def _fact(formula: FolExpression) -> tuple[FolExpression, float | int | None] | None:
    """The atom that a formula states or denies of named entities, or the attribute and its number; else None."""
    if fol.free_variables(formula):
        return None
    literal = formula.parts[0] if formula.kind == "not" else formula
    if literal.kind == "atom":
        return literal, None
    if formula.kind == "=":
        of, value = sorted(formula.parts, key=lambda side: side.kind == "number")
        if (of.kind, value.kind) == ("attribute", "number"):
            return of, value.value
    return None


def _facts_entities(stated: Sequence[fol.Stated]) -> Iterator[str]:
    """The entities that facts name."""
    for line in stated:
        for formula in _conjuncts(line.formula) if line.role != "query" else ():
            if (fact := _fact(formula)) is not None:
                yield from map(_text, fact[0].parts)


def _conjuncts(formula: FolExpression) -> Iterator[FolExpression]:
    """The conjuncts of a formula, each under the universal quantifiers around it."""
    if formula.kind == "and":
        for part in formula.parts:
            yield from _conjuncts(part)
    elif formula.kind == "forall":
        for conjunct in _conjuncts(formula.parts[0]):
            kept = formula.name in fol.free_variables(conjunct)
            yield replace(formula, parts=(conjunct,)) if kept else conjunct
    else:
        yield formula


# --- names ------------------------------------------------------------------------------------------------------------


def _with_one_name(stated: Sequence[fol.Stated], liberties: Liberties) -> list[fol.Stated]:
    """Eliminate equations between two names: the first name replaces the other."""
    name_of: dict[str, str] = {}

    def renamed(node: FolExpression) -> FolExpression:
        if node.kind != "constant":
            return fol.changed(node, renamed)
        name = node.name
        while name in name_of:
            name = name_of[name]
        return replace(node, name=name)

    kept = []
    for line in stated:
        formula = line.formula
        if line.role != "axiom" or formula.kind != "equal" or {side.kind for side in formula.parts} != {"constant"}:
            kept.append(line)
            continue
        one, other = (renamed(term).name for term in formula.parts)
        if one != other:
            name_of[other] = one
            message = f"`{other}` is another name of `{one}`, which is written in its place"
            hint = "in a program different names are different entities"
            liberties.note("another-name", message, hint, formula.span)
    return [replace(line, formula=renamed(line.formula)) for line in kept]


def _note_unique_names(stated: Sequence[fol.Stated], liberties: Liberties) -> None:
    """Note the unique names assumption where it matters. Without equations it changes nothing: any model has a copy in
    which distinct names denote distinct entities."""
    nodes = [*fol.nodes(line.formula for line in stated)]
    equations = [node for node in nodes if node.kind == "equal"]
    if equations and len({node.name for node in nodes if node.kind in ("constant", "string")}) > 1:
        place = next((node.span for node in equations if node.span is not None), None)
        message = "different names are taken to denote different individuals"
        liberties.note("unique-names", message, "where two may be one, use one name for both", place)


def _names_for(stated: Sequence[fol.Stated], liberties: Liberties) -> tuple[dict[_Symbol, str], list[str]]:
    """Names for all predicates and numbers, in the order of their first use, and the constants. A symbol keeps its name
    unless a symbol of another kind or arity has the same one."""
    symbols: dict[_Symbol, Span | None] = {}
    constants: dict[str, Span | None] = {}
    for node in fol.nodes(line.formula for line in stated):
        name = normalise(node.name)
        if node.kind in ("atom", "attribute"):
            symbols.setdefault((node.kind, name, len(node.parts)), node.span)
        elif node.kind in ("constant", "string"):
            constants.setdefault(name, node.span)
    names = dict(_apart(symbols, liberties))
    _note_case({name: span for (_, name, _), span in symbols.items()}, "predicate", liberties)
    _note_case(constants, "name", liberties)
    return names, list(constants)


def _apart(symbols: Mapping[_Symbol, Span | None], liberties: Liberties) -> Iterator[tuple[_Symbol, str]]:
    taken = {name for _, name, _ in symbols}
    first: dict[str, _Symbol] = {}
    for symbol, span in symbols.items():
        kind, name, arity = symbol
        if first.setdefault(name, symbol) == symbol:
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


# --- writing ----------------------------------------------------------------------------------------------------------


def _declarations(names: Mapping[_Symbol, str], glosses: Mapping[str, str]) -> Iterator[str]:
    for (kind, name, arity), chosen in names.items():
        made = ast.PredicateStatement if kind == "atom" else ast.NumberStatement
        text, gloss = format_statement(made(chosen, ("entity",) * arity)), one_line(glosses.get(name, ""))
        yield f"{text}  # {gloss}" if gloss else text


def _within(note: Diagnostic, stated: fol.Stated) -> bool:
    """Whether a note is about something in the text of a formula."""
    return bool(note.span and stated.span.start <= note.span.start < stated.span.end)


def _shown(note: Diagnostic) -> str:
    return one_line(f"{note.message}; {note.hint}" if note.hint else note.message)


class _Writer:
    """Formulas to statements, under the names that were chosen. Entities that are not ``known`` from facts are quoted,
    so that `check` takes them for new ones."""

    def __init__(self, names: Mapping[_Symbol, str], constants: Sequence[str], known: Collection[str]) -> None:
        self.names = names
        self.known = known
        self.titles: Counter[str] = Counter()
        self.entities = {name.casefold() for name in constants}

    def lines(self, stated: fol.Stated, notes: Sequence[Diagnostic]) -> Iterator[str]:
        """A statement for each conjunct, comments above the first."""
        yield from (f"# {text}" for text in (one_line(stated.gloss), stated.span.on_one_line) if text)
        yield from (f"# note: {_shown(note)}" for note in notes if _within(note, stated))
        if stated.role == "query":
            statements: list[ast.Statement] = [ast.QueryStatement(self.expression(stated.formula, {}, set()))]
        else:
            first, *rest = _conjuncts(stated.formula)
            statements = [self._statement(first, stated.name), *(self._statement(conjunct, None) for conjunct in rest)]
        yield from (format_statement(statement, as_written=True) for statement in statements)

    def _statement(self, formula: FolExpression, name: str | None) -> ast.Statement:
        if (fact := _fact(formula)) is not None:
            of, number = fact
            value = None if number is None else ast.Number(number)
            return ast.FactStatement(
                self._atom(of, {}), formula.kind == "not", value and ast.Bounds(value, value, exact=True)
            )
        names: dict[str, str] = {}
        used: set[str] = set()
        # a variable that occurs once keeps its quantifier
        while formula.kind == "forall" and len(fol.free_variables(formula.parts[0]).get(formula.name, ())) > 1:
            names[formula.name] = self._variable(formula.name, used)
            (formula,) = formula.parts
        if name is not None:
            self.titles[name] += 1
            name = name if self.titles[name] == 1 else f"{name}-{self.titles[name]}"
        return ast.AxiomStatement(name if name and is_name(name) else None, self.expression(formula, names, used))

    def _variable(self, name: str, used: set[str]) -> str:
        """A variable name that is distinct from the others of its statement, and differs from every entity by more than
        case."""
        stem = name.rstrip("'’")
        stem = stem[:1].upper() + stem[1:]
        if not is_name(stem) or not stem[0].isupper():
            stem = "X"
        tries = itertools.chain((stem,), (f"{stem}{number}" for number in itertools.count(2)))
        variable = next(tried for tried in tries if tried not in used and tried.casefold() not in self.entities)
        used.add(variable)
        return variable

    def expression(self, formula: FolExpression, names: Mapping[str, str], used: set[str]) -> ast.Expression:
        """A formula or a number."""
        denied = formula.kind == "not" and formula.parts[0].kind == "equal"
        if denied or formula.kind == "equal":
            sides = (formula.parts[0] if denied else formula).parts
            operands = [
                ast.Atom(names[side.name]) if side.kind == "variable" else ast.Entity(_text(side)) for side in sides
            ]
            return ast.Comparison(tuple(operands), ("!=" if denied else "=",))
        match formula.kind:
            case "true" | "false" as kind:
                return ast.Truth(kind == "true")
            case "atom" | "attribute":
                return self._atom(formula, names)
            case "number":
                return ast.Number(formula.value)
            case "forall" | "exists" as kind:
                variables: list[ast.Variable] = []
                names = dict(names)
                while formula.kind == kind:
                    names[formula.name] = self._variable(formula.name, used)
                    variables.append(ast.Variable(names[formula.name]))
                    (formula,) = formula.parts
                return _MADE[kind](tuple(variables), self.expression(formula, names, used))
        parts = tuple([self.expression(part, names, used) for part in formula.parts])
        match formula.kind:
            case "and" | "or" as kind:
                return _MADE[kind](parts)
            case "<" | "<=" | ">" | ">=" | "=" as operator:
                return ast.Comparison(parts, (operator,))
            case "+" | "-" | "*" | "/" as operator:
                return ast.Arithmetic(operator, *parts)
            case connective:
                return _MADE[connective](*parts)

    def _atom(self, atom: FolExpression, names: Mapping[str, str]) -> ast.Atom:
        arguments = tuple([self._argument(part, names) for part in atom.parts])
        return ast.Atom(self.names[atom.kind, normalise(atom.name), len(arguments)], arguments)

    def _argument(self, term: FolExpression, names: Mapping[str, str]) -> ast.Argument:
        if term.kind == "variable":
            return ast.Variable(names[term.name])
        text = _text(term)
        return ast.Constant(text, quoted=text not in self.known or len(text) == 1)
