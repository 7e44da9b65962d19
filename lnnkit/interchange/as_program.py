"""A text with first-order logic -> formulas -> the text of a program that means the same, a comment for each liberty
taken.

All individuals are of the sort `entity`, which is open: there may be more than are named. A literal about named
individuals is a fact, every other premise an axiom, whatever is asked a query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lnnkit.errors import ProgramError
from lnnkit.interchange import first_order as fol
from lnnkit.interchange.first_order import Expression, Liberties
from lnnkit.interchange.function_relations import relations_for, with_attributes
from lnnkit.interchange.naming_apart import Symbol, names_for, note_unique_names, with_one_name
from lnnkit.interchange.reading.fol_text import read_fol
from lnnkit.syntax import ast
from lnnkit.syntax.diagnostic import Diagnostic
from lnnkit.syntax.identifiers import is_name, normalise
from lnnkit.syntax.printer import format_statement, one_line
from lnnkit.syntax.span import Source, Span, as_source

DEEPEST = 140
_NOWHERE = Span(Source("<import>", ""), 0, 0)
_MADE = {"not": ast.Not, "implies": ast.Implies, "iff": ast.Iff, "xor": ast.Xor}


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
    for each in errors:
        liberties.add(replace(each, message=f"left out: {each.message}", severity="warning"))
    _require_shallow(stated)
    stated = with_one_name(with_attributes(stated), liberties)
    stated, relations = relations_for(stated)
    _require_shallow(stated)
    for (name, arity), (relation, span) in relations.items():
        given = "".join(f"x{i + 1}, " for i in range(arity))
        message = f"the function `{name}` is written as the relation `{relation}({given}y)`: `y` is its value"
        liberties.note_at("function-as-relation", message, "", span)
    note_unique_names(stated, liberties)
    stated = [replace(each, formula=_evaluated(each.formula)) for each in stated]
    stated = [each for each in stated if each.role == "query" or each.formula != fol.TRUE]
    names, constants = names_for(stated, liberties)
    writer = _Writer(names, constants, frozenset(_facts_entities(stated)))
    body = [line for each in stated for line in writer.lines(each, liberties.found)]
    head = [f"# From {path}, first-order logic.", *_declarations(names, glosses)]
    notes = tuple(liberties.found)
    general = [note for note in notes if not any(_within(note, each) for each in stated)]
    if notes:
        several = f"{len(notes)} liberties were taken; each stands as `note` above what it is about."
        head[1:1] = [f"# {several}" if len(notes) > 1 else "# One liberty was taken; it stands below as `note`."]
        head[2:2] = [f"# note: {_told(each)}" for each in general]
    return ImportedProgram("\n".join([*head, "", *body]) + "\n", notes)


def _require_shallow(stated: Sequence[fol.Stated]) -> None:
    """Raises `ProgramError` for formulas that nest deeper than the language allows."""
    deep = [each for each in stated if fol.depth(each.formula) > DEEPEST]
    if deep:
        message = f"this formula nests more than {DEEPEST} operators"
        raise ProgramError(
            [Diagnostic("too-deep", message, "split it into several formulas", each.span) for each in deep]
        )


def _evaluated(formula: Expression) -> Expression:
    """The formula with equations between constants decided, and truth constants propagated as far as possible."""
    if formula.kind == "equal":
        left, right = formula.parts
        if "variable" not in (left.kind, right.kind):
            return fol.TRUE if _text(left) == _text(right) else fol.FALSE
        return fol.TRUE if left == right else formula
    if formula.kind not in (*fol.CONNECTIVES, *fol.QUANTIFIERS):
        return formula
    inner = tuple([_evaluated(part) for part in formula.parts])
    match formula.kind:
        case "not" if inner[0] in (fol.TRUE, fol.FALSE):
            return fol.FALSE if inner[0] == fol.TRUE else fol.TRUE
        case "and":
            inner = tuple([each for each in inner if each != fol.TRUE])
            if len(inner) < 2:
                return inner[0] if inner else fol.TRUE
        case "forall" | "exists" if formula.name not in fol.free_variables(inner[0]):
            return inner[0]
    return replace(formula, parts=inner)


def _text(term: Expression) -> str:
    """The text that names an entity; a numeral keeps its spelling."""
    return term.name if term.kind == "number" else normalise(term.name)


def _fact(formula: Expression) -> tuple[Expression, float | int | None] | None:
    """The atom that a formula states or denies of named entities, or the attribute and its number; else None."""
    if fol.free_variables(formula):
        return None
    literal = formula.parts[0] if formula.kind == "not" else formula
    if literal.kind == "atom":
        return literal, None
    if formula.kind == "=":
        left, right = formula.parts
        of, value = (left, right) if right.kind == "number" else (right, left)
        if (of.kind, value.kind) == ("attribute", "number"):
            return of, value.value
    return None


def _facts_entities(stated: Sequence[fol.Stated]) -> Iterator[str]:
    """The entities that facts name."""
    for each in stated:
        for formula in conjuncts(each.formula) if each.role != "query" else ():
            if (found := _fact(formula)) is not None:
                yield from map(_text, found[0].parts)


# --- writing ----------------------------------------------------------------------------------------------------------


def _declarations(names: Mapping[Symbol, str], glosses: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "sort entity open"
    for (kind, name, arity), own in names.items():
        sorts = ("entity",) * arity
        made = ast.PredicateStatement if kind == "predicate" else ast.NumberStatement
        text = format_statement(made(span=_NOWHERE, name=own, sorts=sorts))
        gloss = one_line(glosses.get(name, ""))
        yield f"{text}  # {gloss}" if gloss else text


def _within(note: Diagnostic, stated: fol.Stated) -> bool:
    """Whether a note is about something in the text of a formula."""
    return bool(stated.span and note.span and stated.span.start <= note.span.start < stated.span.end)


def _told(note: Diagnostic) -> str:
    return one_line(f"{note.message}; {note.hint}" if note.hint else note.message)


class _Writer:
    """Formulas to statements, under the names that were chosen."""

    def __init__(self, names: Mapping[Symbol, str], constants: Sequence[str], known: frozenset[str]) -> None:
        self.names = names
        self.known = known  # entities that facts name; others are quoted, so that `check` takes them for new ones
        self.taken: Counter[str] = Counter()
        self.entities = {name.casefold() for name in constants}

    def lines(self, stated: fol.Stated, notes: Sequence[Diagnostic]) -> Iterator[str]:
        """A statement for each conjunct, comments above the first."""
        if stated.gloss:
            yield f"# {one_line(stated.gloss)}"
        if stated.shown:
            yield f"# {one_line(stated.shown)}"
        for note in notes:
            if _within(note, stated):
                yield f"# note: {_told(note)}"
        if stated.role == "query":
            formula = self.expression(stated.formula, {}, set())
            yield format_statement(ast.QueryStatement(span=_NOWHERE, formula=formula), as_written=True)
            return
        for number, formula in enumerate(conjuncts(stated.formula)):
            yield format_statement(self._statement(formula, stated.name if not number else None), as_written=True)

    def _statement(self, formula: Expression, name: str | None) -> ast.Statement:
        if (found := _fact(formula)) is not None:
            of, number = found
            atom, bounds = self._atom(of, {}), None
            if number is not None:
                value = ast.Number(span=_NOWHERE, value=number)
                bounds = ast.Bounds(span=_NOWHERE, lower=value, upper=value, exact=True)
            return ast.FactStatement(span=_NOWHERE, atom=atom, negated=formula.kind == "not", bounds=bounds)
        names: dict[str, str] = {}
        used: set[str] = set()
        while formula.kind == "forall" and _occurrences(formula) > 1:
            names[formula.name] = self._variable(formula.name, used)
            (formula,) = formula.parts
        title = None
        if name is not None:
            self.taken[name] += 1
            title = name if self.taken[name] == 1 else f"{name}-{self.taken[name]}"
            title = title if is_name(title) else None
        return ast.AxiomStatement(span=_NOWHERE, name=title, formula=self.expression(formula, names, used))

    def _variable(self, name: str, used: set[str]) -> str:
        """A variable name that is distinct from the others of its statement, and differs from every entity by more than
        case."""
        stem = name.rstrip("'’")
        stem = stem[:1].upper() + stem[1:]
        if not is_name(stem) or not stem[0].isupper():
            stem = "X"
        number, found = 1, stem
        while found in used or found.casefold() in self.entities:
            number += 1
            found = f"{stem}{number}"
        used.add(found)
        return found

    # --- expressions --------------------------------------------------------------------------------------------

    def expression(self, formula: Expression, names: Mapping[str, str], used: set[str]) -> ast.Expression:
        match formula.kind:
            case "true" | "false" as kind:
                return ast.Truth(span=_NOWHERE, value=kind == "true")
            case "atom":
                return self._atom(formula, names)
            case "equal":
                return self._compared("=", formula, self._individual, names)
            case "<" | "<=" | ">" | ">=" | "=" as operator:
                return self._compared(operator, formula, self._term, names)
            case "not" if formula.parts[0].kind == "equal":
                return self._compared("!=", formula.parts[0], self._individual, names)
            case "forall" | "exists" as kind:
                variables: list[ast.Variable] = []
                names = dict(names)
                while formula.kind == kind:
                    names[formula.name] = self._variable(formula.name, used)
                    variables.append(ast.Variable(span=_NOWHERE, name=names[formula.name]))
                    (formula,) = formula.parts
                made = ast.Forall if kind == "forall" else ast.Exists
                return made(span=_NOWHERE, variables=tuple(variables), body=self.expression(formula, names, used))
            case "and" | "or" as kind:
                operands = tuple([self.expression(part, names, used) for part in formula.parts])
                return (ast.And if kind == "and" else ast.Or)(operands, span=_NOWHERE)
            case sign:
                return _MADE[sign](*[self.expression(part, names, used) for part in formula.parts], span=_NOWHERE)

    def _compared(
        self,
        operator: ast.ComparisonOperator,
        sides: Expression,
        operand: Callable[[Expression, Mapping[str, str]], ast.Expression],
        names: Mapping[str, str],
    ) -> ast.Comparison:
        operands = tuple([operand(side, names) for side in sides.parts])
        return ast.Comparison(span=_NOWHERE, operands=operands, operators=(operator,))

    def _atom(self, atom: Expression, names: Mapping[str, str]) -> ast.Atom:
        kind = "predicate" if atom.kind == "atom" else "number"
        own = self.names[kind, normalise(atom.name), len(atom.parts)]
        return ast.Atom(span=_NOWHERE, name=own, arguments=tuple([self._argument(each, names) for each in atom.parts]))

    def _argument(self, term: Expression, names: Mapping[str, str]) -> ast.Argument:
        if term.kind == "variable":
            return ast.Variable(span=_NOWHERE, name=names[term.name])
        text = _text(term)
        return ast.Constant(span=_NOWHERE, text=text, quoted=text not in self.known or len(text) == 1)

    def _individual(self, term: Expression, names: Mapping[str, str]) -> ast.Expression:
        if term.kind == "variable":
            return ast.Atom(span=_NOWHERE, name=names[term.name])
        return ast.Entity(span=_NOWHERE, text=_text(term))

    def _term(self, term: Expression, names: Mapping[str, str]) -> ast.Expression:
        match term.kind:
            case "number":
                return ast.Number(span=_NOWHERE, value=term.value)
            case "+" | "-" | "*" | "/" as operator:
                left, right = (self._term(part, names) for part in term.parts)
                return ast.Arithmetic(span=_NOWHERE, operator=operator, left=left, right=right)
        return self._atom(term, names)


def conjuncts(formula: Expression) -> Iterator[Expression]:
    """The conjuncts of a formula, each under the universal quantifiers around it."""
    if formula.kind == "and":
        for each in formula.parts:
            yield from conjuncts(each)
    elif formula.kind == "forall":
        for each in conjuncts(formula.parts[0]):
            kept = formula.name in fol.free_variables(each)
            yield replace(formula, parts=(each,)) if kept else each
    else:
        yield formula


def _occurrences(formula: Expression) -> int:
    """The number of occurrences of a quantifier's variable in its scope."""
    return sum(each.name == formula.name for each in fol.free_occurrences(formula.parts[0]))
