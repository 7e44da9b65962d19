"""A text with first-order logic -> formulas -> the text of a program that means the same, a comment for each liberty
taken.

All individuals are of the sort `entity`, which is open: there may be more than are named. A literal about named
individuals is a fact, every other premise an axiom, whatever is asked a query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lnnkit.errors import ProgramError
from lnnkit.interchange import first_order as fol
from lnnkit.interchange.function_relations import relations_for
from lnnkit.interchange.liberties import Liberties
from lnnkit.interchange.naming_apart import Symbol, names_for
from lnnkit.interchange.numeric_attributes import with_attributes
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
    stated = _with_one_name(with_attributes(stated), liberties)
    stated, relations = relations_for(stated)
    _require_shallow(stated)
    for (name, arity), (relation, span) in relations.items():
        given = "".join(f"x{i + 1}, " for i in range(arity))
        message = f"the function `{name}` is written as the relation `{relation}({given}y)`: `y` is its value"
        liberties.note_at("function-as-relation", message, "", span)
    _note_unique_names(stated, liberties)
    stated = [replace(each, formula=_evaluated(each.formula)) for each in stated]
    stated = [each for each in stated if each.role == "query" or each.formula != fol.Constant(True)]
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


# --- liberties with the whole text ----------------------------------------------------------------------------------


def _with_one_name(stated: Sequence[fol.Stated], liberties: Liberties) -> list[fol.Stated]:
    """Eliminate equations between two names: the first name replaces the other."""
    name_of: dict[str, str] = {}

    def representative(name: str) -> str:
        while name in name_of:
            name = name_of[name]
        return name

    kept = []
    for each in stated:
        formula = each.formula
        if each.role == "axiom" and isinstance(formula, fol.Equal) and _constant(formula.left, formula.right):
            assert isinstance(formula.left, fol.Application) and isinstance(formula.right, fol.Application)
            one, other = representative(formula.left.name), representative(formula.right.name)
            if one != other:
                name_of[other] = one
                message = f"`{other}` is another name of `{one}`, which is written in its place"
                hint = "in a program different names are different entities"
                liberties.note_at("another-name", message, hint, formula.span)
            continue
        kept.append(each)
    if not name_of:
        return kept
    names = {name: representative(name) for name in name_of}

    def renamed(term: fol.Term) -> fol.Term:
        if isinstance(term, fol.Application) and not term.arguments:
            return term if term.quoted else replace(term, name=names.get(term.name, term.name))
        return fol.with_subterms(term, renamed)

    def change(leaf: fol.Leaf) -> fol.Leaf:
        return fol.with_terms(leaf, renamed)

    return [replace(each, formula=fol.with_leaves(each.formula, change)) for each in kept]


def _constant(*terms: fol.Term) -> bool:
    return all(isinstance(term, fol.Application) and not term.arguments and not term.quoted for term in terms)


def _note_unique_names(stated: Sequence[fol.Stated], liberties: Liberties) -> None:
    """Note the unique names assumption where it matters. Without equations it changes nothing: any model has a copy in
    which distinct names denote distinct entities."""
    leaves = [leaf for each in stated for leaf in fol.leaves(each.formula)]
    equations = [leaf for leaf in leaves if isinstance(leaf, fol.Equal)]
    terms = [part for leaf in leaves for term in fol.terms_of(leaf) for part in fol.subterms(term)]
    constants = {term.name for term in terms if isinstance(term, fol.Application) and not term.arguments}
    if equations and len(constants) > 1:
        place = next((each for each in equations if each.span is not None), equations[0])
        message = "different names are taken to denote different individuals"
        liberties.note_at("unique-names", message, "where two may be one, use one name for both", place.span)


def _evaluated(formula: fol.Formula) -> fol.Formula:
    """The formula with equations between constants decided, and truth constants propagated as far as possible."""
    if isinstance(formula, fol.Equal):
        left, right = formula.left, formula.right
        if isinstance(left, fol.Variable) and left == right:
            return fol.Constant(True)
        if not isinstance(left, fol.Variable) and not isinstance(right, fol.Variable):
            return fol.Constant(_text(left) == _text(right))
        return formula
    inner = tuple([_evaluated(part) for part in fol.parts(formula)])
    if fol.negated(formula) and isinstance(inner[0], fol.Constant):
        return fol.Constant(not inner[0].value)
    if isinstance(formula, fol.Connective) and formula.sign == "and":
        inner = tuple([each for each in inner if each != fol.Constant(True)])
        if len(inner) < 2:
            return inner[0] if inner else fol.Constant(True)
    if isinstance(formula, fol.Quantified) and formula.variable not in fol.free_variables(inner[0]):
        return inner[0]
    return fol.rebuilt(formula, inner)


def _text(term: fol.Term) -> str:
    """The text that names an entity; a numeral keeps its spelling."""
    if isinstance(term, fol.Number):
        return term.text or repr(term.value)
    assert isinstance(term, fol.Application)
    return normalise(term.name)


def _fact(formula: fol.Formula) -> tuple[fol.Atom | fol.Attribute, fol.Number | None] | None:
    """The atom that a formula states or denies of named entities, or the attribute and its number; else None."""
    if fol.free_variables(formula):
        return None
    match fol.negated(formula) or formula:
        case fol.Atom() as atom:
            return atom, None
    match formula:
        case fol.Compare("=", fol.Attribute() as of, fol.Number() as value) | fol.Compare(
            "=", fol.Number() as value, fol.Attribute() as of
        ):
            return of, value
    return None


def _facts_entities(stated: Sequence[fol.Stated]) -> Iterator[str]:
    """The entities that facts name."""
    for each in stated:
        for formula in conjuncts(each.formula) if each.role != "query" else ():
            if (found := _fact(formula)) is not None:
                yield from map(_text, found[0].arguments)


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

    def _statement(self, formula: fol.Formula, name: str | None) -> ast.Statement:
        if (found := _fact(formula)) is not None:
            of, number = found
            if isinstance(of, fol.Atom):
                atom = self._atom("predicate", of.predicate, of.arguments, {})
                return ast.FactStatement(span=_NOWHERE, atom=atom, negated=formula is not of)
            assert number is not None
            value = ast.Number(span=_NOWHERE, value=number.value)
            bounds = ast.Bounds(span=_NOWHERE, lower=value, upper=value, exact=True)
            return ast.FactStatement(span=_NOWHERE, atom=self._atom("number", of.name, of.arguments, {}), bounds=bounds)
        names: dict[str, str] = {}
        used: set[str] = set()
        while isinstance(formula, fol.Quantified) and formula.universal and _occurrences(formula) > 1:
            names[formula.variable] = self._variable(formula.variable, used)
            formula = formula.body
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

    def expression(self, formula: fol.Formula, names: Mapping[str, str], used: set[str]) -> ast.Expression:
        match formula:
            case fol.Constant(value):
                return ast.Truth(span=_NOWHERE, value=value)
            case fol.Atom():
                return self._atom("predicate", formula.predicate, formula.arguments, names)
            case fol.Equal(left, right):
                operands = (self._individual(left, names), self._individual(right, names))
                return ast.Comparison(span=_NOWHERE, operands=operands, operators=("=",))
            case fol.Compare(operator, left, right):
                operands = (self._term(left, names), self._term(right, names))
                return ast.Comparison(span=_NOWHERE, operands=operands, operators=(operator,))  # type: ignore[arg-type]
            case fol.Connective("not", (fol.Equal(left, right),)):
                operands = (self._individual(left, names), self._individual(right, names))
                return ast.Comparison(span=_NOWHERE, operands=operands, operators=("!=",))
            case fol.Quantified():
                return self._quantified(formula, names, used)
        inner = [self.expression(part, names, used) for part in formula.operands]
        if formula.sign in ("and", "or"):
            return (ast.And if formula.sign == "and" else ast.Or)(tuple(inner), span=_NOWHERE)
        return _MADE[formula.sign](*inner, span=_NOWHERE)

    def _quantified(self, formula: fol.Quantified, names: Mapping[str, str], used: set[str]) -> ast.Expression:
        made = ast.Forall if formula.universal else ast.Exists
        variables: list[ast.Variable] = []
        names, body = dict(names), formula
        while isinstance(body, fol.Quantified) and body.universal == formula.universal:
            names[body.variable] = self._variable(body.variable, used)
            variables.append(ast.Variable(span=_NOWHERE, name=names[body.variable]))
            body = body.body
        return made(span=_NOWHERE, variables=tuple(variables), body=self.expression(body, names, used))

    def _atom(self, kind: str, name: str, arguments: Sequence[fol.Term], names: Mapping[str, str]) -> ast.Atom:
        own = self.names[kind, normalise(name), len(arguments)]  # type: ignore[index]
        return ast.Atom(span=_NOWHERE, name=own, arguments=tuple([self._argument(each, names) for each in arguments]))

    def _argument(self, term: fol.Term, names: Mapping[str, str]) -> ast.Argument:
        if isinstance(term, fol.Variable):
            return ast.Variable(span=_NOWHERE, name=names[term.name])
        text = _text(term)
        return ast.Constant(span=_NOWHERE, text=text, quoted=text not in self.known or len(text) == 1)

    def _individual(self, term: fol.Term, names: Mapping[str, str]) -> ast.Expression:
        if isinstance(term, fol.Variable):
            return ast.Atom(span=_NOWHERE, name=names[term.name])
        return ast.Entity(span=_NOWHERE, text=_text(term))

    def _term(self, term: fol.Term, names: Mapping[str, str]) -> ast.Expression:
        match term:
            case fol.Number(value=value):
                return ast.Number(span=_NOWHERE, value=value)
            case fol.Attribute():
                return self._atom("number", term.name, term.arguments, names)
            case fol.Sum(operator=operator, left=left, right=right):
                operands = (self._term(left, names), self._term(right, names))
                return ast.Arithmetic(span=_NOWHERE, operator=operator, left=operands[0], right=operands[1])  # type: ignore[arg-type]
        raise AssertionError(term)


def conjuncts(formula: fol.Formula) -> Iterator[fol.Formula]:
    """The conjuncts of a formula, each under the universal quantifiers around it."""
    if isinstance(formula, fol.Connective) and formula.sign == "and":
        for each in formula.operands:
            yield from conjuncts(each)
    elif isinstance(formula, fol.Quantified) and formula.universal:
        for each in conjuncts(formula.body):
            kept = formula.variable in fol.free_variables(each)
            yield replace(formula, body=each) if kept else each
    else:
        yield formula


def _occurrences(formula: fol.Quantified) -> int:
    """The number of occurrences of a quantifier's variable in its scope."""
    return sum(each.name == formula.variable for each in fol.free_occurrences(formula.body))
